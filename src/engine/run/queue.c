/* The thread of the queue and what it serves. It takes, of all streams whose next step may run, the one with the first
 * claim, runs that step, and looks again: streams overlap where one waits for an event, and each runs in order. All is
 * under the lock of async.h, but for the steps themselves and completions. Process-wide and mutable, because the device
 * that it stands for is. */
#include "engine/run/queue.h"

#include "base/thread/thread.h"
#include "engine/run/async.h"
#include "engine/run/profile.h"
#include "engine/run/relax.h"

enum { PRIORITY_DEFAULT = 5, QUALITY_DEFAULT = 21, SPIN_NANOSECONDS = 20000, PATIENCE_NANOSECONDS = 1000000000 };

struct mw__submission {
    uint64_t request, deadline;
    mw__queue_completion completion;
    size_t next;  /* step */
    bool mute;    /* it tells nobody that it has run */
    bool settled; /* given up behind others that are not */
};

static struct {
    mw__thread *thread; /* NULL: not started */
    atomic_bool begun;  /* a thread was asked for; read without the lock */
    bool stop;
    bool idle;                   /* no step may run */
    bool calling;                /* a completion, which may do anything */
    size_t timed;                /* submissions in flight that have a deadline */
    uint64_t seen;               /* of the notices, when it was found that none may */
    _Atomic(uint64_t) notices;   /* grows with everything that may let a step run */
    mw__pipeline *first, **last; /* in flight, in the order in which they came */
    mw__pipeline *heard;         /* the one whose notifications arrive, where streams are unsound */
    mw__queue_counts counts;
    uint64_t streams;
} queue = {.last = &queue.first};

/* ---- pipelines ---- */

void mw__pipeline_init(mw__pipeline *p, mw__object *owner)
{
    *p = (mw__pipeline){.owner = owner, .priority = PRIORITY_DEFAULT, .quality = QUALITY_DEFAULT};
    mw__async_lock();
    p->stream = ++queue.streams;
    mw__async_unlock();
}

void mw__pipeline_deinit(mw__pipeline *p)
{
    const mw_allocator *allocator = &p->owner->allocator;
    mw__free(allocator, p->steps);
    mw__free(allocator, p->ring);
    mw__free(allocator, p->values);
}

mw_status mw__pipeline_add(mw__pipeline *p, const mw__queue_step *step, mw_error *err)
{
    MW_TRY(mw__grow(&p->owner->allocator, &p->steps, &p->step_capacity, p->step_count + 1, sizeof *p->steps, err));
    p->steps[p->step_count++] = *step;
    p->laid_out = false;
    return MW_OK;
}

void mw__pipeline_clear(mw__pipeline *p)
{
    p->step_count = 0;
    p->laid_out = false;
}

/* Room for the submissions, by the first of them after the steps have changed. */
static mw_status lay_out(mw__pipeline *p, mw_error *err)
{
    const mw_allocator *allocator = &p->owner->allocator;
    size_t count = 0;
    if (p->laid_out)
        return MW_OK;
    for (size_t i = 0; i < p->step_count; i++) {
        p->steps[i].values = count;
        count += p->steps[i].dependent_count + 1;
    }
    if (p->ring == NULL)
        p->ring = mw__alloc(allocator, MW__QUEUE_DEPTH, sizeof *p->ring, err);
    mw__free(allocator, p->values);
    p->values = p->ring != NULL ? mw__alloc(allocator, count, MW__QUEUE_DEPTH * sizeof *p->values, err) : NULL;
    if (p->values == NULL)
        return MW_ERROR_MEMORY;
    p->value_count = count;
    p->laid_out = true;
    return MW_OK;
}

static size_t count_of(const mw__pipeline *p) { return atomic_load_explicit(&p->in_flight, memory_order_relaxed); }

static mw__submission *submission_at(const mw__pipeline *p, size_t index)
{
    return &p->ring[(p->head + index) % MW__QUEUE_DEPTH];
}

static uint64_t *values_of(const mw__pipeline *p, const mw__submission *s, const mw__queue_step *step)
{
    return p->values + (size_t)(s - p->ring) * p->value_count + step->values;
}

static void link_pipeline(mw__pipeline *p)
{
    if (p->linked)
        return;
    mw__object_retain(p->owner);
    p->linked = true;
    p->next = NULL;
    *queue.last = p;
    queue.last = &p->next;
}

/* With the last of it gone. Only that of an orphan can be the last reference to the stream. */
static void unlink_if_done(mw__pipeline *p)
{
    if (count_of(p) > 0 || p->calling > 0)
        return;
    mw__pipeline **at = &queue.first;
    while (*at != p)
        at = &(*at)->next;
    *at = p->next;
    if (queue.last == &p->next)
        queue.last = at;
    p->linked = false;
    if (p->orphan) {
        mw__async_unlock();
        mw__object_release(p->owner);
        mw__async_lock();
        return;
    }
    mw__object_release(p->owner);
    mw__async_changed();
}

/* ---- the end of a submission ---- */

static void pop(mw__pipeline *p)
{
    p->head = (p->head + 1) % MW__QUEUE_DEPTH;
    atomic_store_explicit(&p->in_flight, count_of(p) - 1, memory_order_release);
    if (count_of(p) == 0 && queue.heard == p)
        queue.heard = NULL;
}

static void call(mw__pipeline *p, mw__queue_completion completion, uint64_t request, mw__outcome outcome)
{
    if (completion.call == NULL)
        return;
    p->calling++;
    queue.calling = true;
    mw__async_unlock();
    completion.call(&completion, p->stream, request, outcome);
    mw__async_lock();
    queue.calling = false;
    p->calling--;
}

static void settle(mw__pipeline *p, mw__submission *s, mw__outcome outcome)
{
    const mw__submission ended = *s;
    for (size_t i = s->mute ? 0 : s->next; outcome != MW__OUTCOME_UNHEARD && i < p->step_count; i++)
        if (p->steps[i].completion != NULL)
            mw__event_lose(p->steps[i].completion, values_of(p, s, &p->steps[i])[p->steps[i].dependent_count], outcome);
    s->settled = true;
    queue.timed -= s->deadline != MW__ASYNC_NEVER;
    queue.counts.completed += outcome == MW__OUTCOME_DONE;
    queue.counts.given_up += outcome != MW__OUTCOME_DONE;
    if (outcome != MW__OUTCOME_UNHEARD && p->completed < s->request)
        p->completed = s->request;
    while (count_of(p) > 0 && submission_at(p, 0)->settled)
        pop(p);
    mw__async_changed();
    call(p, ended.completion, ended.request, outcome);
    unlink_if_done(p);
}

/* ---- steps ---- */

typedef enum move {
    WAIT, /* for events, or as one that tells nobody for its deadline */
    RUN,
    LOSE /* an event will not come */
} move;

/* Of the first submission in flight. */
static move next_move(const mw__pipeline *p)
{
    const mw__submission *s = submission_at(p, 0);
    if (s->next == p->step_count)
        return WAIT;
    const mw__queue_step *step = &p->steps[s->next];
    const uint64_t *values = values_of(p, s, step);
    for (size_t i = 0; i < step->dependent_count; i++)
        if (mw__event_signaled(step->dependents[i]) < values[i])
            return step->dependents[i]->lost >= values[i] ? LOSE : WAIT;
    return RUN;
}

static void run_step(mw__pipeline *p, mw__submission *s)
{
    const mw__queue_step *step = &p->steps[s->next];
    mw__async_unlock();
    mw__execute(step->commands);
    mw__async_lock();
    if (step->completion != NULL && !s->mute)
        mw__event_raise(step->completion, values_of(p, s, step)[step->dependent_count]);
    s->next++;
    if (s->next < p->step_count)
        mw__async_changed();
    else if (!s->mute)
        settle(p, s, MW__OUTCOME_DONE);
    else if (s->deadline == MW__ASYNC_NEVER)
        settle(p, s, MW__OUTCOME_UNHEARD);
}

static void advance(mw__pipeline *p)
{
    mw__submission *s = submission_at(p, 0);
    const move next = next_move(p);
    if (next == RUN)
        run_step(p, s);
    else /* chosen while it waits: it is closing, and all stands still */
        settle(p, s, next == LOSE ? MW__OUTCOME_EVENT_LOST : MW__OUTCOME_RELEASED);
}

static bool goes_before(const mw__pipeline *a, const mw__pipeline *b)
{
    if (a->priority != b->priority)
        return a->priority < b->priority;
    if (a->quality != b->quality)
        return a->quality > b->quality;
    return submission_at(a, 0)->request < submission_at(b, 0)->request;
}

static mw__pipeline *choose_pipeline(void)
{
    mw__pipeline *best = NULL, *stuck = NULL;
    for (mw__pipeline *p = queue.first; p != NULL; p = p->next) {
        if (count_of(p) == 0)
            continue;
        if (next_move(p) == WAIT)
            stuck = p->closing ? p : stuck;
        else if (best == NULL || goes_before(p, best))
            best = p;
    }
    return best != NULL ? best : stuck;
}

/* ---- deadlines ---- */

/* The submission with the nearest one. */
static mw__submission *find_due(mw__pipeline **out_pipeline)
{
    mw__submission *due = NULL;
    for (mw__pipeline *p = queue.first; p != NULL; p = p->next)
        for (size_t i = 0; i < count_of(p); i++) {
            mw__submission *s = submission_at(p, i);
            if (s->settled || s->deadline == MW__ASYNC_NEVER || (due != NULL && due->deadline <= s->deadline))
                continue;
            due = s;
            *out_pipeline = p;
        }
    return due;
}

static bool expire(void)
{
    mw__pipeline *p = NULL;
    mw__submission *due = queue.timed > 0 ? find_due(&p) : NULL;
    if (due == NULL || due->deadline > mw__profile_now())
        return false;
    settle(p, due, MW__OUTCOME_TIMED_OUT);
    return true;
}

static uint64_t nearest_deadline(void)
{
    mw__pipeline *p;
    const mw__submission *due = queue.timed > 0 ? find_due(&p) : NULL;
    return due != NULL ? due->deadline : MW__ASYNC_NEVER;
}

/* ---- the thread ---- */

static uint64_t notices(void) { return atomic_load_explicit(&queue.notices, memory_order_relaxed); }

static bool was_noticed(const void *unused, uint64_t seen)
{
    (void)unused;
    return notices() != seen;
}

void mw__queue_notice(void)
{
    atomic_store_explicit(&queue.notices, notices() + 1, memory_order_relaxed);
    mw__async_changed();
}

bool mw__queue_is_still(void)
{
    mw__async_lock();
    const bool still = queue.thread == NULL || (queue.idle && queue.seen == notices());
    mw__async_unlock();
    return still;
}

/* Nothing may run. Who submits one after another finds the thread awake. */
static void rest(void)
{
    const uint64_t seen = notices(), deadline = nearest_deadline();
    queue.seen = seen;
    queue.idle = true;
    mw__async_changed();
    mw__async_unlock();
    for (const uint64_t end = mw__profile_now() + SPIN_NANOSECONDS; notices() == seen && mw__profile_now() < end;)
        for (int i = 0; i < 16; i++)
            mw__relax();
    mw__async_lock();
    mw__async_wait(was_noticed, NULL, seen, deadline);
    queue.idle = false;
}

static _Thread_local bool here;

bool mw__queue_is_here(void) { return here; }

static void *serve(void *unused)
{
    here = true;
    mw__async_lock();
    while (!queue.stop) {
        if (expire())
            continue;
        mw__pipeline *p = choose_pipeline();
        if (p != NULL)
            advance(p);
        else
            rest();
    }
    mw__async_unlock();
    here = false; /* the thread may be the host's */
    return unused;
}

static mw_status start(mw_error *err)
{
    if (queue.thread != NULL)
        return MW_OK;
    atomic_store(&queue.begun, true);
    queue.thread = mw__thread_start("mw queue", serve, NULL);
    return queue.thread != NULL ? MW_OK
                                : mw__fail(err, MW_ERROR_MEMORY,
                                           "the system, or the host's hook, starts no thread for the request queue");
}

static bool is_empty(const void *unused, uint64_t value)
{
    (void)unused;
    (void)value;
    return queue.first == NULL;
}

static void tell_to_stop(void)
{
    queue.stop = true;
    mw__queue_notice();
}

/* Under the lock, which it gives up meanwhile. */
static void join_thread(void)
{
    tell_to_stop();
    mw__async_unlock();
    mw__thread_join(queue.thread);
    mw__async_lock();
    queue.thread = NULL;
    queue.stop = false;
}

mw_status mw__queue_end(mw_error *err)
{
    mw_status status = MW_OK;
    if (!atomic_load(&queue.begun) || mw__engine_forked())
        return MW_OK;
    if (here)
        return mw__fail(err, MW_ERROR_STATE, "a completion cannot end the thread that calls it");
    mw__async_lock();
    if (!mw__async_wait(is_empty, NULL, 0, mw__profile_now() + PATIENCE_NANOSECONDS))
        status = mw__fail(err, MW_ERROR_STATE, "requests are in flight: wait for them first");
    else if (queue.thread != NULL)
        join_thread();
    mw__async_unlock();
    return status;
}

/* When the process ends. What is in flight is left; a completion that is being called may itself wait for this thread.
 * Where nothing was ever submitted there is nothing to do: the first question whether this process was forked would
 * make the library stay, which is leaving. */
__attribute__((destructor)) static void stop_queue(void)
{
    if (!atomic_load(&queue.begun) || mw__engine_forked())
        return;
    mw__async_lock();
    const bool wait = queue.thread != NULL && !queue.calling;
    tell_to_stop();
    mw__async_unlock();
    if (wait)
        mw__thread_join(queue.thread);
}

/* ---- submitting ---- */

/* For a thread that waits to submit, half of the depth is free, unless that may take for ever: it is woken less often.
 */
static bool has_room(const void *pipeline, uint64_t unused)
{
    const mw__pipeline *p = pipeline;
    (void)unused;
    return p->closing || count_of(p) <= MW__QUEUE_DEPTH / 2 || (queue.idle && count_of(p) < MW__QUEUE_DEPTH);
}

static mw_status wait_for_room(mw__pipeline *p, mw_error *err)
{
    while (count_of(p) == MW__QUEUE_DEPTH && !p->closing) {
        if (mw__queue_is_here())
            return mw__fail(err, MW_ERROR_STATE,
                            "%d submissions of the stream are in flight, and a completion cannot wait for them",
                            MW__QUEUE_DEPTH);
        mw__async_wait(has_room, p, 0, MW__ASYNC_NEVER);
    }
    return p->closing ? mw__fail(err, MW_ERROR_STATE, "the stream is being released") : MW_OK;
}

static bool is_muted(mw__pipeline *p)
{
    bool unsound = false;
    for (size_t i = 0; i < p->step_count; i++)
        unsound = unsound || p->steps[i].unsound_streams;
    if (!unsound)
        return false;
    if (queue.heard == NULL)
        queue.heard = p;
    return queue.heard != p && !p->low_latency;
}

/* The events that each step waits for and signals, as they are now. */
static void take_values(mw__pipeline *p, const mw__submission *s)
{
    for (size_t i = 0; i < p->step_count; i++) {
        const mw__queue_step *step = &p->steps[i];
        uint64_t *values = values_of(p, s, step);
        for (size_t d = 0; d < step->dependent_count; d++)
            values[d] = step->dependents[d]->future;
        if (step->completion != NULL)
            values[step->dependent_count] = mw__event_promise(step->completion);
    }
}

static void append_completion(mw__pipeline *p, mw__queue_completion completion, uint64_t deadline)
{
    mw__submission *s = submission_at(p, count_of(p));
    *s = (mw__submission){.request = ++queue.counts.submitted, .deadline = deadline, .completion = completion};
    s->mute = is_muted(p);
    p->submitted = s->request;
    take_values(p, s);
    queue.timed += deadline != MW__ASYNC_NEVER;
    atomic_store_explicit(&p->in_flight, count_of(p) + 1, memory_order_relaxed);
    link_pipeline(p);
    mw__queue_notice();
}

static uint64_t deadline_after(uint64_t timeout)
{
    const uint64_t now = timeout != MW__ASYNC_NEVER ? mw__profile_now() : 0;
    return timeout < MW__ASYNC_NEVER - now ? now + timeout : MW__ASYNC_NEVER;
}

mw_status mw__queue_submit(mw__pipeline *p, mw__queue_completion completion, uint64_t timeout, mw_error *err)
{
    const uint64_t deadline = deadline_after(timeout);
    mw__async_lock();
    mw_status status = start(err);
    if (status == MW_OK)
        status = lay_out(p, err);
    if (status == MW_OK)
        status = wait_for_room(p, err);
    if (status == MW_OK)
        append_completion(p, completion, deadline);
    mw__async_unlock();
    return status;
}

/* ---- waiting ---- */

static bool is_drained(const void *pipeline, uint64_t unused)
{
    (void)unused;
    return count_of(pipeline) == 0;
}

mw_status mw__queue_drain(mw__pipeline *p, mw_error *err)
{
    mw_status status = MW_OK;
    mw__async_lock();
    if (count_of(p) > 0 && mw__queue_is_here())
        status = mw__fail(err, MW_ERROR_STATE, "the stream has work in flight, which a completion cannot wait for");
    else
        mw__async_wait(is_drained, p, 0, MW__ASYNC_NEVER);
    mw__async_unlock();
    return status;
}

static bool is_unlinked(const void *pipeline, uint64_t unused)
{
    (void)unused;
    return !((const mw__pipeline *)pipeline)->linked;
}

void mw__queue_close(mw__pipeline *p)
{
    mw__async_lock();
    p->closing = true;
    mw__queue_notice();
    if (p->linked && mw__queue_is_here())
        p->orphan = true;
    else
        mw__async_wait(is_unlinked, p, 0, MW__ASYNC_NEVER);
    mw__async_unlock();
}

/* ---- numbers ---- */

void mw__queue_set_priority(mw__pipeline *p, uint32_t priority)
{
    mw__async_lock();
    p->priority = priority;
    mw__async_unlock();
}

void mw__queue_set_quality(mw__pipeline *p, uint32_t quality)
{
    mw__async_lock();
    p->quality = quality;
    mw__async_unlock();
}

void mw__queue_requests(const mw__pipeline *p, uint64_t *out_submitted, uint64_t *out_completed)
{
    mw__async_lock();
    *out_submitted = p->submitted;
    *out_completed = p->completed;
    mw__async_unlock();
}

mw__queue_counts mw__queue_count(void)
{
    mw__async_lock();
    const mw__queue_counts counts = queue.counts;
    mw__async_unlock();
    return counts;
}
