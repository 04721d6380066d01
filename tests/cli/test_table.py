"""`qrowd table`: what the library makes, on the terminal and in files."""

import qrowd as library
from qrowd.reports.paper_table import paper_table

PANEL = ("--runs", "panel/runs", "--judgments", "panel/judges")
SAMPLING = ("--n-resamples", 200, "--seed", 3)


def test_the_command_writes_the_table_of_the_library(qrowd, folder, tmp_path):
    files = [*SAMPLING, "--baseline", "bm25", "-o", "t.tex"]
    outcome = qrowd("table", *PANEL, "-m", "AP", "RR", *files)
    assert outcome.status == 0, outcome.err
    assert outcome.err == "wrote t.tex\n"
    runs, judgments = library.read_runs(folder / "runs"), library.read_judgments(folder / "judges")
    paper = paper_table(library.evaluate(runs, judgments, ["AP", "RR"]), baseline="bm25", n_resamples=200, rng=3)
    assert (tmp_path / "t.tex").read_text() == paper.to_latex(label="tab:t")
    assert outcome.out.startswith(f"{paper.sentence}\n\n{paper.table.title}\n")


def test_assessors_are_columns_of_one_measure(qrowd, folder):
    arguments = [
        "--per-assessor",
        "--marks",
        "pairs",
        "--top",
        "3",
    ]
    outcome = qrowd("table", *PANEL, *arguments, "-o", "-.md")
    assert outcome.status == 0, outcome.err
    lines = outcome.out.splitlines()
    assert lines[0].startswith("**Mean nDCG@10 of 3 of 12 systems by assessor (")
    assert lines[2].startswith("| # | system | ann | bob |")
    assert lines[2].endswith("| panel mean |")
    assert lines[4].startswith("| a | rerank-large | ")


def test_what_does_not_fit_is_named_by_its_option(qrowd, folder):
    outcome = qrowd("table", *PANEL, "--marks", "baseline")
    assert outcome.status == 2
    assert outcome.err.startswith("qrowd: --marks baseline: it needs a baseline, the system")


def test_judgments_and_runs_may_stand_without_options(qrowd, folder):
    files = ("panel/judges/ann.qrels", *sorted((folder / "runs").iterdir()))
    outcome = qrowd("table", *files, "-m", "AP")
    assert outcome.status == 0, outcome.err
    assert "Mean AP of 12 systems (25 topics, 1 assessor)" in outcome.out


def test_the_label_is_that_of_the_file_and_without_a_file_that_of_systems(qrowd, folder, tmp_path):
    few = ("-m", "AP", "--top", 2)
    assert qrowd("table", *PANEL, *few, "-o", "table_judges.tex").status == 0
    assert r"\label{tab:table_judges}" in (tmp_path / "table_judges.tex").read_text()
    assert r"\label{tab:systems}" in qrowd("table", *PANEL, *few, "-o", "-.tex").out


def test_a_table_of_assessors_of_two_measures_is_refused_by_the_names_of_options(qrowd, folder):
    outcome = qrowd("table", *PANEL, "--per-assessor", "-m", "nDCG@10", "AP")
    assert outcome.status == 2
    assert outcome.err.startswith("qrowd: --per-assessor: one measure fits, not 2; make a table of each")


def test_the_signature_counts_all_systems_that_were_tested_also_where_few_are_shown(qrowd, folder):
    lines = [qrowd("table", *PANEL, *SAMPLING, "-m", "AP", *top).out.splitlines()[-1] for top in ((), ("--top", 3))]
    assert lines[0] == lines[1]
    assert " | runs 12 | " in lines[0]


def test_an_option_without_a_value_stands_alone_in_the_signature(qrowd, folder):
    last = qrowd("table", *PANEL, *SAMPLING, "--per-assessor", "-m", "AP").out.splitlines()[-1]
    assert "per-assessor" in last.split(" | ")


def test_a_caution_names_assessors_of_whom_no_grade_is_relevant(qrowd, folder):
    words = (*PANEL, "-m", "AP(rel=2)", "--top", 2)
    caution = (
        " is relevant by AP(rel=2), so that theirs is 0 and lowers means over assessors; --exclude leaves them out."
    )
    for command in ("table", "evaluate"):
        assert caution in qrowd(command, *words).out
    assert "Caution: no grade of " in qrowd("table", *words).out
    for name in ("systems", "ranks"):
        assert caution in qrowd("plot", name, *words, "-o", f"{name}.csv").out
