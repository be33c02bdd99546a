"""Ranges in pyproject.toml, pins in the locks, and extras asked for where they are needed alone."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
# Their versions are dates of what they carry: every later one fits.
_DATED = {"certifi", "disposable-email-domains"}


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


def test_what_people_install_lets_other_packages_live_beside_it():
    ranges = [Requirement(line) for line in (*PROJECT["dependencies"], *EXTRAS["postgres"])]

    pinned = [one.name for one in ranges if any(s.operator == "==" for s in one.specifier)]
    endless = {one.name for one in ranges if not any("<" in s.operator for s in one.specifier)}

    assert pinned == []
    assert endless == _DATED


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
