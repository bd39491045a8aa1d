/* Updates combined into chosen elements: shape rules and constructors of the scatters of ops/gather.def. What they
 * share with the gathers is in op_gather.c. */
#include <millwright/ops/gather.h>

#include "graph/ir/rule.h"

#include <string.h>

static const char *const modes[] = {
    [MW_SCATTER_UPDATE] = "update", [MW_SCATTER_ADD] = "add", [MW_SCATTER_SUB] = "sub", [MW_SCATTER_MUL] = "mul",
    [MW_SCATTER_DIV] = "div",       [MW_SCATTER_MAX] = "max", [MW_SCATTER_MIN] = "min"};
#define MODES (sizeof modes / sizeof modes[0])

/* ---- rules ---- */

static mw_status check_mode(const mw__infer *infer)
{
    const char *mode = mw__arg_string(infer->op, "mode");
    for (size_t i = 0; mode != NULL && i < MODES; i++) {
        if (strcmp(mode, modes[i]) == 0)
            return MW_OK;
    }
    return mw__rule_fail(infer, MW_ERROR_ARGUMENT, "mode \"%s\" is none of update, add, sub, mul, div, max, min",
                         mode != NULL ? mode : "");
}

static mw_status check_updates(const mw__infer *infer, mw_shape wanted)
{
    const mw_shape updates = mw__rule_shape(infer, "updates");
    char text[200], shape[200];
    bool fits = updates.rank == wanted.rank;
    for (int i = 0; fits && i < wanted.rank; i++)
        fits = mw__dim_fits(updates.dim[i], wanted.dim[i]);
    if (fits)
        return MW_OK;
    return mw__rule_fail(infer, MW_ERROR_SHAPE, "%s must have the shape %s of what the indices choose",
                         mw__arg_print(infer->op, "updates", text, sizeof text),
                         mw__shape_print(wanted, shape, sizeof shape));
}

/* The result is data, whatever is put into it. */
static mw_status finish_scatter(mw__infer *infer, mw_shape chosen)
{
    MW_TRY(check_mode(infer));
    MW_TRY(check_updates(infer, chosen));
    return mw__rule_result(infer, mw__rule_dtype(infer, "data"), mw__rule_shape(infer, "data"));
}

mw_status mw__shape_scatter(mw__infer *infer)
{
    mw_shape chosen = mw__rule_shape(infer, "data");
    const mw_shape indices = mw__rule_shape(infer, "indices");
    char text[200];
    int axis;
    MW_TRY(mw__rule_axis(infer, "axis", chosen.rank, &axis));
    if (indices.rank != 1)
        return mw__rule_fail(infer, MW_ERROR_SHAPE, "%s must have rank 1; flatten it with reshape, or use scatter_nd",
                             mw__arg_print(infer->op, "indices", text, sizeof text));
    MW_TRY(mw__rule_indices(infer, &chosen.dim[axis], 1));
    chosen.dim[axis] = indices.dim[0];
    return finish_scatter(infer, chosen);
}

mw_status mw__shape_scatter_along_axis(mw__infer *infer)
{
    int axis;
    MW_TRY(mw__rule_along_axis(infer, "data", &axis));
    return finish_scatter(infer, mw__rule_shape(infer, "indices"));
}

mw_status mw__shape_scatter_nd(mw__infer *infer)
{
    mw_shape chosen;
    MW_TRY(mw__rule_nd(infer, "data", 0, &chosen));
    return finish_scatter(infer, chosen);
}

/* ---- constructors ---- */

static mw__build begin_scatter(const char *operation, mw_tensor *data, mw_tensor *indices, mw_tensor *updates,
                               mw_scatter_mode mode)
{
    mw__build build = mw__build_begin(operation, data);
    mw__build_set(&build, "data", data);
    mw__build_set(&build, "indices", indices);
    mw__build_set(&build, "updates", updates);
    if (!build.failed && (unsigned)mode >= MODES) {
        mw__graph_fail(build.graph, MW_ERROR_ARGUMENT, "%s: mode %d is no mw_scatter_mode", operation, (int)mode);
        build.failed = true;
    }
    if (!build.failed)
        mw__build_string(&build, "mode", modes[mode]);
    return build;
}

mw_tensor *mw_scatter(mw_tensor *data, mw_tensor *indices, mw_tensor *updates, int axis, mw_scatter_mode mode)
{
    mw__build build = begin_scatter("scatter", data, indices, updates, mode);
    mw__build_int(&build, "axis", axis);
    return mw__build_end(&build);
}

mw_tensor *mw_scatter_along_axis(mw_tensor *data, mw_tensor *indices, mw_tensor *updates, int axis,
                                 mw_scatter_mode mode)
{
    mw__build build = begin_scatter("scatter_along_axis", data, indices, updates, mode);
    mw__build_int(&build, "axis", axis);
    return mw__build_end(&build);
}

mw_tensor *mw_scatter_nd(mw_tensor *data, mw_tensor *indices, mw_tensor *updates, mw_scatter_mode mode)
{
    mw__build build = begin_scatter("scatter_nd", data, indices, updates, mode);
    return mw__build_end(&build);
}
