"""Scores as files: nothing lost on the way out."""

import json
from io import BytesIO

import numpy as np
import pandas as pd
import pytest

import qrowd
from qrowd.errors import ArgumentError
from qrowd.reports.document import Document, Table, render
from qrowd.reports.evaluation import ASSESSORS_SHOWN, summarise
from qrowd.simulation import Lenient, simulate_demo, simulate_judgments, simulate_pool, simulate_runs

RUNS, JUDGMENTS, _ = simulate_demo()
SCORES = qrowd.evaluate(RUNS, JUDGMENTS, ["nDCG@10", "RR"], conventions=qrowd.Conventions(empty="nan"))
SUMMARY = summarise(SCORES, baseline="bm25")
DOCUMENT = SUMMARY.to_document()


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_tables_carry_every_score_as_a_full_double(ending):
    content = BytesIO(render(DOCUMENT, f"x.{ending}"))
    frame = pd.read_csv(content) if ending == "csv" else pd.read_parquet(content)
    index = ["measure", "assessor", "topic", "system"]
    back = frame.set_index(index)["score"].reindex(pd.MultiIndex.from_product(
        [SCORES.measures, SCORES.assessors, SCORES.topics, SCORES.systems], names=index
    ))  # fmt: skip
    assert np.array_equal(back.to_numpy().reshape(SCORES.values.shape), SCORES.values, equal_nan=True)


def test_a_workbook_has_a_sheet_of_rows_and_one_of_notes():
    document = Document("first.", (), ("ties: id",), lambda: pd.DataFrame({"system": ["a"], "AP": [0.123456789012345]}))
    sheets = pd.read_excel(BytesIO(render(document, "x.XLSX")), sheet_name=None)
    assert sheets["rows"].to_dict("records") == [{"system": "a", "AP": 0.123456789012345}]
    assert [*sheets["notes"].columns, *sheets["notes"].iloc[:, 0]] == ["first.", "ties: id"]


def test_json_carries_every_score_the_labels_and_the_summary():
    content = json.loads(render(DOCUMENT, "x.json"))
    back = np.array(content["scores"], dtype=float)
    assert np.array_equal(back, SCORES.values, equal_nan=True)
    assert tuple(content["system"]) == SCORES.systems
    assert content["sentence"] == SUMMARY.sentence
    assert content["conventions"]["empty"] == "nan"
    assert next(row["rank"] for row in content["systems"] if row["measure"] == "RR") == 1


@pytest.mark.parametrize("ending", ["txt", "md", "tex", "html"])
def test_the_tables_hold_every_system_and_assessor(ending):
    text = render(DOCUMENT, f"x.{ending}").decode()
    for label in (*SCORES.systems, *SCORES.assessors):
        assert label in text


def test_latex_escapes_what_latex_would_take_for_a_command():
    runs = qrowd.Runs.from_dict({"a_b&50%": {"q": {"d": 1}}})
    scores = qrowd.evaluate(runs, qrowd.Judgments.from_rows([("q", "d", "x", 1)]), "AP")
    assert r"a\_b\&50\%" in render(summarise(scores).to_document(), "x.tex").decode()


def test_markdown_escapes_the_bar():
    runs = qrowd.Runs.from_dict({"a|b": {"q": {"d": 1}}})
    scores = qrowd.evaluate(runs, qrowd.Judgments.from_rows([("q", "d", "x", 1)]), "AP")
    assert r"a\|b" in render(summarise(scores).to_document(), "x.md").decode()


def test_a_title_heads_a_page_and_no_title_leaves_no_empty_heading():
    document = Document("first.", (), (), lambda: pd.DataFrame(), title="A > B")
    assert render(document, "x.md").decode().startswith("# A > B\n\nfirst.")
    page = render(document, "x.html").decode()
    assert "<title>A &gt; B</title>" in page
    assert "<h1>A &gt; B</h1>\n<p>first.</p>" in page
    assert "<h1>" not in render(DOCUMENT, "x.html").decode()
    assert "<title>qrowd</title>" in render(DOCUMENT, "x.html").decode()


def test_another_ending_is_refused_with_those_there_are():
    with pytest.raises(ArgumentError, match=r"\.csv, \.parquet, \.xlsx, \.json, \.txt, \.md, \.tex, \.html"):
        render(DOCUMENT, "x.docx")


def test_of_a_crowd_the_table_shows_the_first():
    truth = simulate_pool(4, 12, rng=1)
    crowd = {f"w{i}": Lenient(noise=i / 10) for i in range(ASSESSORS_SHOWN + 5)}
    runs = simulate_runs(truth, 5, rng=1)
    scores = qrowd.evaluate(runs, simulate_judgments(truth, crowd, rng=1), "nDCG@10")
    summary = summarise(scores)
    table = summary.to_document().tables[-1]
    assert f"the first {ASSESSORS_SHOWN} of {len(crowd)}" in table.title
    first = summary.measures[0].agreement[:ASSESSORS_SHOWN]
    assert [float(row[1]) for row in table.rows] == pytest.approx(first, abs=5e-4)


MARKED = Table(
    "AP", ["system", "AP"], [["a<b", "0.5"], ["c|d", "0.25"]], frozenset({(0, 1)}), {(0, 1): "†"}, "†: better than c|d"
)


@pytest.mark.parametrize(
    ("ending", "lines"),
    [
        ("txt", ["system     AP", "a<b     *0.5†", "c|d     0.25", "†: better than c|d"]),
        ("md", ["| a<b | **0.5**<sup>†</sup> |", r"| c\|d | 0.25 |", "†: better than c|d"]),
        (
            "html",
            [
                "<strong>0.5</strong><sup>†</sup></td>",
                "<p>†: better than c|d</p>",
                '<th scope="row" align="left">a&lt;b',
            ],
        ),
        ("tex", [r"a$<$b & \textbf{0.5} & \textsuperscript{$\dagger$} \\", r"c$|$d & 0.25 &  \\"]),
    ],
)
def test_what_is_best_and_significant_is_marked_in_every_format(ending, lines):
    text = render(Document("first.", (MARKED,), (), dict), f"x.{ending}").decode()
    for line in lines:
        assert line in text
