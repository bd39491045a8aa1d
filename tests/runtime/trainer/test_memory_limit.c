/* memory_limit: a step that keeps to it has the bits of one that does not, what cannot be reached is refused, and what
 * it costs is said. */
#include "runtime/files.h"
#include "segment_trainer.h"
#include "support/check.h"
#include "support/evaluated.h"
#include "support/failing.h"
#include "support/on_engine.h"
#include "support/setting.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const mw_device devices[] = {MW_DEVICE_CPU, MW_DEVICE_ANE};

/* What a chip leaves unrounded depends on how many read a value (wide_chains), so bits are compared without that. */
static segment_setting on(const segment_net *net, mw_device device)
{
    return (segment_setting){
        .net = net, .device = device, .profile = device == MW_DEVICE_ANE ? "h17,-wide_chains" : NULL};
}

static uint64_t bytes_of(const segment_setting *s)
{
    mw_error err = {0};
    segment_trained t;
    segment_setting open = *s;
    open.memory_limit = UINT64_MAX;
    segment_create(&t, &open, &err);
    CHECK_OK(err);
    const mw_trainer_recomputation r = mw_trainer_get_info(t.trainer).recomputation;
    CHECK(r.stretches == 0 && r.bytes > 0 && r.bytes == r.bytes_before && r.flops == r.flops_before);
    segment_destroy(&t);
    return r.bytes;
}

static void check_losses_near(const segment_trained *a, const segment_trained *b)
{
    for (int i = 0; i < SEGMENT_STEPS; i++)
        CHECK_NEAR(a->losses[i], b->losses[i], 1e-5 * (double)a->losses[i]);
}

/* Trains with and without the limit and compares every byte; returns what was made of it. The transformer uses its
 * table at both ends, so that the parts of that gradient are added in another order. */
static mw_trainer_recomputation check_limited(const segment_setting *s)
{
    const bool shares = strcmp(s->net->name, "transformer") == 0;
    mw_error err = {0};
    segment_trained open, limited;
    segment_setting whole = *s;
    whole.memory_limit = 0;
    segment_create(&open, &whole, &err);
    segment_create(&limited, s, &err);
    segment_train(&open, &whole, 0, SEGMENT_STEPS, &err);
    segment_train(&limited, s, 0, SEGMENT_STEPS, &err);
    const mw_trainer_recomputation r = mw_trainer_get_info(limited.trainer).recomputation;
    if (CHECK_OK(err)) {
        shares ? check_losses_near(&open, &limited) : segment_check_equal(&open, &limited, s);
        CHECK(r.bytes <= s->memory_limit && r.bytes < r.bytes_before);
        CHECK(r.stretches > 0 && r.flops >= r.flops_before);
    }
    CHECK_INT(mw_trainer_get_info(open.trainer).recomputation.bytes, 0);
    segment_destroy(&open);
    segment_destroy(&limited);
    return r;
}

/* ---- what it reaches ---- */

enum { LAYERS = 12, ROWS = 8192, WIDTH = 16 };

/* Deep and narrow: nearly all memory is values that wait for the backward pass, each large enough not to be computed
 * early. */
static mw_tensor *tower(mw_graph *graph, int depth)
{
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(ROWS, WIDTH));
    for (int i = 0; i < depth; i++) {
        char name[16];
        snprintf(name, sizeof name, "fc%d", i);
        x = mw_add(x, mw_gelu(mw_dense(mw_tanh(x), WIDTH, name), MW_GELU_TANH));
    }
    return mw_reduce_mean(mw_square(x), MW_ALL_AXES, false);
}
static const segment_net tower_net = {"tower", tower, LAYERS};

static void test_a_deep_network_keeps_to_half_of_what_it_would_take(void)
{
    for (size_t k = 0; k < 4; k++) {
        segment_setting s = on(&tower_net, devices[k % 2]);
        s.threads = (int)k / 2 + 1;
        const uint64_t bytes = bytes_of(&s);
        s.memory_limit = bytes / 2;
        const mw_trainer_recomputation r = check_limited(&s);
        CHECK_INT(r.bytes_before, bytes);
        CHECK(r.flops < 1.5 * r.flops_before); /* a forward pass more is a third */
    }
}

/* The tighter the limit, the more stretches; none that are not needed. */
static void test_no_more_is_computed_again_than_the_limit_asks_for(void)
{
    segment_setting s = {.net = &tower_net};
    const uint64_t bytes = bytes_of(&s);
    size_t stretches = 0;
    for (int part = 9; part >= 5; part -= 4) {
        s.memory_limit = bytes / 10 * (uint64_t)part;
        const mw_trainer_recomputation r = check_limited(&s);
        CHECK(r.stretches > stretches);
        stretches = r.stretches;
    }
    CHECK(stretches < LAYERS);
}

static void test_every_network_keeps_its_bits(void)
{
    size_t count = 0;
    for (const segment_net *net = segment_nets; net->name != NULL; net++)
        for (size_t k = 0; k < 2; k++) {
            segment_setting s = on(net, devices[k]);
            mw_error err = {0};
            segment_trained t;
            s.memory_limit = bytes_of(&s) - 64;
            segment_create(&t, &s, &err);
            const bool reached = err.status == MW_OK;
            if (!reached)
                CHECK_ERROR(err, MW_ERROR_MEMORY, "the limit of memory is");
            printf("  %s on %s: %s\n", net->name, k == 0 ? "the CPU" : "the ANE", reached ? "less" : "refused");
            segment_destroy(&t);
            count += reached;
            if (reached)
                check_limited(&s);
        }
    CHECK(count >= 2);
}

static void test_whatever_else_is_asked_for_stays(void)
{
    static const segment_setting asked[] = {{.clip_norm = 0.5f, .average_decay = 0.9f},
                                            {.dynamic = true, .clip_value = 0.01f},
                                            {.accumulate = 3, .loss_scale = 64.0f},
                                            {.dispatch_steps = 3, .sgd = true}};
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        const segment_setting plain = on(&tower_net, devices[i % 2]);
        segment_setting s = asked[i];
        s.net = plain.net;
        s.device = plain.device;
        s.profile = plain.profile;
        s.memory_limit = bytes_of(&s) / 10 * 8;
        check_limited(&s);
    }
}

/* ---- what is evaluated, predicted and written ---- */

enum { EXAMPLES = 256, CLASSES = 4 };

/* Every layer may be an end of a stretch, and has another form in evaluation. */
static mw_trainer *normed_trainer(mw_graph *graph, uint64_t limit, mw_error *err)
{
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(EXAMPLES, WIDTH)), *h = mw_dense(x, 32, "in");
    for (int i = 0; i < LAYERS; i++) {
        char dense[16], norm[16];
        snprintf(dense, sizeof dense, "fc%d", i);
        snprintf(norm, sizeof norm, "bn%d", i);
        h = mw_batch_norm_layer(mw_dense(h, 32, dense), 0.1f, 1e-3f, norm);
        h = i % 2 == 0 ? h : mw_dropout(mw_relu(h), 0.2f, dense);
    }
    mw_tensor *z = mw_dense(h, CLASSES, "out"), *y = mw_input(graph, "y", MW_I32, MW_SHAPE(EXAMPLES));
    mw_trainer_options options = mw_trainer_defaults(mw_cross_entropy(z, y), mw_sgd(0.05f));
    options.prediction = z;
    options.memory.limit = limit;
    options.compile = engine_options(MW_DEVICE_CPU, 1);
    return mw_trainer_create(&options, err);
}

typedef struct normed {
    float loss, predicted[EXAMPLES * CLASSES], written[EXAMPLES * CLASSES];
    double evaluated;
} normed;

static void run_written(mw_trainer *trainer, const float *x, float *out, mw_error *err)
{
    remove_model("limited");
    mw_write_options keep_batch = mw_write_defaults();
    keep_batch.keep_batch = true;
    mw_trainer_export(trainer, NULL, scratch("limited"), &keep_batch, err);
    mw_graph *graph = err->status == MW_OK ? mw_graph_open_mil(scratch("limited/model.mil"), NULL, err) : NULL;
    mw_program *program = graph != NULL ? engine_compile(graph, MW_DEVICE_CPU, 1, err) : NULL;
    mw_port port = {.name = NULL};
    for (size_t i = 0; mw_program_port_at(program, i, &port) && !port.is_output; i++)
        ;
    if (program != NULL) {
        mw_program_write(program, "x", MW_F32, x, EXAMPLES * WIDTH, err);
        mw_program_run(program, err);
        mw_program_read(program, port.name, MW_F32, out, EXAMPLES * CLASSES, err);
    }
    mw_program_destroy(program);
    mw_graph_destroy(graph);
}

static void run_normed(uint64_t limit, normed *out)
{
    static float x[EXAMPLES * WIDTH];
    static int32_t y[EXAMPLES];
    mw_error err = {0};
    double metric;
    for (int i = 0; i < EXAMPLES * WIDTH; i++)
        x[i] = (float)(i * 7919 % 201) / 100.0f - 1.0f;
    for (int i = 0; i < EXAMPLES; i++)
        y[i] = i * 31 % CLASSES;
    const mw_feed feeds[2] = {{.name = "x", .dtype = MW_F32, .data = x, .count = EXAMPLES * WIDTH},
                              {.name = "y", .dtype = MW_I32, .data = y, .count = EXAMPLES}};
    const mw_batch batch = {.feeds = feeds, .feed_count = 2, .examples = EXAMPLES};
    const mw_column columns[2] = {{.name = "x", .dtype = MW_F32, .shape = MW_SHAPE(WIDTH), .data = x},
                                  {.name = "y", .dtype = MW_I32, .shape = mw_shape_scalar(), .data = y}};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_trainer *trainer = normed_trainer(graph, limit, &err);
    mw_dataset *data = mw_dataset_create(columns, 2, EXAMPLES, false, &err);
    CHECK((mw_trainer_get_info(trainer).recomputation.stretches > 0) == (limit > 0));
    for (int i = 0; i < 3; i++)
        mw_trainer_step(trainer, &batch, &out->loss, &err);
    mw_trainer_predict(trainer, &batch, MW_F32, out->predicted, EXAMPLES * CLASSES, &err);
    evaluated(trainer, data, &out->evaluated, &metric, &err);
    run_written(trainer, x, out->written, &err);
    CHECK_OK(err);
    mw_dataset_destroy(data);
    mw_trainer_destroy(trainer);
    mw_graph_destroy(graph);
}

static void test_ends_of_stretches_keep_their_form_for_evaluation(void)
{
    static normed open, limited;
    mw_error refused = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    unsigned long long least = 0;
    setting_begin("MW_PASSES_OFF", "redo"); /* without it this net needs stretches */
    CHECK(normed_trainer(graph, 1, &refused) == NULL);
    const char *said = strstr(refused.message, "bytes, and ");
    REQUIRE(said != NULL && sscanf(said, "bytes, and %llu", &least) == 1);
    run_normed(0, &open);
    run_normed(least, &limited);
    CHECK(open.loss == limited.loss && open.evaluated == limited.evaluated);
    CHECK(memcmp(open.predicted, limited.predicted, sizeof open.predicted) == 0);
    CHECK(memcmp(limited.predicted, limited.written, sizeof open.predicted) == 0);
    setting_end("MW_PASSES_OFF");
    mw_graph_destroy(graph);
}

/* ---- what is said ---- */

static char said[512];

static void keep_message(void *user, mw_log_level level, const char *message)
{
    (void)user;
    if (level == MW_LOG_INFO)
        snprintf(said, sizeof said, "%s", message);
}

static void test_the_cost_is_said_before_the_first_step(void)
{
    segment_setting s = {.net = &tower_net};
    mw_error err = {0};
    segment_trained t;
    s.memory_limit = bytes_of(&s) / 2;
    mw_log_set(keep_message, NULL);
    segment_create(&t, &s, &err);
    mw_log_set(NULL, NULL);
    CHECK_OK(err);
    CHECK(strstr(said, "stretches of the forward pass are computed again") != NULL);
    CHECK(strstr(said, "% more floating-point operations") != NULL);
    segment_destroy(&t);
}

static void test_what_cannot_be_reached_is_refused_with_numbers(void)
{
    mw_error err = {0};
    segment_trained t;
    segment_create(&t, &(segment_setting){.net = &tower_net, .memory_limit = 4096}, &err);
    CHECK(t.trainer == NULL);
    CHECK_ERROR(err, MW_ERROR_MEMORY, "the limit of memory is 4096: take a smaller batch");
    segment_destroy(&t);
    err = (mw_error){0};
    segment_create(&t, &(segment_setting){.net = &tower_net, .memory_limit = 4096, .segments = 8}, &err);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "memory.limit and memory.segments 8");
    segment_destroy(&t);
    CHECK_INT(mw_trainer_get_info(NULL).recomputation.bytes, 0);
}

static void test_every_failing_allocation_is_survived(void)
{
    static const segment_net net = {"tower", tower, 4};
    segment_setting s = {.net = &net};
    s.memory_limit = bytes_of(&s) / 10 * 9;
    const long step = getenv("MW_NIGHTLY") != NULL ? 7 : 499;
    for (long n = 0;; n += step) {
        failing_allocator failing = {.fail_at = n};
        const mw_allocator allocator = failing_allocator_of(&failing);
        mw_error err = {0};
        segment_trained t;
        s.allocator = &allocator;
        segment_create(&t, &s, &err);
        const bool made = t.trainer != NULL;
        /* while the graph is built, it is the graph that says why */
        const bool built = t.graph != NULL && mw_graph_check(t.graph, NULL) == MW_OK;
        check_note(made || !built || err.status == MW_ERROR_MEMORY, __FILE__, __LINE__,
                   "allocation %ld fails: status %d, \"%s\"", n, (int)err.status, err.message);
        segment_destroy(&t);
        CHECK_INT(failing.live, 0);
        if (!failing.failed) {
            CHECK(made && n > 500);
            break;
        }
    }
}

int main(void)
{
    RUN(test_a_deep_network_keeps_to_half_of_what_it_would_take);
    RUN(test_no_more_is_computed_again_than_the_limit_asks_for);
    RUN(test_every_network_keeps_its_bits);
    RUN(test_whatever_else_is_asked_for_stays);
    RUN(test_ends_of_stretches_keep_their_form_for_evaluation);
    RUN(test_the_cost_is_said_before_the_first_step);
    RUN(test_what_cannot_be_reached_is_refused_with_numbers);
    RUN(test_every_failing_allocation_is_survived);
    return check_finish();
}
