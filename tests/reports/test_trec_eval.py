"""trec_eval's text: the same bytes as its program, on collections with ties, gaps, negative grades and long lists."""

import random
import re

import numpy as np
import pytest

from qrowd.errors import ArgumentError, InputError, MeasureError, NoOverlapError
from qrowd.evaluation import evaluate, measure
from qrowd.model.conventions import Conventions
from qrowd.reports.trec_eval_output import GROUPS, MEASURES, TrecEvalOptions, run_and_tag, trec_eval_text
from qrowd.trec import QRELS, judgments_from, parse
from trec_eval_program import trec_eval

WITH_PARAMETERS = (
    "iprec_at_recall..10,.20,.25,.75,.50", "P.5,7,3", "recall.20,2000", "Rprec_mult.5.0,0.2,0.35",
    "utility.2,-1,0,.5", "11pt_avg..25,.5,.75", "ndcg.1=3,2=9,4=4.5", "ndcg_cut.10,20,23.4", "success.2,5,20",
    "set_F.0.5", "relstring.20", "G.1=3", "Rndcg.1=3,2=5", "ndcg_rel.0=1,2=5", "map_cut.2", "relative_P.7",
)  # fmt: skip
FORMATS = {"names": tuple(MEASURES), "parameters": WITH_PARAMETERS}
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
}


def collection(seed, assessors=("0",)):
    """Qrels and a run as text: ties, unjudged and negative grades, topics in one of them only."""
    chance = random.Random(seed)
    documents = [f"D{i:03d}" for i in range(60)]
    lines = []
    for t in range(1, 9):
        for assessor in chance.sample(assessors, chance.randint(1, len(assessors))):
            grades = chance.choice([[0, 1], [0, 0, 0, 1, 2, 3], [-1, 0, 1, 2], [0, 0, 0], [-1, 0, 0, 1, 12], [1]])
            n = chance.choice([1, 5, 30, 60])
            lines += [f"t{t} {assessor} {document} {chance.choice(grades)}" for document in chance.sample(documents, n)]
    run = []
    for t in [1, *chance.sample(range(2, 11), 7)]:
        scores = chance.choice([[i / 7 for i in range(4)], [i * 0.31 - 2 for i in range(400)]])
        for rank, document in enumerate(chance.sample(documents, chance.choice([1, 3, 20, 60])), start=1):
            run.append(f"t{t} Q0 {document} {rank} {chance.choice(scores)} tag{seed}")
    return "\n".join(lines) + "\n", "\n".join(run) + "\n"


def judged(qrels, **options):
    return judgments_from([("nist", parse(qrels.encode(), "qrels", QRELS))], **options)


def text_of(qrels, run, measures, **options):
    chosen = TrecEvalOptions(tuple(measures), **options)
    return trec_eval_text(judged(qrels), *run_and_tag(run.encode(), "a.run"), chosen)


def values_of(text):
    """{(label, topic): value as printed}."""
    rows = (line.split("\t") for line in text.splitlines())
    return {(label.strip(), topic): value for label, topic, value in rows}


@pytest.mark.parametrize("flags", SETTINGS)
@pytest.mark.parametrize("kind", ["parameters", pytest.param("names", marks=pytest.mark.nightly)])
def test_the_text_is_the_programs_byte_for_byte(kind, flags, tmp_path):
    ours, theirs = SETTINGS[flags]
    qrels, run = collection(sum(map(ord, kind + flags)))
    (tmp_path / "qrels").write_text(qrels)
    (tmp_path / "run").write_text(run)
    printed = trec_eval(tmp_path / "qrels", tmp_path / "run", FORMATS[kind], **theirs)
    assert len(printed.splitlines()) >= 4
    assert text_of(qrels, run, FORMATS[kind], **ours) == printed


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.nightly) for seed in (1, 2))])
def test_every_measure_that_qrowd_has_too_is_the_measure_of_that_name(seed):
    qrels, run = collection(seed)
    printed = values_of(text_of(qrels, run, MEASURES, per_topic=True))
    labels = []
    for label in dict.fromkeys(label for label, topic in printed if topic != "all"):
        try:
            labels.append((label, measure(label)))
        except MeasureError:
            continue
    conventions = Conventions(min_coverage=0, score_dtype="float32")
    everyone = judged(qrels, scales={"nist": "0-12"})
    scores = evaluate(
        run_and_tag(run.encode(), "a.run")[0], everyone, [one for _, one in labels], conventions=conventions
    ).to_xarray()
    n = 0
    for label, one in labels:
        for topic in scores.topic.values.tolist():
            value = scores.sel(measure=str(one), topic=topic).item()
            if (label, topic) in printed and not np.isnan(value):
                assert value == pytest.approx(float(printed[label, topic]), abs=5.1e-5), (label, topic)
                n += 1
    assert n > 150


def test_scores_are_compared_in_single_precision():
    qrels, run = "t 0 a 0\nt 0 b 1\n", "t Q0 a 1 1.00000001 x\nt Q0 b 2 1.0 x\n"
    assert text_of(qrels, run, ["recip_rank"]) == "recip_rank            \tall\t1.0000\n"


def test_what_follows_the_sixth_field_belongs_to_the_tag_of_which_the_first_word_is_printed(tmp_path):
    qrels, run = "t 0 a 1\n", "t Q0 a 1 2 tuned with care\nt Q0 b 2 1 tuned   again \n"
    (tmp_path / "qrels").write_text(qrels)
    (tmp_path / "run").write_text(run)
    assert text_of(qrels, run, ["official"]) == trec_eval(tmp_path / "qrels", tmp_path / "run", GROUPS["official"])


def test_each_assessor_has_the_lines_of_his_or_her_own_judgments():
    qrels, run = collection(11, ("ann", "bob", "cy"))
    chosen = TrecEvalOptions(("all_trec",), per_topic=True)
    everyone = judged(qrels, assessor_in_column=True)
    together = trec_eval_text(everyone, *run_and_tag(run.encode(), "r"), chosen, by_assessor=True)
    for assessor in ("ann", "bob", "cy"):
        alone = "".join(line + "\n" for line in qrels.splitlines() if line.split()[1] == assessor)
        lines = [line.removeprefix(f"{assessor}\t") for line in together.splitlines(keepends=True)]
        assert text_of(alone, run, ["all_trec"], per_topic=True) in "".join(lines)


def test_groups_print_their_measures_in_trec_evals_order():
    assert set().union(*GROUPS.values()) <= set(MEASURES)
    lines = text_of(*collection(1), ["P.5", "official"]).splitlines()
    names = [re.sub(r"_[\d.]+$", "", line.split("\t")[0].strip()) for line in lines]
    assert list(dict.fromkeys(names)) == [name for name in MEASURES if name in GROUPS["official"]]


@pytest.mark.parametrize(
    ("measures", "message"),
    [
        (["ndgc"], "trec-eval has no measure 'ndgc'; did you mean 'ndcg'"),
        (["P."], "measure 'P.': parameters are expected after the dot, as in P.5,10"),
        (["P.0,5"], "measure 'P.0,5': cut-offs from 1 were expected"),
        (["ndcg.1"], "measure 'ndcg.1': pairs were expected, as in ndcg.1=3,2=7"),
        (["utility.1,2"], "measure 'utility.1,2': four numbers were expected"),
    ],
)
def test_what_cannot_be_computed_is_refused_in_one_line(measures, message):
    with pytest.raises(ArgumentError) as caught:
        text_of("t 0 a 1\n", "t Q0 a 1 1 x\n", measures)
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


def test_a_document_judged_twice_and_no_common_topic_are_refused():
    run = "t Q0 a 1 1 x\n"
    with pytest.raises(InputError, match="document a"):
        text_of("t 0 a 1\nt 0 a 0\n", run, ["map"])
    with pytest.raises(NoOverlapError, match="no topic is in both"):
        text_of("u 0 a 1\n", run, ["num_q"])
