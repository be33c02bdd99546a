"""How versions are written, checked and chosen."""

import hashlib
import json
import time
from pathlib import Path

import pytest

from models.errors import ModelVersionError
from models.registry import (
    drop_leftovers,
    drop_version,
    free_name,
    load_version,
    read_current_name,
)


def rewrite_json(folder, name, change):
    """Change a file and its checksum, as someone would who knows the format."""
    path = folder / name
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    manifest = json.loads((folder / "manifest.json").read_text())
    if name in manifest["files"]:
        manifest["files"][name] = hashlib.sha256(path.read_bytes()).hexdigest()
        (folder / "manifest.json").write_text(json.dumps(manifest))


def test_a_version_is_never_overwritten(write_tiny):
    write_tiny()

    with pytest.raises(ModelVersionError, match="never change"):
        write_tiny()


@pytest.mark.parametrize("name", ["", "../up", "a/b", ".hidden", "with space"])
def test_a_name_that_is_no_folder_name_is_refused(tmp_path, name, write_tiny):
    with pytest.raises(ModelVersionError, match="name"):
        write_tiny(name=name)

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["linear.npz", "fusion.json", "card.md"])
def test_a_file_that_was_changed_is_noticed(write_tiny, name):
    folder = write_tiny()
    content = bytearray((folder / name).read_bytes())
    content[0] ^= 1
    (folder / name).write_bytes(content)

    with pytest.raises(ModelVersionError, match=f"was changed: {name}"):
        load_version(folder)


@pytest.mark.parametrize("name", ["linear.npz", "fusion.json", "manifest.json"])
def test_a_file_that_is_gone_is_named(write_tiny, name):
    folder = write_tiny()
    (folder / name).unlink()

    with pytest.raises(ModelVersionError, match=name):
        load_version(folder)


@pytest.mark.parametrize("content", ["", "not JSON", "[]", "[" * 100_000, "\udcff"])
def test_a_manifest_that_is_none_is_refused(write_tiny, content):
    folder = write_tiny()
    (folder / "manifest.json").write_text(content, errors="surrogateescape")

    with pytest.raises(ModelVersionError, match=r"manifest\.json"):
        load_version(folder)


@pytest.mark.parametrize(
    ("name", "change", "named"),
    [
        ("manifest.json", {"format": 99}, "format 99"),
        ("manifest.json", {"kind": "oracle"}, "unknown kind 'oracle'"),
        ("manifest.json", {"files": {"../secret": "", "fusion.json": ""}}, "outside"),
        ("fusion.json", {"base": True}, "cannot be used"),
        ("fusion.json", {"base": float("nan")}, "cannot be used"),
        ("fusion.json", {"signal_weights": []}, "cannot be used"),
        ("fusion.json", {"signal_weights": {"shortened_link": "heavy"}}, "cannot be used"),
        ("fusion.json", {"ham_cutoff": 0.95}, "cannot be used"),
    ],
)
def test_what_makes_no_sense_or_is_of_another_format_is_refused(write_tiny, name, change, named):
    folder = write_tiny()
    rewrite_json(folder, name, change)

    with pytest.raises(ModelVersionError, match=named):
        load_version(folder)


@pytest.mark.parametrize("content", ["", "../elsewhere", "two\nlines"])
def test_a_current_file_must_hold_one_folder_name(tmp_path, content):
    (tmp_path / "CURRENT").write_text(content)

    with pytest.raises(ModelVersionError, match="one folder name"):
        load_version(tmp_path / read_current_name(tmp_path))


def test_a_name_that_is_taken_gets_a_number(tmp_path):
    (tmp_path / "v").mkdir()
    (tmp_path / "v-2").mkdir()

    assert free_name(tmp_path, "w") == "w"
    assert free_name(tmp_path, "v") == "v-3"


def test_a_version_that_is_promoted_while_it_is_deleted_stays_whole(
    tmp_path, monkeypatch, write_tiny
):
    write_tiny(name="one")
    rename = Path.rename

    def promoted_meanwhile(path, target):
        if not (tmp_path / "CURRENT").exists():
            (tmp_path / "CURRENT").write_text("one")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", promoted_meanwhile)
    with pytest.raises(ModelVersionError, match="CURRENT"):
        drop_version(tmp_path, "one")

    assert load_version(tmp_path / read_current_name(tmp_path)).version == "one"


def test_what_a_killed_process_left_goes_once_it_is_old(tmp_path, write_tiny):
    write_tiny(name="one")
    for name in (".writing-x", ".dropping-two"):
        (tmp_path / name / "two").mkdir(parents=True)
        (tmp_path / name / "two" / "weights").write_bytes(b"half")
    (tmp_path / ".CURRENT-7").write_text("one")

    fresh = drop_leftovers(tmp_path, untouched_since=time.time() - 60)
    old = drop_leftovers(tmp_path, untouched_since=time.time() + 60)

    assert (fresh, old) == (0, 2)
    assert sorted(path.name for path in tmp_path.iterdir()) == [".CURRENT-7", "one"]
