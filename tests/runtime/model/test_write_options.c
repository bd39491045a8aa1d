/* Options of writing, each with each format and each writer: what one has no use for is refused by its name, before
 * anything is there. */
#include "support/check.h"
#include "support/folder.h"

#include <millwright/millwright.h>
#include <string.h>
#include <unistd.h>

static const char *const paths[] = {"m", "m.mlpackage", "m.onnx"};
enum { MIL, PACKAGE, ONNX, FORMATS, N = 4, D = 3 };

static const void *zeros(void *user, const char *name)
{
    static const float none[D * D];
    (void)user, (void)name;
    return none;
}

static void ignore(void *user, const mw_format_problem *problem) { (void)user, (void)problem; }

static void set_opset(mw_write_options *o) { o->opset = MW_IOS17; }
static void set_function(mw_write_options *o) { o->function = "main"; }
static void set_report(mw_write_options *o) { o->report = ignore; }
static void set_any_batch(mw_write_options *o) { o->any_batch = true; }
static void set_bake(mw_write_options *o) { o->bake = zeros; }
static void set_replace(mw_write_options *o) { o->replace = zeros; }
static void set_keep_batch(mw_write_options *o) { o->keep_batch = true; }

static const struct {
    const char *name;
    void (*set)(mw_write_options *options);
    bool in[FORMATS];           /* the format has a use for it */
    bool graph, model, trainer; /* so has the writer */
} rows[] = {
    {"opset", set_opset, {true, true, false}, true, true, true},
    {"function", set_function, {false, false, true}, true, false, true},
    {"report", set_report, {false, false, true}, true, true, true},
    {"any_batch", set_any_batch, {false, false, true}, true, true, false},
    {"bake", set_bake, {true, true, true}, true, false, false},
    {"replace", set_replace, {true, true, true}, true, false, false},
    {"keep_batch", set_keep_batch, {true, true, true}, false, false, true},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

typedef struct made {
    mw_error err;
    mw_graph *graph, *trained;
    mw_model *model;
    mw_trainer *trainer;
} made;

static void make_all(made *m)
{
    *m = (made){0};
    m->graph = mw_graph_create(NULL, &m->err);
    mw_tensor *x = mw_input(m->graph, "x", MW_F32, MW_SHAPE(N, D));
    mw_output(mw_matmul(x, mw_constant(m->graph, MW_F32, MW_SHAPE(D, D), zeros(NULL, "")), 0), "y");
    m->model = mw_model_create(m->graph, NULL, &m->err);
    m->trained = mw_graph_create(NULL, &m->err);
    mw_tensor *scores = mw_dense(mw_input(m->trained, "x", MW_F32, MW_SHAPE(N, D)), 2, "fc");
    mw_trainer_options options = mw_trainer_defaults(mw_reduce_mean(scores, MW_ALL_AXES, false), mw_sgd(0.1f));
    options.prediction = scores;
    m->trainer = mw_trainer_create(&options, &m->err);
    CHECK_OK(m->err);
}

static void destroy_all(made *m)
{
    mw_trainer_destroy(m->trainer);
    mw_model_destroy(m->model);
    mw_graph_destroy(m->trained);
    mw_graph_destroy(m->graph);
}

/* Whether a library without protobuf-c would write it. */
static bool is_built(const mw_error *err) { return strstr(err->message, "built without") == NULL; }

static void check_one(const char *writer, int format, int row, bool has_use, mw_status status, const mw_error *err)
{
    const bool good = has_use ? status == MW_OK || !is_built(err)
                              : status == MW_ERROR_ARGUMENT && strstr(err->message, rows[row].name) != NULL;
    check_note(good, __FILE__, __LINE__, "%s, %s, `%s`: %d %s", writer, paths[format], rows[row].name, (int)status,
               err->message);
    if (!has_use)
        check_note(access(paths[format], F_OK) != 0, __FILE__, __LINE__, "%s is there", paths[format]);
}

static void test_what_has_no_use_is_refused(void)
{
    char folder[512];
    made m;
    make_all(&m);
    for (int i = 0; i < ROWS * FORMATS; i++) {
        const int row = i / FORMATS, format = i % FORMATS;
        const bool in = rows[row].in[format];
        mw_error graph = {0}, model = {0}, trainer = {0};
        mw_write_options options = mw_write_defaults();
        rows[row].set(&options);
        REQUIRE(folder_enter(folder));
        const mw_status a = mw_graph_write(m.graph, paths[format], &options, &graph);
        check_one("graph", format, row, in && rows[row].graph, a, &graph);
        folder_leave(folder);
        REQUIRE(folder_enter(folder));
        const mw_status b = mw_model_write(m.model, paths[format], &options, &model);
        check_one("model", format, row, in && rows[row].model, b, &model);
        folder_leave(folder);
        REQUIRE(folder_enter(folder));
        const mw_status c = mw_trainer_export(m.trainer, NULL, paths[format], &options, &trainer);
        check_one("trainer", format, row, in && rows[row].trainer, c, &trainer);
        folder_leave(folder);
    }
    destroy_all(&m);
}

static void test_a_check_says_the_same_and_writes_nothing(void)
{
    char folder[512];
    made m;
    make_all(&m);
    for (int format = 0; format < FORMATS; format++) {
        mw_error err = {0};
        mw_write_options options = mw_write_defaults();
        options.check_only = true;
        REQUIRE(folder_enter(folder));
        mw_graph_write(m.graph, paths[format], &options, &err);
        mw_model_write(m.model, paths[format], &options, &err);
        mw_trainer_export(m.trainer, NULL, paths[format], &options, &err);
        CHECK(err.status == MW_OK || !is_built(&err));
        CHECK_INT(folder_count("."), 0);
        folder_leave(folder);
    }
    destroy_all(&m);
}

static void test_endings_that_are_something_else_are_refused(void)
{
    static const char *const others[] = {"m.mlmodel",     "m.mlmodelc/", "a/m.tflite", "m.pt",
                                         "m.safetensors", "m/model.mil", "m.PB",       "m.json"};
    char folder[512];
    made m;
    make_all(&m);
    REQUIRE(folder_enter(folder));
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        mw_error err = {0};
        CHECK_INT(mw_graph_write(m.graph, others[i], NULL, &err), MW_ERROR_ARGUMENT);
        CHECK_CONTAINS(err.message, "models are not written as");
    }
    mw_error err = {0};
    CHECK_INT(mw_graph_write(m.graph, "m.onnx/", NULL, &err), MW_ERROR_ARGUMENT);
    CHECK_CONTAINS(err.message, "slash");
    err = (mw_error){0};
    CHECK(mw_graph_write(m.graph, "M.MLPACKAGE", NULL, &err) != MW_OK); /* Core ML wants small letters */
    err = (mw_error){0};
    CHECK_INT(mw_graph_write(m.graph, "", NULL, &err), MW_ERROR_ARGUMENT);
    err = (mw_error){0};
    CHECK_INT(mw_graph_write(m.graph, "m.espresso.net", NULL, &err), MW_ERROR_UNSUPPORTED);
    CHECK_CONTAINS(err.message, "mw_chip_register");
    CHECK_INT(folder_count("."), 0);
    folder_leave(folder);
    destroy_all(&m);
}

/* A folder may be named with a slash behind it, and an ending in capitals. */
static void test_a_check_takes_what_is_written(void)
{
    static const char *const names[] = {"m/", "m.mlpackage/", "M.ONNX"};
    char folder[512];
    made m;
    make_all(&m);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        mw_error err = {0};
        mw_write_options options = mw_write_defaults();
        options.check_only = true;
        REQUIRE(folder_enter(folder));
        mw_graph_write(m.graph, names[i], &options, &err);
        CHECK_INT(folder_count("."), 0);
        mw_graph_write(m.graph, names[i], NULL, &err);
        check_note(err.status == MW_OK || !is_built(&err), __FILE__, __LINE__, "%s: %s", names[i], err.message);
        CHECK(!is_built(&err) || folder_count(".") == 1);
        folder_leave(folder);
    }
    destroy_all(&m);
}

static void test_options_of_files_are_not_for_a_text(void)
{
    made m;
    make_all(&m);
    for (int row = 0; row < ROWS; row++) {
        mw_error err = {0};
        mw_write_options options = mw_write_defaults();
        rows[row].set(&options);
        char *text = mw_graph_print_mil(m.graph, &options, &err);
        const bool in = rows[row].in[MIL] && rows[row].graph;
        check_note(in == (text != NULL), __FILE__, __LINE__, "%s: %s", rows[row].name, err.message);
        CHECK(in || strstr(err.message, rows[row].name) != NULL);
        mw_string_free(text);
    }
    destroy_all(&m);
}

static void test_a_source_has_a_batch_of_its_own(void)
{
    made m;
    make_all(&m);
    mw_write_options options = mw_write_defaults();
    options.keep_batch = true;
    CHECK_INT(mw_trainer_export(m.trainer, m.graph, "m", &options, &m.err), MW_ERROR_ARGUMENT);
    CHECK_CONTAINS(m.err.message, "keep_batch");
    destroy_all(&m);
}

int main(void)
{
    RUN(test_what_has_no_use_is_refused);
    RUN(test_a_check_says_the_same_and_writes_nothing);
    RUN(test_endings_that_are_something_else_are_refused);
    RUN(test_a_check_takes_what_is_written);
    RUN(test_options_of_files_are_not_for_a_text);
    RUN(test_a_source_has_a_batch_of_its_own);
    return check_finish();
}
