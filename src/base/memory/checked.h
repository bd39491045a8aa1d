/* Arithmetic on sizes that says when it does not fit. */
#ifndef MW__BASE_MEMORY_CHECKED_H
#define MW__BASE_MEMORY_CHECKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline bool mw__add_size(size_t a, size_t b, size_t *out) { return !__builtin_add_overflow(a, b, out); }
static inline bool mw__mul_size(size_t a, size_t b, size_t *out) { return !__builtin_mul_overflow(a, b, out); }
static inline bool mw__add_i64(int64_t a, int64_t b, int64_t *out) { return !__builtin_add_overflow(a, b, out); }
static inline bool mw__mul_i64(int64_t a, int64_t b, int64_t *out) { return !__builtin_mul_overflow(a, b, out); }

/* Rounds up to a multiple of `step` (a power of two); false if it does not fit. */
static inline bool mw__round_up_size(size_t a, size_t step, size_t *out)
{
    size_t sum;
    if (!mw__add_size(a, step - 1, &sum))
        return false;
    *out = sum & ~(step - 1);
    return true;
}

#endif
