/* The processes: forked, answered through pipes, waited for. */
#include "tool/runs/jobs.h"

#include "base/text/error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct running {
    pid_t child; /* 0 = none */
    int end;     /* of its pipe */
    void *result;
} running;

int jobs_at_once(long long asked)
{
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    if (asked > 0)
        return (int)asked;
    return processors > 0 && processors <= JOBS_AT_ONCE_MAX ? (int)processors : 1;
}

static void *result_of(const job_list *jobs, int index)
{
    return (char *)jobs->results + (size_t)index * jobs->result_size;
}

/* The first of the processes says on standard error what all of them would. */
static void answer(const job_list *jobs, int index, int end, const tool_call *call)
{
    void *result = result_of(jobs, index);
    if (index > 0 && freopen("/dev/null", "w", stderr) == NULL)
        _exit(TOOL_FAILED);
    const int code = jobs->work(jobs->user, index, result, call);
    const bool sent = write(end, result, jobs->result_size) == (ssize_t)jobs->result_size;
    _exit(sent ? code : TOOL_FAILED);
}

static bool start_job(const job_list *jobs, int index, running *out, const tool_call *call)
{
    int ends[2];
    if (pipe(ends) != 0)
        return false;
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        answer(jobs, index, ends[1], call);
    }
    close(ends[1]);
    *out = (running){.child = child, .end = ends[0], .result = result_of(jobs, index)};
    if (child < 0)
        close(ends[0]);
    return child > 0;
}

static void end_job(const job_list *jobs, running *job, int status)
{
    if (read(job->end, job->result, jobs->result_size) != (ssize_t)jobs->result_size)
        jobs->died(job->result, WIFSIGNALED(status), WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    close(job->end);
    job->child = 0;
}

/* Waits for one of them; false if there is none. */
static bool wait_for_one(const job_list *jobs, running *list)
{
    int status;
    const pid_t child = waitpid(-1, &status, 0);
    if (child < 0 && errno == EINTR)
        return true;
    for (int i = 0; i < jobs->at_once; i++)
        if (list[i].child == child && child > 0)
            end_job(jobs, &list[i], status);
    return child > 0;
}

static running *find_free(running *list, int count)
{
    for (int i = 0; i < count; i++)
        if (list[i].child == 0)
            return &list[i];
    return NULL;
}

static bool run_all(const job_list *jobs, running *list, const tool_call *call)
{
    int started = 0, ended = 0;
    while (ended < jobs->count) {
        running *job = find_free(list, jobs->at_once);
        if (started < jobs->count && job != NULL) {
            if (!start_job(jobs, started++, job, call))
                return false;
            continue;
        }
        if (!wait_for_one(jobs, list))
            return false;
        ended = started;
        for (int i = 0; i < jobs->at_once; i++)
            ended -= list[i].child != 0;
        tool_progress(call, jobs->what, ended, jobs->count);
    }
    return true;
}

bool jobs_run(const job_list *jobs, const tool_call *call)
{
    running *list = calloc((size_t)jobs->at_once, sizeof *list);
    const bool good = list != NULL && run_all(jobs, list, call);
    if (!good)
        mw__fail(call->err, MW_ERROR_MEMORY, "a process for a training cannot be started: %s", strerror(errno));
    free(list);
    return good;
}
