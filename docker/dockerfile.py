"""Reads a Dockerfile as stages with their instructions: as much of the format as ours uses.

The format: https://docs.docker.com/reference/dockerfile/
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

EXECUTED = ("ARG", "ENV", "WORKDIR", "USER", "COPY", "RUN")
"""What changes files or what later instructions see, in no order."""

RECORDED = ("LABEL", "EXPOSE", "HEALTHCHECK", "STOPSIGNAL", "ENTRYPOINT", "CMD")
"""What is only kept with the image."""

_COMMENT = re.compile(r"^[ \t]*#.*\n", re.MULTILINE)
_VARIABLE = re.compile(r"\$(?:(\w+)|\{(\w+)(?::([-+])([^}]*))?\})")


class DockerfileError(ValueError):
    """The file has something that is not understood here; the message names it."""


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction: its word in capitals and the rest of its line, continuations joined."""

    word: str
    text: str


@dataclass(slots=True)
class Stage:
    """A stage: what it is made from (an image, `scratch` or a stage) and its instructions."""

    name: str
    source: str
    instructions: list[Instruction] = field(default_factory=list)

    def needs(self, stages: Mapping[str, Stage]) -> set[str]:
        """Return the stages that must be there before this one."""
        copied = {copy_of(i).stage for i in self.instructions if i.word == "COPY"}
        return {name for name in copied | {self.source} if name in stages}


@dataclass(frozen=True, slots=True)
class Copy:
    """What a COPY copies: sources, the last one's place, from which stage, for which owner."""

    sources: tuple[str, ...]
    target: str
    stage: str | None
    owner: tuple[int, int] | None


def read_dockerfile(path: Path) -> tuple[dict[str, str], dict[str, Stage]]:
    """Return the arguments declared before the first stage, and the stages by name, in order.

    Raises `DockerfileError` for an instruction that is not one of `EXECUTED` or `RECORDED`.
    """
    text = _COMMENT.sub("", path.read_text("utf-8")).replace("\\\n", " ")
    arguments: dict[str, str] = {}
    stages: dict[str, Stage] = {}
    stage: Stage | None = None
    for line in filter(None, map(str.strip, text.splitlines())):
        word, _, rest = line.partition(" ")
        if word == "FROM":
            source, _, name = rest.partition(" AS ")
            stage = stages[name.strip()] = Stage(name.strip(), expand(source.strip(), arguments))
        elif stage is None and word == "ARG":
            name, _, default = rest.partition("=")
            arguments[name] = default
        elif stage is not None and word in (*EXECUTED, *RECORDED):
            stage.instructions.append(Instruction(word, rest.strip()))
        else:
            msg = f"{path.name}: {word} is not understood here: {line[:60]}"
            raise DockerfileError(msg)
    return arguments, stages


def in_order(stages: Mapping[str, Stage], wanted: set[str]) -> list[Stage]:
    """Return the wanted stages and all that they need, each after what it needs."""
    needed = set(wanted)
    for name in reversed(stages):
        if name in needed:
            needed |= stages[name].needs(stages)
    return [stage for name, stage in stages.items() if name in needed]


def expand(text: str, values: Mapping[str, str]) -> str:
    """Return the text with `$NAME`, `${NAME}`, `${NAME:-else}` and `${NAME:+other}` filled in."""

    def value(found: re.Match[str]) -> str:
        given = values.get(found[1] or found[2], "")
        if found[3] == "-":
            return given or found[4]
        if found[3] == "+":
            return found[4] if given else ""
        return given

    return _VARIABLE.sub(value, text)


def pairs(text: str) -> dict[str, str]:
    """Return the `KEY=value` pairs of an ENV or a LABEL."""
    return dict(word.split("=", 1) for word in shlex.split(text))


def copy_of(instruction: Instruction) -> Copy:
    """Return what this COPY copies. Raise `DockerfileError` for a flag that is not known here."""
    words = shlex.split(instruction.text)
    stage, owner = None, None
    while words[0].startswith("--"):
        flag, _, value = words.pop(0).partition("=")
        if flag == "--from":
            stage = value
        elif flag == "--chown":
            user, _, group = value.partition(":")
            owner = (int(user), int(group or user))
        else:
            msg = f"COPY {flag} is not understood here"
            raise DockerfileError(msg)
    return Copy(tuple(words[:-1]), words[-1], stage, owner)


def words_of(text: str) -> list[str]:
    """Return a CMD or ENTRYPOINT, which must be written as a JSON list: no shell between."""
    words = json.loads(text)
    if not isinstance(words, list):
        msg = f"not a list of words: {text}"
        raise DockerfileError(msg)
    return words


def ignored(patterns: str) -> re.Pattern[str]:
    """Return what matches the paths that a `.dockerignore` keeps out, those below them too.

    Raises `DockerfileError` for an exception (`!`), which ours has none of.
    """
    expressions = []
    for line in patterns.splitlines():
        pattern = line.strip().strip("/")
        if not pattern or pattern.startswith("#"):
            continue
        if pattern.startswith("!"):
            msg = f".dockerignore: {pattern} is not understood here"
            raise DockerfileError(msg)
        escaped = re.escape(pattern).replace(r"\*\*/", "(?:.*/)?").replace(r"\*", "[^/]*")
        expressions.append(f"{escaped}(?:/.*)?")
    return re.compile("|".join(expressions) or r"(?!)")
