"""Real collections, read a second time in plain Python, so that the readers are checked along with the measures."""

import gzip
from dataclasses import dataclass, field
from functools import cached_property
from math import ceil
from pathlib import Path

import pytest

from oracles import measures as oracle
from oracles.notation import Opinion
from qrowd.files import without_endings


@dataclass(frozen=True)
class Collection:
    """A folder of real data: the judgments of NIST, of programs and, on dl19, of people; and every `step`-th run.

    Where that is not every run, there is every fourth program, beside those that are called by name.
    """

    folder: Path
    step: int = 1
    _rankings: dict = field(default_factory=dict)

    @property
    def name(self):
        return self.folder.name

    @property
    def qrels_files(self):
        programs = sorted((self.folder / "judges").glob("*.qrels.gz"))
        some = [file for i, file in enumerate(programs) if self.step == 1 or i % 4 == 0 or "umbrela-gpt4" in file.name]
        return [self.folder / "qrels.nist.txt", *some]

    @property
    def judgment_files(self):
        return [*self.qrels_files, *(self.folder / "humans").glob("main.tsv")]

    @property
    def run_files(self):
        return sorted((self.folder / "runs").glob("*.gz"))[:: self.step]

    @cached_property
    def grades(self):
        """{assessor: {topic: {document: grade}}}, of repeated judgments the first."""
        grades = {without_endings(path): first_grades(path) for path in self.qrels_files}
        for path in self.judgment_files[len(self.qrels_files) :]:
            for topic, document, assessor, grade in fields_of(path)[1:]:
                grades.setdefault(assessor, {}).setdefault(topic, {})[document] = float(grade)
        return grades

    @cached_property
    def scales(self):
        """{assessor: scale}, as the values show it."""
        return {assessor: scale_of(topics) for assessor, topics in self.grades.items()}

    @cached_property
    def opinions(self):
        """{(assessor, topic): Opinion} for every assessor and topic; without grades where there are none."""
        opinions = {}
        for topic in dict.fromkeys(topic for topics in self.grades.values() for topic in topics):
            panel = tuple(Opinion(topics.get(topic, {}), self.scales[a]) for a, topics in self.grades.items())
            for assessor, one in zip(self.grades, panel, strict=True):
                opinions[assessor, topic] = Opinion(one.grades, one.scale, panel)
        return opinions

    @cached_property
    def runs(self):
        """{system: {topic: {document: score}}}."""
        return {path.name.removesuffix(".gz"): scores_of(path) for path in self.run_files}

    def ranking(self, system, topic):
        """The documents of one list, best first."""
        if (system, topic) not in self._rankings:
            self._rankings[system, topic] = oracle.rank(self.runs[system].get(topic, {}))
        return self._rankings[system, topic]


def first_grades(path):
    grades = {}
    for topic, document, grade in columns_of(path, 4, (0, 2, 3)):
        grades.setdefault(topic, {}).setdefault(document, float(grade))
    return grades


def scores_of(path):
    scores = {}
    for topic, document, score in columns_of(path, 6, (0, 2, 4)):
        scores.setdefault(topic, {})[document] = float(score)
    return scores


def fields_of(path):
    """The fields of every line; no line of these files is empty or a comment."""
    return [line.split() for line in text_of(path).splitlines()]


def columns_of(path, n, columns):
    """Some of the n fields of every line; to take all lines apart at once takes a third of the time."""
    text = text_of(path)
    words = text.split()
    assert len(words) == n * len(text.splitlines())
    return zip(*(words[column::n] for column in columns), strict=True)


def text_of(path):
    return (gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()).decode()


def scale_of(topics):
    values = {grade for grades in topics.values() for grade in grades.values()}
    if all(value == int(value) for value in values):
        return "binary" if max(values) <= 1 else f"0-{int(max(values))}"
    return f"0..{ceil(max(values))}"


COLLECTIONS = [
    pytest.param((name, step), id=name + " whole" * (step == 1), marks=[pytest.mark.nightly] * (number > 0))
    for number, (name, step) in enumerate([("dl21", 16), ("dl19", 16), ("dl21", 1), ("dl19", 1)])
]


@pytest.fixture(scope="session", params=COLLECTIONS)
def collection(request):
    """Every sixteenth run of dl21; in `make nightly` those of dl19, and all of both."""
    name, step = request.param
    return Collection(request.getfixturevalue(name), step)
