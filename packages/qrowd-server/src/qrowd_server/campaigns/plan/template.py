"""An example campaign, from which an owner writes their own: a folder, or campaign.toml alone."""

from __future__ import annotations

import json
import os
import re
from shlex import quote
from typing import Literal, get_args

from qrowd.files import new_folder, write_whole

Protocol = Literal["grades", "magnitude", "preference"]
PROTOCOLS: tuple[Protocol, ...] = get_args(Protocol)
NAME = "my-campaign"

SETTINGS = {
    "grades": """\
[grades]
scale = "0-3"
labels = ["Not relevant", "Marginal", "Relevant", "Highly relevant"]
redundancy = 3                  # assessors of each document
k = 8                           # documents that an assessor judges in one go
""",
    "magnitude": """\
[magnitude]
redundancy = 3                  # assessors of each document
k = 8                           # documents that an assessor judges in one go, the two of checks.txt among them
""",
    "preference": """\
[preference]
redundancy = 3                  # assessors of each topic
""",
}
COMMANDS = """\
# Check:  qrowd campaign create {folder} --check
# Create: qrowd campaign create {folder}; then qrowd campaign invite {name} ann bob, and qrowd serve
"""
HEAD = """\
# A campaign of qrowd. All keys: the pages "Running a campaign" and "Protocols" of the documentation.
{commands}
[campaign]
name = "{name}"
title = "How relevant is it?"
seed = 1                        # of everything that is drawn at random
# consent = "..."               # Markdown, before the first answer; default: a text that says what is stored
# instructions = "..."          # Markdown, shown on every page
# language = "de"               # of the interface; default: the one that the browser asks for
# retention_days = 180          # after the end, for which names of people are kept; default: as the server says

"""
TAIL = """
[journey]
# max_units = 3                 # units that one assessor may judge; default: as many as there are

[files]
topics = "topics.tsv"           # topic, title
documents = "documents.jsonl"   # docid, title, text
pool = "pool.txt"               # topic, document; or take it from runs: runs = "runs/*.run" and depth = 10
"""
GOLD = """\

# Documents with known grades: as gold questions below; or put at least 10 of them for each assessor into the pool, and
# compare the answers with theirs by: qrowd assessors --campaign {name} --gold gold.csv
"""
GOLD_QUESTIONS = """\

# Gold questions: {what} whose answer is known, beside the pool. Add gold = "gold.csv" to [files], a table with the
# columns {columns}, and at least `first` lines for each topic.
# [gold]
# first = 20                      # the first answers of each assessor are to gold questions: an entry test
# every = 8                       # after it one of so many is a gold question
# exclude = true                  # who fails the entry test, or shows later that they guess
# accuracy = {accuracy}                 # of careful assessors on gold questions, at least
"""
QUESTION = """\

# A question about systems decides what is judged, instead of the pool above, and when to stop:
# [question]
# text = "first > second"         # or "best", "ranking"; systems are named after their files
# runs = "runs/*.run"
# models = ["llm.qrels"]          # judgments of models, if there are any
"""
N_DOCUMENTS = 8
TOPICS = {"t1": "keeping bees in a city", "t2": "bread that stays flat"}


def template(name: str = NAME, protocol: Protocol = "grades", *, folder: str = "") -> str:
    """The text of campaign.toml; with the commands for it, where it will lie in a folder."""
    commands = COMMANDS.format(name=name, folder=folder) if folder else ""
    checks = 'checks = "checks.txt"           # topic, a relevant document, one that is not\n'
    graded = GOLD_QUESTIONS.format(what="documents", columns="topic, document and grade", accuracy=0.85)
    of_pairs = GOLD_QUESTIONS.format(what="pairs", columns="topic, better and worse", accuracy=0.95)
    grades = GOLD.format(name=name) + graded + QUESTION
    end = {"grades": grades, "magnitude": checks, "preference": of_pairs}[protocol]
    return HEAD.format(name=name, commands=commands) + SETTINGS[protocol] + TAIL + end


def template_files(name: str = NAME, protocol: Protocol = "grades", *, folder: str = "") -> dict[str, str]:
    """{name: text} of the files of an example campaign."""
    documents = {topic: [f"{topic}-d{i}" for i in range(1, N_DOCUMENTS + 1)] for topic in TOPICS}
    rows = [
        {"docid": document, "title": f"Document {document}", "text": f"Write here what {document} says."}
        for of_topic in documents.values()
        for document in of_topic
    ]
    content = {
        "campaign.toml": template(name, protocol, folder=folder),
        "topics.tsv": "".join(f"{topic}\t{title}\n" for topic, title in TOPICS.items()),
        "documents.jsonl": "".join(f"{json.dumps(row)}\n" for row in rows),
        "pool.txt": "".join(f"{topic} {document}\n" for topic, names in documents.items() for document in names),
    }
    if protocol == "magnitude":
        content["checks.txt"] = "topic H N\n" + "".join(
            f"{topic} {names[0]} {names[-1]}\n" for topic, names in documents.items()
        )
    return content


def write_template(folder: str | os.PathLike[str], protocol: Protocol = "grades") -> tuple[str, ...]:
    """Write a new folder of a campaign; the names of its files."""
    root = new_folder(folder)
    name = re.sub(r"[^a-z0-9_-]+", "-", root.resolve().name.lower()).strip("-") or NAME
    content = template_files(name, protocol, folder=quote(str(folder)))
    for file, text in content.items():
        write_whole(root / file, text)
    return tuple(content)
