/* The grammar: what is accepted, what is refused and where. */
#include "base/fp16.h"
#include "graph/ir.h"
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
    {"empty text", "", MW_ERROR_FORMAT, 1, 1, "expected \"program\", found end of text"},
    {"another word", "module(1.0)", MW_ERROR_FORMAT, 1, 1, "expected \"program\""},
    {"a later version", "program(2.0) {}", MW_ERROR_UNSUPPORTED, 1, 9, "version 2.0 is not 1.x"},
    {"a version that is none", "program(one) {}", MW_ERROR_FORMAT, 1, 9, "a version such as 1.3"},
    {"no function", "program(1.3) {}", MW_ERROR_FORMAT, 1, 15, "expected \"func\""},
    {"unknown operator set", "program(1.3) { func main<ios99>() {} -> (); }", MW_ERROR_UNSUPPORTED, 1, 26, "ios99"},
    {"a function twice", "program(1.3) { func f<ios18>() {} -> (); func f<ios18>() {} -> (); }", MW_ERROR_FORMAT, 1, 47,
     "defined twice"},
    {"text after the program", "program(1.3) { func f<ios18>() {} -> (); } x", MW_ERROR_FORMAT, 1, 44, "end of text"},
    {"unknown element type", PROGRAM("float32 y = relu(x = x);\n"), MW_ERROR_FORMAT, 4, 9, "expected \"(\""},
    {"unknown type in tensor", PROGRAM("tensor<f, [4]> y = relu(x = x);\n"), MW_ERROR_FORMAT, 4, 8, "an element type"},
    {"rank above 8", PROGRAM("tensor<fp16, [1,1,1,1,1,1,1,1,1]> y = relu(x = x);\n"), MW_ERROR_SHAPE, 4, 31, "rank"},
    {"negative extent", PROGRAM("tensor<fp16, [-1]> y = relu(x = x);\n"), MW_ERROR_SHAPE, 4, 15, "extent -1"},
    {"extent of 2^63", PROGRAM("tensor<fp16, [9223372036854775808]> y = relu(x = x);\n"), MW_ERROR_SHAPE, 4, 15,
     "extent"},
    {"use before definition", PROGRAM("tensor<fp16, [4]> y = relu(x = z);\n"), MW_ERROR_FORMAT, 4, 32,
     "\"z\" is not defined"},
    {"a value that needs itself", PROGRAM("tensor<fp16, [4]> y = relu(x = y);\n"), MW_ERROR_FORMAT, 4, 32,
     "\"y\" is not defined"},
    {"redefinition", PROGRAM("tensor<fp16, [4]> x = relu(x = x);\n"), MW_ERROR_FORMAT, 4, 1, "\"x\" is defined twice"},
    {"an output that nobody makes", HEAD "} -> (nobody);\n}", MW_ERROR_FORMAT, 4, 7, "\"nobody\" is not defined"},
    {"a parameter twice", "program(1.3) { func f<ios18>(fp16 a, fp16 a) {} -> (a); }", MW_ERROR_FORMAT, 1, 43,
     "defined twice"},
    {"results in parentheses", PROGRAM("(fp16 a, fp16 b) = split(x = x);\n"), MW_ERROR_FORMAT, 4, 1, "an operation"},
    {"missing argument", PROGRAM("tensor<fp16, [4]> y = add(x = x);\n"), MW_ERROR_FORMAT, 4, 23,
     "add: argument \"y\" is missing"},
    {"unknown argument", PROGRAM("tensor<fp16, [4]> y = add(x = x, y = x, z = x);\n"), MW_ERROR_FORMAT, 4, 41,
     "add has no argument \"z\" in ios18"},
    {"argument twice", PROGRAM("tensor<fp16, [4]> y = add(x = x, x = x);\n"), MW_ERROR_FORMAT, 4, 34, "given twice"},
    {"argument twice, unknown operation", PROGRAM("tensor<fp16, [4]> y = zzz(x = x, x = x);\n"), MW_ERROR_FORMAT, 4, 34,
     "given twice"},
    {"attribute twice", PROGRAM("relu(x = x)[a = fp16(1), a = fp16(1)];\n"), MW_ERROR_FORMAT, 4, 26, "given twice"},
    {"a name that is no string", PROGRAM("relu(x = x)[name = fp16(1)];\n"), MW_ERROR_FORMAT, 4, 1, "not a string"},
    {"const without val", PROGRAM("fp16 c = const();\n"), MW_ERROR_FORMAT, 4, 10, "attribute \"val\""},
    {"const of another type", PROGRAM("fp16 c = const()[val = fp32(1)];\n"), MW_ERROR_DTYPE, 4, 10, "another type"},
    {"missing semicolon", PROGRAM("fp16 c = const()[val = fp16(1)]\n"), MW_ERROR_FORMAT, 5, 1, "expected \";\""},
    {"list too long", PROGRAM("tensor<fp16, [2]> c = const()[val = tensor<fp16, [2]>([1, 2, 3])];\n"), MW_ERROR_SHAPE,
     4, 55, "list of 3 elements where the type says 2"},
    {"list too short", PROGRAM("tensor<fp16, [2]> c = const()[val = tensor<fp16, [2]>([1])];\n"), MW_ERROR_SHAPE, 4, 55,
     "list of 1 elements"},
    {"inner list too short", PROGRAM("zzz(x = tensor<int8, [2, 2]>([[1, 2], [3]]));\n"), MW_ERROR_SHAPE, 4, 39,
     "list of 1 elements"},
    {"a list for a scalar", PROGRAM("zzz(x = int8([1]));\n"), MW_ERROR_SHAPE, 4, 14, "a list for a scalar"},
    {"a fraction as integer", PROGRAM("zzz(x = int32(1.5));\n"), MW_ERROR_FORMAT, 4, 15, "not a value of type int32"},
    {"2^31 as int32", PROGRAM("zzz(x = int32(2147483648));\n"), MW_ERROR_FORMAT, 4, 15, "not a value of type int32"},
    {"-1 as uint8", PROGRAM("zzz(x = uint8(-1));\n"), MW_ERROR_FORMAT, 4, 15, "not a value of type uint8"},
    {"2^63 as int64", PROGRAM("zzz(x = int64(9223372036854775808));\n"), MW_ERROR_FORMAT, 4, 15, "int64"},
    {"2 as bool", PROGRAM("zzz(x = bool(2));\n"), MW_ERROR_FORMAT, 4, 14, "not a value of type bool"},
    {"0x alone", PROGRAM("zzz(x = fp32(0x));\n"), MW_ERROR_FORMAT, 4, 14, "\"0x\" is not a value"},
    {"decimal comma", PROGRAM("zzz(x = fp32(1,5));\n"), MW_ERROR_FORMAT, 4, 15, "expected \")\""},
    {"a string as number", PROGRAM("zzz(x = fp32(\"1\"));\n"), MW_ERROR_FORMAT, 4, 14, "not a value"},
    {"a number as string", PROGRAM("zzz(x = string(1));\n"), MW_ERROR_FORMAT, 4, 16, "expected a string"},
    {"unclosed string", PROGRAM("zzz(x = string(\"a));\n"), MW_ERROR_FORMAT, 4, 16, "without closing quote"},
    {"blob without offset", PROGRAM("zzz(x = tensor<fp16, [4]>(BLOBFILE(path = string(\"@model_path/w\"))));\n"),
     MW_ERROR_FORMAT, 4, 66, "expected \",\""},
    {"blob of unknown size",
     PROGRAM("zzz(x = tensor<fp16, [?]>(BLOBFILE(path = string(\"w\"), offset = uint64(64))));\n"), MW_ERROR_SHAPE, 4,
     27, "without a size"},
    {"one value for unknown size", PROGRAM("zzz(x = tensor<fp16, [?]>(1));\n"), MW_ERROR_SHAPE, 4, 27, "unknown size"},
    {"inner value used outside", PROGRAM("zzz(x = x) { fp16 a = const()[val = fp16(1)]; } -> (a);\nzzz(x = a);\n"),
     MW_ERROR_FORMAT, 5, 9, "\"a\" is not defined"},
    {"inner value hides an outer one", PROGRAM("zzz(x = x) { fp16 x = const()[val = fp16(1)]; } -> (x);\n"),
     MW_ERROR_FORMAT, 4, 14, "\"x\" is defined twice"},
    {"state literal", PROGRAM("zzz(x = state<fp16>(1));\n"), MW_ERROR_FORMAT, 4, 21, "a state has no literal"},
    {"state of a string list", PROGRAM("state<list<string, 1>> y = zzz(x = x);\n"), MW_ERROR_FORMAT, 4, 7, "a state"},
    {"control character", "program\001(1.3)", MW_ERROR_FORMAT, 1, 8, "unexpected character 0x01"},
    {"byte order mark", "\xef\xbb\xbfprogram(1.3)", MW_ERROR_FORMAT, 1, 1, "byte order mark"},
    {"invalid UTF-8 in a string", PROGRAM("zzz(x = string(\"\xff\"));\n"), MW_ERROR_FORMAT, 4, 17, "0xff"},
    {"overlong UTF-8", PROGRAM("zzz(x = string(\"\xc0\xaf\"));\n"), MW_ERROR_FORMAT, 4, 17, "0xc0"},
    {"a letter beyond ASCII in a name", PROGRAM("zz\xc3\xa9(x = x);\n"), MW_ERROR_FORMAT, 4, 3, "outside a string"},
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
    RUN(test_a_set_error_makes_parse_do_nothing);
    RUN(test_every_failed_allocation_is_an_error_without_a_leak);
    return check_finish();
}
