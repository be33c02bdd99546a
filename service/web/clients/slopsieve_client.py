"""A client of Slopsieve in one file: copy it; the standard library is all that it needs.

    slopsieve = Client("http://127.0.0.1:8080", key)
    comment = slopsieve.submit_comment({"text": text, "author": {"name": name}}, wait=5)
    print(comment["action"], comment["verdict"] and comment["verdict"]["explanation"])

For Python 3.11 and later. Written from the service's own description of its API; do not edit it,
print a new one with `slopsieve clients python`. Licence: Apache-2.0.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import http.client
import itertools
import json
import random
import re
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from email.message import Message
from typing import Any, Generic, Literal, NotRequired, TypedDict, TypeVar
from urllib.parse import urlencode

_T = TypeVar("_T")
_ADDRESS = re.compile(r"(https?://[^\s/?#@\\]+(?:/[^\s/?#@\\]+)*)/*", re.IGNORECASE)

# What the site should do with a comment.
Action = Literal["publish", "hold", "reject"]

# How a delivery is written: a signed Standard Webhook, Akismet's own callback, calls of a
# platform's own API, or the call of a build hook.
#
# Akismet's form has no signature: the site's key stands in the body, which is therefore written
# when it is sent and never kept. So is what a platform is asked: a rejected comment is hidden there
# as things stand when its turn comes, and shown again where that was undone.
DeliveryForm = Literal[
    "standard_webhook",
    "akismet",
    "github",
    "discourse",
    "mastodon",
    "build_hook",
]

# Waiting for its next try, delivered, or given up and waiting for a person.
DeliveryState = Literal["waiting", "delivered", "dead"]

# What becomes of a comment that an entry matches: it is ham, or it is spam.
Effect = Literal["allow", "block"]

# What a comment is recognised by.
EntryKind = Literal["email", "address", "mail_domain", "domain", "network", "phrase"]

# What a site can be told about a comment.
EventKind = Literal["comment.judged", "comment.needs_review", "comment.decided"]

# How loud a comparison is.
Level = Literal["calm", "watch", "act"]

# How much a site lets verdicts act before a person has looked.
Mode = Literal["observe", "hold", "enforce"]

# What an alarm is about.
Of = Literal["score", "signal", "unsure", "degraded", "new_domains", "languages"]

# The three things a verdict can conclude.
Outcome = Literal["ham", "unsure", "spam"]

# The two rulings a moderator can make.
Ruling = Literal["approve", "reject"]

# How far a comment has come: waiting for its verdict, judged, or decided by a person.
State = Literal["pending", "judged", "decided"]

# By which right a signal weighs what it does.
#
# Fitted on labelled comments; set by judgement, within a bound; or learnt here, from decisions of
# this installation.
WeightKind = Literal["fitted", "set", "learnt"]


class AgreementAnswer(TypedDict):
    """How often a second person ruled as the first had."""

    agreed: ShareAnswer
    # Cohen's kappa; null where it cannot be told.
    kappa: float | None


class AlarmAnswer(TypedDict):
    """What has moved by more than chance, and far enough to matter."""

    of: Of
    # The signal's name; empty for all else.
    name: str
    level: Level
    # The population stability index, or by how much the share rose.
    value: float
    says: str
    # What a person should do.
    do: str


class AttemptAnswer(TypedDict):
    """One attempt to deliver a message."""

    at: str
    milliseconds: int
    # Null if there was no answer.
    status: int | None
    # What went wrong, in fixed words.
    problem: str | None


class AuditedAnswer(TypedDict):
    """What the audit sample says of the verdicts of one kind."""

    verdicts: int
    # Of the sample; counted as if like the decided ones.
    waiting: int
    # Of the decided sample, ruled against the verdict.
    wrong: ShareAnswer


class AuthorRequest(TypedDict):
    """Who the comment says wrote it. The e-mail address is kept as a keyed hash and its domain."""

    name: NotRequired[str | None]
    email: NotRequired[str | None]
    url: NotRequired[str | None]
    account_id: NotRequired[str | None]
    account_age_days: NotRequired[int | None]
    # How far the site trusts the account, 0 to 4 as Discourse counts it.
    trust_level: NotRequired[int | None]


class BatchAnswer(TypedDict):
    """What became of each comment of a batch, in its order."""

    accepted: int
    refused: int
    results: list[BatchResult]


class BatchRequest(TypedDict):
    """Comments that are each accepted or refused on their own."""

    comments: list[CommentRequest]


class BatchResult(TypedDict):
    """What became of one comment of a batch."""

    # Its place in the batch, from 0; empty lines not counted.
    index: int
    # What the comment alone would have been answered.
    status: int
    # Null if it was refused.
    id: str | None
    site_comment_id: str | None
    links: CommentLinks | None
    # Why it was refused; null if accepted.
    problem: ProblemAnswer | None


class BinAnswer(TypedDict):
    """One bin's shares then and now."""

    name: str
    reference: float
    recent: float


class CalibrationAnswer(TypedDict):
    """Decided unsure comments and audit samples whose `p_spam` lies in one bin."""

    low: float
    high: float
    n: int
    # Their mean `p_spam`, weighted.
    stated: float
    # The share that a moderator rejected, weighted.
    rejected: RateAnswer


class CallbackAnswer(TypedDict):
    """Where the site is told of what. Its secrets are not repeated."""

    url: str
    events: list[EventKind]
    # How many secrets sign: 2 while one is being changed.
    secrets: int


class CallbackData(TypedDict):
    """A comment as it stood when the message was written; never a word of it."""

    id: str
    site_comment_id: str | None
    state: State
    # What the site should do with the comment now.
    action: Action
    # Null until the comment is judged.
    outcome: Outcome | None
    p_spam: float | None
    degraded: bool | None
    # What spoke for spam or ham, the weightiest first.
    reasons: list[str]
    # It waits for a moderator.
    needs_review: bool
    # Of the decision in force; null where there is none.
    ruling: Ruling | None


class CallbackMessage(TypedDict):
    """What a site is told: the body of a signed callback."""

    type: EventKind
    # When it happened, not when it was sent.
    timestamp: str
    data: CallbackData


class CallbackRequest(TypedDict):
    """Where to tell the site of what. Without events it is told of everything."""

    # An https URL of a public host, at its usual port.
    url: str
    # What to be told of; all of it if left out.
    events: NotRequired[list[EventKind] | None]
    # Make a new secret. Messages are signed with it and with the one before, until the next
    # rotation; to end a secret that leaked at once, rotate twice.
    rotate: NotRequired[bool]


class CampaignFiguresAnswer(TypedDict):
    """One campaign."""

    id: str
    comments: int
    waiting: int


class CommentAnswer(TypedDict):
    """A comment as far as it has come. Its text is not repeated: the site has it."""

    id: str
    site_comment_id: str | None
    state: State
    # What the site should do with the comment now.
    action: Action
    # It waits for a moderator.
    needs_review: bool
    # Part of the random sample that moderators check all the same.
    audit: bool
    received_at: str
    # Null until the comment is judged.
    verdict: VerdictAnswer | None
    # The decision in force.
    decision: DecisionAnswer | None
    # All decisions, oldest first.
    decisions: list[DecisionAnswer]
    links: CommentLinks


class CommentLinks(TypedDict):
    """Where a comment can be read and decided."""

    self: str
    decision: str


class CommentPage(TypedDict):
    """One page of comments, the newest first."""

    comments: list[CommentAnswer]
    # Pass as `cursor` for the next page.
    next_cursor: str | None
    links: PageLinks


class CommentRequest(TypedDict):
    """One comment with its post and its author.

    Text may be in any script. NUL characters and lone surrogates, which cannot be kept, are each
    replaced by U+FFFD, so that offsets stay as they were. A null is the same as an absent field.
    """

    # The comment, up to 65536 bytes of UTF-8.
    text: str
    post: NotRequired[PostRequest | None]
    author: NotRequired[AuthorRequest | None]
    # The site's own id of this comment; makes repeats recognisable.
    site_comment_id: NotRequired[str | None]
    # The IP address it was sent from; only keyed hashes of it are kept.
    address: NotRequired[str | None]
    user_agent: NotRequired[str | None]
    # When, by RFC 3339.
    written_at: NotRequired[str | None]
    # A BCP 47 tag such as `en` or `pt-BR`.
    language: NotRequired[str | None]
    # The site's own id of the comment it answers.
    reply_to: NotRequired[str | None]
    form: NotRequired[FormRequest | None]
    # False for what nobody decides here and no page shows, such as a contact form's message or a
    # registration (its `text` is a blank): it is withdrawn as soon as it is answered, so `wait` for
    # its verdict. A batch, which waits for none, refuses it.
    keep: NotRequired[bool]


class DayAnswer(TypedDict):
    """One UTC day."""

    day: str
    received: OutcomesAnswer
    # Unsure comments and audit samples that waited for a moderator at its end.
    waiting: int


class DecisionAnswer(TypedDict):
    """A moderator's ruling; an undone one stays in the history."""

    id: str
    ruling: Ruling
    decided_by: str
    decided_at: str
    note: str | None
    undone_at: str | None
    undone_by: str | None


class DecisionRequest(TypedDict):
    """A ruling by one of the site's own moderators."""

    ruling: Ruling
    note: NotRequired[str | None]
    # Who decided, as the site calls them; recorded as `site: …`.
    decided_by: NotRequired[str | None]


class DeliveryAnswer(TypedDict):
    """One message to the site and how far it has come."""

    # What the message carries as `webhook-id`, at every attempt.
    id: str
    comment_id: str
    event: EventKind
    form: DeliveryForm
    state: DeliveryState
    attempts: int
    created_at: str
    next_try_at: str | None
    ended_at: str | None


class DeliveryList(TypedDict):
    """The newest messages first."""

    deliveries: list[DeliveryAnswer]


class DeliveryLogAnswer(TypedDict):
    """One message with every attempt to deliver it, oldest first."""

    delivery: DeliveryAnswer
    log: list[AttemptAnswer]


class DriftAnswer(TypedDict):
    """Whether what comes in, and what the machine makes of it, is still as it was."""

    # The version that serves.
    version: str | None
    # Its first days, the reference of its own.
    own: PeriodAnswer | None
    own_recent: PeriodAnswer | None
    # The weeks before, whatever version served.
    before: PeriodAnswer | None
    recent: PeriodAnswer | None
    alarms: list[AlarmAnswer]
    # Null where too little was judged to compare.
    score: ShiftAnswer | None
    # Those that moved most first.
    signals: list[ShiftAnswer]
    languages: ShiftAnswer | None
    shares: list[RiseAnswer]


class FiguresAnswer(TypedDict):
    """How the last days went. Shares carry 95 % intervals."""

    # The moment of counting, up to a minute ago.
    until: str
    total: OutcomesAnswer
    # Judged ham or spam, and no person has ruled on them.
    settled: int
    days: list[DayAnswer]
    sites: list[SiteFiguresAnswer]
    queue: QueueAnswer
    mistakes: MistakesAnswer
    calibration: list[CalibrationAnswer]
    agreement: AgreementAnswer
    # The signals are those of this many newest verdicts.
    sampled: int
    signals: list[SignalFiguresAnswer]
    campaigns: list[CampaignFiguresAnswer]
    # Verdicts a day by model version.
    versions: list[SeriesAnswer]
    # Decisions a day by person.
    decided_by: list[SeriesAnswer]
    moderators: list[ModeratorAnswer]
    drift: DriftAnswer


class FormAnswer(TypedDict):
    """Where the site's pages load the script of their comment forms."""

    hook_id: str
    # The path of the script, on this host.
    script: str


class FormRequest(TypedDict):
    """What the site's form saw of whoever filled it in; what it does not know is left out."""

    # Seconds between the loading of the page and the sending of the form, by one clock.
    seconds_on_page: NotRequired[float | None]
    # Whether a field came back filled in that people cannot see.
    honeypot_filled: NotRequired[bool | None]
    # The hidden field `slopsieve_form` as it came, empty where it did not; only where the page has
    # the script `/public/…/form.js`.
    token: NotRequired[str | None]


class InstructionAnswer(TypedDict):
    """The moderators' allow or block entry that the comment matches."""

    entry_id: str
    # allow makes a comment ham, block makes it spam.
    effect: Effect
    # What the comment was recognised by.
    kind: EntryKind
    # The domain or phrase; null where only a keyed hash is kept.
    label: str | None
    # Why a moderator added the entry.
    reason: str


class IssuedKeyAnswer(TypedDict):
    """A new key. The secret is shown this once."""

    key: KeyAnswer
    # Send it as `Authorization: Bearer …`; it is not kept.
    secret: str


class KeyAnswer(TypedDict):
    """A site key without its secret, of which only a hash is kept."""

    id: str
    # The secret's first characters.
    hint: str
    created_at: str
    expires_at: str | None
    revoked_at: str | None


class KeyList(TypedDict):
    """All keys of the site, oldest first, the ended ones too."""

    keys: list[KeyAnswer]


class KeyRequest(TypedDict):
    """How to issue a key."""

    # End the site's other keys after the overlap.
    rotate: NotRequired[bool]
    # How long the other keys stay valid when rotating.
    overlap_seconds: NotRequired[int]


class MistakesAnswer(TypedDict):
    """How often the machine was wrong, as far as people have looked."""

    # Called spam and approved, of those called spam that anybody decided.
    false_positives: ShareAnswer
    # Called ham and rejected, of those called ham that anybody decided.
    missed_spam: ShareAnswer
    called_spam: AuditedAnswer
    called_ham: AuditedAnswer
    unsure_decided: int
    # Estimated share of all ham that was called spam; null if too few are decided.
    false_positive_rate: RateAnswer | None
    # Estimated share of all spam that was called ham; null if too few are decided.
    missed_spam_rate: RateAnswer | None


class ModeratorAnswer(TypedDict):
    """One person's decisions, undone ones too."""

    name: str
    decisions: int
    # Of them, taken on many comments at once.
    in_strokes: int
    timed: int
    median_seconds: float | None
    p90_seconds: float | None


class OutcomesAnswer(TypedDict):
    """How many comments were called what."""

    ham: int
    unsure: int
    spam: int
    # Without a verdict.
    unjudged: int
    # Of the unsure ones: some evidence was missing.
    degraded: int


class PageLinks(TypedDict):
    """Where the list goes on."""

    # The next page with the same filters; null on the last.
    next: str | None


class PeriodAnswer(TypedDict):
    """UTC days that were counted together."""

    first: str
    last: str
    verdicts: int


class PostRequest(TypedDict):
    """The post that was commented on: what it is about tells whether a comment belongs there."""

    url: NotRequired[str | None]
    title: NotRequired[str | None]
    # A summary or the opening; the first 4,000 characters are kept.
    excerpt: NotRequired[str | None]
    # The full text, where there is no excerpt; cut like it.
    text: NotRequired[str | None]


class ProblemAnswer(TypedDict):
    """A problem document (RFC 9457)."""

    # Where this kind of problem is explained.
    type: str
    title: str
    status: int
    detail: str
    # Every field that is wrong, at most 50.
    errors: list[ProblemField]


class ProblemField(TypedDict):
    """One thing wrong with the input."""

    # Where: the field's path, a parameter or a header.
    field: str
    # What is wrong there.
    problem: str
    # What to do about it.
    remedy: str


class QueueAnswer(TypedDict):
    """What waits for a moderator now."""

    unsure: int
    audited: int
    # Waits only because a report contradicts the verdict.
    reported: int
    oldest_seconds: float | None
    median_seconds: float | None


class RateAnswer(TypedDict):
    """An estimated share with its 95 % interval."""

    share: float
    low: float
    high: float


class RiseAnswer(TypedDict):
    """A share of all comments then and now."""

    of: Of
    reference: float
    recent: float
    level: Level


class SeriesAnswer(TypedDict):
    """A number for each of the days, in their order."""

    # Null for all others together.
    name: str | None
    by_day: list[int]


class SetCallbackAnswer(TypedDict):
    """The callback as it is now, with its secret if that is new."""

    callback: CallbackAnswer
    # Checks the signatures; shown this once, else null.
    secret: str | None


class SettingsAnswer(TypedDict):
    """A site's settings. A cutoff that is null follows the model version's promised one."""

    mode: Mode
    ham_cutoff: float | None
    spam_cutoff: float | None
    languages: list[str]
    # Two-word clients are told spam of an unsure comment.
    holds_unsure: bool
    # A report counts as a decision.
    reports_decide: bool
    # The site is told of a moderator's ruling this many seconds later.
    undo_seconds: int
    # Unsure members of campaigns that people rejected are rejected.
    rejects_campaigns: bool


class SettingsRequest(TypedDict):
    """The settings to change; those left out stay. A cutoff of null follows the promised one."""

    # `observe` publishes everything, `hold` holds what is not ham, `enforce` rejects spam.
    mode: NotRequired[Mode | None]
    ham_cutoff: NotRequired[float | None]
    spam_cutoff: NotRequired[float | None]
    # The languages that comments are usually written in.
    languages: NotRequired[list[str] | None]
    # What clients that know only spam and ham are told of an unsure comment: true holds it as spam,
    # false passes it as ham.
    holds_unsure: NotRequired[bool | None]
    # Whether a report counts as a decision (true) or brings the comment before a moderator (false).
    reports_decide: NotRequired[bool | None]
    # How long after a moderator's ruling the site is told of it, so that an undo before then tells
    # nothing; 0 tells it at once. What the site itself decides is told at once.
    undo_seconds: NotRequired[int | None]
    # Whether an unsure comment is rejected without a person if people rejected at least 5 members
    # of its campaign and approved none.
    rejects_campaigns: NotRequired[bool | None]


class ShareAnswer(TypedDict):
    """`count` of `n`, with the 95 % interval of the share."""

    count: int
    n: int
    # Null where `n` is too small to tell.
    share: float | None
    low: float | None
    high: float | None


class ShiftAnswer(TypedDict):
    """How far a distribution moved."""

    # The signal's name; empty for all else.
    name: str
    # Population stability index.
    psi: float
    # What chance alone stays below in 999 of 1,000 cases.
    noise: float
    level: Level
    bins: list[BinAnswer]


class SignalAnswer(TypedDict):
    """One piece of evidence and what it added to the score."""

    name: str
    # What was seen, as a clause.
    reason: str
    strength: float
    # Log-odds at full strength; 0: recorded, not weighed.
    weight: float
    # weight x strength, in log-odds.
    contribution: float
    # fitted on labelled comments, set by judgement within a bound, or learnt from decisions here;
    # null where it weighs nothing, and in old verdicts.
    weight_kind: WeightKind | None
    # The decisions that a learnt weight of a signal rests on.
    weight_decisions: int
    # Where in the comment's text it was seen.
    spans: list[SpanAnswer]
    # Where a remark turns into an advertisement or back, in code points.
    boundaries: list[int]


class SignalFiguresAnswer(TypedDict):
    """One signal among the newest verdicts."""

    name: str
    fired: int
    # In log-odds, where it fired.
    mean_contribution: float
    # Of the decided comments on which it fired.
    rejected: ShareAnswer


class SiteAnswer(TypedDict):
    """The site that the key belongs to."""

    id: str
    name: str
    created_at: str
    settings: SettingsAnswer


class SiteFiguresAnswer(TypedDict):
    """One site's comments of all the days."""

    site_id: str
    received: OutcomesAnswer


class SpanAnswer(TypedDict):
    """A half-open segment of the comment's text, in Unicode code points (not UTF-16 units)."""

    start: int
    end: int


class VerdictAnswer(TypedDict):
    """What the machine concluded, once and for good, with all the evidence it rests on."""

    outcome: Outcome
    # Calibrated probability of spam.
    p_spam: float
    # Log-odds: exactly base + model_contribution + every signal's contribution.
    score: float
    # Log-odds before any evidence.
    base: float
    # The classifier's own probability; null if it could not answer.
    model_p_spam: float | None
    # What the classifier added, in log-odds.
    model_contribution: float
    # The weightiest first.
    signals: list[SignalAnswer]
    # Where the classifier sees promotion, if it can tell; nowhere in ham.
    promo_spans: list[SpanAnswer]
    model_version: str
    # Below this probability: ham.
    ham_cutoff: float
    # From this probability up: spam.
    spam_cutoff: float
    judged_at: str
    # Some evidence was missing, so a person must look.
    degraded: bool
    # Which evidence was missing.
    degraded_by: list[str]
    # The entry that decided the outcome, unless degraded; the score never follows.
    instruction: InstructionAnswer | None
    # Why, in sentences, the weightiest first.
    explanation: list[str]


class SlopsieveError(Exception):
    """What went wrong: `title`, `detail`, and in `errors` each wrong field with its remedy.

    `status` is the HTTP status, None where there was no answer. `retry_after` is in how many
    seconds the service wants to be asked again; by `request_id` its log knows the request.
    """

    def __init__(
        self,
        title: str,
        *,
        status: int | None = None,
        detail: str = "",
        errors: Sequence[ProblemField] = (),
        retry_after: int | None = None,
        request_id: str | None = None,
    ) -> None:
        self.title = title
        self.status = status
        self.detail = detail
        self.errors = list(errors)
        self.retry_after = retry_after
        self.request_id = request_id
        said = "; ".join(f"{e['field']} {e['problem']}: {e['remedy']}" for e in errors) or detail
        super().__init__(f"{title}: {said}" if said else title)


class _NotSentError(SlopsieveError):
    """The service took no connection, so it kept nothing."""


class _LostError(SlopsieveError):
    """The connection was lost: nobody here knows what was kept."""


@dataclass(frozen=True)
class _Request(Generic[_T]):
    method: str
    path: str
    query: Mapping[str, str | float | None] = field(default_factory=dict)
    body: object = None
    key: str | None = None
    wait: float = 0.0

    @property
    def target(self) -> str:
        words = {True: "true", False: "false"}
        asked = {
            name: words[value] if isinstance(value, bool) else value
            for name, value in self.query.items()
            if value is not None
        }
        return f"{self.path}?{urlencode(asked)}" if asked else self.path

    @property
    def is_repeatable(self) -> bool:
        """Say whether a repeat is harmless even if the first was carried out."""
        return self.method == "GET" or self.key is not None


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Follows none: the key is for the address that was given, and a POST would become a GET."""

    def redirect_request(self, *_: object) -> None:
        return None


class _Connection:
    """What both clients have in common: where the service is, and one attempt to call it."""

    def __init__(
        self, url: str, key: str, *, timeout: float = 10.0, patience: float = 30.0
    ) -> None:
        """Call the service at `url` with the site key.

        `timeout` is how many seconds it may say nothing, beside those of a `wait`. For `patience`
        seconds it is asked again where that is harmless: after 429 and 503, and when it takes no
        connection; after a lost connection, too, where the request reads or has an idempotency
        key. Raises `SlopsieveError` for an address or a key that can be none.
        """
        parts = _ADDRESS.fullmatch(url)
        if parts is None:
            raise _wrong("url", "is no address of a service", "give https://HOST, with no user")
        if not re.fullmatch(r"[\x21-\x7e]+", key):
            raise _wrong("key", "cannot be a site key", "give the key alone, without line breaks")
        self._url = parts[1]
        self._key = key
        self._timeout = timeout
        self._patience = patience
        self._opener = urllib.request.build_opener(_NoRedirects)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._url!r})"

    def _attempt(self, request: _Request[_T]) -> _T:
        headers = {
            "Accept": "application/json",
            "Authorization": f"Bearer {self._key}",
            "User-Agent": "slopsieve-client (Python)",
        }
        if request.key is not None:
            headers["Idempotency-Key"] = request.key
        data = None
        if request.body is not None:
            headers["Content-Type"] = "application/json"
            data = _encode(request.body)
        call = urllib.request.Request(  # noqa: S310  # http and https alone, see above
            self._url + request.target, data=data, headers=headers, method=request.method
        )
        try:
            with self._opener.open(call, timeout=self._timeout + request.wait) as response:
                raw, request_id = response.read(), response.headers.get("X-Request-Id")
        except urllib.error.HTTPError as error:
            with error:
                raise _refusal(error.code, error.headers, error.read()) from None
        except (OSError, http.client.HTTPException) as error:
            raise _no_answer(error) from error
        try:
            answer: _T = json.loads(raw)
        except ValueError:
            detail = "Is this the address of Slopsieve?"
            title = "The answer is not JSON"
            raise SlopsieveError(title, detail=detail, request_id=request_id) from None
        return answer

    def _pause(
        self, request: _Request[_T], error: SlopsieveError, tried: int, began: float
    ) -> float | None:
        """Return after how many seconds to ask again, None if that would be too late or harm."""
        kept_nothing = error.status in (429, 503) or isinstance(error, _NotSentError)
        if not kept_nothing and not (isinstance(error, _LostError) and request.is_repeatable):
            return None
        pause = min(0.25 * 2**tried, 8.0) * random.uniform(0.5, 1.0)  # noqa: S311  # no secret
        pause = max(pause, error.retry_after or 0.0)
        return pause if time.monotonic() + pause < began + self._patience else None


class Client(_Connection):
    """Calls the service and waits for its answer. May be shared between threads.

    Every call returns the answer's JSON and raises `SlopsieveError`.
    """

    def wait_for_verdict(self, comment_id: str, *, seconds: float = 30.0) -> CommentAnswer:
        """Return the comment as soon as it is judged, or as it is after so many seconds."""
        watch = _Watch(seconds)
        while True:
            comment = self.get_comment(comment_id)
            pause = watch.pause(comment)
            if pause is None:
                return comment
            time.sleep(pause)

    def submit_comment(
        self,
        body: CommentRequest,
        *,
        wait: float | None = None,
        idempotency_key: str | None = None,
    ) -> CommentAnswer:
        """Submit a comment.

        Keeps the comment, then has it judged. A repeat with the same `Idempotency-Key` or
        `site_comment_id` is answered as the first was and judged once; with other content it is
        refused with 409.
        """
        return self._call(
            _Request[CommentAnswer](
                "POST",
                "/v1/comments",
                query={"wait": wait},
                body=body,
                key=_key(idempotency_key),
                wait=wait or 0.0,
            )
        )

    def list_comments(
        self,
        *,
        state: State | None = None,
        outcome: Outcome | None = None,
        needs_review: bool | None = None,
        degraded: bool | None = None,
        received_from: str | None = None,
        received_before: str | None = None,
        cursor: str | None = None,
        limit: int | None = None,
    ) -> CommentPage:
        """List comments.

        The site's own comments, the newest first, a page at a time.
        """
        return self._call(
            _Request[CommentPage](
                "GET",
                "/v1/comments",
                query={
                    "state": state,
                    "outcome": outcome,
                    "needs_review": needs_review,
                    "degraded": degraded,
                    "received_from": received_from,
                    "received_before": received_before,
                    "cursor": cursor,
                    "limit": limit,
                },
            )
        )

    def submit_batch(
        self,
        body: BatchRequest,
        *,
        idempotency_key: str | None = None,
    ) -> BatchAnswer:
        """Submit up to 1,000 comments.

        As an object with `comments`, or as NDJSON with one comment a line. Each comment is accepted
        or refused on its own, a malformed line too. An `Idempotency-Key` makes repeats of the whole
        batch harmless, comment by comment.
        """
        return self._call(
            _Request[BatchAnswer](
                "POST",
                "/v1/comments/batch",
                body=body,
                key=_key(idempotency_key),
            )
        )

    def get_comment(self, comment_id: str) -> CommentAnswer:
        """Read a comment's state, verdict and history."""
        return self._call(
            _Request[CommentAnswer](
                "GET",
                _path("/v1/comments/{comment_id}", comment_id=comment_id),
            )
        )

    def withdraw_comment(self, comment_id: str) -> CommentAnswer:
        """Withdraw a comment that the site has deleted.

        Its words, its author and sender, and what is known of its post are forgotten. Verdict and
        decisions stay, so that figures stay true. A repeat changes nothing.
        """
        return self._call(
            _Request[CommentAnswer](
                "DELETE",
                _path("/v1/comments/{comment_id}", comment_id=comment_id),
            )
        )

    def decide_comment(self, comment_id: str, body: DecisionRequest) -> CommentAnswer:
        """Record a decision.

        For sites whose moderators decide elsewhere. The same ruling again changes nothing; the
        other one undoes the first, and the history shows both.
        """
        return self._call(
            _Request[CommentAnswer](
                "POST",
                _path("/v1/comments/{comment_id}/decision", comment_id=comment_id),
                body=body,
            )
        )

    def undo_decision(self, comment_id: str, *, decision: str | None = None) -> CommentAnswer:
        """Undo the decision in force."""
        return self._call(
            _Request[CommentAnswer](
                "DELETE",
                _path("/v1/comments/{comment_id}/decision", comment_id=comment_id),
                query={"decision": decision},
            )
        )

    def get_site(self) -> SiteAnswer:
        """Read the site and its settings."""
        return self._call(_Request[SiteAnswer]("GET", "/v1/site"))

    def change_settings(self, body: SettingsRequest) -> SiteAnswer:
        """Change settings.

        Fields that are left out stay as they are.
        """
        return self._call(_Request[SiteAnswer]("PATCH", "/v1/site/settings", body=body))

    def set_form(self) -> FormAnswer:
        """Let the site's pages load the script of comment forms.

        The script hands each comment a token and counts how its form was filled in; the site's
        server sends its field on as `form.token`. A repeat answers the same.
        """
        return self._call(_Request[FormAnswer]("PUT", "/v1/site/form"))

    def list_keys(self) -> KeyList:
        """List the site's keys."""
        return self._call(_Request[KeyList]("GET", "/v1/site/keys"))

    def issue_key(self, body: KeyRequest) -> IssuedKeyAnswer:
        """Issue a key, or rotate.

        With `rotate` the site's other keys end after the overlap, which leaves time to change the
        key everywhere. A site may have up to 50 valid keys.
        """
        return self._call(_Request[IssuedKeyAnswer]("POST", "/v1/site/keys", body=body))

    def revoke_key(self, key_id: str) -> KeyAnswer:
        """Revoke a key.

        At once. The last valid key cannot be revoked.
        """
        return self._call(
            _Request[KeyAnswer]("DELETE", _path("/v1/site/keys/{key_id}", key_id=key_id))
        )

    def read_figures(self, *, days: int | None = None) -> FiguresAnswer:
        """Read how the last days went.

        Counts, and estimates with 95 % intervals from the audit sample; the days are UTC days.
        Counted at most once a minute, drift every five.
        """
        return self._call(_Request[FiguresAnswer]("GET", "/v1/site/figures", query={"days": days}))

    def get_callback(self) -> CallbackAnswer:
        """Read where the site is told."""
        return self._call(_Request[CallbackAnswer]("GET", "/v1/site/callback"))

    def set_callback(self, body: CallbackRequest) -> SetCallbackAnswer:
        """Choose where the site is told.

        Messages are Standard Webhooks 1.0.0: JSON with `type`, `timestamp` and `data`, signed in
        `webhook-signature`. They come at least once, those about one comment in order, for a day if
        need be; a repeat has the same `webhook-id`. The first call answers the secret; later ones
        keep it, unless they rotate.
        """
        return self._call(_Request[SetCallbackAnswer]("PUT", "/v1/site/callback", body=body))

    def remove_callback(self) -> CallbackAnswer:
        """Be told nothing more."""
        return self._call(_Request[CallbackAnswer]("DELETE", "/v1/site/callback"))

    def list_deliveries(
        self,
        *,
        state: DeliveryState | None = None,
        limit: int | None = None,
    ) -> DeliveryList:
        """List messages.

        With `state=dead` those that were given up after a day of attempts.
        """
        return self._call(
            _Request[DeliveryList](
                "GET",
                "/v1/site/deliveries",
                query={"state": state, "limit": limit},
            )
        )

    def get_delivery(self, delivery_id: str) -> DeliveryLogAnswer:
        """Read the log of a message."""
        return self._call(
            _Request[DeliveryLogAnswer](
                "GET",
                _path("/v1/site/deliveries/{delivery_id}", delivery_id=delivery_id),
            )
        )

    def replay_delivery(self, delivery_id: str) -> DeliveryAnswer:
        """Replay a message that was given up.

        It starts anew, and goes to the address the site has now.
        """
        return self._call(
            _Request[DeliveryAnswer](
                "POST",
                _path("/v1/site/deliveries/{delivery_id}/replay", delivery_id=delivery_id),
            )
        )

    def _call(self, request: _Request[_T]) -> _T:
        began = time.monotonic()
        for tried in itertools.count():
            try:
                return self._attempt(request)
            except SlopsieveError as error:
                pause = self._pause(request, error, tried, began)
                if pause is None:
                    raise
            time.sleep(pause)
        raise AssertionError  # There is always another number.


class AsyncClient(_Connection):
    """As `Client`, awaited. While a call is under way it takes a thread of asyncio's pool."""

    async def wait_for_verdict(self, comment_id: str, *, seconds: float = 30.0) -> CommentAnswer:
        """Return the comment as soon as it is judged, or as it is after so many seconds."""
        watch = _Watch(seconds)
        while True:
            comment = await self.get_comment(comment_id)
            pause = watch.pause(comment)
            if pause is None:
                return comment
            await asyncio.sleep(pause)

    async def submit_comment(
        self,
        body: CommentRequest,
        *,
        wait: float | None = None,
        idempotency_key: str | None = None,
    ) -> CommentAnswer:
        """Submit a comment."""
        return await self._call(
            _Request[CommentAnswer](
                "POST",
                "/v1/comments",
                query={"wait": wait},
                body=body,
                key=_key(idempotency_key),
                wait=wait or 0.0,
            )
        )

    async def list_comments(
        self,
        *,
        state: State | None = None,
        outcome: Outcome | None = None,
        needs_review: bool | None = None,
        degraded: bool | None = None,
        received_from: str | None = None,
        received_before: str | None = None,
        cursor: str | None = None,
        limit: int | None = None,
    ) -> CommentPage:
        """List comments."""
        return await self._call(
            _Request[CommentPage](
                "GET",
                "/v1/comments",
                query={
                    "state": state,
                    "outcome": outcome,
                    "needs_review": needs_review,
                    "degraded": degraded,
                    "received_from": received_from,
                    "received_before": received_before,
                    "cursor": cursor,
                    "limit": limit,
                },
            )
        )

    async def submit_batch(
        self,
        body: BatchRequest,
        *,
        idempotency_key: str | None = None,
    ) -> BatchAnswer:
        """Submit up to 1,000 comments."""
        return await self._call(
            _Request[BatchAnswer](
                "POST",
                "/v1/comments/batch",
                body=body,
                key=_key(idempotency_key),
            )
        )

    async def get_comment(self, comment_id: str) -> CommentAnswer:
        """Read a comment's state, verdict and history."""
        return await self._call(
            _Request[CommentAnswer](
                "GET",
                _path("/v1/comments/{comment_id}", comment_id=comment_id),
            )
        )

    async def withdraw_comment(self, comment_id: str) -> CommentAnswer:
        """Withdraw a comment that the site has deleted."""
        return await self._call(
            _Request[CommentAnswer](
                "DELETE",
                _path("/v1/comments/{comment_id}", comment_id=comment_id),
            )
        )

    async def decide_comment(self, comment_id: str, body: DecisionRequest) -> CommentAnswer:
        """Record a decision."""
        return await self._call(
            _Request[CommentAnswer](
                "POST",
                _path("/v1/comments/{comment_id}/decision", comment_id=comment_id),
                body=body,
            )
        )

    async def undo_decision(self, comment_id: str, *, decision: str | None = None) -> CommentAnswer:
        """Undo the decision in force."""
        return await self._call(
            _Request[CommentAnswer](
                "DELETE",
                _path("/v1/comments/{comment_id}/decision", comment_id=comment_id),
                query={"decision": decision},
            )
        )

    async def get_site(self) -> SiteAnswer:
        """Read the site and its settings."""
        return await self._call(_Request[SiteAnswer]("GET", "/v1/site"))

    async def change_settings(self, body: SettingsRequest) -> SiteAnswer:
        """Change settings."""
        return await self._call(_Request[SiteAnswer]("PATCH", "/v1/site/settings", body=body))

    async def set_form(self) -> FormAnswer:
        """Let the site's pages load the script of comment forms."""
        return await self._call(_Request[FormAnswer]("PUT", "/v1/site/form"))

    async def list_keys(self) -> KeyList:
        """List the site's keys."""
        return await self._call(_Request[KeyList]("GET", "/v1/site/keys"))

    async def issue_key(self, body: KeyRequest) -> IssuedKeyAnswer:
        """Issue a key, or rotate."""
        return await self._call(_Request[IssuedKeyAnswer]("POST", "/v1/site/keys", body=body))

    async def revoke_key(self, key_id: str) -> KeyAnswer:
        """Revoke a key."""
        return await self._call(
            _Request[KeyAnswer]("DELETE", _path("/v1/site/keys/{key_id}", key_id=key_id))
        )

    async def read_figures(self, *, days: int | None = None) -> FiguresAnswer:
        """Read how the last days went."""
        return await self._call(
            _Request[FiguresAnswer]("GET", "/v1/site/figures", query={"days": days})
        )

    async def get_callback(self) -> CallbackAnswer:
        """Read where the site is told."""
        return await self._call(_Request[CallbackAnswer]("GET", "/v1/site/callback"))

    async def set_callback(self, body: CallbackRequest) -> SetCallbackAnswer:
        """Choose where the site is told."""
        return await self._call(_Request[SetCallbackAnswer]("PUT", "/v1/site/callback", body=body))

    async def remove_callback(self) -> CallbackAnswer:
        """Be told nothing more."""
        return await self._call(_Request[CallbackAnswer]("DELETE", "/v1/site/callback"))

    async def list_deliveries(
        self,
        *,
        state: DeliveryState | None = None,
        limit: int | None = None,
    ) -> DeliveryList:
        """List messages."""
        return await self._call(
            _Request[DeliveryList](
                "GET",
                "/v1/site/deliveries",
                query={"state": state, "limit": limit},
            )
        )

    async def get_delivery(self, delivery_id: str) -> DeliveryLogAnswer:
        """Read the log of a message."""
        return await self._call(
            _Request[DeliveryLogAnswer](
                "GET",
                _path("/v1/site/deliveries/{delivery_id}", delivery_id=delivery_id),
            )
        )

    async def replay_delivery(self, delivery_id: str) -> DeliveryAnswer:
        """Replay a message that was given up."""
        return await self._call(
            _Request[DeliveryAnswer](
                "POST",
                _path("/v1/site/deliveries/{delivery_id}/replay", delivery_id=delivery_id),
            )
        )

    async def _call(self, request: _Request[_T]) -> _T:
        began = time.monotonic()
        for tried in itertools.count():
            try:
                return await asyncio.to_thread(self._attempt, request)
            except SlopsieveError as error:
                pause = self._pause(request, error, tried, began)
                if pause is None:
                    raise
            await asyncio.sleep(pause)
        raise AssertionError  # There is always another number.


def verify_callback(
    headers: Mapping[str, str],
    body: bytes,
    secret: str,
    *,
    tolerance: float = 300.0,
    now: float | None = None,
) -> CallbackMessage:
    """Return what the service tells, once its signature was checked.

    `body` is the request's as it came, `secret` what `set_callback` answered (`whsec_…`). Raises
    `SlopsieveError` for a message that somebody else wrote, or sent more than `tolerance` seconds
    ago. The same message may come again: then it has the same header `webhook-id`.
    """
    given = {name.lower(): value for name, value in headers.items()}
    try:
        key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except ValueError:
        key = b""
    # Nobody may sign with an empty secret, as a setting that is missing would be.
    if len(key) < 24:
        raise _wrong("secret", "signs nothing", "give what `set_callback` answered")
    sent_at, said = given.get("webhook-timestamp", ""), given.get("webhook-signature", "")
    signed = f"{given.get('webhook-id', '')}.{sent_at}.".encode("utf-8", "replace") + body
    own = b"v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())
    if not any(hmac.compare_digest(own, one.encode("utf-8", "replace")) for one in said.split()):
        raise _wrong("webhook-signature", "is not the service's", "answer 401 and do nothing")
    # What was signed is the service's own writing: a number, and JSON.
    if abs((time.time() if now is None else now) - int(sent_at)) > tolerance:
        raise _wrong("webhook-timestamp", "is not of now", "answer 401; see if the clock is right")
    message: CallbackMessage = json.loads(body)
    return message


class _Watch:
    """How long to wait between looks at a comment: ever longer, until the time is over."""

    def __init__(self, seconds: float) -> None:
        self._until = time.monotonic() + seconds
        self._pause = 0.1

    def pause(self, comment: CommentAnswer) -> float | None:
        left = self._until - time.monotonic()
        if comment["verdict"] is not None or left <= 0:
            return None
        self._pause = min(self._pause * 1.5, 5.0)
        return min(self._pause, left)


def _wrong(name: str, problem: str, remedy: str) -> SlopsieveError:
    return SlopsieveError(
        "Refused here", errors=[{"field": name, "problem": problem, "remedy": remedy}]
    )


def _path(path: str, **ids: str) -> str:
    for name, value in ids.items():
        if not re.fullmatch("[A-Za-z0-9_-]{1,64}", value):
            raise _wrong(name, "is no id", "give the `id` of an answer")
    return path.format(**ids)


def _key(given: str | None) -> str:
    if given is None:
        return uuid.uuid4().hex
    if not re.fullmatch(r"[\x21-\x7e]+", given):
        raise _wrong("idempotency_key", "cannot be sent", "give ASCII letters, digits and signs")
    return given


def _encode(body: object) -> bytes:
    text = json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    # Half a pair can be kept nowhere; the service would put the same in its place.
    return re.sub("[\ud800-\udfff]", "\N{REPLACEMENT CHARACTER}", text).encode()


def _refusal(status: int, headers: Message, raw: bytes) -> SlopsieveError:
    try:
        problem = json.loads(raw)
    except ValueError:
        problem = None
    if not isinstance(problem, dict):
        problem = {"detail": "This is no answer of Slopsieve; is the address right?"}
    after = headers.get("Retry-After", "")
    return SlopsieveError(
        str(problem.get("title", f"HTTP status {status}")),
        status=status,
        detail=str(problem.get("detail", "")),
        errors=problem.get("errors", []),
        retry_after=int(after) if after.isdecimal() else None,
        request_id=headers.get("X-Request-Id"),
    )


def _no_answer(error: Exception) -> SlopsieveError:
    cause: Any = error.reason if isinstance(error, urllib.error.URLError) else error
    if isinstance(cause, ConnectionRefusedError):
        return _NotSentError("The service takes no connection", detail="Does it run there?")
    title, detail = "The service did not answer", f"{type(cause).__name__}."
    if isinstance(cause, TimeoutError | ConnectionError | http.client.HTTPException):
        return _LostError(title, detail=detail)
    return SlopsieveError(title, detail=f"{cause}.")
