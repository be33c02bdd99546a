"""Requests as the platforms send them, without most that is not read; every value is invented."""

from typing import Any

Json = dict[str, Any]

CORAL: Json = {
    "action": "NEW",
    "comment": {
        "body": "<div>The drain valve was stuck <b>here</b> too.<br></div>",
        "parentID": "7d0c0b5e-90a1-4a57-8a2e-1f6e5c1f7a10",
    },
    "author": {"id": "5f3a6a53-2b63-4c0c-8c3e-0b4a7de2a001", "role": "COMMENTER"},
    "story": {"url": "https://blog.example/radiators"},
}

DISCOURSE_POST: Json = {
    "post": {
        "id": 9021,
        "name": "Mara",
        "username": "mara_h",
        "created_at": "2026-03-01T11:58:00.000Z",
        "cooked": "<p>The <strong>drain valve</strong> was stuck here too.</p>",
        "raw": "The **drain valve** was stuck here too.",
        "post_type": 1,
        "updated_at": "2026-03-01T11:58:00.000Z",
        "topic_id": 310,
        "topic_slug": "bleeding-a-radiator",
        "topic_title": "Bleeding a radiator",
        "topic_archetype": "regular",
        "staff": False,
        "user_id": 77,
        "trust_level": 1,
        "deleted_at": None,
        "user_deleted": False,
    }
}

_GITHUB_USER: Json = {"login": "mara-h", "id": 310077, "node_id": "MDQ6VXNlcjMxMDA3Nw=="}

GITHUB_ISSUE_COMMENT: Json = {
    "action": "created",
    "issue": {
        "html_url": "https://github.example/ada/blog-comments/issues/7",
        "title": "radiators/",
        "user": _GITHUB_USER | {"login": "utterances-bot"},
        "created_at": "2026-02-01T10:00:00Z",
        "body": "# Bleeding a radiator\n\nTurn the pump off first.",
    },
    "comment": {
        "html_url": "https://github.example/ada/blog-comments/issues/7#issuecomment-9001",
        "id": 9001,
        "node_id": "IC_kwDONotReal9001",
        "user": _GITHUB_USER,
        "created_at": "2026-03-01T11:58:00Z",
        "updated_at": "2026-03-01T11:58:00Z",
        "author_association": "NONE",
        "body": "The drain valve was stuck here too.",
    },
    "repository": {
        "name": "blog-comments",
        "html_url": "https://github.example/ada/blog-comments",
    },
    "sender": _GITHUB_USER,
}

GITHUB_DISCUSSION_COMMENT: Json = {
    "action": "created",
    "discussion": GITHUB_ISSUE_COMMENT["issue"]
    | {"html_url": "https://github.example/ada/blog-comments/discussions/12"},
    "comment": GITHUB_ISSUE_COMMENT["comment"] | {"node_id": "DC_kwDONotReal88001"},
    "sender": _GITHUB_USER,
}

STANDARD: Json = {
    "type": "comment.created",
    "timestamp": "2026-03-01T11:58:00Z",
    "data": {
        "site_comment_id": "c-1001",
        "text": "The drain valve was stuck here too.",
        "post": {"url": "https://blog.example/radiators", "title": "Bleeding a radiator"},
        "author": {"name": "Mara", "email": "mara@mail.example"},
        "address": "203.0.113.9",
    },
}
