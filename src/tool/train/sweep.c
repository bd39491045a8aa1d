/* The processes of a sweep, and what their trainings come to. */
#include "tool/train/sweep.h"

#include "base/text/error.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const names[] = {[SWEEP_RATE] = "lr", [SWEEP_BATCH] = "batch", [SWEEP_EPOCHS] = "epochs"};

double sweep_value(const sweep *s, int index)
{
    const double share = s->values > 1 ? (double)index / (s->values - 1) : 0.0;
    const double value = s->low * pow(s->high / s->low, share);
    return s->number == SWEEP_RATE ? (double)(float)value : round(value);
}

const char *sweep_name(const sweep *s, int index, char out[SWEEP_NAME_BYTES])
{
    snprintf(out, SWEEP_NAME_BYTES, "%s=%.6g", names[s->number], sweep_value(s, index));
    return out;
}

/* ---- one training ---- */

static void note_measured(void *user, const char *set, const mw_evaluation *found)
{
    sweep_result *r = user;
    if (r->done) /* validation comes before a test */
        return;
    r->done = true;
    snprintf(r->set, sizeof r->set, "%s", set);
    r->loss = found->loss;
    if (found->metric_count > 0) {
        snprintf(r->metric, sizeof r->metric, "%.63s", found->metrics[0].name);
        r->value = found->metrics[0].value;
    }
}

static void take_value(const sweep *s, int index, recipe_overrides *over)
{
    const double value = sweep_value(s, index);
    if (s->number == SWEEP_RATE)
        over->learning_rate = value;
    else
        *(s->number == SWEEP_BATCH ? &over->batch : &over->epochs) = (long long)value;
}

/* In a process of its own; the answer goes through the pipe. */
static void work(const sweep *s, int index, int seed, int end, const tool_call *call)
{
    char run[4096], output[4200], name[SWEEP_NAME_BYTES];
    mw_error err = {0};
    mw__json_writer json;
    sweep_result r = {.done = false};
    recipe_overrides over = s->over;
    sweep_name(s, index, name);
    snprintf(run, sizeof run, "%.3900s/%s-%d", s->run, name, seed + 1);
    snprintf(output, sizeof output, "%s/weights.safetensors", run);
    take_value(s, index, &over);
    over.seed = s->seed + seed;
    over.threads = 1;
    over.run = run;
    over.output = output;
    over.measured = note_measured;
    over.measured_user = &r;
    mw__json_writer_init(&json, NULL, true);
    const tool_call own = {.json = &json, .quiet = true, .err = &err, .command = call->command};
    mkdir(run, 0777); /* what it refuses is said by the first that writes there */
    const int code = recipe_train(s->config, &over, &own);
    mw__json_writer_deinit(&json);
    if (code != TOOL_DONE || !r.done) {
        const char *why =
            err.message[0] != '\0' ? err.message : "there is no validation set and no test set to compare by";
        r.done = false;
        snprintf(r.said, sizeof r.said, "%.390s", why);
    }
    const bool sent = write(end, &r, sizeof r) == (ssize_t)sizeof r;
    _exit(sent ? code : TOOL_FAILED);
}

/* ---- all of them ---- */

typedef struct sweep_job {
    pid_t child; /* 0 = none */
    int end;     /* of its pipe */
    sweep_result *result;
} sweep_job;

static bool start_job(sweep *s, int training, sweep_job *job, const tool_call *call)
{
    int ends[2];
    if (pipe(ends) != 0)
        return false;
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        work(s, training / s->seeds, training % s->seeds, ends[1], call);
    }
    close(ends[1]);
    *job = (sweep_job){.child = child, .end = ends[0], .result = &s->results[training]};
    if (child < 0)
        close(ends[0]);
    return child > 0;
}

static void end_job(sweep_job *job, int status)
{
    if (read(job->end, job->result, sizeof *job->result) != (ssize_t)sizeof *job->result) {
        job->result->done = false;
        snprintf(job->result->said, sizeof job->result->said, "the process ended %s %d",
                 WIFSIGNALED(status) ? "by signal" : "with code",
                 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    }
    close(job->end);
    job->child = 0;
}

/* Waits for one of the jobs; false if there is none. */
static bool wait_for_one(sweep_job *jobs, int count)
{
    int status;
    const pid_t child = waitpid(-1, &status, 0);
    if (child < 0 && errno == EINTR)
        return true;
    for (int i = 0; i < count; i++)
        if (jobs[i].child == child && child > 0)
            end_job(&jobs[i], status);
    return child > 0;
}

static sweep_job *free_job(sweep_job *jobs, int count)
{
    for (int i = 0; i < count; i++)
        if (jobs[i].child == 0)
            return &jobs[i];
    return NULL;
}

static bool run_all(sweep *s, sweep_job *jobs, const tool_call *call)
{
    const int trainings = s->values * s->seeds;
    int started = 0, ended = 0;
    while (ended < trainings) {
        sweep_job *job = free_job(jobs, s->jobs);
        if (started < trainings && job != NULL) {
            if (!start_job(s, started++, job, call))
                return false;
            continue;
        }
        if (!wait_for_one(jobs, s->jobs))
            return false;
        ended = started;
        for (int i = 0; i < s->jobs; i++)
            ended -= jobs[i].child != 0;
        tool_progress(call, "trainings", ended, trainings);
    }
    return true;
}

bool sweep_run(sweep *s, const tool_call *call)
{
    if (mkdir(s->run, 0777) != 0 && errno != EEXIST)
        return mw__fail(call->err, MW_ERROR_FILE, "the folder %.200s cannot be made: %s", s->run, strerror(errno)) ==
               MW_OK;
    sweep_job *jobs = calloc((size_t)s->jobs, sizeof *jobs);
    const bool good = jobs != NULL && run_all(s, jobs, call);
    if (!good)
        mw__fail(call->err, MW_ERROR_MEMORY, "a process for a training cannot be started: %s", strerror(errno));
    free(jobs);
    return good;
}

/* ---- figures ---- */

bool sweep_mean(const sweep *s, int index, bool metric, double *out_mean, double *out_deviation)
{
    double sum = 0.0, squares = 0.0;
    int count = 0;
    for (int k = 0; k < s->seeds; k++) {
        const sweep_result *r = &s->results[index * s->seeds + k];
        const double x = metric ? r->value : r->loss;
        if (!r->done || !isfinite(x))
            continue;
        sum += x;
        squares += x * x;
        count++;
    }
    *out_mean = count > 0 ? sum / count : NAN;
    *out_deviation = count > 1 ? sqrt(fmax(squares - sum * sum / count, 0.0) / (count - 1)) : 0.0;
    return count > 0;
}

int sweep_best(const sweep *s)
{
    double least = INFINITY;
    int best = -1;
    for (int i = 0; i < s->values; i++) {
        double mean, deviation;
        if (sweep_mean(s, i, false, &mean, &deviation) && mean < least) {
            least = mean;
            best = i;
        }
    }
    return best;
}
