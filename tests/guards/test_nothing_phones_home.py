"""No package that reports use to its makers can be loaded by what judges or trains."""

from __future__ import annotations

import subprocess
import sys


def test_the_engine_and_its_tools_do_without_their_telemetry():
    program = """
import sys
import models.engine, training.network.export
from openvino.tools.ovc import telemetry_utils

assert sys.modules["openvino_telemetry"] is None
assert telemetry_utils.tm.__name__ == "openvino.tools.ovc.telemetry_stub"
"""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stderr
