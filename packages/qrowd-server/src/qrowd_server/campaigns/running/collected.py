"""What has been collected so far, as the library reads it: `Judgments` or `Preferences`, while the campaign runs.

The `Runs` that a campaign was made from are read here, too, as far as they are kept.

Judgments are read in one place, `judgment_rows`, for exports, `--campaign` and questions alike, so that scores of an
export and of the campaign are the same. Gold documents are judged documents: what people said of them counts as any
other judgment. But each assessor sees a few of them only, so those that no run of the campaign ranks do not count: they
would change the ideal ranking of some assessors and not of others. A final answer of an owner stands in place of every
answer that counts for its document, also of "cannot tell"; nobody gets a judgment of what they did not see.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from sqlalchemy import Connection

from qrowd.errors import ArgumentError
from qrowd.model.judgments import Judgments
from qrowd.model.preferences import Preferences
from qrowd.model.runs import Runs
from qrowd_server.campaigns.plan.question_settings import runs_of_table
from qrowd_server.campaigns.running.campaign_settings import find_arms, only_arm, read_settings
from qrowd_server.protocols import PREFERENCE
from qrowd_server.protocols.settings import GradesSettings, Settings
from qrowd_server.store import event_log as events
from qrowd_server.store import export, materials
from qrowd_server.store import progress_counts as counts
from qrowd_server.store.answer_rows import GOLD, gold_rows
from qrowd_server.store.materials import CampaignRow
from qrowd_server.store.schema import COMPLETED, MODEL, OPEN

DRAWN = (
    "its documents were drawn for its question, which qrowd next --campaign {} answers; scores by these judgments "
    "alone are biased"
)


def collected(
    connection: Connection,
    name: str,
    *,
    wanted: Literal["judgments", "preferences"] | None = None,
    names: bool = False,
    final: bool = True,
) -> Judgments | Preferences:
    """What a campaign collects, whichever it is, as it stands.

    name : of the campaign, or CAMPAIGN/ARM for one arm. wanted : which arms are meant where some have judgments and
        others preferences. names, final : as in `judgments`.
    """
    row, arms = find_arms(connection, name)
    if wanted is not None:
        arms = {arm: one for arm, one in arms.items() if (one == PREFERENCE) == (wanted == "preferences")} or arms
    arm = only_arm(row.name, arms)
    name = f"{row.name}/{arm}".rstrip("/")
    if arms[arm] == PREFERENCE:
        return preferences(connection, name, names=names)
    return judgments(connection, name, names=names, final=final)


JUDGMENTS = (*export.JUDGMENTS, "origin")  # pool, gold, or final
OF_GOLD, FINAL = "gold", "final"
SETTLED = "settled"  # status of an answer that a final answer replaces
UNRANKED = "unranked"  # status of an answer to a gold document that no run ranks
Place = tuple[str, str, str]  # topic, document, arm


@dataclass(frozen=True)
class FinalAnswer:
    """The final answer for a document.

    text : as typed. value : what it stands for. account : who gave it. time : seconds since 1970. n : how often an
    answer was given, this one included.
    """

    topic: str
    document: str
    arm: str
    text: str
    value: float
    reason: str
    account: str
    time: float
    n: int = 1


def final_answers(connection: Connection, campaign_id: int) -> dict[Place, FinalAnswer]:
    """The final answers of a campaign as they stand, by topic, document and arm."""
    last: dict[Place, FinalAnswer] = {}
    for entry in events.of_kind(connection, campaign_id, "adjudicated"):
        data = entry.data
        place = data["item"][0], data["item"][1], data["arm"]
        if data["value"] is None:
            last.pop(place, None)
            continue
        n = last[place].n + 1 if place in last else 1
        account = entry.account or ""
        last[place] = FinalAnswer(*place, data["text"], data["value"], data["reason"], account, entry.time, n)
    return last


def judgment_rows(
    connection: Connection,
    campaign_id: int,
    *,
    arms: Sequence[str] | None = None,
    everything: bool = False,
    names: bool = False,
    final: bool = True,
) -> Iterator[tuple[Any, ...]]:
    """The judgments of a campaign as tuples of the columns JUDGMENTS: topic by topic, then those of gold documents.

    arms : those that are read, with the further column ARM; None in a campaign without arms. everything : also what
    does not count, with the columns STATUS. names : people by name. final : what scores are computed from, where final
        answers replace those of assessors ("settled"), and gold documents that no run ranks do not count ("unranked").
    """
    finals = final_answers(connection, campaign_id) if final else {}
    ranked = {place[:2] for place in _ranked(connection, campaign_id)} if final else set()
    columns = (*JUDGMENTS, *(() if arms is None else export.ARM), *(export.STATUS if everything else ()))
    for row in _answers(connection, campaign_id, arms, names):
        place = row["topic"], row["document"]
        if ranked and row["counted"] and row["origin"] == OF_GOLD and place not in ranked:
            row |= {"counted": False, "status": UNRANKED}
        if row["counted"] and (answer := finals.get((*place, row["arm"]))) is not None:
            settled = {"value": answer.value, "raw": answer.text, "comment": answer.reason, "origin": FINAL}
            yield tuple(map((row | settled).__getitem__, columns))
            row |= {"counted": False, "status": SETTLED}
        if row["value"] is not None and (row["counted"] or everything):
            yield tuple(map(row.__getitem__, columns))


def _answers(
    connection: Connection, campaign_id: int, arms: Sequence[str] | None, names: bool
) -> Iterator[dict[str, Any]]:
    """Every answer to a document, of the pool or gold; of "cannot tell" the value is None."""
    columns = (*export.JUDGMENTS, *(() if arms is None else export.ARM), *export.STATUS)
    for cells in export.judgments(connection, campaign_id, arms=arms, names=names):
        yield {"arm": "", "origin": "pool", **dict(zip(columns, cells, strict=True))}
    for cells in gold_rows(connection, campaign_id, names=names):
        row = dict(zip(GOLD, cells, strict=True))
        if row["other"] is None and (arms is None or row["arm"] in arms):
            value = None if row["right"] is None else float(row["answer"])
            counted = row["excluded"] is None and row["status"] in (OPEN, COMPLETED)
            further = {"value": value, "raw": row["answer"], "visits": None, "revisions": None, "counted": counted}
            yield {**row, **further, "origin": OF_GOLD}


def unanswered(connection: Connection, campaign_id: int) -> dict[str, str]:
    """{model: how many of its replies hold no answer that counts, and what was wrong with them}."""
    replies: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for name, cause, n in counts.unanswered_replies(connection, campaign_id):
        replies[name][cause.replace("_", " ")] = n
    return {
        name: f"replies without an answer: {sum(causes.values())} ({', '.join(f'{n} {c}' for c, n in causes.items())})"
        for name, causes in replies.items()
    }


def judgments(connection: Connection, name: str, *, names: bool = False, final: bool = True) -> Judgments:
    """The judgments of a campaign as they stand, with order, unit, seconds, time and comment.

    name : of the campaign, or CAMPAIGN/ARM for one of several arms with judgments. names : people by name, not by
    pseudonym. final : as in `judgment_rows`; else what assessors said, which their agreement is about.
    """
    row, arm, arms = _find_arm(connection, name, pairs=False)
    settings = read_settings(row).arms[arm].settings
    rows = list(judgment_rows(connection, row.id, arms=arms, everything=True, names=names, final=final))
    columns = _columns([cells for *cells, counted, _, _ in rows if counted], JUDGMENTS)
    origins, notes = Counter(columns["origin"]), []
    if n := origins[OF_GOLD]:
        notes.append(
            f"judgments of gold documents: {n}"
            f"{' (compare --unjudged condensed leaves out those that an assessor did not see)' if final else ''}"
        )
    if n := len(final_answers(connection, row.id)):
        notes.append(
            f"answers replaced by final answers of owners: {origins[FINAL]} (final answers: {n})"
            if final
            else f"final answers of owners, left out: {n}"
        )
    if n := [status for *_, status, _ in rows].count(UNRANKED):
        notes.append(f"scores and exports of what counts leave out judgments of gold documents that no run ranks: {n}")
    assessors = zip(columns["assessor"], columns["kind"], strict=True)
    if models := sorted({label for label, kind in assessors if kind == MODEL}):
        notes.append(f"assessors that are models: {', '.join(models)}")
    notes += [f"{model}: {replies}" for model, replies in unanswered(connection, row.id).items()]
    if row.settings.get("question") is not None:
        notes.append(DRAWN.format(row.name))
    scale = {"*": scale_of(settings)}
    table = Judgments.from_frame(columns, scales=scale) if columns["assessor"] else Judgments.from_rows([])
    return replace(table, notes=(*table.notes, *(f"campaign {row.name}: {note}" for note in notes)))


def counts_gold(connection: Connection, name: str) -> bool:
    """Whether judgments of gold documents, of which each assessor sees some, are among those of a campaign."""
    row, _, arms = _find_arm(connection, name, pairs=False)
    return any(cells[len(export.JUDGMENTS)] == OF_GOLD for cells in judgment_rows(connection, row.id, arms=arms))


def scale_of(settings: Settings) -> str:
    """The scale of the judgments of an arm."""
    return settings.scale if isinstance(settings, GradesSettings) else "magnitude"


def preferences(connection: Connection, name: str, *, names: bool = False) -> Preferences:
    """The preferences and Bad marks of a campaign as they stand; `names` as in `judgments`."""
    row, _, arms = _find_arm(connection, name, pairs=True)
    rows = export.preferences(connection, row.id, arms=arms, names=names)
    columns = _columns(rows, export.PREFERENCES)
    return Preferences.from_frame(columns) if columns["assessor"] else Preferences.from_rows([])


def kept_runs(connection: Connection, name: str) -> Runs | None:
    """The runs of a campaign: all of each with a question, else the documents that it was made from.

    None where it was made without runs. name : of the campaign, or CAMPAIGN/ARM.
    """
    row, _ = find_arms(connection, name)
    content = materials.find_question(connection, row.id)
    if content is not None:
        return runs_of_table(content["runs"])
    rows = _ranked(connection, row.id)
    if not rows:
        return None
    runs = Runs.from_frame(_columns(rows, ("topic", "document", "system", "rank")))
    deepest = max(rank for *_, rank in rows)
    kept = f"of each run it keeps up to {deepest} documents of a topic, ties broken; what stands below is missing"
    return replace(runs, notes=(f"campaign {row.name}: {kept}",))


def _ranked(connection: Connection, campaign_id: int) -> list[tuple[str, str, str, int]]:
    """Topic, document, system and rank of what a campaign without a question keeps of its runs."""
    labels = {id: label for label, id in materials.ids_by_label(connection, "document", campaign_id).items()}
    return [
        (topic.label, labels[document], system, rank)
        for topic in materials.topics_of(connection, campaign_id)
        for system, ranking in (topic.systems or {}).items()
        for rank, document in enumerate(ranking, start=1)
    ]


def _find_arm(connection: Connection, name: str, *, pairs: bool) -> tuple[CampaignRow, str, list[str] | None]:
    """The campaign, and its only arm with preferences, or with judgments; and this as the arms that are read."""
    row, arms = find_arms(connection, name)
    of_kind = {arm: protocol for arm, protocol in arms.items() if (protocol == PREFERENCE) == pairs}
    if not of_kind:
        reader = "judgments" if pairs else "preferences"
        raise ArgumentError(f"{name}: this campaign collects {', '.join(arms.values())}; read them with {reader}()")
    arm = only_arm(row.name, of_kind)
    return row, arm, [arm] if arm else None


def _columns(rows: Iterable[Sequence[Any]], names: tuple[str, ...]) -> dict[str, list[Any]]:
    cells = list(rows)
    return {name: [row[i] for row in cells] for i, name in enumerate(names)}
