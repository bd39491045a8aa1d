/* Shares that are kept apart: at random, of each class alike, in whole groups. */
#include "support/check.h"
#include "support/failing.h"

#include <millwright/data.h>
#include <millwright/millwright.h>

enum { EXAMPLES = 200, CLASSES = 4, GROUPS = 30 };

static int32_t numbers[EXAMPLES];
static uint8_t classes[EXAMPLES];
static int64_t groups[EXAMPLES];

/* Column "n" counts, "class" has 150, 30, 15 and 5 of its kinds, mixed. */
static mw_dataset *make_set(mw_error *err)
{
    for (int i = 0; i < EXAMPLES; i++) {
        const int mixed = i * 77 % EXAMPLES;
        numbers[i] = i;
        classes[i] = (uint8_t)(mixed < 150 ? 0 : mixed < 180 ? 1 : mixed < 195 ? 2 : 3);
        groups[i] = i * i % GROUPS;
    }
    const mw_column columns[] = {{.name = "n", .dtype = MW_I32, .data = numbers},
                                 {.name = "class", .dtype = MW_U8, .data = classes}};
    return mw_dataset_create(columns, 2, EXAMPLES, false, err);
}

/* The numbers of a part in their order; how many. */
static int read_part(const mw_dataset *part, int32_t *out)
{
    mw_error err = {0};
    mw_loader_options options = mw_loader_defaults(part, 1);
    options.shuffle = false;
    mw_loader *loader = mw_loader_create(&options, &err);
    int count = 0;
    for (const mw_batch *batch; (batch = mw_loader_next(loader, &err)) != NULL; count++)
        out[count] = *(const int32_t *)batch->feeds[0].data;
    mw_loader_destroy(loader);
    return count;
}

/* Both parts in order, and each example in one of them. */
static int divide(const mw_divide_options *options, bool *apart)
{
    mw_error err = {0};
    int32_t parts[2][EXAMPLES];
    int seen = 0, counts[2];
    mw_dataset *set = make_set(&err), *out[2];
    CHECK(mw_dataset_divide(set, options, out, &err) == MW_OK);
    CHECK_OK(err);
    for (int k = 0; k < 2; k++) {
        counts[k] = read_part(out[k], parts[k]);
        for (int i = 0; i < counts[k]; i++) {
            CHECK(i == 0 || parts[k][i - 1] < parts[k][i]);
            apart[parts[k][i]] = k == 1;
            seen++;
        }
        mw_dataset_destroy(out[k]);
    }
    mw_dataset_destroy(set);
    CHECK_INT(seen, EXAMPLES);
    return counts[1];
}

static void test_a_share_is_drawn_by_its_seed(void)
{
    bool first[EXAMPLES], again[EXAMPLES], other[EXAMPLES];
    mw_divide_options options = mw_divide_defaults(0.1);
    CHECK_INT(divide(&options, first), 20);
    CHECK_INT(divide(&options, again), 20);
    options.seed = 1;
    CHECK_INT(divide(&options, other), 20);
    CHECK(memcmp(first, again, sizeof first) == 0);
    CHECK(memcmp(first, other, sizeof first) != 0);
}

static void test_each_class_has_its_share(void)
{
    static const int all[CLASSES] = {150, 30, 15, 5};
    for (double share = 0.05; share < 0.96; share += 0.05) {
        bool apart[EXAMPLES];
        int found[CLASSES] = {0};
        mw_divide_options options = mw_divide_defaults(share);
        options.label = "class";
        options.seed = 3;
        CHECK_INT(divide(&options, apart), llrint(share * EXAMPLES));
        for (int i = 0; i < EXAMPLES; i++)
            found[classes[i]] += apart[i];
        for (int c = 0; c < CLASSES; c++)
            CHECK(fabs(found[c] - share * all[c]) < 1.0);
    }
}

static void test_groups_stay_together(void)
{
    for (uint64_t seed = 0; seed < 20; seed++) {
        bool apart[EXAMPLES];
        int side[GROUPS] = {0};
        mw_divide_options options = mw_divide_defaults(0.25);
        options.groups = groups;
        options.seed = seed;
        const int count = divide(&options, apart);
        CHECK(count >= 50 && count < 50 + EXAMPLES / 3);
        for (int i = 0; i < EXAMPLES; i++) {
            CHECK(side[groups[i]] == 0 || side[groups[i]] == (apart[i] ? 1 : 2));
            side[groups[i]] = apart[i] ? 1 : 2;
        }
    }
}

static void refuse(mw_divide_options options, mw_status status, const char *part)
{
    mw_error err = {0};
    mw_dataset *set = make_set(&err), *out[2] = {set, set};
    CHECK(mw_dataset_divide(set, &options, out, &err) == status);
    CHECK_ERROR(err, status, part);
    CHECK(out[0] == NULL && out[1] == NULL);
    mw_dataset_destroy(set);
}

static void test_shares_that_cannot_be_are_refused(void)
{
    mw_divide_options options = mw_divide_defaults(0);
    refuse(options, MW_ERROR_ARGUMENT, "share 0; it lies between 0 and 1");
    options.share = NAN;
    refuse(options, MW_ERROR_ARGUMENT, "share nan");
    options.share = 0.001;
    refuse(options, MW_ERROR_ARGUMENT, "of 200 examples 0 are the share");
    options.share = 0.5, options.label = "kind";
    refuse(options, MW_ERROR_ARGUMENT, "no column \"kind\"");
    options.label = "class", options.groups = groups;
    refuse(options, MW_ERROR_ARGUMENT, "leave one out");
    options = mw_divide_defaults(0.5);
    static const int64_t same[EXAMPLES];
    options.groups = same;
    refuse(options, MW_ERROR_ARGUMENT, "one part would be empty");
    options.struct_size = 0;
    refuse(options, MW_ERROR_ARGUMENT, "mw_divide_defaults");
    mw_error err = {0};
    static const float values[4];
    const mw_column column = {.name = "v", .dtype = MW_F32, .data = values};
    mw_dataset *floats = mw_dataset_create(&column, 1, 4, false, &err), *out[2];
    options = mw_divide_defaults(0.5);
    options.label = "v";
    mw_dataset_divide(floats, &options, out, &err);
    CHECK_ERROR(err, MW_ERROR_DTYPE, "\"v\" is not one integer an example");
    mw_dataset_destroy(floats);
}

static void test_dividing_survives_failing_allocations(void)
{
    bool finished = false;
    for (long n = 0; !finished && n < 1000; n++) {
        failing_allocator failing = {.fail_at = n};
        const mw_allocator allocator = failing_allocator_of(&failing);
        mw_error err = {0};
        mw_table_options table;
        const mw_table_column column = {.name = "a", .dtype = MW_I64, .fields = NULL};
        table = mw_table_defaults(&column, 1);
        table.allocator = &allocator;
        mw_dataset *set = mw_dataset_open_csv("/tmp/mw-divide.csv", &table, &err), *out[2] = {NULL, NULL};
        mw_divide_options options = mw_divide_defaults(0.5);
        options.label = "a";
        if (set != NULL)
            mw_dataset_divide(set, &options, out, &err);
        finished = out[1] != NULL && !failing.failed;
        CHECK(finished || err.status == MW_ERROR_MEMORY);
        mw_dataset_destroy(out[0]);
        mw_dataset_destroy(out[1]);
        mw_dataset_destroy(set);
        CHECK_INT(failing.live, 0);
    }
    CHECK(finished);
}

int main(void)
{
    FILE *file = fopen("/tmp/mw-divide.csv", "w");
    if (file == NULL)
        return 1;
    fputs("a\n1\n2\n1\n2\n3\n3\n", file);
    fclose(file);
    RUN(test_a_share_is_drawn_by_its_seed);
    RUN(test_each_class_has_its_share);
    RUN(test_groups_stay_together);
    RUN(test_shares_that_cannot_be_are_refused);
    RUN(test_dividing_survives_failing_allocations);
    remove("/tmp/mw-divide.csv");
    return check_finish();
}
