"""Small panels to draw: {document: {assessor: value}}, where not everyone judges everything."""

from hypothesis import strategies as st

from qrowd.model.judgments import Judgments

ASSESSORS = ("ann", "bob", "cyd", "dan")
LEVELS = ("nominal", "ordinal", "interval", "ratio")
GRADES = (0.0, 1.0, 2.0, 3.0)
MAGNITUDES = (0.001, 0.5, 1.0, 1.25, 3.0, 10.0, 1e6)


def panels(values=GRADES, assessors=ASSESSORS, n_documents=8, complete=False):
    """Panels of up to that many documents; `complete` lets everyone judge everything."""
    said = st.sampled_from(values) if complete else st.one_of(st.none(), st.sampled_from(values))
    row = st.tuples(*[said] * len(assessors)).map(
        lambda given: {who: value for who, value in zip(assessors, given, strict=True) if value is not None}
    )
    return st.lists(row, min_size=1, max_size=n_documents).map(
        lambda rows: {f"d{i}": said for i, said in enumerate(rows)}
    )


def pairable(panel):
    """Whether two assessors or more judged some document."""
    return any(len(said) > 1 for said in panel.values())


def judgments_of(panel, scale=None, topic="q"):
    """A panel as Judgments of one topic, everyone on one scale."""
    rows = [(topic, document, who, value) for document, said in panel.items() for who, value in said.items()]
    return Judgments.from_rows(rows, scales={"*": scale} if scale else None)


def judgments_of_rows(**rows):
    """ann="01*2": one digit per document, * where not judged."""
    said = [
        ("q", f"d{i}", who, float(v))
        for who, row in rows.items()
        for i, v in enumerate(row.replace(" ", ""))
        if v != "*"
    ]
    return Judgments.from_rows(said)
