"""What can be asked of files: the questions of questions.toml with their commands, and how strong answers would be."""

from __future__ import annotations

import shlex
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import isnan, nan
from pathlib import Path
from typing import Any, get_args

import numpy as np

from qrowd.errors import QrowdError
from qrowd.evaluation import evaluate
from qrowd.model.judgments import Judgments
from qrowd.model.scores import Scores
from qrowd.reports.design_tables import smallest_difference
from qrowd.reports.inspection import Content, Inspection, short_paths
from qrowd.reports.notes import slots_of
from qrowd.reports.phrases import MODEL_NAME, count, listed, number, percent
from qrowd.reports.report_systems import leading_pair


@dataclass(frozen=True, eq=False)
class Asking:
    """What can be asked of files. beside_design : whether the folder has one, perhaps of another question."""

    inspection: Inspection
    beside_design: bool

    @property
    def judgments(self) -> Judgments | None:
        """The grades, or else the magnitudes."""
        grades = self.inspection.judgments
        return self.inspection.magnitudes if grades is None else grades

    @property
    def assessors(self) -> tuple[str, ...]:
        """Those who judged."""
        return () if self.judgments is None else self.judgments.assessors

    @property
    def models(self) -> list[str]:
        """The assessors who are models, by their names."""
        return [name for name in self.assessors if MODEL_NAME.search(name)]

    @property
    def measure(self) -> str:
        """The measure by which systems are compared."""
        return "Mean" if self.inspection.answers else "nDCG@10"

    @cached_property
    def slots(self) -> int:
        """Judgments of a document, where people on one scale judged less than half of the pool each; else 0."""
        judgments = self.judgments
        if self.models or judgments is None or len(set(judgments.scales)) > 1 or judgments.coverage().mean() > 0.5:
            return 0
        each = slots_of(judgments.coverage())
        return each if each > 1 else 0

    @cached_property
    def scores(self) -> Scores | None:
        """Scores of the systems; None where there are none."""
        runs, judgments = self.inspection.runs, self.judgments
        if runs is None or judgments is None:
            return None
        try:
            scores = evaluate(runs, judgments.slots(self.slots) if self.slots else judgments, [self.measure])
        except QrowdError:
            return None
        return scores if np.isfinite(scores.values).any() else None

    @cached_property
    def pair(self) -> tuple[str, ...]:
        """The two systems that lead, if they are known."""
        return () if self.scores is None or len(self.scores.systems) < 2 else leading_pair(self.scores)

    @cached_property
    def detectable(self) -> tuple[float, bool]:
        """As `smallest_difference`; nan without two systems."""
        return smallest_difference(self.scores) if self.scores is not None and self.pair else (nan, False)

    @property
    def scale(self) -> str:
        """The scale on which people would go on; empty for magnitudes and different scales."""
        pairs = zip(self.assessors, getattr(self.judgments, "scales", ()), strict=True)
        scales = {scale for name, scale in pairs if name not in self.models}
        if not scales:
            return "0-3"
        highest = max(scales, key=lambda scale: scale.maximum)
        of_grades = {scale.kind for scale in scales} <= {"binary", "graded"}
        return str(highest) if of_grades or (len(scales) == 1 and highest.kind != "magnitude") else ""

    def questions(self) -> tuple[dict[str, str], dict[str, list[str]]]:
        """{question: command} of all that can be asked, and {reason: commands} of those that cannot."""
        file = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
        fields = self._fields()
        commands: dict[str, str] = {}
        refused: dict[str, list[str]] = {}
        for question in file["questions"]:
            unmet = [need for need in question["needs"] if not fields[need]]
            if not unmet:
                command = question["command"].format(**fields)
                if self.inspection.answers:
                    command = command.replace(f"--runs {fields['runs']} ", "")
                commands[question["words"].format(**fields)] = f"qrowd {command}"
            elif "explain" in question:
                reason = file["reasons"][unmet[0]].format(**fields)
                refused.setdefault(reason, []).append(question["command"].split()[0])
        return commands, refused

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
        cutoff, unjudged = next(iter(self.scores.attributes["unjudged_shares"].items()))
        yield f"{percent(1 - unjudged)} of the {'units' if cutoff is None else f'first {cutoff} documents'} were judged"
        if not isnan(self.detectable[0]):
            where = "" if self.detectable[1] else " on other topics"
            size = f"a difference of {number(self.detectable[0], 3)} by {self.measure}"
            slots = f", by --slots {self.slots}" if self.slots else ""
            yield f"{size} would be detected with probability 0.8{where}{slots}"

    def _fields(self) -> dict[str, Any]:
        """What stands for the fields of questions and commands; a need is met if its field is not empty or false."""
        one, settings, judged = self.inspection, self.inspection.settings, self.judgments
        contents = [name for name in get_args(Content) if getattr(one, name, one) is not None]
        paths = defaultdict(str, {name: shlex.join(short_paths(one.of(name))) for name in contents})
        systems = getattr(one.runs, "systems", ())
        judgments = paths["judgments"] or paths["magnitudes"]
        of_models = [file for file in one.of("judgments") if file.name in self.models]
        models = shlex.join(short_paths(of_models) if 3 < len(self.models) == len(of_models) else self.models)
        options = settings.options("assessor", "labels", "incomplete_rows", "identical_rows")
        kinds = {scale.kind for scale in getattr(judged, "scales", ())}
        compared = one.preferences  # of systems, if the same names stand on two topics or more each
        across_topics = compared is not None and compared.pool.document.size >= 2 * len(compared.documents)
        return paths | {
            "readable": " that could be read" if one.mistakes else "",
            "system": settings.options("system"),
            "judgments": judgments,
            "options": options,
            "format": settings.options("format", "assessor", "incomplete_rows"),
            "topics": shlex.join(short_paths(one.of("topics")[:1])),
            "scores": paths["scores"] if one.scores is not None and one.scores.systems[1:] else "",
            "gold": f" --gold {paths['gold']}" if paths["gold"] else "",
            "battles": across_topics,
            "of_documents": not across_topics,
            "slots": f" --slots {self.slots}" if self.slots else "",
            "method": "" if kinds & {"binary", "graded"} else " --method median",
            "leaders": self.pair or ("", ""),
            "pair": shlex.join(self.pair),
            "question": shlex.quote(" > ".join(self.pair) or "best"),
            "design": " --design 2.json" if self.beside_design else "",
            "models": models,
            "of_runs": f"--runs {paths['runs']}{settings.options('system')} " if self.scores is not None else "",
            "and_models": f" --model {models}" if models else "",
            "and_judgments": f" --judgments {judgments}{options}" if judgments else settings.options("incomplete_rows"),
            "scale": self.scale,
            "only_system": len(systems) == 1,
            "several_systems": systems[1:],
            "systems": listed(systems or ["nothing"]),
            "shared": self.scores is not None,
            "several_assessors": self.assessors[1:],
            "assessors": listed(self.assessors or ["nobody"]),
            "overlap": judged is not None and (~np.isnan(judged.panel().values)).sum(axis=1).max(initial=0) > 1,
            "detectable": self.detectable[0] > 0,
            "alike": len(kinds) == 1 or "magnitude" not in kinds,
            "people": len(self.models) < len(self.assessors),
        }
