/* Checks before an update are proved by intervals (kernels/fused/fused_proof.c): what they say of random chains of
 * every operation that has a bound is what the values say, which MW_ENGINE_FUSE=0 computes, for limits beside the
 * largest. */
#include "base/number/fp16.h"
#include "support/check.h"
#include "support/on_engine.h"
#include "support/setting.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TRIALS = 1500, MOST = 5003, LENGTH = 8, OPERATIONS = 10, SPREADS = 5 };

typedef struct chain {
    mw_device device;
    const char *profile;
    int64_t count;
    int length, threads;
    int operation[LENGTH], first[LENGTH], second[LENGTH]; /* of the values before: x, y, a number, results */
    float number, low, high;
    float x[MOST], y[MOST];
} chain;

static uint32_t state = 1;

static uint32_t draw(uint32_t below)
{
    state = state * 1664525u + 1013904223u;
    return (uint32_t)(((uint64_t)state * below) >> 32);
}

static float draw_float(float low, float high)
{
    return low + (high - low) * (float)draw(1u << 20) / (float)(1u << 20);
}

/* ---- a chain ---- */

/* Around one number, as a state's root is, or far apart; some with elements that no limit allows. */
static void draw_values(float *out, int64_t count)
{
    static const float spread[SPREADS] = {0.0f, 1e-3f, 0.1f, 1.0f, 4.0f};
    const float middle = ldexpf(draw_float(-2.0f, 2.0f), (int)draw(26) - 22), room = spread[draw(SPREADS)];
    for (int64_t i = 0; i < count; i++)
        out[i] = middle * (1.0f + room * draw_float(-1.0f, 1.0f));
    static const float odd[] = {0.0f, -0.0f, 6e-8f, 1e-6f, 300.0f, -60000.0f, NAN, INFINITY, -INFINITY};
    for (uint32_t k = draw(4) == 0 ? 1 + draw(3) : 0; k > 0; k--)
        out[draw((uint32_t)count)] = odd[draw(sizeof odd / sizeof *odd)];
}

static void draw_chain(chain *c)
{
    static const char *const profiles[] = {NULL, "ieee", "h13", "h14", "h16", "h17"};
    static const int64_t counts[] = {1, 17, 512, 2048, 2049, MOST};
    c->profile = profiles[draw(6)];
    c->device = c->profile != NULL ? MW_DEVICE_ANE : MW_DEVICE_CPU;
    c->count = counts[draw(6)], c->threads = 1 + (int)draw(3), c->length = 1 + (int)draw(LENGTH);
    for (int i = 0; i < c->length; i++) {
        c->operation[i] = (int)draw(OPERATIONS);
        c->first[i] = (int)draw(2) == 0 ? 2 + i : (int)draw((uint32_t)(3 + i));
        c->second[i] = (int)draw((uint32_t)(3 + i));
    }
    c->number = draw_float(0.0f, 2.0f);
    c->low = draw_float(-2.0f, 1.0f), c->high = c->low + draw_float(0.0f, 300.0f);
    draw_values(c->x, c->count);
    draw_values(c->y, c->count);
}

static mw_tensor *apply(const chain *c, int operation, mw_tensor *x, mw_tensor *y)
{
    switch (operation) {
    case 0:
        return mw_add(x, y);
    case 1:
        return mw_sub(x, y);
    case 2:
        return mw_mul(x, y);
    case 3:
        return mw_real_div(x, y);
    case 4:
        return mw_maximum(x, y);
    case 5:
        return mw_abs(x);
    case 6:
        return mw_square(x);
    case 7:
        return mw_sqrt(x);
    case 8:
        return mw_clip(x, c->low, c->high);
    default:
        return mw_sign(x);
    }
}

static mw_tensor *build(const chain *c, mw_graph *graph)
{
    mw_tensor *value[3 + LENGTH] = {mw_input(graph, "x", MW_F32, MW_SHAPE(c->count)),
                                    mw_input(graph, "y", MW_F32, MW_SHAPE(c->count)),
                                    mw_scalar(graph, MW_F32, (double)c->number)};
    for (int i = 0; i < c->length; i++)
        value[3 + i] = apply(c, c->operation[i], value[c->first[i]], value[c->second[i]]);
    mw_tensor *last = value[2 + c->length];
    return mw_tensor_shape(last).rank > 0 ? last : mw_mul(value[0], last);
}

/* ---- programs ---- */

/* Writes what is there of x and y, runs, and reads. */
static void run(mw_program *program, const chain *c, const char *name, float *out, size_t count, mw_error *err)
{
    if (program == NULL)
        return;
    mw_program_write(program, "x", MW_F32, c->x, (size_t)c->count, err);
    mw_program_write(program, "y", MW_F32, c->y, (size_t)c->count, err);
    mw_program_run(program, err);
    mw_program_read(program, name, MW_F32, out, count, err);
    mw_program_destroy(program);
}

/* limit: NULL = the values themselves */
static void compute(const chain *c, const float *limit, const char *fuse, float *out, size_t count, mw_error *err)
{
    setting_begin("MW_ENGINE_FUSE", fuse);
    setting_begin("MW_ENGINE_PROFILE", c->profile != NULL ? c->profile : "ieee");
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *value = build(c, graph);
    if (limit != NULL) {
        mw_tensor *within = mw_less_equal(mw_abs(value), mw_scalar(graph, MW_F32, (double)*limit));
        mw_tensor *one = mw_select(within, mw_scalar(graph, MW_F32, 1.0), mw_scalar(graph, MW_F32, 0.0));
        value = mw_reduce_min(one, MW_ALL_AXES, false);
    }
    mw_output(value, "out");
    run(engine_compile(graph, c->device, c->threads, err), c, "out", out, count, err);
    mw_graph_destroy(graph);
    setting_end("MW_ENGINE_PROFILE");
    setting_end("MW_ENGINE_FUSE");
}

/* The next smaller number of the type, from a positive one. */
static float below(float v, bool half)
{
    return half ? mw__fp16_to_float((uint16_t)(mw__fp16_from_float(v) - 1)) : nextafterf(v, 0.0f);
}

typedef struct tally {
    int within, beyond;
} tally;

static void check_limit(const chain *c, const float *value, float limit, int trial, tally *seen)
{
    mw_error err = {0};
    bool wanted = true;
    float good = -1.0f;
    for (int64_t i = 0; i < c->count; i++)
        wanted = wanted && fabsf(value[i]) <= limit; /* false for NaN */
    compute(c, &limit, "1", &good, 1, &err);
    check_note(err.status == MW_OK && good == (wanted ? 1.0f : 0.0f), __FILE__, __LINE__,
               "chain %d, profile %s, %d elements, limit %g: %g (%s)", trial, c->profile != NULL ? c->profile : "none",
               (int)c->count, (double)limit, (double)good, err.message);
    seen->within += wanted, seen->beyond += !wanted;
}

static void check_chain(const chain *c, int trial, tally *seen)
{
    static float value[MOST];
    const bool half = c->device == MW_DEVICE_ANE;
    const float most = half ? 65504.0f : 3.4e38f;
    mw_error err = {0};
    float largest = 0.0f;
    compute(c, NULL, "0", value, (size_t)c->count, &err);
    REQUIRE(err.status == MW_OK);
    for (int64_t i = 0; i < c->count; i++)
        largest = fabsf(value[i]) > largest && fabsf(value[i]) <= most ? fabsf(value[i]) : largest;
    check_limit(c, value, most, trial, seen);
    if (largest < 0x1p-23f)
        return;
    check_limit(c, value, largest, trial, seen);
    check_limit(c, value, below(largest, half), trial, seen);
    if (largest <= most / 2.0f)
        check_limit(c, value, largest * 1.5f, trial, seen);
}

static void test_what_is_proved_is_so(void)
{
    static chain c;
    tally seen = {0};
    for (int trial = 0; trial < TRIALS; trial++) {
        draw_chain(&c);
        check_chain(&c, trial, &seen);
    }
    printf("  %d limits held, %d did not\n", seen.within, seen.beyond);
    CHECK(seen.within > TRIALS && seen.beyond > TRIALS);
}

int main(void)
{
    RUN(test_what_is_proved_is_so);
    return check_finish();
}
