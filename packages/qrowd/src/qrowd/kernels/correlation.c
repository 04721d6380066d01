/* How alike the rankings in the rows of two tables are: see correlation.py. */

#include "arrays.h"

KERNEL pair_counts(Floats x, Floats y, Ints counts) {
    int64_t n = x.shape[1];
    double *a = malloc((2 * n + 1) * sizeof(double)), *b = a + n;
    if (!a) return 1;
    for (int64_t r = 0; r < x.shape[0]; r++) {
        const double *x_row = x.data + r * n, *y_row = y.data + (y.shape[0] > 1 ? r * n : 0);
        int64_t n_known = 0, score = 0, untied_a = 0, untied_b = 0, untied = 0;
        for (int64_t i = 0; i < n; i++)
            if (!isnan(x_row[i]) && !isnan(y_row[i])) {
                a[n_known] = x_row[i];
                b[n_known] = y_row[i];
                n_known++;
            }
        for (int64_t i = 0; i < n_known; i++) {
            double u = a[i], v = b[i];
            for (int64_t j = 0; j < i; j++) {
                int64_t p = (u > a[j]) - (u < a[j]), q = (v > b[j]) - (v < b[j]);
                score += p * q;
                untied_a += p * p;
                untied_b += q * q;
                untied += p * p * q * q;
            }
        }
        int64_t pairs = n_known * (n_known - 1) / 2, *count = counts.data + r * 6;
        count[0] = (untied + score) / 2;
        count[1] = (untied - score) / 2;
        count[2] = pairs - untied_a;
        count[3] = pairs - untied_b;
        count[4] = pairs - untied_a - untied_b + untied;
        count[5] = pairs;
    }
    free(a);
    return 0;
}

KERNEL ap_correlation(Floats x, Floats y, Floats out) {
    int64_t n = x.shape[1];
    double *harmonic = calloc(n + 1, sizeof(double));
    if (!harmonic) return 1;
    for (int64_t i = 1; i < n; i++)
        harmonic[i] = harmonic[i - 1] + 1.0 / i;
    for (int64_t r = 0; r < x.shape[0]; r++) {
        const double *x_row = x.data + r * n, *y_row = y.data + (y.shape[0] > 1 ? r * n : 0);
        double total = 0.0;
        int64_t nans = 0;
        for (int64_t i = 0; i < n; i++) {
            double u = x_row[i], v = y_row[i];
            int64_t p = 0, t = 0,
                    twice = 0; /* systems above i in x; level with it; of the former, twice those above in y */
            nans += isnan(u) || isnan(v);
            for (int64_t j = 0; j < n; j++) {
                int64_t above = x_row[j] > u;
                p += above;
                t += x_row[j] == u;
                twice += above * (1 + (y_row[j] > v) - (y_row[j] < v));
            }
            if (p > 0) {
                double d = t > 1 ? harmonic[p + t - 1] - harmonic[p - 1] : 1.0 / p;
                total += (0.5 * twice * d + 0.5 * (t - p * d)) / t;
            } else if (t > 0) {
                total += 0.5 * (t - 1) / t;
            }
        }
        out.data[r] = nans == 0 ? 2.0 * total / (n - 1) - 1.0 : NAN;
    }
    free(harmonic);
    return 0;
}
