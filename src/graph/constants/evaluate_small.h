/* Small tensors of numbers that follow from constants and shapes: what programs compute extents, positions and trip
 * counts with. */
#ifndef MW__GRAPH_CONSTANTS_EVALUATE_SMALL_H
#define MW__GRAPH_CONSTANTS_EVALUATE_SMALL_H

#include "graph/ir/ir_types.h"

enum { MW__KNOWN_MAX = 64 };

/* The elements of a tensor. An int32 is exact; a float is rounded to its type. */
typedef struct mw__known {
    mw_dtype dtype;
    mw_shape shape;
    size_t count;
    double at[MW__KNOWN_MAX];
} mw__known;

/* The tensor that stands for a value now, in a clone its copy; NULL = the value itself. */
typedef const mw_tensor *mw__known_lookup(void *user, const mw_tensor *value);

typedef struct mw__evaluation {
    mw__known_lookup *lookup; /* or NULL */
    void *user;
    int depth, steps; /* both bounded: what several operands share is evaluated again */
} mw__evaluation;

/* True if the value's elements are known: a loaded constant, the shape of a tensor, or arithmetic, selection and
 * movement of such by operations of at most 64 elements. An integer that leaves its type, a division
 * by 0 and an index outside are not known: what they mean is the device's affair. */
bool mw__evaluate(mw__evaluation *evaluation, const mw_tensor *value, mw__known *out);

/* The same for one int32 or bool. */
bool mw__evaluate_scalar(mw__evaluation *evaluation, const mw_tensor *value, int64_t *out);

#endif
