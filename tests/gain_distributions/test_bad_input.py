"""One clear line for each mistake."""

import numpy as np
import pytest
import xarray

from qrowd.errors import ArgumentError, NoOverlapError, ScaleError
from qrowd.gain_distributions import agreement_aware_ndcg, gain_distributions, interval_dcg, uncertain_dcg
from qrowd.model.conventions import Conventions, Duplicates
from qrowd.model.judgments import Judgments
from qrowd.model.runs import Runs

JUDGMENTS = Judgments.from_rows(
    [("q1", "d", "ann", 3), ("q1", "d", "bob", 0), ("q2", "d", "ann", 1), ("q2", "e", "bob", 2)],
    scales={"*": "0-3"},
)
RUNS = Runs.from_dict({"s": {"q1": {"d": 1.0}}})


@pytest.mark.parametrize(("options", "message"), [
    ({"weights": {"eve": 1, "*": 1}}, "no assessor matches 'eve'; there are 2 assessors: ann, bob"),
    ({"weights": {"ann": 1}}, "weights: none for assessor bob; give one for each"),
    ({"weights": {"ann": -1, "bob": 1}}, "weights: -1 for assessor ann, topic q1; a weight is a finite number from 0"),
    ({"weights": {"ann": float("nan"), "bob": 1}}, "weights: nan for assessor ann"),
    ({"weights": {"ann": "much", "bob": 1}}, "weights: 'much' for ann; a number, or one for each topic"),
    ({"weights": {"ann": {"q1": None, "q2": 1}, "bob": 1}}, "weights: None for ann; a number"),
    ({"weights": {"*": 0}}, "weights: all are 0; give"),
    ({"weights": {"*": {"q1": 1, "q2": 0}}}, "weights: all are 0 on topic q2; leave"),
    ({"weights": {"ann": {"q1": 1}, "bob": 1}}, "weights of ann: none for topic q2; give one for each topic"),
    ({"weights": np.ones(3)}, r"weights: an array of shape \(3,\); 2 assessors, or 2 assessors x 2 topics"),
    ({"weights": xarray.DataArray([1.0], {"assessor": ["ann"]})}, "weights: none for assessor bob"),
    ({"weights": xarray.DataArray([1.0, 1, 1], {"assessor": ["ann", "bobby", "bob"]})},
     "weights: no assessor 'bobby'; did you mean 'bob'?"),
    ({"weights": xarray.DataArray([1.0], {"system": ["s"]})}, "weights: dimensions system; assessor"),
    ({"gains": "raw"}, "gains='raw': choose one of as-is, rescaled, log, or a map"),
    ({"gains": {1: -2}}, "gains={1: -2}: a map from grades to gains of 0 or more"),
    ({"shape": "normal"}, "shape='normal': choose one of sample, interval"),
    ({"single": "mean"}, "single='mean': choose one of zero, pooled"),
    ({"repeats": "all"}, "repeats='all': choose one of first, last, mean, error"),
    ({"interval": (0.5, 0.5)}, r"interval=\(0.5, 0.5\): two rising shares"),
    ({"interval": (-1, 2)}, "two rising shares from 0 to 1"),
    ({"interval": 0.9}, "interval=0.9: two rising shares"),
])  # fmt: skip
def test_an_option_that_makes_no_sense_is_named(options, message):
    with pytest.raises(ArgumentError, match=message) as error:
        gain_distributions(JUDGMENTS, **options)
    assert "\n" not in str(error.value)


def test_the_logarithm_of_0_is_refused_with_its_place():
    with pytest.raises(ScaleError, match="assessor bob, topic q1, document d: 0 has no logarithm, so no gain"):
        gain_distributions(JUDGMENTS, gains="log")


def test_unlike_scales_are_not_mixed_silently_and_magnitudes_have_no_unit():
    mixed = JUDGMENTS.with_scales({"ann": "0-5"})
    for gains in ("as-is", {1: 1}):
        with pytest.raises(ScaleError, match=r"ann \(0-5\) and bob \(0-3\) judge on different scales"):
            gain_distributions(mixed, gains=gains)
    assert gain_distributions(mixed, gains="rescaled").mean[0] == pytest.approx(0.3)
    magnitudes = Judgments.from_rows([("q", "d", "ann", 30)], scales={"ann": "magnitude"})
    with pytest.raises(ScaleError, match="magnitudes have no maximum"):
        gain_distributions(magnitudes, gains="rescaled")


def test_judgments_without_any_and_a_panel_without_pairs_are_refused():
    with pytest.raises(ArgumentError, match="there is no judgment by an assessor of weight above 0"):
        gain_distributions(Judgments.from_rows([("q", "d", "ann", -1)]))
    with pytest.raises(ArgumentError, match="no document was judged by two assessors"):
        gain_distributions(Judgments.from_rows([("q", "d", "ann", 1)]), single="pooled")


@pytest.mark.parametrize("function", [interval_dcg, uncertain_dcg, agreement_aware_ndcg])
@pytest.mark.parametrize(("options", "message"), [
    ({"cutoff": 0}, "cutoff=0: a whole number from 1"),
    ({"cutoff": 2.5}, "cutoff=2.5: a whole number"),
    ({"cutoff": True}, "cutoff=True: a whole number"),
    ({"dcg": "exp-log2"}, r"dcg='exp-log2': choose one of log2, original, zipf; 2\^g - 1 is gains="),
])  # fmt: skip
def test_what_a_list_cannot_be_cumulated_by_is_named(function, options, message):
    with pytest.raises(ArgumentError, match=message):
        function(RUNS, JUDGMENTS, **options)


@pytest.mark.parametrize("function", [interval_dcg, uncertain_dcg, agreement_aware_ndcg])
@pytest.mark.parametrize(("option", "message"), [
    ({"unjudged": "condensed"}, "unjudged='condensed': .*'nonrelevant' alone; condensed lists need one assessor's"),
    ({"ties": "expected"}, "ties='expected': distributions of gains allow 'document' alone"),
    ({"duplicates": Duplicates.from_pairs([("q1", "d", "e")])}, "duplicates=1 group of 2 documents: .* allow None"),
    ({"min_coverage": 0.5}, "min_coverage=0.5: distributions of gains allow 0.1 alone"),
])  # fmt: skip
def test_a_convention_that_cannot_be_honoured_is_refused(function, option, message):
    with pytest.raises(ArgumentError, match=message):
        function(RUNS, JUDGMENTS, conventions=Conventions(**option))


def test_repeats_and_grades_are_honoured_where_judgments_are_given_and_refused_where_distributions_are():
    conventions = Conventions(grades="rescaled", repeats="last")
    again = Judgments.from_rows(
        [("q1", "d", "ann", 3), ("q1", "d", "bob", 0), ("q1", "d", "bob", 2)], scales={"*": "0-3"}
    )
    made = gain_distributions(again, gains="rescaled", repeats="last")
    found = uncertain_dcg(RUNS, again, conventions=conventions).mean
    assert found.tolist() == uncertain_dcg(RUNS, made).mean.tolist() == [[pytest.approx(5 / 6)]]
    for option in ({"grades": "rescaled"}, {"repeats": "last"}):
        with pytest.raises(ArgumentError, match="an option of gain_distributions, which was called before"):
            uncertain_dcg(RUNS, made, conventions=Conventions(**option))


def test_options_of_one_function():
    with pytest.raises(ArgumentError, match="cumulate='max': choose one of sum, mixture, assessors"):
        uncertain_dcg(RUNS, JUDGMENTS, cumulate="max")
    with pytest.raises(ArgumentError, match="normalise='minmax': choose one of subtract, divide"):
        agreement_aware_ndcg(RUNS, JUDGMENTS, normalise="minmax")
    with pytest.raises(ArgumentError, match="empty='nan': distributions of gains allow 'zero' alone"):
        uncertain_dcg(RUNS, JUDGMENTS, conventions=Conventions(empty="nan"))


def test_an_ideal_below_0_cannot_be_divided_by():
    judgments = Judgments.from_rows([("q1", "d", "ann", 0.5)], scales={"ann": "magnitude"})
    with pytest.raises(ArgumentError, match="normalise='divide': on topic q1 even the ideal ranking gains less than 0"):
        agreement_aware_ndcg(RUNS, gain_distributions(judgments, gains="log"), normalise="divide")


def test_runs_of_other_topics_are_refused():
    with pytest.raises(NoOverlapError, match="share no topic"):
        uncertain_dcg(Runs.from_dict({"s": {"q9": {"d": 1.0}}}), JUDGMENTS)


def test_an_interval_has_no_assessors():
    with pytest.raises(ArgumentError, match="cumulate='assessors' needs the gains of each assessor"):
        uncertain_dcg(RUNS, gain_distributions(JUDGMENTS, shape="interval"), cumulate="assessors")
