"""The tables of the first release: a new store gets them from the schema itself (`migrate.bring_up_to_date`)."""

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Nothing: no store is older than this."""
