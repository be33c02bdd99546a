"""Detectors of what an author gives of themselves: name, address, mail and network."""

from disposable_email_domains import blocklist

from service.domain.comment import Comment, CommentKind, ListBasis, ListKind
from service.domain.decision import Ruling
from service.domain.sender import History
from service.domain.text import Phrase
from service.signals.cues import Cue, find_cues
from service.signals.detector import Detector, Observation
from service.signals.earlier import ACCOUNT, EMAIL, NAME, Key, decided_before
from service.signals.hosts import host_of
from service.signals.judged_text import judged_text
from service.signals.links import find_links, is_profile
from service.signals.listings import WORTH, listed
from service.signals.offers import has_commercial_address
from service.signals.segments import segments_of
from service.signals.text import find_words
from service.signals.view import view_of
from service.signals.wordlists import word_list, wordset

# A remark longer than this usually says something of its own.
_MAX_WORDS = 45
_MAX_OVERLAP = 0.3


@Detector
def author_link(comment: Comment, _history: History) -> Observation | None:
    """Fire where the author's address is named like a shop and the text would fit any post."""
    if not _is_a_shops(comment) or not _is_bland(comment):
        return None
    return Observation(
        strength=0.8,
        reason=Phrase(
            "comes with an author address named like a shop, beside a remark that says little"
        ),
    )


def _is_bland(comment: Comment) -> bool:
    """Return True if a text is short, link-free and without experience, figures or doubts."""
    view = view_of(comment)
    segments = segments_of(comment)
    if view.links or view.shielded or len(view.words) > _MAX_WORDS or not segments:
        return False
    specific = any(s.figures or s.asks or s.cues[Cue.HEDGE] for s in segments)
    own = sum(s.cues[Cue.ME] for s in segments)
    praise = sum(s.cues[Cue.PRAISE] for s in segments)
    return not specific and own <= praise and max(s.overlap for s in segments) <= _MAX_OVERLAP


@Detector
def commercial_author_link(comment: Comment, _history: History) -> Observation | None:
    """Fire on an author's address named like a shop, whatever the text says.

    A plain fact: people who sell have opinions too. `author_link` asks about the text besides.
    Silent on the profile that a like or a mention came from: servers are named like services.
    """
    if not _is_a_shops(comment):
        return None
    if comment.kind is not None and is_profile(comment.author.url or ""):
        return None
    return Observation(reason=Phrase("comes with an author address named like a shop or a service"))


_TRADE_WORDS = word_list("trade_words")
# "Rob the plumber" is a person; it takes two such words, or one of a trade that people never sign.
_MIN_TRADE_WORDS = 2
# Such as people sign: "Trần Thị Loan", "Poker Alice".
_SIGNED = wordset("loan keto poker prophet")


@Detector
def keyword_author_name(comment: Comment, _history: History) -> Observation | None:
    """Fire on a name made of trade words, or that holds a web address.

    Silent on mentions, whose authors are the titles of pages.
    """
    name = (comment.author.name or "")[:300]
    words = find_words(name)
    if not words or (comment.kind is not None and comment.kind.is_mention):
        return None
    vices = [hit for hit in find_cues(name, words) if hit.cue is Cue.VICE]
    trade = [word for word in words if word.text in _TRADE_WORDS]
    # A word is one, however many lists have it.
    count = len({hit.start for hit in vices} | {word.start for word in trade})
    alone = any(name[hit.start : hit.end].lower() not in _SIGNED for hit in vices)
    if count < _MIN_TRADE_WORDS and not alone and not find_links(name):
        return None
    return Observation(
        strength=1.0 if count >= _MIN_TRADE_WORDS else 0.7,
        reason=Phrase("signs with the name of a product, a service or a web address"),
    )


def _is_a_shops(comment: Comment) -> bool:
    """Return True if the author's address is a seller's, a person's own name left out of it."""
    url = comment.author.url or ""
    for word in find_words((comment.author.name or "")[:300]):
        if word.text in _SIGNED:
            url = host_of(url).replace(word.text, "")
    return has_commercial_address(url)


# Services of this kind lend out names below their own; three levels are all that real lists hold.
_MAX_LABELS = 5


@Detector
def throwaway_mail(comment: Comment, _history: History) -> Observation | None:
    """Fire on a mail domain of the built-in list, or of an imported one that is not too old."""
    found = listed(
        comment, ListKind.MAIL_DOMAINS, what=Phrase("gives an e-mail address of a domain")
    )
    labels = (comment.sender.email_domain or "")[:253].split(".")[-_MAX_LABELS:]
    if not any(".".join(labels[at:]) in blocklist for at in range(len(labels) - 1)):
        return found
    strength = WORTH[ListBasis.REPORTED]
    if found is not None and found.strength > strength:
        return found
    return Observation(
        strength=strength, reason=Phrase("gives an e-mail address of a throw-away service")
    )


@Detector
def listed_address(comment: Comment, _history: History) -> Observation | None:
    """Fire on an address that a list of networks holds, less the older the list was."""
    return listed(comment, ListKind.NETWORKS, what=Phrase("comes from an address"))


_REACTIONS = {
    CommentKind.LIKE: Phrase("a like"),
    CommentKind.REPOST: Phrase("a repost"),
    CommentKind.BOOKMARK: Phrase("a bookmark"),
    CommentKind.REACTION: Phrase("a reaction"),
    CommentKind.RSVP: Phrase("an RSVP"),
}
# Many people have their profiles at one domain.
_SOURCE = Key(Phrase("from the same site"), lambda h: h.domains, min_decisions=2.1, dissent=5.0)


@Detector
def wordless_reaction(comment: Comment, history: History) -> Observation | None:
    """Fire on a like, a repost or a mention without words, unless its source was rejected."""
    if comment.kind is None or judged_text(comment).text.strip():
        return None
    if decided_before(Ruling.REJECT, comment, history, EMAIL, ACCOUNT, NAME, _SOURCE):
        return None
    what = _REACTIONS.get(comment.kind, Phrase("a mention"))
    return Observation(
        reason=Phrase(
            "is %(what)s without words: only its source counts, an unknown one is let through",
            what=what,
        )
    )
