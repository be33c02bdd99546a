"""Gives OpenVINO without its telemetry: nothing about a comment's machine leaves the machine.

The package `openvino-telemetry` reports use to its makers unless a file in the home folder says
no. Where it can't be imported, OpenVINO does without; so it is made impossible to import. Import
OpenVINO from here only.
"""

from __future__ import annotations

import sys

# None is how Python marks a module whose import must fail (importlib's documentation).
sys.modules["openvino_telemetry"] = None  # type: ignore[assignment]  # typed as if no import could fail

import openvino as ov  # noqa: E402  # only now

__all__ = ["ov"]
