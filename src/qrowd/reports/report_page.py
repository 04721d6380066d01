"""The report as one HTML page that needs nothing else: no network, no other file, no script to be read.

Style and script are inlined; a content security policy forbids the page to fetch anything.
"""

from __future__ import annotations

import csv
from base64 import b64encode
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from importlib import resources
from importlib.util import find_spec
from io import StringIO
from math import isnan
from typing import Any

from qrowd.errors import QrowdError
from qrowd.reports import report_charts as charts
from qrowd.reports import report_words as words
from qrowd.reports.phrases import number, probability, span
from qrowd.reports.report import Report, interval, signed
from qrowd.reports.report_people import Said, SplitRow

LEADERS = 12  # systems on the first screen
ASSESSORS_DRAWN = 24
SYSTEMS_DRAWN = 100


@dataclass(frozen=True)
class Cell:
    """What is shown, and what it is sorted by: a number, or the text itself where None."""

    text: str
    key: float | None = None


@dataclass(frozen=True)
class Grid:
    """A table.

    header : (name, what it means) of each column; the first names the row. data : a link with the numbers
    in full.
    """

    caption: str
    header: Sequence[tuple[str, str]]
    rows: Sequence[Sequence[Cell]]
    file: str
    data: str


def report_page(report: Report) -> str:
    """The page.

    Raises
    ------
    QrowdError
        Jinja2 is not installed.
    """
    need_jinja()
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=PackageLoader("qrowd.reports"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    folder = resources.files("qrowd.reports") / "templates"
    style, script = (Markup((folder / name).read_text("utf-8")) for name in ("report.css", "report.js"))
    pictures = {name: Markup(svg) for name, svg in _pictures(report).items()}
    return environment.get_template("report.html").render(
        report=report, style=style, script=script, pictures=pictures, grids=_grids(report), words=words,
        ends=ASSESSORS_DRAWN if len(report.assessors.rows) > ASSESSORS_DRAWN else 0,
        facts=words.facts_of(report), said=_said, splits=_splits(report),
    )  # fmt: skip


def need_jinja() -> None:
    """Say how to install what draws the page, before any work is done.

    Raises
    ------
    QrowdError
        Jinja2 is not installed.
    """
    if find_spec("jinja2") is None:
        raise QrowdError("the page needs Jinja2; pip install 'qrowd[report]'")


def _pictures(report: Report) -> dict[str, str]:
    rows = report.systems
    leaders = list(rows[:LEADERS])
    if all(row.system != report.compared_with for row in leaders):
        leaders[-1:] = [row for row in rows if row.system == report.compared_with]
    people = sorted(report.assessors.rows, key=lambda row: (isnan(row.agreement), -row.agreement))
    if len(people) > ASSESSORS_DRAWN:
        people = people[: ASSESSORS_DRAWN // 2] + people[-ASSESSORS_DRAWN // 2 :]
    return {
        "leaders": charts.systems_chart(leaders, report.compared_with, report.measure, width=600),
        "systems": charts.systems_chart(rows[:SYSTEMS_DRAWN], report.compared_with, report.measure),
        "pairs": charts.pairs_chart(report.pairs) if report.pairs else "",
        "assessors": charts.assessors_chart(people),
        "topics": charts.topics_chart(report.topics),
        "merging": charts.merging_chart(report.merging) if len(report.merging.rankings) > 1 else "",
    }


def _grids(report: Report) -> dict[str, Grid]:
    return {
        "systems": _systems(report),
        "pairs": _pairs(report),
        "assessors": _assessors(report),
        "topics": _topics(report),
        "merging": _merging(report),
    }


def _systems(report: Report) -> Grid:
    level = f"{100 * report.answer.confidence:g} %"
    over = "over topics" if report.answer.method == "topics" else "over topics and assessors"
    header = [
        ("system", "best mean first"),
        (report.measure, "mean over topics of the panel's mean"),
        ("interval", f"{level}, if other topics and other assessors had been at hand; it ends where the measure does"),
        ("difference", f"mean minus that of {report.compared_with}"),
        ("interval of the difference", f"{level} for all pairs of systems together, {over}"),
        ("p", "of the difference, adjusted for all pairs of systems"),
        ("ranks", f"that the system may hold, {level} for all systems together"),
        ("may be the best", "no other system is significantly ahead"),
        ("first for", "assessors by whose judgments alone the system is first"),
    ]
    rows = [
        [
            Cell(row.system),
            _figure(row.mean),
            Cell(interval(row.low, row.high), row.low),
            Cell(signed(row.gap), row.gap),
            Cell(interval(row.gap_low, row.gap_high), row.gap_low),
            Cell(probability(row.p), row.p),
            Cell(span(row.rank_low, row.rank_high).replace("-", "–") if row.rank_low else "-", row.rank_low),
            Cell("yes" if row.may_be_best else ""),
            Cell(str(row.first_for), row.first_for),
        ]
        for row in report.systems
    ]
    return Grid("Systems, best first", header, rows, "systems.csv", _link(map(asdict, report.systems)))


def _pairs(report: Report) -> Grid:
    header = [
        ("system", ""),
        ("ahead of", ""),
        ("by", f"difference of mean {report.measure}"),
        ("interval", "over topics and assessors, for all pairs of systems together"),
        ("p", "adjusted for all pairs of systems"),
        ("significant", f"p below {report.choices['alpha']:g}"),
        ("assessors who agree", "who see the same system ahead"),
        ("another panel", "chance that as many other assessors see the same system ahead on these topics"),
    ]
    rows = [
        [
            Cell(row.first),
            Cell(row.second),
            Cell(signed(row.difference), row.difference),
            Cell(interval(row.low, row.high), row.low),
            Cell(probability(row.p), row.p),
            Cell("yes" if row.significant else "no"),
            Cell(f"{row.ahead_for} of {row.n_ranking}", row.ahead_for),
            Cell(number(row.another_panel, 2), row.another_panel),
        ]
        for row in report.pairs
    ]
    return Grid("Each pair of the leading systems", header, rows, "pairs.csv", _link(map(asdict, report.pairs)))


def _assessors(report: Report) -> Grid:
    people = report.assessors.rows
    seconds = any(not isnan(row.seconds) for row in people)
    repeated = any(row.n_repeated for row in people)
    weighed = any(not isnan(row.accuracy) for row in people)
    other = report.reference or "the other assessors together"
    header = [
        ("assessor", ""),
        ("judgments", "repeats included"),
        ("topics", "with any judgment"),
        ("coverage", "mean share of a topic's pool"),
        ("agreement", "with the others, beyond chance: 1 is perfect, 0 chance"),
        ("severity", "above 0: gives less than the others, in shares of the scale (magnitudes: in logarithms)"),
        ("ranks alike", f"tau-b of the ranking of systems with that of {other}"),
        ("best system", "by this assessor alone"),
    ]
    header += [("AWARE", "mean share of the weight that AWARE gives, on the topics judged")] if weighed else []
    header += [("same again", "share of repeated documents given the same value")] if repeated else []
    header += [("seconds", "median of a judgment")] if seconds else []
    header += [("stands out", "")] if any(row.outlying for row in people) else []
    rows = []
    for row in people:
        cells = [
            Cell(row.assessor),
            Cell(f"{row.n_judgments:,}", row.n_judgments),
            Cell(str(row.n_topics), row.n_topics),
            Cell(_percent(row.coverage), row.coverage),
            _figure(row.agreement, 3),
            Cell(signed(row.severity), row.severity),
            _figure(row.tau_b, 3),
            Cell(row.best or "-"),
        ]
        cells += [Cell(_percent(row.accuracy, 1), row.accuracy)] if weighed else []
        cells += [_figure(row.consistency, 2)] if repeated else []
        cells += [_figure(row.seconds, 1)] if seconds else []
        cells += [Cell(row.outlying)] if len(header) > len(cells) else []
        rows.append(cells)
    return Grid("Assessors", header, rows, "assessors.csv", _link(map(asdict, people)))


def _topics(report: Report) -> Grid:
    header = [
        ("topic", ""),
        ("agreement", "Krippendorff's alpha of its judgments"),
        ("mean score", "of all systems"),
        ("documents", "in the pool"),
        ("assessors", ""),
    ]
    rows = [
        [
            Cell(row.topic),
            _figure(row.alpha, 3),
            _figure(row.ease, 3),
            Cell(str(row.n_documents), row.n_documents),
            Cell(str(row.n_assessors), row.n_assessors),
        ]
        for row in report.topics.rows
    ]
    return Grid("Topics", header, rows, "topics.csv", _link(map(asdict, report.topics.rows)))


def _merging(report: Report) -> Grid:
    merging = report.merging
    header = [("system", ""), *((ranking.name, ranking.how) for ranking in merging.rankings)]
    rows = [
        [Cell(name), *(Cell(str(r.ranks[s] or "-"), r.ranks[s] or len(merging.systems) + 1) for r in merging.rankings)]
        for s, name in enumerate(merging.systems)
    ]
    data = [
        {"system": name, "method": r.name, "how": r.how, "mean": r.means[s], "rank": r.ranks[s]}
        for r in merging.rankings
        for s, name in enumerate(merging.systems)
    ]
    return Grid("Ranks by each way of putting assessors together", header, rows, "rankings.csv", _link(data))


def _splits(report: Report) -> str:
    return _link(
        {"topic": row.topic, "document": row.document, "split": row.split, "retrieved": row.retrieved, **asdict(said)}
        for row in report.topics.splits
        for said in row.said
    )


# ---------------------------------------------------------------------- pieces


def _said(row: SplitRow) -> list[tuple[str, str]]:
    """(what, who) of a document, highest first: own units, or shares of the scale where those differ."""
    groups: dict[float, list[Said]] = {}
    for one in row.said:
        groups.setdefault(one.value if isnan(one.share) else round(one.share, 6), []).append(one)
    found = []
    for share, members in groups.items():
        values = {one.value for one in members}
        what = _own(members[0]) if len(values) == 1 else "highest" if share == 1 else f"{100 * share:.3g} %"
        found.append((what, ", ".join(one.assessor for one in members)))
    return found


def _own(one: Said) -> str:
    """A value in its own units and, where it is not 0 and the scale does not end at 1, that end."""
    if isnan(one.share) or one.value in (0, one.share):
        return f"{one.value:g}"
    return f"{one.value:g} of {one.value / one.share:g}"


def _figure(value: float, digits: int = 4) -> Cell:
    return Cell(number(value, digits).replace("-", "−") if not isnan(value) else "-", value)


def _percent(share: float, digits: int = 0) -> str:
    return "-" if isnan(share) else f"{100 * share:.{digits}f} %"


def _link(rows: Iterable[dict[str, Any]]) -> str:
    """A CSV file as the address of a link; nothing stands where a number is not known."""
    listed = list(rows)
    out = StringIO()
    if listed:
        writer = csv.DictWriter(out, list(listed[0]), lineterminator="\n")
        writer.writeheader()
        for row in listed:
            writer.writerow({k: "" if isinstance(v, float) and isnan(v) else v for k, v in row.items()})
    return "data:text/csv;charset=utf-8;base64," + b64encode(out.getvalue().encode()).decode()
