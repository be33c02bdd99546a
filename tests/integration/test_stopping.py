"""Told to stop, each process ends what it has in hand, leaves nothing behind and says 0."""

import base64
import signal
import socket
import time
from contextlib import closing
from http.client import HTTPConnection

import pytest

from service.domain.decision import Ruling
from service.domain.delivery import DeliveryState, Endpoint
from service.domain.retraining import Retraining, RetrainingOptions, RetrainingState
from service.moderation.decisions import decide_comment
from service.moderation.judging import judge_batch
from service.moderation.retraining import ask_retraining
from service.tasks.broker import open_client
from service.tasks.heartbeat import BACKGROUND, live_workers
from tests.commands import until
from tests.factories import put_endpoint
from tests.integration.installation import ODD, START_SECONDS
from tests.runs import REPORT, play_training
from tests.servers import free_port
from tests.sites import Site, with_status

BACKGROUND_PROCESS = "service.processes.background"
STARTED = "background started"
# What the supervisor gives the slowest part.
STOP_SECONDS = 30
SECRET = "whsec_" + base64.b64encode(b"a secret of thirty-two characters").decode()


def test_a_dispatcher_told_to_stop_ends_what_is_under_way_and_tells_nobody_twice(
    install, monkeypatch
):
    # Whoever listened to this would reach nobody.
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{free_port()}")
    installation = install()
    slow = with_status(204, body=b"")

    def after_a_while(received):
        time.sleep(2)
        return slow(received)

    with closing(Site(answer=after_a_while)) as site:
        settings = {
            "callback_plain_http": "true",
            "callback_allow": "127.0.0.1/32",
            "callback_ports": str(site.port),
        }
        endpoint = Endpoint(site_id=installation.site.id, url=site.url(), secrets=(SECRET,))
        put_endpoint(installation.services.endpoints, endpoint)
        process = installation.start(BACKGROUND_PROCESS, says=STARTED, **settings)
        judge_batch(installation.submit(["Thank you."]), installation.services)
        until(
            lambda: installation.services.delivery_queue.wake() or site.received,
            seconds=START_SECONDS,
        )
        process.send_signal(signal.SIGTERM)
        code = process.wait(STOP_SECONDS)

        [delivery] = installation.services.deliveries.recent(state=None, site_id=None, limit=10)
        assert code == 0
        assert delivery.state is DeliveryState.DELIVERED
        assert len(site.received) == 1


@pytest.mark.parametrize("kind", ["worker", "background"])
def test_a_process_told_to_stop_before_it_takes_work_ends_in_order(install, kind):
    process = install().start(ODD, "told-early", kind, says=f"{kind} stopped")

    assert process.wait(STOP_SECONDS) == 0


def test_a_background_process_ends_soon_and_leaves_no_sign_no_metrics_and_no_port(install):
    installation, port = install(), free_port()
    folder = installation.wired.folder.metrics_folder

    def sockets() -> list[str]:
        return sorted(path.name for path in folder.glob("*.sock"))

    address = f"127.0.0.1:{port}"
    process = installation.start(BACKGROUND_PROCESS, says=STARTED, metrics_address=address)
    with closing(open_client(installation.valkey_url)) as client:
        [sign] = until(lambda: live_workers(client, BACKGROUND))
        until(lambda: sockets() == ["background-0.sock"])
        until(lambda: _answers(port))
        process.send_signal(signal.SIGINT)

        assert process.wait(STOP_SECONDS) == 0
        assert sign.name.endswith(f":{process.pid}")
        assert live_workers(client, BACKGROUND) == []
    assert sockets() == []
    assert not _answers(port)


def _answers(port: int) -> bool:
    try:
        return _scrape(port, {}) == 200
    except ConnectionRefusedError:
        return False


@pytest.fixture
def api(install, valkey):
    port = free_port()
    installation = install(valkey_url=valkey.url)
    return installation.start("service.processes.app", says="api started", port=str(port)), port


def test_who_comes_through_a_proxy_on_this_machine_is_refused_its_metrics(api):
    _, port = api
    via_proxy = {
        "X-Forwarded-For": "203.0.113.9",
        "Forwarded": "for=203.0.113.9",
        "X-Real-IP": "203.0.113.9",
        "Via": "1.1 proxy",
    }

    assert _scrape(port, {"Accept": "text/plain"}) == 200
    assert [_scrape(port, {name: said}) for name, said in via_proxy.items()] == [401] * 4


def test_connections_that_wait_in_the_line_at_the_order_to_stop_are_served(api):
    process, port = api
    request = b"GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
    # While it stands still the kernel takes connections in for it.
    process.send_signal(signal.SIGSTOP)
    waiting = [socket.create_connection(("127.0.0.1", port)) for _ in range(20)]
    for connection in waiting:
        connection.sendall(request)

    process.send_signal(signal.SIGTERM)
    process.send_signal(signal.SIGCONT)

    assert [_answer(connection) for connection in waiting] == [b"HTTP/1.1 200 OK"] * 20
    assert process.wait(30) == 0


def _scrape(port: int, headers: dict[str, str]) -> int:
    with closing(HTTPConnection("127.0.0.1", port, timeout=30)) as connection:
        connection.request("GET", "/metrics", headers=headers)
        return connection.getresponse().status


def _answer(connection: socket.socket) -> bytes:
    connection.settimeout(30)
    with connection:
        try:
            return connection.recv(65_536).partition(b"\r\n")[0]
        except ConnectionError as error:
            return type(error).__name__.encode()


def test_a_trainer_retrains_when_asked_and_goes_on_after_it_was_stopped(
    install, tmp_path, monkeypatch
):
    told = play_training(tmp_path / "told", monkeypatch)
    installation = install()
    services = installation.services
    [comment_id] = installation.submit(["Cheap boilers at https://boilers.example"])
    decide_comment(comment_id, Ruling.REJECT, services, decided_by="Ola")
    (told / "waits").touch()
    # Nothing is due: what begins is what was asked for.
    lately = Retraining(
        id="rtr_1", asked_by="Ola", asked_at=services.clock(), state=RetrainingState.ENDED
    )
    services.retrainings.put(lately)

    def start_trainer():
        return installation.start(ODD, "background", says=STARTED, retrain_every_days="30")

    first = start_trainer()
    until(services.trainer_queue.has_listener)
    asked = ask_retraining(services, by="Olive", options=RetrainingOptions())
    until(lambda: services.retrainings.get(asked.id).step == "fit", seconds=90)
    alive_while_training = services.trainer_queue.has_listener()
    first.send_signal(signal.SIGTERM)
    code = first.wait(30)
    stopped = services.retrainings.get(asked.id)
    (told / "waits").unlink()
    start_trainer()
    until(lambda: services.retrainings.get(asked.id).state is RetrainingState.ENDED, seconds=90)

    ended = services.retrainings.get(asked.id)
    assert (code, alive_while_training) == (0, True)
    assert stopped.state is RetrainingState.STOPPED
    assert (ended.asked_by, ended.decisions, ended.waits) == ("Olive", 1, True)
    assert ended.version == REPORT.version
