"""About how long a unit takes, from the length of its documents: for those who are asked to judge one."""

from __future__ import annotations

from math import ceil
from statistics import median

from qrowd_server.campaigns.plan.plan import Plan, TopicPlan
from qrowd_server.protocols.settings import PreferenceSettings, Settings

CHARACTERS_PER_SECOND = 20.0  # 240 English words a minute
DECIDING = 10.0  # seconds for each judgment, beside the reading
LONGEST = 120.0  # seconds of reading one document: nobody reads a long one to its end
WITHOUT_TEXT = 30.0  # seconds of looking at a page in a frame, or at an image with few words


def effort_of(plan: Plan) -> tuple[int, int]:
    """Documents of a unit, and minutes that it takes; medians over the topics, of the arm that takes longest.

    Reading takes one second for 20 characters, at most two minutes a document; each decision takes ten seconds. Half of
    the pairs of a unit are judged. The gold questions of an entry test are part of an assessor's first unit.
    """
    seconds = {document.label: _reading(len(document.text), not document.html) for document in plan.documents}
    units = []
    for settings in plan.arms.values():
        sizes, lengths = [], []
        for topic in plan.topics:
            n = _unit_size(settings, len(topic.pool))
            reading = median([seconds[label] for label in topic.pool]) if topic.pool else 0.0
            n_judgments = n * (n - 1) / 4 if isinstance(settings, PreferenceSettings) else n
            n_entry, of_entry = _entry_size(plan, topic, settings)
            sizes.append(n + of_entry)
            lengths.append((n + of_entry) * reading + (n_judgments + n_entry) * DECIDING)
        units.append((median(lengths), round(median(sizes))))
    longest, n_documents = max(units)
    return n_documents, max(1, ceil(longest / 60))


def _unit_size(settings: Settings, n: int) -> int:
    return n if isinstance(settings, PreferenceSettings) else min(settings.k, n)


def _entry_size(plan: Plan, topic: TopicPlan, settings: Settings) -> tuple[int, int]:
    """Questions of the entry test in a topic, and their documents."""
    if plan.gold is None or not plan.gold.first:
        return 0, 0
    pairs = isinstance(settings, PreferenceSettings)
    questions = [one.labels for one in topic.gold if bool(one.worse) == pairs]
    n = min(plan.gold.first, len(questions))
    return n, min(len({label for labels in questions for label in labels}), n * (1 + pairs))


def _reading(n_characters: int, plain: bool) -> float:
    """Seconds; of HTML, a third of the characters are taken for tags."""
    if not n_characters:
        return WITHOUT_TEXT
    return min(LONGEST, n_characters * (1.0 if plain else 2 / 3) / CHARACTERS_PER_SECOND)
