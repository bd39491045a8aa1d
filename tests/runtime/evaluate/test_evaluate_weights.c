/* Evaluation of losses and metrics whose mean is weighted: the quotient over the whole data set, also when its last
 * batch is short; ignored labels on the way to the device. */
#include "runtime/small.h"
#include "runtime/trainer/object/trainer_object.h"
#include "support/check.h"
#include "support/evaluated.h"

#include <stdlib.h>

enum { IGNORED = -100 };

static const mw_device devices[] = {MW_DEVICE_CPU, MW_DEVICE_ANE};
static const float class_weights[SMALL_C] = {0.5f, 2.0f, 1.25f};

/* Every third label is ignored, and all of examples 8 to 15: a batch in which none counts. */
static small_data make_data(void)
{
    small_data data = small_make_data();
    for (int n = 0; n < SMALL_EXAMPLES; n++)
        if (n % 3 == 1 || n / SMALL_N == 1)
            data.y[n] = IGNORED;
    return data;
}

static mw_trainer *make_trainer(mw_device device, bool strict_metric, mw_error *err)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(SMALL_N, SMALL_D));
    mw_tensor *y = mw_input(graph, "y", MW_I32, MW_SHAPE(SMALL_N));
    mw_tensor *logits = mw_dense(mw_tanh(mw_dense(x, SMALL_H, "fc1")), SMALL_C, "fc2");
    mw_cross_entropy_options entropy = mw_cross_entropy_defaults();
    entropy.class_count = SMALL_C;
    entropy.class_weights = class_weights;
    entropy.ignore_index = IGNORED;
    mw_trainer_options options =
        mw_trainer_defaults(mw_cross_entropy_with(logits, y, &entropy), mw_sgd_momentum(0.1f, 0.9f, false));
    options.metric = strict_metric ? mw_accuracy(logits, y) : mw_accuracy_ignoring(logits, y, IGNORED);
    options.compile.device = device;
    options.compile.provider = MW_PROVIDER_ENGINE;
    options.compile.seed = 3;
    mw_trainer *trainer = mw_trainer_create(&options, err);
    mw_graph_destroy(graph);
    return trainer;
}

static void expect(const small_weights *weights, const small_data *data, int count, double *loss, double *accuracy)
{
    double sum = 0, weight = 0, right = 0, counted = 0;
    for (int n = 0; n < count; n++) {
        if (data->y[n] == IGNORED)
            continue;
        const double w = (double)class_weights[data->y[n]];
        sum += w * small_loss(weights, data, n, 1);
        right += small_accuracy(weights, data, n, 1);
        weight += w;
        counted++;
    }
    *loss = sum / weight;
    *accuracy = right / counted;
}

static void test_evaluation_divides_by_the_labels_that_count(void)
{
    const small_data data = make_data();
    const int64_t sizes[] = {SMALL_EXAMPLES, 21, 3}; /* whole batches, a short last one, only a short one */
    for (int k = 0; k < 6; k++) {
        mw_error err = {0};
        mw_trainer *trainer = make_trainer(devices[k % 2], false, &err);
        small_batch batch;
        small_fill_batch(&batch, &data, 16);
        for (int step = 0; step < 5; step++)
            mw_trainer_step(trainer, &batch.batch, NULL, &err);
        mw_dataset *dataset = small_open_data(&data, sizes[k / 2], &err);
        const small_weights weights = small_read(trainer, &err);
        double loss = 0, accuracy = 0, expected_loss, expected_accuracy;
        expect(&weights, &data, (int)sizes[k / 2], &expected_loss, &expected_accuracy);
        evaluated(trainer, dataset, &loss, &accuracy, &err);
        CHECK_OK(err);
        CHECK_NEAR(loss, expected_loss, k % 2 == 0 ? 1e-6 : 2e-3);
        CHECK_NEAR(accuracy, expected_accuracy, 1e-9);
        mw_dataset_destroy(dataset);
        mw_trainer_destroy(trainer);
    }
}

static void test_a_batch_without_labels_changes_nothing(void)
{
    const small_data data = make_data();
    for (int k = 0; k < 2; k++) {
        mw_error err = {0};
        mw_trainer *trainer = make_trainer(devices[k], false, &err);
        REQUIRE(trainer != NULL);
        const small_snapshot before = small_take(trainer);
        small_batch batch;
        float loss = -1.0f;
        small_fill_batch(&batch, &data, SMALL_N);
        CHECK_INT(mw_trainer_step(trainer, &batch.batch, &loss, &err), MW_OK);
        CHECK(loss == 0.0f);
        const small_snapshot after = small_take(trainer);
        small_check_same(&before, &after);
        CHECK_INT(mw_trainer_get_info(trainer).steps, 1);
        CHECK_OK(err);
        mw_trainer_destroy(trainer);
    }
}

static void test_a_data_set_without_labels_has_no_mean(void)
{
    small_data data = make_data();
    mw_error err = {0};
    for (int n = 0; n < SMALL_N; n++)
        data.y[n] = IGNORED;
    mw_trainer *trainer = make_trainer(MW_DEVICE_CPU, false, &err);
    mw_dataset *dataset = small_open_data(&data, SMALL_N, &err);
    double loss = 7, accuracy = 7;
    CHECK_INT(evaluated(trainer, dataset, &loss, &accuracy, &err), MW_ERROR_NUMERIC);
    CHECK_ERROR(err, MW_ERROR_NUMERIC, "the loss has no mean: every label of the data set is ignored or has weight 0");
    CHECK(loss == 0.0 && accuracy == 0.0);
    mw_dataset_destroy(dataset);
    mw_trainer_destroy(trainer);
}

static void test_labels_that_are_neither_classes_nor_ignored_are_refused(void)
{
    small_data data = make_data();
    for (int k = 0; k < 4; k++) {
        mw_error err = {0};
        const bool strict = k >= 2;
        mw_trainer *trainer = make_trainer(devices[k % 2], strict, &err);
        small_batch batch;
        data.y[18] = strict ? IGNORED : -99;
        data.y[16] = 0;
        data.y[17] = 1;
        small_fill_batch(&batch, &data, 16);
        CHECK_INT(mw_trainer_step(trainer, &batch.batch, NULL, &err), MW_ERROR_ARGUMENT);
        CHECK_CONTAINS(err.message, strict ? "element 2, example 2 (id 18) is -100, not in 0 .. 2"
                                           : "is -99, not in 0 .. 2, nor the ignored -100");
        CHECK((strstr(err.message, "ignored") == NULL) == strict);
        mw_trainer_destroy(trainer);
    }
}

/* [N, T, C]: the mean over the places that count, not over the means of the examples. */
static void test_sequences_of_different_lengths(void)
{
    enum { EXAMPLES = 6, BATCH = 4, T = 3, C = 2 };
    static const float x[EXAMPLES * T * C] = {1, 2, 0, 0, 3, 1, 2, 2, 1, 0, 0, 5, 1, 1, 2, 0, 0, 1,
                                              4, 1, 0, 2, 1, 3, 0, 0, 2, 1, 3, 3, 1, 0, 0, 2, 2, 1};
    static const int32_t y[EXAMPLES * T] = {0, 1, -1, 1, -1, -1, 0, 0, 1, -1, -1, -1, 1, 0, -1, 0, -1, -1};
    double expected = 0, counted = 0;
    for (int i = 0; i < EXAMPLES * T; i++) {
        const double a = (double)x[i * C], b = (double)x[i * C + 1];
        expected += y[i] < 0 ? 0 : log(exp(a) + exp(b)) - (y[i] == 0 ? a : b);
        counted += y[i] >= 0;
    }
    for (int k = 0; k < 2; k++) {
        mw_error err = {0};
        mw_graph *graph = mw_graph_create(NULL, NULL);
        mw_tensor *logits = mw_input(graph, "x", MW_F32, MW_SHAPE(BATCH, T, C));
        mw_tensor *labels = mw_input(graph, "y", MW_I32, MW_SHAPE(BATCH, T));
        mw_tensor *shift = mw_parameter(graph, "shift", MW_F32, MW_SHAPE(C), mw_init_zeros());
        mw_cross_entropy_options entropy = mw_cross_entropy_defaults();
        entropy.ignore_index = -1;
        mw_trainer_options options =
            mw_trainer_defaults(mw_cross_entropy_with(mw_add(logits, shift), labels, &entropy), mw_sgd(0.1f));
        options.compile.device = devices[k];
        options.compile.provider = MW_PROVIDER_ENGINE;
        mw_trainer *trainer = mw_trainer_create(&options, &err);
        const mw_column columns[] = {{.name = "x", .dtype = MW_F32, .shape = MW_SHAPE(T, C), .data = x},
                                     {.name = "y", .dtype = MW_I32, .shape = MW_SHAPE(T), .data = y}};
        mw_dataset *dataset = mw_dataset_create(columns, 2, EXAMPLES, false, &err);
        double loss = 0;
        evaluated(trainer, dataset, &loss, NULL, &err);
        CHECK_OK(err);
        CHECK_NEAR(loss, expected / counted, k == 0 ? 1e-6 : 2e-3);
        mw_dataset_destroy(dataset);
        mw_trainer_destroy(trainer);
        mw_graph_destroy(graph);
    }
}

int main(void)
{
    unsetenv("MW_E5RT_LIBRARY");
    RUN(test_evaluation_divides_by_the_labels_that_count);
    RUN(test_a_batch_without_labels_changes_nothing);
    RUN(test_a_data_set_without_labels_has_no_mean);
    RUN(test_labels_that_are_neither_classes_nor_ignored_are_refused);
    RUN(test_sequences_of_different_lengths);
    return check_finish();
}
