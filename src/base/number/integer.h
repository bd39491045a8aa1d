/* The smaller and the larger of two integers, limits, and division and multiples rounded up. None checks for overflow;
 * base/memory/checked.h does. */
#ifndef MW__BASE_NUMBER_INTEGER_H
#define MW__BASE_NUMBER_INTEGER_H

#include <stddef.h>
#include <stdint.h>

static inline int64_t mw__i64_min(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t mw__i64_max(int64_t a, int64_t b) { return a > b ? a : b; }

/* value, but at least `low` and at most `high`; low <= high. */
static inline int64_t mw__i64_clamp(int64_t value, int64_t low, int64_t high)
{
    return value < low ? low : value > high ? high : value;
}

/* The smallest number of parts of size b that hold a; a >= 0, b > 0. */
static inline int64_t mw__i64_divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

/* The smallest multiple of `step` that is not below a; a >= 0, step > 0. */
static inline int64_t mw__i64_round_up(int64_t a, int64_t step) { return (a + step - 1) / step * step; }
static inline uint64_t mw__u64_round_up(uint64_t a, uint64_t step) { return (a + step - 1) / step * step; }
static inline size_t mw__size_round_up(size_t a, size_t step) { return (a + step - 1) / step * step; }

#endif
