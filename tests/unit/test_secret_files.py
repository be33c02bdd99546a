"""Secrets that lie in files, as containers are handed them: `SLOPSIEVE_..._FILE` names the file."""

from __future__ import annotations

import pytest

from service.data_folder import DataFolder
from service.settings import load_settings
from service.start_error import SettingsError
from service.supervisor.supervise import _environment

_SECRET = "a secret of at least thirty-two characters"


def test_a_secret_is_read_from_its_file_without_the_line_break_at_its_end(tmp_path, monkeypatch):
    file = tmp_path / "secret_key"
    file.write_text(f"{_SECRET}\n")
    monkeypatch.setenv("SLOPSIEVE_SECRET_KEY_FILE", str(file))

    settings = load_settings()

    assert settings.secret_key is not None
    assert settings.secret_key.get_secret_value() == _SECRET
    assert _SECRET not in repr(settings)


def test_an_empty_variable_names_no_file(monkeypatch):
    monkeypatch.setenv("SLOPSIEVE_SECRET_KEY_FILE", "")

    assert load_settings().secret_key is None


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "cannot be read (No such file or directory): mount it, or let this user read it"),
        (b"", "is empty: write the secret into it"),
        (b"\xff\xfe", "is no text in UTF-8: write the secret into it"),
        (b"x" * 100_000, "has over 65536 bytes: name the file with the secret alone"),
    ],
)
def test_a_file_that_holds_no_secret_is_named_with_a_remedy(content, says, tmp_path, monkeypatch):
    file = tmp_path / "secret_key"
    if content is not None:
        file.write_bytes(content)
    monkeypatch.setenv("SLOPSIEVE_SECRET_KEY_FILE", str(file))

    with pytest.raises(SettingsError) as refused:
        load_settings(port=99_999)

    lines = str(refused.value).splitlines()
    assert len(lines) == 2
    assert lines[0] == f"SLOPSIEVE_SECRET_KEY_FILE: {file} {says}"
    assert lines[1].startswith("SLOPSIEVE_PORT")


def test_a_secret_that_is_given_twice_is_refused(tmp_path, monkeypatch):
    file = tmp_path / "secret_key"
    file.write_text(_SECRET)
    monkeypatch.setenv("SLOPSIEVE_SECRET_KEY_FILE", str(file))
    monkeypatch.setenv("SLOPSIEVE_SECRET_KEY", _SECRET)

    with pytest.raises(SettingsError, match="SECRET_KEY_FILE are both set: unset one"):
        load_settings()


def test_a_child_of_the_supervisor_is_told_where_valkey_is_once(tmp_path, monkeypatch):
    file = tmp_path / "valkey_url"
    file.write_text("redis://:password@valkey.example:6379/0")
    monkeypatch.setenv("SLOPSIEVE_VALKEY_URL_FILE", str(file))
    settings = load_settings(data_dir=tmp_path)

    for name, value in _environment(settings, DataFolder(tmp_path), "redis://there:6379/0").items():
        monkeypatch.setenv(name, value)

    given = load_settings().valkey_url
    assert given is not None
    assert given.get_secret_value() == "redis://there:6379/0"
