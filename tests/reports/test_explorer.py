"""The explorer's page holds what `evaluate` computes, number for number, and nothing in it can do harm."""

import gzip
import json
import re
from base64 import b64decode
from dataclasses import replace
from html.parser import HTMLParser
from math import isnan

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import qrowd
from conftest import data as folder_of
from qrowd.aware.averages import weighted_average
from qrowd.errors import ArgumentError, FileError, MeasureError, NoOverlapError
from qrowd.model.scores import known_mean
from qrowd.reports.explorer import explore
from qrowd.reports.explorer_documents import top_documents
from qrowd.simulation import simulate_demo

MEASURES = ["nDCG@10", "AP", "P@10"]
METHODS = ["majority", "uniform", "sgl_rmse_md(n_resamples=20)", "tpc_tau_msd(n_resamples=20)", "mean", "dawid-skene"]
TYPES = {"f8": "<f8", "f4": "<f4", "i4": "<i4"}
HOSTILE = "</script><script>alert(1)</script><!-- <img src=x onerror=alert(2)> {{payload}} \u2028 \ud800 &amp;"


class Scripts(HTMLParser):
    """The texts of the script elements by id, as a browser finds them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.texts: dict[str, str] = {}
        self.tags: list[str] = []
        self.open: str | None = None
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag == "script":
            self.open = dict(attrs).get("id") or "script"
            self.texts[self.open] = ""

    def handle_data(self, data):
        if self.open is not None:
            self.texts[self.open] += data

    def handle_endtag(self, tag):
        self.open = None if tag == "script" else self.open


def decoded(page: str) -> tuple[dict, dict]:
    """The header and the arrays of a page, read by the description of the format alone."""
    texts = Scripts(page).texts
    header, content = json.loads(texts["header"]), gzip.decompress(b64decode(texts["payload"]))
    arrays, at = {}, 0
    for one in header["arrays"]:
        n = int(np.prod(one["shape"]))
        if one["dtype"] == "utf8":
            arrays[one["name"]] = json.loads(content[at : at + n])
            at += n
            continue
        size = np.dtype(TYPES[one["dtype"]]).itemsize
        planes = np.frombuffer(content[at : at + n * size], np.uint8).reshape(size, n)
        arrays[one["name"]] = planes.T.copy().view(TYPES[one["dtype"]]).reshape(one["shape"])
        at += n * size
    assert at == len(content)
    return header, arrays


def equal(first, second) -> bool:
    """Bit for bit, nan where the other is nan."""
    return np.array_equal(first, second, equal_nan=True)


@pytest.fixture(scope="module")
def demo():
    runs, judgments, _ = simulate_demo()
    return runs, judgments.with_scales(dict(zip(judgments.assessors, judgments.scales, strict=True)))


@pytest.fixture(scope="module")
def page(demo):
    return decoded(explore(*demo, MEASURES, rel=[1, 2], methods=METHODS, rng=3).to_html())


def test_the_scores_are_those_of_evaluate_bit_for_bit(demo, page):
    header, arrays = page
    names = [one["name"] for one in header["measures"]]
    assert names == ["nDCG@10", "AP(rel=1)", "AP(rel=2)", "P(rel=1)@10", "P(rel=2)@10"]
    scores = qrowd.evaluate(*demo, names)
    assert equal(arrays["scores"], scores.values)
    assert (tuple(header["systems"]), tuple(header["assessors"])) == (scores.systems, scores.assessors)
    assert tuple(topic["id"] for topic in header["topics"]) == scores.topics


def test_a_family_and_a_threshold_choose_a_measure(page):
    keys = [(one["family"], one["rel"]) for one in page[0]["measures"]]
    assert keys == [("nDCG@10", None), ("AP", 1), ("AP", 2), ("P@10", 1), ("P@10", 2)]


def test_a_threshold_that_is_written_stays_and_without_thresholds_measures_are_as_written(demo):
    header, _ = decoded(explore(*demo, ["AP", "AP(rel=3)"], rel=[2]).to_html())
    assert [(one["family"], one["rel"]) for one in header["measures"]] == [("AP", 2), ("AP", 3)]
    header, _ = decoded(explore(*demo, ["AP", "map", "RBP(p=0.9)"]).to_html())
    assert [one["name"] for one in header["measures"]] == ["AP", "RBP(p=0.9)"]
    assert [one["rel"] for one in header["measures"]] == [None, None]


def test_merged_scores_are_those_of_evaluate_methods_bit_for_bit(demo, page):
    header, arrays = page
    merged = [one for one in header["methods"] if one["kind"] == "merged"]
    assert [one["name"] for one in merged] == ["majority", "mean-of-judgments", "dawid-skene"]
    names = [one["name"] for one in header["measures"]]
    scores = qrowd.evaluate_methods(*demo, names, methods=["majority", "mean", "dawid-skene"], rng=3)
    for k in range(3):
        assert equal(arrays["merged"][k], scores.values[:, k])


def test_weighted_means_of_the_scores_are_those_of_evaluate_methods(demo, page):
    header, arrays = page
    names = [one["name"] for one in header["measures"]]
    weighted = [one["name"] for one in header["methods"] if one["kind"] == "weights"]
    assert weighted == ["uniform", "sgl_rmse_md(n_resamples=20)", "tpc_tau_msd(n_resamples=20)"]
    scores = qrowd.evaluate_methods(*demo, names, methods=weighted, rng=3)
    for w in range(3):
        weights = arrays["weights"][w]
        values = np.where(np.isnan(weights)[..., None], np.nan, arrays["scores"])
        np.testing.assert_allclose(weighted_average(values, weights), scores.values[:, w], rtol=0, atol=1e-15)


def test_where_weights_can_not_give_the_scores_of_a_method_the_scores_are_on_the_page():
    runs = {
        "a": {t: {"d1": 2, "d2": 1} for t in "tuv"}, "b": {t: {"d2": 2, "d1": 1} for t in "tu"},
        "c": {t: {"d3": 2, "d1": 1} for t in "tuv"},
    }  # fmt: skip
    judgments = {
        "ann": {t: {"d1": 1, "d2": 0} for t in "tuv"},
        "bob": {t: {"d1": 0, "d2": int(t != "t")} for t in "tuv"},
    }
    conventions = qrowd.Conventions(missing="interpolate")
    header, arrays = decoded(explore(runs, judgments, "AP", methods=["uniform"], conventions=conventions).to_html())
    assert header["methods"][1]["kind"] == "merged"
    scores = qrowd.evaluate_methods(runs, judgments, "AP", methods="uniform", conventions=conventions)
    assert equal(arrays["merged"][0], scores.values[:, 0])
    assert any("interpolated from all topics" in note for note in header["notes"])


@settings(max_examples=25)
@given(st.data())
def test_the_mean_over_any_assessors_and_topics_is_that_of_evaluate_on_their_judgments(demo, page, data):
    header, arrays = page
    assessors = data.draw(st.lists(st.sampled_from(header["assessors"]), min_size=1, unique=True))
    ids = [topic["id"] for topic in header["topics"]]
    topics = data.draw(st.lists(st.sampled_from(ids), min_size=1, unique=True))
    m = data.draw(st.integers(0, len(header["measures"]) - 1))
    runs, judgments = demo
    selected = judgments.select(assessors=assessors, topics=topics)
    a = [i for i, name in enumerate(header["assessors"]) if name in assessors]
    t = [i for i, name in enumerate(ids) if name in topics]
    values = known_mean(known_mean(arrays["scores"][m][np.ix_(a, t)], axis=0), axis=0)
    scores = qrowd.evaluate(runs, selected, [header["measures"][m]["name"]])
    expected = known_mean(scores.panel_mean().values[0, 0], axis=0)
    np.testing.assert_allclose(values, expected, rtol=0, atol=1e-12)
    weights = arrays["weights"][0][m][np.ix_(a, t)]
    table = np.where(np.isnan(weights)[..., None], np.nan, arrays["scores"][m][np.ix_(a, t)])
    uniform = qrowd.evaluate_methods(runs, selected, [header["measures"][m]["name"]], methods="uniform")
    np.testing.assert_allclose(weighted_average(table, weights), uniform.values[0, 0], rtol=0, atol=1e-12)


def test_the_rankings_are_the_lists_by_score_and_hold_each_document_of_a_topic_once(demo, page):
    header, arrays = page
    labels, starts = arrays["labels_and_texts"]["documents"], arrays["starts"]
    lists = demo[0].to_dict()
    for t, topic in enumerate(header["topics"]):
        here = labels[starts[t] : starts[t + 1]]
        assert len(set(here)) == len(here)
        seen = set()
        for s, system in enumerate(header["systems"]):
            scored = lists[system].get(topic["id"], {})
            expected = sorted(scored, key=lambda document: (scored[document], document), reverse=True)[:10]
            numbers = arrays["ranking"][t, s]
            assert [labels[d] for d in numbers if d >= 0] == expected
            assert (numbers[len(expected) :] == -1).all()
            seen.update(expected)
        assert seen == set(here)


def test_the_grades_are_those_of_the_judgments(demo, page):
    header, arrays = page
    given_grades = demo[1].to_dict()
    labels, starts = arrays["labels_and_texts"]["documents"], arrays["starts"]
    for t, topic in enumerate(header["topics"]):
        for d in range(starts[t], starts[t + 1]):
            for a, assessor in enumerate(header["assessors"]):
                grade = given_grades[assessor].get(topic["id"], {}).get(labels[d], np.nan)
                assert equal(arrays["grades"][d, a], np.float32(grade))


def test_what_is_not_judged_or_below_0_has_no_grade_and_repeats_follow_the_convention():
    runs = {name: {"t": {"d1": 3, "d2": 2, "d3": 1}} for name in "ab"}
    rows = [("t", "d1", "ann", 2), ("t", "d1", "ann", 0), ("t", "d2", "ann", -1), ("t", "d2", "bob", 1)]
    judgments = qrowd.Judgments.from_rows(rows)
    for repeats, grade in (("first", 2), ("last", 0), ("mean", 1)):
        _, arrays = decoded(explore(runs, judgments, "P@2", conventions=qrowd.Conventions(repeats=repeats)).to_html())
        grades = arrays["grades"].tolist()
        assert grades[0][0] == grade
        assert isnan(grades[1][0])
        assert grades[1][1] == 1
        assert all(map(isnan, grades[2]))


def test_of_preferences_the_grades_are_won_minus_lost_comparisons(demo):
    runs = demo[0]
    topic = runs.topics[0]
    documents = sorted(top_documents(runs.select(topics=[topic]), 3))[:4]
    pairs = [(documents[0], documents[1]), (documents[0], documents[2]), (documents[2], documents[1])]
    rows = [(topic, better, other, assessor) for better, other in pairs for assessor in ("ann", "bob")]
    rows.append((topic, documents[1], documents[0], "bob"))
    preferences = qrowd.Preferences.from_rows(rows)
    header, arrays = decoded(explore(runs, preferences, depth=3).to_html())
    assert header["kind"] == "preferences"
    assert [one["kind"] for one in header["methods"]] == ["mean"]
    names = [one["name"] for one in header["measures"]]
    assert names == ["ppref@10", "wpref", "compatibility"]
    assert equal(arrays["scores"], qrowd.evaluate(runs, preferences, names).values)
    labels = arrays["labels_and_texts"]["documents"]
    balance = {"ann": [2, -2, 0, None], "bob": [1, -1, 0, None]}
    for a, assessor in enumerate(header["assessors"]):
        for document, expected in zip(documents, balance[assessor], strict=True):
            value = arrays["grades"][labels.index(document), a]
            assert isnan(value) if expected is None else value == expected


def test_half_preferences_for_both_cancel_out():
    runs = {name: {"t": {"d1": 2, "d2": 1}} for name in "ab"}
    columns = {"topic": ["t", "t"], "preferred": ["d1", "d2"], "other": ["d2", "d1"], "assessor": ["ann", "ann"]}
    tie = replace(qrowd.Preferences.from_frame(columns), weight=np.array([0.5, 0.5]))
    _, arrays = decoded(explore(runs, tie).to_html())
    assert arrays["grades"].tolist() == [[0], [0]]


def test_texts_are_those_of_listed_documents_and_long_ones_are_cut():
    runs = {name: {"t": {"d1": 3, "d2": 2, "d3": 1}} for name in "ab"}
    texts = {
        "d1": {"title": "First", "text": "one"}, "d2": {"text": "x" * 2001}, "d3": {"text": "not listed"},
    }  # fmt: skip
    judgments = {"ann": {"t": {"d1": 1}}}
    page = explore(runs, judgments, "P@2", topics={"t": {"title": " What? "}}, documents=texts, depth=2).to_html()
    header, arrays = decoded(page)
    assert arrays["labels_and_texts"]["texts"] == ["First\none", "x" * 2000 + "…"]
    assert header["topics"] == [{"id": "t", "text": "What?"}]
    assert "texts: 1 text is cut after 2,000 letters" in header["notes"]
    assert "not listed" not in json.dumps(arrays["labels_and_texts"])


def test_comments_stand_with_their_document_and_assessor():
    runs = {name: {"t": {"d1": 3, "d2": 2}, "u": {"d1": 1}} for name in "ab"}
    table = {
        "topic": ["t", "t", "u", "u"], "document": ["d2", "d1", "d1", "d9"], "assessor": ["ann", "bob", "bob", "bob"],
        "value": [1, 0, 2, 1], "comment": ["names it", None, " unsure ", "not listed"],
    }  # fmt: skip
    header, arrays = decoded(explore(runs, qrowd.Judgments.from_frame(table), "P@2").to_html())
    assert header["documents"] == {"depth": 10, "has_texts": False, "has_comments": True}
    content = arrays["labels_and_texts"]
    assert content["documents"] == ["d1", "d2", "d1"]
    assert content["texts"] is None
    assert content["comments"] == {"1,0": "names it", "2,1": "unsure"}


def test_without_depth_the_page_holds_no_document(demo):
    header, arrays = decoded(explore(*demo, "AP", depth=0).to_html())
    assert header["documents"] is None
    assert set(arrays) == {"scores", "merged", "weights"}


def test_the_quantiles_are_those_of_printed_tables(page):
    header = page[0]
    assert len(header["t"]) == len(header["topics"]) - 1
    assert [round(header["t"][df - 1], 3) for df in (1, 2, 10, 20)] == [12.706, 4.303, 2.228, 2.086]


def test_the_majority_vote_is_offered_where_assessors_grade_on_one_scale_alone():
    runs = {name: {"t": {"d1": 3, "d2": 2}} for name in "ab"}
    same = {name: {"t": {"d1": 3, "d2": value}} for name, value in (("ann", 0), ("bob", 2))}
    unlike = {"ann": {"t": {"d1": 3, "d2": 0}}, "bob": {"t": {"d1": 1, "d2": 0}}}
    for judgments, names in ((same, ["mean", "majority"]), (unlike, ["mean"]), ({"ann": same["ann"]}, ["mean"])):
        header, _ = decoded(explore(runs, judgments, "nDCG@10", rng=1).to_html())
        assert [one["name"] for one in header["methods"]] == names


def test_a_scale_is_that_of_all_the_data_and_the_page_says_so():
    runs = {"a": {"t": {"d1": 2, "d2": 1}}, "b": {"t": {"d1": 1, "d2": 2}}}
    judgments = qrowd.Judgments.from_rows([("t", "d1", "ann", 3), ("t", "d1", "bob", 1), ("t", "d2", "bob", 0)])
    header, arrays = decoded(explore(runs, judgments, "ERR@2", depth=0).to_html())
    of_all = qrowd.evaluate(runs, judgments, "ERR@2")
    assert equal(arrays["scores"], of_all.values)
    assert (
        "choice: inferred scales are those of all judgments, whatever assessors and topics are chosen"
        in header["notes"]
    )


def test_the_page_says_where_little_coverage_leaves_no_score():
    runs = {name: {"t": {f"d{i}": i for i in range(20)}} for name in "ab"}
    judgments = {"ann": {"t": {f"d{i}": i % 2 for i in range(20)}}, "bob": {"t": {"d3": 1}}}
    header, arrays = decoded(explore(runs, judgments, "AP").to_html())
    assert np.isnan(arrays["scores"][0, 1]).all()
    assert any(note.startswith("choice: 1 (assessor, topic) cell has no score") for note in header["notes"])
    header, arrays = decoded(explore(runs, judgments, "AP", conventions=qrowd.Conventions(min_coverage=0)).to_html())
    assert not np.isnan(arrays["scores"]).any()
    assert not any("coverage of the documents that anyone" in note for note in header["notes"])


@settings(max_examples=10)
@given(st.data())
def test_of_preferences_the_mean_over_any_assessors_is_that_of_evaluate_on_theirs(demo, data):
    runs = demo[0]
    topics = runs.topics[:4]
    documents = sorted(top_documents(runs.select(topics=topics), 5))
    pairs = st.tuples(st.sampled_from(topics), st.permutations(documents[:6]), st.sampled_from(["ann", "bob", "cyd"]))
    said = data.draw(st.lists(pairs, min_size=1, max_size=30))
    preferences = qrowd.Preferences.from_rows([(topic, pair[0], pair[1], who) for topic, pair, who in said])
    chosen = data.draw(st.lists(st.sampled_from(preferences.assessors), min_size=1, unique=True))
    conventions = qrowd.Conventions(min_coverage=0)
    header, arrays = decoded(explore(runs, preferences, conventions=conventions, depth=0).to_html())
    a = [i for i, name in enumerate(header["assessors"]) if name in chosen]
    names = [one["name"] for one in header["measures"]]
    scores = qrowd.evaluate(runs, preferences.select(assessors=chosen), names, conventions=conventions)
    t = [[topic["id"] for topic in header["topics"]].index(topic) for topic in scores.topics]
    values = known_mean(arrays["scores"][:, a], axis=1)[:, t]
    np.testing.assert_allclose(values, scores.panel_mean().values[:, 0], rtol=0, atol=1e-12)


def test_names_can_not_end_the_script_or_fill_a_placeholder(demo):
    runs, judgments = demo
    runs = replace(runs, systems=(HOSTILE, *runs.systems[1:]))
    judgments = replace(judgments, assessors=(HOSTILE, *judgments.assessors[1:]))
    plain = Scripts(explore(*demo, "AP").to_html())
    texts = {document: {"text": HOSTILE} for document in top_documents(runs, 10)}
    topics = {topic: {"title": HOSTILE} for topic in runs.topics}
    page = explore(runs, judgments, "AP", title=HOSTILE, command=HOSTILE, topics=topics, documents=texts).to_html()
    assert page.encode()
    scripts = Scripts(page)
    assert scripts.tags == plain.tags
    assert scripts.texts["script"] == plain.texts["script"]
    assert "<" not in scripts.texts["header"]
    header, arrays = decoded(page)
    assert header["systems"][0] == header["assessors"][0] == header["title"] == header["command"] == HOSTILE
    assert header["topics"][0]["text"] == HOSTILE
    assert set(arrays["labels_and_texts"]["texts"]) == {HOSTILE}


def test_the_page_asks_nothing_of_a_network_and_forbids_it(demo):
    page = explore(*demo, "AP").to_html()
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]+)"', page)
    assert policy is not None
    rules = dict(rule.strip().split(" ", 1) for rule in policy[1].split(";") if rule.strip())
    assert rules["default-src"] == "'none'"
    assert not re.search(r"https?:|\*", policy[1])
    addresses = set(re.findall(r"(?:https?:)?//[\w.-]+\.\w+[\w/.-]*", page.replace(Scripts(page).texts["payload"], "")))
    assert addresses <= {"http://www.w3.org/2000/svg"}
    assert not re.search(r"@import|\bsrc=|<link|url\((?!#|[\"']?data:)", page)


def test_the_same_data_give_the_same_page(demo):
    first, second = (explore(*demo, "AP", methods=["sgl_tau_md(n_resamples=5)"], rng=1).to_html() for _ in range(2))
    assert first == second


def test_topics_without_a_list_and_systems_without_a_topic_are_on_the_page():
    runs = {"a": {"t": {"d1": 1}}, "b": {"t": {"d2": 1}, "u": {"d1": 1}}}
    judgments = {"ann": {"t": {"d1": 1}, "u": {"d1": 1}, "v": {"d1": 1}}}
    header, arrays = decoded(explore(runs, judgments, "P@1").to_html())
    scores = qrowd.evaluate(runs, judgments, "P@1")
    assert tuple(topic["id"] for topic in header["topics"]) == scores.topics
    assert equal(arrays["scores"], scores.values)
    t = scores.topics.index("u")
    assert (arrays["ranking"][t, 0] == -1).all()


def test_short_names_are_labels_and_the_names_stay():
    runs = {f"my-{name}-run": {"t": {"d1": 1}} for name in ("bm25", "dense")}
    judgments = {"ann": {"t": {"d1": 1}}}
    for short, labels in ((True, ["bm25", "dense"]), (False, list(runs))):
        header, _ = decoded(explore(runs, judgments, "P@1", short_names=short).to_html())
        assert (header["systems"], header["labels"]) == (list(runs), labels)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"measures": "AQ"}, MeasureError, "AQ"),
        ({"measures": []}, ArgumentError, "measures: none was given"),
        ({"measures": "nDCG@10", "rel": [2]}, ArgumentError, "rel=2: none of nDCG@10 has a threshold"),
        ({"measures": "AP", "rel": [-1]}, ArgumentError, "rel"),
        ({"methods": ["majorty"]}, MeasureError, "majority"),
        ({"depth": -1}, ArgumentError, "depth=-1"),
        ({"confidence": 95}, ArgumentError, "confidence"),
        ({"documents": {"elsewhere": {"text": "a"}}}, ArgumentError, "compare ids"),
        ({"topics": {"elsewhere": {"title": "a"}}}, ArgumentError, "compare ids"),
    ],
)
def test_a_wrong_argument_is_named_in_one_line(options, error, message):
    runs = {name: {"t": {"d1": 1}} for name in "ab"}
    with pytest.raises(error, match=re.escape(message)) as caught:
        explore(runs, {"ann": {"t": {"d1": 1}}}, **options)
    assert "\n" not in str(caught.value)


def test_one_system_no_shared_topic_and_methods_of_preferences_are_refused():
    judgments = {"ann": {"t": {"d1": 1}}}
    with pytest.raises(ArgumentError, match="one system only"):
        explore({"a": {"t": {"d1": 1}}}, judgments)
    runs = {name: {"u": {"d1": 1}} for name in "ab"}
    with pytest.raises(NoOverlapError):
        explore(runs, judgments)
    preferences = qrowd.Preferences.from_rows([("u", "d1", "d2", "ann")])
    with pytest.raises(ArgumentError, match="majority merges judgments"):
        explore(runs, preferences, methods=["majority"])


def test_a_page_is_written_whole_or_not_at_all(tmp_path):
    page = explore({name: {"t": {"d1": 1}} for name in "ab"}, {"ann": {"t": {"d1": 1}}}, "P@1")
    with pytest.raises(ArgumentError, match=r"\.html"):
        page.write(tmp_path / "page.pdf")
    with pytest.raises(FileError):
        page.write(tmp_path / "missing" / "page.html")
    page.write(tmp_path / "page.html")
    assert [file.name for file in tmp_path.iterdir()] == ["page.html"]
    assert decoded((tmp_path / "page.html").read_text("utf-8"))[0]["systems"] == ["a", "b"]
    assert repr(page) == "Explorer(2 systems, 1 assessor and 1 topic by P@1)"


def test_dl21_the_page_of_18_assessors_with_texts_has_less_than_3_megabytes():
    dl21 = folder_of("dl21")
    runs = qrowd.read_runs(str(dl21 / "runs" / "*.gz"))
    judges = sorted((dl21 / "judges").glob("*.gz"))[:17]
    judgments = qrowd.read_judgments([str(dl21 / "qrels.nist.txt"), *map(str, judges)])
    shown = top_documents(runs, 10)
    lines = gzip.decompress((dl21 / "passages.tsv.gz").read_bytes()).decode().split("\n")
    rows = (line.split("\t", 1) for line in lines if line)
    texts = {document: {"text": text} for document, text in rows if document in shown}
    content = explore(runs, judgments, MEASURES, documents=texts).to_html()
    assert len(content.encode()) < 3_000_000
    _, arrays = decoded(content)
    assert arrays["scores"].shape == (3, 18, 53, 63)
    assert equal(arrays["scores"], qrowd.evaluate(runs, judgments, MEASURES).values)
    assert sum(map(bool, arrays["labels_and_texts"]["texts"])) > 7000
