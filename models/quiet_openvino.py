"""Imports OpenVINO without its telemetry. Import OpenVINO only from here.

The package `openvino-telemetry` sends usage reports unless a file in the home folder says no.
OpenVINO works without that package, so this module makes it impossible to import.
"""

import sys

# Python raises an error on imports of a module that is None here (importlib's documentation).
sys.modules["openvino_telemetry"] = None  # type: ignore[assignment]  # typeshed allows only modules

import openvino as ov  # noqa: E402  # after the line above

__all__ = ["ov"]
