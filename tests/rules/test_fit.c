/* What stands for an operation on a chip that lacks it computes what the operation does: against double, and against
 * the same program for a chip that has it. */
#include "base/number/fp16.h"
#include "support/check.h"

#include <math.h>
#include <millwright/millwright.h>
#include <string.h>

enum { COUNT = 512 };

static mw_program *compile(const mw_graph *graph, mw_chip chip, mw_error *err)
{
    mw_compile_options options = mw_compile_defaults();
    options.provider = MW_PROVIDER_ENGINE;
    options.device = MW_DEVICE_ANE;
    options.chip = chip;
    options.profile = "ieee"; /* chips differ in what they have here, not in how they round */
    options.threads = 1;
    return mw_program_create(graph, &options, err);
}

/* y of x [count] in fp16, as one chip computes it; the text of the program, freed with the program. */
static bool run_on(const char *text, mw_chip chip, const float *x, size_t count, float *y, size_t results,
                   const char *absent)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_parse_mil(text, strlen(text), NULL, NULL, &err);
    mw_program *program = graph != NULL ? compile(graph, chip, &err) : NULL;
    if (program != NULL) {
        mw_program_write(program, "x", MW_F32, x, count, &err);
        mw_program_run(program, &err);
        mw_program_read(program, "y", MW_F32, y, results, &err);
        if (absent != NULL)
            check_note(strstr(mw_program_get_info(program).mil, absent) == NULL, __FILE__, __LINE__, "%s is in %s",
                       absent, mw_program_get_info(program).mil);
    }
    mw_program_destroy(program);
    mw_graph_destroy(graph);
    return CHECK_OK(err);
}

#define UNARY(operation)                                                                                               \
    "program(1.3)\n{func main<ios18>(tensor<fp16, [512]> x) {tensor<fp16, [512]> y = " operation "(x = x);} -> (y);}"

/* Numbers that fp16 has, from -most to most. */
static void fill(float *x, double most)
{
    for (int i = 0; i < COUNT; i++)
        x[i] = mw__fp16_to_float(mw__fp16_from_double((i - COUNT / 2) * (most / (COUNT / 2))));
}

/* Two units of fp16 at 1, which each of a dozen rounded steps contributes to. */
static void check_function(const char *text, double (*function)(double), mw_chip chip, double most, const char *absent)
{
    static float x[COUNT], y[COUNT];
    double worst = 0.0;
    fill(x, most);
    if (!run_on(text, chip, x, COUNT, y, COUNT, absent))
        return;
    for (int i = 0; i < COUNT; i++)
        worst = fmax(worst, fabs((double)y[i] - function((double)x[i])));
    check_note(worst <= 0x1p-9, __FILE__, __LINE__, "up to %g: %g off", most, worst);
}

static void test_sine_and_cosine_are_those_of_double(void)
{
    static const double mosts[] = {0.01, 1.6, 3.2, 10.0, 100.0, 1000.0};
    for (size_t i = 0; i < sizeof mosts / sizeof *mosts; i++) {
        check_function(UNARY("sin"), sin, MW_CHIP_H13, mosts[i], "sin(");
        check_function(UNARY("cos"), cos, MW_CHIP_H14, mosts[i], "cos(");
    }
}

/* Near 0 sin x is x to the last bit but one. */
static void test_sine_of_small_numbers_is_right_in_proportion(void)
{
    static float x[COUNT], y[COUNT];
    fill(x, 0x1p-6);
    if (!run_on(UNARY("sin"), MW_CHIP_H13, x, COUNT, y, COUNT, NULL))
        return;
    for (int i = 0; i < COUNT; i++)
        CHECK(fabs((double)y[i] - sin((double)x[i])) <= 0x1p-10 * fabs((double)x[i]));
}

/* The same bits on two chips. */
static void check_same(const char *text, size_t count, double most, size_t results, mw_chip plain, mw_chip fitted)
{
    static float x[COUNT], y[2][4096];
    fill(x, most);
    if (run_on(text, plain, x, count, y[0], results, NULL) && run_on(text, fitted, x, count, y[1], results, NULL))
        CHECK(memcmp(y[0], y[1], results * sizeof *y[0]) == 0);
}

static void test_the_other_forms_give_the_same_bits(void)
{
    const mw_chip any = MW_CHIP_AUTO;
    check_same(UNARY("round"), COUNT, 3000.0, COUNT, any, MW_CHIP_H13);
    check_same("program(1.3)\n{func main<ios18>(tensor<fp16, [4, 70]> x) {tensor<fp16, [4, 70]> s = square(x = x);"
               "tensor<fp16, [4, 70]> y = relu(x = s);} -> (y);}",
               280, 5.0, 280, any, MW_CHIP_H17);
    check_same("program(1.3)\n{func main<ios18>(tensor<fp16, [1, 3]> x) {tensor<fp16, [7, 30]> y = tile(reps = "
               "tensor<int32, [2]>([7, 10]), x = x);} -> (y);}",
               3, 5.0, 210, any, MW_CHIP_H17);
    check_same(
        "program(1.3)\n{func main<ios18>(tensor<fp16, [2, 2, 3, 4]> x) {tensor<fp16, [3, 4, 4, 6]> y = "
        "pad(constant_val = fp16(2), mode = string(\"constant\"), pad = tensor<int32, [8]>([1, 0, 2, 0, 1, 0, 0, "
        "2]), x = x);} -> (y);}",
        48, 5.0, 288, any, MW_CHIP_H17);
    check_same("program(1.3)\n{func main<ios18>(tensor<fp16, [3, 4]> x) {tensor<fp16, [5, 7]> y = pad(constant_val = "
               "fp16(0), mode = string(\"reflect\"), pad = tensor<int32, [4]>([2, 0, 1, 2]), x = x);} -> (y);}",
               12, 5.0, 35, any, MW_CHIP_H13);
    check_same("program(1.3)\n{func main<ios18>(tensor<fp16, [5]> x) {tensor<fp16, [5]> s = floor(x = x);"
               "tensor<fp16, [5]> y = mul(x = s, y = fp16(3));} -> (y);}",
               5, 100.0, 5, any, MW_CHIP_H17);
    check_same("program(1.3)\n{func main<ios18>(tensor<fp16, [5]> x) {tensor<fp16, [5]> r = range_1d(end = fp16(11), "
               "start = fp16(1), step = fp16(2)); tensor<fp16, [5]> y = add(x = x, y = r);} -> (y);}",
               5, 100.0, 5, any, MW_CHIP_H13);
    check_same("program(1.3)\n{func main<ios18>(tensor<fp16, [1, 2, 3, 2, 4]> x) {tensor<fp16, [1, 2, 3, 2, 2]> y = "
               "matmul(transpose_x = bool(false), transpose_y = bool(true), x = x, y = x);} -> (y);}",
               48, 3.0, 24, any, MW_CHIP_H17);
    check_same("program(1.3)\n{func main<ios18>(tensor<fp16, [1, 2, 3, 2, 4]> x) {tensor<fp16, [1, 2, 3, 2, 4]> y = "
               "layer_norm(axes = tensor<int32, [2]>([-2, -1]), epsilon = fp16(0.01), x = x);} -> (y);}",
               48, 3.0, 48, any, MW_CHIP_H17);
}

static double softplus(double x) { return log1p(exp(-fabs(x))) + fmax(x, 0.0); }

static void test_softplus_is_right_beyond_what_exp_holds(void)
{
    static float x[COUNT], y[COUNT];
    fill(x, 3000.0);
    if (!run_on(UNARY("softplus"), MW_CHIP_H13, x, COUNT, y, COUNT, NULL))
        return;
    for (int i = 0; i < COUNT; i++)
        CHECK(fabs((double)y[i] - softplus((double)x[i])) <= 0x1p-10 * fmax(1.0, fabs((double)x[i])));
}

/* An image sampled by an affine map, on a chip without the engine for it. */
static void test_sampling_is_that_of_a_chip_that_has_it(void)
{
    static const char text[] =
        "program(1.3)\n{func main<ios18>(tensor<fp16, [1, 1, 4, 4]> x) {tensor<fp16, [1, 6]> t = const()[val = "
        "tensor<fp16, [1, 6]>([[0.5, 0.25, 0, -0.25, 0.5, 0.125]])]; tensor<fp16, [1, 1, 3, 3]> y = "
        "affine(align_corners "
        "= bool(true), coordinates_mode = string(\"normalized_minus_one_to_one\"), output_height = int32(3), "
        "output_width = int32(3), padding_mode = string(\"constant\"), padding_value = fp16(0), sampling_mode = "
        "string(\"bilinear\"), transform_matrix = t, x = x);} -> (y);}";
    static float x[16], y[2][9];
    for (int i = 0; i < 16; i++)
        x[i] = (float)(i * i % 7);
    if (run_on(text, MW_CHIP_H14, x, 16, y[0], 9, NULL) && run_on(text, MW_CHIP_H13, x, 16, y[1], 9, "affine("))
        for (int i = 0; i < 9; i++) /* places and products rounded to fp16 */
            CHECK(fabsf(y[0][i] - y[1][i]) <= 0.02F);
}

int main(void)
{
    RUN(test_sine_and_cosine_are_those_of_double);
    RUN(test_sine_of_small_numbers_is_right_in_proportion);
    RUN(test_the_other_forms_give_the_same_bits);
    RUN(test_softplus_is_right_beyond_what_exp_holds);
    RUN(test_sampling_is_that_of_a_chip_that_has_it);
    return check_finish();
}
