/* What passes over memory cost: the loss over a large vocabulary and attention spelled out, forward and with their
 * gradients, each a program of its own.
 *
 *     passes                          all: name, direction, ms, MB of intermediates and scratch
 *     passes NAME [--threads N] [--steps N] [--device cpu|ane] [--plan] */
#include "runs.h"

#include <millwright/inspect.h>

typedef struct subject {
    const char *name;
    int64_t batch, heads, tokens, width; /* of attention; of a loss, labels are batch and classes are width */
    bool masked;                         /* what comes later is not looked at */
} subject;

static const subject subjects[] = {
    {"loss_50257", 256, 0, 0, 50257, false},    {"loss_1000", 1024, 0, 0, 1000, false},
    {"attention_256", 4, 12, 256, 64, false},   {"attention_256_causal", 4, 12, 256, 64, true},
    {"attention_1024", 1, 12, 1024, 64, false}, {"attention_1024_causal", 1, 12, 1024, 64, true},
};

enum { SUBJECTS = sizeof subjects / sizeof *subjects };

static const char *const directions[] = {"forward", "backward"};

/* 0 where the key is not later than the query, else a number whose power is 0. */
static mw_tensor *mask_of(mw_graph *graph, int64_t tokens)
{
    float *mask = bench_alloc((size_t)(tokens * tokens), sizeof *mask);
    for (int64_t i = 0; i < tokens; i++)
        for (int64_t j = 0; j < tokens; j++)
            mask[i * tokens + j] = j > i ? -1e9f : 0.0f;
    mw_tensor *constant = mw_constant(graph, MW_F32, MW_SHAPE(tokens, tokens), mask);
    free(mask);
    return constant;
}

/* The inputs whose gradients are asked for, and what is made of them. */
typedef struct built {
    mw_tensor *x[3], *y;
    size_t count;
} built;

static built build(const subject *s, mw_graph *graph)
{
    if (s->heads == 0) {
        mw_tensor *logits = mw_input(graph, "logits", MW_F32, MW_SHAPE(s->batch, s->width));
        mw_tensor *labels = mw_input(graph, "labels", MW_I32, MW_SHAPE(s->batch));
        return (built){.x = {logits}, .y = mw_cross_entropy(logits, labels), .count = 1};
    }
    const mw_shape shape = MW_SHAPE(s->batch, s->heads, s->tokens, s->width);
    built b = {.x = {mw_input(graph, "q", MW_F32, shape), mw_input(graph, "k", MW_F32, shape),
                     mw_input(graph, "v", MW_F32, shape)},
               .count = 3};
    mw_tensor *scores = mw_mul_scalar(mw_matmul(b.x[0], b.x[1], MW_TRANSPOSE_Y), 0.125);
    if (s->masked)
        scores = mw_add(scores, mask_of(graph, s->tokens));
    b.y = mw_matmul(mw_softmax(scores, -1), b.x[2], 0);
    return b;
}

static mw_program *compile(const subject *s, int direction, const bench_options *o, mw_error *err)
{
    static const char *const names[] = {"dx", "dk", "dv"};
    mw_graph *graph = mw_graph_create(NULL, err);
    built b = build(s, graph);
    mw_output(b.y, "y");
    if (direction > 0) {
        mw_tensor *dy = mw_input(graph, "dy", MW_F32, mw_tensor_shape(b.y)), *dx[3];
        mw_vjp(&b.y, &dy, 1, b.x, b.count, dx, err);
        for (size_t i = 0; i < b.count && err->status == MW_OK; i++)
            mw_output(dx[i], names[i]);
    }
    mw_compile_options options = mw_compile_defaults();
    options.threads = o->threads;
    options.device = o->fp16 ? MW_DEVICE_ANE : MW_DEVICE_CPU;
    mw_program *program = mw_program_create(graph, &options, err);
    mw_graph_destroy(graph);
    return program;
}

static void feed(const subject *s, mw_program *program, mw_error *err)
{
    uint64_t state = 1;
    mw_port port;
    for (size_t i = 0; i < mw_program_port_count(program); i++) {
        if (!mw_program_port_at(program, i, &port) || port.is_output)
            continue;
        const size_t count = (size_t)mw_shape_count(port.shape);
        float *data = bench_alloc(count, sizeof *data);
        int32_t *labels = bench_alloc(count, sizeof *labels);
        for (size_t k = 0; k < count; k++)
            data[k] = 4.0f * bench_uniform(&state) - 2.0f, labels[k] = (int32_t)((int64_t)k * 7919 % s->width);
        const bool whole = strcmp(port.name, "labels") == 0;
        mw_program_write(program, port.name, whole ? MW_I32 : MW_F32, whole ? (const void *)labels : data, count, err);
        free(data);
        free(labels);
    }
}

static void measure(const subject *s, int direction, const bench_options *o, mw_error *err)
{
    mw_program *program = compile(s, direction, o, err);
    if (program == NULL)
        return;
    feed(s, program, err);
    const int runs = bench_steps(o, 4);
    const double time = bench_run_seconds(o, program, runs, err);
    mw_plan *plan = mw_plan_create(program, err);
    const mw_plan_totals totals = mw_plan_get_totals(plan);
    printf("%s\t%s\t%.4f\t%.1f\n", s->name, directions[direction], 1e3 * time,
           1e-6 * (double)(totals.intermediate_bytes + totals.scratch_bytes));
    fflush(stdout);
    mw_plan_destroy(plan);
    mw_program_destroy(program);
}

int main(int argc, char **argv)
{
    char *all[] = {argv[0], "all"};
    const bench_options o = argc > 1 ? bench_parse(argc, argv) : bench_parse(2, all);
    mw_error err = {0};
    bool known = false;
    for (const subject *s = subjects; s < subjects + SUBJECTS; s++) {
        if (strcmp(o.workload, "all") != 0 && strcmp(o.workload, s->name) != 0)
            continue;
        known = true;
        for (int direction = 0; direction < 2; direction++)
            measure(s, direction, &o, &err);
    }
    if (err.status != MW_OK)
        fprintf(stderr, "%s\n", err.message);
    if (!known)
        bench_usage(argv[0]);
    return err.status != MW_OK;
}
