/* Winograd's convolution and its gradients against sums in double precision, beside the sums in fp32 that
 * MW_ENGINE_EXACT_CONVOLUTION keeps: how far either may be, where it is taken and where not, and that bits do not
 * depend on threads. */
#include "base/number/random.h"
#include "engine/program_case.h"
#include "engine/run.h"
#include "support/check.h"
#include "support/on_engine.h"
#include "support/setting.h"

#include <math.h>
#include <millwright/inspect.h>
#include <millwright/millwright.h>
#include <stdlib.h>
#include <string.h>

typedef struct shape {
    const char *what;
    int64_t n, c, h, w, o;
    int64_t top, bottom, left, right;
    bool bias;
    int64_t high, wide, stride, dilation[2]; /* stride: of rows */
    int64_t across;                          /* stride of columns */
} shape;

#define SQUARE 3, 3, 1, {1, 1}, 1

/* clang-format off */
static const shape shapes[] = {
    {"whole tiles", 2, 64, 16, 16, 64, 1, 1, 1, 1, true, SQUARE},
    {"odd sides", 12, 64, 9, 13, 64, 1, 1, 1, 1, false, SQUARE},
    {"prime channels", 8, 67, 11, 17, 71, 1, 1, 1, 1, true, SQUARE},
    {"no border", 6, 64, 14, 18, 64, 0, 0, 0, 0, true, SQUARE},
    {"a border on one side", 2, 65, 12, 19, 66, 2, 0, 0, 2, false, SQUARE},
    {"a border of two", 9, 64, 13, 9, 80, 2, 2, 2, 2, true, SQUARE},
    {"wide", 1, 64, 8, 250, 64, 1, 1, 1, 1, true, SQUARE},
    {"high", 1, 64, 131, 8, 64, 1, 1, 1, 1, false, SQUARE},
    {"many channels", 5, 300, 8, 8, 129, 1, 1, 1, 1, true, SQUARE},
    {"tiles of two", 16, 64, 6, 6, 128, 1, 1, 1, 1, true, SQUARE},
    {"many examples", 37, 64, 8, 9, 96, 1, 1, 1, 1, false, SQUARE},
};
/* By winograd_lines.h: name, examples, channels, rows, columns, outputs; border; bias; kernel, stride, dilation */
static const shape lines[] = {
    {"17 taps", 5, 40, 1, 130, 48, 0, 0, 8, 8, true, 1, 17, 1, {1, 1}, 1},
    {"17 taps, few channels", 4, 12, 1, 300, 64, 0, 0, 8, 8, false, 1, 17, 1, {1, 1}, 1},
    {"many short lines", 161, 64, 1, 12, 65, 0, 0, 1, 1, true, 1, 3, 1, {1, 1}, 1},
    {"causal, dilation 1", 5, 64, 1, 131, 64, 0, 0, 2, 0, true, 1, 3, 1, {1, 1}, 1},
    {"causal, dilation 4", 6, 67, 1, 130, 71, 0, 0, 8, 0, true, 1, 3, 1, {1, 4}, 1},
    {"causal, dilation 32", 11, 64, 1, 256, 64, 0, 0, 64, 0, false, 1, 3, 1, {1, 32}, 1},
    {"dilated groups of taps", 5, 64, 1, 200, 64, 0, 0, 9, 9, true, 1, 7, 1, {1, 3}, 1},
    {"5 taps without a border", 16, 130, 1, 84, 70, 0, 0, 0, 0, true, 1, 5, 1, {1, 1}, 1},
    {"a border beyond the kernel", 24, 64, 1, 60, 64, 0, 0, 9, 12, true, 1, 4, 1, {1, 1}, 1},
    {"high kernel, stride of rows", 2, 32, 23, 40, 32, 5, 5, 5, 5, true, 11, 11, 2, {1, 1}, 1},
    {"stride of 3 rows", 2, 35, 20, 97, 37, 2, 1, 3, 3, true, 5, 7, 3, {1, 1}, 1},
    {"dilated planes", 2, 64, 17, 96, 64, 2, 2, 2, 2, true, 3, 3, 1, {2, 2}, 1},
    {"planes dilated by 12", 1, 64, 16, 144, 64, 12, 12, 12, 12, false, 3, 3, 1, {12, 12}, 1},
    {"a stride along the line", 8, 64, 1, 517, 64, 0, 0, 6, 7, true, 1, 17, 1, {1, 1}, 4},
    {"a stride of 2", 12, 35, 1, 300, 70, 0, 0, 2, 3, true, 1, 5, 1, {1, 1}, 2},
    {"a stride of 3, a border beyond it", 8, 64, 1, 301, 48, 0, 0, 11, 5, false, 1, 12, 1, {1, 1}, 3},
    {"strides of both", 2, 32, 33, 190, 64, 3, 3, 3, 3, true, 7, 7, 2, {1, 1}, 2},
    {"9 taps of planes", 2, 64, 12, 40, 48, 0, 0, 4, 4, false, 1, 9, 1, {1, 1}, 1},
};
/* clang-format on */

enum { SHAPES = sizeof shapes / sizeof *shapes, LINES = sizeof lines / sizeof *lines, OUTPUTS = 3, SAMPLES = 700 };
enum { CHANNELS = 32 }; /* of results, at least */

static int64_t taps_of(const shape *s) { return s->high * s->wide; }

typedef struct numbers {
    int64_t rows, columns; /* of y */
    float *x, *weight, *bias, *dy;
} numbers;

static float *draw(mw__random *random, int64_t count, float scale)
{
    float *all = malloc((size_t)count * sizeof *all);
    for (int64_t i = 0; all != NULL && i < count; i++)
        all[i] = scale * mw__random_normal(random);
    return all;
}

static numbers numbers_of(const shape *s)
{
    mw__random random = {.seed = 5};
    numbers out = {.rows = (s->h + s->top + s->bottom - (s->high - 1) * s->dilation[0] - 1) / s->stride + 1,
                   .columns = (s->w + s->left + s->right - (s->wide - 1) * s->dilation[1] - 1) / s->across + 1};
    out.x = draw(&random, s->n * s->c * s->h * s->w, 1.0f);
    out.weight = draw(&random, s->o * s->c * taps_of(s), 0.05f);
    out.bias = draw(&random, s->o, 1.0f);
    out.dy = draw(&random, s->n * s->o * out.rows * out.columns, 1.0f);
    return out;
}

static void numbers_deinit(numbers *a) { free(a->x), free(a->weight), free(a->bias), free(a->dy); }

/* ---- sums in double precision ---- */

static double x_at(const shape *s, const numbers *a, int64_t n, int64_t c, int64_t y, int64_t x)
{
    return y >= 0 && y < s->h && x >= 0 && x < s->w ? (double)a->x[((n * s->c + c) * s->h + y) * s->w + x] : 0.0;
}

static double dy_at(const shape *s, const numbers *a, int64_t n, int64_t o, int64_t y, int64_t x)
{
    return y >= 0 && y < a->rows && x >= 0 && x < a->columns
               ? (double)a->dy[((n * s->o + o) * a->rows + y) * a->columns + x]
               : 0.0;
}

static double weight_at(const shape *s, const numbers *a, int64_t o, int64_t c, int64_t t)
{
    return (double)a->weight[(o * s->c + c) * taps_of(s) + t];
}

/* What tap t adds to a position of y. */
static int64_t tap_y(const shape *s, int64_t t) { return t / s->wide * s->dilation[0] - s->top; }
static int64_t tap_x(const shape *s, int64_t t) { return t % s->wide * s->dilation[1] - s->left; }

static double sum_y(const shape *s, const numbers *a, int64_t i)
{
    const int64_t x = i % a->columns, y = i / a->columns % a->rows, o = i / (a->columns * a->rows) % s->o;
    const int64_t n = i / (a->columns * a->rows * s->o);
    double sum = s->bias ? (double)a->bias[o] : 0.0;
    for (int64_t c = 0; c < s->c; c++)
        for (int64_t t = 0; t < taps_of(s); t++)
            sum +=
                x_at(s, a, n, c, y * s->stride + tap_y(s, t), x * s->across + tap_x(s, t)) * weight_at(s, a, o, c, t);
    return sum;
}

static double sum_dx(const shape *s, const numbers *a, int64_t i)
{
    const int64_t x = i % s->w, y = i / s->w % s->h, c = i / (s->w * s->h) % s->c, n = i / (s->w * s->h * s->c);
    double sum = 0.0;
    for (int64_t o = 0; o < s->o; o++)
        for (int64_t t = 0; t < taps_of(s); t++) {
            const int64_t row = y - tap_y(s, t), column = x - tap_x(s, t);
            if (row % s->stride == 0 && column % s->across == 0)
                sum += dy_at(s, a, n, o, row / s->stride, column / s->across) * weight_at(s, a, o, c, t);
        }
    return sum;
}

static double sum_dweight(const shape *s, const numbers *a, int64_t i)
{
    const int64_t t = i % taps_of(s), c = i / taps_of(s) % s->c, o = i / taps_of(s) / s->c;
    double sum = 0.0;
    for (int64_t n = 0; n < s->n; n++)
        for (int64_t y = 0; y < a->rows; y++)
            for (int64_t x = 0; x < a->columns; x++)
                sum += dy_at(s, a, n, o, y, x) *
                       x_at(s, a, n, c, y * s->stride + tap_y(s, t), x * s->across + tap_x(s, t));
    return sum;
}

/* ---- the engine ---- */

static const char *const names[OUTPUTS] = {"y", "dx", "dweight"};
static double (*const sums[OUTPUTS])(const shape *s, const numbers *a, int64_t i) = {sum_y, sum_dx, sum_dweight};

static mw_graph *build(const shape *s, const numbers *a, mw_dtype dtype)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_error err = {0};
    mw_conv_options options = program_conv(1, 1, 1);
    options.stride[0] = s->stride, options.stride[1] = s->across, options.dilation[0] = s->dilation[0],
    options.dilation[1] = s->dilation[1];
    options.pad[0] = s->top, options.pad[1] = s->bottom, options.pad[2] = s->left, options.pad[3] = s->right;
    mw_tensor *x = mw_input(graph, "x", dtype, (mw_shape){4, {s->n, s->c, s->h, s->w}});
    mw_tensor *weight = mw_input(graph, "weight", dtype, (mw_shape){4, {s->o, s->c, s->high, s->wide}});
    mw_tensor *bias = s->bias ? mw_input(graph, "bias", dtype, (mw_shape){1, {s->o}}) : NULL;
    mw_tensor *dy = mw_input(graph, "dy", dtype, (mw_shape){4, {s->n, s->o, a->rows, a->columns}});
    mw_tensor *y = mw_conv(x, weight, bias, &options), *of[] = {x, weight}, *gradients[2];
    CHECK(mw_vjp(&y, &dy, 1, of, 2, gradients, &err) == MW_OK);
    for (int i = 0; i < OUTPUTS; i++)
        mw_output(i == 0 ? y : gradients[i - 1], names[i]);
    return graph;
}

static program_outputs run(mw_program *program, const shape *s, const numbers *a, mw_error *err)
{
    const struct {
        const char *name;
        const float *data;
        int64_t count;
    } inputs[] = {{"x", a->x, s->n * s->c * s->h * s->w},
                  {"weight", a->weight, s->o * s->c * taps_of(s)},
                  {"dy", a->dy, s->n * s->o * a->rows * a->columns},
                  {"bias", a->bias, s->o}};
    for (size_t i = 0; program != NULL && i < sizeof inputs / sizeof *inputs - !s->bias; i++)
        mw_program_write(program, inputs[i].name, MW_F32, inputs[i].data, (size_t)inputs[i].count, err);
    mw_program_run(program, err);
    return program_outputs_read(program, names, OUTPUTS, err);
}

/* The root of the mean square of the error over that of the sums, of some elements. */
static double error_of(const shape *s, const numbers *a, const program_outputs *out, int of)
{
    const float *got = (const float *)(const void *)out->of[of].data;
    const int64_t count = (int64_t)out->of[of].count, step = count / SAMPLES > 1 ? count / SAMPLES : 1;
    double wrong = 0.0, all = 0.0;
    for (int64_t i = 0; got != NULL && i < count; i += i % 3 == 0 ? 2 * step - 1 : 1) {
        const double wanted = sums[of](s, a, i);
        wrong += ((double)got[i] - wanted) * ((double)got[i] - wanted), all += wanted * wanted;
    }
    return sqrt(wrong / all);
}

/* ---- how far results are from the sums ---- */

/* Winograd's way: measured 0.2 to 1.3e-6 over these shapes and instruction sets, 0.5 to 3.6 times what sums have. A
 * constant of a transform that is wrong in its last digit, or a tile at a wrong place, makes much more. */
#define FAR   2.5e-6
#define RATIO 5.0
/* Sums of fp32: 0.2 to 0.8e-6. */
#define NEAR 1.2e-6

/* Steps that computed by Winograd's way. */
static int winograd_steps(mw_program *program, mw_error *err)
{
    int found = 0;
    mw_plan_step step;
    mw_plan *plan = program != NULL ? mw_plan_create(program, err) : NULL;
    for (size_t i = 0; plan != NULL && mw_plan_step_at(plan, i, &step); i++)
        found += strncmp(step.implementation, "winograd", strlen("winograd")) == 0;
    mw_plan_destroy(plan);
    return found;
}

typedef struct setting {
    const char *exact, *width;
    int threads;
} setting;

/* Runs the graph; how many steps were of Winograd's way. */
static int run_with(const mw_graph *graph, const shape *s, const numbers *a, setting how, program_outputs *out)
{
    mw_error err = {0};
    setting_begin("MW_ENGINE_EXACT_CONVOLUTION", how.exact);
    setting_begin("MW_ENGINE_WIDE", how.width);
    mw_program *program = engine_compile(graph, MW_DEVICE_CPU, how.threads, &err);
    const int steps = winograd_steps(program, &err);
    *out = run(program, s, a, &err);
    mw_program_destroy(program);
    setting_end("MW_ENGINE_WIDE");
    setting_end("MW_ENGINE_EXACT_CONVOLUTION");
    CHECK_OK(err);
    return steps;
}

static void check_shape(const shape *s, const char *width)
{
    numbers a = numbers_of(s);
    mw_graph *graph = build(s, &a, MW_F32);
    program_outputs fast, sums_of, shared;
    const int steps = run_with(graph, s, &a, (setting){"0", width, 1}, &fast);
    const int none = run_with(graph, s, &a, (setting){"1", width, 1}, &sums_of);
    run_with(graph, s, &a, (setting){"0", width, 2}, &shared);
    const int wanted = s->c < CHANNELS ? 3 : 5; /* y and dweight, and dx; the values of the weights of y and dx */
    check_note(steps >= wanted && none == 0, __FILE__, __LINE__, "%s, %s: %d and %d steps", s->what, width, steps,
               none);
    program_outputs_compare(&fast, &shared, OUTPUTS, s->what); /* threads change no bit */
    for (int i = 0; i < OUTPUTS; i++) {
        const double far = error_of(s, &a, &fast, i), near = error_of(s, &a, &sums_of, i);
        check_note(far < FAR && far < RATIO * near && near < NEAR, __FILE__, __LINE__,
                   "%s, %s: the error of %s is %.2e, that of sums %.2e", s->what, width, names[i], far, near);
        if (getenv("MW_TEST_SHOW") != NULL)
            printf("%-22s %s %-8s %.2e %.2e %.1f\n", s->what, width, names[i], far, near, far / near);
    }
    program_outputs_deinit(&shared);
    program_outputs_deinit(&sums_of);
    program_outputs_deinit(&fast);
    mw_graph_destroy(graph);
    numbers_deinit(&a);
}

static void test_results_are_near_sums_in_double_precision(void)
{
    if (level_here() == MW__LEVEL_REF)
        SKIP("the reference adds products");
    for (size_t i = 0; i < SHAPES; i++) {
        check_shape(&shapes[i], "512");
        check_shape(&shapes[i], "256");
        check_shape(&shapes[i], "0");
    }
}

static void test_lines_are_near_sums_in_double_precision(void)
{
    if (level_here() == MW__LEVEL_REF)
        SKIP("the reference adds products");
    for (size_t i = 0; i < LINES; i++) {
        check_shape(&lines[i], "512");
        check_shape(&lines[i], "256");
        check_shape(&lines[i], "0");
    }
}

/* ---- where it is not taken ---- */

static int steps_of(const shape *s, mw_dtype dtype, mw_device device, const char *profile)
{
    mw_error err = {0};
    numbers a = numbers_of(s);
    mw_graph *graph = build(s, &a, dtype);
    mw_compile_options options = engine_options(device, 1);
    options.profile = profile;
    mw_program *program = mw_program_create(graph, &options, &err);
    const int steps = winograd_steps(program, &err);
    CHECK_OK(err);
    mw_program_destroy(program);
    mw_graph_destroy(graph);
    numbers_deinit(&a);
    return steps;
}

static void test_no_chip_and_no_fp16_is_computed_so(void)
{
    static const char *const profiles[] = {"ieee", "h13", "h14", "h15", "h16", "h17", "h18g"};
    const shape *s = &shapes[0];
    if (level_here() == MW__LEVEL_REF)
        SKIP("the reference adds products");
    CHECK(steps_of(s, MW_F32, MW_DEVICE_CPU, NULL) >= OUTPUTS);
    CHECK_INT(steps_of(s, MW_F16, MW_DEVICE_CPU, NULL), 0);
    for (size_t i = 0; i < sizeof profiles / sizeof *profiles; i++) {
        CHECK_INT(steps_of(s, MW_F16, MW_DEVICE_ANE, profiles[i]), 0);
        CHECK_INT(steps_of(s, MW_F32, MW_DEVICE_ANE, profiles[i]), 0);
    }
}

static void test_few_channels_and_small_planes_are_not_computed_so(void)
{
    const shape few = {"few channels", 2, 16, 16, 16, 64, 1, 1, 1, 1, false, SQUARE};
    const shape small = {"small", 2, 64, 3, 3, 64, 1, 1, 1, 1, false, SQUARE};
    CHECK_INT(steps_of(&few, MW_F32, MW_DEVICE_CPU, NULL), 0);
    CHECK_INT(steps_of(&small, MW_F32, MW_DEVICE_CPU, NULL), 0);
}

/* What is fused changes no bit of y and dx; the gradient by the weight is one of its own only where it is fused. */
static void check_fusion(const shape *s)
{
    mw_error err = {0};
    numbers a = numbers_of(s);
    mw_graph *graph = build(s, &a, MW_F32);
    mw_program *fused = engine_compile(graph, MW_DEVICE_CPU, 1, &err);
    mw_program *plain = program_compile_plain(graph, MW_DEVICE_CPU, 1, &err);
    program_outputs one = run(fused, s, &a, &err), two = run(plain, s, &a, &err);
    program_outputs_compare(&one, &two, 2, s->what);
    CHECK_OK(err);
    program_outputs_deinit(&two);
    program_outputs_deinit(&one);
    mw_program_destroy(plain);
    mw_program_destroy(fused);
    mw_graph_destroy(graph);
    numbers_deinit(&a);
}

static void test_fusion_changes_no_bit(void)
{
    check_fusion(&shapes[2]);
    for (size_t i = 0; i < LINES; i++) /* the text writes dilations and strides along lines with zeros: other sums */
        if (lines[i].dilation[1] == 1 && lines[i].across == 1)
            check_fusion(&lines[i]);
}

/* The option of a compilation is that of the environment. */
static void test_the_option_keeps_the_sums(void)
{
    mw_error err = {0};
    const shape *s = &shapes[0];
    numbers a = numbers_of(s);
    mw_graph *graph = build(s, &a, MW_F32);
    mw_compile_options options = engine_options(MW_DEVICE_CPU, 1);
    options.exact_convolution = true;
    mw_program *program = mw_program_create(graph, &options, &err);
    program_outputs by_option = run(program, s, &a, &err), by_variable;
    CHECK_INT(winograd_steps(program, &err), 0);
    run_with(graph, s, &a, (setting){"1", "512", 1}, &by_variable);
    program_outputs_compare(&by_option, &by_variable, OUTPUTS, s->what);
    CHECK_OK(err);
    program_outputs_deinit(&by_variable);
    program_outputs_deinit(&by_option);
    mw_program_destroy(program);
    mw_graph_destroy(graph);
    numbers_deinit(&a);
}

/* ---- training, and constants ---- */

enum { STEPS = 8, BATCH = 8, PIXELS = 3 * 16 * 16 };

/* Convolutions with a shortcut, and a head. */
static mw_trainer *make_trainer(const char *exact, mw_error *err)
{
    mw_conv_options same = mw_conv_defaults();
    same.pad_type = MW_PAD_SAME;
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(BATCH, 3, 16, 16));
    mw_tensor *y = mw_input(graph, "y", MW_I32, MW_SHAPE(BATCH));
    mw_tensor *h = mw_relu(mw_conv_layer(x, 64, MW_SHAPE(3, 3), "stem", &same));
    h = mw_add(h, mw_relu(mw_conv_layer(h, 64, MW_SHAPE(3, 3), "one", &same)));
    h = mw_relu(mw_conv_layer(h, 64, MW_SHAPE(3, 3), "two", &same));
    mw_tensor *logits = mw_dense(mw_reshape(h, MW_SHAPE(BATCH, 64 * 16 * 16)), 10, "head");
    setting_begin("MW_ENGINE_EXACT_CONVOLUTION", exact);
    mw_trainer *trainer = engine_trainer(mw_cross_entropy(logits, y), mw_sgd(0.01f), MW_DEVICE_CPU, 1, err);
    setting_end("MW_ENGINE_EXACT_CONVOLUTION");
    mw_graph_destroy(graph);
    return trainer;
}

static void train(const char *exact, float losses[STEPS])
{
    static const int32_t y[BATCH] = {3, 1, 4, 1, 5, 9, 2, 6};
    const program_numbers pixels = {.seed = 3};
    mw_error err = {0};
    float *x = program_draw(&pixels, MW_SHAPE(BATCH, 3, 16, 16), 1);
    const mw_feed feeds[] = {{.name = "x", .dtype = MW_F32, .data = x, .count = BATCH * PIXELS},
                             {.name = "y", .dtype = MW_I32, .data = y, .count = BATCH}};
    const mw_batch batch = {.feeds = feeds, .feed_count = 2, .examples = BATCH};
    mw_trainer *trainer = make_trainer(exact, &err);
    for (int i = 0; trainer != NULL && i < STEPS; i++)
        mw_trainer_step(trainer, &batch, &losses[i], &err);
    CHECK_OK(err);
    mw_trainer_destroy(trainer);
    free(x);
}

static void test_losses_of_a_training_are_those_of_sums(void)
{
    float fast[STEPS] = {0}, sums_of[STEPS] = {0};
    train("0", fast);
    train("1", sums_of);
    for (int i = 0; i < STEPS; i++)
        CHECK_NEAR(fast[i], sums_of[i], 2e-5 * (double)sums_of[i]);
    CHECK(sums_of[STEPS - 1] < 0.9f * sums_of[0]);
    CHECK(level_here() == MW__LEVEL_REF || memcmp(fast, sums_of, sizeof fast) != 0);
}

static void test_values_of_a_constant_weight_are_made_once(void)
{
    mw_error err = {0};
    int made = 0, taken = 0;
    const shape *s = &shapes[0];
    numbers a = numbers_of(s);
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(2, 64, 16, 16));
    mw_output(mw_conv(x, mw_constant(graph, MW_F32, MW_SHAPE(64, 64, 3, 3), a.weight), NULL, NULL), "y");
    mw__library *library = run_library_of(graph, 1, &err);
    CHECK_OK(err);
    for (size_t i = 0; library != NULL && i < library->programs[0].plan.step_count; i++) {
        const char *label = library->programs[0].plan.steps[i]->report.label;
        made += strcmp(label, "conv.winograd.weight") == 0, taken += strcmp(label, "conv.winograd") == 0;
    }
    CHECK(made == 0 && taken == (level_here() > MW__LEVEL_REF));
    mw__object_release(library);
    mw_graph_destroy(graph);
    numbers_deinit(&a);
}

int main(void)
{
    RUN(test_results_are_near_sums_in_double_precision);
    RUN(test_lines_are_near_sums_in_double_precision);
    RUN(test_no_chip_and_no_fp16_is_computed_so);
    RUN(test_few_channels_and_small_planes_are_not_computed_so);
    RUN(test_fusion_changes_no_bit);
    RUN(test_the_option_keeps_the_sums);
    RUN(test_losses_of_a_training_are_those_of_sums);
    RUN(test_values_of_a_constant_weight_are_made_once);
    return check_finish();
}
