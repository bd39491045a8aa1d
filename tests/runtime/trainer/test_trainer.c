/* Training a small classifier: against the network in double, refusals that change nothing. */
#include "runtime/files.h"
#include "runtime/small.h"
#include "runtime/trainer/object/trainer_object.h"
#include "support/check.h"

#include <stdlib.h>

static const mw_device devices[] = {MW_DEVICE_CPU, MW_DEVICE_ANE};

/* ---- learning ---- */

static void test_the_loss_falls(void)
{
    const small_data data = small_make_data();
    const mw_optimizer optimizers[] = {mw_adam(0.02f), mw_sgd_momentum(0.1f, 0.9f, true), mw_sgd(0.3f),
                                       mw_adamw(0.02f, 0.01f)};
    for (int k = 0; k < 8; k++) {
        mw_error err = {0};
        mw_trainer *trainer = small_trainer(devices[k % 2], optimizers[k / 2], 0.0f, &err);
        CHECK_OK(err);
        REQUIRE(trainer != NULL);
        float first = 0, last = 0;
        for (int step = 0; step < 200; step++) {
            small_batch batch;
            float loss = 0;
            small_fill_batch(&batch, &data, step % (SMALL_EXAMPLES / SMALL_N) * SMALL_N);
            mw_trainer_step(trainer, &batch.batch, &loss, &err);
            first += step < 5 ? loss / 5 : 0;
            last += step >= 195 ? loss / 5 : 0;
        }
        CHECK_OK(err);
        CHECK(last < 0.4f * first);
        CHECK_INT(mw_trainer_get_info(trainer).steps, 200);
        mw_trainer_destroy(trainer);
    }
}

/* One step of gradient descent moves each parameter by -lr times a central difference of the loss in double. */
static void test_a_step_follows_the_gradient(void)
{
    const small_data data = small_make_data();
    const float rate = 0.5f;
    mw_error err = {0};
    mw_trainer *trainer = small_trainer(MW_DEVICE_CPU, mw_sgd(rate), 0.0f, &err);
    const small_weights before = small_read(trainer, &err);
    small_batch batch;
    float loss = 0;
    small_fill_batch(&batch, &data, 8);
    mw_trainer_step(trainer, &batch.batch, &loss, &err);
    const small_weights after = small_read(trainer, &err);
    CHECK_OK(err);
    CHECK_NEAR(loss, small_loss(&before, &data, 8, SMALL_N), 1e-5);
    double largest = 0, worst = 0;
    for (int i = 0; i < SMALL_PARAMETERS; i++) {
        small_weights up = before, down = before;
        up.value[i] += 1e-5;
        down.value[i] -= 1e-5;
        const double gradient = (small_loss(&up, &data, 8, SMALL_N) - small_loss(&down, &data, 8, SMALL_N)) / 2e-5;
        const double moved = (before.value[i] - after.value[i]) / (double)rate;
        largest = fmax(largest, fabs(gradient));
        worst = fmax(worst, fabs(gradient - moved));
    }
    CHECK(largest > 0.01); /* else the comparison says nothing */
    CHECK(worst < 1e-5);
    mw_trainer_destroy(trainer);
}

/* A power of two scales every gradient exactly, and gradient descent divides it out again. */
static void test_a_loss_scale_changes_no_bit_in_fp32(void)
{
    const small_data data = small_make_data();
    mw_error err = {0};
    mw_trainer *plain = small_trainer(MW_DEVICE_CPU, mw_sgd(0.1f), 0.0f, &err);
    mw_trainer *scaled = small_trainer(MW_DEVICE_CPU, mw_sgd(0.1f), 1024.0f, &err);
    for (int step = 0; step < 10; step++) {
        small_batch batch;
        small_fill_batch(&batch, &data, step % 5 * SMALL_N);
        mw_trainer_step(plain, &batch.batch, NULL, &err);
        mw_trainer_step(scaled, &batch.batch, NULL, &err);
    }
    CHECK_OK(err);
    REQUIRE(plain != NULL && scaled != NULL);
    const small_snapshot a = small_take(plain), b = small_take(scaled);
    small_check_same(&a, &b);
    mw_trainer_destroy(scaled);
    mw_trainer_destroy(plain);
}

static void test_equal_seeds_give_equal_bits(void)
{
    const small_data data = small_make_data();
    small_snapshot s[2];
    for (int k = 0; k < 2; k++) {
        mw_error err = {0};
        mw_trainer *trainer = small_trainer(MW_DEVICE_ANE, mw_adam(0.01f), 0.0f, &err);
        small_batch batch;
        small_fill_batch(&batch, &data, 0);
        for (int step = 0; step < 20; step++)
            mw_trainer_step(trainer, &batch.batch, NULL, &err);
        CHECK_OK(err);
        REQUIRE(trainer != NULL);
        s[k] = small_take(trainer);
        mw_trainer_destroy(trainer);
    }
    small_check_same(&s[0], &s[1]);
}

/* ---- another library behind e5rt ---- */

#if defined(MW_E5RT_LIBRARY)
/* Two batches for an update, or three steps in a dispatch, or plain steps. */
static mw_trainer *create_with(int accumulate, int dispatch_steps, bool foreign, mw_error *err)
{
    small_net net = small_create(NULL);
    mw_trainer_options options = mw_trainer_defaults(net.loss, mw_adam(0.01f));
    options.compile.device = MW_DEVICE_CPU;
    options.compile.seed = 3;
    options.accumulate = accumulate;
    options.dispatch_steps = dispatch_steps;
    if (foreign)
        setenv("MW_E5RT_LIBRARY", MW_E5RT_LIBRARY, 1);
    else
        options.compile.provider = MW_PROVIDER_ENGINE;
    mw_trainer *trainer = mw_trainer_create(&options, err);
    unsetenv("MW_E5RT_LIBRARY");
    mw_graph_destroy(net.graph);
    return trainer;
}

static mw_trainer *create_foreign(mw_error *err) { return create_with(0, 0, true, err); }
#endif

static void test_another_library_trains_to_the_same_bits(void)
{
#if defined(MW_E5RT_LIBRARY)
    const small_data data = small_make_data();
    mw_error err = {0};
    mw_trainer *foreign = create_foreign(&err), *own = small_trainer(MW_DEVICE_CPU, mw_adam(0.01f), 0.0f, &err);
    CHECK_OK(err);
    REQUIRE(foreign != NULL && own != NULL);
    CHECK_CONTAINS(mw_program_get_info(mw_trainer_program(foreign)).where, "MW_E5RT_LIBRARY");
    CHECK(foreign->step.shadow != NULL && own->step.shadow == NULL);
    small_batch batch;
    small_fill_batch(&batch, &data, 0);
    for (int step = 0; step < 5; step++) {
        mw_trainer_step(foreign, &batch.batch, NULL, &err);
        mw_trainer_step(own, &batch.batch, NULL, &err);
        CHECK(foreign->step.shadow == NULL); /* the first step has proved it */
    }
    CHECK_OK(err);
    const small_snapshot a = small_take(foreign), b = small_take(own);
    small_check_same(&a, &b);
    mw_trainer_destroy(own);
    mw_trainer_destroy(foreign);
#else
    SKIP("built without the engine's own library");
#endif
}

/* The program that adds up gradients has a shadow of its own; dispatches of several steps begin behind the proof. */
static void test_another_library_gathers_and_dispatches_to_the_same_bits(void)
{
#if defined(MW_E5RT_LIBRARY)
    enum { STEPS = 9 };
    const small_data data = small_make_data();
    for (int k = 0; k < 2; k++) {
        mw_error err = {0};
        mw_trainer *trainers[2] = {NULL};
        small_snapshot taken[2];
        small_batch batches[STEPS];
        mw_batch list[STEPS];
        for (int i = 0; i < STEPS; i++) {
            small_fill_batch(&batches[i], &data, i % 5 * SMALL_N);
            list[i] = batches[i].batch;
        }
        for (int own = 0; own < 2; own++) {
            trainers[own] = create_with(k == 0 ? 2 : 0, k == 0 ? 0 : 3, own == 0, &err);
            CHECK_OK(err);
            REQUIRE(trainers[own] != NULL);
            CHECK((trainers[own]->accumulation.shadow != NULL) == (own == 0 && k == 0));
            mw_trainer_step_many(trainers[own], list, STEPS, NULL, &err);
            CHECK(trainers[own]->step.shadow == NULL && trainers[own]->accumulation.shadow == NULL);
            CHECK_INT(mw_trainer_get_info(trainers[own]).steps, k == 0 ? STEPS / 2 : STEPS);
            taken[own] = small_take(trainers[own]);
        }
        CHECK_OK(err);
        small_check_same(&taken[0], &taken[1]);
        mw_trainer_destroy(trainers[0]);
        mw_trainer_destroy(trainers[1]);
    }
#else
    SKIP("built without the engine's own library");
#endif
}

/* A shadow that reads other weights stands for a library that overwrites an input too early. */
static void test_unsafe_aliasing_is_found_in_the_first_step(void)
{
#if defined(MW_E5RT_LIBRARY)
    const small_data data = small_make_data();
    mw_error err = {0};
    mw_trainer *trainer = create_foreign(&err);
    CHECK_OK(err);
    REQUIRE(trainer != NULL && trainer->step.shadow != NULL);
    const size_t port = mw__program_find(trainer->step.shadow, "fc1.weight");
    mw__device_buffer other;
    mw__dispatch_buffer_alloc(&trainer->target.symbols, SMALL_H * SMALL_D * sizeof(float), &other, &err);
    mw__dispatch_rebind(trainer->step.shadow->dispatch, port, &other, &err);
    CHECK_OK(err);
    small_batch batch;
    small_fill_batch(&batch, &data, 0);
    CHECK_INT(mw_trainer_step(trainer, &batch.batch, NULL, &err), MW_ERROR_DEVICE);
    CHECK_ERROR(err, MW_ERROR_DEVICE, "shares memory");
    CHECK_INT(mw_trainer_get_info(trainer).steps, 0);
    err = (mw_error){0};
    CHECK_INT(mw_trainer_step(trainer, &batch.batch, NULL, &err), MW_ERROR_STATE);
    err = (mw_error){0};
    CHECK_INT(mw_trainer_save(trainer, scratch("dead"), NULL, &err), MW_ERROR_STATE);
    err = (mw_error){0};
    CHECK_INT(mw_trainer_save_weights(trainer, scratch("dead"), &err), MW_ERROR_STATE);
    CHECK(!file_exists(scratch("dead")));
    mw__dispatch_buffer_release(&trainer->target.symbols, &other);
    mw_trainer_destroy(trainer);
#else
    SKIP("built without the engine's own library");
#endif
}

/* ---- refusals that change nothing ---- */

static void test_a_nan_in_the_batch_is_refused(void)
{
    for (int k = 0; k < 2; k++) {
        mw_error err = {0};
        small_data data = small_make_data();
        mw_trainer *trainer = small_trainer(devices[k], mw_adam(0.01f), 0.0f, &err);
        small_batch batch;
        small_fill_batch(&batch, &data, 0);
        for (int step = 0; step < 3; step++)
            mw_trainer_step(trainer, &batch.batch, NULL, &err);
        CHECK_OK(err);
        REQUIRE(trainer != NULL);
        const small_snapshot before = small_take(trainer);
        data.x[2 * SMALL_D + 1] = k == 0 ? NAN : -INFINITY;
        float loss = 5;
        batch.ids[2] = 4711;
        CHECK_INT(mw_trainer_step(trainer, &batch.batch, &loss, &err), MW_ERROR_NUMERIC);
        CHECK_ERROR(err, MW_ERROR_NUMERIC, "step 4");
        CHECK_CONTAINS(err.message, "\"x\" element 11, example 2 (id 4711)");
        CHECK(loss == 0.0f);
        CHECK_INT(mw_trainer_get_info(trainer).steps, 3);
        CHECK_INT(mw_trainer_get_info(trainer).counters.refused_steps, 1);
        const small_snapshot after = small_take(trainer);
        small_check_same(&before, &after);
        err = (mw_error){0};
        data.x[2 * SMALL_D + 1] = 0.5f;
        CHECK_INT(mw_trainer_step(trainer, &batch.batch, &loss, &err), MW_OK); /* and training goes on */
        CHECK_INT(mw_trainer_get_info(trainer).steps, 4);
        mw_trainer_destroy(trainer);
    }
}

static void test_what_overflows_fp16_is_refused(void)
{
    small_data data = small_make_data();
    mw_error err = {0};
    mw_trainer *trainer = small_trainer(MW_DEVICE_ANE, mw_sgd(0.1f), 0.0f, &err);
    small_batch batch;
    small_fill_batch(&batch, &data, 0);
    data.x[0] = 1e6f;
    CHECK_INT(mw_trainer_step(trainer, &batch.batch, NULL, &err), MW_ERROR_NUMERIC);
    CHECK_ERROR(err, MW_ERROR_NUMERIC, "too large for fp16");
    mw_trainer_destroy(trainer);
}

/* A scale can take a finite value out of fp32 as well: the message names the type that could not hold it. */
static void test_what_overflows_fp32_is_refused(void)
{
    small_data data = small_make_data();
    mw_error err = {0};
    mw_trainer *trainer = small_trainer(MW_DEVICE_CPU, mw_sgd(0.1f), 0.0f, &err);
    small_batch batch;
    small_fill_batch(&batch, &data, 0);
    data.x[0] = 1e30f;
    batch.feeds[0].scale = 1e30f;
    CHECK_INT(mw_trainer_step(trainer, &batch.batch, NULL, &err), MW_ERROR_NUMERIC);
    CHECK_ERROR(err, MW_ERROR_NUMERIC, "too large for fp32");
    mw_trainer_destroy(trainer);
}

/* A learning rate that throws the weights away: the first step is finite, a later loss is not. */
static void test_an_infinite_loss_is_refused(void)
{
    const small_data data = small_make_data();
    const float rates[] = {1e38f, 60000.0f};
    for (int k = 0; k < 2; k++) {
        mw_error err = {0};
        mw_trainer *trainer = small_trainer(devices[k], mw_sgd(rates[k]), 1.0f, &err);
        CHECK_OK(err);
        REQUIRE(trainer != NULL);
        small_snapshot before = small_take(trainer);
        int64_t good = 0;
        while (good < 50) {
            small_batch batch;
            small_fill_batch(&batch, &data, (int)(good % 5) * SMALL_N);
            before = small_take(trainer);
            if (mw_trainer_step(trainer, &batch.batch, NULL, &err) != MW_OK)
                break;
            good++;
        }
        CHECK_ERROR(err, MW_ERROR_NUMERIC, "the loss is");
        CHECK_INT(mw_trainer_get_info(trainer).steps, good);
        const small_snapshot after = small_take(trainer);
        small_check_same(&before, &after);
        mw_trainer_destroy(trainer);
    }
}

/* With a loss scale the gradients overflow although the loss is finite. */
static void test_an_overflowing_gradient_is_refused(void)
{
    const small_data data = small_make_data();
    mw_error err = {0};
    mw_trainer *trainer = small_trainer(MW_DEVICE_CPU, mw_adam(0.01f), 0x1p127f, &err);
    CHECK_OK(err);
    REQUIRE(trainer != NULL);
    const float large[SMALL_C * SMALL_H] = {30.0f, -20.0f, 10.0f, -30.0f, 20.0f, -10.0f};
    mw_trainer_write(trainer, "fc2.weight", MW_F32, large, SMALL_C * SMALL_H, &err);
    const small_snapshot before = small_take(trainer);
    small_batch batch;
    small_fill_batch(&batch, &data, 0);
    CHECK_INT(mw_trainer_step(trainer, &batch.batch, NULL, &err), MW_ERROR_NUMERIC);
    CHECK_ERROR(err, MW_ERROR_NUMERIC, "in the gradient of matmul \"matmul_1\" (parameter \"fc2.weight\")");
    const small_snapshot after = small_take(trainer);
    small_check_same(&before, &after);
    CHECK_INT(mw_trainer_get_info(trainer).steps, 0);
    mw_trainer_destroy(trainer);
}

/* ---- feeds ---- */

static void test_wrong_feeds_are_named(void)
{
    const small_data data = small_make_data();
    mw_error err = {0};
    mw_trainer *trainer = small_trainer(MW_DEVICE_CPU, mw_sgd(0.1f), 0.0f, &err);
    const small_snapshot before = small_take(trainer);
    small_batch batch;
    small_fill_batch(&batch, &data, 0);
    batch.feeds[1].name = "labels";
    CHECK_INT(mw_trainer_step(trainer, &batch.batch, NULL, &err), MW_ERROR_ARGUMENT);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "no feed \"y\" (it has: \"x\", \"labels\")");
    err = (mw_error){0};
    batch.batch.feed_count = 1;
    CHECK_INT(mw_trainer_step(trainer, &batch.batch, NULL, &err), MW_ERROR_ARGUMENT);
    err = (mw_error){0};
    small_fill_batch(&batch, &data, 0);
    batch.feeds[0].count--;
    CHECK_INT(mw_trainer_step(trainer, &batch.batch, NULL, &err), MW_ERROR_SHAPE);
    CHECK_ERROR(err, MW_ERROR_SHAPE, "feed \"x\" has 39 elements, its port 40");
    err = (mw_error){0};
    small_fill_batch(&batch, &data, 0);
    batch.feeds[0].dtype = MW_BF16;
    CHECK_INT(mw_trainer_step(trainer, &batch.batch, NULL, &err), MW_ERROR_DTYPE);
    CHECK_ERROR(err, MW_ERROR_DTYPE, "\"x\"");
    err = (mw_error){0};
    small_fill_batch(&batch, &data, 0);
    batch.feeds[0].data = NULL;
    CHECK_INT(mw_trainer_step(trainer, &batch.batch, NULL, &err), MW_ERROR_ARGUMENT);
    CHECK_INT(mw_trainer_step(trainer, &batch.batch, NULL, &err), MW_ERROR_ARGUMENT); /* a set error stays */
    CHECK_INT(mw_trainer_step(trainer, NULL, NULL, NULL), MW_ERROR_ARGUMENT);
    const small_snapshot after = small_take(trainer);
    small_check_same(&before, &after);
    CHECK_INT(mw_trainer_get_info(trainer).steps, 0);
    mw_trainer_destroy(trainer);
}

/* Feeds may come in another order than the last time, and with others between them. */
static void test_feeds_are_matched_by_name(void)
{
    const small_data data = small_make_data();
    mw_error err = {0};
    mw_trainer *trainer = small_trainer(MW_DEVICE_CPU, mw_sgd(0.1f), 0.0f, &err);
    const small_weights start = small_read(trainer, &err);
    small_batch batch;
    float loss = 0;
    small_fill_batch(&batch, &data, 0);
    mw_trainer_step(trainer, &batch.batch, &loss, &err);
    CHECK_NEAR(loss, small_loss(&start, &data, 0, SMALL_N), 1e-5);
    const small_weights second = small_read(trainer, &err);
    const mw_feed swapped[3] = {{.name = "id"}, batch.feeds[1], batch.feeds[0]};
    batch.batch.feeds = swapped;
    batch.batch.feed_count = 3;
    mw_trainer_step(trainer, &batch.batch, &loss, &err);
    CHECK_OK(err);
    CHECK_NEAR(loss, small_loss(&second, &data, 0, SMALL_N), 1e-5);
    mw_trainer_destroy(trainer);
}

static void test_labels_out_of_range_are_refused(void)
{
    for (int k = 0; k < 2; k++) {
        small_data data = small_make_data();
        mw_error err = {0};
        mw_trainer *trainer = small_trainer(devices[k], mw_sgd(0.1f), 0.0f, &err);
        const small_snapshot before = small_take(trainer);
        small_batch batch;
        small_fill_batch(&batch, &data, 0);
        data.y[5] = SMALL_C;
        CHECK_INT(mw_trainer_step(trainer, &batch.batch, NULL, &err), MW_ERROR_ARGUMENT);
        CHECK_ERROR(err, MW_ERROR_ARGUMENT, "is 3, not in 0 .. 2");
        err = (mw_error){0};
        data.y[5] = -1;
        CHECK_INT(mw_trainer_step(trainer, &batch.batch, NULL, &err), MW_ERROR_ARGUMENT);
        CHECK_ERROR(err, MW_ERROR_ARGUMENT, "element 5, example 5");
        err = (mw_error){0};
        const float labels[SMALL_N] = {0, 1, 2, 0, 1.5f, 0, 0, 0};
        batch.feeds[1].dtype = MW_F32;
        batch.feeds[1].data = labels;
        CHECK_INT(mw_trainer_step(trainer, &batch.batch, NULL, &err), MW_ERROR_ARGUMENT);
        CHECK_ERROR(err, MW_ERROR_ARGUMENT, "\"y\"");
        const small_snapshot after = small_take(trainer);
        small_check_same(&before, &after);
        mw_trainer_destroy(trainer);
    }
}

/* ---- numbers of the optimizer ---- */

static void test_a_batch_of_more_examples_than_its_extent_is_refused(void)
{
    const small_data data = small_make_data();
    const int64_t wrong[] = {-1, SMALL_N + 1};
    for (int k = 0; k < 2; k++) {
        mw_error err = {0};
        mw_trainer *trainer = small_trainer(MW_DEVICE_CPU, mw_sgd(0.1f), 0.0f, &err);
        small_batch batch;
        small_fill_batch(&batch, &data, 0);
        batch.batch.examples = wrong[k];
        CHECK_INT(mw_trainer_step(trainer, &batch.batch, NULL, &err), MW_ERROR_ARGUMENT);
        CHECK_CONTAINS(err.message, "examples of");
        mw_trainer_destroy(trainer);
    }
}

/* Small gradients survive fp16 without the user's doing, and fp32 is left alone. */
static void test_the_default_loss_scale_and_epsilon_follow_the_device(void)
{
    mw_error err = {0};
    mw_trainer *half = small_trainer(MW_DEVICE_ANE, mw_adam(1e-3f), 0.0f, &err);
    mw_trainer *single = small_trainer(MW_DEVICE_CPU, mw_adam(1e-3f), 0.0f, &err);
    mw_trainer *plain = small_trainer(MW_DEVICE_ANE, mw_adam(1e-3f), 1.0f, &err);
    CHECK_OK(err);
    REQUIRE(half != NULL && single != NULL && plain != NULL);
    CHECK_CONTAINS(mw__trainer_description(half), "loss_scale=256");
    CHECK_CONTAINS(mw__trainer_description(half), "epsilon=1e-08");
    CHECK_CONTAINS(mw__trainer_description(single), "loss_scale=1");
    CHECK_CONTAINS(mw__trainer_description(single), "epsilon=1e-08");
    CHECK_CONTAINS(mw__trainer_description(plain), "epsilon=2e-06");
    mw_trainer_destroy(plain);
    mw_trainer_destroy(single);
    mw_trainer_destroy(half);
}

static void test_scalars_that_fp16_loses_are_refused(void)
{
    mw_error err = {0};
    CHECK(small_trainer(MW_DEVICE_ANE, mw_sgd(1e-9f), 0.0f, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_NUMERIC, "learning_rate");
    err = (mw_error){0};
    mw_trainer *trainer = small_trainer(MW_DEVICE_ANE, mw_sgd(0.1f), 0.0f, &err);
    CHECK_INT(mw_trainer_set_learning_rate(trainer, 1e-9f, &err), MW_ERROR_NUMERIC);
    CHECK_ERROR(err, MW_ERROR_NUMERIC, "learning_rate");
    CHECK(mw_trainer_get_info(trainer).learning_rate == 0.1f);
    err = (mw_error){0};
    CHECK_INT(mw_trainer_set_learning_rate(trainer, NAN, &err), MW_ERROR_ARGUMENT);
    err = (mw_error){0};
    CHECK_INT(mw_trainer_set_learning_rate(trainer, 0.0f, &err), MW_OK);
    mw_trainer_destroy(trainer);
    trainer = small_trainer(MW_DEVICE_CPU, mw_sgd(1e-9f), 0.0f, &err); /* fp32 holds it */
    CHECK_OK(err);
    mw_trainer_destroy(trainer);
}

static void test_the_learning_rate_counts_from_the_next_step(void)
{
    const small_data data = small_make_data();
    mw_error err = {0};
    mw_trainer *trainer = small_trainer(MW_DEVICE_CPU, mw_sgd(0.5f), 0.0f, &err);
    const small_snapshot before = small_take(trainer);
    small_batch batch;
    small_fill_batch(&batch, &data, 0);
    mw_trainer_set_learning_rate(trainer, 0.0f, &err);
    mw_trainer_step(trainer, &batch.batch, NULL, &err);
    CHECK_OK(err);
    const small_snapshot after = small_take(trainer);
    small_check_same(&before, &after);
    mw_trainer_set_learning_rate(trainer, 0.5f, &err);
    mw_trainer_step(trainer, &batch.batch, NULL, &err);
    const small_snapshot moved = small_take(trainer);
    CHECK(memcmp(before.bytes, moved.bytes, before.size) != 0);
    mw_trainer_destroy(trainer);
}

/* ---- creating ---- */

static void test_create_refuses_what_cannot_be_trained(void)
{
    mw_error err = {0};
    small_net net = small_create(NULL), other = small_create(NULL);
    mw_trainer_options options = {0};
    CHECK(mw_trainer_create(&options, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "mw_trainer_defaults");
    err = (mw_error){0};
    options = mw_trainer_defaults(NULL, mw_sgd(0.1f));
    CHECK(mw_trainer_create(&options, &err) == NULL);
    CHECK_INT(err.status, MW_ERROR_ARGUMENT);
    err = (mw_error){0};
    options = mw_trainer_defaults(net.logits, mw_sgd(0.1f));
    CHECK(mw_trainer_create(&options, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_SHAPE, "24 elements");
    err = (mw_error){0};
    options = mw_trainer_defaults(net.loss, mw_sgd(0.1f));
    options.metric = other.accuracy;
    CHECK(mw_trainer_create(&options, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "metric");
    err = (mw_error){0};
    options = mw_trainer_defaults(mw_reduce_mean(net.x, MW_ALL_AXES, false), mw_sgd(0.1f));
    CHECK(mw_trainer_create(&options, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "no parameter");
    err = (mw_error){0};
    options = mw_trainer_defaults(net.loss, mw_sgd(0.1f));
    options.precision.loss_scale = 3.0f;
    CHECK(mw_trainer_create(&options, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "power of two");
    err = (mw_error){0};
    options = mw_trainer_defaults(net.loss, mw_sgd(-1.0f));
    CHECK(mw_trainer_create(&options, &err) == NULL);
    CHECK_INT(err.status, MW_ERROR_ARGUMENT);
    mw_graph_destroy(other.graph);
    mw_graph_destroy(net.graph);
}

static void test_the_program_aliases_every_state_tensor(void)
{
    mw_error err = {0};
    mw_trainer *trainer = small_trainer(MW_DEVICE_CPU, mw_adam(0.01f), 0.0f, &err);
    CHECK_OK(err);
    REQUIRE(trainer != NULL);
    mw_program *program = mw_trainer_program(trainer);
    int outputs = 0, aliased = 0;
    mw_port port;
    for (size_t i = 0; mw_program_port_at(program, i, &port); i++) {
        char next[96];
        outputs += port.is_output;
        if (port.is_output || (!port.is_parameter && strchr(port.name, '#') == NULL))
            continue;
        snprintf(next, sizeof next, "%s#next", port.name);
        aliased += mw_program_view(program, port.name, &err) == mw_program_view(program, next, &err);
    }
    CHECK_OK(err);
    CHECK_INT(aliased, 12); /* four parameters, m and v of each */
    CHECK_INT(outputs, 14); /* and loss and ok */
    mw_trainer_destroy(trainer);
}

/* ---- element types and parameters beside the loss ---- */

/* Layers in fp32 and fp16, in both orders: each type has scalars of its own. */
static mw_tensor *mixed_logits(mw_tensor *x, mw_dtype first, mw_dtype second)
{
    mw_tensor *hidden = mw_tanh(mw_dense(mw_cast(x, first), SMALL_H, "fc1"));
    return mw_dense(mw_cast(hidden, second), SMALL_C, "fc2");
}

static void test_parameters_of_two_types_train_together(void)
{
    const small_data data = small_make_data();
    const mw_dtype types[][2] = {{MW_F32, MW_F16}, {MW_F16, MW_F32}, {MW_F16, MW_F16}};
    for (int k = 0; k < 6; k++) {
        mw_error err = {0};
        mw_graph *graph = mw_graph_create(NULL, NULL);
        mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(SMALL_N, SMALL_D));
        mw_tensor *y = mw_input(graph, "y", MW_I32, MW_SHAPE(SMALL_N));
        mw_tensor *logits = mixed_logits(x, types[k / 2][0], types[k / 2][1]);
        mw_trainer_options options = mw_trainer_defaults(mw_cross_entropy(logits, y), mw_adam(0.02f));
        options.compile.device = devices[k % 2];
        options.compile.provider = MW_PROVIDER_ENGINE;
        mw_trainer *trainer = mw_trainer_create(&options, &err);
        mw_graph_destroy(graph);
        float first = 0, last = 0;
        for (int step = 0; step < 200; step++) {
            small_batch batch;
            float loss = 0;
            small_fill_batch(&batch, &data, step % 5 * SMALL_N);
            mw_trainer_step(trainer, &batch.batch, &loss, &err);
            first += step < 5 ? loss / 5 : 0;
            last += step >= 195 ? loss / 5 : 0;
        }
        CHECK_OK(err);
        CHECK(last < 0.4f * first);
        mw_trainer_destroy(trainer);
    }
}

/* A second head that only the prediction uses is state too: seeded, readable, never trained. */
static void test_a_parameter_of_the_prediction_alone_is_kept(void)
{
    const small_data data = small_make_data();
    mw_error err = {0};
    small_net net = small_create(NULL);
    const float head[SMALL_C] = {1.0f, 2.0f, 3.0f};
    mw_tensor *extra = mw_parameter(net.graph, "head", MW_F32, MW_SHAPE(SMALL_C), mw_init_data(head));
    mw_trainer_options options = mw_trainer_defaults(net.loss, mw_adam(0.01f));
    options.prediction = mw_add(mw_mul_scalar(net.logits, 0.0), extra);
    options.compile.provider = MW_PROVIDER_ENGINE;
    mw_trainer *trainer = mw_trainer_create(&options, &err);
    mw_graph_destroy(net.graph);
    small_batch batch;
    float out[SMALL_N * SMALL_C] = {0}, back[SMALL_C] = {0};
    small_fill_batch(&batch, &data, 0);
    mw_trainer_step(trainer, &batch.batch, NULL, &err);
    mw_trainer_predict(trainer, &batch.batch, MW_F32, out, SMALL_N * SMALL_C, &err);
    mw_trainer_read(trainer, "head", MW_F32, back, SMALL_C, &err);
    CHECK_OK(err);
    CHECK(memcmp(head, back, sizeof head) == 0);
    CHECK(out[0] == 1.0f && out[SMALL_N * SMALL_C - 1] == 3.0f);
    CHECK_INT(mw_trainer_read(trainer, "head#m", MW_F32, back, SMALL_C, &err), MW_ERROR_ARGUMENT);
    mw_trainer_destroy(trainer);
}

/* ---- reading and writing ---- */

static void test_parameters_are_read_and_written_by_name(void)
{
    for (int k = 0; k < 2; k++) {
        mw_error err = {0};
        mw_trainer *trainer = small_trainer(devices[k], mw_adam(0.01f), 0.0f, &err);
        const float values[SMALL_C] = {0.5f, -1.25f, 3.0f};
        float back[SMALL_C] = {0};
        mw_trainer_write(trainer, "fc2.bias", MW_F32, values, SMALL_C, &err);
        mw_trainer_read(trainer, "fc2.bias", MW_F32, back, SMALL_C, &err);
        CHECK_OK(err);
        CHECK(memcmp(values, back, sizeof back) == 0);
        CHECK_INT(mw_trainer_read(trainer, "fc3.bias", MW_F32, back, SMALL_C, &err), MW_ERROR_ARGUMENT);
        CHECK_ERROR(err, MW_ERROR_ARGUMENT, "fc3.bias");
        err = (mw_error){0};
        CHECK_INT(mw_trainer_write(trainer, "fc2.bias", MW_F32, values, SMALL_C - 1, &err), MW_ERROR_SHAPE);
        err = (mw_error){0};
        const float bad[SMALL_C] = {0.0f, NAN, k == 1 ? 1e6f : 0.0f};
        CHECK_INT(mw_trainer_write(trainer, "fc2.bias", MW_F32, bad, SMALL_C, &err), MW_ERROR_NUMERIC);
        CHECK_ERROR(err, MW_ERROR_NUMERIC, "element 1");
        err = (mw_error){0};
        mw_trainer_read(trainer, "fc2.bias", MW_F32, back, SMALL_C, &err);
        CHECK(memcmp(values, back, sizeof back) == 0);
        mw_trainer_destroy(trainer);
    }
}

int main(void)
{
    unsetenv("MW_E5RT_LIBRARY");
    RUN(test_the_loss_falls);
    RUN(test_a_step_follows_the_gradient);
    RUN(test_a_loss_scale_changes_no_bit_in_fp32);
    RUN(test_equal_seeds_give_equal_bits);
    RUN(test_another_library_trains_to_the_same_bits);
    RUN(test_another_library_gathers_and_dispatches_to_the_same_bits);
    RUN(test_unsafe_aliasing_is_found_in_the_first_step);
    RUN(test_a_nan_in_the_batch_is_refused);
    RUN(test_what_overflows_fp16_is_refused);
    RUN(test_what_overflows_fp32_is_refused);
    RUN(test_an_infinite_loss_is_refused);
    RUN(test_an_overflowing_gradient_is_refused);
    RUN(test_wrong_feeds_are_named);
    RUN(test_feeds_are_matched_by_name);
    RUN(test_labels_out_of_range_are_refused);
    RUN(test_a_batch_of_more_examples_than_its_extent_is_refused);
    RUN(test_the_default_loss_scale_and_epsilon_follow_the_device);
    RUN(test_scalars_that_fp16_loses_are_refused);
    RUN(test_the_learning_rate_counts_from_the_next_step);
    RUN(test_create_refuses_what_cannot_be_trained);
    RUN(test_the_program_aliases_every_state_tensor);
    RUN(test_parameters_of_two_types_train_together);
    RUN(test_a_parameter_of_the_prediction_alone_is_kept);
    RUN(test_parameters_are_read_and_written_by_name);
    return check_finish();
}
