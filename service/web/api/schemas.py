"""Pydantic models of the API's requests; the OpenAPI document is generated from them."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Annotated, Any

from flask import current_app, has_app_context, request
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    StrictBool,
    StringConstraints,
    WithJsonSchema,
    field_validator,
)
from pydantic_core import PydanticCustomError, PydanticKnownError

from service.domain.case import State
from service.domain.comment import (
    MAX_NAME_CHARS,
    MAX_TEXT_BYTES,
    MAX_TITLE_CHARS,
    MAX_URL_CHARS,
    MOST_TRUST,
)
from service.domain.decision import Mode, Ruling
from service.domain.published import MAX_POST_CHARS
from service.domain.rules import MAX_RULED_POSTS, SiteRules
from service.domain.site import MAX_UNDO_SECONDS
from service.domain.verdict import Outcome
from service.moderation.figures import MAX_DAYS
from service.moderation.intake import MAX_FIELD_CHARS
from service.moderation.revise import looks_like_version
from service.web.edge.current import services
from service.web.edge.errors import Answer
from service.web.edge.fields import (
    MAX_EMAIL_CHARS,
    Moment,
    is_email,
    is_unknown,
    is_web_address,
    known_date,
    language_tag,
    read_address,
)
from service.web.edge.operation import MAX_KEY_CHARS, TEXT_TOO_LARGE

MAX_BATCH = 1_000
MAX_PAGE = 200
_MAX_POST_TEXT_CHARS = 200_000

# Allows for a clock with the wrong time zone.
MOST_AHEAD = timedelta(days=1)
# Blogs give pinned posts a future date.
_MOST_AHEAD_OF_POST = timedelta(days=365)

# A BCP 47 tag, or a locale as WordPress and POSIX write it.
_TAG = r"([A-Za-z]{2,8}|[IXix][-_][A-Za-z0-9]{1,8}|C)([-_][A-Za-z0-9]{1,8}){0,8}"
# Or no value, or a list as `Accept-Language` is one, of which the first counts. Imports match it in
# Python, so no blank may belong to two parts: that takes time.
_NO_LANGUAGE = r"\*|-|\(null\)|[Uu]ndefined|[Nn]/[Aa]"
_FIRST = rf"({_TAG}([.@][A-Za-z0-9.@_-]{{1,40}})?|{_NO_LANGUAGE})\s{{0,9}}"
_MORE = r"[,;]\s{0,9}(([A-Za-z]{2,3}([-_][A-Za-z0-9]{1,8}){0,8}|\*|q=[0-9.]{1,5})\s{0,9})?"
LOCALE = rf"^\s{{0,9}}({_FIRST})?({_MORE}){{0,99}}$"


def _within_text_limit(text: str) -> str:
    size = len(text.encode("utf-8", "replace"))
    if size > MAX_TEXT_BYTES:
        raise PydanticCustomError(TEXT_TOO_LARGE, "is over the limit", {"size": size})
    return text


def _address(given: str) -> str | None:
    try:
        return read_address(given)
    except ValueError:
        raise PydanticCustomError("address", "is not an IP address") from None


def _web_address(given: str) -> str:
    if not is_web_address(given):
        raise PydanticCustomError("web_address", "is not a web address")
    return given


def _not_ahead(most: timedelta, done: str) -> Callable[[datetime], datetime | None]:
    def check(moment: datetime) -> datetime | None:
        # Commands read files without an application.
        now = services.clock() if has_app_context() else datetime.now(UTC)
        if moment > now + most:
            raise PydanticCustomError("ahead", "is in the future", {"done": done})
        return known_date(moment)

    return check


def _no_version(site_comment_id: str) -> str:
    if looks_like_version(site_comment_id):
        raise PydanticCustomError("version", "looks like a version of another comment")
    return site_comment_id


def _email(given: str) -> str:
    if is_unknown(given):
        return ""
    if not is_email(given):
        raise PydanticCustomError("email", "is not an e-mail address")
    return given


def _within_max_wait(seconds: float) -> float:
    if seconds > (most := current_app.config["MAX_WAIT_SECONDS"]):
        raise PydanticKnownError("less_than_equal", {"le": most})
    return seconds


def _describe_max_wait(schema: dict[str, Any]) -> None:
    schema["maximum"] = current_app.config["MAX_WAIT_SECONDS"]


def _from_query(value: object) -> object:
    """Convert `true` and `false`, the only booleans of a query."""
    return {"true": True, "false": False}.get(value, value) if isinstance(value, str) else value


def _whole(value: object) -> object:
    """Convert 3.0 to 3: both are the same number in JSON."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


CommentText = Annotated[str, StringConstraints(min_length=1), AfterValidator(_within_text_limit)]
Name = Annotated[str, StringConstraints(max_length=MAX_NAME_CHARS)]
Url = Annotated[str, StringConstraints(max_length=MAX_URL_CHARS), AfterValidator(_web_address)]
Email = Annotated[str, StringConstraints(max_length=MAX_EMAIL_CHARS), AfterValidator(_email)]
SiteId = Annotated[str, StringConstraints(min_length=1, max_length=MAX_KEY_CHARS)]
# Programs write an empty one for a guest's account and for a reply to nothing.
IdOrEmpty = Annotated[str, StringConstraints(max_length=MAX_KEY_CHARS)]
OwnId = Annotated[
    SiteId, AfterValidator(_no_version), Field(json_schema_extra={"not": {"pattern": "@[0-9]+$"}})
]
Locale = Annotated[str, StringConstraints(pattern=LOCALE), AfterValidator(language_tag)]
Address = Annotated[
    str,
    StringConstraints(max_length=1_000),
    AfterValidator(_address),
    # Ports and lists of proxies are accepted too; JSON Schema has no format for them.
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string", "format": "ipv4"},
                {"type": "string", "format": "ipv6"},
                {"enum": ["", "unknown"]},
            ]
        }
    ),
]
Flag = Annotated[
    bool,
    BeforeValidator(_from_query),
    Field(strict=True),
    WithJsonSchema({"type": "boolean"}),
    PlainSerializer(lambda flag: str(flag).lower(), return_type=str),
]
Wait = Annotated[
    float,
    Field(ge=0, allow_inf_nan=False, json_schema_extra=_describe_max_wait),
    AfterValidator(_within_max_wait),
]
Cutoff = Annotated[float, Field(ge=0, le=1, strict=True)]
_optional = partial(Field, default=None)
_optional_number = partial(_optional, strict=True)


class Request(BaseModel):
    """The base of all requests; unknown fields are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class PostRequest(Request):
    """The post that was commented on. Its subject shows whether a comment belongs there."""

    url: Url | None = _optional(examples=["https://blog.example/radiators"])
    title: str | None = _optional(
        max_length=MAX_TITLE_CHARS,
        examples=["Bleeding a radiator without flooding the hall"],
    )
    excerpt: str | None = _optional(
        max_length=_MAX_POST_TEXT_CHARS,
        description="A summary or the opening; the first 4,000 characters are kept.",
        examples=["Turn the pump off first, then open the valve a quarter turn."],
    )
    text: str | None = _optional(
        max_length=_MAX_POST_TEXT_CHARS,
        description="The full text, used if there is no excerpt; the same limit applies.",
    )
    published_at: (
        Annotated[Moment, AfterValidator(_not_ahead(_MOST_AHEAD_OF_POST, "published"))] | None
    ) = _optional(description="When it was published; a site's rules can use its age.")


class AuthorRequest(Request):
    """The stated author. Of the e-mail address, a keyed hash and the domain are stored."""

    name: Name | None = _optional(examples=["Mara"])
    email: Email | None = _optional(examples=["mara@example.org"])
    url: Url | None = _optional(examples=["https://mara.example"])
    account_id: IdOrEmpty | None = _optional(examples=["u-1731"])
    # A century.
    account_age_days: int | None = _optional_number(ge=0, le=36_525, examples=[412])
    trust_level: int | None = _optional_number(
        ge=0,
        le=MOST_TRUST,
        description="The account's trust level, 0 to 4 as in Discourse.",
        examples=[1],
    )
    _whole = field_validator("account_age_days", "trust_level", mode="before")(_whole)


class FormRequest(Request):
    """What the site's form recorded about the visitor; leave out what is unknown."""

    # Browsers restore tabs after months; more than a century is a wrong clock.
    seconds_on_page: float | None = _optional_number(
        ge=0,
        le=3_600_000_000,
        allow_inf_nan=False,
        description="Seconds between loading the page and sending the form, by the same clock.",
        examples=[41.5],
    )
    honeypot_filled: StrictBool | None = _optional(
        description="Whether a field that people cannot see was filled in.",
        examples=[False],
    )
    token: str | None = _optional(
        max_length=MAX_FIELD_CHARS,
        description="The hidden field `slopsieve_form` as received, or empty if it was missing. "
        "Send it only if the page has the script `/public/…/form.js`.",
        examples=[""],
    )


class CommentRequest(Request):
    """One comment with its post and its author.

    Text may be in any script. NUL characters and lone surrogates cannot be stored. Each is
    replaced by U+FFFD, so that offsets do not change. A null is the same as an absent field.
    """

    text: CommentText = Field(
        description=f"The comment, up to {MAX_TEXT_BYTES} bytes of UTF-8.",
        # JSON Schema counts characters; each has at least one byte.
        json_schema_extra={"maxLength": MAX_TEXT_BYTES},
        examples=["I had the same trouble, the drain valve was stuck."],
    )
    post: PostRequest | None = None
    author: AuthorRequest | None = None
    site_comment_id: OwnId | None = _optional(
        description="The site's own id of this comment, which identifies repeats. It must not end "
        "in @ and a number, which marks edited versions here.",
        examples=["wp-88121"],
    )
    address: Address | None = _optional(
        description="The IP address it was sent from; only keyed hashes of it are stored. A port "
        "is ignored. Of a proxy's list, the first address is used. Empty, `unknown`, `undefined` "
        "and `localhost` are no address.",
        examples=["203.0.113.9"],
    )
    user_agent: Annotated[str, AfterValidator(lambda given: given[:1_000])] | None = _optional(
        description="The first 1,000 characters are kept.",
        examples=["Mozilla/5.0"],
    )
    written_at: Annotated[Moment, AfterValidator(_not_ahead(MOST_AHEAD, "written"))] | None = (
        _optional(description="When it was written (RFC 3339).", examples=["2026-03-01T11:59:30Z"])
    )
    language: Locale | None = _optional(
        description="A BCP 47 tag such as `en` or `pt-BR`, or a locale such as `en_US`. Of a list, "
        "such as a browser's `Accept-Language`, the first counts.",
        examples=["en"],
    )
    reply_to: IdOrEmpty | None = _optional(
        description="The site's own id of the comment it replies to."
    )
    comment_type: str | None = _optional(
        max_length=50,
        description="The type if it is not a typed comment, as in WordPress's plugins: `like`, "
        "`repost`, `bookmark`, `reaction`, `rsvp`, `mention`, `webmention`, `pingback`, "
        "`trackback`. One without a person's words is judged by its source. Other types are "
        "comments.",
        examples=["comment"],
    )
    form: FormRequest | None = None
    keep: StrictBool | None = Field(
        default=True,
        description="False for a text that no page shows and no moderator decides here, such as a "
        "contact form's message or a registration (send a blank as `text`). It is withdrawn with "
        "its verdict, so `wait` for that. A batch, an import and a webhook refuse it.",
        examples=[True],
    )

    @field_validator("keep")
    @classmethod
    def _is_awaited(cls, keep: bool | None) -> bool | None:  # noqa: FBT001  # pydantic's
        if keep is False and not (cls is CommentRequest and request.args.get("wait", 0.0, float)):
            raise PydanticCustomError("unawaited", "is false where nobody waits")
        return keep


class KeptRequest(CommentRequest):
    """A comment for whose verdict nobody waits, so that it must be kept."""


_ANY_COMMENT = WithJsonSchema(
    {
        "anyOf": [{"$ref": "#/components/schemas/CommentRequest"}, {}],
        "description": "A comment. An invalid one is refused on its own; the others are stored.",
    }
)


class BatchRequest(Request):
    """Comments that are each accepted or refused on their own."""

    comments: list[Annotated[object, _ANY_COMMENT]] = Field(max_length=MAX_BATCH)


class WaitQuery(Request):
    """How long to wait for the verdict."""

    wait: Wait | None = _optional(
        description="Wait up to this many seconds for the verdict. It is null if that is not "
        "enough, and at once if the queue is longer. `Retry-After` then says when to read the "
        "comment.",
    )


class ListQuery(Request):
    """Which comments to list."""

    state: State | None = None
    outcome: Outcome | None = None
    needs_review: Flag | None = _optional(description="Whether the comment is in the review queue.")
    degraded: Flag | None = _optional(description="Whether the verdict lacked some evidence.")
    received_from: Moment | None = _optional(description="Received then or later.")
    received_before: Moment | None = _optional(description="Received before then.")
    cursor: str | None = _optional(
        max_length=1_000, description="`next_cursor` of the previous page."
    )
    limit: int = Field(default=50, ge=1, le=MAX_PAGE)


class FiguresQuery(Request):
    """How many days to include."""

    days: int = Field(
        default=30, ge=1, le=MAX_DAYS, description="How many UTC days, including today."
    )


class SiteIdQuery(Request):
    """Which comment to withdraw."""

    site_comment_id: SiteId = Field(description="The site's own id of the comment.")


class DecisionRequest(Request):
    """A ruling by one of the site's own moderators."""

    ruling: Ruling
    note: str | None = _optional(max_length=2_000, examples=["Known customer."])
    decided_by: str | None = _optional(
        min_length=1,
        max_length=100,
        description="Who decided, by the site's own name; recorded as `site: …`.",
        examples=["jo"],
    )


class UndoQuery(Request):
    """Which decision to undo."""

    decision: str | None = _optional(
        min_length=1,
        max_length=100,
        description="The id of the decision to undo. If another one is in force, nothing is "
        "undone (409); if it is already undone, nothing changes. Without it, the decision in "
        "force is undone.",
    )


class SettingsRequest(Request):
    """The settings to change. A null cutoff means the one that the model version promises."""

    mode: Mode | None = _optional(
        description="`observe` publishes everything, `hold` holds what is not ham, `enforce` "
        "rejects spam.",
    )
    ham_cutoff: Cutoff | None = None
    spam_cutoff: Cutoff | None = None
    languages: list[str] | None = _optional(
        deprecated=True, exclude=True, description="Ignored; nothing used it."
    )
    holds_unsure: StrictBool | None = _optional(
        description="The response for an unsure comment to clients that know only spam and ham: "
        "true holds it as spam, false passes it as ham.",
    )
    reports_decide: StrictBool | None = _optional(
        description="Whether a report counts as a decision (true) or queues the comment for a "
        "moderator (false).",
    )
    undo_seconds: int | None = _optional_number(
        ge=0,
        le=MAX_UNDO_SECONDS,
        description="Seconds between a moderator's ruling and the message to the site. A ruling "
        "that is undone before then is not sent; 0 sends it at once. The site's own decisions are "
        "sent at once.",
    )
    rejects_campaigns: StrictBool | None = _optional(
        description="Whether to reject an unsure comment automatically if people rejected at "
        "least 5 members of its campaign and approved none.",
    )
    _whole = field_validator("undo_seconds", mode="before")(_whole)


_RulePosts = Annotated[
    tuple[Annotated[Url, StringConstraints(min_length=1, max_length=MAX_POST_CHARS)], ...],
    Field(max_length=MAX_RULED_POSTS),
]


class Rules(Answer):
    """Rules that hold comments which would be published. A rule that is left out is off."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    hold_first_comment: StrictBool = Field(
        default=False, description="Hold comments of people without an approved comment here."
    )
    link_min_approved: int | None = _optional_number(
        ge=1, le=100, description="Hold links of people with fewer approved comments here."
    )
    link_min_days: int | None = _optional_number(
        ge=1,
        le=365,
        description="Hold links of people whose first approved comment here is younger, in days.",
    )
    max_links: int | None = _optional_number(
        ge=0, le=100, description="Hold texts with more links than this."
    )
    max_post_days: int | None = _optional_number(
        ge=1,
        le=10_000,
        description="Hold comments on posts older than this, in days. The age of a post without a "
        "date is that of its first comment here.",
    )
    premoderated_posts: _RulePosts = Field(
        default=(), description="URLs of posts whose comments are all held."
    )
    closed_posts: _RulePosts = Field(
        default=(), description="URLs of closed posts, whose comments are held."
    )
    _whole = field_validator("*", mode="before")(_whole)

    def as_value(self) -> SiteRules:
        return SiteRules(**dict(self))


class KeyRequest(Request):
    """How to issue a key."""

    rotate: StrictBool = Field(
        default=False, description="End the site's other keys after the overlap."
    )
    overlap_seconds: int = Field(
        default=7 * 24 * 3600,
        ge=0,
        le=90 * 24 * 3600,
        strict=True,
        description="How long the other keys stay valid when rotating.",
    )
    _whole = field_validator("overlap_seconds", mode="before")(_whole)
