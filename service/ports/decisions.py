"""Decisions on comments, one by one and many in one act."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from service.domain.case import Case
from service.domain.delivery import Delivery

# What sites are to be told of cases as they stand. A store calls it within a transaction, perhaps
# more than once: it must ask no store for anything.
Tell = Callable[[Sequence[Case]], Sequence[Delivery]]
