"""Breaks one place of the code at a time, in a copy of the tree, and prints which test notices.

    python -m tests.benchmarks.mutants [--only REGEX] [--jobs N] [--files N]

`mutants.tsv` lists them (drawn again if missing), `var/mutants.tsv` keeps the results.
"""

import argparse
import ast
import functools
import itertools
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter, namedtuple
from collections.abc import Iterator
from multiprocessing import Pool
from pathlib import Path

from tests.fast import ROOT, closure

_LIST, _RESULTS = Path(__file__).with_suffix(".tsv"), ROOT / "var" / "mutants.tsv"
_SEED, _COUNT = 20261127, 200
_PLATFORMS = "web/webhooks outbound/platforms"
_ROOMS = ("scoring", "signals", "moderation", "stores", "web/edge", _PLATFORMS)
_NOT_READ = {"migrations", "browser", "integration", "upgrade", "benchmarks"}
_KINDS = ("compare", "and-or", "not", "constant", "return", "argument", "statement")
_PAIRS = [(ast.Eq, ast.NotEq), (ast.Is, ast.IsNot), (ast.In, ast.NotIn), (ast.Lt, ast.GtE)]
_PAIRS += [(ast.Gt, ast.LtE), (ast.Lt, ast.LtE), (ast.Gt, ast.GtE)]
_PAIRS += [(new, old) for old, new in _PAIRS]
Mutant = namedtuple("Mutant", "file function kind change n")
# Types, decorators, patterns and messages stay as they are.
_KEPT_FIELDS = {"annotation", "returns", "decorator_list", "bases", "pattern"}
_KEPT = r"(log\.\w+|gettext|ngettext|N_|Phrase|cast|TypeVar)\(|if TYPE_CH|class .*\(.*Protocol"


def _changes(node: ast.AST) -> Iterator[tuple[str, ast.AST, str]]:  # noqa: C901  # a case a kind
    """Yield the kind, the replaced node and the new code of each change of a node."""
    match node:
        case ast.Compare(left, ops, right):
            for i, (old, new) in itertools.product(range(len(ops)), _PAIRS):
                if isinstance(ops[i], old):
                    other = ast.Compare(left, [*ops[:i], new(), *ops[i + 1 :]], right)
                    yield "compare", node, f"({ast.unparse(other)})"
        case ast.BoolOp(op, values):
            other_op = ast.Or() if isinstance(op, ast.And) else ast.And()
            yield "and-or", node, f"({ast.unparse(ast.BoolOp(other_op, values))})"
        case ast.UnaryOp(ast.Not(), operand):
            yield "not", node, f"({ast.unparse(operand)})"
        case ast.Constant(bool() | int() | float() as value):
            others = [not value] if isinstance(value, bool) else [value + 1, value - 1]
            yield from (("constant", node, f"({other})") for other in others)
        case ast.Return(ast.expr() as value) if not isinstance(value, ast.Constant):
            yield from (("return", value, other) for other in ("None", "True", "False"))
        case ast.Call(func, args, keywords):
            for one in (k for k in keywords if k.arg not in {None, "strict", "exc_info"}):
                fewer = ast.Call(func, args, [other for other in keywords if other is not one])
                yield "argument", node, ast.unparse(fewer)
        case ast.Expr(ast.Call() | ast.Await()) | ast.Assign([ast.Attribute() | ast.Subscript()]):
            yield "statement", node, "pass"
        case ast.AugAssign() | ast.Raise() | ast.Continue() | ast.Delete():
            yield "statement", node, "pass"


def _visit(node: ast.AST, within: str = "") -> Iterator[tuple[str, ast.AST, str, str]]:
    if isinstance(node, ast.expr | ast.stmt) and re.match(_KEPT, ast.unparse(node)):
        return
    yield from ((*change, within) for change in _changes(node))
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        within = f"{within}.{node.name}".lstrip(".")
    for field, value in ast.iter_fields(node):
        if field not in _KEPT_FIELDS and not isinstance(node, ast.Raise | ast.JoinedStr):
            for child in value if isinstance(value, list) else [value]:
                yield from _visit(child, within) if isinstance(child, ast.AST) else ()


@functools.cache
def _mutants_of(file: str) -> dict[Mutant, tuple[int, int, bytes]]:
    """Return a file's mutants, each with where its bytes begin and end and those instead."""
    source = Path(file).read_bytes() if Path(file).exists() else b""
    starts = [0, *itertools.accumulate(map(len, source.splitlines(keepends=True)))]
    found, counts = {}, Counter()
    for kind, node, new, within in _visit(ast.parse(source)):
        begin = starts[node.lineno - 1] + node.col_offset
        end = starts[node.end_lineno - 1] + node.end_col_offset
        change = " -> ".join(" ".join(code.split())[:120] for code in (ast.unparse(node), new))
        one = Mutant(file, within, kind, change, str(counts[within, kind]))
        found[one] = begin, end, new.encode()
        counts[within, kind] += 1
    return found


def _files(*folders: str) -> list[str]:
    paths = [path for one in folders for path in sorted(Path(one).rglob("*.py"))]
    return [str(path) for path in paths if not _NOT_READ & {*path.parts}]


def _draw() -> list[Mutant]:
    """Draw a list: the rooms in turn, the kinds alike, no function twice."""
    draw, drawn = random.Random(_SEED), dict[tuple[str, ...], Mutant]()
    rooms = itertools.cycle(_files(*(f"service/{one}" for one in r.split())) for r in _ROOMS)
    while len(drawn) < _COUNT:
        kind = draw.choice(_KINDS)
        room = [m for file in next(rooms) for m in _mutants_of(file)]
        left = [m for m in room if m.kind == kind and m[:2] not in drawn]
        drawn |= {one[:2]: one for one in draw.sample(left, min(1, len(left)))}
    return list(drawn.values())


def _find(listed: Mutant) -> Mutant | None:
    """Return the mutant where its code is now, also in another file; None if there is none."""
    for files in ([listed.file], _files("service")):
        fits = [m for f in files for m in _mutants_of(f) if m[1:4] == listed[1:4]]
        if len({m.file for m in fits}) == 1:
            return min(fits, key=lambda m: abs(int(m.n) - int(listed.n)))
    return None


def _tests_for(mutant: Mutant, most: int) -> list[str]:
    """Return the test files that reach a mutant, first those that name it or are near to it."""
    ranked, room, stem = [], mutant.file.split("/")[1], Path(mutant.file).stem
    words = [re.compile(rf"\b{one}\b") for one in {stem, *mutant.function.split(".")} if one]
    for test in (file for file in _files("tests") if "/test_" in file):
        fixtures = [ROOT / one / "conftest.py" for one in Path(test).parents[:-2]]
        files = closure(ROOT / test, *(one for one in fixtures if one.exists()))
        if near := files.get(ROOT / mutant.file):
            named = sum(bool(one.search(Path(test).read_text("utf-8"))) for one in words)
            named += 2 * (stem in test) + 2 * (f"/{room}/" in test)
            ranked.append((near - named, "functional" in test, test))
    return [test for *_, test in sorted(ranked)[:most]]


def _copy_tree(folder: str) -> None:
    tree, not_copied = tempfile.mkdtemp(dir=folder), (".git", ".venv", "*_cache", "var")
    shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns(*not_copied), dirs_exist_ok=True)
    os.chdir(tree)


def _pytest(tests: list[str]) -> tuple[int, str]:
    """Run tests until one fails or the time is over; return the status and the failed test."""
    python = f"timeout 1200 {sys.executable} -m pytest -x -q --tb=no --fast --hypothesis-seed=0"
    command = [*python.split(), "--timeout=120", "--session-timeout=600", *tests]
    env = {**os.environ, "PYTHONPATH": str(Path.cwd())}
    run = subprocess.run(command, env=env, stdout=subprocess.PIPE, text=True, check=False)
    failed = re.findall(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", run.stdout, re.MULTILINE)
    return run.returncode, failed[-1] if failed else ""


def _judge(most: int, listed: Mutant) -> list[str]:
    """Run the tests on one mutant; return its line with the outcome, the time and the test."""
    began, mutant, test = time.monotonic(), _find(listed), ""
    outcome, tests = ("unreached", _tests_for(mutant, most)) if mutant else ("gone", [])
    while tests:
        begin, end, new = _mutants_of(mutant.file)[mutant]
        source = Path(mutant.file).read_bytes()
        Path(mutant.file).write_bytes(source[:begin] + new + source[end:])
        status, test = _pytest(tests)
        Path(mutant.file).write_bytes(source)
        outcome = "killed" if test else {0: "survived", 5: "unreached"}.get(status, "unfinished")
        if "::" not in test or _pytest([test])[0] == 0:
            break
        tests.append(f"--deselect={test}")  # It fails without the mutant too.
    return [*listed, outcome, f"{time.monotonic() - began:.0f} s", test]


def main() -> None:
    """Try what is listed and has no result yet, then print what no test noticed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", metavar="REGEX", help="lines of the list, also those tried")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--files", type=int, default=12, help="test files a mutant")
    options = parser.parse_args()
    if not _LIST.exists():
        _LIST.write_text("".join("\t".join(one) + "\n" for one in _draw()), "utf-8")
    _RESULTS.parent.mkdir(exist_ok=True)
    _RESULTS.touch()
    rows = [line.split("\t") for line in _RESULTS.read_text("utf-8").splitlines()]
    results = {tuple(row[:5]): row[5] for row in rows}
    listed = [Mutant(*line.split("\t")) for line in _LIST.read_text("utf-8").splitlines()]
    wanted = [m for m in listed if re.search(options.only or "", "\t".join(m))]
    left = [one for one in wanted if options.only or one not in results]
    with tempfile.TemporaryDirectory() as folder, Pool(options.jobs, _copy_tree, [folder]) as pool:
        for row in pool.imap_unordered(functools.partial(_judge, options.files), left):
            results[tuple(row[:5])] = row[5]
            print(*row, sep="\t", flush=True)
            with _RESULTS.open("a") as kept:
                print(*row, sep="\t", file=kept)
    print(Counter(results[one] for one in wanted))
    for one in (one for one in wanted if results[one] != "killed"):
        print(results[one], *one, sep="\t")


if __name__ == "__main__":
    main()
