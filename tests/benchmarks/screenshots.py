"""Photographs the pages for moderators, wide and narrow, light and dark, over authored comments."""

from __future__ import annotations

import argparse
import itertools
import random
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from playwright.sync_api import BrowserContext, sync_playwright

from models.registry import SHIPPED_DIR, load_version, read_current_name
from service.domain.case import CaseFilter, Order
from service.domain.comment import Author, Comment, CommentId
from service.domain.dataset_row import comment_from_row
from service.domain.decision import ChosenBy, Mode, Ruling
from service.domain.list_entry import Effect, EntryKind
from service.domain.sender import make_sender
from service.domain.site import Site, SiteSettings
from service.moderation.accounts import add_user
from service.moderation.campaigns import GroupingMemory, group_fresh
from service.moderation.decisions import (
    decide_comment,
    decide_together,
    undo_bulk_decision,
    undo_decision,
)
from service.moderation.lists import NewEntry, add_entry
from service.ports.services import Services
from service.stores.files.model_versions import VersionShelf, to_judging_model
from tests.benchmarks.own_service import authored
from tests.databases import fresh_stores
from tests.factories import NOW, make_comment
from tests.fakes import make_services, submit_to
from tests.functional.moderators import PASSWORD, add_moderator, make_app
from tests.functional.serving import serving

BROWSER_ARGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync"]
NAME = "Ola Brandt"
SIZES = {"1280": {"width": 1280, "height": 800}, "390": {"width": 390, "height": 844}}
DESK = ("/review?", "/review/comments/", "/review/campaigns/")
PAGES = {
    "queue": "/review?",
    "all": "/review?show=all",
    "held-as-spam": "/review?show=held-as-spam",
    "spam": "/review?show=spam",
    "decided": "/review?show=decided",
    "empty": "/review?site=nowhere",
    "not-found": "/review/comments/gone",
    "password": "/password",
    "callbacks": "/callbacks",
    "campaigns": "/review/campaigns",
    "search": "/review/search?q=boiler+outcome:unsure",
    "bulk-decisions": "/review/strokes",
    "figures": "/figures",
    "lists": "/lists",
    "sites": "/sites",
    "site": "/sites/kettle",
    "accounts": "/accounts",
    "me": "/me",
    "docs": "/docs",
    "second-factor": "/me/second-factor",
    "models": "/models",
    "model-card": f"/models/versions/{read_current_name()}",
    "log": "/log",
    "personal-data": "/personal-data",
}
SHARE = 24
SITES = (
    Site(id="garden", name="The Allotment Diaries", created_at=NOW),
    Site(
        id="tools",
        name="Postgres & Patience",
        created_at=NOW,
        settings=SiteSettings(mode=Mode.ENFORCE),
    ),
    # Its wide cutoffs leave nearly everything to people.
    Site(
        id="kettle",
        name="Kettle & Crumb",
        created_at=NOW,
        settings=SiteSettings(ham_cutoff=0.001, spam_cutoff=0.9999),
    ),
)
ADVERTS = (
    "Boilerheim fitted our new boiler for half the price, order yours today: {link}",
    "Great post! Boilerheim sells cheap boilers with free delivery, order now: {link}",
    "Before you buy a boiler visit Boilerheim, best deals and a winter discount at {link}",
)


def examples() -> list[Comment]:
    """Return some forty authored comments, spread over two sites and the last three days."""
    rows, draw = authored(), random.Random(11)
    kinds = ("spliced", "sandwich", "obfuscated", "llm-remark-link", "own-project", "useful-link")
    picked = [row for kind in kinds for row in [r for r in rows if r["kind"] == kind][:3]]
    picked += rows[:SHARE]
    picked += [r for r in rows if r["lang"] in {"ar", "fa", "ja", "he"}][:4]
    draw.shuffle(picked)
    return [dress(row, index) for index, row in enumerate(picked)]


def dress(row: dict[str, object], index: int) -> Comment:
    """Give an authored comment a site and the time of its arrival."""
    comment, site = comment_from_row(row), SITES[index % 2]
    age = timedelta(days=max(0, index - SHARE) // 2, minutes=3 + index * 7)
    return replace(
        comment,
        id=CommentId(f"cmt_{index:04d}"),
        site_id=site.id,
        received_at=NOW - age,
        post=replace(comment.post, url=f"https://{site.id}.example/{row['post_id']}"),
    )


def adverts(services: Services) -> list[Comment]:
    """Return a dozen adverts of one campaign, by a few senders under many names."""
    made = []
    for number in range(12):
        link = f"https://{'get-' * (number % 2)}boilerheim.example/{number}"
        name = f"{'ABCDEF'[number % 6]}. Winter{number}"
        sender = make_sender(
            address=f"203.0.113.{number % 3}",
            email=f"winter{number % 4}@mail.example",
            name=name,
            secret=services.sender_secret,
        )
        made.append(
            make_comment(
                ADVERTS[number % len(ADVERTS)].format(link=link),
                id=CommentId(f"adv_{number:04d}"),
                site_id=SITES[2].id,
                received_at=NOW - timedelta(minutes=40 + 11 * number),
                author=Author(name=name, url=f"https://boilerheim.example/{number}"),
                sender=sender,
            )
        )
    return made


def seeded() -> Services:
    """Return services that judged comments with the current model and every detector."""
    model = to_judging_model(load_version(SHIPPED_DIR / read_current_name()))
    services = make_services(
        stores=fresh_stores(sites=SITES),
        current_model=lambda: model,
        versions=VersionShelf(lambda: SHIPPED_DIR),
        audit_share=0.3,
    )
    add_moderator(services, NAME)
    for comment in [*examples(), *adverts(services)]:
        services.clock.now = comment.received_at
        submit_to(services, comment)
    services.clock.now = NOW
    return services


def work(services: Services) -> str:
    """Do what people do besides deciding one comment; return the id of a campaign."""
    add_user("Mara Lindqvist", services, actor=NAME)
    group_fresh(services, GroupingMemory("script"), goes_on=lambda: True)
    services.search.index_due(limit=1_000)
    for kind, value, reason in (
        (EntryKind.DOMAIN, "example.net", "A campaign since November"),
        (EntryKind.PHRASE, "winter discount on boilers", "Only adverts say this"),
        (EntryKind.NETWORK, "198.51.100.0/24", "Rented machines"),
    ):
        add_entry(
            NewEntry(
                effect=Effect.BLOCK, kind=kind, value=value, reason=reason, site_id=SITES[0].id
            ),
            services,
            by="Mara Lindqvist",
        )
    old = [CommentId(f"cmt_{number:04d}") for number in range(34, 40)]
    bulk_decision = decide_together(
        old, Ruling.REJECT, services, decided_by=NAME, what=ChosenBy.SEARCH
    )
    undo_bulk_decision(bulk_decision.id, services, undone_by="Mara Lindqvist")
    decide_together(old[:4], Ruling.APPROVE, services, decided_by=NAME, what=ChosenBy.SELECTION)
    for number in range(30, 34):
        decide_comment(
            CommentId(f"cmt_{number:04d}"), Ruling.REJECT, services, decided_by="Mara Lindqvist"
        )
    undo_decision(CommentId("cmt_0030"), services, undone_by="Mara Lindqvist")
    [campaign, *_] = services.campaigns.page(
        site_ids=None, waiting_only=True, cursor=None, limit=1
    ).campaigns
    return campaign.id


def photograph(context: BrowserContext, out: Path, variant: str, pages: Mapping[str, str]) -> None:
    """Take every picture for one size and one colour scheme."""
    page = context.new_page()

    def shoot(name: str, *, whole: bool = False) -> None:
        page.screenshot(path=str(out / f"{name}-{variant}.png"), full_page=whole)

    page.goto("/sign-in")
    shoot("sign-in")
    page.fill("#name", NAME)
    page.fill("#password", PASSWORD)
    page.locator("main form button").last.click()
    page.wait_for_url("**/review")
    for tick in page.locator(".tick").all()[:2]:
        tick.check()
    shoot("selection")
    for name, path in pages.items():
        page.goto(path)
        # The desk fills the window; other pages go on below its edge.
        shoot(name, whole=not path.startswith(DESK))
    page.evaluate("document.querySelector('.why').scrollIntoView()")
    shoot("reasons")
    page.goto("/review/comments/adv_0003")
    shoot("advert")
    page.evaluate("document.querySelector('.sender').scrollIntoView()")
    shoot("sender-and-similar")
    page.locator("html[data-ready]").wait_for(state="attached")
    page.keyboard.press("?")
    page.locator("dialog.help").wait_for()
    shoot("help")
    page.close()


def main() -> None:
    """Seed, serve, photograph."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("var/screenshots"))
    parser.add_argument("--language", default="en", help="en or de")
    options = parser.parse_args()
    out: Path = options.out
    out.mkdir(parents=True, exist_ok=True)
    services = seeded()
    everything = services.cases.page(CaseFilter(), order=Order.NEWEST, cursor=None, limit=500)
    # The most telling one: words marked on both sides of where it turns into an advertisement.
    best = max(
        (case for case in everything.cases if case.needs_review and case.verdict),
        key=lambda case: sum(bool(w.signal.boundaries) for w in case.verdict.signals),
    )
    pages = {
        **PAGES,
        "campaign": f"/review/campaigns/{work(services)}",
        "comment": f"/review/comments/{best.comment.id}",
    }
    with (
        sync_playwright() as play,
        tempfile.TemporaryDirectory() as profile,
        serving(make_app(services)) as (host, port),
    ):
        for size, scheme in itertools.product(SIZES, ("light", "dark")):
            context = play.chromium.launch_persistent_context(
                f"{profile}/{size}-{scheme}",
                base_url=f"http://{host}:{port}",
                executable_path=shutil.which("chromium"),
                args=BROWSER_ARGS,
                viewport=SIZES[size],
                color_scheme=scheme,
                locale=options.language,
            )
            photograph(context, out, f"{size}-{scheme}", pages)
            context.close()


if __name__ == "__main__":
    main()
