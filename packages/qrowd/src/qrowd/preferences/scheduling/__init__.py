"""Which pair next, and may we stop? Pure functions: what is known goes in, a decision comes out.

State, Systems                           what is known of a topic, and the rankings to compare
expected_utility, from_known, from_regression, from_log_worths     how much each judgment would tell
InOrder, KeepPreferred, AtRandom, Sort, ByUtility, Tournament, make_order      which pair next: one Order each
difference_bounds, may_stop, sampled_scores                                      what is sure, or likely, by now
grade_bounds, order_documents, grades_may_stop, grades_needed                   the same for grades
Answers, simulate_topic, real_topics, replay, judgments_needed                 how many judgments it all takes
"""

from qrowd.preferences.scheduling.answers import Answers, Topic, simulate_topic
from qrowd.preferences.scheduling.bounds import Bounds, Decision, difference_bounds, may_stop, sampled_scores
from qrowd.preferences.scheduling.grades import (
    GradedTopic,
    GradeReplay,
    grade_bounds,
    grade_utility,
    grades_may_stop,
    grades_needed,
    order_documents,
    rank_coefficients,
    replay_grades,
)
from qrowd.preferences.scheduling.orders import (
    AtRandom,
    ByUtility,
    InOrder,
    KeepPreferred,
    Order,
    Sort,
    Tournament,
)
from qrowd.preferences.scheduling.replay import (
    FIGURE_2,
    ORDERS,
    Condition,
    Curves,
    Replay,
    StopRule,
    judgments_needed,
    make_order,
    replay,
)
from qrowd.preferences.scheduling.state import State
from qrowd.preferences.scheduling.systems import Systems
from qrowd.preferences.scheduling.topics import graded_topics, real_topics
from qrowd.preferences.scheduling.utility import (
    expected_utility,
    from_known,
    from_log_worths,
    from_regression,
    probabilities,
)

__all__ = [
    "FIGURE_2",
    "ORDERS",
    "Answers",
    "AtRandom",
    "Bounds",
    "ByUtility",
    "Condition",
    "Curves",
    "Decision",
    "GradeReplay",
    "GradedTopic",
    "InOrder",
    "KeepPreferred",
    "Order",
    "Replay",
    "Sort",
    "State",
    "StopRule",
    "Systems",
    "Topic",
    "Tournament",
    "difference_bounds",
    "expected_utility",
    "from_known",
    "from_log_worths",
    "from_regression",
    "grade_bounds",
    "grade_utility",
    "graded_topics",
    "grades_may_stop",
    "grades_needed",
    "judgments_needed",
    "make_order",
    "may_stop",
    "order_documents",
    "probabilities",
    "rank_coefficients",
    "real_topics",
    "replay",
    "replay_grades",
    "sampled_scores",
    "simulate_topic",
]
