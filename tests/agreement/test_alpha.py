"""Krippendorff's alpha: published numbers, a peer, a slow oracle, laws."""

from math import isnan, log

import krippendorff
import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from oracles import agreement as oracle
from panels import ASSESSORS, GRADES, LEVELS, MAGNITUDES, judgments_of, judgments_of_rows, pairable, panels
from qrowd.agreement.alpha import krippendorff_alpha
from qrowd.errors import ArgumentError, NoOverlapError, ScaleError
from qrowd.files import read_judgments
from qrowd.model.judgments import Judgments

# Krippendorff (2011), Computing Krippendorff's Alpha-Reliability, examples A, B and C.
TWO_OBSERVERS_BINARY = judgments_of_rows(a="0100000010", b="1110010000")
TWO_OBSERVERS_NOMINAL = judgments_of_rows(a="001132224330", b="101112224333")
FOUR_OBSERVERS = judgments_of_rows(a="123321412***", b="1233224125*3", c="*3332342251*", d="12332441251*")

# Hayes & Krippendorff (2007), Table 1: the tone of 40 newspaper articles, coded by five.
FORTY_ARTICLES = judgments_of_rows(
    a="112*001122*01311211000201001111223222221",
    b="1130000*21102311121000302102111122222221",
    c="203000222100221123001*30*1012202*2232*21",
    d="*13****0*10022***31*103021122**122***12*",
    e="2**0001*2****3112**0*0**2*0**20*2*2222*1",
)


def alpha_of(judgments, level=None, **options):
    """Alpha of all judgments together."""
    return krippendorff_alpha(judgments, level=level, **options).item()


def peer(judgments, level):
    """The krippendorff package, on one row per assessor, on one column per (topic, document)."""
    table = judgments.to_frame().pivot(index="assessor", columns=["topic", "document"], values="value")
    return krippendorff.alpha(reliability_data=table.to_numpy(), level_of_measurement=level)


# ---- printed numbers


def test_krippendorffs_examples_come_out_as_printed():
    assert round(alpha_of(TWO_OBSERVERS_BINARY).value, 3) == 0.095
    assert round(alpha_of(TWO_OBSERVERS_NOMINAL, "nominal").value, 3) == 0.692
    found = {level: alpha_of(FOUR_OBSERVERS, level) for level in LEVELS}
    printed = {"nominal": 0.743, "ordinal": 0.815, "interval": 0.849, "ratio": 0.797}
    assert {level: round(alpha.value, 3) for level, alpha in found.items()} == printed
    one = found["nominal"]
    assert (one.n_documents, one.n_judgments, one.n_values, one.n_left_out) == (11, 40, 5, 1)


def test_hayes_and_krippendorffs_articles_come_out_as_printed_with_their_interval():
    found = alpha_of(FORTY_ARTICLES, n_resamples=20_000, resample="deviations", rng=1)
    assert (found.level, found.n_documents, found.n_pairs) == ("ordinal", 40, 239)
    assert round(found.value, 4) == 0.7598
    assert round(alpha_of(FORTY_ARTICLES, "nominal").value, 4) == 0.4765
    # Printed for 10,000 replicates: .7078 to .8078, and .9473 of them below .8.
    assert (found.low, found.high) == pytest.approx((0.7078, 0.8078), abs=0.002)
    assert (found.resamples < 0.8).mean() == pytest.approx(0.9473, abs=0.006)


def test_the_eight_people_of_dl19_have_an_ordinal_alpha_of_453(eight_people):
    found = alpha_of(eight_people)
    assert (found.level, found.n_documents, found.n_judgments) == ("ordinal", 188, 8 * 188)
    assert round(found.value, 3) == 0.453
    assert found.value == pytest.approx(peer(eight_people, "ordinal"))


@pytest.mark.nightly
def test_alpha_is_what_the_krippendorff_package_says_on_rf10_on_every_level(crowd):
    counts = pd.crosstab(*(crowd.single().to_frame().set_index(["topic", "document"])["value"].reset_index().pipe(
        lambda rows: (rows["topic"] + " " + rows["document"], rows["value"]))))  # fmt: skip
    for level in LEVELS:
        theirs = krippendorff.alpha(
            value_counts=counts.to_numpy(), value_domain=list(counts.columns), level_of_measurement=level
        )
        assert alpha_of(crowd, level).value == pytest.approx(theirs, rel=1e-12)


# ---- against slow implementations


@settings(max_examples=settings.default.max_examples // 2)
@given(panels(GRADES), st.sampled_from(LEVELS))
def test_alpha_of_grades_is_what_its_definition_and_the_krippendorff_package_say(panel, level):
    assume(pairable(panel))
    judgments = judgments_of(panel)
    assume(len(judgments.assessors) > 1)
    found = alpha_of(judgments, level)
    assert found.value == pytest.approx(oracle.krippendorff_alpha(panel, level), nan_ok=True)
    if not isnan(found.value):
        assert found.value == pytest.approx(peer(judgments, level))


@settings(max_examples=settings.default.max_examples * 2 // 5)
@given(panels(MAGNITUDES), st.sampled_from(LEVELS))
def test_alpha_of_magnitudes_is_what_its_definition_says(panel, level):
    assume(pairable(panel))
    judgments = judgments_of(panel, "magnitude")
    assert alpha_of(judgments, level).value == pytest.approx(oracle.krippendorff_alpha(panel, level), nan_ok=True)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("zeros", [False, True])
def test_alpha_of_many_distinct_values_is_what_its_definition_says(level, zeros):
    rng = np.random.default_rng(3)
    centre = rng.normal(size=30)
    panel = {
        f"d{i}": {who: float(np.exp(2 * centre[i] + rng.normal())) for who in ASSESSORS if rng.random() < 0.8}
        for i in range(30)
    }
    panel["d0"] = dict.fromkeys(ASSESSORS, 0.0 if zeros else 7.0)
    panel["d1"] = {"ann": 0.0 if zeros else 7.0, "bob": 2.5, "cyd": 2.5}
    judgments = judgments_of(panel, "0..1000000" if zeros else "magnitude")
    found = alpha_of(judgments, level)
    assert found.n_values > 64  # beyond what is counted in a dense table
    assert found.value == pytest.approx(oracle.krippendorff_alpha(panel, level), rel=1e-12)
    assert found.value == pytest.approx(peer(judgments, level), rel=1e-9)


def test_alpha_of_fractions_in_hundredths_is_what_its_definition_says():
    rng = np.random.default_rng(4)
    panel = {f"d{i}": {who: float(rng.integers(101)) / 100 for who in ASSESSORS} for i in range(50)}
    judgments = judgments_of(panel, "0..1")
    assert alpha_of(judgments).level == "interval"
    for level in LEVELS:
        assert alpha_of(judgments, level).value == pytest.approx(oracle.krippendorff_alpha(panel, level))


# ---- laws


@settings(max_examples=settings.default.max_examples * 3 // 10)
@given(panels(GRADES), st.sampled_from(LEVELS), st.randoms(use_true_random=False))
def test_nobodys_name_matters(panel, level, random):
    assume(pairable(panel))
    others, documents = list(ASSESSORS), list(panel)
    random.shuffle(others)
    random.shuffle(documents)
    new = dict(zip(ASSESSORS, others, strict=True))
    renamed = {f"x{documents.index(d)}": {new[who]: value for who, value in panel[d].items()} for d in documents}
    before, after = (alpha_of(judgments_of(p), level).value for p in (panel, renamed))
    assert after == pytest.approx(before, nan_ok=True)


@given(st.lists(st.sampled_from(MAGNITUDES), min_size=1, max_size=6), st.sampled_from(LEVELS), st.integers(2, 4))
def test_a_unanimous_panel_has_alpha_1_or_for_one_value_nan(values, level, n):
    panel = {f"d{i}": dict.fromkeys(ASSESSORS[:n], value) for i, value in enumerate(values)}
    found = alpha_of(judgments_of(panel), level).value
    assert isnan(found) if len(set(values)) == 1 else found == 1


@settings(max_examples=settings.default.max_examples * 3 // 10)
@given(panels(GRADES, n_documents=6), st.sampled_from(LEVELS))
@example({"d0": {"ann": 0.0, "bob": 1.0}}, "interval")
def test_copying_the_whole_panel_never_lowers_alpha(panel, level):
    judged_twice = {d: said for d, said in panel.items() if len(said) > 1}
    assume(judged_twice)
    copied = {d: said | {f"{who} again": v for who, v in said.items()} for d, said in judged_twice.items()}
    before, after = (alpha_of(judgments_of(p), level).value for p in (judged_twice, copied))
    assert isnan(before) or after >= before - 1e-12


@settings(max_examples=settings.default.max_examples * 3 // 10)
@given(panels(GRADES), st.integers(1, 5))
def test_alpha_does_not_depend_on_the_unit_of_values(panel, factor):
    assume(pairable(panel))
    scaled = {d: {who: 0.5 * factor * v for who, v in said.items()} for d, said in panel.items()}
    for level in LEVELS:
        before, after = (alpha_of(judgments_of(p, "0..20"), level).value for p in (panel, scaled))
        assert after == pytest.approx(before, nan_ok=True)


@settings(max_examples=settings.default.max_examples * 3 // 10)
@given(panels(MAGNITUDES, n_documents=5))
def test_logs_compare_magnitudes_as_their_logarithms(panel):
    assume(pairable(panel))
    in_logs = {d: {who: log(v) for who, v in said.items()} for d, said in panel.items()}
    found = alpha_of(judgments_of(panel, "magnitude"), "interval", logs=True).value
    assert found == pytest.approx(oracle.krippendorff_alpha(in_logs, "interval"), nan_ok=True)


# ---- what is counted


def test_the_level_is_what_the_assessors_scale_allows():
    panel = {"d1": {"ann": 1.0, "bob": 1.0}, "d2": {"ann": 0.0, "bob": 1.0}}
    for scale, level in (("binary", "nominal"), ("0-3", "ordinal"), ("0..1", "interval")):
        assert alpha_of(judgments_of(panel, scale)).level == level
    above_zero = {d: {who: v + 0.5 for who, v in said.items()} for d, said in panel.items()}
    assert alpha_of(judgments_of(above_zero, "magnitude")).level == "ratio"


def test_a_negative_grade_is_no_judgment_and_a_document_judged_once_is_left_out():
    judgments = Judgments.from_rows(
        [("q", "a", "ann", 1), ("q", "a", "bob", 1), ("q", "b", "ann", 0), ("q", "b", "bob", 0), ("q", "c", "ann", 1),
         ("q", "c", "bob", -1), ("q2", "a", "ann", 0)]
    )  # fmt: skip
    found = alpha_of(judgments)
    assert (found.n_documents, found.n_judgments, found.n_pairs, found.n_left_out) == (2, 4, 2, 2)
    assert found.value == 1


def test_repeats_count_once_as_asked_and_are_reported():
    rows = [
        ("q", "a", "ann", 1),
        ("q", "a", "ann", 0),
        ("q", "a", "bob", 1),
        ("q", "b", "ann", 0),
        ("q", "b", "bob", 0),
    ]
    first = alpha_of(Judgments.from_rows(rows))
    assert (first.value, first.n_repeats, first.repeats) == (1, 1, "first")
    assert alpha_of(Judgments.from_rows(rows), repeats="last").value == 0


def test_slots_take_the_first_judgments_of_every_document():
    rows = [
        ("q", d, f"w{i}", float(v))
        for d, said in (("a", "1110"), ("b", "0001"), ("c", "1"))
        for i, v in enumerate(said)
    ]
    judgments = Judgments.from_rows(rows)
    assert alpha_of(judgments).value < 1
    assert alpha_of(judgments, slots=3).value == 1
    assert alpha_of(judgments, slots=3).repeats == "first 3 judgments of a document"
    assert alpha_of(judgments, slots=4, min_judgments=4).n_documents == 2


# ---- groups


def test_alpha_by_topic_is_the_alpha_of_every_topic_by_itself(eight_people):
    by_topic = krippendorff_alpha(eight_people, by="topic")
    assert by_topic.labels == eight_people.topics
    for topic, alpha in by_topic:
        assert alpha.value == pytest.approx(alpha_of(eight_people.select(topics=topic)).value)
        assert by_topic[topic] == alpha
    frame = by_topic.to_frame()
    assert list(frame["topic"]) == list(by_topic.labels)
    assert list(frame["alpha"]) == pytest.approx(by_topic.value)


def test_alpha_of_all_judgments_is_a_table_of_one_group(eight_people):
    together, by_topic = krippendorff_alpha(eight_people), krippendorff_alpha(eight_people, by="topic")
    assert (together.labels, len(together)) == (("all",), 1)
    assert together.item() == together["all"]
    frame = together.to_frame()
    assert (frame["group"][0], frame["alpha"][0]) == ("all", together.item().value)
    assert set(frame.columns) - {"group"} == set(by_topic.to_frame().columns) - {"topic"}
    with pytest.raises(ArgumentError, match=r"alpha by topic: there are 3 groups; name one, as alphas\[label\]"):
        by_topic.item()
    with pytest.raises(ArgumentError, match="topic 'elsewhere' is not among the topics"):
        by_topic["elsewhere"]


def test_groups_may_be_of_topics_of_assessors_of_documents_and_of_single_judgments(eight_people):
    topics, people = eight_people.topics, eight_people.assessors
    some = krippendorff_alpha(eight_people, by={topics[0]: "x", topics[2]: "x", topics[1]: "y"})
    assert some["x"].value == pytest.approx(alpha_of(eight_people.select(topics=[topics[0], topics[2]])).value)
    halves = krippendorff_alpha(eight_people, by={name: i < 4 for i, name in enumerate(people)})
    assert halves["True"].value == pytest.approx(alpha_of(eight_people.select(assessors=people[:4])).value)
    frame = eight_people.to_frame()
    pairs = {pair: pair[1][-1] for pair in zip(frame["topic"], frame["document"], strict=True)}
    by_digit = krippendorff_alpha(eight_people, by=pairs)
    by_row = krippendorff_alpha(eight_people, by=[document[-1] for document in frame["document"]])
    assert by_digit.labels == by_row.labels
    assert list(by_digit.value) == list(by_row.value)
    in_group = alpha_of(eight_people.select(documents=lambda name: name.endswith("5")))
    assert by_digit["5"].value == pytest.approx(in_group.value)


def test_a_topic_that_nobody_judged_twice_has_nan_beside_the_others():
    judgments = Judgments.from_rows(
        [
            ("q1", "a", "ann", 1),
            ("q1", "a", "bob", 1),
            ("q1", "b", "ann", 0),
            ("q1", "b", "bob", 0),
            ("q2", "a", "ann", 1),
        ]
    )
    found = krippendorff_alpha(judgments, by="topic", n_resamples=20, rng=1)
    assert found["q1"].value == 1
    assert isnan(found["q2"].value)
    assert (found["q2"].n_documents, found["q2"].n_left_out) == (0, 1)
    assert isnan(found["q2"].low)


# ---- bad input


BOTH = judgments_of_rows(ann="01", bob="01")


@pytest.mark.parametrize(
    ("judgments", "options", "error", "message"),
    [
        (judgments_of_rows(ann="012"), {}, NoOverlapError, "at least two assessors; there is only 'ann'"),
        (Judgments.from_rows([]), {}, NoOverlapError, "there are no judgments"),
        (judgments_of_rows(ann="01**", bob="**10"), {}, NoOverlapError, "no document was judged 2 times or more"),
        (BOTH, {"level": "metric"}, ArgumentError, "level='metric': choose one of nominal, ordinal, interval, ratio"),
        (BOTH, {"by": "assessors"}, ArgumentError, "by='assessors': expected 'topic'"),
        (BOTH, {"by": {"Q": 1}}, ArgumentError, "by={'Q': ...}: keys must all be topics"),
        (BOTH, {"by": [1]}, ArgumentError, "by: 1 groups for 4 judgments"),
        (BOTH, {"by": [None] * 4}, ArgumentError, "by: no judgment belongs to any group"),
        (BOTH, {"n_resamples": -1}, ArgumentError, "n_resamples=-1"),
        (BOTH, {"confidence": 95}, ArgumentError, "confidence=95"),
        (BOTH, {"resample": "pairs"}, ArgumentError, "resample='pairs': choose one of topics, documents, deviations"),
        (BOTH, {"min_judgments": 1}, ArgumentError, "min_judgments=1: agreement needs at least 2 judgments"),
        (BOTH, {"logs": True}, ScaleError, "logs=True: there are values of 0, which have no logarithm"),
    ],
)  # fmt: skip
def test_bad_input_gets_one_clear_line(judgments, options, error, message):
    with pytest.raises(error) as caught:
        alpha_of(judgments, **options)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_values_on_unlike_scales_are_divided_by_their_maximum():
    rows = [
        ("q", f"d{i}", who, v)
        for who, said in (("ann", (0, 1, 3)), ("llm", (0.2, 0.9, 0.4)))
        for i, v in enumerate(said)
    ]
    found = alpha_of(Judgments.from_rows(rows))
    declared = Judgments.from_rows(rows, scales={"ann": "0-3", "llm": "0..1"})
    assert (found.level, found.scale) == ("interval", "0..1")
    assert found == alpha_of(declared) == alpha_of(declared.rescaled())
    assert found == alpha_of(declared, combine_scales="rescaled")
    assert alpha_of(declared, "nominal") == alpha_of(declared.relevant_or_not())
    with pytest.raises(ScaleError, match=r"assessors llm \(0\.\.1\) and ann \(0-3\) cannot be on one scale"):
        alpha_of(declared, combine_scales="as-is")
    with pytest.raises(ArgumentError, match="combine_scales='mixed': choose one of auto, as-is, rescaled, relevant"):
        alpha_of(declared, combine_scales="mixed")


def test_dl21s_judges_are_compared_as_shares_of_their_scales(dl21):
    judges = read_judgments(dl21 / "judges")
    together = alpha_of(judges)
    assert (together.level, together.scale) == ("interval", "0..1")
    assert together == alpha_of(judges.rescaled())


def test_magnitudes_may_look_like_grades_or_fractions_in_part_but_none_is_zero():
    rows = [
        ("q", "a", "ann", 2),
        ("q", "a", "bob", 0.5),
        ("q", "a", "cyd", 250),
        ("q", "b", "ann", 1),
        ("q", "b", "cyd", 9),
    ]
    found = alpha_of(Judgments.from_rows(rows))
    assert (found.level, found.scale) == ("ratio", "magnitude")
    with pytest.raises(ScaleError, match=r"assessors cyd \(magnitude\) and ann \(0-2\) judge on different scales"):
        alpha_of(Judgments.from_rows([*rows, ("q", "a", "dan", 0)]))


def test_a_scale_seen_in_part_is_the_same_scale():
    judgments = judgments_of_rows(ann="0123", bob="0111", cyd="0000")
    assert set(map(str, judgments.scales)) == {"0-3"}
    assert alpha_of(judgments).level == "ordinal"
    partly = judgments.with_scales({"ann": "0-3"})
    assert alpha_of(partly).value == alpha_of(judgments).value
    assert alpha_of(judgments.with_scales({"bob": "binary"})).scale == "0..1"
