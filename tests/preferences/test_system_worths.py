"""Log-worths of systems from battles: against printed numbers, SciPy and refits, and by their laws."""

from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from oracles import bradley_terry as oracle
from qrowd.comparison import rank_intervals
from qrowd.errors import ArgumentError, NoOverlapError, RowError
from qrowd.model.headers import VERDICTS, verdict_of
from qrowd.model.preferences import Preferences
from qrowd.preferences import bradley_terry, position_bias, system_worths
from qrowd.preferences import system_worths as module
from qrowd.preferences.system_worths import worths_by_assessor

# Davidson (1970), chocolate puddings: two brands, wins of the first and of the second, ties.
PUDDINGS = """
1 2 19 22 16  1 3 16 19 12  2 3 19 19 10  1 4 18 23 13  2 4 23 19 9  3 4 19 20 15  1 5 13 19 18  2 5 16 20 12
3 5 16 15 17  4 5 17 14 16  1 6 18 21 12  2 6 22 20 12  3 6 13 18 10  4 6 14 19 18  5 6 11 21 12
"""
WINNERS = ("model_a", "model_b", "tie", "tie (bothbad)")
battle = st.tuples(
    st.sampled_from(["t1", "t2", "t3"]), st.permutations(["x", "y", "z"]), st.sampled_from(WINNERS),
    st.sampled_from(["ann", "bob"]),
)  # fmt: skip
battles = st.lists(battle, min_size=8, max_size=40)


def table_of(rows):
    columns = [(topic, a, b, winner, judge) for topic, (a, b, *_), winner, judge in rows]
    return pd.DataFrame(columns, columns=["question_id", "model_a", "model_b", "winner", "judge"])


def read(rows):
    return Preferences.from_frame(table_of(rows))


def fitted(rows, **options):
    """The worths of drawn battles that determine those of all three systems."""
    try:
        worths = system_worths(read(rows), **options)
    except NoOverlapError:
        assume(False)
    assume(worths.log_worth.size == 3 and not np.isnan(worths.log_worth).any())
    return worths


def by_name(worths):
    return dict(zip(worths.systems, worths.log_worth.tolist(), strict=True))


def drawn(topics, assessors, systems=4, seed=1):
    """Battles of each pair of systems by each assessor on each topic, both of which favour systems."""
    random = np.random.default_rng(seed)
    worth = np.arange(systems) * 0.5 + random.normal(0, 0.7, (topics, 1, systems))
    worth = worth + random.normal(0, 0.3, (1, assessors, systems))
    rows = []
    for t, a, (i, j) in product(range(topics), range(assessors), combinations(range(systems), 2)):
        gap = worth[t, a, i] - worth[t, a, j]
        chances = np.array([np.exp(gap / 2), np.exp(-gap / 2), 0.6])
        rows.append((f"t{t}", (f"s{i}", f"s{j}"), random.choice(WINNERS[:3], p=chances / chances.sum()), f"j{a}"))
    return rows


def test_davidsons_puddings_have_the_worths_that_are_printed_of_them():
    """Turner et al., Introduction to PlackettLuce: coef(mod, log = FALSE) after 7 iterations, as in the paper.

    That fit says that it has not converged, and differs from the maximum by 2e-5: equal to four decimals.
    """
    numbers = np.array(PUDDINGS.split(), int).reshape(-1, 5)
    rows = [
        ("q", (f"brand{i}", f"brand{j}"), winner, "all")
        for i, j, *counts in numbers.tolist()
        for winner, n in zip(WINNERS[:3], counts, strict=True)
        for _ in range(n)
    ]
    worths = system_worths(read(rows))
    order = np.argsort(worths.systems)
    worth = np.exp(worths.log_worth[order])
    printed = [0.1388005, 0.1729985, 0.1617420, 0.1653930, 0.1586805, 0.2023855]
    assert worth / worth.sum() == pytest.approx(printed, abs=2.5e-5)
    assert worths.nu == pytest.approx(0.7468147, abs=1e-5)


@settings(max_examples=settings.default.max_examples * 3 // 10)
@given(battles)
def test_log_worths_are_the_maximum_of_the_likelihood_as_it_is_written(rows):
    worths = fitted(rows)
    number = {name: i for i, name in enumerate(worths.systems)}
    names = {"model_a": "one", "model_b": "two"}
    data = [(number[a], number[b], 0, 0, names.get(winner, "tie"), 1.0) for _, (a, b, *_), winner, _ in rows]
    assume(np.abs(worths.log_worth).max() < 8)
    s, _, _, nu, value = oracle.fitted(data, 3, 1, 1e-6, ties=any(out == "tie" for *_, out, _ in data))
    assert worths.log_worth == pytest.approx(s - s.mean(), abs=2e-3)
    own = oracle.objective(
        data, worths.log_worth, [1.0], [0.0], np.log(worths.nu) if worths.nu else 0.0, 1e-6, 1.0, bool(worths.nu)
    )
    assert own <= value + 1e-6
    assert worths.nu == pytest.approx(nu, rel=5e-3)


def test_a_pseudo_value_is_how_the_weight_of_its_battles_moves_the_log_worths():
    rows = drawn(5, 3)
    worths = system_worths(read(rows))
    assert worths.scores.values[0].mean(axis=(0, 1)) == pytest.approx(worths.log_worth, abs=1e-6)
    plain = read(rows)
    for topic, judge in (("t0", "j0"), ("t3", "j2")):
        t, a = worths.scores.topics.index(topic), worths.scores.assessors.index(judge)
        mine = np.array([row[0] == topic and row[3] == judge for row in rows])
        moved = []
        for step in (-1, 1):  # all battles a hundred times, those of the cell one more or less
            times = 100 + step * mine
            moved.append(
                by_name(system_worths(read([row for row, n in zip(rows, times, strict=True) for _ in range(n)])))
            )
        slope = [(moved[1][name] - moved[0][name]) / 2 * 100 for name in worths.systems]
        cells = len(plain.topics) * len(plain.assessors)
        assert worths.scores.values[0, a, t] - worths.log_worth == pytest.approx(np.multiply(slope, cells), rel=2e-3)


def test_standard_errors_are_those_of_a_jackknife_that_leaves_topics_out():
    rows = drawn(40, 4)
    worths = system_worths(read(rows))
    ranks = rank_intervals(worths.scores, over="topics", n_resamples=99)
    left = []
    for topic in worths.scores.topics:
        found = by_name(system_worths(read([row for row in rows if row[0] != topic])))
        left.append([found[name] - found[worths.systems[0]] for name in worths.systems])
    error = np.sqrt(39 / 40 * ((np.array(left) - np.mean(left, axis=0)) ** 2).sum(axis=0))
    assert ranks.standard_error[0] == pytest.approx(error, rel=0.05)


@settings(max_examples=settings.default.max_examples // 2)
@given(battles)
def test_swapping_a_and_b_with_the_winner_changes_nothing_but_the_order_effect(rows):
    swap = dict(zip(WINNERS, ("model_b", "model_a", *WINNERS[2:]), strict=True))
    worths = fitted(rows)
    swapped = [(topic, (b, a), swap[winner], judge) for topic, (a, b, *_), winner, judge in rows]
    again = system_worths(read(swapped))
    assert by_name(again) == pytest.approx(by_name(worths), abs=1e-6)
    assert again.scores.topics == worths.scores.topics
    place = [again.systems.index(name) for name in worths.systems]
    assert again.scores.values[0][:, :, place] == pytest.approx(worths.scores.values[0], abs=1e-4)
    first, second = (position_bias(read(both)).share for both in (rows, swapped))
    assert first == pytest.approx(1 - second, nan_ok=True)


@settings(max_examples=settings.default.max_examples // 2)
@given(battles)
def test_a_tie_as_a_half_is_half_a_battle_won_each_way(rows):
    doubled = [
        (topic, pair, winner if winner in WINNERS[:2] else won, judge)
        for topic, pair, winner, judge in rows
        for won in WINNERS[:2]
    ]
    worths = fitted(rows, ties="half")
    assert by_name(system_worths(read(doubled))) == pytest.approx(by_name(worths), abs=1e-4)  # the ridge counts half
    assert worths.nu == 0
    assert (worths.wins + worths.ties + worths.losses).sum() == 2 * len(rows)
    assert worths.ties.sum() == 2 * sum(winner not in WINNERS[:2] for _, _, winner, _ in rows)


@settings(max_examples=settings.default.max_examples // 2)
@given(battles)
def test_every_battle_again_changes_no_log_worth(rows):
    worths = fitted(rows)
    assert by_name(system_worths(read(rows + rows))) == pytest.approx(by_name(worths), abs=1e-4)


def test_systems_without_a_bound_are_set_apart_and_the_others_have_the_worths_that_they_have_alone():
    rows = drawn(6, 2)
    alone = by_name(system_worths(read(rows)))
    more = [("t0", ("s0", "worst"), "model_a", "j0"), ("t1", ("best", "s1"), "model_a", "j1")]
    more += [("t2", ("p", "q"), winner, "j0") for winner in WINNERS[:2]]
    worths = system_worths(read(rows + more))
    found = by_name(worths)
    assert {name for name, s in found.items() if s != s} == {"worst", "best", "p", "q"}
    assert {name: found[name] for name in alone} == pytest.approx(alone, abs=1e-6)
    assert set(worths.scores.systems) == set(alone)
    frame = worths.to_frame().set_index("system")
    assert frame.loc["worst", ["wins", "ties", "losses"]].tolist() == [0, 0, 1]


@pytest.mark.parametrize(
    ("winners", "words"),
    [
        (
            ["model_a", "model_a"],
            "no two of the 2 systems beat each other, also over others, so log-worths",
        ),
        (["model_a", "tie", "tie"], "no two of the 2 systems .* count these as halves"),
    ],
)
def test_battles_that_determine_nothing_are_refused(winners, words):
    with pytest.raises(NoOverlapError, match=words):
        system_worths(read([("q", ("x", "y"), winner, "ann") for winner in winners]))


def test_more_topics_and_assessors_than_fit_are_refused(monkeypatch):
    import sys

    monkeypatch.setattr(sys.modules[module.__module__], "MOST_NUMBERS", 10)
    with pytest.raises(ArgumentError, match=r"2 assessors on 6 topics are too many .* resample topics alone"):
        system_worths(read(drawn(6, 2)))


def test_the_worths_of_an_assessor_are_those_of_the_battles_of_his_or_hers():
    rows = drawn(6, 3)
    scores = worths_by_assessor(read(rows))
    mine = read([("all", *row[1:]) for row in rows if row[3] == "j2"])
    alone = bradley_terry(mine)
    wanted = dict(zip(alone.documents_of("all"), alone.log_worth, strict=True))
    place = scores.assessors.index("j2")
    assert dict(zip(scores.systems, scores.values[0, place, 0], strict=True)) == pytest.approx(wanted)


# ---- tables


@pytest.mark.parametrize("place", range(4))
def test_every_word_for_a_verdict_is_read(place):
    preferred = [{"x"}, {"y"}, {"x", "y"}, {"x", "y"}][place]
    for word in VERDICTS[place].split():
        assert verdict_of(word.upper()) == place
        found = read([("q", ("x", "y"), word.upper(), "ann")])
        assert {row[1] for row in found.to_rows()} == preferred
        assert (found.weight is None) == (len(preferred) == 1)
        assert {mark[1] for mark in found.bad} == (preferred if place == 3 else set())


def test_the_name_of_a_system_counts_before_a_word():
    assert read([("q", ("b", "a"), "a", "ann")]).to_rows()[0][:3] == ("q", "a", "b")


def test_without_a_topic_each_battle_is_a_topic():
    table = table_of([("q", ("x", "y"), "model_a", "ann"), ("q", ("x", "y"), "tie", "ann")]).drop(columns="question_id")
    found = Preferences.from_frame(table)
    assert found.topics == ("1", "2")
    assert found.notes == ("there is no topic column, so each row is a topic of its own",)


def test_battles_without_a_winner_are_refused_by_the_columns_that_there_are():
    with pytest.raises(ArgumentError, match=r"no preferred column .* among model_a, model_b; rename it"):
        Preferences.from_frame({"model_a": ["x"], "model_b": ["y"]})


def test_a_verdict_that_is_no_word_is_refused_with_its_row():
    with pytest.raises(RowError, match="row 2: the preferred document 'maybe' is neither 'x' nor 'y', nor a, b, tie"):
        read([("q", ("x", "y"), "tie", "ann"), ("q", ("x", "y"), "maybe", "ann")])
