/* Trainings in processes of their own, some at a time. */
#ifndef MW__TOOL_RUNS_JOBS_H
#define MW__TOOL_RUNS_JOBS_H

#include "tool/tool.h"

enum { JOBS_AT_ONCE_MAX = 256 };

typedef struct job_list {
    int count, at_once;
    void *results; /* [count][result_size], filled through pipes; plain bytes without pointers, at most 4096 */
    size_t result_size;
    /* In the process of job `index`: fills the result, which is as it was, and returns the exit code. */
    int (*work)(void *user, int index, void *result, const tool_call *call);
    /* In this process: the one of the job ended without an answer, by a signal (`by_signal`) or with a code. */
    void (*died)(void *result, bool by_signal, int number);
    void *user;
    const char *what; /* for the progress: "trainings" */
} job_list;

/* One for each processor where `asked` is 0. */
int jobs_at_once(long long asked);
/* Runs all of them. False with call->err set if there were no processes. */
bool jobs_run(const job_list *jobs, const tool_call *call);

#endif
