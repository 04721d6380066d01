"""The alternative annotator test."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import false_discovery_control
from statsmodels.stats.multitest import multipletests

from oracles import replacement as oracle
from panels import ASSESSORS, GRADES, judgments_of, panels
from qrowd.comparison.p_values import benjamini_yekutieli
from qrowd.errors import ArgumentError, NoOverlapError, ScaleError
from qrowd.files import read_judgments
from qrowd.model.judgments import Judgments, concatenate_judgments
from qrowd.replacement import alternative_annotator_test
from qrowd.replacement.alternative_annotator import documents_t, topics_t

CLOSENESS = st.sampled_from(["accuracy", "rmse"])
approx = pytest.approx


def told(panel, scale="0-3", **options):
    """The test of "llm" on a panel where it judges beside people, none of them too few."""
    options = {"min_documents": 2, "independent": "documents", **options}
    return alternative_annotator_test(judgments_of(panel, scale), "llm", **options)


def crowd(n, seed, people="abc", wrong=0.2, model=None, grades=4):
    """People who are wrong about so many of n documents, and a model: of one person's words, or random."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(grades, size=n)
    said = {who: np.where(rng.random(n) < wrong, rng.integers(grades, size=n), truth) for who in people}
    said["llm"] = rng.integers(grades, size=n) if model is None else said[model]
    return {f"d{i:03}": {who: float(values[i]) for who, values in said.items()} for i in range(n)}


@settings(max_examples=settings.default.max_examples)
@given(panels(GRADES, assessors=(*ASSESSORS, "llm"), n_documents=14), CLOSENESS, st.sampled_from([0.0, 0.1, 0.2, 0.25]))
def test_everything_is_what_the_definition_says(panel, closeness, eps):
    model = {document: said["llm"] for document, said in panel.items() if "llm" in said}
    people = {document: {who: v for who, v in said.items() if who != "llm"} for document, said in panel.items()}
    wanted = oracle.annotator_test(people, model, closeness, eps)
    tested = {who: row for who, row in wanted.items() if row[0] >= 2}
    if len(tested) < 3:
        with pytest.raises((ArgumentError, NoOverlapError)):
            told(panel, closeness=closeness, eps=eps)
        return
    found = told(panel, closeness=closeness, eps=eps)
    assert set(found.assessors) == set(tested)
    for i, who in enumerate(found.assessors):
        got = found.n_documents[i], found.model_share[i], found.assessor_share[i], found.p[i]
        assert got == approx(tested[who], abs=1e-9)
    assert found.winning_rate == approx(oracle.winning_rate(tested, 0.05, 2))
    assert found.advantage_probability == approx(np.mean([row[1] for row in tested.values()]))


def by_topic(panel, n_topics, **options):
    """The test of "llm", the documents of a panel dealt out to topics, which are the clusters."""
    rows = [
        (f"t{i % n_topics}", d, who, value) for i, (d, said) in enumerate(panel.items()) for who, value in said.items()
    ]
    return alternative_annotator_test(Judgments.from_rows(rows, scales={"*": "0-3"}), "llm", min_documents=2, **options)


@settings(max_examples=settings.default.max_examples * 2 // 5)
@given(panels(GRADES, assessors=("ann", "bob", "cyd", "llm"), n_documents=24), CLOSENESS, st.integers(5, 7))
def test_with_topics_as_clusters_everything_is_what_the_definition_says(panel, closeness, n_topics):
    topic = {document: i % n_topics for i, document in enumerate(panel)}
    model = {document: said["llm"] for document, said in panel.items() if "llm" in said}
    people = {document: {who: v for who, v in said.items() if who != "llm"} for document, said in panel.items()}
    wanted = oracle.annotator_test_by_topic(people, model, topic, closeness, 0.2)
    if sum(n_of >= 5 for n_of, _, _ in wanted.values()) < 3:
        with pytest.raises((ArgumentError, NoOverlapError)):
            by_topic(panel, n_topics, closeness=closeness)
        return
    found = by_topic(panel, n_topics, closeness=closeness)
    for i, who in enumerate(found.assessors):
        assert (found.n_topics[i], found.t[i], found.p[i]) == approx(wanted[who], abs=1e-9)


def test_topics_of_one_document_each_and_without_skewness_are_a_t_test_of_documents():
    """Then the topics left out one at a time are the documents, and Hall's transformation changes nothing."""
    n, total = np.ones((1, 8)), np.array([[1.0, 1, 0, 0, -1, -1, 0, 0]])
    by_documents, by_topics = (test(n, total, total**2, 0.3) for test in (documents_t, topics_t))
    assert by_topics[0] == approx(by_documents[0])
    assert by_topics[1] == approx(by_documents[1])


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(-9, 9)), min_size=3, max_size=8), st.integers(2, 5))
def test_documents_said_over_again_within_their_topics_count_once_where_topics_are_the_clusters(topics, times):
    n, total = np.array(topics, float).T
    total = np.clip(total, -n, n)
    if np.ptp(total / n) < 1e-9:  # topics that do not vary are tested by documents, which then are more
        return
    once, again = (topics_t(k * n, k * total, k * np.abs(total), 0.2) for k in (1, times))
    assert again[1] == approx(once[1], abs=1e-9)


def test_where_topics_do_not_vary_documents_are_independent():
    n, total, squares = np.full((1, 6), 10.0), np.full((1, 6), -1.0), np.full((1, 6), 3.0)
    assert topics_t(n, total, squares, 0.1) == documents_t(n, total, squares, 0.1)


def test_a_person_without_five_topics_is_not_tested_and_without_three_people_the_error_says_what_to_do():
    panel = crowd(60, 3, people="abcd")
    for i, said in enumerate(panel.values()):
        if i % 6 > 3:
            del said["d"]
    found = by_topic(panel, 6)
    assert (found.assessors, found.untested) == (("a", "b", "c"), ("d",))
    with pytest.raises(ArgumentError, match=r"0 of 4 assessors have 5 topics .*a 4.*--independent documents"):
        by_topic(panel, 4)


def test_three_documents_by_hand():
    """Of ann, bob and cyd speak: d1, llm and ann agree with both; d2, llm with both, ann with none; d3, the reverse."""
    panel = {
        "d1": {"ann": 1, "bob": 1, "cyd": 1, "llm": 1},
        "d2": {"ann": 0, "bob": 2, "cyd": 2, "llm": 2},
        "d3": {"ann": 3, "bob": 3, "cyd": 3, "llm": 0},
    }
    found = told(panel, closeness="accuracy")
    assert found.assessors == ("ann", "bob", "cyd")
    assert found.model_share == approx([2 / 3, 2 / 3, 2 / 3])  # for bob d2 is a tie: llm is right as often as bob
    assert found.assessor_share == approx([2 / 3, 1, 1])
    assert found.difference == approx([0, 1 / 3, 1 / 3])
    assert found.t[0] == approx(-0.2 / np.sqrt(1 / 3))  # W_h - W_l is 0, -1, 1
    assert found.t[1] == approx((1 / 3 - 0.2) / (1 / 3))
    assert not found.replaceable.any()
    assert not found.passes
    assert found.advantage_probability == approx(2 / 3)


def test_closeness_decides_who_is_closer():
    said = {"ann": 3, "bob": 0, "cyd": 1, "dan": 0, "llm": 0}
    panel = {f"d{i}": said for i in range(4)}
    by = {name: told(panel, closeness=name).difference[0] for name in ("accuracy", "rmse")}
    assert by == {"accuracy": -1, "rmse": -1}
    near = {f"d{i}": {"ann": 1, "bob": 0, "cyd": 3, "llm": 0} for i in range(4)}
    assert told(near, closeness="accuracy").difference[0] == -1  # llm agrees with bob, ann with nobody
    assert told(near, closeness="rmse").difference[0] == 1  # 5 / 2 against 9 / 2


def test_grades_default_to_rmse_and_yes_or_no_to_accuracy_of_which_all_say_the_same():
    assert told(crowd(40, 1)).closeness == "rmse"
    binary = crowd(40, 1, grades=2)
    assert told(binary, scale=None).closeness == "accuracy"
    assert told(binary, scale=None).p == approx(told(binary, scale=None, closeness="rmse").p)


@given(st.lists(st.tuples(*[st.sampled_from(GRADES)] * 3), min_size=30, max_size=40))
@settings(max_examples=settings.default.max_examples * 3 // 5)
def test_a_copy_of_one_of_three_people_replaces_all_three(rows):
    """Among others of whom it is one a copy is never further away, so that nothing but eps speaks against it."""
    panel = {f"d{i}": {"a": a, "b": b, "c": c, "llm": b} for i, (a, b, c) in enumerate(rows)}
    found = told(panel, closeness="accuracy", min_documents=30)
    assert found.model_share == approx([1, 1, 1])
    assert found.winning_rate == 1
    assert found.passes
    assert (found.difference[1], found.p[1]) == (0, 0)


def test_a_copy_passes_only_where_people_cost_something():
    alike = {f"d{i}": {"a": i % 4, "b": i % 4, "c": i % 4, "llm": i % 4} for i in range(40)}
    assert told(alike, eps=0.1).passes
    assert told(alike, eps=0.0).winning_rate == 0


@pytest.mark.parametrize("seed", range(5))
def test_a_random_judge_replaces_nobody_and_a_person_like_the_others_everyone(seed):
    assert told(crowd(200, seed)).winning_rate == 0
    fourth = crowd(200, seed, people="abcd", model="d")
    assert told({d: {who: v for who, v in said.items() if who != "d"} for d, said in fourth.items()}).winning_rate == 1


@settings(max_examples=settings.default.max_examples * 2 // 5)
@given(panels(GRADES, assessors=(*ASSESSORS, "llm"), complete=True, n_documents=9), st.randoms())
def test_names_and_order_do_not_matter(panel, random):
    if len(panel) < 2:
        return
    names = dict(zip(ASSESSORS, random.sample(["p", "q", "r", "s"], 4), strict=True)) | {"llm": "llm"}
    rows = [("q", f"x{d}", names[who], value) for d, said in panel.items() for who, value in said.items()]
    random.shuffle(rows)
    found, other = told(panel), alternative_annotator_test(
        Judgments.from_rows(rows, scales={"*": "0-3"}), "llm", independent="documents", min_documents=2
    )  # fmt: skip
    assert {names[who]: p for who, p in zip(found.assessors, found.p, strict=True)} == approx(
        dict(zip(other.assessors, other.p, strict=True))
    )
    assert found.winning_rate == other.winning_rate


def test_a_larger_eps_never_loses_a_person():
    panel = crowd(60, 3, wrong=0.5)
    rates = [told(panel, eps=eps).replaceable.sum() for eps in np.linspace(0, 0.9, 10)]
    assert rates == sorted(rates)
    assert rates[0] < rates[-1]


def test_fractions_that_are_equal_but_for_rounding_tie():
    third = 0.1 + 0.2
    panel = {f"d{i}": {"a": third, "b": 0.0, "c": 0.6, "llm": 0.3} for i in range(4)}
    assert told(panel, scale="0..1", closeness="rmse").difference[0] == 0


def test_a_pair_that_was_pooled_but_not_judged_counts_for_nothing():
    panel = crowd(40, 4)
    more = {**panel, "z1": {"a": -1, "b": 2, "c": 2, "llm": 2}, "z2": {"a": 1, "b": 1, "c": -1, "llm": -1}}
    found, other = told(panel), told(more)
    assert (other.n_documents - found.n_documents).tolist() == [0, 1, 1]


def test_the_people_may_be_chosen_by_pattern():
    whole = judgments_of(crowd(50, 5, people=("p1", "p2", "p3", "x")), "0-3")
    found = alternative_annotator_test(whole, "llm", assessors="p*", independent="documents")
    assert found.assessors == ("p1", "p2", "p3")
    assert found.to_frame()["assessor"].tolist() == ["p1", "p2", "p3"]


def test_people_with_few_documents_are_named_and_not_tested():
    panel = crowd(40, 6, people="abcd")
    for i, said in enumerate(panel.values()):
        if i >= 10:
            del said["d"]
    found = told(panel, min_documents=30)
    assert (found.assessors, found.untested) == (("a", "b", "c"), ("d",))


def test_repeats_are_counted_and_the_rule_decides():
    rows = [("q", d, who, v) for d, said in crowd(40, 7).items() for who, v in said.items()]
    again = [("q", f"d{i:03}", "llm", 0.0) for i in range(40)]
    whole = Judgments.from_rows(rows + again, scales={"*": "0-3"})
    options = {"independent": "documents"}
    first, last = (alternative_annotator_test(whole, "llm", repeats=rule, **options) for rule in ("first", "last"))
    assert first.n_repeats == 40
    assert first.p == approx(told(crowd(40, 7)).p)
    assert not np.array_equal(first.model_share, last.model_share)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_benjamini_yekutieli_is_that_of_scipy_and_statsmodels(p):
    ours = benjamini_yekutieli(np.array(p))
    assert ours == approx(false_discovery_control(p, method="by"), abs=1e-12)
    assert ours == approx(multipletests(p, method="fdr_by")[1], abs=1e-12)


def each_in_a_file(panel, **options):
    """The test where everybody has a scale of their own, as those of separate files have."""
    nested = {}
    for document, said in panel.items():
        for who, value in said.items():
            nested.setdefault(who, {}).setdefault("q", {})[document] = value
    return alternative_annotator_test(Judgments.from_dict(nested), "llm", independent="documents", **options)


def in_one_table(panel, **options):
    return alternative_annotator_test(judgments_of(panel, None), "llm", independent="documents", **options)


@pytest.mark.parametrize("test", [each_in_a_file, in_one_table])
def test_a_binary_model_is_compared_by_relevant_or_not_as_if_all_grades_were_recoded(test):
    """Otherwise the model's 1 would count as far from grade 3, though both say relevant."""
    people = crowd(40, 1, model="a")
    yes_no = {d: {**said, "llm": float(said["llm"] >= 1)} for d, said in people.items()}
    recoded = {d: {who: float(value >= 1) for who, value in said.items()} for d, said in people.items()}
    found, by_hand = test(yes_no), told(recoded, "binary", min_documents=30)
    assert found.closeness == "accuracy"
    assert found.model_share.tolist() == by_hand.model_share.tolist()
    assert found.p.tolist() == by_hand.p.tolist()


@pytest.mark.parametrize("test", [each_in_a_file, in_one_table])
def test_a_model_that_goes_higher_is_compared_by_values_over_the_maximum(test):
    people = crowd(40, 1, model="a")
    doubled = {d: {**said, "llm": 2 * said["llm"]} for d, said in people.items()}
    found, as_if_on_one_scale = test(doubled), told(people, min_documents=30)
    assert found.closeness == "rmse"
    assert found.model_share.tolist() == as_if_on_one_scale.model_share.tolist()


BAD = {
    "two people": (lambda: told(crowd(40, 1, people="ab")), ArgumentError, ["2 assessors", "at least 3"]),
    "too few documents": (
        lambda: told(crowd(29, 1), min_documents=30), ArgumentError, ["0 of 3 assessors have 30", "a 29"],
    ),
    "no document of the model's": (
        lambda: told({**{f"d{i}": {"a": 1, "b": 1, "c": 1} for i in range(40)}, "x": {"llm": 1}}),
        NoOverlapError, ["'llm' judged no document", "names"],
    ),
    "an unknown model": (
        lambda: alternative_annotator_test(judgments_of(crowd(40, 1)), "lm"), ArgumentError, ["'lm'", "'llm'"],
    ),
    "a binary model": (
        lambda: each_in_a_file({d: {**s, "llm": float(s["llm"] > 1)} for d, s in crowd(40, 1).items()},
                               combine_scales="as-is"),
        ScaleError, ["llm gives 0 and 1 only", "0-3", "combine_scales"],
    ),
    "a model that goes higher": (
        lambda: each_in_a_file({d: {**s, "llm": s["llm"] + 2} for d, s in crowd(40, 1).items()},
                               combine_scales="as-is"),
        ScaleError, ["llm goes up to 5", "--scale '*=0-5'"],
    ),
    "magnitudes": (lambda: told({"d1": {"a": 20.0, "b": 1.0, "llm": 30.5, "c": 2.0}}, scale="magnitude"), ScaleError,
                   ["magnitudes", "normalise"]),
    "an eps": (lambda: told(crowd(40, 1), eps=1.0), ArgumentError, ["eps=1.0", ".2 experts"]),
    "a q": (lambda: told(crowd(40, 1), q=0), ArgumentError, ["q=0", "rate"]),
    "independent": (lambda: told(crowd(40, 1), independent="topic"), ArgumentError, ["'topic'", "topics, documents"]),
    "one person": (lambda: told(crowd(40, 1, people="a")), ArgumentError,
                   ["1 assessor;", "at least 3", "add judgments of more"]),
    "a closeness": (lambda: told(crowd(40, 1), closeness="kappa"), ArgumentError,
                    ["'kappa'", "accuracy, rmse"]),
    "min_documents": (lambda: told(crowd(40, 1), min_documents=1), ArgumentError, ["min_documents=1", "at least 2"]),
}  # fmt: skip


@pytest.mark.parametrize("what", BAD)
def test_bad_input_is_one_line_with_the_next_step(what):
    call, kind, parts = BAD[what]
    with pytest.raises(kind) as caught:
        call()
    assert "\n" not in str(caught.value)
    for part in parts:
        assert part in str(caught.value)


@pytest.mark.nightly
def test_dl19s_people_and_the_judges_who_may_stand_in_for_them(dl19):
    """Recomputed, and by the slow definition for one of them: of a5 and a6 nobody comes close."""
    people = read_judgments([dl19 / "humans" / "main.tsv"])
    rates = {}
    for name in ("umbrela-gpt4", "umbrela-gpt4o", "umbrela-llama32"):
        model = read_judgments([dl19 / "judges" / f"{name}.qrels.gz"])
        found = alternative_annotator_test(*with_model(people, model), independent="documents")
        rates[name] = found.winning_rate, round(found.advantage_probability, 3)
        assert not found.replaceable[[4, 5]].any()
    assert rates == {
        "umbrela-gpt4": (5 / 8, 0.654), "umbrela-gpt4o": (6 / 8, 0.713), "umbrela-llama32": (1 / 8, 0.532),
    }  # fmt: skip
    model = read_judgments([dl19 / "judges" / "umbrela-llama32.qrels.gz"])
    slow = oracle.annotator_test(nested(people), {d: next(iter(said.values())) for d, said in nested(model).items()},
                                 "rmse", 0.2)  # fmt: skip
    assert found.model_share == approx([slow[who][1] for who in found.assessors])
    assert found.p == approx([slow[who][3] for who in found.assessors], abs=1e-12)


def test_on_dl19s_round_of_all_eight_seven_people_stand_in_for_most_of_the_others(dl19):
    everyone = read_judgments([dl19 / "humans" / "agreement-round.tsv"])
    alone = [alternative_annotator_test(everyone, who, independent="documents") for who in everyone.assessors]
    assert [int(result.replaceable.sum()) for result in alone] == [6, 5, 6, 6, 5, 7, 5, 1]
    model = read_judgments([dl19 / "judges" / "umbrela-gpt4o.qrels.gz"])
    found = alternative_annotator_test(*with_model(everyone, model), independent="documents")
    assert (found.winning_rate, found.passes, round(found.advantage_probability, 3)) == (0.5, True, 0.7)


def test_whether_dl19s_judges_pass_hangs_on_how_closeness_is_taken(dl19):
    main, everyone = (read_judgments([dl19 / "humans" / f"{name}.tsv"]) for name in ("main", "agreement-round"))
    llama, gpt4 = (
        read_judgments([dl19 / "judges" / f"{name}.qrels.gz"]) for name in ("umbrela-llama32", "umbrela-gpt4")
    )
    for people, model, rates in ((main, llama, (5 / 8, 1 / 8)), (everyone, gpt4, (1, 3 / 8))):
        by = [
            alternative_annotator_test(*with_model(people, model), closeness=c, independent="documents").winning_rate
            for c in ("accuracy", "rmse")
        ]
        assert tuple(by) == rates


def with_model(people, model):
    """All judgments, and the name of the model."""
    return concatenate_judgments([people, model]), model.assessors[0]


def nested(judgments):
    found = {}
    one = judgments.single()
    for t, d, a, v in zip(one.topic, one.document, one.assessor, one.value, strict=True):
        found.setdefault((one.topics[t], one.documents[d]), {})[one.assessors[a]] = v
    return found
