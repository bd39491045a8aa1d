/* Steps that only look at a buffer stand behind the one that makes it, and finding that place takes time in proportion
 * to the steps: 1000 layers with Adam took 13 s to compile. */
#include "engine/compile/fuse/ways.h"
#include "engine/core/planner.h"
#include "engine/kernels/reduce/within.h"
#include "support/check.h"
#include "support/failing.h"

#include <stdlib.h>
#include <time.h>

static const struct mw__finite_check watch;

/* Steps that make buffers 1, 2, .. and behind them two watches of each, which write buffers of their own. */
typedef struct program {
    mw__step *all, **steps;
    mw__step_operand *operands;
    size_t makers, count, buffers;
} program;

static bool make(program *p, size_t makers)
{
    *p = (program){.makers = makers, .count = 3 * makers, .buffers = 3 * makers + 1};
    p->all = calloc(p->count, sizeof *p->all);
    p->steps = calloc(p->count, sizeof *p->steps);
    p->operands = calloc(2 * p->count, sizeof *p->operands);
    const bool good = p->all != NULL && p->steps != NULL && p->operands != NULL;
    for (size_t s = 0; good && s < p->count; s++) {
        mw__step *step = p->steps[s] = &p->all[s];
        step->reads = &p->operands[2 * s];
        step->writes = step->reads + 1;
        step->write_count = 1;
        step->writes[0].buffer = (uint32_t)(s + 1);
        if (s < makers)
            continue;
        step->fusion.kind = MW__STEP_CHECK;
        step->fusion.as.check = &watch;
        step->read_count = 1;
        step->reads[0].buffer = (uint32_t)(s % makers + 1);
    }
    return good;
}

static void drop(program *p)
{
    free(p->all);
    free(p->operands);
    free(p->steps);
}

static mw_status hoist(program *p, const mw_allocator *allocator, mw_error *err)
{
    mw__arena arena;
    mw__arena_init(&arena, allocator);
    mw__planner *planner = calloc(1, sizeof *planner);
    if (planner == NULL)
        return mw__fail(err, MW_ERROR_MEMORY, "no planner");
    planner->steps = p->steps, planner->step_count = p->count;
    const mw__pass pass = {.arena = &arena, .buffer_count = p->buffers, .planner = planner};
    const mw_status status = mw__fuse_watches(&pass, err);
    free(planner);
    mw__arena_deinit(&arena);
    return status;
}

static void test_watches_stand_behind_what_they_look_at(void)
{
    program p;
    mw_error err = {0};
    REQUIRE(make(&p, 5));
    p.all[7].reads[0].buffer = 0; /* a port: nothing makes it */
    CHECK_INT(hoist(&p, NULL, &err), MW_OK);
    static const int wanted[] = {0, 10, 5, 1, 11, 6, 2, 12, 3, 13, 8, 4, 14, 9, 7}; /* the later watch first */
    for (int s = 0; s < 15; s++)
        CHECK_INT(p.steps[s] - p.all, wanted[s]);
    drop(&p);
}

static double hoisting_seconds(size_t makers)
{
    program p;
    mw_error err = {0};
    if (!make(&p, makers))
        return 0;
    const clock_t before = clock();
    hoist(&p, NULL, &err);
    const double seconds = (double)(clock() - before) / CLOCKS_PER_SEC;
    CHECK_OK(err);
    drop(&p);
    return seconds;
}

static void test_hoisting_takes_time_in_proportion_to_the_steps(void)
{
    const double few = hoisting_seconds(2000), many = hoisting_seconds(16000);
    check_note(many < 24 * few + 0.02, __FILE__, __LINE__, "6000 steps took %g s, 48000 took %g s", few, many);
}

static void test_a_failed_allocation_leaves_the_steps(void)
{
    for (long n = 0; n < 3; n++) {
        program p;
        failing_allocator failing = {.fail_at = n};
        const mw_allocator allocator = failing_allocator_of(&failing);
        mw_error err = {0};
        REQUIRE(make(&p, 4));
        CHECK_INT(hoist(&p, &allocator, &err), MW_ERROR_MEMORY);
        for (size_t s = 0; s < p.count; s++)
            CHECK(p.steps[s] == &p.all[s]);
        CHECK_INT(failing.live, 0);
        drop(&p);
    }
}

int main(void)
{
    RUN(test_watches_stand_behind_what_they_look_at);
    RUN(test_hoisting_takes_time_in_proportion_to_the_steps);
    RUN(test_a_failed_allocation_leaves_the_steps);
    return check_finish();
}
