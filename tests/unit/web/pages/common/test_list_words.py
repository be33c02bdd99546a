"""Whatever is wrong with a new entry is said in a sentence of its own, for translators to find."""

from __future__ import annotations

import pytest

from service.domain.errors import Problem
from service.domain.list_entry import Effect, EntryKind
from service.domain.sender import SenderSecrets
from service.moderation.admin.entry_values import recognise
from service.web.pages.common.list_words import EFFECT_IN_WORDS, KIND_IN_WORDS, problems_in_words
from tests.behaviour.test_site_lists import WRONG_VALUES

SECRETS = SenderSecrets(present=b"a secret for tests, long enough")


@pytest.mark.parametrize(("kind", "value", "_problem"), WRONG_VALUES)
def test_each_wrong_value_has_a_sentence(kind, value, _problem):
    wrong = recognise(kind, value, SECRETS)

    assert isinstance(wrong, Problem)
    assert problems_in_words([wrong])["value"] != f"{wrong.problem}; {wrong.remedy}."


def test_a_problem_that_nobody_put_into_words_is_said_all_the_same():
    wrong = Problem(field="value", problem="is odd", remedy="even it out")

    assert problems_in_words([wrong]) == {"value": "is odd; even it out."}


def test_every_kind_and_effect_has_a_name():
    assert set(KIND_IN_WORDS) == set(EntryKind)
    assert set(EFFECT_IN_WORDS) == set(Effect)
