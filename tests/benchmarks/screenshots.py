"""Photographs the pages for moderators, wide and narrow, light and dark, over authored comments."""

from __future__ import annotations

import argparse
import json
import random
import shutil
import tempfile
import threading
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

from playwright.sync_api import BrowserContext, Page, sync_playwright
from waitress.server import create_server

from models.registry import SHIPPED_DIR, load_version, read_current_name
from service.domain.case import Case, CaseFilter, Order
from service.domain.comment import Author, Comment, CommentId
from service.domain.dataset_row import comment_from_row
from service.domain.decision import ChosenBy, Mode, Ruling
from service.domain.list_entry import Effect, EntryKind
from service.domain.sender import make_sender
from service.domain.site import Site, SiteSettings
from service.domain.verdict import Outcome
from service.moderation.accounts import add_user, change_password
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
from service.web.app import create_app
from service.web.edge.config import WebConfig
from tests.databases import fresh_stores
from tests.factories import NOW, make_comment
from tests.fakes import make_services, submit_to

DATA = Path(__file__).resolve().parents[2] / "data"
BROWSER_ARGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip
PASSWORD = "a few words do well"  # opens nothing but this script's own server
SIZES = {"1280": {"width": 1280, "height": 800}, "390": {"width": 390, "height": 844}}
DESK = {
    "queue": "/review",
    "held-as-spam": "/review?show=held-as-spam",
    "spam": "/review?show=spam",
    "decided": "/review?show=decided",
    "empty": "/review?site=nowhere",
}
# Pages that go on below the window's edge; photographed whole.
LEAVES = {
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
SEED = 11
SENDER_SECRET = b"a secret for tests, long enough"  # that of the services for tests
SHARE = 24
SITES = (
    Site(id="garden", name="The Allotment Diaries", created_at=NOW),
    Site(
        id="tools",
        name="Postgres & Patience",
        created_at=NOW,
        settings=SiteSettings(mode=Mode.ENFORCE),
    ),
)
# Its wide cutoffs leave nearly everything to people.
KETTLE = Site(
    id="kettle",
    name="Kettle & Crumb",
    created_at=NOW,
    settings=SiteSettings(ham_cutoff=0.001, spam_cutoff=0.9999),
)
ADVERTS = (
    "Boilerheim fitted our new boiler for half the price, order yours today: {link}",
    "Great post! Boilerheim sells cheap boilers with free delivery, order now: {link}",
    "Before you buy a boiler visit Boilerheim, best deals and a winter discount at {link}",
)


def authored() -> list[Comment]:
    """Return some forty authored comments, spread over two sites and the last three days."""
    rows = [
        json.loads(line)
        for path in sorted(DATA.glob("authored-*.jsonl"))
        for line in path.read_text(encoding="utf-8").splitlines()
    ]
    draw = random.Random(SEED)  # a repeatable choice, no secret
    kinds = ("spliced", "sandwich", "obfuscated", "llm-remark-link", "own-project", "useful-link")
    picked = [
        row for kind in kinds for row in draw.sample([r for r in rows if r["kind"] == kind], 3)
    ]
    picked += draw.sample(rows, SHARE)
    picked += draw.sample([r for r in rows if r["lang"] in {"ar", "fa", "ja", "he"}], 4)
    draw.shuffle(picked)
    return [dress(row, index, draw) for index, row in enumerate(picked)]


def dress(row: dict[str, object], index: int, draw: random.Random) -> Comment:
    """Give an authored comment a site and the time of its arrival."""
    comment = comment_from_row(row)
    site = SITES[index % len(SITES)]
    days = max(0, index - SHARE) // 2
    at = NOW - timedelta(days=days, minutes=3 + index * 7 + draw.randrange(6))
    url = f"https://{site.id}.example/{row['post_id']}"
    return replace(
        comment,
        id=CommentId(f"cmt_{index:04d}"),
        site_id=site.id,
        received_at=at,
        post=replace(comment.post, url=url),
    )


def adverts() -> list[Comment]:
    """Return a dozen adverts of one campaign, by a few senders under many names."""
    made = []
    for number in range(12):
        link = f"https://{'get-' * (number % 2)}boilerheim.example/{number}"
        name = f"{'ABCDEF'[number % 6]}. Winter{number}"
        sender = make_sender(
            address=f"203.0.113.{number % 3}",
            email=f"winter{number % 4}@mail.example",
            name=name,
            secret=SENDER_SECRET,
        )
        made.append(
            make_comment(
                ADVERTS[number % len(ADVERTS)].format(link=link),
                id=CommentId(f"adv_{number:04d}"),
                site_id=KETTLE.id,
                received_at=NOW - timedelta(minutes=40 + 11 * number),
                author=Author(name=name, url=f"https://boilerheim.example/{number}"),
                sender=sender,
            )
        )
    return made


def seeded(comments: list[Comment], models_dir: Path | None) -> Services:
    """Return services that judged the comments with the current model and every detector."""
    model = to_judging_model(
        load_version((models_dir or SHIPPED_DIR) / read_current_name(models_dir))
    )
    services = make_services(
        stores=fresh_stores(sites=(*SITES, KETTLE)),
        current_model=lambda: model,
        versions=VersionShelf(lambda: models_dir or SHIPPED_DIR),
        audit_share=0.3,
    )
    user, once = add_user("Ola Brandt", services, actor="script")
    change_password(user, services, old=once, new=PASSWORD)
    for comment in comments:
        at: datetime = comment.received_at
        services.clock.now = at
        submit_to(services, comment)
    services.clock.now = NOW
    return services


def work(services: Services) -> str:
    """Do what people do besides deciding one comment; return the id of a campaign."""
    add_user("Mara Lindqvist", services, actor="Ola Brandt")
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
        old, Ruling.REJECT, services, decided_by="Ola Brandt", what=ChosenBy.SEARCH
    )
    undo_bulk_decision(bulk_decision.id, services, undone_by="Mara Lindqvist")
    decide_together(
        old[:4], Ruling.APPROVE, services, decided_by="Ola Brandt", what=ChosenBy.SELECTION
    )
    [campaign, *_] = services.campaigns.page(
        site_ids=None, waiting_only=True, cursor=None, limit=1
    ).campaigns
    return campaign.id


def how_telling(case: Case) -> int:
    """Return how much of what the page can show is shown by this comment."""
    assert case.verdict is not None
    signals = [w for w in case.verdict.signals if w.signal.spans and w.contribution]
    turns = any(w.signal.boundaries for w in case.verdict.signals)
    unsure = case.verdict.outcome is Outcome.UNSURE
    return len(signals) + 2 * bool(case.verdict.promo_spans) + 4 * turns + 3 * unsure


def serve(services: Services) -> tuple[str, object]:
    """Start a server on a free port; return its address and the server."""
    app = create_app(services, WebConfig(secret_key="only for pictures " * 3), checks={})
    server = create_server(app, host="127.0.0.1", port=0, threads=4)
    threading.Thread(target=server.run, daemon=True).start()
    return f"http://127.0.0.1:{server.effective_port}", server


def sign_in(page: Page, address: str) -> None:
    """Sign in and land on the review page."""
    page.goto(f"{address}/sign-in")
    page.fill("#name", "Ola Brandt")
    page.fill("#password", PASSWORD)
    page.locator("main form button").last.click()
    page.wait_for_url("**/review")


def photograph(
    context: BrowserContext, address: str, out: Path, variant: str, comment_id: str, campaign: str
) -> None:
    """Take every picture for one size and one colour scheme."""
    page = context.new_page()

    def shoot(name: str, *, whole: bool = False) -> None:
        page.screenshot(path=str(out / f"{name}-{variant}.png"), full_page=whole)

    page.goto(f"{address}/sign-in")
    shoot("sign-in")
    sign_in(page, address)
    for name, path in DESK.items():
        page.goto(f"{address}{path}")
        shoot(name)
    for name, path in LEAVES.items():
        page.goto(f"{address}{path}")
        shoot(name, whole=True)
    # Its buttons stay at the window's edge.
    page.goto(f"{address}/review/campaigns/{campaign}")
    shoot("campaign")
    page.goto(f"{address}/review")
    for tick in page.locator(".tick").all()[:2]:
        tick.check()
    shoot("selection")
    page.goto(f"{address}/review/comments/adv_0003")
    shoot("advert")
    page.evaluate("document.querySelector('.sender').scrollIntoView()")
    shoot("sender-and-similar")
    page.goto(f"{address}/review?show=all")
    shoot("all")
    page.goto(f"{address}/review/comments/{comment_id}")
    shoot("comment")
    page.locator(".facts").scroll_into_view_if_needed()
    page.evaluate("document.querySelector('.why').scrollIntoView()")
    shoot("reasons")
    page.locator("html[data-ready]").wait_for(state="attached")
    page.keyboard.press("?")
    page.locator("dialog.help").wait_for()
    shoot("help")
    page.close()


def main() -> None:
    """Seed, serve, photograph."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("var/screenshots"))
    parser.add_argument("--models", type=Path, help="another folder of model versions")
    parser.add_argument("--language", default="en", help="en or de")
    options = parser.parse_args()
    out: Path = options.out
    out.mkdir(parents=True, exist_ok=True)
    services = seeded([*authored(), *adverts()], options.models)
    address, server = serve(services)
    everything = services.cases.page(CaseFilter(), order=Order.NEWEST, cursor=None, limit=500)
    cases = everything.cases
    for case in cases[30:34]:
        decide_comment(case.comment.id, Ruling.REJECT, services, decided_by="Mara")
    undo_decision(cases[30].comment.id, services, undone_by="Mara")
    campaign = work(services)
    best = max((case for case in cases if case.needs_review), key=how_telling)
    with sync_playwright() as play, tempfile.TemporaryDirectory() as profile:
        for size, viewport in SIZES.items():
            for scheme in ("light", "dark"):
                context = play.chromium.launch_persistent_context(
                    f"{profile}/{size}-{scheme}",
                    executable_path=shutil.which("chromium"),
                    args=BROWSER_ARGS,
                    viewport=viewport,
                    color_scheme=scheme,
                    locale=options.language,
                )
                photograph(context, address, out, f"{size}-{scheme}", best.comment.id, campaign)
                context.close()
    server.close()


if __name__ == "__main__":
    main()
