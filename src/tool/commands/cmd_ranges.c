/* mw ranges: which values of a model, or of a recipe's step, do not fit into fp16, and what fixed-point sums lose. */
#include "tool/commands/commands.h"
#include "tool/source.h"
#include "tool/train/recipe.h"

#include <stdlib.h>
#include <string.h>

static struct {
    const char *batch, *training, *data;
} o;

const tool_option tool_ranges_options[] = {
    {"training", '\0', TOOL_TEXT, &o.training, "the first step of this recipe of mw train, instead of a model",
     .argument = "RECIPE"},
    {"data", '\0', TOOL_TEXT, &o.data, "that of the recipe", .argument = "PATH", .needs = "training"},
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

static void json_product(mw__json_writer *json, const mw_range_product *p)
{
    mw__json_open(json, NULL, '{');
    mw__json_add_string(json, "operation", p->range->operation);
    mw__json_add_string(json, "tensor", p->range->tensor);
    mw__json_add_string(json, "part", p->part);
    mw__json_add_string(json, "x", p->operands[0]);
    mw__json_add_string(json, "y", p->operands[1]);
    mw__json_add_bool(json, "is_gradient", p->is_gradient);
    mw__json_add_integer(json, "results", (int64_t)p->results);
    mw__json_add_integer(json, "all_results", (int64_t)p->all_results);
    mw__json_add_integer(json, "products", (int64_t)p->products);
    mw__json_add_integer(json, "vanished", (int64_t)p->vanished);
    mw__json_add_integer(json, "dropped", (int64_t)p->dropped);
    mw__json_add_integer(json, "nonzero", (int64_t)p->nonzero);
    mw__json_add_integer(json, "zeroed", (int64_t)p->zeroed);
    mw__json_add_integer(json, "below_half", (int64_t)p->below_half);
    mw__json_add_integer(json, "below_unit", (int64_t)p->below_unit);
    mw__json_add_number(json, "error", p->error);
    mw__json_add_number(json, "peak", p->peak);
    mw__json_add_integer(json, "overflowed", (int64_t)p->overflowed);
    mw__json_add_integer(json, "overflowed_on_way", (int64_t)p->overflowed_on_way);
    mw__json_add_integer(json, "room", p->room);
    mw__json_add_integer(json, "wanted", p->wanted);
    mw__json_add_integer(json, "scale", p->scale);
    mw__json_add_string(json, "scaled", p->scale == 0 ? NULL : p->scaled < 0 ? "loss" : p->scaled == 0 ? "x" : "y");
    mw__json_add_bool(json, "is_stuck", p->is_stuck);
    mw__json_close(json, '}');
}

static void json_products(mw__json_writer *json, const mw_ranges *ranges, const mw_ranges_info *info)
{
    if (info->profile == NULL)
        return;
    mw__json_add_string(json, "profile", info->profile);
    mw__json_add_bool(json, "fixed_point", info->fixed_point);
    if (!info->fixed_point)
        return;
    mw__json_add_integer(json, "loss_scale", info->loss_scale);
    mw__json_open(json, "products", '[');
    for (size_t i = 0; i < info->product_count; i++)
        json_product(json, mw_ranges_product_at(ranges, i));
    mw__json_close(json, ']');
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
    json_products(call->json, ranges, &info);
}

/* As the options say. The device stays the CPU; the profile says whose products are counted. */
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

/* Says the report and frees it; NULL is fine. */
static int finish_ranges(mw_ranges *ranges, const tool_call *call)
{
    if (ranges == NULL)
        return TOOL_FAILED;
    const int code = mw_ranges_get_info(ranges).fits ? TOOL_DONE : TOOL_DIFFERS;
    say_ranges(ranges, call);
    mw_ranges_destroy(ranges);
    return code;
}

/* ---- a recipe's step ---- */

typedef struct step_look {
    const tool_call *call;
    int code;
} step_look;

static bool look_at_step(void *user, mw_trainer *trainer, const mw_batch *batch, mw_error *err)
{
    step_look *look = user;
    mw_ranges *ranges = mw_ranges_create_trainer(trainer, batch, err);
    look->code = finish_ranges(ranges, look->call);
    return ranges != NULL;
}

/* A profile is that of the ANE, whose form the step then has. */
static int measure_training(const tool_call *call, const mw_compile_options *options)
{
    step_look look = {.call = call, .code = TOOL_FAILED};
    const recipe_overrides over = {.data = o.data,
                                   .device = options->profile != NULL ? "ane" : tool_device(),
                                   .batch = tool_batch(),
                                   .threads = tool_given("threads") ? options->threads : -1,
                                   .seed = tool_given("seed") ? (long long)tool_seed() : -1,
                                   .compile = options,
                                   .look = look_at_step,
                                   .look_user = &look};
    const int code = recipe_build(o.training, &over, call);
    return code == TOOL_DONE ? look.code : code;
}

/* ---- a model ---- */

static int measure_file(const tool_call *call)
{
    int code;
    mw_graph *graph = tool_open_graph(call, &code);
    const mw_range_options options = asked();
    if (graph == NULL)
        return code;
    code = finish_ranges(mw_ranges_create(graph, &options, call->err), call);
    mw_graph_destroy(graph);
    return code;
}

static bool check_options(const tool_call *call, const mw_compile_options *given)
{
    if (call->count + (o.training != NULL) != 1) {
        tool_complain("ranges: one of FILE and --training RECIPE is expected");
        return false;
    }
    if (o.training == NULL && (given->device == MW_DEVICE_GPU || given->device == MW_DEVICE_ANE)) {
        tool_complain("ranges: --device is the CPU, whose fp32 shows what fp16 could not hold");
        return false;
    }
    if (o.training == NULL)
        return true;
    if (TOOL_REFUSE("with --training", "inputs", "cache", "shape", "extent", "function"))
        return false;
    if (given->profile != NULL && tool_device() != NULL && given->device != MW_DEVICE_ANE) {
        tool_complain("ranges: --profile %.60s is of a step on --device ane, not %.20s", given->profile, tool_device());
        return false;
    }
    return true;
}

int tool_ranges(const tool_call *call)
{
    mw_compile_options given;
    if (!tool_compile_options(&given) || !check_options(call, &given))
        return TOOL_USAGE;
    given.function = NULL;
    return o.training != NULL ? measure_training(call, &given) : measure_file(call);
}
