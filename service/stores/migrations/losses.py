"""What is lost by taking each migration back, for whoever goes back to an earlier version."""

from __future__ import annotations

LOSSES = {
    "m0015": "everything: sites, comments, verdicts, decisions, accounts and the log",
    "m0016": "nothing",
    "m0017": "how forms were filled in, and what became of their tokens",
    "m0018": "which accounts comments came from, and what edits did",
    "m0019": "what is put aside, how strokes over screens agreed, notes on senders",
    "m0020": "who was reminded of what waits; a crossing that lasts is told once more",
    "m0021": "rings, and by what senders were found to share",
    "m0022": "where decisions are applied at platforms, what waits for that, and what was hidden",
    "m0023": "what is applied at Mastodon, build hooks, and what waits for either",
    "m0024": "nothing that this version reads; what earlier ones kept in these tables is gone",
    "m0025": "nothing",
    "m0026": "what people ruled on before edits; later edits of it are judged anew",
    "m0027": "what kind of comment came, and deletions whose comments had not come yet",
}
"""By revision; a guard fails on a migration that is missing here."""
