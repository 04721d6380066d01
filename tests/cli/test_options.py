"""Options: in the words of the field, with the defaults of the library, and no value is dropped silently."""

from dataclasses import fields
from typing import Annotated, get_args

import pytest
import typer
from typer.main import get_command

from qrowd.cli.commands import Command, expanded, repeated
from qrowd.cli.main import app
from qrowd.cli.options import CONVENTIONS, conventions_named
from qrowd.model import conventions
from qrowd.model.conventions import Conventions


@pytest.fixture(scope="module")
def simulated(eight_topics):
    return eight_topics


def commands(group, before=""):
    named = {}
    for name, command in group.commands.items():
        inner = commands(command, f"{before}{name} ") if hasattr(command, "commands") else {f"{before}{name}": command}
        named |= inner
    return named


COMMANDS = commands(get_command(app))
OPTIONS = {
    (max(parameter.opts, key=len), name): parameter
    for name, command in COMMANDS.items()
    for parameter in command.params
    if parameter.opts[0].startswith("-")
}


def test_the_command_line_has_at_most_48_commands_and_140_options():
    """Of all three distributions; an option of several commands counts once."""
    assert len(COMMANDS) <= 48
    assert len({option for option, _ in OPTIONS}) <= 140


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_every_option_is_a_sentence_in_the_words_of_the_field(command):
    beginnings = ("majority", "dawid-skene", "mace", "one-sided", "aware", "bump")
    for text in (parameter.help for (_, name), parameter in OPTIONS.items() if name == command):
        assert text[0].isupper() or text.split(":")[0] in beginnings
        assert text.endswith((".", "...")), text
        assert "without:" not in text
        assert " | " not in text


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_is_described_in_a_plain_sentence(name):
    text = " ".join(COMMANDS[name].help.split())
    assert text[0].isupper()
    assert text.endswith(".")
    assert f"`qrowd {name}`" not in text


@pytest.mark.parametrize("name", ["evaluate", "compare", "table", "report", "plan", "plot"])
def test_the_conventions_are_those_of_the_library(name):
    for field in fields(Conventions):
        parameter = OPTIONS[f"--{field.name.replace('_', '-')}", name]
        assert parameter.default == field.default
        if field.name not in ("min_coverage", "duplicates"):
            assert parameter.display_type(None) == f"<{'|'.join(get_args(conventions.CHOICES[field.name]))}>"


def test_every_convention_has_a_help_text():
    assert [field.name for field in fields(Conventions)] == list(CONVENTIONS)


@pytest.mark.parametrize("name", sorted({name for option, name in OPTIONS if option == "--judgments"} - {"partition"}))
def test_every_command_that_reads_judgments_reads_campaigns(name):
    assert ("--campaign", name) in OPTIONS
    assert ("--database", name) in OPTIONS


# ---- several values


def test_several_values_may_follow_one_option():
    words = ["evaluate", "--runs", "a", "b", "-m", "AP", "RR", "--output", "x", "--judgments", "-", "c", "--top=3"]
    assert list(repeated(words, {"--runs", "-m", "--judgments"})) == [
        "evaluate", "--runs", "a", "--runs", "b", "-m", "AP", "-m", "RR", "--output", "x", "--judgments", "-",
        "--judgments", "c", "--top=3",
    ]  # fmt: skip


def test_several_values_and_repeated_options_print_the_same(qrowd, folder):
    data = ["evaluate", "--runs", folder / "runs", "--judgments", folder / "judges"]
    assert qrowd(*data, "-m", "AP", "RR").out == qrowd(*data, "-m", "AP", "-m", "RR").out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--seed", "1", "--seed", "2"], "--seed: it takes one value, but stands on the command line twice"),
        (["-o", "a.csv", "--output", "b.csv"], "--output: it takes one value"),
        (["--reference", "ann", "bob"], "unexpected extra argument"),
        (["-m", "--seed", "1"], "-m: a value is expected after it"),
        (["--output"], "--output: a value is expected after it"),
        (["--systems", "bm25"], "--systems bm25: two systems were expected, found 1"),
    ],
)
def test_no_value_is_dropped_silently(qrowd, folder, arguments, message):
    outcome = qrowd("compare", "--runs", folder / "runs", "--judgments", folder / "judges", *arguments)
    assert outcome.status == 2
    assert message in outcome.err
    assert outcome.err.count("\n") == 1


# ---- data classes


def test_a_data_class_becomes_options_and_comes_back_as_one():
    made = []

    def command(
        chosen: Annotated[Conventions, conventions_named("missing", "empty")] = Conventions(empty="nan"),
    ) -> None:
        made.append(chosen)

    small = typer.Typer()
    small.command(cls=Command)(expanded(command))
    get_command(small)(["--missing", "skip"], standalone_mode=False)
    get_command(small)([], standalone_mode=False)
    assert made == [Conventions(missing="skip", empty="nan"), Conventions(empty="nan")]


def test_a_mistake_that_the_parser_finds_is_one_line(qrowd):
    for arguments in (["compare"], ["compare", "--nope"], ["compar"], ["plan", "--runs", "x", "--power", "many"]):
        outcome = qrowd(*arguments)
        assert outcome.status == 2
        assert outcome.err.startswith("qrowd: ")
        assert outcome.err.count("\n") == 1
        assert "--help" in outcome.err


def test_duplicates_of_a_file_count_once_and_the_output_says_so(qrowd, tmp_path):
    (tmp_path / "s.run").write_text("t Q0 a 1 3 s\nt Q0 b 2 2 s\nt Q0 c 3 1 s\n")
    (tmp_path / "ann.qrels").write_text("t 0 a 1\nt 0 b 1\nt 0 c 1\n")
    (tmp_path / "d.csv").write_text("topic,document,group\nt,a,1\nt,b,1\n")
    files = ["evaluate", "--runs", "s.run", "--judgments", "ann.qrels", "-m", "P@3"]
    assert "1.0000" in qrowd(*files).out
    out = qrowd(*files, "--duplicates", "d.csv").out
    assert "0.6667" in out
    assert "1 group of 2 documents that count as one; 1 result repeats one further up and gain" in " ".join(out.split())
    refused = qrowd(*files, "--duplicates", "s.run")
    assert refused.status == 2
    assert refused.err.count("\n") == 1
    assert "s.run" in refused.err


@pytest.mark.parametrize(
    ("line", "option", "needed"),
    [
        ("agree --campaign pilot --column assessor=Rater", "--column assessor=Rater", "--judgments"),
        ("agree --campaign pilot --assessor column", "--assessor column", "--judgments"),
        ("evaluate --campaign pilot --identical-rows drop", "--identical-rows drop", "--judgments or --preferences"),
        ("prefer agree --campaign pilot --column topic=b", "--column topic=b", "--preferences or --judgments"),
        ("compare --campaign pilot --system column", "--system column", "--runs"),
        ("agree j.csv --names", "--names", "--campaign"),
        ("agree j.csv --database d.db", "--database d.db", "--campaign"),
        ("evaluate j.csv r.run --format pairs", "--format pairs", "--preferences"),
        ("judge status r.sqlite --depth 3", "--depth 3", "--runs"),
        ("study arms --campaign pilot --units u.csv", "--units u.csv", "--arm"),
        ("study arms --arm a=a.csv --format png", "--format png", "--figures"),
        ("plan j.csv r.run --judgment-cost 0.1", "--judgment-cost 0.1", "--budget"),
    ],
)
def test_an_option_that_a_command_would_ignore_is_refused(qrowd, line, option, needed):
    outcome = qrowd(*line.split())
    assert outcome.status == 2
    assert outcome.err == f"qrowd: {option}: it has no effect without {needed}; leave it out\n"


@pytest.mark.parametrize(
    ("line", "option", "other"),
    [
        ("compare j.csv r.run --systems A B --top 4", "--top 4", "--systems"),
        ("plan j.csv r.run --systems A B --top 4", "--top 4", "--systems"),
        ("evaluate j.csv r.run --dask tcp://127.0.0.1:9 --processes 2", "--processes 2", "--dask"),
        ("prefer bradley-terry --preferences p.csv --position --across-topics", "--position", "--across-topics"),
        ("judge ask --topics t --documents d --model m --runs r --pool j", "--pool j", "--runs"),
        ("report --runs r --preferences p.csv --topics t.tsv", "--topics t.tsv", "--preferences"),
        ("report --runs r --preferences p.csv --documents d.jsonl", "--documents d.jsonl", "--preferences"),
    ],
)
def test_an_option_that_a_command_would_ignore_beside_another_is_refused(qrowd, line, option, other):
    outcome = qrowd(*line.split())
    assert outcome.status == 2
    assert outcome.err == f"qrowd: {option}: it has no effect beside {other}; leave it out\n"


@pytest.mark.parametrize("command", ["table", "compare", "evaluate", "leaderboards", "plot systems"])
def test_at_least_one_system_is_shown(qrowd, command):
    for top in ("0", "-3"):
        outcome = qrowd(*command.split(), "j.csv", "--top", top)
        assert outcome.status == 2
        assert "'--top'" in outcome.err
        assert "greater than or equal to 1" in outcome.err


def test_a_database_of_the_environment_is_no_option(qrowd, tmp_path, monkeypatch):
    monkeypatch.setenv("QROWD_DATABASE", "other.db")
    (tmp_path / "j.csv").write_text("topic,document,assessor,value\nt,a,ann,1\nt,a,bob,1\nt,b,ann,0\nt,b,bob,0\n")
    assert qrowd("agree", "j.csv", "--n-resamples", 10).status == 0
