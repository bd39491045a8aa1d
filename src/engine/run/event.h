/* Events: counters that only grow, by which asynchronous work is ordered. All but mw__event_signaled is called under
 * the lock of async.h. */
#ifndef MW__ENGINE_RUN_EVENT_H
#define MW__ENGINE_RUN_EVENT_H

#include "engine/core/object.h"

/* How a submission ends. */
typedef enum mw__outcome {
    MW__OUTCOME_DONE,
    MW__OUTCOME_TIMED_OUT,
    MW__OUTCOME_RELEASED,   /* its stream was, and nothing that is in flight would have let it go on */
    MW__OUTCOME_EVENT_LOST, /* what was to signal an event that it waits for was given up */
    MW__OUTCOME_UNHEARD     /* it has run, and nobody is told (MW_ENGINE_STREAMS) */
} mw__outcome;

/* Values are at most this, so that none overflows. */
#define MW__EVENT_MAX ((uint64_t)INT64_MAX)

/* signaled <= future, assigned <= future. */
typedef struct mw__event {
    mw__object object;
    char *name;
    _Atomic(uint64_t) signaled; /* last signaled value; written under the lock */
    uint64_t future;            /* active future value: what work that is submitted now waits for */
    uint64_t assigned;          /* the greatest value that was signaled, or that a submission is to signal */
    uint64_t lost;              /* the greatest value whose submission was given up; 0 = none */
    mw__outcome why;            /* it was */
} mw__event;

void mw__event_init(mw__event *event, uint64_t value);

/* What is written before a value is signaled is seen by who reads that value here. */
uint64_t mw__event_signaled(const mw__event *event);

/* The value that a submission is to signal: the active future value, or the next if that is another's already. */
uint64_t mw__event_promise(mw__event *event);
/* Signals a value; a smaller one than the last changes nothing. */
void mw__event_raise(mw__event *event, uint64_t value);
/* The submission that was to signal the value never will. */
void mw__event_lose(mw__event *event, uint64_t value, mw__outcome why);

/* For mw__async_wait: the value was signaled, or lost. */
bool mw__event_decided(const void *event, uint64_t value);

#endif
