import asyncio
import contextlib
import dataclasses
import os
import signal
import threading
import time
from collections import Counter
from concurrent.futures import Future, ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge import model_server as server
from judge.model_server import ModelServer, completion, problem
from qrowd.errors import ArgumentError, FileError, QrowdError
from qrowd.judge.chat import ChatModel, FunctionModel
from qrowd.judge.exchange import Message, Price, Prices, Reply, Request, Tokens, expected_tokens, tokens_of
from qrowd.judge.record import Record, is_complete
from qrowd.judge.running import (
    FAILURES_IN_A_ROW,
    UNREACHED_ROUNDS,
    AskOptions,
    ask_all,
    ask_in_turn,
    tries,
)

OK = Reply(text="2", finish_reason="stop", http_status=200, tokens_in=100, tokens_out=10)
DOWN = Reply(error="ConnectError at there", tokens_in=0, tokens_out=0)
PRICES = Prices([Price("*", "*", 1e6, 1e6)], "USD")  # 1 a token


def failure(status, **fields):
    return Reply(error=f"HTTP {status}", http_status=status, **fields)


class FakeClock:
    """Time passes only where somebody waits."""

    time = 0.0

    def now(self):
        return self.time

    async def sleep(self, seconds):
        target = self.time + seconds
        await asyncio.sleep(0)
        self.time = max(self.time, target)


class Scripted:
    """A model that answers each request in turn with its script, after some turns of the loop."""

    def __init__(self, script=(OK,), *, name="small", endpoint="there", turns=lambda request: 1, clock=None):
        self.script, self.name, self.endpoint, self.turns, self.clock = script, name, endpoint, turns, clock
        self.asked, self.starts, self.open, self.most = [], [], 0, 0

    async def ask(self, request):
        content = request.messages[0].content
        number = self.asked.count(content)
        self.asked.append(content)
        self.starts.append(self.clock.now() if self.clock else 0)
        self.open += 1
        self.most = max(self.most, self.open)
        for _ in range(self.turns(request)):
            await asyncio.sleep(0)
        self.open -= 1
        if callable(self.script):
            return self.script(content, number)
        return self.script[min(number, len(self.script) - 1)]


def requests(n, *, model="small", endpoint="there", **parameters):
    return [Request(endpoint, model, (Message("user", f"pair {i}"),), parameters) for i in range(n)]


def ask(questions, model, record, *, progress=None, clock=None, **options):
    return ask_all(questions, [model], record, AskOptions(**options), progress=progress, clock=clock or FakeClock())


def replies(questions, record):
    """{key: the reply that counts} of those that were asked, without the body."""
    latest = {question.key: record.latest(question.key) for question in questions}
    return {key: dataclasses.replace(reply, raw="") for key, reply in latest.items() if reply is not None}


def unanswered(questions, record):
    """The questions that a job which goes on asks, those that have failed last."""
    latest = [(question, record.latest(question.key)) for question in questions]
    waiting = [question for question, reply in latest if reply is None]
    return waiting + [question for question, reply in latest if reply is not None and not is_complete(reply)]


@pytest.fixture
def record(tmp_path):
    with Record(tmp_path / "judge.sqlite") as record:
        yield record


def test_each_distinct_request_is_asked_once_in_order_and_never_again(record):
    model, questions = Scripted(), requests(20)
    ask(questions * 2, model, record)
    assert model.asked == [f"pair {i}" for i in range(20)]
    assert set(replies(questions, record).values()) == {OK}
    ask_in_turn(lambda ask: asyncio.gather(*map(ask, questions)), [model], record, clock=FakeClock())
    assert len(model.asked) == len(record) == 20


@given(st.lists(st.integers(0, 6), min_size=12, max_size=12), st.integers(1, 5))
@settings(max_examples=settings.default.max_examples * 3 // 5)
def test_the_order_in_which_replies_come_changes_nothing(tmp_path_factory, turns, concurrency):
    def script(content, number):
        return dataclasses.replace(OK, text=content)

    model = Scripted(script, turns=lambda request: turns[int(request.messages[0].content.split()[1])])
    questions = requests(12)
    with Record(tmp_path_factory.mktemp("record") / "judge.sqlite") as record:
        answers = ask(questions, model, record, concurrency=concurrency, prices=PRICES)
        assert [reply.text for reply in replies(questions, record).values()] == [
            question.messages[0].content for question in questions
        ]
    assert answers.cost == 1320
    assert model.most <= concurrency


def test_so_many_requests_are_in_flight_as_is_asked_for(record):
    model = Scripted(turns=lambda request: 5)
    ask(requests(30), model, record, concurrency=7)
    assert model.most == 7


LATE = Reply(error="no answer within 1 s", timed_out=True)
BROKEN = Reply(error="the answer holds no choices", http_status=200)
FAILURES = {400: 1, 302: 1, 413: 1, 422: 1, 408: 4, 409: 4, 500: 4, 503: 10}


@pytest.mark.parametrize("first", [*(failure(status) for status in (408, 409, 429, 500, 503)), DOWN])
def test_what_may_pass_is_tried_again_after_a_wait(record, first):
    clock = FakeClock()
    model = Scripted([first, first, OK], clock=clock)
    ask(requests(1), model, record, clock=clock)
    assert [*replies(requests(1), record).values()] == [OK]
    assert len(record) == 3
    waits = [b - a for a, b in zip(model.starts, model.starts[1:], strict=False)]
    assert 0.5 <= waits[0] <= 1.5
    assert 1 <= waits[1] <= 2.5


@pytest.mark.parametrize(
    ("reply", "n"), [(LATE, 2), (BROKEN, 2), *((failure(status), n) for status, n in FAILURES.items())]
)
def test_a_request_is_given_up_after_as_many_tries_as_may_help_and_asked_again_by_the_next_job(record, reply, n):
    model, questions = Scripted(lambda content, number: reply if content == "pair 1" else OK), requests(3)
    ask(questions, model, record, concurrency=1)
    assert [one.error for one in replies(questions, record).values()] == [None, reply.error, None]
    assert model.asked == ["pair 0", "pair 1", "pair 2", *["pair 1"] * (n - 1)]
    assert tries(reply) == n
    model.script = [OK]
    ask(unanswered(questions, record), model, record)
    assert model.asked[3 + n - 1 :] == ["pair 1"]


def test_tries_of_several_kinds_add_up_and_a_rate_limit_hardly_counts(record):
    script = [failure(429), failure(429), failure(500), failure(429), BROKEN, failure(500), OK]
    model = Scripted(lambda content, number: script[number] if content == "pair 0" else OK)
    ask(requests(9), model, record)
    assert model.asked.count("pair 0") == 6  # .02 + .02 + .25 + .02 + .5 + .25 > 1


def test_a_question_that_fails_waits_behind_all_others_and_blocks_no_place(record):
    model = Scripted(lambda content, number: failure(500) if content == "pair 0" else OK)
    ask(requests(200), model, record, concurrency=1)
    assert [i for i, content in enumerate(model.asked) if content == "pair 0"] == [0, 200, 201, 202]


def test_a_function_with_a_mistake_is_called_once_for_each_request(record):
    model = Scripted(lambda content, number: Reply(error="NameError in the function", lasting=True))
    before = len(record)
    ask(requests(3), model, record)
    assert len(record) - before == 3


@pytest.mark.parametrize("reply", [failure(429, retry_after=30.0), dataclasses.replace(OK, retry_after=30.0)])
def test_a_wait_that_the_server_asks_for_holds_back_all_requests_to_it_and_no_others(record, reply):
    clock = FakeClock()
    limited = Scripted(lambda content, number: reply if (content, number) == ("pair 0", 0) else OK, clock=clock)
    free = Scripted(name="free", endpoint="elsewhere", clock=clock)
    questions = requests(10) + requests(10, model="free", endpoint="elsewhere")
    ask_all(questions, [limited, free], record, AskOptions(concurrency=2), clock=clock)
    early = [start for start in limited.starts if start < 30]
    assert len(early) == 2  # those in flight
    assert len(limited.starts) == 10 + (reply.http_status == 429)
    assert len([start for start in free.starts if start < 30]) > 2


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (failure(401), "small at there: HTTP 401; check the key"),
        (failure(402), "small at there: HTTP 402; the account has no credit"),
        (failure(429, raw='{"code": "insufficient_quota"}'), "small at there: HTTP 429; the account has no credit"),
        (failure(429, retry_after=86400.0), "the server asks to wait 86400 s"),
    ],
)
def test_what_no_other_request_survives_stops_the_job_in_one_line_and_keeps_what_was_in_flight(record, reply, words):
    model = Scripted(
        lambda content, number: reply if content == "pair 2" else OK,
        turns=lambda request: 1 if request.messages[0].content == "pair 2" else 9,
    )
    asked = ask(requests(50), model, record, concurrency=4)
    assert words in asked.stopped == str(asked.error)
    assert "\n" not in asked.stopped
    assert len(record) == len(model.asked) == 4
    model.script = [OK]
    ask(unanswered(requests(50), record), model, record)
    assert sum(attempt.reply == OK for attempt in record.attempts()) == 50


@pytest.mark.parametrize(("status", "advice"), [(400, "the same command asks the others first"),
                                                (403, "check the key"), (404, "check URL and model")])  # fmt: skip
@pytest.mark.parametrize("answers_first", [0, 100])
def test_a_server_that_gives_no_answer_any_more_stops_the_job(record, answers_first, status, advice):
    model = Scripted(lambda content, number: OK if int(content.split()[1]) < answers_first else failure(status))
    asked = ask(requests(1000), model, record, concurrency=4)
    n = FAILURES_IN_A_ROW + 4
    assert asked.stopped == f"small at there: HTTP {status}; {n} requests in a row had no answer; {advice}"
    assert len(model.asked) <= answers_first + n + 4


def test_a_server_that_was_never_reached_stops_the_job_after_a_few_seconds_and_one_that_was_is_waited_for(record):
    clock = FakeClock()
    asked = ask(requests(1000), Scripted([DOWN]), record, clock=clock)
    assert asked.stopped == "small at there: ConnectError at there; does the server run, and is the URL right?"
    assert clock.now() < 10
    assert len(record) <= UNREACHED_ROUNDS * 8
    script = [OK, *[DOWN] * (tries(DOWN) - 1), OK]
    answered = Scripted(lambda content, number: script[min(len(answered.asked), len(script)) - 1], clock=clock)
    assert ask(unanswered(requests(3), record), answered, record, clock=clock, concurrency=1).stopped is None
    assert not unanswered(requests(3), record)


@pytest.mark.parametrize(("reply", "n"), [(DOWN, 10), (failure(503), 10), (failure(429), 50)])
def test_a_server_that_is_gone_or_overloaded_is_waited_for_so_many_rounds_and_no_question_is_lost(
    record, caplog, reply, n
):
    clock = FakeClock()
    model = Scripted(lambda content, number: OK if content == "pair 0" else reply, clock=clock)
    asked = ask(requests(500), model, record, clock=clock, concurrency=1)
    assert asked.stopped == f"small at there: {reply.error}; no answer after {n} waits"
    assert len(model.asked) == 1 + n
    assert clock.now() > 100
    assert caplog.messages == [f"there gives no answer ({reply.error}); waiting"]
    assert len(unanswered(requests(500), record)) == 499


def test_many_failures_at_once_are_one_round(record):
    clock = FakeClock()
    model = Scripted(lambda content, number: DOWN if number == 0 else OK, clock=clock)
    asked = ask(requests(200), model, record, clock=clock, concurrency=200)
    assert (asked.stopped, len(record)) == (None, 400)


def test_a_job_goes_on_with_what_was_never_asked_and_ends_however_many_questions_cannot_be_answered(record):
    questions = requests(10 * FAILURES_IN_A_ROW)
    model = Scripted(lambda content, number: failure(400) if int(content.split()[1]) % 3 else OK)
    for n in (100, len(questions), len(questions)):  # stopped, continued, and once more
        before = len(model.asked)
        assert ask(unanswered(questions, record)[:n], model, record).stopped is None
        assert len(model.asked) - before <= n
    assert model.asked[100 : len(questions)] == [f"pair {i}" for i in range(100, len(questions))]
    assert len(unanswered(questions, record)) == sum(i % 3 > 0 for i in range(len(questions)))
    assert max(Counter(content for content in model.asked if int(content.split()[1]) % 3 == 0).values()) == 1


def test_a_request_to_a_model_that_is_not_there_is_refused_before_anything_is_sent(record):
    model = Scripted()
    with pytest.raises(ArgumentError, match="models: none is 'large' at 'there'"):
        ask([*requests(1), *requests(1, model="large")], model, record)
    assert model.asked == []


def test_models_and_endpoints_never_share_an_answer(record):
    models = [Scripted([dataclasses.replace(OK, text=name + where)], name=name, endpoint=where)
              for name in "ab" for where in "xy"]  # fmt: skip
    questions = [question for name in "ab" for where in "xy" for question in requests(2, model=name, endpoint=where)]
    ask_all(questions, models, record, clock=FakeClock())
    for question in questions:
        assert record.latest(question.key).text == question.model + question.endpoint


def test_it_works_where_an_event_loop_runs_already(record):
    async def notebook():
        return ask(requests(2), Scripted(), record), ask(requests(3), Scripted(), record)

    asyncio.run(notebook())
    assert len(record) == 5


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_in_a_notebook_keeps_what_was_in_flight(record):
    async def notebook():
        ask_all(requests(500), [FunctionModel(interrupting, "small", "there")], record, AskOptions(concurrency=4))

    loop = asyncio.new_event_loop()  # not asyncio.run, which waits for the second Ctrl-C
    with contextlib.closing(loop), pytest.raises(KeyboardInterrupt):
        loop.run_until_complete(notebook())
    assert 4 <= len(record) < 100


@pytest.mark.parametrize("early", [True, False], ids=["before the loop begins", "after it has ended"])
def test_ctrl_c_in_a_notebook_at_the_edge_of_the_loop(record, monkeypatch, early):
    class Pool(ThreadPoolExecutor):
        """Interrupts who waits for the work before any of it is done, or when all is."""

        def submit(self, function, *arguments):
            self.gate = threading.Event()
            work = super().submit(lambda: (self.gate.wait(), function(*arguments))[1])
            if not early:
                self.gate.set()
                work.result()
            interrupted = Future()
            interrupted.set_exception(KeyboardInterrupt())
            return interrupted

        def shutdown(self, **how):
            self.gate.set()
            super().shutdown(**how)

    async def notebook():
        ask_all(requests(5), [FunctionModel(lambda _: "2", "small", "there")], record)

    monkeypatch.setattr("qrowd.judge.running.ThreadPoolExecutor", Pool)
    loop = asyncio.new_event_loop()
    with contextlib.closing(loop), pytest.raises(KeyboardInterrupt):
        loop.run_until_complete(notebook())
    assert len(record) == (0 if early else 5)


def interrupting(request):
    if request.messages[0].content == "pair 3":
        os.kill(os.getpid(), signal.SIGINT)
    time.sleep(0.02)
    return "2"


def test_progress_counts_up_to_all_requests_with_the_cost_so_far(record):
    steps = []
    ask(requests(3), Scripted(), record, prices=PRICES, progress=lambda *step: steps.append(step))
    assert steps == [(0, 3, 0), (1, 3, 110), (2, 3, 220), (3, 3, 330)]


# ---- money


def test_tokens_of_failed_attempts_are_counted(record):
    failed = Reply(error="the answer holds no choices", http_status=200, tokens_in=100, tokens_out=7)
    answers = ask(requests(1), Scripted([failed, failure(500), OK]), record, prices=PRICES)
    assert answers.cost == 200 + 17
    assert answers.cost == record.spent() == 217


@given(
    st.lists(st.integers(0, 60), min_size=15, max_size=15), st.integers(0, 600), st.integers(1, 4), st.integers(1, 60)
)
@settings(max_examples=settings.default.max_examples * 4 // 5)
def test_a_budget_is_exceeded_by_no_more_than_the_calls_in_flight(tmp_path_factory, sizes, budget, concurrency, limit):
    def script(content, number):
        return dataclasses.replace(OK, tokens_in=0, tokens_out=sizes[int(content.split()[1])])

    model, questions = Scripted(script), requests(15, max_tokens=limit)
    with Record(tmp_path_factory.mktemp("record") / "judge.sqlite") as record:
        answers = ask(questions, model, record, budget=budget, prices=PRICES, concurrency=concurrency)
        spent = record.spent()
        assert spent <= budget + concurrency * max(max(sizes) - limit, 0)
        assert (answers.stopped is None) == (not unanswered(questions, record))
        if max(sizes) <= limit:
            assert spent <= budget
        rest = ask(unanswered(questions, record), model, record, budget=1e9, prices=PRICES)
        assert (unanswered(questions, record), rest.stopped) == ([], None)
    assert len(model.asked) == 15


def test_the_budget_holds_for_the_whole_record(record):
    model, options = Scripted(), {"prices": PRICES, "budget": 250, "concurrency": 1}
    first = ask(requests(10, max_tokens=10), model, record, **options)
    asked = len(model.asked)
    assert 2 <= asked < 10
    assert first.stopped.startswith(f"budget: {110 * asked} of 250 USD are spent")
    before = len(record)
    ask(unanswered(requests(10, max_tokens=10), record), model, record, **options)
    assert len(record) - before == 0


def test_a_budget_needs_prices(record):
    for prices in (None, Prices([Price("elsewhere", "*", 1, 1)])):
        with pytest.raises(ArgumentError, match="budget=5: 'small' at 'there' has no price"):
            ask(requests(1), Scripted(), record, budget=5, prices=prices)
        assert ask(requests(1), Scripted(), record, prices=prices).cost is None


def test_a_budget_ends_before_the_requests_that_would_cost_something_have_been_asked(record):
    unit = Prices([Price("*", "*", 0, 0)])
    assert ask(requests(3), Scripted(), record, budget=0, prices=unit).stopped is None


def test_a_job_is_priced_before_it_is_sent(tmp_path):
    path = tmp_path / "prices.toml"
    path.write_text('currency = "EUR"\n[[prices]]\nendpoint = "t*"\nmodel = "small"\ninput = 2\noutput = 4.0\n')
    questions = [Request("there", "small", (Message("user", "x" * 400),), {"max_tokens": 50})] * 10
    estimate = Prices.read(path).estimate(questions)
    assert (estimate.requests, estimate.tokens_in, estimate.tokens_out, estimate.currency) == (10, 1000, 500, "EUR")
    assert estimate.cost == pytest.approx((1000 * 2 + 500 * 4) / 1e6)
    other = Prices.read(path).estimate(requests(1, model="large"))
    assert (other.cost, other.unpriced) == (None, (("there", "large"),))
    assert other.tokens_out == 256


@pytest.mark.parametrize(
    "text",
    [
        "x",
        "prices = 1",
        "",
        'currency = "EUR"',
        "[models.small]\ninput = 1\noutput = 1",
        '[[price]]\nendpoint="a"\nmodel="b"\ninput=1\noutput=1',
        '[[prices]]\nendpoint="a"\nmodel="b"\nprompt=1\ncompletion=1',
        '[[prices]]\nendpoint="a"\nmodel="b"\ninput=1\noutput=1\nbatch=2',
        '[[prices]]\nendpoint="a"\nmodel="b"\ninput=inf\noutput=1',
        "prices = [1]",
        "[[prices]]\nendpoint = 1",
        '[[prices]]\nendpoint="a"\nmodel="b"\ninput=-1\noutput=1',
        '[[prices]]\nendpoint="a"\nmodel=2\ninput=1\noutput=1',
        '[[prices]]\nendpoint="a"\nmodel="b"\ninput="1"\noutput=1',
    ],
)
def test_a_file_that_states_no_prices_is_refused_in_one_line(tmp_path, text):
    path = tmp_path / "prices.toml"
    path.write_text(text)
    with pytest.raises(FileError, match=r"prices\.toml: ") as error:
        Prices.read(path)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("reply", "tokens"),
    [
        (OK, Tokens(100, 10)),
        (Reply(text="x" * 40), Tokens(2, 10)),
        (Reply(text="x" * 40, tokens_in=7), Tokens(7, 10)),
        (Reply(error="no answer within 1 s", timed_out=True), Tokens(2, 0)),
        (Reply(error="HTTP 200 with no complete JSON", http_status=200, raw="x" * 8), Tokens(2, 2)),
        (failure(500), Tokens()),
        (failure(429), Tokens()),
        (DOWN, Tokens()),
    ],
)
def test_tokens_are_the_servers_or_a_quarter_of_the_characters(reply, tokens):
    assert tokens_of(requests(1)[0], reply) == tokens
    assert expected_tokens(requests(1)[0]) == Tokens(2, 256)


# ---- against a server; interrupted and killed


TROUBLES = [
    server.HTML, server.TRUNCATED, server.EMPTY_CHOICES, server.RESET, server.HALF, problem(500), problem(429),
    problem(429, retry_after="2"), problem(429, retry_after="Mon, 23 Nov 2026 12:00:09 GMT",
                                           date="Mon, 23 Nov 2026 12:00:00 GMT"),
    problem(503), problem(408), problem(409),
]  # fmt: skip


def test_a_server_with_every_trouble_answers_in_the_end(record):
    seen = Counter()

    def script(number, body):
        content = body["messages"][0]["content"]
        seen[content] += 1
        return TROUBLES[int(content.split()[1])] if seen[content] == 1 else completion(content)

    with ModelServer(script) as served:
        model, questions = ChatModel(served.url, "small"), requests(len(TROUBLES), endpoint=served.url)
        ask(questions, model, record, concurrency=3)
        assert served.most <= 3
    assert [one.text for one in replies(questions, record).values()] == [f"pair {i}" for i in range(len(TROUBLES))]
    assert len(record) == 2 * len(TROUBLES)


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_sends_nothing_more_and_keeps_what_was_in_flight(record):
    model = FunctionModel(interrupting, "small", "there")
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        ask_all(requests(500), [model], record, AskOptions(concurrency=4))
    assert signal.getsignal(signal.SIGINT) is before
    kept = {attempt.request.key for attempt in record.attempts()}
    assert 4 <= len(kept) == len(record) < 100
    ask(unanswered(requests(500)[:100], record), FunctionModel(lambda request: "2", "small", "there"), record)
    assert len(record) == 100


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_ends_a_wait_that_the_server_asks_for(record):
    def script(content, number):
        os.kill(os.getpid(), signal.SIGINT)
        return failure(429, retry_after=3000.0)

    with pytest.raises(KeyboardInterrupt):
        ask_all(requests(5), [Scripted(script)], record, AskOptions(concurrency=1))
    assert len(record) == 1


# ---- requests that depend on answers


def test_what_depends_on_answers_is_asked_in_turn_and_nothing_twice(record):
    model, seen = Scripted(turns=lambda request: 3), []
    first, second = requests(2)

    async def work(ask):
        seen.extend(await asyncio.gather(ask(first), ask(first), ask(first)))
        if seen[0].text == "2":
            seen.append(await ask(second))

    ask_in_turn(work, [model], record, clock=FakeClock())
    assert model.asked == ["pair 0", "pair 1"]
    assert [reply.text for reply in seen] == ["2"] * 4
    ask_in_turn(work, [model], record, clock=FakeClock())
    assert len(model.asked) == len(record) == 2


def test_work_in_turn_learns_of_the_end_of_the_budget_and_of_a_wrong_key(record):
    got = []

    async def work(ask):
        for request in requests(5, max_tokens=10):
            got.append(await ask(request))

    answers = ask_in_turn(work, [Scripted()], record, AskOptions(budget=250, prices=PRICES), clock=FakeClock())
    assert [reply is not None for reply in got] == [True, True, True, False, False]
    assert answers.stopped.startswith("budget: 330 of 250")
    with pytest.raises(QrowdError, match="check the key"):
        ask_in_turn(work, [Scripted([failure(401)], name="small")], record, clock=FakeClock())
    with pytest.raises(ArgumentError, match="models: none is 'other'"):
        ask_in_turn(lambda ask: ask(requests(1, model="other")[0]), [Scripted()], record, clock=FakeClock())
