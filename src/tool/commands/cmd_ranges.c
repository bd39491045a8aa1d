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

static void json_range(mw__json_writer *json, const mw_range *range)
{
    mw__json_open(json, NULL, '{');
    mw__json_add_string(json, "operation", range->operation);
    mw__json_add_string(json, "tensor", range->tensor);
    mw__json_add_string(json, "parameter", range->parameter);
    mw__json_add_string(json, "dtype", mw_dtype_name(range->dtype));
    tool_json_shape(json, "shape", range->shape);
    mw__json_add_integer(json, "elements", (int64_t)range->count);
    mw__json_add_number(json, "smallest", range->smallest);
    mw__json_add_number(json, "largest", range->largest);
    mw__json_add_number(json, "max_absolute", range->max_absolute);
    mw__json_add_number(json, "min_absolute", range->min_absolute);
    mw__json_add_integer(json, "not_finite", (int64_t)range->not_finite);
    mw__json_add_integer(json, "overflowed", (int64_t)range->overflowed);
    mw__json_add_integer(json, "subnormal", (int64_t)range->subnormal);
    mw__json_add_integer(json, "lost", (int64_t)range->lost);
    mw__json_add_number(json, "headroom", range->headroom);
    mw__json_close(json, '}');
}

static void say_ranges(const mw_ranges *ranges, const tool_call *call)
{
    if (call->json == NULL) {
        char *text = mw_ranges_print(ranges, call->err);
        tool_puts(text != NULL ? text : "");
        mw_string_free(text);
        return;
    }
    const mw_ranges_info info = mw_ranges_get_info(ranges);
    mw__json_add_bool(call->json, "fits", info.fits);
    mw__json_open(call->json, "values", '[');
    for (size_t i = 0; i < info.count; i++)
        json_range(call->json, mw_ranges_worst_at(ranges, i));
    mw__json_close(call->json, ']');
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
    mw_ranges *ranges = graph != NULL ? mw_ranges_create(graph, &options, call->err) : NULL;
    if (ranges != NULL) {
        code = mw_ranges_get_info(ranges).fits ? TOOL_DONE : TOOL_DIFFERS;
        say_ranges(ranges, call);
    }
    mw_ranges_destroy(ranges);
    mw_graph_destroy(graph);
    return code;
}
