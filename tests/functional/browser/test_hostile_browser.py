"""Whatever strangers write, a real browser runs none of it and the page keeps its shape."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta

import pytest

from service.campaigns.traits import Traits
from service.domain.bulk_decision import ChosenBy
from service.domain.comment import Author, Lane, Post, Sender
from service.domain.decision import Decision, Ruling
from service.domain.list_entry import Effect, EntryKind, ListEntry
from service.domain.verdict import Outcome
from service.moderation.review.bulk_decisions import decide_together
from service.ports.audit import AuditEntry
from service.ports.comments import NewComment
from tests.factories import NOW, SITE, make_comment, make_verdict
from tests.fakes import make_site
from tests.functional.hostile import HOSTILE, hostile_comment
from tests.functional.moderators import keep
from tests.functional.test_campaign_pages import join

_WIDTHS = (1280, 390)
# What fits into one comment together with others; the longer ones stand alone.
_SHORT_CHARS = 400
_SHORT_ONES_A_COMMENT = 6
_FURTHER = re.compile(r"^(Next page|Older)$")


def _groups():
    """Return all that is hostile in lots that make one comment each."""
    short = [text for text in HOSTILE.values() if len(text) <= _SHORT_CHARS]
    size = _SHORT_ONES_A_COMMENT
    lots = [short[start : start + size] for start in range(0, len(short), size)]
    return lots + [[text] * 3 for text in HOSTILE.values() if len(text) > _SHORT_CHARS]


def _keep_campaign(services, lot, number):
    """Keep a sender's campaign of hostile comments; return its id and that of one that says all."""
    text = "\n\n".join(dict.fromkeys(lot))[:65_536]
    told = replace(
        hostile_comment(text),
        author=Author(name=lot[0][:300], url=lot[1][:2_048], account_id=lot[-1][:100]),
        post=Post(title=lot[2][:500], url=lot[-1][:2_048], excerpt=lot[0][:4_000]),
    )
    keys = Sender(email_key=f"{number:064x}", email_domain=lot[0][:200])
    ids = []
    for one in [told, *map(hostile_comment, lot)]:
        at = NOW - timedelta(hours=number)
        comment = replace(one, sender=keys, received_at=at)
        services.intake.comments.add([NewComment(comment=comment, lane=Lane.BULK)])
        traits = Traits(
            comment_id=comment.id,
            embedding=None,
            space="test-1",
            targets=frozenset([f"site:{lot[0][:120]}"]),
            copies=(),
        )
        services.judging.verdicts.add(
            [make_verdict(comment.id)], audit=frozenset(), traits=[traits]
        )
        ids.append(comment.id)
    return join(services, ids), told.id


def _keep_names(services):
    """Let sites, moderators, model versions, list entries and acts have hostile names."""
    for number, text in enumerate(HOSTILE.values()):
        name = f"{text[:190]} {number}"
        # No form and no store takes a site's name that is no text.
        site_name = name.encode("utf-8", "replace").decode()
        services.common.sites.add(make_site(id=f"odd-{number}", name=site_name))
        comment = keep(
            services,
            make_comment(site_id=f"odd-{number}"),
            Outcome.SPAM,
            audit=True,
            model_version=name,
        )
        services.review.decisions.add(
            Decision(
                id=f"odd_{number}",
                comment_id=comment.id,
                ruling=Ruling.APPROVE,
                decided_by=f"site: {name}",
                decided_at=NOW,
            )
        )
        services.common.audit_log.append(
            AuditEntry(at=NOW, actor=name, act="approve", subject=name, detail=name)
        )
        # By itself: what adding one looks through takes long on comments like these.
        entry = ListEntry(
            id=f"entry-{number}",
            site_id=SITE,
            effect=Effect.BLOCK,
            kind=EntryKind.PHRASE,
            label=name,
            keys=(f"phrase {number}",),
            reason=name,
            added_by=name,
            added_at=NOW,
        )
        services.reputation.list_entries.add([entry])


def _too_wide(page, widths=_WIDTHS):
    """Return the widths at which the page, all of it unfolded, scrolls sideways."""
    page.evaluate("document.querySelectorAll('main details').forEach(d => { d.open = true; })")
    found = []
    for width in widths:
        page.set_viewport_size({"width": width, "height": 800})
        if page.evaluate("document.documentElement.scrollWidth") > width:
            found.append(width)
    return found


def test_there_are_at_least_sixty_hostile_comments():
    assert len(HOSTILE) >= 60


def test_no_hostile_comment_runs_or_breaks_the_layout(services, open_page):
    lots = _groups()
    kept = [_keep_campaign(services, lot, number) for number, lot in enumerate(lots)]
    watched = open_page()
    page = watched.page
    found = []

    for _, comment_id in kept:
        page.goto(f"/review/comments/{comment_id}?show=ham")
        assert page.locator(".sender .last li, .similar li").count() >= 4
        found += [(comment_id, width) for width in _too_wide(page)]
        # What decides must stay in reach, whatever stands above it.
        assert page.get_by_role("button", name="Reject").first.is_visible(), comment_id

    assert {text for lot in lots for text in lot} == set(HOSTILE.values())
    assert found == []
    assert watched.complaints == []


def test_no_page_that_shows_hostile_words_runs_them_or_breaks(services, open_page):
    kept = [_keep_campaign(services, lot, number) for number, lot in enumerate(_groups()[:3])]
    campaign_id, _ = _keep_campaign(services, list(HOSTILE.values()), len(kept))
    services.review.search.index_due(limit=1_000)
    for number, (_, comment_id) in enumerate(kept):
        by = list(HOSTILE.values())[number]
        decide_together(
            [comment_id], Ruling.REJECT, services, decided_by=by, what=ChosenBy.SELECTION
        )
    _keep_names(services)
    watched = open_page()
    page = watched.page
    found = []

    for address in (
        "/review",
        "/review/search?q=outcome:unsure",
        "/review/search?q=%3Cscript%3E+outcome:unsure+author:%22%3Csvg%22",
        "/review/campaigns",
        f"/review/campaigns/{campaign_id}",
        "/review/strokes",
        "/lists",
        "/log",
        "/figures",
        "/models",
        "/sites",
        "/personal-data",
        "/accounts",
        "/callbacks",
    ):
        while address:
            page.goto(address)
            found += [(address, width) for width in _too_wide(page)]
            further = page.get_by_role("link", name=_FURTHER)
            address = further.get_attribute("href") if further.count() else None

    assert found == []
    assert watched.complaints == []


@pytest.mark.parametrize("width", _WIDTHS)
def test_a_list_of_hostile_comments_keeps_its_shape(services, open_page, width):
    for text in HOSTILE.values():
        told = replace(
            hostile_comment(text), author=Author(name=text[:300]), post=Post(title=text[:500])
        )
        keep(services, told)
    unseen = "\u200b\u200c\u200d\u2060\u202e" * 60
    keep(services, make_comment(unseen, author=Author(name=unseen), post=Post(title=unseen)))
    keep(services, make_comment("a\u202eb" * 50, author=Author(name="a\u202eb" * 50)))
    watched = open_page(viewport={"width": width, "height": 800})
    page = watched.page

    page.goto("/review")

    assert page.evaluate("document.documentElement.scrollWidth") <= width
    tallest = page.evaluate(
        "Math.max(...[...document.querySelectorAll('.row')].map(r => r.offsetHeight))"
    )
    # Two or four lines of words between a name and a title.
    assert 0 < tallest < (130 if width > 860 else 175)
    assert watched.complaints == []
