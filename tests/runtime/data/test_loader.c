/* Data sets in memory and from functions, and the order, filling and positions of loaders. */
#include "runtime/data/data.h"
#include "support/check.h"
#include "support/failing.h"

#include <millwright/dataset.h>
#include <stdlib.h>

enum { EXAMPLES = 10, WIDTH = 3 };

/* Example i is {10 i, 10 i + 1, 10 i + 2} with label i. */
static mw_dataset *make_dataset(bool copy, mw_error *err)
{
    static int16_t x[EXAMPLES][WIDTH];
    static uint8_t y[EXAMPLES];
    for (int i = 0; i < EXAMPLES; i++) {
        y[i] = (uint8_t)i;
        for (int j = 0; j < WIDTH; j++)
            x[i][j] = (int16_t)(10 * i + j);
    }
    const mw_column columns[] = {
        {.name = "x", .dtype = MW_I16, .shape = MW_SHAPE(WIDTH), .scale = 0.5f, .offset = -1.0f, .data = x},
        {.name = "y", .dtype = MW_U8, .data = y},
    };
    mw_dataset *dataset = mw_dataset_create(columns, 2, EXAMPLES, copy, err);
    if (copy)
        memset(x, 0, sizeof x);
    return dataset;
}

static bool row_is(const mw_batch *batch, int row, int64_t id)
{
    const int16_t *x = batch->feeds[0].data;
    const uint8_t *y = batch->feeds[1].data;
    bool good = batch->ids[row] == id && y[row] == id;
    for (int j = 0; j < WIDTH; j++)
        good = good && x[row * WIDTH + j] == 10 * id + j;
    return good;
}

static void test_dataset_keeps_columns(void)
{
    mw_error err = {0};
    mw_dataset *dataset = make_dataset(true, &err);
    REQUIRE(dataset != NULL);
    CHECK_INT(mw_dataset_examples(dataset), EXAMPLES);
    CHECK(mw_dataset_column_at(dataset, 1) != NULL && mw_dataset_column_at(dataset, 2) == NULL);
    const mw_column *x = mw_dataset_column_at(dataset, 0), *y = mw_dataset_column_at(dataset, 1);
    CHECK_STR(x->name, "x");
    CHECK_INT(x->dtype, MW_I16);
    CHECK(x->scale == 0.5f && x->offset == -1.0f);
    CHECK(y->scale == 1.0f); /* 0 means 1 */
    CHECK_INT(((const int16_t *)x->data)[3 * WIDTH + 1], 31);
    CHECK(mw_dataset_column_at(dataset, 2) == NULL);
    mw_dataset_destroy(dataset);
    mw_dataset_destroy(NULL);
    CHECK_INT(mw_dataset_examples(NULL), 0);
}

static void expect_refused(mw_column column, int64_t examples, mw_status status, const char *part)
{
    static const float data[4];
    if (column.data == NULL)
        column.data = data;
    mw_error err = {0};
    CHECK(mw_dataset_create(&column, 1, examples, true, &err) == NULL);
    CHECK_ERROR(err, status, part);
}

static void test_dataset_rejects_bad_columns(void)
{
    expect_refused((mw_column){.name = "x", .dtype = MW_F32}, 0, MW_ERROR_ARGUMENT, "at least one");
    expect_refused((mw_column){.name = "x", .dtype = MW_F32}, -1, MW_ERROR_ARGUMENT, "at least one");
    expect_refused((mw_column){.name = "", .dtype = MW_F32}, 1, MW_ERROR_ARGUMENT, "no name");
    expect_refused((mw_column){.dtype = MW_F32}, 1, MW_ERROR_ARGUMENT, "no name");
    expect_refused((mw_column){.name = "x", .dtype = MW_BF16}, 1, MW_ERROR_DTYPE, "bf16");
    expect_refused((mw_column){.name = "x", .dtype = (mw_dtype)99}, 1, MW_ERROR_DTYPE, "?");
    expect_refused((mw_column){.name = "x", .dtype = MW_F32, .shape = MW_SHAPE(2, 0)}, 1, MW_ERROR_SHAPE, "extent 1");
    expect_refused((mw_column){.name = "x", .dtype = MW_F32, .shape = MW_SHAPE(-1)}, 1, MW_ERROR_SHAPE, "-1");
    expect_refused((mw_column){.name = "x", .dtype = MW_F32, .shape = {.rank = 9}}, 1, MW_ERROR_SHAPE, "rank 9");
    const mw_shape huge = MW_SHAPE(INT64_MAX / 2, 3);
    expect_refused((mw_column){.name = "x", .dtype = MW_F32, .shape = huge}, 1, MW_ERROR_SHAPE, "more bytes");
    expect_refused((mw_column){.name = "x", .dtype = MW_F32}, INT64_MAX, MW_ERROR_SHAPE, "more bytes");

    const uint8_t data[2] = {0};
    const mw_column same[] = {{.name = "x", .dtype = MW_U8, .data = data}, {.name = "x", .dtype = MW_U8, .data = data}};
    mw_error err = {0};
    CHECK(mw_dataset_create(same, 2, 2, false, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "both called \"x\"");
    CHECK(mw_dataset_create(same, 1, 2, false, &err) == NULL); /* an error that is set: nothing happens */
    mw_error none = {0};
    CHECK(mw_dataset_create(&(mw_column){.name = "x", .dtype = MW_U8}, 1, 2, false, &none) == NULL);
    CHECK_ERROR(none, MW_ERROR_ARGUMENT, "no data");
}

static void test_loader_serves_in_order_and_drops_the_rest(void)
{
    mw_error err = {0};
    mw_dataset *dataset = make_dataset(false, &err);
    mw_loader_options options = mw_loader_defaults(dataset, 4);
    CHECK(options.shuffle && options.drop_last);
    options.shuffle = false;
    mw_loader *loader = mw_loader_create(&options, &err);
    REQUIRE(loader != NULL);
    CHECK_INT(mw_loader_batches(loader), 2);
    for (int epoch = 0; epoch < 3; epoch++) {
        for (int i = 0; i < 2; i++) {
            const mw_batch *batch = mw_loader_next(loader, &err);
            REQUIRE(batch != NULL);
            CHECK_INT(batch->examples, 4);
            CHECK_INT(batch->feed_count, 2);
            CHECK_STR(batch->feeds[0].name, "x");
            CHECK_INT(batch->feeds[0].count, 4 * WIDTH);
            CHECK(batch->feeds[0].scale == 0.5f && batch->feeds[0].offset == -1.0f);
            for (int row = 0; row < 4; row++)
                CHECK(row_is(batch, row, 4 * i + row));
        }
        CHECK(mw_loader_next(loader, &err) == NULL);
    }
    CHECK_OK(err);
    mw_loader_destroy(loader);
    mw_dataset_destroy(dataset);
}

static void test_loader_fills_up_with_the_last_example(void)
{
    mw_error err = {0};
    mw_dataset *dataset = make_dataset(false, &err);
    mw_loader_options options = mw_loader_defaults(dataset, 4);
    options.shuffle = false;
    options.drop_last = false;
    mw_loader *loader = mw_loader_create(&options, &err);
    REQUIRE(loader != NULL);
    CHECK_INT(mw_loader_batches(loader), 3);
    const mw_batch *batch = NULL;
    for (int i = 0; i < 3; i++)
        batch = mw_loader_next(loader, &err);
    REQUIRE(batch != NULL);
    CHECK_INT(batch->examples, 2);
    CHECK_INT(batch->feeds[1].count, 4);
    CHECK(row_is(batch, 0, 8) && row_is(batch, 1, 9) && row_is(batch, 2, 9) && row_is(batch, 3, 9));
    mw_loader_destroy(loader);

    options.batch = 25; /* more than there are */
    loader = mw_loader_create(&options, &err);
    CHECK_INT(mw_loader_batches(loader), 1);
    batch = mw_loader_next(loader, &err);
    REQUIRE(batch != NULL);
    CHECK_INT(batch->examples, EXAMPLES);
    CHECK(row_is(batch, 24, 9));
    mw_loader_destroy(loader);
    mw_dataset_destroy(dataset);
}

/* One epoch's ids. */
static void take_epoch(mw_loader *loader, int64_t *ids)
{
    int count = 0;
    for (const mw_batch *batch; (batch = mw_loader_next(loader, NULL)) != NULL;) {
        for (int row = 0; row < batch->examples; row++) {
            CHECK(row_is(batch, row, batch->ids[row]));
            ids[count++] = batch->ids[row];
        }
    }
    CHECK_INT(count, EXAMPLES);
}

static bool is_permutation(const int64_t *ids)
{
    int seen[EXAMPLES] = {0};
    for (int i = 0; i < EXAMPLES; i++)
        seen[ids[i]]++;
    for (int i = 0; i < EXAMPLES; i++) {
        if (seen[i] != 1)
            return false;
    }
    return true;
}

static void test_loader_shuffles_anew_each_epoch(void)
{
    mw_error err = {0};
    mw_dataset *dataset = make_dataset(false, &err);
    mw_loader_options options = mw_loader_defaults(dataset, 3);
    options.drop_last = false;
    options.seed = 7;
    mw_loader *loader = mw_loader_create(&options, &err), *same = mw_loader_create(&options, &err);
    options.seed = 8;
    mw_loader *other = mw_loader_create(&options, &err);
    REQUIRE(loader != NULL && same != NULL && other != NULL);
    int64_t first[EXAMPLES], second[EXAMPLES], again[EXAMPLES], different[EXAMPLES];
    take_epoch(loader, first);
    take_epoch(loader, second);
    take_epoch(same, again);
    take_epoch(other, different);
    CHECK(is_permutation(first) && is_permutation(second) && is_permutation(different));
    CHECK(memcmp(first, second, sizeof first) != 0);
    CHECK(memcmp(first, again, sizeof first) == 0);
    CHECK(memcmp(first, different, sizeof first) != 0);
    mw_loader_destroy(loader);
    mw_loader_destroy(same);
    mw_loader_destroy(other);
    mw_dataset_destroy(dataset);
}

/* The order is a promise to old checkpoints: Fisher-Yates from the end, drawing with Philox 4x32-10 (seed 7, stream =
 * epoch), 64 bits a draw, low word first. Computed with a plain Python implementation of the paper's algorithm, which
 * was checked against the paper's known answer for a zero counter and key. */
static void test_loader_order_is_the_recorded_one(void)
{
    static const int64_t recorded[2][EXAMPLES] = {{1, 8, 6, 2, 9, 4, 0, 3, 5, 7}, {0, 6, 1, 3, 2, 9, 8, 7, 5, 4}};
    mw_error err = {0};
    mw_dataset *dataset = make_dataset(false, &err);
    mw_loader_options options = mw_loader_defaults(dataset, 5);
    options.seed = 7;
    mw_loader *loader = mw_loader_create(&options, &err);
    REQUIRE(loader != NULL);
    for (int epoch = 0; epoch < 2; epoch++) {
        int64_t ids[EXAMPLES];
        take_epoch(loader, ids);
        CHECK(memcmp(ids, recorded[epoch], sizeof ids) == 0);
    }
    mw_loader_destroy(loader);
    mw_dataset_destroy(dataset);
}

static void test_loader_seeks_to_any_position(void)
{
    mw_error err = {0};
    mw_dataset *dataset = make_dataset(false, &err);
    mw_loader_options options = mw_loader_defaults(dataset, 3);
    options.drop_last = false;
    options.seed = 5;
    mw_loader *straight = mw_loader_create(&options, &err), *jumping = mw_loader_create(&options, &err);
    REQUIRE(straight != NULL && jumping != NULL);
    for (int step = 0; step < 4 * 5; step++) { /* 4 batches and the end of the epoch, 4 times */
        const mw_loader_position position = mw_loader_tell(straight);
        CHECK_INT(position.epoch, step / 5);
        CHECK_INT(position.batch, step % 5);
        const mw_batch *expected = mw_loader_next(straight, &err);
        mw_loader_seek(jumping, (mw_loader_position){.epoch = 100 - step, .batch = step % 4}, &err);
        mw_loader_next(jumping, &err);
        CHECK_INT(mw_loader_seek(jumping, position, &err), MW_OK);
        const mw_batch *got = mw_loader_next(jumping, &err);
        CHECK((expected == NULL) == (got == NULL));
        if (expected != NULL && got != NULL)
            CHECK(memcmp(expected->ids, got->ids, 3 * sizeof *got->ids) == 0 && expected->examples == got->examples);
        const mw_loader_position a = mw_loader_tell(straight), b = mw_loader_tell(jumping);
        CHECK(a.epoch == b.epoch && a.batch == b.batch);
    }
    CHECK_OK(err);
    const mw_loader_position bad[] = {{-1, 0}, {0, -1}, {0, 5}, {INT64_MAX, 0}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        mw_error refused = {0};
        const mw_loader_position before = mw_loader_tell(jumping);
        CHECK_INT(mw_loader_seek(jumping, bad[i], &refused), MW_ERROR_ARGUMENT);
        CHECK_CONTAINS(refused.message, "4 batches");
        CHECK_INT(mw_loader_tell(jumping).batch, before.batch);
    }
    mw_loader_destroy(straight);
    mw_loader_destroy(jumping);
    mw_dataset_destroy(dataset);
}

static void test_loader_rejects_bad_options(void)
{
    mw_error err = {0};
    mw_dataset *dataset = make_dataset(false, &err);
    mw_loader_options options = mw_loader_defaults(dataset, EXAMPLES + 1);
    CHECK(mw_loader_create(&options, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "a batch of 11 from 10 examples");
    err = (mw_error){0};
    options.batch = 0;
    CHECK(mw_loader_create(&options, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "a batch of 0");
    err = (mw_error){0};
    options.batch = INT64_MAX;
    options.drop_last = false;
    CHECK(mw_loader_create(&options, &err) == NULL);
    CHECK(err.status == MW_ERROR_ARGUMENT || err.status == MW_ERROR_MEMORY);
    err = (mw_error){0};
    options = (mw_loader_options){.dataset = dataset, .batch = 1};
    CHECK(mw_loader_create(&options, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "mw_loader_defaults");
    err = (mw_error){0};
    options = mw_loader_defaults(NULL, 1);
    CHECK(mw_loader_create(&options, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "the data set is NULL");
    mw_loader_destroy(NULL);
    mw_dataset_destroy(dataset);
}

/* ---- data sets from functions ---- */

typedef struct maker {
    int64_t bad; /* example that fails */
    bool says_why;
    int calls;
} maker;

static mw_status make_example(void *user, int64_t example, size_t column, void *out, mw_error *err)
{
    maker *made = user;
    made->calls++;
    if (example == made->bad) {
        if (made->says_why) {
            err->status = MW_ERROR_FILE;
            snprintf(err->message, sizeof err->message, "the disk is on fire");
        }
        return MW_ERROR_FILE;
    }
    if (column == 0) {
        for (int j = 0; j < WIDTH; j++)
            ((int16_t *)out)[j] = (int16_t)(10 * example + j);
    } else {
        *(uint8_t *)out = (uint8_t)example;
    }
    return MW_OK;
}

static const mw_column made_columns[] = {
    {.name = "x", .dtype = MW_I16, .shape = {.rank = 1, .dim = {WIDTH}}},
    {.name = "y", .dtype = MW_U8},
};

static void test_loader_asks_the_function_for_examples(void)
{
    mw_error err = {0};
    maker made = {.bad = -1};
    mw_dataset *dataset = mw_dataset_create_callback(made_columns, 2, EXAMPLES, make_example, &made, &err);
    mw_loader_options options = mw_loader_defaults(dataset, 4);
    options.drop_last = false;
    mw_loader *loader = mw_loader_create(&options, &err);
    REQUIRE(loader != NULL);
    int64_t ids[EXAMPLES];
    take_epoch(loader, ids);
    CHECK(is_permutation(ids));
    CHECK_INT(made.calls, 2 * EXAMPLES); /* what fills up is copied, not made again */
    mw_loader_destroy(loader);
    mw_dataset_destroy(dataset);
    CHECK(mw_dataset_create_callback(made_columns, 2, EXAMPLES, NULL, NULL, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "no function");
}

static void test_loader_reports_the_example_that_failed(void)
{
    maker made = {.bad = 6, .says_why = true};
    mw_error err = {0};
    mw_dataset *dataset = mw_dataset_create_callback(made_columns, 2, EXAMPLES, make_example, &made, &err);
    mw_loader_options options = mw_loader_defaults(dataset, 4);
    options.shuffle = false;
    mw_loader *loader = mw_loader_create(&options, &err);
    REQUIRE(loader != NULL);
    CHECK(mw_loader_next(loader, &err) != NULL);
    CHECK(mw_loader_next(loader, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_FILE, "example 6 of column \"x\": the disk is on fire");
    CHECK(mw_loader_next(loader, &err) == NULL); /* the error is set */
    err = (mw_error){0};
    made.says_why = false;
    CHECK(mw_loader_next(loader, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_FILE, "example 6");
    err = (mw_error){0};
    made.bad = -1;
    const mw_batch *batch = mw_loader_next(loader, &err); /* the position stayed */
    REQUIRE(batch != NULL);
    CHECK(row_is(batch, 0, 4));
    mw_loader_destroy(loader);
    mw_dataset_destroy(dataset);
}

static void test_loader_survives_failing_allocations(void)
{
    const uint8_t data[EXAMPLES] = {0};
    const mw_column column = {.name = "x", .dtype = MW_U8, .data = data};
    bool finished = false;
    for (long n = 0; !finished && n < 100; n++) {
        failing_allocator failing = {.fail_at = n};
        const mw_allocator allocator = failing_allocator_of(&failing);
        mw_error err = {0};
        mw_dataset *dataset = mw__dataset_from_memory(&allocator, &column, 1, EXAMPLES, true, &err);
        mw_loader_options options = mw_loader_defaults(dataset, 4);
        options.allocator = &allocator;
        mw_loader *loader = mw_loader_create(&options, &err);
        finished = loader != NULL;
        CHECK(finished == !failing.failed);
        CHECK_INT(err.status, failing.failed ? MW_ERROR_MEMORY : MW_OK);
        const long requests = failing.requests;
        while (finished && mw_loader_next(loader, &err) != NULL)
            CHECK_INT(failing.requests, requests); /* nothing is allocated per batch */
        mw_loader_destroy(loader);
        mw_dataset_destroy(dataset);
        CHECK_INT(failing.live, 0);
    }
    CHECK(finished);
}

int main(void)
{
    RUN(test_dataset_keeps_columns);
    RUN(test_dataset_rejects_bad_columns);
    RUN(test_loader_serves_in_order_and_drops_the_rest);
    RUN(test_loader_fills_up_with_the_last_example);
    RUN(test_loader_shuffles_anew_each_epoch);
    RUN(test_loader_order_is_the_recorded_one);
    RUN(test_loader_seeks_to_any_position);
    RUN(test_loader_rejects_bad_options);
    RUN(test_loader_asks_the_function_for_examples);
    RUN(test_loader_reports_the_example_that_failed);
    RUN(test_loader_survives_failing_allocations);
    return check_finish();
}
