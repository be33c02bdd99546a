"""Services that hold something of every kind, and the address of every page about it."""

import hashlib
from dataclasses import replace
from datetime import timedelta
from operator import attrgetter

from flask import Flask
from werkzeug.routing import Rule

from service.domain.case import Claim
from service.domain.comment import Author, CommentId, Post, Sender
from service.domain.decision import ChosenBy, Ruling
from service.domain.delivery import DeliveryState
from service.domain.list_entry import EntryKind
from service.domain.retraining import Answer, Check, Retraining, RetrainingState
from service.domain.verdict import Outcome, Span
from service.moderation.decisions import decide_comment, decide_together
from service.ports.audit import AuditEntry
from service.ports.comments import Placement
from service.ports.services import Services
from tests.factories import (
    NOW,
    SITE,
    keep_all,
    make_attempt,
    make_comment,
    make_delivery,
    make_entry,
    make_report,
    make_traits,
    make_verdict,
)
from tests.fakes import make_site
from tests.functional.hostile import HOSTILE, hostile_comment
from tests.functional.moderators import add_moderator, keep
from tests.runs import REPORT

# Pages that answer with data, a part of a page, or the way to another.
NO_WHOLE_PAGE = frozenset(
    {
        *("pages.counts", "pages.cutoff_preview", "pages.export_log", "pages.home", "pages.last"),
        *("pages.models_progress", "pages.prefetch", "pages.rows", "pages.search_export"),
        *("pages.sign_in", "pages.sign_in_code", "pages.figures_json"),
    }
)


def retrained(name="rtr_1", **changes):
    values = {
        "asked_by": "Mara",
        "asked_at": NOW,
        "state": RetrainingState.ENDED,
        "started_at": NOW,
        "ended_at": NOW + timedelta(minutes=2),
        "decisions": 42,
        "report": REPORT,
    }
    return Retraining(id=name, **(values | changes))


def keep_campaign(services, size, **changes):
    """Keep a campaign of so many comments, one a minute; return its id and theirs, oldest first."""
    ids = keep_single(services, size, **changes)
    return join(services, ids), ids


def keep_single(services, size, *, text=None, low=0, received_at=None, **changes):
    """Keep so many comments, one a minute; return their ids, oldest first.

    The first `low` look sincere.
    """
    start = received_at or NOW - timedelta(days=1)
    comments = [
        make_comment(
            text or f"Comment number {number} of {size}",
            received_at=start + timedelta(minutes=number),
            **changes,
        )
        for number in range(size)
    ]
    for number, comment in enumerate(comments):
        told = {"p_spam": 0.05} if number < low else {}
        judge(services, comment, "site:shop.example", promo_spans=(), signals=(), **told)
    return [comment.id for comment in comments]


def judge(services, comment, target, **verdict):
    """Keep a comment with its verdict and what it leads to."""
    keep_all(services.comments, comment)
    traits = make_traits(comment.id, embedding=None, targets=frozenset([target]), copies=())
    made = make_verdict(comment.id, Outcome.UNSURE, **verdict)
    services.verdicts.add([made], audit=frozenset(), traits=[traits])


def join(services, ids):
    """Put comments into one campaign; return its id."""
    [founder, *others] = ids
    new = services.new_id("camp")
    places = [Placement(comment_id=founder, like=None, new_campaign_id=new)]
    places += [Placement(comment_id=one, like=founder, new_campaign_id=new) for one in others]
    joined = services.campaigns.place(places, at=NOW)
    return set(joined.values()).pop()


def put_delivery(services, state=DeliveryState.DEAD, *, tries=1, comment=None, **changes):
    """Keep a message to a site that was tried so often."""
    values = {
        "id": services.new_id("msg"),
        "url": "https://blog.example/hook?token=hush",
        "created_at": NOW - timedelta(days=1),
    }
    delivery = make_delivery(keep(services, comment).id, **(values | changes))
    services.deliveries.add([delivery])
    for number in range(1, tries + 1):
        services.deliveries.record(
            make_attempt(
                delivery.id,
                at=NOW - timedelta(hours=1),
                status=500,
                problem="the site answered with an error",
            ),
            state=state if number == tries else DeliveryState.WAITING,
            next_try_at=NOW + timedelta(minutes=31) if state is DeliveryState.WAITING else None,
        )
    return delivery


def fill(services: Services) -> dict[str, str]:
    """Store one of each kind; return the values for the variable parts of URLs."""
    add_moderator(services, "Mara")
    mara = services.users.find("Mara")
    assert mara is not None
    now = services.clock()
    keep(services, make_comment("Thank you, that worked."), Outcome.HAM)
    keep(services, make_comment("Cheap loans https://loans.example"), Outcome.SPAM, audit=True)
    campaign_id, members = keep_campaign(services, 6, author=Author(name="Bo"))
    decide_comment(members[0], Ruling.REJECT, services, decided_by="Mara", note="As before")
    together = decide_together(
        members[1:3], Ruling.REJECT, services, decided_by="Ola", what=ChosenBy.SELECTION
    )
    end = now + timedelta(minutes=5)
    services.claims.take(
        Claim(comment_id=members[4], user_id=mara.id, user_name="Mara", since=now, until=end)
    )
    text = "Lovely post! \u200b See https://b\u0430nk.example/x for cheap boilers."
    keys = Sender(email_key="0" * 64, name_key="1" * 64, email_domain="mail.example")
    for number in range(2):
        comment = keep(
            services,
            make_comment(
                f"{text} {number}",
                author=Author(name="Bo", url="https://bo.example"),
                sender=keys,
            ),
            promo_spans=(Span(start=20, end=45),),
            degraded_by=("history",),
        )
    asked = make_comment("How long does it take?", site_comment_id="asked")
    answer = make_comment("About a day, see https://taps.example.", reply_to="asked")
    for one in (asked, answer):
        keep(services, one)
    services.search.index_due(limit=100)
    delivery = put_delivery(services, comment=make_comment("Told to nobody."))
    entry = keep_entry(services, "cheap boilers")
    services.retrainings.put(
        retrained("rtr_1", report=replace(REPORT, newly_lost=(comment.id, "another")))
    )
    services.retrainings.put(
        retrained(
            "rtr_2",
            state=RetrainingState.RUNNING,
            report=None,
            seen_at=now,
            step="fine-tune",
            share_done=0.4,
        )
    )
    return {
        "comment_id": comment.id,
        "campaign_id": campaign_id,
        "bulk_decision_id": together.id,
        "site_id": SITE,
        "version_name": "test-1",
        "retraining_id": "rtr_1",
        "user_id": mara.id,
        "delivery_id": delivery.id,
        "entry_id": entry.id,
        "key_id": "key_none",
        "session_id": "ses_none",
        "of_the_campaign": members[3],
        "claimed": members[4],
        "decided": members[0],
        "answers": answer.id,
    }


def keep_entry(services, words, name="entry-1"):
    """Keep a block entry of a phrase; adding one looks through all comments."""
    told = dict.fromkeys(("label", "reason", "added_by"), words)
    entry = make_entry(id=name, kind=EntryKind.PHRASE, keys=(f"phrase {name}",), **told)
    services.list_entries.add([entry])
    return entry


def keep_hostile(services, texts) -> tuple[CommentId, str]:
    """Let a sender's campaign say all of these in every field; return a comment's id and its."""
    texts = list(texts)
    said = "\n\n".join(dict.fromkeys(texts))[:65_536]
    told = replace(
        hostile_comment(said),
        author=Author(name=texts[0][:300], url=texts[1][:2_048], account_id=texts[-1][:100]),
        post=Post(title=texts[2][:500], url=texts[-1][:2_048], excerpt=texts[0][:4_000]),
    )
    key = hashlib.sha256(said.encode("utf-8", "replace")).hexdigest()
    keys = Sender(email_key=key, email_domain=texts[0][:200])
    comments = [replace(one, sender=keys) for one in (told, *map(hostile_comment, texts))]
    for one in comments:
        spans = (Span(start=0, end=3), Span(start=2, end=len(one.text) + 5))
        judge(services, one, f"site:{texts[0][:120]}", promo_spans=spans)
    return comments[0].id, join(services, [one.id for one in comments])


def keep_hostile_names(services, texts) -> None:
    """Let sites, moderators, versions, reports, messages, list entries and acts be called so."""
    for number, text in enumerate(texts):
        name = f"{text[:190]} {number}"
        # No form takes a site's name that cannot be printed.
        site_name = "".join(letter for letter in name if letter.isprintable())
        services.sites.add(make_site(id=f"odd-{number}", name=site_name))
        comment = keep(
            services,
            make_comment(site_id=f"odd-{number}"),
            Outcome.SPAM,
            audit=True,
            model_version=name,
        )
        services.reports.add(make_report(comment.id, site_id=f"odd-{number}", reported_by=name))
        decide_together(
            [comment.id], Ruling.APPROVE, services, decided_by=name, what=ChosenBy.SELECTION
        )
        services.audit_log.append(
            AuditEntry(at=NOW, actor=name, act="approve", subject=name, detail=name)
        )
        keep_entry(services, name, f"entry-odd-{number}")
        put_delivery(services, url=f"https://{text[:60]}.example/{text[:60]}")
    missed = Check(part=texts[0], name=texts[1], passed=False, says=texts[2])
    report = replace(REPORT, checks=(missed,), gains=(texts[0],), newly_lost=(texts[1],))
    services.retrainings.put(
        retrained(
            "rtr_9", report=report, problem=texts[0], asked_by=texts[1], answer=Answer.REFUSED
        )
    )


def keep_all_hostile(services) -> list[str]:
    """Let strangers say all that is hostile wherever they can; return addresses that show it.

    A comment holds 65,536 characters, and one more of each has its author, post and so on.
    """
    lots: list[list[str]] = []
    for text in sorted(HOSTILE.values(), key=len):
        if lots and len(lots[-1]) < 12 and sum(map(len, lots[-1])) + len(text) < 65_000:
            lots[-1].append(text)
        else:
            lots.append([text])
    kept = [keep_hostile(services, lot * 3 if len(lot) < 3 else lot) for lot in lots]
    keep_hostile_names(services, list(HOSTILE.values())[::5])
    services.search.index_due(limit=1_000)
    return [
        "/review/search?q=outcome:unsure",
        "/review/search?q=%3Cscript%3E+author:%22%3Csvg",
        *(f"/review/campaigns/{campaign_id}" for _, campaign_id in kept),
        *(f"/review/comments/{comment_id}?show=ham" for comment_id, _ in kept),
    ]


def routes(app: Flask, method: str) -> list[Rule]:
    """Return the moderators' routes of this method."""
    return sorted(
        (
            rule
            for rule in app.url_map.iter_rules()
            if rule.endpoint.startswith("pages.") and method in (rule.methods or set())
        ),
        key=attrgetter("endpoint"),
    )


def page_addresses(app: Flask, known: dict[str, str]) -> list[str]:
    """Return the address of every whole page for moderators; fails where one is not known."""
    found = [rule for rule in routes(app, "GET") if rule.endpoint not in NO_WHOLE_PAGE]
    return sorted(rule.build(known, append_unknown=False)[1] for rule in found)
