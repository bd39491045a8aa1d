/* Convolutions with computed kernels that are dilated: no zero is multiplied, forward or in a gradient, and the bytes
 * are those of the operations one by one (MW_ENGINE_FUSE=0), which multiply them: of y and dx for any numbers, of the
 * weight's gradient, whose sums have an order of their own, where sums are exact. */
#include "engine/program_case.h"
#include "engine/run.h"
#include "support/check.h"
#include "support/on_engine.h"
#include "support/setting.h"

#include <millwright/millwright.h>
#include <stdio.h>
#include <string.h>

typedef struct dilated {
    const char *what;
    mw_shape x, weight;
    int64_t stride[3], dilation[3], groups; /* 0 = 1 */
    mw_pad_type pad;
    bool plain; /* some of it is left as it is written: dx of few channels, three spatial axes */
} dilated;

static const dilated rows[] = {
    {.what = "one channel",
     .x = {4, {3, 1, 19, 23}},
     .weight = {4, {9, 1, 3, 3}},
     .dilation = {2, 2, 0},
     .plain = true},
    {.what = "many channels", .x = {4, {3, 19, 17, 21}}, .weight = {4, {33, 19, 3, 3}}, .dilation = {2, 2, 0}},
    {.what = "one axis of two", .x = {4, {2, 9, 17, 21}}, .weight = {4, {10, 9, 3, 2}}, .dilation = {0, 3, 0}},
    {.what = "the other axis", .x = {4, {2, 9, 17, 21}}, .weight = {4, {10, 9, 2, 3}}, .dilation = {4, 0, 0}},
    {.what = "different steps", .x = {4, {2, 9, 27, 31}}, .weight = {4, {10, 9, 3, 4}}, .dilation = {5, 2, 0}},
    {.what = "strides",
     .x = {4, {2, 9, 27, 31}},
     .weight = {4, {10, 9, 3, 3}},
     .stride = {2, 3, 0},
     .dilation = {2, 2, 0}},
    {.what = "groups", .x = {4, {2, 18, 14, 15}}, .weight = {4, {20, 9, 3, 3}}, .dilation = {2, 2, 0}, .groups = 2},
    {.what = "depthwise", .x = {4, {2, 9, 24, 25}}, .weight = {4, {9, 1, 3, 3}}, .dilation = {3, 3, 0}, .groups = 9},
    {.what = "a line", .x = {3, {3, 12, 201}}, .weight = {3, {16, 12, 3}}, .dilation = {16, 0, 0}},
    {.what = "a line, depthwise", .x = {3, {3, 12, 201}}, .weight = {3, {12, 1, 2}}, .dilation = {8}, .groups = 12},
    {.what = "a pyramid's step", .x = {4, {1, 16, 33, 33}}, .weight = {4, {16, 16, 3, 3}}, .dilation = {18, 18, 0}},
    {.what = "the last step of a pyramid",
     .x = {4, {1, 9, 33, 33}},
     .weight = {4, {8, 9, 3, 3}},
     .dilation = {24, 24, 0}},
    {.what = "a long line", .x = {3, {1, 9, 700}}, .weight = {3, {8, 9, 3}}, .dilation = {256}},
    {.what = "no border",
     .x = {4, {2, 17, 21, 22}},
     .weight = {4, {18, 17, 3, 3}},
     .dilation = {4, 4, 0},
     .pad = MW_PAD_VALID},
    {.what = "few channels", .x = {4, {2, 3, 15, 17}}, .weight = {4, {2, 3, 3, 3}}, .dilation = {2, 2}, .plain = true},
    {.what = "space",
     .x = {5, {1, 9, 9, 8, 11}},
     .weight = {5, {10, 9, 2, 2, 3}},
     .dilation = {2, 3, 2},
     .plain = true},
};

static mw_tensor *forward(const dilated *c, mw_tensor *x, mw_tensor *weight, mw_tensor *bias)
{
    mw_conv_options options = mw_conv_defaults();
    for (int i = 0; i < 3; i++) {
        options.stride[i] = c->stride[i] > 0 ? c->stride[i] : 1;
        options.dilation[i] = c->dilation[i] > 0 ? c->dilation[i] : 1;
    }
    options.groups = c->groups > 0 ? c->groups : 1;
    options.pad_type = c->pad != MW_PAD_VALID ? MW_PAD_SAME : MW_PAD_VALID;
    return mw_conv(x, weight, bias, &options);
}

/* Outputs "y", "dx", "dweight" and "dbias". */
static mw_graph *build(const dilated *c)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *wanted[] = {mw_input(graph, "x", MW_F32, c->x), mw_input(graph, "weight", MW_F32, c->weight),
                           mw_input(graph, "bias", MW_F32, MW_SHAPE(c->weight.dim[0]))};
    mw_tensor *y = forward(c, wanted[0], wanted[1], wanted[2]), *made[3] = {0};
    mw_tensor *dy = mw_input(graph, "dy", MW_F32, mw_tensor_shape(y));
    mw_vjp(&y, &dy, 1, wanted, 3, made, &err);
    CHECK_OK(err);
    mw_output(y, "y");
    mw_output(made[0], "dx");
    mw_output(made[1], "dweight");
    mw_output(made[2], "dbias");
    return graph;
}

static program_outputs compute(mw_program *program, const program_numbers *numbers, const char *what)
{
    static const char *const inputs[] = {"x", "weight", "bias", "dy"}, *const outputs[] = {"y", "dx", "dweight",
                                                                                           "dbias"};
    mw_error err = {0};
    for (uint64_t i = 0; i < 4; i++)
        program_feed(program, inputs[i], numbers, i + 1, &err);
    mw_program_run(program, &err);
    const program_outputs out = program_outputs_read(program, outputs, 4, &err);
    check_note(err.status == MW_OK, __FILE__, __LINE__, "%s: %s", what, err.message);
    return out;
}

static void compare(mw_program *fused, mw_program *plain, const program_numbers *numbers, int outputs, const char *what)
{
    program_outputs a = compute(fused, numbers, what), b = compute(plain, numbers, what);
    program_outputs_compare(&a, &b, outputs, what);
    program_outputs_deinit(&a);
    program_outputs_deinit(&b);
}

static void check_case(const dilated *c, int threads)
{
    static const run_label none[] = {{"pad", 0}, {"slice_by_size", 0}};
    static const program_numbers few = {.seed = 5, .steps = 8.0f}, any = {.seed = 6};
    mw_error err = {0};
    char what[96];
    mw_graph *graph = build(c);
    mw_program *fused = engine_compile(graph, MW_DEVICE_CPU, threads, &err);
    mw_program *plain = program_compile_plain(graph, MW_DEVICE_CPU, threads, &err);
    snprintf(what, sizeof what, "%s, %d threads", c->what, threads);
    if (CHECK_OK(err)) {
        if (!c->plain)
            run_check_labels(what, mw_program_get_info(fused).mil, none, 2);
        compare(fused, plain, &few, 4, what);
        compare(fused, plain, &any, 2, what);
    }
    mw_program_destroy(fused);
    mw_program_destroy(plain);
    mw_graph_destroy(graph);
}

static void check_rows(int threads)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_case(&rows[i], threads);
}

static void test_no_zero_of_a_dilated_kernel_is_multiplied(void)
{
    for (int threads = 1; threads <= 3; threads++)
        check_rows(threads);
}

static void test_narrower_vectors_agree_too(void)
{
    static const char *const widths[] = {"0", "256"};
    for (int i = 0; i < 2; i++) {
        setting_begin("MW_ENGINE_WIDE", widths[i]);
        check_rows(2);
        setting_end("MW_ENGINE_WIDE");
    }
}

/* ---- kernels that are almost spread ---- */

/* [O, I, 3] with something between its elements, cut. */
typedef struct almost {
    const char *what;
    int64_t before, after; /* padding of each element */
    float value;           /* of the padding */
    int64_t begin, extent; /* of what is cut of all */
} almost;

static const almost kernels[] = {
    {"ones between", 0, 1, 1.0f, 0, 5},       {"zeros before each", 1, 0, 0.0f, 0, 5},
    {"another beginning", 0, 1, 0.0f, 1, 5},  {"one zero at the end", 0, 1, 0.0f, 0, 6},
    {"an element cut off", 0, 1, 0.0f, 0, 4}, {"a negative zero between", 0, 1, -0.0f, 0, 5},
};

static mw_tensor *spread(const almost *c, mw_tensor *weight)
{
    const mw_shape s = mw_tensor_shape(weight);
    const int64_t all = s.dim[2] * (1 + c->before + c->after);
    mw_tensor *wide = mw_pad(mw_reshape(weight, MW_SHAPE(s.dim[0], s.dim[1], s.dim[2], 1, 1)),
                             (const int64_t[]){c->before, c->after, 0, 0}, 2, MW_PAD_CONSTANT, c->value);
    wide = mw_reshape(wide, MW_SHAPE(s.dim[0], s.dim[1], all));
    return c->extent == all ? wide
                            : mw_slice_by_size(wide, (const int64_t[]){0, 0, c->begin},
                                               (const int64_t[]){s.dim[0], s.dim[1], c->extent});
}

static void check_almost(const almost *c)
{
    static const program_numbers few = {.seed = 7, .steps = 8.0f};
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *wanted[] = {mw_input(graph, "x", MW_F32, MW_SHAPE(3, 9, 57)),
                           mw_input(graph, "weight", MW_F32, MW_SHAPE(10, 9, 3)),
                           mw_input(graph, "bias", MW_F32, MW_SHAPE(10))};
    mw_tensor *y = mw_conv(wanted[0], spread(c, wanted[1]), wanted[2], NULL), *made[3] = {0};
    mw_tensor *dy = mw_input(graph, "dy", MW_F32, mw_tensor_shape(y));
    mw_vjp(&y, &dy, 1, wanted, 3, made, &err);
    mw_output(y, "y");
    mw_output(made[0], "dx");
    mw_output(made[1], "dweight");
    mw_output(made[2], "dbias");
    mw_program *fused = engine_compile(graph, MW_DEVICE_CPU, 2, &err);
    mw_program *plain = program_compile_plain(graph, MW_DEVICE_CPU, 2, &err);
    if (CHECK_OK(err))
        compare(fused, plain, &few, 4, c->what);
    mw_program_destroy(fused);
    mw_program_destroy(plain);
    mw_graph_destroy(graph);
}

static void test_a_kernel_that_is_almost_spread_is_what_it_says(void)
{
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        check_almost(&kernels[i]);
}

int main(void)
{
    RUN(test_no_zero_of_a_dilated_kernel_is_multiplied);
    RUN(test_narrower_vectors_agree_too);
    RUN(test_a_kernel_that_is_almost_spread_is_what_it_says);
    return check_finish();
}
