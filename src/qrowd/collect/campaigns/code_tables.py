"""Codes and verdicts as tables: how often, for which cause, by topic, with which scores, and whether coders agree.

Maddalena, Mizzaro, Scholer, Turpin (2017), On Crowdsourcing Relevance Magnitudes for Information Retrieval Evaluation.
ACM TOIS 35(3), sections 6.1.1, 6.2 and 9.2.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from sqlalchemy import Connection

from qrowd.agreement.kappa import cohen_kappa
from qrowd.collect.campaigns import collected
from qrowd.collect.campaigns.coding import CODES, Coding, Item, code_rows, codings
from qrowd.collect.campaigns.lookup import find, find_arms
from qrowd.collect.protocols.registry import PREFERENCE
from qrowd.collect.store import export
from qrowd.errors import ArgumentError
from qrowd.kernels.arrays import Floats
from qrowd.magnitude.normalisation import normalise
from qrowd.model.judgments import Judgments
from qrowd.model.result import Result

ALL = "(all judgments)"
Row = tuple[Any, ...]


@dataclass(frozen=True)
class CodeTables(Result):
    """What owners said of a campaign's items; an item that two coders coded counts twice.

    coders : who coded. n_codings : items coded, times coders.
    verdicts : (item, verdict, n, share of the item's verdicts). causes : (item, verdict, cause, n).
    topics : (item, topic, verdict, n).
    codes : (code, n, mean, sd) of judgments whose reason has the code: the scores of these judgments, normalised if
        they are magnitudes, with their geometric mean and geometric standard deviation; first a row of all judgments.
    agreement : (first, second, about, n, observed, kappa) of two coders: Cohen's kappa of their verdicts, and of each
        code that one of them gave, over the items that both coded.
    normalised : whether the scores are normalised magnitudes.
    """

    coders: tuple[str, ...]
    n_codings: int
    verdicts: tuple[Row, ...]
    causes: tuple[Row, ...]
    topics: tuple[Row, ...]
    codes: tuple[Row, ...]
    agreement: tuple[Row, ...]
    normalised: bool

    def _tables(self) -> Mapping[str, Callable[[], Mapping[str, Any]]]:
        columns = {
            "verdicts": ("item", "verdict", "n", "share"),
            "causes": ("item", "verdict", "cause", "n"),
            "topics": ("item", "topic", "verdict", "n"),
            "codes": ("code", "n", "mean", "sd"),
            "agreement": ("first", "second", "about", "n", "observed", "kappa"),
        }
        return {name: lambda name=name: self._cells(name, columns[name]) for name in columns}  # type: ignore[misc]

    def _cells(self, name: str, columns: Sequence[str]) -> dict[str, list[Any]]:
        return {column: [row[i] for row in getattr(self, name)] for i, column in enumerate(columns)}


def code_tables(connection: Connection, campaign: str, *, coder: str | None = None) -> CodeTables:
    """Tables of what owners said of the items of a campaign.

    coder : only codings of this one.

    Raises
    ------
    ArgumentError
        There is no such campaign, or that coder has coded nothing.
    """
    row = find(connection, campaign)
    last = codings(connection, row.id)
    coders = tuple(sorted({name for _, name in last}))
    if coder is not None and coder not in coders:
        raise ArgumentError(f"coder={coder!r}: has coded nothing here; {', '.join(coders) or 'nobody'} has")
    rows = [dict(zip(CODES, one, strict=True)) for one in code_rows(connection, row.id)]
    if coder is not None:
        rows = [one for one in rows if one["coder"] == coder]
        last = {key: coding for key, coding in last.items() if key[1] == coder}
    verdicts = {  # one per coding, which may have several rows
        (tuple(one[name] for name in ("item", "topic", "document", "assignment", "position")), one["coder"]): one
        for one in rows
        if one["verdict"]
    }.values()
    totals = Counter(one["item"] for one in verdicts)
    scores, normalised = _scores(connection, campaign)
    return CodeTables(
        coders=coders,
        n_codings=len(last),
        verdicts=tuple((*key, n, n / totals[key[0]]) for key, n in _counted(verdicts, "item", "verdict")),
        causes=tuple((*key, n) for key, n in _counted(verdicts, "item", "verdict", "cause")),
        topics=tuple((*key, n) for key, n in _counted(verdicts, "item", "topic", "verdict")),
        codes=_codes(rows, scores, normalised=normalised),
        agreement=tuple(_agreement(last.values())),
        normalised=normalised,
    )


def _counted(rows: Iterable[Mapping[str, Any]], *names: str) -> list[tuple[tuple[Any, ...], int]]:
    """How often each combination occurs, most frequent first within the first column."""
    counts = Counter(tuple(row[name] for name in names) for row in rows)
    return sorted(counts.items(), key=lambda one: (one[0][0], -one[1], tuple(map(str, one[0]))))


# ---- codes against scores


def _scores(connection: Connection, campaign: str) -> tuple[dict[tuple[int, int], float], bool]:
    """{(assignment, position): the score of a judgment that counts}, and whether these are normalised magnitudes.

    Of several arms with judgments there are none, since their scores cannot be compared.
    """
    row, protocols = find_arms(connection, campaign)
    arms = [arm for arm, protocol in protocols.items() if protocol != PREFERENCE]
    rows = list(export.judgments(connection, row.id, arms=arms)) if len(arms) == 1 else []
    if not rows:
        return {}, False
    judgments = collected.judgments(connection, campaign)
    magnitudes = all(scale.kind == "magnitude" for scale in judgments.scales)
    values = (normalise(judgments) if magnitudes else judgments).value
    at = [export.JUDGMENTS.index(name) for name in ("assignment", "order")]
    return {(row[at[0]], row[at[1]]): value for row, value in zip(rows, values.tolist(), strict=True)}, magnitudes


def _codes(
    rows: Iterable[Mapping[str, Any]], scores: Mapping[tuple[int, int], float], *, normalised: bool
) -> tuple[Row, ...]:
    places: dict[str, set[tuple[int, int]]] = {}
    counts = Counter[str]()
    for row in rows:
        if row["code"]:
            counts[row["code"]] += 1
            if row["position"] is not None:
                places.setdefault(row["code"], set()).add((row["assignment"], row["position"]))
    by_code = [
        (code, n, *_mean_and_sd([scores[at] for at in sorted(places.get(code, ())) if at in scores], normalised))
        for code, n in counts.most_common()
    ]
    return ((ALL, len(scores), *_mean_and_sd(list(scores.values()), normalised)), *by_code) if by_code else ()


def _mean_and_sd(values: Sequence[float], normalised: bool) -> tuple[float, float]:
    column: Floats = np.log(np.array(values)) if normalised else np.array(values, np.float64)
    mean = float(column.mean()) if column.size else np.nan
    sd = float(column.std(ddof=1)) if column.size > 1 else np.nan
    return (float(np.exp(mean)), float(np.exp(sd))) if normalised else (mean, sd)


# ---- two coders


def _agreement(codings: Iterable[Coding]) -> Iterable[Row]:
    by_coder: dict[str, dict[Item, Coding]] = {}
    for coding in codings:
        by_coder.setdefault(coding.coder, {})[coding.item] = coding
    for first, second in combinations(sorted(by_coder), 2):
        shared = [
            (by_coder[first][item], by_coder[second][item]) for item in by_coder[first] if item in by_coder[second]
        ]
        verdicts = [(a.verdict, b.verdict) for a, b in shared if a.verdict and b.verdict]
        if verdicts:
            yield first, second, "verdict", len(verdicts), *_kappa(verdicts)
        coded = [(a, b) for a, b in shared if a.codes or b.codes]
        for code in sorted({code for pair in coded for one in pair for code in one.codes}):
            yield first, second, code, len(coded), *_kappa([(code in a.codes, code in b.codes) for a, b in coded])


def _kappa(pairs: Sequence[tuple[Any, Any]]) -> tuple[float, float]:
    """Observed agreement and Cohen's kappa of two names for each of several things."""
    names = sorted({name for pair in pairs for name in pair})
    rows = [
        ("items", str(i), coder, names.index(name))
        for i, pair in enumerate(pairs)
        for coder, name in zip(("first", "second"), pair, strict=True)
    ]
    judgments = Judgments.from_rows(rows).with_scales({"*": f"0-{max(len(names) - 1, 2)}"})
    kappa = cohen_kappa(judgments, "first", "second")
    return kappa.observed, kappa.value
