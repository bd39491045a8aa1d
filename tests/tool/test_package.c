/* mw package: what an app expects of a package, read by Google's protobuf alone and held to the listing of
 * docs/take_it_to_an_app.md; what other formats say; metadata that is hostile. */
#include "support/check.h"
#include "support/folder.h"
#include "support/page.h"
#include "tool/shell.h"

#include <millwright/millwright.h>
#include <millwright/onnx_check.h>
#include <stdlib.h>
#include <string.h>

#define PICTURES MW_TESTS_DIR "/data/images"
#define PYTHON   "/usr/bin/python3 -B '" MW_TESTS_DIR "/data/coreml/expect.py' "

static void put_data(void)
{
    FILE *table = fopen("table.csv", "w");
    REQUIRE(table != NULL);
    fputs("a,b,kind\n", table);
    for (int i = 0; i < 40; i++)
        fprintf(table, "%d,%d,\"%s\"\n", i % 7, i % 2 * 4, i % 2 != 0 ? "odd, or so" : "even");
    fclose(table);
    folder_put("pictures.json",
               "{\"network\": [{\"conv\": 4}, \"relu\", {\"dense\": \"classes\"}], \"epochs\": 1,\n"
               " \"batch\": 4, \"data\": {\"size\": [8, 12], \"fit\": \"pad\", \"mean\": [0.5, 0.4, 0.3],\n"
               " \"deviation\": [0.2, 0.25, 0.5]}}");
    folder_put("table.json", "{\"network\": [{\"dense\": \"classes\"}], \"epochs\": 1, \"batch\": 8}");
    folder_put("value.json", "{\"network\": [{\"dense\": 1}], \"epochs\": 1, \"batch\": 8, \"loss\": \"mse\",\n"
                             " \"data\": {\"target\": \"b\", \"inputs\": [\"a\"]}}");
}

/* Trains as a run; false if a library was left out at build time. */
static bool train(const char *recipe, const char *data, const char *name)
{
    shell_result r = MW("train", recipe, "--data", data, "--run", name, "-q");
    const bool good = r.code == 0;
    check_note(good || strstr(r.errs, "built without") != NULL, __FILE__, __LINE__, "%s: %s", recipe, r.errs);
    shell_free(&r);
    return good;
}

static bool has_packages(void)
{
    shell_result r = MW("package", "table", "Try.mlpackage", "-q");
    const bool good = r.code == 0;
    check_note(good || strstr(r.errs, "without protobuf-c") != NULL, __FILE__, __LINE__, "%s", r.errs);
    shell_free(&r);
    return good;
}

/* What expect.py prints of a package, to be freed; NULL where there is no protobuf for Python. */
static char *read_package(const char *path)
{
    char command[1024];
    snprintf(command, sizeof command, PYTHON "%s >said.txt 2>&1", path);
    const int status = system(command);
    char *said = page_read("said.txt");
    if (status != 0 && said != NULL && said[0] == '\0') {
        free(said);
        return NULL;
    }
    check_note(status == 0, __FILE__, __LINE__, "%s: %s", path, said != NULL ? said : "");
    return said;
}

static void check_line(const char *said, const char *line)
{
    check_note(strstr(said, line) != NULL, __FILE__, __LINE__, "\"%s\" has no line \"%s\"", said, line);
}

/* The word between the quotation marks behind `before`. */
static void quoted_after(const char *document, const char *before, char out[64])
{
    const char *at = document != NULL ? strstr(document, before) : NULL;
    out[0] = '\0';
    if (at != NULL)
        snprintf(out, 64, "%.*s", (int)strcspn(at + strlen(before), "\""), at + strlen(before));
}

static void test_a_package_is_what_the_listing_expects(void)
{
    char image[64], label[64], probabilities[64], line[256];
    if (!train("pictures.json", PICTURES, "pictures") || !has_packages())
        SKIP("built without libpng, libjpeg or protobuf-c");
    CHECK_MW(0, "image \"image\" of 8 x 12  labels \"classLabel\"", NULL, "package", "pictures", "P.mlpackage",
             "--author", "Me", "--license", "MIT", "--about", "Pictures", "--version", "1.2", "-q");
    char *document = page_read(MW_TESTS_DIR "/../docs/take_it_to_an_app.md"), *said = read_package("P.mlpackage");
    const char *listing = document != NULL ? strstr(document, "func classify") : NULL;
    quoted_after(listing, "dictionary: [\"", image);
    quoted_after(listing, "let label = output.featureValue(for: \"", label);
    quoted_after(listing, "let probabilities = output.featureValue(for: \"", probabilities);
    CHECK(image[0] != '\0' && label[0] != '\0' && probabilities[0] != '\0');
    free(document);
    if (said == NULL)
        SKIP("no protobuf for Python (python3-protobuf)");
    snprintf(line, sizeof line, "input %s: image RGB, 12 wide, 8 high\n", image);
    check_line(said, line);
    check_line(said, "  scale 0.0196078, 0.0156863, 0.00784314\n");
    snprintf(line, sizeof line, "output %s: string\n", label);
    check_line(said, line);
    snprintf(line, sizeof line, "output %s: dictionary by string\n", probabilities);
    check_line(said, line);
    snprintf(line, sizeof line, "predicted %s, probabilities %s\nlabels: jpeg, png\n", label, probabilities);
    check_line(said, line);
    check_line(said, "text: Pictures\nversion: 1.2\nauthor: Me\nlicense: MIT\nclasses: jpeg png\n");
    check_line(said, "\"fit\": \"pad\"");
    check_line(said, "mw.task: classes\n");
    free(said);
}

/* Line by line the same but for the last digits: classes first. */
static void test_a_package_predicts_what_its_model_does(void)
{
    shell_result r = MW("predict", "P.mlpackage", PICTURES, "-o", "package.npz", "-q");
    const bool is_there = r.code == 0;
    shell_free(&r);
    if (!is_there)
        SKIP("built without libpng, libjpeg or protobuf-c");
    mw_error err = {0};
    float p[20], q[20];
    CHECK_MW(0, NULL, NULL, "predict", "pictures", PICTURES, "-o", "model.npz", "-q");
    mw_tensors *package = mw_tensors_open("package.npz", &err), *model = mw_tensors_open("model.npz", &err);
    mw_tensors_read(package, "probabilities", MW_F32, p, 20, &err);
    mw_tensors_read(model, "probabilities", MW_F32, q, 20, &err);
    CHECK_OK(err);
    for (int i = 0; i < 20; i++)
        CHECK_NEAR((double)p[i], (double)q[i], 1e-4);
    CHECK_MW(1, NULL, "is a package for apps: its input \"image\" is an image of bytes", "finetune", "P.mlpackage",
             "--data", PICTURES, "-o", "tuned", "-q");
    mw_tensors_destroy(package);
    mw_tensors_destroy(model);
}

static void test_tables_have_labels_and_values_stay_arrays(void)
{
    if (!has_packages())
        SKIP("built without protobuf-c");
    CHECK_MW(0, "T.mlpackage  labels", NULL, "package", "table", "T.mlpackage", "-q");
    CHECK_MW(0, "V.mlpackage\n", NULL, "package", "value", "V.mlpackage", "-q");
    CHECK_MW(0, "A.mlpackage\n", NULL, "package", "table", "A.mlpackage", "--arrays", "-q");
    char *table = read_package("T.mlpackage"), *value = read_package("V.mlpackage");
    char *arrays = read_package("A.mlpackage");
    if (table == NULL)
        SKIP("no protobuf for Python (python3-protobuf)");
    check_line(table, "input x: array float32 [1, 2]\noutput classLabel: string\n");
    check_line(table, "labels: even, odd, or so\n");
    check_line(value, "input x: array float32 [1, 1]\noutput scores: array float32 [1, 1]\n");
    check_line(value, "mw.task: values\n");
    check_line(arrays, "output scores: array float32 [1, 2]\n");
    free(table);
    free(value);
    free(arrays);
}

static void test_onnx_says_the_same_in_its_metadata(void)
{
    mw_error err = {0};
    shell_result r = MW("package", "table", "t.onnx", "--author", "Me", "-q");
    const bool good = r.code == 0;
    check_note(good || strstr(r.errs, "without protobuf-c") != NULL, __FILE__, __LINE__, "%s", r.errs);
    shell_free(&r);
    if (!good)
        SKIP("built without protobuf-c");
    mw_onnx_check("t.onnx", &err);
    CHECK_OK(err);
    mw_graph *graph = mw_graph_open_onnx("t.onnx", NULL, &err);
    CHECK(graph != NULL && mw_tensor_shape(mw_graph_input_at(graph, 0)).dim[0] == MW_DIM_UNKNOWN);
    mw_graph_destroy(graph);
    CHECK_MW(0, "author: Me\n", NULL, "info", "t.onnx");
    CHECK_MW(0, "classes: even\\nodd, or so\n", NULL, "info", "t.onnx");
    CHECK_MW(0, "mw.task: classes\n", NULL, "info", "t.onnx");
    CHECK_MW(0, "accuracy", NULL, "evaluate", "t.onnx", "table.csv", "-q");
}

static void test_what_has_no_effect_is_refused(void)
{
    CHECK_MW(2, NULL, "has no place for what a model says of itself", "package", "table", "t.espresso.net");
    CHECK_MW(2, NULL, "--scale has no effect on a model whose input is no picture", "package", "table", "t.onnx",
             "--scale", "2");
    CHECK_MW(1, NULL, "is no model", "package", "gone", "t.onnx");
}

/* ---- metadata of others ---- */

static void write_hostile(const char *path, const char *key, const char *value)
{
    mw_error err = {0};
    mw_description d = mw_description_defaults();
    const mw_text_pair pairs[] = {{key, value}};
    d.pairs = pairs;
    d.pair_count = 1;
    mw_write_options options = mw_write_defaults();
    options.description = &d;
    mw_graph *graph = mw_graph_create(NULL, &err);
    mw_tensor *x = mw_reshape(mw_input(graph, "x", MW_F32, MW_SHAPE(1, 3, 8, 8)), MW_SHAPE(1, 192));
    mw_output(mw_relu(x), "y");
    mw_graph_write(graph, path, &options, &err);
    CHECK_OK(err);
    mw_graph_destroy(graph);
}

static void test_hostile_metadata_is_refused_by_name(void)
{
    static const struct {
        const char *key, *value, *part;
    } rows[] = {
        {"mw.picture", "{", "mw.picture:1:2: "},
        {"mw.picture", "[]", "an object is expected here"},
        {"mw.picture", "{\"height\": 1e9}", "\"height\" is 1"},
        {"mw.picture", "{\"channels\": 2}", "1 or 3 channels"},
        {"mw.picture", "{\"mean\": [1]}", "\"mean\" has 3 numbers"},
        {"mw.picture", "{\"height\": 9, \"width\": 9}", "which is no picture"},
        {"mw.picture", "{\"background\": [0, 0, 0, 0]}", "three numbers of 0 to 255"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        write_hostile("hostile", rows[i].key, rows[i].value);
        CHECK_MW(1, NULL, rows[i].part, "predict", "hostile", PICTURES);
    }
    char *long_text = malloc(100001);
    REQUIRE(long_text != NULL);
    memset(long_text, ' ', 100000);
    long_text[100000] = '\0';
    write_hostile("hostile", "mw.picture", long_text);
    CHECK_MW(1, NULL, "\"mw.picture\" has 100000 bytes, more than 65536", "predict", "hostile", PICTURES);
    free(long_text);
    write_hostile("hostile", "mw.table", "{\"version\": 7}");
    CHECK_MW(1, NULL, "hostile: \"mw.table\": table encoder, byte 12", "predict", "hostile", "table.csv");
}

int main(void)
{
    char folder[512];
    if (!folder_enter(folder))
        return 1;
    put_data();
    CHECK(train("table.json", "table.csv", "table") && train("value.json", "table.csv", "value"));
    RUN(test_a_package_is_what_the_listing_expects);
    RUN(test_a_package_predicts_what_its_model_does);
    RUN(test_tables_have_labels_and_values_stay_arrays);
    RUN(test_onnx_says_the_same_in_its_metadata);
    RUN(test_what_has_no_effect_is_refused);
    RUN(test_hostile_metadata_is_refused_by_name);
    folder_leave(folder);
    return check_finish();
}
