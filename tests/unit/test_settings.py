"""Settings, secrets in files, and the data folder: what is wrong is named with a remedy."""

import errno
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path

import pytest
from pydantic import SecretStr

from service.data_folder import DataFolder
from service.settings import Settings, load_settings
from service.start_error import SettingsError, StartError
from service.supervisor.supervise import _environment
from service.wiring import Wired, digest_plan, find_history_url


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"mail_url": "smtp://mail.example"}, "SLOPSIEVE_MAIL_FROM is not: give the address"),
        ({"mail_from": "nobody"}, "SLOPSIEVE_MAIL_FROM: 'nobody' is no mail address: write"),
        ({"remind_zone": "Mars/Olympus"}, "SLOPSIEVE_REMIND_ZONE: 'Mars/Olympus' is no time zone"),
        ({"pages_url": "mod.example"}, "SLOPSIEVE_PAGES_URL: it must begin with http:// or"),
        ({"mail_url": "mail.example", "mail_from": "a@b.example"}, "MAIL_URL: write smtp://"),
        ({"room_url": "http://chat.example/hook"}, "SLOPSIEVE_ROOM_URL is not https; give the"),
        ({"room_url": "https://127.0.0.1/hook"}, "allow its host or network in SLOPSIEVE_CALLBACK"),
    ],
)
def test_what_is_wrong_is_named_with_a_remedy_before_anything_starts(tmp_path, given, says):
    with pytest.raises(SettingsError) as refused:
        Wired(load_settings(data_dir=tmp_path, valkey_url="redis://127.0.0.1:1/0", **given))

    assert says in str(refused.value)


def test_the_plan_is_what_the_settings_say():
    plan = digest_plan(
        load_settings(remind_hour=7, remind_zone="Europe/Berlin", pages_url="https://mod.example/")
    )

    assert (plan.hour, str(plan.zone)) == (7, "Europe/Berlin")
    assert plan.pages_url == "https://mod.example"


_SECRET = "a secret of at least thirty-two characters"


@pytest.fixture
def secret_file(tmp_path, monkeypatch):
    """A file with a secret, which the environment names."""
    file = tmp_path / "secret_key"
    file.write_text(f"{_SECRET}\n")
    monkeypatch.setenv("SLOPSIEVE_SECRET_KEY_FILE", str(file))
    return file


@pytest.mark.usefixtures("secret_file")
def test_a_secret_is_read_from_its_file_without_the_line_break_at_its_end(monkeypatch):
    settings = load_settings()

    assert settings.secret_key is not None
    assert settings.secret_key.get_secret_value() == _SECRET
    assert _SECRET not in repr(settings)
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
def test_a_file_that_holds_no_secret_is_named_with_a_remedy(content, says, secret_file):
    secret_file.unlink()
    if content is not None:
        secret_file.write_bytes(content)

    with pytest.raises(SettingsError) as refused:
        load_settings(port=99_999)

    lines = str(refused.value).splitlines()
    assert len(lines) == 2
    assert lines[0] == f"SLOPSIEVE_SECRET_KEY_FILE: {secret_file} {says}"
    assert lines[1].startswith("SLOPSIEVE_PORT")


@pytest.mark.usefixtures("secret_file")
def test_a_secret_that_is_given_twice_is_refused(monkeypatch):
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


@pytest.mark.parametrize("url", ["nonsense", "http://h/0", "redis+cluster://h"])
def test_another_url_is_refused_by_name_and_not_repeated(url):
    with pytest.raises(StartError, match="HISTORY_URL cannot be used") as refused:
        find_history_url(Settings(history_url=SecretStr(url)), "redis://h")

    assert url not in str(refused.value)


def test_folder_and_key_are_their_owners_and_processes_that_make_them_at_once_agree(tmp_path):
    folder = DataFolder(tmp_path / "a" / "b")

    with ThreadPoolExecutor(16) as pool:
        keys = set(pool.map(lambda _: folder.secret_key(), range(64)))

    assert keys == {DataFolder(folder.path).secret_key()}
    assert len(keys.pop()) >= 32
    assert [path.name for path in folder.path.iterdir()] == ["secret.key"]
    assert folder.path.stat().st_mode & 0o777 == 0o700
    assert folder.key_file.stat().st_mode & 0o777 == 0o600


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
    ("prefix", "given", "folder"),
    [
        ("slopsieve.", "/srv/data", "/srv/data/slopsieve"),
        ("slopsieve.", "", "/home/ada/.local/share/slopsieve"),
        ("slopsieve.", "relative", "/home/ada/.local/share/slopsieve"),
        ("", "/srv/data", "var"),
    ],
)
def test_what_is_installed_keeps_its_data_with_its_owners_and_a_checkout_beside_it(
    monkeypatch, prefix, given, folder
):
    monkeypatch.setattr("service.settings.PREFIX", prefix)
    monkeypatch.setenv("HOME", "/home/ada")
    monkeypatch.setenv("XDG_DATA_HOME", given)
    monkeypatch.delenv("SLOPSIEVE_DATA_DIR", raising=False)

    assert load_settings().data_dir == Path(folder)
