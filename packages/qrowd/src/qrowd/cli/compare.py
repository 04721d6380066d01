"""`qrowd compare`: which systems may be the best, and do assessors agree on that."""

from qrowd.cli.inputs import RunsAndJudgments
from qrowd.cli.library import command
from qrowd.cli.output import SystemsOutput
from qrowd.reports.comparison import compare as compare_systems

compare = command(compare_systems, RunsAndJudgments, SystemsOutput, work="scoring")
