"""The token of a comment form, from its handing out to what a verdict makes of it."""

import base64
import copy
import json
from datetime import timedelta

import pytest
from altcha import Challenge, solve_challenge

from service.domain.delivery import Platform
from service.domain.form import FormToken
from service.stores.form_challenges import AltchaFormChallenges
from tests.factories import NOW, SITE
from tests.fakes import away
from tests.functional.moderators import set_site
from tests.functional.webhooks.conftest import add_hook, all_cases, only_case

PAGE = "https://blog.example/radiators/"
OWN = {"Origin": "https://blog.example"}
FORM = {"text": "The drain valve was stuck here too.", "name": "Mara", "post_url": PAGE}


@pytest.fixture
def hook(services):
    set_site(services, blog="https://blog.example/")
    return add_hook(services, Platform.STATIC_FORM, secret="")


@pytest.fixture
def ask(hook, stranger):
    """Return a token as the page's script gets it."""

    def get(page: str = PAGE):
        answer = stranger.get(
            f"/public/{hook}/form-token", query_string={"page": page}, headers=OWN
        )
        assert answer.status_code == 200
        return answer.get_json()

    return get


@pytest.fixture
def post(hook, stranger):
    """Send a form; `members` are those of its hidden field."""

    def send(members=None, **changes):
        token = {} if members is None else {"slopsieve_form": encode(members)}
        answer = stranger.post(f"/hooks/{hook}", data={**FORM, **token, **changes}, headers=OWN)
        assert answer.status_code == 202

    return send


def encode(members) -> str:
    return base64.b64encode(json.dumps(members).encode()).decode()


def solved(challenge, **behaviour):
    """Return the field's members as the script makes them."""
    solution = solve_challenge(Challenge.from_dict(challenge))
    return {
        "challenge": challenge,
        "solution": {"counter": solution.counter, "derivedKey": solution.derived_key},
        "behaviour": behaviour,
    }


def newest(services):
    return all_cases(services)[-1].comment.form


def names(services) -> dict[str, float]:
    verdict = all_cases(services)[-1].verdict
    return {one.signal.name: one.contribution for one in verdict.signals}


def test_a_solved_token_says_nothing_against_anybody(ask, post, services, clock):
    challenge = ask()
    clock.now = NOW + timedelta(seconds=45)

    post(solved(challenge, seconds=3.0, keys=36, pastes=0, driven=False))

    form = newest(services)
    assert form.token is FormToken.VALID
    assert (form.behaviour.keys, form.behaviour.driven) == (36, False)
    # By our clock at both ends, whatever the visitor's says.
    assert form.behaviour.seconds == 45.0
    assert "misused_form_token" not in names(services)


def test_a_token_for_another_comment_is_a_replay_and_a_repeat_is_none(ask, post, services):
    members = solved(ask())

    post(members)
    post(members)
    assert only_case(services).comment.form.token is FormToken.VALID
    post(members, text="Cheap boilers at my shop.")

    assert newest(services).token is FormToken.REPLAYED
    assert names(services)["misused_form_token"] == 1.0


@pytest.mark.parametrize(
    ("asked", "sent", "token", "weight"),
    [
        ("/index.php?utm_source=feed&p=33&cpage=2", "/?p=33", FormToken.VALID, None),
        ("/?p=33", "/?p=34", FormToken.ELSEWHERE, 0.3),
        ("/radiators/comment-page-2/", "/radiators/", FormToken.VALID, None),
        ("/k%C3%BCche/", "/küche/", FormToken.VALID, None),
        ("/a%2Fb/", "/a/b/", FormToken.ELSEWHERE, 0.3),
        ("/kettles/", "/radiators/", FormToken.ELSEWHERE, 0.3),
        # Of a page on another host browsers tell only where the site begins.
        ("/", "/?p=33", FormToken.VALID, None),
        ("/radiators/", "/", FormToken.VALID, None),
    ],
)
def test_a_token_is_bound_to_its_page(ask, post, services, asked, sent, token, weight):
    blog = "https://blog.example"

    post(solved(ask(f"{blog}{asked}")), post_url=f"{blog}{sent}")

    assert newest(services).token is token
    assert names(services).get("misused_form_token") == (weight and pytest.approx(weight))


def _changed(challenge):
    changed = copy.deepcopy(challenge)
    changed["parameters"]["data"]["at"] += 1
    return changed


def _issued(secret: bytes, site_id):
    return AltchaFormChallenges(secret).issue(site_id, page=None, at=NOW)


@pytest.mark.parametrize(
    "forge",
    [
        _changed,
        lambda _: _issued(b"the secret of another installation", SITE),
        lambda _: _issued(b"a secret for tests, long enough", "site-2"),
        lambda c: {**c, "signature": "0" * 64},
        lambda _: {},
        lambda _: "x",
        lambda _: {"parameters": {"data": [[[]]]}, "signature": "\udfff"},
    ],
)
def test_what_was_not_signed_here_for_this_site_is_forged(ask, post, services, forge):
    post({"challenge": forge(ask()), "solution": {"derivedKey": ["x"]}})

    assert newest(services).token is FormToken.FORGED
    assert names(services)["misused_form_token"] == 1.0


def test_who_left_the_page_open_overnight_is_late_and_no_more(ask, post, services, clock):
    members = solved(ask(), keys=36, seconds=70_000.0)
    clock.now = NOW + timedelta(days=2)

    post(members)

    assert newest(services).token is FormToken.LATE
    assert "misused_form_token" not in names(services)


def test_a_missing_or_unsolved_token_is_noted_and_held_against_nobody(ask, post, services):
    post(text="Before the script was there.")
    assert newest(services).token is None
    post(solved(ask()), text="With it.")

    post(text="Without it.")
    assert newest(services).token is FormToken.MISSING
    assert names(services) == {}
    # On a page without TLS browsers have nothing to solve it with.
    post({"challenge": ask()}, text="Not solved.")
    assert newest(services).token is FormToken.UNSOLVED
    assert names(services) == {}


@pytest.mark.parametrize(
    "field", ["", "x", "e30=", "W10=", "{}", "A" * 100_000, base64.b64encode(b"[" * 2_900).decode()]
)
def test_a_field_that_is_none_of_the_scripts_counts_as_missing(ask, post, services, field):
    post(solved(ask()), text="With it.")

    post(slopsieve_form=field)

    assert newest(services).token is FormToken.MISSING
    assert newest(services).behaviour is None


def test_without_its_memory_comments_are_taken_and_nothing_is_said(
    ask, post, services, monkeypatch
):
    for name in ("spend", "are_used_by"):
        monkeypatch.setattr(services.spent_tokens, name, away)

    post({"challenge": ask()}, text="Not solved.")
    post({}, text="No token.")

    assert [case.comment.form.token for case in all_cases(services)] == [None, None]


def test_tokens_are_for_the_sites_own_pages_and_differ(hook, ask, stranger):
    foreign = stranger.get(f"/public/{hook}/form-token", headers={"Origin": "https://evil.example"})
    own = stranger.get(f"/public/{hook}/form-token", headers=OWN)

    assert foreign.status_code == 403
    assert "Access-Control-Allow-Origin" not in foreign.headers
    assert own.headers["Access-Control-Allow-Origin"] == "https://blog.example"
    assert own.headers["Cache-Control"] == "no-store"
    assert ask()["signature"] != ask()["signature"]
