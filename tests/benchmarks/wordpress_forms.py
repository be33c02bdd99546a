"""Shows what the WordPress plugin does with contact forms, registrations, German and networks.

It needs what `wordpress_plugin.py` needs, but no comments. Contact Form 7 and WPForms are no part
of this project, nor of any package: `wordpress_stand_ins.php` fires their hooks, in their order,
with their arguments, as `includes/submission.php`, `includes/mail.php` (Contact Form 7) and
`includes/class-process.php` (WPForms 1.8) do.
"""

from __future__ import annotations

import argparse
import base64
import io
import json
import shutil
import tempfile
import zipfile
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

from service.web.plugins.archive import WORDPRESS, pack_plugin
from tests.benchmarks.wordpress_plugin import Service, WordPress

_BROWSER = ("--no-sandbox", "--disable-gpu", "--disable-blink-features=AutomationControlled")
_PATIENCE_SECONDS = 120.0
_HAM = (
    "Hello, I would like a quote for replacing twelve radiators in our office in Leeds."
    " Could you come by next week? Thanks, Ann"
)
_UNSURE = "Please contact me about your website, I can help."
_SPAM = (
    "Get 100,000 targeted visitors to your website for only $49."
    " Click https://traffic.example/offer now, business loans approved in 24 hours!"
)
_BLOCKED = "example.net"
_STAND_INS = Path(__file__).with_name("wordpress_stand_ins.php")
_ACTIVATE = """
require_once ABSPATH . 'wp-admin/includes/plugin.php';
foreach ( $given['plugins'] as $one ) {
	$failed = activate_plugin( $one, '', $given['network'] );
	if ( is_wp_error( $failed ) ) { echo wp_json_encode( $failed->get_error_message() ); exit; }
}
echo wp_json_encode( 'activated' );
"""
_CONNECT = """
switch_to_blog_if_any( $given['blog'] );
update_option( 'slopsieve_settings', $given['settings'] );
echo wp_json_encode( get_transient( 'slopsieve_test' ) );
"""
_SWITCH = """
function switch_to_blog_if_any( $blog ) { if ( is_multisite() ) { switch_to_blog( $blog ); } }
"""
_OPEN = """
update_option( 'users_can_register', 1 );
$ids = array();
foreach ( array( 'cf7', 'wpforms' ) as $code ) {
	$ids[ $code ] = wp_insert_post( array( 'post_title' => $code, 'post_content' => "[$code]",
		'post_status' => 'publish', 'post_type' => 'page', 'post_author' => 1 ) );
}
echo wp_json_encode( $ids );
"""
_SETTINGS_PAGE = """
require_once ABSPATH . 'wp-admin/includes/admin.php'; wp_set_current_user( 1 );
ob_start(); \\Slopsieve\\print_settings_page(); $page = ob_get_clean();
preg_match_all( '~<(?:label|th|input type="submit")[^>]*>([^<]+)~', $page, $found );
preg_match_all( '~type="submit"[^>]*value="([^"]+)"~', $page, $buttons );
echo wp_json_encode( array_merge( $found[1], $buttons[1] ) );
"""
_NETWORK = """
require_once ABSPATH . 'wp-admin/includes/upgrade.php';
require_once ABSPATH . 'wp-admin/includes/network.php';
foreach ( $wpdb->tables( 'ms_global' ) as $name => $table ) { $wpdb->$name = $table; }
install_network();
$made = populate_network( 1, $given, 'admin@blog.example', 'Blogs', '/', false );
echo wp_json_encode( is_wp_error( $made ) ? $made->get_error_message() : 'made' );
"""
_SECOND = """
$id = wpmu_create_blog( $given, '/second/', 'Second', 1 );
echo wp_json_encode( is_wp_error( $id ) ? $id->get_error_message() : $id );
"""
_COMMENT = """
switch_to_blog_if_any( $given['blog'] );
remove_all_filters( 'check_comment_flood' );
add_filter( 'wp_is_comment_flood', '__return_false', 99 );
$_SERVER['REMOTE_ADDR'] = '198.51.100.9';
$id = wp_new_comment( array( 'comment_post_ID' => 1, 'comment_author' => 'Mara',
	'comment_author_email' => "mara{$given['blog']}@mail.example", 'comment_author_url' => '',
	'comment_content' => $given['text'], 'comment_type' => 'comment', 'comment_parent' => 0,
	'user_id' => 0, 'comment_author_IP' => '198.51.100.9', 'comment_agent' => 'x' ), true );
$verdict = is_wp_error( $id ) ? null : get_comment_meta( $id, '_slopsieve_verdict', true );
$place = is_wp_error( $id ) ? $id->get_error_message() : get_comment( $id )->comment_approved;
echo wp_json_encode( array( $place, $verdict['outcome'] ?? null ) );
"""
_KEPT = """
$kept = array();
foreach ( is_multisite() ? get_sites( array( 'fields' => 'ids' ) ) : array( 1 ) as $blog ) {
	switch_to_blog_if_any( $blog );
	$like = "SELECT option_name FROM {$wpdb->options} WHERE option_name LIKE '%slopsieve%'";
	$metas = "SELECT DISTINCT meta_key FROM {$wpdb->commentmeta} WHERE meta_key LIKE '%slopsieve%'";
	$hooks = array();
	foreach ( _get_cron_array() as $at ) {
		$hooks = array_merge( $hooks, preg_grep( '/slopsieve/', array_keys( $at ) ) );
	}
	$kept[ "blog $blog" ] = array( 'options' => $wpdb->get_col( $like ),
		'metas' => $wpdb->get_col( $metas ), 'hooks' => array_values( $hooks ) );
}
echo wp_json_encode( $kept );
"""
_LEAVE = """
require_once ABSPATH . 'wp-admin/includes/plugin.php';
require_once ABSPATH . 'wp-admin/includes/file.php';
deactivate_plugins( array( 'slopsieve/slopsieve.php' ), false, is_multisite() );
$hooks = array();
foreach ( is_multisite() ? get_sites( array( 'fields' => 'ids' ) ) : array( 1 ) as $blog ) {
	switch_to_blog_if_any( $blog );
	foreach ( _get_cron_array() as $at ) {
		$hooks = array_merge( $hooks, preg_grep( '/slopsieve/', array_keys( $at ) ) );
	}
	if ( is_multisite() ) { restore_current_blog(); }
}
uninstall_plugin( 'slopsieve/slopsieve.php' );
echo wp_json_encode( array( 'hooks after deactivating' => $hooks ) );
"""
_ROUTER = """<?php
$path = parse_url( $_SERVER['REQUEST_URI'], PHP_URL_PATH );
$plain = preg_replace( '~^/second(/|$)~', '/', $path );
$file = __DIR__ . $plain;
if ( is_file( $file ) && substr( $file, -4 ) !== '.php' ) { return false; }
if ( is_dir( $file ) ) { $file = rtrim( $file, '/' ) . '/index.php'; }
if ( ! is_file( $file ) ) { $file = __DIR__ . '/index.php'; }
$_SERVER['SCRIPT_NAME'] = $_SERVER['PHP_SELF'] = substr( $file, strlen( __DIR__ ) );
chdir( dirname( $file ) ); require $file;
"""


class Run:
    """The steps; what came of each is printed."""

    def __init__(self, options: argparse.Namespace, folder: Path, browser: Browser | None) -> None:
        self._options, self._browser = options, browser
        self.wordpress = WordPress(options, folder)
        self.service = Service(folder, self.wordpress.port)
        plugins = self.wordpress.content / "plugins"
        zipfile.ZipFile(io.BytesIO(pack_plugin(WORDPRESS))).extractall(plugins)
        shutil.copy(_STAND_INS, plugins / "stand-ins.php")

    def print(self, step: str, found: object) -> None:
        """Print what came of a step."""
        print(json.dumps({step: found}, ensure_ascii=False), flush=True)

    def run(self, code: str, given: object = None) -> Any:
        """Run PHP inside WordPress."""
        return self.wordpress.run(_SWITCH + code, given)

    def all(self) -> None:
        """Do everything."""
        self.print("WordPress", self.wordpress.version)
        if self._options.network:
            self._make_network()
        self.wordpress.start()
        self.service.start()
        plugins = ["slopsieve/slopsieve.php", "stand-ins.php"]
        given = {"plugins": plugins, "network": self._options.network}
        self.print("plugins", self.run(_ACTIVATE, given))
        settings = {"address": self.service.url, "key": self.service.told["site_key"]}
        for blog in (1, 2) if self._options.network else (1,):
            said = self.run(_CONNECT, {"blog": blog, "settings": {**settings, "registrations": 1}})
            self.print(f"blog {blog} connected", said)
        self._comments()
        if not self._options.network:
            self._german()
            self._forms()
            self._registrations()
        self.print("kept", self.run(_KEPT))
        self.print("left", [self.run(_LEAVE), self.run(_KEPT)])
        self.print("PHP complained of", self.wordpress.complaints())

    def _make_network(self) -> None:
        host = self.wordpress.home.removeprefix("http://")
        self.print("network", self.run(_NETWORK, host))
        config = self.wordpress.content.parent / "wp-config.php"
        defines = (
            "define( 'MULTISITE', true ); define( 'SUBDOMAIN_INSTALL', false );"
            f" define( 'DOMAIN_CURRENT_SITE', '{host}' ); define( 'PATH_CURRENT_SITE', '/' );"
            " define( 'SITE_ID_CURRENT_SITE', 1 ); define( 'BLOG_ID_CURRENT_SITE', 1 );\n"
        )
        text = config.read_text("utf-8")
        for name in ("WP_HOME", "WP_SITEURL"):
            text = text.replace(f"define( '{name}', '{self.wordpress.home}' );", "")
        config.write_text(text.replace("$table_prefix", defines + "$table_prefix"), "utf-8")
        (config.parent / "router.php").write_text(_ROUTER, "utf-8")
        self.print("second blog", self.run(_SECOND, host))

    def _comments(self) -> None:
        for blog in (1, 2) if self._options.network else (1,):
            for text in (_HAM, _SPAM):
                given = {"blog": blog, "text": f"{text} Blog {blog}."}
                self.print(f"comment at blog {blog}", self.run(_COMMENT, given))

    def _german(self) -> None:
        self.print("English", self.run(_SETTINGS_PAGE))
        for locale in ("de_DE", "de_AT", "fr_FR"):
            self.run(f"update_option( 'stand_in_locale', '{locale}' ); echo 1;")
            self.print(locale, self.run(_SETTINGS_PAGE))
        self.run("delete_option( 'stand_in_locale' ); echo 1;")

    def _forms(self) -> None:
        pages = self.run(_OPEN)
        for mode in ("observe", "hold"):
            self.service.ask("/v1/site/settings", "PATCH", {"mode": mode})
            for form in pages:
                for name, text in (("ham", _HAM), ("unsure", _UNSURE), ("spam", _SPAM)):
                    said = self._send(pages[form], form, f"{text} ({form}, {mode})")
                    self.print(f"{form}, {mode}, {name}", said)
        self.service.stop()
        self.print("cf7, service away, spam", self._send(pages["cf7"], "cf7", _SPAM + " Away."))
        self.service.start()
        listed = self.service.ask("/v1/comments?needs_review=true")["comments"]
        self.print("in the review queue", [one["text"][:40] for one in listed])
        sent = self._sent()
        self.print("tokens of forms", [self._solved(one) for one in sent if not one.get("keep", 1)])

    def _page(self) -> Page:
        assert self._browser is not None
        page = self._browser.new_context().new_page()
        page.set_default_timeout(_PATIENCE_SECONDS * 1_000)
        return page

    def _send(self, number: int, form: str, text: str) -> object:
        page = self._page()
        page.goto(f"{self.wordpress.home}/?page_id={number}")
        fields = page.locator(f"#{form} input:visible")
        fields.nth(0).fill("Ann")
        fields.nth(1).fill("ann@mail.example")
        page.locator(f"#{form} textarea").click()
        page.keyboard.type(text[:60])
        page.keyboard.insert_text(text[60:])
        # Nobody is as fast as a program: the browser has solved the form's task by then.
        page.wait_for_timeout(2_000)
        page.click(f"#{form} button")
        page.wait_for_function(f"document.querySelector('#{form} output').textContent")
        said = page.locator(f"#{form} output").inner_text()
        page.context.close()
        try:
            return json.loads(said)
        except ValueError:
            return said[:500]

    def _sent(self) -> list[dict[str, Any]]:
        lines = (self.wordpress.content / "requests.jsonl").read_text("utf-8").splitlines()
        posts = [one for one in map(json.loads, lines) if "/v1/comments?" in one["url"]]
        return [json.loads(one["sent"]) for one in posts if one["method"] == "POST"]

    def _solved(self, sent: dict[str, Any]) -> str:
        token = sent.get("form", {}).get("token")
        if not token:
            return "none"
        members = json.loads(base64.b64decode(token))
        return "solved" if members.get("solution") else "unsolved"

    def _registrations(self) -> None:
        self.service.command("lists", "add", "block", "mail_domain", _BLOCKED, "--reason", "Shops.")
        for mode in ("hold", "enforce"):
            self.service.ask("/v1/site/settings", "PATCH", {"mode": mode})
            for name, host, trap in (
                ("mara", "mail.example", ""),
                ("bot", "mail.example", "https://shop.example"),
                ("shop", _BLOCKED, ""),
            ):
                said = self._register(f"{name}{mode}", host, trap)
                self.print(f"registration, {mode}, {name}", said)
        self.service.stop()
        self.print("registration, service away", self._register("away", _BLOCKED, ""))
        self.service.start()
        last = self._sent()[-2]
        self.print("sent of a registration", {**last, "form": list(last["form"])})

    def _register(self, name: str, host: str, trap: str) -> object:
        page = self._page()
        page.goto(f"{self.wordpress.home}/wp-login.php?action=register")
        page.click("#user_login")
        page.keyboard.type(name)
        page.click("#user_email")
        page.keyboard.type(f"{name}@{host}")
        page.wait_for_timeout(2_000)
        page.evaluate(
            "text => { document.querySelector('[name=slopsieve_homepage]').value = text; }", trap
        )
        with page.expect_navigation():
            page.click("#wp-submit")
        said = page.locator("#login_error, .message, .notice").all_inner_texts()
        page.context.close()
        return said


def main() -> None:
    """Run all steps and print what came of each as a line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--wordpress", type=Path, required=True)
    parser.add_argument("--sqlite", type=Path, required=True, help="the drop-in's folder")
    parser.add_argument("--php", default="php")
    parser.add_argument("--php-option", action="append", default=[], help="as in --php-option=-n")
    parser.add_argument("--network", action="store_true", help="a network of two blogs")
    parser.add_argument("--out", type=Path, default=Path(tempfile.gettempdir()))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as started:
        browser = started.chromium.launch(executable_path=shutil.which("chromium"), args=_BROWSER)
        run = Run(options, Path(folder), browser)
        try:
            run.all()
        finally:
            for log in ("debug.log", "requests.jsonl"):
                if (run.wordpress.content / log).exists():
                    shutil.copy(run.wordpress.content / log, options.out)
            for log in ("up.log", "php.log"):
                if Path(folder, log).exists():
                    shutil.copy(Path(folder, log), options.out)
            run.wordpress.stop()
            run.service.stop()
            browser.close()


if __name__ == "__main__":
    main()
