"""Secrets that lie in files, where histories lie, and which folder of versions serves."""

from __future__ import annotations

import shutil

import pytest
from pydantic import SecretStr

from models.errors import ModelVersionError
from models.registry import (
    SHIPPED_DIR,
    check_version,
    import_version,
    promote,
    read_current_fusion,
    read_current_name,
)
from service.data_folder import DataFolder
from service.settings import Settings, load_settings
from service.start_error import SettingsError, StartError
from service.stores.valkey.history import ValkeyHistoryStore
from service.supervisor.supervise import _environment
from service.training_runs import own_versions_folder, versions_folder
from service.wiring import open_history
from tests.servers import free_port

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


@pytest.mark.parametrize("url", ["nonsense", "http://h/0", "+cluster://h", "redis+cluster://"])
def test_another_url_is_refused_by_name_and_not_repeated(url):
    with pytest.raises(StartError, match="HISTORY_URL cannot be used") as refused:
        open_history(Settings(history_url=SecretStr(url)), "redis://h")

    assert url not in str(refused.value)


def test_nothing_is_opened_before_the_first_call():
    store = open_history(
        Settings(history_url=SecretStr(f"redis+cluster://h:{free_port()}")), "redis://h"
    )

    assert isinstance(store, ValkeyHistoryStore)
    store.close()


SHIPPED = SHIPPED_DIR / read_current_name()


def test_the_shipped_versions_serve_until_the_installation_has_a_current_one(tmp_path):
    settings = Settings(data_dir=tmp_path)
    own = own_versions_folder(settings)
    before = versions_folder(settings)

    import_version(own, SHIPPED)
    while_none_is_current = versions_folder(settings)
    promote(own, SHIPPED.name, check=check_version)

    assert own == tmp_path / "models"
    assert (before, while_none_is_current) == (SHIPPED_DIR, SHIPPED_DIR)
    assert versions_folder(settings) == own


def test_a_folder_that_is_set_is_the_one_that_serves_even_while_it_is_empty(tmp_path):
    settings = Settings(data_dir=tmp_path / "data", models_dir=tmp_path / "mine")

    assert versions_folder(settings) == own_versions_folder(settings) == tmp_path / "mine"


def test_a_version_imported_is_the_same_and_is_imported_once(tmp_path):
    first, second = import_version(tmp_path, SHIPPED), import_version(tmp_path, SHIPPED)

    assert (first, second) == (True, False)
    assert check_version(tmp_path / SHIPPED.name) == read_current_fusion()[1]
    assert [path.name for path in tmp_path.iterdir()] == [SHIPPED.name]


def test_a_damaged_version_is_neither_imported_nor_promoted(tmp_path):
    damaged = shutil.copytree(SHIPPED, tmp_path / "elsewhere" / "damaged")
    (damaged / "card.md").write_text("another card")

    with pytest.raises(ModelVersionError, match=r"card\.md does not match"):
        import_version(tmp_path / "models", damaged)
    with pytest.raises(ModelVersionError, match=r"card\.md does not match"):
        promote(damaged.parent, "damaged", check=check_version)

    assert not (tmp_path / "models").exists()
    assert not (damaged.parent / "CURRENT").exists()
