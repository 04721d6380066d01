"""Exports of other tools as tables: of annotation tools, of models that judge, of judged answers, and of TREC RAG.

A tool is recognised by the first record of the file. A file may name its reader: `argilla:export.json`.
"""

from __future__ import annotations

import re
from os.path import exists

from qrowd.readers.annotation_tools import ARGILLA, LABEL_STUDIO
from qrowd.readers.answers import AUTOJUDGE_ANNOTATE, INSPECTOR_RAGET, NUGGETIZER, RUBRICS, SUPPORT_OF_CITATIONS
from qrowd.readers.model_judges import RAGELO, TREC_RAG, UMBRELA
from qrowd.readers.tool_exports import Reader, first_record

READERS: dict[str, Reader] = {
    "label-studio": LABEL_STUDIO,
    "argilla": ARGILLA,
    "ragelo": RAGELO,
    "trec-rag": TREC_RAG,
    "umbrela": UMBRELA,
    "nuggetizer": NUGGETIZER,
    "support": SUPPORT_OF_CITATIONS,
    "rubrics": RUBRICS,
    "inspector-raget": INSPECTOR_RAGET,
    "autojudge-annotate": AUTOJUDGE_ANNOTATE,
}


def reader_and_path(name: str) -> tuple[str, str]:
    """("argilla", "export.json") of "argilla:export.json"; no reader where the name does not begin with one."""
    match = re.fullmatch(r"([a-z-]+):(.+)", name)
    return (match[1], match[2]) if match and match[1] in READERS and not exists(name) else ("", name)


def reader_for(text: bytes, name: str) -> Reader | None:
    """The reader that the name begins with, or the one that recognises the content."""
    reader, _ = reader_and_path(name)
    if reader:
        return READERS[reader]
    record = first_record(text)
    return next((reader for reader in READERS.values() if record and reader.recognises(record)), None)
