"""The test of all pairs of systems by the largest |t|, as it is and corrected for skewness, a second time, slowly.

Loops written from the definitions.

Nothing here imports qrowd or numpy.
"""

from math import fsum, inf, sqrt


def t_of_topics(by_topic):
    """{(i, j): (t, corrected t)} of all ordered pairs from a list of topics, each with one number per system."""
    found = {}
    for i in range(len(by_topic[0])):
        for j in range(len(by_topic[0])):
            if i != j:
                differences = [row[i] - row[j] for row in by_topic]
                mean = fsum(differences) / len(differences)
                variance = fsum((x - mean) ** 2 for x in differences) / (len(differences) - 1)
                found[i, j] = both(mean, sqrt(variance / len(differences)), third_moment(differences))
    return found


def third_moment(differences):
    """Of their mean: the mean cube around the mean, over (n - 1)^2."""
    n = len(differences)
    mean = fsum(differences) / n
    return fsum((x - mean) ** 3 for x in differences) / n / (n - 1) ** 2


def both(difference, error, third):
    """t = difference / error, and t + g t^2 / 3 + g^2 t^3 / 27 + g / 6, where the skewness g is third / error^3."""
    t = ratio(difference, error)
    if error <= 1e-15:
        return t, t
    g = third / error**3
    return t, t + g * t**2 / 3 + g**2 * t**3 / 27 + g / 6


def signed(by_topic, signs):
    """The centred topics, each with its sign."""
    means = [fsum(column) / len(by_topic) for column in zip(*by_topic, strict=True)]
    return [[s * (x - m) for x, m in zip(row, means, strict=True)] for row, s in zip(by_topic, signs, strict=True)]


def t_with_assessors(by_topic, shifts, rows, share, rest, weight, own):
    """{(i, j): (t, corrected t)} of one replicate.

    by_topic : topics with their signs. shifts, rows : what assessors add, and the rows of their mean squares.
    """
    n, systems = len(by_topic), range(len(by_topic[0]))
    squares = {
        (i, j): fsum((row[i] - row[j]) ** 2 for row in rows) / len(rows) for i in systems for j in systems if i != j
    }
    of_all = fsum(squares.values()) / fsum(rest[i][j] for i, j in squares)
    found = {}
    for (i, j), of_pair in squares.items():
        differences = [row[i] - row[j] for row in by_topic]
        mean = fsum(differences) / n
        variance = fsum((x - mean) ** 2 for x in differences) / (n - 1) / n
        assessors = own * of_pair + (1 - own) * of_all * rest[i][j]
        variance += weight * max(assessors - rest[i][j], 0.0)
        shifted = mean + share[i][j] * (shifts[i] - shifts[j])
        found[i, j] = both(shifted, sqrt(variance), third_moment(differences))
    return found


def ratio(difference, error):
    if error > 1e-15:
        return difference / error
    return 0.0 if abs(difference) < 1e-15 else inf if difference > 0 else -inf


def p_of_largest(observed, replicates):
    """{(i, j): adjusted p}: the share of replicates in which any pair reaches |t|; the data count as one more.

    observed, replicates : {(i, j): (t, corrected t)} over all ordered pairs, of the data and a list of them. The larger
    of both p-values counts.
    """
    found = dict.fromkeys(observed, 0.0)
    for kind in (0, 1):
        largest = [max(abs(t[kind]) for t in one.values()) for one in replicates]
        for pair, t in observed.items():
            p = (1 + sum(x >= abs(t[kind]) for x in largest)) / (1 + len(largest))
            found[pair] = max(found[pair], p)
    return found
