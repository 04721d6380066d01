"""`qrowd agree`: how far assessors agree."""

from qrowd.cli.inputs import JudgmentInputs
from qrowd.cli.library import command
from qrowd.cli.output import ResultOutput
from qrowd.reports.agreement import agree as measure_agreement

agree = command(measure_agreement, JudgmentInputs, ResultOutput)
