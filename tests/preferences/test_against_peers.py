"""prefs_* as trec_eval's own C computes them; compatibility as ir_measures does."""

import random

import ir_measures
import numpy as np
import pytest

from preferences_trec_eval import trec_eval
from qrowd.evaluation import evaluate
from qrowd.files import read_judgments, read_preferences, read_runs
from qrowd.model.conventions import Conventions
from qrowd.model.runs import Runs
from qrowd.preferences import DEFINITIONS
from qrowd.trec import format_preferences, format_run

NAMES = [definition.name for definition in DEFINITIONS if definition.name.startswith("prefs_")]
DOCUMENTS = [f"D{i}" for i in range(12)]


def made_up(seed, topics=25):
    """A run with ties, and of every topic the hidden levels by which two people with two needs each prefer."""
    chance = random.Random(seed)
    run = {
        f"t{seed}-{t}": {d: float(chance.randrange(6)) for d in chance.sample(DOCUMENTS, chance.randint(2, 12))}
        for t in range(topics)
    }
    levels = {
        (topic, group): dict(
            zip(
                chance.sample(DOCUMENTS, chance.randint(4, 10)),
                [3, *(chance.randrange(3) for _ in DOCUMENTS)],  # a group in which all are alike prefers nothing
                strict=False,
            )
        )
        for topic in run
        for group in ("ann", "bob", "cy")[: chance.randint(1, 3)]
    }
    return chance, Runs.from_dict({"s": run}), levels


def agreeing(texts, scores, theirs):
    """How many scores are trec_eval's."""
    n = 0
    for topic, values in theirs.items():
        for name, text in texts.items():
            ours = scores.sel(measure=text, topic=topic).item()
            assert ours == pytest.approx(values[name], abs=1e-9), (name, topic)
            n += 1
    return n


@pytest.mark.parametrize("seed", range(8))
def test_prefs_measures_are_trec_evals_on_partial_preferences_of_several_groups(tmp_path, seed):
    chance, runs, levels = made_up(seed)
    lines = []
    for (topic, group), by in levels.items():
        for number in range(chance.randint(2, 12)):
            one, two = chance.sample(sorted(by), 2)
            lines.append(f"{topic} {group} {number} {one} {by[one]}\n{topic} {group} {number} {two} {by[two]}\n")
    (tmp_path / "x.prefs").write_text("".join(lines))
    (tmp_path / "s.run").write_text(format_run(runs, "s"))
    preferences = read_preferences(tmp_path / "x.prefs")
    # What qrowd cannot know is left out: groups in which nothing is preferred to anything.
    (tmp_path / "y.prefs").write_text(format_preferences(preferences, format="prefs"))
    again = read_preferences(tmp_path / "y.prefs")
    scores = (
        evaluate(runs, again, NAMES, conventions=Conventions(min_coverage=0)).to_xarray().isel(assessor=0, system=0)
    )
    theirs = trec_eval(NAMES, tmp_path / "y.prefs", tmp_path / "s.run")
    assert agreeing(dict(zip(NAMES, NAMES, strict=True)), scores, theirs) > 250


@pytest.mark.parametrize("seed", range(8))
def test_prefs_measures_are_trec_evals_on_levels_by_group(tmp_path, seed):
    _, runs, levels = made_up(100 + seed)
    lines = [f"{t} {group} {d} {level}\n" for (t, group), by in levels.items() for d, level in by.items()]
    (tmp_path / "x.qrels").write_text("".join(lines))
    (tmp_path / "s.run").write_text(format_run(runs, "s"))
    preferences = read_preferences(tmp_path / "x.qrels", format="qrels_prefs")
    texts = {name: f"{name}(counting='one-subgroup')" if "Rnonrel" in name else name for name in NAMES}
    scores = (
        evaluate(runs, preferences, list(texts.values()), conventions=Conventions(min_coverage=0))
        .to_xarray()
        .isel(assessor=0, system=0)
    )
    theirs = trec_eval(NAMES, tmp_path / "x.qrels", tmp_path / "s.run", "qrels_prefs")
    assert agreeing(texts, scores, theirs) > 250


def test_prefs_measures_are_trec_evals_on_real_grades(dl21, tmp_path):
    """NIST's grades as preferences, every twentieth system; those of trec_eval in single precision."""
    qrels = dl21 / "qrels.nist.txt"
    runs = read_runs([*sorted((dl21 / "runs").glob("*.gz"))[::20]])
    texts = {name: f"{name}(counting='one-subgroup')" if "Rnonrel" in name else name for name in NAMES}
    preferences = read_preferences(qrels, format="qrels_prefs")
    judgments, single = read_judgments(qrels), Conventions(score_dtype="float32")
    ours = [
        evaluate(runs, preferences, list(texts.values()), conventions=single).to_xarray().isel(assessor=0),
        evaluate(runs, judgments, NAMES, conventions=single).to_xarray().isel(assessor=0),
    ]
    for system in runs.systems:
        (tmp_path / "s.run").write_text(format_run(runs, system))
        theirs = trec_eval(NAMES, qrels, tmp_path / "s.run", "qrels_prefs")
        assert len(theirs) == 53
        expected = np.array([[values[name] for values in theirs.values()] for name in NAMES])
        for scores in ours:
            found = scores.sel(system=system, topic=list(theirs)).transpose("measure", "topic")
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)


def test_compatibility_is_ir_measures_on_every_full_list(dl21):
    """Where a list and the ideal ranking are no longer than 100, ir_measures looks down to rank 100.

    It orders ties in the ideal by score, so that lists with equal or negative scores come out otherwise.
    """
    judgments = read_judgments(dl21 / "judges" / "umbrela-gpt4o.qrels.gz")
    runs = read_runs([*sorted((dl21 / "runs").glob("*.gz"))[::2]])
    qrels = {}
    for t, d, value in zip(judgments.topic, judgments.document, judgments.value, strict=True):
        qrels.setdefault(judgments.topics[t], {})[judgments.documents[d]] = int(value)
    lists = {system: {} for system in runs.systems}
    for s, t, d, score in zip(runs.system, runs.topic, runs.document, runs.score, strict=True):
        lists[runs.systems[s]].setdefault(runs.topics[t], {})[runs.documents[d]] = float(score)
    scores = evaluate(runs, judgments, "compatibility@100").to_xarray().isel(assessor=0, measure=0)
    n = 0
    for system, of_system in lists.items():
        for found in ir_measures.iter_calc([ir_measures.parse_measure("Compat")], qrels, of_system):
            ideal = sum(grade > 0 for grade in qrels[found.query_id].values())
            scored = of_system[found.query_id].values()
            if len(scored) == len(set(scored)) == 100 and ideal <= 100 and min(scored) > 0:
                ours = scores.sel(system=system, topic=found.query_id).item()
                assert ours == pytest.approx(found.value, abs=1e-9), (system, found.query_id)
                n += 1
    assert n > 100
