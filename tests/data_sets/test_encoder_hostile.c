/* Encoders of tables: what is refused, with its place; what each kind of field makes of any cell; tables that are
 * large, cut, or made to take long; texts that are no encoder; and every allocation that fails. */
#include "data/records/records.h"
#include "data_sets/encoded.h"
#include "support/check.h"
#include "support/failing.h"
#include "support/folder.h"
#include "support/meter.h"
#include "support/night.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what is refused ---- */

static void check_refused(const char *name, const char *text, const char *said)
{
    encoded t = encoded_text(name, text, strlen(text), "y");
    check_note(t.encoder == NULL && t.training == NULL && strstr(t.err.message, said) != NULL, __FILE__, __LINE__,
               "\"%s\" is not in \"%s\"", said, t.err.message);
    encoded_close(&t);
}

static void test_what_is_wrong_is_said_with_its_place(void)
{
    check_refused("bad.csv", "", "line 1: it is empty");
    check_refused("bad.csv", "a,y\n", "has no rows");
    check_refused("bad.csv", "y\n1\n2\n", "the table has no field besides the target \"y\"");
    check_refused("bad.csv", "a,b\n1,2\n", "has no field \"y\" among its 2");
    check_refused("bad.csv", "a,y\n1,2\n1,2,3\n", "line 3: it has 3 fields, the first line has 2");
    check_refused("bad.csv", "a,y\n\"1,2\n3,4\n", "line 2: the quote is not closed");
    check_refused("bad.csv", "a,y\n\"1\"x,2\n", "line 2: something stands behind the closing quote");
    check_refused("bad.csv", "a,y\n1\"x,2\n", "line 2: a quote in a field that is not quoted");
    check_refused("bad.csv", "a,y\n1,b\n2,\n", "line 3, field \"y\": the target is missing; leave the row out");
    check_refused("bad.csv", "a,y\n1,1\n2,2\n3,1\n4,1\n5,1\n6,1\n7,1\n8,2\n9,1\n1O,1\n",
                  "line 11, field \"a\": \"1O\" is no number, as 9 of its 10 cells are; mend it");
    check_refused("bad.csv", "a,y\n\"1,234.5\",b\n12,c\n",
                  "line 2, field \"a\": \"1,234.5\" has its digits in groups; write the numbers of the field without");
    check_refused("bad.csv", "a;y\n1.234;b\n12,5;c\n1.234.567,5;d\n", "line 2, field \"a\": \"1.234\" has its digits");
    check_refused("bad.csv", "a,y\n1/2/2026,b\n2/3/2026,c\n", "cannot be told apart, as none is above 12");
    check_refused("bad.csv", "a,y\n1e39,b\n2,c\n", "\"1e39\" is no number that fp32 has");
    check_refused("bad.jsonl", "{\"a\": 1, \"y\": 2}\n[1]\n", "line 2: the line is no JSON object");
    check_refused("bad.jsonl", "{\"a\": 1, \"y\": 2}\n{\"a\": }\n", "line 2: JSON:");
    check_refused("bad.jsonl", "{\"a\": [[1]], \"y\": 2}\n", "the table has no field besides");
    CHECK_INT(remove("bad.csv"), 0);
}

static void test_fields_of_another_kind_than_said_are_refused(void)
{
    static const char text[] = "a,y\nx,1\n2,2\n";
    encoded none = encoded_text("said.csv", text, sizeof text - 1, "y");
    encoded_close(&none);
    mw_table_fit_options options = mw_table_fit_defaults("said.csv", "y");
    mw_field_setting said = {.name = "a", .kind = MW_FIELD_NUMBER};
    options.fields = &said;
    options.field_count = 1;
    options.validation = 0;
    static const struct {
        mw_field_kind kind;
        const char *says;
    } cases[] = {{MW_FIELD_NUMBER, "line 2, field \"a\": \"x\" is no finite number; mend it"},
                 {MW_FIELD_BOOLEAN, "line 2, field \"a\": \"x\" is no truth, as true or no"},
                 {MW_FIELD_DATE, "line 2, field \"a\": \"x\" is no date"},
                 {MW_FIELD_ID, "line 2, field \"a\": \"x\" is no integer"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        said.kind = cases[i].kind;
        encoded t = encoded_with(&options);
        CHECK(t.encoder == NULL);
        CHECK_CONTAINS(t.err.message, cases[i].says);
        encoded_close(&t);
    }
}

static void test_other_files_are_refused_where_they_do_not_fit(void)
{
    mw_error err = {0};
    mw_table_encoder *encoder = encoded_passengers(NULL, NULL, &err);
    folder_put("other.csv", "age\n1\n");
    CHECK(mw_table_encoder_open(encoder, "other.csv", NULL, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_FORMAT, "has no field \"fare\" among its 1");
    mw_error_clear(&err);
    folder_put("third.csv",
               "age,fare,class,sex,port,married,booked,stamp,survived\n1,1,1,male,x,no,1912-01-01,1,maybe\n");
    CHECK(mw_table_encoder_open(encoder, "third.csv", NULL, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_FORMAT, "field \"survived\": \"maybe\" is none of the 2 classes that were learned");
    mw_error_clear(&err);
    folder_put("without.csv", "stamp,age,fare,class,sex,port,married,booked\n1,1,1,1,male,x,no,1912-01-01\n");
    mw_dataset *set = mw_table_encoder_open(encoder, "without.csv", NULL, &err);
    CHECK_OK(err);
    CHECK(mw_dataset_column_at(set, 1) == NULL);
    mw_dataset_destroy(set);
    mw_table_encoder_destroy(encoder);
}

/* ---- each kind with what is missing, unknown, hostile ---- */

enum { KINDS = 7 };

static const struct {
    const char *name;
    mw_field_kind kind;
    const char *known, *unknown; /* NULL: no value is */
    const char *refuses;         /* what is said of a word; NULL = it is a value */
} kinds[KINDS] = {{"n", MW_FIELD_NUMBER, "2", "-1e30", "no finite number"},
                  {"b", MW_FIELD_BOOLEAN, "yes", NULL, "no truth, as true or no"},
                  {"d", MW_FIELD_DATE, "2026-12-01", "0001-01-01", "no date"},
                  {"c", MW_FIELD_CATEGORY, "red", "blue", NULL},
                  {"i", MW_FIELD_ID, "7", "-9007199254740992", "no integer"},
                  {"t", MW_FIELD_TEXT, "some words", "others", NULL},
                  {"s", MW_FIELD_SEQUENCE, "3 1 2", "9 3 9", NULL}};

/* A row in which one cell is another one. */
static void put_cell_row(const char *path, size_t which, const char *text, size_t length)
{
    FILE *csv = fopen(path, "wb");
    REQUIRE(csv != NULL);
    fputs("n,b,d,c,i,t,s\n", csv);
    for (size_t k = 0; k < KINDS; k++) {
        if (k == which)
            fwrite(text, 1, length, csv);
        else
            fputs(kinds[k].known, csv);
        fputc(k + 1 < KINDS ? ',' : '\n', csv);
    }
    fclose(csv);
}

static encoded fit_kinds(void)
{
    static const char text[] =
        "n,b,d,c,i,t,s,y\n1,yes,2026-11-30,red,7,some words,1 2,p\n3,no,2026-12-02,green,8,more,[3],q\n";
    static mw_field_setting said[KINDS];
    encoded none = encoded_text("each.csv", text, sizeof text - 1, "y");
    encoded_close(&none);
    for (size_t k = 0; k < KINDS; k++)
        said[k] = (mw_field_setting){.name = kinds[k].name, .kind = kinds[k].kind};
    mw_table_fit_options options = mw_table_fit_defaults("each.csv", "y");
    options.fields = said;
    options.field_count = KINDS;
    options.validation = 0;
    encoded t = encoded_with(&options);
    CHECK_OK(t.err);
    return t;
}

static void check_cell(const encoded *t, size_t which, const char *text, size_t length, const char *refuses)
{
    mw_error err = {0};
    put_cell_row("cell.csv", which, text, length);
    mw_dataset *set = mw_table_encoder_open(t->encoder, "cell.csv", NULL, &err);
    const bool is_taken = set != NULL && err.status == MW_OK;
    check_note(is_taken == (refuses == NULL), __FILE__, __LINE__, "field %s, \"%.20s\": %s", kinds[which].name, text,
               err.message);
    for (int64_t i = 0; is_taken && i < mw_table_encoder_width(t->encoder); i++)
        CHECK(isfinite((double)encoded_x(set)[i]));
    if (refuses != NULL) {
        char place[40];
        snprintf(place, sizeof place, "\"cell.csv\", line 2, field \"%s\": ", kinds[which].name);
        CHECK_CONTAINS(err.message, place);
        CHECK_CONTAINS(err.message, refuses);
        CHECK_INT(err.text_line, 2);
    }
    mw_dataset_destroy(set);
}

static void test_each_kind_has_an_answer_to_any_cell(void)
{
    enum { LONG = 100000 };
    static char large[LONG];
    encoded t = fit_kinds();
    memset(large, 'x', LONG);
    for (size_t k = 0; k < KINDS; k++) {
        const char *refuses = kinds[k].refuses;
        check_cell(&t, k, "", 0, NULL);
        check_cell(&t, k, "N/A", 3, NULL);
        if (kinds[k].unknown != NULL)
            check_cell(&t, k, kinds[k].unknown, strlen(kinds[k].unknown), NULL);
        check_cell(&t, k, "word", 4, refuses);
        check_cell(&t, k, large, LONG, refuses);
        check_cell(&t, k, "1e400", 5, refuses);
        check_cell(&t, k, "a\0b", 3,
                   kinds[k].kind == MW_FIELD_CATEGORY || kinds[k].kind == MW_FIELD_SEQUENCE ? "no word" : refuses);
        check_cell(&t, k, "\x1b[31m\xe2\x80\xae", 8, refuses);
    }
    encoded_close(&t);
}

static void test_a_table_cut_anywhere_is_refused_or_has_fewer_rows(void)
{
    static const char *const texts[] = {
        "a,w,d,y\n1.5,\"x, \"\"y\"\"\",2026-01-31 10:30,p\r\n,z,NA,q\n2,x,2026-02-01 09:15,p\n",
        "{\"a\": 1, \"y\": \"p\"}\n{\"a\": null, \"y\": \"q\"}\n{\"y\": \"p\", \"a\": 3}\n"};
    static const char *const paths[] = {"cut.csv", "cut.jsonl"};
    for (int k = 0; k < 2; k++) {
        for (size_t size = 0; size <= strlen(texts[k]); size++) {
            encoded t = encoded_text(paths[k], texts[k], size, "y");
            check_note(t.encoder != NULL ? mw_dataset_examples(t.training) <= 3
                                         : t.err.status == MW_ERROR_FORMAT || t.err.status == MW_ERROR_ARGUMENT,
                       __FILE__, __LINE__, "%s of %zu bytes: %s", paths[k], size, t.err.message);
            encoded_close(&t);
        }
    }
}

/* ---- large tables ---- */

/* 10^6 rows, at night 10^7, while no more memory is held than the header says: 2 MiB, 5 bytes a row, the words. */
static void test_a_million_rows_are_streamed(void)
{
    const int rows = night_has_come() ? 10000000 : 1000000;
    FILE *csv = fopen("large.csv", "w");
    REQUIRE(csv != NULL);
    fputs("a,w,y\n", csv);
    for (int i = 0; i < rows; i++)
        fprintf(csv, "%d,%s,%c\n", i % 1000, i % 3 ? "x" : "", "pq"[i & 1]);
    fclose(csv);
    meter m = {0};
    const mw_allocator allocator = {.resize = meter_resize, .user = &m};
    mw_table_fit_options options = mw_table_fit_defaults("large.csv", NULL);
    options.allocator = &allocator;
    mw_error err = {0};
    mw_table_encoder *encoder = mw_table_encoder_fit(&options, NULL, NULL, &err);
    CHECK_OK(err);
    CHECK(m.most < (2 << 20) + 5 * (size_t)rows);
    mw_encoded_field f;
    REQUIRE(mw_table_encoder_field_at(encoder, 0, &f));
    CHECK_NEAR(f.mean, 499.5, 1);
    mw_table_encoder_destroy(encoder);
    CHECK_INT(m.held, 0);
    remove("large.csv");
}

/* What would take long if any of it were looked at again for each row or name. */
static void test_odd_tables_take_no_longer_than_others(void)
{
    enum { NAMES = 60000 };
    FILE *csv = fopen("names.csv", "w");
    REQUIRE(csv != NULL);
    for (int i = 0; i < NAMES; i++)
        fputs("a,", csv);
    fputs("y\n", csv);
    for (int i = 0; i < NAMES; i++)
        fputs("1,", csv);
    fputs("p\n", csv);
    fclose(csv);
    mw_error err = {0};
    mw_table_fit_options options = mw_table_fit_defaults("names.csv", NULL);
    mw_table_encoder *encoder = mw_table_encoder_fit(&options, NULL, NULL, &err);
    CHECK_OK(err);
    mw_encoded_field f;
    REQUIRE(mw_table_encoder_field_at(encoder, NAMES - 1, &f));
    CHECK_STR(f.name, "a_60000");
    mw_table_encoder_destroy(encoder);
    FILE *quotes = fopen("quotes.csv", "w");
    REQUIRE(quotes != NULL);
    fputs("a,y\n", quotes);
    for (int i = 0; i < 4000000; i++)
        fputc('"', quotes);
    fclose(quotes);
    options.path = "quotes.csv";
    CHECK(mw_table_encoder_fit(&options, NULL, NULL, &err) == NULL);
    CHECK_INT(err.status, MW_ERROR_FORMAT);
}

/* A file is read several times, and another program may write to it. */
static void test_a_file_that_grows_meanwhile_is_refused(void)
{
    mw_error err = {0};
    mw__records rows;
    bool more = false;
    folder_put("grows.csv", "a,y\n1,p\n2,q\n");
    CHECK_INT(mw__records_open(&rows, mw__allocator_or_default(NULL), "grows.csv", NULL, &err), MW_OK);
    rows.rows_max = 1;
    CHECK_INT(mw__records_next(&rows, &more, &err), MW_OK);
    CHECK_INT(mw__records_next(&rows, &more, &err), MW_ERROR_FORMAT);
    CHECK_ERROR(err, MW_ERROR_FORMAT, "\"grows.csv\" has changed while it was read");
    mw__records_close(&rows);
}

/* ---- texts of encoders ---- */

static void test_texts_that_are_no_encoder_are_refused(void)
{
    static const char *const texts[] = {
        "",
        "{}",
        "[]",
        "{\"version\": 1}",
        "{\"version\": 2}",
        "{\"version\": 1, \"fields\": [1], \"target\": {}}",
        "{\"version\": 1, \"target\": {\"name\": \"y\", \"kind\": \"value\"}, \"fields\": []}",
        "{\"version\": 1, \"target\": {\"name\": \"y\", \"kind\": \"class\"}, \"fields\": [{\"name\": \"a\", \"kind\": "
        "\"number\"}]}",
        "{\"version\": 1, \"target\": {\"name\": \"y\", \"kind\": \"value\"}, \"fields\": [{\"kind\": \"number\"}]}",
        "{\"version\": 1, \"target\": {\"name\": \"y\", \"kind\": \"value\"}, \"fields\": [{\"name\": \"a\", \"kind\": "
        "\"number\", \"mean\": 1e999}]}",
        "{\"version\": 1, \"target\": {\"name\": \"y\", \"kind\": \"value\"}, \"fields\": [{\"name\": \"a\", \"kind\": "
        "\"text\", \"width\": 99999}]}",
        "{\"version\": 1, \"target\": {\"name\": \"y\", \"kind\": \"value\"}, \"fields\": [{\"name\": \"a\", \"kind\": "
        "\"category\", \"words\": [\"x\", \"x\"]}]}",
        "{\"version\": 1, \"target\": {\"name\": \"y\", \"kind\": \"value\"}, \"fields\": [{\"name\": \"a\", \"kind\": "
        "\"number\", \"words\": \"x\"}]}",
        "{\"version\": 1, \"target\": {\"name\": \"y\", \"kind\": \"value\"}, \"fields\": [{\"name\": \"y\", \"kind\": "
        "\"number\"}]}",
        "{\"version\": 1, \"target\": {\"name\": \"y\", \"kind\": \"value\"}, \"fields\": [{\"name\": \"a\", \"kind\": "
        "\"ignored\"}]}"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        mw_error err = {0};
        check_note(mw_table_encoder_read(texts[i], &err) == NULL && err.status == MW_ERROR_FORMAT, __FILE__, __LINE__,
                   "%s is taken", texts[i]);
    }
}

/* A text that is cut, or has another byte, is an encoder or refused, and never more. */
static void test_damaged_texts_are_survived(void)
{
    mw_error err = {0};
    mw_table_encoder *encoder = encoded_passengers(NULL, NULL, &err);
    char *text = mw_table_encoder_write(encoder, &err);
    const size_t size = text != NULL ? strlen(text) : 0;
    for (size_t i = 0; i < size; i++) {
        const char kept = text[i];
        for (int k = 0; k < 3; k++) {
            mw_error none = {0};
            text[i] = "\0}9"[k];
            mw_table_encoder *read = mw_table_encoder_read(text, &none);
            CHECK(k > 0 || read == NULL);
            mw_table_encoder_destroy(read);
        }
        text[i] = kept;
    }
    mw_string_free(text);
    mw_table_encoder_destroy(encoder);
}

/* ---- without memory ---- */

static void test_every_allocation_may_fail(void)
{
    for (long n = 0;; n++) {
        failing_allocator failing = {.fail_at = n};
        const mw_allocator allocator = failing_allocator_of(&failing);
        mw_error err = {0};
        mw_dataset *set = NULL, *other = NULL;
        mw_table_encoder *encoder = encoded_passengers(&set, &allocator, &err);
        if (encoder != NULL)
            other = mw_table_encoder_open(encoder, encoded_later, NULL, &err);
        check_note(err.status == (failing.failed ? MW_ERROR_MEMORY : MW_OK), __FILE__, __LINE__, "allocation %ld: %s",
                   n, err.message);
        mw_dataset_destroy(other);
        mw_dataset_destroy(set);
        mw_table_encoder_destroy(encoder);
        CHECK_INT(failing.live, 0);
        if (!failing.failed)
            break;
    }
}

int main(void)
{
    char folder[512];
    if (!folder_enter(folder))
        return 1;
    RUN(test_what_is_wrong_is_said_with_its_place);
    RUN(test_fields_of_another_kind_than_said_are_refused);
    RUN(test_other_files_are_refused_where_they_do_not_fit);
    RUN(test_each_kind_has_an_answer_to_any_cell);
    RUN(test_a_table_cut_anywhere_is_refused_or_has_fewer_rows);
    RUN(test_a_million_rows_are_streamed);
    RUN(test_odd_tables_take_no_longer_than_others);
    RUN(test_a_file_that_grows_meanwhile_is_refused);
    RUN(test_texts_that_are_no_encoder_are_refused);
    RUN(test_damaged_texts_are_survived);
    RUN(test_every_allocation_may_fail);
    folder_leave(folder);
    return check_finish();
}
