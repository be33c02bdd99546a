"""https://github.com/pfefferle/wordpress-webmention/issues/442: likes and mentions called spam.

With the replies of https://github.com/Automattic/wordpress-activitypub/pull/169, and pingbacks.
"""

from dataclasses import replace

import pytest

from models.inputs import ModelOutput
from service.domain.comment import Author, CommentKind, Post
from service.domain.decision import Ruling
from service.domain.sender import History, Record, TrackRecord
from service.moderation.decisions import decide_comment
from service.moderation.judging import judge_comments
from service.moderation.sites import issue_key
from service.ports.models import JudgingModel
from service.scoring.classifier import model_input
from service.scoring.weights import Cutoffs
from service.signals.judged_text import judged_text
from service.signals.view import view_of_text
from service.stores.files.model_versions import ModelVersions
from tests.factories import NOW, SITE, make_comment
from tests.fakes import FixedClassifier
from tests.functional.webhooks.conftest import only_case

POST = Post(
    url="https://blog.example/radiators", title="Bleeding a radiator without flooding the hall"
)
HANS = Author(name="Hans", url="https://mastodon.social/@hansm")
MODEL = replace(ModelVersions(None).current(), classifier=FixedClassifier(p_spam=0.99))


def at(base: float, ham_cutoff: float, spam_cutoff: float) -> JudgingModel:
    cutoffs = Cutoffs(ham_cutoff=ham_cutoff, spam_cutoff=spam_cutoff)
    return replace(MODEL, weights=replace(MODEL.weights, base=base), cutoffs=cutoffs)


# An earlier version, and two whose bases and cutoffs lie far out.
VERSIONS = [MODEL, at(-0.372, 0.174, 0.943), at(4.0, 0.03, 0.999), at(-3.0, 0.6, 0.9)]


def judge(kind: str, text: str, author: Author = HANS, history: History | None = None, model=MODEL):
    comment = make_comment(text, kind=CommentKind.read(kind), author=author, post=POST)
    (verdict,) = judge_comments([comment], model, histories=[history or History()], now=NOW)
    return verdict


@pytest.mark.parametrize("model", VERSIONS)
@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("like", "Hans liked this Article on mastodon.social."),
        (
            "like",
            'Hans liked this Article on <a href="https://chaos.social/@h/1">chaos.social</a>.',
        ),
        ("like", "&hellip; liked this!"),
        ("favorite", "…にいいねしました"),
        ("boost", ""),
        ("repost-of", "Hans reposted this."),
        ("Favourites", "Hans favourited this."),
        ("rsvp-yes", "Hans is attending."),
        ("listen", "Hans listened to this."),
        ("emoji-react", "❤️"),
        ("mention", "Hans mentioned this Article on mastodon.social."),
        ("pingback", "[…] Bleeding a radiator without flooding the hall (blog.example) […]"),
        ("webmention", "[&#8230;] Fixing our heating at last (mastodon.social) [&#8230;]"),
    ],
)
def test_what_nobody_wrote_is_judged_by_its_source(kind, text, model):
    verdict = judge(kind, text, model=model)

    assert verdict.outcome == "ham"
    assert "an unknown one is let through" in verdict.signals[0].signal.reason
    assert verdict.score == verdict.base + sum(one.contribution for one in verdict.signals)


@pytest.mark.parametrize(
    "title",
    [
        "How a mortgage loan works",
        "Bitcoin, crypto and your taxes",
        "Casinos of Monaco: a history",
    ],
)
@pytest.mark.parametrize(
    ("kind", "text"), [("like", "Hans liked {}."), ("pingback", "[…] {} (blog.example) […]")]
)
def test_what_the_post_is_about_sells_nothing(kind, text, title):
    comment = make_comment(
        text.format(title), kind=CommentKind.read(kind), author=HANS, post=Post(title=title)
    )

    assert judged_text(comment).text == ""


@pytest.mark.parametrize("name", ["Loan Nguyen", "Trần Thị Loan", "Poker Alice", "Keto", "花子"])
def test_a_name_that_is_a_trade_too_is_a_name(name):
    assert judge("like", f"{name} liked this.", Author(name=name, url=HANS.url)).outcome == "ham"


@pytest.mark.parametrize(
    "host", ["techhub.social", "mastodon.online", "mathstodon.xyz", "hostux.social"]
)
def test_a_server_that_is_named_like_a_shop_is_no_shop(host):
    author = Author(name="Hans", url=f"https://{host}/@hansm")

    assert judge("like", f"Hans liked this Article on {host}.", author).outcome == "ham"


@pytest.mark.parametrize("model", VERSIONS)
@pytest.mark.parametrize(
    ("key", "rejections", "outcome"),
    [("name", 9.0, "unsure"), ("domains", 9.0, "unsure"), ("domains", 1.0, "ham")],
)
def test_the_record_of_its_source_speaks_against_a_like(key, rejections, outcome, model):
    record = Record(rejected=rejections)
    history = History(**{key: TrackRecord(here=record, everywhere=record)})

    assert judge("like", "Hans liked this.", HANS, history, model).outcome == outcome


def test_with_equal_cutoffs_the_record_alone_decides():
    record = TrackRecord(here=Record(rejected=9.0), everywhere=Record(rejected=9.0))
    model = at(0.967, 0.5, 0.5)

    assert judge("like", "Hans liked this.", HANS, None, model).outcome == "ham"
    history = History(name=record, domains=record)
    assert judge("like", "Hans liked this.", HANS, history, model).outcome == "spam"


@pytest.mark.parametrize(
    ("kind", "text", "author"),
    [
        ("like", "Buy cheap viagra at https://pharm-cheap.com, no prescription", HANS),
        ("like", "v1agra ch3ap c1al1s", HANS),
        ("repost", "Write to me on WhatsApp +49 151 0000000", HANS),
        ("like", "Casino bonus liked this.", Author(name="Casino bonus", url="https://x.example")),
        ("like", "รับทำเว็บ ฝากถอนไว โบนัสทุกวัน สมัครเลยวันนี้", HANS),
        ("pingback", "[…] Cheap viagra online (pharm-cheap.com) […]", HANS),
        ("trackback", "buy cheap viagra online no prescription", HANS),
        ("mention", "We tried this in our old house and it took a whole weekend to finish.", HANS),
        ("comment", "Hans liked this Article on mastodon.social.", HANS),
        ("note", "Please check the second paragraph.", HANS),
    ],
)
def test_what_sells_leads_away_or_was_written_is_judged_by_its_words(kind, text, author):
    assert judge(kind, text, author).outcome == "spam"


def test_a_shop_that_likes_waits_for_a_person():
    shop = Author(name="Anna", url="https://rank-first.shop")

    assert judge("like", "Anna liked this Article.", shop).outcome == "unsure"


def test_many_likes_are_no_copies_of_each_other(submit, services, classifier):
    classifier.answer = ModelOutput(p_spam=0.99)
    text = "Somebody from far away liked this wonderful Article yesterday on mastodon.social."

    first, *_, last = (
        submit(
            text=text,
            comment_type="like",
            author={"name": f"Hans {n}", "url": f"https://mastodon.social/@hans{n}"},
        )
        for n in range(6)
    )
    decide_comment(first.comment.id, Ruling.REJECT, services, decided_by="ada")

    assert "copy_burst" not in {one.signal.name for one in last.verdict.signals}
    assert last.comment.kind is CommentKind.LIKE


def test_akismet_says_what_kind_it_is(app, services):
    key = issue_key(SITE, services, actor="test", is_akismet=True).secret
    form = {"api_key": key, "blog": "https://blog.example/", "user_ip": "", "comment_type": "like"}

    app.test_client().post("/1.1/comment-check", data=form | {"comment_author": "Hans"})

    case = only_case(services)
    assert case.comment.kind is CommentKind.LIKE
    assert case.verdict.signals[0].signal.name == "wordless_reaction"


MENTION = (
    '<p><span class="h-card"><a href="https://blog.example/@mara" class="u-url mention">'
    "@<span>mara</span></a></span> Danke!</p>"
)


@pytest.mark.parametrize(
    "text",
    [
        MENTION,
        '<a class="u-url mention" href="https://pl.example/users/mara" rel="ugc">@mara</a> Danke!',
        '<a href="https://lemmy.example/u/mara" rel="nofollow">@mara@lemmy.example</a> Danke!',
        '<a href="https://techhub.social/@mara" class="mention">@<span>mara</span></a> Danke!',
        (
            'Danke! <a href="https://mastodon.social/tags/heating" class="mention hashtag">#'
            "<span>heating</span></a>"
        ),
        (
            'Danke! <a href="https://pixelfed.social/discover/tags/heating?src=hash"'
            ' class="u-url hashtag">#heating</a>'
        ),
        "@mara@blog.example @kai@chaos.social Danke!",
        "Danke an @mara@blog.example",
        "Danke an !heating@blog.example",
        '<a href="https://blog.example/c/pumps">!pumps@blog.example</a> Danke!',
        '<a href="https://www.blog.example/@mara">@mara@blog.example</a> Danke!',
        '<a href="https://blog.example/u/mara" class="user-mention">@mara</a> Danke!',
        '<a href="https://pixelfed.social/mara" class="u-url mention">@mara</a> Danke!',
        '<a href="https://pixelfed.social/i/web/profile/12" class="mention">@mara</a> Danke!',
        '<a href="https://blog.example/ap/users/17/" class="mention">@<span>mara</span></a> Danke!',
        '<a href="https://blog.example/ap/did:plc:ab" class="mention">@mara.b.example</a> Danke!',
        '<a href="https://ap.blog.example/" class="mention">@<span>index</span></a> Danke!',
        '<a href="https://blog.example/?author=1" class="mention">@<span>mara</span></a> Danke!',
        (
            '@<span class="vcard"><a href="https://blog.example/profile/mara" class="url mention">'
            '<span class="fn">mara</span></a></span> Danke!'
        ),
        '@<a class="u-url" href="https://blog.example/channel/mara">Mara M.</a> Danke!',
        '<a href="https://blog.example/uid/12" class="mention">@mara</a> Danke!',
        '<a href="https://blog.example/contact/12" class="mention">@mara</a> Danke!',
        '<a href="https://bsky.app/profile/mara.blog.example">@mara.blog.example</a> Danke!',
        '<a href="https://bsky.app/profile/did:plc:ab" class="mention">@blog.example</a> Danke!',
    ],
)
def test_an_addressee_is_no_link_and_no_e_mail_address(text):
    view = view_of_text(text)

    assert not view.open_links
    assert not view.contacts
    read = model_input(make_comment(text)).text
    assert len(read) == len(text)
    assert "blog.example" not in read
    assert "Danke" in read
    assert "social" not in read
    assert ("heating" in read) == ("heating" in text)


@pytest.mark.parametrize("page", ["?author=1", "actor/mara", ""])
def test_whoever_is_linked_at_the_posts_own_site_is_an_addressee(page):
    text = f'<a href="https://blog.example/{page}" class="u-url mention">@mara</a> Danke!'

    assert model_input(make_comment(text, post=POST)).text.strip() == "Danke!"


@pytest.mark.parametrize(
    "text",
    [
        '<a class="mention" href="https://cheap-loans.shop/@loans">@loans</a>',
        '<a class="mention" href="https://loans.example.com/@other">@loans</a>',
        '<a class="hashtag" href="https://cheap-loans.shop/tags/loans">#loans</a>',
        '<a class="mention" href="https://loans.example.com/@loans">cheap loans</a>',
        '<a href="https://loans.example.com/@loans">@loans</a>',
        '@<a href="https://loans.example.com/@other">loans</a>',
        '@<a href="https://loans.example.com/@loans">Loans, cheap and fast</a>',
        '<a class="mention" href="https://loans.example.com/other">@loans</a>',
        '<a class="mention" href="https://loans.example.com/">@loans</a>',
        '<a class="mention" href="https://loans.example.com/ap/users/1">@cheap loans</a>',
        '<a class="mention" href="https://cheap-loans.shop/ap/users/1">@loans</a>',
        '<a href="https://bsky.app/profile/loans.example.com">cheap loans</a>',
    ],
)
def test_a_class_alone_makes_no_mention(text):
    assert len(view_of_text(text).open_links) == 1


@pytest.mark.parametrize("text", ["write to @rita@gmail.com", "mara@blog.example", "(a@b.example)"])
def test_a_mail_address_is_one_with_a_sign_before_it_too(text):
    assert [contact.kind.name for contact in view_of_text(text).contacts] == ["EMAIL"]


def test_hostile_markup_takes_no_time():
    for text in (
        "<a mention " * 6_000,
        "@<span>" * 9_000,
        "!a@b." * 12_000,
        "@a@b." * 12_000,
        '<a class="mention">@' * 3_000,
    ):
        comment = make_comment(text, kind=CommentKind.LIKE)
        assert len(model_input(comment).text) == len(text)
        assert judged_text(comment) == comment
