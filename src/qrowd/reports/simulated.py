"""A simulated panel as a folder of files, for trying out commands."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from qrowd import files, trec
from qrowd.simulation import simulate_demo, simulate_magnitudes, simulate_preferences

if TYPE_CHECKING:
    import pandas


def write_simulation(directory: str, seed: int) -> Iterator[str]:
    """Write runs, judgments, gold, magnitudes and preferences; yields a line for each file or folder once written.

    Raises
    ------
    FileError
        A folder that holds something already, or that cannot be made.
    """
    root = files.new_folder(directory, "runs", "judges")
    runs, judgments, truth = simulate_demo(rng=seed)
    for system in runs.systems:
        files.write_whole(root / "runs" / f"{system}.run", trec.format_run(runs, system))
    yield f"{root}/runs: {len(runs.systems)} systems, {len(runs.topics)} topics"
    for assessor in judgments.assessors:
        content = trec.format_qrels(judgments.select(assessors=[assessor]))
        files.write_whole(root / "judges" / f"{assessor}.qrels", content)
    yield f"{root}/judges: {len(judgments.assessors)} assessors, {len(judgments):,} judgments"
    files.write_whole(root / "gold.qrels", trec.format_qrels(truth.judgments()))
    yield f"{root}/gold.qrels: the true grades"
    magnitudes = simulate_magnitudes(truth, n_assessors=len(judgments.assessors) * 25, rng=seed)
    frame: pandas.DataFrame = magnitudes.to_frame("pandas")
    files.write_whole(root / "magnitudes.csv", frame.to_csv(index=False, lineterminator="\n"))
    yield f"{root}/magnitudes.csv: {len(magnitudes):,} magnitudes in units of 8 documents"
    preferences = simulate_preferences(truth, 3, coverage=0.2, rng=seed)
    rows = "".join(",".join(map(str, row)) + "\n" for row in preferences.to_rows())
    files.write_whole(root / "preferences.csv", "topic,preferred,other,assessor,strength\n" + rows)
    yield f"{root}/preferences.csv: {len(preferences):,} preferences by 3 assessors"
