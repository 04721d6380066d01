"""What can be asked of files: questions, what each needs, the command that answers it, and how strong an answer is."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import isnan, nan
from typing import NamedTuple

import numpy as np

from qrowd.errors import QrowdError
from qrowd.evaluation import evaluate, measure
from qrowd.model.alignment import align
from qrowd.model.judgments import Judgments
from qrowd.model.scales import infer_scale
from qrowd.model.scores import Scores
from qrowd.reports.design_tables import smallest_difference
from qrowd.reports.inspection import Inspection, short_paths
from qrowd.reports.phrases import MODEL_NAME, count, listed, number, percent
from qrowd.reports.report_systems import leading_pair

MEASURE = "nDCG@10"


class Question(NamedTuple):
    """A question in the words of its users.

    needs : what it needs, in the words of `Asking.unmet`.
    """

    words: str
    needs: str
    command: str


QUESTIONS = (
    Question(
        "Is {first} better than {second}, whoever judges?", "runs judgments systems shared",
        "compare {runs} {judgments} --systems {systems}{slots}",
    ),
    Question("How good is the system?", "runs judgments alone shared", "evaluate {runs} {judgments}{slots}"),
    Question("Can I trust my judges?", "judgments assessors overlap", "agree {judgments}"),
    Question("Does a judge stand out?", "judgments assessors overlap", "assessors {judgments}{gold}"),
    Question(
        "On what do judges disagree, and does it matter?", "runs judgments systems shared assessors overlap",
        "disagreements {runs} {judgments} --systems {systems}",
    ),
    Question(
        "How many topics or judges do I need?", "runs judgments systems shared assessors components",
        "plan {runs} {judgments}{slots}",
    ),
    Question(
        "What should I label next?", "runs systems scale",
        "next {runs}{people} --question {question} --scale {scale}",
    ),
    Question(
        "May a model replace people?", "judgments assessors overlap model people",
        "replace {judgments} --model {models}",
    ),
    Question("Which label is final?", "judgments assessors overlap", "aggregate {judgments}{method}"),
    Question("Which system do preferences favour?", "runs preferences", "evaluate {runs} {preferences}"),
    Question("Are the preferences consistent?", "preferences", "prefer agree {preferences}"),
    Question("Which documents are preferred?", "preferences", "prefer bradley-terry {preferences}"),
    Question("What do the magnitudes say?", "magnitudes", "magnitude {magnitudes}{gold}"),
    Question("Do the leaderboards agree?", "scores", "leaderboards {scores}"),
    Question(
        "What would a model as judge cost?", "runs texts",
        "judge ask --topics {topics} --documents {documents} --runs {paths} --model http://localhost:8000/v1#MODEL "
        "--dry-run",
    ),
)  # fmt: skip


USUAL = ("compare", "agree", "plan", "next", "replace")  # commands of which it is said why they cannot be asked


@dataclass(frozen=True, eq=False)
class Asking:
    """What can be asked of files."""

    inspection: Inspection

    @cached_property
    def judgments(self) -> Judgments | None:
        """The grades, or else the magnitudes."""
        one = self.inspection
        return one.magnitudes if one.judgments is None else one.judgments

    @cached_property
    def slots(self) -> int:
        """Judgments of a document, where assessors on one scale judged less than half of the pool each; else 0."""
        judgments = self.judgments
        if judgments is None or len(set(judgments.scales)) > 1 or judgments.coverage().mean() > 0.5:
            return 0
        each = int(np.median(np.unique(judgments.pair_numbers, return_counts=True)[1]))
        return each if each > 1 else 0

    @cached_property
    def scores(self) -> Scores | None:
        """Scores of the systems; None where runs and judgments share no topic."""
        runs, judgments = self.inspection.runs, self.judgments
        if runs is None or judgments is None:
            return None
        try:
            return evaluate(runs, judgments.slots(self.slots) if self.slots else judgments, [measure(MEASURE)])
        except QrowdError:
            return None

    @cached_property
    def detectable(self) -> float:
        """The smallest difference that would be detected; nan where that is not known."""
        return nan if self.scores is None or len(self.scores.systems) < 2 else smallest_difference(self.scores)

    @cached_property
    def models(self) -> list[str]:
        """The assessors who are models, by their names."""
        return [name for name in self.assessors if MODEL_NAME.search(name)]

    @property
    def assessors(self) -> tuple[str, ...]:
        """Those who judged."""
        return () if self.judgments is None else self.judgments.assessors

    @property
    def kinds(self) -> set[str]:
        """Of the scales of the judgments."""
        return set() if self.judgments is None else {scale.kind for scale in self.judgments.scales}

    @property
    def pair(self) -> tuple[str, ...]:
        """The two systems that lead, if they are known."""
        return () if self.scores is None or len(self.scores.systems) < 2 else leading_pair(self.scores)

    @cached_property
    def scale(self) -> str:
        """The scale on which people would go on; empty for magnitudes."""
        if self.judgments is None or len(self.models) == len(self.assessors):
            return "0-3"
        people = [i for i, name in enumerate(self.assessors) if name not in self.models]
        scale = infer_scale(self.judgments.value[np.isin(self.judgments.assessor, people)])
        return "" if scale.kind == "magnitude" else str(scale)

    def unmet(self) -> dict[str, str]:
        """{need: why it is not met}."""
        one, judgments = self.inspection, self.judgments
        systems = () if one.runs is None else one.runs.systems
        overlaps = judgments is not None and (~np.isnan(judgments.panel().values)).sum(axis=1).max(initial=0) > 1
        needs = (
            ("runs", one.runs is not None, "there are no runs"),
            ("judgments", judgments is not None, "there are no judgments"),
            ("systems", len(systems) > 1, f"{listed(systems or ['nothing'])} is the only system"),
            ("alone", len(systems) == 1, ""),
            ("shared", self.scores is not None, "runs and judgments share no topic"),
            ("assessors", len(self.assessors) > 1, f"only {listed(self.assessors or ['nobody'])} judged"),
            ("overlap", overlaps, "no document was judged by two assessors"),
            ("components", not isnan(self.detectable), "fewer than two topics have scores"),
            ("model", bool(self.models), "no assessor is called like a model; say who is with --model"),
            ("people", len(self.models) < len(self.assessors), "only models judged"),
            ("scale", bool(self.scale), "magnitudes have no highest value"),
            ("preferences", one.preferences is not None, ""),
            ("magnitudes", one.magnitudes is not None, ""),
            ("scores", one.scores is not None and len(one.scores.systems) > 1, ""),
            ("texts", bool(one.of("topics") and one.of("documents")), ""),
        )
        return {need: reason for need, is_met, reason in needs if not is_met}

    def questions(self) -> Iterator[tuple[str, str]]:
        """(question, command) of all that can be asked."""
        unmet, values = self.unmet(), self._values()
        names = dict(zip(("first", "second"), self.pair, strict=False))
        for question in QUESTIONS:
            if unmet.keys().isdisjoint(question.needs.split()):
                yield question.words.format(**names), f"qrowd {question.command.format(**values)}"

    def refusals(self) -> Iterator[str]:
        """Which usual questions cannot be asked, and why not."""
        unmet = self.unmet()
        commands: dict[str, list[str]] = {}
        for question in QUESTIONS:
            command = question.command.split()[0]
            reasons = [unmet[need] for need in question.needs.split() if need in unmet]
            if reasons and command in USUAL:
                commands.setdefault(reasons[0], []).append(command)
        for reason, names in commands.items():
            yield f"not: {', '.join(names)}, since {reason}"

    def strength(self) -> Iterator[str]:
        """How much an answer rests on, in short sentences."""
        runs, judgments = self.inspection.runs, self.judgments
        if judgments is None:
            return
        topics = judgments.topics if runs is None else set(judgments.topics).intersection(runs.topics)
        yield f"{count(len(topics), 'topic')} and {count(len(self.assessors), 'assessor')}"
        if runs is None or self.scores is None:
            yield f"an assessor judged {percent(judgments.coverage().mean())} of the documents on average"
            return
        unjudged = align(runs, judgments.panel().pool).facts(runs, [10]).attributes()["unjudged_shares"][10]
        yield f"{percent(1 - unjudged)} of the first 10 documents were judged"
        if not isnan(self.detectable):
            yield f"a difference of {number(self.detectable, 3)} by {MEASURE} would be detected with probability 0.8"

    def _values(self) -> dict[str, str]:
        """What stands for the fields of the commands."""
        one = self.inspection
        contents = ("runs", "judgments", "gold", "magnitudes", "preferences", "scores", "topics", "documents")
        paths = {content: shlex.join(short_paths(one.of(content))) for content in contents if one.of(content)}
        options = one.settings.options("assessor", "labels", "incomplete_rows", "identical_rows")
        judgments = f"--judgments {paths.get('judgments') or paths.get('magnitudes')}{options}"
        of_models = [file for file in one.of("judgments") if file.name in self.models]
        are_files = 3 < len(self.models) == len(of_models)
        models = shlex.join(short_paths(of_models) if are_files else self.models)
        return paths | {
            "paths": paths.get("runs", ""),
            "runs": f"--runs {paths.get('runs')}{one.settings.options('system')}",
            "judgments": judgments,
            "preferences": f"--preferences {paths.get('preferences')}"
            + one.settings.options("format", "assessor", "incomplete_rows"),
            "magnitudes": f"--judgments {paths.get('magnitudes')}{options}",
            "topics": paths.get("topics", "").split(" ")[0],
            "gold": f" --gold {paths['gold']}" if "gold" in paths else "",
            "slots": f" --slots {self.slots}" if self.slots else "",
            "method": "" if {"binary", "graded"}.intersection(self.kinds) else " --method median",
            "systems": shlex.join(self.pair),
            "question": shlex.quote(" > ".join(self.pair) or "best"),
            "people": (options if self.judgments is None else f" {judgments}")
            + (f" --model {models}" if models else ""),
            "models": models,
            "scale": self.scale,
        }
