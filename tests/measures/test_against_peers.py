"""The measures of trec_eval, as pytrec_eval computes them, and of gdeval: on every list of runs of real collections."""

import shutil
from dataclasses import replace
from math import log

import ir_measures
import numpy as np
import pytest
import pytrec_eval

from qrowd.evaluation import evaluate, measure
from qrowd.files import read_judgments, read_runs
from qrowd.model.conventions import Conventions

CUTS = (1, 5, 10, 20, 100, 1000)
WITHOUT_CUT = ("map", "set_recall", "Rprec", "recip_rank", "bpref", "ndcg")
WITH_CUTS = ("map_cut", "P", "recall", "success", "ndcg_cut")
TREC_EVAL = (*WITHOUT_CUT, *(f"{name}_{k}" for name in WITH_CUTS for k in CUTS))


@pytest.fixture(scope="module")
def runs(collection):
    return read_runs(collection.run_files)


def judgments_of(collection, judges):
    return read_judgments(collection.judgment_files).select(assessors=judges)


# --- trec_eval --------------------------------------------------------------------------------------------------------


def relevant_from(rel, name):
    """Our measure for trec_eval's name; nDCG asks for gains, not for what is relevant."""
    ours = measure(name)
    return replace(ours, values={**ours.values, "rel": rel}) if "rel" in ours.values else ours


def as_pytrec_eval(collection, scores, rel, *, step=1, **options):
    """What pytrec_eval says in place of our scores: for NIST of each system, for others every `step`-th; else nan."""
    asked = {*WITHOUT_CUT, *(f"{name}.{','.join(map(str, CUTS))}" for name in WITH_CUTS)}
    judges, topics, systems = (scores[dim].values.tolist() for dim in scores.dims[1:])
    theirs = np.full(scores.shape, np.nan)
    for a, judge in enumerate(judges):
        qrels = {t: {d: int(g) for d, g in grades.items()} for t, grades in collection.grades[judge].items()}
        evaluator = pytrec_eval.RelevanceEvaluator(qrels, asked, relevance_level=rel, **options)
        for s in range(len(systems)) if judge == "qrels.nist" else range(a % step, len(systems), step):
            answer = evaluator.evaluate(collection.runs[systems[s]])
            for t, topic in enumerate(topics):
                if topic in qrels:
                    theirs[:, a, t, s] = [answer[topic][name] for name in TREC_EVAL] if topic in answer else 0
    return theirs


@pytest.mark.parametrize("rel", [1, 2])
def test_every_measure_of_trec_eval_is_pytrec_evals_on_every_list(collection, runs, rel):
    """By NIST, people, and all programs that give whole grades as high. pytrec_eval compares scores as floats.

    NIST scores every list; of the others each scores every 18th system of the collection, or the second of a part of
    it, beginning with another than the one before.
    """
    judges = [judge for judge, scale in collection.scales.items() if ".." not in scale and (rel == 1 or "-" in scale)]
    measures = [relevant_from(rel, name) for name in TREC_EVAL]
    ours = evaluate(
        runs, judgments_of(collection, judges), measures, conventions=Conventions(score_dtype="float32", min_coverage=0)
    ).to_xarray()
    theirs = as_pytrec_eval(collection, ours, rel, step=18 if collection.step == 1 else 2)
    asked = ~np.isnan(theirs)
    assert asked[:, ours["assessor"].values.tolist().index("qrels.nist")].all()
    assert asked.any(axis=(0, 3)).all(where=~np.isnan(ours.values).all(axis=(0, 3)))
    np.testing.assert_allclose(ours.values[asked], theirs[asked], rtol=0, atol=1e-12)


def test_condensed_lists_score_as_in_trec_eval_j_on_every_list(collection, runs):
    """By NIST and a language model."""
    measures = [relevant_from(2, name) for name in TREC_EVAL]
    judgments = judgments_of(collection, ["qrels.nist", "umbrela-gpt4o"])
    ours = evaluate(
        runs, judgments, measures, conventions=Conventions(unjudged="condensed", score_dtype="float32")
    ).to_xarray()
    theirs = as_pytrec_eval(collection, ours, 2, judged_docs_only_flag=True)
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)


# --- gdeval -----------------------------------------------------------------------------------------------------------

GDEVAL = ("ERR(max_rel=4)@5", "ERR(max_rel=4)@20", "nDCG(dcg='exp-log2')@5", "nDCG(dcg='exp-log2')@20")


def gdeval_err(ranking, grades, k):
    """gdeval.pl's `err`: four is the highest grade whatever the judgments hold."""
    score, decay = 0.0, 1.0
    for i, document in enumerate(ranking[:k]):
        r = (2 ** grades.get(document, 0) - 1) / 16
        score += r * decay / (i + 1)
        decay *= 1 - r
    return score


def gdeval_ndcg(ranking, grades, k):
    """gdeval.pl's `dcg` of the list over that of the sorted grades."""

    def dcg(gained):
        return sum((2**grade - 1) / (log(i + 2) / log(2)) for i, grade in enumerate(gained[:k]))

    ideal = dcg(sorted(grades.values(), reverse=True))
    return dcg([grades.get(document, 0) for document in ranking]) / ideal if ideal > 0 else 0.0


def test_err_and_exponential_ndcg_are_what_gdeval_defines_on_every_list(collection, runs):
    """By NIST and a language model, whose highest grade is 3: max_rel=4 is gdeval's."""
    judges = ["qrels.nist", "umbrela-gpt4"]
    ours = evaluate(runs, judgments_of(collection, judges), GDEVAL).to_xarray()
    expected, labels = np.empty_like(ours.values), [ours[dim].values for dim in ours.dims[1:]]
    for a, t, s in np.ndindex(expected.shape[1:]):
        judge, topic, system = (names[i] for names, i in zip(labels, (a, t, s), strict=True))
        ranking, grades = collection.ranking(system, topic), collection.grades[judge][topic]
        expected[:, a, t, s] = [f(ranking, grades, k) for f in (gdeval_err, gdeval_ndcg) for k in (5, 20)]
    np.testing.assert_allclose(ours, expected, rtol=0, atol=1e-12)


@pytest.mark.nightly
@pytest.mark.skipif(shutil.which("perl") is None, reason="gdeval is a Perl script")
def test_err_and_exponential_ndcg_are_what_gdeval_prints(collection, runs):
    """A few systems, by NIST, the first 100 of each list, as cut-offs end at 20; gdeval prints five decimals."""
    theirs = [ir_measures.parse_measure(text.replace("(max_rel=4)", "")) for text in GDEVAL]
    qrels = {t: {d: int(g) for d, g in grades.items()} for t, grades in collection.grades["qrels.nist"].items()}
    ours = evaluate(runs, judgments_of(collection, ["qrels.nist"]), GDEVAL).to_xarray().sel(assessor="qrels.nist")
    systems = list(collection.runs)[:: 10 if collection.step == 1 else 1]
    n = 0
    for system in systems:
        of_system = dict(zip(map(str, theirs), ours.sel(system=system), strict=True))
        run = {
            topic: {document: scores[document] for document in collection.ranking(system, topic)[:100]}
            for topic, scores in collection.runs[system].items()
        }
        for topic, text, value in ir_measures.gdeval.iter_calc(theirs, qrels, run):
            assert of_system[str(text)].sel(topic=topic).item() == pytest.approx(value, abs=5.1e-6), (system, topic)
            n += 1
    assert n >= 4 * 43 * len(systems)
    assert len(systems) >= 3
