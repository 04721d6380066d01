"""The commands by group, with one sentence each, so that `qrowd --help` and completion load none of them.

The command `trec-eval` is the function `trec_eval` in the module `qrowd.cli.trec_eval`; its docstring begins with the
same sentence.
"""

from __future__ import annotations

from collections.abc import Mapping

GROUPS: Mapping[str, Mapping[str, str]] = {
    "Evaluate systems": {
        "demo": "Show an evaluation of a small simulated panel.",
        "evaluate": "Score each run by each assessor, and show whether the assessors agree on the best system.",
        "compare": "Show which systems may be the best, and whether the assessors agree on that.",
        "table": (
            "Print systems by measures or by assessors as a paper does: the best in bold, with marks of significance."
        ),
        "report": "Write one page: which system is better, how certain that is, and on what the assessors disagree.",
        "explore": (
            "Write one page: choose assessors, topics and measure, and see which system is ahead, "
            "and by which documents."
        ),
        "plot": "Draw one plot as SVG, PDF or PNG, ready for a paper.",
        "aware": "Weight the assessors by how different they are from random assessors (AWARE).",
        "predict": "Predict which documents users find relevant, from documents that two or more assessors judged.",
        "partition": "Write runs and judgments that do not fit into memory in parts, for qrowd evaluate.",
        "check": "Show what files contain, how they are read, and the mistakes in them.",
        "measures": "List all measures with their parameters, formulas and sources.",
        "trec-eval": "Print what trec_eval prints, of one file of judgments or of each assessor.",
        "prefer": "Evaluate systems by preferences between two documents.",
    },
    "Study the assessors": {
        "agree": (
            "Measure how well assessors agree: Krippendorff's alpha, Cohen's kappa of each pair, "
            "and other coefficients."
        ),
        "assessors": "Describe each assessor: grades, severity, agreement with others, drift and speed.",
        "disagreements": (
            "Show on which documents assessors disagree, ordered by what that changes in differences of systems."
        ),
        "aggregate": "Merge the judgments of several assessors into one judgment per document.",
        "replace": "Compare models with assessors: may they replace them, and what do their grades mean.",
        "leaderboards": "Show whether leaderboards agree on the systems, such as those of models with that of people.",
        "magnitude": "Analyse magnitudes: free numbers above 0 instead of grades.",
    },
    "Plan": {
        "plan": "Plan how many topics and assessors to judge, and how to spend a budget.",
        "next": "Show what can be said of a question now, and write the documents that people should judge next.",
        "simulate": "Write a simulated panel with known true grades: runs, texts, judgments, magnitudes, preferences.",
    },
    "Collect judgments": {
        "serve": "Serve campaigns to assessors in a browser. Ctrl-C stops the server without loss.",
        "campaign": "Create, watch and export campaigns of judging.",
        "account": "Add, list and change accounts of the judging server.",
        "judge": "Ask language models to judge, and show what became of each question.",
    },
    "Papers": {
        "study": "Recompute a paper, or apply its analyses to files.",
    },
}
