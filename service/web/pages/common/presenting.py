"""Turns a case into what the review page shows of it: words, numbers and lengths, no markup."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from service.domain.campaign import LOW_P_SPAM, SELLS_P_SPAM
from service.domain.case import Case
from service.domain.claim import Claim
from service.domain.comment import Comment, Post
from service.domain.decision import EDIT_POLICY, Action, Decision, Mode
from service.domain.normal_form import unescape
from service.domain.phrase import Phrase
from service.domain.report import Label
from service.domain.verdict import Span, Verdict, WeighedSignal, WeightKind
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
from service.web.edge.language import ENGLISH, gettext, is_said, ngettext, noted, probability, said
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
from service.web.pages.common.marking import Layer, Piece, Seam, part_text, shorten
from service.web.pages.common.one_sentence import Sentence, in_one_sentence
from service.web.pages.common.pages import pages

# What fits on a laptop's screen together with the reasons; the rest is one click away.
_WORDS_SHOWN = 2_400
_LINES_SHOWN = 36
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
# A contribution smaller than the first changes the odds by less than a twentieth; one of the second
# doubles them; one of the third makes them seven times as high or as low.
_WORTH_A_BAR, _COUNTS, _COUNTS_MUCH = 0.05, 0.7, 2.0
_SIDES = {
    True: (noted("a little for ham"), noted("for ham"), noted("strongly for ham")),
    False: (noted("a little for spam"), noted("for spam"), noted("strongly for spam")),
}


pages.add_app_template_filter(lambda outcome: gettext(OUTCOME_NAMES[outcome]), "outcome_name")
pages.add_app_template_filter(lambda ruling: gettext(RULED_HEADINGS[ruling]), "ruling_name")
pages.add_app_template_filter(lambda action: gettext(SITE_DOES[action]), "site_does")


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
    """A verdict: the comment in one sentence, and what speaks for and against it."""

    meaning: Sentence
    headline: str
    missing: tuple[str, ...]
    scale: Scale
    base: str
    evidence: tuple[Evidence, ...]


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

    at: datetime
    what: str
    undone: bool = False
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseView:
    """One comment as it is opened.

    `claimed_by` is who else looks at it now, empty for nobody. `links` are its targets,
    `more_links` how many are left out.
    """

    case: Case
    words: Words
    language: str | None
    author_facts: tuple[str, ...]
    post_excerpt: Words
    verdict: VerdictView | None
    site_does_for_now: str
    links: tuple[LinkView, ...]
    more_links: int
    claimed_by: str
    history: tuple[Event, ...]


def present_case(case: Case, claim: Claim | None = None) -> CaseView:
    """Return everything the page shows about a case; `claim` is another's."""
    comment = case.comment
    links = find_links(comment.text)
    # Of a withdrawn comment there is nothing left to mark.
    layers = _layers(case.verdict) if case.verdict and not case.withdrawn_at else ()
    return CaseView(
        case=case,
        words=_words(comment.text, links, layers, _seams(case.verdict)),
        language=_language(comment.language),
        author_facts=_author_facts(comment),
        post_excerpt=_excerpt(comment.post.excerpt or ""),
        verdict=_verdict(case.verdict, layers, comment.text, links) if case.verdict else None,
        site_does_for_now=_for_now(case),
        links=present_links(links),
        more_links=max(0, count_targets(links) - MAX_LINKS_SHOWN),
        claimed_by=claim.user_name if claim is not None and case.is_open else "",
        history=_history(case),
    )


@pages.app_template_filter()
def stands_at(verdict: Verdict) -> str:
    """Return a verdict's probability with digits enough to see on which side of its cutoffs."""
    return probability(verdict.p_spam, beside=(verdict.ham_cutoff, verdict.spam_cutoff))


def _cutoff(cutoff: float, verdict: Verdict) -> str:
    return probability(cutoff, beside=(verdict.p_spam,))


@pages.app_template_filter()
def beginning(text: str, max_chars: int) -> str:
    """Return the start of a text on one line, whatever space stands before it or within."""
    flat = _SPACE.sub(" ", text.lstrip(_SPACES)[: max_chars * 4]).strip()
    return flat if len(flat) <= max_chars else flat[:max_chars].rstrip() + "…"


@pages.app_template_filter()
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


@pages.app_template_filter()
def with_host(url: str | None) -> tuple[Piece, ...]:
    """Return an address in pieces, its host marked."""
    url = url or ""
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


def _kept_from(decision: Decision) -> str | None:
    """Return who ruled on the comment before an edit that keeps the ruling, None for any other."""
    by = decision.decided_by
    return by.removeprefix(EDIT_POLICY) if by.startswith(EDIT_POLICY) else None


@pages.app_template_filter()
def decided_by(decision: Decision) -> str:
    """Return who decided, for an edit that keeps a ruling who did before it."""
    kept_from = _kept_from(decision)
    return decision.decided_by if kept_from is None else gettext(KEPT_WHO, who=kept_from)


@pages.app_template_filter()
def reported_label(case: Case) -> Label | None:
    """Return what the site says against the verdict while that still asks for a ruling."""
    disputed = case.disputed and case.withdrawn_at is None
    return case.reports[-1].label if disputed else None


def _for_now(case: Case) -> str:
    if case.mode is Mode.OBSERVE and case.action is Action.PUBLISH:
        return gettext("Currently the site publishes it, because it only observes.")
    return gettext(SITE_DOES_FOR_NOW[case.action])


def _history(case: Case) -> tuple[Event, ...]:
    """Return what happened to a comment, oldest first."""
    events = [Event(at=case.comment.received_at, what=gettext("Received"))]
    if case.verdict:
        model = case.verdict.model_version
        called = gettext(CALLED_BY[case.verdict.outcome], model=model)
        events.append(Event(at=case.verdict.judged_at, what=called))
    for decision in case.decisions:
        events += _decision_events(decision)
    for report in case.reports:
        said = (
            gettext(REPORTED_BY[report.label], who=report.reported_by)
            if report.reported_by
            else gettext(REPORTED[report.label])
        )
        events.append(Event(at=report.reported_at, what=said))
    if case.appeal is not None:
        events.append(Event(at=case.appeal.at, what=gettext("The author appealed")))
    if case.withdrawn_at is not None:
        events.append(Event(at=case.withdrawn_at, what=gettext("Text deleted")))
    return tuple(sorted(events, key=lambda event: event.at))


def _decision_events(decision: Decision) -> list[Event]:
    """Return a ruling with its note, and its undoing if it was undone."""
    kept_from = _kept_from(decision)
    says = RULED_BY if kept_from is None else KEPT_BY
    ruled = gettext(says[decision.ruling], who=kept_from or decision.decided_by)
    why = decision.note or ""
    note = why if kept_from is None else gettext(KEPT_BECAUSE.get(why, why))
    undone_at = decision.undone_at
    events = [Event(at=decision.decided_at, what=ruled, note=note, undone=undone_at is not None)]
    if undone_at is not None:
        taken_back = gettext("Undone by %(who)s", who=decision.undone_by or "")
        events.append(Event(at=undone_at, what=taken_back))
    return events


def _verdict(
    verdict: Verdict, layers: tuple[Layer, ...], text: str, links: Sequence[Link]
) -> VerdictView:
    return VerdictView(
        meaning=in_one_sentence(verdict, links),
        headline=_headline(verdict),
        missing=tuple(_missing(what) for what in verdict.degraded_by),
        scale=_scale(verdict),
        base=_side(verdict.base),
        evidence=_evidence(verdict, layers, text),
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
