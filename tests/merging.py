"""Small panels, and the judgments they stand for."""

from hypothesis import strategies as st

from qrowd.model.judgments import Judgments


@st.composite
def panels(draw, grades=(0, 1, 2), most_assessors=4, most_documents=6):
    """{(topic, document): {assessor: grade}}, at least one judgment each."""
    names = "abcdef"[: draw(st.integers(1, most_assessors))]
    said = st.dictionaries(st.sampled_from(names), st.sampled_from(grades), min_size=1)
    n = draw(st.integers(1, most_documents))
    return {("t1" if i % 3 else "t2", f"d{i}"): draw(said) for i in range(n)}


def judgments_of(labels, scale=None):
    rows = [(*pair, assessor, grade) for pair, said in labels.items() for assessor, grade in said.items()]
    return Judgments.from_rows(rows, scales=None if scale is None else {"*": scale})


def by_pair(aggregate):
    """{(topic, document): value}."""
    merged = aggregate.judgments
    return {
        (merged.topics[t], merged.documents[d]): value
        for t, d, value in zip(merged.topic, merged.document, merged.value.tolist(), strict=True)
    }


def posterior_by_pair(aggregate):
    """{(topic, document): {grade: probability}}."""
    pairs = list(by_pair(aggregate))
    return {
        pair: dict(zip(aggregate.grades.tolist(), row.tolist(), strict=True))
        for pair, row in zip(pairs, aggregate.posterior, strict=True)
    }
