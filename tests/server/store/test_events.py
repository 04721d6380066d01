"""The log keeps what happened, in order."""

import pytest
from sqlalchemy.exc import IntegrityError

from qrowd_server.store import event_log as events
from qrowd_server.store.base import Store
from qrowd_server.store.event_log import LogEntry
from server.soak.store import AT, campaign


def made(number: int, **other: object) -> LogEntry:
    values = {"assessor_id": None, "assignment_id": 7, "unit_id": 1, "actor": "assessor", "kind": "judged"}
    return LogEntry(AT + number, 1, **(values | {"data": {"n": number, "text": "é\u2028\x00"}} | other))  # type: ignore[arg-type]


@pytest.fixture
def log(store: Store) -> Store:
    store.write(campaign)
    return store


@pytest.mark.parametrize("n", [0, 1, 2, 300])
def test_events_get_rising_numbers_in_the_order_given(log: Store, n: int) -> None:
    ids = log.write(lambda c: events.append(c, [made(i) for i in range(n)]))
    found = log.read(lambda c: list(events.of_campaign(c, 1)))
    assert [e.id for e in found] == ids == sorted(set(ids))
    assert [e.data["n"] for e in found] == list(range(n))


@pytest.mark.parametrize("together", [False, True])
def test_an_event_comes_back_as_it_went_in(log: Store, together: bool) -> None:
    one = made(0, assessor_id=5, late=True, idem_key="k", digest="d")
    log.write(lambda c: events.append(c, [one, made(1)] if together else [one]))
    found = log.read(lambda c: events.by_key(c, "k"))
    assert found is not None
    assert found._replace(id=0) == one
    assert found.late is True


def test_a_key_is_stored_once_and_no_key_any_number_of_times(log: Store) -> None:
    log.write(lambda c: events.append(c, [made(0), made(1), made(2, idem_key="k")]))
    with pytest.raises(IntegrityError):
        log.write(lambda c: events.append(c, [made(3, idem_key="k")]))
    assert log.read(lambda c: events.by_key(c, "other")) is None
    assert len(log.read(lambda c: list(events.of_campaign(c, 1)))) == 3


def test_events_are_found_by_campaign_and_by_unit_there_from_any_point_on(log: Store) -> None:
    some = [made(i, assignment_id=i % 2, unit_id=None if i == 4 else 1) for i in range(6)]
    ids = log.write(lambda c: events.append(c, some))

    def numbers(find: object, *arguments: object, **options: object) -> list[int]:
        return log.read(lambda c: [e.data["n"] for e in find(c, *arguments, **options)])  # type: ignore[operator]

    assert numbers(events.of_unit, 1) == [0, 1, 2, 3, 5]
    assert numbers(events.of_unit, 1, after=ids[2]) == [3, 5]
    assert numbers(events.of_campaign, 1) == [0, 1, 2, 3, 4, 5]
    assert numbers(events.of_campaign, 2) == []
