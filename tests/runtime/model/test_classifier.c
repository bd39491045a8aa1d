/* Classifiers: classify in graphs that are built and texts that are read, the labels of a program's ports, what was
 * predicted on both devices, with open extents, after tuning and flattening; and texts that lie about classes. */
#include "runtime/files.h"
#include "support/check.h"
#include "support/on_engine.h"

#include <millwright/millwright.h>
#include <stdlib.h>

#define HEAD(x) "program(1.3)\n{\n    func main<ios15>(" x ") {\n"
#define BODY                                                                                                           \
    "            tensor<fp32, [3]> s = softmax(axis = int32(-1), x = x);\n"                                            \
    "            string best, dict<string, fp32> chances = classify(classes = list<string, 3>([\"cat\", \"a "          \
    "\\\"dog\\\"\", "                                                                                                  \
    "\"\"]), probabilities = s);\n"
#define TAIL "        } -> (best, chances);\n}"

static const mw_device devices[] = {MW_DEVICE_CPU, MW_DEVICE_ANE};
static const char *const names[] = {"cat", "dog", "eel", "fox"};
static const int64_t numbers[] = {7, -3, INT64_C(5000000000), 0};
static const mw_classes named = {.count = 4, .names = names}, numbered = {.count = 4, .numbers = numbers};

static mw_graph *parse(const char *text, mw_error *err)
{
    return mw_graph_parse_mil(text, strlen(text), NULL, NULL, err);
}

/* softmax(x) of [2, 2], with classes. */
static mw_graph *build(const mw_classes *classes)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(2, 2)), *label, *chances;
    mw_tensor *p = mw_softmax(mw_reshape(x, MW_SHAPE(1, 4)), -1);
    CHECK_INT(mw_classify(p, classes, &label, &chances), MW_OK);
    CHECK(mw_output(label, "label") == label && mw_output(chances, "chances") == chances);
    return graph;
}

/* ---- what a program says ---- */

static void check_chances(mw_program *program, const float *x, size_t count, double tolerance, mw_error *err)
{
    float chances[8] = {0};
    double sum = 0;
    mw_program_read(program, "chances", MW_F32, chances, count, err);
    for (size_t i = 0; i < count; i++)
        sum += exp((double)x[i]);
    for (size_t i = 0; i < count; i++)
        CHECK_NEAR((double)chances[i], exp((double)x[i]) / sum, tolerance);
}

static void test_a_label_is_that_of_the_largest_probability(void)
{
    for (int d = 0; d < 2; d++)
        for (int k = 0; k < 8; k++) {
            mw_error err = {0};
            mw_graph *graph = build(k % 2 == 0 ? &named : &numbered);
            mw_program *program = engine_compile(graph, devices[d], 1, &err);
            mw_graph_destroy(graph);
            float x[4] = {0.5f, -1, 0, 0.25f};
            mw_label label = {.index = -1};
            mw_classes classes = {0};
            x[k / 2] = 2;
            mw_program_write(program, "x", MW_F32, x, 4, &err);
            mw_program_run(program, &err);
            CHECK_INT(mw_program_label(program, "label", &label, &err), MW_OK);
            CHECK_INT(label.index, k / 2);
            CHECK_INT(label.number, k % 2 == 0 ? 0 : numbers[k / 2]);
            CHECK(k % 2 == 1 ? label.name == NULL : label.name != NULL && strcmp(label.name, names[k / 2]) == 0);
            CHECK_INT(mw_program_classes(program, "chances", &classes, &err), MW_OK);
            CHECK_INT(classes.count, 4);
            CHECK(k % 2 == 0 ? classes.numbers == NULL && strcmp(classes.names[3], "fox") == 0
                             : classes.names == NULL && classes.numbers[2] == INT64_C(5000000000));
            check_chances(program, x, 4, d == 0 ? 1e-6 : 2e-3, &err);
            CHECK_OK(err);
            mw_program_destroy(program);
        }
}

static void test_ports_are_an_index_and_a_vector(void)
{
    mw_error err = {0};
    mw_graph *graph = build(&named);
    mw_program *program = engine_compile(graph, MW_DEVICE_CPU, 1, &err);
    mw_port port;
    CHECK_OK(err);
    CHECK(mw_program_port_at(program, 1, &port) && strcmp(port.name, "label") == 0 && port.dtype == MW_I32 &&
          port.shape.rank == 0);
    CHECK(mw_program_port_at(program, 2, &port) && strcmp(port.name, "chances") == 0 && port.dtype == MW_F32 &&
          mw_shape_equal(port.shape, MW_SHAPE(4)));
    mw_program_destroy(program);
    mw_graph_destroy(graph);
}

static void test_what_is_no_port_of_a_classifier_is_named(void)
{
    mw_error err = {0};
    mw_graph *graph = build(&named);
    mw_program *program = engine_compile(graph, MW_DEVICE_CPU, 1, &err);
    mw_label label;
    mw_classes classes;
    CHECK_INT(mw_program_label(program, "x", &label, &err), MW_ERROR_ARGUMENT);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "port \"x\" is no label of a classifier; those are label");
    err = (mw_error){0};
    mw_program_label(program, "chances", &label, &err);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "port \"chances\" is no label of a classifier; those are label");
    err = (mw_error){0};
    mw_program_classes(program, "x", &classes, &err);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "port \"x\" is no port of a classifier; those are label, chances");
    CHECK(classes.count == 0 && classes.names == NULL);
    err = (mw_error){0};
    mw_program_label(program, NULL, &label, &err);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "the name of the port is NULL");
    err = (mw_error){0};
    mw_program_label(NULL, "label", &label, &err);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "the program is NULL");
    err = (mw_error){0};
    CHECK_INT(mw_program_label(program, "label", NULL, &err), MW_ERROR_ARGUMENT);
    CHECK_INT(mw_program_classes(program, "label", NULL, NULL), MW_ERROR_ARGUMENT);
    mw_program_destroy(program);
    err = (mw_error){0};
    mw_program_label(program, "label", &label, &err);
    CHECK_ERROR(err, MW_ERROR_STATE, "mw_program_label");
    mw_graph_destroy(graph);
}

/* ---- texts ---- */

static void test_a_text_is_printed_as_it_was_read(void)
{
    static const char text[] = HEAD("tensor<fp32, [3]> x") BODY TAIL;
    mw_error err = {0};
    mw_graph *graph = parse(text, &err);
    char *printed = mw_graph_print_mil(graph, NULL, &err), *listed = mw_graph_print(graph, &err);
    mw_graph_verify(graph, &err);
    CHECK_OK(err);
    CHECK(printed != NULL &&
          strstr(printed, "string best, dict<string, fp32> chances = classify(classes = list<string, "
                          "3>([\"cat\", \"a \\\"dog\\\"\", \"\"]), probabilities = s);") != NULL);
    CHECK(listed != NULL && strstr(listed, "classify") != NULL);
    mw_string_free(printed);
    mw_string_free(listed);
    mw_graph_destroy(graph);
}

/* Built graphs print the form of coremltools: named constants, double. */
static void test_a_built_classifier_is_written_and_read(void)
{
    for (int k = 0; k < 2; k++) {
        mw_error err = {0};
        mw_graph *graph = build(k == 0 ? &named : &numbered);
        char *text = mw_graph_print_mil(graph, NULL, &err);
        REQUIRE(text != NULL);
        CHECK(strstr(text, k == 0 ? "string label, dict<string, fp64> chances = classify(classes = "
                                  : "int64 label, dict<int64, fp64> chances = classify(classes = ") != NULL);
        CHECK(strstr(text, k == 0 ? "val = list<string, 4>([\"cat\", \"dog\", \"eel\", \"fox\"])"
                                  : "val = list<int64, 4>([7, -3, 5000000000, 0])") != NULL);
        mw_graph *read = parse(text, &err);
        char *again = mw_graph_print_mil(read, NULL, &err);
        mw_graph_verify(read, &err);
        CHECK_OK(err);
        CHECK_STR(again != NULL ? again : "", text);
        mw_program *program = engine_compile(read, MW_DEVICE_CPU, 1, &err);
        mw_label label;
        mw_program_write(program, "x", MW_F32, (const float[]){0, 1, 3, 2}, 4, &err);
        mw_program_run(program, &err);
        mw_program_label(program, "label", &label, &err);
        CHECK_OK(err);
        CHECK(k == 0 ? label.name != NULL && strcmp(label.name, "eel") == 0 : label.number == INT64_C(5000000000));
        mw_program_destroy(program);
        mw_graph_destroy(read);
        mw_graph_destroy(graph);
        mw_string_free(text);
        mw_string_free(again);
    }
}

typedef struct hostile {
    const char *text;
    mw_status status; /* MW_OK: that of who finds it */
    const char *message;
} hostile;

#define OF(types, classes, p)                                                                                          \
    HEAD("tensor<fp32, [3]> x, tensor<fp16, [3]> h, tensor<bool, []> b")                                               \
    "            " types " = classify(classes = " classes ", probabilities = " p ");\n"
#define PLAIN "string best, dict<string, fp32> chances"

static const hostile texts[] = {
    {OF(PLAIN, "list<string, 2>([\"a\", \"b\"])", "x") TAIL, MW_ERROR_SHAPE,
     "classify \"best\": classes has 2 labels for the 3 elements of probabilities"},
    {OF(PLAIN, "list<string, 0>([])", "x") TAIL, MW_ERROR_ARGUMENT, "classes has no labels"},
    {OF(PLAIN, "list<string, ?>([\"a\", \"b\", \"c\", \"d\"])", "x") TAIL, MW_ERROR_SHAPE, "classes has 4 labels"},
    {OF(PLAIN, "list<int32, 3>([1, 2, 3])", "x") TAIL, MW_ERROR_DTYPE, "a list of strings or of int64"},
    {OF(PLAIN, "list<tensor<string, [1]>, 3>([[\"a\"], [\"b\"], [\"c\"]])", "x") TAIL, MW_ERROR_DTYPE,
     "a list of strings"},
    {OF(PLAIN, "tensor<string, [3]>([\"a\", \"b\", \"c\"])", "x") TAIL, MW_ERROR_DTYPE, "classes is not a list"},
    {OF(PLAIN, "x", "x") TAIL, MW_ERROR_DTYPE, "classes is not a list"},
    {OF(PLAIN, "list<string, 3>([\"a\", \"b\", \"c\"])", "h") TAIL, MW_ERROR_DTYPE, "probabilities is fp16, not fp32"},
    {OF("int64 best, dict<string, fp32> chances", "list<string, 3>([\"a\", \"b\", \"c\"])", "x") TAIL, MW_ERROR_FORMAT,
     "result 0 is declared int64 [], the rule gives string []"},
    {OF("string best, dict<int64, fp32> chances", "list<string, 3>([\"a\", \"b\", \"c\"])", "x") TAIL, MW_ERROR_FORMAT,
     "result 1 is declared with another type"},
    {OF("string best, tensor<fp32, [3]> chances", "list<string, 3>([\"a\", \"b\", \"c\"])", "x") TAIL, MW_ERROR_FORMAT,
     "result 1 is declared with another type"},
    {OF("string best, dict<string, int32> chances", "list<string, 3>([\"a\", \"b\", \"c\"])", "x") TAIL,
     MW_ERROR_FORMAT, "result 1 is declared with another type"},
    {OF("string best", "list<string, 3>([\"a\", \"b\", \"c\"])", "x") "        } -> (best);\n}", MW_ERROR_ARGUMENT,
     "has 2 results"},
    {HEAD("tensor<fp32, [3]> x") "list<string, 1> l = make_list(dtype = string(\"string\"));\n" PLAIN
                                 " = classify(classes = l, probabilities = x);\n" TAIL,
     MW_ERROR_DTYPE, "is no element type"},
    {OF(PLAIN, "list<string, 3>([\"a\", \"b\", \"c\"])",
        "x") "string again = identity(x = best);\n        } -> (again);\n}",
     MW_ERROR_UNSUPPORTED, "identity \"again\": uses what only results of classify may be"},
    {OF(PLAIN, "list<string, 3>([\"a\", \"b\", \"c\"])",
        "x") "string again = cond(pred = b) {} -> (best) {} -> (best);\n"
             "        } -> (again);\n}",
     MW_ERROR_UNSUPPORTED, "cond \"again\": uses what only results of classify may be"},
    {HEAD("tensor<fp32, [3]> x, tensor<bool, []> b") "list<string, 3> l = const()[val = list<string, 3>([\"a\", \"b\", "
                                                     "\"c\"])];\n"
                                                     "string y = list_read(index = int32(1), ls = l);\n        } -> "
                                                     "(y);\n}",
     MW_OK, "list_read \"y\": uses what only results of classify may be"},
    {HEAD("tensor<fp32, [3]> x, tensor<bool, []> b") "tensor<fp32, [3]> y = cond(pred = b) { " PLAIN
                                                     " = classify(classes = list<string, 3>([\"a\", \"b\", \"c\"]), "
                                                     "probabilities = x); } -> (x) { } -> (x);\n"
                                                     "        } -> (y);\n}",
     MW_ERROR_UNSUPPORTED, "stands in a block"},
};

static void test_texts_that_lie_about_classes_are_refused(void)
{
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (int way = 0; way < 3; way++) {
            mw_error err = {0}, why = {0};
            mw_graph *graph = parse(texts[i].text, &err);
            check_note(graph != NULL, __FILE__, __LINE__, "text %zu: %s", i, err.message);
            mw_graph *flat = way == 2 ? mw_graph_flatten(graph, &why) : NULL;
            mw_program *program = way == 2 ? NULL : engine_compile(graph, devices[way], 1, &why);
            check_note(program == NULL && flat == NULL, __FILE__, __LINE__, "text %zu is taken", i);
            check_note(texts[i].status == MW_OK || why.status == texts[i].status, __FILE__, __LINE__,
                       "text %zu, way %d: status %d", i, way, (int)why.status);
            check_note(strstr(why.message, texts[i].message) != NULL, __FILE__, __LINE__, "text %zu, way %d: %s", i,
                       way, why.message);
            mw_program_destroy(program);
            mw_graph_destroy(flat);
            mw_graph_destroy(graph);
        }
}

/* Classes that are fed: a list as a port, which nothing takes. */
static void test_classes_that_are_no_constant_are_refused(void)
{
    static const char text[] =
        HEAD("list<string, 3> l, tensor<fp32, [3]> x") PLAIN " = classify(classes = l, probabilities = x);\n" TAIL;
    mw_error err = {0}, verified = {0}, compiled = {0};
    mw_graph *graph = parse(text, &err);
    CHECK_OK(err);
    mw_graph_verify(graph, &verified);
    CHECK_ERROR(verified, MW_ERROR_ARGUMENT, "classify \"best\": classes must be a constant");
    CHECK(engine_compile(graph, MW_DEVICE_CPU, 1, &compiled) == NULL);
    CHECK_ERROR(compiled, MW_ERROR_UNSUPPORTED, "input \"l\" is no tensor");
    mw_graph_destroy(graph);
}

static void test_constructors_refuse_bad_classes(void)
{
    static const char *const holes[] = {"a", NULL};
    const mw_classes bad[] = {{0},
                              {.count = 2},
                              {.count = 0, .names = names},
                              {.count = 2, .names = names, .numbers = numbers},
                              {.count = 2, .names = holes},
                              {.count = 3, .names = names}};
    static const char *const why[] = {"one or more names",
                                      "one or more names",
                                      "one or more names",
                                      "one or more names",
                                      "name 1 of the classes is NULL",
                                      "classes has 3 labels for the 2"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        mw_error err = {0};
        mw_graph *graph = mw_graph_create(NULL, NULL);
        mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(2)), *label = x, *chances = x;
        CHECK(mw_classify(x, &bad[i], &label, &chances) != MW_OK);
        CHECK(label == NULL && chances == NULL);
        mw_graph_check(graph, &err);
        CHECK_ERROR(err, i < 5 ? MW_ERROR_ARGUMENT : MW_ERROR_SHAPE, why[i]);
        mw_graph_destroy(graph);
    }
    mw_tensor *label, *chances;
    CHECK_INT(mw_classify(NULL, &named, &label, &chances), MW_ERROR_ARGUMENT);
}

/* ---- other forms of a program ---- */

static void test_open_extents_have_labels_before_they_are_chosen(void)
{
    static const char open[] = "program(1.3)\n{\n    func main<ios17>(tensor<fp32, [?]> x) {\n" BODY TAIL;
    char text[1024];
    const char *closed = "tensor<fp32, [3]> s";
    const char *at = strstr(open, closed);
    snprintf(text, sizeof text, "%.*stensor<fp32, [?]> s%s", (int)(at - open), open, at + strlen(closed));
    mw_error err = {0};
    mw_graph *graph = parse(text, &err);
    mw_program *program = engine_compile(graph, MW_DEVICE_CPU, 1, &err);
    mw_classes classes;
    mw_label label;
    mw_program_classes(program, "best", &classes, &err);
    CHECK_OK(err);
    CHECK(classes.count == 3 && strcmp(classes.names[1], "a \"dog\"") == 0);
    mw_program_label(program, "best", &label, &err);
    CHECK_ERROR(err, MW_ERROR_STATE, "choose its shape");
    err = (mw_error){0};
    const mw_input_shape two[] = {{"x", MW_SHAPE(2)}}, three[] = {{"x", MW_SHAPE(3)}};
    mw_program_set_shapes(program, two, 1, &err);
    CHECK_ERROR(err, MW_ERROR_SHAPE, "classes has 3 labels for the 2 elements");
    err = (mw_error){0};
    mw_program_set_shapes(program, three, 1, &err);
    mw_program_write(program, "x", MW_F32, (const float[]){0, 1, 3}, 3, &err);
    mw_program_run(program, &err);
    mw_program_label(program, "best", &label, &err);
    CHECK_OK(err);
    CHECK(label.index == 2 && strcmp(label.name, "") == 0);
    mw_program_destroy(program);
    mw_graph_destroy(graph);
}

/* d (sum w p) / dx by differences. */
static void test_probabilities_have_the_gradient_of_an_identity(void)
{
    mw_error err = {0};
    mw_graph *graph = build(&named), *flat = mw_graph_flatten(graph, &err);
    mw_tensor *x = mw_graph_find(flat, "x"), *y = mw_graph_find(flat, "chances"), *dx = NULL, *none = NULL;
    CHECK(mw_tensor_dtype(y) == MW_F32 && mw_shape_equal(mw_tensor_shape(y), MW_SHAPE(4)));
    CHECK(mw_tensor_dtype(mw_graph_find(flat, "label")) == MW_I32);
    mw_tensor *w = mw_constant(flat, MW_F32, MW_SHAPE(4), (const float[]){1, -2, 0.5f, 3});
    mw_grad(mw_reduce_sum(mw_mul(w, y), MW_ALL_AXES, false), &x, 1, &dx, &err);
    mw_output(dx, "dx");
    mw_program *program = engine_compile(flat, MW_DEVICE_CPU, 1, &err);
    const float at[4] = {0.5f, -1, 0, 0.25f}, weights[4] = {1, -2, 0.5f, 3};
    float got[4] = {0};
    double sum = 0, mean = 0;
    mw_program_write(program, "x", MW_F32, at, 4, &err);
    mw_program_run(program, &err);
    mw_program_read(program, "dx", MW_F32, got, 4, &err);
    CHECK_OK(err);
    for (int i = 0; i < 4; i++)
        sum += exp((double)at[i]);
    for (int i = 0; i < 4; i++)
        mean += (double)weights[i] * exp((double)at[i]) / sum;
    for (int i = 0; i < 4; i++)
        CHECK_NEAR((double)got[i], exp((double)at[i]) / sum * ((double)weights[i] - mean), 1e-6);
    mw_program_destroy(program);
    mw_graph_destroy(flat);
    x = mw_graph_find(graph, "x");
    mw_grad(mw_graph_find(graph, "chances"), &x, 1, &none, &err);
    CHECK(err.status != MW_OK && none == NULL);
    mw_graph_destroy(graph);
}

/* The loss is made of what stands before classify, which stays in what is written. */
static void test_a_classifier_that_was_read_is_tuned(void)
{
    static const char text[] = HEAD(
        "tensor<fp32, [2, 2]> x") "tensor<fp32, [2, 2]> w = const()[val = tensor<fp32, [2, 2]>([[0, 0], [0, 0]])];\n"
                                  "tensor<fp32, [2, 2]> scores = linear(weight = w, x = x);\n"
                                  "string best, dict<string, fp64> chances = classify(classes = list<string, "
                                  "4>([\"a\", \"b\", \"c\", \"d\"]), "
                                  "probabilities = scores);\n" TAIL;
    const char *folder = scratch("tuned");
    char path[600];
    mw_error err = {0};
    const char *const patterns[] = {"w"};
    const mw_tune_options options = mw_tune_defaults(patterns, 1);
    mw_graph *source = parse(text, &err), *graph = mw_graph_trainable(source, &options, &err);
    mw_tensor *labels = mw_input(graph, "labels", MW_I32, MW_SHAPE(2));
    mw_tensor *loss = mw_cross_entropy(mw_graph_find(graph, "scores"), labels);
    mw_trainer *trainer = engine_trainer(loss, mw_sgd(1.0f), MW_DEVICE_CPU, 1, &err);
    const float x[4] = {1, 0, 0, 1};
    const int32_t classes[2] = {1, 0};
    const mw_feed feeds[] = {{.name = "x", .dtype = MW_F32, .data = x, .count = 4, .scale = 1.0f},
                             {.name = "labels", .dtype = MW_I32, .data = classes, .count = 2, .scale = 1.0f}};
    for (int i = 0; i < 5; i++)
        mw_trainer_step(trainer, &(mw_batch){.feeds = feeds, .feed_count = 2, .examples = 2}, NULL, &err);
    mw_trainer_export(trainer, source, folder, NULL, &err);
    CHECK_OK(err);
    mw_trainer_destroy(trainer);
    mw_graph_destroy(graph);
    mw_graph_destroy(source);
    snprintf(path, sizeof path, "%s/model.mil", folder);
    mw_graph *read = mw_graph_open_mil(path, NULL, &err);
    mw_program *program = engine_compile(read, MW_DEVICE_CPU, 1, &err);
    mw_label label;
    mw_program_write(program, "x", MW_F32, (const float[]){0, 0, 0, 3}, 4, &err);
    mw_program_run(program, &err);
    mw_program_label(program, "best", &label, &err);
    CHECK_OK(err);
    CHECK(label.name != NULL && strcmp(label.name, "c") == 0); /* row 1 is of class 0 */
    mw_program_destroy(program);
    mw_graph_destroy(read);
}

static void test_evaluation_and_copies_keep_classes(void)
{
    const char *folder = scratch("classifier");
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(1, 2)), *label, *chances;
    mw_tensor *scores = mw_dense(x, 4, "fc");
    mw_classify(mw_softmax(scores, -1), &named, &label, &chances);
    mw_output(label, "label");
    mw_output(chances, "chances");
    mw_graph_write(graph, folder, NULL, &err); /* parameters as inputs */
    mw_graph *evaluation = mw_graph_evaluation(graph, &err);
    CHECK_OK(err);
    mw_program *program = engine_compile(evaluation, MW_DEVICE_ANE, 1, &err);
    mw_label found = {.index = -1};
    mw_program_write(program, "x", MW_F32, (const float[]){1, -1}, 2, &err);
    mw_program_run(program, &err);
    mw_program_label(program, "label", &found, &err);
    CHECK_OK(err);
    CHECK(found.index >= 0 && found.index < 4 && found.name != NULL);
    mw_program_destroy(program);
    mw_graph_destroy(evaluation);
    mw_graph *copy = mw_graph_function(graph, NULL, &err);
    char *one = mw_graph_print_mil(graph, NULL, &err), *other = mw_graph_print_mil(copy, NULL, &err);
    CHECK_OK(err);
    CHECK_STR(other != NULL ? other : "", one != NULL ? one : "-");
    mw_string_free(one);
    mw_string_free(other);
    mw_graph_destroy(copy);
    mw_graph_destroy(graph);
}

int main(void)
{
    RUN(test_a_label_is_that_of_the_largest_probability);
    RUN(test_ports_are_an_index_and_a_vector);
    RUN(test_what_is_no_port_of_a_classifier_is_named);
    RUN(test_a_text_is_printed_as_it_was_read);
    RUN(test_a_built_classifier_is_written_and_read);
    RUN(test_texts_that_lie_about_classes_are_refused);
    RUN(test_classes_that_are_no_constant_are_refused);
    RUN(test_constructors_refuse_bad_classes);
    RUN(test_open_extents_have_labels_before_they_are_chosen);
    RUN(test_probabilities_have_the_gradient_of_an_identity);
    RUN(test_a_classifier_that_was_read_is_tuned);
    RUN(test_evaluation_and_copies_keep_classes);
    return check_finish();
}
