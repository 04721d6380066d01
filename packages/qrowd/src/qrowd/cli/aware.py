"""`qrowd aware`: mean scores over assessors, weighted by how different each assessor is from random ones."""

from qrowd.cli.inputs import RunsAndJudgments
from qrowd.cli.library import command
from qrowd.cli.output import SystemsOutput
from qrowd.reports.aware import aware_of

HEEDED = ("ties", "score_dtype", "unjudged", "missing", "min_coverage", "repeats", "grades", "duplicates")

aware = command(aware_of, RunsAndJudgments, SystemsOutput, work="comparing with random assessors", conventions=HEEDED)
aware.__name__ = "aware"
