"""A made-up world of senders with ground truth: who they are, and what their comments bring along.

The words of a comment and its links are real, and so are the entries of the lists. All else is
drawn, by the rates that stand here: guesses, none of them measured. An attacker sends what archives
call spam, a sincere person what they call ham.
"""

from __future__ import annotations

import gzip
import io
import ipaddress
import random
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from service.domain.comment import Comment, Edit, FormEvidence, ListBasis, ListKind, Sender
from service.domain.form import FormBehaviour, FormToken
from service.domain.history import Conduct, History, Record, TrackRecord
from service.reputation.about_list import AboutList
from service.reputation.linked_domains import linked_domains
from service.reputation.lists import parse_list
from service.signals.offering import links, offers
from service.stores.files.reputation_lists import MemoryReputationLists
from tests.factories import NOW

# The sample lists, as if each had been fetched today. ThioJoe's is refused at import: two lines of
# three name videos.
LISTS: Mapping[str, tuple[ListKind, ListBasis]] = MappingProxyType(
    {
        "najitestech__stopforumspam_toxic.netset": (ListKind.NETWORKS, ListBasis.TOXIC),
        "najitestech__stopforumspam_7d.ipset": (ListKind.NETWORKS, ListBasis.REPORTED),
        "najitestech__cleantalk_7d.ipset": (ListKind.NETWORKS, ListBasis.REPORTED),
        "najitestech__botscout_7d.ipset": (ListKind.NETWORKS, ListBasis.REPORTED),
        "najitestech__php_commenters.ipset": (ListKind.NETWORKS, ListBasis.REPORTED),
        "stamparm__levels_4.txt": (ListKind.NETWORKS, ListBasis.REPORTED),
        "najitestech__tor_exits.ipset": (ListKind.NETWORKS, ListBasis.TOR),
        "SecOps-Institute__tor-exit-nodes.lst": (ListKind.NETWORKS, ListBasis.TOR),
        "matomo-org__spammers.txt": (ListKind.DOMAINS, ListBasis.REPORTED),
        "laylavish__noai_hosts.txt": (ListKind.DOMAINS, ListBasis.MACHINE_MADE),
        "disposable-email-domains__disposable_email_blocklist.conf": (
            ListKind.MAIL_DOMAINS,
            ListBasis.REPORTED,
        ),
    }
)
_IPV4 = re.compile(r"(?:[0-9]{1,3}\.){3}[0-9]{1,3}(?=$|[\s/])", re.MULTILINE)
_NAME = re.compile(r"^[a-z0-9-]+(?:\.[a-z0-9-]+)+$", re.MULTILINE)
_ENTRIES_EACH = 3_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind of sender: its share of its label's comments, and how often it shows what."""

    name: str
    share: float
    rates: Mapping[str, float]


# One in ten has no script, one in twenty is helped by a program; carriers and offices share
# addresses with those who were reported, and some readers guard theirs.
SINCERE = (
    Kind(
        name="typists",
        share=0.85,
        rates={"clock_is_wrong": 0.005, "is_reported": 0.015, "by_tor": 0.005},
    ),
    Kind(
        name="without a script",
        share=0.10,
        rates={"no_script": 0.9, "is_reported": 0.015, "by_tor": 0.02},
    ),
    Kind(
        name="helped by a program",
        share=0.05,
        rates={"put_in": 0.2, "expands": 0.1, "fills_hidden": 0.05, "is_reported": 0.015},
    ),
)
# Half post without a browser, a third drive one, the rest fill in forms as people do, from
# households' addresses and from accounts that they aged by remarks.
ATTACKING = (
    Kind(
        name="no browser",
        share=0.5,
        rates={
            "no_script": 0.9,
            "misuses_token": 1.0,
            "at_once": 0.3,
            "fills_hidden": 0.25,
            "is_reported": 0.3,
            "throwaway": 0.15,
            "in_wave": 0.2,
        },
    ),
    Kind(
        name="driven browser",
        share=0.3,
        rates={
            "driven": 0.5,
            "put_in": 0.6,
            "expands": 0.3,
            "is_reported": 0.2,
            "throwaway": 0.2,
            "in_wave": 0.1,
        },
    ),
    Kind(
        name="aged account",
        share=0.2,
        rates={"has_account": 0.7, "edits": 0.2, "sleeps": 0.1, "only_praised": 0.3},
    ),
)
# What sincere people of every kind do.
_PEOPLE = {
    "throwaway": 0.01,
    "pastes": 0.1,
    "has_account": 0.4,
    "offered_before": 0.1,
    "edits": 0.02,
    "sleeps": 0.03,
    "only_praised": 0.02,
    "in_class": 0.005,
}
_FREE_MAIL = ("gmail.com", "outlook.com", "proton.me", "web.de")


class Lists:
    """The sample lists, and entries to draw attackers' addresses and mail domains from."""

    def __init__(self, folder: Path) -> None:
        entries: dict[tuple[ListKind, bool], list[str]] = {}
        loaded = []
        rng = random.Random(5)
        for number, (name, (kind, basis)) in enumerate(LISTS.items()):
            text = gzip.decompress((folder / f"{name}.gz").read_bytes())
            parsed = parse_list(io.BytesIO(text), kind)
            about = AboutList(
                name=f"list-{number}",
                kind=kind,
                source=name,
                listed_at=NOW,
                imported_at=NOW,
                expires_at=NOW.replace(year=NOW.year + 1),
                entries=parsed.entries,
                wrong_lines=parsed.wrong,
                basis=basis,
            )
            loaded.append((about, parsed.compiled))
            pattern = _IPV4 if kind is ListKind.NETWORKS else _NAME
            found = pattern.findall(text.decode("utf-8", "replace"))
            # By drawing as many of each, small lists count as much as large ones.
            taken = rng.sample(found, min(_ENTRIES_EACH, len(found)))
            entries.setdefault((kind, basis is ListBasis.TOR), []).extend(taken)
        self._lists = MemoryReputationLists(loaded)
        self.reported = entries[ListKind.NETWORKS, False]
        self.exits = entries[ListKind.NETWORKS, True]
        self.mail_domains = entries[ListKind.MAIL_DOMAINS, False]

    def sender(self, comment: Comment, address: str, mail_domain: str) -> Sender:
        """Return who sends, with what the lists hold of it and of the links."""
        found = self._lists.find(
            address=address, domains=linked_domains(comment), mail_domain=mail_domain, at=NOW
        )
        return Sender(email_domain=mail_domain, listings=tuple(found))


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """A comment as it comes in, with what is remembered of its sender, who is of this kind.

    `vouching` is the same history where every approval vouches for whatever comes next.
    """

    kind: str
    comment: Comment
    history: History
    vouching: History


class World:
    """Draws senders. With `oddities` so many times as many sincere people look like attackers."""

    def __init__(self, lists: Lists, rng: random.Random, *, oddities: float = 1.0) -> None:
        self._lists, self._rng, self._oddities = lists, rng, oddities

    def send(self, comment: Comment, *, is_spam: bool) -> Sent:
        """Return the comment as somebody of its label sends it."""
        kinds = ATTACKING if is_spam else SINCERE
        (kind,) = self._rng.choices(kinds, [one.share for one in kinds])
        rates = kind.rates if is_spam else {**_PEOPLE, **kind.rates}
        times = 1.0 if is_spam else self._oddities
        usual = {"pastes", "has_account", "no_script"}
        shows = {
            name
            for name, rate in rates.items()
            if self._rng.random() < rate * (1.0 if name in usual else times)
        }
        sender = self._lists.sender(comment, self._address(shows), self._mail_domain(shows))
        history = self._history(shows, is_spam=is_spam)
        known = replace(
            comment,
            sender=sender,
            form=self._form(shows, len(comment.text)),
            edit=_edit(comment) if "edits" in shows else None,
        )
        vouching = replace(history, account_offers=history.account, email_offers=history.email)
        return Sent(
            kind=kind.name, comment=known, history=history, vouching=replace(vouching, conduct=None)
        )

    def _address(self, shows: set[str]) -> str:
        if "is_reported" in shows:
            return self._rng.choice(self._lists.reported)
        if "by_tor" in shows:
            return self._rng.choice(self._lists.exits)
        while not (address := ipaddress.IPv4Address(self._rng.getrandbits(32))).is_global:
            pass
        return str(address)

    def _mail_domain(self, shows: set[str]) -> str:
        domains = self._lists.mail_domains if "throwaway" in shows else list(_FREE_MAIL)
        return self._rng.choice(domains)

    def _form(self, shows: set[str], length: int) -> FormEvidence:
        on_page = 0.2 if shows & {"at_once", "clock_is_wrong"} else None
        hidden = "fills_hidden" in shows
        if "no_script" in shows:
            return FormEvidence(
                seconds_on_page=on_page, honeypot_filled=hidden, token=FormToken.MISSING
            )
        if "misuses_token" in shows:
            token = self._rng.choice((FormToken.REPLAYED, FormToken.FORGED))
            return FormEvidence(seconds_on_page=on_page, honeypot_filled=hidden, token=token)
        keys, pastes, pointer = length, 0, 2
        # Two to six keys a second, and some time to think.
        seconds = length / self._rng.uniform(2.0, 6.0) + self._rng.uniform(2.0, 40.0)
        if "put_in" in shows:
            keys, pointer, seconds = 0, 0, 2.0
        elif "expands" in shows:
            pointer, seconds = 0, length / 100.0
        elif "pastes" in shows:
            keys, pastes, seconds = 2, 1, self._rng.uniform(1.0, 20.0)
        behaviour = FormBehaviour(
            seconds=seconds,
            keys=keys,
            pastes=pastes,
            other_inputs=0,
            pointer=pointer,
            touch=0,
            scroll=3,
            driven="driven" in shows,
        )
        return FormEvidence(
            seconds_on_page=on_page,
            honeypot_filled=hidden,
            behaviour=behaviour,
            token=FormToken.VALID,
        )

    def _history(self, shows: set[str], *, is_spam: bool) -> History:
        # The k-th of a wave meets k - 1 near-copies of the day; half of all waves end at each.
        copies = self._rng.randrange(_geometric(self._rng, 8.0)) if "in_wave" in shows else 0
        neighbours = self._rng.randint(15, 60) if "in_class" in shows else 0
        history = History(
            content=TrackRecord(everywhere=Record(seen_hour=copies, seen_day=copies)),
            address=TrackRecord(everywhere=Record(seen_hour=neighbours, seen_day=neighbours)),
        )
        if "has_account" not in shows:
            return history
        approved = 4 + self._rng.randrange(12) if is_spam else _geometric(self._rng, 8.0)
        offered = approved // 3 if "offered_before" in shows else 0
        conduct = Conduct(
            quiet_days=self._rng.randint(120, 390) if "sleeps" in shows else 5,
            remarks=approved - offered,
            offers=offered,
            praises=approved - offered if "only_praised" in shows else approved // 4,
        )
        account, of_offers = _track_record(approved), _track_record(offered)
        return replace(
            history,
            account=account,
            email=account,
            account_offers=of_offers,
            email_offers=of_offers,
            conduct=conduct,
        )


def _track_record(approved: int) -> TrackRecord:
    record = Record(approved=float(approved))
    return TrackRecord(here=record, everywhere=record)


def _geometric(rng: random.Random, mean: float) -> int:
    """Return at least 1, on average `mean`."""
    count = 1
    while rng.random() > 1.0 / mean:
        count += 1
    return count


def _edit(comment: Comment) -> Edit:
    """Say what an edit that made this text added to an approved one."""
    if offers(comment):
        return Edit.ADDED_OFFER
    return Edit.ADDED_LINK if links(comment) else Edit.APPROVED
