/* mw check, mw plan: what is public about the ANE. */
#include "tool/commands/commands.h"
#include "tool/source.h"

#include <millwright/chip_all.h>

#include <string.h>

/* ---- check ---- */

static struct {
    const char *chip, *judge, *svg;
    bool as_it_is, time;
} o;

const tool_option tool_check_options[] = {
    {"chip", 'c', TOOL_TEXT, &o.chip, "m1 to m6, a13 to a18, h13 to h19, or any (any)", .argument = "CHIP"},
    {"judge", '\0', TOOL_TEXT, &o.judge, "who takes it: direct, the ANE's compiler, or coreml, the planner (direct)",
     .argument = "JUDGE"},
    {"as-it-is", '\0', TOOL_FLAG, &o.as_it_is, "the program as it stands, not as the library writes it",
     .argument = NULL},
    TOOL_OPTIONS(tool_reading_options),
    TOOL_OPTIONS_END,
};

static bool parse_judge(const char *text, mw_chip_judge *out)
{
    const bool coreml = strcmp(text, "coreml") == 0;
    *out = coreml ? MW_CHIP_JUDGE_COREML : MW_CHIP_JUDGE_DIRECT;
    if (coreml || strcmp(text, "direct") == 0)
        return true;
    tool_complain("--judge %.60s is neither direct nor coreml", text);
    return false;
}

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

/* Whether the chip takes the program, in the words of who was asked. */
static const char *answer_of(bool passes, mw_chip_judge judge)
{
    if (judge == MW_CHIP_JUDGE_COREML)
        return passes ? "Core ML offers all of it to the ANE" : "Core ML leaves a part of it to the CPU";
    return passes ? "takes it" : "refuses it";
}

static void say_report(const mw_chip_report *report, mw_chip chip, mw_chip_judge judge, const tool_call *call)
{
    const mw_chip_finding *finding;
    const bool passes = mw_chip_report_get_info(report).passes;
    if (call->json == NULL) {
        char *text = mw_chip_report_print(report, call->err);
        tool_puts(text != NULL ? text : "");
        tool_print("%s: %s\n", mw_chip_name(chip), answer_of(passes, judge));
        mw_string_free(text);
        return;
    }
    mw__json_add_string(call->json, "chip", mw_chip_name(chip));
    mw__json_add_string(call->json, "judge", judge == MW_CHIP_JUDGE_COREML ? "coreml" : "direct");
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
    mw_chip_check_options options = mw_chip_check_defaults();
    options.as_it_is = o.as_it_is;
    if ((o.chip != NULL && !tool_parse_chip(o.chip, &chip)) ||
        (o.judge != NULL && !parse_judge(o.judge, &options.judge)))
        return TOOL_USAGE;
    mw_graph *graph = tool_open_graph(call, &code);
    mw_chip_report *report = graph != NULL ? mw_chip_report_create(graph, chip, &options, call->err) : NULL;
    if (report != NULL) {
        say_report(report, chip, options.judge, call);
        code = mw_chip_report_get_info(report).passes ? TOOL_DONE : TOOL_DIFFERS;
    }
    mw_chip_report_destroy(report);
    mw_graph_destroy(graph);
    return code;
}

/* ---- plan ---- */

const tool_option tool_plan_options[] = {
    {"chip", 'c', TOOL_TEXT, &o.chip, "of this chip's compiler: m1 to m6, a13 to a18, h13 to h19", .argument = "CHIP"},
    {"time", '\0', TOOL_FLAG, &o.time, "what a run takes on m1, m4, m5 and m6, or on that chip, as ranges",
     .argument = NULL},
    {"svg", '\0', TOOL_TEXT, &o.svg, "a picture of it", .argument = "FILE", .needs = "chip"},
    {"as-it-is", '\0', TOOL_FLAG, &o.as_it_is, "the program as it stands, not as the library writes it",
     .argument = NULL, .needs = "chip"},
    TOOL_OPTIONS(tool_running_options),
    TOOL_OPTIONS(tool_reading_options),
    TOOL_OPTIONS_END,
};

static mw_chip_plan *make_plan(const mw_graph *graph, mw_chip chip, const tool_call *call)
{
    mw_chip_plan_options options = mw_chip_plan_defaults();
    options.as_it_is = o.as_it_is;
    return graph != NULL ? mw_chip_plan_create(graph, chip, &options, call->err) : NULL;
}

static void say_plan(const mw_chip_plan *plan, const tool_call *call)
{
    char *text = call->json != NULL ? mw_chip_plan_print_json(plan, call->err)
                 : o.time           ? mw_chip_plan_print_time(plan, call->err)
                                    : mw_chip_plan_print(plan, call->err);
    if (call->json != NULL)
        mw__json_add_raw(call->json, "plan", text);
    else
        tool_puts(text != NULL ? text : "");
    mw_string_free(text);
}

static int plan_of_chip(const tool_call *call)
{
    int code;
    mw_chip chip;
    if (!tool_parse_chip(o.chip, &chip))
        return TOOL_USAGE;
    mw_graph *graph = tool_open_graph(call, &code);
    mw_chip_plan *plan = make_plan(graph, chip, call);
    if (plan != NULL) {
        say_plan(plan, call);
        if (o.svg != NULL)
            mw_chip_plan_write_svg(plan, o.svg, call->err);
        code = TOOL_DONE;
    }
    mw_chip_plan_destroy(plan);
    mw_graph_destroy(graph);
    return code;
}

/* ---- time ---- */

static void json_time(mw__json_writer *json, const mw_chip_time *time)
{
    mw__json_open(json, NULL, '{');
    mw__json_add_string(json, "name", time->name);
    mw__json_add_number(json, "low_us", time->low_us);
    mw__json_add_number(json, "high_us", time->high_us);
    mw__json_add_string(json, "basis", mw_chip_time_basis_name(time->basis));
    mw__json_add_string(json, "source", time->source);
    mw__json_close(json, '}');
}

static void say_time(const mw_chip_plan *plan, mw_chip chip, const tool_call *call)
{
    if (call->json == NULL) {
        say_plan(plan, call);
        return;
    }
    const mw_chip_time *time;
    mw__json_open(call->json, mw_chip_name(chip), '[');
    for (size_t i = 0; (time = mw_chip_plan_time_at(plan, i)) != NULL; i++)
        json_time(call->json, time);
    mw__json_close(call->json, ']');
}

/* A plan is of one chip, as its limits are: one for each that was measured. */
static int time_of_chips(const tool_call *call)
{
    static const mw_chip chips[] = {MW_CHIP_H13, MW_CHIP_H16, MW_CHIP_H17, MW_CHIP_H18G};
    int code;
    mw_chip only = MW_CHIP_AUTO;
    if (o.chip != NULL && !tool_parse_chip(o.chip, &only))
        return TOOL_USAGE;
    mw_graph *graph = tool_open_graph(call, &code);
    const size_t count = o.chip != NULL ? 1 : sizeof chips / sizeof *chips;
    for (size_t i = 0; graph != NULL && i < count; i++) {
        const mw_chip chip = o.chip != NULL ? only : chips[i];
        mw_chip_plan *plan = make_plan(graph, chip, call);
        if (plan != NULL)
            say_time(plan, chip, call), code = TOOL_DONE;
        mw_chip_plan_destroy(plan);
    }
    mw_graph_destroy(graph);
    return code;
}

int tool_plan(const tool_call *call)
{
    bool usage = false;
    if (o.chip != NULL && TOOL_REFUSE("with --chip, which is no device", "device", "profile", "threads", "cache"))
        return TOOL_USAGE;
    if (o.time && TOOL_REFUSE("with --time, which is of chips", "device", "profile", "threads", "cache", "svg"))
        return TOOL_USAGE;
    if (o.time)
        return time_of_chips(call);
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
