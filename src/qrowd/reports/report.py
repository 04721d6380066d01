"""The report: everything a page for those who decide has to say, as plain data. `report_page` draws it.

Nothing is computed here that has no room of its own: scores, comparisons, agreement, AWARE and the ways of merging
meet, each under the conventions that are named with the result.
"""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from glob import glob
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from qrowd.comparison.rankings import correlations
from qrowd.errors import ArgumentError, FileError
from qrowd.evaluation import evaluate
from qrowd.evaluation import measure as parse
from qrowd.files import find_files
from qrowd.model.conventions import Conventions
from qrowd.model.judgments import Judgments
from qrowd.model.labels import closest
from qrowd.model.runs import Runs
from qrowd.model.scores import Floats, Scores, known_mean
from qrowd.reports.comparison import Choices, compare_systems
from qrowd.reports.document import Document, Table
from qrowd.reports.phrases import number, probability, span
from qrowd.reports.report_merging import RANDOM_ASSESSORS, Merging, ScoreBy, merging_of, similarities_of
from qrowd.reports.report_people import Assessors, Topics, assessors_of, topics_of
from qrowd.reports.report_systems import (
    Answer,
    PairRow,
    SystemRow,
    answer_of,
    pair_rows,
    pair_to_ask_about,
    system_order,
    system_rows,
)

if TYPE_CHECKING:
    import pandas

CONVENTIONS, CHOICES = Conventions(), Choices()
OF_OTHER_TABLES = ("AP correlation:", "same sign:", "P(ahead again):", "pair:")  # notes of `qrowd compare` alone
PACKAGES = ("qrowd", "numpy", "scipy", "numba")


@dataclass(frozen=True)
class InputFile:
    """A file that was read. role : runs, judgments ...; sha256 : of its bytes as they lie on disk."""

    role: str
    path: str
    n_bytes: int
    sha256: str


@dataclass(frozen=True)
class Provenance:
    """How to come by the same page. command : as typed; empty where a program asked. date : of the page, if wanted."""

    command: str = ""
    files: tuple[InputFile, ...] = ()
    date: str = ""


@dataclass(frozen=True, eq=False)
class Report:
    """What the page shows.

    compared_with : the system that all others are compared with, the baseline or the leader. reference : an assessor
    who is not of the panel and with whom everyone is compared. systems, pairs : see `SystemRow`, `PairRow`. notes : one
    line per convention that mattered. facts : how much there was of what.
    """

    title: str
    measure: str
    compared_with: str
    baseline: str | None
    reference: str | None
    answer: Answer
    systems: tuple[SystemRow, ...]
    pairs: tuple[PairRow, ...]
    assessors: Assessors
    topics: Topics
    merging: Merging
    facts: Mapping[str, Any]
    notes: tuple[str, ...]
    conventions: Mapping[str, Any]
    choices: Mapping[str, Any]
    versions: Mapping[str, str]
    provenance: Provenance

    def to_dict(self) -> dict[str, Any]:
        """All of it as dictionaries, tuples and numbers."""
        return asdict(self)


def report_summary(
    runs: Runs,
    judgments: Judgments,
    *,
    measure: object = "nDCG@10",
    baseline: str | None = None,
    reference: str | None = None,
    conventions: Conventions = CONVENTIONS,
    choices: Choices = CHOICES,
    score_by: ScoreBy | None = None,
    random_assessors: int = RANDOM_ASSESSORS,
    title: str = "",
    provenance: Provenance = Provenance(),
    progress: Callable[[int, int], None] | None = None,
) -> Report:
    """Everything the page shows, computed.

    Parameters
    ----------
    measure : the one that decides.
    baseline : a system that all others are held against; None: the leader.
    reference : an assessor left out of the panel, whom every assessor and every way of merging is held against.
    choices : levels, replicates and the seed of whatever is drawn.
    score_by : `qrowd.methods.score_by`, for majority, Dawid-Skene and predicted relevance; None leaves them out.
    random_assessors : of each level, for AWARE. progress : called with (comparisons with them done, in all).

    Raises
    ------
    ArgumentError
        A system or an assessor nobody has; one system only.
    NoOverlapError
        Runs and judgments share no topic; no assessor has a score.
    """
    wanted = str(parse(measure))
    panel, gold = _apart(judgments, reference)
    if baseline is not None and baseline not in runs.systems:
        raise ArgumentError(
            f"baseline {baseline!r} is not among the systems; {closest(baseline, runs.systems, 'system')}"
        )
    scores = evaluate(runs, panel, [wanted], conventions=conventions)
    array = scores.of(wanted)
    pair = pair_to_ask_about(array, scores.systems, baseline) if len(scores.systems) > 1 else None
    compared = compare_systems(scores, pair=pair, choices=choices)
    part = compared.measures[0]
    answer = answer_of(part, array, choices)
    compared_with = baseline if baseline is not None else answer.first
    held = None if gold is None or reference is None else evaluate(runs, gold, [wanted], conventions=conventions)
    similarities, aware = similarities_of(runs, panel, wanted, conventions, random_assessors, choices.seed, progress)
    return Report(
        title=title or "Which search system is better?",
        measure=wanted,
        compared_with=compared_with,
        baseline=baseline,
        reference=reference,
        answer=answer,
        systems=system_rows(part, array, compared_with, choices),
        pairs=pair_rows(part, array, choices, baseline),
        assessors=assessors_of(
            panel,
            scores,
            part,
            similarities,
            aware,
            conventions=conventions,
            reference_tau=None if held is None else _tau_with(scores, held, wanted),
            replicates=min(choices.replicates, 1000),
            seed=choices.seed,
        ),
        topics=topics_of(runs, panel, scores, array, conventions),
        merging=merging_of(
            runs,
            panel,
            wanted,
            conventions,
            panel=part.top.mean,
            order=system_order(part),
            systems=scores.systems,
            similarities=similarities,
            aware=aware,
            score_by=score_by,
            reference=None if held is None or reference is None else (reference, _means(held.of(wanted))),
            seed=choices.seed,
        ),
        facts=_facts(runs, panel, scores, array),
        notes=tuple(note for note in compared.notes if not note.startswith(OF_OTHER_TABLES)),
        conventions=dict(scores.attributes["conventions"]),
        choices=asdict(choices) | {"random_assessors": random_assessors},
        versions=_versions(),
        provenance=provenance,
    )


def input_files(role: str, paths: Iterable[str]) -> tuple[InputFile, ...]:
    """Files that were read, with what tells whether they are the same ones. Pipes are left out.

    paths : as `read_runs` takes them: paths, patterns, folders, NAME=PATH.

    Raises
    ------
    FileError
        A file that cannot be read.
    """
    found = []
    for path in _meant(paths):
        if not path.is_file():
            continue
        try:
            content = path.read_bytes()
        except OSError as error:
            raise FileError(path, f"cannot be read: {(error.strerror or str(error)).lower()}") from None
        found.append(InputFile(role, str(path), len(content), hashlib.sha256(content).hexdigest()))
    return tuple(found)


def _meant(paths: Iterable[str]) -> Iterator[Path]:
    for given in paths:
        _, named, rest = given.partition("=")
        yield from find_files(rest if named and not (Path(given).exists() or glob(given)) else given)


# ---------------------------------------------------------------------- parts


def _apart(judgments: Judgments, reference: str | None) -> tuple[Judgments, Judgments | None]:
    """The panel, and the reference's judgments."""
    if reference is None:
        return judgments, None
    if reference not in judgments.assessors:
        near = closest(reference, judgments.assessors, "assessor")
        raise ArgumentError(f"reference {reference!r} is not among the assessors; {near}")
    if len(judgments.assessors) == 1:
        raise ArgumentError(f"reference {reference!r} is the only assessor, so there is no panel; give another")
    others = judgments.select(assessors=lambda name: name != reference)
    return others, judgments.select(assessors=lambda name: name == reference)


def _means(array: Floats) -> Floats:
    return known_mean(known_mean(array, axis=0), axis=0)


def _tau_with(scores: Scores, held: Scores, measure: str) -> dict[str, float]:
    """tau-b of every assessor's ranking with the reference's, over the topics both have."""
    topics = [topic for topic in scores.topics if topic in held.topics]
    own = scores.of(measure)[:, [scores.topics.index(topic) for topic in topics]]
    gold = held.of(measure)[:, [held.topics.index(topic) for topic in topics]]
    found = correlations(np.concatenate([gold, own]), reference=0)
    return dict(zip(scores.assessors, found.tau_b[1:].tolist(), strict=True))


def _facts(runs: Runs, judgments: Judgments, scores: Scores, array: Floats) -> dict[str, Any]:
    about = scores.attributes
    ((cut, share),) = about["unjudged_shares"].items()
    return {
        "systems": len(scores.systems),
        "topics": int((~np.isnan(array)).any(axis=(0, 2)).sum()),
        "assessors": len(scores.assessors),
        "judgments": int((judgments.value >= 0).sum()),
        "documents": int(judgments.panel().pool.document.size),
        "repeated": int(about["repeated_judgments"]),
        "retrieved": len(runs),
        "unjudged_cut": cut,
        "unjudged_share": share,
        "missing_lists": int(about["missing_lists"]),
        "whole_pools": float((scores.coverage == 1).mean()),
    }


def _versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:  # run from a folder that nobody installed
            found[name] = "unknown"
    return found


# ---------------------------------------------------------------------- as tables


def report_document(report: Report) -> Document:
    """The report's tables for papers and programs: .csv holds one row per system, .json everything."""

    def frame() -> pandas.DataFrame:
        import pandas as pd

        made = pd.DataFrame([asdict(row) for row in report.systems])
        for ranking in report.merging.rankings:
            ranks = dict(zip(report.merging.systems, ranking.ranks, strict=True))
            made[f"rank_by_{ranking.name.replace(' ', '_').replace('-', '_').lower()}"] = made["system"].map(ranks)
        return made

    sentence = f"{report.answer.verdict}. {report.answer.sentence}"
    notes = (*report.assessors.weight_notes, *report.notes)
    return Document(sentence, tuple(report_tables(report)), notes, frame, report.to_dict)


def report_tables(report: Report) -> Iterable[Table]:
    """Systems, pairs, assessors, topics, rankings."""
    yield Table(
        f"{report.measure}: systems, compared with {report.compared_with}",
        ["system", "mean", "interval", "difference", "interval ", "p", "ranks", "may be the best", "first for"],
        [
            [
                row.system, number(row.mean), span(row.low, row.high, 3), signed(row.gap),
                interval(row.gap_low, row.gap_high),
                probability(row.p), span(row.rank_low, row.rank_high) if row.rank_low else "-",
                "yes" if row.may_be_best else "", str(row.first_for),
            ]
            for row in report.systems
        ],
    )  # fmt: skip
    yield Table(
        f"{report.measure}: each pair of the leading systems",
        ["system", "ahead of", "by", "interval", "p", "assessors who agree", "another panel would agree"],
        [
            [
                row.first, row.second, signed(row.difference), interval(row.low, row.high), probability(row.p),
                f"{row.ahead_for} of {row.n_ranking}", number(row.another_panel, 2),
            ]
            for row in report.pairs
        ],
    )  # fmt: skip
    yield Table(
        "assessors",
        ["assessor", "scale", "judgments", "topics", "agreement", "severity", "repeats", "seconds", "tau-b", "AWARE"],
        [
            [
                row.assessor, row.scale, f"{row.n_judgments:,}", str(row.n_topics), number(row.agreement, 3),
                signed(row.severity), number(row.consistency, 2), number(row.seconds, 1), number(row.tau_b, 3),
                number(row.accuracy, 3),
            ]
            for row in report.assessors.rows
        ],
    )  # fmt: skip
    yield Table(
        "topics",
        ["topic", "agreement (alpha)", "ease", "documents", "assessors"],
        [
            [row.topic, number(row.alpha, 3), number(row.ease, 3), str(row.n_documents), str(row.n_assessors)]
            for row in report.topics.rows
        ],
    )
    yield Table(
        f"{report.measure}: ranks by each way of putting assessors together",
        ["system", *(ranking.name for ranking in report.merging.rankings)],
        [
            [system, *(str(ranking.ranks[s] or "-") for ranking in report.merging.rankings)]
            for s, system in enumerate(report.merging.systems)
        ],
    )


def signed(value: float, digits: int = 3) -> str:
    """With its sign; - for nan."""
    return "-" if np.isnan(value) else f"{value:+.{digits}f}".replace("-", "−")


def interval(low: float, high: float, digits: int = 3) -> str:
    """[low, high]; - for nan."""
    return "-" if np.isnan(low) else f"[{low:.{digits}f}, {high:.{digits}f}]".replace("-", "−")
