"""Whatever statement or commit fails in a use case, all of it or nothing has happened.

`test_store_failures` fails whole calls of stores; what is torn between two transactions of one
call, or between two calls that belong together, shows here alone.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pyotp
import pytest
import sqlalchemy as sa

from service.domain.comment import Author, Comment, CommentId, Lane
from service.domain.delivery import EventKind
from service.domain.errors import StoreUnavailableError
from service.domain.inbound import Platform
from service.domain.list_entry import Effect, EntryKind
from service.domain.sender import make_sender
from service.domain.user import Role
from service.moderation.admin.accounts import end_user, restore_user, set_access
from service.moderation.admin.second_factor import (
    check_second_factor,
    offer_second_factor,
    turn_off_second_factor,
    turn_on_second_factor,
)
from service.moderation.admin.sessions import begin_session, end_other_sessions
from service.moderation.admin.site_lists import NewEntry, add_entry, remove_entry
from service.moderation.admin.sites import add_site, issue_key, revoke_key, rotate_keys
from service.moderation.admin.users import add_user, change_password, find_user, reset_password
from service.moderation.intake.submit import submit_comments
from service.moderation.judging.judge import judge_batch
from service.moderation.privacy import forget
from service.moderation.privacy.erase import erase_person, find_person
from service.moderation.telling.callbacks import rotate_secret, set_callback
from service.moderation.telling.hooks import add_hook
from service.ports.comments import NewComment
from service.ports.services import Services
from service.stores.sql.schema.tables import metadata
from tests.databases import Stores, content_of, databases_given_back, fresh_stores
from tests.factories import NOW, SITE, make_comment
from tests.fakes import FixedClassifier, FixedClock, make_services, make_site
from tests.worlds import FailingAt

SECRET = b"a secret for tests, long enough"
MARA = make_sender(
    address="192.0.2.7",
    email="mara@example.org",
    name="Mara Lane",
    secret=SECRET,
    site_id=SITE,
    account_id="7",
)
WAITING, JUDGED = CommentId("waiting"), CommentId("judged")
WORDS = "Mara's cheap boilers are at www.boilers.example"
PASSWORD, SEED = "a password for tests", "0123456789" * 4
SITE_KEY = "slop_key"
# Rows are numbered as they come; judging tries again by itself, and counts that.
LEFT_OUT = {"seq", "attempts"}
LEFT_OUT_OF = {"deliveries": {"id"}, "list_version": {"version"}}
# Somebody asked once more, and nothing was left to be done.
ASKED_AGAIN = ("'0 comments lost the keys of their sender'", "'0 comments erased'")


def write_of_mara(comment_id: CommentId) -> Comment:
    return make_comment(WORDS, id=comment_id, sender=MARA, author=Author(name="Mara Lane"))


def prepare(services: Services) -> tuple[str, str]:
    """Give every use case something to do; return a recovery code of ada's, a list entry's id."""
    accounts, common = services.accounts, services.common
    add_user("olive", accounts, common, actor="cli")
    ada, first = add_user("ada", accounts, common, actor="cli", role=Role.MODERATOR)
    change_password(ada, old=first, new=PASSWORD, accounts=accounts, common=common)
    for _ in range(2):
        begin_session(ada, accounts, common, user_agent=None)
    ended, _ = add_user("ended", accounts, common, actor="cli", role=Role.MODERATOR)
    end_user(ended.id, accounts, common, actor="cli")
    secret = offer_second_factor(ada, accounts, common, seed=SEED).secret
    code = pyotp.TOTP(secret).at(int(common.clock().timestamp()))
    recovery, *_ = turn_on_second_factor(ada, accounts, common, seed=SEED, code=code)
    issue_key(SITE, common, actor="cli")
    set_callback(SITE, "https://blog.example/hook", services.telling, common, actor="cli")
    entry = add_entry(block("pills-by-post.com"), services, by="olive")
    services.intake.queue.judges = True
    keep = [NewComment(comment=write_of_mara(JUDGED), lane=Lane.BULK)]
    submit_comments(keep, services.intake, common)
    services.intake.queue.judges = False
    keep = [NewComment(comment=write_of_mara(WAITING), lane=Lane.BULK)]
    submit_comments(keep, services.intake, common)
    return recovery, entry.id


def block(value: str) -> NewEntry:
    return NewEntry(effect=Effect.BLOCK, kind=EntryKind.DOMAIN, value=value, reason="Spam")


def use_recovery_code(services: Services) -> None:
    ada = find_user("ada", services.accounts)
    _, code, _ = _world()
    check_second_factor(ada, code, services.accounts, services.common)


def newest_key(services: Services) -> str:
    return services.common.sites.list_keys(SITE)[-1].id


def forget_mara(services: Services) -> None:
    sender = forget.find_sender(services.reputation, email="mara@example.org")
    forget.forget_sender(sender, services, by="ada")


def erase_mara(services: Services) -> None:
    person = find_person(services.reputation, email="mara@example.org", name="Mara Lane")
    erase_person(person, services, by="ada")


def by_ada(act: Callable[..., Any], **given: Any) -> Callable[[Services], Any]:
    """Return the use case `act` of ada's own account."""

    def do(services: Services) -> None:
        ada = find_user("ada", services.accounts)
        act(ada, accounts=services.accounts, common=services.common, **given)

    return do


def on_account(act: Callable[..., Any], name: str, **given: Any) -> Callable[[Services], Any]:
    """Return the use case `act` on the account of this name, by its id."""
    return lambda services: act(
        find_user(name, services.accounts).id,
        services.accounts,
        services.common,
        actor="olive",
        **given,
    )


def on_sites(act: Callable[..., Any], *given: Any) -> Callable[[Services], Any]:
    return lambda services: act(*given, services.common, actor="olive")


USE_CASES: dict[str, Callable[[Services], Any]] = {
    "add user": lambda services: add_user("bob", services.accounts, services.common, actor="cli"),
    "reset password": lambda services: reset_password(
        "ada", services.accounts, services.common, actor="olive"
    ),
    "change password": by_ada(change_password, old=PASSWORD, new="another password"),
    "set access": on_account(set_access, "ada", role=Role.READER, site_ids=None),
    "end user": on_account(end_user, "ada"),
    "restore user": on_account(restore_user, "ended"),
    "end other sessions": by_ada(lambda user, **ports: end_other_sessions("none", user, **ports)),
    "use recovery code": use_recovery_code,
    "turn off second factor": by_ada(
        lambda user, **ports: turn_off_second_factor(user, actor="ada", **ports)
    ),
    "add site": on_sites(add_site, "Kettle blog"),
    "issue key": on_sites(issue_key, SITE),
    "rotate keys": on_sites(rotate_keys, SITE),
    "revoke key": lambda services: revoke_key(newest_key(services), services.common, actor="olive"),
    "add entry": lambda services: add_entry(block("kettles-by-post.com"), services, by="olive"),
    "remove entry": lambda services: remove_entry(
        _world()[2], services.reputation, services.common, by="olive"
    ),
    "set callback": lambda services: set_callback(
        SITE,
        "https://other.example/hook",
        services.telling,
        services.common,
        actor="olive",
        events=[EventKind.DECISION],
    ),
    "rotate secret": lambda services: rotate_secret(
        SITE, services.telling, services.common, actor="olive"
    ),
    "add hook": lambda services: add_hook(
        SITE, Platform.STANDARD, services.telling, services.common, actor="olive"
    ),
    "judge": lambda services: judge_batch([WAITING], services),
    "forget": forget_mara,
    "erase": erase_mara,
}
IN_PORTIONS = ("judge", "forget", "erase")
AT_ONCE = tuple(name for name in USE_CASES if name not in IN_PORTIONS)
# Done again after all of it was done, these find that out and change nothing more.
ENDING = ("end user", *IN_PORTIONS)


def services_over(stores: Stores, *, first: int) -> Services:
    """Return services whose ids and secrets are those of any other world at this number."""
    secrets = itertools.count(first)
    ids = itertools.count(first)
    return make_services(
        stores=stores,
        judges=False,
        clock=FixedClock(NOW + timedelta(days=1)),
        classifier=FixedClassifier(p_spam=0.95),
        new_secret=lambda: f"secret-{next(secrets):032d}",
        new_id=lambda prefix: f"{prefix}_{next(ids):06d}",
    )


@functools.cache
def _world() -> tuple[bytes, str, str]:
    with databases_given_back():
        stores = fresh_stores(sites=[make_site()])
        code, entry_id = prepare(services_over(stores, first=0))
        return content_of(stores), code, entry_id


def world() -> Stores:
    """Return stores in which every use case has something to do."""
    return fresh_stores(world=_world()[0])


class Fault:
    """Lets one of all statements and commits of an engine fail, the `at`-th; counts them.

    With `answer_lost` a commit is done before it is said to have failed.
    """

    def __init__(self, at: int = 0, *, answer_lost: bool = False) -> None:
        self.at = at
        self.steps: list[str] = []
        self._answer_lost = answer_lost

    @contextmanager
    def on(self, engine: sa.Engine) -> Iterator[None]:
        """Let it happen while the block runs."""
        events = {"before_cursor_execute": self._execute, "commit": self._commit}
        for name, listener in events.items():
            sa.event.listen(engine, name, listener)
        try:
            yield
        finally:
            for name, listener in events.items():
                sa.event.remove(engine, name, listener)

    def _execute(self, _connection: object, _cursor: object, statement: str, *_: object) -> None:
        self._step(" ".join(statement.split()[:3]))

    def _commit(self, connection: sa.Connection) -> None:
        if self._answer_lost and len(self.steps) + 1 == self.at:
            connection.connection.commit()
        self._step("COMMIT")

    def _step(self, name: str) -> None:
        self.steps.append(name)
        if len(self.steps) == self.at:
            msg = f"failed at {name}"
            raise StoreUnavailableError(msg)


def content(engine: sa.Engine) -> dict[str, list[str]]:
    """Return the rows of all tables, each as text, in an order that is always the same."""
    with engine.connect() as connection:
        return {
            table.name: sorted(
                row
                for row in _rows(connection, table)
                if not any(act in row for act in ASKED_AGAIN)
            )
            for table in metadata.sorted_tables
        }


def _rows(connection: sa.Connection, table: sa.Table) -> Iterator[str]:
    left_out = LEFT_OUT | LEFT_OUT_OF.get(table.name, set())
    for row in connection.execute(sa.select(table)).mappings():
        yield repr({key: value for key, value in row.items() if key not in left_out})


def run(name: str, fault: Fault, *, again: bool = True) -> dict[str, list[str]]:
    """Return what the tables hold if a use case meets a fault and then is called again."""
    with databases_given_back():
        stores = world()
        try:
            with fault.on(stores.engine):
                USE_CASES[name](services_over(stores, first=1_000))
        except StoreUnavailableError:
            pass
        if fault.at and again:
            USE_CASES[name](services_over(stores, first=1_000))
        return content(stores.engine)


@pytest.fixture
def _small_portions(monkeypatch):
    monkeypatch.setattr(forget, "_PORTION", 1)
    monkeypatch.setattr("service.moderation.privacy.erase._PORTION", 1)


def traces_of_mara(tables: dict[str, list[str]]) -> list[str]:
    """Return the rows that know a forgotten sender: by a key, or by what they had in common."""
    return rows_with_keys(tables) + tables["comment_traits"]


def rows_with_keys(tables: dict[str, list[str]]) -> list[str]:
    keys = [MARA.address_key, MARA.network_key, MARA.email_key, MARA.name_key, MARA.account_key]
    rows = itertools.chain.from_iterable(tables.values())
    return [row for row in rows if any(key in row for key in keys)]


@pytest.mark.parametrize("name", AT_ONCE)
def test_a_use_case_that_fails_at_any_statement_has_done_nothing_of_it_or_all(name):
    counted = Fault()
    undisturbed = run(name, counted)
    with databases_given_back():
        before = content(world().engine)

    for at, step in enumerate(counted.steps, 1):
        end = run(name, Fault(at), again=False)

        halves = {key for key, rows in end.items() if rows != before[key]}
        changed = {key for key, rows in undisturbed.items() if rows != before[key]}
        assert end in (before, undisturbed), f"{step}, number {at}: {halves} of {changed}"


@pytest.mark.usefixtures("_small_portions")
@pytest.mark.parametrize("name", USE_CASES)
def test_a_use_case_that_failed_at_any_statement_ends_as_if_it_had_not(name):
    counted = Fault()
    undisturbed = run(name, counted)

    for at, step in enumerate(counted.steps, 1):
        end = run(name, Fault(at))

        differs = {table: rows for table, rows in end.items() if rows != undisturbed[table]}
        expected = {table: undisturbed[table] for table in differs}
        assert differs == expected, f"{step}, number {at} of {counted.steps}"


@pytest.mark.usefixtures("_small_portions")
@pytest.mark.parametrize("name", ENDING)
def test_a_use_case_whose_commit_s_answer_was_lost_is_finished_by_calling_it_again(name):
    counted = Fault()
    undisturbed = run(name, counted)

    for at, step in enumerate(counted.steps, 1):
        if step == "COMMIT":
            end = run(name, Fault(at, answer_lost=True))

            # Who asks twice is logged twice.
            for tables in (end, undisturbed):
                tables.pop("audit_log", None)
            assert end == undisturbed, f"commit number {at} of {counted.steps}"


@pytest.mark.usefixtures("_small_portions")
@pytest.mark.parametrize("name", ["forget", "erase"])
def test_nothing_of_an_erased_person_is_left_whatever_failed(name):
    counted = Fault()
    assert traces_of_mara(run("judge", Fault()))
    run(name, counted)

    for at in range(1, len(counted.steps) + 1):
        end = run(name, Fault(at))

        assert traces_of_mara(end) == []
        if name == "erase":
            assert "boilers" not in repr(end)
            assert "Mara" not in repr(end)


class ForgettingAt(FailingAt):
    """Forgets Mara before one call of a store, the `at`-th."""

    def __init__(self, services: Services, at: int) -> None:
        super().__init__(services)
        self._forgets_at = at
        self._real = services

    def call(self, method: Any, *given: Any, **named: Any) -> Any:
        """Call a store's method."""
        self.calls.append(method.__name__)
        if len(self.calls) == self._forgets_at:
            forget_mara(self._real)
        return method(*given, **named)


def test_a_comment_judged_while_its_sender_is_forgotten_brings_nothing_back():
    calls = [""] * 2
    at = 1
    while at <= len(calls):
        with databases_given_back():
            stores = world()
            forgetting = ForgettingAt(services_over(stores, first=1_000), at)
            assert judge_batch([WAITING], forgetting.services) == [WAITING]
            calls = forgetting.calls

            # What is judged after its sender was forgotten is grouped like any comment of nobody's.
            find = rows_with_keys if calls[:at] == ["load_unjudged"] else traces_of_mara
            assert find(content(stores.engine)) == [], calls[at - 1]
        at += 1
