/* Integers that fp16 cannot count to, as two digits that it holds: n = high MW__DIGIT_BASE + low with 0 <= low <
 * MW__DIGIT_BASE, high rounded down. A number is matched by matching both; a row of a table is the product with the
 * one-hot matrix that the digits span. Numbers that fp16 counts to are one digit, themselves.
 *
 * fp16 has every integer up to 2048, so that two digits name the numbers from -MW__DIGITS_MAX to MW__DIGITS_MAX. */
#ifndef MW__GRAPH_PATTERNS_DIGITS_H
#define MW__GRAPH_PATTERNS_DIGITS_H

#include "graph/ir/ir.h"

#define MW__COUNTED_MAX 2048 /* by fp16 */
#define MW__DIGIT_BASE  256
#define MW__DIGITS_MAX  (MW__COUNTED_MAX * MW__DIGIT_BASE)

/* Tensors of one shape: high and low, or one that is the number. */
typedef struct mw__digits {
    mw_tensor *digit[2];
    int count;
} mw__digits;

/* Digit 0 (high) or 1 (low) of a number. */
int64_t mw__digit_of(int64_t number, int digit);

/* hot[o, i, k] = 1 where the number [o, k] is first + i, else 0: the product of the one-hot digits.
 *  digits  [outer, 1, inner] in any shape
 *  first   with two digits a multiple of MW__DIGIT_BASE
 *  return  [outer, count, inner] in `dtype` */
mw_tensor *mw__digits_hot(const mw__digits *digits, int64_t outer, int64_t inner, int64_t first, int64_t count,
                          mw_dtype dtype);

/* 1 where two numbers are equal, else 0; the shapes broadcast. */
mw_tensor *mw__digits_equal(const mw__digits *a, const mw__digits *b, mw_dtype dtype);

/* Numbers below 0 count from the end of `extent`: n + extent for these. */
mw__digits mw__digits_wrap(const mw__digits *digits, int64_t extent);

/* Digit of the numbers first .. first + count - 1 as [count], F32. `first` is a multiple of MW__DIGIT_BASE. */
mw_tensor *mw__digits_range(mw_graph *graph, int64_t first, int64_t count, int digit);

#endif
