"""What each section of the report says in a sentence or two."""

from __future__ import annotations

from math import isnan

from qrowd.agreement.split_documents import Grade, SplitDocument
from qrowd.reports.notes import documents_down_to
from qrowd.reports.phrases import chance, count, interval, is_or_are, listed, percent, probability, signed
from qrowd.reports.report_content import ReportContent
from qrowd.reports.report_influence import DocumentRow, Influence
from qrowd.reports.report_methods import PANEL

LIKELY = 0.95  # probability from which on another panel is counted as agreeing


def on_systems(report: ReportContent) -> str:
    """How many differ significantly from the one all are compared with, and which may be the best."""
    answer, others = report.answer, len(report.systems) - 1
    if not answer.best_set:
        return "The systems share too few topics to say which of them differ."
    better, worse = (
        sum(bool(row.significant) and sign * (row.difference or 0) > 0 for row in report.systems) for sign in (1, -1)
    )
    level = f"(p < {1 - answer.confidence:.3g}, adjusted for all pairs of systems)"
    if report.baseline is None:
        start = f"{worse} of {others} other systems {is_or_are(worse)}"
        if others == 1:
            start = f"The other system is{'' if worse else ' not'}"
        text = f"{start} significantly worse than {report.compared_with} {level}"
    else:
        text = (
            f"Of {count(others, 'other system')}, {better} {is_or_are(better)} significantly better than the baseline "
            f"{report.compared_with} and {worse} significantly worse {level}"
        )
    return f"{text}; {answer.best_set}."


def on_pairs(report: ReportContent) -> str:
    """How many differences are significant, and in how many another panel would agree."""
    pairs = report.pairs
    if not pairs:
        return "The leading systems share too little to be compared."
    names = dict.fromkeys(name for row in pairs for name in (row.first, row.second))
    significant = sum(row.significant for row in pairs)
    with_panel = [row for row in pairs if not isnan(row.another_panel)]
    text = (
        f"Of {count(len(pairs), 'difference')} among {len(names)} leading systems, {significant} "
        f"{is_or_are(significant)} significant over topics and assessors"
    )
    if not with_panel:
        return (
            f"{text}. With one assessor, or with other assessors for each topic, nothing is known about other "
            "assessors."
        )
    likely = sum(row.another_panel >= LIKELY for row in with_panel)
    return (
        f"{text}. On the same topics, another panel of as many assessors would see the same system ahead with "
        f"probability {LIKELY:.2f} or more in {likely} of them."
    )


def on_assessors(report: ReportContent) -> str:
    """How far they agree, and which of them stand out."""
    assessors = report.assessors
    if report.preferences is not None:
        return report.preferences.sentence
    if isnan(assessors.alpha):
        return f"The agreement of the assessors is not known: {assessors.compared}."
    outlying = [row.assessor for row in assessors.rows if row.outlying]
    text = (
        f"Krippendorff's alpha is {assessors.alpha:.2f} {interval(assessors.alpha_low, assessors.alpha_high, 2)} "
        f"({assessors.level}; 95 % interval; 1 is agreement, 0 chance)."
    )
    if not outlying:
        return f"{text} No assessor stands out."
    return f"{text} {listed(outlying)} {'stands' if len(outlying) == 1 else 'stand'} out."


def on_topics(report: ReportContent) -> str:
    """Whether systems score higher on topics on which assessors agree."""
    topics = report.topics
    if report.preferences is not None:
        return "Agreement by topic, and the documents on which assessors disagree, need grades; preferences have none."
    if isnan(topics.correlation):
        return "Too few topics have a known agreement to compare it with scores."
    if isnan(topics.p) or topics.p >= 0.05:
        verdict = "There is no sign that topics on which assessors agree are easier or harder for systems"
    else:
        verdict = f"Topics on which assessors agree are {'easier' if topics.correlation > 0 else 'harder'} for systems"
    numbers = f"r = {signed(topics.correlation, 2)}, p = {probability(topics.p)}, {count(topics.n, 'topic')}"
    return f"{verdict}: {numbers}."


def on_methods(report: ReportContent) -> str:
    """Whether the leader depends on the method that combines the assessors."""
    methods = report.methods
    others = [ranking for ranking in methods.rankings if ranking.name != PANEL]
    if not others:
        return "No other method could be applied to these judgments."
    first = report.answer.first
    place = methods.systems.index(first)
    leads = [ranking.name for ranking in others if ranking.ranks[place] == 1]
    if len(leads) == len(others):
        return f"{first} leads by each of the {count(len(methods.rankings), 'method')}."
    by_leader: dict[str, list[str]] = {}
    for ranking in others:
        if ranking.ranks[place] != 1:
            by_leader.setdefault(methods.systems[ranking.ranks.index(1)], []).append(ranking.name)
    parts = [f"by the {listed([PANEL, *leads])} it is {first}"]
    parts += [f"by {listed(names)} it is {system}" for system, names in by_leader.items()]
    return f"Which system leads depends on the method that combines the assessors: {'; '.join(parts)}."


def on_measures(report: ReportContent) -> str:
    """By which measures the leader leads, and where it stands by the others."""
    rankings, first, equals = report.by_measure, report.answer.first, report.answer.equals
    assert rankings is not None
    place = rankings.systems.index(first)
    leads, parts = [], []
    for one in rankings.rankings:
        rank = one.ranks[place]
        best = [name for name, other in zip(rankings.systems, one.ranks, strict=True) if other == 1]
        level = [name for name in best if name != first and name not in equals]
        if rank == 1 and not level:
            leads.append(one.name)
        elif rank == 1:
            parts.append(f"by {one.name} it is level with {listed(level, 3)}")
        elif rank == 0:
            parts.append(f"by {one.name} it has no score")
        else:
            n = sum(other > 0 for other in one.ranks)
            parts.append(f"by {one.name} {listed(best, 3)} is first, and it has rank {rank} of {n}")
    if not parts:
        return f"{first} leads by each of the {count(len(rankings.rankings), 'measure')}."
    return f"{first} leads by {listed(leads)}; {'; '.join(parts)}." if leads else f"Of {first}: {'; '.join(parts)}."


def on_coverage(report: ReportContent) -> str:
    """What the report is based on."""
    facts = report.facts
    noun, judged = ("judgment", "judged") if report.preferences is None else ("preference", "compared")
    text = (
        f"{count(facts['judgments'], noun)} of {count(facts['documents'], 'document')} by "
        f"{count(facts['assessors'], 'assessor')} on {count(facts['topics'], 'topic')}; "
        f"{count(facts['systems'], 'system')}."
    )
    results = documents_down_to(facts["unjudged_cutoff"])
    return f"{text} {percent(facts['unjudged_share'], 1)} of {results} results were {judged} by nobody."


def key_numbers(report: ReportContent) -> list[tuple[str, str]]:
    """The few numbers of the first screen: (number, what it is)."""
    answer = report.answer
    numbers = [(signed(answer.difference, 3), f"{report.measure} ahead of {answer.second}")]
    if not isnan(answer.low):
        level = f"{percent(answer.confidence)} interval over topics and assessors"
        numbers.append((interval(answer.low, answer.high), level))
    if not isnan(answer.another_panel):
        n = report.facts["assessors"]
        panel = f"another panel of {n}" if n > 1 else "another assessor"
        numbers.append((chance(answer.another_panel), f"probability that {panel} would agree"))
    verb = "assessor sees" if answer.n_ranking == 1 else "assessors see"
    numbers.append((f"{answer.ahead_for} of {answer.n_ranking}", f"{verb} {answer.first} ahead"))
    return numbers


def ranks_of(row: DocumentRow, influence: Influence) -> str:
    """Where both systems have a document."""
    ranks = (row.rank_first, influence.first), (row.rank_second, influence.second)
    return ", ".join(f"rank {rank} in {system}" if rank else f"not in {system}" for rank, system in ranks)


def part_of(row: DocumentRow, disagreeing: bool) -> str:
    """What a document adds to the difference, or how the difference moves with its grade."""
    if not disagreeing:
        return f"adds {signed(row.part)}"
    ends = f"from {signed(row.difference_lowest)} with the lowest grade to {signed(row.difference_highest)}"
    return f"moves the difference {ends} with the highest"


def grade_groups(row: SplitDocument | DocumentRow) -> list[tuple[str, str]]:
    """(grade, assessors) of a document, highest first: values as given, or shares of the scale where scales differ."""
    groups: dict[float, list[Grade]] = {}
    for grade in row.grades:
        groups.setdefault(grade.value if isnan(grade.share) else round(grade.share, 6), []).append(grade)
    values = []
    for share, members in groups.items():
        same = len({grade.value for grade in members}) == 1
        value = _value(members[0]) if same else "highest" if share == 1 else percent(share)
        values.append((value, ", ".join(grade.assessor for grade in members)))
    return values


def _value(grade: Grade) -> str:
    """The value and, where it is not 0 and the scale does not end at 1, the scale's maximum."""
    if isnan(grade.share) or grade.value in (0, grade.share):
        return f"{grade.value:g}"
    return f"{grade.value:g} of {grade.value / grade.share:g}"
