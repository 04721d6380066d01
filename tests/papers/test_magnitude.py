"""Relevance magnitudes, recomputed: the campaign, rankings under different gains, the figures and the page."""

import math

import numpy as np
import pytest
from matplotlib.figure import Figure as Canvas

from qrowd.aggregation import median
from qrowd.agreement import krippendorff_alpha
from qrowd.errors import InputError
from qrowd.evaluation import evaluate
from qrowd.model.judgments import Judgments
from qrowd.reports.plots.style import styled
from qrowd.simulation import simulate_demo, simulate_magnitudes, simulate_pool
from qrowd_papers.claims import MATCH, NOT_PUBLIC
from qrowd_papers.magnitude import claims
from qrowd_papers.magnitude.analysis import MEASURES, MagnitudeAnalysis, gain_rankings
from qrowd_papers.magnitude.claims import CONTRADICTS, TABLE_III, TABLE_IV, magnitude_page, page_of
from qrowd_papers.magnitude.digits import ratio_digits
from qrowd_papers.magnitude.figures import SIMULATED, figures_of, find, magnitude_figures
from qrowd_papers.magnitude.figures_of_files import figures_of_magnitudes
from qrowd_papers.magnitude.selection import select_units_by_agreement
from qrowd_papers.magnitude.study import (
    MAPPINGS,
    TOPICS,
    crowd_and_gold,
    mapping_rankings,
    real_panels,
    real_rankings,
    sampled_taus,
    simulate_campaign,
)

approx = pytest.approx


@pytest.fixture(scope="module")
def found():
    return find(quick=True, rng=1)


@pytest.fixture(scope="module")
def campaign(found):
    return found.campaign


@pytest.fixture(scope="module")
def page(found):
    return page_of(found)


# ---- the campaign


def test_the_campaign_has_the_paper_s_numbers(campaign):
    assert len(campaign.written) == 56_472
    assert len(campaign.truth.grade) == sum(documents for documents, _ in TOPICS.values()) == 4269
    assert len(set(campaign.written.unit.tolist())) == sum(units for _, units in TOPICS.values()) == 7059
    assert (len(campaign.binary), len(campaign.levels), len(campaign.runs.systems)) == (3881, 805, 129)


def test_both_officials_know_the_check_documents_and_put_h_above_n(campaign):
    for official in (campaign.binary, campaign.levels):
        grades = {
            (official.topics[t], official.documents[d]): value
            for t, d, value in zip(official.topic, official.document, official.value, strict=True)
        }
        for topic, (high, low) in campaign.checks.items():
            assert grades[topic, high] > grades[topic, low] == 0


@pytest.mark.nightly
def test_the_same_number_gives_the_same_campaign_and_another_another(campaign):
    again, other = simulate_campaign(rng=1), simulate_campaign(rng=2)
    assert (again.written.value == campaign.written.value).all()
    assert (again.levels.value == campaign.levels.value).all()
    assert (other.written.value != campaign.written.value).any()


# ---- gains and rankings


def slow_scores(ranking, gain, top):
    """nDCG@10 and ERR@10 of section 7.1, for one list and one topic's {document: gain}."""

    def dcg(gains):
        return sum(g if i == 1 else g / math.log2(i) for i, g in enumerate(gains[:10], start=1))

    gains = [gain.get(name, 0.0) for name in ranking]
    best = dcg(sorted(gain.values(), reverse=True))
    err, going_on = 0.0, 1.0
    for i, g in enumerate(gains[:10], start=1):
        stop = (2**g - 1) / 2**top
        err += going_on * stop / i
        going_on *= 1 - stop
    return (dcg(gains) / best if best else 0.0), err


def test_scores_are_those_of_the_equations(campaign):
    merged = median(campaign.judgments).judgments
    scores = evaluate(campaign.runs, merged, list(MEASURES.values()))
    found = {name: scores.values[m, 0] for m, name in enumerate(MEASURES)}
    gains = {topic: {} for topic in merged.topics}
    for t, d, value in zip(merged.topic, merged.document, merged.value, strict=True):
        gains[merged.topics[t]][merged.documents[d]] = float(value)
    runs = campaign.runs
    for t, s in ((0, 0), (5, 60), (17, 128)):
        rows = np.flatnonzero((runs.topic == t) & (runs.system == s))
        ranking = [runs.documents[d] for d in runs.document[rows[np.argsort(-runs.score[rows])]]]
        gain = gains[runs.topics[t]]
        ndcg, err = slow_scores(ranking, gain, max(gain.values()))
        t = scores.topics.index(runs.topics[t])
        assert found["nDCG@10"][t, s] == approx(ndcg)
        assert found["ERR@10"][t, s] == approx(err)


def test_the_printed_overlaps_are_parts_of_11_and_5_and_41_and_22_systems():
    """Table IV, whatever the units: so the top set by official grades is what they are parts of."""
    sizes = {("TREC", "nDCG@10"): 11, ("TREC", "ERR@10"): 5, ("Sormunen", "nDCG@10"): 41, ("Sormunen", "ERR@10"): 22}
    for key, (_, tops) in TABLE_IV.items():
        for top in tops:
            systems = top / 100 * sizes[key]
            assert top == approx(100 * round(systems) / sizes[key], abs=0.006)


def test_three_agreeing_units_give_every_document_its_gain(campaign):
    gains = median(select_units_by_agreement(campaign.judgments, campaign.binary).judgments).judgments
    assert len(gains) == 4269
    assert len(gains.assessors) == 1


def test_a_factor_changes_no_ndcg_and_huge_gains_let_err_see_the_best_grade_alone(campaign):
    """In Table III too 100 C and 10^(1+C) have the same tau by ERR: only the highest grade still stops anyone."""
    found = mapping_rankings(campaign.complete_runs, campaign.levels)
    assert tuple(found) == tuple(MAPPINGS) == tuple(TABLE_III)
    assert found["C"]["nDCG@10"].tau == found["C"]["ERR@10"].tau == 1
    assert found["100 C"]["nDCG@10"].tau == 1
    assert found["100 C"]["ERR@10"].tau == approx(found["10^(1+C)"]["ERR@10"].tau, abs=1e-9)
    assert found["100 C"]["ERR@10"].tau < 0.95
    assert TABLE_III["100 C"][1] == TABLE_III["10^(1+C)"][1]
    assert found["10^(1+C)"]["nDCG@10"].tau < found["2^(1+C)"]["nDCG@10"].tau < found["1 + C"]["nDCG@10"].tau


def test_one_judgment_a_document_can_only_be_drawn_in_one_way():
    runs, _, truth = simulate_demo()
    official, random = truth.judgments(), np.random.default_rng(1)
    rows = [
        (official.topics[t], official.documents[d], "ann", value)
        for t, d, value in zip(official.topic, official.document, random.uniform(0.5, 9, len(official)), strict=True)
    ]
    said = Judgments.from_rows(rows, scales={"ann": "magnitude"})
    taus = sampled_taus(runs, said, official, 130, rng=1)
    both = gain_rankings(runs, said, official)
    for name in MEASURES:
        assert taus[name].shape == (130,)
        expected = both[name].tau
        assert taus[name] == approx(np.full(130, expected))


def test_other_people_s_magnitudes_rank_the_systems_otherwise(found):
    taus, tau = found.taus["Sormunen\nnDCG@10"]
    assert taus.size == 100
    assert taus.std() > 0.02
    assert tau == found.rankings["Sormunen", "all"]["nDCG@10"].tau


# ---- figures and page


def test_the_figures_are_fifteen_and_say_that_they_are_simulated(found):
    figures = figures_of(found)
    assert [figure.name for figure in figures] == [f"magnitude-{i}" for i in range(1, 16)]
    assert all(figure.caption.endswith(SIMULATED) for figure in figures)


@pytest.mark.nightly
@pytest.mark.parametrize("number", range(1, 16))
def test_a_figure_draws_and_has_its_data(found, number):
    figure = figures_of(found)[number - 1]
    with styled():
        canvas = Canvas(figsize=figure.size)
        figure.draw(canvas.subplots(*figure.panels))
    assert any(ax.get_title("right") == "simulated" for ax in canvas.axes)
    assert all(ax.has_data() for ax in canvas.axes)
    assert len(figure.frame()) > 0


def test_frames_hold_what_the_figures_show(found, campaign):
    frames = {figure.name: figure.frame() for figure in figures_of(found)}
    levels = frames["magnitude-3"]
    assert (levels["grades"] == "Sormunen").sum() == 4269
    assert levels[levels["grades"] == "Sormunen"]["level"].notna().sum() == 805
    assert levels[levels["grades"] == "TREC"]["level"].notna().sum() == 3881
    assert frames["magnitude-5"]["check"].sum() == 36
    assert len(frames["magnitude-9"]) == 4269
    assert len(frames["magnitude-8"]) == 12 * 18
    assert frames["magnitude-13"]["n_units"].sum() == 7059
    assert frames["magnitude-10"].groupby("measure").size().to_dict() == {"nDCG@10": 129, "ERR@10": 129}
    said = campaign.judgments
    first = (said.topic == said.topic[0]) & (said.document == said.document[0])
    deviations = frames["magnitude-9"]["deviation"].to_numpy()
    assert np.isclose(deviations, said.value[first].std(ddof=1)).any()


@pytest.mark.nightly
def test_the_figures_come_from_one_call_too():
    told = []
    figures = magnitude_figures(quick=True, rng=1, progress=lambda *step: told.append(step))
    assert len(figures) == 15
    assert told == [("campaign", 0, 1), ("campaign", 1, 1)]


def test_what_needs_no_data_matches_and_the_rest_says_why_not(page):
    by_title = {table.title: table for table in page.tables}
    units = by_title["Table I: units for ten judgments of each document"]
    assert [row[-1] for row in units.rows] == [MATCH] * 19
    assert units.rows[-1][1:4] == ["4269", "7059", "7059"]
    workers = by_title["Table II: workers needed for a mean within E of the true one"]
    assert [row[-1] for row in workers.rows] == [MATCH] * 10
    assert workers.rows[3][1] == workers.rows[3][2] == "2, 7, 15, 27, 42, 60"
    for table in page.tables[3:]:
        for row in table.rows:
            assert row[-1] in (MATCH, NOT_PUBLIC, CONTRADICTS)


def test_the_simulated_crowd_may_contradict_the_paper_but_never_confirms_it(page):
    """It was fitted to most figures; of what it says, the size of the campaign alone needs no crowd."""
    rows = [row for table in page.tables[3:] for row in table.rows]
    assert [row[1] for row in rows if row[-1] == MATCH] == ["judgments, of all units of Table I"]
    contradictions = {row[0] for row in rows if row[-1] == CONTRADICTS}
    assert "Figures 1, 2" in contradictions  # normalised numbers are less log-normal, not more
    by_measure = {
        tuple(row[:2]): row for table in page.tables if table.title.startswith("Figure 12") for row in table.rows
    }
    for row in by_measure.values():
        low, high = map(float, row[5].split(" to "))
        assert (row[-1] == NOT_PUBLIC) == (low <= float(row[3]) <= high)


@pytest.mark.nightly
def test_the_page_is_one_call(found, page, monkeypatch):
    asked, told = [], []

    def kept(data, *, quick, rng):
        asked.append((data, quick, rng))
        return found

    monkeypatch.setattr(claims, "find", kept)
    other = magnitude_page(quick=True, rng=2, progress=lambda *step: told.append(step))
    assert asked == [(None, True, 2)]
    assert [table.title for table in other.tables] == [table.title for table in page.tables]
    assert told[-1] == ("tables", 5, 5)
    assert other.sentence == page.sentence


def test_the_page_shows_every_table_and_every_figure_with_printed_numbers(page):
    titles = " ".join(table.title for table in page.tables)
    for name in ("Table I:", "Table II:", "Table III:", "Table IV:", "Figure 12"):
        assert name in titles
    said = {row[0] for table in page.tables for row in table.rows if table.title.startswith("what the text")}
    assert {"4.1", "9.2", *(f"Figure {i}" for i in (1, 3, 4, 5, 6, 7, 8, 9, 13, 14, 15))} <= said
    assert page.sentence.startswith("Relevance magnitudes, recomputed.")
    assert any("simulated" in note for note in page.notes)
    assert list(page.frame().columns) == ["table", "row", "column", "value", "error", "verdict"]
    assert all(len(row) == len(table.header) for table in page.tables for row in table.rows)


def test_the_campaign_shows_what_the_paper_reports(found):
    """In kind, if not in number: the data is another."""
    for kind in ("TREC", "Sormunen"):
        assert np.nanmax(found.tests[kind].p) < 0.002  # Figure 3
    scores = {pair: np.nanmean(values) for pair, values in found.of_levels.schemes.items()}
    # Figure 8: on this crowd geometric means and extremes are equally good (the first on two of three seeds), and the
    # median is the best way of merging with both
    best = max(scores, key=scores.get)
    assert best[1] == "median"
    assert scores["geometric mean", "median"] > scores[best] - 0.02
    assert scores["geometric mean", "median"] > max(
        scores["median", "median"], scores["geometric mean", "arithmetic mean"]
    )
    assert found.of_levels.gains.linear_error < found.of_levels.gains.exponential_error  # Figure 14
    alpha = krippendorff_alpha(found.campaign.judgments, slots=10).item().value
    assert abs(alpha - 0.323) < 0.03  # section 6.1.1
    assert np.abs(np.array(found.ratios.ratios.median) - [1.00, 1.00, 1.14]).max() < 0.4  # Figure 15
    assert max(found.ratios.ratios.mean) > 20
    digits = ratio_digits(found.campaign.written)
    assert abs(digits.n_within(1) - 3591) < 200  # section 9.2
    assert abs(digits.n_within(2) - 4806) < 400
    assert 10 <= (found.of_levels.dispersion.ratio >= 1e4).sum() <= 30  # Figure 5: 23
    for measure in MEASURES:  # Figures 10 and 11: further apart on merged systems
        assert found.rankings["TREC", "all"][measure].tau > found.rankings["Sormunen", "all"][measure].tau
    for kind in ("TREC", "Sormunen"):  # and by ERR than by nDCG
        assert found.rankings[kind, "all"]["nDCG@10"].tau > found.rankings[kind, "all"]["ERR@10"].tau


def test_a_folder_without_panels_is_refused(tmp_path):
    with pytest.raises(InputError, match="there is no folder dl21 or dl19 in it"):
        magnitude_page(str(tmp_path), quick=True)
    assert crowd_and_gold(None) is crowd_and_gold(str(tmp_path)) is None


@pytest.mark.nightly
def test_the_judges_of_2021_rank_real_systems_much_as_nist_does(dl21):
    panel = next(real_panels(str(dl21.parent)))
    assert panel.name == "dl21"
    found = real_rankings(panel)
    assert found["nDCG@10"].tau == approx(0.927, abs=0.001)
    assert found["ERR@10"].tau == approx(0.836, abs=0.001)
    drawn = sampled_taus(panel.runs, panel.others, panel.nist, 5, rng=1)
    assert drawn["nDCG@10"].max() < found["nDCG@10"].tau  # one judge a document says less than their median
    assert mapping_rankings(panel.runs, panel.nist)["100 C"]["nDCG@10"].tau == 1


@pytest.mark.nightly
def test_the_crowd_of_2010_is_real(rf10):
    crowd, gold = crowd_and_gold(str(rf10.parent))
    assert len(crowd) == 98_453
    assert len(gold) == 3_277
    assert (gold.value >= 0).all()


@pytest.mark.parametrize("n_topics", [20, 5])
def test_figures_by_topic_say_which_topics_they_show_and_which_they_count(n_topics):
    """Of 25 topics 18 were drawn as "by topic", beside a number of cases of all 25."""
    truth = simulate_pool(n_topics, 40, n_grades=4, rng=1)
    data = MagnitudeAnalysis(simulate_magnitudes(truth, 100, rng=1), truth.judgments(), rng=1)
    by_name = {figure.name: figure.caption for figure in figures_of_magnitudes(data)}
    shown = "the first 18 of 20 topics" if n_topics == 20 else "5 topics"
    assert f"of all and of {shown}," in by_name["magnitude-1"]
    assert f", in {shown}. Over all topics, in " in by_name["magnitude-4"]
