"""The predicted relevance page: every table, what is printed beside ours, and the panels it runs on."""

import json

import numpy as np
import pytest

from qrowd.errors import InputError
from qrowd.predicted_relevance import predicted_relevance
from qrowd.reports.document import render
from qrowd_papers.predicted_relevance.cases import load
from qrowd_papers.predicted_relevance.claims import predicted_relevance_page

TABLES = (
    "Table 1", "Table 2", "Table 2, errors", "Table 3", "Table 4", "Table 4, mixture",
    "Table 5, simulated pages", "Table 5, section 7.1", "Table 6", "Table 7",
    "Tables 6 and 7, ties", "Findings",
)  # fmt: skip
VERDICTS = ("match", "differs: ", "not reachable: the data is not public", "ours", "above 0 on ")


@pytest.fixture(scope="module")
def told():
    return []


@pytest.fixture(scope="module")
def quick(told):
    return predicted_relevance_page(quick=True, rng=1, progress=lambda *step: told.append(step))


@pytest.fixture(scope="module")
def numbers(quick):
    return quick.frame().set_index(["table", "row", "column"])


def test_every_table_of_the_paper_is_there(quick):
    assert tuple(table.title.split(":")[0] for table in quick.tables) == TABLES
    for table in quick.tables:
        assert table.header[-1] == "verdict"
        for row in table.rows:
            assert len(row) == len(table.header)
            assert row[-1].startswith(VERDICTS)


def test_what_can_be_checked_matches_but_for_two_numbers(quick):
    checked = [row for table in quick.tables for row in table.rows if row[-1].startswith("differs")]
    assert [row[0] for row in checked] == [
        "pages (4), p(Key|Key)",
        "share of systems with no larger error of the expected, any",
    ]
    assert "33 of 35 checks match" in quick.sentence
    assert "Table 1 alone can be had again in full, and it matches" in quick.sentence


def test_printed_and_recomputed_numbers_stand_side_by_side(quick, numbers):
    assert quick.tables[1].rows[0][:2] == ["printed, pages (5)", "0.53 ± 0.02"]
    assert quick.tables[1].rows[1][4] == "-"
    assert numbers.loc[("Table 2", "printed, pages (5)", "Key"), "value"] == 0.53
    assert numbers.loc[("Table 2", "printed, pages (5)", "Key"), "error"] == 0.02
    assert numbers.loc[("Table 1", "p(2|1)", "ours (5)"), "value"] == pytest.approx(5 / 17)
    assert np.isnan(numbers.loc[("Table 3", "printed, from Rel", "Non"), "error"])


def test_our_numbers_are_those_of_the_rooms(numbers):
    case = load(None, True, 1)["pages"]
    model = predicted_relevance(case.doubles, rel=2, n_resamples=0)
    for grade, name in enumerate(("Non", "Rel", "HRel", "Key")):
        ours = numbers.loc[("Table 3", "simulated pages, from 2", name), "value"]
        assert ours == pytest.approx(model.probability[grade])
    assert numbers.loc[("Table 7", "simulated pages, top", "with binary"), "value"] <= 1


def test_the_page_goes_into_every_kind_of_file(quick):
    page = render(quick, "page.md").decode()
    assert "not reachable: the data is not public" in page
    assert "Infinity" not in render(quick, "page.json").decode()
    assert len(json.loads(render(quick, "page.json"))["rows"]) == len(quick.frame())


def test_progress_names_the_panels(quick, told):
    assert told == [("simulated pages", 1, 2), ("simulated snippets", 2, 2)]


def test_a_folder_without_the_data_is_named(tmp_path):
    with pytest.raises(InputError, match="dl19: there is no such folder"):
        predicted_relevance_page(str(tmp_path), quick=True)
