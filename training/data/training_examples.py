"""What the network is taught: comments with their labels, varied so that no shortcut pays."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from models.inputs import ModelInput
from models.segments import Segment, split_segments
from training.data.dataset import Example, UnlabelledText
from training.data.hosts import made_up_host

# What a sentence puts behind a host, such as a full stop, is none of it.
_LINK_HOST = re.compile(r"(?<=://)(?:www\.)?([^\s<>\"'\])/]{0,199}[^\s<>\"'\])/.,;:!?])")
_LINK = re.compile(r"https?://|\bwww\.", re.IGNORECASE)
# A remark that is glued to another comment is about so long at most, in characters.
_REMARK_CHARS = 240
# Which shares of what is glued are code, a remark with a link, and glued before the text.
_GLUED_CODE, _GLUED_LINKS, _GLUED_BEFORE = 0.15, 0.25, 0.4
_CODE = (
    "x = [i for i in y]",
    "git log --oneline | head",
    "SELECT name FROM users WHERE id = 1;",
    "npm install",
    "if (a) { return; }",
    "sudo systemctl restart nginx",
    "<div class='note'></div>",
    "for f in *.txt; do echo $f; done",
    "console.log(JSON.stringify(a))",
    "TypeError: 'NoneType' object is not iterable",
)
# What is kept of a text into which an advertisement was woven: so many characters on either side.
_BEFORE_WOVEN, _AFTER_WOVEN = 350, 250


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingExample:
    """One comment or text. None where nothing is known: that head learns nothing from it.

    `promotion` are segments known to promote, `plain` those known not to; what lies in neither
    is not taught. `weight` is how much the training example counts.
    """

    input: ModelInput
    is_spam: bool | None = None
    promotion: tuple[Segment, ...] = ()
    plain: tuple[Segment, ...] = ()
    weight: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Variation:
    """How often something is changed, as probabilities. Each takes a shortcut's ground away.

    A known domain must not settle a label (`swap_hosts`), nor whether a source keeps the author's
    fields (`drop_name`, `drop_host`) or a post's title (`drop_title`). WordPress asks everybody
    for a homepage, so one alone says nothing (`give_host`). A sincere remark, with its link or its
    code, vouches for nothing before or behind it: whoever advertises can copy one. It is glued to
    spam (`glue_spam`) more often than to ham (`glue_ham`), which it comes from.
    """

    swap_hosts: float = 0.1
    glue_spam: float = 0.25
    glue_ham: float = 0.1
    drop_name: float = 0.1
    drop_host: float = 0.2
    give_host: float = 0.15
    drop_title: float = 0.1


def training_example_of(example: Example, *, weight: float = 1.0) -> TrainingExample:
    """Return the training example of a labelled comment.

    Spam whose promotion nobody marked teaches that a segment with a link promotes, nothing more.
    """
    text = example.comment.text
    promotion: tuple[Segment, ...]
    plain: tuple[Segment, ...]
    if not example.is_spam:
        promotion, plain = (), ((0, len(text)),)
    elif example.promo_spans is not None:
        promotion, plain = example.promo_spans, _rest(text, example.promo_spans)
    else:
        with_link = tuple(s for s in split_segments(text) if _LINK.search(text, *s))
        promotion, plain = with_link, ()
    return TrainingExample(
        input=example.input,
        is_spam=example.is_spam,
        promotion=promotion,
        plain=plain,
        weight=weight,
    )


def cut_woven(texts: Sequence[UnlabelledText]) -> list[tuple[str, Segment]]:
    """Return each text into which an advertisement was woven, cut around it, and where that is."""
    found = []
    for text in texts:
        first, last = text.promo_spans[0]
        start = max(0, first - _BEFORE_WOVEN)
        cut = text.text[start : last + _AFTER_WOVEN]
        found.append((cut, (first - start, min(last - start, len(cut)))))
    return found


def _rest(text: str, spans: Sequence[Segment]) -> tuple[Segment, ...]:
    """Return what lies between the spans, in order."""
    edges = [0, *(edge for span in sorted(spans) for edge in span), len(text)]
    pairs = zip(edges[::2], edges[1::2], strict=True)
    return tuple((start, end) for start, end in pairs if start < end)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stock:
    """What training examples are varied with, taken from other examples.

    `hosts` are those that links lead to, sorted, each once; `remarks` pieces of ham, `linked` those
    of them with a link.
    """

    hosts: Sequence[str] = ()
    remarks: Sequence[str] = ()
    linked: Sequence[str] = ()


def collect_stock(training_examples: Sequence[TrainingExample]) -> Stock:
    """Return what these training examples can be varied with."""
    texts = [one.input.text for one in training_examples]
    hosts = {match[1].lower() for text in texts for match in _LINK_HOST.finditer(text)}
    remarks = [
        remark
        for one in training_examples
        if one.is_spam is False
        for remark in _remarks(one.input.text)
    ]
    return Stock(
        hosts=sorted(hosts),
        remarks=remarks,
        linked=[remark for remark in remarks if _LINK.search(remark)],
    )


def _remarks(text: str) -> list[str]:
    """Return a text in pieces of whole segments, each as long as a remark may be."""
    pieces: list[Segment] = []
    for start, end in split_segments(text):
        if pieces and end - pieces[-1][0] <= _REMARK_CHARS:
            pieces[-1] = (pieces[-1][0], end)
        else:
            pieces.append((start, end))
    return [text[a:b].strip() for a, b in pieces if b - a <= _REMARK_CHARS]


def vary(
    training_example: TrainingExample, variation: Variation, stock: Stock, rng: random.Random
) -> TrainingExample:
    """Return the example with some of its surface changed; what it teaches stays the same."""
    changes: dict[str, str] = {}
    for field, share in (
        ("author_name", variation.drop_name),
        ("author_host", variation.drop_host),
        ("post_title", variation.drop_title),
    ):
        if rng.random() < share:
            changes[field] = ""
    if rng.random() < variation.give_host:
        changes["author_host"] = made_up_host(rng)
    varied = replace(training_example, input=replace(training_example.input, **changes))
    if stock.hosts and rng.random() < variation.swap_hosts:
        varied = _swap_hosts(varied, stock.hosts, rng)
    glue = variation.glue_spam if varied.is_spam else variation.glue_ham
    if stock.remarks and rng.random() < glue:
        varied = _glue_remark(varied, stock, rng)
    return varied


def glued_copies(examples: Sequence[Example], share: float, *, seed: int) -> list[Example]:
    """Return copies of about this share of the comments, a remark of some ham glued to each."""
    training_examples = [training_example_of(example) for example in examples]
    stock = collect_stock(training_examples)
    if not stock.remarks:
        return []
    rng = random.Random(seed)  # noqa: S311  # varying training examples is no secret
    return [
        replace(example, comment=replace(example.comment, text=glued.input.text))
        for example, training_example in zip(examples, training_examples, strict=True)
        if rng.random() < share
        for glued in [_glue_remark(training_example, stock, rng)]
    ]


def _glue_remark(
    training_example: TrainingExample, stock: Stock, rng: random.Random
) -> TrainingExample:
    """Return the training example with a piece of somebody's ham before or behind its text."""
    text = training_example.input.text
    drawn = rng.random()
    if drawn < _GLUED_CODE:
        remark = f"```\n{rng.choice(_CODE)}\n```"
    elif stock.linked and drawn < _GLUED_CODE + _GLUED_LINKS:
        remark = rng.choice(stock.linked)
    else:
        remark = rng.choice(stock.remarks)
    between = rng.choice((" ", "\n", "\n\n"))
    if rng.random() < _GLUED_BEFORE:
        ahead = len(remark) + len(between)
        return replace(
            training_example,
            input=replace(training_example.input, text=remark + between + text),
            promotion=_shifted(training_example.promotion, ahead),
            plain=((0, len(remark)), *_shifted(training_example.plain, ahead)),
        )
    start = len(text) + len(between)
    return replace(
        training_example,
        input=replace(training_example.input, text=text + between + remark),
        plain=(*training_example.plain, (start, start + len(remark))),
    )


def _shifted(spans: Sequence[Segment], by: int) -> tuple[Segment, ...]:
    return tuple((start + by, end + by) for start, end in spans)


def _swap_hosts(
    training_example: TrainingExample, hosts: Sequence[str], rng: random.Random
) -> TrainingExample:
    """Return the example with the hosts of its links drawn anew, its segments moved along."""
    text = training_example.input.text
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
        training_example,
        input=replace(training_example.input, text="".join(parts)),
        promotion=_moved(training_example.promotion, moves),
        plain=_moved(training_example.plain, moves),
    )


# Where a host began and ended, and how long the one in its place is.
_Move = tuple[int, int, int]


def _moved(spans: Sequence[Segment], moves: Sequence[_Move]) -> tuple[Segment, ...]:
    """Return the spans in the new text; an edge inside a host goes to the new one's end."""

    def move(edge: int) -> int:
        edge = max([edge, *(end for start, end, _ in moves if start < edge < end)])
        return edge + sum(length - (end - start) for start, end, length in moves if end <= edge)

    return tuple((move(start), move(end)) for start, end in spans)
