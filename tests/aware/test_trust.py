"""Which estimators follow accuracy, and who fools them: what docs/aware.md says is what is measured."""

import csv
import importlib.util
import re
import sys
from pathlib import Path

import numpy as np
import pytest

from qrowd.aware import NAMES
from qrowd.aware.estimators import DEFAULT

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "aware.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def trust():
    spec = importlib.util.spec_from_file_location("aware_trust", ROOT / "docs" / "aware_trust.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["aware_trust"] = module  # dataclasses look themselves up there
    spec.loader.exec_module(module)
    yield module
    del sys.modules["aware_trust"]


@pytest.fixture(scope="module")
def uneven(trust):
    return trust.draws(trust.uneven, trust.HONEST, n_draws=5, n=50)


@pytest.fixture(scope="module")
def judged(trust):
    return trust.draws(trust.judged, trust.HONEST, n_draws=5, n=50)


@pytest.fixture(scope="module")
def trouble(trust):
    return trust.draws(trust.uneven, trust.HONEST | trust.TROUBLE, n_draws=3, n=40)


def follows(draws, name, polarity="dissimilarity"):
    return np.mean([draw.follows_accuracy(name, polarity) for draw in draws])


def outweighed(trust, draws, name):
    shares = np.mean([draw.outweighed(name, "dissimilarity") for draw in draws], axis=0)
    return dict(zip(trust.TROUBLE, shares, strict=True))


@pytest.mark.parametrize("name", [name for name in NAMES if "kld" not in name])
def test_where_systems_differ_in_what_is_judged_weights_follow_accuracy_at_9_tenths(uneven, name):
    assert follows(uneven, name) >= 0.9
    assert follows(uneven, name, "printed") <= -0.9


@pytest.mark.nightly
def test_where_everything_retrieved_is_judged_rank_gaps_turn_round_and_gaps_of_scores_do_not(judged):
    for name in NAMES:
        if "tau" in name or "apc" in name:
            assert follows(judged, name) < -0.5, name
        else:
            assert follows(judged, name) > 0.75, name
    for name in ("sgl_fro_med", "sgl_rmse_med", "tpc_fro_med"):
        assert follows(judged, name) > 0.95


@pytest.mark.nightly
def test_the_lazy_fool_every_estimator_and_those_who_call_everything_relevant_only_a_few(trust, trouble):
    for name in NAMES:
        fooled = outweighed(trust, trouble, name)
        assert fooled["lazy"] > 0.5, name
        with_values = any(gap in name for gap in ("fro", "rmse", "kld"))
        assert fooled["all relevant"] > 0.5 if with_values and name.endswith("med") else fooled["all relevant"] < 0.2


def test_where_errors_are_random_the_default_ranks_better_than_equal_weights_and_than_the_printed_polarity(trouble):
    def tau(name, polarity="dissimilarity"):
        return np.mean([draw.result(name, polarity)[0] for draw in trouble])

    assert tau(DEFAULT) > tau("uniform") + 0.03
    assert tau(DEFAULT) > tau(DEFAULT, "printed") + 0.03
    assert tau("sgl_rmse_msd") > tau("uniform") + 0.05


def rows_of(name):
    with (ROOT / "docs" / "aware" / f"{name}.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


@pytest.mark.parametrize("table", ["accuracy", "trouble"])
def test_the_tables_beside_the_page_hold_every_estimator(table):
    assert [name for row in rows_of(table) for name in re.findall(r"(?:sgl|tpc)_\w+", row[0])] == list(NAMES)


@pytest.mark.nightly
def test_the_table_of_accuracy_beside_the_page_holds_what_is_computed(trust):
    draws = trust.draws(trust.uneven, trust.HONEST)
    for names, cell, *_ in rows_of("accuracy")[1:]:
        name = names.partition(",")[0]
        usual, lowest, printed = re.findall(r"-?(?:1\.00|\.\d\d)", cell)
        found = [draw.follows_accuracy(name, "dissimilarity") for draw in draws]
        assert (float(usual), float(lowest)) == pytest.approx((np.mean(found), min(found)), abs=0.0051), name
        assert float(printed) == pytest.approx(follows(draws, name, "printed"), abs=0.0051), name


def test_the_page_shows_some_rows_of_the_table_beside_it(trust):
    table = trust.as_markdown(rows_of("accuracy"))
    assert trust.with_tables(PAGE, {"accuracy": table}) == PAGE
    assert table in PAGE
    assert set(trust.SHOWN) <= set(re.findall(r"`((?:sgl|tpc)_\w+)`", table))


def test_tables_are_put_between_their_marks(trust):
    page = "a\n<!--table one-->\n\nold\n\n<!--end of table one-->\nb"
    assert trust.with_tables(page, {"one": r"new \1"}) == page.replace("old", r"new \1")
    assert trust.with_tables(page, {"two": "new"}) == page
