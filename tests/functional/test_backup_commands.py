"""The embedded default, as an operator backs it up, restores it and moves it."""

import io
import json
import resource
import shutil
import tarfile

import pytest

from models.registry import (
    SHIPPED_DIR,
    check_version,
    list_versions,
    promote,
    read_current_name,
    read_previous_name,
)
from service.domain.comment import SiteId
from service.moderation.sites import add_site
from service.start_error import StartError
from service.wiring import open_services
from tests.commands import run_command
from tests.databases import damage
from tests.factories import keep_all, make_comment


def run(*words: str, folder) -> str:
    return run_command(*words, "--data-dir", folder).output


@pytest.fixture
def home(tmp_path):
    """A data folder with a site, a comment, a key and a list."""
    folder = tmp_path / "home"
    with open_services(data_dir=str(folder)) as services:
        site, _ = add_site("Kettle blog", services, actor="test")
        comment = make_comment("Descale it.", id="c1", site_id=SiteId(site.id))
        keep_all(services.comments, comment)
    (folder / "reputation").mkdir(exist_ok=True)
    (folder / "reputation" / "abuse.list").write_bytes(b"a list")
    return folder


def test_what_was_backed_up_is_there_after_restoring(home, tmp_path):
    file = tmp_path / "backup.tar"
    with open_services(data_dir=str(home)) as services:
        site = services.sites.all()[0]
        run("backup", str(file), folder=home)
        later = make_comment(id="c2", site_id=site.id)
        keep_all(services.comments, later)
    key = (home / "secret.key").read_text()
    shutil.rmtree(home)

    run("restore", str(file), folder=home)

    assert (home / "secret.key").read_text() == key
    assert (home / "secret.key").stat().st_mode & 0o077 == 0
    assert (home / "reputation" / "abuse.list").read_bytes() == b"a list"
    with open_services(data_dir=str(home)) as services:
        assert services.cases.get("c1").comment.text == "Descale it."
        assert set(services.comments.count_pending().values()) == {0, 1}
        assert [site.name for site in services.sites.all()] == ["Kettle blog"]
    assert file.stat().st_mode & 0o077 == 0


def test_a_model_that_was_trained_here_serves_again_after_restoring(home, tmp_path):
    shipped = SHIPPED_DIR / read_current_name()
    for name in ("refused", "first", "second"):
        shutil.copytree(shipped, home / "models" / name)
    for name in ("first", "second"):
        promote(home / "models", name, check=check_version)
    run("backup", str(tmp_path / "backup.tar"), folder=home)

    run("restore", str(tmp_path / "backup.tar"), folder=tmp_path / "other")

    restored = tmp_path / "other" / "models"
    assert (read_current_name(restored), read_previous_name(restored)) == ("second", "first")
    assert list_versions(restored) == ["first", "second"]
    assert check_version(restored / "second") == check_version(shipped)


@pytest.mark.parametrize("left", ["slopsieve.db", "slopsieve.db-wal", "secret.key", "valkey"])
def test_nothing_is_restored_over_what_is_there(home, tmp_path, left):
    file = tmp_path / "backup.tar"
    run("backup", str(file), folder=home)
    there = tmp_path / "there"
    there.mkdir()
    (there / left).write_bytes(b"of an older installation")

    with pytest.raises(StartError, match=f"already holds {left}:"):
        run("restore", str(file), folder=there)

    assert (there / left).read_bytes() == b"of an older installation"
    assert sorted(path.name for path in there.iterdir()) == sorted([left, "slopsieve.lock"])


def manifest(*names: str) -> str:
    return json.dumps({"format": 1, "files": dict.fromkeys(["slopsieve.db", *names], "0")})


@pytest.mark.parametrize(
    "members",
    [
        *(
            {"backup.json": manifest(name), name: "x"}
            for name in ("../evil", "/etc/evil", "reputation/../x", "reputation/.x", "up")
        ),
        *(
            {"backup.json": content}
            for content in ("[]", '{"format": 1, "files": ["slopsieve.db"]}', "[" * 9**5)
        ),
    ],
)
def test_an_archive_that_is_no_backup_is_refused_and_writes_nowhere(tmp_path, members):
    file, folder = tmp_path / "evil.tar", tmp_path / "empty"
    with tarfile.open(file, "w") as archive:
        for name, content in members.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content.encode()))

    with pytest.raises(StartError, match="no whole backup"):
        run("restore", str(file), folder=folder)

    assert sorted(path.name for path in folder.iterdir()) == ["slopsieve.lock"]


def test_a_damaged_backup_is_refused(home, tmp_path):
    file = tmp_path / "backup.tar"
    run("backup", str(file), folder=home)
    content = bytearray(file.read_bytes())
    at = content.index(b"SQLite format 3") + 200
    content[at] ^= 0xFF
    file.write_bytes(content)

    with pytest.raises(StartError, match="damaged"):
        run("restore", str(file), folder=tmp_path / "other")

    assert not (tmp_path / "other" / "slopsieve.db").exists()


@pytest.mark.parametrize("name", ["ix_comments_newest", "verdicts", "sqlite_schema"])
def test_a_damaged_database_is_no_backup_and_the_earlier_one_stays(home, tmp_path, name):
    file = tmp_path / "backup.tar"
    run("backup", str(file), folder=home)
    earlier = file.read_bytes()
    made_at = (home / "last-backup").stat().st_mtime_ns
    if name == "sqlite_schema":
        (home / "slopsieve.db").write_bytes(b"no database at all" * 1_000)
    else:
        damage(home / "slopsieve.db", name)

    with pytest.raises(StartError, match=r"nothing was backed up.*damaged.*slopsieve restore"):
        run("backup", str(file), folder=home)

    assert file.read_bytes() == earlier
    assert (home / "last-backup").stat().st_mtime_ns == made_at
    assert sorted(path.name for path in home.iterdir() if "backup-" in path.name) == []


def test_a_full_disk_is_told_as_such_and_leaves_the_earlier_backup(home, tmp_path):
    file = tmp_path / "backup.tar"
    run("backup", str(file), folder=home)
    earlier = file.read_bytes()
    before = resource.getrlimit(resource.RLIMIT_FSIZE)

    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, before[1]))
    try:
        with pytest.raises(StartError, match=r"nothing was backed up.*room"):
            run("backup", str(file), folder=home)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)

    assert file.read_bytes() == earlier


def test_an_installation_moves_and_is_compared(home, tmp_path):
    target = f"sqlite:///{tmp_path / 'target.db'}"

    done = run_command("move", "--to", target, "--json", "--data-dir", home, code=0)

    rows = {row["table"]: row for row in map(json.loads, done.stdout.splitlines())}
    assert (rows["sites"]["rows"], rows["sites"]["moved"]) == (1, "equal")
    assert {row["moved"] for row in rows.values()} == {"equal"}
