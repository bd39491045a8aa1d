/* Small programs on streams of their own, for the tests of asynchronous submission. */
#ifndef TESTS_ENGINE_RUN_ASYNC_CASE_H
#define TESTS_ENGINE_RUN_ASYNC_CASE_H

#include "engine/run.h"
#include "support/check.h"

#include <stdatomic.h>

/* y = x + 1 on one float each; x and y share their buffer if `state`. */
typedef struct async_case {
    run_program run;
    float *x, *y;
} async_case;

bool async_open(async_case *c, uint64_t mask, bool state);
void async_close(async_case *c);

/* An event at 0. */
void *async_event(const char *name);
uint64_t async_value(void *event);

/* A completion that counts. */
typedef struct async_count {
    atomic_int calls, last_status;
} async_count;

void async_done(void *count, e5rt_error_code status);
/* Waits, up to ten seconds, until the completion was called that often. */
bool async_wait_calls(async_count *count, int calls);
/* The same until all that the stream has submitted has ended. */
bool async_wait_stream(void *stream);

#define GOOD(call)                                                                                                     \
    do {                                                                                                               \
        const e5rt_error_code good_code = (call);                                                                      \
        check_note(good_code == 0, __FILE__, __LINE__, "%s is %lld: %s", #call, (long long)good_code,                  \
                   good_code != 0 ? e5rt_get_last_error_message() : "");                                               \
    } while (0)
#define REFUSED(call, wanted, part)                                                                                    \
    do {                                                                                                               \
        CHECK_INT((call), (wanted));                                                                                   \
        CHECK_CONTAINS(e5rt_get_last_error_message(), part);                                                           \
    } while (0)

#endif
