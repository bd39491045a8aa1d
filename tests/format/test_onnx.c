/* What the ONNX reader says of files that are wrong, or ask for more than is there, and what its options do. */
#include "onnx_bytes.h"
#include "support/check.h"
#include "support/failing.h"
#include "support/folder.h"
#include "support/meter.h"

#include <millwright/millwright.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- files ---- */

static void put_file(const char *path, const void *data, size_t size)
{
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(data, 1, size, file) != size || fclose(file) != 0)
        abort();
}

/* A graph with the input x float[2, 3] and the output y. */
static onnx_bytes begin_graph(const char *dimension)
{
    onnx_bytes graph = {.size = 0}, x = onnx_value("x", dimension), y = onnx_value("y", NULL);
    onnx_message(&graph, 11, &x);
    onnx_message(&graph, 12, &y);
    return graph;
}

static mw_graph *read_graph(const onnx_bytes *graph, const mw_onnx_options *options, mw_error *err)
{
    const onnx_bytes model = onnx_model(graph);
    mw_error_clear(err);
    put_file("model.onnx", model.data, model.size);
    return mw_graph_open_onnx("model.onnx", options, err);
}

static void expect(const onnx_bytes *graph, mw_status status, const char *part)
{
    mw_error err = {0};
    mw_graph *made = read_graph(graph, NULL, &err);
    CHECK(made == NULL);
    CHECK_ERROR(err, status, part);
    mw_graph_destroy(made);
}

/* ---- what a file says ---- */

static void test_values_that_nothing_gives_are_named(void)
{
    onnx_bytes graph = begin_graph(NULL);
    onnx_add_node(&graph, "Relu", "nobody", "y");
    expect(&graph, MW_ERROR_FORMAT, "takes \"nobody\", which no node gives");
    graph = begin_graph(NULL);
    onnx_add_node(&graph, "Relu", "x", "z");
    expect(&graph, MW_ERROR_FORMAT, "nothing gives the output \"y\"");
}

static void test_cycles_are_refused(void)
{
    onnx_bytes graph = begin_graph(NULL);
    onnx_add_node(&graph, "Add", "x b", "a");
    onnx_add_node(&graph, "Relu", "a", "b");
    onnx_add_node(&graph, "Relu", "b", "y");
    expect(&graph, MW_ERROR_FORMAT, "takes \"b\", which no node gives, or only one of a cycle");
}

static void test_names_are_given_once(void)
{
    onnx_bytes graph = begin_graph(NULL);
    onnx_add_node(&graph, "Relu", "x", "y");
    onnx_add_node(&graph, "Tanh", "x", "y");
    expect(&graph, MW_ERROR_FORMAT, "two values have the name \"y\"");
}

static void test_tensors_have_the_elements_that_their_extents_say(void)
{
    onnx_bytes graph = begin_graph(NULL), tensor = onnx_zeros("w", 2, 3);
    onnx_number(&tensor, 1, 1000000); /* a third extent */
    onnx_message(&graph, 5, &tensor);
    onnx_add_node(&graph, "Relu", "x", "y");
    expect(&graph, MW_ERROR_FORMAT, "tensor \"w\": 24 bytes and 0 numbers, where 6000000 elements belong");
    graph = begin_graph(NULL);
    tensor = onnx_zeros("w", 2, 3);
    onnx_number(&tensor, 1, UINT64_C(1) << 62);
    onnx_message(&graph, 5, &tensor);
    expect(&graph, MW_ERROR_FORMAT, "its extents are too large");
}

/* ---- what is not supported ---- */

static void note_problem(void *user, const mw_format_problem *problem)
{
    char *list = user;
    const size_t used = strlen(list);
    snprintf(list + used, 500 - used, "%s %s %lld %s\n", problem->operation, problem->node, (long long)problem->opset,
             problem->reason);
}

static void test_everything_that_is_not_supported_is_listed_at_once(void)
{
    onnx_bytes graph = begin_graph(NULL);
    char list[500] = "";
    mw_error err = {0};
    onnx_add_node(&graph, "Mystery", "x", "a");
    onnx_add_node(&graph, "Relu", "a", "b");
    onnx_add_node(&graph, "Reshape", "x x", "c");
    onnx_bytes strange = onnx_node("Relu", "x", "d");
    onnx_int_attribute(&strange, "slope", 3);
    onnx_message(&graph, 1, &strange);
    onnx_bytes foreign = onnx_node("Gelu", "x", "e");
    onnx_text(&foreign, 7, "com.example");
    onnx_message(&graph, 1, &foreign);
    onnx_add_node(&graph, "Relu", "b", "y");
    mw_onnx_options options = mw_onnx_defaults();
    options.report = note_problem;
    options.report_user = list;
    CHECK(read_graph(&graph, &options, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_UNSUPPORTED, "4 nodes are not supported: Mystery \"a\"");
    CHECK_STR(list, "Mystery a 13 the operator is not known\n"
                    "Reshape c 13 input 1 must be known when the file is read, and is computed\n"
                    "Relu d 13 the attribute \"slope\" is not known\n"
                    "com.example.Gelu e 13 operators of the domain \"com.example\" are not known\n");
}

/* ---- short files that ask for much ---- */

/* A Constant of that element type: 1 float, 7 int64, 9 bool. */
static onnx_bytes constant_node(int type, const void *values, size_t count, size_t size, const char *name)
{
    onnx_bytes tensor = {.size = 0}, attribute = {.size = 0}, node = onnx_node("Constant", "", name);
    onnx_number(&tensor, 1, count);
    onnx_number(&tensor, 2, (uint64_t)type);
    onnx_raw(&tensor, 9, values, size);
    onnx_text(&attribute, 1, "value");
    onnx_message(&attribute, 5, &tensor);
    onnx_number(&attribute, 20, 4);
    onnx_message(&node, 5, &attribute);
    return node;
}

static void test_short_files_get_no_huge_tables(void)
{
    const float scales[] = {1, 500000}; /* of two axes */
    onnx_bytes graph = begin_graph(NULL), constant = constant_node(1, scales, 2, sizeof scales, "s");
    mw_error err = {0};
    meter m = {0};
    const mw_allocator allocator = {meter_resize, &m};
    mw_onnx_options options = mw_onnx_defaults();
    options.allocator = &allocator;
    onnx_message(&graph, 1, &constant);
    for (int i = 0; i < 100; i++) {
        char name[16];
        snprintf(name, sizeof name, i == 99 ? "y" : "y%d", i);
        onnx_add_node(&graph, "Resize", "x - s", name);
    }
    CHECK(read_graph(&graph, &options, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_UNSUPPORTED, "takes much more memory than the file");
    CHECK(m.most < (size_t)100 << 20);
    CHECK_INT(m.held, 0);
}

/* x -> If(true) { If(true) { .. x } } -> y, `depth` of them. */
static onnx_bytes nested(int depth)
{
    static const unsigned char yes = 1;
    const onnx_bytes condition = constant_node(9, &yes, 1, 1, "c"), result = onnx_value("y", NULL);
    onnx_bytes body = {.size = 0};
    onnx_add_node(&body, "Relu", "x", "y");
    onnx_message(&body, 12, &result);
    for (int i = 0; i < depth; i++) {
        onnx_bytes outer = {.size = 0}, node = onnx_node("If", "c", "y");
        static const char *const names[] = {"then_branch", "else_branch"};
        onnx_bytes small = {.size = 0};
        for (int k = 0; k < 2; k++) { /* the branch that is not taken is small, or the file would double each time */
            onnx_bytes attribute = {.size = 0};
            onnx_text(&attribute, 1, names[k]);
            onnx_message(&attribute, 6, k == 0 ? &body : &small);
            onnx_number(&attribute, 20, 5);
            onnx_message(&node, 5, &attribute);
        }
        if (i == depth - 1)
            outer = begin_graph(NULL);
        onnx_message(&outer, 1, &condition);
        onnx_message(&outer, 1, &node);
        if (i < depth - 1)
            onnx_message(&outer, 12, &result);
        body = outer;
    }
    return body;
}

static void test_graphs_in_nodes_are_nested_sixteen_deep_at_most(void)
{
    mw_error err = {0};
    onnx_bytes graph = nested(16);
    mw_graph *made = read_graph(&graph, NULL, &err);
    CHECK_OK(err);
    mw_graph_destroy(made);
    graph = nested(17);
    expect(&graph, MW_ERROR_UNSUPPORTED, "graphs are nested deeper than 16");
    graph = nested(60);
    expect(&graph, MW_ERROR_FORMAT, "messages are nested deeper than");
}

static void test_integers_that_int32_does_not_hold_are_refused(void)
{
    const int64_t large[] = {1, INT64_C(3000000000)}, limits[] = {INT64_MAX, INT64_MIN};
    mw_error err = {0};
    onnx_bytes cast = onnx_node("Cast", "k", "f"), graph = begin_graph(NULL);
    onnx_bytes constant = constant_node(7, large, 2, sizeof large, "k");
    onnx_int_attribute(&cast, "to", 1);
    onnx_message(&graph, 1, &constant);
    onnx_message(&graph, 1, &cast);
    onnx_add_node(&graph, "Relu", "f", "y");
    expect(&graph, MW_ERROR_UNSUPPORTED, "element 1 of \"k\" is 3000000000: no int32");
    graph = begin_graph(NULL);
    constant = constant_node(7, limits, 2, sizeof limits, "k");
    onnx_message(&graph, 1, &constant);
    onnx_message(&graph, 1, &cast);
    onnx_add_node(&graph, "Relu", "f", "y");
    mw_graph *made = read_graph(&graph, NULL, &err);
    CHECK_OK(err);
    mw_graph_destroy(made);
}

/* ---- options ---- */

static void test_extents_that_nobody_says_stay_open(void)
{
    onnx_bytes graph = begin_graph("batch");
    mw_error err = {0};
    mw_admitted_shapes admitted;
    onnx_add_node(&graph, "Relu", "x", "y");
    mw_graph *made = read_graph(&graph, NULL, &err);
    CHECK_OK(err);
    CHECK_INT(mw_tensor_shape(mw_graph_find(made, "y")).dim[0], MW_DIM_UNKNOWN);
    CHECK_INT(mw_tensor_shape(mw_graph_find(made, "y")).dim[1], 3);
    CHECK_INT(mw_graph_admitted_shapes(made, "x", &admitted, &err), MW_OK);
    CHECK(admitted.kind == MW_ADMITS_RANGES && admitted.low.dim[0] == 1 && admitted.standard.dim[0] == 1);
    CHECK_INT(admitted.high.dim[0], MW_DIM_UNKNOWN);
    mw_graph_destroy(made);
}

/* y = x s^3, where s is the number of elements: no multiple of the batch. */
static void test_extents_that_cannot_stay_open_are_asked_for(void)
{
    onnx_bytes graph = begin_graph("batch");
    const mw_onnx_extent extents[] = {{"batch", 2}};
    mw_onnx_options options = mw_onnx_defaults();
    mw_error err = {0};
    onnx_add_node(&graph, "Size", "x", "s");
    onnx_add_node(&graph, "Mul", "s s", "ss");
    onnx_add_node(&graph, "Mul", "ss s", "sss");
    onnx_bytes cast = onnx_node("Cast", "sss", "f");
    onnx_int_attribute(&cast, "to", 1);
    onnx_message(&graph, 1, &cast);
    onnx_add_node(&graph, "Mul", "x f", "y");
    expect(&graph, MW_ERROR_SHAPE,
           "axis 0 of the input \"x\" is called \"batch\": say its extent in options.extents (it cannot stay open: ");
    options.extents = extents;
    options.extent_count = 1;
    mw_graph *made = read_graph(&graph, &options, &err);
    CHECK_OK(err);
    mw_graph_destroy(made);
}

static void count_problem(void *user, const mw_format_problem *problem)
{
    (void)problem;
    ++*(int *)user;
}

/* A model with an open extent is read several times, and what is wrong with it is said once. */
static void test_problems_of_open_models_are_told_once(void)
{
    onnx_bytes graph = begin_graph("batch");
    mw_onnx_options options = mw_onnx_defaults();
    mw_error err = {0};
    int told = 0;
    options.report = count_problem;
    options.report_user = &told;
    onnx_add_node(&graph, "Mystery", "x", "y");
    CHECK(read_graph(&graph, &options, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_UNSUPPORTED, "1 nodes are not supported: Mystery \"y\"");
    CHECK_INT(told, 1);
}

static void test_named_extents_are_asked_for(void)
{
    onnx_bytes graph = begin_graph("batch");
    mw_error err = {0};
    onnx_add_node(&graph, "Relu", "x", "y");
    const mw_onnx_extent extents[] = {{"batch", 7}};
    mw_onnx_options options = mw_onnx_defaults();
    options.flexible = false;
    CHECK(read_graph(&graph, &options, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_SHAPE,
                "axis 0 of the input \"x\" is called \"batch\": say its extent in options.extents");
    options.extents = extents;
    options.extent_count = 1;
    mw_graph *made = read_graph(&graph, &options, &err);
    CHECK_INT(mw_tensor_shape(mw_graph_find(made, "x")).dim[0], 7);
    mw_graph_destroy(made);
    const mw_input_shape shapes[] = {{"x", MW_SHAPE(4, 3)}};
    options.shapes = shapes;
    options.shape_count = 1;
    made = read_graph(&graph, &options, &err);
    CHECK_INT(mw_tensor_shape(mw_graph_find(made, "y")).dim[0], 4);
    mw_graph_destroy(made);
    const mw_input_shape wrong[] = {{"x", MW_SHAPE(4, 5)}};
    options.shapes = wrong;
    CHECK(read_graph(&graph, &options, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_SHAPE, "the shape asked for the input \"x\" is not its own");
}

static void test_an_input_may_be_given_when_the_model_is_read(void)
{
    onnx_bytes graph = begin_graph(NULL);
    mw_error err = {0};
    onnx_add_node(&graph, "Relu", "x", "y");
    const float data[6] = {-1, 2, -3, 4, -5, 6};
    const mw_onnx_constant constants[] = {{"x", data, sizeof data}};
    mw_onnx_options options = mw_onnx_defaults();
    options.constants = constants;
    options.constant_count = 1;
    mw_graph *made = read_graph(&graph, &options, &err);
    CHECK_OK(err);
    CHECK(made != NULL && mw_graph_input_at(made, 0) == NULL);
    mw_graph_destroy(made);
    const mw_onnx_constant few[] = {{"x", data, 8}};
    options.constants = few;
    CHECK(read_graph(&graph, &options, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_SHAPE, "8 bytes are given for the input \"x\"");
    const mw_onnx_constant nobody[] = {{"z", data, 8}};
    options.constants = nobody;
    CHECK(read_graph(&graph, &options, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "options.constants names \"z\": no input");
}

static void test_options_must_be_made_by_their_function(void)
{
    mw_error err = {0};
    const mw_onnx_options zero = {0};
    CHECK(mw_graph_open_onnx("model.onnx", &zero, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "the options were not made by mw_onnx_defaults");
}

/* ---- external data ---- */

static onnx_bytes with_external(const char *location, const char *offset)
{
    onnx_bytes graph = begin_graph(NULL), tensor = {.size = 0}, place = {.size = 0}, start = {.size = 0};
    onnx_number(&tensor, 1, 3);
    onnx_number(&tensor, 2, 1);
    onnx_text(&tensor, 8, "w");
    onnx_text(&place, 1, "location");
    onnx_text(&place, 2, location);
    onnx_message(&tensor, 13, &place);
    onnx_text(&start, 1, "offset");
    onnx_text(&start, 2, offset);
    onnx_message(&tensor, 13, &start);
    onnx_number(&tensor, 14, 1);
    onnx_message(&graph, 5, &tensor);
    onnx_add_node(&graph, "Add", "x w", "y");
    return graph;
}

static void test_external_data_lie_in_the_folder_of_the_model(void)
{
    const float values[5] = {0, 1, 2, 3, 4};
    mw_error err = {0};
    put_file("weights.bin", values, sizeof values);
    onnx_bytes graph = with_external("weights.bin", "8");
    mw_graph *made = read_graph(&graph, NULL, &err);
    CHECK_OK(err);
    CHECK(made != NULL && mw_graph_find(made, "w") != NULL);
    mw_graph_destroy(made);
    graph = with_external("weights.bin", "12");
    expect(&graph, MW_ERROR_FORMAT, "12 bytes at 12 do not lie in \"weights.bin\"");
    graph = with_external("weights.bin", "18446744073709551615");
    expect(&graph, MW_ERROR_FORMAT, "do not lie in");
    graph = with_external("weights.bin", "-8");
    expect(&graph, MW_ERROR_FORMAT, "the offset \"-8\" of its external data is no number");
    graph = with_external("../weights.bin", "0");
    expect(&graph, MW_ERROR_FILE, "not a plain path");
    graph = with_external("/etc/passwd", "0");
    expect(&graph, MW_ERROR_FILE, "not a plain path");
    REQUIRE(symlink("/etc/passwd", "link.bin") == 0);
    graph = with_external("link.bin", "0");
    expect(&graph, MW_ERROR_FILE, "absolute");
}

/* ---- the documentation ---- */

static char *read_document(void)
{
    static char text[32768];
    FILE *file = fopen(MW_TESTS_DIR "/../docs/onnx.md", "r");
    const size_t size = file != NULL ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file != NULL)
        fclose(file);
    text[size] = '\0';
    return text;
}

static void test_the_documentation_lists_every_operator(void)
{
    static const char *const rows[] = {
#define MW_ONNX(name, since, until, inputs, function, attributes) "`" #name "` " #since "-" #until,
#include "format/onnx/read/operators.def"
#undef MW_ONNX
    };
    const char *document = read_document();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_note(strstr(document, rows[i]) != NULL, __FILE__, __LINE__, "docs/onnx.md lacks %s", rows[i]);
}

int main(void)
{
    char folder[512];
    if (!folder_enter(folder))
        return 1;
    RUN(test_values_that_nothing_gives_are_named);
    RUN(test_cycles_are_refused);
    RUN(test_names_are_given_once);
    RUN(test_tensors_have_the_elements_that_their_extents_say);
    RUN(test_everything_that_is_not_supported_is_listed_at_once);
    RUN(test_short_files_get_no_huge_tables);
    RUN(test_graphs_in_nodes_are_nested_sixteen_deep_at_most);
    RUN(test_integers_that_int32_does_not_hold_are_refused);
    RUN(test_extents_that_nobody_says_stay_open);
    RUN(test_extents_that_cannot_stay_open_are_asked_for);
    RUN(test_problems_of_open_models_are_told_once);
    RUN(test_named_extents_are_asked_for);
    RUN(test_an_input_may_be_given_when_the_model_is_read);
    RUN(test_options_must_be_made_by_their_function);
    RUN(test_external_data_lie_in_the_folder_of_the_model);
    RUN(test_the_documentation_lists_every_operator);
    folder_leave(folder);
    return check_finish();
}
