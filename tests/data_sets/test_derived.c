/* Data sets made of others: which examples they have, what they refuse, and that what is served depends on the position
 * alone: with and without a thread, from wherever a run begins. */
#include "data_sets/derived_sets.h"
#include "support/check.h"
#include "support/failing.h"

#include <math.h>
#include <stdlib.h>

enum { PIXELS = DERIVED_H * DERIVED_W };

/* ---- which examples ---- */

/* Labels of all examples in order. */
static void read_labels(const mw_dataset *dataset, int32_t *out, mw_error *err)
{
    mw_loader_options options = mw_loader_defaults(dataset, mw_dataset_examples(dataset));
    options.shuffle = false;
    mw_loader *loader = mw_loader_create(&options, err);
    const mw_batch *batch = mw_loader_next(loader, err);
    if (CHECK(batch != NULL))
        memcpy(out, batch->feeds[1].data, (size_t)batch->examples * sizeof *out);
    mw_loader_destroy(loader);
}

static void test_a_subset_has_the_chosen_examples(void)
{
    mw_error err = {0};
    mw_dataset *base = derived_base(NULL, &err);
    int64_t chosen[] = {12, 0, 5, 5};
    mw_dataset *subset = mw_dataset_subset(base, chosen, 4, &err);
    chosen[0] = 99; /* it has a copy */
    mw_dataset_destroy(base);
    REQUIRE(subset != NULL);
    CHECK_INT(mw_dataset_examples(subset), 4);
    CHECK_STR(mw_dataset_column_at(subset, 0)->name, "x");
    CHECK(mw_dataset_column_at(subset, 0)->scale == 0.5f);
    CHECK(mw_dataset_column_at(subset, 0)->data == NULL);
    int32_t labels[4];
    read_labels(subset, labels, &err);
    CHECK(labels[0] == 12 && labels[1] == 0 && labels[2] == 5 && labels[3] == 5);
    mw_dataset_destroy(subset);
    CHECK_OK(err);
}

static void test_a_split_deals_out_what_was_recorded(void)
{
    FILE *file = fopen("data/datasets/derived.txt", "r");
    char line[4096];
    REQUIRE(file != NULL && fgets(line, sizeof line, file) != NULL && fgets(line, sizeof line, file) != NULL);
    fclose(file);
    mw_error err = {0};
    int32_t values[20], labels[20];
    for (int i = 0; i < 20; i++)
        values[i] = i;
    const mw_column columns[] = {{.name = "x", .dtype = MW_I32, .data = values},
                                 {.name = "y", .dtype = MW_I32, .data = values}};
    mw_dataset *base = mw_dataset_create(columns, 2, 20, false, &err), *parts[3];
    const int64_t counts[] = {5, -1, 1};
    REQUIRE(mw_dataset_split(base, counts, 3, 7, parts, &err) == MW_OK);
    CHECK_INT(mw_dataset_examples(parts[1]), 14);
    read_labels(parts[0], labels, &err);
    read_labels(parts[1], labels + 5, &err);
    read_labels(parts[2], labels + 19, &err);
    char *at = line + strlen("split");
    for (int i = 0; i < 20; i++)
        CHECK_INT(labels[i], strtol(at, &at, 10));
    for (int i = 0; i < 3; i++)
        mw_dataset_destroy(parts[i]);
    mw_dataset_destroy(base);
    CHECK_OK(err);
}

static void test_a_concatenation_goes_through_its_sources(void)
{
    mw_error err = {0};
    mw_dataset *base = derived_base(NULL, &err);
    const int64_t chosen[] = {3};
    mw_dataset *one = mw_dataset_subset(base, chosen, 1, &err);
    const mw_dataset *const sources[] = {one, base, one, one};
    mw_dataset *joined = mw_dataset_concatenate(sources, 4, &err);
    REQUIRE(joined != NULL);
    CHECK_INT(mw_dataset_examples(joined), 3 + DERIVED_EXAMPLES);
    int32_t labels[3 + DERIVED_EXAMPLES];
    read_labels(joined, labels, &err);
    CHECK(labels[0] == 3 && labels[1] == 0 && labels[DERIVED_EXAMPLES] == DERIVED_EXAMPLES - 1);
    CHECK(labels[DERIVED_EXAMPLES + 1] == 3 && labels[DERIVED_EXAMPLES + 2] == 3);
    mw_dataset_destroy(joined);
    mw_dataset_destroy(one);
    mw_dataset_destroy(base);
    CHECK_OK(err);
}

/* Shares of 3000 draws are within four deviations of the weights; what weighs nothing is never drawn. */
static void test_examples_are_drawn_by_their_weights_anew_in_each_epoch(void)
{
    enum { DRAWS = 3000 };
    static int32_t labels[2][DRAWS];
    mw_error err = {0};
    const double weights[DERIVED_EXAMPLES] = {[0] = 1, [5] = 2, [6] = 0.5, [11] = 6.5};
    int64_t counts[DERIVED_EXAMPLES] = {0}, same = 0;
    mw_dataset *base = derived_base(NULL, &err), *set = mw_dataset_sample(base, weights, DRAWS, 3, &err);
    mw_dataset *other = mw_dataset_sample(base, weights, DRAWS, 4, &err);
    mw_dataset_destroy(base);
    REQUIRE(set != NULL && other != NULL);
    mw_loader_options options = mw_loader_defaults(set, DRAWS);
    options.shuffle = false;
    mw_loader *loader = mw_loader_create(&options, &err);
    for (int epoch = 0; epoch < 2; epoch++) {
        memcpy(labels[epoch], mw_loader_next(loader, &err)->feeds[1].data, sizeof labels[epoch]);
        CHECK(mw_loader_next(loader, &err) == NULL);
    }
    for (int i = 0; i < DRAWS; i++) {
        counts[labels[0][i]]++;
        same += labels[0][i] == labels[1][i];
    }
    for (int k = 0; k < DERIVED_EXAMPLES; k++) {
        const double share = weights[k] / 10;
        CHECK_NEAR((double)counts[k] / DRAWS, share, 4 * sqrt(share * (1 - share) / DRAWS));
    }
    CHECK_NEAR((double)same / DRAWS, 0.475, 0.04); /* the sum of the squares */
    read_labels(other, labels[1], &err);
    CHECK(memcmp(labels[0], labels[1], sizeof labels[0]) != 0);
    CHECK_OK(err);
    mw_loader_destroy(loader);
    mw_dataset_destroy(other);
    mw_dataset_destroy(set);
}

static void check_weights(const double *weights, int64_t count, const char *said)
{
    mw_error err = {0};
    mw_dataset *base = derived_base(NULL, &err);
    CHECK(mw_dataset_sample(base, weights, count, 0, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, said);
    mw_dataset_destroy(base);
}

static void test_weights_that_draw_nothing_are_refused(void)
{
    double weights[DERIVED_EXAMPLES] = {0};
    check_weights(weights, 3, "the weights add up to 0");
    check_weights(NULL, 3, "no weights");
    weights[4] = 1;
    check_weights(weights, 0, "no examples");
    weights[7] = -1;
    check_weights(weights, 3, "weight 7 is -1; finite and from 0 on");
    weights[7] = NAN;
    check_weights(weights, 3, "weight 7 is nan");
    weights[7] = 1.7e308, weights[8] = 1.7e308;
    check_weights(weights, 3, "the weights add up to inf");
}

static void test_maps_one_on_another_draw_apart_with_equal_seeds(void)
{
    mw_error err = {0};
    mw_dataset *base = derived_base(NULL, &err);
    mw_dataset *once = derived_sums(base, 1, &err), *same = derived_sums(base, 1, &err);
    mw_augment_options nothing = mw_augment_defaults("x");
    mw_dataset *passed = mw_dataset_augment(base, &nothing, &err); /* a map that changes nothing */
    mw_dataset *twice = derived_sums(passed, 1, &err);
    const mw_dataset *const sets[] = {once, same, twice};
    double sums[3] = {0};
    for (int i = 0; i < 3; i++) {
        mw_loader_options options = mw_loader_defaults(sets[i], 1);
        options.shuffle = false;
        mw_loader *loader = mw_loader_create(&options, &err);
        const mw_batch *batch = mw_loader_next(loader, &err);
        REQUIRE(batch != NULL);
        sums[i] = *(const double *)batch->feeds[0].data;
        mw_loader_destroy(loader);
    }
    CHECK(sums[0] == sums[1] && sums[0] != sums[2]);
    CHECK(floor(sums[0]) == 190.0 && floor(sums[2]) == 190.0);
    mw_dataset_destroy(base);
    mw_dataset_destroy(once);
    mw_dataset_destroy(same);
    mw_dataset_destroy(passed);
    mw_dataset_destroy(twice);
    CHECK_OK(err);
}

/* ---- what is served depends on the position alone ---- */

/* All that a batch has, in one number. */
static uint64_t mark_of(const mw_batch *batch)
{
    uint64_t mark = 1469598103934665603u ^ (uint64_t)batch->examples;
    for (size_t i = 0; i < batch->feed_count; i++) {
        const size_t size = batch->feeds[i].count * (size_t)mw_dtype_bits(batch->feeds[i].dtype) / 8;
        for (size_t k = 0; k < size; k++)
            mark = (mark ^ ((const uint8_t *)batch->feeds[i].data)[k]) * 1099511628211u;
        for (int64_t k = 0; k < batch->examples; k++)
            mark = (mark ^ (uint64_t)batch->ids[k]) * 1099511628211u;
    }
    return mark;
}

enum { EPOCHS = 3, MARKS_MAX = 100 };

/* Marks of all batches from a position to the end of the epochs; 0 between epochs. */
static int serve(const mw_dataset *dataset, bool shuffle, bool drop_last, mw_loader_position from, uint64_t *out)
{
    mw_error err = {0};
    mw_loader_options options = mw_loader_defaults(dataset, 3);
    options.shuffle = shuffle;
    options.drop_last = drop_last;
    options.seed = 21;
    mw_loader *loader = mw_loader_create(&options, &err);
    int count = 0;
    mw_loader_seek(loader, from, &err);
    while (err.status == MW_OK && mw_loader_tell(loader).epoch < EPOCHS && count < MARKS_MAX) {
        const mw_batch *batch = mw_loader_next(loader, &err);
        out[count++] = batch != NULL ? mark_of(batch) : 0;
    }
    CHECK_OK(err);
    mw_loader_destroy(loader);
    return count;
}

static void check_positions(const mw_dataset *dataset, const mw_dataset *ahead, bool shuffle, bool drop_last)
{
    uint64_t whole[MARKS_MAX], rest[MARKS_MAX];
    const int count = serve(dataset, shuffle, drop_last, (mw_loader_position){0}, whole);
    const int64_t in_epoch = count / EPOCHS - 1;
    CHECK(in_epoch >= 2 && count == EPOCHS * (in_epoch + 1));
    for (int64_t epoch = 0; epoch < EPOCHS; epoch++) {
        for (int64_t batch = 0; batch <= in_epoch; batch++) {
            const mw_loader_position from = {.epoch = epoch, .batch = batch};
            const int skipped = (int)(epoch * (in_epoch + 1) + batch);
            CHECK_INT(serve(dataset, shuffle, drop_last, from, rest), count - skipped);
            CHECK(memcmp(rest, whole + skipped, (size_t)(count - skipped) * sizeof *rest) == 0);
            CHECK_INT(serve(ahead, shuffle, drop_last, from, rest), count - skipped);
            CHECK(memcmp(rest, whole + skipped, (size_t)(count - skipped) * sizeof *rest) == 0);
        }
    }
}

static void test_every_kind_serves_equal_bits_ahead_and_from_any_position(void)
{
    for (int kind = 0; kind < DERIVED_KINDS; kind++) {
        mw_error err = {0};
        mw_dataset *dataset = derived_make(kind, NULL, &err);
        for (int batches = 1; batches <= 4; batches += 3) {
            mw_dataset *ahead = mw_dataset_prefetch_threads(dataset, batches, batches > 2 ? 2 : 1, &err);
            CHECK_OK(err);
            for (int i = 0; i < 4; i++)
                check_positions(dataset, ahead, (i & 1) != 0, (i & 2) != 0);
            mw_dataset_destroy(ahead);
        }
        mw_dataset_destroy(dataset);
    }
}

/* Augmented examples differ from epoch to epoch, and by the seed. */
static void test_an_example_is_another_in_the_next_epoch(void)
{
    mw_error err = {0};
    mw_dataset *dataset = derived_make(6, NULL, &err);
    uint64_t marks[MARKS_MAX];
    const int count = serve(dataset, false, true, (mw_loader_position){0}, marks);
    CHECK(marks[0] != marks[count / EPOCHS] && marks[count / EPOCHS] != marks[2 * count / EPOCHS]);
    mw_dataset_destroy(dataset);
    CHECK_OK(err);
}

/* ---- refusals ---- */

static void refuse(const mw_dataset *made, mw_error *err, mw_status status, const char *part)
{
    CHECK(made == NULL);
    CHECK_ERROR(*err, status, part);
    *err = (mw_error){0};
}

static void test_subsets_and_prefetch_refuse_what_is_not_there(void)
{
    mw_error err = {0};
    mw_dataset *base = derived_base(NULL, &err);
    const int64_t high[] = {0, DERIVED_EXAMPLES}, low[] = {-1};
    refuse(mw_dataset_subset(NULL, low, 1, &err), &err, MW_ERROR_ARGUMENT, "the data set is NULL");
    refuse(mw_dataset_subset(base, NULL, 1, &err), &err, MW_ERROR_ARGUMENT, "at least one");
    refuse(mw_dataset_subset(base, high, 0, &err), &err, MW_ERROR_ARGUMENT, "at least one");
    refuse(mw_dataset_subset(base, high, 2, &err), &err, MW_ERROR_ARGUMENT, "number 1 is 13");
    refuse(mw_dataset_subset(base, low, 1, &err), &err, MW_ERROR_ARGUMENT, "examples 0 to 12");
    refuse(mw_dataset_prefetch(NULL, 1, &err), &err, MW_ERROR_ARGUMENT, "the data set is NULL");
    refuse(mw_dataset_prefetch(base, 0, &err), &err, MW_ERROR_ARGUMENT, "not 1 to 64");
    refuse(mw_dataset_prefetch(base, 65, &err), &err, MW_ERROR_ARGUMENT, "65");
    mw_dataset_destroy(base);
    refuse(mw_dataset_prefetch(base, 1, &err), &err, MW_ERROR_STATE, "destroyed");
}

static void refuse_split(const mw_dataset *base, const int64_t *counts, size_t count, const char *part)
{
    mw_error err = {0};
    mw_dataset *parts[3] = {(mw_dataset *)&err, (mw_dataset *)&err, (mw_dataset *)&err};
    CHECK_INT(mw_dataset_split(base, counts, count, 0, parts, &err), MW_ERROR_ARGUMENT);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, part);
    for (size_t i = 0; i < count; i++)
        CHECK(parts[i] == NULL);
}

static void test_a_split_must_add_up(void)
{
    mw_error err = {0};
    mw_dataset *base = derived_base(NULL, &err);
    refuse_split(base, (const int64_t[]){6, 6}, 2, "12 of 13");
    refuse_split(base, (const int64_t[]){13, -1}, 2, "no rest");
    refuse_split(base, (const int64_t[]){-1, 1, -1}, 3, "2 parts are -1");
    refuse_split(base, (const int64_t[]){0, 13}, 2, "part 0 of 0");
    refuse_split(base, (const int64_t[]){INT64_MAX, INT64_MAX}, 2, "part 1");
    refuse_split(base, NULL, 1, "no counts");
    refuse_split(NULL, (const int64_t[]){1}, 1, "the data set is NULL");
    CHECK_INT(mw_dataset_split(base, (const int64_t[]){-1}, 1, 0, NULL, &err), MW_ERROR_ARGUMENT);
    mw_dataset_destroy(base);
}

static void test_a_concatenation_names_the_column_that_differs(void)
{
    mw_error err = {0};
    static const uint8_t zeros[64];
    const mw_column good = {.name = "x", .dtype = MW_U8, .shape = MW_SHAPE(2), .data = zeros};
    mw_column bad[5] = {good, good, good, good, good};
    bad[0].name = "z", bad[1].dtype = MW_I8, bad[2].shape = MW_SHAPE(2, 1), bad[3].scale = 2, bad[4].offset = 1;
    static const char *const parts[] = {"\"z\"", "int8", "another shape", "scale", "offset"};
    static const mw_status statuses[] = {MW_ERROR_ARGUMENT, MW_ERROR_DTYPE, MW_ERROR_SHAPE, MW_ERROR_ARGUMENT,
                                         MW_ERROR_ARGUMENT};
    mw_dataset *first = mw_dataset_create(&good, 1, 4, false, &err);
    for (int i = 0; i < 5; i++) {
        mw_dataset *second = mw_dataset_create(&bad[i], 1, 4, false, &err);
        const mw_dataset *const sources[] = {first, second};
        refuse(mw_dataset_concatenate(sources, 2, &err), &err, statuses[i], parts[i]);
        mw_dataset_destroy(second);
    }
    mw_dataset *base = derived_base(NULL, &err);
    const mw_dataset *const wider[] = {first, base}, *const none[] = {first, NULL};
    refuse(mw_dataset_concatenate(wider, 2, &err), &err, MW_ERROR_ARGUMENT, "source 1 has 2 columns");
    refuse(mw_dataset_concatenate(none, 2, &err), &err, MW_ERROR_ARGUMENT, "the data set is NULL");
    refuse(mw_dataset_concatenate(none, 0, &err), &err, MW_ERROR_ARGUMENT, "no sources");
    mw_dataset_destroy(base);
    mw_dataset_destroy(first);
}

static mw_status refuse_example(void *user, const mw_map_example *example, mw_error *err)
{
    const int64_t *bad = user;
    if (example->example == *bad)
        snprintf(err->message, sizeof err->message, "out of luck");
    memcpy(example->out[0], example->in[0], PIXELS);
    memcpy(example->out[1], example->in[1], sizeof(int32_t));
    return example->example == *bad ? MW_ERROR_FORMAT : MW_OK;
}

static void test_maps_refuse_and_say_which_example_failed(void)
{
    mw_error err = {0};
    int64_t bad = 4;
    mw_dataset *base = derived_base(NULL, &err);
    refuse(mw_dataset_map(NULL, NULL, 0, refuse_example, NULL, 0, &err), &err, MW_ERROR_ARGUMENT, "no source");
    refuse(mw_dataset_map(base, NULL, 0, NULL, NULL, 0, &err), &err, MW_ERROR_ARGUMENT, "no function");
    refuse(mw_dataset_map(base, NULL, 2, refuse_example, NULL, 0, &err), &err, MW_ERROR_ARGUMENT, "none are given");
    mw_dataset *dataset = mw_dataset_map(base, NULL, 0, refuse_example, &bad, 0, &err);
    mw_loader_options options = mw_loader_defaults(dataset, 3);
    options.shuffle = false;
    mw_loader *loader = mw_loader_create(&options, &err);
    REQUIRE(mw_loader_next(loader, &err) != NULL);
    refuse((const mw_dataset *)mw_loader_next(loader, &err), &err, MW_ERROR_FORMAT,
           "example 4 in epoch 0: out of luck");
    CHECK_INT(mw_loader_tell(loader).batch, 1);
    bad = -1;
    CHECK(mw_loader_next(loader, &err) != NULL);
    mw_loader_destroy(loader);
    mw_dataset_destroy(dataset);
    mw_dataset_destroy(base);
    CHECK_OK(err);
}

static void test_sets_are_not_piled_without_end(void)
{
    mw_error err = {0};
    mw_dataset *top = derived_base(NULL, &err);
    int depth = 0;
    while (err.status == MW_OK && depth < 100) {
        mw_dataset *next = mw_dataset_prefetch(top, 1, &err);
        if (next == NULL)
            break;
        mw_dataset_destroy(top);
        top = next;
        depth++;
    }
    CHECK_INT(depth, 32);
    CHECK_ERROR(err, MW_ERROR_UNSUPPORTED, "32");
    mw_dataset_destroy(top);
}

static void test_every_kind_survives_failing_allocations(void)
{
    for (int kind = 0; kind < DERIVED_KINDS; kind++) {
        bool finished = false;
        for (long n = 0; !finished && n < 200; n++) {
            failing_allocator failing = {.fail_at = n};
            const mw_allocator allocator = failing_allocator_of(&failing);
            mw_error err = {0};
            mw_dataset *dataset = derived_make(kind, &allocator, &err);
            mw_dataset *ahead = dataset != NULL ? mw_dataset_prefetch(dataset, 2, &err) : NULL;
            mw_loader_options options = mw_loader_defaults(ahead, 2);
            options.allocator = &allocator;
            mw_loader *loader = ahead != NULL ? mw_loader_create(&options, &err) : NULL;
            finished = loader != NULL;
            CHECK(finished == !failing.failed);
            CHECK_INT(err.status, failing.failed ? MW_ERROR_MEMORY : MW_OK);
            const long requests = failing.requests;
            while (finished && mw_loader_next(loader, &err) != NULL)
                CHECK_INT(failing.requests, requests); /* nothing is allocated per batch */
            mw_loader_destroy(loader);
            mw_dataset_destroy(ahead);
            mw_dataset_destroy(dataset);
            CHECK_INT(failing.live, 0);
        }
        CHECK(finished);
    }
}

int main(void)
{
    RUN(test_a_subset_has_the_chosen_examples);
    RUN(test_a_split_deals_out_what_was_recorded);
    RUN(test_a_concatenation_goes_through_its_sources);
    RUN(test_examples_are_drawn_by_their_weights_anew_in_each_epoch);
    RUN(test_weights_that_draw_nothing_are_refused);
    RUN(test_maps_one_on_another_draw_apart_with_equal_seeds);
    RUN(test_every_kind_serves_equal_bits_ahead_and_from_any_position);
    RUN(test_an_example_is_another_in_the_next_epoch);
    RUN(test_subsets_and_prefetch_refuse_what_is_not_there);
    RUN(test_a_split_must_add_up);
    RUN(test_a_concatenation_names_the_column_that_differs);
    RUN(test_maps_refuse_and_say_which_example_failed);
    RUN(test_sets_are_not_piled_without_end);
    RUN(test_every_kind_survives_failing_allocations);
    return check_finish();
}
