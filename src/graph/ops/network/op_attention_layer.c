/* Multi-head attention with PyTorch's parameters. */
#include <millwright/ops/attention.h>

#include <millwright/ops/matmul.h>
#include <millwright/ops/shape.h>

#include "base/number/float_mode.h"
#include "graph/ir/rule.h"

#include <inttypes.h>

typedef struct attention {
    const char *name;
    int64_t heads, extent; /* E */
    mw_tensor *in[3];      /* query, key, value */
} attention;

static const char operation[] = "multi_head_attention_layer";

static bool check_operand(const attention *a, const char *what, const mw_tensor *x)
{
    const mw_shape shape = mw_tensor_shape(x);
    char text[200];
    if (x->graph != a->in[0]->graph)
        return mw__graph_mixed(x, a->in[0]->graph, operation, what) != NULL;
    if (mw_tensor_dtype(x) == mw_tensor_dtype(a->in[0]) && shape.rank == 3 && shape.dim[2] == a->extent)
        return true;
    mw__graph_fail(a->in[0]->graph, MW_ERROR_SHAPE, "%s \"%s\": %s %s %s is not [batch, length, %" PRId64 "] %s",
                   operation, a->name, what, mw_dtype_name(mw_tensor_dtype(x)),
                   mw__shape_print(shape, text, sizeof text), a->extent, mw_dtype_name(mw_tensor_dtype(a->in[0])));
    return false;
}

static bool check_attention(const attention *a)
{
    mw_graph *graph = a->in[0]->graph;
    char text[200];
    const mw_shape query = mw_tensor_shape(a->in[0]);
    if (a->name == NULL || a->name[0] == '\0')
        mw__graph_fail(graph, MW_ERROR_ARGUMENT, "%s: the name is empty", operation);
    else if (query.rank != 3 || a->extent < 1)
        mw__graph_fail(graph, MW_ERROR_SHAPE,
                       "%s \"%s\": the query %s must be [batch, length, E] with an E that is known", operation, a->name,
                       mw__shape_print(query, text, sizeof text));
    else if (a->heads < 1 || a->extent % a->heads != 0)
        mw__graph_fail(graph, MW_ERROR_ARGUMENT, "%s \"%s\": %" PRId64 " heads do not divide the extent %" PRId64,
                       operation, a->name, a->heads, a->extent);
    return graph->error.status == MW_OK && check_operand(a, "the key", a->in[1]) &&
           check_operand(a, "the value", a->in[2]);
}

/* Query, key and value through their rows of one weight: by one product where they are the same tensor. */
static bool project(const attention *a, mw_tensor *out[3])
{
    mw_tensor *x = a->in[0], *weights[3], *biases[3];
    const int64_t e = a->extent;
    mw_tensor *weight =
        mw__layer_parameter(x, operation, a->name, "in_proj_weight", MW_SHAPE(3 * e, e), mw_init_xavier_uniform());
    mw_tensor *bias = mw__layer_parameter(x, operation, a->name, "in_proj_bias", MW_SHAPE(3 * e), mw_init_zeros());
    if (a->in[1] == x && a->in[2] == x)
        return mw_split(mw_linear(x, weight, bias), 3, 2, out) == MW_OK;
    if (mw_split(weight, 3, 0, weights) != MW_OK || mw_split(bias, 3, 0, biases) != MW_OK)
        return false;
    for (int i = 0; i < 3; i++)
        out[i] = mw_linear(a->in[i], weights[i], biases[i]);
    return out[2] != NULL;
}

/* An extent for reshape, which finds out one that is not known. */
static int64_t known(int64_t extent) { return extent >= 0 ? extent : -1; }

/* [B, L, E] -> [B, heads, L, E / heads] */
static mw_tensor *cut_heads(const attention *a, mw_tensor *x)
{
    const mw_shape shape = mw_tensor_shape(x);
    const mw_shape cut = MW_SHAPE(known(shape.dim[0]), known(shape.dim[1]), a->heads, a->extent / a->heads);
    return mw_transpose(mw__reshape_to(x, cut), MW_AXES(0, 2, 1, 3));
}

static mw_tensor *build_attention(const attention *a, mw_tensor *mask)
{
    mw_tensor *x = a->in[0], *parts[3];
    const int64_t e = a->extent;
    if (!check_attention(a) || !project(a, parts))
        return NULL;
    mw_tensor *query = cut_heads(a, parts[0]), *key = cut_heads(a, parts[1]), *value = cut_heads(a, parts[2]);
    mw_tensor *each = mw_scaled_dot_product_attention(query, key, value, mask);
    const mw_shape shape = mw_tensor_shape(x);
    const mw_shape whole = MW_SHAPE(known(shape.dim[0]), known(shape.dim[1]), e);
    mw_tensor *all = mw__reshape_to(mw_transpose(each, MW_AXES(0, 2, 1, 3)), whole);
    mw_tensor *weight =
        mw__layer_parameter(x, operation, a->name, "out_proj.weight", MW_SHAPE(e, e), mw_init_kaiming_uniform());
    mw_tensor *bias = mw__layer_parameter(x, operation, a->name, "out_proj.bias", MW_SHAPE(e), mw_init_zeros());
    return mw_linear(all, weight, bias);
}

mw_tensor *mw_multi_head_attention_layer(mw_tensor *query, mw_tensor *key, mw_tensor *value, int64_t heads,
                                         mw_tensor *mask, const char *name)
{
    MW__FLOAT_SCOPE;
    if (query == NULL || query->graph->error.status != MW_OK)
        return NULL;
    mw_graph *graph = query->graph;
    const mw_shape shape = mw_tensor_shape(query);
    attention a = {.name = name, .heads = heads, .extent = shape.rank == 3 ? shape.dim[2] : 0, .in = {query}};
    a.in[1] = key != NULL ? key : query;
    a.in[2] = value != NULL ? value : a.in[1];
    const char *outer = graph->scope;
    graph->scope = name;
    mw_tensor *y = build_attention(&a, mask);
    graph->scope = outer;
    return y;
}
