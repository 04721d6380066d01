"""Behaviours and measurements that the tests of simulations share."""

from datetime import datetime
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from qrowd import trec
from qrowd.model.judgments import Judgments
from qrowd.model.runs import Runs
from qrowd.simulation import (
    Behaviour,
    Confident,
    Confused,
    Inverted,
    Lazy,
    Lenient,
    Random,
    Spammer,
    Truth,
    simulate_judgments,
)

CONFUSION = ((0.7, 0.2, 0.1, 0.0), (0.3, 0.4, 0.2, 0.1), (0.1, 0.2, 0.5, 0.2), (0.0, 0.0, 0.1, 0.9))


BEHAVIOURS: dict[str, Behaviour] = {
    "confused": Confused(CONFUSION),
    "yes or no": Confused.of_accuracy(0.8),
    "careful": Lenient(noise=0.2),
    "lenient": Lenient(shift=0.5),
    "severe": Lenient(shift=-0.5),
    "confident": Confident(noise=0.2, appeal=0.5),
    "spammer": Spammer(),
    "constant": Spammer(2),
    "coin": Random(0.3),
    "lazy": Lazy(),
    "all relevant": Random(1.0),
    "inverted": Inverted(Lenient()),
}


def values_of(truth: Truth, behaviour: Behaviour, **options: object) -> NDArray[np.float64]:
    """(pairs,) what one assessor says about a whole pool."""
    return simulate_judgments(truth, {"ann": behaviour}, rng=5, **options).panel().values[:, 0]  # type: ignore[arg-type]


def rows(judgments: Judgments) -> list[tuple[object, ...]]:
    """Every judgment in labels, with all that was recorded."""
    optional = [getattr(judgments, name) for name in Judgments.OPTIONAL if getattr(judgments, name) is not None]
    return [
        (
            judgments.topics[judgments.topic[i]],
            judgments.documents[judgments.document[i]],
            judgments.assessors[judgments.assessor[i]],
            float(judgments.value[i]),
            *(column[i] for column in optional),
        )
        for i in range(len(judgments))
    ]


def clock(times: NDArray[np.object_]) -> NDArray[np.float64]:
    """(n,) seconds of ISO 8601 texts."""
    return np.array([datetime.fromisoformat(text).timestamp() for text in times])


def near(observed: float, p: float, n: float) -> bool:
    """Within five binomial standard errors."""
    return abs(observed - p) <= 5 * np.sqrt(p * (1 - p) / n)


def write_files(folder: Path, judgments: Judgments, gold: Judgments, runs: Runs) -> Path:
    """A user's judgments as mine.csv, gold grades as levels.csv, and the folder runs."""
    judgments.to_frame().to_csv(folder / "mine.csv", index=False)
    gold.to_frame().to_csv(folder / "levels.csv", index=False)
    (folder / "runs").mkdir()
    for system in runs.systems:
        (folder / "runs" / f"{system}.run").write_text(trec.format_run(runs, system))
    return folder


def units(judgments: Judgments) -> dict[str, list[int]]:
    """Rows of every unit, in the order of the judgments."""
    found: dict[str, list[int]] = {}
    assert judgments.unit is not None
    for row, unit in enumerate(judgments.unit):
        found.setdefault(unit, []).append(row)
    return found


def labels(truth: Truth, pairs: NDArray[np.int64]) -> list[str]:
    return [truth.pool.documents[d] for d in truth.pool.document[pairs]]
