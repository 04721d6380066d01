"""Tables fit the terminal; nothing is left out."""

import pytest

from qrowd.cli import output
from qrowd.reports.table import Table

pytestmark = pytest.mark.usefixtures("coarse")

PANEL = ("--runs", "panel/runs", "--judgments", "panel/judges")
WIDE = Table(
    "t", ["system", "mean", "a long name of a column", "p"], [["x" * 30, "0.5", "1", "<.001"], ["y", "0.4", "2", "-"]]
)


@pytest.fixture(scope="module")
def simulated(eight_topics):
    return eight_topics


@pytest.fixture
def terminal(monkeypatch):
    """A terminal of so many letters a line."""

    def open_one(width):
        monkeypatch.setattr(output, "line_width", lambda: width)

    return open_one


def test_cells_of_a_table_that_is_too_wide_are_folded(terminal, capsys):
    terminal(40)
    output.show_table(WIDE)
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 40
    words = " ".join(" ".join(lines).split())
    assert all(name in words for name in ("mean", "<.001", "0.4"))
    assert words.count("x") == 30


def test_a_table_that_fits_is_written_as_on_a_pipe(terminal, capsys):
    terminal(80)
    output.show_table(WIDE)
    assert capsys.readouterr().out == "\n".join(["t", *WIDE.lines()]) + "\n\n"


@pytest.mark.parametrize("command", ["evaluate", "compare"])
def test_the_first_systems_are_shown_and_the_rest_is_counted(qrowd, folder, command):
    whole = qrowd(command, *PANEL, "-m", "AP", "--seed", 1).out
    lines = qrowd(command, *PANEL, "-m", "AP", "--seed", 1, "--top", 3, "-o", "x.csv").out.splitlines()
    header = next(i for i, line in enumerate(lines) if line.startswith("system "))
    assert lines[header - 1].endswith(" (the first 3 of 12 systems)")
    assert lines[header + 4] == ""
    assert lines[header + 1].split()[0] in whole
    assert len((folder.parent / "x.csv").read_text().splitlines()) > 3


def test_short_names_are_shown_and_files_keep_the_full_ones(qrowd, folder):
    for run in (folder / "runs").iterdir():
        run.rename(run.with_name(f"my_{run.stem}_2020.run"))
    plain = qrowd("evaluate", *PANEL, "-m", "AP", "--baseline", "my_bm25_2020").out
    outcome = qrowd("evaluate", *PANEL, "-m", "AP", "--baseline", "my_bm25_2020", "--short-names", "-o", "x.csv")
    assert "my_bm25_2020" in plain
    *shown, signature = outcome.out.splitlines()
    assert "_2020" not in "".join(shown)
    assert "baseline my_bm25_2020" in signature
    assert "AP, compared with bm25" in outcome.out
    assert "my_bm25_2020" in (folder.parent / "x.csv").read_text()


def test_a_table_for_a_paper_has_short_names_and_the_signature_the_full_ones(qrowd, folder):
    for run in (folder / "runs").iterdir():
        run.rename(run.with_name(f"my_{run.stem}_2020.run"))
    arguments = ("table", *PANEL, "-m", "AP", "--baseline", "my_bm25_2020", "-o")
    full = qrowd(*arguments, "full.tex").out
    outcome = qrowd(*arguments, "short.tex", "--short-names")
    assert outcome.status == 0, outcome.err
    *shown, signature = outcome.out.splitlines()
    assert "_2020" not in "".join(shown)
    assert signature == full.splitlines()[-1]
    assert "baseline my_bm25_2020" in signature
    rows = [line for line in (folder.parent / "short.tex").read_text().splitlines() if not line.startswith("%")]
    assert "2020" not in "".join(rows)
    assert "2020" in (folder.parent / "full.tex").read_text().split("toprule")[1]


@pytest.mark.parametrize("command", ["plan", "aware"])
def test_other_commands_that_name_systems_print_short_names_too(qrowd, folder, command):
    for run in (folder / "runs").iterdir():
        run.rename(run.with_name(f"my_{run.stem}_2020.run"))
    options = ("-m", "AP") if command == "plan" else ("-m", "AP", "--n-resamples", 5, "--top", 2)
    outcome = qrowd(command, *PANEL, *options, "--short-names")
    assert outcome.status == 0, outcome.err
    assert "_2020" not in outcome.out
    assert "rerank" in outcome.out


@pytest.mark.parametrize("name", ["evaluate", "compare", "table", "report", "plan", "aware", "plot"])
def test_every_command_that_prints_systems_of_runs_has_short_names(qrowd, name):
    assert "--short-names" in qrowd(*name.split(), "--help").out
