"""Requests as the platforms send them, field for field; every value is invented."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]

CORAL: Json = {
    "action": "NEW",
    "comment": {
        "body": "<div>The drain valve was stuck <b>here</b> too.<br></div>",
        "parentID": "7d0c0b5e-90a1-4a57-8a2e-1f6e5c1f7a10",
    },
    "author": {"id": "5f3a6a53-2b63-4c0c-8c3e-0b4a7de2a001", "role": "COMMENTER"},
    "story": {
        "id": "b8a7f2de-11aa-4a57-93ce-5d0a8a1d0c77",
        "url": "https://blog.example/radiators",
    },
    "site": {"id": "c0ffee00-90a1-4a57-8a2e-1f6e5c1f7a11"},
    "tenantID": "69b134f5-0bbe-4e1b-9c5a-c9d64b4a2a5b",
    "tenantDomain": "comments.example",
}

_MASTODON_ACCOUNT: Json = {
    "id": "109310001",
    "username": "mara",
    "acct": "mara",
    "display_name": "Mara :wrench:",
    "locked": False,
    "bot": False,
    "discoverable": True,
    "group": False,
    "created_at": "2026-02-01T00:00:00.000Z",
    "note": "<p>Fixes radiators.</p>",
    "url": "https://social.example/@mara",
    "uri": "https://social.example/users/mara",
    "avatar": "https://social.example/avatars/original/missing.png",
    "avatar_static": "https://social.example/avatars/original/missing.png",
    "header": "https://social.example/headers/original/missing.png",
    "header_static": "https://social.example/headers/original/missing.png",
    "followers_count": 3,
    "following_count": 12,
    "statuses_count": 41,
    "last_status_at": "2026-03-01",
    "emojis": [],
    "fields": [
        {
            "name": "Home",
            "value": '<a href="https://mara.example" rel="nofollow noopener me">mara.example</a>',
            "verified_at": None,
        }
    ],
}

MASTODON_STATUS: Json = {
    "id": "116001000000000001",
    "created_at": "2026-03-01T11:58:00.000Z",
    "in_reply_to_id": "116000990000000007",
    "in_reply_to_account_id": "109310002",
    "sensitive": False,
    "spoiler_text": "",
    "visibility": "public",
    "language": "en",
    "uri": "https://social.example/users/mara/statuses/116001000000000001",
    "url": "https://social.example/@mara/116001000000000001",
    "replies_count": 0,
    "reblogs_count": 0,
    "favourites_count": 0,
    "edited_at": None,
    "content": (
        '<p><span class="h-card" translate="no"><a href="https://social.example/@ada" '
        'class="u-url mention">@<span>ada</span></a></span> The drain valve, see '
        '<a href="https://valves.example/drain/how-to-open-one" target="_blank" '
        'rel="nofollow noopener" translate="no"><span class="invisible">https://</span>'
        '<span class="ellipsis">valves.example/drain/how-to-op</span>'
        '<span class="invisible">en-one</span></a></p><p>'
        '<a href="https://social.example/tags/heating" class="mention hashtag" rel="tag">#'
        "<span>heating</span></a></p>"
    ),
    "filtered": [],
    "reblog": None,
    "account": _MASTODON_ACCOUNT,
    "media_attachments": [],
    "mentions": [
        {"id": "109310002", "username": "ada", "url": "https://social.example/@ada", "acct": "ada"}
    ],
    "tags": [{"name": "heating", "url": "https://social.example/tags/heating"}],
    "emojis": [],
    "card": None,
    "poll": None,
}

MASTODON_CREATED: Json = {
    "event": "status.created",
    "created_at": "2026-03-01T11:58:01.123Z",
    "object": MASTODON_STATUS,
}

MASTODON_UPDATED: Json = {
    "event": "status.updated",
    "created_at": "2026-03-01T11:59:30.500Z",
    "object": MASTODON_STATUS
    | {
        "edited_at": "2026-03-01T11:59:30.000Z",
        "content": "<p>Cheap sofas: https://sofas.example</p>",
    },
}


def _mastodon_admin_account(account_id: str, username: str) -> Json:
    return {
        "id": account_id,
        "username": username,
        "domain": None,
        "created_at": "2026-02-28T09:12:44.000Z",
        "email": f"{username}@mail.example",
        "ip": {
            "user_id": 41,
            "ip": "203.0.113.77",
            "used_at": "2026-03-01T11:40:00.000Z",
        },
        "confirmed": True,
        "suspended": False,
        "silenced": False,
        "sensitized": False,
        "disabled": False,
        "approved": True,
        "locale": "en",
        "invite_request": None,
        "ips": [{"ip": "203.0.113.77", "used_at": "2026-03-01T11:40:00.000Z"}],
        "account": _MASTODON_ACCOUNT | {"id": account_id, "username": username, "acct": username},
        "role": {"id": "-99", "name": "", "permissions": "65536", "highlighted": False},
    }


MASTODON_REPORT: Json = {
    "event": "report.created",
    "created_at": "2026-03-01T11:59:59.000Z",
    "object": {
        "id": "311",
        "action_taken": False,
        "action_taken_at": None,
        "category": "spam",
        "comment": "again and again",
        "forwarded": False,
        "created_at": "2026-03-01T11:59:59.000Z",
        "updated_at": "2026-03-01T11:59:59.000Z",
        "account": _mastodon_admin_account("109310002", "ada"),
        "target_account": _mastodon_admin_account("109310009", "sofas4you"),
        "assigned_account": None,
        "action_taken_by_account": None,
        "statuses": [
            MASTODON_STATUS
            | {
                "id": "116001000000000055",
                "in_reply_to_id": None,
                "content": "<p>Cheap sofas at https://sofas.example</p>",
            }
        ],
        "rules": [],
    },
}

DISCOURSE_POST: Json = {
    "post": {
        "id": 9021,
        "name": "Mara",
        "username": "mara_h",
        "avatar_template": "/letter_avatar_proxy/v4/letter/m/a/{size}.png",
        "created_at": "2026-03-01T11:58:00.000Z",
        "cooked": "<p>The <strong>drain valve</strong> was stuck here too.</p>",
        "raw": "The **drain valve** was stuck here too.",
        "post_number": 4,
        "post_type": 1,
        "posts_count": 4,
        "updated_at": "2026-03-01T11:58:00.000Z",
        "reply_count": 0,
        "reply_to_post_number": 2,
        "quote_count": 0,
        "incoming_link_count": 0,
        "reads": 0,
        "score": 0,
        "topic_id": 310,
        "topic_slug": "bleeding-a-radiator",
        "topic_title": "Bleeding a radiator",
        "topic_archetype": "regular",
        "topic_posts_count": 4,
        "topic_filtered_posts_count": 4,
        "category_id": 5,
        "category_slug": "heating",
        "display_username": "Mara",
        "primary_group_name": None,
        "version": 1,
        "user_title": None,
        "bookmarked": False,
        "moderator": False,
        "admin": False,
        "staff": False,
        "user_id": 77,
        "hidden": False,
        "trust_level": 1,
        "deleted_at": None,
        "user_deleted": False,
        "edit_reason": None,
        "wiki": False,
    }
}

_GITHUB_USER: Json = {
    "login": "mara-h",
    "id": 310077,
    "node_id": "MDQ6VXNlcjMxMDA3Nw==",
    "avatar_url": "https://avatars.example/u/310077",
    "html_url": "https://github.example/mara-h",
    "type": "User",
    "site_admin": False,
}

_GITHUB_REPOSITORY: Json = {
    "id": 55001,
    "node_id": "R_kgDONotReal1",
    "name": "blog-comments",
    "full_name": "ada/blog-comments",
    "private": False,
    "owner": _GITHUB_USER | {"login": "ada", "id": 310001},
    "html_url": "https://github.example/ada/blog-comments",
}

GITHUB_ISSUE_COMMENT: Json = {
    "action": "created",
    "issue": {
        "url": "https://api.github.example/repos/ada/blog-comments/issues/7",
        "html_url": "https://github.example/ada/blog-comments/issues/7",
        "id": 70001,
        "node_id": "I_kwDONotReal7",
        "number": 7,
        "title": "radiators/",
        "user": _GITHUB_USER | {"login": "utterances-bot", "type": "User"},
        "labels": [],
        "state": "open",
        "comments": 3,
        "created_at": "2026-02-01T10:00:00Z",
        "updated_at": "2026-03-01T11:58:00Z",
        "author_association": "NONE",
        "body": "# Bleeding a radiator\n\nTurn the pump off first.",
    },
    "comment": {
        "url": "https://api.github.example/repos/ada/blog-comments/issues/comments/9001",
        "html_url": "https://github.example/ada/blog-comments/issues/7#issuecomment-9001",
        "issue_url": "https://api.github.example/repos/ada/blog-comments/issues/7",
        "id": 9001,
        "node_id": "IC_kwDONotReal9001",
        "user": _GITHUB_USER,
        "created_at": "2026-03-01T11:58:00Z",
        "updated_at": "2026-03-01T11:58:00Z",
        "author_association": "NONE",
        "body": "The drain valve was stuck here too.",
        "reactions": {"url": "https://api.github.example/reactions", "total_count": 0},
        "performed_via_github_app": None,
    },
    "repository": _GITHUB_REPOSITORY,
    "sender": _GITHUB_USER,
}

GITHUB_DISCUSSION_COMMENT: Json = {
    "action": "created",
    "discussion": {
        "repository_url": "https://api.github.example/repos/ada/blog-comments",
        "category": {"id": 1, "name": "Announcements", "slug": "announcements"},
        "html_url": "https://github.example/ada/blog-comments/discussions/12",
        "id": 12001,
        "node_id": "D_kwDONotReal12",
        "number": 12,
        "title": "radiators",
        "user": _GITHUB_USER | {"login": "giscus[bot]", "type": "Bot"},
        "state": "open",
        "comments": 1,
        "created_at": "2026-02-01T10:00:00Z",
        "updated_at": "2026-03-01T11:58:00Z",
        "body": "Turn the pump off first.",
    },
    "comment": {
        "id": 88001,
        "node_id": "DC_kwDONotReal88001",
        "html_url": "https://github.example/ada/blog-comments/discussions/12#discussioncomment-88001",
        "parent_id": None,
        "child_comment_count": 0,
        "repository_url": "ada/blog-comments",
        "discussion_id": 12001,
        "author_association": "NONE",
        "user": _GITHUB_USER,
        "created_at": "2026-03-01T11:58:00Z",
        "updated_at": "2026-03-01T11:58:00Z",
        "body": "The drain valve was stuck here too.",
        "reactions": {"url": "https://api.github.example/reactions", "total_count": 0},
    },
    "repository": _GITHUB_REPOSITORY,
    "sender": _GITHUB_USER,
}

GITHUB_PING: Json = {
    "zen": "Approachable is better than simple.",
    "hook_id": 4401,
    "hook": {"type": "Repository", "id": 4401, "events": ["issue_comment"], "active": True},
    "repository": _GITHUB_REPOSITORY,
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
