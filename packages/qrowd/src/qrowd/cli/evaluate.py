"""`qrowd evaluate`: every run, by every assessor."""

from qrowd.cli.inputs import EvaluationInputs
from qrowd.cli.library import command
from qrowd.cli.output import SystemsOutput
from qrowd.reports.evaluation import evaluation_of

evaluate = command(evaluation_of, EvaluationInputs, SystemsOutput, work="scoring")
evaluate.__name__ = "evaluate"
