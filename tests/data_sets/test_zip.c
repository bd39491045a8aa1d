/* Sets side by side: pairs that are changed alike, views that are changed apart. */
#include "data_sets/derived_sets.h"
#include "support/check.h"
#include "support/failing.h"

enum { PIXELS = DERIVED_H * DERIVED_W };

static mw_dataset *augment_with(const mw_dataset *source, uint64_t seed, mw_error *err)
{
    mw_augment_options options = mw_augment_defaults("x");
    options.pad = 2;
    options.crop_height = DERIVED_H;
    options.crop_width = DERIVED_W;
    options.flip = 0.5f;
    options.seed = seed;
    return mw_dataset_augment(source, &options, err);
}

/* Views, or a pair: how many of all examples of three epochs are alike in both. */
static int count_alike(uint64_t first, uint64_t second)
{
    static const char *const x[] = {"x"}, *const other[] = {"other"};
    mw_error err = {0};
    mw_dataset *base = derived_base(NULL, &err);
    mw_dataset *one = augment_with(base, first, &err), *two = augment_with(base, second, &err);
    const mw_zip_part parts[] = {{.source = one}, {.source = two, .columns = x, .names = other, .count = 1}};
    mw_dataset *zipped = mw_dataset_zip(parts, 2, &err);
    mw_dataset_destroy(base);
    mw_dataset_destroy(one);
    mw_dataset_destroy(two);
    CHECK_OK(err);
    CHECK_STR(mw_dataset_column_at(zipped, 1)->name, "y");
    CHECK_STR(mw_dataset_column_at(zipped, 2)->name, "other");
    CHECK(mw_dataset_column_at(zipped, 3) == NULL);
    mw_loader_options options = mw_loader_defaults(zipped, 1);
    options.shuffle = false;
    mw_loader *loader = mw_loader_create(&options, &err);
    int alike = 0;
    for (int i = 0; i < 3 * DERIVED_EXAMPLES; i++) {
        const mw_batch *batch = mw_loader_next(loader, &err);
        if (batch == NULL) /* the end of an epoch */
            batch = mw_loader_next(loader, &err);
        CHECK(batch != NULL && *(const int32_t *)batch->feeds[1].data == i % DERIVED_EXAMPLES);
        alike += batch != NULL && memcmp(batch->feeds[0].data, batch->feeds[2].data, PIXELS) == 0;
    }
    mw_loader_destroy(loader);
    mw_dataset_destroy(zipped);
    return alike;
}

static void test_equal_seeds_change_pairs_alike_and_others_views_apart(void)
{
    CHECK_INT(count_alike(5, 5), 3 * DERIVED_EXAMPLES);
    CHECK(count_alike(5, 6) < DERIVED_EXAMPLES);
}

static void refuse(const mw_zip_part *parts, size_t count, const char *part)
{
    mw_error err = {0};
    CHECK(mw_dataset_zip(parts, count, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, part);
}

static void test_parts_that_do_not_fit_are_refused(void)
{
    static const char *const x[] = {"x", NULL}, *const gone[] = {"z"}, *const a[] = {"a"};
    static const int64_t chosen[] = {1, 2};
    mw_error err = {0};
    mw_dataset *base = derived_base(NULL, &err), *some = mw_dataset_subset(base, chosen, 2, &err);
    refuse(NULL, 1, "no parts");
    refuse(&(mw_zip_part){.source = NULL}, 1, "the data set is NULL");
    refuse((mw_zip_part[]){{.source = base}, {.source = some}}, 2, "part 1 has 2 examples, part 0 13");
    refuse((mw_zip_part[]){{.source = base}, {.source = base}}, 2,
           "two columns are called \"x\", one of them in part 1");
    refuse(&(mw_zip_part){.source = base, .columns = gone, .count = 1}, 1, "part 0 has no column \"z\"");
    refuse(&(mw_zip_part){.source = base, .columns = x, .count = 2}, 1, "part 0 has no column \"\"");
    refuse(&(mw_zip_part){.source = base, .columns = x}, 1, "part 0 lists 0 columns");
    refuse(&(mw_zip_part){.source = base, .count = 1}, 1, "part 0 lists 1 columns");
    refuse(&(mw_zip_part){.source = base, .names = a}, 1, "under their names");
    mw_dataset_destroy(some);
    mw_dataset_destroy(base);
}

static void test_names_of_classes_go_along(void)
{
    static const char *const label[] = {"label"}, *const names[] = {"kind"};
    mw_error err = {0};
    FILE *file = fopen("/tmp/mw-zip.csv", "w");
    REQUIRE(file != NULL);
    fputs("a,label\n1,cat\n2,dog\n", file);
    fclose(file);
    static const char *const fields[] = {"label"};
    const mw_table_column column = {
        .name = "label", .dtype = MW_I64, .fields = fields, .field_count = 1, .classes = true};
    const mw_table_options options = mw_table_defaults(&column, 1);
    mw_dataset *table = mw_dataset_open_csv("/tmp/mw-zip.csv", &options, &err);
    const mw_zip_part part = {.source = table, .columns = label, .names = names, .count = 1};
    mw_dataset *zipped = mw_dataset_zip(&part, 1, &err);
    mw_dataset_destroy(table);
    CHECK_OK(err);
    CHECK_INT(mw_dataset_classes(zipped, "kind").count, 2);
    CHECK_STR(mw_dataset_classes(zipped, "kind").names[1], "dog");
    mw_dataset_destroy(zipped);
    remove("/tmp/mw-zip.csv");
}

static void test_zips_survive_failing_allocations(void)
{
    static const char *const x[] = {"x"}, *const other[] = {"other"};
    bool finished = false;
    for (long n = 0; !finished && n < 1000; n++) {
        failing_allocator failing = {.fail_at = n};
        const mw_allocator allocator = failing_allocator_of(&failing);
        mw_error err = {0};
        mw_dataset *base = derived_base(&allocator, &err);
        const mw_zip_part parts[] = {{.source = base}, {.source = base, .columns = x, .names = other, .count = 1}};
        mw_dataset *zipped = base != NULL ? mw_dataset_zip(parts, 2, &err) : NULL;
        finished = zipped != NULL && !failing.failed;
        CHECK(zipped != NULL || err.status == MW_ERROR_MEMORY);
        mw_dataset_destroy(zipped);
        mw_dataset_destroy(base);
        CHECK_INT(failing.live, 0);
    }
    CHECK(finished);
}

int main(void)
{
    RUN(test_equal_seeds_change_pairs_alike_and_others_views_apart);
    RUN(test_parts_that_do_not_fit_are_refused);
    RUN(test_names_of_classes_go_along);
    RUN(test_zips_survive_failing_allocations);
    return check_finish();
}
