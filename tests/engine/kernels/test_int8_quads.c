/* Codes that lie in quads of channels between operations on codes: whole networks have the bits of those whose values
 * in between are outputs as well, which lie as others do. */
#include "base/number/random.h"
#include "engine/program_case.h"
#include "engine/run.h"
#include "support/check.h"
#include "support/on_engine.h"
#include "support/setting.h"

#include <math.h>
#include <millwright/inspect.h>
#include <stdlib.h>
#include <string.h>

/* ---- networks ---- */

enum { WEIGHT_MOST = 64 * 64 * 9 };

typedef struct net {
    mw_graph *graph;
    mw_dtype dtype; /* of all codes */
    bool shown;     /* what is in between is an output */
    mw__random random;
} net;

static mw_tensor *number(mw_graph *graph, mw_dtype dtype, int value)
{
    const int8_t byte = (int8_t)value;
    return mw_constant(graph, dtype, mw_shape_scalar(), &byte);
}

/* The numbers of its codes. */
static mw_tensor *coded(net *n, mw_tensor *x, const char *name)
{
    const float scale = 0.0078f;
    mw_tensor *by = mw_constant(n->graph, MW_F32, mw_shape_scalar(), &scale);
    mw_tensor *from = number(n->graph, n->dtype, n->dtype == MW_I8 ? -7 : 119);
    mw_tensor *made = mw_dequantize(mw_quantize(x, by, from, 0, n->dtype), by, from, 0);
    return name != NULL && n->shown ? mw_output(made, name) : made;
}

typedef struct layer {
    int64_t outputs, kernel, stride, dilation, groups;
    int zero; /* of its weight */
} layer;

static mw_tensor *weight_of(net *n, mw_shape shape, int zero)
{
    static int8_t codes[WEIGHT_MOST];
    const int64_t count = mw_shape_count(shape);
    const float scale = 0.011f / sqrtf((float)(count / shape.dim[0]));
    for (int64_t i = 0; i < count; i++)
        codes[i] = (int8_t)mw__random_below(&n->random, 256);
    mw_tensor *by = mw_constant(n->graph, MW_F32, MW_SHAPE(1, 1, 1, 1), &scale);
    const int8_t from = (int8_t)zero;
    return mw_constexpr_blockwise_shift_scale(mw_constant(n->graph, MW_I8, shape, codes), by,
                                              zero != 0 ? mw_constant(n->graph, MW_I8, MW_SHAPE(1, 1, 1, 1), &from)
                                                        : NULL);
}

static mw_tensor *convolve(net *n, mw_tensor *x, layer l)
{
    const int64_t groups = l.groups > 0 ? l.groups : 1, dilation = l.dilation > 0 ? l.dilation : 1;
    mw_conv_options options = program_conv(l.stride, dilation, groups);
    for (int i = 0; i < 4; i++)
        options.pad[i] = l.kernel / 2 * dilation;
    const mw_shape shape = MW_SHAPE(l.outputs, mw_tensor_shape(x).dim[1] / groups, l.kernel, l.kernel);
    return mw_conv(x, weight_of(n, shape, l.zero), NULL, &options);
}

static mw_tensor *pooled(mw_tensor *x, int64_t kernel, int64_t stride)
{
    mw_pool_options options = mw_pool_defaults(MW_SHAPE(kernel, kernel));
    options.stride[0] = options.stride[1] = stride;
    options.pad_type = MW_PAD_CUSTOM;
    options.pad[0] = options.pad[1] = options.pad[2] = options.pad[3] = kernel / 2;
    return mw_max_pool(x, &options);
}

/* A block with a sum of what is pooled and what is convolved. */
static void build_block(net *n, mw_tensor *x)
{
    mw_tensor *a = coded(n, convolve(n, x, (layer){.outputs = 16, .kernel = 3, .stride = 1}), "a");
    mw_tensor *b = coded(n, mw_relu(convolve(n, a, (layer){.outputs = 32, .kernel = 1, .stride = 1})), "b");
    mw_tensor *c = coded(n, convolve(n, b, (layer){.outputs = 16, .kernel = 3, .stride = 2}), "c");
    mw_tensor *d = coded(n, convolve(n, c, (layer){.outputs = 32, .kernel = 1, .stride = 1, .zero = 3}), "d");
    mw_tensor *p = coded(n, pooled(b, 3, 2), "p");
    mw_tensor *s = coded(n, mw_relu(mw_add(p, d)), "s");
    mw_output(coded(n, convolve(n, s, (layer){.outputs = 12, .kernel = 1, .stride = 2}), NULL), "e");
    mw_output(coded(n, convolve(n, s, (layer){.outputs = 20, .kernel = 3, .stride = 1, .dilation = 2}), NULL), "t");
}

/* Two blocks of 1 x 1, 3 x 3, 1 x 1, each added to what it takes. */
static void build_residual(net *n, mw_tensor *x)
{
    mw_tensor *y = coded(n, convolve(n, x, (layer){.outputs = 24, .kernel = 1, .stride = 1}), "a");
    for (int i = 0; i < 2; i++) {
        mw_tensor *a = coded(n, mw_relu(convolve(n, y, (layer){.outputs = 8, .kernel = 1, .stride = 1})), NULL);
        a = coded(n, mw_relu(convolve(n, a, (layer){.outputs = 8, .kernel = 3, .stride = 1})), i == 0 ? "b" : "c");
        a = coded(n, convolve(n, a, (layer){.outputs = 24, .kernel = 1, .stride = 1}), i == 0 ? "d" : "p");
        mw_tensor *sum = i == 0 ? mw_add(a, y) : mw_relu(mw_add(y, a));
        y = coded(n, sum, i == 0 ? "s" : NULL);
    }
    mw_output(coded(n, pooled(y, 2, 1), NULL), "e");
    mw_output(coded(n, convolve(n, y, (layer){.outputs = 12, .kernel = 1, .stride = 1}), NULL), "t");
}

/* Channels that make no quads in between, and operations that take none. */
static void build_uneven(net *n, mw_tensor *x)
{
    mw_tensor *a = coded(n, convolve(n, x, (layer){.outputs = 10, .kernel = 3, .stride = 1}), "a");
    mw_tensor *s = coded(n, convolve(n, a, (layer){.outputs = 10, .kernel = 3, .stride = 1}), "s");
    a = coded(n, mw_relu(mw_add(s, a)), "p");
    mw_tensor *b = coded(n, convolve(n, a, (layer){.outputs = 16, .kernel = 1, .stride = 1}), "b");
    mw_tensor *c = coded(n, mw_add(b, convolve(n, a, (layer){.outputs = 16, .kernel = 1, .stride = 1})), "c");
    mw_tensor *d = coded(n, convolve(n, c, (layer){.outputs = 16, .kernel = 3, .stride = 3}), "d");
    mw_output(coded(n, pooled(d, 3, 3), NULL), "e");
    mw_tensor *g = coded(n, convolve(n, c, (layer){.outputs = 16, .kernel = 3, .stride = 1, .groups = 16}), NULL);
    mw_output(coded(n, convolve(n, g, (layer){.outputs = 1, .kernel = 1, .stride = 1}), NULL), "t");
}

typedef void build(net *n, mw_tensor *x);
static build *const builds[] = {build_block, build_residual, build_uneven};
enum { BUILDS = sizeof builds / sizeof *builds };

static mw_graph *make_net(build *how, mw_dtype dtype, mw_shape shape, bool shown)
{
    net n = {.graph = mw_graph_create(NULL, NULL), .dtype = dtype, .shown = shown, .random = {.seed = 11}};
    how(&n, coded(&n, mw_input(n.graph, "x", MW_F32, shape), NULL));
    return n.graph;
}

/* ---- bits ---- */

static mw_program *compile_net(const mw_graph *graph, const char *width, int threads, mw_error *err)
{
    setting_begin("MW_ENGINE_WIDE", width);
    mw_program *program = engine_compile(graph, MW_DEVICE_CPU, threads, err);
    setting_end("MW_ENGINE_WIDE");
    return program;
}

static program_outputs run_net(const mw_graph *graph, const char *width, int threads)
{
    static const char *const names[] = {"e", "t"};
    mw_error err = {0};
    const program_numbers numbers = {.seed = 5};
    mw_program *program = compile_net(graph, width, threads, &err);
    program_feed(program, "x", &numbers, 1, &err);
    mw_program_run(program, &err);
    program_outputs out = program_outputs_read(program, names, 2, &err);
    CHECK_OK(err);
    mw_program_destroy(program);
    return out;
}

static void check_net(build *how, mw_dtype dtype, mw_shape shape)
{
    static const char *const widths[] = {"512", "256", "0"};
    mw_graph *shown = make_net(how, dtype, shape, true), *hidden = make_net(how, dtype, shape, false);
    program_outputs wanted = run_net(shown, "0", 1);
    for (int i = 0; i < 6; i++) {
        program_outputs got = run_net(hidden, widths[i / 2], 1 + 2 * (i % 2));
        program_outputs_compare(&wanted, &got, 2, widths[i / 2]);
        program_outputs_deinit(&got);
    }
    program_outputs_deinit(&wanted);
    mw_graph_destroy(shown);
    mw_graph_destroy(hidden);
}

static void test_quads_have_the_bits_of_rows(void)
{
    const mw_shape shapes[] = {MW_SHAPE(3, 8, 13, 11), MW_SHAPE(4, 8, 8, 8), MW_SHAPE(1, 12, 20, 37)};
    for (int i = 0; i < BUILDS; i++)
        for (int k = 0; k < 3; k++) {
            check_net(builds[i], MW_U8, shapes[k]);
            check_net(builds[i], MW_I8, shapes[k]);
        }
}

/* ---- plans ---- */

static int count_steps(const mw_graph *graph, const char *kernel)
{
    int count = 0;
    mw_error err = {0};
    mw_plan_step step;
    mw_program *program = compile_net(graph, "512", 1, &err);
    mw_plan *plan = program != NULL ? mw_plan_create(program, &err) : NULL;
    for (size_t i = 0; plan != NULL && mw_plan_step_at(plan, i, &step); i++)
        count += strcmp(step.kernel, kernel) == 0;
    CHECK_OK(err);
    mw_plan_destroy(plan);
    mw_program_destroy(program);
    return count;
}

/* Of eight convolutions those of 3 x 3, and the first one, whose input is quantized in rows. */
static void test_pixels_in_quads_are_not_laid_out_again(void)
{
    mw_graph *graph = make_net(build_residual, MW_U8, MW_SHAPE(4, 8, 8, 8), false);
    mw_graph *shown = make_net(build_residual, MW_U8, MW_SHAPE(4, 8, 8, 8), true);
    if (level_here() == MW__LEVEL_REF)
        SKIP("the reference dequantizes");
    CHECK_INT(count_steps(graph, "conv.planes"), 3);
    CHECK_INT(count_steps(shown, "conv.planes"), 8);
    mw_graph_destroy(graph);
    mw_graph_destroy(shown);
}

int main(void)
{
    RUN(test_quads_have_the_bits_of_rows);
    RUN(test_pixels_in_quads_are_not_laid_out_again);
    return check_finish();
}
