"""Lets tests make many applications: what is dear in making one is shared by all."""

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
    """Share what Jinja compiles of templates and Werkzeug of routes, in all of this process."""
    Flask.jinja_options = {"bytecode_cache": _InMemory()}
    compile_builder = Rule._compile_builder
    builders: dict[tuple[object, ...], Callable[..., Any]] = {}

    # Two functions a route, 320 an application; each is handed the rule whose address it builds.
    def compile_once(rule: Rule, append_unknown: bool = True) -> Callable[..., Any]:  # noqa: FBT001, FBT002  # its own
        key = (*rule._trace, str(rule.defaults), append_unknown)
        if key not in builders:
            builders[key] = compile_builder(rule, append_unknown)
        return builders[key]

    Rule._compile_builder = compile_once  # type: ignore[method-assign]  # what tests alone do
