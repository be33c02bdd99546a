"""Finds what a site's decisions taught most about, as hashes and the comments they stand in."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from service.domain.comment import CommentId, SiteId
from service.learning.numbers import MOST_STRONGEST_EXAMPLES
from service.learning.taught import Taught


@dataclass(frozen=True, slots=True, kw_only=True)
class Strong:
    """A feature: what it adds on average where it stands, in log-odds, and in how many decisions.

    `comment_id` is the newest decided comment that has it.
    """

    id: int
    adds: float
    n_decisions: int
    comment_id: CommentId


def find_strongest(taught: Taught, site_id: SiteId, *, most: int) -> tuple[Strong, ...]:
    """Return the features of a site's newest decisions that add most, half of them either way.

    Of several that share a slot of the table only the one that was learnt from most is returned:
    of the others the table knows nothing.
    """
    site = taught.sites.get(site_id)
    learnt = [one for one in taught.learnt if one.example.site_id == site_id and one.gradient]
    learnt = learnt[-MOST_STRONGEST_EXAMPLES:]
    if site is None or not learnt:
        return ()
    features = [one.example.features for one in learnt]
    ids = np.concatenate([one.ids for one in features])
    adds = np.concatenate([site.residual.parts(one) for one in features])
    sizes = [len(one.ids) for one in features]
    taught_by = np.abs(np.repeat([one.gradient for one in learnt], sizes))
    unique, inverse, counts = np.unique(ids, return_inverse=True, return_counts=True)
    mean = np.bincount(inverse, weights=adds) / counts
    learnt_from = np.bincount(
        inverse, weights=taught_by * np.concatenate([one.values for one in features])
    )
    newest = np.zeros(len(unique), dtype=np.int64)
    # The last assignment through an index stands, and training examples come in order.
    newest[inverse] = np.repeat(np.arange(len(learnt)), sizes)
    slots = site.residual.slots_of(unique)
    owner = np.lexsort((-learnt_from, slots))
    first = np.ones(len(owner), dtype=np.bool_)
    first[1:] = slots[owner][1:] != slots[owner][:-1]
    owners = owner[first]
    by_strength = owners[np.argsort(-np.abs(mean[owners]), kind="stable")]
    # As many of either side, or what one campaign taught would hide all else.
    sides = [by_strength[mean[by_strength] > 0.0], by_strength[mean[by_strength] < 0.0]]
    strongest = np.concatenate([side[: most // 2] for side in sides])
    return tuple(
        Strong(
            id=int(unique[at]),
            adds=float(mean[at]),
            n_decisions=int(counts[at]),
            comment_id=learnt[newest[at]].example.comment_id,
        )
        for at in strongest
    )
