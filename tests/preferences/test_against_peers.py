"""compatibility as ir_measures computes it."""

import ir_measures
import pytest

from qrowd.evaluation import evaluate
from qrowd.files import read_judgments, read_runs


@pytest.mark.nightly
@pytest.mark.parametrize(("step", "least"), [(9, 20), pytest.param(2, 100, marks=pytest.mark.nightly)])
def test_compatibility_is_ir_measures_on_every_full_list(dl21, step, least):
    """Where a list and the ideal ranking are no longer than 100, ir_measures looks down to rank 100.

    It orders ties in the ideal by score, so that lists with equal or negative scores come out otherwise.
    """
    judgments = read_judgments(dl21 / "judges" / "umbrela-gpt4o.qrels.gz")
    runs = read_runs([*sorted((dl21 / "runs").glob("*.gz"))[::step]])
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
    assert n > least
