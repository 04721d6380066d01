"""What the page of a report computes with is what `evaluate` computes, number for number, and can do no harm."""

import gzip
import json
import re
from base64 import b64decode
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import qrowd
from conftest import data as folder_of
from qrowd.model.scores import known_mean
from qrowd.reports.report_data import top_documents
from qrowd.reports.report_document import report as report_of
from qrowd.reports.report_page import Provenance, report_page
from qrowd.simulation import simulate_demo

MEASURES = ["nDCG@10", "AP", "P@10"]
OPTIONS = {"n_resamples": 100, "random_assessors": 5, "rng": 3}
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
    """The data of a page, and its scores as an array."""
    content = json.loads(gzip.decompress(b64decode(Scripts(page).texts["payload"])))
    return content, {"scores": np.array(content["scores"], float)}


def equal(first, second) -> bool:
    """Bit for bit, nan where the other is nan."""
    return np.array_equal(first, second, equal_nan=True)


@pytest.fixture(scope="module")
def demo():
    runs, judgments, _ = simulate_demo()
    return runs, judgments.with_scales(dict(zip(judgments.assessors, judgments.scales, strict=True)))


def page_of(*arguments, **options) -> str:
    return report_page(report_of(*arguments, **OPTIONS | options))


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


def test_scores_by_each_method_are_those_of_evaluate_methods(demo):
    runs, judgments = demo
    people = judgments.select(assessors=["ann", "bob", "lena", "sven"])
    content, _ = decoded(page_of(runs, people, MEASURES))
    merged = {one["name"]: np.array(one["scores"], float) for one in content["methods"][1:]}
    assert content["methods"][0] == {"name": "mean of assessors"}
    assert list(merged) == ["majority", "Dawid-Skene", "AWARE", "predicted relevance"]
    methods = ["majority", "dawid-skene", "sgl_rmse_md(n_resamples=5)"]
    scores = qrowd.evaluate_methods(runs, people, MEASURES, methods=methods, rng=3)
    for name, expected in zip(merged, scores.values.transpose(1, 0, 2, 3), strict=False):
        assert equal(merged[name], expected)
    expected = merged["predicted relevance"]
    assert not np.isnan(expected[0]).any()  # there is no average precision of probabilities
    assert np.isnan(expected[1:]).all()


@settings(max_examples=settings.default.max_examples // 2)
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
    content, _ = page
    lists, seen = demo[0].to_dict(), []
    for topic, rankings in zip(content["topics"], content["ranking"], strict=True):
        for system, numbers in zip(content["systems"], rankings, strict=True):
            scored = lists[system].get(topic["id"], {})
            expected = sorted(scored, key=lambda document: (scored[document], document), reverse=True)[:10]
            assert [content["documents"][d]["label"] for d in numbers] == expected
        here = {d for numbers in rankings for d in numbers}
        assert len({content["documents"][d]["label"] for d in here}) == len(here)
        seen += sorted(here)
    assert seen == list(range(len(content["documents"])))


def test_the_grades_are_those_of_the_judgments(demo, page):
    content, _ = page
    given_grades, n = demo[1].to_dict(), len(demo[1].assessors)
    for topic, rankings in zip(content["topics"], content["ranking"], strict=True):
        for d in {d for numbers in rankings for d in numbers}:
            row = content["documents"][d]
            for assessor, value in zip(content["assessors"], row["grades"] or [None] * n, strict=True):
                assert value == given_grades[assessor].get(topic["id"], {}).get(row["label"])


def test_what_is_not_judged_or_below_0_has_no_grade_and_repeats_follow_the_convention():
    runs = {"a": {"t": {"d1": 3, "d2": 2, "d3": 1}}, "b": {"t": {"d1": 1, "d2": 2, "d3": 3}}}
    rows = [("t", "d1", "ann", 2), ("t", "d1", "ann", 0), ("t", "d2", "ann", -1), ("t", "d2", "bob", 1)]
    judgments = qrowd.Judgments.from_rows(rows)
    for repeats, grade in (("first", 2), ("last", 0), ("mean", 1)):
        content, _ = decoded(page_of(runs, judgments, "P@2", conventions=qrowd.Conventions(repeats=repeats)))
        grades = {one["label"]: one["grades"] for one in content["documents"]}
        assert grades == {"d1": [grade, None], "d2": [None, 1], "d3": []}


def test_texts_are_those_of_listed_documents_and_long_ones_are_cut():
    runs = {"a": {"t": {"d1": 3, "d2": 2}}, "b": {"t": {"d2": 3, "d1": 2}}}
    texts = {"d1": {"title": "First", "text": "one"}, "d2": {"text": "x" * 2001}, "d3": {"text": "not listed"}}
    judgments = {"ann": {"t": {"d1": 1}}}
    content, _ = decoded(page_of(runs, judgments, "P@1", topics={"t": {"title": " What? "}}, documents=texts))
    assert {one["label"]: one["text"] for one in content["documents"]} == {"d1": "First one", "d2": "x" * 2000 + "…"}
    assert content["topics"] == [{"id": "t", "text": "What?"}]
    assert "not listed" not in json.dumps(content)


def test_comments_stand_with_their_document_and_assessor():
    runs = {"a": {"t": {"d1": 3, "d2": 2}, "u": {"d1": 1}}, "b": {"t": {"d1": 2, "d2": 3}, "u": {"d1": 1}}}
    table = {
        "topic": ["t", "t", "u", "u"], "document": ["d2", "d1", "d1", "d9"], "assessor": ["ann", "bob", "bob", "bob"],
        "value": [1, 0, 2, 1], "comment": ["names it", None, " unsure ", "not listed"],
    }  # fmt: skip
    content, _ = decoded(page_of(runs, qrowd.Judgments.from_frame(table), "P@1"))
    comments = [(one["label"], one["comments"]) for one in content["documents"] if one["comments"]]
    assert comments == [("d2", {"ann": "names it"}), ("d1", {"bob": "unsure"})]


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
    page = page_of(runs, judgments, "AP", provenance=Provenance(HOSTILE), topics=topics, documents=texts)
    assert page.encode()
    scripts = Scripts(page)
    assert scripts.tags.count("script") == plain.tags.count("script") == 2
    assert "img" not in scripts.tags
    assert scripts.texts["script"] == plain.texts["script"]
    content, _ = decoded(page)
    assert content["systems"][0] == content["assessors"][0] == HOSTILE
    assert content["topics"][0]["text"] == " ".join(HOSTILE.split())
    assert {one["text"] for one in content["documents"]} == {" ".join(HOSTILE.split())}


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
    assert header["ranking"][t][0] == []


@pytest.mark.nightly
@pytest.mark.parametrize(("step", "size", "n_texts"), [(18, 600_000, 1500), (1, 4_000_000, 7000)])
def test_dl21_the_page_of_18_assessors_with_texts_has_less_than_4_megabytes(step, size, n_texts):
    """Of every 18th run and of all of them."""
    dl21 = folder_of("dl21")
    files = sorted((dl21 / "runs").glob("*.gz"))[::step]
    runs = qrowd.read_runs(files)
    judges = sorted((dl21 / "judges").glob("*.gz"))[:17]
    judgments = qrowd.read_judgments([str(dl21 / "qrels.nist.txt"), *map(str, judges)])
    shown = top_documents(runs)
    lines = gzip.decompress((dl21 / "passages.tsv.gz").read_bytes()).decode().split("\n")
    rows = (line.split("\t", 1) for line in lines if line)
    texts = {document: {"text": text} for document, text in rows if document in shown}
    content = page_of(runs, judgments, MEASURES, documents=texts)
    assert len(content.encode()) < size
    data, arrays = decoded(content)
    assert arrays["scores"].shape == (3, 18, 53, len(files))
    assert equal(arrays["scores"], qrowd.evaluate(runs, judgments, MEASURES).values)
    assert sum(bool(one["text"]) for one in data["documents"]) > n_texts
