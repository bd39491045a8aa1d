/* mw check, mw plan, mw inspect: what is public about the ANE. */
#include "tool/commands/commands.h"
#include "tool/source.h"

#include <millwright/chip_all.h>

#include <string.h>

/* ---- check ---- */

static struct {
    const char *chip, *svg;
    bool as_it_is;
} o;

const tool_option tool_check_options[] = {
    {"chip", 'c', TOOL_TEXT, &o.chip, "m1 to m6, a13 to a18, h13 to h19, or any (any)", .argument = "CHIP"},
    {"as-it-is", '\0', TOOL_FLAG, &o.as_it_is, "the program as it stands, not as the library writes it",
     .argument = NULL},
    TOOL_OPTIONS(tool_reading_options),
    TOOL_OPTIONS_END,
};

static const char *verdict_name(mw_chip_verdict verdict)
{
    return verdict == MW_CHIP_REFUSED ? "refused" : verdict == MW_CHIP_WARNED ? "warned" : "noted";
}

static void json_finding(mw__json_writer *json, const mw_chip_finding *finding)
{
    mw__json_open(json, NULL, '{');
    mw__json_add_string(json, "rule", finding->rule);
    mw__json_add_string(json, "verdict", verdict_name(finding->verdict));
    mw__json_add_string(json, "operation", finding->operation);
    mw__json_add_string(json, "tensor", finding->tensor);
    mw__json_add_string(json, "message", finding->message);
    mw__json_add_string(json, "source", finding->source);
    mw__json_add_string(json, "rewrite", finding->rewrite);
    mw__json_add_bool(json, "rewritten", finding->rewritten);
    mw__json_add_integer(json, "line", finding->text_line);
    mw__json_close(json, '}');
}

static void say_report(const mw_chip_report *report, mw_chip chip, const tool_call *call)
{
    const mw_chip_finding *finding;
    const bool passes = mw_chip_report_get_info(report).passes;
    if (call->json == NULL) {
        char *text = mw_chip_report_print(report, call->err);
        tool_puts(text != NULL ? text : "");
        tool_print("%s: %s\n", mw_chip_name(chip), passes ? "takes it" : "refuses it");
        mw_string_free(text);
        return;
    }
    mw__json_add_string(call->json, "chip", mw_chip_name(chip));
    mw__json_add_bool(call->json, "passes", passes);
    mw__json_open(call->json, "findings", '[');
    for (size_t i = 0; (finding = mw_chip_report_finding_at(report, i)) != NULL; i++)
        json_finding(call->json, finding);
    mw__json_close(call->json, ']');
}

int tool_check(const tool_call *call)
{
    int code;
    mw_chip chip = MW_CHIP_AUTO;
    if (o.chip != NULL && !tool_parse_chip(o.chip, &chip))
        return TOOL_USAGE;
    mw_graph *graph = tool_open_graph(call, &code);
    mw_chip_check_options options = mw_chip_check_defaults();
    options.as_it_is = o.as_it_is;
    mw_chip_report *report = graph != NULL ? mw_chip_report_create(graph, chip, &options, call->err) : NULL;
    if (report != NULL) {
        say_report(report, chip, call);
        code = mw_chip_report_get_info(report).passes ? TOOL_DONE : TOOL_DIFFERS;
    }
    mw_chip_report_destroy(report);
    mw_graph_destroy(graph);
    return code;
}

/* ---- plan ---- */

const tool_option tool_plan_options[] = {
    {"chip", 'c', TOOL_TEXT, &o.chip, "of this chip's compiler: m1 to m6, a13 to a18, h13 to h19", .argument = "CHIP"},
    {"svg", '\0', TOOL_TEXT, &o.svg, "a picture of it", .argument = "FILE", .needs = "chip"},
    {"as-it-is", '\0', TOOL_FLAG, &o.as_it_is, "the program as it stands, not as the library writes it",
     .argument = NULL, .needs = "chip"},
    TOOL_OPTIONS(tool_running_options),
    TOOL_OPTIONS(tool_reading_options),
    TOOL_OPTIONS_END,
};

static int plan_of_chip(const tool_call *call)
{
    int code;
    mw_chip chip;
    if (!tool_parse_chip(o.chip, &chip))
        return TOOL_USAGE;
    mw_graph *graph = tool_open_graph(call, &code);
    mw_chip_plan_options options = mw_chip_plan_defaults();
    options.as_it_is = o.as_it_is;
    mw_chip_plan *plan = graph != NULL ? mw_chip_plan_create(graph, chip, &options, call->err) : NULL;
    if (plan != NULL) {
        char *text = (call->json != NULL ? mw_chip_plan_print_json : mw_chip_plan_print)(plan, call->err);
        if (call->json != NULL)
            mw__json_add_raw(call->json, "plan", text);
        else
            tool_puts(text != NULL ? text : "");
        mw_string_free(text);
        if (o.svg != NULL)
            mw_chip_plan_write_svg(plan, o.svg, call->err);
        code = TOOL_DONE;
    }
    mw_chip_plan_destroy(plan);
    mw_graph_destroy(graph);
    return code;
}

int tool_plan(const tool_call *call)
{
    bool usage = false;
    if (o.chip != NULL && TOOL_REFUSE("with --chip, which is no device", "device", "profile", "threads", "cache"))
        return TOOL_USAGE;
    if (o.chip != NULL)
        return plan_of_chip(call);
    mw_program *program = tool_compile_program(call, &usage);
    mw_plan *plan = program != NULL ? mw_plan_create(program, call->err) : NULL;
    if (plan != NULL)
        tool_say_engine_plan(plan, call);
    mw_plan_destroy(plan);
    mw_program_destroy(program);
    return usage ? TOOL_USAGE : TOOL_DONE;
}

/* ---- inspect ---- */

int tool_inspect(const tool_call *call)
{
    mw_hwx *hwx = mw_hwx_open(call->arguments[0], call->err);
    char *text = hwx != NULL ? (call->json != NULL ? mw_hwx_json : mw_hwx_text)(hwx, call->err) : NULL;
    if (call->json != NULL)
        mw__json_add_raw(call->json, "file", text);
    else
        tool_puts(text != NULL ? text : "");
    mw_string_free(text);
    mw_hwx_destroy(hwx);
    return text != NULL ? TOOL_DONE : TOOL_FAILED;
}
