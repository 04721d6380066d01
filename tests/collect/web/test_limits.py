"""Never more than n in any minute, whoever else is there."""

from hypothesis import given
from hypothesis import strategies as st

from judging import Clock
from qrowd.collect.web.server import Limiter


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
    assert len(limiter) == 1
