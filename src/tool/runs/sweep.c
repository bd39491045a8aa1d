/* The trainings of a sweep, and what they come to. */
#include "tool/runs/sweep.h"

#include "base/text/error.h"
#include "tool/runs/jobs.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

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

static void note_measured(void *user, const char *set, const mw_evaluation *found, const mw_scores *scores)
{
    sweep_result *r = user;
    (void)scores;
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

/* In a process of its own. */
static int work(void *user, int training, void *result, const tool_call *call)
{
    const sweep *s = user;
    char run[4096], output[4200], name[SWEEP_NAME_BYTES];
    const int index = training / s->seeds, seed = training % s->seeds;
    mw_error err = {0};
    mw__json_writer json;
    sweep_result *r = result;
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
    over.measured_user = r;
    mw__json_writer_init(&json, NULL, true);
    const tool_call own = {.json = &json, .quiet = true, .err = &err, .command = call->command};
    mkdir(run, 0777); /* what it refuses is said by the first that writes there */
    const int code = recipe_train(s->config, &over, &own);
    mw__json_writer_deinit(&json);
    if (code != TOOL_DONE || !r->done) {
        const char *why =
            err.message[0] != '\0' ? err.message : "there is no validation set and no test set to compare by";
        r->done = false;
        snprintf(r->said, sizeof r->said, "%.390s", why);
    }
    return code;
}

static void note_death(void *result, bool by_signal, int number)
{
    sweep_result *r = result;
    r->done = false;
    snprintf(r->said, sizeof r->said, "the process ended %s %d", by_signal ? "by signal" : "with code", number);
}

bool sweep_run(sweep *s, const tool_call *call)
{
    const job_list jobs = {.count = s->values * s->seeds,
                           .at_once = s->jobs,
                           .results = s->results,
                           .result_size = sizeof *s->results,
                           .work = work,
                           .died = note_death,
                           .user = s,
                           .what = "trainings"};
    if (mkdir(s->run, 0777) != 0 && errno != EEXIST)
        return mw__fail(call->err, MW_ERROR_FILE, "the folder %.200s cannot be made: %s", s->run, strerror(errno)) ==
               MW_OK;
    return jobs_run(&jobs, call);
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
