"""What can be asked of files: the questions of questions.toml with their commands, and how strong answers would be."""

from __future__ import annotations

import shlex
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import isnan, nan
from pathlib import Path
from typing import Any, get_args

import numpy as np

from qrowd.errors import QrowdError
from qrowd.evaluation import evaluate, measure
from qrowd.model.judgments import Judgments
from qrowd.model.scales import infer_scale
from qrowd.model.scores import Scores
from qrowd.reports.design_tables import smallest_difference
from qrowd.reports.inspection import Content, Inspection, short_paths
from qrowd.reports.phrases import MODEL_NAME, count, listed, number, percent
from qrowd.reports.report_systems import leading_pair

MEASURE = "nDCG@10"


@dataclass(frozen=True, eq=False)
class Asking:
    """What can be asked of files."""

    inspection: Inspection

    @cached_property
    def file(self) -> dict[str, Any]:
        """The questions, and the reasons why one cannot be asked."""
        return tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))

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
    def pair(self) -> tuple[str, ...]:
        """The two systems that lead, if they are known."""
        return () if self.scores is None or len(self.scores.systems) < 2 else leading_pair(self.scores)

    @cached_property
    def detectable(self) -> float:
        """The smallest difference that would be detected; nan where that is not known."""
        return smallest_difference(self.scores) if self.scores is not None and self.pair else nan

    @property
    def scale(self) -> str:
        """The scale on which people would go on; empty for magnitudes."""
        people = [i for i, name in enumerate(self.assessors) if not MODEL_NAME.search(name)]
        if self.judgments is None or not people:
            return "0-3"
        scale = infer_scale(self.judgments.value[np.isin(self.judgments.assessor, people)])
        return "" if scale.kind == "magnitude" else str(scale)

    def questions(self) -> Iterator[tuple[str, str]]:
        """(question, command) of all that can be asked."""
        met, fields = self._met(), self._fields()
        for question in self.file["questions"]:
            if all(met[need] for need in question["needs"]):
                yield question["words"].format(**fields), f"qrowd {question['command'].format(**fields)}"

    def refusals(self) -> Iterator[str]:
        """Which questions cannot be asked, and why not."""
        met, fields = self._met(), self._fields()
        commands: dict[str, list[str]] = {}
        for question in self.file["questions"]:
            lacking = [need for need in question["needs"] if not met[need]]
            if lacking and "explain" in question:
                commands.setdefault(lacking[0], []).append(question["command"].split()[0])
        for need, names in commands.items():
            yield f"not: {', '.join(names)}, since {self.file['reasons'][need].format(**fields)}"

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
        yield f"{percent(1 - self.scores.attributes['unjudged_shares'][10])} of the first 10 documents were judged"
        if not isnan(self.detectable):
            yield f"a difference of {number(self.detectable, 3)} by {MEASURE} would be detected with probability 0.8"

    def _met(self) -> dict[str, bool]:
        """Whether each need is met."""
        one, judgments, n_assessors = self.inspection, self.judgments, len(self.assessors)
        n_systems = 0 if one.runs is None else len(one.runs.systems)
        overlap = judgments is not None and (~np.isnan(judgments.panel().values)).sum(axis=1).max(initial=0) > 1
        contents = {content: bool(getattr(one, content, one.of(content))) for content in get_args(Content)}
        return contents | {
            "judgments": judgments is not None,
            "scores": one.scores is not None and len(one.scores.systems) > 1,
            "only system": n_systems == 1,
            "systems": n_systems > 1,
            "shared": self.scores is not None,
            "assessors": n_assessors > 1,
            "overlap": overlap,
            "components": not isnan(self.detectable),
            "model": bool(self.models),
            "people": len(self.models) < n_assessors,
            "scale": bool(self.scale),
        }

    def _fields(self) -> dict[str, str]:
        """What stands for the fields of questions and commands."""
        one, settings = self.inspection, self.inspection.settings
        paths = {name: shlex.join(short_paths(one.of(name))) for name in get_args(Content)}
        judgments = paths["judgments"] or paths["magnitudes"]
        of_models = [file for file in one.of("judgments") if file.name in self.models]
        are_files = 3 < len(self.models) == len(of_models)
        models = shlex.join(short_paths(of_models) if are_files else self.models)
        kinds = set() if self.judgments is None else {scale.kind for scale in self.judgments.scales}
        first, second = self.pair or ("", "")
        return paths | {
            "system": settings.options("system"),
            "judgments": judgments,
            "options": settings.options("assessor", "labels", "incomplete_rows", "identical_rows"),
            "format": settings.options("format", "assessor", "incomplete_rows"),
            "topics": shlex.join(short_paths(one.of("topics")[:1])),
            "gold": f" --gold {paths['gold']}" if paths["gold"] else "",
            "slots": f" --slots {self.slots}" if self.slots else "",
            "method": "" if kinds & {"binary", "graded"} else " --method median",
            "first": first,
            "second": second,
            "pair": shlex.join(self.pair),
            "question": shlex.quote(" > ".join(self.pair) or "best"),
            "models": models,
            "and_models": f" --model {models}" if models else "",
            "and_judgments": "" if self.judgments is None else f" --judgments {judgments}",
            "scale": self.scale,
            "systems": "" if one.runs is None else listed(one.runs.systems),
            "assessors": listed(self.assessors or ["nobody"]),
        }
