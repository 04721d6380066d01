"""Dawid-Skene and MACE against slow loops, and on assessors whose truth is known."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from merging import by_pair, judgments_of, panels, posterior_by_pair
from oracles import aggregation as oracle
from qrowd.aggregation import dawid_skene, mace, majority_vote
from qrowd.aggregation.aggregate import coded
from qrowd.aggregation.mace import fit, judgments_by_grade
from qrowd.errors import ArgumentError
from qrowd.simulation import Confused, Inverted, Random, Spammer, simulate_judgments, simulate_pool

STARTS = ["majority", "shares", "honest"]
UNSUPPORTED = ["floor", "uniform"]


def close(expected):
    """The oracle's numbers by grade, to what rounding allows after many iterations."""
    return {g: pytest.approx(p, abs=1e-6) for g, p in expected.items()}


# --- Dawid-Skene ------------------------------------------------------------------------------------------------------


@given(panels(), st.sampled_from(STARTS), st.sampled_from([0.0, 0.1]), st.sampled_from(UNSUPPORTED))
@settings(max_examples=settings.default.max_examples * 6 // 5)
def test_pooled_dawid_skene_is_what_its_definition_says(labels, start, smoothing, unsupported):
    options = {"start": start, "smoothing": smoothing, "unsupported": unsupported}
    found = dawid_skene(judgments_of(labels), per="all", ties="lowest", **options)
    grades = found.grades.tolist()
    posterior, confusion, objectives, likelihood = oracle.dawid_skene(labels, grades, **options)
    # Two grades that play the same part stay equal until rounding separates them, some hundred steps later.
    assume(len(objectives) <= 100)
    assert found.iterations == len(objectives)
    assert found.objective == pytest.approx(objectives, abs=1e-6)
    assert found.log_likelihood == pytest.approx(likelihood, abs=1e-6)
    for pair, probabilities in posterior_by_pair(found).items():
        assert probabilities == close(posterior[pair])
    for a, name in enumerate(found.assessors):
        for h, given_grade in enumerate(grades):
            expected = [confusion[name, given_grade, true] for true in grades]
            assert found.confusion[a, h] == pytest.approx(expected, abs=1e-6)


@given(panels(), st.sampled_from(STARTS), st.sampled_from(UNSUPPORTED))
@settings(max_examples=settings.default.max_examples * 4 // 5)
def test_topics_alone_are_fitted_as_if_there_were_no_others(labels, start, unsupported):
    found = dawid_skene(judgments_of(labels), start=start, unsupported=unsupported, ties="lowest")
    together, fits = posterior_by_pair(found), {one.topic: one for one in found.fits}
    grades = found.grades.tolist()
    assert fits.keys() == {topic for topic, _ in labels}
    for topic, one in fits.items():
        own = {pair: said for pair, said in labels.items() if pair[0] == topic}
        posterior, confusion, objectives, likelihood = oracle.dawid_skene(own, grades, start, 0.0, unsupported)
        for pair in own:
            assert together[pair] == close(posterior[pair])
        assert one.objective == pytest.approx(objectives, abs=1e-6)
        assert one.log_likelihood == pytest.approx(likelihood, abs=1e-6)
        assert sorted(one.assessors) == sorted({a for said in own.values() for a in said})
        for a, name in enumerate(one.assessors):
            expected = [[confusion[name, h, g] for g in grades] for h in grades]
            assert one.confusion[a] == pytest.approx(np.array(expected), abs=1e-6)
    assert found.iterations == sum(one.iterations for one in fits.values())
    assert found.log_likelihood == pytest.approx(sum(one.log_likelihood for one in fits.values()))


@given(
    panels(most_documents=10), st.sampled_from(STARTS), st.sampled_from([0.0, 0.5]), st.sampled_from(["topic", "all"])
)
@settings(max_examples=settings.default.max_examples * 3 // 5)
def test_the_objective_of_em_never_falls(labels, start, smoothing, per):
    found = dawid_skene(judgments_of(labels), start=start, per=per, ties="lowest", smoothing=smoothing)
    for one in found.fits:
        # A grade nobody supports is floored, which may cost the likelihood what the floor weighs.
        assert (np.diff(one.objective) >= -1e-6).all()


@given(panels(most_documents=10), st.sampled_from(STARTS))
def test_without_the_floor_s_lock_the_likelihood_of_em_never_falls_at_all(labels, start):
    found = dawid_skene(judgments_of(labels), start=start, per="all", ties="lowest", unsupported="uniform")
    assert (np.diff(found.objective) >= -1e-8).all()


def test_dawid_skene_finds_the_truth_and_the_confusions_where_the_vote_is_misled():
    truth = simulate_pool(1, 600, n_grades=2, rng=1)
    crowd = {f"good-{i}": Confused.of_accuracy(0.9) for i in range(3)}
    crowd |= {f"coin-{i}": Random(0.5) for i in range(4)}
    judgments = simulate_judgments(truth, crowd, rng=1)
    found = dawid_skene(judgments, rng=1)
    right = (found.judgments.value == truth.grade).mean()
    assert right > (majority_vote(judgments, rng=1).judgments.value == truth.grade).mean() + 0.03
    assert right > 0.95
    pooled = dawid_skene(judgments, per="all", rng=1)
    for a, name in enumerate(pooled.assessors):
        expected = 0.9 if name.startswith("good") else 0.5
        assert np.diag(pooled.confusion[a]) == pytest.approx(expected, abs=0.08)
    assert pooled.fits[0].prior == pytest.approx(np.bincount(truth.grade) / 600, abs=0.05)


def test_confusions_of_three_grades_are_recovered_with_the_true_grade_in_the_right_place():
    """An asymmetric case: rows and columns may not be exchanged."""
    severe = [[1.0, 0.0, 0.0], [0.7, 0.3, 0.0], [0.1, 0.6, 0.3]]
    truth = simulate_pool(1, 3000, n_grades=3, rng=3)
    crowd = {f"good-{i}": Confused.of_accuracy(0.9, n_grades=3) for i in range(4)} | {"severe": Confused(severe)}
    found = dawid_skene(simulate_judgments(truth, crowd, rng=3), per="all", rng=1)
    estimated = found.confusion[-1].T
    share = np.bincount(truth.grade) / truth.grade.size
    error = np.sqrt(0.25 / (share * truth.grade.size))[:, None]  # of a share among the documents of a true grade
    assert (np.abs(estimated - severe) < 4 * error).all()
    frame = found.to_frame(what="confusion").set_index(["assessor", "true"])
    assert frame.loc[("severe", 1.0), "gives_0"] == estimated[1, 0]


def test_an_inverted_assessor_is_as_good_a_witness_as_an_upright_one():
    truth = simulate_pool(1, 600, n_grades=2, rng=4)
    good = Confused.of_accuracy(0.85)
    crowd = {"ann": good, "bob": good, "cyd": good, "eve": Inverted(good)}
    judgments = simulate_judgments(truth, crowd, rng=4)
    right = [
        (one.judgments.value == truth.grade).mean()
        for one in (
            dawid_skene(judgments, rng=1),
            dawid_skene(judgments.select(assessors=["ann", "bob", "cyd"]), rng=1),
            majority_vote(judgments, rng=1),
        )
    ]
    assert right[0] > right[1] > right[2]


def test_an_even_chance_is_not_relevant():
    found = dawid_skene(judgments_of({("t", "d"): {"a": 0, "b": 1}}), start="shares")
    assert found.posterior[0].tolist() == [0.5, 0.5]
    assert by_pair(found) == {("t", "d"): 0}
    assert found.n_ties == 1


def test_what_did_not_converge_says_so():
    labels = {("t", f"d{i}"): {"a": i % 2, "b": i % 3 == 0, "c": i % 5 < 2} for i in range(30)}
    with pytest.warns(UserWarning, match="did not converge within 1 iterations"):
        found = dawid_skene(judgments_of(labels), tol=1e-12, max_iterations=1)
    assert found.converged is False
    assert found.fits[0].converged is False
    with pytest.warns(UserWarning, match="mace did not converge within 2 iterations"):
        assert mace(judgments_of(labels), tol=1e-12, max_iterations=2, rng=1).converged is False


# --- MACE -------------------------------------------------------------------------------------------------------------

KNOWING, GUESSING = 0.5, 10.0
PRIORS = st.sampled_from(["fitted", "uniform"])


@given(panels(), PRIORS, st.integers(0, 5), st.integers(1, 12))
@settings(max_examples=settings.default.max_examples * 6 // 5)
def test_mace_is_what_its_definition_says_from_any_start(labels, prior, seed, n_iterations):
    """The oracle tries every way of everyone having known or guessed."""
    data = coded(judgments_of(labels), "first")
    grades, said = data.grades.tolist(), judgments_by_grade(data)
    known = said * np.random.default_rng(seed).random(said.shape)
    start = {(a, g): known[i, j] for i, a in enumerate(data.assessors) for j, g in enumerate(grades)}
    found = fit(data, said, known, prior, KNOWING, GUESSING, 1e-300, n_iterations)  # one grade settles at once
    posterior, competence, frequency, bounds, likelihood = oracle.mace(
        labels, grades, start, prior == "fitted", KNOWING, GUESSING, len(found.objective)
    )
    for pair, row in zip(by_pair(majority_vote(judgments_of(labels), ties="lowest")), found.posterior, strict=True):
        assert dict(zip(grades, row.tolist(), strict=True)) == close(posterior[pair])
    assert found.competence.tolist() == pytest.approx([competence[a] for a in data.assessors])
    assert dict(zip(grades, found.prior.tolist(), strict=True)) == close(frequency)
    assert found.objective.tolist() == pytest.approx(bounds, abs=1e-9)
    assert found.log_likelihood == pytest.approx(likelihood)


@given(panels(), PRIORS, st.sampled_from([0.5, 2.0]), st.sampled_from([None, 1.0, 10.0]))
@settings(max_examples=settings.default.max_examples * 4 // 5)
def test_mace_starts_from_half_of_everything_known_and_uses_its_priors(labels, prior, knowing, guessing):
    found = mace(judgments_of(labels), prior=prior, restarts=1, knowing=knowing, guessing=guessing)
    grades = found.grades.tolist()
    guessing = guessing or {"fitted": 1.0, "uniform": 10.0}[prior]
    posterior, competence, _, bounds, _ = oracle.mace(
        labels, grades, oracle.mace_start(labels, grades), prior == "fitted", knowing, guessing, found.iterations
    )
    assert {pair: close(p) for pair, p in posterior.items()} == posterior_by_pair(found)
    assert dict(zip(found.assessors, found.competence.tolist(), strict=True)) == close(competence)
    assert found.objective.tolist() == pytest.approx(bounds, abs=1e-9)


@given(panels(most_documents=10), PRIORS)
@settings(max_examples=settings.default.max_examples // 2)
def test_the_bound_of_mace_never_falls_and_more_starts_never_lower_it(labels, prior):
    one, more = (mace(judgments_of(labels), prior=prior, restarts=restarts, rng=1) for restarts in (1, 4))
    assert (np.diff(one.objective) >= -1e-9).all()
    assert more.objective[-1] >= one.objective[-1]


def test_mace_tells_spammers_from_those_who_know():
    truth = simulate_pool(2, 200, n_grades=3, rng=2)
    crowd = {f"good-{i}": Confused.of_accuracy(0.85, n_grades=3) for i in range(3)}
    crowd |= {f"spam-{i}": Spammer() for i in range(3)} | {"always-0": Spammer(0)}
    judgments = simulate_judgments(truth, crowd, rng=2)
    found = mace(judgments, rng=1)
    competence = dict(zip(found.assessors, found.competence, strict=True))
    # Right with probability .85 is knowing, or guessing right: .775 + .225 / 3.
    good = [competence[name] for name in crowd if name.startswith("good")]
    assert good == pytest.approx([0.775] * 3, abs=0.06)
    assert max(competence[name] for name in crowd if not name.startswith("good")) < 0.1
    assert (found.judgments.value == truth.grade).mean() > (
        majority_vote(judgments, rng=1).judgments.value == truth.grade
    ).mean()


def test_mace_gives_the_same_whichever_answer_is_called_1():
    truth = simulate_pool(1, 300, n_grades=2, rng=5)
    crowd = {f"good-{i}": Confused.of_accuracy(0.8) for i in range(3)} | {"spam": Spammer(), "lazy": Random(0.1)}
    judgments = simulate_judgments(truth, crowd, rng=5)
    turned = judgments.recode({0: 1, 1: 0})
    assert (mace(turned, rng=1).judgments.value == 1 - mace(judgments, rng=1).judgments.value).all()


# --- arguments --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda j: dawid_skene(j, start="random"), "start='random': choose one of majority, shares, honest"),
        (lambda j: dawid_skene(j, per="assessor"), "per='assessor': choose one of topic, all"),
        (lambda j: dawid_skene(j, unsupported="zero"), "unsupported='zero': choose one of floor, uniform"),
        (lambda j: dawid_skene(j, start="shares", ties="random"), "ties='random': choose one of coin"),
        (lambda j: dawid_skene(j, tol=0), "tol=0"),
        (lambda j: dawid_skene(j, tol=float("nan")), "tol=nan"),
        (lambda j: dawid_skene(j, smoothing=-1), "smoothing=-1"),
        (lambda j: mace(j, restarts=0), "restarts=0"),
        (lambda j: mace(j, prior="flat"), "prior='flat': choose one of fitted, uniform"),
        (lambda j: mace(j, guessing=0), "guessing=0"),
    ],
)
def test_arguments_out_of_range_are_refused_by_name(call, message):
    with pytest.raises(ArgumentError, match=message):
        call(judgments_of({("t", "d"): {"a": 1}}))
