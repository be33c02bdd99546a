"""What the network is taught: comments with their labels, varied so that no shortcut pays."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from models.inputs import ModelInput
from models.stretches import Stretch, split_stretches
from training.dataset import Example, UnlabelledText

# What a sentence puts behind a host, such as a full stop, is none of it.
_LINK_HOST = re.compile(r"(?<=://)(?:www\.)?([^\s<>\"'\])/]{0,199}[^\s<>\"'\])/.,;:!?])")
_LINK = re.compile(r"https?://|\bwww\.", re.IGNORECASE)
_MACHINE_KINDS = frozenset({"llm-text", "llm-rewritten-human"})
_HUMAN_KINDS = frozenset({"human-text"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesson:
    """One comment or text. None where nothing is known: that head learns nothing from it.

    `promotion` are stretches known to promote, `plain` those known not to; what lies in neither
    is not taught. `weight` is how much the lesson counts. `as_before` teaches every head what the
    network said before it was trained further, and nothing else.
    """

    input: ModelInput
    is_spam: bool | None = None
    promotion: tuple[Stretch, ...] = ()
    plain: tuple[Stretch, ...] = ()
    is_llm_voice: bool | None = None
    weight: float = 1.0
    as_before: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Variation:
    """How often something is changed, as probabilities. Each takes a shortcut's ground away.

    A known domain must not settle a label (`swap_hosts`), nor whether a source keeps the author's
    fields (`drop_name`, `drop_host`) or a post's title (`drop_title`).
    """

    swap_hosts: float = 0.3
    drop_name: float = 0.3
    drop_host: float = 0.3
    drop_title: float = 0.1


def lesson_of(example: Example, *, weight: float = 1.0) -> Lesson:
    """Return the lesson of a labelled comment.

    Spam whose promotion nobody marked teaches that a stretch with a link promotes, nothing more.
    """
    text = example.comment.text
    promotion: tuple[Stretch, ...]
    plain: tuple[Stretch, ...]
    if not example.is_spam:
        promotion, plain = (), ((0, len(text)),)
    elif example.promo_spans is not None:
        promotion, plain = example.promo_spans, _rest(text, example.promo_spans)
    else:
        with_link = tuple(s for s in split_stretches(text) if _LINK.search(text, *s))
        promotion, plain = with_link, ()
    return Lesson(
        input=example.input,
        is_spam=example.is_spam,
        promotion=promotion,
        plain=plain,
        weight=weight,
    )


def voice_lesson(text: UnlabelledText) -> Lesson | None:
    """Return what a text without label teaches about LLM voice, None if it says nothing."""
    if text.kind not in _MACHINE_KINDS | _HUMAN_KINDS:
        return None
    return Lesson(
        input=ModelInput(text=text.text), is_llm_voice=text.kind in _MACHINE_KINDS, weight=1.0
    )


def _rest(text: str, spans: Sequence[Stretch]) -> tuple[Stretch, ...]:
    """Return what lies between the spans, in order."""
    edges = [0, *(edge for span in sorted(spans) for edge in span), len(text)]
    pairs = zip(edges[::2], edges[1::2], strict=True)
    return tuple((start, end) for start, end in pairs if start < end)


def collect_hosts(lessons: Sequence[Lesson]) -> list[str]:
    """Return every host that a link in the lessons leads to, sorted, each once."""
    return sorted({m[1].lower() for one in lessons for m in _LINK_HOST.finditer(one.input.text)})


def vary(lesson: Lesson, variation: Variation, hosts: Sequence[str], rng: random.Random) -> Lesson:
    """Return the lesson with some of its surface changed; what it teaches stays the same."""
    changes: dict[str, str] = {}
    for field, share in (
        ("author_name", variation.drop_name),
        ("author_host", variation.drop_host),
        ("post_title", variation.drop_title),
    ):
        if rng.random() < share:
            changes[field] = ""
    varied = replace(lesson, input=replace(lesson.input, **changes))
    if hosts and rng.random() < variation.swap_hosts:
        varied = _swap_hosts(varied, hosts, rng)
    return varied


def _swap_hosts(lesson: Lesson, hosts: Sequence[str], rng: random.Random) -> Lesson:
    """Return the lesson with the hosts of its links drawn anew, its stretches moved along."""
    text = lesson.input.text
    parts: list[str] = []
    moves: list[_Move] = []
    last = 0
    for match in _LINK_HOST.finditer(text):
        host = rng.choice(hosts)
        parts += [text[last : match.start()], host]
        moves.append((match.start(), match.end(), len(host)))
        last = match.end()
    parts.append(text[last:])
    return replace(
        lesson,
        input=replace(lesson.input, text="".join(parts)),
        promotion=_moved(lesson.promotion, moves),
        plain=_moved(lesson.plain, moves),
    )


# Where a host began and ended, and how long the one in its place is.
_Move = tuple[int, int, int]


def _moved(spans: Sequence[Stretch], moves: Sequence[_Move]) -> tuple[Stretch, ...]:
    """Return the spans in the new text; an edge inside a host goes to the new one's end."""

    def move(edge: int) -> int:
        edge = max([edge, *(end for start, end, _ in moves if start < edge < end)])
        return edge + sum(length - (end - start) for start, end, length in moves if end <= edge)

    return tuple((move(start), move(end)) for start, end in spans)
