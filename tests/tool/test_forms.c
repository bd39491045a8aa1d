/* What mw train writes predicts the same in every form, from the columns of the table as they are: time stamps, which
 * fp32 would round, and words for classes. */
#include "support/check.h"
#include "support/folder.h"
#include "support/page.h"
#include "tool/shell.h"

#include <math.h>
#include <millwright/millwright.h>
#include <stdlib.h>
#include <unistd.h>

enum { EXAMPLES = 96, CLASSES = 3 };

/* Seconds within three minutes, where fp32 has steps of 128; the class follows from them. In another order than by
 * name. */
static const char *const kinds[] = {"soon", "now", "later"};
static double stamp(int i) { return 1700000000.0 + i * 37 % 181; }
static const char *kind(int i) { return kinds[(int)(stamp(i) - 1700000000.0) / 61]; }

static void write_table(void)
{
    mw_error err = {0};
    static double x[EXAMPLES][2];
    FILE *csv = fopen("stamps.csv", "w");
    REQUIRE(csv != NULL);
    fputs("second,other,kind\n", csv);
    for (int i = 0; i < EXAMPLES; i++) {
        fprintf(csv, "%.0f,%d,%s\n", stamp(i), i % 5, kind(i));
        x[i][0] = stamp(i);
        x[i][1] = i % 5;
    }
    fclose(csv);
    mw_tensors_write("raw.npy", &(mw_tensor_values){"x", MW_F64, MW_SHAPE(EXAMPLES, 2), x}, 1, &err);
    CHECK_OK(err);
    folder_put("net.json", "{\"network\": [{\"dense\": 8}, \"tanh\", {\"dense\": \"classes\"}],\n"
                           " \"optimizer\": {\"learning_rate\": 0.05}, \"epochs\": 40, \"batch\": 16, \"threads\": 1}");
}

/* ---- what a form predicts ---- */

typedef struct predicted {
    float scores[EXAMPLES * CLASSES];
    char *names; /* a line for each example */
} predicted;

static predicted predict(const char *form)
{
    mw_error err = {0};
    predicted p = {.names = NULL};
    unlink("scores.npz");
    shell_result r = MW("run", form, "-i", "x=raw.npy", "-o", "scores.npz", "--values", "96", "-t", "1", "-q");
    check_note(r.code == 0, __FILE__, __LINE__, "run %s: %s", form, r.errs);
    const char *names = strstr(r.out, "  example 0: ");
    p.names = strdup(names != NULL ? names : "");
    mw_tensors *file = mw_tensors_open("scores.npz", &err);
    const mw_tensor_info *info = mw_tensors_at(file, 0);
    if (info != NULL)
        mw_tensors_read(file, info->name, MW_F32, p.scores, sizeof p.scores / sizeof p.scores[0], &err);
    check_note(err.status == MW_OK, __FILE__, __LINE__, "%s: %s", form, err.message);
    mw_tensors_destroy(file);
    shell_free(&r);
    return p;
}

static int count_right(const char *names)
{
    int right = 0;
    char line[64];
    for (int i = 0; i < EXAMPLES; i++) {
        snprintf(line, sizeof line, "  example %d: %s\n", i, kind(i));
        right += strstr(names, line) != NULL;
    }
    return right;
}

static void check_same(const predicted *want, const char *form, double tolerance)
{
    double apart = 0;
    predicted p = predict(form);
    for (int i = 0; i < EXAMPLES * CLASSES; i++)
        apart = fmax(apart, fabs((double)p.scores[i] - (double)want->scores[i]));
    check_note(apart <= tolerance && strcmp(p.names, want->names) == 0, __FILE__, __LINE__,
               "%s: scores are %g apart; its classes are %.60s ..", form, apart, p.names);
    free(p.names);
}

/* ---- the forms ---- */

static bool has_packages;
static predicted reference; /* of the folder that mw train wrote */

/* Of its run, of each format, and of each format from another. */
static const char *const forms[] = {"run",    "run/model",   "plain", "m.mlpackage", "m.onnx",
                                    "a.onnx", "b.mlpackage", "c",     "d.onnx",      "e"};
static const char *const conversions[][2] = {
    {"run", "a.onnx"}, {"run/model", "b.mlpackage"}, {"m.onnx", "c"}, {"m.mlpackage", "d.onnx"}, {"a.onnx", "e"}};
enum { FORMS = sizeof forms / sizeof forms[0], CONVERSIONS = sizeof conversions / sizeof conversions[0] };

static size_t form_count(void) { return has_packages ? FORMS : 3; }

static void test_every_form_predicts_the_same_from_the_columns_of_the_table(void)
{
    CHECK_MW(0, NULL, NULL, "train", "net.json", "--data", "stamps.csv", "--run", "run", "-o", "plain", "-q");
    shell_result r = MW("train", "net.json", "--data", "stamps.csv", "-o", "m.mlpackage", "-q");
    has_packages = r.code == 0; /* built with protobuf-c */
    shell_free(&r);
    if (has_packages)
        CHECK_MW(0, NULL, NULL, "train", "net.json", "--data", "stamps.csv", "-o", "m.onnx", "-q");
    for (size_t i = 0; has_packages && i < CONVERSIONS; i++)
        CHECK_MW(0, NULL, NULL, "convert", conversions[i][0], conversions[i][1]);
    reference = predict("plain");
    CHECK(count_right(reference.names) > EXAMPLES * 9 / 10);
    for (size_t i = 0; i < form_count(); i++)
        check_same(&reference, forms[i], 1e-4);
}

/* A step of nearly nothing leaves what it began with. */
static void test_every_form_is_tuned_from_what_it_is(void)
{
    for (size_t i = 0; i < form_count(); i++) {
        folder_empty("tuned");
        CHECK_MW(0, NULL, NULL, "finetune", forms[i], "--data", "stamps.csv", "-o", "tuned", "--lr", "1e-12",
                 "--epochs", "1", "-b", "16", "-t", "1", "-q");
        check_same(&reference, "tuned", 1e-3);
    }
}

/* How many of how many, and the figures of each class. */
static char *reported_classes(const char *form)
{
    shell_result r = MW("report", "run", "--model", form, "--data", "stamps.csv", "-o", "page.html", "-q");
    check_note(r.code == 0, __FILE__, __LINE__, "report %s: %s", form, r.errs);
    shell_free(&r);
    char *text = page_read("page.html"), *begin = NULL;
    const char *at = text != NULL ? strstr(text, "<h2") : NULL;
    for (; at != NULL && begin == NULL; at = strstr(at + 1, "<p>")) {
        const char *end = strstr(at, " examples are seen right");
        if (end != NULL && end - at < 40)
            begin = strndup(at, strcspn(strstr(end, "</table>"), "\n") + (size_t)(strstr(end, "</table>") - at));
    }
    free(text);
    return begin != NULL ? begin : strdup("");
}

static void test_every_form_is_reported_alike(void)
{
    char *want = reported_classes("run");
    CHECK(strstr(want, "<p>9") == want && strstr(want, "of 96 examples") != NULL);
    for (size_t i = 1; i < form_count(); i++) {
        char *found = reported_classes(forms[i]);
        check_note(strcmp(found, want) == 0, __FILE__, __LINE__, "%s: %.60s, not %.60s", forms[i], found, want);
        free(found);
    }
    free(want);
}

/* Who is fed as a program says what has to be subtracted before. */
static void test_inputs_that_are_fed_as_they_are_are_said(void)
{
    mw_error err = {0};
    static float x[2];
    mw_tensors_write("x.safetensors", &(mw_tensor_values){"x", MW_F32, MW_SHAPE(1, 2), x}, 1, &err);
    CHECK_OK(err);
    for (size_t i = 0; i < form_count(); i++) {
        CHECK_MW(0, NULL, "--inputs is fed as it is", "ranges", forms[i], "--inputs", "x.safetensors");
        CHECK_MW(0, NULL, "(mw.offsets: 17000000", "compare", forms[i], "--inputs", "x.safetensors", "--relative", "1");
    }
}

/* Runs of an earlier version say it beside the model alone. */
static void test_a_run_says_what_its_model_does_not(void)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_open_mil("run/model/model.mil", NULL, &err);
    mw_graph *main = graph != NULL ? mw_graph_function(graph, NULL, &err) : NULL;
    CHECK_OK(err);
    folder_empty("run/model");
    mw_graph_write(main, "run/model", NULL, &err); /* which says nothing */
    CHECK_OK(err);
    mw_graph_destroy(main);
    mw_graph_destroy(graph);
    check_same(&reference, "run", 1e-4);
    check_same(&reference, "run/model", 1e-4);
    check_same(&reference, "run/model/model.mil", 1e-4);
    CHECK_MW(1, NULL, "has no place for what is subtracted", "convert", "run", "n.espresso.net");
    char *want = reported_classes("run");
    CHECK(strstr(want, "of 96 examples") != NULL);
    free(want);
}

/* What is made of such a run says it itself. */
static void test_what_is_made_of_such_a_run_keeps_it(void)
{
    static const char *const from[] = {"run", "run/model", "run/model/model.mil"}, *const to[] = {"kept",
                                                                                                  "kept.mlpackage",
                                                                                                  "kept.onnx"};
    for (size_t i = 0; i < 3; i++) {
        for (size_t k = 0; k < (has_packages ? 3 : 1); k++) {
            folder_empty("kept");
            CHECK_MW(0, NULL, NULL, "convert", from[i], to[k]);
            check_same(&reference, to[k], 1e-4);
        }
        folder_empty("kept");
        CHECK_MW(0, NULL, NULL, "convert", from[i], "kept", "--weights", "fp16", "--least", "1");
        check_same(&reference, "kept", 0.1);
        folder_empty("kept");
        CHECK_MW(0, NULL, NULL, "finetune", from[i], "--data", "stamps.csv", "-o", "kept", "--lr", "1e-12", "--epochs",
                 "1", "-b", "16", "-t", "1", "-q");
        check_same(&reference, "kept", 1e-3);
    }
    if (has_packages) {
        CHECK_MW(0, NULL, NULL, "draw", "run", "-o", "drawn.onnx");
        check_same(&reference, "drawn.onnx", 1e-4);
    }
}

/* A model beside the run that says nothing is one of the run. */
static void test_a_report_takes_what_the_run_says_of_a_model_that_says_nothing(void)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_open_mil("run/model/model.mil", NULL, &err);
    mw_graph_write(graph, "silent", NULL, &err);
    if (has_packages)
        mw_graph_write(graph, "silent.onnx", NULL, &err);
    CHECK_OK(err);
    mw_graph_destroy(graph);
    char *want = reported_classes("run");
    for (size_t i = 0; i < (has_packages ? 2 : 1); i++) {
        char *found = reported_classes(i == 0 ? "silent" : "silent.onnx");
        CHECK_STR(found, want);
        free(found);
    }
    free(want);
}

static void test_a_broken_about_is_refused_with_file_and_key(void)
{
    static const char *const texts[] = {
        "",
        "{\"loss\": \"cross_entropy\", \"mw.offsets\": [1.7e9",
        "[]",
        "{\"loss\": \"cross_entropy\", \"mw.offsets\": [\"a\", 1]}",
        "{\"loss\": \"cross_entropy\", \"mw.offsets\": [1.7e9, null]}",
        "{\"loss\": \"cross_entropy\", \"mw.offsets\": [1.7e9, [0]]}",
        "{\"loss\": \"cross_entropy\", \"mw.offsets\": []}",
        "{\"loss\": \"cross_entropy\", \"mw.offsets\": true}",
        "{\"loss\": \"cross_entropy\", \"mw.offsets\": {}}",
    };
    char *good = page_read("run/about.json");
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        const char *where = "\"mw.offsets\" of the model is looked for in run/model/../about.json";
        folder_put("run/about.json", texts[i]);
        unlink("refused.onnx");
        CHECK_MW(1, NULL, where, "run", "run", "-i", "x=raw.npy", "-q");
        CHECK_MW(1, NULL, where, "run", "run/model/model.mil", "-i", "x=raw.npy", "-q");
        CHECK_MW(1, NULL, "run/model/../about.json", "convert", "run", "refused");
        CHECK_MW(1, NULL, where, "convert", "run", "refused.espresso.net");
        CHECK_MW(1, NULL, where, "finetune", "run", "--data", "stamps.csv", "-o", "refused", "-q");
        CHECK_MW(1, NULL, where, "ranges", "run", "--inputs", "x.safetensors");
        CHECK_MW(1, NULL, "about.json", "report", "run", "--data", "stamps.csv", "-o", "page.html", "-q");
        CHECK(access("refused", F_OK) != 0 && access("refused.espresso.net", F_OK) != 0);
    }
    folder_put("run/about.json", "{\"loss\": \"cross_entropy\", \"mw.offsets\": [1.7e9, 0], \"classes\": [\"a\"]}");
    CHECK_MW(1, NULL, "\"classes\" of the model is looked for in run/model/../about.json", "finetune", "run", "--data",
             "stamps.csv", "-o", "refused", "-q");
    folder_put("run/about.json", good);
    free(good);
}

/* As the file of another tool, which says a lot of itself. */
static void test_a_model_with_many_pairs_keeps_them_when_it_is_tuned(void)
{
    enum { MANY = 300, OWN_MOST = 16 };
    mw_error err = {0};
    static char keys[MANY][16];
    mw_text_pair pairs[MANY + OWN_MOST];
    mw_model *plain = mw_model_open("plain", NULL, &err);
    CHECK_OK(err);
    const mw_description *own = mw_model_get_info(plain).description;
    REQUIRE(own != NULL && own->pair_count > 0 && own->pair_count <= OWN_MOST);
    const size_t own_count = own->pair_count;
    for (int i = 0; i < MANY; i++) {
        snprintf(keys[i], sizeof keys[i], "key %d", i);
        pairs[i] = (mw_text_pair){keys[i], "value"};
    }
    for (size_t i = 0; i < own_count; i++)
        pairs[MANY + i] = own->pairs[i];
    mw_description description = mw_description_defaults();
    description.pairs = pairs;
    description.pair_count = MANY + own_count;
    mw_model_options options = mw_model_defaults();
    options.description = &description;
    mw_model *many = mw_model_create(mw_model_get_info(plain).graph, &options, &err);
    mw_model_write(many, "many", NULL, &err);
    CHECK_OK(err);
    mw_model_destroy(many);
    mw_model_destroy(plain);
    folder_empty("tuned");
    CHECK_MW(0, NULL, NULL, "finetune", "many", "--data", "stamps.csv", "-o", "tuned", "--lr", "1e-12", "--epochs", "1",
             "-b", "16", "-t", "1", "-q");
    mw_model *tuned = mw_model_open("tuned", NULL, &err);
    CHECK_OK(err);
    CHECK(mw_model_get_info(tuned).description != NULL &&
          mw_model_get_info(tuned).description->pair_count == MANY + own_count);
    mw_model_destroy(tuned);
    check_same(&reference, "tuned", 1e-3);
}

/* A netplist cannot say what is subtracted. */
static void test_a_format_without_a_place_for_it_is_refused_before_training(void)
{
    CHECK_MW(1, NULL, "n.espresso.net has no place for what is subtracted", "train", "net.json", "--data", "stamps.csv",
             "-o", "n.espresso.net", "-q");
    CHECK_MW(1, NULL, "has no place for what is subtracted", "convert", "plain", "n.espresso.net");
    CHECK_MW(1, "\"message\": \"n.espresso.net has no place for what is subtracted", NULL, "convert", "--json", "plain",
             "n.espresso.net");
    CHECK(access("n.espresso.net", F_OK) != 0);
}

static void test_other_programs_read_it_as_metadata(void)
{
    mw_error err = {0};
    for (size_t i = 0; i < form_count(); i++) {
        if (i < 2)
            continue;
        mw_model *model = mw_model_open(forms[i], NULL, &err);
        const mw_description *d = mw_model_get_info(model).description;
        CHECK_OK(err);
        int found = 0;
        for (size_t k = 0; d != NULL && k < d->pair_count; k++) {
            found += strcmp(d->pairs[k].key, "classes") == 0 && strcmp(d->pairs[k].value, "later\nnow\nsoon") == 0;
            found += strcmp(d->pairs[k].key, "mw.offsets") == 0 && strncmp(d->pairs[k].value, "17000000", 8) == 0;
        }
        check_note(found == 2, __FILE__, __LINE__, "%s says %d of 2", forms[i], found);
        mw_model_destroy(model);
    }
}

int main(void)
{
    char folder[512];
    if (!folder_enter(folder))
        return 1;
    RUN(write_table);
    RUN(test_every_form_predicts_the_same_from_the_columns_of_the_table);
    RUN(test_every_form_is_tuned_from_what_it_is);
    RUN(test_every_form_is_reported_alike);
    RUN(test_other_programs_read_it_as_metadata);
    RUN(test_inputs_that_are_fed_as_they_are_are_said);
    RUN(test_a_model_with_many_pairs_keeps_them_when_it_is_tuned);
    RUN(test_a_run_says_what_its_model_does_not);
    RUN(test_what_is_made_of_such_a_run_keeps_it);
    RUN(test_a_report_takes_what_the_run_says_of_a_model_that_says_nothing);
    RUN(test_a_broken_about_is_refused_with_file_and_key);
    RUN(test_a_format_without_a_place_for_it_is_refused_before_training);
    free(reference.names);
    folder_leave(folder);
    return check_finish();
}
