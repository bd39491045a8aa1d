/* A parsed program against the table: what is wrong, in which operation, at which place. */
#include "support/check.h"
#include <millwright/mil.h>

#define PROGRAM(body)                                                                                                  \
    "program(1.3)\n{\n    func main<ios18>(tensor<fp16, [2, 3]> x, tensor<int32, [2]> i) {\n" body "} -> (x);\n}"

static const struct {
    const char *what, *text;
    mw_status status;
    int line, column;
    const char *message;
} cases[] = {
    {.what = "unknown operation",
     .text = PROGRAM("fp16 a = const()[val = fp16(1)];\n  zzz(x = x);\n"),
     .status = MW_ERROR_UNSUPPORTED,
     .line = 5,
     .column = 3,
     .message = "zzz"},
    {.what = "wrong extent",
     .text = PROGRAM("tensor<fp16, [2, 4]> y = relu(x = x);\n"),
     .status = MW_ERROR_FORMAT,
     .line = 4,
     .column = 1,
     .message = "[2, 4]"},
    {.what = "wrong element type",
     .text = PROGRAM("tensor<fp32, [2, 3]> y = relu(x = x);\n"),
     .status = MW_ERROR_FORMAT,
     .line = 4,
     .column = 1,
     .message = "fp32"},
    {.what = "types that differ",
     .text = PROGRAM("tensor<fp16, [2, 3]> y = add(x = x, y = fp32(1));\n"),
     .status = MW_ERROR_DTYPE,
     .line = 4,
     .column = 1,
     .message = "fp32"},
    {.what = "an argument that must be known",
     .text = PROGRAM("tensor<fp16, [2, 3]> y = softmax(axis = i, x = x);\n"),
     .status = MW_ERROR_ARGUMENT,
     .line = 4,
     .column = 1,
     .message = "axis must be a constant"},
    {.what = "shapes that do not fit",
     .text = PROGRAM("tensor<fp16, [2, 2]> y = matmul(x = x, y = x);\n"),
     .status = MW_ERROR_SHAPE,
     .line = 4,
     .column = 1,
     .message = "matmul"},
    {.what = "two results where there is one",
     .text = PROGRAM("tensor<fp16, [2, 3]> y, fp16 z = relu(x = x);\n"),
     .status = MW_ERROR_FORMAT,
     .line = 4,
     .column = 1,
     .message = "2 results"},
    {.what = "a tuple for a tensor",
     .text = PROGRAM("tensor<fp16, [2, 3]> y = relu(x = (x, x));\n"),
     .status = MW_ERROR_ARGUMENT,
     .line = 4,
     .column = 1,
     .message = "relu"},
};

static void test_programs_against_the_rules_are_refused_with_their_place(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mw_error err = {0};
        mw_graph *graph = mw_graph_parse_mil(cases[i].text, strlen(cases[i].text), NULL, NULL, &err);
        CHECK_OK(err);
        mw_graph_verify(graph, &err);
        check_note(err.status == cases[i].status && err.text_line == cases[i].line &&
                       err.text_column == cases[i].column && strstr(err.message, cases[i].message) != NULL,
                   __FILE__, __LINE__, "%s: %d at %d:%d, \"%s\"", cases[i].what, (int)err.status, err.text_line,
                   err.text_column, err.message);
        mw_graph_destroy(graph);
    }
}

static void test_unknown_extents_fit_what_a_rule_computes(void)
{
    static const char text[] =
        "program(1.3){func main<ios18>(tensor<fp16, [?, 3]> x){tensor<fp16, [?, 3]> y = relu(x = "
        "x);} -> (y); func more<ios18>(fp16 x){} -> (x);}";
    mw_error err = {0};
    mw_graph *graph = mw_graph_parse_mil(text, sizeof text - 1, NULL, NULL, &err);
    mw_graph_verify(graph, &err);
    CHECK_OK(err);
    mw_graph_destroy(graph);
}

static void test_every_function_is_verified(void)
{
    static const char text[] =
        "program(1.3){func main<ios18>(fp16 x){} -> (x);\nfunc more<ios18>(fp16 x){zzz();} -> (x);}";
    mw_error err = {0};
    mw_graph *graph = mw_graph_parse_mil(text, sizeof text - 1, NULL, NULL, &err);
    mw_graph_verify(graph, &err);
    CHECK_ERROR(err, MW_ERROR_UNSUPPORTED, "zzz");
    CHECK_INT(err.text_line, 2);
    mw_graph_destroy(graph);
}

static void test_a_built_graph_verifies(void)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_output(mw_input(graph, "x", MW_F32, MW_SHAPE(2)), "y");
    CHECK(mw_graph_verify(graph, &err) == MW_OK);
    CHECK(mw_graph_verify(NULL, &err) == MW_ERROR_ARGUMENT);
    mw_graph_destroy(graph);
}

int main(void)
{
    RUN(test_programs_against_the_rules_are_refused_with_their_place);
    RUN(test_unknown_extents_fit_what_a_rule_computes);
    RUN(test_every_function_is_verified);
    RUN(test_a_built_graph_verifies);
    return check_finish();
}
