/* Costs against figures that others have published, and against the same sums by hand. */
#include "chip/cost/cost.h"
#include "graph/ir/ir.h"
#include "rules/chips.h"
#include "support/check.h"

#include <float.h>
#include <millwright/chip_all.h>
#include <millwright/inspect.h>
#include <millwright/millwright.h>
#include <stdlib.h>

static mw_chip_rates rates_of(mw_chip chip, mw_chip_anchors anchors)
{
    mw_chip_rates rates;
    CHECK(mw_chip_rates_find(chip, MW_CHIP_ANE, anchors, &rates));
    return rates;
}

static mw_chip_rates rates_of_die(const char *die)
{
    mw_chip_rates rates;
    CHECK(mw_chip_rates_of_die(die, MW_CHIP_ANE, MW_CHIP_FITTED, &rates));
    return rates;
}

/* ---- published times ---- */

/* A convolution as one program: channels in and out, side of the map, side of the kernel. */
typedef struct measured {
    int channels, map, kernel;
    double us;
} measured;

static mw_tensor *zeros(mw_graph *graph, mw_shape shape)
{
    const int64_t count = mw_shape_count(shape);
    void *data = calloc((size_t)count, 2);
    mw_tensor *made = mw_constant(graph, MW_F16, shape, data);
    free(data);
    return made;
}

static mw_chip_cost cost_of(const mw_chip_rates *rates, const mw_tensor *value)
{
    return value != NULL ? mw__chip_op_cost(rates, value->op) : (mw_chip_cost){0};
}

static mw_chip_cost conv_cost(const mw_chip_rates *rates, const measured *m)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_conv_options options = mw_conv_defaults();
    options.pad_type = MW_PAD_SAME;
    mw_tensor *x = mw_input(graph, "x", MW_F16, MW_SHAPE(1, m->channels, m->map, m->map));
    mw_tensor *w = zeros(graph, MW_SHAPE(m->channels, m->channels, m->kernel, m->kernel));
    const mw_chip_cost cost = cost_of(rates, mw_conv(x, w, NULL, &options));
    mw_graph_destroy(graph);
    return cost;
}

static double error_of(const mw_chip_rates *rates, const measured *m)
{
    const mw_chip_cost cost = conv_cost(rates, m);
    return fabs(mw_chip_program_us(rates, &cost, 1) - m->us) / m->us;
}

/* ANEForge and the ane-guide: within 17 % on an M1, which the anchors were fitted to. */
static void test_convolutions_of_an_m1(void)
{
    static const measured times[] = {
        {256, 28, 3, 507}, {512, 32, 1, 444}, {512, 14, 3, 832}, {1024, 16, 1, 686}, {2048, 8, 1, 1047}};
    const mw_chip_rates rates = rates_of(MW_CHIP_H13, MW_CHIP_FITTED);
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        check_note(error_of(&rates, &times[i]) <= 0.17, __FILE__, __LINE__, "%d at %d: %.3f", times[i].channels,
                   times[i].map, error_of(&rates, &times[i]));
}

/* ANEForge: four of five within 15 % on an M5, the other one by a third, 20 % on the average. */
static void test_convolutions_of_an_m5(void)
{
    static const measured times[] = {
        {256, 28, 3, 216}, {512, 32, 1, 178}, {512, 14, 3, 192}, {1024, 16, 1, 248}, {2048, 8, 1, 235}};
    const mw_chip_rates rates = rates_of(MW_CHIP_H17, MW_CHIP_FITTED);
    double sum = 0.0;
    int near = 0;
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        const double error = error_of(&rates, &times[i]);
        sum += error;
        near += error <= 0.15;
        check_note(error <= 0.35, __FILE__, __LINE__, "%d at %d: %.3f", times[i].channels, times[i].map, error);
    }
    CHECK_INT(near, 4);
    CHECK(sum / 5 <= 0.20);
}

/* ane-guide, ch. 18: what the anchors make of four convolutions, and the planner's coarse ones, to the microsecond; and
 * operations by byte of the first and last. */
static void test_published_estimates_of_an_m1(void)
{
    static const measured estimates[] = {{256, 28, 3, 505}, {512, 32, 1, 511}, {1024, 16, 1, 569}, {2048, 8, 1, 1210}};
    static const double coarse[] = {1156, 671, 671, 671};
    static const mw_chip_bound bounds[] = {MW_CHIP_BOUND_COMPUTE, MW_CHIP_BOUND_BANDWIDTH, MW_CHIP_BOUND_BANDWIDTH,
                                           MW_CHIP_BOUND_BANDWIDTH};
    const mw_chip_rates fitted = rates_of(MW_CHIP_H13, MW_CHIP_FITTED),
                        coarse_rates = rates_of(MW_CHIP_H13, MW_CHIP_COARSE_ANCHORS);
    for (size_t i = 0; i < sizeof estimates / sizeof *estimates; i++) {
        const mw_chip_cost cost = conv_cost(&fitted, &estimates[i]);
        CHECK_NEAR(mw_chip_program_us(&fitted, &cost, 1), estimates[i].us, 1.0);
        CHECK_INT(cost.bound, bounds[i]);
        CHECK_NEAR(conv_cost(&coarse_rates, &estimates[i]).us, coarse[i], 1.0);
        CHECK_INT(conv_cost(&coarse_rates, &estimates[i]).bound, MW_CHIP_BOUND_COMPUTE);
    }
    const mw_chip_cost wide = conv_cost(&fitted, &estimates[0]), deep = conv_cost(&fitted, &estimates[3]);
    CHECK_NEAR(wide.flops / (double)wide.bytes, 466.0, 1.0);
    CHECK_NEAR(deep.flops / (double)deep.bytes, 60.0, 1.0);
}

static double gemm_us(const mw_chip_rates *rates, int n)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F16, MW_SHAPE(n, n));
    const mw_chip_cost cost = cost_of(rates, mw_matmul(x, zeros(graph, MW_SHAPE(n, n)), MW_TRANSPOSE_NONE));
    mw_graph_destroy(graph);
    return mw_chip_program_us(rates, &cost, 1);
}

/* ANEForge: 768^3 took 596 us on an M2 Pro, and its estimate is from 350 us on; without the ramp it were 224. 2048^3
 * is near the peak, which it is not slowed down from. */
static void test_the_ramp_of_an_m2(void)
{
    mw_chip_rates rates = rates_of(MW_CHIP_H14, MW_CHIP_FITTED);
    CHECK(gemm_us(&rates, 768) > 350.0 && gemm_us(&rates, 768) < 596.0);
    const double large = gemm_us(&rates, 2048);
    rates.ramp_flops = 0.0;
    CHECK_NEAR(gemm_us(&rates, 768), 224.0, 1.0);
    CHECK_NEAR(large, gemm_us(&rates, 2048), 0.02 * large);
}

/* ANEForge, roofline table: 10^12 operations a second of the largest product on a chip. What the anchors make of 4096^3
 * is of that size, and no more: those are other machines and another fit. */
static void test_published_peaks(void)
{
    static const struct {
        mw_chip chip;
        double least, most; /* of the machines with that chip */
    } peaks[] = {{MW_CHIP_H13, 2.7, 4.6}, {MW_CHIP_H14, 3.4, 3.4}, {MW_CHIP_H16, 5.4, 5.4}, {MW_CHIP_H17, 8.7, 10.0}};
    for (size_t i = 0; i < sizeof peaks / sizeof *peaks; i++) {
        const mw_chip_rates rates = rates_of(peaks[i].chip, MW_CHIP_FITTED);
        const double n = 4096.0, peak = 2.0 * n * n * n / gemm_us(&rates, 4096) * 1e-6;
        check_note(peak >= 0.9 * peaks[i].least && peak <= 2.2 * peaks[i].most, __FILE__, __LINE__, "%s: %.2f",
                   mw_chip_name(peaks[i].chip), peak);
    }
}

/* ane-guide, ch. 9 and 11: a small operation takes what a dispatch takes, 230 to 260 us on an M1; ANEForge: 110 us on
 * an M5, and relu of 256 x 1024 121 to 138 us. */
static void test_small_operations_are_at_the_floor(void)
{
    const mw_chip_rates m1 = rates_of(MW_CHIP_H13, MW_CHIP_FITTED), m5 = rates_of(MW_CHIP_H17, MW_CHIP_FITTED);
    mw_graph *graph = mw_graph_create(NULL, NULL);
    const mw_tensor *small = mw_relu(mw_input(graph, "x", MW_F16, MW_SHAPE(64, 64)));
    const mw_tensor *large = mw_relu(mw_input(graph, "y", MW_F16, MW_SHAPE(256, 1024)));
    mw_chip_cost cost = cost_of(&m1, small);
    CHECK_INT(cost.bound, MW_CHIP_BOUND_FLOOR);
    CHECK_NEAR(cost.us, 220.0, 1e-9);
    CHECK_NEAR(mw_chip_program_us(&m1, &cost, 1), 225.0, 5.0);
    cost = cost_of(&m5, large);
    CHECK_NEAR(mw_chip_program_us(&m5, &cost, 1), 129.0, 9.0);
    mw_graph_destroy(graph);
}

/* ---- scale ---- */

/* ANEForge: an M5 does 4.94 times what an M1 does, the largest die 19 to 25 times, and it has four times the bandwidth
 * of an M5's; an M5 has its own floor and bandwidth, not those of the clock. */
static void test_dies_are_scaled(void)
{
    const mw_chip_rates m1 = rates_of_die("h13"), m5 = rates_of_die("h17s"), largest = rates_of_die("H17D");
    CHECK(m1.measured && m5.measured && !largest.measured);
    CHECK_STR(largest.anchor, "h17s");
    CHECK_NEAR(largest.gbytes / m5.gbytes, 4.0, 1e-9);
    CHECK_NEAR(largest.gflops / m5.gflops, 4.0, 1e-9);
    CHECK_NEAR(largest.floor_us, m5.floor_us, 1e-9);
    CHECK_NEAR(largest.gflops / 4 / m5.gflops * 4.94 * 4, 19.8, 0.1);
    const mw_chip_rates m3 = rates_of(MW_CHIP_H15, MW_CHIP_FITTED), m2 = rates_of(MW_CHIP_H14, MW_CHIP_FITTED);
    CHECK(!m3.measured);
    CHECK_STR(m3.anchor, "h14");
    CHECK_NEAR(m3.gbytes, m2.gbytes, 1e-9);
    CHECK_NEAR(m3.gflops, m2.gflops * 1204.8 / 1157.2, 1e-6);
    CHECK_NEAR(m3.floor_us, m2.floor_us * 1938 / 2064, 1e-6);
    CHECK_NEAR(m3.ramp_flops, m2.ramp_flops * 1204.8 / 1157.2, 1e3);
}

/* A larger chip is never slower on what is bound by compute (ANEForge). */
static void test_a_larger_chip_is_not_slower(void)
{
    static const char *const names[] = {"h13", "h17s", "h17c", "h17d"};
    static const measured conv = {256, 28, 3, 0};
    double before = DBL_MAX;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const mw_chip_rates rates = rates_of_die(names[i]);
        const mw_chip_cost cost = conv_cost(&rates, &conv);
        CHECK(mw_chip_program_us(&rates, &cost, 1) <= before);
        before = mw_chip_program_us(&rates, &cost, 1);
    }
}

static void test_every_chip_has_rates(void)
{
    const mw__chip_row *row;
    size_t chips = 0;
    for (; (row = mw__chip_at(chips)) != NULL; chips++)
        for (int backend = 0; backend < MW_CHIP_BACKENDS; backend++)
            for (int anchors = MW_CHIP_FITTED; anchors <= MW_CHIP_COARSE_ANCHORS; anchors++) {
                mw_chip_rates r;
                CHECK(mw_chip_rates_find(row->chip, (mw_chip_backend)backend, (mw_chip_anchors)anchors, &r));
                CHECK(r.gflops > 0.0 && r.gbytes > 0.0 && r.floor_us >= 0.0 && r.ramp_power >= 0.0);
                CHECK(r.die != NULL && r.anchor != NULL && r.source != NULL);
            }
    CHECK(chips >= 9);
}

static void test_what_there_is_not_has_no_rates(void)
{
    mw_chip_rates r = {.gflops = 1.0};
    CHECK(!mw_chip_rates_find((mw_chip)99, MW_CHIP_ANE, MW_CHIP_FITTED, &r) && r.gflops == 0.0 && r.source == NULL);
    CHECK(!mw_chip_rates_find(MW_CHIP_H13, (mw_chip_backend)3, MW_CHIP_FITTED, &r));
    CHECK(!mw_chip_rates_find(MW_CHIP_H13, (mw_chip_backend)-1, MW_CHIP_FITTED, &r));
    CHECK(!mw_chip_rates_find(MW_CHIP_H13, MW_CHIP_ANE, (mw_chip_anchors)7, &r));
    CHECK(!mw_chip_rates_of_die("h99", MW_CHIP_ANE, MW_CHIP_FITTED, &r) && r.gflops == 0.0);
    CHECK(!mw_chip_rates_of_die("", MW_CHIP_ANE, MW_CHIP_FITTED, &r));
    CHECK(!mw_chip_rates_of_die(NULL, MW_CHIP_ANE, MW_CHIP_FITTED, &r));
    CHECK(mw_chip_rates_of_die("h14g", MW_CHIP_ANE, MW_CHIP_FITTED, &r) && !r.measured); /* of the chip's own die */
    CHECK_STR(r.die, "h14");
    CHECK(mw_chip_backend_name((mw_chip_backend)3) == NULL && mw_chip_bound_name((mw_chip_bound)-1) == NULL);
}

/* ---- the larger of three ---- */

static void test_the_largest_binds(void)
{
    const mw_chip_rates r = {.gflops = 1.0, .gbytes = 2.0, .floor_us = 10.0};
    mw_chip_cost cost = mw_chip_cost_of(&r, 20e3, 30e3); /* 20 us, 15 us */
    CHECK_NEAR(cost.us, 20.0, 1e-12);
    CHECK_STR(mw_chip_bound_name(cost.bound), "compute");
    cost = mw_chip_cost_of(&r, 20e3, 50e3);
    CHECK_NEAR(cost.us, 25.0, 1e-12);
    CHECK_STR(mw_chip_bound_name(cost.bound), "bandwidth");
    cost = mw_chip_cost_of(&r, 9e3, 18e3);
    CHECK_NEAR(cost.us, 10.0, 1e-12);
    CHECK_STR(mw_chip_bound_name(cost.bound), "floor");
    const mw_chip_cost both[] = {mw_chip_cost_of(&r, 20e3, 30e3), mw_chip_cost_of(&r, 9e3, 18e3)};
    CHECK_NEAR(mw_chip_program_us(&r, both, 2), 10.0 + 20.0 + 9.0, 1e-12); /* one dispatch */
}

static void test_hostile_numbers_are_limited(void)
{
    const mw_chip_rates r = rates_of(MW_CHIP_H14, MW_CHIP_FITTED), still = {.floor_us = 1.0};
    const mw_chip_cost huge = mw_chip_cost_of(&r, DBL_MAX, UINT64_MAX), odd = mw_chip_cost_of(&r, NAN, 0);
    CHECK(isfinite(huge.us) && huge.bound == MW_CHIP_BOUND_COMPUTE);
    CHECK(isfinite(mw_chip_cost_of(&r, INFINITY, 0).us));
    CHECK(odd.flops == 0.0 && odd.us == r.floor_us);
    CHECK(mw_chip_cost_of(&r, -1.0, 0).us == r.floor_us);
    CHECK(mw_chip_cost_of(&still, 1.0, 0).us == DBL_MAX);
    const mw_chip_cost many[] = {mw_chip_cost_of(&still, 1.0, 0), mw_chip_cost_of(&still, 1.0, 0)};
    CHECK(mw_chip_program_us(&still, many, 2) == DBL_MAX);
    CHECK(mw_chip_cost_of(NULL, 1.0, 1).us == 0.0 && mw_chip_program_us(NULL, many, 2) == 0.0);
}

/* ---- layers ---- */

/* conv, bias and relu as one layer: the values between them cost no bytes; the residual that comes in does. */
static void test_layers_count_what_crosses_them(void)
{
    const mw_chip_rates r = {.gflops = 1.0, .gbytes = 1.0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F16, MW_SHAPE(1, 4, 8, 8)),
              *z = mw_input(graph, "z", MW_F16, MW_SHAPE(1, 4, 8, 8));
    mw_tensor *conv = mw_conv(x, zeros(graph, MW_SHAPE(4, 4, 1, 1)), NULL, NULL);
    mw_tensor *sum = mw_add(conv, z), *twice = mw_add(sum, z), *y = mw_relu(twice);
    mw_output(y, "y");
    REQUIRE(y != NULL);
    const mw__op *const ops[] = {conv->op, sum->op, twice->op, y->op};
    const mw_chip_cost layer = mw__chip_layer_cost(&r, ops, 4);
    CHECK_INT(layer.bytes, 512 + 32 + 512 + 512); /* x, weight, z once, y */
    CHECK_NEAR(layer.flops, 2.0 * 256 * 4 + 3 * 256, 0.0);
    mw_output(conv, "early");
    CHECK_INT(mw__chip_layer_cost(&r, ops, 4).bytes, 512 + 32 + 512 + 512 + 512);
    CHECK_INT(mw__chip_layer_cost(&r, ops, 0).bytes, 0);
    mw_graph_destroy(graph);
}

int main(void)
{
    RUN(test_convolutions_of_an_m1);
    RUN(test_convolutions_of_an_m5);
    RUN(test_published_estimates_of_an_m1);
    RUN(test_the_ramp_of_an_m2);
    RUN(test_published_peaks);
    RUN(test_small_operations_are_at_the_floor);
    RUN(test_dies_are_scaled);
    RUN(test_a_larger_chip_is_not_slower);
    RUN(test_every_chip_has_rates);
    RUN(test_what_there_is_not_has_no_rates);
    RUN(test_the_largest_binds);
    RUN(test_hostile_numbers_are_limited);
    RUN(test_layers_count_what_crosses_them);
    return check_finish();
}
