"""A simulated panel as a folder of files, for trying out commands."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

from qrowd import files, trec
from qrowd.simulation import simulate_demo, simulate_magnitudes, simulate_preferences
from qrowd.simulation.simulated_answers import simulate_answers

if TYPE_CHECKING:
    import pandas


def write_simulation(directory: str, seed: int) -> Iterator[str]:
    """Write runs, texts, judgments, gold, magnitudes and preferences; yields a line for each once written.

    The texts stand in for real ones: each says only which topic or document it is.

    Raises
    ------
    FileError
        A folder that holds something already, or that cannot be made.
    """
    root = files.new_folder(directory, "runs", "judges")
    runs, judgments, truth = simulate_demo(rng=seed)
    documents = sorted({*runs.documents, *truth.judgments().documents})
    for system in runs.systems:
        files.write_whole(root / "runs" / f"{system}.run", trec.format_run(runs, system))
    yield f"{root}/runs: {len(runs.systems)} systems, {len(runs.topics)} topics"
    files.write_whole(root / "topics.tsv", "".join(f"{topic}\tTopic {topic}\n" for topic in runs.topics))
    files.write_whole(root / "documents.jsonl", "".join(map(_text_of, documents)))
    yield f"{root}/topics.tsv, {root}/documents.jsonl: stand-ins for texts, of {len(documents):,} documents"
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


def write_answers(directory: str, seed: int) -> Iterator[str]:
    """Write a table of judged answers; yields its line once it is written.

    Raises
    ------
    FileError
        A folder that holds something already, or that cannot be made.
    """
    import pandas as pd

    root = files.new_folder(directory)
    frame = pd.DataFrame(simulate_answers(rng=seed))
    files.write_whole(root / "answers.csv", frame.to_csv(index=False, lineterminator="\n"))
    sizes = (f"{frame[name].nunique()} {name}s" for name in ("system", "topic", "assessor"))
    yield f"{root}/answers.csv: {len(frame):,} judgments of nuggets; {', '.join(sizes)}"


def _text_of(document: str) -> str:
    """The line of a document, without words of its own."""
    row = {"docid": document, "title": document, "text": f"The simulated document {document}."}
    return json.dumps(row) + "\n"
