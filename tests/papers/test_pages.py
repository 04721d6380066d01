"""The pages of docs/papers: short, and every number of their tables stands in the CSV files beside them."""

import csv
import re
from inspect import signature
from pathlib import Path

import pytest
from typer.testing import CliRunner

from qrowd.cli.main import app
from qrowd.reports.document import Document, Table
from qrowd_papers import papers
from qrowd_papers.aware.claims import aware_page
from qrowd_papers.tables import file_name, write_tables

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = sorted((DOCS / "papers").glob("*.md"))
FIVE = ("magnitude", "agreement", "predicted_relevance", "aware", "preferences")


def tables_of(page, *, of_commands=False):
    """The rows of the page's tables of results, or of those whose last column is "command"; without headers."""
    for block in re.findall(r"(?:^\|.*\n)+", page, re.MULTILINE):
        header, _, *rows = [
            [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in block.splitlines()
        ]
        if (header[-1] == "command") == of_commands:
            yield from rows


def rows_beside(path):
    """The cells of every row of the CSV files of a page."""
    for file in sorted(path.with_suffix("").glob("*.csv")):
        with file.open(newline="", encoding="utf-8") as opened:
            yield from csv.reader(opened)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_every_number_of_a_table_stands_in_the_files_beside_the_page(path):
    cells = {cell for row in rows_beside(path) for cell in row}
    for row in tables_of(path.read_text(encoding="utf-8")):
        for cell in row[1:]:
            if re.search(r"\d", cell):
                assert cell.replace("\\|", "|") in cells, (path.name, row, cell)


@pytest.mark.parametrize("name", FIVE)
def test_the_commands_for_each_section_of_a_paper_exist_with_their_options(name):
    """docs/cli.md is generated from the commands of the core, and tests hold it."""
    sections = re.split(r"^## ", (DOCS / "cli.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    of_command = {section.splitlines()[0].strip(): section for section in sections[1:]}
    rows = list(tables_of((DOCS / "papers" / f"{name}.md").read_text(encoding="utf-8"), of_commands=True))
    assert len(rows) >= 6
    section = ""  # of the command named last: a row of options alone goes on with it
    for _, cell in rows:
        for text in re.findall(r"`([^`]+)`", cell):
            words = text.split()
            if words[0] == "qrowd":
                section = of_command[max((c for c in of_command if text.startswith(c)), key=len)]
            for option in (word for word in words if word.startswith("--")):
                assert f"{option}`" in section + of_command["Shared options"], (cell, option)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_a_page_links_each_of_its_files_and_is_short(path):
    page = path.read_text(encoding="utf-8")
    files = {f"{path.stem}/{file.name}" for file in path.with_suffix("").glob("*.csv")}
    assert files
    assert set(re.findall(r"\]\(([^)]+\.csv)\)", page)) == files
    assert len(page.split()) <= 650


def test_tables_of_the_same_columns_share_a_file_that_says_which_is_which(tmp_path):
    one, two = (Table(f"{panel}: AP; tuples of 3", ["method", "tau"], [["mv", tau]]) for panel, tau in
                (("dl19", "0.7"), ("dl21", "0.8")))  # fmt: skip
    other = Table("Figure 5(a): how many", ["n"], [["1, 2"]])
    assert write_tables([one, other, two], tmp_path) == ["ap-tuples-of-3.csv", "figure-5-a-how-many.csv"]
    assert (tmp_path / "ap-tuples-of-3.csv").read_text() == (
        "table,method,tau\ndl19: AP; tuples of 3,mv,0.7\ndl21: AP; tuples of 3,mv,0.8\n"
    )
    assert (tmp_path / "figure-5-a-how-many.csv").read_text() == 'n\n"1, 2"\n'
    assert file_name(["A: one two three", "A: one two four"]) == "a-one-two"


def test_the_command_writes_the_tables_of_a_study_beside_its_page(tmp_path, monkeypatch):
    document = Document("One sentence.", (Table("AP", ["method", "tau"], [["mv", "0.7"]]),), (), lambda: None)
    monkeypatch.setattr(papers, "page", lambda *args, **options: document)
    outcome = CliRunner().invoke(app, ["study", "recompute", "coverage", "--tables", str(tmp_path)])
    assert f"1 files of tables in {tmp_path}" in outcome.output
    assert (tmp_path / "ap.csv").read_text() == "method,tau\nmv,0.7\n"


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_a_file_has_the_name_that_the_command_gives_to_its_tables(path):
    for file in path.with_suffix("").glob("*.csv"):
        with file.open(newline="", encoding="utf-8") as opened:
            header, *rows = csv.reader(opened)
        titles = list(dict.fromkeys(row[0] for row in rows))
        if header[0] == "table" and not titles[0].isdigit():
            assert file_name(titles) == file.stem


def test_the_command_of_the_study_of_aware_draws_as_many_tuples_as_its_page_says():
    n = signature(aware_page).parameters["n_tuples"].default
    assert f"At most {n} tuples of each size" in (DOCS / "papers" / "aware.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", FIVE)
def test_a_page_of_a_paper_says_what_is_simulated_and_who_the_assessors_are(name):
    page = " ".join((DOCS / "papers" / f"{name}.md").read_text(encoding="utf-8").split())
    assert "simulated" in page.lower()
    if "dl21" in page and name != "preferences":
        assert "language model" in page
    assert "misprint" not in page
