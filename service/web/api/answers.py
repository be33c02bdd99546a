"""Pydantic models of the API's responses; the OpenAPI document is generated from them."""

from typing import Annotated

from pydantic import Field

from service.domain.case import Case, State
from service.domain.comment import MAX_TEXT_BYTES
from service.domain.decision import Action, Decision, Mode, Ruling
from service.domain.list_entry import Effect, EntryKind
from service.domain.published import StatementLinks
from service.domain.rules import Rule
from service.domain.verdict import Outcome, Verdict, WeighedSignal, WeightKind
from service.scoring.explanation import explain
from service.web.edge.errors import Answer, ProblemAnswer
from service.web.edge.fields import Moment

NEEDS_REVIEW = (
    "Whether the comment is in the review queue. A decided comment returns to it when its author "
    "appeals. Held spam is not in it: it has its own list, and is deleted after some weeks unless "
    "a moderator decides."
)

STATEMENT_URL = (
    "The page where the comment's author reads why it is held or rejected, and may appeal once. "
    "Show it to nobody else. Null if nothing is held, and for spam unless the site explains it. A "
    "path on this host if SLOPSIEVE_PAGES_URL is not set."
)

Probability = Annotated[float, Field(ge=0, le=1)]


class SpanAnswer(Answer):
    """A half-open segment of the comment's text, in Unicode code points (not UTF-16 units)."""

    start: int = Field(ge=0, le=MAX_TEXT_BYTES)
    end: int = Field(ge=1, le=MAX_TEXT_BYTES)


class SignalAnswer(Answer):
    """One piece of evidence and what it added to the score."""

    name: str = Field(examples=["shortened_link"])
    reason: str = Field(description="What was seen, as a clause.", examples=["contains a link"])
    strength: float = Field(gt=0, le=1)
    weight: float = Field(description="Log-odds at full strength; 0: recorded, not weighed.")
    contribution: float = Field(description="weight x strength, in log-odds.")
    weight_kind: WeightKind | None = Field(
        description="fitted on labelled comments, set by judgement within a bound, or learnt from "
        "decisions here; null if the signal has no weight, and in old verdicts."
    )
    weight_decisions: int = Field(
        ge=0, description="How many decisions a learnt weight is based on."
    )
    spans: list[SpanAnswer] = Field(description="Where in the comment's text it was seen.")
    boundaries: list[Annotated[int, Field(ge=1, le=MAX_TEXT_BYTES)]] = Field(
        description="Where a remark turns into an advertisement or back, in code points."
    )

    @classmethod
    def of(cls, weighed: WeighedSignal) -> "SignalAnswer":
        return cls.from_value(
            weighed.signal,
            weight=weighed.weight,
            contribution=weighed.contribution,
            weight_kind=weighed.kind,
            weight_decisions=weighed.decisions,
        )


class InstructionAnswer(Answer):
    """The moderators' allow or block entry that the comment matches."""

    entry_id: str
    effect: Effect = Field(description="allow makes a comment ham, block makes it spam.")
    kind: EntryKind = Field(description="Which property of the comment the entry matches.")
    label: str | None = Field(
        description="The domain or phrase; null if only a keyed hash is stored."
    )
    reason: str = Field(description="Why a moderator added the entry.")


class VerdictAnswer(Answer):
    """The verdict on a comment and all its evidence. It never changes."""

    outcome: Outcome
    p_spam: Probability = Field(description="Calibrated probability of spam.")
    score: float = Field(
        description="Log-odds: exactly base + model_contribution + every signal's contribution."
    )
    base: float = Field(description="Log-odds before any evidence.")
    model_p_spam: Probability | None = Field(
        description="The classifier's own probability; null if it was not available."
    )
    model_contribution: float = Field(description="What the classifier added, in log-odds.")
    signals: list[SignalAnswer] = Field(description="Largest contribution first.")
    promo_spans: list[SpanAnswer] = Field(
        description="Where the classifier sees promotion, if it can locate it; empty for ham."
    )
    model_version: str
    ham_cutoff: Probability = Field(description="Below this probability: ham.")
    spam_cutoff: Probability = Field(description="From this probability up: spam.")
    judged_at: Moment
    degraded: bool = Field(description="Some evidence was missing, so a person must look.")
    degraded_by: list[str] = Field(description="Which evidence was missing.")
    instruction: InstructionAnswer | None = Field(
        description="The entry that decided the outcome, unless degraded; the score ignores it."
    )
    held_by: list[Rule] = Field(
        description="The site's rules that turned ham into unsure; the score ignores them."
    )
    explanation: list[str] = Field(description="The reasons in sentences, most important first.")

    @classmethod
    def of(
        cls, verdict: Verdict, text: str = "", decision: Decision | None = None
    ) -> "VerdictAnswer":
        """Return the response for a verdict; `decision` is the one in force."""
        return cls.from_value(
            verdict,
            signals=[SignalAnswer.of(signal) for signal in verdict.signals],
            explanation=explain(verdict, text, decision),
        )


class DecisionAnswer(Answer):
    """A moderator's ruling; an undone one stays in the history."""

    id: str
    ruling: Ruling
    decided_by: str
    decided_at: Moment
    note: str | None
    undone_at: Moment | None
    undone_by: str | None


class CommentLinks(Answer):
    """The URLs to read and to decide a comment."""

    self: str = Field(examples=["/v1/comments/com_01"])
    decision: str = Field(examples=["/v1/comments/com_01/decision"])

    @classmethod
    def to(cls, comment_id: str) -> "CommentLinks":
        path = f"/v1/comments/{comment_id}"
        return cls(self=path, decision=f"{path}/decision")


class CommentAnswer(Answer):
    """A comment's current state, without its text, which the site has."""

    id: str
    site_comment_id: str | None
    state: State
    action: Action = Field(description="What the site should do with the comment now.")
    needs_review: bool = Field(description=NEEDS_REVIEW)
    audit: bool = Field(description="Part of the random sample that moderators check anyway.")
    received_at: Moment
    verdict: VerdictAnswer | None = Field(description="Null until the comment is judged.")
    decision: DecisionAnswer | None = Field(description="The decision in force.")
    decisions: list[DecisionAnswer] = Field(description="All decisions, oldest first.")
    statement_url: str | None = Field(description=STATEMENT_URL)
    links: CommentLinks

    @classmethod
    def of(cls, case: Case, statements: StatementLinks | None) -> "CommentAnswer":
        """Return the response for a case; `statements` is None if the comment is not stored."""
        return cls.from_value(
            case,
            id=case.comment.id,
            site_comment_id=case.comment.site_comment_id,
            received_at=case.comment.received_at,
            verdict=case.verdict
            and VerdictAnswer.of(case.verdict, case.comment.text, case.decision),
            statement_url=statements.url_of(case) if statements else None,
            links=CommentLinks.to(case.comment.id),
        )


class PageLinks(Answer):
    """Links to other pages of a list."""

    next: str | None = Field(description="The next page with the same filters; null on the last.")


class CommentPage(Answer):
    """One page of comments, the newest first."""

    comments: list[CommentAnswer]
    next_cursor: str | None = Field(description="Pass as `cursor` for the next page.")
    links: PageLinks


class WithdrawnAnswer(Answer):
    """How many versions of a comment were withdrawn."""

    withdrawn: int = Field(examples=[1])


class BatchResult(Answer):
    """The result for one comment of a batch."""

    index: int = Field(ge=0, description="Its place in the batch, from 0; empty lines not counted.")
    status: int = Field(description="The HTTP status that the comment alone would have got.")
    id: str | None = Field(description="Null if it was refused.")
    site_comment_id: str | None
    links: CommentLinks | None
    problem: ProblemAnswer | None = Field(description="Why it was refused; null if accepted.")


class BatchAnswer(Answer):
    """The results for the comments of a batch, in the batch's order."""

    accepted: int = Field(ge=0)
    refused: int = Field(ge=0)
    results: list[BatchResult]


class SettingsAnswer(Answer):
    """A site's settings. A null cutoff means the one that the model version promises."""

    mode: Mode
    ham_cutoff: Probability | None
    spam_cutoff: Probability | None
    holds_unsure: bool = Field(
        description="Clients that know only spam and ham get spam for an unsure comment."
    )
    reports_decide: bool = Field(description="A report counts as a decision.")
    undo_seconds: int = Field(
        ge=0, description="Seconds between a moderator's ruling and the message to the site."
    )
    rejects_campaigns: bool = Field(
        description="Unsure members of campaigns that people rejected are rejected."
    )


class SiteAnswer(Answer):
    """The site that the key belongs to."""

    id: str
    name: str
    created_at: Moment
    settings: SettingsAnswer


class RulesPreviewAnswer(Answer):
    """What rules would have held in the last 90 days, of at most the newest 5,000 comments."""

    since: Moment = Field(description="Comments received since then were checked.")
    seen: int = Field(description="Comments that were published or held by a rule.")
    held: int = Field(description="How many of them these rules would have held.")
    approved: int = Field(description="Of those held, how many people approved.")
    rejected: int = Field(description="Of those held, how many people rejected.")
    by_rule: dict[Rule, int] = Field(description="How many each rule would have held.")


class FormAnswer(Answer):
    """The script for the comment forms on the site's pages."""

    hook_id: str
    script: str = Field(
        description="The path of the script, on this host.",
        examples=["/public/hook_0197a3c5e4f66/form.js"],
    )


class KeyAnswer(Answer):
    """A site key without its secret, of which only a hash is stored."""

    id: str
    hint: str = Field(description="The secret's first characters.", examples=["slop_Xa3f"])
    created_at: Moment
    expires_at: Moment | None
    revoked_at: Moment | None


class KeyList(Answer):
    """All keys of the site, oldest first, including expired and revoked ones."""

    keys: list[KeyAnswer]


class IssuedKeyAnswer(Answer):
    """A new key. The secret is shown only once."""

    key: KeyAnswer
    secret: str = Field(description="Send it as `Authorization: Bearer …`; it is not stored.")
