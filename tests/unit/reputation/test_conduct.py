"""What is kept of an account is read again, also where an older release kept more."""

from __future__ import annotations

from service.domain.sender import Conduct
from service.reputation.conduct import conduct_from, steps_of, take_steps
from tests.factories import NOW, make_comment


def test_fields_that_older_releases_kept_are_passed_over():
    fields = {"p": 2, "m": 3, "s0": 270, "q0": 24_300, "s4": 0, "q4": 0}
    take_steps(fields, steps_of(make_comment("The third valve was stuck."), now=NOW))

    assert conduct_from([fields], now=NOW) == Conduct(remarks=1)
