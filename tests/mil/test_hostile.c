/* Texts made to break a reader: each is refused (or read) without a crash, a leak or memory beyond the stated bound. */
#include "graph/ir/ir.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/meter.h"

#include <locale.h>
#include <millwright/millwright.h>
#include <stdlib.h>

/* A program with many forms, cut in every place. */
static const char everything[] =
    "program(1.0)\n[buildInfo = dict<tensor<string, []>, tensor<string, []>>({{\"k\", \"v\"}, {\"\", \"\\\"\"}})]\n{\n"
    "    func main<ios16>(state<tensor<fp16, [1]>> s, tensor<fp32, [?, 4]> x) [a = tuple<int8, list<bool, ?>>((1, "
    "[true]))] "
    "{ // \xc3\xa9\n"
    "tensor<fp16, [2, 2]> c = const()[name = tensor<string, []>(\"c\"), val = tensor<fp16, [2, 2]>([[1, -0x1p-3], "
    "[inf, "
    "nan]])];\n"
    "tensor<fp16, [2]> w = const()[val = tensor<fp16, [2]>(BLOBFILE(path = string(\"@model_path/w\"), offset = "
    "uint64(64)))];\n"
    "tensor<fp32, []> y, int32 z = zzz(v = (x, (c, int8(-1))), k = tensor<uint4, [3]>([1, 2, 3]))[name = "
    "string(\"y\")] (fp16 q) { } -> (q) { write(d = x); } -> ();\n"
    "        } -> (y, z);\n    func other<ios18>() { } -> ();\n}";

static mw_status read_and_print(const char *text, size_t size, mw_error *err)
{
    mw_graph *graph = mw_graph_parse_mil(text, size, NULL, NULL, err);
    if (graph != NULL) {
        mw_error ignored = {0};
        (void)mw_graph_verify(graph, &ignored);
        mw_string_free(mw_graph_print_mil(graph, NULL, err));
    }
    mw_graph_destroy(graph);
    return err->status;
}

static void test_text_cut_at_every_byte_is_an_error_with_a_place(void)
{
    mw_error whole = {0};
    CHECK(read_and_print(everything, sizeof everything - 1, &whole) == MW_OK);
    CHECK_OK(whole);
    for (size_t size = 0; size < sizeof everything - 1; size++) {
        mw_error err = {0};
        char *copy = malloc(size + 1); /* exact, so that a read past the end is seen */
        memcpy(copy, everything, size);
        read_and_print(copy, size, &err);
        check_note(err.status != MW_OK && err.text_line > 0 && err.text_column > 0, __FILE__, __LINE__,
                   "cut at %zu: %d %s", size, (int)err.status, err.message);
        free(copy);
    }
}

static void test_text_with_any_byte_changed_never_crashes(void)
{
    static const unsigned char bytes[] = {0,   '(', ')', '[', ']', '{', '}', '"',  '<',  '>',
                                          ',', '=', ';', '?', '-', '0', 'p', 0x80, 0xef, 0xff};
    char *copy = malloc(sizeof everything);
    for (size_t i = 0; i < sizeof everything - 1; i++)
        for (size_t k = 0; k < sizeof bytes; k++) {
            mw_error err = {0};
            memcpy(copy, everything, sizeof everything);
            copy[i] = (char)bytes[k];
            read_and_print(copy, sizeof everything - 1, &err);
        }
    free(copy);
    CHECK(true);
}

static void test_a_nul_byte_is_refused(void)
{
    static const char text[] = "program(1.3)\0{ func main<ios18>(fp16 x) { } -> (x); }";
    mw_error err = {0};
    CHECK(mw_graph_parse_mil(text, sizeof text - 1, NULL, NULL, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_FORMAT, "NUL byte");
    CHECK_INT(err.text_column, 13);
    static const char inside[] = "program(1.3)[a = string(\"x\0y\")]{ func main<ios18>(fp16 x) { } -> (x); }";
    err = (mw_error){0};
    CHECK(mw_graph_parse_mil(inside, sizeof inside - 1, NULL, NULL, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_FORMAT, "NUL byte");
    err = (mw_error){0};
    CHECK(mw_graph_parse_mil(NULL, 0, NULL, NULL, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_FORMAT, "end of text");
    err = (mw_error){0};
    CHECK(mw_graph_parse_mil(NULL, 5, NULL, NULL, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "NULL");
}

typedef struct builder {
    char *text;
    size_t size, capacity;
} builder;

static void add(builder *b, const char *text)
{
    const size_t length = strlen(text);
    while (b->size + length + 1 > b->capacity) {
        b->capacity = b->capacity * 2 + 1024;
        b->text = realloc(b->text, b->capacity);
    }
    memcpy(b->text + b->size, text, length + 1);
    b->size += length;
}

static void add_times(builder *b, const char *text, size_t times)
{
    for (size_t i = 0; i < times; i++)
        add(b, text);
}

static const char head[] = "program(1.3){func main<ios18>(fp16 x){";
static const char tail[] = "} -> (x);}";

static void test_deep_nesting_is_refused(void)
{
    static const struct {
        const char *before, *open, *middle;
    } cases[] = {{"zzz(x = ", "(", "x"},
                 {"zzz(x = ", "list<", "int8"},
                 {"zzz(x = list<list<int8, ?>, ?>(", "list<int8, ?>(", "1"},
                 {"", "zzz(){", ""},
                 {"zzz(x = tensor<int8, [1, 1]>(", "[", "1"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        builder b = {0};
        mw_error err = {0};
        add(&b, head);
        add(&b, cases[i].before);
        add_times(&b, cases[i].open, 1000000);
        add(&b, cases[i].middle);
        CHECK(mw_graph_parse_mil(b.text, b.size, NULL, NULL, &err) == NULL);
        check_note(err.status == MW_ERROR_FORMAT, __FILE__, __LINE__, "%s: %d %s", cases[i].open, (int)err.status,
                   err.message);
        free(b.text);
    }
}

static void test_a_huge_word_is_refused(void)
{
    builder b = {0};
    mw_error err = {0};
    add(&b, head);
    add_times(&b, "abcdefgh", 1 << 20);
    CHECK(mw_graph_parse_mil(b.text, b.size, NULL, NULL, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_FORMAT, "name of 8388608 bytes");
    b.size = 0;
    err = (mw_error){0};
    add(&b, head);
    add(&b, "zzz(x = int8(");
    add_times(&b, "12345678", 1 << 20);
    CHECK(mw_graph_parse_mil(b.text, b.size, NULL, NULL, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_FORMAT, "not a value of type int8");
    free(b.text);
}

static void test_long_and_strange_names_survive(void)
{
    builder b = {0};
    mw_error err = {0};
    add(&b, head);
    add(&b, "fp16 ");
    add_times(&b, "n", 65535);
    add(&b, " = const()[name = string(\"../../x\"), val = fp16(1)]; fp16 N = zzz(); fp16 n = zzz();");
    add(&b, tail);
    mw_graph *graph = mw_graph_parse_mil(b.text, b.size, NULL, NULL, &err);
    CHECK_OK(err);
    char *text = graph != NULL ? mw_graph_print_mil(graph, NULL, &err) : NULL;
    CHECK_OK(err);
    if (CHECK(text != NULL))
        CHECK_CONTAINS(text, "[name = string(\"../../x\"), val = fp16(0x1p+0)]");
    mw_string_free(text);
    mw_graph_destroy(graph);
    free(b.text);
}

static void test_the_locale_does_not_matter(void)
{
    mw_error err = {0};
    static const char text[] = "program(1.3){func main<ios18>(fp16 x){fp32 c = const()[val = fp32(1.5)];} -> (x);}";
    if (setlocale(LC_NUMERIC, "de_DE.UTF-8") == NULL && setlocale(LC_NUMERIC, "de_DE") == NULL)
        SKIP("no German locale on this machine");
    mw_graph *graph = mw_graph_parse_mil(text, sizeof text - 1, NULL, NULL, &err);
    CHECK_OK(err);
    char *printed = graph != NULL ? mw_graph_print_mil(graph, NULL, &err) : NULL;
    if (CHECK(printed != NULL))
        CHECK_CONTAINS(printed, "fp32(0x1.8p+0)");
    setlocale(LC_NUMERIC, "C");
    mw_string_free(printed);
    mw_graph_destroy(graph);
}

/* ---- memory ---- */

static double bytes_per_byte(const char *text, size_t size, mw_error *err)
{
    meter m = {0};
    const mw_allocator allocator = {.resize = meter_resize, .user = &m};
    mw_graph_options options = mw_graph_defaults();
    options.allocator = &allocator;
    mw_graph_destroy(mw_graph_parse_mil(text, size, NULL, &options, err));
    CHECK_INT(m.held, 0);
    return (double)m.most / (double)size;
}

/* The bound that <millwright/mil.h> states, for the densest text of each kind. */
static void test_memory_is_bounded_by_the_size_of_the_text(void)
{
    static const struct {
        const char *before, *unit, *after;
    } cases[] = {{"zzz(x = list<int8, ?>([", "1,", "1]));"},
                 {"zzz(x = tensor<fp64, [?]>([", "1,", "1]));"},
                 {"zzz(x = list<tensor<int8, [?]>, ?>([", "[],", "[]]));"},
                 {"zzz(x = (", "x,", "x));"},
                 {"zzz(x = (", "(),", "()));"},
                 {"zzz(x = (", "int8(1),", "x));"},
                 {"", "a();", ""},
                 {"", "a(b=x);", ""},
                 {"", "a(b=int8(1));", ""},
                 {"zzz()", "{}->()", ";"},
                 {"zzz(x = list<string, ?>([", "\"\",", "\"\"]));"},
                 {"zzz(x = tuple<", "int8,", "int8>(1));"}};
    double worst = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        builder b = {0};
        mw_error err = {0};
        add(&b, head);
        add(&b, cases[i].before);
        add_times(&b, cases[i].unit, 100000);
        add(&b, cases[i].after);
        add(&b, tail);
        const double ratio = bytes_per_byte(b.text, b.size, &err);
        check_note(ratio <= 128, __FILE__, __LINE__, "\"%s\": %.1f bytes for each byte of text", cases[i].unit, ratio);
        worst = ratio > worst ? ratio : worst;
        free(b.text);
    }
    builder b = {0};
    add(&b, head);
    for (int i = 0; i < 100000; i++) { /* names of one to four letters */
        char unit[32];
        snprintf(unit, sizeof unit, "int8 a%x=a();", (unsigned)i);
        add(&b, unit);
    }
    add(&b, tail);
    mw_error err = {0};
    const double ratio = bytes_per_byte(b.text, b.size, &err);
    CHECK_OK(err);
    check_note(ratio <= 128, __FILE__, __LINE__, "values: %.1f bytes for each byte of text", ratio);
    printf("  at most %.1f bytes for each byte of text\n", ratio > worst ? ratio : worst);
    free(b.text);
}

static void test_a_small_text_cannot_demand_a_huge_tensor(void)
{
    static const char *const literals[] = {"tensor<int8, [1099511627776]>(1)", "tensor<int8, [1099511627776]>([1])",
                                           "tensor<fp64, [1099511627776, 1048576]>(0)",
                                           "tensor<int8, [1099511627776, 0]>([])",
                                           "tensor<int8, [1099511627776, 0]>(1)"};
    for (size_t i = 0; i < sizeof literals / sizeof *literals; i++) {
        meter m = {0};
        mw_error err = {0};
        char text[256];
        const mw_allocator allocator = {.resize = meter_resize, .user = &m};
        mw_graph_options options = mw_graph_defaults();
        options.allocator = &allocator;
        snprintf(text, sizeof text, "program(1.3){func main<ios18>(fp16 x){zzz(x = %s);} -> (x);}", literals[i]);
        mw_graph *graph = mw_graph_parse_mil(text, strlen(text), NULL, &options, &err);
        char *printed = graph != NULL ? mw_graph_print_mil(graph, NULL, &err) : NULL;
        check_note(m.most < 1 << 20, __FILE__, __LINE__, "%s takes %zu bytes", literals[i], m.most);
        mw_string_free(printed);
        mw_graph_destroy(graph);
    }
}

static void test_a_million_operations_are_read(void)
{
    builder b = {0};
    mw_error err = {0};
    add(&b, head);
    for (int i = 0; i < 1000000; i++) {
        char unit[48];
        snprintf(unit, sizeof unit, "fp16 v%d = relu(x = x);\n", i);
        add(&b, unit);
    }
    add(&b, tail);
    mw_graph *graph = mw_graph_parse_mil(b.text, b.size, NULL, NULL, &err);
    CHECK_OK(err);
    if (graph != NULL)
        CHECK_INT(graph->functions[0]->body->op_count, 1000000);
    mw_graph_destroy(graph);
    free(b.text);
}

static void test_too_many_arguments_and_attributes_are_refused(void)
{
    static const char *const forms[] = {"zzz(", "zzz()["};
    for (int form = 0; form < 2; form++) {
        builder b = {0};
        mw_error err = {0};
        add(&b, head);
        add(&b, forms[form]);
        for (int i = 0; i < 300; i++) {
            char unit[48];
            snprintf(unit, sizeof unit, "%sa%d = int8(1)", i > 0 ? ", " : "", i);
            add(&b, unit);
        }
        CHECK(mw_graph_parse_mil(b.text, b.size, NULL, NULL, &err) == NULL);
        CHECK_ERROR(err, MW_ERROR_FORMAT, "more than 256");
        free(b.text);
    }
}

static void test_reading_paths_that_are_no_files_is_an_error(void)
{
    static const char *const paths[] = {"/dev/zero", "/tmp", "/nonexistent/model.mil", ""};
    for (size_t i = 0; i < 4; i++) {
        mw_error err = {0};
        CHECK(mw_graph_open_mil(paths[i], NULL, &err) == NULL);
        check_note(err.status != MW_OK, __FILE__, __LINE__, "\"%s\" was read", paths[i]);
    }
    mw_error err = {0};
    CHECK(mw_graph_open_mil(NULL, NULL, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "NULL");
}

/* A buildInfo is texts for texts; one with none or several in the place of one says nothing. */
static void test_what_a_program_says_is_one_text_for_one(void)
{
    static const char *const types[] = {"[2]", "[0]", "[1]", "[]"}, *const values[] = {"[\"first\", \"second\"]", "[]",
                                                                                       "[\"only\"]", "\"only\""};
    mw_model_options options = mw_model_defaults();
    options.read_only = true;
    for (int i = 0; i < 4; i++) {
        char text[400];
        mw_error err = {0};
        snprintf(text, sizeof text,
                 "program(1.0)\n[buildInfo = dict<tensor<string, []>, tensor<string, %s>>({{\"k\", %s}})]\n{\n"
                 "    func main<ios16>(tensor<fp32, [1]> x) {\n        tensor<fp32, [1]> y = relu(x = x)[name = "
                 "tensor<string, []>(\"y\")];\n    } -> (y);\n}\n",
                 types[i], values[i]);
        folder_put("model.mil", text);
        mw_model *model = mw_model_open("model.mil", &options, &err);
        const mw_description *d = mw_model_get_info(model).description;
        CHECK_OK(err);
        CHECK(i < 2 ? d == NULL : d != NULL && d->pair_count == 1 && strcmp(d->pairs[0].value, "only") == 0);
        mw_model_destroy(model);
    }
}

int main(void)
{
    char folder[512];
    if (!folder_enter(folder))
        return 1;
    RUN(test_text_cut_at_every_byte_is_an_error_with_a_place);
    RUN(test_text_with_any_byte_changed_never_crashes);
    RUN(test_a_nul_byte_is_refused);
    RUN(test_deep_nesting_is_refused);
    RUN(test_a_huge_word_is_refused);
    RUN(test_long_and_strange_names_survive);
    RUN(test_the_locale_does_not_matter);
    RUN(test_memory_is_bounded_by_the_size_of_the_text);
    RUN(test_a_small_text_cannot_demand_a_huge_tensor);
    RUN(test_a_million_operations_are_read);
    RUN(test_too_many_arguments_and_attributes_are_refused);
    RUN(test_reading_paths_that_are_no_files_is_an_error);
    RUN(test_what_a_program_says_is_one_text_for_one);
    folder_leave(folder);
    return check_finish();
}
