/* Evaluation and prediction: every example once, on the trained parameters; the model written as MIL. */
#include "runtime/files.h"
#include "runtime/small.h"
#include "runtime/trainer/object/trainer_object.h"
#include "support/check.h"
#include "support/evaluated.h"

#include <stdlib.h>

static const mw_device devices[] = {MW_DEVICE_CPU, MW_DEVICE_ANE};

static void test_evaluation_counts_every_example_once(void)
{
    const small_data data = small_make_data();
    const int64_t sizes[] = {SMALL_EXAMPLES, 21, 3}; /* whole batches, a short last one, only a short one */
    for (int k = 0; k < 6; k++) {
        mw_error err = {0};
        const int64_t examples = sizes[k / 2];
        mw_trainer *trainer = small_trainer(devices[k % 2], mw_adam(0.02f), 0.0f, &err);
        small_batch batch;
        small_fill_batch(&batch, &data, 8);
        for (int step = 0; step < 5; step++)
            mw_trainer_step(trainer, &batch.batch, NULL, &err);
        const small_weights weights = small_read(trainer, &err);
        mw_dataset *dataset = small_open_data(&data, examples, &err);
        mw_evaluation found;
        mw_trainer_evaluate(trainer, dataset, NULL, &found, &err);
        CHECK_OK(err);
        CHECK_INT(found.examples, examples);
        CHECK_INT(found.metric_count, 1);
        CHECK_STR(found.metrics[0].name, "accuracy");
        CHECK_NEAR(found.loss, small_loss(&weights, &data, 0, (int)examples), k % 2 == 0 ? 1e-6 : 2e-3);
        CHECK_NEAR(found.metrics[0].value, small_accuracy(&weights, &data, 0, (int)examples), 1e-9);
        const small_snapshot before = small_take(trainer); /* evaluation changes nothing, and follows later steps */
        evaluated(trainer, dataset, NULL, NULL, &err);
        const small_snapshot after = small_take(trainer);
        small_check_same(&before, &after);
        mw_trainer_step(trainer, &batch.batch, NULL, &err);
        const small_weights moved = small_read(trainer, &err);
        mw_trainer_evaluate(trainer, dataset, NULL, &found, &err);
        CHECK_OK(err);
        CHECK_NEAR(found.loss, small_loss(&moved, &data, 0, (int)examples), k % 2 == 0 ? 1e-6 : 2e-3);
        mw_dataset_destroy(dataset);
        mw_trainer_destroy(trainer);
    }
}

/* A plain mean over the batch, without a record of its examples, and the mean of squares over all axes. */
static void test_a_mean_built_by_hand_is_evaluated_per_example(void)
{
    const small_data data = small_make_data();
    mw_error err = {0};
    small_net net = small_create(NULL);
    mw_trainer_options options =
        mw_trainer_defaults(mw_reduce_mean(mw_square(net.logits), MW_ALL_AXES, false), mw_sgd(0.1f));
    options.compile.provider = MW_PROVIDER_ENGINE;
    mw_trainer *trainer = mw_trainer_create(&options, &err);
    mw_graph_destroy(net.graph);
    mw_dataset *dataset = small_open_data(&data, 11, &err);
    double expected = 0;
    mw_evaluation found;
    mw_trainer_evaluate(trainer, dataset, NULL, &found, &err);
    CHECK_OK(err);
    REQUIRE(trainer != NULL);
    const small_weights weights = small_read(trainer, &err);
    for (int n = 0; n < 11; n++) {
        double logits[SMALL_C];
        small_logits(&weights, &data.x[n * SMALL_D], logits);
        for (int c = 0; c < SMALL_C; c++)
            expected += logits[c] * logits[c] / (11 * SMALL_C);
    }
    CHECK_NEAR(found.loss, expected, 1e-6);
    mw_dataset_destroy(dataset);
    mw_trainer_destroy(trainer);
}

static void test_prediction_needs_only_its_own_feeds(void)
{
    const small_data data = small_make_data();
    for (int k = 0; k < 2; k++) {
        mw_error err = {0};
        mw_trainer *trainer = small_trainer(devices[k], mw_adam(0.01f), 0.0f, &err);
        const small_weights weights = small_read(trainer, &err);
        small_batch batch;
        float out[SMALL_N * SMALL_C];
        small_fill_batch(&batch, &data, 16);
        batch.batch.feed_count = 1; /* no labels */
        mw_trainer_predict(trainer, &batch.batch, MW_F32, out, SMALL_N * SMALL_C, &err);
        CHECK_OK(err);
        double worst = 0;
        for (int n = 0; n < SMALL_N; n++) {
            double logits[SMALL_C];
            small_logits(&weights, &data.x[(16 + n) * SMALL_D], logits);
            for (int c = 0; c < SMALL_C; c++)
                worst = fmax(worst, fabs(logits[c] - (double)out[n * SMALL_C + c]));
        }
        CHECK(worst < (k == 0 ? 1e-5 : 5e-3));
        CHECK_INT(mw_trainer_predict(trainer, &batch.batch, MW_F32, out, SMALL_C, &err), MW_ERROR_SHAPE);
        mw_trainer_destroy(trainer);
    }
}

/* ---- the model as MIL ---- */

static void test_the_written_model_predicts_the_same(void)
{
    const small_data data = small_make_data();
    mw_error err = {0};
    mw_trainer *trainer = small_trainer(MW_DEVICE_CPU, mw_adam(0.02f), 0.0f, &err);
    small_batch batch;
    float expected[SMALL_N * SMALL_C], out[SMALL_N * SMALL_C] = {0};
    small_fill_batch(&batch, &data, 0);
    for (int step = 0; step < 5; step++)
        mw_trainer_step(trainer, &batch.batch, NULL, &err);
    mw_trainer_predict(trainer, &batch.batch, MW_F32, expected, SMALL_N * SMALL_C, &err);
    mw_write_options keep_batch = mw_write_defaults();
    keep_batch.keep_batch = true;
    mw_trainer_export(trainer, NULL, scratch("baked"), &keep_batch, &err);
    mw_trainer_destroy(trainer);
    mw_graph *graph = mw_graph_open_mil(scratch("baked/model.mil"), NULL, &err);
    mw_compile_options options = mw_compile_defaults();
    options.provider = MW_PROVIDER_ENGINE;
    options.device = MW_DEVICE_CPU;
    mw_program *program = mw_program_create(graph, &options, &err);
    CHECK_OK(err);
    REQUIRE(program != NULL);
    CHECK_INT(mw_program_get_info(program).port_count, 2); /* x and the prediction: no parameters, no labels */
    mw_port port;
    mw_program_port_at(program, 1, &port);
    mw_program_write(program, "x", MW_F32, data.x, SMALL_N * SMALL_D, &err);
    mw_program_run(program, &err);
    mw_program_read(program, port.name, MW_F32, out, SMALL_N * SMALL_C, &err);
    CHECK_OK(err);
    CHECK(memcmp(expected, out, sizeof out) == 0);
    mw_program_destroy(program);
    mw_graph_destroy(graph);
}

int main(void)
{
    unsetenv("MW_E5RT_LIBRARY");
    RUN(test_evaluation_counts_every_example_once);
    RUN(test_a_mean_built_by_hand_is_evaluated_per_example);
    RUN(test_prediction_needs_only_its_own_feeds);
    RUN(test_the_written_model_predicts_the_same);
    return check_finish();
}
