"""What is lost by taking each migration back, for whoever goes back to an earlier version."""

from __future__ import annotations

LOSSES = {
    "m0025": "nothing",
    "m0026": "the decided text of edited comments; their next edit is judged again",
    "m0027": "what kind of comment came, and deletions whose comments had not come yet",
    "m0028": "appeals, second opinions, dates of posts, and which rules held what stays unsure",
    "m0029": "nothing",
}
"""By revision; a guard fails on a migration that can be taken back and is missing here."""
