"""Which comments the list of what teaches most holds, on the page and for a site."""

from __future__ import annotations

from service.domain.comment import Lane, Sender
from service.domain.decision import Ruling
from service.domain.verdict import Outcome
from service.moderation.review.decide import decide_comment
from service.moderation.review.review import Tab, count_tab, list_for_review
from service.ports.comments import NewComment
from service.ports.services import Services
from tests.factories import make_comment, make_verdict
from tests.fakes import make_services
from tests.functional.moderators import make_app, signed_in


def keep(services: Services, text: str, *, outcome=Outcome.UNSURE, name=None, **verdict) -> str:
    comment = make_comment(text, sender=Sender(name_key=name))
    services.intake.comments.add([NewComment(comment=comment, lane=Lane.BULK)])
    made = make_verdict(comment.id, outcome, **verdict)
    services.judging.verdicts.add([made], audit=frozenset())
    return comment.id


def listed(services: Services, site_ids=None) -> list[str]:
    page = list_for_review(Tab.TEACHES_MOST, services, site_ids=site_ids, cursor=None, limit=1)
    return [case.comment.id for case in page.cases]


def test_doubtful_unsure_comments_are_listed_and_nothing_else():
    services = make_services(judges=False)
    mild = keep(services, "Radiators are warm and humming nicely", p_spam=0.15)
    doubtful = keep(services, "My cousin sells valves of every kind", p_spam=0.5)
    keep(services, "Thanks", outcome=Outcome.HAM)
    keep(services, "Nobody could judge this one", degraded_by=("model",))
    decided = keep(services, "Somebody has ruled on this already")
    decide_comment(decided, Ruling.REJECT, services, decided_by="Ola")

    assert listed(services) == [doubtful, mild]
    assert count_tab(Tab.TEACHES_MOST, services.review, services.common, site_ids=None) == 2
    assert listed(services, site_ids=("site-2",)) == []


def test_of_one_sender_two_are_listed():
    services = make_services(judges=False)
    for number in range(5):
        keep(services, f"Offer number {number} of this very evening", name="one")
    other = keep(services, "Something else entirely was said here", name="another", p_spam=0.2)

    found = listed(services)

    assert len(found) == 3
    assert other in found


def test_the_list_has_a_tab_and_opens_its_first_comment():
    services = make_services(judges=False)
    keep(services, "Radiators are warm and humming nicely", p_spam=0.15)
    first = keep(services, "My cousin sells valves of every kind", p_spam=0.5)
    client = signed_in(services, app=make_app(services))

    page = client.get("/review?show=teaches-most")

    assert page.status_code == 200
    assert "Teaches most" in page.text
    assert page.text.index(first) < page.text.index("Radiators are warm")
    assert 'aria-current="page"' in page.text


def test_with_nothing_waiting_the_list_says_so():
    client = signed_in(make_services(judges=False))

    assert "those that teach most are listed here" in client.get("/review?show=teaches-most").text
