"""The API's answers as pydantic models: they write the responses and describe them alike."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from service.domain.case import Case, State
from service.domain.comment import MAX_TEXT_BYTES
from service.domain.decision import Action, Decision, Mode, Ruling
from service.domain.list_entry import Effect, EntryKind
from service.domain.published import StatementLinks
from service.domain.verdict import Outcome, Rule, Verdict, WeighedSignal, WeightKind
from service.scoring.explanation import explain
from service.web.edge.errors import Answer, ProblemAnswer
from service.web.edge.fields import Moment

NEEDS_REVIEW = (
    "It is in the review queue, also a decided one that its author appealed for. "
    "Spam that is held is not: moderators find it on a list of its own, "
    "and it is deleted after some weeks unless one of them decides."
)

STATEMENT_URL = (
    "Where the comment's author reads why it is held or rejected, and may appeal once; show it to "
    "nobody else. Null where nothing is held, and for spam unless the site explains it. A path on "
    "this host where SLOPSIEVE_PAGES_URL is not set."
)

Probability = Annotated[float, Field(ge=0, le=1)]


class SpanAnswer(Answer):
    """A half-open segment of the comment's text, in Unicode code points (not UTF-16 units)."""

    start: int = Field(ge=0, le=MAX_TEXT_BYTES)
    end: int = Field(ge=1, le=MAX_TEXT_BYTES)


class SignalAnswer(Answer):
    """One piece of evidence and what it added to the score."""

    name: str = Field(examples=["front_page_link"])
    reason: str = Field(description="What was seen, as a clause.", examples=["contains a link"])
    strength: float = Field(gt=0, le=1)
    weight: float = Field(description="Log-odds at full strength; 0: recorded, not weighed.")
    contribution: float = Field(description="weight x strength, in log-odds.")
    weight_kind: WeightKind | None = Field(
        description="fitted on labelled comments, set by judgement within a bound, or learnt from "
        "decisions here; null where it weighs nothing, and in old verdicts."
    )
    weight_decisions: int = Field(
        ge=0, description="The decisions that a learnt weight of a signal rests on."
    )
    spans: list[SpanAnswer] = Field(description="Where in the comment's text it was seen.")
    boundaries: list[Annotated[int, Field(ge=1, le=MAX_TEXT_BYTES)]] = Field(
        description="Where a remark turns into an advertisement or back, in code points."
    )

    @classmethod
    def of(cls, weighed: WeighedSignal) -> SignalAnswer:
        """Return the answer for a weighed signal."""
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
    kind: EntryKind = Field(description="What the comment was recognised by.")
    label: str | None = Field(
        description="The domain or phrase; null where only a keyed hash is kept."
    )
    reason: str = Field(description="Why a moderator added the entry.")


class VerdictAnswer(Answer):
    """What the machine concluded, once and for good, with all the evidence it rests on."""

    outcome: Outcome
    p_spam: Probability = Field(description="Calibrated probability of spam.")
    score: float = Field(
        description="Log-odds: exactly base + model_contribution + every signal's contribution."
    )
    base: float = Field(description="Log-odds before any evidence.")
    model_p_spam: Probability | None = Field(
        description="The classifier's own probability; null if it could not answer."
    )
    model_contribution: float = Field(description="What the classifier added, in log-odds.")
    signals: list[SignalAnswer] = Field(description="The weightiest first.")
    promo_spans: list[SpanAnswer] = Field(
        description="Where the classifier sees promotion, if it can tell; nowhere in ham."
    )
    model_version: str
    ham_cutoff: Probability = Field(description="Below this probability: ham.")
    spam_cutoff: Probability = Field(description="From this probability up: spam.")
    judged_at: Moment
    degraded: bool = Field(description="Some evidence was missing, so a person must look.")
    degraded_by: list[str] = Field(description="Which evidence was missing.")
    instruction: InstructionAnswer | None = Field(
        description="The entry that decided the outcome, unless degraded; the score never follows."
    )
    held_by: list[Rule] = Field(
        description="The site's rules that made unsure what was ham; the score never follows."
    )
    explanation: list[str] = Field(description="Why, in sentences, the weightiest first.")

    @classmethod
    def of(
        cls, verdict: Verdict, text: str = "", decision: Decision | None = None
    ) -> VerdictAnswer:
        """Return the answer for a verdict on a comment of this text; `decision` is in force."""
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
    """Where a comment can be read and decided."""

    self: str = Field(examples=["/v1/comments/com_01"])
    decision: str = Field(examples=["/v1/comments/com_01/decision"])

    @classmethod
    def to(cls, comment_id: str) -> CommentLinks:
        """Return the links of a comment."""
        path = f"/v1/comments/{comment_id}"
        return cls(self=path, decision=f"{path}/decision")


class CommentAnswer(Answer):
    """A comment as far as it has come. Its text is not repeated: the site has it."""

    id: str
    site_comment_id: str | None
    state: State
    action: Action = Field(description="What the site should do with the comment now.")
    needs_review: bool = Field(description=NEEDS_REVIEW)
    audit: bool = Field(description="Part of the random sample that moderators check all the same.")
    received_at: Moment
    verdict: VerdictAnswer | None = Field(description="Null until the comment is judged.")
    decision: DecisionAnswer | None = Field(description="The decision in force.")
    decisions: list[DecisionAnswer] = Field(description="All decisions, oldest first.")
    statement_url: str | None = Field(description=STATEMENT_URL)
    links: CommentLinks

    @classmethod
    def of(cls, case: Case, statements: StatementLinks | None) -> CommentAnswer:
        """Return the answer for a case; `statements` is None for one that is not kept."""
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
    """Where the list goes on."""

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
    """What became of one comment of a batch."""

    index: int = Field(ge=0, description="Its place in the batch, from 0; empty lines not counted.")
    status: int = Field(description="What the comment alone would have been answered.")
    id: str | None = Field(description="Null if it was refused.")
    site_comment_id: str | None
    links: CommentLinks | None
    problem: ProblemAnswer | None = Field(description="Why it was refused; null if accepted.")


class BatchAnswer(Answer):
    """What became of each comment of a batch, in its order."""

    accepted: int = Field(ge=0)
    refused: int = Field(ge=0)
    results: list[BatchResult]


class SettingsAnswer(Answer):
    """A site's settings. A cutoff that is null follows the model version's promised one."""

    mode: Mode
    ham_cutoff: Probability | None
    spam_cutoff: Probability | None
    languages: list[str]
    holds_unsure: bool = Field(description="Two-word clients are told spam of an unsure comment.")
    reports_decide: bool = Field(description="A report counts as a decision.")
    undo_seconds: int = Field(
        ge=0, description="The site is told of a moderator's ruling this many seconds later."
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
    """What rules would have held of the last 90 days, at most of the newest 5,000 comments."""

    since: Moment = Field(description="The comments that came since then were looked at.")
    seen: int = Field(description="Comments that were published or held by a rule.")
    held: int = Field(description="Those that these rules would have held.")
    approved: int = Field(description="Of those held, how many people approved.")
    rejected: int = Field(description="Of those held, how many people rejected.")
    by_rule: dict[Rule, int] = Field(description="How many each rule would have held.")


class FormAnswer(Answer):
    """Where the site's pages load the script of their comment forms."""

    hook_id: str
    script: str = Field(
        description="The path of the script, on this host.",
        examples=["/public/hook_0197a3c5e4f66/form.js"],
    )


class KeyAnswer(Answer):
    """A site key without its secret, of which only a hash is kept."""

    id: str
    hint: str = Field(description="The secret's first characters.", examples=["slop_Xa3f"])
    created_at: Moment
    expires_at: Moment | None
    revoked_at: Moment | None


class KeyList(Answer):
    """All keys of the site, oldest first, the ended ones too."""

    keys: list[KeyAnswer]


class IssuedKeyAnswer(Answer):
    """A new key. The secret is shown this once."""

    key: KeyAnswer
    secret: str = Field(description="Send it as `Authorization: Bearer …`; it is not kept.")
