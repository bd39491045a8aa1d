/* What holds of the program as it stands, and what is left of it when mw_program_create has
 * written it for the chip. */
#include "base/memory/live.h"
#include "base/number/float_mode.h"
#include "base/text/string.h"
#include "mil/check/form.h"
#include "mil/check/report.h"
#include "mil/legalize/numbers/overflow.h"
#include "rules/arithmetic.h"

#include <string.h>

/* ---- what is left of it ---- */

/* The finding of that rule at that place. */
static mw__finding *find_finding(const mw__findings *findings, const mw_chip_finding *wanted)
{
    for (mw__finding *f = findings->first; f != NULL; f = f->next)
        if (!f->matched && f->public.rule == wanted->rule && mw__string_equal(f->public.operation, wanted->operation) &&
            (wanted->operation == NULL && wanted->tensor == NULL ? true
                                                                 : mw__string_equal(f->public.tensor, wanted->tensor)))
            return f;
    return NULL;
}

static void note_rewritten(mw__findings *before, const mw__findings *after)
{
    for (mw__finding *f = before->first; f != NULL; f = f->next) {
        mw__finding *left = find_finding(after, &f->public);
        if (left != NULL) {
            left->matched = true;
            continue;
        }
        f->public.verdict = MW_CHIP_NOTED;
        f->public.rewritten = true;
    }
}

/* The program cannot be written in another form, and why. */
static mw_status add_failure(mw__findings *findings, mw__arena *arena, const mw_error *why, mw_error *err)
{
    static const mw__legality_row row = {.id = "no_form",
                                         .stage = MW__STAGE_VALIDATOR,
                                         .verdict = MW__REFUSED,
                                         .rule = "",
                                         .source =
                                             "mw_program_create, which refuses it before the chip's compiler sees it"};
    mw__finding *finding = mw__findings_add(findings, arena, &row, why->message, err);
    if (finding == NULL)
        return MW_ERROR_MEMORY;
    finding->public.operation = mw__arena_keep(arena, why->operation[0] != '\0' ? why->operation : NULL, err);
    finding->public.tensor = mw__arena_keep(arena, why->tensor[0] != '\0' ? why->tensor : NULL, err);
    finding->public.text_line = why->text_line;
    finding->public.text_column = why->text_column;
    return mw__failed(err) ? err->status : MW_OK;
}

/* What comes to nothing there with inputs of ordinary size, as mw_program_warning_at has it. */
static mw_status add_overflows(mw__findings *findings, mw__arena *arena, const mw__narrowing *narrowed, mw_error *err)
{
    static const mw__legality_row row = {.id = "fp16_overflow",
                                         .stage = MW__STAGE_LOWERING,
                                         .verdict = MW__WARNED,
                                         .rule = "",
                                         .source = "fp16 ends at 65504; a quotient by infinity is 0"};
    for (const mw__narrowing *at = narrowed; at != NULL; at = at->next) {
        mw__finding *finding = at->says != NULL ? mw__findings_add(findings, arena, &row, at->says, err) : NULL;
        if (at->says == NULL)
            continue;
        if (finding == NULL)
            return MW_ERROR_MEMORY;
        finding->public.operation = mw__arena_keep(arena, at->operation, err);
        finding->public.tensor = mw__arena_keep(arena, at->tensor, err);
    }
    return mw__failed(err) ? err->status : MW_OK;
}

/* The same of the program as it stands: most of it is written in another form. */
static mw_status add_plain_overflows(mw__findings *findings, mw__arena *arena, mw_graph *source, mw_chip chip,
                                     mw_error *err)
{
    mw__narrowing *listed = NULL;
    MW_TRY(mw__mil_list_overflows(source, mw__arithmetic_of(chip), &listed, err));
    return add_overflows(findings, arena, listed, err);
}

/* Rewrites `before` in place, and lists in `after` what the form adds. */
static mw_status check_form(const mw_graph *source, const mw__legality *legality, const mw_allocator *allocator,
                            mw__arena *arena, mw__findings *before, mw__findings *after, mw_error *err)
{
    mw__chip_form f;
    mw_error why = {0};
    mw_status status = mw__chip_form_make(&f, source, legality, allocator, &why);
    if (status == MW_OK) {
        status = mw__chip_walk(after, arena, legality, mw__graph_main(f.legal.graph), err);
        if (status == MW_OK)
            status = add_overflows(after, arena, f.legal.narrowed, err);
        if (status == MW_OK)
            note_rewritten(before, after);
    } else if (status == MW_ERROR_MEMORY) {
        mw__fail(err, MW_ERROR_MEMORY, "%s", why.message);
    } else {
        status = add_failure(after, arena, &why, err);
    }
    mw__chip_form_deinit(&f);
    return status;
}

/* ---- the report ---- */

static mw_status gather_report(mw_chip_report *report, const mw__findings *before, const mw__findings *after,
                               mw_error *err)
{
    report->findings = mw__arena_alloc(&report->arena, before->count + after->count, sizeof *report->findings, err);
    if (report->findings == NULL)
        return MW_ERROR_MEMORY;
    for (const mw__finding *f = before->first; f != NULL; f = f->next)
        report->findings[report->count++] = &f->public;
    for (const mw__finding *f = after->first; f != NULL; f = f->next)
        if (!f->matched)
            report->findings[report->count++] = &f->public;
    return MW_OK;
}

static mw_status check_graph(mw_chip_report *report, const mw_graph *graph, const mw_chip_check_options *options,
                             mw_error *err)
{
    const mw__legality legality = {
        .device = mw__device_find(MW_DEVICE_ANE), .chip = report->chip, .judge = report->judge};
    mw__findings before = {0}, after = {0};
    mw_graph *source = mw__chip_copy_named(graph, options->function, report->allocator, err);
    if (source == NULL)
        return err->status;
    mw_status status = mw__chip_walk(&before, &report->arena, &legality, mw__graph_main(source), err);
    if (status == MW_OK)
        status = add_plain_overflows(&before, &report->arena, source, report->chip->chip, err);
    if (status == MW_OK && !options->as_it_is)
        status = check_form(source, &legality, report->allocator, &report->arena, &before, &after, err);
    mw__graph_free(source);
    return status == MW_OK ? gather_report(report, &before, &after, err) : status;
}

static mw_chip_report *make_report(mw_chip chip, const mw_chip_check_options *options, mw_error *err)
{
    const mw__chip_row *row;
    const mw_allocator *allocator = mw__allocator_or_default(options->allocator);
    if (options->struct_size != sizeof *options) {
        mw__fail(err, MW_ERROR_ARGUMENT, "chip check options were not made by mw_chip_check_defaults");
        return NULL;
    }
    if (options->judge != MW_CHIP_JUDGE_DIRECT && options->judge != MW_CHIP_JUDGE_COREML) {
        mw__fail(err, MW_ERROR_ARGUMENT, "unknown judge %d: MW_CHIP_JUDGE_DIRECT, MW_CHIP_JUDGE_COREML",
                 (int)options->judge);
        return NULL;
    }
    if (mw__chip_find_known(chip, &row, err) != MW_OK)
        return NULL;
    mw_chip_report *report = mw__live_make(allocator, sizeof *report, MW__LIVE_CHIP_REPORT, err);
    if (report == NULL)
        return NULL;
    report->allocator = allocator;
    report->chip = row;
    report->judge = (mw__judge)options->judge;
    mw__arena_init(&report->arena, allocator);
    return report;
}

mw_chip_report *mw__chip_report_create(const mw_graph *graph, mw_chip chip, const mw_chip_check_options *options,
                                       const char *call, mw_error *err)
{
    MW__FLOAT_SCOPE;
    mw_error own = {0};
    err = err != NULL ? err : &own;
    if ((mw__failed(err) && mw__skipped(err, call)) || !mw__graph_given(graph, call, err) ||
        mw_graph_check(graph, err) != MW_OK)
        return NULL;
    mw_chip_report *report = make_report(chip, options, err);
    if (report == NULL)
        return NULL;
    mw__graph_hold(graph);
    if (mw__graph_drop(graph, call, check_graph(report, graph, options, err), err) == MW_OK)
        return report;
    mw__chip_report_destroy(report, call);
    return NULL;
}
