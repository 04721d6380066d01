"""Formats that qrowd does not read: how each is recognised, and what to do with it.

A JSON file is recognised by the keys of its first record, those of a nested record or of the first record of a list
being "key.inner"; a table by the names of its columns. Letter case, blanks, underscores and hyphens do not count.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Any

from qrowd.readers.tool_exports import Record, first_record

OF_DOCUMENTS = "give qrels, or a table with the header topic,document,assessor,value"
OF_ANSWERS = (
    "not read, since answers are judged, no documents: write a table with the header topic,document,assessor,value, in "
    "which a document is the answer or its part"
)
STARTS = {
    rb"\S+\s+qid:\S+\s": f"a list for learning to rank; not read, since it names no document: {OF_DOCUMENTS}",
    rb"SQLite format 3\0": "a database of SQLite; a campaign in it is read with --campaign NAME --database FILE",
    rb"%PDF-|\s*<(!doctype html|html)\b": f"a page to look at; not read, since it holds no data: {OF_DOCUMENTS}",
    rb"BZh|\xfd7zXZ|\x28\xb5\x2f\xfd|7z\xbc\xaf": "a packed file; not read, since only gzip is: unpack it first",
}
FORMATS = {
    "nuggets.assignment": f"nuggets assigned to answers, of nuggetizer; {OF_ANSWERS}",
    "nuggetbank": f"a bank of nuggets; not read, since it holds no judgment: {OF_DOCUMENTS}",
    "sentences.citations": f"support of citations, as of RAGDoll; {OF_ANSWERS}",
    "metrics models tasks": f"evaluations of answers, of InspectorRAGet; {OF_ANSWERS}",
    "modela modelb winner": "battles of systems, as in an arena; not read, since no documents are compared: write a "
    "table with the header topic,a,b,preferred,assessor, where a, b and preferred name answers",
    "evalid results": f"results of promptfoo; {OF_ANSWERS}",
    "testcases": f"results of DeepEval; {OF_ANSWERS}",
    "eval samples": f"a log of Inspect; {OF_ANSWERS}",
    "sampleid epoch": f"samples of Inspect; {OF_ANSWERS}",
    "requests.ratings": f"a request of Elasticsearch's _rank_eval; not read, since ratings are nested: {OF_DOCUMENTS}",
    "judgmentratings": f"a list of judgments of OpenSearch; not read, since ratings are nested: {OF_DOCUMENTS}",
    "question answer contexts": f"questions with answers, of RAGAS; {OF_ANSWERS}",
    "runid username rating": f"ratings of answers, of autojudge-annotate; {OF_ANSWERS}",
    "convid turnid runid": f"grades of answers in conversations; {OF_ANSWERS}",
    "system assessor": "ratings of systems by assessors; not read, since no document is named: write a file for each "
    'assessor with lines of {"run_id": , "topic_id": , "measure": , "value": } for qrowd leaderboards',
}


def unread_format(text: bytes, columns: Collection[str] = ()) -> str | None:
    """What a file seems to be that qrowd does not read, why not and what to do; None where it is nothing known.

    columns : of a table, as far as it could be read.
    """
    for pattern, words in STARTS.items():
        if re.match(pattern, text, re.IGNORECASE):
            return f"looks like {words}"
    names = {re.sub(r"[\s_-]", "", name).casefold() for name in (*columns, *_keys(first_record(text)))}
    return next((f"looks like {words}" for keys, words in FORMATS.items() if names.issuperset(keys.split())), None)


def _keys(record: Record) -> Iterator[str]:
    for key, value in record.items():
        yield key
        inner: Any = value[0] if isinstance(value, list) and value else value
        if isinstance(inner, dict):
            yield from (f"{key}.{name}" for name in inner)
