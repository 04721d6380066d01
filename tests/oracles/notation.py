"""What the text of a measure means, said with the oracle's functions.

Three tables map texts to functions of a ranking and an opinion; their names say which scales the texts are fit for.
Together they use every parameter of every measure.
"""

import re
from dataclasses import dataclass
from math import inf

from oracles import measures as oracle


@dataclass(frozen=True)
class Opinion:
    """What one assessor says of one topic.

    grades : document -> grade, for the documents judged.
    scale : "binary", "0-3" (whole grades up to 3), "0..1" (fractions up to 1) or "magnitude".
    panel : the opinions of all assessors on the topic, for measures that ask what anyone says.
    """

    grades: dict
    scale: str
    panel: tuple = ()

    @property
    def maximum(self):
        """The highest grade possible."""
        if self.scale == "magnitude":
            return inf
        return 1 if self.scale == "binary" else float(self.scale.replace("..", "-").split("-")[1])

    @property
    def lowest(self):
        """From which grade on a document is relevant where the measure does not say."""
        if self.scale == "magnitude":
            raise ValueError("a magnitude does not say what is relevant")
        return self.maximum / 2 if ".." in self.scale else 1

    @property
    def levels(self):
        """Where a user may draw the line: at every grade of the scale, or at those given in the topic."""
        if self.scale == "binary" or "-" in self.scale:
            return range(1, int(self.maximum) + 1)
        return sorted({grade for grade in self.grades.values() if grade > 0}) or [inf]

    def relevant_to_anyone(self, rel=None):
        """How many documents at least one assessor of the panel finds relevant."""
        found = set()
        for one in self.panel:
            lowest = one.lowest if rel is None else rel
            for document, grade in one.grades.items():
                if grade >= lowest:
                    found.add(document)
        return len(found)


def judged(ranking, opinion):
    return oracle.condensed(ranking, opinion.grades)


ODD = {0: 1, 1: 5, 3: 2}  # judged nonrelevant documents gain, a 3 gains less than a 1, a 2 keeps its 2
STEEP = {1: 1, 2: 3, 3: 7}

ON_ANY_SCALE = {
    "P(rel=2)@1": lambda r, o: oracle.precision(r, o.grades, 1, 2),
    "P(rel=0.5)@10": lambda r, o: oracle.precision(r, o.grades, 10, 0.5),
    "P(rel=2,judged_only=True)@3": lambda r, o: oracle.precision(judged(r, o), o.grades, 3, 2),
    "R(rel=2)": lambda r, o: oracle.recall(r, o.grades, None, 2),
    "R(rel=0.5)@3": lambda r, o: oracle.recall(r, o.grades, 3, 0.5),
    "R(rel=2,recall_base=9)@5": lambda r, o: oracle.recall(r, o.grades, 5, 2, base=9),
    "R(rel=2,recall_base='union')@5": lambda r, o: oracle.recall(r, o.grades, 5, 2, base=o.relevant_to_anyone(2)),
    "R(rel=2,judged_only=True)@3": lambda r, o: oracle.recall(judged(r, o), o.grades, 3, 2),
    "Rprec(rel=2)": lambda r, o: oracle.r_precision(r, o.grades, 2),
    "Rprec(rel=0.5,judged_only=True)": lambda r, o: oracle.r_precision(judged(r, o), o.grades, 0.5),
    "RR(rel=2)": lambda r, o: oracle.reciprocal_rank(r, o.grades, None, 2),
    "RR(rel=2)@3": lambda r, o: oracle.reciprocal_rank(r, o.grades, 3, 2),
    "RR(rel=2,judged_only=True)@3": lambda r, o: oracle.reciprocal_rank(judged(r, o), o.grades, 3, 2),
    "Success(rel=2)@3": lambda r, o: oracle.success(r, o.grades, 3, 2),
    "Success(rel=2,judged_only=True)@1": lambda r, o: oracle.success(judged(r, o), o.grades, 1, 2),
    "AP(rel=2)": lambda r, o: oracle.average_precision(r, o.grades, None, 2),
    "AP(rel=0.5)@5": lambda r, o: oracle.average_precision(r, o.grades, 5, 0.5),
    "AP(rel=2,recall_base=9)@10": lambda r, o: oracle.average_precision(r, o.grades, 10, 2, base=9),
    "AP(rel=2,recall_base='union')@20": lambda r, o: oracle.average_precision(
        r, o.grades, 20, 2, base=o.relevant_to_anyone(2)
    ),
    "AP(rel=2,judged_only=True)@10": lambda r, o: oracle.average_precision(judged(r, o), o.grades, 10, 2),
    "Bpref(rel=2)": lambda r, o: oracle.bpref(judged(r, o), o.grades, 2),
    "DCG": lambda r, o: oracle.dcg(r, o.grades),
    "DCG@3": lambda r, o: oracle.dcg(r, o.grades, 3),
    "DCG(dcg='original')@10": lambda r, o: oracle.dcg(r, o.grades, 10, discount="original"),
    "DCG(gains={0:1,1:5,3:2})@10": lambda r, o: oracle.dcg(r, o.grades, 10, ODD),
    "DCG(judged_only=True)@5": lambda r, o: oracle.dcg(judged(r, o), o.grades, 5),
    "nDCG": lambda r, o: oracle.ndcg(r, o.grades),
    "nDCG@10": lambda r, o: oracle.ndcg(r, o.grades, 10),
    "nDCG@2": lambda r, o: oracle.ndcg(r, o.grades, 2),
    "nDCG(dcg='original')@5": lambda r, o: oracle.ndcg(r, o.grades, 5, discount="original"),
    "DCG(dcg='zipf')@10": lambda r, o: oracle.dcg(r, o.grades, 10, discount="zipf"),
    "nDCG(dcg='zipf')@5": lambda r, o: oracle.ndcg(r, o.grades, 5, discount="zipf"),
    "nDCG(gains={0:1,1:5,3:2})@10": lambda r, o: oracle.ndcg(r, o.grades, 10, ODD),
    "nDCG(gains={1:1,2:3,3:7})": lambda r, o: oracle.ndcg(r, o.grades, None, STEEP),
    "nDCG(judged_only=True)@5": lambda r, o: oracle.ndcg(judged(r, o), o.grades, 5),
    "ERR(max_rel=70)@20": lambda r, o: oracle.err(r, o.grades, 20, 70),
    "RBP(rel=2)": lambda r, o: oracle.rbp_binary(r, o.grades, None, 0.8, 2),
    "RBP(p=0.95,rel=0.5)@20": lambda r, o: oracle.rbp_binary(r, o.grades, 20, 0.95, 0.5),
    "RBP(max_rel=70)": lambda r, o: oracle.rbp(r, o.grades, None, 0.8, 70),
    "RBP(residual=True)": lambda r, o: oracle.rbp_residual(r, o.grades),
    "RBP(p=0.5,residual=True)@3": lambda r, o: oracle.rbp_residual(r, o.grades, 3, 0.5),
    "RBP(rel=2,judged_only=True)@5": lambda r, o: oracle.rbp_binary(judged(r, o), o.grades, 5, 0.8, 2),
    "Q(rel=2)": lambda r, o: oracle.q_measure(r, o.grades, None, 1, 2),
    "Q(beta=10,rel=0.5)@10": lambda r, o: oracle.q_measure(r, o.grades, 10, 10, 0.5),
    "Q(beta=0,rel=2)@5": lambda r, o: oracle.q_measure(r, o.grades, 5, 0, 2),
    "Q(rel=2,judged_only=True)@10": lambda r, o: oracle.q_measure(judged(r, o), o.grades, 10, 1, 2),
    "GAP": lambda r, o: oracle.gap(r, o.grades, o.levels),
    "GAP@10": lambda r, o: oracle.gap(r, o.grades, o.levels, 10),
    "GAP(judged_only=True)@10": lambda r, o: oracle.gap(judged(r, o), o.grades, o.levels, 10),
    "Twist@1": lambda r, o: oracle.twist(r, o.grades, 1),
    "Twist@5": lambda r, o: oracle.twist(r, o.grades, 5),
    "Twist@30": lambda r, o: oracle.twist(r, o.grades, 30),
    "Twist(judged_only=True)@10": lambda r, o: oracle.twist(judged(r, o), o.grades, 10),
    "Judged@3": lambda r, o: oracle.judged(r, o.grades, 3),
    "Judged@100": lambda r, o: oracle.judged(r, o.grades, 100),
}

ON_A_BOUNDED_SCALE = {
    "P@5": lambda r, o: oracle.precision(r, o.grades, 5, o.lowest),
    "R@10": lambda r, o: oracle.recall(r, o.grades, 10, o.lowest),
    "Rprec": lambda r, o: oracle.r_precision(r, o.grades, o.lowest),
    "RR": lambda r, o: oracle.reciprocal_rank(r, o.grades, None, o.lowest),
    "Success@1": lambda r, o: oracle.success(r, o.grades, 1, o.lowest),
    "AP": lambda r, o: oracle.average_precision(r, o.grades, None, o.lowest),
    "AP(recall_base='union')@10": lambda r, o: oracle.average_precision(
        r, o.grades, 10, o.lowest, base=o.relevant_to_anyone()
    ),
    "Bpref": lambda r, o: oracle.bpref(judged(r, o), o.grades, o.lowest),
    "DCG(dcg='exp-log2')@10": lambda r, o: oracle.dcg(r, o.grades, 10, "exp"),
    "nDCG(dcg='exp-log2')@10": lambda r, o: oracle.ndcg(r, o.grades, 10, "exp"),
    "nDCG(dcg='exp-original')@5": lambda r, o: oracle.ndcg(r, o.grades, 5, "exp", "original"),
    "nDCG(dcg='exp-zipf')": lambda r, o: oracle.ndcg(r, o.grades, None, "exp", "zipf"),
    "ERR": lambda r, o: oracle.err(r, o.grades, None, o.maximum),
    "ERR@3": lambda r, o: oracle.err(r, o.grades, 3, o.maximum),
    "ERR(max_rel=5)@20": lambda r, o: oracle.err(r, o.grades, 20, 5),
    "ERR(max_rel=5,gains={1:5})@20": lambda r, o: oracle.err(r, o.grades, 20, 5, {1: 5}),
    "ERR(judged_only=True)@5": lambda r, o: oracle.err(judged(r, o), o.grades, 5, o.maximum),
    "RBP": lambda r, o: oracle.rbp(r, o.grades, None, 0.8, o.maximum),
    "RBP(p=0.5,max_rel=5)@10": lambda r, o: oracle.rbp(r, o.grades, 10, 0.5, 5),
    "RBP(judged_only=True)@5": lambda r, o: oracle.rbp(judged(r, o), o.grades, 5, 0.8, o.maximum),
    "Q": lambda r, o: oracle.q_measure(r, o.grades, None, 1, o.lowest),
}

ON_PROBABILITIES = {
    "P(relevance='given')@3": lambda r, o: oracle.expected_found(r, o.grades, 3) / 3,
    "P(relevance='given',judged_only=True)@2": lambda r, o: oracle.expected_found(judged(r, o), o.grades, 2) / 2,
    "R(relevance='given')@3": lambda r, o: oracle.expected_recall(r, o.grades, 3),
    "R(recall_base=9,relevance='given')": lambda r, o: oracle.expected_recall(r, o.grades, base=9),
    "GAP(relevance='given')": lambda r, o: oracle.gap_given(r, o.grades),
    "GAP(relevance='given')@3": lambda r, o: oracle.gap_given(r, o.grades, 3),
    "ERR(stop='given')": lambda r, o: oracle.err_given(r, o.grades),
    "ERR(gains={1:0.5},stop='given')@5": lambda r, o: oracle.err_given(
        r, {document: 0.5 if grade == 1 else grade for document, grade in o.grades.items()}, 5
    ),
}

MEANING = ON_ANY_SCALE | ON_A_BOUNDED_SCALE | ON_PROBABILITIES


def texts_of(name, *tables):
    """The texts in the tables that write the measure of that name."""
    return [text for table in tables for text in table if re.match(r"\w+", text)[0] == name]
