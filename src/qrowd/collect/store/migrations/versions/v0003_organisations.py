"""A server of an organisation: roles of accounts, who did what, several links for a name."""

from collections import Counter

from alembic import op
from sqlalchemy import text

from qrowd.collect.store.names import skeleton

revision = "0003"
down_revision = "0002"

ACCOUNT = """
CREATE TABLE account (
	id INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	password_hash TEXT NOT NULL, 
	created DOUBLE NOT NULL, 
	role TEXT NOT NULL, 
	disabled DOUBLE, 
	CONSTRAINT pk_account PRIMARY KEY (id), 
	CONSTRAINT uq_account_name UNIQUE (name)
)"""  # noqa: W291
INVITATION = """
CREATE TABLE invitation (
	hash TEXT NOT NULL, 
	campaign_id INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	created DOUBLE NOT NULL, 
	revoked BOOLEAN NOT NULL, 
	CONSTRAINT pk_invitation PRIMARY KEY (hash), 
	CONSTRAINT fk_invitation_campaign_id FOREIGN KEY(campaign_id) REFERENCES campaign (id) ON DELETE CASCADE
)"""  # noqa: W291
TABLES = """
CREATE TABLE invited (
	campaign_id {key} NOT NULL, 
	skeleton TEXT NOT NULL, 
	name TEXT NOT NULL, 
	sign_up_id {key}, 
	created {double} NOT NULL, 
	CONSTRAINT pk_invited PRIMARY KEY (campaign_id, skeleton), 
	CONSTRAINT fk_invited_campaign_id FOREIGN KEY(campaign_id) REFERENCES campaign (id) ON DELETE CASCADE
);
CREATE TABLE sign_up (
	id {counted} NOT NULL, 
	campaign_id {key} NOT NULL, 
	hash TEXT NOT NULL, 
	most INTEGER NOT NULL, 
	created {double} NOT NULL, 
	expires {double} NOT NULL, 
	closed {double}, 
	CONSTRAINT pk_sign_up PRIMARY KEY (id), 
	CONSTRAINT fk_sign_up_campaign_id FOREIGN KEY(campaign_id) REFERENCES campaign (id) ON DELETE CASCADE, 
	CONSTRAINT uq_sign_up_hash UNIQUE (hash)
);
CREATE TABLE member (
	campaign_id {key} NOT NULL, 
	account_id {key} NOT NULL, 
	role TEXT NOT NULL, 
	CONSTRAINT pk_member PRIMARY KEY (campaign_id, account_id), 
	CONSTRAINT fk_member_campaign_id FOREIGN KEY(campaign_id) REFERENCES campaign (id) ON DELETE CASCADE, 
	CONSTRAINT fk_member_account_id FOREIGN KEY(account_id) REFERENCES account (id) ON DELETE CASCADE
);
CREATE TABLE identity (
	issuer TEXT NOT NULL, 
	subject TEXT NOT NULL, 
	account_id {key} NOT NULL, 
	created {double} NOT NULL, 
	CONSTRAINT pk_identity PRIMARY KEY (issuer, subject), 
	CONSTRAINT fk_identity_account_id FOREIGN KEY(account_id) REFERENCES account (id) ON DELETE CASCADE
);
CREATE TABLE second_factor (
	account_id {key} NOT NULL, 
	secret TEXT NOT NULL, 
	last_step BIGINT NOT NULL, 
	created {double} NOT NULL, 
	CONSTRAINT pk_second_factor PRIMARY KEY (account_id), 
	CONSTRAINT fk_second_factor_account_id FOREIGN KEY(account_id) REFERENCES account (id) ON DELETE CASCADE
);
CREATE TABLE recovery_code (
	account_id {key} NOT NULL, 
	hash TEXT NOT NULL, 
	used {double}, 
	CONSTRAINT pk_recovery_code PRIMARY KEY (account_id, hash), 
	CONSTRAINT fk_recovery_code_account_id FOREIGN KEY(account_id) REFERENCES account (id) ON DELETE CASCADE
);
CREATE TABLE gold (
	id {counted} NOT NULL, 
	campaign_id {key} NOT NULL, 
	topic_id {key} NOT NULL, 
	document_id {key} NOT NULL, 
	other_id {key}, 
	accepted JSON NOT NULL, 
	reason TEXT NOT NULL, 
	CONSTRAINT pk_gold PRIMARY KEY (id), 
	CONSTRAINT fk_gold_campaign_id FOREIGN KEY(campaign_id) REFERENCES campaign (id) ON DELETE CASCADE, 
	CONSTRAINT fk_gold_topic_id FOREIGN KEY(topic_id) REFERENCES topic (id) ON DELETE CASCADE, 
	CONSTRAINT fk_gold_document_id FOREIGN KEY(document_id) REFERENCES document (id) ON DELETE CASCADE, 
	CONSTRAINT fk_gold_other_id FOREIGN KEY(other_id) REFERENCES document (id) ON DELETE CASCADE
);
CREATE TABLE gold_answer (
	assignment_id BIGINT NOT NULL, 
	number INTEGER NOT NULL, 
	campaign_id {key} NOT NULL, 
	document_id {key} NOT NULL, 
	other_id {key}, 
	is_right BOOLEAN, 
	chance {double} NOT NULL, 
	choices TEXT NOT NULL, 
	is_entry BOOLEAN NOT NULL, 
	raw TEXT NOT NULL, 
	reason TEXT NOT NULL, 
	seconds {double} NOT NULL, 
	active {double}, 
	time {double} NOT NULL, 
	CONSTRAINT pk_gold_answer PRIMARY KEY (assignment_id, number), 
	CONSTRAINT fk_gold_answer_assignment_id FOREIGN KEY(assignment_id) REFERENCES assignment (id) ON DELETE CASCADE, 
	CONSTRAINT fk_gold_answer_campaign_id FOREIGN KEY(campaign_id) REFERENCES campaign (id) ON DELETE CASCADE, 
	CONSTRAINT fk_gold_answer_document_id FOREIGN KEY(document_id) REFERENCES document (id) ON DELETE CASCADE, 
	CONSTRAINT fk_gold_answer_other_id FOREIGN KEY(other_id) REFERENCES document (id) ON DELETE CASCADE
);
CREATE TABLE reservation (
	unit_id {key} NOT NULL, 
	number INTEGER NOT NULL, 
	campaign_id {key} NOT NULL, 
	topic_id {key} NOT NULL, 
	name TEXT NOT NULL, 
	until {double} NOT NULL, 
	CONSTRAINT pk_reservation PRIMARY KEY (unit_id, number), 
	CONSTRAINT fk_reservation_unit_id FOREIGN KEY(unit_id) REFERENCES unit (id) ON DELETE CASCADE, 
	CONSTRAINT fk_reservation_campaign_id FOREIGN KEY(campaign_id) REFERENCES campaign (id) ON DELETE CASCADE, 
	CONSTRAINT fk_reservation_topic_id FOREIGN KEY(topic_id) REFERENCES topic (id) ON DELETE CASCADE
);
CREATE TABLE message (
	assessor_id BIGINT NOT NULL, 
	number INTEGER NOT NULL, 
	campaign_id {key} NOT NULL, 
	assignment_id BIGINT NOT NULL, 
	place INTEGER NOT NULL, 
	documents JSON NOT NULL, 
	text TEXT NOT NULL, 
	time {double} NOT NULL, 
	reply TEXT, 
	replied {double}, 
	read {double}, 
	CONSTRAINT pk_message PRIMARY KEY (assessor_id, number), 
	CONSTRAINT fk_message_assessor_id FOREIGN KEY(assessor_id) REFERENCES assessor (id) ON DELETE CASCADE, 
	CONSTRAINT fk_message_campaign_id FOREIGN KEY(campaign_id) REFERENCES campaign (id) ON DELETE CASCADE, 
	CONSTRAINT fk_message_assignment_id FOREIGN KEY(assignment_id) REFERENCES assignment (id) ON DELETE CASCADE
);
CREATE TABLE campaign_draft (
	id TEXT NOT NULL, 
	account_id BIGINT NOT NULL, 
	campaign_id {key}, 
	saved {double} NOT NULL, 
	fields JSON NOT NULL, 
	files JSON NOT NULL, 
	CONSTRAINT pk_campaign_draft PRIMARY KEY (id), 
	CONSTRAINT fk_campaign_draft_campaign_id FOREIGN KEY(campaign_id) REFERENCES campaign (id) ON DELETE CASCADE
);
CREATE TABLE draft_part (
	draft_id TEXT NOT NULL, 
	file TEXT NOT NULL, 
	number INTEGER NOT NULL, 
	content {bytes} NOT NULL, 
	CONSTRAINT pk_draft_part PRIMARY KEY (draft_id, file, number), 
	CONSTRAINT fk_draft_part_draft_id FOREIGN KEY(draft_id) REFERENCES campaign_draft (id) ON DELETE CASCADE
);
CREATE INDEX ix_reservation_campaign_id_name ON reservation (campaign_id, name);
CREATE INDEX ix_message_campaign_id_time ON message (campaign_id, time);
CREATE INDEX ix_gold_campaign_id_topic_id ON gold (campaign_id, topic_id);
CREATE INDEX ix_gold_answer_campaign_id_assignment_id ON gold_answer (campaign_id, assignment_id);
CREATE INDEX ix_invited_sign_up_id ON invited (sign_up_id);
CREATE INDEX ix_member_account_id ON member (account_id);
CREATE INDEX ix_identity_account_id ON identity (account_id);
CREATE INDEX ix_invitation_campaign_id_name ON invitation (campaign_id, name)"""  # noqa: W291


def upgrade() -> None:
    """Who had an account ran everything, so they are administrators. SQLite: tables are made anew, as in 0002."""
    if op.get_bind().dialect.name != "sqlite":
        _run(
            "ALTER TABLE account ADD COLUMN role TEXT NOT NULL DEFAULT 'administrator'",
            "ALTER TABLE account ALTER COLUMN role DROP DEFAULT",
            "ALTER TABLE account ADD COLUMN disabled DOUBLE PRECISION",
            "ALTER TABLE invitation DROP CONSTRAINT uq_invitation_campaign_id_name",
            *TABLES.format(key="BIGINT", counted="BIGSERIAL", double="DOUBLE PRECISION", bytes="BYTEA").split(";"),
        )
    else:
        _run(
            "CREATE TEMP TABLE kept_account AS SELECT * FROM account",
            "CREATE TEMP TABLE kept_invitation AS SELECT * FROM invitation",
            "DROP TABLE account",
            "DROP TABLE invitation",
            ACCOUNT,
            INVITATION,
            "INSERT INTO account SELECT *, 'administrator', NULL FROM kept_account",
            "INSERT INTO invitation SELECT * FROM kept_invitation",
            "DROP TABLE kept_account",
            "DROP TABLE kept_invitation",
            *TABLES.format(key="INTEGER", counted="INTEGER", double="DOUBLE", bytes="BLOB").split(";"),
        )
    _run(
        "ALTER TABLE event ADD COLUMN account TEXT",
        "ALTER TABLE event ADD COLUMN version INTEGER",
        "ALTER TABLE campaign ADD COLUMN version INTEGER DEFAULT 1 NOT NULL",
        "ALTER TABLE campaign ADD COLUMN stamp BIGINT DEFAULT 0 NOT NULL",
        "ALTER TABLE document ADD COLUMN layout TEXT",
        "ALTER TABLE document ADD COLUMN pages JSON",
        "CREATE INDEX ix_event_by_owner ON event (campaign_id, id) WHERE actor = 'owner'",
        "CREATE INDEX ix_event_of_assessor ON event (assessor_id, id) "
        "WHERE assignment_id is null and assessor_id is not null",
        "ALTER TABLE assessor ADD COLUMN pseudonym TEXT",
        "CREATE UNIQUE INDEX uq_assessor_pseudonym ON assessor (campaign_id, pseudonym)",
    )
    arrivals = (
        "SELECT assessor.campaign_id, assessor.id FROM event JOIN assessor ON assessor.id = event.assessor_id "
        "WHERE event.kind = 'arrived' AND assessor.provider <> 'model' ORDER BY event.id"
    )
    numbers: Counter[int] = Counter()
    for campaign_id, number in op.get_bind().execute(text(arrivals)).all():
        numbers[campaign_id] += 1
        named = "UPDATE assessor SET pseudonym = :pseudonym WHERE id = :number"
        op.get_bind().execute(text(named), {"pseudonym": f"a{numbers[campaign_id]}", "number": number})
    rows = op.get_bind().execute(text("SELECT campaign_id, name, created FROM invitation ORDER BY created")).all()
    for campaign_id, name, created in rows:
        values = {"campaign_id": campaign_id, "skeleton": skeleton(name), "name": name, "created": created}
        insert = "INSERT INTO invited VALUES (:campaign_id, :skeleton, :name, NULL, :created) ON CONFLICT DO NOTHING"
        op.get_bind().execute(text(insert), values)


def _run(*statements: str) -> None:
    for statement in statements:
        op.execute(text(statement))
