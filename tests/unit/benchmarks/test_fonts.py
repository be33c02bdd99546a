"""The pictures' script names what it cannot draw."""

from __future__ import annotations

import stat

from tests.benchmarks import fonts


def _fc_list(folder, monkeypatch, body: str) -> None:
    program = folder / "fc-list"
    program.write_text(f"#!/bin/sh\n{body}\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")


def test_what_no_font_draws_is_named_with_the_package_that_would(tmp_path, monkeypatch):
    _fc_list(tmp_path, monkeypatch, 'case "$1" in :lang=ja|:lang=th) ;; *) echo Noto ;; esac')

    told = fonts.tell_missing()

    assert "th, ja" in told
    assert told.endswith("apt-get install fonts-noto-core fonts-noto-cjk")


def test_nothing_is_said_where_everything_is_drawn(tmp_path, monkeypatch):
    _fc_list(tmp_path, monkeypatch, "echo Noto")

    assert fonts.tell_missing() == ""
