"""Retrains from the trainer's root, as its container would, and judges with what comes of it."""

from __future__ import annotations

import http.client
import json
import sys
import time
from collections.abc import Callable

from stage_roots import START_SECONDS, Container, Stages, ask, wait_for_sign

# Of different words: copies of one another teach nothing.
_SPAM = (
    *("cheap slimming pills", "a designer handbag", "followers and likes", "casino chips"),
    *("a diploma without exams", "herbal hair tonic", "replica watches", "crypto signals"),
)
_HAM = (
    "My radiator was cold at the top too, and bleeding it helped at once.",
    "Does anybody know whether the valve turns left on older models?",
    "Thank you for the drawing, now I see where the second screw went.",
    "I disagree about copper: ours corroded within ten winters.",
    "The link to the manual in your third paragraph leads nowhere.",
    "We did the same in our kitchen and the noise came back in March.",
    "Which paint did you take? Mine yellowed after one season.",
    "Great series. Part four made my landlord call a plumber.",
)
_DECISIONS = 2 * len(_SPAM)
_RETRAIN_SECONDS = 1_800.0


def try_dry(stages: Stages, port: int, key: str) -> None:
    """Decide some comments, and print what a retraining would learn of them."""
    for number in range(_DECISIONS):
        decide(port, key, number)
    tried = stages.run("trainer", "trainer", "slopsieve", "retrain", "--dry-run")
    print(f"a dry retraining:\n{tried}")


def start_trainer(stages: Stages) -> Container:
    """Start the trainer and wait until its probe says well."""
    trainer = stages.start("trainer", "trainer")
    wait_for_sign(stages, "trainer", "trainer")
    return trainer


def retrain(stages: Stages, trainer: Container) -> Container:
    """Wait until the retraining that is due comes to its end; return the trainer that ended it.

    Once it learns, its process is replaced as an upgrade does it.
    """
    follow(stages, lambda seen: seen["step"] not in {"", "read", "clean", "split"})
    code, seconds = trainer.stop()
    (stopped,) = listed(stages)
    print(f"trainer, training: ended with {code} after {seconds:.1f} s; {json.dumps(stopped)}")
    again = start_trainer(stages)
    ended = follow(stages, lambda seen: seen["state"] in {"ended", "failed"})
    print(f"the retraining: {json.dumps(ended)}")
    if ended["state"] != "ended":
        sys.exit("the retraining failed")
    return again


def follow(stages: Stages, is_there: Callable[[dict[str, str]], bool]) -> dict[str, str]:
    """Look at the only retraining until it is there; print each step that it comes to."""
    deadline, step = time.monotonic() + _RETRAIN_SECONDS, ""
    while time.monotonic() < deadline:
        (seen,) = listed(stages) or [{"state": "", "step": ""}]
        if seen["step"] != step:
            step = seen["step"]
            print(f"{time.strftime('%H:%M:%S')} retraining: {step}", flush=True)
        if is_there(seen):
            return seen
        time.sleep(2)
    sys.exit(f"the retraining took too long: {seen}")


def listed(stages: Stages) -> list[dict[str, str]]:
    """Return the retrainings that there are, as an operator is shown them."""
    lines = stages.run("trainer", "trainer", "slopsieve", "retrain", "--list", "--json")
    return [json.loads(line) for line in lines.splitlines() if line.startswith("{")]


def promote(stages: Stages, port: int, key: str) -> None:
    """Promote the candidate from web, and judge with it in worker."""
    (done,) = listed(stages)
    print(stages.run("web", "web", "slopsieve", "models", "promote", done["version"]).strip())
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        _, answer = ask(port, "POST", "/v1/comments?wait=15", key, {"text": "Who judges this?"})
        if answer["verdict"] and answer["verdict"]["model_version"] == done["version"]:
            print(f"worker judges with {done['version']}")
            return
        time.sleep(1)
    sys.exit(f"worker does not judge with {done['version']}")


def decide(port: int, key: str, number: int) -> None:
    """Post a comment and rule on it as its site's moderator does."""
    told = (_SPAM if number % 2 else _HAM)[number // 2]
    text = f"Buy {told} today, half price at shop{number}.example!" if number % 2 else told
    _, kept = ask(port, "POST", "/v1/comments?wait=15", key, {"text": text})
    ruling = {"ruling": "reject" if number % 2 else "approve", "decided_by": "ann"}
    status, answer = ask(port, "POST", f"/v1/comments/{kept['id']}/decision", key, ruling)
    if status != http.client.OK:
        sys.exit(f"the decision was answered {status}: {answer}")
