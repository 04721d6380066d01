"""Pictures of assessors: severity, agreement, who judged what."""

import numpy as np
import pytest

from qrowd.agreement import assessor_profiles, pairwise_agreement
from qrowd.comparison import judged_share
from qrowd.model.judgments import Judgments
from qrowd.model.runs import Runs
from qrowd.reports.plots.assessor_plots import plot_assessors, plot_coverage, plot_kappa
from qrowd.simulation import simulate_demo


@pytest.fixture(scope="module")
def demo():
    runs, judgments, _ = simulate_demo()
    return runs, judgments


def texts(ax):
    return [text.get_text() for text in ax.texts]


def test_every_assessor_is_a_dot_with_a_name_and_who_stands_out_looks_different(demo):
    found = assessor_profiles(demo[1].rescaled())
    ax = plot_assessors(found)
    assert set(texts(ax)) == set(found.assessors)
    usual, outlying = ax.containers
    place = found.assessors.index("crowd-3")
    assert found.reasons[place]
    assert outlying.lines[0].get_xydata().tolist() == [[found.severity[place], found.agreement[place]]]
    assert usual.lines[0].get_marker() != outlying.lines[0].get_marker()
    assert len(usual.lines[0].get_xdata()) == 7


def test_of_a_crowd_only_those_who_stand_out_are_named():
    random = np.random.default_rng(1)
    rows = [
        ("q", f"d{d}", f"w{a}", 1 if a == 0 else int(d % 2 == 0) if random.random() < 0.9 else 1 - d % 2)
        for a in range(61) for d in range(30)
    ]  # fmt: skip
    found = assessor_profiles(Judgments.from_rows(rows))
    out = {name for name, why in zip(found.assessors, found.reasons, strict=True) if why}
    assert "w0" in out
    ax = plot_assessors(found)
    assert set(texts(ax)) <= out
    assert "w0" in texts(ax)
    assert not ax.containers[0].has_xerr


def test_the_assessors_who_agree_most_with_the_others_come_first(demo):
    found = pairwise_agreement(demo[1].rescaled())
    ax = plot_kappa(found)
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert sorted(names) == sorted(found.assessors)
    first, last = (np.nanmean(found.kappa[found.assessors.index(name)]) for name in (names[0], names[-1]))
    assert first == np.nanmax(np.nanmean(found.kappa, axis=1))
    assert last == np.nanmin(np.nanmean(found.kappa, axis=1))
    assert ax.get_xlabel() == "Cohen's kappa"
    weighted = pairwise_agreement(demo[1].rescaled(), weights="linear")
    assert plot_kappa(weighted).get_xlabel() == "Cohen's kappa, linear weights"


RUNS = Runs.from_dict({
    "one": {"q": {"a": 3, "b": 2, "c": 1}, "p": {"d": 2, "e": 1}, "unheard": {"a": 1}},
    "two": {"q": {"x": 3, "y": 2, "a": 1}},
})  # fmt: skip
SAID = Judgments.from_rows([
    ("q", "a", "ann", 1), ("q", "b", "ann", 0), ("q", "a", "bob", 1), ("p", "d", "bob", 1), ("q", "c", "bob", -1),
])  # fmt: skip


def test_the_first_column_holds_what_anybody_judged():
    ax = plot_coverage(judged_share(RUNS, SAID, cutoff=2))
    assert [label.get_text() for label in ax.get_xticklabels()] == ["anyone", "ann", "bob"]
    assert texts(ax) == ["0", "0", "0", "75", "50", "50"]
    assert texts(plot_coverage(judged_share(RUNS, SAID, cutoff=2), top=1)) == ["0", "0", "0"]
