"""trec_eval's text: the same bytes as its program, on collections with ties, gaps, negative grades and long lists."""

import random
import re

import numpy as np
import pytest

from oracles import measures as oracle
from oracles import trec_eval as definitions
from qrowd.errors import ArgumentError, InputError, MeasureError, NoOverlapError
from qrowd.evaluation import evaluate, measure
from qrowd.model.conventions import Conventions
from qrowd.reports.trec_eval import TrecEvalOptions, parsed_run, parsed_z_scores, trec_eval_text
from qrowd.reports.trec_eval_measures import GROUPS, MEASURES
from qrowd.trec import QRELS, judgments_from, parse
from trec_eval_program import trec_eval

NEWER = ("dcg", "ideal_dcg", "rbp", "rbp_resid", "unj")  # than the program's version that is at hand
CLASSIC = [name for name, one in MEASURES.items() if one.reads in ("qrels", "") and name not in NEWER]
WITH_PARAMETERS = (
    "iprec_at_recall..10,.20,.25,.75,.50", "P.5,7,3", "recall.20,2000", "Rprec_mult.5.0,0.2,0.35",
    "utility.2,-1,0,.5", "11pt_avg..25,.5,.75", "ndcg.1=3,2=9,4=4.5", "ndcg_cut.10,20,23.4", "success.2,5,20",
    "set_F.0.5", "relstring.20", "G.1=3", "Rndcg.1=3,2=5", "ndcg_rel.0=1,2=5", "map_cut.2", "relative_P.7",
)  # fmt: skip
NEAR_GAINS = ("ndcg.1=3.5,2=9.0,4=7.0", "G.2=1.5", "Rndcg.0=0.5", "ndcg_rel.1=.5,2=.7")
FORMATS = {
    "classic": ("qrels", CLASSIC),
    "parameters": ("qrels", WITH_PARAMETERS),
    "gains that differ by less than 1": (
        "qrels",
        ("ndcg.1=3.5,2=9.0,4=7.0", "G.2=1.5", "Rndcg.0=0.5", "ndcg_rel.1=.5,2=.7"),
    ),
    "groups of judgments": ("qrels_jg", [*GROUPS["qrels_jg"], "P_avgjg.3"]),
    "preferences": ("prefs", GROUPS["all_prefs"]),
    "grades as preferences": ("qrels_prefs", GROUPS["all_prefs"]),
}
SETTINGS = {
    "-q": ({"per_topic": True}, {"query_flag": 1}),
    "-c": ({"complete": True}, {"average_complete_flag": 1}),
    "-q -c -M 7": (
        {"per_topic": True, "complete": True, "depth": 7},
        {"query_flag": 1, "average_complete_flag": 1, "max_num_docs_per_topic": 7},
    ),
    "-q -J": ({"per_topic": True, "judged_only": True}, {"query_flag": 1, "judged_docs_only_flag": 1}),
    "-q -l 2": ({"per_topic": True, "rel": 2}, {"query_flag": 1, "relevance_level": 2}),
    "-q -n": ({"per_topic": True, "summary": False}, {"query_flag": 1, "summary_flag": 0}),
    "-N 1000": ({"n_collection": 1000}, {"num_docs_in_coll": 1000}),
}


def collection(seed, kind):
    """Judgments in that format, and a run, as text: ties, unjudged and negative grades, topics in one of them only."""
    chance = random.Random(seed)
    documents = [f"D{i:03d}" for i in range(60)]
    lines = []
    for t in range(1, 9):
        groups = ["0"] if kind == "qrels" else chance.sample(["ann", "bob", "cy"], chance.randint(1, 3))
        for group in groups:
            if kind == "prefs":
                own = [chance.choice([0, 0, 1, 2, 3]) for _ in documents]
                for sub in range(chance.choice([1, 1, 4])):
                    for i in chance.sample(range(20), chance.choice([2, 6])):
                        lines.append(f"t{t} {group} s{sub} {documents[i]} {own[i]}")
                continue
            grades = chance.choice([[0, 1], [0, 0, 0, 1, 2, 3], [-1, 0, 1, 2], [0, 0, 0], [-1, 0, 0, 1, 12], [1]])
            grades = [grade for grade in grades if grade >= 0 or kind != "qrels_prefs"]
            n = chance.choice([1, 5, 30, 60] if kind == "qrels" else [1, 12])
            lines += [f"t{t} {group} {document} {chance.choice(grades)}" for document in chance.sample(documents, n)]
    run = []
    for t in [1, *chance.sample(range(2, 11), 7)]:
        scores = chance.choice([[i / 7 for i in range(4)], [i * 0.31 - 2 for i in range(400)]])
        for rank, document in enumerate(chance.sample(documents, chance.choice([1, 3, 20, 60])), start=1):
            run.append(f"t{t} Q0 {document} {rank} {chance.choice(scores)} tag{seed}")
    return "\n".join(lines) + "\n", "\n".join(run) + "\n"


def text_of(judgments, run, measures, **options):
    chosen = TrecEvalOptions(tuple(measures), **options)
    return trec_eval_text(judgments.encode(), parsed_run(run.encode(), "a.run"), chosen)


def values_of(text):
    """{(label, topic): value as printed}."""
    rows = (line.split("\t") for line in text.splitlines())
    return {(label.strip(), topic): value for label, topic, value in rows}


@pytest.mark.parametrize("flags", SETTINGS)
@pytest.mark.parametrize("kind", FORMATS)
def test_the_text_is_the_programs_byte_for_byte(kind, flags, tmp_path):
    form, measures = FORMATS[kind]
    ours, theirs = SETTINGS[flags]
    judgments, run = collection(sum(map(ord, kind + flags)), form)
    (tmp_path / "judgments").write_text(judgments)
    (tmp_path / "run").write_text(run)
    printed = trec_eval(tmp_path / "judgments", tmp_path / "run", measures, format=form, **theirs)
    assert len(printed.splitlines()) >= 4
    assert text_of(judgments, run, measures, format=form, score_dtype="float32", **ours) == printed


def test_the_measures_that_version_10_added_are_those_of_their_definitions():
    judgments, run = collection(5, "qrels")
    text = text_of(judgments, run, ["dcg", "ideal_dcg", "rbp.p=0.8", "rbp_resid", "unj"], per_topic=True)
    rows = [line.split() for line in judgments.splitlines()]
    lists = {}
    for topic, _, document, _, score, _ in (line.split() for line in run.splitlines()):
        lists.setdefault(topic, {})[document] = float(score)
    expected = {}
    for topic in set(lists) & {row[0] for row in rows}:
        grades = {document: int(grade) for t, _, document, grade in rows if t == topic and int(grade) >= 0}
        ranking = oracle.rank(lists[topic])
        expected |= {
            ("dcg", topic): oracle.dcg(ranking, grades),
            ("ideal_dcg", topic): definitions.ideal_dcg(grades, "linear"),
            ("rbp_p=0.8", topic): definitions.rbp(ranking, grades, 0.8, "linear"),
            ("rbp_resid", topic): definitions.rbp_residual(ranking, grades, 0.9),
            **{(f"unj_{k}", topic): definitions.unjudged(ranking, grades, k) for k in (5, 10, 20)},
        }
    printed = {at: float(value) for at, value in values_of(text).items() if at[1] != "all"}
    assert printed == pytest.approx(expected, abs=5.1e-5)
    assert len(expected) >= 7 * 5
    means = {at: float(value) for at, value in values_of(text).items() if at[1] == "all"}
    for label in {label for label, _ in expected}:
        of_topics = [value for (name, _), value in expected.items() if name == label]
        assert means[label, "all"] == pytest.approx(np.mean(of_topics), abs=5.1e-5)


@pytest.mark.parametrize("seed", range(3))
def test_every_measure_of_a_topic_is_the_measure_of_that_name(seed):
    judgments, run = collection(seed, "qrels")
    printed = values_of(text_of(judgments, run, [*CLASSIC, *NEWER], per_topic=True))
    judged = judgments_from([("nist", parse(judgments.encode(), "nist", QRELS))], scales={"nist": "0-12"})
    labels = []
    for label in dict.fromkeys(label for label, topic in printed if topic != "all" and label != "relstring"):
        try:
            labels.append((label, measure(label)))
        except MeasureError as error:
            raise AssertionError(label) from error
    scores = evaluate(
        parsed_run(run.encode(), "a.run").runs,
        judged,
        [one for _, one in labels],
        conventions=Conventions(min_coverage=0),
    ).to_xarray()
    n = 0
    for label, one in labels:
        for topic in scores.topic.values.tolist():
            value = scores.sel(measure=str(one), topic=topic).item()
            if (label, topic) in printed and not np.isnan(value):
                assert value == pytest.approx(float(printed[label, topic]), abs=5.1e-5), (label, topic)
                n += 1
    assert n > 200


def test_scores_are_compared_as_doubles_as_in_version_10_or_in_single_precision_as_before():
    judgments, run = "t 0 a 0\nt 0 b 1\n", "t Q0 a 1 1.00000001 x\nt Q0 b 2 1.0 x\n"
    assert text_of(judgments, run, ["recip_rank"]) == "recip_rank            \tall\t0.5000\n"
    assert text_of(judgments, run, ["recip_rank"], score_dtype="float32") == "recip_rank            \tall\t1.0000\n"


def test_each_assessor_of_column_2_has_the_lines_of_his_or_her_own_judgments():
    judgments, run = collection(11, "qrels_jg")
    chosen = TrecEvalOptions(("all_trec",), per_topic=True)
    parsed = parsed_run(run.encode(), "a.run")
    together = trec_eval_text(judgments.encode(), parsed, chosen, by_assessor=True).splitlines(keepends=True)
    for assessor in ("ann", "bob", "cy"):
        own = "".join(line + "\n" for line in judgments.splitlines() if line.split()[1] == assessor)
        lines = [line.removeprefix(f"{assessor}\t") for line in together if line.startswith(f"{assessor}\t")]
        assert "".join(lines) == trec_eval_text(own.encode(), parsed, chosen)


def test_the_groups_hold_the_measures_of_version_10_in_its_order():
    assert len(MEASURES) == 57
    assert set().union(*GROUPS.values()) <= set(MEASURES)
    assert set(GROUPS["all_trec"]) == (set(CLASSIC) - {"yaap"}) | {"rbp", "rbp_resid", "unj"}
    lines = text_of(*collection(1, "qrels"), ["set", "official"]).splitlines()
    names = [re.sub(r"_[\d.]+$", "", line.split("\t")[0].strip()) for line in lines]
    assert list(dict.fromkeys(names)) == [name for name in MEASURES if name in {*GROUPS["official"], *GROUPS["set"]}]


def test_z_scores_are_deviations_and_a_number_far_away_where_mean_or_deviation_is_missing():
    judgments, run = "t 0 a 1\nu 0 a 1\nv 0 a 0\n", "t Q0 a 1 1 x\nu Q0 a 1 1 x\nv Q0 a 1 1 x\n"
    z_scores = parsed_z_scores(b"t map 0.5 0.25\nu map 1 0\nv P_5 0 1\n", "z")
    text = trec_eval_text(
        judgments.encode(), parsed_run(run.encode(), "r"), TrecEvalOptions(("map",), per_topic=True), z_scores=z_scores
    )
    assert [value for (_, _), value in values_of(text).items()] == ["2.0000", "0.0000", "-1000000.0000", "-333332.6667"]
    with pytest.raises(InputError, match=r"^z, line 2: expected 'topic measure mean sd', found 'oops'"):
        parsed_z_scores(b"t map 1 2\noops\n", "z")


@pytest.mark.parametrize(
    ("measures", "options", "message"),
    [
        (["ndgc"], {}, "trec_eval has no measure 'ndgc'; did you mean 'ndcg'"),
        (["P."], {}, "measure 'P.': parameters are expected after the dot, as in P.5,10"),
        (["P.0,5"], {}, "measure 'P.0,5': cut-offs from 1 were expected"),
        (["P.5,5"], {}, "measure 'P.5,5': a cut-off stands there twice"),
        (["ndcg.1"], {}, "measure 'ndcg.1': pairs were expected, as in ndcg.1=3,2=7"),
        (["utility.1,2"], {}, "measure 'utility.1,2': four numbers were expected"),
        (["map"], {"format": "prefs"}, "measure map does not fit format='prefs'; choose prefs_num_prefs_poss"),
        (["map_avgjg"], {}, "measure map_avgjg does not fit format='qrels'; choose num_ret"),
    ],
)
def test_what_cannot_be_computed_is_refused_in_one_line(measures, options, message):
    with pytest.raises(ArgumentError) as caught:
        text_of("t 0 a 1\n", "t Q0 a 1 1 x\n", measures, **options)
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


def test_a_document_judged_twice_preferences_in_a_circle_and_no_common_topic_are_refused():
    run = "t Q0 a 1 1 x\n"
    with pytest.raises(InputError, match="document a"):
        text_of("t 0 a 1\nt 0 a 0\n", run, ["map"])
    circle = "t g 1 a 2\nt g 1 b 1\nt g 2 b 2\nt g 2 c 1\nt g 3 c 2\nt g 3 a 1\n"
    with pytest.raises(ArgumentError, match="topic t, group g: its preferences contradict each other"):
        text_of(circle, run, ["prefs_simp"], format="prefs")
    for form, judgments in (("qrels", "u 0 a 1\n"), ("prefs", "u g 1 a 1\nu g 1 b 2\n")):
        with pytest.raises(NoOverlapError, match="no topic is in both"):
            text_of(judgments, run, ["num_q"], format=form)
