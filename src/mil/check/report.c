/* Reports as they are made: adding findings, and freeing. Reading and printing them is a library's beside the core. */
#include "mil/check/report.h"

#include "base/memory/live.h"

mw__finding *mw__findings_add(mw__findings *findings, mw__arena *arena, const mw__legality_row *row,
                              const char *message, mw_error *err)
{
    const mw__rule *rewrite = row->rewrite != MW__RULE_NONE ? mw__pass_rule_of(row->rewrite) : NULL;
    mw__finding *finding = mw__arena_alloc(arena, 1, sizeof *finding, err);
    if (finding == NULL)
        return NULL;
    *finding = (mw__finding){.public = {.rule = row->id,
                                        .verdict = (mw_chip_verdict)row->verdict,
                                        .stage = (mw_chip_stage)row->stage,
                                        .validator = row->validator,
                                        .source = row->source,
                                        .rewrite = rewrite != NULL ? rewrite->name : NULL,
                                        .reason = rewrite != NULL ? rewrite->reason : NULL}};
    finding->public.message = mw__arena_keep(arena, message, err);
    if (finding->public.message == NULL)
        return NULL;
    *(findings->end != NULL ? findings->end : &findings->first) = finding;
    findings->end = &finding->next;
    findings->count++;
    return finding;
}

void mw__chip_report_destroy(mw_chip_report *report, const char *call)
{
    if (report == NULL || !mw__live_remove(report, MW__LIVE_CHIP_REPORT, call))
        return;
    const mw_allocator *allocator = report->allocator;
    mw__arena_deinit(&report->arena);
    mw__free(allocator, report);
}
