/* Timing of one program, for the benchmarks of single kernels. */
#ifndef BENCH_RUNS_H
#define BENCH_RUNS_H

#include "bench.h"

#include <millwright/millwright.h>

/* Seconds of a run: the median over several times `runs`, after one that is not counted. Processor time with one
 * thread, which what else runs disturbs less. Prints the steps if --plan asks for them. */
double bench_run_seconds(const bench_options *o, mw_program *program, int runs, mw_error *err);

#endif
