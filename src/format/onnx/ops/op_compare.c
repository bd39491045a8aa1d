/* Comparisons, logic and selection. */
#include "format/onnx/read/import.h"

#include <millwright/ops/compare.h>
#include <millwright/ops/elementwise.h>

#include <math.h>
#include <string.h>

typedef struct compare_row {
    const char *name;
    mw_tensor *(*build)(mw_tensor *x, mw_tensor *y);
} compare_row;

static mw_status by_row(mw__onnx_node *node, const compare_row *rows, mw_tensor *x, mw_tensor *y)
{
    while (strcmp(rows->name, node->proto->op_type) != 0)
        rows++;
    return mw__onnx_set(node, 0, MW__ONNX_BOOL, rows->build(x, y));
}

mw_status mw__onnx_compare(mw__onnx_node *node)
{
    static const compare_row rows[] = {{"Equal", mw_equal},
                                       {"Less", mw_less},
                                       {"LessOrEqual", mw_less_equal},
                                       {"Greater", mw_greater},
                                       {"GreaterOrEqual", mw_greater_equal}};
    mw_tensor *x = mw__onnx_in(node, 0), *y = mw__onnx_in(node, 1);
    if (mw__onnx_type(node, 0) == MW__ONNX_BOOL) {
        x = mw__onnx_to(x, MW_I32);
        y = mw__onnx_to(y, MW_I32);
    }
    return by_row(node, rows, x, y);
}

mw_status mw__onnx_logic(mw__onnx_node *node)
{
    static const compare_row rows[] = {{"And", mw_logical_and}, {"Or", mw_logical_or}, {"Xor", mw_logical_xor}};
    mw_tensor *x = mw__onnx_in(node, 0), *y = mw__onnx_in(node, 1);
    return by_row(node, rows, x, y);
}

mw_status mw__onnx_not(mw__onnx_node *node)
{
    return mw__onnx_set(node, 0, MW__ONNX_BOOL, mw_logical_not(mw__onnx_in(node, 0)));
}

mw_status mw__onnx_where(mw__onnx_node *node)
{
    mw_tensor *condition = mw__onnx_in(node, 0), *x = mw__onnx_in(node, 1), *y = mw__onnx_in(node, 2);
    return mw__onnx_set(node, 0, mw__onnx_type(node, 1), mw_select(condition, x, y));
}

mw_status mw__onnx_is_nan(mw__onnx_node *node)
{
    mw_tensor *x = mw__onnx_in(node, 0);
    return mw__onnx_set(node, 0, MW__ONNX_BOOL, mw_not_equal(x, x));
}

mw_status mw__onnx_is_inf(mw__onnx_node *node)
{
    const bool above = mw__onnx_int(node, "detect_positive", 1) != 0;
    const bool below = mw__onnx_int(node, "detect_negative", 1) != 0;
    mw_tensor *x = mw__onnx_in(node, 0);
    if (x == NULL || !mw__onnx_is_float(mw__onnx_type(node, 0)) || (!above && !below))
        return x == NULL ? mw__onnx_set(node, 0, 0, NULL) : mw__onnx_refuse(node, "it looks for nothing in this type");
    mw_tensor *infinity = mw_scalar(node->graph, mw_tensor_dtype(x), above ? INFINITY : -INFINITY);
    return mw__onnx_set(node, 0, MW__ONNX_BOOL, mw_equal(above && below ? mw_abs(x) : x, infinity));
}
