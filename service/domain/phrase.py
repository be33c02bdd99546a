"""Text with values that is translated when it is shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self


class Phrase(str):
    """A phrase in English that knows its parts: `%(name)s` in `template` stands for a value.

    Values are numbers, words that stay the same in every language, phrases, or tuples of phrases.
    The string itself is the English text, as in Pyramid's `TranslationString`.
    """

    template: str
    values: Mapping[str, Any]

    def __new__(cls, template: str, /, **values: Any) -> Self:
        """Return the phrase with its values put in."""
        said = {name: in_english(value) for name, value in values.items()}
        phrase = super().__new__(cls, template % said if values else template)
        phrase.template, phrase.values = template, values
        return phrase

    @classmethod
    def of(cls, words: str) -> Self:
        """Return words as a phrase, the phrase itself if they are one."""
        return words if isinstance(words, cls) else cls(words)


def noted(template: str) -> str:
    """Return the template as it is: marks one that a phrase is made of later."""
    return template


def in_english(value: Any) -> str:
    """Return a value of a phrase as English text."""
    if isinstance(value, tuple):
        return ", ".join(value)
    return f"{value:,}" if isinstance(value, int) else str(value)


def phrase_values(phrase: object) -> Any:
    """Return a phrase as JSON: a string, or a list of template and values."""
    if isinstance(phrase, tuple):
        return {"row": [phrase_values(one) for one in phrase]}
    if isinstance(phrase, Phrase) and phrase.values:
        return [phrase.template, {name: phrase_values(one) for name, one in phrase.values.items()}]
    return phrase


def phrase_from(kept: Any) -> Any:
    """Return the phrase that `phrase_values` encoded."""
    if isinstance(kept, dict):
        return tuple(phrase_from(one) for one in kept["row"])
    if isinstance(kept, list):
        return Phrase(kept[0], **{name: phrase_from(one) for name, one in kept[1].items()})
    return Phrase(kept) if isinstance(kept, str) else kept
