"""Clears a queue of 100 unsure comments by keys in a real browser, one by one and by campaigns.

    python -m tests.benchmarks.clearing_time

Forty comments are authored ones, half of them ham; sixty are of three campaigns of twenty, whose
words, links and names vary. The script knows every label, so that nothing is measured of how long
a person thinks: keys, and the seconds until the page shows what comes next. Verdicts and campaigns
are the shipped version's; the site's cutoffs make every comment unsure.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import tempfile
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from models.registry import load_current
from service.domain.case import CaseFilter
from service.domain.comment import Author, Comment, CommentId, Lane, Post
from service.domain.decision import Ruling
from service.domain.record import comment_from_record
from service.domain.site import SiteSettings
from service.moderation.intake.submit import submit_comments
from service.moderation.judging.group import GroupingMemory, group_fresh
from service.ports.comments import NewComment
from service.ports.services import Services
from service.stores.files.model_versions import to_judging_model
from service.stores.memory.stores import memory_stores
from tests.benchmarks.screenshots import BROWSER_ARGS
from tests.factories import NOW, make_comment
from tests.fakes import make_services, make_site
from tests.functional.moderators import PASSWORD, add_moderator, make_app
from tests.functional.serving import serving

DATA = Path(__file__).resolve().parents[2] / "data"
_REMARKS = (
    "Really helpful post about {post}.",
    "I had the same question about {post} last week.",
    "Thanks for writing this up, {post} always confused me.",
    "Great read, sharing this with my brother.",
    "This is the clearest explanation of {post} I found.",
)
_ADVERTS = {
    "Boilerheim": (
        "If you need a new boiler, Boilerheim fitted ours for half the price: {link}",
        "We ended up ordering from Boilerheim and saved a lot, see {link}",
        "Look at Boilerheim before you buy anything, {link} has a winter discount.",
    ),
    "Cointhrive": (
        "Cointhrive turned my 250 into 3,900 within a month, details at {link}",
        "My advisor at Cointhrive explained it all, write to them via {link}",
        "Nobody talks about Cointhrive, but the returns are real: {link}",
    ),
    "Slimvera": (
        "Slimvera helped me lose nine kilos without a diet, order at {link}",
        "Since I take Slimvera my knees do not hurt any more {link}",
        "The Slimvera drops are sold out everywhere, here they have some: {link}",
    ),
}
_HOSTS = ("get-{brand}.example", "{brand}-shop.example", "best{brand}.example", "{brand}.example")
_POSTS = ("Bleeding a radiator", "Sourdough for beginners", "A year with a cargo bike")


def make_comments(seed: int = 8) -> Iterator[tuple[Comment, bool]]:
    """Yield a hundred comments with their labels, True for spam, in the order they come in."""
    draw = random.Random(seed)
    rows = [
        json.loads(line)
        for path in sorted(DATA.glob("authored-*.jsonl"))
        for line in path.read_text(encoding="utf-8").splitlines()
    ]
    alone = [row for row in rows if row["campaign"] is None and row["lang"] == "en"]
    labelled = [
        (comment_from_record(row), row["label"] == "spam")
        for label in ("spam", "ham")
        for row in draw.sample([row for row in alone if row["label"] == label], 20)
    ]
    labelled += [(_advertise(brand, draw), True) for brand in _ADVERTS for _ in range(20)]
    draw.shuffle(labelled)
    for number, (comment, is_spam) in enumerate(labelled):
        yield (
            make_comment(
                comment.text,
                id=CommentId(f"com_{number:04d}"),
                author=comment.author,
                post=comment.post,
                received_at=NOW - timedelta(minutes=200 - number),
            ),
            is_spam,
        )


def _advertise(brand: str, draw: random.Random) -> Comment:
    post = draw.choice(_POSTS)
    host = draw.choice(_HOSTS).format(brand=brand.lower())
    link = f"https://{host}/{draw.randrange(1_000)}"
    remark = draw.choice(_REMARKS).format(post=post.lower())
    return make_comment(
        f"{remark} {draw.choice(_ADVERTS[brand]).format(link=link)}",
        author=Author(name=f"{draw.choice('ABCDEFGH')}{draw.randrange(90)}"),
        post=Post(title=post),
    )


def fill(models_dir: Path | None = None) -> tuple[Services, dict[str, bool]]:
    """Return services in which the comments wait, grouped, and the label of each."""
    model = to_judging_model(load_current(models_dir))
    site = make_site(settings=SiteSettings(ham_cutoff=0.0, spam_cutoff=1.0))
    services = make_services(stores=memory_stores(sites=[site]), current_model=lambda: model)
    add_moderator(services)
    labels = {}
    for comment, is_spam in make_comments():
        labels[str(comment.id)] = is_spam
        submit_comments([NewComment(comment=comment, lane=Lane.BULK)], services)
    group_fresh(services, GroupingMemory("benchmark"), goes_on=lambda: True)
    assert services.cases.count(CaseFilter(needs_review=True)) == len(labels)
    return services, labels


class Hand:
    """Presses keys and counts them."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.keys = 0

    def press(self, key: str) -> None:
        """Press one key."""
        self.keys += 1
        self.page.keyboard.press(key)


def clear_one_by_one(hand: Hand, labels: dict[str, bool], address: str) -> None:
    """Rule on each comment that is opened until none waits."""
    page = hand.page
    page.goto(f"{address}/review")
    while opened := page.locator("[data-opened]").first.get_attribute("data-opened"):
        hand.press("r" if labels[opened] else "a")
        page.wait_for_function(
            "was => document.querySelector('[data-opened]')?.dataset.opened !== was"
            " || document.querySelector('.nothing')",
            arg=opened,
        )
        if not page.locator(".row:not(.is-decided)").count():
            page.goto(f"{address}/review")
            if not page.locator(".row:not(.is-decided)").count():
                return


def clear_campaigns(hand: Hand, labels: dict[str, bool], address: str) -> int:
    """Decide every campaign that waits, its exceptions unticked; return how many there were."""
    page = hand.page
    campaigns = 0
    while True:
        page.goto(f"{address}/review/campaigns")
        if not page.locator(".stop").count():
            return campaigns
        hand.press("j")
        hand.press("Enter")
        page.wait_for_url("**/review/campaigns/*")
        ticks = page.locator("form.decide input[name=id]")
        ids = [ticks.nth(i).get_attribute("value") or "" for i in range(ticks.count())]
        spam = sum(labels[one] for one in ids)
        ruling_is_reject = 2 * spam >= len(ids)
        # What looks sincere comes unticked; wrong ticks are toggled on the way down.
        wrong = [
            ticks.nth(i).is_checked() is not (labels[one] is ruling_is_reject)
            for i, one in enumerate(ids)
        ]
        for toggled, left in [(one, any(wrong[i:])) for i, one in enumerate(wrong)]:
            if left:
                hand.press("j")
            if toggled:
                hand.press("x")
        if any(labels[one] is not ruling_is_reject for one in ids):
            page.get_by_label("The unticked ones are not part of this campaign").check()
            hand.keys += 1
        key = "r" if ruling_is_reject else "a"
        hand.press(key)
        # A stroke over many asks for a second press.
        if page.locator(".asks").is_visible():
            hand.press(key)
        page.locator(".told").wait_for()
        campaigns += 1


def run(page: Page, address: str, labels: dict[str, bool], *, by_campaigns: bool) -> str:
    """Clear the queue and return the row of the table."""
    page.goto(f"{address}/sign-in")
    page.fill("#name", "Ola")
    page.fill("#password", PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url("**/review")
    hand = Hand(page)
    began = time.perf_counter()
    campaigns = clear_campaigns(hand, labels, address) if by_campaigns else 0
    clear_one_by_one(hand, labels, address)
    seconds = time.perf_counter() - began
    name = f"campaigns first ({campaigns} of them)" if by_campaigns else "one by one"
    return f"| {name} | {len(labels)} | {hand.keys} | {seconds:.1f} s |"


def main() -> None:
    """Clear it both ways and print the table."""
    argparse.ArgumentParser(description=__doc__.partition("\n")[0]).parse_args()
    print("| how | comments | keys | seconds |\n|---|--:|--:|--:|")
    with sync_playwright() as play, tempfile.TemporaryDirectory() as profile:
        for by_campaigns in (False, True):
            services, labels = fill()
            context = play.chromium.launch_persistent_context(
                f"{profile}/{by_campaigns}",
                executable_path=shutil.which("chromium"),
                args=BROWSER_ARGS,
                viewport={"width": 1280, "height": 800},
            )
            with serving(make_app(services)) as (host, port):
                page = context.new_page()
                row = run(page, f"http://{host}:{port}", labels, by_campaigns=by_campaigns)
                print(row, flush=True)
                context.close()
            _check(services, labels)


def _check(services: Services, labels: dict[str, bool]) -> None:
    """End the program if any comment was decided wrongly."""
    for comment_id, is_spam in labels.items():
        decision = services.cases.get(CommentId(comment_id)).decision
        assert decision is not None, comment_id
        assert (decision.ruling is Ruling.REJECT) is is_spam, comment_id


if __name__ == "__main__":
    main()
