"""Order agreement with another scale."""

from itertools import groupby

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from oracles import agreement as oracle
from panels import GRADES, MAGNITUDES, judgments_of, judgments_of_rows, panels
from qrowd.errors import ArgumentError, NoOverlapError
from qrowd.model.judgments import Judgments
from qrowd.simulation import (
    Inverted,
    Lenient,
    Random,
    simulate_judgments,
    simulate_magnitudes,
    simulate_pool,
)
from qrowd_papers.magnitude.order_agreement import order_agreement


@settings(max_examples=settings.default.max_examples * 2 // 5)
@given(panels(MAGNITUDES, assessors=("ann", "bob")), st.lists(st.sampled_from(GRADES), min_size=8, max_size=8),
       st.booleans())  # fmt: skip
def test_order_agreement_of_every_assessor_is_what_its_definition_says(panel, grades, strict):
    assume(any(panel.values()))
    levels = {("q", document): grade for document, grade in zip(panel, grades, strict=False)}
    frame = order_agreement(judgments_of(panel, "magnitude"), levels, strict=strict).to_frame().set_index("assessor")
    for who in ("ann", "bob"):
        said = [(value[who], levels["q", document]) for document, value in panel.items() if who in value]
        if not said:
            assert who not in frame.index
            continue
        same, equal, opposite = oracle.order_counts(*zip(*said, strict=True))
        row = frame.loc[who]
        assert (row["same"], row["equal"], row["opposite"], row["n_pairs"]) == (
            *(same, equal, opposite),
            same + equal + opposite,
        )
        agree, n = same + (0 if strict else equal), same + equal + opposite
        assert row["agreement"] == pytest.approx(agree / n if n else np.nan, nan_ok=True)


@settings(max_examples=settings.default.max_examples * 2 // 5)
@given(panels(GRADES, assessors=("ann", "bob", "ref")))
def test_pairs_of_levels_and_topics_add_up_to_the_whole(panel):
    judgments = judgments_of(panel)
    assume("ref" in judgments.assessors)
    assume(any("ref" in said and len(said) > 1 for said in panel.values()))
    whole = order_agreement(judgments, "ref", by=None)
    for by in ("assessor", "topic", "levels", ("assessor", "levels"), ("topic", "assessor")):
        parts = order_agreement(judgments, "ref", by=by)
        assert (parts.same.sum(), parts.equal.sum(), parts.opposite.sum()) == (
            *(whole.same.sum(), whole.equal.sum()),
            whole.opposite.sum(),
        )


def test_levels_are_compared_pair_by_pair():
    judgments = judgments_of_rows(ref="0012", ann="0213")
    frame = order_agreement(judgments, "ref", by="levels").to_frame().set_index(["low", "high"])
    assert tuple(frame.loc[(0, 1)][["same", "equal", "opposite"]]) == (1, 0, 1)
    assert tuple(frame.loc[(0, 2)][["same", "equal", "opposite"]]) == (2, 0, 0)
    assert tuple(frame.loc[(1, 2)][["same", "equal", "opposite"]]) == (1, 0, 0)


def test_documents_of_different_topics_are_not_compared():
    rows = [("q1", "a", "ann", 5.0), ("q2", "a", "ann", 1.0)]
    found = order_agreement(Judgments.from_rows(rows), {("q1", "a"): 0, ("q2", "a"): 1}, by=None)
    assert found.n_pairs.sum() == 0
    assert np.isnan(found.value).all()


def test_units_are_compared_each_by_itself_also_where_an_assessor_repeats_a_document():
    truth = simulate_pool(3, 26, rng=1)
    crowd = simulate_magnitudes(truth, 60, rng=1)
    gold = truth.judgments()
    found = order_agreement(crowd, gold, by=("unit", "assessor", "topic"))
    grade = {
        (gold.topics[t], gold.documents[d]): g for t, d, g in zip(gold.topic, gold.document, gold.value, strict=True)
    }
    rows = crowd.to_frame().sort_values("unit", kind="stable")
    frame = found.to_frame().set_index("unit")
    for unit, members in groupby(rows.itertuples(), key=lambda row: row.unit):
        listed = list(members)
        counts = oracle.order_counts([r.value for r in listed], [grade[r.topic, r.document] for r in listed])
        assert tuple(frame.loc[unit][["same", "equal", "opposite"]]) == counts
    twice = Judgments.from_frame(
        {
            "topic": ["q"] * 4, "document": ["a", "b", "a", "b"], "assessor": ["ann"] * 4,
            "value": [1.0, 2.0, 2.0, 1.0], "unit": ["u1", "u1", "u2", "u2"],
        }
    )  # fmt: skip
    by_unit = order_agreement(twice, {("q", "a"): 0, ("q", "b"): 1}, by="unit")
    assert list(by_unit.value) == [1, 0]
    assert list(order_agreement(twice, {("q", "a"): 0, ("q", "b"): 1}).value) == [1]


def test_careful_assessors_agree_with_the_truth_and_inverted_ones_do_not():
    truth = simulate_pool(4, 50, rng=2)
    panel = {"careful": Lenient(noise=0.2), "inverted": Inverted(Lenient()), "coin": Random()}

    def overall(judgments, strict=False):
        return order_agreement(judgments, truth.judgments(), strict=strict, by=None).value[0]

    for strict in (False, True):
        judgments = [simulate_judgments(truth, {name: one}, rng=2) for name, one in panel.items()]
        careful, inverted, _ = (overall(one, strict) for one in judgments)
        assert careful > 0.75
        assert inverted < 0.2
    assert overall(judgments[2], strict=True) == pytest.approx(0.25, abs=0.05)
    assert overall(judgments[2]) == pytest.approx(0.75, abs=0.05)


def test_bad_input_gets_one_clear_line():
    judgments = judgments_of_rows(ann="01", bob="01")
    with pytest.raises(ArgumentError, match=r"reference='Bob': no assessor has this name; did you mean 'bob'\?"):
        order_agreement(judgments, "Bob")
    with pytest.raises(ArgumentError, match="by='system': choose from assessor, unit, topic, levels"):
        order_agreement(judgments, "bob", by="system")
    with pytest.raises(ArgumentError, match="by='unit': the judgments have no unit column"):
        order_agreement(judgments, "bob", by="unit")
    with pytest.raises(NoOverlapError, match="reference 'reference' has no grade for any document"):
        order_agreement(judgments, {("q", "elsewhere"): 1.0})
    many = {("q", f"d{i}"): float(i) for i in range(60)}
    ann = judgments_of({f"d{i}": {"ann": float(i)} for i in range(60)})
    assert order_agreement(ann, many).value[0] == 1
