"""Acts out two months of comments at a few blogs: who sends which, from where and when."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import TypeVar

import numpy as np

from service.domain.comment import Comment, CommentId, Sender, SiteId
from service.signals.view import view_of
from training.data.dataset import Example

_T = TypeVar("_T")

_START = datetime(2026, 1, 5, tzinfo=UTC)
_FREE_MAIL = ("gmail.com", "outlook.com", "web.de")

# One sender's way: given a draw, whom the next comment comes from.
Habit = Callable[[], Sender]


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulationConfig:
    """Every assumption of the simulation, with its reason. Nobody has measured these."""

    seed: int = 20_260
    # Worlds that weights are fitted on, and others that they are checked on.
    worlds: int = 4
    checked_worlds: int = 2
    # Two months, so that memory fades within a world, at blogs that share one service.
    days: float = 60.0
    sites: int = 3
    # Most who comment do so once or a few times; some are regulars.
    few_share: float = 0.25
    regular_share: float = 0.1
    most_by_regular: int = 60
    gives_email_share: float = 0.85
    # Where people write from; the rest has an address of its own.
    carrier_share: float = 0.2
    office_share: float = 0.12
    vpn_share: float = 0.05
    # Where spammers write from; the rest rotates within a few networks of one host.
    fixed_spammer_share: float = 0.35
    residential_spammer_share: float = 0.25
    # Of their comments, those that come through an office's or a VPN's address all the same.
    spam_through_shared: float = 0.1
    rotates_domain_share: float = 0.3
    # The same pitch goes to several posts: so many times more, on average. A campaign is over in
    # two days; some operators flood instead, all within an hour.
    more_copies: float = 1.0
    campaign_hours: float = 48.0
    flood_share: float = 0.05
    flood_copies: float = 20.0
    # Of those who send from one place, some age their account with harmless remarks first.
    aged_share: float = 0.15
    # Of regulars, those who write all they write in one heated day; of the people of offices, those
    # who sit in one class and write in one school hour.
    heated_share: float = 0.2
    class_share: float = 0.4
    # Moderators see what was held; of the rest, the audit sample and what they stumble upon.
    decided_if_held: float = 0.6
    decided_otherwise: float = 0.1
    decided_after_hours: float = 8.0
    mistaken_share: float = 0.015
    # Ridge and least firings, in all worlds together.
    penalty: float = 2.0
    min_firings: int = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """A comment and the score, in log-odds, of all evidence that is no history."""

    example: Example
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Post:
    """One comment on its way in. `group` is what a check is reported by."""

    comment: Comment
    at: datetime
    score: float
    is_spam: bool
    group: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Campaign:
    """One operator at work: from when, for how many hours, each text how many times more."""

    habit: Habit
    aged: bool
    site: SiteId
    start: datetime
    hours: float
    more_copies: float
    rotates: bool


class World:
    """Two months of comments at a few blogs, all drawn from one generator.

    See `training.fit.simulate_histories.fit_histories` for `told` and `campaigns`.
    """

    def __init__(
        self,
        told: Sequence[Told],
        campaigns: Sequence[Example],
        config: SimulationConfig,
        rng: np.random.Generator,
        number: int,
    ) -> None:
        self._told = told
        self._harmless = [t for t in told if not t.example.is_spam]
        self._campaigns = campaigns
        self._config = config
        self._rng = rng
        self._number = number
        self._fresh = count()
        # The same for everybody: where several write from.
        self._providers = [f"isp{n}" for n in range(20)]
        self._hosts = [f"host{n}" for n in range(4)]
        self._offices = [self._address(self._some(self._providers)) for _ in range(8)]
        self._exits = [self._address(self._some(self._hosts)) for _ in range(10)]
        self._names = [f"name{n}" for n in range(100)]
        self._school_hour = self._any_time()

    def posts(self) -> list[Post]:
        """Return the comments of this world, in no order."""
        return [*self._ham(), *self._spam()]

    # Ham.

    def _ham(self) -> list[Post]:
        ham = self._harmless
        order = [ham[i] for i in self._rng.permutation(len(ham)).tolist()]
        posts: list[Post] = []
        while order:
            wanted = self._comments_of_a_person()
            mine, order = order[:wanted], order[wanted:]
            posts += self._person(mine, is_regular=wanted > 4)
        return posts

    def _comments_of_a_person(self) -> int:
        c, draw = self._config, self._rng.random()
        if draw < c.regular_share:
            return min(c.most_by_regular, int(5 * (1 - self._rng.random()) ** -0.8))
        return int(self._rng.integers(2, 5)) if draw < c.regular_share + c.few_share else 1

    def _person(self, mine: Sequence[Told], *, is_regular: bool) -> list[Post]:
        c, where = self._config, self._rng.random()
        provider, own = self._some(self._providers), self._fresh_key()
        shared = where < c.office_share + c.vpn_share
        if shared:
            home = self._office() if where < c.office_share else self._some(self._exits)
        else:
            home = self._address(provider)
        moves = not shared and where < c.office_share + c.vpn_share + c.carrier_share
        common = self._rng.random() < 0.2
        name = self._some(self._names) if common else own
        email, domain = self._mail_of(own)
        who = replace(home, name_key=name, email_key=email, email_domain=domain)
        site = self._site()
        group = "ham behind a shared address" if shared else "regulars" if is_regular else "ham"
        times = self._times_of(home, len(mine), is_regular=is_regular)
        posts = []
        for one, at in zip(mine, times, strict=True):
            now = self._moved(who, provider) if moves else who
            there = site if self._rng.random() < 0.8 else self._site()
            posts.append(self._post(one, now, there, at, group))
        return posts

    def _times_of(self, home: Sender, number: int, *, is_regular: bool) -> list[datetime]:
        if home is self._offices[0]:
            hours, start = 1.0, self._school_hour
        elif is_regular and self._rng.random() < self._config.heated_share:
            hours, start = 12.0, self._any_time()
        else:
            return [self._any_time() for _ in range(number)]
        return [start + timedelta(hours=float(self._rng.random() * hours)) for _ in range(number)]

    def _office(self) -> Sender:
        in_class = self._rng.random() < self._config.class_share
        return self._offices[0] if in_class else self._some(self._offices[1:])

    def _mail_of(self, own: str) -> tuple[str | None, str | None]:
        if self._rng.random() >= self._config.gives_email_share:
            return None, None
        domain = self._some(_FREE_MAIL) if self._rng.random() < 0.8 else f"mail-{own}.example"
        return own, domain

    def _moved(self, who: Sender, provider: str) -> Sender:
        """Return the person at another address of a provider whose networks others share."""
        there = self._address(provider, network=f"{provider}-{self._rng.integers(30)}")
        return replace(
            there, name_key=who.name_key, email_key=who.email_key, email_domain=who.email_domain
        )

    # Spam.

    def _spam(self) -> list[Post]:
        posts: list[Post] = []
        for members in self._operations():
            campaign = self._campaign()
            if campaign.aged:
                posts += self._aging(campaign)
            for one in members:
                posts += self._pitch(one, campaign)
        return posts

    def _campaign(self) -> _Campaign:
        c = self._config
        habit, is_fixed = self._spammer()
        floods = self._rng.random() < c.flood_share
        return _Campaign(
            habit=habit,
            aged=is_fixed and self._rng.random() < c.aged_share,
            site=self._site(),
            start=self._any_time(),
            hours=1.0 if floods else c.campaign_hours,
            more_copies=c.flood_copies if floods else c.more_copies,
            rotates=self._rng.random() < c.rotates_domain_share,
        )

    def _aging(self, campaign: _Campaign) -> list[Post]:
        """Return the harmless remarks that an account was aged with in the weeks before."""
        remarks = [
            self._harmless[int(self._rng.integers(len(self._harmless)))]
            for _ in range(int(self._rng.integers(1, 4)))
        ]
        return [
            self._post(
                one,
                campaign.habit(),
                campaign.site,
                campaign.start - timedelta(days=float(2 + self._rng.random() * 18)),
                "remarks that age an account",
            )
            for one in remarks
        ]

    def _operations(self) -> list[list[Told]]:
        """Return comments of one operator each: a campaign, or those that link to one domain."""
        spam = [t for t in self._told if t.example.is_spam]
        of_kind: defaultdict[str | None, list[float]] = defaultdict(list)
        for one in spam:
            of_kind[one.example.kind].append(one.score)
        every = [one.score for one in spam]
        known = {one.example.comment.id for one in spam}
        groups: defaultdict[str, list[Told]] = defaultdict(list)
        for one in spam:
            groups[_operator(one.example)].append(one)
        for example in self._campaigns:
            if example.comment.id not in known:
                scores = of_kind.get(example.kind) or every
                score = scores[int(self._rng.integers(len(scores)))]
                groups[_operator(example)].append(Told(example=example, score=score))
        return list(groups.values())

    def _pitch(self, one: Told, campaign: _Campaign) -> list[Post]:
        """Return one text as an operator sends it: once or more, to one blog or several."""
        group = "authored campaigns" if one.example.campaign else "other spam"
        posts = []
        for _ in range(1 + int(self._rng.poisson(campaign.more_copies))):
            at = campaign.start + timedelta(hours=float(self._rng.random() * campaign.hours))
            there = campaign.site if self._rng.random() < 0.5 else self._site()
            post = self._post(one, campaign.habit(), there, at, group)
            posts.append(self._elsewhere(post) if campaign.rotates else post)
        return posts

    def _elsewhere(self, post: Post) -> Post:
        """Return the comment with its links to domains that were registered for it."""
        text = post.comment.text
        for link in view_of(post.comment).open_links:
            if link.domain:
                text = text.replace(link.domain, f"{self._fresh_key()}.com")
        return replace(post, comment=replace(post.comment, text=text))

    def _spammer(self) -> tuple[Habit, bool]:
        """Return a way to send, and whether it always sends as the same person."""
        c, draw = self._config, self._rng.random()
        if draw < c.fixed_spammer_share:
            key = self._fresh_key()
            home = self._address(self._some([*self._hosts, *self._providers]))
            mail = self._some([*_FREE_MAIL, f"mail-{key}.example"])
            fixed = replace(home, name_key=key, email_key=key, email_domain=mail)
            return lambda: fixed, True
        if draw < c.fixed_spammer_share + c.residential_spammer_share:
            return self._residential, False
        host, key = self._some(self._hosts), self._fresh_key()
        networks = [f"{host}-{self._fresh_key()}" for _ in range(int(self._rng.integers(1, 4)))]
        mail = self._some([*_FREE_MAIL, f"mail-{key}.example", f"mail-{key}.example"])
        return (
            lambda: self._throw_away(self._address(host, network=self._some(networks)), mail)
        ), False

    def _residential(self) -> Sender:
        return self._throw_away(self._address(self._some(self._providers)), self._some(_FREE_MAIL))

    def _throw_away(self, home: Sender, mail: str) -> Sender:
        """Return a sender with a new e-mail address, and a new or a common name."""
        key = self._fresh_key()
        if self._rng.random() < self._config.spam_through_shared:
            home = self._some([*self._offices, *self._exits])
        name = self._some(self._names) if self._rng.random() < 0.3 else key
        return replace(home, name_key=name, email_key=key, email_domain=mail)

    # Both.

    def _post(self, one: Told, sender: Sender, site: SiteId, at: datetime, group: str) -> Post:
        comment = replace(
            one.example.comment,
            id=CommentId(f"w{self._number}-{next(self._fresh)}"),
            site_id=site,
            sender=sender,
            received_at=at,
        )
        return Post(
            comment=comment, at=at, score=one.score, is_spam=one.example.is_spam, group=group
        )

    def _address(self, system: str, *, network: str | None = None) -> Sender:
        """Return a new address; one octet's worth of them where the network is named."""
        if network is None:
            network = f"{system}-{self._fresh_key()}"
            key = f"{network}-1"
        else:
            key = f"{network}-{self._rng.integers(256)}"
        return Sender(
            address_key=key,
            network_key=network,
            system=int.from_bytes(system.encode(), "big") % 1_000_003,
        )

    def _site(self) -> SiteId:
        return SiteId(f"site{self._rng.integers(self._config.sites)}")

    def _any_time(self) -> datetime:
        return _START + timedelta(days=float(self._rng.random() * self._config.days))

    def _fresh_key(self) -> str:
        return f"w{self._number}k{next(self._fresh)}"

    def _some(self, choices: Sequence[_T]) -> _T:
        return choices[int(self._rng.integers(len(choices)))]


def _operator(example: Example) -> str:
    """Return what makes comments one operator's: the campaign, else the first linked domain."""
    if example.campaign:
        return f"campaign {example.campaign}"
    domains = [link.domain for link in view_of(example.comment).open_links if link.domain]
    return f"domain {domains[0]}" if domains else f"alone {example.comment.id}"
