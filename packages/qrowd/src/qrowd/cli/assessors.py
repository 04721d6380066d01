"""`qrowd assessors`: one row per assessor."""

from qrowd.cli.inputs import JudgmentInputs
from qrowd.cli.library import command
from qrowd.cli.output import ResultOutput
from qrowd.reports.agreement import assessors as describe_assessors

assessors = command(describe_assessors, JudgmentInputs, ResultOutput)
