"""Lets tests make many applications: what is dear in making one is shared, or left until wanted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flask import Flask
from jinja2.bccache import Bucket, BytecodeCache
from werkzeug.routing.rules import Rule


class _InMemory(BytecodeCache):
    """Compiled templates by Jinja's own key; what its checksum does not fit is compiled anew."""

    def __init__(self) -> None:
        self._kept: dict[str, bytes] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        if bucket.key in self._kept:
            bucket.bytecode_from_string(self._kept[bucket.key])

    def dump_bytecode(self, bucket: Bucket) -> None:
        self._kept[bucket.key] = bucket.bytecode_to_string()


def make_applications_cheap() -> None:
    """Share what Jinja compiled, and compile what builds a route's address when one is built."""
    Flask.jinja_options = {"bytecode_cache": _InMemory()}
    compile_builder = Rule._compile_builder

    # Werkzeug compiles two functions a route, 320 an application; few are ever called.
    def compile_later(rule: Rule, append_unknown: bool = True) -> Callable[..., Any]:  # noqa: FBT001, FBT002  # its own
        def build(self: Rule, **values: Any) -> Any:
            made = compile_builder(rule, append_unknown).__get__(self, None)
            setattr(self, "_build_unknown" if append_unknown else "_build", made)
            return made(**values)

        return build

    Rule._compile_builder = compile_later  # type: ignore[method-assign]  # what tests alone do
