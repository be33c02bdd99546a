"""What is lost by taking each migration back, for whoever goes back to an earlier version."""

from __future__ import annotations

LOSSES = {
    "m0025": "nothing",
    "m0026": "the decided text of edited comments; their next edit is judged again",
    "m0027": "what kind of comment came, and deletions whose comments had not come yet",
    "m0028": "which rules held a comment, which stays unsure, and the dates of posts",
    "m0029": "nothing",
    "m0030": "second opinions; they are asked for again",
    "m0031": "what authors said against their comments' being held or rejected",
}
"""By revision; a guard fails on a migration that can be taken back and is missing here."""
