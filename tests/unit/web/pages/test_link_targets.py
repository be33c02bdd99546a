"""Where links lead is spelled out, and nothing passes for what it is not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.signals.links import find_links
from service.web.pages.template_filters import (
    MAX_SHOWN,
    different_links,
    spell_otherwise,
    target_parts,
)


def _shown(text):
    return [target_parts(link) for link, _times in different_links(find_links(text))[0]]


def test_the_registered_domain_is_told_from_what_stands_around_it():
    assert _shown("see https://paypal.com.login.shop.example.co.uk/a?b") == [
        ("paypal.com.login.shop.", "example.co.uk", "/a?b")
    ]
    assert _shown("https://paypal.com@evil.com/paypal.com") == [("", "evil.com", "/paypal.com")]


def test_equal_targets_are_counted_and_many_are_cut():
    same, _ = different_links(find_links("https://a.com/x " * 3))
    many, left_out = different_links(find_links(" ".join(f"https://a{n}.com" for n in range(40))))

    assert [times for _link, times in same] == [3]
    assert (len(many), left_out) == (MAX_SHOWN, 40 - MAX_SHOWN)


@pytest.mark.parametrize(
    ("host", "other", "hint"),
    [
        ("example.com", "", ""),
        ("p\u0430ypal.com", "xn--pypal-4ve.com", "only look Latin"),
        ("xn--80ak6aa92e.com", "\u0430\u0440\u0440\u04cf\u0435.com", "only look Latin"),
        ("\u043c\u043e\u0441\u043a\u0432\u0430.\u0440\u0444", "xn--80adxhks.xn--p1ai", "beyond"),
        ("pay\u0434\u0436.com", "xn--pay-pddk.com", "several alphabets"),
    ],
)
def test_a_host_beyond_plain_letters_is_shown_both_ways(host, other, hint):
    spelled, says = spell_otherwise(host)

    assert spelled == other
    assert hint in says


@given(st.text(max_size=80))
def test_no_host_is_too_odd_to_be_shown(host):
    spell_otherwise(host)
    spell_otherwise(f"xn--{host}.com")
