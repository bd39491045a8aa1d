/* A client that calls the functions of streams and events at random, and a plain state machine that says, by the rules
 * of e5rt.h alone, what each call has to answer, what has run, and which values events have. */
#include "async_case.h"
#include "engine/run/queue.h"

#include <sched.h>
#include <stdlib.h>

enum { STREAMS = 3, OPERATIONS = 5, EVENTS = 4, DEPENDENTS = 2, DEPTH = 127, SHORT = 200000 };

static const uint64_t longer = UINT64_C(1000000000000);

typedef enum state { READY, ENCODED, DETACHED } state;

typedef struct event {
    void *handle;
    uint64_t signaled, future, assigned, lost;
} event;

typedef struct operation {
    async_case c;
    state state;
    int stream, completion, dependents[DEPENDENTS], dependent_count; /* -1 = none */
    int runs;
} operation;

typedef struct submission {
    uint64_t id, wanted[OPERATIONS][DEPENDENTS], promised[OPERATIONS];
    int next;
    bool settled, heard;
} submission;

typedef struct stream {
    void *handle, *stale;
    bool used, closing;
    int operations[OPERATIONS], count;
    uint32_t priority, quality;
    uint64_t submitted, completed;
    submission queue[DEPTH];
    int head, length;
} stream;

static struct {
    event events[EVENTS];
    operation operations[OPERATIONS];
    stream streams[STREAMS];
    uint64_t requests;
    int good, late, bad; /* completions that must have come */
    uint64_t seed;
} model;

static atomic_int good_calls, late_calls, bad_calls;

static void done(void *user, e5rt_error_code status)
{
    (void)user;
    atomic_fetch_add(status == 0 ? &good_calls : status == E5RT_MW_TIMED_OUT ? &late_calls : &bad_calls, 1);
}

static unsigned roll(unsigned below)
{
    model.seed = model.seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(model.seed >> 33) % below;
}

/* ---- the model's queue ---- */

static submission *at(stream *s, int index) { return &s->queue[(s->head + index) % DEPTH]; }

static void raise_event(event *e, uint64_t value)
{
    if (value <= e->signaled)
        return;
    e->signaled = value;
    e->assigned = e->assigned < value ? value : e->assigned;
    e->future = e->future < value ? value : e->future;
}

static void settle(stream *s, submission *sub, e5rt_error_code status)
{
    for (int i = sub->next; i < s->count; i++) {
        const int completion = model.operations[s->operations[i]].completion;
        if (completion >= 0 && model.events[completion].lost < sub->promised[i])
            model.events[completion].lost = sub->promised[i];
    }
    sub->settled = true;
    s->completed = s->completed < sub->id ? sub->id : s->completed;
    model.good += sub->heard && status == 0;
    model.late += sub->heard && status == E5RT_MW_TIMED_OUT;
    model.bad += sub->heard && status == E5RT_INVALID_OPERATION;
    while (s->length > 0 && at(s, 0)->settled)
        s->head = (s->head + 1) % DEPTH, s->length--;
}

typedef enum move { WAIT, RUN, LOSE } move;

static move next_move(stream *s)
{
    const submission *sub = at(s, 0);
    const operation *o = &model.operations[s->operations[sub->next]];
    for (int i = 0; i < o->dependent_count; i++) {
        const event *e = &model.events[o->dependents[i]];
        if (e->signaled < sub->wanted[sub->next][i])
            return e->lost >= sub->wanted[sub->next][i] ? LOSE : WAIT;
    }
    return RUN;
}

static bool goes_first(stream *a, stream *b)
{
    if (b == NULL || a->priority != b->priority)
        return b == NULL || a->priority < b->priority;
    return a->quality != b->quality ? a->quality > b->quality : at(a, 0)->id < at(b, 0)->id;
}

static bool advance(void)
{
    stream *best = NULL, *stuck = NULL;
    for (stream *s = model.streams; s < model.streams + STREAMS; s++) {
        if (s->length == 0)
            continue;
        if (next_move(s) == WAIT)
            stuck = s->closing ? s : stuck;
        else if (goes_first(s, best))
            best = s;
    }
    stream *s = best != NULL ? best : stuck;
    if (s == NULL)
        return false;
    submission *sub = at(s, 0);
    if (next_move(s) != RUN) {
        settle(s, sub, E5RT_INVALID_OPERATION);
        return true;
    }
    operation *o = &model.operations[s->operations[sub->next]];
    o->runs++;
    if (o->completion >= 0)
        raise_event(&model.events[o->completion], sub->promised[sub->next]);
    if (++sub->next == s->count)
        settle(s, sub, 0);
    return true;
}

/* Until nothing moves, in the model and in the engine. */
static void rest(void)
{
    while (advance())
        ;
    while (!mw__queue_is_still())
        sched_yield();
}

/* ---- calls ---- */

static void expect(e5rt_error_code code, e5rt_error_code wanted, const char *call)
{
    check_note(code == wanted, __FILE__, __LINE__, "%s gave %lld, not %lld: %s", call, (long long)code,
               (long long)wanted, code != 0 ? e5rt_get_last_error_message() : "");
}

static void call_signal(event *e)
{
    const uint64_t value = e->signaled + roll(4) - (e->signaled > 0 ? 1 : 0);
    expect(e5rt_async_event_signal(e->handle, value), value < e->signaled ? E5RT_INVALID_ARGUMENT : 0, "signal");
    raise_event(e, value);
}

static void call_future(event *e)
{
    const uint64_t value = e->future + roll(3) - (e->future > 0 ? 1 : 0);
    expect(e5rt_async_event_set_active_future_value(e->handle, value), value < e->future ? E5RT_INVALID_ARGUMENT : 0,
           "set_active_future_value");
    e->future = value < e->future ? e->future : value;
}

static void call_wait(event *e)
{
    const uint64_t value = e->assigned + roll(2);
    const e5rt_error_code there = e->signaled >= value ? 0 : e->lost >= value ? E5RT_INVALID_OPERATION : -1;
    expect(e5rt_mw_async_event_wait(e->handle, value, 0), there < 0 ? E5RT_MW_TIMED_OUT : there, "wait");
    if (there >= 0 && value == e->assigned)
        expect(e5rt_async_event_sync_wait(e->handle), there, "sync_wait");
}

static void call_bind(operation *o)
{
    const e5rt_error_code wanted = o->state == READY ? 0 : E5RT_INVALID_OPERATION;
    void *const handle = o->c.run.operation, *events[DEPENDENTS];
    const int count = (int)roll(DEPENDENTS + 1), first = (int)roll(EVENTS);
    if (roll(2) == 0) {
        expect(e5rt_execution_stream_operation_bind_completion_event(handle, model.events[first].handle), wanted,
               "bind_completion_event");
        o->completion = wanted == 0 ? first : o->completion;
        return;
    }
    for (int i = 0; i < count; i++)
        events[i] = model.events[(first + i) % EVENTS].handle;
    expect(e5rt_execution_stream_operation_bind_dependent_events(handle, events, (uint64_t)count), wanted,
           "bind_dependent_events");
    if (wanted != 0)
        return;
    o->dependent_count = count;
    for (int i = 0; i < count; i++)
        o->dependents[i] = (first + i) % EVENTS;
}

static void call_encode(stream *s, operation *o)
{
    const e5rt_error_code wanted = s->handle == NULL                    ? E5RT_INVALID_ARGUMENT
                                   : o->state != READY || s->length > 0 ? E5RT_INVALID_OPERATION
                                                                        : 0;
    expect(e5rt_execution_stream_encode_operation(s->handle, o->c.run.operation), wanted, "encode");
    if (wanted != 0)
        return;
    s->operations[s->count++] = (int)(o - model.operations);
    s->used = true;
    o->state = ENCODED;
    o->stream = (int)(s - model.streams);
}

static void call_prepare(operation *o)
{
    expect(e5rt_execution_stream_operation_prepare_op_for_encode(o->c.run.operation),
           o->state == DETACHED ? 0 : E5RT_INVALID_OPERATION, "prepare");
    o->state = o->state == DETACHED ? READY : o->state;
}

static void detach(stream *s)
{
    for (int i = 0; i < s->count; i++)
        model.operations[s->operations[i]].state = DETACHED;
    s->count = 0;
}

static void call_reset(stream *s)
{
    const e5rt_error_code wanted = s->handle == NULL           ? E5RT_INVALID_ARGUMENT
                                   : !s->used || s->length > 0 ? E5RT_INVALID_OPERATION
                                                               : 0;
    expect(e5rt_execution_stream_reset(s->handle), wanted, "reset");
    if (wanted == 0)
        detach(s);
}

static void append(stream *s, bool heard)
{
    submission *sub = at(s, s->length++);
    *sub = (submission){.id = ++model.requests, .heard = heard};
    s->submitted = sub->id;
    for (int i = 0; i < s->count; i++) {
        const operation *o = &model.operations[s->operations[i]];
        for (int d = 0; d < o->dependent_count; d++)
            sub->wanted[i][d] = model.events[o->dependents[d]].future;
        if (o->completion < 0)
            continue;
        event *e = &model.events[o->completion];
        e->future += e->future == e->assigned;
        sub->promised[i] = e->assigned = e->future;
    }
}

/* A timeout is long where the model says that some of it runs, so that a slow machine changes nothing. */
static void call_submit(stream *s)
{
    const e5rt_error_code wanted = s->handle == NULL ? E5RT_INVALID_ARGUMENT
                                   : s->count == 0   ? E5RT_INVALID_OPERATION
                                                     : 0;
    const unsigned form = roll(4);
    if (s->length == DEPTH)
        return;
    if (form == 3 && wanted == 0) {
        append(s, true);
        submission *sub = at(s, s->length - 1);
        while (advance())
            ;
        const bool blocked = !sub->settled && sub->next == 0;
        expect(e5rt_mw_execution_stream_submit_async_with_timeout(s->handle, done, NULL, blocked ? SHORT : longer), 0,
               "submit_async_with_timeout");
        if (!blocked)
            return;
        settle(s, sub, E5RT_MW_TIMED_OUT);
        while (atomic_load(&late_calls) < model.late)
            sched_yield();
        return;
    }
    expect(form % 2 == 0 ? e5rt_execution_stream_async_submit(s->handle)
                         : e5rt_mw_execution_stream_submit_async(s->handle, done, NULL),
           wanted, "submit");
    if (wanted == 0)
        append(s, form % 2 != 0);
}

static void call_execute(stream *s)
{
    const e5rt_error_code wanted = s->handle == NULL ? E5RT_INVALID_ARGUMENT
                                   : s->count == 0   ? E5RT_INVALID_OPERATION
                                                     : 0;
    if (s->length > 0)
        return; /* it would wait for what waits for an event */
    expect(e5rt_execution_stream_execute_sync(s->handle), wanted, "execute_sync");
    for (int i = 0; i < s->count; i++)
        model.operations[s->operations[i]].runs++;
}

static void call_release(stream *s)
{
    const bool lives = s->handle != NULL;
    s->stale = lives ? s->handle : s->stale;
    s->closing = true;
    while (lives && advance())
        ;
    expect(e5rt_execution_stream_release(&s->handle), lives ? 0 : E5RT_INVALID_ARGUMENT, "release");
    detach(s);
    *s = (stream){.stale = s->stale, .priority = 5, .quality = 21};
    if (roll(4) != 0)
        expect(e5rt_execution_stream_create(&s->handle), 0, "create");
}

static void call_wrongly(stream *s, event *e, operation *o)
{
    uint64_t number;
    expect(e5rt_execution_stream_async_submit(s->stale), E5RT_INVALID_ARGUMENT, "submit of a released stream");
    expect(e5rt_execution_stream_reset(e->handle), E5RT_INVALID_ARGUMENT, "reset of an event");
    expect(e5rt_async_event_signal(o->c.run.operation, 1), E5RT_INVALID_ARGUMENT, "signal of an operation");
    expect(e5rt_async_event_get_last_signaled_value(NULL, &number), E5RT_INVALID_ARGUMENT, "value of NULL");
    expect(e5rt_execution_stream_submit_async(s->handle, NULL), E5RT_INVALID_ARGUMENT, "a NULL block");
    expect(e5rt_mw_execution_stream_submit_async_with_timeout(s->handle, done, NULL, 0),
           s->handle != NULL && s->count == 0 ? E5RT_INVALID_OPERATION : E5RT_INVALID_ARGUMENT, "a timeout of 0");
}

static void call_profile(operation *o)
{
    const bool open = o->state == ENCODED && model.streams[o->stream].length == 0;
    expect(e5rt_mw_execution_stream_operation_set_profiling(o->c.run.operation, roll(3)),
           open ? 0 : E5RT_INVALID_OPERATION, "set_profiling");
}

static void call_claim(stream *s)
{
    const uint32_t priority = roll(3), quality = roll(3);
    const e5rt_error_code wanted = s->handle == NULL ? E5RT_INVALID_ARGUMENT : 0;
    expect(e5rt_execution_stream_set_ane_execution_priority(s->handle, priority), wanted, "priority");
    expect(e5rt_execution_stream_set_quality_of_service(s->handle, quality), wanted, "quality");
    s->priority = wanted == 0 ? priority : s->priority;
    s->quality = wanted == 0 ? quality : s->quality;
}

static void call_any(void)
{
    event *e = &model.events[roll(EVENTS)];
    operation *o = &model.operations[roll(OPERATIONS)];
    stream *s = &model.streams[roll(STREAMS)];
    const unsigned which = roll(100);
    if (which < 12)
        call_signal(e);
    else if (which < 18)
        call_future(e);
    else if (which < 24)
        call_wait(e);
    else if (which < 32)
        call_bind(o);
    else if (which < 42)
        call_encode(s, o);
    else if (which < 49)
        call_prepare(o);
    else if (which < 53)
        call_reset(s);
    else if (which < 83)
        call_submit(s);
    else if (which < 90)
        call_execute(s);
    else if (which < 93)
        call_release(s);
    else if (which < 95)
        call_wrongly(s, e, o);
    else if (which < 97)
        call_profile(o);
    else
        call_claim(s);
    rest();
}

/* ---- what must be so ---- */

static void compare(void)
{
    for (int i = 0; i < EVENTS; i++) {
        uint64_t future = 0;
        expect(e5rt_async_event_get_active_future_value(model.events[i].handle, &future), 0, "future");
        CHECK_INT(async_value(model.events[i].handle), model.events[i].signaled);
        CHECK_INT(future, model.events[i].future);
    }
    for (int i = 0; i < OPERATIONS; i++)
        CHECK_NEAR(*model.operations[i].c.x, model.operations[i].runs, 0);
    for (int i = 0; i < STREAMS; i++) {
        uint64_t completed = 0, submitted = 0;
        void *const handle = model.streams[i].handle;
        if (handle == NULL)
            continue;
        expect(e5rt_mw_execution_stream_get_last_completed_request_id(handle, &completed), 0, "completed");
        expect(e5rt_execution_stream_get_internal_async_compute_request_id_for_last_submit(handle, &submitted), 0,
               "submitted");
        CHECK_INT(completed, model.streams[i].completed);
        CHECK_INT(submitted, model.streams[i].submitted);
    }
    CHECK_INT(good_calls, model.good);
    CHECK_INT(late_calls, model.late);
    CHECK_INT(bad_calls, model.bad);
}

static bool open_all(void)
{
    for (int i = 0; i < EVENTS; i++)
        model.events[i].handle = async_event("e");
    for (int i = 0; i < OPERATIONS; i++) {
        model.operations[i].completion = -1;
        if (!async_open(&model.operations[i].c, E5RT_CPU, true))
            return false;
    }
    for (int i = 0; i < STREAMS; i++) {
        model.streams[i].priority = 5;
        model.streams[i].quality = 21;
        expect(e5rt_execution_stream_create(&model.streams[i].handle), 0, "create");
    }
    return true;
}

static void close_all(void)
{
    for (int i = 0; i < STREAMS; i++)
        if (model.streams[i].handle != NULL)
            GOOD(e5rt_execution_stream_release(&model.streams[i].handle));
    for (int i = 0; i < OPERATIONS; i++)
        async_close(&model.operations[i].c);
    for (int i = 0; i < EVENTS; i++)
        GOOD(e5rt_async_event_release(&model.events[i].handle));
}

static void test_a_random_client_gets_what_the_rules_say(void)
{
    const long calls = getenv("MW_NIGHTLY") != NULL ? 10000000 : 100000;
    const char *const seed = getenv("MW_TEST_SEED");
    model.seed = seed != NULL ? strtoull(seed, NULL, 10) : 1;
    REQUIRE(open_all());
    for (long i = 0; i < calls && check_global.failures_here == 0; i++) {
        call_any();
        if (i % 16 == 0)
            compare();
        if (check_global.failures_here > 0)
            check_note(false, __FILE__, __LINE__, "that was call %ld", i);
    }
    CHECK(model.good > 0 && model.late > 0 && model.bad > 0);
    close_all();
}

int main(void)
{
    RUN(test_a_random_client_gets_what_the_rules_say);
    return check_finish();
}
