"""Measures how well the seam between a remark and an advertisement is found, and by what.

Compares the detector, the classifier's marks, both together as in serving, and two baselines, on
every text whose boundary is known and on all ham, a part at a time.
"""

from __future__ import annotations

import argparse
import re
import sys
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from models.inputs import ModelOutput
from models.registry import load_current
from service.domain.comment import Comment
from service.domain.dataset_row import comment_from_row
from service.domain.history import History
from service.scoring.inputs import model_input
from service.scoring.seam import place_seam
from service.scoring.shares import wilson_interval
from service.signals.abrupt_shift import abrupt_shift
from service.signals.view import view_of
from training.data.corrections import LABEL_CORRECTIONS
from training.data.dataset import (
    DEFAULT_DATA,
    Example,
    UnlabelledText,
    read_dataset,
)
from training.data.partition import (
    AUTHORED,
    SEED,
    Part,
    partition,
)

_BATCH = 64
_WORD = re.compile(r"\S+")
WAYS = ("detector", "classifier", "both", "last sentence with a link", "no boundary")

# Honest changes of style, seen by rule in ham: what is counted is who contains one, not how.
INNOCENT = {
    "quotation": re.compile(r"(?m)^[ ]{0,3}>|<blockquote>|\[quote"),
    "correction": re.compile(r"(?m)^\W{0,3}(?:edit|update|correction|ps|p\.s\.)\b", re.IGNORECASE),
    "code": re.compile(r"`|<code>|<pre>|\[code|[;{}]\n"),
    "signature": re.compile(
        r"(?:\n--|\n(?:cheers|regards|best|thanks|greetings|br)),?[ !.]{0,2}\n[^\n]{1,30}\Z"
        r"|\n[-–—~]{1,2} ?[A-Z]\w{1,15}\Z",
        re.IGNORECASE,
    ),
    "second script": re.compile(r"[A-Za-z]{4}[^A-Za-z]*[\u0370-\u1fff\u3040-\ud7ff]{4}"),
    "recipe": re.compile(
        r"\b\d+ ?(?:g|ml|tbsp|tsp|cups?|eggs?|minutes at)\b[^\n]{0,300}"
        r"\b(?:flour|sugar|butter|salt|oven|bake|boil|simmer|water|milk|stir)\b",
        re.IGNORECASE,
    ),
}


@dataclass(slots=True)
class Found:
    """How near one way of finding boundaries comes to the marked ones."""

    n: int = 0
    found: int = 0
    within_one_sentence: int = 0
    exact: int = 0
    words_off: int = 0

    def add(self, comment: Comment, answer: int | None, marked: int) -> None:
        """Count one text. Blanks belong to what follows them; exact means in the same word."""
        self.n += 1
        if answer is None:
            return
        text = comment.text
        sentences = [start for start, _ in view_of(comment).sentences]
        words = [match.start() for match in _WORD.finditer(text)]
        a, b = _past_blanks(text, answer), _past_blanks(text, marked)
        off = abs(bisect_right(words, a) - bisect_right(words, b))
        sentences_off = abs(bisect_right(sentences, a) - bisect_right(sentences, b))
        self.found += 1
        self.within_one_sentence += sentences_off <= 1
        self.exact += off == 0
        self.words_off += off


def _past_blanks(text: str, offset: int) -> int:
    while offset < len(text) and text[offset].isspace():
        offset += 1
    return offset


def answers(comment: Comment, output: ModelOutput) -> dict[str, int | None]:
    """Return the first boundary inside the text by each of `WAYS`."""
    signal = abrupt_shift(comment, History())
    signals = (signal,) if signal else ()
    both = [b for s in place_seam(comment, signals, output) for b in s.boundaries]
    edges = [edge for span in output.promo_spans for edge in span]
    text = comment.text
    inside = [edge for edge in edges if text[:edge].strip() and text[edge:].strip()]
    found = (
        min(signal.boundaries) if signal else None,
        min(inside, default=None),
        min(both, default=None),
        _last_sentence_with_a_link(comment),
        None,
    )
    return dict(zip(WAYS, found, strict=True))


def _last_sentence_with_a_link(comment: Comment) -> int | None:
    view = view_of(comment)
    if not view.links:
        return None
    starts = [start for start, _ in view.sentences]
    place = bisect_right(starts, view.links[-1].start) - 1
    return starts[place] if place > 0 else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One text with what every way says of it; `group` says what it counts for."""

    comment: Comment
    group: str
    boundary: int | None
    found: dict[str, int | None]


def measure(
    comments: Sequence[tuple[Comment, str, int | None]], models_dir: Path | None
) -> list[Measured]:
    """Return what every way says of comments given with their group and marked boundary."""
    classifier = load_current(models_dir).classifier
    measured = []
    for at in range(0, len(comments), _BATCH):
        batch = comments[at : at + _BATCH]
        outputs = classifier.score_batch([model_input(comment) for comment, _, _ in batch])
        for (comment, group, boundary), output in zip(batch, outputs, strict=True):
            found = answers(comment, output)
            measured.append(Measured(comment=comment, group=group, boundary=boundary, found=found))
    return measured


def of_part(examples: Iterable[Example]) -> list[tuple[Comment, str, int | None]]:
    """Return a part's ham and its spam with a marked boundary, each with its group."""
    rows: list[tuple[Comment, str, int | None]] = []
    for example in examples:
        origin = "authored" if example.source.startswith(AUTHORED) else "public"
        if not example.is_spam:
            rows.append((example.comment, f"{origin} ham", None))
        elif example.boundary is not None:
            rows.append((example.comment, f"{origin} spam", example.boundary))
    return rows


def of_texts(texts: Iterable[UnlabelledText]) -> list[tuple[Comment, str, int | None]]:
    """Return the texts of two writers, whose boundary is no advertisement's."""
    return [
        (_as_comment(text), text.source, text.boundary)
        for text in texts
        if text.boundary is not None
    ]


def _as_comment(text: UnlabelledText) -> Comment:
    return comment_from_row({"id": text.id, "text": text.text})


def tables(measured: Sequence[Measured], part: str) -> str:
    """Return Markdown: what was found where a boundary is known, and what ham was alarmed by."""
    lines = [
        f"## {part}",
        "",
        "| texts | n | by | found | within one sentence | exact | mean words off |",
        "|---|--:|---|--:|--:|--:|--:|",
    ]
    groups = sorted({one.group for one in measured if one.boundary is not None})
    for group in groups:
        known = [one for one in measured if one.group == group and one.boundary is not None]
        lines += [_found_line(group, known, way) for way in WAYS]
    ham = [one for one in measured if one.group.endswith(" ham")]
    if ham:
        lines += ["", "| ham | n | by | false alarms | share | 95 % interval |"]
        lines += ["|---|--:|---|--:|--:|--:|"]
        for name, some in _ham_groups(ham):
            lines += [_alarm_line(name, some, way) for way in WAYS]
    return "\n".join(lines)


def _found_line(group: str, known: Sequence[Measured], way: str) -> str:
    tally = Found()
    for one in known:
        if one.boundary is not None:
            tally.add(one.comment, one.found[way], one.boundary)
    off = f"{tally.words_off / tally.found:.1f}" if tally.found else "-"
    shares = (tally.found, tally.within_one_sentence, tally.exact)
    counts = " | ".join(f"{count} ({count / tally.n:.1%})" for count in shares)
    return f"| {group} | {tally.n} | {way} | {counts} | {off} |"


def _ham_groups(ham: Sequence[Measured]) -> Iterable[tuple[str, Sequence[Measured]]]:
    yield "all", ham
    for group in sorted({one.group for one in ham}):
        yield group, [one for one in ham if one.group == group]
    for name, pattern in INNOCENT.items():
        some = [one for one in ham if pattern.search(one.comment.text)]
        if some:
            yield f"with a {name}", some


def _alarm_line(name: str, ham: Sequence[Measured], way: str) -> str:
    alarms = sum(one.found[way] is not None for one in ham)
    low, high = wilson_interval(alarms, len(ham))
    interval = f"{low:.2%} to {high:.2%}"
    return f"| {name} | {len(ham)} | {way} | {alarms} | {alarms / len(ham):.2%} | {interval} |"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables of the parts asked for."""
    parser = argparse.ArgumentParser(
        prog=f"python -m {__package__}.boundaries", description=__doc__
    )
    parser.add_argument("--data", type=Path, nargs="+", default=[DEFAULT_DATA])
    parser.add_argument("--parts", type=Part, nargs="+", default=[Part.CALIBRATION])
    parser.add_argument("--models", type=Path, help="another folder of model versions")
    options = parser.parse_args(arguments)
    # Calibration is looked at with its corrected labels; the test part's are left as they are.
    dataset = read_dataset(options.data, corrections=LABEL_CORRECTIONS)
    parts = partition(dataset, seed=SEED)
    for part in options.parts:
        print(tables(measure(of_part(getattr(parts, part)), options.models), f"{part} part"))
        print()
    texts = of_texts(dataset.texts)
    if texts:
        print(tables(measure(texts, options.models), "texts of two writers"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
