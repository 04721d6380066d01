"""The test of all pairs of systems by the largest |t|, a second time, slowly: loops written from the definitions.

Nothing here imports qrowd or numpy.
"""

from math import fsum, inf, sqrt


def t_of_topics(by_topic):
    """{(i, j): t} of all ordered pairs from a list of topics, each with one number per system."""
    found = {}
    for i in range(len(by_topic[0])):
        for j in range(len(by_topic[0])):
            if i != j:
                differences = [row[i] - row[j] for row in by_topic]
                mean = fsum(differences) / len(differences)
                variance = fsum((x - mean) ** 2 for x in differences) / (len(differences) - 1)
                found[i, j] = ratio(mean, sqrt(variance / len(differences)))
    return found


def signed(by_topic, signs):
    """The centred topics, each with its sign."""
    means = [fsum(column) / len(by_topic) for column in zip(*by_topic, strict=True)]
    return [[s * (x - m) for x, m in zip(row, means, strict=True)] for row, s in zip(by_topic, signs, strict=True)]


def t_with_assessors(by_topic, shifts, rows, share, rest, weight, own):
    """{(i, j): t} of one replicate: topics with their signs, what assessors add, and the rows of their mean squares."""
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
        found[i, j] = ratio(mean + share[i][j] * (shifts[i] - shifts[j]), sqrt(variance))
    return found


def ratio(difference, error):
    if error > 1e-15:
        return difference / error
    return 0.0 if abs(difference) < 1e-15 else inf if difference > 0 else -inf


def p_of_largest(observed, replicates):
    """{(i, j): adjusted p}: the share of replicates in which any pair reaches |t|; the data count as one more.

    observed, replicates : {(i, j): t} over all ordered pairs, of the data and a list of them.
    """
    largest = [max(map(abs, one.values())) for one in replicates]
    return {pair: (1 + sum(x >= abs(t) for x in largest)) / (1 + len(largest)) for pair, t in observed.items()}
