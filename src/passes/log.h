/* What is counted and shown while a program is compiled, and what is left out. One log goes with a compilation. */
#ifndef MW__PASSES_LOG_H
#define MW__PASSES_LOG_H

#include "base/memory/alloc.h"
#include "graph/ir/ir_types.h"
#include "passes/rule.h"

#include <millwright/passes.h>

typedef void mw__pass_report(void *user, const mw_pass *pass);

typedef struct mw__pass_log {
    mw__rule_set off;
    mw__pass_report *report; /* NULL: nothing is counted */
    void *user;
    const char *why; /* the operation that notes are made of; NULL = none */
    bool texts;
    const mw_allocator *allocator;
    struct mw__pass_run *run; /* the innermost that has begun; or NULL */
    mw_pass_note *notes;      /* of all that have begun; strings are the graph's, or static */
    size_t note_count, note_capacity;
} mw__pass_log;

/* One run of a pass, from mw__pass_begin to mw__pass_end; another may run inside of it, of a loop's body. After an
 * error it is left behind. */
typedef struct mw__pass_run {
    mw__pass_log *log;
    struct mw__pass_run *outer;
    mw__rule_id id;
    const char *function;
    size_t before, first_note;
    double begun; /* s */
    uint32_t hits[MW__RULE_COUNT], refusals[MW__RULE_COUNT];
} mw__pass_run;

/* What a pass has left. */
typedef struct mw__pass_result {
    size_t after;
    bool changed;
    const char *text;   /* or NULL */
    const char *broken; /* the invariant that does not hold; or NULL */
} mw__pass_result;

/* True if somebody listens; `log` may be NULL, as in all of these. */
static inline bool mw__pass_is_watched(const mw__pass_log *log) { return log != NULL && log->report != NULL; }
static inline bool mw__pass_wants_text(const mw__pass_log *log) { return mw__pass_is_watched(log) && log->texts; }
/* True if that rule, or the pass that it belongs to, is left out. */
static inline bool mw__pass_is_off(const mw__pass_log *log, mw__rule_id id)
{
    return log != NULL && mw__pass_set_leaves_out(&log->off, id);
}

/* Nothing is left out, nobody listens. Its memory goes with mw__pass_log_deinit. */
void mw__pass_log_init(mw__pass_log *log, const mw_allocator *allocator);
void mw__pass_log_deinit(mw__pass_log *log);

/* `function` may be NULL for main. */
void mw__pass_begin(mw__pass_run *run, mw__pass_log *log, mw__rule_id id, const char *function, size_t before);
void mw__pass_end(mw__pass_run *run, const mw__pass_result *result);

/* A rule applied to an operation, or refused with a reason. */
void mw__pass_hit(mw__pass_log *log, mw__rule_id id, const mw__op *op);
void mw__pass_refuse(mw__pass_log *log, mw__rule_id id, const mw__op *op, const char *reason);
/* A hit was taken back. */
void mw__pass_take_back(mw__pass_log *log, mw__rule_id id, const mw__op *op, const char *reason);

/* Operations of main but constants; 0 without main. */
size_t mw__pass_count(const mw_graph *graph);
size_t mw__pass_count_function(const mw__function *function);

#endif
