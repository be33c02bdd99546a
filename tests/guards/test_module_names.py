"""No text names a module of the tree: in the wheel it has another name, below `slopsieve`."""

from __future__ import annotations

import ast
import re
from importlib import import_module
from pathlib import Path

from build_wheel import ROOMS

ROOT = Path(__file__).resolve().parents[2]
_NAMED = re.compile(rf"(?<![\w./-])(?:{'|'.join(ROOMS)})(?:\.\w+)+")


def _plain_texts(tree):
    """Yield the texts that are no docstring and that follow nothing which is filled in."""
    left_out = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            left_out |= {id(one) for one in node.values[1:]}
        elif isinstance(node, ast.Expr):
            left_out.add(id(node.value))
    for node in ast.walk(tree):
        is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
        if is_text and id(node) not in left_out:
            yield node


def _names_a_module(text):
    for found in _NAMED.finditer(text):
        path = ROOT.joinpath(*found[0].split("."))
        if path.is_dir() or path.with_suffix(".py").exists():
            return True
    return False


def test_a_text_that_names_a_module_begins_with_the_prefix():
    named = [
        f"{path.relative_to(ROOT)}:{node.lineno}: {node.value}"
        for room in ROOMS
        for path in sorted((ROOT / room).rglob("*.py"))
        for node in _plain_texts(ast.parse(path.read_text("utf-8")))
        if _names_a_module(node.value)
    ]

    # The name of a log, the same in the tree and in the wheel; nothing is imported by it.
    assert [one for one in named if not one.endswith(": service.web.access")] == []


def test_every_benchmark_can_be_imported():
    # They run by hand, so nothing else notices that a module which they import has gone.
    names = {path.stem for path in (ROOT / "tests/benchmarks").glob("*.py")} - {"__main__"}

    assert {import_module(f"tests.benchmarks.{name}").__name__ for name in names}
