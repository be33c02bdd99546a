"""Imports are rewritten for the wheel; an ambiguous one is refused."""

import pytest

from build_wheel import rewrite


def rewritten(code):
    return rewrite(code.encode(), "room.py").decode()


@pytest.mark.parametrize(
    "code",
    [
        "from {}service import wiring\n",
        "if x:\n    from {}training.fit import (\n        a,\n    )\n",
        "def f():\n\tfrom {}service.ids import new_id; return new_id\n",
    ],
)
def test_an_import_of_ours_is_one_from_below_slopsieve(code):
    assert rewritten(code.format("")) == code.format("slopsieve.")


@pytest.mark.parametrize(
    "code",
    [
        "from . import models\n",
        "import services\n",
        "text = 'from service import wiring'\n",
        '"""Words.\n\nfrom service import wiring\n"""\n',
        "raise Error from service\n",
        "x = 'ä\u2028'; y = models.z\n",
    ],
)
def test_whatever_else_looks_like_one_stays_as_it_is(code):
    assert rewritten(code) == code


@pytest.mark.parametrize("code", ["import service\n", "import os, models.names as n\n"])
def test_an_import_that_binds_a_rooms_name_is_refused(code):
    with pytest.raises(ValueError, match=r"room\.py:1: write `from … import …`"):
        rewritten(code)
