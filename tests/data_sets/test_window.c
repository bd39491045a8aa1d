/* Windows of a series in time, against rows that are counted out by hand. */
#include "support/check.h"

#include <millwright/data.h>
#include <millwright/millwright.h>

#include <stdlib.h>
#include <string.h>

enum { ROWS = 17, WIDTH = 3 };

/* "x" [3] F32: row i is i, i + 0.25, i + 0.5; "t" I32: i; "shop" I64: `series` values, in runs of different lengths. */
static mw_dataset *rows(const int *lengths, size_t series, mw_error *err)
{
    float x[ROWS * WIDTH];
    int32_t t[ROWS];
    int64_t shop[ROWS];
    int64_t count = 0;
    for (size_t s = 0; s < series; s++)
        for (int i = 0; i < lengths[s]; i++, count++) {
            t[count] = (int32_t)count, shop[count] = (int64_t)(s % 2); /* a value may come again */
            for (int k = 0; k < WIDTH; k++)
                x[count * WIDTH + k] = (float)count + 0.25f * (float)k;
        }
    const mw_column columns[] = {
        {.name = "x", .dtype = MW_F32, .shape = MW_SHAPE(WIDTH), .data = x},
        {.name = "t", .dtype = MW_I32, .scale = 0.5f, .data = t},
        {.name = "shop", .dtype = MW_I64, .data = shop},
    };
    return mw_dataset_create(columns, 3, count, true, err);
}

/* The begins of all windows, in order, by going through all rows. */
static size_t wanted_begins(const int *lengths, size_t series, const mw_window_options *o, int64_t *begin)
{
    size_t count = 0;
    int64_t first = 0;
    for (size_t s = 0; s < series; first += lengths[s++])
        for (int64_t b = first; b < first + lengths[s]; b++)
            if ((b - first) % o->stride == 0 && b + o->length + o->gap + o->horizon <= first + lengths[s])
                begin[count++] = b;
    return count;
}

static void check_example(const mw_batch *batch, const mw_window_options *o, int64_t begin)
{
    const float *x = batch->feeds[0].data;
    const int32_t *next = batch->feeds[1].data;
    for (int64_t i = 0; i < o->length; i++)
        for (int k = 0; k < WIDTH; k++)
            CHECK(x[i * WIDTH + k] == (float)(begin + i) + 0.25f * (float)k);
    for (int64_t i = 0; i < o->horizon; i++)
        CHECK_INT(next[i], begin + o->length + o->gap + i);
}

static void check_windows(const int *lengths, size_t series, const mw_window_options *o)
{
    mw_error err = {0};
    int64_t begin[ROWS];
    const size_t count = wanted_begins(lengths, series, o, begin);
    mw_dataset *source = rows(lengths, series, &err), *windows = mw_dataset_window(source, o, &err);
    mw_dataset_destroy(source); /* the windows keep it */
    if (count == 0) {
        CHECK(windows == NULL && err.status == MW_ERROR_ARGUMENT && strstr(err.message, "do not fit") != NULL);
        return;
    }
    if (!CHECK_OK(err))
        return;
    CHECK_INT(mw_dataset_examples(windows), (int64_t)count);
    CHECK_STR(mw_dataset_column_at(windows, 1)->name, "t.next");
    CHECK(mw_dataset_column_at(windows, 1)->scale == 0.5f);
    mw_loader_options options = mw_loader_defaults(windows, 1);
    options.shuffle = false;
    mw_loader *loader = mw_loader_create(&options, &err);
    for (size_t i = 0; i < count; i++) {
        const mw_batch *batch = mw_loader_next(loader, &err);
        if (CHECK(batch != NULL))
            check_example(batch, o, begin[i]);
    }
    CHECK_OK(err);
    mw_loader_destroy(loader);
    mw_dataset_destroy(windows);
}

static void test_windows_are_the_rows_that_follow_each_other(void)
{
    static const int one[] = {ROWS}, several[] = {6, 1, 7, 3};
    static const char *const x[] = {"x"}, *const t[] = {"t"};
    for (int64_t length = 1; length <= 6; length++)
        for (int64_t horizon = 1; horizon <= 3; horizon++)
            for (int64_t gap = 0; gap <= 2; gap++)
                for (int64_t stride = 1; stride <= 20; stride += stride < 4 ? 1 : 8) {
                    mw_window_options o = mw_window_defaults(length);
                    o.horizon = horizon, o.gap = gap, o.stride = stride;
                    o.inputs = x, o.input_count = 1, o.targets = t, o.target_count = 1;
                    check_windows(one, 1, &o);
                    o.series = "shop";
                    check_windows(several, 4, &o);
                }
}

static void test_columns_are_all_unless_they_are_named(void)
{
    static const int one[] = {ROWS};
    mw_error err = {0};
    mw_dataset *source = rows(one, 1, &err);
    mw_window_options o = mw_window_defaults(4);
    o.series = "shop";
    mw_dataset *windows = mw_dataset_window(source, &o, &err);
    CHECK_OK(err);
    static const char *const names[] = {"x", "t", "x.next", "t.next"};
    for (size_t i = 0; i < 4; i++)
        CHECK_STR(mw_dataset_column_at(windows, i)->name, names[i]);
    CHECK(mw_dataset_column_at(windows, 4) == NULL);
    CHECK(mw_shape_equal(mw_dataset_column_at(windows, 0)->shape, MW_SHAPE(4, WIDTH)));
    CHECK(mw_shape_equal(mw_dataset_column_at(windows, 3)->shape, MW_SHAPE(1)));
    mw_dataset_destroy(windows);
    o.horizon = 0;
    windows = mw_dataset_window(source, &o, &err);
    CHECK_OK(err);
    CHECK(mw_dataset_column_at(windows, 2) == NULL);
    CHECK_INT(mw_dataset_examples(windows), ROWS - 3);
    mw_dataset_destroy(windows);
    mw_dataset_destroy(source);
}

typedef struct refusal {
    mw_window_options options;
    const char *says;
} refusal;

static void test_what_cannot_be_is_refused_with_its_reason(void)
{
    static const int one[] = {ROWS};
    static const char *const none[] = {"nothing"}, *const twice[] = {"x", "x"};
    mw_error err = {0};
    mw_dataset *source = rows(one, 1, &err);
    const mw_window_options good = mw_window_defaults(4);
    refusal refusals[12];
    for (size_t i = 0; i < 12; i++)
        refusals[i] = (refusal){good, "from 1 on"};
    refusals[0].options.length = 0;
    refusals[1].options.stride = 0;
    refusals[2].options.horizon = -1;
    refusals[3].options.gap = -1;
    refusals[4].options.horizon = 0, refusals[4].options.gap = 1, refusals[4].says = "no gap";
    refusals[5].options.inputs = none, refusals[5].options.input_count = 1, refusals[5].says = "no column \"nothing\"";
    refusals[6].options.targets = none, refusals[6].options.target_count = 1;
    refusals[6].says = "no column \"nothing\"";
    refusals[7].options.series = "nothing", refusals[7].says = "no column \"nothing\"";
    refusals[8].options.length = ROWS, refusals[8].says = "longest series, of 17";
    refusals[9].options.length = INT64_MAX, refusals[9].says = "beyond 2^63";
    refusals[10].options.input_count = 1, refusals[10].says = "go together";
    refusals[11].options.inputs = twice, refusals[11].options.input_count = 2, refusals[11].says = "\"x\"";
    for (size_t i = 0; i < 12; i++) {
        err = (mw_error){0};
        mw_dataset *windows = mw_dataset_window(source, &refusals[i].options, &err);
        check_note(windows == NULL && strstr(err.message, refusals[i].says) != NULL, __FILE__, __LINE__,
                   "refusal %zu: %s", i, err.message);
        mw_dataset_destroy(windows);
    }
    mw_dataset_destroy(source);
}

int main(void)
{
    RUN(test_windows_are_the_rows_that_follow_each_other);
    RUN(test_columns_are_all_unless_they_are_named);
    RUN(test_what_cannot_be_is_refused_with_its_reason);
    return check_finish();
}
