/* A number beyond the table that it looks into is named before anything runs: by mw run and mw finetune, for models of
 * each format, on both devices, with whole numbers and floats that are cast to them. */
#include "support/check.h"
#include "support/folder.h"
#include "tool/shell.h"

#include <millwright/millwright.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { ROWS = 5, WIDTH = 2, PLACES = 3, EXAMPLES = 32, FAR = 17 /* the example with such a number */ };

/* ---- models ---- */

/* x [1, places] -> 2 scores, by rows of a table; floats are cast first, as Core ML's older models do. */
static void write_model(const char *path, mw_dtype input)
{
    static float table[ROWS * WIDTH], weight[2 * PLACES * WIDTH];
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, &err);
    for (int i = 0; i < ROWS * WIDTH; i++)
        table[i] = (float)(i % 7) * 0.25F - 0.5F;
    for (int i = 0; i < 2 * PLACES * WIDTH; i++)
        weight[i] = (float)(i % 5) * 0.25F - 0.5F;
    mw_tensor *x = mw_input(graph, "x", input, MW_SHAPE(1, PLACES));
    mw_tensor *ids = input == MW_I32 ? x : mw_cast(x, MW_I32);
    mw_tensor *words = mw_name(mw_constant(graph, MW_F32, MW_SHAPE(ROWS, WIDTH), table), "words");
    mw_tensor *rows = mw_reshape(mw_gather(words, ids, 0), MW_SHAPE(1, PLACES * WIDTH));
    mw_tensor *head = mw_name(mw_constant(graph, MW_F32, MW_SHAPE(2, PLACES * WIDTH), weight), "head");
    mw_output(mw_linear(rows, head, NULL), "scores");
    mw_graph_write(graph, path, NULL, &err);
    CHECK_OK(err);
    mw_graph_destroy(graph);
}

static void write_lines(const char *path, int far)
{
    FILE *lines = fopen(path, "w");
    REQUIRE(lines != NULL);
    for (int i = 0; i < EXAMPLES; i++)
        fprintf(lines, "{\"x\": [%d, %d, %d], \"kind\": \"%s\"}\n", i % 4, i % 3, i == FAR ? far : ROWS - 1,
                i % 4 > 1 ? "a" : "b");
    fclose(lines);
}

/* MIL, a package and, where the tool can write it, ONNX, of a training; and two as other tools write them. */
static const char *const models[] = {"net", "net.mlpackage", "net.onnx", "whole", "floats"};
enum { MODELS = sizeof models / sizeof *models };
static bool has[MODELS];

static void write_files(void)
{
    write_lines("near.jsonl", ROWS - 1);
    write_lines("far.jsonl", ROWS);
    folder_put("net.json", "{\"network\": [{\"embedding\": 2, \"count\": 5}, {\"dense\": \"classes\"}], \"epochs\": 1, "
                           "\"batch\": 8, \"data\": {\"validation\": 0}}");
    write_model("whole", MW_I32);
    write_model("floats", MW_F32);
    for (int i = 0; i < MODELS; i++) {
        shell_result r = {.code = 0};
        if (i < 3)
            r = MW("train", "net.json", "--data", "near.jsonl", "-o", models[i], "-q");
        has[i] = r.code == 0;
        CHECK(has[i] || i == 2); /* a build may lack ONNX */
        shell_free(&r);
    }
}

/* ---- mw run ---- */

static void run_with(const char *model, const char *device, int number, const char *part)
{
    char value[32];
    snprintf(value, sizeof value, "x=%d", number);
    CHECK_MW(part != NULL ? 1 : 0, part != NULL ? NULL : "scores", part, "run", model, "--device", device, "--input",
             value);
}

static void test_run_names_a_number_beyond_the_table(void)
{
    static const char *const devices[] = {"cpu", "ane"};
    for (int i = 0; i < MODELS; i++)
        for (int d = 0; d < 2 && has[i]; d++) {
            run_with(models[i], devices[d], ROWS - 1, NULL);
            run_with(models[i], devices[d], ROWS, "element 0, example 0 is 5, not in 0 .. 4");
            run_with(models[i], devices[d], 2000000000, "is 2000000000, not in 0 .. 4");
            run_with(models[i], devices[d], -ROWS - 1, "is -6, not in 0 .. 4");
        }
}

/* All results or none: the numbers of a file are looked at before its first example runs. */
static void test_run_names_the_example_of_a_file(void)
{
    int32_t ids[EXAMPLES * PLACES] = {0};
    struct stat found;
    mw_error err = {0};
    ids[FAR * PLACES + 1] = ROWS;
    mw_tensors_write("x.npz", &(mw_tensor_values){"x", MW_I32, MW_SHAPE(EXAMPLES, PLACES), ids}, 1, &err);
    CHECK_OK(err);
    for (int i = 0; i < MODELS; i++)
        if (has[i])
            CHECK_MW(1, NULL, "example 17 is 5, not in 0 .. 4", "run", models[i], "--input", "x=x.npz", "-o", "y.npz");
    CHECK(stat("y.npz", &found) != 0);
}

/* ---- mw finetune ---- */

static void tune(const char *model, const char *data, const char *flag, const char *value, int code, const char *part)
{
    const char *words[] = {"finetune", model, "--data", data,  "-o", "tuned.safetensors", "-q", "-b", "4",
                           "--epochs", "1",   flag,     value, NULL};
    shell_check(words, code, NULL, part, __FILE__, __LINE__);
}

static void test_finetune_names_a_number_beyond_the_table(void)
{
    static const char *const flags[][2] = {
        {NULL, NULL}, {"--lora", "2"}, {"--device", "ane"}, {"--head", NULL}, {"--layers", "*w*"}};
    struct stat found;
    for (int i = 0; i < MODELS; i++)
        for (size_t k = 0; k < sizeof flags / sizeof *flags && has[i]; k++) {
            tune(models[i], "far.jsonl", flags[k][0], flags[k][1], 1, "is 5, not in 0 .. 4");
            CHECK(stat("tuned.safetensors", &found) != 0);
            if (k == 0)
                tune(models[i], "near.jsonl", NULL, NULL, 0, NULL);
            remove("tuned.safetensors");
        }
}

int main(void)
{
    char folder[512];
    if (!folder_enter(folder))
        return 1;
    RUN(write_files);
    RUN(test_run_names_a_number_beyond_the_table);
    RUN(test_run_names_the_example_of_a_file);
    RUN(test_finetune_names_a_number_beyond_the_table);
    folder_leave(folder);
    return check_finish();
}
