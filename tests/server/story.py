"""The campaign of the lead's story: what the form of a new campaign is given, with documents whose grades are known."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from random import Random

from qrowd_server.campaigns.plan.form import SentFile, plan_from_form
from qrowd_server.campaigns.plan.plan import Plan

SUBJECTS = ("ducks", "geese", "swans", "herons", "storks", "cranes")
Grades = dict[tuple[str, str], int]


@dataclass(frozen=True)
class Material:
    """Topics with documents whose grades are known. pool, gold : {(topic, document): grade}."""

    n_topics: int
    n_documents: int
    n_gold: int = 10

    @cached_property
    def topics(self) -> dict[str, str]:
        return {f"q{t}": SUBJECTS[t % len(SUBJECTS)] for t in range(self.n_topics)}

    @cached_property
    def pool(self) -> Grades:
        return {(f"q{t}", f"q{t}-d{d}"): (d * 7 + t) % 4 for t in range(self.n_topics) for d in range(self.n_documents)}

    @cached_property
    def gold(self) -> Grades:
        return {(f"q{t}", f"q{t}-g{d}"): (d + t) % 4 for t in range(self.n_topics) for d in range(self.n_gold)}

    @cached_property
    def by_title(self) -> dict[str, int]:
        """The grade of the document of each title."""
        return {f"Page {label}": grade for (_, label), grade in (self.pool | self.gold).items()}

    def files(self) -> dict[str, dict[str, str]]:
        """The files of the form: {field: {name: content}}. One run has the best documents first, the other does not."""
        texts = [f"{label},Page {label},A page about {self.topics[topic]}." for topic, label in self.pool | self.gold]
        gold = [f"{topic},{label},{grade}" for (topic, label), grade in self.gold.items()]
        runs: dict[str, list[str]] = {"sorted.run": [], "shuffled.run": []}
        for topic in self.topics:
            labels = [label for of, label in self.pool if of == topic]
            best = sorted(labels, key=lambda label, topic=topic: -self.pool[topic, label])  # type: ignore[misc]
            Random(topic).shuffle(labels)
            for name, ranking in zip(runs, (best, labels), strict=True):
                runs[name] += [f"{topic} Q0 {label} {rank} {-rank} x" for rank, label in enumerate(ranking, start=1)]
        return {
            "topics": {"queries.tsv": _lines(f"{label}\t{title}" for label, title in self.topics.items())},
            "documents": {"texts.csv": _lines(["docid,title,text", *texts])},
            "runs": {name: _lines(lines) for name, lines in runs.items()},
            "gold": {"clear.csv": _lines(["topic,document,grade", *gold])},
        }

    def plan(self, title: str, redundancy: int, depth: int) -> Plan:
        """What the form makes of it, with the entry test that it proposes."""
        sent = [
            SentFile(field, name, content.encode())
            for field, files in self.files().items()
            for name, content in files.items()
        ]
        values = {"title": title, "protocol": "grades", "redundancy": str(redundancy), "depth": str(depth)}
        return plan_from_form({**values, "exclude": "1"}, sent)


def _lines(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
