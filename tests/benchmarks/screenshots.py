"""Photographs the pages for moderators, wide and narrow, light and dark, over authored comments."""

import argparse
import itertools
import random
import re
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from playwright.sync_api import BrowserContext, sync_playwright

from models.registry import SHIPPED_DIR, load_version, read_current_name
from service.domain.case import CaseFilter, Order
from service.domain.comment import Comment, CommentId
from service.domain.dataset_row import comment_from_row
from service.ports.services import Services
from service.stores.files.model_versions import VersionRegistry, to_judging_model
from tests.benchmarks.own_service import authored
from tests.databases import fresh_stores
from tests.factories import NOW, SITE
from tests.fakes import make_services, make_site, submit_to
from tests.functional.filled import fill, page_addresses
from tests.functional.moderators import PASSWORD, make_app
from tests.functional.serving import serving

BROWSER_ARGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync"]
SIZES = {"1280": {"width": 1280, "height": 800}, "390": {"width": 390, "height": 844}}
DESK = re.compile(r"/review($|\?|/comments/|/campaigns/)")
# Beside the address of every page.
MORE = (
    "/docs",
    "/review?show=all",
    "/review?show=decided",
    "/review?show=held-as-spam",
    "/review?show=spam",
    "/review?site=nowhere",
    "/review/comments/gone",
    "/review/search?q=boiler+outcome:unsure",
)


def examples() -> list[Comment]:
    """Return some forty authored comments of the last hours."""
    rows, draw = authored(), random.Random(11)
    kinds = ("spliced", "sandwich", "obfuscated", "llm-remark-link", "own-project", "useful-link")
    picked = [row for kind in kinds for row in [r for r in rows if r["kind"] == kind][:3]]
    picked += rows[:24]
    picked += [r for r in rows if r["lang"] in {"ar", "fa", "ja", "he"}][:4]
    draw.shuffle(picked)
    return [dress(row, index) for index, row in enumerate(picked)]


def dress(row: dict[str, object], index: int) -> Comment:
    """Give an authored comment the site and the time of its arrival."""
    comment = comment_from_row(row)
    return replace(
        comment,
        id=CommentId(f"cmt_{index:04d}"),
        site_id=SITE,
        received_at=NOW - timedelta(minutes=3 + index * 7),
        post=replace(comment.post, url=f"https://blog.example/{row['post_id']}"),
    )


def seeded() -> Services:
    """Return services that judged comments with the current model and every detector."""
    model = to_judging_model(load_version(SHIPPED_DIR / read_current_name()))
    services = make_services(
        stores=fresh_stores(sites=[make_site()]),
        current_model=lambda: model,
        versions=VersionRegistry(lambda: SHIPPED_DIR),
        audit_share=0.3,
    )
    for comment in examples():
        services.clock.now = comment.received_at
        submit_to(services, comment)
    services.clock.now = NOW
    return services


def pages_of(services: Services) -> dict[str, str]:
    """Store something of every other kind; return the address of each page by its file's name."""
    everything = services.cases.page(CaseFilter(), order=Order.NEWEST, cursor=None, limit=500)
    # The most telling one: words marked on both sides of where it turns into an advertisement.
    best = max(
        (case for case in everything.items if case.needs_review and case.verdict),
        key=lambda case: sum(bool(w.signal.boundaries) for w in case.verdict.signals),
    )
    known = fill(services) | {"version_name": read_current_name()}
    addresses = [*page_addresses(make_app(services), known), *MORE]
    named = {re.sub(r"\W+", "-", one).strip("-"): one for one in addresses}
    return named | {"reasons": f"/review/comments/{best.comment.id}"}


def photograph(context: BrowserContext, out: Path, variant: str, pages: Mapping[str, str]) -> None:
    """Take every picture for one size and one colour scheme."""
    page = context.new_page()

    def shoot(name: str, *, whole: bool = False) -> None:
        page.screenshot(path=str(out / f"{name}-{variant}.png"), full_page=whole)

    page.goto("/sign-in")
    shoot("sign-in")
    page.fill("#name", "Mara")
    page.fill("#password", PASSWORD)
    page.locator("main form button").last.click()
    page.wait_for_url("**/review")
    for tick in page.locator(".tick").all()[:2]:
        tick.check()
    shoot("selection")
    for name, path in pages.items():
        page.goto(path)
        # The desk fills the window; other pages go on below its edge.
        shoot(name, whole=not DESK.match(path))
    page.evaluate("document.querySelector('.why').scrollIntoView()")
    shoot("reasons-below")
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
    options.out.mkdir(parents=True, exist_ok=True)
    services = seeded()
    pages = pages_of(services)
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
            photograph(context, options.out, f"{size}-{scheme}", pages)
            context.close()


if __name__ == "__main__":
    main()
