/* What mw train writes fits the code that an app runs it with (docs/take_it_to_an_app.md), and onnxruntime: one example
 * in a package, any number of them in an ONNX file. */
#include "support/check.h"
#include "support/folder.h"
#include "support/page.h"
#include "tool/shell.h"

#include <millwright/millwright.h>
#include <millwright/onnx_check.h>
#include <stdlib.h>
#include <string.h>

enum { FIELDS = 3, CLASSES = 2, ROWS = 40 };

static void put_table(void)
{
    static char text[ROWS * 40 + 40];
    char *at = text + sprintf(text, "a,b,c,label\n");
    for (int i = 0; i < ROWS; i++)
        at += sprintf(at, "%d,%d,%d,%s\n", i % 7, i % 5, i % 2 * 4, i % 2 != 0 ? "odd" : "even");
    folder_put("table.csv", text);
    folder_put("net.json", "{\"network\": [{\"dense\": 8}, \"relu\", {\"dense\": \"classes\"}], \"epochs\": 1,\n"
                           "\"batch\": 16, \"loss\": \"cross_entropy\"}");
    folder_put("steps.json", "{\"network\": [{\"reshape\": [3, 1]}, {\"lstm\": 4}, {\"dense\": \"classes\"}],\n"
                             "\"epochs\": 1, \"batch\": 16, \"loss\": \"cross_entropy\"}");
}

/* The word between the quotation marks behind `before`. */
static void quoted_after(const char *document, const char *before, char out[32])
{
    const char *at = strstr(document, before);
    out[0] = '\0';
    if (at != NULL)
        snprintf(out, 32, "%.*s", (int)strcspn(at + strlen(before), "\""), at + strlen(before));
}

static bool is_array(const mw_feature *feature, mw_shape shape)
{
    return feature != NULL && feature->kind == MW_FEATURE_TENSOR && feature->dtype == MW_F32 && feature->has_shape &&
           mw_shape_equal(feature->shape, shape);
}

static void test_the_code_of_the_document_fits_what_mw_train_writes(void)
{
    mw_error err = {0};
    char input[32], result[32], *document = page_read(MW_TESTS_DIR "/../docs/take_it_to_an_app.md");
    REQUIRE(document != NULL);
    quoted_after(document, "dictionary: [\"", input);
    quoted_after(document, "featureValue(for: \"", result);
    free(document);
    shell_result run = MW("train", "net.json", "--data", "table.csv", "--out", "Tuned.mlpackage", "-q");
    const bool without = strstr(run.errs, "without protobuf-c") != NULL;
    CHECK(without || run.code == 0);
    shell_free(&run);
    if (without)
        return;
    mw_coreml *model = mw_coreml_open("Tuned.mlpackage", NULL, &err);
    CHECK_OK(err);
    const mw_description *said = mw_coreml_get_info(model).description;
    REQUIRE(said != NULL && said->function_count == 1);
    const mw_function_description *main = &said->functions[0];
    CHECK_INT(main->input_count, 1);
    CHECK_STR(main->inputs[0].name, input);
    CHECK(is_array(&main->inputs[0], MW_SHAPE(1, FIELDS)));
    CHECK(is_array(mw_description_find(main, result), MW_SHAPE(1, CLASSES)));
    mw_coreml_destroy(model);
}

static void check_open(const char *recipe)
{
    mw_error err = {0};
    shell_result run = MW("train", recipe, "--data", "table.csv", "--out", "net.onnx", "-q");
    const bool without = strstr(run.errs, "without protobuf-c") != NULL;
    check_note(without || run.code == 0, __FILE__, __LINE__, "%s: %s", recipe, run.errs);
    shell_free(&run);
    if (without)
        return;
    mw_onnx_check("net.onnx", &err);
    mw_graph *graph = mw_graph_open_onnx("net.onnx", NULL, &err);
    CHECK_OK(err);
    const mw_tensor *x = mw_graph_input_at(graph, 0), *y = mw_graph_output_at(graph, 0);
    CHECK(x != NULL && mw_shape_equal(mw_tensor_shape(x), MW_SHAPE(MW_DIM_UNKNOWN, FIELDS)));
    CHECK(y != NULL && mw_shape_equal(mw_tensor_shape(y), MW_SHAPE(MW_DIM_UNKNOWN, CLASSES)));
    mw_graph_destroy(graph);
}

static void test_an_onnx_file_of_mw_train_takes_any_number_of_examples(void)
{
    check_open("net.json");
    check_open("steps.json");
}

int main(void)
{
    char folder[512];
    if (!folder_enter(folder))
        return 1;
    put_table();
    RUN(test_the_code_of_the_document_fits_what_mw_train_writes);
    RUN(test_an_onnx_file_of_mw_train_takes_any_number_of_examples);
    folder_leave(folder);
    return check_finish();
}
