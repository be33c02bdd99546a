"""Says which scripts no font of this machine can draw, and which Debian package could."""

from __future__ import annotations

import shutil
import subprocess

# Languages of the comments that are photographed, and who draws their script.
PACKAGES = {
    "ar": "fonts-noto-core",
    "bn": "fonts-noto-core",
    "el": "fonts-noto-core",
    "he": "fonts-noto-core",
    "hi": "fonts-noto-core",
    "ka": "fonts-noto-core",
    "ru": "fonts-noto-core",
    "ta": "fonts-noto-core",
    "th": "fonts-noto-core",
    "ja": "fonts-noto-cjk",
    "ko": "fonts-noto-cjk",
    "zh-cn": "fonts-noto-cjk",
    "und-zsye": "fonts-noto-color-emoji",
}


def missing_packages() -> dict[str, list[str]]:
    """Return the packages that would draw what is not drawn here, each with its languages.

    Without fontconfig's `fc-list` nothing is known, so all are missing.
    """
    missing: dict[str, list[str]] = {}
    for language, package in PACKAGES.items():
        if not _is_drawn(language):
            missing.setdefault(package, []).append(language)
    return missing


def _is_drawn(language: str) -> bool:
    program = shutil.which("fc-list")
    if program is None:
        return False
    listed = subprocess.run(
        [program, f":lang={language}", "family"], capture_output=True, text=True, check=False
    )
    return bool(listed.stdout.strip())


def tell_missing() -> str:
    """Return one line that says what to install, empty if nothing is missing."""
    missing = missing_packages()
    if not missing:
        return ""
    scripts = ", ".join(language for some in missing.values() for language in some)
    return (
        f"No font here draws {scripts}, so pictures show empty boxes: "
        f"apt-get install {' '.join(missing)}"
    )
