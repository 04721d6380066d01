"""Judgments: nothing is lost, merged or changed unless asked, and then as the plain loops here say."""

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qrowd.errors import ArgumentError, InputError, ScaleError
from qrowd.model.judgments import Judgments, concatenate_judgments
from qrowd.model.scales import Scale
from strategies import few

VALUES = (-2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 0.5, 7.25)

# (topic, document, assessor, value, order): few labels, so that repeats and partial pools abound.
judgment = st.tuples(
    st.sampled_from(["t1", "t2", "t3"]),
    st.sampled_from(["d1", "d2", "d3"]),
    st.sampled_from(["ann", "bob", "cy"]),
    st.sampled_from(VALUES),
    st.integers(0, 3),
)
worlds = st.lists(judgment, min_size=1, max_size=25)


def made(rows, ordered=False, scales=None):
    topic, document, assessor, value, order = zip(*rows, strict=True)
    columns = {"topic": topic, "document": document, "assessor": assessor, "value": value}
    return Judgments.from_frame(columns | ({"order": order} if ordered else {}), scales=scales)


def rows_of(judgments):
    """(topic, document, assessor, value) of every row."""
    labels = zip(judgments.topic, judgments.document, judgments.assessor, judgments.value.tolist(), strict=True)
    return [(judgments.topics[t], judgments.documents[d], judgments.assessors[a], v) for t, d, a, v in labels]


def grouped(rows, ordered, *fields):
    """Row numbers by the given fields, in the order in which the judgments were made."""
    groups = defaultdict(list)
    for number, row in enumerate(rows):
        groups[tuple(row[field] for field in fields)].append(number)
    return {key: sorted(group, key=lambda i: rows[i][4] if ordered else i) for key, group in groups.items()}


def scales_of(judgments):
    return dict(zip(judgments.assessors, map(str, judgments.scales), strict=True))


# ---- in and out


@few
@given(worlds)
def test_rows_come_back_in_their_order(rows):
    short = [row[:4] for row in rows]
    judgments = Judgments.from_rows(short)
    assert rows_of(judgments) == short
    assert rows_of(Judgments.from_frame(judgments.to_frame())) == short
    assert len(judgments) == len(rows)


@few
@given(
    st.dictionaries(
        st.sampled_from("AB"), st.dictionaries(st.sampled_from("tu"), st.dictionaries(st.text(), st.floats(0, 9)))
    )
)
def test_a_dictionary_of_qrels_comes_back_as_it_was(nested):
    again = {}
    for topic, document, assessor, value in rows_of(Judgments.from_dict(nested)):
        again.setdefault(assessor, {}).setdefault(topic, {})[document] = value
    filled = {a: {t: documents for t, documents in topics.items() if documents} for a, topics in nested.items()}
    assert again == {assessor: topics for assessor, topics in filled.items() if topics}


@few
@given(st.lists(worlds, min_size=1, max_size=4))
def test_parts_are_put_one_after_the_other_and_no_row_is_lost(parts):
    together = concatenate_judgments([made(part) for part in parts])
    assert rows_of(together) == [row[:4] for part in parts for row in part]


def test_what_only_some_parts_recorded_is_missing_in_the_others():
    first = Judgments.from_frame({"topic": "t", "document": "d", "assessor": "a", "value": "1"})
    second = Judgments.from_frame(
        {"topic": ["t"], "document": ["d"], "assessor": ["a"], "value": [0], "order": [5], "comment": ["why"]}
    )
    together = concatenate_judgments([first, second])
    np.testing.assert_array_equal(together.order, [np.nan, 5])
    assert together.comment.tolist() == [None, "why"]
    assert together.seconds is None


def test_a_scale_that_parts_agree_on_stays_and_another_is_inferred_again():
    first = Judgments.from_rows([("t", "d", "ann", 1), ("t", "d", "bob", 0)], scales={"ann": "0-3"})
    second = Judgments.from_rows([("t", "e", "ann", 2), ("t", "e", "bob", 2)], scales={"ann": "0-3"})
    third = Judgments.from_rows([("t", "f", "bob", 0.5)])
    together = concatenate_judgments([first, second, third])
    assert together.scales == (Scale("graded", 3.0), Scale("fractions", 2.0, declared=False))


def test_a_declared_scale_of_one_part_is_that_of_the_assessor_if_it_holds_the_values_of_the_others():
    stated, silent = Judgments.from_rows([("t", "d", "ann", 1)], scales={"ann": "0-3"}), [("t", "e", "ann", 2)]
    assert concatenate_judgments([Judgments.from_rows(silent), stated]).scales == (Scale("graded", 3.0),)
    silent = Judgments.from_rows([("t", "e", "ann", 5)])
    assert concatenate_judgments([stated, silent]).scales == (Scale("graded", 5.0, declared=False),)


def test_an_assessor_on_two_declared_scales_is_refused_by_name():
    one, two = (Judgments.from_rows([("t", "d", "ann", 1)], scales={"ann": scale}) for scale in ("binary", "0-3"))
    with pytest.raises(ScaleError, match=r"assessor ann: scale 0-3 in one table and binary in another"):
        concatenate_judgments([one, two])


def test_no_judgments_at_all_are_judgments_too():
    none = Judgments.from_rows([])
    assert repr(none) == "Judgments(0 judgments: 0 topics, 0 documents, 0 assessors)"
    assert none.single(repeats="mean").n_repeats() == 0
    assert none.panel().values.shape == (0, 0)
    assert none.coverage().shape == (0, 0)
    assert len(none.slots(2)) == 0


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_value_that_is_not_finite_is_refused_by_name(value):
    with pytest.raises((InputError, ScaleError), match=r"not (a )?finite"):
        Judgments.from_rows([("t", "d", "ann", 1), ("t", "e", "ann", value)])


# ---- repeats


def what_counts(rows, group):
    """Of an assessor's repeats those with a judgment, or all where none has one."""
    return [i for i in group if rows[i][3] >= 0] or group


@few
@given(worlds, st.booleans(), st.sampled_from(["first", "last", "mean"]))
def test_of_repeats_the_first_last_or_mean_stays(rows, ordered, repeats):
    kept = []
    for group in grouped(rows, ordered, 0, 1, 2).values():
        counting = what_counts(rows, group)
        if repeats == "mean":
            kept.append((counting[0], sum(rows[i][3] for i in counting) / len(counting)))
        else:
            number = counting[0 if repeats == "first" else -1]
            kept.append((number, rows[number][3]))
    single = made(rows, ordered).single(repeats=repeats)
    assert rows_of(single) == [(*rows[i][:3], pytest.approx(value)) for i, value in sorted(kept)]
    assert single.n_repeats() == 0


@few
@given(worlds)
def test_repeats_are_counted_by_assessor_and_refused_on_request(rows):
    judgments = made(rows)
    assert judgments.n_repeats() == sum(len(group) - 1 for group in grouped(rows, False, 0, 1, 2).values())
    if judgments.n_repeats():
        with pytest.raises(
            InputError, match=rf"judged more than once \({judgments.n_repeats()} repeated judgments in all"
        ):
            judgments.single(repeats="error")
    else:
        assert judgments.single(repeats="error") is judgments


def test_a_repeat_that_is_refused_is_named():
    judgments = Judgments.from_rows([("t", "d", "bob", 1), ("t", "d", "ann", 1), ("t", "d", "ann", 0)])
    with pytest.raises(InputError, match=r"^assessor ann, topic t, document d: judged more than once .*; --repeats "):
        judgments.single(repeats="error")


def test_an_unknown_way_with_repeats_is_refused():
    with pytest.raises(ArgumentError, match="repeats='median': choose one of first, last, mean, error"):
        Judgments.from_rows([("t", "d", "ann", 1)]).single(repeats="median")


# ---- crowds


@few
@given(worlds, st.booleans(), st.integers(1, 4))
def test_slots_are_the_first_judgments_of_every_pair(rows, ordered, n):
    said = [row for row in rows if row[3] >= 0]
    expected = {}
    for group in grouped(said, ordered, 0, 1).values():
        expected |= {number: f"slot {place + 1}" for place, number in enumerate(group[:n])}
    slotted = made(rows, ordered, {"*": "0..8"}).slots(n)
    assert rows_of(slotted) == [(*said[i][:2], expected[i], said[i][3]) for i in sorted(expected)]
    assert slotted.assessors == tuple(f"slot {i + 1}" for i in range(n))
    assert slotted.n_repeats() == 0


def test_all_slots_are_on_the_assessors_scale():
    rows = [("t", "d", "ann", 1), ("t", "d", "bob", 2), ("t", "e", "ann", 0)]
    assert set(scales_of(Judgments.from_rows(rows).slots(2)).values()) == {"0-2"}
    assert set(scales_of(Judgments.from_rows(rows).slots(1)).values()) == {"0-2"}
    assert set(scales_of(Judgments.from_rows(rows, scales={"*": "0-3"}).slots(1)).values()) == {"0-3"}


def test_a_slot_does_not_mix_unlike_scales():
    judgments = Judgments.from_dict({"ann": {"t": {"d": 1}}, "bob": {"t": {"d": 2}}})
    with pytest.raises(ScaleError, match=r"assessors bob \(0-2\) and ann \(binary\) judge on different scales"):
        judgments.slots(1)


@pytest.mark.parametrize("n", [0, -1])
def test_no_slot_is_too_few(n):
    with pytest.raises(ArgumentError, match=rf"slots={n}: at least one slot was expected"):
        Judgments.from_rows([("t", "d", "ann", 1)]).slots(n)


# ---- selections


@few
@given(worlds, st.sets(st.sampled_from(["t1", "t2", "t3"])), st.sets(st.sampled_from(["ann", "bob", "cy"])))
def test_a_selection_holds_the_rows_asked_for_and_no_unused_label(rows, topics, assessors):
    judgments = made(rows)
    topics, assessors = topics & set(judgments.topics), assessors & set(judgments.assessors)
    selected = judgments.select(topics=topics, assessors=assessors, documents="d*")
    assert rows_of(selected) == [row[:4] for row in rows if row[0] in topics and row[2] in assessors]
    for labels, codes in ((selected.topics, selected.topic), (selected.assessors, selected.assessor)):
        assert set(range(len(labels))) == set(codes.tolist())


def test_names_patterns_lists_and_functions_select():
    rows = [("1", "d1", "gpt4", 1), ("2", "d1", "gpt4o", 1), ("3", "d2", "llama", 0)]
    judgments = Judgments.from_rows(rows)
    assert rows_of(judgments.select(assessors="gpt4")) == rows[:1]
    assert rows_of(judgments.select(assessors="gpt*")) == rows[:2]
    assert rows_of(judgments.select(topics=["1", "3"])) == [rows[0], rows[2]]
    assert rows_of(judgments.select(topics=[1, 3])) == [rows[0], rows[2]]
    assert rows_of(judgments.select(documents=lambda label: label > "d1")) == rows[2:]
    assert rows_of(judgments.select()) == rows
    with pytest.raises(ArgumentError, match=r"no assessor matches 'gpt-4'; did you mean 'gpt4'\?"):
        judgments.select(assessors="gpt-4")


def test_a_selection_takes_scales_and_what_else_was_recorded_along():
    columns = {"topic": ["t", "t"], "document": ["d", "e"], "assessor": ["ann", "bob"], "value": [1, 1]}
    judgments = Judgments.from_frame(columns | {"seconds": [3, 4], "comment": ["x", "y"]}, scales={"bob": "0-3"})
    bob = judgments.select(assessors="bob")
    assert (bob.scales, bob.seconds.tolist(), bob.comment.tolist()) == ((Scale("graded", 3.0),), [4], ["y"])


# ---- scales and recoding


def test_every_assessor_in_a_file_of_his_own_has_a_scale_of_his_own():
    rows = [
        ("t", "d", "ann", 1),
        ("t", "d", "bob", 3),
        ("t", "d", "cy", 0.5),
        ("t", "d", "di", 40),
        ("t", "d", "ed", -1),
    ]
    judgments = Judgments.from_dict({who: {t: {d: v}} for t, d, who, v in rows})
    assert scales_of(judgments) == {"ann": "binary", "bob": "0-3", "cy": "0..1", "di": "magnitude", "ed": "binary"}
    declared = judgments.with_scales({"ann": "0-3", "?o?": Scale("graded", 4.0), "*": "magnitude"}).scales
    assert [str(scale) for scale in declared] == ["0-3", "0-4", "magnitude", "magnitude", "magnitude"]
    assert all(scale.declared for scale in declared)


def test_a_value_that_a_declared_scale_does_not_allow_is_refused_by_name():
    judgments = Judgments.from_rows([("t", "d", "ann", 1), ("t", "d", "bob", 4)])
    with pytest.raises(ScaleError, match=r"assessor bob: value 4 is above the scale's maximum 3 \(scale 0-3\)"):
        judgments.with_scales({"*": "0-3"})
    with pytest.raises(ArgumentError, match=r"no assessor matches 'bop'; did you mean 'bob'\?"):
        judgments.with_scales({"bop": "0-3"})


recodings = st.dictionaries(st.sampled_from(VALUES), st.sampled_from([0.0, 1.0, 2.0, -1.0])) | st.sampled_from(
    [1, 2, 0.5]
)


def recoded(value, rule):
    if isinstance(rule, dict):
        return rule.get(value, value)
    return value if value < 0 else float(value >= rule)


@few
@given(worlds, recodings)
def test_recoding_for_everyone_replaces_every_value_by_the_rule(rows, rule):
    judgments = made(rows)
    assert rows_of(judgments.recode(rule)) == [(*row[:3], recoded(row[3], rule)) for row in rows]
    assert judgments.recode(rule).scales == judgments.recode({"*": rule}).scales


@few
@given(worlds, recodings, recodings)
def test_the_first_pattern_that_fits_an_assessor_counts(rows, first, second):
    rows = [*rows, ("t1", "d1", "ann", 1.0, 0)]
    rule_of = {"ann": first, "bob": second, "cy": second}
    found = rows_of(made(rows).recode({"a*": first, "*": second}))
    assert found == [(*row[:3], recoded(row[3], rule_of[row[2]])) for row in rows]


def test_recoding_leaves_assessors_that_no_pattern_names():
    rows = [("t", "d", "ann", 3), ("t", "e", "ann", -2), ("t", "d", "bob", 3)]
    judgments = Judgments.from_rows(rows, scales={"bob": "0-4"})
    after = judgments.recode({"ann": {-2: 0, 3: 2}})
    assert after.value.tolist() == [2, 0, 3]
    assert after.scales == (Scale("graded", 4.0, declared=False), Scale("graded", 4.0))  # one table, one scale
    judgments = Judgments.from_rows(rows, scales={"*": "0-4"})
    assert judgments.recode({"bob": 2}).scales == (Scale("graded", 4.0), Scale("binary", 1.0))
    with pytest.raises(ArgumentError, match=r"no assessor matches 'an'; did you mean 'ann'\?"):
        judgments.recode({"an": 2})


def test_recoding_swaps_values_at_once_and_not_one_after_the_other():
    assert Judgments.from_rows([("t", "d", "a", 0), ("t", "e", "a", 1)]).recode({0: 1, 1: 0}).value.tolist() == [1, 0]


def test_unit_grades_divide_by_the_maximum_and_leave_what_was_not_judged():
    rows = [("t", "d", "ann", 1), ("t", "d", "bob", 3), ("t", "e", "bob", 1), ("t", "f", "bob", -1)]
    rows += [("t", "d", "cy", 1.2), ("t", "e", "cy", 0)]
    unit = Judgments.from_rows(rows, scales={"bob": "0-4"}).rescaled()
    assert unit.value.tolist() == [0.5, 0.75, 0.25, -1, 0.6, 0]  # ann shares 0..2 with cy, who is in the same table
    assert scales_of(unit) == {"ann": "0..1", "bob": "0..1", "cy": "0..1"}
    assert [scale.declared for scale in unit.scales] == [False, True, False]
    with pytest.raises(ScaleError, match="assessor di: magnitudes have no maximum to divide by"):
        Judgments.from_rows([*rows, ("t", "d", "di", 40)]).rescaled()


# ---- panels and coverage


@few
@given(worlds, st.booleans())
def test_a_panel_holds_every_judgment_and_nan_where_there_is_none(rows, ordered):
    panel = made(rows, ordered).panel(repeats="last")
    said = {key: rows[what_counts(rows, group)[-1]][3] for key, group in grouped(rows, ordered, 0, 1, 2).items()}
    pool = defaultdict(set)
    for topic, document, *_ in rows:
        pool[topic].add(document)
    for t, topic in enumerate(panel.pool.topics):
        documents = [panel.pool.documents[d] for d in panel.pool.document[panel.pool.rows(t)]]
        assert sorted(documents) == sorted(pool[topic])
        for document, values in zip(documents, panel.topic(t), strict=True):
            expected = [said.get((topic, document, assessor), -1) for assessor in panel.assessors]
            np.testing.assert_array_equal(values, [np.nan if value < 0 else value for value in expected])


@pytest.mark.parametrize(
    ("values", "has_codes"),
    [([0, 1, -2], True), ([15, 2, 0], True), ([16, 2, 0], False), ([0, 0.5, 1], False), ([-1, -1, -2], True)],
)
def test_a_panel_of_a_few_whole_grades_takes_a_byte_for_each_and_has_the_values_of_any_other(values, has_codes):
    panel = Judgments.from_rows([("t", "d", f"a{i}", value) for i, value in enumerate(values)]).panel()
    assert (panel.coded is not None) == has_codes
    np.testing.assert_array_equal(panel.values, [[np.nan if value < 0 else value for value in values]])
    assert panel.coverage().tolist() == [[float(value >= 0)] for value in values]


@few
@given(worlds)
def test_coverage_is_the_share_of_a_topics_pool_that_the_assessor_judged(rows):
    judgments = made(rows)
    first = {key: rows[what_counts(rows, group)[0]][3] for key, group in grouped(rows, False, 0, 1, 2).items()}
    for a, assessor in enumerate(judgments.assessors):
        for t, topic in enumerate(judgments.topics):
            pool = {row[1] for row in rows if row[0] == topic}
            judged = sum(first.get((topic, document, assessor), -1) >= 0 for document in pool)
            assert judgments.coverage()[a, t] == judged / len(pool)


# ---- nothing changes its input

VERBS = {
    "single": lambda j: j.single(repeats="mean"),
    "slots": lambda j: j.with_scales({"*": "0..8"}).slots(2),
    "select": lambda j: j.select(documents="d*"),
    "recode": lambda j: j.recode({1: 0, 0: 2}),
    "recode by threshold": lambda j: j.recode(1),
    "rescaled": lambda j: j.with_scales({"*": "0..8"}).rescaled(),
    "panel": lambda j: j.panel(),
    "coverage": lambda j: j.coverage(),
    "to_frame": lambda j: j.to_frame(),
    "concatenate": lambda j: concatenate_judgments([j, j]),
}


@pytest.mark.parametrize("verb", VERBS)
@settings(max_examples=settings.default.max_examples * 3 // 10)
@given(rows=worlds)
def test_nothing_changes_the_judgments_it_is_asked_of(verb, rows):
    judgments = made(rows, ordered=True)
    columns = ("topic", "document", "assessor", "value", "order")
    before = [getattr(judgments, name).tobytes() for name in columns]
    labels = judgments.topics, judgments.documents, judgments.assessors, judgments.scales
    VERBS[verb](judgments)
    assert [getattr(judgments, name).tobytes() for name in columns] == before
    assert (judgments.topics, judgments.documents, judgments.assessors, judgments.scales) == labels


def test_nobody_can_overwrite_a_column():
    judgments = Judgments.from_rows([("t", "d", "ann", 1)])
    with pytest.raises(ValueError, match="read-only"):
        judgments.value[0] = 2


def test_judgments_say_what_they_hold():
    judgments = Judgments.from_rows([("t", "d", "ann", 1), ("t", "d", "bob", 0)])
    assert repr(judgments) == "Judgments(2 judgments: 1 topic, 1 document, 2 assessors)"
    many = Judgments.from_rows([("q", f"d{i}", "ann", 1) for i in range(1200)])
    assert repr(many) == "Judgments(1,200 judgments: 1 topic, 1,200 documents, 1 assessor)"
    assert judgments.describe(1) == "assessor bob, topic t, document d"


def test_a_negative_value_gives_way_to_a_judgment_of_the_same_assessor():
    rows = [("t", "d", "ann", -2), ("t", "d", "ann", 3), ("t", "d", "ann", -1), ("t", "e", "ann", -1)]
    for repeats in ("first", "last", "mean"):
        single = Judgments.from_rows(rows).single(repeats=repeats)
        assert single.value.tolist() == [3, -1]


def test_a_declared_scale_survives_recoding_that_stays_within_it():
    judgments = Judgments.from_rows([("t", "d", "ann", -2), ("t", "e", "ann", 1)], scales={"ann": "0-2"})
    assert str(judgments.recode({-2: 0}).scales[0]) == "0-2"
    assert str(judgments.recode({-2: 5}).scales[0]) == "0-5"
