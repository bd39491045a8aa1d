/* Codes between operations that are no products: means against integers in int64, to the code; what moves against the
 * operations one by one, and to where it moves. */
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

/* ---- codes ---- */

static const float x_scale = 0.043f, y_scale = 0.021f;

static mw_tensor *number(mw_graph *graph, mw_dtype dtype, int value)
{
    const int8_t byte = (int8_t)value;
    return mw_constant(graph, dtype, mw_shape_scalar(), &byte);
}

static mw_tensor *real(mw_graph *graph, float value) { return mw_constant(graph, MW_F32, mw_shape_scalar(), &value); }

static mw_tensor *decoded(mw_graph *graph, const char *name, mw_dtype dtype, mw_shape shape, float scale, int zero)
{
    return mw_dequantize(mw_input(graph, name, dtype, shape), real(graph, scale), number(graph, dtype, zero), 0);
}

static void encoded(mw_tensor *x, mw_dtype dtype, float scale, int zero)
{
    mw_graph *graph = mw_tensor_graph(x);
    mw_output(mw_quantize(x, real(graph, scale), number(graph, dtype, zero), 0, dtype), "y");
}

static int code_of(mw_dtype dtype, uint8_t byte) { return dtype == MW_I8 ? (int8_t)byte : byte; }

static uint8_t *draw_codes(size_t count, uint64_t seed)
{
    mw__random random = {.seed = seed};
    uint8_t *codes = malloc(count);
    for (size_t i = 0; i < count; i++)
        codes[i] = (uint8_t)mw__random_below(&random, 256);
    return codes;
}

static mw_program *compile_at(const mw_graph *graph, const char *width, int threads, mw_error *err)
{
    setting_begin("MW_ENGINE_WIDE", width);
    mw_program *program = engine_compile(graph, MW_DEVICE_CPU, threads, err);
    setting_end("MW_ENGINE_WIDE");
    return program;
}

static void feed(mw_program *program, const char *name, mw_dtype dtype, size_t count, uint64_t seed, mw_error *err)
{
    uint8_t *codes = draw_codes(count, seed);
    mw_program_write(program, name, dtype, codes, count, err);
    free(codes);
}

static bool has_step(mw_program *program, const char *kernel, mw_error *err)
{
    bool found = false;
    mw_plan_step step;
    mw_plan *plan = program != NULL ? mw_plan_create(program, err) : NULL;
    for (size_t i = 0; plan != NULL && mw_plan_step_at(plan, i, &step); i++)
        found = found || strcmp(step.kernel, kernel) == 0;
    mw_plan_destroy(plan);
    return found;
}

/* ---- means ---- */

typedef struct mean_case {
    const char *what;
    int axes;
    int64_t n, c, in[3], kernel[3], stride[3], pad; /* kernel 0: of all, by reduce_mean */
    bool inside;
    mw_dtype x_type, y_type;
} mean_case;

static const mean_case means[] = {
    {"all", 2, 3, 7, {7, 7}, .x_type = MW_U8, .y_type = MW_U8},
    {"all of many", 2, 1, 3, {31, 45}, .x_type = MW_I8, .y_type = MW_I8},
    {"line", 1, 2, 5, {33}, .x_type = MW_I8, .y_type = MW_U8},
    {"2x2", 2, 2, 4, {8, 10}, {2, 2}, {2, 2}, 0, false, MW_U8, MW_I8},
    {"3x3 with border", 2, 2, 3, {9, 11}, {3, 3}, {2, 1}, 1, false, MW_U8, MW_U8},
    {"3x3 without border", 2, 2, 3, {9, 11}, {3, 3}, {1, 2}, 1, true, MW_I8, MW_U8},
    {"space", 3, 1, 2, {4, 5, 6}, {2, 3, 2}, {2, 1, 2}, 0, false, MW_U8, MW_U8},
};

enum { X_ZERO = -5, Y_ZERO = 3 }; /* and 128 of uint8 */

static int zero_of(mw_dtype dtype, int zero) { return zero + (dtype == MW_U8 ? 128 : 0); }

static mw_shape mean_shape(const mean_case *m)
{
    mw_shape shape = {.rank = 2 + m->axes, .dim = {m->n, m->c}};
    for (int i = 0; i < m->axes; i++)
        shape.dim[2 + i] = m->in[i];
    return shape;
}

static mw_tensor *build_mean(const mean_case *m, mw_tensor *x)
{
    mw_shape kernel = {.rank = m->axes};
    mw_axes all = {.count = m->axes};
    for (int i = 0; i < m->axes; i++)
        kernel.dim[i] = m->kernel[i], all.axis[i] = 2 + i;
    if (m->kernel[0] == 0)
        return mw_reduce_mean(x, all, true);
    mw_pool_options options = mw_pool_defaults(kernel);
    options.pad_type = MW_PAD_CUSTOM;
    options.exclude_padding = m->inside;
    for (int i = 0; i < m->axes; i++)
        options.stride[i] = m->stride[i], options.pad[2 * i] = options.pad[2 * i + 1] = m->pad;
    return mw_avg_pool(x, &options);
}

/* The mean of the window at `at` [n, c, *out], as a code. */
static int wanted_mean(const mean_case *m, const uint8_t *x, const int64_t *at)
{
    int64_t sum = 0, taken = 0, kernel[3] = {1, 1, 1}, places = 1, inside = 1;
    for (int i = 0; i < m->axes; i++) {
        kernel[i] = m->kernel[0] == 0 ? m->in[i] : m->kernel[i];
        places *= kernel[i], inside *= m->in[i];
    }
    for (int64_t k = 0; k < places; k++) {
        int64_t rest = k, place = 0, scale = 1;
        bool border = false;
        for (int i = m->axes - 1; i >= 0; rest /= kernel[i], i--) {
            const int64_t p = at[2 + i] * (m->kernel[0] == 0 ? 1 : m->stride[i]) + rest % kernel[i] - m->pad;
            border = border || p < 0 || p >= m->in[i];
            place += p * scale, scale *= m->in[i];
        }
        if (!border)
            sum += code_of(m->x_type, x[(at[0] * m->c + at[1]) * inside + place]) - zero_of(m->x_type, X_ZERO), taken++;
    }
    const float steps = (float)sum * (x_scale / ((float)(m->inside ? taken : places) * y_scale));
    const double code = rint((double)steps) + zero_of(m->y_type, Y_ZERO);
    const int least = m->y_type == MW_I8 ? -128 : 0;
    return code < least ? least : code > least + 255 ? least + 255 : (int)code;
}

static void check_means(const mean_case *m, mw_shape y, const uint8_t *x, const uint8_t *got, const char *width)
{
    int wrong = 0;
    for (int64_t i = 0; i < mw_shape_count(y); i++) {
        int64_t at[5] = {0}, rest = i;
        for (int axis = y.rank - 1; axis >= 0; rest /= y.dim[axis], axis--)
            at[axis] = rest % y.dim[axis];
        wrong += code_of(m->y_type, got[i]) != wanted_mean(m, x, at);
    }
    check_note(wrong == 0, __FILE__, __LINE__, "%s, %s: %d are wrong", m->what, width, wrong);
}

static void check_mean(const mean_case *m, const char *width, int threads)
{
    static const char *const names[] = {"y"};
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    const mw_shape shape = mean_shape(m);
    encoded(build_mean(m, decoded(graph, "x", m->x_type, shape, x_scale, zero_of(m->x_type, X_ZERO))), m->y_type,
            y_scale, zero_of(m->y_type, Y_ZERO));
    mw_program *program = compile_at(graph, width, threads, &err);
    uint8_t *x = draw_codes((size_t)mw_shape_count(shape), 3);
    mw_program_write(program, "x", m->x_type, x, (size_t)mw_shape_count(shape), &err);
    mw_program_run(program, &err);
    check_note(has_step(program, "int8.mean", &err), __FILE__, __LINE__, "%s: codes are not added", m->what);
    program_outputs y = program_outputs_read(program, names, 1, &err);
    CHECK_OK(err);
    if (y.of[0].data != NULL)
        check_means(m, mw_tensor_shape(mw_graph_find(graph, "y")), x, (const uint8_t *)y.of[0].data, width);
    free(x);
    program_outputs_deinit(&y);
    mw_program_destroy(program);
    mw_graph_destroy(graph);
}

static void test_means_of_codes_are_those_of_integers(void)
{
    static const char *const widths[] = {"512", "256", "0"};
    if (level_here() == MW__LEVEL_REF)
        SKIP("the reference dequantizes");
    for (size_t i = 0; i < sizeof means / sizeof *means; i++)
        for (int w = 0; w < 3; w++)
            check_mean(&means[i], widths[w], 1 + 2 * (w % 2));
}

/* ---- what moves ---- */

typedef mw_tensor *build(mw_graph *graph, mw_dtype dtype, int zero);

static mw_tensor *image(mw_graph *graph, mw_dtype dtype, int zero)
{
    return decoded(graph, "x", dtype, MW_SHAPE(2, 3, 5, 7), x_scale, zero);
}

static mw_tensor *build_concat(mw_graph *graph, mw_dtype dtype, int zero)
{
    mw_tensor *x[3] = {image(graph, dtype, zero), decoded(graph, "z", dtype, MW_SHAPE(2, 4, 5, 7), 0.017f, zero + 9),
                       NULL};
    x[2] = x[0];
    return mw_concat(x, 3, 1);
}

static mw_tensor *build_joined_rows(mw_graph *graph, mw_dtype dtype, int zero)
{
    mw_tensor *x[2] = {image(graph, dtype, zero), decoded(graph, "z", dtype, MW_SHAPE(2, 3, 5, 2), x_scale, zero)};
    return mw_concat(x, 2, -1);
}

static mw_tensor *build_transpose(mw_graph *graph, mw_dtype dtype, int zero)
{
    return mw_transpose(image(graph, dtype, zero), MW_AXES(0, 2, 3, 1));
}

static mw_tensor *build_turned(mw_graph *graph, mw_dtype dtype, int zero)
{
    return mw_relu(mw_transpose(image(graph, dtype, zero), MW_AXES(1, 0, 2, 3)));
}

static const int64_t around[] = {1, 2, 3, 0};

static mw_tensor *build_pad(mw_graph *graph, mw_dtype dtype, int zero)
{
    return mw_pad(image(graph, dtype, zero), around, 2, MW_PAD_CONSTANT, 0.77f);
}

static mw_tensor *build_mirrored(mw_graph *graph, mw_dtype dtype, int zero)
{
    return mw_pad(image(graph, dtype, zero), around, 2, MW_PAD_REFLECT, 0.0f);
}

static mw_tensor *build_repeated(mw_graph *graph, mw_dtype dtype, int zero)
{
    return mw_pad(image(graph, dtype, zero), around, 2, MW_PAD_REPLICATE, 0.0f);
}

static mw_tensor *build_upsampled(mw_graph *graph, mw_dtype dtype, int zero)
{
    return mw_upsample_nearest_neighbor(image(graph, dtype, zero), 2.0f, 3.0f);
}

static mw_tensor *build_resized(mw_graph *graph, mw_dtype dtype, int zero)
{
    return mw_resize_nearest_neighbor(image(graph, dtype, zero), 7, 4);
}

static build *const moves[] = {build_concat,   build_joined_rows, build_transpose, build_turned, build_pad,
                               build_mirrored, build_repeated,    build_upsampled, build_resized};

static program_outputs run_move(const mw_graph *graph, mw_dtype dtype, const char *fuse, const char *width, int threads)
{
    static const char *const names[] = {"y"};
    mw_error err = {0};
    setting_begin("MW_ENGINE_FUSE", fuse);
    mw_program *program = compile_at(graph, width, threads, &err);
    setting_end("MW_ENGINE_FUSE");
    check_note(has_step(program, "int8.move", &err) == (*fuse == '1'), __FILE__, __LINE__, "steps of other kinds");
    const mw_tensor *z = mw_graph_find(graph, "z");
    feed(program, "x", dtype, 2 * 3 * 5 * 7, 17, &err);
    if (z != NULL)
        feed(program, "z", dtype, (size_t)mw_shape_count(mw_tensor_shape(z)), 18, &err);
    mw_program_run(program, &err);
    program_outputs out = program_outputs_read(program, names, 1, &err);
    CHECK_OK(err);
    mw_program_destroy(program);
    return out;
}

/* same: the result has the scale of x. */
static void check_move(build *how, mw_dtype dtype, bool same)
{
    const int zero = dtype == MW_I8 ? -11 : 100;
    mw_graph *graph = mw_graph_create(NULL, NULL);
    encoded(how(graph, dtype, zero), dtype, same ? x_scale : y_scale, same ? zero : zero + 4);
    program_outputs wanted = run_move(graph, dtype, "0", "0", 1);
    for (int threads = 1; threads <= 3; threads += 2) {
        program_outputs got = run_move(graph, dtype, "1", threads == 1 ? "512" : "256", threads);
        program_outputs_compare(&wanted, &got, 1, same ? "same" : "other");
        program_outputs_deinit(&got);
    }
    program_outputs_deinit(&wanted);
    mw_graph_destroy(graph);
}

static void test_what_moves_has_the_codes_of_its_operations(void)
{
    if (level_here() == MW__LEVEL_REF)
        SKIP("the reference dequantizes");
    for (size_t i = 0; i < sizeof moves / sizeof *moves; i++)
        for (int k = 0; k < 4; k++)
            check_move(moves[i], k % 2 == 0 ? MW_U8 : MW_I8, k < 2);
}

int main(void)
{
    RUN(test_means_of_codes_are_those_of_integers);
    RUN(test_what_moves_has_the_codes_of_its_operations);
    return check_finish();
}
