/* Data sets of tensors: what numpy wrote (data/tensors/make.py) and what is written here, in one file or one a column;
 * what holds no examples is refused, and so is every failed allocation. */
#include "data/data.h"
#include "runtime/data/data.h"
#include "runtime/files.h"
#include "support/check.h"
#include "support/failing.h"

#include <millwright/data.h>
#include <millwright/millwright.h>
#include <string.h>

enum { EXAMPLES = 6, WIDTH = 4 };

static const char *write(const char *name, const mw_tensor_values *tensors, size_t count)
{
    mw_error err = {0};
    mw_tensors_write(scratch(name), tensors, count, &err);
    CHECK_OK(err);
    return scratch(name);
}

static float x[EXAMPLES * WIDTH];
static int64_t y[EXAMPLES];
static const mw_tensor_values both[] = {{"x", MW_F32, {2, {EXAMPLES, WIDTH}}, x}, {"y", MW_I64, {1, {EXAMPLES}}, y}};

/* Every example in order, by a loader of batches of 2. */
static void check_all(const mw_dataset *set, float scale)
{
    mw_error err = {0};
    mw_loader_options options = mw_loader_defaults(set, 2);
    options.shuffle = false;
    mw_loader *loader = mw_loader_create(&options, &err);
    REQUIRE(CHECK_OK(err));
    for (int at = 0; at < EXAMPLES; at += 2) {
        const mw_batch *batch = mw_loader_next(loader, &err);
        REQUIRE(CHECK_OK(err) && batch != NULL && batch->feed_count == 2);
        const mw_feed *first = &batch->feeds[0], *second = &batch->feeds[1];
        CHECK_STR(first->name, "x");
        CHECK(first->scale == scale && first->dtype == MW_F32 && second->dtype == MW_I64);
        CHECK(memcmp(first->data, x + at * WIDTH, 2 * WIDTH * sizeof *x) == 0);
        CHECK(memcmp(second->data, y + at, 2 * sizeof *y) == 0);
    }
    mw_loader_destroy(loader);
}

static void test_every_tensor_of_a_file_is_a_column(void)
{
    static const char *const names[] = {"set.npz", "set.safetensors"};
    for (int i = 0; i < 2; i++) {
        mw_error err = {0};
        mw_dataset *set = mw_dataset_open_tensors(write(names[i], both, 2), NULL, 0, &err);
        if (CHECK_OK(err))
            check_all(set, 1.0f);
        mw_dataset_destroy(set);
    }
}

static void test_columns_come_from_files_of_their_own(void)
{
    char images[300], labels[300];
    mw_error err = {0};
    snprintf(images, sizeof images, "%s", write("images.npy", both, 1));
    snprintf(labels, sizeof labels, "%s", write("labels.npy", both + 1, 1));
    const mw_tensor_column columns[] = {{.name = "x", .path = images, .scale = 0.5f}, {.name = "y", .path = labels}};
    mw_dataset *set = mw_dataset_open_tensors(NULL, columns, 2, &err);
    if (CHECK_OK(err))
        check_all(set, 0.5f);
    mw_dataset_destroy(set);
}

/* numpy's int64 as the type that is asked for; the formula is that of make.py. */
static void test_a_column_has_the_type_that_is_asked_for(void)
{
    char path[600];
    mw_error err = {0};
    const mw_tensor_column columns[] = {{.name = "labels", .tensor = "i8", .dtype = MW_I32},
                                        {.name = "x", .tensor = "f8", .dtype = MW_F32}};
    snprintf(path, sizeof path, "%s/data/tensors/all.npz", MW_TESTS_DIR);
    mw_dataset *set = mw_dataset_open_tensors(path, columns, 2, &err);
    REQUIRE(CHECK_OK(err) && set != NULL);
    CHECK_INT(set->examples, 4);
    for (int i = 0; i < 4 * 6; i++) {
        CHECK_INT(((const int32_t *)set->columns[0].data)[i], i * 7 % 23 - 11);
        CHECK(((const float *)set->columns[1].data)[i] == (float)(i * 7 % 23 - 11) / 4);
    }
    CHECK(mw_shape_equal(set->columns[0].shape, MW_SHAPE(6)));
    mw_dataset_destroy(set);
}

static void expect_refused(const char *path, const mw_tensor_column *columns, size_t count, mw_status status,
                           const char *part)
{
    mw_error err = {0};
    CHECK(mw_dataset_open_tensors(path, columns, count, &err) == NULL);
    CHECK_ERROR(err, status, part);
}

static void test_what_holds_no_examples_is_refused_by_name(void)
{
    const mw_tensor_values bad[] = {{"x", MW_F32, {2, {EXAMPLES, WIDTH}}, x},
                                    {"y", MW_I64, {1, {3}}, y},
                                    {"one", MW_F32, {0, {0}}, x},
                                    {"none", MW_F32, {2, {0, 3}}, x}};
    const char *path = write("bad.npz", bad, 4);
    const mw_tensor_column pair[] = {{.name = "x"}, {.name = "y"}}, one = {.name = "one"}, none = {.name = "none"},
                           absent = {.name = "z"}, small = {.name = "x", .dtype = MW_U8}, unnamed = {.tensor = "x"};
    expect_refused(path, pair, 2, MW_ERROR_SHAPE, "\"y\" has 3 examples, the columns before it 6");
    expect_refused(path, &one, 1, MW_ERROR_SHAPE, "\"one\" is []");
    expect_refused(path, &none, 1, MW_ERROR_SHAPE, "\"none\" is [0, 3], and holds no examples");
    expect_refused(path, &absent, 1, MW_ERROR_ARGUMENT, "has no tensor \"z\" for a column");
    expect_refused(path, &small, 1, MW_ERROR_ARGUMENT, "element 0 of \"x\" is -1.5");
    expect_refused(path, &unnamed, 1, MW_ERROR_ARGUMENT, "column 0 has no name");
    expect_refused(NULL, pair, 2, MW_ERROR_ARGUMENT, "no path for column \"x\"");
    expect_refused(NULL, NULL, 0, MW_ERROR_ARGUMENT, "no path");
    expect_refused(path, pair, 0, MW_ERROR_ARGUMENT, "do not go together");
    expect_refused("absent.npz", NULL, 0, MW_ERROR_FILE, "absent.npz");
}

static void test_tensor_sets_survive_failing_allocations(void)
{
    const char *path = write("memory.npz", both, 2);
    bool finished = false;
    for (long n = 0; !finished && n < 1000; n++) {
        failing_allocator failing = {.fail_at = n};
        const mw_allocator allocator = failing_allocator_of(&failing);
        mw_error err = {0};
        mw_dataset *set = mw__data_open_tensors(&allocator, path, NULL, 0, &err);
        finished = !failing.failed;
        CHECK((set != NULL) == finished);
        CHECK_INT(err.status, finished ? MW_OK : MW_ERROR_MEMORY);
        mw_dataset_destroy(set);
        CHECK_INT(failing.live, 0);
    }
    CHECK(finished);
}

int main(void)
{
    for (int i = 0; i < EXAMPLES * WIDTH; i++)
        x[i] = (float)i - 1.5f;
    for (int i = 0; i < EXAMPLES; i++)
        y[i] = i * 5 % 3;
    RUN(test_every_tensor_of_a_file_is_a_column);
    RUN(test_columns_come_from_files_of_their_own);
    RUN(test_a_column_has_the_type_that_is_asked_for);
    RUN(test_what_holds_no_examples_is_refused_by_name);
    RUN(test_tensor_sets_survive_failing_allocations);
    return check_finish();
}
