"""Results as text and HTML: every public result has both, and nothing in a label can break them."""

import dataclasses
import importlib
import inspect
import pkgutil
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import qrowd.reports
import qrowd_server.campaigns
from qrowd import agreement, comparison, preferences, simulation
from qrowd.aware import similarity_to_random
from qrowd.display import N_ROWS, Display, Displayed, Rows, short_repr
from qrowd.model.judgments import Judgments
from qrowd.model.result import Result
from qrowd.model.runs import Runs
from qrowd.model.scores import Scores
from qrowd.reports.document import Reported
from test_signatures import NO_ROWS, ROOMS

EVIL = "<script>alert(1)</script>"


def public_classes():
    for room in ("qrowd", *(f"qrowd.{name}" for name in ROOMS)):
        module = importlib.import_module(room)
        for name in getattr(module, "__all__", dir(module)):
            thing = getattr(module, name)
            if inspect.isclass(thing) and thing.__module__.startswith("qrowd"):
                yield thing


RESULTS = sorted({one for one in public_classes() if hasattr(one, "to_frame")}, key=lambda one: one.__qualname__)


def descendants(kind):
    for one in kind.__subclasses__():
        yield one
        yield from descendants(one)


@pytest.mark.parametrize("kind", RESULTS, ids=lambda kind: kind.__name__)
def test_a_public_result_has_a_sentence_and_a_table_for_terminals_and_notebooks(kind):
    assert kind.__name__ not in NO_ROWS
    assert issubclass(kind, Displayed)
    assert kind._display is not Displayed._display
    assert kind.__str__ is not object.__str__
    assert inspect.getdoc(kind)
    assert dataclasses.is_dataclass(kind) or kind.__repr__ is not object.__repr__


def test_the_repr_of_a_result_is_never_the_one_that_dataclasses_make_of_its_arrays():
    for package in (qrowd.reports, qrowd_server.campaigns):
        for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
            importlib.import_module(module.name)
    others = [one for one in descendants(Result) if one.__repr__ not in (Displayed.__repr__, Reported.__repr__)]
    assert others == []


class Parsed(HTMLParser):
    """The tags, attributes and texts of a piece of HTML; a tag that is not closed is a mistake."""

    def __init__(self, html):
        super().__init__()
        self.open, self.attributes, self.cells, self.texts = [], [], [], []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.attributes.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)
        if self.open and self.open[-1] in ("td", "th"):
            self.cells.append(data)

    def named(self, tag):
        return [attributes for name, attributes in self.attributes if name == tag]


@pytest.fixture(scope="module")
def collection():
    """Runs, judgments and scores with names that are HTML."""
    runs, judgments, _ = simulation.simulate_demo()
    systems = (f"{EVIL}{name}" if i == 11 else name for i, name in enumerate(runs.systems))
    assessors = (f'a"&{name}' for name in judgments.assessors)
    runs = dataclasses.replace(runs, systems=tuple(systems))
    judgments = dataclasses.replace(judgments, assessors=tuple(assessors))
    return runs, judgments, qrowd.evaluate(runs, judgments, ["nDCG@10", "AP"])


MAKERS = {  # each takes runs, judgments, all scores, and those of AP
    "judgments": lambda runs, judgments, scores, ap: judgments,
    "runs": lambda runs, judgments, scores, ap: runs,
    "scores": lambda runs, judgments, scores, ap: scores,
    "preferences": lambda runs, judgments, scores, ap: preferences.from_grades(judgments.select(assessors=['a"&ann'])),
    "summary": lambda runs, judgments, scores, ap: qrowd.summarise(scores),
    "comparison": lambda runs, judgments, scores, ap: qrowd.compare(runs, judgments, n_resamples=100, rng=1),
    "plan": lambda runs, judgments, scores, ap: qrowd.plan(runs, judgments),
    "alpha": lambda runs, judgments, scores, ap: agreement.krippendorff_alpha(judgments).item(),
    "alphas": lambda runs, judgments, scores, ap: agreement.krippendorff_alpha(judgments, by="topic"),
    "kappa": lambda runs, judgments, scores, ap: agreement.cohen_kappa(judgments, *judgments.assessors[:2]),
    "pairs": lambda runs, judgments, scores, ap: agreement.pairwise_agreement(judgments),
    "profiles": lambda runs, judgments, scores, ap: agreement.assessor_profiles(judgments),
    "ranking": lambda runs, judgments, scores, ap: comparison.rank_systems(ap),
    "ranks": lambda runs, judgments, scores, ap: comparison.rank_intervals(ap, n_resamples=100, rng=1),
    "top set": lambda runs, judgments, scores, ap: comparison.top_set(ap.panel_mean()),
    "intervals": lambda runs, judgments, scores, ap: comparison.system_intervals(ap),
    "differences": lambda runs, judgments, scores, ap: comparison.all_differences(ap),
    "correlations": lambda runs, judgments, scores, ap: comparison.correlations(ap),
    "mean ranks": lambda runs, judgments, scores, ap: comparison.mean_ranks(ap),
    "components": lambda runs, judgments, scores, ap: comparison.variance_components(ap),
    "similarities": lambda runs, judgments, scores, ap: similarity_to_random(
        runs, judgments, "AP", n_resamples=9, rng=1
    ),
}


@pytest.mark.parametrize("name", MAKERS)
def test_a_result_is_a_sentence_and_tables_with_headers_and_a_caption_and_no_label_is_markup(
    collection, name, monkeypatch
):
    monkeypatch.setattr("qrowd.comparison.power.NODES", (3, 3, 2))  # rough chances, which are soon there
    runs, judgments, scores = collection
    result = MAKERS[name](runs, judgments, scores, scores.sel(measure="AP"))
    html = result._repr_html_()
    parsed = Parsed(html)
    assert len(parsed.named("table")) == len(parsed.named("caption")) >= 1
    assert all(header.get("scope") in ("col", "row") for header in parsed.named("th"))
    assert not parsed.named("script")
    assert not re.search(r"https?:|src=|@import|url\(", html)
    assert len(html) < 30_000
    sentence, _, rest = str(result).partition("\n")
    assert sentence[-1] in ".:"
    assert rest.strip()
    assert "\n" not in repr(result)
    assert len(repr(result)) < 2500


def test_a_name_that_is_markup_is_shown_as_it_stands(collection):
    _, judgments, scores = collection
    assert any(EVIL in text for text in Parsed(comparison.rank_systems(scores.sel(measure="AP"))._repr_html_()).texts)
    assert any('a"&ann' in text for text in Parsed(judgments._repr_html_()).texts)


def test_empty_data_are_shown_too():
    assert str(Judgments.from_rows([])).startswith("0 judgments: 0 topics, 0 documents, 0 assessors.")
    assert str(Runs.from_dict({})).startswith("0 systems")
    assert str(Scores.from_array(np.full((2, 2), np.nan))).startswith("score: 2 systems, 2 topics, 1 assessor.\n")
    one = Scores.from_array([[0.5, 0.2]], measure="Mean", systems=("A", "B"))
    assert str(one).startswith("Mean: 2 systems, 1 topic, 1 assessor.\n")
    for empty in (Judgments.from_rows([]), Runs.from_dict({}), Scores.from_array(np.full((2, 2), np.nan))):
        Parsed(empty._repr_html_())


def test_negative_values_are_documents_without_judgment():
    shown = str(Judgments.from_rows([("q", "d", "ann", -1), ("q", "e", "ann", 2), ("q", "f", "ann", 1)]))
    assert re.search(r"ann +2 +1", shown)


words = st.text(st.characters(codec="utf-8", exclude_categories=["C"]), max_size=12)
cells = st.one_of(words, st.floats(), st.integers())
names = st.text("abc<&\"'", min_size=1, max_size=5)
tables = st.integers(0, 25).flatmap(
    lambda n: st.dictionaries(names, st.lists(cells, min_size=n, max_size=n), min_size=1)
)


@given(tables)
def test_a_table_shows_its_first_rows_and_counts_the_others(columns):
    table = Rows.of("rows", columns)
    parsed = Parsed(Display("A sentence.", (table,)).html())
    n_rows = len(next(iter(columns.values())))
    assert len(parsed.named("tr")) == 1 + min(n_rows, N_ROWS)
    assert ("more row" in "".join(parsed.texts[-1:])) == (n_rows > N_ROWS)
    assert len(table.cells()) == min(n_rows, N_ROWS)
    text = Display("A sentence.", (table,)).text().split("\n")
    assert text[0] == "A sentence."


def test_a_repr_names_small_values_and_sizes_of_large_ones():
    assert short_repr(("a", 1.5, None)) == "('a', 1.5, None)"
    assert short_repr(np.float64(0.5)) == "0.5"
    assert short_repr({"a": (1,)}) == "{'a': (1,)}"
    assert short_repr(dict.fromkeys(range(9))) == "{9 entries}"
    assert short_repr(list(range(9))) == "(0, ..., 8: 9)"
