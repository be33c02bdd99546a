"""axe-core finds nothing to complain of on any page, in either theme, wide or narrow."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from service.domain.bulk_decision import ChosenBy
from service.domain.claim import Claim
from service.domain.comment import Author, CommentId, Sender
from service.domain.decision import Ruling
from service.domain.list_entry import Effect, EntryKind
from service.domain.retraining import RetrainingState
from service.domain.user import User
from service.domain.verdict import Outcome, Span
from service.moderation.admin.site_lists import NewEntry, add_entry
from service.moderation.review.bulk_decisions import decide_together
from service.moderation.review.decide import decide_comment
from service.ports.services import Services
from tests.factories import SITE, make_comment
from tests.fakes import make_services
from tests.functional.browser.axe import broken_rules
from tests.functional.moderators import add_moderator, keep, make_app
from tests.functional.test_campaign_pages import keep_campaign
from tests.functional.test_models_page import retrained
from tests.runs import REPORT

# Answers that are no pages: downloads, streams, parts.
_NO_PAGES = frozenset(
    {
        "pages.home",
        "pages.stats_json",
        "pages.export_log",
        "pages.counts",
        "pages.ahead",
        "pages.last",
        "pages.rows",
        "pages.search_export",
        "pages.cutoff_preview",
        "pages.models_progress",
    }
)
_OPEN = ("/sign-in",)


def _fill(services: Services) -> dict[str, str]:
    """Keep something of each kind; return what stands for the variable parts of addresses."""
    add_moderator(services, "Mara")
    mara = services.accounts.users.find("Mara")
    assert mara is not None
    keep(services, make_comment("Thank you, that worked."), Outcome.HAM)
    keep(services, make_comment("Cheap loans https://loans.example"), Outcome.SPAM, audit=True)
    campaign_id, members = keep_campaign(services, 6, author=Author(name="Bo"))
    decide_comment(members[0], Ruling.REJECT, services, decided_by="Mara", note="As before")
    decide_together(
        members[1:3], Ruling.REJECT, services, decided_by="Ola", what=ChosenBy.SELECTION
    )
    _claim(services, members[4], mara)
    text = "Lovely post! \u200b See https://b\u0430nk.example/x for cheap boilers."
    keys = Sender(email_key="0" * 64, name_key="1" * 64, email_domain="mail.example")
    for number in range(2):
        comment = keep(
            services,
            make_comment(
                f"{text} {number}",
                author=Author(name="Bo", url="https://bo.example"),
                sender=keys,
            ),
            promo_spans=(Span(start=20, end=45),),
            degraded_by=("history",),
        )
    asked = make_comment("How long does it take?", site_comment_id="asked")
    answer = make_comment("About a day, see https://taps.example.", reply_to="asked")
    for one in (asked, answer):
        keep(services, one)
    services.review.search.index_due(limit=100)
    _block(services)
    _retrain(services, comment.id)
    return {
        "comment_id": comment.id,
        "campaign_id": campaign_id,
        "site_id": SITE,
        "version_name": "test-1",
        "user_id": mara.id,
        "of_the_campaign": members[3],
        "claimed": members[4],
        "decided": members[0],
        "answers": answer.id,
    }


def _claim(services: Services, comment_id: CommentId, user: User) -> None:
    """Let somebody else look at a comment."""
    now = services.common.clock()
    services.review.claims.take(
        Claim(
            comment_id=comment_id,
            user_id=user.id,
            user_name=user.name,
            since=now,
            until=now + timedelta(minutes=5),
        )
    )


def _block(services: Services) -> None:
    """Block a phrase."""
    entry = NewEntry(
        effect=Effect.BLOCK,
        kind=EntryKind.PHRASE,
        value="cheap boilers",
        reason="A flood of them",
        site_id=SITE,
    )
    add_entry(entry, services, by="Mara")


def _retrain(services: Services, lost: CommentId) -> None:
    """Let one retraining wait for an owner and another one run."""
    services.learning.retrainings.put(
        retrained("rtr_1", report=replace(REPORT, newly_lost=(lost, "another")))
    )
    services.learning.retrainings.put(
        retrained(
            "rtr_2",
            state=RetrainingState.RUNNING,
            report=None,
            seen_at=services.common.clock(),
            step="fine-tune",
            share_done=0.4,
        )
    )


def _addresses(known: dict[str, str]) -> list[str]:
    """Return the address of every page for moderators; fails where one is not known."""
    rules = [
        rule
        for rule in make_app(make_services()).url_map.iter_rules()
        if rule.endpoint.startswith("pages.")
        and "GET" in (rule.methods or set())
        and rule.endpoint not in _NO_PAGES
    ]
    return sorted(rule.build(known, append_unknown=False)[1] for rule in rules)


# A narrow page is looked at once more at 640, a screen of 1280 zoomed to 200 %.
@pytest.mark.parametrize("width", [390, 1280])
def test_no_page_breaks_a_rule_of_accessibility(services, open_page, width):
    known = _fill(services)
    # The addresses that show what no page shows by itself, and what that is.
    telling = {
        "/review": ".campaign-strip",
        "/review?show=decided": ".stamp",
        f"/review/comments/{known['comment_id']}": ".sender",
        f"/review/comments/{known['of_the_campaign']}": ".similar",
        f"/review/comments/{known['claimed']}": ".claimed",
        f"/review/comments/{known['decided']}": ".note",
        f"/review/comments/{known['answers']}": ".thread",
        "/review/search?q=boilers": ".found .row",
        "/lists?show=allow": "#new",
        "/models": "main:has(.checks) section:has(#retrainings) progress",
    }
    watched = open_page(viewport={"width": width, "height": 900})
    page = watched.page
    found = []

    for address in dict.fromkeys([*_addresses(known), *telling, *_OPEN]):
        answer = page.goto(address)
        assert answer.ok, address
        assert page.locator(telling.get(address, "h1")).count(), address
        page.evaluate("document.querySelectorAll('main details').forEach(d => { d.open = true; })")
        found += [(address, *broken) for broken in broken_rules(page)]
        if width == 390:
            page.set_viewport_size({"width": 640, "height": 900})
            found += [(address, *broken) for broken in broken_rules(page, schemes=["light"])]
            page.set_viewport_size({"width": 390, "height": 900})

    assert found == []
    assert watched.complaints == []


def test_the_help_sheet_and_the_open_menus_break_no_rule(services, open_page):
    _fill(services)
    page = open_page().page

    page.get_by_text("More", exact=True).click()
    menu = broken_rules(page)
    page.evaluate("document.querySelector('dialog.help').showModal()")
    sheet = broken_rules(page)

    assert menu + sheet == []


def test_what_breaks_a_rule_in_one_theme_alone_is_found(browser):
    page = browser.new_page()
    page.set_content(
        """<!doctype html><html lang="en"><title>A page</title><style>
        body { background: #fff; color: #000 }
        @media (prefers-color-scheme: dark) { p { color: #ddd } }
        @media (prefers-color-scheme: light) { b { color: #ddd } }
        </style><main><h1>Words</h1><p>Dark.</p><b>Light.</b></main></html>"""
    )

    found = broken_rules(page)

    page.close()
    assert found == [
        ("light", "color-contrast", ["<b>Light.</b>"]),
        ("dark", "color-contrast", ["<p>Dark.</p>"]),
    ]
