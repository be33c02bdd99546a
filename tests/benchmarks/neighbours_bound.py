"""Measures the most that blogs could gain by telling one another what they rejected.

    python -m tests.benchmarks.neighbours_bound --scores frozen.jsonl --data DIR

The comments of all dated blogs come in order of time, as in `learning_streams`. Each is looked up
in what the *other* blogs rejected before, and its own had not: a near-copy of the text, a linked
domain, the author's name. One rejection anywhere is enough, every neighbour is honest and believed
at once, nothing expires, and shared hosts count: no rule that could be built reaches more. Counted
is what waits for a person, with what the blog's own decisions taught and without.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from models.registry import load_version
from service.domain.comment import Comment, SiteId
from service.domain.verdict import Outcome
from service.moderation.insight.replay import Archived, Played, moment_of, play
from service.reputation.fingerprints import fingerprints_of
from service.reputation.linked_domains import linked_domains
from service.scoring.weights import Cutoffs
from service.settings import load_settings
from tests.benchmarks.judging_model import current_folder
from tests.benchmarks.learning_streams import read_blogs, verdict_of
from tests.benchmarks.retrain_data import read_rows

# The blogs of the former test set, of which no earlier version had learnt either.
_UNSEEN = frozenset({"gabeluci", "edwinwenink", "willymcallister", "travisdowns", "hajekj"})
_LEAST_NAME_CHARS = 4
_SALT = 20_260
_KINDS = ("near-copy", "domain", "either", "domain nobody approved", "name")


def values_of(comment: Comment) -> Iterator[tuple[str, str]]:
    """Yield the kind and value of everything in a comment that blogs could tell one another."""
    yield from (("near-copy", key) for key in fingerprints_of(comment.text))
    yield from (("domain", domain) for domain in linked_domains(comment))
    name = (comment.author.name or "").strip().casefold()
    if len(name) >= _LEAST_NAME_CHARS:
        yield "name", name


class Told:
    """What all blogs decided by now."""

    def __init__(self) -> None:
        self.rejected: dict[tuple[str, str], set[SiteId]] = defaultdict(set)
        self.approved: set[tuple[str, str]] = set()

    def found(self, comment: Comment) -> set[str]:
        """Return which of `_KINDS` another blog rejected, and this one had not."""
        here = comment.site_id
        told = [
            value
            for value in values_of(comment)
            if self.rejected[value] and here not in self.rejected[value]
        ]
        kinds = {kind for kind, _ in told}
        if kinds & {"near-copy", "domain"}:
            kinds.add("either")
        if any(value[0] == "domain" and value not in self.approved for value in told):
            kinds.add("domain nobody approved")
        return kinds

    def learn(self, archived: Archived) -> None:
        """Note what became of a comment: every blog decides everything."""
        for value in values_of(archived.comment):
            if archived.is_spam:
                self.rejected[value].add(archived.comment.site_id)
            else:
                self.approved.add(value)


def count(stream: Sequence[Played]) -> Counter[tuple[str, str, str]]:
    """Return how many waiting comments of each label and way were found, by kind."""
    told, counts = Told(), Counter[tuple[str, str, str]]()
    for played in stream:
        archived = played.archived
        found = told.found(archived.comment)
        told.learn(archived)
        for of in ("all", "unseen" if archived.comment.site_id in _UNSEEN else "others"):
            label = f"{of} {'spam' if archived.is_spam else 'ham'}"
            counts.update([(label, "all", kind) for kind in (*found, "n")])
            for way in ("frozen", "learning"):
                if getattr(played, way).outcome is Outcome.UNSURE:
                    counts.update([(label, way, kind) for kind in (*found, "n")])
    return counts


def main() -> int:
    """Play all blogs and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scores", type=Path, required=True)
    parser.add_argument("--data", type=Path, nargs="+", required=True)
    options = parser.parse_args()
    version = load_version(current_folder())
    cutoffs = Cutoffs(ham_cutoff=version.ham_cutoff, spam_cutoff=version.spam_cutoff)
    log_odds = {row["id"]: row["log_odds"] for row in read_rows(options.scores)}
    archive, _, _ = read_blogs(options.data, log_odds, [])
    archive.sort(key=lambda one: (moment_of(one), one.comment.id))
    judged = ((one, verdict_of(one, log_odds[one.comment.id], cutoffs)) for one in archive)
    share = load_settings().audit_share
    counts = count(list(play(judged, cutoffs, decides_all=False, audit_share=share, salt=_SALT)))
    print("| Comments | n |", " | ".join(_KINDS), "|")
    print("|---|--:|", "--:|" * len(_KINDS), sep="")
    ways = {"all": "", "frozen": ", waiting", "learning": ", waiting with learning at once"}
    for of in ("all spam", "all ham", "unseen spam", "unseen ham"):
        for way, words in ways.items():
            cells = (f"{counts[of, way, kind]:,}" for kind in ("n", *_KINDS))
            print(f"| {of}{words} |", " | ".join(cells), "|")
    return 0


if __name__ == "__main__":
    sys.exit(main())
