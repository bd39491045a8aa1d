/* The request queue of the process: one thread, started by the first submission, that runs what streams submit. Knows
 * command lists and events, no handles. */
#ifndef MW__ENGINE_RUN_QUEUE_H
#define MW__ENGINE_RUN_QUEUE_H

#include "engine/run/command_list.h"
#include "engine/run/event.h"

/* Submissions of a stream that may be in flight; that of Espresso's runtime. */
#define MW__QUEUE_DEPTH 127

/* An encoded operation. */
typedef struct mw__queue_step {
    const mw__command_list *commands;
    mw__event *completion; /* signaled when it is done; NULL = none */
    mw__event *const *dependents;
    size_t dependent_count;
    size_t values;        /* of a submission, where its own begin: one for each dependent, and the completion's last */
    bool unsound_streams; /* of several streams in flight, only the first one's notifications arrive */
} mw__queue_step;

/* Called once for each submission, on the thread of the queue, without a lock; by then the submission is no longer in
 * flight. */
typedef struct mw__queue_completion {
    /* NULL = nobody asks */
    void (*call)(const struct mw__queue_completion *self, uint64_t stream, uint64_t request, mw__outcome outcome);
    void (*function)(void); /* these two are the caller's */
    void *user;
} mw__queue_completion;

typedef struct mw__submission mw__submission;

/* What a stream has in flight. Its steps are set by the stream, while nothing is. */
typedef struct mw__pipeline {
    mw__object *owner; /* kept alive while something is in flight */
    mw__queue_step *steps;
    size_t step_count, step_capacity;
    uint64_t stream;               /* id, from 1 */
    uint32_t priority, quality;    /* a smaller priority goes first, then a greater quality of service */
    bool low_latency;              /* its notifications arrive, whichever stream was first */
    atomic_size_t in_flight;       /* written under the lock, as all below */
    uint64_t submitted, completed; /* the last request; 0 = none */
    mw__submission *ring;          /* [MW__QUEUE_DEPTH] */
    uint64_t *values;              /* [MW__QUEUE_DEPTH][value_count]: of events, one for each that a submission uses */
    size_t value_count;
    size_t head;
    unsigned calling; /* completions that are being called */
    bool laid_out;    /* values fit the steps */
    bool linked;      /* among the queue's */
    bool closing, orphan;
    struct mw__pipeline *next;
} mw__pipeline;

void mw__pipeline_init(mw__pipeline *pipeline, mw__object *owner);
/* Nothing is in flight, and nobody refers to it. */
void mw__pipeline_deinit(mw__pipeline *pipeline);
/* While nothing is in flight. `step` is copied. */
mw_status mw__pipeline_add(mw__pipeline *pipeline, const mw__queue_step *step, mw_error *err);
void mw__pipeline_clear(mw__pipeline *pipeline);

/* Decide which of several streams goes next, from now on. */
void mw__queue_set_priority(mw__pipeline *pipeline, uint32_t priority);
void mw__queue_set_quality(mw__pipeline *pipeline, uint32_t quality);

/* Appends one run of all steps. Waits while MW__QUEUE_DEPTH are in flight. What of it has not begun after `timeout` ns
 * is given up; UINT64_MAX = never. On failure nothing is submitted, and the completion is not called. */
mw_status mw__queue_submit(mw__pipeline *pipeline, mw__queue_completion completion, uint64_t timeout, mw_error *err);

/* Returns when nothing of the stream is in flight. Refused on the thread of the queue if something is. */
mw_status mw__queue_drain(mw__pipeline *pipeline, mw_error *err);

/* The last call for a pipeline. What is in flight runs, but what waits for events is given up when nothing in flight
 * can signal them. Returns when every completion was called; on the thread of the queue at once, and they are called
 * later.
 */
void mw__queue_close(mw__pipeline *pipeline);

/* Joins the thread, once nothing is in flight; the next submission starts one anew. No other thread submits meanwhile.
 *  errors  MW_ERROR_STATE after a second, or on the thread of the queue */
mw_status mw__queue_end(mw_error *err);

/* True inside a completion. */
bool mw__queue_is_here(void);

/* Nothing runs or may run, and nobody is being called; what is in flight waits for events. For tests. */
bool mw__queue_is_still(void);

/* Under the lock of async.h: something was signaled. */
void mw__queue_notice(void);

/* The last request that was submitted, and that has ended; 0 = none. */
void mw__queue_requests(const mw__pipeline *pipeline, uint64_t *out_submitted, uint64_t *out_completed);

typedef struct mw__queue_counts {
    uint64_t submitted, completed, given_up;
} mw__queue_counts;

mw__queue_counts mw__queue_count(void);

#endif
