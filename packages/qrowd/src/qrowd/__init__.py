"""qrowd: which search system is better when the people (or models) who judged relevance disagree.

The public names are re-exported lazily: `import qrowd` costs nothing until a name is used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

_HOME = {
    "Judgments": "qrowd.model.judgments",
    "Preferences": "qrowd.model.preferences",
    "Runs": "qrowd.model.runs",
    "Scale": "qrowd.model.scales",
    "agreement": "qrowd",
    "aggregation": "qrowd",
    "aware": "qrowd",
    "comparison": "qrowd",
    "gain_distributions": "qrowd",
    "influence": "qrowd",
    "judge": "qrowd",
    "magnitude": "qrowd",
    "predicted_relevance": "qrowd",
    "preferences": "qrowd",
    "sequential": "qrowd",
    "simulation": "qrowd",
    "replacement": "qrowd",
    "Conventions": "qrowd.model.conventions",
    "Scores": "qrowd.model.scores",
    "coefficients": "qrowd.evaluation",
    "evaluate": "qrowd.evaluation",
    "evaluate_blocks": "qrowd.evaluation",
    "measure": "qrowd.evaluation",
    "evaluate_methods": "qrowd.methods",
    "decompose_difference": "qrowd.influence.decomposition",
    "disagreements": "qrowd.influence.disputed_documents",
    "fragility": "qrowd.influence.fragility",
    "next_judgments": "qrowd.sequential.next_judgments",
    "open_partitioned": "qrowd.partitions",
    "partition": "qrowd.partitioning",
    "read_judgments": "qrowd.files",
    "read_preferences": "qrowd.files",
    "read_runs": "qrowd.files",
    "read_scores": "qrowd.files",
    "compare": "qrowd.reports.comparison",
    "paper_table": "qrowd.reports.paper_table",
    "plan": "qrowd.reports.design_tables",
    "report": "qrowd.reports.report_document",
    "summarise": "qrowd.reports.evaluation",
}

__all__ = ["__version__", *_HOME]

if TYPE_CHECKING:
    from qrowd import aggregation as aggregation
    from qrowd import agreement as agreement
    from qrowd import aware as aware
    from qrowd import comparison as comparison
    from qrowd import gain_distributions as gain_distributions
    from qrowd import influence as influence
    from qrowd import judge as judge
    from qrowd import magnitude as magnitude
    from qrowd import predicted_relevance as predicted_relevance
    from qrowd import preferences as preferences
    from qrowd import replacement as replacement
    from qrowd import sequential as sequential
    from qrowd import simulation as simulation
    from qrowd.evaluation import coefficients as coefficients
    from qrowd.evaluation import evaluate as evaluate
    from qrowd.evaluation import evaluate_blocks as evaluate_blocks
    from qrowd.evaluation import measure as measure
    from qrowd.files import read_judgments as read_judgments
    from qrowd.files import read_preferences as read_preferences
    from qrowd.files import read_runs as read_runs
    from qrowd.files import read_scores as read_scores
    from qrowd.influence.decomposition import decompose_difference as decompose_difference
    from qrowd.influence.disputed_documents import disagreements as disagreements
    from qrowd.influence.fragility import fragility as fragility
    from qrowd.methods import evaluate_methods as evaluate_methods
    from qrowd.model.conventions import Conventions as Conventions
    from qrowd.model.judgments import Judgments as Judgments
    from qrowd.model.preferences import Preferences as Preferences
    from qrowd.model.runs import Runs as Runs
    from qrowd.model.scales import Scale as Scale
    from qrowd.model.scores import Scores as Scores
    from qrowd.partitioning import partition as partition
    from qrowd.partitions import open_partitioned as open_partitioned
    from qrowd.reports.comparison import compare as compare
    from qrowd.reports.design_tables import plan as plan
    from qrowd.reports.evaluation import summarise as summarise
    from qrowd.reports.paper_table import paper_table as paper_table
    from qrowd.reports.report_document import report as report
    from qrowd.sequential.next_judgments import next_judgments as next_judgments

    __version__: str


def __getattr__(name: str) -> object:
    if name == "__version__":
        return import_module("importlib.metadata").version("qrowd")
    if name not in _HOME:
        raise AttributeError(f"module 'qrowd' has no attribute {name!r}")
    home = _HOME[name]
    return import_module(f"qrowd.{name}") if home == "qrowd" else getattr(import_module(home), name)


def __dir__() -> list[str]:
    return sorted(__all__)
