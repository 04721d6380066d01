"""Which units fail their checks, and which documents are the checks."""

import pytest

from qrowd.errors import ArgumentError, InputError, NoOverlapError, ScaleError
from qrowd.magnitude import check_documents, unit_checks
from qrowd.model.judgments import Judgments
from qrowd.simulation import simulate_magnitudes

approx = pytest.approx


def crowd_of(*rows):
    """Judgments of (unit, document, value) rows: unit u1 is ann's, u2 bob's, u3 cid's."""
    unit, document, value = zip(*rows, strict=True)
    who = [{"u1": "ann", "u2": "bob", "u3": "cid"}[name] for name in unit]
    columns = {"topic": ["q"] * len(rows), "document": document, "assessor": who, "unit": unit, "value": value}
    return Judgments.from_frame(columns, scales={"*": "magnitude"})


def gold_of(**grades):
    return Judgments.from_rows([("q", document, "gold", grade) for document, grade in grades.items()])


HN = {"q": ("h", "n")}


# ---- the checks


def test_equal_check_documents_fail():
    judgments = crowd_of(("u1", "h", 6), ("u1", "n", 3), ("u2", "h", 5), ("u2", "n", 5), ("u3", "h", 1), ("u3", "n", 2))
    assert unit_checks(judgments, HN).passed.tolist() == [True, False, False]
    assert unit_checks(judgments, HN).judgments.assessors == ("ann",)


def test_who_hurries_over_one_document_fails():
    rows = crowd_of(("u1", "h", 6), ("u1", "n", 3), ("u2", "h", 6), ("u2", "n", 5), ("u3", "h", 3), ("u3", "n", 2))
    columns = rows.to_frame().to_dict("list") | {"seconds": [20, 30, 19.9, 60, float("nan"), 25]}
    judgments = Judgments.from_frame(columns, scales={"*": "magnitude"})
    found = unit_checks(judgments, HN, min_seconds=20)
    assert found.slow_enough.tolist() == [True, False, True]  # no time recorded, no fault
    assert found.to_frame()["passed"].tolist() == [True, False, True]


def test_only_a_crowd_that_was_made_to_revise_passes_throughout(truth, crowd, checks):
    assert unit_checks(crowd, checks, min_seconds=20).passed.all()
    first = unit_checks(simulate_magnitudes(truth, 1481, checked=False, rng=3), checks)
    assert 0.02 < 1 - first.passed.mean() < 0.5


# ---- which documents are the checks


def test_gold_shows_the_check_documents_that_were_dealt(crowd, gold, checks):
    assert check_documents(crowd, gold) == checks
    assert unit_checks(crowd, gold).ordered.tolist() == unit_checks(crowd, checks).ordered.tolist()


ONE = crowd_of(("u1", "h", 6), ("u1", "n", 3), ("u1", "a", 2), ("u2", "h", 6), ("u2", "n", 3))
REFUSED = {
    "one gold grade": (
        lambda: check_documents(ONE, gold_of(h=1, n=1)),
        ArgumentError,
        "topic q: its judged documents have fewer than two different gold grades, which do not determine the check "
        "documents; name them, as checks={'q': (H, N)}",
    ),
    "two that would serve": (
        lambda: check_documents(ONE, gold_of(h=3, n=3, a=0)),
        ArgumentError,
        "topic q: 2 documents with the same extreme gold grade are in equally many units; name the check documents, "
        "as checks={'q': (H, N)}",
    ),
    "gold check missing": (
        lambda: unit_checks(ONE, gold_of(h=3, n=2, a=0)),
        InputError,
        "unit u2 of assessor bob, topic q: the check document N, a, is missing; correct checks, or leave out such "
        "units",
    ),
    "two gold assessors": (
        lambda: check_documents(ONE, Judgments.from_rows([("q", "h", "x", 1), ("q", "n", "y", 0)])),
        ArgumentError,
        "gold: one assessor was expected, found 2 (x, y ...); select one, or merge them first",
    ),
    "gold in magnitudes": (
        lambda: check_documents(ONE, ONE.select(assessors="ann")),
        ScaleError,
        "gold: assessor ann is on scale magnitude; levels need whole grades",
    ),
    "gold twice": (
        lambda: check_documents(ONE, Judgments.from_rows([("q", "h", "x", 1), ("q", "h", "x", 0)])),
        InputError,
        "assessor x, topic q, document h: judged more than once (1 repeated judgments in all); --repeats first, "
        "last or mean says which counts; in Python repeats= or .single(repeats=...)",
    ),
    "gold of others": (
        lambda: check_documents(ONE, Judgments.from_rows([("other", "h", "x", 1)])),
        NoOverlapError,
        "gold 'x' has no grade for any document that the others judged; check that both are of the same "
        "collection",
    ),
    "gold that says nothing": (
        lambda: check_documents(ONE, gold_of(h=-1, n=-2)),
        NoOverlapError,
        "gold 'gold' has no grade for any document that the others judged; check that both are of the same "
        "collection",
    ),
    "no seconds": (
        lambda: unit_checks(ONE, HN, min_seconds=20),
        ArgumentError,
        "min_seconds=20: the judgments have no seconds column",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("call", "error", "line"), REFUSED.values(), ids=REFUSED)
def test_what_is_amiss_is_named_in_one_line(call, error, line):
    with pytest.raises(error) as caught:
        call()
    assert str(caught.value) == line
