"""Turns a case into what the review page shows of it: words, numbers and lengths, no markup."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from service.domain.case import Case
from service.domain.comment import Comment, SiteId
from service.domain.decision import Action, Decision, Mode, Ruling
from service.domain.report import Label
from service.domain.site import Site
from service.domain.verdict import Outcome, Span, Verdict, WeighedSignal
from service.scoring.explanation import explain, percent
from service.signals.links import find_links
from service.web.marking import Layer, Piece, part_text, shorten

# What fits on a laptop's screen together with the reasons; the rest is one click away.
_WORDS_SHOWN = 2_400
_LINES_SHOWN = 36
_ROW_CHARS = 150
_EXCERPT_CHARS = 180
_LANGUAGE_TAG = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{1,8}){0,3}")
_ACTION_IN_WORDS = {
    Action.PUBLISH: "publishes it",
    Action.HOLD: "holds it back",
    Action.REJECT: "rejects it",
}
_RULING_IN_WORDS = {Ruling.APPROVE: "Approved", Ruling.REJECT: "Rejected"}
# A contribution smaller than this changes the odds by less than a twentieth.
_WORTH_A_BAR = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """A time, as a person reads it and exactly."""

    short: str
    exact: str
    iso: str
    day: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """One line of the sum that makes the score.

    `number` is the one its marks in the text carry, None where it marks nothing. The bar runs
    from the middle: `bar_from` and `bar_width` are percentages of the whole width.
    """

    says: str
    contribution: str
    side: str
    number: int | None = None
    promo: bool = False
    bar_from: float = 50.0
    bar_width: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """Where the probability lies against the two cutoffs, all as percentages of the width."""

    at: float
    ham_cutoff: float
    spam_cutoff: float
    in_words: str
    ham_label: str
    spam_label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictView:
    """A verdict: its outcome, why, and the sum behind it."""

    outcome: Outcome
    p_spam: str
    headline: str
    missing: tuple[str, ...]
    scale: Scale
    base: str
    evidence: tuple[Evidence, ...]
    score: str
    model_version: str
    judged: Moment


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """A text in pieces; `rest` is what stays folded away until asked for."""

    first: tuple[Piece, ...]
    rest: tuple[Piece, ...] = ()
    total_chars: int = 0
    marks_in_rest: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One thing that happened to the comment."""

    what: tuple[Piece, ...]
    when: Moment
    undone: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionView:
    """The decision in force."""

    id: str
    ruling: Ruling
    in_words: str
    by: tuple[Piece, ...]
    when: Moment


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseView:
    """One comment with all there is to know about it.

    `reported` is the site's own label where it contradicts the verdict and nobody has ruled.
    `withdrawn` says when the site took the comment back: its words are gone then.
    """

    id: str
    words: Words
    language: str | None
    author_name: tuple[Piece, ...]
    author_url: tuple[Piece, ...]
    author_facts: tuple[str, ...]
    email_domain: tuple[Piece, ...]
    user_agent: tuple[Piece, ...]
    post_title: tuple[Piece, ...]
    post_url: tuple[Piece, ...]
    post_excerpt: Words
    reply_to: tuple[Piece, ...]
    site_name: str
    received: Moment
    verdict: VerdictView | None
    decision: DecisionView | None
    audit: bool
    reported: Label | None
    withdrawn: Moment | None
    needs_review: bool
    site_does: str
    site_observes: bool
    history: tuple[Event, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RowView:
    """One comment as a line of the list."""

    id: str
    excerpt: tuple[Piece, ...]
    author_name: tuple[Piece, ...]
    post_title: tuple[Piece, ...]
    site_name: str
    received: Moment
    outcome: Outcome | None
    p_spam: str
    at: float
    audit: bool
    reported: Label | None
    withdrawn: Moment | None
    degraded: bool
    decision: DecisionView | None


def present_row(case: Case, *, sites: Mapping[SiteId, Site], now: datetime) -> RowView:
    """Return a case as a line of the list."""
    comment, verdict = case.comment, case.verdict
    return RowView(
        id=comment.id,
        excerpt=part_text(_beginning(comment.text, _ROW_CHARS)),
        author_name=part_text(_beginning(comment.author.name or "", 60)),
        post_title=part_text(_beginning(comment.post.title or comment.post.url or "", 80)),
        site_name=_site_name(comment, sites),
        received=tell_time(comment.received_at, now),
        outcome=verdict.outcome if verdict else None,
        p_spam=percent(verdict.p_spam) if verdict else "",
        at=round(verdict.p_spam * 100, 2) if verdict else 0.0,
        audit=case.audit,
        reported=_reported(case),
        withdrawn=_withdrawn(case, now),
        degraded=verdict is not None and verdict.degraded,
        decision=_decision(case.decision, now),
    )


def present_case(case: Case, *, sites: Mapping[SiteId, Site], now: datetime) -> CaseView:
    """Return everything the page shows about a case."""
    comment = case.comment
    # Of a withdrawn comment there is nothing left to mark.
    layers = _layers(case.verdict) if case.verdict and not case.withdrawn_at else ()
    return CaseView(
        id=comment.id,
        words=_words(comment.text, layers, _seams(case.verdict)),
        language=_language(comment.language),
        author_name=part_text(comment.author.name or ""),
        author_url=_with_host(comment.author.url or ""),
        author_facts=_author_facts(comment),
        email_domain=part_text(comment.sender.email_domain or ""),
        user_agent=part_text(_beginning(comment.user_agent or "", 200)),
        post_title=part_text(comment.post.title or ""),
        post_url=_with_host(comment.post.url or ""),
        post_excerpt=_excerpt(comment.post.excerpt or ""),
        reply_to=part_text(_beginning(comment.reply_to or "", 200)),
        site_name=_site_name(comment, sites),
        received=tell_time(comment.received_at, now),
        verdict=_verdict(case.verdict, layers, now) if case.verdict else None,
        decision=_decision(case.decision, now),
        audit=case.audit,
        reported=_reported(case),
        withdrawn=_withdrawn(case, now),
        needs_review=case.needs_review,
        site_does=_ACTION_IN_WORDS[case.action],
        site_observes=case.mode is Mode.OBSERVE,
        history=_history(case, now),
    )


def tell_time(moment: datetime, now: datetime) -> Moment:
    """Return a moment as time past, exactly, and for machines."""
    moment = moment.astimezone(UTC)
    return Moment(
        short=_past(moment, now),
        exact=f"{moment.day} {moment:%B %Y, %H:%M:%S} UTC",
        iso=moment.isoformat(timespec="seconds"),
        day=f"{moment.day} {moment:%B %Y}",
    )


def _past(moment: datetime, now: datetime) -> str:
    past = now - moment
    if past < timedelta(minutes=1):
        return "just now"
    if past < timedelta(hours=1):
        return f"{past // timedelta(minutes=1)} min ago"
    if past < timedelta(days=1):
        return f"{past // timedelta(hours=1)} h ago"
    if past < timedelta(days=2):
        return "yesterday"
    if past < timedelta(days=14):
        return f"{past.days} days ago"
    return f"{moment.day} {moment:%b %Y}"


def _beginning(text: str, max_chars: int) -> str:
    """Return the start of a text on one line."""
    flat = text[: max_chars * 2].replace("\n", " ").strip()
    return flat if len(flat) <= max_chars else flat[:max_chars].rstrip() + "…"


def _layers(verdict: Verdict) -> tuple[Layer, ...]:
    """Number whatever marks something, in the order in which the evidence is listed."""
    marking = [(verdict.promo_spans, True)] if verdict.promo_spans else []
    marking += [(w.signal.spans, False) for w in verdict.signals if w.signal.spans]
    return tuple(
        Layer(number=number, spans=spans, promo=promo)
        for number, (spans, promo) in enumerate(marking, start=1)
    )


def _seams(verdict: Verdict | None) -> dict[int, str]:
    """Return where the advertisement begins and where the remark goes on after it."""
    signals = [w.signal for w in verdict.signals] if verdict else []
    return {
        boundary: "turns into an advertisement" if boundary in starts else "back to the remark"
        for signal in signals
        for starts in [{span.start for span in signal.spans}]
        for boundary in signal.boundaries
    }


def _words(text: str, layers: tuple[Layer, ...], seams: Mapping[int, str]) -> Words:
    pieces = part_text(text, layers=layers, seams=seams, hosts=_hosts(text))
    first, rest = shorten(pieces, max_chars=_WORDS_SHOWN, max_lines=_LINES_SHOWN)
    return Words(
        first=first,
        rest=rest,
        total_chars=len(text),
        marks_in_rest=sum(len(piece.ends) for piece in rest),
    )


def _excerpt(text: str) -> Words:
    first, rest = shorten(part_text(text.strip()), max_chars=_EXCERPT_CHARS, max_lines=2)
    return Words(first=first, rest=rest, total_chars=len(text))


def _with_host(url: str) -> tuple[Piece, ...]:
    return part_text(url, hosts=_hosts(url))


def _hosts(text: str) -> list[Span]:
    """Return where the hosts of links stand, as far as they stand there in plain letters."""
    hosts = []
    for link in find_links(text):
        written = text[link.start : link.end].lower()
        at = written.rfind(link.host)
        if at >= 0 and len(written) == link.end - link.start:
            hosts.append(Span(start=link.start + at, end=link.start + at + len(link.host)))
    return hosts


def _language(tag: str | None) -> str | None:
    return tag if tag and _LANGUAGE_TAG.fullmatch(tag) else None


def _author_facts(comment: Comment) -> tuple[str, ...]:
    days = comment.author.account_age_days
    if days is None:
        return ("has an account",) if comment.author.account_id else ()
    return (f"account {days:,} {'day' if days == 1 else 'days'} old",)


def _site_name(comment: Comment, sites: Mapping[SiteId, Site]) -> str:
    site = sites.get(comment.site_id)
    return site.name if site else comment.site_id


def _decision(decision: Decision | None, now: datetime) -> DecisionView | None:
    if decision is None:
        return None
    return DecisionView(
        id=decision.id,
        ruling=decision.ruling,
        in_words=_RULING_IN_WORDS[decision.ruling],
        by=part_text(decision.decided_by),
        when=tell_time(decision.decided_at, now),
    )


def _reported(case: Case) -> Label | None:
    """Return what the site says against the verdict while that still asks for a ruling."""
    disputed = case.disputed and case.withdrawn_at is None
    return case.reports[-1].label if disputed else None


def _withdrawn(case: Case, now: datetime) -> Moment | None:
    return tell_time(case.withdrawn_at, now) if case.withdrawn_at else None


def _history(case: Case, now: datetime) -> tuple[Event, ...]:
    """Return what happened to a comment, oldest first."""
    events: list[tuple[datetime, str, bool]] = [(case.comment.received_at, "Received", False)]
    if case.verdict:
        judged = f"Called {case.verdict.outcome} by {case.verdict.model_version}"
        events.append((case.verdict.judged_at, judged, False))
    for decision in case.decisions:
        ruled = f"{_RULING_IN_WORDS[decision.ruling]} by {decision.decided_by}"
        events.append((decision.decided_at, ruled, decision.undone_at is not None))
        if decision.undone_at is not None:
            events.append((decision.undone_at, f"Taken back by {decision.undone_by}", False))
    for report in case.reports:
        by = f" by {report.reported_by}" if report.reported_by else ""
        events.append((report.reported_at, f"Reported as {report.label}{by}", False))
    if case.withdrawn_at is not None:
        events.append((case.withdrawn_at, "Withdrawn by its site", False))
    events.sort(key=lambda event: event[0])
    return tuple(Event(what=part_text(w), when=tell_time(at, now), undone=u) for at, w, u in events)


def _verdict(verdict: Verdict, layers: tuple[Layer, ...], now: datetime) -> VerdictView:
    sentences = explain(verdict)
    return VerdictView(
        outcome=verdict.outcome,
        p_spam=percent(verdict.p_spam),
        headline=sentences[0],
        missing=tuple(sentences[len(sentences) - len(verdict.degraded_by) :]),
        scale=_scale(verdict),
        base=_signed(verdict.base),
        evidence=_evidence(verdict, layers),
        score=_signed(verdict.score),
        model_version=verdict.model_version,
        judged=tell_time(verdict.judged_at, now),
    )


def _scale(verdict: Verdict) -> Scale:
    ham, spam = percent(verdict.ham_cutoff), percent(verdict.spam_cutoff)
    return Scale(
        at=round(verdict.p_spam * 100, 2),
        ham_cutoff=round(verdict.ham_cutoff * 100, 2),
        spam_cutoff=round(verdict.spam_cutoff * 100, 2),
        in_words=f"{percent(verdict.p_spam)} likely spam; ham below {ham}, spam from {spam}",
        ham_label=f"ham below {ham}",
        spam_label=f"spam from {spam}",
    )


def _evidence(verdict: Verdict, layers: tuple[Layer, ...]) -> tuple[Evidence, ...]:
    """Return the lines of the sum: the classifier, then each signal as the verdict orders them."""
    numbers = iter(layer.number for layer in layers)
    most = max(
        (abs(c) for c in (verdict.model_contribution, *(w.contribution for w in verdict.signals))),
        default=0.0,
    )
    lines = []
    if verdict.model_p_spam is not None:
        says = (
            f"The classifier, from the words alone, gives {percent(verdict.model_p_spam)} for spam"
        )
        number = next(numbers, None) if verdict.promo_spans else None
        lines.append(
            _line(says, verdict.model_contribution, most, number=number, promo=number is not None)
        )
    for weighed in verdict.signals:
        number = next(numbers, None) if weighed.signal.spans else None
        lines.append(_signal_line(weighed, most, number=number))
    return tuple(lines)


def _signal_line(weighed: WeighedSignal, most: float, *, number: int | None) -> Evidence:
    says = weighed.signal.reason[:1].upper() + weighed.signal.reason[1:]
    if weighed.weight == 0.0:
        return Evidence(says=says, contribution="0", side="only recorded", number=number)
    return _line(says, weighed.contribution, most, number=number)


def _line(
    says: str, contribution: float, most: float, *, number: int | None, promo: bool = False
) -> Evidence:
    width = 50 * abs(contribution) / most if most else 0.0
    side = "for spam" if contribution > 0 else "for ham"
    return Evidence(
        says=says,
        contribution=_signed(contribution),
        side=side if abs(contribution) >= _WORTH_A_BAR else "hardly counts",
        number=number,
        promo=promo,
        bar_from=round(50.0 if contribution > 0 else 50.0 - width, 1),
        bar_width=round(width, 1),
    )


def _signed(value: float) -> str:
    """Return a number with its sign, a true minus among them."""
    return f"{value:+.2f}".replace("-", "−") if abs(value) >= 0.005 else "0"
