"""The first tables."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

KEY = sa.BigInteger().with_variant(sa.INTEGER(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "account",
        sa.Column("id", KEY, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("password_hash", sa.Text(), nullable=False),
        sa.Column("created", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_account")),
        sa.UniqueConstraint("name", name=op.f("uq_account_name")),
    )
    op.create_table(
        "campaign",
        sa.Column("id", KEY, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("protocol", sa.Text(), nullable=False),
        sa.Column("settings", sa.JSON(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("seed", sa.BigInteger(), nullable=False),
        sa.Column("created", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_campaign")),
        sa.UniqueConstraint("name", name=op.f("uq_campaign_name")),
    )
    op.create_table(
        "login_attempt",
        sa.Column("id", KEY, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("address", sa.Text(), nullable=False),
        sa.Column("time", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_login_attempt")),
    )
    op.create_index(op.f("ix_login_attempt_time"), "login_attempt", ["time"], unique=False)
    op.create_table(
        "session",
        sa.Column("hash", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("subject_id", sa.BigInteger(), nullable=False),
        sa.Column("csrf", sa.Text(), nullable=False),
        sa.Column("created", sa.Double(), nullable=False),
        sa.Column("seen", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("hash", name=op.f("pk_session")),
    )
    op.create_index(op.f("ix_session_seen"), "session", ["seen"], unique=False)
    op.create_table(
        "setting",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_setting")),
    )
    op.create_table(
        "webhook",
        sa.Column("provider", sa.Text(), nullable=False),
        sa.Column("event_id", sa.Text(), nullable=False),
        sa.Column("received", sa.Double(), nullable=False),
        sa.Column("data", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("provider", "event_id", name=op.f("pk_webhook")),
    )
    op.create_table(
        "api_key",
        sa.Column("id", KEY, nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("campaign_id", KEY, nullable=True),
        sa.Column("created", sa.Double(), nullable=False),
        sa.Column("revoked", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["campaign_id"], ["campaign.id"], name=op.f("fk_api_key_campaign_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_api_key")),
        sa.UniqueConstraint("hash", name=op.f("uq_api_key_hash")),
    )
    op.create_table(
        "assessor",
        sa.Column("id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("campaign_id", KEY, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("provider", sa.Text(), nullable=False),
        sa.Column("external_id", sa.Text(), nullable=False),
        sa.Column("identified", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("excluded", sa.Text(), nullable=True),
        sa.Column("seed", sa.BigInteger(), nullable=False),
        sa.Column("current_id", sa.BigInteger(), nullable=True),
        sa.Column("state", sa.JSON(), nullable=False),
        sa.Column("created", sa.Double(), nullable=False),
        sa.Column("updated", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(
            ["campaign_id"], ["campaign.id"], name=op.f("fk_assessor_campaign_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_assessor")),
        sa.UniqueConstraint("campaign_id", "name", name=op.f("uq_assessor_campaign_id_name")),
        sa.UniqueConstraint(
            "campaign_id", "provider", "external_id", name=op.f("uq_assessor_campaign_id_provider_external_id")
        ),
    )
    op.create_table(
        "document",
        sa.Column("id", KEY, nullable=False),
        sa.Column("campaign_id", KEY, nullable=False),
        sa.Column("label", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("html", sa.Boolean(), nullable=False),
        sa.Column("language", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["campaign_id"], ["campaign.id"], name=op.f("fk_document_campaign_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_document")),
        sa.UniqueConstraint("campaign_id", "label", name=op.f("uq_document_campaign_id_label")),
    )
    op.create_table(
        "event",
        sa.Column("id", KEY, nullable=False),
        sa.Column("time", sa.Double(), nullable=False),
        sa.Column("campaign_id", KEY, nullable=False),
        sa.Column("assessor_id", sa.BigInteger(), nullable=True),
        sa.Column("assignment_id", sa.BigInteger(), nullable=True),
        sa.Column("unit_id", KEY, nullable=True),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("data", sa.JSON(), nullable=False),
        sa.Column("late", sa.Boolean(), nullable=False),
        sa.Column("idem_key", sa.Text(), nullable=True),
        sa.Column("digest", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["campaign_id"], ["campaign.id"], name=op.f("fk_event_campaign_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_event")),
        sa.UniqueConstraint("idem_key", name=op.f("uq_event_idem_key")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_event_assignment_id_id"), "event", ["assignment_id", "id"], unique=False)
    op.create_index(op.f("ix_event_campaign_id_id"), "event", ["campaign_id", "id"], unique=False)
    op.create_index(op.f("ix_event_unit_id_id"), "event", ["unit_id", "id"], unique=False)
    op.create_table(
        "invitation",
        sa.Column("hash", sa.Text(), nullable=False),
        sa.Column("campaign_id", KEY, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("created", sa.Double(), nullable=False),
        sa.Column("revoked", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["campaign_id"], ["campaign.id"], name=op.f("fk_invitation_campaign_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("hash", name=op.f("pk_invitation")),
        sa.UniqueConstraint("campaign_id", "name", name=op.f("uq_invitation_campaign_id_name")),
    )
    op.create_table(
        "topic",
        sa.Column("id", KEY, nullable=False),
        sa.Column("campaign_id", KEY, nullable=False),
        sa.Column("label", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("narrative", sa.Text(), nullable=False),
        sa.Column("question", sa.JSON(), nullable=True),
        sa.Column("checks", sa.JSON(), nullable=True),
        sa.Column("context", sa.JSON(), nullable=True),
        sa.Column("systems", sa.JSON(), nullable=True),
        sa.ForeignKeyConstraint(
            ["campaign_id"], ["campaign.id"], name=op.f("fk_topic_campaign_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_topic")),
        sa.UniqueConstraint("campaign_id", "label", name=op.f("uq_topic_campaign_id_label")),
    )
    op.create_table(
        "unit",
        sa.Column("id", KEY, nullable=False),
        sa.Column("campaign_id", KEY, nullable=False),
        sa.Column("topic_id", KEY, nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("documents", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["campaign_id"], ["campaign.id"], name=op.f("fk_unit_campaign_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["topic_id"], ["topic.id"], name=op.f("fk_unit_topic_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_unit")),
        sa.UniqueConstraint("topic_id", "number", name=op.f("uq_unit_topic_id_number")),
    )
    op.create_table(
        "assignment",
        sa.Column("id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("campaign_id", KEY, nullable=False),
        sa.Column("topic_id", KEY, nullable=False),
        sa.Column("unit_id", KEY, nullable=False),
        sa.Column("slot", sa.Integer(), nullable=False),
        sa.Column("assessor_id", sa.BigInteger(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("counts", sa.Boolean(), nullable=False),
        sa.Column("seed", sa.BigInteger(), nullable=False),
        sa.Column("lease_until", sa.Double(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("state", sa.JSON(), nullable=False),
        sa.Column("created", sa.Double(), nullable=False),
        sa.Column("updated", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(
            ["assessor_id"], ["assessor.id"], name=op.f("fk_assignment_assessor_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["campaign_id"], ["campaign.id"], name=op.f("fk_assignment_campaign_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["topic_id"], ["topic.id"], name=op.f("fk_assignment_topic_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["unit_id"], ["unit.id"], name=op.f("fk_assignment_unit_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_assignment")),
        sa.UniqueConstraint("assessor_id", "topic_id", name=op.f("uq_assignment_assessor_id_topic_id")),
    )
    op.create_index(op.f("ix_assignment_campaign_id_topic_id"), "assignment", ["campaign_id", "topic_id"], unique=False)
    op.create_index(
        "ix_assignment_lease",
        "assignment",
        ["campaign_id", "lease_until"],
        unique=False,
        sqlite_where=sa.text("status = 'open'"),
        postgresql_where=sa.text("status = 'open'"),
    )
    op.create_index(
        "uq_assignment_open_of_assessor",
        "assignment",
        ["assessor_id"],
        unique=True,
        sqlite_where=sa.text("status = 'open'"),
        postgresql_where=sa.text("status = 'open'"),
    )
    op.create_index(
        "uq_assignment_unit_slot",
        "assignment",
        ["unit_id", "slot"],
        unique=True,
        sqlite_where=sa.text("status in ('open', 'completed')"),
        postgresql_where=sa.text("status in ('open', 'completed')"),
    )
    op.create_table(
        "slot",
        sa.Column("unit_id", KEY, nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("campaign_id", KEY, nullable=False),
        sa.Column("topic_id", KEY, nullable=False),
        sa.Column("lottery", sa.Double(), nullable=False),
        sa.Column("assignment_id", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["campaign_id"], ["campaign.id"], name=op.f("fk_slot_campaign_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["topic_id"], ["topic.id"], name=op.f("fk_slot_topic_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["unit_id"], ["unit.id"], name=op.f("fk_slot_unit_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("unit_id", "number", name=op.f("pk_slot")),
    )
    op.create_index(
        "ix_slot_free",
        "slot",
        ["campaign_id", "lottery"],
        unique=False,
        sqlite_where=sa.text("assignment_id is null"),
        postgresql_where=sa.text("assignment_id is null"),
    )
    op.create_table(
        "bad_mark",
        sa.Column("assignment_id", sa.BigInteger(), nullable=False),
        sa.Column("document_id", KEY, nullable=False),
        sa.Column("campaign_id", KEY, nullable=False),
        sa.Column("unit_id", KEY, nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("seconds", sa.Double(), nullable=False),
        sa.Column("time", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(
            ["assignment_id"], ["assignment.id"], name=op.f("fk_bad_mark_assignment_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["campaign_id"], ["campaign.id"], name=op.f("fk_bad_mark_campaign_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["document_id"], ["document.id"], name=op.f("fk_bad_mark_document_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["unit_id"], ["unit.id"], name=op.f("fk_bad_mark_unit_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("assignment_id", "document_id", name=op.f("pk_bad_mark")),
    )
    op.create_index(
        op.f("ix_bad_mark_campaign_id_assignment_id"), "bad_mark", ["campaign_id", "assignment_id"], unique=False
    )
    op.create_index(op.f("ix_bad_mark_unit_id"), "bad_mark", ["unit_id"], unique=False)
    op.create_table(
        "draft",
        sa.Column("assignment_id", sa.BigInteger(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("time", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(
            ["assignment_id"], ["assignment.id"], name=op.f("fk_draft_assignment_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("assignment_id", "position", name=op.f("pk_draft")),
    )
    op.create_table(
        "judgment",
        sa.Column("assignment_id", sa.BigInteger(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("campaign_id", KEY, nullable=False),
        sa.Column("document_id", KEY, nullable=False),
        sa.Column("value", sa.Double(), nullable=True),
        sa.Column("raw", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("seconds", sa.Double(), nullable=False),
        sa.Column("active", sa.Double(), nullable=True),
        sa.Column("visits", sa.Integer(), nullable=False),
        sa.Column("revisions", sa.Integer(), nullable=False),
        sa.Column("time", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(
            ["assignment_id"], ["assignment.id"], name=op.f("fk_judgment_assignment_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["campaign_id"], ["campaign.id"], name=op.f("fk_judgment_campaign_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["document_id"], ["document.id"], name=op.f("fk_judgment_document_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("assignment_id", "position", name=op.f("pk_judgment")),
        sa.UniqueConstraint("assignment_id", "document_id", name=op.f("uq_judgment_assignment_id_document_id")),
    )
    op.create_index(
        op.f("ix_judgment_campaign_id_assignment_id"), "judgment", ["campaign_id", "assignment_id"], unique=False
    )
    op.create_table(
        "pair_lease",
        sa.Column("board", sa.BigInteger(), nullable=False),
        sa.Column("low_id", KEY, nullable=False),
        sa.Column("high_id", KEY, nullable=False),
        sa.Column("seat", sa.Integer(), nullable=False),
        sa.Column("assignment_id", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("low_id < high_id", name=op.f("ck_pair_lease_in_order")),
        sa.ForeignKeyConstraint(
            ["assignment_id"], ["assignment.id"], name=op.f("fk_pair_lease_assignment_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("board", "low_id", "high_id", "seat", name=op.f("pk_pair_lease")),
        sa.UniqueConstraint("assignment_id", name=op.f("uq_pair_lease_assignment_id")),
    )
    op.create_table(
        "preference",
        sa.Column("assignment_id", sa.BigInteger(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("campaign_id", KEY, nullable=False),
        sa.Column("unit_id", KEY, nullable=False),
        sa.Column("left_id", KEY, nullable=False),
        sa.Column("right_id", KEY, nullable=False),
        sa.Column("choice", sa.Text(), nullable=False),
        sa.Column("strength", sa.Integer(), nullable=False),
        sa.Column("seconds", sa.Double(), nullable=False),
        sa.Column("active", sa.Double(), nullable=True),
        sa.Column("time", sa.Double(), nullable=False),
        sa.CheckConstraint("left_id <> right_id", name=op.f("ck_preference_two_documents")),
        sa.ForeignKeyConstraint(
            ["assignment_id"], ["assignment.id"], name=op.f("fk_preference_assignment_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["campaign_id"], ["campaign.id"], name=op.f("fk_preference_campaign_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["left_id"], ["document.id"], name=op.f("fk_preference_left_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["right_id"], ["document.id"], name=op.f("fk_preference_right_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["unit_id"], ["unit.id"], name=op.f("fk_preference_unit_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("assignment_id", "number", name=op.f("pk_preference")),
    )
    op.create_index(
        op.f("ix_preference_campaign_id_assignment_id"), "preference", ["campaign_id", "assignment_id"], unique=False
    )
    op.create_index(op.f("ix_preference_unit_id"), "preference", ["unit_id"], unique=False)
