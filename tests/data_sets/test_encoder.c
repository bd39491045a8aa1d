/* Encoders of tables: what scikit-learn makes of a table with holes (data/datasets/encoder.py), the same again after
 * the encoder was written and read, forms of files, splits, and what is refused. */
#include "support/check.h"
#include "support/failing.h"
#include "support/folder.h"
#include "support/meter.h"
#include "support/night.h"

#include <math.h>
#include <millwright/data.h>
#include <millwright/millwright.h>
#include <stdlib.h>
#include <string.h>

static const char passengers[] = MW_TESTS_DIR "/data/datasets/passengers.csv";
static const char later[] = MW_TESTS_DIR "/data/datasets/later.csv";

/* ---- against scikit-learn ---- */

/* All of the first file, the fare filled by its median. */
static mw_table_encoder *fit_passengers(mw_dataset **out, const mw_allocator *allocator, mw_error *err)
{
    static const mw_field_setting fare = {.name = "fare", .kind = MW_FIELD_NUMBER, .missing = MW_MISSING_MEDIAN};
    mw_table_fit_options options = mw_table_fit_defaults(passengers, "survived");
    options.fields = &fare;
    options.field_count = 1;
    options.validation = 0;
    options.allocator = allocator;
    mw_dataset *kept_out = NULL;
    mw_table_encoder *encoder = mw_table_encoder_fit(&options, out, &kept_out, err);
    CHECK(kept_out == NULL);
    return encoder;
}

/* What the layer makes of x; [examples, *out_width], freed by the caller. */
static float *run_layer(const mw_table_encoder *encoder, const mw_dataset *set, int64_t *out_width, mw_error *err)
{
    const int64_t n = mw_dataset_examples(set), columns = mw_table_encoder_width(encoder);
    mw_graph *graph = mw_graph_create(NULL, err);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(n, columns));
    mw_tensor *h = mw_table_encoder_layer(encoder, x, "table");
    *out_width = mw_tensor_shape(h).dim[1];
    mw_output(h, "h");
    mw_program *program = mw_program_create(graph, NULL, err);
    float *out = calloc((size_t)(n * *out_width), sizeof *out);
    mw_program_write(program, "x", MW_F32, mw_dataset_column_at(set, 0)->data, (size_t)(n * columns), err);
    mw_program_run(program, err);
    mw_program_read(program, "h", MW_F32, out, (size_t)(n * *out_width), err);
    mw_program_destroy(program);
    mw_graph_destroy(graph);
    return out;
}

static void check_layer(const mw_table_encoder *encoder, const mw_dataset *set, const char *recorded)
{
    mw_error err = {0};
    int64_t width = 0;
    mw_tensors *file = mw_tensors_open(MW_TESTS_DIR "/data/datasets/encoder.npz", &err);
    const mw_tensor_info *info = mw_tensors_find(file, recorded);
    float *h = run_layer(encoder, set, &width, &err);
    CHECK_OK(err);
    REQUIRE(info != NULL && info->shape.dim[0] == mw_dataset_examples(set));
    CHECK_INT(width, info->shape.dim[1]);
    const size_t count = (size_t)mw_shape_count(info->shape);
    double *wanted = calloc(count, sizeof *wanted);
    mw_tensors_read(file, recorded, MW_F64, wanted, count, &err);
    CHECK_OK(err);
    for (size_t i = 0; i < count && width == info->shape.dim[1]; i++)
        check_note(fabs((double)h[i] - wanted[i]) < 3e-5, __FILE__, __LINE__, "%s: row %zu column %zu is %g, not %g",
                   recorded, i / (size_t)width, i % (size_t)width, (double)h[i], wanted[i]);
    free(wanted);
    free(h);
    mw_tensors_destroy(file);
}

static void test_a_table_with_holes_is_encoded_as_scikit_learn_has_it(void)
{
    mw_error err = {0};
    mw_dataset *set = NULL;
    mw_table_encoder *encoder = fit_passengers(&set, NULL, &err);
    CHECK_OK(err);
    REQUIRE(encoder != NULL && set != NULL);
    check_layer(encoder, set, "train");
    mw_dataset *other = mw_table_encoder_open(encoder, later, NULL, &err);
    CHECK_OK(err);
    REQUIRE(other != NULL);
    check_layer(encoder, other, "later");
    mw_dataset_destroy(other);
    mw_dataset_destroy(set);
    mw_table_encoder_destroy(encoder);
}

static void test_what_was_decided_is_said(void)
{
    mw_error err = {0};
    mw_table_encoder *encoder = fit_passengers(NULL, NULL, &err);
    mw_encoded_field f;
    char *said = mw_table_encoder_print(encoder, &err);
    CHECK_CONTAINS(said, "PassengerId               ignored   it counts the rows");
    CHECK_CONTAINS(said, "missing: the median ");
    CHECK_CONTAINS(said, "booked                    date      year about 1912.08, month, weekday, hour, age");
    CHECK_CONTAINS(said, "port                      category  5 words, one-hot: (missing), Cherbourg, ");
    CHECK_CONTAINS(said, "survived                  class     the target, 2 classes");
    mw_string_free(said);
    REQUIRE(mw_table_encoder_field_at(encoder, 8, &f));
    CHECK_STR(f.name, "stamp");
    CHECK(f.offset > 1.6e9 && f.mean > 1.6e9 && f.deviation < 100);
    CHECK(!mw_table_encoder_field_at(encoder, 9, &f) && f.name == NULL);
    const mw_encoded_target target = mw_table_encoder_target(encoder);
    CHECK_STR(target.name, "survived");
    CHECK_INT(target.classes.count, 2);
    CHECK_STR(target.classes.names[1], "yes");
    mw_table_encoder_destroy(encoder);
}

static void test_an_encoder_is_written_and_read_again(void)
{
    mw_error err = {0};
    mw_table_encoder *encoder = fit_passengers(NULL, NULL, &err);
    char *text = mw_table_encoder_write(encoder, &err);
    mw_table_encoder *again = mw_table_encoder_read(text, &err);
    CHECK_OK(err);
    REQUIRE(again != NULL);
    char *text_again = mw_table_encoder_write(again, &err);
    CHECK_STR(text_again, text);
    mw_dataset *other = mw_table_encoder_open(again, later, NULL, &err);
    CHECK_OK(err);
    REQUIRE(other != NULL);
    check_layer(again, other, "later");
    mw_dataset_destroy(other);
    mw_string_free(text_again);
    mw_string_free(text);
    mw_table_encoder_destroy(again);
    mw_table_encoder_destroy(encoder);
}

/* ---- the same table in other clothes ---- */

typedef struct table {
    mw_table_encoder *encoder;
    mw_dataset *training, *validation;
    mw_error err;
} table;

static table fit_with(const mw_table_fit_options *options)
{
    table t = {0};
    t.encoder = mw_table_encoder_fit(options, &t.training, &t.validation, &t.err);
    return t;
}

static table fit_text(const char *path, const char *text, size_t size, const char *target)
{
    FILE *file = fopen(path, "wb");
    if (file != NULL) {
        fwrite(text, 1, size, file);
        fclose(file);
    }
    mw_table_fit_options options = mw_table_fit_defaults(path, target);
    options.validation = 0;
    return fit_with(&options);
}

static void close_table(table *t)
{
    mw_dataset_destroy(t->training);
    mw_dataset_destroy(t->validation);
    mw_table_encoder_destroy(t->encoder);
}

static const float *x_of(const mw_dataset *set) { return mw_dataset_column_at(set, 0)->data; }

static void check_same(const char *name, const char *text, size_t size)
{
    static const char plain[] = "size,na\xc3\xafve,y\n1.5,\xc3\xbc,a\n2.5,z,b\n3.5,z,a\n";
    table first = fit_text("plain.csv", plain, sizeof plain - 1, "y"), other = fit_text(name, text, size, "y");
    check_note(other.encoder != NULL, __FILE__, __LINE__, "%s: %s", name, other.err.message);
    if (other.encoder != NULL) {
        char *a = mw_table_encoder_write(first.encoder, &first.err),
             *b = mw_table_encoder_write(other.encoder, &other.err);
        CHECK_STR(b, a);
        CHECK_INT(mw_dataset_examples(other.training), 3);
        CHECK(memcmp(x_of(first.training), x_of(other.training), 3 * 2 * sizeof(float)) == 0);
        mw_string_free(a);
        mw_string_free(b);
    }
    close_table(&first);
    close_table(&other);
}

static void test_separators_marks_and_encodings_are_found(void)
{
    static const char tabs[] = "size\tna\xc3\xafve\ty\n1.5\t\xc3\xbc\ta\n2.5\tz\tb\n3.5\tz\ta";
    static const char commas[] = "size;na\xc3\xafve;y\r\n1,5;\xc3\xbc;a\r\n\"2,5\";z;b\r\n3,5;z;a\r\n";
    static const char marked[] = "\xef\xbb\xbfsize|\"na\xc3\xafve\"|y\n\n 1.5 |\xc3\xbc|a\n2.5|\"z\"|b\n+3.5|z| a\n";
    static const char latin[] = "size,na\xefve,y\n1.5,\xfc,a\n2.5,z,b\n3.5,z,a\n";
    static const char lines[] = "{\"size\": 1.5, \"na\\u00efve\": \"\xc3\xbc\", \"y\": \"a\"}\n\n"
                                "{\"y\": \"b\", \"size\": 2.5, \"na\xc3\xafve\": \"z\"}\r\n"
                                "{\"size\": \"3.5\", \"na\xc3\xafve\": \"z\", \"y\": \"a\"}";
    char wide[2][256];
    size_t count = 0;
    for (const char *at = latin; *at != '\0'; at++, count++) {
        wide[0][2 * count] = wide[1][2 * count + 1] = *at;
        wide[0][2 * count + 1] = wide[1][2 * count] = 0;
    }
    check_same("tabs.tsv", tabs, sizeof tabs - 1);
    check_same("commas.csv", commas, sizeof commas - 1);
    check_same("marked.csv", marked, sizeof marked - 1);
    check_same("latin.csv", latin, sizeof latin - 1);
    check_same("lines.jsonl", lines, sizeof lines - 1);
    check_same("little.csv", wide[0], 2 * count);
    check_same("big.csv", wide[1], 2 * count);
}

/* ---- kinds ---- */

static mw_field_kind kind_of(const mw_table_encoder *encoder, const char *name)
{
    mw_encoded_field f;
    for (size_t i = 0; mw_table_encoder_field_at(encoder, i, &f); i++)
        if (strcmp(f.name, name) == 0)
            return f.kind;
    return MW_FIELD_FOUND;
}

static void test_kinds_are_found_by_content(void)
{
    static const char text[] = "n,b,yes,day,us,word,empty,word,,y\n"
                               "1,0,true,2026-01-31,1/31/2026,a,,b,4,1.5\n"
                               "2,1,FALSE,2026-02-01,2/1/2026,b,NA,b,5,2.5\n"
                               ",1,true,,12/31/2025,,?,c,6,7\n";
    table t = fit_text("kinds.csv", text, sizeof text - 1, "y");
    CHECK_OK(t.err);
    CHECK_INT(kind_of(t.encoder, "n"), MW_FIELD_NUMBER);
    CHECK_INT(kind_of(t.encoder, "b"), MW_FIELD_BOOLEAN);
    CHECK_INT(kind_of(t.encoder, "yes"), MW_FIELD_BOOLEAN);
    CHECK_INT(kind_of(t.encoder, "day"), MW_FIELD_DATE);
    CHECK_INT(kind_of(t.encoder, "us"), MW_FIELD_DATE);
    CHECK_INT(kind_of(t.encoder, "word"), MW_FIELD_CATEGORY);
    CHECK_INT(kind_of(t.encoder, "word_2"), MW_FIELD_CATEGORY);
    CHECK_INT(kind_of(t.encoder, "empty"), MW_FIELD_IGNORED);
    CHECK_INT(kind_of(t.encoder, "column_9"), MW_FIELD_IGNORED); /* 4, 5, 6 count the rows */
    CHECK_INT(mw_table_encoder_target(t.encoder).kind, MW_TARGET_VALUE);
    close_table(&t);
}

static void test_ids_and_texts_are_encoded_when_they_are_said(void)
{
    static const char text[] = "shop,note,y\n7,red blue,a\n007,Blue red,b\n8.0,green,a\n,,b\n";
    static const mw_field_setting said[] = {{.name = "shop", .kind = MW_FIELD_ID, .width = 3},
                                            {.name = "note", .kind = MW_FIELD_TEXT, .width = 8}};
    table none = fit_text("ids.csv", text, sizeof text - 1, "y");
    close_table(&none);
    mw_table_fit_options options = mw_table_fit_defaults("ids.csv", "y");
    options.fields = said;
    options.field_count = 2;
    options.validation = 0;
    table t = fit_with(&options);
    CHECK_OK(t.err);
    REQUIRE(t.training != NULL);
    CHECK_INT(mw_table_encoder_width(t.encoder), 9);
    const float *x = x_of(t.training);
    CHECK(memcmp(x, x + 9, 9 * sizeof *x) == 0); /* the same words in another order, and the same id */
    CHECK(memcmp(x, x + 18, 8 * sizeof *x) != 0);
    double length = 0;
    for (int i = 0; i < 8; i++)
        length += (double)x[i] * (double)x[i];
    CHECK_NEAR(length, 1, 1e-6);
    CHECK(x[8] == 1 && x[17] == 1 && x[26] == 2 && x[35] == 0); /* "", 7, 8 */
    int64_t width;
    float *h = run_layer(t.encoder, t.training, &width, &t.err);
    CHECK_OK(t.err);
    CHECK_INT(width, 8 + 3);
    free(h);
    close_table(&t);
}

/* ---- targets ---- */

static void test_targets_are_scaled_and_go_back(void)
{
    static const char text[] = "a,price\n1,1000\n2,10000\n3,100000\n";
    table none = fit_text("prices.csv", text, sizeof text - 1, "price");
    close_table(&none);
    mw_table_fit_options options = mw_table_fit_defaults("prices.csv", "price");
    options.target_kind = MW_TARGET_VALUE;
    options.validation = 0;
    for (int scale = MW_TARGET_STANDARD; scale <= MW_TARGET_AS_IT_IS; scale++) {
        options.target_scale = (mw_target_scale)scale;
        table t = fit_with(&options);
        CHECK_OK(t.err);
        REQUIRE(t.training != NULL);
        const float *y = mw_dataset_column_at(t.training, 1)->data;
        const mw_encoded_target target = mw_table_encoder_target(t.encoder);
        for (int i = 0; i < 3; i++) {
            const double value = target.mean + target.deviation * (double)y[i], wanted = pow(10, 3 + i);
            CHECK_NEAR(target.logarithm ? exp(value) / wanted : value / wanted, 1, 1e-5);
        }
        if (scale == MW_TARGET_LOGARITHM)
            CHECK_NEAR((double)y[2], sqrt(1.5), 1e-6);
        mw_graph *graph = mw_graph_create(NULL, &t.err);
        mw_output(mw_table_encoder_unscale(t.encoder, mw_input(graph, "y", MW_F32, MW_SHAPE(3))), "price");
        mw_program *program = mw_program_create(graph, NULL, &t.err);
        float price[3] = {0};
        mw_program_write(program, "y", MW_F32, y, 3, &t.err);
        mw_program_run(program, &t.err);
        mw_program_read(program, "price", MW_F32, price, 3, &t.err);
        CHECK_OK(t.err);
        CHECK_NEAR((double)price[1] / 1e4, 1, 1e-4);
        mw_program_destroy(program);
        mw_graph_destroy(graph);
        close_table(&t);
    }
}

/* ---- splits ---- */

enum { ROWS = 200 };

/* Row i: its number, a class that one in ten has, a group of four rows, a day. */
static void write_rows(void)
{
    FILE *csv = fopen("rows.csv", "w");
    REQUIRE(csv != NULL);
    fputs("n,kind,group,day\n", csv);
    for (int i = 0; i < ROWS; i++) {
        const int day = i * 37 % ROWS;
        fprintf(csv, "%d,%s,g%d,2026-%02d-%02d\n", i * 7 % ROWS, i % 10 == 3 ? "rare" : "usual", i * 11 % 50,
                1 + day / 28, 1 + day % 28);
    }
    fclose(csv);
}

static table split_rows(mw_split_rule rule, const char *field, double share)
{
    static const mw_field_setting number = {.name = "n", .kind = MW_FIELD_NUMBER};
    mw_table_fit_options options = mw_table_fit_defaults("rows.csv", "kind");
    options.fields = &number;
    options.field_count = 1;
    options.only_fields = true;
    options.split = rule;
    options.split_field = field;
    options.validation = share;
    table t = fit_with(&options);
    CHECK_OK(t.err);
    CHECK_INT(mw_dataset_examples(t.training) + mw_dataset_examples(t.validation), ROWS);
    return t;
}

static int64_t count_rare(const mw_dataset *set)
{
    const int64_t *y = mw_dataset_column_at(set, 1)->data;
    int64_t count = 0;
    for (int64_t i = 0; i < mw_dataset_examples(set); i++)
        count += y[i] == 0; /* "rare" is before "usual" */
    return count;
}

/* Which row an example is, by its number. */
static int row_of(float n)
{
    for (int i = 0; i < ROWS; i++)
        if (i * 7 % ROWS == (int)n)
            return i;
    return -1;
}

static void test_rows_are_split_by_share_class_group_and_time(void)
{
    write_rows();
    table t = split_rows(MW_SPLIT_RANDOM, NULL, 0.25);
    CHECK_INT(mw_dataset_examples(t.validation), 50);
    close_table(&t);
    t = split_rows(MW_SPLIT_STRATIFIED, NULL, 0.25);
    CHECK_INT(mw_dataset_examples(t.validation), 50);
    CHECK_INT(count_rare(t.validation), 5);
    close_table(&t);
    t = split_rows(MW_SPLIT_GROUP, "group", 0.2);
    CHECK_INT(mw_dataset_examples(t.validation), 40);
    bool out[50] = {false};
    for (int64_t i = 0; i < mw_dataset_examples(t.validation); i++)
        out[row_of(x_of(t.validation)[i]) * 11 % 50] = true;
    for (int64_t i = 0; i < mw_dataset_examples(t.training); i++)
        CHECK(!out[row_of(x_of(t.training)[i]) * 11 % 50]);
    close_table(&t);
    t = split_rows(MW_SPLIT_TIME, "day", 0.3);
    CHECK_INT(mw_dataset_examples(t.validation), 60);
    for (int64_t i = 0; i < mw_dataset_examples(t.validation); i++)
        CHECK(row_of(x_of(t.validation)[i]) * 37 % ROWS >= 140);
    close_table(&t);
}

/* Nothing of the rows that are kept out is in the means, words and fillings. */
static void test_only_the_training_part_is_fitted(void)
{
    FILE *csv = fopen("part.csv", "w");
    REQUIRE(csv != NULL);
    fputs("time,a,w,y\n", csv);
    for (int i = 0; i < 100; i++)
        fprintf(csv, "%d,%s,%s,%d\n", i,
                i < 80  ? (i % 2 ? "1" : "3")
                : i % 3 ? "1e6"
                        : "",
                i < 80 ? "old" : "new", i % 2);
    fclose(csv);
    mw_table_fit_options options = mw_table_fit_defaults("part.csv", "y");
    options.split = MW_SPLIT_TIME;
    options.split_field = "time";
    options.validation = 0.2;
    table t = fit_with(&options);
    CHECK_OK(t.err);
    mw_encoded_field f;
    REQUIRE(mw_table_encoder_field_at(t.encoder, 1, &f));
    CHECK_NEAR(f.mean, 2, 1e-12);
    CHECK_NEAR(f.deviation, 1, 1e-12);
    CHECK_INT(f.missing, 0);
    REQUIRE(mw_table_encoder_field_at(t.encoder, 2, &f));
    CHECK_INT(f.word_count, 1);
    CHECK_INT(kind_of(t.encoder, "time"), MW_FIELD_IGNORED);
    close_table(&t);
}

static void test_what_is_missing_is_so_in_its_spelling(void)
{
    static const char text[] = "metal,kind\nNa,none\nK,null\nNA,none\n?,some\n n/a ,some\n";
    table t = fit_text("metals.csv", text, sizeof text - 1, "kind");
    CHECK_OK(t.err);
    mw_encoded_field f;
    REQUIRE(mw_table_encoder_field_at(t.encoder, 0, &f));
    CHECK_INT(f.missing, 3);
    CHECK_INT(f.word_count, 3); /* "", K, Na */
    CHECK_INT(mw_table_encoder_target(t.encoder).classes.count, 3);
    close_table(&t);
}

/* ---- small tables ---- */

static void test_tables_of_one_row_and_constant_columns_work(void)
{
    static const char one[] = "a,w,y\n5,x,1.5\n", constant[] = "a,y\n7,1\n7,2\n7,1\n";
    table t = fit_text("one.csv", one, sizeof one - 1, "y");
    CHECK_OK(t.err);
    CHECK_INT(mw_dataset_examples(t.training), 1);
    close_table(&t);
    t = fit_text("constant.csv", constant, sizeof constant - 1, "y");
    CHECK_OK(t.err);
    int64_t width = 0;
    float *h = run_layer(t.encoder, t.training, &width, &t.err);
    CHECK(width == 1 && h[0] == 0 && h[2] == 0);
    free(h);
    char *said = mw_table_encoder_print(t.encoder, &t.err);
    CHECK_CONTAINS(said, "it never changes");
    mw_string_free(said);
    close_table(&t);
}

/* ---- what is refused ---- */

static void check_refused(const char *name, const char *text, const char *said)
{
    table t = fit_text(name, text, strlen(text), "y");
    check_note(t.encoder == NULL && t.training == NULL && strstr(t.err.message, said) != NULL, __FILE__, __LINE__,
               "\"%s\" is not in \"%s\"", said, t.err.message);
    close_table(&t);
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
    check_refused("bad.jsonl", "{\"a\": [1], \"y\": 2}\n", "the table has no field besides");
    CHECK_INT(remove("bad.csv"), 0);
}

static void test_fields_of_another_kind_than_said_are_refused(void)
{
    static const char text[] = "a,y\nx,1\n2,2\n";
    table none = fit_text("said.csv", text, sizeof text - 1, "y");
    close_table(&none);
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
        table t = fit_with(&options);
        CHECK(t.encoder == NULL);
        CHECK_CONTAINS(t.err.message, cases[i].says);
        close_table(&t);
    }
}

static void test_other_files_are_refused_where_they_do_not_fit(void)
{
    mw_error err = {0};
    mw_table_encoder *encoder = fit_passengers(NULL, NULL, &err);
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

enum { KINDS = 6 };

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
                  {"t", MW_FIELD_TEXT, "some words", "others", NULL}};

/* A row in which one cell is another one. */
static void put_cell_row(const char *path, size_t which, const char *text, size_t length)
{
    FILE *csv = fopen(path, "wb");
    REQUIRE(csv != NULL);
    fputs("n,b,d,c,i,t\n", csv);
    for (size_t k = 0; k < KINDS; k++) {
        if (k == which)
            fwrite(text, 1, length, csv);
        else
            fputs(kinds[k].known, csv);
        fputc(k + 1 < KINDS ? ',' : '\n', csv);
    }
    fclose(csv);
}

static table fit_kinds(void)
{
    static const char text[] = "n,b,d,c,i,t,y\n1,yes,2026-11-30,red,7,some words,p\n3,no,2026-12-02,green,8,more,q\n";
    static mw_field_setting said[KINDS];
    table none = fit_text("each.csv", text, sizeof text - 1, "y");
    close_table(&none);
    for (size_t k = 0; k < KINDS; k++)
        said[k] = (mw_field_setting){.name = kinds[k].name, .kind = kinds[k].kind};
    mw_table_fit_options options = mw_table_fit_defaults("each.csv", "y");
    options.fields = said;
    options.field_count = KINDS;
    options.validation = 0;
    table t = fit_with(&options);
    CHECK_OK(t.err);
    return t;
}

static void check_cell(const table *t, size_t which, const char *text, size_t length, const char *refuses)
{
    mw_error err = {0};
    put_cell_row("cell.csv", which, text, length);
    mw_dataset *set = mw_table_encoder_open(t->encoder, "cell.csv", NULL, &err);
    const bool is_taken = set != NULL && err.status == MW_OK;
    check_note(is_taken == (refuses == NULL), __FILE__, __LINE__, "field %s, \"%.20s\": %s", kinds[which].name, text,
               err.message);
    for (int64_t i = 0; is_taken && i < mw_table_encoder_width(t->encoder); i++)
        CHECK(isfinite((double)x_of(set)[i]));
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
    table t = fit_kinds();
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
        check_cell(&t, k, "a\0b", 3, kinds[k].kind == MW_FIELD_CATEGORY ? "no word" : refuses);
        check_cell(&t, k, "\x1b[31m\xe2\x80\xae", 8, refuses);
    }
    close_table(&t);
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
    mw_table_encoder *encoder = fit_passengers(NULL, NULL, &err);
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
        mw_table_encoder *encoder = fit_passengers(&set, &allocator, &err);
        if (encoder != NULL)
            other = mw_table_encoder_open(encoder, later, NULL, &err);
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
    RUN(test_a_table_with_holes_is_encoded_as_scikit_learn_has_it);
    RUN(test_what_was_decided_is_said);
    RUN(test_an_encoder_is_written_and_read_again);
    RUN(test_separators_marks_and_encodings_are_found);
    RUN(test_kinds_are_found_by_content);
    RUN(test_ids_and_texts_are_encoded_when_they_are_said);
    RUN(test_targets_are_scaled_and_go_back);
    RUN(test_rows_are_split_by_share_class_group_and_time);
    RUN(test_only_the_training_part_is_fitted);
    RUN(test_what_is_missing_is_so_in_its_spelling);
    RUN(test_tables_of_one_row_and_constant_columns_work);
    RUN(test_what_is_wrong_is_said_with_its_place);
    RUN(test_fields_of_another_kind_than_said_are_refused);
    RUN(test_other_files_are_refused_where_they_do_not_fit);
    RUN(test_each_kind_has_an_answer_to_any_cell);
    RUN(test_a_million_rows_are_streamed);
    RUN(test_odd_tables_take_no_longer_than_others);
    RUN(test_texts_that_are_no_encoder_are_refused);
    RUN(test_damaged_texts_are_survived);
    RUN(test_every_allocation_may_fail);
    folder_leave(folder);
    return check_finish();
}
