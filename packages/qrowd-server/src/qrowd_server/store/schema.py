"""The tables. Events are the truth; of the rest, some is material and some is what the events add up to.

    campaign, topic, document, image, unit, question, gold   material: written when a campaign is created or changed
    event                                  what happened, append-only
    assessor, slot, assignment             current state, worked out again from the events by one command:
    judgment, preference, bad_mark, gold_answer   who takes part, who has which unit, what they said
    message                                       questions to the organisers
    draft, account, session, api_key, setting, campaign_draft      what the server itself needs; no campaign's data

Numbers of assessors and assignments are random, 62 bits, so that a campaign can be read into another database.
Times are seconds since 1970 (UTC).
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    text,
)
from sqlalchemy.dialects import sqlite
from sqlalchemy.types import TypeEngine

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)

# SQLite counts rows up by itself only where the key is called INTEGER.
Key = BigInteger().with_variant(sqlite.INTEGER(), "sqlite")


def _of(table: str) -> ForeignKey:
    return ForeignKey(f"{table}.id", ondelete="CASCADE")


def _columns(kind: TypeEngine[Any] | type[TypeEngine[Any]], *names: str) -> list[Column[Any]]:
    """Columns of one type that are never null."""
    return [Column(name, kind, nullable=False) for name in names]


def _references(*tables: str) -> list[Column[Any]]:
    """Columns such as `campaign_id`."""
    return [Column(f"{table}_id", Key, _of(table), nullable=False) for table in tables]


def _arm() -> Column[Any]:
    """The arm of a campaign that has several; "" in all others."""
    return Column("arm", Text, nullable=False, default="")


def _partial(name: str, *columns: str, where: str, unique: bool = False) -> Index:
    """An index of the rows of which a condition holds."""
    return Index(name, *columns, unique=unique, sqlite_where=text(where), postgresql_where=text(where))


# ---- material

campaign = Table(
    "campaign",
    metadata,
    Column("id", Key, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("title", Text, nullable=False),
    Column("settings", JSON, nullable=False),  # protocols by arm among them
    Column("status", Text, nullable=False),  # running, paused, stopped, decided
    Column("seed", BigInteger, nullable=False),
    Column("created", Double, nullable=False),
    Column("stamp", BigInteger, nullable=False, server_default=text("0")),  # random, another one with every change
)

topic = Table(
    "topic",
    metadata,
    Column("id", Key, primary_key=True),
    Column("campaign_id", Key, _of("campaign"), nullable=False),
    *_columns(Text, "label", "title", "description", "narrative"),
    Column("question", JSON),  # {"text", "options", "correct"}, or null
    Column("checks", JSON),  # [document of H, document of N], or null
    Column("context", JSON),  # snippets, or null
    Column("systems", JSON),  # {system: [documents, best first]}, or null
    UniqueConstraint("campaign_id", "label"),
)

document = Table(
    "document",
    metadata,
    Column("id", Key, primary_key=True),
    Column("campaign_id", Key, _of("campaign"), nullable=False),
    *_columns(Text, "label", "title", "text"),
    Column("html", Boolean, nullable=False),
    *_columns(Text, "language", "url", "image"),  # image : digest of the image that is shown instead of the text
    Column("layout", Text),  # "pre": as typed; or null
    Column("pages", JSON),  # digests of the images of a PDF's pages, or null
    UniqueConstraint("campaign_id", "label"),
)

image = Table(
    "image",
    metadata,
    Column("campaign_id", Key, _of("campaign"), primary_key=True),
    Column("digest", Text, primary_key=True),
    Column("media_type", Text, nullable=False),
    Column("content", LargeBinary, nullable=False),
)

unit = Table(
    "unit",
    metadata,
    Column("id", Key, primary_key=True),
    *_references("campaign", "topic"),
    _arm(),
    Column("number", Integer, nullable=False),  # from 0, within the topic, arm after arm
    Column("documents", JSON, nullable=False),  # numbers of documents, check documents included
    UniqueConstraint("topic_id", "number"),
)

question = Table(
    "question",
    metadata,
    Column("campaign_id", Key, _of("campaign"), primary_key=True),
    Column("content", JSON, nullable=False),  # the documents that can change its answer, and what each weighs
)

gold = Table(  # questions whose answer is known
    "gold",
    metadata,
    Column("id", Key, primary_key=True),
    *_references("campaign", "topic", "document"),  # the document, or the better one of a pair
    Column("other_id", Key, _of("document")),  # the worse one of a pair
    Column("accepted", JSON, nullable=False),  # grades that are right; [] of a pair
    Column("reason", Text, nullable=False),
    Index(None, "campaign_id", "topic_id"),
)

# ---- the truth

event = Table(
    "event",
    metadata,
    Column("id", Key, primary_key=True),
    Column("time", Double, nullable=False),
    Column("campaign_id", Key, _of("campaign"), nullable=False),
    Column("assessor_id", BigInteger),
    Column("assignment_id", BigInteger),
    Column("unit_id", Key),
    Column("actor", Text, nullable=False),  # assessor, owner, server
    Column("kind", Text, nullable=False),
    Column("data", JSON, nullable=False),
    Column("late", Boolean, nullable=False),  # kept, and never counted
    Column("idem_key", Text, unique=True),  # one per form that was shown; several null
    Column("digest", Text),  # of what the form held, to tell a repeat from a change
    Column("account", Text),  # whose: the name of an account, "command line" or "key NAME"; null for assessors
    Index(None, "campaign_id", "id"),
    Index(None, "assignment_id", "id"),
    Index(None, "unit_id", "id"),
    _partial("ix_event_of_owner", "campaign_id", "kind", where="assessor_id is null"),
    _partial("ix_event_by_owner", "campaign_id", "id", where="actor = 'owner'"),
    # Few events; those of an assignment are found by the assignment, so that an answer has no further index to write.
    _partial("ix_event_of_assessor", "assessor_id", "id", where="assignment_id is null and assessor_id is not null"),
    sqlite_autoincrement=True,
)

# ---- what the events add up to

assessor = Table(
    "assessor",
    metadata,
    Column("id", BigInteger, primary_key=True, autoincrement=False),
    Column("campaign_id", Key, _of("campaign"), nullable=False),
    Column("name", Text, nullable=False),  # in exports only where names are asked for
    Column("provider", Text, nullable=False),  # link, panel, api, model
    Column("external_id", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("excluded", Text),  # the reason, or null
    Column("seed", BigInteger, nullable=False),
    Column("current_id", BigInteger),  # the assignment on the screen; null between units
    Column("state", JSON, nullable=False),
    *_columns(Double, "created", "updated"),
    Column("pseudonym", Text),  # in exports: "a1" for the first person who came, and so on; null for models
    UniqueConstraint("campaign_id", "provider", "external_id"),
    UniqueConstraint("campaign_id", "name"),
    Index("uq_assessor_pseudonym", "campaign_id", "pseudonym", unique=True),
)

OPEN, COMPLETED = "open", "completed"
PERSON, MODEL = "person", "model"  # kinds of assessors; MODEL is also the provider of models, and of nobody else

assignment = Table(
    "assignment",
    metadata,
    Column("id", BigInteger, primary_key=True, autoincrement=False),
    *_references("campaign", "topic", "unit"),
    _arm(),
    Column("slot", Integer, nullable=False),  # below 0: a place beside people, which no row of `slot` stands for
    Column("assessor_id", BigInteger, _of("assessor"), nullable=False),
    Column("status", Text, nullable=False),  # open, completed, failed, screened_out, expired, withdrawn
    Column("counts", Boolean, nullable=False),  # whether its judgments are part of the result
    Column("seed", BigInteger, nullable=False),
    Column("lease_until", Double, nullable=False),
    Column("version", Integer, nullable=False),  # events so far
    Column("state", JSON, nullable=False),
    *_columns(Double, "created", "updated"),
    Column("drawn_id", Key, nullable=False, default=0),  # the unit itself, where a question draws batches; else 0
    UniqueConstraint("assessor_id", "topic_id", "drawn_id"),  # no topic twice, for ever; no document where it is drawn
    _partial("uq_assignment_open_of_assessor", "assessor_id", where="status = 'open'", unique=True),
    _partial("uq_assignment_unit_slot", "unit_id", "slot", where="status in ('open', 'completed')", unique=True),
    _partial("ix_assignment_lease", "campaign_id", "lease_until", where="status = 'open'"),
    Index(None, "campaign_id", "topic_id"),
)

slot = Table(
    "slot",
    metadata,
    Column("unit_id", Key, _of("unit"), primary_key=True),
    Column("number", Integer, primary_key=True),
    *_references("campaign", "topic"),
    _arm(),
    Column("latin_row", Integer, nullable=False, default=0),  # of the design that balances arms over topics
    Column("lottery", Double, nullable=False),  # in [0, 1): where it stands in the order of handing out
    # Who holds it; null where free; minus the assignment after which nothing was left to judge, where it is closed.
    Column("assignment_id", BigInteger),
    _partial("ix_slot_free", "campaign_id", "lottery", where="assignment_id is null"),
    _partial(
        "ix_slot_free_of_arm", "campaign_id", "arm", "latin_row", "lottery", where="assignment_id is null and arm <> ''"
    ),
)

judgment = Table(
    "judgment",
    metadata,
    Column("assignment_id", BigInteger, _of("assignment"), primary_key=True),
    Column("position", Integer, primary_key=True),  # from 0, in the order shown
    *_references("campaign", "document"),
    Column("value", Double),  # null: cannot tell
    Column("raw", Text, nullable=False),  # as typed or chosen
    Column("reason", Text, nullable=False),
    Column("seconds", Double, nullable=False),  # by the server's clock, all visits
    Column("active", Double),  # by the browser's, with the page in front
    Column("visits", Integer, nullable=False),
    Column("revisions", Integer, nullable=False),  # how often it was changed
    Column("time", Double, nullable=False),  # of the last change
    UniqueConstraint("assignment_id", "document_id"),
    Index(None, "campaign_id", "assignment_id"),
)

preference = Table(
    "preference",
    metadata,
    Column("assignment_id", BigInteger, _of("assignment"), primary_key=True),
    Column("number", Integer, primary_key=True),  # from 0, in the order judged; what was undone is not here
    *_references("campaign", "unit"),
    Column("left_id", Key, _of("document"), nullable=False),
    Column("right_id", Key, _of("document"), nullable=False),
    Column("choice", Text, nullable=False),  # left, right, duplicates
    Column("strength", Integer, nullable=False),  # 2 for definitely
    Column("seconds", Double, nullable=False),
    Column("active", Double),
    Column("time", Double, nullable=False),
    CheckConstraint("left_id <> right_id", name="two_documents"),
    Index(None, "campaign_id", "assignment_id"),
    Index(None, "unit_id"),
)

bad_mark = Table(
    "bad_mark",
    metadata,
    Column("assignment_id", BigInteger, _of("assignment"), primary_key=True),
    Column("document_id", Key, _of("document"), primary_key=True),
    *_references("campaign", "unit"),
    Column("number", Integer, nullable=False),  # of the pair at which it was marked
    *_columns(Double, "seconds", "time"),
    Index(None, "campaign_id", "assignment_id"),
    Index(None, "unit_id"),
)

gold_answer = Table(  # to a gold question; never a judgment
    "gold_answer",
    metadata,
    Column("assignment_id", BigInteger, _of("assignment"), primary_key=True),
    Column("number", Integer, primary_key=True),  # the position of the document, or the number of the pair
    *_references("campaign", "document"),
    Column("other_id", Key, _of("document")),
    Column("is_right", Boolean),  # null: cannot tell
    Column("chance", Double, nullable=False),  # the probability that a guess is right
    Column("choices", Text, nullable=False),  # those that are right: grades, or the side of a pair
    Column("is_entry", Boolean, nullable=False),  # whether the question belongs to the entry test
    *_columns(Text, "raw", "reason"),
    Column("seconds", Double, nullable=False),
    Column("active", Double),
    Column("time", Double, nullable=False),
    Index(None, "campaign_id", "assignment_id"),
)

pair_lease = Table(
    "pair_lease",
    metadata,
    Column("board", BigInteger, primary_key=True),  # a unit judged together, or an assignment judged alone
    Column("low_id", Key, primary_key=True),
    Column("high_id", Key, primary_key=True),
    Column("seat", Integer, primary_key=True),  # from 0, below how many may have the pair at once
    Column("assignment_id", BigInteger, _of("assignment"), nullable=False, unique=True),
    CheckConstraint("low_id < high_id", name="in_order"),
)

message = Table(  # what assessors ask the organisers, and the replies
    "message",
    metadata,
    Column("assessor_id", BigInteger, _of("assessor"), primary_key=True),
    Column("number", Integer, primary_key=True),  # from 0, of the assessor
    Column("campaign_id", Key, _of("campaign"), nullable=False),
    Column("assignment_id", BigInteger, _of("assignment"), nullable=False),
    Column("place", Integer, nullable=False),  # position of the document, or number of the pair
    Column("documents", JSON, nullable=False),  # labels: one, or two of a pair
    Column("text", Text, nullable=False),
    Column("time", Double, nullable=False),
    Column("reply", Text),  # null: none yet
    *(Column(name, Double) for name in ("replied", "read")),  # when; null: not yet
    Index(None, "campaign_id", "time"),
)

STATE = (bad_mark, gold_answer, judgment, preference, pair_lease, message, slot, assignment, assessor)

# ---- the server's own

draft = Table(
    "draft",
    metadata,
    Column("assignment_id", BigInteger, _of("assignment"), primary_key=True),
    Column("position", Integer, primary_key=True),
    *_columns(Text, "text", "reason"),
    Column("time", Double, nullable=False),
)

invitation = Table(
    "invitation",
    metadata,
    Column("hash", Text, primary_key=True),  # of the token in the link; the token itself is shown once
    Column("campaign_id", Key, _of("campaign"), nullable=False),
    Column("name", Text, nullable=False),  # of the assessor, who may have several links
    Column("created", Double, nullable=False),
    Column("revoked", Boolean, nullable=False),
    Index(None, "campaign_id", "name"),
)

invited = Table(  # the names of those with invitations, each once
    "invited",
    metadata,
    Column("campaign_id", Key, _of("campaign"), primary_key=True),
    Column("skeleton", Text, primary_key=True),  # of the name: the same for names that look alike
    Column("name", Text, nullable=False),
    Column("sign_up_id", Key),  # of the link by which they came; null where an owner wrote the name
    Column("created", Double, nullable=False),
    Index(None, "sign_up_id"),
)

sign_up = Table(  # one link for many people
    "sign_up",
    metadata,
    Column("id", Key, primary_key=True),
    Column("campaign_id", Key, _of("campaign"), nullable=False),
    Column("hash", Text, nullable=False, unique=True),  # of the token in the link
    Column("most", Integer, nullable=False),  # people
    *_columns(Double, "created", "expires"),
    Column("closed", Double),  # null: open until it expires
)

account = Table(
    "account",
    metadata,
    Column("id", Key, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("password_hash", Text, nullable=False),  # "" : logs in through a provider only
    Column("created", Double, nullable=False),
    Column("role", Text, nullable=False),  # on the server: administrator, member
    Column("disabled", Double),  # since when; null where it may log in
)

member = Table(  # what an account may do in a campaign
    "member",
    metadata,
    Column("campaign_id", Key, _of("campaign"), primary_key=True),
    Column("account_id", Key, _of("account"), primary_key=True),
    Column("role", Text, nullable=False),  # owner, viewer
    Index(None, "account_id"),
)

identity = Table(  # of an account at a provider of OpenID Connect
    "identity",
    metadata,
    Column("issuer", Text, primary_key=True),
    Column("subject", Text, primary_key=True),
    Column("account_id", Key, _of("account"), nullable=False),
    Column("created", Double, nullable=False),
    Index(None, "account_id"),
)

session = Table(
    "session",
    metadata,
    Column("hash", Text, primary_key=True),  # of the random id in the cookie
    Column("kind", Text, nullable=False),  # assessor, owner
    Column("subject_id", BigInteger, nullable=False),  # an assessor or an account
    Column("csrf", Text, nullable=False),
    *_columns(Double, "created", "seen"),
    Index(None, "seen"),
)

api_key = Table(
    "api_key",
    metadata,
    Column("id", Key, primary_key=True),
    Column("hash", Text, nullable=False, unique=True),
    Column("name", Text, nullable=False),
    Column("campaign_id", Key, _of("campaign")),  # null: all campaigns
    Column("created", Double, nullable=False),
    Column("revoked", Boolean, nullable=False),
    Column("account_id", BigInteger),  # who made it; 0: by the printed link
)

login_attempt = Table(
    "login_attempt",
    metadata,
    Column("id", Key, primary_key=True),
    *_columns(Text, "name", "address"),
    Column("time", Double, nullable=False),
    Index(None, "time"),
)

setting = Table("setting", metadata, Column("name", Text, primary_key=True), Column("value", Text, nullable=False))
