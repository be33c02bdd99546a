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
        ("怎么放气。请加微信ruth888", "HANDLE", "微信ruth888"),
        ("薇信 ruth888", "HANDLE", "薇信 ruth888"),
        ("LINE ID: ruth22", "HANDLE", "LINE ID: ruth22"),
        ("or Signal ruth.22", "HANDLE", "Signal ruth.22"),
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
        "微信iPhone14版崩溃，微信8.0.50更新后闪退",
        "增加version_2的支持",
        "the line id: row_3 and signal pin.22",
    ],
)
def test_takes_nothing_else_for_a_contact(text):
    assert view_of_text(text).contacts == ()
