"""`qrowd aggregate`: many labels to one."""

from qrowd.cli.inputs import JudgmentInputs
from qrowd.cli.library import command
from qrowd.cli.output import QrelsOutput
from qrowd.reports.aggregation import aggregate as merge_judgments

aggregate = command(merge_judgments, JudgmentInputs, QrelsOutput)
