/* What a trainer can be asked for beside an optimizer: groups, clipping, accumulation, averages, a dynamic loss scale.
 * Gradients come from central differences of the loss in double. */
#include "runtime/files.h"
#include "runtime/small.h"
#include "support/check.h"
#include "support/evaluated.h"
#include "support/failing.h"
#include "support/setting.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const mw_device devices[] = {MW_DEVICE_CPU, MW_DEVICE_ANE};

static mw_trainer_options options_of(const small_net *net, mw_device device, mw_optimizer optimizer)
{
    mw_trainer_options options = mw_trainer_defaults(net->loss, optimizer);
    options.metric = net->accuracy;
    options.prediction = net->logits;
    options.compile.device = device;
    options.compile.provider = MW_PROVIDER_ENGINE;
    options.compile.seed = 3;
    return options;
}

static mw_trainer *create(const mw_trainer_options *options, small_net *net, mw_error *err)
{
    mw_trainer *trainer = mw_trainer_create(options, err);
    mw_graph_destroy(net->graph);
    return trainer;
}

static void step(mw_trainer *trainer, const small_data *data, int batch, mw_error *err)
{
    small_batch b;
    small_fill_batch(&b, data, batch * SMALL_N);
    mw_trainer_step(trainer, &b.batch, NULL, err);
}

typedef struct gradient {
    double value[SMALL_PARAMETERS];
} gradient;

static gradient differences(const small_weights *at, const small_data *data, int first, int count)
{
    gradient g;
    for (int i = 0; i < SMALL_PARAMETERS; i++) {
        small_weights up = *at, down = *at;
        up.value[i] += 1e-5;
        down.value[i] -= 1e-5;
        g.value[i] = (small_loss(&up, data, first, count) - small_loss(&down, data, first, count)) / 2e-5;
    }
    return g;
}

static double norm_of(const gradient *g)
{
    double sum = 0;
    for (int i = 0; i < SMALL_PARAMETERS; i++)
        sum += g->value[i] * g->value[i];
    return sqrt(sum);
}

static bool is_in(int element, int tensor)
{
    return element >= small_offset(tensor) && element < small_offset(tensor) + small_count(tensor);
}

/* The largest difference between after and before - rate * wanted. */
static double miss(const small_weights *before, const small_weights *after, const gradient *wanted, double rate)
{
    double worst = 0;
    for (int i = 0; i < SMALL_PARAMETERS; i++)
        worst = fmax(worst, fabs(after->value[i] - (before->value[i] - rate * wanted->value[i])));
    return worst;
}

/* ---- groups ---- */

static void test_a_frozen_group_stays_bit_for_bit(void)
{
    const small_data data = small_make_data();
    for (int k = 0; k < 2; k++) {
        mw_error err = {0};
        small_net net = small_create(NULL);
        const mw_parameter_group groups[] = {mw_parameter_group_frozen("fc1.*")};
        mw_trainer_options options = options_of(&net, devices[k], mw_adamw(0.05f, 0.1f));
        options.groups = groups;
        options.group_count = 1;
        mw_trainer *trainer = create(&options, &net, &err);
        CHECK_OK(err);
        REQUIRE(trainer != NULL);
        const small_weights before = small_read(trainer, &err);
        for (int i = 0; i < 20; i++)
            step(trainer, &data, i % 5, &err);
        const small_weights after = small_read(trainer, &err);
        CHECK_OK(err);
        for (int i = 0; i < SMALL_PARAMETERS; i++) {
            const bool frozen = is_in(i, 0) || is_in(i, 1);
            CHECK(frozen ? before.value[i] == after.value[i] : before.value[i] != after.value[i]);
        }
        mw_port port;
        for (size_t i = 0; mw_program_port_at(mw_trainer_program(trainer), i, &port); i++)
            CHECK(strncmp(port.name, "fc1.", 4) != 0 || (!port.is_output && strchr(port.name, '#') == NULL));
        mw_trainer_destroy(trainer);
    }
}

static void test_a_group_has_a_rate_and_a_decay_of_its_own(void)
{
    const small_data data = small_make_data();
    mw_error err = {0};
    small_net net = small_create(NULL);
    mw_parameter_group groups[] = {mw_parameter_group_defaults("*.bias"), mw_parameter_group_defaults("fc?.weight")};
    mw_parameter_group_set(&groups[0], MW_GROUP_RATE_FACTOR, 0.25f);
    mw_parameter_group_set(&groups[0], MW_GROUP_WEIGHT_DECAY, 0.0f);
    mw_parameter_group_set(&groups[1], MW_GROUP_RATE_FACTOR, 2.0f);
    mw_optimizer optimizer = mw_sgd(0.5f);
    mw_optimizer_set(&optimizer, MW_OPTIMIZER_WEIGHT_DECAY, 0.125f);
    mw_trainer_options options = options_of(&net, MW_DEVICE_CPU, optimizer);
    options.groups = groups;
    options.group_count = 2;
    mw_trainer *trainer = create(&options, &net, &err);
    CHECK_OK(err);
    REQUIRE(trainer != NULL);
    step(trainer, &data, 0, &err); /* biases are 0 before the first step: a decay would not show */
    const small_weights before = small_read(trainer, &err);
    gradient wanted = differences(&before, &data, SMALL_N, SMALL_N);
    for (int i = 0; i < SMALL_PARAMETERS; i++) {
        const bool bias = is_in(i, 1) || is_in(i, 3);
        wanted.value[i] = bias ? 0.25 * wanted.value[i] : 2.0 * (wanted.value[i] + 0.125 * before.value[i]);
    }
    step(trainer, &data, 1, &err);
    const small_weights after = small_read(trainer, &err);
    CHECK_OK(err);
    CHECK(miss(&before, &after, &wanted, 0.5) < 1e-5);
    CHECK(norm_of(&wanted) > 0.1);
    mw_trainer_destroy(trainer);
}

/* ---- clipping ---- */

static void check_clipping(mw_device device, float clip_norm, float clip_value, double tolerance)
{
    const small_data data = small_make_data();
    mw_error err = {0};
    small_net net = small_create(NULL);
    mw_trainer_options options = options_of(&net, device, mw_sgd(0.5f));
    options.clipping.norm = clip_norm;
    options.clipping.value = clip_value;
    mw_trainer *trainer = create(&options, &net, &err);
    CHECK_OK(err);
    REQUIRE(trainer != NULL);
    const small_weights before = small_read(trainer, &err);
    gradient wanted = differences(&before, &data, 0, SMALL_N);
    const double factor = clip_norm > 0 ? fmin(1.0, (double)clip_norm / norm_of(&wanted)) : 1.0;
    for (int i = 0; i < SMALL_PARAMETERS; i++) {
        const double g = factor * wanted.value[i];
        wanted.value[i] = clip_value > 0 ? fmax(-(double)clip_value, fmin((double)clip_value, g)) : g;
    }
    step(trainer, &data, 0, &err);
    const small_weights after = small_read(trainer, &err);
    CHECK_OK(err);
    CHECK(miss(&before, &after, &wanted, 0.5) < tolerance);
    mw_trainer_destroy(trainer);
}

static void test_clipping_limits_the_gradients(void)
{
    const small_data data = small_make_data();
    mw_error err = {0};
    mw_trainer *trainer = small_trainer(MW_DEVICE_CPU, mw_sgd(0.5f), 0.0f, &err);
    const small_weights weights = small_read(trainer, &err);
    const gradient g = differences(&weights, &data, 0, SMALL_N);
    const float norm = (float)norm_of(&g);
    mw_trainer_destroy(trainer);
    CHECK(norm > 0.05f);
    for (int k = 0; k < 2; k++) {
        const double tolerance = k == 0 ? 1e-5 : 1e-3; /* half an ulp of a weight of 1 in fp16 is 5e-4 */
        check_clipping(devices[k], 0.25f * norm, 0.0f, tolerance);
        check_clipping(devices[k], 4.0f * norm, 0.0f, tolerance);
        check_clipping(devices[k], 0.0f, 0.1f * norm, tolerance);
        check_clipping(devices[k], 0.5f * norm, 0.1f * norm, tolerance);
    }
}

/* ---- accumulation ---- */

static void test_accumulation_is_the_large_batch(void)
{
    const small_data data = small_make_data();
    mw_error err = {0};
    small_net net = small_create(NULL);
    mw_trainer_options options = options_of(&net, MW_DEVICE_CPU, mw_sgd(0.5f));
    options.accumulate = 3;
    mw_trainer *trainer = create(&options, &net, &err);
    CHECK_OK(err);
    REQUIRE(trainer != NULL);
    for (int update = 0; update < 4; update++) {
        const small_weights before = small_read(trainer, &err);
        const gradient wanted = differences(&before, &data, SMALL_N, 3 * SMALL_N);
        for (int i = 0; i < 3; i++) {
            const small_weights still = small_read(trainer, &err);
            CHECK(memcmp(&still, &before, sizeof still) == 0);
            CHECK_INT(mw_trainer_get_info(trainer).steps, update);
            step(trainer, &data, 1 + i, &err);
        }
        const small_weights after = small_read(trainer, &err);
        CHECK_OK(err);
        CHECK(miss(&before, &after, &wanted, 0.5) < 1e-5);
        CHECK(norm_of(&wanted) > 0.02);
    }
    CHECK_INT(mw_trainer_get_info(trainer).counters.steps, 4);
    mw_trainer_destroy(trainer);
}

/* ---- averages ---- */

static void test_averages_follow_the_parameters(void)
{
    const small_data data = small_make_data();
    mw_error err = {0};
    small_net net = small_create(NULL);
    mw_trainer_options options = options_of(&net, MW_DEVICE_CPU, mw_adam(0.02f));
    options.average_decay = 0.75f;
    mw_trainer *trainer = create(&options, &net, &err);
    CHECK_OK(err);
    REQUIRE(trainer != NULL);
    small_weights average = small_read(trainer, &err);
    for (int i = 0; i < 12; i++) {
        step(trainer, &data, i % 5, &err);
        const small_weights now = small_read(trainer, &err);
        for (int k = 0; k < SMALL_PARAMETERS; k++)
            average.value[k] = 0.75 * average.value[k] + 0.25 * now.value[k];
    }
    const small_weights last = small_read(trainer, &err);
    const mw_column columns[] = {{.name = "x", .dtype = MW_F32, .shape = MW_SHAPE(SMALL_D), .data = data.x},
                                 {.name = "y", .dtype = MW_I32, .shape = {0}, .data = data.y}};
    mw_dataset *dataset = mw_dataset_create(columns, 2, SMALL_EXAMPLES, false, &err);
    const small_weights *const shown[] = {&last, &average, &last};
    for (int k = 0; k < 3; k++) {
        double loss = 0;
        mw_trainer_use_averages(trainer, k == 1, &err);
        evaluated(trainer, dataset, &loss, NULL, &err);
        CHECK_OK(err);
        CHECK_NEAR(loss, small_loss(shown[k], &data, 0, SMALL_EXAMPLES), 2e-6);
    }
    CHECK(fabs(small_loss(&last, &data, 0, SMALL_EXAMPLES) - small_loss(&average, &data, 0, SMALL_EXAMPLES)) > 1e-3);
    mw_trainer_use_averages(trainer, true, &err);
    mw_trainer_save_weights(trainer, scratch("average.safetensors"), &err);
    mw_trainer_load_weights(trainer, scratch("average.safetensors"), NULL, &err); /* into the parameters */
    const small_weights loaded = small_read(trainer, &err);
    CHECK_OK(err);
    for (int k = 0; k < SMALL_PARAMETERS; k++)
        CHECK_NEAR(loaded.value[k], average.value[k], 1e-6);
    mw_dataset_destroy(dataset);
    mw_trainer_destroy(trainer);
}

/* ---- dynamic loss scale ---- */

/* `factor` makes the loss, and so every gradient, as many times larger. The loss overflows with large inputs. */
static mw_trainer *create_dynamic(mw_device device, float first, int interval, float factor, mw_error *err)
{
    small_net net = small_create(NULL);
    mw_tensor *squares = mw_reduce_mean(mw_square(net.x), MW_ALL_AXES, false);
    net.loss = mw_add(mw_mul_scalar(net.loss, factor), mw_mul_scalar(squares, 0.0));
    mw_trainer_options options = options_of(&net, device, mw_adam(0.02f));
    options.precision.dynamic = true;
    options.precision.loss_scale = first;
    options.precision.interval = interval;
    return create(&options, &net, err);
}

static small_data make_overflow(mw_device device)
{
    small_data data = small_make_data();
    for (int i = 0; i < SMALL_EXAMPLES * SMALL_D; i++)
        data.x[i] = device == MW_DEVICE_CPU ? 3e38f : 6e4f;
    return data;
}

/* The skipped steps leave no trace but the scale, so the rest is that of a run without them; a power of two scales
 * exactly, so in fp32 that is also the run without a scale. */
static void test_an_overflow_is_skipped_and_halves_the_scale(void)
{
    const small_data data = small_make_data();
    for (int k = 0; k < 2; k++) {
        mw_error err = {0};
        const small_data bad = make_overflow(devices[k]);
        mw_trainer *clean = create_dynamic(devices[k], 64.0f, 2000, 1.0f, &err);
        mw_trainer *hurt = create_dynamic(devices[k], 1024.0f, 2000, 1.0f, &err);
        CHECK_OK(err);
        REQUIRE(clean != NULL && hurt != NULL);
        float scale = 1024.0f;
        for (int i = 0; i < 20; i++) {
            step(clean, &data, i % 5, &err);
            step(hurt, &data, i % 5, &err);
            if (i % 5 == 2 && scale > 64.0f) {
                const int64_t before = mw_trainer_get_info(hurt).counters.refused_steps;
                step(hurt, &bad, 0, &err);
                scale *= 0.5f;
                CHECK_INT(mw_trainer_get_info(hurt).counters.refused_steps, before + 1);
                CHECK_NEAR(mw_trainer_get_info(hurt).loss_scale, scale, 0);
            }
        }
        CHECK_OK(err);
        CHECK_INT(mw_trainer_get_info(hurt).counters.refused_steps, 4);
        CHECK_INT(mw_trainer_get_info(hurt).steps, 20);
        const small_weights a = small_read(clean, &err), b = small_read(hurt, &err);
        for (int i = 0; i < SMALL_PARAMETERS; i++) /* in fp16 small gradients survive better in a larger scale */
            CHECK_NEAR(a.value[i], b.value[i], k == 0 ? 0.0 : 5e-3);
        mw_trainer_destroy(hurt);
        mw_trainer_destroy(clean);
    }
}

/* Parameters of fp32 that are used in fp16: small gradients need a scale there too. */
static void test_the_scale_goes_by_what_is_computed(void)
{
    mw_error err = {0};
    small_net net = small_create(NULL);
    mw_tensor *w = mw_parameter(net.graph, "w", MW_F32, MW_SHAPE(SMALL_C, SMALL_D), mw_init_zeros());
    mw_tensor *half = mw_cast(w, MW_F16);
    mw_tensor *logits = mw_cast(mw_matmul(mw_cast(net.x, MW_F16), half, MW_TRANSPOSE_Y), MW_F32);
    net.loss = mw_cross_entropy(logits, net.y);
    net.accuracy = net.logits = NULL;
    mw_trainer_options options = options_of(&net, MW_DEVICE_CPU, mw_sgd(0.1f));
    mw_trainer *trainer = create(&options, &net, &err);
    CHECK_OK(err);
    CHECK_NEAR(mw_trainer_get_info(trainer).loss_scale, 256.0, 0);
    mw_trainer_destroy(trainer);
}

static void test_good_steps_double_the_scale(void)
{
    const small_data data = small_make_data();
    const float wanted[] = {4096, 4096, 8192, 8192, 8192, 16384, 16384, 16384, 32768, 32768, 32768, 32768};
    for (int k = 0; k < 2; k++) {
        mw_error err = {0};
        mw_trainer *trainer = create_dynamic(devices[k], 4096.0f, 3, 1.0f, &err);
        CHECK_OK(err);
        REQUIRE(trainer != NULL);
        for (int i = 0; i < 12; i++) {
            step(trainer, &data, i % 5, &err);
            CHECK_NEAR(mw_trainer_get_info(trainer).loss_scale, wanted[i], 0);
        }
        CHECK_OK(err);
        mw_trainer_destroy(trainer);
    }
}

/* In fp16 the gradients themselves overflow until the scale has come down. */
static void test_the_scale_finds_its_place(void)
{
    const small_data data = small_make_data();
    mw_error err = {0};
    mw_trainer *trainer = create_dynamic(MW_DEVICE_ANE, 0.0f, 0, 64.0f, &err);
    CHECK_OK(err);
    REQUIRE(trainer != NULL);
    const small_weights before = small_read(trainer, &err);
    for (int i = 0; i < 100; i++)
        step(trainer, &data, i % 5, &err);
    const small_weights after = small_read(trainer, &err);
    CHECK_OK(err);
    CHECK(mw_trainer_get_info(trainer).loss_scale < 8192.0f && mw_trainer_get_info(trainer).loss_scale >= 64.0f);
    CHECK(mw_trainer_get_info(trainer).counters.refused_steps >= 2);
    CHECK_INT(mw_trainer_get_info(trainer).steps + mw_trainer_get_info(trainer).counters.refused_steps, 100);
    CHECK(small_loss(&after, &data, 0, SMALL_EXAMPLES) < 0.6 * small_loss(&before, &data, 0, SMALL_EXAMPLES));
    mw_trainer_destroy(trainer);
}

static void test_a_training_that_only_overflows_ends(void)
{
    for (int k = 0; k < 2; k++) {
        mw_error err = {0};
        const small_data bad = make_overflow(devices[k]);
        mw_trainer *trainer = create_dynamic(devices[k], 0.0f, 0, 1.0f, &err);
        CHECK_OK(err);
        REQUIRE(trainer != NULL);
        const small_weights before = small_read(trainer, &err);
        int steps = 0;
        for (; steps < 100 && err.status == MW_OK; steps++)
            step(trainer, &bad, 0, &err);
        CHECK_INT(steps, 32);
        CHECK_ERROR(err, MW_ERROR_NUMERIC, "in a row were skipped");
        CHECK_NEAR(mw_trainer_get_info(trainer).loss_scale, 1.0, 0);
        err = (mw_error){0};
        const small_weights after = small_read(trainer, &err);
        CHECK(memcmp(&before, &after, sizeof before) == 0);
        mw_trainer_destroy(trainer);
    }
}

/* ---- several steps by one dispatch ---- */

enum { MANY = 4, STEPS = 11 };

static mw_trainer *create_many(mw_device device, int dispatch_steps, mw_error *err)
{
    small_net net = small_create_stateful(NULL);
    mw_trainer_options options = options_of(&net, device, mw_adam(0.02f));
    options.dispatch_steps = dispatch_steps;
    return create(&options, &net, err);
}

static void fill_batches(small_batch *batches, mw_batch *out, const small_data *data)
{
    for (int i = 0; i < STEPS; i++) {
        small_fill_batch(&batches[i], data, i % 5 * SMALL_N);
        out[i] = batches[i].batch;
    }
}

static void test_many_steps_are_single_steps_bit_for_bit(void)
{
    const small_data data = small_make_data();
    small_batch filled[STEPS];
    mw_batch batches[STEPS];
    fill_batches(filled, batches, &data);
    for (int k = 0; k < 2; k++) {
        mw_error err = {0};
        mw_trainer *single = create_many(devices[k], 0, &err), *many = create_many(devices[k], MANY, &err);
        CHECK_OK(err);
        REQUIRE(single != NULL && many != NULL);
        float one[STEPS], all[STEPS];
        for (int i = 0; i < STEPS; i++)
            mw_trainer_step(single, &batches[i], &one[i], &err);
        mw_trainer_step_many(many, batches, STEPS, all, &err); /* two dispatches and three steps */
        CHECK_OK(err);
        CHECK(memcmp(one, all, sizeof one) == 0 && one[0] != one[STEPS - 1]);
        CHECK_INT(mw_trainer_get_info(many).steps, STEPS);
        const mw_trainer_counters a = mw_trainer_get_info(single).counters, b = mw_trainer_get_info(many).counters;
        CHECK(memcmp(&a, &b, sizeof a) == 0);
        const small_snapshot s = small_take(single), m = small_take(many);
        small_check_same(&s, &m);
        mw_trainer_destroy(many);
        mw_trainer_destroy(single);
    }
}

/* The batch that cannot be fed is the sixth: the first dispatch has run, the second has not. */
static void test_a_bad_batch_is_refused_before_its_dispatch(void)
{
    const small_data data = small_make_data();
    small_batch filled[STEPS];
    mw_batch batches[STEPS];
    mw_error err = {0};
    mw_trainer *trainer = create_many(MW_DEVICE_CPU, MANY, &err);
    CHECK_OK(err);
    REQUIRE(trainer != NULL);
    fill_batches(filled, batches, &data);
    small_data bad = data;
    bad.x[0] = NAN;
    filled[5].feeds[0].data = bad.x;
    CHECK_INT(mw_trainer_step_many(trainer, batches, STEPS, NULL, &err), MW_ERROR_NUMERIC);
    CHECK_ERROR(err, MW_ERROR_NUMERIC, "step 6");
    CHECK_INT(mw_trainer_get_info(trainer).steps, 4);
    CHECK_INT(mw_trainer_get_info(trainer).counters.refused_steps, 1);
    mw_trainer_destroy(trainer);
}

/* The third batch overflows the loss on the device. */
static void test_a_refused_step_of_a_dispatch_is_named(void)
{
    const small_data data = small_make_data(), bad = make_overflow(MW_DEVICE_CPU);
    small_batch filled[STEPS];
    mw_batch batches[STEPS];
    mw_error err = {0};
    small_net net = small_create(NULL);
    mw_tensor *squares = mw_reduce_mean(mw_square(net.x), MW_ALL_AXES, false);
    net.loss = mw_add(net.loss, mw_mul_scalar(squares, 0.0));
    mw_trainer_options options = options_of(&net, MW_DEVICE_CPU, mw_sgd(0.1f));
    options.dispatch_steps = MANY;
    mw_trainer *trainer = create(&options, &net, &err);
    CHECK_OK(err);
    REQUIRE(trainer != NULL);
    fill_batches(filled, batches, &data);
    filled[2].feeds[0].data = bad.x;
    CHECK_INT(mw_trainer_step_many(trainer, batches, MANY, NULL, &err), MW_ERROR_NUMERIC);
    CHECK_ERROR(err, MW_ERROR_NUMERIC, "step 3 is refused: the loss is");
    CHECK_INT(mw_trainer_get_info(trainer).steps, 3);
    const small_weights weights = small_read(trainer, &(mw_error){0});
    for (int i = 0; i < SMALL_PARAMETERS; i++)
        CHECK(isfinite(weights.value[i]));
    mw_trainer_destroy(trainer);
}

/* ---- all together ---- */

static mw_trainer *create_full(const mw_allocator *allocator, mw_error *err)
{
    mw_parameter_group groups[] = {mw_parameter_group_frozen("fc1.bias"), mw_parameter_group_defaults("*.bias")};
    mw_parameter_group_set(&groups[1], MW_GROUP_RATE_FACTOR, 0.5);
    mw_parameter_group_set(&groups[1], MW_GROUP_WEIGHT_DECAY, 0);
    small_net net = small_create_stateful(NULL);
    mw_trainer_options options = options_of(&net, MW_DEVICE_ANE, mw_adamw(0.02f, 0.01f));
    options.compile.allocator = allocator;
    options.groups = groups;
    options.group_count = 2;
    options.clipping.norm = 0.5f;
    options.clipping.value = 0.25f;
    options.accumulate = 3;
    options.average_decay = 0.9f;
    options.precision.dynamic = true;
    options.precision.interval = 4;
    return create(&options, &net, err);
}

/* Saved between two batches of one update, with a scale that moves. */
static void test_a_checkpoint_resumes_all_of_it_bit_for_bit(void)
{
    const small_data data = small_make_data(), bad = make_overflow(MW_DEVICE_ANE);
    mw_error err = {0};
    mw_trainer *whole = create_full(NULL, &err), *resumed = create_full(NULL, &err);
    CHECK_OK(err);
    REQUIRE(whole != NULL && resumed != NULL);
    for (int i = 0; i < 31; i++) {
        if (i == 16) {
            mw_trainer_save(whole, scratch("full.safetensors"), NULL, &err);
            mw_trainer_load(resumed, scratch("full.safetensors"), NULL, &err);
            CHECK_INT(mw_trainer_get_info(resumed).steps, mw_trainer_get_info(whole).steps);
        }
        step(whole, i % 7 == 5 ? &bad : &data, i % 5, &err);
        if (i >= 16)
            step(resumed, i % 7 == 5 ? &bad : &data, i % 5, &err);
    }
    CHECK_OK(err);
    CHECK(mw_trainer_get_info(whole).steps >= 7);
    const small_snapshot a = small_take(whole), b = small_take(resumed);
    small_check_same(&a, &b);
    mw_trainer_destroy(resumed);
    mw_trainer_destroy(whole);
}

static void test_another_configuration_is_refused_by_the_checkpoint(void)
{
    mw_error err = {0};
    mw_trainer *full = create_full(NULL, &err);
    mw_trainer *plain = small_trainer(MW_DEVICE_ANE, mw_adamw(0.02f, 0.01f), 0.0f, &err);
    mw_trainer_save(full, scratch("full.safetensors"), NULL, &err);
    CHECK_OK(err);
    mw_trainer_load(plain, scratch("full.safetensors"), NULL, &err);
    CHECK_ERROR(err, MW_ERROR_FORMAT, "clip_norm");
    mw_trainer_destroy(plain);
    mw_trainer_destroy(full);
}

/* ---- bad configurations ---- */

typedef void change(mw_trainer_options *options);

static mw_parameter_group used[2]; /* by the options of the case that runs */

static void use(mw_trainer_options *o, mw_parameter_group group)
{
    used[0] = group;
    o->groups = used;
    o->group_count = 1;
}

static void use_with(mw_trainer_options *o, mw_parameter_group group, mw_parameter_group_number number, double value)
{
    mw_parameter_group_set(&group, number, value);
    use(o, group);
}

static mw_parameter_group all(void) { return mw_parameter_group_defaults("*"); }
static void group_nothing(mw_trainer_options *o) { use(o, mw_parameter_group_defaults("fc3.*")); }
static void group_twice(mw_trainer_options *o)
{
    use(o, all());
    used[1] = mw_parameter_group_defaults("fc1.*");
    o->group_count = 2;
}
static void group_zeroed(mw_trainer_options *o) { use(o, (mw_parameter_group){{0}}); }
static void group_nameless(mw_trainer_options *o) { use(o, mw_parameter_group_defaults("")); }
static void group_broken(mw_trainer_options *o) { use(o, mw_parameter_group_defaults("*[!\xff]")); }
static void group_all_frozen(mw_trainer_options *o) { use(o, mw_parameter_group_frozen("fc*")); }
static void group_nan(mw_trainer_options *o) { use_with(o, all(), MW_GROUP_WEIGHT_DECAY, NAN); }
static void group_negative(mw_trainer_options *o) { use_with(o, all(), MW_GROUP_WEIGHT_DECAY, -1); }
static void group_of_0(mw_trainer_options *o) { use_with(o, all(), MW_GROUP_RATE_FACTOR, 0); }
static void group_tiny(mw_trainer_options *o) { use_with(o, all(), MW_GROUP_RATE_FACTOR, 1e-60); }
static void group_half_frozen(mw_trainer_options *o) { use_with(o, all(), MW_GROUP_FROZEN, 0.5); }
static void group_unknown(mw_trainer_options *o) { use_with(o, all(), (mw_parameter_group_number)5, 1); }
static void group_below(mw_trainer_options *o) { use_with(o, all(), (mw_parameter_group_number)-1, 1); }
static void group_moving(mw_trainer_options *o) { use_with(o, all(), MW_GROUP_MOVING_STATISTICS, 1); }
static void group_frozen_rate(mw_trainer_options *o)
{
    use_with(o, mw_parameter_group_frozen("fc1.*"), MW_GROUP_RATE_FACTOR, 2);
}
static void group_frozen_decay(mw_trainer_options *o)
{
    use_with(o, mw_parameter_group_frozen("fc1.*"), MW_GROUP_WEIGHT_DECAY, 0);
}
/* What was refused is not forgotten for a good number behind it. */
static void group_mended(mw_trainer_options *o)
{
    mw_parameter_group group = all();
    CHECK(!mw_parameter_group_set(&group, MW_GROUP_RATE_FACTOR, -2));
    CHECK(mw_parameter_group_set(&group, MW_GROUP_RATE_FACTOR, 2));
    use(o, group);
}
static void group_null(mw_trainer_options *o)
{
    o->groups = NULL;
    o->group_count = 2;
}
static void clip_negative(mw_trainer_options *o) { o->clipping.norm = -1.0f; }
static void clip_nan(mw_trainer_options *o) { o->clipping.value = NAN; }
static void accumulate_negative(mw_trainer_options *o) { o->accumulate = -2; }
static void accumulate_huge(mw_trainer_options *o) { o->accumulate = 100000; }
static void dispatch_huge(mw_trainer_options *o) { o->dispatch_steps = 101; }
static void dispatch_and_gather(mw_trainer_options *o)
{
    o->dispatch_steps = 4;
    o->accumulate = 2;
}
static void average_above_one(mw_trainer_options *o) { o->average_decay = 1.001f; }
static void average_from_none(mw_trainer_options *o) { o->average_from = 3; }
static void average_from_below(mw_trainer_options *o) { o->average_decay = 0.5f, o->average_from = -1; }
static void scale_of_three(mw_trainer_options *o) { o->precision.loss_scale = 3.0f; }
static void scale_too_large(mw_trainer_options *o)
{
    o->precision.dynamic = true;
    o->precision.loss_scale = 65536.0f;
}
static void interval_too_long(mw_trainer_options *o) { o->precision.interval = 2001; }
static void rate_nan(mw_trainer_options *o) { mw_optimizer_set(&o->optimizer, MW_OPTIMIZER_LEARNING_RATE, NAN); }

static void test_bad_configurations_are_named(void)
{
    static const struct {
        change *change;
        const char *message;
    } cases[] = {
        {group_nothing, "group 1 \"fc3.*\" gets no parameter"},
        {group_nothing, "the parameters are \"fc1.weight\", \"fc1.bias\", \"fc2.weight\", \"fc2.bias\""},
        {group_twice, "group 2 \"fc1.*\" gets no parameter: the pattern matches none, or an earlier group"},
        {group_zeroed, "group 1 has no pattern (mw_parameter_group_defaults makes a group)"},
        {group_nameless, "group 1 has no pattern"},
        {group_of_0, "group 1 \"*\": rate_factor was set to 0; it must be positive and finite (frozen"},
        {group_tiny, "rate_factor was set to 1e-60; it must be positive"},
        {group_negative, "weight_decay was set to -1; it must be 0 or more, and finite"},
        {group_half_frozen, "frozen was set to 0.5; it must be 0 or 1"},
        {group_unknown, "mw_parameter_group_set got number 5, which is none; there are rate_factor, weight_decay,"},
        {group_below, "mw_parameter_group_set got number -1"},
        {group_moving, "moving_statistics is for a frozen group"},
        {group_frozen_rate, "group 1 \"fc1.*\" is frozen: its rate_factor has no effect"},
        {group_frozen_decay, "is frozen: its weight_decay has no effect"},
        {group_mended, "rate_factor was set to -2"},
        {group_broken, "the pattern of group 1 is not valid UTF-8"},
        {group_all_frozen, "every parameter is frozen"},
        {group_nan, "weight_decay was set to nan"},
        {group_null, "groups is NULL, group_count 2"},
        {clip_negative, "clipping.norm is -1"},
        {clip_nan, "clipping.value is nan"},
        {accumulate_negative, "accumulate is -2 batches"},
        {accumulate_huge, "accumulate is 100000 batches; it must be 1 to 1024"},
        {dispatch_huge, "dispatch_steps is 101; it must be 1 to 100"},
        {dispatch_and_gather, "dispatch_steps 4 and accumulate 2"},
        {average_above_one, "average_decay is 1.001; it must be at most 1"},
        {average_from_none, "average_from is 3, but there are no averages"},
        {average_from_below, "average_from is -1; it must be 1 or more"},
        {scale_of_three, "loss_scale is 3; it must be a power of two"},
        {scale_too_large, "a dynamic one starts between 1 and 32768"},
        {interval_too_long, "precision.interval is 2001"},
        {rate_nan, "optimizer sgd: learning_rate was set to nan; it must be positive and finite"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        mw_error err = {0};
        small_net net = small_create(NULL);
        mw_trainer_options options = options_of(&net, MW_DEVICE_CPU, mw_sgd(0.1f));
        cases[i].change(&options);
        mw_trainer *trainer = create(&options, &net, &err);
        CHECK(trainer == NULL);
        CHECK_ERROR(err, MW_ERROR_ARGUMENT, cases[i].message);
        mw_trainer_destroy(trainer);
    }
}

static void clip_half(mw_trainer_options *options) { options->clipping.norm = -1.5f; }
static void scale_of_a_third(mw_trainer_options *options) { options->precision.loss_scale = 0.3f; }

static void test_numbers_of_options_have_a_point_in_every_locale(void)
{
    static const struct {
        void (*change)(mw_trainer_options *options);
        const char *message;
    } cases[] = {{clip_half, "clipping.norm is -1.5"}, {scale_of_a_third, "loss_scale is 0.3"}};
    if (setlocale(LC_NUMERIC, "de_DE.UTF-8") == NULL && setlocale(LC_NUMERIC, "fr_FR.UTF-8") == NULL)
        SKIP("no locale with a decimal comma is installed");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        mw_error err = {0};
        small_net net = small_create(NULL);
        mw_trainer_options options = options_of(&net, MW_DEVICE_CPU, mw_sgd(0.1f));
        cases[i].change(&options);
        CHECK(create(&options, &net, &err) == NULL);
        CHECK_ERROR(err, MW_ERROR_ARGUMENT, cases[i].message);
    }
    setlocale(LC_NUMERIC, "C");
}

/* A limit of 0 would leave every weight where it is, one of infinity would make them NaN. */
static void test_limits_that_fp16_cannot_hold_are_refused(void)
{
    static const struct {
        float norm, value;
        const char *message;
    } cases[] = {{1e-12f, 0.0f, "clipping.norm is 1e-12, in the loss scale 2.56e-10, which fp16 cannot hold"},
                 {1000.0f, 0.0f, "clipping.norm is 1000, in the loss scale 256000, which fp16 cannot hold"},
                 {0.0f, 1e-12f, "clipping.value is 1e-12, in the loss scale 2.56e-10, which fp16 cannot hold"},
                 {0.0f, 3e38f, "clipping.value is 3e+38, in the loss scale 7.68e+40, which fp16 cannot hold"}};
    for (size_t i = 0; i < 2 * sizeof cases / sizeof cases[0]; i++) {
        mw_error err = {0};
        const mw_dtype dtype = i % 2 == 0 ? MW_F16 : MW_F32; /* on the chip fp32 is fp16 too */
        mw_graph *graph = mw_graph_create(NULL, NULL);
        mw_tensor *x = mw_input(graph, "x", dtype, MW_SHAPE(4, 3));
        mw_tensor *y = mw_dense(x, 2, "fc");
        mw_tensor *loss = mw_reduce_mean(mw_square(y), MW_ALL_AXES, false);
        mw_trainer_options options = mw_trainer_defaults(loss, mw_sgd(0.1f));
        options.clipping.norm = cases[i / 2].norm;
        options.clipping.value = cases[i / 2].value;
        options.compile.device = devices[i % 2];
        options.compile.provider = MW_PROVIDER_ENGINE;
        mw_trainer *trainer = mw_trainer_create(&options, &err);
        CHECK(trainer == NULL);
        CHECK_ERROR(err, MW_ERROR_NUMERIC, cases[i / 2].message);
        mw_trainer_destroy(trainer);
        mw_graph_destroy(graph);
    }
}

static void test_averages_that_nobody_keeps_are_refused(void)
{
    mw_error err = {0};
    mw_trainer *trainer = small_trainer(MW_DEVICE_CPU, mw_sgd(0.1f), 0.0f, &err);
    CHECK_OK(err);
    CHECK_INT(mw_trainer_use_averages(trainer, true, &err), MW_ERROR_STATE);
    CHECK_ERROR(err, MW_ERROR_STATE, "average_decay");
    err = (mw_error){0};
    CHECK_INT(mw_trainer_use_averages(trainer, false, &err), MW_OK);
    mw_trainer_destroy(trainer);
}

/* Every request for memory that creating makes, refused in turn. The graph is made without failures. */
static void test_creation_survives_failing_allocations(void)
{
    long n = 0;
    for (bool done = false; !done && n < 20000; n += n < 40 ? 1 : 7) {
        failing_allocator failing = {.fail_at = n, .and_after = n % 2 == 1};
        const mw_allocator allocator = failing_allocator_of(&failing);
        mw_error err = {0};
        mw_trainer *trainer = create_full(&allocator, &err);
        done = !failing.failed;
        CHECK(done == (trainer != NULL));
        if (trainer == NULL)
            CHECK_INT(err.status, MW_ERROR_MEMORY);
        mw_trainer_destroy(trainer);
        CHECK_INT(failing.live, 0);
    }
    CHECK(n > 40 && n < 20000);
}

int main(void)
{
    setting_begin("MW_ENGINE_PROFILE",
                  "ieee"); /* 0 * inf, which is how a loss is made to overflow here, is 0 on a chip */
    RUN(test_a_frozen_group_stays_bit_for_bit);
    RUN(test_a_group_has_a_rate_and_a_decay_of_its_own);
    RUN(test_clipping_limits_the_gradients);
    RUN(test_accumulation_is_the_large_batch);
    RUN(test_averages_follow_the_parameters);
    RUN(test_an_overflow_is_skipped_and_halves_the_scale);
    RUN(test_the_scale_goes_by_what_is_computed);
    RUN(test_good_steps_double_the_scale);
    RUN(test_the_scale_finds_its_place);
    RUN(test_a_training_that_only_overflows_ends);
    RUN(test_many_steps_are_single_steps_bit_for_bit);
    RUN(test_a_bad_batch_is_refused_before_its_dispatch);
    RUN(test_a_refused_step_of_a_dispatch_is_named);
    RUN(test_a_checkpoint_resumes_all_of_it_bit_for_bit);
    RUN(test_another_configuration_is_refused_by_the_checkpoint);
    RUN(test_bad_configurations_are_named);
    RUN(test_numbers_of_options_have_a_point_in_every_locale);
    RUN(test_limits_that_fp16_cannot_hold_are_refused);
    RUN(test_averages_that_nobody_keeps_are_refused);
    RUN(test_creation_survives_failing_allocations);
    return check_finish();
}
