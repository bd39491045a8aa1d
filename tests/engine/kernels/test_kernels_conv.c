/* conv and conv_transpose at sizes where the fast kernels take several tiles, depths and blocks of rows, against the
 * plain ones (MW_ENGINE_REF=1), on one thread and on three, in wide and in baseline vectors. */
#include "base/number/fp16.h"
#include "engine/program_case.h"
#include "engine/run.h"
#include "support/check.h"
#include "support/on_engine.h"
#include "support/setting.h"

#include <millwright/millwright.h>
#include <millwright/plan.h>
#include <stdlib.h>
#include <string.h>

typedef struct shapes {
    const char *what;
    bool transpose;
    mw_shape x, weight;
    int64_t stride, dilation, groups; /* 0 = 1 */
} shapes;

static const shapes cases[] = {
    {.what = "several depths", .x = {4, {1, 300, 5, 5}}, .weight = {4, {3, 300, 3, 3}}},
    {.what = "several blocks of rows", .x = {4, {2, 2, 12, 9}}, .weight = {4, {300, 2, 1, 2}}},
    {.what = "several tiles of small images", .x = {4, {70, 3, 5, 4}}, .weight = {4, {7, 3, 2, 2}}},
    {.what = "several tiles of one line", .x = {3, {1, 2, 3000}}, .weight = {3, {5, 2, 4}}, .stride = 2, .dilation = 3},
    {.what = "groups", .x = {4, {3, 6, 20, 21}}, .weight = {4, {9, 2, 3, 2}}, .stride = 2, .dilation = 2, .groups = 3},
    {.what = "space", .x = {5, {2, 2, 7, 8, 9}}, .weight = {5, {4, 2, 2, 3, 2}}, .stride = 2},
    {.what = "direct, rows with an end", .x = {4, {3, 3, 9, 15}}, .weight = {4, {6, 3, 3, 3}}},
    {.what = "direct, one vector a row", .x = {4, {2, 4, 4, 9}}, .weight = {4, {5, 4, 3, 3}}},
    {.what = "direct, one row", .x = {3, {2, 3, 50}}, .weight = {3, {4, 3, 5}}, .stride = 3, .dilation = 2},
    {.what = "direct, strides and groups",
     .x = {4, {3, 4, 24, 37}},
     .weight = {4, {6, 2, 5, 3}},
     .stride = 2,
     .groups = 2},
    {.what = "direct, a stride wider than the kernel",
     .x = {4, {2, 2, 20, 40}},
     .weight = {4, {3, 2, 2, 2}},
     .stride = 4},
    {.what = "direct, bands of rows", .x = {4, {2, 37, 47, 53}}, .weight = {4, {13, 37, 3, 3}}, .dilation = 3},
    {.what = "direct, bands of rows with strides, groups",
     .x = {4, {2, 80, 77, 60}},
     .weight = {4, {10, 40, 5, 3}},
     .stride = 2,
     .groups = 2},
    {.what = "wide, several panels and lines", .x = {4, {2, 5, 13, 45}}, .weight = {4, {75, 5, 3, 3}}},
    {.what = "wide, phases of columns",
     .x = {4, {3, 3, 24, 37}},
     .weight = {4, {24, 3, 5, 7}},
     .stride = 3,
     .dilation = 2},
    {.what = "wide, a stride wider than the kernel",
     .x = {4, {2, 2, 20, 40}},
     .weight = {4, {12, 2, 2, 2}},
     .stride = 4},
    {.what = "wide, groups", .x = {4, {3, 8, 9, 11}}, .weight = {4, {32, 4, 3, 3}}, .groups = 2},
    {.what = "wide, one row", .x = {3, {2, 3, 50}}, .weight = {3, {16, 3, 5}}, .stride = 3, .dilation = 2},
    {.what = "wide, bands of rows", .x = {4, {1, 40, 62, 70}}, .weight = {4, {16, 40, 5, 2}}},
    {.what = "wide, bands of rows with strides",
     .x = {4, {2, 33, 85, 60}},
     .weight = {4, {24, 33, 3, 3}},
     .stride = 2,
     .dilation = 2},
    {.what = "wide, one image for several threads", .x = {4, {1, 12, 17, 15}}, .weight = {4, {32, 12, 3, 3}}},
    {.what = "wide, one row for several threads", .x = {3, {1, 3, 217}}, .weight = {3, {75, 3, 5}}},
    {.what = "wide, one row in groups for several threads",
     .x = {3, {1, 15, 217}},
     .weight = {3, {120, 5, 4}},
     .stride = 2,
     .groups = 3},
    {.what = "wide, two panels in each group", .x = {3, {1, 8, 150}}, .weight = {3, {80, 4, 3}}, .groups = 2},
    {.what = "packed, several depths and panels", .x = {4, {3, 60, 9, 7}}, .weight = {4, {45, 60, 3, 3}}},
    {.what = "packed, strides and small images", .x = {4, {9, 40, 7, 6}}, .weight = {4, {33, 40, 3, 3}}, .stride = 2},
    {.what = "packed, a stride of three and dilation",
     .x = {4, {2, 90, 17, 19}},
     .weight = {4, {9, 90, 3, 2}},
     .stride = 3,
     .dilation = 2},
    {.what = "packed, one position", .x = {4, {5, 257, 2, 2}}, .weight = {4, {10, 257, 3, 3}}},
    {.what = "packed, few positions and many channels", .x = {4, {1, 70, 5, 5}}, .weight = {4, {150, 70, 3, 3}}},
    {.what = "packed, groups", .x = {4, {3, 40, 12, 11}}, .weight = {4, {24, 20, 5, 5}}, .groups = 2},
    {.what = "packed, space", .x = {5, {2, 9, 6, 7, 8}}, .weight = {5, {13, 9, 3, 2, 3}}, .stride = 2},
    {.what = "examples, groups", .x = {4, {32, 12, 4, 4}}, .weight = {4, {18, 6, 3, 3}}, .groups = 2},
    {.what = "examples, space", .x = {5, {96, 9, 2, 3, 2}}, .weight = {5, {13, 9, 2, 3, 2}}},
    {.what = "examples, transpose, strides and groups",
     .transpose = true,
     .x = {4, {32, 6, 3, 2}},
     .weight = {4, {6, 5, 3, 3}},
     .stride = 2,
     .groups = 3},
    {.what = "examples, transpose, a stride beyond the kernel",
     .transpose = true,
     .x = {4, {64, 8, 2, 3}},
     .weight = {4, {8, 20, 2, 3}},
     .stride = 3},
    {.what = "depthwise", .x = {4, {3, 21, 9, 7}}, .weight = {4, {21, 1, 3, 3}}, .groups = 21},
    {.what = "depthwise, strides and two outputs",
     .x = {4, {2, 6, 23, 38}},
     .weight = {4, {12, 1, 3, 5}},
     .stride = 2,
     .groups = 6},
    {.what = "depthwise, a stride of three and dilation",
     .x = {4, {2, 5, 31, 70}},
     .weight = {4, {5, 1, 4, 2}},
     .stride = 3,
     .dilation = 2,
     .groups = 5},
    {.what = "depthwise, bands of rows", .x = {4, {1, 3, 60, 151}}, .weight = {4, {3, 1, 3, 3}}, .groups = 3},
    {.what = "depthwise, one axis", .x = {3, {2, 4, 3000}}, .weight = {3, {4, 1, 7}}, .stride = 2, .groups = 4},
    {.what = "depthwise, transpose",
     .transpose = true,
     .x = {4, {2, 7, 12, 19}},
     .weight = {4, {7, 1, 3, 4}},
     .stride = 2,
     .dilation = 3,
     .groups = 7},
    {.what = "transpose, a stride beyond the kernel",
     .transpose = true,
     .x = {4, {3, 5, 7, 6}},
     .weight = {4, {5, 9, 2, 2}},
     .stride = 3},
    {.what = "transpose, several depths",
     .transpose = true,
     .x = {4, {2, 140, 6, 7}},
     .weight = {4, {140, 31, 4, 4}},
     .stride = 2},
    {.what = "transpose, few output channels", .transpose = true, .x = {4, {2, 5, 7, 6}}, .weight = {4, {5, 3, 3, 3}}},
    {.what = "transpose, several tiles", .transpose = true, .x = {4, {1, 2, 60, 60}}, .weight = {4, {2, 17, 5, 5}}},
    {.what = "transpose, blocks of channels",
     .transpose = true,
     .x = {4, {2, 3, 30, 31}},
     .weight = {4, {3, 40, 3, 3}},
     .stride = 2},
    {.what = "transpose, groups",
     .transpose = true,
     .x = {4, {2, 6, 9, 8}},
     .weight = {4, {6, 5, 3, 2}},
     .stride = 2,
     .dilation = 2,
     .groups = 3},
    {.what = "transpose, direct, bands of rows",
     .transpose = true,
     .x = {4, {2, 30, 71, 41}},
     .weight = {4, {30, 9, 3, 2}}},
    {.what = "transpose, direct, dilation and groups",
     .transpose = true,
     .x = {4, {3, 6, 19, 10}},
     .weight = {4, {6, 11, 3, 4}},
     .dilation = 2,
     .groups = 2},
    {.what = "transpose, direct, one row",
     .transpose = true,
     .x = {3, {2, 7, 333}},
     .weight = {3, {7, 6, 4}},
     .dilation = 3},
    {.what = "transpose, space",
     .transpose = true,
     .x = {5, {1, 2, 4, 5, 6}},
     .weight = {5, {2, 3, 2, 3, 2}},
     .stride = 2},
};

static const program_numbers numbers = {.seed = 4};

static mw_tensor *constant(mw_graph *graph, mw_dtype dtype, mw_shape shape)
{
    float *data = program_draw(&numbers, shape, 2);
    const size_t count = (size_t)mw_shape_count(shape);
    uint16_t *half = malloc(count * sizeof *half);
    mw__fp16_from_float_n(half, data, count);
    mw_tensor *result = mw_constant(graph, dtype, shape, dtype == MW_F16 ? (const void *)half : data);
    free(half);
    free(data);
    return result;
}

static mw_graph *build(const shapes *s, mw_dtype dtype)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_conv_options options = program_conv(s->stride, s->dilation, s->groups);
    options.pad[0] = options.pad[3] = 1;
    mw_tensor *x = mw_input(graph, "x", dtype, s->x), *weight = constant(graph, dtype, s->weight);
    mw_output(s->transpose ? mw_conv_transpose(x, weight, NULL, &options) : mw_conv(x, weight, NULL, &options), "y");
    return graph;
}

static program_outputs compute(const shapes *s, mw_dtype dtype, int threads)
{
    static const char *const names[] = {"y"};
    mw_error err = {0};
    mw_graph *graph = build(s, dtype);
    mw_program *program = engine_compile(graph, MW_DEVICE_CPU, threads, &err);
    program_feed(program, "x", &numbers, 1, &err);
    mw_program_run(program, &err);
    const program_outputs out = program_outputs_read(program, names, 1, &err);
    check_note(err.status == MW_OK, __FILE__, __LINE__, "%s: %s", s->what, err.message);
    mw_program_destroy(program);
    mw_graph_destroy(graph);
    return out;
}

static double element(const program_output *output, size_t i)
{
    const void *data = output->data;
    return output->dtype == MW_F16 ? (double)mw__fp16_to_float(((const uint16_t *)data)[i])
                                   : (double)((const float *)data)[i];
}

/* At most 2700 products of numbers below 1 in another order, each sum off by half a unit in the last place, which add
 * up as their root: 52. A BLAS that keeps one sum a column comes that far. fp16 then rounds, perhaps the other way. */
static void compare(const shapes *s, const program_output *fast, const program_output *plain)
{
    if (!check_note(fast->data != NULL && plain->data != NULL && fast->count == plain->count, __FILE__, __LINE__,
                    "%s: nothing to compare", s->what))
        return;
    for (size_t i = 0; i < plain->count; i++) {
        const double a = element(fast, i), b = element(plain, i);
        const double allowed = 2e-5 + 52 * ldexp(fabs(b), -24) + (plain->dtype == MW_F16 ? ldexp(fabs(b), -10) : 0.0);
        if (!check_note(fabs(a - b) <= allowed, __FILE__, __LINE__, "%s in %s: element %zu is %.9g, not %.9g", s->what,
                        mw_dtype_name(plain->dtype), i, a, b))
            return;
    }
}

static program_outputs compute_with(const char *setting, const char *value, const shapes *s, mw_dtype dtype,
                                    int threads)
{
    setting_begin(setting, value);
    const program_outputs out = compute(s, dtype, threads);
    setting_end(setting);
    return out;
}

static void check_case(const shapes *s, mw_dtype dtype, int threads)
{
    program_outputs plain = compute_with("MW_ENGINE_REF", "1", s, dtype, threads);
    program_outputs fast = compute(s, dtype, threads);
    program_outputs base = compute_with("MW_ENGINE_WIDE", "0", s, dtype, threads);
    program_outputs narrow = compute_with("MW_ENGINE_WIDE", "256", s, dtype, threads);
    compare(s, fast.of, plain.of);
    compare(s, base.of, plain.of);
    compare(s, narrow.of, plain.of);
    program_outputs_deinit(&narrow);
    program_outputs_deinit(&base);
    program_outputs_deinit(&fast);
    program_outputs_deinit(&plain);
}

static void test_fast_kernels_agree_with_the_plain_ones(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int threads = 1; threads <= 3; threads += 2) {
            check_case(&cases[i], MW_F32, threads);
            check_case(&cases[i], MW_F16, threads);
        }
}

/* A convolution of one example must not depend on the threads, and use them. */
static size_t threads_of(const shapes *s, int threads)
{
    mw_error err = {0};
    mw_graph *graph = build(s, MW_F32);
    mw_program *program = engine_compile(graph, MW_DEVICE_CPU, threads, &err);
    mw_plan *plan = mw_plan_create(program, &err);
    CHECK_OK(err);
    mw_plan_step step = {0}, last = {0};
    for (size_t i = 0; mw_plan_step_at(plan, i, &step); i++)
        last = step;
    mw_plan_destroy(plan);
    mw_program_destroy(program);
    mw_graph_destroy(graph);
    return last.threads;
}

static void test_one_row_is_shared_by_the_threads(void)
{
    static const shapes rows[] = {
        {.what = "channels", .x = {3, {1, 8, 4000}}, .weight = {3, {64, 8, 3}}},
        {.what = "one channel to many", .x = {3, {1, 1, 16000}}, .weight = {3, {64, 1, 9}}, .stride = 2},
        {.what = "groups", .x = {3, {1, 64, 4000}}, .weight = {3, {64, 16, 5}}, .groups = 4},
        {.what = "few", .transpose = true, .x = {3, {1, 4, 4000}}, .weight = {3, {4, 64, 7}}},
        {.what = "many", .x = {3, {1, 64, 4000}}, .weight = {3, {64, 64, 3}}},
        {.what = "depthwise", .x = {3, {1, 64, 4000}}, .weight = {3, {64, 1, 5}}, .groups = 64}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        program_outputs one = compute(&rows[i], MW_F32, 1), two = compute(&rows[i], MW_F32, 2);
        check_note(one.of->count == two.of->count &&
                       memcmp(one.of->data, two.of->data, one.of->count * sizeof(float)) == 0,
                   __FILE__, __LINE__, "%s: two threads compute other bits", rows[i].what);
        check_note(threads_of(&rows[i], 2) == 2, __FILE__, __LINE__, "%s: one thread alone", rows[i].what);
        program_outputs_deinit(&two);
        program_outputs_deinit(&one);
    }
}

static size_t count_steps(const mw_graph *graph, const char *label)
{
    mw_error err = {0};
    size_t count = 0;
    mw__library *library = run_library_of(graph, 1, &err);
    CHECK_OK(err);
    for (size_t i = 0; library != NULL && i < library->programs[0].plan.step_count; i++)
        count += strcmp(library->programs[0].plan.steps[i]->report.label, label) == 0;
    if (library != NULL)
        mw__object_release(library);
    return count;
}

/* Where the weight is an input it is laid out in each run. */
static void test_constant_weights_are_laid_out_when_compiled(void)
{
    const shapes s = {.what = "a constant weight", .x = {4, {2, 300, 9, 7}}, .weight = {4, {16, 300, 3, 3}}};
    mw_graph *fixed = build(&s, MW_F32), *given = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(given, "x", MW_F32, s.x), *weight = mw_input(given, "weight", MW_F32, s.weight);
    mw_output(mw_conv(x, weight, NULL, NULL), "y");
    CHECK(count_steps(fixed, "conv.pack") == 0);
    CHECK(count_steps(given, "conv.pack") == (level_here() > MW__LEVEL_REF ? 1 : 0));
    mw_graph_destroy(given);
    mw_graph_destroy(fixed);
}

int main(void)
{
    RUN(test_constant_weights_are_laid_out_when_compiled);
    RUN(test_fast_kernels_agree_with_the_plain_ones);
    RUN(test_one_row_is_shared_by_the_threads);
    return check_finish();
}
