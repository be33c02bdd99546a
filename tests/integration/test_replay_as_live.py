"""What `slopsieve replay` says would have happened is what happens, line by line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from service.stores.taught import RECHECK_SECONDS
from tests.integration.installation import until
from tests.integration.test_supervisor import ROOT, Up, ready, start, stop

N_COMMENTS = 12
_FIRST = datetime(2026, 1, 5, tzinfo=UTC)
# What a sender's history could speak of is left out: the replay has none.
_SENDER = ("user_ip", "author_email", "author_url")


def archive() -> list[dict[str, Any]]:
    """Return comments of both labels, a day apart, that are in no campaign."""
    lines = (ROOT / "data" / "authored-t9.jsonl").read_text().splitlines()
    rows = [row for row in map(json.loads, lines) if row["campaign"] is None]
    by_label = {label: [row for row in rows if row["label"] == label] for label in ("spam", "ham")}
    chosen = [row for pair in zip(*by_label.values(), strict=False) for row in pair][:N_COMMENTS]
    return [
        {key: value for key, value in row.items() if key not in _SENDER}
        | {"author_name": f"Reader {number}", "date": f"{_FIRST + timedelta(days=number):%Y-%m-%d}"}
        for number, row in enumerate(chosen)
    ]


def test_replay_tells_of_every_comment_what_happens_to_it_live_to_the_last_digit(tmp_path):
    rows = archive()
    file, data = tmp_path / "blog.jsonl", tmp_path / "data"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    settings = {"SLOPSIEVE_AUDIT_SHARE": "0", "SLOPSIEVE_DATA_DIR": str(data)}
    process = start(data, tmp_path / "log", "--json", **settings)
    try:
        up = ready(process, tmp_path / "log")
        replayed = replay(file, tmp_path / "out", settings)
        live = play(up, rows, replayed)
    finally:
        stop(process)

    told = [one["learning"] for one in replayed]
    assert [one["id"] for one in replayed] == [row["id"] for row in rows]
    assert 0 < sum(one["asked"] for one in replayed) <= N_COMMENTS
    assert any(one["learning"] != one["frozen"] for one in replayed)
    assert live == told


def replay(file: Path, out: Path, settings: dict[str, str]) -> list[dict[str, Any]]:
    subprocess.run(
        [
            *(sys.executable, "-c", "from service.cli import main; main()"),
            *("replay", str(file), "--out", str(out)),
        ],
        cwd=ROOT,
        env=os.environ | settings,
        stdout=subprocess.DEVNULL,
        check=True,
    )
    return [json.loads(line) for line in (out / "replay.jsonl").read_text().splitlines()]


def play(up: Up, rows: list[dict[str, Any]], replayed: list[dict[str, Any]]) -> list[Any]:
    """Post every comment, decide where the replay's owner was asked; return what was found."""
    found = []
    for row, told in zip(rows, replayed, strict=True):
        body = {
            "text": row["text"],
            "site_comment_id": row["id"],
            "post": {"title": row["post_title"], "excerpt": row["post_excerpt"]},
            "author": {"name": row["author_name"]},
        }
        path = f"/v1/comments/{up.post('/v1/comments', body)[1]['id']}"

        def verdict(path: str = path) -> dict[str, Any]:
            return up.get(path, key=up.said["site_key"])[1]["verdict"]

        found.append({key: until(verdict)[key] for key in ("p_spam", "score", "outcome")})
        if told["asked"]:
            ruling = "reject" if row["label"] == "spam" else "approve"
            up.post(f"{path}/decision", {"ruling": ruling, "decided_by": "test"})
            # The worker looked before this decision, and looks again after so long.
            time.sleep(RECHECK_SECONDS)
    return found
