"""The data folder and the secret key in it."""

from __future__ import annotations

import errno
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path

import pytest

from service.data_folder import DataFolder
from service.settings import load_settings
from service.start_error import StartError


def test_a_missing_folder_is_made_for_its_owner_alone(tmp_path):
    folder = DataFolder(tmp_path / "a" / "b")

    assert folder.path.stat().st_mode & 0o777 == 0o700


def test_the_secret_key_is_made_once_and_kept_private(tmp_path):
    first = DataFolder(tmp_path).secret_key()

    again = DataFolder(tmp_path).secret_key()

    assert first == again
    assert len(first) >= 32
    assert (tmp_path / "secret.key").stat().st_mode & 0o777 == 0o600


def test_processes_that_make_the_key_at_once_get_the_same_one(tmp_path):
    folder = DataFolder(tmp_path)

    with ThreadPoolExecutor(16) as pool:
        keys = set(pool.map(lambda _: folder.secret_key(), range(64)))

    assert len(keys) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["secret.key"]


def test_a_damaged_key_is_refused_rather_than_replaced(tmp_path):
    (tmp_path / "secret.key").write_text("short")

    with pytest.raises(StartError, match="damaged"):
        DataFolder(tmp_path).secret_key()

    assert (tmp_path / "secret.key").read_text() == "short"


@pytest.mark.parametrize(("database", "is_lost"), [(b"", False), (b"SQLite format 3", True)])
def test_a_key_that_a_database_was_filled_under_is_not_replaced(tmp_path, database, is_lost):
    (tmp_path / "slopsieve.db").write_bytes(database)

    with pytest.raises(StartError, match="lost") if is_lost else nullcontext():
        DataFolder(tmp_path).secret_key()

    assert (tmp_path / "secret.key").exists() is not is_lost


def test_a_full_disk_is_told_as_such_and_no_other_folder_is_asked_for(tmp_path, monkeypatch):
    def full(**_given: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(tempfile, "TemporaryFile", full)

    with pytest.raises(StartError, match="its disk is full; make room there"):
        DataFolder(tmp_path)
    assert DataFolder(tmp_path, prove=False).path == tmp_path


@pytest.mark.parametrize(
    ("given", "folder"),
    [
        ("/srv/data", "/srv/data/slopsieve"),
        ("", "/home/ada/.local/share/slopsieve"),
        ("relative", "/home/ada/.local/share/slopsieve"),
    ],
)
def test_what_is_installed_keeps_its_data_where_its_owner_keeps_data(monkeypatch, given, folder):
    monkeypatch.setattr("service.settings.PREFIX", "slopsieve.")
    monkeypatch.setenv("HOME", "/home/ada")
    monkeypatch.setenv("XDG_DATA_HOME", given)
    monkeypatch.delenv("SLOPSIEVE_DATA_DIR", raising=False)

    assert load_settings().data_dir == Path(folder)


def test_a_checkout_keeps_its_data_beside_it(monkeypatch):
    monkeypatch.delenv("SLOPSIEVE_DATA_DIR", raising=False)

    assert load_settings().data_dir == Path("var")
