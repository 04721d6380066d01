"""Topics, documents and what goes with them, read from the formats people have them in.

Every reader takes a file's bytes and its name for messages, and gives (line, row) for everything it holds.
"""

from __future__ import annotations

import csv
import html
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import chain
from typing import Any, Literal, NamedTuple

from qrowd import readers, tables
from qrowd.errors import FileError
from qrowd.model.headers import JUDGMENT_COLUMNS, PREFERENCE_COLUMNS, header_key, is_called, likely_columns
from qrowd.readers.tool_exports import first_record

Row = tuple[int, dict[str, Any]]

TOPIC = ("topic", "label", "qid", "query_id", "topic_id", "num", "number", "id")
DOCUMENT = (
    "docid", "document", "label", "docno", "doc_id", "document_id", "passage_id", "product_id", "pid", "id", "_id",
)  # fmt: skip
TEXT = ("text", "body", "contents", "passage")
TOPIC_TEXTS = {
    "title": ("title", "query", "text"),
    "description": ("description", "desc"),
    "narrative": ("narrative", "narr"),
}
DOCUMENT_TEXTS = {"title": ("title",), "text": TEXT, "language": ("language",), "url": ("url",), "image": ("image",),
                  "layout": ("layout",), "pdf": ("pdf",)}  # fmt: skip
OTHER_NAMES = (*chain(*TOPIC_TEXTS.values(), *DOCUMENT_TEXTS.values()), "html")
FLAGS = {"": False, "false": False, "no": False, "0": False, "true": True, "yes": True, "1": True}

NOT_OF_TEXTS = (*JUDGMENT_COLUMNS["assessor"], *PREFERENCE_COLUMNS["preferred"], "run_id", "nuggets", "rank")

HEAD = 100_000  # bytes of which it is seen what a file holds
MAX_CELL = 1_000_000
TABLES = (".csv", ".tsv", ".jsonl", ".ndjson")


def read_topics(content: bytes, name: str) -> Iterator[Row]:
    """Topics as {"label", "title", "description", "narrative"}, from TREC topics or a table."""
    words = decoded(content, name)
    if _is_markup(words, name):
        yield from _trec_topics(words, name)
        return
    for line, row in table_rows(words, name, ("topic", "title"), TOPIC):
        texts = {key: _first(row, columns, "") for key, columns in TOPIC_TEXTS.items()}
        yield line, {"label": _label(row, TOPIC, name, line), **texts}


def read_documents(content: bytes, name: str) -> Iterator[Row]:
    """Documents as {"label", "title", "text", "html", "language", "url", "image", "layout", "pdf"}.

    From TREC documents or a table, where `image` and `pdf` are names of files.
    """
    words = decoded(content, name)
    if _is_markup(words, name):
        yield from _trec_documents(words, name)
        return
    for line, row in table_rows(words, name, ("docid", "text"), DOCUMENT):
        if not any(column in row for column in (*TEXT, "image", "pdf")):
            more = "; html says only whether it is HTML" if "html" in row else ""
            raise FileError(name, f"no column holds the text; call it {TEXT[0]}{more}", line)
        texts = {key: _first(row, columns, "") for key, columns in DOCUMENT_TEXTS.items()}
        html = _flag(_first(row, ("html",), False))
        yield line, {"label": _label(row, DOCUMENT, name, line), **texts, "html": html}


def kind_of_texts(content: bytes, name: str) -> Literal["topics", "documents"] | None:
    """What a file of texts seems to hold, by its beginning; None for a file of something else."""
    start = content[:HEAD].rpartition(b"\n")[0] if len(content) > HEAD else content
    columns = first_record(start) or re.split("[,;\t]", tables.first_line(start).replace('"', ""))
    is_table = tables.is_table(start, name)
    of_answers = "value" in likely_columns(list(columns)) or is_called(columns, NOT_OF_TEXTS)
    if readers.reader_for(start, name) is not None or (is_table and of_answers):
        return None
    of_documents = is_table or re.search("doc|passage|corpus|collection", name)
    kinds: tuple[Any, ...] = (("documents", read_documents), ("topics", read_topics))
    for kind, read in kinds if of_documents else reversed(kinds):
        with suppress(FileError, StopIteration):
            row = next(read(start, name))[1]
            if " " in f"{row.get('title', '')} {row.get('text', '')}".strip():
                return kind  # type: ignore[no-any-return]
    return None


def read_page(content: bytes, name: str, label: str) -> dict[str, Any]:
    """One document that is a file of its own, .txt or .html."""
    words = decoded(content, name)
    if not name.lower().endswith((".html", ".htm")):
        return {"label": label, "text": words}
    page = re.search(r"<html\b([^<>]*+)", words, re.IGNORECASE)
    language = re.search(r"\slang=[\"']?([A-Za-z-]+)", page[1], re.IGNORECASE) if page else None
    return {
        "label": label,
        "title": _plain(next(_elements(words, "title"), NO_ELEMENT).content),
        "text": words,
        "html": True,
        "language": language[1] if language else "",
    }


def read_fields(content: bytes, name: str, *forms: str) -> Iterator[tuple[int, list[str]]]:
    """Lines of fields between blanks; empty lines and those that begin with # are passed over.

    forms : the words for the fields, such as "topic high low"; any of them may do.
    """
    sizes = [len(form.split()) for form in forms]
    for number, line in enumerate(decoded(content, name).split("\n"), start=1):
        fields = line.split()
        if not fields or line.startswith("#"):
            continue
        if len(fields) not in sizes:
            forms_in_words = " or ".join(map(repr, forms))
            raise FileError(name, f"expected {forms_in_words}, found {len(fields)} fields", number)
        yield number, fields


def read_objects(content: bytes, name: str) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """(line, topic, whatever else it says) of JSON Lines whose objects name a topic."""
    for line, row in tables.json_rows(decoded(content, name), name):
        topic = row.pop("topic", None)
        if not isinstance(topic, str | int) or isinstance(topic, bool):
            raise FileError(name, 'the key "topic" is missing; say which topic this belongs to', line)
        yield line, str(topic), row


def decoded(content: bytes, name: str) -> str:
    """A file's text, which must be UTF-8."""
    try:
        words = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise FileError(name, f"is not UTF-8 (byte {content[error.start]:#04x}); save it as UTF-8", line) from None
    return words.replace("\r\n", "\n")


# ---- tables


def table_rows(words: str, name: str, bare: tuple[str, ...], names: tuple[str, ...]) -> Iterator[Row]:
    """Rows of CSV, TSV or JSON Lines by column.

    bare : the two columns of a TSV file without header, told by no column being called as one of `names`; the second
        may hold tabs, as texts of MS MARCO do. Case, blanks and underscores in a header do not count.
    """
    if name.lower().endswith((".jsonl", ".ndjson")) or words.lstrip().startswith("{"):
        yield from tables.json_rows(words, name)
        return
    rows = _separated(words, name)
    line, header = next(rows, (0, []))
    usual = {header_key(known): known for known in (*OTHER_NAMES, *reversed(names))}
    header = [usual.get(header_key(column), column.strip()) for column in header]
    if header and not set(header) & set(names):
        if len(header) != len(bare) or "\t" not in words.lstrip().split("\n", 1)[0]:
            raise FileError(name, f"no {names[0]} column among {', '.join(header)}; call it {names[0]}", line)
        yield line, dict(zip(bare, header, strict=True))
        header = list(bare)
        rows = ((line, [*cells[:1], "\t".join(cells[1:])] if cells[1:] else cells) for line, cells in rows)
    if len(set(header)) < len(header):
        repeated = next(column for i, column in enumerate(header) if column in header[:i])
        raise FileError(name, f"two columns are called {repeated!r}; rename or remove one", line)
    for line, cells in rows:
        if len(cells) != len(header):
            raise FileError(name, f"expected {len(header)} cells, as many as columns, found {len(cells)}", line)
        yield line, dict(zip(header, cells, strict=True))


def _separated(words: str, name: str) -> Iterator[tuple[int, list[str]]]:
    first = words.lstrip().split("\n", 1)[0]
    if "\t" in first:  # quotes mean nothing between tabs
        yield from ((i, line.split("\t")) for i, line in enumerate(words.split("\n"), start=1) if line.strip())
        return
    if csv.field_size_limit() < MAX_CELL:
        csv.field_size_limit(MAX_CELL)
    yield from tables.quoted_cells(words, name)


def _first(row: Mapping[str, Any], columns: tuple[str, ...], default: Any) -> Any:
    """What the first of the columns holds that holds anything."""
    return next((row[column] for column in columns if row.get(column) is not None), default)


def _flag(cell: Any) -> Any:
    return FLAGS.get(cell.strip().lower(), cell) if isinstance(cell, str) else cell


def _label(row: Mapping[str, Any], columns: tuple[str, ...], name: str, line: int) -> str:
    label = _first(row, columns, None)
    if label is None:
        raise FileError(name, f"no column names the row; call it {columns[0]}", line)
    if not isinstance(label, str | int) or isinstance(label, bool):
        raise FileError(name, f"{label!r:.60} cannot name the row; write a text", line)
    return str(label)


# ---- TREC's markup

TOPIC_TAGS = {
    "num": "label",
    "title": "title",
    "query": "title",
    "desc": "description",
    "description": "description",
    "narr": "narrative",
    "narrative": "narrative",
}
PREFIX = {"label": "number", "title": "topic", "description": "description", "narrative": "narrative"}
FIELD = re.compile(rf"<({'|'.join(TOPIC_TAGS)})\b[^<>]*+>", re.IGNORECASE)
TOPIC_START = re.compile(r"<top(?:ic)?(\s[^<>]*+)?>", re.IGNORECASE)
DOCUMENT_START = re.compile(r"<doc>", re.IGNORECASE)


def _is_markup(words: str, name: str) -> bool:
    return not name.lower().endswith(TABLES) and words.lstrip().startswith("<")


def _between(words: str, start: re.Pattern[str], end: re.Pattern[str], name: str) -> Iterator[tuple[int, str, str]]:
    """(line, attributes, content) of every element that `start` begins and `end` ends."""
    line, at = 1, 0
    while (opening := start.search(words, at)) is not None:
        line += words.count("\n", at, opening.start())
        closing = end.search(words, opening.end())
        following = start.search(words, opening.end())
        if closing is None or (following is not None and following.start() < closing.start()):
            raise FileError(name, f"{opening[0]} is not closed; add its end tag", line)
        yield line, opening[1] or "" if start.groups else "", words[opening.end() : closing.start()]
        line += words.count("\n", opening.start(), closing.end())
        at = closing.end()


def _trec_topics(words: str, name: str) -> Iterator[Row]:
    n_topics = 0
    for line, attributes, content in _between(words, TOPIC_START, re.compile(r"</top(?:ic)?>", re.IGNORECASE), name):
        n_topics += 1
        topic = {"label": "", "title": "", "description": "", "narrative": ""}
        if number := re.search(r"\b(?:number|id)\s*=\s*[\"']?([^\"'\s>]+)", attributes):
            topic["label"] = number[1]
        starts = list(FIELD.finditer(content))
        for i, tag in enumerate(starts):
            end = starts[i + 1].start() if i + 1 < len(starts) else len(content)
            key = TOPIC_TAGS[tag[1].lower()]
            part = re.split(rf"</{tag[1]}\s*>", content[tag.end() : end], maxsplit=1, flags=re.IGNORECASE)[0]
            text = re.sub(rf"^{PREFIX[key]}\s*:", "", _plain(part), flags=re.IGNORECASE).strip()
            topic[key] = topic[key] or text
        if not topic["label"]:
            raise FileError(name, "the topic has no number; add <num>", line)
        yield line, topic
    if not n_topics:
        raise FileError(name, "holds no <top>; give TREC topics, or a table that ends in .tsv, .csv or .jsonl")


def _trec_documents(words: str, name: str) -> Iterator[Row]:
    n_documents = 0
    for line, _, content in _between(words, DOCUMENT_START, re.compile(r"</doc>", re.IGNORECASE), name):
        n_documents += 1
        label = next(_elements(content, "docno"), None)
        if label is None or not label.content.strip():
            raise FileError(name, "the document has no <DOCNO>; add it", line)
        title = next(_elements(content, "title|headline|hl"), None)
        texts = [text.content for text in _elements(content, "text")]
        yield (
            line,
            {
                "label": label.content.strip(),
                "title": _plain(title.content) if title else "",
                "text": _paragraphs("\n\n".join(texts) if texts else content[label.end :]),
            },
        )
    if not n_documents:
        raise FileError(name, "holds no <DOC>; give TREC documents, or a table that ends in .tsv, .csv or .jsonl")


class _Element(NamedTuple):
    """An element of markup: its content, and the places where it starts and ends."""

    content: str
    start: int
    end: int


NO_ELEMENT = _Element("", 0, 0)


def _elements(markup: str, names: str) -> Iterator[_Element]:
    """The elements of these names ("title|headline") that are closed, the first first. No place is read twice."""
    start = re.compile(rf"<(?!<)({names})\b[^<>]*+>", re.IGNORECASE)  # (?!<): of a million "<" it took .1 s at once
    at = 0
    unclosed: set[str] = set()
    while (opening := start.search(markup, at)) is not None:
        name = opening[1].lower()
        at = opening.end()
        closing = None if name in unclosed else re.compile(rf"</{name}\s*+>", re.IGNORECASE).search(markup, at)
        if closing is None:
            unclosed.add(name)
            continue
        at = closing.end()
        yield _Element(markup[opening.end() : closing.start()], opening.start(), at)


def _plain(markup: str) -> str:
    """Markup as one line of text."""
    without = re.sub(r"<[^<>]*+>", " ", markup)
    without = re.sub(
        r"&#0*+[1-9]\d{7,}+;?", "\ufffd", without
    )  # no character, and Python refuses numbers of 5,000 digits
    return " ".join(html.unescape(without).split())


def text_of_html(markup: str) -> str:
    """What a page says: its text without comments, scripts and styles, its paragraphs kept apart."""
    parts = []
    at = 0
    while (comment := markup.find("<!--", at)) >= 0 and (end := markup.find("-->", comment)) >= 0:
        parts.append(markup[at:comment])
        at = end + len("-->")
    markup = " ".join([*parts, markup[at:]])
    parts = []
    at = 0
    for element in _elements(markup, "script|style|head"):
        parts.append(markup[at : element.start])
        at = element.end
    markup = " ".join([*parts, markup[at:]])
    return _paragraphs(
        re.sub(r"(?i)<(?!<)/?(div|li|h\d|tr|[uo]l|table|section|article|blockquote|br)\b[^<>]*+>", "\n\n", markup)
    )


def _paragraphs(markup: str) -> str:
    """Markup as text, its paragraphs kept apart."""
    parts = re.split(r"\n\s*\n|</?p\b[^<>]*+>", markup, flags=re.IGNORECASE)
    return "\n\n".join(text for text in map(_plain, parts) if text)
