/* How a family writes its cases: the words of its table. Only cases_<family>.c includes it. */
#ifndef TESTS_SUPPORT_CASES_OP_CASE_ROWS_H
#define TESTS_SUPPORT_CASES_OP_CASE_ROWS_H

#include "support/cases/op_cases.h"

#include <millwright/millwright.h>

/* ---- builders ---- */

#define UNARY(name)                                                                                                    \
    static mw_tensor *b_##name(mw_tensor *const *in) { return mw_##name(in[0]); }
#define BINARY(name)                                                                                                   \
    static mw_tensor *b_##name(mw_tensor *const *in) { return mw_##name(in[0], in[1]); }
#define BUILD(name, expression)                                                                                        \
    static mw_tensor *b_##name(mw_tensor *const *in) { return (expression); }

/* ---- inputs: rank, bounds of the values, extents ---- */

/* clang-format off */
#define F(r, lowest, highest, ...) {.dtype = MW_F32, .shape = {r, {__VA_ARGS__}}, .low = lowest, .high = highest}
#define I(r, lowest, highest, ...) {.dtype = MW_I32, .shape = {r, {__VA_ARGS__}}, .low = lowest, .high = highest}
#define B(r, ...)                  {.dtype = MW_BOOL, .shape = {r, {__VA_ARGS__}}, .low = 0, .high = 2}

/* ---- cases ---- */

/* The kernel's result is the correctly rounded one, or off by a stated number of units for a stated reason. */
#define EXACT(row, what, maker, ...)                                                                                   \
    {.name = row, .detail = what, .build = maker, .in = {__VA_ARGS__}, .ulps = 1.0, .reason = ""}
#define LOOSE(row, what, maker, units, size, why, ...)                                                                 \
    {.name = row, .detail = what, .build = maker, .in = {__VA_ARGS__}, .ulps = units, .magnitude = size, .reason = why}
/* clang-format on */

#define LIBM "a transcendental function of at most 4 ulp"
#define SUM  "a sum in another order"

#define OP_CASES_UNRECORDED(family_, rows_, unrecorded_)                                                               \
    const op_case_list op_cases_##family_ = {                                                                          \
        .family = #family_, .rows = rows_, .count = sizeof rows_ / sizeof *rows_, .unrecorded = unrecorded_};
#define OP_CASES(family, rows) OP_CASES_UNRECORDED(family, rows, NULL)

#endif
