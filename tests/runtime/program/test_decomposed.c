/* Operations that a chip refuses give on the model of the ANE what they give on the CPU: positions and truths exactly,
 * numbers as far as fp16 goes. Inputs are numbers that fp16 holds. */
#include "support/check.h"
#include "support/on_engine.h"
#include "support/setting.h"

#include <math.h>
#include <stdlib.h>

enum { MOST = 40000 };

static float number(size_t i) { return (float)((int)(i * 2654435761u >> 20 & 127) - 64) / 16.0F; }

/* The output of a program as fp32. */
static void outputs(const mw_graph *graph, mw_device device, const float *x, size_t count, float *y, size_t y_count)
{
    mw_error err = {0};
    mw_program *program = engine_compile(graph, device, 1, &err);
    mw_program_write(program, "x", MW_F32, x, count, &err);
    mw_program_run(program, &err);
    mw_program_read(program, "y", MW_F32, y, y_count, &err);
    CHECK_OK(err);
    mw_program_destroy(program);
}

/* Both devices on `x`; the largest difference beside the largest number. */
static double apart(mw_graph *graph, const float *x, size_t count)
{
    mw_error err = {0};
    double most = 0.0, largest = 1.0;
    mw_graph_check(graph, &err);
    CHECK_OK(err);
    const size_t y_count = (size_t)mw_shape_count(mw_tensor_shape(mw_graph_find(graph, "y")));
    float *cpu = calloc(y_count + 1, sizeof *cpu), *ane = calloc(y_count + 1, sizeof *ane);
    outputs(graph, MW_DEVICE_CPU, x, count, cpu, y_count);
    outputs(graph, MW_DEVICE_ANE, x, count, ane, y_count);
    for (size_t i = 0; i < y_count; i++) {
        most = fmax(most, isnan(cpu[i]) == isnan(ane[i]) ? fabs((double)cpu[i] - (double)ane[i]) : (double)INFINITY);
        largest = fmax(largest, fabs((double)cpu[i]));
    }
    free(cpu);
    free(ane);
    mw_graph_destroy(graph);
    return most / largest;
}

static float data[MOST];

static void fill(size_t count)
{
    for (size_t i = 0; i < count; i++)
        data[i] = number(i);
}

/* ---- positions ---- */

typedef mw_tensor *argument_maker(mw_tensor *x, int axis, bool keep_dims);

static mw_graph *argument_graph(argument_maker *make, mw_dtype dtype, mw_shape shape, int axis, bool keep)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_output(make(mw_input(graph, "x", dtype, shape), axis, keep), "y");
    return graph;
}

static void test_positions_of_extremes_are_exact(void)
{
    static const struct {
        mw_shape shape;
        int axis;
    } cases[] = {{{1, {7}}, 0},        {{2, {3, 5}}, 0},     {{2, {3, 5}}, 1},          {{3, {4, 6, 5}}, -2},
                 {{1, {2048}}, 0},     {{1, {2049}}, 0},     {{2, {2, 5000}}, 1},       {{2, {5000, 3}}, 0},
                 {{2, {1, 20000}}, 1}, {{2, {20000, 2}}, 0}, {{5, {1, 2, 3, 4, 5}}, 3}, {{1, {1}}, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int keep = 0; keep < 2; keep++) {
            const size_t count = (size_t)mw_shape_count(cases[i].shape);
            fill(count); /* ties are everywhere */
            for (int largest = 0; largest < 2; largest++) {
                argument_maker *make = largest ? mw_reduce_argmax : mw_reduce_argmin;
                mw_graph *graph = argument_graph(make, MW_F32, cases[i].shape, cases[i].axis, keep != 0);
                const double off = apart(graph, data, count);
                check_note(off == 0.0, __FILE__, __LINE__, "case %zu, keep %d, largest %d: %g apart", i, keep, largest,
                           off);
            }
        }
}

/* The last of 20,000 is neither rounded nor cut. */
static void test_a_far_position_is_found(void)
{
    float y = 0.0F;
    fill(20000);
    data[19999] = 100.0F;
    mw_graph *graph = argument_graph(mw_reduce_argmax, MW_F32, MW_SHAPE(20000), 0, true);
    outputs(graph, MW_DEVICE_ANE, data, 20000, &y, 1);
    CHECK(y == 19999.0F);
    mw_graph_destroy(graph);
}

static void test_a_nan_is_the_extreme_one(void)
{
    float y[2];
    fill(6);
    data[1] = data[2] = data[5] = NAN;
    for (int largest = 0; largest < 2; largest++) {
        mw_graph *graph =
            argument_graph(largest ? mw_reduce_argmax : mw_reduce_argmin, MW_F32, MW_SHAPE(2, 3), 1, false);
        outputs(graph, MW_DEVICE_ANE, data, 6, y, 2);
        CHECK(y[0] == 1.0F && y[1] == 2.0F);
        mw_graph_destroy(graph);
    }
}

static void test_an_integer_operand_has_positions_too(void)
{
    for (int i = 0; i < 12; i++)
        data[i] = (float)((i * 5) % 12);
    CHECK(apart(argument_graph(mw_reduce_argmax, MW_I32, MW_SHAPE(3, 4), 1, false), data, 12) == 0.0);
}

/* ---- truths ---- */

typedef mw_tensor *truth_maker(mw_tensor *x, mw_tensor *y);

static void test_truths_are_exact(void)
{
    static truth_maker *const makers[] = {mw_logical_and, mw_logical_or, mw_logical_xor};
    fill(64);
    for (size_t i = 0; i < 3; i++)
        for (int inside = 0; inside < 2; inside++) {
            mw_graph *graph = mw_graph_create(NULL, NULL);
            mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(8, 8));
            mw_tensor *below = mw_less(x, mw_scalar(graph, MW_F32, 1.0));
            mw_tensor *both = makers[i](mw_greater(x, mw_scalar(graph, MW_F32, -1.0)), below);
            mw_tensor *y = inside ? mw_select(both, x, mw_scalar(graph, MW_F32, 0.0)) : mw_logical_not(both);
            mw_output(y, "y");
            CHECK(apart(graph, data, 64) == 0.0);
        }
}

static void test_a_truth_is_fed(void)
{
    for (int i = 0; i < 8; i++)
        data[i] = (float)(i & 1);
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_output(mw_logical_not(mw_input(graph, "x", MW_BOOL, MW_SHAPE(8))), "y");
    CHECK(apart(graph, data, 8) == 0.0);
}

/* ---- bands, sums, functions ---- */

static void test_bands_are_exact(void)
{
    static const int64_t bounds[][2] = {{-1, -1}, {0, 0}, {-1, 0}, {0, -1}, {1, 2}, {9, 9}};
    fill(2 * 5 * 7);
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++) {
        mw_graph *graph = mw_graph_create(NULL, NULL);
        mw_output(mw_band_part(mw_input(graph, "x", MW_F32, MW_SHAPE(2, 5, 7)), bounds[i][0], bounds[i][1]), "y");
        CHECK(apart(graph, data, 2 * 5 * 7) == 0.0);
    }
}

/* Sums of multiples of 1/16 below 128 are exact. */
static void test_running_sums_are_exact(void)
{
    fill(3 * 4 * 5);
    for (int axis = 0; axis < 3; axis++)
        for (int flags = 0; flags < 4; flags++) {
            mw_graph *graph = mw_graph_create(NULL, NULL);
            mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(3, 4, 5));
            mw_output(mw_cumsum(x, axis, (flags & 1) != 0, (flags & 2) != 0), "y");
            CHECK(apart(graph, data, 3 * 4 * 5) == 0.0);
        }
}

/* ---- crops ---- */

/* Boxes as wide as an image, inside, turned over, and half outside; each of image 0 or 1, of both, or of the one. */
static mw_tensor *crop_of(mw_tensor *x, mw_tensor *which, float pad, mw_sampling_mode sampling)
{
    static const float boxes[4][4] = {
        {0, 0, 1, 1}, {0.25f, 0.3f, 0.8f, 0.9f}, {0.9f, 0.75f, 0.1f, 0}, {-0.5f, 0.1f, 0.5f, 1.2f}};
    mw_crop_resize_options options = mw_crop_resize_defaults();
    options.normalized = true, options.pad_value = pad, options.sampling = sampling;
    const int64_t count = which != NULL ? 4 : mw_tensor_shape(x).dim[0];
    return mw_crop_resize(x, mw_constant(mw_tensor_graph(x), MW_F32, MW_SHAPE(count, 4), boxes), which, 3, 5, &options);
}

static mw_tensor *crop_of_roi(mw_graph *graph, mw_tensor *x, int64_t numbers)
{
    static const float boxes[10] = {1, 0, 2, 3, 4, 0, 1.5f, 2, 6, 7};
    mw_tensor *roi = mw_constant(graph, MW_F32, MW_SHAPE(2, 1, numbers, 1, 1), boxes), *y = NULL;
    mw_tensor *size = mw_scalar(graph, MW_I32, 3);
    const mw_argument arguments[] = {
        {"roi", &roi, 1}, {"target_height", &size, 1}, {"target_width", &size, 1}, {"x", &x, 1}};
    mw_op(graph, "crop_resize", arguments, 4, &y, 1, NULL);
    return y;
}

/* Two products of fp16 numbers, each rounded; weights are rounded from double. */
static void test_crops_in_constant_boxes_are_near(void)
{
    static const int32_t which[4] = {1, 0, 1, 1};
    const int64_t count = 2 * 3 * 8 * 9;
    fill((size_t)count);
    for (int form = 0; form < 6; form++) {
        mw_graph_options options = mw_graph_defaults();
        options.opset = form < 4 ? MW_IOS17 : MW_IOS16;
        mw_graph *graph = mw_graph_create(&options, NULL);
        mw_tensor *x = mw_input(graph, "x", MW_F32, form == 3 ? MW_SHAPE(1, 6, 8, 9) : MW_SHAPE(2, 3, 8, 9));
        mw_tensor *indices = form == 1 || form == 2 ? mw_constant(graph, MW_I32, MW_SHAPE(4), which) : NULL;
        mw_output(form < 4 ? crop_of(x, indices, form == 0 ? 0.0f : 3.0f, (mw_sampling_mode)form)
                           : crop_of_roi(graph, x, form),
                  "y");
        const double far = apart(graph, data, (size_t)count);
        check_note(far <= 2e-3, __FILE__, __LINE__, "form %d: %g apart", form, far);
    }
}

/* Beside the result itself, so that small results count too. A few roundings of 5e-4 each. */
static void test_functions_are_near(void)
{
    static const struct {
        mw_tensor *(*make)(mw_tensor *);
        double (*exact)(double);
        float scale;
        double off;
    } functions[] = {{mw_cosh, cosh, 1.0F, 4e-3},      {mw_sinh, sinh, 1.0F, 4e-3},
                     {mw_tan, tan, 1.0F, 4e-3},        {mw_asin, asin, 0.6875F, 1.5e-3},
                     {mw_acos, acos, 0.6875F, 1.5e-3}, {mw_atanh, atanh, 0.6875F, 1.5e-3}};
    float y[64];
    for (size_t f = 0; f < sizeof functions / sizeof *functions; f++) {
        for (int i = 0; i < 64; i++) /* of the last three up to 1.03: beyond 1 there is no number */
            data[i] = (float)(i - 32) / 16.0F * (i % 2 != 0 ? 0.0625F : 0.75F) * functions[f].scale;
        mw_graph *graph = mw_graph_create(NULL, NULL);
        mw_output(functions[f].make(mw_input(graph, "x", MW_F32, MW_SHAPE(64))), "y");
        outputs(graph, MW_DEVICE_ANE, data, 64, y, 64);
        for (int i = 0; i < 64; i++) {
            const double exact = functions[f].exact((double)data[i]);
            check_note(fabs((double)y[i] - exact) <= functions[f].off * fabs(exact) + 1e-7 ||
                           (isnan(exact) && isnan(y[i])),
                       __FILE__, __LINE__, "function %zu of %g: %g, not %g", f, (double)data[i], (double)y[i], exact);
        }
        mw_graph_destroy(graph);
    }
}

/* ---- wide kernels ---- */

typedef struct conv_case {
    mw_shape x, weight;
    int64_t stride[3], dilation[3], pad[6], groups;
    bool bias;
} conv_case;

static mw_graph *conv_graph(const conv_case *c)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_conv_options options = mw_conv_defaults();
    const size_t count = (size_t)mw_shape_count(c->weight);
    float *weight = calloc(count, sizeof *weight);
    for (size_t i = 0; i < count; i++)
        weight[i] = number(i * 7 + 3) / 8.0F;
    for (int i = 0; i < 3; i++) {
        options.stride[i] = c->stride[i] > 0 ? c->stride[i] : 1;
        options.dilation[i] = c->dilation[i] > 0 ? c->dilation[i] : 1;
    }
    for (int i = 0; i < 6; i++)
        options.pad[i] = c->pad[i];
    options.pad_type = MW_PAD_CUSTOM;
    options.groups = c->groups;
    mw_tensor *bias = c->bias ? mw_constant(graph, MW_F32, MW_SHAPE(c->weight.dim[0]), weight) : NULL;
    mw_output(
        mw_conv(mw_input(graph, "x", MW_F32, c->x), mw_constant(graph, MW_F32, c->weight, weight), bias, &options),
        "y");
    free(weight);
    return graph;
}

static void test_wide_kernels_are_near(void)
{
    static const conv_case cases[] = {
        {.x = {3, {1, 1, 100}}, .weight = {3, {4, 1, 16}}, .groups = 1},
        {.x = {3, {2, 3, 300}}, .weight = {3, {5, 3, 64}}, .stride = {8}, .groups = 1, .bias = true},
        {.x = {3, {1, 2, 90}}, .weight = {3, {2, 2, 17}}, .dilation = {3}, .pad = {10, 12}, .groups = 1},
        {.x = {3, {2, 4, 60}}, .weight = {3, {6, 2, 31}}, .stride = {3}, .pad = {5, 7}, .groups = 2, .bias = true},
        {.x = {3, {1, 1, 8}}, .weight = {3, {2, 1, 40}}, .pad = {40, 40}, .groups = 1},
        {.x = {4, {2, 3, 6, 50}}, .weight = {4, {4, 3, 3, 21}}, .stride = {2, 1}, .pad = {1, 1, 10, 10}, .groups = 1},
        {.x = {4, {1, 4, 5, 40}}, .weight = {4, {4, 1, 2, 18}}, .stride = {1, 2}, .dilation = {2, 1}, .groups = 4},
        {.x = {5, {1, 2, 3, 4, 40}}, .weight = {5, {2, 2, 2, 2, 20}}, .groups = 1},
        {.x = {3, {1, 1, 47}},
         .weight = {3, {1, 1, 30}},
         .stride = {7},
         .groups = 1}, /* elements that no window reads */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const size_t count = (size_t)mw_shape_count(cases[i].x);
        fill(count);
        const double off = apart(conv_graph(&cases[i]), data, count);
        check_note(off <= 1e-3, __FILE__, __LINE__, "case %zu: %g apart", i, off);
    }
}

/* ---- promises ---- */

static void test_a_result_keeps_its_name_and_is_fp16(void)
{
    mw_error err = {0};
    mw_port port;
    mw_graph *graph = argument_graph(mw_reduce_argmax, MW_F32, MW_SHAPE(2, 2000), 1, false);
    mw_program *program = engine_compile(graph, MW_DEVICE_ANE, 1, &err);
    CHECK_OK(err);
    CHECK(mw_program_port_at(program, 1, &port) && port.dtype == MW_F16);
    CHECK_STR(port.name, "y");
    mw_program_destroy(program);
    mw_graph_destroy(graph);
    graph = argument_graph(mw_reduce_argmax, MW_F32, MW_SHAPE(2, 3000), 1, false); /* in digits */
    program = engine_compile(graph, MW_DEVICE_ANE, 1, &err);
    CHECK_OK(err);
    CHECK(mw_program_port_at(program, 1, &port) && port.dtype == MW_I32 &&
          mw_program_get_info(program).port_count == 2);
    CHECK_STR(port.name, "y");
    mw_program_destroy(program);
    mw_graph_destroy(graph);
}

static void test_an_axis_that_no_two_digits_count_is_refused(void)
{
    mw_error err = {0};
    mw_graph *graph = argument_graph(mw_reduce_argmax, MW_F32, MW_SHAPE(600000), 0, false);
    CHECK(engine_compile(graph, MW_DEVICE_ANE, 1, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_UNSUPPORTED, "reduce_argmax");
    mw_graph_destroy(graph);
}

int main(void)
{
    setting_begin("MW_ENGINE_PROFILE", "ieee"); /* of what IEEE makes a NaN a chip makes 0 */
    RUN(test_positions_of_extremes_are_exact);
    RUN(test_a_far_position_is_found);
    RUN(test_a_nan_is_the_extreme_one);
    RUN(test_an_integer_operand_has_positions_too);
    RUN(test_truths_are_exact);
    RUN(test_a_truth_is_fed);
    RUN(test_bands_are_exact);
    RUN(test_crops_in_constant_boxes_are_near);
    RUN(test_running_sums_are_exact);
    RUN(test_functions_are_near);
    RUN(test_wide_kernels_are_near);
    RUN(test_a_result_keeps_its_name_and_is_fp16);
    RUN(test_an_axis_that_no_two_digits_count_is_refused);
    return check_finish();
}
