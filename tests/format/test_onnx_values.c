/* Values of operators in the forms that ONNX's own collection has no test of, by the formulas of its specification. */
#include "onnx_run.h"
#include "support/check.h"
#include "support/folder.h"

#include <math.h>

/* ---- reductions that join nothing ---- */

static const char *const reductions[] = {"ReduceSum",       "ReduceMean",     "ReduceMax", "ReduceMin",
                                         "ReduceProd",      "ReduceL1",       "ReduceL2",  "ReduceLogSum",
                                         "ReduceLogSumExp", "ReduceSumSquare"};

/* What each makes of one element. */
static double reduced(const char *operation, double x)
{
    if (strcmp(operation, "ReduceL1") == 0 || strcmp(operation, "ReduceL2") == 0)
        return fabs(x);
    if (strcmp(operation, "ReduceLogSum") == 0)
        return log(x);
    return strcmp(operation, "ReduceSumSquare") == 0 ? x * x : x;
}

static float first_of(const char *operation) { return strcmp(operation, "ReduceLogSum") == 0 ? 3 : -3; }

static void test_a_reduction_of_a_scalar_is_its_own_function(void)
{
    for (size_t i = 0; i < sizeof reductions / sizeof *reductions; i++) {
        for (int opset = 11; opset <= 18; opset += 7) {
            const float x = first_of(reductions[i]);
            const double y = reduced(reductions[i], (double)x);
            onnx_bytes graph = onnx_begin(NULL, 0), node = onnx_node(reductions[i], "x", "y");
            onnx_message(&graph, 1, &node);
            const onnx_bytes model = onnx_model_of(&graph, opset);
            onnx_check_run(reductions[i], &model, &x, 1, &y, 1);
        }
    }
}

static void test_a_reduction_over_no_axes_is_its_own_function_of_each_element(void)
{
    const int64_t two = 2, none = 0;
    for (size_t i = 0; i < sizeof reductions / sizeof *reductions; i++) {
        for (int given = 0; given < 2; given++) { /* the axes left out, or an empty list */
            const float x[2] = {first_of(reductions[i]), 4};
            const double y[2] = {reduced(reductions[i], (double)x[0]), reduced(reductions[i], 4)};
            onnx_bytes graph = onnx_begin(&two, 1), node = onnx_node(reductions[i], given ? "x axes" : "x", "y");
            const onnx_bytes axes = onnx_tensor_of("axes", 7, &none, 1, "", 0);
            onnx_int_attribute(&node, "noop_with_empty_axes", 1);
            onnx_message(&graph, 5, &axes);
            onnx_message(&graph, 1, &node);
            const onnx_bytes model = onnx_model_of(&graph, 18);
            onnx_check_run(reductions[i], &model, x, 2, y, 2);
        }
    }
}

/* ---- ConvTranspose ---- */

/* x [1, 1, 2] with the kernel 1 2 3 and a stride of 3 covers 1 2 3 10 20 30 of x = 1 10. */
typedef struct crop_case {
    const char *auto_pad; /* NULL = left out */
    int opset;
    int64_t output_shape;
    double y[7];
} crop_case;

static void test_output_shape_cuts_the_larger_half_before_but_for_same_upper(void)
{
    static const crop_case cases[] = {
        {NULL, 11, 5, {2, 3, 10, 20, 30}},        {"NOTSET", 11, 5, {2, 3, 10, 20, 30}},
        {"VALID", 11, 5, {2, 3, 10, 20, 30}},     {"SAME_LOWER", 11, 5, {2, 3, 10, 20, 30}},
        {"SAME_UPPER", 11, 5, {1, 2, 3, 10, 20}}, {NULL, 11, 3, {3, 10, 20}},
        {"SAME_UPPER", 11, 3, {2, 3, 10}},        {NULL, 11, 4, {2, 3, 10, 20}},
        {NULL, 11, 6, {1, 2, 3, 10, 20, 30}},     {NULL, 11, 7, {1, 2, 3, 10, 20, 30, 0}},
        {"VALID", 22, 5, {2, 3, 10, 20, 30}},     {NULL, 10, 5, {1, 2, 3, 10, 20}}};
    const int64_t extents[] = {1, 1, 2}, kernel[] = {1, 1, 3}, three = 3;
    const float w[] = {1, 2, 3}, x[] = {1, 10};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const crop_case *c = &cases[i];
        onnx_bytes graph = onnx_begin(extents, 3), node = onnx_node("ConvTranspose", "x w", "y");
        const onnx_bytes weight = onnx_tensor_of("w", 1, kernel, 3, w, sizeof w);
        onnx_ints_attribute(&node, "strides", &three, 1);
        onnx_ints_attribute(&node, "output_shape", &c->output_shape, 1);
        if (c->auto_pad != NULL)
            onnx_text_attribute(&node, "auto_pad", c->auto_pad);
        onnx_message(&graph, 5, &weight);
        onnx_message(&graph, 1, &node);
        const onnx_bytes model = onnx_model_of(&graph, c->opset);
        onnx_check_run(c->auto_pad != NULL ? c->auto_pad : "no auto_pad", &model, x, 2, c->y, (size_t)c->output_shape);
    }
}

/* auto_pad goes before pads, and one that nobody knows is refused. */
static void test_auto_pad_is_valid_without_borders_or_refused(void)
{
    const int64_t extents[] = {1, 1, 4}, kernel[] = {1, 1, 3}, pads[] = {1, 1};
    const float w[] = {1, 1, 1}, x[] = {1, 2, 3, 4};
    const double y[] = {6, 9};
    for (int strange = 0; strange < 2; strange++) {
        onnx_bytes graph = onnx_begin(extents, 3), node = onnx_node("Conv", "x w", "y");
        const onnx_bytes weight = onnx_tensor_of("w", 1, kernel, 3, w, sizeof w);
        mw_error err = {0};
        onnx_ints_attribute(&node, "pads", pads, 2);
        onnx_text_attribute(&node, "auto_pad", strange ? "same" : "VALID");
        onnx_message(&graph, 5, &weight);
        onnx_message(&graph, 1, &node);
        const onnx_bytes model = onnx_model(&graph);
        if (!strange) {
            onnx_check_run("VALID with pads", &model, x, 4, y, 2);
            continue;
        }
        CHECK(onnx_read_bytes(&model, NULL, &err) == NULL);
        CHECK_ERROR(err, MW_ERROR_UNSUPPORTED, "its auto_pad is not NOTSET, SAME_UPPER, SAME_LOWER or VALID");
    }
}

/* ---- norms ---- */

static void test_a_row_of_zeros_is_normalized_to_zeros(void)
{
    const int64_t extents[] = {2, 2};
    const float x[] = {0, 0, 3, -4};
    const double y[2][4] = {{0, 0, 3. / 7, -4. / 7}, {0, 0, 0.6, -0.8}};
    for (int p = 1; p <= 2; p++) {
        onnx_bytes graph = onnx_begin(extents, 2), node = onnx_node("LpNormalization", "x", "y");
        onnx_int_attribute(&node, "p", p);
        onnx_message(&graph, 1, &node);
        const onnx_bytes model = onnx_model(&graph);
        onnx_check_run("LpNormalization", &model, x, 4, y[p - 1], 4);
    }
}

/* ---- Einsum ---- */

static onnx_bytes einsum_model(const char *equation, const char *inputs)
{
    const int64_t extents[] = {2, 2};
    onnx_bytes graph = onnx_begin(extents, 2), node = onnx_node("Einsum", inputs, "y");
    onnx_text_attribute(&node, "equation", equation);
    onnx_message(&graph, 1, &node);
    return onnx_model(&graph);
}

static void test_an_einsum_has_any_number_of_operands(void)
{
    const float x[] = {1, 2, 3, -4};
    static const struct {
        const char *equation, *inputs;
        double y[4]; /* numpy.einsum's */
        size_t count;
    } rows[] = {{"ij,jk,kl", "x x x", {-11, 38, 57, -106}, 4},
                {"ij,jk,kl->", "x x x", {-22}, 1},
                {"ii,kj,jj->k", "x x x", {21, -57}, 2},
                {" i...j -> ...i ", "x", {3, -1}, 2},
                {"i...->...i", "x", {1, 3, 2, -4}, 4}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const onnx_bytes model = einsum_model(rows[i].equation, rows[i].inputs);
        onnx_check_run(rows[i].equation, &model, x, 4, rows[i].y, rows[i].count);
    }
}

static void test_an_einsum_that_is_none_is_refused_with_its_place(void)
{
    static const struct {
        const char *equation, *inputs, *part;
    } rows[] = {{"ij,j1->i", "x x", "character 5: a term has letters"},
                {"ij,jk->ik", "x x x", "has 2 terms for 3 operands"},
                {"ij,jk->ik", "- x", "input 0 is left out"},
                {"ijk,jk", "x x", "term 0 has 3 letters, operand 0 has 2 axes"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        mw_error err = {0};
        const onnx_bytes model = einsum_model(rows[i].equation, rows[i].inputs);
        CHECK(onnx_read_bytes(&model, NULL, &err) == NULL);
        CHECK_ERROR(err, MW_ERROR_UNSUPPORTED, rows[i].part);
    }
}

/* ---- operators of the newest sets ---- */

static void test_operators_of_sets_22_to_24_are_read(void)
{
    const int64_t extents[] = {2, 2}, two = 2;
    const float x[] = {3, 4, -1, 1}, scale[] = {1, 2};
    const double root = sqrt(12.5 + 1e-5), unit = sqrt(1 + 1e-5);
    const double normal[] = {3 / root, 8 / root, -1 / unit, 2 / unit};
    double swish[4];
    for (int i = 0; i < 4; i++)
        swish[i] = (double)x[i] / (1 + exp(-2 * (double)x[i]));
    onnx_bytes graph = onnx_begin(extents, 2), node = onnx_node("RMSNormalization", "x s", "y");
    const onnx_bytes weight = onnx_tensor_of("s", 1, &two, 1, scale, sizeof scale);
    onnx_message(&graph, 5, &weight);
    onnx_message(&graph, 1, &node);
    onnx_bytes model = onnx_model_of(&graph, 23);
    onnx_check_run("RMSNormalization", &model, x, 4, normal, 4);
    graph = onnx_begin(extents, 2);
    node = onnx_node("Swish", "x", "y");
    onnx_bytes alpha = {.size = 0};
    onnx_text(&alpha, 1, "alpha");
    onnx_float(&alpha, 2, 2);
    onnx_number(&alpha, 20, 1);
    onnx_message(&node, 5, &alpha);
    onnx_message(&graph, 1, &node);
    model = onnx_model_of(&graph, 24);
    onnx_check_run("Swish", &model, x, 4, swish, 4);
    model = onnx_model_of(&graph, 25);
    mw_error err = {0};
    CHECK(onnx_read_bytes(&model, NULL, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_UNSUPPORTED, "operator set 25; those from 1 to 24 are read");
}

int main(void)
{
    char folder[512];
    if (!folder_enter(folder))
        return 1;
    RUN(test_a_reduction_of_a_scalar_is_its_own_function);
    RUN(test_a_reduction_over_no_axes_is_its_own_function_of_each_element);
    RUN(test_output_shape_cuts_the_larger_half_before_but_for_same_upper);
    RUN(test_auto_pad_is_valid_without_borders_or_refused);
    RUN(test_a_row_of_zeros_is_normalized_to_zeros);
    RUN(test_an_einsum_has_any_number_of_operands);
    RUN(test_an_einsum_that_is_none_is_refused_with_its_place);
    RUN(test_operators_of_sets_22_to_24_are_read);
    folder_leave(folder);
    return check_finish();
}
