"""Writes what is known of a transformer version: learnt from what, measured on what, weak where."""

from __future__ import annotations

import json
import platform
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from importlib.metadata import version as installed_version
from typing import Any

import numpy as np
import numpy.typing as npt

from models.registry import Fusion
from models.transformer import UNBOUNDED, Calibration
from service.scoring.cutoffs import clopper_pearson
from service.scoring.metrics import brier_score
from training.card.card_page import (
    FIGURES_HEAD,
    figures_row,
    ids_line,
    marked_line,
    percent,
    promise_lines,
    reliability_page,
    slice_parts,
    table,
    weight_parts,
)
from training.card.embedding_page import embedding_lines
from training.card.evidence_page import evidence_page
from training.card.figures import (
    Card,
    cutoff_facts,
    environment,
    filled_bins,
    ham_called_spam,
    licence,
    measure,
    slices,
    spam_called_ham,
    weight_facts,
)
from training.data.dataset import DataFile, Dataset
from training.data.partition import AUTHORED, Partition, describe
from training.fit.boundaries import FoundBoundaries
from training.fit.fuse import VoiceWeight
from training.fit.measured import Measured, MeasuredPart

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

PACKAGES = ("torch", "transformers", "openvino", "nncf", "tokenizers", "numpy", "scikit-learn")

KNOWN_WEAKNESSES = (
    "Languages that the data hold little of are read by a vocabulary cut to what the data need.",
    (
        "Where spam is rarer than in these data, p_spam is stated too high; the cutoffs are "
        "promises about each label on its own and do not depend on it."
    ),
    "Account-aging spam and some author-link-only spam read exactly like ham (hardness 3).",
    "Most ham of the public sources is about software, and in English.",
    (
        "Labels of the public sources are 0.2 to 5 % wrong. Those that readers found wrong were "
        "corrected before anything was learnt or measured (`data/label-corrections.jsonl`). The "
        "promises are counted without them: they had got past the people whom a doubt would ask."
    ),
    (
        "No sender history is in the data: what earlier decisions and sightings weigh is set by "
        "judgement, until decisions accumulate."
    ),
    "Only the two ends of a text beyond 8,000 characters are read, in eight windows at most.",
)

_EVIDENCE_NOTE = (
    "For senders never seen before. Each way's cutoffs keep the same promises on the same "
    "comments; the last three columns are what they come to in each source. Intervals are exact "
    "binomial, 95 %."
)

_WAYS = {
    "network": "network alone",
    "linear": "linear member alone",
    "model": "both, calibrated",
    "all_evidence": "with signals",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionCard:
    """All that a card is written from; what matters most is first in `parts`.

    `partition` are the parts that a retraining keeps apart. `embedding` is what
    `training.fit.embed` measured of the embedding, None where there is none.
    """

    version: str
    trained_at: datetime
    seconds: float
    fingerprint: str
    config: Mapping[str, object]
    files: Sequence[DataFile]
    partition: Partition
    fusion: Fusion
    evidence: Sequence[Measured]
    calibration: Calibration
    voice: Measured | None
    voice_weight: VoiceWeight
    rounding: Measured
    parts: Sequence[MeasuredPart]
    embedding: Measured | None = None
    # Of a version whose figures are out of fold: which sources were left out together.
    rotation: Measured | None = None


def card_json(card: VersionCard) -> str:
    """Return the card for programs."""
    facts: dict[str, Any] = {
        "version": card.version,
        "trained_at": card.trained_at.isoformat(timespec="seconds"),
        "training_seconds": round(card.seconds),
        "fingerprint": card.fingerprint,
        "config": dict(card.config),
        "environment": environment(PACKAGES),
        # Whoever measures this version looks here for what it has learnt from.
        "data": [_file_facts(f) for f in card.files if not _is_tested_on(card, f)],
        "test_data": [_file_facts(f) for f in card.files if _is_tested_on(card, f)],
        "partition": describe(card.partition),
        "calibration": asdict(card.calibration),
        "cutoffs": cutoff_facts(card.fusion),
        "weights": weight_facts(card.fusion),
        "evidence_table": list(card.evidence),
        "llm_voice": card.voice,
        "llm_voice_weight": asdict(card.voice_weight),
        "rounding_to_int8": card.rounding,
        "parts": {part.name: _part_facts(card, part) for part in card.parts},
        "known_weaknesses": list(KNOWN_WEAKNESSES),
    }
    if card.embedding:
        facts["embedding"] = card.embedding
    if card.rotation:
        facts["rotation"] = card.rotation
    return json.dumps(facts, ensure_ascii=False, allow_nan=False, indent=1) + "\n"


def _file_facts(file: DataFile) -> Measured:
    return asdict(file) | {"licence": licence(file.name)}


def _is_tested_on(card: VersionCard, file: DataFile) -> bool:
    """Say whether a file holds comments of a source that the test part has wholly."""
    parts = card.partition
    if card.rotation is not None:
        return False
    source = file.name.partition(".")[0]
    learnt = {e.source for e in (*parts.train, *parts.calibration)}
    return source not in learnt and any(e.source == source for e in parts.test)


def _part_facts(card: VersionCard, part: MeasuredPart) -> Measured:
    of_part = _as_card(card, part)
    return {
        **_separation_facts(card, part),
        "reliability": [asdict(b) for b in filled_bins(part.is_spam, part.scored.all_evidence)],
        "at_the_cutoffs": _at_the_cutoffs(card, part.is_spam, part.scored.all_evidence),
        "slices": slices(of_part),
        "promotion_marked": asdict(part.marked) | {"f1": part.marked.f1},
        "seams": _seams(part.boundaries),
        "ham_called_spam": ham_called_spam(of_part),
        "spam_called_ham": spam_called_ham(of_part),
    }


def _separation_facts(card: VersionCard, part: MeasuredPart) -> Measured:
    return {
        "prevalence": float(part.is_spam.mean()),
        **{way: measure(part.is_spam, getattr(part.scored, way)) for way in _WAYS},
        "hard_slices": {
            name: _hard_slice(card, part, spam) for name, spam in _hard_spam(part).items()
        },
    }


def _as_card(card: VersionCard, part: MeasuredPart) -> Card:
    """Return the part in the shape that tables of slices and ids are made from."""
    return Card(
        version=card.version,
        trained_at=card.trained_at,
        fingerprint=card.fingerprint,
        config=card.config,
        dataset=Dataset(examples=part.examples, files=tuple(card.files)),
        fusion=card.fusion,
        model_p_spam=part.scored.model,
        p_spam=part.scored.all_evidence,
        marked=part.marked,
    )


def _at_the_cutoffs(card: VersionCard, is_spam: BoolArray, p_spam: FloatArray) -> Measured:
    """Return what becomes of spam and ham at the version's own cutoffs, with intervals."""
    called_spam, called_ham = p_spam >= card.fusion.spam_cutoff, p_spam < card.fusion.ham_cutoff
    counts = {
        "ham_called_spam": (int((~is_spam & called_spam).sum()), int((~is_spam).sum())),
        "spam_called_ham": (int((is_spam & called_ham).sum()), int(is_spam.sum())),
        "spam_called_spam": (int((is_spam & called_spam).sum()), int(is_spam.sum())),
        "ham_called_ham": (int((~is_spam & called_ham).sum()), int((~is_spam).sum())),
        "unsure": (int((~called_spam & ~called_ham).sum()), len(is_spam)),
    }
    return {name: _share(hits, count) for name, (hits, count) in counts.items()}


def _share(hits: int, count: int) -> Measured:
    interval = list(clopper_pearson(hits, count)) if count else None
    return {"hits": hits, "count": count, "interval_95": interval}


def _seams(found: FoundBoundaries) -> Measured:
    return {
        "within_one_sentence": _share(found.within_one_sentence, found.n),
        "in_the_same_word": _share(found.exact, found.n),
        "in_ham": _share(found.ham_with_one, found.n_ham),
    }


def _hard_spam(part: MeasuredPart) -> dict[str, BoolArray]:
    """Return which spam makes up each slice that matters most, those without spam left out."""
    examples = part.examples
    is_llm = np.array([e.kind == "llm-spam" for e in examples], dtype=np.bool_)
    linked = np.array(["http" in e.comment.text.lower() for e in examples], dtype=np.bool_)
    authored = np.array([e.source.startswith(AUTHORED) for e in examples], dtype=np.bool_)
    foreign = np.array([e.language not in (None, "en") for e in examples], dtype=np.bool_)
    hardest = np.array([e.hardness == 3 for e in examples], dtype=np.bool_)
    corrected = np.array([e.is_corrected for e in examples], dtype=np.bool_)
    slices_of_spam = {
        "machine-written, from public sources": is_llm,
        "of these with a link": is_llm & linked,
        "of these without": is_llm & ~linked,
        "published by its blog, found by readers": corrected,
        "authored": authored,
        "authored, not in English": authored & foreign,
        "authored, hardness 3": hardest,
    }
    return {
        name: chosen & part.is_spam
        for name, chosen in slices_of_spam.items()
        if (chosen & part.is_spam).any()
    }


def _hard_slice(card: VersionCard, part: MeasuredPart, spam: BoolArray) -> Measured:
    """Return a slice of spam against all the part's ham, and what the cutoffs make of it."""
    rows = spam | ~part.is_spam
    is_spam, p_spam = part.is_spam[rows], part.scored.all_evidence[rows]
    return measure(is_spam, p_spam) | {
        "at_the_cutoffs": _at_the_cutoffs(card, part.is_spam[spam], part.scored.all_evidence[spam])
    }


def card_markdown(card: VersionCard) -> str:
    """Return the card for people."""
    parts = [*_opening(card), "## Cutoffs and what they promise", promise_lines(card.fusion)]
    parts += [
        "## What each kind of evidence is worth",
        _EVIDENCE_NOTE,
        evidence_page(card.evidence),
    ]
    for part in card.parts:
        parts += _part_page(card, part)
    parts += [
        *weight_parts(card.fusion),
        "## LLM voice",
        _voice_line(card),
        "## Rounding to int8",
        *_rounding_lines(card.rounding),
        "## Known weaknesses",
        "\n".join(f"- {weakness}" for weakness in KNOWN_WEAKNESSES),
        "## Data",
        _dropped_line(card.partition),
        table(
            ["file", "used for", "spam", "ham", "without label", "SHA-256", "licence"],
            [
                [
                    f.name,
                    "test alone" if _is_tested_on(card, f) else "all parts",
                    f.n_spam,
                    f.n_ham,
                    f.n_unlabelled,
                    f.sha256[:16],
                    licence(f.name),
                ]
                for f in card.files
            ],
        ),
        "Full fingerprints, the settings of the run and every count are in `card.json`.",
        *(["\n".join(embedding_lines(card.embedding))] if card.embedding else []),
    ]
    return "\n\n".join(parts) + "\n"


def _opening(card: VersionCard) -> list[str]:
    c = card.calibration
    packages = ", ".join(f"{name} {installed_version(name)}" for name in PACKAGES)
    made = (
        "A fine-tuned transformer in int8 beside linear members on hashed n-grams of text and "
        f"name, calibrated together: log-odds = {_joined(c)}. "
    )
    made += (
        f"Trained {card.trained_at:%Y-%m-%d %H:%M} UTC in {card.seconds / 60:.0f} minutes. "
        f"Seed {card.config['seed']}, Python {platform.python_version()}, {packages}."
    )
    return [f"# {card.version}", made, *_how_measured(card)]


def _joined(c: Calibration) -> str:
    is_bounded = c.names_from > -UNBOUNDED or c.names_to < UNBOUNDED
    bounds = f" (from {c.names_from:g} to {c.names_to:g})" if is_bounded else ""
    return (
        f"{c.offset:+.3f} + {c.network:.3f} x network + {c.linear:.3f} x linear + "
        f"{c.promotion:.3f} x strongest promotion + {c.names:.3f} x name{bounds}"
    )


def _how_measured(card: VersionCard) -> list[str]:
    """Return what the figures are figures of."""
    if card.rotation is None:
        parts = card.partition
        return [
            (
                f"It learnt from {len(parts.train):,} comments, was calibrated on "
                f"{len(parts.calibration):,} and measured on {len(parts.test):,}. The version that "
                "it was made from may have learnt from all of them: the figures tell what was "
                "forgotten, not what is worth on other blogs."
            )
        ]
    facts = card.rotation
    learnt = facts["learnt_by"]
    folds = "; ".join(", ".join(f"`{s}`" for s in some) for some in facts["sources"].values())
    of_folds = ", ".join(f"{n:,}" for stage, n in learnt.items() if stage in facts["sources"])
    worst = facts["worst_fold"]
    return [
        (
            "Every figure is the recipe's, out of fold: whole sources were left out in turn, "
            f"authored comments by post and campaign, in {facts['n_folds']} folds, "
            f"for the linear members in {facts['n_linear_folds']}, and each "
            f"comment was judged by members that had learnt from the others ({of_folds} comments, "
            "near-copies of what was left out taken away). How members join, the weights and the "
            "cutoffs were fitted on these answers, the weights of what a comment is judged by "
            "without its own fold of the linear members. "
            f"{_gone_on_from(card.config.get('warm_start'))}"
            f"What ships then learnt from all {max(learnt.values()):,} by the same settings; a "
            f"network is rounded to int8 only to serve. Left out together: {folds}."
        ),
        (
            f"Of the worst fold {_hits(worst['ham_called_spam'])} ham are called spam, and "
            f"{_hits(worst['spam_called_ham'])} spam ham."
        ),
    ]


def _gone_on_from(version: object) -> str:
    if version is None:
        return ""
    return (
        f"Each network went on from that of `{version}`, which had learnt nothing of the sources, "
        "posts and campaigns that the figures are of. "
    )


def _hits(counted: Measured) -> str:
    return f"{counted['hits']} of {counted['count']:,}"


def _part_page(card: VersionCard, part: MeasuredPart) -> list[str]:
    is_spam = part.is_spam
    of_part = _as_card(card, part)
    return [
        f"# {part.name.capitalize()}",
        (
            f"{len(is_spam):,} comments, {int(is_spam.sum()):,} spam, "
            f"{int((~is_spam).sum()):,} ham (prevalence {percent(float(is_spam.mean()))})."
        ),
        "## How well spam and ham part",
        _separation_table(card, part),
        "Rows of a slice set its spam, by all evidence, against all ham of the part.",
        "## What the cutoffs make of it",
        _cutoff_table(card, part),
        "## Do stated probabilities come true",
        _reliability(part),
        "## Promotion marked",
        marked_line(part.marked),
        _seam_line(part.boundaries),
        *slice_parts(of_part),
        "## Mistakes at the cutoffs",
        ids_line("Ham called spam", ham_called_spam(of_part)),
        ids_line("Spam called ham", spam_called_ham(of_part)),
    ]


def _separation_table(card: VersionCard, part: MeasuredPart) -> str:
    rows = [
        [said, *figures_row(measure(part.is_spam, getattr(part.scored, way)))]
        for way, said in _WAYS.items()
    ]
    rows += [
        [name, *figures_row(_hard_slice(card, part, spam))]
        for name, spam in _hard_spam(part).items()
    ]
    return table(FIGURES_HEAD, rows)


def _cutoff_table(card: VersionCard, part: MeasuredPart) -> str:
    everything = np.ones(len(part.examples), dtype=np.bool_)
    rows = []
    for name, chosen in ({"all": everything} | _hard_spam(part)).items():
        found = _at_the_cutoffs(card, part.is_spam[chosen], part.scored.all_evidence[chosen])
        rows.append([name, *(_counted(found[key]) for key in found)])
    head = ["", "ham called spam", "spam called ham", "spam called spam", "ham called ham"]
    return table([*head, "unsure"], rows)


def _seam_line(found: FoundBoundaries) -> str:
    """Return how near the seams that verdicts tell are to those known."""
    near, exact, in_ham = map(_counted, _seams(found).values())
    return (
        "Seams told where spam is known to turn into its advertisement: within one sentence of it "
        f"{near}, in the same word {exact}. Told of ham: {in_ham}."
    )


def _counted(found: Measured) -> str:
    if not found["count"]:
        return "—"
    low, high = found["interval_95"]
    share = found["hits"] / found["count"]
    return (
        f"{found['hits']:,} of {found['count']:,} = {percent(share)} "
        f"({100 * low:.2f} to {100 * high:.2f})"
    )


def _reliability(part: MeasuredPart) -> str:
    is_spam, p_spam = part.is_spam, part.scored.all_evidence
    before, after = brier_score(is_spam, part.scored.network), brier_score(is_spam, p_spam)
    prevalence = float(is_spam.mean())
    return (
        f"Brier score {before:.4f} before calibration (network alone), {after:.4f} after; stating "
        f"the prevalence for every comment would score {prevalence * (1 - prevalence):.4f}.\n\n"
        + reliability_page(is_spam, p_spam)
    )


def _voice_line(card: VersionCard) -> str:
    voice, weight = card.voice, card.voice_weight
    if voice is None:
        return "There were no texts to learn it from: the head says nothing."
    low, high = voice["roc_auc_interval_95"]
    return (
        f"On {voice['n_spam']:,} texts by language models and {voice['n_ham']:,} by people, of the "
        f"same sources but not trained on: AUC {voice['roc_auc']:.3f} ({low:.3f} to {high:.3f}). "
        "It is shown to moderators and weighs nothing, as a machine's voice is no intent. If it "
        f"were let, these comments would give it {weight.if_free:.3f} (told of "
        f"{weight.fired_on_spam} spam and {weight.fired_on_ham} ham there)."
    )


def _rounding_lines(rounding: Measured) -> list[str]:
    more = [rounding["before_rounding"]] if "before_rounding" in rounding else []
    return [_rounding_line(one) for one in (rounding, *more)]


def _rounding_line(rounding: Measured) -> str:
    low, high = clopper_pearson(rounding["outcomes_changed"], rounding["n"])
    # Older cards do not say what they compared with.
    against = rounding.get("against", "the network before rounding")
    return (
        f"Of {rounding['n']:,} comments, drawn by the seed, "
        f"{rounding['outcomes_changed']} got "
        f"another outcome than from {against} (95 %: {percent(low)} to "
        f"{percent(high)}), {rounding['ham_to_spam_or_back']} from ham to spam or back. p_spam "
        f"moved by {rounding['mean_change_of_p_spam']:.4f} on average, by "
        f"{rounding['largest_change_of_p_spam']:.3f} at most; AUC {rounding['roc_auc_before']:.4f} "
        f"before, {rounding['roc_auc_after']:.4f} after."
    )


def _dropped_line(parts: Partition) -> str:
    counts = Counter(parts.dropped.values())
    reasons = ", ".join(f"{count} {reason}" for reason, count in counts.most_common())
    return f"Left out of the parts that a retraining keeps apart: {reasons or 'nothing'}."
