"""`qrowd partition`, and `qrowd evaluate` on what it writes: the same output as on the files."""

import shutil
from pathlib import Path

import pytest

EVALUATE = ("-m", "nDCG@10", "AP")


FILES = ("--runs", "panel/runs", "--judgments", "panel/judges")


@pytest.fixture(scope="module")
def parts(simulated, exit_status, tmp_path_factory):
    """The panel in three parts, written once."""
    parts = tmp_path_factory.mktemp("partitioned") / "parts"
    files = ("--runs", simulated / "runs", "--judgments", simulated / "judges")
    assert exit_status("partition", *files, "-o", parts, "--n-parts", "3") == 0
    return parts


@pytest.fixture
def partitioned(parts, folder):
    """Its parts in the folder where commands run."""
    shutil.copytree(parts, "parts")
    return "--runs", "parts", "--judgments", "parts"


def test_partition_says_what_it_wrote_and_what_comes_next(qrowd, folder):
    outcome = qrowd("partition", *FILES, "-o", "parts", "--n-parts", "3")
    assert outcome.status == 0
    assert outcome.out.startswith("wrote parts: 3 parts: 12 systems, 25 judged topics, 8 assessors, ")
    assert outcome.out.endswith("next: qrowd evaluate --runs parts --judgments parts --processes 2\n")


@pytest.mark.parametrize(
    "options", [(), pytest.param(("--processes", "1", "--results", "scores-of-parts"), marks=pytest.mark.nightly)]
)
def test_evaluate_prints_of_a_partitioned_collection_what_it_prints_of_its_files(qrowd, partitioned, options):
    parts = qrowd("evaluate", *partitioned, *EVALUATE, *options)
    files = qrowd("evaluate", *FILES, *EVALUATE)
    assert (parts.status, parts.out) == (0, files.out)
    assert files.out
    if options:
        assert len(list(Path("scores-of-parts").iterdir())) == 3


def test_what_needs_rows_reads_all_parts(qrowd, partitioned):
    parts = qrowd("agree", "--judgments", "parts")
    files = qrowd("agree", "--judgments", "panel/judges")
    assert (parts.status, parts.out) == (0, files.out)


def test_a_folder_that_exists_is_refused_and_stays(qrowd, partitioned):
    before = sorted(Path("parts").rglob("*"))
    outcome = qrowd("partition", *FILES, "-o", "parts")
    assert (outcome.status, outcome.err) == (2, "qrowd: parts: exists already; name another folder\n")
    assert sorted(Path("parts").rglob("*")) == before


def test_a_wrong_line_is_named_and_nothing_is_left(qrowd, folder):
    Path("bad.qrels").write_text("q01 0 d1 1\nq01 0 d2\n")
    before = sorted(Path().iterdir())
    outcome = qrowd("partition", "--runs", "panel/runs", "--judgments", "bad.qrels", "-o", "parts")
    assert outcome.status == 2
    assert outcome.err.startswith("qrowd: bad.qrels, line 2: ")
    assert sorted(Path().iterdir()) == before


@pytest.mark.nightly
def test_methods_take_processes_but_keep_no_results_of_parts(qrowd, partitioned):
    methods = ("-m", "AP", "--method", "majority", "sgl_rmse_md(n_resamples=10)")
    alone, together = (qrowd("evaluate", *partitioned, *methods, *more) for more in ((), ("--processes", "2")))
    assert (alone.status, together.status) == (0, 0)
    assert together.out == alone.out
    refused = qrowd("evaluate", *partitioned, *methods, "--results", "scores-of-parts")
    assert refused.status == 2
    assert refused.err == "qrowd: results: methods need the judgments of all parts at once; leave it out\n"


def test_files_of_runs_and_of_judgments_are_needed(qrowd, folder):
    for option in ("runs", "judgments"):
        outcome = qrowd("partition", f"--{option}", f"panel/{'judges' if option == 'judgments' else 'runs'}")
        other = {"runs": "judgments", "judgments": "runs"}[option]
        hint = {"runs": " (see --help); qrowd check FILES says what needs none", "judgments": "; see --help"}[other]
        assert outcome.status == 2
        assert outcome.err == f"qrowd: missing option '--{other}': give the files of {other}{hint}\n"
