"""Messages go out side by side, and no site takes the places of the others."""

import threading
from collections import Counter

import pytest

from service.domain.comment import SiteId
from service.domain.delivery import DeliveryForm, SendOutcome
from service.domain.errors import StoreUnavailableError
from service.tasks.dispatcher import Dispatcher
from tests.commands import until
from tests.unit.outbound.conftest import make_delivery

DEADLINE_SECONDS = 10.0
SLOW, DOWN, QUICK = SiteId("slow"), SiteId("down"), SiteId("quick")


class Post:
    """Messages that are due, and sites that take their time or are down."""

    def __init__(self) -> None:
        self.due = []
        self.done = []
        self.under_way = Counter()
        self.most = Counter()
        self.let_go = threading.Event()
        self.fails = False
        self.settled = False
        self._lock = threading.Lock()

    def add(self, site_id, count, **changes):
        url = "https://a.example/"
        self.due += [make_delivery(url, site_id=site_id, **changes) for _ in range(count)]

    def take(self, *, limit, except_sites):
        if self.fails:
            raise StoreUnavailableError("away")
        taken = [one for one in self.due if one.site_id not in except_sites][:limit]
        self.due = [one for one in self.due if one not in taken]
        return taken

    def deliver(self, delivery):
        site = delivery.site_id
        with self._lock:
            self.under_way[site] += 1
            self.most[site] = max(self.most[site], self.under_way[site])
        if site == SLOW:
            self.let_go.wait(DEADLINE_SECONDS)
        with self._lock:
            self.under_way[site] -= 1
            self.done.append(site)
        status = None if site == DOWN or self.settled else 200
        return SendOutcome(status=status, settled=self.settled)


@pytest.fixture
def post():
    made = Post()
    yield made
    made.let_go.set()


@pytest.fixture
def dispatcher(post):
    made = Dispatcher(post.take, post.deliver, at_once=8, a_site=2, rest_seconds=60)
    yield made
    post.let_go.set()
    made.close(seconds=DEADLINE_SECONDS)


def test_everything_due_goes_out_though_dispatch_is_called_once(post, dispatcher):
    post.add(QUICK, 100)

    dispatcher.dispatch()

    until(lambda: len(post.done) == 100)
    assert post.most[QUICK] <= 8


def test_a_slow_site_leaves_places_to_the_others(post, dispatcher):
    post.add(SLOW, 50)
    post.add(QUICK, 20)

    dispatcher.dispatch()

    until(lambda: post.done.count(QUICK) == 20)
    assert SLOW not in post.done
    assert post.most[SLOW] <= 4


def test_a_site_that_is_down_is_left_in_peace_for_a_while(post, dispatcher):
    post.add(DOWN, 50)

    dispatcher.dispatch()
    until(lambda: post.done and not post.under_way.total())
    dispatcher.dispatch()

    assert len(post.done) <= 4
    assert len(post.due) >= 46


def test_a_message_that_raises_stops_nothing(post):
    def explode(_delivery):
        raise RuntimeError("unforeseen")

    dispatcher = Dispatcher(post.take, explode, at_once=2, a_site=1)
    post.add(QUICK, 10)

    dispatcher.dispatch()

    until(lambda: not post.due)
    dispatcher.close(seconds=DEADLINE_SECONDS)


def test_a_store_that_goes_away_meanwhile_waits_for_the_next_call(post, dispatcher):
    post.add(SLOW, 1)
    dispatcher.dispatch()
    post.fails = True
    post.let_go.set()
    until(lambda: post.done == [SLOW])

    with pytest.raises(StoreUnavailableError):
        dispatcher.dispatch()
    post.fails = False
    post.add(QUICK, 1)
    dispatcher.dispatch()

    until(lambda: post.done == [SLOW, QUICK])


def test_closing_waits_for_what_is_under_way_and_starts_no_more(post, dispatcher):
    post.add(SLOW, 1)
    dispatcher.dispatch()
    until(lambda: post.under_way[SLOW] == 1)

    closing = threading.Thread(target=dispatcher.close, kwargs={"seconds": DEADLINE_SECONDS})
    closing.start()
    post.add(QUICK, 5)
    post.let_go.set()
    closing.join()

    assert post.done[0] == SLOW
    assert dispatcher.dispatch() == 0
    assert post.under_way.total() == 0


@pytest.mark.parametrize(
    ("form", "settled", "sent_before"),
    [
        (DeliveryForm.GITHUB, False, 1),
        (DeliveryForm.STANDARD_WEBHOOK, False, 5),
        # What needs no call keeps nobody waiting.
        (DeliveryForm.GITHUB, True, 5),
    ],
)
def test_a_platform_is_left_alone_after_each_change_and_nobody_else(
    post, form, settled, sent_before
):
    post.settled = settled
    post.let_go.set()
    post.add(QUICK, 5, form=form)
    post.add(SLOW, 1)
    limits = {"at_once": 1, "a_site": 1, "rest_seconds": 60, "platform_seconds": 60}
    dispatcher = Dispatcher(post.take, post.deliver, **limits)

    dispatcher.dispatch()
    until(lambda: SLOW in post.done)
    dispatcher.close(seconds=DEADLINE_SECONDS)

    assert post.done.index(SLOW) == sent_before
