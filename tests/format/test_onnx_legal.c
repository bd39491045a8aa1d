/* Files that the specification allows and few exporters write: each is read, with its values. */
#include "onnx_run.h"
#include "support/check.h"
#include "support/folder.h"

#include <math.h>
#include <stdlib.h>

static const int64_t matrix[] = {2, 3};
static const float x[] = {1, 2, 3, 4, 5, 6};

/* ---- operators ---- */

static void test_triangles_of_truths_leave_any_diagonals_out(void)
{
    static const unsigned char ones[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    const int64_t square[] = {3, 3};
    for (int upper = 0; upper < 2; upper++) {
        for (int64_t k = -3; k <= 3; k++) {
            double y[9];
            for (int i = 0; i < 9; i++)
                y[i] = upper ? i % 3 - i / 3 >= k : i % 3 - i / 3 <= k;
            onnx_bytes graph = onnx_begin(matrix, 2), node = onnx_node("Trilu", "ones k", "t");
            onnx_bytes cast = onnx_node("Cast", "t", "y");
            const onnx_bytes all = onnx_tensor_of("ones", 9, square, 2, ones, 9);
            const onnx_bytes offset = onnx_tensor_of("k", 7, NULL, 0, &k, 8);
            onnx_int_attribute(&node, "upper", upper);
            onnx_int_attribute(&cast, "to", 1);
            onnx_message(&graph, 5, &all);
            onnx_message(&graph, 5, &offset);
            onnx_message(&graph, 1, &node);
            onnx_message(&graph, 1, &cast);
            const onnx_bytes model = onnx_model_of(&graph, 14);
            onnx_check_run("Trilu", &model, NULL, 0, y, 9);
        }
    }
}

static void test_a_loop_without_trips_gives_no_rows(void)
{
    const int64_t none = 0;
    onnx_bytes graph = {.size = 0}, body = {.size = 0}, loop = onnx_node("Loop", "n - x", "v");
    const onnx_bytes input = onnx_port("x", matrix, 2), trips = onnx_tensor_of("n", 7, NULL, 0, &none, 8);
    mw_error err = {0};
    onnx_add_name(&body, 11, "i");
    onnx_add_name(&body, 11, "c");
    onnx_add_name(&body, 11, "a");
    onnx_add_node(&body, "Add", "a a", "b");
    onnx_add_node(&body, "Relu", "b", "row");
    onnx_add_name(&body, 12, "c");
    onnx_add_name(&body, 12, "b");
    onnx_add_name(&body, 12, "row");
    onnx_text(&loop, 2, "rows");
    onnx_add_graph(&loop, "body", &body);
    onnx_message(&graph, 11, &input);
    onnx_message(&graph, 5, &trips);
    onnx_message(&graph, 1, &loop);
    onnx_add_node(&graph, "Neg", "v", "y");
    onnx_add_name(&graph, 12, "y");
    onnx_add_name(&graph, 12, "rows");
    const onnx_bytes model = onnx_model(&graph);
    const double y[] = {-1, -2, -3, -4, -5, -6};
    mw_graph *made = onnx_read_bytes(&model, NULL, &err);
    CHECK_OK(err);
    CHECK(mw_shape_equal(mw_tensor_shape(mw_graph_find(made, "rows")), MW_SHAPE(0, 2, 3)));
    mw_graph_destroy(made);
    onnx_check_run("Loop", &model, x, 6, y, 6);
}

/* ---- weights ---- */

static onnx_bytes constant_node(const char *name, const onnx_bytes *tensor)
{
    onnx_bytes node = onnx_node("Constant", "", name), attribute = {.size = 0};
    onnx_text(&attribute, 1, "value");
    onnx_message(&attribute, 5, tensor);
    onnx_number(&attribute, 20, 4);
    onnx_message(&node, 5, &attribute);
    return node;
}

static void test_a_weight_of_a_constant_node_has_the_name_of_its_output(void)
{
    const int64_t extents[] = {3, 2};
    const float w[] = {1, 0, 0, 1, 1, 1};
    const onnx_bytes tensor = onnx_tensor_of("", 1, extents, 2, w, sizeof w);
    const onnx_bytes constant = constant_node("fc.weight", &tensor);
    onnx_bytes graph = onnx_begin(matrix, 2);
    mw_error err = {0};
    onnx_message(&graph, 1, &constant);
    onnx_add_node(&graph, "MatMul", "x fc.weight", "y");
    const onnx_bytes model = onnx_model(&graph);
    mw_graph *made = onnx_read_bytes(&model, NULL, &err);
    const char *const wanted[] = {"fc.*"};
    const mw_tune_options options = mw_tune_defaults(wanted, 1);
    mw_graph *trained = made != NULL ? mw_graph_trainable(made, &options, &err) : NULL;
    CHECK_OK(err);
    CHECK(trained != NULL && mw_graph_find(trained, "fc.weight") != NULL);
    mw_graph_destroy(trained);
    mw_graph_destroy(made);
}

static void test_initializers_that_nobody_uses_may_be_of_any_kind(void)
{
    const int64_t one = 1, many[] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    const double y[] = {1, 2, 3, 4, 5, 6};
    mw_error err = {0};
    for (int used = 0; used < 2; used++) {
        for (int type = 8; type <= 24; type++) {
            onnx_bytes graph = onnx_begin(matrix, 2);
            const bool deep = type == 9; /* too many axes, in the place of a type that is read */
            if (type == 10 || type == 11 || type == 12 || type == 13 || type == 21 || type == 22)
                continue;
            const onnx_bytes odd =
                deep ? onnx_tensor_of("odd", 1, many, 9, "abcd", 4) : onnx_tensor_of("odd", type, &one, 1, "ab", 2);
            onnx_message(&graph, 5, &odd);
            onnx_add_node(&graph, "Relu", used ? "odd" : "x", "y");
            const onnx_bytes model = onnx_model(&graph);
            if (!used) {
                onnx_check_run("unused", &model, x, 6, y, 6);
                continue;
            }
            CHECK(onnx_read_bytes(&model, NULL, &err) == NULL);
            CHECK_ERROR(err, MW_ERROR_UNSUPPORTED, "\"odd\"");
        }
    }
}

static void test_elements_of_four_bits_share_bytes(void)
{
    const int64_t three = 3;
    const unsigned char packed[] = {0x8f, 0x07};
    const float scale = 0.5f;
    const double signs[] = {-0.5, -4, 3.5}, naturals[] = {7.5, 4, 3.5};
    for (int list = 0; list < 2; list++) {
        for (int natural = 0; natural < 2; natural++) {
            onnx_bytes graph = onnx_begin(matrix, 2), tensor = {.size = 0};
            onnx_number(&tensor, 1, (uint64_t)three);
            onnx_number(&tensor, 2, natural ? 21 : 22);
            onnx_text(&tensor, 8, "q");
            for (size_t i = 0; list && i < sizeof packed; i++)
                onnx_number(&tensor, 5, packed[i]);
            if (!list)
                onnx_raw(&tensor, 9, packed, sizeof packed);
            const onnx_bytes factor = onnx_tensor_of("s", 1, NULL, 0, &scale, sizeof scale);
            onnx_message(&graph, 5, &tensor);
            onnx_message(&graph, 5, &factor);
            onnx_add_node(&graph, "DequantizeLinear", "q s", "y");
            const onnx_bytes model = onnx_model_of(&graph, 21);
            onnx_check_run("int4", &model, NULL, 0, natural ? naturals : signs, 3);
        }
    }
}

static void test_external_data_may_be_said_to_lie_in_this_folder(void)
{
    static const char *const places[] = {"./w.bin", "././/w.bin"};
    const float w[] = {10, 20, 30};
    const double y[] = {11, 22, 33, 14, 25, 36};
    FILE *file = fopen("w.bin", "wb");
    if (file == NULL || fwrite(w, 1, sizeof w, file) != sizeof w || fclose(file) != 0)
        abort();
    for (int i = 0; i < 2; i++) {
        onnx_bytes graph = onnx_begin(matrix, 2), tensor = {.size = 0}, place = {.size = 0};
        onnx_number(&tensor, 1, 3);
        onnx_number(&tensor, 2, 1);
        onnx_text(&tensor, 8, "w");
        onnx_text(&place, 1, "location");
        onnx_text(&place, 2, places[i]);
        onnx_message(&tensor, 13, &place);
        onnx_number(&tensor, 14, 1);
        onnx_message(&graph, 5, &tensor);
        onnx_add_node(&graph, "Add", "x w", "y");
        const onnx_bytes model = onnx_model(&graph);
        onnx_check_run(places[i], &model, x, 6, y, 6);
    }
}

/* ---- nodes ---- */

static void test_nodes_may_stand_in_any_order(void)
{
    const double y[] = {-2, -4, -6, -8, -10, -12};
    onnx_bytes graph = onnx_begin(matrix, 2);
    onnx_add_node(&graph, "Neg", "c", "y");
    onnx_add_node(&graph, "Relu", "b", "c");
    onnx_add_node(&graph, "Add", "a x", "b");
    onnx_add_node(&graph, "Abs", "x", "a");
    const onnx_bytes model = onnx_model(&graph);
    onnx_check_run("turned round", &model, x, 6, y, 6);
}

/* The branch takes "a", which a node behind the If gives. */
static void test_what_a_branch_takes_may_come_later(void)
{
    static const unsigned char yes = 1;
    const double y[] = {-1, -2, -3, -4, -5, -6};
    onnx_bytes graph = onnx_begin(matrix, 2), branch = {.size = 0}, node = onnx_node("If", "c", "y");
    const onnx_bytes condition = onnx_tensor_of("c", 9, NULL, 0, &yes, 1);
    onnx_add_node(&branch, "Neg", "a", "z");
    onnx_add_name(&branch, 12, "z");
    onnx_add_graph(&node, "then_branch", &branch);
    onnx_add_graph(&node, "else_branch", &branch);
    onnx_message(&graph, 5, &condition);
    onnx_message(&graph, 1, &node);
    onnx_add_node(&graph, "Relu", "x", "a");
    const onnx_bytes model = onnx_model(&graph);
    onnx_check_run("If", &model, x, 6, y, 6);
}

static void test_a_long_chain_of_nodes_may_stand_the_wrong_way_round(void)
{
    enum { NODES = 400 };
    onnx_bytes graph = onnx_begin(matrix, 2);
    char from[8], to[8];
    for (int i = NODES; i > 0; i--) {
        snprintf(from, sizeof from, i == 1 ? "x" : "v%d", i);
        snprintf(to, sizeof to, i == NODES ? "y" : "v%d", i + 1);
        onnx_bytes node = {.size = 0};
        onnx_text(&node, 1, from);
        onnx_text(&node, 2, to);
        onnx_text(&node, 4, "Abs");
        if (graph.size + node.size + 300 > sizeof graph.data)
            abort();
        onnx_message(&graph, 1, &node);
    }
    const double y[] = {1, 2, 3, 4, 5, 6};
    const onnx_bytes model = onnx_model(&graph);
    onnx_check_run("chain", &model, x, 6, y, 6);
}

/* ---- functions ---- */

static onnx_bytes function_named(const char *name, const char *input, const char *second, const char *output)
{
    onnx_bytes function = {.size = 0};
    onnx_text(&function, 1, name);
    onnx_text(&function, 4, input);
    if (second != NULL)
        onnx_text(&function, 4, second);
    onnx_text(&function, 5, output);
    onnx_text(&function, 10, "loc");
    return function;
}

static onnx_bytes call_of(const char *name, const char *inputs, const char *output)
{
    onnx_bytes node = onnx_node(name, inputs, output);
    onnx_text(&node, 7, "loc");
    return node;
}

/* outer(a) = Sum(scale(a), b) where scale(v) = LeakyRelu(v) of slope `slope` of the call, else 0.5, and b is left out.
 */
static void test_functions_of_the_model_are_carried_out(void)
{
    const float values[] = {-1, 2, -3, 4, -5, 6};
    for (int given = 0; given < 2; given++) {
        double y[6];
        for (int i = 0; i < 6; i++)
            y[i] = (double)values[i] * (values[i] < 0 ? given ? 0.25 : 0.5 : 1);
        onnx_bytes graph = onnx_begin(matrix, 2), call = call_of("outer", "x", "y");
        onnx_bytes outer = function_named("outer", "a", "b", "r"), scale = function_named("scale", "v", NULL, "r");
        onnx_bytes inner = call_of("scale", "a", "r"), leaky = onnx_node("LeakyRelu", "v", "r");
        onnx_bytes link = {.size = 0}, alpha = {.size = 0}, fallback = {.size = 0}, value = {.size = 0};
        const float slopes[] = {0.25f, 0.5f};
        onnx_text(&alpha, 1, "alpha"); /* of the operator is "slope" of the function */
        onnx_number(&alpha, 20, 1);
        onnx_text(&alpha, 21, "slope");
        onnx_message(&leaky, 5, &alpha);
        onnx_text(&link, 1, "slope"); /* which is "slope" of the outer one */
        onnx_number(&link, 20, 1);
        onnx_text(&link, 21, "slope");
        onnx_message(&inner, 5, &link);
        onnx_float(&value, 2, slopes[0]);
        onnx_text(&value, 1, "slope");
        onnx_number(&value, 20, 1);
        onnx_float(&fallback, 2, slopes[1]);
        onnx_text(&fallback, 1, "slope");
        onnx_number(&fallback, 20, 1);
        if (given)
            onnx_message(&call, 5, &value);
        onnx_message(&outer, 11, &fallback);
        onnx_message(&outer, 7, &inner);
        onnx_message(&scale, 7, &leaky);
        onnx_message(&graph, 1, &call);
        onnx_bytes model = onnx_model(&graph);
        onnx_message(&model, 25, &outer);
        onnx_message(&model, 25, &scale);
        onnx_check_run("function", &model, values, 6, y, 6);
    }
}

static void test_functions_that_call_themselves_are_refused(void)
{
    onnx_bytes graph = onnx_begin(matrix, 2), function = function_named("f", "a", NULL, "r");
    const onnx_bytes inner = call_of("f", "a", "r"), call = call_of("f", "x", "y");
    mw_error err = {0};
    onnx_message(&function, 7, &inner);
    onnx_message(&graph, 1, &call);
    onnx_bytes model = onnx_model(&graph);
    onnx_message(&model, 25, &function);
    CHECK(onnx_read_bytes(&model, NULL, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_UNSUPPORTED, "functions call each other more than 32 deep");
}

/* ---- ports ---- */

static void test_an_output_that_is_an_input_gets_a_name_of_its_own(void)
{
    onnx_bytes graph = onnx_begin(matrix, 2);
    const double y[] = {1, 2, 3, 4, 5, 6};
    onnx_add_name(&graph, 12, "x");
    onnx_add_node(&graph, "Relu", "x", "y");
    mw_error err = {0};
    const onnx_bytes model = onnx_model(&graph);
    onnx_check_run("both", &model, x, 6, y, 6);
    mw_graph *made = onnx_read_bytes(&model, NULL, &err);
    CHECK_OK(err);
    CHECK(made != NULL && strcmp(mw_tensor_name(mw_graph_output_at(made, 1)), "x_output") == 0);
    mw_graph_destroy(made);
}

static void test_an_extent_of_minus_one_is_open(void)
{
    const int64_t extents[] = {-1, 3};
    onnx_bytes graph = onnx_begin(extents, 2);
    mw_error err = {0};
    onnx_add_node(&graph, "Relu", "x", "y");
    const onnx_bytes model = onnx_model(&graph);
    mw_graph *made = onnx_read_bytes(&model, NULL, &err);
    CHECK_OK(err);
    CHECK(made != NULL && mw_tensor_shape(mw_graph_find(made, "y")).dim[0] == MW_DIM_UNKNOWN);
    mw_graph_destroy(made);
    const mw_input_shape shape = {"x", MW_SHAPE(5, 3)};
    mw_onnx_options options = mw_onnx_defaults();
    options.shapes = &shape;
    options.shape_count = 1;
    made = onnx_read_bytes(&model, &options, &err);
    CHECK(made != NULL && mw_tensor_shape(mw_graph_find(made, "y")).dim[0] == 5);
    mw_graph_destroy(made);
}

/* A border by reflection needs more elements than it has. */
static void test_an_operator_that_needs_a_long_axis_leaves_it_open(void)
{
    const int64_t extents[] = {2, -1};
    for (int64_t border = 30; border <= 12000; border *= 20) {
        const int64_t pads[] = {0, border, 0, 0};
        onnx_bytes graph = onnx_begin(extents, 2), node = onnx_node("Pad", "x p", "y");
        const onnx_bytes list = onnx_tensor_of("p", 7, (const int64_t[]){4}, 1, pads, sizeof pads);
        mw_error err = {0};
        onnx_text_attribute(&node, "mode", "reflect");
        onnx_message(&graph, 5, &list);
        onnx_message(&graph, 1, &node);
        const onnx_bytes model = onnx_model(&graph);
        mw_graph *made = onnx_read_bytes(&model, NULL, &err);
        CHECK_OK(err);
        CHECK(made != NULL && mw_tensor_shape(mw_graph_find(made, "y")).dim[1] == MW_DIM_UNKNOWN);
        mw_graph_destroy(made);
    }
}

/* Without a shape in the file, and with one dimension that two inputs share. */
static void test_shapes_of_a_model_reach_the_reader(void)
{
    onnx_bytes graph = {.size = 0}, input = {.size = 0}, type = {.size = 0}, tensor = {.size = 0};
    const mw_input_shape shape = {"x", MW_SHAPE(2, 3)};
    mw_model_options options = mw_model_defaults();
    mw_error err = {0};
    onnx_number(&tensor, 1, 1);
    onnx_message(&type, 1, &tensor);
    onnx_text(&input, 1, "x");
    onnx_message(&input, 2, &type);
    onnx_message(&graph, 11, &input);
    onnx_add_node(&graph, "Relu", "x", "y");
    onnx_add_name(&graph, 12, "y");
    const onnx_bytes model = onnx_model(&graph);
    mw_graph_destroy(onnx_read_bytes(&model, NULL, &err));
    CHECK_ERROR(err, MW_ERROR_SHAPE, "has no shape");
    mw_error_clear(&err);
    options.shapes = &shape;
    options.shape_count = 1;
    options.read_only = true;
    mw_model *loaded = mw_model_open("model.onnx", &options, &err);
    CHECK_OK(err);
    mw_model_destroy(loaded);
}

static void test_a_shape_of_one_input_says_the_dimensions_of_others(void)
{
    onnx_bytes graph = {.size = 0};
    const onnx_bytes a = onnx_value("a", "n"), b = onnx_value("b", "n");
    const mw_input_shape shape = {"a", MW_SHAPE(4, 3)};
    mw_onnx_options options = mw_onnx_defaults();
    mw_error err = {0};
    onnx_message(&graph, 11, &a);
    onnx_message(&graph, 11, &b);
    onnx_add_node(&graph, "Add", "a b", "y");
    onnx_add_name(&graph, 12, "y");
    const onnx_bytes model = onnx_model(&graph);
    options.shapes = &shape;
    options.shape_count = 1;
    options.flexible = false;
    mw_graph *made = onnx_read_bytes(&model, &options, &err);
    CHECK_OK(err);
    CHECK(made != NULL && mw_tensor_shape(mw_graph_find(made, "b")).dim[0] == 4);
    mw_graph_destroy(made);
}

static void test_names_that_are_no_identifiers_keep_their_ranges(void)
{
    onnx_bytes graph = {.size = 0};
    const onnx_bytes input = onnx_value("in:0", "n");
    mw_error err = {0};
    mw_admitted_shapes admitted = {0};
    onnx_message(&graph, 11, &input);
    onnx_add_node(&graph, "Relu", "in:0", "y");
    onnx_add_name(&graph, 12, "y");
    const onnx_bytes model = onnx_model(&graph);
    mw_graph *made = onnx_read_bytes(&model, NULL, &err);
    char *text = made != NULL ? mw_graph_print_mil(made, NULL, &err) : NULL;
    mw_graph *back = text != NULL ? mw_graph_parse_mil(text, strlen(text), NULL, NULL, &err) : NULL;
    CHECK_OK(err);
    CHECK(back != NULL && mw_graph_admitted_shapes(back, "in_0", &admitted, &err) == MW_OK);
    CHECK(admitted.kind == MW_ADMITS_RANGES && admitted.has_standard && admitted.low.dim[0] == 1);
    mw_graph_destroy(back);
    mw_string_free(text);
    mw_graph_destroy(made);
}

int main(void)
{
    char folder[512];
    if (!folder_enter(folder))
        return 1;
    RUN(test_triangles_of_truths_leave_any_diagonals_out);
    RUN(test_a_loop_without_trips_gives_no_rows);
    RUN(test_a_weight_of_a_constant_node_has_the_name_of_its_output);
    RUN(test_initializers_that_nobody_uses_may_be_of_any_kind);
    RUN(test_elements_of_four_bits_share_bytes);
    RUN(test_external_data_may_be_said_to_lie_in_this_folder);
    RUN(test_nodes_may_stand_in_any_order);
    RUN(test_what_a_branch_takes_may_come_later);
    RUN(test_a_long_chain_of_nodes_may_stand_the_wrong_way_round);
    RUN(test_functions_of_the_model_are_carried_out);
    RUN(test_functions_that_call_themselves_are_refused);
    RUN(test_an_output_that_is_an_input_gets_a_name_of_its_own);
    RUN(test_an_extent_of_minus_one_is_open);
    RUN(test_an_operator_that_needs_a_long_axis_leaves_it_open);
    RUN(test_shapes_of_a_model_reach_the_reader);
    RUN(test_a_shape_of_one_input_says_the_dimensions_of_others);
    RUN(test_names_that_are_no_identifiers_keep_their_ranges);
    folder_leave(folder);
    return check_finish();
}
