"""The first minute: what the command says without arguments, and what it says about words and commands."""

import gzip
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from typer.main import get_command

from qrowd.cli.commands import loaded
from qrowd.cli.contents import GROUPS
from qrowd.cli.folder import first_steps, kind_of, kind_of_line
from qrowd.cli.help import glossary, glossary_text
from qrowd.cli.main import app

TABLES = Path(__file__).parents[2] / "docs" / "glossary.md"


def commands_in(text):
    return [line.strip() for line in text.splitlines() if line.startswith("  qrowd ")]


def test_every_command_that_is_offered_for_the_files_of_a_folder_runs(qrowd, folder):
    offered = commands_in(qrowd().out)
    names = [" ".join(shlex.split(one)[1:3]) for one in offered]
    assert [name.split()[0] for name in names] == [
        "evaluate", "compare", "report", "prefer", "agree", "assessors", "check",
    ]  # fmt: skip
    for one in offered:
        if shlex.split(one)[1] in ("evaluate", "assessors", "check"):
            assert qrowd(*shlex.split(one)[1:]).status == 0


def test_help_without_words_says_the_same_as_no_words_at_all(qrowd, folder):
    assert qrowd("help").out == qrowd().out


def test_an_empty_folder_is_told_how_to_get_data(qrowd):
    outcome = qrowd()
    assert outcome.status == 0
    assert commands_in(outcome.out) == ["qrowd demo", "qrowd simulate panel", "qrowd serve --demo"]


def test_every_command_is_named(qrowd):
    out = qrowd("help").out
    assert set(get_command(app).commands) <= set(out.replace(",", " ").split())


def test_judgments_alone_are_offered_to_agreement(qrowd, folder, tmp_path):
    (folder / "judges").rename(tmp_path / "labels")
    sentence, commands = first_steps(tmp_path / "labels")
    assert sentence.startswith("This folder holds 8 judgment files")
    assert [command.split()[1] for command, _ in commands] == ["agree", "assessors", "check"]
    assert commands[0][0] == "qrowd agree --judgments '*.qrels'"


def test_judgments_of_every_folder_are_offered_together(tmp_path):
    (tmp_path / "llm").mkdir()
    for name in ("llm/a.qrels", "llm/b.qrels", "humans.qrels", "gold.qrels"):
        (tmp_path / name).write_text("q1 0 d1 1\n")
    _, commands = first_steps(tmp_path)
    assert commands[0][0] == "qrowd agree --judgments humans.qrels llm"


def test_one_run_is_not_offered_to_a_comparison(tmp_path):
    (tmp_path / "my run.txt").write_text("q1 Q0 d1 1 2.5 s\n")
    (tmp_path / "a.qrels").write_text("q1 0 d1 1\n")
    sentence, commands = first_steps(tmp_path)
    assert sentence == ("This folder holds 1 run file (such as my run.txt) and 1 judgment file (such as a.qrels).")
    assert commands[0][0] == "qrowd evaluate --runs 'my run.txt' --judgments a.qrels"
    assert not any("compare" in command for command, _ in commands)


def test_one_table_may_hold_several_systems_to_compare(tmp_path):
    (tmp_path / "rankings.csv").write_text("Ranker,Search Query,Product ID,Position\nbm25,red shoes,SKU 1,1\n")
    (tmp_path / "labels.csv").write_text("Search Query,Product ID,Annotator,Label\nred shoes,SKU 1,ann,Exact\n")
    sentence, commands = first_steps(tmp_path)
    assert sentence.startswith("This folder holds 1 run file (such as rankings.csv) and 1 judgment file")
    assert commands[1][0] == "qrowd compare --runs rankings.csv --judgments labels.csv"


def test_files_of_campaigns_are_offered_to_campaigns(tmp_path):
    (tmp_path / "kitchen").mkdir()
    (tmp_path / "kitchen" / "campaign.toml").write_text("")
    (tmp_path / "judgments.db").write_bytes(b"SQLite format 3\0")
    assert [command for command, _ in first_steps(tmp_path)[1]] == [
        "qrowd campaign create kitchen --check",
        "qrowd campaign list --database judgments.db",
    ]


def test_files_of_installed_programs_are_no_data(tmp_path):
    for name in ("v/pyvenv.cfg", "v/data/a.qrels", ".hidden/a.qrels", "node_modules/a.qrels", "setup.cfg", "x.toml"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("q1 0 d1 1\n" if name.endswith("qrels") else "home = /usr\n")
    assert first_steps(tmp_path)[0] == "This folder holds no runs and no judgments."


def test_an_archive_is_named_with_the_command_that_imports_it(qrowd, tmp_path):
    (tmp_path / "pilot.archive").write_text('{"format":"qrowd campaign"}\n')
    assert first_steps(tmp_path) == (
        "This folder holds an archive of a campaign (pilot.archive).",
        [("qrowd campaign import pilot.archive", "the campaign of the archive in a database again")],
    )
    outcome = qrowd("check", "pilot.archive")
    assert outcome.status == 2
    assert (
        "pilot.archive: is an archive of a campaign; qrowd campaign import pilot.archive" in outcome.out + outcome.err
    )


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("q1 Q0 d1 1 12.5 bm25", "runs"),
        ("q1\tQ0\td1\t1\t12.5\tbm25", "runs"),
        ("Query ID;Doc;Ranker;Rank", "runs"),
        ("Ranker,Search Query,Product ID,Position", "runs"),
        ("my system,the query,some product", None),
        ("q1 0 d1 2", "judgments"),
        ("Query,Doc ID,Annotator,Label", "judgments"),
        ('{"topic": "1", "document": "d", "relevance": 1}', "judgments"),
        ("topic,preferred,other", "preferences"),
        ("q1 d1 d2", "preferences"),
        ("q1\td1\td2", "preferences"),
        ("q1\tgreen tea", None),
        ("This is a sentence", None),
        ("and here are just six words", None),
        ("", None),
    ],
)
def test_the_first_line_says_what_a_file_is(line, kind):
    assert kind_of_line(line) == kind


def test_compressed_files_are_seen_through_and_others_are_left_alone(tmp_path):
    (tmp_path / "a.qrels.gz").write_bytes(gzip.compress(b"q1 0 d1 1\n"))
    (tmp_path / "broken.gz").write_bytes(b"\x1f\x8bnothing")
    (tmp_path / "picture.bin").write_bytes(b"\0\1\2 3")
    (tmp_path / "README.md").write_text("q1 0 d1 1\n")
    assert kind_of(tmp_path / "a.qrels.gz") == "judgments"
    assert [kind_of(tmp_path / name) for name in ("broken.gz", "picture.bin", "README.md")] == [None] * 3


def test_help_of_a_command_is_its_help_text(qrowd):
    assert qrowd("help", "campaign", "invite").out.rstrip() == qrowd("campaign", "invite", "--help").out.rstrip()
    assert qrowd("help", "evaluate").out.rstrip() == qrowd("evaluate", "--help").out.rstrip()


def test_help_of_a_word_is_its_entry_in_the_glossary(qrowd):
    assert qrowd("help", "panel", "mean").out == "panel mean: per topic, the mean over the assessors with a score\n"
    assert qrowd("help", "slots").out.startswith("slot: ")
    assert qrowd("help", "REL").out.startswith("threshold, rel: ")


def test_the_glossary_of_the_command_is_the_page_of_the_documentation():
    assert glossary_text() == TABLES.read_text(encoding="utf-8"), "run `make docs`"


def test_every_row_of_the_glossary_can_be_asked_for():
    rows = [line for line in TABLES.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    n_tables = sum(line.startswith("| word ") for line in rows)
    assert len(glossary()) == len(rows) - 2 * n_tables
    assert all(all(names) and ": " in line for names, line in glossary().items())


def test_a_word_that_is_unknown_is_a_mistake_in_one_line(qrowd):
    outcome = qrowd("help", "evalute")
    assert outcome.status == 2
    assert (
        outcome.err == "qrowd: help evalute: neither a command nor a word of the glossary; did you mean 'evaluate'?\n"
    )


def test_no_help_text_shows_the_type_of_a_flag(qrowd):
    for words in ((), ("evaluate",), ("campaign",), ("campaign", "create")):
        assert "<bool>" not in qrowd(*words, "--help").out


def test_python_m_qrowd_is_the_command():
    outcome = subprocess.run([sys.executable, "-m", "qrowd", "--version"], capture_output=True, text=True, check=True)
    assert outcome.stdout.startswith("qrowd ")


SENTENCES = {name: sentence for group in GROUPS.values() for name, sentence in group.items()}


@pytest.mark.parametrize("name", SENTENCES)
def test_the_sentence_of_a_command_is_the_first_paragraph_of_its_help(name):
    paragraph = loaded(name).help.split("\n\n")[0]
    assert " ".join(paragraph.split()) == SENTENCES[name]


def test_each_option_stands_below_the_name_of_its_panel(qrowd):
    panels = qrowd("evaluate", "--help").out.split("\n\n")
    titles = [panel.partition(":")[0] for panel in panels if panel.partition("\n")[0].endswith(":")]
    assert {"Arguments", "Options", "Data", "Conventions", "Sampling", "Output"} <= set(titles)
    (output,) = [panel for panel in panels if panel.startswith("Output:")]
    assert "\n  -o, --output FILE" in output


@pytest.mark.parametrize("words", [("--help",), (), ("help",), ("evaluate", "--help"), ("help", "campaign", "status")])
def test_help_loads_the_command_that_is_named_and_no_heavy_package(words, loaded_modules):
    names = loaded_modules(*words)
    assert not names & {"numpy", "pandas", "scipy", "numba", "xarray", "rich", "pydantic", "sqlalchemy", "jinja2"}
    own = {name.removeprefix("qrowd.cli.") for name in names if name.startswith("qrowd.cli.")}
    assert own & {name.replace("-", "_") for name in SENTENCES} <= {"help", *words}


def test_completion_of_a_command_loads_none(loaded_modules, monkeypatch):
    for name, value in (("_QROWD_COMPLETE", "complete_bash"), ("COMP_WORDS", "qrowd\nev"), ("COMP_CWORD", "1")):
        monkeypatch.setenv(name, value)
    names = loaded_modules()
    assert not names & {"numpy", "rich", "pydantic", "qrowd.cli.evaluate", "qrowd.cli.options"}
