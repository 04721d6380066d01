"""Documents one after another, a second time: what happened is a list of visits, and everything is counted from it.

A visit is (position, seconds by the server, seconds by the browser or None, answer or None), in the order in which
pages were left; an answer is (text, reason, value). Maddalena et al. (2017), ACM TOIS 35(3), sections 3.2.1 and 3.2.5.
"""

from decimal import Decimal, InvalidOperation
from itertools import pairwise, permutations


def answers(visits):
    """{position: the last answer}"""
    return {position: answer for position, _, _, answer in visits if answer is not None}


def seconds(visits, position):
    return sum(server for where, server, _, _ in visits if where == position)


def active(visits, position):
    told = [browser for where, _, browser, _ in visits if where == position and browser is not None]
    return sum(told) if told else None


def changes(visits, position):
    """How often the answer was replaced by another."""
    given = [answer for where, _, _, answer in visits if where == position and answer is not None]
    return sum(one != other for one, other in pairwise(given))


def ordered(visits, documents, high, low):
    """Check c."""
    found = answers(visits)
    of = {documents[position]: value for position, (_, _, value) in found.items()}
    return of[high] > of[low]


def unhurried(visits, documents, least):
    """Check d."""
    return all(seconds(visits, position) >= least for position in range(len(documents)))


def next_position(n, answered, postponed):
    """Whose turn it is: the first that has no answer and was not put off, then those put off, longest first."""
    for position in range(n):
        if position not in answered and position not in postponed:
            return position
    for position in postponed:
        if position not in answered:
            return position
    return None


def practice_passes(lengths, numbers):
    """Some way of putting the lines in ascending order puts the numbers in ascending order too."""
    for order in permutations(range(len(lengths))):
        if all(lengths[a] < lengths[b] for a, b in pairwise(order)):
            return all(numbers[a] < numbers[b] for a, b in pairwise(order))
    raise ValueError("two lines of one length")


def number(text):
    """What a box with digits, one point or comma, perhaps an exponent, and a whole number below a fraction says.

    None where it says nothing above 0.
    """
    above, slash, below = text.strip().replace(",", ".").partition("/")
    if slash and not (below.strip().isdigit() and int(below)):
        return None
    try:
        value = Decimal(above.strip()) / (int(below) if slash else 1)
    except InvalidOperation:
        return None
    return float(value) if value.is_finite() and value > 0 else None
