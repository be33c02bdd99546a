"""Lets tests of the pages act as a moderator over SQLite."""

import html
import re
from collections.abc import Iterable
from dataclasses import replace

from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from service.domain.case import CaseFilter, Order
from service.domain.comment import Comment, CommentId
from service.domain.decision import Ruling
from service.domain.list_entry import ListEntry
from service.domain.verdict import Outcome, Verdict
from service.moderation.accounts import add_user, change_password
from service.ports.services import Services
from service.web.app import create_app
from tests.factories import SITE, keep_all, make_comment, make_verdict
from tests.unit.learning.training_examples import cache_over

PASSWORD = "correct horse battery"
CONFIG = {"SECRET_KEY": "a secret for tests, long enough to sign with"}


def make_app(services: Services, **config: object) -> Flask:
    """Return the whole application, as it is served."""
    app = create_app(services, CONFIG | config, checks={})
    app.testing = True
    return app


def add_moderator(services: Services, name: str = "Ola") -> None:
    """Add a moderator who has chosen `PASSWORD` already."""
    user, once = add_user(name, services, actor="test")
    change_password(user, services, old=once, new=PASSWORD)


def words(page: TestResponse) -> str:
    """Return a page's text, without its markup."""
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page.text)).split())


def token_of(page: TestResponse) -> str:
    """Return the form token that a page carries."""
    found = re.search(r'name="csrf_token" value="([^"]+)"', page.text)
    assert found, "the page has no form token"
    return html.unescape(found[1])


def post(client: FlaskClient, path: str, **form) -> TestResponse:
    """Send a form of a page, with the session's token."""
    return client.post(path, data={"csrf_token": token_of(client.get("/password")), **form})


def sign_in(
    client: FlaskClient, name: str = "Ola", password: str = PASSWORD, **fields
) -> TestResponse:
    """Fill in the form of the sign-in page."""
    token = token_of(client.get("/sign-in"))
    form = {"csrf_token": token, "name": name, "password": password, **fields}
    return client.post("/sign-in", data=form)


def signed_in(services: Services, name: str = "Ola", app: Flask | None = None) -> FlaskClient:
    """Return a client that is signed in as a new moderator."""
    add_moderator(services, name)
    client = (app or make_app(services)).test_client()
    assert sign_in(client, name).status_code == 303
    return client


def restrict(services: Services, name: str = "Ola", **changes) -> None:
    """Change what a moderator may do or see."""
    user = services.users.find(name)
    services.users.change(user.id, lambda now, _: replace(now, **changes))


def set_site(services: Services, **changes) -> None:
    """Change settings of the factories' site."""
    services.sites.change_settings(SITE, lambda now: replace(now, **changes))


def keep(
    services: Services,
    comment: Comment | None = None,
    outcome: Outcome | None = Outcome.UNSURE,
    *,
    audit: bool = False,
    **verdict,
) -> Comment:
    """Keep a comment with a verdict made to measure; without an outcome it still waits for one."""
    comment = comment or make_comment()
    keep_all(services.comments, comment)
    if outcome is not None:
        made: Verdict = make_verdict(comment.id, outcome, **verdict)
        services.verdicts.add([made], audit=frozenset([comment.id] if audit else []))
    return comment


def review_queue(services: Services) -> list[Comment]:
    """Return the comments that wait for a moderator, in the queue's order."""
    waiting = CaseFilter(needs_review=True)
    page = services.cases.page(waiting, order=Order.REVIEW, cursor=None, limit=9)
    return [case.comment for case in page.items]


def rulings(services: Services, ids: Iterable[CommentId]) -> list[Ruling | None]:
    """Return the rulings in force on these comments."""
    decisions = [services.cases.get(one).decision for one in ids]
    return [one.ruling if one else None for one in decisions]


def in_force(services: Services) -> list[ListEntry]:
    return services.list_entries.in_force(services.clock())


def press(client: FlaskClient, comment: Comment, act: str = "decision", **fields) -> TestResponse:
    """Press a button on a comment's page; what the form carries is sent along."""
    path = f"/review/comments/{comment.id}"
    form = hidden_fields(client.get(path), f"{path}/decision")
    return client.post(f"{path}/{act}", data={**form, **fields})


def hidden_fields(page: TestResponse, action: str) -> dict[str, str]:
    """Return the hidden fields of the form with this action."""
    form = re.search(
        rf'<form[^>]* action="{re.escape(action)}"[^>]*>(.*?)</form>', page.text, re.DOTALL
    )
    assert form, f"the page has no form for {action}"
    pairs = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)">', form[1])
    return {name: html.unescape(value) for name, value in pairs}


def that_learn(services: Services) -> Services:
    """Return services to which decisions teach something at once."""
    learning = replace(services, learned=cache_over(services).current)
    learning.queue.services = learning
    return learning
