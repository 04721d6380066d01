"""What stands beside the bar: parts, rows and rows per second."""

from itertools import count
from types import SimpleNamespace

import pytest

from qrowd.cli import throughput
from qrowd.cli.evaluate import InParts
from qrowd.partitions import write_partitioned
from qrowd.simulation import simulate_demo


@pytest.fixture
def seconds(monkeypatch):
    """A clock that moves by ten seconds at each look."""
    times = count(0, 10)
    monkeypatch.setattr(throughput, "time", SimpleNamespace(monotonic=lambda: next(times)))


def notes(make, *calls):
    shown = []
    move = make(lambda *arguments: shown.append(arguments))
    for call in calls:
        move(*call)
    return shown


def test_parts_rows_and_rate_stand_beside_the_bar(seconds):
    assert notes(
        lambda advance: throughput.showing_parts(advance, 64), (12_000_000, 31_000_000), (31_000_000,) * 2
    ) == [
        (12_000_000, 31_000_000, "parts 1 of 64, 12 M rows, 1.2 M rows/s"),
        (31_000_000, 31_000_000, "parts 2 of 64, 31 M rows, 1.6 M rows/s"),
    ]


def test_the_number_of_parts_is_left_out_where_it_is_not_known(seconds):
    assert notes(lambda advance: throughput.showing_parts(advance, None), (5, 10)) == [
        (5, 10, "parts 1, 5 rows, 0 rows/s")
    ]


def test_bytes_move_the_bar_and_rows_stand_beside_it(seconds):
    assert notes(throughput.showing_rows, (1, 9, 2500), (9, 9, 999_999)) == [
        (1, 9, "2.5 k rows, 250 rows/s"),
        (9, 9, "1.0 M rows, 50 k rows/s"),
    ]


def test_rows_before_any_time_has_passed_have_a_rate():
    assert throughput.rows_note(40, 0.0) == "40 rows, 40 rows/s"


def test_a_partitioned_collection_is_counted_by_its_parts_that_somebody_judged(tmp_path, seconds):
    runs, judgments, _ = simulate_demo()
    collection = write_partitioned(tmp_path / "c", runs, judgments, part_of=dict.fromkeys(runs.topics, 2))
    shown = notes(lambda advance: InParts().progress(advance, collection.runs, collection.judgments), (5, 10))
    assert shown[0][2].startswith("parts 1 of 1, ")
    plain = notes(lambda advance: InParts().progress(advance, runs, judgments), (5, 10))
    assert plain == [(5, 10)]
