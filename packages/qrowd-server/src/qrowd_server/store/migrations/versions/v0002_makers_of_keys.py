"""Keys of programs say who made them. Those from before open nothing any more, since nobody knows whose they are."""

from alembic import op
from sqlalchemy import BigInteger, Column

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """One column."""
    op.add_column("api_key", Column("account_id", BigInteger))
