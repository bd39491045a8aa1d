/* Programs made by the constructors, printed, against texts that a reviewer has read. MW_UPDATE_GOLDENS=1 writes them
 * anew. Each is parsed back and must print identically. */
#include "support/check.h"
#include <math.h>
#include <millwright/millwright.h>
#include <stdlib.h>

static char *read_golden(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return NULL;
    char *text = calloc(1, 1 << 16);
    (void)!fread(text, 1, (1 << 16) - 1, file);
    fclose(file);
    return text;
}

static void compare_with_golden(const char *text, const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/data/mil/%s", MW_TESTS_DIR, name);
    if (getenv("MW_UPDATE_GOLDENS") != NULL) {
        FILE *file = fopen(path, "wb");
        if (file != NULL) {
            fputs(text, file);
            fclose(file);
        }
    }
    char *golden = read_golden(path);
    if (CHECK(golden != NULL))
        CHECK_STR(text, golden);
    free(golden);
}

/* Prints, compares, parses back, prints again. */
static void check_golden(const mw_graph *graph, const mw_write_options *options, const char *name)
{
    mw_error err = {0};
    char *text = mw_graph_print_mil(graph, options, &err);
    CHECK_OK(err);
    REQUIRE(text != NULL);
    compare_with_golden(text, name);
    mw_graph *again = mw_graph_parse_mil(text, strlen(text), NULL, NULL, &err);
    CHECK_OK(err);
    if (again != NULL) {
        char *twice = mw_graph_print_mil(again, NULL, &err);
        CHECK_OK(err);
        CHECK(mw_graph_verify(again, &err) == MW_OK);
        CHECK_OK(err);
        CHECK_STR(twice != NULL ? twice : "", text);
        mw_string_free(twice);
    }
    mw_graph_destroy(again);
    mw_string_free(text);
}

static mw_graph *make_mlp(mw_opset opset)
{
    mw_graph_options options = mw_graph_defaults();
    options.opset = opset;
    mw_graph *graph = mw_graph_create(&options, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(2, 3));
    mw_tensor *w = mw_parameter(graph, "fc.weight", MW_F32, MW_SHAPE(4, 3), mw_init_zeros());
    mw_tensor *b = mw_parameter(graph, "fc.bias", MW_F32, MW_SHAPE(4), mw_init_zeros());
    mw_tensor *h = mw_add(mw_matmul(x, w, MW_TRANSPOSE_Y), b);
    mw_output(mw_softmax(mw_relu(h), -1), "y");
    return graph;
}

static void test_a_layer_prints_like_apple(void)
{
    mw_graph *graph = make_mlp(MW_IOS18);
    check_golden(graph, NULL, "layer_ios18.mil");
    mw_graph_destroy(graph);
}

static void test_an_older_set_prints_old_literals(void)
{
    mw_graph *graph = make_mlp(MW_IOS16);
    check_golden(graph, NULL, "layer_ios16.mil");
    mw_write_options options = mw_write_defaults();
    options.opset = MW_IOS15;
    check_golden(graph, &options, "layer_ios15.mil");
    mw_graph_destroy(graph);
}

static const void *bake(void *user, const char *name)
{
    static const float weight[12] = {0.5f, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11},
                       bias[4] = {-0.0f, INFINITY, 0.1f, 1e-40f};
    (void)user;
    return strcmp(name, "fc.weight") == 0 ? (const void *)weight : strcmp(name, "fc.bias") == 0 ? bias : NULL;
}

static void test_baked_parameters_are_constants(void)
{
    mw_graph *graph = make_mlp(MW_IOS18);
    mw_write_options options = mw_write_defaults();
    options.bake = bake;
    check_golden(graph, &options, "layer_baked.mil");
    mw_graph_destroy(graph);
}

static const void *bake_nothing(void *user, const char *name)
{
    (void)user;
    (void)name;
    return NULL;
}

static void test_a_parameter_without_values_cannot_be_baked(void)
{
    mw_error err = {0};
    mw_graph *graph = make_mlp(MW_IOS18);
    mw_write_options options = mw_write_defaults();
    options.bake = bake_nothing;
    CHECK(mw_graph_print_mil(graph, &options, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "fc.weight");
    mw_graph_destroy(graph);
}

static void test_several_results_tuples_and_types(void)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *i = mw_input(graph, "i", MW_I32, MW_SHAPE(2, 2));
    mw_tensor *a = mw_input(graph, "a", MW_F16, MW_SHAPE(2, 2));
    mw_tensor *both[] = {a, mw_cast(i, MW_F16)};
    mw_tensor *joined = mw_concat(both, 2, 1);
    mw_tensor *parts[2];
    mw_split(joined, 2, 1, parts);
    mw_tensor *other = mw_scalar(graph, MW_F16, 0.1); /* C does not order arguments; the text must not depend on it */
    mw_output(mw_select(mw_greater(parts[0], parts[1]), parts[0], other), "best");
    mw_output(mw_reduce_sum(i, MW_AXES(0, 1), false), "count");
    check_golden(graph, NULL, "several.mil");
    mw_graph_destroy(graph);
}

static void test_an_argument_of_a_later_set_is_refused_when_it_matters(void)
{
    static const char mil[] = "program(1.3){func main<ios17>(tensor<fp16, [5]> x, tensor<int32, [2]> i){"
                              "tensor<fp16, [2]> y = gather(axis = int32(0), batch_dims = int32(0), indices = i, "
                              "validate_indices = bool(%s), x = x);} -> (y);}";
    for (int matters = 0; matters < 2; matters++) {
        char text[512];
        mw_error err = {0};
        mw_write_options options = mw_write_defaults();
        options.opset = matters ? MW_IOS16 : MW_IOS15;
        snprintf(text, sizeof text, mil, matters ? "true" : "false");
        mw_graph *graph = mw_graph_parse_mil(text, strlen(text), NULL, NULL, &err);
        CHECK_OK(err);
        char *printed = mw_graph_print_mil(graph, &options, &err);
        if (matters) {
            CHECK(printed == NULL);
            CHECK_ERROR(err, MW_ERROR_UNSUPPORTED, "gather: argument \"validate_indices\" does not exist in ios16");
        } else if (CHECK(printed != NULL)) {
            CHECK(strstr(printed, "validate_indices") == NULL && strstr(printed, "batch_dims") == NULL);
            CHECK_CONTAINS(printed, "func main<ios15>(");
        }
        mw_string_free(printed);
        mw_graph_destroy(graph);
    }
}

static void test_broken_graphs_and_options_are_refused(void)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    CHECK(mw_graph_print_mil(NULL, NULL, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "NULL");
    err = (mw_error){0};
    const mw_write_options zeroed = {0};
    CHECK(mw_graph_print_mil(graph, &zeroed, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "were not made by mw_write_defaults");
    err = (mw_error){0};
    mw_write_options options = mw_write_defaults();
    options.opset = (mw_opset)19;
    CHECK(mw_graph_print_mil(graph, &options, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "ios19");
    err = (mw_error){0};
    mw_input(graph, "x", MW_F32, MW_SHAPE(2));
    mw_input(graph, "x", MW_F32, MW_SHAPE(2));
    CHECK(mw_graph_print_mil(graph, NULL, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "taken");
    mw_graph_destroy(graph);
}

int main(void)
{
    RUN(test_a_layer_prints_like_apple);
    RUN(test_an_older_set_prints_old_literals);
    RUN(test_baked_parameters_are_constants);
    RUN(test_a_parameter_without_values_cannot_be_baked);
    RUN(test_several_results_tuples_and_types);
    RUN(test_an_argument_of_a_later_set_is_refused_when_it_matters);
    RUN(test_broken_graphs_and_options_are_refused);
    return check_finish();
}
