"""Holds `slopsieve import` to the same promises on every database."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from service.cli import cli
from service.domain.case import CaseFilter, Order
from service.domain.comment import CommentId
from service.domain.decision import Ruling
from service.moderation.review.bulk_decisions import take_over_rulings
from service.ports.audit import AuditFilter
from service.ports.services import Services
from service.stores.sql import SqlStores
from tests.factories import NOW, SITE, keep_all, make_comment, make_decision
from tests.fakes import make_services

LINES = [
    *(json.dumps({"id": f"c{n}", "text": f"Words {n}", "label": "spam"}) for n in range(40)),
    "not JSON",
    json.dumps({"id": "odd", "text": "tab\tnew\nline \\N \\. \x1a \u0085", "label": "ham"}),
    json.dumps({"id": "nul", "text": "a\x00b", "label": "ham"}),
    json.dumps({"id": "long", "text": "Too long a reply", "reply_to": "x" * 300}),
    json.dumps({"id": "c7", "text": "Other words under a known id"}),
    *(json.dumps({"id": f"d{n}", "text": f"More {n}", "label": "ham"}) for n in range(200)),
]


@pytest.fixture
def run(database_url, tmp_path, monkeypatch):
    """Run a command over a database of each kind; return the finished run."""
    monkeypatch.setenv("SLOPSIEVE_DATABASE_URL", database_url)
    monkeypatch.setenv("SLOPSIEVE_DATA_DIR", str(tmp_path / "var"))

    def run(*words: str, code: int = 0):
        done = CliRunner().invoke(cli, list(words))
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        assert done.exit_code == code, done.output
        return done

    run("sites", "add", "Garden")
    return run


@pytest.fixture
def bring(run, tmp_path):
    """Import lines into the site; return the finished run."""

    def bring(*lines: str, code: int = 0):
        path = tmp_path / "archive.jsonl"
        path.write_text("\n".join(lines))
        words = ("--format", "jsonl", "--site", "Garden", "--with-decisions", "--json")
        return run("import", str(path), *words, code=code)

    return bring


def kept(engine):
    page = SqlStores(engine).cases.page(CaseFilter(), order=Order.NEWEST, cursor=None, limit=1_000)
    return {case.comment.site_comment_id: case for case in page.cases}


def test_what_is_broken_is_named_and_all_else_is_kept_with_its_ruling(bring, engine):
    done = bring(*LINES, code=1)

    cases = kept(engine)
    rulings = {name: case.decision and case.decision.ruling for name, case in cases.items()}
    assert json.loads(done.stdout) == {
        "new": 242,
        "repeats": 0,
        "conflicts": 1,
        "left_out": 0,
        "broken": 2,
        "cut": 0,
        "decisions": 242,
    }
    assert "Entry 41: line is not JSON; put one JSON object on each line" in done.stderr
    assert "Entry 44: reply_to is too long" in done.stderr
    assert "Entry 45: is known under its id with other content; left as it is" in done.stderr
    assert cases["odd"].comment.text == "tab\tnew\nline \\N \\. \x1a \u0085"
    assert cases["c7"].comment.text == "Words 7"
    assert (rulings["c7"], rulings["d7"]) == (Ruling.REJECT, Ruling.APPROVE)


def test_the_same_import_again_changes_nothing(bring, engine):
    bring(*LINES, code=1)
    before = kept(engine)

    again = json.loads(bring(*LINES, code=1).stdout)

    assert (again["new"], again["decisions"]) == (0, 0)
    assert kept(engine) == before
    log = SqlStores(engine).audit_log.page(AuditFilter(actor="import"), after=None, limit=1_000)
    assert len(log.entries) == len(before)


def test_an_import_that_loses_its_database_has_kept_whole_batches_and_can_be_repeated(
    bring, engine
):
    many = [json.dumps({"id": str(n), "text": f"Words {n}"}) for n in range(450)]
    with engine.connect() as connection:
        is_sqlite = connection.dialect.name == "sqlite"
    refusing = (
        "CREATE TRIGGER refusing BEFORE INSERT ON comments WHEN NEW.site_comment_id = '420' "
        "BEGIN SELECT RAISE(ABORT, 'no'); END"
        if is_sqlite
        else "ALTER TABLE comments ADD CONSTRAINT refusing CHECK (site_comment_id <> '420')"
    )
    willing = (
        "DROP TRIGGER refusing" if is_sqlite else "ALTER TABLE comments DROP CONSTRAINT refusing"
    )
    with engine.begin() as connection:
        connection.exec_driver_sql(refusing)

    with pytest.raises(Exception, match=r"no|refusing"):
        bring(*many)
    first = len(kept(engine))
    with engine.begin() as connection:
        connection.exec_driver_sql(willing)
    counts = json.loads(bring(*many).stdout)

    assert first == 400
    assert counts["new"] == 50
    assert len(kept(engine)) == 450


@pytest.fixture
def services(stores) -> Services:
    """Give services over stores of each kind."""
    return make_services(stores=stores, judges=False)


def keep(services, *texts):
    comments = [make_comment(text, id=CommentId(text)) for text in texts]
    keep_all(services.comments, *comments)


def test_rulings_are_taken_over_once_logged_and_learnt(services):
    keep(services, "a", "b", "c")
    rulings = {"a": Ruling.REJECT, "b": Ruling.APPROVE, "c": Ruling.REJECT, "gone": Ruling.REJECT}

    first, again = (
        take_over_rulings(rulings, services, site_id=SITE, decided_by="import") for _ in range(2)
    )

    found = {case.comment.id: case.decision for case in services.cases.find(["a", "b", "c"])}
    log = services.audit_log.recent()
    assert (first, again) == (3, 0)
    assert {key: one.ruling for key, one in found.items()} == {key: rulings[key] for key in found}
    assert {(entry.actor, entry.act, entry.subject) for entry in log} == {
        ("import", "approve", "b"), ("import", "reject", "a"), ("import", "reject", "c"),
    }  # fmt: skip
    assert services.decisions.find_unremembered(limit=10) == []


def test_what_a_person_ruled_was_withdrawn_or_is_another_sites_stays(services):
    keep(services, "ruled", "withdrawn")
    keep_all(services.comments, make_comment("x", id=CommentId("other"), site_id="site-2"))
    services.decisions.add(make_decision("dec_1", CommentId("ruled"), Ruling.APPROVE))
    services.comments.withdraw(CommentId("withdrawn"), at=NOW)
    rulings = dict.fromkeys(("ruled", "withdrawn", "other"), Ruling.REJECT)

    taken = take_over_rulings(rulings, services, site_id=SITE, decided_by="import")

    (case,) = services.cases.find([CommentId("ruled")])
    assert taken == 0
    assert [one.decided_by for one in case.decisions] == ["ada"]
    assert services.audit_log.recent() == []
