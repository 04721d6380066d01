"""What commands write: a file that standard error names, or standard output."""

import json

import pytest

pytestmark = pytest.mark.usefixtures("coarse")

PANEL = ("--runs", "panel/runs", "--judgments", "panel/judges")


@pytest.fixture(scope="module")
def simulated(eight_topics):
    return eight_topics


def test_a_file_is_named_on_standard_error_also_where_it_replaces_one(qrowd, folder):
    first = qrowd("evaluate", *PANEL, "-m", "AP", "-o", "scores.csv")
    again = qrowd("evaluate", *PANEL, "-m", "AP", "-o", "scores.csv")
    assert first.out == again.out != ""
    assert (first.err, again.err) == ("wrote scores.csv\n", "replaced scores.csv\n")


@pytest.mark.parametrize(
    ("arguments", "start"),
    [
        (("evaluate", *PANEL, "-m", "AP", "-o", "-"), "measure,assessor,topic,system,score\n"),
        (("agree", "--judgments", "panel/judges", "-o", "-.md"), "Krippendorff's alpha"),
        (("agree", "--judgments", "panel/judges", "-o", "-.html"), "<!doctype html>"),
        (("plot", "assessors", "--judgments", "panel/judges", "-o", "-"), "<?xml"),
        (("plot", "assessors", "--judgments", "panel/judges", "-o", "-.csv"), "assessor,"),
    ],
)
def test_standard_output_holds_the_file_and_nothing_else(qrowd, folder, tmp_path, arguments, start):
    outcome = qrowd(*arguments)
    assert outcome.status == 0
    assert outcome.out.startswith(start)
    ending = arguments[-1].removeprefix("-") or (".svg" if arguments[0] == "plot" else ".csv")
    qrowd(*arguments[:-1], f"x{ending}")
    assert (tmp_path / f"x{ending}").read_text(encoding="utf-8") == outcome.out


def test_json_on_standard_output_can_be_read_by_the_next_program(qrowd, folder):
    assert json.loads(qrowd("demo", "-o", "-.json").out)["sentence"].startswith("By nDCG@10, ")


def test_an_ending_that_stands_for_no_format_is_refused_also_for_standard_output(qrowd, folder):
    outcome = qrowd("evaluate", *PANEL, "-o", "-.docx")
    assert outcome.status == 2
    assert outcome.err.startswith("qrowd: output -.docx: the ending must be one of .csv, .parquet, .xlsx")


def test_judgments_and_exports_are_named_too(qrowd, folder):
    outcome = qrowd("aggregate", "--judgments", "panel/judges", "--method", "median", "--qrels", "m.qrels")
    assert outcome.err == "wrote m.qrels\n"
