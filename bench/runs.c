#include "runs.h"

#include <millwright/inspect.h>

enum { ROUNDS = 9 };

static void print_line(void *user, const char *line)
{
    (void)user;
    puts(line);
}

static double clock_of(const bench_options *o) { return o->threads > 1 ? bench_now() : bench_cpu(); }

double bench_run_seconds(const bench_options *o, mw_program *program, int runs, mw_error *err)
{
    double times[ROUNDS];
    mw_program_run(program, err);
    if (o->plan)
        mw_program_profile(program, 20, err);
    for (int r = 0; r < ROUNDS; r++) {
        const double start = clock_of(o);
        for (int i = 0; i < runs; i++)
            mw_program_run(program, err);
        times[r] = (clock_of(o) - start) / runs;
    }
    if (o->plan) {
        mw_plan *plan = mw_plan_create(program, err);
        mw_plan_print(plan, print_line, NULL);
        mw_plan_destroy(plan);
    }
    return bench_median(times, ROUNDS);
}
