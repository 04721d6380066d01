/* Squared differences of values, summed over pairs: see disagreement.py. */

#include "arrays.h"

static double squared_difference(double x, double y, int64_t level) {
    if (x == y) return 0.0;
    if (level == 0) return 1.0;
    double ratio = level == 2 ? (x - y) / (x + y) : x - y;
    return ratio * ratio;
}

KERNEL to_the_others(Ints starts, Floats value, Floats count, int64_t level, Floats out) {
    for (int64_t u = 0; u < starts.shape[0] - 1; u++) {
        int64_t begin = starts.data[u], end = starts.data[u + 1];
        double others = -1.0;
        for (int64_t i = begin; i < end; i++)
            others += count.data[i];
        for (int64_t i = begin; i < end; i++) {
            double total = 0.0;
            for (int64_t j = begin; j < end; j++)
                total += count.data[j] * squared_difference(value.data[i], value.data[j], level);
            out.data[i] = others > 0.0 ? total / others : NAN;
        }
    }
    return 0;
}

KERNEL _sum_drawn_differences(Ints starts, Codes document, Floats value, int64_t level, Floats uniform, double total,
                              double *result) {
    for (int64_t d = 0; d < uniform.shape[0]; d++) {
        int64_t i = (int64_t)(uniform.data[2 * d] * value.shape[0]);
        int64_t begin = starts.data[document.data[i]], end = starts.data[document.data[i] + 1];
        int64_t j = begin + (int64_t)(uniform.data[2 * d + 1] * (end - begin - 1));
        j += j >= i;
        total += squared_difference(value.data[i], value.data[j], level);
    }
    result[0] = total;
    return 0;
}
