/* Weights of a file as an option of a model: what a model with them predicts is what a graph with them does; models of
 * files, read-only ones, partial files, and what is refused. */
#include "support/check.h"
#include "support/failing.h"
#include "support/folder.h"
#include "support/on_engine.h"

#include <millwright/millwright.h>

enum { D = 5, H = 6, C = 3, N = 4 };

static float value_of(int tensor, int k) { return 0.5f * (float)sin(1.3 * k + tensor); }

/* A network as PyTorch names it, with the values of `first` on: other ones for each. */
static mw_graph *make_graph(int first, bool trained)
{
    static const char *const names[] = {"fc1.weight", "fc2.weight"};
    static const mw_shape shapes[] = {{2, {H, D}}, {2, {C, H}}};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(N, D)), *w[2];
    for (int i = 0; i < 2; i++) {
        float values[H * H];
        for (int k = 0; k < (int)mw_shape_count(shapes[i]); k++)
            values[k] = value_of(first + i, k);
        w[i] = trained ? mw_parameter(graph, names[i], MW_F32, shapes[i], mw_init_data(values))
                       : mw_name(mw_constant(graph, MW_F32, shapes[i], values), names[i]);
    }
    mw_output(mw_linear(mw_tanh(mw_linear(x, w[0], NULL)), w[1], NULL), "scores");
    return graph;
}

static const char *write_weights(const char *path, int first, int count)
{
    static const char *const names[] = {"m.fc1.weight", "m.fc2.weight"};
    static const mw_shape shapes[] = {{2, {H, D}}, {2, {C, H}}};
    float values[2][H * H];
    mw_tensor_values tensors[2];
    mw_error err = {0};
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < (int)mw_shape_count(shapes[i]); k++)
            values[i][k] = value_of(first + i, k);
        tensors[i] = (mw_tensor_values){names[i], MW_F32, shapes[i], values[i]};
    }
    mw_tensors_write(path, tensors, (size_t)count, &err);
    CHECK_OK(err);
    return path;
}

static const mw_weights_prefix module = {"m.", ""};

static mw_weights_options named(void)
{
    mw_weights_options options = mw_weights_defaults();
    options.prefixes = &module;
    options.prefix_count = 1;
    return options;
}

static bool predict(mw_model *model, float out[N * C], mw_error *err)
{
    float x[N * D];
    for (int i = 0; i < N * D; i++)
        x[i] = value_of(7, i);
    const mw_feed feed = {.name = "x", .dtype = MW_F32, .data = x, .count = N * D};
    const mw_batch batch = {.feeds = &feed, .feed_count = 1, .examples = N};
    const mw_result result = {"scores", MW_F32, out, N * C};
    memset(out, 0, N * C * sizeof *out);
    return mw_model_predict(model, &batch, &result, 1, err) == MW_OK;
}

/* Of the graph as it is, or with the weights of a file. */
static mw_model *make_model(const mw_graph *graph, const char *path, const mw_weights_options *how, mw_error *err)
{
    const mw_compile_options compile = engine_options(MW_DEVICE_CPU, 1);
    mw_model_options options = mw_model_defaults();
    options.compile = &compile;
    options.weights = (mw_model_weights){path, how};
    return mw_model_create(graph, &options, err);
}

static void check_weights(bool trained, const char *path, int count)
{
    mw_error err = {0};
    float old[N * C], wanted[N * C], got[N * C];
    mw_weights_options how = named();
    how.partial = count < 2;
    mw_graph *graph = make_graph(0, trained);
    mw_graph *other = mw_graph_load_weights(graph, write_weights(path, 10, count), &how, &err);
    mw_model *plain = make_model(graph, NULL, NULL, &err), *same = make_model(other, NULL, NULL, &err);
    mw_model *model = make_model(graph, path, &how, &err);
    CHECK(predict(plain, old, &err) && predict(same, wanted, &err) && predict(model, got, &err));
    CHECK_OK(err);
    CHECK(memcmp(got, wanted, sizeof got) == 0 && memcmp(got, old, sizeof got) != 0);
    mw_model_destroy(model);
    mw_model_destroy(same);
    mw_model_destroy(plain);
    mw_graph_destroy(other);
    mw_graph_destroy(graph);
}

static void test_a_model_predicts_as_a_graph_with_the_weights(void)
{
    check_weights(false, "w.safetensors", 2);
    check_weights(true, "w.npz", 2);
    check_weights(false, "part.npz", 1);
}

/* The numbers of the file, not only those of mw_graph_load_weights. */
static void test_the_weights_are_those_of_the_file(void)
{
    mw_error err = {0};
    float wanted[N * C], got[N * C];
    const mw_weights_options how = named();
    mw_graph *first = make_graph(0, false), *second = make_graph(10, false);
    mw_model *model = make_model(first, write_weights("w.npz", 10, 2), &how, &err);
    mw_model *plain = make_model(second, NULL, NULL, &err);
    CHECK(predict(model, got, &err) && predict(plain, wanted, &err));
    CHECK_OK(err);
    CHECK(memcmp(got, wanted, sizeof got) == 0);
    mw_model_destroy(plain);
    mw_model_destroy(model);
    mw_graph_destroy(second);
    mw_graph_destroy(first);
}

/* A file that is opened with weights, looked at only, and written: what is read back has them. */
static void test_models_of_files_take_weights_too(void)
{
    mw_error err = {0};
    float wanted[N * C], got[N * C];
    const mw_weights_options how = named();
    const mw_compile_options compile = engine_options(MW_DEVICE_CPU, 1);
    mw_model_options options = mw_model_defaults();
    mw_graph *first = make_graph(0, false), *second = make_graph(10, false);
    mw_graph_write(first, "model", NULL, &err);
    options.compile = &compile;
    options.weights = (mw_model_weights){write_weights("w.npz", 10, 2), &how};
    options.read_only = true;
    mw_model *looked = mw_model_open("model", &options, &err);
    mw_model_write(looked, "written", NULL, &err);
    options.read_only = false;
    mw_model *opened = mw_model_open("model", &options, &err);
    options.weights = (mw_model_weights){NULL, NULL};
    mw_model *written = mw_model_open("written", &options, &err), *plain = make_model(second, NULL, NULL, &err);
    CHECK(predict(plain, wanted, &err) && predict(opened, got, &err));
    CHECK(memcmp(got, wanted, sizeof got) == 0);
    CHECK(predict(written, got, &err) && memcmp(got, wanted, sizeof got) == 0);
    CHECK_OK(err);
    mw_model_destroy(plain);
    mw_model_destroy(written);
    mw_model_destroy(opened);
    mw_model_destroy(looked);
    mw_graph_destroy(second);
    mw_graph_destroy(first);
}

static void refuse_weights(const mw_graph *graph, const char *path, const mw_weights_options *how, mw_status status,
                           const char *part)
{
    mw_error err = {0};
    CHECK(make_model(graph, path, how, &err) == NULL);
    CHECK_ERROR(err, status, part);
}

static void test_what_does_not_fit_is_refused(void)
{
    mw_weights_options how = named();
    mw_graph *graph = make_graph(0, false);
    write_weights("w.npz", 10, 2);
    write_weights("part.npz", 10, 1);
    refuse_weights(graph, NULL, &how, MW_ERROR_ARGUMENT, "weights.options, but no weights.path");
    refuse_weights(graph, "gone.npz", &how, MW_ERROR_FILE, "gone.npz");
    refuse_weights(graph, "w.npz", NULL, MW_ERROR_FORMAT, "\"fc1.weight\", \"fc2.weight\""); /* the prefix is missing */
    refuse_weights(graph, "part.npz", &how, MW_ERROR_FORMAT, "\"fc2.weight\"; with `partial`");
    how.struct_size = 0;
    refuse_weights(graph, "w.npz", &how, MW_ERROR_ARGUMENT, "mw_weights_defaults");
    mw_graph_destroy(graph);
}

static void test_every_allocation_may_fail(void)
{
    const mw_weights_options how = named();
    mw_graph *graph = make_graph(0, false);
    write_weights("w.npz", 10, 2);
    bool done = false;
    for (long at = 0; at < 20000 && !done && check_global.failures_here < 5; at++) {
        failing_allocator failing = {.fail_at = at};
        const mw_allocator allocator = failing_allocator_of(&failing);
        mw_compile_options compile = engine_options(MW_DEVICE_CPU, 1);
        mw_model_options options = mw_model_defaults();
        mw_error err = {0};
        compile.allocator = &allocator;
        options.compile = &compile;
        options.batch = N; /* without it a second try goes on where the first failed */
        options.weights = (mw_model_weights){"w.npz", &how};
        mw_model *model = mw_model_create(graph, &options, &err);
        done = !failing.failed;
        CHECK((model != NULL) == done && (done || err.status == MW_ERROR_MEMORY));
        mw_model_destroy(model);
        CHECK_INT(failing.live, 0);
    }
    CHECK(done);
    mw_graph_destroy(graph);
}

int main(void)
{
    char folder[512];
    if (!folder_enter(folder))
        return 1;
    RUN(test_a_model_predicts_as_a_graph_with_the_weights);
    RUN(test_the_weights_are_those_of_the_file);
    RUN(test_models_of_files_take_weights_too);
    RUN(test_what_does_not_fit_is_refused);
    RUN(test_every_allocation_may_fail);
    folder_leave(folder);
    return check_finish();
}
