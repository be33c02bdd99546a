"""What the plugin was recorded to send to `/v1` from a real WordPress 6.4.5, PHP 8.2.

They were recorded from a real WordPress. Texts are this project's
own; ids, which the service makes, are put in where they stood.
"""

from __future__ import annotations

from collections.abc import Mapping

CONNECTING: list[tuple[str, str, Mapping[str, object] | None]] = [
    ("GET", "/v1/site", None),
    ("GET", "/v1/site/callback", None),
    (
        "PUT",
        "/v1/site/callback",
        {
            "url": "https://blog.example/index.php?rest_route=/slopsieve/v1/callback",
            "events": ["comment.judged", "comment.decided"],
            "rotate": True,
        },
    ),
    ("GET", "/v1/site/deliveries?limit=1", None),
    ("PUT", "/v1/site/form", None),
]

SUBMIT = "/v1/comments?wait=3"
COMMENT: Mapping[str, object] = {
    "text": "The part about writing the decision down before the call, not after. I started doing "
    "it in March because my Manila people were always reading minutes at 6 am. Two of them told "
    "me unprompted it helped.",
    "post": {
        "url": "https://blog.example/?p=33",
        "title": "Notes after two years of remote leadership",
        "excerpt": "I have managed eleven people in seven time zones without an office. Some of "
        "what I believed at the start turned out to be wrong.",
    },
    "author": {"name": "Soledad", "email": "visitor41@mail.example"},
    "address": "198.51.100.42",
    "user_agent": "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) "
    "HeadlessChrome/156.0.0.0 Safari/537.36",
    "written_at": "2026-03-01T06:50:23Z",
    "form": {
        "honeypot_filled": False,
        # A token of another installation; how the form was filled in stands behind it.
        "token": "eyJiZWhhdmlvdXIiOnsicG9pbnRlciI6MiwidG91Y2giOjAsInNjcm9sbCI6Mywic2Vjb25kcyI6Mi40"
        "OTgsImRyaXZlbiI6ZmFsc2UsImtleXMiOjEyMCwicGFzdGVzIjowLCJvdGhlcl9pbnB1dHMiOjN9fQ==",
    },
    "site_comment_id": "wp-d8fbe456-42-b1ab2ab2",
}
DECISION: Mapping[str, object] = {"ruling": "approve", "decided_by": "admin"}
