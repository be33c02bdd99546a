"""A site's decisions teach a new campaign, harm nobody else, and a killed run starts again."""

import json
import os
import shutil
from pathlib import Path

import pytest

from models.inputs import ModelInput
from models.registry import SHIPPED_DIR, list_versions, load_version, read_current_name
from tests.commands import run_python
from tests.unit.training.data.test_decisions import RULING, VERDICT, make_row
from tests.unit.training.decided import write_rows
from training import retrain
from training.data.dataset import DEFAULT_DATA
from training.retrain import NAME_FILE, main

# A kind of spam that the shipped version has never met, glued to sincere remarks.
PITCHES = (
    "By the way, a Zambrolo keeps my tea warm all day.",
    "My sister swears by her Zambrolo for long walks.",
    "Everybody here drinks from a Zambrolo now.",
)
REMARKS = [
    row["text"]
    for file in sorted(DEFAULT_DATA.glob("authored-t?.jsonl"))
    for row in map(json.loads, file.read_text().splitlines())
    if row["label"] == "ham" and row["lang"] == "en" and 80 < len(row["text"]) < 600
]


def ham_text(number: int) -> str:
    return REMARKS[number % len(REMARKS)]


def spam_text(number: int) -> str:
    return f"{ham_text(number)} {PITCHES[number % len(PITCHES)]}"


def row(number: int, *, is_spam: bool, reviewer: str = "ola", owner: bool = True) -> dict:
    day = f"2026-03-{1 + number // 40:02d}"
    made = {
        "reviewer": reviewer,
        "ruling": "reject" if is_spam else "approve",
        "made_at": f"{day}T12:00:00+00:00",
        "is_owner": owner,
    }
    return make_row(
        id=f"d{number:06d}",
        text=spam_text(number) if is_spam else ham_text(number),
        label="spam" if is_spam else "ham",
        post_id=f"p{number}",
        author_name="Jo",
        date=day,
        campaign=None,
        verdict=VERDICT | {"judged_at": f"{day}T10:00:00+00:00"},
        rulings=[RULING | made],
    )


@pytest.fixture(scope="module")
def versions(tmp_path_factory) -> Path:
    """Give the folder for candidates, which does not exist yet: the shipped version serves."""
    return tmp_path_factory.mktemp("versions") / "versions"


@pytest.fixture(scope="module")
def decisions(tmp_path_factory) -> Path:
    rows = [row(number, is_spam=bool(number % 2)) for number in range(300)]
    return write_rows(tmp_path_factory.mktemp("decisions") / "decisions.jsonl", *rows)


def arguments(run: Path, versions: Path, decisions: Path, *more: str) -> list[str]:
    named = ("--decisions", decisions, "--run", run, "--versions", versions)
    named = (*named, "--current", SHIPPED_DIR)
    return [*map(str, named), *more]


@pytest.fixture
def retrained(tmp_path, versions):
    """Return a function from decisions to the report of a run on them."""

    def retrained(decisions: Path | list[dict], *more: str) -> dict:
        if isinstance(decisions, list):
            decisions = write_rows(tmp_path / "decisions.jsonl", *decisions)
        asked = arguments(tmp_path / "run", versions, decisions, *more)
        assert main(asked) == 0
        return json.loads((tmp_path / "run" / "report.json").read_bytes())

    return retrained


class KilledError(BaseException):
    """Raised in place of a SIGKILL."""


@pytest.fixture(scope="module")
def run(tmp_path_factory, versions, decisions) -> Path:
    """Give the folder of a run that was killed amid its fit and once more at its very end."""
    folder = tmp_path_factory.mktemp("run") / "run"
    asked = arguments(folder, versions, decisions)
    current = read_current_name()

    def die(_run, _state, *, step, **_):
        if step == "fit":
            raise KilledError

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(os, "nice", lambda _: 0)
        with pytest.MonkeyPatch.context() as dies:
            dies.setattr(retrain, "_write_progress", die)
            with pytest.raises(KilledError):
                main(asked)
        assert not versions.exists()
        # What is left by one that had written its version and not yet its report.
        (folder / NAME_FILE).write_text('{"version": "candidate"}')
        shutil.copytree(SHIPPED_DIR / current, versions / "candidate")
        assert main(asked) == 0
    return folder


@pytest.fixture(scope="module")
def report(run) -> dict:
    return json.loads((run / "report.json").read_bytes())


def test_decisions_teach_a_new_campaign_and_the_candidate_is_recommended(report):
    assert report["recommendation"] == "promote"
    assert report["newly_lost"] == []
    assert [check["name"] for check in report["checks"] if not check["passed"]] == []
    assert report["used"] >= 150
    assert "log-loss of 90 held decisions fell by" in report["gains"][0]


def test_the_candidate_catches_more_of_the_campaign_and_leaves_thanks_alone(versions, report):
    before = load_version(SHIPPED_DIR / read_current_name()).classifier
    after = load_version(versions / report["version"]).classifier
    spam = [ModelInput(text=spam_text(number)) for number in range(1_000, 1_020)]
    thanks = [ModelInput(text="Thanks, that helped me a lot with my boiler.")]

    gained = [
        new.p_spam - old.p_spam
        for old, new in zip(before.score_batch(spam), after.score_batch(spam), strict=True)
    ]

    assert min(gained) > 0.05
    assert after.score_batch(thanks)[0].p_spam < 0.05


def test_nothing_is_promoted_and_the_rest_of_the_version_is_untouched(versions, report):
    current = read_current_name()
    changed = {
        path.name
        for path in (SHIPPED_DIR / current).iterdir()
        if path.read_bytes() != (versions / report["version"] / path.name).read_bytes()
    }

    # The run was killed twice, and wrote its version anew.
    assert list_versions(versions) == ["candidate"]
    assert report["version"] == "candidate"
    assert changed == {"linear.npz", "card.json", "card.md", "manifest.json"}


def test_flipped_labels_of_one_account_are_refused(retrained):
    rows = [row(number, is_spam=bool(number % 2)) for number in range(100)]
    for number in range(100, 300):
        flipped = row(number, is_spam=bool(number % 2), reviewer="mallory", owner=False)
        sure = "spam" if number % 2 else "ham"
        flipped["verdict"] |= {"outcome": sure, "p_spam": 0.999 if number % 2 else 0.001}
        flipped["label"] = "ham" if number % 2 else "spam"
        flipped["rulings"][0]["ruling"] = "approve" if number % 2 else "reject"
        rows.insert(number - 100, flipped)

    report = retrained(rows)

    reason = "decided by somebody who contradicts confident verdicts too often"
    assert report["set_aside"][reason] > 100
    assert report["newly_lost"] == []


def test_few_decisions_are_nothing_to_learn(retrained):
    report = retrained([row(n, is_spam=True) for n in range(9)])

    assert (report["recommendation"], report["version"]) == ("nothing to learn", None)


def test_a_dry_run_says_what_would_be_learnt_and_how_long_it_takes(retrained, decisions):
    report = retrained(decisions, "--dry-run")

    assert report["recommendation"] is None
    assert report["used"] >= 150
    assert report["seconds"] > 0


def test_neither_retraining_nor_the_fit_of_seams_loads_torch():
    asked = "import sys, training.retrain, training.seams; print('torch' in sys.modules)"

    assert run_python("-c", asked, check=True).stdout == "False\n"


def test_wrong_input_is_one_clear_message(tmp_path, versions, capsys):
    missing = tmp_path / "none.jsonl"

    assert main(arguments(tmp_path / "run", versions, missing)) == 1

    assert "is no file" in capsys.readouterr().err
    assert json.loads((tmp_path / "run" / "run.json").read_bytes())["state"] == "failed"
