"""`qrowd demo`: systems and assessors of a simulated panel."""

from __future__ import annotations

import typer

from qrowd.cli.output import Output, deliver, is_standard_output

STORY = """\
Eight assessors judged the same documents of 25 topics: experts with grades 0-3, crowd workers with yes or no, and a
language model with fractions. Which of twelve systems is best, and does the answer depend on the assessor?
`qrowd simulate DIR` writes this panel to files, on which every command can be tried.
"""


def demo(output: Output = None) -> None:
    """Show an evaluation of a small simulated panel."""
    from qrowd.evaluation import evaluate
    from qrowd.reports.evaluation import summarise
    from qrowd.simulation import simulate_demo

    piped = is_standard_output(output)
    typer.echo(STORY, err=piped)
    runs, judgments, _ = simulate_demo()
    deliver(summarise(evaluate(runs, judgments, ["nDCG@10", "AP"]), baseline="bm25", rng=1).to_document(), output)
