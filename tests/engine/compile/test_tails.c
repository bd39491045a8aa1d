/* What convolutions and batch norms do to their results in the place of steps behind them (engine/core/tail.h): the
 * bytes are those of the program without fusion, for every kernel that can, on one thread and two and with each
 * instruction set; the steps are gone from the plan; and a tensor that others read stays. */
#include "support/check.h"
#include "support/on_engine.h"
#include "support/passes/seen_passes.h"
#include "support/setting.h"

#include <math.h>
#include <millwright/millwright.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what makes the results ---- */

typedef struct maker {
    const char *name;
    int64_t examples, inputs, outputs, extent, kernel, stride, groups;
    bool transposed, norm;
} maker;

static const maker makers[] = {
    {"one element", 1, 3, 32, 14, 1, 1, 1, false, false},
    {"few channels", 2, 5, 24, 13, 3, 1, 1, false, false},
    {"half a panel more", 1, 16, 48, 28, 3, 1, 1, false, false},
    {"narrow rows", 3, 8, 33, 5, 3, 1, 1, false, false},
    {"strides", 1, 4, 16, 17, 3, 2, 1, false, false},
    {"groups", 2, 8, 32, 9, 3, 1, 2, false, false},
    {"long rows", 1, 2, 20, 150, 3, 1, 1, false, false},
    {"one output", 2, 6, 1, 9, 3, 1, 1, false, false},
    {"depthwise", 1, 12, 12, 10, 3, 1, 12, false, false},
    {"transposed", 1, 6, 8, 7, 3, 1, 1, true, false},
    {"transposed with strides", 1, 6, 8, 7, 2, 2, 1, true, false},
    {"batch norm", 2, 7, 7, 11, 1, 1, 1, false, true},
    {"batch norm of long planes", 1, 3, 3, 40, 1, 1, 1, false, true},
};

enum { MAKERS = sizeof makers / sizeof *makers };

static mw_tensor *constant_of(mw_graph *graph, mw_shape shape, float step)
{
    const int64_t count = mw_shape_count(shape);
    float *numbers = malloc((size_t)count * sizeof *numbers);
    for (int64_t i = 0; numbers != NULL && i < count; i++)
        numbers[i] = (float)sin((double)step * (double)i + 0.5) + (step > 1 ? 1.5f : 0.0f);
    mw_tensor *made = mw_constant(graph, MW_F32, shape, numbers);
    free(numbers);
    return made;
}

static mw_tensor *make(mw_graph *graph, const maker *m, mw_tensor *x)
{
    if (m->norm) {
        const mw_shape channels = MW_SHAPE(m->outputs);
        return mw_batch_norm(x, constant_of(graph, channels, 0.3f), constant_of(graph, channels, 1.1f),
                             constant_of(graph, channels, 1.2f), constant_of(graph, channels, 0.7f), 0.01f);
    }
    mw_conv_options options = mw_conv_defaults();
    options.stride[0] = options.stride[1] = m->stride;
    options.groups = m->groups;
    mw_tensor *bias = constant_of(graph, MW_SHAPE(m->outputs), 0.9f);
    if (m->transposed)
        return mw_conv_transpose(
            x, constant_of(graph, MW_SHAPE(m->inputs, m->outputs / m->groups, m->kernel, m->kernel), 0.37f), bias,
            &options);
    return mw_conv(x, constant_of(graph, MW_SHAPE(m->outputs, m->inputs / m->groups, m->kernel, m->kernel), 0.37f),
                   bias, &options);
}

/* ---- what is done to them ---- */

typedef mw_tensor *ending(mw_tensor *y, mw_tensor *other);

static mw_tensor *end_relu(mw_tensor *y, mw_tensor *other) { return other != NULL ? mw_relu(y) : NULL; }
static mw_tensor *end_silu(mw_tensor *y, mw_tensor *other) { return other != NULL ? mw_silu(y) : NULL; }
static mw_tensor *end_gelu(mw_tensor *y, mw_tensor *other) { return other != NULL ? mw_gelu(y, MW_GELU_EXACT) : NULL; }
static mw_tensor *end_clip(mw_tensor *y, mw_tensor *other) { return other != NULL ? mw_clip(y, -0.5f, 0.75f) : NULL; }
static mw_tensor *end_add(mw_tensor *y, mw_tensor *other) { return mw_add(y, other); }
static mw_tensor *end_added(mw_tensor *y, mw_tensor *other) { return mw_add(other, y); }
static mw_tensor *end_sub(mw_tensor *y, mw_tensor *other) { return mw_sub(other, y); }
static mw_tensor *end_block(mw_tensor *y, mw_tensor *other) { return mw_relu(mw_add(y, other)); }
static mw_tensor *end_late(mw_tensor *y, mw_tensor *other) { return mw_relu(mw_add(y, mw_tanh(other))); }
static mw_tensor *end_first(mw_tensor *y, mw_tensor *other) { return mw_mul(mw_leaky_relu(y, 0.1f), other); }
static mw_tensor *end_hard(mw_tensor *y, mw_tensor *other)
{
    return mw_add(mw_sigmoid_hard(mw_abs(y), 0.2f, 0.5f), other);
}
static mw_tensor *end_many(mw_tensor *y, mw_tensor *other)
{
    return mw_relu(mw_abs(mw_relu6(mw_add(mw_relu(mw_add(y, other)), other))));
}
static mw_tensor *end_twice(mw_tensor *y, mw_tensor *other) { return mw_add(mw_add(y, y), other); }

static const struct ending_row {
    const char *name;
    ending *end;
    int gone; /* steps that conv.avx512 takes */
} endings[] = {
    {"relu", end_relu, 1},
    {"silu", end_silu, 1},
    {"gelu", end_gelu, 1},
    {"clip", end_clip, 1},
    {"add", end_add, 1},
    {"added", end_added, 1},
    {"sub", end_sub, 1},
    {"add, relu", end_block, 2},
    {"add of what is made later", end_late, 2},
    {"leaky_relu, mul", end_first, 2},
    {"abs, sigmoid_hard, add", end_hard, 3},
    {"many", end_many, 4},
    {"twice", end_twice, 0},
};

enum { ENDINGS = sizeof endings / sizeof *endings };

/* ---- running ---- */

typedef struct results {
    float *y;
    size_t count, steps;
} results;

static float *numbers_of(const mw_port *port)
{
    const size_t count = (size_t)mw_shape_count(port->shape);
    float *numbers = malloc(count * sizeof *numbers);
    for (size_t i = 0; numbers != NULL && i < count; i++)
        numbers[i] = (float)sin(0.61 * (double)i + (double)port->name[0]) * 2;
    return numbers;
}

static results run_case(const maker *m, ending *end, int threads, const char *off, bool reads_first)
{
    mw_error err = {0};
    results out = {0};
    seen_passes seen = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(m->examples, m->inputs, m->extent, m->extent));
    mw_tensor *made = make(graph, m, x), *other = mw_input(graph, "z", MW_F32, mw_tensor_shape(made));
    mw_output(end(made, other), "y");
    if (reads_first)
        mw_output(mw_tanh(made), "w");
    mw_compile_options options = engine_options(MW_DEVICE_CPU, threads);
    options.passes = (mw_passes){.off = off, .report = seen_report, .report_user = &seen};
    mw_program *program = mw_program_create(graph, &options, &err);
    mw_port port;
    for (size_t i = 0; mw_program_port_at(program, i, &port); i++) {
        const size_t count = (size_t)mw_shape_count(port.shape);
        float *numbers = port.is_output ? NULL : numbers_of(&port);
        if (!port.is_output)
            mw_program_write(program, port.name, MW_F32, numbers, count, &err);
        else if (strcmp(port.name, "y") == 0)
            out.count = count;
        free(numbers);
    }
    mw_program_run(program, &err);
    out.y = calloc(out.count + 1, sizeof *out.y);
    mw_program_read(program, "y", MW_F32, out.y, out.count, &err);
    out.steps = seen.changed[MW__RULE_tails];
    CHECK_OK(err);
    mw_program_destroy(program);
    mw_graph_destroy(graph);
    seen_deinit(&seen);
    return out;
}

static void compare(const char *what, const results *got, const results *wanted)
{
    check_note(got->count == wanted->count && got->count > 0 &&
                   memcmp(got->y, wanted->y, got->count * sizeof *got->y) == 0,
               __FILE__, __LINE__, "%s: other bytes than without fusion", what);
}

static void check_case(const maker *m, const struct ending_row *row, int threads)
{
    char what[120];
    snprintf(what, sizeof what, "%s, %s, %d threads", m->name, row->name, threads);
    setting_begin("MW_ENGINE_FUSE", "0");
    results plain = run_case(m, row->end, threads, NULL, false);
    setting_end("MW_ENGINE_FUSE");
    results fused = run_case(m, row->end, threads, NULL, false), left = run_case(m, row->end, threads, "tails", false);
    compare(what, &fused, &plain);
    compare(what, &left, &plain);
    CHECK(left.steps == 0);
    free(plain.y);
    free(fused.y);
    free(left.y);
}

static void check_all(const char *width)
{
    if (width != NULL)
        setting_begin("MW_ENGINE_WIDE", width);
    for (size_t i = 0; i < MAKERS; i++)
        for (size_t k = 0; k < ENDINGS; k++)
            for (int threads = 1; threads <= 2; threads++)
                check_case(&makers[i], &endings[k], threads);
    setting_end("MW_ENGINE_WIDE");
}

static void test_the_bytes_are_those_of_the_steps(void) { check_all(NULL); }
static void test_with_avx2(void) { check_all("256"); }
static void test_with_what_every_processor_has(void) { check_all("0"); }

/* ---- which are gone ---- */

static void test_what_can_be_taken_is_taken(void)
{
    for (size_t k = 0; k < ENDINGS; k++) {
        results cheap = run_case(&makers[11], endings[k].end, 1, NULL, false);
        const bool dear = endings[k].end == end_silu || endings[k].end == end_gelu;
        check_note((cheap.steps > 0) == (endings[k].gone > 0 && !dear), __FILE__, __LINE__, "%s behind a batch norm",
                   endings[k].name);
        free(cheap.y);
    }
}

static void test_what_others_read_stays(void)
{
    setting_begin("MW_ENGINE_FUSE", "0");
    results plain = run_case(&makers[0], end_relu, 1, NULL, true);
    setting_end("MW_ENGINE_FUSE");
    results fused = run_case(&makers[0], end_relu, 1, NULL, true);
    CHECK(fused.steps == 0);
    compare("read twice", &fused, &plain);
    free(plain.y);
    free(fused.y);
}

int main(void)
{
    RUN(test_the_bytes_are_those_of_the_steps);
    RUN(test_with_avx2);
    RUN(test_with_what_every_processor_has);
    RUN(test_what_can_be_taken_is_taken);
    RUN(test_what_others_read_stays);
    return check_finish();
}
