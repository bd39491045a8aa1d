/* The one lock of asynchronous work, which guards the queue, the submissions of streams and events, and how threads
 * wait for what changes under it. */
#ifndef MW__ENGINE_RUN_ASYNC_H
#define MW__ENGINE_RUN_ASYNC_H

#include <stdbool.h>
#include <stdint.h>

void mw__async_lock(void);
void mw__async_unlock(void);

typedef bool mw__async_ready(const void *what, uint64_t value);

#define MW__ASYNC_NEVER UINT64_MAX

/* Under the lock, which it gives up while it waits: until ready(what, value), which is asked now and by each
 * mw__async_changed, or until mw__profile_now is `deadline`. False if that passed first. */
bool mw__async_wait(mw__async_ready *ready, const void *what, uint64_t value, uint64_t deadline);

/* Under the lock: wakes the threads whose wait is over. */
void mw__async_changed(void);

#endif
