/* Deep copies of types and literals into another graph, for the clone. */
#ifndef MW__GRAPH_IR_COPY_H
#define MW__GRAPH_IR_COPY_H

#include "graph/ir/ir.h"

const mw__type *mw__type_copy(mw_graph *to, const mw__type *type, mw_error *err);
const mw__payload *mw__payload_copy(mw_graph *to, const mw__payload *payload, mw_error *err);
/* The same numbers in another float type. MW_ERROR_NUMERIC if a finite one becomes infinite, MW_ERROR_UNSUPPORTED if
 * the data is not loaded. */
const mw__payload *mw__payload_convert(mw_graph *to, const mw__payload *payload, mw_dtype dtype, mw_error *err);
mw_status mw__attributes_copy(mw_graph *to, const mw__attribute *from, size_t count, mw__attribute **out,
                              mw_error *err);

#endif
