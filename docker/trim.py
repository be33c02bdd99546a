"""Removes from a stage's packages what none of its processes reads; IMAGES.md has the sizes.

Run by the Python whose packages are meant: `python docker/trim.py STAGE`, for web, worker, trainer.
"""

import shutil
import sys
import sysconfig
from pathlib import Path

ENGLISH = "en"
_ROOT = "root"
_COMPILED = ("**/*.a", "**/*.h", "**/*.hpp", "**/*.cuh", "**/*.pxd", "**/*.pyx")
# As patterns of paths below site-packages. Nobody builds against a package of an image.
UNREAD = {
    "trainer": ("*/**/tests", *_COMPILED, "torch/bin/test_*", "torch/bin/*Test", "torch/test"),
    # numpy asks for none of these when it is imported.
    "web": (
        *("*/**/tests", *_COMPILED, "**/*.pyi", "sqlalchemy/testing"),
        *("numpy/_pyinstaller", "numpy/distutils", "numpy/f2py"),
    ),
}
# The network is computed by the CPU, from OpenVINO's own format: no other one is met.
UNREAD["worker"] = (
    *UNREAD["web"],
    *("openvino/cmake", "openvino/frontend/*/", "openvino/tools", "openvino/torch"),
    *("openvino/libs/*_intel_[gn]pu_plugin.so", "openvino/libs/cache.json"),
    *(
        f"openvino/libs/*_{name}_frontend.so*"
        for name in ("gguf", "jax", "onnx", "paddle", "pytorch", "tensorflow", "tensorflow_lite")
    ),
)


def trim(packages: Path, stage: str) -> int:
    """Remove what this stage does not read; return how many bytes that were.

    Raises `FileNotFoundError` naming a path that is not there: its package has changed.
    """
    removed = 0
    for pattern in UNREAD[stage]:
        found = sorted(packages.glob(pattern))
        # Of torch there is a build for each accelerator, which differ in this too.
        if not (found or pattern.startswith("*") or stage == "trainer"):
            msg = f"{packages} has nothing that is called {pattern}"
            raise FileNotFoundError(msg)
        for path in found:
            removed += sum(file.lstat().st_size for file in (path, *path.rglob("*")))
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)
    return removed


def kept_locales(tags: set[str]) -> set[str]:
    """Return the names of babel's files for these languages: their own and those they build on."""
    parts = [tag.replace("-", "_").split("_") for tag in tags]
    return {_ROOT} | {"_".join(part[:end]) for part in parts for end in range(1, len(part) + 1)}


def trim_locales(locale_data: Path, catalogues: Path) -> int:
    """Remove what babel knows of languages that the pages do not speak; return how many files.

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


if __name__ == "__main__":
    packages = Path(sysconfig.get_path("purelib"))
    sys.stdout.write(f"{trim(packages, sys.argv[1]) / 1e6:.0f} MB removed\n")
    if sys.argv[1] == "web":
        (languages,) = packages.glob("**/service/web/languages")
        trim_locales(packages / "babel" / "locale-data", languages)
