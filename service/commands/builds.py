"""Writes what a site shows as the data file that a static site's build reads."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from service.domain.published import MAX_POST_CHARS, PublishedComment
from service.web.webhooks.public import public_row


@dataclass(frozen=True, slots=True, kw_only=True)
class Build:
    """How a build's templates name a page.

    `below_blog`: by the path below the front page. `unquoted`: by its characters as they are read.
    """

    below_blog: bool
    unquoted: bool


BUILDS: Mapping[str, Build] = {
    "hugo": Build(below_blog=False, unquoted=False),  # .RelPermalink
    "jekyll": Build(below_blog=True, unquoted=False),  # page.url
    "eleventy": Build(below_blog=True, unquoted=True),  # page.url
}


# Jekyll reads JSON as YAML, which takes these escaped alone, and a build ends on one of them.
_ESCAPED = {
    code: f"\\u{code:04x}" for code in (*range(0x7F, 0xA0), 0x2028, 0x2029, 0xFEFF, 0xFFFE, 0xFFFF)
}


def as_data_file(
    comments: Iterable[PublishedComment], blog: str | None, build: Build
) -> Iterator[str]:
    """Yield one JSON object: the comments of each post under its path, threads in their order.

    Posts at longer addresses than the public feed is asked for are left out.
    """
    posts: dict[str, list[PublishedComment]] = defaultdict(list)
    spellings: dict[str, Counter[str]] = defaultdict(Counter)
    home = _path(blog, build).rstrip("/") if build.below_blog else ""
    for one in comments:
        if len(one.post_url or "") > MAX_POST_CHARS:
            continue
        path = _path(one.post_url, build)
        if path == home or path.startswith(f"{home}/"):
            path = path[len(home) :]
        post = path.rstrip("/")
        posts[post].append(one)
        spellings[post][path or "/"] += 1
    opening = "{"
    for post, found in sorted(posts.items()):
        # As most comments have it: strangers may write the address of a post otherwise.
        path = max(spellings[post].items(), key=lambda item: (item[1], item[0]))[0]
        rows = [{**public_row(one), "depth": depth} for one, depth in _threads(found)]
        yield f"{opening}\n{_json(path)}: {_json(rows)}"
        opening = ","
    yield "{}\n" if opening == "{" else "\n}\n"


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False).translate(_ESCAPED)


def _path(address: str | None, build: Build) -> str:
    """Return an address's path, whatever its host: what was imported may have an earlier one."""
    try:
        path = urlsplit(address or "").path
    except ValueError:
        return "/"
    path = path if path.startswith("/") else f"/{path}"
    return unquote(path) if build.unquoted else path


def _threads(comments: Sequence[PublishedComment]) -> Iterator[tuple[PublishedComment, int]]:
    """Yield comments, the oldest first, each with what answers it below and how deep it stands."""
    ordered = sorted(comments, key=lambda one: (one.at, one.id))
    begun: set[str] = set()
    answers: dict[str | None, list[PublishedComment]] = defaultdict(list)
    for one in ordered:
        # What answers a later one, or none of these, begins a thread.
        answers[one.reply_to if one.reply_to in begun else None].append(one)
        begun.add(one.id)
    waiting = [(one, 0) for one in reversed(answers[None])]
    while waiting:
        one, depth = waiting.pop()
        yield one, depth
        waiting += [(answer, depth + 1) for answer in reversed(answers[one.id])]
