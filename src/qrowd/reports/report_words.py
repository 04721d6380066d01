"""What each part of the report says in a sentence or two."""

from __future__ import annotations

from math import isnan

from qrowd.reports.notes import looked_at
from qrowd.reports.phrases import count, probability
from qrowd.reports.report import Report, interval, signed
from qrowd.reports.report_merging import PANEL

SURE = 0.95  # another panel would agree
NAMED = 4


def on_systems(report: Report) -> str:
    """How many differ significantly from the one all are compared with, and which may be the best."""
    answer, others = report.answer, len(report.systems) - 1
    if not answer.best_set:
        return "The systems share too few topics to say which of them differ."
    ahead, behind = (sum(row.significant and sign * row.gap > 0 for row in report.systems) for sign in (1, -1))
    level = f"(p < {report.choices['alpha']:g}, adjusted for all pairs of systems)"
    if report.baseline is None:
        told = f"{behind} of {others} other systems are significantly worse than {report.compared_with} {level}"
    else:
        told = (
            f"Of {others} other systems, {ahead} are significantly better than the baseline {report.compared_with}, "
            f"{behind} significantly worse {level}"
        )
    return f"{told}; {answer.best_set}."


def on_pairs(report: Report) -> str:
    """How many differences would last."""
    pairs = report.pairs
    if not pairs:
        return "The leading systems share too little to be compared."
    names = dict.fromkeys(name for row in pairs for name in (row.first, row.second))
    significant = sum(row.significant for row in pairs)
    known = [row for row in pairs if not isnan(row.another_panel)]
    told = (
        f"Of {len(pairs)} differences among {len(names)} leading systems, {significant} "
        f"{'is' if significant == 1 else 'are'} significant when topics and assessors could both have been others"
    )
    if not known:
        return (
            f"{told}. With one assessor, or other assessors for each topic, nothing says what other judges would see."
        )
    sure = sum(row.another_panel >= SURE for row in known)
    return (
        f"{told}. On these same topics, another panel of as many judges would see the same system ahead with "
        f"probability {SURE:.2f} or more in {sure} of them."
    )


def on_assessors(report: Report) -> str:
    """How far they agree, and who stands out."""
    people = report.assessors
    if isnan(people.alpha):
        return f"How far the assessors agree cannot be said: {people.compared}."
    outlying = [row.assessor for row in people.rows if row.outlying]
    told = (
        f"Krippendorff's alpha is {people.alpha:.2f} {interval(people.alpha_low, people.alpha_high, 2)} "
        f"({people.level}; 95 % interval; 1 is agreement, 0 chance)."
    )
    if not outlying:
        return f"{told} No assessor stands out."
    return f"{told} {_some(tuple(outlying))} {'stands' if len(outlying) == 1 else 'stand'} out."


def on_topics(report: Report) -> str:
    """Whether agreement goes with ease."""
    topics = report.topics
    if isnan(topics.correlation):
        return "Agreement by topic is not known for enough topics to set it against scores."
    if isnan(topics.p) or topics.p >= 0.05:
        verdict = "No sign that topics on which assessors agree are easier or harder for systems"
    else:
        verdict = f"Topics on which assessors agree are {'easier' if topics.correlation > 0 else 'harder'} for systems"
    return f"{verdict}: r = {signed(topics.correlation, 2)}, p = {probability(topics.p)}, {topics.n} topics."


def on_merging(report: Report) -> str:
    """Whether the leader depends on how assessors are put together."""
    merging = report.merging
    others = [ranking for ranking in merging.rankings if ranking.name != PANEL]
    if not others:
        return "No other way of putting these assessors together could be tried."
    first = report.answer.first
    place = merging.systems.index(first)
    leads = [ranking.name for ranking in others if ranking.ranks[place] == 1]
    if len(leads) == len(others):
        return f"{first} leads by each of the {len(merging.rankings)} ways tried of putting the assessors together."
    by: dict[str, list[str]] = {}
    for ranking in others:
        if ranking.ranks[place] != 1:
            by.setdefault(merging.systems[ranking.ranks.index(1)], []).append(ranking.name)
    told = [f"by the mean of assessors{''.join(f', {name}' for name in leads)} it is {first}"]
    told += [f"by {_some(tuple(names))} it is {system}" for system, names in by.items()]
    return f"Who leads depends on how assessors are put together: {'; '.join(told)}."


def on_coverage(report: Report) -> str:
    """How much there was to go by."""
    facts = report.facts
    told = (
        f"{facts['judgments']:,} judgments of {facts['documents']:,} documents by "
        f"{count(facts['assessors'], 'assessor')} on {count(facts['topics'], 'topic')}; "
        f"{count(facts['systems'], 'system')}."
    )
    unjudged = f"{100 * facts['unjudged_share']:.1f} % of {looked_at(facts['unjudged_cut'])} results"
    return f"{told} {unjudged} were judged by nobody."


def facts_of(report: Report) -> list[tuple[str, str]]:
    """The few figures of the first screen: (figure, what it is)."""
    answer = report.answer
    found = [(signed(answer.difference), f"{report.measure} ahead of {answer.second}")]
    if not isnan(answer.low):
        found.append(
            (interval(answer.low, answer.high), f"{100 * answer.confidence:g} % interval, topics and assessors")
        )
    if not isnan(answer.another_panel):
        others = f"{answer_panel(report)} would agree"
        chance = f"{100 * answer.another_panel:.0f} %" if answer.another_panel < 0.995 else "over 99 %"
        found.append((chance, f"chance that {others}"))
    found.append((f"{answer.ahead_for} of {answer.n_ranking}", f"assessors see {answer.first} ahead"))
    return found


def answer_panel(report: Report) -> str:
    """As many other judges."""
    n = report.facts["assessors"]
    return f"another panel of {n}" if n > 1 else "another assessor"


def _some(names: tuple[str, ...]) -> str:
    if len(names) == 1:
        return names[0]
    if len(names) <= NAMED:
        return f"{', '.join(names[:-1])} and {names[-1]}"
    return f"{', '.join(names[:NAMED])} and {len(names) - NAMED} more"
