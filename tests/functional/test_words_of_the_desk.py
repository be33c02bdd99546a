"""What a moderator reads first is one sentence; the reasons are folded below, without log-odds."""

from __future__ import annotations

import html
import re

import pytest

from service.domain.verdict import Span, WeighedSignal
from tests.factories import make_comment, make_signal
from tests.functional.moderators import keep

REMARK = "Venting the far end first saved me an afternoon, thank you. "
ADVERT = "Visit https://cheap-boilers.example/now today."


def seam(contribution=2.0):
    signal = make_signal(
        name="abrupt_shift",
        reason="turns into an advertisement",
        spans=(Span(start=len(REMARK), end=len(REMARK + ADVERT)),),
        boundaries=(len(REMARK),),
    )
    return WeighedSignal(signal=signal, weight=contribution, contribution=contribution)


def known(name, contribution):
    signal = make_signal(name=name, reason="moderators ruled before", spans=())
    return WeighedSignal(signal=signal, weight=contribution, contribution=contribution)


@pytest.mark.parametrize(
    ("text", "p_spam", "signal", "says"),
    [
        (
            REMARK + ADVERT,
            0.97,
            seam(),
            "A remark, then an advertisement for cheap-boilers.example.",
        ),
        (
            REMARK + ADVERT,
            0.3,
            seam(),
            "A remark; what follows may be an advertisement for cheap-boilers.example.",
        ),
        (
            REMARK + ADVERT,
            0.04,
            seam(),
            "Reads like a sincere remark; it links to cheap-boilers.example.",
        ),
        (ADVERT, 0.97, None, "Reads like an advertisement for cheap-boilers.example."),
        ("Buy boilers", 0.3, None, "It could be sincere or an advertisement."),
        (
            REMARK,
            0.97,
            known("rejected_person_before", 4.0),
            "What is known of its sender or its links suggests spam.",
        ),
        (
            REMARK,
            0.97,
            known("throwaway_mail", 4.0),
            "What is known of its sender or its links suggests spam.",
        ),
        (
            REMARK,
            0.04,
            known("approved_person_before", -4.0),
            "What is known of its sender suggests a sincere remark.",
        ),
    ],
)
def test_the_first_sentence_says_what_the_comment_looks_like(
    services, client, text, p_spam, signal, says
):
    signals = (signal,) if signal else ()
    comment = keep(services, make_comment(text), p_spam=p_spam, signals=signals)

    page = client.get(f"/review/comments/{comment.id}").text

    [found] = re.findall(r'<p class="meaning">(.*?)</p>', page, re.DOTALL)
    assert html.unescape(re.sub(r"<[^>]+>", "", found)) == says
