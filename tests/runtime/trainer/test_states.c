/* States in training: they follow the batches on the device, survive files bit for bit, stay when a step is refused,
 * and evaluation reads without changing them. */
#include "runtime/files.h"
#include "runtime/small.h"
#include "runtime/trainer/object/trainer_object.h"
#include "support/check.h"
#include "support/evaluated.h"

#include <stdlib.h>

static const mw_device devices[] = {MW_DEVICE_CPU, MW_DEVICE_ANE};

static mw_trainer *create(mw_device device, uint64_t seed, mw_error *err)
{
    small_net net = small_create_stateful(NULL);
    mw_trainer_options options = mw_trainer_defaults(net.loss, mw_adam(0.01f));
    options.metric = net.accuracy;
    options.prediction = net.logits;
    options.compile.device = device;
    options.compile.provider = MW_PROVIDER_ENGINE;
    options.compile.seed = seed;
    mw_trainer *trainer = mw_trainer_create(&options, err);
    mw_graph_destroy(net.graph);
    return trainer;
}

static void run_steps(mw_trainer *trainer, int first, int count, mw_error *err)
{
    const small_data data = small_make_data();
    for (int step = first; step < first + count; step++) {
        small_batch batch;
        small_fill_batch(&batch, &data, step % 5 * SMALL_N);
        mw_trainer_step(trainer, &batch.batch, NULL, err);
    }
}

static void test_a_state_takes_its_assigned_value_at_each_step(void)
{
    const small_data data = small_make_data();
    for (int k = 0; k < 2; k++) {
        mw_error err = {0};
        double expected[SMALL_D] = {0};
        mw_trainer *trainer = create(devices[k], 1, &err);
        for (int step = 0; step < 7; step++) {
            float got[SMALL_D] = {0};
            run_steps(trainer, step, 1, &err);
            mw_trainer_read(trainer, "x_mean", MW_F32, got, SMALL_D, &err);
            for (int d = 0; d < SMALL_D; d++) {
                double sum = 0;
                for (int n = 0; n < SMALL_N; n++)
                    sum += (double)data.x[(step % 5 * SMALL_N + n) * SMALL_D + d];
                expected[d] = 0.5 * (expected[d] + sum / SMALL_N);
                CHECK_NEAR((double)got[d], expected[d], k == 0 ? 1e-6 : 1e-3);
            }
        }
        CHECK_OK(err);
        mw_trainer_destroy(trainer);
    }
}

static void test_no_state_crosses_the_host_in_steps(void)
{
    for (int k = 0; k < 2; k++) {
        const size_t size = k == 0 ? 4 : 2;
        mw_error err = {0};
        mw_trainer *trainer = create(devices[k], 1, &err);
        const size_t parameters = SMALL_PARAMETERS + 2 * SMALL_H; /* bn.weight, bn.bias */
        CHECK_INT(mw_trainer_get_info(trainer).counters.state_bytes_in, (3 * parameters + SMALL_STATES) * size);
        run_steps(trainer, 0, 50, &err);
        CHECK_OK(err);
        CHECK_INT(mw_trainer_get_info(trainer).counters.state_bytes_in, (3 * parameters + SMALL_STATES) * size);
        CHECK_INT(mw_trainer_get_info(trainer).counters.state_bytes_out, 0);
        mw_trainer_destroy(trainer);
    }
}

/* In fp32 the loss itself becomes NaN. In fp16 the variance overflows while the loss, divided by it, stays finite. */
static void test_a_refused_step_leaves_states_as_they_were(void)
{
    const float huge[] = {1e30f, 6e4f};
    for (int k = 0; k < 2; k++) {
        mw_error err = {0}, refusal = {0};
        mw_trainer *trainer = create(devices[k], 1, &err);
        run_steps(trainer, 0, 3, &err);
        CHECK_OK(err);
        small_data data = small_make_data();
        for (int i = 0; i < SMALL_N * SMALL_D; i++)
            data.x[i] = i % 3 == 0 ? huge[k] : -huge[k];
        small_batch batch;
        small_fill_batch(&batch, &data, 0);
        const small_snapshot before = small_take(trainer);
        CHECK_INT(mw_trainer_step(trainer, &batch.batch, NULL, &refusal), MW_ERROR_NUMERIC);
        const small_snapshot after = small_take(trainer);
        small_check_same(&before, &after);
        CHECK_INT(mw_trainer_get_info(trainer).steps, 3);
        run_steps(trainer, 3, 1, &err);
        CHECK_OK(err);
        mw_trainer_destroy(trainer);
    }
}

static void test_a_checkpoint_continues_states_bit_for_bit(void)
{
    const char *path = scratch("states.safetensors");
    for (int k = 0; k < 2; k++) {
        mw_error err = {0};
        mw_trainer *first = create(devices[k], 1, &err), *second = create(devices[k], 2, &err);
        run_steps(first, 0, 5, &err);
        mw_trainer_save(first, path, NULL, &err);
        run_steps(first, 5, 6, &err);
        run_steps(second, 0, 2, &err);
        mw_trainer_load(second, path, NULL, &err);
        run_steps(second, 5, 6, &err);
        CHECK_OK(err);
        const small_snapshot a = small_take(first), b = small_take(second);
        small_check_same(&a, &b);
        mw_trainer_destroy(first);
        mw_trainer_destroy(second);
    }
}

/* Running statistics are weights, as in PyTorch's state dict; the position of a generator is not. */
static void test_weights_hold_the_states_that_evaluation_reads(void)
{
    const char *path = scratch("states_weights.safetensors");
    mw_error err = {0};
    mw_trainer *first = create(MW_DEVICE_CPU, 1, &err), *second = create(MW_DEVICE_CPU, 2, &err);
    run_steps(first, 0, 5, &err);
    mw_trainer_save_weights(first, path, &err);
    float a[16], b[16], c[16];
    mw_trainer_read(second, "drop.generator", MW_F32, a, 16, &err);
    mw_trainer_load_weights(second, path, NULL, &err);
    mw_trainer_read(second, "drop.generator", MW_F32, b, 16, &err);
    CHECK(memcmp(a, b, sizeof a) == 0);
    mw_trainer_read(first, "drop.generator", MW_F32, c, 16, &err);
    CHECK(memcmp(a, c, sizeof a) != 0);
    mw_trainer_read(first, "bn.running_var", MW_F32, a, SMALL_H, &err);
    mw_trainer_read(second, "bn.running_var", MW_F32, b, SMALL_H, &err);
    CHECK(memcmp(a, b, SMALL_H * sizeof *a) == 0 && a[0] != 1.0f);
    CHECK_OK(err);
    mw_trainer_destroy(first);
    mw_trainer_destroy(second);
}

/* The network in double, with running statistics and without dropout. */
static void expected_logits(mw_trainer *trainer, const float *x, double *out, mw_error *err)
{
    float mean[SMALL_D], w1[SMALL_H * SMALL_D], b1[SMALL_H], w2[SMALL_C * SMALL_H], b2[SMALL_C];
    float gamma[SMALL_H], beta[SMALL_H], running_mean[SMALL_H], running_var[SMALL_H];
    mw_trainer_read(trainer, "x_mean", MW_F32, mean, SMALL_D, err);
    mw_trainer_read(trainer, "fc1.weight", MW_F32, w1, SMALL_H * SMALL_D, err);
    mw_trainer_read(trainer, "fc1.bias", MW_F32, b1, SMALL_H, err);
    mw_trainer_read(trainer, "fc2.weight", MW_F32, w2, SMALL_C * SMALL_H, err);
    mw_trainer_read(trainer, "fc2.bias", MW_F32, b2, SMALL_C, err);
    mw_trainer_read(trainer, "bn.weight", MW_F32, gamma, SMALL_H, err);
    mw_trainer_read(trainer, "bn.bias", MW_F32, beta, SMALL_H, err);
    mw_trainer_read(trainer, "bn.running_mean", MW_F32, running_mean, SMALL_H, err);
    mw_trainer_read(trainer, "bn.running_var", MW_F32, running_var, SMALL_H, err);
    for (int c = 0; c < SMALL_C; c++)
        out[c] = (double)b2[c];
    for (int h = 0; h < SMALL_H; h++) {
        double sum = (double)b1[h];
        for (int d = 0; d < SMALL_D; d++)
            sum += (double)w1[h * SMALL_D + d] * ((double)x[d] - (double)mean[d]);
        sum = (sum - (double)running_mean[h]) / sqrt((double)running_var[h] + 1e-3);
        const double hidden = tanh(sum * (double)gamma[h] + (double)beta[h]);
        for (int c = 0; c < SMALL_C; c++)
            out[c] += (double)w2[c * SMALL_H + h] * hidden;
    }
}

static void test_prediction_takes_the_evaluation_form(void)
{
    const small_data data = small_make_data();
    for (int k = 0; k < 2; k++) {
        mw_error err = {0};
        mw_trainer *trainer = create(devices[k], 1, &err);
        run_steps(trainer, 0, 8, &err);
        small_batch batch;
        small_fill_batch(&batch, &data, 0);
        float got[SMALL_N * SMALL_C] = {0};
        const small_snapshot before = small_take(trainer);
        mw_trainer_predict(trainer, &batch.batch, MW_F32, got, SMALL_N * SMALL_C, &err);
        const small_snapshot after = small_take(trainer);
        small_check_same(&before, &after);
        for (int n = 0; n < SMALL_N; n++) {
            double expected[SMALL_C];
            expected_logits(trainer, &data.x[n * SMALL_D], expected, &err);
            for (int c = 0; c < SMALL_C; c++)
                CHECK_NEAR((double)got[n * SMALL_C + c], expected[c], k == 0 ? 1e-5 : 1e-2);
        }
        CHECK(strstr(mw_program_get_info(trainer->views.predictor.program).mil, "generator") == NULL);
        CHECK(strstr(mw_program_get_info(trainer->views.predictor.program).mil, "reduce_mean") == NULL);
        CHECK(strstr(mw_program_get_info(trainer->step.program).mil, "running_mean") != NULL);
        CHECK_OK(err);
        mw_trainer_destroy(trainer);
    }
}

/* Evaluation loss is that of the predictions, also for a short last batch. */
static void test_evaluation_takes_the_evaluation_form(void)
{
    const small_data data = small_make_data();
    const mw_column columns[] = {{.name = "x", .dtype = MW_F32, .shape = MW_SHAPE(SMALL_D), .data = data.x},
                                 {.name = "y", .dtype = MW_I32, .shape = {0}, .data = data.y}};
    mw_error err = {0};
    mw_trainer *trainer = create(MW_DEVICE_CPU, 1, &err);
    mw_dataset *dataset = mw_dataset_create(columns, 2, 21, false, &err);
    run_steps(trainer, 0, 8, &err);
    double loss = 0, expected = 0;
    evaluated(trainer, dataset, &loss, NULL, &err);
    for (int n = 0; n < 21; n++) {
        double logits[SMALL_C], sum = 0;
        expected_logits(trainer, &data.x[n * SMALL_D], logits, &err);
        for (int c = 0; c < SMALL_C; c++)
            sum += exp(logits[c]);
        expected += (log(sum) - logits[data.y[n]]) / 21;
    }
    CHECK_NEAR(loss, expected, 1e-5);
    CHECK_OK(err);
    mw_dataset_destroy(dataset);
    mw_trainer_destroy(trainer);
}

static void test_a_graph_is_compiled_for_evaluation_by_hand(void)
{
    const small_data data = small_make_data();
    mw_error err = {0};
    small_net net = small_create_stateful(NULL);
    mw_output(net.logits, "logits");
    mw_graph *graph = mw_graph_evaluation(net.graph, &err);
    mw_graph_destroy(net.graph);
    mw_compile_options options = mw_compile_defaults();
    options.provider = MW_PROVIDER_ENGINE;
    options.seed = 1;
    mw_program *program = mw_program_create(graph, &options, &err);
    mw_graph_destroy(graph);
    mw_trainer *trainer = create(MW_DEVICE_CPU, 1, &err); /* same seed, same first weights */
    float got[SMALL_N * SMALL_C] = {0}, expected[SMALL_N * SMALL_C] = {0};
    small_batch batch;
    small_fill_batch(&batch, &data, 0);
    mw_trainer_predict(trainer, &batch.batch, MW_F32, expected, SMALL_N * SMALL_C, &err);
    mw_program_write(program, "x", MW_F32, data.x, SMALL_N * SMALL_D, &err);
    mw_program_run(program, &err);
    mw_program_read(program, "logits", MW_F32, got, SMALL_N * SMALL_C, &err);
    CHECK_OK(err);
    CHECK(memcmp(got, expected, sizeof got) == 0);
    mw_program_destroy(program);
    mw_trainer_destroy(trainer);
}

/* Without an assignment the host writes it, and steps leave it. */
static void test_a_state_without_assignment_is_a_constant_of_the_host(void)
{
    const float x[] = {1, 2, 3, 4};
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *input = mw_input(graph, "x", MW_F32, MW_SHAPE(4));
    mw_tensor *w = mw_parameter(graph, "w", MW_F32, MW_SHAPE(4), mw_init_zeros());
    mw_tensor *scale = mw_state(graph, "scale", MW_F32, MW_SHAPE(4), mw_init_constant(1.0f));
    mw_tensor *loss = mw_reduce_sum(mw_mul(mw_mul(input, w), scale), MW_ALL_AXES, false);
    mw_trainer_options options = mw_trainer_defaults(loss, mw_sgd(1.0f));
    options.compile.provider = MW_PROVIDER_ENGINE;
    mw_trainer *trainer = mw_trainer_create(&options, &err);
    mw_graph_destroy(graph);
    const float twice[] = {2, 2, 2, 2};
    float w_after[4] = {0}, scale_after[4] = {0};
    mw_trainer_write(trainer, "scale", MW_F32, twice, 4, &err);
    const mw_feed feed = {.name = "x", .dtype = MW_F32, .data = x, .count = 4};
    mw_trainer_step(trainer, &(mw_batch){.feeds = &feed, .feed_count = 1, .examples = 4}, NULL, &err);
    mw_trainer_read(trainer, "w", MW_F32, w_after, 4, &err);
    mw_trainer_read(trainer, "scale", MW_F32, scale_after, 4, &err);
    CHECK_OK(err);
    CHECK(w_after[3] == -8.0f && memcmp(scale_after, twice, sizeof twice) == 0);
    mw_trainer_destroy(trainer);
}

int main(void)
{
    unsetenv("MW_E5RT_LIBRARY");
    RUN(test_a_state_takes_its_assigned_value_at_each_step);
    RUN(test_no_state_crosses_the_host_in_steps);
    RUN(test_a_refused_step_leaves_states_as_they_were);
    RUN(test_a_checkpoint_continues_states_bit_for_bit);
    RUN(test_weights_hold_the_states_that_evaluation_reads);
    RUN(test_prediction_takes_the_evaluation_form);
    RUN(test_evaluation_takes_the_evaluation_form);
    RUN(test_a_graph_is_compiled_for_evaluation_by_hand);
    RUN(test_a_state_without_assignment_is_a_constant_of_the_host);
    return check_finish();
}
