"""The process that computes looks: it says what a look in this process says, and it outlives nobody."""

from dataclasses import replace

import pytest

from collect.campaigns.test_question import Live
from qrowd.collect.campaigns.live import LiveQuestions, write_look
from qrowd.collect.campaigns.look_process import LookProcess
from qrowd.collect.campaigns.looking import Looker
from qrowd.collect.store import draws, materials
from qrowd.collect.store.base import StoreError
from qrowd.collect.store.engine import open_store


@pytest.fixture
def live(tmp_path):
    with open_store(str(tmp_path / "q.db")) as store:
        made = Live(store, tmp_path / "f", people=3, looks=False)
        for _ in range(18):
            made.answer(made.rng.choice(made.people))
        yield made


@pytest.fixture
def process(live):
    one = LookProcess(live.store.url)
    yield one
    one.close()


def test_a_look_in_another_process_is_a_look_in_this_one(live, process):
    there = process.look(live.id)
    here = live.store.read(lambda connection: Looker().outcome(connection, live.id))
    assert (there.newest, there.seen, there.n_judged) == (here.newest, here.seen, here.n_judged)
    assert (there.sentence, there.table) == (here.sentence, here.table)
    assert there.sizes.tolist() == here.sizes.tolist()
    n_judged, (low, median, high) = process.expected(live.id)
    assert n_judged == 18
    assert 0 <= low <= median <= high


def test_a_process_that_ended_is_replaced_by_the_next_request(live, process):
    assert process.look(live.id) is not None
    process._process.kill()
    process._process.wait()
    assert process.look(live.id) is not None


def test_what_fails_there_is_an_error_here_and_the_process_goes_on(live, process):
    with pytest.raises(StoreError):
        process.look(live.id + 1)
    assert process.look(live.id) is not None


def test_the_process_ends_with_its_input_as_where_the_server_was_killed(live, process):
    assert process.look(live.id) is not None
    process._process.stdin.close()
    assert process._process.wait(timeout=30) == 0


def test_after_the_end_there_are_no_looks(live, process):
    process.close()
    assert process.look(live.id) is None
    assert process.expected(live.id) is None


def test_a_look_that_has_seen_less_is_not_written(live):
    early = live.store.read(lambda connection: Looker().outcome(connection, live.id))
    live.clock.now += 100
    live.answer(live.people[0])
    questions = LiveQuestions(live.store, {}, clock=live.clock, simulate=False)
    questions.look(live.id)
    n_looks = len(live.store.read(lambda connection: draws.events_of_kind(connection, live.id, "looked")))
    live.store.write(lambda connection: write_look(connection, live.id, early, live.clock(), None))
    assert len(live.store.read(lambda connection: draws.events_of_kind(connection, live.id, "looked"))) == n_looks


def test_of_two_processes_that_see_the_decision_one_writes_it(live):
    outcome = live.store.read(lambda connection: Looker().outcome(connection, live.id))
    table = {**outcome.table, "answer": "sys0 is better than sys1"}
    set_before = {
        live.store.write(lambda c: materials.set_campaign_status(c, live.id, "decided", before="running"))
        for _ in range(2)
    }
    assert set_before == {True, False}
    live.store.write(lambda connection: materials.set_campaign_status(connection, live.id, "running"))
    stopped = [
        live.store.write(
            lambda c, n=n: write_look(c, live.id, replace(outcome, table={**table, "n": n}), 1e9 + n, None)
        )
        for n in range(2)
    ]
    assert stopped == [True, False]
    assert len(live.store.read(lambda connection: draws.events_of_kind(connection, live.id, "decided"))) == 1
