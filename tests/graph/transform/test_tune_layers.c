/* Layers of a program: how deep each weight lies, what its layer is called, and that selectors take the last layers and
 * layers by name. */
#include "support/check.h"

#include <millwright/millwright.h>

static mw_tensor *weight(mw_graph *graph, const char *name, mw_shape shape)
{
    float values[64];
    for (int i = 0; i < 64; i++)
        values[i] = (float)(i * 37 % 11) / 16.0f - 0.3f;
    return mw_name(mw_constant(graph, MW_F32, shape, values), name);
}

static mw_tensor *layer(mw_tensor *x, const char *result, const char *name)
{
    mw_graph *graph = mw_tensor_graph(x);
    char part[64];
    snprintf(part, sizeof part, "%s_weight", name);
    mw_tensor *w = weight(graph, part, MW_SHAPE(4, 4));
    snprintf(part, sizeof part, "%s_bias", name);
    mw_tensor *made = mw_linear(x, w, weight(graph, part, MW_SHAPE(4)));
    return mw_name(made, result);
}

/* stem -> norm -> (branch of two | short one) -> head, and an embedding that is the head's, too. */
static mw_graph *make_net(void)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *table = weight(graph, "tied", MW_SHAPE(6, 4)), *ids = mw_input(graph, "ids", MW_I32, MW_SHAPE(2));
    mw_tensor *h = layer(mw_gather(table, ids, 0), "stem/Conv", "onnx::Conv_179");
    h = mw_layer_norm(h, MW_AXES(1), weight(graph, "gamma", MW_SHAPE(4)), weight(graph, "beta", MW_SHAPE(4)), 1e-5f);
    mw_tensor *branch = layer(mw_relu(layer(h, "block.0", "long1")), "block.1", "long2");
    h = mw_add(branch, layer(h, "short", "short1"));
    mw_tensor *scale = weight(graph, "unused", MW_SHAPE(3));
    mw_output(mw_relu(scale), "other");
    mw_output(mw_matmul(h, table, MW_TRANSPOSE_Y), "y");
    return graph;
}

static mw_weight find(const mw_graph *graph, const char *name)
{
    mw_weight weights[32] = {{0}};
    size_t count = 0;
    mw_error err = {0};
    mw_graph_weights(graph, weights, 32, &count, &err);
    CHECK_OK(err);
    for (size_t i = 0; i < count && i < 32; i++)
        if (strcmp(weights[i].name, name) == 0)
            return weights[i];
    check_note(false, __FILE__, __LINE__, "no weight %s", name);
    return (mw_weight){.name = "", .layer = ""};
}

static void test_depth_is_the_longest_way_to_a_result(void)
{
    static const struct {
        const char *name, *layer;
        int depth;
    } wanted[] = {{"tied", "y", 1},
                  {"long2_weight", "block.1", 2},
                  {"long2_bias", "block.1", 2},
                  {"short1_weight", "short", 2},
                  {"long1_weight", "block.0", 3},
                  {"onnx::Conv_179_weight", "stem/Conv", 4},
                  {"gamma", "", 4}};
    mw_graph *graph = make_net();
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        const mw_weight found = find(graph, wanted[i].name);
        check_note(found.depth == wanted[i].depth, __FILE__, __LINE__, "%s is at %d, not %d", wanted[i].name,
                   found.depth, wanted[i].depth);
        CHECK_STR(found.layer, wanted[i].layer);
    }
    mw_graph_destroy(graph);
}

/* ---- what is chosen ---- */

typedef struct notes {
    char names[400];
    const char *pattern;
} notes;

static void note(void *user, const mw_tune_choice *choice)
{
    notes *l = user;
    const size_t used = strlen(l->names);
    if (choice->outcome != MW_TUNE_LEFT)
        snprintf(l->names + used, sizeof l->names - used, "%s ", choice->weight->name);
    l->pattern = choice->pattern;
}

static mw_graph *tune(const mw_graph *graph, const char *pattern, int last, notes *l, mw_error *err)
{
    mw_tune_options options = mw_tune_defaults(pattern != NULL ? &pattern : NULL, pattern != NULL);
    options.last = last;
    options.report = note;
    options.report_user = l;
    *l = (notes){.pattern = ""};
    return mw_graph_trainable(graph, &options, err);
}

static void check_taken(const char *pattern, int last, const char *taken)
{
    mw_error err = {0};
    notes l;
    mw_graph *graph = make_net(), *copy = tune(graph, pattern, last, &l, &err);
    CHECK_OK(err);
    CHECK_STR(l.names, taken);
    mw_graph_destroy(copy);
    mw_graph_destroy(graph);
}

static void test_the_last_layers_are_taken_by_number(void)
{
    check_taken(NULL, 1, "tied ");
    check_taken(NULL, 2, "tied long2_weight short1_weight long2_bias short1_bias ");
    check_taken("gamma", 1, "tied gamma ");
}

/* A node is called "stem/Conv" or "stem:Conv", whatever its weights are called. */
static void test_layers_are_taken_by_name(void)
{
    check_taken("stem/Conv", 0, "onnx::Conv_179_weight onnx::Conv_179_bias ");
    check_taken("stem:*", 0, "onnx::Conv_179_weight onnx::Conv_179_bias ");
    check_taken("block.?", 0, "long1_weight long2_weight long1_bias long2_bias ");
    check_taken("long*", 0, "long1_weight long2_weight long1_bias long2_bias ");
}

static void test_more_layers_than_there_are_and_unknown_names_are_refused(void)
{
    mw_error err = {0};
    notes l;
    mw_graph *graph = make_net();
    CHECK(tune(graph, NULL, 5, &l, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "the last 5 layers are wanted, and the program has 4 with weights");
    err = (mw_error){0};
    CHECK(tune(graph, NULL, -1, &l, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "the last -1 layers are wanted");
    err = (mw_error){0};
    CHECK(tune(graph, "blok.1", 0, &l, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT,
                "pattern \"blok.1\" matches none of 12 weights and no layer; near it are \"block.1\", \"block.0\"");
    mw_graph_destroy(graph);
}

/* ---- adapters ---- */

static void test_adapters_of_the_last_layers_are_as_deep_as_what_they_adapt(void)
{
    mw_error err = {0};
    mw_graph *graph = make_net();
    mw_lora_options options = mw_lora_defaults(NULL, 0);
    options.last = 3;
    options.rank = 2;
    mw_graph *copy = mw_graph_lora(graph, &options, &err);
    REQUIRE(CHECK_OK(err));
    CHECK_INT(find(copy, "long2.lora_A.weight").depth, 2);
    CHECK_INT(find(copy, "long2.lora_B.weight").depth, 2);
    CHECK_INT(find(copy, "long1.lora_A.weight").depth, 3);
    CHECK_INT(find(copy, "long1_weight").depth, 3);
    CHECK(mw_graph_find(copy, "onnx::Conv_179.lora_A.weight") == NULL);
    mw_graph_destroy(copy);
    mw_graph_destroy(graph);
}

/* A layer that is applied several times is as deep as its last use, and those before it are one deeper. */
static void test_steps_of_one_layer_are_one_layer(void)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(2, 4));
    mw_tensor *h = layer(x, "first", "first"), *w = weight(graph, "shared", MW_SHAPE(4, 4));
    for (int i = 0; i < 5; i++)
        h = mw_tanh(mw_matmul(h, w, MW_TRANSPOSE_NONE));
    mw_output(layer(h, "y", "last"), "y");
    CHECK_INT(find(graph, "last_weight").depth, 1);
    CHECK_INT(find(graph, "shared").depth, 2);
    CHECK_INT(find(graph, "first_weight").depth, 3);
    mw_graph_destroy(graph);
}

int main(void)
{
    RUN(test_depth_is_the_longest_way_to_a_result);
    RUN(test_the_last_layers_are_taken_by_number);
    RUN(test_layers_are_taken_by_name);
    RUN(test_more_layers_than_there_are_and_unknown_names_are_refused);
    RUN(test_adapters_of_the_last_layers_are_as_deep_as_what_they_adapt);
    RUN(test_steps_of_one_layer_are_one_layer);
    return check_finish();
}
