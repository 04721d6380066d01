"""trec_eval's preference measures, over the judgment groups of an assessor.

A judgment group is what belongs together: one need of one person at one time. Within a group preferences are closed
over chains, and count once however often they were said; groups may contradict each other. An assessor without groups
is one group. Equal scores are broken by document id, lowest first.

Buckley (2008), trec_eval 10.0: get_prefs, form_prefs_counts, prefs_*.
"""

from __future__ import annotations

from inspect import cleandoc
from math import inf
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from qrowd.kernels import preference
from qrowd.kernels.arrays import Bools, Codes, Floats, Ints
from qrowd.model.measure import Measure, Parameter, one_of
from qrowd.preferences.scoring import PairView, PreferenceMeasure, share


class Groups(NamedTuple):
    """Judgment groups: the pairs of each, closed and each once; its documents, and which of them are Bad.

    The pairs of group g are pairs[starts[g]:starts[g + 1]], its documents member[level_starts[g]:level_starts[g + 1]],
    in ascending order.
    """

    starts: Ints
    pairs: Codes
    level_starts: Ints
    member: Codes
    is_bad: Bools


def owned_groups(view: PairView) -> tuple[Ints, Groups]:
    """(assessors + 1,) where the groups of each assessor start; and the judgment groups of all assessors, made once."""

    def make() -> tuple[Ints, Groups]:
        rows, n_assessors = view.said, view.said.n_assessors
        width = 1 + int(max(rows.group.max(initial=0), rows.bad_group.max(initial=0)))
        of_pair = np.repeat(np.arange(n_assessors), np.diff(rows.starts)) * width + rows.group
        of_mark = np.repeat(np.arange(n_assessors), np.diff(rows.bad_starts)) * width + rows.bad_group
        used, number = np.unique(np.concatenate([of_pair, of_mark]), return_inverse=True)
        in_pair, in_mark = number[: of_pair.size], number[of_pair.size :]
        owner = np.searchsorted(used, np.arange(n_assessors + 1) * width).astype(np.int64)
        n_groups = used.size

        order = np.argsort(in_pair, kind="stable")
        starts = np.append(0, np.cumsum(np.bincount(in_pair, minlength=n_groups))).astype(np.int64)
        pairs = rows.pairs[order]
        if view.grades is None:  # pairs made of grades are closed already
            pairs, starts = preference.closed_pairs(rows.n_documents, starts, pairs)

        n = max(rows.n_documents, 1)
        in_group = np.repeat(np.arange(n_groups), np.diff(starts))
        marks = in_mark * n + rows.bad
        level = np.unique(np.concatenate([in_group * n + pairs[:, 0], in_group * n + pairs[:, 1], marks]))
        level_starts = np.searchsorted(level, np.arange(n_groups + 1) * n).astype(np.int64)
        return owner, Groups(starts, pairs, level_starts, (level % n).astype(np.int32), np.isin(level, marks))

    return view.remember("groups", make)


def counts_of(view: PairView) -> Floats:
    """(systems, groups, columns) what `group_counts` counts, made once."""

    def make() -> Floats:
        ranks, limits = view.ranks(ascending=True)
        return group_counts(ranks, limits, view.label_order(), owned_groups(view)[1])

    return view.remember("group counts", make)


def group_counts(ranks: Codes, limits: Codes, label_order: Codes, groups: Groups) -> Floats:
    """(systems, groups, 15) what trec_eval counts for each judgment group.

    label_order : (documents,) place of each document by its id, ascending; unranked documents stand in that order.

    Columns 0-4: pairs fulfilled and possible with both documents ranked; fulfilled and possible with one ranked; with
    none. 5-8: documents not Bad, those of them ranked; Bad, those of them ranked. Then pairs fulfilled and possible if
    only the first few Bad documents count: 9-10 as many as are not Bad; 11-12 the same, both documents ranked; 13-14 as
    many as are ranked and not Bad, both documents ranked.
    """
    n_documents, group = max(ranks.shape[1], 1), np.repeat(np.arange(groups.starts.size - 1), np.diff(groups.starts))
    is_ranked = ranks < limits[:, None]
    position = np.where(is_ranked, ranks, limits[:, None].astype(np.int64) + label_order)
    group_of_member = np.repeat(np.arange(groups.starts.size - 1), np.diff(groups.level_starts))
    bad, ranked = groups.is_bad, is_ranked[:, groups.member]
    members = np.ones_like(ranked)
    columns = (members & ~bad, ranked & ~bad, members & bad, ranked & bad)
    of_documents = [_sums(column, groups.level_starts) for column in columns]
    n_good, n_good_ranked = of_documents[:2]

    bad_above = _bad_above(position[:, groups.member], group_of_member, groups)
    keys = group_of_member * n_documents + groups.member
    better, worse = (np.searchsorted(keys, group * n_documents + side) for side in groups.pairs.T)
    first, second = ranked[:, better], ranked[:, worse]
    both, neither = first & second, ~first & ~second
    fulfilled = first & (position[:, groups.pairs[:, 0]] < position[:, groups.pairs[:, 1]])
    deepest = np.maximum(bad_above[:, better], bad_above[:, worse])
    few, fewer = deepest < n_good[:, group], deepest < n_good_ranked[:, group]
    of_pairs = [
        *(fulfilled & both, both, fulfilled & ~both, ~both & ~neither, neither),
        *(fulfilled & few, few, fulfilled & few & both, few & both, fulfilled & fewer & both, fewer & both),
    ]
    sums = [_sums(column, groups.starts) for column in of_pairs]
    return np.stack([*sums[:5], *of_documents, *sums[5:]], axis=2).astype(np.float64)


def _sums(values: Bools, starts: Ints) -> Ints:
    """(systems, groups) how many of each group's columns are true; values : (systems, columns)."""
    cumulated = np.zeros((values.shape[0], values.shape[1] + 1), np.int64)
    np.cumsum(values, axis=1, out=cumulated[:, 1:])
    return cumulated[:, starts[1:]] - cumulated[:, starts[:-1]]


def _bad_above(position: NDArray[np.int64], group_of_member: Ints, groups: Groups) -> Ints:
    """(systems, members) how many Bad members of its group stand above each Bad member; -1 for one that is not Bad."""
    width = int(position.max(initial=0)) + 1
    order = np.argsort(group_of_member * width + position, axis=1)
    bad = groups.is_bad[order]
    above = np.empty(position.shape, np.int64)
    np.put_along_axis(above, order, np.cumsum(bad, axis=1) - bad, axis=1)
    in_earlier_groups = np.append(0, np.cumsum(groups.is_bad))[groups.level_starts[:-1]][group_of_member]
    return np.where(groups.is_bad, above - in_earlier_groups, -1)


FULFILLED = {"all": [0, 2], "imp": [0, 2], "ret": [0]}
POSSIBLE = {"all": [1, 3, 4], "imp": [1, 3], "ret": [1]}
RANKED = {"imp": "at least one document ranked", "ret": "both documents ranked"}


def fulfilled(view: PairView, pairs: str) -> Floats:
    """(systems, groups) preferences that the ranking follows; pairs : "all", "imp", "ret"."""
    return np.asarray(counts_of(view)[..., FULFILLED[pairs]].sum(axis=2))


def possible(view: PairView, pairs: str) -> Floats:
    """(systems, groups) preferences that count."""
    return np.asarray(counts_of(view)[..., POSSIBLE[pairs]].sum(axis=2))


def by_assessor(view: PairView, values: Floats) -> Floats:
    """(systems, assessors) sums over each assessor's groups."""
    cumulated = np.concatenate([np.zeros((values.shape[0], 1)), np.cumsum(values, axis=1)], axis=1)
    owner, _ = owned_groups(view)
    return np.asarray(cumulated[:, owner[1:]] - cumulated[:, owner[:-1]])


class _Groups(PreferenceMeasure):
    """What measures over judgment groups share."""

    cutoff = "none"
    pairs: str = "all"

    def n_relevant(self, measure: Measure, view: PairView) -> Floats:
        owner, groups = owned_groups(view)
        return np.diff(groups.starts[owner]).astype(np.float64)


class _Number(_Groups):
    """What counts of preferences share."""

    def highest(self, measure: Measure) -> float:
        return inf


class NumPossible(_Number):
    """Number of preferences, of documents that are ranked or not.

        prefs_num_prefs_poss = sum over groups of possible pairs

    Source: trec_eval 10.0 (prefs_num_prefs_poss).
    """

    name = "prefs_num_prefs_poss"

    def score(self, measure: Measure, view: PairView, out: Floats) -> None:
        out[:] = by_assessor(view, possible(view, "all"))


class NumFulfilled(_Number):
    """Number of preferences that the ranking follows; documents that are not ranked are below all others.

        prefs_num_prefs_ful = sum over groups of fulfilled pairs

    Source: trec_eval 10.0 (prefs_num_prefs_ful).
    """

    name = "prefs_num_prefs_ful"

    def score(self, measure: Measure, view: PairView, out: Floats) -> None:
        out[:] = by_assessor(view, fulfilled(view, self.pairs))


class Simple(_Groups):
    """The share of preferences that the ranking follows, all groups together.

        prefs_simp = fulfilled / possible

    A pair with neither document ranked counts as not fulfilled.

    Source: trec_eval 10.0 (prefs_simp).
    """

    name = "prefs_simp"

    def score(self, measure: Measure, view: PairView, out: Floats) -> None:
        right, all_of_them = fulfilled(view, self.pairs), possible(view, self.pairs)
        out[:] = share(by_assessor(view, right), by_assessor(view, all_of_them))


class AverageByGroup(_Groups):
    """The mean over judgment groups of the share of preferences that the ranking follows.

        prefs_avgjg = (1 / groups) sum over groups of fulfilled / possible

    Each group has the same weight. A group without possible pairs adds 0.

    Source: trec_eval 10.0 (prefs_avgjg).
    """

    name = "prefs_avgjg"

    def score(self, measure: Measure, view: PairView, out: Floats) -> None:
        self.average(view, share(fulfilled(view, self.pairs), possible(view, self.pairs)), out)

    def average(self, view: PairView, by_group: Floats, out: Floats) -> None:
        """Write the mean over each assessor's groups into out; 0 for an assessor without groups."""
        out[:] = share(by_assessor(view, by_group), np.broadcast_to(np.diff(owned_groups(view)[0]), out.shape))


COUNTING = Parameter(
    "counting",
    "program",
    "'program': as trec_eval computes it, for which groups inferred from grades are groups of one subgroup and others "
    "are not; 'one-subgroup': as it computes all groups of one subgroup, where pairs of two Bad documents count too; "
    "'documented': as its help text says, where no pair of two Bad documents counts and a group without pairs adds 0",
    one_of("program", "one-subgroup", "documented"),
)


def counts_bad_pairs(measure: Measure, view: PairView) -> bool:
    """Whether pairs of two Bad documents count."""
    return measure["counting"] == "one-subgroup" or (measure["counting"] == "program" and view.grades is not None)


class AverageRNonrelevant(AverageByGroup):
    """The mean over judgment groups of the share of preferences followed, with R Bad documents, R the number of others.

        prefs_avgjg_Rnonrel = (1 / groups) sum over groups of fulfilled_R / possible_R

    If there are more Bad documents, the first R in the ranking count. If there are fewer, N, each document that is not
    Bad has R - N further pairs, fulfilled if it is ranked. As in trec_eval, a group without possible pairs makes the
    whole topic 0.

    Source: trec_eval 10.0 (prefs_avgjg_Rnonrel).
    """

    name, parameters = "prefs_avgjg_Rnonrel", (COUNTING,)

    def score(self, measure: Measure, view: PairView, out: Floats) -> None:
        count = np.moveaxis(counts_of(view), 2, 0)
        good, good_ranked, bad, bad_ranked = count[5:9]
        extra = good - bad
        right = np.where(extra >= 0, fulfilled(view, "all") + good_ranked * extra, count[9])
        whole = np.where(extra >= 0, possible(view, "all") + good * extra, count[10])
        if counts_bad_pairs(measure, view):
            # Pairs of two ranked Bad documents of the first `good`, and of a ranked one and one that is not ranked.
            among_bad = pairs_among(np.minimum(good, bad_ranked)) + bad_ranked * np.maximum(good - bad_ranked, 0)
            right = np.where(extra >= 0, right, right + among_bad)
            whole = np.where(extra >= 0, whole, whole + bad * good)
        self.average_shares(measure, view, right, whole, out)

    def average_shares(self, measure: Measure, view: PairView, right: Floats, whole: Floats, out: Floats) -> None:
        """Write the mean of the groups' shares into out; 0 / 0 of a group makes the topic 0, or adds 0."""
        self.average(view, share(right, whole), out)
        if measure["counting"] != "documented":
            out[by_assessor(view, (whole == 0).astype(np.float64)) > 0] = 0.0


class AverageRNonrelevantRet(AverageRNonrelevant):
    """The same as prefs_avgjg_Rnonrel, among ranked documents only.

        prefs_avgjg_Rnonrel_ret = (1 / groups) sum over groups of fulfilled_R / possible_R, both documents ranked

    R and N count ranked documents. As in trec_eval, further pairs are possible for every document that is not Bad, and
    as many Bad documents count as there are others, ranked or not.

    Source: trec_eval 10.0 (prefs_avgjg_Rnonrel_ret).
    """

    name = "prefs_avgjg_Rnonrel_ret"

    def score(self, measure: Measure, view: PairView, out: Floats) -> None:
        count = np.moveaxis(counts_of(view), 2, 0)
        good, good_ranked, _, bad_ranked = count[5:9]
        extra = good_ranked - bad_ranked
        right, whole = count[11], count[12]
        if counts_bad_pairs(measure, view):
            right, whole = count[13] + pairs_among(good_ranked), count[14] + bad_ranked * good_ranked
        right = np.where(extra >= 0, fulfilled(view, "ret") + good_ranked * extra, right)
        whole = np.where(extra >= 0, possible(view, "ret") + good * extra, whole)
        self.average_shares(measure, view, right, whole, out)


def pairs_among(n: Floats) -> Floats:
    """0 + 1 + ... + (n - 1)."""
    return np.asarray(n * (n - 1) / 2)


class ByPair(_Groups):
    """The mean over pairs of documents of the share of groups whose preference the ranking follows.

        prefs_pair = (1 / pairs) sum over {i, j} of groups that agree / groups that prefer one of the two

    A pair with neither document ranked adds 0.

    Source: trec_eval 10.0 (prefs_pair).
    """

    name = "prefs_pair"

    def score(self, measure: Measure, view: PairView, out: Floats) -> None:
        sums = shares_of_pairs(view)
        out[:] = share(sums[..., FULFILLED[self.pairs]].sum(axis=2), sums[..., POSSIBLE[self.pairs]].sum(axis=2))

    def n_relevant(self, measure: Measure, view: PairView) -> Floats:
        return np.asarray(shares_of_pairs(view)[0][:, POSSIBLE["all"]].sum(axis=1))


def shares_of_pairs(view: PairView) -> Floats:
    """(systems, assessors, 5) what is counted of each pair of documents, made once.

    Sum of shares and number of pairs with both documents ranked; the same with one ranked; number of pairs with none
    ranked. A pair's share is that of its groups that the system agrees with.
    """

    def make() -> Floats:
        owner, groups = owned_groups(view)
        ranks, limits = view.ranks(ascending=True)
        sums = np.empty((*view.shape, 5))
        n = max(view.said.n_documents, 1)
        for a in range(view.said.n_assessors):
            pairs = groups.pairs[groups.starts[owner[a]] : groups.starts[owner[a + 1]]].astype(np.int64)
            upward = pairs[:, 0] < pairs[:, 1]
            pair, which = np.unique(pairs.min(axis=1) * n + pairs.max(axis=1), return_inverse=True)
            for_first, for_second = (np.bincount(which, way, minlength=pair.size) for way in (upward, ~upward))
            i, j = ranks[:, pair // n], ranks[:, pair % n]
            shares = np.where(i < j, for_first, for_second) / (for_first + for_second)
            n_ranked = (i < limits[:, None]).astype(np.int64) + (j < limits[:, None])
            for column, k in ((0, 2), (2, 1)):
                sums[:, a, column] = (shares * (n_ranked == k)).sum(axis=1)
                sums[:, a, column + 1] = (n_ranked == k).sum(axis=1)
            sums[:, a, 4] = (n_ranked == 0).sum(axis=1)
        return sums

    return view.remember("shares of pairs", make)


def restricted(measure: type[_Groups], pairs: str) -> _Groups:
    """The measure over some pairs alone, as trec_eval's suffix has it: "imp", with a ranked document, or "ret", two."""
    name = f"{measure.name}_{pairs}"
    sentence, formula = cleandoc(measure.__doc__ or "").split("\n\n")[:2]
    doc = [f"{sentence} Only pairs with {RANKED[pairs]} count.", formula, f"Source: trec_eval 10.0 ({name})."]
    values = {"name": name, "pairs": pairs, "__doc__": "\n\n".join(doc).replace(f"{measure.name} =", f"{name} =")}
    definition: _Groups = type(f"{measure.__name__}{pairs.title()}", (measure,), values)()
    return definition


DEFINITIONS: tuple[PreferenceMeasure, ...] = (
    *(Simple(), restricted(Simple, "imp"), restricted(Simple, "ret")),
    *(ByPair(), restricted(ByPair, "imp"), restricted(ByPair, "ret")),
    *(AverageByGroup(), restricted(AverageByGroup, "imp"), restricted(AverageByGroup, "ret")),
    *(AverageRNonrelevant(), AverageRNonrelevantRet()),
    *(NumPossible(), NumFulfilled(), restricted(NumFulfilled, "ret")),
)
"""trec_eval's measures, in the order tables list them."""
