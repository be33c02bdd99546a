"""Clears a queue of unsure comments by keys in a real browser: singly, by campaigns, by screens.

    python -m tests.benchmarks.clearing_time [--comments 1000] [--errs]

Of 100 comments forty are authored ones, half of them ham; sixty are of three campaigns of twenty,
whose words, links and names vary. 1,000 are authored ones, 600 of them ham. The script knows every
label, so that nothing is measured of how long a person thinks: keys, and the seconds until the page
shows what comes next. With `--errs` it sees labels as `CarefulPerson` does, and says which mistakes
it made and which its checks caught. Verdicts and campaigns are the shipped version's; the site's
cutoffs make every comment unsure.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright

from models.registry import load_current
from service.domain.case import Case, CaseFilter
from service.domain.comment import Author, Comment, CommentId, Lane, Post
from service.domain.dataset_row import comment_from_row
from service.domain.decision import Ruling
from service.domain.site import SiteSettings
from service.moderation.intake.submit import submit_comments
from service.moderation.judging.group import GroupingMemory, group_fresh
from service.ports.comments import NewComment
from service.ports.services import Services
from service.stores.files.model_versions import to_judging_model
from tests.benchmarks.careful_person import CarefulPerson
from tests.benchmarks.screenshots import BROWSER_ARGS
from tests.factories import NOW, make_comment
from tests.fakes import make_services, make_site
from tests.functional.browser.sent import wait_until_sent
from tests.functional.moderators import PASSWORD, add_moderator, make_app
from tests.functional.serving import serving

HOW = ("one by one", "campaigns first", "screens first")
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


def make_thousand(seed: int = 8) -> Iterator[tuple[Comment, bool]]:
    """Yield a thousand authored comments with their labels, 600 of them ham."""
    draw = random.Random(seed)
    rows = _authored()
    chosen = [
        row
        for label, n in (("ham", 600), ("spam", 400))
        for row in draw.sample([row for row in rows if row["label"] == label], n)
    ]
    draw.shuffle(chosen)
    for number, row in enumerate(chosen):
        comment = comment_from_row(row)
        yield (
            make_comment(
                comment.text,
                id=CommentId(f"com_{number:04d}"),
                author=comment.author,
                post=comment.post,
                received_at=NOW - timedelta(minutes=2_000 - number),
            ),
            row["label"] == "spam",
        )


def _authored() -> list[dict[str, Any]]:
    return [
        json.loads(line)
        for path in sorted(DATA.glob("authored-*.jsonl"))
        for line in path.read_text(encoding="utf-8").splitlines()
    ]


def make_comments(seed: int = 8) -> Iterator[tuple[Comment, bool]]:
    """Yield a hundred comments with their labels, True for spam, in the order they come in."""
    draw = random.Random(seed)
    rows = _authored()
    alone = [row for row in rows if row["campaign"] is None and row["lang"] == "en"]
    labelled = [
        (comment_from_row(row), row["label"] == "spam")
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


def fill(labelled: Iterable[tuple[Comment, bool]]) -> tuple[Services, dict[str, bool]]:
    """Return services in which the comments wait, grouped, and the label of each."""
    model = to_judging_model(load_current(None))
    site = make_site(settings=SiteSettings(ham_cutoff=0.0, spam_cutoff=1.0))
    services = make_services(sites=[site], current_model=lambda: model)
    add_moderator(services)
    labels = {}
    for comment, is_spam in labelled:
        labels[str(comment.id)] = is_spam
        submit_comments(
            [NewComment(comment=comment, lane=Lane.BULK)], services.intake, services.common
        )
    group_fresh(services, GroupingMemory("benchmark"), goes_on=lambda: True)
    assert services.review.cases.count(CaseFilter(needs_review=True)) == len(labels)
    return services, labels


class Hand:
    """Presses keys and counts them."""

    def __init__(
        self,
        page: Page,
        labels: Mapping[str, bool],
        texts: Mapping[str, str],
        person: CarefulPerson | None,
    ) -> None:
        self.page = page
        self.keys = 0
        self._labels = labels
        self._texts = texts
        self._person = person

    def takes_for_spam(self, comment_id: str) -> bool:
        """Return what a comment that is opened alone is taken for."""
        is_spam = self._labels[comment_id]
        if self._person is None:
            return is_spam
        return self._person.look(self._texts[comment_id], is_spam=is_spam)

    def exceptions(self, ids: Sequence[str], *, are_spam: bool) -> list[bool]:
        """Return which comments of a screen are ticked."""
        rows = [(self._texts[one], self._labels[one] is are_spam) for one in ids]
        if self._person is None:
            return [is_target for _, is_target in rows]
        return self._person.scan(rows)

    def press(self, key: str) -> None:
        """Press one key."""
        self.keys += 1
        self.page.keyboard.press(key)


def clear_one_by_one(hand: Hand, address: str) -> None:
    """Rule on each comment that is opened until none waits."""
    page = hand.page
    page.goto(f"{address}/review")
    while opened := page.locator("[data-opened]").first.get_attribute("data-opened"):
        hand.press("r" if hand.takes_for_spam(opened) else "a")
        page.locator(f'[data-opened="{opened}"]').wait_for(state="detached")
        if not page.locator(".row:not(.is-decided)").count():
            page.goto(f"{address}/review")
            if not page.locator(".row:not(.is-decided)").count():
                return


def clear_screens(hand: Hand, address: str) -> int:
    """Settle screen after screen of both bands; return how many there were."""
    page, screens = hand.page, 0
    for band, key in (("sincere", "a"), ("spam", "r")):
        while True:
            page.goto(f"{address}/review/scan/{band}")
            ticks = page.locator(".stop")
            if not ticks.count():
                break
            ids = [ticks.nth(i).get_attribute("value") or "" for i in range(ticks.count())]
            ticked = hand.exceptions(ids, are_spam=band == "sincere")
            if all(ticked):
                break
            for number, tick in enumerate(ticked):
                if tick:
                    hand.press("Space")
                if any(ticked[number + 1 :]):
                    hand.press("ArrowDown")
            hand.press(key)
            if page.locator(".asks").is_visible():
                hand.press(key)
            page.locator(".told").wait_for()
            screens += 1
    return screens


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
        # A bulk decision over many asks for a second press.
        if page.locator(".asks").is_visible():
            hand.press(key)
        page.locator(".told").wait_for()
        campaigns += 1


def run(hand: Hand, address: str, labels: dict[str, bool], how: str) -> str:
    """Clear the queue and return the row of the table."""
    page = hand.page
    page.goto(f"{address}/sign-in")
    page.fill("#name", "Ola")
    page.fill("#password", PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url("**/review")
    began = time.perf_counter()
    bulk_decisions = 0
    if how == "campaigns first":
        bulk_decisions = clear_campaigns(hand, labels, address)
    elif how == "screens first":
        bulk_decisions = clear_screens(hand, address)
    clear_one_by_one(hand, address)
    wait_until_sent(hand.page)
    seconds = time.perf_counter() - began
    name = f"{how} ({bulk_decisions} bulk decisions)" if bulk_decisions else how
    return f"| {name} | {len(labels)} | {hand.keys} | {seconds:.1f} s |"


def main() -> None:
    """Clear it both ways and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--comments", type=int, choices=(100, 1_000), default=100)
    parser.add_argument("--errs", action="store_true")
    parser.add_argument("--how", nargs="+", choices=HOW, default=HOW)
    parser.add_argument("--seed", type=int, default=21)
    given = parser.parse_args()
    print(
        "| how | comments | keys | seconds | mistakes: spam approved, ham rejected | checked"
        " | ruled otherwise, of them wrong bulk decisions |\n|---|--:|--:|--:|--:|--:|--:|"
    )
    with sync_playwright() as play, tempfile.TemporaryDirectory() as profile:
        for number, how in enumerate(given.how):
            services, labels = fill(make_comments() if given.comments == 100 else make_thousand())
            person = CarefulPerson(draw=random.Random(given.seed)) if given.errs else None
            texts = {case.comment.id: case.comment.text for case in _cases(services, labels)}
            context = play.chromium.launch_persistent_context(
                f"{profile}/{number}",
                executable_path=shutil.which("chromium"),
                args=BROWSER_ARGS,
                viewport={"width": 1280, "height": 800},
            )
            with serving(make_app(services)) as (host, port):
                hand = Hand(context.new_page(), labels, texts, person)
                row = run(hand, f"http://{host}:{port}", labels, how)
                print(f"{row} {_mistakes(services, labels, errs=given.errs)} |", flush=True)
                context.close()


def _cases(services: Services, labels: Mapping[str, bool]) -> list[Case]:
    return services.review.cases.find([CommentId(one) for one in labels])


def _mistakes(services: Services, labels: Mapping[str, bool], *, errs: bool) -> str:
    """Return what was decided wrongly, and what the checks of bulk decisions told.

    Ends the program if a comment was left out, or was decided wrongly by who does not err.
    """
    wrong: Counter[Ruling] = Counter()
    for case in _cases(services, labels):
        assert case.decision is not None, case.comment.id
        is_right = (case.decision.ruling is Ruling.REJECT) is labels[case.comment.id]
        wrong[case.decision.ruling] += not is_right
    assert errs or not wrong.total(), wrong
    told = services.review.scan_checks.agreement("Ola")
    right = sum(
        (case.decision is not None and case.decision.ruling is Ruling.REJECT)
        is labels[case.comment.id]
        for case in services.review.cases.find(told.otherwise)
    )
    return (
        f"{wrong[Ruling.APPROVE]}, {wrong[Ruling.REJECT]} | {told.checked}"
        f" | {len(told.otherwise)}, {right}"
    )


if __name__ == "__main__":
    main()
