"""`--normalise`: magnitudes of several assessors are brought onto one scale, or the output says that they were not."""

import shutil

import pandas as pd
import pytest

import qrowd as library
from qrowd import trec
from qrowd.comparison.rankings import kendall_tau_b
from qrowd.magnitude import normalise
from qrowd.simulation import simulate_magnitudes, simulate_pool, simulate_runs
from qrowd_papers.magnitude.order_agreement import order_agreement

NEXT_STEP = "to bring them onto one scale: --normalise geometric-mean"
TRUTH = simulate_pool(25, 40, rng=1)
RUNS = simulate_runs(TRUTH, 40, rng=1)


@pytest.fixture(scope="module")
def crowd():
    return simulate_magnitudes(TRUTH, 200, rng=1)


@pytest.fixture(scope="module")
def files(crowd, tmp_path_factory):
    """The crowd's magnitudes and four runs, as files."""
    folder = tmp_path_factory.mktemp("files")
    crowd.to_frame().to_csv(folder / "mine.csv", index=False)
    (folder / "runs").mkdir()
    for system in RUNS.systems[:4]:
        (folder / "runs" / f"{system}.run").write_text(trec.format_run(RUNS, system))
    return folder


@pytest.fixture
def magnitudes(files, tmp_path):
    """Those files in the folder where commands run."""
    shutil.copytree(files, tmp_path, dirs_exist_ok=True)
    return ["--judgments", tmp_path / "mine.csv"]


@pytest.fixture
def few(magnitudes, crowd, tmp_path):
    """The magnitudes of three topics, beside the same runs."""
    crowd.select(topics=crowd.topics[:3]).to_frame().to_csv(tmp_path / "few.csv", index=False)
    return ["--judgments", "few.csv"]


def merged(qrowd, magnitudes, *arguments):
    assert qrowd("aggregate", *magnitudes, "--method", "geometric-mean", *arguments, "-o", "merged.csv").status == 0
    return library.Judgments.from_frame(pd.read_csv("merged.csv")[["topic", "document", "value"]], assessor="merged")


@pytest.mark.nightly
def test_normalising_raises_agreement_with_gold_and_with_the_true_ranking(qrowd, magnitudes):
    """The audit's figures on a simulated panel: agreement .964 to .987, tau .909 to .939."""
    gold = TRUTH.judgments()
    true = library.evaluate(RUNS, gold, "nDCG@10").values[0, 0].mean(axis=0)
    agreement, tau = [], []
    for arguments in ((), ("--normalise", "geometric-mean")):
        one = merged(qrowd, magnitudes, *arguments)
        agreement.append(order_agreement(one, gold, by=None).value.item())
        tau.append(kendall_tau_b(library.evaluate(RUNS, one, "nDCG@10").values[0, 0].mean(axis=0), true))
    assert agreement == pytest.approx([0.954, 0.977], abs=0.001)
    assert tau == pytest.approx([0.897, 0.915], abs=0.001)


@pytest.mark.parametrize(
    "scheme", ["geometric-mean", *(pytest.param(one, marks=pytest.mark.nightly) for one in ("median", "extremes"))]
)
def test_the_option_does_what_the_library_does(qrowd, magnitudes, crowd, scheme):
    from qrowd.aggregation import geometric_mean

    one = merged(qrowd, magnitudes, "--normalise", scheme)
    expected = geometric_mean(normalise(crowd, scheme=scheme.replace("-", "_"))).judgments
    assert sorted(one.value) == pytest.approx(sorted(expected.value))


@pytest.mark.usefixtures("coarse")
@pytest.mark.parametrize("command", [
    ("aggregate", "--method", "mean"),
    ("agree", "--n-resamples", 0),
    ("assessors",),
    ("evaluate", "--runs", "runs", "-m", "nDCG@10"),
    *(pytest.param(command, marks=pytest.mark.nightly) for command in (
        ("aggregate", "--method", "median"),
        ("aggregate", "--method", "geometric-mean"),
        ("evaluate", "--runs", "runs", "-m", "nDCG@10", "--method", "median"),
        ("plan", "--runs", "runs", "-m", "nDCG@10"),
    )),
    ("compare", "--runs", "runs", "-m", "nDCG@10"),
    ("plot", "alpha", "--n-resamples", 10),
], ids=lambda command: " ".join(map(str, command[:1] + command[-1:])))  # fmt: skip
def test_magnitudes_of_several_assessors_are_normalised_or_the_output_names_the_next_step(qrowd, few, command):
    raw = qrowd(*command, *few)
    assert raw.status == 0
    assert NEXT_STEP in raw.out
    normalised = qrowd(*command, *few, "--normalise", "median")
    assert normalised.status == 0
    assert NEXT_STEP not in normalised.out
    assert "magnitude normalised by median" in normalised.out


@pytest.mark.parametrize("command", [
    ("evaluate",), ("evaluate", "--method", "geometric-mean"), ("table",), ("compare",),
], ids=" ".join)  # fmt: skip
def test_of_magnitudes_the_default_measure_is_ndcg_alone_and_the_output_says_so(qrowd, few, command, tmp_path):
    asked = qrowd(*command, "--runs", "runs", *few, "-o", "default.csv")
    assert asked.status == 0
    assert "magnitudes do not say what is relevant, so nDCG@10 is the default; others: -m 'AP(rel=100)'" in asked.out
    assert qrowd(*command, "--runs", "runs", *few, "-m", "nDCG@10", "-o", "named.csv").status == 0
    assert (tmp_path / "default.csv").read_text() == (tmp_path / "named.csv").read_text()
    assert qrowd(*command, "--runs", "runs", *few, "-m", "AP(rel=100)").status == 0


def test_one_assessor_s_magnitudes_need_no_normalisation(qrowd, tmp_path):
    rows = [(f"q{t}", f"d{d}", 10.5 * (d + 1) + t) for t in range(3) for d in range(5)]
    pd.DataFrame(rows, columns=["topic", "document", "value"]).to_csv(tmp_path / "ann.csv", index=False)
    outcome = qrowd("aggregate", "--judgments", "ann.csv", "--method", "mean")
    assert outcome.status == 0
    assert "--normalise" not in outcome.out


def test_normalised_magnitudes_of_a_file_are_declared_by_their_scale(qrowd, magnitudes):
    outcome = qrowd("aggregate", *magnitudes, "--method", "mean", "--scale", "*=magnitude normalised")
    assert outcome.status == 0
    assert NEXT_STEP not in outcome.out


def test_files_of_normalised_magnitudes_say_so(qrowd, magnitudes):
    outcome = qrowd("magnitude", *magnitudes, "-o", "normalised.csv")
    assert outcome.status == 0, outcome.err
    outcome = qrowd("aggregate", "--judgments", "normalised.csv", "--method", "mean")
    assert outcome.status == 0, outcome.err
    assert "magnitude normalised by geometric-mean" in outcome.out
    assert NEXT_STEP not in outcome.out


def test_assessors_on_other_scales_stay_as_they_are(qrowd, magnitudes, tmp_path):
    TRUTH.judgments().to_frame().to_csv(tmp_path / "gold.csv", index=False)
    arguments = ("--runs", "runs", "-m", "AP(rel=1)", "-o", "scores.csv", "--normalise", "geometric-mean")
    outcome = qrowd("evaluate", *magnitudes, "gold.csv", *arguments)
    assert outcome.status == 0
    scores = pd.read_csv("scores.csv")
    expected = library.evaluate(library.read_runs(tmp_path / "runs"), TRUTH.judgments(), "AP(rel=1)")
    gold = scores[scores["assessor"] == "gold"]["score"].mean()
    assert gold == pytest.approx(expected.values.mean())


@pytest.mark.parametrize(("arguments", "expected"), [
    (("--normalise", "means"), "'means'"),
    (("--normalise", "checks"), "it needs check documents; write normalised judgments with qrowd magnitude"),
    (("--normalise", "median", "--scale", "*=0..20000"), "no assessor's scale is magnitude"),
])  # fmt: skip
def test_a_mistake_is_one_line_and_exit_status_2(qrowd, magnitudes, arguments, expected):
    outcome = qrowd("aggregate", *magnitudes, "--method", "mean", *arguments)
    assert outcome.status == 2
    assert expected in outcome.err
    assert outcome.err.count("\n") == 1
