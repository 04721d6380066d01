"""Batches: what is written, sent and collected gives the judgments of asking, and is paid for once."""

import contextlib
import io
import itertools
import json
import logging
import traceback
from collections import Counter
from dataclasses import replace

import pytest

from judge import model_server as server
from judge.model_server import ModelServer, completion, expired_line, output_line, problem
from qrowd.errors import ArgumentError, FileError, QrowdError
from qrowd.judge import batch, plan_job
from qrowd.judge.asked import outcomes_in
from qrowd.judge.batch import collect_batches, send_batches, write_batches
from qrowd.judge.batch_wire import BatchServer
from qrowd.judge.chat import ChatModel
from qrowd.judge.prices import Price, Prices
from qrowd.judge.record import Record

TOPICS = {"1": "green tea", "2": "cake"}
DOCUMENTS = {f"d{n}": f"document {n}" for n in range(1, 9)}
POOL = {"1": ["d1", "d2", "d3", "d4"], "2": ["d5", "d6", "d7", "d8"]}
KEY = "sk-very/secret-9f8e7d6c5b4a"
PRICES = Prices([Price("*", "*", 1e6, 1e6, 0.5)], "USD")  # 1 a token, half in batches


def grade(number, body):
    """An answer that depends on the request alone."""
    text = body["messages"][-1]["content"]
    return completion(json.dumps({"grade": sum(map(ord, text)) % 4}))


def job(served, *, names=("small",), pool=POOL, **options):
    models = [ChatModel(served.url, name) for name in names]
    return plan_job(TOPICS, DOCUMENTS, pool, models, **options)


def rows(judgments):
    return sorted(map(tuple, judgments.to_frame()[["topic", "document", "assessor", "value", "order"]].to_numpy()))


def files(folder):
    return sorted(folder.glob("*.jsonl"))


def lines_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def attempts(path):
    with Record(path, read_only=True) as record:
        return list(record.attempts())


@pytest.fixture
def record(tmp_path):
    return tmp_path / "judge.sqlite"


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "batches"


def go(served, folder, record, **options):
    """Write, send, collect."""
    write_batches(job(served, **options), folder, record=record)
    send_batches(files(folder), record=record)
    return collect_batches(record).states


def test_the_judgments_are_those_of_asking_and_nothing_is_asked_after(record, folder, tmp_path):
    options = {"n_samples": 2, "names": ("small", "large")}
    with ModelServer(grade) as served:
        states = go(served, folder, record, **options)
        assert [(one.status, one.requests, one.answers, one.failures) for one in states] == [
            ("completed", 16, 16, 0),
            ("completed", 16, 16, 0),
        ]
        assert served.bodies == []
        answers = job(served, **options).ask(record)
        assert served.bodies == []
        asked = job(served, **options).ask(tmp_path / "other.sqlite")
    assert len(served.bodies) == 32
    assert rows(answers.judgments) == rows(asked.judgments)
    assert len(answers.judgments) == 32
    assert outcomes_in(record)[1] == []


def test_a_line_is_what_asking_sends(record, folder):
    with ModelServer(grade) as served:
        write_batches(job(served, parameters={"temperature": 0}), folder, record=record)
        job(served, parameters={"temperature": 0}).ask(folder.parent / "other.sqlite")
    lines = lines_of(folder / "small.jsonl")
    assert {(line["method"], line["url"]) for line in lines} == {("POST", "/v1/chat/completions")}
    assert len({line["custom_id"] for line in lines}) == 8
    assert all(len(line["custom_id"]) <= 64 for line in lines)  # the limit of some providers
    asked = sorted(json.dumps(body, sort_keys=True) for body in served.bodies)
    assert sorted(json.dumps(line["body"], sort_keys=True) for line in lines) == asked


def test_files_stay_within_the_limits_and_have_one_model_each(record, folder, monkeypatch):
    monkeypatch.setattr(batch, "MOST_REQUESTS", 3)
    with ModelServer(grade) as served:
        result = write_batches(job(served, names=("small", "a/b")), folder, record=record)
    assert [(one.path.name, one.n_requests) for one in result.files] == [
        ("small.jsonl", 3), ("a%2Fb.jsonl", 3), ("small-2.jsonl", 3), ("a%2Fb-2.jsonl", 3), ("small-3.jsonl", 2),
        ("a%2Fb-3.jsonl", 2),
    ]  # fmt: skip
    size = max(path.stat().st_size for path in files(folder)) // 3
    monkeypatch.setattr(batch, "MOST_BYTES", 2 * size + 20)
    for path in files(folder):
        path.unlink()
    with ModelServer(grade) as served:
        result = write_batches(job(served), folder, record=record)
    assert [one.n_requests for one in result.files] == [2, 2, 2, 2]
    assert all(path.stat().st_size <= 2 * size + 20 for path in files(folder))


def test_what_a_sent_batch_holds_is_neither_asked_nor_written_nor_sent_again(record, folder):
    with ModelServer(grade) as served:
        write_batches(job(served, pool={"1": POOL["1"]}), folder, record=record)
        (first,) = send_batches(files(folder), record=record).states
        (again,) = send_batches(files(folder), record=record).states
        assert (first.status, again.status, first.batch, again.batch) == ("sent", "sent before", "batch-0", "batch-0")
        answers = job(served).ask(record)
        assert len(served.bodies) == 4
        assert (answers.n_unasked, answers.n_in_batches) == (4, 4)
        written = write_batches(job(served), folder, record=record)
        assert (written.files, written.n_pending) == ((), 4)
        collect_batches(record)
        (answered,) = send_batches(files(folder), record=record).states
        assert answered.status == "answered"
    assert len(served.batches) == 1
    assert Counter(attempt.request.key for attempt in attempts(record)).most_common(1)[0][1] == 1


def test_collecting_again_adds_nothing_whatever_way_the_answers_came(record, folder, tmp_path):
    with ModelServer(grade) as served:
        write_batches(job(served), folder, record=record)
        send_batches(files(folder), record=record)
        lines = served.batches["batch-0"].output
        (tmp_path / "answers.jsonl").write_bytes(b"\n".join(lines[:5]))
        assert collect_batches(record, files=[tmp_path / "answers.jsonl"]).states[0].answers == 5
        (state,) = collect_batches(record).states
        assert (state.answers, state.ignored, state.detail) == (3, 5, "5 there already")
        assert collect_batches(record).states == ()
        (state,) = collect_batches(record, files=[tmp_path / "answers.jsonl"]).states
        assert (state.answers, state.ignored) == (0, 5)
    assert len(attempts(record)) == 8


def test_a_batch_in_progress_is_reported_and_collected_later(record, folder):
    def run(served, one):
        server.answer_all(served, one)
        one.polls = 2

    with ModelServer(grade, run) as served:
        (state,) = go(served, folder, record)
        assert (state.status, state.finished, state.requests, state.answers) == ("in_progress", 1, 8, 0)
        (state,) = collect_batches(record).states
        assert (state.status, state.finished, state.answers) == ("completed", 8, 8)


def partly_expired(served, one):
    server.answer_all(served, one)
    one.status, one.errors = "expired", [expired_line(line["custom_id"]) for line in one.lines[:3]]
    one.output = one.output[:5]


def partly_failed(served, one):
    server.answer_all(served, one)
    one.errors = [output_line(line["custom_id"], problem(400, "too long")) for line in one.lines[:3]]
    one.output = one.output[:5]


def cancelled(served, one):
    partly_expired(served, one)
    one.status, one.errors = "cancelled", None


@pytest.mark.parametrize(("run", "failures"), [(partly_expired, 3), (partly_failed, 3), (cancelled, 0)])
def test_what_a_batch_did_not_answer_is_asked_afterwards_and_nothing_else(record, folder, run, failures):
    with ModelServer(grade, run) as served:
        (state,) = go(served, folder, record)
        assert (state.answers, state.failures) == (5, failures)
        answers = job(served).ask(record)
        assert len(served.bodies) == 3
    assert len(answers.judgments) == 8
    assert len(attempts(record)) == 8 + failures


def test_a_batch_that_failed_as_a_whole_says_why_and_can_be_sent_again(record, folder):
    def fail(served, one):
        one.status, one.problem = "failed", "This line is no JSON."

    with ModelServer(grade, fail) as served:
        (state,) = go(served, folder, record)
        assert (state.status, state.detail, state.answers) == ("failed", "line 2: This line is no JSON.", 0)
        served.run = server.answer_all
        (state,) = send_batches(files(folder), record=record).states
        assert (state.status, state.batch) == ("sent", "batch-1")
        assert collect_batches(record).states[0].answers == 8


def test_a_batch_that_the_server_lost_is_free_to_be_asked(record, folder):
    with ModelServer(grade) as served:
        write_batches(job(served), folder, record=record)
        send_batches(files(folder), record=record)
        served.batches.clear()
        (state,) = collect_batches(record).states
        assert (state.status, state.detail) == ("failed", "the server knows it no more")
        assert job(served).ask(record).n_unasked == 0


def test_lines_of_other_jobs_broken_lines_and_repeated_ones_never_enter(record, folder, tmp_path):
    other = job(ModelServerAt("http://127.0.0.1:1/v1"), parameters={"temperature": 1}).requests[0].key

    def run(served, one):
        server.answer_all(served, one)
        strange = [output_line(name, completion("3")) for name in (other, "1", "")]
        broken = [one.output[0][:40], b"[]", b'{"custom_id": 3}', b"null", b"[" * 5000]
        one.output += [*strange, *broken, one.output[1]]

    with ModelServer(grade, run) as served:
        (state,) = go(served, folder, record)
        assert (state.answers, state.failures, state.ignored) == (8, 0, 9)
        answers = job(served).ask(record)
        assert served.bodies == []
        asked = job(served).ask(tmp_path / "other.sqlite")
    assert rows(answers.judgments) == rows(asked.judgments)


class ModelServerAt:
    """A server that nobody calls."""

    def __init__(self, url):
        self.url = url


def test_answers_for_another_batch_of_the_record_do_not_enter_by_a_batch(record, folder):
    with ModelServer(grade) as served:
        write_batches(job(served, pool={"1": POOL["1"]}), folder / "one", record=record)
        write_batches(job(served, pool={"2": POOL["2"]}), folder / "two", record=record)
        elsewhere = lines_of(folder / "two" / "small.jsonl")[0]["custom_id"]
        served.run = lambda served, one: setattr(one, "output", [output_line(elsewhere, completion("3"))])
        send_batches(files(folder / "one"), record=record)
        assert collect_batches(record).states[0].ignored == 1
    assert attempts(record) == []


VLLM = [
    ({"response": {"status_code": 400, "request_id": "r", "body": None},
      "error": {"object": "error", "message": "too long", "code": 400}}, "HTTP 400: too long"),
    ({"response": {"status_code": 400, "request_id": "r"}, "error": "no such URL"}, "HTTP 400: no such URL"),
    ({"response": None, "error": {"code": "batch_expired", "message": "late"}}, "batch_expired: late"),
    ({"response": None, "error": None}, "the line holds no answer"),
    ({}, "the line holds no answer"),
    ({"response": {"status_code": 200, "body": {"choices": []}}}, "the answer holds no choices"),
]  # fmt: skip


@pytest.mark.parametrize(("line", "words"), VLLM)
def test_an_error_in_place_of_an_answer_is_an_error(record, folder, tmp_path, line, words):
    with ModelServer(grade) as served:
        write_batches(job(served), folder, record=record)
    key = lines_of(folder / "small.jsonl")[0]["custom_id"]
    (tmp_path / "answers.jsonl").write_text(json.dumps({"id": "vllm-1", "custom_id": key, **line}) + "\n\n")
    (state,) = collect_batches(record, files=[tmp_path / "answers.jsonl"], prices=PRICES).states
    assert (state.answers, state.failures) == (0, 1)
    (attempt,) = attempts(record)
    assert (attempt.reply.error, attempt.cost > 0) == (words, "choices" in words)  # what was worked on is paid for


def test_a_file_of_answers_that_a_user_brings_needs_no_server(record, folder, tmp_path):
    nowhere = ModelServerAt("http://127.0.0.1:1/v1")
    write_batches(job(nowhere), folder, record=record)
    lines = lines_of(folder / "small.jsonl")
    answers = [output_line(line["custom_id"], grade(0, line["body"])) for line in lines]
    (tmp_path / "answers.jsonl").write_bytes(b"\n".join(answers))
    collect_batches(record, files=[tmp_path / "answers.jsonl"])
    assert len(job(nowhere).ask(record).judgments) == 8


def test_a_file_without_any_answer_to_the_record_is_refused(record, folder, tmp_path):
    write_batches(job(ModelServerAt("http://127.0.0.1:1/v1")), folder, record=record)
    for content in ("", "topic\tdocument\n", '{"custom_id": "1"}\n'):
        (tmp_path / "answers.jsonl").write_text(content)
        with pytest.raises(FileError, match="lines answers a request of"):
            collect_batches(record, files=[tmp_path / "answers.jsonl"])


def test_answers_that_do_not_count_are_written_again_where_that_is_wished(record, folder):
    with ModelServer([completion("no idea")]) as served:
        go(served, folder, record)
        assert write_batches(job(served), folder, record=record).files == ()
        served.script = grade
        (one,) = write_batches(job(served), folder, record=record, again=["unparsable"]).files
        assert one.n_requests == 8
        assert send_batches([one.path], record=record).states[0].status == "sent"
        collect_batches(record)
        assert send_batches([one.path], record=record).states[0].status == "answered"
        assert len(job(served).ask(record).judgments) == 8


# ---- money


def test_tokens_of_batches_cost_their_share_and_those_of_failures_count(record, folder):
    def run(served, one):
        server.answer_all(served, one)
        one.output[0] = output_line(one.lines[-1]["custom_id"], server.EMPTY_CHOICES)

    with ModelServer(grade, run) as served:
        write_batches(job(served), folder, record=record)
        send_batches(files(folder), record=record)
        collect_batches(record, prices=PRICES)
    with Record(record) as written:
        assert written.spent() == 8 * 12 / 2


def test_the_budget_holds_for_batches_and_for_what_is_asked_beside_them(record, folder):
    with ModelServer(grade) as served:
        options = {"parameters": {"max_tokens": 10}}
        all_costs = [PRICES.estimate([one], batch=True).cost for one in job(served, **options).requests]
        budget = sum(all_costs[:3]) + 1
        written = write_batches(job(served, **options), folder, record=record, budget=budget, prices=PRICES)
        assert (written.files[0].n_requests, written.n_over_budget) == (3, 5)
        send_batches(files(folder), record=record)
        answers = job(served, **options).ask(record, budget=budget, prices=PRICES)
        assert served.bodies == []
        assert answers.stopped.startswith("budget: ")
        collect_batches(record, prices=PRICES)
        with Record(record) as attempts_so_far:
            assert attempts_so_far.spent() <= budget
    with pytest.raises(ArgumentError, match="has no price"):
        write_batches(job(served, **options), folder, record=record, budget=budget)


# ---- killed


class Killed(BaseException):
    pass


def steps(monkeypatch, kill_at, after):
    """Let the process end before or after its nth step; a list of the steps."""
    done = []

    def wrapped(name, function):
        def step(*arguments, **options):
            done.append(name)
            if len(done) == kill_at and not after:
                raise Killed
            result = function(*arguments, **options)
            if len(done) == kill_at and after:
                raise Killed
            return result

        return step

    for name in ("upload", "create", "batch", "lines"):
        monkeypatch.setattr(BatchServer, name, wrapped(name, getattr(BatchServer, name)))
    for name in ("write_whole", "note_requests", "add_batch", "note"):
        monkeypatch.setattr(batch, name, wrapped(name, getattr(batch, name)))
    return done


def test_a_process_that_is_killed_between_two_steps_loses_and_repeats_nothing(tmp_path):
    with ModelServer(grade) as served:
        expected = rows(job(served).ask(tmp_path / "asked.sqlite").judgments)
        n_asked = len(served.bodies)
        with pytest.MonkeyPatch.context() as monkeypatch:
            names = steps(monkeypatch, None, True)
            go(served, tmp_path / "whole", tmp_path / "whole.sqlite")
        assert Counter(names) == {
            "note_requests": 1, "write_whole": 1, "upload": 1, "add_batch": 1, "note": 3, "create": 1, "batch": 1,
            "lines": 1,
        }  # fmt: skip
        for kill_at, after in itertools.product(range(1, len(names) + 1), (False, True)):
            folder = tmp_path / f"{kill_at}{after}"
            record = folder.with_suffix(".sqlite")
            served.batches.clear()
            with pytest.MonkeyPatch.context() as monkeypatch:
                steps(monkeypatch, kill_at, after)
                with contextlib.suppress(Killed):
                    go(served, folder, record)
            go(served, folder, record)
            requests = Counter(line["custom_id"] for one in served.batches.values() for line in one.lines)
            assert set(requests.values()) == {1}, (names[kill_at - 1], after)
            assert rows(job(served).ask(record).judgments) == expected
            assert len(attempts(record)) == 8
        assert len(served.bodies) == n_asked


def test_a_download_that_breaks_off_leaves_nothing_half(record, folder):
    with ModelServer(grade) as served:
        write_batches(job(served), folder, record=record)
        send_batches(files(folder), record=record)
        half = replace(problem(200), body=b"\n".join(served.batches["batch-0"].output), part=0.7, reset=True)
        served.refuse["GET", "/files/batch-0-output/content"] = replace(half, status=200)
        with pytest.raises(QrowdError, match="run the same command again"):
            collect_batches(record)
        assert attempts(record) == []
        served.refuse.clear()
        assert collect_batches(record).states[0].answers == 8


# ---- refused


def test_a_server_that_refuses_is_one_line_and_the_same_call_goes_on(record, folder, monkeypatch):
    with ModelServer(grade) as served:
        write_batches(job(served), folder, record=record)
        for call in (("POST", "/files"), ("POST", "/batches")):
            for status, words in ((401, "QROWD_KEY_127_0_0_1 holds no key"), (404, "no batches"), (503, "again"),
                                  (429, "later")):  # fmt: skip
                served.refuse = {call: problem(status, "no")}
                with pytest.raises(QrowdError, match=words) as error:
                    send_batches(files(folder), record=record)
                assert "\n" not in str(error.value)
                assert f"HTTP {status}: no" in str(error.value)
        served.refuse = {}
        assert [one.status for one in send_batches(files(folder), record=record).states] == ["sent"]
        assert len(served.batches) == 1
        served.refuse = {("GET", "/batches/batch-0"): problem(401, "no")}
        with pytest.raises(QrowdError, match="HTTP 401: no"):
            collect_batches(record)
        served.refuse = {("GET", "/batches/batch-0"): server.HTML}
        with pytest.raises(QrowdError, match="no JSON object"):
            collect_batches(record)
    with pytest.raises(QrowdError, match=r"Connect\w+ at http"):
        collect_batches(record)


def test_a_file_that_is_not_as_it_was_written_is_refused_with_its_line(record, folder, tmp_path):
    with ModelServer(grade) as served:
        write_batches(job(served), folder, record=record)
        (path,) = files(folder)
        whole = path.read_bytes()
        changed = [
            (whole.replace(b"document 2", b"document two"), 2, "was changed"),
            (b"topic\tdocument\n", 1, "expected a request of a batch"),
            (whole + b'{"custom_id": "1"}\n', 9, "does not hold this request"),
            (b"", None, "holds no request"),
            (whole + whole.splitlines()[0], None, "holds a request twice"),
        ]
        for content, line, words in changed:
            path.write_bytes(content)
            with pytest.raises(FileError, match=words) as error:
                send_batches([path], record=record)
            assert error.value.line == line
        with pytest.raises(FileError, match="cannot be read"):
            send_batches([tmp_path / "none.jsonl"], record=record)
        path.write_bytes(whole)
        with pytest.raises(FileError, match="does not hold this request"):
            send_batches([path], record=tmp_path / "other.sqlite")
    assert served.files == {}


def test_a_file_of_which_some_is_answered_is_refused(record, folder):
    with ModelServer(grade) as served:
        write_batches(job(served), folder, record=record)
        job(served, pool={"1": POOL["1"]}).ask(record)
        with pytest.raises(FileError, match="4 of its 8 requests have been answered or sent"):
            send_batches(files(folder), record=record)


def test_a_folder_with_requests_that_nobody_sent_is_refused(record, folder):
    with ModelServer(grade) as served:
        write_batches(job(served, names=("large",)), folder, record=record)
        with pytest.raises(FileError, match=r"large\.jsonl: holds requests that have not been sent"):
            write_batches(job(served), folder, record=record)
        send_batches(files(folder), record=record)
        (folder / "notes.jsonl").write_text("{}\n")
        assert len(write_batches(job(served), folder, record=record).files) == 1


def test_functions_have_no_batches(record, folder):
    with pytest.raises(ArgumentError, match="only models of a server, URL#NAME, have batches"):
        write_batches(plan_job(TOPICS, DOCUMENTS, POOL, lambda request: "2"), folder, record=record)


# ---- keys


def test_the_key_goes_to_its_server_and_is_in_no_file_error_log_or_traceback(record, folder, caplog, monkeypatch):
    monkeypatch.setenv("SECRET_OF_TEST", KEY)
    caplog.set_level(logging.DEBUG)
    output = io.StringIO()

    def echo(served, one):
        server.answer_all(served, one)
        one.output[0] = output_line(one.lines[0]["custom_id"], completion(f"the key is {KEY}"))
        one.errors = [output_line(one.lines[1]["custom_id"], problem(401, KEY)).replace(b"/", b"\\/")]
        one.problem = KEY

    keys = {"127.0.0.1": "SECRET_OF_TEST"}
    with ModelServer(grade, echo) as served, contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        write_batches(job(served), folder, record=record)
        for call in (("POST", "/files"), ("POST", "/batches"), None):
            served.refuse = {call: problem(400, f"Incorrect API key provided: {KEY}", KEY)} if call else {}
            try:
                send_batches(files(folder), record=record, keys=keys)
            except QrowdError:
                traceback.print_exc()
        print(collect_batches(record, keys=keys), collect_batches(record, keys=keys).to_frame().to_csv())
    assert {headers["authorization"] for headers in served.headers} == {f"Bearer {KEY}"}
    written = b"".join(path.read_bytes() for path in record.parent.rglob("*") if path.is_file())
    assert b"[key]" in written
    for text in (output.getvalue(), caplog.text, written.decode(errors="replace")):
        assert "secret-9f8e" not in text
