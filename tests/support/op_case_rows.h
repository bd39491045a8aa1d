/* How a family writes its cases: the words of its table. Only tests/support/cases_<family>.c includes it. */
#ifndef TESTS_SUPPORT_OP_CASE_ROWS_H
#define TESTS_SUPPORT_OP_CASE_ROWS_H

#include "support/op_cases.h"

#include <millwright/millwright.h>

/* ---- builders ---- */

#define UNARY(name)                                                                                                    \
    static mw_tensor *b_##name(mw_tensor *const *in) { return mw_##name(in[0]); }
#define BINARY(name)                                                                                                   \
    static mw_tensor *b_##name(mw_tensor *const *in) { return mw_##name(in[0], in[1]); }
#define BUILD(name, expression)                                                                                        \
    static mw_tensor *b_##name(mw_tensor *const *in) { return (expression); }

/* ---- inputs: rank, bounds of the values, extents ---- */

#define F(r, low, high, ...)                                                                                           \
    {                                                                                                                  \
        MW_F32, {r, {__VA_ARGS__}}, low, high                                                                          \
    }
#define I(r, low, high, ...)                                                                                           \
    {                                                                                                                  \
        MW_I32, {r, {__VA_ARGS__}}, low, high                                                                          \
    }
#define B(r, ...)                                                                                                      \
    {                                                                                                                  \
        MW_BOOL, {r, {__VA_ARGS__}}, 0, 2                                                                              \
    }

/* ---- cases ---- */

/* The kernel's result is the correctly rounded one, or off by a stated number of units for a stated reason. */
#define EXACT(name, detail, build, ...)                                                                                \
    {                                                                                                                  \
        name, detail, build, {__VA_ARGS__}, 1.0, 0.0, ""                                                               \
    }
#define LOOSE(name, detail, build, ulps, magnitude, reason, ...)                                                       \
    {                                                                                                                  \
        name, detail, build, {__VA_ARGS__}, ulps, magnitude, reason                                                    \
    }
#define LIBM "a transcendental function of at most 4 ulp"
#define SUM  "a sum in another order"

#define OP_CASES(family, rows) const op_case_list op_cases_##family = {#family, rows, sizeof rows / sizeof *rows};

#endif
