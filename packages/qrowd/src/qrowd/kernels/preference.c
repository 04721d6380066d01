/* Preferences against rankings: see preference.py. */

#include "arrays.h"

KERNEL ordered_pairs(Codes ranks, Codes limits, Ints starts, Codes pairs, Floats weight, Floats discount, int64_t upper,
                     Floats correct, Floats ordered) {
    int64_t n_assessors = starts.shape[0] - 1;
    for (int64_t s = 0; s < ranks.shape[0]; s++) {
        const int32_t *rank = ranks.data + s * ranks.shape[1];
        int32_t limit = limits.data[s];
        for (int64_t a = 0; a < n_assessors; a++) {
            double right = 0.0, total = 0.0;
            for (int64_t row = starts.data[a]; row < starts.data[a + 1]; row++) {
                int32_t better = rank[pairs.data[2 * row]], worse = rank[pairs.data[2 * row + 1]];
                if (better < limit || worse < limit) {
                    int64_t at = upper ? smaller_int(better, worse) : larger_int(better, worse);
                    double w = weight.data[row] * discount.data[at];
                    total += w;
                    right += better < worse ? w : 0.0;
                }
            }
            correct.data[s * n_assessors + a] = right;
            ordered.data[s * n_assessors + a] = total;
        }
    }
    return 0;
}

KERNEL average_share(Codes ranks, Codes limits, Ints starts, Codes pairs, Floats weight, int64_t cutoff, Floats out) {
    int64_t n_assessors = starts.shape[0] - 1, deepest = 0;
    for (int64_t s = 0; s < limits.shape[0]; s++)
        deepest = larger_int(deepest, limits.data[s]);
    double *right = malloc(2 * (deepest + 1) * sizeof(double)), *total = right + deepest + 1;
    if (!right) return 1;
    for (int64_t s = 0; s < ranks.shape[0]; s++) {
        const int32_t *rank = ranks.data + s * ranks.shape[1];
        for (int64_t a = 0; a < n_assessors; a++) {
            fill(right, 2 * (deepest + 1), 0.0);
            for (int64_t row = starts.data[a]; row < starts.data[a + 1]; row++) {
                int32_t better = rank[pairs.data[2 * row]], worse = rank[pairs.data[2 * row + 1]];
                total[smaller_int(better, worse)] += weight.data[row];
                if (better < worse) right[better] += weight.data[row];
            }
            double so_far = 0.0, ordered = 0.0, shares = 0.0;
            int64_t n = 0;
            for (int64_t k = 1; k < smaller_int(limits.data[s], cutoff + 1); k++) {
                ordered += total[k];
                if (right[k] > 0.0) {
                    so_far += right[k];
                    shares += so_far / ordered;
                    n++;
                }
            }
            out.data[s * n_assessors + a] = n > 0 ? shares / n : 0.0;
        }
    }
    free(right);
    return 0;
}

KERNEL closure(int64_t n, Codes pairs, Bytes closed) {
    uint8_t *reach = malloc(n * n + 1);
    if (!reach) return 1;
    memset(closed.data, 0, n * n);
    for (int64_t row = 0; row < pairs.shape[0]; row++)
        closed.data[pairs.data[2 * row] * n + pairs.data[2 * row + 1]] = 1;
    memcpy(reach, closed.data, n * n);
    for (int64_t k = 0; k < n; k++)
        for (int64_t i = 0; i < n; i++)
            if (reach[i * n + k])
                for (int64_t j = 0; j < n; j++)
                    reach[i * n + j] |= reach[k * n + j];
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            if (i != j && reach[i * n + j] && !reach[j * n + i]) closed.data[i * n + j] = 1;
    free(reach);
    return 0;
}

KERNEL similarity_to_ideal(Codes ranks, Codes limits, Codes levels, int64_t n_levels, Floats tail, Floats out) {
    int64_t n_assessors = levels.shape[0], n_documents = levels.shape[1], deepest = tail.shape[0] - 1;
    int64_t *ideal_rank = malloc((n_levels + 1) * sizeof(int64_t));
    int64_t longest = 0;
    for (int64_t s = 0; s < limits.shape[0]; s++)
        longest = larger_int(longest, limits.data[s]);
    int64_t *by_rank = malloc((longest + 1) * sizeof(int64_t));
    if (!ideal_rank || !by_rank) {
        free(ideal_rank);
        free(by_rank);
        return 1;
    }
    for (int64_t s = 0; s < ranks.shape[0]; s++) {
        const int32_t *rank = ranks.data + s * n_documents;
        int64_t n_ranked = 0;
        for (int64_t r = 0; r < limits.data[s]; r++)
            by_rank[r] = -1;
        for (int64_t d = 0; d < n_documents; d++)
            if (rank[d] < limits.data[s]) by_rank[rank[d]] = d;
        for (int64_t r = 0; r < limits.data[s]; r++)
            if (by_rank[r] >= 0) by_rank[n_ranked++] = by_rank[r];
        for (int64_t a = 0; a < n_assessors; a++) {
            const int32_t *level = levels.data + a * n_documents;
            int64_t size = 0;
            memset(ideal_rank, 0, (n_levels + 1) * sizeof(int64_t));
            for (int64_t d = 0; d < n_documents; d++)
                ideal_rank[level[d]]++;
            for (int64_t step = n_levels; step > 0; step--) {
                size += ideal_rank[step];
                ideal_rank[step] = size - ideal_rank[step];
            }
            double shared = 0.0, best = 0.0;
            for (int64_t r = 0; r < n_ranked; r++) {
                int64_t d = by_rank[r];
                if (level[d] > 0) {
                    int64_t depth = larger_int(rank[d], ++ideal_rank[level[d]]);
                    if (depth <= deepest) shared += tail.data[depth];
                }
            }
            for (int64_t depth = 1; depth <= smaller_int(size, deepest); depth++)
                best += tail.data[depth];
            out.data[s * n_assessors + a] = best > 0.0 ? shared / best : 0.0;
        }
    }
    free(ideal_rank);
    free(by_rank);
    return 0;
}
