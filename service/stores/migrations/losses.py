"""What is lost by taking each migration back, for whoever goes back to an earlier version."""

from __future__ import annotations

LOSSES = {
    "m0001": "everything: sites, comments, verdicts, decisions, accounts and the log",
    "m0002": "reports, endpoints, messages and their attempts, platforms' addresses; what was "
    "withdrawn stays blank",
    "m0003": "nothing",
    "m0004": "what is known of a sender beyond the address, and what the site's form saw",
    "m0005": "which decisions histories have still to learn: rebuild them",
    "m0006": "roles, sites and preferences of accounts, sessions, second factors",
    "m0007": "the order of the queue by what waiting costs, and who looks at which comment",
    "m0008": "which decisions were made in one stroke, and which messages could be taken back",
    "m0009": "campaigns, and by what comments were found alike",
    "m0010": "what moderators allow and block, and which verdicts followed that",
    "m0011": "saved searches; the search is filled anew by itself",
    "m0012": "nothing",
    "m0013": "what other versions said of comments",
    "m0014": "the record of retrainings",
    "m0015": "what drift was measured against",
    "m0016": "nothing",
    "m0017": "how forms were filled in, and what became of their tokens",
    "m0018": "which accounts comments came from, and what edits did",
    "m0019": "what is put aside, how strokes over screens agreed, notes on senders",
    "m0020": "who was reminded of what waits; a crossing that lasts is told once more",
    "m0021": "rings, and by what senders were found to share",
    "m0022": "where decisions are applied at platforms, what waits for that, and what was hidden",
    "m0023": "what is applied at Mastodon, build hooks, and what waits for either",
}
"""By revision; a guard fails on a migration that is missing here."""
