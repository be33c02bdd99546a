"""Finds, for a comment, a remembered one of the same campaign: in bounded time and memory."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from service.campaigns.index import KeyIndex, VectorIndex
from service.campaigns.targets import is_name
from service.campaigns.traits import Traits
from service.domain.campaign import LOW_P_SPAM, SELLS_P_SPAM
from service.domain.comment import CommentId

# Four for copies of the text, the others for what it leads to.
_KEYS_A_COMMENT = 16
# Any member of a campaign leads to it, so the newest this many are enough.
_CANDIDATES = 24
# A name that more campaigns among those have is none: a city, a maker of telephones, a first name.
_MAX_CAMPAIGNS_OF_A_NAME = 4
# What more of those have who look sincere sells nothing: a platform's address, a regular's, the
# blog's own, a word that all readers use.
_MAX_SINCERE_SHARE = 0.1
# Where meaning cannot be compared, as between versions of the model.
_NAMES_WITHOUT_MEANING = 2
# Cosines from which two comments with a name in common, and two with nothing else in common, are
# taken for one campaign. Chosen on the calibration part, see tests/benchmarks/RESULTS.md.
MIN_COSINE_WITH_NAME = 0.4
MIN_COSINE_ALONE = 0.8
# Meaning alone ties a doubt to what is surely spam, never doubts to one another: readers who write
# in one language of one matter are as close. Figures: tests/benchmarks/RESULTS.md.
SURE_P_SPAM = 0.96


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A remembered comment of the same campaign; `campaign_id` is None while it is single."""

    comment_id: CommentId
    campaign_id: str | None


class Grouping:
    """Remembers the newest comments by their traits; not to be shared between threads.

    `remember` and `find` never raise for traits that could be built, whatever a stranger wrote.
    Only comments whose verdict is not ham belong here: two readers who say the same thing of the
    same post are no campaign. Found are only those that sell (`SELLS_P_SPAM`); the others are
    remembered for what they say of addresses. Who does not sell finds by copies and addresses
    alone.
    """

    def __init__(self, *, max_remembered: int) -> None:
        self._max_remembered = max_remembered
        self._keys = KeyIndex(max_remembered, keys_a_slot=_KEYS_A_COMMENT)
        self._vectors = VectorIndex(max_remembered)
        self._ids: list[CommentId | None] = []
        self._campaigns: list[str | None] = []
        self._slots: dict[CommentId, int] = {}
        self._p_spam = np.full(max_remembered, np.nan, dtype=np.float32)
        self._next = 0

    def remember(self, traits: Traits, campaign_id: str | None) -> None:
        """Remember a comment, `campaign_id` None if it is single so far, and forget the oldest.

        One that is remembered already gets the new traits and campaign.
        """
        known = self._slots.get(traits.comment_id)
        if known is not None:
            self._campaigns[known] = campaign_id
            self._p_spam[known] = _number_of(traits.p_spam)
            self._vectors.put(known, traits.embedding, traits.space)
            return
        slot = self._take_slot()
        self._ids[slot] = traits.comment_id
        self._campaigns[slot] = campaign_id
        self._slots[traits.comment_id] = slot
        self._p_spam[slot] = _number_of(traits.p_spam)
        self._keys.put(slot, [*traits.copies, *_addresses_of(traits), *_names_of(traits)])
        self._vectors.put(slot, traits.embedding, traits.space)

    def forget(self, comment_id: CommentId) -> None:
        """Forget a comment, as when a person had it erased; one that is not known is no error."""
        slot = self._slots.pop(comment_id, None)
        if slot is not None:
            self._ids[slot] = None
            self._campaigns[slot] = None
            self._keys.clear(slot)
            self._vectors.clear(slot)

    def find(self, traits: Traits) -> Found | None:
        """Return a remembered comment of the same campaign, or None; never the comment itself.

        Of several the one with most in common, then one that has a campaign, then the newest.
        """
        slot = self._best_holder(traits.copies, traits.comment_id)
        if slot is not None:
            return self._found(slot)
        p_spam = _number_of(traits.p_spam)
        slot = self._best_holder(_addresses_of(traits), traits.comment_id)
        if slot is None and _sells(p_spam):
            slot = self._best_namesake(traits)
        if slot is not None:
            return self._found(slot)
        if not _sells(p_spam):
            return None
        # One of two comments that mean the same is surely spam.
        is_sure = p_spam >= SURE_P_SPAM
        slot = self._vectors.nearest(
            traits.embedding,
            traits.space,
            least=MIN_COSINE_ALONE,
            except_slot=self._slots.get(traits.comment_id),
            p_spam=self._p_spam,
            least_p_spam=SELLS_P_SPAM if is_sure else SURE_P_SPAM,
        )
        return None if slot is None else self._found(slot)

    def _best_holder(self, keys: Iterable[str], except_id: CommentId) -> int | None:
        shared: Counter[int] = Counter()
        for key in keys:
            shared.update(self._sellers(key, except_id))
        return self._best(shared, shared) if shared else None

    def _sellers(self, key: str, except_id: CommentId) -> Sequence[int]:
        """Return the selling holders of a key; none if too many of its holders look sincere."""
        holders = self._keys.holders(key, at_most=_CANDIDATES)
        holders = [slot for slot in holders if self._ids[slot] not in (None, except_id)]
        sincere = sum(self._p_spam[slot] < LOW_P_SPAM for slot in holders)
        if sincere > _MAX_SINCERE_SHARE * len(holders):
            return ()
        return [slot for slot in holders if _sells(self._p_spam[slot])]

    def _best_namesake(self, traits: Traits) -> int | None:
        """Return the best comment that shares a name and is about the same, if one is."""
        shared: Counter[int] = Counter()
        for name in _names_of(traits):
            holders = self._sellers(name, traits.comment_id)
            campaigns = {self._campaigns[s] or self._ids[s] for s in holders}
            if len(campaigns) <= _MAX_CAMPAIGNS_OF_A_NAME:
                shared.update(holders)
        slots = [s for s in shared if self._is_about(s, traits, n_names=shared[s])]
        return self._best(slots, shared) if slots else None

    def _is_about(self, slot: int, traits: Traits, *, n_names: int) -> bool:
        cosine = self._vectors.cosine(slot, traits.embedding, traits.space)
        if cosine is None:
            return n_names >= _NAMES_WITHOUT_MEANING
        return cosine >= MIN_COSINE_WITH_NAME

    def _best(self, slots: Iterable[int], shared: Counter[int]) -> int:
        def rank(slot: int) -> tuple[int, bool, int]:
            # The last number is higher for what was remembered later.
            age = (slot - self._next) % self._max_remembered
            return shared[slot], self._campaigns[slot] is not None, age

        return max(slots, key=rank)

    def _found(self, slot: int) -> Found:
        comment_id = self._ids[slot]
        if comment_id is None:
            raise LookupError("an empty slot was found")
        return Found(comment_id=comment_id, campaign_id=self._campaigns[slot])

    def _take_slot(self) -> int:
        slot = self._next
        self._next = (slot + 1) % self._max_remembered
        if slot == len(self._ids):
            self._ids.append(None)
            self._campaigns.append(None)
        leaving = self._ids[slot]
        if leaving is not None:
            del self._slots[leaving]
        return slot


def _number_of(p_spam: float | None) -> float:
    """Return NaN for an unknown p_spam: it is neither below nor above anything."""
    return np.nan if p_spam is None else p_spam


def _sells(p_spam: float) -> bool:
    return not p_spam < SELLS_P_SPAM


def _addresses_of(traits: Traits) -> list[str]:
    return sorted(target for target in traits.targets if not is_name(target))


def _names_of(traits: Traits) -> list[str]:
    return sorted(target for target in traits.targets if is_name(target))
