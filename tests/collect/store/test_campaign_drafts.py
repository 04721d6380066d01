"""Drafts of campaigns in both databases: whose they are, how many, how long, and what is left of their files."""

from sqlalchemy import Connection, func, select

from qrowd.collect.store.base import Store
from qrowd.collect.store.campaign_drafts import (
    LIFETIME,
    MOST,
    PART,
    CampaignDraft,
    DraftFile,
    add_draft,
    add_part,
    content_of,
    find_draft,
    parts_of,
    purge_drafts,
    remove_draft,
    save_draft,
)
from qrowd.collect.store.schema import draft_part

CONTENT = bytes(range(256)) * (2 * PART // 256) + b"end"


def n_parts(connection: Connection) -> int:
    return int(connection.scalar(select(func.count()).select_from(draft_part)) or 0)


def saved(store: Store, account: int, at: float) -> CampaignDraft:
    """A draft with one file."""

    def work(connection: Connection) -> CampaignDraft:
        id = add_draft(connection, account, at)
        for number, part in reversed(list(parts_of(CONTENT))):
            add_part(connection, id, "k", number, part)
        save_draft(connection, id, {"topics": "é\n"}, [DraftFile("documents", "a.csv", "k", len(CONTENT))], at)
        found = find_draft(connection, id, account, at)
        assert found is not None
        return found

    return store.write(work)


def test_a_draft_and_its_files_come_back_as_they_were(store: Store) -> None:
    draft = saved(store, 1, 100.0)
    assert draft.fields == {"topics": "é\n"}
    assert draft.files == (DraftFile("documents", "a.csv", "k", len(CONTENT)),)
    assert store.read(lambda c: content_of(c, draft.id, "k")) == CONTENT
    assert store.read(n_parts) == 3


def test_a_draft_is_found_by_its_account_for_a_day_and_each_state_has_its_own_time(store: Store) -> None:
    draft = saved(store, 1, 100.0)
    assert store.read(lambda c: find_draft(c, draft.id, 2, 100.0)) is None
    assert store.read(lambda c: find_draft(c, draft.id, 1, 101.0 + LIFETIME)) is None
    store.write(lambda c: save_draft(c, draft.id, {}, (), 100.0))
    again = store.read(lambda c: find_draft(c, draft.id, 1, 100.0))
    assert again is not None
    assert again.saved > draft.saved
    assert store.read(n_parts) == 0, "parts of a file that is not named any more are gone"


def test_the_oldest_drafts_make_room_and_those_of_others_stay(store: Store) -> None:
    other = saved(store, 2, 1.0)
    mine = [saved(store, 1, 10.0 + i) for i in range(MOST + 1)]
    alive = [store.read(lambda c, id=one.id: find_draft(c, id, 1, 20.0)) is not None for one in mine]
    assert alive == [False] + [True] * MOST
    assert store.read(lambda c: find_draft(c, other.id, 2, 20.0)) is not None


def test_what_is_removed_or_too_old_leaves_nothing(store: Store) -> None:
    one, two = saved(store, 1, 100.0), saved(store, 1, 200.0)
    store.write(lambda c: remove_draft(c, two.id))
    assert store.write(lambda c: purge_drafts(c, 100.0 + LIFETIME - 1)) == 0
    assert store.write(lambda c: purge_drafts(c, 101.0 + LIFETIME)) == 1
    assert store.read(lambda c: find_draft(c, one.id, 1, 100.0)) is None
    assert store.read(n_parts) == 0
