"""What a comment is grouped by: one spelling for each target, names however domains rotate."""

import pytest

from service.campaigns.traits import MAX_TARGETS, Traits, traits_of
from service.domain.comment import Author, Post, Sender
from service.domain.sender import History, Record, TrackRecord
from tests.factories import make_comment


def read(text: str, history: History | None = None, *, blog=None, **changes) -> Traits:
    comment = make_comment(text, **changes)
    return traits_of(comment, embedding=None, space="a", history=history, blog=blog)


def targets(text: str, *given, **changes) -> frozenset[str]:
    return read(text, *given, **changes).targets


def addresses(text: str, *given, **changes) -> set[str]:
    return {t for t in targets(text, *given, **changes) if not t.startswith("name:")}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("see https://www.shop.valve-deal.co.uk/a?b=c", {"site:valve-deal.co.uk"}),
        ("see valve-deal.com for more", {"site:valve-deal.com"}),
        # Anybody gets a page there, so the page is the target.
        ("read https://cheap-pills.blogspot.com/2020/x", {"site:cheap-pills.blogspot.com"}),
        ("read https://medium.com/@pillman/buy-now", {"site:medium.com/@pillman/buy-now"}),
        ("watch https://youtube.com/watch?v=abc123XYZ", {"site:youtube.com/watch/abc123XYZ"}),
        ("join https://t.me/loan_desk", {"handle:loan_desk"}),
        ("write me on telegram @Loan_Desk", {"handle:loan_desk"}),
        ("mail Loan.Desk+x@mailbox.org", {"mail:loan.desk@mailbox.org"}),
        ("call +1 (202) 555-0126 now", {"phone:025550126"}),
    ],
)
def test_a_target_has_one_spelling_however_it_is_written(text, expected):
    assert addresses(text) >= expected
    assert len(addresses(text)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "as https://en.wikipedia.org/wiki/Valve says",
        "I run `curl https://valve-deal.com` every day",
        "see https://youtube.com for more",
        "no address at all",
    ],
)
def test_what_readers_cite_is_no_target(text):
    assert addresses(text) == set()


def test_the_site_itself_is_no_target():
    post = Post(url="https://blog.example.com/valves")

    assert addresses("as https://example.com/other says", post=post) == set()


def test_the_sites_front_page_is_no_target_whatever_the_post_says():
    author = Author(url="haunt.org")

    found = targets("as https://haunt.example.com/a says", author=author, blog="https://haunt.org")

    assert found & {"site:haunt.org", "name:haunt"} == set()


@pytest.mark.parametrize("host", ["www.blogspot.com", "www.blogger.com", "github.io"])
def test_platforms_and_free_hosts_are_no_targets(host):
    assert targets(f"see https://{host}") == frozenset()


@pytest.mark.parametrize("host", ["pills.wordpress.com", "pills.free.fr", "pills.weebly.com"])
def test_strangers_sites_at_free_hosts_are_targets_each_by_itself(host):
    assert addresses(f"see https://{host}/x") == {f"site:{host}"}


def test_what_the_post_speaks_of_is_no_target_and_no_name():
    post = Post(title="Cold brew", excerpt="We tried Brewmaster, see brewmaster.io for details.")

    assert targets("I got a Brewmaster from https://brewmaster.io", post=post) == frozenset()


APPROVED = TrackRecord(here=Record(approved=2.0))


@pytest.mark.parametrize(
    ("record", "is_target"),
    [
        (APPROVED, False),
        (TrackRecord(everywhere=Record(approved=2.0)), True),
        (TrackRecord(here=Record(approved=1.0, rejected=1.0)), True),
    ],
)
def test_where_comments_that_were_approved_here_lead_is_no_target(record, is_target):
    found = targets("see https://regular.org", History(domains=record))

    assert ("site:regular.org" in found) is is_target


def test_the_site_of_a_writer_who_was_approved_here_is_no_target_but_what_else_they_link_is():
    of_regular = {
        "author": Author(url="https://regular.org"),
        "sender": Sender(email_key="known"),
    }

    found = addresses("see https://shop.org", History(email=APPROVED), **of_regular)

    assert found == {"site:shop.org"}


def test_an_approved_name_says_nothing_where_better_keys_are_known():
    unseen = {"author": Author(url="https://shop.org"), "sender": Sender(email_key="never seen")}

    assert "site:shop.org" in targets("nice", History(name=APPROVED), **unseen)


QUOTED = (
    "The experienced plumber replaced several corroded valves before winter, because frozen "
    "radiators repeatedly destroyed expensive wooden floors throughout neighbouring apartments."
)


@pytest.mark.parametrize(
    ("text", "excerpt"),
    [(f"> {QUOTED}\nI agree.", None), (f"{QUOTED.upper()} I agree.", f"Yesterday. {QUOTED}")],
)
def test_readers_who_quote_the_post_are_no_copies_of_one_another(text, excerpt):
    assert read(text, post=Post(excerpt=excerpt)).copies == ()
    assert read(QUOTED).copies != ()


def test_comments_with_rotating_domains_have_a_name_in_common():
    texts = (
        "it cured me, see get-nervolin.online",
        "my aunt swears by Nervolin",
        "nervolin-official.shop has it",
        "order from playnervolin.com today",
    )

    assert all("name:nervolin" in targets(text) for text in texts)


@pytest.mark.parametrize(
    "text",
    [
        "https://a.com/" * 4_000,
        "t.me/" + "x" * 60_000,
        "+1 202 555 " * 6_000,
        "-." * 30_000,
        "\ud800 telegram: @\udfff_x_1",
    ],
)
def test_hostile_texts_give_bounded_traits(text):
    assert len(targets(text)) <= MAX_TARGETS
