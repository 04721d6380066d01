"""What the page of a report computes with is what `evaluate` computes, number for number, and can do no harm."""

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
from qrowd.model.scores import known_mean
from qrowd.reports.report import report as report_of
from qrowd.reports.report_content import Provenance
from qrowd.reports.report_documents import top_documents
from qrowd.simulation import simulate_demo

MEASURES = ["nDCG@10", "AP", "P@10"]
OPTIONS = {"n_resamples": 100, "random_assessors": 5, "rng": 3}
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


def page_of(*arguments, **options) -> str:
    return report_of(*arguments, **OPTIONS | options).to_html()


@pytest.fixture(scope="module")
def page(demo):
    return decoded(page_of(*demo, MEASURES))


def test_the_scores_are_those_of_evaluate_bit_for_bit(demo, page):
    header, arrays = page
    assert [one["name"] for one in header["measures"]] == MEASURES
    scores = qrowd.evaluate(*demo, MEASURES)
    assert equal(arrays["scores"], scores.values)
    assert (tuple(header["systems"]), tuple(header["assessors"])) == (scores.systems, scores.assessors)
    assert tuple(topic["id"] for topic in header["topics"]) == scores.topics


def test_merged_scores_and_weighted_means_are_those_of_evaluate_methods(demo):
    runs, judgments = demo
    people = judgments.select(assessors=["ann", "bob", "lena", "sven"])
    header, arrays = decoded(page_of(runs, people, MEASURES))
    kinds = [(one["name"], one["kind"]) for one in header["methods"]]
    assert kinds == [
        ("mean of assessors", "mean"), ("majority", "merged"), ("Dawid-Skene", "merged"), ("AWARE", "weights"),
        ("predicted relevance", "merged"),
    ]  # fmt: skip
    scores = qrowd.evaluate_methods(runs, people, MEASURES, methods=["majority", "dawid-skene"], rng=3)
    for k in range(2):
        assert equal(arrays["merged"][k], scores.values[:, k])
    assert not np.isnan(arrays["merged"][2][0]).any()  # there is no average precision of probabilities
    assert np.isnan(arrays["merged"][2][1:]).all()
    (weights,) = arrays["weights"]
    values = np.where(np.isnan(weights)[..., None], np.nan, arrays["scores"])
    aware = qrowd.evaluate_methods(runs, people, MEASURES, methods="sgl_rmse_md(n_resamples=5)", rng=3)
    np.testing.assert_allclose(weighted_average(values, weights), aware.values[:, 0], rtol=0, atol=1e-15)


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


def test_the_rankings_are_the_lists_by_score_and_hold_each_document_of_a_topic_once(demo, page):
    header, arrays = page
    labels, starts = arrays["labels_and_texts"]["labels"], arrays["starts"]
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
    labels, starts = arrays["labels_and_texts"]["labels"], arrays["starts"]
    for t, topic in enumerate(header["topics"]):
        for d in range(starts[t], starts[t + 1]):
            for a, assessor in enumerate(header["assessors"]):
                grade = given_grades[assessor].get(topic["id"], {}).get(labels[d], np.nan)
                assert equal(arrays["grades"][d, a], np.float32(grade))


def test_what_is_not_judged_or_below_0_has_no_grade_and_repeats_follow_the_convention():
    runs = {"a": {"t": {"d1": 3, "d2": 2, "d3": 1}}, "b": {"t": {"d1": 1, "d2": 2, "d3": 3}}}
    rows = [("t", "d1", "ann", 2), ("t", "d1", "ann", 0), ("t", "d2", "ann", -1), ("t", "d2", "bob", 1)]
    judgments = qrowd.Judgments.from_rows(rows)
    for repeats, grade in (("first", 2), ("last", 0), ("mean", 1)):
        _, arrays = decoded(page_of(runs, judgments, "P@2", conventions=qrowd.Conventions(repeats=repeats)))
        grades = dict(zip(arrays["labels_and_texts"]["labels"], arrays["grades"].tolist(), strict=True))
        assert grades["d1"][0] == grade
        assert isnan(grades["d2"][0])
        assert grades["d2"][1] == 1
        assert all(map(isnan, grades["d3"]))


def test_of_preferences_the_grades_are_won_minus_lost_comparisons(demo):
    runs = demo[0]
    topic = runs.topics[0]
    documents = sorted(top_documents(runs.select(topics=[topic])))[:4]
    pairs = [(documents[0], documents[1]), (documents[0], documents[2]), (documents[2], documents[1])]
    rows = [(topic, better, other, assessor) for better, other in pairs for assessor in ("ann", "bob")]
    rows.append((topic, documents[1], documents[0], "bob"))
    preferences = qrowd.Preferences.from_rows(rows)
    header, arrays = decoded(page_of(runs, preferences))
    assert header["kind"] == "preferences"
    assert [one["kind"] for one in header["methods"]] == ["mean"]
    assert equal(arrays["scores"], qrowd.evaluate(runs, preferences, ["ppref@10"]).values)
    labels = arrays["labels_and_texts"]["labels"]
    balance = {"ann": [2, -2, 0, None], "bob": [1, -1, 0, None]}
    for a, assessor in enumerate(header["assessors"]):
        for document, expected in zip(documents, balance[assessor], strict=True):
            value = arrays["grades"][labels.index(document), a]
            assert isnan(value) if expected is None else value == expected


def test_texts_are_those_of_listed_documents_and_long_ones_are_cut():
    runs = {"a": {"t": {"d1": 3, "d2": 2}}, "b": {"t": {"d2": 3, "d1": 2}}}
    texts = {"d1": {"title": "First", "text": "one"}, "d2": {"text": "x" * 2001}, "d3": {"text": "not listed"}}
    judgments = {"ann": {"t": {"d1": 1}}}
    header, arrays = decoded(page_of(runs, judgments, "P@1", topics={"t": {"title": " What? "}}, documents=texts))
    content = arrays["labels_and_texts"]
    assert dict(zip(content["labels"], content["texts"], strict=True)) == {"d1": "First one", "d2": "x" * 2000 + "…"}
    assert header["topics"] == [{"id": "t", "text": "What?"}]
    assert "not listed" not in json.dumps(content)


def test_comments_stand_with_their_document_and_assessor():
    runs = {"a": {"t": {"d1": 3, "d2": 2}, "u": {"d1": 1}}, "b": {"t": {"d1": 2, "d2": 3}, "u": {"d1": 1}}}
    table = {
        "topic": ["t", "t", "u", "u"], "document": ["d2", "d1", "d1", "d9"], "assessor": ["ann", "bob", "bob", "bob"],
        "value": [1, 0, 2, 1], "comment": ["names it", None, " unsure ", "not listed"],
    }  # fmt: skip
    _, arrays = decoded(page_of(runs, qrowd.Judgments.from_frame(table), "P@1"))
    content = arrays["labels_and_texts"]
    listed = [f"{content['labels'][int(place.split(',')[0])]}: {text}" for place, text in content["comments"].items()]
    assert sorted(listed) == ["d1: unsure", "d2: names it"]
    assert [place.split(",")[1] for place in content["comments"]] == ["0", "1"]


def test_the_quantiles_are_those_of_printed_tables(page):
    header = page[0]
    assert len(header["t"]) == len(header["topics"]) - 1
    assert [round(header["t"][df - 1], 3) for df in (1, 2, 10, 20)] == [12.706, 4.303, 2.228, 2.086]


def test_names_can_not_end_the_script_or_fill_a_placeholder(demo):
    runs, judgments = demo
    runs = replace(runs, systems=(HOSTILE, *runs.systems[1:]))
    judgments = replace(judgments, assessors=(HOSTILE, *judgments.assessors[1:]))
    plain = Scripts(page_of(*demo, "AP"))
    texts = {document: {"text": HOSTILE} for document in top_documents(runs)}
    topics = {topic: {"title": HOSTILE} for topic in runs.topics}
    page = page_of(runs, judgments, "AP", title=HOSTILE, provenance=Provenance(HOSTILE), topics=topics, documents=texts)
    assert page.encode()
    scripts = Scripts(page)
    assert scripts.tags.count("script") == plain.tags.count("script") == 3
    assert "img" not in scripts.tags
    assert scripts.texts["script"] == plain.texts["script"]
    assert "<" not in scripts.texts["header"]
    header, arrays = decoded(page)
    assert header["systems"][0] == header["assessors"][0] == HOSTILE
    assert header["topics"][0]["text"] == " ".join(HOSTILE.split())
    assert set(arrays["labels_and_texts"]["texts"]) == {" ".join(HOSTILE.split())}


def test_the_page_asks_nothing_of_a_network_and_forbids_it(demo):
    page = page_of(*demo, "AP")
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]+)"', page)
    assert policy is not None
    rules = dict(rule.strip().split(" ", 1) for rule in policy[1].split(";") if rule.strip())
    assert rules["default-src"] == "'none'"
    assert not re.search(r"https?:|\*", policy[1])
    text = re.sub(r"base64,[\w+/=]*", "", page.replace(Scripts(page).texts["payload"], ""))
    addresses = set(re.findall(r"(?:https?:)?//[\w.-]+\.\w+[\w/.-]*", text))
    assert addresses <= {"http://www.w3.org/2000/svg"}
    assert not re.search(r"@import|\bsrc=|<link|url\((?!#|[\"']?data:)", page)


def test_topics_without_a_list_and_systems_without_a_topic_are_on_the_page():
    runs = {"a": {"t": {"d1": 1}}, "b": {"t": {"d2": 1}, "u": {"d1": 1}}}
    judgments = {"ann": {"t": {"d1": 1}, "u": {"d1": 1}, "v": {"d1": 1}}}
    header, arrays = decoded(page_of(runs, judgments, "P@1"))
    scores = qrowd.evaluate(runs, judgments, "P@1")
    assert tuple(topic["id"] for topic in header["topics"]) == scores.topics
    assert equal(arrays["scores"], scores.values)
    t = scores.topics.index("u")
    assert (arrays["ranking"][t, 0] == -1).all()


def test_dl21_the_page_of_18_assessors_with_texts_has_less_than_4_megabytes():
    dl21 = folder_of("dl21")
    runs = qrowd.read_runs(str(dl21 / "runs" / "*.gz"))
    judges = sorted((dl21 / "judges").glob("*.gz"))[:17]
    judgments = qrowd.read_judgments([str(dl21 / "qrels.nist.txt"), *map(str, judges)])
    shown = top_documents(runs)
    lines = gzip.decompress((dl21 / "passages.tsv.gz").read_bytes()).decode().split("\n")
    rows = (line.split("\t", 1) for line in lines if line)
    texts = {document: {"text": text} for document, text in rows if document in shown}
    content = page_of(runs, judgments, MEASURES, documents=texts)
    assert len(content.encode()) < 4_000_000
    _, arrays = decoded(content)
    assert arrays["scores"].shape == (3, 18, 53, 63)
    assert equal(arrays["scores"], qrowd.evaluate(runs, judgments, MEASURES).values)
    assert sum(map(bool, arrays["labels_and_texts"]["texts"])) > 7000
