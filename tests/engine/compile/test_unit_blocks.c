/* Steps that run block of units by block of units: the loss over many classes and attention spelled out, forward and
 * with their gradients, give the bytes of the same program without fusion, at sizes that leave rests of blocks, on one
 * thread and several; and what lies between them takes no memory of its own. */
#include "support/check.h"
#include "support/on_engine.h"
#include "support/setting.h"

#include <millwright/inspect.h>
#include <millwright/millwright.h>
#include <stdlib.h>
#include <string.h>

enum { INPUTS = 3 };

/* What a program is made of: inputs, and one result whose gradients by them are taken too. */
typedef mw_tensor *build(mw_graph *graph, const int64_t *n, mw_tensor **x, size_t *x_count);

static mw_tensor *input(mw_graph *graph, const char *name, mw_shape shape)
{
    return mw_input(graph, name, MW_F32, shape);
}

/* [n0, n1] */
static mw_tensor *loss(mw_graph *graph, const int64_t *n, mw_tensor **x, size_t *x_count)
{
    x[0] = input(graph, "x0", MW_SHAPE(n[0], n[1]));
    *x_count = 1;
    return mw_cross_entropy(x[0], mw_input(graph, "labels", MW_I32, MW_SHAPE(n[0])));
}

static mw_tensor *normalized(mw_graph *graph, const int64_t *n, mw_tensor **x, size_t *x_count)
{
    x[0] = input(graph, "x0", MW_SHAPE(n[0], n[1]));
    x[1] = input(graph, "x1", MW_SHAPE(n[0], n[1]));
    *x_count = 2;
    mw_tensor *y = mw_layer_norm(mw_add(x[0], x[1]), MW_AXES(1), NULL, NULL, 1e-5f);
    return mw_mul(mw_softmax(y, -1), mw_tanh(x[0]));
}

/* q [n0, n1, n2, n4], k and v [n0, n1, n3, n4] */
static mw_tensor *attention_with(mw_graph *graph, const int64_t *n, mw_shape k, mw_tensor **x, bool masked)
{
    x[0] = input(graph, "x0", MW_SHAPE(n[0], n[1], n[2], n[4]));
    x[1] = input(graph, "x1", k);
    x[2] = input(graph, "x2", k);
    mw_tensor *scores = mw_mul_scalar(mw_matmul(x[0], x[1], MW_TRANSPOSE_Y), 0.25);
    if (masked)
        scores = mw_add(scores, input(graph, "mask", MW_SHAPE(n[2], n[3])));
    return mw_matmul(mw_softmax(scores, -1), x[2], 0);
}

static mw_tensor *attention(mw_graph *graph, const int64_t *n, mw_tensor **x, size_t *x_count)
{
    *x_count = 3;
    return attention_with(graph, n, MW_SHAPE(n[0], n[1], n[3], n[4]), x, false);
}

static mw_tensor *masked_attention(mw_graph *graph, const int64_t *n, mw_tensor **x, size_t *x_count)
{
    *x_count = 3;
    return attention_with(graph, n, MW_SHAPE(n[0], n[1], n[3], n[4]), x, true);
}

/* Heads share keys and values, so that these are no parts of a head. */
static mw_tensor *shared_keys(mw_graph *graph, const int64_t *n, mw_tensor **x, size_t *x_count)
{
    *x_count = 3;
    return attention_with(graph, n, MW_SHAPE(n[0], 1, n[3], n[4]), x, true);
}

/* Reads of very many numbers, then the same elements as other rows: what is cut along the one is a step of what is cut
 * along the other, if it has not too many operands for that. */
static mw_tensor *many_numbers(mw_graph *graph, const int64_t *n, mw_tensor **x, size_t *x_count)
{
    x[0] = input(graph, "x0", MW_SHAPE(n[0], n[1]));
    *x_count = 1;
    mw_tensor *y = x[0];
    for (int64_t i = 0; i < n[2]; i++) {
        y = mw_add_scalar(mw_mul_scalar(y, 1.0 + 0.001 * (double)i), 0.01 * (double)i);
        y = i % 12 == 11 ? mw_softmax(y, -1) : y;
    }
    return mw_softmax(mw_reshape(y, MW_SHAPE(n[1], n[0])), -1);
}

typedef struct blocks_case {
    const char *what;
    build *build;
    int64_t n[5];
    size_t whole; /* bytes of what lies between the steps, one tensor of it; 0: not looked at */
} blocks_case;

static const blocks_case cases[] = {
    {"loss, few rows", loss, {5, 37}, 0},
    {"loss, rows beyond a tile", loss, {64, 1031}, 64 * 1031 * 4},
    {"loss, several rows a block and a rest", loss, {257, 601}, 257 * 601 * 4},
    {"loss, a row more than a block", loss, {6, 70001}, 6 * 70001 * 4},
    {"normalized rows", normalized, {131, 700}, 0},
    {"other rows", many_numbers, {60, 90, 9}, 0},
    {"other rows, many numbers", many_numbers, {60, 90, 25}, 0},
    {"other rows, more numbers than a step reads", many_numbers, {60, 90, 70}, 0},
    {"attention, several heads a block and a rest", attention, {1, 11, 64, 64, 16}, 11 * 64 * 64 * 4},
    {"attention, a head a block", attention, {2, 3, 130, 130, 9}, 6 * 130 * 130 * 4},
    {"attention of other keys", attention, {4, 8, 33, 150, 8}, 32 * 33 * 150 * 4},
    {"masked attention", masked_attention, {1, 12, 96, 96, 8}, 12 * 96 * 96 * 4},
    {"masked attention, one query", masked_attention, {2, 6, 1, 40, 8}, 0},
    {"attention of shared keys", shared_keys, {2, 4, 40, 40, 8}, 0},
};
enum { CASES = sizeof cases / sizeof *cases };

static mw_program *compile(const blocks_case *c, const char *profile, int threads, mw_error *err)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x[INPUTS], *dx[INPUTS];
    size_t count = 0;
    mw_tensor *y = c->build(graph, c->n, x, &count);
    mw_output(y, "y");
    mw_tensor *dy = input(graph, "dy", mw_tensor_shape(y));
    if (mw_vjp(&y, &dy, 1, x, count, dx, err) == MW_OK)
        for (size_t i = 0; i < count; i++)
            mw_output(dx[i], (const char *[]){"dx0", "dx1", "dx2"}[i]);
    mw_program *program = engine_compile(graph, profile != NULL ? MW_DEVICE_ANE : MW_DEVICE_CPU, threads, err);
    mw_graph_destroy(graph);
    return program;
}

static void feed(const blocks_case *c, mw_program *program, const mw_port *port, mw_error *err)
{
    const size_t count = (size_t)mw_shape_count(port->shape);
    float *data = calloc(count, sizeof *data);
    int32_t *labels = calloc(count, sizeof *labels);
    for (size_t i = 0; data != NULL && i < count; i++)
        data[i] = (float)((i * 7919 + strlen(port->name)) % 1009) / 250.0f - 2.0f;
    for (size_t i = 0; labels != NULL && i < count; i++)
        labels[i] = (int32_t)((int64_t)(i * 31) % c->n[1]);
    const bool whole = strcmp(port->name, "labels") == 0;
    mw_program_write(program, port->name, whole ? MW_I32 : MW_F32, whole ? (const void *)labels : data, count, err);
    free(labels);
    free(data);
}

/* All outputs, one behind the other; how many numbers these are. */
static size_t results_of(const blocks_case *c, const char *profile, int threads, const char *fuse, float *out,
                         size_t room)
{
    mw_error err = {0};
    mw_port port;
    size_t used = 0;
    setting_begin("MW_ENGINE_FUSE", fuse);
    setting_begin("MW_ENGINE_PROFILE", profile != NULL ? profile : "ieee");
    mw_program *program = compile(c, profile, threads, &err);
    for (size_t i = 0; program != NULL && mw_program_port_at(program, i, &port); i++)
        if (!port.is_output)
            feed(c, program, &port, &err);
    for (int run = 0; program != NULL && run < 2; run++)
        mw_program_run(program, &err);
    for (size_t i = 0; program != NULL && mw_program_port_at(program, i, &port); i++) {
        const size_t count = (size_t)mw_shape_count(port.shape);
        if (port.is_output && CHECK(used + count <= room))
            mw_program_read(program, port.name, MW_F32, out + used, count, &err);
        used += port.is_output ? count : 0;
    }
    CHECK_OK(err);
    mw_program_destroy(program);
    setting_end("MW_ENGINE_PROFILE");
    setting_end("MW_ENGINE_FUSE");
    return used;
}

static void test_blocks_change_no_bit(void)
{
    enum { ROOM = 1 << 20 };
    static const char *const profiles[] = {NULL, "ieee", "h14"};
    float *fused = calloc(ROOM, sizeof *fused), *plain = calloc(ROOM, sizeof *plain);
    REQUIRE(fused != NULL && plain != NULL);
    for (size_t i = 0; i < CASES; i++)
        for (int threads = 1; threads <= 3; threads++)
            for (size_t k = 0; k < sizeof profiles / sizeof *profiles; k++) {
                if (profiles[k] != NULL && cases[i].n[1] > 16384) /* beyond what an axis may have there */
                    continue;
                const size_t count = results_of(&cases[i], profiles[k], threads, "1", fused, ROOM);
                CHECK(count > 0 && count == results_of(&cases[i], profiles[k], threads, "0", plain, ROOM));
                check_note(memcmp(fused, plain, count * sizeof *fused) == 0, __FILE__, __LINE__,
                           "%s, %d threads, profile %s: fused and plain differ", cases[i].what, threads,
                           profiles[k] != NULL ? profiles[k] : "none");
            }
    free(plain);
    free(fused);
}

static size_t memory_of(const blocks_case *c, int threads, const char *fuse)
{
    mw_error err = {0};
    setting_begin("MW_ENGINE_FUSE", fuse);
    mw_program *program = compile(c, NULL, threads, &err);
    setting_end("MW_ENGINE_FUSE");
    mw_plan *plan = program != NULL ? mw_plan_create(program, &err) : NULL;
    const mw_plan_totals totals = mw_plan_get_totals(plan);
    CHECK_OK(err);
    mw_plan_destroy(plan);
    mw_program_destroy(program);
    return (size_t)(totals.intermediate_bytes + totals.scratch_bytes);
}

/* Bits do not tell whether anything was joined. */
static void test_what_lies_between_takes_no_memory(void)
{
    for (size_t i = 0; i < CASES; i++) {
        const size_t whole = cases[i].whole, joined = memory_of(&cases[i], 1, "1");
        if (whole == 0)
            continue;
        check_note(memory_of(&cases[i], 1, "0") > 2 * whole, __FILE__, __LINE__,
                   "%s: apart, they hold no two of %zu bytes", cases[i].what, whole);
        check_note(joined < whole, __FILE__, __LINE__, "%s: %zu bytes, not less than one of %zu", cases[i].what, joined,
                   whole);
    }
}

/* The steps of a net of `width` with one layer that are chains, or add partial sums of columns. */
static size_t joined_steps(int64_t rows, int64_t width)
{
    mw_error err = {0};
    size_t joined = 0;
    mw_graph *graph = mw_graph_create(NULL, &err);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(rows, width)),
              *y = mw_input(graph, "y", MW_F32, MW_SHAPE(rows, 1));
    mw_tensor *net = mw_dense(mw_relu(mw_dense(x, width, "fc1")), 1, "fc2");
    mw_trainer *trainer = engine_trainer(mw_mse(net, y), mw_sgd(0.1f), MW_DEVICE_CPU, 1, &err);
    mw_graph_destroy(graph);
    mw_plan *plan = mw_plan_create_trainer(trainer, MW_TRAINER_STEP, &err);
    mw_plan_step step;
    for (size_t i = 0; mw_plan_step_at(plan, i, &step); i++)
        joined += strstr(step.kernel, "chain") != NULL || strcmp(step.kernel, "column_sums") == 0;
    CHECK_OK(err);
    mw_plan_destroy(plan);
    mw_trainer_destroy(trainer);
    return joined;
}

/* To begin a stage, or a step that adds partial sums, takes longer than to load what lies in the nearest cache. */
static void test_small_steps_stay_apart(void)
{
    CHECK_INT(joined_steps(4, 16), 0);
    CHECK(joined_steps(128, 64) > 0);
}

int main(void)
{
    RUN(test_small_steps_stay_apart);
    RUN(test_blocks_change_no_bit);
    RUN(test_what_lies_between_takes_no_memory);
    return check_finish();
}
