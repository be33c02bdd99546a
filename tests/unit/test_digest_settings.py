"""Settings of the daily digest: what is wrong is named with a remedy at the start."""

from __future__ import annotations

import pytest

from service.settings import load_settings
from service.start_error import SettingsError
from service.wiring import digest_plan, wire


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"mail_url": "smtp://mail.example"}, "SLOPSIEVE_MAIL_FROM is not: give the address"),
        ({"mail_from": "nobody"}, "SLOPSIEVE_MAIL_FROM: 'nobody' is no mail address: write"),
        ({"remind_hour": "24"}, "SLOPSIEVE_REMIND_HOUR: Input should be less than or equal to 23"),
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
    plan = digest_plan(
        load_settings(remind_hour=7, remind_zone="Europe/Berlin", pages_url="https://mod.example/")
    )

    assert (plan.hour, str(plan.zone)) == (7, "Europe/Berlin")
    assert plan.pages_url == "https://mod.example"
