"""Edits one thing of a comment that leaves its label as it is, and counts what the verdict does.

A model may part spam from ham by something that merely goes along with the label in its data. Such
an edit shows it (contrast sets: Gardner et al. 2020, Findings of EMNLP, "Evaluating Models' Local
Decision Boundaries via Contrast Sets").
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from models.registry import SHIPPED_DIR, ModelVersion, load_version
from service.domain.comment import MAX_TEXT_BYTES, Comment
from service.scoring.cutoffs import clopper_pearson
from service.scoring.inputs import model_input
from service.signals.links import find_links
from training.card.page import contrast_table
from training.command import exit_code_of
from training.data.corrections import LABEL_CORRECTIONS
from training.data.dataset import Example, read_dataset
from training.fit.evidence import strengths_of
from training.fit.measured import Measured
from training.fit.reading import all_evidence, logit_of

FloatArray = npt.NDArray[np.float64]
# Returns p_spam with all evidence for each comment, in order.
Judge = Callable[[Sequence[Comment]], FloatArray]
# Returns the edited comment; None where the edit changes nothing.
Edit = Callable[[Comment], Comment | None]

# So many comments a label give intervals of two or three points.
COMMENTS_A_LABEL = 1_000
_SEED = 20_260

_NEUTRAL_HOMEPAGE = "https://quietgarden.com/"
_EMPLOYER_HOMEPAGE = "https://www.hartmann-engineering.com/"
# A neutral sentence: nobody speaks of themselves here, because that is a sign of ham.
_SENTENCE = "Some things take longer than expected."
_CODE_BLOCK = "```\nfor (let i = 0; i < rows.length; i++) { total += rows[i]; }\n```"
_QUESTION = "Does this work on older versions too?"
_NAME = "Marta"
# An encyclopaedia's address, which anybody can paste.
_REFERENCE = "https://en.wikipedia.org/wiki/Thermostat"


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrast:
    """One edit, with its name as the card has it."""

    name: str
    edit: Edit


def _with_homepage(url: str) -> Edit:
    return lambda comment: replace(comment, author=replace(comment.author, url=url))


def _with_text(edit: Callable[[str], str]) -> Edit:
    def edited(comment: Comment) -> Comment | None:
        text = edit(comment.text)
        if text == comment.text or len(text.encode("utf-8", "replace")) > MAX_TEXT_BYTES:
            return None
        return replace(comment, text=text)

    return edited


def _with_name(comment: Comment) -> Comment:
    return replace(comment, author=replace(comment.author, name=_NAME))


def _upper(text: str) -> str:
    """Return the text in upper case, except for links, which must still lead there."""
    parts, done = [], 0
    for link in find_links(text):
        parts += [text[done : link.start].upper(), text[link.start : link.end]]
        done = link.end
    return "".join([*parts, text[done:].upper()])


CONTRASTS = (
    Contrast(name="neutral homepage", edit=_with_homepage(_NEUTRAL_HOMEPAGE)),
    Contrast(name="employer's homepage", edit=_with_homepage(_EMPLOYER_HOMEPAGE)),
    Contrast(name="ending sentence", edit=_with_text(lambda t: f"{t.rstrip()}\n\n{_SENTENCE}")),
    Contrast(name="ending code block", edit=_with_text(lambda t: f"{t.rstrip()}\n\n{_CODE_BLOCK}")),
    Contrast(name="question in front", edit=_with_text(lambda t: f"{_QUESTION} {t}")),
    Contrast(name="name", edit=_with_name),
    Contrast(name="upper case", edit=_with_text(_upper)),
    Contrast(name="reference link", edit=_with_text(lambda t: f"{t.rstrip()} ({_REFERENCE})")),
)


def measure_contrasts(
    examples: Sequence[Example], judge: Judge, *, ham_cutoff: float, spam_cutoff: float
) -> list[Measured]:
    """Return one row for each contrast and label: how many verdicts got worse, and the log-odds.

    A verdict gets worse if ham moves towards spam (to a moderator or further) or spam towards ham.
    Intervals take comments as independent; those of one campaign are not, so they are narrow.
    """
    rows: list[Measured] = []
    for label in ("ham", "spam"):
        comments = [e.comment for e in examples if e.is_spam == (label == "spam")]
        before = judge(comments) if comments else np.zeros(0)
        for contrast in CONTRASTS:
            edited = [(i, new) for i, old in enumerate(comments) if (new := contrast.edit(old))]
            if not edited:
                continue
            was = before[[i for i, _ in edited]]
            now = judge([comment for _, comment in edited])
            moved = np.digitize(now, (ham_cutoff, spam_cutoff)) - np.digitize(
                was, (ham_cutoff, spam_cutoff)
            )
            hits = int((moved > 0).sum() if label == "ham" else (moved < 0).sum())
            rows.append(
                {
                    "contrast": contrast.name,
                    "label": label,
                    "count": len(edited),
                    "worse": hits,
                    "interval_95": list(clopper_pearson(hits, len(edited))),
                    "better": int((moved != 0).sum()) - hits,
                    "mean_log_odds_change": float((logit_of(now) - logit_of(was)).mean()),
                }
            )
    return rows


def draw(examples: Sequence[Example], count: int, seed: int = _SEED) -> list[Example]:
    """Return at most `count` examples of each label, in their order."""
    rng = np.random.default_rng(seed)
    kept: list[int] = []
    for is_spam in (False, True):
        at = np.array([i for i, e in enumerate(examples) if e.is_spam is is_spam], dtype=np.int64)
        kept += rng.permutation(at)[:count].tolist()
    return [examples[i] for i in sorted(kept)]


def judge_of(version: ModelVersion) -> Judge:
    """Return how a version judges with all evidence, for a sender never seen before."""

    def judge(comments: Sequence[Comment]) -> FloatArray:
        outputs = version.classifier.score_batch([model_input(one) for one in comments])
        model = np.array([output.p_spam for output in outputs])
        return all_evidence(model, strengths_of(comments), version)

    return judge


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the contrasts of a version; return 0, or 1 after one clear message."""
    parser = argparse.ArgumentParser(prog=f"python -m {__package__}.contrasts", description=__doc__)
    parser.add_argument("version", help="a version's folder, or the name of a shipped version")
    parser.add_argument("--data", type=Path, nargs="+", required=True, help="data files or folders")
    parser.add_argument("--sample", type=int, default=COMMENTS_A_LABEL, help="comments a label")
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")
    options = parser.parse_args(arguments)
    return exit_code_of(lambda: _print_contrasts(options))


def _print_contrasts(options: argparse.Namespace) -> int:
    folder = Path(options.version)
    version = load_version(folder if folder.is_dir() else SHIPPED_DIR / options.version)
    dataset = read_dataset(options.data, corrections=LABEL_CORRECTIONS)
    rows = measure_contrasts(
        draw(dataset.examples, options.sample),
        judge_of(version),
        ham_cutoff=version.ham_cutoff,
        spam_cutoff=version.spam_cutoff,
    )
    print(json.dumps(rows, indent=1) if options.json else contrast_table(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
