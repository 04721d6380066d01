"""A topic that several judge, the slow way: the log is read from its start for every question about it."""

from itertools import combinations

from oracles import scheduling


def standing(log):
    """[(assignment, "preferred" | "even" | "bad", first, second)] of what was said and not undone, oldest first."""
    found = []
    for assignment, event, _ in log:
        data = event.data
        if event.kind == "preferred":
            left, right = data["left"], data["right"]
            if data["choice"] == "left":
                found.append((assignment, "preferred", left, right))
            elif data["choice"] == "right":
                found.append((assignment, "preferred", right, left))
            else:
                found.append((assignment, "even", left, right))
        elif event.kind == "marked_bad":
            found.append((assignment, "bad", data[data["side"]], None))
        elif event.kind == "undone":
            mine = [one for one in range(len(found)) if found[one][0] == assignment]
            del found[mine[-1]]
    return found


def bad(log):
    return {first for _, kind, first, _ in standing(log) if kind == "bad"}


def offers(log):
    """{assignment: (left, right)} of what everybody is being asked."""
    asked = {}
    for assignment, event, _ in log:
        if event.kind == "offered":
            asked[assignment] = (event.data["left"], event.data["right"])
        elif event.kind not in ("looked_up", "replied", "rated"):
            asked.pop(assignment, None)
    return asked


def open_pairs(documents, log, redundancy=1, infer=True):
    """Pairs of documents that nobody removed, and of which neither judgments nor (if `infer`) chains say which is
    better."""
    said, even = set(), set()
    facts = standing(log)
    for a, b in combinations(documents, 2):
        for_a = sum(1 for _, kind, x, y in facts if kind == "preferred" and (x, y) == (a, b))
        for_b = sum(1 for _, kind, x, y in facts if kind == "preferred" and (x, y) == (b, a))
        same = sum(1 for _, kind, x, y in facts if kind == "even" and {x, y} == {a, b})
        if for_a + for_b + same >= redundancy:
            if for_a == for_b:
                even.add((a, b))
            else:
                said.add((a, b) if for_a > for_b else (b, a))
    if not infer:
        removed = bad(log)
        asked = said | {(b, a) for a, b in said} | even
        return {pair for pair in combinations(documents, 2) if pair not in asked and not removed & set(pair)}
    place = {document: number for number, document in enumerate(documents)}
    numbers = {(place[a], place[b]) for a, b in said}
    found = scheduling.open_pairs(len(documents), numbers, {place[d] for d in bad(log)})
    return {(documents[a], documents[b]) for a, b in found} - even
