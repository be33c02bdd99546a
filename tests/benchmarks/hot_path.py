"""Prints what a judged comment costs in SQL: `python -m tests.benchmarks.hot_path`.

One comment from POST to its recorded callback, in one process over SQLite. The polls of the
thread that looks for verdicts depend on time and are left out.
"""

import threading
from collections import Counter

import sqlalchemy as sa

from service.domain.site import SiteSettings
from service.moderation.callbacks import set_callback
from service.moderation.delivering import deliver, take_deliveries
from service.moderation.sites import issue_key
from service.web.app import create_app
from tests.databases import fresh_stores
from tests.factories import SITE
from tests.fakes import FixedClassifier, make_services, make_site


def counted(engine: sa.Engine) -> Counter[str]:
    """Return the counts of this thread's statements and transactions from now on."""
    counts, thread = Counter[str](), threading.get_ident()

    @sa.event.listens_for(engine, "before_cursor_execute")
    def execute(_connection, _cursor, statement, *_more) -> None:
        words = ("BEGIN", "PRAGMA", "SAVEPOINT", "RELEASE")
        counts["statements"] += threading.get_ident() == thread and not statement.startswith(words)

    @sa.event.listens_for(engine, "begin")
    def begin(_connection) -> None:
        counts["transactions"] += threading.get_ident() == thread

    return counts


def main() -> None:
    """Count one comment."""
    stores = fresh_stores(sites=[make_site(settings=SiteSettings(undo_seconds=0))])
    services = make_services(stores=stores, classifier=FixedClassifier(p_spam=0.5), judges=False)
    hook = "https://blog.example/hook"
    set_callback(SITE, hook, services, actor="owner")
    key = issue_key(SITE, services, actor="owner").secret
    config = {"SECRET_KEY": "for this count only, thirty-two characters"}
    client = create_app(services, config, {"stores": lambda: None}).test_client()
    counts = counted(stores.engine)

    def show(step: str) -> None:
        print(f"{step}: {counts['statements']} statements, {counts['transactions']} transactions")
        counts.clear()

    headers = {"Authorization": f"Bearer {key}"}
    comment = {"text": "Lovely, see www.radiators-sale.shop", "site_comment_id": "1"}
    client.post("/v1/comments", headers=headers, json=comment)
    show("kept and queued")
    services.queue.run()
    show("judged")
    for delivery in take_deliveries(services, limit=10):
        deliver(delivery, services)
    show("delivered")


if __name__ == "__main__":
    main()
