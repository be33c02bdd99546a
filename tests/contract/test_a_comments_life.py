"""What holds on SQLite whatever happens to comments, in whatever order, holds on PostgreSQL."""

from collections.abc import Iterator
from contextlib import contextmanager

from hypothesis.stateful import run_state_machine_as_test

from service.ports.services import Services
from tests.behaviour import test_a_comments_life as behaviour
from tests.databases import Stores
from tests.fakes import make_services


def test_whatever_happens_to_comments_the_same_holds_on_postgresql(databases):
    @contextmanager
    def begin(*, sites, **changes) -> Iterator[Services]:
        with databases.lent() as engine:
            stores = Stores(engine)
            for site in sites:
                stores.sites.add(site)
            yield make_services(stores=stores, **changes)

    class LifeOnPostgresql(behaviour.CommentsLife):
        """The same acts and invariants."""

    LifeOnPostgresql.begin = staticmethod(begin)
    run_state_machine_as_test(LifeOnPostgresql, settings=behaviour.TestCommentsLife.settings)
