/* mw finetune of models with several inputs and labels by token, read from MIL, ONNX and packages: which weights are
 * chosen, by name, by layer and by number, at which rates, and what is said of it. */
#include "support/check.h"
#include "support/folder.h"
#include "tool/shell.h"

#include <millwright/millwright.h>
#include <stdlib.h>

enum { N = 96, LENGTH = 6, WORDS = 20, WIDTH = 8, CLASSES = 3 };

static const char *const models[] = {"tagger", "tagger.onnx", "tagger.mlpackage"};
static bool is_built[3]; /* the last two with protobuf-c */

/* ---- a model, and its data ---- */

static mw_tensor *weight(mw_graph *graph, const char *name, mw_shape shape)
{
    float values[WORDS * WIDTH];
    for (int i = 0; i < WORDS * WIDTH; i++)
        values[i] = (float)(i * 37 % 23) / 23.0f - 0.5f;
    return mw_name(mw_constant(graph, MW_F32, shape, values), name);
}

static mw_tensor *layer(mw_tensor *x, int64_t out, const char *name, const char *result)
{
    mw_graph *graph = mw_tensor_graph(x);
    char part[64];
    snprintf(part, sizeof part, "%s_weight", name);
    mw_tensor *w = weight(graph, part, MW_SHAPE(out, WIDTH));
    snprintf(part, sizeof part, "%s_bias", name);
    return mw_name(mw_linear(x, w, weight(graph, part, MW_SHAPE(out))), result);
}

/* ids, mask -> the words' rows, masked -> two layers -> scores of each place. */
static mw_graph *make_model(void)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *ids = mw_input(graph, "ids", MW_I32, MW_SHAPE(1, LENGTH));
    mw_tensor *mask = mw_input(graph, "mask", MW_F32, MW_SHAPE(1, LENGTH));
    mw_tensor *h = mw_gather(weight(graph, "words", MW_SHAPE(WORDS, WIDTH)), ids, 0);
    h = mw_mul(h, mw_expand_dims(mask, MW_AXES(2)));
    h = mw_tanh(layer(h, WIDTH, "inner", "encoder"));
    mw_output(mw_mul_scalar(layer(h, CLASSES, "outer", "tags"), 2.0), "scores");
    return graph;
}

static void write_models(void)
{
    mw_error err = {0};
    mw_graph *graph = make_model();
    CHECK_INT(mw_graph_write(graph, models[0], NULL, &err), MW_OK);
    is_built[0] = CHECK_OK(err);
    for (int i = 1; i < 3; i++) {
        mw_error local = {0};
        is_built[i] = mw_graph_write(graph, models[i], NULL, &local) == MW_OK;
        CHECK(is_built[i] || local.status == MW_ERROR_UNSUPPORTED);
    }
    mw_graph_destroy(graph);
}

static void write_data(void)
{
    static int64_t ids[N * LENGTH], labels[N * LENGTH];
    static double mask[N * LENGTH]; /* as NumPy makes it */
    mw_error err = {0};
    for (int i = 0; i < N * LENGTH; i++) {
        const bool padded = i % LENGTH > 3 + i / LENGTH % 3;
        ids[i] = i * 7 % 19;
        mask[i] = padded ? 0 : 1;
        labels[i] = padded ? -100 : ids[i] % CLASSES;
    }
    const mw_shape shape = MW_SHAPE(N, LENGTH);
    const mw_tensor_values values[] = {{.name = "ids", .dtype = MW_I64, .shape = shape, .data = ids},
                                       {.name = "mask", .dtype = MW_F64, .shape = shape, .data = mask},
                                       {.name = "labels", .dtype = MW_I64, .shape = shape, .data = labels}};
    mw_tensors_write("tagged.npz", values, 3, &err);
    mw_tensors_write("ids.npy", values, 1, &err);
    mw_tensors_write("mask.npy", values + 1, 1, &err);
    mw_tensors_write("labels.npy", values + 2, 1, &err);
    CHECK_OK(err);
}

static double number_behind(const char *text, const char *key)
{
    const char *at = strstr(text, key);
    return at != NULL ? strtod(at + strlen(key), NULL) : -1;
}

/* ---- several inputs, labels by token ---- */

static void check_learned(shell_result r)
{
    CHECK_INT(r.code, 0);
    CHECK(shell_is_json(r.out));
    CHECK(number_behind(r.out, "\"accuracy\": ") > 0.95);
    CHECK(number_behind(r.out, "\"f1_macro\": ") > 0.95);
    shell_free(&r);
}

static void test_inputs_by_name_and_labels_by_token_are_learned(void)
{
    for (int i = 0; i < 3; i++) {
        if (!is_built[i])
            continue;
        check_learned(MW("finetune", models[i], "--data", "tagged.npz", "--lr", "0.05", "--epochs", "15", "-b", "16",
                         "-o", "tuned", "--json", "-q"));
        check_learned(MW("finetune", models[i], "--data", "ids=ids.npy", "--data", "mask=mask.npy", "--data",
                         "y=labels.npy", "--lr", "0.05", "--epochs", "15", "-b", "16", "-o", "tuned", "--json", "-q"));
        CHECK_MW(0, "scores", NULL, "run", "tuned", "-i", "ids=ids.npy", "-i", "mask=mask.npy", "--json");
    }
}

/* A head of one's own has the classes of the data for each place. */
static void test_a_head_is_by_token_too(void)
{
    shell_result r = MW("finetune", models[0], "--data", "tagged.npz", "--lr", "0.05", "--epochs", "15", "-b", "16",
                        "--head", "-o", "headed", "--json", "-q");
    check_learned(r);
    CHECK_MW(0, "[1, 6, 3]", NULL, "info", "headed");
}

static void test_a_recipe_says_the_same(void)
{
    folder_put("tag.json", "{\"model\": \"tagger\", \"layers\": [\"inner*\", \"tags\"], \"rates\": {\"tags\": 2},\n"
                           " \"rate_decay\": 0.5, \"ignore\": -100, \"epochs\": 1}");
    CHECK_MW(0, "inner*: 2 weights of 72 numbers\ntags: 2 weights of 27 numbers\n", NULL, "train", "tag.json", "--data",
             "tagged.npz", "-o", "told");
    CHECK_MW(0, "rate x 0.5       depth 2   inner_weight\n", NULL, "train", "tag.json", "--data", "tagged.npz", "-o",
             "told");
    CHECK_MW(0, "rate x 2         depth 1   outer_weight  by tags\n", NULL, "train", "tag.json", "--data", "tagged.npz",
             "-o", "told");
    folder_put("adapt.json", "{\"model\": \"tagger\", \"last\": 1, \"lora\": 2, \"epochs\": 1}");
    CHECK_MW(0, "last: 1 weights of 24 numbers", NULL, "train", "adapt.json", "--data", "tagged.npz", "-o", "told");
    folder_put("wrong.json", "{\"network\": [{\"dense\": 3}], \"last\": 1}");
    CHECK_MW(2, NULL, "\"last\" has no effect here; it has one with \"model\"", "train", "wrong.json", "--data",
             "points.csv");
}

/* ---- which weights ---- */

static void test_layers_are_chosen_by_name_and_number(void)
{
    for (int i = 0; i < 3; i++) {
        if (!is_built[i])
            continue;
#define TUNE(out, ...)                                                                                                 \
    CHECK_MW(0, out, NULL, "finetune", models[i], "--data", "tagged.npz", "--epochs", "1", "-o", "some", __VA_ARGS__)
        TUNE("last: 2 weights of 27 numbers", "--last", "1");
        TUNE("last: 4 weights of 99 numbers", "--last", "2");
        TUNE("outer*: 2 weights of 27 numbers", "-l", "outer*");
        TUNE("last: 1 weights of 24 numbers", "--last", "1", "--lora", "2");
        TUNE("rate x 0.25      depth 3   words\n", "--rate-decay", "0.5");
        TUNE("\"factor\": 3,", "--rate", "outer*=3", "--json");
#undef TUNE
    }
    CHECK_MW(0, "encoder: 2 weights of 72 numbers", NULL, "finetune", models[0], "--data", "tagged.npz", "--epochs",
             "1", "-l", "encoder", "-o", "some");
}

/* A weight that a converter named is found by its node, which PyTorch named. */
static void test_weights_of_onnx_are_found_by_their_nodes(void)
{
    static float x[8 * 3 * 24 * 24];
    static int64_t y[8];
    mw_error err = {0};
    for (int i = 0; i < 8 * 3 * 24 * 24; i++)
        x[i] = (float)(i * 31 % 29) / 29.0f;
    for (int i = 0; i < 8; i++)
        y[i] = i % 10;
    const mw_tensor_values values[] = {{.name = "x", .dtype = MW_F32, .shape = MW_SHAPE(8, 3, 24, 24), .data = x},
                                       {.name = "y", .dtype = MW_I64, .shape = MW_SHAPE(8), .data = y}};
    mw_tensors_write("pictures.npz", values, 2, &err);
    CHECK_OK(err);
    if (!is_built[1])
        return;
#define NET MW_TESTS_DIR "/data/onnx/mobilenet.onnx"
    CHECK_MW(0, "/last/*: ", NULL, "finetune", NET, "--data", "pictures.npz", "--epochs", "1", "-l", "/last/*", "-o",
             "mobile");
    CHECK_MW(0, "trained  onnx::Conv_266  of _last_Conv\n", NULL, "finetune", NET, "--data", "pictures.npz", "--epochs",
             "1", "-l", "/last/Conv", "-o", "mobile");
    CHECK_MW(1, NULL, "pattern \"/lost/Conv\" matches none of", "finetune", NET, "--data", "pictures.npz", "--epochs",
             "1", "-l", "/lost/Conv", "-o", "mobile");
    CHECK_MW(1, NULL, "near it are \"_last_Conv\"", "finetune", NET, "--data", "pictures.npz", "--epochs", "1", "-l",
             "/lost/Conv", "-o", "mobile");
#undef NET
}

/* ---- refusals ---- */

static void test_what_does_not_fit_is_said_before_training(void)
{
#define REFUSED(code, message, ...)                                                                                    \
    CHECK_MW(code, NULL, message, "finetune", models[0], "-o", "refused", "--data", __VA_ARGS__)
    REFUSED(1, "has no tensor for the input \"mask\"; it has \"ids\", \"msk\", \"y\"", "ids=ids.npy", "--data",
            "msk=mask.npy", "--data", "y=labels.npy");
    REFUSED(1, "--data more=ids.npy: the model has no input of that name", "ids=ids.npy", "--data", "mask=mask.npy",
            "--data", "y=labels.npy", "--data", "more=ids.npy");
    REFUSED(2, "--data tagged.npz: one path, or NAME=FILE for each tensor", "ids=ids.npy", "--data", "tagged.npz");
    REFUSED(1, "has several inputs, and the data has nothing for \"mask\"", "points.csv");
    REFUSED(1, "the last 4 layers are wanted, and the program has 3 with weights", "tagged.npz", "--last", "4");
    REFUSED(1, "--rate outer: PATTERN=FACTOR is wanted", "tagged.npz", "--rate", "outer");
    REFUSED(1, "\"utter*\", gets no parameter", "tagged.npz", "--rate", "utter*=2");
    REFUSED(1, "is -100, not in 0 .. 2, nor the ignored 1", "tagged.npz", "--ignore", "1");
#undef REFUSED
    CHECK_MW(1, NULL, "an example has labels of shape [6]", "finetune", "short", "--data", "ids=ids.npy", "--data",
             "y=labels.npy", "-o", "refused");
}

/* Scores of other places than the labels have. */
static void write_short_model(void)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *ids = mw_input(graph, "ids", MW_I32, MW_SHAPE(1, LENGTH));
    mw_tensor *h = mw_gather(weight(graph, "words", MW_SHAPE(WORDS, WIDTH)), ids, 0);
    mw_output(mw_reduce_sum(h, MW_AXES(1), true), "scores");
    mw_graph_write(graph, "short", NULL, &err);
    CHECK_OK(err);
    mw_graph_destroy(graph);
    folder_put("points.csv", "a,b\n1,x\n2,y\n3,x\n4,y\n");
}

int main(void)
{
    char folder[512];
    if (!folder_enter(folder))
        return 1;
    RUN(write_models);
    RUN(write_data);
    RUN(write_short_model);
    RUN(test_inputs_by_name_and_labels_by_token_are_learned);
    RUN(test_a_head_is_by_token_too);
    RUN(test_a_recipe_says_the_same);
    RUN(test_layers_are_chosen_by_name_and_number);
    RUN(test_weights_of_onnx_are_found_by_their_nodes);
    RUN(test_what_does_not_fit_is_said_before_training);
    folder_leave(folder);
    return check_finish();
}
