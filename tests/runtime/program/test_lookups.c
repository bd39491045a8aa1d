/* Indices that are fed and lie beyond the table that they look into: refused with example, value and limit, whatever
 * stands between the input and the gather, and however values come. */
#include "support/check.h"
#include "support/on_engine.h"

#include <millwright/millwright.h>

enum { N = 3, COLUMNS = 2, ROWS = 5, FEW = 3 };

/* ---- the forms: an input [N, 2], which elements are indices, and of how many rows ---- */

static mw_tensor *table(mw_graph *graph, int64_t rows, const char *name)
{
    return mw_parameter(graph, name, MW_F32, MW_SHAPE(rows, 2), mw_init_constant(1.0f));
}

static mw_tensor *sum_rows(mw_tensor *x)
{
    mw_axes axes = {.count = 0};
    for (int i = 1; i < mw_tensor_shape(x).rank; i++)
        axes.axis[axes.count++] = i;
    return mw_reduce_sum(x, axes, false);
}

static mw_tensor *by_rows(mw_graph *g, mw_tensor *i) { return sum_rows(mw_gather(table(g, ROWS, "t"), i, 0)); }

static mw_tensor *by_reshape(mw_graph *g, mw_tensor *i)
{
    mw_tensor *flat = mw_squeeze(mw_expand_dims(mw_reshape(i, MW_SHAPE(N, 2, 1)), MW_AXES(1)), MW_AXES(1, 3));
    return sum_rows(mw_gather(table(g, ROWS, "t"), flat, 0));
}

static mw_tensor *by_transpose(mw_graph *g, mw_tensor *i)
{
    mw_tensor *rows = mw_gather(table(g, ROWS, "t"), mw_transpose(i, MW_AXES(1, 0)), 0);
    return sum_rows(mw_transpose(rows, MW_AXES(1, 0, 2)));
}

/* Numbers of fp32 that a program casts, as converters write it. */
static mw_tensor *by_cast(mw_graph *g, mw_tensor *i)
{
    return sum_rows(mw_gather(table(g, ROWS, "t"), mw_cast(i, MW_I32), 0));
}

static mw_tensor *by_coordinates(mw_graph *g, mw_tensor *i)
{
    return mw_gather_nd(mw_parameter(g, "t", MW_F32, MW_SHAPE(ROWS, FEW), mw_init_constant(1.0f)), i, 0);
}

static mw_tensor *along_an_axis(mw_graph *g, mw_tensor *i)
{
    mw_tensor *x = mw_fill(g, MW_F32, MW_SHAPE(N, ROWS), 1.0);
    return sum_rows(mw_gather_along_axis(x, i, 1));
}

static mw_tensor *by_column(mw_graph *g, mw_tensor *i)
{
    const mw_slice first[] = {{.from_start = true, .to_end = true}, {.begin = 0, .squeeze = true}};
    const int64_t begin[] = {0, 1}, size[] = {N, 1};
    mw_tensor *a = mw_gather(table(g, ROWS, "a"), mw_slice_by_index(i, first), 0);
    mw_tensor *b = mw_gather(table(g, FEW, "b"), mw_slice_by_size(i, begin, size), 0);
    return mw_add(sum_rows(a), sum_rows(b));
}

static mw_tensor *by_split(mw_graph *g, mw_tensor *i)
{
    mw_tensor *parts[2];
    mw_split(i, 2, 1, parts);
    return mw_add(sum_rows(mw_gather(table(g, ROWS, "a"), parts[0], 0)),
                  sum_rows(mw_gather(table(g, FEW, "b"), parts[1], 0)));
}

/* The second column is a number like any other. */
static mw_tensor *by_one_column(mw_graph *g, mw_tensor *i)
{
    const int64_t begin[] = {0, 0}, rest[] = {0, 1}, size[] = {N, 1};
    mw_tensor *number = mw_cast(mw_reshape(mw_slice_by_size(i, rest, size), MW_SHAPE(N)), MW_F32);
    return mw_add(sum_rows(mw_gather(table(g, ROWS, "a"), mw_slice_by_size(i, begin, size), 0)), number);
}

/* As ONNX counts negative ones. */
static mw_tensor *from_the_end(mw_graph *g, mw_tensor *i)
{
    mw_tensor *negative = mw_less(i, mw_scalar(g, MW_I32, 0));
    mw_tensor *rows = mw_select(negative, mw_add(i, mw_scalar(g, MW_I32, ROWS)), i);
    return sum_rows(mw_gather(table(g, ROWS, "t"), rows, 0));
}

/* What is computed has MIL's rule: zeros. */
static mw_tensor *by_computing(mw_graph *g, mw_tensor *i)
{
    return sum_rows(mw_gather(table(g, ROWS, "t"), mw_mul(i, i), 0));
}

static mw_tensor *by_embedding(mw_graph *g, mw_tensor *i)
{
    (void)g;
    return sum_rows(mw_embedding(i, ROWS, 2, "e"));
}

#define FREE INT64_MAX

static const struct {
    const char *name;
    mw_tensor *(*build)(mw_graph *graph, mw_tensor *indices);
    mw_opset opset;
    mw_dtype dtype;
    int64_t low, limit[COLUMNS];
} forms[] = {
    {"rows", by_rows, MW_IOS18, MW_I32, 0, {ROWS, ROWS}},
    {"rows of ios16", by_rows, MW_IOS16, MW_I32, -ROWS, {ROWS, ROWS}},
    {"reshape", by_reshape, MW_IOS18, MW_I32, 0, {ROWS, ROWS}},
    {"transpose", by_transpose, MW_IOS18, MW_I32, 0, {ROWS, ROWS}},
    {"cast", by_cast, MW_IOS18, MW_F32, 0, {ROWS, ROWS}},
    {"coordinates", by_coordinates, MW_IOS18, MW_I32, 0, {ROWS, FEW}},
    {"along an axis", along_an_axis, MW_IOS18, MW_I32, 0, {ROWS, ROWS}},
    {"columns", by_column, MW_IOS18, MW_I32, 0, {ROWS, FEW}},
    {"split", by_split, MW_IOS18, MW_I32, 0, {ROWS, FEW}},
    {"one column", by_one_column, MW_IOS18, MW_I32, 0, {ROWS, FREE}},
    {"from the end", from_the_end, MW_IOS18, MW_I32, -ROWS, {ROWS, ROWS}},
    {"computed", by_computing, MW_IOS18, MW_I32, 0, {FREE, FREE}},
    {"embedding", by_embedding, MW_IOS18, MW_I32, 0, {ROWS, ROWS}},
};
enum { FORMS = sizeof forms / sizeof forms[0] };

static mw_graph *make_graph(size_t form, mw_tensor **out)
{
    mw_graph_options options = mw_graph_defaults();
    options.opset = forms[form].opset;
    mw_graph *graph = mw_graph_create(&options, NULL);
    *out = mw_output(forms[form].build(graph, mw_input(graph, "i", forms[form].dtype, MW_SHAPE(N, COLUMNS))), "y");
    return graph;
}

static bool is_valid(size_t form, int column, int64_t value)
{
    const int64_t limit = forms[form].limit[column];
    return limit == FREE || (value >= forms[form].low && value < limit);
}

static void note(size_t form, const char *how, int64_t value, int element, bool valid, const mw_error *err)
{
    char limit[40];
    snprintf(limit, sizeof limit, "not in 0 .. %lld", (long long)forms[form].limit[element % COLUMNS] - 1);
    const bool named = strstr(err->message, limit) != NULL && strstr(err->message, "example ") != NULL;
    check_note((err->status == MW_OK) == valid, __FILE__, __LINE__, "%s, %s: %lld at %d: %s", how, forms[form].name,
               (long long)value, element, err->message);
    check_note(valid || named, __FILE__, __LINE__, "%s, %s: %s", how, forms[form].name, err->message);
}

/* ---- predictions ---- */

static void predict_all(size_t form, mw_predictor *predictor)
{
    for (int element = 0; element < N * COLUMNS; element++) {
        for (int64_t value = -7; value <= 7; value++) {
            mw_error err = {0};
            int64_t data[N * COLUMNS] = {0};
            float y[N];
            data[element] = value;
            const mw_feed feed = {.name = "i", .dtype = MW_I64, .data = data, .count = N * COLUMNS};
            const mw_batch batch = {.feeds = &feed, .feed_count = 1, .examples = N};
            const mw_result result = {"y", MW_F32, y, N};
            mw_predictor_predict(predictor, &batch, &result, 1, &err);
            note(form, "predict", value, element, is_valid(form, element % COLUMNS, value), &err);
        }
    }
}

static void test_predictions_refuse_indices_beyond_their_table(void)
{
    for (size_t form = 0; form < FORMS; form++) {
        mw_error err = {0};
        mw_tensor *y;
        mw_graph *graph = make_graph(form, &y);
        const mw_compile_options compile = engine_options(MW_DEVICE_CPU, 1);
        mw_model_options options = mw_model_defaults();
        options.compile = &compile;
        options.batch = N;
        mw_model *model = mw_model_create(graph, &options, &err);
        mw_predictor *predictor = mw_predictor_create(model, &err);
        check_note(err.status == MW_OK, __FILE__, __LINE__, "%s: %s", forms[form].name, err.message);
        if (err.status == MW_OK)
            predict_all(form, predictor);
        mw_predictor_destroy(predictor);
        mw_model_destroy(model);
        mw_graph_destroy(graph);
    }
}

/* The example is that of the call, also in a later run of the program. */
static void test_the_example_is_that_of_the_call(void)
{
    mw_error err = {0};
    mw_tensor *y;
    mw_graph *graph = make_graph(0, &y);
    const mw_compile_options compile = engine_options(MW_DEVICE_CPU, 1);
    mw_model_options options = mw_model_defaults();
    options.compile = &compile;
    options.batch = N;
    mw_model *model = mw_model_create(graph, &options, &err);
    mw_predictor *predictor = mw_predictor_create(model, &err);
    int32_t data[3 * N * COLUMNS] = {0};
    float out[3 * N];
    data[N * COLUMNS] = ROWS; /* the first element of the second run */
    const mw_feed feed = {.name = "i", .dtype = MW_I32, .data = data, .count = 3 * N * COLUMNS};
    const mw_batch batch = {.feeds = &feed, .feed_count = 1, .examples = 3 * N};
    const mw_result result = {"y", MW_F32, out, 3 * N};
    mw_predictor_predict(predictor, &batch, &result, 1, &err);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "element 6, example 3 is 5, not in 0 .. 4 of the table");
    mw_predictor_destroy(predictor);
    mw_model_destroy(model);
    mw_graph_destroy(graph);
}

/* ---- trainers ---- */

static mw_dataset *one_wrong(int element, int64_t value, mw_error *err)
{
    int64_t data[N * COLUMNS] = {0};
    data[element] = value;
    const mw_column column = {.name = "i", .dtype = MW_I64, .shape = MW_SHAPE(COLUMNS), .data = data};
    return mw_dataset_create(&column, 1, N, true, err);
}

/* Nothing is printed. */
static bool pass_on(void *user, const mw_progress *progress)
{
    (void)user, (void)progress;
    return false;
}

static void train_with(size_t form, mw_trainer *trainer, int element, int64_t value)
{
    mw_error err = {0}, fit_err = {0}, measure_err = {0};
    mw_evaluation evaluation;
    mw_dataset *data = one_wrong(element, value, &err);
    mw_fit_options fit = mw_fit_defaults(data, 1);
    fit.progress.function = pass_on;
    mw_trainer_fit(trainer, &fit, &fit_err);
    mw_trainer_evaluate(trainer, data, NULL, &evaluation, &measure_err);
    note(form, "fit", value, element, is_valid(form, element % COLUMNS, value), &fit_err);
    note(form, "measure", value, element, is_valid(form, element % COLUMNS, value), &measure_err);
    mw_dataset_destroy(data);
}

static void test_training_and_evaluation_refuse_them(void)
{
    static const int64_t values[] = {-ROWS - 1, -1, 0, FEW, ROWS - 1, ROWS};
    for (size_t form = 0; form < FORMS; form++) {
        mw_error err = {0};
        mw_tensor *y;
        mw_graph *graph = make_graph(form, &y);
        mw_tensor *weight = mw_parameter(graph, "w", MW_F32, MW_SHAPE(1), mw_init_constant(1.0f));
        mw_trainer *trainer = engine_trainer(mw_reduce_mean(mw_mul(y, weight), MW_ALL_AXES, false), mw_sgd(0.01f),
                                             MW_DEVICE_CPU, 1, &err);
        check_note(err.status == MW_OK, __FILE__, __LINE__, "%s: %s", forms[form].name, err.message);
        for (int k = 0; k < 6 && err.status == MW_OK; k++) {
            train_with(form, trainer, 2, values[k]);
            train_with(form, trainer, 3, values[k]);
        }
        mw_trainer_destroy(trainer);
        mw_graph_destroy(graph);
    }
}

/* Who writes a port by hand has MIL's rule. */
static void test_a_port_that_is_written_has_the_rule_of_mil(void)
{
    mw_error err = {0};
    mw_tensor *y;
    mw_graph *graph = make_graph(0, &y);
    mw_program *program = engine_compile(graph, MW_DEVICE_CPU, 1, &err);
    const int32_t data[N * COLUMNS] = {0, ROWS, 0, 0, -1, 0};
    const float *read;
    mw_program_write(program, "i", MW_I32, data, N * COLUMNS, &err);
    CHECK_INT(mw_program_run(program, &err), MW_OK);
    read = mw_program_view(program, "y", &err);
    REQUIRE(read != NULL);
    CHECK_NEAR((double)read[0], 2, 0);
    CHECK_NEAR((double)read[1], 4, 0);
    CHECK_NEAR((double)read[2], 2, 0);
    CHECK_OK(err);
    mw_program_destroy(program);
    mw_graph_destroy(graph);
}

int main(void)
{
    RUN(test_predictions_refuse_indices_beyond_their_table);
    RUN(test_the_example_is_that_of_the_call);
    RUN(test_training_and_evaluation_refuse_them);
    RUN(test_a_port_that_is_written_has_the_rule_of_mil);
    return check_finish();
}
