/* Measures down ranked lists that read more of a document than its gain: see ranking.py. */

#include "arrays.h"

KERNEL found_by_own_cut(Codes rows, Floats relevant, Floats cuts, Floats out) {
    int64_t depth = rows.shape[1], n_assessors = relevant.shape[1];
    for (int64_t s = 0; s < rows.shape[0]; s++) {
        const int32_t *row = rows.data + s * depth;
        double *restrict score = out.data + s * n_assessors;
        fill(score, n_assessors, 0.0);
        for (int64_t r = 0; r < depth; r++) {
            if (row[r] < 0) continue;
            const double *restrict rel = relevant.data + row[r] * n_assessors;
            for (int64_t a = 0; a < n_assessors; a++)
                score[a] += r < cuts.data[a] ? rel[a] : 0.0;
        }
    }
    return 0;
}

KERNEL binary_preference(Codes rows, Floats relevant, Floats judged, Floats n_relevant, Floats n_nonrelevant,
                         Floats out) {
    int64_t depth = rows.shape[1], n_assessors = relevant.shape[1];
    double *above = malloc((n_assessors + 1) * sizeof(double));
    if (!above) return 1;
    for (int64_t s = 0; s < rows.shape[0]; s++) {
        const int32_t *row = rows.data + s * depth;
        double *score = out.data + s * n_assessors;
        fill(score, n_assessors, 0.0);
        fill(above, n_assessors, 0.0);
        for (int64_t r = 0; r < depth; r++) {
            if (row[r] < 0) continue;
            const double *rel = relevant.data + row[r] * n_assessors;
            const double *is_judged = judged.data + row[r] * n_assessors;
            for (int64_t a = 0; a < n_assessors; a++) {
                if (rel[a] > 0.0) {
                    score[a] += 1.0;
                    if (above[a] > 0.0) {
                        double limit = smaller(n_nonrelevant.data[a], n_relevant.data[a]);
                        score[a] -= smaller(above[a], n_relevant.data[a]) / limit;
                    }
                }
                above[a] += is_judged[a] - rel[a];
            }
        }
    }
    free(above);
    return 0;
}

KERNEL blended_ratio_sum(Codes rows, Floats relevant, Floats gains, Floats ideal, double beta, int64_t cutoff,
                         Floats out) {
    int64_t depth = rows.shape[1], n_assessors = relevant.shape[1];
    double *room = malloc((3 * n_assessors + 1) * sizeof(double));
    if (!room) return 1;
    double *restrict n_found = room, *restrict gained = room + n_assessors, *restrict best = room + 2 * n_assessors;
    for (int64_t s = 0; s < rows.shape[0]; s++) {
        const int32_t *row = rows.data + s * depth;
        double *restrict score = out.data + s * n_assessors;
        fill(score, n_assessors, 0.0);
        fill(n_found, n_assessors, 0.0);
        fill(gained, n_assessors, 0.0);
        fill(best, n_assessors, 0.0);
        for (int64_t r = 0; r < smaller_int(cutoff, depth); r++) {
            if (r < ideal.shape[0])
                for (int64_t a = 0; a < n_assessors; a++)
                    best[a] += ideal.data[r * n_assessors + a];
            if (row[r] < 0) continue;
            const double *restrict rel = relevant.data + row[r] * n_assessors;
            const double *restrict gain = gains.data + row[r] * n_assessors;
            for (int64_t a = 0; a < n_assessors; a++) {
                n_found[a] += rel[a];
                gained[a] += gain[a];
                score[a] += rel[a] * (n_found[a] + beta * gained[a]) / (r + 1 + beta * best[a]);
            }
        }
    }
    free(room);
    return 0;
}

KERNEL shared_precision_sum(Codes rows, Floats worth, int64_t cutoff, Floats out) {
    int64_t depth = rows.shape[1], n_assessors = worth.shape[1];
    double *restrict shared = malloc((n_assessors + 1) * sizeof(double));
    if (!shared) return 1;
    for (int64_t s = 0; s < rows.shape[0]; s++) {
        const int32_t *row = rows.data + s * depth;
        double *restrict score = out.data + s * n_assessors;
        fill(score, n_assessors, 0.0);
        for (int64_t n = 0; n < smaller_int(cutoff, depth); n++) {
            if (row[n] < 0) continue;
            const double *here = worth.data + row[n] * n_assessors;
            fill(shared, n_assessors, 0.0);
            for (int64_t m = 0; m <= n; m++) {
                if (row[m] < 0) continue;
                const double *there = worth.data + row[m] * n_assessors;
                for (int64_t a = 0; a < n_assessors; a++)
                    shared[a] += smaller(here[a], there[a]);
            }
            for (int64_t a = 0; a < n_assessors; a++)
                score[a] += shared[a] / (n + 1);
        }
    }
    free(shared);
    return 0;
}
