/* The only door to threads: each is started by the hooks of the user's, if any are set, or by the system, and joined by
 * who started it. */
#ifndef MW__BASE_THREAD_THREAD_H
#define MW__BASE_THREAD_THREAD_H

#include "base/text/error.h"

typedef struct mw__thread mw__thread;

/* Calls run(argument) on a thread of its own, which blocks signals and computes in our floating-point mode. `name` is
 * for people. NULL if there is none to be had. */
mw__thread *mw__thread_start(const char *name, void *(*run)(void *argument), void *argument);

/* Returns when its `run` has, and frees it. NULL is fine. In another process than the one that started it, where it
 * does not exist, it is only freed. */
void mw__thread_join(mw__thread *thread);

/* In place of a join, by the thread itself: it ends when `run` returns, and nobody waits for it. */
void mw__thread_leave(mw__thread *thread);

/* What starts threads from now on; NULL = the system. Takes a copy.
 *  errors  MW_ERROR_ARGUMENT (a function is NULL), MW_ERROR_STATE (called by a hook), MW_ERROR_MEMORY */
mw_status mw__thread_hooks_put(const mw_thread_hooks *hooks, mw_error *err);

/* As mw__thread_hooks_put would find it, without doing it. */
mw_status mw__thread_hooks_check(const mw_thread_hooks *hooks, mw_error *err);

/* NULL = the system. Equal hooks are the same pointer, which stays. */
const mw_thread_hooks *mw__thread_hooks_now(void);

/* Joins the threads that have left. */
void mw__thread_join_left(void);

#endif
