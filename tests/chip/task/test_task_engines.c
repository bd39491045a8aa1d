/* What single registers do, on programs that the encoder wrote and that are changed here, against sums in double
 * precision. */
#include "base/number/fp16.h"
#include "chip/hwx/hwx_made.h"
#include "chip/task/expect.h"
#include "support/check.h"

#include <math.h>
#include <stdlib.h>

/* ---- comparing ---- */

static double half_step(double x)
{
    int power;
    frexp(fabs(x), &power);
    return ldexp(0.5, (power < -13 ? -13 : power) - 11);
}

static bool is_near(double got, double want, double size, int64_t terms)
{
    return fabs(got - want) <= half_step(want) + (double)terms * 0x1p-24 * size;
}

static void run_well(hwx_file *file, const char *profile)
{
    mw_error err = {0};
    CHECK(hwx_file_run(file, profile, &err) == MW_OK);
    CHECK_OK(err);
}

static void refused(hwx_file *file, mw_status status, const char *part)
{
    mw_error err = {0};
    hwx_port *out = hwx_file_output(file);
    hwx_port_put(out, 0, 7.0);
    CHECK(hwx_file_run(file, "h13", &err) == status);
    CHECK_ERROR(err, status, part);
    CHECK_NEAR(hwx_port_get(out, 0), 7.0, 0.0); /* nothing was written */
}

/* ---- convolutions ---- */

typedef struct conv {
    int64_t c, h, w, outputs, kernel, pad, step_h, step_w, groups;
    bool bias, relu, unicast;
    double scale;
} conv;

static int64_t weights_of(const conv *v)
{
    return v->outputs * (v->unicast ? 1 : v->c / v->groups) * v->kernel * v->kernel;
}

/* One output in double; *out_size is the sum of magnitudes. */
static double conv_at(const conv *v, const hwx_port *in, const double *w, const double *bias, int64_t o, int64_t y,
                      int64_t x, double *out_size)
{
    const int64_t each = v->unicast ? 1 : v->c / v->groups, of_group = v->outputs / v->groups;
    const int64_t first = v->unicast ? o : o / of_group * each;
    double sum = v->bias ? bias[o] : 0.0;
    *out_size = fabs(sum);
    for (int64_t c = 0; c < each; c++)
        for (int64_t i = 0; i < v->kernel; i++)
            for (int64_t j = 0; j < v->kernel; j++) {
                const int64_t row = y * v->step_h + i - v->pad, column = x * v->step_w + j - v->pad;
                if (row < 0 || row >= v->h || column < 0 || column >= v->w)
                    continue;
                const double term = w[((o * each + c) * v->kernel + i) * v->kernel + j] *
                                    hwx_port_get(in, ((first + c) * v->h + row) * v->w + column);
                sum += term;
                *out_size += fabs(term);
            }
    return sum;
}

static void compare_conv(const conv *v, const hwx_file *file, const double *w, const double *bias)
{
    const hwx_port *in = hwx_file_input((hwx_file *)file, 0), *out = hwx_file_output((hwx_file *)file);
    const int64_t h = (v->h + 2 * v->pad - v->kernel) / v->step_h + 1,
                  width = (v->w + 2 * v->pad - v->kernel) / v->step_w + 1;
    int64_t wrong = 0;
    for (int64_t o = 0; o < v->outputs; o++)
        for (int64_t y = 0; y < h; y++)
            for (int64_t x = 0; x < width; x++) {
                double size, want = conv_at(v, in, w, bias, o, y, x, &size);
                want = (v->relu && want < 0.0 ? 0.0 : want) * v->scale;
                const double got = hwx_port_get(out, (o * out->extent[2] + y) * out->extent[3] + x);
                wrong += !is_near(got, want, size * v->scale, weights_of(v) / v->outputs + 1);
            }
    check_note(wrong == 0, __FILE__, __LINE__, "%lld x %lld x %lld to %lld by %lld: %lld wrong", (long long)v->c,
               (long long)v->h, (long long)v->w, (long long)v->outputs, (long long)v->kernel, (long long)wrong);
}

/* Plain ones, as the encoder writes them. */
static void check_conv(conv v)
{
    hwx_file file;
    double *w = calloc((size_t)weights_of(&v), sizeof *w), *b = calloc((size_t)v.outputs, sizeof *b);
    hwx_made_seed((uint64_t)(v.c * 7 + v.outputs * 3 + v.kernel));
    uint16_t *weights = hwx_made_weights((size_t)weights_of(&v), w), *bias = hwx_made_weights((size_t)v.outputs, b);
    mw__emit_operation op =
        hwx_made_conv((mw__emit_extent){v.c, v.h, v.w}, v.outputs, v.kernel, v.pad, weights, v.bias ? bias : NULL);
    op.relu = v.relu;
    if (hwx_made_open(&file, &op)) {
        hwx_made_fill(&file);
        run_well(&file, "h13,-product_denormals");
        compare_conv(&v, &file, w, b);
        hwx_file_close(&file);
    }
    free(weights);
    free(bias);
    free(w);
    free(b);
}

#define PLAIN .step_h = 1, .step_w = 1, .groups = 1, .scale = 1.0

static void test_convolutions_of_all_kinds_of_shapes(void)
{
    check_conv((conv){.c = 3, .h = 5, .w = 7, .outputs = 4, .kernel = 3, .pad = 1, PLAIN});
    check_conv((conv){.c = 3, .h = 5, .w = 7, .outputs = 4, .kernel = 3, .pad = 0, .bias = true, PLAIN});
    check_conv((conv){.c = 16, .h = 1, .w = 40, .outputs = 40, .kernel = 1, .bias = true, .relu = true, PLAIN});
    check_conv((conv){.c = 64, .h = 8, .w = 8, .outputs = 64, .kernel = 3, .pad = 1, PLAIN});
    check_conv((conv){.c = 5, .h = 4, .w = 4, .outputs = 768, .kernel = 1, .bias = true, PLAIN});
    check_conv((conv){.c = 1, .h = 9, .w = 3, .outputs = 1, .kernel = 3, .pad = 1, .relu = true, PLAIN});
    check_conv((conv){.c = 20, .h = 2, .w = 2, .outputs = 17, .kernel = 1, PLAIN});
}

static void test_post_scale_multiplies_behind_the_activation(void)
{
    const uint16_t one = 0x3c00;
    const mw__emit_operation op = hwx_made_conv((mw__emit_extent){1, 1, 40}, 1, 1, 0, &one, NULL);
    hwx_file file;
    hwx_made_seed(5);
    REQUIRE(hwx_made_open(&file, &op));
    hwx_made_fill(&file);
    hwx_made_field(&file, MW__FIELD_activation, 1);
    hwx_made_field(&file, MW__FIELD_post_scale_value, 0xc200); /* -3 */
    hwx_made_field(&file, MW__FIELD_post_scale_shift, 1);
    run_well(&file, "h13");
    for (int i = 0; i < 40; i++) {
        const double x = hwx_port_get(hwx_file_input(&file, 0), i), want = x > 0.0 ? -1.5 * x : 0.0;
        CHECK_NEAR(hwx_port_get(hwx_file_output(&file), i), want, half_step(want));
    }
    hwx_file_close(&file);
}

/* Steps: the same weights and input, with fewer outputs in the same window. */
static void test_steps_skip_rows_and_columns(void)
{
    const conv v = {.c = 4,
                    .h = 9,
                    .w = 11,
                    .outputs = 8,
                    .kernel = 3,
                    .pad = 1,
                    .step_h = 2,
                    .step_w = 3,
                    .groups = 1,
                    .scale = 1.0};
    double w[8 * 4 * 9];
    hwx_file file;
    hwx_made_seed(6);
    uint16_t *weights = hwx_made_weights((size_t)weights_of(&v), w);
    const mw__emit_operation op = hwx_made_conv((mw__emit_extent){v.c, v.h, v.w}, v.outputs, 3, 1, weights, NULL);
    REQUIRE(hwx_made_open(&file, &op));
    hwx_made_fill(&file);
    hwx_made_field(&file, MW__FIELD_stride_h, 2);
    hwx_made_field(&file, MW__FIELD_stride_w, 3);
    hwx_made_field(&file, MW__FIELD_out_h, 5);
    hwx_made_field(&file, MW__FIELD_out_w, 4);
    run_well(&file, "h13");
    compare_conv(&v, &file, w, NULL);
    free(weights);
    hwx_file_close(&file);
}

/* Two groups of 2 inputs and 16 outputs: extents of a group, strides from group to group, planes that end at 64 bytes.
 */
static void test_groups_have_their_own_channels(void)
{
    enum { ROWS = 18, PLANE = 64 };
    const conv v = {.c = 4,
                    .h = 4,
                    .w = 4,
                    .outputs = 32,
                    .kernel = 3,
                    .pad = 1,
                    .step_h = 1,
                    .step_w = 1,
                    .groups = 2,
                    .scale = 1.0};
    double w[32 * ROWS];
    hwx_file file;
    hwx_made_seed(7);
    uint16_t *weights = hwx_made_weights(32 * ROWS, w), *none = calloc(32 * 36, sizeof *none);
    const mw__emit_operation op = hwx_made_conv((mw__emit_extent){4, 4, 4}, 32, 3, 1, none, NULL);
    REQUIRE(hwx_made_open(&file, &op));
    hwx_made_fill(&file);
    hwx_made_field(&file, MW__FIELD_groups, 2);
    hwx_made_field(&file, MW__FIELD_in_c, 2);
    hwx_made_field(&file, MW__FIELD_out_c, 16);
    hwx_made_field(&file, MW__FIELD_lanes, 0);
    hwx_made_put(&file, MW__REGISTER_source1_group, 0, 2 * hwx_made_get(&file, MW__REGISTER_source1_plane));
    hwx_made_put(&file, MW__REGISTER_target_group, 0, 16 * hwx_made_get(&file, MW__REGISTER_target_plane));
    for (int tile = 0; tile < 16; tile++) {
        hwx_made_put(&file, MW__REGISTER_coefficient_base, (unsigned)tile, (uint32_t)(2 * PLANE * tile));
        hwx_made_put(&file, MW__REGISTER_coefficient_size, (unsigned)tile, 2 * PLANE);
        for (int g = 0; g < 2; g++)
            memcpy(file.own_constants + 2 * PLANE * tile + PLANE * g, weights + (g * 16 + tile) * ROWS, 2 * ROWS);
    }
    run_well(&file, "h13");
    compare_conv(&v, &file, w, NULL);
    free(weights);
    free(none);
    hwx_file_close(&file);
}

/* Channel o is number o / 16 of tile o % 16, bias before its taps. */
static void test_unicast_is_depthwise(void)
{
    enum { EACH = 10, TILE = 64 };
    const conv v = {
        .c = 40, .h = 6, .w = 5, .outputs = 40, .kernel = 3, .pad = 1, .bias = true, .unicast = true, PLAIN};
    double w[40 * 9], b[40];
    hwx_file file;
    hwx_made_seed(8);
    uint16_t *weights = hwx_made_weights(40 * 9, w), *bias = hwx_made_weights(40, b),
             *none = calloc(40 * 360, sizeof *none);
    const mw__emit_operation op = hwx_made_conv((mw__emit_extent){40, 6, 5}, 40, 3, 1, none, bias);
    REQUIRE(hwx_made_open(&file, &op));
    hwx_made_fill(&file);
    hwx_made_field(&file, MW__FIELD_unicast, 1);
    for (int o = 0; o < 40; o++) {
        uint8_t *at = file.own_constants + TILE * (o % 16) + 2 * EACH * (o / 16);
        memcpy(at, &bias[o], 2);
        memcpy(at + 2, weights + (size_t)o * 9, 18);
    }
    for (unsigned tile = 0; tile < 16; tile++) {
        hwx_made_put(&file, MW__REGISTER_coefficient_base, tile, TILE * tile);
        hwx_made_put(&file, MW__REGISTER_coefficient_size, tile, TILE);
    }
    run_well(&file, "h13");
    compare_conv(&v, &file, w, b);
    free(weights);
    free(bias);
    free(none);
    hwx_file_close(&file);
}

/* Three inputs of one output with weights 1, 1, -1: a + b - c, as in a program of allbilly's. */
static void test_unicast_of_three_inputs_adds_them(void)
{
    const uint16_t none[3] = {0};
    const mw__emit_operation op = hwx_made_conv((mw__emit_extent){3, 1, 10}, 1, 1, 0, none, NULL);
    const uint16_t weights[3] = {0x3c00, 0x3c00, 0xbc00};
    hwx_file file;
    hwx_made_seed(9);
    REQUIRE(hwx_made_open(&file, &op));
    hwx_made_fill(&file);
    hwx_made_field(&file, MW__FIELD_unicast, 1);
    hwx_made_field(&file, MW__FIELD_unicast_cin, 3);
    memcpy(file.own_constants, weights, sizeof weights);
    run_well(&file, "h13");
    const hwx_port *in = hwx_file_input(&file, 0);
    for (int i = 0; i < 10; i++) {
        const double want = hwx_port_get(in, i) + hwx_port_get(in, 10 + i) - hwx_port_get(in, 20 + i);
        CHECK_NEAR(hwx_port_get(hwx_file_output(&file), i), want, half_step(want));
    }
    hwx_made_field(&file, MW__FIELD_unicast_cin, 4);
    refused(&file, MW_ERROR_FORMAT, "1 outputs of 4 inputs");
    hwx_made_field(&file, MW__FIELD_unicast_cin, 0);
    refused(&file, MW_ERROR_FORMAT, "0 inputs");
    hwx_file_close(&file);
}

/* ---- planar ---- */

static double planar(unsigned what, double x, double y)
{
    switch (what) {
    case 0:
        return x + y;
    case 1:
        return x * y;
    case 2:
        return fmax(x, y);
    case 3:
        return fmin(x, y);
    default:
        return (x + y) * (x + y);
    }
}

static void check_planar(unsigned what, bool negative)
{
    mw__emit_operation op = hwx_made_binary(what < 4 ? what : 0, (mw__emit_extent){5, 3, 70});
    hwx_file file;
    op.negative = negative;
    hwx_made_seed(10 + what);
    REQUIRE(hwx_made_open(&file, &op));
    hwx_made_fill(&file);
    hwx_made_field(&file, MW__FIELD_pe_operation, what);
    run_well(&file, "h13");
    int wrong = 0;
    for (int64_t i = 0; i < 5 * 3 * 70; i++) {
        const double x = hwx_port_get(hwx_file_port(&file, "x"), i), z = hwx_port_get(hwx_file_port(&file, "z"), i);
        const double want = planar(what, x, negative ? -z : z);
        wrong += !is_near(hwx_port_get(hwx_file_output(&file), i), want, fabs(want) + fabs(x * z), 2);
    }
    CHECK_INT(wrong, 0);
    hwx_file_close(&file);
}

static void test_operations_of_the_planar_engine(void)
{
    for (unsigned what = 0; what < 5; what++) {
        check_planar(what, false);
        check_planar(what, true);
    }
}

static void test_scales_of_the_planar_engine(void)
{
    const mw__emit_operation op = hwx_made_binary(1, (mw__emit_extent){2, 1, 33});
    hwx_file file;
    hwx_made_seed(20);
    REQUIRE(hwx_made_open(&file, &op));
    hwx_made_fill(&file);
    hwx_made_field(&file, MW__FIELD_pe_pre, 0x4000);                 /* 2 */
    hwx_made_field(&file, MW__FIELD_pe_scale, 0xb800);               /* -0.5 */
    hwx_made_field(&file, MW__FIELD_pe_bias, 0x3c00);                /* 1 */
    hwx_made_put(&file, MW__REGISTER_pe_final_scale, 0, 0x3e800000); /* 0.25 */
    hwx_made_field(&file, MW__FIELD_relu2, 1);
    run_well(&file, "h13");
    for (int64_t i = 0; i < 66; i++) {
        const double x = hwx_port_get(hwx_file_port(&file, "x"), i), z = hwx_port_get(hwx_file_port(&file, "z"), i);
        const double want = 0.25 * (2.0 * x) * (1.0 - 0.5 * fmax(z, 0.0));
        CHECK_NEAR(hwx_port_get(hwx_file_output(&file), i), want, half_step(want) + 0x1p-20);
    }
    hwx_file_close(&file);
}

/* Strides of 0 read one channel again and again: how a vector meets rows. */
static void test_a_source_without_strides_is_broadcast(void)
{
    const mw__emit_operation op = hwx_made_binary(0, (mw__emit_extent){6, 4, 9});
    hwx_file file;
    hwx_made_seed(21);
    REQUIRE(hwx_made_open(&file, &op));
    hwx_made_fill(&file);
    hwx_made_put(&file, MW__REGISTER_source2_plane, 0, 0);
    hwx_made_put(&file, MW__REGISTER_source2_row, 0, 0);
    run_well(&file, "h13");
    for (int64_t i = 0; i < 6 * 4 * 9; i++) {
        const double want = hwx_port_get(hwx_file_port(&file, "x"), i) + hwx_port_get(hwx_file_port(&file, "z"), i % 9);
        CHECK_NEAR(hwx_port_get(hwx_file_output(&file), i), want, half_step(want));
    }
    hwx_file_close(&file);
}

/* ---- the arithmetic of a profile ---- */

static double run_single(unsigned planar_operation, double x, double z, const char *profile)
{
    const mw__emit_operation op = hwx_made_binary(planar_operation, (mw__emit_extent){1, 1, 1});
    hwx_file file;
    double y = NAN;
    if (hwx_made_open(&file, &op)) {
        hwx_port_put(hwx_file_port(&file, "x"), 0, x);
        hwx_port_put(hwx_file_port(&file, "z"), 0, z);
        run_well(&file, profile);
        y = hwx_port_get(hwx_file_output(&file), 0);
        hwx_file_close(&file);
    }
    return y;
}

static void test_a_chip_knows_no_nan(void)
{
    CHECK(run_single(0, NAN, 0.0, "h13") == INFINITY);       /* nan_is_infinity */
    CHECK(run_single(0, INFINITY, -INFINITY, "h13") == 0.0); /* no_nan */
    CHECK(isnan(run_single(0, NAN, 0.0, "ieee")));
    CHECK(isnan(run_single(0, INFINITY, -INFINITY, "ieee")));
    CHECK(isnan(run_single(2, NAN, 1.0, "ieee")) && isnan(run_single(3, 1.0, NAN, "ieee")));
}

static void test_ties_of_products_go_where_the_profile_says(void)
{
    /* 1025/1024 * 1.5 = 1537.5/1024, a tie */
    const double x = 1.0 + 0x1p-10;
    CHECK_NEAR(run_single(1, x, 1.5, "h13"), 1538 * 0x1p-10, 0.0);
    CHECK_NEAR(run_single(1, x, 1.5, "h14"), 1538 * 0x1p-10, 0.0);
    /* 1027/1024 * 1.5 = 1540.5/1024: down to even, or away */
    CHECK_NEAR(run_single(1, 1.0 + 3 * 0x1p-10, 1.5, "h13"), 1540 * 0x1p-10, 0.0);
    CHECK_NEAR(run_single(1, 1.0 + 3 * 0x1p-10, 1.5, "h14"), 1541 * 0x1p-10, 0.0);
    CHECK_NEAR(run_single(0, 2048.0, 1.0, "h14"), 2048.0, 0.0); /* not of sums */
}

/* y = sum of all channels; the number of the first is given, the others are ones. */
static double run_sum(int64_t channels, const double *x, const char *profile)
{
    uint16_t *ones = calloc((size_t)channels, sizeof *ones);
    hwx_file file;
    double y = NAN;
    for (int64_t i = 0; i < channels; i++)
        ones[i] = 0x3c00;
    const mw__emit_operation op = hwx_made_conv((mw__emit_extent){channels, 1, 1}, 1, 1, 0, ones, NULL);
    if (hwx_made_open(&file, &op)) {
        for (int64_t i = 0; i < channels; i++)
            hwx_port_put(hwx_file_input(&file, 0), i, x[i]);
        run_well(&file, profile);
        y = hwx_port_get(hwx_file_output(&file), 0);
        hwx_file_close(&file);
    }
    free(ones);
    return y;
}

static void test_products_have_a_ceiling(void)
{
    const double below[2] = {32736.0, 16.0}, above[2] = {32752.0, 16.0};
    CHECK_NEAR(run_sum(2, below, "h13"), 32752.0, 0.0);
    CHECK(run_sum(2, above, "h13") == INFINITY);
    CHECK_NEAR(run_sum(2, above, "ieee"), 32768.0, 0.0);
    CHECK_NEAR(run_sum(1, (double[]){40000.0}, "h13"), 40000.0, 0.0); /* one channel, one tap */
}

/* The ane-guide's sums: [4096] and 1024 ones are 5116; of [B, -B, 1] sixteen times 16 are left up to 4090, 4 at 4096.
 */
static void test_sums_by_fours_are_those_of_the_ane_guide(void)
{
    double x[1025], survivors[48];
    x[0] = 4096.0;
    for (int i = 1; i < 1025; i++)
        x[i] = 1.0;
    CHECK_NEAR(run_sum(1025, x, "h13,product_tiles"), 5116.0, 0.0);
    CHECK_NEAR(run_sum(1025, x, "h13"), 5120.0, 0.0);
    for (int big = 4090; big <= 4096; big += 6) {
        for (int i = 0; i < 48; i++)
            survivors[i] = i % 3 == 0 ? big : i % 3 == 1 ? -big : 1.0;
        CHECK_NEAR(run_sum(48, survivors, "h13,product_tiles"), big == 4090 ? 16.0 : 4.0, 0.0);
        CHECK_NEAR(run_sum(48, survivors, "h13"), 16.0, 0.0);
    }
}

/* ---- tables ---- */

typedef struct table_case {
    const char *name;
    unsigned step, mode;
    double low, high, at_low, at_high;
    double first, last; /* what is tried */
    double (*knot)(double), (*function)(double);
    double allowed; /* relative to 1 and the result */
} table_case;

static double two_to(double x) { return exp2(x); }
static double inverse(double x) { return 1.0 / (x == 0.0 ? 1.0 : x); }
static double root(double x) { return sqrt(x); }
static double inverse_root(double x) { return 1.0 / sqrt(x == 0.0 ? 1.0 : x); }
static double double_log2(double x) { return log2(x); }

/* Where knot i of a mode is. */
static double knot_at(const table_case *t, int i)
{
    const double step = ldexp(1.0, -(int)t->step);
    return t->mode == 0x01 ? (i - 16) * step : t->mode == 0x67 || t->mode == 0xc9 ? 0.5 + i * step : i * step;
}

static void put_half(uint8_t *at, int index, double value)
{
    const uint16_t half = mw__fp16_from_double(value);
    at[2 * index] = (uint8_t)half;
    at[2 * index + 1] = (uint8_t)(half >> 8);
}

static void write_table(const table_case *t, uint8_t *at)
{
    put_half(at, 0, t->low);
    put_half(at, 1, t->high);
    put_half(at, 2, t->at_low);
    put_half(at, 3, t->at_high);
    for (int i = 0; i < 33; i++)
        put_half(at, 4 + i, t->knot(knot_at(t, i)));
    for (int i = 37; i < 41; i++)
        put_half(at, i, i % 2 == 0 ? t->at_high : 0.0);
    at[82] = (uint8_t)t->step;
    at[84] = (uint8_t)t->mode;
}

static void check_table(const table_case *t)
{
    enum { COUNT = 256 };
    const mw__emit_operation op = hwx_made_unary(MW__EMIT_TABLE, (mw__emit_extent){1, 1, COUNT});
    hwx_file file;
    int wrong = 0;
    REQUIRE(hwx_made_open(&file, &op));
    write_table(t, file.own_constants);
    for (int i = 0; i < COUNT; i++)
        hwx_port_put(hwx_file_input(&file, 0), i, t->first + (t->last - t->first) * i / (COUNT - 1));
    run_well(&file, "h13");
    for (int i = 0; i < COUNT; i++) {
        const double x = hwx_port_get(hwx_file_input(&file, 0), i), want = t->function(x);
        wrong += !(fabs(hwx_port_get(hwx_file_output(&file), i) - want) <= t->allowed * fmax(1.0, fabs(want)));
    }
    check_note(wrong == 0, __FILE__, __LINE__, "%s: %d of %d wrong", t->name, wrong, COUNT);
    hwx_file_close(&file);
}

/* Each is as near as straight lines between its knots can be, and the numbers of fp16. */
static void test_modes_of_tables(void)
{
    static const table_case cases[] = {
        {"tanh", 3, 0x60, -60000, 60000, -1, 1, -6.0, 6.0, tanh, tanh, 0.0020},
        {"exp", 5, 0x0a, -25, 11, 0, INFINITY, -9.0, 10.0, two_to, exp, 0.0012},
        {"reciprocal", 6, 0x67, -60000, 60000, 0, 0, 0.01, 30.0, inverse, inverse, 0.0012},
        {"reciprocal of negatives", 6, 0x67, -60000, 60000, 0, 0, -30.0, -0.01, inverse, inverse, 0.0012},
        {"log2", 6, 0xc9, 0, 60000, -16, 16, 0.01, 300.0, double_log2, double_log2, 0.0012},
        {"sqrt", 4, 0xc5, 0, 60000, 0, 0, 0.01, 300.0, root, root, 0.0015},
        {"rsqrt", 4, 0xc6, 0, 60000, 0, 0, 0.01, 300.0, inverse_root, inverse_root, 0.0035},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_table(&cases[i]);
}

static void test_tails_and_limits_of_a_table(void)
{
    const mw__emit_operation op = hwx_made_unary(MW__EMIT_TABLE, (mw__emit_extent){1, 1, 6});
    const double x[6] = {-20.0, -10.0, -3.0, 3.0, 10.0, 20.0};
    hwx_file file;
    REQUIRE(hwx_made_open(&file, &op));
    memset(file.own_constants, 0, 128);
    put_half(file.own_constants, 0, -15.0);
    put_half(file.own_constants, 1, 15.0);
    put_half(file.own_constants, 2, -7.0);
    put_half(file.own_constants, 3, 9.0);
    put_half(file.own_constants, 37, 0.125); /* leaky relu: knots at one point, two lines */
    put_half(file.own_constants, 39, 1.0);
    put_half(file.own_constants, 40, 0.5);
    file.own_constants[82] = 64;
    file.own_constants[84] = 1;
    for (int i = 0; i < 6; i++)
        hwx_port_put(hwx_file_input(&file, 0), i, x[i]);
    run_well(&file, "h13");
    const double want[6] = {-7.0, -1.25, -0.375, 3.5, 10.5, 9.0};
    for (int i = 0; i < 6; i++)
        CHECK_NEAR(hwx_port_get(hwx_file_output(&file), i), want[i], 0.0);
    file.own_constants[84] = 2;
    refused(&file, MW_ERROR_UNSUPPORTED, "mode 0x2");
    file.own_constants[84] = 1;
    file.own_constants[82] = 65;
    refused(&file, MW_ERROR_UNSUPPORTED, "2^-65 apart");
    hwx_made_put(&file, MW__REGISTER_coefficient_size, 0, 80);
    refused(&file, MW_ERROR_FORMAT, "80 bytes");
    hwx_file_close(&file);
}

/* ---- refusals ---- */

/* Each row of expect.c that a field can be set against. */
static void check_refusals(const mw__emit_operation *op, bool neural)
{
    for (size_t i = 0; mw__chip_expectations(i) != NULL; i++) {
        const mw__chip_expectation *e = mw__chip_expectations(i);
        const uint32_t beyond = e->least > 0 ? e->least - 1 : e->most + 1;
        hwx_file file;
        if (!(neural ? e->neural : e->planar) || !hwx_made_open(&file, op))
            continue;
        hwx_made_field(&file, e->field, beyond);
        if (mw__field_of(e->field, hwx_made_get(&file, mw__field_rows()[e->field].in)) == beyond)
            refused(&file, MW_ERROR_UNSUPPORTED, mw__field_rows()[e->field].id);
        hwx_file_close(&file);
    }
}

static void test_what_is_not_understood_is_refused_by_name(void)
{
    const uint16_t weights[9] = {0};
    const mw__emit_operation product = hwx_made_conv((mw__emit_extent){3, 1, 1}, 3, 1, 0, weights, NULL);
    const mw__emit_operation both = hwx_made_binary(0, (mw__emit_extent){3, 2, 2});
    check_refusals(&product, true);
    check_refusals(&both, false);
}

typedef struct wrong_word {
    mw__register_id id;
    unsigned index;
    uint32_t value;
    mw_status status;
    const char *part;
} wrong_word;

static void test_registers_that_name_no_memory_are_refused(void)
{
    static const wrong_word words[] = {
        {MW__REGISTER_source1_offset, 0, 0xffffffff, MW_ERROR_FORMAT, "nothing is at"},
        {MW__REGISTER_source1_row, 0, 0x80000000, MW_ERROR_FORMAT, "source1: a tile of 3 x 4 x 4"},
        {MW__REGISTER_source1_plane, 0, 0x7fffffff, MW_ERROR_FORMAT, "source1"},
        {MW__REGISTER_in_dim, 0, 0x7fff7fff, MW_ERROR_FORMAT, "source1"},
        {MW__REGISTER_cin, 0, 0x1ffff, MW_ERROR_FORMAT, "source1"},
        {MW__REGISTER_cout, 0, 0x1ffff, MW_ERROR_FORMAT, "target"},
        {MW__REGISTER_out_dim, 0, 0, MW_ERROR_FORMAT, "extent is 0"},
        {MW__REGISTER_target_plane, 0, 0, MW_ERROR_FORMAT, "lie in one another"},
        {MW__REGISTER_group_cfg, 0, 0x1fff, MW_ERROR_FORMAT, "lie in one another"},
        {MW__REGISTER_w8, 0, 0x4025025, MW_ERROR_FORMAT, "\"x\" there is read only"},
        {MW__REGISTER_w9, 0, 0, MW_ERROR_FORMAT, "no base register of coefficients"},
        {MW__REGISTER_w9, 0, 0x3c, MW_ERROR_FORMAT, "nothing is at"},
        {MW__REGISTER_coefficient_size, 0, 0x7fffffff, MW_ERROR_FORMAT, "coefficients of engine 0"},
        {MW__REGISTER_coefficient_size, 1, 1, MW_ERROR_FORMAT, "coefficients of engine 1"},
        {MW__REGISTER_coefficient_dma, 2, 0, MW_ERROR_FORMAT, "coefficients of engine 2"},
        {MW__REGISTER_coefficient_base, 0, 0xfffffff0, MW_ERROR_FORMAT, "nothing is at"},
        {MW__REGISTER_conv_depth, 0, 1, MW_ERROR_UNSUPPORTED, "0x2041 wherever"},
        {MW__REGISTER_acc_bias, 0, 1, MW_ERROR_UNSUPPORTED, "AccBias"},
        {MW__REGISTER_stream_dma, 1, 0x81, MW_ERROR_UNSUPPORTED, "stream 1"},
        {MW__REGISTER_kernel_cfg, 0, 0x81, MW_ERROR_UNSUPPORTED, "not fp16"},
        {MW__REGISTER_kernel_cfg, 0, 0x182, MW_ERROR_UNSUPPORTED, "zero-skipping"},
        {MW__REGISTER_mac_cfg, 0, 0x101c08, MW_ERROR_UNSUPPORTED, "mac_operation is 8"},
        {MW__REGISTER_mac_cfg, 0, 0x100000, MW_ERROR_UNSUPPORTED, "binary_point"},
        {MW__REGISTER_mac_cfg, 0, 0x121c00, MW_ERROR_UNSUPPORTED, "a table in one task"},
        {MW__REGISTER_mac_cfg, 0, 0x101c0c, MW_ERROR_UNSUPPORTED, "pass task"},
    };
    uint16_t weights[8 * 27] = {0};
    const mw__emit_operation op = hwx_made_conv((mw__emit_extent){3, 4, 4}, 8, 3, 1, weights, NULL);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        hwx_file file;
        if (!hwx_made_open(&file, &op))
            continue;
        hwx_made_put(&file, words[i].id, words[i].index, words[i].value);
        refused(&file, words[i].status, words[i].part);
        hwx_file_close(&file);
    }
}

int main(void)
{
    RUN(test_convolutions_of_all_kinds_of_shapes);
    RUN(test_post_scale_multiplies_behind_the_activation);
    RUN(test_steps_skip_rows_and_columns);
    RUN(test_groups_have_their_own_channels);
    RUN(test_unicast_is_depthwise);
    RUN(test_unicast_of_three_inputs_adds_them);
    RUN(test_operations_of_the_planar_engine);
    RUN(test_scales_of_the_planar_engine);
    RUN(test_a_source_without_strides_is_broadcast);
    RUN(test_a_chip_knows_no_nan);
    RUN(test_ties_of_products_go_where_the_profile_says);
    RUN(test_products_have_a_ceiling);
    RUN(test_sums_by_fours_are_those_of_the_ane_guide);
    RUN(test_modes_of_tables);
    RUN(test_tails_and_limits_of_a_table);
    RUN(test_what_is_not_understood_is_refused_by_name);
    RUN(test_registers_that_name_no_memory_are_refused);
    return check_finish();
}
