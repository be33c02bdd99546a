"""The clock."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

Clock = Callable[[], datetime]


"""Returns the present moment, in UTC and time-zone aware."""
