"""Scores as Parquet files: any tool reads them, and they come back as they were, bit by bit."""

from tempfile import TemporaryDirectory

import numpy as np
import pandas
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import qrowd
from drawn_conventions import MEASURES, conventions
from equal_scores import equal
from qrowd.errors import ArgumentError, FileError
from qrowd.model.scores import Scores
from qrowd.partitions import open_scores, write_scores
from qrowd.simulation import simulate_demo
from strategies import BOUNDED, worlds


@pytest.fixture(scope="module")
def scores():
    runs, judgments, _ = simulate_demo()
    return qrowd.evaluate(runs, judgments, ["nDCG@10", "AP"])


@settings(max_examples=20)
@given(data=st.data())
def test_scores_come_back_as_they_were(data):
    world = data.draw(worlds(scales=BOUNDED, n_topics=4, n_systems=3, repeats=True))
    measures = data.draw(st.lists(st.sampled_from(MEASURES), min_size=1, max_size=3, unique=True))
    scores = qrowd.evaluate(world.runs, world.judgments, measures, conventions=data.draw(conventions(measures)))
    with TemporaryDirectory() as folder:
        write_scores(f"{folder}/s", scores, rows_per_file=data.draw(st.sampled_from([1, 10, 1000])))
        assert equal(open_scores(f"{folder}/s"), scores)


def test_magnitudes_and_scores_from_arrays_come_back(tmp_path):
    judgments = {"ann": {"t": {"a": 0.3, "b": 120.0}}}
    with_scale = qrowd.evaluate({"s": {"t": {"a": 1.0}}}, judgments, "P(rel=1)@1")
    write_scores(tmp_path / "magnitude", with_scale)
    assert equal(open_scores(tmp_path / "magnitude"), with_scale)
    plain = Scores.from_array([[0.1, np.nan], [np.inf, -0.0]])
    write_scores(tmp_path / "plain", plain)
    assert equal(open_scores(tmp_path / "plain"), plain)
    assert np.signbit(open_scores(tmp_path / "plain").values[0, 0, 1, 1])


def test_other_tools_read_a_row_for_each_score(scores, tmp_path):
    write_scores(tmp_path / "s", scores, rows_per_file=scores.values.size // 5)
    files = sorted((tmp_path / "s" / "scores").iterdir())
    assert len(files) == 5
    frame = pandas.concat(map(pandas.read_parquet, files))
    assert list(frame.columns) == ["measure", "assessor", "topic", "system", "score"]
    names = ["measure", "assessor", "topic", "system"]
    whole = scores.to_frame().astype(dict.fromkeys(names, str)).sort_values(names, ignore_index=True)
    read = frame.astype(dict.fromkeys(names, str)).sort_values(names, ignore_index=True)
    pandas.testing.assert_frame_equal(read, whole)


def test_a_folder_that_exists_or_is_not_complete_is_refused(scores, tmp_path):
    write_scores(tmp_path / "s", scores, rows_per_file=1)
    with pytest.raises(FileError, match="exists already; name another folder"):
        write_scores(tmp_path / "s", scores)
    with pytest.raises(FileError, match=r"holds no scores\.json"):
        open_scores(tmp_path)
    with pytest.raises(ArgumentError, match="an attribute is object, which cannot be written"):
        write_scores(tmp_path / "t", Scores.from_xarray(scores.to_xarray().assign_attrs(odd=object())))
    assert [path.name for path in tmp_path.iterdir()] == ["s"]
    (tmp_path / "s" / "scores" / "part-00003.parquet").unlink()
    with pytest.raises(FileError, match="a file is missing; write the scores again"):
        open_scores(tmp_path / "s")
    (tmp_path / "s" / "scores" / "part-00004.parquet").write_bytes(b"PAR1")
    with pytest.raises(FileError, match=r"part-00004\.parquet: cannot be read"):
        open_scores(tmp_path / "s")
