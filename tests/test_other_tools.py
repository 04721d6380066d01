"""The recipes of docs/other_tools.md for MLflow, Weights & Biases and Hugging Face datasets, run as printed."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from qrowd.simulation.demo_panel import simulate_demo

PAGE = (Path(__file__).resolve().parents[1] / "docs" / "other_tools.md").read_text(encoding="utf-8")


def recipe(heading):
    """The code under a heading."""
    return re.search(r"```py\n(.*?)```", PAGE.split(f"\n## {heading}\n")[1], re.DOTALL)[1]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with runs of three systems, and the files of three assessors."""
    monkeypatch.chdir(tmp_path)
    runs, judgments, _ = simulate_demo()
    judgments = judgments.select(topics=list(judgments.topics[:5]), assessors=list(judgments.assessors[:3]))
    for place, frame, key, columns in (
        ("runs", runs.to_frame(), "system", ("topic", "0", "document", "rank", "score", "system")),
        ("judges", judgments.to_frame(), "assessor", ("topic", "0", "document", "value")),
    ):
        Path(place).mkdir()
        frame = frame.assign(**{"0": 0, "rank": 1, "value": frame.get("value", pd.Series(0)).astype("Int64")})
        for name, part in list(frame.groupby(key))[:3]:
            part[list(columns)].to_csv(f"{place}/{name}.txt", sep=" ", header=False, index=False)
    return tmp_path


@pytest.fixture
def names(folder):
    """What the first recipe computes before it calls MLflow."""
    content: dict[str, object] = {}
    exec(recipe("MLflow").split("mlflow.set_experiment")[0].replace("import mlflow\n", ""), content)
    return content


def test_mlflow_keeps_the_scores_the_conventions_and_the_report(folder, monkeypatch):
    monkeypatch.setenv("MLFLOW_TRACKING_URI", (folder / "store").as_uri())
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
    import mlflow

    content: dict[str, object] = {}
    exec(recipe("MLflow"), content)
    scores = content["scores"]
    logged = mlflow.search_runs(experiment_names=["rankers"]).set_index("tags.mlflow.runName")
    assert set(logged.index) == set(scores.systems)
    for s, system in enumerate(scores.systems):
        means = np.nanmean(scores.of("nDCG@10")[:, :, s], axis=1)
        row = logged.loc[system]
        assert row["metrics.nDCG_10"] == pytest.approx(means.mean())
        assert row["metrics.nDCG_10 lowest assessor"] == pytest.approx(means.min())
        assert row["params.missing"] == "zero"
        artifacts = mlflow.artifacts.download_artifacts(run_id=row["run_id"], dst_path=str(folder / system))
        assert "<html" in (Path(artifacts) / "report.html").read_text()
    table = mlflow.load_table("scores.json", run_ids=[logged.loc[scores.systems[1], "run_id"]])
    values = scores.sel(system=scores.systems[1]).values.ravel()
    np.testing.assert_allclose(table["score"], values, atol=1e-10)  # MLflow keeps ten decimals


def test_judgments_come_back_from_a_hugging_face_data_set(names):
    exec(recipe("Hugging Face datasets"), names)
    pd.testing.assert_frame_equal(names["again"].to_frame(), names["judgments"].to_frame())
    assert len(pd.read_parquet("scores.parquet")) == names["scores"].values.size
