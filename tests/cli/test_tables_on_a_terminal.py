"""Tables fit the terminal, or say what they leave out; nothing is left out on a pipe."""

import pytest

from qrowd.cli import show
from qrowd.reports.table import Table

PANEL = ("--runs", "panel/runs", "--judgments", "panel/judges")
WIDE = Table(
    "t", ["system", "mean", "a long name of a column", "p"], [["x" * 30, "0.5", "1", "<.001"], ["y", "0.4", "2", "-"]]
)


@pytest.fixture
def terminal(monkeypatch):
    """A terminal of so many letters a line."""

    def open_one(width):
        monkeypatch.setattr(show, "line_width", lambda: width)

    return open_one


def test_columns_that_do_not_fit_are_named(terminal, capsys):
    terminal(60)
    show.show_table(WIDE)
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].split() == ["system", "mean", "p"]
    assert max(map(len, lines[:4])) <= 60
    assert lines[4] == (
        "not shown for want of room: a long name of a column; a wider terminal, a pipe or -o FILE shows all"
    )


def test_a_table_that_fits_is_whole(terminal, capsys):
    terminal(80)
    show.show_table(WIDE)
    assert "not shown" not in capsys.readouterr().out


def test_names_longer_than_half_a_line_are_shortened_and_stay_different():
    names = [f"colbert_rankgpt4o_msmarco_v2_passage_{k}_2020-judged" for k in range(9)]
    table, left_out = Table("t", ["system", "mean"], [[name, "0.1234"] for name in names]).fitted(50)
    assert left_out == []
    assert max(map(len, table.lines())) <= 50
    assert len({row[0] for row in table.rows}) == len(names)


@pytest.mark.parametrize("command", ["evaluate", "compare"])
def test_a_pipe_gets_every_column_and_a_terminal_what_fits(qrowd, folder, terminal, command):
    whole = qrowd(command, *PANEL, "-m", "AP").out
    terminal(60)
    narrow = qrowd(command, *PANEL, "-m", "AP").out
    assert "not shown" not in whole
    assert "not shown for want of room: " in narrow
    assert all(len(line) <= 60 for line in narrow.splitlines() if line.startswith(("rerank", "ann ")))


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
    assert "_2020" not in outcome.out
    assert "AP, compared with bm25" in outcome.out
    assert "my_bm25_2020" in (folder.parent / "x.csv").read_text()


@pytest.mark.parametrize("command", ["plan", "aware"])
def test_other_commands_that_name_systems_print_short_names_too(qrowd, folder, command):
    for run in (folder / "runs").iterdir():
        run.rename(run.with_name(f"my_{run.stem}_2020.run"))
    options = ("-m", "AP") if command == "plan" else ("-m", "AP", "--n-resamples", 5, "--top", 2)
    outcome = qrowd(command, *PANEL, *options, "--short-names")
    assert outcome.status == 0, outcome.err
    assert "_2020" not in outcome.out
    assert "rerank" in outcome.out


@pytest.mark.parametrize("name", ["evaluate", "compare", "plan", "aware", "plot", "prefer evaluate"])
def test_every_command_that_prints_systems_of_runs_has_short_names(qrowd, name):
    assert "--short-names" in qrowd(*name.split(), "--help").out


def test_a_note_of_long_names_says_how_they_become_short(qrowd, folder):
    assert "--short-names" not in qrowd("evaluate", *PANEL, "-m", "AP").out
    for run in (folder / "runs").iterdir():
        run.rename(run.with_name(f"{run.stem}_msmarco-passage-trec-dl-2019-judged.run"))
    long = "rerank-large_msmarco-passage-trec-dl-2019-judged"
    assert f"names: --short-names prints rerank-large for {long}\n" in qrowd("evaluate", *PANEL, "-m", "AP").out
    outcome = qrowd("evaluate", *PANEL, "-m", "AP", "--short-names")
    assert outcome.status == 0
    assert "msmarco" not in outcome.out
    assert "names: " not in outcome.out


def test_topics_stay_out_of_a_pipe_that_holds_a_file(qrowd, folder):
    assert "by topic" not in qrowd("evaluate", *PANEL, "-m", "AP", "--per-topic", "-o", "-").out
