/* Values of a trainer cross with their type: parameters, states and predictions in every type that a port takes, under
 * the one rule of mw_program_write. */
#include "runtime/small.h"
#include "support/check.h"

#include "base/number/fp16.h"
#include <math.h>
#include <string.h>

enum { COUNT = SMALL_C * SMALL_H, PREDICTED = 8 * SMALL_C };

static mw_trainer *make_trainer(mw_device device, mw_error *err)
{
    return small_trainer(device, mw_adam(0.02f), 0.0f, err);
}

static void test_parameters_are_read_in_every_type(void)
{
    mw_error err = {0};
    float singles[COUNT];
    double doubles[COUNT];
    uint16_t halves[COUNT];
    for (int d = 0; d < 2; d++) {
        mw_trainer *t = make_trainer(d == 0 ? MW_DEVICE_CPU : MW_DEVICE_ANE, &err);
        mw_trainer_read(t, "fc2.weight", MW_F32, singles, COUNT, &err);
        mw_trainer_read(t, "fc2.weight", MW_F64, doubles, COUNT, &err);
        mw_trainer_read(t, "fc2.weight", MW_F16, halves, COUNT, &err);
        CHECK_OK(err);
        for (int i = 0; i < COUNT; i++) {
            CHECK(doubles[i] == (double)singles[i]);
            CHECK_INT(halves[i], mw__fp16_from_double((double)singles[i]));
        }
        mw_trainer_destroy(t);
    }
}

static void test_parameters_are_written_in_every_type(void)
{
    mw_error err = {0};
    float found[COUNT];
    double doubles[COUNT];
    int32_t whole[COUNT];
    uint16_t halves[COUNT];
    for (int i = 0; i < COUNT; i++) {
        doubles[i] = (double)i / 3.0;
        whole[i] = i - 5;
        halves[i] = mw__fp16_from_double((double)i / 4.0);
    }
    mw_trainer *t = make_trainer(MW_DEVICE_CPU, &err);
    mw_trainer_write(t, "fc2.weight", MW_F64, doubles, COUNT, &err);
    mw_trainer_read(t, "fc2.weight", MW_F32, found, COUNT, &err);
    for (int i = 0; i < COUNT; i++)
        CHECK(found[i] == (float)doubles[i]);
    mw_trainer_write(t, "fc2.weight", MW_I32, whole, COUNT, &err);
    mw_trainer_read(t, "fc2.weight", MW_F32, found, COUNT, &err);
    for (int i = 0; i < COUNT; i++)
        CHECK(found[i] == (float)whole[i]);
    mw_trainer_write(t, "fc2.weight", MW_F16, halves, COUNT, &err);
    mw_trainer_read(t, "fc2.weight", MW_F32, found, COUNT, &err);
    for (int i = 0; i < COUNT; i++)
        CHECK(found[i] == (float)i / 4.0f);
    CHECK_OK(err);
    mw_trainer_destroy(t);
}

static void check_refused(mw_trainer *t, mw_dtype dtype, const void *data, mw_status status)
{
    mw_error err = {0};
    float before[COUNT], after[COUNT];
    mw_trainer_read(t, "fc2.weight", MW_F32, before, COUNT, &err);
    CHECK_OK(err);
    CHECK_INT(mw_trainer_write(t, "fc2.weight", dtype, data, COUNT, &err), status);
    CHECK(err.message[0] != '\0');
    mw_error_clear(&err);
    mw_trainer_read(t, "fc2.weight", MW_F32, after, COUNT, &err);
    CHECK(err.status == MW_OK && memcmp(before, after, sizeof after) == 0);
}

static void test_what_does_not_fit_is_refused_and_changes_nothing(void)
{
    mw_error err = {0};
    double doubles[COUNT] = {0};
    mw_trainer *half = make_trainer(MW_DEVICE_ANE, &err);
    CHECK_OK(err);
    doubles[COUNT - 1] = 1e6; /* fp16 ends before */
    check_refused(half, MW_F64, doubles, MW_ERROR_NUMERIC);
    doubles[COUNT - 1] = (double)NAN;
    check_refused(half, MW_F64, doubles, MW_ERROR_NUMERIC);
    int32_t whole[COUNT] = {0};
    whole[3] = 2049; /* an integer goes in exactly or not at all */
    check_refused(half, MW_I32, whole, MW_ERROR_ARGUMENT);
    float large[COUNT] = {0};
    uint16_t halves[COUNT];
    large[2] = 1e6f;
    mw_trainer *full = make_trainer(MW_DEVICE_CPU, &err);
    mw_trainer_write(full, "fc2.weight", MW_F32, large, COUNT, &err);
    CHECK_OK(err);
    CHECK(mw_trainer_read(full, "fc2.weight", MW_F16, halves, COUNT, &err) != MW_OK);
    CHECK_CONTAINS(err.message, "parameter \"fc2.weight\": element 2");
    mw_error_clear(&err);
    mw_trainer_destroy(full);
    check_refused(half, MW_STRING, doubles, MW_ERROR_DTYPE);
    check_refused(half, (mw_dtype)99, doubles, MW_ERROR_DTYPE);
    mw_trainer_destroy(half);
}

static void test_predictions_come_in_every_type(void)
{
    mw_error err = {0};
    float singles[PREDICTED];
    double doubles[PREDICTED];
    uint16_t halves[PREDICTED];
    const small_data data = small_make_data();
    small_batch batch;
    small_fill_batch(&batch, &data, 8);
    mw_trainer *t = make_trainer(MW_DEVICE_CPU, &err);
    mw_trainer_predict(t, &batch.batch, MW_F32, singles, PREDICTED, &err);
    mw_trainer_predict(t, &batch.batch, MW_F64, doubles, PREDICTED, &err);
    mw_trainer_predict(t, &batch.batch, MW_F16, halves, PREDICTED, &err);
    CHECK_OK(err);
    for (int i = 0; i < PREDICTED; i++) {
        CHECK(doubles[i] == (double)singles[i]);
        CHECK_INT(halves[i], mw__fp16_from_double((double)singles[i]));
    }
    CHECK_INT(mw_trainer_predict(t, &batch.batch, MW_STRING, singles, PREDICTED, &err), MW_ERROR_DTYPE);
    mw_trainer_destroy(t);
}

/* Loss, metrics and counts of one call are those of two. */
static void test_one_evaluation_finds_all(void)
{
    mw_error err = {0};
    int64_t counts[SMALL_C * SMALL_C], alone[SMALL_C * SMALL_C];
    mw_evaluation both, measured;
    small_data data = small_make_data();
    mw_trainer *t = make_trainer(MW_DEVICE_CPU, &err);
    mw_dataset *set = small_open_data(&data, SMALL_EXAMPLES, &err);
    mw_confusion confusion = {.classes = SMALL_C, .counts = counts};
    mw_trainer_evaluate(t, set, &confusion, &both, &err);
    mw_trainer_evaluate(t, set, NULL, &measured, &err);
    confusion.counts = alone;
    mw_trainer_evaluate(t, set, &confusion, NULL, &err);
    CHECK_OK(err);
    CHECK(both.loss == measured.loss && both.examples == SMALL_EXAMPLES && both.metric_count == measured.metric_count);
    CHECK(memcmp(counts, alone, sizeof counts) == 0);
    confusion.classes = SMALL_C + 1; /* found before anything is run */
    const uint64_t fed = mw_trainer_get_info(t).counters.feed_bytes;
    CHECK(mw_trainer_evaluate(t, set, &confusion, &both, &err) != MW_OK);
    CHECK(both.loss == 0.0 && both.examples == 0 && mw_trainer_get_info(t).counters.feed_bytes == fed);
    mw_dataset_destroy(set);
    mw_trainer_destroy(t);
}

int main(void)
{
    RUN(test_parameters_are_read_in_every_type);
    RUN(test_parameters_are_written_in_every_type);
    RUN(test_what_does_not_fit_is_refused_and_changes_nothing);
    RUN(test_predictions_come_in_every_type);
    RUN(test_one_evaluation_finds_all);
    return check_finish();
}
