/* Convolution without a conv operation whose weight is computed: see patterns/conv.h. Between the files of the pattern,
 * and for engine/compile/patterns/patterns_built.c, which looks for the columns. */
#ifndef MW__GRAPH_PATTERNS_CONV_DECOMPOSED_H
#define MW__GRAPH_PATTERNS_CONV_DECOMPOSED_H

#include "graph/patterns/conv.h"

/* Zeros before and after the last `axes` axes; negative counts cut elements off. What grows, grows first. */
mw_tensor *mw__conv_fit(mw_tensor *x, int axes, const int64_t *before, const int64_t *after);

/* What each position of y reads of x, which has its border: [N, G, C / G * kernel, positions]. */
mw_tensor *mw__conv_decomposed_columns(const mw__conv *conv, mw_tensor *x);
mw_tensor *mw__conv_decomposed_y(const mw__conv *conv, mw_tensor *x, mw_tensor *weight);
mw_tensor *mw__conv_decomposed_dweight(const mw__conv *conv, mw_tensor *x, mw_tensor *dy);
mw_tensor *mw__conv_decomposed_dbias(mw_tensor *dy);

#endif
