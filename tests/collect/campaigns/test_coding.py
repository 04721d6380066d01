"""Codes and verdicts: kept in the log, the last one counts, tabulated as by hand, and gone nowhere by an archive."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from shutil import copyfile
from typing import Any

import numpy as np
import pandas as pd
import pytest

from judging import NOW, Clock, created, seeded, small_plan
from qrowd.agreement import geometric_sd, scale_conflicts
from qrowd.collect.campaigns import coding
from qrowd.collect.campaigns.archive import read_archive, write_archive
from qrowd.collect.campaigns.code_tables import code_tables
from qrowd.collect.campaigns.coding import CODES, Coding, code, code_rows, codings, items, list_conflicts, list_ratios
from qrowd.collect.campaigns.collected import judgments
from qrowd.collect.campaigns.exports import export_rows
from qrowd.collect.campaigns.rebuild import rebuild
from qrowd.collect.protocols.events import GoOn, Judge, Rate
from qrowd.collect.protocols.views import DocumentView, RatingView
from qrowd.collect.store import events
from qrowd.collect.store.backup import backup
from qrowd.collect.store.base import Store
from qrowd.collect.store.engine import open_store
from qrowd.collect.store.state import assessors_of
from qrowd.errors import ArgumentError, NoOverlapError, RowError, ScaleError
from qrowd.magnitude import normalise
from qrowd.model.judgments import Judgments


def fill(store: Store) -> None:
    """Six assessors judge two topics of eight documents by magnitudes, with reasons and comments."""
    clock = Clock(step=25.0)
    settings = {"k": 8, "redundancy": 6, "min_seconds": 0, "equal": "passes", "revisions": -1}
    created(store, small_plan("magnitude", topics=2, documents=8, **settings))
    service = seeded(store, clock)

    async def judge(name: str, rng: Random) -> None:
        who = await service.arrive("pilot", "link", name)
        page = (await service.act(who, GoOn())).page
        while isinstance(page.view, DocumentView | RatingView) or getattr(page.view, "another", False):
            action: Any = GoOn()
            if isinstance(page.view, RatingView):
                action = Rate(3, 4, f"{name} says so" if name < "a3" else "")
            elif isinstance(page.view, DocumentView):
                # Documents are numbered topic by topic, the first of a topic being H and the second N.
                level = (page.view.document - 1) % 8
                value = {0: 900.0, 1: 0.01}.get(level, 10.0 * 3 ** rng.gauss(level / 4, 2))
                action = Judge(page.view.position, f"{value:.4g}", f"reason of {name}")
            page = (await service.act(who, action, shown=page.shown, key=page.key)).page

    for number in range(6):
        asyncio.run(judge(f"a{number}", Random(number)))


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("coding") / "judgments.db"
    with open_store(path) as store:
        fill(store)
        backup(store, path.with_name("copy.db"))
    return path.with_name("copy.db")


@pytest.fixture
def judged(original: Path, tmp_path: Path, opened: Callable[..., Store]) -> Store:
    """A copy of the filled database."""
    copyfile(original, tmp_path / "judgments.db")
    return opened(f"sqlite:///{tmp_path / 'judgments.db'}")


def say(store: Store, item: Sequence[str], coder: str = "olga", at: float = NOW, **content: Any) -> None:
    store.write(lambda c: code(c, "pilot", Coding(tuple(item), coder, **content, time=at)))


def rows_of(store: Store) -> list[dict[str, Any]]:
    return [dict(zip(CODES, row, strict=True)) for row in store.read(lambda c: list(code_rows(c, 1)))]


def of_list(store: Store, name: Any) -> list[tuple[str, ...]]:
    return store.read(lambda c: items(c, 1, name))


GOLD = {(f"t{t}", f"t{t}d{d}"): float(min(d // 2, 3)) for t in range(2) for d in range(8)}


# ---- what there is to code


def test_reasons_and_comments_that_count_are_items(judged: Store) -> None:
    reasons, comments = of_list(judged, "reasons"), of_list(judged, "comments")
    counted = judged.read(lambda c: judgments(c, "pilot"))
    assert len(reasons) == len(set(reasons)) == len(counted) == 96
    assert len(comments) == 6, "three assessors wrote a comment in each of two topics"
    assert of_list(judged, "conflicts") == of_list(judged, "ratios") == []


def test_conflicts_with_gold_are_those_of_the_library_on_normalised_magnitudes(judged: Store) -> None:
    written = judged.write(lambda c: list_conflicts(c, "pilot", GOLD, NOW, min_distance=1))
    expected = scale_conflicts(normalise(judged.read(lambda c: judgments(c, "pilot"))), GOLD, min_distance=1)
    assert len(written) == len(expected) > 0
    assert of_list(judged, "conflicts") == [
        ("conflict", *pair) for pair in zip(expected.topic, expected.document, strict=True)
    ]
    listed = judged.read(lambda c: coding.listed(c, 1))["conflicts"]
    assert [about["level"] for _, _, about in listed.rows] == expected.level.tolist()
    assert listed.options == {"merge": "median", "min_distance": 1, "normalised": True, "n": 16}


def test_documents_of_a_huge_ratio_are_listed_largest_first(judged: Store) -> None:
    table = geometric_sd(normalise(judged.read(lambda c: judgments(c, "pilot")))).to_frame()
    threshold = float(table["ratio"].median())
    n = judged.write(lambda c: list_ratios(c, "pilot", NOW, min_ratio=threshold))
    assert n == (table["ratio"] >= threshold).sum()
    listed = judged.read(lambda c: coding.listed(c, 1))["ratios"]
    ratios = [about["ratio"] for _, _, about in listed.rows]
    assert ratios == sorted(table["ratio"][table["ratio"] >= threshold], reverse=True)
    assert judged.write(lambda c: list_ratios(c, "pilot", NOW, min_ratio=1e9)) == 0
    assert of_list(judged, "ratios") == [], "the last list counts"


def test_lists_that_cannot_be_made_are_refused(judged: Store) -> None:
    created(judged, small_plan("grades", name="stars"))
    with pytest.raises(NoOverlapError, match="no judgment counts yet"):
        judged.write(lambda c: list_conflicts(c, "stars", GOLD, NOW))
    with pytest.raises(ArgumentError, match="min_ratio=1: expected a number above 1"):
        judged.write(lambda c: list_ratios(c, "pilot", NOW, min_ratio=1.0))


def test_a_ratio_needs_magnitudes(store: Store) -> None:
    created(store, small_plan("grades", rating=False))
    service = seeded(store, Clock(step=5.0))

    async def judge() -> None:
        who = await service.arrive("pilot", "link", "ann")
        page = (await service.act(who, GoOn())).page
        await service.act(who, Judge(page.view.position, "1"), shown=page.shown, key=page.key)  # type: ignore[union-attr]

    asyncio.run(judge())
    with pytest.raises(ScaleError, match="this campaign collects grades"):
        store.write(lambda c: list_ratios(c, "pilot", NOW))


# ---- coding


def test_the_last_coding_of_an_item_by_a_coder_counts_and_all_stay_in_the_log(judged: Store) -> None:
    item = of_list(judged, "reasons")[3]
    say(judged, item, codes=("off topic",))
    say(judged, item, coder="paul", codes=("too short",))
    say(judged, item, codes=("on topic", "old"), note="changed my mind", at=NOW + 5)
    last = judged.read(lambda c: codings(c, 1))
    assert last[item, "olga"] == Coding(item, "olga", ("on topic", "old"), "", "", "changed my mind", NOW + 5)
    assert last[item, "paul"].codes == ("too short",)
    assert len([one for one in judged.read(lambda c: list(events.of_campaign(c, 1))) if one.kind == "coded"]) == 3
    say(judged, item)
    assert set(judged.read(lambda c: codings(c, 1))) == {(item, "paul")}, "an empty coding takes the earlier one back"


@pytest.mark.parametrize(
    ("item", "content", "message"),
    [
        (("reason", "1", "0"), {"codes": ("x",)}, "has no item 'reason/1/0'"),
        (("reason", "x", "0"), {"codes": ("x",)}, "has no item"),
        (("comment", str(2**70)), {"codes": ("x",)}, "has no item"),
        (("conflict", "t0", "t9d9"), {"verdict": "ambiguous"}, "has no item 'conflict/t0/t9d9'"),
        (("other",), {"codes": ("x",)}, "has no item 'other'"),
        (("conflict", "t0", "t0d3"), {"codes": ("x" * 201,)}, "codes: use at most 200 characters"),
        (("conflict", "t0", "t0d3"), {"note": "a\0b"}, "note: use at most 2,000 characters, and none that cannot"),
        (("conflict", "t0", "t0d3"), {"codes": tuple(map(str, range(21)))}, "codes: 21 are more than 20"),
    ],
)
def test_what_cannot_be_coded_is_refused(judged: Store, item: Any, content: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        say(judged, item, **content)
    assert judged.read(lambda c: codings(c, 1)) == {}


def test_codings_and_lists_survive_an_archive_and_a_rebuild(
    judged: Store, opened: Callable[..., Store], tmp_path: Path
) -> None:
    judged.write(lambda c: list_conflicts(c, "pilot", GOLD, NOW, min_distance=1))
    say(judged, of_list(judged, "conflicts")[0], verdict="expert wrong", cause="missed a restriction")
    say(judged, of_list(judged, "comments")[0], codes=("tired",))
    before = rows_of(judged), of_list(judged, "conflicts")
    judged.write(lambda c: rebuild(c, "pilot"))
    assert (rows_of(judged), of_list(judged, "conflicts")) == before
    lines = judged.read(lambda c: list(write_archive(c, "pilot")))
    other = opened(f"sqlite:///{tmp_path / 'other.db'}")
    other.write(lambda c: read_archive(c, lines))
    assert (rows_of(other), of_list(other, "conflicts")) == before
    broken = [line.replace(b'"coder":"olga"', b'"coder":7') for line in lines]
    with pytest.raises(RowError, match=r"data\.coder: 7 cannot be used"):
        opened(f"sqlite:///{tmp_path / 'third.db'}").write(lambda c: read_archive(c, broken))


def test_the_export_has_a_row_for_each_code_with_the_comment_and_its_place(judged: Store) -> None:
    reason, comment = of_list(judged, "reasons")[0], of_list(judged, "comments")[1]
    say(judged, reason, codes=("a", "b"))
    say(judged, comment, codes=("c",))
    say(judged, ("ratio", "t1", "t1d4"), verdict="wide scale", cause="no zero", note="see a3")
    rows = rows_of(judged)
    assert [(row["item"], row["code"], row["verdict"], row["coder"]) for row in rows] == [
        ("reason", "a", "", "olga"),
        ("reason", "b", "", "olga"),
        ("comment", "c", "", "olga"),
        ("ratio", "", "wide scale", "olga"),
    ]
    names = {one.label: one.name for one in judged.read(lambda c: assessors_of(c, 1))}
    assert rows[0]["comment"] == f"reason of {names[rows[0]['assessor']]}"
    assert rows[2]["comment"] == f"{names[rows[2]['assessor']]} says so"
    assert (rows[3]["topic"], rows[3]["document"], rows[3]["cause"]) == ("t1", "t1d4", "no zero")
    table = b"".join(judged.read(lambda c: list(export_rows(c, "pilot", "codes", "csv")))).decode()
    assert table.splitlines()[0] == ",".join(CODES)
    assert len(table.splitlines()) == 5
    parquet = b"".join(judged.read(lambda c: list(export_rows(c, "pilot", "codes", "parquet"))))
    assert parquet[:4] == b"PAR1"


# ---- tables


def test_verdicts_causes_and_topics_are_counted_as_by_hand(judged: Store) -> None:
    verdicts = [("t0", 2, "expert wrong", "restriction"), ("t0", 3, "expert wrong", "restriction")]
    verdicts += [("t1", 2, "crowd wrong", "restriction"), ("t1", 3, "ambiguous", "subset or all")]
    for label, document, verdict, cause in verdicts:
        say(judged, ("conflict", label, f"{label}d{document}"), verdict=verdict, cause=cause)
    say(judged, ("ratio", "t0", "t0d2"), verdict="careless")
    tables = judged.read(lambda c: code_tables(c, "pilot"))
    assert tables.to_frame().to_numpy().tolist() == [
        ["conflict", "expert wrong", 2, 0.5],
        ["conflict", "ambiguous", 1, 0.25],
        ["conflict", "crowd wrong", 1, 0.25],
        ["ratio", "careless", 1, 1.0],
    ]
    assert tables.to_frame(what="causes")["n"].tolist() == [2, 1, 1, 1]
    by_topic = tables.to_frame(what="topics").groupby(["item", "topic"])["n"].sum()
    assert by_topic.to_dict() == {("conflict", "t0"): 2, ("conflict", "t1"): 2, ("ratio", "t0"): 1}
    assert tables.to_frame(what="agreement").empty
    assert (tables.coders, tables.n_codings) == (("olga",), 5)


def test_the_scores_of_a_code_are_the_geometric_mean_and_sd_of_the_judgments_that_have_it(judged: Store) -> None:
    reasons = of_list(judged, "reasons")
    for item in reasons[:5]:
        say(judged, item, codes=("zero",))
    scores = normalise(judged.read(lambda c: judgments(c, "pilot")))
    frame = judged.read(lambda c: code_tables(c, "pilot")).to_frame(what="codes")
    assert frame["n"].tolist() == [96, 5]
    for row, values in zip(frame.itertuples(), (scores.value, scores.value[:5]), strict=True):
        assert row.mean == pytest.approx(np.exp(np.log(values).mean()))
        assert row.sd == pytest.approx(np.exp(np.log(values).std(ddof=1)))


def test_two_coders_agree_as_cohen_s_kappa_says(judged: Store) -> None:
    names = [f"t0d{d}" for d in range(8)]
    first = ["expert wrong", "expert wrong", "crowd wrong", "ambiguous", "ambiguous", "crowd wrong"]
    second = ["expert wrong", "crowd wrong", "crowd wrong", "ambiguous", "ambiguous", "ambiguous"]
    for coder, verdicts in (("olga", first), ("paul", second)):
        for name, verdict in zip(names, verdicts, strict=False):
            say(judged, ("conflict", "t0", name), coder=coder, verdict=verdict)
    row = judged.read(lambda c: code_tables(c, "pilot")).to_frame(what="agreement").iloc[0]
    both, n = pd.crosstab(first, second), 6
    observed = sum(both.loc[v, v] for v in both.index if v in both.columns) / n
    expected = sum(first.count(v) * second.count(v) for v in set(first)) / n**2
    assert (row["first"], row["second"], row["about"], row["n"]) == ("olga", "paul", "verdict", 6)
    assert row["observed"] == pytest.approx(observed)
    assert row["kappa"] == pytest.approx((observed - expected) / (1 - expected))
    for coder, texts in (("olga", ("old", "")), ("paul", ("old", "old"))):
        for item, text in zip(of_list(judged, "reasons"), texts, strict=False):
            say(judged, item, coder=coder, codes=(text,) if text else (), note="seen")
    codes = judged.read(lambda c: code_tables(c, "pilot")).to_frame(what="agreement")
    assert codes[["about", "n", "observed"]].to_numpy().tolist()[1:] == [["old", 2, 0.5]]


def test_only_the_codings_of_one_coder_can_be_asked_for(judged: Store) -> None:
    for coder in ("olga", "paul"):
        say(judged, ("conflict", "t0", "t0d2"), coder=coder, verdict="ambiguous")
    assert judged.read(lambda c: code_tables(c, "pilot", coder="paul")).n_codings == 1
    with pytest.raises(ArgumentError, match="coder='zoe': has coded nothing here; olga, paul has"):
        judged.read(lambda c: code_tables(c, "pilot", coder="zoe"))


def test_a_campaign_of_preferences_has_comments_but_no_scores(store: Store) -> None:
    created(store, small_plan("preference"))
    assert store.read(lambda c: items(c, 1, "reasons")) == []
    assert store.read(lambda c: code_tables(c, "pilot")).to_frame(what="codes").empty
    with pytest.raises(ArgumentError, match="collects preferences"):
        store.write(lambda c: list_conflicts(c, "pilot", Judgments.from_rows([("t0", "t0d0", "gold", 1)]), NOW))


def test_either_database_keeps_codes_and_lists(store: Store) -> None:
    fill(store)
    assert len(of_list(store, "reasons")) == 96
    assert len(of_list(store, "comments")) == 6
    store.write(lambda c: list_conflicts(c, "pilot", GOLD, NOW, min_distance=1))
    say(store, of_list(store, "conflicts")[0], verdict="ambiguous", cause="two readings")
    say(store, of_list(store, "reasons")[1], codes=("a", "b"))
    assert [row["code"] for row in rows_of(store)] == ["", "a", "b"]
    assert store.read(lambda c: code_tables(c, "pilot")).to_frame(what="causes")["cause"].tolist() == ["two readings"]
