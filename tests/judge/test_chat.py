import asyncio
import contextlib
import io
import json
import logging
import traceback
from dataclasses import replace

import pytest

from judge import model_server as server
from judge.model_server import ModelServer, Response, changed, completion, problem
from qrowd.errors import ArgumentError
from qrowd.judge.chat import ChatModel, FunctionModel, read_body, requested_wait
from qrowd.judge.exchange import Message, Reply, Request
from qrowd.judge.record import Record, is_complete
from qrowd.judge.running import ask_in_turn

KEY = "sk-very/secret-9f8e7d6c5b4a"


def ask(script, *, schema=None, timeout=5.0, n=1, **options):
    """(replies, server) of n attempts."""

    async def attempts():
        model = ChatModel(f"{served.url}/", "small", timeout=timeout, **options)
        request = Request(model.endpoint, "small", (Message("user", "Grade?"),), {"temperature": 0}, schema)
        replies = [await model.ask(request) for _ in range(n)]
        await model.close()
        return replies

    with ModelServer(script) as served:
        return asyncio.run(attempts()), served


def test_an_answer_comes_with_all_that_the_server_says_of_it():
    logprobs = {"content": [{"token": "2", "logprob": -0.1, "top_logprobs": [{"token": "2", "logprob": -0.1}]}]}
    body = json.loads(completion("2", reasoning_content="It answers.").body)
    body["choices"][0]["logprobs"] = logprobs
    (reply,), served = ask([Response(json.dumps(body).encode())])
    assert replace(reply, seconds=0, raw="") == Reply(
        text="2", reasoning="It answers.", finish_reason="stop", model="small-1", tokens_in=10,
        tokens_out=2, http_status=200,
    )  # fmt: skip
    assert json.loads(reply.raw) == body
    assert served.bodies == [{"model": "small", "messages": [{"role": "user", "content": "Grade?"}], "temperature": 0}]
    assert "authorization" not in served.headers[0]


CASES = {
    "html": (server.HTML, {"error": "HTTP 200 with HTML"}),
    "truncated": (server.TRUNCATED, {"error": "HTTP 200 with no complete JSON"}),
    "empty": (Response(b""), {"error": "HTTP 200 with an empty body"}),
    "a list": (Response(b"[]"), {"error": "HTTP 200 with JSON that is no object"}),
    "no choices": (server.EMPTY_CHOICES, {"error": "the answer holds no choices", "tokens_in": 10}),
    "refusal": (server.REFUSAL, {"text": None, "refusal": "I cannot help with that.", "error": None}),
    "null": (server.NULL, {"text": None, "refusal": None, "finish_reason": "stop", "error": None}),
    "length": (server.CUT_OFF, {"text": "The passage is", "finish_reason": "length", "error": None}),
    "filter": (server.CONTENT_FILTER, {"text": None, "finish_reason": "content_filter", "error": None}),
    "filter as 400": (
        problem(400, "flagged", "content_filter"),
        {"refusal": "flagged", "finish_reason": "content_filter", "error": None},
    ),
    "other model": (server.OTHER_MODEL, {"text": "2", "model": "large-7-2026-01-01"}),
    "no usage": (server.NO_USAGE, {"text": "2", "tokens_in": None, "tokens_out": None}),
    "parts": (completion([{"type": "thinking", "thinking": "3?"}, {"type": "text", "text": "2"}]), {"text": "2"}),
    "500": (problem(500, "out of  memory"), {"error": "HTTP 500: out of memory", "http_status": 500}),
    "error in a 200": (replace(problem(200, "slow down", 429)), {"error": "HTTP 429: slow down", "http_status": 429}),
    "html 502": (replace(server.HTML, status=502), {"error": "HTTP 502 with HTML", "http_status": 502}),
    "redirect": (Response(b"", 302, {"location": "/login"}), {"error": "HTTP 302 with an empty body"}),
    "429": (problem(429, "slow", retry_after="7"), {"error": "HTTP 429: slow", "retry_after": 7.0}),
    "reset": (server.RESET, {"error": "ReadError at ", "http_status": None, "tokens_in": None}),
    "half": (server.HALF, {"http_status": None, "text": None}),
}


@pytest.mark.parametrize("case", CASES)
def test_whatever_a_server_does_becomes_a_reply(case):
    response, expected = CASES[case]
    (reply,), _ = ask([response])
    fields = {name: getattr(reply, name) for name in expected}
    if case == "reset":
        fields["error"] = fields["error"].split("http")[0]
    assert fields == expected
    if case == "half":
        assert not is_complete(reply)


def test_a_hanging_server_and_a_closed_port_become_replies():
    (hanging,), served = ask([server.HANG], timeout=0.05)
    assert hanging.timed_out
    assert hanging.error == "no answer within 0.05 s"
    model = ChatModel(served.url, "small")
    closed = asyncio.run(model.ask(Request(served.url, "small", (Message("user", "?"),))))
    assert closed.error == f"ConnectError at {served.url}"
    assert (closed.tokens_in, closed.tokens_out) == (0, 0)


def test_an_answer_without_end_is_an_error_that_is_not_tried_again(monkeypatch):
    monkeypatch.setattr("qrowd.judge.chat.LONGEST_BODY", 2**20)
    (reply,), _ = ask([completion("2" * 2**23)])
    assert (reply.error, reply.lasting, reply.text) == ("the answer is longer than 1 MiB", True, None)
    assert len(reply.raw) == 1000
    (longest,), _ = ask([completion("2" * (2**20 - 1000))])
    assert longest.error is None


@pytest.mark.parametrize("body", [b"", b"{", b"null", b"1", b'{"choices": 1}', b'{"choices": [1]}', b'{"error": 1}',
                                  b'{"choices": [{"message": 1}]}', b'{"error": [1]}', b"[" * 100_000,
                                  b'{"choices": [{"message": {"content": 7}, "logprobs": {"content": [1]}}],'
                                  b' "usage": {"prompt_tokens": "x"}}'])  # fmt: skip
def test_no_body_is_an_answer_by_accident(body):
    for status in (200, 400, 500):
        assert read_body(body.decode(), status).text is None


SCHEMA = {"type": "object", "properties": {"grade": {"type": "integer"}}}


def test_a_schema_is_sent_and_where_the_server_refuses_it_never_again():
    def script(number, body):
        return (
            problem(400, "response_format json_schema is not supported") if "response_format" in body else completion()
        )

    (first, second), served = ask(script, schema=SCHEMA, n=2)
    assert (first.text, first.schema_sent, second.text, second.schema_sent) == ("2", False, "2", False)
    assert ["response_format" in body for body in served.bodies] == [True, False, False]
    assert served.bodies[0]["response_format"]["json_schema"]["schema"] == SCHEMA
    (accepted,), _ = ask([completion('{"grade": 2}')], schema=SCHEMA)
    assert (accepted.text, accepted.schema_sent) == ('{"grade": 2}', True)


def test_a_400_about_something_else_is_not_asked_again():
    (reply,), served = ask([problem(400, "context too long")], schema=SCHEMA)
    assert reply.error == "HTTP 400: context too long"
    assert len(served.bodies) == 1


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "3"}, 3),
        ({"retry-after": "-3"}, 0),
        ({"retry-after": "Mon, 23 Nov 2026 12:01:30 GMT"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({}, None),
    ],
)
def test_a_wait_is_read_as_the_server_means_it(headers, seconds):
    assert requested_wait(headers) == seconds


# ---- keys


ECHOES = [
    *(response for response, _ in CASES.values()),
    completion(f"the key is {KEY}"),
    completion(None, refusal=KEY, reasoning_content=KEY),
    server.changed(completion(), model=KEY, system_fingerprint=KEY, error={"message": KEY, "code": KEY}),
    problem(400, f"Incorrect API key provided: {KEY}", KEY),
    problem(401, f"Incorrect API key provided: {KEY}"),
    Response(f"<html>{KEY}".encode(), 403),
    Response(completion(KEY).body.replace(b"/", b"\\/")),
    Response(completion(KEY).body.replace(b"sk", b"\\u0073k")),
]


@pytest.fixture
def with_key(monkeypatch):
    monkeypatch.setenv("SECRET_OF_TEST", KEY)
    return {"key_from_environment": "SECRET_OF_TEST"}


def test_the_key_is_sent_and_is_in_no_reply_log_or_text_whatever_the_server_does(with_key, caplog):
    caplog.set_level(logging.DEBUG)
    replies, served = ask(ECHOES, n=len(ECHOES), **with_key)
    assert {headers["authorization"] for headers in served.headers} == {f"Bearer {KEY}"}
    seen = repr(replies) + repr(ChatModel("http://localhost:1/v1", "small", **with_key)) + caplog.text
    assert KEY not in seen
    assert "secret-9f8e" not in seen
    assert "[key]" in seen


def test_the_key_is_in_no_record_error_or_traceback_of_a_job(with_key, tmp_path):
    output = io.StringIO()
    for n, response in enumerate([completion(KEY), problem(401, KEY), Response(f"<p>{KEY}".encode(), 404)]):
        with ModelServer([response]) as served, Record(tmp_path / f"{n}.sqlite") as record:
            model = ChatModel(served.url, "small", **with_key)
            request = Request(served.url, "small", (Message("user", "?"),))
            with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
                try:
                    ask_in_turn(lambda ask, one=request: ask(one), [model], record)
                except Exception:
                    traceback.print_exc()
            assert len(record) == 1
    files = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert "qrowd.errors.QrowdError: small at http" in output.getvalue()
    assert KEY not in output.getvalue()
    assert b"secret-9f8e" not in files


def test_a_proxy_of_the_environment_is_not_asked_for_a_server_on_this_machine(monkeypatch):
    with ModelServer([problem(500)]) as proxy:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.url.removesuffix("/v1"))
        (reply,), served = ask([completion()])
        assert (reply.text, len(served.bodies), proxy.bodies) == ("2", 1, [])


@pytest.mark.parametrize("count", [-1, -(10**18), 10**7 + 1, 10**30, True, "7", 1.5, None])
def test_a_count_of_tokens_that_cannot_be_is_not_believed(count):
    response = changed(completion(), usage={"prompt_tokens": count, "completion_tokens": 7})
    (reply,), _ = ask([response])
    assert (reply.tokens_in, reply.tokens_out) == (None, 7)


@pytest.mark.parametrize("value", ["", " \n", "schlüssel-geheim", "secret\nheader: 1"])
def test_a_key_that_cannot_be_sent_is_an_error_that_does_not_show_it(monkeypatch, value):
    monkeypatch.setenv("SECRET_OF_TEST", value)
    (reply,), served = ask([completion()], key_from_environment="SECRET_OF_TEST")
    assert reply.http_status == 401
    assert "SECRET_OF_TEST holds" in reply.error.replace("the environment variable ", "")
    assert "geheim" not in repr(reply)
    assert served.bodies == []


def test_the_key_of_a_provider_goes_to_no_other_server(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    _, served = ask([completion()])
    assert "authorization" not in served.headers[0]
    assert ChatModel("https://api.openai.com/v1", "gpt").key_from_environment == "OPENAI_API_KEY"
    assert ChatModel("https://api.openai.com.example.com/v1", "gpt").key_from_environment == (
        "QROWD_KEY_API_OPENAI_COM_EXAMPLE_COM"
    )


def test_a_server_of_ones_own_gets_the_key_of_its_host_where_there_is_one(monkeypatch):
    (refused,), _ = ask([problem(401, "who are you?")])
    assert refused.error == "HTTP 401: who are you?; QROWD_KEY_127_0_0_1 holds no key"
    monkeypatch.setenv("QROWD_KEY_127_0_0_1", KEY)
    _, served = ask([completion()])
    assert served.headers[0]["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize(
    "url",
    ["", "localhost:80", "ftp://a/v1", "http://", f"http://user:{KEY}@a/v1", f"http://a/v1?key={KEY}", "http://a:x/"],
)
def test_a_url_that_is_none_or_holds_a_key_is_refused_without_showing_it(url):
    with pytest.raises(ArgumentError, match="expected http:// or https://") as error:
        ChatModel(url, "small")
    assert KEY not in str(error.value)


def test_a_url_is_one_endpoint_however_it_is_written():
    urls = ["http://a/v1", "http://a/v1/", "http://a/v1/chat/completions"]
    assert {ChatModel(url, "small").endpoint for url in urls} == {"http://a/v1"}


# ---- functions


def call(function):
    return asyncio.run(FunctionModel(function, "mine").ask(Request("function", "mine", ())))


async def _later(request):
    return "2"


def _fails(request):
    raise ValueError(KEY)


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda request: "2", Reply(text="2", model="mine")),
        (_later, Reply(text="2", model="mine")),
        (lambda request: _later(request), Reply(text="2", model="mine")),
        (lambda request: None, Reply(model="mine")),
        (lambda request: Reply(text="2", tokens_in=7, model="gpt"), Reply(text="2", tokens_in=7, model="gpt")),
        (lambda request: 2, Reply(error="the function returned int, not a text or a Reply", lasting=True)),
        (_fails, Reply(error="ValueError in the function", lasting=True)),
    ],
)
def test_a_function_is_a_model(function, expected):
    assert replace(call(function), seconds=0) == expected
