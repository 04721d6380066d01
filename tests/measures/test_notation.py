"""How measures are written: one text for each, many spellings understood, every mistake answered in one line."""

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ir_measures import AP, ERR, MAP, MRR, NDCG, RBP, RR, Bpref, Judged, P, R, Rprec, Success, nDCG

from qrowd.errors import MeasureError
from qrowd.evaluation import measure
from qrowd.measures import DEFINITIONS
from strategies import few

NAMES = [definition.name for definition in DEFINITIONS]
POSITIVE = st.one_of(st.integers(1, 9), st.floats(1e-3, 1e6))
GAINS = st.dictionaries(st.one_of(st.integers(0, 9), st.floats(0, 10)), st.floats(0, 100), max_size=4)

#: What each parameter may be given, by the registry's names.
VALUES = {
    "rel": POSITIVE,
    "recall_base": st.one_of(st.sampled_from(["own", "union"]), st.integers(1, 999), st.floats(1, 999)),
    "judged_only": st.booleans(),
    "dcg": st.sampled_from(["log2", "exp-log2", "original", "exp-original", "zipf", "exp-zipf"]),
    "gains": GAINS,
    "max_rel": POSITIVE,
    "relevance": st.sampled_from(["threshold", "given"]),
    "stop": st.sampled_from(["grade", "given"]),
    "p": st.floats(0, 1, exclude_min=True, exclude_max=True),
    "residual": st.booleans(),
    "beta": st.floats(0, 1000),
    "criterion": st.sampled_from(["vital", "Q 1", "3"]),
}


@st.composite
def written(draw):
    """A measure as somebody might write it: any parameters in any order, blanks, defaults spelled out."""
    definition = draw(st.sampled_from(DEFINITIONS))
    name = draw(st.sampled_from([definition.name, definition.name.lower(), definition.name.upper()]))
    chosen = draw(st.lists(st.sampled_from(definition.parameters), unique=True)) if definition.parameters else []
    inside = draw(st.sampled_from([",", ", "])).join(f"{p.name}={draw(VALUES[p.name])!r}" for p in chosen)
    cutoff = draw(st.one_of(st.none(), st.integers(1, 10**6))) if definition.cutoff == "optional" else None
    cutoff = draw(st.integers(1, 10**6)) if definition.cutoff == "required" else cutoff
    return name + (f"({inside})" if inside or draw(st.booleans()) else "") + ("" if cutoff is None else f"@{cutoff}")


@given(written())
def test_the_canonical_text_of_a_measure_is_the_same_measure(text):
    once = measure(text)
    again = measure(str(once))
    assert again == once
    assert hash(again) == hash(once)
    assert str(again) == str(once)
    assert again.values == once.values
    assert again.cutoff == once.cutoff
    assert measure(once) is once


@given(st.permutations([0, 1, 2, 3]))
def test_the_order_of_parameters_and_of_gains_does_not_matter(grades):
    gains = {grade: grade**2 for grade in grades}
    assert str(measure(f"ERR(gains={gains},max_rel=9)")) == str(measure("ERR(max_rel=9,gains={0:0,1:1,2:4,3:9})"))


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("nDCG@10", "nDCG@10"),
        (" ndcg @ 10 ", "nDCG@10"),
        ("AP()", "AP"),
        ("AP(rel=2.0)", "AP(rel=2)"),
        ("RBP( p = 0.80 )@20", "RBP@20"),
        ("Q(beta=1.0)", "Q"),
        ("nDCG(dcg=exp-log2)@10", "nDCG(dcg='exp-log2')@10"),
        ('nDCG(dcg="exp-log2")@10', "nDCG(dcg='exp-log2')@10"),
        ("P(judged_only=true,rel=0.5)@5", "P(rel=0.5,judged_only=True)@5"),
        ("nDCG(gains={3: 7, 1: 1.0})", "nDCG(gains={1:1,3:7})"),
        ("AP(recall_base=union)", "AP(recall_base='union')"),
        ("ERR(max_rel=5, gains={1: 5})@20", "ERR(max_rel=5,gains={1:5})@20"),
    ],
)
def test_one_measure_has_one_text(text, canonical):
    assert str(measure(text)) == canonical
    assert measure(text) == measure(canonical)


@pytest.mark.parametrize(
    ("name", "canonical"),
    [
        ("map", "AP"), ("map_cut_10", "AP@10"), ("map_cut.10", "AP@10"), ("P_5", "P@5"), ("recall_100", "R@100"),
        ("set_recall", "R"), ("Rprec", "Rprec"), ("recip_rank", "RR"), ("success_1", "Success@1"), ("bpref", "Bpref"),
        ("ndcg", "nDCG"), ("ndcg_cut_10", "nDCG@10"), ("NDCG_CUT_10", "nDCG@10"), ("map@5", "AP@5"),
    ],
)  # fmt: skip
def test_trec_evals_names_are_understood(name, canonical):
    assert str(measure(name)) == canonical


@pytest.mark.parametrize(
    ("theirs", "canonical"),
    [
        (P @ 5, "P@5"),
        (P(rel=2, judged_only=True) @ 3, "P(rel=2,judged_only=True)@3"),
        (R @ 10, "R@10"),
        (Rprec(rel=2), "Rprec(rel=2)"),
        (RR, "RR"),
        (RR(rel=2) @ 10, "RR(rel=2)@10"),
        (MRR, "RR"),
        (Success @ 3, "Success@3"),
        (AP, "AP"),
        (MAP(rel=2) @ 100, "AP(rel=2)@100"),
        (Bpref, "Bpref"),
        (nDCG @ 10, "nDCG@10"),
        (NDCG(dcg="exp-log2") @ 10, "nDCG(dcg='exp-log2')@10"),
        (nDCG(gains={1: 3, 2: 5}, judged_only=True), "nDCG(gains={1:3,2:5},judged_only=True)"),
        (ERR @ 20, "ERR@20"),
        (RBP(p=0.5, rel=2) @ 10, "RBP(p=0.5,rel=2)@10"),
        (Judged @ 10, "Judged@10"),
    ],
)
def test_the_objects_of_ir_measures_are_understood(theirs, canonical):
    assert str(measure(theirs)) == canonical
    assert ir_measures.parse_measure(canonical) == theirs


@pytest.mark.parametrize("definition", DEFINITIONS, ids=NAMES)
def test_every_measure_says_what_it_is_its_formula_and_its_source(definition):
    assert definition.sentence.endswith(".")
    assert "=" in definition.formula
    assert definition.source.endswith((".", ").", ")"))
    assert all(parameter.meaning for parameter in definition.parameters)
    assert {parameter.name for parameter in definition.parameters} <= set(VALUES)


@pytest.mark.parametrize("definition", DEFINITIONS, ids=NAMES)
def test_every_measure_takes_a_cut_off_exactly_where_it_says_so(definition):
    if definition.cutoff == "none":
        with pytest.raises(MeasureError, match="takes no cut-off"):
            measure(f"{definition.name}@10")
    else:
        assert measure(f"{definition.name}@10").cutoff == 10
    if definition.cutoff == "required":
        with pytest.raises(MeasureError, match="needs a cut-off"):
            measure(definition.name)
    else:
        assert measure(definition.name).cutoff is None


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("nDGC@10", "measure 'nDGC@10' is unknown; did you mean 'nDCG@10'?"),
        ("avg_prec", "measure 'avg_prec' is unknown"),
        ("recip_rnk", "did you mean 'recip_rank'?"),
        ("NDGC@10", "did you mean 'nDCG@10'?"),
        ("foo@1000", "measure 'foo@1000' is unknown; there are "),
        ("", "not of the form Name(parameter=value)@k"),
        ("AP(rel=2", "not of the form"),
        ("nDCG@0", "measure 'nDCG@0': the cut-off must be a whole number from 1, not '0'"),
        ("P_0.5", "the cut-off must be a whole number from 1, not '0.5'"),
        ("nDCG_cut_0", "the cut-off must be a whole number from 1, not '0'"),
        ("nDCG@-1", "the cut-off must be a whole number from 1"),
        ("nDCG@ten", "the cut-off must be a whole number from 1"),
        ("nDCG@1.5", "the cut-off must be a whole number from 1"),
        ("nDCG@", "the cut-off must be a whole number from 1"),
        ("nDCG@²", "the cut-off must be a whole number from 1"),
        ("nDCG@99999999999999999999", "the cut-off must be a whole number from 1"),
        ("GAP(rel=2)", "GAP has no parameter 'rel'; it takes relevance, judged_only"),
        ("Judged(rel=2)@5", "Judged has no parameter 'rel'; it takes no parameters"),
        ("AP(2)", "cannot read the parentheses; write (parameter=value, ...)"),
        ("AP(rel=)", "cannot read the parentheses"),
        ("AP(**x)", "cannot read the parentheses"),
        ("AP(rel=2)(rel=3)", "cannot read the parentheses"),
        ("AP(rel=2,rel=3)", "rel is given twice"),
        ("AP(rel=0)", "rel must be a number above 0, not 0"),
        ("AP(rel=high)", "rel must be a number above 0, not 'high'"),
        ("AP(rel=True)", "rel must be a number above 0, not True"),
        ("AP(rel=1e999)", "rel must be a number above 0, not inf"),
        (f"AP(rel=1{'0' * 400})", "rel must be a number above 0"),
        ("Q(beta=-1)", "beta must be a number from 0, not -1"),
        ("Q(beta=1e999)", "beta must be a number from 0, not inf"),
        ("RBP(p=1)", "p must be a number strictly between 0 and 1, not 1"),
        ("AP(recall_base=0)", "recall_base must be one of 'own', 'union' or a number from 1, not 0"),
        (
            "nDCG(dcg=exp)",
            "dcg must be one of 'log2', 'exp-log2', 'original', 'exp-original', 'zipf', 'exp-zipf', not 'exp'",
        ),
        ("P(judged_only=1)@5", "judged_only must be one of False, True, not 1"),
        ("nDCG(gains=2)", "gains must be a map from grades to gains of 0 or more"),
        ("nDCG(gains={1:-2})", "gains must be a map from grades to gains of 0 or more"),
        ("nDCG(gains={1:1e999})", "gains must be a map from grades to gains of 0 or more"),
        ("nDCG(gains={[1]:2})", "gains must be a map from grades to gains of 0 or more"),
    ],
)
def test_a_mistake_in_a_measure_is_answered_in_one_line_that_quotes_it(text, problem):
    with pytest.raises(MeasureError) as caught:
        measure(text)
    message = str(caught.value)
    assert problem in message
    assert f"measure {text!r}" in message
    assert "\n" not in message


@few
@given(st.text(max_size=12) | st.text("nDCGAPRQ_(=)@{}:,'.0129 ", max_size=20))
def test_any_text_is_a_measure_or_a_measure_error(text):
    try:
        said = str(measure(text))
    except MeasureError:
        said = "nDCG@10"
    assert str(measure(said)) == said
