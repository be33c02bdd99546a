"""The network answers each window alone, with the same bits every time."""

import re
from pathlib import Path

import pytest

from models import int8
from models.engine import Engine, Rest
from models.inputs import ModelInput
from models.transformer import NETWORK_FILE, REST_FILE
from tests.commands import ROOT, run_python
from tests.encoders import small_network
from training.network.export import export_network


@pytest.fixture(scope="module")
def two_parts(tmp_path_factory) -> Path:
    """Return the file of the first part of a network; the rest lies beside it."""
    folder = tmp_path_factory.mktemp("parts")
    export_network(small_network(exits=(1, 2)), folder, short=False)
    return folder / NETWORK_FILE


@pytest.fixture(scope="module")
def windows(tokeniser):
    """Return windows of many lengths, some of which are padded to the same one."""
    texts = ["", "thanks", "buy now at https://shop.example/x", "谢谢", "word " * 400]
    texts += [f"No. {n}: " + "green valve " * n for n in range(12)]
    return [w for text in texts for w in tokeniser.windows(ModelInput(text=text))]


@pytest.mark.parametrize("kept_open", [0.0, 0.5, 1.0])
def test_the_rest_reads_what_the_first_part_leaves_open(two_parts, windows, kept_open):
    first = [one.spam for one in Engine(two_parts).read(windows)]
    below = sorted(first)[int(kept_open * (len(first) - 1))] if kept_open else -1e9
    rest = Rest(network=two_parts.with_name(REST_FILE), above=-1e9, below=below)
    always = Rest(network=two_parts.with_name(REST_FILE), above=-1e9, below=1e9)

    answers = Engine(two_parts, rest=rest).read(windows)

    last = [one.spam for one in Engine(two_parts, rest=always).read(windows)]
    expected = [b if a < below else a for a, b in zip(first, last, strict=True)]
    assert [one.spam for one in answers] == expected
    assert len({one.pooled is None for one in answers}) == 1


def test_the_rests_file_takes_no_memory_once_it_has_run(tmp_path, windows):
    export_network(small_network(exits=(1, 2)), tmp_path, short=False)
    rest = Rest(network=tmp_path / REST_FILE, above=-1e9, below=1e9)
    engine = Engine(tmp_path / NETWORK_FILE, rest=rest)

    engine.read(windows)

    maps = Path("/proc/self/smaps").read_text("utf-8")
    file = re.escape(str(rest.network.with_suffix(".bin")))
    assert re.findall(rf" {file}\n(?:.*\n)*?Rss: +(\d+) kB", maps) == ["0"]
    assert len(engine.read(windows)) == len(windows)


def test_a_network_that_hands_nothing_on_has_no_rest(tiny_network, two_parts):
    rest = Rest(network=two_parts.with_name(REST_FILE), above=-1.0, below=1.0)

    with pytest.raises(ValueError, match="hands nothing on"):
        Engine(tiny_network, rest=rest)


def test_more_threads_change_no_answer(tiny_engine, windows, tiny_network):
    assert Engine(tiny_network, threads=3).read(windows) == tiny_engine.read(windows)


def test_another_network_is_refused(tmp_path, tiny_network):
    renamed = tiny_network.read_text("utf-8").replace('"promotion"', '"weather"')
    (tmp_path / "network.xml").write_text(renamed, "utf-8")
    (tmp_path / "network.bin").write_bytes(tiny_network.with_suffix(".bin").read_bytes())

    with pytest.raises(ValueError, match="not the ones expected"):
        Engine(tmp_path / "network.xml")


_SIGNALLED = """
import os, signal, sys, threading
from pathlib import Path
from models.engine import Engine
seen = []
signal.signal(signal.SIGTERM, lambda *_: seen.append("handled"))
held = [Engine(Path(sys.argv[1]))]
thread = threading.Thread(target=held.clear)
thread.start()
thread.join()
os.kill(os.getpid(), signal.SIGTERM)
print(*seen)
"""


def test_a_signal_is_handled_after_another_thread_let_go_of_the_last_engine(tiny_network):
    ended = run_python("-c", _SIGNALLED, str(tiny_network), cwd=ROOT)

    assert (ended.returncode, ended.stdout) == (0, "handled\n"), ended.stderr


@pytest.mark.parametrize("holds", [True, False])
def test_products_are_in_float32_where_int8_sums_do_not_hold(holds, tiny_network, monkeypatch):
    monkeypatch.setattr(int8, "_adds_up_exactly", lambda _core: holds)

    ops = Engine(tiny_network)._first._compiled.get_runtime_model().get_ops()

    computed_in = {
        op.get_rt_info()["runtimePrecision"].value
        for op in ops
        if op.get_rt_info()["layerType"].value == "FullyConnected"
    }
    assert bool(computed_in & {"i8", "u8"}) is holds
