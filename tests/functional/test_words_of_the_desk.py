"""What a moderator reads first is one sentence; the reasons are folded below, without log-odds."""

from __future__ import annotations

import html
import re

import pytest

from service.domain.list_entry import Effect, EntryKind, Instruction
from service.domain.verdict import Outcome, Span, WeighedSignal
from tests.factories import make_comment, make_signal
from tests.fakes import make_services
from tests.functional.moderators import keep, signed_in

REMARK = "Venting the far end first saved me an afternoon, thank you. "
ADVERT = "Visit https://cheap-boilers.example/now today."


@pytest.fixture
def services():
    return make_services()


@pytest.fixture
def client(services):
    return signed_in(services)


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


def meaning(client, comment):
    page = client.get(f"/review/comments/{comment.id}").text
    [found] = re.findall(r'<p class="meaning">(.*?)</p>', page, re.DOTALL)
    return html.unescape(re.sub(r"<[^>]+>", "", found))


@pytest.mark.parametrize(
    ("text", "p_spam", "signals", "says"),
    [
        (
            REMARK + ADVERT,
            0.97,
            (seam(),),
            "A remark, then an advertisement for cheap-boilers.example.",
        ),
        (
            REMARK + ADVERT,
            0.3,
            (seam(),),
            "A remark; what follows may be an advertisement for cheap-boilers.example.",
        ),
        (
            REMARK + ADVERT,
            0.04,
            (seam(),),
            "Reads like a sincere remark; it links to cheap-boilers.example.",
        ),
        (ADVERT, 0.97, (), "Reads like an advertisement for cheap-boilers.example."),
        ("Buy boilers", 0.97, (), "Reads like an advertisement."),
        ("Buy boilers", 0.6, (), "It could be sincere or an advertisement."),
        ("Buy boilers", 0.3, (), "It could be sincere or an advertisement."),
        (REMARK, 0.04, (), "Reads like a sincere remark."),
        (
            REMARK,
            0.97,
            (known("rejected_person_before", 4.0),),
            "What is known of its sender or its links suggests spam.",
        ),
        (
            REMARK,
            0.04,
            (known("approved_person_before", -4.0),),
            "What is known of its sender suggests a sincere remark.",
        ),
    ],
)
def test_the_first_sentence_says_what_the_comment_looks_like(
    services, client, text, p_spam, signals, says
):
    comment = keep(services, make_comment(text), p_spam=p_spam, signals=signals)

    assert meaning(client, comment) == says


def test_a_remark_after_an_advertisement_is_not_told_the_other_way_round(services, client):
    signal = make_signal(
        name="abrupt_shift", spans=(Span(start=0, end=len(ADVERT)),), boundaries=(len(ADVERT),)
    )
    weighed = WeighedSignal(signal=signal, weight=2.0, contribution=2.0)
    comment = keep(services, make_comment(f"{ADVERT} {REMARK}"), p_spam=0.97, signals=(weighed,))

    assert meaning(client, comment) == "Reads like an advertisement for cheap-boilers.example."


def test_the_host_in_the_sentence_stays_a_strangers_words(services, client):
    comment = keep(services, make_comment("See https://b\u0430nk.example/x now"), p_spam=0.97)

    page = client.get(f"/review/comments/{comment.id}").text

    sentence = re.search(r'<p class="meaning">(.*?)</p>', page)[1]
    assert 'class="host' in sentence
    assert "<a" not in sentence


def test_the_reasons_are_folded_and_speak_without_log_odds(services, client):
    signals = (seam(2.4), known("sender_burst", 1.0), known("reference_link", -0.3))
    comment = keep(services, make_comment(REMARK + ADVERT), p_spam=0.97, signals=signals)

    page = client.get(f"/review/comments/{comment.id}").text

    folded = re.search(r'<details class="reasons">(.*?)</details>', page, re.DOTALL)[1]
    for side in ("strongly for spam", ">for spam<", "a little for ham"):
        assert side in folded
    assert "log-odds" not in page
    assert not re.search(r"[+\u2212]\d+\.\d\d", page)
    assert page.index('class="meaning"') < page.index('class="reasons"')


def test_what_a_list_decided_is_not_explained_by_the_cutoffs(services, client):
    instruction = Instruction(
        entry_id="ent_1",
        effect=Effect.BLOCK,
        kind=EntryKind.PHRASE,
        label="cheap boilers",
        reason="A flood",
    )
    comment = keep(services, outcome=Outcome.SPAM, p_spam=0.3, instruction=instruction)

    page = client.get(f"/review/comments/{comment.id}").text

    assert "Decided by the block list." in page
    assert not re.search("Called (ham|spam): |Left to a person: ", page)
