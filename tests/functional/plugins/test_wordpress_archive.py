"""The file that people upload to WordPress, and the command that writes it."""

import gettext
import io
import os
import re
import shutil
import struct
import tomllib
import zipfile
from pathlib import Path

import pytest
from babel.messages.pofile import read_po
from click.testing import CliRunner

from service.commands.platforms import plugins_group
from service.web.plugins.archive import WORDPRESS, pack_plugin

ROOT = Path(__file__).resolve().parents[3]
_PHP = sorted(WORDPRESS.rglob("*.php"))
_CATALOGUES = sorted(WORDPRESS.rglob("*.po"))
_QUOTED = r"'((?:[^'\\]|\\.)*)'"
_CALL = r"\b(?:__|esc_html__|esc_html_e|esc_attr__|esc_attr_e)\( "
_HOLES = re.compile(r"%(?:\d+\$)?[sd%]")
_GERMAN = "slopsieve/languages/slopsieve-de.mo"
_MOMENTS = ("pot-creation-date", "po-revision-date")
each_file = pytest.mark.parametrize("path", _PHP, ids=lambda path: path.name)


def _header(name: str) -> str:
    found = re.search(rf"^ \* {name}: +(.+)$", (WORDPRESS / "slopsieve.php").read_text(), re.M)
    assert found, f"the plugin's header has no {name}"
    return found[1]


def test_the_archive_holds_the_plugins_folder_and_nothing_else():
    archive = zipfile.ZipFile(io.BytesIO(pack_plugin(WORDPRESS)))

    held = {entry.filename: archive.read(entry) for entry in archive.infolist()}

    assert archive.testzip() is None
    catalogues = {name: held.pop(name) for name in list(held) if name.endswith(".mo")}
    assert held == {
        path.relative_to(WORDPRESS.parent).as_posix(): path.read_bytes()
        for path in WORDPRESS.rglob("*")
        if path.is_file() and path.suffix != ".po"
    }
    assert catalogues.keys() == {
        f"slopsieve/languages/slopsieve-{path.stem}.mo" for path in _CATALOGUES
    }
    assert {"slopsieve/slopsieve.php", "slopsieve/uninstall.php", "slopsieve/LICENSE"} <= set(held)


def test_the_command_writes_the_same_bytes_whenever_the_files_were_written(tmp_path):
    copy, out = tmp_path / "slopsieve", tmp_path / "slopsieve.zip"
    shutil.copytree(WORDPRESS, copy)
    for path in copy.rglob("*"):
        os.utime(path, (1_700_000_000, 1_700_000_000))

    done = CliRunner().invoke(plugins_group, ["wordpress", "--out", str(out)])

    assert done.exit_code == 0
    assert out.read_bytes() == pack_plugin(copy)


def test_the_plugin_says_the_version_of_the_service_and_its_licence_wherever_it_says_one():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    version = project["version"]
    main = (WORDPRESS / "slopsieve.php").read_text()
    readme = (WORDPRESS / "readme.txt").read_text()

    assert _header("Version") == version
    assert re.findall(r"const VERSION = '(.+)';", main) == [version]
    assert re.findall(r"^Stable tag: (.+)$", readme, re.M) == [version]
    # It is under the GPL, and the package says so.
    assert _header("License") == "GPL-2.0-or-later"
    assert "GNU GENERAL PUBLIC LICENSE" in (WORDPRESS / "LICENSE").read_text()
    assert project["license"] == "Apache-2.0 AND GPL-2.0-or-later"
    assert f"**/{(WORDPRESS / 'LICENSE').relative_to(ROOT)}" in project["license-files"]


@each_file
def test_no_file_does_anything_when_it_is_called_by_itself(path):
    code = path.read_text("utf-8")

    assert re.search(r"if \( ! defined\( '(ABSPATH|WP_UNINSTALL_PLUGIN)' \) \) \{\n\texit;", code)
    assert code.startswith("<?php\n/**\n")


@each_file
def test_what_is_printed_is_escaped_where_it_is_printed(path):
    """WordPress's own rule: a variable is escaped in the statement that prints it."""
    printed = re.findall(r"^\s*(?:echo|printf\()(.*?);$", path.read_text("utf-8"), re.M | re.S)
    variable = [one for one in printed if "$" in re.sub(r"'[^']*'", "''", one)]

    assert [one for one in variable if not re.search(r"esc_|wp_kses|headline\(", one)] == []


@pytest.mark.parametrize("path", _CATALOGUES, ids=lambda path: path.stem)
def test_a_catalogue_has_every_string_and_no_other(path):
    code = "\n".join(php.read_text("utf-8") for php in _PHP)
    texts = {text.replace("\\'", "'") for text in re.findall(_CALL + _QUOTED, code)}
    texts |= set(re.findall(rf"\b_n\( {_QUOTED}, {_QUOTED}, ", code))
    with path.open("rb") as file:
        said = {one.id: one for one in read_po(file, locale=path.stem) if one.id}

    assert said.keys() == texts
    for text, message in said.items():
        strings = [message.string] if isinstance(text, str) else message.string
        originals = [text] if isinstance(text, str) else text
        assert all(strings), text
        assert not message.fuzzy, text
        for original, string in zip(originals, strings, strict=True):
            assert sorted(_HOLES.findall(original)) == sorted(_HOLES.findall(string)), text


def test_what_is_packed_of_a_catalogue_says_the_same():
    archive = zipfile.ZipFile(io.BytesIO(pack_plugin(WORDPRESS)))

    packed = archive.read(_GERMAN)
    german = gettext.GNUTranslations(io.BytesIO(packed))

    _, _, count, originals, translations, hashes, hashes_at = struct.unpack("<7I", packed[:28])
    # WordPress before 6.5 reads a catalogue only if its tables follow one another.
    assert (translations - originals, hashes_at - translations) == (8 * count, 8 * count)
    assert hashes == 0
    # Its head is the one place where a moment is written.
    assert {german.info()[name][:4] for name in _MOMENTS} == {"1980"}
    assert german.gettext("Test the connection") == "Verbindung testen"


def test_deleting_the_plugin_deletes_every_name_under_which_it_keeps_things():
    names = (WORDPRESS / "includes" / "names.php").read_text()
    uninstall = (WORDPRESS / "uninstall.php").read_text()
    kept = dict(re.findall(r"^const ([A-Z_]+) += '(_?slopsieve_[a-z_]+)';$", names, re.M))
    metas = re.findall(r"^const METAS += array\( (.+) \);$", names, re.M)[0].split(", ")

    assert {name for name, value in kept.items() if value.startswith("_")} == set(metas)
    for name in kept.keys() - set(metas):
        assert re.search(rf"\b{name}\b", uninstall), name
    for path in set(_PHP) - {WORDPRESS / "includes" / "names.php"}:
        # A name that is written elsewhere is one that uninstalling forgets.
        literal = re.findall(
            r"(?:update_option|add_option|set_transient|_comment_meta)\( [^)]*'(_?slopsieve\w*)'",
            path.read_text(),
        )
        assert literal == [], path.name
