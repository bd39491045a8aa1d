/* Gradients that travel in 16 bits: half the bytes, nothing lost for good, the same bits on all ranks. */
#include "base/number/bits.h"
#include "base/number/fp16.h"
#include "ranks_net.h"
#include "runtime/parallel/communicator.h"
#include "support/check.h"

#include <math.h>
#include <stdlib.h>

/* ---- rounding ---- */

static void test_bfloat16_in_bulk_is_that_of_single_numbers(void)
{
    size_t wrong = 0;
    for (uint32_t high = 0; high < 0x10000; high++) {
        static const uint32_t low[] = {0, 1, 0x7fff, 0x8000, 0x8001, 0xffff};
        float x[6], back[6];
        uint16_t bulk[6];
        for (int i = 0; i < 6; i++)
            x[i] = mw__float_of(high << 16 | low[i]);
        mw__bf16_from_float_n(bulk, x, 6);
        mw__bf16_to_float_n(back, bulk, 6);
        for (int i = 0; i < 6; i++) {
            const uint16_t one = mw__bf16_from_double((double)x[i]);
            wrong += isnan(x[i]) ? !isnan(back[i]) : bulk[i] != one || back[i] != mw__bf16_to_float(one);
        }
    }
    CHECK_INT(wrong, 0);
}

/* Of a thousand equal numbers that the type cannot hold, the sum is off by no more than one rounding. */
static void test_what_rounding_loses_comes_later(void)
{
    static const mw_dtype types[] = {MW_BF16, MW_F16};
    static const double relative[] = {0x1p-8, 0x1p-11};
    enum { COUNT = 5000, TIMES = 1000 };
    float *x = malloc(COUNT * sizeof *x), *carried = malloc(COUNT * sizeof *carried),
          *got = malloc(COUNT * sizeof *got);
    uint16_t *sent = malloc(COUNT * sizeof *sent);
    double *sum = malloc(COUNT * sizeof *sum);
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < COUNT; i++) {
            x[i] = sinf((float)i) * 3.0f;
            carried[i] = 0.0f, sum[i] = 0.0;
        }
        for (int time = 0; time < TIMES; time++) {
            mw__sum_narrow_and_carry(types[k], sent, x, carried, COUNT);
            mw__widen(types[k], got, sent, COUNT);
            for (int i = 0; i < COUNT; i++)
                sum[i] += (double)got[i];
        }
        size_t wrong = 0;
        for (int i = 0; i < COUNT; i++)
            wrong += fabs(sum[i] - TIMES * (double)x[i]) > relative[k] * fabs((double)x[i]) * 1.01 + 1e-4;
        CHECK_INT(wrong, 0);
    }
    free(x), free(carried), free(got), free(sent), free(sum);
}

/* ---- training ---- */

enum { STEPS = 60 };

typedef struct seen {
    net_setting setting;
    bool spoils; /* rank 1 has a bad batch in the middle */
    mw_error err[RANKS_MAX];
    float weights[RANKS_MAX][NET_WEIGHTS];
    float losses[RANKS_MAX][STEPS];
    uint64_t sent[RANKS_MAX]; /* by the last step */
} seen;

static void job(mw_communicator *c, int rank, void *user)
{
    seen *s = user;
    mw_trainer *t = net_make(&s->setting, 1, c, 1, &s->err[rank]);
    net_examples e;
    for (int step = 0; step < STEPS; step++) {
        mw_error refused = {0};
        const uint64_t before = mw_communicator_get_info(c).bytes_sent;
        net_batch(&e, step * mw_communicator_get_info(c).size + rank);
        for (int i = 0; s->spoils && rank == 1 && step == 20 && i < NET_BATCH * NET_IN; i++)
            e.x[i] = 3e38f;
        mw_trainer_step(t, &e.batch, &s->losses[rank][step], step == 20 && s->spoils ? &refused : &s->err[rank]);
        if (step == 20 && s->spoils && refused.status != MW_ERROR_NUMERIC)
            s->err[rank] = (mw_error){.status = MW_ERROR_STATE, .message = "the bad batch was taken"};
        s->sent[rank] = mw_communicator_get_info(c).bytes_sent - before;
    }
    net_read(t, s->weights[rank], &s->err[rank]);
    mw_trainer_destroy(t);
}

static void run(seen *s, mw_wire wire, bool spoils)
{
    *s = (seen){.setting = {.wire = wire, .bucket_bytes = 1024}, .spoils = spoils};
    ranks_run(&(ranks_network){.size = 3, .shuffle = 4, .latency = 1e-5}, job, s);
    for (int rank = 0; rank < 3; rank++) {
        CHECK_OK(s->err[rank]);
        CHECK(memcmp(s->weights[rank], s->weights[0], sizeof s->weights[0]) == 0);
    }
}

static double distance(const seen *a, const seen *b)
{
    double most = 0.0;
    for (int i = 0; i < NET_WEIGHTS; i++)
        most = fmax(most, fabs((double)a->weights[0][i] - (double)b->weights[0][i]));
    return most;
}

/* Adam divides by the size of gradients, so that a weight moves by 0.01 in each of 60 steps; rounded ones end within a
 * few such steps of each other. */
static void test_training_stays_near_with_half_the_bytes(void)
{
    seen *exact = calloc(1, sizeof *exact), *s = calloc(1, sizeof *s);
    run(exact, MW_WIRE_AS_THEY_ARE, false);
    for (int wire = MW_WIRE_BF16; wire <= MW_WIRE_FP16; wire++) {
        run(s, (mw_wire)wire, false);
        CHECK(distance(exact, s) > 0.0 && distance(exact, s) < 0.05);
        CHECK_NEAR(s->losses[0][STEPS - 1], exact->losses[0][STEPS - 1], 0.02);
        const double gradients = 2.0 * 2.0 / 3.0 * NET_WEIGHTS * 2.0; /* saved: two bytes of each */
        CHECK_NEAR((double)(exact->sent[0] - s->sent[0]), gradients, 16.0);
    }
    free(exact);
    free(s);
}

static void test_a_refused_step_leaves_nothing_behind(void)
{
    seen *s = calloc(1, sizeof *s);
    for (int wire = MW_WIRE_BF16; wire <= MW_WIRE_FP16; wire++) {
        run(s, (mw_wire)wire, true);
        CHECK(s->losses[0][STEPS - 1] < s->losses[0][0]);
        for (int i = 0; i < NET_WEIGHTS; i++)
            if (!isfinite(s->weights[0][i]))
                CHECK(false);
    }
    free(s);
}

int main(void)
{
    RUN(test_bfloat16_in_bulk_is_that_of_single_numbers);
    RUN(test_what_rounding_loses_comes_later);
    RUN(test_training_stays_near_with_half_the_bytes);
    RUN(test_a_refused_step_leaves_nothing_behind);
    return check_finish();
}
