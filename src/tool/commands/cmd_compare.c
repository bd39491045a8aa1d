/* mw compare, mw gradcheck: whether numbers are right. */
#include "tool/commands/commands.h"
#include "tool/inputs.h"
#include "tool/show/results.h"
#include "tool/source.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- compare ---- */

static struct {
    double relative, absolute;
    const char *against, *batch, *save;
    bool outputs;
} o = {.relative = -1, .absolute = -1};

const tool_option tool_compare_options[] = {
    {"relative", '\0', TOOL_NUMBER, &o.relative, "tolerance, as a part of the largest element (2^-7)", .argument = "X",
     .high = 1e30},
    {"absolute", '\0', TOOL_NUMBER, &o.absolute, "tolerance that is added (2^-14)", .argument = "X", .high = 1e30},
    {"against", '\0', TOOL_TEXT, &o.against, "a profile for the first side, instead of the CPU", .argument = "NAME"},
    {"inputs", '\0', TOOL_TEXT, &o.batch, "what both are fed: a safetensors file by names of inputs",
     .argument = "FILE"},
    {"save-inputs", '\0', TOOL_TEXT, &o.save, "keep what both were fed", .argument = "FILE"},
    {"outputs", '\0', TOOL_FLAG, &o.outputs, "whole programs only, not operation by operation", .argument = NULL},
    TOOL_OPTIONS(tool_running_options),
    TOOL_OPTIONS(tool_drawing_options),
    TOOL_OPTIONS(tool_reading_options),
    TOOL_OPTIONS_END,
};

static void json_difference(mw__json_writer *json, const char *key, const mw_difference *d)
{
    mw__json_open(json, key, '{');
    mw__json_add_bool(json, "compared", d->compared);
    mw__json_add_integer(json, "beyond", (int64_t)d->beyond);
    mw__json_add_number(json, "max_absolute", d->max_absolute);
    mw__json_add_number(json, "max_relative", d->max_relative);
    mw__json_add_number(json, "tolerance", d->tolerance);
    mw__json_close(json, '}');
}

static void json_compared(mw__json_writer *json, const char *key, const mw_compared *compared)
{
    if (compared == NULL) {
        mw__json_add_null(json, key);
        return;
    }
    mw__json_open(json, key, '{');
    mw__json_add_string(json, "operation", compared->operation);
    mw__json_add_string(json, "tensor", compared->tensor);
    mw__json_add_string(json, "parameter", compared->parameter);
    json_difference(json, "local", &compared->local);
    json_difference(json, "accumulated", &compared->accumulated);
    mw__json_close(json, '}');
}

static void say_comparison(const mw_comparison *comparison, const tool_call *call)
{
    const mw_comparison_info info = mw_comparison_get_info(comparison);
    if (call->json != NULL) {
        mw__json_add_string(call->json, "reference", info.where[0]);
        mw__json_add_string(call->json, "device", info.where[1]);
        mw__json_add_bool(call->json, "passes", info.passes);
        mw__json_add_integer(call->json, "compared", (int64_t)info.count);
        json_compared(call->json, "first", o.outputs ? info.first_accumulated : info.first_local);
        return;
    }
    char *text = mw_comparison_print(comparison, call->err);
    tool_puts(text != NULL ? text : "");
    mw_string_free(text);
}

static mw_compare_options sides(void)
{
    mw_compare_options options = mw_compare_defaults();
    const mw_compile_options standard = options.device;
    tool_compile_options(&options.device);
    if (options.device.device == MW_DEVICE_AUTO)
        options.device.device = standard.device;
    options.reference.threads = options.device.threads;
    options.reference.seed = options.device.seed;
    options.device.function = NULL;
    options.reference.profile = o.against;
    options.reference.device = o.against != NULL ? MW_DEVICE_ANE : options.reference.device;
    options.relative = o.relative >= 0 ? o.relative : options.relative;
    options.absolute = o.absolute >= 0 ? o.absolute : options.absolute;
    options.seed = tool_seed();
    options.batch_path = o.batch;
    options.accumulated_only = o.outputs;
    return options;
}

static int compare_devices(const tool_call *call)
{
    int code;
    mw_graph *graph = tool_open_graph(call, &code);
    const mw_compare_options options = sides();
    mw_comparison *comparison = graph != NULL ? mw_comparison_create(graph, &options, call->err) : NULL;
    if (comparison != NULL) {
        code = mw_comparison_get_info(comparison).passes ? TOOL_DONE : TOOL_DIFFERS;
        say_comparison(comparison, call);
        if (o.save != NULL)
            mw_comparison_save_batch(comparison, o.save, call->err);
    }
    mw_comparison_destroy(comparison);
    mw_graph_destroy(graph);
    return code;
}

/* ---- two models ---- */

typedef struct side {
    mw_model *model;
    tool_inputs inputs;
    tool_results results;
} side;

static bool run_side(side *s, const char *path, int64_t examples, const tool_call *call, bool *usage)
{
    s->model = tool_open_model(path, true, call, usage);
    if (s->model == NULL)
        return false;
    examples = examples > 0 ? examples : mw_model_batch(s->model);
    mw_predictor *predictor = mw_predictor_create(s->model, call->err);
    if (predictor != NULL && tool_inputs_draw(&s->inputs, s->model, examples, tool_seed(), call->err) &&
        tool_results_make(&s->results, s->model, examples, call->err)) {
        const mw_batch batch = tool_inputs_batch(&s->inputs);
        mw_predictor_predict(predictor, &batch, s->results.results, s->results.count, call->err);
    }
    mw_predictor_destroy(predictor);
    return call->err->status == MW_OK;
}

static void free_side(side *s)
{
    tool_results_free(&s->results);
    tool_inputs_free(&s->inputs);
    mw_model_destroy(s->model);
}

/* The largest difference as a part of the largest element; infinity where a number stands beside none. */
static double difference_of(const mw_result *a, const mw_result *b)
{
    const float *x = a->data, *y = b->data;
    double largest = 0, apart = 0;
    for (size_t i = 0; i < a->count; i++) {
        const double d = fabs((double)x[i] - (double)y[i]);
        if (isnan(x[i]) && isnan(y[i]))
            continue;
        apart = x[i] == y[i] ? apart : d <= apart ? apart : isnan(d) ? INFINITY : d;
        largest = isfinite(x[i]) ? fmax(largest, fabs((double)x[i])) : largest;
    }
    return apart == 0 ? 0 : largest > 0 ? apart / largest : INFINITY;
}

/* By name, else by place. */
static const mw_result *partner_of(const tool_results *results, const char *name, size_t place)
{
    for (size_t i = 0; i < results->count; i++) {
        if (strcmp(results->results[i].name, name) == 0)
            return &results->results[i];
    }
    return place < results->count ? &results->results[place] : NULL;
}

static bool say_result(const mw_result *a, const mw_result *b, double tolerance, const tool_call *call)
{
    const bool alike = b != NULL && a->count == b->count;
    const double d = alike ? difference_of(a, b) : INFINITY;
    const bool good = d <= tolerance;
    if (call->json != NULL) {
        mw__json_open(call->json, NULL, '{');
        mw__json_add_string(call->json, "name", a->name);
        mw__json_add_number(call->json, "difference", d);
        mw__json_add_bool(call->json, "passes", good);
        mw__json_close(call->json, '}');
    } else {
        tool_show(a->name);
        if (alike)
            tool_print("  differs by %.3g of its largest element; %.3g are allowed: %s\n", d, tolerance,
                       good ? "passes" : "differs");
        else
            tool_puts("  the other model has no result of its size\n");
    }
    return good;
}

static bool say_sides(const side *a, const side *b, double tolerance, const tool_call *call)
{
    bool good = true;
    if (call->json != NULL)
        mw__json_open(call->json, "results", '[');
    for (size_t i = 0; i < a->results.count; i++) {
        const mw_result *result = &a->results.results[i];
        good = say_result(result, partner_of(&b->results, result->name, i), tolerance, call) && good;
    }
    if (call->json != NULL) {
        mw__json_close(call->json, ']');
        mw__json_add_bool(call->json, "passes", good);
    }
    return good;
}

int tool_compare_files(const char *first, const char *second, bool written, double tolerance, const tool_call *call)
{
    side a = {0}, b = {0};
    bool usage = false;
    int code = TOOL_FAILED;
    bool good = run_side(&a, first, 0, call, &usage);
    if (written)
        tool_source_as_written();
    good = good && run_side(&b, second, mw_model_batch(a.model), call, &usage);
    if (good)
        code = say_sides(&a, &b, tolerance, call) ? TOOL_DONE : TOOL_DIFFERS;
    free_side(&a);
    free_side(&b);
    return usage ? TOOL_USAGE : code;
}

int tool_compare(const tool_call *call)
{
    mw_compile_options asked;
    if (call->count == 1) {
        if (!tool_compile_options(&asked) || (asked.device == MW_DEVICE_CPU && !tool_check_device()))
            return TOOL_USAGE;
        return compare_devices(call);
    }
    if (TOOL_REFUSE("on two models", "absolute", "against", "inputs", "save-inputs", "outputs") || !tool_check_device())
        return TOOL_USAGE;
    return tool_compare_files(call->arguments[0], call->arguments[1], false, o.relative >= 0 ? o.relative : 1e-5, call);
}

/* ---- gradcheck ---- */

static struct {
    const char **layers;
    double tolerance;
    long long elements;
} g = {.tolerance = -1};

const tool_option tool_gradcheck_options[] = {
    {"layers", 'l', TOOL_LIST, &g.layers, "weights by name, as a shell would ('*')", .argument = "PATTERN"},
    {"tolerance", '\0', TOOL_NUMBER, &g.tolerance, "relative (1e-3)", .argument = "X", .high = 1e30},
    {"elements", '\0', TOOL_INTEGER, &g.elements, "that are checked one by one in each tensor (64)", .argument = "N",
     .low = 1, .high = 1 << 30},
    TOOL_OPTIONS(tool_running_options),
    TOOL_OPTIONS(tool_drawing_options),
    TOOL_OPTIONS(tool_reading_options),
    TOOL_OPTIONS_END,
};

static mw_graph *trainable(const mw_graph *graph, mw_error *err)
{
    static const char *const all[] = {"*"};
    size_t count = 0;
    while (g.layers != NULL && g.layers[count] != NULL)
        count++;
    mw_tune_options options = mw_tune_defaults(count > 0 ? g.layers : all, count > 0 ? count : 1);
    options.skip_fixed = true;
    return mw_graph_trainable(graph, &options, err);
}

/* Parameters, then the inputs that are no indices. To be freed; NULL without memory. */
static mw_tensor **list_leaves(mw_graph *graph, size_t *out_count, mw_error *err)
{
    size_t found = 0, count = 0, inputs = 0;
    mw_tensor *input;
    mw_graph_weights(graph, NULL, 0, &found, err);
    while (mw_graph_input_at(graph, inputs) != NULL)
        inputs++;
    mw_weight *weights = calloc(found + 1, sizeof *weights);
    mw_tensor **out = weights != NULL ? calloc(found + inputs + 1, sizeof *out) : NULL;
    if (out != NULL)
        mw_graph_weights(graph, weights, found, NULL, err);
    for (size_t i = 0; out != NULL && i < found; i++) {
        mw_tensor *leaf = weights[i].is_parameter ? mw_graph_find(graph, weights[i].name) : NULL;
        if (leaf != NULL)
            out[count++] = leaf;
    }
    for (size_t i = 0; out != NULL && (input = mw_graph_input_at(graph, i)) != NULL; i++) {
        const mw_dtype dtype = mw_tensor_dtype(input);
        if (dtype == MW_F32 || dtype == MW_F16)
            out[count++] = input;
    }
    free(weights);
    *out_count = count;
    return out;
}

static void say_report(const mw_gradcheck_report *report, size_t leaves, const tool_call *call)
{
    if (call->json != NULL) {
        mw__json_add_bool(call->json, "passes", report->passed);
        mw__json_add_integer(call->json, "tensors", (int64_t)leaves);
        mw__json_add_integer(call->json, "checked", (int64_t)report->checked);
        mw__json_add_integer(call->json, "skipped", (int64_t)report->skipped);
        mw__json_add_string(call->json, "tensor", report->tensor);
        mw__json_add_integer(call->json, "index", report->index);
        mw__json_add_number(call->json, "analytic", report->analytic);
        mw__json_add_number(call->json, "numeric", report->numeric);
        mw__json_add_number(call->json, "allowed", report->allowed);
        return;
    }
    tool_print("%zu tensors, %zu comparisons, %zu skipped at kinks: %s\nworst: ", leaves, report->checked,
               report->skipped, report->passed ? "passes" : "differs");
    tool_show(report->tensor[0] != '\0' ? report->tensor : "a direction");
    if (report->index >= 0)
        tool_print(" element %lld", (long long)report->index);
    else if (report->tensor[0] != '\0')
        tool_puts(" along its gradient");
    tool_print(": gradient %.6g, by differences %.6g, %.2g apart, %.2g allowed\n", report->analytic, report->numeric,
               report->error, report->allowed);
}

static int check_gradients(mw_graph *graph, const tool_call *call)
{
    size_t count = 0;
    tool_inputs inputs = {0};
    mw_gradcheck_report report = {0};
    mw_tensor **leaves = list_leaves(graph, &count, call->err);
    if (leaves == NULL || !tool_inputs_draw_graph(&inputs, graph, tool_seed(), call->err)) {
        tool_inputs_free(&inputs);
        free(leaves);
        return TOOL_FAILED;
    }
    mw_gradcheck_options options = mw_gradcheck_defaults(mw_graph_output_at(graph, 0), leaves, count);
    const mw_batch batch = tool_inputs_batch(&inputs);
    options.batch = &batch;
    options.tolerance = g.tolerance >= 0 ? g.tolerance : options.tolerance;
    options.elements = g.elements > 0 ? (size_t)g.elements : options.elements;
    options.seed = tool_seed();
    tool_compile_options(&options.compile);
    options.compile.function = NULL;
    mw_gradcheck_run(&options, &report, call->err);
    tool_inputs_free(&inputs);
    free(leaves);
    if (report.checked == 0)
        return TOOL_FAILED;
    say_report(&report, count, call);
    if (!report.passed)
        mw_error_clear(call->err); /* it is the answer, not a failure */
    return report.passed ? TOOL_DONE : TOOL_DIFFERS;
}

int tool_gradcheck(const tool_call *call)
{
    int code;
    if (!tool_check_device())
        return TOOL_USAGE;
    mw_graph *graph = tool_open_graph(call, &code);
    mw_graph *copy = graph != NULL ? trainable(graph, call->err) : NULL;
    if (copy != NULL)
        code = check_gradients(copy, call);
    mw_graph_destroy(copy);
    mw_graph_destroy(graph);
    return code;
}
