/* Tables: what Python's csv and json wrote is read as Python reads it (data/datasets/tables.py), and what is no such
 * file is refused with its line, whole, cut or without memory. */
#include "runtime/files.h"
#include "support/check.h"
#include "support/failing.h"

#include <millwright/data.h>
#include <millwright/millwright.h>
#include <stdlib.h>

static const char *const fields[] = {"the \"width\"", "petal, length"};
static const mw_table_column asked[] = {
    {.name = "x", .dtype = MW_F32, .fields = fields, .field_count = 2},
    {.name = "y", .dtype = MW_I64, .classes = true, .fields = (const char *const[]){"kind"}, .field_count = 1},
    {.name = "count", .dtype = MW_I64},
    {.name = "nested", .dtype = MW_F32},
    {.name = "flag", .dtype = MW_U8},
};
enum { CSV_COLUMNS = 3, JSON_COLUMNS = 5 };

static bool is_json(const char *name) { return strstr(name, ".jsonl") != NULL; }

static mw_dataset *open_with(const char *path, const mw_table_options *options, mw_error *err)
{
    return is_json(path) ? mw_dataset_open_jsonl(path, options, err) : mw_dataset_open_csv(path, options, err);
}

static mw_table_options options_of(const char *name)
{
    mw_table_options options = mw_table_defaults(asked, is_json(name) ? JSON_COLUMNS : CSV_COLUMNS);
    options.separator = strncmp(name, "all_", 4) == 0 ? ';' : ',';
    return options;
}

static const char *data_path(const char *name)
{
    static char path[200];
    snprintf(path, sizeof path, "data/datasets/%s", name);
    return path;
}

/* ---- against Python ---- */

static bool value_is(const mw_column *column, size_t i, char **at)
{
    uint32_t bits;
    switch (column->dtype) {
    case MW_F32:
        memcpy(&bits, (const float *)column->data + i, sizeof bits);
        return bits == strtoul(*at, at, 16);
    case MW_I64:
        return ((const int64_t *)column->data)[i] == strtoll(*at, at, 10);
    default:
        return ((const uint8_t *)column->data)[i] == strtoul(*at, at, 10);
    }
}

/* "file column value .." */
static void check_recorded(char *line)
{
    char name[32], wanted[32];
    REQUIRE(sscanf(line, "%31s %31s", name, wanted) == 2);
    char *at = line + strlen(name) + strlen(wanted) + 1;
    mw_error err = {0};
    const mw_table_options options = options_of(name);
    mw_dataset *dataset = open_with(data_path(name), &options, &err);
    CHECK_OK(err);
    REQUIRE(dataset != NULL);
    CHECK_INT(mw_dataset_examples(dataset), 11);
    const mw_column *column;
    for (size_t i = 0; (column = mw_dataset_column_at(dataset, i)) != NULL; i++) {
        if (strcmp(column->name, wanted) != 0)
            continue;
        const size_t count = 11 * (size_t)mw_shape_count(column->shape);
        for (size_t k = 0; k < count; k++)
            check_note(value_is(column, k, &at), __FILE__, __LINE__, "%s: value %zu of %s differs", name, k, wanted);
        CHECK_INT(strspn(at, " \n"), strlen(at));
    }
    REQUIRE(mw_dataset_classes(dataset, "y").count == 5);
    CHECK_STR(mw_dataset_classes(dataset, "y").names[0], "Zebra");
    CHECK_STR(mw_dataset_classes(dataset, "y").names[4], "versi\ncolor");
    CHECK(mw_dataset_classes(dataset, "x").count == 0 && mw_dataset_classes(dataset, "x").names == NULL);
    mw_dataset_destroy(dataset);
}

static void test_tables_are_read_as_python_reads_them(void)
{
    FILE *file = fopen("data/datasets/tables.txt", "r");
    REQUIRE(file != NULL);
    int lines = 0;
    for (char line[2000]; fgets(line, sizeof line, file) != NULL;) {
        if (line[0] == '#')
            continue;
        check_recorded(line);
        lines++;
    }
    fclose(file);
    CHECK_INT(lines, 11);
}

/* ---- forms ---- */

static mw_dataset *open_text(bool json, const char *text, const mw_table_options *options, mw_error *err)
{
    const char *path = scratch(json ? "table.jsonl" : "table.csv");
    put_file(path, text, strlen(text));
    return open_with(path, options, err);
}

static void test_rows_without_a_header_have_numbered_fields(void)
{
    mw_error err = {0};
    const mw_table_column column = {.name = "1", .dtype = MW_I32, .scale = 2};
    mw_table_options options = mw_table_defaults(&column, 1);
    options.no_header = true;
    options.separator = '\t';
    mw_dataset *dataset = open_text(false, "a\t 3 \nb\t4.0\n\n\nc\t-5e0", &options, &err);
    CHECK_OK(err);
    REQUIRE(dataset != NULL);
    const mw_column *got = mw_dataset_column_at(dataset, 0);
    const int32_t *values = got->data;
    CHECK_INT(mw_dataset_examples(dataset), 3);
    CHECK(values[0] == 3 && values[1] == 4 && values[2] == -5);
    CHECK(got->shape.rank == 0 && got->scale == 2.0f);
    mw_dataset_destroy(dataset);
}

static void test_classes_may_be_given_and_are_passed_on(void)
{
    mw_error err = {0};
    static const char *const names[] = {"dog", "cat", "cow"};
    const mw_table_column column = {
        .name = "y", .dtype = MW_I32, .classes = true, .class_names = names, .class_count = 3};
    const mw_table_options options = mw_table_defaults(&column, 1);
    mw_dataset *dataset = open_text(true, "{\"y\":\"cat\"}\r\n\n{\"y\":\"dog\"}", &options, &err);
    REQUIRE(dataset != NULL);
    const int32_t *labels = mw_dataset_column_at(dataset, 0)->data;
    CHECK(labels[0] == 1 && labels[1] == 0);
    mw_dataset *ahead = mw_dataset_prefetch(dataset, 1, &err);
    mw_dataset_destroy(dataset);
    CHECK_INT(mw_dataset_classes(ahead, "y").count, 3);
    CHECK_STR(mw_dataset_classes(ahead, "y").names[2], "cow");
    mw_dataset_destroy(ahead);
    CHECK(open_text(true, "{\"y\":\"cat\"}\n{\"y\":\"bird\"}", &options, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_FORMAT, "line 2, field \"y\": \"bird\" is none of the 3 classes");
}

/* ---- refusals ---- */

typedef struct bad_text {
    const char *text, *part;
    int line, column; /* 0 = none */
} bad_text;

static void refuse_all(bool json, const bad_text *cases, size_t count, const mw_table_options *options)
{
    for (size_t i = 0; i < count; i++) {
        mw_error err = {0};
        CHECK(open_text(json, cases[i].text, options, &err) == NULL);
        CHECK_CONTAINS(err.message, cases[i].part);
        CHECK(err.status == MW_ERROR_FORMAT || err.status == MW_ERROR_ARGUMENT);
        CHECK_INT(err.text_line, cases[i].line);
        CHECK_INT(err.text_column, cases[i].column);
    }
}

static void test_csv_is_refused_with_line_and_column(void)
{
    static const mw_table_column columns[] = {{.name = "a", .dtype = MW_F32}, {.name = "b", .dtype = MW_U8}};
    const mw_table_options options = mw_table_defaults(columns, 2);
    static const bad_text cases[] = {
        {"", "is empty", 0, 0},
        {"\n\r\n", "is empty", 0, 0},
        {"a,b\n", "no rows", 0, 0},
        {"a,c\n1,2\n", "no field \"b\"", 0, 0},
        {"a,b,a\n1,2,3\n", "more than one field \"a\"", 0, 0},
        {"a,b\n1,2\n1\n", "line 3: it has 1 fields, the first line 2", 3, 1},
        {"a,b\n1,2,3\n", "3 fields", 2, 1},
        {"a,b\n1,\n", "line 2, field \"b\": it is empty", 2, 3},
        {"a,b\nx,2\n", "\"x\" is no finite number of F32", 2, 1},
        {"a,b\n1e39,2\n", "no finite number", 2, 1},
        {"a,b\nnan,2\n", "no finite number", 2, 1},
        {"a,b\n1 2,2\n", "no finite number", 2, 1},
        {"a,b\n1,256\n", "256 does not fit", 2, 3},
        {"a,b\n1,-1\n", "-1 does not fit", 2, 3},
        {"a,b\n1,2.5\n", "\"2.5\" is no integer", 2, 3},
        {"a,b\n1,9223372036854775808\n", "no integer of 64 bits", 2, 3},
        {"a,b\n\"1,2\n", "quote is not closed", 2, 1},
        {"a,b\n\"1\"x,2\n", "behind the closing quote", 2, 4},
        {"a,b\n1\",2\n", "a quote in a field", 2, 2},
        {"a,b\n1,\"\n\n2\"\n3,x\n", "no integer", 2, 3},
    };
    refuse_all(false, cases, sizeof cases / sizeof *cases, &options);
    mw_error err = {0};
    put_file(scratch("nul.csv"), "a,b\n1,\0\n", 8);
    CHECK(mw_dataset_open_csv(scratch("nul.csv"), &options, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_FORMAT, "NUL");
}

static void test_json_lines_are_refused_with_their_line(void)
{
    static const mw_table_column columns[] = {{.name = "a", .dtype = MW_F64}, {.name = "b", .dtype = MW_I32}};
    const mw_table_options options = mw_table_defaults(columns, 2);
    static const bad_text cases[] = {
        {"", "no rows", 0, 0},
        {"[1]", "no JSON object", 1, 1},
        {"{\"a\":1,\"b\":2}\n7", "line 2: the line is no JSON object", 2, 1},
        {"{\"a\":1}", "field \"b\": it is missing", 1, 1},
        {"{\"a\":null,\"b\":2}", "field \"a\": it is null", 1, 1},
        {"{\"a\":{},\"b\":2}", "field \"a\": it is null or an object", 1, 1},
        {"{\"a\":\"1\",\"b\":2}", "\"1\" is a word", 1, 1},
        {"{\"a\":1,\"b\":2147483648}", "2147483648 does not fit", 1, 1},
        {"{\"a\":1e999,\"b\":2}", "no finite number of F64", 1, 1},
        {"{\"a\":[1,2],\"b\":2}\n{\"a\":[1],\"b\":2}", "line 2: column \"a\" has 1 values here, and 2", 2, 1},
        {"{\"a\":[],\"b\":2}", "0 values", 1, 1},
        {"{\"a\":1,\"b\":2}\n{\"a\":1,\"a\":1,\"b\":2}", "line 2", 2, 8},
        {"{\"a\":1,\"b\":2}\n\n{\"a\":01,\"b\":2}", "line 3", 3, 6},
        {"{\"a\":1,\"b\":2", "JSON", 1, 13},
    };
    refuse_all(true, cases, sizeof cases / sizeof *cases, &options);
}

static void refuse_columns(mw_table_column column, mw_status status, const char *part)
{
    mw_error err = {0};
    const mw_table_options options = mw_table_defaults(&column, 1);
    CHECK(open_text(false, "a\n1\n", &options, &err) == NULL);
    CHECK_ERROR(err, status, part);
}

static void test_options_that_make_no_sense_are_refused(void)
{
    static const char *const twice[] = {"a", "a"}, *const none[] = {NULL};
    refuse_columns((mw_table_column){.dtype = MW_F32}, MW_ERROR_ARGUMENT, "no name");
    refuse_columns((mw_table_column){.name = "a", .dtype = MW_F16}, MW_ERROR_DTYPE, "F64, F32, I64, I32 or U8");
    refuse_columns((mw_table_column){.name = "a", .dtype = MW_F32, .classes = true}, MW_ERROR_DTYPE, "classes are");
    refuse_columns((mw_table_column){.name = "a", .dtype = MW_F32, .field_count = 1}, MW_ERROR_ARGUMENT, "no fields");
    refuse_columns((mw_table_column){.name = "a", .dtype = MW_F32, .fields = none, .field_count = 1}, MW_ERROR_ARGUMENT,
                   "field 0");
    refuse_columns((mw_table_column){.name = "a", .dtype = MW_I32, .class_names = twice, .class_count = 2},
                   MW_ERROR_ARGUMENT, "`classes` is not set");
    refuse_columns(
        (mw_table_column){.name = "a", .dtype = MW_I32, .classes = true, .class_names = twice, .class_count = 2},
        MW_ERROR_ARGUMENT, "the name of another");
    refuse_columns((mw_table_column){.name = "a", .dtype = MW_I32, .classes = true, .fields = twice, .field_count = 2},
                   MW_ERROR_ARGUMENT, "not of one");
    mw_error err = {0};
    mw_table_options options = mw_table_defaults(asked, 1);
    CHECK(mw_dataset_open_csv("no/such/file.csv", &options, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_FILE, "no/such/file.csv");
    err = (mw_error){0};
    options.separator = 'x';
    CHECK(open_text(false, "a\n1\n", &options, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "separator");
}

static void test_too_many_classes_are_refused(void)
{
    mw_error err = {0};
    char text[2000] = "y\n";
    const mw_table_column column = {.name = "y", .dtype = MW_U8, .classes = true};
    const mw_table_options options = mw_table_defaults(&column, 1);
    for (int i = 0; i < 257; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "w%d\n", i);
    CHECK(open_text(false, text, &options, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_FORMAT, "line 258, field \"y\": \"w256\" is class 256");
}

/* ---- cut, and without memory ---- */

static void test_a_file_cut_anywhere_is_refused_or_has_fewer_rows(void)
{
    static const char *const names[] = {"quoted.csv", "all_quoted.csv", "rows.jsonl"};
    for (int i = 0; i < 3; i++) {
        size_t size;
        unsigned char *bytes = get_file(data_path(names[i]), &size);
        REQUIRE(bytes != NULL);
        const char *path = scratch(names[i]);
        const mw_table_options options = options_of(names[i]);
        for (size_t cut = 0; cut < size; cut++) {
            mw_error err = {0};
            put_file(path, bytes, cut);
            mw_dataset *dataset = open_with(path, &options, &err);
            CHECK((dataset != NULL) == (err.status == MW_OK));
            CHECK(mw_dataset_examples(dataset) <= 11);
            mw_dataset_destroy(dataset);
        }
        free(bytes);
    }
}

static void test_tables_survive_failing_allocations(void)
{
    static const char *const names[] = {"quoted.csv", "rows.jsonl"};
    for (int i = 0; i < 2; i++) {
        bool finished = false;
        for (long n = 0; !finished && n < 3000; n++) {
            failing_allocator failing = {.fail_at = n};
            const mw_allocator allocator = failing_allocator_of(&failing);
            mw_error err = {0};
            mw_table_options options = options_of(names[i]);
            options.allocator = &allocator;
            mw_dataset *dataset = open_with(data_path(names[i]), &options, &err);
            finished = dataset != NULL;
            CHECK(finished == !failing.failed);
            CHECK_INT(err.status, failing.failed ? MW_ERROR_MEMORY : MW_OK);
            mw_dataset_destroy(dataset);
            CHECK_INT(failing.live, 0);
        }
        CHECK(finished);
    }
}

int main(void)
{
    RUN(test_tables_are_read_as_python_reads_them);
    RUN(test_rows_without_a_header_have_numbered_fields);
    RUN(test_classes_may_be_given_and_are_passed_on);
    RUN(test_csv_is_refused_with_line_and_column);
    RUN(test_json_lines_are_refused_with_their_line);
    RUN(test_options_that_make_no_sense_are_refused);
    RUN(test_too_many_classes_are_refused);
    RUN(test_a_file_cut_anywhere_is_refused_or_has_fewer_rows);
    RUN(test_tables_survive_failing_allocations);
    return check_finish();
}
