/* Encoders of tables: what scikit-learn makes of a table with holes (data/datasets/encoder.py), the same again after
 * the encoder was written and read, forms of files, and splits. */
#include "data_sets/encoded.h"
#include "support/check.h"
#include "support/folder.h"

#include <math.h>
#include <millwright/data.h>
#include <millwright/millwright.h>
#include <stdlib.h>
#include <string.h>

/* ---- against scikit-learn ---- */

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
    mw_table_encoder *encoder = encoded_passengers(&set, NULL, &err);
    CHECK_OK(err);
    REQUIRE(encoder != NULL && set != NULL);
    check_layer(encoder, set, "train");
    mw_dataset *other = mw_table_encoder_open(encoder, encoded_later, NULL, &err);
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
    mw_table_encoder *encoder = encoded_passengers(NULL, NULL, &err);
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
    mw_table_encoder *encoder = encoded_passengers(NULL, NULL, &err);
    char *text = mw_table_encoder_write(encoder, &err);
    mw_table_encoder *again = mw_table_encoder_read(text, &err);
    CHECK_OK(err);
    REQUIRE(again != NULL);
    char *text_again = mw_table_encoder_write(again, &err);
    CHECK_STR(text_again, text);
    mw_dataset *other = mw_table_encoder_open(again, encoded_later, NULL, &err);
    CHECK_OK(err);
    REQUIRE(other != NULL);
    check_layer(again, other, "later");
    mw_dataset_destroy(other);
    mw_string_free(text_again);
    mw_string_free(text);
    mw_table_encoder_destroy(again);
    mw_table_encoder_destroy(encoder);
}

/* Fields stay as they were fitted; the classes are those of the other file, in their order. */
static void test_an_encoder_takes_the_classes_of_another_table(void)
{
    mw_error err = {0};
    static const char first[] = "a,kind\n1,no\n3,yes\n", other[] = "kind,a\nz,5\nm,1\nz,3\n", empty[] = "a,kind\n1,\n";
    encoded t = encoded_text("first.csv", first, sizeof first - 1, "kind");
    folder_put("other.csv", other);
    folder_put("empty.csv", empty);
    folder_put("without.csv", "a\n1\n");
    REQUIRE(CHECK_OK(t.err));
    mw_table_encoder *again = mw_table_encoder_retarget(t.encoder, "other.csv", NULL, &err);
    mw_dataset *set = mw_table_encoder_open(again, "other.csv", NULL, &err);
    REQUIRE(CHECK_OK(err));
    const mw_classes classes = mw_table_encoder_target(again).classes;
    CHECK_INT(classes.count, 2);
    CHECK_STR(classes.names[0], "m");
    CHECK_STR(classes.names[1], "z");
    mw_encoded_field a, before;
    CHECK(mw_table_encoder_field_at(again, 0, &a) && mw_table_encoder_field_at(t.encoder, 0, &before));
    CHECK(a.mean == before.mean && a.deviation == before.deviation);
    CHECK_STR(mw_table_encoder_target(t.encoder).classes.names[0], "no");
    mw_dataset_destroy(set);
    mw_table_encoder_destroy(again);
    for (int i = 0; i < 3; i++) {
        static const char *const paths[] = {"empty.csv", "without.csv", "none.csv"};
        static const char *const said[] = {"the target is missing", "no field \"kind\"", "none.csv"};
        mw_error refused = {0};
        CHECK(mw_table_encoder_retarget(t.encoder, paths[i], NULL, &refused) == NULL);
        check_note(strstr(refused.message, said[i]) != NULL, __FILE__, __LINE__, "%s", refused.message);
    }
    encoded_close(&t);
}

/* ---- the same table in other clothes ---- */

static void check_same(const char *name, const char *text, size_t size)
{
    static const char plain[] = "size,na\xc3\xafve,y\n1.5,\xc3\xbc,a\n2.5,z,b\n3.5,z,a\n";
    encoded first = encoded_text("plain.csv", plain, sizeof plain - 1, "y"),
            other = encoded_text(name, text, size, "y");
    check_note(other.encoder != NULL, __FILE__, __LINE__, "%s: %s", name, other.err.message);
    if (other.encoder != NULL) {
        char *a = mw_table_encoder_write(first.encoder, &first.err),
             *b = mw_table_encoder_write(other.encoder, &other.err);
        CHECK_STR(b, a);
        CHECK_INT(mw_dataset_examples(other.training), 3);
        CHECK(memcmp(encoded_x(first.training), encoded_x(other.training), 3 * 2 * sizeof(float)) == 0);
        mw_string_free(a);
        mw_string_free(b);
    }
    encoded_close(&first);
    encoded_close(&other);
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
    encoded t = encoded_text("kinds.csv", text, sizeof text - 1, "y");
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
    encoded_close(&t);
}

static void test_ids_and_texts_are_encoded_when_they_are_said(void)
{
    static const char text[] = "shop,note,y\n7,red blue,a\n007,Blue red,b\n8.0,green,a\n,,b\n";
    static const mw_field_setting said[] = {{.name = "shop", .kind = MW_FIELD_ID, .width = 3},
                                            {.name = "note", .kind = MW_FIELD_TEXT, .width = 8}};
    encoded none = encoded_text("ids.csv", text, sizeof text - 1, "y");
    encoded_close(&none);
    mw_table_fit_options options = mw_table_fit_defaults("ids.csv", "y");
    options.fields = said;
    options.field_count = 2;
    options.validation = 0;
    encoded t = encoded_with(&options);
    CHECK_OK(t.err);
    REQUIRE(t.training != NULL);
    CHECK_INT(mw_table_encoder_width(t.encoder), 9);
    const float *x = encoded_x(t.training);
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
    encoded_close(&t);
}

/* ---- targets ---- */

static void test_targets_are_scaled_and_go_back(void)
{
    static const char text[] = "a,price\n1,1000\n2,10000\n3,100000\n";
    encoded none = encoded_text("prices.csv", text, sizeof text - 1, "price");
    encoded_close(&none);
    mw_table_fit_options options = mw_table_fit_defaults("prices.csv", "price");
    options.target_kind = MW_TARGET_VALUE;
    options.validation = 0;
    for (int scale = MW_TARGET_STANDARD; scale <= MW_TARGET_AS_IT_IS; scale++) {
        options.target_scale = (mw_target_scale)scale;
        encoded t = encoded_with(&options);
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
        encoded_close(&t);
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

static encoded split_rows(mw_split_rule rule, const char *field, double share)
{
    static const mw_field_setting number = {.name = "n", .kind = MW_FIELD_NUMBER};
    mw_table_fit_options options = mw_table_fit_defaults("rows.csv", "kind");
    options.fields = &number;
    options.field_count = 1;
    options.only_fields = true;
    options.split = rule;
    options.split_field = field;
    options.validation = share;
    encoded t = encoded_with(&options);
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
    encoded t = split_rows(MW_SPLIT_RANDOM, NULL, 0.25);
    CHECK_INT(mw_dataset_examples(t.validation), 50);
    encoded_close(&t);
    t = split_rows(MW_SPLIT_STRATIFIED, NULL, 0.25);
    CHECK_INT(mw_dataset_examples(t.validation), 50);
    CHECK_INT(count_rare(t.validation), 5);
    encoded_close(&t);
    t = split_rows(MW_SPLIT_GROUP, "group", 0.2);
    CHECK_INT(mw_dataset_examples(t.validation), 40);
    bool out[50] = {false};
    for (int64_t i = 0; i < mw_dataset_examples(t.validation); i++)
        out[row_of(encoded_x(t.validation)[i]) * 11 % 50] = true;
    for (int64_t i = 0; i < mw_dataset_examples(t.training); i++)
        CHECK(!out[row_of(encoded_x(t.training)[i]) * 11 % 50]);
    encoded_close(&t);
    t = split_rows(MW_SPLIT_TIME, "day", 0.3);
    CHECK_INT(mw_dataset_examples(t.validation), 60);
    for (int64_t i = 0; i < mw_dataset_examples(t.validation); i++)
        CHECK(row_of(encoded_x(t.validation)[i]) * 37 % ROWS >= 140);
    encoded_close(&t);
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
    encoded t = encoded_with(&options);
    CHECK_OK(t.err);
    mw_encoded_field f;
    REQUIRE(mw_table_encoder_field_at(t.encoder, 1, &f));
    CHECK_NEAR(f.mean, 2, 1e-12);
    CHECK_NEAR(f.deviation, 1, 1e-12);
    CHECK_INT(f.missing, 0);
    REQUIRE(mw_table_encoder_field_at(t.encoder, 2, &f));
    CHECK_INT(f.word_count, 1);
    CHECK_INT(kind_of(t.encoder, "time"), MW_FIELD_IGNORED);
    encoded_close(&t);
}

static void test_what_is_missing_is_so_in_its_spelling(void)
{
    static const char text[] = "metal,kind\nNa,none\nK,null\nNA,none\n?,some\n n/a ,some\n";
    encoded t = encoded_text("metals.csv", text, sizeof text - 1, "kind");
    CHECK_OK(t.err);
    mw_encoded_field f;
    REQUIRE(mw_table_encoder_field_at(t.encoder, 0, &f));
    CHECK_INT(f.missing, 3);
    CHECK_INT(f.word_count, 3); /* "", K, Na */
    CHECK_INT(mw_table_encoder_target(t.encoder).classes.count, 3);
    encoded_close(&t);
}

/* ---- small tables ---- */

static void test_tables_of_one_row_and_constant_columns_work(void)
{
    static const char one[] = "a,w,y\n5,x,1.5\n", constant[] = "a,y\n7,1\n7,2\n7,1\n";
    encoded t = encoded_text("one.csv", one, sizeof one - 1, "y");
    CHECK_OK(t.err);
    CHECK_INT(mw_dataset_examples(t.training), 1);
    encoded_close(&t);
    t = encoded_text("constant.csv", constant, sizeof constant - 1, "y");
    CHECK_OK(t.err);
    int64_t width = 0;
    float *h = run_layer(t.encoder, t.training, &width, &t.err);
    CHECK(width == 1 && h[0] == 0 && h[2] == 0);
    free(h);
    char *said = mw_table_encoder_print(t.encoder, &t.err);
    CHECK_CONTAINS(said, "it never changes");
    mw_string_free(said);
    encoded_close(&t);
}

int main(void)
{
    char folder[512];
    if (!folder_enter(folder))
        return 1;
    RUN(test_a_table_with_holes_is_encoded_as_scikit_learn_has_it);
    RUN(test_what_was_decided_is_said);
    RUN(test_an_encoder_is_written_and_read_again);
    RUN(test_an_encoder_takes_the_classes_of_another_table);
    RUN(test_separators_marks_and_encodings_are_found);
    RUN(test_kinds_are_found_by_content);
    RUN(test_ids_and_texts_are_encoded_when_they_are_said);
    RUN(test_targets_are_scaled_and_go_back);
    RUN(test_rows_are_split_by_share_class_group_and_time);
    RUN(test_only_the_training_part_is_fitted);
    RUN(test_what_is_missing_is_so_in_its_spelling);
    RUN(test_tables_of_one_row_and_constant_columns_work);
    folder_leave(folder);
    return check_finish();
}
