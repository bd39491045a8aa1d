/* Times of an operation's tasks, run by run, while profiling is on. A ring keeps the newest runs; every task of a run
 * has a place of its own there, so that partitions write without a lock and recording asks for no memory. */
#ifndef MW__ENGINE_RUN_PROFILE_H
#define MW__ENGINE_RUN_PROFILE_H

#include "base/memory/alloc.h"

/* ns on a clock that never goes back. */
typedef struct mw__profile_span {
    uint64_t begin, end;
} mw__profile_span;

typedef struct mw__profile_run {
    uint64_t number; /* counted from 0 since profiling was switched on */
    mw__profile_span span;
    uint32_t members; /* threads that took part */
} mw__profile_run;

typedef struct mw__profile {
    const mw_allocator *allocator;
    size_t capacity, task_count; /* runs that are kept; tasks of a run */
    uint64_t run_count;          /* so far */
    mw__profile_run *runs;       /* [capacity] */
    mw__profile_span *spans;     /* [capacity][task_count] */
} mw__profile;

/* NULL with err set on failure. */
mw__profile *mw__profile_create(const mw_allocator *allocator, size_t runs, size_t task_count, mw_error *err);
/* NULL is fine. */
void mw__profile_destroy(mw__profile *profile);

uint64_t mw__profile_now(void);
/* Around a run; between the two: how many threads take part, and the places of its tasks. */
void mw__profile_begin(mw__profile *profile);
void mw__profile_set_members(mw__profile *profile, int members);
mw__profile_span *mw__profile_spans(const mw__profile *profile);
void mw__profile_end(mw__profile *profile);

/* Runs that are kept, oldest first: index < mw__profile_kept. */
size_t mw__profile_kept(const mw__profile *profile);
const mw__profile_run *mw__profile_run_at(const mw__profile *profile, size_t index);
const mw__profile_span *mw__profile_spans_at(const mw__profile *profile, size_t index);

#endif
