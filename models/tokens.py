"""Cuts a comment in its post's context into the windows of tokens that the network reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tokenizers import Tokenizer

from models.inputs import ModelInput
from models.view import View, view_text

# The context's share: enough for 19 of 20 titles, and little beside the comment itself, because
# every token costs the same arithmetic. The excerpt is left to the linear member.
_TITLE_TOKENS, _NAME_TOKENS, _HOST_TOKENS = 24, 12, 14
_CONTEXT_CHARS = 300
# Nine of ten comments fit into one window. A next one repeats the last tokens of the one before,
# so that a sentence cut by the edge is read whole once.
WINDOW_TOKENS = 192
OVERLAP_TOKENS = 32
# Bounds the work on one hostile comment; the first, the last and those with links come first.
MAX_WINDOWS = 8
# What a link begins with, as the vocabulary of either encoder spells it.
_LINK_WORDS = ("▁http", "http")


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """One input of the network.

    `ids` are vocabulary ids; `n_context` of them come before the text's. `spans` holds for each
    token of the text its half-open offsets in `ModelInput.text`; the closing mark has none.
    """

    ids: tuple[int, ...]
    n_context: int
    spans: tuple[tuple[int, int], ...]


class CommentTokeniser:
    """Builds windows the same way for training and serving, by one vocabulary."""

    def __init__(self, tokenizer_json: str) -> None:
        """Raise `ValueError` for what is no tokeniser's file with the marks [CLS] and [SEP]."""
        try:
            tokenizer = Tokenizer.from_str(tokenizer_json)
        except Exception as error:  # tokenizers raises plain Exception for any unreadable file
            msg = "the tokeniser's file cannot be read"
            raise ValueError(msg) from error
        first, between = tokenizer.token_to_id("[CLS]"), tokenizer.token_to_id("[SEP]")
        if first is None or between is None:
            msg = "the tokeniser knows no [CLS] and [SEP]"
            raise ValueError(msg)
        tokenizer.no_truncation()
        tokenizer.no_padding()
        self._tokenizer = tokenizer
        self._first, self._between = first, between
        known = (tokenizer.token_to_id(word) for word in _LINK_WORDS)
        self._link = next((found for found in known if found is not None), None)

    def windows(self, inputs: ModelInput) -> list[Window]:
        """Return at least one window: title, author's name and host as marked fields, then text.

        A long text gives several that overlap; see `MAX_WINDOWS` for which are kept.
        """
        context = self._context(inputs)
        view = view_text(inputs.text)
        encoded = self._tokenizer.encode(view.text, add_special_tokens=False)
        ids: list[int] = encoded.ids
        offsets: list[tuple[int, int]] = encoded.offsets
        return [
            Window(
                ids=(*context, *ids[start:end], self._between),
                n_context=len(context),
                spans=_originals(view, offsets[start:end]),
            )
            for start, end in self._segments(ids)
        ]

    def _context(self, inputs: ModelInput) -> tuple[int, ...]:
        fields = (
            (inputs.post_title, _TITLE_TOKENS),
            (inputs.author_name, _NAME_TOKENS),
            (inputs.author_host, _HOST_TOKENS),
        )
        ids = [self._first]
        for field, most in fields:
            seen = view_text(field[:_CONTEXT_CHARS]).text
            ids += self._tokenizer.encode(seen, add_special_tokens=False).ids[:most]
            ids.append(self._between)
        return tuple(ids)

    def _segments(self, ids: Sequence[int]) -> list[tuple[int, int]]:
        """Return which tokens of the text each window holds, in order."""
        count, step = len(ids), WINDOW_TOKENS - OVERLAP_TOKENS
        if count <= WINDOW_TOKENS:
            return [(0, count)]
        starts = [*range(0, count - WINDOW_TOKENS, step), count - WINDOW_TOKENS]
        segments = [(start, start + WINDOW_TOKENS) for start in starts]
        if len(segments) <= MAX_WINDOWS:
            return segments
        with_link = [s for s in reversed(segments) if self._link in ids[s[0] : s[1]]]
        by_worth = [*segments[:2], *reversed(segments[-2:]), *with_link, *segments]
        return sorted(list(dict.fromkeys(by_worth))[:MAX_WINDOWS])


def _originals(view: View, offsets: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    return tuple(view.original(start, end) if end > start else (0, 0) for start, end in offsets)
