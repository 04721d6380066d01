"""Documents shown as images: from a folder to the database and back, and what is refused."""

import json
import struct
import zlib
from base64 import b64encode
from dataclasses import replace
from io import BytesIO

import pytest
from PIL import Image as Picture
from sqlalchemy import create_engine, select
from sqlalchemy.pool import StaticPool

from qrowd.errors import ArgumentError, FileError
from qrowd_server.campaigns.plan.documents import MAX_IMAGE, image_of
from qrowd_server.campaigns.plan.folder import read_folder
from qrowd_server.campaigns.plan.plan import DocumentPlan, Plan, TopicPlan
from qrowd_server.campaigns.plan.plan_tables import plan_from_table, table_from_plan
from qrowd_server.campaigns.results.archive import read_archive, write_archive
from qrowd_server.campaigns.running.campaign_reader import document_texts
from qrowd_server.campaigns.running.creation import create_campaign, plan_of
from qrowd_server.protocols.setting_fields import SchemaError
from qrowd_server.protocols.settings import GradesSettings
from qrowd_server.store import materials
from qrowd_server.store.schema import document, image, metadata
from server.pictures import png

PAGE = b64encode(png()).decode()


def saved(kind: str) -> bytes:
    Picture.new("RGB", (4, 3)).save(buffer := BytesIO(), kind)
    return buffer.getvalue()


JPEG, WEBP = saved("JPEG"), saved("WEBP")
IMAGED = DocumentPlan("d1", title="A page", url="https://a.example.org/x?y=1#z", image=PAGE)
WRITTEN = DocumentPlan("d3", "Some text.", url="http://a.example.org/")


def plan(*documents):
    documents = documents or (IMAGED, WRITTEN)
    topic = TopicPlan("t", "swallows", tuple(one.label for one in documents))
    return Plan("pages", "Pages", GradesSettings(), (topic,), documents, 1)


@pytest.fixture
def connection():
    engine = create_engine("sqlite://", poolclass=StaticPool)
    metadata.create_all(engine)
    with engine.begin() as connection:
        yield connection


def test_images_and_addresses_come_back_from_the_database_the_table_and_an_archive(connection):
    number = create_campaign(connection, plan(), 5.0)
    assert plan_of(connection, number) == plan()
    assert plan_from_table(json.loads(json.dumps(table_from_plan(plan())))) == plan()
    lines = list(write_archive(connection, "pages"))
    other = create_engine("sqlite://", poolclass=StaticPool)
    metadata.create_all(other)
    with other.begin() as elsewhere:
        read_archive(elsewhere, lines)
        assert plan_of(elsewhere, materials.find_campaign(elsewhere, "pages").id) == plan()


def test_an_image_is_stored_once_and_apart_from_the_documents(connection):
    number = create_campaign(connection, plan(IMAGED, replace(IMAGED, label="d9")), 5.0)
    assert [row.content for row in connection.execute(select(image))] == [png()]
    digests = {row.image for row in connection.execute(select(document))}
    assert digests == {image_of(png()).digest}
    assert materials.find_image(connection, number, digests.pop()) == ("image/png", png())
    assert materials.find_image(connection, number + 1, image_of(png()).digest) is None


def test_a_page_holds_a_digest_and_no_image(connection):
    create_campaign(connection, plan(), 5.0)
    numbers = [row.id for row in connection.execute(select(document).order_by(document.c.id))]
    texts = document_texts(connection, numbers)
    assert texts[numbers[0]].image == image_of(png()).digest
    assert texts[numbers[1]].url == "http://a.example.org/"


def test_a_folder_names_images_in_its_table_of_documents(tmp_path):
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "one.png").write_bytes(png())
    (tmp_path / "campaign.toml").write_text('[campaign]\nname = "p"\nseed = 1\n[grades]\n')
    (tmp_path / "topics.tsv").write_text("t\tswallows\n")
    rows = [
        {"docid": "d1", "title": "A page", "image": "pages/one.png", "url": "https://a.example.org/x?y=1#z"},
        {"docid": "d3", "text": "Some text.", "url": "http://a.example.org/"},
    ]
    (tmp_path / "documents.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert read_folder(tmp_path).documents == (IMAGED, WRITTEN)

    (tmp_path / "pages" / "one.png").write_bytes(b"<svg/>")
    with pytest.raises(FileError, match=r"documents\.jsonl, line 1: image pages/one\.png: .* no PNG, JPEG or WebP"):
        read_folder(tmp_path)
    (tmp_path / "pages" / "one.png").unlink()
    with pytest.raises(FileError, match=r"documents\.jsonl, line 1: image pages/one\.png: "):
        read_folder(tmp_path)


@pytest.mark.parametrize(
    ("document", "words"),
    [
        (replace(IMAGED, title=""), "is an image without words; add a title"),
        (replace(IMAGED, image="%%%"), "the image is not base64"),
        (replace(IMAGED, image=b64encode(b"GIF89a").decode()), "no PNG, JPEG or WebP"),
        (replace(IMAGED, image=b64encode(png() + bytes(MAX_IMAGE)).decode()), "more than 4,194,304; save it smaller"),
        (replace(IMAGED, html=True), "by image or by html"),
        (replace(WRITTEN, url="javascript:alert(1)"), "is no address of a page"),
        (replace(WRITTEN, url="ftp://a.example.org/"), "is no address of a page"),
        (replace(WRITTEN, text=" "), "has no text"),
    ],
)
def test_a_document_that_could_not_be_shown_is_refused_by_its_label(document, words):
    with pytest.raises(SchemaError, match=words):
        plan(document)


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (png(), "image/png"),
        (JPEG, "image/jpeg"),
        (WEBP, "image/webp"),
        (b"RIFF1234WAVE", None),
        (png()[:20], None),
        (saved("GIF"), None),
    ],
)
def test_the_kind_of_an_image_is_told_by_its_head(content, kind):
    if kind is None:
        with pytest.raises(ArgumentError, match="no PNG, JPEG or WebP"):
            image_of(content)
    else:
        assert image_of(content).media_type == kind


@pytest.mark.parametrize(("width", "height", "fits"), [(60_000, 60_000, False), (10_000, 5_001, False), (9, 9, True)])
def test_an_image_that_says_it_has_more_pixels_than_a_browser_should_draw_is_refused(width, height, fits):
    head = struct.pack(">II", width, height)
    content = png(4, 3).replace(struct.pack(">II", 4, 3), head, 1)
    checked = content[12:29]
    content = content.replace(content[12:33], checked + struct.pack(">I", zlib.crc32(checked)), 1)
    if fits:
        assert image_of(content).media_type == "image/png"
    else:
        with pytest.raises(ArgumentError, match="50,000,000 pixels"):
            image_of(content)
