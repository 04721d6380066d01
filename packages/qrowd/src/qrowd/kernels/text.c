/* From the bytes of a text file to columns of numbers: see text.py. */

#include "arrays.h"

static int is_blank(uint8_t character) { return character == 32 || (9 <= character && character <= 13); }
static int is_digit(uint8_t character) { return '0' <= character && character <= '9'; }

static const double POWERS[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

static double scaled(int64_t mantissa, int64_t scale) {
    const int64_t exact = (int64_t)1 << 53;
    if (scale == 0 && mantissa <= exact) return (double)mantissa;
    if (scale < -22 || scale > 22) return NAN;
    double power = POWERS[scale < 0 ? -scale : scale];
    if (mantissa <= exact) return scale < 0 ? mantissa / power : mantissa * power;
    if (scale > 0) return NAN;
    double high = (double)mantissa, low = (double)(mantissa - (int64_t)high), quotient = high / power;
    double split = 134217729.0 * quotient, a = split - (split - quotient), b = quotient - a;
    split = 134217729.0 * power;
    double c = split - (split - power), d = power - c, product = quotient * power;
    double excess = ((a * c - product) + a * d + b * c) + b * d;
    double rest = ((high - product) - excess + low) / power;
    double value = quotient + rest * (1.0 + 3.6e-15);
    return value == quotient + rest * (1.0 - 3.6e-15) ? value : NAN;
}

/* The number in the field at `start`, nan where it is not decided here; *end becomes where the field ends. */
static double decimal(const uint8_t *text, int64_t start, int64_t *end) {
    const int64_t largest = 100000000000000000;
    int64_t i = start, mantissa = 0, scale = 0;
    int negative = text[i] == '-';
    if (negative || text[i] == '+') i++;
    int64_t first = i;
    for (; is_digit(text[i]) && mantissa < largest; i++)
        mantissa = mantissa * 10 + text[i] - '0';
    int64_t digits = i - first;
    if (text[i] == '.') {
        int64_t point = ++i;
        for (; is_digit(text[i]) && mantissa < largest; i++)
            mantissa = mantissa * 10 + text[i] - '0';
        scale = point - i;
        digits -= scale;
    }
    if (digits > 0 && (text[i] == 'e' || text[i] == 'E')) {
        int64_t sign = 1, exponent = 0;
        i++;
        if (text[i] == '-' || text[i] == '+') sign = text[i++] == '-' ? -1 : 1;
        for (digits = 0; is_digit(text[i]) && exponent < 1000; i++, digits++)
            exponent = exponent * 10 + text[i] - '0';
        scale += sign * exponent;
    }
    double value = NAN;
    if (digits > 0 && is_blank(text[i])) {
        value = scaled(mantissa, scale);
        value = negative ? -value : value;
    }
    while (!is_blank(text[i]))
        i++;
    *end = i;
    return value;
}

KERNEL split_fields(Bytes text_bytes, int64_t first, Ints kinds, Ints starts, Ints ends, Floats numbers,
                    int64_t *result) {
    const uint8_t *text = text_bytes.data;
    int64_t n_fields = kinds.shape[0], n_rows = 0, undecided = 0, line = 0, wrong = 0, i = first;
    while (i < text_bytes.shape[0] && !wrong) {
        line++;
        if (text[i] == '#') {
            while (text[i++] != '\n')
                ;
            continue;
        }
        int64_t field = 0;
        for (;; field++) {
            while (text[i] != '\n' && is_blank(text[i]))
                i++;
            if (text[i] == '\n') break;
            int64_t kind = field < n_fields ? kinds.data[field] : 0, start = i;
            if (kind < 0) {
                double value = decimal(text, start, &i);
                numbers.data[(-kind - 1) * numbers.shape[1] + n_rows] = value;
                undecided += isnan(value);
                continue;
            }
            while (!is_blank(text[i]))
                i++;
            if (kind > 0) {
                starts.data[(kind - 1) * starts.shape[1] + n_rows] = start;
                ends.data[(kind - 1) * ends.shape[1] + n_rows] = i;
            }
        }
        i++;
        if (field == n_fields)
            n_rows++;
        else if (field > 0)
            wrong = line;
    }
    result[0] = n_rows;
    result[1] = undecided;
    result[2] = wrong;
    return 0;
}

/* FNV-1a, without the highest bit. */
static int64_t hash_of(const uint8_t *word, int64_t length) {
    uint64_t hashed = 0x4BF29CE484222325u;
    for (int64_t k = 0; k < length; k++)
        hashed = (hashed ^ word[k]) * 0x100000001B3u;
    return (int64_t)((hashed ^ (hashed >> 32)) & 0x7FFFFFFFFFFFFFFFu);
}

/* The slot that holds the number of the word, or the free one where it belongs. */
static int64_t slot_of(const uint8_t *word, int64_t length, Codes slots, Bytes pool, Ints pool_ends) {
    int64_t mask = slots.shape[0] - 1, slot = hash_of(word, length) & mask;
    for (; slots.data[slot] >= 0; slot = (slot + 1) & mask) {
        const int64_t *ends = pool_ends.data + slots.data[slot];
        if (ends[1] - 1 - ends[0] == length && memcmp(word, pool.data + ends[0], length) == 0) break;
    }
    return slot;
}

KERNEL encode_words(Bytes text, Ints starts, Ints ends, Codes slots, Bytes pool, Ints pool_ends, int64_t n_words,
                    int64_t first, Codes codes, int64_t *result) {
    int64_t row = first;
    for (; row < starts.shape[0]; row++) {
        const uint8_t *word = text.data + starts.data[row];
        int64_t length = ends.data[row] - starts.data[row], slot = slot_of(word, length, slots, pool, pool_ends);
        if (slots.data[slot] < 0) {
            int64_t end = pool_ends.data[n_words];
            if (2 * (n_words + 1) > slots.shape[0] || n_words + 2 > pool_ends.shape[0] ||
                end + length + 1 > pool.shape[0])
                break;
            memcpy(pool.data + end, word, length);
            pool.data[end + length] = '\n';
            pool_ends.data[n_words + 1] = end + length + 1;
            slots.data[slot] = n_words++;
        }
        codes.data[row] = slots.data[slot];
    }
    result[0] = n_words;
    result[1] = row;
    return 0;
}

KERNEL place_words(Bytes pool, Ints pool_ends, int64_t n_words, Codes slots) {
    for (int64_t word = 0; word < n_words; word++) {
        int64_t begin = pool_ends.data[word], length = pool_ends.data[word + 1] - 1 - begin;
        slots.data[slot_of(pool.data + begin, length, slots, pool, pool_ends)] = word;
    }
    return 0;
}
