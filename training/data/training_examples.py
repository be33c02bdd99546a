"""The network's training examples: labelled comments, varied against shortcuts."""

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from models.inputs import ModelInput
from models.segments import Segment, split_segments
from training.data.dataset import Example, UnlabelledText
from training.data.hosts import made_up_host

# Without punctuation after a host, such as a full stop.
_LINK_HOST = re.compile(r"(?<=://)(?:www\.)?([^\s<>\"'\])/]{0,199}[^\s<>\"'\])/.,;:!?])")
_LINK = re.compile(r"https?://|\bwww\.", re.IGNORECASE)
# The approximate length limit of a remark that is glued to another comment, in characters.
_REMARK_CHARS = 240
# The shares of glued pieces that are code, have a link, are harmless remarks, and come before the
# text.
_GLUED_CODE, _GLUED_LINKS, _GLUED_HARMLESS, _GLUED_BEFORE = 0.15, 0.2, 0.35, 0.4
# Sentences in the languages that the data have, which anybody can add to anything.
HARMLESS_REMARKS = tuple(
    Path(__file__).with_name("harmless_remarks.txt").read_text("utf-8").splitlines()
)
_LINKED_REMARKS = tuple(remark for remark in HARMLESS_REMARKS if _LINK.search(remark))
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
_CODE_FORMATS = ("```\n{}\n```", "```sh\n{}\n```", "<pre><code>{}</code></pre>", "`{}`", "    {}")
# The characters that are kept on each side of a woven advertisement.
_BEFORE_WOVEN, _AFTER_WOVEN = 350, 250


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingExample:
    """One comment or text. A label that is None is unknown and teaches nothing.

    `promotion` are segments that promote, `plain` segments that do not; the rest is not taught.
    `weight` is the training example's weight.
    """

    input: ModelInput
    is_spam: bool | None = None
    promotion: tuple[Segment, ...] = ()
    plain: tuple[Segment, ...] = ()
    weight: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Variation:
    """The probabilities of changes. Each prevents a shortcut.

    A known domain must not decide a label (`swap_hosts`), nor whether a source has authors' fields
    (`drop_name`, `drop_host`) or a post's title (`drop_title`). WordPress asks everybody for a
    homepage, so having one is no evidence (`give_host`). A sincere remark with its link or code is
    no evidence for the text next to it, because spammers can copy one. Remarks come from ham and
    are glued to spam (`glue_spam`) more often than to ham (`glue_ham`), but to ham often enough
    that a remark in another language is no evidence of spam.
    """

    swap_hosts: float = 0.1
    glue_spam: float = 0.4
    glue_ham: float = 0.3
    drop_name: float = 0.1
    drop_host: float = 0.3
    give_host: float = 0.25
    drop_title: float = 0.1


def training_example_of(example: Example, *, weight: float = 1.0) -> TrainingExample:
    """Return the training example of a labelled comment.

    Unmarked spam teaches only that segments with a link promote.
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
    """Return each text with a woven advertisement, cut around it, and the advertisement's place."""
    found = []
    for text in texts:
        first, last = text.promo_spans[0]
        start = max(0, first - _BEFORE_WOVEN)
        cut = text.text[start : last + _AFTER_WOVEN]
        found.append((cut, (first - start, min(last - start, len(cut)))))
    return found


def _rest(text: str, spans: Sequence[Segment]) -> tuple[Segment, ...]:
    """Return the segments between the spans, in order."""
    edges = [0, *(edge for span in sorted(spans) for edge in span), len(text)]
    pairs = zip(edges[::2], edges[1::2], strict=True)
    return tuple((start, end) for start, end in pairs if start < end)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stock:
    """Hosts and remarks from other examples, for variations.

    `hosts` are the distinct hosts of links, sorted; `remarks` are pieces of ham, `linked` those
    with a link.
    """

    hosts: Sequence[str] = ()
    remarks: Sequence[str] = ()
    linked: Sequence[str] = ()


def collect_stock(training_examples: Sequence[TrainingExample]) -> Stock:
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
    """Split a text into pieces of whole segments, each at most as long as a remark."""
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
    """Return the example with its surface varied; its labels stay the same."""
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


def glued_copies(
    examples: Sequence[Example], *, spam: float, ham: float, seed: int
) -> list[Example]:
    """Return copies of the comments, each with a glued remark of some ham.

    `spam` and `ham` are the mean numbers of copies of a comment by its label.
    """
    training_examples = [training_example_of(example) for example in examples]
    stock = collect_stock(training_examples)
    if not stock.remarks:
        return []
    rng = random.Random(seed)  # noqa: S311  # varying training examples is no secret
    return [
        replace(example, comment=replace(example.comment, text=glued.input.text))
        for example, training_example in zip(examples, training_examples, strict=True)
        for _ in range(int((spam if example.is_spam else ham) + rng.random()))
        for glued in [_glue_remark(training_example, stock, rng)]
    ]


def _glue_remark(
    training_example: TrainingExample, stock: Stock, rng: random.Random
) -> TrainingExample:
    """Return the training example with a piece of some ham before or after its text."""
    text = training_example.input.text
    drawn = rng.random()
    if drawn < _GLUED_CODE:
        remark = rng.choice(_CODE_FORMATS).format(rng.choice(_CODE))
    elif drawn < _GLUED_CODE + _GLUED_HARMLESS:
        remark = rng.choice(HARMLESS_REMARKS)
    elif stock.linked and drawn < _GLUED_CODE + _GLUED_HARMLESS + _GLUED_LINKS:
        remark = rng.choice(rng.choice((stock.linked, _LINKED_REMARKS)))
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
    """Return the example with other hosts in its links, its segments adjusted."""
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


# A host's start and end, and the length of its replacement.
_Move = tuple[int, int, int]


def _moved(spans: Sequence[Segment], moves: Sequence[_Move]) -> tuple[Segment, ...]:
    """Return the spans in the new text; an edge inside a host moves to the new host's end."""

    def move(edge: int) -> int:
        edge = max([edge, *(end for start, end, _ in moves if start < edge < end)])
        return edge + sum(length - (end - start) for start, end, length in moves if end <= edge)

    return tuple((move(start), move(end)) for start, end in spans)
