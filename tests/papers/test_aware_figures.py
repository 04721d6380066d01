"""The AWARE paper's tables and figures: what its print implies, and what stands behind the pictures."""

import numpy as np
import pytest

from qrowd_papers.aware import printed
from qrowd_papers.aware.claims import MEASURES
from qrowd_papers.aware.figures import BANDWIDTH, density, figures_of, material
from qrowd_papers.panels import crowdsourcing_tracks


@pytest.fixture(scope="module")
def shown():
    return material(quick=True, rng=1)


@pytest.fixture(scope="module")
def figures(shown):
    return {figure.name: figure for figure in figures_of(shown)}


def test_every_figure_of_the_paper_that_holds_data_is_there(figures):
    of_the_paper = [f"aware-{number}" for number in range(4, 10)]
    assert list(figures) == ["aware-densities", "aware-similarity", *of_the_paper, "aware-tables"]
    for figure in figures.values():
        assert "simulated in the size of" in figure.caption
        assert len(figure.frame())


def test_all_28_effect_sizes_and_all_six_groupings_follow_from_what_is_printed():
    sizes, groups = (one.table() for one in printed.from_print())
    assert len(sizes.rows) == 28
    assert len(groups.rows) == 6
    assert {row[-1] for row in (*sizes.rows, *groups.rows)} == {"match"}


@pytest.mark.nightly
def test_the_components_of_table_5_are_the_first_groups_of_figures_8_and_9(shown):
    table = next(one for one in printed.on_panels({"here": shown.study}) if one.title.startswith("Table 5")).table()
    verdicts = {(row[0], row[1]): row[-1] for row in table.rows}
    assert verdicts["AP correlation", "gap"] == "match (from Figure 8e)"
    assert verdicts["RMSE", "weight"] == "match (from Figure 9f)"
    assert verdicts["AP correlation", "method"] == verdicts["RMSE", "method"] == printed.NOT_PUBLIC
    assert sum(verdict.startswith("match") for verdict in verdicts.values()) == 6


def test_degrees_of_freedom_are_the_printed_ones_but_for_the_number_of_sizes(shown):
    table = next(printed.on_panels({"here": shown.study})).table()
    for row in table.rows:
        source, wanted, ours = row[1], int(row[2]), int(row[4].split("(")[1].rstrip(")"))
        assert ours == (wanted if source != "size" else len(shown.study.sizes) - 1)


def test_a_number_that_rounds_to_another_does_not_match():
    assert printed.same(0.4880, 0.48804) == "match"
    assert printed.same(0.4880, 0.48807).startswith("differs: because")


def test_the_size_from_which_something_holds_is_told_apart_from_the_first_at_which_it_does():
    mask = np.array([False, True, False, True, True])
    assert printed.first_of(mask, (2, 3, 4, 5, 6)) == "3"
    assert printed.first_of(mask, (2, 3, 4, 5, 6), lasting=True) == "5"
    assert printed.first_of(~mask, (2, 3, 4, 5, 6), lasting=True) == "not up to 6"


def test_one_set_of_systems_has_no_effect_of_systems(shown):
    from dataclasses import replace

    study = shown.study
    first = {name: getattr(study, name)[:1] for name in ("system_sets", "ap_correlation", "tau", "rmse")}
    table = next(printed.on_panels({"one": replace(study, **first)})).table()
    assert {row[4] for row in table.rows if "systems" in row[1]} == {"one set only"}
    alone = replace(study, sizes=study.sizes[:1], **{n: getattr(study, n)[..., :1] for n in printed_figures()})
    assert list(printed.on_panels({"one size": alone})) == []


def printed_figures():
    return ("ap_correlation", "tau", "rmse")


def test_main_effects_are_means_over_everything_else(shown, figures):
    frame = figures["aware-4"].frame().set_index(["factor", "level"])["mean"]
    for e, method in enumerate(shown.study.methods):
        assert frame["method", method] == pytest.approx(shown.study.ap_correlation[:, :, e].mean())
    relative = shown.study.rmse / shown.study.rmse.max(axis=(0, 2, 3), keepdims=True)
    frame = figures["aware-6"].frame().set_index(["factor", "level"])["mean"]
    for k, size in enumerate(shown.study.sizes):
        assert frame["size", str(size)] == pytest.approx(relative[..., k].mean())


def test_interactions_are_means_of_cells(shown, figures):
    frame = figures["aware-5"].frame()
    by_size = frame[frame["first"] == "size"].set_index(["first_level", "second_level"])["mean"]
    study = shown.study
    for k, size in enumerate(study.sizes):
        for e, method in enumerate(study.methods):
            assert by_size[str(size), method] == pytest.approx(study.ap_correlation[:, :, e, k].mean())
    assert set(frame["first"]) == {"size", "measure", "systems"}
    assert set(frame.loc[frame["first"] == "measure", "first_level"]) == set(MEASURES.values())


def test_components_rest_on_the_thirty_estimators_alone(shown, figures):
    frame = figures["aware-8"].frame()
    cell = frame[(frame["first_level"] == "sgl") & (frame["second_level"] == "tau")]["mean"]
    study = shown.study
    members = [e for e, name in enumerate(study.methods) if name.startswith("sgl_tau_")]
    assert len(members) == 3
    assert cell.item() == pytest.approx(study.ap_correlation[:, :, members].mean())
    assert "uniform" not in set(frame["first_level"])


def test_density_is_a_mean_of_bells_that_encloses_1_and_leaves_out_what_is_unknown():
    found = density(np.array([0.5, 0.52, np.nan]))
    x = np.linspace(0, 1, 100)
    bells = [np.exp(-((x - m) ** 2) / (2 * BANDWIDTH**2)) / (BANDWIDTH * np.sqrt(2 * np.pi)) for m in (0.5, 0.52)]
    # the kernel takes the nearest of tabulated distances
    assert found == pytest.approx(np.mean(bells, axis=0), abs=0.02 * found.max())
    assert found.sum() / 99 == pytest.approx(1, abs=0.01)


def test_random_assessors_score_the_higher_the_more_they_call_relevant(figures):
    frame = figures["aware-densities"].frame()
    weighed = frame.assign(moment=frame["score"] * frame["density"])
    sums = weighed.groupby("name")[["moment", "density"]].sum()
    centre = sums["moment"] / sums["density"]
    assert centre["under"] < centre["even"] < centre["over"]


def test_likeness_is_the_similarity_to_random_assessors(shown, figures):
    frame = figures["aware-similarity"].frame().set_index(["gap", "level", "assessor"])["likeness"]
    names = shown.similarities.scores.assessors
    assert frame["tau", "even", names[2]] == shown.similarities.single[3, 0, 1, 2]
    assert frame.between(0, 1).all()


def test_two_sets_of_systems_meet_the_same_assessors():
    sets, crowd, gold = crowdsourcing_tracks(4, (6, 5), n_topics=3, n_documents=40, depth=20, rng=4)
    assert [len(each.systems) for each in sets.values()] == [6, 5]
    assert crowd.assessors == tuple(f"assessor-{number:02}" for number in range(1, 5))
    assert crowd.topics == gold.topics
