"""Parts whose files become one again: the same rows, scores and results, also where something goes wrong meanwhile."""

import threading
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

import qrowd
from drawn_conventions import MEASURES, conventions
from equal_scores import equal
from qrowd.errors import ArgumentError, FileError, QrowdError
from qrowd.model.judgments import Judgments, concatenate_judgments
from qrowd.model.runs import Runs, concatenate_runs
from qrowd.partitions import (
    PartitionExtender,
    compact_partitioned,
    open_partitioned,
    survey_files,
    write_added,
    write_partitioned,
)
from qrowd.simulation import simulate_demo
from strategies import BOUNDED, worlds

new_judgments = st.lists(
    st.tuples(
        st.sampled_from(["t0", "t1", "t2", "new topic"]),
        st.sampled_from(["D1", "D2", "new document"]),
        st.sampled_from(["a1", "new assessor"]),
        st.sampled_from([0.0, 1.0, 2.0]),
    ),
    min_size=1,
    max_size=5,
).map(Judgments.from_rows)
new_lists = st.dictionaries(st.sampled_from(["t0", "t1", "t7"]), st.just({"a": 1.0, "D1": 2.0}), min_size=1)
steps = st.lists(st.one_of(st.just("compact"), new_judgments, new_lists), min_size=1, max_size=5)


@given(data=st.data(), steps=steps)
def test_any_sequence_of_additions_and_compactions_gives_the_scores_of_the_whole_in_memory(data, steps):
    world = data.draw(worlds(scales=BOUNDED, n_topics=4, n_systems=3, repeats=True))
    measures = data.draw(st.lists(st.sampled_from(MEASURES), min_size=1, max_size=2, unique=True))
    options = data.draw(conventions(measures))
    runs, judgments = world.runs, world.judgments if data.draw(st.booleans()) else Judgments.from_rows(world.rows)
    with TemporaryDirectory() as folder:
        write_partitioned(f"{folder}/c", runs, judgments, n_parts=3)
        for i, step in enumerate(steps):
            if step == "compact":
                compact_partitioned(f"{folder}/c")
            else:
                more = Runs.from_dict({f"new {i}": step}) if isinstance(step, dict) else None
                try:
                    all_judgments = judgments if more is not None else concatenate_judgments([judgments, step])
                    all_runs = runs if more is None else concatenate_runs([runs, more])
                    qrowd.evaluate(all_runs, all_judgments, measures, conventions=options)
                except QrowdError:  # two declared scales
                    continue
                try:
                    write_added(f"{folder}/c", runs=more, judgments=None if more is not None else step)
                except ArgumentError as error:
                    if "the same rows were added to" not in str(error):
                        raise
                    continue
                runs, judgments = all_runs, all_judgments
            opened = open_partitioned(f"{folder}/c")
            assert opened.scales == judgments.scales
            whole = qrowd.evaluate(runs, judgments, measures, conventions=options)
            assert equal(qrowd.evaluate(opened.runs, opened.judgments, measures, conventions=options), whole)


@pytest.fixture(scope="module")
def demo():
    runs, judgments, _ = simulate_demo()
    return runs, judgments


@pytest.fixture
def grown(demo, tmp_path):
    """A collection to which was added three times."""
    runs, judgments = demo
    first, *later = judgments.assessors
    write_partitioned(
        tmp_path / "c", runs.select(systems=[*runs.systems[1:]]), judgments.select(assessors=first), n_parts=4
    )
    for names in (later[:3], later[3:]):
        write_added(tmp_path / "c", judgments=judgments.select(assessors=names))
    return write_added(tmp_path / "c", runs=runs.select(systems=runs.systems[0]))


def rows(collection):
    """The rows of each part, in their order."""
    return [
        [one.to_frame().values.tolist() for one in (collection.read_runs(i), collection.read_judgments(i))]
        for i in range(len(collection.parts))
    ]


def n_files(collection):
    return {kind: len(list((collection.folder / kind).iterdir())) for kind in ("runs", "judgments")}


def test_each_part_has_one_file_afterwards_with_the_same_rows_and_results(grown, tmp_path):
    before, options = rows(grown), {"measures": ["AP"], "results": tmp_path / "results"}
    scores = qrowd.evaluate(grown.runs, grown.judgments, **options)
    kept = {path: path.stat().st_mtime_ns for path in (tmp_path / "results").iterdir()}
    assert n_files(grown) == {"runs": 8, "judgments": 12}
    progress = []
    compacted = compact_partitioned(grown.folder, progress=lambda *counts: progress.append(counts))
    assert progress[-1] == (8, 8)
    assert n_files(compacted) == {"runs": 4, "judgments": 4}
    assert rows(compacted) == before
    assert equal(qrowd.evaluate(compacted.runs, compacted.judgments, **options), scores)
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "results").iterdir()} == kept
    assert compact_partitioned(grown.folder).to_json() == compacted.to_json()


def test_what_was_added_before_a_compaction_is_still_refused_and_more_can_be_added(grown, demo):
    _, judgments = demo
    compact_partitioned(grown.folder)
    with pytest.raises(ArgumentError, match="judgments: the same rows were added to"):
        write_added(grown.folder, judgments=judgments.select(assessors=judgments.assessors[1:4]))
    more = Judgments.from_rows([(topic, "d", "new", 1) for topic in judgments.topics])
    again = compact_partitioned(write_added(grown.folder, judgments=more).folder)
    assert n_files(again) == {"runs": 4, "judgments": 4}
    assert len(again.judgments) == len(grown.judgments) + len(more)


def test_a_compaction_that_is_interrupted_leaves_the_collection_as_it_was(grown):
    before, files = rows(grown), sorted(grown.folder.rglob("*"))

    def interrupt(done, total):
        if done > 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        compact_partitioned(grown.folder, progress=interrupt)
    assert sorted(grown.folder.rglob("*")) == files
    assert rows(open_partitioned(grown.folder)) == before


def test_the_old_survey_can_be_read_until_the_new_one_is_in_force(grown, monkeypatch):
    before, read = rows(grown), []

    def slow(*arguments):
        read.append(rows(open_partitioned(grown.folder)))
        read.append(rows(grown))
        return survey_files.put_in_force(*arguments)

    monkeypatch.setattr("qrowd.partitions.compacting.put_in_force", slow)
    compacted = compact_partitioned(grown.folder)
    assert read == [before, before]
    with pytest.raises(FileError, match="was changed after it was opened; open it again"):
        grown.read_runs(0)
    assert rows(compacted) == before


def test_a_compaction_during_which_something_is_added_is_refused_and_nothing_is_lost(grown, monkeypatch):
    added = Judgments.from_rows([("q01", "d", "new", 1)])

    def late(*arguments):
        monkeypatch.undo()
        write_added(grown.folder, judgments=added)
        return survey_files.put_in_force(*arguments)

    monkeypatch.setattr("qrowd.partitions.compacting.put_in_force", late)
    with pytest.raises(FileError, match="was changed by another process meanwhile; nothing was compacted, try again"):
        compact_partitioned(grown.folder)
    assert len(open_partitioned(grown.folder).judgments) == len(grown.judgments) + 1
    assert len(compact_partitioned(grown.folder).judgments.value) == len(grown.judgments) + 1


def test_a_damaged_file_is_named_and_nothing_is_compacted(grown):
    damaged = grown.paths("runs", 2)[1]
    damaged.write_bytes(b"PAR1 and nothing else")
    with pytest.raises(FileError, match=f"{damaged.name}: cannot be read"):
        compact_partitioned(grown.folder)
    assert open_partitioned(grown.folder).to_json() == grown.to_json()
    with pytest.raises(FileError, match=r"holds no survey\.json"):
        compact_partitioned(grown.folder.parent)


# ------------------------------------------------------------------ additions at once


@pytest.mark.parametrize("hard_links", [True, False])
def test_of_additions_that_end_at_the_same_instant_one_is_kept_and_the_others_are_refused(
    demo, tmp_path, monkeypatch, hard_links
):
    runs, judgments = demo
    write_partitioned(tmp_path / "c", runs, judgments, n_parts=3)
    n = 6
    ready, outcomes = threading.Barrier(n), []

    def at_once(*arguments):
        ready.wait()  # until each has seen that nobody has changed the collection
        return survey_files.put_in_force(*arguments)

    def without_links(*arguments):
        raise PermissionError("no hard links")

    monkeypatch.setattr("qrowd.partitions.extending.put_in_force", at_once)
    if not hard_links:
        monkeypatch.setattr("qrowd.partitions.survey_files.os.link", without_links)

    def add(i):
        try:
            write_added(tmp_path / "c", judgments=Judgments.from_rows([("q01", f"d{i}", f"new {i}", 1)]))
            outcomes.append(i)
        except FileError as error:
            outcomes.append(str(error))

    threads = [threading.Thread(target=add, args=(i,)) for i in range(n)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (kept,) = (one for one in outcomes if isinstance(one, int))
    refusals = [one for one in outcomes if isinstance(one, str)]
    assert len(refusals) == n - 1
    assert all("another process" in one for one in refusals)
    opened = open_partitioned(tmp_path / "c")
    assert opened.assessors == (*judgments.assessors, f"new {kept}")
    assert len(opened.judgments.value) == len(judgments) + 1


def test_an_addition_that_others_overtook_twice_is_refused(demo, tmp_path, monkeypatch):
    """The name of its survey was made, and is no longer in force: it is not made again."""
    runs, judgments = demo
    write_partitioned(tmp_path / "c", runs, judgments, n_parts=3)
    others = [Judgments.from_rows([("q01", f"d{i}", "new", 1)]) for i in range(2)]

    def late(*arguments):
        monkeypatch.undo()
        for other in others:
            write_added(tmp_path / "c", judgments=other)
        return survey_files.put_in_force(*arguments)

    monkeypatch.setattr("qrowd.partitions.extending.put_in_force", late)
    with pytest.raises(FileError, match="was changed by another process meanwhile; nothing was added, try again"):
        write_added(tmp_path / "c", judgments=Judgments.from_rows([("q01", "late", "new", 1)]))
    opened = open_partitioned(tmp_path / "c")
    assert sorted(set(opened.judgments.documents) - set(judgments.documents)) == ["d0", "d1"]
    sizes = {path.name: path.stat().st_size for path in (tmp_path / "c" / "surveys").iterdir()}
    assert (sizes["1.json"], sizes["2.json"] > 0) == (0, True)
    assert (tmp_path / "c" / "survey.json").stat().st_size == 0


def test_an_answer_that_was_lost_on_the_way_is_no_refusal(demo, tmp_path, monkeypatch):
    """As over NFS: the name was made, but the answer says that it was there before."""
    runs, judgments = demo
    collection = write_partitioned(tmp_path / "c", runs, judgments, n_parts=3)
    link = survey_files.os.link

    def answered_twice(*arguments):
        link(*arguments)
        raise FileExistsError

    monkeypatch.setattr("qrowd.partitions.survey_files.os.link", answered_twice)
    added = Judgments.from_rows([("q01", "d", "new", 1)])
    assert len(write_added(collection.folder, judgments=added).judgments) == len(judgments) + 1


def test_a_survey_that_is_replaced_while_it_is_opened_is_read_again(demo, tmp_path, monkeypatch):
    runs, judgments = demo
    collection = write_partitioned(tmp_path / "c", runs, judgments, n_parts=3)
    newest = survey_files.newest_survey

    def slow(folder):
        found = newest(folder)
        monkeypatch.undo()
        write_added(folder, judgments=Judgments.from_rows([("q01", "d", "new", 1)]))
        return found

    monkeypatch.setattr("qrowd.partitions.survey_files.newest_survey", slow)
    assert survey_files.read_newest(collection.folder)[0] == 1


def test_a_collection_of_the_format_before_is_read_and_can_grow(demo, tmp_path):
    runs, judgments = demo
    collection = write_partitioned(tmp_path / "c", runs, judgments, n_parts=3)
    survey = tmp_path / "c" / "survey.json"
    text = survey.read_text().replace('"format": 4', '"format": 3')
    survey.write_text(text.replace(', "compacted_runs": 0, "compacted_judgments": 0', ""))
    assert "compacted" not in survey.read_text()
    opened = open_partitioned(tmp_path / "c")
    assert opened.to_json() == collection.to_json()
    assert equal(qrowd.evaluate(opened.runs, opened.judgments, "AP"), qrowd.evaluate(runs, judgments, "AP"))
    with PartitionExtender(opened) as extender:
        extender.add_judgments(Judgments.from_rows([("q01", "d", "new", 1)]))
        assert len(extender.finish().judgments) == len(judgments) + 1
