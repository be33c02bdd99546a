"""Shows over HTTP what each piece of evidence beside the words does to one and the same comment.

    python -m tests.benchmarks.evidence_pieces --lists FOLDER

Starts a Slopsieve by a made-up clock, posts a comment through `/v1`, and posts it again with one
piece more: days later, so that the copies make no wave, and by somebody else. Then a regular with
40 approvals posts the same. Each row compares with what a sender of the same standing gets
without the piece.
"""

from __future__ import annotations

import argparse
import base64
import gzip
import io
import ipaddress
import json
import math
import re
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from pathlib import Path
from typing import Any

from altcha import Challenge, solve_challenge

from service.data_folder import DataFolder
from service.domain.comment import ListBasis, ListKind
from service.reputation.about_list import AboutList
from service.reputation.lists import parse_list
from service.scoring.set_weights import MOST_SET
from service.stores.files.reputation_lists import ListFolder
from tests.benchmarks.account_replay import AUTHORED_FILES
from tests.benchmarks.clocked_service import Clocked, clocked

_PAGE, _OTHER_PAGE = "https://blog.example/radiators/", "https://blog.example/boilers/"
_TOXIC = "najitestech__stopforumspam_toxic.netset.gz"
_REPORTED = "najitestech__stopforumspam_7d.ipset.gz"
_EXITS = "najitestech__tor_exits.ipset.gz"
_MINUTE = 1.0 / 1_440.0
TEXT = (
    "I had the same trouble with our radiators last winter, and the plumber wanted to see the pump"
    " first. It was the drain valve in the end, which a new washer fixed for good."
)
LINKED = TEXT + " I wrote it up at https://valve-and-washer-notes.net/drain for the neighbours."
OFFER = TEXT + " Mine came from https://valve-shop.example.com, 20% off this week."
PRAISE = "Great post! Thanks for sharing such valuable and informative content with all of us."
Changes = dict[str, Any]
_LEADS_AWAY = re.compile(r"http|www|[a-z]\.[a-z]|@|\d{5}", re.IGNORECASE)


def without_links(label: str) -> Iterator[Mapping[str, Any]]:
    """Yield authored comments of a label that lead nowhere."""
    for path in AUTHORED_FILES:
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            if row["label"] == label and not _LEADS_AWAY.search(row["text"]):
                yield row


class Desk:
    """The site that comments are posted to, and what its form and its moderators do."""

    def __init__(self, service: Clocked, lists: Path) -> None:
        self.service, self.api = service, service.add_site("Blog")
        # What decisions teach of words would hide what a piece adds.
        options = ("--blog", "https://blog.example/", "--learns-not")
        service.command("sites", "set", "Blog", *options)
        self._form = service.command("hooks", "add", "Blog", "static-form", "--json")["path"]
        self._edits = service.command("hooks", "add", "Blog", "standard", "--json")
        self._people = 0
        self._listed: set[str] = set()
        self._remarks = without_links("ham")
        self._spam = without_links("spam")
        self.toxic = self._import(lists / _TOXIC, ListBasis.TOXIC)
        self.reported = self._import(lists / _REPORTED, ListBasis.REPORTED)
        self.exit = self._import(lists / _EXITS, ListBasis.TOR)

    def _import(self, path: Path, basis: ListBasis) -> str:
        """Have servers know a sample list of addresses and return one of them."""
        text = gzip.decompress(path.read_bytes())
        self._put(text, ListKind.NETWORKS, basis)
        found = re.findall(r"^(?:[0-9]{1,3}\.){3}[0-9]{1,3}", text.decode(), re.MULTILINE)
        new = (one for one in found if one not in self._listed)
        chosen = next(one for one in new if ipaddress.ip_address(one).is_global)
        self._listed |= set(found)
        return chosen

    def list_domain(self, domain: str) -> None:
        """Have servers know a list that names a domain."""
        self._put(domain.encode(), ListKind.DOMAINS, ListBasis.TOXIC)
        # They look for new lists once a second.
        time.sleep(3.0)

    def _put(self, text: bytes, kind: ListKind, basis: ListBasis) -> None:
        # Dated ahead of all days that pass, so that it is as of today on each; the command takes
        # no such date.
        parsed, now = parse_list(io.BytesIO(text), kind), datetime.now(UTC)
        about = AboutList(
            name=f"{basis.value.replace('_', '-')}-{kind.value.replace('_', '-')}",
            kind=kind,
            source="",
            listed_at=now + timedelta(days=3_650),
            imported_at=now,
            expires_at=now + timedelta(days=7_300),
            entries=parsed.entries,
            wrong_lines=parsed.wrong,
            basis=basis,
        )
        ListFolder(DataFolder(self.service.data_dir).lists_folder).put(about, parsed.compiled)

    def person(self) -> Changes:
        """Return somebody who was never here, without a name, as the model reads names."""
        self._people += 1
        number = self._people
        return {
            "author": {
                "email": f"reader-{number}@mail-{number}.example",
                "account_id": f"u-{number}",
                "account_age_days": 200,
            },
            "address": f"8.{number // 250}.{number % 250}.7",
        }

    def token(self, *, page: str = _PAGE) -> dict[str, Any]:
        """Return a solved token of the site's forms."""
        query = urllib.parse.urlencode({"page": page})
        address = (
            f"{self.service.url}{self._form.replace('/hooks/', '/public/')}/form-token?{query}"
        )
        challenge = _read(address)
        solved = solve_challenge(Challenge.from_dict(challenge))
        assert solved is not None
        return {"challenge": challenge, "solution": {"derivedKey": solved.derived_key}}

    def post(
        self,
        text: str,
        person: Changes,
        *,
        behaviour: Mapping[str, Any] | None = None,
        token: Mapping[str, Any] | str | None = None,
        after_minutes: float = 3.0,
        rest_days: float = 2.0,
        form: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Post a comment by a filled in form, as a person would unless told otherwise."""
        given = self.token() if token is None else token
        self.service.wait(after_minutes * _MINUTE)
        typed = {"keys": len(text), "pastes": 0, "other_inputs": 0, "pointer": 2, "touch": 0}
        told = {"behaviour": {**typed, "driven": False, **(behaviour or {})}}
        field = given if isinstance(given, str) else _packed({**given, **told})
        answer = self.service.judged(
            self.api,
            {
                "text": text,
                "post": {"url": _PAGE, "title": "Bleeding a radiator"},
                **person,
                "form": {
                    "seconds_on_page": 60.0,
                    "honeypot_filled": False,
                    "token": field,
                    **(form or {}),
                },
            },
        )
        # By default longer than sightings last.
        self.service.wait(rest_days)
        return answer

    def decided(self, people: Sequence[Changes], ruling: str) -> None:
        """Have a remark, or spam, of each posted and ruled on, eight a day."""
        rows = self._remarks if ruling == "approve" else self._spam
        for start in range(0, len(people), 8):
            some = [{"text": next(rows)["text"], **one} for one in people[start : start + 8]]
            for answer in self.service.judged_together(self.api, some):
                self.service.decide(self.api, answer, ruling)
            self.service.wait(2.0)

    def after_rejecting(self, text: str, act: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """Return what an act gives while a stranger's comment is rejected."""
        rejected = self.post(text, self.person())
        self.service.decide(self.api, rejected, "reject")
        answer = act()
        self.api.call("DELETE", f"/v1/comments/{rejected['id']}/decision")
        return answer

    def sent(self, bodies: Sequence[Mapping[str, Any]]) -> None:
        """Have comments come in on which nobody rules."""
        self.service.judged_together(self.api, bodies)

    def edit(self, before: str, text: str, person: Changes) -> dict[str, Any]:
        """Have a comment approved and then edited."""
        body = {"site_comment_id": f"w-{self._people}", **person}
        body["post"] = {"url": _PAGE, "title": "Bleeding a radiator"}
        first = self.service.edited(self.api, self._edits, {**body, "text": before})
        self.service.decide(self.api, first, "approve")
        self.service.wait(2.0)
        answer = self.service.edited(self.api, self._edits, {**body, "text": text})
        self.service.wait(2.0)
        return answer


def _read(address: str) -> Any:
    """Return what the page's script is told, once it may ask again: all come from one address."""
    request = urllib.request.Request(address, headers={"Origin": "https://blog.example"})  # noqa: S310  # its own address
    while True:
        try:
            with urllib.request.urlopen(request) as answer:  # noqa: S310  # the same
                return json.load(answer)
        except urllib.error.HTTPError as refusal:
            if refusal.code != HTTPStatus.TOO_MANY_REQUESTS:
                raise
            time.sleep(float(refusal.headers["Retry-After"]))


def _packed(told: Mapping[str, Any]) -> str:
    return base64.b64encode(json.dumps(told).encode()).decode()


Post = Callable[[Changes], dict[str, Any]]
_NOTHING = {"keys": 0, "pointer": 0}


class Pieces:
    """The pieces: for each, what posts the comment without it, and what posts it with it."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def of_forms_and_lists(self) -> dict[str, tuple[Post, Post]]:
        """Return those that anybody's comment may bring."""
        desk, plain = self._desk, self.plain
        return {
            "hidden field filled": (plain, self._with(form={"honeypot_filled": True})),
            "sent 0.2 s after the page": (plain, self._with(form={"seconds_on_page": 0.2})),
            "address on a toxic list": (plain, self._from(desk.toxic)),
            "address on a list of reported": (plain, self._from(desk.reported)),
            "Tor exit": (plain, self._from(desk.exit)),
            "throw-away mail": (plain, self.throwaway_mail),
            "nothing typed": (plain, self._with(behaviour=_NOTHING)),
            "keyed in at once": (plain, self._with(after_minutes=0.0)),
            "driven browser": (plain, self._with(behaviour={"driven": True})),
            "replayed token": (plain, self.replayed),
            "forged token": (plain, self.forged),
            "token of another page": (plain, self.elsewhere),
            "no token": (plain, self._with(token="")),
            "30 comments in that hour": (plain, self.sender_burst),
            "12 near-copies that day": (plain, self.copy_burst),
        }

    def of_decisions_and_accounts(self) -> dict[str, tuple[Post, Post]]:
        """Return those that decisions here and an account's ways tell, of somebody new."""
        plain, offer = self.plain, self.offer
        return {
            "4 rejections of the person": (plain, self.rejected_person),
            "6 rejections at the address": (plain, self.rejected_address),
            "8 rejections at the mail domain": (plain, self.rejected_mail_domain),
            "a rejected near-copy": (plain, self.rejected_copy),
            "a rejected link to the domain": (self.linked, self.rejected_target),
            "12 approvals of the person": (plain, self.approved_person),
            "6 approvals at the address": (plain, self.approved_address),
            "first offer after 8 remarks": (offer, self.after_remarks),
            "first offer after 300 days": (offer, self.dormant),
            "offer added by an edit": (offer, self.edited),
            "praise after 6 praises": (self.praise, self.praise_only),
        }

    def plain(self, person: Changes) -> dict[str, Any]:
        """Post the comment itself."""
        return self._desk.post(TEXT, person)

    def offer(self, person: Changes) -> dict[str, Any]:
        """Post the comment with an offer."""
        return self._desk.post(OFFER, person)

    def linked(self, person: Changes) -> dict[str, Any]:
        """Post the comment with a link to a source."""
        return self._desk.post(LINKED, person)

    def praise(self, person: Changes) -> dict[str, Any]:
        """Post praise."""
        return self._desk.post(PRAISE, person)

    def throwaway_mail(self, person: Changes) -> dict[str, Any]:
        """Post with an address of a service that lends them."""
        return self.plain(_of_domain(person, "mailinator.com"))

    def replayed(self, person: Changes) -> dict[str, Any]:
        """Post with a token that came with another comment."""
        token = self._desk.token()
        thanks = "Thank you, that worked at once."
        self._desk.post(thanks, self._desk.person(), token=token, rest_days=0.0)
        return self._desk.post(TEXT, person, token=token)

    def forged(self, person: Changes) -> dict[str, Any]:
        """Post with a token that nobody here signed."""
        token = self._desk.token()
        token["challenge"]["signature"] = "0" * 64
        return self._desk.post(TEXT, person, token=token)

    def elsewhere(self, person: Changes) -> dict[str, Any]:
        """Post with another page's token."""
        return self._desk.post(TEXT, person, token=self._desk.token(page=_OTHER_PAGE))

    def sender_burst(self, person: Changes) -> dict[str, Any]:
        """Post after 30 others by the same person."""
        self._desk.sent([{"text": f"Valve {n} of {n * n + 7}?", **person} for n in range(30)])
        return self.plain(person)

    def copy_burst(self, person: Changes) -> dict[str, Any]:
        """Post after twelve others posted the same."""
        self._desk.sent([{"text": TEXT, **self._desk.person()} for _ in range(12)])
        return self.plain(person)

    def rejected_person(self, person: Changes) -> dict[str, Any]:
        """Post after rejections of the person's spam."""
        self._desk.decided([person] * 4, "reject")
        return self.plain(person)

    def rejected_address(self, person: Changes) -> dict[str, Any]:
        """Post from where others' spam came."""
        others = [{**self._desk.person(), "address": person["address"]} for _ in range(6)]
        self._desk.decided(others, "reject")
        return self.plain(person)

    def rejected_mail_domain(self, person: Changes) -> dict[str, Any]:
        """Post with an address of a mail domain that others' spam had."""
        domain = person["author"]["email"].partition("@")[2]
        others = [_of_domain(self._desk.person(), domain) for _ in range(8)]
        self._desk.decided(others, "reject")
        return self.plain(person)

    def rejected_copy(self, person: Changes) -> dict[str, Any]:
        """Post what was rejected of somebody else; that is taken back afterwards."""
        return self._desk.after_rejecting(TEXT, lambda: self.plain(person))

    def rejected_target(self, person: Changes) -> dict[str, Any]:
        """Post a link to where a rejected comment led; that is taken back afterwards."""
        other = "Cheap washers, all sizes: https://valve-and-washer-notes.net/shop"
        return self._desk.after_rejecting(other, lambda: self.linked(person))

    def approved_person(self, person: Changes) -> dict[str, Any]:
        """Post after approvals of the person's remarks."""
        self._desk.decided([person] * 12, "approve")
        return self.plain(person)

    def approved_address(self, person: Changes) -> dict[str, Any]:
        """Post from where others' approved remarks came."""
        others = [{**self._desk.person(), "address": person["address"]} for _ in range(6)]
        self._desk.decided(others, "approve")
        return self.plain(person)

    def after_remarks(self, person: Changes) -> dict[str, Any]:
        """Post a first offer after approved remarks."""
        self._desk.decided([person] * 8, "approve")
        return self.offer(person)

    def dormant(self, person: Changes) -> dict[str, Any]:
        """Post a first offer after a long silence."""
        self._desk.decided([person], "approve")
        self._desk.service.wait(300.0)
        return self.offer(person)

    def edited(self, person: Changes) -> dict[str, Any]:
        """Add an offer to an approved comment."""
        return self._desk.edit(TEXT, OFFER, person)

    def praise_only(self, person: Changes) -> dict[str, Any]:
        """Praise after nothing but praise, on which nobody ruled."""
        for word in ("super", "really", "truly", "simply", "so", "very"):
            text = f"This is {word} helpful, thanks for sharing such a great article."
            self._desk.post(text, person)
        return self.praise(person)

    def _with(self, **changes: Any) -> Post:
        return lambda person: self._desk.post(TEXT, person, **changes)

    def _from(self, address: str) -> Post:
        return lambda person: self.plain({**person, "address": address})


def _of_domain(person: Changes, domain: str) -> Changes:
    author = person["author"]
    return {**person, "author": {**author, "email": f"{author['account_id']}@{domain}"}}


def log_odds(answer: Mapping[str, Any]) -> float:
    """Return what a verdict says, in log-odds."""
    p = answer["verdict"]["p_spam"]
    return math.log(p / (1.0 - p))


def tell(name: str, plain: Mapping[str, Any], pieced: Mapping[str, Any]) -> None:
    """Print what a piece did, and all that then weighs something besides what did before."""
    before, after = plain["verdict"], pieced["verdict"]
    known = {one["name"]: one["contribution"] for one in before["signals"]}
    new = {
        one["name"]: one["contribution"] - known.get(one["name"], 0.0)
        for one in after["signals"]
        if abs(one["contribution"] - known.get(one["name"], 0.0)) > 1e-9
    }
    said = ", ".join(f"`{one}` {value:+.2f}" for one, value in new.items()) or "nothing"
    over = " **over the bound**" if any(abs(one) > MOST_SET for one in new.values()) else ""
    degraded = " (degraded)" if before["degraded"] or after["degraded"] else ""
    print(
        f"| {name} | {before['p_spam']:.3f} {before['outcome']} | "
        f"{after['p_spam']:.3f} {after['outcome']}{degraded} | "
        f"{log_odds(pieced) - log_odds(plain):+.2f} | {said}{over} |",
        flush=True,
    )


def main() -> None:
    """Print a row for each piece, of somebody new, and then of a regular."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lists", type=Path, required=True, help="the folder of sample lists")
    options = parser.parse_args()
    with clocked() as service:
        desk = Desk(service, options.lists)
        pieces, regular = Pieces(desk), desk.person()
        desk.decided([regular] * 40, "approve")
        linked = {"stranger": pieces.linked(desk.person()), "regular": pieces.linked(regular)}
        desk.list_domain("valve-and-washer-notes.net")
        _head("Somebody new")
        for name, (without, with_) in pieces.of_forms_and_lists().items():
            tell(name, without(desk.person()), with_(desk.person()))
        tell("domain on a toxic list", linked["stranger"], pieces.linked(desk.person()))
        tell("all at once", linked["stranger"], _everything(desk, desk.person()))
        _head("A regular with 40 approved remarks")
        for name, (without, with_) in pieces.of_forms_and_lists().items():
            tell(name, without(regular), with_(regular))
        tell("domain on a toxic list", linked["regular"], pieces.linked(regular))
        tell("all at once", linked["regular"], _everything(desk, regular))
        _head("What the regular begins to offer, beside somebody new who offers it")
        stranger = pieces.offer(desk.person())
        tell("offer added by an edit", stranger, pieces.edited(regular))
        tell("first offer", stranger, pieces.offer(regular))
        _head("What decisions and accounts tell of somebody new")
        for name, (without, with_) in pieces.of_decisions_and_accounts().items():
            tell(name, without(desk.person()), with_(desk.person()))


def _everything(desk: Desk, person: Changes) -> dict[str, Any]:
    return desk.post(
        LINKED,
        {**_of_domain(person, "mailinator.com"), "address": desk.toxic},
        form={"honeypot_filled": True, "seconds_on_page": 0.2},
        behaviour={"driven": True, **_NOTHING},
    )


def _head(title: str) -> None:
    print(f"\n{title}:\n\n| piece | without | with | log-odds | new reasons |")
    print("|---|---|---|--:|---|")


if __name__ == "__main__":
    main()
