"""Several models, several prompts: how much of their disagreement is the model, and what is a panel of prompts worth?

Data: 81 assessors of TREC 2021 Deep Learning passages, three models with 27 prompts each (github
Narabzad/prompt-sensitivity-relevance-judgements); for the people, eight who judged 188 passages of 2019 (github
Parry-Parry/sigir25-annotation). `prompt_panels_page` is the page docs/papers/prompt_panels.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from math import nan
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qrowd.model.chance import Rng, seed_of
from qrowd.reports.document import Document, Table
from qrowd.reports.phrases import cells, interval, number, percent
from qrowd_papers.factor_components import FactorComponents, assessor_factors, judgment_components, score_components
from qrowd_papers.prompt_panel_data import MEASURE, PromptPanel, real, simulated
from qrowd_papers.prompt_panel_worth import ALL, Interval, Worth, agreements, contrasts, people, worth
from qrowd_papers.simulations import Progress

if TYPE_CHECKING:
    import pandas

MOST_PEOPLE = 8  # whose agreement with NIST is known


# ---------------------------------------------------------------------- components


def components(
    panel: PromptPanel, *, n_resamples: int = 1000, rng: Rng = None
) -> Iterator[tuple[str, FactorComponents]]:
    """Of judgments by all models, each pair of models, the models that judged more pairs, and the published files as
    they are and without grades outside the scale; then of scores."""
    seed = seed_of(rng)
    options: dict[str, Any] = {"factors": panel.pattern, "n_resamples": n_resamples, "rng": seed}
    models = model_names(panel)
    yield "all models", judgment_components(panel.judgments, **options)
    for pair in combinations(models, 2):
        yield " and ".join(pair), judgment_components(panel.models(panel.judgments, pair), **options)
    sizes = {model: int((panel.models(panel.whole, [model]).value >= 0).sum()) for model in models}
    larger = [model for model in models if sizes[model] > 2 * min(sizes.values())]
    if len(larger) > 1:
        yield f"{' and '.join(larger)}, whole pool", judgment_components(panel.models(panel.whole, larger), **options)
    if panel.n_out_of_scale:
        yield "whole pool, grades outside the scale kept", judgment_components(panel.published, **options)
        yield "whole pool, grades outside the scale left out", judgment_components(panel.whole, **options)
    yield MEASURE, score_components(panel.scores().sel(assessor=panel.judgments.assessors), **options)


def model_names(panel: PromptPanel) -> list[str]:
    """The models of a panel."""
    return sorted({model for model, _ in assessor_factors(panel.judgments.assessors, panel.pattern)[1]})


# ---------------------------------------------------------------------- the page


def prompt_panels_page(
    data: str | None = None, *, quick: bool = False, rng: Rng = None, progress: Progress | None = None
) -> Document:
    """The study as a page. quick : fewer panels and resamples. Without data, a simulated panel alone."""
    import pandas as pd

    seed = seed_of(rng)
    panel = simulated(seed) if data is None else real(data)
    curve = None if data is None or not (Path(data) / "dl19").is_dir() else people(data)
    between = nan if curve is None else curve.attrs["between"]
    n_draws, n_resamples = (3, 50) if quick else (30, 1000)
    named = dict(components(panel, n_resamples=n_resamples, rng=seed))
    found = agreements(panel, n_draws=n_draws, n_resamples=n_resamples, rng=seed, progress=progress)
    rows = worth(found, between)
    all_models = named[ALL]
    share = dict(zip(all_models.sources, all_models.disagreement.tolist(), strict=True))
    n_models, n_prompts = all_models.n_levels
    sentence = (
        f"Of the variance that differs between {n_models} models with {n_prompts} prompts each, "
        f"{percent(share['model'] + share['document*model'], 0)} is the model's, "
        f"{percent(share['prompt'] + share['document*prompt'], 0)} the prompt's whatever the model, and "
        f"{percent(share['model*prompt'] + share['error'], 0)} belongs to a model with a prompt."
    )
    tables = [_component_table(f"variance components: {name}", one) for name, one in named.items()]
    tables += [_worth_table(rows), _contrast_table(contrasts(found))]
    notes = [
        f"{panel.name}: {panel.n_lines:,} published lines; {panel.n_out_of_scale} grades outside 0-3 are no judgment; "
        f"{panel.n_repeated:,} lines repeat a pair, {percent(panel.changed, 1)} of them with another grade than the "
        "first, which counts",
        f"pairs: the {all_models.n_targets:,} of {all_models.n_topics} topics that all models judged, "
        f"{all_models.n_missing:,} of {all_models.n_missing + all_models.n_values:,} judgments missing; systems: "
        f"condensed lists, {MEASURE}",
        "low, high: 95 % of resamples of topics; models and prompts stay as they are",
        f"people: by a correlation of {number(between, 3)} between two people of 2019, for whom the squared "
        "correlation with NIST rises as n / (1 + (n - 1) r); >8: more than were observed",
        f"saved: share of human topics saved in the limit of many topics; gained: topics, beside {rows[0].n_human} "
        f"with human judgments; both to compare systems with the best one; seed: {seed}",
    ]
    if curve is not None:
        tables.append(_people_table(curve))
    return Document(sentence, tuple(tables), tuple(notes), lambda: pd.DataFrame(rows))


def _component_table(title: str, components: FactorComponents) -> Table:
    columns = {
        "source": list(components.sources),
        "share": cells(percent, components.share, digits=1),
        "low": cells(percent, components.low, digits=1),
        "high": cells(percent, components.high, digits=1),
        "of disagreement": cells(percent, components.disagreement, digits=1),
    }
    return Table.of(title, columns)


def _worth_table(rows: Sequence[Worth]) -> Table:
    def of(name: str) -> list[Any]:
        return [getattr(row, name) for row in rows]

    columns = {
        "models": of("models"),
        "prompts": cells(str, of("n_prompts")),
        "r": cells(number, of("r"), digits=3),
        "r, 95 %": cells(interval, of("r_low"), of("r_high")),
        "people": cells(_people_text, of("people")),
        "people, 95 %": [f"[{_people_text(low)}, {_people_text(high)}]" for low, high in zip(
            of("people_low"), of("people_high"), strict=True)],
        "tau-b": cells(number, of("tau"), digits=3),
        "saved": cells(percent, of("saved"), digits=0),
        "saved, 95 %": [f"[{100 * low:.0f}, {100 * high:.0f}]" for low, high in zip(
            of("saved_low"), of("saved_high"), strict=True)],
        "gained": cells(number, of("gained"), digits=1),
    }  # fmt: skip
    return Table.of("what panels of prompts are worth", columns)


def _contrast_table(rows: Sequence[tuple[str, str, Interval, Interval]]) -> Table:
    columns: dict[str, list[str]] = {
        "panel": [first for first, *_ in rows],
        "minus": [second for _, second, *_ in rows],
        "r": [f"{r[0]:+.3f}" for *_, r, _ in rows],
        "r, 95 %": [interval(*r[1:]) for *_, r, _ in rows],
        "saved": [f"{100 * saved[0]:+.1f} %" for *_, saved in rows],
        "saved, 95 %": [f"[{100 * saved[1]:.1f}, {100 * saved[2]:.1f}]" for *_, saved in rows],
    }
    return Table.of("differences of panels", columns)


def _people_text(n: float) -> str:
    return f">{MOST_PEOPLE}" if n > MOST_PEOPLE else number(n, 1)


def _people_table(curve: pandas.DataFrame) -> Table:
    columns = {
        "people": cells(str, curve.n),
        **{name: cells(number, curve[name], digits=3) for name in ("r", "lowest", "highest", "squared", "expected")},
    }
    return Table.of("people of 2019: correlation of their mean grade with NIST", columns)
