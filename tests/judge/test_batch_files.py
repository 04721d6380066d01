"""Batch files: what is written and read gives the judgments of asking, and is paid for once."""

import json

import pytest

from judge import model_server as server
from judge.model_server import ModelServer, completion, expired_line, output_line, problem
from qrowd.errors import ArgumentError, FileError
from qrowd.judge import batch_files, plan_job, read_batches, write_batches
from qrowd.judge.asking import answers_in
from qrowd.judge.chat import ChatModel
from qrowd.judge.exchange import Price, Prices
from qrowd.judge.record import Record

TOPICS = {"1": "green tea", "2": "cake"}
DOCUMENTS = {f"d{n}": f"document {n}" for n in range(1, 9)}
POOL = {"1": ["d1", "d2", "d3", "d4"], "2": ["d5", "d6", "d7", "d8"]}
PRICES = Prices([Price("*", "*", 1e6, 1e6, 0.5)], "USD")  # 1 a token, half in batches
NOWHERE = "http://127.0.0.1:1/v1"


def grade(number, body):
    """An answer that depends on the request alone."""
    text = body["messages"][-1]["content"]
    return completion(json.dumps({"grade": sum(map(ord, text)) % 4}))


def job(url=NOWHERE, *, names=("small",), pool=POOL, **options):
    return plan_job(TOPICS, DOCUMENTS, pool, [ChatModel(url, name) for name in names], **options)


def rows(judgments):
    return sorted(map(tuple, judgments.to_frame()[["topic", "document", "assessor", "value", "order"]].to_numpy()))


def lines_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def attempts(path):
    with Record(path, read_only=True) as record:
        return list(record.attempts())


def answer(folder, path, answer_of=lambda n, line: output_line(line["custom_id"], grade(n, line["body"]))):
    """Answer all requests of a folder as a provider does, the last one first."""
    requests = [line for file in sorted(folder.glob("*.jsonl")) for line in lines_of(file)]
    answers = [answer_of(n, line) for n, line in enumerate(requests)]
    path.write_bytes(b"\n".join(reversed(answers)) + b"\n")
    return path


@pytest.fixture
def record(tmp_path):
    return tmp_path / "judge.sqlite"


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "batches"


def test_the_judgments_are_those_of_asking_and_nothing_is_asked_after(record, folder, tmp_path):
    options = {"n_samples": 2, "names": ("small", "large")}
    with ModelServer(grade) as served:
        written = write_batches(job(served.url, **options), folder, record=record)
        assert (written.n_requests, written.models) == ((16, 16), ("small", "large"))
        result = read_batches([answer(folder, tmp_path / "answers")], record=record)
        assert (result.answers, result.failures, result.known) == (32, 0, 0)
        answers = job(served.url, **options).ask(record)
        assert served.bodies == []
        asked = job(served.url, **options).ask(tmp_path / "other.sqlite")
    assert len(served.bodies) == 32
    assert rows(answers.judgments) == rows(asked.judgments)
    assert len(answers.judgments) == 32
    assert answers_in(record).n_unasked == 0


def test_a_line_is_what_asking_sends(record, folder, tmp_path):
    with ModelServer(grade) as served:
        write_batches(job(served.url, parameters={"temperature": 0}), folder, record=record)
        job(served.url, parameters={"temperature": 0}).ask(tmp_path / "other.sqlite")
    lines = lines_of(folder / "small.jsonl")
    assert {(line["method"], line["url"]) for line in lines} == {("POST", "/v1/chat/completions")}
    assert len({line["custom_id"] for line in lines}) == 8
    assert all(len(line["custom_id"]) <= 64 for line in lines)  # the limit of some providers
    asked = sorted(json.dumps(body, sort_keys=True) for body in served.bodies)
    assert sorted(json.dumps(line["body"], sort_keys=True) for line in lines) == asked


def test_files_stay_within_the_limits_and_have_one_model_each(record, folder, tmp_path, monkeypatch):
    monkeypatch.setattr(batch_files, "MOST_REQUESTS", 3)
    written = write_batches(job(names=("small", "a/b")), folder, record=record)
    assert [(path.name, n) for path, n in zip(written.files, written.n_requests, strict=True)] == [
        ("small.jsonl", 3), ("a%2Fb.jsonl", 3), ("small-2.jsonl", 3), ("a%2Fb-2.jsonl", 3), ("small-3.jsonl", 2),
        ("a%2Fb-3.jsonl", 2),
    ]  # fmt: skip
    size = max(path.stat().st_size for path in folder.glob("*.jsonl")) // 3
    monkeypatch.setattr(batch_files, "MOST_BYTES", 2 * size + 20)
    assert write_batches(job(), tmp_path / "more", record=record).n_requests == (2, 2, 2, 2)
    assert all(path.stat().st_size <= 2 * size + 20 for path in (tmp_path / "more").glob("*.jsonl"))


def test_reading_again_adds_nothing(record, folder, tmp_path):
    write_batches(job(), folder, record=record)
    path = answer(folder, tmp_path / "answers")
    part = tmp_path / "part"
    part.write_bytes(b"\n".join(path.read_bytes().splitlines()[:5]))
    first = read_batches([part], record=record)
    assert (first.answers, first.waiting) == (5, 3)
    both = read_batches([part, path], record=record)
    assert (both.answers, both.known, both.waiting) == (3, 10, 0)
    assert len(attempts(record)) == 8


def test_what_a_batch_did_not_answer_is_asked_afterwards_and_nothing_else(record, folder, tmp_path):
    def some(n, line):
        if n == 0:
            return expired_line(line["custom_id"])
        return output_line(line["custom_id"], problem(400, "too long") if n == 1 else grade(n, line["body"]))

    with ModelServer(grade) as served:
        write_batches(job(served.url), folder, record=record)
        result = read_batches([answer(folder, tmp_path / "answers", some)], record=record)
        assert (result.answers, result.failures) == (6, 2)
        assert len(job(served.url).ask(record).judgments) == 8
        assert len(served.bodies) == 2


def test_lines_of_other_jobs_and_broken_ones_are_counted_and_a_file_of_these_alone_is_refused(record, folder, tmp_path):
    write_batches(job(), folder, record=record)
    path = answer(folder, tmp_path / "answers")
    path.write_bytes(path.read_bytes() + b"{\n" + output_line("1", completion("3")))
    result = read_batches([path], record=record)
    assert (result.answers, result.broken, result.foreign) == (8, 1, 1)
    for content in ("", "topic\tdocument\n", '{"custom_id": "1"}\n'):
        (tmp_path / "other").write_text(content)
        with pytest.raises(FileError, match=r"lines answers a request of|other: is empty"):
            read_batches([tmp_path / "other"], record=record)
    with pytest.raises(FileError, match="there is no such file"):
        read_batches([tmp_path / "none"], record=record)
    with pytest.raises(FileError, match="there is no such record"):
        read_batches([path], record=tmp_path / "none.sqlite")


def test_answers_that_do_not_count_are_written_again_where_that_is_wished(record, folder, tmp_path):
    write_batches(job(), folder, record=record)
    silent = answer(folder, tmp_path / "silent", lambda n, line: output_line(line["custom_id"], completion("no idea")))
    read_batches([silent], record=record)
    assert write_batches(job(), tmp_path / "none", record=record).files == ()
    again = ["unparsable"]
    assert write_batches(job(), tmp_path / "again", record=record, again=again).n_requests == (8,)
    read_batches([answer(tmp_path / "again", tmp_path / "answers")], record=record)
    assert len(job().ask(record).judgments) == 8


def test_a_folder_with_files_is_refused_before_anything_is_written(record, folder):
    write_batches(job(), folder, record=record)
    with pytest.raises(FileError, match="is not empty; name a new folder"):
        write_batches(job(names=("large",)), folder, record=record)
    assert [path.name for path in folder.iterdir()] == ["small.jsonl"]


def test_functions_have_no_batches(record, folder):
    with pytest.raises(ArgumentError, match="only models of a server, URL#NAME, have batches"):
        write_batches(plan_job(TOPICS, DOCUMENTS, POOL, lambda request: "2"), folder, record=record)


def test_tokens_of_batches_cost_their_share_and_those_of_failures_count(record, folder, tmp_path):
    def one_broken(n, line):
        return output_line(line["custom_id"], server.EMPTY_CHOICES if n == 0 else grade(n, line["body"]))

    write_batches(job(), folder, record=record)
    read_batches([answer(folder, tmp_path / "answers", one_broken)], record=record, prices=PRICES)
    with Record(record) as written:
        assert written.spent() == 8 * 12 / 2
