"""What the table of learning at once counts, whatever the version thinks."""

from __future__ import annotations

from service.domain.verdict import Outcome
from service.moderation.insight.replay import Archived, Played
from tests.benchmarks.learning_streams import measure, sum_up, table
from tests.factories import make_comment, make_verdict

HAM, UNSURE, SPAM = Outcome.HAM, Outcome.UNSURE, Outcome.SPAM


def played(
    number: int,
    frozen: tuple[float, Outcome],
    learning: tuple[float, Outcome],
    *,
    spam: bool,
    asked: bool = True,
) -> Played:
    comment = make_comment(id=f"c{number}")
    verdicts = [
        make_verdict(comment.id, outcome, score=score) for score, outcome in (frozen, learning)
    ]
    archived = Archived(comment=comment, is_spam=spam)
    return Played(archived=archived, asked=asked, frozen=verdicts[0], learning=verdicts[1])


def stream() -> list[Played]:
    """Return 20 comments, half of them spam: frozen leaves all in doubt, learning errs once."""
    right = [
        played(n, (0.0, UNSURE), (5.0, SPAM) if n % 2 else (-5.0, HAM), spam=bool(n % 2))
        for n in range(19)
    ]
    return [*right, played(19, (0.0, UNSURE), (-5.0, HAM), spam=True, asked=False)]


def test_outcomes_and_ranks_are_counted_for_both_ways_behind_the_first_tenth():
    figures = measure(stream(), {f"c{n}": "classic-spam" for n in range(20)})

    assert (figures["comments"], figures["counted"], figures["asked"]) == (20, 18, 19)
    assert figures["spam"] == 9
    assert figures["frozen"]["unsure"] == 18
    assert (figures["learning"]["unsure"], figures["learning"]["spam_called_ham"]) == (0, 1)
    assert figures["frozen"]["roc_auc"] == 0.5
    assert figures["learning"]["recall_at_0.1"] == 8 / 9


def test_what_comes_after_200_decisions_is_told_apart():
    doubted = [
        played(n, (0.0, UNSURE), (0.0, UNSURE if n < 210 else HAM), spam=False) for n in range(300)
    ]

    figures = measure(doubted, {f"c{n}": "human-comment" for n in range(300)})

    assert figures["after_200"] == 100
    assert figures["frozen"]["unsure_after_200"] == 100
    assert figures["learning"]["unsure_after_200"] == 10


def test_all_blogs_together_add_up_counts_and_average_ranks():
    kinds = {f"c{n}": "classic-spam" for n in range(300)}
    one_label = [played(n, (1.0, SPAM), (1.0, SPAM), spam=True) for n in range(10)]
    blogs = {"a": measure(stream(), kinds), "b": measure(one_label, kinds)}

    total = sum_up(list(blogs.values()))
    lines = table(
        {
            "model_version": "v",
            "cutoffs": [0.1, 0.9],
            "comments_without_a_score": 0,
            "seconds": 1.0,
            "blogs": blogs,
            "all": total,
        }
    )

    assert (total["comments"], total["frozen"]["unsure"]) == (30, 18)
    assert total["learning"]["roc_auc"] == blogs["a"]["learning"]["roc_auc"]
    rows = [line for line in lines if line.startswith("| ")]
    assert [row.split(" (")[0] for row in rows[1:]] == ["| a", "| b", "| all together"]
