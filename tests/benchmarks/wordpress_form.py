"""Shows that a real WordPress with the stock Akismet plugin brings the counts of its forms here.

It needs PHP with SQLite, a folder with WordPress and the SQLite drop-in's plugin, and the plugin
Akismet, all as they are published; nothing of them is part of this project. A person and a program
fill in the comment form of the first post in Chromium; then the verdicts, their reasons and where
WordPress put the comments are printed.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import socket
import sqlite3
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from service.domain.case import Case, CaseFilter, Order
from service.domain.form import behaviour_values
from service.moderation.admin.sites import issue_akismet_key
from service.ports.services import Services
from service.web.akismet import check
from tests.factories import SITE
from tests.fakes import make_services
from tests.functional.moderators import make_app
from tests.functional.serving import serving

_CLIENTS = Path(__file__).parents[2] / "service" / "web" / "akismet" / "CLIENTS.md"
_ARGUMENTS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking")
_PATIENCE_SECONDS = 300
_WAIT_SECONDS = 5.0
# The plugin's script leaves forms alone whose address names a port, so the browser is led to ours.
_HOME = "http://blog.localhost"
_TEXT = (
    "Same noise here, and it went on for three winters. What helped was to close all valves, open"
    " the lowest one and wait for an hour. Thank you for the drawing. "
)
_CONFIG = """<?php
define( 'DB_NAME', 'wordpress' ); define( 'DB_USER', '' ); define( 'DB_PASSWORD', '' );
define( 'DB_HOST', '' ); define( 'DB_CHARSET', 'utf8' ); define( 'DB_COLLATE', '' );
define( 'WPCOM_API_KEY', '{key}' ); define( 'DISABLE_WP_CRON', true );
define( 'WP_HTTP_BLOCK_EXTERNAL', false ); define( 'WP_HOME', '{home}' );
define( 'WP_SITEURL', '{home}' ); define( 'CONCATENATE_SCRIPTS', false );
$table_prefix = 'wp_';
if ( ! defined( 'ABSPATH' ) ) {{ define( 'ABSPATH', __DIR__ . '/' ); }}
require_once ABSPATH . 'wp-settings.php';
"""
_INSTALL = """<?php
define( 'WP_INSTALLING', true );
$_SERVER['HTTP_HOST'] = '{host}';
require __DIR__ . '/wp-load.php';
require_once ABSPATH . 'wp-admin/includes/upgrade.php';
require_once ABSPATH . 'wp-admin/includes/plugin.php';
if ( ! is_blog_installed() ) {{ wp_install( 'Radiators', 'admin', 'admin@blog.example', true ); }}
update_option( 'comment_previously_approved', 0 );
update_option( 'active_plugins', array( 'akismet/akismet.php' ) );
update_option( 'home', '{home}' ); update_option( 'siteurl', '{home}' );
echo get_option( 'home' ), ' WordPress ', get_bloginfo( 'version' );
"""


def _must_use(address: str) -> str:
    """Return the file that `CLIENTS.md` tells to save, with our address."""
    found = _CLIENTS.read_text("utf-8").partition("```php\n")[2].partition("```")[0]
    assert "pre_http_request" in found
    own = found.replace("https://comments.example.org", address)
    # It is on this machine, to which WordPress connects only if it is told to.
    own += "add_filter( 'http_request_host_is_external', '__return_true' );\n"
    # All visitors have one address.
    own += "remove_all_filters( 'check_comment_flood' );\n"
    return own + "add_filter( 'wp_is_comment_flood', '__return_false', 99 );\n"


@contextlib.contextmanager
def _wordpress(
    options: argparse.Namespace, folder: Path, *, address: str, key: str, port: int
) -> Iterator[str]:
    """Serve a fresh WordPress; give its address."""
    home = _HOME
    site = folder / "wordpress"
    shutil.copytree(options.wordpress, site)
    content = site / "wp-content"
    shutil.rmtree(content / "database", ignore_errors=True)
    shutil.copytree(options.akismet, content / "plugins" / "akismet", dirs_exist_ok=True)
    plugin = content / "plugins" / "sqlite-database-integration"
    shutil.copytree(options.sqlite, plugin, dirs_exist_ok=True)
    drop_in = (plugin / "db.copy").read_text("utf-8")
    drop_in = drop_in.replace("{SQLITE_IMPLEMENTATION_FOLDER_PATH}", str(plugin))
    (content / "db.php").write_text(
        drop_in.replace("{SQLITE_PLUGIN}", "sqlite-database-integration/load.php"), "utf-8"
    )
    (content / "mu-plugins").mkdir(exist_ok=True)
    (content / "mu-plugins" / "slopsieve.php").write_text(_must_use(address), "utf-8")
    (site / "wp-config.php").write_text(_CONFIG.format(key=key, home=home), "utf-8")
    install = site / "install-once.php"
    install.write_text(_INSTALL.format(host=home.removeprefix("http://"), home=home), "utf-8")
    php = [options.php, *options.php_option]
    environment = {**os.environ, "PHP_CLI_SERVER_WORKERS": "4"}
    done = subprocess.run(
        [*php, str(install)], cwd=site, env=environment, capture_output=True, text=True, check=False
    )
    print(done.stdout[-300:], done.stderr[-2_000:])
    install.unlink()
    log = (folder / "php.log").open("w")
    server = subprocess.Popen(
        [*php, "-S", f"127.0.0.1:{port}", "-t", str(site)],
        cwd=site,
        env=environment,
        stdout=log,
        stderr=log,
        start_new_session=True,
    )
    try:
        _await(f"http://127.0.0.1:{port}/license.txt")
        yield home
    finally:
        os.killpg(server.pid, 15)
        server.wait(30)
        log.close()


def _await(address: str) -> None:
    until = time.monotonic() + _PATIENCE_SECONDS
    while not _answers(address):
        if time.monotonic() > until:
            msg = f"nothing answered at {address} within {_PATIENCE_SECONDS} s"
            raise TimeoutError(msg)
        time.sleep(0.5)


def _answers(address: str) -> bool:
    try:
        urllib.request.urlopen(address, timeout=_PATIENCE_SECONDS).close()  # noqa: S310  # started here
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False
    return True


def _fill_in(page: Page, home: str, name: str) -> None:
    page.goto(f"{home}/?p=1")
    page.fill("#author", name)
    page.fill("#email", f"{name.lower()}@mail.example")


def _types(page: Page, home: str) -> None:
    _fill_in(page, home, "Mara")
    page.mouse.wheel(0, 600)
    page.click("#comment")
    page.keyboard.type(_TEXT + "I typed this.", delay=60)
    page.wait_for_timeout(700)


def _puts_in(page: Page, home: str) -> None:
    _fill_in(page, home, "Bob")
    page.evaluate(
        "text => { document.querySelector('#comment').value = text; }", _TEXT + "A program did."
    )


def _presses(page: Page, home: str) -> None:
    _fill_in(page, home, "Rob")
    page.focus("#comment")
    page.keyboard.type(_TEXT + "It was fast.")


def _cases(services: Services) -> Sequence[Case]:
    found = services.review.cases.page(
        CaseFilter(site_id=SITE), order=Order.NEWEST, cursor=None, limit=20
    )
    return sorted(found.cases, key=lambda case: case.comment.id)


def _places(folder: Path) -> dict[str, str]:
    """Return where WordPress has each visitor's comment: 1, 0 (Pending), spam."""
    kept = folder / "wordpress" / "wp-content" / "database" / ".ht.sqlite"
    with contextlib.closing(sqlite3.connect(f"file:{kept}?mode=ro", uri=True)) as database:
        return dict(database.execute("SELECT comment_author, comment_approved FROM wp_comments"))


def _visit(browser: Browser, home: str) -> None:
    for fill in (_types, _puts_in, _presses):
        context = browser.new_context()
        page = context.new_page()
        page.set_default_timeout(_PATIENCE_SECONDS * 1_000)
        fill(page, home)
        with page.expect_navigation():
            page.evaluate(
                "document.querySelector('#comment').form.requestSubmit("
                "document.querySelector('#submit'))"
            )
        context.close()


def main() -> None:
    """Print of each comment which counts arrived and what they added."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--wordpress", type=Path, required=True)
    parser.add_argument("--akismet", type=Path, required=True, help="the plugin's folder")
    parser.add_argument("--sqlite", type=Path, required=True, help="the drop-in's folder")
    parser.add_argument("--php", default="php")
    parser.add_argument("--php-option", action="append", default=[], help="as in --php-option=-n")
    options = parser.parse_args()
    services = make_services()
    # On a busy machine, too: what is late is answered otherwise.
    check.WAIT_BUDGET_SECONDS = _WAIT_SECONDS
    key = issue_akismet_key(SITE, services.reputation, services.common, actor="benchmark").secret
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with (
        tempfile.TemporaryDirectory() as folder,
        serving(make_app(services)) as (host, own_port),
        _wordpress(
            options, Path(folder), address=f"http://{host}:{own_port}", key=key, port=port
        ) as home,
        sync_playwright() as started,
    ):
        browser = started.chromium.launch(
            executable_path=shutil.which("chromium"),
            args=[*_ARGUMENTS, f"--host-resolver-rules=MAP blog.localhost:80 127.0.0.1:{port}"],
        )
        _visit(browser, home)
        browser.close()
        places = _places(Path(folder))
    for case in _cases(services):
        counts: Mapping[str, object] = behaviour_values(case.comment.form.behaviour) or {}
        reasons = case.verdict.signals if case.verdict else ()
        outcome = case.verdict.outcome if case.verdict else None
        place = places.get(case.comment.author.name or "")
        print(case.comment.author.name, dict(counts), f"{outcome} is in {place}")
        for one in reasons:
            print(f"    {one.contribution:+.2f} {one.signal.name}: {one.signal.reason}")


if __name__ == "__main__":
    main()
