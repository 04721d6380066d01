"""A signature says how a result was computed: read back, it computes the same again."""

import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from drawn_conventions import conventions
from qrowd.agreement import cohen_kappa, krippendorff_alpha
from qrowd.errors import QrowdError
from qrowd.evaluation import evaluate
from qrowd.methods import evaluate_methods
from qrowd.model.conventions import Conventions
from qrowd.model.signature import version
from qrowd.preferences import bradley_terry
from qrowd.reports.agreement_tables import agree
from qrowd.reports.aware import aware_of
from qrowd.reports.comparison import compare
from qrowd.reports.evaluation import evaluation_of
from qrowd.reports.prediction import predict_relevance
from qrowd.reports.replacement import replacement_report
from qrowd.sequential import next_judgments
from qrowd.simulation import simulate_demo
from strategies import few, worlds

NUMBERS = {"min_coverage": float, "confidence": float, "n_resamples": int, "rng": int}
FIELDS = set(Conventions.__dataclass_fields__)
CHANGED = [*sorted(FIELDS - {"duplicates"}), "confidence", "n_resamples", "rng"]


def fields(signature):
    """[name, words] of each field, by the grammar of docs/signature.md."""
    words = re.compile(r'"(?:[^"\\]|\\.)*"|[^\s"]+')
    texts = [words.findall(field) for field in signature.split(" | ")]
    return [[json.loads(word) if word.startswith('"') else word for word in text] for text in texts]


def read(signature, **data):
    """The arguments of the call that a signature of `compare` states. data : what it can only name."""
    (_, release), measures, *others = fields(signature)
    assert release == version()
    options = {}
    for name, *words in others:
        if name in ("both", "over", "resamples"):
            options["n_resamples"] = words[-1]
        elif name not in ("runs", "topics", "assessors"):
            options[{"seed": "rng"}.get(name, name.replace("-", "_"))] = words[0] if len(words) == 1 else tuple(words)
    options |= {name: kind(options[name]) for name, kind in NUMBERS.items() if name in options}
    chosen = {name: options.pop(name) for name in FIELDS & set(options)}
    return {"measures": measures, "conventions": Conventions(**chosen | data), **options}


def assert_equal(first, second):
    """Every table of two results, to the last bit."""
    assert first.records().keys() == second.records().keys()
    for name in first.records():
        pd.testing.assert_frame_equal(first.to_frame(what=name), second.to_frame(what=name), check_exact=True)
    np.testing.assert_array_equal(first.scores.values, second.scores.values)


def compared(world, drawn):
    try:
        return compare(world.runs, world.judgments, **drawn)
    except QrowdError:
        assume(False)


@st.composite
def options(draw, measures=("nDCG@3", "P@2")):
    return {
        "measures": list(measures),
        "conventions": draw(conventions(measures)),
        "confidence": draw(st.sampled_from([0.95, 0.9])),
        "n_resamples": draw(st.sampled_from([20, 30])),
        "rng": draw(st.integers(0, 2)),
    }


@few
@given(worlds(), options())
def test_the_signature_of_a_comparison_is_read_back_and_gives_the_same_result(world, drawn):
    result = compared(world, drawn)
    data = {} if drawn["conventions"].duplicates is None else {"duplicates": drawn["conventions"].duplicates}
    again = compare(world.runs, world.judgments, **read(result.signature, **data))
    assert again.signature == result.signature
    assert_equal(again, result)


@few
@given(worlds(), options(), options(), st.sampled_from(CHANGED))
def test_where_one_option_changes_a_number_it_changes_the_signature(world, first, other, name):
    """Duplicates are a file, which is data."""
    second = {**first, name: other.get(name)}
    if name in FIELDS:
        value = getattr(other["conventions"], name)
        second = {**first, "conventions": replace(first["conventions"], **{name: value})}
    one, two = (compared(world, drawn) for drawn in (first, second))
    if one.signature == two.signature:
        assert_equal(one, two)


@pytest.fixture(scope="module")
def demo():
    runs, judgments, _ = simulate_demo()
    return runs, judgments


def changed(function, base, **options):
    """Each option changed alone: its name, and the signature with and without the change."""
    plain = function(**base).signature
    return {name: (plain, function(**base | {name: value}).signature) for name, value in options.items()}


def test_every_option_of_compare_that_changes_a_number_changes_the_signature(demo):
    def call(**drawn):
        return compare(*demo, **{"n_resamples": 20, **drawn})

    signatures = changed(
        call, {}, measures="AP", baseline="bm25", reference="ann", systems=("bm25", "hybrid"),
        related={"ann": ["bm25*"]}, confidence=0.9, n_resamples=30, rng=2,
    )  # fmt: skip
    assert [name for name, (plain, other) in signatures.items() if plain == other] == []
    assert ["related", "ann=bm25*"] in fields(signatures["related"][1])


@pytest.mark.parametrize(
    ("name", "value"),
    {
        "ties": "expected", "score_dtype": "float32", "unjudged": "condensed", "missing": "skip", "empty": "nan",
        "min_coverage": 0.5, "repeats": "last", "grades": "rescaled",
    }.items(),
)  # fmt: skip
def test_every_convention_that_differs_from_its_default_is_stated(demo, name, value):
    scores = evaluate(*demo, "nDCG@10", conventions=Conventions(**{name: value}))
    assert [name.replace("_", "-"), str(value)] in fields(scores.signature)


def test_a_default_is_stated_where_a_score_depends_on_it(demo):
    stated = {name for name, *_ in fields(evaluate(*demo, "nDCG@10").signature)}
    assert stated & {"ties", "unjudged", "empty", "missing", "repeats"} == {"ties", "unjudged", "empty"}
    one = {"a": {"q": {"d": 2.0, "e": 1.0}}, "b": {"q": {"e": 1.0}}}
    plain = evaluate(one, {"ann": {"q": {"d": 1, "e": 0}}}, "nDCG@10")
    assert plain.signature == f"qrowd {version()} | nDCG@10 | runs 2 | topics 1 | assessors 1"
    lacking = evaluate(one, {"ann": {"q": {"d": 1, "e": 0}, "r": {"d": 1}}}, "nDCG@10")
    assert ["missing", "zero"] in fields(lacking.signature)


@pytest.mark.parametrize("reference", ["ann", "bob", None])
def test_a_default_on_which_the_agreement_with_a_reference_depends_is_stated(reference):
    runs = {"a": {"q": {"d": 2.0, "e": 1.0}}, "b": {"q": {"e": 2.0, "d": 1.0}}}
    judgments = {"ann": {"q": {"d": 1, "e": 0}}, "bob": {"q": {"d": 0, "e": 0}}}
    assert ["empty", "zero"] in fields(compare(runs, judgments, "AP", reference=reference).signature)


def test_options_of_other_functions_change_their_signatures(demo):
    runs, judgments = demo
    few = judgments.select(assessors=["ann", "bob", "lena", "sven"])
    functions = {
        agree: (
            ((few,), {"n_resamples": 20}),
            {"level": "nominal", "resample": "documents", "n_resamples": 30, "rng": 2, "confidence": 0.9},
        ),
        aware_of: (
            ((runs, few, ["AP"]), {"n_resamples": 5}),
            {"estimator": "sgl_tau_md", "polarity": "printed", "n_resamples": 6, "rng": 2},
        ),
        predict_relevance: (
            ((few,), {"rel": 1, "n_resamples": 5}),
            {"rel": 2, "method": "one-sided", "smoothing": 1.0, "resample": "documents", "rng": 2},
        ),
        replacement_report: (
            ((few, "ann"), {}),
            {"eps": 0.1, "independent": "documents", "closeness": "rmse", "rel": 2},
        ),
        evaluate_methods: (((runs, few, ["AP"]), {"methods": ["majority"]}), {"methods": ["mean"], "rng": 2}),
        evaluation_of: (((runs, few, ["AP"]), {}), {"baseline": "bm25", "methods": ["majority"], "rng": 2}),
    }
    for function, ((data, base), others) in functions.items():
        signatures = changed(lambda f=function, d=data, **drawn: f(*d, **drawn), base, **others)
        assert [(function.__name__, name) for name, (plain, other) in signatures.items() if plain == other] == []


def test_a_generator_gives_a_seed_that_gives_the_same_again(demo):
    result = compare(*demo, n_resamples=20, rng=np.random.default_rng(7))
    assert_equal(compare(*demo, n_resamples=20, rng=int(fields(result.signature)[-1][1])), result)


def test_names_with_blanks_bars_and_quotes_are_read_back():
    names = ["a b | c", 'say "x"', "plain"]
    lists = {name: {"q": {"d": n}, "r": {"d": n, "e": 1.0}} for n, name in enumerate(names, 2)}
    judgments = {"ann": {"q": {"d": 1}, "r": {"e": 1}}, "bob": {"q": {"d": 1}, "r": {"d": 2}}}
    signature = compare(lists, judgments, systems=tuple(names[:2]), n_resamples=20).signature
    assert ["systems", *names[:2]] in fields(signature)
    assert "\n" not in signature


def test_results_of_single_statistics_say_what_they_hold(demo):
    _, judgments = demo
    few = judgments.select(assessors=["ann", "bob"])
    assert cohen_kappa(few, "ann", "bob").signature == f"qrowd {version()}"
    alpha = krippendorff_alpha(few, n_resamples=20, rng=3)
    assert fields(alpha.signature)[1:] == [["topics", "25"], ["resample", "topics", "20"], ["seed", "3"]]


def test_the_signature_of_a_bradley_terry_model_and_of_a_question_have_their_options():
    from qrowd.model.preferences import Preferences

    rows = [("q", "a", "b", "ann"), ("q", "b", "c", "bob"), ("q", "a", "c", "ann")]
    worths = bradley_terry(Preferences.from_rows(rows), ties="davidson", n_resamples=0)
    assert fields(worths.signature)[1:] == [
        ["bradley-terry"],
        ["topics", "1"],
        ["assessors", "2"],
        ["ties", "davidson"],
    ]
    runs, judgments, _ = simulate_demo()
    asked = next_judgments(
        runs, None, question="bm25 > hybrid", scale="0-3", models=judgments.select(assessors=["llm-a"])
    )
    assert ["question", "bm25 > hybrid"] in fields(asked.signature)


def test_data_are_no_options_in_whatever_form_they_come(demo):
    runs, judgments = demo
    models = judgments.select(assessors=["llm-a"])
    options = {"question": "bm25 > hybrid", "scale": "0-3"}
    forms = (models, models.to_frame(), models.to_dict())
    first, *others = (next_judgments(runs, None, models=form, **options).signature for form in forms)
    assert set(others) == {first.replace(" | assessors 1", "")}  # a result of `next` does not count assessors itself
    assert " | models llm-a | " in first  # which of the assessors
    functions = {"ann": lambda system: system == "bm25"}
    assert compare(*demo, related=functions, n_resamples=20).signature.count(" | related ann=") == 1
