/* mw sweep: one recipe with different numbers, and which of them is best. */
#include "tool/commands/commands.h"
#include "tool/fields.h"
#include "tool/runs/jobs.h"
#include "tool/runs/sweep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct {
    const char *over, *run, *picture, *data, *device;
    long long runs, seeds, jobs, seed, epochs, batch;
} o = {.runs = 10, .seeds = 1, .seed = 1};

const tool_option tool_sweep_options[] = {
    {"over", '\0', TOOL_TEXT, &o.over, "what changes: lr, batch or epochs, spread evenly over its logarithm",
     .argument = "NAME=LOW..HIGH"},
    {"run", '\0', TOOL_TEXT, &o.run, "gets a folder for each training; goes on if it is there", .argument = "FOLDER"},
    {"runs", '\0', TOOL_INTEGER, &o.runs, "values between LOW and HIGH", .argument = "N", .low = 2, .high = 1000},
    {"seeds", '\0', TOOL_INTEGER, &o.seeds, "trainings of each value", .argument = "N", .low = 1, .high = 100},
    {"jobs", 'j', TOOL_INTEGER, &o.jobs, "trainings at a time, of one thread each (0 = one for each processor)",
     .argument = "N", .high = 256},
    {"picture", '\0', TOOL_TEXT, &o.picture, "mean of the loss with a band of one deviation, as SVG",
     .argument = "FILE"},
    {"data", '\0', TOOL_TEXT, &o.data, "that of the recipe", .argument = "PATH"},
    {"epochs", '\0', TOOL_INTEGER, &o.epochs, "through the training set", .argument = "N", .low = 1,
     .high = RECIPE_EPOCHS_MAX},
    {"batch", 'b', TOOL_INTEGER, &o.batch, "examples of one step", .argument = "N", .low = 1, .high = RECIPE_BATCH_MAX},
    {"seed", '\0', TOOL_INTEGER, &o.seed, "the first one", .argument = "N", .high = 1000000000},
    {"device", 'd', TOOL_TEXT, &o.device, "auto, cpu, gpu or ane", .argument = "DEVICE", .choices = RECIPE_DEVICES},
    TOOL_OPTIONS_END,
};

/* ---- what is asked for ---- */

static bool read_number(const char *text, size_t length, double *out)
{
    char copy[48];
    char *end;
    if (length == 0 || length >= sizeof copy)
        return false;
    memcpy(copy, text, length);
    copy[length] = '\0';
    *out = strtod(copy, &end);
    return *end == '\0' && isfinite(*out);
}

/* NAME=LOW..HIGH */
static bool parse_over(sweep *s)
{
    static const struct {
        const char *name;
        double low, high;
    } rows[] = {[SWEEP_RATE] = {"lr", RECIPE_RATE_MIN, RECIPE_RATE_MAX},
                [SWEEP_BATCH] = {"batch", 1, RECIPE_BATCH_MAX},
                [SWEEP_EPOCHS] = {"epochs", 1, RECIPE_EPOCHS_MAX}};
    const char *equals = o.over != NULL ? strchr(o.over, '=') : NULL,
               *dots = equals != NULL ? strstr(equals, "..") : NULL;
    int found = -1;
    for (int i = 0; i < (int)(sizeof rows / sizeof *rows) && equals != NULL; i++)
        if (strlen(rows[i].name) == (size_t)(equals - o.over) &&
            strncmp(o.over, rows[i].name, strlen(rows[i].name)) == 0)
            found = i;
    const bool good = found >= 0 && dots != NULL && read_number(equals + 1, (size_t)(dots - equals - 1), &s->low) &&
                      read_number(dots + 2, strlen(dots + 2), &s->high);
    if (!good) {
        tool_complain("sweep: --over is \"%.60s\"; it must be lr, batch or epochs, as in lr=1e-4..1e-2",
                      o.over != NULL ? o.over : "");
        return false;
    }
    s->number = (sweep_number)found;
    if (s->low < rows[found].low || s->high > rows[found].high || !(s->low < s->high)) {
        tool_complain("sweep: --over %s goes from %g to %g; it must rise within %g .. %g", rows[found].name, s->low,
                      s->high, rows[found].low, rows[found].high);
        return false;
    }
    return true;
}

/* Two values that round to one number would be one training. */
static bool check_values(const sweep *s)
{
    for (int i = 1; i < s->values; i++)
        if (sweep_value(s, i) <= sweep_value(s, i - 1)) {
            tool_complain("sweep: %g .. %g has fewer than %d different values: ask for fewer --runs", s->low, s->high,
                          s->values);
            return false;
        }
    if (s->values * s->seeds <= SWEEP_RUNS_MAX)
        return true;
    tool_complain("sweep: %d values of %d seeds are %d trainings; at most %d are made", s->values, s->seeds,
                  s->values * s->seeds, SWEEP_RUNS_MAX);
    return false;
}

static bool take_options(sweep *s, const tool_call *call)
{
    *s = (sweep){
        .config = call->arguments[0], .run = o.run, .values = (int)o.runs, .seeds = (int)o.seeds, .seed = o.seed};
    s->over = (recipe_overrides){
        .seed = -1, .threads = -1, .data = o.data, .device = o.device, .epochs = o.epochs, .batch = o.batch};
    s->jobs = jobs_at_once(o.jobs);
    if (o.run == NULL) {
        tool_complain("sweep: --run FOLDER is needed: each training gets a folder there");
        return false;
    }
    if (!parse_over(s) || !check_values(s))
        return false;
    if ((s->number == SWEEP_BATCH && tool_given("batch")) || (s->number == SWEEP_EPOCHS && tool_given("epochs"))) {
        tool_complain("sweep: --%s has no effect, as it is what changes",
                      s->number == SWEEP_BATCH ? "batch" : "epochs");
        return false;
    }
    return true;
}

/* ---- what is said ---- */

static const sweep_result *first_done(const sweep *s)
{
    for (int i = 0; i < s->values * s->seeds; i++)
        if (s->results[i].done)
            return &s->results[i];
    return NULL;
}

static int count_failed(const sweep *s, int value)
{
    int failed = 0;
    for (int k = 0; k < s->seeds; k++)
        failed += !s->results[value * s->seeds + k].done;
    return failed;
}

static void say_value(const sweep *s, int i, bool has_metric, const tool_call *call)
{
    double loss, deviation, metric = 0, metric_deviation = 0;
    sweep_mean(s, i, false, &loss, &deviation);
    if (has_metric)
        sweep_mean(s, i, true, &metric, &metric_deviation);
    if (call->json != NULL) {
        mw__json_open(call->json, NULL, '{');
        mw__json_add_number(call->json, "value", sweep_value(s, i));
        mw__json_add_number(call->json, "loss", loss);
        mw__json_add_number(call->json, "loss_deviation", deviation);
        if (has_metric) {
            mw__json_add_number(call->json, "metric", metric);
            mw__json_add_number(call->json, "metric_deviation", metric_deviation);
        }
        mw__json_add_integer(call->json, "failed", count_failed(s, i));
        mw__json_close(call->json, '}');
        return;
    }
    tool_print("%12.4g  %11.5g", sweep_value(s, i), loss);
    if (s->seeds > 1)
        tool_print(" +- %-9.3g", deviation);
    if (has_metric)
        tool_print("  %9.4g", metric);
    if (count_failed(s, i) > 0)
        tool_print("  %d failed", count_failed(s, i));
    tool_puts(i == sweep_best(s) ? "  best\n" : "\n");
}

static void say_failures(const sweep *s)
{
    for (int i = 0; i < s->values * s->seeds; i++)
        if (!s->results[i].done) {
            char name[SWEEP_NAME_BYTES];
            tool_complain("%s: %s", sweep_name(s, i / s->seeds, name), s->results[i].said);
            return; /* the others fail for the same reason, mostly */
        }
}

static int say_all(const sweep *s, const tool_call *call)
{
    const sweep_result *first = first_done(s);
    const int best = sweep_best(s);
    const bool has_metric = first != NULL && first->metric[0] != '\0';
    if (first != NULL && call->json == NULL)
        tool_print("%12s  %s loss%s%s\n",
                   s->number == SWEEP_RATE    ? "lr"
                   : s->number == SWEEP_BATCH ? "batch"
                                              : "epochs",
                   first->set, has_metric ? "  " : "", has_metric ? first->metric : "");
    if (call->json != NULL) {
        mw__json_add_string(call->json, "set", first != NULL ? first->set : NULL);
        mw__json_add_string(call->json, "metric", has_metric ? first->metric : NULL);
        mw__json_open(call->json, "values", '[');
    }
    for (int i = 0; i < s->values && first != NULL; i++)
        say_value(s, i, has_metric, call);
    if (call->json != NULL) {
        mw__json_close(call->json, ']');
        if (best >= 0)
            mw__json_add_number(call->json, "best", sweep_value(s, best));
    }
    say_failures(s);
    return best >= 0 ? TOOL_DONE : TOOL_FAILED;
}

int tool_sweep(const tool_call *call)
{
    sweep s;
    if (!take_options(&s, call))
        return TOOL_USAGE;
    s.results = calloc((size_t)(s.values * s.seeds), sizeof *s.results);
    const bool ran = s.results != NULL && sweep_run(&s, call);
    int code = ran ? say_all(&s, call) : TOOL_FAILED;
    if (ran && o.picture != NULL && code == TOOL_DONE && !sweep_draw(&s, o.picture, call->err))
        code = TOOL_FAILED;
    free(s.results);
    return code;
}
