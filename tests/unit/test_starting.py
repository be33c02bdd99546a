"""Every process says in one line why it cannot start, and ends with the code for it."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from service.data_folder import DataFolder
from service.settings import ENV_PREFIX, load_settings
from service.start_error import ExitCode
from service.wiring import open_engine

each_process = pytest.mark.parametrize(
    "module",
    [
        "service.processes.app",
        "service.processes.worker",
        "service.processes.background",
    ],
)


def run(module, *arguments, **settings):
    names = {f"{ENV_PREFIX}{name.upper()}": str(value) for name, value in settings.items()}
    return subprocess.run(
        [sys.executable, "-m", module, *arguments],
        env={**os.environ, **names},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@each_process
def test_a_process_with_a_wrong_setting_names_it_and_ends(module, tmp_path):
    ended = run(module, data_dir=tmp_path, batch_size=0)

    assert ended.returncode == ExitCode.SETTINGS
    assert ended.stderr.splitlines() == [
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
