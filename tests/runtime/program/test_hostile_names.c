/* Names that steer a terminal or disguise a line, in every place where a name enters and comes out again in text for
 * people: messages, log lines, listings, plans and traces. Each must come out as text that may be shown. */
#include "runtime/files.h"
#include "support/check.h"
#include "support/clean.h"

#include <millwright/ane_e5rt.h>
#include <millwright/data.h>
#include <millwright/inspect.h>
#include <millwright/millwright.h>
#include <stdlib.h>

enum { LONG_NAME = 1 << 16 };

static char long_name[LONG_NAME + 1];

typedef void probe(const char *name);

static void check_clean(const mw_error *err, const char *where)
{
    check_note(text_is_clean(err->message, false, sizeof err->message - 1), __FILE__, __LINE__, "%s: the message",
               where);
    check_note(text_is_clean(err->operation, false, sizeof err->operation - 1), __FILE__, __LINE__, "%s: operation",
               where);
    check_note(text_is_clean(err->tensor, false, sizeof err->tensor - 1), __FILE__, __LINE__, "%s: tensor", where);
}

/* An error is there, and clean. */
static void expect_clean(mw_error *err, const char *where)
{
    check_note(err->status != MW_OK && err->message[0] != '\0', __FILE__, __LINE__, "%s: no error", where);
    check_clean(err, where);
    *err = (mw_error){0};
}

static void with_each(probe *function)
{
    for (size_t i = 0; i < hostile_name_count; i++)
        function(hostile_names[i]);
    function(long_name);
}

/* ---- graphs ---- */

static void expect_graph_error(mw_graph *graph, const char *where)
{
    mw_error err = {0};
    mw_graph_check(graph, &err);
    expect_clean(&err, where);
    mw_graph_destroy(graph);
}

static void probe_graph(const char *name)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_error err = {0};
    mw_op(graph, name, NULL, 0, NULL, 0, &err);
    expect_clean(&err, "an operation");
    mw_graph_destroy(graph);

    graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(2));
    const mw_argument argument = {.name = name, .values = &x, .count = 1};
    mw_tensor *result = NULL;
    mw_op(graph, "relu", &argument, 1, &result, 1, &err);
    expect_clean(&err, "an argument");
    mw_graph_destroy(graph);

    graph = mw_graph_create(NULL, NULL);
    x = mw_input(graph, name, MW_F32, MW_SHAPE(2, 3));
    mw_tensor *again = mw_name(mw_relu(x), name);
    mw_matmul(x, again, MW_TRANSPOSE_NONE);
    expect_graph_error(graph, "shapes of two tensors");

    graph = mw_graph_create(NULL, NULL);
    mw_input(graph, name, MW_F32, MW_SHAPE(2));
    mw_input(graph, name, MW_F32, MW_SHAPE(2));
    expect_graph_error(graph, "an input twice");

    graph = mw_graph_create(NULL, NULL);
    mw_dense(mw_input(graph, "x", MW_F32, MW_SHAPE(2)), 0, name);
    expect_graph_error(graph, "a layer");
}

static void test_graphs(void) { with_each(probe_graph); }

/* ---- files and texts ---- */

/* The texts have a %s where the name goes. */
static const char *const texts[] = {
    "%s",
    "program(%s) {}",
    "program(1.3)\n[buildInfo = dict<string, string>({{\"%s\", 3}})]\n{}",
    "program(1.3) { func %s<ios18>() {} -> (); }",
    "program(1.3) { func f<%s>() {} -> (); }",
    "program(1.3) { func f<ios18>(tensor<%s, [4]> x) {} -> (x); }",
    "program(1.3) { func f<ios18>(tensor<fp16, [4]> %s) {} -> (x); }",
    "program(1.3) { func f<ios18>(tensor<fp16, [4]> x) { tensor<fp16, [4]> y = %s(x = x); } -> (y); }",
    "program(1.3) { func f<ios18>(tensor<fp16, [4]> x) { tensor<fp16, [4]> y = \"%s\"(x = x); } -> (y); }",
    "program(1.3) { func f<ios18>(tensor<fp16, [4]> x) { tensor<fp16, [4]> y = relu(x = %s); } -> (y); }",
    "program(1.3) { func f<ios18>(tensor<fp16, [4]> x) { tensor<fp16, [4]> y = relu(%s = x); } -> (y); }",
    "program(1.3) { func f<ios18>(tensor<fp16, [4]> x) { tensor<fp16, [4]> y = relu(x = \"%s\"); } -> (y); }",
    "program(1.3) { func f<ios18>(tensor<fp16, [4]> x) { tensor<fp16, [4]> y = relu(x = x)[name = %s]; } -> (y); }",
    "program(1.3) { func f<ios18>(tensor<fp16, [4]> x) { tensor<fp16, [4]> y = gelu(x = x, mode = \"%s\")[name = "
    "string(\"%s\")]; } -> (z); }",
    "program(1.3) { func f<ios18>() { tensor<fp16, [4]> y = const()[name = string(\"y\"), val = tensor<fp16, "
    "[4]>(BLOBFILE(path = string(\"%s\"), offset = uint64(64)))]; } -> (y); }",
    "program(1.3) { func f<ios18>() { } -> (%s); }",
};

static void print_clean(const mw_graph *graph)
{
    mw_error err = {0};
    char *text = mw_graph_print(graph, &err);
    CHECK(text == NULL || text_is_clean(text, true, 4096));
    mw_string_free(text);
}

static void probe_texts(const char *name)
{
    static char text[3 * LONG_NAME];
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        size_t size = 0;
        for (const char *t = texts[i]; *t != '\0'; t++) {
            const bool mark = t[0] == '%';
            size += (size_t)snprintf(text + size, sizeof text - size, "%.*s", mark ? LONG_NAME : 1, mark ? name : t);
            t += mark;
        }
        mw_error err = {0};
        mw_graph *graph = mw_graph_parse_mil(text, size, "", NULL, &err);
        mw_graph_verify(graph, &err);
        check_clean(&err, texts[i]);
        if (graph != NULL)
            print_clean(graph);
        mw_graph_destroy(graph);
    }
}

static void test_texts_of_mil(void) { with_each(probe_texts); }

static mw_trainer *make_trainer(mw_error *err)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(2, 3)), *y = mw_input(graph, "y", MW_I32, MW_SHAPE(2));
    mw_tensor *logits = mw_dense(x, 4, "fc");
    mw_trainer_options options = mw_trainer_defaults(mw_cross_entropy(logits, y), mw_sgd(0.1f));
    options.prediction = logits;
    mw_trainer *trainer = mw_trainer_create(&options, err);
    mw_graph_destroy(graph);
    return trainer;
}

/* A safetensors file whose only tensor, and whose metadata, have that name, raw and in JSON's escapes. */
static void probe_weights(const char *name)
{
    static char header[2 * LONG_NAME];
    mw_error err = {0};
    mw_trainer *trainer = make_trainer(&err);
    REQUIRE(trainer != NULL);
    static const char *const forms[] = {
        "{\"%s\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}",
        "{\"%s\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,5]}}",
        "{\"\\u001b[2J\\u202e\":{\"%s\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}",
        "{\"\\u001b[2J\\u009b\":{\"dtype\":\"%s\",\"shape\":[1],\"data_offsets\":[0,4]}}",
        "{\"__metadata__\":{\"format\":\"%s\"},\"\\u0007\":{\"dtype\":\"F32\",\"shape\":[9],\"data_offsets\":[0,4]}}",
        "{\"\\u001b\\r\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]},\"\\u001b\\r\":{}}%s",
    };
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        const char *mark = strstr(forms[i], "%s");
        const int size =
            snprintf(header + 8, sizeof header - 8, "%.*s%s%s", (int)(mark - forms[i]), forms[i], name, mark + 2);
        for (int b = 0; b < 8; b++)
            header[b] = (char)((uint64_t)size >> (8 * b));
        memset(header + 8 + size, 0, 4);
        put_file(scratch("w.safetensors"), header, (size_t)size + 12);
        mw_trainer_load_weights(trainer, scratch("w.safetensors"), NULL, &err);
        expect_clean(&err, forms[i]);
        mw_trainer_load(trainer, scratch("w.safetensors"), NULL, &err);
        expect_clean(&err, forms[i]);
    }
    mw_trainer_destroy(trainer);
}

static void test_names_in_safetensors(void) { with_each(probe_weights); }

/* ---- paths ---- */

static void probe_paths(const char *name)
{
    static char path[LONG_NAME + 4096];
    REQUIRE(put_file(scratch("file"), "", 0));
    snprintf(path, sizeof path, "%s/%s", scratch("file"), name); /* nothing lies below a file */
    mw_error err = {0};
    CHECK(mw_graph_open_mil(path, NULL, &err) == NULL);
    expect_clean(&err, "mw_graph_open_mil");
    CHECK(mw_dataset_open_idx(path, name, &err) == NULL);
    expect_clean(&err, "mw_dataset_open_idx");
    mw_trainer *trainer = make_trainer(&err);
    REQUIRE(trainer != NULL);
    mw_trainer_save(trainer, path, NULL, &err);
    expect_clean(&err, "mw_trainer_save");
    mw_trainer_load(trainer, path, NULL, &err);
    expect_clean(&err, "mw_trainer_load");
    mw_trainer_save_weights(trainer, path, &err);
    expect_clean(&err, "mw_trainer_save_weights");
    mw_trainer_load_weights(trainer, path, NULL, &err);
    expect_clean(&err, "mw_trainer_load_weights");
    mw_trainer_load_weights(trainer, path, NULL, &err);
    expect_clean(&err, "mw_trainer_load_weights");
    mw_trainer_export(trainer, NULL, path, NULL, &err);
    expect_clean(&err, "mw_trainer_export");
    mw_plan *plan = mw_plan_create_trainer(trainer, MW_TRAINER_STEP, &err);
    mw_plan_write(plan, path, &err);
    expect_clean(&err, "mw_plan_write");
    mw_plan_destroy(plan);
    mw_trainer_destroy(trainer);
    CHECK(ane_e5rt_program_compile(path, NULL, 1, NULL, NULL, 0, NULL, NULL, 0) == NULL);
    CHECK(ane_e5rt_last_error()[0] != '\0' && text_is_clean(ane_e5rt_last_error(), false, 511));
}

static void test_paths(void) { with_each(probe_paths); }

/* The text of the dynamic loader holds the path. */
static void probe_library(const char *name)
{
    static char path[LONG_NAME + 64];
    snprintf(path, sizeof path, "/dev/null/%s", name);
    setenv("MW_E5RT_LIBRARY", path, 1);
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_output(mw_relu(mw_input(graph, "x", MW_F32, MW_SHAPE(2))), "y");
    mw_error err = {0};
    CHECK(mw_program_create(graph, NULL, &err) == NULL);
    expect_clean(&err, "MW_E5RT_LIBRARY");
    unsetenv("MW_E5RT_LIBRARY");
    mw_graph_destroy(graph);
}

static void test_libraries(void) { with_each(probe_library); }

/* ---- trainers and programs ---- */

static void probe_trainer(const char *name)
{
    mw_error err = {0};
    float data[8] = {0};
    mw_trainer *trainer = make_trainer(&err);
    REQUIRE(trainer != NULL);
    const mw_feed feed = {.name = name, .dtype = MW_F32, .data = data, .count = 6};
    const mw_batch batch = {.feeds = &feed, .feed_count = 1, .examples = 2};
    mw_trainer_step(trainer, &batch, NULL, &err);
    expect_clean(&err, "a feed");
    mw_trainer_read(trainer, name, MW_F32, data, 1, &err);
    expect_clean(&err, "mw_trainer_read");
    mw_trainer_write(trainer, name, MW_F32, data, 1, &err);
    expect_clean(&err, "mw_trainer_write");
    mw_trainer_destroy(trainer);

    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *loss = mw_reduce_mean(mw_square(mw_dense(mw_input(graph, "x", MW_F32, MW_SHAPE(2, 3)), 4, "fc")),
                                     MW_AXES(0, 1), false);
    mw_trainer_options options = mw_trainer_defaults(loss, mw_sgd(0.1f));
    const mw_parameter_group group = mw_parameter_group_defaults(name);
    options.groups = &group;
    options.group_count = 1;
    CHECK(mw_trainer_create(&options, &err) == NULL);
    expect_clean(&err, "a pattern");
    options.group_count = 0;
    const mw_metric metric = {.name = name, .value = loss};
    options.metrics = &metric;
    options.metric_count = 1;
    mw_trainer_destroy(mw_trainer_create(&options, &err)); /* refused, or shown by mw_trainer_fit */
    check_clean(&err, "a metric");
    err = (mw_error){0};
    mw_graph_destroy(graph);
}

static void test_trainers(void) { with_each(probe_trainer); }

static void check_line(void *user, const char *line)
{
    (void)user;
    CHECK(text_is_clean(line, false, 479));
}

static void check_file(const char *path, bool lines)
{
    size_t size = 0;
    char *text = (char *)get_file(path, &size);
    REQUIRE(text != NULL);
    text = realloc(text, size + 1);
    REQUIRE(text != NULL);
    text[size] = '\0';
    CHECK(strlen(text) == size && text_is_clean(text, lines, size));
    free(text);
}

static void check_plan(mw_program *program)
{
    mw_error err = {0};
    mw_program_profile(program, 2, &err);
    mw_program_run(program, &err);
    mw_plan *plan = mw_plan_create(program, &err);
    CHECK_OK(err);
    mw_plan_print(plan, check_line, NULL);
    mw_plan_write(plan, scratch("plan.txt"), &err);
    mw_plan_write_trace(plan, scratch("trace.json"), &err);
    CHECK_OK(err);
    check_file(scratch("plan.txt"), true);
    check_file(scratch("trace.json"), true);
    mw_plan_destroy(plan);
}

/* Such names are refused or shown. */
static void probe_program(const char *name)
{
    mw_error err = {0};
    float data[2] = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, name, MW_F32, MW_SHAPE(2));
    mw_output(mw_exp(mw_name(mw_relu(x), name)), "y");
    mw_program *program = mw_program_create(graph, NULL, &err);
    if (program != NULL) {
        print_clean(graph);
        check_plan(program);
        CHECK(text_is_clean(mw_program_get_info(program).where, false, 400));
        mw_program_write(program, "z", MW_F32, data, 2, &err);
        expect_clean(&err, "another port");
    }
    check_clean(&err, "mw_program_create");
    mw_program_destroy(program);
    mw_graph_destroy(graph);

    err = (mw_error){0};
    graph = mw_graph_create(NULL, NULL);
    mw_output(mw_relu(mw_input(graph, "x", MW_F32, MW_SHAPE(2))), "y");
    program = mw_program_create(graph, NULL, &err);
    mw_program_write(program, name, MW_F32, data, 2, &err);
    expect_clean(&err, "mw_program_write");
    mw_program_read(program, name, MW_F32, data, 2, &err);
    expect_clean(&err, "mw_program_read");
    mw_program_view(program, name, &err);
    expect_clean(&err, "mw_program_view");
    mw_program_alias(program, name, name, &err);
    expect_clean(&err, "mw_program_alias");
    mw_program_destroy(program);
    mw_graph_destroy(graph);
}

static void test_programs(void) { with_each(probe_program); }

/* ---- the log ---- */

static size_t line_count;

static void check_log(void *user, mw_log_level level, const char *line)
{
    (void)user;
    (void)level;
    line_count++;
    CHECK(text_is_clean(line, false, 1023));
}

int main(void)
{
    memset(long_name, '\033', LONG_NAME);
    mw_log_set(check_log, NULL);
    RUN(test_graphs);
    RUN(test_texts_of_mil);
    RUN(test_names_in_safetensors);
    RUN(test_paths);
    RUN(test_libraries);
    RUN(test_trainers);
    RUN(test_programs);
    mw_log_set(NULL, NULL);
    return check_finish();
}
