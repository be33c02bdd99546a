"""Reads what the service's own handler would write of the records that a test caught."""

import pytest

from service.logs import LineFormatter


def log_lines(caplog: pytest.LogCaptureFixture) -> str:
    """Return the lines; `caplog.text` has pytest's own form, with all that an exception says."""
    form = LineFormatter("%(message)s")
    return "\n".join(form.format(record) for record in caplog.records)
