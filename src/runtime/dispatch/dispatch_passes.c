/* What e5rt tells of its passes, for the listener of a compilation. */
#include "runtime/dispatch/dispatch_core.h"

static size_t copy_rules(const e5rt_mw_pass *pass, mw_pass_rule *out)
{
    size_t count = 0;
    for (; count < pass->rule_count && count < MW__RULE_COUNT; count++)
        out[count] = (mw_pass_rule){
            .name = pass->rules[count].name, .hits = pass->rules[count].hits, .refusals = pass->rules[count].refusals};
    return count;
}

static void copy_notes(const e5rt_mw_pass *pass, mw_pass_note *out)
{
    for (size_t i = 0; i < pass->note_count; i++)
        out[i] = (mw_pass_note){
            .rule = pass->notes[i].rule, .operation = pass->notes[i].operation, .refused = pass->notes[i].refused};
}

void mw__dispatch_hear_pass(void *user, const e5rt_mw_pass *pass)
{
    mw_error ignored = {0};
    mw_pass_rule rules[MW__RULE_COUNT];
    const mw__pass_log *log = user;
    mw_pass_note *notes = mw__alloc(log->allocator, pass->note_count, sizeof *notes, &ignored);
    if (notes != NULL)
        copy_notes(pass, notes);
    const mw_pass told = {.name = pass->name,
                          .stage = pass->stage,
                          .sentence = pass->sentence,
                          .function = pass->function,
                          .seconds = pass->seconds,
                          .before = pass->before,
                          .after = pass->after,
                          .changed = pass->changed != 0,
                          .rules = rules,
                          .rule_count = copy_rules(pass, rules),
                          .notes = notes,
                          .note_count = notes != NULL ? pass->note_count : 0,
                          .text = pass->text,
                          .broken = pass->broken};
    log->report(log->user, &told);
    mw__free(log->allocator, notes);
}
