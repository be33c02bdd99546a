"""Computes in bfloat16 where the device has instructions for it, else in float32."""

from __future__ import annotations

from functools import cache

import torch

from models.quiet_openvino import ov


def short_numbers(device: torch.device) -> torch.autocast:
    """Return a context in which a network's products are in bfloat16, if that is no detour."""
    enabled = device.type != "cpu" or _cpu_has_bfloat16()
    return torch.autocast(device.type, torch.bfloat16, enabled=enabled)


@cache
def _cpu_has_bfloat16() -> bool:
    """Say whether this CPU computes in bfloat16; torch does so anyhow, ten times slower."""
    return "BF16" in ov.Core().get_property("CPU", "OPTIMIZATION_CAPABILITIES")
