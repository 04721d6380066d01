"""How often does the interval of `assessor_bias` hold 0 where a model favours nobody? Simulated, with the truth known.

Ten systems, four of them a group of better ones; people, and models that are merely lenient or severe, see relevance
with an error. Own tastes are drawn for every assessor and system, those of the model as those of people, and added to
the scores, as is a planted kinship. `assessor_bias_page` is the page docs/papers/assessor_bias.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from qrowd.evaluation import evaluate
from qrowd.model.chance import Chance, Rng, seed_of
from qrowd.model.conventions import Conventions
from qrowd.model.scores import Scores, known_error
from qrowd.replacement.assessor_bias import assessor_bias, expected_values
from qrowd.reports.document import Document
from qrowd.simulation.behaviours import Lenient, simulate_judgments
from qrowd.simulation.truth import simulate_pool, simulate_runs
from qrowd_papers.simulations import Progress, binomial_error, each, table_of

if TYPE_CHECKING:
    import pandas

MODELS = {"as people": 0.0, "lenient": 0.8, "severe": -0.8}
"""How lenient the model is, in standard deviations of relevance; people are at 0."""
TASTES = {"": 0.0, "own tastes": 0.03}
"""Standard deviation of an assessor's taste for a system, on the scale of the measure."""
KINSHIP = 0.03
N_TOPICS: Mapping[int, int] = {50: 200, 200: 150}
"""{topics: simulations}"""
N_PEOPLE = (3, 5, 10)
MEASURES = ("nDCG@10", "P(rel=1)@10")
GROUP, OTHERS = (1.5, 4), (0.3, 6)  # quality and number of systems


def bias_coverage(
    n_topics: Mapping[int, int] = N_TOPICS,
    n_people: Sequence[int] = N_PEOPLE,
    *,
    measures: Sequence[str] = MEASURES,
    shuffles: int | None = None,
    rng: Rng = None,
    progress: Progress | None = None,
) -> pandas.DataFrame:
    """Coverage of 0 and power of `assessor_bias`, a row per design, measure, number of topics and of people.

    Columns `coverage`: share of simulations whose interval holds 0; `error`: its standard error; `power`: share whose
    interval lies above 0 where the model has a kinship of .03 besides; `half`: mean half-width; `topics_alone`:
    coverage of Student's interval over topics of the plain difference in differences.

    n_topics : {topics: simulations}. shuffles : of `expected_scores`. Numbers of people, models and tastes share
        their simulations.
    """
    import pandas as pd

    chance = Chance.of(rng)
    outcomes: dict[tuple[str, str, int, int], list[tuple[float, ...]]] = {}
    simulations = [(topics, i) for topics, n in n_topics.items() for i in range(n)]
    for topics, i in each(simulations, "assessor bias", progress):
        for (design, measure, people), outcome in _once(
            topics, n_people, measures, shuffles, chance.stream(f"{topics} topics", i)
        ):
            outcomes.setdefault((design, measure, topics, people), []).append(outcome)
    rows = [(*cell, *np.mean(values, axis=0).tolist()) for cell, values in outcomes.items()]
    columns = ["design", "measure", "n_topics", "n_people", "coverage", "power", "half", "topics_alone"]
    frame = pd.DataFrame(rows, columns=columns)
    frame.insert(5, "error", binomial_error(frame.coverage, frame.n_topics.map(n_topics)))
    return frame


def _once(
    n_topics: int, n_people: Sequence[int], measures: Sequence[str], shuffles: int | None, random: np.random.Generator
) -> list[tuple[tuple[str, str, int], tuple[float, ...]]]:
    """((design, measure, people), (0 held, kinship found, half-width, 0 held by topics alone)) of one simulation."""
    from scipy.special import stdtrit

    truth = simulate_pool(n_topics, 60, n_grades=4, prevalence=0.3, rng=random)
    names = [f"group{i}" for i in range(GROUP[1])] + [f"other{i}" for i in range(OTHERS[1])]
    quality = [GROUP[0]] * GROUP[1] + [OTHERS[0]] * OTHERS[1]
    runs = simulate_runs(truth, len(names), quality=quality, names=names, rng=random)
    everybody = [f"person{i}" for i in range(max(n_people))]
    assessors = {name: Lenient(0, 0.5) for name in everybody} | {name: Lenient(s, 0.5) for name, s in MODELS.items()}
    judgments = simulate_judgments(truth, assessors, rng=random)
    scores = evaluate(runs, judgments, measures)
    inside = np.array([name.startswith("group") for name in names])
    outcomes: list[tuple[tuple[str, str, int], tuple[float, ...]]] = []
    for count in n_people:
        people = everybody[:count]
        who = [scores.assessors.index(name) for name in (*people, *MODELS)]
        expected, topics = expected_values(
            runs, judgments, measures, people, tuple(MODELS), Conventions(), shuffles, random
        )
        tastes = random.standard_normal((len(measures), count + 1, 1, len(names)))
        for (m, measure), (number_of, model), (kind, sd) in product(
            enumerate(measures), enumerate(MODELS), TASTES.items()
        ):
            rows = [*range(count), count + number_of]
            own = scores.values[m][who][rows] + sd * tastes[m]
            labels: dict[str, Any] = {"assessors": (*people, model), "topics": topics, "systems": runs.systems}
            fair, kin = (
                assessor_bias(
                    Scores.from_array(own + extra * inside * (np.arange(count + 1) == count)[:, None, None], **labels),
                    {"group": "group*"},
                    model,
                    assessors=people,
                    expected=Scores.from_array(expected[m][rows], **labels),
                )
                for extra in (0.0, KINSHIP)
            )
            contrast = own[..., inside].mean(axis=2) - own[..., ~inside].mean(axis=2)
            difference = contrast[-1] - contrast[:-1].mean(axis=0)
            reach = stdtrit(n_topics - 1, 0.975) * float(known_error(difference, axis=0))
            outcome = (
                float(fair.low[0] <= 0 <= fair.high[0]),
                float(kin.low[0] > 0),
                float(fair.high[0] - fair.bias[0]),
                float(abs(difference.mean()) <= reach),
            )
            outcomes.append(((", ".join(part for part in (model, kind) if part), measure, count), outcome))
    return outcomes


def assessor_bias_page(*, quick: bool = False, rng: Rng = None, progress: Progress | None = None) -> Document:
    """The study as a page. quick : 5 simulations of 25 topics and 3 people."""
    topics, people = ({25: 5}, (3,)) if quick else (N_TOPICS, N_PEOPLE)
    seed = seed_of(rng)
    frame = bias_coverage(topics, people, rng=seed, progress=progress)
    sentence = (
        f"The interval of `assessor_bias` holds 0 in {100 * frame.coverage.min():.1f} to "
        f"{100 * frame.coverage.max():.1f} % of simulations where no "
        f"system is favoured; Student's interval over topics alone does so in {100 * frame.topics_alone.min():.1f} to "
        f"{100 * frame.topics_alone.max():.1f} %."
    )
    notes = (
        "systems: 4 of quality 1.5 are the group, 6 of quality 0.3 the others; 60 documents a topic, grades 0-3",
        "assessors see relevance with an error of 0.5 s.d.; a lenient model 0.8 s.d. more of it, a severe one 0.8 less",
        f"own tastes: s.d. {TASTES['own tastes']:g} for each assessor and system, on the scale of the measure",
        f"power: share of intervals above 0 where the model's scores of the group are {KINSHIP:g} higher",
        "topics alone: coverage of Student's interval over topics, without the people's spread, severity left in",
        f"simulations: {', '.join(f'{n} of {t} topics' for t, n in topics.items())}; seed: {seed}",
    )
    columns = (
        ("model", "design", ""), ("topics", "n_topics", ""), ("people", "n_people", ""),
        ("coverage of 0", "coverage", 3), ("error", "error", 3), ("half-width", "half", 3), ("power", "power", 3),
        ("topics alone", "topics_alone", 3),
    )  # fmt: skip
    tables = (
        table_of(f"coverage and power: {measure}", frame[frame.measure == measure].itertuples(), columns)
        for measure in MEASURES
    )
    return Document(sentence, tuple(tables), notes, lambda: frame)
