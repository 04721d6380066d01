"""Measures and conventions to draw: those under which the scores of a topic do not depend on other topics."""

from hypothesis import strategies as st

from qrowd.model.conventions import Conventions, Duplicates
from strategies import DOCUMENTS

MEASURES = (
    "nDCG@3",
    "AP",
    "P@2",
    "RR",
    "RBP(p=0.8)",
    "ERR@5",
    "AP(rel=2)",
    "R(recall_base=union)@2",
    "bpref",
)


@st.composite
def conventions(draw, measures):
    linear = all(name in ("nDCG@3", "P@2", "RBP(p=0.8)", "DCG@5") for name in measures)
    groups = draw(st.lists(st.tuples(st.sampled_from(["t1", "t2", "t9"]), st.sampled_from(DOCUMENTS)), max_size=4))
    return Conventions(
        ties=draw(st.sampled_from(["document", "expected"] if linear else ["document"])),
        score_dtype=draw(st.sampled_from(["float64", "float32"])),
        unjudged=draw(st.sampled_from(["nonrelevant", "condensed"])),
        missing=draw(st.sampled_from(["zero", "skip", "interpolate"])),
        empty=draw(st.sampled_from(["zero", "nan"])),
        min_coverage=draw(st.sampled_from([0.0, 0.1, 0.6])),
        repeats=draw(st.sampled_from(["first", "last", "mean"])),
        duplicates=draw(st.sampled_from([None, Duplicates.from_groups([(t, d, t) for t, d in groups])])),
    )
