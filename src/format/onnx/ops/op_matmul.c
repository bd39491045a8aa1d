/* Products. */
#include "format/onnx/read/import.h"
#include "graph/constants/compressed.h"
#include "graph/patterns/contract.h"

#include <millwright/ops/elementwise.h>
#include <millwright/ops/matmul.h>
#include <millwright/ops/reduce.h>
#include <millwright/ops/shape.h>

#include <string.h>

mw_status mw__onnx_matmul(mw__onnx_node *node)
{
    mw_tensor *x = mw__onnx_in(node, 0), *y = mw__onnx_in(node, 1);
    return mw__onnx_set(node, 0, mw__onnx_type(node, 0), mw_matmul(x, y, MW_TRANSPOSE_NONE));
}

/* An initializer, or what is made of one when a program is compiled. */
static bool is_constant(mw__onnx_node *node, size_t index)
{
    const mw__onnx_value *value = node->in[index];
    return value->literal != NULL || (value->tensor != NULL && mw__op_is_constexpr(value->tensor->op));
}

/* MIL's linear, if the node is one: x weight^T + bias with the weight and the bias of an initializer. */
static bool is_linear(mw__onnx_node *node, double alpha, double beta)
{
    if (alpha != 1 || mw__onnx_int(node, "transA", 0) != 0 || mw__onnx_int(node, "transB", 0) == 0)
        return false;
    if (!mw__onnx_has(node, 2))
        return is_constant(node, 1);
    const mw_shape bias = mw__onnx_shape(node, 2), weight = mw__onnx_shape(node, 1);
    return beta == 1 && is_constant(node, 1) && node->in[2]->literal != NULL && bias.rank == 1 && weight.rank == 2 &&
           bias.dim[0] == weight.dim[0];
}

mw_status mw__onnx_gemm(mw__onnx_node *node)
{
    const double alpha = mw__onnx_float(node, "alpha", 1), beta = mw__onnx_float(node, "beta", 1);
    const int type = mw__onnx_type(node, 0);
    if (mw__onnx_shape(node, 0).rank != 2 || mw__onnx_shape(node, 1).rank != 2)
        return mw__onnx_refuse(node, "its operands are no matrices");
    mw_tensor *x = mw__onnx_in(node, 0), *y = mw__onnx_in(node, 1), *bias = mw__onnx_in(node, 2);
    if (is_linear(node, alpha, beta))
        return mw__onnx_set(node, 0, type, mw_linear(x, y, bias));
    const mw_transposes turned = (mw__onnx_int(node, "transA", 0) != 0 ? MW_TRANSPOSE_X : 0u) |
                                 (mw__onnx_int(node, "transB", 0) != 0 ? MW_TRANSPOSE_Y : 0u);
    mw_tensor *made = mw_matmul(x, y, turned);
    if (alpha != 1)
        made = mw_mul_scalar(made, alpha);
    if (bias != NULL && beta != 0)
        made = mw_add(made, beta != 1 ? mw_mul_scalar(bias, beta) : bias);
    return mw__onnx_set(node, 0, type, made);
}

/* ---- einsum ---- */

enum { EQUATION_MAX = 1000 };

/* The attribute as a string; false if it is empty or longer, or has a 0 in it. */
static bool copy_equation(const Mw__Onnx__Attribute *text, char out[EQUATION_MAX + 1])
{
    if (text == NULL || text->s.len == 0 || text->s.len > EQUATION_MAX || memchr(text->s.data, 0, text->s.len) != NULL)
        return false;
    memcpy(out, text->s.data, text->s.len);
    out[text->s.len] = '\0';
    return true;
}

mw_status mw__onnx_einsum(mw__onnx_node *node)
{
    char equation[EQUATION_MAX + 1];
    mw__contraction contraction;
    mw_tensor *x[MW__CONTRACTION_OPERANDS] = {NULL};
    mw_shape shapes[MW__CONTRACTION_OPERANDS];
    mw_error err = {0};
    if (!copy_equation(mw__onnx_attribute(node, "equation"), equation))
        return mw__onnx_refuse(node, "its equation is missing, has more than %d bytes or a 0 among them", EQUATION_MAX);
    for (size_t i = 0; i < node->in_count && i < MW__CONTRACTION_OPERANDS; i++) {
        if (!mw__onnx_has(node, i))
            return mw__onnx_refuse(node, "input %zu is left out", i);
        shapes[i] = mw__onnx_shape(node, i);
    }
    if (mw__contraction_read(equation, shapes, node->in_count, &contraction, &err) != MW_OK)
        return mw__onnx_refuse(node, "%s", err.message);
    for (size_t i = 0; i < node->in_count; i++)
        if ((x[i] = mw__onnx_in(node, i)) == NULL)
            return mw__onnx_set(node, 0, mw__onnx_type(node, 0), NULL);
    return mw__onnx_set(node, 0, mw__onnx_type(node, 0), mw__contraction_build(&contraction, x));
}
