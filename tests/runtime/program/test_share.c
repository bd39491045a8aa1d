/* Trainers and programs on one device state: the bits of trainers that copy, nothing that crosses to the host,
 * lifetimes in any order, one call at a time, and what is refused. */
#include "support/check.h"
#include "support/failing.h"
#include "support/on_engine.h"

#include <millwright/inspect.h>
#include <millwright/millwright.h>
#include <pthread.h>
#include <string.h>

enum { N = 8, D = 3, H = 5 };

/* ---- two players of one game ---- */

/* "g": x -> g; "d": g -> a number. One trainer moves g by its frozen d, the other the other way round. */
static mw_tensor *build(mw_graph *graph)
{
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(N, D));
    mw_tensor *made = mw_tanh(mw_dense(x, H, "g"));
    return mw_reduce_mean(mw_square(mw_dense(made, 1, "d")), MW_ALL_AXES, false);
}

static mw_trainer *make_player(bool first, mw_device device, mw_trainer *share, const mw_allocator *allocator,
                               mw_error *err)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *loss = build(graph);
    const mw_parameter_group frozen = mw_parameter_group_frozen(first ? "d.*" : "g.*");
    mw_trainer_options o = mw_trainer_defaults(first ? loss : mw_neg(loss), first ? mw_adam(0.01f) : mw_sgd(0.05f));
    o.compile = engine_options(device, 1);
    o.compile.allocator = allocator;
    o.compile.seed = first || share != NULL ? 1 : 2; /* shared values are those that are there */
    o.groups = &frozen;
    o.group_count = 1;
    o.compile.share.trainer = share;
    mw_trainer *trainer = mw_trainer_create(&o, err);
    mw_graph_destroy(graph);
    return trainer;
}

static void step(mw_trainer *trainer, int index, mw_error *err)
{
    float x[N * D];
    for (int i = 0; i < N * D; i++)
        x[i] = (float)((i * 7 + index * 5) % 11) / 11.0f - 0.4f;
    const mw_feed feed = {.name = "x", .dtype = MW_F32, .data = x, .count = N * D};
    mw_trainer_step(trainer, &(mw_batch){.feeds = &feed, .feed_count = 1, .examples = N}, NULL, err);
}

typedef struct weights {
    float g[H * D], gb[H], d[H], db[1];
} weights;

static void read_all(mw_trainer *trainer, weights *out, mw_error *err)
{
    mw_trainer_read(trainer, "g.weight", MW_F32, out->g, H * D, err);
    mw_trainer_read(trainer, "g.bias", MW_F32, out->gb, H, err);
    mw_trainer_read(trainer, "d.weight", MW_F32, out->d, H, err);
    mw_trainer_read(trainer, "d.bias", MW_F32, out->db, 1, err);
}

static void write_all(mw_trainer *trainer, const weights *w, mw_error *err)
{
    mw_trainer_write(trainer, "g.weight", MW_F32, w->g, H * D, err);
    mw_trainer_write(trainer, "g.bias", MW_F32, w->gb, H, err);
    mw_trainer_write(trainer, "d.weight", MW_F32, w->d, H, err);
    mw_trainer_write(trainer, "d.bias", MW_F32, w->db, 1, err);
}

/* In turns; without sharing, the host carries the weights over. */
static void play(mw_device device, bool share, weights *out, mw_error *err)
{
    weights w;
    mw_trainer *a = make_player(true, device, NULL, NULL, err);
    mw_trainer *b = make_player(false, device, share ? a : NULL, NULL, err);
    mw_trainer *last = a; /* who moved last */
    const mw_trainer_counters before_a = mw_trainer_get_counters(a), before_b = mw_trainer_get_counters(b);
    for (int i = 0; i < 12; i++) {
        mw_trainer *mover = i % 3 == 2 ? b : a;
        if (!share) {
            read_all(last, &w, err);
            write_all(mover, &w, err);
        }
        step(mover, i, err);
        last = mover;
    }
    if (share) {
        CHECK_INT(mw_trainer_get_counters(a).state_bytes_in, before_a.state_bytes_in);
        CHECK_INT(mw_trainer_get_counters(b).state_bytes_in, before_b.state_bytes_in);
        CHECK_INT(mw_trainer_get_counters(a).state_bytes_out, 0);
        CHECK_INT(mw_trainer_get_counters(b).state_bytes_out, 0);
        CHECK_INT(before_b.state_bytes_in, 0); /* SGD of what is there */
    }
    memset(out, 0, sizeof *out);
    read_all(last, out, err);
    mw_trainer_destroy(b);
    mw_trainer_destroy(a);
}

static void test_two_trainers_in_turns_have_the_bits_of_two_that_copy(void)
{
    const mw_device devices[] = {MW_DEVICE_CPU, MW_DEVICE_ANE};
    for (int i = 0; i < 2; i++) {
        mw_error err = {0};
        weights shared, copied;
        play(devices[i], true, &shared, &err);
        play(devices[i], false, &copied, &err);
        CHECK_OK(err);
        CHECK(memcmp(&shared, &copied, sizeof shared) == 0);
        CHECK(shared.d[0] != 0.0f);
    }
}

static void test_destroying_either_first_leaves_the_other(void)
{
    for (int first = 0; first < 2; first++) {
        mw_error err = {0};
        weights before, after;
        mw_trainer *a = make_player(true, MW_DEVICE_CPU, NULL, NULL, &err);
        mw_trainer *b = make_player(false, MW_DEVICE_CPU, a, NULL, &err);
        mw_trainer *c = make_player(true, MW_DEVICE_CPU, b, NULL, &err); /* of one that borrows itself */
        step(a, 0, &err);
        read_all(a, &before, &err);
        mw_trainer_destroy(first == 0 ? a : b);
        read_all(c, &after, &err);
        CHECK(memcmp(&before, &after, sizeof before) == 0);
        step(first == 0 ? b : a, 1, &err);
        step(c, 2, &err);
        CHECK_OK(err);
        mw_trainer_destroy(first == 0 ? b : a);
        step(c, 3, &err);
        CHECK_OK(err);
        mw_trainer_destroy(c);
    }
}

/* ---- a network that follows, and one that acts ---- */

/* target' = target + rate (g.weight - target), as a program on the state of a trainer that has both. */
static mw_graph *build_follower(float rate)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *online = mw_parameter(graph, "g.weight", MW_F32, MW_SHAPE(H, D), mw_init_zeros());
    mw_tensor *target = mw_state(graph, "target.weight", MW_F32, MW_SHAPE(H, D), mw_init_zeros());
    mw_output(mw_add(target, mw_mul_scalar(mw_sub(online, target), rate)), "next");
    return graph;
}

static mw_trainer *make_online(mw_device device, mw_error *err)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *target = mw_state(graph, "target.weight", MW_F32, MW_SHAPE(H, D), mw_init_constant(1.0f));
    mw_tensor *loss = build(graph);
    mw_tensor *apart = mw_sub(mw_graph_find(graph, "g.weight"), target);
    loss = mw_add(loss, mw_reduce_mean(mw_square(apart), MW_ALL_AXES, false));
    mw_trainer *trainer = engine_trainer(loss, mw_sgd(0.1f), device, 1, err);
    mw_graph_destroy(graph);
    return trainer;
}

static mw_program *make_follower(mw_trainer *trainer, mw_device device, float rate, mw_error *err)
{
    mw_graph *graph = build_follower(rate);
    mw_compile_options o = engine_options(device, 1);
    o.share.trainer = trainer;
    mw_program *program = mw_program_create(graph, &o, err);
    mw_program_alias(program, "next", "target.weight", err);
    mw_graph_destroy(graph);
    return program;
}

static void test_a_program_moves_a_target_on_the_device(void)
{
    mw_error err = {0};
    float g[H * D], before[H * D], after[H * D], seen[H * D];
    mw_trainer *trainer = make_online(MW_DEVICE_CPU, &err);
    mw_program *follower = make_follower(trainer, MW_DEVICE_CPU, 0.25f, &err);
    step(trainer, 0, &err);
    mw_trainer_read(trainer, "g.weight", MW_F32, g, H * D, &err);
    mw_trainer_read(trainer, "target.weight", MW_F32, before, H * D, &err);
    const mw_trainer_counters counted = mw_trainer_get_counters(trainer);
    mw_program_run(follower, &err);
    CHECK_INT(mw_trainer_get_counters(trainer).state_bytes_in, counted.state_bytes_in);
    CHECK_INT(mw_trainer_get_counters(trainer).state_bytes_out, counted.state_bytes_out);
    mw_trainer_read(trainer, "target.weight", MW_F32, after, H * D, &err);
    mw_program_read(follower, "target.weight", MW_F32, seen, H * D, &err);
    CHECK_OK(err);
    CHECK(memcmp(after, seen, sizeof seen) == 0);
    for (int i = 0; i < H * D; i++)
        CHECK_NEAR(after[i], before[i] + 0.25f * (g[i] - before[i]), 1e-6);
    mw_trainer_destroy(trainer); /* the program has its state still */
    mw_program_run(follower, &err);
    mw_program_read(follower, "g.weight", MW_F32, seen, H * D, &err);
    CHECK_OK(err);
    CHECK(memcmp(g, seen, sizeof seen) == 0);
    mw_program_destroy(follower);
}

static void test_a_rate_of_1_copies_in_fp16_too(void)
{
    mw_error err = {0};
    float g[H * D], target[H * D];
    mw_trainer *trainer = make_online(MW_DEVICE_ANE, &err);
    mw_program *follower = make_follower(trainer, MW_DEVICE_ANE, 1.0f, &err);
    step(trainer, 0, &err);
    mw_trainer_write(trainer, "target.weight", MW_F32, (float[H * D]){0}, H * D, &err);
    mw_program_run(follower, &err);
    mw_trainer_read(trainer, "g.weight", MW_F32, g, H * D, &err);
    mw_trainer_read(trainer, "target.weight", MW_F32, target, H * D, &err);
    CHECK_OK(err);
    CHECK(memcmp(g, target, sizeof g) == 0);
    mw_program_destroy(follower);
    step(trainer, 1, &err);
    CHECK_OK(err);
    mw_trainer_destroy(trainer);
}

/* ---- one call at a time ---- */

typedef struct other_call {
    mw_trainer *trainer;
    mw_program *program;
    mw_error step, run;
} other_call;

static void *call_others(void *user)
{
    other_call *other = user;
    step(other->trainer, 0, &other->step);
    mw_program_run(other->program, &other->run);
    return NULL;
}

static float data_x[N * D];

static bool progress_uses_others(void *user, const mw_progress *progress)
{
    other_call *other = user;
    (void)progress;
    call_others(other); /* between the steps of this thread: allowed */
    return true;
}

static mw_dataset *make_data(mw_error *err)
{
    const mw_column column = {.name = "x", .dtype = MW_F32, .shape = MW_SHAPE(D), .data = data_x};
    return mw_dataset_create(&column, 1, N, false, err);
}

static void test_a_progress_callback_may_use_what_shares(void)
{
    mw_error err = {0};
    mw_trainer *a = make_player(true, MW_DEVICE_CPU, NULL, NULL, &err);
    other_call other = {.trainer = make_player(false, MW_DEVICE_CPU, a, NULL, &err)};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_output(mw_neg(mw_parameter(graph, "g.weight", MW_F32, MW_SHAPE(H, D), mw_init_zeros())), "y");
    mw_compile_options o = engine_options(MW_DEVICE_CPU, 1);
    o.share.trainer = other.trainer;
    other.program = mw_program_create(graph, &o, &err);
    mw_dataset *data = make_data(&err);
    mw_fit_options fit = mw_fit_defaults(data, 1);
    fit.progress.quiet = true;
    fit.progress.function = progress_uses_others;
    fit.progress.user = &other;
    CHECK_INT(mw_trainer_fit(a, &fit, &err), MW_ERROR_STOPPED);
    CHECK_OK(other.step);
    CHECK_OK(other.run);
    CHECK_INT(mw_trainer_steps(other.trainer), 1);
    mw_dataset_destroy(data);
    mw_program_destroy(other.program);
    mw_trainer_destroy(other.trainer);
    mw_trainer_destroy(a);
    mw_graph_destroy(graph);
}

/* Another thread, while a call on one of them is under way. */
static bool progress_starts_thread(void *user, const mw_progress *progress)
{
    pthread_t thread;
    (void)progress;
    if (pthread_create(&thread, NULL, call_others, user) == 0)
        pthread_join(thread, NULL);
    return true;
}

static void test_another_thread_cannot_use_what_shares(void)
{
    mw_error err = {0};
    mw_trainer *a = make_player(true, MW_DEVICE_CPU, NULL, NULL, &err);
    other_call other = {.trainer = make_player(false, MW_DEVICE_CPU, a, NULL, &err)};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_output(mw_neg(mw_parameter(graph, "g.weight", MW_F32, MW_SHAPE(H, D), mw_init_zeros())), "y");
    mw_compile_options o = engine_options(MW_DEVICE_CPU, 1);
    o.share.trainer = a;
    other.program = mw_program_create(graph, &o, &err);
    mw_dataset *data = make_data(&err);
    mw_fit_options fit = mw_fit_defaults(data, 1);
    fit.progress.quiet = true;
    fit.progress.function = progress_starts_thread;
    fit.progress.user = &other;
    mw_trainer_fit(a, &fit, &err);
    CHECK_ERROR(other.step, MW_ERROR_STATE, "the state that trainers share is in use");
    CHECK_ERROR(other.run, MW_ERROR_STATE, "the state that trainers share is in use");
    err = other.step = (mw_error){0};
    call_others(&other); /* and afterwards it can */
    CHECK_OK(other.step);
    mw_dataset_destroy(data);
    mw_program_destroy(other.program);
    mw_trainer_destroy(other.trainer);
    mw_trainer_destroy(a);
    mw_graph_destroy(graph);
}

/* ---- what is refused ---- */

static void refuse_trainer(mw_trainer *share, const char *name, mw_shape shape, mw_status status, const char *part)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *w = mw_parameter(graph, name, MW_F32, shape, mw_init_zeros());
    mw_trainer_options o = mw_trainer_defaults(mw_reduce_sum(mw_square(w), MW_ALL_AXES, false), mw_sgd(0.1f));
    o.compile = engine_options(MW_DEVICE_CPU, 1);
    o.compile.share.trainer = share;
    CHECK(mw_trainer_create(&o, &err) == NULL);
    CHECK_ERROR(err, status, part);
    mw_graph_destroy(graph);
}

static void refuse_program(mw_trainer *share, mw_dtype dtype, const char *name, mw_shape shape, mw_status status,
                           const char *part)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_output(mw_neg(mw_parameter(graph, name, dtype, shape, mw_init_zeros())), "y");
    mw_compile_options o = engine_options(MW_DEVICE_CPU, 1);
    o.share.trainer = share;
    CHECK(mw_program_create(graph, &o, &err) == NULL);
    CHECK_ERROR(err, status, part);
    mw_graph_destroy(graph);
}

static void test_what_differs_or_is_not_there_is_refused(void)
{
    mw_error err = {0};
    mw_trainer *a = make_player(true, MW_DEVICE_CPU, NULL, NULL, &err);
    refuse_trainer(a, "g.weight", MW_SHAPE(H, D + 1), MW_ERROR_SHAPE, "\"g.weight\" is fp32 [5, 4], and fp32 [5, 3]");
    refuse_trainer(a, "other", MW_SHAPE(H), MW_ERROR_ARGUMENT, "no parameter or state has the name");
    refuse_program(a, MW_F32, "g.weight", MW_SHAPE(D, H), MW_ERROR_SHAPE,
                   "\"g.weight\" is fp32 [3, 5], and fp32 [5, 3]");
    refuse_program(a, MW_F16, "g.weight", MW_SHAPE(H, D), MW_ERROR_DTYPE,
                   "\"g.weight\" is fp16 [5, 3], and fp32 [5, 3]");
    refuse_program(a, MW_F32, "other", MW_SHAPE(H), MW_ERROR_ARGUMENT, "no parameter or state of the name");
    mw_trainer *half = make_player(false, MW_DEVICE_ANE, a, NULL, &err);
    CHECK(half == NULL);
    CHECK_ERROR(err, MW_ERROR_DTYPE, "is fp16");
    mw_trainer_destroy(a);
    refuse_trainer(a, "g.weight", MW_SHAPE(H, D), MW_ERROR_STATE, "destroyed");
    refuse_program(a, MW_F32, "g.weight", MW_SHAPE(H, D), MW_ERROR_STATE, "destroyed");
}

static void test_options_that_do_not_go_together_are_refused(void)
{
    mw_error err = {0};
    mw_trainer *a = make_player(true, MW_DEVICE_CPU, NULL, NULL, &err);
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_trainer_options o = mw_trainer_defaults(build(graph), mw_sgd(0.1f));
    mw_tensor *w = mw_graph_find(graph, "g.weight");
    mw_gradcheck_options check = mw_gradcheck_defaults(o.loss, &w, 1);
    check.compile.share.trainer = a;
    CHECK(mw_gradcheck_run(&check, NULL, &err) != MW_OK);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "`compile.share.trainer` is not for it");
    mw_error_clear(&err);
    mw_graph *lent = mw_graph_create(NULL, &err);
    mw_output(mw_relu(mw_parameter(lent, "g.weight", MW_F32, MW_SHAPE(2), mw_init_zeros())), "y");
    mw_program *lender = mw_program_create(lent, NULL, &err);
    CHECK_OK(err);
    check.compile.share = (mw_share){.program = lender};
    CHECK(mw_gradcheck_run(&check, NULL, &err) != MW_OK);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "`compile.share.program` is not for it");
    mw_program_destroy(lender);
    mw_graph_destroy(lent);
    mw_error_clear(&err);
    mw_compare_options compare = mw_compare_defaults();
    compare.device.share.trainer = a;
    CHECK(mw_comparison_create(graph, &compare, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "share.trainer is not for it");
    mw_graph_destroy(graph);
    mw_trainer_destroy(a);
}

static void test_sharing_survives_failing_allocations(void)
{
    mw_error good = {0};
    mw_trainer *a = make_player(true, MW_DEVICE_CPU, NULL, NULL, &good);
    for (long n = 0; n < 100000; n += n < 40 ? 1 : 7) {
        failing_allocator failing = {.fail_at = n};
        const mw_allocator allocator = failing_allocator_of(&failing);
        mw_error err = {0};
        mw_trainer *b = make_player(false, MW_DEVICE_CPU, a, &allocator, &err);
        CHECK((b != NULL) == (err.status == MW_OK));
        const bool done = b != NULL && !failing.failed;
        mw_trainer_destroy(b);
        CHECK_INT(failing.live, 0);
        if (done)
            break;
    }
    step(a, 0, &good);
    CHECK_OK(good);
    mw_trainer_destroy(a);
}

int main(void)
{
    RUN(test_two_trainers_in_turns_have_the_bits_of_two_that_copy);
    RUN(test_destroying_either_first_leaves_the_other);
    RUN(test_a_program_moves_a_target_on_the_device);
    RUN(test_a_rate_of_1_copies_in_fp16_too);
    RUN(test_a_progress_callback_may_use_what_shares);
    RUN(test_another_thread_cannot_use_what_shares);
    RUN(test_what_differs_or_is_not_there_is_refused);
    RUN(test_options_that_do_not_go_together_are_refused);
    RUN(test_sharing_survives_failing_allocations);
    return check_finish();
}
