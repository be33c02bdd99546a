"""No process logs anybody's words, and a comment's id leads from its request to its verdict."""

import json
from contextlib import closing

import pytest

from tests.commands import run_command, until
from tests.functional.hostile import HOSTILE
from tests.integration.test_supervisor import ready, stop
from tests.sites import Site, with_status

# Whoever finds one of these in a log finds somebody's data there.
MARK = "zanzibar"
PERSON = {
    "author": {
        "name": f"{MARK} person",
        "email": f"{MARK}@mail.example",
        "url": f"https://{MARK}.example/me",
    },
    "post": {"url": f"https://{MARK}.example/post", "title": f"{MARK} title"},
    "address": "203.0.113.77",
    "user_agent": f"{MARK} agent",
}


@pytest.fixture(scope="module")
def logged(tmp_path_factory):
    """Run everything, let strangers do their worst; return the log's lines and what was asked."""
    home = tmp_path_factory.mktemp("logs")
    refuses = with_status(500, body=f"{MARK} answer".encode())
    with closing(Site(answer=refuses)) as site:
        callbacks = {
            "SLOPSIEVE_CALLBACK_PLAIN_HTTP": "true",
            "SLOPSIEVE_CALLBACK_ALLOW": "127.0.0.1/32",
            "SLOPSIEVE_CALLBACK_PORTS": str(site.port),
        }
        up = ready(home, SLOPSIEVE_LOG_FORMAT="json", **callbacks)
        try:
            words = ["callbacks", "set", up.said["site_id"], site.url(f"/{MARK}-hook")]
            run_command(*words, "--data-dir", up.said["data_dir"], env=callbacks, code=0)
            ids = _do_their_worst(up)
            until(lambda: site.received, seconds=30)
        finally:
            stop(up.process)
    return (home / "log").read_text().splitlines(), ids


def _do_their_worst(up) -> dict[str, str]:
    key = {"Authorization": f"Bearer {up.said['site_key']}", "Content-Type": "application/json"}
    comments = [{"text": f"{MARK} {text}", **PERSON} for text in HOSTILE.values()]
    status, said = up.post("/v1/comments/batch", {"comments": comments})
    assert status == 200, said
    of_batch = [one["id"] for one in said["results"]]
    one = {"text": f"{MARK} alone https://{MARK}.example", **PERSON}
    named = {"X-Request-Id": "request-of-this-test"}
    alone = up.post("/v1/comments?wait=20", one, **named)[1]["id"]
    ruled = {"ruling": "reject", "decided_by": f"{MARK} site"}
    up.post(f"/v1/comments/{alone}/decision", ruled)
    for path in (f"/v1/comments/{MARK}", f"/{MARK}?q={MARK}", f"/review/search?q={MARK}"):
        up.call("GET", path, **{"User-Agent": MARK, "X-Request-Id": f"{MARK} not sane", **key})
    up.call("POST", "/v1/comments", f'{{"text": {MARK}'.encode(), **key)
    up.call("POST", "/sign-in", f"name={MARK}&password={MARK}".encode())
    up.call("POST", "/1.1/comment-check", f"comment_content={MARK}&api_key={MARK}".encode())
    up.call("GET", "/metrics", Authorization=f"Bearer {MARK}")

    def judged():
        return all(
            up.get(f"/v1/comments/{one}", key=up.said["site_key"])[1]["verdict"]
            for one in of_batch[-3:]
        )

    until(judged, seconds=60)
    return {"alone": alone, "of_batch": of_batch[0]}


def test_every_line_of_every_process_is_one_object(logged):
    lines, _ = logged

    events = [json.loads(line) for line in lines]

    assert all({"time", "level", "event", "process"} <= set(event) for event in events)
    processes = {event["process"] for event in events}
    assert {"api", "worker", "background", "supervisor"} <= processes


def test_nobodys_words_names_addresses_or_links_stand_in_any_line(logged):
    lines, _ = logged

    everything = "\n".join(lines).lower()

    assert len(lines) > 10
    assert MARK not in everything
    assert "203.0.113.77" not in everything
    assert "alert(1)" not in everything
    assert "evil.example" not in everything


def test_a_comments_id_leads_from_its_request_to_its_verdict_and_to_its_site(logged):
    lines, ids = logged
    events = [json.loads(line) for line in lines]

    def of(comment_id):
        return {
            (event["process"], event["event"]): event
            for event in events
            if comment_id == event.get("comment_id") or comment_id in event.get("comment_ids", [])
        }

    alone, of_batch = of(ids["alone"]), of(ids["of_batch"])
    assert alone[("api", "request served")]["request_id"] == "request-of-this-test"
    assert alone[("worker", "comments judged")]["stored"] >= 1
    assert alone[("background", "site was not told")]["status"] == 500
    assert of_batch[("api", "comments came in")]["request_id"]
    assert ("worker", "comments judged") in of_batch
