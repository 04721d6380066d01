"""`qrowd demo`: the main job, on a panel the project simulates itself."""

from __future__ import annotations

import typer

STORY = """\
Eight assessors judged the same documents of 25 topics: experts on grades 0-3, crowd workers who say yes or no, a
language model that gives fractions. Twelve systems were run. Who is best, and does that depend on who you ask?
"""


def demo() -> None:
    """Which system is better, and do the assessors agree? On an embedded panel."""
    from qrowd.cli.show import show
    from qrowd.evaluation import evaluate
    from qrowd.reports.evaluation import evaluation_document
    from qrowd.reports.summary import summarise
    from qrowd.simulation import simulate_demo

    typer.echo(STORY)
    runs, judgments, _ = simulate_demo()
    scores = evaluate(runs, judgments, ["nDCG@10", "AP"])
    show(evaluation_document(scores, summarise(scores, baseline="bm25")))
    typer.echo("\nThe panel as files, to try the other commands on: qrowd simulate DIR")
