/* Convolution: constructors, what replaces them where MIL wants constants, and layers. */
#include <millwright/ops/conv.h>

#include "base/number/float_mode.h"
#include "graph/geometry/window.h"
#include "graph/ir/rule.h"
#include "graph/patterns/conv.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

mw_conv_options mw_conv_defaults(void)
{
    return (mw_conv_options){.struct_size = sizeof(mw_conv_options),
                             .stride = {1, 1, 1},
                             .dilation = {1, 1, 1},
                             .groups = 1,
                             .pad_type = MW_PAD_VALID,
                             .bias = true};
}

/* ---- arguments ---- */

static int spatial_axes(const mw_tensor *x)
{
    const int axes = mw_tensor_shape(x).rank - 2;
    return axes < 1 ? 1 : axes > MW__CONV_AXES ? MW__CONV_AXES : axes; /* another rank is refused by the shape rule */
}

static bool check_options(mw_graph *graph, const char *operation, const mw_conv_options *options)
{
    if (graph->error.status != MW_OK)
        return false;
    if (options->struct_size != sizeof *options)
        mw__graph_fail(graph, MW_ERROR_ARGUMENT, "%s: the options were not made by mw_conv_defaults", operation);
    else if (mw__pad_type_name(options->pad_type) == NULL)
        mw__graph_fail(graph, MW_ERROR_ARGUMENT, "%s: pad_type %d is none of mw_pad_type", operation,
                       (int)options->pad_type);
    return graph->error.status == MW_OK;
}

static void set_options(mw__build *build, const mw_tensor *x, const mw_conv_options *options)
{
    const size_t axes = (size_t)spatial_axes(x);
    mw__build_ints(build, "strides", options->stride, axes);
    mw__build_string(build, "pad_type", mw__pad_type_name(options->pad_type));
    mw__build_ints(build, "pad", options->pad, 2 * axes);
    mw__build_ints(build, "dilations", options->dilation, axes);
    mw__build_int(build, "groups", options->groups);
}

static bool is_dilated(const mw_tensor *x, const mw_conv_options *options)
{
    for (int i = 0; i < spatial_axes(x); i++)
        if (options->dilation[i] > 1)
            return true;
    return false;
}

/* ---- conv ---- */

static mw_tensor *emit_conv(mw_tensor *x, mw_tensor *weight, mw_tensor *bias, const mw_conv_options *options)
{
    mw__build build = mw__build_begin("conv", x);
    mw__build_set(&build, "x", x);
    mw__build_set(&build, "weight", weight);
    if (bias != NULL)
        mw__build_set(&build, "bias", bias);
    set_options(&build, x, options);
    return mw__build_end(&build);
}

mw_tensor *mw_conv(mw_tensor *x, mw_tensor *weight, mw_tensor *bias, const mw_conv_options *options)
{
    mw_conv_options own = options != NULL ? *options : mw_conv_defaults();
    if (x == NULL || weight == NULL || !check_options(x->graph, "conv", &own))
        return NULL;
    const bool fits = mw_tensor_shape(x).rank == mw_tensor_shape(weight).rank;
    if (fits && !mw__is_constant(weight) && is_dilated(x, &own)) {
        weight = mw__conv_dilate_weight(weight, own.dilation);
        for (int i = 0; i < MW__CONV_AXES; i++)
            own.dilation[i] = 1;
    }
    const bool apart = bias != NULL && !mw__is_constant(bias) && x->graph->current->opset < MW_IOS17;
    mw_tensor *y = emit_conv(x, weight, apart ? NULL : bias, &own);
    return apart ? mw__conv_add_bias(y, bias) : y;
}

/* Everything but a bias, which is added. */
mw_tensor *mw__expand_conv(mw_graph *graph, const mw_argument *arguments, size_t count, mw_tensor **out_more)
{
    (void)out_more;
    mw__build build = mw__build_begin_graph("conv", graph);
    mw_tensor *bias = mw__argument_find(arguments, count, "bias");
    for (size_t i = 0; i < count; i++)
        if (strcmp(arguments[i].name, "bias") != 0)
            mw__build_set_many(&build, arguments[i].name, arguments[i].values, arguments[i].count);
    mw_tensor *y = mw__build_end(&build);
    return bias != NULL ? mw__conv_add_bias(y, bias) : y;
}

/* ---- conv_transpose ---- */

static mw_tensor *fail_missing(mw_graph *graph, const char *arg)
{
    return mw__graph_fail(graph, MW_ERROR_ARGUMENT, "conv_transpose: argument %s is missing", arg);
}

/* The gradient form for the arguments in the slots; nothing is appended for the operation itself. */
static mw_tensor *expand_transpose(mw__build *build)
{
    mw__infer infer = {.err = &build->graph->error, .expands = true};
    mw__conv conv;
    if (build->failed)
        return NULL;
    mw_tensor *x = mw__arg(build->op, "x"), *weight = mw__arg(build->op, "weight"), *bias = mw__arg(build->op, "bias");
    if (x == NULL || weight == NULL)
        return fail_missing(build->graph, x == NULL ? "x" : "weight");
    if (mw__op_infer(build->op, &infer) != MW_OK)
        return NULL;
    if (!mw__conv_read(build->op, &conv))
        return mw__graph_fail(build->graph, MW_ERROR_UNSUPPORTED,
                              "conv_transpose: with a weight that is computed every extent must be known");
    mw_tensor *y = mw__conv_dx(&conv, x, weight);
    return bias != NULL ? mw__conv_add_bias(y, bias) : y;
}

mw_tensor *mw__expand_conv_transpose(mw_graph *graph, const mw_argument *arguments, size_t count, mw_tensor **out_more)
{
    (void)out_more;
    mw__build build = mw__build_begin_graph("conv_transpose", graph);
    for (size_t i = 0; i < count; i++)
        mw__build_set_many(&build, arguments[i].name, arguments[i].values, arguments[i].count);
    return expand_transpose(&build);
}

mw_tensor *mw_conv_transpose(mw_tensor *x, mw_tensor *weight, mw_tensor *bias, const mw_conv_options *options)
{
    const mw_conv_options own = options != NULL ? *options : mw_conv_defaults();
    if (x == NULL || weight == NULL || !check_options(x->graph, "conv_transpose", &own))
        return NULL;
    mw__build build = mw__build_begin("conv_transpose", x);
    mw__build_set(&build, "x", x);
    mw__build_set(&build, "weight", weight);
    if (bias != NULL)
        mw__build_set(&build, "bias", bias);
    set_options(&build, x, &own);
    if (own.output_shape.rank != 0)
        mw__build_shape(&build, "output_shape", own.output_shape);
    if (!mw__is_constant(weight) || (bias != NULL && !mw__is_constant(bias)))
        return expand_transpose(&build);
    return mw__build_end(&build);
}

/* ---- layers ---- */

typedef struct layer {
    const char *operation, *name;
    bool transpose;
    int64_t channels;
    mw_shape kernel;
    mw_conv_options options;
} layer;

static bool check_layer(mw_tensor *x, const layer *l)
{
    mw_graph *graph = x->graph;
    const mw_shape shape = mw_tensor_shape(x);
    char text[200];
    if (l->name == NULL || l->name[0] == '\0') {
        mw__graph_fail(graph, MW_ERROR_ARGUMENT, "%s: the name is empty", l->operation);
        return false;
    }
    if (shape.rank < 3 || shape.rank > 2 + MW__CONV_AXES || shape.dim[1] < 1)
        mw__graph_fail(graph, MW_ERROR_SHAPE,
                       "%s \"%s\": x %s must be [batch, channels, 1 to 3 spatial axes] with known channels",
                       l->operation, l->name, mw__shape_print(shape, text, sizeof text));
    else if (l->kernel.rank != shape.rank - 2)
        mw__graph_fail(graph, MW_ERROR_SHAPE, "%s \"%s\": the kernel has %d extents, x %d spatial axes", l->operation,
                       l->name, l->kernel.rank, shape.rank - 2);
    else if (l->channels < 1)
        mw__graph_fail(graph, MW_ERROR_ARGUMENT, "%s \"%s\": channels %" PRId64 " must be positive", l->operation,
                       l->name, l->channels);
    else if (l->options.groups < 1 || shape.dim[1] % l->options.groups != 0 || l->channels % l->options.groups != 0)
        mw__graph_fail(graph, MW_ERROR_SHAPE,
                       "%s \"%s\": groups %" PRId64 " must divide the %" PRId64 " channels of x and the %" PRId64
                       " of the result",
                       l->operation, l->name, l->options.groups, shape.dim[1], l->channels);
    return graph->error.status == MW_OK;
}

/* [O, C / G, *K], or [C, O / G, *K] of the transpose. */
static mw_shape weight_shape(const mw_tensor *x, const layer *l)
{
    const int64_t in = mw_tensor_shape(x).dim[1], groups = l->options.groups;
    mw_shape shape = l->transpose ? MW_SHAPE(in, l->channels / groups) : MW_SHAPE(l->channels, in / groups);
    for (int i = 0; i < l->kernel.rank; i++)
        shape.dim[shape.rank++] = l->kernel.dim[i];
    return shape;
}

static mw_tensor *emit_layer(mw_tensor *x, const layer *l)
{
    const mw_shape shape = weight_shape(x, l);
    const double fan_in = (double)mw_shape_count(shape) / (double)shape.dim[0];
    const float bound = fan_in > 0 ? (float)(1.0 / sqrt(fan_in)) : 0.0f;
    mw_tensor *weight = mw__layer_parameter(x, l->operation, l->name, "weight", shape, mw_init_kaiming_uniform());
    mw_tensor *bias = l->options.bias ? mw__layer_parameter(x, l->operation, l->name, "bias", MW_SHAPE(l->channels),
                                                            mw_init_uniform(-bound, bound))
                                      : NULL;
    if (weight == NULL || (bias == NULL && l->options.bias))
        return NULL;
    return l->transpose ? mw_conv_transpose(x, weight, bias, &l->options) : mw_conv(x, weight, bias, &l->options);
}

static mw_tensor *add_layer(mw_tensor *x, layer l, const mw_conv_options *options)
{
    if (x == NULL)
        return NULL;
    mw_graph *graph = x->graph;
    l.options = options != NULL ? *options : mw_conv_defaults();
    l.operation = l.transpose ? "conv_transpose" : "conv";
    if (!check_options(graph, l.operation, &l.options) || !check_layer(x, &l))
        return NULL;
    const char *outer = graph->scope;
    graph->scope = l.name;
    mw_tensor *y = emit_layer(x, &l);
    graph->scope = outer;
    return y;
}

mw_tensor *mw_conv_layer(mw_tensor *x, int64_t channels, mw_shape kernel, const char *name,
                         const mw_conv_options *options)
{
    MW__FLOAT_SCOPE;
    return add_layer(x, (layer){.name = name, .channels = channels, .kernel = kernel}, options);
}

mw_tensor *mw_conv_transpose_layer(mw_tensor *x, int64_t channels, mw_shape kernel, const char *name,
                                   const mw_conv_options *options)
{
    MW__FLOAT_SCOPE;
    return add_layer(x, (layer){.name = name, .transpose = true, .channels = channels, .kernel = kernel}, options);
}
