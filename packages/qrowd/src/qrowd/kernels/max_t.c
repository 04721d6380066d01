/* The largest |t| of all pairs of systems in replicates of the data: see max_t.py. */

#include "arrays.h"

static double without_skewness(double t, double skewness) {
    return t + skewness * (t * t * (1.0 / 3 + skewness * t / 27) + 1.0 / 6);
}

KERNEL largest_t(Floats signs, Floats centred, Floats squares, Floats shifts, Floats draws, Floats rest, Floats share,
                 double weight, double own, Floats largest) {
    int64_t n_replicates = signs.shape[0], n_topics = centred.shape[0], n = centred.shape[1], df = draws.shape[1];
    double *restrict cubes = calloc(n * n + 4 * n + 1, sizeof(double));
    if (!cubes) return 1;
    double *restrict means = cubes + n * n, *restrict mean_squares = means + n;
    double *restrict error = mean_squares + n, *restrict t = error + n;
    double total_rest = 0.0;
    for (int64_t i = 0; i < n * n; i++)
        total_rest += rest.data[i];
    for (int64_t topic = 0; topic < n_topics; topic++) {
        const double *row = centred.data + topic * n;
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < i; j++) {
                double difference = fabs(row[i] - row[j]);
                cubes[i * n + j] += difference * difference * difference / n_topics;
            }
    }
    for (int64_t r = 0; r < n_replicates; r++) {
        const double *sign = signs.data + r * n_topics, *shift = shifts.data + r * n, *drawn = draws.data + r * df * n;
        fill(means, n, 0.0);
        for (int64_t topic = 0; topic < n_topics; topic++)
            for (int64_t i = 0; i < n; i++)
                means[i] += sign[topic] * centred.data[topic * n + i] / n_topics;
        double ratio = 0.0;
        if (df > 0 && total_rest > 0.0) {
            double total = 0.0;
            for (int64_t k = 0; k < df; k++) {
                double of_row = 0.0;
                for (int64_t i = 0; i < n; i++)
                    of_row += drawn[k * n + i];
                of_row /= n;
                for (int64_t i = 0; i < n; i++)
                    total += (drawn[k * n + i] - of_row) * (drawn[k * n + i] - of_row);
            }
            ratio = 2 * n * total / df / total_rest;
        }
        double most = 0.0, most_corrected = 0.0;
        for (int64_t i = 0; i < n; i++) {
            const double *square = squares.data + i * n, *left = rest.data + i * n, *part = share.data + i * n;
            fill(mean_squares, i, 0.0);
            for (int64_t k = 0; k < df; k++)
                for (int64_t j = 0; j < i; j++) {
                    double difference = drawn[k * n + i] - drawn[k * n + j];
                    mean_squares[j] += difference * difference;
                }
            for (int64_t j = 0; j < i; j++) {
                double between = means[i] - means[j];
                double variance = larger(square[j] / n_topics - between * between, 0.0) / (n_topics - 1);
                double of_pair = own * mean_squares[j] / larger_int(df, 1) + (1.0 - own) * ratio * left[j];
                variance += weight * larger(of_pair - left[j], 0.0);
                double apart = between + part[j] * (shift[i] - shift[j]);
                double certain = square[j] > 0.0 ? INFINITY : 0.0;
                error[j] = sqrt(variance);
                t[j] = variance > 0.0 ? apart / error[j] : certain;
            }
            for (int64_t j = 0; j < i; j++) {
                double size = fabs(t[j]);
                most = larger(most, size);
                if (!(error[j] > 0.0)) {
                    most_corrected = larger(most_corrected, size);
                    continue;
                }
                double between = means[i] - means[j];
                double moment = between * (3.0 * (square[j] / n_topics) - 2.0 * between * between);
                double unit = error[j] * error[j] * error[j] * ((n_topics - 1) * (n_topics - 1));
                if (without_skewness(size, (cubes[i * n + j] + fabs(moment)) / unit) > most_corrected) {
                    double third = -moment;
                    for (int64_t topic = 0; topic < n_topics; topic++) {
                        double difference = centred.data[topic * n + i] - centred.data[topic * n + j];
                        third += sign[topic] * difference * difference * difference / n_topics;
                    }
                    most_corrected = larger(most_corrected, fabs(without_skewness(t[j], third / unit)));
                }
            }
        }
        largest.data[r] = most;
        largest.data[n_replicates + r] = most_corrected;
    }
    free(cubes);
    return 0;
}
