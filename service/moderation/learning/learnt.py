"""Says what a site's decisions taught, in words, and how far that is believed."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass

from service.domain.comment import CommentId, SiteId
from service.learning.naming import Kind, name_features
from service.learning.strongest import Strong, find_strongest
from service.ports.services import CommonPorts, LearningPorts, ReviewPorts

# Of each kind so many are told for each side, and among so many features they are looked for.
MOST_TOLD = 8
_LOOKED_AT = 150
# Of less than a twentieth of a log-odd nobody sees anything.
_LEAST = 0.05
# Below this the mixture counts on the version alone.
_UNUSED = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Belief:
    """How far what a site taught is believed, in [0, 1], after so many decisions."""

    site_id: SiteId
    learns: bool
    n_decisions: int
    trusted: float

    @property
    def is_used(self) -> bool:
        """Say whether it counts for anything."""
        return self.trusted >= _UNUSED


@dataclass(frozen=True, slots=True, kw_only=True)
class Thing:
    """A word, a domain or a shape of names: what it adds on average where it stands, in log-odds.

    `n_decisions` is the number of decisions on comments that have it.
    """

    kind: Kind
    says: str
    adds: float
    n_decisions: int


def beliefs(
    learning: LearningPorts, common: CommonPorts, site_ids: tuple[SiteId, ...] | None
) -> tuple[Belief, ...]:
    """Return how far each of these sites (None: all) is believed, those that decided most first."""
    taught = learning.taught()
    found = []
    for site in common.sites.all():
        if site_ids is not None and site.id not in site_ids:
            continue
        known = taught.sites.get(site.id)
        evidence = known.evidence if known else None
        found.append(
            Belief(
                site_id=site.id,
                learns=site.settings.learns,
                n_decisions=evidence.n if evidence else 0,
                trusted=evidence.trusted if evidence else 0.0,
            )
        )
    return tuple(sorted(found, key=lambda one: -one.n_decisions))


def what_was_learnt(
    site_id: SiteId, review: ReviewPorts, learning: LearningPorts
) -> tuple[Thing, ...]:
    """Return what the site's decisions taught most about, the strongest first.

    At most `MOST_TOLD` of a kind for spam and as many for ham. Words are read from the decided
    comments that are still kept: of hashes alone nothing is told.
    """
    taught = learning.taught()
    strongest = find_strongest(taught, site_id, most=_LOOKED_AT)
    by_comment: defaultdict[CommentId, list[Strong]] = defaultdict(list)
    for one in strongest:
        if abs(one.adds) >= _LEAST:
            by_comment[one.comment_id].append(one)
    things = []
    for case in review.cases.find(list(by_comment)):
        if case.withdrawn_at is not None or case.comment.site_id != site_id:
            continue
        wanted = by_comment[case.comment.id]
        named = name_features(case.comment, [one.id for one in wanted], taught.salt)
        things += [
            Thing(
                kind=named[one.id].kind,
                says=named[one.id].says,
                adds=one.adds,
                n_decisions=one.n_decisions,
            )
            for one in wanted
            if one.id in named and named[one.id].says
        ]
    things.sort(key=lambda one: (-abs(one.adds), one.says))
    told: Counter[tuple[Kind, bool]] = Counter()
    kept = []
    for thing in things:
        told[thing.kind, thing.adds > 0] += 1
        if told[thing.kind, thing.adds > 0] <= MOST_TOLD:
            kept.append(thing)
    return tuple(kept)
