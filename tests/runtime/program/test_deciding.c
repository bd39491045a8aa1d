/* What decides extents: small inputs of every integer type, and default shapes that no plan can have. */
#include "support/check.h"
#include "support/on_engine.h"

/* ---- integers ---- */

/* Rows from `begin` on, two of four columns. */
static mw_program *compile_slice(const char *type, mw_device device, mw_error *err)
{
    char text[600];
    snprintf(text, sizeof text,
             "program(1.3)\n{func main<ios18>(tensor<%s, [2]> begin, tensor<fp32, [3, 4]> x) {"
             "tensor<int32, [2]> size = const()[val = tensor<int32, [2]>([-1, 2])];"
             "tensor<fp32, [?, 2]> y = slice_by_size(begin = begin, size = size, x = x);} -> (y);}",
             type);
    mw_graph *graph = mw_graph_parse_mil(text, strlen(text), NULL, NULL, err);
    mw_program *program = graph != NULL ? engine_compile(graph, device, 1, err) : NULL;
    mw_graph_destroy(graph);
    return program;
}

static void check_slice(mw_program *program, const char *type, int row, int column, mw_error *err)
{
    float x[12], y[6] = {0};
    const int32_t begin[2] = {row, column};
    const size_t count = (size_t)(3 - row) * 2;
    for (int i = 0; i < 12; i++)
        x[i] = (float)i;
    mw_program_write(program, "begin", MW_I32, begin, 2, err);
    mw_program_write(program, "x", MW_F32, x, 12, err);
    mw_program_run(program, err);
    mw_program_read(program, "y", MW_F32, y, count, err);
    check_note(err->status == MW_OK, __FILE__, __LINE__, "%s: %s", type, err->message);
    for (size_t i = 0; i < count; i++)
        check_note(y[i] == x[((size_t)row + i / 2) * 4 + (size_t)column + i % 2], __FILE__, __LINE__,
                   "%s, from row %d and column %d: y[%zu] is %g", type, row, column, i, (double)y[i]);
}

static void test_integers_of_every_width_decide_extents(void)
{
    static const char *const types[] = {"int8", "uint8", "int16", "uint16", "int32"};
    static const mw_device devices[] = {MW_DEVICE_CPU, MW_DEVICE_ANE};
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        for (size_t d = 0; d < 2; d++) {
            mw_error err = {0};
            mw_program *program = compile_slice(types[t], devices[d], &err);
            for (int row = 0; row < 3; row++)
                check_slice(program, types[t], row, row % 3, &err);
            mw_program_destroy(program);
        }
}

/* ---- default shapes ---- */

/* Borders of 4 elements are reflected, which a row of 4 or fewer has not; x is [1, 2] by default. */
static const char reflected[] =
    "program(1.3)\n{func main<ios17>(tensor<fp32, [1, ?]> x, tensor<fp32, [1]> z) [FlexibleShapeInformation = "
    "tuple<tuple<string, dict<string, tensor<int32, [?]>>>, tuple<string, dict<string, list<tensor<int32, [2]>, ?>>>>"
    "(((\"DefaultShapes\", {{\"x\", [1, 2]}}), (\"RangeDims\", {{\"x\", [[1, 1], [1, 100]]}})))] {"
    "tensor<fp32, [1, ?]> p = pad(constant_val = fp32(0), mode = string(\"reflect\"), pad = tensor<int32, [4]>([0, 0, "
    "4, 4]), x = x); tensor<fp32, [1, ?]> y = add(x = p, y = z);} -> (y);}";

static mw_program *compile_reflected(mw_device device, mw_error *err)
{
    mw_graph *graph = mw_graph_parse_mil(reflected, strlen(reflected), NULL, NULL, err);
    mw_program *program = graph != NULL ? engine_compile(graph, device, 1, err) : NULL;
    mw_graph_destroy(graph);
    return program;
}

static void test_a_default_shape_that_does_not_suit_is_none(void)
{
    mw_error err = {0}, refused = {0};
    mw_port port;
    mw_program *program = compile_reflected(MW_DEVICE_CPU, &err);
    CHECK_OK(err);
    REQUIRE(program != NULL);
    CHECK(mw_program_port_at(program, 0, &port) && port.shape.dim[1] == MW_DIM_UNKNOWN);
    CHECK_STR(mw_program_get_info(program).mil, "");
    CHECK(mw_program_run(program, &refused) != MW_OK);
    CHECK_ERROR(refused, MW_ERROR_STATE, "input \"x\" is [1, ?]: choose its shape with mw_program_set_shapes");
    CHECK_CONTAINS(refused.message, "its default does not suit the program: pad #1: axis 1: pad 4 exceeds 1");
    mw_program_destroy(program);
}

static void test_another_shape_runs_then(void)
{
    float x[6] = {0, 1, 2, 3, 4, 5}, y[14] = {0};
    const float z = 10.0f, wanted[14] = {14, 13, 12, 11, 10, 11, 12, 13, 14, 15, 14, 13, 12, 11};
    const mw_input_shape shape = {"x", MW_SHAPE(1, 6)}, small = {"x", MW_SHAPE(1, 3)};
    for (int device = 1; device <= 4; device += 3) {
        mw_error err = {0}, refused = {0};
        mw_program *program = compile_reflected((mw_device)device, &err);
        CHECK(mw_program_set_shapes(program, &small, 1, &refused) == MW_ERROR_SHAPE); /* that one does not either */
        mw_program_set_shapes(program, &shape, 1, &err);
        mw_program_write(program, "x", MW_F32, x, 6, &err);
        mw_program_write(program, "z", MW_F32, &z, 1, &err);
        mw_program_run(program, &err);
        mw_program_read(program, "y", MW_F32, y, 14, &err);
        CHECK_OK(err);
        for (size_t i = 0; i < 14; i++)
            CHECK_NEAR(y[i], wanted[i], 0);
        mw_program_destroy(program);
    }
}

int main(void)
{
    RUN(test_integers_of_every_width_decide_extents);
    RUN(test_a_default_shape_that_does_not_suit_is_none);
    RUN(test_another_shape_runs_then);
    return check_finish();
}
