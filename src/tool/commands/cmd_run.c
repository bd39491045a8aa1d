/* mw run, mw bench, mw profile: a model at work. */
#include "tool/commands/commands.h"
#include "tool/inputs.h"
#include "tool/model_text.h"
#include "tool/show/results.h"
#include "tool/source.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

/* ---- run ---- */

static struct {
    const char **inputs;
    const char *out;
    long long top, values;
} o = {.top = 5, .values = 8};

const tool_option tool_run_options[] = {
    {"input", 'i', TOOL_LIST, &o.inputs, "what an input is fed: a file, FILE:TENSOR, or a number",
     .argument = "NAME=VALUE"},
    {"out", 'o', TOOL_TEXT, &o.out, "all results: .npz or .safetensors", .argument = "FILE"},
    {"top", '\0', TOOL_INTEGER, &o.top, "so many of the likeliest labels (5)", .argument = "N", .high = 1 << 30},
    {"values", '\0', TOOL_INTEGER, &o.values, "numbers that are printed of each result (8)", .argument = "N",
     .high = 1 << 30},
    TOOL_OPTIONS(tool_running_options),
    TOOL_OPTIONS(tool_drawing_options),
    TOOL_OPTIONS(tool_reading_options),
    TOOL_OPTIONS_END,
};

static void say_values(const mw_result *result, mw_shape shape, const tool_call *call)
{
    const float *values = result->data;
    const size_t shown = result->count < (size_t)o.values ? result->count : (size_t)o.values;
    char text[128];
    if (call->json != NULL) {
        mw__json_open(call->json, NULL, '{');
        mw__json_add_string(call->json, "name", result->name);
        tool_json_shape(call->json, "shape", shape);
        mw__json_open(call->json, "values", '[');
        for (size_t i = 0; i < shown; i++)
            mw__json_add_number(call->json, NULL, (double)values[i]);
        mw__json_close(call->json, ']');
        mw__json_close(call->json, '}');
        return;
    }
    tool_show(result->name);
    tool_print("  %s ", tool_shape(text, sizeof text, shape));
    for (size_t i = 0; i < shown; i++)
        tool_print(" %.6g", (double)values[i]);
    tool_puts(shown < result->count ? " ..\n" : "\n");
}

/* The label of a class, whichever kind it has. */
static const char *label_of(const mw_classes *classes, size_t index, char *out, size_t size)
{
    if (classes->names != NULL)
        return classes->names[index];
    snprintf(out, size, "%lld", (long long)classes->numbers[index]);
    return out;
}

/* Of the first example, the likeliest first. */
static void say_labels(const mw_result *result, const mw_classes *classes, const tool_call *call)
{
    const float *p = result->data;
    char number[32];
    float below = INFINITY;
    for (long long k = 0; call->json == NULL && k < o.top && (size_t)k < classes->count; k++) {
        size_t best = classes->count;
        for (size_t i = 0; i < classes->count; i++) {
            if (p[i] < below && (best == classes->count || p[i] > p[best]))
                best = i;
        }
        if (best == classes->count)
            return;
        below = p[best];
        tool_print("  %8.5f  ", (double)p[best]);
        tool_show(label_of(classes, best, number, sizeof number));
        tool_puts("\n");
    }
}

static size_t count_lines(const char *lines)
{
    size_t count = 1;
    for (const char *at = lines; *at != '\0'; at++)
        count += *at == '\n';
    return count;
}

static char *copy_line(const char *lines, size_t index)
{
    for (; index > 0 && strchr(lines, '\n') != NULL; index--)
        lines = strchr(lines, '\n') + 1;
    return strndup(lines, strcspn(lines, "\n"));
}

/* The likeliest class of each example, of the first ones as many as --values says. `lines`: the names of the classes.
 */
static void say_classes(const char *lines, const mw_result *result, mw_shape shape, const tool_call *call)
{
    const size_t classes = count_lines(lines), examples = shape.rank > 0 ? (size_t)shape.dim[0] : 0;
    if (examples == 0 || result->count != examples * classes)
        return;
    if (call->json != NULL)
        mw__json_open(call->json, "classes", '[');
    for (size_t i = 0; i < examples && i < (size_t)o.values; i++) {
        const float *p = (const float *)result->data + i * classes;
        size_t best = 0;
        for (size_t k = 1; k < classes; k++)
            best = p[k] > p[best] ? k : best;
        char *name = copy_line(lines, best);
        if (call->json != NULL) {
            mw__json_add_string(call->json, NULL, name != NULL ? name : "");
        } else {
            tool_print("  example %zu: ", i);
            tool_show(name);
            tool_puts("\n");
        }
        free(name);
    }
    if (call->json != NULL)
        mw__json_close(call->json, ']');
}

static void say_results(const mw_model *model, const tool_results *results, const tool_call *call)
{
    if (call->json != NULL)
        mw__json_open(call->json, "results", '[');
    for (size_t i = 0; i < results->count; i++) {
        const mw_result *result = &results->results[i];
        mw_classes classes;
        mw_error none = {0};
        say_values(result, results->shapes[i], call);
        if (mw_model_classes(model, result->name, &classes, &none) == MW_OK && result->count >= classes.count &&
            classes.count > 1)
            say_labels(result, &classes, call);
    }
    if (call->json != NULL)
        mw__json_close(call->json, ']');
    char *lines = NULL;
    if (results->count == 1)
        tool_model_text(model, call->arguments[0], NULL, "classes", &lines, call->err);
    if (lines != NULL)
        say_classes(lines, &results->results[0], results->shapes[0], call);
    free(lines);
}

static mw_status keep_results(const tool_results *results, const char *path, mw_error *err)
{
    mw_tensor_values *values = calloc(results->count + 1, sizeof *values);
    for (size_t i = 0; values != NULL && i < results->count; i++)
        values[i] = (mw_tensor_values){results->results[i].name, MW_F32, results->shapes[i], results->results[i].data};
    if (values != NULL)
        mw_tensors_write(path, values, results->count, err);
    else
        err->status = MW_ERROR_MEMORY;
    free(values);
    return err->status;
}

static int predict(mw_model *model, const tool_call *call)
{
    tool_inputs inputs = {0};
    tool_results results = {0};
    int code = TOOL_FAILED;
    const bool read = tool_inputs_read(&inputs, o.inputs, model, call);
    const int64_t examples = inputs.examples > 0 ? inputs.examples : mw_model_get_info(model).batch;
    mw_predictor *predictor = mw_predictor_create(model, call->err);
    if (!read && call->err->status == MW_OK)
        code = TOOL_USAGE;
    else if (read && tool_inputs_draw(&inputs, model, examples, tool_seed(), call->err) &&
             tool_results_make(&results, model, examples, call->err)) {
        const mw_batch batch = tool_inputs_batch(&inputs);
        mw_predictor_predict(predictor, &batch, results.results, results.count, call->err);
        if (call->err->status == MW_OK)
            say_results(model, &results, call);
        if (o.out != NULL)
            keep_results(&results, o.out, call->err);
        code = TOOL_DONE;
    }
    mw_predictor_destroy(predictor);
    tool_results_free(&results);
    tool_inputs_free(&inputs);
    return code;
}

int tool_run_model(const tool_call *call)
{
    bool usage;
    if (!tool_check_device())
        return TOOL_USAGE;
    mw_model *model = tool_open_model(call->arguments[0], true, call, &usage);
    const int code = model != NULL ? predict(model, call) : usage ? TOOL_USAGE : TOOL_FAILED;
    mw_model_destroy(model);
    return code;
}

/* ---- bench ---- */

static struct {
    double seconds;
} b = {.seconds = 2};

const tool_option tool_bench_options[] = {
    {"seconds", '\0', TOOL_NUMBER, &b.seconds, "how long to measure (2)", .argument = "S", .high = 86400},
    TOOL_OPTIONS(tool_running_options),
    TOOL_OPTIONS(tool_drawing_options),
    TOOL_OPTIONS(tool_reading_options),
    TOOL_OPTIONS_END,
};

enum { RUNS_MAX = 100000, RUNS_LEAST = 5 };

static double now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return 1e9 * (double)time.tv_sec + (double)time.tv_nsec;
}

static int compare_doubles(const void *a, const void *c)
{
    const double x = *(const double *)a, y = *(const double *)c;
    return (x > y) - (x < y);
}

/* Runs until the time is over; how many, their times in `out`. */
static size_t measure_runs(mw_program *program, double *out, const tool_call *call)
{
    size_t runs = 0;
    mw_program_run(program, call->err); /* the first may make what it needs */
    const double end = now_ns() + 1e9 * b.seconds;
    while (call->err->status == MW_OK && runs < RUNS_MAX && (runs < RUNS_LEAST || now_ns() < end)) {
        const double began = now_ns();
        mw_program_run(program, call->err);
        out[runs++] = now_ns() - began;
    }
    qsort(out, runs, sizeof *out, compare_doubles);
    return runs;
}

static double peak_bytes(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
#if defined(__APPLE__)
    return (double)usage.ru_maxrss;
#else
    return 1024.0 * (double)usage.ru_maxrss;
#endif
}

static void say_times(mw_program *program, int64_t batch, const double *times, size_t runs, const tool_call *call)
{
    char median[32], low[32], high[32], memory[32];
    const double middle = times[runs / 2], late = times[runs - 1 - runs / 20];
    if (call->json != NULL) {
        mw__json_add_string(call->json, "where", mw_program_get_info(program).where);
        mw__json_add_integer(call->json, "runs", (int64_t)runs);
        mw__json_add_number(call->json, "median_ns", middle);
        mw__json_add_number(call->json, "least_ns", times[0]);
        mw__json_add_number(call->json, "p95_ns", late);
        mw__json_add_number(call->json, "runs_per_second", 1e9 / middle);
        mw__json_add_integer(call->json, "examples_per_run", batch);
        mw__json_add_number(call->json, "examples_per_second", 1e9 / middle * (double)batch);
        mw__json_add_number(call->json, "peak_bytes", peak_bytes());
        return;
    }
    tool_print("%s\n", mw_program_get_info(program).where);
    tool_print("median %s, least %s, 95 %% below %s, of %zu runs\n", tool_time(median, sizeof median, middle),
               tool_time(low, sizeof low, times[0]), tool_time(high, sizeof high, late), runs);
    tool_print("%.1f runs a second, %.1f examples a second (%lld a run), %s of memory at most\n", 1e9 / middle,
               1e9 / middle * (double)batch, (long long)batch, tool_bytes(memory, sizeof memory, peak_bytes()));
}

/* Examples of a run: what the first axes of the inputs have in common, if the graph can be brought to another number of
 * them; else the run is one example, whose first axis is something else. */
static int64_t count_examples(const mw_graph *graph)
{
    const mw_tensor *input;
    mw_error err = {0};
    int64_t common = 0;
    for (size_t i = 0; (input = mw_graph_input_at(graph, i)) != NULL; i++) {
        const mw_shape shape = mw_tensor_shape(input);
        int64_t a = shape.rank > 0 ? shape.dim[0] : 1;
        while (a != 0) {
            const int64_t rest = common % a;
            common = a;
            a = rest;
        }
    }
    if (common <= 1)
        return 1;
    mw_graph *one = mw_graph_rebatch(graph, 1, &err);
    mw_graph_destroy(one);
    return one != NULL ? common : 1;
}

/* The program of a model with the shapes of the options, and drawn inputs. `out_examples` of a run; may be NULL. */
static mw_program *compile_model(const tool_call *call, int64_t *out_examples, bool *usage)
{
    mw_compile_options options;
    int code;
    *usage = !tool_check_device();
    if (*usage)
        return NULL;
    mw_graph *graph = tool_open_graph(call, &code);
    *usage = code == TOOL_USAGE;
    tool_compile_options(&options);
    options.function = NULL;
    tool_waiting_compile(call, &options);
    mw_program *program = graph != NULL ? mw_program_create(graph, &options, call->err) : NULL;
    tool_waiting_end();
    if (program != NULL)
        tool_draw_ports(program, tool_seed(), call->err);
    if (program != NULL && out_examples != NULL)
        *out_examples = count_examples(graph);
    mw_graph_destroy(graph);
    return program;
}

int tool_bench(const tool_call *call)
{
    bool usage = false;
    int64_t examples = 1;
    mw_program *program = compile_model(call, &examples, &usage);
    double *times = calloc(RUNS_MAX, sizeof *times);
    const size_t runs = program != NULL && times != NULL ? measure_runs(program, times, call) : 0;
    if (call->err->status == MW_OK && runs > 0)
        say_times(program, examples, times, runs, call);
    free(times);
    mw_program_destroy(program);
    return usage ? TOOL_USAGE : runs > 0 ? TOOL_DONE : TOOL_FAILED;
}

/* ---- profile ---- */

static struct {
    long long runs;
    const char *trace, *plan;
} p = {.runs = 20};

const tool_option tool_profile_options[] = {
    {"runs", 'n', TOOL_INTEGER, &p.runs, "that are measured (20)", .argument = "N", .low = 1, .high = 100000},
    {"trace", '\0', TOOL_TEXT, &p.trace, "every share of every step, for ui.perfetto.dev", .argument = "FILE"},
    {"plan", '\0', TOOL_TEXT, &p.plan, "the plan into a file instead", .argument = "FILE"},
    TOOL_OPTIONS(tool_running_options),
    TOOL_OPTIONS(tool_drawing_options),
    TOOL_OPTIONS(tool_reading_options),
    TOOL_OPTIONS_END,
};

static void put_line(void *user, const char *line)
{
    (void)user;
    tool_puts(line);
    tool_puts("\n");
}

static void say_step(const mw_plan_step *step, double all_ns, const tool_call *call)
{
    mw__json_open(call->json, NULL, '{');
    mw__json_add_string(call->json, "kernel", step->kernel);
    mw__json_add_string(call->json, "implementation", step->implementation);
    mw__json_open(call->json, "operations", '[');
    for (size_t i = 0; i < step->operation_count; i++)
        mw__json_add_string(call->json, NULL, step->operations[i].name);
    mw__json_close(call->json, ']');
    mw__json_add_number(call->json, "median_ns", step->time.median_ns);
    mw__json_add_number(call->json, "share", all_ns > 0 ? step->time.median_ns / all_ns : 0);
    mw__json_add_number(call->json, "flops", step->flops);
    mw__json_add_number(call->json, "bytes", (double)(step->bytes_read + step->bytes_written));
    mw__json_close(call->json, '}');
}

void tool_say_engine_plan(const mw_plan *plan, const tool_call *call)
{
    mw_plan_step step;
    const mw_plan_totals totals = mw_plan_get_totals(plan);
    if (call->json == NULL) {
        mw_plan_print(plan, put_line, NULL);
        return;
    }
    mw__json_add_string(call->json, "where", totals.where);
    mw__json_add_number(call->json, "median_ns", totals.time.median_ns);
    mw__json_add_number(call->json, "flops", totals.flops);
    mw__json_add_number(call->json, "intermediate_bytes", (double)totals.intermediate_bytes);
    mw__json_add_number(call->json, "constant_bytes", (double)totals.constant_bytes);
    mw__json_add_number(call->json, "port_bytes", (double)totals.port_bytes);
    mw__json_open(call->json, "steps", '[');
    for (size_t i = 0; mw_plan_step_at(plan, i, &step); i++)
        say_step(&step, totals.time.median_ns, call);
    mw__json_close(call->json, ']');
}

mw_program *tool_compile_program(const tool_call *call, bool *out_usage)
{
    return compile_model(call, NULL, out_usage);
}

int tool_profile(const tool_call *call)
{
    bool usage = false;
    mw_program *program = compile_model(call, NULL, &usage);
    if (program == NULL)
        return usage ? TOOL_USAGE : TOOL_FAILED;
    mw_program_run(program, call->err);
    mw_program_profile(program, (size_t)p.runs, call->err);
    for (long long i = 0; i < p.runs && call->err->status == MW_OK; i++)
        mw_program_run(program, call->err);
    mw_plan *plan = mw_plan_create(program, call->err);
    if (plan != NULL && p.plan == NULL)
        tool_say_engine_plan(plan, call);
    if (p.plan != NULL)
        mw_plan_write(plan, p.plan, call->err);
    if (p.trace != NULL)
        mw_plan_write_trace(plan, p.trace, call->err);
    mw_plan_destroy(plan);
    mw_program_destroy(program);
    return TOOL_DONE;
}
