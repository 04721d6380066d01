"""PDF files become images of their pages and a text, in a process that cannot take everything."""

from base64 import b64decode
from io import BytesIO

import pytest
from PIL import Image

from qrowd.errors import ArgumentError
from qrowd_server.campaigns.plan import pdf as pdfs
from qrowd_server.campaigns.plan.documents import image_from_text
from qrowd_server.campaigns.plan.pdf import MAX_PAGES, WIDTH, read_pdf, render
from server.pictures import endless, pdf


def test_every_page_is_an_image_and_the_text_is_that_of_all_pages():
    one = read_pdf(pdf("Swallows leave\nin autumn.", "They come back."))
    assert one.text == "Swallows leave\nin autumn.\n\nThey come back."
    images = [image_from_text(page) for page in one.pages]
    assert [image.media_type for image in images] == ["image/webp"] * 2
    with Image.open(BytesIO(images[0].content)) as opened:
        assert opened.size == (WIDTH, pytest.approx(WIDTH * 842 / 595, abs=2))
        shades = opened.convert("L").getextrema()
    assert shades[0] < 100 < 200 < shades[1]  # black words on white


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"<html>", "is no PDF; name another file"),
        (b"%PDF-1.4 and nothing else", "is no PDF that can be read"),
        pytest.param(pdf("a")[:300], "is no PDF that can be read", marks=pytest.mark.nightly),
        (pdf(*["a"] * (MAX_PAGES + 1)), f"has {MAX_PAGES + 1} pages; give 1 to {MAX_PAGES}"),
        (pdf("a") + bytes(pdfs.MAX_PDF), "more than 67,108,864; give fewer pages"),
    ],
)
def test_what_cannot_be_shown_is_refused_with_the_next_step(content, words):
    with pytest.raises(ArgumentError, match=words):
        read_pdf(content)


@pytest.mark.nightly
def test_a_pdf_that_takes_too_long_is_one_refusal(monkeypatch):
    monkeypatch.setattr(pdfs, "render", endless)
    with pytest.raises(ArgumentError, match="cannot be rendered within 1 seconds"):
        read_pdf(pdf("endless"), seconds=1)


def test_the_process_that_renders_knows_no_secret(monkeypatch):
    monkeypatch.setattr(pdfs, "render", endless)
    monkeypatch.setenv("QROWD_DATABASE", "postgresql://qrowd:secret@db/qrowd")
    assert read_pdf(pdf("a")).text == "no secret"


def test_more_bytes_of_images_than_a_document_may_have_are_refused(monkeypatch):
    monkeypatch.setattr(pdfs, "MAX_IMAGES", len(b64decode(render(pdf("a")).pages[0])) + 10)
    render(pdf("a"))
    with pytest.raises(ArgumentError, match="up to page 2; give fewer pages"):
        render(pdf("a", "b"))


def test_an_encrypted_pdf_says_so(monkeypatch):
    import pypdfium2

    def refuse(*_):
        raise pypdfium2.PdfiumError("Failed to load document (PDFium: Incorrect password error).")

    monkeypatch.setattr(pypdfium2, "PdfDocument", refuse)
    with pytest.raises(ArgumentError, match="is encrypted; save it without a password"):
        render(pdf("a"))
