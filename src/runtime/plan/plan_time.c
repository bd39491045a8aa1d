/* From the spans of single tasks to the times of steps and runs. */
#include "base/memory/checked.h"
#include "runtime/plan/plan_read.h"

#include <stdlib.h>

static double length_of(const e5rt_mw_span *span) { return (double)(span->end - span->begin); }

static int by_size(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* Sorts `values`. */
static mw_plan_time summarize(double *values, size_t count)
{
    mw_plan_time time = {.runs = count};
    if (count == 0)
        return time;
    qsort(values, count, sizeof *values, by_size);
    for (size_t i = 0; i < count; i++)
        time.total_ns += values[i];
    time.min_ns = values[0];
    time.median_ns = 0.5 * (values[(count - 1) / 2] + values[count / 2]);
    return time;
}

/* A step takes as long as the thread that is longest at it; a thread runs several partitions where there are fewer of
 * them.
 */
static void measure_run(const e5rt_mw_plan *data, size_t run, double *busy, double *times)
{
    const e5rt_mw_run *r = &data->runs[run];
    const uint64_t threads = r->threads > 0 && r->threads < data->partitions ? r->threads : data->partitions;
    for (size_t i = 0; i < data->step_count * data->partitions; i++)
        busy[i] = 0.0;
    for (size_t t = 0; t < data->task_count; t++) {
        const e5rt_mw_task *task = &data->tasks[t];
        double *sum = &busy[task->step * data->partitions + task->partition % threads];
        *sum += length_of(&r->tasks[t]);
        double *longest = &times[task->step * data->run_count + run];
        *longest = *sum > *longest ? *sum : *longest;
    }
}

static void measure_steps(mw_plan *plan, double *times)
{
    const size_t runs = plan->data->run_count;
    for (size_t s = 0; s < plan->totals.step_count; s++) {
        mw_plan_step *step = &plan->steps[s];
        step->time = summarize(times + s * runs, runs);
        if (step->time.median_ns <= 0.0)
            continue;
        step->gflops = step->flops > 0.0 ? step->flops / step->time.median_ns : 0.0;
        step->gbytes = (double)(step->bytes_read + step->bytes_written) / step->time.median_ns;
    }
}

static mw_status measure_plan_time(mw_plan *plan, mw__arena *scratch, mw_error *err)
{
    const e5rt_mw_plan *data = plan->data;
    size_t count;
    if (!mw__mul_size(data->step_count, data->run_count, &count))
        return mw__fail(err, MW_ERROR_MEMORY, "the times of the profile exceed the address space");
    double *times = mw__arena_alloc(scratch, count, sizeof *times, err);
    double *busy = mw__arena_alloc(scratch, data->step_count * data->partitions, sizeof *busy, err);
    double *whole = mw__arena_alloc(scratch, data->run_count, sizeof *whole, err);
    if (times == NULL || busy == NULL || whole == NULL)
        return MW_ERROR_MEMORY;
    for (size_t r = 0; r < data->run_count; r++) {
        whole[r] = length_of(&data->runs[r].span);
        measure_run(data, r, busy, times);
    }
    plan->totals.time = summarize(whole, data->run_count);
    measure_steps(plan, times);
    return MW_OK;
}

mw_status mw__program_plan_measure(mw_plan *plan, mw_error *err)
{
    if (plan->data->run_count == 0)
        return MW_OK;
    mw__arena scratch;
    mw__arena_init(&scratch, plan->allocator);
    const mw_status status = measure_plan_time(plan, &scratch, err);
    mw__arena_deinit(&scratch);
    return status;
}
