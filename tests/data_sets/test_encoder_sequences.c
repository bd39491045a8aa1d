/* Fields that hold several values: how they are written, what is found in them, what x has of them, and that what
 * stands behind the last value changes nothing. */
#include "data_sets/encoded.h"
#include "support/check.h"
#include "support/folder.h"

#include <millwright/millwright.h>
#include <stdio.h>
#include <string.h>

static encoded fit_text(const char *path, const char *text, const mw_field_setting *setting)
{
    encoded none = encoded_text(path, text, strlen(text), "y");
    encoded_close(&none);
    mw_table_fit_options options = mw_table_fit_defaults(path, "y");
    options.fields = setting;
    options.field_count = setting != NULL;
    options.validation = 0;
    return encoded_with(&options);
}

static void check_rows(const char *path, const char *text, const mw_field_setting *setting, const float *wanted)
{
    encoded t = fit_text(path, text, setting);
    check_note(t.training != NULL, __FILE__, __LINE__, "%s: %s", path, t.err.message);
    if (t.training != NULL) {
        mw_encoded_field f;
        CHECK(mw_table_encoder_field_at(t.encoder, 0, &f) && f.kind == MW_FIELD_SEQUENCE);
        CHECK_INT(f.length, 3);
        REQUIRE(mw_table_encoder_width(t.encoder) == 4);
        CHECK_INT(mw_dataset_examples(t.training), 4);
        for (int i = 0; i < 16; i++)
            check_note(encoded_x(t.training)[i] == wanted[i], __FILE__, __LINE__, "%s: number %d is %g, not %g", path,
                       i, (double)encoded_x(t.training)[i], (double)wanted[i]);
    }
    encoded_close(&t);
}

static void test_lists_are_read_however_they_are_written(void)
{
    static const mw_field_setting said = {.name = "s", .kind = MW_FIELD_SEQUENCE};
    static const float ids[] = {3, 0, 1, 2, 1, 2, 0, 0, 0, 0, 0, 0, 2, 1, 0, 0}; /* words 3, 7, 12 */
    static const float values[] = {3, 0.5f, -1, 2, 1, 2, 0, 0, 0, 0, 0, 0, 2, -1, 0.5f, 0};
    check_rows("ids.jsonl",
               "{\"s\": [3, 7, 12], \"y\": \"a\"}\n{\"s\": [12], \"y\": \"b\"}\n{\"s\": null, \"y\": "
               "\"a\"}\n{\"s\": [\"7\", 3.0], \"y\": \"b\"}\n",
               NULL, ids);
    check_rows("ids.csv", "s,y\n\"[3, 7, 12]\",a\n[12],b\n,a\n\"['7',03]\",b\n", NULL, ids);
    check_rows("said.csv", "s,y\n3 7 12,a\n12,b\n,a\n7 3,b\n", &said, ids);
    check_rows("values.jsonl",
               "{\"s\": [0.5, -1, 2], \"y\": \"a\"}\n{\"s\": [2], \"y\": \"b\"}\n{\"s\": [], \"y\": "
               "\"a\"}\n{\"s\": [-1, 0.5], \"y\": \"b\"}\n",
               NULL, values);
    check_rows("values.csv", "s,y\n0.5 -1 2,a\n2,b\n,a\n-1.0;0.5,b\n", &said, values);
}

static void test_words_are_those_of_training_and_others_unknown(void)
{
    static const mw_field_setting said = {.name = "s", .kind = MW_FIELD_SEQUENCE, .length = 2, .width = 8};
    encoded t =
        fit_text("words.jsonl", "{\"s\": [\"b\", \"a\", \"c\"], \"y\": 1}\n{\"s\": [\"a\"], \"y\": 2}\n", &said);
    CHECK_OK(t.err);
    mw_encoded_field f;
    REQUIRE(mw_table_encoder_field_at(t.encoder, 0, &f));
    CHECK_INT(f.word_count, 2); /* "c" is behind the second */
    CHECK_INT(f.width, 16);
    folder_put("others.jsonl", "{\"s\": [\"a\", \"z\", \"a\", \"a\"]}\n");
    mw_dataset *others = mw_table_encoder_open(t.encoder, "others.jsonl", NULL, &t.err);
    CHECK_OK(t.err);
    const float *x = encoded_x(others);
    CHECK(x[0] == 2 && x[1] == 0 && x[2] == 2);
    mw_dataset_destroy(others);
    char *text = mw_table_encoder_write(t.encoder, &t.err), *said_of_it = mw_table_encoder_print(t.encoder, &t.err);
    CHECK_CONTAINS(said_of_it, "sequence  up to 2 words of 2, 8 learned numbers each");
    mw_table_encoder *again = mw_table_encoder_read(text, &t.err);
    CHECK_OK(t.err);
    char *text_again = mw_table_encoder_write(again, &t.err);
    CHECK_STR(text_again, text);
    mw_string_free(text_again);
    mw_string_free(said_of_it);
    mw_string_free(text);
    mw_table_encoder_destroy(again);
    encoded_close(&t);
}

/* ---- the layer ---- */

enum { LENGTH = 5, WIDTH = 4, CASES = 8 };

/* Lengths and elements of [CASES] rows; h [CASES, 2 WIDTH]. */
static void run_layer(const mw_table_encoder *encoder, const float x[CASES][1 + LENGTH], float h[CASES][2 * WIDTH])
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, &err);
    mw_tensor *in = mw_input(graph, "x", MW_F32, MW_SHAPE(CASES, 1 + LENGTH));
    mw_output(mw_table_encoder_layer(encoder, in, "table"), "h");
    mw_program *program = mw_program_create(graph, NULL, &err);
    mw_program_write(program, "x", MW_F32, x, CASES * (1 + LENGTH), &err);
    mw_program_run(program, &err);
    mw_program_read(program, "h", MW_F32, h, (size_t)CASES * 2 * WIDTH, &err);
    CHECK_OK(err);
    mw_program_destroy(program);
    mw_graph_destroy(graph);
}

/* The last of each begin of a sequence says what the mean of the whole has to be, and rows behind the last nothing. */
static void check_pooling(const char *text, bool has_unknown)
{
    const mw_field_setting said = {.name = "s", .kind = MW_FIELD_SEQUENCE, .width = WIDTH};
    float h[CASES][2 * WIDTH];
    encoded t = fit_text("pooling.csv", text, &said);
    CHECK_OK(t.err);
    REQUIRE(t.encoder != NULL && mw_table_encoder_width(t.encoder) == 1 + LENGTH);
    const float x[CASES][1 + LENGTH] = {{1, 1, 0, 0, 0, 0}, {2, 1, 2, 0, 0, 0}, {3, 1, 2, 0, 0, 0}, {3, 1, 2, 0, 3, 7},
                                        {0, 2, 1, 1, 1, 1}, {5, 1, 2, 0, 1, 2}, {1, 3, 0, 0, 0, 0}, {1, 9, 1, 2, 0, 0}};
    run_layer(t.encoder, x, h);
    for (int k = 0; k < WIDTH; k++) {
        CHECK_NEAR((double)h[0][WIDTH + k], (double)h[0][k], 1e-6);
        CHECK_NEAR((double)h[1][WIDTH + k], ((double)h[0][k] + (double)h[1][k]) / 2, 1e-6);
        CHECK_NEAR((double)h[2][WIDTH + k], ((double)h[0][k] + (double)h[1][k] + (double)h[2][k]) / 3, 1e-6);
        CHECK(h[3][k] == h[2][k] && h[3][WIDTH + k] == h[2][WIDTH + k]);
        CHECK(h[4][k] == 0 && h[4][WIDTH + k] == 0);
        CHECK(h[5][k] != h[2][k] && h[2][k] != h[1][k]);
        CHECK((h[6][k] == h[7][k]) == has_unknown); /* numbers that no word has */
    }
    encoded_close(&t);
}

static void test_what_stands_behind_the_last_value_changes_nothing(void)
{
    check_pooling("s,y\n10 20 30 10 10,a\n20,b\n", true);
    check_pooling("s,y\n1.5 2 3 1 1,a\n2,b\n", false);
}

/* ---- ids ---- */

static mw_field_kind kind_at(const mw_table_encoder *encoder, size_t index, const char *reason)
{
    mw_encoded_field f;
    CHECK(mw_table_encoder_field_at(encoder, index, &f));
    CHECK_STR(f.reason, reason);
    return f.kind;
}

/* Integers under the name of an id are one where rows share them. */
static void test_ids_are_found_by_name_and_by_what_rows_share(void)
{
    FILE *csv = fopen("rated.csv", "w");
    REQUIRE(csv != NULL);
    fputs("row_id,user_id,itemId,visit_id,rating\n", csv);
    for (int i = 0; i < 90; i++)
        fprintf(csv, "%d,%d,%d,%d,%d.5\n", i, 100 + i % 9, i * 7 % 10, (i * 37 + 11) % 90, i % 5);
    fclose(csv);
    mw_table_fit_options options = mw_table_fit_defaults("rated.csv", NULL);
    encoded t = encoded_with(&options);
    CHECK_OK(t.err);
    CHECK_INT(kind_at(t.encoder, 0, "it counts the rows"), MW_FIELD_IGNORED);
    CHECK_INT(kind_at(t.encoder, 1, ""), MW_FIELD_ID);
    CHECK_INT(kind_at(t.encoder, 2, ""), MW_FIELD_ID);
    CHECK_INT(kind_at(t.encoder, 3, "it names the rows"), MW_FIELD_IGNORED);
    CHECK_INT(mw_table_encoder_width(t.encoder), 2);
    encoded_close(&t);
}

/* ---- what is refused ---- */

static void test_what_is_no_sequence_is_said_with_its_place(void)
{
    static const struct {
        const char *path, *text, *says;
        mw_field_setting setting;
    } cases[] = {
        {"r.jsonl",
         "{\"s\": [1, [2]], \"y\": 1}\n",
         "line 1, field \"s\": an array or object is no list of words",
         {.name = "s", .kind = MW_FIELD_SEQUENCE}},
        {"r.jsonl",
         "{\"s\": [1, \"x\"], \"y\": 1}\n",
         "line 1, field \"s\": \"x\" is no finite number",
         {.name = "s", .kind = MW_FIELD_SEQUENCE, .elements = MW_SEQUENCE_VALUES}},
        {"r.jsonl",
         "{\"s\": [1e400], \"y\": 1}\n",
         "\"1e400\" is no finite number",
         {.name = "s", .kind = MW_FIELD_SEQUENCE, .elements = MW_SEQUENCE_VALUES}},
        {"r.jsonl",
         "{\"s\": [1e39], \"y\": 1}\n",
         "\"1e39\" is no number that fp32 has",
         {.name = "s", .kind = MW_FIELD_SEQUENCE, .elements = MW_SEQUENCE_VALUES}},
        {"r.jsonl",
         "{\"s\": [1], \"y\": 1}\n",
         "an array or object is no finite number; ignore the field, or make it a",
         {.name = "s", .kind = MW_FIELD_NUMBER}},
        {"r.csv",
         "s,y\n1,a\n",
         "has the length 3 and elements 0; sequences have them",
         {.name = "s", .kind = MW_FIELD_NUMBER, .length = 3}},
        {"r.csv", "s,y\n1,a\n", "has the length 4097", {.name = "s", .kind = MW_FIELD_SEQUENCE, .length = 4097}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        encoded t = fit_text(cases[i].path, cases[i].text, &cases[i].setting);
        check_note(t.encoder == NULL && strstr(t.err.message, cases[i].says) != NULL, __FILE__, __LINE__, "%s: %s",
                   cases[i].says, t.err.message);
        encoded_close(&t);
    }
}

int main(void)
{
    char folder[512];
    if (!folder_enter(folder))
        return 1;
    RUN(test_lists_are_read_however_they_are_written);
    RUN(test_words_are_those_of_training_and_others_unknown);
    RUN(test_what_stands_behind_the_last_value_changes_nothing);
    RUN(test_ids_are_found_by_name_and_by_what_rows_share);
    RUN(test_what_is_no_sequence_is_said_with_its_place);
    folder_leave(folder);
    return check_finish();
}
