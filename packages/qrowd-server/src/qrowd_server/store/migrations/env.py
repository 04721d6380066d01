"""Where Alembic starts: `qrowd_server.store.engine` hands over the connection, in a transaction of its own."""

from alembic import context

from qrowd_server.store.schema import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata, compare_type=True)
with context.begin_transaction():
    context.run_migrations()
