"""Edits comments without changing their labels, and counts how verdicts change.

A model may learn something that merely occurs together with a label in its data. Such edits show it
(contrast sets: Gardner et al. 2020, Findings of EMNLP, "Evaluating Models' Local Decision
Boundaries via Contrast Sets").
"""

import argparse
import json
import sys
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from models.registry import SHIPPED_DIR, ModelVersion, load_version
from service.domain.comment import MAX_TEXT_BYTES, Comment
from service.scoring.classifier import model_input
from service.scoring.cutoffs import clopper_pearson
from service.signals.links import find_links
from training.arrays import FloatArray
from training.card.page import contrast_table
from training.command import exit_code_of
from training.data.corrections import LABEL_CORRECTIONS
from training.data.dataset import Example, read_dataset
from training.fit.evidence import strengths_of
from training.fit.measured import Measured
from training.fit.scores import all_evidence, logit_of

# Returns p_spam with all evidence for each comment, in order.
Judge = Callable[[Sequence[Comment]], FloatArray]
# Returns the edited comment, None if the edit changes nothing.
Edit = Callable[[Comment], Comment | None]

# This many comments of each label give intervals of two to five points.
COMMENTS_A_LABEL = 400
_SEED = 20_260
# Harmless words and homepages, by the edit that adds them.
_EDITS = tomllib.loads(Path(__file__).with_name("edits.toml").read_text("utf-8"))


@dataclass(frozen=True, slots=True)
class Contrast:
    """One edit of a kind; `words` distinguish it from others of its kind."""

    kind: str
    edit: Edit
    words: str = ""


def _with_author(**changes: Any) -> Edit:
    return lambda comment: replace(comment, author=replace(comment.author, **changes))


def _with_text(edit: Callable[[str], str]) -> Edit:
    def edited(comment: Comment) -> Comment | None:
        text = edit(comment.text)
        if text == comment.text or len(text.encode("utf-8", "replace")) > MAX_TEXT_BYTES:
            return None
        return replace(comment, text=text)

    return edited


def _with_ending(ending: str) -> Edit:
    return _with_text(lambda text: text.rstrip() + ending)


def _with_beginning(beginning: str) -> Edit:
    return _with_text(lambda text: beginning + text)


def _upper(text: str) -> str:
    """Return the text in upper case except for links, which must keep working."""
    parts, done = [], 0
    for link in find_links(text):
        parts += [text[done : link.start].upper(), text[link.start : link.end]]
        done = link.end
    return "".join([*parts, text[done:].upper()])


CONTRASTS = (
    *(Contrast("homepage", _with_author(url=url), url) for url in _EDITS["homepages"]),
    *(Contrast("ending", _with_ending(f"\n\n{words}"), words) for words in _EDITS["endings"]),
    *(
        Contrast("beginning", _with_beginning(f"{words}\n\n"), words)
        for words in _EDITS["beginnings"]
    ),
    Contrast("name", _with_author(name="Marta")),
    Contrast("upper case", _with_text(_upper)),
    # An encyclopaedia's URL, which anybody can paste.
    Contrast("reference link", _with_ending(" (https://en.wikipedia.org/wiki/Thermostat)")),
)


def measure_contrasts(
    examples: Sequence[Example], judge: Judge, *, ham_cutoff: float
) -> list[Measured]:
    """Return one row per contrast and label: the comments that cross the cutoff of ham.

    "Worse" is ham that newly waits and spam that is newly published; "better" is the reverse.
    Intervals treat comments as independent, so for comments of one campaign they are too narrow.
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
            rose = int(((was < ham_cutoff) & (now >= ham_cutoff)).sum())
            fell = int(((was >= ham_cutoff) & (now < ham_cutoff)).sum())
            worse, better = (rose, fell) if label == "ham" else (fell, rose)
            rows.append(
                {
                    "contrast": contrast.kind,
                    "words": contrast.words,
                    "label": label,
                    "count": len(edited),
                    "worse": worse,
                    "interval_95": list(clopper_pearson(worse, len(edited))),
                    "better": better,
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
    """Return a judge that uses a version and all evidence, for unknown senders."""

    def judge(comments: Sequence[Comment]) -> FloatArray:
        outputs = version.classifier.score_batch([model_input(one) for one in comments])
        model = np.array([output.p_spam for output in outputs])
        return all_evidence(model, strengths_of(comments), version.fusion)

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
        ham_cutoff=version.fusion.ham_cutoff,
    )
    print(json.dumps(rows, indent=1) if options.json else contrast_table(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
