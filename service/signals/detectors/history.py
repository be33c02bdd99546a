"""Detectors of what earlier comments, decisions and sightings say of this one."""

from service.domain.comment import Comment, Edit
from service.domain.decision import BY_STAFF, Ruling
from service.domain.sender import Conduct, History, TrackRecord
from service.domain.text import N_, Phrase
from service.signals.detector import Detector, Observation
from service.signals.earlier import (
    ACCOUNT,
    COPY,
    EMAIL,
    MAIL_DOMAIN,
    NAME,
    OFFERED_BY_ACCOUNT,
    OFFERED_BY_EMAIL,
    SHARED,
    TARGET,
    TRUSTED_ACCOUNT,
    TRUSTED_EMAIL,
    decided_before,
    excess,
    is_known,
    is_regular,
)
from service.signals.hosts import host_of, is_reference, registered_domain
from service.signals.offers import offers, pitches, promises
from service.signals.view import uncommon_links


@Detector
def rejected_person_before(comment: Comment, history: History) -> Observation | None:
    """Fire where decisions on e-mail address, account or name lean to rejecting."""
    return decided_before(Ruling.REJECT, comment, history, EMAIL, ACCOUNT, NAME)


_OF_REMARKS = (TRUSTED_EMAIL, TRUSTED_ACCOUNT)
_OF_OFFERS = (OFFERED_BY_EMAIL, OFFERED_BY_ACCOUNT)


@Detector
def approved_person_before(comment: Comment, history: History) -> Observation | None:
    """Fire where decisions on e-mail address or account lean to approving; names do not count.

    For a comment with a commercial link or a product only approvals of such comments count.
    """
    keys = _OF_OFFERS if offers(comment) else _OF_REMARKS
    return decided_before(Ruling.APPROVE, comment, history, *keys)


# For a person who has decisions of their own these say more than those on neighbours.
@Detector
def rejected_address_before(comment: Comment, history: History) -> Observation | None:
    """Fire where decisions on the address or its network lean to rejecting."""
    return None if is_known(history) else decided_before(Ruling.REJECT, comment, history, *SHARED)


@Detector
def approved_address_before(comment: Comment, history: History) -> Observation | None:
    """Fire where decisions on the address or its network lean to approving."""
    return None if is_known(history) else decided_before(Ruling.APPROVE, comment, history, *SHARED)


@Detector
def rejected_mail_domain_before(comment: Comment, history: History) -> Observation | None:
    """Fire where decisions on the domain of the e-mail address lean to rejecting."""
    return (
        None if is_known(history) else decided_before(Ruling.REJECT, comment, history, MAIL_DOMAIN)
    )


@Detector
def rejected_copy_before(comment: Comment, history: History) -> Observation | None:
    """Fire where decisions on near-copies of the text lean to rejecting."""
    return decided_before(Ruling.REJECT, comment, history, COPY)


@Detector
def rejected_target_before(comment: Comment, history: History) -> Observation | None:
    """Fire where decisions on comments that link to the same domain lean to rejecting.

    Silent where every link leads to a reference that readers commonly cite: what was decided on
    those was decided on other grounds.
    """
    host = host_of(comment.author.url or "")
    domain = registered_domain(host)
    has_own_site = domain and not is_reference(host, domain)
    if not (uncommon_links(comment) or has_own_site):
        return None
    return decided_before(Ruling.REJECT, comment, history, TARGET)


# A heated discussion: a person answers every few minutes for an hour, and goes on all day.
_PERSON_HOUR, _PERSON_DAY = 10, 40
# An office, a class or a carrier puts many people behind one address; it may say half as much.
_ADDRESS_HOUR, _ADDRESS_DAY = 15, 60
_ADDRESS_SAYS = 0.5
_SAME_EMAIL_HOUR = N_("came with %(n)s others from the same e-mail address within an hour")
_SAME_EMAIL_DAY = N_("came with %(n)s others from the same e-mail address within a day")
_SAME_ADDRESS_HOUR = N_("came with %(n)s others from the same address within an hour")
_SAME_ADDRESS_DAY = N_("came with %(n)s others from the same address within a day")


@Detector
def sender_burst(comment: Comment, history: History) -> Observation | None:
    """Fire on an e-mail address or an address that sends more than people do.

    Silent for a regular, whose earlier comments moderators approved.
    """
    if is_regular(history):
        return None
    person, address = history.email.everywhere, history.address.everywhere
    # Of its own versions the first was seen.
    own = int(comment.edit is not None)
    strength, seen, reason = max(
        (says * excess(seen - own, usual), seen - own, reason)
        for says, seen, usual, reason in (
            (1.0, person.seen_hour, _PERSON_HOUR, _SAME_EMAIL_HOUR),
            (1.0, person.seen_day, _PERSON_DAY, _SAME_EMAIL_DAY),
            (_ADDRESS_SAYS, address.seen_hour, _ADDRESS_HOUR, _SAME_ADDRESS_HOUR),
            (_ADDRESS_SAYS, address.seen_day, _ADDRESS_DAY, _SAME_ADDRESS_DAY),
        )
    )
    if strength <= 0.0:
        return None
    return Observation(strength=strength, reason=Phrase(reason, n=seen))


# Who sees no answer presses the button again, and once more.
_COPIES_DAY = 2
# A project's page is passed around when there is news of it; many days have none of the kind.
_LINKS_HOUR, _LINKS_DAY = 5, 12
_COPIES = N_("came with %(n)s near-copies within a day")
_LINKED_HOUR = N_("came with %(n)s others that link to the same domain within an hour")
_LINKED_DAY = N_("came with %(n)s others that link to the same domain within a day")


@Detector
def copy_burst(comment: Comment, history: History) -> Observation | None:
    """Fire on others' near-copies, or on links to one domain, that come more often than by chance.

    Domains that readers commonly cite, and the site's own, are left out.
    """
    links = history.domains.everywhere
    found = [(history.content.everywhere.seen_day, _COPIES_DAY, _COPIES)]
    if uncommon_links(comment):
        found += (
            (links.seen_hour, _LINKS_HOUR, _LINKED_HOUR),
            (links.seen_day, _LINKS_DAY, _LINKED_DAY),
        )
    strength, seen, reason = max((excess(seen, usual), seen, said) for seen, usual, said in found)
    if strength <= 0.0:
        return None
    return Observation(strength=strength, reason=Phrase(reason, n=seen))


# Fewer approvals are no record that somebody would build to sell by.
_MANY = 3.6
# So many make it half as strong as it can be: of 1,000 regulars' comments none is held for it.
_HALF = 8.0
# One decision that is not much too old: the offers are no longer the first.
_ANY = 0.25
# Discourse gives the fourth level to those who read on half of all days, and the last by hand.
_TRUSTED = 3
_OF_ACCOUNT = N_(
    "offers something, and the %(n)s comments from the same account that moderators approved"
    " did not"
)
_OF_EMAIL = N_(
    "offers something, and the %(n)s comments from the same e-mail address that moderators approved"
    " did not"
)


@Detector
def offer_after_remarks(comment: Comment, history: History) -> Observation | None:
    """Fire on a commercial link or a product where four approvals or more showed none.

    Silent on a link to a source, for whom the platform trusts, and on a pitch, which has detectors
    of its own.
    """
    approved, reason = max(
        (_without_offers(history.account, history.account_offers), _OF_ACCOUNT),
        (_without_offers(history.email, history.email_offers), _OF_EMAIL),
    )
    if approved < _MANY or (comment.author.trust_level or 0) >= _TRUSTED:
        return None
    if not offers(comment) or pitches(comment):
        return None
    return Observation(
        strength=approved / (approved + _HALF), reason=Phrase(reason, n=round(approved))
    )


def _without_offers(all_of_it: TrackRecord, of_offers: TrackRecord) -> float:
    """Return the approvals here, or 0.0 if a comment with an offer was approved here."""
    approved, offered = all_of_it.here.approved, of_offers.here.approved
    return 0.0 if offered >= _ANY else approved


# People add the source that they were asked for; nobody asks for an advertisement.
_ADDED = {
    Edit.ADDED_LINK: (
        0.4,
        Phrase("was given a link by an edit after it had been approved"),
        Phrase("was given a link by an edit after it had been let through"),
    ),
    Edit.ADDED_OFFER: (
        1.0,
        Phrase("was given an offer by an edit after it had been approved"),
        Phrase("was given an offer by an edit after it had been let through"),
    ),
}


@Detector
def added_by_edit(comment: Comment, _history: History) -> Observation | None:
    """Fire where an edit added a link or an offer to what was approved or judged ham."""
    if comment.edit not in _ADDED:
        return None
    strength, approved, let_through = _ADDED[comment.edit]
    by_person = comment.ruled is not None and not comment.ruled.by.startswith(BY_STAFF)
    return Observation(strength=strength, reason=approved if by_person else let_through)


@Detector
def rejected_before_edit(comment: Comment, _history: History) -> Observation | None:
    """Fire on an edit of what a person rejected; a person looks at it (`service/scoring`)."""
    if comment.edit is not Edit.REJECTED:
        return None
    return Observation(reason=Phrase("was rejected before it was edited"))


# Readers come and go with the seasons; few who are back after half a year are back to sell.
_QUIET_DAYS, _LONG_QUIET_DAYS = 120, 240


@Detector
def dormant_account(comment: Comment, history: History) -> Observation | None:
    """Fire on an offer, the first of its account here, after four months without a comment."""
    conduct = history.conduct
    if conduct is None or conduct.offers or conduct.quiet_days < _QUIET_DAYS:
        return None
    if not offers(comment):
        return None
    return Observation(
        strength=1.0 if conduct.quiet_days >= _LONG_QUIET_DAYS else 0.5,
        reason=Phrase("comes with an offer after %(n)s days of silence", n=conduct.quiet_days),
    )


# Two comments make an account of somebody who was here; a stranger's words speak for themselves.
_FEW = 2


@Detector
def product_pitch(comment: Comment, history: History) -> Observation | None:
    """Fire on "we built it for exactly this" by an account that no person let offer anything.

    It has the product's name, pitched it before, or only made remarks. Where no person approved
    these either, "with it that is done in seconds" is enough.
    """
    offered = max(history.account_offers.here.approved, history.email_offers.here.approved)
    if offered >= _ANY or (comment.author.trust_level or 0) >= _TRUSTED:
        return None
    found, conduct = pitches(comment), history.conduct or Conduct()
    if max(history.account.here.approved, history.email.here.approved) < _ANY:
        found = found or promises(comment)
    said = conduct.remarks + conduct.offers
    if any(one.is_own for one in found):
        reason = Phrase("pitches a product that its author is named after")
    elif conduct.repeats:
        reason = Phrase("names a product that an earlier comment of the account pitches")
    elif found and said >= _FEW:
        reason = Phrase("pitches a product, after %(n)s other comments of the account", n=said)
    else:
        return None
    return Observation(reason=reason, spans=tuple(one.at for one in found))
