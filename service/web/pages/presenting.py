"""Template filters for a comment: marked text, evidence, history."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from operator import itemgetter

from service.domain.campaign import LOW_P_SPAM, SELLS_P_SPAM
from service.domain.case import Case
from service.domain.comment import Label, Post
from service.domain.decision import EDIT_POLICY, KEPT_BY_STAFF, KEPT_FEW_WORDS, KEPT_WORDS, Decision
from service.domain.text import Phrase, unescape
from service.domain.verdict import Span, Verdict, WeighedSignal
from service.scoring import residual
from service.scoring.rules import REASONS
from service.scoring.weights import SET_WEIGHTS, Family
from service.signals.detectors.seam import BETWEEN_REMARKS, INTO_ADVERT, INTO_REMARK
from service.signals.links import Link, find_links
from service.web.edge.language import ENGLISH, N_, gettext, is_translated, translate
from service.web.pages.blueprint import pages
from service.web.pages.marking import Layer, Piece, PieceKind, part_text, shorten

# This fits on a laptop's screen together with the reasons.
_WORDS_SHOWN = 2_400
_LINES_SHOWN = 36
_EXCERPT_CHARS = 180
_LANGUAGE_TAG = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{1,8}){0,3}")
_SPACES = " \t\r\n"
_SPACE = re.compile(f"[{_SPACES}]+")
_KEPT_BECAUSE = {
    KEPT_WORDS: N_("The edit changes nothing but spelling and formatting."),
    KEPT_FEW_WORDS: N_("The edit changes a few words and adds no link, contact or offer."),
    KEPT_BY_STAFF: N_("Somebody who may moderate at the site made the edit."),
}
_BESIDE = {
    residual.BY_NAME: N_("the shape of the author's name"),
    residual.BY_AUTHORS_SITE: N_("the author's site"),
    residual.BY_POST: N_("the post"),
}
# Texts for a seam if the verdict is unsure, and if it is ham.
_DOUBTFUL = {
    BETWEEN_REMARKS: N_("between two remarks (%(remark)s) may stand an advertisement (%(sells)s)"),
    INTO_ADVERT: N_(
        "a remark may turn into an advertisement; before: %(remark)s; after: %(sells)s"
    ),
    INTO_REMARK: N_(
        "an advertisement may turn into a remark; before: %(sells)s; after: %(remark)s"
    ),
}
_WEAK = {
    BETWEEN_REMARKS: N_("between two remarks (%(remark)s) stands another tone (%(sells)s)"),
    INTO_ADVERT: N_("a remark goes on in another tone; before: %(remark)s; after: %(sells)s"),
    INTO_REMARK: N_("one tone turns into another; before: %(sells)s; after: %(remark)s"),
}
# Signals about the sender and about other comments, not about this text.
_FROM_ELSEWHERE = frozenset(
    name
    for name, one in SET_WEIGHTS.items()
    if one.family not in {Family.REACTIONS, Family.ACCOUNTS}
)
# A longer host is omitted from the sentence; the page lists all links.
_MAX_HOST_CHARS = 60
# Without a seam, a comment is called an advertisement from this probability, which is symmetric to
# the one below which it is called sincere.
_READS_LIKE_SPAM = 1 - LOW_P_SPAM

pages.add_app_template_filter(find_links)
pages.add_app_template_filter(unescape)
pages.add_app_template_filter(lambda rule: translate(REASONS[rule]), "rule_reason")
pages.add_app_template_filter(
    lambda tag: tag if tag and _LANGUAGE_TAG.fullmatch(tag) else None, "language_tag"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """A verdict's signal in words.

    `number` is the number of its marks in the text. `language` is the tag of an untranslated
    reason. `quotes` are words of the comment that the site's decisions weigh.
    """

    weighed: WeighedSignal
    number: int | None
    says: str
    language: str | None = None
    quotes: Sequence[str] = ()
    higher_cutoff: bool = False


@pages.app_template_filter()
def beginning(text: str, max_chars: int) -> str:
    """Return the start of a text on one line, with white space normalised."""
    flat = _SPACE.sub(" ", text.lstrip(_SPACES)[: max_chars * 4]).strip()
    return flat if len(flat) <= max_chars else flat[:max_chars].rstrip() + "…"


def _layers(case: Case) -> tuple[Layer, ...]:
    """Return the layers of a comment's text, numbered in the order of the evidence."""
    verdict = case.verdict
    if verdict is None or case.withdrawn_at is not None:
        return ()
    marking = [(verdict.promo_spans, True)] if verdict.promo_spans else []
    marking += [(w.signal.spans, False) for w in verdict.signals if w.signal.spans]
    return tuple(
        Layer(number=number, spans=spans, promo=promo)
        for number, (spans, promo) in enumerate(marking, start=1)
    )


def _seams(verdict: Verdict | None) -> dict[int, Piece]:
    """Return boundary pieces by offset: where an advertisement begins and ends."""
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
        boundary: Piece(
            kind=PieceKind.SEAM, hint=turns if boundary in starts else back, promo=strong
        )
        for signal in (w.signal for w in verdict.signals)
        for starts in [{span.start for span in signal.spans}]
        for boundary in signal.boundaries
    }


@pages.app_template_filter()
def marked_text(case: Case, links: Sequence[Link]) -> tuple[Sequence[Piece], Sequence[Piece]]:
    """Return a comment's marked text, as its beginning and the rest."""
    text = case.comment.text
    pieces = part_text(
        text, layers=_layers(case), seams=_seams(case.verdict), hosts=_hosts(text, links)
    )
    return shorten(pieces, max_chars=_WORDS_SHOWN, max_lines=_LINES_SHOWN)


@pages.app_template_filter()
def excerpt(post: Post) -> tuple[Sequence[Piece], Sequence[Piece]]:
    """Return the beginning of a post's excerpt, and the rest."""
    return shorten(part_text((post.excerpt or "").strip()), max_chars=_EXCERPT_CHARS, max_lines=2)


@pages.app_template_filter()
def with_host(url: str | None) -> tuple[Piece, ...]:
    """Return a URL as pieces, with its host marked."""
    url = url or ""
    return part_text(url, hosts=_hosts(url, find_links(url)))


def _hosts(text: str, links: Sequence[Link]) -> list[Span]:
    """Return the spans of the links' hosts that the text has literally."""
    hosts = []
    for link in links:
        written = text[link.start : link.end].lower()
        at = written.rfind(link.host)
        if at >= 0 and len(written) == link.end - link.start:
            hosts.append(Span(start=link.start + at, end=link.start + at + len(link.host)))
    return hosts


@pages.app_template_filter()
def kept_from(decision: Decision) -> str | None:
    """Return the moderator whose ruling an edit kept, or None for any other decision."""
    by = decision.decided_by
    return by.removeprefix(EDIT_POLICY) if by.startswith(EDIT_POLICY) else None


@pages.app_template_filter()
def note_of(decision: Decision) -> str:
    """Return a decision's note, translated if it is why an edit kept the ruling."""
    note = decision.note or ""
    return gettext(_KEPT_BECAUSE[note]) if note in _KEPT_BECAUSE else note


@pages.app_template_filter()
def reported_label(case: Case) -> Label | None:
    """Return the label of the site's last report while it disputes the verdict."""
    disputed = case.disputed and case.withdrawn_at is None
    return case.reports[-1].label if disputed else None


@pages.app_template_filter()
def history(case: Case) -> list[tuple[datetime, str, object]]:
    """Return a comment's events, oldest first: time, name, and verdict, decision or report."""
    events: list[tuple[datetime, str, object]] = [(case.comment.received_at, "received", None)]
    if case.verdict is not None:
        events.append((case.verdict.judged_at, "judged", case.verdict))
    for decision in case.decisions:
        events.append((decision.decided_at, "decided", decision))
        if decision.undone_at is not None:
            events.append((decision.undone_at, "undone", decision))
    events += [(report.reported_at, "reported", report) for report in case.reports]
    if case.appeal is not None:
        events.append((case.appeal.at, "appealed", case.appeal))
    if case.withdrawn_at is not None:
        events.append((case.withdrawn_at, "withdrawn", None))
    return sorted(events, key=itemgetter(0))


@pages.app_template_filter()
def evidence(case: Case) -> list[Evidence]:
    """Return the signals of a judged comment in words, in the verdict's order."""
    verdict = case.verdict
    if verdict is None:
        return []
    numbers = iter(layer.number for layer in _layers(case) if not layer.promo)
    # A seam's text depends on the verdict.
    is_strong, is_weak = verdict.p_spam >= SELLS_P_SPAM, verdict.p_spam < LOW_P_SPAM
    seam = {} if is_strong else _WEAK if is_weak else _DOUBTFUL
    lines = []
    for weighed in verdict.signals:
        number = next(numbers, None) if weighed.signal.spans else None
        if weighed.signal.name == residual.SITE_DECISIONS:
            lines.append(_decisions(weighed, case.comment.text, number))
            continue
        phrase = Phrase.of(weighed.signal.reason)
        reason = translate(phrase, seam)
        language = None if is_translated(phrase) else ENGLISH
        says = reason[:1].upper() + reason[1:]
        lines.append(Evidence(weighed=weighed, number=number, says=says, language=language))
    return lines


def _decisions(weighed: WeighedSignal, text: str, number: int | None) -> Evidence:
    """Return the evidence of the site's decisions, with the words of the comment they weigh."""
    quotes = residual.quote_residual(weighed.signal, text)
    beside = [gettext(_BESIDE.get(one, one)) for one in residual.beside_of(weighed.signal.reason)]
    mostly = gettext("This site's decisions, mostly by")
    says = " ".join([mostly, ", ".join(beside)]) if beside else mostly
    if not beside and not quotes:
        says = gettext("This site's decisions")
    higher = weighed.signal.reason.endswith(residual.HIGHER_CUTOFF)
    return Evidence(weighed=weighed, number=number, says=says, quotes=quotes, higher_cutoff=higher)


@pages.app_template_filter()
def reads_like(verdict: Verdict) -> tuple[str, bool]:
    """Return the label that the comment reads like, or "either".

    Return True with it if signals from elsewhere agree, and outweigh those of the text.
    """
    known = sum(w.contribution for w in verdict.signals if w.signal.name in _FROM_ELSEWHERE)
    read = verdict.model_contribution + sum(
        w.contribution for w in verdict.signals if w.signal.name not in _FROM_ELSEWHERE
    )
    outweighs = abs(known) > abs(read)
    if verdict.p_spam < LOW_P_SPAM:
        return "ham", outweighs and known < 0
    if verdict.p_spam < (SELLS_P_SPAM if has_seam(verdict) else _READS_LIKE_SPAM):
        return "either", False
    return "spam", outweighs and known > 0


@pages.app_template_filter()
def has_seam(verdict: Verdict) -> bool:
    """Return True if an advertisement begins after other words."""
    return any(
        span.start in weighed.signal.boundaries
        for weighed in verdict.signals
        for span in weighed.signal.spans
    )


@pages.app_template_filter()
def main_host(verdict: Verdict, links: Sequence[Link]) -> str:
    """Return the host of the first promoted link, else of the first link; empty if too long."""
    offered = [link for link in links if not link.shielded]
    promoted = [
        link
        for link in offered
        if any(s.start < link.end and link.start < s.end for s in verdict.promo_spans)
    ]
    for link in [*promoted, *offered]:
        host = link.domain if link.host.endswith(link.domain) else link.host
        return host if len(host) <= _MAX_HOST_CHARS else ""
    return ""
