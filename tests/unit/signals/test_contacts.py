"""Contact details are told from dates, code and measurements."""

from __future__ import annotations

import pytest

from service.signals.contacts import ContactKind
from service.signals.view import view_of_text


@pytest.mark.parametrize(
    ("text", "kind", "written"),
    [
        ("write ana@example.com please", "EMAIL", "ana@example.com"),
        ("drhealer (at) gmail (dot) com", "EMAIL", "drhealer (at) gmail (dot) com"),
        ("call +44 7700 900123 now", "PHONE", "+44 7700 900123"),
        ("hotline 0800 555 0188", "PHONE", "0800 555 0188"),
        ("telegram @rita_loans today", "HANDLE", "telegram @rita_loans"),
        ("join t.me/fast_profit", "HANDLE", "t.me/fast_profit"),
        ("пиши в телеграм @vika_rabota", "HANDLE", "телеграм @vika_rabota"),
    ],
)
def test_finds_contact_details(text, kind, written):
    (contact,) = view_of_text(text).contacts

    assert contact.kind is ContactKind[kind]
    assert text[contact.start : contact.end] == written


@pytest.mark.parametrize(
    "text",
    [
        "git@github.com:ana/valves.git",
        "on 2025-11-03 and 2025-11-04 it was 1013 hPa",
        "pi is 3.14159265358979 or so",
        "set wait_timeout and wal_status",
        "`ana@example.com` is in the config",
        "WhatsApp compresses photos",
    ],
)
def test_takes_nothing_else_for_a_contact(text):
    assert view_of_text(text).contacts == ()
