"""An open page asks what others do: small counts while nothing changes, rows once it does."""

from __future__ import annotations

import re
from datetime import timedelta
from urllib.parse import urlencode

from service.domain.claim import Claim
from service.domain.decision import Ruling
from service.domain.verdict import Outcome
from service.moderation.review.decide import decide_comment, undo_decision
from tests.factories import NOW
from tests.functional.moderators import keep


def claim(services, comment, user="ada") -> None:
    services.claims.take(
        Claim(
            comment_id=comment.id,
            user_id=user,
            user_name="Ada",
            since=services.clock(),
            until=services.clock() + timedelta(seconds=90),
        )
    )


def _counts(client, *comments, known="", **query):
    values = {"id": ",".join(c.id for c in comments), "since": NOW.isoformat()} | query
    return client.get(f"/review/counts?{urlencode(values)}", headers={"If-None-Match": known})


def test_a_page_hears_that_nothing_changed_until_something_does(services, client):
    first, second = keep(services), keep(services)
    tags = []

    def ask() -> bool:
        """Return True if the page would draw its rows again."""
        answer = _counts(client, first, second, known=tags[-1] if tags else "")
        assert answer.status_code == (200 if answer.data else 304)
        tags.append(answer.headers["ETag"])
        return answer.status_code == 200

    heard = [ask(), ask()]
    claim(services, second)
    heard += [ask(), ask()]
    decide_comment(first.id, Ruling.APPROVE, services, decided_by="Mara")
    heard += [ask(), ask()]
    undo_decision(first.id, services, undone_by="Mara")
    heard += [ask(), ask()]
    keep(services, judged_at=NOW + timedelta(seconds=1))
    heard += [ask(), ask()]

    assert heard == [True, False] * 5


def test_counts_tell_how_much_each_list_holds_what_is_new_and_who_looks(services, client):
    comment, own = keep(services), keep(services)
    claim(services, comment)
    claim(services, own, user=services.users.find("Ola").id)
    new = keep(services, judged_at=NOW + timedelta(seconds=1))
    keep(services, outcome=Outcome.HAM)

    answer = _counts(client, comment, own)

    assert answer.json["counts"] | {"needs-review": 3, "ham": 1, "spam": 0} == answer.json["counts"]
    assert answer.json["new"] == [new.id]
    assert answer.json["looked_at"] == {comment.id: "Ada"}
    assert "Set-Cookie" not in answer.headers


def _rows(client, *comments, **query):
    values = {"id": ",".join(c.id for c in comments), "since": NOW.isoformat()} | query
    return client.get(f"/review/rows?{urlencode(values)}")


def test_rows_are_drawn_as_they_stand_with_tabs_and_news(services, client):
    decided, claimed, untouched = keep(services), keep(services), keep(services)
    decide_comment(decided.id, Ruling.REJECT, services, decided_by="Mara")
    claim(services, claimed)
    new = [keep(services, judged_at=NOW + timedelta(seconds=n)) for n in (1, 2)]
    keep(services, outcome=Outcome.HAM, judged_at=NOW + timedelta(seconds=3))

    answer = _rows(client, decided, claimed, untouched)

    assert re.findall(r'data-part="row-([^"]+)"', answer.text) == [
        decided.id, claimed.id, untouched.id,
    ]  # fmt: skip
    assert ">Rejected</span>" in answer.text
    assert "Ada is looking at it" in answer.text
    assert 'data-waiting="4"' in answer.text
    assert f'data-ids="{",".join(sorted(c.id for c in new))}"' in answer.text
    assert ">2 new comments, show them</a>" in answer.text
    assert services.claims.find([untouched.id], now=NOW) == {}


def test_what_a_page_asks_by_itself_does_not_prolong_the_session(services, client):
    comment = keep(services)
    by_hand = client.get("/review")

    by_itself = _rows(client, comment)

    assert "Set-Cookie" in by_hand.headers
    assert "Set-Cookie" not in by_itself.headers
