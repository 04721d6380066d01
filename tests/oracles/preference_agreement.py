"""Agreement of preferences a second time: loops over pairs of documents and assessors."""

from itertools import combinations


def state(said, bad, one, two, strong=False):
    """What an assessor holds of two documents, `one` coming first by name; None if nothing.

    said : [(preferred, other, strength)], each pair once. bad : marked documents.
    """
    compared = {document for row in said for document in row[:2]} | bad
    for preferred, other, strength in said:
        if {preferred, other} == {one, two}:
            far = strong and strength == 2
            return ("A >> B" if far else "A > B") if preferred == one else ("A << B" if far else "A < B")
    if not {one, two} <= compared or not {one, two} & bad:
        return None
    if {one, two} <= bad:
        return "A, B bad"
    return "A < B" if one in bad else "A > B"


def table(states_of):
    """{(row, column): count}; states_of : {pair: [state of each assessor, None where nothing]}."""
    counts = {}
    for states in states_of.values():
        for i, one in enumerate(states):
            for j, two in enumerate(states):
                if i != j and one is not None and two is not None:
                    counts[one, two] = counts.get((one, two), 0) + 1
    return counts


def grade_state(one, two, bad):
    if one <= bad and two <= bad:
        return "A, B bad"
    return "A > B" if one > two else "A < B" if one < two else "A = B"


def dealt_out(counts, rate):
    """Equal grades become preferences that agree with the other's at this rate, each half the time where free."""
    found = {}

    def add(key, n):
        found[key] = found.get(key, 0) + n

    ways = ("A < B", "A > B")
    turn = {"A < B": "A > B", "A > B": "A < B"}
    for (one, two), n in counts.items():
        if one == two == "A = B":
            for way in ways:
                add((way, way), n * rate / 2)
                add((way, turn[way]), n * (1 - rate) / 2)
        elif one == "A = B" and two in ways:
            add((two, two), n * rate)
            add((turn[two], two), n * (1 - rate))
        elif two == "A = B" and one in ways:
            add((one, one), n * rate)
            add((one, turn[one]), n * (1 - rate))
        elif "A = B" in (one, two):
            for way in ways:
                add((way if one == "A = B" else one, way if two == "A = B" else two), n / 2)
        else:
            add((one, two), n)
    return found


def pairs_ordered_alike(states_of, i, j):
    """(alike, both ordered) of two assessors."""
    ordered = [(s[i], s[j]) for s in states_of.values() if None not in (s[i], s[j]) and "A, B bad" not in (s[i], s[j])]
    return sum(one == two for one, two in ordered), len(ordered)


def all_pairs(documents):
    return list(combinations(sorted(documents), 2))
