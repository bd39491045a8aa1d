/* Graphs with and without patterns, and the table. */
#include "engine/compile/pattern_cases.h"

#include "graph/patterns/conv.h"
#include "graph/patterns/pool.h"
#include "support/check.h"

/* ---- graphs ---- */

static mw_tensor *image(mw_graph *graph) { return mw_input(graph, "x", MW_F32, MW_SHAPE(2, 16, 8, 8)); }

static mw_tensor *pool(mw_tensor *x)
{
    mw_pool_options two = mw_pool_defaults(MW_SHAPE(2, 2));
    two.stride[0] = two.stride[1] = 2;
    return mw_max_pool(x, &two);
}

/* As many channels out as in. */
static mw_tensor *convolve(mw_graph *graph, mw_tensor *x, int64_t dilation)
{
    const int64_t channels = mw_tensor_shape(x).dim[1];
    mw_conv_options same = mw_conv_defaults();
    same.pad_type = MW_PAD_SAME;
    same.dilation[0] = same.dilation[1] = dilation;
    return mw_conv(x, mw_input(graph, "w", MW_F32, MW_SHAPE(channels, channels, 3, 3)), NULL, &same);
}

static mw_tensor *gradient(mw_graph *graph, mw_tensor *y, mw_tensor *by)
{
    mw_error err = {0};
    mw_tensor *dy = mw_input(graph, "dy", MW_F32, mw_tensor_shape(y)), *result = NULL;
    mw_output(y, "y");
    mw_vjp(&y, &dy, 1, &by, 1, &result, &err);
    CHECK_OK(err);
    return result;
}

static mw_tensor *build_pool(mw_graph *graph) { return pool(image(graph)); }
static mw_tensor *build_relu_pool(mw_graph *graph) { return pool(mw_relu(image(graph))); }
static mw_tensor *build_conv(mw_graph *graph) { return convolve(graph, image(graph), 1); }
static mw_tensor *build_conv_pool(mw_graph *graph) { return pool(build_conv(graph)); }
static mw_tensor *build_conv_relu_pool(mw_graph *graph) { return pool(mw_relu(build_conv(graph))); }

static mw_tensor *build_watched_conv_pool(mw_graph *graph)
{
    mw_tensor *conv = build_conv(graph);
    mw_output(mw_exp(conv), "e");
    return pool(conv);
}

static mw_tensor *build_pool_gradient(mw_graph *graph)
{
    mw_tensor *x = image(graph);
    return gradient(graph, pool(x), x);
}

static mw_tensor *average(mw_tensor *x, int64_t stride)
{
    mw_pool_options three = mw_pool_defaults(MW_SHAPE(3, 3));
    three.stride[0] = three.stride[1] = stride;
    return mw_avg_pool(x, &three);
}

static mw_tensor *build_average(mw_graph *graph) { return average(image(graph), 1); }

static mw_tensor *build_average_gradient(mw_graph *graph)
{
    mw_tensor *x = image(graph);
    return gradient(graph, average(x, 2), x);
}

static mw_tensor *build_resize_gradient(mw_graph *graph)
{
    /* weights of quarters, so that sums are exact; matrices so small that they stand in the text */
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(2, 3, 2, 2));
    return gradient(graph, mw_resize_bilinear(x, 4, 4, MW_SAMPLING_UNALIGN_CORNERS), x);
}

/* Products of inputs, the same in all else. */
static mw_tensor *build_products_alike(mw_graph *graph)
{
    mw_tensor *x = mw_matmul(image(graph), mw_input(graph, "w", MW_F32, MW_SHAPE(8, 5)), MW_TRANSPOSE_NONE);
    return mw_matmul(mw_input(graph, "h", MW_F32, MW_SHAPE(8, 5)), x, MW_TRANSPOSE_X);
}

static mw_tensor *build_relu_pool_gradient(mw_graph *graph)
{
    mw_tensor *x = image(graph);
    return gradient(graph, pool(mw_relu(x)), x);
}

static mw_tensor *by_weight(mw_graph *graph, mw_tensor *conv, mw_tensor *y)
{
    return gradient(graph, y, mw__arg(conv->op, "weight"));
}

static mw_tensor *by_x(mw_graph *graph, mw_tensor *conv, mw_tensor *y)
{
    return gradient(graph, y, mw__arg(conv->op, "x"));
}

static mw_tensor *build_dweight(mw_graph *graph)
{
    mw_tensor *conv = build_conv(graph);
    return by_weight(graph, conv, conv);
}

static mw_tensor *build_dx(mw_graph *graph)
{
    mw_tensor *conv = build_conv(graph);
    return by_x(graph, conv, conv);
}

static mw_tensor *build_dweight_behind_pool(mw_graph *graph)
{
    mw_tensor *conv = build_conv(graph);
    return by_weight(graph, conv, pool(conv));
}

static mw_tensor *build_dx_behind_pool(mw_graph *graph)
{
    mw_tensor *conv = build_conv(graph);
    return by_x(graph, conv, pool(conv));
}

static mw_tensor *build_dweight_behind_relu_pool(mw_graph *graph)
{
    mw_tensor *conv = build_conv(graph);
    return by_weight(graph, conv, pool(mw_relu(conv)));
}

/* 3 x 3 with a border, of the image. */
static const mw__conv three_by_three = {.axes = 2,
                                        .groups = 1,
                                        .kernel = {3, 3},
                                        .stride = {1, 1},
                                        .dilation = {1, 1},
                                        .before = {1, 1},
                                        .in = {8, 8},
                                        .out = {8, 8}};

/* Without its convolution. */
static mw_tensor *build_dweight_alone(mw_graph *graph)
{
    return mw__conv_dweight(&three_by_three, image(graph), mw_input(graph, "dy", MW_F32, MW_SHAPE(2, 16, 8, 8)));
}

static mw_tensor *build_dilated(mw_graph *graph) { return convolve(graph, image(graph), 2); }

static mw_tensor *build_dilated_dweight(mw_graph *graph)
{
    mw_tensor *x = image(graph), *conv = convolve(graph, x, 2);
    return gradient(graph, conv, mw_graph_find(graph, "w"));
}

static mw_tensor *build_dilated_dx(mw_graph *graph)
{
    mw_tensor *x = image(graph);
    return gradient(graph, convolve(graph, x, 2), x);
}

/* The forms for chips. */
static mw_tensor *build_columns_dx(mw_graph *graph)
{
    graph->lowering = MW__LOWERING_DECOMPOSED;
    return build_dx(graph);
}

static mw_tensor *build_columns_dweight(mw_graph *graph)
{
    graph->lowering = MW__LOWERING_DECOMPOSED;
    return build_dweight(graph);
}

/* Of x with so many channels; y has 16. */
static mw_tensor *columns(mw_graph *graph, int64_t channels)
{
    graph->lowering = MW__LOWERING_DECOMPOSED;
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(2, channels, 8, 8));
    return mw__conv_y(&three_by_three, x, mw_input(graph, "w", MW_F32, MW_SHAPE(16, channels, 3, 3)));
}

static mw_tensor *convolve_for_chip(mw_graph *graph, int64_t channels)
{
    mw_tensor *y = columns(graph, channels);
    return mw_add(y, mw_input(graph, "bias", MW_F32, MW_SHAPE(1, 16, 1, 1)));
}

static mw_tensor *build_columns(mw_graph *graph) { return columns(graph, 16); }
static mw_tensor *build_columns_bias(mw_graph *graph) { return convolve_for_chip(graph, 16); }

/* What the pooling of such a sum passes back to it. */
static mw_tensor *back_to(mw_graph *graph, mw_tensor *sum)
{
    mw_tensor *y = mw_output(pool(sum), "y");
    return mw__max_pool_gradient(y->op, sum, y, mw_input(graph, "dy", MW_F32, mw_tensor_shape(y)));
}

static mw_tensor *build_columns_dweight_behind_pool(mw_graph *graph)
{
    mw_tensor *sum = convolve_for_chip(graph, 16);
    return mw__conv_dweight(&three_by_three, mw_graph_find(graph, "x"), back_to(graph, sum));
}

static mw_tensor *build_columns_dx_behind_pool(mw_graph *graph)
{
    mw_tensor *sum = convolve_for_chip(graph, 16);
    return mw__conv_dx(&three_by_three, back_to(graph, sum), mw_graph_find(graph, "w"));
}

static mw_tensor *build_pointwise_dweight(mw_graph *graph)
{
    graph->lowering = MW__LOWERING_DECOMPOSED;
    mw_tensor *weight = mw_input(graph, "w", MW_F32, MW_SHAPE(16, 16, 1, 1));
    return gradient(graph, mw_conv(image(graph), weight, NULL, NULL), weight);
}

static mw_tensor *build_product(mw_graph *graph)
{
    return mw_matmul(image(graph), mw_input(graph, "w", MW_F32, MW_SHAPE(8, 8)), 0);
}

static mw_tensor *build_sum(mw_graph *graph)
{
    return mw_add(image(graph), mw_input(graph, "b", MW_F32, MW_SHAPE(1, 16, 1, 1)));
}

/* What a program for a chip has for gather (`transpose` 0) or its gradient. */
static mw_tensor *look_up(mw_graph *graph, int64_t width, int transpose)
{
    mw_tensor *index = mw_input(graph, "index", MW_F32, MW_SHAPE(6, 1));
    mw_tensor *hit = mw_equal(index, mw_range_1d(graph, MW_F32, -1.0, 8.0, 1.0));
    mw_tensor *hot = mw_select(hit, mw_scalar(graph, MW_F32, 1.0), mw_scalar(graph, MW_F32, 0.0));
    return mw_matmul(hot, mw_input(graph, "table", MW_F32, MW_SHAPE(transpose != 0 ? 6 : 9, width)), transpose);
}

static mw_tensor *build_lookup(mw_graph *graph) { return look_up(graph, 5, MW_TRANSPOSE_NONE); }
static mw_tensor *build_lookup_gradient(mw_graph *graph) { return look_up(graph, 5, MW_TRANSPOSE_X); }
static mw_tensor *build_narrow_gradient(mw_graph *graph) { return look_up(graph, 1, MW_TRANSPOSE_X); }

/* The sum of so many products; `watched`: each is an output, too. */
static mw_tensor *sum_products(mw_graph *graph, int count, int64_t depth, bool watched)
{
    mw_tensor *sum = NULL;
    for (int i = 0; i < count; i++) {
        char x[16], y[16], product[16];
        snprintf(x, sizeof x, "x%d", i), snprintf(y, sizeof y, "y%d", i), snprintf(product, sizeof product, "p%d", i);
        mw_tensor *term = mw_matmul(mw_input(graph, x, MW_F32, MW_SHAPE(32, depth)),
                                    mw_input(graph, y, MW_F32, MW_SHAPE(depth, 24)), MW_TRANSPOSE_NONE);
        if (watched)
            mw_output(term, product);
        sum = sum == NULL ? term : mw_add(sum, term);
    }
    return sum;
}

static mw_tensor *build_three_products(mw_graph *graph) { return sum_products(graph, 3, 8, false); }
static mw_tensor *build_two_products(mw_graph *graph) { return sum_products(graph, 2, 8, false); }
static mw_tensor *build_watched_products(mw_graph *graph) { return sum_products(graph, 3, 8, true); }
static mw_tensor *build_deep_products(mw_graph *graph) { return sum_products(graph, 3, 257, false); }

/* 1 if all of it is within the limit, else 0. */
static mw_tensor *within(mw_tensor *x, double limit)
{
    mw_graph *graph = x->graph;
    mw_tensor *inside = mw_less_equal(mw_abs(x), mw_scalar(graph, MW_F32, limit));
    mw_tensor *good = mw_select(inside, mw_scalar(graph, MW_F32, 1.0), mw_scalar(graph, MW_F32, 0.0));
    return mw_reduce_min(good, MW_ALL_AXES, false);
}

static mw_tensor *build_within_one(mw_graph *graph) { return within(image(graph), 1.5); }

static mw_tensor *build_within(mw_graph *graph)
{
    return mw_mul(within(image(graph), 1.5), within(mw_input(graph, "b", MW_F32, MW_SHAPE(5, 7)), 1.0));
}

/* ---- cases ---- */

/* By 1/16 from 128 on: sums of few such numbers are exact. */
static mw_tensor *code(mw_tensor *x)
{
    const float scale = 0.0625f;
    const uint8_t zero = 128;
    mw_graph *graph = mw_tensor_graph(x);
    mw_tensor *by = mw_constant(graph, MW_F32, mw_shape_scalar(), &scale);
    mw_tensor *from = mw_constant(graph, MW_U8, mw_shape_scalar(), &zero);
    return mw_dequantize(mw_quantize(x, by, from, 0, MW_U8), by, from, 0);
}

static mw_tensor *convolve_codes(mw_graph *graph)
{
    static const int8_t codes[8] = {3, -1, 2, 0, -3, 1, -2, 2};
    const float scale = 0.5f;
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(2, 4, 8, 8));
    mw_tensor *weight = mw_constant(graph, MW_I8, MW_SHAPE(2, 4, 1, 1), codes);
    mw_tensor *by = mw_constant(graph, MW_F32, MW_SHAPE(1, 1, 1, 1), &scale);
    return mw_conv(code(x), mw_constexpr_blockwise_shift_scale(weight, by, NULL), NULL, NULL);
}

static mw_tensor *build_coded_conv(mw_graph *graph) { return code(mw_relu(convolve_codes(graph))); }
static mw_tensor *build_decoded_conv(mw_graph *graph) { return mw_exp(convolve_codes(graph)); }
static mw_tensor *build_coded_pool(mw_graph *graph) { return code(pool(code(image(graph)))); }

static mw_tensor *build_coded_mean(mw_graph *graph)
{
    mw_pool_options options = mw_pool_defaults(MW_SHAPE(2, 2));
    options.stride[0] = options.stride[1] = 2;
    return code(mw_avg_pool(code(image(graph)), &options));
}

static mw_tensor *build_coded_move(mw_graph *graph)
{
    return code(mw_transpose(code(image(graph)), MW_AXES(0, 2, 3, 1)));
}

static mw_tensor *build_coded_sum(mw_graph *graph)
{
    mw_tensor *x = code(image(graph));
    return code(mw_relu(mw_add(x, code(mw_input(graph, "z", MW_F32, mw_tensor_shape(x))))));
}

/* The sum takes the codes of the convolution, or another operation does so, too. */
static mw_tensor *build_residual(mw_graph *graph)
{
    mw_tensor *y = code(convolve_codes(graph));
    return code(mw_add(y, code(mw_input(graph, "z", MW_F32, mw_tensor_shape(y)))));
}

static mw_tensor *build_seen_residual(mw_graph *graph)
{
    mw_tensor *y = code(convolve_codes(graph));
    mw_output(mw_exp(y), "other");
    return code(mw_add(y, code(mw_input(graph, "z", MW_F32, mw_tensor_shape(y)))));
}

static mw_tensor *build_coded_product(mw_graph *graph)
{
    mw_tensor *x = code(image(graph));
    return code(mw_mul(x, x));
}

static const char no_gradient[] = "no later operation has the structure of its gradient";

static const char few_products[] = "not three products that nothing else needs";

static const pattern_case cases[] = {
    {.build = build_coded_conv, .pattern = "int8.requantize"},
    {.build = build_coded_conv,
     .pattern = "int8.requantize",
     .declined = "MW_ENGINE_FOLD=0",
     .off = "MW_ENGINE_FOLD",
     .at = "0"},
    {.build = build_coded_pool, .pattern = "int8.requantize"},
    {.build = build_coded_sum, .pattern = "int8.requantize"},
    {.build = build_coded_mean, .pattern = "int8.mean"},
    {.build = build_coded_pool,
     .pattern = "int8.mean",
     .declined = "another pattern has its place, or the one it takes the place of is not there"},
    {.build = build_coded_product,
     .pattern = "int8.mean",
     .declined = "what it quantizes is no mean of dequantized codes"},
    {.build = build_coded_move, .pattern = "int8.move"},
    {.build = build_coded_product,
     .pattern = "int8.move",
     .declined = "what it quantizes does not only move dequantized codes"},
    {.build = build_residual, .pattern = "int8.residual"},
    {.build = build_seen_residual,
     .pattern = "int8.residual",
     .declined = "it is no sum with the codes of a convolution, or something else needs these"},
    {.build = build_coded_product,
     .pattern = "int8.requantize",
     .declined = "what it quantizes is no product, or something else needs it"},
    {.build = build_decoded_conv, .pattern = "int8.product"},
    {.build = build_conv, .pattern = "int8.product", .declined = "its x is not dequantized"},
    {.build = build_product, .pattern = "conv.columns", .declined = "it is no product of columns"},
    {.build = build_sum,
     .pattern = "conv.columns.bias",
     .declined = "x is no product of columns, or something else needs it"},
    {.build = build_columns_dx, .pattern = "conv.columns.dx"},
    {.build = build_columns_dweight, .pattern = "conv.columns.dweight"},
    {.build = build_product,
     .pattern = "conv.columns.dweight",
     .declined = "it is no sum over examples of products with their columns"},
    {.build = build_pointwise_dweight, .pattern = "conv.pointwise.dweight"},
    {.build = build_product,
     .pattern = "conv.pointwise.dweight",
     .declined = "it is no sum over examples of products with their planes"},
    {.build = build_relu_pool, .pattern = "relu.max_pool"},
    {.build = build_relu_pool,
     .pattern = "relu.max_pool",
     .declined = "MW_ENGINE_FUSE=0",
     .off = "MW_ENGINE_FUSE",
     .at = "0"},
    {.build = build_relu_pool,
     .pattern = "relu.max_pool",
     .declined = "MW_ENGINE_REF=1",
     .off = "MW_ENGINE_REF",
     .at = "1"},
    {.build = build_pool, .pattern = "relu.max_pool", .declined = "it takes no relu"},
    {.build = build_pool, .pattern = "max_pool.gradient", .declined = no_gradient},
    {.build = build_pool_gradient, .pattern = "max_pool.gradient"},
    {.build = build_pool_gradient, .pattern = "relu.max_pool.gradient", .declined = "it takes no relu"},
    {.build = build_relu_pool_gradient, .pattern = "relu.max_pool.gradient"},
    {.build = build_average,
     .pattern = "avg_pool.gradient",
     .declined = "it is not written as a gradient with a stride"},
    {.build = build_average_gradient, .pattern = "avg_pool.gradient"},
    {.build = build_relu_pool_gradient,
     .pattern = "relu.max_pool.unpool",
     .declined = "its pooling is not joined with a convolution"},
    {.build = build_resize_gradient, .pattern = "resize.gradient"},
    {.build = build_product, .pattern = "resize.gradient", .declined = "it is not two products with constants"},
    {.build = build_products_alike, .pattern = "resize.gradient", .declined = "its matrices do not interpolate"},
    {.build = build_lookup, .pattern = "lookup"},
    {.build = build_lookup_gradient, .pattern = "lookup"},
    {.build = build_narrow_gradient,
     .pattern = "lookup",
     .declined = "the kernel has no such types, or sums another way"},
    {.build = build_product, .pattern = "lookup", .declined = "x is no matrix with a one in each row"},
    {.build = build_three_products, .pattern = "matmul.sum"},
    {.build = build_two_products, .pattern = "matmul.sum", .declined = few_products},
    {.build = build_watched_products, .pattern = "matmul.sum", .declined = few_products},
    {.build = build_deep_products, .pattern = "matmul.sum", .declined = few_products},
    {.build = build_conv, .pattern = "conv.dweight", .declined = no_gradient},
    {.build = build_dweight, .pattern = "conv.dweight"},
    {.build = build_dx, .pattern = "conv.dx"},
    {.build = build_conv, .pattern = "conv.dx", .declined = "it is not written as a gradient"},
    {.build = build_dweight,
     .pattern = "conv.dweight.argmax",
     .declined = "dy is no gradient of a joined pooling",
     .need = PATTERN_NEEDS_LEVEL},
    {.build = build_conv,
     .pattern = "conv.by_argmax",
     .declined = "x is no gradient of a joined pooling",
     .need = PATTERN_NEEDS_LEVEL},
    {.build = build_pool, .pattern = "conv.max_pool", .declined = "it pools no conv", .need = PATTERN_NEEDS_LEVEL},
    {.build = build_conv_pool, .pattern = "conv.max_pool", .need = PATTERN_NEEDS_KERNEL},
    {.build = build_conv_relu_pool, .pattern = "conv.relu.max_pool", .need = PATTERN_NEEDS_KERNEL},
    {.build = build_watched_conv_pool,
     .pattern = "conv.max_pool",
     .declined = "the result of the convolution is needed elsewhere",
     .need = PATTERN_NEEDS_KERNEL},
    {.build = build_columns, .pattern = "conv.columns"},
    {.build = build_columns_bias, .pattern = "conv.columns.bias"},
    {.build = build_within, .pattern = "all_within"},
    {.build = build_within_one, .pattern = "all_within.one"},
    {.build = build_dweight_alone, .pattern = "conv.dweight.alone"},
    {.build = build_dilated, .pattern = "conv.dilated"},
    {.build = build_conv, .pattern = "conv.dilated", .declined = "its kernel is not spread with zeros"},
    {.build = build_dilated_dx, .pattern = "conv.dx.dilated"},
    {.build = build_dx, .pattern = "conv.dx.dilated", .declined = "its kernel is not spread with zeros"},
    {.build = build_dilated_dweight, .pattern = "conv.dweight.dilated"},
    {.build = build_columns,
     .pattern = "conv.dweight.dilated",
     .declined = "it takes no elements of a gradient by the weight"},
    {.build = build_dweight_behind_pool, .pattern = "max_pool.unpool", .need = PATTERN_NEEDS_KERNEL},
    {.build = build_dweight_behind_relu_pool, .pattern = "relu.max_pool.unpool", .need = PATTERN_NEEDS_KERNEL},
    {.build = build_dweight_behind_pool, .pattern = "conv.dweight.argmax", .need = PATTERN_NEEDS_KERNEL},
    {.build = build_columns_dweight_behind_pool,
     .pattern = "conv.columns.dweight.argmax",
     .need = PATTERN_NEEDS_KERNEL},
    {.build = build_columns_dx_behind_pool, .pattern = "conv.columns.by_argmax", .need = PATTERN_NEEDS_KERNEL},
    {.build = build_dx_behind_pool, .pattern = "conv.by_argmax", .need = PATTERN_NEEDS_KERNEL},
};

const pattern_case *pattern_case_at(size_t index)
{
    return index < sizeof cases / sizeof *cases ? &cases[index] : NULL;
}

mw_graph *pattern_case_graph(const pattern_case *c)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_output(c->build(graph), "result");
    return graph;
}
