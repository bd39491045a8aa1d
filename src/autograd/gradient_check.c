/* Whether the arguments of a call for gradients are what it takes. */
#include "autograd/vjp/rules.h"

bool mw__is_float_tensor(const mw_tensor *value)
{
    return value->type->kind == MW__TENSOR && (value->type->dtype == MW_F32 || value->type->dtype == MW_F16);
}

mw_status mw__gradient_check_tensor(const mw__gradient_words *w, const mw_graph *graph, const mw_tensor *value,
                                    const char *what, size_t index, mw_error *err)
{
    char name[MW__TENSOR_TEXT];
    if (value == NULL)
        return mw__fail_null(err, "%s: %s %zu is NULL", w->call, what, index);
    mw__tensor_print(value, name, sizeof name);
    if (value->graph != graph)
        return mw__fail(err, MW_ERROR_ARGUMENT, "%s: %s %zu, %s, belongs to another graph", w->call, what, index, name);
    if (!mw__is_float_tensor(value))
        return mw__fail(err, MW_ERROR_DTYPE, "%s: %s %zu, %s, has type %s; only fp16 and fp32 have gradients", w->call,
                        what, index, name, mw_dtype_name(mw_tensor_dtype(value)));
    return MW_OK;
}

static mw_status check_seed(const mw__gradient_words *w, const mw_tensor *root, const mw_tensor *given, size_t index,
                            mw_error *err)
{
    char has[64], wanted[64], name[MW__TENSOR_TEXT];
    mw_shape shape = mw_tensor_shape(root);
    mw__tensor_print(root, name, sizeof name);
    if (given != NULL && given->graph != root->graph)
        return mw__fail(err, MW_ERROR_ARGUMENT, "%s: %s %zu of %s belongs to another graph", w->call, w->seed, index,
                        name);
    if (given == NULL && mw_shape_count(shape) == 1)
        return MW_OK;
    if (given == NULL && w->seed == NULL)
        return mw__fail(err, MW_ERROR_SHAPE, "%s: the %s, %s, has shape %s, not a scalar; reduce it (mw_reduce_mean)",
                        w->call, w->root, name, mw__shape_print(shape, has, sizeof has));
    if (given == NULL)
        return mw__fail(err, MW_ERROR_SHAPE,
                        "%s: %s %zu is missing for %s of shape %s; only a scalar needs none (it is 1 then)", w->call,
                        w->seed, index, name, mw__shape_print(shape, has, sizeof has));
    if (!mw_shape_equal(mw_tensor_shape(given), shape) || mw_tensor_dtype(given) != mw_tensor_dtype(root))
        return mw__fail(err, MW_ERROR_SHAPE, "%s: %s %zu is %s %s, but %s is %s %s", w->call, w->seed, index,
                        mw_dtype_name(mw_tensor_dtype(given)), mw__shape_print(mw_tensor_shape(given), has, sizeof has),
                        name, mw_dtype_name(mw_tensor_dtype(root)), mw__shape_print(shape, wanted, sizeof wanted));
    return MW_OK;
}

mw_status mw__gradient_check(const mw__gradient_words *w, const mw_graph *graph, mw_tensor *const *roots,
                             mw_tensor *const *seeds, size_t count, mw_error *err)
{
    MW_TRY(mw_graph_check(graph, err));
    for (size_t i = 0; i < count; i++) {
        MW_TRY(mw__gradient_check_tensor(w, graph, roots[i], w->root, i, err));
        MW_TRY(check_seed(w, roots[i], seeds != NULL ? seeds[i] : NULL, i, err));
    }
    return MW_OK;
}
