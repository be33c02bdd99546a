"""Keeps compiled templates for the whole run: each test has an application of its own."""

from __future__ import annotations

from flask import Flask
from jinja2.bccache import Bucket, BytecodeCache


class _InMemory(BytecodeCache):
    """Compiled templates by Jinja's own key; what its checksum does not fit is compiled anew."""

    def __init__(self) -> None:
        self._kept: dict[str, bytes] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        if bucket.key in self._kept:
            bucket.bytecode_from_string(self._kept[bucket.key])

    def dump_bytecode(self, bucket: Bucket) -> None:
        self._kept[bucket.key] = bucket.bytecode_to_string()


def keep_compiled_templates() -> None:
    """Let every application of this process share what Jinja compiled."""
    Flask.jinja_options = {"bytecode_cache": _InMemory()}
