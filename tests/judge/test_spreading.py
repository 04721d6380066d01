"""One model on several servers: questions are spread, failures stay with their server, and answers belong to the model.

Time is that of a loop that never waits (`virtual_time`), so that hours of waits are exact and take no time.
"""

import asyncio
import re
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge import virtual_time
from judge.virtual_time import DOWN, OK, LoopClock, Served, answer, failure
from qrowd.errors import ArgumentError, FileError, QrowdError
from qrowd.judge.asking import plan_job
from qrowd.judge.exchange import Message, Reply, Request
from qrowd.judge.prices import Price, Prices
from qrowd.judge.record import Record
from qrowd.judge.running import FAILURES_IN_A_ROW, TRIES, ask_all, ask_in_turn
from qrowd.judge.servers import SEVERAL_SERVERS, SeveralServers, model_at, servers_of
from qrowd.judge.spreading import LEAST_FAILURES

PRICES = Prices([Price("*", "*", 1e6, 1e6)], "USD")  # 1 a token


@pytest.fixture(autouse=True)
def virtual(monkeypatch):
    monkeypatch.setattr(asyncio, "run", virtual_time.run)


@pytest.fixture
def record(tmp_path):
    with Record(tmp_path / "judge.sqlite") as record:
        yield record


def requests(n, endpoint=SEVERAL_SERVERS, **parameters):
    return [Request(endpoint, "small", (Message("user", f"pair {i}"),), parameters) for i in range(n)]


def ask(questions, servers, record, **options):
    model = servers if hasattr(servers, "ask") else SeveralServers(servers)
    return ask_all(questions, [model], record, **{"clock": LoopClock(), "rng": 0} | options)


def texts(answers):
    return [reply.text for reply in answers.replies.values()]


def complete(record):
    """How often each question has an answer in the record."""
    return Counter(one.request.messages[0].content for one in record.attempts() if one.reply.error is None)


# ---- spreading


def test_servers_get_questions_in_proportion_to_their_speed(record):
    servers = [Served(name, answer, seconds) for name, seconds in (("a", 1.0), ("b", 2.0), ("c", 4.0))]
    answers = ask(requests(700), servers, record, concurrency=4)
    counts = [len(server.asked) for server in servers]
    assert sum(counts) == 700
    assert [abs(n - share) <= 8 for n, share in zip(counts, (400, 200, 100), strict=True)] == [True] * 3
    end = max(now + server.seconds for server in servers for _, now in server.asked)
    assert end <= 100 + 4  # as long as no server is without a question
    assert texts(answers) == [f"answer to pair {i}" for i in range(700)]
    assert [server.most for server in servers] == [4, 4, 4]


def test_few_questions_are_spread_over_all_servers(record):
    servers = [Served(name, answer) for name in "abcd"]
    ask(requests(8), servers, record, concurrency=8)
    assert [len(server.asked) for server in servers] == [2, 2, 2, 2]


def test_a_server_of_two_models_has_so_many_requests_at_a_time_for_both_together(record):
    shared, other = Served("a", answer), Served("b", answer)
    alone = Served("a", answer, name="large")
    alone.ask = shared.ask
    questions = [*requests(40), *(replace(one, model="large", endpoint="a") for one in requests(40))]
    answers = ask_all(
        questions, [SeveralServers([shared, other]), alone], record, concurrency=3, clock=LoopClock(), rng=0
    )
    assert len(answers.replies) == 80
    assert (shared.most, other.most) == (3, 3)


def test_questions_that_depend_on_answers_are_spread_too(record):
    servers = [Served(name, answer) for name in "ab"]

    async def work(ask):
        replies = await asyncio.gather(*(ask(one) for one in requests(12)))
        assert [reply.text for reply in replies] == [f"answer to pair {i}" for i in range(12)]

    answers = ask_in_turn(work, [SeveralServers(servers)], record, concurrency=2, clock=LoopClock(), rng=0)
    assert [len(server.asked) for server in servers] == [6, 6]
    assert [server.most for server in servers] == [2, 2]
    assert answers.attempts == 12


# ---- failures


def test_a_server_that_dies_in_the_middle_leaves_its_questions_to_the_others(record, tmp_path):
    servers = [Served("a", lambda text, now: answer(text, now) if now < 20 else DOWN), Served("b", answer)]
    answers = ask(requests(400), servers, record, concurrency=4)
    assert set(complete(record).values()) == {1}
    with Record(tmp_path / "one.sqlite") as other:
        alone = ask(requests(400, "b"), Served("b", answer), other)
    assert texts(answers) == texts(alone)
    late = [now for _, now in servers[0].asked if now >= 20]
    assert 4 <= len(late) <= 4 + 4 * 2  # those in flight, and one request after each time aside
    assert [(one.endpoint, one.state.partition(":")[0]) for one in answers.servers] == [("a", "set aside"), ("b", "")]


def test_a_server_that_fails_now_and_then_is_asked_less_but_not_set_aside(record):
    seen = Counter()

    def flaky(text, now):
        seen["a"] += 1
        return failure(500) if seen["a"] % 5 in (0, 2) else answer(text, now)

    servers = [Served("a", flaky), Served("b", answer)]
    answers = ask(requests(400), servers, record, concurrency=8)
    assert set(complete(record).values()) == {1}
    assert [one.state for one in answers.servers] == ["", ""]
    # with a window w: 0.4 w / 2 less and 0.6 more for each reply are in balance at 3 of 8
    assert 0.1 < len(servers[0].asked) / len(servers[1].asked) < 0.5


def test_a_server_that_comes_back_gets_questions_again(record):
    servers = [Served("a", lambda text, now: DOWN if 5 <= now < 60 else answer(text, now)), Served("b", answer)]
    ask(requests(800), servers, record, concurrency=4)
    times = [now for _, now in servers[0].asked]
    assert sum(5 <= now < 60 for now in times) < 20
    assert sum(now >= 90 for now in times) > 50
    assert set(complete(record).values()) == {1}


def test_a_wait_that_one_server_asks_for_holds_back_that_server_alone(record):
    servers = [
        Served("a", lambda text, now: failure(429, retry_after=50.0) if now < 1 else answer(text, now)),
        Served("b", answer),
    ]
    ask(requests(100), servers, record, concurrency=2)
    assert [now for _, now in servers[0].asked if 1 <= now < 50] == []
    assert len([now for _, now in servers[1].asked if now < 50]) > 90


@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_server_that_refuses_the_key_or_has_no_such_model_is_asked_no_more(record, status):
    servers = [Served("a", lambda text, now: failure(status)), Served("b", answer)]
    answers = ask(requests(50), servers, record, concurrency=2)
    assert len(servers[0].asked) == 2
    assert len(complete(record)) == 50
    assert answers.servers[0].state.startswith(f"HTTP {status}; check ")


def test_what_one_server_refuses_another_may_answer(record):
    """As where servers of one model have different limits of length."""
    servers = [Served("a", lambda text, now: failure(400) if text.endswith("7") else answer(text, now)),
               Served("b", answer)]  # fmt: skip
    ask(requests(40), servers, record, concurrency=2)
    assert complete(record) == {f"pair {i}": 1 for i in range(40)}


def test_what_every_server_refuses_is_a_failure_after_one_attempt_at_each(record):
    def script(text, now):
        return failure(400) if text == "pair 3" else answer(text, now)

    servers = [Served(name, script) for name in "abc"]
    answers = ask(requests(30), servers, record, concurrency=2)
    assert [reply.error for reply in answers.replies.values()].count("HTTP 400") == 1
    assert [sum(text == "pair 3" for text, _ in server.asked) for server in servers] == [1, 1, 1]
    assert len(complete(record)) == 29


def test_servers_that_refuse_everything_stop_the_job(record):
    servers = [Served(name, lambda text, now: failure(400)) for name in "ab"]
    with pytest.raises(QrowdError, match=f"small at several servers: {FAILURES_IN_A_ROW} requests in a row"):
        ask(requests(500), servers, record)


def test_a_question_that_fails_everywhere_has_as_many_tries_as_at_one_server(record):
    def script(text, now):
        return failure(500) if text == "pair 0" else answer(text, now)

    servers = [Served(name, script) for name in "abcdefgh"]
    answers = ask(requests(40), servers, record, concurrency=2)
    assert sum(text == "pair 0" for server in servers for text, _ in server.asked) == TRIES
    assert len(complete(record)) == 39
    assert next(iter(answers.replies.values())).error == "HTTP 500"


def test_a_job_ends_in_one_line_that_names_all_servers_once_all_are_down_and_goes_on_later(record):
    def dies(at, reply):
        return lambda text, now: answer(text, now) if now < at else reply

    servers = [Served("http://a", dies(5, replace(DOWN, error="ConnectError at http://a"))),
               Served("http://b", dies(9, failure(503))),
               Served("http://c", dies(3, failure(401)))]  # fmt: skip
    with pytest.raises(QrowdError) as error:
        ask(requests(1000), servers, record, concurrency=4)
    assert str(error.value) == (
        "small: none of its servers answers: http://a (ConnectError), http://b (HTTP 503), http://c (HTTP 401; check "
        "the key); the answers so far are kept: run the same command when this is mended, or with other servers"
    )
    answered = len(complete(record))
    assert answered >= 4 * (3 + 5 + 9) - 12
    rest = ask(requests(1000), [Served("http://d", answer)], record)
    assert (rest.reused, rest.attempts) == (answered, 1000 - answered)
    assert set(complete(record).values()) == {1}


def test_work_in_turn_learns_that_no_server_is_left(record):
    got = []

    async def work(ask):
        got.extend(await asyncio.gather(*(ask(one) for one in requests(20))))

    servers = [Served(name, lambda text, now: answer(text, now) if now < 2 else DOWN) for name in "ab"]
    with pytest.raises(QrowdError, match="small: none of its servers answers"):
        ask_in_turn(work, [SeveralServers(servers)], record, concurrency=2, clock=LoopClock(), rng=0)
    assert [reply is not None and reply.error is None for reply in got] == [True] * 8 + [False] * 12


def test_servers_none_of_which_runs_end_the_job_before_a_question_counts_as_failed(record):
    servers = [Served(name, lambda text, now: DOWN, 0.01) for name in "ab"]
    with pytest.raises(QrowdError, match=r"small: none of its servers answers: a \(ConnectError\), b \(ConnectError\)"):
        ask(requests(1000), servers, record)
    assert max(now for server in servers for _, now in server.asked) < 60
    assert len(servers[0].asked) <= 8 + LEAST_FAILURES


def test_servers_that_restart_together_are_waited_for(record):
    servers = [Served(name, lambda text, now: failure(503) if 10 <= now < 25 else answer(text, now)) for name in "abc"]
    answers = ask(requests(300), servers, record, concurrency=4)
    assert texts(answers) == [f"answer to pair {i}" for i in range(300)]


TROUBLES = [failure(500), failure(503), failure(429), failure(429, retry_after=3.0), failure(408), failure(400), DOWN,
            Reply(error="no answer within 9 s", timed_out=True), Reply(error="ReadError")]  # fmt: skip


@settings(max_examples=40, deadline=None)
@given(st.data(), st.integers(1, 4), st.integers(1, 5))
def test_with_one_good_server_every_question_is_answered_once_whatever_the_others_do(
    tmp_path_factory, data, n_bad, concurrency
):
    chances = [data.draw(st.lists(st.sampled_from([None, *TROUBLES]), min_size=1, max_size=8)) for _ in range(n_bad)]

    def script(outcomes):
        seen = Counter()

        def reply(text, now):
            seen["all"] += 1
            return outcomes[seen["all"] % len(outcomes)] or answer(text, now)

        return reply

    servers = [Served("good", answer, 1.5), *(Served(f"s{i}", script(one)) for i, one in enumerate(chances))]
    with Record(tmp_path_factory.mktemp("record") / "judge.sqlite") as record:
        answers = ask(requests(30), servers, record, concurrency=concurrency)
        failed = [reply for reply in answers.replies.values() if reply.error is not None]
        assert len(answers.replies) == 30
        # six failures of one question end it, as at one server; it is asked again by the next job
        tried = Counter(one.request.messages[0].content for one in record.attempts() if one.reply.error is not None)
        assert len(failed) <= sum(n >= TRIES for n in tried.values())
        assert set(complete(record).values()) <= {1}
        assert all(server.most <= concurrency for server in servers)
        assert {one.reply.endpoint for one in record.attempts()} <= {server.endpoint for server in servers}


# ---- money


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 60), min_size=15, max_size=15), st.integers(0, 600), st.integers(1, 3))
def test_a_budget_holds_for_all_servers_together(tmp_path_factory, sizes, budget, concurrency):
    def script(text, now):
        return replace(OK, text=text, tokens_in=0, tokens_out=sizes[int(text.split()[1])])

    servers = [Served(name, script, seconds) for name, seconds in (("a", 1.0), ("b", 1.7), ("c", 3.0))]
    with Record(tmp_path_factory.mktemp("record") / "judge.sqlite") as record:
        options = {"prices": PRICES, "concurrency": concurrency}
        answers = ask(requests(15, max_tokens=60), servers, record, budget=budget, **options)
        assert record.spent() <= budget
        assert (answers.stopped is None) == (answers.unasked == 0)
        rest = ask(requests(15, max_tokens=60), servers, record, budget=1e9, **options)
        assert (rest.unasked, rest.stopped) == (0, None)
        assert record.spent() == sum(sizes)


def test_each_server_has_its_price_and_a_budget_needs_that_of_all(record):
    prices = Prices([Price("a", "*", 0, 0), Price("b", "*", 1e6, 1e6)], "USD")
    servers = [Served(name, answer) for name in "ab"]
    answers = ask(requests(10), servers, record, prices=prices, budget=1e6, concurrency=1)
    assert answers.cost == 110 * len(servers[1].asked) == record.spent()
    with pytest.raises(ArgumentError, match="'small' at 'c' has no price"):
        ask(requests(11), [*servers, Served("c", answer)], record, prices=prices, budget=1e6)


def test_an_estimate_takes_the_price_of_the_dearest_server_and_has_none_where_one_is_missing():
    model = SeveralServers([Served(name, answer) for name in "ab"])
    job = plan_job({"1": "tea"}, {"d": "Tea."}, {"1": ["d"]}, model)
    costs = [Prices([Price(name, "*", price, price) for name, price in prices.items()]) for prices in (
        {"a": 1, "b": 7}, {"b": 7, "a": 7}, {"a": 1})]  # fmt: skip
    first, second, third = (job.estimate(prices) for prices in costs)
    assert first.cost == second.cost == pytest.approx(7e-6 * (first.tokens_in + first.tokens_out))
    assert (third.cost, third.unpriced) == (None, (("b", "small"),))


# ---- whose answer it is


def test_a_job_that_goes_on_with_other_servers_asks_nothing_again_and_the_record_says_who_answered(record):
    asked = [Served("a", answer), Served("b", answer)]
    first = ask(requests(20), asked, record)
    for names in ("ab", "b", "c", "bcd"):
        servers = [Served(name, failure) for name in names]
        again = ask(requests(20), servers, record)
        assert (again.reused, again.attempts, texts(again)) == (20, 0, texts(first))
    by_server = {server.endpoint: [text for text, _ in server.asked] for server in asked}
    for attempt in record.attempts():
        assert attempt.request.messages[0].content in by_server[attempt.reply.endpoint]
    assert {one.request.endpoint for one in record.attempts()} == {SEVERAL_SERVERS}


def test_answers_of_one_server_count_once_it_is_one_of_several_and_the_other_way_round(record):
    alone = Served("a", answer)
    ask(requests(10, "a"), alone, record)
    several = [Served("a", answer), Served("b", answer)]
    both = ask(requests(20), several, record)
    assert (both.reused, both.attempts) == (10, 10)
    back = ask(requests(20, "b"), Served("b", answer), record)
    assert (back.reused, back.attempts) == (20, 0)
    assert texts(back) == texts(both)
    stranger = ask(requests(20, "z"), Served("z", answer), record)
    assert (stranger.reused, stranger.attempts) == (0, 20)
    assert len(record) == 40


def test_another_model_of_several_servers_shares_nothing(record):
    ask(requests(5), [Served("a", answer)], record)
    other = [replace(one, model="large") for one in requests(5)]
    assert ask(other, [Served("a", answer, name="large")], record).attempts == 5


# ---- how servers are named


def test_urls_are_named_with_commas_or_in_a_file(tmp_path):
    path = tmp_path / "servers.txt"
    path.write_text("# a rack\nhttp://gpu1:8000/v1\n\n  http://gpu2:8000/v1/ \n")
    for text in ("http://gpu1:8000/v1,http://gpu2:8000/v1#org/qwen3", f"{path}#org/qwen3"):
        model = model_at(text)
        assert (model.endpoint, model.name) == (SEVERAL_SERVERS, "org/qwen3")
        assert [one.endpoint for one in servers_of(model)] == ["http://gpu1:8000/v1", "http://gpu2:8000/v1"]
    assert model_at("http://gpu1:8000/v1#qwen3").endpoint == "http://gpu1:8000/v1"
    assert model_at("http://gpu1:8000/v1,#qwen3").endpoint == SEVERAL_SERVERS  # the only one that is left


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("http://a/v1\ngpu2\n", r"servers\.txt, line 2: expected the URL of a server"),
        ("http://a/v1,http://b/v1\n", r"line 1: expected the URL of a server"),
        ("# none\n", "holds no URL"),
        (b"\xff\xfe", "cannot be read"),
        (None, "there is no such file; several servers are URL,URL#NAME or FILE#NAME"),
    ],
)
def test_a_file_that_names_no_servers_is_refused_in_one_line(tmp_path, content, message):
    path = tmp_path / "servers.txt"
    if content is not None:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(FileError, match=message) as error:
        model_at(f"{path}#small")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("servers", "message"),
    [
        ([], "expected one model under one name, got none"),
        ([Served("a", answer), Served("b", answer, name="large")], "one name, got large, small"),
        ([Served("a", answer), Served("a", answer)], "a is there twice"),
    ],
)
def test_what_is_not_one_model_on_several_servers_is_refused(servers, message):
    with pytest.raises(ArgumentError, match=re.escape(message)):
        SeveralServers(servers)
