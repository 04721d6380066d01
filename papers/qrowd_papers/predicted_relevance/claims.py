"""The predicted relevance study as a page: Tables 1 to 7 of the paper, what they imply, and the same on our panels.

Demeester, Aly, Hiemstra, Nguyen & Develder (2016), Inf. Retr. J. 19.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import isnan, nan
from typing import TYPE_CHECKING, Any

import numpy as np

from qrowd.comparison.correlation import kendall_tau_b
from qrowd.kernels.arrays import Floats
from qrowd.model.chance import Rng, seed_of
from qrowd.model.judgments import Judgments
from qrowd.predicted_relevance import predicted_relevance, predicted_relevance_by_type, sensitivity_to_rank
from qrowd.reports.document import Document, Table
from qrowd.reports.phrases import number
from qrowd_papers.claims import MATCH, NOT_PUBLIC
from qrowd_papers.predicted_relevance import printed
from qrowd_papers.predicted_relevance.cases import DEPTH, Case, Panel, load, runs_of

if TYPE_CHECKING:
    import pandas

HOLDS = "holds on all panels"
SNIPPETS = "simulated snippets"
SHOWN = 10  # systems of a panel in Table 5


@dataclass(frozen=True, eq=False)
class Column:
    """Numbers of one column, with their standard errors where there are any."""

    name: str
    values: Sequence[float] | Floats
    errors: Sequence[float] | Floats | None = None

    def cells(self, digits: int) -> list[str]:
        values = [number(float(value), digits) for value in self.values]
        errors = [nan] * len(values) if self.errors is None else [float(error) for error in self.errors]
        pairs = zip(values, errors, strict=True)
        return [text if isnan(error) else f"{text} ± {number(error, digits)}" for text, error in pairs]


@dataclass(frozen=True, eq=False)
class Beside:
    """A table of the paper beside ours: rows, columns of numbers, and a verdict for each row."""

    name: str
    what: str
    rows: Sequence[str]
    columns: Sequence[Column]
    verdicts: Sequence[str]
    digits: int = 2

    def table(self) -> Table:
        cells = [column.cells(self.digits) for column in self.columns]
        rows = [[row, *(cell[r] for cell in cells), self.verdicts[r]] for r, row in enumerate(self.rows)]
        return Table(f"{self.name}: {self.what}", ["", *(column.name for column in self.columns), "verdict"], rows)

    def records(self) -> Iterator[dict[str, Any]]:
        """One for every number."""
        for column in self.columns:
            for r, row in enumerate(self.rows):
                error = nan if column.errors is None else float(column.errors[r])
                yield {
                    "table": self.name, "row": row, "column": column.name, "value": float(column.values[r]),
                    "error": error, "verdict": self.verdicts[r],
                }  # fmt: skip


def predicted_relevance_page(
    data: str | None = None,
    *,
    quick: bool = False,
    rng: Rng = 1,
    progress: Callable[[str, int, int], None] | None = None,
) -> Document:
    """Every table of the paper beside what can be recomputed of it, and beside the same on simulated and real panels.

    data : folder that holds dl19, dl21 and trec-rf10, or None for simulated panels alone. quick : smaller simulated
    panels.
    """
    seed = seed_of(rng)
    page = page_of(load(data, quick, seed, progress), seed)
    return replace(page, notes=(*page.notes, f"seed: {seed}"))


def page_of(cases: Mapping[str, Case], rng: Rng = 1) -> Document:
    """The same of panels that are already there; rng : for drawing topics."""
    panels = [Panel(case) for case in cases.values()]
    found = [
        table_1(),
        table_2(panels),
        table_2_errors(),
        table_3(panels),
        table_3_balance(),
        table_4(panels),
        table_4_mixture(),
        table_5_printed(),
        *(table_5(panel) for panel in panels if panel.case.runs is not None and panel.case.name != SNIPPETS),
        table_5_taus(panels),
        table_6(panels),
        table_7(panels),
        printed_taus(),
        findings(panels, rng),
    ]

    def frame() -> pandas.DataFrame:
        import pandas as pd

        return pd.DataFrame([record for beside in found for record in beside.records()])

    notes = [
        *(f"{panel.case.name}: {panel.case.about}" for panel in panels),
        "Tables 2 and 3: panels of four grades; Table 4: grades 1 and 2 of 0 to 3 as one",
        "p(R|i): by equation 5 unless it says (4); errors are binomial, as printed (section 5.2.2)",
        f"Table 5: results among the first {DEPTH} of every system; unjudged ones count as not relevant",
        "tau: tau-b; rankings by the mean nDCG over topics, unjudged documents gaining nothing",
        "verdicts: `match` to the digits printed; `not reachable` where the paper's judgments or runs would be needed",
    ]
    return Document(_sentence(found), tuple(beside.table() for beside in found), tuple(notes), frame)


def _sentence(found: Sequence[Beside]) -> str:
    checks = [verdict for beside in found[1:-1] for verdict in beside.verdicts]
    matched = sum(verdict.startswith(MATCH) for verdict in checks)
    differing = sum(verdict.startswith("differs") for verdict in checks)
    held = sum(verdict == HOLDS for verdict in found[-1].verdicts)
    return (
        "Predicted relevance, recomputed. The paper's judgments are not public, so that Table 1 alone can be had again "
        f"in full, and it {'matches' if set(found[0].verdicts) == {MATCH} else 'differs'}. Of what its other numbers "
        f"imply of each other, {matched} of {matched + differing} checks match. Of its findings, {held} of "
        f"{len(found[-1].rows)} hold on all of our panels."
    )


# ------------------------------------------------------------------ parts


@dataclass(frozen=True, eq=False)
class _Row:
    label: str
    values: Sequence[float] | Floats
    errors: Sequence[float] | Floats | None
    verdict: str


def _beside(name: str, what: str, columns: Sequence[str], rows: Sequence[_Row]) -> Beside:
    """A table from its rows."""
    values = np.array([row.values for row in rows], np.float64)
    errors = np.array([np.full(len(columns), nan) if row.errors is None else row.errors for row in rows])
    listed = [Column(title, values[:, c], errors[:, c]) for c, title in enumerate(columns)]
    return Beside(name, what, [row.label for row in rows], listed, [row.verdict for row in rows])


def _ours(case: Case) -> str:
    return "ours, real" if case.real else "ours, simulated"


def _of_four(panels: Sequence[Panel]) -> list[Panel]:
    """Those with four grades, as the paper's Tables 2 and 3."""
    return [panel for panel in panels if panel.case.top == 3]


def _same(ours: float, theirs: float, digits: int = 2) -> bool:
    return (isnan(ours) and isnan(theirs)) or abs(ours - theirs) <= 0.5 * 10**-digits + 1e-9


# ------------------------------------------------------------------ Tables 1 to 4: p(R|i)


def table_1() -> Beside:
    """Twenty double judgments, by equations 4 and 5."""
    said = {"U1": printed.FIRST, "U2": printed.SECOND}
    rows = [("q", f"d{i}", who, float(grade)) for who, grades in said.items() for i, grade in enumerate(grades, 1)]
    judgments = Judgments.from_rows(rows)
    columns, good = [], np.ones(3, bool)
    for method, equation in (("one-sided", 4), ("symmetric", 5)):
        first = "U1" if equation == 4 else None
        model = predicted_relevance(judgments, rel=2, ranks="pool", method=method, first=first, n_resamples=0)  # type: ignore[arg-type]
        theirs = [a / b for a, b in printed.TABLE_1[method]]
        ours = model.probability[::-1]
        good &= np.isclose(ours, theirs, rtol=0, atol=1e-12)
        columns += [Column(f"printed ({equation})", theirs), Column(f"ours ({equation})", ours)]
    names = [f"p(2|{grade})" for grade in (2, 1, 0)]
    return Beside("Table 1", "twenty double judgments", names, columns, _verdicts(good, "another count"), 4)


def table_2(panels: Sequence[Panel]) -> Beside:
    """p(Key|i), by equations 5 and 4."""
    rows = [_Row(f"printed, {name}", *numbers, NOT_PUBLIC) for name, numbers in printed.TABLE_2.items()]
    for panel in _of_four(panels):
        case = panel.case
        beside = predicted_relevance(
            case.one_sided, rel=case.top, ranks="pool", method="one-sided", first=case.first, resample="binomial"
        )
        for equation, model in ((5, panel.model(case.top)), (4, beside)):
            p, error = model.probability[::-1], model.standard_error[::-1]
            rows.append(_Row(f"{case.name} ({equation})", p, error, _ours(case)))
    return _beside("Table 2", "p(Key|i), users satisfied by the highest grade alone", printed.GRADES, rows)


def table_2_errors() -> Beside:
    """Table 2's errors from Table 3's shares of grades."""
    columns, verdicts = [], []
    rows = []
    for name, errors in printed.standard_errors().items():
        theirs = printed.TABLE_2[name][1]
        for grade, ours, shown in zip(printed.GRADES, errors, theirs, strict=True):
            if isnan(shown):
                continue
            rows.append(f"{name}, p(Key|{grade})")
            columns.append((shown, float(ours)))
            verdicts.append(
                MATCH
                if _same(ours, shown)
                else "differs: .025 for the printed 19 % above Non; .023, a match, for the 23 % that Table 3 implies"
            )
    both = np.array(columns)
    beside = [Column("printed", both[:, 0]), Column("from Table 3's shares of grades", both[:, 1])]
    return Beside("Table 2, errors", "binomial, of 7,027 pages judged twice", rows, beside, verdicts, 3)


def table_3(panels: Sequence[Panel]) -> Beside:
    """p(R|i) for three thresholds."""
    rows = [_Row(f"printed, from {grade}", numbers, None, NOT_PUBLIC) for grade, numbers in printed.TABLE_3.items()]
    for panel in _of_four(panels):
        for theta in (3, 2, 1):
            p = panel.model(theta).probability[::-1]
            rows.append(_Row(f"{panel.case.name}, from {theta:g}", p, None, _ours(panel.case)))
    return _beside("Table 3", "p(R|i), users satisfied from a grade on", printed.GRADES, rows)


def table_3_balance() -> Beside:
    """Whether one set of symmetric coincidences lies behind Table 3."""
    found = printed.balances()
    rows = [f"{one.first} to {one.second}, by way of {one.through}" for one in found]
    ends = np.array([(one.low, one.high, one.through_low, one.through_high) for one in found])
    ends[np.isinf(ends)] = nan  # no limit
    names = ("direct, at least", "direct, at most", "by way, at least", "by way, at most")
    columns = [Column(name, column) for name, column in zip(names, ends.T, strict=True)]
    what = "ratio of judgments of two grades, p(i|j) / p(j|i), as rounded numbers allow"
    good = np.array([one.holds for one in found])
    return Beside("Table 3, balance", what, rows, columns, _verdicts(good, "no symmetric counts give both"))


def table_4(panels: Sequence[Panel]) -> Beside:
    """Three grades, by type of topic: the printed types, and topics with many or few of the highest grade."""
    rows = [
        _Row(f"printed, {language}, {kind}", *numbers, NOT_PUBLIC)
        for language, kinds in printed.TABLE_4.items()
        for kind, numbers in kinds.items()
    ]
    for panel in panels:
        three = _three_grades(panel.case)
        whole = predicted_relevance(three, rel=2, ranks="pool", resample="binomial")
        kinds = predicted_relevance_by_type(three, _rich_and_poor(three), rel=2, resample="binomial")
        for kind, model in (("all", whole), *kinds):
            p, error = model.probability[::-1], model.standard_error[::-1]
            rows.append(_Row(f"{panel.case.name}, {kind}", p, error, _ours(panel.case)))
    what = "p(2|i), by type of topic (ours: rich topics have more of the highest grade than the median topic)"
    return _beside("Table 4", what, ["2", "1", "0"], rows)


def table_4_mixture() -> Beside:
    """p(2|i) of all topics lies between those of the types they are made of."""
    rows, numbers, good = [], [], []
    for language, kinds in printed.TABLE_4.items():
        parts = np.array([kinds["nav."][0], kinds["inf., all intents"][0]])
        for i, whole in enumerate(kinds["all"][0]):
            low, high = parts[:, i].min(), parts[:, i].max()
            rows.append(f"{language} p(2|{2 - i})")
            numbers.append((whole, low, high))
            good.append(low - 2 * printed.ROUNDING - 1e-9 <= whole <= high + 2 * printed.ROUNDING + 1e-9)
    columns = [
        Column(name, column) for name, column in zip(("all", "lowest", "highest"), np.array(numbers).T, strict=True)
    ]
    what = "all topics lie between navigational and informational ones, as rounded numbers allow"
    return Beside("Table 4, mixture", what, rows, columns, _verdicts(np.array(good), "no mixture gives it"))


def _three_grades(case: Case) -> Judgments:
    if case.top == 2:
        return case.doubles
    return case.doubles.recode({0.0: 0.0, 1.0: 1.0, 2.0: 1.0, 3.0: 2.0}).with_scales({"*": "0-2"})


def _rich_and_poor(judgments: Judgments) -> dict[str, str]:
    """{topic: type} by its share of judgments with the highest grade."""
    judged = judgments.value >= 0
    n = np.bincount(judgments.topic[judged], minlength=len(judgments.topics))
    best = np.bincount(judgments.topic[judged & (judgments.value == 2)], minlength=n.size)
    share = best / np.maximum(n, 1)
    rich = share > np.median(share)
    return {topic: "rich topics" if rich[t] else "poor topics" for t, topic in enumerate(judgments.topics)}


# ------------------------------------------------------------------ Tables 5 to 7: systems

SCENARIOS = ("top", "any")
COUNTED = ("top, expected", "top, counted", "any, expected", "any, counted")


def table_5_printed() -> Beside:
    """The printed numbers of relevant results, and how many results could lie behind them."""
    numbers = np.array(list(printed.TABLE_5.values()))
    columns = [Column(name, numbers[:, 2 * i], numbers[:, 2 * i + 1]) for i, name in enumerate(COUNTED)]
    ends = np.array([printed.results_behind(system) for system in printed.TABLE_5])
    columns += [Column("results behind, at least", ends[:, 0]), Column("at most", ends[:, 1])]
    what = "as printed; counts of grades of at most 30 results give all four numbers by Table 3"
    good = ~np.isnan(ends).any(axis=1)
    return Beside("Table 5, printed", what, list(printed.TABLE_5), columns, _verdicts(good, "no counts give all four"))


def table_5(panel: Panel) -> Beside:
    """The same on a panel, for some of its systems from the best to the worst."""
    top, any_ = panel.counts
    order = np.argsort(-top["predicted"].to_numpy(), kind="stable")
    some = order[np.unique(np.linspace(0, order.size - 1, SHOWN).round().astype(int))]
    columns = [
        Column(name, table[kind].to_numpy()[some], table[f"{kind}_standard_error"].to_numpy()[some])
        for name, table, kind in zip(COUNTED, (top, top, any_, any_), ("predicted", "binary") * 2, strict=True)
    ]
    names = [str(name) for name in top["system"].to_numpy()[some]]
    what = f"{panel.case.name}, {some.size} of {order.size} systems"
    return Beside(f"Table 5, {panel.case.name}", what, names, columns, ["ours"] * some.size)


def table_5_taus(panels: Sequence[Panel]) -> Beside:
    """How alike expected and counted numbers rank the systems, and how often the expected ones are surer."""
    numbers = np.array([row for name, row in printed.TABLE_5.items() if name != printed.ORACLE])
    again = [kendall_tau_b(numbers[:, i], numbers[:, i + 2]) for i in (0, 4)]
    everyone = np.array(list(printed.TABLE_5.values()))
    surer = [float((everyone[:, i + 1] <= everyone[:, i + 3]).mean()) for i in (0, 4)]
    columns = [Column("printed", [*printed.TABLE_5_TAU, 1.0, 1.0]), Column("from the printed table", [*again, *surer])]
    for panel in _with_runs(panels):
        taus = [kendall_tau_b(table["predicted"].to_numpy(), table["binary"].to_numpy()) for table in panel.counts]
        share = [
            float((table["predicted_standard_error"] <= table["binary_standard_error"]).mean())
            for table in panel.counts
        ]
        columns.append(Column(panel.case.name, [*taus, *share]))
    rows = [f"tau of expected with counted, {scenario}" for scenario in SCENARIOS]
    rows += [f"share of systems with no larger error of the expected, {scenario}" for scenario in SCENARIOS]
    verdicts = [MATCH if _same(*pair) else "differs" for pair in zip(again, printed.TABLE_5_TAU, strict=True)]
    verdicts += [
        MATCH if share == 1 else "differs: not for ECNUM25, whose printed errors are .64 expected and .56 counted"
        for share in surer
    ]
    what = "tau-b, of the printed table's 20 systems without the oracle; errors, of all 21"
    return Beside("Table 5, section 7.1", what, rows, columns, verdicts)


def table_6(panels: Sequence[Panel]) -> Beside:
    """tau between rankings by one half of the assessors and by the other."""
    rows = [_Row(f"printed, {name}", taus, None, NOT_PUBLIC) for name, taus in printed.TABLE_6.items()]
    for panel in _with_runs(panels):
        label = f"{panel.case.name}, {len(runs_of(panel.case).systems)} systems"
        rows.append(_Row(label, panel.between_halves[:3], None, _ours(panel.case)))
    what = "tau between systems' rankings by U1 and by U2, nDCG@10, top"
    return _beside("Table 6", what, ["binary", "predicted", "linear"], rows)


def table_7(panels: Sequence[Panel]) -> Beside:
    """tau of the ranking by predicted gains with that by others."""
    gains = list(printed.TABLE_7)
    rows = [
        _Row(f"printed, {name}", [printed.TABLE_7[gain][i] for gain in gains], None, NOT_PUBLIC)
        for i, name in enumerate(SCENARIOS)
    ]
    for panel in _with_runs(panels):
        for name, taus in zip(SCENARIOS, panel.with_predicted, strict=True):
            rows.append(_Row(f"{panel.case.name}, {name}", [taus[gain] for gain in gains], None, _ours(panel.case)))
    what = "tau of systems' rankings by nDCG@20, predicted gains with others"
    return _beside("Table 7", what, [f"with {gain}" for gain in gains], rows)


def printed_taus() -> Beside:
    """Whether the printed taus can be had from rankings without ties, and from rankings with few."""
    shown = [
        (f"Table 6, {name}, {gains}", tau, printed.SYSTEMS[name.split()[0]])
        for name, row in printed.TABLE_6.items()
        for gains, tau in zip(("binary", "predicted", "linear"), row, strict=True)
    ] + [
        (f"Table 7, {gains}, {scenario}", tau, printed.SYSTEMS["merging"])
        for gains, row in printed.TABLE_7.items()
        for scenario, tau in zip(("top", "any"), row, strict=True)
    ]
    near = np.array([[tau, *(printed.nearest_tau(tau, n, ties) for ties in (0, 2))] for _, tau, n in shown])
    verdicts = []
    for tau, without, tied in near:
        plain = "match: without ties" if _same(without, tau) else "match: with ties, tau-b"
        verdicts.append(plain if _same(tied, tau) else "differs: no rankings give it")
    columns = [
        Column(name, column)
        for name, column in zip(("printed", "nearest without ties", "with two tied pairs at most"), near.T, strict=True)
    ]
    what = "which taus so many systems can have at all"
    return Beside("Tables 6 and 7, ties", what, [name for name, *_ in shown], columns, verdicts, 3)


def _with_runs(panels: Sequence[Panel]) -> list[Panel]:
    return [panel for panel in panels if panel.case.runs is not None]


# ------------------------------------------------------------------ what the paper finds


def findings(panels: Sequence[Panel], rng: Rng) -> Beside:
    """What the paper finds, as numbers that are above 0 where it holds."""
    rows: dict[str, Callable[[Panel], float]] = {
        "p(R|i) rises with the grade: smallest step, top (Table 2)": _smallest_step,
        "p of the highest grade is higher for the best ten ranks: by how much (Figure 1)": _quality,
        "errors over topics exceed binomial ones: log2 of the ratio, highest grade (section 6.2)": partial(
            _topics, rng=rng
        ),
        "expected numbers have smaller errors: share of systems less 1/2, top (Table 5)": _surer,
        "predicted gains rank more alike by two halves than binary ones: tau less tau (Table 6)": _more_alike,
        "binary gains rank less alike with predicted ones for top users: tau less tau (Table 7)": _further,
    }
    more_alike = np.mean([predicted - binary for binary, predicted, _ in printed.TABLE_6.values()])
    further = printed.TABLE_7["binary"][1] - printed.TABLE_7["binary"][0]
    theirs = [0.03, nan, np.log2(0.06 / 0.02), 0.5, more_alike, further]
    columns = [Column("printed", theirs)]
    columns += [Column(panel.case.name, [look(panel) for look in rows.values()]) for panel in panels]
    ours = np.array([column.values for column in columns[1:]], np.float64)
    verdicts = []
    for row in ours.T:
        known = ~np.isnan(row)
        failing = [panel.case.name for panel, value in zip(panels, row, strict=True) if value <= 0]
        verdicts.append(HOLDS if not failing else f"holds on {known.sum() - len(failing)} of {known.sum()}")
    return Beside("Findings", "above 0 where they hold", list(rows), columns, verdicts)


def _smallest_step(panel: Panel) -> float:
    return float(np.diff(panel.model(panel.case.top).probability).min())


def _quality(panel: Panel) -> float:
    if panel.case.runs is None:
        return nan
    curve = sensitivity_to_rank(panel.case.doubles, panel.case.runs, rel=panel.case.top)
    ten = int(np.flatnonzero(curve.rank <= 10)[-1])
    return float(curve.probability[ten, -1] - curve.probability[-1, -1])


def _topics(panel: Panel, rng: Rng) -> float:
    by_topic = predicted_relevance(
        panel.case.doubles, rel=panel.case.top, ranks="pool", resample="topics", n_resamples=300, rng=rng
    )
    return float(np.log2(by_topic.standard_error[-1] / panel.model(panel.case.top).standard_error[-1]))


def _surer(panel: Panel) -> float:
    if panel.case.runs is None:
        return nan
    top = panel.counts[0]
    return float((top["predicted_standard_error"] < top["binary_standard_error"]).mean()) - 0.5


def _more_alike(panel: Panel) -> float:
    return nan if panel.case.runs is None else float(panel.between_halves[1] - panel.between_halves[0])


def _further(panel: Panel) -> float:
    if panel.case.runs is None:
        return nan
    top, any_ = panel.with_predicted
    return any_["binary"] - top["binary"]


def _verdicts(good: Any, because: str) -> list[str]:
    return [MATCH if one else f"differs: {because}" for one in good]
