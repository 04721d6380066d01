"""The human ceiling of a measure."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from oracles import replacement as oracle
from qrowd.errors import ArgumentError, MeasureError, NoOverlapError
from qrowd.files import read_judgments
from qrowd.model.conventions import Conventions
from qrowd.model.judgments import Judgments
from qrowd.uncertainty import human_ceiling

approx = pytest.approx
TOPICS, DOCUMENTS, PEOPLE = ("q1", "q2"), ("d1", "d2", "d3", "d4"), ("ann", "bob", "cyd")
GRADES = st.sampled_from([None, 0, 1, 2, 3])


@st.composite
def opinions(draw, names):
    """{name: {topic: {document: grade}}} of those who judged anything."""
    said = {}
    for name in names:
        for topic in TOPICS:
            for document in DOCUMENTS:
                if (grade := draw(GRADES)) is not None:
                    said.setdefault(name, {}).setdefault(topic, {})[document] = grade
    return said


@settings(max_examples=60)
@given(opinions(("nist", *PEOPLE)), st.sampled_from([1, 2, 10]), st.booleans())
def test_every_line_is_what_the_definition_says(said, k, seen):
    truth = said.pop("nist", {})
    shared = [t for given in said.values() for t, ds in given.items() if ds.keys() & truth.get(t, {}).keys()]
    assume(shared)
    found = human_ceiling(
        Judgments.from_dict(said), Judgments.from_dict({"nist": truth}), f"nDCG@{k}",
        documents="seen" if seen else "pool", conventions=Conventions(min_coverage=0),
    )  # fmt: skip
    wanted = oracle.ceiling_lines(said, truth, k, seen)
    assert set(found.lines) == set(wanted)
    for line, kind, row in zip(found.lines, found.kinds, found.by_topic, strict=True):
        got = {topic: value for topic, value in zip(found.topics, row, strict=True) if not np.isnan(value)}
        assert got == approx(wanted[line]), (line, kind)
        if got:
            assert found.of(line) == approx(np.mean(list(got.values())))
    assert found.n_topics_left_out == len(truth.keys() - set(shared))


def given_people(**rows):
    """ann="01*2": one digit per document of one topic, * where not judged."""
    return Judgments.from_dict(
        {who: {"q": {f"d{i}": int(v) for i, v in enumerate(row) if v != "*"}} for who, row in rows.items()}
    )


def test_who_judges_as_the_reference_does_is_at_the_top_and_chance_is_not():
    found = human_ceiling(given_people(ann="0123"), given_people(nist="0123"), model=given_people(llm="3210"))
    assert found.lines == ("max", "mean", "ann", "llm", "chance")
    assert found.kinds == ("panel", "panel", "assessor", "model", "chance")
    assert found.of("ann") == found.of("max") == found.of("mean") == approx(1)
    assert found.of("llm") < found.of("chance") < 1
    assert found.model_mean == approx([found.of("llm")] * 5)
    assert np.isnan(found.standard_error).all()
    assert (found.measure, found.gold, found.n_documents) == ("nDCG@10", "nist", 4)


def test_the_highest_and_the_mean_grade_rank_differently():
    people = given_people(ann="32", bob="02", cyd="02")  # at most 3 and 2, on average 1 and 2
    found = human_ceiling(people, given_people(nist="01"), "P@1")
    assert [found.of(line) for line in ("max", "mean", "ann", "bob", "chance")] == approx([0, 1, 0, 1, 0.5])


def test_the_mean_is_of_those_who_judged():
    found = human_ceiling(given_people(ann="31", bob="*2"), given_people(nist="10"), "P@1")
    assert found.of("mean") == 1  # 3 above 1.5


def test_what_nobody_saw_counts_0_unless_only_what_was_seen_is_ranked():
    people, truth, model = given_people(ann="01**"), given_people(nist="0123"), given_people(llm="0123")
    pool = human_ceiling(people, truth, "P@1", model=model)
    seen = human_ceiling(people, truth, "P@1", model=model, documents="seen")
    assert (pool.n_documents, seen.n_documents) == (4, 2)
    assert human_ceiling(people, truth, "P(rel=3)@1", model=model).of("llm") == 1
    assert human_ceiling(people, truth, "P(rel=3)@1", model=model, documents="seen").of("llm") == 0


def test_documents_the_reference_does_not_know_and_topics_no_person_judged_are_counted():
    people = Judgments.from_dict({"ann": {"q1": {"d1": 1, "x": 3}, "q3": {"d1": 1}}})
    truth = Judgments.from_dict({"nist": {"q1": {"d1": 1, "d2": 0}, "q2": {"d1": 1}}})
    found = human_ceiling(people, truth)
    assert (found.n_outside, found.n_topics_left_out, found.topics) == (2, 1, ("q1",))


def test_a_person_who_judged_next_to_nothing_of_a_topic_has_no_score_there():
    people = given_people(ann="0123012301230", bob="3************")
    truth = given_people(nist="3123012301230")
    assert human_ceiling(people, truth).n_topics.tolist() == [1, 1, 1, 0, 1]
    assert np.isnan(human_ceiling(people, truth).of("bob"))
    assert human_ceiling(people, truth, conventions=Conventions(min_coverage=0.05)).n_topics.tolist() == [1, 1, 1, 1, 1]


def test_judging_again_counts_by_the_rule():
    people = Judgments.from_rows([("q", "d1", "ann", 0), ("q", "d2", "ann", 1), ("q", "d1", "ann", 3)])
    truth = given_people(nist="*10")
    assert human_ceiling(people, truth, "P@1").of("ann") == 0
    assert (
        human_ceiling(
            people, Judgments.from_rows([("q", "d1", "nist", 1)]), "P@1", conventions=Conventions(repeats="last")
        ).of("ann")
        == 1
    )


def test_the_published_ceilings_of_dl19(dl19):
    """Parry et al. (SIGIR 2025) print .777 and .81; recomputed .7783 and .8149."""
    nist, people = read_judgments([dl19 / "qrels.nist.txt"]), read_judgments([dl19 / "humans" / "main.tsv"])
    judge = read_judgments([dl19 / "judges" / "umbrela-gpt4o.qrels.gz"])
    found = human_ceiling(people, nist, model=judge)
    assert (found.of("max"), found.of("mean")) == approx((0.7783, 0.8149), abs=5e-5)
    assert found.of("umbrela-gpt4o") == approx(0.7131, abs=5e-5)
    assert found.n_topics.tolist() == [43, 43, 12, 12, 9, 9, 8, 8, 14, 14, 43, 43]
    # People were shown what NIST had called relevant: ranked over that alone, the judge is between their two lines.
    seen = human_ceiling(people, nist, model=judge, documents="seen")
    assert [seen.of(line) for line in ("max", "umbrela-gpt4o", "mean")] == approx([0.7804, 0.7940, 0.8171], abs=5e-5)


BAD = {
    "no common document": (given_people(ann="1"), Judgments.from_rows([("x", "y", "nist", 1)]), {}, NoOverlapError,
                           ["'nist'", "no document"]),
    "a model elsewhere": (given_people(ann="1"), given_people(nist="1"),
                          {"model": Judgments.from_rows([("x", "y", "llm", 1)])}, NoOverlapError, ["'llm'", "'nist'"]),
    "two references": (given_people(ann="1"), given_people(a="1", b="1"), {}, ArgumentError,
                       ["gold: 2 assessors"]),
    "two models": (given_people(ann="1"), given_people(nist="1"), {"model": given_people(a="1", b="1")}, ArgumentError,
                   ["model: 2 assessors"]),
    "a name twice": (given_people(ann="1"), given_people(ann="1"), {}, ArgumentError, ["'ann'", "rename"]),
    "the name of a line": (given_people(max="1"), given_people(nist="1"), {}, ArgumentError, ["'max'", "rename"]),
    "a measure without expectation": (given_people(ann="1"), given_people(nist="1"), {"measure": "AP"}, MeasureError,
                                      ["AP"]),
    "documents": (given_people(ann="1"), given_people(nist="1"), {"documents": "all"}, ArgumentError, ["pool, seen"]),
}  # fmt: skip


@pytest.mark.parametrize("what", BAD)
def test_bad_input_is_one_line_with_the_next_step(what):
    people, reference, options, kind, parts = BAD[what]
    with pytest.raises(kind) as caught:
        human_ceiling(people, reference, **options)
    assert "\n" not in str(caught.value)
    for part in parts:
        assert part in str(caught.value)


def test_a_line_that_is_not_there_is_named_and_the_frame_has_them_all():
    found = human_ceiling(given_people(ann="01"), given_people(nist="01"))
    with pytest.raises(ArgumentError, match="'bob'"):
        found.of("bob")
    assert found.to_frame()["line"].tolist() == ["max", "mean", "ann", "chance"]
