"""Whose scale is whose, and what becomes of values on unlike scales."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qrowd import aggregation
from qrowd.agreement import assessor_profiles, cohen_kappa, krippendorff_alpha, pairwise_agreement
from qrowd.errors import ArgumentError, ScaleError
from qrowd.files import read_judgments
from qrowd.model.inferred_scales import joined_sources
from qrowd.model.judgments import Judgments, concatenate_judgments
from qrowd.model.one_scale import on_one_scale


def scales_of(judgments):
    return dict(zip(judgments.assessors, map(str, judgments.scales), strict=True))


def never_disagreeing():
    """Rows of three judges on 0-3, 0/1 and 0-5 who never disagree (users.md, B1)."""
    rng = np.random.default_rng(0)
    for i in range(400):
        grade = int(rng.choice([0, 0, 1, 2, 3]))
        yield "t", f"d{i}", "human03", grade
        yield "t", f"d{i}", "bin", int(grade >= 1)
        yield "t", f"d{i}", "llm05", {0: 0, 1: 2, 2: 4, 3: 5}[grade]


ROWS = list(never_disagreeing())
DECLARED = {"human03": "0-3", "bin": "binary", "llm05": "0-5"}


def by_file(rows):
    nested = {}
    for topic, document, assessor, value in rows:
        nested.setdefault(assessor, {}).setdefault(topic, {})[document] = value
    return nested


# ---- whose scale is whose


def test_assessors_of_one_table_share_the_widest_scale():
    judgments = Judgments.from_rows(ROWS)
    assert scales_of(judgments) == dict.fromkeys(DECLARED, "0-5")


def test_assessors_of_separate_files_have_scales_of_their_own(tmp_path):
    assert scales_of(Judgments.from_dict(by_file(ROWS))) == DECLARED
    for assessor, topics in by_file(ROWS).items():
        lines = [f"{t} 0 {d} {v}\n" for t, documents in topics.items() for d, v in documents.items()]
        (tmp_path / f"{assessor}.qrels").write_text("".join(lines))
    separate = read_judgments(tmp_path)
    assert scales_of(separate) == DECLARED


def test_a_file_with_an_assessor_column_is_one_table_and_another_such_file_is_another(tmp_path):
    (tmp_path / "crowd.qrels").write_text("t ann d 1\nt bob d 2\n")
    (tmp_path / "yes-no.qrels").write_text("t cyd d 1\nt dan d 0\n")
    found = read_judgments(tmp_path, assessor="column")
    assert scales_of(found) == {"ann": "0-2", "bob": "0-2", "cyd": "binary", "dan": "binary"}
    (tmp_path / "more.csv").write_text("topic,document,assessor,value\nt,e,dan,3\nt,e,eve,0\n")
    joined = read_judgments(tmp_path, assessor="column")  # dan judges in both
    assert scales_of(joined) == {"ann": "0-2", "bob": "0-2", "cyd": "0-3", "dan": "0-3", "eve": "0-3"}


def test_a_declared_scale_of_one_is_that_of_the_table_if_it_holds_the_values_of_the_others():
    rows = [("t", "d", "ann", 2), ("t", "d", "bob", 1), ("t", "d", "cyd", 0)]
    assert scales_of(Judgments.from_rows(rows, scales={"ann": "0-3"})) == dict.fromkeys(("ann", "bob", "cyd"), "0-3")
    apart = scales_of(Judgments.from_rows(rows, scales={"bob": "binary"}))
    assert apart == {"ann": "0-2", "bob": "binary", "cyd": "0-2"}
    assert scales_of(Judgments.from_rows(ROWS, scales={"bin": "binary", "llm05": "0-5"})) == DECLARED


def test_whole_grades_beside_fractions_and_magnitudes_share_a_scale():
    rows = [("t", "d", "ann", 1), ("t", "d", "bob", 3), ("t", "e", "bob", 0), ("t", "d", "llm", 0.25)]
    assert scales_of(Judgments.from_rows(rows)) == {"ann": "0-3", "bob": "0-3", "llm": "0..1"}
    people = Judgments.from_rows([*rows, ("t", "d", "eve", 40)]).select(assessors=["ann", "eve"])
    assert scales_of(people) == {"ann": "magnitude", "eve": "magnitude"}  # with nobody's 0 they are parts of one


def test_recoding_infers_again_table_by_table():
    rows = [("t", "d", "ann", -2), ("t", "d", "bob", 2), ("t", "e", "ann", 1)]
    assert scales_of(Judgments.from_rows(rows).recode({-2: 0})) == {"ann": "0-2", "bob": "0-2"}
    assert scales_of(Judgments.from_dict(by_file(rows)).recode({-2: 0})) == {"ann": "binary", "bob": "0-2"}
    assert scales_of(Judgments.from_rows(rows).recode({"bob": 2})) == {"ann": "0-2", "bob": "binary"}


def test_parts_keep_their_tables():
    crowd = Judgments.from_rows([("t", "d", "w1", 1), ("t", "d", "w2", 2)])
    model = Judgments.from_rows([("t", "d", "llm", 1)])
    together = concatenate_judgments([crowd, model])
    assert scales_of(together) == {"w1": "0-2", "w2": "0-2", "llm": "binary"}
    again = concatenate_judgments([together, Judgments.from_rows([("t", "e", "w1", 3)])])
    assert scales_of(again) == {"w1": "0-3", "w2": "0-3", "llm": "binary"}


@given(st.lists(st.sets(st.integers(0, 6), min_size=1), max_size=6))
def test_sources_are_the_tables_joined_by_common_assessors(tables):
    found = joined_sources([np.array(sorted(table)) for table in tables], 7)
    linked = {(a, a) for a in range(7)} | {pair for table in tables for pair in product(table, table)}
    for k, a, b in product(range(7), repeat=3):  # Warshall's transitive closure
        if (a, k) in linked and (k, b) in linked:
            linked.add((a, b))
    assert {(a, b) for a, b in product(range(7), repeat=2) if found[a] == found[b]} == linked


# ---- what becomes of unlike scales


@pytest.mark.parametrize(
    "judgments", [Judgments.from_dict(by_file(ROWS)), Judgments.from_rows(ROWS, scales=DECLARED)], ids=["files", "said"]
)
def test_judges_who_never_disagree_have_kappa_1_and_outvote_nobody(judgments):
    kappa = pairwise_agreement(judgments).kappa
    assert kappa[np.triu_indices(3, 1)] == pytest.approx(1)
    assert cohen_kappa(judgments, "human03", "llm05").value == 1
    assert krippendorff_alpha(judgments, level="nominal").item().value == 1
    voted = aggregation.majority_vote(judgments, rng=1)
    assert voted.n_ties == 0
    assert voted.judgments.value.tolist() == [float(v) for _, _, who, v in ROWS if who == "bin"]
    mixed = aggregation.majority_vote(judgments, rng=1, combine_scales="as-is")
    assert mixed.n_ties == 175  # of 400 documents, left to the coin by grades of unlike scales


def test_rf10s_workers_share_one_scale(rf10):
    crowd = read_judgments(rf10 / "trec-rf10-data.txt.gz").recode({-2: 0})
    assert (len(crowd.assessors), len(set(crowd.scales))) == (766, 1)


@given(st.lists(st.tuples(*[st.integers(0, top) for top in (3, 1, 5)]), min_size=1, max_size=12))
def test_each_rule_is_what_it_says(grades):
    tops = {"ann": 3, "bob": 1, "cyd": 5}
    rows = [("t", f"d{i}", who, v) for i, said in enumerate(grades) for who, v in zip(tops, said, strict=True)]
    scales = {"ann": "0-3", "bob": "binary", "cyd": "0-5"}
    judgments = Judgments.from_rows(rows, scales=scales)
    shares = [value / tops[who] for _, _, who, value in rows]
    relevant = [float(value >= 1) for *_, value in rows]
    for how, expected in (("rescaled", shares), ("relevant", relevant)):
        for found in (on_one_scale(judgments, "auto", how), on_one_scale(judgments, how, "as-is")):
            assert found.value.tolist() == expected
            assert len(set(found.scales)) == 1


def test_scales_that_are_alike_are_left_alone_unless_asked():
    judgments = Judgments.from_rows(ROWS, scales={"*": "0-5"})
    assert on_one_scale(judgments, "auto", "rescaled") is judgments
    assert on_one_scale(judgments, "as-is", "rescaled") is judgments
    assert on_one_scale(judgments, "rescaled", "rescaled").value.max() == 1


def test_what_cannot_be_brought_together_is_refused_by_name():
    magnitudes = Judgments.from_dict({"ann": {"t": {"d": 40, "e": 0.5}}, "bob": {"t": {"d": 0, "e": 1}}})
    for how in ("auto", "rescaled", "relevant"):
        with pytest.raises(ScaleError, match=r"ann \(magnitude\) and bob \(binary\) judge on different scales"):
            on_one_scale(magnitudes, how, "rescaled")
    with pytest.raises(ScaleError, match=r"ann \(magnitude\) and bob \(binary\) cannot be on one scale"):
        on_one_scale(magnitudes, "as-is", "rescaled")
    with pytest.raises(ArgumentError, match="combine_scales='grades': choose one of auto, as-is, rescaled, relevant"):
        on_one_scale(magnitudes, "grades", "rescaled")


def test_severity_is_of_shares_of_the_scale_and_equal_grades_are_of_relevance():
    judgments = Judgments.from_dict(by_file(ROWS))
    found = assessor_profiles(judgments, gold="human03")
    same = {name: found.gold_share[i] for i, name in enumerate(found.assessors)}
    assert same == {"bin": 1, "llm05": 1}
    gold = np.array([v / 3 for _, _, who, v in ROWS if who == "human03"])
    binary = np.array([float(v) for _, _, who, v in ROWS if who == "bin"])
    assert found.gold_severity[found.assessors.index("bin")] == pytest.approx((gold - binary).mean())
    assert found.grades.tolist() == [0, 1, 2, 4, 5]  # everybody's own units
