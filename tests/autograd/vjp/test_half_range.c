/* The optimizers on gradients of every size that fp16 holds: their steps are those of double, and nothing becomes
 * infinite. */
#include "autograd/optimizers/optimizer_problem.h"
#include "support/check.h"
#include "support/optimizers.h"

#define SCALE 256.0 /* the default loss scale */

/* ---- sizes ---- */

/* Scaled gradients 1.5 * 2^exponent of changing sign, from 2^-11 to 2^12: each with six bits above the least number
 * and four below the largest. */
static void gradients_of_all_sizes(int64_t t, float *out)
{
    for (int i = 0; i < PROBLEM_COUNT; i++) {
        const float sign = (t * 7 + i) % 5 == 0 ? -1.0f : 1.0f, size = (t + i) % 3 == 0 ? 1.5f : 1.0f;
        out[i] = ldexpf(sign * size, i % 24 - 11 - 8);
    }
}

/* The way that each weight went over that in double, the farthest from 1. */
static double farthest(mw_optimizer optimizer, int steps)
{
    mw_error err = {0};
    reference element[PROBLEM_COUNT] = {{0}};
    double value[PROBLEM_COUNT] = {0}, start[PROBLEM_COUNT] = {0}, off = 0.0;
    mw_trainer *trainer = problem_trainer(MW_DEVICE_ANE, optimizer, 0.0f, &err);
    float zeros[PROBLEM_COUNT] = {0};
    if (trainer != NULL)
        mw_trainer_write(trainer, "w", MW_F32, zeros, PROBLEM_COUNT, &err);
    for (int t = 1; t <= steps && trainer != NULL; t++) {
        float gradient[PROBLEM_COUNT];
        gradients_of_all_sizes(t, gradient);
        problem_step(trainer, gradient, &err);
        for (int i = 0; i < PROBLEM_COUNT; i++)
            reference_step(&optimizer, &element[i], (double)gradient[i], t);
    }
    CHECK_OK(err);
    if (trainer != NULL)
        problem_read(trainer, "w", value);
    for (int i = 0; i < PROBLEM_COUNT; i++)
        off = fmax(off, fabs((value[i] - start[i]) / element[i].p - 1.0));
    mw_trainer_destroy(trainer);
    return off;
}

/* 40 steps of one size: 2 % is that the root's dither is not spread out yet over so few of them, and roundings of the
 * weights. A sum of squares in fp16 is 0 below 2^-7 and infinite above 2^8. */
static void test_steps_do_not_depend_on_the_size_of_gradients(void)
{
    mw_optimizer kinds[] = {mw_adam(1e-3f),
                            mw_adamw(1e-3f, 0.01f),
                            mw_rmsprop(1e-3f),
                            mw_adagrad(1e-2f),
                            optimizer_centered(mw_rmsprop(1e-3f)),
                            optimizer_with_momentum(mw_rmsprop(1e-3f))};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        mw_optimizer_set(&kinds[k], MW_OPTIMIZER_EPSILON, 1e-8f);
        const double off = farthest(kinds[k], 40);
        check_note(off <= 0.02, __FILE__, __LINE__, "%s, row %zu: a weight is off by %.3g of its way",
                   mw_optimizer_name(&kinds[k]), k, off);
    }
}

/* ---- the ends ---- */

/* Scaled gradients: the largest of fp16, of one sign for a while and then of changing sign, and nothing, or the least.
 */
static float extreme(int i, int t)
{
    const float largest = (float)(65504.0 / SCALE), least = (float)(0x1p-24 / SCALE);
    if (i > 1)
        return 0.0f;
    if (i == 1)
        return least;
    return t < 40 ? largest : t < 60 ? (t % 2 == 0 ? largest : -largest) : t < 80 ? 0.0f : -largest;
}

static void check_finite(mw_trainer *trainer, const char *state, size_t row)
{
    double value[PROBLEM_COUNT];
    problem_read(trainer, state, value);
    for (int i = 0; i < PROBLEM_COUNT; i++)
        check_note(isfinite(value[i]), __FILE__, __LINE__, "row %zu: \"%s\" [%d] is %g", row, state, i, value[i]);
}

static void survive_extremes(mw_optimizer optimizer, size_t row)
{
    static const char *const states[] = {"w", "w#momentum", "w#m", "w#v", "w#mean", "w#root", "w#root_low", "w#low"};
    mw_error err = {0};
    mw_trainer *trainer = problem_trainer(MW_DEVICE_ANE, optimizer, 0.0f, &err);
    REQUIRE(trainer != NULL);
    float start[PROBLEM_COUNT] = {0};
    mw_trainer_write(trainer, "w", MW_F32, start, PROBLEM_COUNT, &err);
    for (int t = 0; t < 100 && err.status == MW_OK; t++) {
        float gradient[PROBLEM_COUNT];
        for (int i = 0; i < PROBLEM_COUNT; i++)
            gradient[i] = extreme(i, t);
        problem_step(trainer, gradient, &err);
    }
    check_note(err.status == MW_OK, __FILE__, __LINE__, "row %zu: %s", row, err.message);
    for (size_t s = 0; s < sizeof states / sizeof *states; s++)
        check_finite(trainer, states[s], row);
    mw_trainer_destroy(trainer);
}

static void test_states_survive_the_largest_gradients(void)
{
    mw_optimizer kinds[] = {mw_sgd(1e-5f),
                            mw_sgd_momentum(1e-6f, 0.9f, true),
                            mw_adam(1e-3f),
                            mw_adamw(1e-3f, 0.01f),
                            mw_rmsprop(1e-3f),
                            optimizer_centered(mw_rmsprop(1e-3f)),
                            optimizer_with_momentum(mw_rmsprop(1e-5f)),
                            mw_adagrad(1e-2f),
                            mw_lion(1e-3f, 0.01f)};
    const size_t count = sizeof kinds / sizeof *kinds;
    for (size_t k = 0; k < 2 * count; k++) {
        mw_optimizer_set(&kinds[k / 2], MW_OPTIMIZER_COMPENSATED, k % 2 == 1);
        survive_extremes(kinds[k / 2], k);
    }
}

int main(void)
{
    RUN(test_steps_do_not_depend_on_the_size_of_gradients);
    RUN(test_states_survive_the_largest_gradients);
    return check_finish();
}
