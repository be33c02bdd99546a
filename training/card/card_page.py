"""Writes a version's card as a page for people."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from importlib.metadata import version as installed_version

from models.registry import Fusion
from service.scoring.set_weights import MOST_SET, SET_WEIGHTS
from service.scoring.weighing import NOTHING_LEARNT, weigh_signal
from service.scoring.weights import Weights
from training.card.figures import (
    FALSE_POSITIVE_RATES,
    KNOWN_WEAKNESSES,
    PACKAGES,
    BoolArray,
    Card,
    FloatArray,
    filled_bins,
    ham_called_spam,
    licence,
    measure,
    slices,
    spam_called_ham,
)
from training.fit.measured import Measured
from training.fit.promotion import MarkedTokens

_MAX_LISTED = 50


def percent(share: float) -> str:
    """Return a share as people read it."""
    return f"{100 * share:.3g} %"


# Over the cells that `figures_row` gives.
FIGURES_HEAD = ("", "AUC (95 %)", *(f"recall at {percent(r)} FPR" for r in FALSE_POSITIVE_RATES))


def card_markdown(card: Card) -> str:
    """Return the card for people."""
    parts = [
        *_opening(card),
        "## Cutoffs and what they promise",
        promise_lines(card.fusion),
        *separation_parts(card),
        "## Promotion marked",
        marked_line(card.marked),
        *weight_parts(card.fusion),
        *slice_parts(card),
        "## Mistakes at the cutoffs",
        ids_line("Ham called spam", ham_called_spam(card)),
        ids_line("Spam called ham", spam_called_ham(card)),
        "## Known weaknesses",
        "\n".join(f"- {weakness}" for weakness in KNOWN_WEAKNESSES),
        "## Data",
        table(
            ["file", "spam", "ham", "SHA-256", "licence"],
            [
                [f.name, f.n_spam, f.n_ham, f.sha256[:16], licence(f.name)]
                for f in card.dataset.files
            ],
        ),
        "Full fingerprints, the settings of the run and every count are in `card.json`.",
    ]
    return "\n\n".join(parts) + "\n"


def _opening(card: Card) -> list[str]:
    is_spam = card.is_spam
    packages = ", ".join(f"{name} {installed_version(name)}" for name in PACKAGES)
    return [
        f"# {card.version}",
        (
            "Hashed n-grams with logistic regression, calibrated, beside fitted weights for "
            f"{len(card.fusion.signal_weights)} signals. Trained "
            f"{card.trained_at:%Y-%m-%d %H:%M} UTC on {len(is_spam):,} comments "
            f"({is_spam.sum():,} spam, {(~is_spam).sum():,} ham); the "
            f"prevalence of spam in them is {percent(float(is_spam.mean()))}. Seed "
            f"{card.config['seed']}, Python {platform.python_version()}, {packages}."
        ),
        (
            "Every figure here is out of fold: each comment was scored by a model that saw no "
            "comment of its post, of its campaign, and no near-copy of it."
        ),
    ]


def separation_parts(card: Card) -> list[str]:
    """Return how well scores part spam from ham, and whether stated probabilities come true."""
    is_spam = card.is_spam
    alone, together = measure(is_spam, card.model_p_spam), measure(is_spam, card.p_spam)
    prevalence = float(is_spam.mean())
    return [
        "## How well spam and ham part",
        table(
            FIGURES_HEAD,
            [["model alone", *figures_row(alone)], ["with signals", *figures_row(together)]],
        ),
        (
            f"Brier score {together['brier_score']:.4f}; stating the prevalence for every comment "
            f"would score {prevalence * (1 - prevalence):.4f}."
        ),
        "## Do stated probabilities come true",
        reliability_page(is_spam, card.p_spam),
    ]


def reliability_page(is_spam: BoolArray, p_spam: FloatArray) -> str:
    """Return a table of stated probabilities beside the share of spam observed."""
    return table(
        ["p_spam", "comments", "stated", "observed"],
        [
            [f"{b.low:.1f} to {b.high:.1f}", b.n, f"{b.mean_p_spam:.3f}", f"{b.observed:.3f}"]
            for b in filled_bins(is_spam, p_spam)
        ],
    )


def weight_parts(fusion: Fusion) -> list[str]:
    """Return the weights of model and signals, largest first, with the kind of each."""
    fitted = Weights(signals=fusion.signal_weights)
    rows = [
        (name, _weight_of(name, fitted)) for name in sorted({*fusion.signal_weights, *SET_WEIGHTS})
    ]
    rows.sort(key=lambda row: (-abs(row[1][0]), row[0]))
    return [
        "## Weights",
        (
            f"score = {fusion.base:+.3f} + {fusion.model_weight:.3f} x log-odds of the model + the "
            "sum of weight x strength. A signal at 0 did not pay on these comments, or fired too "
            "rarely to tell, and is only shown. Fitted weights are of labelled comments. A set one "
            f"is a prior within {MOST_SET}, as archives do not hold the evidence; decisions of an "
            "installation move it, and the service lets none of it alone call a comment spam."
        ),
        table(
            ["signal", "weight", "kind"],
            [[name, f"{weight:.3f}", kind] for name, (weight, kind) in rows],
        ),
    ]


def _weight_of(name: str, fitted: Weights) -> tuple[float, str]:
    """Return what a signal of a version weighs before any decision, and by which right."""
    found = weigh_signal(name, fitted, NOTHING_LEARNT)
    return found.weight, "" if found.kind is None else found.kind.value


def table(head: Sequence[object], rows: Sequence[Sequence[object]]) -> str:
    """Return a table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def promise_lines(fusion: Fusion) -> str:
    """Return what each cutoff promises, beside what was measured when it was chosen."""
    lines = []
    for key, said in (
        ("ham_called_spam", f"Spam from p_spam {fusion.spam_cutoff:.4f} up. Ham called spam"),
        ("spam_called_ham", f"Ham below p_spam {fusion.ham_cutoff:.4f}. Spam called ham"),
    ):
        kept = fusion.promises[key]
        low, high = kept["interval_95"]
        lines.append(
            f"- {said}: at most {percent(kept['promised_rate'])} promised, "
            f"{kept['hits']} of {kept['count']:,} measured (exact binomial, 95 %: "
            f"{percent(low)} to {percent(high)}). {_how_sure(kept)}"
        )
    return "\n".join(lines)


def _how_sure(kept: Measured) -> str:
    if kept["expected_rate"] > kept["promised_rate"]:
        sure = "So few comments cannot promise that much: the cutoff lies beyond all of them."
    else:
        sure = (
            f"The next comment drawn like these is wrong with a chance of at most "
            f"{percent(kept['expected_rate'])}, on average over such draws (split conformal)."
        )
    return (
        f"{sure} With 95 % confidence the rate is at most {percent(kept['upper_95'])}; it takes "
        f"{kept['count_for_95']:,} comments with as many hits to be that sure of the promise."
    )


def figures_row(measured: Measured) -> list[str]:
    """Return the cells of one line: the AUC, then recall at each false-positive rate."""
    low, high = measured["roc_auc_interval_95"]
    cells = [f"{measured['roc_auc']:.4f} ({low:.4f} to {high:.4f})"]
    for point in measured["recall_at_false_positive_rate"].values():
        recall_low, recall_high = point["recall_interval_95"]
        cells.append(
            f"{point['recall']:.3f} ({recall_low:.3f} to {recall_high:.3f}), "
            f"{point['spam_caught']} of {point['n_spam']}, {point['ham_lost']} ham lost"
        )
    return cells


def marked_line(marked: MarkedTokens) -> str:
    """Return how marked promotion agrees with what people marked."""
    return (
        "Words marked as promotion, against those marked by hand in spam: precision "
        f"{marked.precision:.3f}, recall {marked.recall:.3f}, F1 {marked.f1:.3f} over "
        f"{marked.both + marked.only_hand:,} words; in ham {marked.ham_marked:,} of "
        f"{marked.n_ham:,} words were marked."
    )


def slice_parts(card: Card) -> list[str]:
    """Return a table for each way of slicing."""
    parts = []
    for name, rows in slices(card).items():
        head = [name, "spam", "called spam", "called ham", "caught at 1 % FPR"]
        head += ["ham", "called ham", "called spam", "lost at 1 % FPR"]
        keys = ["value", "n_spam", "spam_called_spam", "spam_called_ham"]
        keys += ["spam_caught_at_1_percent", "n_ham", "ham_called_ham", "ham_called_spam"]
        keys += ["ham_lost_at_1_percent"]
        parts += [f"## By {name}", table(head, [[row[key] for key in keys] for row in rows])]
    return parts


def ids_line(what: str, ids: Sequence[str]) -> str:
    """Return ids as one line, a long list cut."""
    more = f" and {len(ids) - _MAX_LISTED} more in `card.json`" if len(ids) > _MAX_LISTED else ""
    return f"{what} ({len(ids)}): {', '.join(ids[:_MAX_LISTED]) or 'none'}{more}."
