"""Lists every detector; being listed is what gets one run, tested and documented."""

from __future__ import annotations

from service.domain.comment import Comment
from service.domain.history import History
from service.domain.verdict import Signal
from service.signals.abrupt_shift import ABRUPT_SHIFT
from service.signals.anchor_target_mismatch import ANCHOR_TARGET_MISMATCH
from service.signals.approved_sender_before import APPROVED_SENDER_BEFORE
from service.signals.author_link import AUTHOR_LINK
from service.signals.bare_link import BARE_LINK
from service.signals.commercial_link import COMMERCIAL_LINK
from service.signals.commercial_pitch import COMMERCIAL_PITCH
from service.signals.contact_bait import CONTACT_BAIT
from service.signals.detector import Detector
from service.signals.digits_for_letters import DIGITS_FOR_LETTERS
from service.signals.generic_praise import GENERIC_PRAISE
from service.signals.hidden_characters import HIDDEN_CHARACTERS
from service.signals.keyword_author_name import KEYWORD_AUTHOR_NAME
from service.signals.leaked_chatbot_phrase import LEAKED_CHATBOT_PHRASE
from service.signals.letters_apart import LETTERS_APART
from service.signals.link_after_remark import LINK_AFTER_REMARK
from service.signals.listed_address import LISTED_ADDRESS
from service.signals.listed_domain import LISTED_DOMAIN
from service.signals.many_links import MANY_LINKS
from service.signals.mixed_script_words import MIXED_SCRIPT_WORDS
from service.signals.own_detail import OWN_DETAIL
from service.signals.prompt_injection import PROMPT_INJECTION
from service.signals.reference_link import REFERENCE_LINK
from service.signals.rejected_sender_before import REJECTED_SENDER_BEFORE
from service.signals.shortened_link import SHORTENED_LINK
from service.signals.spelled_out_domain import SPELLED_OUT_DOMAIN
from service.signals.styled_letters import STYLED_LETTERS
from service.signals.throwaway_mail import THROWAWAY_MAIL
from service.signals.wrong_markup import WRONG_MARKUP

DETECTORS: tuple[Detector, ...] = (
    # Links, and how they are written.
    BARE_LINK,
    COMMERCIAL_LINK,
    REFERENCE_LINK,
    MANY_LINKS,
    LINK_AFTER_REMARK,
    ANCHOR_TARGET_MISMATCH,
    SHORTENED_LINK,
    SPELLED_OUT_DOMAIN,
    WRONG_MARKUP,
    # The author's fields.
    AUTHOR_LINK,
    KEYWORD_AUTHOR_NAME,
    THROWAWAY_MAIL,
    # Disguised letters.
    HIDDEN_CHARACTERS,
    MIXED_SCRIPT_WORDS,
    STYLED_LETTERS,
    LETTERS_APART,
    DIGITS_FOR_LETTERS,
    # What is said, and to whom.
    ABRUPT_SHIFT,
    COMMERCIAL_PITCH,
    CONTACT_BAIT,
    GENERIC_PRAISE,
    LEAKED_CHATBOT_PHRASE,
    PROMPT_INJECTION,
    OWN_DETAIL,
    # What lists say.
    LISTED_ADDRESS,
    LISTED_DOMAIN,
    # What earlier decisions said.
    REJECTED_SENDER_BEFORE,
    APPROVED_SENDER_BEFORE,
)


def detect_all(comment: Comment, history: History) -> tuple[Signal, ...]:
    """Return what every detector saw in a comment, in the order of the list.

    Never raises, whatever the text: each detector is tested on hostile and random texts.
    """
    found = (detector.detect(comment, history) for detector in DETECTORS)
    return tuple(signal for signal in found if signal is not None)
