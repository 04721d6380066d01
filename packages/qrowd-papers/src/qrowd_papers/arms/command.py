"""`qrowd study arms`: the arms of a study, from files or from a campaign."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from qrowd.cli import options
from qrowd.cli.options import convention, of_campaigns, option, refuse_campaign
from qrowd.errors import ArgumentError
from qrowd_papers.written import Written

if TYPE_CHECKING:
    from qrowd.model.judgments import Judgments
    from qrowd.model.preferences import Preferences


def arms(
    arm: Annotated[
        list[str] | None,
        option(
            help="Arms that are compared: tables of preferences or of judgments.", panel="Data", metavar="NAME=FILE"
        ),
    ] = None,
    units: Annotated[
        str | None,
        option(help="Table of the units of these arms, as a campaign exports it.", panel="Data", metavar="FILE"),
    ] = None,
    campaign: options.Campaign = None,
    database: options.Database = options.DATABASE,
    tie_rate: Annotated[
        float, convention(help="Rate at which two equal grades agree with a preference; .5: by a coin.")
    ] = 0.5,
    confidence: options.Confidence = 0.95,
    written: Written = Written(),
) -> None:
    """Ways of judging the same topics, compared: agreement, time, feedback and use of context."""
    from qrowd import files
    from qrowd_papers.arms.arm_plots import arms_figure
    from qrowd_papers.arms.compared_arms import compare_arms

    answers: dict[str, Judgments | Preferences] = {}
    table: Any = None
    if campaign is not None and not arm:
        answers, table = of_campaigns("arms", campaign)(database, campaign)
    else:
        refuse_campaign(campaign)
        for text in arm or ():
            name, equals, path = text.partition("=")
            if not equals or not name or not path:
                raise ArgumentError(f"--arm {text}: expected NAME=FILE, as in absolute=grades.csv")
            if name in answers:
                raise ArgumentError(f"--arm {text}: there are two arms of this name; rename one")
            answers[name] = files.read_answers(path)
        table = None if units is None else files.read_columns(units)
    report = compare_arms(answers, table, tie_rate=tie_rate, confidence=confidence)
    written.deliver(report.to_document(), [arms_figure(report)] if written.figures else ())
