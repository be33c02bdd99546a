"""Every process says in one line why it cannot start, and ends with the code for it."""

from __future__ import annotations

import sys

import pytest

from service.data_folder import DataFolder
from service.processes import app, background, starting, worker
from service.settings import load_settings
from service.start_error import ExitCode
from service.wiring import open_engine


@pytest.mark.parametrize("process", [app, worker, background])
def test_a_process_with_a_wrong_setting_names_it_and_ends(process, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["process"])
    monkeypatch.setattr(starting, "configure_logging", lambda *_, **__: None)
    monkeypatch.setenv("SLOPSIEVE_BATCH_SIZE", "0")

    with pytest.raises(SystemExit) as ended:
        process.main()

    assert ended.value.code == ExitCode.SETTINGS
    assert capsys.readouterr().err.splitlines() == [
        "SLOPSIEVE_BATCH_SIZE: Input should be greater than or equal to 1"
    ]


def test_what_the_settings_allow_of_connections_arrives_at_the_database(postgresql, tmp_path):
    settings = load_settings(
        data_dir=tmp_path,
        database_url=postgresql.url,
        database_connections=3,
        database_recycle_seconds=77,
        database_behind_pooler=True,
    )
    engine = open_engine(settings, DataFolder(tmp_path))

    with engine.connect() as connection:
        prepares_after = connection.connection.driver_connection.prepare_threshold

    engine.dispose()
    assert prepares_after is None
    assert (engine.pool.size(), engine.pool._recycle) == (3, 77)
