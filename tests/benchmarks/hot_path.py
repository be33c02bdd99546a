"""Prints what a judged comment costs in SQL: `python -m tests.benchmarks.hot_path`.

One comment from POST to its recorded callback, in one process over SQLite. The polls of the
thread that looks for verdicts depend on time and are left out.
"""

from __future__ import annotations

import threading

import sqlalchemy as sa

from service.domain.site import SiteSettings
from service.moderation.callbacks import set_callback
from service.moderation.delivering import deliver, take_deliveries
from service.moderation.sites import issue_key
from service.web.app import create_app
from service.web.edge.config import WebConfig
from tests.databases import fresh_stores
from tests.factories import SITE
from tests.fakes import FixedClassifier, make_services, make_site


class Count:
    """Counts the statements and transactions of this thread."""

    def __init__(self, engine: sa.Engine) -> None:
        self._thread = threading.get_ident()
        self.statements = self.transactions = 0
        sa.event.listen(engine, "before_cursor_execute", self._execute)
        sa.event.listen(engine, "begin", self._begin)

    def _execute(self, _connection, _cursor, statement, *_more) -> None:
        words = ("BEGIN", "PRAGMA", "SAVEPOINT", "RELEASE")
        if threading.get_ident() == self._thread and not statement.startswith(words):
            self.statements += 1

    def _begin(self, _connection) -> None:
        self.transactions += threading.get_ident() == self._thread

    def show(self, step: str) -> None:
        """Print a step's counts and begin again."""
        print(f"{step}: {self.statements} statements, {self.transactions} transactions")
        self.statements = self.transactions = 0


def main() -> None:
    """Count one comment."""
    stores = fresh_stores(sites=[make_site(settings=SiteSettings(undo_seconds=0))])
    services = make_services(stores=stores, classifier=FixedClassifier(p_spam=0.5), judges=False)
    hook = "https://blog.example/hook"
    set_callback(SITE, hook, services, actor="owner")
    key = issue_key(SITE, services, actor="owner").secret
    config = WebConfig(secret_key="for this count only, thirty-two characters")
    client = create_app(services, config, {"stores": lambda: None}).test_client()
    count = Count(stores.engine)
    headers = {"Authorization": f"Bearer {key}"}
    comment = {"text": "Lovely, see www.radiators-sale.shop", "site_comment_id": "1"}
    client.post("/v1/comments", headers=headers, json=comment)
    count.show("kept and queued")
    services.queue.run()
    count.show("judged")
    for delivery in take_deliveries(services, limit=10):
        deliver(delivery, services)
    count.show("delivered")


if __name__ == "__main__":
    main()
