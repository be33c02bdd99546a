"""Processes of one data folder show what each counted, in one text that Prometheus reads."""

import contextlib
import threading
from http.client import HTTPConnection

import pytest
from prometheus_client import CollectorRegistry, Counter
from prometheus_client.metrics_core import Metric
from prometheus_client.parser import text_string_to_metric_families

from service.watching import exposition
from service.watching.exposition import Exposition, MetricsSocket, Part, Readings, as_metric
from tests.commands import until
from tests.fakes import Seconds
from tests.log_lines import log_lines
from tests.servers import free_port


@pytest.fixture
def show(tmp_path):
    """Return a function that makes a process's exposition, with one counter at this value."""
    with contextlib.ExitStack() as stack:

        def make(process: str, value: float = 1, *, folder=tmp_path / "metrics"):
            registry = CollectorRegistry()
            counter = Counter("things", "Things that happened.", ["kind"], registry=registry)
            counter.labels("odd").inc(value)
            made = Exposition(process, registry, folder)
            stack.callback(made.close)
            return made

        yield make


def samples(text: bytes) -> dict[tuple[str, ...], float]:
    families = text_string_to_metric_families(text.decode())
    return {
        (s.name, s.labels["process"], s.labels["slot"]): s.value
        for family in families
        for s in family.samples
    }


def test_one_text_shows_every_process_of_the_folder(show):
    show("worker", 2)
    show("worker", 3)

    found = samples(show("api", 5).text())

    assert found == {
        ("things_total", "api", "0"): 5,
        ("things_total", "worker", "0"): 2,
        ("things_total", "worker", "1"): 3,
    }


def test_a_successor_takes_the_slot_of_one_that_ended(show, tmp_path):
    first = show("worker", 2)
    first.close()
    # As a killed process leaves it.
    (tmp_path / "metrics" / "worker-0.sock").touch()

    show("worker", 9)

    assert samples(show("api").text())[("things_total", "worker", "0")] == 9


def test_where_no_socket_can_be_made_a_process_still_shows_itself(show, tmp_path):
    (tmp_path / "file").touch()

    alone = show("api", folder=tmp_path / "file")

    assert samples(alone.text()) == {("things_total", "api", "0"): 1}


def test_the_sockets_lie_where_only_their_owner_may_look(tmp_path):
    with contextlib.closing(MetricsSocket(tmp_path / "metrics", "worker", str)):
        assert (tmp_path / "metrics").stat().st_mode & 0o777 == 0o700


def ask(port: int, path: str = "/metrics", **headers: str) -> tuple[int, str]:
    with contextlib.closing(HTTPConnection("127.0.0.1", port, timeout=5)) as connection:
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()


def listening(exposition: Exposition, port: int = 0, token: str | None = None) -> int:
    exposition.listen(("127.0.0.1", port), token=token)
    return until(lambda: exposition._port.bound)[1]


def test_on_its_port_a_process_serves_those_alone_who_send_its_token(show):
    port = listening(show("worker", 8), token="a token of thirty-two characters")

    status, text = ask(port, Authorization="Bearer a token of thirty-two characters")

    assert status == 200
    assert 'things_total{kind="odd",process="worker",slot="0"} 8.0' in text
    assert ask(port, "/")[0] == 404
    assert ask(port)[0] == 401
    assert ask(port, Authorization="Bearer a token of some other characters")[0] == 401


def test_a_port_that_is_taken_is_had_when_it_gets_free(show):
    port = free_port()
    first, second = show("worker", 1), show("worker", 2)
    listening(first, port)
    second.listen(("127.0.0.1", port), token=None)

    first.close()

    assert until(lambda: second._port.bound) == ("127.0.0.1", port)
    # Without a token whoever may reach the port is served.
    assert "2.0" in ask(port)[1]


class Source:
    """A part that can be told to fail, to hang or to take long; counts how often it was asked."""

    def __init__(self, seconds: Seconds) -> None:
        self.seconds = seconds
        self.asked = 0
        self.takes = 0.0
        self.fails = False
        self.released = threading.Event()
        self.released.set()

    def __call__(self) -> list[Metric]:
        self.asked += 1
        self.seconds.now += self.takes
        assert self.released.wait(20)
        if self.fails:
            raise ConnectionError("redis://:hunter2@127.0.0.1")
        return [as_metric("answers", "How often.", self.asked, {})]


@pytest.fixture
def source(seconds: Seconds) -> Source:
    return Source(seconds)


@pytest.fixture
def looked(source, seconds):
    """Return a function that looks and returns the numbers by name and part."""
    with contextlib.closing(
        Readings({"source": Part(read=source, every_seconds=5.0)}, monotonic=seconds)
    ) as made:
        yield lambda: {
            (s.name, s.labels.get("part", "")): s.value for m in made.look() for s in m.samples
        }
        source.released.set()


def test_however_often_somebody_looks_a_part_is_asked_at_its_pace(looked, source, seconds):
    for seconds.now in (0, 1, 4.9, 5, 6):
        found = looked()

    assert source.asked == 2
    assert found == {("slopsieve_part_read", "source"): 1, ("answers", ""): 2}


def test_a_part_that_fails_says_so_and_its_last_numbers_last_a_minute(
    looked, source, seconds, caplog
):
    looked()
    source.fails = True
    seconds.now += 10
    soon = looked()
    seconds.now += 60
    late = looked()

    assert soon == {("slopsieve_part_read", "source"): 0, ("answers", ""): 1}
    assert late == {("slopsieve_part_read", "source"): 0}
    assert "hunter2" not in log_lines(caplog)
    assert "error=ConnectionError at=exposition.py:" in log_lines(caplog)


def test_a_part_that_hangs_is_not_waited_for_nor_asked_again(looked, source, seconds, monkeypatch):
    monkeypatch.setattr(exposition, "_ANSWER_SECONDS", 0.05)
    source.released.clear()

    found = [looked()]
    seconds.now += 100
    found.append(looked())

    assert found == [{("slopsieve_part_read", "source"): 0}] * 2
    assert source.asked == 1


def test_a_part_that_costs_much_is_asked_seldom(looked, source, seconds):
    source.takes = 2.0

    for _ in range(10):
        looked()
        seconds.now += 5

    assert source.asked == 2
