"""Executes every step of the Dockerfile in clean roots, without an engine, and tells sizes.

    debootstrap --variant=minbase --include=ca-certificates,python-is-python3,python3-venv \\
        bookworm /tmp/base
    python docker/try_stages.py --base /tmp/base --work /tmp/stages

Each stage is an overlay over what it is made from; the base is a root folder that stands for the
Dockerfile's base image. What an image would hold lies in WORK/STAGE/files, what it says of itself
in WORK/STAGE/image.json. Needs Linux and root, for overlays and chroot.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import stat
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from dockerfile import (
    RECORDED,
    Copy,
    Instruction,
    Stage,
    copy_of,
    expand,
    ignored,
    in_order,
    pairs,
    read_dockerfile,
    words_of,
)

ROOT = Path(__file__).resolve().parents[1]
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_IN_OWN_MOUNTS = "TRY_STAGES_IN_OWN_MOUNTS"


@dataclass(slots=True)
class Image:
    """What a stage came to: its layers, topmost first, and what it says of itself."""

    layers: list[str]
    environment: dict[str, str] = field(default_factory=lambda: {"PATH": _PATH})
    user: str = "0:0"
    folder: str = "/"
    said: dict[str, str] = field(default_factory=dict)

    def child(self, files: Path) -> Image:
        """Return an image made from this one, whose own files go there."""
        said = {k: v for k, v in self.said.items() if k not in {"CMD", "ENTRYPOINT"}}
        return Image(
            [str(files), *self.layers], dict(self.environment), self.user, self.folder, said
        )

    def as_json(self) -> str:
        """Return it for whoever runs it later."""
        given = [word for word in ("ENTRYPOINT", "CMD") if word in self.said]
        return json.dumps(
            {
                "layers": self.layers,
                "environment": self.environment,
                "user": self.user,
                "folder": self.folder,
                **{word.lower(): words_of(self.said[word]) for word in given},
            },
            indent=1,
        )


@contextmanager
def mounted(image: Image, work: Path, *, binds: list[Path] | None) -> Iterator[Path]:
    """Give the image's root with its top layer writable, and with `binds` those paths in it."""
    root, spare = work / "root", work / "spare"
    for path in (root, spare):
        path.mkdir(parents=True, exist_ok=True)
    top, *below = image.layers
    options = f"lowerdir={':'.join(below)},upperdir={top},workdir={spare}"
    undo: list[Path] = []
    placed: list[Path] = []
    _call("mount", "-t", "overlay", "overlay", "-o", options, str(root))
    try:
        for source in [] if binds is None else [Path("/proc"), Path("/dev"), *binds]:
            place = root / source.relative_to("/")
            if not place.exists():
                placed.append(place)
                place.mkdir(parents=True) if source.is_dir() else place.touch()
            _call("mount", "--rbind", str(source), str(place))
            undo.append(place)
        yield root
    finally:
        for place in reversed(undo):
            _call("umount", "--recursive", "--lazy", str(place))
        # Only what was made to mount on; what a step wrote there was never below it.
        for place in placed:
            place.rmdir() if place.is_dir() else place.unlink()
        _call("umount", "--lazy", str(root))


class Builder:
    """Builds stages one after another, each from what was built before it."""

    def __init__(self, given: argparse.Namespace) -> None:
        self._given = given
        self._built: dict[str, Image] = {}
        self._arguments, self.stages = read_dockerfile(ROOT / "docker" / "Dockerfile")
        self._given_arguments = dict(pair.split("=", 1) for pair in given.build_arg)

    def build(self, stage: Stage) -> None:
        """Execute the stage's instructions in order; print what each took and the sizes."""
        work = self._given.work / stage.name
        shutil.rmtree(work, ignore_errors=True)
        files = work / "files"
        files.mkdir(parents=True)
        image = self._source(stage).child(files)
        began = time.monotonic()
        arguments: dict[str, str] = {}
        runs = any(instruction.word == "RUN" for instruction in stage.instructions)
        with mounted(image, work, binds=self._given.bind if runs else None) as root:
            for instruction in stage.instructions:
                self._execute(instruction, image, root, arguments)
        self._built[stage.name] = image
        (work / "image.json").write_text(image.as_json(), "utf-8")
        own = megabytes(image.layers[:1])
        above = megabytes([layer for layer in image.layers if layer != str(self._given.base)])
        print(
            f"{stage.name:18} {own:8,.1f} MB of its own {above:8,.1f} MB above the base"
            f" {time.monotonic() - began:6.0f} s",
            flush=True,
        )

    def _source(self, stage: Stage) -> Image:
        if stage.source in self._built:
            return self._built[stage.source]
        if stage.source == "scratch":
            empty = self._given.work / "nothing"
            empty.mkdir(exist_ok=True)
            return Image([str(empty)])
        return Image([str(self._given.base)])

    def _execute(
        self, instruction: Instruction, image: Image, root: Path, arguments: dict[str, str]
    ) -> None:
        word, text = instruction.word, instruction.text
        known = {**arguments, **image.environment}
        if word == "ARG":
            name, _, default = text.partition("=")
            inherited = self._arguments.get(name, default)
            arguments[name] = self._given_arguments.get(name, expand(inherited, known))
        elif word == "ENV":
            image.environment |= {k: expand(v, known) for k, v in pairs(text).items()}
        elif word == "WORKDIR":
            image.folder = text
            (root / text.lstrip("/")).mkdir(parents=True, exist_ok=True)
        elif word == "USER":
            image.user = text
        elif word == "COPY":
            self._copy(copy_of(instruction), image, root)
        elif word == "RUN":
            passed = {name: os.environ[name] for name in self._given.env if name in os.environ}
            self._run(text, image, root, {**passed, **arguments, **image.environment})
        elif word in RECORDED:
            image.said[word] = text

    def _run(self, text: str, image: Image, root: Path, environment: Mapping[str, str]) -> None:
        shell = ("/bin/sh", "-c", 'cd "$1" && exec /bin/sh -c "$2"', "sh", image.folder, text)
        user = ("--groups=", f"--userspec={image.user}")
        chroot = shutil.which("chroot") or "/usr/sbin/chroot"
        ended = subprocess.run(
            (chroot, *user, str(root), *shell),
            env=environment,
            check=False,
            stdin=subprocess.DEVNULL,
            stdout=None if self._given.verbose else subprocess.PIPE,
            stderr=None if self._given.verbose else subprocess.STDOUT,
            text=True,
        )
        if ended.returncode:
            sys.exit(
                f"RUN {text[:200]}\nended with {ended.returncode}:\n{(ended.stdout or '')[-6000:]}"
            )

    def _copy(self, copy: Copy, image: Image, root: Path) -> None:
        target = root / str(Path(image.folder) / copy.target).lstrip("/")
        if copy.stage is None:
            source_root = ROOT
        else:
            # From below, so that a link in the source cannot lead out of it unseen.
            source_root = self._given.work / f"{copy.stage}-for-copy"
            _mount_to_read(self._built[copy.stage], source_root)
        into = copy.target.endswith("/") or len(copy.sources) > 1
        for name in copy.sources:
            source = source_root / name.lstrip("/")
            whole = source.is_dir()
            place = target / source.name if into and not whole else target
            leave = _ignore(source_root) if copy.stage is None else None
            _copy_tree(source, place, leave) if whole else _copy_file(source, place)
            if copy.owner:
                _call("chown", "--recursive", "{}:{}".format(*copy.owner), str(place))
        if copy.stage is not None:
            _call("umount", "--lazy", str(source_root))


def _mount_to_read(image: Image, place: Path) -> None:
    place.mkdir(exist_ok=True)
    if len(image.layers) > 1:
        lower = f"lowerdir={':'.join(image.layers)}"
        _call("mount", "-t", "overlay", "overlay", "-o", lower, str(place))
    else:
        _call("mount", "--bind", image.layers[0], str(place))


def _ignore(root: Path) -> object:
    pattern = ignored((root / ".dockerignore").read_text("utf-8"))

    def leave(folder: str, names: list[str]) -> set[str]:
        inside = Path(folder).relative_to(root)
        return {name for name in names if pattern.fullmatch((inside / name).as_posix())}

    return leave


def _copy_file(source: Path, place: Path) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(source, place, follow_symlinks=False)


def _copy_tree(source: Path, place: Path, leave: object) -> None:
    shutil.copytree(source, place, symlinks=True, dirs_exist_ok=True, ignore=leave)  # type: ignore[arg-type]  # as shutil has it


def megabytes(folders: list[str]) -> float:
    """Return the size of all files in these folders in millions of bytes, links not followed."""
    paths = (Path(at) / name for top in folders for at, _, names in os.walk(top) for name in names)
    found = (path.lstat() for path in paths)
    return sum(about.st_size for about in found if stat.S_ISREG(about.st_mode)) / 1e6


def _call(*command: str) -> None:
    subprocess.run(command, check=True)


def _read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--base", type=Path, help="a root folder in place of the base image")
    parser.add_argument("--work", type=Path, help="where the stages are made; theirs are removed")
    parser.add_argument("--stage", action="append", help="this stage and what it needs; else all")
    parser.add_argument("--build-arg", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--bind", action="append", type=Path, default=[], help="shown to RUN too")
    parser.add_argument("--env", action="append", default=[], help="a variable to pass to RUN")
    parser.add_argument("--verbose", action="store_true", help="show what the steps print")
    parser.add_argument("--list", action="store_true", help="print the steps, execute nothing")
    given = parser.parse_args()
    if not given.list and (given.base is None or given.work is None):
        parser.error("--base and --work are needed")
    return given


def main() -> None:
    """Execute the stages, or list their steps."""
    given = _read_arguments()
    if not given.list and _IN_OWN_MOUNTS not in os.environ:
        # What is mounted here is gone with this process, however it ends.
        os.environ[_IN_OWN_MOUNTS] = "yes"
        os.execvp("unshare", ["unshare", "--mount", sys.executable, *sys.argv])
    builder = Builder(given)
    unknown = set(given.stage or ()) - builder.stages.keys()
    if unknown:
        sys.exit(
            f"no such stage: {', '.join(sorted(unknown))}; there are {', '.join(builder.stages)}"
        )
    for stage in in_order(builder.stages, set(given.stage or builder.stages)):
        if given.list:
            for instruction in stage.instructions:
                print(f"{stage.name}: {instruction.word} {instruction.text}")
        else:
            builder.build(stage)


if __name__ == "__main__":
    main()
