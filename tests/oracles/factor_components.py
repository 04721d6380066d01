"""Henderson's method 1 in loops: expectations counted out observation by observation.

Nothing here imports qrowd or numpy. A table is {(level of each factor): value}.
"""

from itertools import chain, combinations
from math import fsum

from oracles.generalizability import solve


def components(table):
    """{factors that interact: component} of a crossed table with random effects, complete or not."""
    n_factors = len(next(iter(table)))
    terms = list(chain.from_iterable(combinations(range(n_factors), size) for size in range(n_factors + 1)))

    def cell(key, term):
        return tuple(key[i] for i in term)

    squares, expected = {}, {}
    for term in terms:
        cells = {}
        for key in table:
            cells.setdefault(cell(key, term), []).append(key)
        squares[term] = fsum(fsum(table[key] for key in keys) ** 2 / len(keys) for keys in cells.values())
        # Two observations of one cell covary by the components of all levels that they share.
        for other in terms[1:]:
            expected[term, other] = fsum(
                1 / len(keys)
                for keys in cells.values()
                for one in keys
                for two in keys
                if cell(one, other) == cell(two, other)
            )
    # The mean's own square, N mean^2, is in every expectation.
    rows = [
        [expected[term, other] - expected[(), other] for other in terms[1:]] + [squares[term] - squares[()]]
        for term in terms[1:]
    ]
    return dict(zip(terms[1:], solve(rows), strict=True))
