"""Detectors of what a comment says, and to whom."""

import re
from collections.abc import Set

from service.domain.comment import Comment
from service.domain.sender import History
from service.domain.text import Phrase, unescape
from service.domain.unseen import ROWS
from service.signals.cues import Cue
from service.signals.detector import Detector, Observation
from service.signals.hosts import is_closed_reference
from service.signals.offers import has_commercial_address
from service.signals.text import Range, inside
from service.signals.view import TextView, is_about, spans_of, view_of
from service.signals.wordlists import wordset


@Detector
def offered_vice(comment: Comment, _history: History) -> Observation | None:
    """Fire on a trade that lives on spam, where a link, a contact or the author's URL leads on.

    What the post itself is about is no sign of anything, and nor is a word without an address, or
    with that of an encyclopaedia, or a single one beside a homepage that is no shop's.
    """
    view, url = view_of(comment), comment.author.url or ""
    ways = _ways(view)
    if not (url or ways):
        return None
    named = [hit for hit in view.cues if hit.cue is Cue.VICE]
    vices = [h for h in named if not is_about(comment.post, view.plain.text[h.start : h.end])]
    # People tell of their loan; of 27 such comments in the data 14 are ham.
    if not vices or not (ways or len(vices) > 1 or has_commercial_address(url)):
        return None
    return Observation(
        strength=1.0 if len(vices) > 1 else 0.7,
        reason=Phrase("names a trade that lives on spam, beside an address to go to"),
        spans=spans_of(view.original(hit) for hit in vices),
    )


def _ways(view: TextView) -> list[int]:
    """Return where the contacts and the links stand that may lead to a seller."""
    links = [link for link in view.open_links if not is_closed_reference(link.host, link.domain)]
    return [link.start for link in links] + [contact.start for contact in view.contacts]


# Of an advertisement without its addresses. Who warns of a trade or tells of it says more.
_MOST_WORDS = 15
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff]")


@Detector
def plain_advertisement(comment: Comment, history: History) -> Observation | None:
    """Fire on a short text with a trade that lives on spam and a way to it, not on one's own story.

    Only what stands before the way is a story: anybody can write "PS: sorry" behind it.
    """
    trade, view = offered_vice(comment, history), view_of(comment)
    ways = _ways(view)
    if trade is None or not ways:
        return None
    links = [(link.start, link.end) for link in view.links]
    words = [word for word in view.words if not inside(links, view.original(word)[0])]
    # Four letters of a script without blanks are counted as a word.
    count = len(words) + len(_UNSPACED.findall(view.plain.text)) // 4
    tells = any(hit.cue is Cue.ME and view.original(hit)[0] < min(ways) for hit in view.cues)
    if count > _MOST_WORDS or tells:
        return None
    return Observation(
        reason=Phrase("says little but where a trade that lives on spam is to be found"),
        spans=trade.spans,
    )


_MACHINE = (
    r"(?:ai|a\.i\.|llm|(?:large )?language model"
    r"|(?:spam|ai|content|comment|automated|automatic)[ -]"
    r"(?:filter|model|moderat(?:or|ion)|classifier|reviewer|system|assistant|agent|checker|bot)s?"
    r"|classifier|moderation (?:model|bot|system|assistant)|chatbot|bot)"
)
_LABEL = (
    r"[\"'“*`]{0,2}(?:ham|not[ -]?spam|spam[ :=]+(?:false|no|0)|approved?"
    r"|legit(?:imate)?|genuine|safe|clean|publish)(?!\w)"
)
_ADDRESS = re.compile(
    r"(?<!\w)(?:ignore|disregard|forget) (?:all |any |the |your |every )*"
    r"(?:previous|prior|above|earlier|preceding|system|other) (?:instructions?|prompts?|rules"
    r"|text|directions)"
    rf"|(?<!\w)(?:if|since|when) (?:you are|you['’]re|this is (?:read|reviewed|checked) by"
    rf"|an?) (?:an? )?{_MACHINE}(?!\w)"
    r"(?! (?:researcher|engineer|person|expert|user|developer|student|s[ck]eptic|company|artist))"
    r"|(?<!\w)(?:note|instructions?|message|attention|notice)[ ,:]{1,2}(?:to|for) "
    rf"(?:the |any |all |every )?{_MACHINE}"
    r"|[\[<{(]/?!?-{0,2} ?(?:system|assistant|hidden|moderator instructions?|admin note|inst)"
    r"(?: note| message| prompt)?(?=[\]>})!:]| [:—-])"
    r"|(?m:^)(?:system|assistant)(?: (?:note|prompt|message|override))?:(?= )"
    rf"|(?<!\w)(?:output|answer|respond|reply|return|print|say|write)(?: with| only| just"
    rf"| exactly| the word| label| as)*[ :=]{{1,2}}{_LABEL}"
    rf"|(?<!\w)(?:classify|mark|label|rate|treat|score|flag) (?:this|the|it|my|all"
    rf"|such)(?: \w+){{1,3}} (?:as|=|with) {_LABEL}"
    r"|(?<!\w)(?:label|verdict|spam_?score|classification) ?[=:] ?[\"']?(?:ham|not[ _-]?spam|0"
    r"|safe|approved?)(?!\w)"
    r"|(?<!\w)(?:this|the (?:above|following|preceding|next)) comment (?:was|is|has been|comes) "
    r"(?:already |a |an |by |from |been |as )*(?:pre-?)?(?:approved|verified|reviewed"
    r"|whitelisted|checked|the site (?:owner|admin)|(?:test|verified) )"
    r"|#{2,3} ?(?:end of|new task|instruction|system)|(?<!\w)new task:|<\|(?:im_start|im_end"
    r"|system|endoftext)\|>",
    re.IGNORECASE,
)
# In 65,368 comments of the data (2026-11-29) no ham has more than 4. A tag or a selector beyond
# U+FFFF, or a flag and its likes, counts as a letter, others as a bit; few variants are sincere.
# One and the same mark, each time alone, spells nothing: bullets and documentation are copied so.
# Without others it counts only inside words, which it hides from those who look for them.
_LEAST_UNSEEN, _OF_A_LETTER, _OF_FEW = 8, 3, 0.25
# Without such words the patterns above cannot match; most comments hold none.
_STRONG = wordset(
    "ignore disregard forget ai llm moderator moderation classifier chatbot assistant system",
    "hidden inst verdict spamscore im_start im_end endoftext",
)
_MACHINES = wordset("model filter reviewer bot bots classifier agent checker")
_OPENERS = wordset("if since when note notes message attention notice instruction instructions")
_LABELS = wordset("ham spam approve approved legit legitimate genuine safe clean publish false")
_VERBS = wordset(
    "output answer respond reply return print say write classify mark label rate treat score flag",
    "classification",
)
_SETTLED = wordset("approved preapproved verified reviewed whitelisted checked site test")


def _may_address_machine(text: str, words: Set[str]) -> bool:
    return (
        not words.isdisjoint(_STRONG)
        or "##" in text
        or ("comment" in words and not words.isdisjoint(_SETTLED))
        or not (words.isdisjoint(_MACHINES) or words.isdisjoint(_OPENERS))
        or not (words.isdisjoint(_LABELS) or words.isdisjoint(_VERBS))
        or ("new" in words and "task" in words)
    )


@Detector
def prompt_injection(comment: Comment, _history: History) -> Observation | None:
    """Fire on instructions or false notes meant for a machine, unless the writer quotes them."""
    view = view_of(comment)
    if not _may_address_machine(view.text, view.word_set):
        return None
    plain = view.plain
    spans = [plain.original(m.start(), m.end()) for m in _ADDRESS.finditer(plain.text)]
    spans = [
        s for s in spans if not inside(view.shielded, s[0]) and not _is_quoted(view.text, s[0])
    ]
    if not spans:
        return None
    return Observation(
        reason=Phrase("addresses an automated reader to steer its verdict"), spans=spans_of(spans)
    )


@Detector
def unseen_text(comment: Comment, _history: History) -> Observation | None:
    """Fire on characters that no person sees; a person looks at it (`service/scoring`).

    Such text is meant for machines, whatever it says.
    """
    unseen = _unseen(comment.text)
    # Sites show character references as what they stand for.
    hidden = (unescape(text) for text in (comment.text, comment.author.name or ""))
    if not unseen and not any(map(_unseen, hidden)):
        return None
    return Observation(
        reason=Phrase("carries text in invisible characters, which only machines read"),
        spans=spans_of(unseen),
    )


def _unseen(text: str) -> list[Range]:
    """Return the ranges of invisible characters if they are more than people copy unawares."""
    rows = () if text.isascii() else ROWS.finditer(text)
    found = [row for row in rows if row["few"] or not row["needed"]]
    spelt = {row[0] for row in found if not (row["few"] or row["flag"])}
    is_one_mark = len(spelt) == 1 and all(len(one) == 1 and one <= "\uffff" for one in spelt)
    marks = {row["few"] or row[0] for row in found if not row["flag"]}
    spells = len(marks) > 1 or max(marks, default="") > "\uffff"

    def weight(row: re.Match[str]) -> float:
        if row["few"] or (is_one_mark and not row["flag"]):
            start, end = row.span()
            splits = text[start - 1 : start].isalpha() and text[end : end + 1].isalpha()
            return _OF_FEW * len(row["few"] or row[0]) if spells or splits else 0
        return len(row["flag"] or row[0]) * (_OF_A_LETTER if max(row[0]) > "\uffff" else 1)

    counted = {row[0] if row["flag"] else row.start(): row for row in found}.values()
    return [row.span() for row in found] if sum(map(weight, counted)) >= _LEAST_UNSEEN else []


_OPENING = tuple("\"“”„«»‘'‹「『")


def _is_quoted(text: str, start: int) -> bool:
    """Return True if a quotation mark precedes a position or opened in its line."""
    line = text[max(0, start - 200) : start].rpartition("\n")[2]
    return (
        line.rstrip().endswith(_OPENING)
        or line.count('"') % 2 == 1
        or line.count("“") > line.count("”")
        or line.count("«") > line.count("»")
    )
