/* What the rows of codes share. */
#ifndef MW__ENGINE_COMPILE_PATTERNS_PATTERNS_INT8_H
#define MW__ENGINE_COMPILE_PATTERNS_PATTERNS_INT8_H

#include "engine/compile/patterns/patterns.h"
#include "engine/kernels/int8/int8.h"

/* How an operation quantizes, and what, in *out_x, below what only bounds it; else why it does not. */
const char *mw__pattern_read_quantize(const mw__finder *f, const mw__op *op, mw__int8_product_match *q,
                                      const mw_tensor **out_x);
/* The codes of which x is the numbers; NULL: it is none of fp32. */
const mw_tensor *mw__pattern_codes_below(const mw__finder *f, const mw_tensor *x, float *out_scale, int *out_zero);
int mw__pattern_code_between(double code, int low, int high);
/* What becomes of each code by itself, in the order of its byte. */
void mw__pattern_fill_table(const mw__int8_product_match *q, mw_dtype dtype, float scale, int zero, uint8_t table[256]);
/* By value: what lies in quads, filled when all patterns are known. NULL with err set after a failed allocation. */
const bool *mw__pattern_quads(mw__finder *f, mw_error *err);

#endif
