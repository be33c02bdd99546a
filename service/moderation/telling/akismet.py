"""Answers clients that know only spam and ham, some of them after their call (Akismet)."""

from __future__ import annotations

import json
from urllib.parse import urlsplit

from service.domain.case import Case
from service.domain.comment import CommentId
from service.domain.decision import Mode, Ruling
from service.domain.delivery import Delivery, DeliveryForm, EventKind
from service.domain.report import Label
from service.domain.site import Site, SiteKey, SiteSettings
from service.domain.verdict import Outcome, Verdict
from service.moderation.admin.sites import akismet_secret
from service.ports.services import Services

# At the spam cutoff a comment is ham with a chance of 1 - cutoff; blatant spam is ham with at
# most a tenth of that chance.
_BLATANT_SHARE = 0.1
_SCHEME_PORTS = {"http": 80, "https": 443}
_MAX_URL_CHARS = 2_048


def plan_callback(
    url: str, services: Services, *, guid: str, comment_id: CommentId, site: Site, key: SiteKey
) -> Delivery | None:
    """Return the delivery that tells the verdict to `url` once it is there; it is to be kept.

    None for an address that does not lie under the host of the site's registered blog, or that
    is never called at all. The delivery names the key, it does not hold it.
    """
    if not is_own_address(url, site.settings.blog) or services.notifier.refuse(url) is not None:
        return None
    promise = {"guid": guid, "key_id": key.id}
    return Delivery(
        id=services.new_id("del"),
        seq=0,
        site_id=site.id,
        comment_id=comment_id,
        event=EventKind.VERDICT,
        form=DeliveryForm.AKISMET,
        url=url,
        payload=json.dumps(promise),
        created_at=services.clock(),
    )


def write_callback(delivery: Delivery, services: Services) -> str | None:
    """Return the JSON body to send for an Akismet delivery, None while there is no verdict yet.

    Built when it is sent: only then is the verdict known, and the key, which is the callback's
    only authentication, is never kept. The result is a string, as WordPress compares it with
    one. Raises `NotFoundError` for a comment or a site that is not kept any more.
    """
    promise = json.loads(delivery.payload)
    case = services.cases.get(delivery.comment_id, site_id=delivery.site_id)
    label = plain_answer(case, services.sites.get(delivery.site_id).settings)
    if label is None:
        return None
    return json.dumps(
        {
            "key": akismet_secret(promise["key_id"], services),
            "endpoint": "comment-check",
            "comments": [
                {"guid": promise["guid"], "result": "true" if label == "spam" else "false"}
            ],
        }
    )


def is_own_address(url: str, blog: str | None) -> bool:
    """Return True if a client's URL is on its site's own host and port."""
    if blog is None or len(url) > _MAX_URL_CHARS:
        return False
    asked, own = _origin(url), _origin(blog)
    if asked is None or own is None or asked[1] != own[1]:
        return False
    scheme, _, port = asked
    return port in (own[2], _SCHEME_PORTS[scheme])


def _origin(url: str) -> tuple[str, str, int] | None:
    """Return scheme, host and port of a plain web address, None for anything else."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    if parts.scheme not in _SCHEME_PORTS or not parts.hostname or "@" in parts.netloc:
        return None
    return parts.scheme, parts.hostname.rstrip("."), port or _SCHEME_PORTS[parts.scheme]


def plain_answer(case: Case, settings: SiteSettings) -> Label | None:
    """Return the one word for a case as it stands, None while its verdict is awaited.

    A moderator's ruling wins. A site that only observes is always told ham. For an unsure
    comment, a degraded one included, the site's `holds_unsure` chooses: told spam, such a client
    puts it where its own moderators find it. What a rule of the site holds is held.
    """
    if case.decision is not None:
        return Label.SPAM if case.decision.ruling is Ruling.REJECT else Label.HAM
    if settings.mode is Mode.OBSERVE:
        return Label.HAM
    if case.verdict is None:
        return None
    if case.verdict.outcome is Outcome.UNSURE:
        holds = settings.holds_unsure or case.verdict.held_by
        return Label.SPAM if holds else Label.HAM
    return Label(case.verdict.outcome.value)


def is_blatant(verdict: Verdict, settings: SiteSettings) -> bool:
    """Return True if a client may discard the comment unseen.

    Only for sites that let verdicts reject, and only far above the spam cutoff: what is thrown
    away is never seen again, so no moderator can make a false positive good.
    """
    if settings.mode is not Mode.ENFORCE or verdict.outcome is not Outcome.SPAM:
        return False
    return 1.0 - verdict.p_spam <= (1.0 - verdict.spam_cutoff) * _BLATANT_SHARE
