/* Weights in the bodies of If and Loop and in functions: each is one constant of the graph under its name, so that
 * patterns find it, however often the body is read. */
#include "onnx_run.h"
#include "support/check.h"
#include "support/folder.h"

#include <stdlib.h>

static const int64_t matrix[] = {2, 3}, square[] = {3, 3}, three[] = {3};
static const float x[] = {1, 2, 3, 4, 5, 6};

/* [3, 3], `value` on the diagonal and a quarter elsewhere. */
static onnx_bytes weight(const char *name, float value)
{
    float elements[9];
    for (int i = 0; i < 9; i++)
        elements[i] = i % 4 == 0 ? value : 0.25F;
    return onnx_tensor_of(name, 1, square, 2, elements, sizeof elements);
}

static void add_weight(onnx_bytes *graph, const char *name, float value)
{
    const onnx_bytes tensor = weight(name, value);
    onnx_message(graph, 5, &tensor);
}

static void add_bias(onnx_bytes *graph, const char *name)
{
    static const float elements[] = {0.3F, -0.7F, 0.1F};
    const onnx_bytes tensor = onnx_tensor_of(name, 1, three, 1, elements, sizeof elements);
    onnx_message(graph, 5, &tensor);
}

static void add_constant(onnx_bytes *graph, const char *name, float value)
{
    onnx_bytes node = onnx_node("Constant", "", name), attribute = {.size = 0};
    const onnx_bytes tensor = weight("", value);
    onnx_text(&attribute, 1, "value");
    onnx_message(&attribute, 5, &tensor);
    onnx_number(&attribute, 20, 4);
    onnx_message(&node, 5, &attribute);
    onnx_message(graph, 1, &node);
}

/* Whether the largest element of x is above 0, which nobody knows when the file is read. */
static void add_question(onnx_bytes *graph, const char *name)
{
    static const float zero;
    onnx_bytes largest = onnx_node("ReduceMax", "x", "largest");
    const onnx_bytes tensor = onnx_tensor_of("zero", 1, NULL, 0, &zero, sizeof zero);
    onnx_int_attribute(&largest, "keepdims", 0);
    onnx_message(graph, 5, &tensor);
    onnx_message(graph, 1, &largest);
    onnx_add_node(graph, "Greater", "largest zero", name);
}

/* ---- what is found ---- */

static void note_left(void *user, const mw_tune_choice *choice)
{
    char *left = user;
    if (choice->outcome == MW_TUNE_LEFT && strlen(left) < 300)
        sprintf(left + strlen(left), "; %.40s: %.60s", choice->weight->name, choice->reason);
}

/* The names of weights that "*" takes are those, in any order; their number is `count`. */
static void check_names(const char *what, const onnx_bytes *model, const char *const *names, size_t count)
{
    static const char *const all[] = {"*"};
    mw_error err = {0};
    mw_weight found[16];
    size_t trained = 0;
    mw_graph *graph = onnx_read_bytes(model, NULL, &err);
    char left[512] = "";
    mw_tune_options options = mw_tune_defaults(all, 1);
    options.report = note_left;
    options.report_user = left;
    mw_graph *tuned = graph != NULL ? mw_graph_trainable(graph, &options, &err) : NULL;
    check_note(tuned != NULL, __FILE__, __LINE__, "%s: %s", what, err.message);
    size_t weights = 0;
    if (tuned != NULL)
        mw_graph_weights(tuned, found, 16, &weights, &err);
    for (size_t i = 0; i < weights; i++) {
        bool wanted = !found[i].is_parameter;
        for (size_t k = 0; k < count; k++)
            wanted = wanted || strcmp(found[i].name, names[k]) == 0;
        trained += found[i].is_parameter;
        check_note(wanted, __FILE__, __LINE__, "%s: there is a weight \"%s\"", what, found[i].name);
    }
    check_note(trained == count, __FILE__, __LINE__, "%s: %zu weights of %zu%s", what, trained, count, left);
    mw_graph_destroy(tuned);
    mw_graph_destroy(graph);
}

static void product(double *y, const float *of, const float *bias, double value)
{
    for (int i = 0; i < 6; i++) {
        y[i] = bias != NULL ? (double)bias[i % 3] : 0;
        for (int k = 0; k < 3; k++)
            y[i] += (double)of[i / 3 * 3 + k] * (k == i % 3 ? value : 0.25);
    }
}

/* ---- branches ---- */

/* Both branches have a "w", and add what the graph around them has. */
static void test_weights_of_branches_keep_their_names(void)
{
    static const char *const names[] = {"w", "w_1", "b"};
    static const float bias[] = {0.3F, -0.7F, 0.1F};
    double y[6];
    char folder[512];
    onnx_bytes graph = onnx_begin(matrix, 2), node = onnx_node("If", "c", "y");
    REQUIRE(folder_enter(folder));
    add_question(&graph, "c");
    add_bias(&graph, "b");
    for (int i = 0; i < 2; i++) {
        onnx_bytes branch = {.size = 0};
        add_weight(&branch, "w", i == 0 ? 2.3F : 3.1F);
        onnx_add_node(&branch, "MatMul", "x w", "product");
        onnx_add_node(&branch, "Add", "product b", "sum");
        onnx_add_name(&branch, 12, "sum");
        onnx_add_graph(&node, i == 0 ? "then_branch" : "else_branch", &branch);
    }
    onnx_message(&graph, 1, &node);
    const onnx_bytes model = onnx_model(&graph);
    check_names("If", &model, names, 3);
    product(y, x, bias, (double)2.3F);
    onnx_check_run("If", &model, x, 6, y, 6);
    folder_leave(folder);
}

/* The names of the model's own weights, inputs and outputs stay theirs, also of those that come later. */
static void test_a_body_takes_no_name_of_the_model(void)
{
    static const char *const taken[] = {"y", "x", "b", "late.weight", ""};
    for (int i = 0; i < 5; i++) {
        char inputs[64], given[64], folder[512];
        double y[6], z[6];
        onnx_bytes graph = onnx_begin(matrix, 2), node = onnx_node("If", "c", "h"), branch = {.size = 0};
        REQUIRE(folder_enter(folder));
        snprintf(inputs, sizeof inputs, "v %s", taken[i][0] != '\0' ? taken[i] : "-");
        snprintf(given, sizeof given, "%s%s", taken[i], strcmp(taken[i], "late.weight") == 0 ? "" : "_1");
        add_question(&graph, "c");
        add_bias(&graph, "b");
        onnx_add_node(&graph, "Identity", "x", "v");
        if (taken[i][0] != '\0') {
            add_weight(&branch, taken[i], 2.3F);
            onnx_add_node(&branch, "MatMul", inputs, "product");
        } else {
            onnx_add_node(&branch, "Identity", "v", "product");
        }
        onnx_add_name(&branch, 12, "product");
        onnx_add_graph(&node, "then_branch", &branch);
        onnx_add_graph(&node, "else_branch", &branch);
        onnx_message(&graph, 1, &node);
        add_constant(&graph, "late.weight", 1.0F);
        onnx_add_node(&graph, "MatMul", "h late.weight", "k");
        onnx_add_node(&graph, "Add", "k b", "y");
        const onnx_bytes model = onnx_model(&graph);
        mw_error err = {0};
        mw_graph *made = onnx_read_bytes(&model, NULL, &err);
        CHECK_OK(err);
        CHECK(mw_graph_find(made, "b") != NULL && mw_graph_find(made, "y") != NULL);
        CHECK(taken[i][0] == '\0' || mw_graph_find(made, given) != NULL);
        mw_graph_destroy(made);
        static const float bias[] = {0.3F, -0.7F, 0.1F};
        float h[6];
        product(z, x, NULL, (double)2.3F);
        for (int k = 0; k < 6; k++)
            h[k] = taken[i][0] != '\0' ? (float)z[k] : x[k];
        product(y, h, bias, 1.0);
        onnx_check_run(taken[i], &model, x, 6, y, 6);
        folder_leave(folder);
    }
}

/* ---- loops ---- */

/* v = tanh(v w) k, of a weight and a Constant in the body and one that is carried from trip to trip. */
static onnx_bytes loop_body(void)
{
    onnx_bytes body = {.size = 0};
    onnx_add_name(&body, 11, "i");
    onnx_add_name(&body, 11, "c");
    onnx_add_name(&body, 11, "v");
    onnx_add_name(&body, 11, "u");
    add_weight(&body, "w", 2.3F);
    add_constant(&body, "k.weight", 1.7F);
    onnx_add_node(&body, "MatMul", "v w", "a");
    onnx_add_node(&body, "Tanh", "a", "b");
    onnx_add_node(&body, "MatMul", "b k.weight", "d");
    onnx_add_node(&body, "MatMul", "d u", "e");
    onnx_add_name(&body, 12, "c");
    onnx_add_name(&body, 12, "e");
    onnx_add_name(&body, 12, "u");
    return body;
}

static void test_a_weight_of_a_loop_is_one_in_all_trips(void)
{
    static const char *const names[] = {"w", "k.weight", "carried"};
    const int64_t trips = 3;
    for (int computed = 0; computed < 2; computed++) {
        onnx_bytes graph = onnx_begin(matrix, 2),
                   loop = onnx_node("Loop", computed ? "n q x carried" : "n - x carried", "y");
        const onnx_bytes body = loop_body(), count = onnx_tensor_of("n", 7, NULL, 0, &trips, 8);
        char folder[512];
        REQUIRE(folder_enter(folder));
        onnx_text(&loop, 2, "last");
        add_question(&graph, "q");
        onnx_message(&graph, 5, &count);
        add_weight(&graph, "carried", 0.9F);
        onnx_add_graph(&loop, "body", &body);
        onnx_message(&graph, 1, &loop);
        const onnx_bytes model = onnx_model(&graph);
        /* a variable of a loop that is carried out when the model runs is no constant */
        check_names(computed ? "a loop by what is computed" : "a loop of three trips", &model, names, computed ? 2 : 3);
        folder_leave(folder);
    }
}

int main(void)
{
    RUN(test_weights_of_branches_keep_their_names);
    RUN(test_a_body_takes_no_name_of_the_model);
    RUN(test_a_weight_of_a_loop_is_one_in_all_trips);
    return check_finish();
}
