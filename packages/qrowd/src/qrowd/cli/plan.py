"""`qrowd plan`: more topics or more assessors, and what a budget buys."""

from qrowd.cli.inputs import RunsAndJudgments
from qrowd.cli.library import command
from qrowd.cli.output import SystemsOutput
from qrowd.reports.planning import plan as plan_judging

plan = command(plan_judging, RunsAndJudgments, SystemsOutput, work="scoring")
