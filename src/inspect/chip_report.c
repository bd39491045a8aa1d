/* Whether a chip takes a program: the core asks (mil/check), this gives the answer as an object and as text. */
#include "mil/check/report.h"

#include "base/memory/live.h"
#include "base/text/printable.h"

/* ---- the object ---- */

mw_chip_check_options mw_chip_check_defaults(void)
{
    return (mw_chip_check_options){.struct_size = sizeof(mw_chip_check_options)};
}

mw_chip_report *mw_chip_report_create(const mw_graph *graph, mw_chip chip, const mw_chip_check_options *options,
                                      mw_error *err)
{
    const mw_chip_check_options defaults = mw_chip_check_defaults();
    return mw__chip_report_create(graph, chip, options != NULL ? options : &defaults, __func__, err);
}

void mw_chip_report_destroy(mw_chip_report *report) { mw__chip_report_destroy(report, __func__); }

mw_chip_report_info mw_chip_report_get_info(const mw_chip_report *report)
{
    if (!mw__live_has(report, MW__LIVE_CHIP_REPORT))
        return (mw_chip_report_info){0};
    mw_chip_report_info info = {.passes = true, .finding_count = report->count};
    for (size_t i = 0; i < report->count; i++)
        info.passes = info.passes && report->findings[i]->verdict != MW_CHIP_REFUSED;
    return info;
}

const mw_chip_finding *mw_chip_report_finding_at(const mw_chip_report *report, size_t index)
{
    return mw__live_has(report, MW__LIVE_CHIP_REPORT) && index < report->count ? report->findings[index] : NULL;
}

const char *mw_chip_name(mw_chip chip)
{
    const mw__chip_row *row = mw__chip_find(chip);
    return row != NULL ? row->name : NULL;
}

bool mw_chip_from_name(const char *name, mw_chip *out)
{
    const mw__chip_row *row = name != NULL && out != NULL ? mw__chip_called(name) : NULL;
    if (row != NULL)
        *out = row->chip;
    return row != NULL;
}

/* ---- text ---- */

static const char *const verdicts[] = {"refused", "warned", "noted"};
static const char *const stages[] = {"validator", "lowering", "load", "run", "planner"};

/* Strings of the program may hold anything. */
static void put_name(mw__text *text, const char *before, const char *name, const char *after)
{
    mw__text_puts(text, before);
    mw__text_show(text, name, MW__PRINTABLE_NAME);
    mw__text_puts(text, after);
}

static void print_place(mw__text *text, const mw_chip_finding *finding)
{
    if (finding->operation != NULL)
        put_name(text, " ", finding->operation, "");
    if (finding->tensor != NULL)
        put_name(text, " \"", finding->tensor, "\"");
    if (finding->operand != NULL)
        put_name(text, " (\"", finding->operand, "\")");
    if (finding->text_line > 0)
        mw__text_printf(text, " at %d:%d", finding->text_line, finding->text_column);
}

static void print_finding(mw__text *text, const mw_chip_finding *finding)
{
    mw__text_puts(text, verdicts[finding->verdict]);
    print_place(text, finding);
    mw__text_puts(text, ": ");
    mw__text_show(text, finding->message, 512);
    mw__text_printf(text, "\n    rule %s, %s\n", finding->rule, stages[finding->stage]);
    if (finding->validator != NULL)
        mw__text_printf(text, "    Apple: %s\n", finding->validator);
    mw__text_printf(text, "    source: %s\n", finding->source);
    if (finding->rewrite != NULL)
        mw__text_printf(text, "    %s %s%s%s\n",
                        finding->rewritten ? "rewritten:" : "rewrite that may help:", finding->rewrite,
                        finding->reason != NULL ? ", " : "", finding->reason != NULL ? finding->reason : "");
    else if (finding->rewritten)
        mw__text_puts(text, "    rewritten\n");
}

static void print_report(mw__text *text, const mw_chip_report *report)
{
    size_t counts[3] = {0};
    for (size_t i = 0; i < report->count; i++)
        counts[report->findings[i]->verdict]++;
    mw__text_printf(text, "%s (%s)%s: %zu refused, %zu warned, %zu noted\n", report->chip->name,
                    report->chip->product[0] != '\0' ? report->chip->product : "in no Mac of its own",
                    report->judge == MW__JUDGE_COREML ? ", offered by Core ML" : "", counts[0], counts[1], counts[2]);
    for (size_t i = 0; i < report->count; i++)
        print_finding(text, report->findings[i]);
}

char *mw_chip_report_print(const mw_chip_report *report, mw_error *err)
{
    mw__text text;
    if (mw__skips(err))
        return NULL;
    if (report == NULL) {
        mw__fail(err, MW_ERROR_ARGUMENT, "%s: the report is NULL", __func__);
        return NULL;
    }
    if (mw__live_check(report, MW__LIVE_CHIP_REPORT, __func__, err) != MW_OK)
        return NULL;
    mw__text_init(&text, mw__allocator_default()); /* mw_string_free knows no other */
    print_report(&text, report);
    return mw__text_take(&text, err);
}
