"""PDF files, text as typed, HTML and guidelines: from a folder to the database and back."""

import json

import pytest
from sqlalchemy import create_engine, select
from sqlalchemy.pool import StaticPool

from qrowd.errors import FileError
from qrowd_server.campaigns.plan.folder import read_folder
from qrowd_server.campaigns.plan.plan_notes import effort_of
from qrowd_server.campaigns.plan.plan_tables import plan_from_table, table_from_plan
from qrowd_server.campaigns.results.archive import read_archive, write_archive
from qrowd_server.campaigns.running.campaign_reader import document_text
from qrowd_server.campaigns.running.creation import create_campaign, plan_of
from qrowd_server.store import materials
from qrowd_server.store.schema import document, image, metadata
from server.pictures import pdf, png

CODE = "def f():\n    return 1\n\n\ta  b\n"
ROWS = [
    {"docid": "d1", "title": "A leaflet", "pdf": "files/one.pdf"},
    {"docid": "d2", "text": CODE, "layout": "pre"},
    {"docid": "d4", "text": "<p>Plain.</p>", "html": True},
    {"docid": "d5", "text": "A text."},
]


@pytest.fixture
def connection():
    engine = create_engine("sqlite://", poolclass=StaticPool)
    metadata.create_all(engine)
    with engine.begin() as connection:
        yield connection


def folder(root, rows=ROWS, head=""):
    (root / "files").mkdir(exist_ok=True)
    (root / "files" / "one.pdf").write_bytes(pdf("Swallows leave.", "In autumn."))
    (root / "files" / "example.png").write_bytes(png())
    (root / "campaign.toml").write_text(f'[campaign]\nname = "p"\nseed = 1\n{head}\n[grades]\n')
    (root / "topics.tsv").write_text("t\tswallows\n")
    (root / "documents.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return root


@pytest.fixture(scope="module")
def plan(tmp_path_factory):
    """The campaign of ROWS; rendering its PDF file starts a process."""
    return read_folder(folder(tmp_path_factory.mktemp("plan")))


def test_each_document_is_shown_in_its_own_way(plan):
    leaflet, code, html, text = plan.documents
    assert (leaflet.text, len(leaflet.pages), leaflet.image) == ("Swallows leave.\n\nIn autumn.", 2, "")
    assert (code.text, code.layout, code.html) == (CODE, "pre", False)
    assert (html.layout, text.layout) == ("", "")


def test_a_pdf_can_be_a_document_by_itself(tmp_path):
    folder(tmp_path).joinpath("documents.jsonl").unlink()
    toml = (tmp_path / "campaign.toml").read_text()
    (tmp_path / "campaign.toml").write_text(toml + '[files]\ndocuments = ["files/*.pdf"]\n')
    (one,) = read_folder(tmp_path).documents
    assert (one.label, len(one.pages)) == ("one", 2)


def test_all_of_it_comes_back_from_the_database_the_table_and_an_archive(tmp_path, connection):
    (tmp_path / "guide.md").write_text("# Guide\n\n![An example](files/example.png)\n")
    plan = read_folder(folder(tmp_path, head='guidelines = "guide.md"'))
    assert list(plan.pictures) == ["files/example.png"]
    number = create_campaign(connection, plan, 5.0)
    assert plan_of(connection, number) == plan
    assert plan_from_table(json.loads(json.dumps(table_from_plan(plan)))) == plan
    lines = list(write_archive(connection, "p"))
    other = create_engine("sqlite://", poolclass=StaticPool)
    metadata.create_all(other)
    with other.begin() as elsewhere:
        read_archive(elsewhere, lines)
        assert plan_of(elsewhere, materials.find_campaign(elsewhere, "p").id) == plan
    assert len(connection.execute(select(image)).all()) == 3  # two pages, a picture


def test_a_page_holds_digests_and_what_a_model_reads(plan, connection):
    create_campaign(connection, plan, 5.0)
    rows = connection.execute(select(document).order_by(document.c.id)).all()
    leaflet, code, _, _ = map(document_text, rows)
    assert len(leaflet.pages) == 2
    assert all(len(digest) == 32 for digest in leaflet.pages)
    assert (code.text, code.layout) == (CODE, "pre")


def test_a_document_without_words_is_named_by_file_and_line(tmp_path):
    rows = [{"docid": f"d{i}", "text": "" if i % 2 else "A text."} for i in range(60)]
    with pytest.raises(FileError, match="jsonl, line 2: text: document 'd1' has no text; add it, or leave"):
        read_folder(folder(tmp_path, rows))


@pytest.mark.parametrize("row", [{"pdf": "broken.pdf"}, {"image": "files/one.pdf"}, {"pdf": "none.pdf"}])
def test_a_file_that_cannot_be_shown_is_named_by_the_line_of_its_document(tmp_path, row):
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.7")
    with pytest.raises(FileError, match="line 2: "):
        read_folder(folder(tmp_path, [{"docid": "d0", "text": "x"}, {"docid": "d1", "title": "a", **row}]))


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"docid": "d", "html": "<p>x</p>"}, "call it text; html says only whether it is HTML"),
        ({"docid": "d", "text": "x", "layout": "table"}, "layout: 'table' cannot be used"),
        (
            {"docid": "d", "title": "a", "pdf": "files/one.pdf", "image": "files/example.png"},
            "by image or by pages",
        ),
        pytest.param(
            {"docid": "d", "title": "a", "pdf": "files/one.pdf", "layout": "pre"},
            "by pages or by layout",
            marks=pytest.mark.nightly,
        ),
        ({"docid": "d", "title": "a", "pdf": "../one.pdf"}, "is no name inside the folder"),
        ({"docid": "d", "title": "a", "pdf": 7}, "pdf: 7 cannot be used; give the name of a file"),
    ],
)
def test_a_document_that_could_not_be_shown_is_refused_by_file_and_line(tmp_path, row, words):
    with pytest.raises(FileError, match=r"documents\.jsonl, line 1: ") as refused:
        read_folder(folder(tmp_path, [row]))
    assert words in str(refused.value)


@pytest.mark.parametrize(
    ("markdown", "words"),
    [
        ("![x](none.png)", r"guide\.md, line 1: picture none\.png: there is no such file"),
        ("\n\n![x](https://a.example/x.png)", r"guide\.md, line 3: picture https://a\.example/x\.png: is on another"),
        ("![x](../x.png)", r"is no name inside the folder"),
        ("![x](files/one.pdf)", "the image is no PNG, JPEG or WebP"),
        ("x" * 100_001, "100001 characters are more than 100000"),
    ],
)
def test_guidelines_that_could_not_be_shown_are_refused(tmp_path, markdown, words):
    (tmp_path / "guide.md").write_text(markdown)
    with pytest.raises(FileError, match=words):
        read_folder(folder(tmp_path, ROWS[3:], head='guidelines = "guide.md"'))


def test_the_effort_of_a_unit_grows_with_its_documents_and_their_length(tmp_path):
    def effort(n, length):
        rows = [{"docid": f"d{i}", "text": "x" * length} for i in range(n)]
        return effort_of(read_folder(folder(tmp_path, rows)))

    assert effort(4, 1000) == (4, 4)  # 50 seconds of reading and 10 of deciding, each
    assert effort(8, 1000) == (8, 8)
    assert effort(4, 100_000) == (4, 9)  # nobody reads more than two minutes
