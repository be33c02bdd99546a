"""Removes what babel knows of languages that the pages do not speak: 28 of its 30 MB.

Run by the Python whose packages are meant, e.g. `/opt/slopsieve/bin/python docker/trim_locales.py`.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

ENGLISH = "en"
_ROOT = "root"


def kept_locales(tags: set[str]) -> set[str]:
    """Return the names of babel's files for these languages: their own and those they build on."""
    parts = [tag.replace("-", "_").split("_") for tag in tags]
    return {_ROOT} | {"_".join(part[:end]) for part in parts for end in range(1, len(part) + 1)}


def trim_locales(locale_data: Path, catalogues: Path) -> int:
    """Remove the files of all other languages; return how many.

    Raises `FileNotFoundError` naming the languages of the pages that babel has no file for.
    """
    tags = {ENGLISH} | {path.stem for path in catalogues.glob("*.po")}
    kept = kept_locales(tags)
    files = {path.stem: path for path in locale_data.glob("*.dat")}
    if kept - files.keys():
        msg = f"{locale_data} has nothing for {', '.join(sorted(kept - files.keys()))}"
        raise FileNotFoundError(msg)
    for name in files.keys() - kept:
        files[name].unlink()
    return len(files.keys() - kept)


def _package_folder(name: str) -> Path:
    spec = find_spec(name)
    if spec is None or spec.origin is None:
        msg = f"the package {name} is not installed"
        raise ModuleNotFoundError(msg)
    return Path(spec.origin).parent


if __name__ == "__main__":
    trim_locales(
        _package_folder("babel") / "locale-data",
        _package_folder("slopsieve") / "service" / "web" / "languages",
    )
