"""Scores of what grows, in memory or on disk, are those of all: bit by bit, with the same conventions and facts."""

import re
from concurrent.futures import ThreadPoolExecutor
from tempfile import TemporaryDirectory

import numpy as np
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
    write_added,
    write_partitioned,
)
from qrowd.simulation import simulate_demo
from qrowd.trec import format_qrels, format_run
from strategies import BOUNDED, DOCUMENTS, worlds

NEW_VALUES = (-1.0, 0.0, 0.5, 1.0, 2.0, 3.0, 4.0)
new_rows = st.lists(
    st.tuples(
        st.sampled_from(["t0", "t1", "t2", "t3", "new topic"]),
        st.sampled_from([*DOCUMENTS, "new document"]),
        st.sampled_from(["a1", "a2", "new assessor"]),
        st.sampled_from(NEW_VALUES),
    ),
    max_size=6,
)


@st.composite
def additions(draw):
    """Judgments that come in later, of one table or of a file for each assessor."""
    rows = draw(new_rows)
    return Judgments.from_rows(rows) if draw(st.booleans()) else _each_in_a_file(rows)


def _each_in_a_file(rows):
    judgments = Judgments.from_rows(rows)
    parts = [Judgments.from_rows([row for row in rows if row[2] == name]) for name in judgments.assessors]
    return concatenate_judgments(parts) if parts else judgments


@given(data=st.data())
def test_judgments_added_in_any_steps_give_the_scores_of_all_judgments(data):
    declared = data.draw(st.booleans())
    world = data.draw(worlds(scales=BOUNDED, n_topics=4, n_systems=3, repeats=True))
    measures = data.draw(st.lists(st.sampled_from(MEASURES), min_size=1, max_size=3, unique=True))
    options = data.draw(conventions(measures))
    judgments = world.judgments if declared else Judgments.from_rows(world.rows)
    growing = qrowd.evaluate_growing(world.runs, judgments, measures, conventions=options)
    assert equal(growing.scores, qrowd.evaluate(world.runs, judgments, measures, conventions=options))
    for added in data.draw(st.lists(additions(), min_size=1, max_size=3)):
        try:
            grown = concatenate_judgments([judgments, added])
            whole = qrowd.evaluate(world.runs, grown, measures, conventions=options)
        except QrowdError as error:  # magnitudes do not say what is relevant, or two declared scales
            with pytest.raises(type(error), match=re.escape(str(error))):
                growing.updated(added)
            continue
        growing, judgments = growing.updated(added), grown
        assert equal(growing.scores, whole)
        assert growing.judgments.to_frame().equals(judgments.to_frame())
        assert growing.judgments.scales == judgments.scales


@pytest.fixture(scope="module")
def demo():
    runs, judgments, _ = simulate_demo()
    return runs, judgments


def test_only_topics_with_new_judgments_are_scored(demo):
    runs, judgments = demo
    first, later = judgments.topics[:20], judgments.topics[20]
    growing = qrowd.evaluate_growing(runs, judgments.select(topics=list(first)), "AP")
    assert growing.n_topics_scored == 20
    done = []
    growing = growing.updated(judgments.select(topics=later), progress=lambda *counts: done.append(counts))
    assert growing.n_topics_scored == 1
    assert done == [(1, 1)]
    assert growing.updated(Judgments.from_rows([])).n_topics_scored == 0


def test_a_new_assessor_costs_the_topics_that_they_judged(demo):
    runs, judgments = demo
    topics = judgments.topics[3:5]
    crowd = Judgments.from_rows([(t, d, "new", 1) for t in topics for d in judgments.documents[:9]])
    growing = qrowd.evaluate_growing(runs, judgments, ["AP", "nDCG@10"]).updated(crowd)
    assert growing.n_topics_scored == 2
    assert equal(growing.scores, qrowd.evaluate(runs, concatenate_judgments([judgments, crowd]), ["AP", "nDCG@10"]))
    assert np.isnan(growing.scores.sel(assessor="new", topic=judgments.topics[0]).values).all()


def test_a_grade_that_changes_an_inferred_scale_scores_all_topics_again():
    rows = [(f"t{i}", d, "ann", v) for i in range(4) for d, v in (("a", 0), ("b", 1))]
    runs = {"s": {f"t{i}": {"a": 2.0, "b": 1.0} for i in range(4)}}
    growing = qrowd.evaluate_growing(runs, Judgments.from_rows(rows), "ERR@5")
    assert growing.updated({"ann": {"t1": {"b": 1}}}).n_topics_scored == 1
    assert growing.updated({"ann": {"t1": {"c": 3}}}).n_topics_scored == 4


def test_what_was_before_is_not_changed(demo):
    runs, judgments = demo
    before = qrowd.evaluate_growing(runs, judgments, "AP")
    values = before.scores.values.copy()
    before.updated({judgments.assessors[0]: {judgments.topics[0]: {"d": 1}}})
    assert np.array_equal(before.scores.values, values, equal_nan=True)


def test_scores_of_no_judgments_cannot_grow(demo):
    with pytest.raises(ArgumentError, match="judgments: there are none"):
        qrowd.evaluate_growing(demo[0], Judgments.from_rows([]), "AP")


# ------------------------------------------------------------------ on disk


@given(data=st.data())
def test_a_partitioned_collection_that_was_extended_is_the_whole(data):
    world = data.draw(worlds(scales=BOUNDED, n_topics=4, n_systems=3, repeats=True))
    measures = data.draw(st.lists(st.sampled_from(MEASURES), min_size=1, max_size=2, unique=True))
    options = data.draw(conventions(measures))
    judgments = world.judgments if data.draw(st.booleans()) else Judgments.from_rows(world.rows)
    runs = world.runs
    with TemporaryDirectory() as folder:
        collection = write_partitioned(f"{folder}/c", runs, judgments, n_parts=3)
        for i, added in enumerate(data.draw(st.lists(additions(), min_size=1, max_size=2))):
            lists = data.draw(st.dictionaries(st.sampled_from(["t0", "t1", "t7"]), st.just({"a": 1.0, "D1": 2.0})))
            more = Runs.from_dict({f"new {i}": lists}) if lists else None
            try:
                grown = concatenate_judgments([judgments, added]) if len(added) else judgments
                all_runs = runs if more is None else concatenate_runs([runs, more])
                whole = qrowd.evaluate(all_runs, grown, measures, conventions=options)
            except QrowdError:
                continue
            if not len(added) and more is None:
                continue
            try:
                collection = write_added(collection.folder, runs=more, judgments=added if len(added) else None)
            except ArgumentError as error:
                if "the same rows were added to" not in str(error):
                    raise
                continue
            runs, judgments = all_runs, grown
            assert collection.scales == judgments.scales
            assert collection.sources == (judgments.sources or tuple(range(len(judgments.assessors))))
            opened = open_partitioned(f"{folder}/c")
            assert equal(qrowd.evaluate(opened.runs, opened.judgments, measures, conventions=options), whole)


def test_results_of_parts_without_new_judgments_are_kept(demo, tmp_path):
    runs, judgments = demo
    collection = write_partitioned(tmp_path / "c", runs, judgments, n_parts=6)
    options = {"measures": ["AP"], "results": tmp_path / "results"}
    qrowd.evaluate(collection.runs, collection.judgments, **options)
    kept = set((tmp_path / "results").iterdir())
    added = Judgments.from_rows([(judgments.topics[0], "another document", judgments.assessors[0], 1)])
    grown = write_added(collection.folder, judgments=added)
    changed = [one.name for one, other in zip(grown.parts, collection.parts, strict=True) if one != other]
    assert changed == [grown.parts[grown.part_of[judgments.topics[0]]].name]
    scores = qrowd.evaluate(grown.runs, grown.judgments, **options)
    assert len(set((tmp_path / "results").iterdir()) - kept) == 1
    assert equal(scores, qrowd.evaluate(runs, concatenate_judgments([judgments, added]), ["AP"]))


def test_a_new_assessor_leaves_the_results_of_other_parts(demo, tmp_path):
    runs, judgments = demo
    collection = write_partitioned(tmp_path / "c", runs, judgments, n_parts=6)
    options = {"measures": ["AP", "R(recall_base=union)@5"], "results": tmp_path / "results"}
    qrowd.evaluate(collection.runs, collection.judgments, **options)
    kept = set((tmp_path / "results").iterdir())
    crowd = Judgments.from_rows([(judgments.topics[0], d, "new assessor", 1) for d in judgments.documents[:9]])
    grown = write_added(collection.folder, judgments=crowd)
    scores = qrowd.evaluate(grown.runs, grown.judgments, **options)
    assert len(set((tmp_path / "results").iterdir()) - kept) == 1
    whole = concatenate_judgments([judgments, crowd])
    assert equal(scores, qrowd.evaluate(runs, whole, options["measures"]))


def test_what_is_not_finished_leaves_the_old_collection(demo, tmp_path):
    runs, judgments = demo
    collection = write_partitioned(tmp_path / "c", runs, judgments, n_parts=3)
    before = sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*"))
    with PartitionExtender(collection) as extender:
        extender.add_judgments(judgments)
    assert sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*")) == before
    assert open_partitioned(tmp_path / "c").to_json() == collection.to_json()


def test_files_without_a_survey_that_names_them_are_not_read(demo, tmp_path, monkeypatch):
    """As after a crash between the last file and the survey."""
    runs, judgments = demo
    collection = write_partitioned(tmp_path / "c", runs, judgments, n_parts=3)
    added = Judgments.from_rows([(topic, "d", "new", 1) for topic in judgments.topics])
    survey, new_survey = tmp_path / "c" / "survey.json", tmp_path / "c" / "surveys" / "1.json"
    before = survey.read_bytes()
    grown = write_added(collection.folder, judgments=added)
    written = new_survey.read_bytes()
    survey.write_bytes(before)
    new_survey.unlink()
    assert equal(qrowd.evaluate(collection.runs, collection.judgments, "AP"), qrowd.evaluate(runs, judgments, "AP"))
    assert write_added(collection.folder, judgments=added).to_json() == grown.to_json()
    assert new_survey.read_bytes() == written


def test_two_additions_at_once_are_not_lost(demo, tmp_path):
    runs, judgments = demo
    collection = write_partitioned(tmp_path / "c", runs, judgments, n_parts=3)
    with PartitionExtender(collection) as extender:
        extender.add_judgments(Judgments.from_rows([("q01", "d", "new", 1)]))
        write_added(collection.folder, judgments=Judgments.from_rows([("q01", "e", "new", 1)]))
        with pytest.raises(FileError, match="was changed by another process meanwhile; nothing was added, try again"):
            extender.finish()
    write_added(collection.folder, judgments=Judgments.from_rows([("q01", "f", "new", 1)]))
    assert len(open_partitioned(tmp_path / "c").judgments) == len(judgments) + 2


def test_what_was_added_before_is_refused(demo, tmp_path):
    runs, judgments = demo
    collection = write_partitioned(tmp_path / "c", runs.select(systems=[*runs.systems[1:]]), judgments, n_parts=3)
    added = Judgments.from_rows([("q01", "d", "new", 1)])
    write_added(collection.folder, judgments=added)
    with pytest.raises(ArgumentError, match=r"judgments: the same rows were added to .* before; nothing was added"):
        write_added(collection.folder, judgments=added)
    write_added(collection.folder, runs=runs.select(systems=runs.systems[0]))
    with pytest.raises(ArgumentError, match=f"runs: system {runs.systems[0]} and topic q01 are in .* already"):
        write_added(collection.folder, runs=runs.select(systems=runs.systems[0]))
    with pytest.raises(ArgumentError, match="runs, judgments: there are none to add"):
        write_added(collection.folder)
    with pytest.raises(FileError, match="was changed after it was opened; open it again"):
        qrowd.evaluate(collection.runs, collection.judgments, "AP")


@pytest.fixture(scope="module")
def files(demo, tmp_path_factory):
    """Runs and judgments as files, of which the later half comes in later."""
    runs, judgments = demo
    root = tmp_path_factory.mktemp("files")
    for name in ("runs", "judges", "later-runs", "later-judges"):
        (root / name).mkdir()
    for i, system in enumerate(runs.systems):
        folder = "later-runs" if i % 3 == 0 else "runs"
        (root / folder / f"{system}.run").write_text(format_run(runs.select(systems=[system]), system))
    for name in judgments.assessors:
        own = judgments.select(assessors=[name])
        for folder, topics in (("judges", own.topics[:12]), ("later-judges", own.topics[12:])):
            (root / folder / f"{name}.qrels").write_text(format_qrels(own.select(topics=list(topics))))
    return root


def test_files_that_are_added_give_the_collection_of_all_files(files, tmp_path):
    collection = qrowd.partition(str(files / "runs"), str(files / "judges"), tmp_path / "c", n_parts=5)
    progress = []
    grown = qrowd.extend_partitioned(
        tmp_path / "c",
        runs=str(files / "later-runs"),
        judgments=str(files / "later-judges"),
        progress=lambda *counts: progress.append(counts),
    )
    assert progress[-1][0] == progress[-1][1]
    assert len(grown.systems) == 12
    assert collection.systems == grown.systems[: len(collection.systems)]
    whole = qrowd.evaluate(
        qrowd.read_runs([*map(str, (files / "runs").iterdir()), *map(str, (files / "later-runs").iterdir())]),
        concatenate_judgments([qrowd.read_judgments(str(files / name)) for name in ("judges", "later-judges")]),
        ["nDCG@10", "AP"],
    )
    scores = qrowd.evaluate(grown.runs, grown.judgments, ["nDCG@10", "AP"])
    assert equal(scores.sel(system=whole.systems), whole)


def test_a_mistake_in_an_added_file_leaves_the_old_collection(files, tmp_path):
    collection = qrowd.partition(str(files / "runs"), str(files / "judges"), tmp_path / "c", n_parts=5)
    (tmp_path / "bad.qrels").write_text("q01 0 d1 1\nq01 0 d2 many\n")
    with pytest.raises(FileError, match=r"bad\.qrels, line 2"):
        qrowd.extend_partitioned(
            tmp_path / "c", judgments=[str(files / "later-judges" / "ann.qrels"), str(tmp_path / "bad.qrels")]
        )
    assert open_partitioned(tmp_path / "c").to_json() == collection.to_json()
    assert {path.name for path in (tmp_path / "c").iterdir()} == {"runs", "judgments", "survey.json"}
    with pytest.raises(ArgumentError, match="runs, judgments: there are none to add"):
        qrowd.extend_partitioned(tmp_path / "c")
    with pytest.raises(FileError, match=r"holds no survey\.json"):
        qrowd.extend_partitioned(tmp_path, judgments=str(files / "judges"))


@pytest.mark.parametrize("change", ["an addition", "compacting"])
def test_scores_of_a_collection_that_is_changed_meanwhile_are_refused_unless_its_rows_stay(tmp_path, change):
    runs, judgments, _ = simulate_demo()
    collection = write_partitioned(tmp_path / "c", runs, judgments, n_parts=3)
    write_added(tmp_path / "c", judgments=Judgments.from_rows([(judgments.topics[0], "new", "ann", 1.0)]))
    collection = open_partitioned(tmp_path / "c")
    of_all = qrowd.evaluate(collection.runs, collection.judgments, "nDCG@10")

    class ChangesAfterTheFirst(ThreadPoolExecutor):
        n = 0

        def submit(self, work, /, *args, **kwargs):
            future = super().submit(work, *args, **kwargs)
            future.exception()
            if self.n == 0 and change == "an addition":
                write_added(tmp_path / "c", judgments=Judgments.from_rows([(judgments.topics[0], "x", "bob", 1.0)]))
            elif self.n == 0:
                compact_partitioned(tmp_path / "c")
            self.n += 1
            return future

    with ChangesAfterTheFirst(1) as executor:
        if change == "compacting":
            scores = qrowd.evaluate(collection.runs, collection.judgments, "nDCG@10", executor=executor)
            assert equal(scores, of_all)
        else:
            with pytest.raises(FileError, match="was changed while it was evaluated; evaluate it again"):
                qrowd.evaluate(collection.runs, collection.judgments, "nDCG@10", executor=executor)
