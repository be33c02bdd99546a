"""What is rejected is hidden at its platform and shown again when that is undone."""

import contextlib
import logging
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from service.domain.comment import Author, Comment, CommentId
from service.domain.decision import Mode, Ruling
from service.domain.delivery import Delivery, DeliveryAttempt, DeliveryState, Endpoint
from service.domain.errors import InvalidInputError
from service.domain.verdict import Outcome
from service.moderation.callbacks import remove_callback, resume_applier, set_applier, set_callback
from service.moderation.revise import submit_version
from service.outbound.guard import OutboundRules
from service.ports.comments import Lane, NewComment
from tests.factories import SITE, make_comment
from tests.platforms import PLATFORMS, TOKEN, UNDO_SECONDS, Platform, ToldSite

OTHER_TOKEN = "another-token-9876543210"


class World(ToldSite):
    """A site whose decisions are applied at one platform, and its one comment."""

    ruling = Ruling.REJECT
    step_seconds = 10

    def __init__(self, platform: Platform, mode: Mode) -> None:
        super().__init__(platform.site.port, mode=mode)
        self.platform = platform
        self.apply()

    def submit(self, p_spam: float = 0.5, **changes: Any) -> Comment:
        given = {
            "site_comment_id": self.platform.site_comment_id,
            "author": Author(name="Mara", account_id="1093"),
        }
        return super().submit(p_spam, **(given | changes))

    def apply(self, token: str = TOKEN, **given: Any) -> None:
        given = {"url": self.platform.url} | given
        set_applier(SITE, self.platform.form, token, self.services, actor="ada", **given)

    def endpoint(self) -> Endpoint:
        return self.services.endpoints.get(SITE)


@contextlib.contextmanager
def world_of(name: str, *, mode: Mode = Mode.HOLD) -> Iterator[World]:
    with contextlib.closing(PLATFORMS[name]()) as platform:
        yield World(platform, mode)


HIDE, RESTORE = 0, 1
# By platform: how it is asked to hide and to show again.
ASKED = {
    "github": ("minimizeComment IC_kwDO7 SPAM", "unminimizeComment IC_kwDO7"),
    "discourse": ("DELETE /posts/9021.json", "PUT /posts/9021/recover.json"),
}
# What it answers. One that does not delete what is deleted is asked if the token is still good.
ANSWERED = {
    "github": {"limited": ["{} → 403"], "refused": ["{} → 401"], "again": ["{} → 200"]},
    "discourse": {
        "limited": ["{} → 429"],
        "refused": ["{} → 403", "GET /posts.json → 403"],
        "again": ["{} → 403", "GET /posts.json → 200"],
    },
}


def judged(
    p_spam: float = 0.5, ruling: Ruling | None = None, *, undone_after: int | None = None
) -> Callable[[World], None]:
    def happens(world: World) -> None:
        comment = world.submit(p_spam)
        world.wait(60)
        if ruling:
            world.decide(comment, ruling)
            world.wait(undone_after or 60)
        if undone_after:
            world.undo(comment)
            world.wait(120)

    return happens


rejected = judged(ruling=Ruling.REJECT)


def rejected_while_away(*, undone: bool) -> Callable[[World], None]:
    def happens(world: World) -> None:
        comment = world.submit()
        world.platform.go_away()
        world.decide(comment)
        world.wait(1_800, step=60)
        if undone:
            world.undo(comment)
        world.wait(1_800, step=60)
        world.platform.come_back()
        # The next try after the fifth is two hours later.
        world.wait(10_800, step=300)

    return happens


def answer_lost(*, undone: bool) -> Callable[[World], None]:
    def happens(world: World) -> None:
        comment = world.submit()
        world.decide(comment)
        world.platform.loses_answers = True
        world.wait(30)
        if undone:
            world.undo(comment)
        world.platform.loses_answers = False
        world.wait(60)

    return happens


def token_revoked_then_another_given(world: World) -> None:
    world.platform.token = OTHER_TOKEN
    world.decided(wait=24 * 3_600, step=600)
    world.apply(OTHER_TOKEN)
    world.wait(60)


def rights_lost_then_given_back(world: World) -> None:
    world.platform.token = OTHER_TOKEN
    world.decided(wait=3_600, step=60)
    world.platform.token = TOKEN
    resume_applier(SITE, world.services, actor="ada")
    world.wait(60)


def limited_for_two_minutes(world: World) -> None:
    world.platform.fails = world.platform.limit
    world.decided(wait=UNDO_SECONDS + 110)
    world.platform.fails = None
    world.wait(30)


# What happens, in which mode; what is sent, as (act, status), and whether it is hidden afterwards.
SENT = [
    (judged(0.99), Mode.ENFORCE, [(HIDE, "ok")], True),
    (judged(0.99), Mode.HOLD, [], False),
    (judged(0.99, Ruling.APPROVE), Mode.ENFORCE, [(HIDE, "ok"), (RESTORE, "ok")], False),
    (rejected, Mode.HOLD, [(HIDE, "ok")], True),
    (judged(0.5, Ruling.APPROVE), Mode.HOLD, [], False),
    (
        judged(0.5, Ruling.REJECT, undone_after=60),
        Mode.HOLD,
        [(HIDE, "ok"), (RESTORE, "ok")],
        False,
    ),
    (judged(0.5, Ruling.REJECT, undone_after=20), Mode.HOLD, [], False),
    (rejected_while_away(undone=False), Mode.HOLD, [(HIDE, "ok")], True),
    (rejected_while_away(undone=True), Mode.HOLD, [], False),
    (answer_lost(undone=False), Mode.HOLD, [(HIDE, "no answer"), (HIDE, "again")], True),
    (answer_lost(undone=True), Mode.HOLD, [(HIDE, "no answer"), (RESTORE, "ok")], False),
    (token_revoked_then_another_given, Mode.HOLD, [(HIDE, "refused"), (HIDE, "ok")], True),
    (rights_lost_then_given_back, Mode.HOLD, [(HIDE, "refused"), (HIDE, "ok")], True),
    (limited_for_two_minutes, Mode.HOLD, [(HIDE, "limited"), (HIDE, "ok")], True),
]


def expected(platform: str, sent: list[tuple[int, str]]) -> list[str]:
    words = {"ok": ["{} → 200"], "no answer": ["{} → no answer"]} | ANSWERED[platform]
    return [one.format(ASKED[platform][act]) for act, said in sent for one in words[said]]


@pytest.fixture(params=ASKED)
def world(request):
    with world_of(request.param) as made:
        yield made


def tries(world: World, delivery: Delivery) -> list[DeliveryAttempt]:
    return world.services.deliveries.attempts(delivery.id)


def edit(world: World, comment: Comment, text: str) -> CommentId:
    """Have the site send other words of its comment."""
    new = replace(comment, id=make_comment().id, text=text)
    found = submit_version(NewComment(comment=new, lane=Lane.BULK), world.services, by="test")
    return CommentId(found)


def done(world: World, *acts: int) -> list[str]:
    return expected(world.platform.form.value, [(act, "ok") for act in acts])


@pytest.mark.parametrize("platform", ASKED)
@pytest.mark.parametrize(("happens", "mode", "sent", "hidden"), SENT)
def test_what_is_sent(happens, mode, sent, hidden, platform):
    with world_of(platform, mode=mode) as world:
        happens(world)

        assert world.platform.said == expected(platform, sent)
        assert world.platform.hidden is hidden


def test_a_comment_that_is_gone_there_needs_nothing_more(world):
    world.platform.exists = False
    comment = world.decided(wait=60)
    asked = len(world.platform.said)
    world.undo(comment)
    world.wait(60)

    [undo, ruling] = world.messages()
    assert asked == 1
    assert len(world.platform.said) == 1
    assert {undo.state, ruling.state} == {DeliveryState.DELIVERED}
    [tried] = tries(world, ruling)
    assert tried.problem == "the comment is not there any more"


def test_comments_that_came_another_way_are_nothing_to_the_platform(world):
    for site_comment_id in (None, "wp-7", "coral:7", "7"):
        world.decide(world.submit(text=f"It is {site_comment_id}", site_comment_id=site_comment_id))

    world.wait(60)

    assert world.platform.said == []
    assert world.messages() == []


def test_an_edit_after_a_rejection_does_not_bring_it_back_and_an_approval_of_it_does(world):
    comment = world.decided(wait=60)

    second = edit(world, comment, "All new words.")
    world.wait(60)
    after_edit = list(world.platform.said)
    world.decide(world.services.cases.get(second).comment, Ruling.APPROVE)
    world.wait(60)

    assert after_edit == done(world, HIDE)
    assert world.platform.said == done(world, HIDE, RESTORE)


def test_what_a_person_approved_is_not_hidden_for_its_formatting():
    with world_of("github", mode=Mode.ENFORCE) as world:
        comment = world.submit(0.99)
        world.wait(60)
        world.decide(comment, Ruling.APPROVE)
        world.wait(60)

        second = edit(world, comment, f"**{comment.text}**\n")
        world.wait(60)

        assert world.services.cases.get(second).verdict.outcome is Outcome.SPAM
        assert world.platform.said == done(world, HIDE, RESTORE)


def test_a_rejection_of_words_that_were_replaced_meanwhile_hides_nothing(world):
    comment = world.submit()
    world.platform.go_away()
    world.decide(comment)
    world.wait(60)
    edit(world, comment, "All new words.")

    world.platform.come_back()
    world.wait(10_800, step=300)

    assert world.platform.said == []


def test_a_callback_in_place_of_a_platform_is_not_sent_what_was_for_the_platform(world):
    world.platform.go_away()
    world.decided(wait=60)

    remove_callback(SITE, world.services, actor="ada")
    set_callback(SITE, world.platform.site.url("/hook"), world.services, actor="ada")
    world.platform.come_back()
    world.wait(10_800, step=300)

    assert world.platform.site.received == []


def test_tokens_stand_in_no_log_no_message_and_no_print(world, caplog):
    caplog.set_level(logging.DEBUG)
    rights_lost_then_given_back(world)

    assert world.platform.hidden
    kept = world.messages()
    printed = [
        repr(world.endpoint()),
        repr(kept),
        repr([tries(world, one) for one in kept]),
        repr(world.services.audit_log.recent(subject=SITE)),
        *(repr(record.__dict__) for record in caplog.records),
    ]
    assert caplog.records
    assert not any(TOKEN in one for one in printed)


@pytest.mark.parametrize(
    ("field", "given"),
    [
        *[
            ("token", one)
            for one in ("", "short", "with space inside", "two\nlines", "tökén-tökén")
        ],
        *[("url", one) for one in ("https://127.0.0.2/", "https://169.254.169.254/", "ftp://a.b")],
    ],
)
def test_what_is_no_token_or_an_address_within_is_refused(field, given, world):
    world.services.notifier.rules = OutboundRules()
    before = world.endpoint()

    with pytest.raises(InvalidInputError) as refused:
        world.apply(**{"url": "https://93.184.215.14/"} | {field: given})

    assert [problem.field for problem in refused.value.problems] == [field]
    assert world.endpoint() == before


NOT_ALLOWED = "the platform does not allow this to the token's owner"
REFUSES = "the platform refuses the token"


def test_a_post_that_its_owner_may_not_delete_holds_up_no_other():
    with world_of("discourse") as world:
        world.platform.allows = False
        rejected(world)

        [delivery] = world.messages()
        last = tries(world, delivery)[-1]
        assert delivery.state is DeliveryState.DEAD
        assert last.problem == NOT_ALLOWED
        assert last.status == 403
        assert world.endpoint().refused_at is None


def test_a_404_of_a_wrong_address_is_not_taken_for_a_comment_that_is_gone():
    with world_of("discourse") as world:
        world.platform.fails = lambda: (404, "", {"message": "no such page"})
        rejected(world)

        [delivery] = world.messages()
        assert delivery.state is DeliveryState.WAITING


def test_an_id_that_is_no_number_leads_to_no_other_address():
    with world_of("discourse") as world:
        for number, hostile in enumerate(["../admin/users/7", "7/../../x", "٧", "9" * 40]):
            world.decide(
                world.submit(text=f"It is {number}.", site_comment_id=f"discourse:{hostile}")
            )
        world.wait(60)

        found = world.messages()
        assert {one.state for one in found} == {DeliveryState.DEAD}
        assert world.platform.site.connections == 0


@pytest.mark.parametrize(
    ("error", "message", "problem"),
    [
        ("FORBIDDEN", "Resource not accessible by personal access token", NOT_ALLOWED),
        ("INSUFFICIENT_SCOPES", "Your token has not been granted", REFUSES),
        ("RATE_LIMITED", "API rate limit exceeded for user ID 31.", "the platform asks for time"),
        (None, "Something went wrong", "the site answered with an error"),
    ],
)
def test_errors_within_an_answer_of_200_are_understood(error, message, problem):
    with world_of("github") as world:
        world.platform.error = ({"type": error} if error else {}) | {"message": message}
        rejected(world)

        [delivery] = world.messages()
        assert not world.platform.hidden
        assert tries(world, delivery)[0].problem == problem
        assert (world.endpoint().refused_at is not None) is (problem == REFUSES)
        is_hopeless = problem == NOT_ALLOWED
        assert (delivery.state is DeliveryState.DEAD) is is_hopeless
        assert (delivery.state is DeliveryState.WAITING) is not is_hopeless


def test_githubs_limit_that_is_used_up_ends_when_it_says():
    with world_of("github") as world:
        ends = int(world.clock().timestamp()) + 30 + 600
        headers = f"X-RateLimit-Remaining: 0\r\nX-RateLimit-Reset: {ends}\r\n"
        error = {"type": "RATE_LIMITED", "message": "API rate limit exceeded"}
        world.platform.fails = lambda: (200, headers, {"data": None, "errors": [error]})
        world.decided(wait=600)

        assert len(world.platform.said) == 1
        world.platform.fails = None
        world.wait(60)
        assert world.platform.said[1:] == done(world, HIDE)


def test_a_comment_without_a_node_id_is_given_up_and_said():
    with world_of("github") as world:
        world.decided(wait=60, site_comment_id="github:issue_comment-77")

        [delivery] = world.messages()
        [tried] = tries(world, delivery)
        assert delivery.state is DeliveryState.DEAD
        assert tried.problem == "the comment's id at the platform is not known"
        assert world.platform.said == []
