"""Judgments of models, as UMBRELA, RAGElo and TREC RAG write them.

Judgments of UMBRELA as JSON Lines or as the JSON of `umbrela judge --output json`, one record per query and passage.

A record with `result_status` 0 holds a 0 that no model gave: it is left out and counted. Compact records, which are the
default, have no `result_status`: their zeros may be failures. Records hold the texts of query and passage; `qid` and
`docid` must have been added, except for a `qid` in the query.

Results of RAGElo: judgments of documents by its retrieval evaluators, or comparisons of the answers of agents.

Files are `..._results.jsonl`, whose lines may be wrapped as {"retrieval": ...} and {"answer": ...}. A record with an
exception, or without an answer, is counted and makes no judgment. Of comparisons alone, a document is the answer of an
agent. The file does not name the model: the assessor is the file, or the evaluators or annotators where there are
several.

Judgments of TREC RAG in six columns: topic, Q0, segment, judgment, confidence and the run that judged.

Their number of fields is that of a run, so a file must name this reader: `trec-rag:FILE`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from qrowd.errors import FileError
from qrowd.readers.tool_exports import NoRowError, Reader, Record, plain

# ---------------------------------------------------------------------- UMBRELA

STATUS = "result_status"
TOPIC = ("qid", "query_id", "topic_id", "topic")
ASSESSOR = {"assessor", "worker", "annotator", "judge", "user", "rater"}
DOCUMENT = ("docid", "doc_id", "document_id", "passage_id", "pid", "docno", "document")


def is_umbrela(record: Record) -> bool:
    """Whether it is one of UMBRELA's, with all its fields, or what its command prints."""
    if record.get("repo") == "umbrela" and "artifacts" in record:
        return True
    if not record.keys() >= {"query", "passage", "judgment"}:
        return False
    if STATUS in record:
        return True
    # Other tables of texts and judgments have these fields, too: with assessors, or with the query as the topic.
    topic, document = _labels(_umbrela_cells(record))
    return ASSESSOR.isdisjoint(record) and (topic is not None or document is None)


def umbrela_rows(record: Record) -> Iterator[Record]:
    """The judgment of a record, or of each record that the command printed."""
    printed = [part.get("data") for part in record.get("artifacts", ()) if part.get("name") == "judgments"]
    for each in printed[0] or () if printed else [record]:
        cells = _umbrela_cells(each)
        topic, document = _labels(cells)
        if each.get(STATUS) == 0:
            yield {}
        elif topic is None or document is None:
            raise NoRowError(
                f"no {'qid' if topic is None else 'docid'}, only texts; add qid and docid to the records, or read the "
                "qrels of umbrela evaluate"
            )
        else:
            more = {new: cells[old] for old, new in (("model", "assessor"), ("reasoning", "comment")) if old in cells}
            status = {STATUS: each[STATUS]} if STATUS in each else {}
            yield {"topic": topic, "document": document, "value": cells.get("judgment")} | more | status


def _umbrela_cells(record: Record) -> Record:
    query = record.get("query")
    return plain(query | record if isinstance(query, dict) else record)


def _labels(cells: Record) -> tuple[Any, Any]:
    """Topic and document, each None where there is none."""
    topic, document = (next((cells[key] for key in keys if key in cells), None) for keys in (TOPIC, DOCUMENT))
    return topic, document


UMBRELA = Reader(
    is_umbrela,
    umbrela_rows,
    "holds no judgment of umbrela judge that a model gave",
    doubtful=lambda row: row["value"] == 0 and STATUS not in row,
    doubt="of 0 may be an answer that was not understood: compact records do not say so, and those of umbrela judge "
    "--include-trace do",
)


# ---------------------------------------------------------------------- RAGElo

WRAPPED = ("retrieval", "answer", "elo_tournament")


def is_ragelo(record: Record) -> bool:
    """Whether it is a result, wrapped or not."""
    inner = _unwrapped(record)
    wrapped = inner is not record and (inner.keys() >= {"qid", "raw_answer"} or "total_tournaments" in inner)
    return wrapped or record.keys() >= {"qid", "evaluator_name", "answer"}


def ragelo_rows(record: Record) -> Iterator[Record]:
    """A row per judgment of a document, or the comparison of two agents."""
    record = _unwrapped(record)
    answer = record.get("answer")
    evaluator = record.get("evaluator_name")
    is_game = record.get("agent_a") is not None and record.get("agent_b") is not None
    if "did" not in record and not is_game:
        return
    if answer in (None, "") or record.get("exception"):
        yield {}
    elif is_game:
        yield _comparison(record, answer)
    else:
        by_annotator = isinstance(answer, dict) and answer and all(isinstance(part, dict) for part in answer.values())
        for assessor, part in (answer if by_annotator else {evaluator: answer}).items():
            yield _judgment(record, assessor, part if isinstance(part, dict) else {"score": part})


def _unwrapped(record: Record) -> Record:
    """The result in {"retrieval": result}."""
    inner = next((record[key] for key in WRAPPED if len(record) == 1 and key in record), None)
    return inner if isinstance(inner, dict) else record


def _judgment(record: Record, assessor: str | None, cells: Record) -> Record:
    value = next((cells[key] for key in ("score", "overall") if cells.get(key) is not None), None)
    if value is None:
        raise NoRowError(f"the answer of {assessor or 'the evaluator'} has no score")
    row = {"topic": record["qid"], "document": record["did"], "value": value, "assessor": assessor}
    return row | {"comment": cells.get("reasoning")}


def _comparison(record: Record, answer: Any) -> Record:
    winner = answer.get("winner") if isinstance(answer, dict) else answer
    agents = {"A": record["agent_a"], "B": record["agent_b"], "C": "tie"}
    if winner not in agents:
        raise NoRowError(f"the winner of two answers is {winner!r}, not A, B or C (a tie)")
    row = {"topic": record["qid"], "a": record["agent_a"], "b": record["agent_b"], "preferred": agents[winner]}
    return row | {"assessor": record.get("evaluator_name")}


RAGELO = Reader(
    is_ragelo, ragelo_rows, "holds no judgment of a document and no comparison of answers", named_by_file=True
)


# ---------------------------------------------------------------------- TREC RAG

FIELDS = ("topic", "iteration", "document", "value", "confidence", "assessor")


def trec_rag_lines(text: bytes, name: str) -> list[Record]:
    """One record per line.

    Raises
    ------
    FileError
        A line with another number of fields, with its number.
    """
    lines = []
    for number, line in enumerate(text.decode("utf-8-sig", "surrogateescape").split("\n"), start=1):
        fields = line.split()
        if not fields or line.startswith("#"):
            continue
        if len(fields) != len(FIELDS):
            expected = "topic Q0 segment judgment confidence run_id"
            raise FileError(name, f"expected '{expected}', found {len(fields)} fields", number)
        lines.append(dict(zip(FIELDS, fields, strict=True)))
    return lines


TREC_RAG = Reader(lambda record: False, lambda record: [record], "holds no line", trec_rag_lines)
