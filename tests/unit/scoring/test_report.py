"""The report counts what it says it counts, and stays silent where there is too little."""

import pytest

from models.inputs import ModelOutput
from service.domain.verdict import Outcome, Span, Verdict
from service.scoring.report.markdown import Evaluation, FileSummary, render_markdown
from service.scoring.report.measuring import (
    MAX_SLICES,
    NOT_STATED,
    OTHER,
    Facts,
    Measurements,
    ScoreCollector,
    SliceBy,
    measure,
)
from service.scoring.report.spans import BoundaryTally, SpanTally
from service.scoring.weights import Cutoffs, Weights
from tests.factories import NOW, conclude_on, make_signal

CUTOFFS = Cutoffs(ham_cutoff=0.2, spam_cutoff=0.9)
WEIGHTS = Weights(signals={"shortened_link": 0.4})


def judged(p_spam: float, *, comment_id: str = "c1", away: bool = False, signals=()) -> Verdict:
    output = None if away else ModelOutput(p_spam=p_spam)
    return conclude_on(
        *signals, output=output, comment_id=comment_id, weights=WEIGHTS, cutoffs=CUTOFFS
    )


def facts(*, is_spam: bool | None, **slices: str) -> Facts:
    stated = {by: slices.get(by.value, NOT_STATED) for by in SliceBy}
    stated[SliceBy.LENGTH] = slices.get("length", "0-49")
    return Facts(is_spam=is_spam, slices=stated)


def collect(*rows: tuple[float, bool | None], **slices: str) -> ScoreCollector:
    collected = ScoreCollector()
    for number, (p_spam, is_spam) in enumerate(rows):
        verdict = judged(p_spam, comment_id=f"c{number}")
        collected.add(verdict, facts(is_spam=is_spam, **slices))
    return collected


def evaluation(found: Measurements) -> Evaluation:
    file = FileSummary(
        name="blog.jsonl", sha256="ab" * 32, trained_on=True, n_comments=9, n_broken=0
    )
    return Evaluation(
        model_version="test-1",
        cutoffs=CUTOFFS,
        made_at=NOW,
        files=(file,),
        measurements=found,
        spans=(),
        boundaries=(),
    )


def test_the_confusion_counts_every_label_by_its_outcome():
    collected = collect((0.1, False), (0.5, False), (0.95, False), (0.1, True), (0.99, True))

    confusion = measure(collected, WEIGHTS).overall.confusion

    assert confusion.ham == {Outcome.HAM: 1, Outcome.UNSURE: 1, Outcome.SPAM: 1}
    assert confusion.spam == {Outcome.HAM: 1, Outcome.UNSURE: 0, Outcome.SPAM: 1}
    assert (confusion.precision.count, confusion.precision.n) == (1, 2)
    assert (confusion.unsure.count, confusion.unsure.n) == (1, 5)


def test_opposites_of_the_label_are_listed_worst_first():
    collected = collect((0.92, False), (0.99, False), (0.15, True), (0.05, True), (0.5, True))

    found = measure(collected, WEIGHTS)

    assert [m.id for m in found.ham_lost] == ["c1", "c0"]
    assert [m.id for m in found.spam_missed] == ["c3", "c2"]


def test_a_false_positive_rate_finer_than_one_ham_is_not_promised():
    collected = collect(*[(0.95, True)] * 10, *[(0.1, False)] * 199)

    points = measure(collected, WEIGHTS).overall.verdict.points

    assert points[:2] == (None, None)
    assert [p.recall.share for p in points[2:]] == [1.0, 1.0]


def test_the_model_alone_is_measured_where_it_answered():
    collected = collect(*[(0.9, True)] * 10, *[(0.1, False)] * 10)
    collected.add(judged(0.9, away=True), facts(is_spam=False))

    overall = measure(collected, WEIGHTS).overall

    assert (overall.n, overall.model.n, overall.n_degraded) == (21, 20, 1)
    assert overall.model.brier == pytest.approx(0.01)
    assert overall.verdict.brier == pytest.approx((20 * 0.01 + 0.25) / 21)


@pytest.mark.parametrize(
    ("name", "weight"), [("shortened_link", 0.4), ("honeypot_filled", 1.5), ("unheard_of", 0.0)]
)
def test_signals_are_counted_by_label_with_their_weight(name, weight):
    collected = ScoreCollector()
    for is_spam in [True] * 3 + [False]:
        collected.add(judged(0.5, signals=[make_signal(name)]), facts(is_spam=is_spam))

    [signal] = measure(collected, WEIGHTS).signals

    assert (signal.name, signal.weight) == (name, weight)
    assert (signal.on_spam.count, signal.on_ham.count) == (3, 1)


def test_a_file_with_a_new_kind_on_every_line_does_not_fill_the_report():
    collected = ScoreCollector()
    for number in range(MAX_SLICES + 50):
        collected.add(judged(0.5), facts(is_spam=True, kind=f"kind {number}"))

    kinds = measure(collected, WEIGHTS).slices[SliceBy.KIND]

    assert len(kinds) == MAX_SLICES + 1
    assert {s.name: s.n for s in kinds}[OTHER] == 50


def test_the_markdown_opens_with_the_headline_and_lists_the_mistakes():
    collected = collect((0.95, False), (0.05, True), (0.99, True), source="blog", kind="remark")

    text = render_markdown(evaluation(measure(collected, WEIGHTS)))

    assert text.startswith("# Evaluation of `test-1`\n")
    assert text.index("## By source") < text.index("## At the cutoffs")
    assert "| blog | 1 | 2 | — |" in text
    assert "| `c0` | remark | 0.9500 |" in text
    assert "| `c1` | remark | 0.0500 |" in text
    assert "prevalence 66.7 %" in text
    assert "learnt from 1 of these 1 file" in text
    assert "Brier score of 0.2222." in text
    assert text.count("\n| **all") == 2
    assert "## Signals" not in text
    assert "No comment states its language." in text


def test_markup_in_a_data_file_stays_text():
    name = "<img src=x> [a](https://ads.example) www.ads.example"

    text = render_markdown(evaluation(measure(collect((0.5, True), kind=name), WEIGHTS)))

    assert "<img" not in text.replace("\\<img", "")
    assert "https://" not in text
    assert "www.ads" not in text


@pytest.mark.parametrize(
    ("text", "marked", "labelled", "counts"),
    [
        # Marked: cheap tyres here; labelled: Buy cheap tyres.
        ("Nice post. Buy cheap tyres here", (15, 31), (11, 26), (2, 3, 3)),
        # Scripts without spaces are compared by character.
        ("好文章。买便宜轮胎", (4, 9), (5, 9), (4, 5, 4)),
    ],
)
def test_marked_tokens_are_compared_with_the_labelled_ones(text, marked, labelled, counts):
    tally = SpanTally("promo_spans")

    tally.add(text, *([Span(start=a, end=b)] for a, b in (marked, labelled)))

    assert (tally.tokens_right, tally.tokens_marked, tally.tokens_labelled) == counts
    assert tally.f1 == pytest.approx(2 * counts[0] / (counts[1] + counts[2]))


@pytest.mark.parametrize(
    ("found", "same", "within"), [(11, 1, 1), (10, 1, 1), (0, 0, 1), (45, 0, 0), (None, 0, 0)]
)
def test_a_boundary_is_right_within_one_sentence(found, same, within):
    text = "Nice post. Buy cheap tyres here. Ships today. Call us now."
    tally = BoundaryTally("promo_spans")

    tally.add(text, found, 11)

    assert (tally.n_same_sentence, tally.n_within_one_sentence) == (same, within)
