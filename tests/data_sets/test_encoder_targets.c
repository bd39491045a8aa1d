/* Several targets of a table: labels that are true or no each, values that are scaled each by itself, and what is
 * refused. */
#include "data_sets/encoded.h"
#include "support/check.h"
#include "support/folder.h"

#include <millwright/millwright.h>
#include <stdio.h>
#include <string.h>

static mw_table_fit_options several(const char *path, const char *text, const char *const *names, size_t count)
{
    encoded none = encoded_text(path, text, strlen(text), names[0]);
    encoded_close(&none);
    mw_table_fit_options options = mw_table_fit_defaults(path, names[0]);
    options.more_targets = names + 1;
    options.more_target_count = count - 1;
    options.validation = 0;
    return options;
}

/* What is written is read again, and encodes the file alike. */
static void check_again(const encoded *t, const char *path, size_t count)
{
    mw_error err = {0};
    char *text = mw_table_encoder_write(t->encoder, &err);
    mw_table_encoder *again = mw_table_encoder_read(text, &err);
    mw_dataset *set = mw_table_encoder_open(again, path, NULL, &err);
    CHECK_OK(err);
    REQUIRE(set != NULL);
    CHECK(memcmp(mw_dataset_column_at(set, 1)->data, mw_dataset_column_at(t->training, 1)->data,
                 count * sizeof(float)) == 0);
    char *text_again = mw_table_encoder_write(again, &err);
    CHECK_STR(text_again, text);
    mw_string_free(text_again);
    mw_string_free(text);
    mw_dataset_destroy(set);
    mw_table_encoder_destroy(again);
}

static const char labels[] = "wet,a,cold,dark\nyes,1,0,t\nno,2,1,f\nyes,3,1,T\n";

static void test_labels_are_true_or_no_each(void)
{
    static const char *const names[] = {"cold", "dark", "wet"};
    const float wanted[] = {0, 1, 1, 1, 0, 0, 1, 1, 1};
    const mw_table_fit_options options = several("labels.csv", labels, names, 3);
    encoded t = encoded_with(&options);
    CHECK_OK(t.err);
    REQUIRE(t.training != NULL);
    const mw_column *y = mw_dataset_column_at(t.training, 1);
    CHECK(y->dtype == MW_F32 && mw_shape_equal(y->shape, MW_SHAPE(3)));
    CHECK(memcmp(y->data, wanted, sizeof wanted) == 0);
    CHECK_INT(mw_table_encoder_width(t.encoder), 1);
    mw_encoded_target target;
    CHECK(mw_table_encoder_target_at(t.encoder, 2, &target));
    CHECK_STR(target.name, "wet");
    CHECK_INT(target.kind, MW_TARGET_LABELS);
    CHECK(!mw_table_encoder_target_at(t.encoder, 3, &target) && target.name == NULL);
    char *said = mw_table_encoder_print(t.encoder, &t.err);
    CHECK_CONTAINS(said, "dark                      label     the target, true or no\n");
    mw_string_free(said);
    check_again(&t, "labels.csv", 9);
    folder_put("without.csv", "a,cold,dark\n1,0,1\n");
    mw_dataset *inputs = mw_table_encoder_open(t.encoder, "without.csv", NULL, &t.err);
    CHECK_OK(t.err);
    CHECK(mw_dataset_column_at(inputs, 1) == NULL);
    mw_dataset_destroy(inputs);
    encoded_close(&t);
}

/* Means 2 and 200, deviations 1 and 100; back in their units two by two. */
static void test_values_are_scaled_each_by_itself(void)
{
    static const char text[] = "a,near,far\nx,1,300\ny,3,100\n";
    static const char *const names[] = {"near", "far"};
    const float wanted[] = {-1, 1, 1, -1}, rows[] = {1, 300, 3, 100, 3, 200};
    mw_table_fit_options options = several("values.csv", text, names, 2);
    options.target_kind = MW_TARGET_VALUE;
    encoded t = encoded_with(&options);
    CHECK_OK(t.err);
    REQUIRE(t.training != NULL);
    CHECK(memcmp(mw_dataset_column_at(t.training, 1)->data, wanted, sizeof wanted) == 0);
    check_again(&t, "values.csv", 4);
    mw_graph *graph = mw_graph_create(NULL, &t.err);
    mw_output(mw_table_encoder_unscale(t.encoder, mw_input(graph, "y", MW_F32, MW_SHAPE(1, 6))), "rows");
    mw_program *program = mw_program_create(graph, NULL, &t.err);
    float read[6] = {0};
    mw_program_write(program, "y", MW_F32, (const float[]){-1, 1, 1, -1, 1, 0}, 6, &t.err);
    mw_program_run(program, &t.err);
    mw_program_read(program, "rows", MW_F32, read, 6, &t.err);
    CHECK_OK(t.err);
    CHECK(memcmp(read, rows, sizeof rows) == 0);
    mw_program_destroy(program);
    mw_graph_destroy(graph);
    graph = mw_graph_create(NULL, &t.err);
    mw_table_encoder_unscale(t.encoder, mw_input(graph, "y", MW_F32, MW_SHAPE(1, 3)));
    CHECK(mw_graph_check(graph, &t.err) == MW_ERROR_SHAPE);
    CHECK_CONTAINS(t.err.message, "3 numbers along its last axis, and there are 2 targets");
    mw_graph_destroy(graph);
    encoded_close(&t);
}

/* Windows have them row by row: [horizon, targets]. */
static void test_windows_predict_several(void)
{
    static const char *const names[] = {"u", "v"};
    char text[600] = "u,v\n";
    for (int i = 0; i < 10; i++)
        snprintf(text + strlen(text), 60, "%d.5,%d.5\n", i, 10 * i);
    mw_table_fit_options options = several("uv.csv", text, names, 2);
    options.window.length = 3;
    options.window.horizon = 2;
    options.target_scale = MW_TARGET_AS_IT_IS;
    encoded t = encoded_with(&options);
    CHECK_OK(t.err);
    REQUIRE(t.training != NULL);
    CHECK(mw_shape_equal(mw_dataset_column_at(t.training, 1)->shape, MW_SHAPE(2, 2)));
    CHECK_INT(mw_table_encoder_width(t.encoder), 2);
    mw_loader_options loading = mw_loader_defaults(t.training, 1);
    loading.shuffle = false;
    mw_loader *loader = mw_loader_create(&loading, &t.err);
    const mw_batch *batch = mw_loader_next(loader, &t.err);
    REQUIRE(batch != NULL);
    const float wanted[] = {3.5f, 30.5f, 4.5f, 40.5f};
    CHECK(memcmp(batch->feeds[1].data, wanted, sizeof wanted) == 0);
    mw_loader_destroy(loader);
    encoded_close(&t);
}

static void check_refused(const mw_table_fit_options *options, const char *said)
{
    encoded t = encoded_with(options);
    check_note(t.encoder == NULL && strstr(t.err.message, said) != NULL, __FILE__, __LINE__, "\"%s\" is not in \"%s\"",
               said, t.err.message);
    encoded_close(&t);
}

static void test_targets_that_do_not_go_together_are_refused(void)
{
    static const char *const twice[] = {"wet", "wet"}, *const gone[] = {"wet", "gone"}, *const word[] = {"a", "wet"},
                             *const all[] = {"wet", "a", "cold", "dark"};
    mw_table_fit_options o = several("labels.csv", labels, twice, 2);
    check_refused(&o, "the target \"wet\" is said twice");
    o = several("labels.csv", labels, gone, 2);
    check_refused(&o, "has no field \"gone\" among its 4");
    o = several("labels.csv", labels, word, 2);
    check_refused(&o, "line 2, field \"wet\": \"yes\" is no finite number, as the target has to be");
    o.target_kind = MW_TARGET_LABELS;
    check_refused(&o, "line 3, field \"a\": \"2\" is no truth, as labels have to be");
    o.target_kind = MW_TARGET_CLASS;
    check_refused(&o, "several are up to 4096 labels or values");
    o = several("labels.csv", labels, all, 4);
    check_refused(&o, "the table has no field besides the target");
    o = several("labels.csv", labels, all, 2);
    o.split = MW_SPLIT_STRATIFIED;
    check_refused(&o, "a stratified split is of classes");
    mw_error err = {0};
    CHECK(mw_table_encoder_read("{\"version\":1,\"target\":{\"name\":\"y\",\"kind\":\"labels\",\"scale\":\"none\"},"
                                "\"more_targets\":[{\"name\":\"z\",\"kind\":\"value\",\"scale\":\"none\"}],"
                                "\"fields\":[{\"name\":\"a\",\"kind\":\"number\"}]}",
                                &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_FORMAT, "as the others have it");
}

int main(void)
{
    char folder[512];
    if (!folder_enter(folder))
        return 1;
    RUN(test_labels_are_true_or_no_each);
    RUN(test_values_are_scaled_each_by_itself);
    RUN(test_windows_predict_several);
    RUN(test_targets_that_do_not_go_together_are_refused);
    folder_leave(folder);
    return check_finish();
}
