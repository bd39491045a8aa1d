/* Batches of examples of about one length: each example once in an epoch, at its own length, in an order that the seed
 * and the epoch decide; cut columns hold what whole ones do. */
#include "support/check.h"
#include "support/failing.h"

#include <millwright/millwright.h>
#include <stdlib.h>
#include <string.h>

enum { EXAMPLES = 53, ROWS = 16, WIDE = 3, BATCH = 4 };
static const int64_t limits[] = {4, 8, 16};
static int64_t lengths[EXAMPLES];
static float x[EXAMPLES][ROWS][WIDE];
static int32_t y[EXAMPLES][ROWS];

static void fill(void)
{
    for (int i = 0; i < EXAMPLES; i++) {
        lengths[i] = 1 + (i * 7 + i * i) % ROWS;
        for (int k = 0; k < ROWS; k++) {
            y[i][k] = k < lengths[i] ? 100 * i + k : -1;
            for (int w = 0; w < WIDE; w++)
                x[i][k][w] = (float)(i * ROWS + k) + 0.25F * (float)w;
        }
    }
}

static mw_status make(void *user, int64_t example, size_t column, void *out, mw_error *err)
{
    (void)user, (void)err;
    if (column == 0)
        memcpy(out, x[example], sizeof x[example]);
    else
        memcpy(out, y[example], sizeof y[example]);
    return MW_OK;
}

typedef enum kind { IN_MEMORY, BY_FUNCTION, AHEAD, BY_THREADS, KINDS } kind;

static mw_dataset *open_set(kind of, mw_error *err)
{
    mw_column columns[] = {{.name = "x", .dtype = MW_F32, .shape = MW_SHAPE(ROWS, WIDE), .data = x},
                           {.name = "y", .dtype = MW_I32, .shape = MW_SHAPE(ROWS), .data = y}};
    mw_dataset *plain = of == BY_FUNCTION ? mw_dataset_create_callback(columns, 2, EXAMPLES, make, NULL, err)
                                          : mw_dataset_create(columns, 2, EXAMPLES, false, err);
    mw_dataset *set = mw_dataset_bucket(plain, lengths, limits, 3, err);
    mw_dataset *outer = of == AHEAD        ? mw_dataset_prefetch(set, 2, err)
                        : of == BY_THREADS ? mw_dataset_prefetch_threads(set, 4, 3, err)
                                           : NULL;
    mw_dataset_destroy(plain);
    if (outer == NULL)
        return set;
    mw_dataset_destroy(set);
    return outer;
}

static mw_loader *open_loader(const mw_dataset *set, bool shuffle, bool drop_last, uint64_t seed, mw_error *err)
{
    mw_loader_options o = mw_loader_defaults(set, BATCH);
    o.shuffle = shuffle;
    o.drop_last = drop_last;
    o.seed = seed;
    return mw_loader_create(&o, err);
}

static int64_t limit_of(int64_t length) { return length <= 4 ? 4 : length <= 8 ? 8 : 16; }

/* The columns are the examples' first rows; how long they are. */
static int64_t check_batch(const mw_batch *batch)
{
    int64_t most = 0;
    for (int64_t i = 0; i < batch->examples; i++)
        most = lengths[batch->ids[i]] > most ? lengths[batch->ids[i]] : most;
    const int64_t rows = limit_of(most);
    CHECK_INT(batch->feeds[0].count, BATCH * rows * WIDE);
    CHECK_INT(batch->feeds[1].count, BATCH * rows);
    for (int64_t i = 0; i < BATCH; i++) {
        const int64_t id = batch->ids[i];
        CHECK(memcmp((const float *)batch->feeds[0].data + i * rows * WIDE, x[id], (size_t)(rows * WIDE) * 4) == 0);
        CHECK(memcmp((const int32_t *)batch->feeds[1].data + i * rows, y[id], (size_t)rows * 4) == 0);
    }
    return rows;
}

/* An epoch; ids in their order, and how many rows its batches have together. */
static int64_t take_epoch(mw_loader *loader, int64_t ids[EXAMPLES], int64_t *count, mw_error *err)
{
    int64_t rows = 0;
    *count = 0;
    for (const mw_batch *batch; (batch = mw_loader_next(loader, err)) != NULL;) {
        rows += BATCH * check_batch(batch);
        for (int64_t i = 0; i < batch->examples; i++)
            ids[(*count)++] = batch->ids[i];
    }
    return rows;
}

static void check_once(const int64_t *ids, int64_t count)
{
    bool seen[EXAMPLES] = {false};
    for (int64_t i = 0; i < count; i++) {
        CHECK(!seen[ids[i]]);
        seen[ids[i]] = true;
    }
}

static void test_every_example_comes_once_at_its_length(void)
{
    for (kind of = IN_MEMORY; of < KINDS; of++)
        for (int drop = 0; drop < 2; drop++) {
            mw_error err = {0};
            int64_t first[EXAMPLES], second[EXAMPLES], count;
            mw_dataset *set = open_set(of, &err);
            mw_loader *loader = open_loader(set, true, drop != 0, 3, &err);
            REQUIRE(CHECK_OK(err));
            CHECK_INT(mw_loader_batches(loader), EXAMPLES / BATCH + (drop == 0));
            const int64_t rows = take_epoch(loader, first, &count, &err);
            CHECK_INT(count, drop != 0 ? EXAMPLES - EXAMPLES % BATCH : EXAMPLES);
            check_once(first, count);
            check_note(rows < count * ROWS * 4 / 5, __FILE__, __LINE__, "%lld rows of %lld", (long long)rows,
                       (long long)(count * ROWS)); /* less than all of them at full length */
            take_epoch(loader, second, &count, &err);
            check_once(second, count);
            CHECK(memcmp(first, second, (size_t)count * sizeof *first) != 0);
            CHECK_OK(err);
            mw_loader_destroy(loader);
            mw_dataset_destroy(set);
        }
}

/* The same order from memory, a function and a thread; after a seek, too. */
static void test_the_order_is_that_of_the_seed_and_the_epoch(void)
{
    int64_t orders[KINDS][EXAMPLES], other[EXAMPLES], count;
    mw_error err = {0};
    for (kind of = IN_MEMORY; of < KINDS; of++) {
        mw_dataset *set = open_set(of, &err);
        mw_loader *loader = open_loader(set, true, true, 5, &err);
        mw_loader_seek(loader, (mw_loader_position){.epoch = 2}, &err);
        take_epoch(loader, orders[of], &count, &err);
        CHECK(memcmp(orders[0], orders[of], (size_t)count * sizeof **orders) == 0);
        mw_loader_seek(loader, (mw_loader_position){.epoch = 2, .batch = 7}, &err);
        const mw_batch *batch = mw_loader_next(loader, &err);
        CHECK(batch != NULL && memcmp(batch->ids, orders[0] + 7 * BATCH, BATCH * sizeof **orders) == 0);
        mw_loader_destroy(loader);
        loader = open_loader(set, true, true, 6, &err);
        take_epoch(loader, other, &count, &err);
        CHECK(memcmp(orders[0], other, (size_t)count * sizeof *other) != 0);
        mw_loader_destroy(loader);
        mw_dataset_destroy(set);
    }
    CHECK_OK(err);
}

/* What an epoch leaves out is not always what is longest. */
static void test_what_is_left_out_has_any_length(void)
{
    int64_t ids[EXAMPLES], count;
    bool left_short = false, left_long = false;
    mw_error err = {0};
    mw_dataset *set = open_set(IN_MEMORY, &err);
    mw_loader *loader = open_loader(set, true, true, 1, &err);
    for (int epoch = 0; epoch < 30; epoch++) {
        bool seen[EXAMPLES] = {false};
        take_epoch(loader, ids, &count, &err);
        for (int64_t i = 0; i < count; i++)
            seen[ids[i]] = true;
        for (int i = 0; i < EXAMPLES; i++) {
            left_short = left_short || (!seen[i] && lengths[i] <= 4);
            left_long = left_long || (!seen[i] && lengths[i] > 8);
        }
    }
    CHECK(left_short && left_long);
    CHECK_OK(err);
    mw_loader_destroy(loader);
    mw_dataset_destroy(set);
}

static void test_without_shuffling_the_shortest_come_first(void)
{
    int64_t ids[EXAMPLES], count;
    mw_error err = {0};
    mw_dataset *set = open_set(BY_FUNCTION, &err);
    mw_loader *loader = open_loader(set, false, false, 0, &err);
    take_epoch(loader, ids, &count, &err);
    CHECK_INT(count, EXAMPLES);
    for (int64_t i = 1; i < count; i++) {
        const int64_t before = limit_of(lengths[ids[i - 1]]), now = limit_of(lengths[ids[i]]);
        CHECK(before < now || (before == now && ids[i - 1] < ids[i]));
    }
    CHECK_OK(err);
    mw_loader_destroy(loader);
    mw_dataset_destroy(set);
}

/* ---- refusals ---- */

static void refuse(const mw_dataset *set, const int64_t *l, const int64_t *most, size_t count, mw_status status,
                   const char *part)
{
    mw_error err = {0};
    CHECK(mw_dataset_bucket(set, l, most, count, &err) == NULL);
    CHECK_ERROR(err, status, part);
}

static void test_lengths_and_limits_out_of_range_are_refused(void)
{
    int64_t bad[EXAMPLES];
    mw_error err = {0};
    mw_column columns[] = {{.name = "x", .dtype = MW_F32, .shape = MW_SHAPE(ROWS, WIDE), .data = x},
                           {.name = "y", .dtype = MW_I32, .data = y}};
    mw_dataset *set = mw_dataset_create(columns, 1, EXAMPLES, false, &err);
    mw_dataset *pair = mw_dataset_create(columns, 2, EXAMPLES, false, &err);
    REQUIRE(CHECK_OK(err));
    refuse(NULL, lengths, limits, 3, MW_ERROR_ARGUMENT, "NULL");
    refuse(set, NULL, limits, 3, MW_ERROR_ARGUMENT, "no lengths");
    refuse(set, lengths, NULL, 3, MW_ERROR_ARGUMENT, "no limits");
    refuse(set, lengths, limits, 2, MW_ERROR_ARGUMENT, "the last is the 16 rows");
    refuse(set, lengths, limits, 0, MW_ERROR_ARGUMENT, "0 limits");
    refuse(set, lengths, (int64_t[]){4, 4, 16}, 3, MW_ERROR_ARGUMENT, "limit 1 is 4");
    refuse(set, lengths, (int64_t[]){0, 16}, 2, MW_ERROR_ARGUMENT, "limit 0 is 0");
    refuse(pair, lengths, limits, 3, MW_ERROR_SHAPE, "\"y\" has not the rows of \"x\"");
    memcpy(bad, lengths, sizeof bad);
    bad[9] = 17;
    refuse(set, bad, limits, 3, MW_ERROR_ARGUMENT, "example 9 has the length 17, not 1 to 16");
    bad[9] = 0;
    refuse(set, bad, limits, 3, MW_ERROR_ARGUMENT, "example 9 has the length 0");
    mw_dataset_destroy(set);
    mw_dataset_destroy(pair);
}

/* Of the loader; data sets of functions and memory have the C library's heap. */
static void test_every_failing_allocation_is_survived(void)
{
    mw_error own = {0};
    mw_dataset *set = open_set(BY_FUNCTION, &own);
    REQUIRE(CHECK_OK(own));
    for (long n = 0;; n++) {
        failing_allocator failing = {.fail_at = n};
        const mw_allocator allocator = failing_allocator_of(&failing);
        mw_error err = {0};
        mw_loader_options o = mw_loader_defaults(set, BATCH);
        o.allocator = &allocator;
        mw_loader *loader = mw_loader_create(&o, &err);
        CHECK((loader != NULL) == !failing.failed);
        CHECK_INT(err.status, failing.failed ? MW_ERROR_MEMORY : MW_OK);
        mw_loader_destroy(loader);
        CHECK_INT(failing.live, 0);
        if (!failing.failed) {
            CHECK(n > 4);
            break;
        }
    }
    mw_dataset_destroy(set);
}

int main(void)
{
    fill();
    RUN(test_every_example_comes_once_at_its_length);
    RUN(test_the_order_is_that_of_the_seed_and_the_epoch);
    RUN(test_what_is_left_out_has_any_length);
    RUN(test_without_shuffling_the_shortest_come_first);
    RUN(test_lengths_and_limits_out_of_range_are_refused);
    RUN(test_every_failing_allocation_is_survived);
    return check_finish();
}
