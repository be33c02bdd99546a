"""A run's folder keeps what was done, tells how far it is, and refuses what does not belong."""

from __future__ import annotations

import json

import pytest

from training.retraining.run_folder import RunFolder, RunState, digest

STEPS = ("read", "learn", "report")


@pytest.fixture
def folder(tmp_path):
    made = RunFolder(tmp_path / "run", STEPS)
    yield made
    made.close()


def told(folder) -> dict:
    return json.loads((folder.path / "run.json").read_bytes())


def test_what_a_run_keeps_of_comments_is_its_owners_alone(folder):
    assert folder.path.stat().st_mode & 0o077 == 0


def test_a_step_is_done_once_it_ended_well(folder):
    with folder.step("read"):
        assert not folder.is_done("read")
        assert told(folder)["steps"][0]["state"] == "running"

    assert folder.is_done("read")
    assert [s["state"] for s in told(folder)["steps"]] == ["done", "waiting", "waiting"]
    assert told(folder)["step"] == "learn"


def test_a_step_that_failed_is_to_be_done_again(folder):
    with pytest.raises(ZeroDivisionError), folder.step("read"):
        raise ZeroDivisionError

    assert not folder.is_done("read")


def test_another_process_finds_what_was_done(folder):
    with folder.step("read"):
        folder.write_json("found.json", [1, 2])
    folder.close()

    again = RunFolder(folder.path, STEPS)

    assert again.is_done("read")
    assert again.read_json("found.json") == [1, 2]
    assert again.started_at == folder.started_at
    assert again.seconds().keys() == {"read"}
    again.close()


def test_two_processes_never_work_on_the_same_run(folder):
    with pytest.raises(ValueError, match="another process works on the run"):
        RunFolder(folder.path, STEPS)


def test_other_inputs_than_it_was_begun_with_are_refused_by_name(folder):
    folder.keep_inputs({"--data": {"a": "1"}, "--threads": 1, "seed": 5})
    folder.keep_inputs({"--data": {"a": "1"}, "--threads": 1, "seed": 5})

    with pytest.raises(
        ValueError, match=r"other inputs \(--data, --threads\): name another folder"
    ):
        folder.keep_inputs({"--data": {"a": "2"}, "--threads": 2, "seed": 5})


def test_the_share_done_and_the_time_left_follow_what_each_step_takes(folder):
    folder.expect({"read": 10.0, "learn": 80.0, "report": 10.0})
    with folder.step("read"):
        pass
    with folder.step("learn"):
        folder.advance(0.5, 40.0)
        folder.tell()
        half = told(folder)

    assert half["share_done"] == pytest.approx(0.5)
    assert half["seconds_left"] == 50
    assert told(folder)["share_done"] == pytest.approx(0.9)


def test_an_ended_run_is_told_as_done_and_a_failed_one_with_its_problem(folder):
    folder.tell(RunState.ENDED)
    assert (told(folder)["state"], told(folder)["share_done"]) == ("ended", 1.0)
    assert told(folder)["seconds_left"] is None

    folder.tell(RunState.FAILED, "there is no data file")
    assert told(folder)["state"] == "failed"
    assert told(folder)["problem"] == "there is no data file"


def test_a_half_written_file_never_takes_the_place_of_a_whole_one(folder):
    folder.write("found.txt", b"whole")
    (folder.path / ".found.txt.writing").write_bytes(b"hal")

    assert (folder.path / "found.txt").read_bytes() == b"whole"
    assert len(digest(folder.path / "found.txt")) == 64
