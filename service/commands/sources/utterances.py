"""Reads the issues of a repository where utterances keeps comments, as GitHub's API gives them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import closing

from service.commands.sources.imported import Entry, LeftOut, import_flat
from service.commands.sources.json_objects import NoObjectsError, json_objects
from service.commands.sources.opened import OpenedFile
from service.commands.sources.threads import Threads
from service.domain.decision import Ruling
from service.domain.errors import InvalidInputError, Problem
from service.web.edge.moments import read_any_moment
from service.web.webhooks.payload import own_id

# The ids are those of the GitHub webhook: what is imported and what it tells later are the same.
_NAME = "github"
# How utterances ends the issue that it opens for a page (`createIssue` in its `src/github.ts`).
_LAST_LINK = re.compile(r"\[https?://[^\s\]]{1,2000}\]\((https?://[^\s()]{1,2000})\)\s*\Z")
_MAX_LAST_CHARS = 5_000


def read_utterances(file: OpenedFile) -> Iterator[Entry]:
    """Yield the comments in the order of the file; those of an issue know their page once it came.

    Raises `InvalidInputError` for what is no such file.
    """
    number = 0
    with closing(Threads()) as threads:
        try:
            for found in json_objects(file):
                if _words(found, "issue_url"):
                    number += 1
                    yield _read(number, found, threads)
                elif _words(found, "comments_url"):
                    _keep(found, threads)
        except NoObjectsError:
            number = -1
    if number < 1:
        problem = Problem(
            field="file",
            problem="is no JSON of GitHub's issue comments, or ends too early",
            remedy="save what `gh api --paginate repos/OWNER/REPO/issues/comments` prints, after "
            "what it prints of 'repos/OWNER/REPO/issues?state=all', in one file",
        )
        raise InvalidInputError([problem])


def _keep(issue: Mapping[str, object], threads: Threads) -> None:
    title, body = _words(issue, "title"), _words(issue, "body")
    link = _LAST_LINK.search(body[-_MAX_LAST_CHARS:])
    threads.keep(_words(issue, "url"), link[1] if link else _page(title), title)


def _page(title: str) -> str | None:
    """Return the page that an issue's title names, by its address or path; None for a headline."""
    if not title or any(one.isspace() for one in title):
        return None
    if title.startswith(("https://", "http://")):
        return title
    return "/" if title == "index" else f"/{title.lstrip('/')}"


def _read(number: int, comment: Mapping[str, object], threads: Threads) -> Entry:
    text = _words(comment, "body")
    if not text.strip():
        return LeftOut(number=number)
    link, title = threads.find(_words(comment, "issue_url"))
    own = _words(comment, "node_id") or f"issue_comment-{comment.get('id')}"
    return import_flat(
        number,
        {
            "text": text,
            "site_comment_id": own_id(_NAME, own),
            "post_url": link,
            "post_title": title,
            "author_name": _words(comment.get("user"), "login"),
            "written_at": read_any_moment(_words(comment, "created_at")),
        },
        Ruling.APPROVE,
    )


def _words(group: object, name: str) -> str:
    """Return a member that is a string, an empty one for anything else."""
    found = group.get(name) if isinstance(group, Mapping) else None
    return found if isinstance(found, str) else ""
