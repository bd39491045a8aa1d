/* mw evaluate: how good a model is on data that says what is true. */
#include "tool/commands/commands.h"
#include "tool/predict/measure.h"

static struct {
    const char *report, *figures;
    long long worst;
} o = {.worst = 5};

const tool_option tool_evaluate_options[] = {
    {"figures", '\0', TOOL_TEXT, &o.figures, "names of figures (the usual ones of the task)", .argument = "A,B,.."},
    {"worst", '\0', TOOL_INTEGER, &o.worst, "examples that are farthest from the truth (5)", .argument = "N",
     .high = MEASURE_WORST_MAX},
    {"report", '\0', TOOL_TEXT, &o.report, "write a page, too", .argument = "FILE"},
    TOOL_OPTIONS(tool_raw_options),
    TOOL_OPTIONS_END,
};

static int evaluate(predicting *p)
{
    measure m;
    bool good = measure_open(&m, p, o.figures, (size_t)o.worst);
    if (good && o.report != NULL)
        measure_keep(&m, p);
    good = good && predicting_run(p, measure_take, &m);
    if (good)
        measure_say(&m, p);
    if (good && o.report != NULL) {
        good = measure_write_report(&m, p, o.report);
        if (good && p->call->json != NULL)
            mw__json_add_string(p->call->json, "report", o.report);
    }
    measure_close(&m);
    return good ? TOOL_DONE : TOOL_FAILED;
}

int tool_evaluate(const tool_call *call)
{
    predicting p = {.call = call};
    if (o.report != NULL)
        tool_check_place(o.report, call->err);
    int code = call->err->status == MW_OK ? predicting_open(&p, call, true) : TOOL_FAILED;
    if (code == TOOL_DONE)
        code = evaluate(&p);
    predicting_close(&p);
    return code;
}
