/* conv_quantized by its formula: constants made of constants, or of a computed weight a product and a sum. */
#include "graph/patterns/conv_quantized.h"

#include "graph/ir/rule.h"
#include "graph/patterns/conv.h"

#include <millwright/ops/elementwise.h>

enum { SPLAT_MAX = 1 << 20 }; /* elements for which one number may stand: a short text must not make a huge constant */

/* Numbers of a constant; with a scale and an offset, each has one number for all or one for each run of `each`. */
typedef struct numbers {
    const char *arg;
    const mw__payload *of, *scale, *offset;
    size_t each;
} numbers;

static double along(const mw__payload *payload, size_t channel)
{
    return mw__payload_float(payload, mw__payload_count(payload) == 1 ? 0 : channel);
}

static double number_at(const numbers *n, size_t i)
{
    const double number = mw__payload_float(n->of, i);
    return n->scale == NULL ? number : number * along(n->scale, i / n->each) + along(n->offset, i / n->each);
}

/* An argument whose elements are there; NULL with an error on the graph. */
static const mw__payload *stored(mw_graph *graph, const mw__op *op, const char *arg)
{
    const mw__payload *payload = mw__arg_payload(op, arg);
    if (payload != NULL && payload->data != NULL)
        return payload;
    mw__graph_fail(graph, MW_ERROR_UNSUPPORTED, "conv_quantized: the value of %s is not loaded", arg);
    return NULL;
}

static mw_tensor *emit_numbers(mw_graph *graph, const numbers *n, mw_dtype dtype, mw_shape shape)
{
    const size_t count = mw__payload_count(n->of), size = (size_t)mw_dtype_bits(dtype) / 8;
    mw_tensor *made = NULL;
    size_t done = 0;
    if (n->of->splat && count > SPLAT_MAX)
        return mw__graph_fail(graph, MW_ERROR_UNSUPPORTED, "conv_quantized: one number stands for all %zu of %s", count,
                              n->arg);
    unsigned char *data = mw__alloc(graph->allocator, count + 1, size, &graph->error);
    while (data != NULL && done < count && mw__element_store(data + done * size, dtype, number_at(n, done)))
        done++;
    if (data != NULL && done < count)
        mw__graph_fail(graph, MW_ERROR_NUMERIC, "conv_quantized: %g of %s does not fit %s", number_at(n, done), n->arg,
                       mw_dtype_name(dtype));
    else if (data != NULL)
        made = mw__constant(graph, dtype, shape, data, n->arg);
    mw__free(graph->allocator, data);
    return made;
}

/* ---- the weight ---- */

/* A number for all, or [O, 1, ..]. */
static mw_tensor *laid(mw_graph *graph, const mw__op *op, const char *arg, mw_dtype dtype, int rank)
{
    const numbers n = {.arg = arg, .of = stored(graph, op, arg)};
    if (n.of == NULL)
        return NULL;
    mw_shape shape = {.rank = rank, .dim = {(int64_t)mw__payload_count(n.of), 1, 1, 1, 1}};
    return emit_numbers(graph, &n, dtype, shape);
}

static mw_tensor *computed_weight(mw_graph *graph, const mw__op *op, mw_tensor *codes, mw_dtype dtype)
{
    const int rank = mw_tensor_shape(codes).rank;
    mw_tensor *scale = laid(graph, op, "quant_scale", dtype, rank);
    mw_tensor *offset = laid(graph, op, "quant_bias", dtype, rank);
    mw_tensor *weight = mw_mul(mw_cast(codes, dtype), scale);
    return mw_add(weight, offset);
}

mw_tensor *mw__conv_quantized_weight(mw_graph *graph, const mw__op *op, mw_tensor *codes, mw_dtype dtype)
{
    const mw_shape shape = mw_tensor_shape(mw__arg(op, "weight"));
    if (codes != NULL)
        return computed_weight(graph, op, codes, dtype);
    const numbers n = {.arg = "weight",
                       .of = stored(graph, op, "weight"),
                       .scale = stored(graph, op, "quant_scale"),
                       .offset = stored(graph, op, "quant_bias"),
                       .each = shape.dim[0] > 0 ? (size_t)(mw_shape_count(shape) / shape.dim[0]) : 1};
    return n.of != NULL && n.scale != NULL && n.offset != NULL ? emit_numbers(graph, &n, dtype, shape) : NULL;
}

/* ---- the operation ---- */

static void set_windows(mw__build *build, const mw__op *op)
{
    static const char *const args[] = {"strides", "dilations", "pad", "groups"};
    int64_t values[2 * MW__CONV_AXES];
    size_t count;
    for (size_t i = 0; i < sizeof args / sizeof *args; i++) {
        if (!mw__arg_present(op, args[i]) || !mw__arg_ints(op, args[i], values, 2 * MW__CONV_AXES, &count))
            continue;
        if (i == 3)
            mw__build_int(build, args[i], values[0]);
        else
            mw__build_ints(build, args[i], values, count);
    }
    mw__build_string(build, "pad_type", mw__arg_string(op, "pad_type"));
}

mw_tensor *mw__conv_quantized_plain(mw__clone *clone, const mw__op *op)
{
    mw_graph *to = clone->to;
    const mw_tensor *source = mw__arg(op, "x"), *codes = mw__arg(op, "weight");
    mw_tensor *x = mw__clone_operand(clone, source, mw_tensor_dtype(source));
    const mw_dtype dtype = mw_tensor_dtype(x);
    mw_tensor *weight =
        mw__conv_quantized_weight(to, op, mw__is_constant(codes) ? NULL : mw__clone_get(clone, codes), dtype);
    mw__build build = mw__build_begin("conv", x);
    mw__build_set(&build, "x", x);
    mw__build_set(&build, "weight", weight);
    if (mw__arg_present(op, "bias")) {
        const numbers bias = {.arg = "bias", .of = stored(to, op, "bias")};
        mw__build_set(&build, "bias",
                      bias.of != NULL ? emit_numbers(to, &bias, dtype, mw_tensor_shape(mw__arg(op, "bias"))) : NULL);
    }
    set_windows(&build, op);
    return mw__build_end(&build);
}
