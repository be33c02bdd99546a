"""Lists the comments that a site shows under a post."""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import replace
from urllib.parse import urlsplit

from service.domain.case import Case
from service.domain.comment import CommentId
from service.domain.delivery import versioned
from service.domain.errors import NotFoundError
from service.domain.published import MAX_POST_CHARS, PublishedComment, as_published
from service.domain.site import Site
from service.domain.text import encode_address, normal_address
from service.ports.services import Services

PAGE = 200
# The newest version is found for this many edited comments with replies, up to this version.
_EDITED, _VERSIONS = 50, 20
_STARTS = ("https://", "https://www.", "http://", "http://www.")


def list_published(
    site: Site, post: str, services: Services, *, page: int
) -> tuple[list[PublishedComment], bool]:
    """Return a page (from 1) of a post's comments, oldest first, and whether there are more.

    Raises `NotFoundError` unless the site's feed is switched on.
    """
    if not site.settings.public_feed:
        raise NotFoundError(
            "This site's comments are not for everybody to read; its owner may switch that on "
            "with `slopsieve sites set SITE --public-feed` or on the site's page."
        )
    addresses = addresses_of(post, site.settings.blog)
    found = services.cases.published(site.id, addresses, offset=(page - 1) * PAGE, limit=PAGE + 1)
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
        answered = None if answered == one.id else answered
        is_hidden = answered is not None and answered not in published
        shown[place] = replace(one, reply_to=answered, reply_to_hidden=is_hidden)
    return shown


def _by_id(ids: Iterable[CommentId], site: Site, services: Services) -> dict[CommentId, Case]:
    cases = services.cases.find(sorted(ids))
    return {case.comment.id: case for case in cases if case.comment.site_id == site.id}


def addresses_of(post: str, blog: str | None) -> list[str]:
    """Return a post's URLs with and without encoding, `www.`, final slash, https and host."""
    given = post.partition("#")[0].strip()
    try:
        parts, home = urlsplit(given), urlsplit(blog or "")
    except ValueError:
        return []
    hosts = [host for one in (parts, home) if (host := one.netloc.lower().removeprefix("www."))]
    is_own = not parts.netloc or (bool(home.netloc) and hosts[0] == hosts[-1])
    starts = [""] if is_own else []
    if hosts and (parts.netloc or given.startswith("/")):
        starts += [f"{start}{hosts[0]}" for start in _STARTS]
    path, query = parts.path.rstrip("/"), f"?{parts.query}" if parts.query else ""
    paths = _spellings(path + query) | _spellings(f"{path}/{query}")
    found = {given} | {start + path for start in starts for path in paths}
    return sorted(one for one in found if 0 < len(one) <= MAX_POST_CHARS)


def _spellings(path: str) -> set[str]:
    """Return a path as given, decoded, and as browsers and servers encode it."""
    plain = normal_address(path)
    # In a link that was written by hand, `+` is read as a space, and `%25` as `%`.
    found = {plain, plain.replace("+", " "), plain.replace(" ", "+"), plain.replace("%25", "%")}
    found |= {unicodedata.normalize("NFD", one) for one in found}
    encoded = {encode_address(one, safe) for one in found for safe in ("", "!$'()*,;")}
    lower = {re.sub("%..", lambda byte: byte[0].lower(), one) for one in encoded}
    return {path} | found | encoded | lower
