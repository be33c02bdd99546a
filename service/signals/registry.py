"""Lists every detector; being listed is what gets one run, tested and documented."""

from __future__ import annotations

from service.domain.comment import Comment
from service.domain.history import History
from service.domain.verdict import Signal
from service.signals.abrupt_shift import ABRUPT_SHIFT
from service.signals.added_by_edit import ADDED_BY_EDIT
from service.signals.anchor_target_mismatch import ANCHOR_TARGET_MISMATCH
from service.signals.approved_person_before import APPROVED_PERSON_BEFORE
from service.signals.author_link import AUTHOR_LINK
from service.signals.bare_link import BARE_LINK
from service.signals.broken_lines import BROKEN_LINES
from service.signals.commercial_author_link import COMMERCIAL_AUTHOR_LINK
from service.signals.commercial_link import COMMERCIAL_LINK
from service.signals.commercial_pitch import COMMERCIAL_PITCH
from service.signals.contact_bait import CONTACT_BAIT
from service.signals.copy_burst import COPY_BURST
from service.signals.decided_before import (
    APPROVED_ADDRESS_BEFORE,
    REJECTED_ADDRESS_BEFORE,
    REJECTED_COPY_BEFORE,
    REJECTED_MAIL_DOMAIN_BEFORE,
    REJECTED_PERSON_BEFORE,
)
from service.signals.detector import Detector
from service.signals.dormant_account import DORMANT_ACCOUNT
from service.signals.driven_browser import DRIVEN_BROWSER
from service.signals.faster_than_reading import FASTER_THAN_READING
from service.signals.front_page_link import FRONT_PAGE_LINK
from service.signals.generic_praise import GENERIC_PRAISE
from service.signals.honeypot_filled import HONEYPOT_FILLED
from service.signals.impersonal_remark import IMPERSONAL_REMARK
from service.signals.keyword_anchor import KEYWORD_ANCHOR
from service.signals.keyword_author_name import KEYWORD_AUTHOR_NAME
from service.signals.language_mismatch import LANGUAGE_MISMATCH
from service.signals.letters_apart import LETTERS_APART
from service.signals.link_after_remark import LINK_AFTER_REMARK
from service.signals.link_only import LINK_ONLY
from service.signals.listed_address import LISTED_ADDRESS
from service.signals.listed_domain import LISTED_DOMAIN
from service.signals.manner_moved import MANNER_MOVED
from service.signals.many_links import MANY_LINKS
from service.signals.missing_form_token import MISSING_FORM_TOKEN
from service.signals.misused_form_token import MISUSED_FORM_TOKEN
from service.signals.mixed_script_words import MIXED_SCRIPT_WORDS
from service.signals.nothing_typed import NOTHING_TYPED
from service.signals.off_topic import OFF_TOPIC
from service.signals.offer_after_remarks import OFFER_AFTER_REMARKS
from service.signals.offered_vice import OFFERED_VICE
from service.signals.own_detail import OWN_DETAIL
from service.signals.praise_only_history import PRAISE_ONLY_HISTORY
from service.signals.prompt_injection import PROMPT_INJECTION
from service.signals.redirected_link import REDIRECTED_LINK
from service.signals.reference_link import REFERENCE_LINK
from service.signals.rejected_target_before import REJECTED_TARGET_BEFORE
from service.signals.restated_title import RESTATED_TITLE
from service.signals.sender_burst import SENDER_BURST
from service.signals.several_links import SEVERAL_LINKS
from service.signals.shortened_link import SHORTENED_LINK
from service.signals.spelled_out_domain import SPELLED_OUT_DOMAIN
from service.signals.stray_quotation_mark import STRAY_QUOTATION_MARK
from service.signals.throwaway_mail import THROWAWAY_MAIL
from service.signals.too_fast import TOO_FAST
from service.signals.vague_promise import VAGUE_PROMISE
from service.signals.wrong_markup import WRONG_MARKUP
from service.signals.wrong_post import WRONG_POST

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
    REDIRECTED_LINK,
    LINK_ONLY,
    FRONT_PAGE_LINK,
    KEYWORD_ANCHOR,
    SEVERAL_LINKS,
    # The author's fields.
    AUTHOR_LINK,
    KEYWORD_AUTHOR_NAME,
    THROWAWAY_MAIL,
    COMMERCIAL_AUTHOR_LINK,
    # Disguised letters.
    MIXED_SCRIPT_WORDS,
    LETTERS_APART,
    # What is said, and to whom.
    ABRUPT_SHIFT,
    COMMERCIAL_PITCH,
    CONTACT_BAIT,
    GENERIC_PRAISE,
    PROMPT_INJECTION,
    OWN_DETAIL,
    # What lists say.
    LISTED_ADDRESS,
    LISTED_DOMAIN,
    VAGUE_PROMISE,
    STRAY_QUOTATION_MARK,
    RESTATED_TITLE,
    WRONG_POST,
    OFF_TOPIC,
    IMPERSONAL_REMARK,
    LANGUAGE_MISMATCH,
    BROKEN_LINES,
    OFFERED_VICE,
    # What the form saw.
    TOO_FAST,
    HONEYPOT_FILLED,
    NOTHING_TYPED,
    FASTER_THAN_READING,
    DRIVEN_BROWSER,
    MISUSED_FORM_TOKEN,
    MISSING_FORM_TOKEN,
    # What earlier decisions said.
    REJECTED_PERSON_BEFORE,
    APPROVED_PERSON_BEFORE,
    REJECTED_ADDRESS_BEFORE,
    APPROVED_ADDRESS_BEFORE,
    REJECTED_MAIL_DOMAIN_BEFORE,
    REJECTED_TARGET_BEFORE,
    REJECTED_COPY_BEFORE,
    # How many others were just seen.
    SENDER_BURST,
    COPY_BURST,
    # What the account did before.
    OFFER_AFTER_REMARKS,
    ADDED_BY_EDIT,
    DORMANT_ACCOUNT,
    PRAISE_ONLY_HISTORY,
    MANNER_MOVED,
)


def detect_all(comment: Comment, history: History) -> tuple[Signal, ...]:
    """Return what every detector saw in a comment, in the order of the list.

    Never raises, whatever the text: each detector is tested on hostile and random texts.
    """
    found = (detector.detect(comment, history) for detector in DETECTORS)
    return tuple(signal for signal in found if signal is not None)
