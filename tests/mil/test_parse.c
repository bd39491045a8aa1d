/* The grammar: what is accepted, what is refused and where. */
#include "base/number/fp16.h"
#include "graph/ir/ir.h"
#include "support/check.h"
#include "support/failing.h"
#include <millwright/mil.h>

/* Statements start on line 4; x is an input. */
#define HEAD          "program(1.3)\n{\n    func main<ios18>(tensor<fp16, [4]> x) {\n"
#define PROGRAM(body) HEAD body "} -> (x);\n}"

static mw_graph *parse(const char *text, mw_error *err)
{
    return mw_graph_parse_mil(text, strlen(text), NULL, NULL, err);
}

static const struct {
    const char *what, *text;
    mw_status status;
    int line, column;
    const char *message;
} errors[] = {
    {.what = "empty text",
     .text = "",
     .status = MW_ERROR_FORMAT,
     .line = 1,
     .column = 1,
     .message = "expected \"program\", found end of text"},
    {.what = "another word",
     .text = "module(1.0)",
     .status = MW_ERROR_FORMAT,
     .line = 1,
     .column = 1,
     .message = "expected \"program\""},
    {.what = "a later version",
     .text = "program(2.0) {}",
     .status = MW_ERROR_UNSUPPORTED,
     .line = 1,
     .column = 9,
     .message = "version 2.0 is not 1.x"},
    {.what = "a version that is none",
     .text = "program(one) {}",
     .status = MW_ERROR_FORMAT,
     .line = 1,
     .column = 9,
     .message = "a version such as 1.3"},
    {.what = "no function",
     .text = "program(1.3) {}",
     .status = MW_ERROR_FORMAT,
     .line = 1,
     .column = 15,
     .message = "expected \"func\""},
    {.what = "unknown operator set",
     .text = "program(1.3) { func main<ios99>() {} -> (); }",
     .status = MW_ERROR_UNSUPPORTED,
     .line = 1,
     .column = 26,
     .message = "ios99"},
    {.what = "a function twice",
     .text = "program(1.3) { func f<ios18>() {} -> (); func f<ios18>() {} -> (); }",
     .status = MW_ERROR_FORMAT,
     .line = 1,
     .column = 47,
     .message = "defined twice"},
    {.what = "text after the program",
     .text = "program(1.3) { func f<ios18>() {} -> (); } x",
     .status = MW_ERROR_FORMAT,
     .line = 1,
     .column = 44,
     .message = "end of text"},
    {.what = "unknown element type",
     .text = PROGRAM("float32 y = relu(x = x);\n"),
     .status = MW_ERROR_FORMAT,
     .line = 4,
     .column = 9,
     .message = "expected \"(\""},
    {.what = "unknown type in tensor",
     .text = PROGRAM("tensor<f, [4]> y = relu(x = x);\n"),
     .status = MW_ERROR_FORMAT,
     .line = 4,
     .column = 8,
     .message = "an element type"},
    {.what = "rank above 8",
     .text = PROGRAM("tensor<fp16, [1,1,1,1,1,1,1,1,1]> y = relu(x = x);\n"),
     .status = MW_ERROR_SHAPE,
     .line = 4,
     .column = 31,
     .message = "rank"},
    {.what = "negative extent",
     .text = PROGRAM("tensor<fp16, [-1]> y = relu(x = x);\n"),
     .status = MW_ERROR_SHAPE,
     .line = 4,
     .column = 15,
     .message = "extent -1"},
    {.what = "extent of 2^63",
     .text = PROGRAM("tensor<fp16, [9223372036854775808]> y = relu(x = x);\n"),
     .status = MW_ERROR_SHAPE,
     .line = 4,
     .column = 15,
     .message = "extent"},
    {.what = "use before definition",
     .text = PROGRAM("tensor<fp16, [4]> y = relu(x = z);\n"),
     .status = MW_ERROR_FORMAT,
     .line = 4,
     .column = 32,
     .message = "\"z\" is not defined"},
    {.what = "a value that needs itself",
     .text = PROGRAM("tensor<fp16, [4]> y = relu(x = y);\n"),
     .status = MW_ERROR_FORMAT,
     .line = 4,
     .column = 32,
     .message = "\"y\" is not defined"},
    {.what = "redefinition",
     .text = PROGRAM("tensor<fp16, [4]> x = relu(x = x);\n"),
     .status = MW_ERROR_FORMAT,
     .line = 4,
     .column = 1,
     .message = "\"x\" is defined twice"},
    {.what = "an output that nobody makes",
     .text = HEAD "} -> (nobody);\n}",
     .status = MW_ERROR_FORMAT,
     .line = 4,
     .column = 7,
     .message = "\"nobody\" is not defined"},
    {.what = "a parameter twice",
     .text = "program(1.3) { func f<ios18>(fp16 a, fp16 a) {} -> (a); }",
     .status = MW_ERROR_FORMAT,
     .line = 1,
     .column = 43,
     .message = "defined twice"},
    {.what = "results in parentheses",
     .text = PROGRAM("(fp16 a, fp16 b) = split(x = x);\n"),
     .status = MW_ERROR_FORMAT,
     .line = 4,
     .column = 1,
     .message = "an operation"},
    {.what = "missing argument",
     .text = PROGRAM("tensor<fp16, [4]> y = add(x = x);\n"),
     .status = MW_ERROR_FORMAT,
     .line = 4,
     .column = 23,
     .message = "add: argument \"y\" is missing"},
    {.what = "unknown argument",
     .text = PROGRAM("tensor<fp16, [4]> y = add(x = x, y = x, z = x);\n"),
     .status = MW_ERROR_FORMAT,
     .line = 4,
     .column = 41,
     .message = "add has no argument \"z\" in ios18"},
    {.what = "argument twice",
     .text = PROGRAM("tensor<fp16, [4]> y = add(x = x, x = x);\n"),
     .status = MW_ERROR_FORMAT,
     .line = 4,
     .column = 34,
     .message = "given twice"},
    {.what = "argument twice, unknown operation",
     .text = PROGRAM("tensor<fp16, [4]> y = zzz(x = x, x = x);\n"),
     .status = MW_ERROR_FORMAT,
     .line = 4,
     .column = 34,
     .message = "given twice"},
    {.what = "attribute twice",
     .text = PROGRAM("relu(x = x)[a = fp16(1), a = fp16(1)];\n"),
     .status = MW_ERROR_FORMAT,
     .line = 4,
     .column = 26,
     .message = "given twice"},
    {.what = "a name that is no string",
     .text = PROGRAM("relu(x = x)[name = fp16(1)];\n"),
     .status = MW_ERROR_FORMAT,
     .line = 4,
     .column = 1,
     .message = "not a string"},
    {.what = "const without val",
     .text = PROGRAM("fp16 c = const();\n"),
     .status = MW_ERROR_FORMAT,
     .line = 4,
     .column = 10,
     .message = "attribute \"val\""},
    {.what = "const of another type",
     .text = PROGRAM("fp16 c = const()[val = fp32(1)];\n"),
     .status = MW_ERROR_DTYPE,
     .line = 4,
     .column = 10,
     .message = "another type"},
    {.what = "missing semicolon",
     .text = PROGRAM("fp16 c = const()[val = fp16(1)]\n"),
     .status = MW_ERROR_FORMAT,
     .line = 5,
     .column = 1,
     .message = "expected \";\""},
    {.what = "list too long",
     .text = PROGRAM("tensor<fp16, [2]> c = const()[val = tensor<fp16, [2]>([1, 2, 3])];\n"),
     .status = MW_ERROR_SHAPE,
     .line = 4,
     .column = 55,
     .message = "list of 3 elements where the type says 2"},
    {.what = "list too short",
     .text = PROGRAM("tensor<fp16, [2]> c = const()[val = tensor<fp16, [2]>([1])];\n"),
     .status = MW_ERROR_SHAPE,
     .line = 4,
     .column = 55,
     .message = "list of 1 elements"},
    {.what = "inner list too short",
     .text = PROGRAM("zzz(x = tensor<int8, [2, 2]>([[1, 2], [3]]));\n"),
     .status = MW_ERROR_SHAPE,
     .line = 4,
     .column = 39,
     .message = "list of 1 elements"},
    {.what = "a list for a scalar",
     .text = PROGRAM("zzz(x = int8([1]));\n"),
     .status = MW_ERROR_SHAPE,
     .line = 4,
     .column = 14,
     .message = "a list for a scalar"},
    {.what = "a fraction as integer",
     .text = PROGRAM("zzz(x = int32(1.5));\n"),
     .status = MW_ERROR_FORMAT,
     .line = 4,
     .column = 15,
     .message = "not a value of type int32"},
    {.what = "2^31 as int32",
     .text = PROGRAM("zzz(x = int32(2147483648));\n"),
     .status = MW_ERROR_FORMAT,
     .line = 4,
     .column = 15,
     .message = "not a value of type int32"},
    {.what = "-1 as uint8",
     .text = PROGRAM("zzz(x = uint8(-1));\n"),
     .status = MW_ERROR_FORMAT,
     .line = 4,
     .column = 15,
     .message = "not a value of type uint8"},
    {.what = "2^63 as int64",
     .text = PROGRAM("zzz(x = int64(9223372036854775808));\n"),
     .status = MW_ERROR_FORMAT,
     .line = 4,
     .column = 15,
     .message = "int64"},
    {.what = "2 as bool",
     .text = PROGRAM("zzz(x = bool(2));\n"),
     .status = MW_ERROR_FORMAT,
     .line = 4,
     .column = 14,
     .message = "not a value of type bool"},
    {.what = "0x alone",
     .text = PROGRAM("zzz(x = fp32(0x));\n"),
     .status = MW_ERROR_FORMAT,
     .line = 4,
     .column = 14,
     .message = "\"0x\" is not a value"},
    {.what = "decimal comma",
     .text = PROGRAM("zzz(x = fp32(1,5));\n"),
     .status = MW_ERROR_FORMAT,
     .line = 4,
     .column = 15,
     .message = "expected \")\""},
    {.what = "a string as number",
     .text = PROGRAM("zzz(x = fp32(\"1\"));\n"),
     .status = MW_ERROR_FORMAT,
     .line = 4,
     .column = 14,
     .message = "not a value"},
    {.what = "a number as string",
     .text = PROGRAM("zzz(x = string(1));\n"),
     .status = MW_ERROR_FORMAT,
     .line = 4,
     .column = 16,
     .message = "expected a string"},
    {.what = "unclosed string",
     .text = PROGRAM("zzz(x = string(\"a));\n"),
     .status = MW_ERROR_FORMAT,
     .line = 4,
     .column = 16,
     .message = "without closing quote"},
    {.what = "blob without offset",
     .text = PROGRAM("zzz(x = tensor<fp16, [4]>(BLOBFILE(path = string(\"@model_path/w\"))));\n"),
     .status = MW_ERROR_FORMAT,
     .line = 4,
     .column = 66,
     .message = "expected \",\""},
    {.what = "blob of unknown size",
     .text = PROGRAM("zzz(x = tensor<fp16, [?]>(BLOBFILE(path = string(\"w\"), offset = uint64(64))));\n"),
     .status = MW_ERROR_SHAPE,
     .line = 4,
     .column = 27,
     .message = "without a size"},
    {.what = "one value for unknown size",
     .text = PROGRAM("zzz(x = tensor<fp16, [?]>(1));\n"),
     .status = MW_ERROR_SHAPE,
     .line = 4,
     .column = 27,
     .message = "unknown size"},
    {.what = "inner value used outside",
     .text = PROGRAM("zzz(x = x) { fp16 a = const()[val = fp16(1)]; } -> (a);\nzzz(x = a);\n"),
     .status = MW_ERROR_FORMAT,
     .line = 5,
     .column = 9,
     .message = "\"a\" is not defined"},
    {.what = "inner value hides an outer one",
     .text = PROGRAM("zzz(x = x) { fp16 x = const()[val = fp16(1)]; } -> (x);\n"),
     .status = MW_ERROR_FORMAT,
     .line = 4,
     .column = 14,
     .message = "\"x\" is defined twice"},
    {.what = "state literal",
     .text = PROGRAM("zzz(x = state<fp16>(1));\n"),
     .status = MW_ERROR_FORMAT,
     .line = 4,
     .column = 21,
     .message = "a state has no literal"},
    {.what = "state of a string list",
     .text = PROGRAM("state<list<string, 1>> y = zzz(x = x);\n"),
     .status = MW_ERROR_FORMAT,
     .line = 4,
     .column = 7,
     .message = "a state"},
    {.what = "control character",
     .text = "program\001(1.3)",
     .status = MW_ERROR_FORMAT,
     .line = 1,
     .column = 8,
     .message = "unexpected character 0x01"},
    {.what = "byte order mark",
     .text = "\xef\xbb\xbfprogram(1.3)",
     .status = MW_ERROR_FORMAT,
     .line = 1,
     .column = 1,
     .message = "byte order mark"},
    {.what = "invalid UTF-8 in a string",
     .text = PROGRAM("zzz(x = string(\"\xff\"));\n"),
     .status = MW_ERROR_FORMAT,
     .line = 4,
     .column = 17,
     .message = "0xff"},
    {.what = "overlong UTF-8",
     .text = PROGRAM("zzz(x = string(\"\xc0\xaf\"));\n"),
     .status = MW_ERROR_FORMAT,
     .line = 4,
     .column = 17,
     .message = "0xc0"},
    {.what = "a letter beyond ASCII in a name",
     .text = PROGRAM("zz\xc3\xa9(x = x);\n"),
     .status = MW_ERROR_FORMAT,
     .line = 4,
     .column = 3,
     .message = "outside a string"},
};

static void test_malformed_text_is_refused_with_its_place(void)
{
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        mw_error err = {0};
        mw_graph *graph = parse(errors[i].text, &err);
        check_note(graph == NULL && err.status == errors[i].status && err.text_line == errors[i].line &&
                       err.text_column == errors[i].column && strstr(err.message, errors[i].message) != NULL,
                   __FILE__, __LINE__, "%s: status %d at %d:%d, \"%s\"", errors[i].what, (int)err.status, err.text_line,
                   err.text_column, err.message);
        mw_graph_destroy(graph);
    }
}

static const struct {
    const char *what, *text;
} accepted[] = {
    {"both literal styles", PROGRAM("zzz(x = tensor<int32, []>(1), y = int32(1), z = tensor<string, []>(\"a\"));\n")},
    {"a broadcast scalar", PROGRAM("zzz(x = tensor<int32, [1]>(1));\n")},
    {"a flat list of rank 2", PROGRAM("zzz(x = tensor<fp16, [2, 2]>([1, 2, 3, 4]));\n")},
    {"an empty tensor", PROGRAM("zzz(x = tensor<fp16, [0]>([]));\n")},
    {"comments", "// first\n" PROGRAM("zzz(x = x); // then \xc3\xa9\n")},
    {"CRLF", "program(1.3)\r\n{\r\nfunc main<ios18>(fp16 x) {\r\n} -> (x);\r\n}\r\n"},
    {"no blanks", "program(1.3){func main<ios18>(fp16 x){}->(x);}"},
    {"version without minor", "program(1){func main<ios18>(fp16 x){}->(x);}"},
    {"raw opset names", "program(1.0){func main<CoreML7>(fp16 x){}->(x);}"},
    {"blocks without parameters", PROGRAM("zzz(x = x) { } -> (x) { } -> (x);\n")},
    {"blocks with own ends", PROGRAM("zzz(x = x) () { } -> (x); (fp16 a) { } -> (a);;\n")},
    {"sibling blocks reuse names", PROGRAM("zzz() (fp16 a) { } -> (a) (fp16 a) { } -> (a); fp16 a = zzz();\n")},
    {"values named like operations", PROGRAM("fp16 relu = const()[val = fp16(1)]; zzz(x = relu);\n")},
    {"nested tuples", PROGRAM("zzz(x = (x, (x, int32(1)), ()));\n")},
    {"a member with its type", PROGRAM("zzz(x = list<int8, ?>([int8(1), 2]));\n")},
    {"numbers", PROGRAM("zzz(a = fp16(-0x1.8p-3), b = fp32(1e-05), c = fp32(-inf), d = fp16(nan), e = fp32(3));\n")},
};

static void test_other_spellings_are_accepted(void)
{
    for (size_t i = 0; i < sizeof accepted / sizeof *accepted; i++) {
        mw_error err = {0};
        mw_graph *graph = parse(accepted[i].text, &err);
        check_note(graph != NULL, __FILE__, __LINE__, "%s: %s", accepted[i].what, err.message);
        char *once = graph != NULL ? mw_graph_print_mil(graph, NULL, &err) : NULL;
        mw_graph *again = once != NULL ? parse(once, &err) : NULL;
        char *twice = again != NULL ? mw_graph_print_mil(again, NULL, &err) : NULL;
        check_note(twice != NULL && strcmp(once, twice) == 0, __FILE__, __LINE__, "%s: %s\n%s\n%s", accepted[i].what,
                   err.message, once != NULL ? once : "", twice != NULL ? twice : "");
        mw_graph_destroy(graph);
        mw_graph_destroy(again);
        mw_string_free(once);
        mw_string_free(twice);
    }
}

/* The payload of `val` in "T c = const()[val = <literal>]". */
static const mw__payload *constant(mw_graph *graph)
{
    const mw_tensor *value = graph != NULL ? mw_graph_find(graph, "c") : NULL;
    return value != NULL ? value->payload : NULL;
}

#define CONSTANT(type, value) PROGRAM(type " c = const()[val = " type "(" value ")];\n")

static void test_decimals_are_rounded_once_to_the_declared_type(void)
{
    mw_error err = {0};
    /* just above the midpoint of 1 and 1 + 2^-10; by way of fp32 it would be the midpoint, which goes to even, 1 */
    mw_graph *graph = parse(CONSTANT("fp16", "1.00048828125000000001"), &err);
    const mw__payload *payload = constant(graph);
    CHECK_OK(err);
    if (CHECK(payload != NULL))
        CHECK_INT(*(const uint16_t *)payload->data, 0x3c01);
    mw_graph_destroy(graph);
    graph = parse(CONSTANT("fp16", "65520"), &err);
    if (CHECK(constant(graph) != NULL))
        CHECK_INT(*(const uint16_t *)constant(graph)->data, 0x7c00);
    mw_graph_destroy(graph);
}

static void test_elements_are_packed_row_major(void)
{
    mw_error err = {0};
    mw_graph *graph = parse(CONSTANT("tensor<int32, [2, 2]>", "[[1, -2], [3, 4]]"), &err);
    const int32_t wanted[] = {1, -2, 3, 4};
    CHECK_OK(err);
    if (CHECK(constant(graph) != NULL && constant(graph)->size == sizeof wanted))
        CHECK(memcmp(constant(graph)->data, wanted, sizeof wanted) == 0);
    mw_graph_destroy(graph);
    graph = parse(CONSTANT("tensor<uint3, [5]>", "[1, 2, 3, 4, 5]"), &err);
    const unsigned char bits[] = {0xd1, 0x58}; /* 001 010 011 100 101, least significant first */
    CHECK_OK(err);
    if (CHECK(constant(graph) != NULL && constant(graph)->size == 2))
        CHECK(memcmp(constant(graph)->data, bits, 2) == 0);
    mw_graph_destroy(graph);
    graph = parse(CONSTANT("tensor<int4, [3]>", "[-8, 7, -1]"), &err);
    char *text = graph != NULL ? mw_graph_print_mil(graph, NULL, &err) : NULL;
    if (CHECK(text != NULL))
        CHECK_CONTAINS(text, "tensor<int4, [3]>([-8, 7, -1])");
    mw_string_free(text);
    mw_graph_destroy(graph);
}

static void test_strings_keep_their_characters(void)
{
    mw_error err = {0};
    mw_graph *graph = parse(CONSTANT("string", "\"a\\\"b\\\\c\\nd\\te\xc3\xa9\""), &err);
    CHECK_OK(err);
    if (CHECK(constant(graph) != NULL))
        CHECK_STR(constant(graph)->strings[0], "a\"b\\c\nd\te\xc3\xa9");
    char *text = graph != NULL ? mw_graph_print_mil(graph, NULL, &err) : NULL;
    if (CHECK(text != NULL))
        CHECK_CONTAINS(text, "string(\"a\\\"b\\\\c\\nd\\te\xc3\xa9\")");
    mw_string_free(text);
    mw_graph_destroy(graph);
}

static void test_slots_follow_the_table_whatever_the_text_order(void)
{
    mw_error err = {0};
    mw_graph *graph = parse(PROGRAM("tensor<fp16, [4]> y = sub(y = x, x = x)[name = string(\"d\")];\n"), &err);
    const mw_tensor *y = graph != NULL ? mw_graph_find(graph, "y") : NULL;
    CHECK_OK(err);
    if (CHECK(y != NULL && y->op->row != NULL)) {
        CHECK_STR(y->op->slots[0].name, "x");
        CHECK_STR(y->op->slots[1].name, "y");
        CHECK_STR(y->op->name, "d");
        CHECK_INT(y->op->line, 4);
        CHECK_INT(y->op->column, 1);
    }
    mw_graph_destroy(graph);
}

/* A type that is spelled as one before, and a name as it is printed, are passed over: what follows has its place. */
static const struct {
    const char *what, *text;
    int column;
    const char *message;
} passed_over[] = {
    {"behind a type", "tensor<fp16, [4]> y = relu(x = x);tensor<fp16, [4]> ?", 53, "found \"?\""},
    {"behind a name", "tensor<fp16, [4]> y = relu(x = x)[name = string(\"y\")] ?", 55, "found \"?\""},
    {"another name", "tensor<fp16, [4]> y = relu(x = x)[name = string(\"z\")] ?", 55, "found \"?\""},
    {"the beginning of a name", "tensor<fp16, [4]> y = relu(x = x)[name = string(\"yy\")] ?", 56, "found \"?\""},
    {"an attribute more", "tensor<fp16, [4]> y = relu(x = x)[name = string(\"y\"), ?", 55, "found \"?\""},
    {"a type of another extent", "tensor<fp16, [4]> y = relu(x = x);tensor<fp16, [4, ?, !]>", 55, "character 0x21"},
};

static void test_what_is_passed_over_changes_no_place(void)
{
    char text[512];
    for (size_t i = 0; i < sizeof passed_over / sizeof *passed_over; i++) {
        mw_error err = {0};
        snprintf(text, sizeof text, "%s%s", HEAD, passed_over[i].text);
        mw_graph *graph = parse(text, &err);
        check_note(graph == NULL && err.text_line == 4 && err.text_column == passed_over[i].column &&
                       strstr(err.message, passed_over[i].message) != NULL,
                   __FILE__, __LINE__, "%s: %d:%d, \"%s\"", passed_over[i].what, err.text_line, err.text_column,
                   err.message);
        mw_graph_destroy(graph);
    }
}

static void test_names_of_statements_are_those_of_the_text(void)
{
    mw_error err = {0};
    mw_graph *graph = parse(PROGRAM("tensor<fp16, [4]> y = relu(x = x)[name = string(\"y\")];\n"
                                    "tensor<fp16,[4]> z = relu(x = y)[name = string(\"y\")];\n"
                                    "tensor<fp16, [4]> w = relu(x = z);\n"),
                            &err);
    const mw_tensor *y = mw_graph_find(graph, "y"), *z = mw_graph_find(graph, "z"), *w = mw_graph_find(graph, "w");
    CHECK_OK(err);
    if (CHECK(y != NULL && z != NULL && w != NULL)) {
        CHECK_STR(y->op->name, "y");
        CHECK_STR(z->op->name, "y");
        CHECK(!y->op->name_absent && !z->op->name_absent && w->op->name_absent);
        CHECK_INT(y->op->attribute_count, 0);
        CHECK(y->type == w->type);
        CHECK_INT(mw_tensor_shape(z).dim[0], 4);
    }
    mw_graph_destroy(graph);
}

static void test_a_set_error_makes_parse_do_nothing(void)
{
    mw_error err = {.status = MW_ERROR_FILE, .message = "earlier"};
    CHECK(parse(PROGRAM(""), &err) == NULL);
    CHECK_STR(err.message, "earlier");
}

static void test_every_failed_allocation_is_an_error_without_a_leak(void)
{
    static const char text[] = PROGRAM(
        "tensor<fp16, [2]> c = const()[val = tensor<fp16, [2]>([1, 2])];\n"
        "tensor<fp16, [4]> y = add(x = x, y = fp16(1))[name = string(\"y\")];\n"
        "zzz(v = (x, (y)), d = dict<string, int8>({{\"a\", 1}})) (fp16 a) { } -> (a) { fp16 b = q(); } -> (b);\n");
    for (long n = 0; n < 10000; n++) {
        failing_allocator failing = {.fail_at = n};
        mw_allocator allocator = failing_allocator_of(&failing);
        mw_graph_options options = mw_graph_defaults();
        options.allocator = &allocator;
        mw_error err = {0};
        mw_graph *graph = mw_graph_parse_mil(text, sizeof text - 1, NULL, &options, &err);
        mw_error print_err = {0};
        char *printed = graph != NULL ? mw_graph_print_mil(graph, NULL, &print_err) : NULL;
        const bool good = graph != NULL && printed != NULL;
        check_note(good || err.status == MW_ERROR_MEMORY || print_err.status == MW_ERROR_MEMORY, __FILE__, __LINE__,
                   "allocation %ld: %s %s", n, err.message, print_err.message);
        mw_string_free(printed);
        mw_graph_destroy(graph);
        CHECK_INT(failing.live, 0);
        if (!failing.failed)
            return;
        CHECK(!good);
    }
    CHECK(false);
}

int main(void)
{
    RUN(test_malformed_text_is_refused_with_its_place);
    RUN(test_other_spellings_are_accepted);
    RUN(test_decimals_are_rounded_once_to_the_declared_type);
    RUN(test_elements_are_packed_row_major);
    RUN(test_strings_keep_their_characters);
    RUN(test_slots_follow_the_table_whatever_the_text_order);
    RUN(test_what_is_passed_over_changes_no_place);
    RUN(test_names_of_statements_are_those_of_the_text);
    RUN(test_a_set_error_makes_parse_do_nothing);
    RUN(test_every_failed_allocation_is_an_error_without_a_leak);
    return check_finish();
}
