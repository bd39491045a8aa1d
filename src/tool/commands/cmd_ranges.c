/* mw ranges: which values of a model do not fit into fp16. */
#include "tool/commands/commands.h"
#include "tool/source.h"

#include <stdlib.h>

static struct {
    const char *batch;
} o;

const tool_option tool_ranges_options[] = {
    {"inputs", '\0', TOOL_TEXT, &o.batch, "what it is fed: a safetensors file by names of inputs", .argument = "FILE"},
    TOOL_OPTIONS(tool_running_options),
    TOOL_OPTIONS(tool_drawing_options),
    TOOL_OPTIONS(tool_reading_options),
    TOOL_OPTIONS_END,
};

static void json_range(tool_json *json, const mw_range *range)
{
    tool_json_open(json, NULL, '{');
    tool_json_string(json, "operation", range->operation);
    tool_json_string(json, "tensor", range->tensor);
    tool_json_string(json, "parameter", range->parameter);
    tool_json_string(json, "dtype", mw_dtype_name(range->dtype));
    tool_json_shape(json, "shape", range->shape);
    tool_json_integer(json, "elements", (int64_t)range->count);
    tool_json_number(json, "smallest", range->smallest);
    tool_json_number(json, "largest", range->largest);
    tool_json_number(json, "max_absolute", range->max_absolute);
    tool_json_number(json, "min_absolute", range->min_absolute);
    tool_json_integer(json, "not_finite", (int64_t)range->not_finite);
    tool_json_integer(json, "overflowed", (int64_t)range->overflowed);
    tool_json_integer(json, "subnormal", (int64_t)range->subnormal);
    tool_json_integer(json, "lost", (int64_t)range->lost);
    tool_json_number(json, "headroom", range->headroom);
    tool_json_close(json, '}');
}

static void say_ranges(const mw_ranges *ranges, const tool_call *call)
{
    if (call->json == NULL) {
        char *text = mw_ranges_print(ranges, call->err);
        tool_puts(text != NULL ? text : "");
        mw_string_free(text);
        return;
    }
    tool_json_bool(call->json, "fits", mw_ranges_fit(ranges));
    tool_json_open(call->json, "values", '[');
    for (size_t i = 0; i < mw_ranges_count(ranges); i++)
        json_range(call->json, mw_ranges_worst(ranges, i));
    tool_json_close(call->json, ']');
}

/* As the options say; another device than the CPU is refused by the library. */
static mw_range_options asked(void)
{
    mw_range_options options = mw_range_defaults();
    const mw_compile_options standard = options.compile;
    tool_compile_options(&options.compile);
    options.compile.provider = standard.provider;
    if (options.compile.device == MW_DEVICE_AUTO)
        options.compile.device = standard.device;
    options.compile.function = NULL;
    options.batch_path = o.batch;
    options.seed = tool_seed();
    return options;
}

int tool_ranges(const tool_call *call)
{
    int code;
    mw_compile_options given;
    if (!tool_compile_options(&given) || TOOL_REFUSE("here: ranges are those of fp32 on the CPU", "profile"))
        return TOOL_USAGE;
    if (given.device == MW_DEVICE_GPU || given.device == MW_DEVICE_ANE) {
        tool_complain("ranges: --device is the CPU, whose fp32 shows what fp16 could not hold");
        return TOOL_USAGE;
    }
    mw_graph *graph = tool_open_graph(call, &code);
    const mw_range_options options = asked();
    mw_ranges *ranges = graph != NULL ? mw_program_ranges(graph, &options, call->err) : NULL;
    if (ranges != NULL) {
        code = mw_ranges_fit(ranges) ? TOOL_DONE : TOOL_DIFFERS;
        say_ranges(ranges, call);
    }
    mw_ranges_destroy(ranges);
    mw_graph_destroy(graph);
    return code;
}
