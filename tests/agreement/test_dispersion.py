"""Dispersion of the judgments of one document."""

from collections import Counter
from math import log2
from statistics import variance

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from panels import GRADES, MAGNITUDES, judgments_of, pairable, panels
from qrowd.agreement import document_dispersion
from qrowd.model.judgments import Judgments


@settings(max_examples=settings.default.max_examples // 2)
@given(st.sampled_from([(GRADES, "0-3"), (MAGNITUDES, "magnitude")]).flatmap(
    lambda one: st.tuples(panels(one[0]), st.just(one[1]))
))  # fmt: skip
def test_variance_and_entropy_are_what_their_definitions_say(panel_and_scale):
    panel, scale = panel_and_scale
    assume(pairable(panel))
    frame = document_dispersion(judgments_of(panel, scale)).to_frame().set_index("document")
    assert set(frame.index) == {document for document, said in panel.items() if len(said) > 1}
    for document, row in frame.iterrows():
        values = list(panel[document].values())
        shares = [n / len(values) for n in Counter(values).values()]
        assert row["n"] == len(values)
        assert row["variance"] == pytest.approx(variance(values), abs=1e-3 if scale == "magnitude" else 1e-12)
        assert row["sd"] == pytest.approx(row["variance"] ** 0.5)
        assert row["entropy"] == pytest.approx(-sum(p * log2(p) for p in shares), abs=1e-12)


def test_a_topic_has_the_mean_of_its_documents():
    rows = [("t", "d", "a", 0), ("t", "d", "b", 2), ("t", "e", "a", 1), ("t", "e", "b", 1), ("u", "d", "a", 3)]
    by_topic = document_dispersion(Judgments.from_rows([*rows, ("u", "d", "b", 2)])).by_topic
    assert by_topic.to_frame().values.tolist() == [["t", 2, 1.0, 2**0.5 / 2, 0.5], ["u", 1, 0.5, 0.5**0.5, 1.0]]


def test_magnitudes_of_more_values_than_a_dense_table_holds_have_an_entropy():
    panel = {f"d{i}": {"ann": i + 1.0, "bob": 2.0 * i + 1} for i in range(80)}
    found = document_dispersion(judgments_of(panel, "magnitude"))
    assert found.entropy[0] == 0
    assert found.entropy[1:] == pytest.approx(1)
