"""How often does the interval of `assessor_bias` hold 0 where a model favours nobody? Simulated, with the truth known.

Ten systems, four of them a group of better ones; people, and models that are merely lenient or severe, see relevance
with an error. Own tastes are drawn for every judge and system, those of the model as those of people, and added to the
scores, as is a planted kinship. `favour_page` is the page docs/papers/favour.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from qrowd.evaluation import evaluate
from qrowd.kernels.arrays import Floats
from qrowd.model.chance import Chance, Rng, seed_of
from qrowd.model.conventions import Conventions
from qrowd.model.frames import make_frame
from qrowd.model.scores import Scores, known_error
from qrowd.reports.document import Document, Table
from qrowd.reports.phrases import number
from qrowd.simulation.assessors import Lenient
from qrowd.simulation.judgments import simulate_judgments
from qrowd.simulation.runs import simulate_runs
from qrowd.simulation.truth import simulate_pool
from qrowd.uncertainty.assessor_bias import assessor_bias
from qrowd.uncertainty.severity import expected_values

if TYPE_CHECKING:
    import pandas

MODELS = {"as people": 0.0, "lenient": 0.8, "severe": -0.8}
"""How lenient the model is, in standard deviations of relevance; people are at 0."""
TASTES = {"": 0.0, "own tastes": 0.03}
"""Standard deviation of a judge's taste for a system, on the scale of the measure."""
KINSHIP = 0.03
N_TOPICS: Mapping[int, int] = {50: 200, 200: 150}
"""{topics: simulations}"""
N_PEOPLE = (3, 5, 10)
MEASURES = ("nDCG@10", "P(rel=1)@10")
GROUP, OTHERS = (1.5, 4), (0.3, 6)  # quality and number of systems
WANTED = (0.93, 0.97)


@dataclass(frozen=True, eq=False)
class FavourCoverage:
    """One row per design, measure, number of topics and of people.

    coverage : share of simulations whose interval holds 0; error : its standard error. power : share whose interval
        lies above 0 where the model has a kinship of .03 besides. half : mean half-width.
    topics_alone : coverage of Student's interval over topics of the plain difference in differences.
    """

    design: NDArray[np.object_]
    measure: NDArray[np.object_]
    n_topics: NDArray[np.int64]
    n_people: NDArray[np.int64]
    coverage: Floats
    error: Floats
    power: Floats
    half: Floats
    topics_alone: Floats
    n_simulations: Mapping[int, int]
    seed: int | tuple[int, ...]

    def to_frame(self, backend: str = "pandas") -> Any:
        """The rows."""
        columns = ("design", "measure", "n_topics", "n_people", "coverage", "error", "power", "half", "topics_alone")
        return make_frame({name: getattr(self, name) for name in columns}, backend)


def favour_coverage(
    n_topics: Mapping[int, int] = N_TOPICS,
    n_people: Sequence[int] = N_PEOPLE,
    *,
    measures: Sequence[str] = MEASURES,
    shuffles: int | None = None,
    rng: Rng = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> FavourCoverage:
    """Coverage of 0 and power of `assessor_bias`, for each model and kind of taste.

    n_topics : {topics: simulations}. shuffles : of `expected_scores`. Numbers of people, models and tastes share
        their simulations.
    """
    seed = seed_of(rng)
    chance = Chance.of(seed)
    rows: list[tuple[Any, ...]] = []
    done, steps = 0, sum(n_topics.values())
    for topics, n_simulations in n_topics.items():
        found: dict[tuple[str, str, int], list[tuple[float, ...]]] = {}
        for i in range(n_simulations):
            for key, outcome in _once(topics, n_people, measures, shuffles, chance.stream(f"{topics} topics", i)):
                found.setdefault(key, []).append(outcome)
            done += 1
            if progress is not None:
                progress("favour", done, steps)
        for (design, measure, people), outcomes in found.items():
            rows.append((design, measure, topics, people, *np.mean(outcomes, axis=0).tolist()))
    columns = list(zip(*rows, strict=True))
    share, power, half, alone = (np.array(column, np.float64) for column in columns[4:])
    return FavourCoverage(
        np.array(columns[0], object),
        np.array(columns[1], object),
        np.array(columns[2]),
        np.array(columns[3]),
        share,
        np.sqrt(share * (1 - share) / np.array([n_topics[t] for t in columns[2]])),
        power,
        half,
        alone,
        dict(n_topics),
        seed,
    )


def _once(
    n_topics: int, n_people: Sequence[int], measures: Sequence[str], shuffles: int | None, random: np.random.Generator
) -> list[tuple[tuple[str, str, int], tuple[float, ...]]]:
    """((design, measure, people), (0 held, kinship found, half-width, 0 held by topics alone)) of one simulation."""
    from scipy.special import stdtrit

    truth = simulate_pool(n_topics, 60, grades=4, prevalence=0.3, rng=random)
    names = [f"group{i}" for i in range(GROUP[1])] + [f"other{i}" for i in range(OTHERS[1])]
    quality = [GROUP[0]] * GROUP[1] + [OTHERS[0]] * OTHERS[1]
    runs = simulate_runs(truth, len(names), quality=quality, names=names, rng=random)
    everybody = [f"person{i}" for i in range(max(n_people))]
    judges = {name: Lenient(0, 0.5) for name in everybody} | {name: Lenient(s, 0.5) for name, s in MODELS.items()}
    judgments = simulate_judgments(truth, judges, rng=random)
    scores = evaluate(runs, judgments, measures)
    inside = np.array([name.startswith("group") for name in names])
    told: list[tuple[tuple[str, str, int], tuple[float, ...]]] = []
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
            told.append(((", ".join(part for part in (model, kind) if part), measure, count), outcome))
    return told


def favour_page(
    *, quick: bool = False, rng: Rng = None, progress: Callable[[str, int, int], None] | None = None
) -> Document:
    """The study as a page. quick : 5 simulations of 25 topics and 3 people."""
    topics, people = ({25: 5}, (3,)) if quick else (N_TOPICS, N_PEOPLE)
    return _page(favour_coverage(topics, people, rng=rng, progress=progress))


def _page(found: FavourCoverage) -> Document:
    least, most = found.coverage.min(), found.coverage.max()
    sentence = (
        f"The interval of `assessor_bias` holds 0 in {100 * least:.1f} to {100 * most:.1f} % of simulations where no "
        f"system is favoured; Student's interval over topics alone does so in {100 * found.topics_alone.min():.1f} to "
        f"{100 * found.topics_alone.max():.1f} %."
    )
    notes = (
        "systems: 4 of quality 1.5 are the group, 6 of quality 0.3 the others; 60 documents a topic, grades 0-3",
        "judges see relevance with an error of 0.5 s.d.; a lenient model 0.8 s.d. more of it, a severe one 0.8 less",
        f"own tastes: s.d. {TASTES['own tastes']:g} for each judge and system, on the scale of the measure",
        f"power: share of intervals above 0 where the model's scores of the group are {KINSHIP:g} higher",
        "topics alone: coverage of Student's interval over topics, without the people's spread, severity left in",
        f"simulations: {', '.join(f'{n} of {t} topics' for t, n in found.n_simulations.items())}; seed: {found.seed}",
    )

    def frame() -> pandas.DataFrame:
        whole: pandas.DataFrame = found.to_frame()
        return whole

    tables = tuple(_table(found, measure) for measure in MEASURES)
    return Document(sentence, tables, notes, frame)


def _table(found: FavourCoverage, measure: str) -> Table:
    header = ["model", "topics", "people", "coverage of 0", "error", "half-width", "power", "topics alone"]
    rows = []
    for i in np.flatnonzero(found.measure == measure):
        cells = (found.coverage[i], found.error[i], found.half[i], found.power[i], found.topics_alone[i])
        rows.append(
            [
                str(found.design[i]),
                str(found.n_topics[i]),
                str(found.n_people[i]),
                *(number(float(cell), 3) for cell in cells),
            ]
        )
    return Table(measure, header, rows)
