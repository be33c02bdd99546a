"""What every page for moderators promises, asked of all routes: a new page is asked by itself."""

import re
from html.parser import HTMLParser

import pytest

from service.domain.user import Role
from tests.factories import SITE
from tests.fakes import SmallRegistry, make_services, make_site
from tests.functional.filled import fill, keep_all_hostile, keep_hostile, page_addresses, routes
from tests.functional.hostile import HOSTILE
from tests.functional.moderators import (
    make_app,
    restrict,
    token_of,
)

POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; "
    "form-action 'self'; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; "
    "require-trusted-types-for 'script'; trusted-types slopsieve"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
# The least role that may call what lies below an address; all others are looked at by everybody
# and changed by moderators.
LEAST = {
    "/accounts": Role.OWNER,
    "/personal-data": Role.OWNER,
    "/models": Role.OWNER,
    "/sites": Role.ADMIN,
    "/log": Role.ADMIN,
    "/callbacks/platforms": Role.ADMIN,
    "/lists": Role.MODERATOR,
}
# What everybody may do about themselves.
OWN = ("/me", "/password", "/sign-in", "/sign-out")
RANKS = [Role.READER, Role.MODERATOR, Role.ADMIN, Role.OWNER]
NONSENSE = ["%00", "x" * 3_000, "..%2f", "{{7*7}}<script>", "%E2%80%AE"]
PARAMETERS = (
    "actor", "after", "as", "act", "at", "before", "cursor", "days", "from", "ham_cutoff", "id",
    "kind", "next", "outcome", "page", "q", "seen", "show", "since", "site", "sort", "to",
)  # fmt: skip
# What the pages are made of; anything else came from somebody else.
ELEMENTS = {
    "html", "head", "meta", "title", "link", "script", "body", "main", "header", "nav", "section",
    "article", "footer", "div", "p", "span", "b", "i", "strong", "sup", "mark", "bdi", "a", "ol",
    "ul", "li", "dl", "dt", "dd", "h1", "h2", "h3", "table", "caption", "thead", "tbody", "tfoot",
    "tr", "td", "th", "form", "fieldset", "legend", "input", "button", "select", "option", "label",
    "kbd", "time", "details", "summary", "dialog", "svg", "rect", "line", "path", "g", "text", "q",
    "textarea", "template", "code", "pre", "progress", "figure", "figcaption", "defs", "pattern",
    "circle",
}  # fmt: skip
OWN_SCRIPT = re.compile(r'<script src="/static/[0-9a-f]+/[a-z-]+\.js" type="module">')
OWN_PATHS = re.compile(r"(/(?!/)|#|\?)")


class Seen(HTMLParser):
    """Notes what a browser would make of a page and its makers never wrote."""

    def __init__(self, text):
        super().__init__()
        self.foreign = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        if tag not in ELEMENTS:
            self.foreign.append(tag)
        for name, value in attrs:
            links = name in {"href", "src", "action", "formaction", "poster", "srcset", "ping"}
            if name.startswith("on") or name == "style" or (links and not OWN_PATHS.match(value)):
                self.foreign.append(f"{tag} {name}={value}")


@pytest.fixture
def services():
    return make_services(versions=SmallRegistry("test-1", "candidate"))


@pytest.fixture
def app(services):
    return make_app(services)


def least(method, rule):
    """Return the least role that this route asks for."""
    for begins, role in LEAST.items():
        if rule == begins or rule.startswith((f"{begins}/", f"{begins}.")):
            return role
    return Role.READER if method == "GET" or rule.startswith(OWN) else Role.MODERATOR


def path_of(rule, known):
    return re.sub(r"<(?:id:)?(\w+)>", lambda found: known[found[1]], rule.rule)


def dead(page):
    """Return the foreign elements, scripts and invisible characters of a page."""
    text = page.text
    scripts = [one for one in re.findall("<script[^>]*>", text) if not OWN_SCRIPT.fullmatch(one)]
    return Seen(text).foreign + scripts + [one for one in "\u202e\u200b\u2066\x00" if one in text]


def test_every_page_is_whole_strict_and_in_the_language_of_its_reader(services, app, client):
    known = fill(services)
    client.environ_base["HTTP_ACCEPT_LANGUAGE"] = "de-CH,de;q=0.9,en;q=0.5"
    wrong = []

    for path in [*page_addresses(app, known), "/nowhere"]:
        page = client.get(path, follow_redirects=True, headers={"Accept": "text/html"})
        found = {
            "status": page.status_code == (404 if path == "/nowhere" else 200),
            "language": '<html lang="de">' in page.text,
            "headers": HEADERS.items() <= dict(page.headers).items(),
            "script or style": not re.search(
                r"<style|\sstyle=|<script(?! src)|\son\w+=", page.text
            ),
        }
        wrong += [(path, what) for what, well in found.items() if not well]

    assert wrong == []


def test_no_form_works_without_its_token(services, app, client):
    known = fill(services)
    before = services.audit_log.recent(limit=500)
    others = token_of(app.test_client().get("/sign-in"))
    works = []

    for rule in routes(app, "POST"):
        for token in ({}, {"csrf_token": "wrong"}, {"csrf_token": others}):
            answer = client.post(path_of(rule, known), data={"ruling": "reject", **token})
            if answer.status_code != 403 or "This form has expired" not in answer.text:
                works.append((rule.rule, token, answer.status_code))

    assert works == []
    assert services.audit_log.recent(limit=500) == before


@pytest.mark.parametrize("role", RANKS)
def test_each_role_may_call_what_it_may_and_nothing_else(services, app, client, role):
    known = fill(services)
    restrict(services, role=role)
    token = token_of(client.get("/me"))
    wrong = []

    for method in ("GET", "POST"):
        for rule in routes(app, method):
            if rule.rule in {"/sign-out", "/sign-in", "/sign-in/code", "/password"}:
                continue
            send = client.get if method == "GET" else client.post
            answer = send(path_of(rule, known), data={"csrf_token": token})
            may = RANKS.index(role) >= RANKS.index(least(method, rule.rule))
            if (answer.status_code != 403) is not may:
                wrong.append((method, rule.rule, answer.status_code))

    assert wrong == []


def test_of_a_site_that_is_not_ones_own_nothing_is_seen_or_changed(services, app, client):
    known = fill(services)
    services.sites.add(make_site(id="site-2", name="Kettle blog"))
    restrict(services, role=Role.ADMIN, site_ids=("site-2",))
    token = token_of(client.get("/me"))
    ids = [known["comment_id"], known["of_the_campaign"]]
    form = {
        "csrf_token": token, "id": ids, "ruling": "reject", "q": "boilers", "counted": "2",
        # What would add a site, change one's settings and keys, and block a sender.
        "name": "Tap blog", "mode": "hold", "undo_seconds": "7", "ham_cutoff": "",
        "spam_cutoff": "", "kind": "api", "effect": "block", "what": "email",
    }  # fmt: skip

    def all_there_is():
        return (
            services.cases.find(ids),
            services.deliveries.get(known["delivery_id"]),
            services.list_entries.in_force(services.clock()),
            services.sites.all(),
            services.sites.list_keys(SITE),
        )

    before = all_there_is()
    shown = []

    for rule in routes(app, "GET"):
        for query in ({}, {"site": SITE, "id": ",".join(ids), "q": "boilers"}):
            page = client.get(path_of(rule, known), query_string=query)
            words = ("Radiator blog", "boilers</", "cheap boilers.", "loans.example", ids[0])
            words += (known["decided"],)
            told = page.text.replace(f'value="{ids[0]}', "").replace(f"={ids[0]}", "")
            shown += [(rule.rule, query, one) for one in words if one in told]
    for rule in routes(app, "POST"):
        if not rule.rule.startswith(("/me", "/password", "/sign")):
            client.post(path_of(rule, known), data=form)

    assert shown == []
    assert all_there_is() == before


def test_nonsense_in_an_address_is_answered_by_a_page(services, app, client):
    known = fill(services)
    token = {"csrf_token": token_of(client.get("/me"))}
    wrong = []

    for method, answers in (("GET", {404}), ("POST", {404, 400})):
        send = client.get if method == "GET" else client.post
        for rule in routes(app, method):
            for value in NONSENSE if rule.arguments else ():
                path = path_of(rule, known | dict.fromkeys(rule.arguments, value))
                page = send(path, data=token, headers={"Accept": "text/html"})
                if page.status_code not in answers or "<html" not in page.text:
                    wrong.append((method, rule.rule, value[:9], page.status_code))
    for rule in routes(app, "GET"):
        for value in ("\x00", "-1", "\u0663" * 400, '"><script>alert(1)'):
            page = client.get(path_of(rule, known), query_string=dict.fromkeys(PARAMETERS, value))
            if page.status_code >= 500 or "<script>alert" in page.text:
                wrong.append((rule.rule, value[:9], page.status_code))

    assert wrong == []


def test_whatever_strangers_write_is_dead_text_on_every_page(services, app, client):
    known = fill(services)
    hostile = keep_all_hostile(services)
    card = "\n".join(f"| {text} |" for text in HOSTILE.values())
    (services.versions.folder / "test-1" / "card.md").write_text(card, errors="replace")
    lists = [f"/review?show={one}" for one in ("decided", "spam")]
    found = []

    for path in [*page_addresses(app, known), *lists, *hostile]:
        page = client.get(path)
        found += [(path, one) for one in dead(page)]
        assert page.status_code in {200, 303}, path
        assert len(page.data) < 3_000_000, path

    assert found == []
    assert len(HOSTILE) >= 60


def test_a_comment_with_all_that_is_hostile_in_it_is_decided_as_any_other(services, app, client):
    comment_id, _ = keep_hostile(services, list(HOSTILE.values()))
    page = client.get(f"/review/comments/{comment_id}")

    form = {"csrf_token": token_of(page), "seen": "", "ruling": "reject", "note": "<b>\u202e"}
    answer = client.post(f"/review/comments/{comment_id}/decision", data=form)

    assert answer.status_code == 303
    assert services.cases.get(comment_id).decision.note == "<b>\u202e"
    assert dead(client.get(f"/review/comments/{comment_id}?show=decided")) == []
