/* Packages as coremltools takes them: values that a condition chooses have the shape of the result, and inputs stand in
 * the order of the program. */
#include "support/check.h"
#include "support/folder.h"
#include "support/on_engine.h"

#include <math.h>
#include <millwright/millwright.h>
#include <string.h>

enum { COUNT = 8 };

static const float x_values[COUNT] = {-1, 2, -3, 4, 5, -6, 7, -0.0f};

static bool has_protobuf(const mw_error *err) { return strstr(err->message, "without protobuf-c") == NULL; }

static void run_graph(const mw_graph *graph, float *out, mw_error *err)
{
    mw_program *program = engine_compile(graph, MW_DEVICE_CPU, 1, err);
    mw_program_write(program, "x", MW_F32, x_values, COUNT, err);
    mw_program_run(program, err);
    mw_program_read(program, "y", MW_F32, out, COUNT, err);
    mw_program_destroy(program);
}

/* What select gives has the shape of one of its values. */
static void check_selects(const mw_graph *graph, mw_shape wanted)
{
    mw_error err = {0};
    char *text = mw_graph_print_mil(graph, NULL, &err), shape[64];
    REQUIRE(text != NULL);
    snprintf(shape, sizeof shape, "[%lld, %lld]> add_", (long long)wanted.dim[0], (long long)wanted.dim[1]);
    CHECK_CONTAINS(text, shape);
    CHECK_CONTAINS(text, "select(");
    mw_string_free(text);
}

static void check_choice(mw_dtype dtype, double a, double b)
{
    mw_error err = {0};
    float want[COUNT], got[COUNT];
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(2, 4));
    mw_tensor *y =
        mw_select(mw_greater(x, mw_scalar(graph, MW_F32, 0)), mw_scalar(graph, dtype, a), mw_scalar(graph, dtype, b));
    mw_output(dtype == MW_F32 ? mw_identity(y) : mw_cast(y, MW_F32), "y");
    mw_graph_write(graph, "select.mlpackage", NULL, &err);
    if (has_protobuf(&err)) {
        CHECK_OK(err);
        mw_coreml *model = mw_coreml_open("select.mlpackage", NULL, &err);
        const mw_graph *read = mw_coreml_graph(model, &err);
        check_selects(read, MW_SHAPE(2, 4));
        run_graph(graph, want, &err);
        run_graph(read, got, &err);
        CHECK_OK(err);
        CHECK(memcmp(want, got, sizeof want) == 0);
        mw_coreml_destroy(model);
    }
    mw_graph_destroy(graph);
}

static void test_scalars_under_the_condition_of_a_tensor_get_its_shape(void)
{
    check_choice(MW_F32, 1, -2);
    check_choice(MW_F32, -0.0, 3);
    check_choice(MW_F32, -INFINITY, INFINITY);
    check_choice(MW_I32, 7, -2147483647);
    check_choice(MW_F16, 0.5, 65504);
}

static void test_inputs_stand_in_the_order_of_the_program(void)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *words = mw_input(graph, "words", MW_F32, MW_SHAPE(2, 3)),
              *mask = mw_input(graph, "mask", MW_F32, MW_SHAPE(2, 3));
    mw_output(mw_add(mw_mul(words, mask), mw_input(graph, "bias", MW_F32, MW_SHAPE(3))), "y");
    mw_graph_write(graph, "order.mlpackage", NULL, &err);
    if (has_protobuf(&err)) {
        CHECK_OK(err);
        mw_coreml *model = mw_coreml_open("order.mlpackage", NULL, &err);
        const mw_description *said = mw_coreml_get_info(model).description;
        static const char *const names[] = {"words", "mask", "bias"};
        CHECK(said != NULL && said->function_count == 1 && said->functions[0].input_count == 3);
        for (size_t i = 0; said != NULL && i < 3; i++)
            CHECK_STR(said->functions[0].inputs[i].name, names[i]);
        mw_coreml_destroy(model);
    }
    mw_graph_destroy(graph);
}

int main(void)
{
    char folder[512];
    if (!folder_enter(folder))
        return 1;
    RUN(test_scalars_under_the_condition_of_a_tensor_get_its_shape);
    RUN(test_inputs_stand_in_the_order_of_the_program);
    folder_leave(folder);
    return check_finish();
}
