"""A site that sends comments, its keys and its settings."""

from dataclasses import dataclass, field
from datetime import datetime

from service.domain.comment import SiteId
from service.domain.decision import Mode
from service.domain.rules import SiteRules
from service.domain.text import N_

AKISMET_KEY_ID = "akey"
"""The prefix of Akismet keys' ids, so that the two kinds of key are never confused."""

# A wrong key is noticed within seconds. A blog that publishes mails its subscribers, which no
# second message undoes. The comment has waited for a person far longer than this.
DEFAULT_UNDO_SECONDS = 30
MAX_UNDO_SECONDS = 3_600


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteSettings:
    """A site's settings. Cutoffs that are None are the model version's promised ones.

    With `holds_unsure`, clients that know no third word get "spam" for unsure comments. With
    `reports_decide` a report is a moderator's decision. `blog` is the URL of the front page:
    Akismet clients get late verdicts only at its host. With `rejects_campaigns` an unsure comment
    is rejected if people rejected enough of its campaign and approved none. With `learns` its
    decisions since `learns_since` affect the next comments at once. With `public_feed` anybody may
    read the comments shown under a post, with `explains_spam` authors of spam why, and appeal.
    """

    mode: Mode = Mode.HOLD
    ham_cutoff: float | None = None
    spam_cutoff: float | None = None
    holds_unsure: bool = True
    reports_decide: bool = False
    rejects_campaigns: bool = False
    blog: str | None = None
    undo_seconds: int = DEFAULT_UNDO_SECONDS
    learns: bool = True
    learns_since: datetime | None = None
    public_feed: bool = False
    rules: SiteRules = field(default_factory=SiteRules)
    explains_spam: bool = False

    def __post_init__(self) -> None:
        for name in ("ham_cutoff", "spam_cutoff"):
            value = getattr(self, name)
            if value is not None and not 0.0 <= value <= 1.0:
                raise ValueError(f"{name} must be a probability in [0, 1], got {value}")
        if not 0 <= self.undo_seconds <= MAX_UNDO_SECONDS:
            msg = f"undo_seconds must lie in [0, {MAX_UNDO_SECONDS}], got {self.undo_seconds}"
            raise ValueError(msg)
        low, high = self.ham_cutoff, self.spam_cutoff
        if low is not None and high is not None and low > high:
            raise ValueError(f"ham_cutoff {low} must not lie above spam_cutoff {high}")


@dataclass(frozen=True, slots=True)
class Switch:
    """A setting that is on or off: its option of `sites set`, its group and label on the page."""

    option: str
    group: str
    label: str


SWITCHES = {
    "holds_unsure": Switch(
        "--holds-unsure/--passes-unsure",
        N_("Clients that know only spam and ham"),
        N_("Report unsure comments as spam, so that their own moderators see them."),
    ),
    "reports_decide": Switch(
        "--reports-decide/--reports-ask",
        N_("Clients that know only spam and ham"),
        N_("Let their reports count as decisions."),
    ),
    "rejects_campaigns": Switch(
        "--rejects-campaigns/--asks-about-campaigns",
        N_("Campaigns"),
        N_(
            "Reject an unsure comment without a person if people rejected at least five others of "
            "its campaign and approved none."
        ),
    ),
    "learns": Switch(
        "--learns/--learns-not",
        N_("Learning"),
        N_("Let this site's decisions help with its next comments at once."),
    ),
    "public_feed": Switch(
        "--public-feed/--no-public-feed",
        N_("Comments for anybody to read"),
        N_(
            "Let anybody read what was approved or judged ham under a post, so that a static site "
            "can show it: words, name and website, never an address or e-mail."
        ),
    ),
    "explains_spam": Switch(
        "--explains-spam/--no-explains-spam",
        N_("Reasons for authors"),
        N_(
            "Explain to authors of spam, too, why their comment is held or rejected, and let them "
            "appeal."
        ),
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    id: SiteId
    name: str
    created_at: datetime
    settings: SiteSettings = field(default_factory=SiteSettings)


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteKey:
    """A key without its secret, which is stored as a hash and shown only once.

    `hint` is the secret's first characters. Akismet keys are short and have a keyed SHA-256.
    """

    id: str
    site_id: SiteId
    hint: str
    secret_sha256: str
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None

    @property
    def is_akismet(self) -> bool:
        """Return True if this key is only for the Akismet protocol."""
        return self.id.startswith(f"{AKISMET_KEY_ID}_")

    def is_valid(self, now: datetime) -> bool:
        if self.revoked_at is not None and self.revoked_at <= now:
            return False
        return self.expires_at is None or now < self.expires_at
