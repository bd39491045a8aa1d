/* Passes as e5rt tells of them. */
#include "engine/surface/surface_options.h"

static void copy_rules(const mw_pass *pass, e5rt_mw_pass_rule *out)
{
    for (size_t i = 0; i < pass->rule_count; i++)
        out[i] = (e5rt_mw_pass_rule){
            .name = pass->rules[i].name, .hits = pass->rules[i].hits, .refusals = pass->rules[i].refusals};
}

static void copy_notes(const mw_pass *pass, e5rt_mw_pass_note *out)
{
    for (size_t i = 0; i < pass->note_count; i++)
        out[i] = (e5rt_mw_pass_note){
            .rule = pass->notes[i].rule, .operation = pass->notes[i].operation, .refused = pass->notes[i].refused};
}

void mw__surface_report_pass(void *user, const mw_pass *pass)
{
    mw_error ignored = {0};
    e5rt_mw_pass_rule rules[MW__RULE_COUNT];
    const mw__pass_listener *listener = user;
    const mw_allocator *heap = mw__engine_allocator();
    e5rt_mw_pass_note *notes = mw__alloc(heap, pass->note_count, sizeof *notes, &ignored);
    copy_rules(pass, rules);
    if (notes != NULL)
        copy_notes(pass, notes);
    const e5rt_mw_pass told = {.name = pass->name,
                               .stage = pass->stage,
                               .sentence = pass->sentence,
                               .function = pass->function,
                               .seconds = pass->seconds,
                               .before = pass->before,
                               .after = pass->after,
                               .changed = pass->changed,
                               .rules = rules,
                               .rule_count = pass->rule_count,
                               .notes = notes,
                               .note_count = notes != NULL ? pass->note_count : 0,
                               .text = pass->text,
                               .broken = pass->broken};
    listener->report(listener->user, &told);
    mw__free(heap, notes);
}
