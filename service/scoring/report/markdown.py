"""Writes an evaluation as Markdown, the headline first, and as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime

from service.domain.verdict import Outcome
from service.scoring.figures import MIN_COUNT
from service.scoring.report.cells import (
    NO_FIGURE,
    cell,
    code,
    counted,
    found_on,
    full_share,
    percent,
    percent_of,
    percent_or_none,
    percent_with_interval,
    rate_in_percent,
    section,
    table,
)
from service.scoring.report.figures import (
    FALSE_POSITIVE_RATES,
    NOT_STATED,
    Measurements,
    Mistake,
    Ranking,
    SliceBy,
    SliceReport,
)
from service.scoring.report.spans import BoundaryTally, SpanTally
from service.scoring.weights import Cutoffs

# Longer lists are read by nobody; the JSON report holds them whole.
MAX_LISTED = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSummary:
    """One file that was evaluated. `n_broken` lines were reported and left out.

    `trained_on` says that the version has learnt from this very file.
    """

    name: str
    sha256: str
    trained_on: bool
    n_comments: int
    n_broken: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """What was evaluated, by which version, and what was found."""

    model_version: str
    cutoffs: Cutoffs
    made_at: datetime
    files: tuple[FileSummary, ...]
    measurements: Measurements
    spans: tuple[SpanTally, ...]
    boundaries: tuple[BoundaryTally, ...]


def render_markdown(evaluation: Evaluation) -> str:
    """Return the report as Markdown; every table has a row of what it counts."""
    found = evaluation.measurements
    parts = [
        _opening(evaluation),
        _by_source(found),
        _at_cutoffs(evaluation),
        _shared_points(found),
        _model_alone(found),
        _by_kind(found),
        *(_by(found, by) for by in (SliceBy.LANGUAGE, SliceBy.HARDNESS, SliceBy.LENGTH)),
        _reliability(found),
        _signals(found),
        _spans(evaluation),
        _mistakes("Ham lost", "ham whose outcome is spam, highest p_spam first", found.ham_lost),
        _mistakes(
            "Spam missed", "spam whose outcome is ham, lowest p_spam first", found.spam_missed
        ),
        _unlabelled(found),
        files_section(evaluation.files),
        _HOW_TO_READ,
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _opening(evaluation: Evaluation) -> str:
    overall = evaluation.measurements.overall
    unlabelled = sum(sum(c.values()) for c in evaluation.measurements.unlabelled.values())
    broken = sum(f.n_broken for f in evaluation.files)
    cutoffs = evaluation.cutoffs
    said = [
        f"# Evaluation of `{code(evaluation.model_version)}`",
        "",
        (
            f"{evaluation.made_at:%Y-%m-%d %H:%M} UTC. {overall.n:,} labelled comments from "
            f"{counted(len(evaluation.files), 'file')}: {overall.n_ham:,} ham, "
            f"{overall.n_spam:,} spam (prevalence {percent(overall.prevalence)}). "
            f"Ham is below {cutoffs.ham_cutoff:.4g}, spam from {cutoffs.spam_cutoff:.4g} up, "
            "unsure between."
        ),
    ]
    n_trained_on = sum(f.trained_on for f in evaluation.files)
    if n_trained_on:
        said.append(
            f"**This version has learnt from {n_trained_on} of these "
            f"{counted(len(evaluation.files), 'file')}: figures on them tell what it remembers, "
            "not how it judges what it never saw.**"
        )
    if unlabelled:
        said.append(f"{unlabelled:,} comments without a label were judged and not counted.")
    if overall.n_degraded:
        were = "verdict was" if overall.n_degraded == 1 else "verdicts were"
        said.append(f"{overall.n_degraded:,} {were} degraded, hence unsure.")
    if broken:
        said.append(f"**{counted(broken, 'line')} could not be read and are missing here.**")
    return "\n".join(said)


def _by_source(found: Measurements) -> str:
    rows = [_slice_row(s, s.verdict) for s in found.slices[SliceBy.SOURCE]]
    rows.append([f"**{cell}**" for cell in _slice_row(found.overall, found.overall.verdict)])
    return section(
        "By source",
        "Recall is at the row's own threshold for that false-positive rate (FPR); ham lost, spam "
        "caught, spam missed and unsure are at the cutoffs.",
        table(["source", *_SLICE_HEADER], rows),
    )


def _model_alone(found: Measurements) -> str:
    rows = [_ranking_row(s, s.model) for s in found.slices[SliceBy.SOURCE]]
    rows.append([f"**{cell}**" for cell in _ranking_row(found.overall, found.overall.model)])
    return section(
        "The model alone",
        "The classifier's own p_spam, before any signal is added.",
        table(["source", *_RANKING_HEADER], rows),
    )


def _by(found: Measurements, by: SliceBy) -> str:
    slices = found.slices[by]
    if not any(s.name != NOT_STATED for s in slices):
        return section(f"By {by.value}", f"No comment states its {by.value}.")
    unit = " (characters)" if by is SliceBy.LENGTH else ""
    rows = [_slice_row(s, s.verdict) for s in slices]
    return section(f"By {by.value}", table([f"{by.value}{unit}", *_SLICE_HEADER], rows))


def _by_kind(found: Measurements) -> str:
    kinds = found.slices[SliceBy.KIND]
    if not any(s.name != NOT_STATED for s in kinds):
        return section("By kind", "No comment states its kind.")
    spam_header = ["spam kind", "spam", "caught", "unsure", "missed"]
    spam_header += [f"recall at FPR {rate_in_percent(rate)}" for rate in FALSE_POSITIVE_RATES]
    spam_rows = [
        [
            cell(s.name),
            f"{s.n_spam:,}",
            percent_of(s.confusion.spam_caught),
            percent_of(s.confusion.spam_unsure),
            percent_of(s.confusion.spam_missed),
            *(percent_of(p.recall if p else None) for p in s.shared_points),
        ]
        for s in kinds
        if s.n_spam
    ]
    ham_rows = [
        [
            cell(s.name),
            f"{s.n_ham:,}",
            f"{s.confusion.ham[Outcome.SPAM]:,}",
            percent_with_interval(s.confusion.false_positive_rate),
            percent_of(s.confusion.ham_unsure),
        ]
        for s in kinds
        if s.n_ham
    ]
    return section(
        "By kind",
        "A kind has one label, so recall is at the thresholds that keep the false-positive rate "
        "over all ham together; caught, unsure and missed are at the cutoffs.",
        table(spam_header, spam_rows),
        table(["ham kind", "ham", "ham lost", "false-positive rate", "unsure"], ham_rows),
    )


def _at_cutoffs(evaluation: Evaluation) -> str:
    overall = evaluation.measurements.overall
    confusion = overall.confusion
    rows = [
        [label, f"{sum(counts.values()):,}", *(f"{counts[o]:,}" for o in Outcome)]
        for label, counts in (("ham", confusion.ham), ("spam", confusion.spam))
    ]
    lines = [
        f"- False-positive rate (ham called spam): {full_share(confusion.false_positive_rate)}",
        f"- Spam called spam: {full_share(confusion.spam_caught)}",
        f"- Spam called ham: {full_share(confusion.spam_missed)}",
        (
            f"- Unsure: {full_share(confusion.unsure)}; of ham {percent_of(confusion.ham_unsure)}, "
            f"of spam {percent_of(confusion.spam_unsure)}"
        ),
        (
            f"- Precision of spam at {evaluation.cutoffs.spam_cutoff:.4g}: "
            f"{full_share(confusion.precision)}, at a prevalence of {percent(overall.prevalence)} "
            "in these files; with another share of spam it is another figure"
        ),
    ]
    return section(
        "At the cutoffs",
        table(["label", "n", "outcome ham", "outcome unsure", "outcome spam"], rows),
        "\n".join(lines),
    )


def _shared_points(found: Measurements) -> str:
    rows = [
        [
            kind,
            rate_in_percent(point.max_false_positive_rate),
            "none keeps it" if point.threshold is None else f"{point.threshold:.6f}",
            f"{point.false_positive_rate.count:,} of {point.false_positive_rate.n:,}",
            percent_with_interval(point.false_positive_rate),
            f"{point.recall.count:,} of {point.recall.n:,}",
            percent_with_interval(point.recall),
        ]
        for kind, ranking in _both(found)
        for point in ranking.points
        if point is not None
    ]
    if not rows:
        return ""
    header = ["p_spam of", "FPR at most", "threshold", "ham lost", "FPR", "spam caught", "recall"]
    return section("Recall at a false-positive rate, all sources together", table(header, rows))


def _reliability(found: Measurements) -> str:
    tables = []
    for kind, ranking in _both(found):
        rows = [
            [
                f"{b.low:.1f}–{b.high:.1f}",
                f"{b.n:,}",
                NO_FIGURE if b.mean_p_spam is None else f"{b.mean_p_spam:.3f}",
                percent_with_interval(b.observed),
            ]
            for b in ranking.reliability
        ]
        brier = NO_FIGURE if ranking.brier is None else f"{ranking.brier:.4f}"
        tables += [
            f"p_spam of the {kind}, Brier score {brier}:",
            table(["p_spam", "n", "mean p_spam", "spam among them"], rows),
        ]
    overall = found.overall
    always = (overall.prevalence or 0) * (1 - (overall.prevalence or 0))
    return section(
        "Reliability",
        "Calibrated means that the last two columns agree. Stating the prevalence for every "
        f"comment would have a Brier score of {always:.4f}.",
        *tables,
    )


def _signals(found: Measurements) -> str:
    if not found.signals:
        return ""
    rows = [
        [cell(s.name), f"{s.weight:+.2f}", found_on(s.on_ham), found_on(s.on_spam)]
        for s in found.signals
    ]
    return section("Signals", table(["signal", "weight", "on ham", "on spam"], rows))


def _spans(evaluation: Evaluation) -> str:
    marked = [
        [
            s.name,
            f"{s.n_with:,}",
            percent_or_none(s.tokens_right, s.tokens_marked),
            percent_or_none(s.tokens_right, s.tokens_labelled),
            NO_FIGURE if s.f1 is None else f"{s.f1:.3f}",
            f"{s.n_without_marked:,} of {s.n_without:,}",
        ]
        for s in evaluation.spans
        if s.n_with + s.n_without
    ]
    turned = [
        [
            b.name,
            f"{b.n:,}",
            percent_or_none(b.n_found, b.n),
            percent_or_none(b.n_same_sentence, b.n),
            percent_or_none(b.n_within_one_sentence, b.n),
        ]
        for b in evaluation.boundaries
        if b.n
    ]
    parts = []
    if marked:
        header = ["marked by", "labelled", "token precision", "token recall", "token F1"]
        meaning = (
            "What is marked against the labelled promotion, token by token; `signals` are the "
            "spans of every signal, weighed or not."
        )
        parts += [meaning, table([*header, "marked where there is none"], marked)]
    if turned:
        header = ["found by", "labelled", "found", "same sentence", "within one sentence"]
        parts += [
            "Where spam turns from its remark to the promotion:",
            table(header, turned),
        ]
    return section("Spans", *parts) if parts else ""


def _mistakes(title: str, meaning: str, mistakes: Sequence[Mistake]) -> str:
    if not mistakes:
        return section(title, f"None ({meaning}).")
    shown = mistakes[:MAX_LISTED]
    rows = [[f"`{code(m.id)}`", cell(m.kind), f"{m.p_spam:.4f}"] for m in shown]
    rest = len(mistakes) - len(shown)
    more = f"\n\n{rest:,} more are in `report.json`." if rest else ""
    return section(
        f"{title}: {len(mistakes):,}",
        f"{meaning[0].upper()}{meaning[1:]}.",
        table(["id", "kind", "p_spam"], rows, text_columns=2) + more,
    )


def _unlabelled(found: Measurements) -> str:
    rows = [
        [cell(source), f"{sum(c.values()):,}", *(f"{c.get(o, 0):,}" for o in Outcome)]
        for source, c in found.unlabelled.items()
    ]
    if not rows:
        return ""
    return section(
        "Without a label",
        "Judged, but counted nowhere above.",
        table(["source", "n", "outcome ham", "outcome unsure", "outcome spam"], rows),
    )


def files_section(files: Sequence[FileSummary]) -> str:
    """Return the section that says which files were read."""
    rows = [
        [
            f"`{code(f.name)}`",
            f"`{f.sha256}`",
            "learnt from" if f.trained_on else "unseen",
            f"{f.n_comments:,}",
            f"{f.n_broken:,}",
        ]
        for f in files
    ]
    header = ["file", "SHA-256", "by the version", "comments", "broken lines"]
    return section("Files", table(header, rows, text_columns=3))


_HOW_TO_READ = section(
    "How to read this",
    "- **FPR**, false-positive rate: the share of ham that is called spam. "
    "**Recall**: the share of spam that is called spam.\n"
    "- *Recall at FPR x* takes the lowest threshold that loses at most x of that row's own "
    "ham; comments with equal p_spam are never parted. The threshold was chosen on the same "
    "comments, so the figure is a little kind.\n"
    f"- {NO_FIGURE} stands where there are too few comments for the figure: fewer than "
    f"{MIN_COUNT} of a label, or fewer ham than one per x.\n"
    "- Brackets hold 95 % intervals: exact ones (Clopper-Pearson) for false-positive rates, "
    "Wilson's for other shares, DeLong's on the logit scale for ROC AUC.\n"
    "- Every figure by slice, each slice's reliability table, the model alone and all ids: "
    "`report.json`. Every verdict: `scores.jsonl`.",
)
_RANKING_HEADER = [
    "ham",
    "spam",
    "ROC AUC",
    *(f"recall at FPR {r * 100:g} %" for r in FALSE_POSITIVE_RATES),
    "Brier",
]
_SLICE_HEADER = [*_RANKING_HEADER, "ham lost", "spam caught", "spam missed", "unsure"]


def _ranking_row(part: SliceReport, ranking: Ranking) -> list[str]:
    area = ranking.roc_auc
    return [
        cell(part.name),
        f"{part.n_ham:,}",
        f"{part.n_spam:,}",
        f"{area.auc:.4f} [{area.low:.4f}, {area.high:.4f}]" if area else NO_FIGURE,
        *(percent_of(p.recall if p else None) for p in ranking.points),
        NO_FIGURE if ranking.brier is None else f"{ranking.brier:.4f}",
    ]


def _slice_row(part: SliceReport, ranking: Ranking) -> list[str]:
    confusion = part.confusion
    return [
        *_ranking_row(part, ranking),
        found_on(confusion.false_positive_rate),
        percent_of(confusion.spam_caught),
        percent_of(confusion.spam_missed),
        percent_of(confusion.unsure),
    ]


def _both(found: Measurements) -> Iterable[tuple[str, Ranking]]:
    return (("verdict", found.overall.verdict), ("model alone", found.overall.model))


def evaluation_to_json(evaluation: Evaluation) -> dict[str, object]:
    """Return all results; a missing figure is None."""
    found = asdict(evaluation.measurements)
    return {
        "model_version": evaluation.model_version,
        "made_at": evaluation.made_at.isoformat(timespec="seconds"),
        "cutoffs": asdict(evaluation.cutoffs),
        "files": [asdict(file) for file in evaluation.files],
        **found,
        "spans": [{**asdict(tally), "token_f1": tally.f1} for tally in evaluation.spans],
        "boundaries": [asdict(tally) for tally in evaluation.boundaries],
    }
