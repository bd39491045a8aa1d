/* Windows of a table's rows, against rows that are counted out by hand: one series and several that are mixed, values
 * and classes, the parts that are learned from and kept out, and what is refused. */
#include "data_sets/encoded.h"
#include "support/check.h"
#include "support/folder.h"

#include <millwright/millwright.h>
#include <stdio.h>
#include <string.h>

enum { ROWS = 60 };

/* Row i: a series, its place in it, a value that says both, and a class. The series stand mixed. */
static void write_rows(const char *path, int series)
{
    FILE *csv = fopen(path, "w");
    REQUIRE(csv != NULL);
    fputs("shop,place,value,state\n", csv);
    for (int i = 0; i < ROWS; i++)
        fprintf(csv, "s%d,%d,%d.5,%s\n", i % series, i / series, 1000 * (i % series) + i / series,
                i / series % 3 == 0 ? "up" : "down");
    fclose(csv);
}

static mw_table_fit_options window_options(const char *path, const char *target, int64_t length, int64_t horizon)
{
    static const mw_field_setting fields[] = {{.name = "place", .kind = MW_FIELD_NUMBER},
                                              {.name = "value", .kind = MW_FIELD_NUMBER}};
    mw_table_fit_options options = mw_table_fit_defaults(path, target);
    options.fields = fields;
    options.field_count = horizon > 0 || strcmp(target, "value") != 0 ? 2 : 1;
    options.only_fields = true;
    options.window.length = length;
    options.window.horizon = horizon;
    options.split = MW_SPLIT_LAST;
    return options;
}

/* Follows all examples of a set: rows of `x` [length, 2] have place and value, the target what is behind them. */
static void check_set(const encoded *t, const mw_dataset *set, const mw_table_fit_options *o, int64_t first,
                      int64_t end)
{
    mw_error err = {0};
    const mw_table_window *w = &o->window;
    const mw_encoded_target target = mw_table_encoder_target(t->encoder);
    mw_loader_options loading = mw_loader_defaults(set, 1);
    loading.shuffle = false;
    mw_loader *loader = mw_loader_create(&loading, &err);
    const mw_batch *batch;
    int64_t place = first, series = 0, count = 0;
    for (; (batch = mw_loader_next(loader, &err)) != NULL; count++, place += w->stride) {
        if (place + w->length + w->gap + w->horizon > end)
            place = first, series++;
        const float *x = batch->feeds[0].data, *y = batch->feeds[1].data;
        for (int64_t i = 0; i < w->length; i++)
            CHECK(x[2 * i] == (float)(place + i) && x[2 * i + 1] == (float)(1000 * series + place + i) + 0.5f);
        for (int64_t i = 0; i < w->horizon; i++)
            CHECK_NEAR(target.mean + target.deviation * (double)y[i],
                       (double)(1000 * series + place + w->length + w->gap + i) + 0.5, 1e-3);
    }
    CHECK_OK(err);
    CHECK_INT(count, mw_dataset_examples(set));
    mw_loader_destroy(loader);
}

static void test_series_that_stand_mixed_become_windows_of_their_own(void)
{
    write_rows("mixed.csv", 3);
    mw_table_fit_options options = window_options("mixed.csv", "value", 4, 2);
    options.window.series = "shop";
    options.window.gap = 1;
    options.window.stride = 2;
    options.validation = 0.4; /* the last 8 of 20 rows of each */
    encoded t = encoded_with(&options);
    CHECK_OK(t.err);
    REQUIRE(t.training != NULL && t.validation != NULL);
    const mw_column *x = mw_dataset_column_at(t.training, 0), *y = mw_dataset_column_at(t.training, 1);
    CHECK(mw_shape_equal(x->shape, MW_SHAPE(4, 2)) && mw_shape_equal(y->shape, MW_SHAPE(2)));
    CHECK_INT(mw_dataset_examples(t.training), 3 * 3); /* begins 0, 2, 4 of 12 rows */
    CHECK_INT(mw_dataset_examples(t.validation), 3);
    check_set(&t, t.training, &options, 0, 12);
    check_set(&t, t.validation, &options, 12, 20);
    encoded_close(&t);
}

static void test_inputs_alone_go_to_the_end_of_a_series(void)
{
    write_rows("one.csv", 1);
    mw_table_fit_options options = window_options("one.csv", "value", 10, 5);
    options.validation = 0;
    encoded t = encoded_with(&options);
    CHECK_OK(t.err);
    REQUIRE(t.training != NULL);
    CHECK_INT(mw_dataset_examples(t.training), ROWS - 14);
    check_set(&t, t.training, &options, 0, ROWS);
    mw_dataset *inputs = mw_table_encoder_open_inputs(t.encoder, "one.csv", NULL, &t.err);
    CHECK_OK(t.err);
    CHECK_INT(mw_dataset_examples(inputs), ROWS - 9);
    CHECK(mw_dataset_column_at(inputs, 1) == NULL);
    mw_dataset_destroy(inputs);
    char *said = mw_table_encoder_print(t.encoder, &t.err);
    CHECK_CONTAINS(said, "(windows)                 window    10 rows, every 1, to predict 5\n");
    mw_string_free(said);
    encoded_close(&t);
}

/* The class of the window's last row, which is no input then. */
static void test_a_horizon_of_0_is_the_last_row(void)
{
    mw_error err = {0};
    write_rows("one.csv", 1);
    mw_table_fit_options options = window_options("one.csv", "state", 4, 0);
    options.validation = 0;
    encoded t = encoded_with(&options);
    CHECK_OK(t.err);
    REQUIRE(t.training != NULL);
    CHECK_INT(mw_table_encoder_width(t.encoder), 2);
    CHECK_INT(mw_dataset_classes(t.training, "y").count, 2);
    CHECK_INT(mw_dataset_examples(t.training), ROWS - 3);
    mw_loader_options loading = mw_loader_defaults(t.training, 1);
    loading.shuffle = false;
    mw_loader *loader = mw_loader_create(&loading, &err);
    const mw_batch *batch;
    for (int64_t i = 0; (batch = mw_loader_next(loader, &err)) != NULL; i++)
        CHECK_INT(*(const int64_t *)batch->feeds[1].data, (i + 3) % 3 == 0); /* "down", "up" */
    CHECK_OK(err);
    mw_loader_destroy(loader);
    encoded_close(&t);
}

static void test_windows_are_written_and_read_again(void)
{
    write_rows("mixed.csv", 3);
    mw_table_fit_options options = window_options("mixed.csv", "value", 4, 2);
    options.window.series = "shop";
    options.validation = 0;
    encoded t = encoded_with(&options);
    CHECK_OK(t.err);
    REQUIRE(t.encoder != NULL);
    char *text = mw_table_encoder_write(t.encoder, &t.err);
    CHECK_CONTAINS(text, "\"window\":{\"length\":4,\"stride\":1,\"horizon\":2,\"series\":\"shop\"}");
    mw_table_encoder *again = mw_table_encoder_read(text, &t.err);
    CHECK_OK(t.err);
    const mw_table_window window = mw_table_encoder_window(again);
    CHECK(window.length == 4 && window.stride == 1 && window.horizon == 2 && window.gap == 0);
    CHECK_STR(window.series, "shop");
    mw_dataset *all = mw_table_encoder_open(again, "mixed.csv", NULL, &t.err);
    CHECK_OK(t.err);
    CHECK_INT(mw_dataset_examples(all), 3 * 15);
    mw_dataset_destroy(all);
    mw_string_free(text);
    mw_table_encoder_destroy(again);
    encoded_close(&t);
}

static void test_a_layer_takes_windows_row_by_row(void)
{
    write_rows("one.csv", 1);
    mw_table_fit_options options = window_options("one.csv", "value", 3, 1);
    options.validation = 0;
    encoded t = encoded_with(&options);
    CHECK_OK(t.err);
    mw_graph *graph = mw_graph_create(NULL, &t.err);
    mw_output(mw_table_encoder_layer(t.encoder, mw_input(graph, "x", MW_F32, MW_SHAPE(1, 3, 2)), "table"), "h");
    mw_program *program = mw_program_create(graph, NULL, &t.err);
    const float x[] = {0, 29.5f, 29.5f, 30, 59, 59.5f};
    float h[6] = {0};
    mw_program_write(program, "x", MW_F32, x, 6, &t.err);
    mw_program_run(program, &t.err);
    mw_program_read(program, "h", MW_F32, h, 6, &t.err);
    CHECK_OK(t.err);
    for (int i = 0; i < 6; i++) /* numbers 0 to 59, their mean and deviation */
        CHECK_NEAR((double)h[i], ((double)x[i] - (i % 2 ? 30 : 29.5)) / 17.318102282, 1e-5);
    mw_program_destroy(program);
    mw_graph_destroy(graph);
    graph = mw_graph_create(NULL, &t.err);
    mw_table_encoder_layer(t.encoder, mw_input(graph, "x", MW_F32, MW_SHAPE(1, 2)), "table");
    CHECK(mw_graph_check(graph, &t.err) == MW_ERROR_SHAPE);
    CHECK_CONTAINS(t.err.message, "it must be [N, 3, 2]");
    mw_graph_destroy(graph);
    encoded_close(&t);
}

/* ---- what is refused ---- */

static void check_refused(const mw_table_fit_options *options, mw_status status, const char *said)
{
    encoded t = encoded_with(options);
    check_note(t.encoder == NULL && t.err.status == status && strstr(t.err.message, said) != NULL, __FILE__, __LINE__,
               "\"%s\" is not in \"%s\"", said, t.err.message);
    encoded_close(&t);
}

static void test_windows_that_cannot_be_are_refused(void)
{
    write_rows("one.csv", 1);
    const mw_table_fit_options good = window_options("one.csv", "value", 4, 2);
    mw_table_fit_options o = good;
    o.window.stride = 0;
    check_refused(&o, MW_ERROR_ARGUMENT,
                  "length 4, stride 0, horizon 2, gap 0: they have length 1 to 65536 and stride");
    o = good, o.window.gap = 65537;
    check_refused(&o, MW_ERROR_ARGUMENT, "horizon and gap 0 to 65536");
    o = good, o.window.horizon = 0, o.window.gap = 1;
    check_refused(&o, MW_ERROR_ARGUMENT, "no gap without a horizon");
    o = good, o.window.length = 0, o.window.series = "shop";
    check_refused(&o, MW_ERROR_ARGUMENT, "a series without windows");
    o = good, o.split = MW_SPLIT_RANDOM;
    check_refused(&o, MW_ERROR_ARGUMENT, "set split to MW_SPLIT_LAST");
    o = good, o.window.series = "market";
    check_refused(&o, MW_ERROR_ARGUMENT, "has no field \"market\" among its 4, to name the series");
    o = good, o.window.length = 6; /* 6 rows are kept out */
    check_refused(&o, MW_ERROR_FORMAT,
                  "a window of 6 rows with what it predicts takes 8, and the longest series of this "
                  "part has 6");
    o = window_options("one.csv", "state", 4, 2);
    check_refused(&o, MW_ERROR_ARGUMENT, "a window predicts one of them, with a horizon of 0 or 1, not 2");
}

static void check_text_refused(const char *window, const char *said)
{
    char text[300];
    mw_error err = {0};
    snprintf(text, sizeof text,
             "{\"version\":1,\"target\":{\"name\":\"y\",\"kind\":\"value\",\"scale\":\"none\"},\"window\":%s,"
             "\"fields\":[{\"name\":\"y\",\"kind\":\"number\"}]}",
             window);
    mw_table_encoder *encoder = mw_table_encoder_read(text, &err);
    check_note(said == NULL ? encoder != NULL : encoder == NULL && strstr(err.message, said) != NULL, __FILE__,
               __LINE__, "%s: %s", window, err.message);
    mw_table_encoder_destroy(encoder);
}

static void test_texts_with_other_windows_are_refused(void)
{
    check_text_refused("{\"length\":3,\"stride\":1,\"horizon\":2}", NULL);
    check_text_refused("{\"length\":3,\"stride\":1}", "two fields \"y\"");
    check_text_refused("{\"length\":3}", "stride 1 or more");
    check_text_refused("{\"length\":70000,\"stride\":1}", "length 1 to 65536");
    check_text_refused("{\"length\":-1,\"stride\":1}", "none of those that stand here");
    check_text_refused("{\"length\":3,\"stride\":1,\"horizon\":9007199254740992}", "horizon and gap");
    check_text_refused("{\"size\":3}", "a key that a field has not");
    check_text_refused("[]", "is no object");
}

int main(void)
{
    char folder[512];
    if (!folder_enter(folder))
        return 1;
    RUN(test_series_that_stand_mixed_become_windows_of_their_own);
    RUN(test_inputs_alone_go_to_the_end_of_a_series);
    RUN(test_a_horizon_of_0_is_the_last_row);
    RUN(test_windows_are_written_and_read_again);
    RUN(test_a_layer_takes_windows_row_by_row);
    RUN(test_windows_that_cannot_be_are_refused);
    RUN(test_texts_with_other_windows_are_refused);
    folder_leave(folder);
    return check_finish();
}
