"""Every document that a command writes as .tex compiles as it stands and fits the line."""

import pytest

from reports.test_latex import LONG, compile_latex, complaints

JUDGES = ("--judgments", "panel/judges")
PANEL = ("--runs", "panel/runs", *JUDGES, "-m", "AP")
FEW = ("--n-resamples", 20)
COMMANDS = (
    ("evaluate", *PANEL, "--baseline", LONG[0]),
    ("evaluate", *PANEL, "--method", "uniform", "mean"),
    ("compare", *PANEL, "--systems", LONG[0], LONG[1], *FEW),
    ("report", *PANEL, "--random-assessors", 2, *FEW),
    ("table", *PANEL, "--per-assessor", *FEW),
    ("plan", *PANEL, "--budget", 900, "--topic-cost", 5),
    ("aware", *PANEL, "--n-resamples", 3),
    ("agree", *JUDGES, *FEW),
    ("assessors", *JUDGES, "--gold", "panel/gold.qrels"),
    ("aggregate", *JUDGES, "--method", "median"),
    ("predict", "--runs", "panel/runs", "--judgments", "panel/judges/*ann*", "panel/judges/*bob*", "--rel", 1),
    ("magnitude", "--judgments", "panel/magnitudes.csv", "--gold", "panel/gold.qrels"),
    ("evaluate", "--runs", "panel/runs", "--preferences", "panel/preferences.csv"),
    ("prefer", "agree", "--preferences", "panel/preferences.csv"),
)


@pytest.fixture(scope="module")
def simulated(eight_topics):
    return eight_topics


@pytest.mark.nightly
@pytest.mark.slow
def test_what_commands_write_as_latex_compiles_in_one_column_and_in_two(qrowd, folder, tmp_path):
    for run, name in zip(sorted((folder / "runs").iterdir()), LONG, strict=True):
        run.rename(run.with_name(f"{name}.run"))
    for judge in sorted((folder / "judges").iterdir()):
        judge.rename(judge.with_name(f"umbrela_{judge.stem}_graded-prompt_with_a_long_name_2021{judge.suffix}"))
    tables = []
    for number, words in enumerate(COMMANDS):
        outcome = qrowd(*words, "-o", f"{number}.tex")
        assert outcome.status == 0, (words, outcome.err)
        tables.append((tmp_path / f"{number}.tex").read_text().replace("tab:", f"tab:{number}-"))
    for two_columns in (False, True):
        assert complaints(compile_latex(tmp_path, tables, two_columns=two_columns)) == []
