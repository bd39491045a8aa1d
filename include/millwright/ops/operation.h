/* The operations that the library knows, as a list.
 *
 *     mw_operation operation;
 *     for (size_t i = 0; mw_operation_at(i, &operation); i++)
 *         puts(operation.name);
 *
 * Threads: every function here may be called from any thread at any time. */
#ifndef MILLWRIGHT_OPS_OPERATION_H
#define MILLWRIGHT_OPS_OPERATION_H

#include <millwright/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Whether an operation has a gradient. */
typedef enum mw_operation_gradient {
    MW_GRADIENT_NONE = 0, /* none: integer or boolean results, or it is written as others first (mw_graph_flatten) */
    MW_GRADIENT_ZERO,     /* 0 almost everywhere */
    MW_GRADIENT_RULE      /* of any order */
} mw_operation_gradient;

/** One operation in one version of the operator set. Strings are static. */
typedef struct mw_operation {
    const char *name;
    mw_opset since; /* of this form; a later one of the same name may have other arguments */
    mw_operation_gradient gradient;
    size_t argument_count;
} mw_operation;

/** An argument. */
typedef struct mw_operation_argument {
    const char *name;
    bool constant; /* known when the program is compiled */
    bool tuple;    /* of several values */
    bool optional; /* may be left out */
} mw_operation_argument;

/** Fills *out with operation `index`, in the order of the table; false beyond the last, *out is then zero. */
MW_API bool mw_operation_at(size_t index, mw_operation *out);

/** Fills *out with argument `argument` of operation `index`; false beyond the last, *out is then zero. */
MW_API bool mw_operation_argument_at(size_t index, size_t argument, mw_operation_argument *out);

#ifdef __cplusplus
}
#endif
#endif
