"""Answers of systems to questions in conversations, judged nugget by nugget by people and a model.

A nugget is supported to the degree z = quality of the system + ease of the conversation, the question and the nugget +
noise; an assessor sees z + severity + noise, and says that the answer supports it (1) from .3 on, partially (.5) from
-.3 on, or not (0). A model as assessor favours the system that is of its kind.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from qrowd.model.chance import Chance, Rng
from qrowd.simulation.truth import count

SYSTEMS = {"rag-large": 0.55, "rag-small": 0.2, "rag-self": 0.15, "no-retrieval": -0.6}
SEVERITY = {"ann": 0.0, "bob": -0.2, "eve": 0.25, "llm-self": 0.1}
FAVOUR = {("llm-self", "rag-self"): 0.6}


def simulate_answers(*, n_conversations: int = 12, rng: Rng = 2) -> dict[str, list[Any]]:
    """The columns topic, system, assessor, criterion, unit and value of judged answers; {column: cells}.

    A conversation has two to five questions, called c01::1, c01::2 ..., and a question four to seven nuggets, of which
    about half are vital.
    """
    count("n_conversations", n_conversations)
    random = Chance.of(rng).stream("answers")
    columns: dict[str, list[Any]] = {name: [] for name in ("topic", "system", "assessor", "criterion", "unit", "value")}
    for conversation in range(1, n_conversations + 1):
        of_conversation = random.normal(0, 0.5)
        for question in range(1, int(random.integers(2, 6)) + 1):
            ease = of_conversation + random.normal(0, 0.3, int(random.integers(4, 8)))
            vital = random.random(ease.size) < 0.5
            for system, quality in SYSTEMS.items():
                supported = quality + ease + random.normal(0, 0.5, ease.size)
                for assessor, severity in SEVERITY.items():
                    shift = severity + FAVOUR.get((assessor, system), 0.0)
                    seen = supported + shift + random.normal(0, 0.35, ease.size)
                    columns["topic"] += [f"c{conversation:02d}::{question}"] * ease.size
                    columns["system"] += [system] * ease.size
                    columns["assessor"] += [assessor] * ease.size
                    columns["criterion"] += np.where(vital, "vital", "okay").tolist()
                    columns["unit"] += [f"n{number}" for number in range(1, ease.size + 1)]
                    columns["value"] += np.select([seen >= 0.3, seen >= -0.3], [1.0, 0.5], 0.0).tolist()
    return columns
