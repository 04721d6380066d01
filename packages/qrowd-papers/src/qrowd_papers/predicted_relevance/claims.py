"""The predicted relevance study as a page: Tables 1 to 7 of the paper, what they imply, and the same on our panels.

Demeester, Aly, Hiemstra, Nguyen & Develder (2016), Inf. Retr. J. 19.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import isnan, nan

import numpy as np

from qrowd.comparison.rankings import kendall_tau_b
from qrowd.kernels.arrays import Floats
from qrowd.model.chance import Rng, seed_of
from qrowd.model.judgments import Judgments
from qrowd.predicted_relevance import predicted_relevance
from qrowd.reports.document import Document
from qrowd_papers.claims import MATCH, Claim, Claims, agree, beside, claims_frame, verdict, with_errors
from qrowd_papers.predicted_relevance import printed
from qrowd_papers.predicted_relevance.cases import DEPTH, Case, Panel, load, runs_of
from qrowd_papers.predicted_relevance.sensitivity import predicted_relevance_by_type, sensitivity_to_rank

HOLDS = "above 0 on all panels"
SNIPPETS = "simulated snippets"
SHOWN = 10  # systems of a panel in Table 5


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
    tables = [
        table_1(),
        table_2(panels),
        table_2_errors(),
        table_3(panels),
        table_4(panels),
        table_4_mixture(),
        *(table_5(panel) for panel in panels if panel.case.runs is not None and panel.case.name != SNIPPETS),
        table_5_taus(panels),
        table_6(panels),
        table_7(panels),
        printed_taus(),
        findings(panels, rng),
    ]
    notes = [
        *(f"{panel.case.name}: {panel.case.about}" for panel in panels),
        "Tables 2 and 3: panels of four grades; Table 4: grades 1 and 2 of 0 to 3 as one",
        "p(R|i): by equation 5 unless it says (4); errors are binomial, as printed (section 5.2.2)",
        f"Table 5: results among the first {DEPTH} of every system; unjudged ones count as not relevant",
        "tau: tau-b; rankings by the mean nDCG over topics, unjudged documents gaining nothing",
        "verdicts: `match` to the digits printed; `not reachable` where the paper's judgments or runs would be needed",
    ]
    return Document(_sentence(tables), tuple(one.table() for one in tables), tuple(notes), lambda: claims_frame(tables))


def _sentence(tables: Sequence[Claims]) -> str:
    first, *others, last = ([claim.verdict for claim in one.claims] for one in tables)
    checks = [verdict for verdicts in others for verdict in verdicts]
    matched = sum(verdict.startswith(MATCH) for verdict in checks)
    differing = sum(verdict.startswith("differs") for verdict in checks)
    return (
        "Predicted relevance, recomputed. The paper's judgments are not public, so that Table 1 alone can be had again "
        f"in full, and it {'matches' if set(first) == {MATCH} else 'differs'}. Of what its other numbers "
        f"imply of each other, {matched} of {matched + differing} checks match. Of its findings, "
        f"{last.count(HOLDS)} of {len(last)} have one sign on all of our panels; the simulated are single draws."
    )


# ------------------------------------------------------------------ parts


def _ours(where: str, what: str, case: Case, values: Floats | list[float], errors: Floats | None = None) -> Claim:
    return Claim(where, what, (), with_errors(values, errors), "ours, real" if case.real else "ours, simulated")


def _of_four(panels: Sequence[Panel]) -> list[Panel]:
    """Those with four grades, as the paper's Tables 2 and 3."""
    return [panel for panel in panels if panel.case.top == 3]


# ------------------------------------------------------------------ Tables 1 to 4: p(R|i)


def table_1() -> Claims:
    """Twenty double judgments, by equations 4 and 5."""
    by_user = {"U1": printed.FIRST, "U2": printed.SECOND}
    rows = [("q", f"d{i}", who, float(grade)) for who, grades in by_user.items() for i, grade in enumerate(grades, 1)]
    judgments = Judgments.from_rows(rows)
    theirs, ours = {}, {}
    for method, equation in (("one-sided", 4), ("symmetric", 5)):
        first = "U1" if equation == 4 else None
        model = predicted_relevance(judgments, rel=2, method=method, first=first, n_resamples=0)  # type: ignore[arg-type]
        theirs[f"printed ({equation})"] = [a / b for a, b in printed.TABLE_1[method]]
        ours[f"ours ({equation})"] = model.probability[::-1]
    claims = [
        Claim("Table 1", f"p(2|{grade})", one, other, verdict(np.allclose(one, other, 0, 1e-12), "another count"))
        for grade, one, other in zip((2, 1, 0), beside(theirs.values()), beside(ours.values()), strict=True)
    ]
    return Claims("Table 1: twenty double judgments", ["", *theirs, *ours], claims, 4)


def table_2(panels: Sequence[Panel]) -> Claims:
    """p(Key|i), by equations 5 and 4."""
    claims = [Claim("Table 2", f"printed, {name}", with_errors(*both)) for name, both in printed.TABLE_2.items()]
    for panel in _of_four(panels):
        case = panel.case
        one_sided = predicted_relevance(
            case.one_sided, rel=case.top, method="one-sided", first=case.first, resample="binomial"
        )
        claims += [
            _ours("Table 2", f"{case.name} ({equation})", case, model.probability[::-1], model.standard_error[::-1])
            for equation, model in ((5, panel.model(case.top)), (4, one_sided))
        ]
    title = "Table 2: p(Key|i), users satisfied by the highest grade alone"
    return Claims(title, ["", *printed.GRADES], claims)


def table_2_errors() -> Claims:
    """Table 2's errors from Table 3's shares of grades."""
    reason = ".025 for the printed 19 % above Non; .023, a match, for the 23 % that Table 3 implies"
    claims = [
        Claim("Table 2", f"{name}, p(Key|{grade})", theirs, float(ours), verdict(agree(theirs, ours), reason))
        for name, errors in printed.standard_errors().items()
        for grade, ours, theirs in zip(printed.GRADES, errors, printed.TABLE_2[name][1], strict=True)
        if not isnan(theirs)
    ]
    title = "Table 2, errors: binomial, of 7,027 pages judged twice"
    return Claims(title, ["", "printed", "from Table 3's shares of grades"], claims, 3)


def table_3(panels: Sequence[Panel]) -> Claims:
    """p(R|i) for three thresholds."""
    claims = [Claim("Table 3", f"printed, from {grade}", numbers) for grade, numbers in printed.TABLE_3.items()]
    claims += [
        _ours("Table 3", f"{panel.case.name}, from {theta:g}", panel.case, panel.model(theta).probability[::-1])
        for panel in _of_four(panels)
        for theta in (3, 2, 1)
    ]
    return Claims("Table 3: p(R|i), users satisfied from a grade on", ["", *printed.GRADES], claims)


def table_4(panels: Sequence[Panel]) -> Claims:
    """Three grades, by type of topic: the printed types, and topics with many or few of the highest grade."""
    claims = [
        Claim("Table 4", f"printed, {language}, {kind}", with_errors(*both))
        for language, kinds in printed.TABLE_4.items()
        for kind, both in kinds.items()
    ]
    for panel in panels:
        three = _three_grades(panel.case)
        whole = predicted_relevance(three, rel=2, resample="binomial")
        kinds = predicted_relevance_by_type(three, _rich_and_poor(three), rel=2, resample="binomial")
        claims += [
            _ours("Table 4", f"{panel.case.name}, {kind}", panel.case, model.probability[::-1],
                  model.standard_error[::-1])
            for kind, model in (("all", whole), *kinds.items())
        ]  # fmt: skip
    title = "Table 4: p(2|i), by type of topic (ours: rich topics have more of the highest grade than the median topic)"
    return Claims(title, ["", "2", "1", "0"], claims)


def table_4_mixture() -> Claims:
    """p(2|i) of all topics lies between those of the types they are made of."""
    claims = []
    for language, kinds in printed.TABLE_4.items():
        parts = np.array([kinds["nav."][0], kinds["inf., all intents"][0]])
        for i, whole in enumerate(kinds["all"][0]):
            low, high = float(parts[:, i].min()), float(parts[:, i].max())
            between = low - 2 * printed.ROUNDING - 1e-9 <= whole <= high + 2 * printed.ROUNDING + 1e-9
            agreement = verdict(between, "no mixture gives it")
            claims.append(Claim("Table 4", f"{language} p(2|{2 - i})", (whole, low, high), (), agreement))
    title = "Table 4, mixture: all topics lie between navigational and informational ones, as rounded numbers allow"
    return Claims(title, ["", "all", "lowest", "highest"], claims)


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


def table_5(panel: Panel) -> Claims:
    """The same on a panel, for some of its systems from the best to the worst."""
    top, any_ = panel.counts
    order = np.argsort(-top["predicted"].to_numpy(), kind="stable")
    some = order[np.unique(np.linspace(0, order.size - 1, SHOWN).round().astype(int))]
    where = f"Table 5, {panel.case.name}"
    claims = []
    for s in some.tolist():
        rows = [(table.iloc[s], kind) for table in (top, any_) for kind in ("predicted", "binary")]
        ours = [(float(row[kind]), float(row[f"{kind}_standard_error"])) for row, kind in rows]
        claims.append(Claim(where, str(top["system"].iloc[s]), (), ours, "ours"))
    return Claims(f"{where}: {panel.case.name}, {some.size} of {order.size} systems", ["", *COUNTED], claims)


def table_5_taus(panels: Sequence[Panel]) -> Claims:
    """How alike expected and counted numbers rank the systems, and how often the expected ones are surer."""
    numbers = np.array([row for name, row in printed.TABLE_5.items() if name != printed.ORACLE])
    again = [kendall_tau_b(numbers[:, i], numbers[:, i + 2]) for i in (0, 4)]
    everyone = np.array(list(printed.TABLE_5.values()))
    surer = [float((everyone[:, i + 1] <= everyone[:, i + 3]).mean()) for i in (0, 4)]
    ours = {"from the printed table": [*again, *surer]}
    for panel in _with_runs(panels):
        ours[panel.case.name] = [
            kendall_tau_b(table["predicted"].to_numpy(), table["binary"].to_numpy()) for table in panel.counts
        ] + [
            float((table["predicted_standard_error"] <= table["binary_standard_error"]).mean())
            for table in panel.counts
        ]
    rows = [f"tau of expected with counted, {scenario}" for scenario in SCENARIOS]
    rows += [f"share of systems with no larger error of the expected, {scenario}" for scenario in SCENARIOS]
    verdicts = [verdict(agree(*pair), "") for pair in zip(printed.TABLE_5_TAU, again, strict=True)]
    reason = "not for ECNUM25, whose printed errors are .64 expected and .56 counted"
    verdicts += [verdict(share == 1, reason) for share in surer]
    parts = zip(rows, [*printed.TABLE_5_TAU, 1.0, 1.0], beside(ours.values()), verdicts, strict=True)
    claims = [Claim("Table 5", *part) for part in parts]
    title = "Table 5, section 7.1: tau-b, of the printed table's 20 systems without the oracle; errors, of all 21"
    return Claims(title, ["", "printed", *ours], claims)


def table_6(panels: Sequence[Panel]) -> Claims:
    """tau between rankings by one half of the assessors and by the other."""
    claims = [Claim("Table 6", f"printed, {name}", taus) for name, taus in printed.TABLE_6.items()]
    for panel in _with_runs(panels):
        label = f"{panel.case.name}, {len(runs_of(panel.case).systems)} systems"
        claims.append(_ours("Table 6", label, panel.case, panel.between_halves[:3]))
    title = "Table 6: tau between systems' rankings by U1 and by U2, nDCG@10, top"
    return Claims(title, ["", "binary", "predicted", "linear"], claims)


def table_7(panels: Sequence[Panel]) -> Claims:
    """tau of the ranking by predicted gains with that by others."""
    gains = list(printed.TABLE_7)
    claims = [
        Claim("Table 7", f"printed, {name}", [printed.TABLE_7[gain][i] for gain in gains])
        for i, name in enumerate(SCENARIOS)
    ]
    claims += [
        _ours("Table 7", f"{panel.case.name}, {name}", panel.case, [taus[gain] for gain in gains])
        for panel in _with_runs(panels)
        for name, taus in zip(SCENARIOS, panel.with_predicted, strict=True)
    ]
    title = "Table 7: tau of systems' rankings by nDCG@20, predicted gains with others"
    return Claims(title, ["", *(f"with {gain}" for gain in gains)], claims)


def printed_taus() -> Claims:
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
    claims = []
    for name, tau, n in shown:
        without, tied = (printed.nearest_tau(tau, n, ties) for ties in (0, 2))
        how = "match: without ties" if agree(tau, without) else "match: with ties, tau-b"
        results = how if agree(tau, tied) else "differs: no rankings give it"
        claims.append(Claim("Tables 6 and 7", name, tau, (without, tied), results))
    title = "Tables 6 and 7, ties: which taus so many systems can have at all"
    return Claims(title, ["", "printed", "nearest without ties", "with two tied pairs at most"], claims, 3)


def _with_runs(panels: Sequence[Panel]) -> list[Panel]:
    return [panel for panel in panels if panel.case.runs is not None]


# ------------------------------------------------------------------ what the paper finds


def findings(panels: Sequence[Panel], rng: Rng) -> Claims:
    """What the paper finds, as numbers that are above 0 where it holds."""
    rows: dict[str, Callable[[Panel], float]] = {
        "p(R|i) rises with the grade: smallest step, top (Table 2)": _smallest_step,
        "p of the highest grade is higher for the best ten ranks: by how much (Figure 1)": _quality,
        "errors over topics exceed binomial ones: log2 of the ratio, highest grade (section 6.2)": partial(
            _topics, rng=rng
        ),
        "predicted gains rank more alike by two halves than binary ones: tau less tau (Table 6)": _more_alike,
        "binary gains rank less alike with predicted ones for top users: tau less tau (Table 7)": _further,
    }
    more_alike = np.mean([predicted - binary for binary, predicted, _ in printed.TABLE_6.values()])
    further = printed.TABLE_7["binary"][1] - printed.TABLE_7["binary"][0]
    theirs = [0.03, nan, np.log2(0.06 / 0.02), more_alike, further]
    ours = {panel.case.name: [look(panel) for look in rows.values()] for panel in panels}
    claims = []
    for row, printed_value, values in zip(rows, theirs, beside(ours.values()), strict=True):
        n_failing, n = int((np.array(values) <= 0).sum()), int((~np.isnan(values)).sum())
        holds = HOLDS if not n_failing else f"above 0 on {n - n_failing} of {n}"
        claims.append(Claim("Findings", row, printed_value, values, holds))
    return Claims("Findings: above 0 where they hold", ["", "printed", *ours], claims)


def _smallest_step(panel: Panel) -> float:
    return float(np.diff(panel.model(panel.case.top).probability).min())


def _quality(panel: Panel) -> float:
    if panel.case.runs is None:
        return nan
    curve = sensitivity_to_rank(panel.case.doubles, panel.case.runs, rel=panel.case.top)
    ten = int(np.flatnonzero(curve.rank <= 10)[-1])
    return float(curve.probability[ten, -1] - curve.probability[-1, -1])


def _topics(panel: Panel, rng: Rng) -> float:
    by_topic = predicted_relevance(panel.case.doubles, rel=panel.case.top, resample="topics", n_resamples=300, rng=rng)
    return float(np.log2(by_topic.standard_error[-1] / panel.model(panel.case.top).standard_error[-1]))


def _more_alike(panel: Panel) -> float:
    return nan if panel.case.runs is None else float(panel.between_halves[1] - panel.between_halves[0])


def _further(panel: Panel) -> float:
    if panel.case.runs is None:
        return nan
    top, any_ = panel.with_predicted
    return any_["binary"] - top["binary"]
