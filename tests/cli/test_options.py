"""One option means one thing: the same help, values and default in all commands."""

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

# (option, command): why it differs from the option of that name in other commands.
EXCEPTIONS = {
    ("--measure", "plan"): "one measure is planned for",
    ("--measure", "replace"): "one measure is tested",
    ("--method", "aggregate"): "one method, with its own options",
    ("--method", "predict"): "how judgments of predicted relevance are paired",
    ("--method", "plot"): "only one plot reads it",
    ("--method", "table"): "further columns",
    ("--per-assessor", "table"): "columns",
    ("--measure", "next"): "one measure decides",
    ("--design", "next"): "the file of what was drawn",
    ("--scale", "next"): "people may have judged nothing yet",
    ("--model", "next"): "any number of models, also in one file",
    ("--model", "plan"): "any number of models, also in one file",
    ("--scale", "plan"): "people may have judged nothing yet",
    ("--topics", "next"): "texts that only a batch needs",
    ("--documents", "next"): "texts that only a batch needs",
    ("--output", "next"): "it writes a batch",
    ("--measure", "disagreements"): "one measure decides",
    ("--topics", "disagreements"): "texts that can be left out",
    ("--documents", "disagreements"): "texts that can be left out",
    ("--n-documents", "disagreements"): "documents that are shown",
    ("--output", "disagreements"): "it also writes the folder of a campaign",
    ("--rel", "explore"): "several thresholds, for one page",
    ("--method", "explore"): "beside the mean over assessors",
    ("--topics", "report"): "texts that are only shown",
    ("--documents", "report"): "texts that are only shown",
    ("--topics", "explore"): "texts that are only shown",
    ("--documents", "explore"): "texts that are only shown",
    ("--depth", "explore"): "documents that are shown",
    ("--output", "explore"): "it writes a page",
    ("--output", "partition"): "it writes a folder",
    ("--check", "campaign change"): "nothing is created",
    ("--correction", "compare"): "of top sets",
    ("--test", "plot"): "of one plot",
    ("--top", "plot"): "of systems, topics, documents or assessors, by the plot",
    ("--ties", "aggregate"): "ties of votes, not of documents",
    ("--ties", "prefer bradley-terry"): "ties of preferences, not of documents",
    ("--repeats", "predict"): "a mean of grades is no grade",
    ("--resample", "predict"): "what can be resampled depends on the method",
    ("--resample", "prefer bradley-terry"): "what can be resampled depends on the method",
    ("--systems", "prefer simulate"): "any number of systems",
    ("--reference", "report"): "the reference is left out of the panel",
    ("--judgments", "prefer agree"): "they are compared with the preferences",
    ("--judgments", "prefer simulate"): "they are replayed instead of preferences",
    ("--measure", "prefer simulate"): "one measure, linear in gains",
    ("--cutoff", "compare"): "the k of tau@k: systems, not documents",
    ("--output", "report"): "it also writes a page",
    ("--output", "plot"): "it writes a plot",
    ("--output", "campaign export"): "it writes to standard output, in a format of --format",
    ("--output", "campaign person"): "it writes to standard output, as JSON",
    ("--format", "campaign export"): "the format of what is written",
    ("--format", "leaderboards"): "the format of leaderboards",
    ("--measure", "leaderboards"): "whatever the leaderboards call theirs",
    ("--output", "leaderboards"): "it also writes a leaderboard",
    ("--output", "judge ask"): "it writes a folder of judgments",
    ("--budget", "judge ask"): "of a record, whatever was asked before",
    ("--budget", "judge probe"): "of a record, whatever was asked before",
    ("--budget", "campaign ask"): "of a record, whatever was asked before",
    ("--documents", "replace"): "which documents are ranked, not their texts",
    ("--topics", "plan"): "numbers of topics, not their texts",
    ("--gold", "judge ask"): "a file, since there are no judgments yet",
    ("--model", "judge ask"): "models that are asked, not their judgments",
    ("--model", "judge probe"): "models that are asked, not their judgments",
    ("--model", "campaign ask"): "models that are asked, not their judgments",
}
EXCEPTIONS |= {
    (option, "trec-eval"): "it is trec_eval's" for option in ("--depth", "--measure", "--per-topic", "--rel")
}
# Options whose defaults depend on the command.
DEFAULTS = {
    "--measure": "each command shows what is usual for its question",
    "--n-resamples": "as many as the method needs for stable digits",
    "--random-assessors": "one page needs less than a paper",
    "--seed": "the panel that the documentation shows has seed 2",
    "--depth": "each pair of documents is a question, so fewer are compared",
    "--question": "required where it is all that is asked",
    "--base-url": "the server knows its own address",
    "--runs": "required where every answer is about systems",
    "--as": "a campaign has texts of its own",
}


def commands(group, before=""):
    named = {}
    for name, command in group.commands.items():
        inner = commands(command, f"{before}{name} ") if hasattr(command, "commands") else {f"{before}{name}": command}
        named |= inner
    return named


# Commands that read runs, without an option for how systems are shown: why.
NO_TOP = {
    "check": "it shows all that the files contain, in no order",
    "disagreements": "it shows documents",
    "explore": "its page shows all systems",
    "judge probe": "it names no system",
    "magnitude gains": "it names no system",
    "magnitude rankings": "it names no system",
    "magnitude summary": "it names no system",
    "next": "it shows the differences that are open",
    "partition": "it names no system",
    "plan": "it names two systems",
    "prefer simulate": "it names no system",
    "replace": "it names the best system of each assessor",
    "report": "its page shows all systems",
    "trec-eval": "it prints what trec_eval prints",
}
NO_SHORT_NAMES = {
    "check": "it shows the names that the files give",
    "judge probe": "it names no system",
    "magnitude gains": "it names no system",
    "magnitude rankings": "it names no system",
    "magnitude summary": "it names no system",
    "partition": "it names no system",
    "prefer simulate": "it names no system",
    "trec-eval": "it prints what trec_eval prints",
}

COMMANDS = commands(get_command(app))
OPTIONS = {
    (max(parameter.opts, key=len), name): parameter
    for name, command in COMMANDS.items()
    for parameter in command.params
    if parameter.opts[0].startswith("-")
}
NAMES = sorted({name for name, _ in OPTIONS})


@pytest.mark.parametrize("name", NAMES)
def test_an_option_means_the_same_in_all_commands(name):
    alike = [one for key, one in OPTIONS.items() if key[0] == name and key not in EXCEPTIONS]
    assert len({one.help for one in alike}) == 1
    assert len({(one.metavar, one.metavar or one.display_type(None), *one.opts) for one in alike}) == 1
    if name not in DEFAULTS:
        assert len({(one.default, one.required, one.show_default) for one in alike}) == 1


@pytest.mark.parametrize(("option", "reasons"), [("--top", NO_TOP), ("--short-names", NO_SHORT_NAMES)])
def test_commands_that_show_systems_can_show_fewer_and_by_short_names(option, reasons):
    of_systems = {name for (other, name) in OPTIONS if other == "--runs"} | {"check", "leaderboards", "trec-eval"}
    assert {name for name in of_systems if (option, name) not in OPTIONS} == set(reasons)


def test_every_exception_is_one():
    for key in EXCEPTIONS:
        usual = next(one for other, one in OPTIONS.items() if other[0] == key[0] and other not in EXCEPTIONS)
        one = OPTIONS[key]
        assert (one.help, one.metavar, one.display_type(None)) != (usual.help, usual.metavar, usual.display_type(None))
    for name in DEFAULTS:
        assert (
            len({(one.default, one.show_default, one.required) for key, one in OPTIONS.items() if key[0] == name}) > 1
        )


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


@pytest.mark.parametrize("name", ["evaluate", "compare", "table", "report", "plan", "plot"])
def test_the_conventions_are_those_of_the_library(name):
    for field in fields(Conventions):
        one = OPTIONS[f"--{field.name.replace('_', '-')}", name]
        assert one.default == field.default
        if field.name not in ("min_coverage", "duplicates"):
            assert one.display_type(None) == f"<{'|'.join(get_args(conventions.CHOICES[field.name]))}>"


def test_every_convention_has_a_help_text():
    assert [field.name for field in fields(Conventions)] == list(CONVENTIONS)


READING = [name for name, command in COMMANDS.items() if any("--judgments" in one.opts for one in command.params)]


# A campaign is no larger than memory: what it exports is a file like any other.
OF_FILES = {"partition"}


@pytest.mark.parametrize("name", sorted(set(READING) - OF_FILES))
def test_every_command_that_reads_judgments_reads_campaigns(name):
    assert ("--campaign", name) in OPTIONS
    assert ("--database", name) in OPTIONS


# They print text that is no table; so do commands of campaigns and accounts that print a line.
SILENT = ("help", "measures", "serve", "simulate", "trec-eval")
GROUPS = ("account", "campaign")


@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in SILENT and not name.startswith(GROUPS)])
def test_every_command_that_prints_a_result_writes_it_to_a_file(name):
    assert OPTIONS["--output", name].opts == ["-o", "--output"]


# ---- the choices of the library

CHOICES = {
    ("compare", "--zeros"): "qrowd.reports.comparison.Zeros",
    ("compare", "--correction"): "qrowd.reports.comparison.Correction",
    ("table", "--marks"): "qrowd.reports.paper_table.Marks",
    ("table", "--test"): "qrowd.reports.paper_table.Test",
    ("table", "--correction"): "qrowd.comparison.differences.ManyCorrections",
    ("compare", "--sign-ties"): "qrowd.reports.comparison.SignTies",
    ("agree", "--level"): "qrowd.kernels.disagreement.Level",
    ("agree", "--resample"): "qrowd.agreement.alpha.Resample",
    ("agree", "--combine-scales"): "qrowd.model.one_scale.CombineScales",
    ("aggregate", "--ties"): "qrowd.aggregation.vote.Ties",
    ("aggregate", "--start"): "qrowd.aggregation.dawid_skene.Start",
    ("aggregate", "--per"): "qrowd.aggregation.dawid_skene.Per",
    ("aggregate", "--prior"): "qrowd.aggregation.mace.Prior",
    ("aggregate", "--method"): "qrowd.reports.aggregation.METHODS",
    ("aware", "--across"): "qrowd.aware.similarity.Across",
    ("aware", "--polarity"): "qrowd.aware.similarity.Polarity",
    ("plan", "--target"): "qrowd.comparison.designs.Target",
    ("plan", "--planned"): "qrowd.comparison.generalizability.Design",
    ("predict", "--method"): "qrowd.predicted_relevance.counting.Method",
    ("predict", "--ranks"): "qrowd.predicted_relevance.bands.Ranks",
    ("predict", "--resample"): "qrowd.predicted_relevance.model.Resample",
    ("replace", "--closeness"): "qrowd.uncertainty.annotator_test.Closeness",
    ("replace", "--clusters"): "qrowd.uncertainty.annotator_test.Clusters",
    ("replace", "--documents"): "qrowd.uncertainty.ceiling.Documents",
    ("prefer evaluate", "--format"): "qrowd.trec.PreferenceFormat",
    ("prefer bradley-terry", "--ties"): "qrowd.preferences.bradley_terry.Ties",
    ("prefer bradley-terry", "--resample"): "qrowd.preferences.bradley_terry.Resample",
    ("prefer simulate", "--weight"): "qrowd.preferences.scheduling.systems.Weight",
}


@pytest.mark.parametrize(("command", "name"), CHOICES)
def test_choices_are_those_of_the_library(command, name):
    from importlib import import_module

    module, _, attribute = CHOICES[command, name].rpartition(".")
    choices = getattr(import_module(module), attribute)
    assert OPTIONS[name, command].display_type(None) == f"<{'|'.join(get_args(choices) or choices)}>"


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


def test_an_option_of_another_method_is_refused(qrowd, folder):
    outcome = qrowd("aggregate", "--judgments", folder / "judges", "--method", "majority", "--start", "honest")
    assert outcome.status == 2
    assert "--start honest: not an option of the method majority, but of dawid-skene" in outcome.err


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
