"""Makes the data folder of version 1.0.0 (commit b85cd85) that the upgrade test begins with.

Run it in a checkout of that commit, with its packages:

    python PATH/TO/make_data_folder.py --out PATH/TO/slopsieve-1.0.0.tar.xz

It starts that version on a scratch folder, posts comments of `data/` and decides on some of them
over the API, adds a site, an account and list entries by the commands, and puts one made-up row
into each table that later versions drop. The archive holds the database and the secret key.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import sqlite3
import subprocess
import sys
import tarfile
import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

COMMENTS = 48
DROPPED_LATER = (
    *("saved_views", "opinions", "back_scorings", "back_scoring_chunks", "traffic_due"),
    *("asides", "sender_notes", "reminders", "rings"),
)
SLOPSIEVE = [sys.executable, "-c", "from service.cli import main; main()"]


def main() -> None:
    """Make the archive."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    out = parser.parse_args().out.resolve()
    with tempfile.TemporaryDirectory() as scratch:
        data = Path(scratch, "data")
        environment = os.environ | {"SLOPSIEVE_DATA_DIR": str(data), "SLOPSIEVE_AUDIT_SHARE": "0.2"}
        use(environment, data)
        fill_tables(data / "slopsieve.db")
        with tarfile.open(out, "w:xz") as archive:
            for path in (data / "slopsieve.db", data / "secret.key"):
                archive.add(path, arcname=path.name)


def use(environment: dict[str, str], data: Path) -> None:
    """Run the service, post comments and decide on a third of them."""
    process = subprocess.Popen(
        [*SLOPSIEVE, "up", "--port", "0", "--json"], env=environment, stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    try:
        up = json.loads(process.stdout.readline())
        for command in (
            ["sites", "add", "Second blog"],
            ["users", "add", "mara", "--role", "moderator"],
            ["lists", "add", "block", "domain", "casino-palace.com", "--reason", "spam"],
            ["lists", "add", "allow", "email", "ann@mail.example", "--reason", "a regular"],
            ["callbacks", "set", "Second blog", "https://blog.example/slopsieve"],
            ["hooks", "add", "Second blog", "standard"],
        ):
            subprocess.run([*SLOPSIEVE, *command], env=environment, check=True)
        rows = [
            json.loads(line) for line in Path("data/authored-t2.jsonl").read_text().splitlines()
        ]
        spam = [row for row in rows if row["label"] == "spam" and row["campaign"]][: COMMENTS // 2]
        ham = [row for row in rows if row["label"] == "ham"][: COMMENTS // 2]
        for number, row in enumerate(spam + ham):
            kept = call(up, "/v1/comments?wait=15", body_of(row, number))
            if number % 3 == 0:
                ruling = "reject" if row["label"] == "spam" else "approve"
                call(up, f"/v1/comments/{kept['id']}/decision", {"ruling": ruling})
        # Campaigns, histories and the search index follow behind.
        time.sleep(20)
    finally:
        process.terminate()
        process.wait(60)


def body_of(row: dict[str, Any], number: int) -> dict[str, Any]:
    """Return a comment as the API takes it."""
    return {
        "site_comment_id": f"old-{number}",
        "text": row["text"],
        "post": {"url": f"https://blog.example/{row['post_id']}", "title": row["post_title"]},
        "author": {"name": row["author_name"], "email": row["author_email"]},
        "address": row["user_ip"],
    }


def call(up: dict[str, Any], path: str, body: dict[str, Any]) -> dict[str, Any]:
    """Post to the API and return its answer."""
    connection = http.client.HTTPConnection(urlsplit(up["url"]).netloc, timeout=60)
    headers = {"Authorization": f"Bearer {up['site_key']}", "Content-Type": "application/json"}
    connection.request("POST", path, json.dumps(body), headers)
    answer = connection.getresponse()
    found: dict[str, Any] = json.load(answer)
    connection.close()
    if answer.status >= http.client.BAD_REQUEST:
        sys.exit(f"{path} answered {answer.status}")
    return found


def fill_tables(path: Path) -> None:
    """Put one row of made-up values into each table that later versions drop, where it is empty."""
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("PRAGMA foreign_keys = ON")
        for table in DROPPED_LATER:
            if database.execute(f'SELECT * FROM "{table}"').fetchone():  # noqa: S608  # our names
                continue
            known = {}
            for *_, other, name, column, _, _, _ in database.execute(
                f'PRAGMA foreign_key_list("{table}")'
            ).fetchall():
                query = f'SELECT "{column}" FROM "{other}"'  # noqa: S608  # our names
                known[name] = database.execute(query).fetchone()[0]
            columns = database.execute(f'PRAGMA table_info("{table}")').fetchall()
            values = [known.get(name) or made_up(kind) for _, name, kind, *_ in columns]
            marks = ", ".join("?" * len(values))
            row = f'INSERT INTO "{table}" VALUES ({marks})'  # noqa: S608  # our names
            database.execute(row, values)
        database.execute("VACUUM")


def made_up(kind: str) -> object:
    """Return a value that fits a column of this type."""
    if "JSON" in kind:
        return "[]"
    if any(word in kind for word in ("INT", "BOOL")):
        return 1
    if any(word in kind for word in ("FLOAT", "NUMERIC", "REAL", "DOUBLE")):
        return 0.5
    return b"made up" if "BLOB" in kind else "made up"


if __name__ == "__main__":
    main()
