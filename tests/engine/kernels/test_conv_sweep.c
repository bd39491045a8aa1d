/* Convolutions and transposed ones of one to three axes, and their gradients by x, weight and bias, against sums in
 * double of code written here: shapes that are drawn, groups, depthwise, few channels, strides, dilation and borders;
 * on one thread and on two, with every width of vectors, in fp32 and on a chip's model in fp16. */
#include "base/number/random.h"
#include "engine/program_case.h"
#include "support/check.h"
#include "support/on_engine.h"
#include "support/setting.h"

#include <math.h>
#include <millwright/millwright.h>
#include <stdlib.h>
#include <string.h>

/* a [n, c, in], b [n, o, out], weight [o, c / groups, kernel]: b is a's convolution, a is b's transposed one. */
typedef struct sweep {
    int axes, transposed;
    int64_t n, c, o, groups;
    int64_t in[3], out[3], kernel[3], stride[3], dilation[3], before[3], after[3];
} sweep;

/* Numbers, and for each element of a result the sum of what its products weigh: what an error is measured by. */
typedef struct sums {
    double *of, *size;
} sums;

enum { A, WEIGHT, B, OPERANDS };

static mw_shape shape_of(const sweep *s, int operand)
{
    const int64_t ends[OPERANDS][2] = {{s->n, s->c}, {s->o, s->c / s->groups}, {s->n, s->o}};
    const int64_t *const axes[OPERANDS] = {s->in, s->kernel, s->out};
    mw_shape out = {.rank = s->axes + 2, .dim = {ends[operand][0], ends[operand][1]}};
    memcpy(out.dim + 2, axes[operand], (size_t)s->axes * sizeof *out.dim);
    return out;
}

/* ---- the oracle ---- */

static int64_t extent_of(const int64_t *axes, int count)
{
    int64_t all = 1;
    for (int i = 0; i < count; i++)
        all *= axes[i];
    return all;
}

/* The element of a's plane that position p of b meets under tap t; -1 in the border. */
static int64_t place_under(const sweep *s, int64_t p, int64_t t)
{
    int64_t at = 0, of_p[3], of_t[3];
    for (int i = s->axes - 1; i >= 0; p /= s->out[i], t /= s->kernel[i], i--)
        of_p[i] = p % s->out[i], of_t[i] = t % s->kernel[i];
    for (int i = 0; i < s->axes; i++) {
        const int64_t x = of_p[i] * s->stride[i] + of_t[i] * s->dilation[i] - s->before[i];
        if (x < 0 || x >= s->in[i])
            return -1;
        at = at * s->in[i] + x;
    }
    return at;
}

static void add_product(sums *to, int64_t at, double x, double y) { to->of[at] += x * y, to->size[at] += fabs(x * y); }

/* Products of channel o of example n to the three results. */
static void add_channel(const sweep *s, const float *const from[OPERANDS], sums to[OPERANDS], int64_t n, int64_t o)
{
    const int64_t inputs = s->c / s->groups, group = o / (s->o / s->groups);
    const int64_t areas[3] = {extent_of(s->in, s->axes), extent_of(s->kernel, s->axes), extent_of(s->out, s->axes)};
    for (int64_t p = 0; p < areas[B]; p++)
        for (int64_t t = 0; t < areas[WEIGHT]; t++) {
            const int64_t x = place_under(s, p, t), b = (n * s->o + o) * areas[B] + p;
            for (int64_t c = 0; x >= 0 && c < inputs; c++) {
                const int64_t a = (n * s->c + group * inputs + c) * areas[A] + x;
                const int64_t w = (o * inputs + c) * areas[WEIGHT] + t;
                add_product(&to[A], a, (double)from[B][b], (double)from[WEIGHT][w]);
                add_product(&to[WEIGHT], w, (double)from[A][a], (double)from[B][b]);
                add_product(&to[B], b, (double)from[A][a], (double)from[WEIGHT][w]);
            }
        }
}

/* ---- the engine ---- */

static mw_conv_options options_of(const sweep *s)
{
    mw_conv_options options = mw_conv_defaults();
    options.groups = s->groups;
    options.pad_type = MW_PAD_CUSTOM;
    for (int i = 0; i < s->axes; i++) {
        options.stride[i] = s->stride[i], options.dilation[i] = s->dilation[i];
        options.pad[2 * i] = s->before[i], options.pad[2 * i + 1] = s->after[i];
    }
    return options;
}

/* Outputs "y", "dx", "dweight" and "dbias". */
static mw_graph *build(const sweep *s, mw_dtype dtype)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    const mw_conv_options options = options_of(s);
    mw_tensor *wanted[] = {mw_input(graph, "x", dtype, shape_of(s, s->transposed ? B : A)),
                           mw_input(graph, "weight", dtype, shape_of(s, WEIGHT)),
                           mw_input(graph, "bias", dtype, MW_SHAPE(s->transposed ? s->c : s->o))},
              *made[3] = {0};
    mw_tensor *y = (s->transposed ? mw_conv_transpose : mw_conv)(wanted[0], wanted[1], wanted[2], &options);
    mw_tensor *dy = mw_input(graph, "dy", dtype, mw_tensor_shape(y));
    mw_vjp(&y, &dy, 1, wanted, 3, made, &err);
    CHECK_OK(err);
    mw_output(y, "y");
    mw_output(made[0], "dx");
    mw_output(made[1], "dweight");
    mw_output(made[2], "dbias");
    return graph;
}

static void describe(const sweep *s, char *out, size_t size)
{
    int at = snprintf(out, size, "%s n %d c %d o %d groups %d:", s->transposed ? "transposed" : "conv", (int)s->n,
                      (int)s->c, (int)s->o, (int)s->groups);
    for (int i = 0; i < s->axes && at > 0 && (size_t)at < size; i++)
        at += snprintf(out + at, size - (size_t)at, " [%d to %d, kernel %d, stride %d, dilation %d, border %d %d]",
                       (int)s->in[i], (int)s->out[i], (int)s->kernel[i], (int)s->stride[i], (int)s->dilation[i],
                       (int)s->before[i], (int)s->after[i]);
}

/* Chains of products err by about the square root of their length, at worst by it; a product that is missing or double
 * weighs far more than this. */
static void check_close(const char *what, const char *name, const float *got, const sums *wanted, size_t count,
                        double tolerance)
{
    for (size_t i = 0; i < count; i++) {
        const double limit = tolerance * wanted->size[i] + 1e-7;
        if (!check_note(fabs((double)got[i] - wanted->of[i]) <= limit, __FILE__, __LINE__,
                        "%s: %s[%zu] is %.9g, not %.9g, of %.3g", what, name, i, (double)got[i], wanted->of[i],
                        wanted->size[i]))
            return;
    }
}

/* What the engine gives for the names of the graph, beside the sums. */
typedef struct expected {
    const char *name;
    int64_t count;
    const sums *sums;
} expected;

typedef struct run_of {
    mw_device device;
    mw_dtype dtype;
    int threads;
    double tolerance;
} run_of;

static void check_outputs(const sweep *s, const run_of *run, const float *const from[OPERANDS], const float *bias,
                          const expected *all, const char *what)
{
    mw_error err = {0};
    mw_graph *graph = build(s, run->dtype);
    mw_program *program = engine_compile(graph, run->device, run->threads, &err);
    const int x = s->transposed ? B : A, y = s->transposed ? A : B;
    const struct {
        const char *name;
        mw_shape shape;
        const float *data;
    } fed[] = {{"x", shape_of(s, x), from[x]},
               {"weight", shape_of(s, WEIGHT), from[WEIGHT]},
               {"dy", shape_of(s, y), from[y]},
               {"bias", MW_SHAPE(s->transposed ? s->c : s->o), bias}};
    for (size_t i = 0; program != NULL && i < 4; i++)
        mw_program_write(program, fed[i].name, MW_F32, fed[i].data, (size_t)mw_shape_count(fed[i].shape), &err);
    if (program != NULL)
        mw_program_run(program, &err);
    for (int i = 0; program != NULL && i < 4; i++) {
        float *got = calloc((size_t)all[i].count, sizeof *got);
        mw_program_read(program, all[i].name, MW_F32, got, (size_t)all[i].count, &err);
        check_close(what, all[i].name, got, all[i].sums, (size_t)all[i].count, run->tolerance);
        free(got);
    }
    check_note(err.status == MW_OK, __FILE__, __LINE__, "%s: %s", what, err.message);
    mw_program_destroy(program);
    mw_graph_destroy(graph);
}

/* ---- one case ---- */

static sums sums_of(int64_t count)
{
    return (sums){.of = calloc((size_t)count, sizeof(double)), .size = calloc((size_t)count, sizeof(double))};
}

static void sums_deinit(sums *s) { free(s->of), free(s->size); }

/* The bias is added to each element of channel i of y, and its gradient is the sum of dy. */
static void add_bias(const sweep *s, const float *bias, const float *dy, sums *y, sums *dbias)
{
    const int64_t area = extent_of(s->transposed ? s->in : s->out, s->axes), channels = s->transposed ? s->c : s->o;
    for (int64_t i = 0; i < s->n * channels * area; i++) {
        add_product(y, i, (double)bias[i / area % channels], 1.0);
        add_product(dbias, i / area % channels, (double)dy[i], 1.0);
    }
}

static void check_runs(const sweep *s, const float *const from[OPERANDS], const float *bias, const expected *all)
{
    static const run_of runs[] = {
        {.device = MW_DEVICE_CPU, .dtype = MW_F32, .threads = 1, .tolerance = 3e-6},
        {.device = MW_DEVICE_CPU, .dtype = MW_F32, .threads = 2, .tolerance = 3e-6},
        {.device = MW_DEVICE_ANE, .dtype = MW_F16, .threads = 2, .tolerance = 4e-3},
    };
    static const char *const widths[] = {NULL, "256", "0"};
    char what[400], shape[300];
    describe(s, shape, sizeof shape);
    for (size_t width = 0; width < 3; width++)
        for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
            snprintf(what, sizeof what, "%s, %d threads, width %s, %s", shape, runs[i].threads,
                     width > 0 ? widths[width] : "of the processor", mw_dtype_name(runs[i].dtype));
            if (width > 0)
                setting_begin("MW_ENGINE_WIDE", widths[width]);
            check_outputs(s, &runs[i], from, bias, all, what);
            if (width > 0)
                setting_end("MW_ENGINE_WIDE");
        }
}

static void check_case(const sweep *s, uint64_t seed)
{
    const program_numbers numbers = {.seed = seed, .steps = 64.0f};
    float *from[OPERANDS];
    sums to[OPERANDS], dbias = sums_of(s->transposed ? s->c : s->o);
    for (int i = 0; i < OPERANDS; i++) {
        from[i] = program_draw(&numbers, shape_of(s, i), (uint64_t)i + 1);
        to[i] = sums_of(mw_shape_count(shape_of(s, i)));
    }
    float *bias = program_draw(&numbers, MW_SHAPE(s->transposed ? s->c : s->o), 9);
    for (int64_t n = 0; n < s->n; n++)
        for (int64_t o = 0; o < s->o; o++)
            add_channel(s, (const float *const *)from, to, n, o);
    const int x = s->transposed ? B : A, y = s->transposed ? A : B;
    add_bias(s, bias, from[y], &to[y], &dbias);
    const expected all[] = {{"y", mw_shape_count(shape_of(s, y)), &to[y]},
                            {"dx", mw_shape_count(shape_of(s, x)), &to[x]},
                            {"dweight", mw_shape_count(shape_of(s, WEIGHT)), &to[WEIGHT]},
                            {"dbias", s->transposed ? s->c : s->o, &dbias}};
    check_runs(s, (const float *const *)from, bias, all);
    for (int i = 0; i < OPERANDS; i++) {
        free(from[i]);
        sums_deinit(&to[i]);
    }
    sums_deinit(&dbias);
    free(bias);
}

/* ---- cases ---- */

static int64_t between(mw__random *random, int64_t low, int64_t high)
{
    return low + (int64_t)(mw__random_u32(random) % (uint32_t)(high - low + 1));
}

/* Extents of b follow from those of a. What no window reaches of a is cut off, as a transposed convolution has none. */
static bool fit(sweep *s)
{
    for (int i = 0; i < s->axes; i++) {
        const int64_t cover = (s->kernel[i] - 1) * s->dilation[i] + 1, room = s->in[i] + s->before[i] + s->after[i];
        if (room < cover)
            return false;
        s->out[i] = (room - cover) / s->stride[i] + 1;
        if (s->transposed)
            s->in[i] = (s->out[i] - 1) * s->stride[i] + cover - s->before[i] - s->after[i];
        if (s->in[i] < 1)
            return false;
    }
    return true;
}

/* One of: one group of some channels, few output channels, few input channels, a channel a group, groups. */
static void draw_channels(sweep *s, mw__random *random)
{
    static const int64_t many[] = {1, 3, 8, 17, 33, 40}, few[] = {1, 2, 3, 5};
    const int64_t kind = between(random, 0, 4);
    s->groups = 1;
    s->c = kind == 2 ? few[between(random, 0, 3)] : many[between(random, 0, 5)];
    s->o = kind == 1 ? few[between(random, 0, 3)] : many[between(random, 0, 5)];
    if (kind == 3)
        s->groups = s->c, s->o = s->c * between(random, 1, 2);
    if (kind == 4) {
        s->groups = between(random, 2, 3);
        s->c = s->groups * between(random, 1, 9), s->o = s->groups * between(random, 1, 9);
    }
}

static bool draw_sweep(mw__random *random, int axes, sweep *out)
{
    static const int64_t most[] = {300, 22, 9};
    *out = (sweep){.axes = axes, .transposed = (int)between(random, 0, 1), .n = between(random, 1, 5)};
    draw_channels(out, random);
    for (int i = 0; i < axes; i++) {
        out->in[i] = between(random, 1, most[axes - 1]);
        out->kernel[i] = between(random, 1, axes == 1 ? 9 : axes == 2 ? 5 : 4);
        out->stride[i] = between(random, 0, 1) == 0 ? 1 : between(random, 1, 3);
        out->dilation[i] = between(random, 0, 2) > 0 ? 1 : between(random, 2, 4);
        out->before[i] = between(random, 0, out->kernel[i] - 1), out->after[i] = between(random, 0, out->kernel[i] - 1);
    }
    return fit(out);
}

/* Products of one pass: more take the oracle too long. */
static bool is_small(const sweep *s)
{
    return s->n * s->o * (s->c / s->groups) * extent_of(s->out, s->axes) * extent_of(s->kernel, s->axes) < 1500000;
}

static void check_drawn(int axes, int count)
{
    mw__random random = {.seed = number_from("MW_TEST_SEED", 3) * 10 + (uint64_t)axes};
    for (int i = 0; i < count;) {
        sweep s;
        if (!draw_sweep(&random, axes, &s) || !is_small(&s))
            continue;
        check_case(&s, (uint64_t)i + 1);
        i++;
    }
}

static void test_lines(void) { check_drawn(1, (int)number_from("MW_TEST_CONVOLUTIONS", 20)); }
static void test_planes(void) { check_drawn(2, (int)number_from("MW_TEST_CONVOLUTIONS", 20)); }
static void test_spaces(void) { check_drawn(3, (int)number_from("MW_TEST_CONVOLUTIONS", 20)); }

/* ---- sizes at which kernels take several chunks, bands, blocks and panels ---- */

/* The same stride, dilation and border along every axis. */
typedef struct even_sweep {
    int transposed, axes;
    int64_t n, c, o, groups, in[3], kernel[3], stride, dilation, before, after;
} even_sweep;

/* clang-format off */
static const even_sweep several_blocks[] = {
    {0, 3, 3, 35, 17, 1, {6, 8, 8}, {4, 4, 4}, 2, 1, 1, 1},
    {0, 3, 2, 1, 18, 1, {12, 13, 14}, {4, 4, 4}, 2, 1, 1, 1},
    {1, 3, 2, 1, 18, 1, {8, 10, 12}, {4, 4, 4}, 2, 1, 1, 1},
    {0, 3, 1, 5, 9, 1, {3, 29, 31}, {3, 3, 3}, 1, 1, 1, 1},
    {0, 3, 2, 6, 6, 6, {5, 14, 17}, {3, 3, 3}, 1, 1, 1, 1},
    {0, 3, 1, 4, 8, 4, {7, 14, 19}, {3, 3, 3}, 2, 1, 1, 1},
    {0, 2, 1, 2, 2, 2, {97, 203}, {3, 3}, 1, 1, 1, 1},
    {0, 2, 1, 2, 2, 2, {120, 160}, {3, 3}, 1, 1, 1, 1},
    {0, 2, 1, 1, 2, 1, {150, 201}, {5, 5}, 2, 1, 2, 2},
    {0, 2, 1, 9, 3, 1, {40, 50}, {9, 9}, 1, 1, 4, 4},
    {0, 2, 4, 19, 19, 19, {25, 11}, {3, 3}, 2, 1, 1, 1},
    {0, 2, 2, 9, 9, 9, {28, 66}, {3, 3}, 2, 1, 1, 1},
    {0, 2, 6, 13, 13, 13, {4, 4}, {3, 3}, 1, 1, 1, 1},
    {0, 1, 2, 7, 7, 7, {1000}, {31}, 1, 1, 15, 15},
    {0, 1, 2, 11, 12, 1, {500}, {3}, 1, 32, 64, 0},
};
/* clang-format on */

static void test_sizes_of_several_blocks(void)
{
    for (size_t i = 0; i < sizeof several_blocks / sizeof *several_blocks; i++) {
        const even_sweep *row = &several_blocks[i];
        sweep s = {.transposed = row->transposed,
                   .axes = row->axes,
                   .n = row->n,
                   .c = row->c,
                   .o = row->o,
                   .groups = row->groups};
        for (int k = 0; k < s.axes; k++) {
            s.in[k] = row->in[k], s.kernel[k] = row->kernel[k];
            s.stride[k] = row->stride, s.dilation[k] = row->dilation;
            s.before[k] = row->before, s.after[k] = row->after;
        }
        if (CHECK(fit(&s)))
            check_case(&s, 50 + i);
    }
}

int main(void)
{
    RUN(test_lines);
    RUN(test_planes);
    RUN(test_spaces);
    RUN(test_sizes_of_several_blocks);
    return check_finish();
}
