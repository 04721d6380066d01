/* What a kernel takes. The Python function of the same name, in the .py file beside the .c file, says what it computes
   and how its arguments are laid out; the C function computes the same in loops, with the additions in the same order
   where test_both_ways.py wants equal numbers.

   Arrays are C-contiguous, with up to three dimensions; compiled.py checks that, and their type. Whole numbers come as
   int64_t, numbers as double. What a Python function returns is an argument here, after the others: arrays, or room for
   numbers. A kernel returns 0, or 1 where there was not enough memory. */

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef _WIN32
#define KERNEL __declspec(dllexport) int
#else
#define KERNEL int
#endif

typedef struct {
    double *data;
    int64_t shape[3];
} Floats;
typedef struct {
    int64_t *data;
    int64_t shape[3];
} Ints;
typedef struct {
    int32_t *data;
    int64_t shape[3];
} Codes;
typedef struct {
    uint8_t *data;
    int64_t shape[3];
} Bytes; /* also of truth values */

/* As Python's max and min: the first where neither is larger. */
static inline double larger(double a, double b) { return b > a ? b : a; }
static inline double smaller(double a, double b) { return b < a ? b : a; }
static inline int64_t larger_int(int64_t a, int64_t b) { return b > a ? b : a; }
static inline int64_t smaller_int(int64_t a, int64_t b) { return b < a ? b : a; }

static inline void fill(double *values, int64_t size, double value) {
    for (int64_t i = 0; i < size; i++)
        values[i] = value;
}
