"""Opens the socket that the API listens on, and returns its address."""

import socket
from contextlib import closing
from http.client import HTTPConnection

from service.settings import Settings
from service.start_error import ExitCode, StartError

BACKLOG = 512
"""The number of connections that may wait for a free thread, or for the API to restart."""

_ANY = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104  # recognised, not bound


def listen(settings: Settings) -> socket.socket:
    """Return a socket that listens at the configured address. Raise `StartError` if it can't."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((settings.host, settings.port))
        listener.listen(BACKLOG)
    except (OSError, UnicodeError) as error:
        listener.close()
        reason = getattr(error, "strerror", None) or "the name cannot be resolved"
        msg = (
            f"cannot listen on {settings.host} port {settings.port}: {reason}; choose others with "
            "--host and --port, or SLOPSIEVE_HOST and SLOPSIEVE_PORT"
        )
        raise StartError(msg, ExitCode.ADDRESS) from None
    return listener


def reachable_address(listener: socket.socket) -> tuple[str, int]:
    """Return a host and port at which this machine reaches the socket."""
    host, port = listener.getsockname()[:2]
    return _ANY.get(host, host), port


def ask(host: str, port: int, path: str) -> tuple[int, bytes]:
    """Return the status and body of the API's response to a GET on this machine.

    Raises `OSError` or `HTTPException` if there is no response.
    """
    with closing(HTTPConnection(_ANY.get(host, host), port, timeout=3.0)) as api:
        api.request("GET", path)
        answer = api.getresponse()
        return answer.status, answer.read()


def base_url(listener: socket.socket) -> str:
    host, port = reachable_address(listener)
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
