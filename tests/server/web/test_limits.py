"""Never more than n in any minute, whoever else is there."""

import re
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from judging import Clock
from qrowd_server.web.security import ServerSettings
from qrowd_server.web.server import Limiter, Server
from server.web.siege import fort
from webserver import BASE, SECRET


@given(st.integers(1, 5), st.lists(st.tuples(st.sampled_from("ab"), st.floats(0, 40)), max_size=60))
def test_any_minute_holds_at_most_n_and_none_is_refused_without_need(n: int, steps: list[tuple[str, float]]) -> None:
    clock, taken = Clock(), {"a": [], "b": []}  # type: ignore[var-annotated]
    limiter = Limiter(n, clock=clock)
    for who, pause in steps:
        clock.now += pause
        recent = [at for at in taken[who] if clock.now - at < 60]
        wait = limiter.take(who)
        assert (wait == 0) == (len(recent) < n)
        if wait == 0:
            taken[who].append(clock.now)
        else:
            assert 0 < wait <= 60
            assert wait == 60 - (clock.now - recent[-n])


def test_after_the_wait_it_is_possible() -> None:
    clock = Clock()
    limiter = Limiter(1, clock=clock)
    assert limiter.take("a") == 0
    clock.now += 12.5
    clock.now += limiter.take("a")
    assert limiter.take("a") == 0


def test_who_is_gone_is_forgotten() -> None:
    clock = Clock()
    limiter = Limiter(2, clock=clock)
    for who in range(1000):
        limiter.take(who)
    clock.now += 61
    limiter.take("new")
    assert len(limiter._times) == 1


def test_a_wall_clock_that_is_set_back_makes_nobody_wait() -> None:
    wall, steady = Clock(), Clock()
    settings = ServerSettings(BASE, SECRET, judgments_per_minute=3)
    server = Server(None, None, None, settings, wall, steady)  # type: ignore[arg-type]
    for _ in range(3):
        server.judging.check("ann")
    wall.now -= 3600
    steady.now += 60
    server.judging.check("ann")


def test_owners_see_new_numbers_although_the_wall_clock_was_set_back(tmp_path: Path) -> None:
    with fort(tmp_path) as place:
        owner = place.owner()
        steady = place.app.state.server.monotonic = Clock()

        def numbers() -> list[str]:
            people = owner.get("/owner/c/stars").text.partition('id="people"')[2].partition("</section>")[0]
            return re.findall(r'data-label="[^"]+">(\d+)</td>', people)

        before = numbers()
        place.walker("stars", who="ben").come().walk()
        assert numbers() == before  # kept for some seconds
        place.clock.now -= 1800
        steady.now += 60
        assert numbers() != before
