"""Numbers are short where that saves time, and only there."""

from __future__ import annotations

import pytest
import torch

from training.network import short_numbers


@pytest.mark.parametrize(("has", "kind"), [(True, torch.bfloat16), (False, torch.float32)])
def test_products_are_short_where_the_cpu_has_instructions_for_them(has, kind, monkeypatch):
    monkeypatch.setattr(short_numbers, "cpu_has_bfloat16", lambda: has)
    ones = torch.ones(2, 2)

    with short_numbers.short_numbers(torch.device("cpu")):
        product = ones @ ones

    assert product.dtype is kind
    assert product.float().tolist() == [[2.0, 2.0], [2.0, 2.0]]
