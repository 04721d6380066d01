"""Documents that nobody can judge count as gaining the lowest, and hold nothing back."""

from __future__ import annotations

import numpy as np
import pytest

import qrowd
from qrowd.errors import ArgumentError
from qrowd.sequential.next_judgments import next_judgments

RUNS = {
    "a": {t: {f"{t}a{i}": 9.0 - i for i in range(8)} for t in ("t1", "t2", "t3")},
    "b": {t: {f"{t}b{i}": 9.0 - i for i in range(8)} for t in ("t1", "t2", "t3")},
}
SETTINGS = {"question": "a > b", "measure": "DCG@8", "scale": "0-3"}


def judged(pairs: list[tuple[str, str]], grade: float = 2.0) -> qrowd.Judgments:
    grades: dict[str, dict[str, float]] = {}
    for topic, document in pairs:
        grades.setdefault(topic, {})[document] = grade
    return qrowd.Judgments.from_dict({"ann": grades})


def test_the_statement_is_that_of_judgments_of_grade_0() -> None:
    first = next_judgments(RUNS, None, n_documents=30, **SETTINGS)
    pairs = list(zip(first.topics, first.documents, strict=True))
    broken, others = pairs[4:7], pairs[:4] + pairs[7:]
    of_design = SETTINGS | {"design": first.design}
    result = next_judgments(RUNS, judged(others), unjudgeable=broken, **of_design)
    grades = judged(others).to_dict()["ann"]
    for topic, document in broken:
        grades[topic][document] = 0.0
    same = next_judgments(RUNS, {"ann": grades}, **of_design)
    np.testing.assert_allclose(result.statement.low, same.statement.low)
    np.testing.assert_allclose(result.statement.estimate, same.statement.estimate)
    assert (result.statement.n_unjudgeable, result.statement.n_judged_in_all) == (3, 27)
    assert same.statement.n_unjudgeable == 0
    assert result.n_held == 0
    assert next_judgments(RUNS, judged(others), **of_design).n_held == 23  # without it, all after the first


def test_who_judges_such_a_document_all_the_same_is_believed() -> None:
    first = next_judgments(RUNS, None, n_documents=30, **SETTINGS)
    pairs = list(zip(first.topics, first.documents, strict=True))
    result = next_judgments(RUNS, judged(pairs), unjudgeable=pairs[:2], design=first.design, **SETTINGS)
    plain = next_judgments(RUNS, judged(pairs), design=first.design, **SETTINGS)
    assert result.statement.n_unjudgeable == 0
    np.testing.assert_array_equal(result.statement.low, plain.statement.low)


def test_a_document_that_is_known_to_be_broken_is_never_drawn() -> None:
    result = next_judgments(RUNS, None, n_documents=48, unjudgeable=[("t1", "t1a0")], **SETTINGS)
    assert "t1a0" not in result.documents
    assert len(result.documents) == 47


@pytest.mark.parametrize(
    ("pair", "said"),
    [
        (("t9", "t1a0"), "unjudgeable: there is no topic 't9'; there are 3 topics"),
        (("t1", "t1c0"), "unjudgeable: no run has the document 't1c0' of topic t1; did you mean"),
    ],
)
def test_a_pair_that_there_is_not_is_refused(pair: tuple[str, str], said: str) -> None:
    with pytest.raises(ArgumentError, match=said):
        next_judgments(RUNS, None, unjudgeable=[pair], **SETTINGS)
