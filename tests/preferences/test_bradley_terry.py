"""Strengths: against SciPy on the plain formula and choix, by their laws, in simulation and on real preferences."""

import sys
from itertools import combinations

import choix
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import bradley_terry as oracle
from qrowd.errors import ArgumentError, NoOverlapError
from qrowd.files import read_preferences
from qrowd.model.preferences import Preferences, concatenate_preferences
from qrowd.preferences import bradley_terry
from qrowd.preferences.bradley_terry import comparisons
from qrowd.simulation import simulate_demo, simulate_preferences

DOCUMENTS = ("a", "b", "c", "d", "e")
WHO = ("ann", "bob", "cy")
pair = st.lists(st.sampled_from(DOCUMENTS), min_size=2, max_size=2, unique=True).map(tuple)
rows = st.lists(st.tuples(pair, st.sampled_from(WHO), st.sampled_from([1, 2])), min_size=1, max_size=20)
ridges = st.sampled_from([0.05, 0.3, 2.0])


def preferences_of(said, topic="q"):
    return Preferences.from_rows([(topic, *two, who, strength) for two, who, strength in said])


def log_worths(found):
    return {(row.topic, row.document): row.log_worth for row in found.to_frame().itertuples()}


def random_preferences(n, n_documents, n_assessors, seed, *, sides=True, ties=0.0):
    """Rows of a known world as a frame of plain columns."""
    random = np.random.default_rng(seed)
    worth = random.normal(size=n_documents)
    columns = {name: [] for name in ("topic", "preferred", "other", "assessor", "first", "weight")}
    for _ in range(n):
        i, j = random.choice(n_documents, 2, replace=False)
        if random.random() > 1 / (1 + np.exp(worth[j] - worth[i])):
            i, j = j, i
        who, first = f"w{random.integers(n_assessors)}", float(random.random() < 0.6) if sides else np.nan
        both = [(i, j, first, 0.5), (j, i, 1 - first, 0.5)] if random.random() < ties else [(i, j, first, 1.0)]
        for better, worse, shown, weight in both:
            for name, cell in zip(columns, ("q", f"d{better}", f"d{worse}", who, shown, weight), strict=True):
                columns[name].append(cell)
    return Preferences.from_frame(columns)


def as_rows(preferences, *, ties):
    """What the oracle reads; half preferences become ties where those are modelled, one per two rows."""
    data, halves = [], 0
    weight = np.ones(len(preferences)) if preferences.weight is None else preferences.weight
    for row in range(len(preferences)):
        i, j, who = preferences.preferred[row], preferences.other[row], preferences.assessor[row]
        side = 0 if preferences.first is None else 2 * preferences.first[row] - 1
        if ties and weight[row] == 0.5:
            halves += 1
            if halves % 2:
                data.append((i, j, who, side, "tie", 1.0))
        else:
            data.append((i, j, who, side, "one", weight[row]))
    return data


# ---- against peers and the oracle


@settings(max_examples=settings.default.max_examples * 3 // 10)
@given(rows, ridges)
def test_log_worths_are_choixs(said, ridge):
    preferences = preferences_of(said)
    found = bradley_terry(preferences, ridge=ridge)
    data = list(zip(preferences.preferred.tolist(), preferences.other.tolist(), strict=True))
    wanted = choix.opt_pairwise(len(preferences.documents), data, alpha=ridge, tol=1e-12)
    assert found.converged
    assert found.log_worth == pytest.approx(wanted, abs=1e-6)
    assert found.log_likelihood == pytest.approx(choix.log_likelihood_pairwise(data, found.log_worth))


def test_without_a_ridge_log_worths_are_the_maximum_likelihood_of_choix():
    preferences = random_preferences(200, 6, 1, 3, sides=False)
    data = list(zip(preferences.preferred.tolist(), preferences.other.tolist(), strict=True))
    wanted = choix.ilsr_pairwise(6, data, alpha=0.0, tol=1e-12)
    found = bradley_terry(preferences, ridge=0)
    assert found.log_worth == pytest.approx(wanted - wanted.mean(), abs=1e-6)
    assert np.isfinite(found.standard_error).all()


@pytest.mark.parametrize("position", [False, True])
@pytest.mark.parametrize("ties", ["half", "davidson"])
@pytest.mark.parametrize("assessor_weights", [False, True])
def test_every_model_is_at_the_minimum_of_its_formula(assessor_weights, ties, position):
    preferences = random_preferences(60, 4, 3, 5, ties=0.3)
    found = bradley_terry(preferences, ridge=0.2, assessor_weights=assessor_weights, ties=ties, position=position)
    data = as_rows(preferences, ties=ties == "davidson")
    log_worth, trust, intercept, nu, objective = oracle.fitted(
        data, 4, 3, 0.2, ties=ties == "davidson", position=position, assessor_weights=assessor_weights
    )
    assert found.converged
    assert found.objective == pytest.approx(objective, rel=1e-9)
    assert found.log_worth == pytest.approx(log_worth, abs=1e-4)
    assert found.assessor_weight == pytest.approx(trust, abs=1e-4)
    assert found.intercept == pytest.approx(intercept, abs=1e-4)
    assert found.nu == pytest.approx(nu, abs=1e-4)


def test_standard_errors_are_those_of_the_second_derivatives():
    preferences = random_preferences(60, 4, 1, 8, sides=False)
    found = bradley_terry(preferences, ridge=0.2)
    data, step = as_rows(preferences, ties=False), 1e-4
    shift = np.eye(4) * step

    def value(s):
        return oracle.objective(data, s, [1], [0], 0, 0.2, 1, False)

    s = found.log_worth
    bent = [
        [(value(s + x + y) - value(s + x - y) - value(s - x + y) + value(s - x - y)) / (4 * step**2) for y in shift]
        for x in shift
    ]
    centre = np.eye(4) - 1 / 4  # log-worths add up to 0
    assert found.standard_error == pytest.approx(np.sqrt(np.diag(centre @ np.linalg.inv(bent) @ centre)), rel=1e-4)


# ---- laws


@settings(max_examples=settings.default.max_examples * 3 // 10)
@given(rows, ridges)
def test_log_worths_of_a_topic_add_up_to_nothing_and_turn_with_the_preferences(said, ridge):
    found = bradley_terry(preferences_of(said), ridge=ridge)
    turned = bradley_terry(preferences_of([(two[::-1], who, n) for two, who, n in said]), ridge=ridge)
    assert found.log_worth.sum() == pytest.approx(0, abs=1e-9)
    here, there = log_worths(found), log_worths(turned)
    assert here == pytest.approx({key: -value for key, value in there.items()}, abs=1e-6)


@settings(max_examples=settings.default.max_examples * 3 // 10)
@given(rows, rows)
def test_topics_do_not_meet_and_names_do_not_matter(one, two):
    both = concatenate_preferences([preferences_of(one, "q"), preferences_of(two, "u")])
    found = log_worths(bradley_terry(both))
    assert found == pytest.approx(
        log_worths(bradley_terry(preferences_of(one, "q"))) | log_worths(bradley_terry(preferences_of(two, "u"))),
        abs=1e-6,
    )
    shuffled = log_worths(bradley_terry(preferences_of(one[::-1], "q")))
    assert {key: found[key] for key in shuffled} == pytest.approx(shuffled, abs=1e-6)


@settings(max_examples=settings.default.max_examples * 3 // 10)
@given(rows)
def test_a_strong_preference_that_weighs_twice_is_two_preferences(said):
    twice = [row for row in said for _ in range(row[2])]
    weighed = log_worths(bradley_terry(preferences_of(said), strong=2))
    assert weighed == pytest.approx(log_worths(bradley_terry(preferences_of(twice))), abs=1e-6)


@settings(max_examples=settings.default.max_examples * 3 // 10)
@given(rows)
def test_one_assessor_alone_has_weight_1(said):
    alone = preferences_of([(two, "ann", n) for two, _, n in said])
    found = bradley_terry(alone, assessor_weights=True)
    assert found.assessor_weight == pytest.approx([1])
    assert found.log_worth == pytest.approx(bradley_terry(alone).log_worth, abs=1e-5)


@given(rows)
@settings(max_examples=settings.default.max_examples * 3 // 10)
def test_the_mean_square_of_assessor_weights_is_one_and_most_are_presumed_honest(said):
    found = bradley_terry(preferences_of(said), assessor_weights=True)
    assert (found.assessor_weight**2).mean() == pytest.approx(1)
    assert found.assessor_weight.sum() >= -1e-9


def test_ties_counted_half_or_as_ties_lie_between_the_documents():
    pairs = [*combinations("abcd", 2), ("c", "b")]
    columns = dict(zip(("preferred", "other"), zip(*pairs, strict=True), strict=True))
    weight = [0.5 if set(pair) == {"b", "c"} else 1.0 for pair in pairs]
    said = Preferences.from_frame({"topic": ["q"] * 7, **columns, "weight": weight}, assessor="ann")
    for ties in ("half", "davidson"):
        a, b, c, d = bradley_terry(said, ties=ties).log_worth
        assert a > b
        assert b == pytest.approx(c)
        assert c > d
        assert (bradley_terry(said, ties=ties).nu > 0) == (ties == "davidson")


def test_documents_that_were_only_marked_have_no_log_worth_and_parts_are_numbered():
    said = Preferences.from_rows([("q", "a", "b", "ann"), ("q", "x", "y", "ann")], bad=[("q", "z", "ann")])
    found = bradley_terry(said, n_resamples=5, rng=1)
    assert found.component.tolist() == [0, 1, 0, 1, -1]  # documents stand as they were read: a, x, b, y, z
    assert np.isnan(found.log_worth).tolist() == [False] * 4 + [True]
    assert np.isnan(found.low[-1])
    assert np.isnan(found.standard_error[-1])


# ---- who is to be trusted


@pytest.fixture(scope="module")
def crowd():
    """Three honest assessors, one who guesses, one adversary; and the truth."""
    _, _, truth = simulate_demo()
    return simulate_preferences(truth, 5, coverage=0.05, assessor_weights=(1, 1, 1, 0, -1), rng=1), truth


def test_assessor_weights_find_the_adversary_and_the_guesser_and_the_truth(crowd):
    said, truth = crowd
    gold = {
        (truth.pool.topics[t], truth.pool.documents[truth.pool.document[row]]): truth.relevance[row]
        for t in range(len(truth.pool.topics))
        for row in range(truth.pool.starts[t], truth.pool.starts[t + 1])
    }

    def quality(found):
        table = found.to_frame()
        table["gold"] = [gold[key] for key in zip(table["topic"], table["document"], strict=True)]
        return np.mean([part["log_worth"].corr(part["gold"]) for _, part in table.groupby("topic")])

    weighed, plain = bradley_terry(said, assessor_weights=True), bradley_terry(said)
    honest, guesser, adversary = weighed.assessor_weight[:3], weighed.assessor_weight[3], weighed.assessor_weight[4]
    assert (honest > 1).all()
    assert abs(guesser) < 0.15
    assert adversary < -1
    assert quality(weighed) > 0.88
    assert quality(plain) < 0.6


def test_intervals_over_assessors_and_pairs_hold_the_fit_and_repeat_with_their_seed(crowd):
    said = crowd[0].select(topics=crowd[0].topics[:2])
    for resample in ("pairs", "assessors", "both"):
        found = bradley_terry(said, assessor_weights=True, n_resamples=12, resample=resample, rng=7)
        assert (found.low <= found.high).all()
        assert np.mean((found.low <= found.log_worth + 0.5) & (found.log_worth - 0.5 <= found.high)) > 0.9
        assert found.assessor_weight_high[4] < 0 < found.assessor_weight_low[:3].min()  # no replicate is turned round
    again = bradley_terry(said, assessor_weights=True, n_resamples=12, resample="both", rng=found.seed)
    assert again.low == pytest.approx(found.low, abs=1e-6)
    assert bradley_terry(said, n_resamples=3).seed is not None


def test_two_standard_errors_cover_log_worths_of_a_known_world_about_as_often_as_they_should():
    random, hits, n = np.random.default_rng(2), 0, 0
    worth = np.array([1.0, 0.4, -0.2, -1.2])
    for _ in range(25):
        said = []
        for i in range(4):
            for j in range(i):
                for _ in range(12):
                    up = random.random() < 1 / (1 + np.exp(worth[j] - worth[i]))
                    said.append(("t", f"d{i}", f"d{j}") if up else ("t", f"d{j}", f"d{i}"))
        preferences = Preferences.from_rows([(*row, "ann") for row in said])
        found = bradley_terry(preferences, ridge=0.01)
        order = [int(name[1:]) for name in found.documents_of("t")]
        inside = np.abs(found.log_worth - worth[order]) <= 1.96 * found.standard_error
        hits, n = hits + int(inside.sum()), n + 4
    assert 0.88 <= hits / n <= 0.99


def test_an_assessor_drawn_twice_is_two_assessors_alike():
    one = random_preferences(80, 4, 2, 4, sides=False)
    data = comparisons(one, ties="half", strong=1.0, sides=False)
    doubled = data.times(np.where(data.rows.assessor == 0, 2.0, 0.0))
    assert (doubled.rows.assessor == 0).all()
    assert doubled.total.sum() == 2 * data.total[data.rows.assessor == 0].sum()
    assert doubled.starts.tolist() == [0, doubled.pair.size]


# ---- real preferences


def test_log_worths_of_all_topics_of_gpt4o_are_choixs_and_order_documents_as_nist_does(dl21):
    gpt = read_preferences(dl21 / "preferences" / "gpt4o.txt.gz")
    found = bradley_terry(gpt)
    assert found.converged
    assert found.component.max() == 0
    assert found.log_likelihood == pytest.approx(-11320.027, abs=1e-3)
    sizes = np.diff(found.pool.starts)
    topic = int(np.argsort(sizes)[3])
    said = gpt.topic_view(topic)
    wanted = choix.opt_pairwise(said.n_documents, [tuple(row) for row in said.pairs.tolist()], alpha=0.1, tol=1e-12)
    assert found.log_worth[found.pool.rows(topic)] == pytest.approx(wanted, abs=1e-6)


def test_the_crowd_of_dl21_favours_what_is_shown_first(dl21):
    found = bradley_terry(read_preferences(dl21 / "preferences" / "crowd.txt.gz"), position=True)
    assert found.intercept[0] == pytest.approx(0.1077, abs=1e-4)


# ---- bad input


def test_bad_input_gets_one_clear_line():
    said = preferences_of([(("a", "b"), "ann", 1), (("b", "c"), "ann", 1)])
    with pytest.raises(ArgumentError, match=r"ridge=0: topic q falls into 3 parts that did not win"):
        bradley_terry(said, ridge=0)
    with pytest.raises(ArgumentError, match="ridge=0 gives log-worths alone"):
        bradley_terry(said, ridge=0, assessor_weights=True)
    with pytest.raises(NoOverlapError, match="there is no preference"):
        bradley_terry(Preferences.from_rows([], bad=[("q", "a", "ann")]))
    with pytest.raises(NoOverlapError, match="resample='assessors' draws assessors, and there is only one"):
        bradley_terry(said, n_resamples=10, resample="assessors")
    for options, line in (
        ({"ridge": -1}, "ridge=-1"),
        ({"ridge": np.nan}, "ridge=nan"),
        ({"ties": "rao"}, "ties='rao': choose one of half, davidson"),
        ({"resample": "topics"}, "resample='topics': choose one of pairs, assessors, both"),
        ({"n_resamples": -1}, "n_resamples=-1"),
        ({"strong": 0}, "strong=0"),
        ({"position": True}, "position=True: the preferences do not say which document was shown first"),
    ):
        with pytest.raises(ArgumentError, match=line):
            bradley_terry(said, **options)
    found = bradley_terry(said)
    with pytest.raises(ArgumentError, match="document 'z' was not compared on topic q"):
        found.probability("q", "a", "z")
    with pytest.raises(ArgumentError, match="no topic is called 'u'; there are 1"):
        found.probability("u", "a", "b")


def test_a_fit_that_does_not_converge_says_so(monkeypatch):
    monkeypatch.setattr(sys.modules["qrowd.preferences.bradley_terry"], "MOST_STEPS", 1)
    said = preferences_of([(("a", "b"), "ann", 1), (("b", "c"), "ann", 1)])
    with pytest.warns(UserWarning, match="bradley_terry did not converge"):
        assert not bradley_terry(said).converged
    with (
        pytest.warns(UserWarning, match="bradley_terry did not converge"),
        pytest.warns(UserWarning, match="[1-4] of 4 resamples did not converge"),
    ):
        bradley_terry(said, n_resamples=4, rng=1)
