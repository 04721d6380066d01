"""Ways in which files are damaged, each drawn with a generator of random numbers."""

import gzip
import json
import re


def truncated(content, rng):
    return content[: int(rng.integers(1, len(content)))]


def flipped(content, rng):
    damaged = bytearray(content)
    for place in rng.integers(len(damaged), size=5):
        damaged[place] ^= int(rng.integers(1, 256))
    return bytes(damaged)


def with_swapped_columns(content, rng):
    lines = content.split(b"\n")
    for i in range(int(rng.integers(len(lines))), len(lines)):
        cells = re.split(rb"([ ,\t])", lines[i])
        lines[i] = b"".join(cells[-1:] + cells[1:-1] + cells[:1]) if len(cells) > 1 else lines[i]
    return b"\n".join(lines)


def without_newlines(content, rng):
    return re.sub(rb"\n", lambda match: match[0] if rng.random() < 0.7 else b"", content)


def with_bytes(content, rng):
    places = sorted(rng.integers(len(content), size=3).tolist())
    inserted = (b"\0", b"\xef\xbb\xbf", b"\xe4\xf6", b'"', b"\r", b"\x1f\x8b", b"#", b"<", b"\\")
    for place in reversed(places):
        content = content[:place] + inserted[int(rng.integers(len(inserted)))] + content[place:]
    return content


def in_another_encoding(content, rng):
    text = content.decode("utf-8", "replace").replace("a", "ä")
    return text.encode(("utf-16", "latin-1", "utf-8-sig", "utf-32")[int(rng.integers(4))], "replace")


def packed_and_cut(content, rng):
    return truncated(gzip.compress(content), rng)


def with_huge_numbers(content, rng):
    numbers = (b"1e400", b"-1e309", b"9" * 400, b"1e-400", b"nan", b"Infinity", b"-9223372036854775809", b"1_0")
    return re.sub(
        rb"(?<![\w.])\d+(\.\d+)?(?![\w.])",
        lambda match: numbers[int(rng.integers(len(numbers)))] if rng.random() < 0.2 else match[0],
        content,
    )


def nested(content, rng):
    depth = (3, 3_000, 200_000)[int(rng.integers(3))]
    return (b"[" * depth + content[:100] + b"]" * depth, b'{"a":' * depth + b"1" + b"}" * depth)[int(rng.integers(2))]


def with_other_types(content, rng):
    """JSON in which some values have another type; other files with cells of JSON."""
    values = (b"null", b"[]", b"{}", b'""', b"[[1]]", b'{"a": [1]}', b"true", b"1.5", b"[null]", b'[{"a": 1}]')
    return re.sub(
        rb'"[^"\n]*"|\b[\w.]+\b',
        lambda match: values[int(rng.integers(len(values)))] if rng.random() < 0.15 else match[0],
        content,
    )


def repeated(content, rng):
    lines = content.split(b"\n")
    return b"\n".join(lines[int(i)] for i in rng.integers(len(lines), size=len(lines)))


DAMAGES = (
    truncated, flipped, with_swapped_columns, without_newlines, with_bytes, in_another_encoding, packed_and_cut,
    with_huge_numbers, nested, with_other_types, repeated,
)  # fmt: skip


def _label_studio(i):
    grade = {"type": "choices", "from_name": "grade", "value": {"choices": ["1"]}}
    answer = {"completed_by": {"email": "a"}, "lead_time": 2.5, "created_at": "2026-01-01", "result": [grade]}
    return {"id": i, "data": {"query_id": "q", "doc_id": f"d{i}"}, "annotations": [answer]}


def _argilla(i):
    answer = {"value": 1, "user_id": "a", "status": "submitted"}
    return {"fields": {"query": "x"}, "metadata": {"query_id": "q", "doc_id": f"d{i}"}, "responses": {"r": [answer]}}


def _argilla_flat(i):
    about = {"id": str(i), "text": "the text of it", "query_id": "q", "doc_id": f"d{i}"}
    return about | {"r.responses": ["1", "2"], "r.responses.users": ["a", "b"]}


def _umbrela(i):
    query = {"qid": "q", "text": "t"}
    return {"model": "m", "query": query, "passage": "p", "docid": f"d{i}", "judgment": i, "result_status": 1}


def _ragelo(i):
    if i == 2:
        return {"qid": "q", "agent_a": "x", "agent_b": "y", "evaluator_name": "e", "answer": {"winner": "A"}}
    return {"qid": "q", "did": f"d{i}", "evaluator_name": "e", "answer": {"score": i, "reasoning": "r"}}


def _nuggets(i):
    units = [{"text": "n", "importance": "vital", "assignment": "support"}, {"text": "m", "importance": "okay"}]
    return {"qid": f"q{i}", "run_id": "a", "nuggets": units}


def _support(i):
    sentence = {"sentenceID": 0, "text": "t", "citations": [{"citationID": 0, "reference": "d", "support": "2"}]}
    return {"topic_id": f"q{i}", "run_id": "a", "sentences": [sentence, {"text": "u", "citations": []}]}


def _rubric(i):
    return {"qid": f"q{i}", "run_id": "a", "criteria": [{"text": "c", "weight": -1, "verdict": "satisfied"}]}


def _rating(i):
    return {"topic_id": f"q{i}", "run_id": "a", "username": "ann", "rating": "So-so", "comment": "c"}


EVALUATIONS = {
    "models": [],
    "metrics": [{"name": "m", "values": [{"value": "yes", "numeric_value": 1}]}],
    "tasks": [],
    "evaluations": [
        {"task_id": f"q{i}", "model_id": "a", "annotations": {"m": {"ann": {"value": "yes", "duration": 1.5}}}}
        for i in range(3)
    ],
}
EXPORTS = {
    "nuggets.jsonl": "\n".join(json.dumps(_nuggets(i)) for i in range(3)).encode(),
    "support.jsonl": "\n".join(json.dumps(_support(i)) for i in range(3)).encode(),
    "rubric.jsonl": "\n".join(json.dumps(_rubric(i)) for i in range(3)).encode(),
    "ratings.jsonl": "\n".join(json.dumps(_rating(i)) for i in range(3)).encode(),
    "evaluations.json": json.dumps(EVALUATIONS).encode(),
    "label_studio.json": json.dumps([_label_studio(i) for i in range(3)]).encode(),
    "argilla.json": json.dumps([_argilla(i) for i in range(3)]).encode(),
    "argilla_flat.jsonl": "\n".join(json.dumps(_argilla_flat(i)) for i in range(3)).encode(),
    "umbrela.jsonl": "\n".join(json.dumps(_umbrela(i)) for i in range(3)).encode(),
    "ragelo.jsonl": "\n".join(json.dumps(_ragelo(i)) for i in range(3)).encode(),
}
"""Minimal exports that are read."""
