"""Takes short ends off a text, so that harmless words next to an advertisement do not hide it."""

import re

# The longest end that is taken off, in characters.
_END_CHARS = 200
# Windows of a longer text are judged apart (`models.transformer.pool`), so an end hides little.
_MAX_CHARS = 1_500
# Between two sentences; not after an initial or an abbreviation such as "e.g.".
_EDGE = re.compile(r"(?<!\b\w)[.!?…]{1,3}[\"'”’»)\]*_]{0,3}\s+|[。！？]{1,3}|\s*\n\s*")
_FENCE = "```"
_MARKUP = ("pre", "code")


def without_ends(text: str) -> list[str]:
    """Return the text without its first and last sentence, two sentences, or paragraph.

    A block of code counts as a sentence. Ends of more than 200 characters stay. A text of one
    sentence, or of more than 1,500 characters, gives no result.
    """
    text = text.strip()
    if len(text) > _MAX_CHARS:
        return []
    found = [text[edge:] for edge in _first_edges(text)]
    found += [text[:edge] for edge in _last_edges(text)]
    stripped = (one.strip() for one in found)
    return [one for one in dict.fromkeys(stripped) if any(map(str.isalnum, one))]


def _first_edges(text: str) -> list[int]:
    """Return the ends of the first sentence, the first two and the first paragraph."""
    block = _first_block(text)
    edges = list(_EDGE.finditer(text, block, _END_CHARS))
    at = [edge.end() for edge in edges]
    paragraph = [edge.end() for edge in edges if "\n" in edge[0]]
    return [*([block] if block else []), *at][:2] + paragraph[:1]


def _last_edges(text: str) -> list[int]:
    """Return the starts of the last sentence, the last two and the last paragraph."""
    block = _last_block(text)
    edges = list(_EDGE.finditer(text, max(0, len(text) - _END_CHARS), block))
    at = [edge.end() for edge in edges if edge.end() < block]
    paragraph = [edge.end() for edge in edges if "\n" in edge[0]]
    return [*at, *([block] if block < len(text) else [])][-2:] + paragraph[-1:]


def _first_block(text: str) -> int:
    """Return the end of a short block of code that begins the text, 0 without one."""
    ends = [_FENCE] if text.startswith(_FENCE) else []
    ends += [f"</{name}>" for name in _MARKUP if text[:6].lower().startswith(f"<{name}")][:1]
    found = [text[:_END_CHARS].lower().find(end, len(_FENCE)) + len(end) for end in ends]
    return max((end for end in found if end > len(_FENCE) + 2), default=0)


def _last_block(text: str) -> int:
    """Return the start of a short block of code that ends the text, its length without one."""
    tail = text[-_END_CHARS:].lower()
    starts = [_FENCE] if tail.endswith(_FENCE) else []
    starts += [f"<{name}" for name in _MARKUP if tail.endswith(f"</{name}>")]
    found = [tail.rfind(start, 0, len(tail) - len(_FENCE)) for start in starts]
    return len(text) - len(tail) + max((at for at in found if at >= 0), default=len(tail))
