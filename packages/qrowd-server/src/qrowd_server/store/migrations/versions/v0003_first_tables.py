"""The tables of 0.3.0, the first release: a new store gets them from the schema itself (`engine.bring_up_to_date`)."""

revision = "0003"
down_revision = None


def upgrade() -> None:
    """Nothing: no store is older than this."""
