"""Examples of the detectors in `service/signals/detectors/author.py`."""

from __future__ import annotations

from service.domain.comment import CommentKind, Listing, ListKind
from service.domain.sender import History, Record, TrackRecord
from tests.contract.detector_examples.example import Example, Examples

_OWN_REMARK = "Mine hissed until I opened the third valve."


def _mail_listed(age_days: float, kind: ListKind = ListKind.MAIL_DOMAINS) -> Listing:
    return Listing(list_name="throwaway", kind=kind, age_days=age_days)


_TEXT = "Same here, the third valve was stuck."


def _address_listed(age_days: float, kind: ListKind = ListKind.NETWORKS) -> Listing:
    return Listing(list_name="abuse", kind=kind, age_days=age_days)


EXAMPLES = {
    "author_link": Examples(
        fires_on=(
            Example("Great post, very informative!", author_url="https://quick-loans-today.com/"),
            Example(
                "Thanks for sharing this useful article.", author_url="http://essayhelp.online"
            ),
            Example("Such a lovely story.", author_url="http://hot-casino-bonus.bet"),
        ),
        silent_on=(
            Example("Great post, very informative!", author_url="https://ana-karlsson.example.org"),
            Example(
                "Mine hissed until I opened the third valve a quarter turn, but now it leaks.",
                author_url="https://karlsson-plumbing-service.example.com",
            ),
            Example("Thanks!", author_name="Trần Thị Loan", author_url="https://tranthiloan.net"),
            Example("Thanks for sharing this useful article."),
            Example("Nice one", author_url="https://github.com/valve-shop"),
        ),
    ),
    "commercial_author_link": Examples(
        fires_on=(
            Example(_OWN_REMARK, author_url="https://quick-loans-today.com/"),
            Example("Nice.", author_url="http://essayhelp.online"),
            Example(_OWN_REMARK, author_url="hot-casino-bonus.bet"),
        ),
        silent_on=(
            Example(_OWN_REMARK, author_url="https://ana-karlsson.example.org"),
            Example(_OWN_REMARK, author_url="https://github.com/valve-shop"),
            Example(_OWN_REMARK, author_name="Loan Nguyen", author_url="https://loannguyen.net"),
            Example("See quick-loans-today.com, which took my money"),
            Example(_OWN_REMARK),
        ),
    ),
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
            Example(_TEXT, email_domain="example.org", listings=(_mail_listed(3.0),)),
        ),
        silent_on=(
            Example(_TEXT, email_domain="example.org"),
            Example(_TEXT, email_domain="mailinator.com.example.org"),
            Example(_TEXT, email_domain="example.org", listings=(_mail_listed(9_999.0),)),
            Example(_TEXT, listings=(_mail_listed(1.0, ListKind.DOMAINS),)),
        ),
    ),
    "listed_address": Examples(
        fires_on=(
            Example(_TEXT, listings=(_address_listed(0.2),)),
            Example(_TEXT, listings=(_address_listed(45.0),)),
            Example(_TEXT, listings=(_address_listed(1.0), _address_listed(3.0))),
        ),
        silent_on=(
            Example(_TEXT),
            # A household of today does not answer for the one that had its address years ago.
            Example(_TEXT, listings=(_address_listed(1_500.0),)),
            Example(_TEXT, listings=(_address_listed(1.0, ListKind.DOMAINS),)),
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
}
