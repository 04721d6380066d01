"""Here or There: what its printed tables imply, and what stands behind the pictures."""

from itertools import combinations

import numpy as np
import pytest

from qrowd.evaluation import evaluate
from qrowd.preferences import from_grades, transitivity
from qrowd_papers.preferences import claims as printed
from qrowd_papers.preferences.figures import SHOWN, preferences_figures


@pytest.fixture(scope="module")
def study():
    return printed.simulated_study(rng=1)


@pytest.fixture(scope="module")
def figures():
    return {figure.name: figure for figure in preferences_figures(n_topics=6, rng=3)}


def test_every_figure_has_a_name_a_caption_and_data(figures):
    assert list(figures) == [f"preferences-{name}" for name in ("2", "measures")]
    for figure in figures.values():
        assert figure.caption.endswith(".")
        assert len(figure.frame())


def test_all_pairs_are_n_times_n_less_1_over_2_and_sorting_Bad_marks_and_utility_save_some(figures):
    whole = figures["preferences-2"].frame()
    frame = whole.set_index(["condition", "documents"])["judgments"].unstack(0)
    n = frame.index.to_numpy()
    assert frame["all pairs"].tolist() == (n * (n - 1) / 2).tolist()
    assert (frame["sorting"] < frame["all pairs"]).all()
    totals = (whole["judgments"] * whole["topics"]).groupby(whole["condition"]).sum()
    assert totals["sorting, Bad"] < totals["sorting"]
    assert totals["utility, Bad, stop"] < totals["sorting"]
    assert set(frame.columns) == {condition.name for condition in SHOWN}


def test_what_the_text_says_follows_from_its_tables_and_is_no_finding_of_the_simulation(study):
    rows = {row[0]: row[1:] for row in printed.statements(study).table().rows}
    # Carterette et al. (2008), section 3.2: chi-square = 143; labels 20, 28, 25, 25, 2 %; strong ones in between.
    chi_square = rows["chi-square of Tables 2(a) and 2(b), each pair of assessors twice"]
    assert chi_square[:2] == ["143", "144.2"]
    assert rows["the same, each pair of assessors once"][1] == "72.1"
    assert rows["% of pages with each label"][1] == "20.2, 28.1, 25.0, 24.6, 2.2"
    assert rows["agreement: inferred, pooled strong, two ways"][1] == "0.641, 0.712, 0.745"
    assert [row[-1] for row in rows.values()].count("the text follows from the tables") == 3
    assert "match" not in {row[-1] for row in rows.values()}
    assert float(chi_square[2]) < 100  # of the simulated study, which was fitted to the shares of labels alone


def test_the_simulated_study_has_the_paper_s_design(study):
    assert len(study.runs.topics) == 51
    assert len(study.runs.systems) == 3
    assert len(study.graded.assessors) == len(study.preferred.assessors) == len(study.strong.assessors) == 2
    pages = len(set(zip(study.graded.topic.tolist(), study.graded.document.tolist(), strict=True))) / 51
    assert 10.5 < pages < 14  # 11.9 in section 3.1
    # everything an engine retrieved was graded, and nothing else
    assert named(study.graded) == named(study.runs)
    assert transitivity(study.preferred).rate > 0.98


def named(table):
    """All pairs of a topic and a document."""
    return {(table.topics[t], table.documents[d]) for t, d in zip(table.topic, table.document, strict=True)}


def test_measures_are_those_of_evaluate_on_the_grades_and_on_what_they_imply(study):
    found = printed.measure_scores(study.runs, study.graded)
    graded = evaluate(study.runs, study.graded, ["nDCG(dcg='exp-log2')@5"]).to_xarray().isel(measure=0)
    told = evaluate(study.runs, from_grades(study.graded), ["wpref@5"]).to_xarray().isel(measure=0)
    for a, t, s in ((0, 0, 0), (1, 7, 2), (1, 50, 1)):
        topic, system = study.runs.topics[t], study.runs.systems[s]
        where = {"assessor": study.graded.assessors[a], "topic": topic, "system": system}
        place = a, graded.topic.values.tolist().index(topic), graded.system.values.tolist().index(system)
        assert found["NDCG"][place] == pytest.approx(float(graded.sel(where)))
        assert found["wpref"][place] == pytest.approx(float(told.sel(where)), nan_ok=True)


def test_agreement_counts_pairs_of_systems_that_neither_measure_holds_equal():
    random = np.random.default_rng(2)
    first, second = random.integers(0, 4, (2, 2, 6, 4)).astype(float)
    second[0, 1, 2] = np.nan
    alike, told = 0, 0
    for a in range(2):
        for t in range(6):
            for i, j in combinations(range(4), 2):
                one, other = first[a, t, i] - first[a, t, j], second[a, t, i] - second[a, t, j]
                if one * other != 0 and not np.isnan(one * other):
                    told += 1
                    alike += one * other > 0
    pearson, agreement = printed.beside(first, second)
    assert agreement == pytest.approx(alike / told)
    known = ~np.isnan(second)
    assert pearson == pytest.approx(np.corrcoef(first[known], second[known])[0, 1])
    assert printed.beside(first, first) == (pytest.approx(1), 1)
