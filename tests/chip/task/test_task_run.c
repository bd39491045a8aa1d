/* The public H13 files, run from their registers: each gives the value of its operation on random inputs, against sums
 * in double precision written here. */
#include "base/number/fp16.h"
#include "chip/hwx/hwx_file.h"
#include "chip/task/coefficients.h"
#include "support/check.h"

#include <math.h>
#include <stdlib.h>

#define FOLDER MW_SHARED_DATA "/hwx/tinygrad_ane_"

/* ---- random numbers: xorshift, seeded the same each time ---- */

static uint64_t random_state;

static double random_number(void) /* in (-4, 4), an fp16 */
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    const double x = ((double)(random_state >> 11) * 0x1p-53 - 0.5) * 8.0;
    return (double)mw__fp16_to_float(mw__fp16_from_double(x));
}

static void fill(hwx_port *port)
{
    for (int64_t i = 0; i < hwx_port_count(port); i++)
        hwx_port_put(port, i, random_number());
}

static bool open_filled(hwx_file *file, const char *name)
{
    char path[512];
    snprintf(path, sizeof path, FOLDER "%s.hwx", name);
    random_state = UINT64_C(0x9e3779b97f4a7c15);
    if (!hwx_file_open(file, path)) {
        hwx_file_close(file);
        check_skip("%s is not there", path);
        return false;
    }
    for (int i = 0; i < file->port_count; i++)
        if (!file->ports[i].is_output)
            fill(&file->ports[i]);
    return true;
}

/* Half a step of fp16 at x. */
static double half_step(double x)
{
    int power;
    frexp(fabs(x), &power);
    return ldexp(0.5, (power < -13 ? -13 : power) - 11);
}

/* Runs and compares each output with `want`, allowing the rounding and what fp32 sums of `terms` may be off. */
typedef struct expected {
    double value, allowed; /* beside the rounding */
} expected;

static void compare(hwx_file *file, const char *profile, const expected *want)
{
    mw_error err = {0};
    const hwx_port *out = hwx_file_output(file);
    int64_t wrong = 0;
    CHECK(hwx_file_run(file, profile, &err) == MW_OK);
    CHECK_OK(err);
    for (int64_t i = 0; i < hwx_port_count(out); i++) {
        const double got = hwx_port_get(out, i);
        wrong += !(fabs(got - want[i].value) <= half_step(want[i].value) + want[i].allowed);
    }
    CHECK_INT(wrong, 0);
}

static expected *room(const hwx_port *port) { return calloc((size_t)hwx_port_count(port), sizeof(expected)); }

/* ---- element by element ---- */

static void check_unary(const char *name, double (*function)(double), double allowed)
{
    hwx_file file;
    if (!open_filled(&file, name))
        return;
    const hwx_port *in = hwx_file_input(&file, 0), *out = hwx_file_output(&file);
    expected *want = room(out);
    for (int64_t i = 0; i < hwx_port_count(out); i++)
        want[i] = (expected){function(hwx_port_get(in, i)), allowed};
    compare(&file, "h13", want);
    free(want);
    hwx_file_close(&file);
}

static double relu(double x) { return x > 0.0 ? x : 0.0; }
static double sigmoid(double x) { return 1.0 / (1.0 + exp(-x)); }

static void test_relu_of_77_is_exact(void) { check_unary("ops_relu_dc54cc54", relu, 0.0); }
static void test_relu_of_16_is_exact(void) { check_unary("ops_relu_d66a665b", relu, 0.0); }

/* The largest error of straight lines between knots half a unit apart is 0.00313, near 1.25. */
static void test_sigmoid_is_as_near_as_its_table(void) { check_unary("ops_sigmoid_7cc79341", sigmoid, 0.0035); }

static void test_sigmoid_is_no_better_than_its_table(void)
{
    hwx_file file;
    if (!open_filled(&file, "ops_sigmoid_7cc79341"))
        return;
    mw_error err = {0};
    double most = 0.0;
    hwx_port *in = hwx_file_input(&file, 0);
    for (int64_t i = 0; i < 77; i++)
        hwx_port_put(in, i, 1.0 + (double)i / 128.0);
    CHECK(hwx_file_run(&file, "h13", &err) == MW_OK);
    for (int64_t i = 0; i < 77; i++)
        most = fmax(most, fabs(hwx_port_get(hwx_file_output(&file), i) - sigmoid(hwx_port_get(in, i))));
    CHECK(most > 0.0028 && most < 0.0035);
    hwx_file_close(&file);
}

static void test_sum_is_exact(void)
{
    hwx_file file;
    if (!open_filled(&file, "ops_sum_1b1855b8"))
        return;
    const hwx_port *a = hwx_file_input(&file, 0), *b = hwx_file_input(&file, 1);
    expected *want = room(a);
    for (int64_t i = 0; i < hwx_port_count(a); i++)
        want[i].value = hwx_port_get(a, i) + hwx_port_get(b, i);
    compare(&file, "h13", want);
    free(want);
    hwx_file_close(&file);
}

/* Two tasks, each with its own window of the result. */
static void check_concat(const char *name)
{
    hwx_file file;
    if (!open_filled(&file, name))
        return;
    const hwx_port *a = hwx_file_input(&file, 0), *b = hwx_file_input(&file, 1), *out = hwx_file_output(&file);
    CHECK_INT(hwx_port_count(out), hwx_port_count(a) + hwx_port_count(b));
    expected *want = room(out);
    for (int64_t i = 0; i < hwx_port_count(out); i++)
        want[i].value = i < hwx_port_count(a) ? hwx_port_get(a, i) : hwx_port_get(b, i - hwx_port_count(a));
    compare(&file, "h13", want);
    CHECK_INT(file.chain.count, 2);
    free(want);
    hwx_file_close(&file);
}

static void test_concat_of_32_is_exact(void) { check_concat("ops_concat_fb59e09a"); }
static void test_concat_of_16400_is_exact(void) { check_concat("ops_concat_0f988933"); }

/* ---- products: weights put where this reading of the layout has them ---- */

/* Number r of output o, by counting: engines of the task are as many as it has live tiles, rounded up to a power of 2.
 *  lanes  output channels side by side */
static uint8_t *place_of(hwx_file *file, int64_t o, int64_t r, int64_t rows, int64_t lanes, int64_t tile_bytes)
{
    const int64_t plane = o / lanes / 16, tile = o / lanes % 16;
    return file->own_constants + tile * tile_bytes + 2 * ((plane * rows + r) * lanes + o % lanes);
}

static void put_weight(uint8_t *at, double value)
{
    const uint16_t half = mw__fp16_from_double(value);
    at[0] = (uint8_t)half;
    at[1] = (uint8_t)(half >> 8);
}

/* y = w x over channels of single pixels. */
static void expect_product(const hwx_file *file, const hwx_port *in, const hwx_port *out, const double *w,
                           expected *want)
{
    const int64_t inputs = hwx_port_count(in);
    (void)file;
    for (int64_t o = 0; o < hwx_port_count(out); o++) {
        double sum = 0.0, size = 0.0;
        for (int64_t i = 0; i < inputs; i++) {
            sum += w[o * inputs + i] * hwx_port_get(in, i);
            size += fabs(w[o * inputs + i] * hwx_port_get(in, i));
        }
        want[o] = (expected){sum, (double)inputs * 0x1p-24 * size};
    }
}

static void check_gemm(const char *name, int64_t lanes, int64_t tile_bytes)
{
    hwx_file file;
    if (!open_filled(&file, name))
        return;
    const hwx_port *in = hwx_file_input(&file, 0), *out = hwx_file_output(&file);
    const int64_t inputs = hwx_port_count(in), outputs = hwx_port_count(out);
    double *w = malloc((size_t)(inputs * outputs) * sizeof *w);
    expected *want = room(out);
    for (int64_t i = 0; i < inputs * outputs; i++) {
        w[i] = random_number();
        put_weight(place_of(&file, i / inputs, i % inputs, inputs, lanes, tile_bytes), w[i]);
    }
    expect_product(&file, in, out, w, want);
    compare(&file, "h13", want);
    free(want);
    free(w);
    hwx_file_close(&file);
}

static void test_gemm_of_64_with_random_weights(void) { check_gemm("ops_gemm_ef7e5c24", 4, 0x200); }
static void test_gemm_of_512_with_random_weights(void) { check_gemm("ops_gemm_bc27a277", 32, 0x8000); }
static void test_conv_with_random_weights(void) { check_gemm("ops_conv_ea5905f3", 1, 0x40); }
static void test_other_conv_with_random_weights(void) { check_gemm("ops_conv_8a6bd427", 1, 0x40); }

/* As the files are. */
static void check_own_weights(const char *name, const char *profile, const double *w)
{
    hwx_file file;
    if (!open_filled(&file, name))
        return;
    const hwx_port *in = hwx_file_input(&file, 0), *out = hwx_file_output(&file);
    expected *want = room(out);
    expect_product(&file, in, out, w, want);
    compare(&file, profile, want);
    free(want);
    hwx_file_close(&file);
}

/* The numbers 0 to 8 as bits: denormal numbers in the order of the weights. */
static void test_conv_of_denormal_weights_shows_their_order(void)
{
    double w[9];
    for (int i = 0; i < 9; i++)
        w[i] = ldexp(i, -24);
    check_own_weights("ops_conv_8a6bd427", "ieee", w);
}

static void test_an_m1_flushes_results_that_are_denormal(void)
{
    const double w[9] = {0};
    check_own_weights("ops_conv_8a6bd427", "h13", w);
}

static void test_conv_of_public_weights(void)
{
    hwx_file file;
    if (!open_filled(&file, "ops_conv_ea5905f3"))
        return;
    double w[9];
    for (int i = 0; i < 9; i++) {
        const uint8_t *at = file.constants + 0x40 * (i / 3) + 2 * (i % 3);
        w[i] = (double)mw__fp16_to_float((uint16_t)(at[0] | at[1] << 8));
    }
    hwx_file_close(&file);
    check_own_weights("ops_conv_ea5905f3", "h13", w);
}

/* A row of biases of 1, and weights of 0: read as a weight, the first number would give y = x[0]. */
static void test_compiled_model_is_its_bias(void)
{
    hwx_file file;
    if (!open_filled(&file, "compiled_model_ee9d5b1b"))
        return;
    const expected want[2] = {{.value = 1.0}, {.value = 1.0}};
    CHECK_INT(hwx_port_count(hwx_file_output(&file)), 2);
    compare(&file, "h13", want);
    hwx_file_close(&file);
}

static void test_compiled_model_with_random_weights_and_biases(void)
{
    hwx_file file;
    if (!open_filled(&file, "compiled_model_ee9d5b1b"))
        return;
    const hwx_port *in = hwx_file_input(&file, 0);
    expected want[2] = {{0}};
    for (int o = 0; o < 2; o++)
        for (int i = 0; i < 4; i++) {
            const double number = random_number();
            put_weight(file.own_constants + 0x40 * o + 2 * i, number);
            want[o].value += i == 0 ? number : number * hwx_port_get(in, i - 1);
            want[o].allowed += 0x1p-20;
        }
    compare(&file, "h13", want);
    hwx_file_close(&file);
}

int main(void)
{
    RUN(test_relu_of_77_is_exact);
    RUN(test_relu_of_16_is_exact);
    RUN(test_sigmoid_is_as_near_as_its_table);
    RUN(test_sigmoid_is_no_better_than_its_table);
    RUN(test_sum_is_exact);
    RUN(test_concat_of_32_is_exact);
    RUN(test_concat_of_16400_is_exact);
    RUN(test_gemm_of_64_with_random_weights);
    RUN(test_gemm_of_512_with_random_weights);
    RUN(test_conv_with_random_weights);
    RUN(test_other_conv_with_random_weights);
    RUN(test_conv_of_denormal_weights_shows_their_order);
    RUN(test_an_m1_flushes_results_that_are_denormal);
    RUN(test_conv_of_public_weights);
    RUN(test_compiled_model_is_its_bias);
    RUN(test_compiled_model_with_random_weights_and_biases);
    return check_finish();
}
