"""`qrowd partition`, and `qrowd evaluate` on what it writes: the same output as on the files."""

from pathlib import Path

import pytest

EVALUATE = ("-m", "nDCG@10", "AP")


@pytest.fixture
def partitioned(qrowd, folder):
    outcome = qrowd("partition", "--runs", "panel/runs", "--judgments", "panel/judges", "-o", "parts", "--n-parts", "3")
    assert outcome.status == 0
    assert outcome.out.startswith("wrote parts: 3 parts: 12 systems, 25 judged topics, 8 assessors, ")
    assert outcome.out.endswith("next: qrowd evaluate --runs parts --judgments parts --processes 2\n")
    return "--runs", "parts", "--judgments", "parts"


@pytest.mark.parametrize("options", [(), ("--processes", "1", "--results", "scores-of-parts")])
def test_evaluate_prints_of_a_partitioned_collection_what_it_prints_of_its_files(qrowd, partitioned, options):
    parts = qrowd("evaluate", *partitioned, *EVALUATE, *options)
    files = qrowd("evaluate", "--runs", "panel/runs", "--judgments", "panel/judges", *EVALUATE)
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
    outcome = qrowd("partition", "--runs", "panel/runs", "--judgments", "panel/judges", "-o", "parts")
    assert (outcome.status, outcome.err) == (2, "qrowd: parts: exists already; name another folder\n")
    assert sorted(Path("parts").rglob("*")) == before


def test_a_wrong_line_is_named_and_nothing_is_left(qrowd, folder):
    Path("bad.qrels").write_text("q01 0 d1 1\nq01 0 d2\n")
    before = sorted(Path().iterdir())
    outcome = qrowd("partition", "--runs", "panel/runs", "--judgments", "bad.qrels", "-o", "parts")
    assert outcome.status == 2
    assert outcome.err.startswith("qrowd: bad.qrels, line 2: ")
    assert sorted(Path().iterdir()) == before


def test_methods_take_processes_but_keep_no_results_of_parts(qrowd, partitioned):
    methods = ("-m", "AP", "--method", "majority", "sgl_rmse_md(n_resamples=40)")
    alone, together = (qrowd("evaluate", *partitioned, *methods, *more) for more in ((), ("--processes", "2")))
    assert (alone.status, together.status) == (0, 0)
    assert together.out == alone.out
    refused = qrowd("evaluate", *partitioned, *methods, "--results", "scores-of-parts")
    assert refused.status == 2
    assert refused.err == "qrowd: --results: methods need the judgments of all parts at once; leave it out\n"


def test_judgments_that_are_added_score_the_parts_that_they_touch(qrowd, partitioned):
    kept = ("--results", "scores-of-parts")
    assert qrowd("evaluate", *partitioned, *EVALUATE, *kept).status == 0
    Path("more").mkdir()
    Path("more/ann.qrels").write_text("q01 0 q01-00000 2\nq01 0 another 1\n")
    outcome = qrowd("partition", "--add", "--judgments", "more", "-o", "parts")
    assert (outcome.status, outcome.err) == (0, "")
    assert outcome.out.startswith("added to parts: 3 parts: 12 systems, 25 judged topics, 8 assessors, ")
    assert "7,802 judgments" in outcome.out
    again = qrowd("evaluate", *partitioned, *EVALUATE, *kept)
    assert again.status == 0
    assert len(list(Path("scores-of-parts").iterdir())) == 4


def test_adding_nothing_or_to_nothing_is_refused(qrowd, partitioned):
    assert qrowd("partition", "--add", "-o", "parts").err.startswith("qrowd: runs, judgments: there are none to add")
    outcome = qrowd("partition", "--add", "--judgments", "panel/judges", "-o", "elsewhere")
    assert (outcome.status, outcome.err.count("\n")) == (2, 1)
    assert outcome.err.startswith("qrowd: elsewhere: holds no survey.json")
    outcome = qrowd("partition", "--add", "--runs", "panel/runs", "-o", "parts")
    assert outcome.status == 2
    assert "are in parts already; add new systems or new topics" in outcome.err
    assert qrowd("partition", "--runs", "panel/runs", "-o", "other").err.startswith(
        "qrowd: missing option '--judgments'"
    )


def test_processes_write_the_same_files(qrowd, partitioned):
    files = "partition", "--runs", "panel/runs", "--judgments", "panel/judges", "--n-parts", "3"
    outcome = qrowd(*files, "-o", "again", "--processes", "2")
    assert (outcome.status, outcome.err) == (0, "")
    contents = [
        {path.relative_to(folder): path.read_bytes() for path in Path(folder).rglob("*.*")}
        for folder in ("parts", "again")
    ]
    assert contents[0] == contents[1]


def test_compacting_keeps_scores_and_says_what_it_did(qrowd, partitioned):
    Path("more").mkdir()
    Path("more/ann.qrels").write_text("q01 0 q01-00000 2\nq01 0 another 1\n")
    assert qrowd("partition", "--add", "--judgments", "more", "-o", "parts").status == 0
    before = qrowd("evaluate", *partitioned, *EVALUATE, "--results", "kept")
    outcome = qrowd("partition", "--compact", "-o", "parts")
    assert (outcome.status, outcome.err) == (0, "")
    assert outcome.out.startswith("compacted parts: 3 parts: 12 systems, 25 judged topics, 8 assessors, ")
    assert len(list(Path("parts/judgments").iterdir())) == 3
    kept = len(list(Path("kept").iterdir()))
    assert qrowd("evaluate", *partitioned, *EVALUATE, "--results", "kept").out == before.out
    assert len(list(Path("kept").iterdir())) == kept
    again = qrowd("partition", "--compact", "-o", "parts")
    assert again.out == "parts: each part has one file of runs and one of judgments; nothing to compact\n"


def test_compacting_adds_nothing(qrowd, partitioned):
    for options in (("--add",), ("--judgments", "panel/judges"), ("--n-parts", "4")):
        outcome = qrowd("partition", "--compact", "-o", "parts", *options)
        assert outcome.status == 2
        assert outcome.err.startswith("qrowd: --compact: it adds nothing and keeps the parts; leave out all but -o")
    assert qrowd("partition", "--compact", "-o", "more").err.startswith("qrowd: more: holds no survey.json")
