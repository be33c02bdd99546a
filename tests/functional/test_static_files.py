"""Style sheets and scripts: kept for good by browsers, and never an old one on a new page."""

import re

import pytest

from service.web.edge.static_files import static_digest
from tests.fakes import make_services
from tests.functional.moderators import signed_in

FOR_GOOD = "public, max-age=31536000, immutable"


def test_all_that_the_queue_loads_is_kept_for_good():
    client = signed_in(make_services())

    page = client.get("/review").text

    loaded = re.findall(r'(?:href|src)="(/static/[^"]+)"', page)
    assert len(loaded) >= 4
    for address in loaded:
        answer = client.get(address, buffered=True)
        assert (answer.status_code, answer.headers["Cache-Control"]) == (200, FOR_GOOD), address


@pytest.mark.parametrize("address", ["/static/review.js", f"/static/{'0' * 16}/review.js"])
def test_an_address_without_the_present_digest_gives_the_present_file_and_is_asked_anew(
    stranger, address
):
    present = stranger.get(f"/static/{static_digest()}/review.js", buffered=True)

    answer = stranger.get(address, buffered=True)

    assert answer.headers["Cache-Control"] == "no-cache"
    assert answer.data == present.data
    known = {"If-None-Match": answer.headers["ETag"]}
    again = stranger.get(address, headers=known, buffered=True)
    assert again.status_code == 304


@pytest.mark.parametrize(
    "name", ["nothing.css", "../flask_app.py", "%2e%2e/flask_app.py", "//etc/passwd", "a\x00b"]
)
def test_nothing_else_is_found_there_and_no_miss_is_kept(client, name):
    for address in (f"/static/{name}", f"/static/{static_digest()}/{name}"):
        answer = client.get(address, buffered=True)

        assert answer.status_code == 404
        assert "immutable" not in answer.headers["Cache-Control"]


def test_the_digest_changes_with_any_file(tmp_path, monkeypatch):
    digests = {static_digest()}
    monkeypatch.setattr("service.web.edge.static_files._FOLDER", tmp_path)
    for content in ("a {}", "b {}"):
        (tmp_path / "review.css").write_text(content)
        digests.add(static_digest.__wrapped__())

    assert len(digests) == 3
