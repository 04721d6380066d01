"""What is cited: entries that are well-formed, complete, and the ones that docstrings and documentation name."""

import re
from pathlib import Path

import pytest

from qrowd.errors import ArgumentError
from qrowd.evaluation import definitions
from qrowd.methods import DEFINITIONS
from qrowd.model.signature import version
from qrowd.reports.citations import citations, references

ROOT = Path(__file__).resolve().parents[2]
REGISTRY = (*definitions(), *DEFINITIONS)
ENTRY = re.compile(r"@(\w+)\{([a-z]+[0-9]*[a-z]*),\n((?:  \w+ = \{.+\},\n)+)\}\n")
FIELD = re.compile(r"  (\w+) = \{(.+)\},\n")
NEEDED = {
    "article": {"author", "title", "journal", "volume", "year"},
    "inproceedings": {"author", "title", "booktitle", "year"},
    "incollection": {"author", "title", "booktitle", "publisher", "year"},
    "book": {"author", "title", "publisher", "year"},
    "techreport": {"author", "title", "institution", "year"},
    "misc": {"author", "title", "eprint", "archiveprefix", "year"},
}
# Statistics that a signature may name, beside measures and methods: `with_signature("...")`.
STATISTICS = {
    name
    for path in (ROOT / "packages/qrowd/src").rglob("*.py")
    for call in re.findall(r"@with_signature\((.*)\)", path.read_text("utf-8"))
    for name in re.findall(r'"(.*?)"', call)
} - {"method", "estimator"}  # options that say it


def parsed(text):
    """(type, key, {field: value}) of an entry, by strict rules: one field a line, balanced braces."""
    found = ENTRY.fullmatch(text)
    assert found, text
    values = FIELD.findall(found[3])
    assert len(dict(values)) == len(values), text
    for _, value in values:
        depth = [value[:n].count("{") - value[:n].count("}") for n in range(len(value) + 1)]
        assert min(depth) == depth[-1] == 0, value
    return found[1], found[2], dict(values)


PAPERS = {text: words for text, words in references().items() if text.startswith("@")}
COMMENTS = {text: words for text, words in references().items() if text.startswith("%")}


def label(text):
    """Authors and year as docstrings name them: Cohen (1960); A & B (2008); A, B & C (2017)."""
    values = parsed(text)[2]
    *others, last = (author.partition(",")[0] for author in values["author"].split(" and "))
    return f"{' & '.join([*([', '.join(others)] if others else []), last])} ({values.get('year')})"


def test_entries_are_strict_bibtex_with_the_fields_of_their_type():
    keys = []
    for text in PAPERS:
        kind, key, values = parsed(text)
        needed = {"author", "title", "year", "note"} if key == "qrowd" else NEEDED[kind]
        assert needed <= set(values), key
        assert "doi" not in values  # none stands in the documentation
        keys.append(key)
    assert len(set(keys)) == len(keys)
    assert set(PAPERS) | set(COMMENTS) == set(references())
    assert all(text.count("\n") == 1 for text in COMMENTS)


def test_the_entry_of_qrowd_is_that_of_its_citation_file():
    kind, key, values = parsed(next(iter(references())))
    citation = (ROOT / "CITATION.cff").read_text("utf-8")
    number, licence = values["note"].removeprefix("Version ").split(", ")
    assert (kind, key, number) == ("misc", "qrowd", version())  # the style plain knows no @software
    assert f'title: "{values["title"]}"' in citation
    assert f'- name: "{values["author"].strip("{}")}"' in citation
    assert f"license: {licence}" in citation


@pytest.mark.parametrize("definition", REGISTRY, ids=lambda definition: definition.name)
def test_every_measure_and_method_has_the_papers_of_its_source_or_a_reason_for_none(definition):
    entries = citations([definition.name]).split("\n\n")[1:]
    named = re.findall(r"(?<![\w-])([A-Z][\w-]+(?:, [A-Z][\w-]+)*(?: & [A-Z][\w-]+)? \(\d{4}\))", definition.source)
    papers = [f"{one.strip()}\n" for one in entries if one.startswith("@")]
    assert sorted(map(label, papers)) == sorted(named)
    assert named or [one for one in entries if one.startswith("%") and "no paper" in one]


def test_every_statistic_that_a_signature_names_can_be_cited():
    assert {"alpha", "kappa", "variance-components"} <= STATISTICS
    for name in STATISTICS:
        assert citations([name]).count("\n\n") >= 1, name


def test_titles_and_names_stand_in_the_documentation_or_in_docstrings():
    pages = [*(ROOT / "docs").rglob("*.md"), *(ROOT / "packages/qrowd/src").rglob("*.py")]
    text = " ".join(re.sub(r"\s+", " ", page.read_text("utf-8")) for page in pages)
    known = re.sub(r"[*.]", "", text).lower()
    titles = {parsed(entry)[2]["title"] for entry in PAPERS}
    assert {title for title in titles if title.lower() not in known} == {
        parsed(next(iter(references())))[2]["title"],  # of qrowd itself
        "Alternatives to Bpref",
        "Computing Information Retrieval Performance Measures Efficiently in the Presence of Tied Scores",
    }


def test_a_signature_cites_what_it_names_and_passes_over_other_words():
    text = "qrowd 0.3.0 | nDCG@10 | runs 9 | unjudged condensed | methods mace | baseline foo | both 10000 | seed 1"
    keys = re.findall(r"@\w+\{(\w+)", citations([text]))
    assert keys == ["qrowd", "jarvelin2002", "sakai2007", "hovy2013", "mogstad2024"]
    assert "{mogstad2024," in citations([text.replace("both", "over topics")])
    assert "{mogstad2024," not in citations([text.replace("both", "resample topics")])
    with pytest.raises(ArgumentError, match="foo: nothing of this name can be cited; qrowd cite lists what can be"):
        citations(["nDCG", "foo"])


def test_each_entry_is_printed_once():
    assert citations(["alpha", "krippendorff", "alpha"][::2]) == citations(["alpha"])
