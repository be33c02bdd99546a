"""What is answered before any route: problems, and whether the process is up and ready."""

from __future__ import annotations

from typing import Self

from pydantic import BaseModel, ConfigDict, Field


class Answer(BaseModel):
    """What all answers share."""

    model_config = ConfigDict(frozen=True, from_attributes=True)

    @classmethod
    def from_value(cls, value: object, **others: object) -> Self:
        """Return the answer with these `others`, every other field as `value` has it by that name.

        Values within it become answers likewise. Raise `AttributeError` for a name that it lacks.
        """
        names = cls.model_fields.keys() - others.keys()
        return cls(**others, **{name: getattr(value, name) for name in names})


class ProblemField(Answer):
    """One thing wrong with the input."""

    field: str = Field(description="Where: the field's path, a parameter or a header.")
    problem: str = Field(description="What is wrong there.")
    remedy: str = Field(description="What to do about it.")


class ProblemAnswer(Answer):
    """A problem document (RFC 9457)."""

    model_config = ConfigDict(frozen=True, title="Problem")

    type: str = Field(description="Where this kind of problem is explained.")
    title: str
    status: int = Field(ge=400, le=599)
    detail: str
    errors: list[ProblemField] = Field(description="Every field that is wrong, at most 50.")


class FormTokenAnswer(Answer):
    """A token for one comment: a challenge as ALTCHA's second version has it, signed here."""

    parameters: dict[str, str | int | dict[str, str | int]] = Field(
        description="What to solve: of which keys one must begin with `keyPrefix`."
    )
    signature: str = Field(description="Made with this installation's key, for this site.")


class LiveAnswer(Answer):
    """The process answers."""

    status: str = Field(examples=["alive"])


class ReadyAnswer(Answer):
    """Whether each part that the service needs is there."""

    ready: bool
    parts: dict[str, str] = Field(
        description="By part: `ok`, or what is wrong with it.",
        examples=[{"database": "ok", "queue": "ok"}],
    )
    remedies: dict[str, str] = Field(
        description="By part that is not `ok`: what to do about it.",
        examples=[{}],
    )
