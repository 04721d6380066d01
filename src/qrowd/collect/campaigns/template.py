"""A folder of a new campaign with example files, from which an owner writes their own."""

from __future__ import annotations

import json
import os
import re
from typing import Literal

from qrowd.files import new_folder, write_whole

Protocol = Literal["grades", "magnitude", "preference"]

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
HEAD = """\
# A campaign of qrowd. All keys: the pages "Running a campaign" and "Protocols" of the documentation.
# Check:  qrowd campaign create {folder} --check
# Create: qrowd campaign create {folder}; then qrowd campaign invite {name} ann bob, and qrowd serve

[campaign]
name = "{name}"
title = "How relevant is it?"
seed = 1                        # of everything that is drawn at random
# consent = "..."               # the text before the first answer; default: a text that says what is stored
# instructions = "..."          # shown on every page

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

# Documents with known grades: put at least 10 of them for each assessor into the pool, and compare the answers with
# theirs by: qrowd assessors --campaign {name} --gold gold.csv
"""
N_DOCUMENTS = 8
TOPICS = {"t1": "keeping bees in a city", "t2": "bread that stays flat"}


def template(name: str, folder: str, protocol: Protocol) -> str:
    """The text of campaign.toml."""
    checks = 'checks = "checks.txt"           # topic, a relevant document, one that is not\n'
    end = {"grades": GOLD.format(name=name), "magnitude": checks, "preference": ""}[protocol]
    return HEAD.format(name=name, folder=folder) + SETTINGS[protocol] + TAIL + end


def write_template(folder: str | os.PathLike[str], protocol: Protocol = "grades") -> tuple[str, ...]:
    """Write a new folder of a campaign; the names of its files.

    Raises
    ------
    FileError
        A folder that holds something already, or that cannot be made.
    """
    root = new_folder(folder)
    name = re.sub(r"[^a-z0-9_-]+", "-", root.resolve().name.lower()).strip("-") or "campaign"
    documents = {topic: [f"{topic}-d{i}" for i in range(1, N_DOCUMENTS + 1)] for topic in TOPICS}
    rows = [
        {"docid": document, "title": f"Document {document}", "text": f"Write here what {document} says."}
        for of_topic in documents.values()
        for document in of_topic
    ]
    content = {
        "campaign.toml": template(name, str(folder), protocol),
        "topics.tsv": "".join(f"{topic}\t{title}\n" for topic, title in TOPICS.items()),
        "documents.jsonl": "".join(f"{json.dumps(row)}\n" for row in rows),
        "pool.txt": "".join(f"{topic} {document}\n" for topic, names in documents.items() for document in names),
    }
    if protocol == "magnitude":
        content["checks.txt"] = "".join(f"{topic} {names[0]} {names[-1]}\n" for topic, names in documents.items())
    for file, text in content.items():
        write_whole(root / file, text)
    return tuple(content)
