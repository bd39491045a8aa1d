/* Schedules against PyTorch's (data/torch/schedules.py), at their ends, and what they refuse. */
#include "runtime/fit/fitting.h"
#include "support/check.h"

#include "base/number/number.h"
#include <millwright/millwright.h>
#include <stdlib.h>

/* ---- against PyTorch ---- */

static bool next_number(FILE *file, double *out)
{
    char word[64];
    return fscanf(file, "%63s", word) == 1 && mw__number_read(word, strlen(word), MW__NUMBER_F64, out);
}

static mw_schedule make(const char *name, const double *numbers)
{
    if (strcmp(name, "step") == 0)
        return mw_schedule_step((int64_t)numbers[0], numbers[1]);
    if (strcmp(name, "cosine") == 0)
        return mw_schedule_cosine(numbers[0]);
    if (strcmp(name, "linear") == 0)
        return mw_schedule_linear(numbers[0]);
    if (strcmp(name, "one_cycle") == 0)
        return mw_schedule_one_cycle(numbers[0], numbers[1], numbers[2]);
    CHECK_STR(name, "constant");
    return mw_schedule_constant();
}

/* 1e-14: PyTorch computes each rate from the one before, over at most 40 steps. */
static void test_schedules_agree_with_torch(void)
{
    char path[512], name[64];
    int lines = 0;
    snprintf(path, sizeof path, "%s/data/torch/schedules.txt", MW_TESTS_DIR);
    FILE *file = fopen(path, "r");
    REQUIRE(file != NULL && fscanf(file, "%*[^\n]") == 0);
    for (; fscanf(file, "%63s", name) == 1; lines++) {
        double head[6] = {0}, expected = -1.0;
        for (int i = 0; i < 6; i++)
            CHECK(next_number(file, &head[i]));
        mw_schedule schedule = make(name, head);
        schedule.warmup_steps = (int64_t)head[3];
        schedule.warmup_start = head[4];
        const int64_t steps = (int64_t)head[5];
        CHECK(steps >= 10);
        for (int64_t t = 0; t < steps; t++) {
            const double got = mw_schedule_factor(&schedule, t, steps);
            CHECK(next_number(file, &expected));
            check_note(fabs(got - expected) <= 1e-14, __FILE__, __LINE__, "line %d, %s: step %lld has %.17g, not %.17g",
                       lines, name, (long long)t, got, expected);
        }
    }
    fclose(file);
    CHECK_INT(lines, 16);
}

/* ---- ends ---- */

static double at(mw_schedule schedule, int64_t step, int64_t steps)
{
    return mw_schedule_factor(&schedule, step, steps);
}

static void test_a_schedule_stays_where_it_ends(void)
{
    CHECK_NEAR(at(mw_schedule_linear(0.25), 10, 10), 0.25, 1e-15);
    CHECK_NEAR(at(mw_schedule_linear(0.25), 99, 10), 0.25, 1e-15);
    CHECK_NEAR(at(mw_schedule_cosine(0.125), 10, 10), 0.125, 1e-15);
    CHECK_NEAR(at(mw_schedule_cosine(0.125), 15, 10), 0.125, 1e-15);
    CHECK_NEAR(at(mw_schedule_one_cycle(0.3, 4, 5), 9, 10), 0.05, 1e-15);
    CHECK_NEAR(at(mw_schedule_one_cycle(0.3, 4, 5), 20, 10), 0.05, 1e-15);
    CHECK_NEAR(at(mw_schedule_one_cycle(0.1, 4, 5), 0, 10), 1.0, 0.0); /* rises for one step: it is the peak */
    CHECK_NEAR(at(mw_schedule_one_cycle(1.0, 4, 5), 0, 1), 1.0, 0.0);
    CHECK_NEAR(at(mw_schedule_step(3, 0.0), 3, 10), 0.0, 0.0);
    CHECK_NEAR(at((mw_schedule){0}, 3, 10), 1.0, 0.0);
}

static void test_a_warm_up_may_last_for_the_whole_training(void)
{
    mw_schedule schedule = mw_schedule_cosine(0.5);
    schedule.warmup_steps = 10;
    CHECK_NEAR(at(schedule, 0, 10), 0.0, 0.0);
    CHECK_NEAR(at(schedule, 9, 10), 0.9, 1e-15);
    CHECK_NEAR(at(schedule, 10, 10), 0.5, 1e-15);
}

static double quarter(void *user, int64_t step, int64_t steps)
{
    return *(const double *)user * (double)step / (double)steps;
}

static void test_a_custom_schedule_starts_after_the_warm_up(void)
{
    double four = 4.0;
    mw_schedule schedule = mw_schedule_custom(quarter, &four);
    CHECK_NEAR(at(schedule, 3, 8), 1.5, 0.0);
    schedule.warmup_steps = 4;
    schedule.warmup_start = 1.0;
    CHECK_NEAR(at(schedule, 3, 8), 1.0, 0.0);
    CHECK_NEAR(at(schedule, 5, 8), 1.0, 0.0); /* 4 * 1 / 4 */
    CHECK_NEAR(at(schedule, 7, 8), 3.0, 0.0);
}

/* ---- refusals ---- */

static void refuse(mw_schedule schedule, int64_t steps, const char *part)
{
    mw_error err = {0};
    CHECK_INT(mw__schedule_check(&schedule, steps, &err), MW_ERROR_ARGUMENT);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, part);
    CHECK(isnan(mw_schedule_factor(&schedule, 0, steps)));
}

static mw_schedule warmed(int64_t steps, double start)
{
    mw_schedule schedule = mw_schedule_constant();
    schedule.warmup_steps = steps;
    schedule.warmup_start = start;
    return schedule;
}

static void test_refusals_name_the_number(void)
{
    const double nan = (double)NAN, infinity = (double)INFINITY;
    refuse(mw_schedule_constant(), 0, "a training of 0 steps");
    refuse(mw_schedule_step(0, 0.5), 10, "a period of 0 steps, not at least 1");
    refuse(mw_schedule_step(2, -0.5), 10, "the gamma is -0.5; it must be finite and 0 or more");
    refuse(mw_schedule_step(2, nan), 10, "the gamma is nan");
    refuse(mw_schedule_step(2, infinity), 10, "the gamma is inf");
    refuse(mw_schedule_cosine(-1.0), 10, "the floor of the cosine is -1");
    refuse(mw_schedule_linear(nan), 10, "the end factor is nan");
    refuse(mw_schedule_one_cycle(1.5, 25, 1e4), 10, "rises for 1.5 of its steps, not 0 .. 1");
    refuse(mw_schedule_one_cycle(nan, 25, 1e4), 10, "rises for nan");
    refuse(mw_schedule_one_cycle(0.3, 0.0, 1e4), 10, "the start divisor of one cycle is 0");
    refuse(mw_schedule_one_cycle(0.3, 25, infinity), 10, "the end divisor of one cycle is inf");
    refuse(mw_schedule_custom(NULL, NULL), 10, "the function is NULL");
    refuse(warmed(11, 0.0), 10, "a warm-up of 11 steps in a training of 10");
    refuse(warmed(-1, 0.0), 10, "a warm-up of -1 steps");
    refuse(warmed(5, -0.5), 10, "the start factor of the warm-up is -0.5");
    refuse((mw_schedule){.kind = (mw_schedule_kind)9}, 10, "no kind 9");
    CHECK(isnan(at(mw_schedule_constant(), -1, 10)));
}

int main(void)
{
    RUN(test_schedules_agree_with_torch);
    RUN(test_a_schedule_stays_where_it_ends);
    RUN(test_a_warm_up_may_last_for_the_whole_training);
    RUN(test_a_custom_schedule_starts_after_the_warm_up);
    RUN(test_refusals_name_the_number);
    return check_finish();
}
