"""Settings of reminders: what is wrong is named with its setting and a remedy at the start."""

from __future__ import annotations

from datetime import time

import pytest

from service.settings import SettingsError, load_settings
from service.wiring import reminder_plan, wire


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"mail_url": "smtp://mail.example"}, "SLOPSIEVE_MAIL_FROM is not: give the address"),
        ({"mail_from": "nobody"}, "SLOPSIEVE_MAIL_FROM: 'nobody' is no mail address: write"),
        ({"remind_when": "20>4h,many"}, "SLOPSIEVE_REMIND_WHEN_1: 'many' is no threshold: write"),
        ({"remind_quiet": "at night"}, "SLOPSIEVE_REMIND_QUIET: 'at night' is no stretch of the"),
        ({"remind_zone": "Mars/Olympus"}, "SLOPSIEVE_REMIND_ZONE: 'Mars/Olympus' is no time zone"),
        ({"remind_zone": "../../etc/passwd"}, "SLOPSIEVE_REMIND_ZONE: "),
        ({"pages_url": "mod.example"}, "SLOPSIEVE_PAGES_URL: it must begin with http:// or"),
    ],
)
def test_what_is_wrong_is_named_with_a_remedy(given, says):
    with pytest.raises(SettingsError) as refused:
        load_settings(**given)

    assert says in str(refused.value)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (
            {"mail_url": "mail.example", "mail_from": "a@mod.example"},
            "SLOPSIEVE_MAIL_URL: write smtp://",
        ),
        ({"room_url": "http://chat.example/hook"}, "SLOPSIEVE_ROOM_URL is not https; give the"),
        ({"room_url": "https://127.0.0.1/hook"}, "allow its host or network in SLOPSIEVE_CALLBACK"),
    ],
)
def test_an_address_that_cannot_be_used_is_refused_at_the_start(tmp_path, given, says):
    settings = load_settings(data_dir=tmp_path, valkey_url="redis://127.0.0.1:1/0", **given)

    with pytest.raises(SettingsError) as refused:
        wire(settings)

    assert says in str(refused.value)


def test_the_plan_is_what_the_settings_say():
    plan = reminder_plan(
        load_settings(
            mail_url="smtp://mail.example",
            mail_from="a@mod.example",
            remind_when="2>1h",
            remind_quiet="22:00-07:30",
            pages_url="https://mod.example/",
        )
    )

    assert [one.name for one in plan.thresholds] == ["2>1h"]
    assert (plan.by_mail, plan.in_room, plan.quotes) == (True, False, False)
    assert plan.quiet == (time(22), time(7, 30))
    assert plan.pages_url == "https://mod.example"
