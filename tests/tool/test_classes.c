/* Classes keep their names: data with some of a model's classes, or in another order, is mapped by name; other classes
 * are refused with both lists, and integers are themselves. */
#include "support/check.h"
#include "support/folder.h"
#include "support/page.h"
#include "tool/shell.h"

#include <millwright/millwright.h>
#include <stdlib.h>
#include <unistd.h>

enum { CLASSES = 12, EXAMPLES = 60 };

/* Score k is largest where the one at place k is: label k, whatever it is called. */
static mw_graph *make_diagonal(void)
{
    static float w[CLASSES * CLASSES];
    for (int i = 0; i < CLASSES; i++)
        w[i * CLASSES + i] = 9.0f;
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *weight = mw_name(mw_constant(graph, MW_F32, MW_SHAPE(CLASSES, CLASSES), w), "fc.weight");
    mw_output(mw_matmul(mw_input(graph, "x", MW_F32, MW_SHAPE(1, CLASSES)), weight, MW_TRANSPOSE_NONE), "out");
    return graph;
}

static void put_row(FILE *csv, FILE *lines, int place, const char *label)
{
    fputs("{", lines);
    for (int i = 0; i < CLASSES; i++) {
        fprintf(csv, "%d,", i == place);
        fprintf(lines, "\"p%d\": %d, ", i, i == place);
    }
    fprintf(csv, "%s\n", label);
    fprintf(lines, "\"label\": \"%s\"}\n", label);
}

/* Example i has the one at place[i % count], and the label of the same index. */
static void put_tables(const char *name, const int *places, const char *const *labels, int count)
{
    char path[64];
    snprintf(path, sizeof path, "%s.csv", name);
    FILE *csv = fopen(path, "w");
    snprintf(path, sizeof path, "%s.jsonl", name);
    FILE *lines = fopen(path, "w");
    REQUIRE(csv != NULL && lines != NULL);
    for (int i = 0; i < CLASSES; i++)
        fprintf(csv, "p%d,", i);
    fputs("label\n", csv);
    for (int i = 0; i < EXAMPLES; i++)
        put_row(csv, lines, places[i % count], labels[i % count]);
    fclose(csv);
    fclose(lines);
}

static void write_files(void)
{
    mw_error err = {0};
    static float x[EXAMPLES * CLASSES];
    static int32_t y[EXAMPLES];
    static const char *const digits[] = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11"};
    static const int all[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, some[] = {11, 3, 10};
    static const char *const three[] = {"11", "3", "10"}, *const animals[] = {"ant", "bee", "cow"},
                             *const two[] = {"cow", "bee"}, *const others[] = {"bee", "dog"};
    mw_graph *graph = make_diagonal();
    mw_graph_write(graph, "twelve", NULL, &err);
    mw_graph_destroy(graph);
    put_tables("twelve", all, digits, CLASSES);
    put_tables("three", some, three, 3);
    put_tables("animals", all, animals, 3);
    put_tables("two", (const int[]){2, 1}, two, 2);
    put_tables("others", (const int[]){1, 2}, others, 2);
    put_tables("far", all, (const char *const[]){"0", "12"}, 2);
    for (int i = 0; i < EXAMPLES; i++) {
        y[i] = i % CLASSES;
        x[i * CLASSES + y[i]] = 1.0f;
    }
    const mw_tensor_values values[] = {{"x", MW_F32, MW_SHAPE(EXAMPLES, CLASSES), x},
                                       {"y", MW_I32, MW_SHAPE(EXAMPLES), y}};
    mw_tensors_write("twelve.npz", values, 2, &err);
    CHECK_OK(err);
}

/* A rate that moves nothing: what is measured is the model as it is. */
#define TUNE(...) MW("finetune", "--epochs", "1", "--lr", "1e-9", "-q", "--data", __VA_ARGS__)

static void check_right(shell_result r)
{
    CHECK_INT(r.code, 0);
    CHECK_CONTAINS(r.out, "accuracy 1, ");
    shell_free(&r);
}

static void test_integer_labels_are_ordered_as_integers(void)
{
    check_right(TUNE("twelve.csv", "-o", "out", "twelve"));
    check_right(TUNE("twelve.jsonl", "-o", "out", "twelve"));
    check_right(TUNE("twelve.npz", "-o", "out", "twelve"));
}

static void test_integers_are_themselves_where_only_some_are_there(void)
{
    check_right(TUNE("three.csv", "-o", "out", "twelve"));
    check_right(TUNE("three.jsonl", "-o", "out", "twelve"));
    CHECK_MW(1, NULL, "has the label 12", "finetune", "--data", "far.csv", "-o", "out", "--epochs", "1", "twelve");
}

/* ant, bee and cow, trained; the model of its run says its classes. */
static void train_animals(void)
{
    folder_put(
        "animals.json",
        "{\"network\": [{\"dense\": \"classes\"}], \"epochs\": 40, \"batch\": 12, \"data\": {\"normalize\": false},\n"
        "\"optimizer\": {\"learning_rate\": 0.1}}");
    check_right(MW("train", "animals.json", "--data", "animals.csv", "--run", "run", "-q"));
}

static void test_data_with_some_classes_is_mapped_by_name(void)
{
    check_right(TUNE("two.csv", "-o", "out", "run/model"));
    shell_result r = MW("train", "animals.json", "--data", "animals.csv", "-o", "animals.mlpackage", "-q");
    if (r.code == 0) { /* built with protobuf-c */
        check_right(TUNE("two.jsonl", "-o", "two.mlpackage", "animals.mlpackage"));
        check_right(TUNE("two.csv", "-o", "again.mlpackage", "two.mlpackage"));
        CHECK_MW(0, "example 0: ant", NULL, "run", "again.mlpackage", "-i", "x=twelve.npz:x", "-b", "60");
    }
    shell_free(&r);
}

/* The integers 10, 20 and 30 are names; one label occurs once, wherever the examples are dealt to. */
static void test_integers_that_are_names_are_mapped_in_every_part(void)
{
    mw_error err = {0};
    static float x[EXAMPLES * CLASSES];
    static int16_t y[EXAMPLES];
    put_tables("tens", (const int[]){0, 1, 2}, (const char *const[]){"10", "20", "30"}, 3);
    check_right(MW("train", "animals.json", "--data", "tens.csv", "--run", "tens", "-q"));
    for (int place = 0; place < EXAMPLES; place += 4) {
        memset(x, 0, sizeof x);
        for (int i = 0; i < EXAMPLES; i++) {
            y[i] = (int16_t)(i == place ? 30 : 10 + 10 * (i % 2));
            x[i * CLASSES + y[i] / 10 - 1] = 1.0f;
        }
        const mw_tensor_values values[] = {{"x", MW_F32, MW_SHAPE(EXAMPLES, CLASSES), x},
                                           {"y", MW_I16, MW_SHAPE(EXAMPLES), y}};
        mw_tensors_write("tens.npz", values, 2, &err);
        CHECK_OK(err);
        check_right(TUNE("tens.npz", "-o", "out", "tens/model"));
    }
    y[0] = 40;
    const mw_tensor_values values[] = {{"x", MW_F32, MW_SHAPE(EXAMPLES, CLASSES), x},
                                       {"y", MW_I16, MW_SHAPE(EXAMPLES), y}};
    mw_tensors_write("tens.npz", values, 2, &err);
    CHECK_MW(1, NULL, "has the class \"40\"", "finetune", "--data", "tens.npz", "-o", "refused", "tens/model");
}

/* Labels of the model tens/model, whose classes are 10, 20 and 30: far below 0, far above, and behind the first
 * element. */
static void test_labels_beyond_the_names_touch_nothing(void)
{
    static float x[EXAMPLES * CLASSES];
    static int64_t y[EXAMPLES];
    for (int kind = 0; kind < 2; kind++) {
        mw_error err = {0};
        for (int i = 0; i < EXAMPLES; i++) {
            y[i] = 10 + 10 * (i % 2);
            x[i * CLASSES + y[i] / 10 - 1] = 1.0f;
        }
        y[EXAMPLES - 1] = kind == 0 ? -INT64_C(1000000000000) : INT64_C(1000000000000);
        const mw_tensor_values values[] = {{"x", MW_F32, MW_SHAPE(EXAMPLES, CLASSES), x},
                                           {"y", MW_I64, MW_SHAPE(EXAMPLES), y}};
        mw_tensors_write("far.npz", values, 2, &err);
        CHECK_OK(err);
        shell_result r = MW("finetune", "--data", "far.npz", "-o", "touched", "--epochs", "1", "-q", "tens/model");
        CHECK(r.code == 0 || (r.code == 1 && r.errs[0] != '\0')); /* not a signal */
        shell_free(&r);
    }
}

/* A model some of whose names are integers: an integer label is that name, in every format. */
static void test_integers_among_other_names_are_mapped_by_name(void)
{
    mw_error err = {0};
    static float x[EXAMPLES * CLASSES];
    static int16_t y[EXAMPLES];
    put_tables("mixed", (const int[]){0, 1, 2}, (const char *const[]){"1", "2", "other"}, 3);
    check_right(MW("train", "animals.json", "--data", "mixed.csv", "--run", "mixed", "-q"));
    memset(x, 0, sizeof x);
    for (int i = 0; i < EXAMPLES; i++) {
        y[i] = (int16_t)(1 + i % 2);
        x[i * CLASSES + y[i] - 1] = 1.0f;
    }
    const mw_tensor_values values[] = {{"x", MW_F32, MW_SHAPE(EXAMPLES, CLASSES), x},
                                       {"y", MW_I16, MW_SHAPE(EXAMPLES), y}};
    mw_tensors_write("mixed.npz", values, 2, &err);
    CHECK_OK(err);
    check_right(TUNE("mixed.npz", "-o", "out", "mixed/model"));
    put_tables("three_integers", (const int[]){2, 0, 1}, (const char *const[]){"0", "1", "2"}, 3);
    CHECK_MW(1, NULL, "has the class \"0\"", "finetune", "--data", "three_integers.csv", "-o", "refused",
             "mixed/model");
}

static void test_a_test_set_of_another_kind_is_refused(void)
{
    folder_put("kinds.json", "{\"network\": [{\"dense\": \"classes\"}], \"epochs\": 1, \"data\": {\"path\": "
                             "\"animals.csv\", \"test\": \"mixed.npz\"}}");
    CHECK_MW(1, NULL, "give both in one format", "train", "kinds.json", "-q");
}

static void test_a_run_does_not_go_on_with_other_classes(void)
{
    CHECK_MW(1, NULL, "began with the classes ant, bee, cow, and the data has 10, 20, 30", "train", "animals.json",
             "--data", "tens.csv", "--run", "run", "-q", "--epochs", "41");
    char *about = page_read("run/about.json");
    folder_put("run/about.json", "{\"classes\": \"10");
    CHECK_MW(1, NULL, "\"classes\" of the run are not known: run/about.json:1", "train", "animals.json", "--data",
             "tens.csv", "--run", "run", "-q", "--epochs", "41");
    folder_put("run/about.json", about);
    free(about);
}

static void test_other_classes_are_refused_with_both_lists(void)
{
    CHECK_MW(1, NULL, "the model knows ant, bee, cow; the data has bee, dog", "finetune", "--data", "others.csv", "-o",
             "refused", "run/model");
    CHECK_MW(1, NULL, "has the class \"dog\"", "report", "run", "--data", "others.csv");
    CHECK_MW(1, NULL, "gives 12 scores and does not name them", "finetune", "--data", "animals.csv", "-o", "refused",
             "twelve");
    CHECK(access("refused", F_OK) != 0);
    CHECK_MW(0, NULL, NULL, "finetune", "--data", "others.csv", "-o", "headed", "--head", "--epochs", "1", "-q",
             "run/model");
}

static void test_a_report_on_a_file_shows_all_of_it_by_name(void)
{
    CHECK_MW(0, "all examples, 60 examples", NULL, "report", "run", "--data", "two.csv");
    char *text = page_read("run/report.html");
    CHECK_CONTAINS(text, "60 of 60 examples are seen right");
    free(text);
    CHECK_MW(0, "the validation share, 6 examples", NULL, "report", "run", "--own-data");
    CHECK_MW(0, "\"examples\": 6}", NULL, "report", "run", "--own-data", "--json");
}

/* A run that came from elsewhere may name any path. */
static void test_a_report_opens_no_data_without_being_asked(void)
{
    shell_result r = MW("report", "run");
    CHECK_INT(r.code, 0);
    CHECK_CONTAINS(r.errs, "--own-data takes animals.csv");
    shell_free(&r);
    char *text = page_read("run/report.html");
    CHECK(strstr(text, "seen right") == NULL);
    free(text);
    CHECK_MW(2, NULL, "--samples has no effect without --data or --own-data", "report", "run", "--samples", "2");
    CHECK_MW(2, NULL, "--own-data has no effect with --data", "report", "run", "--own-data", "--data", "two.csv");
}

static void put_classes(const char *path, const char *a, const char *b)
{
    FILE *csv = fopen(path, "w");
    REQUIRE(csv != NULL);
    fputs("p,q,label\n", csv);
    for (int i = 0; i < 24; i++)
        fprintf(csv, "%d,%d,%s\n", i % 2, i % 3, i % 2 != 0 ? a : b);
    fclose(csv);
}

static void test_names_that_a_package_cannot_hold_are_converted_and_said(void)
{
    put_classes("latin.csv", "b\xe4r", "ant");
    put_classes("lines.csv", "\"bee\nhive\"", "ant");
    put_classes("same.csv", "b\xe4r", "b\xc3\xa4r");
    folder_put("plain.json", "{\"network\": [{\"dense\": \"classes\"}], \"epochs\": 1, \"batch\": 8, "
                             "\"data\": {\"normalize\": false}}");
    CHECK_MW(0, NULL, "taken for Latin 1 and written as \"b\xc3\xa4r\"", "train", "plain.json", "--data", "latin.csv",
             "--run", "latin", "-q");
    CHECK_MW(0, NULL, "written as \"bee hive\"", "train", "plain.json", "--data", "lines.csv", "--run", "lines", "-q");
    char *latin = page_read("latin/about.json"), *lines = page_read("lines/about.json");
    CHECK_CONTAINS(latin, "\"classes\": \"ant\\u000ab\xc3\xa4r\"");
    CHECK_CONTAINS(lines, "\"classes\": \"ant\\u000abee hive\"");
    free(latin);
    free(lines);
    CHECK_MW(1, NULL, "two classes are \"b\xc3\xa4r\"", "train", "plain.json", "--data", "same.csv", "-q");
    CHECK_MW(0, NULL, NULL, "finetune", "--data", "latin.csv", "-o", "out", "--epochs", "1", "-q", "latin/model");
}

static void tune_foreign(const char *data, const char *classes)
{
    mw_error err = {0};
    CHECK_MW(0, NULL, "are not taken as the names of its scores", "finetune", "--epochs", "1", "--lr", "1e-9", "-q",
             "--data", data, "-o", "own", "foreign");
    mw_model *model = mw_model_open("own", NULL, &err);
    const mw_description *d = mw_model_get_info(model).description;
    CHECK_OK(err);
    CHECK(d != NULL && d->pair_count > 0 && strcmp(d->pairs[0].key, "classes") == 0 &&
          strcmp(d->pairs[0].value, classes) == 0);
    mw_model_destroy(model);
}

/* Files of others have the key "classes" for other things: only a line for each score is a list of their names. */
static void test_a_text_of_others_is_no_list_of_names(void)
{
    static const char *const texts[] = {"{\"classes\": \"2\"}", "['cat', 'dog']", "a\nb"}, *const letters[] = {
                                                                                               "a", "b", "c", "d",
                                                                                               "e", "f", "g", "h",
                                                                                               "i", "j", "k", "l"};
    put_tables("letters", (const int[]){0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, letters, CLASSES);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        mw_error err = {0};
        mw_graph *graph = make_diagonal();
        const mw_text_pair pair = {"classes", texts[i]};
        mw_description description = mw_description_defaults();
        description.pairs = &pair;
        description.pair_count = 1;
        mw_write_options options = mw_write_defaults();
        options.description = &description;
        mw_graph_write(graph, "foreign", &options, &err);
        mw_graph_destroy(graph);
        CHECK_OK(err);
        tune_foreign("twelve.csv", texts[i]); /* integers name nothing: it stays what it is */
        tune_foreign("letters.csv", "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\nl");
    }
}

int main(void)
{
    char folder[512];
    if (!folder_enter(folder))
        return 1;
    RUN(write_files);
    RUN(test_integer_labels_are_ordered_as_integers);
    RUN(test_integers_are_themselves_where_only_some_are_there);
    RUN(train_animals);
    RUN(test_data_with_some_classes_is_mapped_by_name);
    RUN(test_integers_that_are_names_are_mapped_in_every_part);
    RUN(test_labels_beyond_the_names_touch_nothing);
    RUN(test_integers_among_other_names_are_mapped_by_name);
    RUN(test_a_test_set_of_another_kind_is_refused);
    RUN(test_a_run_does_not_go_on_with_other_classes);
    RUN(test_other_classes_are_refused_with_both_lists);
    RUN(test_a_report_on_a_file_shows_all_of_it_by_name);
    RUN(test_a_report_opens_no_data_without_being_asked);
    RUN(test_names_that_a_package_cannot_hold_are_converted_and_said);
    RUN(test_a_text_of_others_is_no_list_of_names);
    folder_leave(folder);
    return check_finish();
}
