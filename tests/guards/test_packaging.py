"""Ranges, locks and extras, and no text that names a module as the wheel doesn't."""

import ast
import re
import tomllib
from importlib import import_module

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from build_wheel import ROOMS
from tests.commands import ROOT, run_python

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]


def _pins(lock):
    text = (ROOT / lock).read_text("utf-8")
    found = re.findall(r"^([\w.-]+)(?:\[\w+\])?==([^\s;]+)", text, re.MULTILINE)
    return {canonicalize_name(name): version for name, version in found}


@pytest.mark.parametrize(
    ("lock", "wanted"),
    [
        ("requirements.lock", [*PROJECT["dependencies"], *EXTRAS["postgres"]]),
        ("requirements-dev.lock", [*EXTRAS["dev"], *EXTRAS["postgres"]]),
        ("requirements-train.lock", EXTRAS["train"]),
    ],
)
def test_a_lock_pins_every_package_within_its_range(lock, wanted):
    pins = _pins(lock)
    wanted = [Requirement(line) for line in wanted]

    missing = [one.name for one in wanted if canonicalize_name(one.name) not in pins]
    outside = [one.name for one in wanted if not one.specifier.contains(pins[one.name.lower()])]

    assert (missing, outside) == ([], [])


def test_serving_imports_no_package_of_an_extra():
    # Their modules, where those have other names than the packages.
    names = {"scikit-learn": "sklearn"}
    extras = [*EXTRAS["train"], *EXTRAS["postgres"]]
    modules = {names.get(name := Requirement(one).name, name) for one in extras}

    asking = {
        (str(path.relative_to(ROOT)), name)
        for room in ("service", "models")
        for path in (ROOT / room).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        for module in _imported(node)
        if (name := module.partition(".")[0]) in modules
    }

    assert not asking


def _imported(node):
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []


def test_the_engine_and_its_tools_do_without_their_telemetry():
    # Packages that report use to their makers are loaded by nothing that judges or trains.
    program = """
import sys
import models.engine, training.network.export
from openvino.tools.ovc import telemetry_utils

assert sys.modules["openvino_telemetry"] is None
assert telemetry_utils.tm.__name__ == "openvino.tools.ovc.telemetry_stub"
"""
    done = run_python("-W", "ignore", "-c", program)

    assert done.returncode == 0, done.stderr


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
    for path in (ROOT / "tests/benchmarks").glob("[!_]*.py"):
        import_module(f"tests.benchmarks.{path.stem}")
