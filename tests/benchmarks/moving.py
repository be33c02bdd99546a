"""Runs `service/MOVING.md` and the platforms' examples as they stand, and says how long each took.

It needs what `wordpress_plugin.py` needs. A WordPress with 300 comments, some of them in Spam and
others in Pending, is moved through its own pages by a browser, an export of Disqus by commands.
What a person reads and thinks meanwhile is not in the seconds.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import tempfile
import time
import urllib.request
from collections import Counter
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

from service.web.plugins.archive import WORDPRESS, pack_plugin
from tests.benchmarks.wordpress_plugin import Service, WordPress, _await, _install, _log_in
from tests.functional.test_transfer import DISQUS

_SERVICE = Path(__file__).parents[2] / "service"
PAPER = _SERVICE / "MOVING.md"
PLATFORMS = _SERVICE / "web" / "webhooks" / "PLATFORMS.md"
_EXAMPLES = (
    "GitHub (utterances, giscus)",
    "Coral",
    "Mastodon",
    "Discourse",
    "Anyone else: Standard Webhooks",
    "A static site's comment box (Hugo, Jekyll, Eleventy)",
)
_AKISMET = """KEY=$(slopsieve sites add 'Akismet blog' --akismet --json | field akismet_key)
curl -s -d key=$KEY -d blog=https://blog.example/ $HERE/1.1/verify-key
"""
_PROGRAM = """KEY=$(slopsieve sites add 'Program blog' --json | field key)
curl -s "$HERE/v1/comments?wait=5" -H "Authorization: Bearer $KEY" \\
  -H 'Content-Type: application/json' -d '{"text": "Thank you, that worked."}'
slopsieve callbacks set 'Program blog' $BLOG/heard
"""
_COMMENTS = 300
_WRITE = """
foreach ( $given as $at => $row ) {
	wp_insert_comment( wp_slash( array( 'comment_post_ID' => 1, 'comment_author' => $row[0],
		'comment_author_email' => "visitor$at@mail.example", 'comment_content' => $row[1],
		'comment_author_IP' => '198.51.100.7', 'comment_approved' => $row[2] ) ) );
}
echo wp_json_encode( count( $given ) );
"""


def _blocks(heading: str, paper: Path = PAPER) -> list[str]:
    """Return the commands of one part of a paper."""
    part = paper.read_text("utf-8").partition(f"## {heading}\n")[2].partition("\n## ")[0]
    return re.findall(r"```sh\n(.*?)```", part, re.S)


def _blocks_before_all(paper: Path) -> str:
    """Return the commands that stand before a paper's first part."""
    return "".join(
        re.findall(r"```sh\n(.*?)```", paper.read_text("utf-8").partition("\n## ")[0], re.S)
    )


class Run:
    """The parts, one after another."""

    def __init__(self, options: argparse.Namespace, folder: Path, browser: Browser) -> None:
        self._options, self._folder, self._browser = options, folder, browser
        self.wordpress = WordPress(options, folder)
        self.service = Service(folder, self.wordpress.port)

    def print(self, part: str, found: object) -> None:
        """Print what came of a part."""
        print(json.dumps({part: found}, ensure_ascii=False), flush=True)

    def all(self) -> None:
        """Do everything."""
        began = time.monotonic()
        self.service.start()
        self.print("a service, in seconds", round(time.monotonic() - began, 1))
        self.wordpress.start()
        self.print("WordPress", self.wordpress.version)
        self._fill()
        self.print("From Akismet, From CleanTalk", self._from_wordpress())
        self.print("From Disqus", self._from_disqus())
        self.print("From nothing", self._run(_blocks("From nothing")[0])[1])
        self._platforms()

    def _platforms(self) -> None:
        # Coral and Mastodon make their secret themselves.
        (self._folder / "secret.txt").write_text("c" * 32, "utf-8")
        self._run("slopsieve sites add 'Radiator blog'")
        head = _blocks_before_all(PLATFORMS)
        for name in _EXAMPLES:
            said, seconds = self._run(head + _blocks(name, PLATFORMS)[0])
            self.print(name, [seconds, said.strip()[-60:]])
        for name, commands in (("an Akismet client", _AKISMET), ("a program", _PROGRAM)):
            said, seconds = self._run(head + commands)
            self.print(name, [seconds, said.strip()[-60:]])

    def _fill(self) -> None:
        rows = []
        for file in self._options.comments:
            for line in file.read_text("utf-8").splitlines():
                row = json.loads(line)
                if row["label"] in ("ham", "spam"):
                    place = {"spam": "spam", "ham": "1"}[row["label"]]
                    place = "0" if len(rows) % 10 == 9 else place
                    rows.append([row.get("author_name") or "Mara", row["text"], place])
        self.wordpress.run(_WRITE, rows[:_COMMENTS])

    def _run(self, commands: str) -> tuple[str, float]:
        """Run commands in the folder; return what they printed and the seconds."""
        began = time.monotonic()
        done = subprocess.run(
            ["bash", "-e", "-c", commands],
            cwd=self._folder,
            env=self.service.environment | {"HERE": self.service.url, "BLOG": self.wordpress.home},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise SystemExit(done.stdout + done.stderr)
        return done.stdout, round(time.monotonic() - began, 1)

    def _from_wordpress(self) -> dict[str, Any]:
        said, made = self._run(_blocks("From Akismet")[0])
        found = re.search(r"slop_\S+", said)
        assert found, said
        assert (self._folder / "slopsieve.zip").read_bytes() == pack_plugin(WORDPRESS)
        began = time.monotonic()
        page = _log_in(self._browser.new_context(), self.wordpress.home)
        _install(page, self.wordpress.home, self._folder / "slopsieve.zip")
        notices = self._connect(page, found[0])
        installed = round(time.monotonic() - began, 1)
        with page.expect_download() as download:
            page.click("#download")
        download.value.save_as(self._folder / "comments.jsonl")
        rows = (self._folder / "comments.jsonl").read_text("utf-8").splitlines()
        imported, importing = self._run(_blocks("From Akismet")[1])
        waiting = time.monotonic()
        self.service.told["site_key"] = found[0]
        _await("verdicts", lambda: not self._unjudged(), seconds=900)
        judged = round(time.monotonic() - waiting, 1)
        rulings = Counter(str(one.get("status")) for one in map(json.loads, rows))
        self._run(_blocks("From Akismet")[2])
        return {
            "site and zip, in seconds": made,
            "uploaded, activated, connected, in seconds": installed,
            "notices": notices,
            "in the file": dict(rulings),
            "import, in seconds": importing,
            "import said": imported.strip().splitlines(),
            "judged after that, in seconds": judged,
            "mode": self.service.ask("/v1/site")["settings"]["mode"],
        }

    def _connect(self, page: Page, key: str) -> list[str]:
        page.goto(f"{self.wordpress.home}/wp-admin/options-general.php?page=slopsieve")
        page.fill("#slopsieve-address", self.service.url)
        page.fill("#slopsieve-key", key)
        page.click("#submit")
        page.wait_for_url("**settings-updated=true**")
        return [one.strip() for one in page.locator(".wrap .notice p").all_inner_texts()]

    def _unjudged(self) -> list[object]:
        listed = self.service.ask("/v1/comments?state=pending&limit=1")
        waiting: list[object] = listed["comments"]
        return waiting

    def _from_disqus(self) -> dict[str, Any]:
        (self._folder / "disqus.xml").write_text(DISQUS, "utf-8")
        subprocess.run(["gzip", "-f", "disqus.xml"], cwd=self._folder, check=True)
        said, seconds = self._run(_blocks("From Disqus")[0])
        hook = re.search(r"hook_\w+", said)
        assert hook, said
        post = "https://blog.example/radiators/"
        address = f"{self.service.url}/public/{hook[0]}/comments?post={post}"
        with urllib.request.urlopen(address, timeout=30) as answer:  # noqa: S310  # started here
            shown = json.load(answer)["comments"]
        return {"seconds": seconds, "shown": [one["text"] for one in shown]}


def main() -> None:
    """Run all parts and print what came of each as a line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--wordpress", type=Path, required=True)
    parser.add_argument("--sqlite", type=Path, required=True, help="the drop-in's folder")
    parser.add_argument("--comments", type=Path, nargs="+", required=True, help="labelled JSONL")
    parser.add_argument("--php", default="php")
    parser.add_argument("--php-option", action="append", default=[], help="as in --php-option=-n")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as started:
        browser = started.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        run = Run(options, Path(folder), browser)
        try:
            run.all()
        finally:
            run.wordpress.stop()
            run.service.stop()
            browser.close()


if __name__ == "__main__":
    main()
