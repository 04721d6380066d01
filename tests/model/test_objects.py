"""What people hold in Python: frames, rows, dictionaries and objects of other packages, taken as they are."""

import sys
from collections import namedtuple
from dataclasses import dataclass

import ir_measures
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from ir_datasets.formats import GenericScoredDoc, TrecQrel

import qrowd
from qrowd.agreement import cohen_kappa
from qrowd.errors import ArgumentError, QrowdError
from qrowd.model.judgments import Judgments
from qrowd.model.objects import as_judgments, as_runs
from qrowd.model.preferences import Preferences
from qrowd.model.runs import Runs

QRELS = {"q1": {"d1": 2, "d2": 0}, "q2": {"d1": 1}}
RUN = {"q1": {"d1": 2.5, "d2": 1.0}, "q2": {"d2": 3.0}}
QREL_ROWS = [(q, d, v) for q, documents in QRELS.items() for d, v in documents.items()]
RUN_ROWS = [(q, d, s) for q, documents in RUN.items() for d, s in documents.items()]
PYTERRIER_QRELS = pd.DataFrame(QREL_ROWS, columns=["qid", "docno", "label"])
PYTERRIER_RUN = pd.DataFrame(RUN_ROWS, columns=["qid", "docno", "score"]).assign(rank=[0, 1, 0], docid=[7, 8, 8])


def hugging_face(frame):
    """The frame as a data set; imports of seconds are made by the tests that need them."""
    import datasets

    return datasets.Dataset.from_pandas(frame)


def ranx_run(run=RUN, **options):
    import ranx

    return ranx.Run(run, **options)


def ranx_qrels(qrels=QRELS):
    import ranx

    return ranx.Qrels(qrels)


@dataclass
class Rated:
    topic: str
    document: str
    grade: int


Answer = namedtuple("Answer", "query_id doc_id relevance")

JUDGMENTS = {
    "one pytrec_eval dictionary": QRELS,
    "dictionaries by assessor": {"judgments": QRELS},
    "pandas of PyTerrier": PYTERRIER_QRELS,
    "polars": pl.DataFrame(PYTERRIER_QRELS),
    "polars, lazy": pl.LazyFrame(PYTERRIER_QRELS),
    "pyarrow": pa.Table.from_pandas(PYTERRIER_QRELS),
    "plain columns": PYTERRIER_QRELS.to_dict("list"),
    "dictionaries": [{"query_id": q, "doc_id": d, "relevance": v} for q, d, v in QREL_ROWS],
    "ir_datasets": [TrecQrel(q, d, v, str(i)) for i, (q, d, v) in enumerate(QREL_ROWS)],
    "ir_measures": [ir_measures.Qrel(*row) for row in QREL_ROWS],
    "named tuples": [Answer(*row) for row in QREL_ROWS],
    "dataclasses": [Rated(*row) for row in QREL_ROWS],
    "a generator": lambda: (ir_measures.Qrel(*row) for row in QREL_ROWS),
    "ranx": ranx_qrels,
    "Hugging Face": lambda: hugging_face(PYTERRIER_QRELS),
    "frames by assessor": {"judgments": PYTERRIER_QRELS},
}
RUNS = {
    "one pytrec_eval dictionary": RUN,
    "dictionaries by system": {"run": RUN},
    "pandas of PyTerrier": PYTERRIER_RUN,
    "polars, lazy": pl.LazyFrame(PYTERRIER_RUN),
    "ir_datasets": [GenericScoredDoc(*row) for row in RUN_ROWS],
    "ir_measures": [ir_measures.ScoredDoc(*row) for row in RUN_ROWS],
    "ranx": ranx_run,
    "Hugging Face": lambda: hugging_face(PYTERRIER_RUN),
    "rows by system": {"run": [GenericScoredDoc(*row) for row in RUN_ROWS]},
    "frames by system": {"run": PYTERRIER_RUN},
}


def sources(shapes):
    """The names of shapes; importing ranx takes seconds."""
    return [pytest.param(name, marks=pytest.mark.slow if "ranx" in name else ()) for name in shapes]


@pytest.fixture(autouse=True)
def without_compiling(request, monkeypatch):
    """ranx compiles for a minute what runs in milliseconds; one that was imported before is imported again."""
    if "ranx" in request.node.name:
        import numba

        for name in [name for name in sys.modules if name.partition(".")[0] == "ranx"]:
            monkeypatch.delitem(sys.modules, name)
        monkeypatch.setattr(numba.config, "DISABLE_JIT", True)


def made(shape):
    """The data of a shape, which may be a function that makes them."""
    return shape() if callable(shape) else shape


@pytest.mark.parametrize("source", sources(JUDGMENTS))
def test_judgments_of_every_shape_are_the_same_judgments(source):
    assert as_judgments(made(JUDGMENTS[source])).to_dict() == {"judgments": QRELS}


@pytest.mark.parametrize("source", sources(RUNS))
def test_runs_of_every_shape_are_the_same_runs(source):
    assert as_runs(made(RUNS[source])).to_dict() == {"run": RUN}


def test_evaluate_takes_two_frames_and_scores_as_pyterrier_does():
    frame = PYTERRIER_QRELS.astype({"label": int})
    import pyterrier

    expected = pyterrier.Evaluate(PYTERRIER_RUN, frame, metrics=["map", "ndcg"])
    scores = qrowd.evaluate(PYTERRIER_RUN, frame, ["AP", "nDCG"])
    assert scores.values.mean(axis=2).ravel().tolist() == pytest.approx([expected["map"], expected["ndcg"]])
    assert (scores.systems, scores.assessors) == (("run",), ("judgments",))


def test_an_assessor_column_of_a_pyterrier_frame_makes_a_panel():
    frame = pd.concat([PYTERRIER_QRELS.assign(assessor=who) for who in ("ann", "bob")])
    assert qrowd.evaluate({"bm25": PYTERRIER_RUN}, frame, "AP").assessors == ("ann", "bob")
    assert cohen_kappa(as_judgments(frame), "ann", "bob").value == 1


def test_the_iteration_of_a_qrel_is_no_assessor():
    assert as_judgments(JUDGMENTS["ir_datasets"]).assessors == ("judgments",)


@pytest.mark.slow  # ranx compiles
def test_a_name_of_a_ranx_run_is_the_system():
    assert as_runs(ranx_run(name="bm25")).systems == ("bm25",)


@pytest.mark.slow  # ranx compiles
def test_the_key_of_a_dictionary_is_the_name_whatever_a_column_of_the_frame_says():
    run = pd.DataFrame({"qid": ["q1"], "docno": ["d1"], "score": [2.0], "rank": [0], "name": ["tuned_p"]})
    qrels = pd.DataFrame({"qid": ["q1"], "docno": ["d1"], "label": [1], "assessor": ["llm"]})
    assert as_runs({"BM25": run, "ColBERT": run.assign(name="colbert")}).systems == ("BM25", "ColBERT")
    assert as_runs({"BM25": run, "ColBERT": run}).systems == ("BM25", "ColBERT")
    assert as_judgments({"Anna": qrels, "Ben": qrels}).assessors == ("Anna", "Ben")
    both = pd.concat([run, run.assign(name="colbert")])
    with pytest.raises(ArgumentError, match=r"'BM25' names one table, but its rows are of 2 systems"):
        as_runs({"BM25": both})


def test_judgments_and_runs_go_back_to_ranx_and_pytrec_eval():
    judgments, runs = Judgments.from_dict({"ann": QRELS, "bob": {"q1": {"d1": 0.5}}}), Runs.from_dict({"A": RUN})
    assert judgments.select(assessors="ann").to_dict(assessor="ann") == QRELS
    assert judgments.to_dict(assessor="bob") == {"q1": {"d1": 0.5}}
    assert ranx_qrels(judgments.select(assessors="ann").to_dict(assessor="ann")).to_dict() == QRELS
    assert ranx_run(run=runs.to_dict(system="A")).to_dict() == RUN
    with pytest.raises(ArgumentError, match="'eve'"):
        judgments.to_dict(assessor="eve")


def test_a_generator_of_rows_is_read_by_evaluate():
    scores = qrowd.evaluate(RUN, (ir_measures.Qrel(*row) for row in QREL_ROWS), "AP")
    assert scores.topics == ("q1", "q2")


# ---- what is refused

J, R = Judgments.from_dict(QRELS), Runs.from_dict(RUN)
P = Preferences.from_rows([("q", "a", "b", "ann")])
REFUSED = {
    "swapped": (lambda: qrowd.evaluate(J, R), "runs: these are judgments, .*; were runs and judgments swapped?"),
    "swapped frames": (
        lambda: qrowd.evaluate(PYTERRIER_QRELS, PYTERRIER_RUN),
        "runs: the columns qid, docno, label are those of judgments; were runs and judgments swapped?",
    ),
    "runs as judgments": (
        lambda: as_judgments(PYTERRIER_RUN),
        "judgments: the columns .* are those of runs; were runs and judgments swapped?",
    ),
    "ranx swapped": (lambda: as_runs(ranx_qrels()), "runs: these are judgments"),
    "no runs": (lambda: qrowd.evaluate(None, J), "runs: expected a data frame, rows or a dictionary, found None"),
    "no judgments": (lambda: qrowd.evaluate(R, 3), "judgments: expected a data frame, .* found int 3"),
    "a name": (lambda: qrowd.evaluate("a.run", J), r"runs: 'a.run' is no more than a name; .* qrowd.read_runs"),
    "nothing": (lambda: as_judgments([]), "judgments: there are none"),
    "an empty frame": (
        lambda: as_judgments(PYTERRIER_QRELS[:0]),
        "judgments: the table names columns but holds no",
    ),
    "an empty dictionary": (lambda: as_judgments({}), "judgments: "),
    "no topics": (lambda: as_judgments({"q": {}}), "judgments: "),
    "tuples": (
        lambda: as_judgments([("q", "d", 1)]),
        "judgments: expected rows as dictionaries or named tuples",
    ),
    "mixed rows": (lambda: as_judgments([{"qid": 1}, 2]), "judgments: row 2: expected dict, .* found int 2"),
    "numbers": (lambda: as_judgments([1, 2]), "judgments: expected rows as dictionaries or named tuples, found int 1"),
    "one level": (lambda: Judgments.from_dict({"q": 1}), "expected {assessor: .* found a dictionary of 1 levels"),
    "four levels": (
        lambda: Runs.from_dict({"a": {"b": {"c": {"d": 1}}}}),
        "expected .* a dictionary of 4 levels",
    ),
    "mixed levels": (lambda: Judgments.from_dict({"a": QRELS, "b": 1}), "assessor 'b': expected a dictionary, found"),
    "no number": (
        lambda: Runs.from_dict({"bm25": {"q": {"d": "high"}}}),
        "system 'bm25', topic 'q', document 'd': expected a finite number, found str 'high'",
    ),
    "ragged columns": (
        lambda: as_judgments({"qid": ["q"], "docno": ["d", "e"], "label": [1]}),
        "judgments: columns must be of one length, .*: qid 1, docno 2, label 1",
    ),
    "preferences": (lambda: as_judgments(P), "judgments: these are preferences, .*; give judgments"),
    "a scalar column": (
        lambda: as_judgments({"qid": 3, "docno": ["d"]}),
        "judgments: expected {column: cells}, but",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_no_such_data_is_refused_in_one_line_that_names_the_argument(case):
    call, message = REFUSED[case]
    with pytest.raises(QrowdError, match=f"^{message}") as error:
        call()
    assert "\n" not in str(error.value)
