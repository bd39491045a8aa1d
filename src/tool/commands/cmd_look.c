/* mw info, mw ops, mw tensors: what is in a file, and what the library knows. */
#include "tool/commands/commands.h"
#include "tool/source.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

/* ---- info ---- */

static struct {
    bool weights, trainable;
} o;

const tool_option tool_info_options[] = {
    {"weights", 'w', TOOL_FLAG, &o.weights, "every weight, the largest first", .argument = NULL},
    {"trainable", '\0', TOOL_FLAG, &o.trainable, "what training takes of the weights, what not, and why",
     .argument = NULL},
    TOOL_OPTIONS(tool_reading_options),
    TOOL_OPTIONS_END,
};

static void say_description(const mw_model *model, const tool_call *call)
{
    const mw_description *d = mw_model_get_info(model).description;
    char *text = d != NULL ? mw_description_print(d, call->err) : NULL;
    if (text != NULL && call->json == NULL)
        tool_puts(text);
    if (d != NULL && call->json != NULL) {
        mw__json_add_string(call->json, "description", d->text);
        mw__json_add_string(call->json, "version", d->version);
        mw__json_add_string(call->json, "author", d->author);
        mw__json_add_string(call->json, "license", d->license);
    }
    mw_string_free(text);
}

static void say_port(const char *kind, const mw_tensor *tensor, const tool_call *call)
{
    char shape[128];
    if (call->json != NULL) {
        mw__json_open(call->json, NULL, '{');
        mw__json_add_string(call->json, "name", mw_tensor_name(tensor));
        mw__json_add_string(call->json, "dtype", mw_dtype_name(mw_tensor_dtype(tensor)));
        tool_json_shape(call->json, "shape", mw_tensor_shape(tensor));
        mw__json_close(call->json, '}');
        return;
    }
    tool_print("%-8s", kind);
    tool_show(mw_tensor_name(tensor));
    tool_print("  %s %s\n", mw_dtype_name(mw_tensor_dtype(tensor)),
               tool_shape(shape, sizeof shape, mw_tensor_shape(tensor)));
}

static void say_ports(const mw_graph *graph, const char *key, const char *kind,
                      mw_tensor *(*at)(const mw_graph *graph, size_t index), const tool_call *call)
{
    const mw_tensor *tensor;
    if (call->json != NULL)
        mw__json_open(call->json, key, '[');
    for (size_t i = 0; (tensor = at(graph, i)) != NULL; i++)
        say_port(kind, tensor, call);
    if (call->json != NULL)
        mw__json_close(call->json, ']');
}

static void say_weight(const mw_weight *weight, const tool_call *call)
{
    char shape[128], size[32];
    if (call->json != NULL) {
        mw__json_open(call->json, NULL, '{');
        mw__json_add_string(call->json, "name", weight->name);
        mw__json_add_string(call->json, "dtype", mw_dtype_name(weight->dtype));
        tool_json_shape(call->json, "shape", weight->shape);
        mw__json_add_integer(call->json, "bytes", (int64_t)weight->size);
        mw__json_add_string(call->json, "role", weight->role_name);
        mw__json_add_string(call->json, "obstacle", weight->obstacle);
        mw__json_close(call->json, '}');
        return;
    }
    tool_print("  %-10s %-10s ", tool_bytes(size, sizeof size, (double)weight->size), weight->role_name);
    tool_show(weight->name);
    tool_print("  %s %s%s", mw_dtype_name(weight->dtype), tool_shape(shape, sizeof shape, weight->shape),
               weight->obstacle != NULL ? "  not trainable: " : "");
    tool_show(weight->obstacle);
    tool_puts("\n");
}

/* What patterns with wildcards take, what only a whole name does, and what nothing does. */
static const char *trained_by(const mw_weight *weight)
{
    return weight->obstacle != NULL ? "never" : weight->reason != NULL ? "by name" : "yes";
}

static void say_trainable(const mw_weight *weight, const tool_call *call)
{
    char shape[128];
    const char *why = weight->obstacle != NULL ? weight->obstacle : weight->reason;
    if (call->json != NULL) {
        mw__json_open(call->json, NULL, '{');
        mw__json_add_string(call->json, "name", weight->name);
        tool_json_shape(call->json, "shape", weight->shape);
        mw__json_add_string(call->json, "role", weight->role_name);
        mw__json_add_string(call->json, "trained", trained_by(weight));
        mw__json_add_string(call->json, "layer", weight->layer);
        mw__json_add_integer(call->json, "depth", weight->depth);
        mw__json_add_string(call->json, "why", why);
        mw__json_close(call->json, '}');
        return;
    }
    tool_print("  %-8s %-10s %5d  ", trained_by(weight), weight->role_name, weight->depth);
    tool_show(weight->name);
    tool_print("  %s %s%s", mw_dtype_name(weight->dtype), tool_shape(shape, sizeof shape, weight->shape),
               weight->layer[0] != '\0' ? "  of " : "");
    tool_show(weight->layer);
    tool_puts(why != NULL ? "  " : "");
    if (why != NULL && weight->operation[0] != '\0')
        tool_print("%s of %s: ", weight->argument, weight->operation);
    tool_show(why);
    tool_puts("\n");
}

static void say_weights(const mw_graph *graph, const char *key, void (*say)(const mw_weight *, const tool_call *),
                        const tool_call *call)
{
    size_t count = 0;
    mw_graph_weights(graph, NULL, 0, &count, call->err);
    mw_weight *weights = calloc(count + 1, sizeof *weights);
    if (weights != NULL)
        mw_graph_weights(graph, weights, count, &count, call->err);
    if (call->json != NULL)
        mw__json_open(call->json, key, '[');
    for (size_t i = 0; weights != NULL && call->err->status == MW_OK && i < count; i++)
        say(&weights[i], call);
    if (call->json != NULL)
        mw__json_close(call->json, ']');
    free(weights);
}

static void say_functions(const mw_graph *graph, const tool_call *call)
{
    const char *name;
    const bool several = mw_graph_function_at(graph, 1) != NULL;
    if (call->json != NULL)
        mw__json_add_integer(call->json, "opset", mw_graph_opset(graph));
    else
        tool_print("opset   ios%d\n", (int)mw_graph_opset(graph));
    if (call->json != NULL)
        mw__json_open(call->json, "functions", '[');
    for (size_t i = 0; (name = mw_graph_function_at(graph, i)) != NULL; i++) {
        if (call->json != NULL)
            mw__json_add_string(call->json, NULL, name);
        else if (several)
            tool_print("function %s\n", name);
    }
    if (call->json != NULL)
        mw__json_close(call->json, ']');
}

/* Where an input admits several shapes, which. */
static void say_admitted(const mw_graph *graph, const tool_call *call)
{
    const mw_tensor *input;
    char low[128], high[128], standard[128];
    for (size_t i = 0; call->json == NULL && (input = mw_graph_input_at(graph, i)) != NULL; i++) {
        mw_admitted_shapes shapes;
        mw_error err = {0};
        if (mw_graph_admitted_shapes(graph, mw_tensor_name(input), &shapes, &err) != MW_OK ||
            shapes.kind == MW_ADMITS_ONE)
            continue;
        tool_puts("shapes  ");
        tool_show(mw_tensor_name(input));
        if (shapes.kind == MW_ADMITS_RANGES)
            tool_print("  from %s to %s", tool_shape(low, sizeof low, shapes.low),
                       tool_shape(high, sizeof high, shapes.high));
        else if (shapes.kind == MW_ADMITS_LISTED)
            tool_print("  one of %zu", shapes.count);
        else
            tool_print("  any for ?");
        if (shapes.has_standard)
            tool_print(", by default %s", tool_shape(standard, sizeof standard, shapes.standard));
        tool_puts("\n");
    }
}

int tool_info(const tool_call *call)
{
    bool usage;
    mw_error first = {0};
    mw_tensors *tensors = mw_tensors_open(call->arguments[0], &first);
    mw_tensors_destroy(tensors);
    if (tensors != NULL && TOOL_REFUSE("on a file of tensors", "weights", "shape", "extent", "function"))
        return TOOL_USAGE;
    if (tensors != NULL)
        return tool_tensors(call);
    if (first.status == MW_ERROR_UNSUPPORTED) { /* it is one, and says why it is not read */
        *call->err = first;
        return TOOL_FAILED;
    }
    mw_model *model = tool_open_model(call->arguments[0], false, call, &usage);
    if (model == NULL)
        return usage ? TOOL_USAGE : TOOL_FAILED;
    const mw_graph *graph = mw_model_get_info(model).graph;
    say_description(model, call);
    say_functions(graph, call);
    say_ports(graph, "inputs", "input", mw_graph_input_at, call);
    say_ports(graph, "outputs", "output", mw_graph_output_at, call);
    say_admitted(graph, call);
    tool_say_layers(graph, call);
    if (o.weights)
        say_weights(graph, "weights", say_weight, call);
    if (o.trainable && call->json == NULL)
        tool_print("  %-8s %-10s %5s  weight\n", "patterns", "role", "depth");
    if (o.trainable)
        say_weights(graph, "trainable", say_trainable, call);
    mw_model_destroy(model);
    return TOOL_DONE;
}

/* ---- ops ---- */

static const char *gradient_name(mw_operation_gradient gradient)
{
    return gradient == MW_GRADIENT_RULE ? "gradient" : gradient == MW_GRADIENT_ZERO ? "zero" : "none";
}

static void say_operation(size_t index, const mw_operation *operation, const tool_call *call)
{
    mw_operation_argument argument;
    if (call->json == NULL) {
        tool_print("%-32s ios%d  %-8s ", operation->name, (int)operation->since, gradient_name(operation->gradient));
        for (size_t i = 0; mw_operation_argument_at(index, i, &argument); i++)
            tool_print(argument.optional ? " [%s]" : " %s", argument.name);
        tool_puts("\n");
        return;
    }
    mw__json_open(call->json, NULL, '{');
    mw__json_add_string(call->json, "name", operation->name);
    mw__json_add_integer(call->json, "since", operation->since);
    mw__json_add_string(call->json, "gradient", gradient_name(operation->gradient));
    mw__json_open(call->json, "arguments", '[');
    for (size_t i = 0; mw_operation_argument_at(index, i, &argument); i++) {
        mw__json_open(call->json, NULL, '{');
        mw__json_add_string(call->json, "name", argument.name);
        mw__json_add_bool(call->json, "constant", argument.constant);
        mw__json_add_bool(call->json, "optional", argument.optional);
        mw__json_close(call->json, '}');
    }
    mw__json_close(call->json, ']');
    mw__json_close(call->json, '}');
}

int tool_ops(const tool_call *call)
{
    mw_operation operation;
    size_t shown = 0;
    const char *pattern = call->count > 0 ? call->arguments[0] : "*";
    if (call->json != NULL)
        mw__json_open(call->json, "operations", '[');
    for (size_t i = 0; mw_operation_at(i, &operation); i++) {
        if (fnmatch(pattern, operation.name, 0) != 0)
            continue;
        say_operation(i, &operation, call);
        shown++;
    }
    if (call->json != NULL)
        mw__json_close(call->json, ']');
    if (shown == 0)
        tool_complain("no operation matches \"%.100s\"", pattern);
    return shown > 0 ? TOOL_DONE : TOOL_FAILED;
}

/* ---- tensors ---- */

static struct {
    bool statistics;
    const char *pattern;
} t;

const tool_option tool_tensors_options[] = {
    {"statistics", 's', TOOL_FLAG, &t.statistics, "least, mean, largest of each", .argument = NULL},
    {"match", 'm', TOOL_TEXT, &t.pattern, "only names like this, as a shell would", .argument = "PATTERN"},
    TOOL_OPTIONS_END,
};

typedef struct statistics {
    double low, high, mean;
    size_t not_finite;
} statistics;

static statistics statistics_of(const float *values, size_t count)
{
    statistics s = {0};
    size_t finite = 0;
    for (size_t i = 0; i < count; i++) {
        const double v = (double)values[i];
        if (v - v != 0) {
            s.not_finite++;
            continue;
        }
        s.low = finite == 0 || v < s.low ? v : s.low;
        s.high = finite == 0 || v > s.high ? v : s.high;
        s.mean += v;
        finite++;
    }
    s.mean /= (double)(finite > 0 ? finite : 1);
    return s;
}

static void say_statistics(mw_tensors *tensors, const mw_tensor_info *info, const tool_call *call)
{
    const size_t count = (size_t)mw_shape_count(info->shape);
    float *values = malloc((count + 1) * sizeof *values);
    mw_error err = {0};
    if (values == NULL || mw_tensors_read(tensors, info->name, MW_F32, values, count, &err) != MW_OK) {
        if (call->json == NULL)
            tool_print("  %s", err.message);
        free(values);
        return;
    }
    const statistics s = statistics_of(values, count);
    free(values);
    if (call->json == NULL) {
        tool_print("  %.4g .. %.4g, mean %.4g", s.low, s.high, s.mean);
        if (s.not_finite > 0)
            tool_print(", %zu not finite", s.not_finite);
        return;
    }
    mw__json_add_number(call->json, "least", s.low);
    mw__json_add_number(call->json, "largest", s.high);
    mw__json_add_number(call->json, "mean", s.mean);
    mw__json_add_integer(call->json, "not_finite", (int64_t)s.not_finite);
}

static void say_tensor(mw_tensors *tensors, const mw_tensor_info *info, const tool_call *call)
{
    char shape[128], size[32];
    if (call->json != NULL) {
        mw__json_open(call->json, NULL, '{');
        mw__json_add_string(call->json, "name", info->name);
        mw__json_add_string(call->json, "dtype", mw_dtype_name(info->dtype));
        mw__json_add_string(call->json, "stored", info->stored);
        tool_json_shape(call->json, "shape", info->shape);
    } else {
        tool_print("%-10s ", tool_bytes(size, sizeof size, (double)info->size));
        tool_show(info->name);
        tool_print("  %s %s", info->stored, tool_shape(shape, sizeof shape, info->shape));
    }
    if (t.statistics)
        say_statistics(tensors, info, call);
    if (call->json != NULL)
        mw__json_close(call->json, '}');
    else
        tool_puts("\n");
}

static void say_notes(const mw_tensors *tensors, const tool_call *call)
{
    const mw_tensors_note *note;
    if (call->json != NULL)
        mw__json_open(call->json, "notes", '{');
    for (size_t i = 0; (note = mw_tensors_note_at(tensors, i)) != NULL; i++) {
        if (call->json != NULL) {
            mw__json_add_string(call->json, note->key, note->value);
            continue;
        }
        tool_puts("# ");
        tool_show(note->key);
        tool_puts(" = ");
        tool_show(note->value);
        tool_puts("\n");
    }
    if (call->json != NULL)
        mw__json_close(call->json, '}');
}

/* What the file has besides: it is said even if a pattern chose other tensors. */
static void say_left_out(const mw_tensors *tensors, const tool_call *call)
{
    const mw_tensors_note *item;
    if (call->json != NULL)
        mw__json_open(call->json, "left_out", '[');
    for (size_t i = 0; (item = mw_tensors_left_out_at(tensors, i)) != NULL; i++) {
        if (call->json == NULL) {
            tool_puts("left out: ");
            tool_show(item->key);
            tool_puts(": ");
            tool_show(item->value);
            tool_puts("\n");
            continue;
        }
        mw__json_open(call->json, NULL, '{');
        mw__json_add_string(call->json, "name", item->key);
        mw__json_add_string(call->json, "reason", item->value);
        mw__json_close(call->json, '}');
    }
    if (call->json != NULL)
        mw__json_close(call->json, ']');
}

int tool_tensors(const tool_call *call)
{
    mw_tensors *tensors = mw_tensors_open(call->arguments[0], call->err);
    const mw_tensor_info *info;
    double elements = 0, bytes = 0;
    bool matched = false;
    char number[32], size[32];
    if (tensors == NULL)
        return TOOL_FAILED;
    say_notes(tensors, call);
    if (call->json != NULL)
        mw__json_open(call->json, "tensors", '[');
    for (size_t i = 0; (info = mw_tensors_at(tensors, i)) != NULL; i++) {
        if (t.pattern != NULL && fnmatch(t.pattern, info->name, 0) != 0)
            continue;
        say_tensor(tensors, info, call);
        matched = true;
        elements += (double)mw_shape_count(info->shape);
        bytes += (double)info->size;
    }
    if (call->json != NULL) {
        mw__json_close(call->json, ']');
        say_left_out(tensors, call);
        mw__json_add_string(call->json, "format", mw_tensors_get_info(tensors).format);
        mw__json_add_number(call->json, "elements", elements);
        mw__json_add_number(call->json, "bytes", bytes);
    } else {
        say_left_out(tensors, call);
        tool_print("%s, %zu tensors, %s elements, %s\n", mw_tensors_get_info(tensors).format,
                   mw_tensors_get_info(tensors).count, tool_count(number, sizeof number, elements),
                   tool_bytes(size, sizeof size, bytes));
    }
    mw_tensors_destroy(tensors);
    if (matched || t.pattern == NULL)
        return TOOL_DONE;
    tool_complain("no tensor of %.200s matches \"%.100s\"", call->arguments[0], t.pattern);
    return TOOL_FAILED;
}
