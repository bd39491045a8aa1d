/* The data of mw train and mw finetune: what is read from tables, tensors and pictures, and what is refused. */
#include "support/check.h"
#include "support/folder.h"
#include "support/page.h"
#include "tool/shell.h"

#include <math.h>
#include <millwright/millwright.h>
#include <stdlib.h>
#include <unistd.h>

static const char two_layers[] =
    "{\"network\": [{\"dense\": 8}, \"tanh\", {\"dense\": \"classes\"}],\n"
    " \"optimizer\": {\"learning_rate\": 0.05}, \"epochs\": 30, \"batch\": 16, \"threads\": 1}";

static double number_behind(const char *text, const char *key)
{
    const char *at = strstr(text, key);
    return at != NULL ? strtod(at + strlen(key), NULL) : -1;
}

/* Trains and checks that the validation share is told apart. */
static void expect_learned(const char *data, const char *config)
{
    shell_result r = MW("train", config, "--data", data, "--json", "-q");
    CHECK_INT(r.code, 0);
    const double accuracy = number_behind(r.out, "\"accuracy\": ");
    check_note(accuracy > 0.9, __FILE__, __LINE__, "%s: accuracy %g; %s", data, accuracy, r.errs);
    shell_free(&r);
}

/* ---- time stamps ---- */

enum { STAMPS = 200 };

/* Seconds of 2023 within three minutes, where fp32 has steps of 128; the class follows from them. */
static double stamp(int i) { return 1700000000.0 + i * 37 % 181; }
static bool is_late(int i) { return stamp(i) > 1700000090.0; }

static void write_stamps(void)
{
    mw_error err = {0};
    static double x[STAMPS];
    static uint8_t y[STAMPS];
    FILE *csv = fopen("stamps.csv", "w"), *lines = fopen("stamps.jsonl", "w"), *wide = fopen("millis.csv", "w");
    REQUIRE(csv != NULL && lines != NULL && wide != NULL);
    fputs("second,always,kind\n", csv);
    fputs("millisecond,kind\n", wide);
    for (int i = 0; i < STAMPS; i++) {
        fprintf(csv, "%.0f,1e9,%s\n", stamp(i), is_late(i) ? "late" : "early");
        fprintf(wide, "%.0f,%s\n", 1000 * stamp(i), is_late(i) ? "late" : "early");
        fprintf(lines, "{\"second\": %.0f, \"kind\": \"%s\"}\n", stamp(i), is_late(i) ? "late" : "early");
        x[i] = stamp(i);
        y[i] = is_late(i);
    }
    fclose(csv);
    fclose(lines);
    fclose(wide);
    const mw_tensor_values values[] = {{"x", MW_F64, MW_SHAPE(STAMPS, 1), x}, {"y", MW_U8, MW_SHAPE(STAMPS), y}};
    mw_tensors_write("stamps.npz", values, 2, &err);
    CHECK_OK(err);
}

static void test_time_stamps_are_learned_from_every_file(void)
{
    write_stamps();
    folder_put("two.json", two_layers);
    expect_learned("stamps.csv", "two.json");
    expect_learned("stamps.jsonl", "two.json");
    expect_learned("millis.csv", "two.json");
    folder_put("normal.json", "{\"network\": [{\"dense\": 8}, \"tanh\", {\"dense\": \"classes\"}],\n"
                              " \"data\": {\"normalize\": true},\n"
                              " \"optimizer\": {\"learning_rate\": 0.05}, \"epochs\": 30, \"batch\": 16}");
    expect_learned("stamps.npz", "normal.json");
    CHECK_MW(0, NULL, "field \"second\": fp32 has steps of 128", "train", "two.json", "--data", "stamps.csv", "-q");
}

/* What was subtracted goes with the run and with the package. */
static void test_what_was_subtracted_is_kept(void)
{
    CHECK_MW(0, NULL, NULL, "train", "two.json", "--data", "stamps.csv", "--run", "stamps", "-q");
    char *about = page_read("stamps/about.json");
    CHECK_CONTAINS(about, "\"mw.offsets\": [17000000");
    free(about);
    CHECK_MW(0, "report.html", NULL, "report", "stamps", "--own-data");
    char *written = page_read("stamps/report.html");
    CHECK_CONTAINS(written, "seen right");
    free(written);
    shell_result r = MW("train", "two.json", "--data", "stamps.csv", "--out", "stamps.mlpackage", "-q");
    const bool has_packages = r.code == 0; /* built with protobuf-c */
    shell_free(&r);
    if (!has_packages)
        return;
    r = MW("finetune", "stamps.mlpackage", "--data", "stamps.csv", "--out", "on.mlpackage", "--epochs", "1", "--lr",
           "1e-6", "--json", "-q");
    CHECK_INT(r.code, 0);
    CHECK(number_behind(r.out, "\"accuracy\": ") > 0.9);
    shell_free(&r);
    /* mw run subtracts it, too: from a number, and from a file */
    mw_error err = {0};
    const double late[] = {1700000170, 1e9}, early[] = {1700000010, 1e9};
    mw_tensors_write("late.npy", &(mw_tensor_values){"x", MW_F64, MW_SHAPE(1, 2), late}, 1, &err);
    mw_tensors_write("early.npy", &(mw_tensor_values){"x", MW_F64, MW_SHAPE(1, 2), early}, 1, &err);
    CHECK_OK(err);
    CHECK_MW(0, "example 0: late", NULL, "run", "stamps.mlpackage", "-i", "x=late.npy");
    CHECK_MW(0, "example 0: early", NULL, "run", "stamps.mlpackage", "-i", "x=early.npy");
}

/* Deviations from 1e-9 to 1e6, each with a class that depends on the column. */
static void test_columns_of_any_size_are_normalized(void)
{
    static const double sizes[] = {1e-9, 1e-4, 1, 1e6};
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        FILE *csv = fopen("size.csv", "w");
        REQUIRE(csv != NULL);
        fputs("value,kind\n", csv);
        for (int i = 0; i < STAMPS; i++)
            fprintf(csv, "%.9g,%s\n", sizes[s] * (i * 37 % 181), i * 37 % 181 > 90 ? "late" : "early");
        fclose(csv);
        expect_learned("size.csv", "two.json");
    }
}

/* ---- forms of tables ---- */

static void test_a_table_of_one_field_is_trained(void)
{
    FILE *csv = fopen("line.csv", "w");
    REQUIRE(csv != NULL);
    fputs("a,v\n", csv);
    for (int i = 0; i < 64; i++)
        fprintf(csv, "%g,%g\n", i / 32.0, 2 * (i / 32.0) + 1);
    fclose(csv);
    folder_put("line.json", "{\"loss\": \"mse\", \"network\": [{\"dense\": 1}], \"epochs\": 60, \"batch\": 8,\n"
                            " \"optimizer\": {\"learning_rate\": 0.1}, \"data\": {\"validation\": 0.25}}");
    shell_result r = MW("train", "line.json", "--data", "line.csv", "--json", "-q");
    CHECK_INT(r.code, 0);
    const double distance = number_behind(r.out, "\"mean_absolute_error\": ");
    CHECK(distance >= 0 && distance < 0.2);
    shell_free(&r);
}

static void test_a_table_without_a_header_has_numbered_fields(void)
{
    folder_put("bare.csv", "1,2,a\n2,1,b\n1,3,a\n3,1,b\n");
    folder_put("bare.json", "{\"network\": [{\"dense\": \"classes\"}], \"epochs\": 1, \"batch\": 2,\n"
                            " \"data\": {\"header\": false, \"validation\": 0}}");
    CHECK_MW(0, "4 examples, 0 for validation, 2 classes", NULL, "train", "bare.json", "--data", "bare.csv", "-q");
}

static void test_integers_of_lines_stay_integers(void)
{
    FILE *lines = fopen("tokens.jsonl", "w");
    REQUIRE(lines != NULL);
    fputs("\xef\xbb\xbf", lines); /* a byte order mark */
    for (int i = 0; i < 64; i++)
        fprintf(lines, "{\"tokens\": [%d, %d, 300], \"kind\": \"%s\"}\n", i % 4, i % 3, i % 4 > 1 ? "a" : "b");
    fclose(lines);
    folder_put("tokens.json", "{\"network\": [{\"embedding\": 2, \"count\": 301}, {\"dense\": \"classes\"}],\n"
                              " \"optimizer\": {\"learning_rate\": 0.1}, \"epochs\": 30, \"batch\": 8}");
    expect_learned("tokens.jsonl", "tokens.json");
    folder_put("few.json",
               "{\"network\": [{\"embedding\": 2, \"count\": 300}, {\"dense\": \"classes\"}], \"epochs\": 1}");
    CHECK_MW(1, NULL, "is 300, not in 0 .. 299", "train", "few.json", "--data", "tokens.jsonl", "-q");
}

static void test_a_file_with_thousands_of_classes_and_fields_is_read(void)
{
    enum { CLASSES = 5000, FIELDS = 5000 };
    FILE *csv = fopen("many.csv", "w"), *wide = fopen("wide.csv", "w");
    REQUIRE(csv != NULL && wide != NULL);
    fputs("p,y\n", csv);
    for (int i = 0; i < CLASSES; i++)
        fprintf(csv, "%d,c%d\n", i % 3, i);
    fclose(csv);
    for (int row = 0; row < 3; row++) {
        for (int i = 0; i < FIELDS; i++)
            fprintf(wide, row == 0 ? "f%d," : "%d,", i % 7 + (row == 0 ? i : row));
        fputs(row == 0 ? "y\n" : row == 1 ? "a\n" : "b\n", wide);
    }
    fclose(wide);
    folder_put("many.json", "{\"network\": [{\"dense\": \"classes\"}], \"epochs\": 1, \"batch\": 500,\n"
                            " \"data\": {\"path\": \"many.csv\", \"test\": \"many.csv\"}}");
    CHECK_MW(0, "5000 classes", NULL, "train", "many.json", "-q");
    folder_put("wide.json", "{\"network\": [{\"dense\": \"classes\"}], \"epochs\": 1, \"batch\": 2,\n"
                            " \"data\": {\"validation\": 0}}");
    CHECK_MW(0, "2 classes", NULL, "train", "wide.json", "--data", "wide.csv", "-q");
}

/* ---- pictures ---- */

static void test_a_model_for_gray_pictures_is_tuned_on_them(void)
{
    static const char pictures[] = MW_TESTS_DIR "/data/images"; /* in color and gray, 9 by 7 */
    folder_put("gray.json", "{\"network\": [{\"conv\": 2}, \"relu\", {\"dense\": \"classes\"}], \"epochs\": 1,\n"
                            " \"batch\": 4, \"data\": {\"channels\": 1}}");
    shell_result r = MW("train", "gray.json", "--data", pictures, "--run", "gray", "-q");
    const bool is_left_out = strstr(r.errs, "built without") != NULL;
    CHECK(r.code == 0 || is_left_out);
    shell_free(&r);
    if (is_left_out)
        SKIP("built without libpng or libjpeg");
    CHECK_MW(0, "2 classes", NULL, "finetune", "gray/model", "--data", pictures, "--epochs", "1", "-o", "gray2", "-q");
    CHECK_MW(0, "report.html", NULL, "report", "gray", "--data", pictures);
}

/* The model takes 9 by 7 pixels, the pictures are 7 by 9. */
static void test_pictures_on_their_side_are_fitted(void)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "image", MW_F32, MW_SHAPE(1, 3, 9, 7));
    mw_output(mw_dense(mw_reshape(x, MW_SHAPE(1, 189)), 2, "fc"), "scores");
    mw_model_options options = mw_model_defaults();
    mw_model *model = mw_model_create(graph, &options, &err);
    mw_model_write(model, "side", NULL, &err);
    CHECK_OK(err);
    mw_model_destroy(model);
    mw_graph_destroy(graph);
    shell_result r = MW("finetune", "side", "--data", MW_TESTS_DIR "/data/images", "-o", "side2", "-q");
    CHECK(r.code == 0 || strstr(r.errs, "built without") != NULL);
    shell_free(&r);
}

#define SIZED                                                                                                          \
    "{\"network\": [{\"conv\": 2}, \"relu\", {\"dense\": \"classes\"}], \"epochs\": 2, \"batch\": 4, \"data\": "

/* Pictures of 1 x 9 to 40 x 48 pixels, upright and turned, in all three formats. */
static void test_pictures_of_any_size_are_trained(void)
{
    static const char pictures[] = MW_TESTS_DIR "/data/pictures";
    static const struct {
        const char *settings, *error;
    } rows[] = {
        {"{\"size\": 8}", NULL},
        {"{\"size\": [8, 12], \"fit\": \"pad\", \"background\": [9, 9, 9], \"memory\": 0}", NULL},
        {"{\"size\": 8, \"channels\": 1, \"augment\": {\"scale\": [0.5, 1], \"ratio\": [0.5, 2], \"flip\": 0.5}}",
         NULL},
        {"{\"size\": 8, \"crop\": 0.875, \"blend\": true, \"reduce\": true}", NULL},
        {"{\"size\": 8, \"augment\": {\"rotate\": 15, \"color\": {\"brightness\": 0.4, \"contrast\": 0.4, "
         "\"saturation\": 0.4, "
         "\"hue\": 0.1}, \"erase\": {\"probability\": 0.25, \"scale\": [0.02, 0.2], \"ratio\": [0.5, 2], \"value\": "
         "127}}}",
         NULL},
        {"{\"size\": 8, \"channels\": 1, \"augment\": {\"color\": {\"hue\": 0.1}}}", "1 channels; color is of 3"},
        {"{\"size\": 8, \"mean\": [0.485, 0.456, 0.406], \"deviation\": [0.229, 0.224, 0.225]}", NULL},
        {"{\"size\": 8, \"normalize\": true}", NULL},
        {"{\"size\": 8, \"normalize\": true, \"mean\": [0, 0, 0]}", "two ways to normalize"},
        {"{\"size\": 8, \"mean\": [0.5]}", "\"mean\" is a list of 3 numbers"},
        {"{\"size\": 8, \"deviation\": [1, 1, 1]}", "\"deviation\" has no effect"},
        {"{\"size\": 8, \"memory\": 0, \"augment\": {\"mixup\": 0.2, \"cutmix\": 1}}", NULL},
        {"{\"size\": 8, \"augment\": {\"mixup\": 0.01}}", "mixup 0.01"},
        {"{}", "pictures of several sizes want"},
        {"{}", "\"size\": 64 in \"data\" of the recipe"},
        {"{\"size\": 0}", "\"size\" is 0"},
        {"{\"size\": [8]}", "\"size\" is a list of 2 numbers of 1 to 16384"},
        {"{\"fit\": \"pad\"}", "pictures of several sizes want"},
        {"{\"size\": 8, \"fit\": \"none\"}", "none of stretch, crop, pad"},
        {"{\"size\": 8, \"background\": [1, 2, 3]}", "\"background\" has no effect"},
        {"{\"size\": 8, \"fit\": \"pad\", \"crop\": 0.5}", "\"crop\" has no effect"},
        {"{\"size\": 8, \"augment\": {\"ratio\": [0.5, 2]}}", "\"ratio\" has no effect"},
        {"{\"size\": 8, \"augment\": {\"scale\": [0.5, 2]}}", "\"scale\" is a list of 2 numbers"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char recipe[400];
        snprintf(recipe, sizeof recipe, SIZED "%s}", rows[i].settings);
        folder_put("sized.json", recipe);
        shell_result r = MW("train", "sized.json", "--data", pictures, "--run", "sized", "-q");
        if (strstr(r.errs, "built without") != NULL)
            SKIP("built without libpng, libjpeg or libwebp");
        check_note((r.code == 0) == (rows[i].error == NULL) &&
                       (rows[i].error == NULL || strstr(r.errs, rows[i].error) != NULL),
                   __FILE__, __LINE__, "%s: %d, %s", rows[i].settings, r.code, r.errs);
        shell_free(&r);
        if (rows[i].error == NULL)
            CHECK_MW(0, "report.html", NULL, "report", "sized", "--data", pictures);
        folder_empty("sized");
    }
}

/* The loss of each step, from the metrics of a run; returns how many. */
static int read_losses(const char *path, double *out, int room)
{
    int count = 0;
    FILE *file = fopen(path, "r");
    for (char line[2000]; file != NULL && fgets(line, sizeof line, file) != NULL;) {
        if (strstr(line, "\"kind\":\"step\"") != NULL && count < room)
            out[count++] = number_behind(line, "\"loss\":");
    }
    if (file != NULL)
        fclose(file);
    return count;
}

/* Cut out, turned, colored, erased and mixed at random: a run that was ended and goes on has the losses of a whole one.
 */
static void test_pictures_are_the_same_when_a_run_goes_on(void)
{
    enum { ROOM = 40 };
    static const char pictures[] = MW_TESTS_DIR "/data/pictures";
    folder_put(
        "on.json",
        "{\"network\": [{\"conv\": 2}, \"relu\", {\"dense\": \"classes\"}], \"batch\": 4,"
        " \"schedule\": {\"name\": \"constant\"}, \"data\": {\"size\": 8, \"memory\": 0, \"split\": \"stratified\","
        " \"augment\": {\"scale\": [0.5, 1], \"flip\": 0.5, \"rotate\": 20, \"erase\": {\"probability\": 0.5}, "
        "\"seed\": 3,"
        " \"color\": {\"brightness\": 0.4, \"hue\": 0.1}, \"mixup\": 0.3, \"cutmix\": 1}}}");
    shell_result r = MW("train", "on.json", "--data", pictures, "--epochs", "4", "--run", "whole", "-q");
    const bool is_left_out = strstr(r.errs, "built without") != NULL;
    shell_free(&r);
    if (is_left_out)
        SKIP("built without libpng, libjpeg or libwebp");
    CHECK_MW(0, NULL, NULL, "train", "on.json", "--data", pictures, "--epochs", "2", "--run", "parts", "-q");
    CHECK_MW(0, NULL, NULL, "train", "on.json", "--data", pictures, "--epochs", "4", "--run", "parts", "-q");
    double whole[ROOM], parts[ROOM];
    const int count = read_losses("whole/metrics.jsonl", whole, ROOM);
    CHECK_INT(count, 20);
    CHECK_INT(read_losses("parts/metrics.jsonl", parts, ROOM), count);
    CHECK(memcmp(whole, parts, (size_t)count * sizeof *whole) == 0);
}

/* One mean and one factor a channel, computed by numpy and Pillow over all pictures. */
static void test_pictures_are_normalized_by_channel(void)
{
    folder_put("channels.json",
               "{\"network\": [{\"conv\": 2}, \"relu\", {\"dense\": \"classes\"}], \"epochs\": 1, \"batch\": 4,"
               " \"data\": {\"size\": 8, \"normalize\": true, \"validation\": 0}}");
    shell_result r = MW("train", "channels.json", "--data", MW_TESTS_DIR "/data/pictures", "--run", "channels", "-q");
    const bool is_left_out = strstr(r.errs, "built without") != NULL;
    shell_free(&r);
    if (is_left_out)
        SKIP("built without libpng, libjpeg or libwebp");
    static const double wanted[] = {0.49198580, 0.25481516, 0.49535846, 7.30543116, 3.15910346, 7.23393979};
    char *text = page_read("channels/model/model.mil");
    const char *at = text;
    for (int i = 0; i < 6; i++) {
        at = i % 3 == 0 && at != NULL ? strstr(at, "[1, 3, 1, 1]>([[[[") : at;
        at = at != NULL ? strstr(at, "0x") : NULL;
        CHECK(at != NULL && fabs(strtod(at, NULL) - wanted[i]) < 2e-3 * wanted[i]);
        at = at != NULL ? at + 2 : NULL;
    }
    free(text);
}

/* Names and labels from a table: one label, or several; broken pictures are named. */
static void test_pictures_of_a_table_are_trained(void)
{
    folder_put("one.csv", "name,label\na/wide.png,x\na/high.png,y\na/tiny.png,x\nb/plain.jpg,y\nb/lossy.webp,x\n"
                          "a/same.png,y\nmake.py,x\n");
    folder_put("several.csv", "file,tags\na/wide.png,sun|sea\na/high.png,|\na/tiny.png,sea\nb/plain.jpg,sun\n");
    static const struct {
        const char *loss, *settings, *said;
        int code;
    } rows[] = {
        {"cross_entropy", "\"table\": \"one.csv\", \"broken\": \"skip\"", "make.py\" is neither PNG", 0},
        {"cross_entropy", "\"table\": \"one.csv\"", "make.py\" is neither PNG", 1},
        {"cross_entropy", "\"table\": \"one.csv\", \"broken\": \"never\"", "none of refuse, skip, late", 2},
        {"cross_entropy", "\"name\": \"file\"", "\"name\" has no effect", 2},
        {"cross_entropy",
         "\"table\": \"several.csv\", \"name\": \"file\", \"label\": \"tags\", \"label_separator\": \"|\"",
         "several labels of a file want", 2},
        {"binary_cross_entropy",
         "\"table\": \"several.csv\", \"name\": \"file\", \"label\": \"tags\", \"label_separator\": \"|\"", "", 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char recipe[500];
        snprintf(recipe, sizeof recipe,
                 "{\"loss\": \"%s\", \"epochs\": 2, \"batch\": 2, \"network\": [{\"conv\": 2}, \"relu\", {\"dense\": "
                 "\"classes\"}],"
                 " \"data\": {\"size\": 8, \"validation\": 0, %s}}",
                 rows[i].loss, rows[i].settings);
        folder_put("listed.json", recipe);
        shell_result r = MW("train", "listed.json", "--data", MW_TESTS_DIR "/data/pictures", "-q");
        if (strstr(r.errs, "built without") != NULL)
            SKIP("built without libpng, libjpeg or libwebp");
        check_note(r.code == rows[i].code && strstr(r.errs, rows[i].said) != NULL, __FILE__, __LINE__, "%s: %d, %s",
                   rows[i].settings, r.code, r.errs);
        shell_free(&r);
    }
}

/* ---- what is refused ---- */

static void put_labels(int64_t label)
{
    mw_error err = {0};
    const float x[] = {1, 2, 3, 4};
    const int64_t y[] = {label, 1, 0, 1};
    const mw_tensor_values values[] = {{"x", MW_F32, MW_SHAPE(4, 1), x}, {"y", MW_I64, MW_SHAPE(4), y}};
    mw_tensors_write("labels.npz", values, 2, &err);
    CHECK_OK(err);
}

static void test_labels_that_are_too_large_are_refused_by_example(void)
{
    folder_put("labels.json", "{\"network\": [{\"dense\": \"classes\"}], \"epochs\": 1, \"batch\": 2}");
    static const int64_t labels[] = {65536, 1000000000, INT64_MAX};
    for (int i = 0; i < 3; i++) {
        put_labels(labels[i]);
        CHECK_MW(1, NULL, "\"labels.npz\": y of example 0 is ", "train", "labels.json", "--data", "labels.npz", "-q");
    }
}

/* Before the first step, by their place. */
static void test_tensors_with_holes_are_refused_by_element(void)
{
    mw_error err = {0};
    const float x[] = {1, 2, 3, 4, NAN, 6, INFINITY, 8};
    const double wide[] = {1, 2, 3, 4, 5, 6, 7, -INFINITY};
    const int64_t y[] = {0, 1, 0, 1};
    const mw_tensor_values narrow[] = {{"x", MW_F32, MW_SHAPE(4, 2), x}, {"y", MW_I64, MW_SHAPE(4), y}};
    const mw_tensor_values wider[] = {{"x", MW_F64, MW_SHAPE(4, 2), wide}, {"y", MW_I64, MW_SHAPE(4), y}};
    mw_tensors_write("holes.npz", narrow, 2, &err);
    mw_tensors_write("wide.npz", wider, 2, &err);
    CHECK_OK(err);
    CHECK_MW(1, NULL, "2 of the 8 elements of \"x\" are not finite, first element 0 of example 2", "train",
             "labels.json", "--data", "holes.npz", "-q");
    CHECK_MW(1, NULL, "1 of the 8 elements of \"x\" are not finite, first element 1 of example 3", "train",
             "labels.json", "--data", "wide.npz", "-q");
}

static void test_what_is_wrong_with_a_table_names_file_and_line(void)
{
    static const struct {
        const char *file, *text, *error;
    } rows[] = {
        {"q.csv", "\"abc", "\"q.csv\", line 1: the quote is not closed"},
        {"q.csv", "a,\"b\"\"", "\"q.csv\", line 1: the quote is not closed"},
        {"q.csv", "", "\"q.csv\", line 1: it is empty"},
        {"q.csv", "y\n1\n", "\"q.csv\": the table has no field besides the target \"y\""},
        {"q.csv", "a,y\n1,p\n2,\n", "\"q.csv\", line 3, field \"y\": the target is missing"},
        {"q.jsonl", "{\"a\": 1, \"y\": \"p\"\n", "\"q.jsonl\", line 1: JSON"},
        {"q.jsonl", "\n\n[1]\n", "\"q.jsonl\", line 3: it has no object"},
        {"q.jsonl", "{\"a\": 1, \"y\": \"p\"}\n{\"a\": 1}\n",
         "\"q.jsonl\", line 2, field \"y\": the target is missing"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        folder_put(rows[i].file, rows[i].text);
        CHECK_MW(1, NULL, rows[i].error, "train", "labels.json", "--data", rows[i].file, "-q");
    }
}

static void test_settings_of_data_are_refused_with_their_place(void)
{
    static const struct {
        const char *text, *error;
    } rows[] = {
        {"\"separator\": \"\"", "\"separator\" is \"\", not one of"},
        {"\"separator\": \"ab\"", "\"separator\" is \"ab\", not one of"},
        {"\"separator\": \"x\"", "\"separator\" is \"x\", not one of"},
        {"\"validation\": 1e300", "\"validation\" is 1e+300, not in 0 .. 0.9"},
        {"\"validation\": -1e300", "\"validation\" is -1e+300, not in 0 .. 0.9"},
        {"\"inputs\": [1]", "names of fields"},
    };
    char config[400];
    folder_put("abc.csv", "p,y\n1,a\n2,b\n");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        snprintf(config, sizeof config, "{\"network\": [{\"dense\": \"classes\"}], \"data\": {%s}}", rows[i].text);
        folder_put("place.json", config);
        CHECK_MW(2, NULL, rows[i].error, "train", "place.json", "--data", "abc.csv", "-q");
        CHECK_MW(2, NULL, "place.json:1:", "train", "place.json", "--data", "abc.csv", "-q");
    }
}

static void test_layers_that_repeat_have_a_bound(void)
{
    static const struct {
        const char *layers, *error;
    } rows[] = {
        {"{\"repeat\": 1000, \"layers\": [{\"repeat\": 1000, \"layers\": [\"relu\"]}]}", "at most 10000 layers"},
        {"{\"repeat\": 1001, \"layers\": [\"relu\"]}", "at most 1000 times, not 1001"},
    };
    char config[400];
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        snprintf(config, sizeof config, "{\"network\": [%s, {\"dense\": \"classes\"}]}", rows[i].layers);
        folder_put("deep.json", config);
        CHECK_MW(2, NULL, rows[i].error, "train", "deep.json", "--data", "abc.csv", "-q");
    }
}

/* ---- files of others ---- */

static void test_models_of_others_are_named_with_what_to_do(void)
{
    static const struct {
        const char *file, *part;
    } rows[] = {
        {"x.mlmodel", "coremltools.convert(.., convert_to=\"mlprogram\")"},
        {"x.tflite", "tf2onnx.convert --tflite"},
        {"x.h5", "tf2onnx.convert.from_keras"},
        {"x.keras", "tf2onnx.convert.from_keras"},
        {"x.pb", "tf2onnx.convert --saved-model"},
        {"x.mat", "exportONNXNetwork"},
        {"x.pth", "torch.onnx.export"},
        {"x.gguf", "a file of weights alone"},
        {"x.xyz", "no model that is known by its name"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        folder_put(rows[i].file, "something");
        CHECK_MW(1, NULL, rows[i].part, "bench", rows[i].file);
    }
}

static void test_what_a_file_of_tensors_has_besides_is_listed(void)
{
    CHECK_MW(0, "left out: args: it is made by the global \"argparse Namespace\"", NULL, "tensors",
             MW_TESTS_DIR "/data/tensors/beside2.pt");
    CHECK_MW(0, "\"left_out\": [{\"name\": \"scale\", \"reason\":", NULL, "tensors", "--json",
             MW_TESTS_DIR "/data/tensors/eight.safetensors");
    CHECK_MW(1, NULL, "torch.nn.modules.container Sequential", "info", MW_TESTS_DIR "/data/tensors/module.pt");
    CHECK_MW(0, NULL, "left out: \"words\"", "convert", MW_TESTS_DIR "/data/tensors/words.npz", "words.safetensors");
}

int main(void)
{
    char folder[512];
    if (!folder_enter(folder))
        return 1;
    RUN(test_time_stamps_are_learned_from_every_file);
    RUN(test_what_was_subtracted_is_kept);
    RUN(test_columns_of_any_size_are_normalized);
    RUN(test_a_table_of_one_field_is_trained);
    RUN(test_a_table_without_a_header_has_numbered_fields);
    RUN(test_integers_of_lines_stay_integers);
    RUN(test_a_file_with_thousands_of_classes_and_fields_is_read);
    RUN(test_a_model_for_gray_pictures_is_tuned_on_them);
    RUN(test_pictures_on_their_side_are_fitted);
    RUN(test_pictures_of_any_size_are_trained);
    RUN(test_pictures_of_a_table_are_trained);
    RUN(test_pictures_are_the_same_when_a_run_goes_on);
    RUN(test_pictures_are_normalized_by_channel);
    RUN(test_labels_that_are_too_large_are_refused_by_example);
    RUN(test_tensors_with_holes_are_refused_by_element);
    RUN(test_what_is_wrong_with_a_table_names_file_and_line);
    RUN(test_settings_of_data_are_refused_with_their_place);
    RUN(test_layers_that_repeat_have_a_bound);
    RUN(test_models_of_others_are_named_with_what_to_do);
    RUN(test_what_a_file_of_tensors_has_besides_is_listed);
    folder_leave(folder);
    return check_finish();
}
