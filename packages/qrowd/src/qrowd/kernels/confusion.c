/* The passes over all judgments of Dawid-Skene and MACE: see confusion.py. */

#include "arrays.h"

static void count_confusions(Ints starts, Codes assessor, Codes said, Floats posterior, Floats out) {
    int64_t n_grades = posterior.shape[1];
    fill(out.data, out.shape[0] * out.shape[1] * out.shape[2], 0.0);
    for (int64_t d = 0; d < posterior.shape[0]; d++)
        for (int64_t row = starts.data[d]; row < starts.data[d + 1]; row++) {
            double *restrict count = out.data + (assessor.data[row] * n_grades + said.data[row]) * n_grades;
            for (int64_t g = 0; g < n_grades; g++)
                count[g] += posterior.data[d * n_grades + g];
        }
}

static void maximise(Floats counts, Floats posterior, double smoothing, double unsupported, double floor,
                     Floats confusion, Floats prior) {
    int64_t n_grades = counts.shape[1], n_documents = posterior.shape[0];
    for (int64_t a = 0; a < counts.shape[0]; a++)
        for (int64_t g = 0; g < n_grades; g++) {
            const double *count = counts.data + a * n_grades * n_grades + g; /* of grade h at h * n_grades */
            double *share = confusion.data + a * n_grades * n_grades + g;
            double total = 0.0;
            for (int64_t h = 0; h < n_grades; h++)
                total += count[h * n_grades] + smoothing;
            for (int64_t h = 0; h < n_grades; h++)
                share[h * n_grades] =
                    larger(total > floor ? (count[h * n_grades] + smoothing) / total : unsupported, floor);
        }
    for (int64_t g = 0; g < n_grades; g++) {
        double total = 0.0;
        for (int64_t d = 0; d < n_documents; d++)
            total += posterior.data[d * n_grades + g];
        prior.data[g] = larger(total / n_documents, floor);
    }
}

/* posterior[g] ~ exp(logs[g]), summing to 1; the logarithm of the sum is `highest` + `log_total`. Returns the largest
 * change. */
static double normalise(double *logs, int64_t size, double *posterior, double *highest, double *log_total) {
    double total = 0.0, change = 0.0;
    *highest = -INFINITY;
    for (int64_t g = 0; g < size; g++)
        *highest = larger(*highest, logs[g]);
    for (int64_t g = 0; g < size; g++) {
        logs[g] = exp(logs[g] - *highest);
        total += logs[g];
    }
    for (int64_t g = 0; g < size; g++) {
        double likely = logs[g] / total;
        change = larger(change, fabs(likely - posterior[g]));
        posterior[g] = likely;
    }
    *log_total = log(total);
    return change;
}

KERNEL _iterate(Ints starts, Codes assessor, Codes said, double smoothing, double unsupported, double floor,
                Floats posterior, Floats counts, Floats confusion, Floats prior, Floats log_confusion, double *result) {
    int64_t n_grades = posterior.shape[1];
    double *restrict new = malloc((2 * n_grades + 1) * sizeof(double)), *log_prior = new + n_grades;
    if (!new) return 1;
    count_confusions(starts, assessor, said, posterior, counts);
    maximise(counts, posterior, smoothing, unsupported, floor, confusion, prior);
    double log_sum = 0.0, log_likelihood = 0.0, change = 0.0;
    for (int64_t i = 0; i < confusion.shape[0] * n_grades * n_grades; i++) {
        log_confusion.data[i] = log(confusion.data[i]);
        log_sum += log_confusion.data[i];
    }
    for (int64_t g = 0; g < n_grades; g++)
        log_prior[g] = log(prior.data[g]);
    for (int64_t d = 0; d < posterior.shape[0]; d++) {
        memcpy(new, log_prior, n_grades * sizeof(double));
        for (int64_t row = starts.data[d]; row < starts.data[d + 1]; row++) {
            const double *restrict log_share =
                log_confusion.data + (assessor.data[row] * n_grades + said.data[row]) * n_grades;
            for (int64_t g = 0; g < n_grades; g++)
                new[g] += log_share[g];
        }
        double highest, log_total;
        double largest = normalise(new, n_grades, posterior.data + d * n_grades, &highest, &log_total);
        log_likelihood += highest + log_total;
        change = larger(change, largest);
    }
    free(new);
    result[0] = log_likelihood;
    result[1] = log_sum;
    result[2] = change;
    return 0;
}

KERNEL expect_knowing(Ints starts, Codes assessor, Codes said, Floats log_prior, Floats knows, Floats guesses,
                      Floats posterior, Floats knowing, double *result) {
    int64_t n_grades = posterior.shape[1], size = guesses.shape[0] * n_grades;
    double *new = malloc((3 * size + n_grades + 1) * sizeof(double));
    if (!new) return 1;
    double *log_guess = new + n_grades, *gain = log_guess + size, *chance = gain + size;
    for (int64_t i = 0; i < size; i++) {
        double knows_it = knows.data[i / n_grades];
        log_guess[i] = log(guesses.data[i]);
        chance[i] = knows_it / (guesses.data[i] + knows_it);
        gain[i] = log1p(knows_it / guesses.data[i]);
    }
    fill(knowing.data, size, 0.0);
    double log_likelihood = 0.0, change = 0.0;
    for (int64_t d = 0; d < posterior.shape[0]; d++) {
        double *likely = posterior.data + d * n_grades, base = 0.0, highest, log_total;
        memcpy(new, log_prior.data, n_grades * sizeof(double));
        for (int64_t row = starts.data[d]; row < starts.data[d + 1]; row++) {
            int64_t at = assessor.data[row] * n_grades + said.data[row];
            base += log_guess[at];
            new[said.data[row]] += gain[at];
        }
        double largest = normalise(new, n_grades, likely, &highest, &log_total);
        log_likelihood += base + highest + log_total;
        change = larger(change, largest);
        for (int64_t row = starts.data[d]; row < starts.data[d + 1]; row++) {
            int64_t at = assessor.data[row] * n_grades + said.data[row];
            knowing.data[at] += likely[said.data[row]] * chance[at];
        }
    }
    free(new);
    result[0] = log_likelihood;
    result[1] = change;
    return 0;
}
