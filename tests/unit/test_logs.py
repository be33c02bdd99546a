"""What log lines look like and what never stands in them."""

import json
import logging
import re
import sys
from functools import partial

import pytest

from service.cli import main
from service.logs import JsonFormatter, LineFormatter, WordsFormatter
from tests.commands import run_python


def written(formatter, message, *, logger="slop", failure=None, **fields):
    """Return a formatted record, after checking that it is one line."""
    record = logging.LogRecord(logger, logging.INFO, "x.py", 1, message, (), failure)
    record.__dict__.update(fields)
    said = formatter.format(record)
    assert len(said.splitlines()) == 1
    return said


line = partial(written, LineFormatter("%(message)s"))


def test_the_http_servers_lines_lose_the_address_and_what_was_sent():
    broken = line(
        "uncaptured python exception, closing channel <waitress.channel.HTTPChannel connected "
        "203.0.113.9:5 at 0x7f> (<class 'ValueError'>:Zanzibar [file.py|read|1])",
        logger="waitress",
    )
    failed = line("Exception while serving /review/Zanzibar", logger="waitress")

    assert broken.endswith("INFO uncaptured python exception, closing channel")
    assert failed.endswith("INFO Exception while serving")


def test_an_event_is_one_line_of_fixed_words_and_fields():
    said = line("comment judged", outcome="spam", seconds=0.5)

    assert said.endswith("INFO comment judged outcome=spam seconds=0.5")


def test_values_cannot_forge_lines_or_fields():
    said = line("comment judged", reason='a b="c"\nforged')

    assert '"a b=\\"c\\"\\nforged"' in said


@pytest.mark.parametrize(
    ("formatter", "error"),
    [
        (LineFormatter("%(message)s"), "error=ValueError at=test_logs.py:"),
        (
            WordsFormatter("%(message)s"),
            "site notification failed error=ValueError at=test_logs.py:",
        ),
        (JsonFormatter("worker"), '"error": "ValueError"'),
    ],
)
def test_an_exceptions_message_stays_out(formatter, error):
    try:
        int("the comment's text")
    except ValueError:
        failure = sys.exc_info()

    said = written(formatter, "site notification failed", failure=failure)

    assert error in said
    assert "the comment's text" not in said


def test_a_command_that_fails_unforeseen_tells_type_and_place_alone(monkeypatch, caplog):
    monkeypatch.setattr("service.commands.run.DataFolder", lambda *_, **__: int("secret words"))

    with pytest.raises(SystemExit) as ended:
        main(["first-run"])

    assert ended.value.code == 1
    (said,) = map(WordsFormatter().format, caplog.records)
    assert re.fullmatch(r"this is a fault of Slopsieve error=ValueError at=run.py:\d+", said)


def test_a_command_that_configures_no_logging_writes_through_the_same_scrubber():
    program = (
        "import logging\n"
        "from service import cli\n"
        "try:\n"
        "    cli.main(['--version'])\n"
        "except SystemExit:\n"
        "    pass\n"
        "try:\n"
        "    int('secret words')\n"
        "except ValueError:\n"
        "    logging.getLogger('slop').exception('it failed')\n"
    )

    said = run_python("-c", program, check=True)

    assert said.stderr == "it failed error=ValueError at=<string>:8\n"


def json_line(message, **fields):
    return json.loads(written(JsonFormatter("worker"), message, **fields))


def test_for_programs_an_event_is_one_object_with_its_fields():
    said = json_line("comment judged", outcome="spam", seconds=0.5, model=None, comment_ids=["a"])

    assert said.pop("time").endswith("+00:00")
    assert said.pop("pid")
    assert said == {
        "level": "INFO",
        "event": "comment judged",
        "process": "worker",
        "logger": "slop",
        "outcome": "spam",
        "seconds": 0.5,
        "model": None,
        "comment_ids": ["a"],
    }


def test_a_field_cannot_pass_for_another_nor_grow_without_end():
    said = json_line("judged\nforged", level="FORGED", reason="x" * 9_999, ids=["a" * 999] * 999)

    assert (said["event"], said["level"]) == ("judged …", "INFO")
    assert len(said["reason"]) == 200
    assert (len(said["ids"]), len(said["ids"][0])) == (200, 200)
