"""What being shown first does, and how long a preference takes."""

import numpy as np
import pytest

from qrowd.errors import ArgumentError
from qrowd.files import read_preferences
from qrowd.model.preferences import Preferences
from qrowd.preferences import position_bias


def preferences_of(**columns):
    return Preferences.from_frame(columns)


def test_who_saw_pairs_both_ways_round_is_told_apart():
    said = preferences_of(
        topic=["q"] * 5,
        preferred=["a", "a", "c", "d", "e"],
        other=["b", "b", "d", "c", "f"],
        first=[1, 0, 1, 1, 1],
        assessor=["ann"] * 5,
    )
    found = position_bias(said)
    assert (found.n_both.tolist(), found.same.tolist()) == ([2], [0.5])
    assert found.to_frame()["n"].tolist() == [5]


def both_orders(answers, n_topics=20, n_pairs=3):
    """One assessor's answers, `answers(topic, pair)` in {"both", "first", "second"}, to pairs shown in both orders."""
    columns = {name: [] for name in ("topic", "preferred", "other", "assessor", "first")}
    for topic in range(n_topics):
        for pair in range(n_pairs):
            one, two = f"a{pair}", f"b{pair}"
            shown = {"both": (1, 0), "first": (1, 1), "second": (0, 0)}[answers(topic, pair)]
            for first, second, chosen in ((one, two, shown[0]), (two, one, shown[1])):
                preferred, other = (first, second) if chosen else (second, first)
                row = (f"t{topic}", preferred, other, "ann", chosen)
                for name, cell in zip(columns, row, strict=True):
                    columns[name].append(cell)
    return Preferences.from_frame(columns)


@pytest.mark.parametrize(
    ("answers", "share", "same", "favours"),
    [
        (lambda topic, pair: "both", 0.5, 1, ""),
        (lambda topic, pair: "first", 1, 0, "first"),
        (lambda topic, pair: "second", 0, 0, "second"),
        (lambda topic, pair: "first" if pair == 0 else "both", 2 / 3, 2 / 3, "first"),
        (lambda topic, pair: "first" if topic % 2 else "second", 0.5, 0, ""),
    ],
)
def test_an_assessor_who_follows_the_order_is_told_from_one_who_contradicts_both_ways(answers, share, same, favours):
    bias = position_bias(both_orders(answers))
    assert (bias.share[0], bias.same[0], bias.favours[0]) == (pytest.approx(share), pytest.approx(same), favours)
    assert bias.low[0] <= bias.share[0] <= bias.high[0]
    assert bias.n_both[0] == 60


def test_the_interval_of_the_share_is_wider_where_whole_topics_favour_one_side():
    random = np.random.default_rng(3)
    sides = random.random((20, 10)) < 0.5
    whole = position_bias(both_orders(lambda topic, pair: "first" if topic < 10 else "second", 20, 10))
    mixed = position_bias(both_orders(lambda topic, pair: "first" if sides[topic, pair] else "second", 20, 10))
    assert whole.high[0] - whole.low[0] > 1.5 * (mixed.high[0] - mixed.low[0])


def test_with_one_topic_the_share_has_no_interval():
    bias = position_bias(both_orders(lambda topic, pair: "first", 1))
    assert np.isnan([bias.low[0], bias.high[0]]).all()
    assert bias.favours == ("",)


def test_an_assessor_of_whom_nobody_knows_sides_has_no_bias_to_tell():
    said = preferences_of(
        topic=["q"] * 3,
        preferred=["a", "a", "b"],
        other=["b", "c", "c"],
        first=[1, 0, None],
        assessor=["ann", "ann", "bob"],
    )
    found = position_bias(said)
    assert found.n.tolist() == [2, 0]
    for name in ("share", "same"):
        assert np.isnan(getattr(found, name)[1])


def test_the_crowd_of_dl21_favours_what_is_shown_first(dl21):
    found = position_bias(read_preferences(dl21 / "preferences" / "crowd.txt.gz"))
    assert found.n.tolist() == [11681]
    assert found.share[0] == pytest.approx(0.5228, abs=1e-4)
    assert found.n_both.tolist() == [1259]


def test_bad_input_gets_one_clear_line():
    said = Preferences.from_rows([("q", "a", "b", "ann")])
    with pytest.raises(ArgumentError, match="do not say which document was shown first"):
        position_bias(said)
