"""Examples of the detectors of names, kinds and lists that texts.toml cannot say."""

from functools import partial

from service.domain.comment import CommentKind, Listing, ListKind
from service.domain.sender import History, Record, TrackRecord
from tests.contract.detector_examples.example import Example, Examples

_TEXT = "Same here, the third valve was stuck."
_WITH_LINK = "I wrote about the same valve at https://valves.example.com last year."


def _listed(kind: ListKind, *ages_in_days: float) -> tuple[Listing, ...]:
    return tuple(Listing(list_name="spammers", kind=kind, age_days=days) for days in ages_in_days)


_MAIL, _NETWORKS = partial(_listed, ListKind.MAIL_DOMAINS), partial(_listed, ListKind.NETWORKS)
_DOMAINS = partial(_listed, ListKind.DOMAINS)

EXAMPLES = {
    "keyword_author_name": Examples(
        fires_on=(
            Example("Nice post", author_name="Best SEO Agency"),
            Example("Nice post", author_name="casino bonus king"),
            Example("Nice post", author_name="quick-loans-today.com"),
            Example("Hans liked this.", author_name="Sòng bạc trực tuyến", kind=CommentKind.LIKE),
        ),
        silent_on=(
            Example("Nice post", author_name="Rob the plumber"),
            Example("Nice post", author_name="A. J. Shop"),
            Example("Nice post", author_name="Мария"),
            Example("Nice post", author_name="Loan Nguyen"),
            Example("Nice post", author_name="Poker Alice"),
            Example("[…]", author_name="Top 10 cheap fixes – Hans", kind=CommentKind.PINGBACK),
            Example("Nice post"),
        ),
    ),
    "throwaway_mail": Examples(
        fires_on=(
            Example(_TEXT, email_domain="mailinator.com"),
            Example(_TEXT, email_domain="box7.mailinator.com"),
            Example(_TEXT, email_domain="example.org", listings=_MAIL(3.0)),
        ),
        silent_on=(
            Example(_TEXT, email_domain="example.org"),
            Example(_TEXT, email_domain="mailinator.com.example.org"),
            Example(_TEXT, email_domain="example.org", listings=_MAIL(9_999.0)),
            Example(_TEXT, listings=_DOMAINS(1.0)),
        ),
    ),
    "listed_address": Examples(
        fires_on=(
            Example(_TEXT, listings=_NETWORKS(0.2)),
            Example(_TEXT, listings=_NETWORKS(45.0)),
            Example(_TEXT, listings=_NETWORKS(1.0, 3.0)),
        ),
        silent_on=(
            Example(_TEXT),
            # A household of today does not answer for the one that had its address years ago.
            Example(_TEXT, listings=_NETWORKS(1_500.0)),
            Example(_TEXT, listings=_DOMAINS(1.0)),
        ),
    ),
    "wordless_reaction": Examples(
        fires_on=(
            Example("Hans liked this.", kind=CommentKind.LIKE, author_name="Hans"),
            Example("", kind=CommentKind.REPOST),
            Example(
                "[…] Old house diary (oldhouse.net) […]",
                kind=CommentKind.PINGBACK,
                author_url="https://oldhouse.net/34/",
            ),
        ),
        silent_on=(
            Example("Hans liked this.", author_name="Hans"),
            Example("Buy at https://valves.shop/now", kind=CommentKind.LIKE),
            Example("It worked in our old house after two days.", kind=CommentKind.MENTION),
            Example(
                "Hans liked this.",
                kind=CommentKind.LIKE,
                history=History(email=TrackRecord(everywhere=Record(rejected=1.0))),
            ),
        ),
    ),
    "listed_domain": Examples(
        fires_on=(
            Example(_WITH_LINK, listings=_DOMAINS(2.0)),
            Example("Nice", author_url="https://a.example.com", listings=_DOMAINS(400.0)),
            Example(_WITH_LINK, listings=_DOMAINS(30.0, 90.0)),
        ),
        silent_on=(
            Example(_WITH_LINK),
            Example(_WITH_LINK, listings=_DOMAINS(9_000.0)),
            Example(_WITH_LINK, listings=_NETWORKS(1.0)),
        ),
    ),
}
