/* Indices that are fed to the ANE, whose ports are fp16: every operation that takes them gives what the CPU gives. */
#include "runtime/model/words.h"
#include "support/check.h"
#include "support/failing.h"

#include <stdlib.h>

enum { MOST = 1 << 20 };

/* Builds the result "y" of inputs "x" (F32) and "i" (I32). */
typedef mw_tensor *builder(mw_graph *graph, int64_t extent);

typedef struct outcome {
    float *y;
    size_t count;
    bool failed;
    mw_error err;
} outcome;

static mw_program *compile(builder *build, mw_opset opset, int64_t extent, mw_device device, mw_chip chip,
                           const mw_allocator *allocator, mw_error *err)
{
    mw_graph_options options = mw_graph_defaults();
    options.opset = opset;
    mw_graph *graph = mw_graph_create(&options, NULL);
    mw_output(build(graph, extent), "y");
    mw_compile_options how = words_compile(device, chip);
    how.allocator = allocator;
    mw_program *program = mw_program_create(graph, &how, err);
    mw_graph_destroy(graph);
    return program;
}

static bool find_port(const mw_program *program, const char *name, mw_port *out)
{
    for (size_t i = 0; mw_program_port_at(program, i, out); i++)
        if (strcmp(out->name, name) == 0)
            return true;
    return false;
}

/* Runs it with numbers that differ and the indices; `lowest` is the least of them. */
static size_t run(mw_program *program, int64_t extent, int64_t lowest, float *out_y, mw_error *err)
{
    mw_port x, i, y;
    static float values[MOST];
    static int32_t indices[256];
    if (!find_port(program, "x", &x) || !find_port(program, "i", &i) || !find_port(program, "y", &y))
        return 0;
    const size_t count = (size_t)mw_shape_count(x.shape), picks = (size_t)mw_shape_count(i.shape);
    if (count > MOST || picks > sizeof indices / sizeof indices[0])
        return 0;
    for (size_t k = 0; k < count; k++)
        values[k] = words_value((int64_t)k);
    words_choose(extent, indices, (int)picks, 0);
    for (size_t k = 0; k < picks && lowest < 0; k += 2)
        indices[k] -= (int32_t)extent; /* counted from the end */
    mw_program_write(program, "x", MW_F32, values, count, err);
    mw_program_write(program, "i", MW_I32, indices, picks, err);
    mw_program_run(program, err);
    mw_program_read(program, "y", MW_F32, out_y, (size_t)mw_shape_count(y.shape), err);
    return (size_t)mw_shape_count(y.shape);
}

/* Elements are chosen or added: few bits, so that both devices agree to the last. */
static void check_like_cpu(const char *what, builder *build, mw_opset opset, int64_t extent, mw_chip chip,
                           bool negative)
{
    static float y[2][MOST];
    size_t count[2] = {0};
    for (int k = 0; k < 2; k++) {
        mw_error err = {0};
        const mw_device device = k == 0 ? MW_DEVICE_CPU : MW_DEVICE_ANE;
        mw_program *program = compile(build, opset, extent, device, chip, NULL, &err);
        if (program != NULL)
            count[k] = run(program, extent, negative ? -extent : 0, y[k], &err);
        check_note(err.status == MW_OK, __FILE__, __LINE__, "%s of %d: %s", what, (int)extent, err.message);
        if (program != NULL && device == MW_DEVICE_ANE)
            check_note(words_longest_axis(mw_program_get_info(program).mil) <= words_axis_max(chip), __FILE__, __LINE__,
                       "%s of %d has an axis of %d", what, (int)extent,
                       (int)words_longest_axis(mw_program_get_info(program).mil));
        mw_program_destroy(program);
    }
    check_note(count[0] > 0 && count[0] == count[1] && memcmp(y[0], y[1], count[0] * sizeof(float)) == 0, __FILE__,
               __LINE__, "%s of %d differs between the devices", what, (int)extent);
}

/* ---- operations ---- */

static mw_tensor *gather_rows(mw_graph *g, int64_t extent)
{
    return mw_gather(mw_input(g, "x", MW_F32, MW_SHAPE(extent, 3)), mw_input(g, "i", MW_I32, MW_SHAPE(2, 4)), 0);
}

static mw_tensor *gather_columns(mw_graph *g, int64_t extent)
{
    return mw_gather(mw_input(g, "x", MW_F32, MW_SHAPE(2, extent, 3)), mw_input(g, "i", MW_I32, MW_SHAPE(5)), 1);
}

static mw_tensor *gather_scalar(mw_graph *g, int64_t extent)
{
    return mw_gather(mw_input(g, "x", MW_F32, MW_SHAPE(2, extent)), mw_input(g, "i", MW_I32, mw_shape_scalar()), -1);
}

static mw_tensor *gather_batches(mw_graph *g, int64_t extent)
{
    mw_tensor *x = mw_input(g, "x", MW_F32, MW_SHAPE(2, extent, 3)), *i = mw_input(g, "i", MW_I32, MW_SHAPE(2, 4));
    mw_tensor *axis = mw_constant(g, MW_I32, mw_shape_scalar(), (int32_t[]){1});
    const mw_argument arguments[] = {{.name = "x", .values = &x, .count = 1},
                                     {.name = "indices", .values = &i, .count = 1},
                                     {.name = "axis", .values = &axis, .count = 1},
                                     {.name = "batch_dims", .values = &axis, .count = 1}};
    mw_tensor *rows = NULL;
    mw_op(g, "gather", arguments, 4, &rows, 1, NULL);
    return rows;
}

static mw_tensor *along_axis(mw_graph *g, int64_t extent)
{
    mw_tensor *x = mw_input(g, "x", MW_F32, MW_SHAPE(2, extent, 3));
    return mw_gather_along_axis(x, mw_input(g, "i", MW_I32, MW_SHAPE(2, 4, 3)), 1);
}

static mw_tensor *hot(mw_graph *g, int64_t extent)
{
    mw_tensor *i = mw_input(g, "i", MW_I32, MW_SHAPE(2, 3));
    mw_tensor *rows = mw_one_hot(i, extent, 1, MW_F32, 2.0, -1.0);
    return mw_mul(rows, mw_input(g, "x", MW_F32, MW_SHAPE(2, extent, 1)));
}

static mw_tensor *scatter(mw_graph *g, int64_t extent)
{
    mw_tensor *x = mw_input(g, "x", MW_F32, MW_SHAPE(2, extent, 2)), *i = mw_input(g, "i", MW_I32, MW_SHAPE(6));
    return mw_scatter(x, i, mw_fill(g, MW_F32, MW_SHAPE(2, 6, 2), 0.5), 1, MW_SCATTER_ADD);
}

static mw_tensor *gather_halves(mw_graph *g, int64_t extent)
{
    mw_tensor *x = mw_cast(mw_input(g, "x", MW_F32, MW_SHAPE(extent, 3)), MW_F16);
    return mw_cast(mw_gather(x, mw_input(g, "i", MW_I32, MW_SHAPE(7)), 0), MW_F32);
}

/* A frozen table, of constants. */
static mw_tensor *gather_constants(mw_graph *g, int64_t extent)
{
    float *table = malloc((size_t)extent * 2 * sizeof *table);
    for (int64_t k = 0; table != NULL && k < extent * 2; k++)
        table[k] = words_value(k * 5);
    mw_tensor *rows =
        mw_gather(mw_constant(g, MW_F32, MW_SHAPE(extent, 2), table), mw_input(g, "i", MW_I32, MW_SHAPE(7)), 0);
    free(table);
    return mw_add(rows, mw_input(g, "x", MW_F32, MW_SHAPE(7, 2)));
}

/* A frozen head, and what is done with all words at the last of three places. */
static mw_tensor *give_out(mw_graph *g, int64_t extent)
{
    float *weight = malloc((size_t)extent * 2 * sizeof *weight);
    for (int64_t k = 0; weight != NULL && k < extent * 2; k++)
        weight[k] = words_value(k * 5) > 0.0f ? 1.0f : -0.5f;
    mw_tensor *constant = mw_constant(g, MW_F32, MW_SHAPE(extent, 2), weight);
    free(weight);
    mw_tensor *y = mw_linear(mw_input(g, "x", MW_F32, MW_SHAPE(2, 3, 2)), constant, NULL);
    y = mw_slice_by_index(y, (mw_slice[]){{.from_start = true, .to_end = true},
                                          {.begin = 2, .squeeze = true},
                                          {.from_start = true, .to_end = true}});
    return mw_mul(y, mw_one_hot(mw_input(g, "i", MW_I32, MW_SHAPE(2)), extent, -1, MW_F32, 1.0, 0.5));
}

/* Indices that are moved about on their way, and joined with constants. */
static mw_tensor *moved(mw_graph *g, int64_t extent)
{
    const int32_t more[4] = {(int32_t)extent - 2, 0, 255, 256};
    mw_tensor *parts[2] = {mw_transpose(mw_input(g, "i", MW_I32, MW_SHAPE(2, 4)), MW_AXES(1, 0)), NULL};
    parts[0] = mw_reshape(mw_cast(parts[0], MW_I32), MW_SHAPE(8));
    parts[1] = mw_constant(g, MW_I32, MW_SHAPE(4), more);
    mw_tensor *all = mw_concat(parts, 2, 0);
    mw_tensor *known = mw_equal(all, mw_constant(g, MW_I32, mw_shape_scalar(), (int32_t[]){(int32_t)extent - 1}));
    all = mw_select(known, mw_constant(g, MW_I32, mw_shape_scalar(), (int32_t[]){3}), all);
    return mw_gather(mw_input(g, "x", MW_F32, MW_SHAPE(extent, 2)), all, 0);
}

static mw_tensor *pick_nd(mw_graph *g, int64_t extent)
{
    return mw_gather_nd(mw_input(g, "x", MW_F32, MW_SHAPE(extent, 2)), mw_input(g, "i", MW_I32, MW_SHAPE(3, 1)), 0);
}

static mw_tensor *largest_at(mw_graph *g, int64_t extent)
{
    mw_tensor *x = mw_input(g, "x", MW_F32, MW_SHAPE(extent, 2));
    return mw_scatter(x, mw_input(g, "i", MW_I32, MW_SHAPE(3)), mw_fill(g, MW_F32, MW_SHAPE(3, 2), 0.5), 0,
                      MW_SCATTER_MAX);
}

static const struct {
    const char *name;
    builder *build;
    bool counts_from_end; /* up to ios16 */
} operations[] = {
    {"gather of rows", gather_rows, true},
    {"gather of columns", gather_columns, true},
    {"gather of one", gather_scalar, true},
    {"gather in batches", gather_batches, true},
    {"gather_along_axis", along_axis, true},
    {"one_hot", hot, false},
    {"scatter", scatter, true},
    {"gather of moved indices", moved, false},
    {"gather of halves", gather_halves, true},
    {"gather of constants", gather_constants, true},
    {"gather_nd", pick_nd, false},
    {"scatter of the largest", largest_at, false},
    {"linear and one_hot", give_out, false},
};

static const int64_t extents[] = {5, 256, 257, 2048, 2049, 16384, 16385, 65537};

static void test_every_operation_gives_what_the_cpu_gives(void)
{
    for (size_t o = 0; o < sizeof operations / sizeof operations[0]; o++)
        for (size_t e = 0; e < sizeof extents / sizeof extents[0]; e++)
            check_like_cpu(operations[o].name, operations[o].build, MW_IOS18, extents[e], words_chips[e % WORDS_CHIPS],
                           false);
}

static void test_negative_indices_count_from_the_end_up_to_ios16(void)
{
    for (size_t o = 0; o < sizeof operations / sizeof operations[0]; o++)
        for (size_t e = 3; operations[o].counts_from_end && e < 7; e++)
            check_like_cpu(operations[o].name, operations[o].build, MW_IOS16, extents[e], MW_CHIP_H13, true);
}

/* ---- what has no other form ---- */

static mw_tensor *sum_of_rows(mw_graph *g, int64_t extent)
{
    mw_tensor *i = mw_input(g, "i", MW_I32, MW_SHAPE(4)), *x = mw_input(g, "x", MW_F32, MW_SHAPE(extent, 2));
    return mw_add(mw_gather(x, i, 0), mw_reshape(mw_cast(i, MW_F32), MW_SHAPE(4, 1)));
}

static void check_refused(builder *build, int64_t extent, const char *operation)
{
    mw_error err = {0};
    mw_program *program = compile(build, MW_IOS18, extent, MW_DEVICE_ANE, MW_CHIP_AUTO, NULL, &err);
    CHECK(program == NULL);
    CHECK_ERROR(err, MW_ERROR_UNSUPPORTED, operation);
    mw_program_destroy(program);
}

static void test_what_has_no_other_form_is_refused_by_name(void)
{
    check_refused(sum_of_rows, 5000, "gather");   /* the number itself is wanted too */
    check_refused(gather_rows, 524289, "gather"); /* three digits */
    check_refused(pick_nd, 524289, "gather_nd");
    check_refused(largest_at, 524289, "scatter");
    check_like_cpu("gather and number", sum_of_rows, MW_IOS18, 16, MW_CHIP_AUTO, false);
}

/* ---- faults ---- */

static void test_every_allocation_may_fail(void)
{
    builder *const builders[] = {gather_rows, moved, hot};
    for (size_t b = 0; b < sizeof builders / sizeof builders[0]; b++)
        for (long n = 0;; n++) {
            failing_allocator failing = {.fail_at = n};
            const mw_allocator allocator = failing_allocator_of(&failing);
            mw_error err = {0};
            mw_program *program = compile(builders[b], MW_IOS18, 16385, MW_DEVICE_ANE, MW_CHIP_H13, &allocator, &err);
            CHECK(program != NULL || err.status == MW_ERROR_MEMORY);
            mw_program_destroy(program);
            if (!CHECK_INT(failing.live, 0) || !failing.failed)
                break;
        }
}

int main(void)
{
    RUN(test_every_operation_gives_what_the_cpu_gives);
    RUN(test_negative_indices_count_from_the_end_up_to_ios16);
    RUN(test_what_has_no_other_form_is_refused_by_name);
    RUN(test_every_allocation_may_fail);
    return check_finish();
}
