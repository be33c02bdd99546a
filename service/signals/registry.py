"""Lists every detector; being listed is what gets one run, tested and documented."""

from __future__ import annotations

from service.domain.comment import Comment
from service.domain.history import History
from service.domain.verdict import Signal
from service.signals.abrupt_shift import ABRUPT_SHIFT
from service.signals.added_by_edit import ADDED_BY_EDIT
from service.signals.approved_person_before import APPROVED_PERSON_BEFORE
from service.signals.author_link import AUTHOR_LINK
from service.signals.broken_lines import BROKEN_LINES
from service.signals.commercial_author_link import COMMERCIAL_AUTHOR_LINK
from service.signals.commercial_link import COMMERCIAL_LINK
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
from service.signals.front_page_link import FRONT_PAGE_LINK
from service.signals.generic_praise import GENERIC_PRAISE
from service.signals.honeypot_filled import HONEYPOT_FILLED
from service.signals.impersonal_remark import IMPERSONAL_REMARK
from service.signals.keyword_anchor import KEYWORD_ANCHOR
from service.signals.keyword_author_name import KEYWORD_AUTHOR_NAME
from service.signals.language_mismatch import LANGUAGE_MISMATCH
from service.signals.link_after_remark import LINK_AFTER_REMARK
from service.signals.link_only import LINK_ONLY
from service.signals.listed_address import LISTED_ADDRESS
from service.signals.listed_domain import LISTED_DOMAIN
from service.signals.misused_form_token import MISUSED_FORM_TOKEN
from service.signals.mixed_script_words import MIXED_SCRIPT_WORDS
from service.signals.nothing_typed import NOTHING_TYPED
from service.signals.offer_after_remarks import OFFER_AFTER_REMARKS
from service.signals.offered_vice import OFFERED_VICE
from service.signals.prompt_injection import PROMPT_INJECTION
from service.signals.reference_link import REFERENCE_LINK
from service.signals.rejected_target_before import REJECTED_TARGET_BEFORE
from service.signals.sender_burst import SENDER_BURST
from service.signals.shortened_link import SHORTENED_LINK
from service.signals.spelled_out_domain import SPELLED_OUT_DOMAIN
from service.signals.stray_quotation_mark import STRAY_QUOTATION_MARK
from service.signals.throwaway_mail import THROWAWAY_MAIL
from service.signals.too_fast import TOO_FAST
from service.signals.wrong_post import WRONG_POST

DETECTORS: tuple[Detector, ...] = (
    # Links, and how they are written.
    COMMERCIAL_LINK,
    REFERENCE_LINK,
    LINK_AFTER_REMARK,
    SHORTENED_LINK,
    SPELLED_OUT_DOMAIN,
    LINK_ONLY,
    FRONT_PAGE_LINK,
    KEYWORD_ANCHOR,
    # The author's fields.
    AUTHOR_LINK,
    KEYWORD_AUTHOR_NAME,
    THROWAWAY_MAIL,
    COMMERCIAL_AUTHOR_LINK,
    # Disguised letters.
    MIXED_SCRIPT_WORDS,
    # What is said, and to whom.
    ABRUPT_SHIFT,
    GENERIC_PRAISE,
    PROMPT_INJECTION,
    # What lists say.
    LISTED_ADDRESS,
    LISTED_DOMAIN,
    STRAY_QUOTATION_MARK,
    WRONG_POST,
    IMPERSONAL_REMARK,
    LANGUAGE_MISMATCH,
    BROKEN_LINES,
    OFFERED_VICE,
    # What the form saw.
    TOO_FAST,
    HONEYPOT_FILLED,
    NOTHING_TYPED,
    DRIVEN_BROWSER,
    MISUSED_FORM_TOKEN,
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
)


def detect_all(comment: Comment, history: History) -> tuple[Signal, ...]:
    """Return what every detector saw in a comment, in the order of the list.

    Never raises, whatever the text: each detector is tested on hostile and random texts.
    """
    found = (detector.detect(comment, history) for detector in DETECTORS)
    return tuple(signal for signal in found if signal is not None)
