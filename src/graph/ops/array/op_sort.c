/* Sorting and the largest elements: shape rules and constructors of ops/sort.def. */
#include <millwright/ops/sort.h>

#include "graph/ir/rule.h"

#include <inttypes.h>
#include <string.h>

/* ---- what both share ---- */

static mw_status check_extent(const mw__infer *infer, int64_t extent, mw_dtype index)
{
    const int bits = mw_dtype_bits(index) - (index == MW_U8 || index == MW_U16 ? 0 : 1);
    if (extent <= (int64_t)1 << bits)
        return MW_OK;
    return mw__rule_fail(infer, MW_ERROR_ARGUMENT, "an index into %" PRId64 " elements does not fit %s", extent,
                         mw_dtype_name(index));
}

/* ---- argsort ---- */

mw_status mw__shape_argsort(mw__infer *infer)
{
    const mw_shape x = mw__rule_shape(infer, "x");
    bool ascending;
    int axis;
    MW_TRY(mw__rule_axis(infer, "axis", x.rank, &axis));
    MW_TRY(mw__rule_bool(infer, "ascending", &ascending));
    MW_TRY(check_extent(infer, x.dim[axis], MW_I32));
    return mw__rule_result(infer, MW_I32, x);
}

mw_tensor *mw_argsort(mw_tensor *x, int axis, bool ascending)
{
    mw__build build = mw__build_begin("argsort", x);
    mw__build_set(&build, "x", x);
    mw__build_int(&build, "axis", axis);
    mw__build_bool(&build, "ascending", ascending);
    return mw__build_end(&build);
}

/* ---- topk ---- */

static mw_status read_index_dtype(const mw__infer *infer, mw_dtype *out)
{
    static const mw_dtype all[] = {MW_I8, MW_I16, MW_I32, MW_U8, MW_U16};
    *out = MW_I32;
    if (infer->op->row->since < MW_IOS17)
        return MW_OK;
    const char *name = mw__arg_string(infer->op, "output_indices_dtype");
    for (size_t i = 0; name != NULL && i < sizeof all / sizeof *all; i++) {
        if (strcmp(name, mw_dtype_name(all[i])) == 0) {
            *out = all[i];
            return MW_OK;
        }
    }
    return mw__rule_fail(infer, MW_ERROR_DTYPE,
                         "output_indices_dtype \"%s\" is none of int8, int16, int32, uint8, uint16",
                         name != NULL ? name : "");
}

static mw_status read_flags(const mw__infer *infer, bool *out_indices)
{
    bool flag;
    *out_indices = true;
    MW_TRY(mw__rule_bool(infer, "ascending", &flag));
    if (infer->op->row->since < MW_IOS16)
        return MW_OK;
    MW_TRY(mw__rule_bool(infer, "sort", &flag));
    return mw__rule_bool(infer, "return_indices", out_indices);
}

mw_status mw__shape_topk(mw__infer *infer)
{
    mw_shape shape = mw__rule_shape(infer, "x");
    bool indices;
    mw_dtype index;
    int64_t k;
    int axis;
    MW_TRY(mw__rule_axis(infer, "axis", shape.rank, &axis));
    MW_TRY(read_flags(infer, &indices));
    MW_TRY(read_index_dtype(infer, &index));
    MW_TRY(mw__rule_int(infer, "k", &k));
    const int64_t extent = shape.dim[axis];
    const bool all = k == -1 && infer->op->row->since >= MW_IOS17; /* MIL, ios17: "Set to -1 to select all elements" */
    if (!all && (k < 1 || (extent >= 0 && k > extent)))
        return mw__rule_fail(infer, MW_ERROR_ARGUMENT,
                             "k %" PRId64 " must be at least 1 and at most the extent %" PRId64 " of axis %d", k,
                             extent, axis);
    MW_TRY(check_extent(infer, extent, index));
    shape.dim[axis] = all ? extent : k;
    MW_TRY(mw__rule_result(infer, mw__rule_dtype(infer, "x"), shape));
    if (indices) {
        infer->result_count = 2;
        infer->dtype[1] = index;
        infer->shape[1] = shape;
    }
    return MW_OK;
}

mw_status mw_topk(mw_tensor *x, int64_t k, int axis, bool ascending, mw_tensor **out_values, mw_tensor **out_indices)
{
    mw_tensor *results[2] = {NULL, NULL};
    if (out_values != NULL)
        *out_values = NULL;
    if (out_indices != NULL)
        *out_indices = NULL;
    mw__build build = mw__build_begin("topk", x);
    if (!build.failed && out_values == NULL) {
        mw__graph_fail(build.graph, MW_ERROR_ARGUMENT, "topk: no place for the values (out_values is NULL)");
        return MW_ERROR_ARGUMENT;
    }
    if (!build.failed && k < 1) { /* -1 is all elements in a text of ios17; here it is more likely a mistake */
        mw__graph_fail(build.graph, MW_ERROR_ARGUMENT, "topk: k %" PRId64 " must be at least 1", k);
        return MW_ERROR_ARGUMENT;
    }
    mw__build_set(&build, "x", x);
    mw__build_int(&build, "k", k);
    mw__build_int(&build, "axis", axis);
    mw__build_bool(&build, "ascending", ascending);
    if (!build.failed && build.row->since >= MW_IOS16)
        mw__build_bool(&build, "return_indices", out_indices != NULL);
    MW_TRY(mw__build_end_many(&build, results, 2, NULL));
    *out_values = results[0];
    if (out_indices != NULL)
        *out_indices = results[1];
    return MW_OK;
}
