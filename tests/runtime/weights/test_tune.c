/* Fine-tuning a program: the copy computes what the source does, gradients reach every chosen weight, others stay as
 * they are, and what is written back is the source with other numbers. */
#include "runtime/files.h"
#include "support/check.h"
#include "support/evaluated.h"
#include "tuned.h"

#include <millwright/inspect.h>
#include <stdio.h>
#include <stdlib.h>

#define TRAINABLE(graph, ...)                                                                                          \
    trainable((graph), (const char *[]){__VA_ARGS__}, sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *), &err)

static mw_graph *trainable(const mw_graph *source, const char *const *patterns, size_t count, mw_error *err)
{
    const mw_tune_options options = mw_tune_defaults(patterns, count);
    return mw_graph_trainable(source, &options, err);
}

/* ---- before training ---- */

/* Expansions round once more than the operation that they stand for: batch norm by rsqrt and two products. */
static void test_copy_computes_what_the_source_does(void)
{
    static const struct {
        mw_dtype dtype;
        mw_device device;
        double tolerance;
    } cases[] = {{MW_F32, MW_DEVICE_CPU, 2e-6}, {MW_F16, MW_DEVICE_CPU, 4e-3}, {MW_F32, MW_DEVICE_ANE, 4e-3}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mw_error err = {0};
        float expected[TUNED_LOGITS], actual[TUNED_LOGITS];
        mw_graph *source = tuned_read(cases[i].dtype, "source", &err);
        mw_graph *all = TRAINABLE(source, "*_weight", "*_bias", "bn_*", "ln_*", "proj");
        if (CHECK_OK(err) && tuned_run(source, cases[i].device, expected, &err) &&
            tuned_run(all, cases[i].device, actual, &err))
            CHECK_NEAR(tuned_distance(actual, expected, TUNED_LOGITS), 0.0, cases[i].tolerance);
        mw_graph_destroy(all);
        mw_graph_destroy(source);
    }
}

/* Only constants that were run-time arguments become ports: nothing is expanded, and no bit changes. */
static void test_copy_of_run_time_arguments_is_exact(void)
{
    mw_error err = {0};
    float expected[TUNED_LOGITS], actual[TUNED_LOGITS];
    mw_graph *source = tuned_read(MW_F32, "source", &err);
    mw_graph *copy = TRAINABLE(source, "proj", "proj_bias");
    REQUIRE(CHECK_OK(err));
    if (tuned_run(source, MW_DEVICE_CPU, expected, &err) && tuned_run(copy, MW_DEVICE_CPU, actual, &err))
        CHECK(memcmp(expected, actual, sizeof expected) == 0);
    mw_graph_destroy(copy);
    mw_graph_destroy(source);
}

static void test_old_opsets_expand_the_bias_of_conv(void)
{
    mw_error err = {0};
    float expected[TUNED_LOGITS], actual[TUNED_LOGITS];
    mw_graph *source = tuned_build(MW_F32, MW_IOS15, NULL, &err);
    mw_graph *copy = TRAINABLE(source, "conv_*");
    REQUIRE(CHECK_OK(err));
    if (tuned_run(source, MW_DEVICE_CPU, expected, &err) && tuned_run(copy, MW_DEVICE_CPU, actual, &err))
        CHECK_NEAR(tuned_distance(actual, expected, TUNED_LOGITS), 0.0, 1e-6);
    mw_graph_destroy(copy);
    mw_graph_destroy(source);
}

/* ---- gradients ---- */

static void test_gradients_agree_with_differences(void)
{
    static const char *const names[] = {"conv_weight", "conv_bias", "bn_mean",  "bn_variance", "bn_gamma", "bn_beta",
                                        "fc1_weight",  "fc1_bias",  "ln_gamma", "ln_beta",     "proj",     "proj_bias"};
    enum { COUNT = sizeof names / sizeof *names };
    mw_error err = {0};
    tuned_data data;
    mw_tensor *x[COUNT];
    tuned_fill(&data);
    mw_graph *source = tuned_read(MW_F32, "source", &err);
    mw_graph *graph = trainable(source, names, COUNT, &err);
    for (size_t i = 0; i < COUNT; i++)
        CHECK((x[i] = mw_graph_find(graph, names[i])) != NULL);
    mw_tensor *labels = mw_input(graph, "labels", MW_I32, MW_SHAPE(TUNED_N));
    mw_gradcheck_options options =
        mw_gradcheck_defaults(mw_cross_entropy(mw_graph_output_at(graph, 0), labels), x, COUNT);
    mw_gradcheck_report report;
    options.batch = &data.batch;
    options.compile.provider = MW_PROVIDER_ENGINE;
    options.compile.threads = 1;
    CHECK_INT(mw_gradcheck_run(&options, &report, &err), MW_OK);
    CHECK_OK(err);
    CHECK(report.checked > 100);
    mw_graph_destroy(graph);
    mw_graph_destroy(source);
}

/* ---- writing back ---- */

static char *text_of(const char *folder)
{
    char path[500];
    size_t size = 0;
    snprintf(path, sizeof path, "%s/model.mil", scratch(folder));
    char *text = (char *)get_file(path, &size);
    if (text != NULL)
        text[size] = '\0';
    return text;
}

/* Two texts line by line: only the statement of one small constant, whose values stand in the text, may differ. */
static void check_same_text(const char *a, const char *b, const char *constant)
{
    char *x = text_of(a), *y = text_of(b), statement[100];
    snprintf(statement, sizeof statement, " %s = const()", constant);
    const char *p = x, *q = y;
    while (p != NULL && q != NULL && *p != '\0' && *q != '\0') {
        const size_t m = strcspn(p, "\n"), n = strcspn(q, "\n");
        const char *found = strstr(p, statement);
        const bool may_differ = found != NULL && found < p + m;
        check_note(may_differ || (m == n && strncmp(p, q, n) == 0), __FILE__, __LINE__, "differs: %.*s", (int)n, q);
        p += m + (p[m] == '\n');
        q += n + (q[n] == '\n');
    }
    CHECK(p != NULL && q != NULL && *p == '\0' && *q == '\0');
    free(x);
    free(y);
}

/* Every constant of `after` but those named has the bits of `before`. */
static void check_only_changed(const mw_graph *before, const mw_graph *after, const char *const *names, size_t count)
{
    static const char *const everything[] = {"*", "bn_mean", "bn_variance"};
    mw_tune_options all = mw_tune_defaults(everything, 3);
    all.skip_fixed = true;
    mw_error err = {0};
    mw_graph *graphs[2] = {mw_graph_trainable(before, &all, &err), mw_graph_trainable(after, &all, &err)};
    mw_trainer *trainers[2] = {tuned_trainer(graphs[0], MW_DEVICE_CPU, 0.1f, &err),
                               tuned_trainer(graphs[1], MW_DEVICE_CPU, 0.1f, &err)};
    mw_weight weights[32];
    size_t total = 0;
    mw_graph_weights(before, weights, 32, &total, &err);
    CHECK_OK(err);
    for (size_t i = 0; i < total; i++) {
        float a[512], b[512];
        const size_t elements = (size_t)mw_shape_count(weights[i].shape);
        bool named = false;
        if (weights[i].obstacle != NULL)
            continue;
        for (size_t k = 0; k < count; k++)
            named = named || strcmp(names[k], weights[i].name) == 0;
        mw_trainer_read(trainers[0], weights[i].name, MW_F32, a, elements, &err);
        mw_trainer_read(trainers[1], weights[i].name, MW_F32, b, elements, &err);
        CHECK_OK(err);
        check_note((memcmp(a, b, elements * sizeof *a) != 0) == named, __FILE__, __LINE__, "\"%s\" %s", weights[i].name,
                   named ? "did not change" : "changed");
    }
    for (int i = 0; i < 2; i++) {
        mw_trainer_destroy(trainers[i]);
        mw_graph_destroy(graphs[i]);
    }
}

static mw_graph *read_back(const char *folder, mw_error *err)
{
    char path[500];
    snprintf(path, sizeof path, "%s/model.mil", scratch(folder));
    return mw_graph_open_mil(path, NULL, err);
}

/* Trains two weights; the rest of the program comes back as it was, and the new one computes what the trainer does. */
static void check_training(mw_dtype dtype, mw_device device, double tolerance)
{
    static const char *const trained[] = {"fc1_weight", "conv_bias"};
    mw_error err = {0};
    float expected[TUNED_LOGITS], actual[TUNED_LOGITS];
    tuned_data data;
    tuned_fill(&data);
    mw_graph *source = tuned_read(dtype, "source", &err);
    mw_graph *graph = trainable(source, trained, 2, &err);
    mw_trainer *trainer = tuned_trainer(graph, device, 0.1f, &err);
    const float before = tuned_steps(trainer, 1, &err), after = tuned_steps(trainer, 20, &err);
    CHECK(after < 0.8f * before);
    remove_model("tuned");
    remove_model("same");
    mw_trainer_export(trainer, source, scratch("tuned"), NULL, &err);
    mw_trainer_predict(trainer, &data.batch, MW_F32, expected, TUNED_LOGITS, &err);
    mw_graph *tuned = read_back("tuned", &err);
    if (CHECK_OK(err) && tuned_run(tuned, MW_DEVICE_CPU, actual, &err)) {
        CHECK_NEAR(tuned_distance(actual, expected, TUNED_LOGITS), 0.0, tolerance);
        mw_graph_write(source, scratch("same"), NULL, &err);
        check_same_text("same", "tuned", "conv_bias");
        check_only_changed(source, tuned, trained, 2);
    }
    mw_graph_destroy(tuned);
    mw_trainer_destroy(trainer);
    mw_graph_destroy(graph);
    mw_graph_destroy(source);
}

static void test_trained_program_is_the_source_with_other_numbers(void)
{
    check_training(MW_F32, MW_DEVICE_CPU, 2e-6); /* linear against matmul and add: one rounding apart */
    /* fp16 has 11 bits: an expanded operation rounds its parts, and layer norm passes that on */
    check_training(MW_F16, MW_DEVICE_CPU, 4e-3);
    check_training(MW_F32, MW_DEVICE_ANE, 1e-2); /* the tuned program runs in fp32, the trainer in fp16 */
    check_training(MW_F16, MW_DEVICE_ANE, 4e-3);
}

/* A constant whose one element stands for all of them is written in full once they differ. */
static void test_splats_come_back_in_full(void)
{
    static const char program[] =
        "program(1.3)\n{\n    func main<ios18>(tensor<fp32, [4, 2]> x) {\n"
        "            tensor<fp32, [3, 2]> w = const()[name = string(\"w\"), val = tensor<fp32, [3, 2]>(0x1p-1)];\n"
        "            tensor<fp32, [3]> b = const()[name = string(\"b\"), val = tensor<fp32, [3]>(0x0p+0)];\n"
        "            tensor<fp32, [4, 3]> y = linear(bias = b, weight = w, x = x)[name = string(\"y\")];\n"
        "        } -> (y);\n}\n";
    mw_error err = {0};
    float trained[6], read[6];
    tuned_data data;
    tuned_fill(&data);
    data.feeds[0].count = 8;
    mw_graph *source = mw_graph_parse_mil(program, sizeof program - 1, NULL, NULL, &err);
    mw_graph *graph = TRAINABLE(source, "w");
    mw_trainer *trainer = tuned_trainer(graph, MW_DEVICE_CPU, 0.5f, &err);
    mw_trainer_step(trainer, &data.batch, NULL, &err);
    mw_trainer_read(trainer, "w", MW_F32, trained, 6, &err);
    CHECK(trained[0] != trained[5]);
    mw_trainer_export(trainer, source, scratch("splat"), NULL, &err);
    mw_graph *tuned = read_back("splat", &err), *again = TRAINABLE(tuned, "w");
    mw_trainer *reader = tuned_trainer(again, MW_DEVICE_CPU, 0.5f, &err);
    mw_trainer_read(reader, "w", MW_F32, read, 6, &err);
    CHECK_OK(err);
    CHECK(memcmp(trained, read, sizeof trained) == 0);
    mw_trainer_destroy(reader);
    mw_graph_destroy(again);
    mw_graph_destroy(tuned);
    mw_trainer_destroy(trainer);
    mw_graph_destroy(graph);
    mw_graph_destroy(source);
}

/* Updates below half a unit in the last place of fp16 are lost in fp16 and kept in fp32, until they are large enough to
 * be seen in the program. */
static void test_weights_of_fp16_can_be_kept_in_fp32(void)
{
    static const char *const patterns[] = {"proj"};
    static const mw_dtype dtypes[] = {MW_F32, MW_DTYPE_NONE};
    float expected[TUNED_LOGITS], actual[TUNED_LOGITS];
    for (int i = 0; i < 2; i++) {
        mw_error err = {0};
        float before[15], after[15];
        mw_graph *source = tuned_read(MW_F16, "source", &err);
        mw_tune_options options = mw_tune_defaults(patterns, 1);
        options.dtype = dtypes[i];
        mw_graph *graph = mw_graph_trainable(source, &options, &err);
        REQUIRE(CHECK_OK(err));
        if (tuned_run(source, MW_DEVICE_CPU, expected, &err) && tuned_run(graph, MW_DEVICE_CPU, actual, &err))
            CHECK(memcmp(expected, actual, sizeof expected) == 0);
        mw_trainer *trainer = tuned_trainer(graph, MW_DEVICE_CPU, 1e-5f, &err);
        mw_trainer_read(trainer, "proj", MW_F32, before, 15, &err);
        tuned_steps(trainer, 3, &err);
        mw_trainer_read(trainer, "proj", MW_F32, after, 15, &err);
        CHECK((memcmp(before, after, sizeof before) != 0) == (dtypes[i] == MW_F32));
        mw_trainer_export(trainer, source, scratch("kept"), NULL, &err);
        CHECK_OK(err);
        mw_trainer_destroy(trainer);
        mw_graph_destroy(graph);
        mw_graph_destroy(source);
    }
}

/* ---- a graph of one's own ---- */

/* No port of that name leaves the program: neither a new value nor optimizer state. */
static void check_no_output(const mw_program *program, const char *prefix)
{
    mw_port port;
    bool is_input = false;
    for (size_t i = 0; mw_program_port_at(program, i, &port); i++) {
        if (strncmp(port.name, prefix, strlen(prefix)) != 0)
            continue;
        check_note(!port.is_output, __FILE__, __LINE__, "\"%s\" is an output", port.name);
        is_input = true;
    }
    CHECK(is_input);
}

/* Parameters that no pattern matches are frozen: not a bit moves, and no optimizer state exists for them. */
static void test_other_parameters_are_frozen(void)
{
    mw_error err = {0};
    float before[30], after[30], bias[3];
    mw_graph *source = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(source, "x", MW_F32, MW_SHAPE(TUNED_N, 2, 6, 6));
    mw_tensor *h = mw_tanh(mw_dense(mw_reshape(x, MW_SHAPE(TUNED_N, TUNED_X)), 5, "fc1"));
    mw_output(mw_dense(h, TUNED_C, "fc2"), "logits");
    mw_graph *graph = TRAINABLE(source, "fc2.*");
    mw_trainer *trainer = tuned_trainer(graph, MW_DEVICE_CPU, 0.1f, &err);
    mw_trainer_read(trainer, "fc1.bias", MW_F32, before, 5, &err);
    tuned_steps(trainer, 10, &err);
    mw_trainer_read(trainer, "fc1.bias", MW_F32, after, 5, &err);
    CHECK(memcmp(before, after, 5 * sizeof *before) == 0);
    mw_trainer_read(trainer, "fc2.bias", MW_F32, bias, 3, &err);
    CHECK_OK(err);
    check_no_output(mw_trainer_program(trainer), "fc1.");
    mw_trainer_export(trainer, source, scratch("own"), NULL, &err); /* parameters become constants */
    mw_graph *tuned = read_back("own", &err);
    mw_graph *again = TRAINABLE(tuned, "fc2_bias");
    mw_trainer *reader = tuned_trainer(again, MW_DEVICE_CPU, 0.1f, &err);
    mw_trainer_read(reader, "fc2_bias", MW_F32, after, 3, &err);
    CHECK_OK(err);
    CHECK(memcmp(bias, after, sizeof bias) == 0);
    mw_trainer_destroy(reader);
    mw_graph_destroy(again);
    mw_graph_destroy(tuned);
    mw_trainer_destroy(trainer);
    mw_graph_destroy(graph);
    mw_graph_destroy(source);
}

/* Layers that train otherwise than they evaluate: the running statistics follow, and the form after training is
 * written.
 */
static void test_layers_with_statistics_are_written_as_they_evaluate(void)
{
    mw_error err = {0};
    float expected[TUNED_LOGITS], actual[TUNED_LOGITS];
    tuned_data data;
    tuned_fill(&data);
    mw_graph *source = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(source, "x", MW_F32, MW_SHAPE(TUNED_N, 2, 6, 6));
    mw_tensor *h = mw_batch_norm_layer(mw_conv_layer(x, 3, MW_SHAPE(3, 3), "conv", NULL), 0.25f, 1e-3f, "bn");
    h = mw_dropout(mw_reshape(mw_relu(h), MW_SHAPE(TUNED_N, 48)), 0.3f, "drop");
    mw_output(mw_dense(h, TUNED_C, "fc"), "logits");
    mw_graph *graph = TRAINABLE(source, "fc.*", "bn.*");
    mw_trainer *trainer = tuned_trainer(graph, MW_DEVICE_CPU, 0.1f, &err);
    tuned_steps(trainer, 10, &err);
    mw_trainer_predict(trainer, &data.batch, MW_F32, expected, TUNED_LOGITS, &err);
    mw_graph *evaluation = mw_graph_evaluation(source, &err);
    mw_trainer_export(trainer, evaluation, scratch("layers"), NULL, &err);
    mw_graph *tuned = read_back("layers", &err);
    if (CHECK_OK(err) && tuned_run(tuned, MW_DEVICE_CPU, actual, &err))
        CHECK_NEAR(tuned_distance(actual, expected, TUNED_LOGITS), 0.0, 2e-6);
    mw_graph_destroy(tuned);
    mw_graph_destroy(evaluation);
    mw_trainer_destroy(trainer);
    mw_graph_destroy(graph);
    mw_graph_destroy(source);
}

/* All that "*" takes changes; running statistics and what is no weight keep their bits in the file. */
static void test_statistics_stay_when_all_weights_train(void)
{
    static const char *const all[] = {"*"}, *const weights[] = {"conv_weight", "conv_bias", "bn_gamma", "bn_beta",
                                                                "fc1_weight",  "fc1_bias",  "ln_gamma", "ln_beta",
                                                                "proj",        "proj_bias"};
    mw_error err = {0};
    mw_graph *source = tuned_read(MW_F32, "source", &err);
    mw_graph *graph = trainable(source, all, 1, &err);
    mw_trainer *trainer = tuned_trainer(graph, MW_DEVICE_CPU, 0.1f, &err);
    tuned_steps(trainer, 5, &err);
    mw_trainer_export(trainer, source, scratch("all"), NULL, &err);
    mw_graph *tuned = read_back("all", &err);
    if (CHECK_OK(err))
        check_only_changed(source, tuned, weights, sizeof weights / sizeof *weights);
    mw_graph_destroy(tuned);
    mw_trainer_destroy(trainer);
    mw_graph_destroy(graph);
    mw_graph_destroy(source);
}

/* A layer that no pattern takes keeps its statistics, and normalizes by them: a step has the loss that evaluation has.
 * One whose weights train follows the batches. */
static void test_statistics_move_only_with_their_layer(void)
{
    for (int moves = 0; moves < 2; moves++) {
        static const char *const patterns[] = {"fc.*", "bn.*"};
        mw_error err = {0};
        float before[3], after[3], loss = 0;
        tuned_data data;
        tuned_fill(&data);
        mw_graph *source = mw_graph_create(NULL, NULL);
        mw_tensor *x = mw_input(source, "x", MW_F32, MW_SHAPE(TUNED_N, 2, 6, 6));
        mw_tensor *h = mw_batch_norm_layer(mw_conv_layer(x, 3, MW_SHAPE(3, 3), "conv", NULL), 0.25f, 1e-3f, "bn");
        mw_output(mw_dense(mw_reshape(mw_relu(h), MW_SHAPE(TUNED_N, 48)), TUNED_C, "fc"), "logits");
        mw_graph *graph = trainable(source, patterns, moves == 1 ? 2 : 1, &err);
        mw_trainer *trainer = tuned_trainer(graph, MW_DEVICE_CPU, 0.1f, &err);
        mw_trainer_set_learning_rate(trainer, 0.0f, &err);
        mw_trainer_read(trainer, "bn.running_mean", MW_F32, before, 3, &err);
        loss = tuned_steps(trainer, 4, &err);
        mw_trainer_read(trainer, "bn.running_mean", MW_F32, after, 3, &err);
        const mw_column columns[] = {{.name = "x", .dtype = MW_F32, .shape = MW_SHAPE(2, 6, 6), .data = data.x},
                                     {.name = data.feeds[1].name, .dtype = MW_I32, .data = data.labels}};
        mw_dataset *dataset = mw_dataset_create(columns, 2, TUNED_N, false, &err);
        double found = 0;
        evaluated(trainer, dataset, &found, NULL, &err);
        CHECK_OK(err);
        CHECK((memcmp(before, after, sizeof before) != 0) == (moves == 1));
        CHECK((fabs((double)loss - found) > 1e-5) == (moves == 1));
        mw_dataset_destroy(dataset);
        mw_trainer_destroy(trainer);
        mw_graph_destroy(graph);
        mw_graph_destroy(source);
    }
}

/* ---- a program that nobody here wrote ---- */

/* The reshapes of the program name its batch of 1: it is trained at 8, and comes back at 1. */
static void test_program_of_the_corpus_learns(void)
{
    static const char *const last[] = {"Parameter193", "Parameter194"};
    if (!file_exists(TUNED_MNIST))
        SKIP("%s is not there", TUNED_MNIST);
    mw_error err = {0};
    mw_tune_options options = mw_tune_defaults(last, 2);
    options.shapes = &tuned_mnist_batch;
    options.shape_count = 1;
    mw_graph *source = mw_graph_open_mil(TUNED_MNIST, NULL, &err), *graph = mw_graph_trainable(source, &options, &err);
    tuned_check_mnist(source, graph, scratch("mnist"), &err);
    CHECK_OK(err);
    mw_graph_destroy(graph);
    mw_graph_destroy(source);
}

/* ---- refusals of writing ---- */

static void test_write_refuses_another_program(void)
{
    mw_error err = {0};
    mw_graph *source = tuned_read(MW_F32, "source", &err), *other = mw_graph_create(NULL, NULL);
    mw_graph *graph = TRAINABLE(source, "fc1_weight", "proj");
    mw_trainer *trainer = tuned_trainer(graph, MW_DEVICE_CPU, 0.1f, &err);
    CHECK_OK(err);
    mw_tensor *x = mw_input(other, "x", MW_F32, MW_SHAPE(2, 5));
    mw_tensor *w = mw_name(mw_constant(other, MW_F32, MW_SHAPE(5, 2), (float[10]){0}), "proj");
    mw_output(mw_matmul(x, w, MW_TRANSPOSE_NONE), "y");
    CHECK(mw_trainer_export(trainer, other, scratch("other"), NULL, &err) != MW_OK);
    CHECK_ERROR(err, MW_ERROR_SHAPE, "\"proj\" is [5, 3] in the trainer, but [5, 2] in the program");
    mw_graph_destroy(other);
    err = (mw_error){0};
    other = mw_graph_create(NULL, NULL);
    x = mw_input(other, "x", MW_F32, MW_SHAPE(2, 5));
    mw_output(mw_relu(x), "y");
    CHECK(mw_trainer_export(trainer, other, scratch("other"), NULL, &err) != MW_OK);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "was trained, but the program has no weight for it");
    mw_graph_destroy(other);
    mw_trainer_destroy(trainer);
    mw_graph_destroy(graph);
    mw_graph_destroy(source);
}

int main(void)
{
    RUN(test_copy_computes_what_the_source_does);
    RUN(test_copy_of_run_time_arguments_is_exact);
    RUN(test_old_opsets_expand_the_bias_of_conv);
    RUN(test_gradients_agree_with_differences);
    RUN(test_trained_program_is_the_source_with_other_numbers);
    RUN(test_splats_come_back_in_full);
    RUN(test_weights_of_fp16_can_be_kept_in_fp32);
    RUN(test_other_parameters_are_frozen);
    RUN(test_layers_with_statistics_are_written_as_they_evaluate);
    RUN(test_statistics_stay_when_all_weights_train);
    RUN(test_statistics_move_only_with_their_layer);
    RUN(test_program_of_the_corpus_learns);
    RUN(test_write_refuses_another_program);
    return check_finish();
}
