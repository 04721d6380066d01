"""The names that the field gives to columns of judgments, preferences and runs, and which column of a table is which.

qrowd's own names come first; the others are those of ir_measures (query_id, doc_id, relevance), PyTerrier (qid, docno,
label), ranx (q_id, doc_id, score), trectools (query, docid, rel), BEIR (query-id, corpus-id, score) and of tables that
people write. Letter case, blanks, underscores, hyphens and dots in a header do not count: `Topic ID` is `topic_id`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from shlex import quote
from typing import Literal

from qrowd.errors import ArgumentError

TOPIC = (
    "topic", "query_id", "query-id", "qid", "q_id", "query", "topic_id", "topic_no", "search_query", "search_term",
)  # fmt: skip
DOCUMENT = (
    "document", "doc_id", "corpus-id", "docno", "doc", "document_id", "passage_id", "pid", "product_id", "item_id",
    "product",
)  # fmt: skip
JUDGMENT_COLUMNS: dict[str, tuple[str, ...]] = {
    "topic": TOPIC,
    "document": DOCUMENT,
    "assessor": (
        "assessor", "worker", "worker_id", "annotator", "judge", "user", "performer", "rater", "assessor_id",
        "annotator_id", "judge_id", "user_id", "rater_id", "model",
    ),
    "value": ("value", "grade", "relevance", "label", "rel", "magnitude", "score", "judgment", "judgement", "rating"),
    "order": ("order", "position"),
    "unit": ("unit", "unit_id", "batch"),
    "seconds": ("seconds", "duration", "elapsed_seconds"),
    "time": ("time", "timestamp", "created_at"),
    "comment": ("comment", "justification", "reason", "rationale"),
    "scale": ("scale",),
    "cluster": (),  # named by the caller alone: it changes intervals and tests
}  # fmt: skip
RUN_COLUMNS: dict[str, tuple[str, ...]] = {
    "system": ("system", "run", "tag", "run_id", "name", "system_id", "ranker", "model"),
    "topic": TOPIC,
    "document": DOCUMENT,
    "score": ("score", "sim", "relevance_score"),
    "rank": ("rank", "position"),
}
PREFERENCE_COLUMNS: dict[str, tuple[str, ...]] = {
    "topic": (*TOPIC, "question_id"),
    "preferred": ("preferred", "winner", "better", "label", "verdict", "vote", "judge_verdict"),
    "other": ("other", "loser", "worse"),
    "a": ("a", "document_a", "doc_a", "left", "model_a", "system_a", "assistant_a_run_id"),
    "b": ("b", "document_b", "doc_b", "right", "model_b", "system_b", "assistant_b_run_id"),
    "assessor": JUDGMENT_COLUMNS["assessor"],
    "strength": ("strength",),
    "weight": ("weight",),
    "first": ("first",),
    "order": JUDGMENT_COLUMNS["order"],
    "seconds": JUDGMENT_COLUMNS["seconds"],
    "time": JUDGMENT_COLUMNS["time"],
}
ANSWER_COLUMNS: dict[str, tuple[str, ...]] = {
    "topic": TOPIC,
    "system": ("system", "run", "tag", "run_id", "system_id"),
    "criterion": ("criterion", "dimension", "aspect", "measure", "metric"),
    "unit": ("unit", "unit_id", "nugget", "nugget_id", "sentence", "sentence_id"),
    "weight": PREFERENCE_COLUMNS["weight"],
    "assessor": JUDGMENT_COLUMNS["assessor"],
    "value": JUDGMENT_COLUMNS["value"],
    "seconds": JUDGMENT_COLUMNS["seconds"],
    "time": JUDGMENT_COLUMNS["time"],
    "comment": JUDGMENT_COLUMNS["comment"],
    "scale": JUDGMENT_COLUMNS["scale"],
    "cluster": (),
}
UNIT_COLUMNS = {**ANSWER_COLUMNS, "item": ("item", "nugget", "sentence", "statement")}  # the text of a unit
COLUMNS = {
    "judgments": JUDGMENT_COLUMNS,
    "preferences": PREFERENCE_COLUMNS,
    "runs": RUN_COLUMNS,
    "answers": ANSWER_COLUMNS,
}
Kind = Literal["judgments", "preferences", "runs", "answers"]

LIKELY = {
    "topic": "topic query question prompt keywords? search task turn",
    "document": "document doc item passage url page article product result chunk segment asin sku answer response",
    "assessor": "assessor rater annotator worker judge coder evaluator reviewer labell?er expert user username person",
    "value": "value score grade label rating relevan(t|ce) stars vote verdict judge?ment usefulness",
}
"""Words in headers, as patterns, by which a column that has no usual name may be guessed, and is then proposed."""

Names = Mapping[str, str | Sequence[str]]
"""{role: header}, or several headers of which a table has one."""


def roles_in(kind: Kind) -> frozenset[str]:
    """The roles that a caller may name for a table that is read as this; one of judgments or runs may hold answers."""
    return frozenset({*COLUMNS[kind], *(() if kind == "preferences" else ANSWER_COLUMNS)})


def header_key(header: str) -> str:
    """A header without what does not count in it.

    >>> header_key("Topic ID"), header_key("docID"), header_key("query-id")
    ('topicid', 'docid', 'queryid')
    """
    return re.sub(r"[\s_.-]+", "", header).casefold()


def _keys(names: Iterable[str]) -> frozenset[str]:
    return frozenset(map(header_key, names))


# Columns that are something else where the same table has one of the others: the text of a query beside its id,
# PyTerrier's internal number of a document, the score of a run beside a label.
_GIVES_WAY = {
    "query": _keys(TOPIC),
    "searchquery": _keys(TOPIC),
    "searchterm": _keys(TOPIC),
    "position": _keys(("rank",)),
    "docid": _keys(("docno",)),
    "score": _keys(JUDGMENT_COLUMNS["value"]),
    "name": _keys(RUN_COLUMNS["system"]),
    "model": _keys((*JUDGMENT_COLUMNS["assessor"], *RUN_COLUMNS["system"])),
}


def is_called(headers: Iterable[str], names: Collection[str]) -> bool:
    """Whether one of the headers is one of the names."""
    return not _keys(names).isdisjoint(map(header_key, headers))


VERDICTS = ("a [[a]] modela left", "b [[b]] modelb right", "tie [[tie]] [[c]] draw", "bothbad tie(bothbad)")
"""Words for the first of two documents, for the second, for neither, and for neither since both are bad.

Of Chatbot Arena (model_a, tie (bothbad)), MT-Bench ([[C]]) and RAGDoll (Tie).
"""


def verdict_of(word: str) -> int:
    """The place in `VERDICTS` of what a word says; -1 for other words.

    >>> verdict_of("[[A]]"), verdict_of("tie (bothbad)"), verdict_of("bm25")
    (0, 3, -1)
    """
    return next((place for place, words in enumerate(VERDICTS) if header_key(word) in words.split()), -1)


def kind_of(headers: Sequence[str]) -> Kind:
    """What a table holds: two documents compared are preferences; a system, a rank or nothing but a score are runs.

    A system with a value, and no document, is an answer that was judged.
    """
    if is_called(headers, PREFERENCE_COLUMNS["other"] + PREFERENCE_COLUMNS["b"]):
        return "preferences"
    judged = JUDGMENT_COLUMNS["value"] + tuple(set(JUDGMENT_COLUMNS["assessor"]) - {"model"})
    ranked = DOCUMENT + RUN_COLUMNS["rank"]
    system = ANSWER_COLUMNS["system"]
    if is_called(headers, system) and is_called(headers, judged) and not is_called(headers, ranked):
        return "answers"
    value = set(JUDGMENT_COLUMNS["value"]).difference(RUN_COLUMNS["score"])
    if is_called(headers, set(JUDGMENT_COLUMNS["assessor"]) - {"model"}):
        return "judgments"
    if is_called(headers, {*RUN_COLUMNS["system"], *RUN_COLUMNS["rank"]} - {"model", "name", "position"}):
        return "runs"
    return "judgments" if is_called(headers, value) else "runs"


def refuse_other_kind(headers: Sequence[str], usual_names: Mapping[str, tuple[str, ...]]) -> None:
    """A table of runs, whose scores would pass for judgments, or one of judgments instead of runs."""
    kind = kind_of(headers)
    other = {"runs": JUDGMENT_COLUMNS, "judgments": RUN_COLUMNS}.get(kind)
    ranked = is_called(headers, RUN_COLUMNS["rank"] + (RUN_COLUMNS["score"] if kind == "judgments" else ()))
    if usual_names is other and ranked == (kind == "runs"):
        raise ArgumentError(f"the columns {', '.join(headers)} are those of {kind}; were runs and judgments swapped?")


def roles_of(headers: Sequence[str], usual_names: Mapping[str, tuple[str, ...]], names: Names) -> dict[str, str]:
    """{role: header} of a table: as the caller names them, else the one header with a usual name of the role.

    Raises
    ------
    ArgumentError
        A role that there is not, a header that is not there, or two headers for one role.
    """
    role_of: dict[str, str] = {}
    for role, named in names.items():
        if role not in usual_names:
            raise ArgumentError(f"columns: there is no role {role!r}; choose from {', '.join(usual_names)}")
        choices = (named,) if isinstance(named, str) else tuple(named)
        role_of[role] = _present(headers, role, choices)
    for role, usual in usual_names.items():
        if role in role_of:
            continue
        keys = _keys(usual)
        matches = [header for header in headers if header_key(header) in keys and header not in role_of.values()]
        matches = [header for header in matches if not _gives_way(header, matches)]
        if len(matches) > 1:
            raise ArgumentError(
                f"two columns may be the {role}: {matches[0]!r} and {matches[1]!r}; name the column, as in "
                f"{role}={matches[0]}"
            )
        if matches:
            role_of[role] = matches[0]
    return role_of


def likely_columns(headers: Sequence[str]) -> dict[str, str]:
    """{role: header} of a table of judgments in which usual names are missing, by the words in its headers.

    >>> likely_columns(["question", "ItemURL", "rater_name", "stars"])
    {'topic': 'question', 'document': 'ItemURL', 'assessor': 'rater_name', 'value': 'stars'}
    """
    role_of: dict[str, str] = {}
    for role, words in LIKELY.items():
        free = [header for header in headers if header not in role_of.values()]
        exact = [header for header in free if is_called([header], JUDGMENT_COLUMNS[role])]
        pattern = re.compile(rf"(?<![a-z])(?i:{words.replace(' ', '|')})s?(?![a-z])")
        if matches := exact or [header for header in free if pattern.search(header)]:
            role_of[role] = matches[0]
    return role_of


def are_usual(role_of: Mapping[str, str]) -> bool:
    """Whether all of these columns of judgments have usual names."""
    return all(is_called([header], JUDGMENT_COLUMNS[role]) for role, header in role_of.items())


def _present(headers: Sequence[str], role: str, choices: Sequence[str]) -> str:
    """The header among the choices that the table has."""
    for choice in choices:
        if choice in headers:
            return choice
    for choice in choices:
        alike = [header for header in headers if header_key(header) == header_key(choice)]
        if len(alike) == 1:
            return alike[0]
    named = f"{role}={choices[-1]}"
    other = "=".join([role, likely_columns(headers).get(role, "HEADER")])
    raise ArgumentError(
        f"column {named}: the columns are {', '.join(headers)}; where files differ, give --column {quote(named)} "
        f"--column {quote(other)}"
    )


def _gives_way(header: str, matches: Sequence[str]) -> bool:
    others = {header_key(other) for other in matches if other != header}
    return not others.isdisjoint(_GIVES_WAY.get(header_key(header), ()))
