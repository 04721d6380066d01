"""`qrowd trec-eval`: trec_eval's flags, as scripts write them."""

import subprocess
import sys

import pytest

from qrowd.reports.trec_eval_output import TrecEvalOptions, run_and_tag, trec_eval_text
from qrowd.trec import QRELS as LINES
from qrowd.trec import judgments_from, parse

QRELS = "t1 0 a 1\nt1 0 b 0\nt1 0 c 2\nt2 0 a 1\nt3 0 a 1\n"
RUN = "t1 Q0 a 1 3 bm25\nt1 Q0 b 2 2 bm25\nt1 Q0 c 3 1 bm25\nt1 Q0 x 4 0.5 bm25\nt2 Q0 b 1 1 bm25\n"


@pytest.fixture
def files(qrowd, tmp_path):
    (tmp_path / "qrels").write_text(QRELS)
    (tmp_path / "run").write_text(RUN)
    return qrowd


def text_of(measures=("official",), **options):
    chosen = TrecEvalOptions(tuple(measures), **options)
    judgments = judgments_from([("qrels", parse(QRELS.encode(), "qrels", LINES))])
    return trec_eval_text(judgments, *run_and_tag(RUN.encode(), "run"), chosen)


def test_the_official_measures_are_printed_by_default(files):
    done = files("trec-eval", "qrels", "run")
    assert (done.status, done.err) == (0, "")
    assert done.out == text_of()
    assert done.out.startswith("runid                 \tall\tbm25\nnum_q                 \tall\t2\n")


@pytest.mark.parametrize(
    ("arguments", "measures", "options"),
    [
        ("-qc -m map -m P.1,2", ("map", "P.1,2"), {"per_topic": True, "complete": True}),
        ("-l2 -M2 -mall_trec -n -q", ("all_trec",), {"rel": 2, "depth": 2, "summary": False, "per_topic": True}),
        ("-J -mutility.2,-1,0,0", ("utility.2,-1,0,0",), {"judged_only": True}),
        ("-mndcg.1=3,2=9 --measure ndcg_cut.2", ("ndcg.1=3,2=9", "ndcg_cut.2"), {}),
    ],
)
def test_flags_mean_what_they_mean_in_trec_eval(files, arguments, measures, options):
    for words in ((*arguments.split(), "qrels", "run"), ("qrels", "run", *arguments.split())):
        done = files("trec-eval", *words)
        assert (done.status, done.err, done.out) == (0, "", text_of(measures, **options))


def test_each_assessor_that_column_2_names_has_lines_that_start_with_the_name(files, tmp_path):
    (tmp_path / "panel").write_text("t1 ann a 1\nt1 bob a 0\nt1 bob b 1\n")
    done = files("trec-eval", "--assessor", "column", "-m", "recip_rank", "panel", "run")
    assert done.out == "ann\trecip_rank            \tall\t1.0000\nbob\trecip_rank            \tall\t0.5000\n"


def test_of_several_files_each_is_an_assessor(files, tmp_path):
    (tmp_path / "ann.qrels").write_text("t1 0 a 1\n")
    (tmp_path / "bob.qrels").write_text("t1 0 a 0\nt1 0 b 1\n")
    done = files("trec-eval", "-m", "recip_rank", "ann.qrels", "bob.qrels", "run")
    assert done.out == "ann\trecip_rank            \tall\t1.0000\nbob\trecip_rank            \tall\t0.5000\n"


def test_labels_that_are_no_unicode_are_printed_as_they_stand_in_the_files(tmp_path):
    (tmp_path / "qrels").write_bytes(b"t\xe9 0 a 1\n")
    (tmp_path / "run").write_bytes(b"t\xe9 Q0 a 1 3 caf\xe9\n")
    words = [sys.executable, "-m", "qrowd", "trec-eval", "-q", "-m", "runid", "-m", "recip_rank", "qrels", "run"]
    out = subprocess.run(words, cwd=tmp_path, check=True, capture_output=True).stdout
    assert out.splitlines()[:2] == [b"recip_rank            \tt\xe9\t1.0000", b"runid                 \tall\tcaf\xe9"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("nowhere run", "qrowd: nowhere: there is no such file"),
        ("qrels nowhere", "qrowd: nowhere: there is no such file"),
        ("-m mpa qrels run", "qrowd: trec-eval has no measure 'mpa'; did you mean 'map'"),
        ("run run", "qrowd: run, line 1: expected 'topic iteration document grade', found 6 fields"),
        ("qrels", "qrowd: missing argument"),
    ],
)
def test_mistakes_are_one_line_and_exit_status_2(files, arguments, message):
    done = files("trec-eval", *arguments.split())
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith(message)
    assert done.err.count("\n") == 1
