/* Measures down ranked lists that read the gains of documents: see gains.py. */

#include "arrays.h"

#define PASSES 32

KERNEL weighted_sums(Ints starts, Ints ends, Codes row, Floats weight, Floats gains, int64_t begin, Floats out) {
    int64_t n_assessors = gains.shape[1];
    for (int64_t k = 0; k < ends.shape[0]; k++) {
        double *restrict score = out.data + k * out.shape[1] + begin;
        fill(score, n_assessors, 0.0);
        for (int64_t e = starts.data[k]; e < ends.data[k]; e++) {
            const double *restrict gain = gains.data + row.data[e] * n_assessors;
            double w = weight.data[e];
            for (int64_t a = 0; a < n_assessors; a++)
                score[a] += w * gain[a];
        }
    }
    return 0;
}

KERNEL precision_sums(Ints starts, Ints ends, Codes row, Codes rank, Floats gains, int64_t begin, Floats out) {
    int64_t n_assessors = gains.shape[1];
    double *restrict count = malloc((n_assessors + 1) * sizeof(double));
    if (!count) return 1;
    for (int64_t k = 0; k < ends.shape[0]; k++) {
        double *restrict score = out.data + k * out.shape[1] + begin;
        fill(score, n_assessors, 0.0);
        fill(count, n_assessors, 0.0);
        for (int64_t e = starts.data[k]; e < ends.data[k]; e++) {
            const double *restrict gain = gains.data + row.data[e] * n_assessors;
            double w = 1.0 / (rank.data[e] + 1);
            for (int64_t a = 0; a < n_assessors; a++) {
                count[a] += gain[a];
                score[a] += gain[a] * (count[a] * w);
            }
        }
    }
    free(count);
    return 0;
}

KERNEL first_relevant(Ints starts, Ints ends, Codes row, Codes rank, Floats gains, int64_t begin, Floats out) {
    int64_t n_assessors = gains.shape[1];
    for (int64_t k = 0; k < ends.shape[0]; k++) {
        double *restrict score = out.data + k * out.shape[1] + begin;
        fill(score, n_assessors, 0.0);
        for (int64_t e = starts.data[k]; e < ends.data[k]; e++) {
            const double *restrict gain = gains.data + row.data[e] * n_assessors;
            double w = 1.0 / (rank.data[e] + 1);
            for (int64_t a = 0; a < n_assessors; a++)
                score[a] = larger(score[a], gain[a] * w);
        }
    }
    return 0;
}

KERNEL cascade(Ints starts, Ints ends, Codes row, Codes rank, Floats gains, double unit, int64_t begin, Floats out) {
    int64_t n_assessors = gains.shape[1];
    double *restrict going = malloc((n_assessors + 1) * sizeof(double));
    if (!going) return 1;
    for (int64_t k = 0; k < ends.shape[0]; k++) {
        double *restrict score = out.data + k * out.shape[1] + begin;
        fill(score, n_assessors, 0.0);
        fill(going, n_assessors, 1.0);
        for (int64_t e = starts.data[k]; e < ends.data[k]; e++) {
            const double *restrict gain = gains.data + row.data[e] * n_assessors;
            double w = unit * (1.0 / (rank.data[e] + 1));
            for (int64_t a = 0; a < n_assessors; a++) {
                score[a] += going[a] * gain[a] * w;
                going[a] *= 1.0 - unit * gain[a];
            }
        }
    }
    free(going);
    return 0;
}

KERNEL topic_sums(Ints documents, Floats gains, Floats sums) {
    int64_t n_assessors = gains.shape[1];
    for (int64_t t = 0; t < documents.shape[0] - 1; t++) {
        double *restrict total = sums.data + t * n_assessors;
        fill(total, n_assessors, 0.0);
        for (int64_t i = documents.data[t]; i < documents.data[t + 1]; i++) {
            const double *restrict gain = gains.data + i * n_assessors;
            for (int64_t a = 0; a < n_assessors; a++)
                total[a] += gain[a];
        }
    }
    return 0;
}

KERNEL level_counts(Bytes codes, Ints documents, Codes counts) {
    int64_t n_levels = counts.shape[1], n_assessors = codes.shape[1];
    for (int64_t t = 0; t < documents.shape[0] - 1; t++) {
        int32_t *restrict of_topic = counts.data + t * n_levels * n_assessors;
        for (int64_t i = documents.data[t]; i < documents.data[t + 1]; i++) {
            const uint8_t *restrict code = codes.data + i * n_assessors;
            for (int64_t a = 0; a < n_assessors; a++)
                of_topic[code[a] * n_assessors + a]++;
        }
    }
    return 0;
}

KERNEL look_up(Bytes codes, Floats table, Ints scale, Floats gains) {
    int64_t n_levels = table.shape[1], n_assessors = codes.shape[1];
    for (int64_t i = 0; i < codes.shape[0]; i++) {
        const uint8_t *restrict code = codes.data + i * n_assessors;
        double *restrict gain = gains.data + i * n_assessors;
        for (int64_t a = 0; a < n_assessors; a++)
            gain[a] = table.data[scale.data[a] * n_levels + code[a]];
    }
    return 0;
}

KERNEL ideal_of_counts(Codes counts, Floats table, Ints order, Ints scale, Floats cumulated, Floats out) {
    int64_t n_levels = counts.shape[1], n_assessors = out.shape[1], last = cumulated.shape[0] - 1;
    for (int64_t t = 0; t < out.shape[0]; t++)
        for (int64_t a = 0; a < n_assessors; a++) {
            const double *gain = table.data + scale.data[a] * table.shape[1];
            const int64_t *level = order.data + scale.data[a] * order.shape[1];
            double total = 0.0;
            int64_t n = 0;
            for (int64_t i = 0; i < order.shape[1]; i++) {
                int64_t k = level[i];
                if (gain[k] <= 0.0 || n == last) break;
                int64_t after = smaller_int(n + counts.data[(t * n_levels + k) * n_assessors + a], last);
                total += gain[k] * (cumulated.data[after] - cumulated.data[n]);
                n = after;
            }
            out.data[t * n_assessors + a] = total;
        }
    return 0;
}

/* One pass over documents begin to end: how many gains equal the level, and the largest gain below it. */
static void count_level(Floats gains, int64_t begin, int64_t end, const double *restrict level, double *restrict count,
                        double *restrict below) {
    int64_t n_assessors = gains.shape[1];
    fill(count, n_assessors, 0.0);
    fill(below, n_assessors, 0.0);
    for (int64_t i = begin; i < end; i++) {
        const double *restrict gain = gains.data + i * n_assessors;
        for (int64_t a = 0; a < n_assessors; a++) {
            count[a] += gain[a] == level[a] ? 1.0 : 0.0;
            below[a] = (gain[a] < level[a]) & (gain[a] > below[a]) ? gain[a] : below[a];
        }
    }
}

KERNEL ideal_sums(Floats gains, Ints documents, Floats cumulated, Floats out) {
    int64_t n_assessors = gains.shape[1], last = cumulated.shape[0] - 1;
    double *level = malloc((3 * n_assessors + 1) * sizeof(double)), *below = level + n_assessors;
    double *count = below + n_assessors;
    int64_t *rank = malloc((n_assessors + 1) * sizeof(int64_t));
    if (!level || !rank) {
        free(level);
        free(rank);
        return 1;
    }
    for (int64_t t = 0; t < documents.shape[0] - 1; t++) {
        int64_t begin = documents.data[t], end = documents.data[t + 1], n_open = 1;
        double *best = out.data + t * n_assessors;
        fill(best, n_assessors, 0.0);
        fill(level, n_assessors, INFINITY);
        count_level(gains, begin, end, level, count, below);
        for (int64_t a = 0; a < n_assessors; a++) {
            level[a] = below[a];
            rank[a] = 0;
        }
        for (int pass = 0; pass < PASSES && n_open > 0; pass++) {
            count_level(gains, begin, end, level, count, below);
            n_open = 0;
            for (int64_t a = 0; a < n_assessors; a++)
                if (level[a] > 0.0) {
                    int64_t after = smaller_int(rank[a] + (int64_t)count[a], last);
                    best[a] += level[a] * (cumulated.data[after] - cumulated.data[rank[a]]);
                    rank[a] = after;
                    level[a] = after < last ? below[a] : 0.0;
                    n_open += level[a] > 0.0;
                }
        }
        for (int64_t a = 0; a < n_assessors; a++)
            if (level[a] > 0.0) best[a] = NAN;
    }
    free(level);
    free(rank);
    return 0;
}
