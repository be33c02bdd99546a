"""Cuts a comment and its post's title into the windows of tokens that the network reads."""

from collections.abc import Sequence
from dataclasses import dataclass

from models.inputs import ModelInput
from models.unigram import Unigram
from models.view import View, view_text

# The context's share: enough for 19 of 20 titles, and small, because every token costs computing
# time. The linear member reads the excerpt.
_TITLE_TOKENS, _NAME_TOKENS, _HOST_TOKENS = 24, 12, 14
_CONTEXT_CHARS = 300
# Nine of ten comments fit into one window. The next window repeats the last tokens, so that a
# sentence at the edge is read whole once.
WINDOW_TOKENS = 192
OVERLAP_TOKENS = 32
# Limits the work for one hostile comment; the first, the last and those with links are preferred.
MAX_WINDOWS = 8
# The beginning of a link.
_LINK = "▁http"


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """One input of the network.

    `ids` are vocabulary ids, of which the first `n_context` precede the text's. `spans` has
    half-open offsets into `ModelInput.text` for each token of the text, not for the closing mark.
    """

    ids: tuple[int, ...]
    n_context: int
    spans: tuple[tuple[int, int], ...]


class CommentTokeniser:
    """Builds windows from a vocabulary, for training and serving alike."""

    def __init__(self, tokenizer_json: str) -> None:
        """Raise `ValueError` if it is no tokeniser's file with the marks [CLS] and [SEP]."""
        self._vocabulary = Unigram(tokenizer_json)
        first, between = map(self._vocabulary.id_of, ("[CLS]", "[SEP]"))
        if first is None or between is None:
            msg = "the tokeniser knows no [CLS] and [SEP]"
            raise ValueError(msg)
        self._first, self._between = first, between
        self._link = self._vocabulary.id_of(_LINK)

    def windows(self, inputs: ModelInput) -> list[Window]:
        """Return at least one window: title, author's name and host as marked fields, then text.

        A long text gives several overlapping windows, limited by `MAX_WINDOWS`.
        """
        context = self._context(inputs)
        view = view_text(inputs.text)
        ids, offsets = self._vocabulary.encode(view.text)
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
            ids += self._vocabulary.encode(seen)[0][:most]
            ids.append(self._between)
        return tuple(ids)

    def _segments(self, ids: Sequence[int]) -> list[tuple[int, int]]:
        """Return the range of the text's tokens in each window, in order."""
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
