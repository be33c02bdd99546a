"""Builds the wheel, in which all that is ours lies in one package, `slopsieve`.

In a checkout the rooms are packages of their own, as editors and type checkers read them, and an
editable installation is that checkout. In a world of other people's packages `service` and `models`
would be names taken from others. So the rooms are copied below `slopsieve`, and each import of one
of ours is written anew, at the place where Python's own parser found it. No other text is touched:
what names a module at run time begins with `service.PREFIX`, or is made from `__package__`.
"""

from __future__ import annotations

import ast
import os
import shutil
import tempfile
import tomllib
from pathlib import Path

from setuptools import build_meta
from setuptools.build_meta import (
    build_editable,
    get_requires_for_build_editable,
    get_requires_for_build_wheel,
    prepare_metadata_for_build_editable,
)

__all__ = [
    "build_editable",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
]

NAME = "slopsieve"
ROOMS = ("models", "service", "training")
_ROOT = Path(__file__).resolve().parent
_BESIDE = ("README.md", "LICENSE")
# The comments that `slopsieve demo` shows and that a retraining reads beside the decisions.
_DATA = "data/*.jsonl"
# Code is rewritten, not copied; torch weights are for those who train on, and large.
_LEFT_OUT = (".py", ".pyc", ".safetensors")
_COMMAND = f'{NAME} = "service.cli:main"'


def build_wheel(
    wheel_directory: str,
    config_settings: dict[str, str | list[str]] | None = None,
    metadata_directory: str | None = None,
) -> str:
    """Write the wheel into a folder and return its file's name; see PEP 517."""
    target = os.path.abspath(wheel_directory)  # noqa: PTH100  # stays as it is given otherwise
    before = Path.cwd()
    with tempfile.TemporaryDirectory(prefix=f"{NAME}-wheel-") as folder:
        stage(Path(folder))
        os.chdir(folder)
        try:
            return build_meta.build_wheel(target, config_settings)
        finally:
            os.chdir(before)


def stage(folder: Path) -> None:
    """Write into an empty folder what the wheel is made of."""
    project = (_ROOT / "pyproject.toml").read_text("utf-8")
    if project.count(_COMMAND) != 1:
        msg = f"pyproject.toml: there must be one line {_COMMAND}"
        raise ValueError(msg)
    (folder / "pyproject.toml").write_text(
        project.replace(_COMMAND, _COMMAND.replace('"', f'"{NAME}.', 1)), "utf-8"
    )
    for name in _BESIDE:
        shutil.copy2(_ROOT / name, folder / name)
    package = folder / NAME
    package.mkdir()
    (package / "__init__.py").write_text('"""Comment moderation on your own hardware."""\n')
    globs = tomllib.loads(project)["tool"]["setuptools"]["package-data"]
    for room in ROOMS:
        for path in sorted((_ROOT / room).rglob("*.py")):
            code = rewrite(path.read_bytes(), str(path.relative_to(_ROOT)))
            _write(package / path.relative_to(_ROOT), code, like=path)
        for glob in globs.get(room, ()):
            for path in sorted((_ROOT / room).glob(glob)):
                if path.is_file() and path.suffix not in _LEFT_OUT:
                    _write(package / path.relative_to(_ROOT), path.read_bytes(), like=path)
    for path in sorted(_ROOT.glob(_DATA)):
        _write(package / path.relative_to(_ROOT), path.read_bytes(), like=path)


def rewrite(code: bytes, name: str) -> bytes:
    """Return code whose imports of our rooms are imports from below `slopsieve`.

    `name` is what it is called in errors. Raises `ValueError` for an import that binds the name of
    a room (`import service.settings`): below another name it would bind another one.
    """
    lines = code.split(b"\n")
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import) and any(_is_ours(alias.name) for alias in node.names):
            msg = f"{name}:{node.lineno}: write `from … import …`, which the wheel can rewrite"
            raise ValueError(msg)
        if isinstance(node, ast.ImportFrom) and not node.level and _is_ours(node.module or ""):
            line, before = lines[node.lineno - 1], node.col_offset + len("from ")
            if not line[before:].startswith((node.module or "").encode()):
                msg = f"{name}:{node.lineno}: write one blank between `from` and the module's name"
                raise ValueError(msg)
            lines[node.lineno - 1] = line[:before] + f"{NAME}.".encode() + line[before:]
    return b"\n".join(lines)


def _is_ours(module: str) -> bool:
    return module.partition(".")[0] in ROOMS


def _write(path: Path, content: bytes, *, like: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    shutil.copystat(like, path)
