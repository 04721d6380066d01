"""A campaign may carry a question: its table, and assessors who judge several documents of a topic one by one."""

from alembic import op
from sqlalchemy import text

revision = "0002"
down_revision = "0001"

CHILDREN = ("judgment", "preference", "bad_mark", "pair_lease", "draft")  # whose rows belong to an assignment
ASSIGNMENT = """
CREATE TABLE assignment (
	id BIGINT NOT NULL, 
	campaign_id INTEGER NOT NULL, 
	topic_id INTEGER NOT NULL, 
	unit_id INTEGER NOT NULL, 
	arm TEXT NOT NULL, 
	slot INTEGER NOT NULL, 
	assessor_id BIGINT NOT NULL, 
	status TEXT NOT NULL, 
	counts BOOLEAN NOT NULL, 
	seed BIGINT NOT NULL, 
	lease_until DOUBLE NOT NULL, 
	version INTEGER NOT NULL, 
	state JSON NOT NULL, 
	created DOUBLE NOT NULL, 
	updated DOUBLE NOT NULL, 
	drawn_id INTEGER NOT NULL, 
	CONSTRAINT pk_assignment PRIMARY KEY (id), 
	CONSTRAINT uq_assignment_assessor_id_topic_id_drawn_id UNIQUE (assessor_id, topic_id, drawn_id), 
	CONSTRAINT fk_assignment_campaign_id FOREIGN KEY(campaign_id) REFERENCES campaign (id) ON DELETE CASCADE, 
	CONSTRAINT fk_assignment_topic_id FOREIGN KEY(topic_id) REFERENCES topic (id) ON DELETE CASCADE, 
	CONSTRAINT fk_assignment_unit_id FOREIGN KEY(unit_id) REFERENCES unit (id) ON DELETE CASCADE, 
	CONSTRAINT fk_assignment_assessor_id FOREIGN KEY(assessor_id) REFERENCES assessor (id) ON DELETE CASCADE
)"""  # noqa: W291
INDEXES = (
    "CREATE INDEX ix_assignment_campaign_id_topic_id ON assignment (campaign_id, topic_id)",
    "CREATE INDEX ix_assignment_lease ON assignment (campaign_id, lease_until) WHERE status = 'open'",
    "CREATE UNIQUE INDEX uq_assignment_open_of_assessor ON assignment (assessor_id) WHERE status = 'open'",
    "CREATE UNIQUE INDEX uq_assignment_unit_slot ON assignment (unit_id, slot) WHERE status in ('open', 'completed')",
)
QUESTION = """
CREATE TABLE question (
	campaign_id {key} NOT NULL, 
	content JSON NOT NULL, 
	CONSTRAINT pk_question PRIMARY KEY (campaign_id), 
	CONSTRAINT fk_question_campaign_id FOREIGN KEY(campaign_id) REFERENCES campaign (id) ON DELETE CASCADE
)"""  # noqa: W291


def upgrade() -> None:
    """SQLite cannot change a constraint: the table is made anew, and what belongs to its rows is kept meanwhile."""
    if op.get_bind().dialect.name != "sqlite":
        _run(
            QUESTION.format(key="BIGINT"),
            "ALTER TABLE assignment ADD COLUMN drawn_id BIGINT NOT NULL DEFAULT 0",
            "ALTER TABLE assignment ALTER COLUMN drawn_id DROP DEFAULT",
            "ALTER TABLE assignment DROP CONSTRAINT uq_assignment_assessor_id_topic_id",
            "ALTER TABLE assignment ADD CONSTRAINT uq_assignment_assessor_id_topic_id_drawn_id "
            "UNIQUE (assessor_id, topic_id, drawn_id)",
        )
        return
    _run(
        QUESTION.format(key="INTEGER"),
        *(f"CREATE TEMP TABLE kept_{name} AS SELECT * FROM {name}" for name in (*CHILDREN, "assignment")),
        *(f"DELETE FROM {name}" for name in CHILDREN),
        "DROP TABLE assignment",
        ASSIGNMENT,
        "INSERT INTO assignment SELECT *, 0 FROM kept_assignment",
        *INDEXES,
        *(f"INSERT INTO {name} SELECT * FROM kept_{name}" for name in CHILDREN),
        *(f"DROP TABLE kept_{name}" for name in (*CHILDREN, "assignment")),
    )


def _run(*statements: str) -> None:
    for statement in statements:
        op.execute(text(statement))
