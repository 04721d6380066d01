/* How far assessors' scores stand from those of thousands of others: see gaps.py. */

#include "arrays.h"

#define DENSITY_FLOOR 1e-12
#define REACH 10.0

/* How many bits of a word are set, in pairs, fours, bytes. */
static uint64_t bits(uint64_t word) {
    uint64_t pairs = word - ((word >> 1) & 0x5555555555555555u);
    uint64_t fours = (pairs & 0x3333333333333333u) + ((pairs >> 2) & 0x3333333333333333u);
    return (((fours + (fours >> 4)) & 0x0F0F0F0F0F0F0F0Fu) * 0x0101010101010101u) >> 56;
}

KERNEL squared_distances(Floats crowd, Floats random, Floats out) {
    int64_t n_systems = random.shape[0], n_replicates = random.shape[1];
    for (int64_t a = 0; a < crowd.shape[0]; a++) {
        double *restrict total = out.data + a * n_replicates;
        fill(total, n_replicates, 0.0);
        for (int64_t s = 0; s < n_systems; s++) {
            const double *restrict other = random.data + s * n_replicates;
            double score = crowd.data[a * n_systems + s];
            for (int64_t h = 0; h < n_replicates; h++) {
                double difference = score - other[h];
                total[h] += difference * difference;
            }
        }
    }
    return 0;
}

typedef struct {
    double value;
    int64_t system;
} Place;

/* Ascending; equal values in the order of the systems. */
static int compare(const void *first, const void *second) {
    const Place *a = first, *b = second;
    if (a->value != b->value) return a->value < b->value ? -1 : 1;
    return a->system < b->system ? -1 : a->system > b->system;
}

/* (assessors, systems, words) the systems that the assessor puts above each system, and level with it, as bits. */
static void fill_sets(Floats crowd, int64_t n_words, uint64_t *above, uint64_t *level) {
    int64_t n_systems = crowd.shape[1];
    for (int64_t a = 0; a < crowd.shape[0]; a++) {
        const double *score = crowd.data + a * n_systems;
        for (int64_t i = 0; i < n_systems; i++)
            for (int64_t j = 0; j < n_systems; j++) {
                uint64_t bit = (uint64_t)1 << (j & 63);
                int64_t word = (a * n_systems + i) * n_words + (j >> 6);
                if (score[j] > score[i])
                    above[word] |= bit;
                else if (score[j] == score[i])
                    level[word] |= bit;
            }
    }
}

KERNEL rank_correlations(Floats crowd, Floats random, Floats tau, Floats apc) {
    int64_t n_assessors = crowd.shape[0], n_systems = crowd.shape[1], n_replicates = random.shape[1];
    int64_t n_words = (n_systems + 63) >> 6, size = n_assessors * n_systems * n_words;
    uint64_t *above = calloc(2 * size + n_words + 1, sizeof(uint64_t));
    double *harmonic = calloc(n_systems + 1 + n_assessors, sizeof(double));
    int64_t *order = malloc((n_assessors + 1) * sizeof(int64_t));
    Place *walk = malloc((n_systems + 1) * sizeof(Place));
    if (!above || !harmonic || !order || !walk) {
        free(above);
        free(harmonic);
        free(order);
        free(walk);
        return 1;
    }
    uint64_t *level = above + size, *ahead = level + size;
    double *correct = harmonic + n_systems + 1;
    fill_sets(crowd, n_words, above, level);
    for (int64_t i = 1; i <= n_systems; i++)
        harmonic[i] = harmonic[i - 1] + 1.0 / i;
    for (int64_t h = 0; h < n_replicates; h++) {
        for (int64_t s = 0; s < n_systems; s++) {
            walk[s].value = -random.data[s * n_replicates + h];
            walk[s].system = s;
        }
        qsort(walk, n_systems, sizeof(Place), compare);
        memset(ahead, 0, n_words * sizeof(uint64_t));
        fill(correct, n_assessors, 0.0);
        memset(order, 0, n_assessors * sizeof(int64_t));
        double chance = 0.0;
        for (int64_t p = 0, end; p < n_systems; p = end) {
            for (end = p + 1; end < n_systems && walk[end].value == walk[p].value;)
                end++;
            int64_t t = end - p;
            if (p == 0) {
                chance += 0.5 * (t - 1);
            } else {
                double share = (harmonic[end - 1] - harmonic[p - 1]) / t;
                chance += 0.5 * (t - p * (harmonic[end - 1] - harmonic[p - 1]));
                for (int64_t k = p; k < end; k++)
                    for (int64_t a = 0; a < n_assessors; a++) {
                        int64_t row = (a * n_systems + walk[k].system) * n_words, higher = 0, equal = 0;
                        for (int64_t w = 0; w < n_words; w++) {
                            higher += bits(ahead[w] & above[row + w]);
                            equal += bits(ahead[w] & level[row + w]);
                        }
                        correct[a] += share * (higher + 0.5 * equal);
                        order[a] += 2 * higher + equal - p;
                    }
            }
            for (int64_t k = p; k < end; k++)
                ahead[walk[k].system >> 6] |= (uint64_t)1 << (walk[k].system & 63);
        }
        for (int64_t a = 0; a < n_assessors; a++) {
            tau.data[a * n_replicates + h] = 2.0 * order[a] / (n_systems * (n_systems - 1.0));
            apc.data[a * n_replicates + h] = 2.0 * (correct[a] + chance) / (n_systems - 1.0) - 1.0;
        }
    }
    free(above);
    free(harmonic);
    free(order);
    free(walk);
    return 0;
}

KERNEL add_densities(Floats scores, double bandwidth, Floats density) {
    int64_t n_systems = scores.shape[0], n_columns = scores.shape[1], n_points = density.shape[1];
    double step = 1.0 / (n_points - 1);
    int64_t reach = (int64_t)ceil(REACH * bandwidth / step);
    double *falls = malloc((reach + 2) * sizeof(double));
    if (!falls) return 1;
    for (int64_t k = 0; k < reach + 2; k++) {
        double distance = k * step / bandwidth;
        falls[k] = exp(-0.5 * (distance * distance));
    }
    for (int64_t c = 0; c < n_columns; c++) {
        double *point = density.data + c * n_points;
        for (int64_t s = 0; s < n_systems; s++) {
            double score = scores.data[s * n_columns + c];
            if (isnan(score)) continue;
            int64_t nearest = (int64_t)rint(score / step);
            double offset = (score - nearest * step) / bandwidth;
            double centre = exp(-0.5 * offset * offset);
            if (0 <= nearest && nearest < n_points) point[nearest] += centre;
            double grow = exp(offset * step / bandwidth), shrink = 1.0 / grow, up = centre, down = centre;
            for (int64_t k = 1; k <= reach; k++) {
                up *= grow;
                down *= shrink;
                if (0 <= nearest + k && nearest + k < n_points) point[nearest + k] += up * falls[k];
                if (0 <= nearest - k && nearest - k < n_points) point[nearest - k] += down * falls[k];
            }
        }
    }
    free(falls);
    return 0;
}

static double sum_of(const double *values, int64_t size) {
    double total = 0.0;
    for (int64_t i = 0; i < size; i++)
        total += values[i];
    return total;
}

KERNEL divergences(Floats crowd, Floats random, Floats out) {
    int64_t n_assessors = crowd.shape[0], n_points = crowd.shape[1], n_replicates = random.shape[0];
    double *own = malloc((n_assessors * n_points + n_assessors + n_points + 1) * sizeof(double));
    if (!own) return 1;
    double *entropy = own + n_assessors * n_points, *logs = entropy + n_assessors;
    for (int64_t a = 0; a < n_assessors; a++) {
        const double *density = crowd.data + a * n_points;
        double total = sum_of(density, n_points);
        entropy[a] = 0.0;
        for (int64_t x = 0; x < n_points; x++) {
            double share = larger(density[x] / total, DENSITY_FLOOR);
            own[a * n_points + x] = share;
            entropy[a] += share * log(share);
        }
    }
    for (int64_t h = 0; h < n_replicates; h++) {
        const double *density = random.data + h * n_points;
        double total = sum_of(density, n_points);
        for (int64_t x = 0; x < n_points; x++)
            logs[x] = log(larger(density[x] / total, DENSITY_FLOOR));
        for (int64_t a = 0; a < n_assessors; a++) {
            double cross = 0.0;
            for (int64_t x = 0; x < n_points; x++)
                cross += own[a * n_points + x] * logs[x];
            out.data[a * n_replicates + h] = entropy[a] - cross;
        }
    }
    free(own);
    return 0;
}
