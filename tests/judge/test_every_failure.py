"""A server that fails in every way, while the job is interrupted. `judge.soak` has more questions, and kills."""

import os
import signal
from collections import Counter

import pytest

from judge.failing_server import CASES, FAILED, PROMPT, Failing, expected, shown, text_of
from judge.model_server import ModelServer
from judge.soak import answered_in, kill_and_resume, statuses_in
from qrowd.judge import AskOptions, ChatModel, plan_job, running
from qrowd.judge.exchange import Price, Prices

N = 2 * len(CASES)


@pytest.fixture
def job(tmp_path):
    """A function of a server's URL that makes the job: all cases, with two grades each."""
    (tmp_path / "scored.toml").write_text(PROMPT)
    documents = {f"d{i}": text_of(i) for i in range(N)}

    def planned(url):
        model = ChatModel(url, "small", timeout=0.5)
        return plan_job({"1": "green tea"}, documents, {"1": list(documents)}, model, tmp_path / "scored.toml")

    return planned


@pytest.mark.nightly
@pytest.mark.usefixtures("ctrl_c")
def test_each_answer_is_judged_rightly_or_counted_as_unread_and_none_is_asked_again(job, tmp_path, monkeypatch):
    monkeypatch.setattr(running, "FIRST_WAIT", 0.01)
    failing, record = Failing(), tmp_path / "judge.sqlite"
    options = AskOptions(concurrency=32, budget=5.0, prices=Prices([Price("*", "*", 1.0, 1.0)]))

    def interrupt(done, total, cost):
        if done == 40:
            os.kill(os.getpid(), signal.SIGINT)

    with ModelServer(failing) as served:
        for ends in (False, False, True, True):
            answered, before = answered_in(record), Counter(failing.asked)
            if ends:
                answers = job(served.url).ask(record, options=options)
                assert answers.stopped is None
                assert not answers.is_complete
            else:
                with pytest.raises(KeyboardInterrupt):
                    job(served.url).ask(record, options=options, progress=interrupt)
            assert all(failing.asked[i] == before[i] for i in answered)
    wrong = {i: (status, expected(i)) for i, status in statuses_in(record).items() if status != expected(i)}
    assert not wrong
    assert answers.n_unasked == 0
    judged = answers.judgments.to_dict()["small-1+scored"]["1"]
    assert judged == {f"d{i}": grade for i in range(N) for grade in expected(i)[1]}
    assert Counter(shown(one.status) for one in answers.outcomes)["failed"] == 2 * len(FAILED)
    assert 0 < answers.cost < 0.5  # usage below 0 and of 10^18 tokens is not believed


@pytest.mark.nightly
@pytest.mark.slow
def test_a_job_that_is_killed_and_started_again_loses_no_answer_asks_for_none_again_and_writes_its_judgments(tmp_path):
    soaked = kill_and_resume(tmp_path, 1, len(CASES))
    assert soaked.kills == 1
    assert soaked.again == []
    assert soaked.statuses == {i: expected(i) for i in range(len(CASES))}
    assert soaked.judged == {i: grade for i in range(len(CASES)) for grade in expected(i)[1]}
    assert soaked.exits == [1, 1]
