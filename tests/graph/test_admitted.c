/* Which shapes the inputs of a program admit, read from FlexibleShapeInformation: what Apple's compiler writes, and
 * attributes that lie. */
#include "graph_check.h"

#include <stdio.h>

/* The types of Apple's newer style. */
#define DICT_OF_SHAPES "dict<string, tensor<int32, [?]>>"
#define RANGES         "tuple<tuple<string, " DICT_OF_SHAPES ">, tuple<string, dict<string, list<tensor<int32, [2]>, ?>>>>"
#define LISTED         "tuple<tuple<string, " DICT_OF_SHAPES ">, tuple<string, dict<string, " DICT_OF_SHAPES ">>>"
#define S              MW_SHAPE

/* func main(inputs)[attribute] */
static mw_graph *parse(const char *inputs, const char *attribute, mw_error *err)
{
    char text[4096];
    snprintf(text, sizeof text,
             "program(1.3){func main<ios17>(%s)%s%s%s{tensor<fp32, [2]> c = const()[val = tensor<fp32, [2]>([1, 2])];} "
             "-> (c);}",
             inputs, attribute != NULL ? "[FlexibleShapeInformation = " : "", attribute != NULL ? attribute : "",
             attribute != NULL ? "]" : "");
    return mw_graph_parse_mil(text, strlen(text), NULL, NULL, err);
}

static void check_shape(mw_shape shape, mw_shape wanted, int line)
{
    char a[160], b[160];
    check_note(mw_shape_equal(shape, wanted), __FILE__, line, "shape %s, not %s", mw__shape_print(shape, a, sizeof a),
               mw__shape_print(wanted, b, sizeof b));
}
#define CHECK_SHAPE(shape, ...) check_shape((shape), (__VA_ARGS__), __LINE__)

static void test_ranges_and_default(void)
{
    mw_error err = {0};
    mw_admitted_shapes a;
    mw_graph *g = parse("tensor<fp32, [1, ?]> x, tensor<fp32, [3]> w",
                        RANGES "(((\"DefaultShapes\", {{\"x\", [1, 266]}}), (\"RangeDims\", {{\"x\", [[1, 1], [2, "
                               "4000]]}})))",
                        &err);
    CHECK_INT(mw_graph_admitted_shapes(g, "x", &a, &err), MW_OK);
    CHECK_OK(err);
    CHECK_INT(a.kind, MW_ADMITS_RANGES);
    CHECK_SHAPE(a.declared, S(1, MW_DIM_UNKNOWN));
    CHECK(a.has_standard);
    CHECK_SHAPE(a.standard, S(1, 266));
    CHECK_SHAPE(a.low, S(1, 2));
    CHECK_SHAPE(a.high, S(1, 4000));
    CHECK_INT(mw_graph_admitted_shapes(g, "w", &a, &err), MW_OK);
    CHECK_INT(a.kind, MW_ADMITS_ONE);
    CHECK_SHAPE(a.standard, S(3));
    mw_graph_destroy(g);
}

static void test_a_negative_upper_bound_is_none(void)
{
    mw_error err = {0};
    mw_admitted_shapes a;
    mw_graph *g = parse("tensor<fp32, [?]> x",
                        RANGES "(((\"DefaultShapes\", {{\"x\", [7]}}), (\"RangeDims\", {{\"x\", [[1, -1]]}})))", &err);
    CHECK_INT(mw_graph_admitted_shapes(g, "x", &a, &err), MW_OK);
    CHECK_OK(err);
    CHECK_SHAPE(a.low, S(1));
    CHECK_SHAPE(a.high, S(MW_DIM_UNKNOWN));
    mw_graph_destroy(g);
}

static void test_listed_shapes_belong_together(void)
{
    mw_error err = {0};
    mw_admitted_shapes a;
    mw_shape shape;
    mw_graph *g = parse("tensor<fp32, [?, 3]> x, tensor<fp32, [?]> y",
                        LISTED "(((\"DefaultShapes\", {{\"x\", [1, 3]}, {\"y\", [4]}}), (\"EnumeratedShapes\", "
                               "{{\"543d0f94\", {{\"x\", [1, 3]}, {\"y\", [4]}}}, {\"697b758f\", {{\"x\", [2, 3]}, "
                               "{\"y\", [8]}}}})))",
                        &err);
    CHECK_INT(mw_graph_admitted_shapes(g, "y", &a, &err), MW_OK);
    CHECK_OK(err);
    CHECK_INT(a.kind, MW_ADMITS_LISTED);
    CHECK_INT(a.count, 2);
    CHECK_SHAPE(a.standard, S(4));
    CHECK_INT(mw_graph_listed_shape(g, "x", 1, &shape, &err), MW_OK);
    CHECK_SHAPE(shape, S(2, 3));
    CHECK_INT(mw_graph_listed_shape(g, "x", 2, &shape, &err), MW_ERROR_ARGUMENT);
    mw_error_clear(&err);
    const mw_input_shape both[] = {{"x", S(2, 3)}, {"y", S(8)}}, mixed[] = {{"x", S(2, 3)}, {"y", S(4)}},
                         other[] = {{"x", S(3, 3)}};
    mw_graph *made = mw_graph_specialize(g, both, 2, &err);
    CHECK_OK(err);
    CHECK_SHAPE(mw_tensor_shape(mw_graph_find(made, "y")), S(8));
    mw_graph_destroy(made);
    CHECK(mw_graph_specialize(g, mixed, 2, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_SHAPE, "not together");
    mw_error_clear(&err);
    CHECK(mw_graph_specialize(g, other, 1, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_SHAPE, "input \"x\" cannot be [3, 3]; it admits [1, 3], [2, 3]");
    mw_graph_destroy(g);
}

static void test_without_the_attribute_anything_goes(void)
{
    mw_error err = {0};
    mw_admitted_shapes a;
    mw_graph *g = parse("tensor<fp32, [?, 3]> x", NULL, &err);
    CHECK_INT(mw_graph_admitted_shapes(g, "x", &a, &err), MW_OK);
    CHECK_INT(a.kind, MW_ADMITS_ANY);
    CHECK(!a.has_standard);
    CHECK_INT(mw_graph_admitted_shapes(g, "c", &a, &err), MW_ERROR_ARGUMENT); /* a constant */
    CHECK_CONTAINS(err.message, "the first is \"x\"");
    mw_error_clear(&err);
    CHECK_INT(mw_graph_admitted_shapes(g, NULL, &a, &err), MW_ERROR_ARGUMENT);
    mw_error_clear(&err);
    CHECK_INT(mw_graph_admitted_shapes(NULL, "x", &a, &err), MW_ERROR_ARGUMENT);
    mw_error_clear(&err);
    CHECK_INT(mw_graph_admitted_shapes(g, "x", NULL, &err), MW_ERROR_ARGUMENT);
    mw_error_clear(&err);
    CHECK_INT(mw_graph_listed_shape(g, "x", 0, &a.low, &err), MW_ERROR_ARGUMENT);
    mw_graph_destroy(g);
}

/* Attributes of an input [1, ?] that are refused, with the status and a part of the message. */
static const struct {
    const char *attribute, *part;
} lies[] = {
    {"string(\"any\")", "is no tuple"},
    {"tuple<string, string>((\"DefaultShapes\", \"x\"))", "no pair"},
    {"tuple<tuple<string, string>>(((\"DefaultShapes\", \"x\")))", "no pair"},
    {RANGES "(((\"DefaultShapes\", {{\"x\", [1, 5]}}), (\"RangeDims\", {{\"x\", [[1, 1], [9, 2]]}})))", "bounds"},
    {RANGES "(((\"DefaultShapes\", {{\"x\", [1, 5]}}), (\"RangeDims\", {{\"x\", [[1, 1], [-3, 2]]}})))", "bounds"},
    {RANGES "(((\"DefaultShapes\", {{\"x\", [1, 5]}}), (\"RangeDims\", {{\"x\", [[2, 4], [2, 9]]}})))", "bounds"},
    {RANGES "(((\"DefaultShapes\", {{\"x\", [1, 5]}}), (\"RangeDims\", {{\"x\", [[1, 1]]}})))", "for each axis"},
    {RANGES "(((\"DefaultShapes\", {{\"x\", [1, 1]}}), (\"RangeDims\", {{\"x\", [[1, 1], [2, 9]]}})))", "outside"},
    {RANGES "(((\"DefaultShapes\", {{\"x\", [1, 1, 1]}}), (\"RangeDims\", {{\"x\", [[1, 1], [1, 9]]}})))",
     "is none for"},
    {RANGES "(((\"DefaultShapes\", {{\"x\", [2, 1]}}), (\"RangeDims\", {{\"x\", [[1, 1], [1, 9]]}})))", "is none for"},
    {RANGES "(((\"DefaultShapes\", {{\"x\", [1, -1]}}), (\"RangeDims\", {{\"x\", [[1, 1], [1, 9]]}})))", "is none for"},
    {LISTED "(((\"DefaultShapes\", {{\"x\", [1, 5]}}), (\"EnumeratedShapes\", {})))", "is empty"},
    {LISTED "(((\"DefaultShapes\", {{\"x\", [1, 5]}}), (\"EnumeratedShapes\", {{\"a\", {{\"x\", [2, 5]}}}})))",
     "is none for"},
    {LISTED "(((\"DefaultShapes\", {{\"x\", [1, 5]}}), (\"EnumeratedShapes\", {{\"a\", {{\"x\", [1, 5]}}}, {\"b\", "
            "{{\"w\", [5]}}}})))",
     "leaves the input out"},
};

static void test_attributes_that_lie_are_refused(void)
{
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        mw_error err = {0};
        mw_admitted_shapes a;
        mw_graph *g = parse("tensor<fp32, [1, ?]> x", lies[i].attribute, &err);
        CHECK_OK(err);
        mw_graph_admitted_shapes(g, "x", &a, &err);
        check_note(err.status == MW_ERROR_FORMAT && strstr(err.message, lies[i].part) != NULL, __FILE__, __LINE__,
                   "%s: error %d \"%s\"", lies[i].attribute, (int)err.status, err.message);
        mw_graph_destroy(g);
    }
}

static void test_a_refused_shape_is_answered_with_what_is_admitted(void)
{
    mw_error err = {0};
    mw_graph *g = parse("tensor<fp32, [1, ?, ?]> x",
                        RANGES "(((\"DefaultShapes\", {{\"x\", [1, 5, 5]}}), (\"RangeDims\", {{\"x\", [[1, 1], [2, 9], "
                               "[3, -1]]}})))",
                        &err);
    const mw_shape bad[] = {S(1, 10, 5), S(1, 1, 5), S(1, 5, 2), S(2, 5, 5), S(1, 5), S(1, 5, MW_DIM_UNKNOWN)};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const mw_input_shape asked = {"x", bad[i]};
        CHECK(mw_graph_specialize(g, &asked, 1, &err) == NULL);
        CHECK_ERROR(err, MW_ERROR_SHAPE, "it admits axis 0: 1, axis 1: 2 to 9, axis 2: from 3 on");
        mw_error_clear(&err);
    }
    const mw_input_shape huge = {"x", S(1, 9, INT64_MAX)}, negative = {"x", S(1, 9, -5)}, wide = {"x", {.rank = 99}};
    CHECK(mw_graph_specialize(g, &huge, 1, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_SHAPE, "more than 2^63");
    mw_error_clear(&err);
    CHECK(mw_graph_specialize(g, &negative, 1, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_SHAPE, "negative");
    mw_error_clear(&err);
    CHECK(mw_graph_specialize(g, &wide, 1, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_SHAPE, "rank 99");
    mw_graph_destroy(g);
}

/* The old style spells the same otherwise; both come back byte for byte. */
static void test_the_attribute_survives_print(void)
{
    static const char text[] =
        "program(1.0)\n"
        "[buildInfo = dict<tensor<string, []>, tensor<string, []>>({})]\n"
        "{\n"
        "    func main<ios16>(tensor<fp16, [1, ?, ?]> x) [FlexibleShapeInformation = tuple<tuple<tensor<string, []>, "
        "dict<tensor<string, []>, tensor<int32, [?]>>>, tuple<tensor<string, []>, dict<tensor<string, []>, "
        "list<tensor<int32, [2]>, ?>>>>(((\"DefaultShapes\", {{\"x\", [1, 1, 1]}}), (\"RangeDims\", {{\"x\", [[1, 1], "
        "[1, 2048], [1, 2048]]}})))] {\n"
        "            tensor<fp16, [1, ?, ?]> y = relu(x = x);\n"
        "        } -> (y);\n"
        "}";
    mw_error err = {0};
    mw_admitted_shapes a;
    mw_graph *g = mw_graph_parse_mil(text, strlen(text), NULL, NULL, &err);
    char *again = mw_graph_print_mil(g, NULL, &err);
    CHECK_OK(err);
    CHECK_STR(again, text);
    CHECK_INT(mw_graph_admitted_shapes(g, "x", &a, &err), MW_OK);
    CHECK_SHAPE(a.high, S(1, 2048, 2048));
    mw_string_free(again);
    mw_graph_destroy(g);
}

int main(void)
{
    RUN(test_ranges_and_default);
    RUN(test_a_negative_upper_bound_is_none);
    RUN(test_listed_shapes_belong_together);
    RUN(test_without_the_attribute_anything_goes);
    RUN(test_attributes_that_lie_are_refused);
    RUN(test_a_refused_shape_is_answered_with_what_is_admitted);
    RUN(test_the_attribute_survives_print);
    return check_finish();
}
