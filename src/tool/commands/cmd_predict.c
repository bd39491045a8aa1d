/* mw predict: what a model makes of raw data, as a table. */
#include "tool/commands/commands.h"
#include "tool/predict/predicting.h"
#include "tool/predict/rows.h"

static struct {
    const char *out;
    long long top, rows;
    bool all;
} o = {.top = 1, .rows = 20};

const tool_option tool_predict_options[] = {
    {"out", 'o', TOOL_TEXT, &o.out, "all predictions: " ROWS_ENDINGS, .argument = "FILE"},
    {"top", '\0', TOOL_INTEGER, &o.top, "so many of the likeliest classes (1)", .argument = "N", .low = 1,
     .high = 65536},
    {"all", '\0', TOOL_FLAG, &o.all, "the probability of every class, too", .argument = NULL},
    {"rows", '\0', TOOL_INTEGER, &o.rows, "that are printed without --out (20)", .argument = "N", .high = 1e9},
    TOOL_OPTIONS(tool_raw_options),
    TOOL_OPTIONS_END,
};

static bool take_piece(void *user, const predicting *p, const raw_piece *piece, const float *numbers)
{
    char name[64];
    rows *out = user;
    for (int64_t i = 0; i < piece->examples; i++) {
        const rows_row row = {raw_name(&p->data, piece, i, name, sizeof name), numbers + i * p->answer.width};
        if (!rows_add(out, &row))
            return false;
    }
    return true;
}

static void say_end(const predicting *p)
{
    char rate[128];
    predicting_say_rate(p, rate, sizeof rate);
    if (p->call->json != NULL && o.out != NULL)
        mw__json_add_string(p->call->json, "out", o.out);
    else if (p->call->json == NULL && o.out != NULL)
        tool_print("%s  %s\n", o.out, rate);
    else if (p->call->json == NULL && !p->call->quiet && tool_is_terminal(stderr))
        tool_complain("%s", rate);
}

static int predict(predicting *p)
{
    rows out;
    const rows_settings settings = {.top = o.top, .all = o.all, .most = o.rows};
    const bool good = rows_open(&out, &p->answer, &settings, o.out, p->call) && predicting_run(p, take_piece, &out) &&
                      rows_finish(&out);
    rows_close(&out);
    if (good)
        say_end(p);
    return good ? TOOL_DONE : TOOL_FAILED;
}

/* What has no effect. */
static bool check_options(const predicting *p)
{
    if (p->answer.task != ANSWER_CLASSES &&
        TOOL_REFUSE("on a model that does not answer one class of several", "top", "all"))
        return false;
    return true;
}

static bool check_place(const tool_call *call)
{
    if (o.out == NULL)
        return true;
    if (TOOL_REFUSE("with --out, which takes all rows", "rows"))
        return false;
    if (rows_find_format(o.out) == NULL) {
        tool_complain("--out %.200s: predictions are written as " ROWS_ENDINGS, o.out);
        return false;
    }
    tool_check_place(o.out, call->err);
    return true;
}

int tool_predict(const tool_call *call)
{
    predicting p = {.call = call};
    if (!check_place(call))
        return TOOL_USAGE;
    if (call->err->status != MW_OK)
        return TOOL_FAILED;
    int code = predicting_open(&p, call, false);
    if (code == TOOL_DONE)
        code = check_options(&p) ? predict(&p) : TOOL_USAGE;
    predicting_close(&p);
    return code;
}
