/* Optimizers of the user's own. AdamW written as one has the bits of the built-in one under all that a trainer can be
 * asked for; refused steps, checkpoints, ranks; states of other shapes; and what is refused. */
#include "custom_adam.h"
#include "runtime/parallel/ranks_net.h"
#include "runtime/small.h"
#include "runtime/trainer/object/trainer_access.h"
#include "support/check.h"
#include "support/failing.h"
#include "support/folder.h"
#include "support/on_engine.h"

#include <stdlib.h>

enum { STEPS = 7 };

/* ---- beside the built-in one ---- */

typedef struct setting {
    const char *name;
    mw_device device;
    bool half, groups, dynamic, many, averages;
    float decay, clip_norm, clip_value, loss_scale;
    int accumulate, segments, steps;
    uint64_t memory_limit;
} setting;

static mw_tensor *build(mw_graph *g, mw_dtype dtype)
{
    mw_tensor *x = mw_input(g, "x", dtype, MW_SHAPE(SMALL_N, SMALL_D));
    mw_tensor *y = mw_input(g, "y", MW_I32, MW_SHAPE(SMALL_N));
    mw_tensor *h = mw_tanh(mw_dense(x, SMALL_H, "fc1"));
    h = mw_tanh(mw_dense(h, SMALL_H, "fc2"));
    return mw_cross_entropy(mw_dense(h, SMALL_C, "fc3"), y);
}

static mw_trainer *make(const setting *s, mw_optimizer optimizer, mw_error *err)
{
    mw_graph *g = mw_graph_create(NULL, NULL);
    mw_parameter_group groups[2] = {mw_parameter_group_defaults("fc1.*"), mw_parameter_group_frozen("fc2.bias")};
    mw_parameter_group_set(&groups[0], MW_GROUP_RATE_FACTOR, 0.3f);
    mw_parameter_group_set(&groups[0], MW_GROUP_WEIGHT_DECAY, 0.25f);
    mw_trainer_options o = mw_trainer_defaults(build(g, s->half ? MW_F16 : MW_F32), optimizer);
    o.compile = engine_options(s->device, 1);
    o.groups = groups;
    o.group_count = s->groups ? 2 : 0;
    o.precision.dynamic = s->dynamic;
    o.precision.loss_scale = s->loss_scale;
    o.clipping.norm = s->clip_norm;
    o.clipping.value = s->clip_value;
    o.accumulate = s->accumulate;
    o.average_decay = s->averages ? 0.9f : 0.0f;
    o.memory.segments = s->segments;
    o.dispatch_steps = s->many ? 3 : 0;
    mw_trainer *trainer = mw_trainer_create(&o, err);
    mw_graph_destroy(g);
    return trainer;
}

static void train(mw_trainer *trainer, bool many, int first, int steps, mw_error *err)
{
    const small_data data = small_make_data();
    small_batch batches[STEPS];
    mw_batch list[STEPS];
    for (int i = 0; i < steps; i++) {
        small_fill_batch(&batches[i], &data, (first + i) % 5 * SMALL_N);
        list[i] = batches[i].batch;
    }
    if (many)
        mw_trainer_step_many(trainer, list, (size_t)steps, NULL, err);
    for (int i = 0; i < steps && !many; i++)
        mw_trainer_step(trainer, &list[i], NULL, err);
}

static void check_same_state(mw_trainer *a, mw_trainer *b, const char *name)
{
    REQUIRE(a != NULL && b != NULL);
    const mw__state_set *x = mw__trainer_state(a), *y = mw__trainer_state(b);
    CHECK_INT(x->count, y->count);
    for (size_t i = 0; i < x->count && i < y->count; i++) {
        CHECK_STR(x->entries[i].name, y->entries[i].name);
        check_note(x->entries[i].size == y->entries[i].size &&
                       memcmp(x->entries[i].data, y->entries[i].data, x->entries[i].size) == 0,
                   __FILE__, __LINE__, "%s: \"%s\" differs", name, x->entries[i].name);
    }
}

static void check_setting(const setting *s)
{
    mw_error err = {0};
    const mw_optimizer_rule rule = custom_adam_rule();
    mw_trainer *ours = make(s, custom_adam(0.02f, s->decay, &rule), &err);
    mw_trainer *theirs = make(s, built_in_adam(0.02f, s->decay), &err);
    train(ours, s->many, 0, STEPS, &err);
    train(theirs, s->many, 0, STEPS, &err);
    if (check_note(err.status == MW_OK, __FILE__, __LINE__, "%s: %s", s->name, err.message)) {
        check_same_state(ours, theirs, s->name);
        CHECK_INT(mw_trainer_get_info(ours).steps, mw_trainer_get_info(theirs).steps);
        if (s->segments > 1)
            CHECK(mw_trainer_get_info(ours).parts.calls > 1);
    }
    mw_trainer_destroy(ours);
    mw_trainer_destroy(theirs);
}

static void test_adam_as_a_rule_has_the_bits_of_the_built_in_one(void)
{
    const setting settings[] = {{.name = "plain"},
                                {.name = "decay", .decay = 0.1f},
                                {.name = "groups", .decay = 0.1f, .groups = true},
                                {.name = "clip_norm", .clip_norm = 0.05f},
                                {.name = "clip_value", .clip_value = 0.01f},
                                {.name = "accumulate", .accumulate = 3, .decay = 0.1f},
                                {.name = "averages", .averages = true},
                                {.name = "loss scale", .loss_scale = 64.0f},
                                {.name = "dynamic", .dynamic = true},
                                {.name = "segments", .segments = 4, .groups = true},
                                {.name = "many", .many = true, .decay = 0.1f},
                                {.name = "all",
                                 .decay = 0.1f,
                                 .groups = true,
                                 .clip_norm = 0.05f,
                                 .averages = true,
                                 .accumulate = 2,
                                 .dynamic = true}};
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        for (int kind = 0; kind < 3; kind++) { /* fp32; all stored in fp16; fp16 parameters on the CPU */
            setting s = settings[i];
            s.device = kind == 1 ? MW_DEVICE_ANE : MW_DEVICE_CPU;
            s.half = kind == 2;
            check_setting(&s);
        }
}

/* ---- what follows from the state set ---- */

static void test_a_refused_step_changes_no_state(void)
{
    mw_error err = {0};
    const mw_optimizer_rule rule = custom_adam_rule();
    const setting s = {.device = MW_DEVICE_CPU};
    mw_trainer *trainer = make(&s, custom_adam(0.02f, 0.1f, &rule), &err);
    train(trainer, false, 0, 2, &err);
    CHECK_OK(err);
    float huge[SMALL_C * SMALL_H];
    for (int i = 0; i < SMALL_C * SMALL_H; i++)
        huge[i] = 3e38f; /* finite, but their sums are not */
    mw_trainer_write(trainer, "fc3.weight", MW_F32, huge, SMALL_C * SMALL_H, &err);
    CHECK_OK(err);
    const small_snapshot before = small_take(trainer);
    const small_data data = small_make_data();
    small_batch batch;
    small_fill_batch(&batch, &data, 0);
    CHECK_INT(mw_trainer_step(trainer, &batch.batch, NULL, &err), MW_ERROR_NUMERIC);
    const small_snapshot after = small_take(trainer);
    small_check_same(&before, &after);
    mw_trainer_destroy(trainer);
}

static void test_a_checkpoint_goes_on_with_the_same_bits(void)
{
    char folder[512];
    mw_error err = {0};
    mw_optimizer_rule rule = custom_adam_rule();
    const setting s = {.device = MW_DEVICE_CPU, .groups = true};
    REQUIRE(folder_enter(folder));
    mw_trainer *through = make(&s, custom_adam(0.02f, 0.1f, &rule), &err);
    mw_trainer *resumed = make(&s, custom_adam(0.02f, 0.1f, &rule), &err);
    train(through, false, 0, 3, &err);
    mw_trainer_save(through, "run.safetensors", NULL, &err);
    train(through, false, 3, 4, &err);
    mw_trainer_load(resumed, "run.safetensors", NULL, &err);
    train(resumed, false, 3, 4, &err);
    CHECK_OK(err);
    check_same_state(through, resumed, "resumed");
    rule.settings = "beta1=0.8 beta2=0.999";
    mw_trainer *other = make(&s, custom_adam(0.02f, 0.1f, &rule), &err);
    mw_trainer_load(other, "run.safetensors", NULL, &err);
    CHECK_ERROR(err, MW_ERROR_FORMAT, "it has \"beta1=0.9 beta2=0.999");
    mw_trainer_destroy(other);
    mw_trainer_destroy(resumed);
    mw_trainer_destroy(through);
    folder_leave(folder);
}

/* ---- states of other shapes ---- */

/* A running mean of |g| over rows for matrices, a counter that starts at 3 for all, and nothing else. */
static mw_status row_states(void *user, const mw_update_parameter *of, mw_update_state *out, size_t *out_count,
                            mw_error *err)
{
    (void)user, (void)err;
    out[0] = (mw_update_state){.name = "count", .shape = mw_shape_scalar(), .initial = 3.0f};
    *out_count = 1;
    if (of->shape.rank == 2) {
        out[1].name = "rows";
        out[1].shape = MW_SHAPE(of->shape.dim[0], 1);
        *out_count = 2;
    }
    return MW_OK;
}

static mw_status row_update(const mw_update_call *c, mw_tensor **out_p, mw_tensor **out_states, mw_error *err)
{
    (void)err;
    mw_tensor *g = c->g;
    out_states[0] = mw_add_scalar(c->states[0], 1.0);
    if (c->state_count > 1) {
        mw_tensor *mean = mw_reduce_mean(mw_abs(g), MW_AXES(1), true);
        out_states[1] = mw_add(mw_mul_scalar(c->states[1], 0.5), mw_mul_scalar(mean, 0.5));
        g = mw_real_div(g, mw_add_scalar(out_states[1], 1e-3));
    }
    *out_p = mw_sub(c->p, mw_mul(g, mw_update_call_scalar(c, "learning_rate")));
    return MW_OK;
}

static void test_states_have_the_shapes_and_values_that_were_declared(void)
{
    mw_error err = {0};
    mw_optimizer_rule rule = mw_optimizer_rule_defaults("rows", row_update);
    rule.states = row_states;
    const setting settings[] = {{.device = MW_DEVICE_CPU, .segments = 3}, {.device = MW_DEVICE_ANE}};
    for (int i = 0; i < 2; i++) {
        float count = 0.0f, rows[SMALL_H] = {0}, bias[SMALL_H];
        mw_trainer *trainer = make(&settings[i], mw_optimizer_custom(0.02f, &rule), &err);
        mw_trainer_read(trainer, "fc1.weight#count", MW_F32, &count, 1, &err);
        CHECK_NEAR(count, 3.0, 0.0);
        train(trainer, false, 0, STEPS, &err);
        mw_trainer_read(trainer, "fc1.weight#rows", MW_F32, rows, SMALL_H, &err);
        mw_trainer_read(trainer, "fc1.bias#count", MW_F32, &count, 1, &err);
        mw_trainer_read(trainer, "fc1.bias", MW_F32, bias, SMALL_H, &err);
        CHECK_OK(err);
        CHECK_NEAR(count, 3.0 + STEPS, 0.0);
        for (int h = 0; h < SMALL_H; h++)
            CHECK(rows[h] > 0.0f && bias[h] != 0.0f);
        CHECK(mw__state_find(mw__trainer_state(trainer), "fc1.bias#rows") == NULL);
        mw_trainer_destroy(trainer);
    }
}

/* ---- the gradient comes without the loss scale, and that of a probe beside it ---- */

static mw_status plain_update(const mw_update_call *c, mw_tensor **out_p, mw_tensor **out_states, mw_error *err)
{
    (void)out_states, (void)err;
    mw_tensor *g = c->probe != NULL ? mw_sub(c->g, c->probe) : c->g;
    *out_p = mw_sub(c->p, mw_mul(g, mw_update_call_scalar(c, "learning_rate")));
    return MW_OK;
}

static void test_the_loss_scale_is_divided_out(void)
{
    const setting settings[] = {{.loss_scale = 1.0f}, {.loss_scale = 512.0f}, {.dynamic = true}};
    const mw_optimizer_rule rule = mw_optimizer_rule_defaults("plain", plain_update);
    mw_error err = {0};
    mw_trainer *sgd = make(&settings[0], mw_sgd(0.05f), &err);
    train(sgd, false, 0, STEPS, &err);
    for (int i = 0; i < 3; i++) { /* in fp32 a power of two changes no bit */
        setting s = settings[i];
        s.device = MW_DEVICE_CPU;
        mw_trainer *trainer = make(&s, mw_optimizer_custom(0.05f, &rule), &err);
        train(trainer, false, 0, STEPS, &err);
        float a[SMALL_H * SMALL_D], b[SMALL_H * SMALL_D];
        mw_trainer_read(sgd, "fc1.weight", MW_F32, a, SMALL_H * SMALL_D, &err);
        mw_trainer_read(trainer, "fc1.weight", MW_F32, b, SMALL_H * SMALL_D, &err);
        CHECK_OK(err);
        CHECK(memcmp(a, b, sizeof a) == 0);
        mw_trainer_destroy(trainer);
    }
    mw_trainer_destroy(sgd);
}

/* The loss is sum(w c), its probe sum(w^2) / 2: p' = p - rate (c - p). */
static void check_probe(mw_trainer_options *o, mw_graph *g, int accumulate)
{
    mw_error err = {0};
    mw_tensor *w = mw_graph_find(g, "w"), *c = mw_graph_find(g, "c");
    mw_optimizer_rule rule = mw_optimizer_rule_defaults("probe", plain_update);
    rule.probe = mw_mul_scalar(mw_reduce_sum(mw_square(w), MW_ALL_AXES, false), 0.5);
    o->loss = mw_reduce_sum(mw_mul(w, c), MW_ALL_AXES, false);
    o->optimizer = mw_optimizer_custom(0.25f, &rule);
    o->accumulate = accumulate;
    mw_trainer *trainer = mw_trainer_create(o, &err);
    const float feed[3] = {1.0f, -2.0f, 4.0f};
    const mw_feed feeds = {.name = "c", .dtype = MW_F32, .data = feed, .count = 3};
    float got[3] = {0};
    for (int i = 0; i < 2 * accumulate; i++)
        mw_trainer_step(trainer, &(mw_batch){.feeds = &feeds, .feed_count = 1, .examples = 3}, NULL, &err);
    mw_trainer_read(trainer, "w", MW_F32, got, 3, &err);
    CHECK_OK(err);
    for (int i = 0; i < 3; i++) {
        double p = 0.5;
        for (int t = 0; t < 2; t++)
            p -= 0.25 * ((double)feed[i] - p);
        CHECK_NEAR(got[i], p, 1e-6);
    }
    mw_trainer_destroy(trainer);
}

static void test_a_probe_gives_a_second_gradient(void)
{
    mw_graph *g = mw_graph_create(NULL, NULL);
    mw_parameter(g, "w", MW_F32, MW_SHAPE(3), mw_init_constant(0.5f));
    mw_input(g, "c", MW_F32, MW_SHAPE(3));
    mw_trainer_options o = mw_trainer_defaults(NULL, mw_sgd(0.1f));
    o.compile = engine_options(MW_DEVICE_CPU, 1);
    check_probe(&o, g, 1);
    o.precision.loss_scale = 32.0f;
    check_probe(&o, g, 1);
    check_probe(&o, g, 3);
    o.precision.loss_scale = 0.0f;
    o.precision.dynamic = true;
    check_probe(&o, g, 1);
    mw_graph_destroy(g);
}

/* ---- ranks ---- */

typedef struct rank_pair {
    float weights[2][NET_WEIGHTS]; /* built in, custom */
    mw_error err;
} rank_pair;

static void train_rank(mw_communicator *c, int rank, void *user)
{
    rank_pair *out = &((rank_pair *)user)[rank];
    const mw_optimizer_rule rule = custom_adam_rule();
    for (int kind = 0; kind < 2; kind++) {
        const net_setting s = {.optimizer = kind == 0 ? built_in_adam(0.01f, 0.1f) : custom_adam(0.01f, 0.1f, &rule)};
        mw_trainer *t = net_make(&s, 1, c, 1, &out->err);
        net_examples e;
        for (int step = 0; step < STEPS; step++)
            mw_trainer_step(t, net_batch(&e, step * 2 + rank), NULL, &out->err);
        net_read(t, out->weights[kind], &out->err);
        mw_trainer_destroy(t);
    }
}

static void test_ranks_update_with_a_rule_as_with_the_built_in_one(void)
{
    static rank_pair pairs[2];
    ranks_run(&(ranks_network){.size = 2}, train_rank, pairs);
    for (int rank = 0; rank < 2; rank++) {
        CHECK_OK(pairs[rank].err);
        CHECK(memcmp(pairs[rank].weights[0], pairs[rank].weights[1], sizeof pairs[rank].weights[0]) == 0);
    }
    CHECK(pairs[0].weights[0][0] != 0.0f);
}

/* ---- failing allocations ---- */

static void test_making_a_trainer_survives_failing_allocations(void)
{
    mw_optimizer_rule rule = custom_adam_rule();
    for (long n = 0;; n++) {
        failing_allocator failing = {.fail_at = n};
        const mw_allocator allocator = failing_allocator_of(&failing);
        mw_error err = {0};
        mw_graph *g = mw_graph_create(NULL, NULL);
        mw_tensor *w = mw_parameter(g, "w", MW_F32, MW_SHAPE(3), mw_init_zeros());
        mw_trainer_options o =
            mw_trainer_defaults(mw_reduce_sum(mw_square(w), MW_ALL_AXES, false), custom_adam(0.01f, 0.1f, &rule));
        o.compile = engine_options(MW_DEVICE_CPU, 1);
        o.compile.allocator = &allocator;
        mw_trainer *trainer = mw_trainer_create(&o, &err);
        CHECK((trainer != NULL) == (err.status == MW_OK));
        const bool done = trainer != NULL && !failing.failed;
        mw_trainer_destroy(trainer);
        mw_graph_destroy(g);
        CHECK_INT(failing.live, 0);
        if (done || n > 100000)
            break;
    }
}

int main(void)
{
    RUN(test_adam_as_a_rule_has_the_bits_of_the_built_in_one);
    RUN(test_a_refused_step_changes_no_state);
    RUN(test_a_checkpoint_goes_on_with_the_same_bits);
    RUN(test_states_have_the_shapes_and_values_that_were_declared);
    RUN(test_the_loss_scale_is_divided_out);
    RUN(test_a_probe_gives_a_second_gradient);
    RUN(test_ranks_update_with_a_rule_as_with_the_built_in_one);
    RUN(test_making_a_trainer_survives_failing_allocations);
    return check_finish();
}
