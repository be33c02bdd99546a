"""What the classifier sees besides spam, as a signal like any other."""

from __future__ import annotations

from models.inputs import ModelOutput
from service.domain.verdict import Signal

LLM_VOICE = "llm_voice"
# Rarer than one human text in a hundred reaches it on the texts that the head was measured on.
_MIN_LLM_VOICE = 0.9


def model_signals(output: ModelOutput | None) -> list[Signal]:
    """Return the signals that an answer of the classifier holds.

    LLM voice has no weight in a version's table: who polishes a sincere comment with a language
    model is no spammer. A moderator may want to know it all the same.
    """
    if output is None or output.llm_voice is None or output.llm_voice < _MIN_LLM_VOICE:
        return []
    return [
        Signal(
            name=LLM_VOICE,
            strength=output.llm_voice,
            reason="reads as if a language model wrote or polished it, as honest people often do",
        )
    ]
