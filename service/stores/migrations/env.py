"""Runs Alembic on the given connection, in that connection's transaction."""

from __future__ import annotations

from alembic import context

from service.stores.sql.tables import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    transactional_ddl=True,
)
with context.begin_transaction():
    context.run_migrations()
