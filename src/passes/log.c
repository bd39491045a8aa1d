/* Counting, and handing on what was counted. */
#include "passes/log.h"

#include "base/clock.h"
#include "graph/ir/ir.h"

#include <string.h>

/* ---- counting ---- */

static const char *name_of(const mw__op *op)
{
    const char *name = op->result_count > 0 ? op->results[0]->name : NULL;
    return name != NULL ? name : op->kind;
}

/* An operation is that which was asked about if a result has the name, or, where a pass wrote it in its place, one that
 * begins with it: "x", "x_high", "x_out". */
static bool is_asked(const mw__pass_log *log, const mw__op *op)
{
    const size_t length = log->why != NULL ? strlen(log->why) : 0;
    if (length == 1 && log->why[0] == '*')
        return true;
    for (size_t i = 0; length > 0 && i < op->result_count; i++) {
        const char *name = op->results[i]->name;
        if (name != NULL && strncmp(name, log->why, length) == 0 && (name[length] == '\0' || name[length] == '_'))
            return true;
    }
    return false;
}

/* A note for which there is no memory is not made. */
static void add_note(mw__pass_log *log, mw__rule_id id, const mw__op *op, const char *refused)
{
    mw_error ignored = {0};
    if (!is_asked(log, op) || mw__grow(log->allocator, &log->notes, &log->note_capacity, log->note_count + 1,
                                       sizeof *log->notes, &ignored) != MW_OK)
        return;
    log->notes[log->note_count++] =
        (mw_pass_note){.rule = mw__pass_rule_of(id)->name, .operation = name_of(op), .refused = refused};
}

void mw__pass_hit(mw__pass_log *log, mw__rule_id id, const mw__op *op)
{
    if (!mw__pass_is_watched(log) || log->run == NULL)
        return;
    log->run->hits[id]++;
    add_note(log, id, op, NULL);
}

void mw__pass_refuse(mw__pass_log *log, mw__rule_id id, const mw__op *op, const char *reason)
{
    if (!mw__pass_is_watched(log) || log->run == NULL)
        return;
    log->run->refusals[id]++;
    add_note(log, id, op, reason);
}

/* The note says what became of the operation in the end. */
void mw__pass_take_back(mw__pass_log *log, mw__rule_id id, const mw__op *op, const char *reason)
{
    if (!mw__pass_is_watched(log) || log->run == NULL)
        return;
    log->run->hits[id] -= log->run->hits[id] > 0;
    log->run->refusals[id]++;
    for (size_t i = log->note_count; i-- > log->run->first_note;) {
        mw_pass_note *note = &log->notes[i];
        if (note->refused == NULL && note->rule == mw__pass_rule_of(id)->name && note->operation == name_of(op)) {
            note->refused = reason;
            return;
        }
    }
}

size_t mw__pass_count_function(const mw__function *function)
{
    size_t count = 0;
    for (size_t i = 0; function != NULL && i < function->body->op_count; i++)
        count += !mw__op_is_const(function->body->ops[i]);
    return count;
}

size_t mw__pass_count(const mw_graph *graph) { return mw__pass_count_function(mw__graph_main(graph)); }

/* ---- a run ---- */

void mw__pass_log_init(mw__pass_log *log, const mw_allocator *allocator)
{
    *log = (mw__pass_log){.allocator = allocator};
}

void mw__pass_log_deinit(mw__pass_log *log)
{
    mw__free(log->allocator, log->notes);
    *log = (mw__pass_log){.allocator = log->allocator};
}

void mw__pass_begin(mw__pass_run *run, mw__pass_log *log, mw__rule_id id, const char *function, size_t before)
{
    run->log = log;
    if (!mw__pass_is_watched(log))
        return;
    *run = (mw__pass_run){.log = log,
                          .outer = log->run,
                          .id = id,
                          .function = function != NULL ? function : "main",
                          .before = before,
                          .first_note = log->note_count,
                          .begun = mw__clock_seconds()};
    log->run = run;
}

static const char *stage_of(mw__rule_id id)
{
#define MW_STAGE_TRAINING "training"
#define MW_STAGE_FORM     "form"
#define MW_STAGE_TEXT     "text"
#define MW_STAGE_FUNCTION "function"
#define MW_STAGE_STEPS    "steps"
    static const char *const stages[MW__RULE_COUNT] = {
#define MW_PASS(stage, id, ...) [MW__RULE_##id] = MW_STAGE_##stage,
#include "passes/pipeline.def"
    };
    return stages[id];
}

static size_t list_rules(const mw__pass_run *run, mw_pass_rule *out)
{
    size_t count = 0;
    for (size_t i = MW__RULE_NONE + 1; i < MW__RULE_COUNT; i++)
        if (run->hits[i] + run->refusals[i] > 0)
            out[count++] = (mw_pass_rule){
                .name = mw__pass_rule_of((mw__rule_id)i)->name, .hits = run->hits[i], .refusals = run->refusals[i]};
    return count;
}

void mw__pass_end(mw__pass_run *run, const mw__pass_result *result)
{
    mw__pass_log *log = run->log;
    mw_pass_rule rules[MW__RULE_COUNT];
    if (!mw__pass_is_watched(log))
        return;
    const mw_pass pass = {.name = mw__pass_rule_of(run->id)->name,
                          .stage = stage_of(run->id),
                          .sentence = mw__pass_rule_of(run->id)->reason,
                          .function = run->function,
                          .seconds = mw__clock_seconds() - run->begun,
                          .before = run->before,
                          .after = result->after,
                          .changed = result->changed,
                          .rules = rules,
                          .rule_count = list_rules(run, rules),
                          .notes = log->note_count > run->first_note ? log->notes + run->first_note : NULL,
                          .note_count = log->note_count - run->first_note,
                          .text = result->text,
                          .broken = result->broken};
    log->report(log->user, &pass);
    log->note_count = run->first_note;
    log->run = run->outer;
}
