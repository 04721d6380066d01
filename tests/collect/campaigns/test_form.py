"""The form of a new campaign: one folder, one reader, and every problem beside its field."""

import io
import tomllib
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qrowd.collect.campaigns.creation import create_campaign
from qrowd.collect.campaigns.folder import read_folder
from qrowd.collect.campaigns.form import SentFile, check_form, folder_zip
from qrowd.collect.campaigns.form_fields import FIELDS, first_values, name_of_title, tables_of, toml_text
from qrowd.collect.campaigns.plan import DocumentPlan, Plan, TopicPlan
from qrowd.collect.campaigns.plan_preview import preview_of
from qrowd.collect.campaigns.plan_size import plan_size
from qrowd.collect.campaigns.template import PROTOCOLS
from qrowd.collect.protocols.assembly import slots_of, units_of_topic
from qrowd.collect.protocols.settings import SETTINGS, GradesSettings, JourneySettings
from qrowd.collect.protocols.views import DocumentView, PairView
from qrowd.collect.store.engine import open_store
from qrowd.collect.store.materials import units_of
from zips import zipped

CSV = b"docid,title,text\n" + b"".join(b"d%d,Page %d,Bees number %d.\n" % (i, i, i) for i in range(1, 9))
DOCUMENTS = SentFile("documents", "pages.csv", CSV)
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
    "1f15c4890000000d49444154789c6360000002000001e221bc330000000049454e44ae426082"
)


def form(**changes: str) -> dict[str, str]:
    """A form with two topics; `__` stands for the point in a name."""
    values = {"campaign.title": "Bees & bread", "campaign.seed": "7", "topics": "keeping bees\nflat bread"}
    return {**first_values(), **values, **{name.replace("__", "."): value for name, value in changes.items()}}


def test_an_untouched_form_has_the_defaults_of_the_settings() -> None:
    plan = check_form(form(), [DOCUMENTS]).plan
    assert plan is not None
    assert (plan.name, plan.title, plan.seed) == ("bees-bread", "Bees & bread", 7)
    assert plan.arms == {"": GradesSettings()}
    assert plan.journey == JourneySettings()
    assert [(one.label, one.title, len(one.pool)) for one in plan.topics] == [
        ("t1", "keeping bees", 8),
        ("t2", "flat bread", 8),
    ]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_each_protocol_can_be_created_and_its_first_page_seen(protocol: str) -> None:
    checks = SentFile("checks", "checks.txt", b"t1 d1 d8\nt2 d2 d7\n")
    sent = [DOCUMENTS, *([checks] if protocol == "magnitude" else [])]
    result = check_form(form(protocol=protocol), sent)
    assert result.problems == {}
    assert result.plan is not None
    pages = preview_of(result.plan).pages
    assert list(pages) == ["consent", *(["practice"] if protocol == "magnitude" else []), "task"]
    assert isinstance(pages["task"].view, PairView if protocol == "preference" else DocumentView)
    assert pages["task"].topic is not None
    assert pages["task"].topic.title == "keeping bees"
    assert all(page.preview for page in pages.values())


def test_every_field_stands_for_a_key_that_there_is() -> None:
    for protocol in PROTOCOLS:
        names = {name for name, one in FIELDS.items() if protocol in one.protocols}
        settings = {name.partition(".")[2] for name in names if name.startswith(f"{protocol}.")}
        assert settings <= set(SETTINGS[protocol].__dataclass_fields__)
        assert {"campaign.title", "journey.max_units"} <= names


def test_all_settings_that_do_not_fit_are_said_at_once_each_beside_its_field() -> None:
    wrong = form(
        grades__k="many",
        grades__redundancy="0",
        grades__labels="yes\nyes",
        campaign__name="Bees and bread",
        campaign__lease_minutes="0",
        journey__max_units="-1",
    )
    result = check_form(wrong, [DOCUMENTS])
    assert result.plan is None
    assert result.toml == ""
    assert set(result.problems) == {
        "grades.k",
        "grades.redundancy",
        "grades.labels",
        "campaign.name",
        "campaign.lease_minutes",
        "journey.max_units",
    }
    assert result.problems["grades.k"] == ("'many' cannot be used; give a whole number from 1",)


def test_mistakes_in_files_are_said_beside_them_with_the_line_together_with_settings() -> None:
    topics = SentFile("topics", "queries.tsv", b"topic\ttitle\nt1\tbees\nt2\n")
    documents = SentFile("documents", "pages.csv", b"docid,text\nd1,one\nd2\n")
    result = check_form(form(grades__k="0"), [topics, documents])
    assert set(result.problems) == {"grades.k", "topics", "documents"}
    assert result.problems["topics"] == ("topics.tsv, line 3: expected 2 cells, as many as columns, found 1",)
    assert result.problems["documents"] == ("pages.csv, line 3: expected 2 cells, as many as columns, found 1",)


def test_what_is_missing_is_said_of_topics_and_documents() -> None:
    assert set(check_form(form(topics=""), []).problems) == {"topics", "documents"}
    assert set(check_form(form(pool="list"), [DOCUMENTS]).problems) == {"pool.list"}
    assert set(check_form(form(pool="runs"), [DOCUMENTS]).problems) == {"runs"}
    assert set(check_form(form(campaign__title=" "), [DOCUMENTS]).problems) == {"campaign.title"}
    assert set(check_form(form(guidelines="![a](a.png)"), [DOCUMENTS]).problems) == {"guidelines"}


@pytest.mark.parametrize(
    ("pasted", "labels"),
    [
        ("bees\n\nbread\n", ["t1", "t2"]),
        ("q7\tbees\nq8\tbread", ["q7", "q8"]),
        ("topic,title\nq7,bees", ["q7"]),
        ("<top><num>Number: 301<title>bees</top>", ["301"]),
        ('{"topic": "a", "title": "bees"}', ["a"]),
        ("bees, bread and butter", ["t1"]),
    ],
)
def test_topics_are_pasted_as_titles_a_table_or_trec_topics(pasted: str, labels: list[str]) -> None:
    result = check_form(form(topics=pasted), [DOCUMENTS])
    assert result.plan is not None, result.problems
    assert [one.label for one in result.plan.topics] == labels


def pools(values: dict[str, str], *files: SentFile) -> dict[str, tuple[str, ...]]:
    result = check_form(values, files)
    assert result.plan is not None, result.problems
    return {one.label: one.pool for one in result.plan.topics}


def test_the_documents_of_a_topic_come_from_a_column_a_list_or_runs() -> None:
    column = SentFile("documents", "a.csv", b"docid,topic,text\nd1,t1,one\nd2,t2,two\nd3,t2,three\n")
    assert pools(form(pool="column"), column) == {"t1": ("d1",), "t2": ("d2", "d3")}
    pasted = form(pool="list", **{"pool.list": "t1 d1\nt2 0 d3 1\n"})
    assert pools(pasted, column) == {"t1": ("d1",), "t2": ("d3",)}
    listed = SentFile("pool.list", "pool.qrels", b"t1 0 d2 0\nt2 0 d2 0\n")
    assert pools(pasted, column, listed) == {"t1": ("d2",), "t2": ("d2",)}, "a file counts in place of the list"
    run = SentFile("runs", "bm25.run", b"t1 Q0 d1 1 2 x\nt1 Q0 d2 2 1 x\nt2 Q0 d3 1 1 x\n")
    assert pools(form(pool="runs", files__depth="1"), column, run) == {"t1": ("d1",), "t2": ("d3",)}
    wrong = check_form(form(pool="runs", files__depth="some"), [column, run])
    assert set(wrong.problems) == {"files.depth"}
    empty = SentFile("documents", "a.csv", b"docid,topic,text\nd1,,one\n")
    assert "no topic stands" in check_form(form(pool="column"), [empty]).problems["documents"][0]


def test_documents_are_pages_or_a_zip_with_or_without_a_folder_around_it() -> None:
    pages = [SentFile("documents", name, b"<p>Bees.</p>") for name in ("d1.html", "d2.txt")]
    assert pools(form(topics="bees"), *pages) == {"t1": ("d1", "d2")}
    inside = {"a/d1.txt": b"One.", "a/d2.txt": b"Two.", "__MACOSX/a/._d1.txt": b"x", ".DS_Store": b"x"}
    assert pools(form(topics="bees"), SentFile("documents", "all.zip", zipped(inside))) == {"t1": ("d1", "d2")}
    table = zipped({"pages.csv": b"docid,text,image\nd1,one,one.png\n", "one.png": PNG})
    result = check_form(form(topics="bees"), [SentFile("documents", "all.zip", table)])
    assert result.plan is not None, result.problems
    assert result.plan.documents[0].image
    preview = preview_of(result.plan)
    assert [kind for kind, _ in preview.contents.values()] == ["image/png"]
    broken = check_form(form(), [SentFile("documents", "all.zip", b"no zip")])
    assert "cannot be unpacked" in broken.problems["documents"][0]
    twice = [SentFile("documents", "all.zip", zipped({"d1.txt": b"x"})), SentFile("documents", "d1.txt", b"y")]
    assert "two files are called 'd1.txt'" in check_form(form(), twice).problems["documents"][0]


def test_a_file_cannot_take_the_place_of_another_or_lead_out(tmp_path: Path) -> None:
    named = SentFile("documents", "campaign.toml", b"docid,text\nd1,one\n")
    result = check_form(form(), [named])
    assert result.plan is not None, result.problems
    out = SentFile("documents", "../../etc/*.csv", b"docid,text\nd1,one\n")
    assert pools(form(topics="bees"), out) == {"t1": ("d1",)}
    leading = check_form(form(), [SentFile("documents", "a.zip", zipped({"../x.txt": b"x"}))])
    assert leading.plan is None


def test_gold_questions_of_the_form_are_those_of_a_folder() -> None:
    gold = SentFile("gold", "known.csv", b"topic,document,grade,reason\nt1,d1,3,It is about bees.\n")
    result = check_form(form(gold__every="4", gold__bonus="0.9 1.50\n0.8 1", gold__feedback="yes"), [DOCUMENTS, gold])
    assert result.plan is not None, result.problems
    assert result.plan.gold is not None
    assert (result.plan.gold.every, result.plan.gold.feedback) == (4, True)
    assert [(one.accuracy, one.amount) for one in result.plan.gold.bonus] == [(0.8, 1.0), (0.9, 1.5)]
    assert "d1" not in result.plan.topics[0].pool
    assert preview_of(result.plan).pages["task"].view.of == 7  # type: ignore[union-attr]
    wrong = check_form(form(gold__every="1", gold__bonus="much"), [DOCUMENTS, gold])
    assert set(wrong.problems) == {"gold.every", "gold.bonus"}


def test_the_folder_that_is_downloaded_is_the_campaign(tmp_path: Path) -> None:
    words = 'Read "all".\n\nThen judge: \\ and é.\x7f'
    values = form(campaign__instructions=words, guidelines="# Bees\n![a](a.png)\n", prolific__completed="C1")
    sent = [DOCUMENTS, SentFile("pictures", "a.png", PNG)]
    result = check_form(values | {"campaign.instructions": words.replace("\x7f", "")}, sent)
    assert result.plan is not None, result.problems
    values["campaign.instructions"] = words.replace("\x7f", "")
    with zipfile.ZipFile(io.BytesIO(folder_zip(values, sent))) as archive:
        archive.extractall(tmp_path)
        assert archive.read("campaign.toml").decode() == result.toml
    assert read_folder(tmp_path) == result.plan
    assert result.plan.instructions == values["campaign.instructions"]
    assert result.plan.crowd["prolific"]["codes"] == {"completed": "C1"}


@given(
    st.dictionaries(st.sampled_from(sorted(FIELDS)), st.text(max_size=30)), st.sampled_from(PROTOCOLS), st.booleans()
)
def test_whatever_is_entered_becomes_toml_that_says_the_same(
    entered: dict[str, str], protocol: str, gold: bool
) -> None:
    values = {**first_values(), **{name: text.replace("\r", "") for name, text in entered.items()}}
    tables = tables_of({**values, "protocol": protocol}, gold=gold)
    parsed = tomllib.loads(toml_text(tables))
    assert parsed == {name: table for name, table in tables.items() if table or name in (protocol, "gold")}


@given(st.text(max_size=100))
def test_a_name_from_a_title_can_stand_in_an_address(title: str) -> None:
    name = name_of_title(title)
    assert name == "" or (name.isascii() and len(name) <= 64 and name.strip("-") == name)


# ---- how much there is to judge


@given(
    st.sampled_from(PROTOCOLS),
    st.integers(3, 9),
    st.integers(1, 4),
    st.lists(st.integers(3, 12), min_size=1, max_size=3),
)
def test_the_size_of_a_plan_is_what_assembling_its_units_makes(
    protocol: str, k: int, redundancy: int, sizes: list[int]
) -> None:
    settings = SETTINGS[protocol]()
    settings = replace(settings, redundancy=redundancy, **({} if protocol == "preference" else {"k": k}))
    sizes = [max(n, k) for n in sizes] if protocol == "magnitude" else sizes
    made = [units_of_topic(range(n), None, settings, 1) for n in sizes]
    labels = [f"d{i}" for i in range(max(sizes))]
    topics = tuple(TopicPlan(f"t{i}", "a topic", tuple(labels[:n])) for i, n in enumerate(sizes))
    documents = tuple(DocumentPlan(label, "text") for label in labels)
    size = plan_size(Plan("p", "P", settings, topics, documents, 1, checks=False))
    assert size.units == sum(map(len, made))
    assert size.assignments == sum(len(units) for units in made) * slots_of(settings)
    assert size.assessors == max(len(units) for units in made) * slots_of(settings)
    n_answers = sum(len(unit) for units in made for unit in units) * slots_of(settings)
    if protocol == "preference":
        n_answers = sum(n * (n - 1) // 2 for n in sizes) * redundancy
    assert size.answers == n_answers
    assert size.at_most == (protocol == "preference")


def test_a_preview_creates_nothing_beside_itself(tmp_path: Path) -> None:
    plan = check_form(form(), [DOCUMENTS]).plan
    assert plan is not None
    preview_of(plan)
    with open_store(tmp_path / "judgments.db") as store:
        number = store.write(lambda connection: create_campaign(connection, plan, 0.0))
        assert number is not None
        assert store.read(lambda connection: len(list(units_of(connection, number)))) == plan_size(plan).units


def test_more_pairs_than_a_pool_may_have_are_refused_before_they_are_made() -> None:
    topics = "\n".join(f"topic {i}" for i in range(900))
    documents = b"docid,text\n" + b"".join(b"d%d,x\n" % i for i in range(9_000))
    result = check_form(form(topics=topics), [SentFile("documents", "a.csv", documents)])
    assert set(result.problems) == {"pool"}
    assert "more than 100000 pairs" in result.problems["pool"][0]
    several = [SentFile("documents", name, zipped({f"{name}.txt": b"x"})) for name in ("a.zip", "b.zip")]
    assert "several zips" in check_form(form(), several).problems["documents"][0]
