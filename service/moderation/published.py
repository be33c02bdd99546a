"""Lists the comments that a site shows under a post."""

from collections.abc import Iterable
from dataclasses import replace
from urllib.parse import urlsplit

from service.domain.case import Case
from service.domain.comment import CommentId
from service.domain.delivery import versioned
from service.domain.errors import NotFoundError
from service.domain.published import MAX_POST_CHARS, PublishedComment, as_published
from service.domain.site import Site
from service.ports.services import Services

PAGE = 200
# The newest version is found for this many edited comments with replies, up to this version.
_EDITED, _VERSIONS = 50, 20


def list_published(
    site: Site, post: str, services: Services, *, page: int
) -> tuple[list[PublishedComment], bool]:
    """Return a page (from 1) of a post's comments, oldest first, and whether there are more.

    Raises `NotFoundError` unless the site's feed is switched on.
    """
    if not site.settings.public_feed:
        msg = (
            "This site's comments are not for everybody to read; its owner may switch that on "
            "with `slopsieve sites set SITE --public-feed` or on the site's page."
        )
        raise NotFoundError(msg)
    addresses = addresses_of(post, site.settings.blog)
    offset, limit = (page - 1) * PAGE, PAGE + 1
    found = services.cases.published(site.id, addresses, offset=offset, limit=limit)
    return link_replies(found[:PAGE], site, services), len(found) > PAGE


def link_replies(
    comments: Iterable[PublishedComment], site: Site, services: Services
) -> list[PublishedComment]:
    """Return the comments with the id of their parent, and whether it is shown.

    Sites name their own ids; of an edited comment the newest version is used.
    """
    shown = list(comments)
    named = sorted({one.reply_to for one in shown if one.reply_to})
    ids = services.comments.find_by_site_ids(site.id, named) if named else {}
    parents = {name: ids.get(name, CommentId(name)) for name in named}
    cases = _by_id(parents.values(), site, services)
    edited = [
        name
        for name, parent in parents.items()
        if name in ids and parent in cases and cases[parent].withdrawn_at is not None
    ]
    # A later version has replaced it, unless it was deleted.
    later = {versioned(name, n): name for n in range(2, _VERSIONS) for name in edited[:_EDITED]}
    found = services.comments.find_by_site_ids(site.id, list(later)) if later else {}
    parents |= {later[version]: found[version] for version in later if version in found}
    cases |= _by_id(found.values(), site, services)
    published = {one for one, case in cases.items() if as_published(case) is not None}
    for place, one in enumerate(shown):
        answered = parents.get(one.reply_to or "")
        if answered is None or answered == one.id:
            shown[place] = replace(one, reply_to=None)
        else:
            is_hidden = answered not in published
            shown[place] = replace(one, reply_to=answered, reply_to_hidden=is_hidden)
    return shown


def _by_id(ids: Iterable[CommentId], site: Site, services: Services) -> dict[CommentId, Case]:
    cases = services.cases.find(sorted(ids))
    return {case.comment.id: case for case in cases if case.comment.site_id == site.id}


def addresses_of(post: str, blog: str | None) -> list[str]:
    """Return a post's URLs with and without `www.`, final slash, https and the blog's host."""
    given = post.partition("#")[0].strip()
    try:
        parts, home = urlsplit(given), urlsplit(blog or "")
        hosts = [host for one in (parts, home) if (host := _host(one.hostname, one.port))]
    except ValueError:
        return []
    is_own = not parts.netloc or (bool(home.netloc) and hosts[0] == hosts[-1])
    query = f"?{parts.query}" if parts.query else ""
    found = {given}
    for path in (parts.path.rstrip("/"), f"{parts.path.rstrip('/')}/"):
        if is_own and path:
            found.add(path + query)
        if hosts and (parts.netloc or path.startswith("/")):
            found |= {
                f"{scheme}://{www}{hosts[0]}{path}{query}"
                for scheme in ("https", "http")
                for www in ("", "www.")
            }
    return sorted(one for one in found if 0 < len(one) <= MAX_POST_CHARS)


def _host(name: str | None, port: int | None) -> str:
    if not name:
        return ""
    return name.removeprefix("www.") + (f":{port}" if port else "")
