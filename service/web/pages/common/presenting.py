"""Turns a case into what the review page shows of it: words, numbers and lengths, no markup."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from service.domain.campaign import LOW_P_SPAM, SELLS_P_SPAM
from service.domain.case import Case
from service.domain.claim import Claim
from service.domain.comment import Comment, Post, SiteId
from service.domain.decision import EDIT_POLICY, Action, Decision, Mode, Ruling
from service.domain.normal_form import unescape
from service.domain.phrase import Phrase
from service.domain.report import Label
from service.domain.site import Site
from service.domain.verdict import Outcome, SecondOpinion, Span, Verdict, WeighedSignal, WeightKind
from service.scoring.lean import (
    BY_AUTHORS_SITE,
    BY_NAME,
    BY_POST,
    HIGHER_CUTOFF,
    SITE_DECISIONS,
    beside_of,
    quote_lean,
)
from service.scoring.rules import REASONS
from service.signals.detectors.seam import BETWEEN, INTO_ADVERT, INTO_REMARK
from service.signals.links import Link, find_links
from service.web.edge.language import (
    ENGLISH,
    day_in_words,
    gettext,
    is_said,
    ngettext,
    noted,
    probability,
    said,
)
from service.web.edge.language import number as in_thousands
from service.web.pages.common.labels import (
    CALLED_BECAUSE,
    CALLED_BY,
    KEPT_BECAUSE,
    KEPT_BY,
    KEPT_WHO,
    OUTCOME_NAMES,
    REPORTED,
    REPORTED_BY,
    RULED_BY,
    RULED_HEADINGS,
    SITE_DOES,
    SITE_DOES_FOR_NOW,
)
from service.web.pages.common.link_targets import MAX_SHOWN as MAX_LINKS_SHOWN
from service.web.pages.common.link_targets import LinkView, count_targets, present_links
from service.web.pages.common.marking import (
    Layer,
    Piece,
    Seam,
    part_text,
    shorten,
)
from service.web.pages.common.one_sentence import Sentence, in_one_sentence

# What fits on a laptop's screen together with the reasons; the rest is one click away.
_WORDS_SHOWN = 2_400
_LINES_SHOWN = 36
_ROW_CHARS = 150
_EXCERPT_CHARS = 180
_LANGUAGE_TAG = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{1,8}){0,3}")
_SPACES = " \t\r\n"
_SPACE = re.compile(f"[{_SPACES}]+")
_MISSING = {
    "model": noted("Missing: the classifier did not respond."),
    "history": noted("Missing: the sender's history could not be fetched."),
    "detectors": noted("Missing: the detectors could not run."),
    "judging": noted("Missing: judging this comment failed."),
    "text": noted("Missing: the comment shows no characters."),
}
_BESIDE = {
    BY_NAME: noted("the shape of the author's name"),
    BY_AUTHORS_SITE: noted("the author's site"),
    BY_POST: noted("the post"),
}
# What is shown of a seam where the verdict doubts it, or thinks the comment sincere. Reasons are
# kept with their verdicts, and worded when they are shown.
_DOUBTFUL = {
    BETWEEN: noted("between two remarks (%(remark)s) may stand an advertisement (%(sells)s)"),
    INTO_ADVERT: noted(
        "a remark may turn into an advertisement; before: %(remark)s; after: %(sells)s"
    ),
    INTO_REMARK: noted(
        "an advertisement may turn into a remark; before: %(sells)s; after: %(remark)s"
    ),
}
_WEAK = {
    BETWEEN: noted("between two remarks (%(remark)s) stands another tone (%(sells)s)"),
    INTO_ADVERT: noted("a remark goes on in another tone; before: %(remark)s; after: %(sells)s"),
    INTO_REMARK: noted("one tone turns into another; before: %(sells)s; after: %(remark)s"),
}
# How a day is written, in the letters of Unicode's date patterns (UTS 35).
_SHORT_DAY = noted("d MMM y")
# A contribution smaller than the first changes the odds by less than a twentieth; one of the second
# doubles them; one of the third makes them seven times as high or as low.
_WORTH_A_BAR, _COUNTS, _COUNTS_MUCH = 0.05, 0.7, 2.0
_SIDES = {
    True: (noted("a little for ham"), noted("for ham"), noted("strongly for ham")),
    False: (noted("a little for spam"), noted("for spam"), noted("strongly for spam")),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """A time, as a person reads it and exactly."""

    short: str
    exact: str
    iso: str
    day: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """One line of what speaks for and against; `side` says for what, and how much.

    `number` is the one its marks in the text carry, None where it marks nothing. The bar runs
    from the middle: `bar_from` and `bar_width` are percentages of the whole width. `language` is
    that of the words where it is not the page's: old reasons are kept in English alone. `quotes`
    are words of the comment that the line leans on. `right` says whether the weight is fitted, set
    or learnt here.
    """

    says: str
    side: str
    language: str | None = None
    for_ham: bool = False
    number: int | None = None
    promo: bool = False
    quotes: tuple[tuple[Piece, ...], ...] = ()
    bar_from: float = 50.0
    bar_width: float = 0.0
    right: str = ""


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
    """A verdict: its outcome, the comment in one sentence, and what speaks for and against it."""

    outcome: Outcome
    outcome_in_words: str
    p_spam: str
    meaning: Sentence
    headline: str
    missing: tuple[str, ...]
    scale: Scale
    base: str
    evidence: tuple[Evidence, ...]
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
    note: tuple[Piece, ...] = ()


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
    `withdrawn` says when the site took the comment back: its words are gone then. `claimed_by` is
    who else looks at it now, empty for nobody. `links` are its targets, `more_links` how many are
    left out. `appeal` are its author's words against its being held or rejected.
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
    is_open: bool
    site_does: str
    site_does_for_now: str
    links: tuple[LinkView, ...]
    more_links: int
    claimed_by: tuple[Piece, ...]
    second_opinion: SecondOpinion | None
    appeal: tuple[Piece, ...]
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
    outcome_in_words: str
    p_spam: str
    at: float
    audit: bool
    reported: Label | None
    withdrawn: Moment | None
    degraded: bool
    decision: DecisionView | None
    claimed_by: tuple[Piece, ...]
    skipped: bool
    second_opinion: SecondOpinion | None
    appealed: bool


def present_row(
    case: Case,
    *,
    sites: Mapping[SiteId, Site],
    now: datetime,
    claim: Claim | None = None,
    skipped: bool = False,
) -> RowView:
    """Return a case as a line of the list; `claim` is another's."""
    comment, verdict = case.comment, case.verdict
    return RowView(
        id=comment.id,
        excerpt=part_text(beginning(comment.text, _ROW_CHARS)),
        author_name=part_text(beginning(comment.author.name or "", 60)),
        post_title=part_text(beginning(title_of(comment.post) or comment.post.url or "", 80)),
        site_name=_site_name(comment, sites),
        received=tell_time(comment.received_at, now),
        outcome=verdict.outcome if verdict else None,
        outcome_in_words=gettext(OUTCOME_NAMES[verdict.outcome]) if verdict else "",
        p_spam=stands_at(verdict) if verdict else "",
        at=round(verdict.p_spam * 100, 2) if verdict else 0.0,
        audit=case.audit,
        reported=_reported(case),
        withdrawn=_withdrawn(case, now),
        degraded=verdict is not None and verdict.degraded,
        decision=_decision(case.decision, now),
        claimed_by=_holder(case, claim),
        skipped=skipped and case.is_open,
        appealed=case.is_appealed,
        second_opinion=case.second_opinion,
    )


def present_case(
    case: Case,
    *,
    sites: Mapping[SiteId, Site],
    now: datetime,
    claim: Claim | None = None,
) -> CaseView:
    """Return everything the page shows about a case; `claim` as in `present_row`."""
    comment = case.comment
    links = find_links(comment.text)
    # Of a withdrawn comment there is nothing left to mark.
    layers = _layers(case.verdict) if case.verdict and not case.withdrawn_at else ()
    return CaseView(
        id=comment.id,
        words=_words(comment.text, links, layers, _seams(case.verdict)),
        language=_language(comment.language),
        author_name=part_text(comment.author.name or ""),
        author_url=_with_host(comment.author.url or ""),
        author_facts=_author_facts(comment),
        email_domain=part_text(comment.sender.email_domain or ""),
        user_agent=part_text(beginning(comment.user_agent or "", 200)),
        post_title=part_text(title_of(comment.post)),
        post_url=_with_host(comment.post.url or ""),
        post_excerpt=_excerpt(comment.post.excerpt or ""),
        reply_to=part_text(beginning(comment.reply_to or "", 200)),
        site_name=_site_name(comment, sites),
        received=tell_time(comment.received_at, now),
        verdict=_verdict(case.verdict, layers, comment.text, links, now) if case.verdict else None,
        decision=_decision(case.decision, now),
        audit=case.audit,
        reported=_reported(case),
        withdrawn=_withdrawn(case, now),
        needs_review=case.needs_review,
        is_open=case.is_open,
        appeal=part_text(case.appeal.text if case.appeal else ""),
        site_does=gettext(SITE_DOES[case.action]),
        site_does_for_now=_for_now(case),
        links=present_links(links),
        more_links=max(0, count_targets(links) - MAX_LINKS_SHOWN),
        claimed_by=_holder(case, claim),
        second_opinion=case.second_opinion,
        history=_history(case, now),
    )


def stands_at(verdict: Verdict) -> str:
    """Return a verdict's probability with digits enough to see on which side of its cutoffs."""
    return probability(verdict.p_spam, beside=(verdict.ham_cutoff, verdict.spam_cutoff))


def _cutoff(cutoff: float, verdict: Verdict) -> str:
    return probability(cutoff, beside=(verdict.p_spam,))


def tell_time(moment: datetime, now: datetime) -> Moment:
    """Return a moment as time past, exactly, and for machines."""
    moment = moment.astimezone(UTC)
    return Moment(
        short=_past(moment, now),
        exact=gettext("%(day)s, %(time)s UTC", day=day_in_words(moment), time=f"{moment:%H:%M:%S}"),
        iso=moment.isoformat(timespec="seconds"),
        day=day_in_words(moment),
    )


def _past(moment: datetime, now: datetime) -> str:
    past = now - moment
    if past < timedelta(minutes=1):
        return gettext("just now")
    if past < timedelta(hours=1):
        return gettext("%(n)s min ago", n=past // timedelta(minutes=1))
    if past < timedelta(days=1):
        return gettext("%(n)s h ago", n=past // timedelta(hours=1))
    if past < timedelta(days=2):
        return gettext("yesterday")
    if past < timedelta(days=14):
        return ngettext("%(num)s day ago", "%(num)s days ago", past.days)
    return day_in_words(moment, _SHORT_DAY)


def beginning(text: str, max_chars: int) -> str:
    """Return the start of a text on one line, whatever space stands before it or within."""
    flat = _SPACE.sub(" ", text.lstrip(_SPACES)[: max_chars * 4]).strip()
    return flat if len(flat) <= max_chars else flat[:max_chars].rstrip() + "…"


def title_of(post: Post) -> str:
    """Return a post's title as its platform shows it; many send HTML entities for punctuation.

    It is text as before, hostile, and to be escaped by whoever shows it.
    """
    return unescape(post.title or "")


def _layers(verdict: Verdict) -> tuple[Layer, ...]:
    """Number whatever marks something, in the order in which the evidence is listed."""
    marking = [(verdict.promo_spans, True)] if verdict.promo_spans else []
    marking += [(w.signal.spans, False) for w in verdict.signals if w.signal.spans]
    return tuple(
        Layer(number=number, spans=spans, promo=promo)
        for number, (spans, promo) in enumerate(marking, start=1)
    )


def _seams(verdict: Verdict | None) -> dict[int, Seam]:
    """Return where the advertisement begins and where the remark goes on after it.

    It is called one as far as the verdict bears it out: over a comment that looks sincere the
    words only say that something changes.
    """
    if verdict is None:
        return {}
    strong = verdict.p_spam >= SELLS_P_SPAM
    if strong:
        turns = gettext("turns into an advertisement")
    elif verdict.p_spam >= LOW_P_SPAM:
        turns = gettext("may turn into an advertisement")
    else:
        turns = gettext("goes on in another tone")
    back = gettext("back to the remark")
    return {
        boundary: Seam(says=turns if boundary in starts else back, strong=strong)
        for signal in (w.signal for w in verdict.signals)
        for starts in [{span.start for span in signal.spans}]
        for boundary in signal.boundaries
    }


def _words(
    text: str, links: Sequence[Link], layers: tuple[Layer, ...], seams: Mapping[int, Seam]
) -> Words:
    pieces = part_text(text, layers=layers, seams=seams, hosts=_hosts(text, links))
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
    return part_text(url, hosts=_hosts(url, find_links(url)))


def _hosts(text: str, links: Sequence[Link]) -> list[Span]:
    """Return where the hosts of links stand, as far as they stand there in plain letters."""
    hosts = []
    for link in links:
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
        return (gettext("has an account"),) if comment.author.account_id else ()
    return (
        ngettext(
            "account %(days)s day old", "account %(days)s days old", days, days=in_thousands(days)
        ),
    )


def _site_name(comment: Comment, sites: Mapping[SiteId, Site]) -> str:
    site = sites.get(comment.site_id)
    return site.name if site else comment.site_id


def _kept_from(decision: Decision) -> str | None:
    """Return who ruled on the comment before an edit that keeps the ruling, None for any other."""
    by = decision.decided_by
    return by.removeprefix(EDIT_POLICY) if by.startswith(EDIT_POLICY) else None


def _decision(decision: Decision | None, now: datetime) -> DecisionView | None:
    if decision is None:
        return None
    kept_from = _kept_from(decision)
    by = decision.decided_by if kept_from is None else gettext(KEPT_WHO, who=kept_from)
    return DecisionView(
        id=decision.id,
        ruling=decision.ruling,
        in_words=gettext(RULED_HEADINGS[decision.ruling]),
        by=part_text(by),
        when=tell_time(decision.decided_at, now),
    )


def _reported(case: Case) -> Label | None:
    """Return what the site says against the verdict while that still asks for a ruling."""
    disputed = case.disputed and case.withdrawn_at is None
    return case.reports[-1].label if disputed else None


def _withdrawn(case: Case, now: datetime) -> Moment | None:
    return tell_time(case.withdrawn_at, now) if case.withdrawn_at else None


def _holder(case: Case, claim: Claim | None) -> tuple[Piece, ...]:
    """Return who else looks at a comment that is still to be decided."""
    return part_text(claim.user_name) if claim is not None and case.is_open else ()


def _for_now(case: Case) -> str:
    if case.mode is Mode.OBSERVE and case.action is Action.PUBLISH:
        return gettext("Currently the site publishes it, because it only observes.")
    return gettext(SITE_DOES_FOR_NOW[case.action])


def _history(case: Case, now: datetime) -> tuple[Event, ...]:
    """Return what happened to a comment, oldest first."""
    events = [_event(case.comment.received_at, gettext("Received"), now)]
    if case.verdict:
        model = case.verdict.model_version
        called = gettext(CALLED_BY[case.verdict.outcome], model=model)
        events.append(_event(case.verdict.judged_at, called, now))
    for decision in case.decisions:
        events += _decision_events(decision, now)
    for report in case.reports:
        said = (
            gettext(REPORTED_BY[report.label], who=report.reported_by)
            if report.reported_by
            else gettext(REPORTED[report.label])
        )
        events.append(_event(report.reported_at, said, now))
    if case.appeal is not None:
        events.append(_event(case.appeal.at, gettext("The author appealed"), now))
    if case.withdrawn_at is not None:
        events.append(_event(case.withdrawn_at, gettext("Text deleted"), now))
    return tuple(event for _, event in sorted(events, key=lambda one: one[0]))


def _decision_events(decision: Decision, now: datetime) -> list[tuple[datetime, Event]]:
    """Return a ruling with its note, and its undoing if it was undone."""
    kept_from = _kept_from(decision)
    says = RULED_BY if kept_from is None else KEPT_BY
    ruled = gettext(says[decision.ruling], who=kept_from or decision.decided_by)
    at, event = _event(decision.decided_at, ruled, now)
    why = decision.note or ""
    note = part_text(why if kept_from is None else gettext(KEPT_BECAUSE.get(why, why)))
    events = [(at, replace(event, note=note, undone=decision.undone_at is not None))]
    if decision.undone_at is not None:
        taken_back = gettext("Undone by %(who)s", who=decision.undone_by or "")
        events.append(_event(decision.undone_at, taken_back, now))
    return events


def _event(at: datetime, what: str, now: datetime) -> tuple[datetime, Event]:
    return at, Event(what=part_text(what), when=tell_time(at, now))


def _verdict(
    verdict: Verdict, layers: tuple[Layer, ...], text: str, links: Sequence[Link], now: datetime
) -> VerdictView:
    return VerdictView(
        outcome=verdict.outcome,
        outcome_in_words=gettext(OUTCOME_NAMES[verdict.outcome]),
        p_spam=stands_at(verdict),
        meaning=in_one_sentence(verdict, links),
        headline=_headline(verdict),
        missing=tuple(_missing(what) for what in verdict.degraded_by),
        scale=_scale(verdict),
        base=_side(verdict.base),
        evidence=_evidence(verdict, layers, text),
        model_version=verdict.model_version,
        judged=tell_time(verdict.judged_at, now),
    )


def _headline(verdict: Verdict) -> str:
    """Return why the outcome is what it is; nothing where an entry decided it, which says so."""
    if verdict.followed:
        return ""
    if verdict.degraded:
        return gettext("Left to a person: evidence is missing.")
    if verdict.held_by:
        why = "; ".join(said(REASONS[rule]) for rule in verdict.held_by)
        return gettext("Held by a rule of this site, not by its evidence: %(why)s.", why=why)
    return gettext(
        CALLED_BECAUSE[verdict.outcome],
        ham=_cutoff(verdict.ham_cutoff, verdict),
        spam=_cutoff(verdict.spam_cutoff, verdict),
    )


def _missing(what: str) -> str:
    known = _MISSING.get(what)
    return gettext(known) if known else gettext("Missing: %(what)s.", what=what)


def _scale(verdict: Verdict) -> Scale:
    ham, spam = _cutoff(verdict.ham_cutoff, verdict), _cutoff(verdict.spam_cutoff, verdict)
    return Scale(
        at=round(verdict.p_spam * 100, 2),
        ham_cutoff=round(verdict.ham_cutoff * 100, 2),
        spam_cutoff=round(verdict.spam_cutoff * 100, 2),
        in_words=gettext(
            "%(p)s probability of spam; ham below %(ham)s, spam from %(spam)s",
            p=stands_at(verdict),
            ham=ham,
            spam=spam,
        ),
        ham_label=gettext("ham below %(ham)s", ham=ham),
        spam_label=gettext("spam from %(spam)s", spam=spam),
    )


def _evidence(verdict: Verdict, layers: tuple[Layer, ...], text: str) -> tuple[Evidence, ...]:
    """Return the lines of the sum: the classifier, then each signal as the verdict orders them."""
    numbers = iter(layer.number for layer in layers)
    most = max(
        (abs(c) for c in (verdict.model_contribution, *(w.contribution for w in verdict.signals))),
        default=0.0,
    )
    lines = []
    if verdict.model_p_spam is not None:
        says = gettext(
            "The classifier gives its words %(p)s probability of spam",
            p=probability(verdict.model_p_spam),
        )
        number = next(numbers, None) if verdict.promo_spans else None
        lines.append(
            _line(says, verdict.model_contribution, most, number=number, promo=number is not None)
        )
    for weighed in verdict.signals:
        number = next(numbers, None) if weighed.signal.spans else None
        if weighed.signal.name == SITE_DECISIONS:
            lines.append(_decisions_line(weighed, most, text, number=number))
        else:
            lines.append(_signal_line(weighed, most, verdict.p_spam, number=number))
    return tuple(lines)


def _decisions_line(
    weighed: WeighedSignal, most: float, text: str, *, number: int | None
) -> Evidence:
    """Return what the site's decisions add, with the words of the comment that they lean on."""
    quotes = tuple(map(part_text, quote_lean(weighed.signal, text)))
    beside = [gettext(_BESIDE.get(one, one)) for one in beside_of(weighed.signal.reason)]
    mostly = gettext("This site's decisions, mostly by")
    says = " ".join([mostly, ", ".join(beside)]) if beside else mostly
    if not beside and not quotes:
        says = gettext("This site's decisions")
    higher = weighed.signal.reason.endswith(HIGHER_CUTOFF)
    right = gettext("until more is decided here, spam starts higher") if higher else ""
    line = _line(says, weighed.contribution, most, number=number)
    return replace(line, quotes=quotes, right=right)


def _signal_line(
    weighed: WeighedSignal, most: float, p_spam: float, *, number: int | None
) -> Evidence:
    # It speaks of an advertisement as far as the verdict does.
    seam = {} if p_spam >= SELLS_P_SPAM else _DOUBTFUL if p_spam >= LOW_P_SPAM else _WEAK
    phrase = Phrase.of(weighed.signal.reason)
    reason = said(phrase, seam)
    says = reason[:1].upper() + reason[1:]
    language = None if is_said(phrase) else ENGLISH
    if weighed.weight == 0.0:
        recorded = gettext("only recorded")
        return Evidence(says=says, side=recorded, language=language, number=number)
    line = _line(says, weighed.contribution, most, number=number)
    return replace(line, language=language, right=_right(weighed))


def _right(weighed: WeighedSignal) -> str:
    """Return by which right a signal weighs that, "" where an old verdict does not tell."""
    if weighed.kind is WeightKind.FITTED:
        return gettext("weight fitted")
    if weighed.kind is WeightKind.SET:
        return gettext("weight set by judgement")
    if weighed.kind is WeightKind.LEARNT and weighed.decisions:
        return ngettext(
            "learnt from %(num)s decision here",
            "learnt from %(num)s decisions here",
            weighed.decisions,
        )
    return gettext("learnt here") if weighed.kind else ""


def _line(
    says: str, contribution: float, most: float, *, number: int | None, promo: bool = False
) -> Evidence:
    width = 50 * abs(contribution) / most if most else 0.0
    return Evidence(
        says=says,
        side=_side(contribution),
        for_ham=contribution <= 0,
        number=number,
        promo=promo,
        bar_from=round(50.0 if contribution > 0 else 50.0 - width, 1),
        bar_width=round(width, 1),
    )


def _side(contribution: float) -> str:
    """Return in words for what some log-odds speak, and how much."""
    if abs(contribution) < _WORTH_A_BAR:
        return gettext("hardly counts")
    a_little, plainly, strongly = _SIDES[contribution < 0]
    if abs(contribution) < _COUNTS:
        return gettext(a_little)
    return gettext(plainly if abs(contribution) < _COUNTS_MUCH else strongly)
