/* Elements between host and port types. */
#ifndef MW__GRAPH_VALUES_CONVERT_H
#define MW__GRAPH_VALUES_CONVERT_H

#include "base/text/error.h"
#include "base/visible.h"
#include "graph/values/values.h"
#include <millwright/types.h>

/* out[i] = data[i] * scale + offset, rounded once to `to`, under the rule of values.h with `to` as declared and stored
 * type; infinities pass. Nothing is written on failure.
 *  errors  as mw__values_check; the message says "element 3 is 70000, ..." */
mw_status mw__convert(void *out, mw_dtype to, const mw__values *in, mw_error *err);
/* The same of something that the message begins with: "the prediction: element 3 is 70000, ..." */
mw_status mw__convert_of(const char *what, void *out, mw_dtype to, const mw__values *in, mw_error *err);
/* That sentence, for values that entered under another rule. */
mw_status mw__convert_refused(const mw__refusal *refusal, size_t count, const char *what, mw_error *err);

/* The same for values that mw__values_check let pass. */
void mw__convert_checked(void *out, mw_dtype to, const mw__values *in);

/* One element of a host type, as double: exact but for 64-bit integers beyond 2^53. */
MW__SIBLING double mw__load_element(const void *data, mw_dtype dtype, size_t index);

/* Index of the first element that is NaN or infinite; `count` if none. Integers are finite. */
size_t mw__find_not_finite(const void *data, mw_dtype dtype, size_t count);

#endif
