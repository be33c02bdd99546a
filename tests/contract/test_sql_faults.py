"""Whatever statement or commit fails in a use case, calling it again ends as if none had.

Where one transaction does it all, all of it or nothing has happened before that. What is torn
between two transactions of one call, or between two calls that belong together, shows here alone.
"""

import itertools
import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from typing import Any

import pyotp
import pytest
import sqlalchemy as sa

from service.domain.comment import Author, Comment, CommentId, Label, Lane, SiteId
from service.domain.decision import ChosenBy, Mode, Ruling
from service.domain.delivery import DeliveryForm, EventKind, Platform
from service.domain.errors import StoreUnavailableError
from service.domain.list_entry import Effect, EntryKind
from service.domain.retraining import RetrainingOptions
from service.domain.sender import SenderSecrets, make_sender
from service.domain.site import SiteSettings
from service.domain.user import Role
from service.moderation.accounts import (
    add_user,
    change_password,
    end_user,
    find_user,
    reset_password,
    restore_user,
    set_access,
)
from service.moderation.callbacks import (
    change_callback,
    remove_callback,
    resume_applier,
    rotate_secret,
    set_applier,
    set_build_hook,
    set_callback,
)
from service.moderation.campaigns import GroupingMemory, group_fresh
from service.moderation.decisions import (
    decide_comment,
    decide_together,
    take_over_rulings,
    undo_as_seen,
    undo_bulk_decision,
)
from service.moderation.erasing import erase_person, find_person, forget_sender, prune_comments
from service.moderation.hooks import add_hook, keep_form_hook, revoke_hook
from service.moderation.intake import submit_comments
from service.moderation.judging import judge_batch
from service.moderation.lists import NewEntry, add_entry, remove_entry
from service.moderation.reject_and_block import decide_and_list, undo_reject_and_block
from service.moderation.remembering import remember_open
from service.moderation.retraining import ask_retraining
from service.moderation.revise import report_comment, submit_version, withdraw_comment
from service.moderation.signing_in import (
    begin_session,
    check_second_factor,
    end_other_sessions,
    offer_second_factor,
    turn_off_second_factor,
    turn_on_second_factor,
)
from service.moderation.sites import (
    add_site,
    change_site_settings,
    issue_key,
    revoke_key,
    rotate_keys,
)
from service.ports.comments import NewComment
from service.ports.services import Services
from service.stores.sql import create_engine
from service.stores.sql.tables import metadata
from tests.databases import Stores, content_of, databases_given_back, fresh_stores
from tests.factories import NOW, SITE, make_comment
from tests.fakes import FixedClassifier, FixedClock, make_services, make_site
from tests.worlds import FailingAt

SECRETS = SenderSecrets(present=b"a secret for tests, long enough")
MARA = make_sender(
    address="192.0.2.7",
    email="mara@example.org",
    name="Mara Lane",
    secrets=SECRETS,
    site_id=SITE,
    account_id="7",
)
BOB = make_sender(address="198.51.100.8", email="bob@example.org", name="Bob", secrets=SECRETS)
BUILT, APPLIED = SiteId("built"), SiteId("applied")
SITES = (make_site(), make_site(id=BUILT, name="Built"), make_site(id=APPLIED, name="Applied"))
WAITING, JUDGED, SHOWN = CommentId("waiting"), CommentId("judged"), CommentId("shown")
OTHER, RULED, DISPUTED = CommentId("other"), CommentId("ruled"), CommentId("disputed")
BULKED = (CommentId("bulked-1"), CommentId("bulked-2"))
OF_MARA, OF_BOB = (JUDGED, SHOWN), (OTHER, RULED, DISPUTED, *BULKED)
REASON = "Ms. Quayle-Ostrander"
WORDS = "Mara's cheap boilers are at www.boilers.example"
URL = "https://blog.example/hook"
PASSWORD, SEED = "a password for tests", "0123456789" * 4
# Rows are numbered as they come; judging tries again by itself, and counts that; the sweep queues
# again what was not noted as queued.
LEFT_OUT = {"seq", "attempts", "queued_at"}
LEFT_OUT_OF = {"deliveries": {"id"}, "list_version": {"version"}}
LEFT_OUT_OF["list_entries"] = {"hits", "last_hit_at"}
# Somebody asked once more, and nothing was left to be done.
ASKED_AGAIN = ("'0 comments lost the keys of their sender'", "'0 comments erased'")
NEW_ID = re.compile(r"\b([a-z]+)_00[12]\d{3}\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What of the world a use case must name."""

    recovery_code: str
    entry_id: str
    hook_id: str
    block_entry_ids: tuple[str, ...]


def a_comment(comment_id: CommentId) -> Comment:
    """Return Mara's or Bob's comment of this id."""
    if comment_id in (*OF_MARA, WAITING):
        site_id = BUILT if comment_id == SHOWN else SITE
        author = Author(name="Mara Lane")
        return make_comment(WORDS, id=comment_id, site_id=site_id, sender=MARA, author=author)
    text = f"Bob's word on {comment_id}, see www.bob.example"
    author, name = Author(name="Bob"), f"wp-{comment_id}"
    return make_comment(text, id=comment_id, sender=BOB, author=author, site_comment_id=name)


def new_comment(comment: Comment) -> NewComment:
    return NewComment(comment=comment, lane=Lane.BULK)


def prepare(services: Services) -> Known:
    """Give every use case something to do."""
    add_user("olive", services, actor="cli")
    ada, first = add_user("ada", services, actor="cli", role=Role.MODERATOR)
    ada = change_password(ada, services, old=first, new=PASSWORD)
    for _ in range(2):
        begin_session(ada, services, user_agent=None)
    ended, _ = add_user("ended", services, actor="cli", role=Role.MODERATOR)
    end_user(ended.id, services, actor="cli")
    recovery, *_ = turn_on(services, "ada")
    issue_key(SITE, services, actor="cli")
    set_callback(SITE, URL, services, actor="cli")
    set_build_hook(BUILT, f"{URL}/build", services, actor="cli")
    set_applier(APPLIED, DeliveryForm.GITHUB, "a-token-of-github", services, actor="cli")
    services.endpoints.pause(services.endpoints.get(APPLIED), refused_at=NOW)
    hook = add_hook(SITE, Platform.STANDARD, services, actor="cli")
    entry = add_entry(block("pills-by-post.com"), services, by="olive")
    mara = replace(block("mara@example.org"), kind=EntryKind.EMAIL, reason=f"{REASON} again")
    add_entry(mara, services, by="olive")
    services.queue.judges = True
    kept = [new_comment(a_comment(one)) for one in (*OF_MARA, *OF_BOB)]
    submit_comments(kept, services)
    services.queue.judges = False
    submit_comments([new_comment(a_comment(WAITING))], services)
    decide(services, SHOWN, Ruling.APPROVE)
    _, entries = decide_and_list(RULED, Effect.BLOCK, ["email"], services, by="ada")
    report(services, DISPUTED)
    decide_together(
        BULKED,
        Ruling.REJECT,
        services,
        decided_by="ada",
        what=ChosenBy.SELECTION,
        bulk_decision_id="bulk",
    )
    return Known(
        recovery_code=recovery,
        entry_id=entry.id,
        hook_id=hook.id,
        block_entry_ids=tuple(one.id for one in entries),
    )


def block(value: str) -> NewEntry:
    return NewEntry(effect=Effect.BLOCK, kind=EntryKind.DOMAIN, value=value, reason="Spam")


def turn_on(services: Services, name: str) -> tuple[str, ...]:
    user = find_user(name, services)
    secret = offer_second_factor(user, services, seed=SEED).secret
    code = pyotp.TOTP(secret).at(int(services.clock().timestamp()))
    return turn_on_second_factor(user, services, seed=SEED, code=code)


def decide(services: Services, comment_id: CommentId, ruling: Ruling) -> None:
    decide_comment(
        comment_id,
        ruling,
        services,
        decided_by="ada",
        instead_of=(),
        decision_id=f"dec-{comment_id}",
    )


def undo(services: Services, comment_id: CommentId) -> None:
    undo_as_seen(comment_id, services, undone_by="ada", seen_decision_id=f"dec-{comment_id}")


def report(services: Services, comment_id: CommentId, **settings: Any) -> None:
    report_comment(
        Label.HAM,
        site=make_site(settings=SiteSettings(**settings)),
        text=a_comment(comment_id).text,
        services=services,
        reported_by="Bob",
    )


def edit(services: Services) -> None:
    shown = replace(a_comment(OTHER), id=CommentId("edited"), text="Bob's edited words")
    submit_version(new_comment(shown), services, by="site")


def submit(services: Services) -> None:
    comment = replace(a_comment(OTHER), id=CommentId("new"), site_comment_id="wp-new")
    submit_comments([new_comment(comment)], services)


def undo_block(services: Services, known: Known) -> None:
    undo_reject_and_block(
        RULED,
        known.block_entry_ids,
        services,
        by="ada",
        seen_decision_id=services.cases.get(RULED).decisions[0].id,
    )


def forget_mara(services: Services) -> None:
    sender = find_person(services, email="mara@example.org").sender
    forget_sender(sender, services, by="ada")


def erase_mara(services: Services) -> None:
    person = find_person(services, email="mara@example.org", name="Mara Lane")
    erase_person(person, services, by="ada")


def by_account(name: str, act: Callable[..., Any], **given: Any) -> Callable[..., Any]:
    """Return the use case `act` of somebody's own account."""
    return lambda services, _: act(find_user(name, services), services, **given)


def on_account(act: Callable[..., Any], name: str, **given: Any) -> Callable[..., Any]:
    """Return the use case `act` on the account of this name, by its id."""
    return lambda services, _: act(find_user(name, services).id, services, actor="olive", **given)


def on_site(act: Callable[..., Any], *given: Any, **named: Any) -> Callable[..., Any]:
    return lambda services, _: act(*given, services, actor="olive", **named)


AT_ONCE: dict[str, Callable[[Services, Known], Any]] = {
    "add user": lambda services, _: add_user("bob", services, actor="cli"),
    "reset password": lambda services, _: reset_password("ada", services, actor="olive"),
    "change password": by_account("ada", change_password, old=PASSWORD, new="another password"),
    "set access": on_account(set_access, "ada", role=Role.READER, site_ids=None),
    "end user": on_account(end_user, "ada"),
    "restore user": on_account(restore_user, "ended"),
    "end other sessions": by_account("ada", partial(end_other_sessions, "none")),
    "use recovery code": lambda services, known: check_second_factor(
        find_user("ada", services), known.recovery_code, services
    ),
    "turn on second factor": lambda services, _: turn_on(services, "olive"),
    "turn off second factor": by_account("ada", turn_off_second_factor, actor="ada"),
    "add site": on_site(add_site, "Kettle blog"),
    "issue key": on_site(issue_key, SITE),
    "rotate keys": on_site(rotate_keys, SITE),
    "revoke key": lambda services, _: revoke_key(
        services.sites.list_keys(SITE)[-1].id, services, actor="olive"
    ),
    "add entry": lambda services, _: add_entry(block("kettles-by-post.com"), services, by="olive"),
    "remove entry": lambda services, known: remove_entry(known.entry_id, services, by="olive"),
    "set callback": on_site(
        set_callback, SITE, "https://other.example/hook", events=[EventKind.DECISION]
    ),
    "change callback": on_site(change_callback, SITE, url="https://other.example/hook"),
    "rotate secret": on_site(rotate_secret, SITE),
    "resume applier": on_site(resume_applier, APPLIED),
    "set applier": on_site(set_applier, APPLIED, DeliveryForm.GITHUB, "another-token-of-github"),
    "set build hook": on_site(set_build_hook, BUILT, "https://other.example/build"),
    "remove callback": on_site(remove_callback, SITE),
    "add hook": on_site(add_hook, SITE, Platform.STANDARD),
    "keep form hook": on_site(keep_form_hook, SITE),
    "revoke hook": lambda services, known: revoke_hook(known.hook_id, services, actor="olive"),
    "withdraw": lambda services, _: withdraw_comment(SHOWN, services, by="site"),
    "prune": lambda services, _: prune_comments(
        services, keep=timedelta(hours=1), keep_spam=None, keep_held_spam=None
    ),
    "ask for a retraining": lambda services, _: ask_retraining(
        services, by="olive", options=RetrainingOptions()
    ),
}
SEVERAL: dict[str, Callable[[Services, Known], Any]] = {
    "submit": lambda services, _: submit(services),
    "edit": lambda services, _: edit(services),
    "judge": lambda services, _: judge_batch([WAITING], services),
    "group": lambda services, _: group_fresh(
        services, GroupingMemory("one"), should_continue=lambda: True
    ),
    "decide": lambda services, _: decide(services, OTHER, Ruling.APPROVE),
    "undo": lambda services, _: undo(services, SHOWN),
    "decide together": lambda services, _: decide_together(
        [JUDGED, OTHER],
        Ruling.REJECT,
        services,
        decided_by="ada",
        what=ChosenBy.SELECTION,
        bulk_decision_id="new-bulk",
    ),
    "undo bulk decision": lambda services, _: undo_bulk_decision("bulk", services, undone_by="ada"),
    "reject and block": lambda services, _: decide_and_list(
        OTHER, Effect.BLOCK, ["address"], services, by="ada"
    ),
    "undo reject and block": undo_block,
    "report": lambda services, _: report(services, OTHER),
    "report that decides": lambda services, _: report(services, OTHER, reports_decide=True),
    "take over rulings": lambda services, _: take_over_rulings(
        {OTHER: Ruling.APPROVE, JUDGED: Ruling.REJECT}, services, site_id=SITE, decided_by="import"
    ),
    "change settings": lambda services, _: change_site_settings(
        SITE, lambda present: replace(present, mode=Mode.OBSERVE), services, actor="olive"
    ),
    "forget": lambda services, _: forget_mara(services),
    "erase": lambda services, _: erase_mara(services),
}
USE_CASES = AT_ONCE | SEVERAL
# Done again after all of it was done, these find that out and change nothing more.
ENDING = ("end user", "withdraw", "prune", *SEVERAL)


def services_over(stores: Stores, *, first: int) -> Services:
    """Return services whose secrets are those of every other call; ids begin at this number."""
    secrets = itertools.count(1_000)
    ids = itertools.count(first)
    return make_services(
        stores=stores,
        judges=False,
        clock=FixedClock(NOW + timedelta(days=1)),
        classifier=FixedClassifier(p_spam=0.95),
        new_secret=lambda: f"secret-{next(secrets):032d}",
        new_id=lambda prefix: f"{prefix}_{next(ids):06d}",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Worlds:
    """Lends a database again and again in which every use case has something to do."""

    lend: Callable[[], AbstractContextManager[Stores]]
    known: Known
    commits_only: bool


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def worlds(request: pytest.FixtureRequest) -> Iterator[Worlds]:
    """Give worlds on each kind of database."""
    if request.param == "sqlite":
        with databases_given_back():
            stores = fresh_stores(sites=SITES)
            known = prepare(services_over(stores, first=0))
            world = content_of(stores)

        @contextmanager
        def copied() -> Iterator[Stores]:
            with databases_given_back():
                yield fresh_stores(world=world)

        yield Worlds(lend=copied, known=known, commits_only=False)
        return
    with request.getfixturevalue("databases").fresh() as url:
        engine = create_engine(url, lock_timeout_ms=20_000)
        stores = Stores(engine)
        for site in SITES:
            stores.sites.add(site)
        known = prepare(services_over(stores, first=0))
        names = [table.name for table in metadata.sorted_tables]
        _run(engine, "CREATE SCHEMA kept", *(f"CREATE TABLE kept.{n} AS TABLE {n}" for n in names))
        back = [f"DELETE FROM {n}; INSERT INTO {n} TABLE kept.{n}" for n in names]  # noqa: S608  # our own table names

        @contextmanager
        def put_back() -> Iterator[Stores]:
            _run(engine, "SET LOCAL session_replication_role = replica", *back)
            yield Stores(engine)

        yield Worlds(lend=put_back, known=known, commits_only=True)
        engine.dispose()


def _run(engine: sa.Engine, *statements: str) -> None:
    with engine.begin() as connection:
        connection.exec_driver_sql("; ".join(statements))


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

    def worth_failing(self, *, commits_only: bool) -> list[int]:
        """Return which steps write, commit what was written, or come first after that.

        Which statement of a transaction fails is all one to the database, so that with
        `commits_only` the transactions' ends do.
        """
        found, wrote, committed = [], False, False
        for at, step in enumerate(self.steps, 1):
            is_write = step.split()[0] in {"INSERT", "UPDATE", "DELETE"}
            ends = step == "COMMIT" and wrote
            if ends or committed or (is_write and not commits_only):
                found.append(at)
            wrote, committed = (wrote or is_write) and step != "COMMIT", ends
        return found

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
        kept = {key: value for key, value in row.items() if key not in left_out}
        yield NEW_ID.sub(r"\1_#", repr(kept))


@pytest.fixture(autouse=True)
def _small_portions(monkeypatch):
    monkeypatch.setattr("service.moderation.erasing._KEYS_PORTION", 1)
    monkeypatch.setattr("service.moderation.erasing._PORTION", 1)
    monkeypatch.setattr("service.moderation.decisions.PORTION", 1)


def undisturbed(worlds: Worlds, name: str) -> tuple[dict[str, list[str]], Fault]:
    """Return the rows of all tables after a use case, and the steps it took."""
    counted = Fault()
    with worlds.lend() as stores:
        with counted.on(stores.engine):
            USE_CASES[name](services_over(stores, first=1_000), worlds.known)
        return settled(stores), counted


def fail(stores: Stores, worlds: Worlds, name: str, fault: Fault) -> None:
    """Let a use case meet a fault."""
    try:
        with fault.on(stores.engine):
            USE_CASES[name](services_over(stores, first=1_000), worlds.known)
    except StoreUnavailableError:
        pass


def again(stores: Stores, worlds: Worlds, name: str) -> dict[str, list[str]]:
    """Call a use case once more and return what the tables hold then."""
    USE_CASES[name](services_over(stores, first=2_000), worlds.known)
    return settled(stores)


def settled(stores: Stores) -> dict[str, list[str]]:
    """Return the rows of all tables after upkeep has finished the work of a failing store."""
    remember_open(services_over(stores, first=3_000))
    return content(stores.engine)


def traces_of_mara(tables: dict[str, list[str]]) -> list[str]:
    """Return the rows that know a forgotten sender: by a key, or by what they had in common."""
    traits = [
        row
        for row in tables["comment_traits"]
        if any(repr(one) in row for one in (*OF_MARA, WAITING))
    ]
    return rows_with_keys(tables) + traits


def rows_with_keys(tables: dict[str, list[str]]) -> list[str]:
    keys = [MARA.address_key, MARA.network_key, MARA.email_key, MARA.name_key, MARA.account_key]
    rows = itertools.chain.from_iterable(tables.values())
    return [row for row in rows if any(one in row for one in (*keys, REASON))]


@pytest.mark.parametrize("name", USE_CASES)
def test_a_use_case_that_failed_at_any_statement_ends_as_if_it_had_not(worlds, name):
    with worlds.lend() as stores:
        before = content(stores.engine)
    expected, counted = undisturbed(worlds, name)

    for at in counted.worth_failing(commits_only=worlds.commits_only):
        with worlds.lend() as stores:
            fail(stores, worlds, name, Fault(at))
            if name in AT_ONCE:
                assert content(stores.engine) in (before, expected), f"{at} of {counted.steps}"
            end = again(stores, worlds, name)

        differs = {table: rows for table, rows in end.items() if rows != expected[table]}
        assert differs == {table: expected[table] for table in differs}, f"{at} of {counted.steps}"


@pytest.mark.parametrize("name", ENDING)
def test_a_use_case_whose_commit_s_answer_was_lost_is_finished_by_calling_it_again(worlds, name):
    expected, counted = undisturbed(worlds, name)
    expected.pop("audit_log")

    for at in counted.worth_failing(commits_only=True):
        if counted.steps[at - 1] == "COMMIT":
            with worlds.lend() as stores:
                fail(stores, worlds, name, Fault(at, answer_lost=True))
                end = again(stores, worlds, name)

            # Who asks twice is logged twice.
            end.pop("audit_log")
            assert end == expected, f"commit number {at} of {counted.steps}"


@pytest.mark.parametrize("name", ["forget", "erase"])
def test_nothing_of_an_erased_person_is_left(worlds, name):
    assert traces_of_mara(undisturbed(worlds, "judge")[0])

    tables, _ = undisturbed(worlds, name)

    assert traces_of_mara(tables) == []
    assert (name == "forget") == ("boilers" in repr(tables)) == ("Mara" in repr(tables))


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


def test_a_comment_judged_while_its_sender_is_forgotten_brings_nothing_back(worlds):
    calls = [""] * 2
    at = 1
    while at <= len(calls):
        with worlds.lend() as stores:
            forgetting = ForgettingAt(services_over(stores, first=1_000), at)
            assert judge_batch([WAITING], forgetting.services) == [WAITING]
            calls = forgetting.calls

            # What is judged after its sender was forgotten is grouped like any comment of nobody's.
            find = rows_with_keys if calls[:at] == ["load_unjudged"] else traces_of_mara
            assert find(content(stores.engine)) == [], calls[at - 1]
        at += 1
