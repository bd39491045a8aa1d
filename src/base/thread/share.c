/* Threads that live for one call, and take parts from a counter. */
#include "base/thread/share.h"

#include "base/thread/thread.h"

#include <stdatomic.h>
#include <unistd.h>

enum { SHARE_THREADS_MAX = 64 };

typedef struct sharing {
    mw__share_part *run;
    void *user;
    size_t parts;
    atomic_size_t next;
} sharing;

static void *take_parts(void *argument)
{
    sharing *s = argument;
    for (size_t part; (part = atomic_fetch_add_explicit(&s->next, 1, memory_order_relaxed)) < s->parts;)
        s->run(s->user, part);
    return NULL;
}

static size_t count_threads(int threads, size_t parts)
{
    const long processors = threads > 0 ? threads : sysconf(_SC_NPROCESSORS_ONLN);
    const size_t wanted = processors < 1 ? 1 : (size_t)processors, most = wanted < parts ? wanted : parts;
    return most < SHARE_THREADS_MAX ? most : SHARE_THREADS_MAX;
}

void mw__share(int threads, size_t parts, mw__share_part *run, void *user)
{
    sharing s = {.run = run, .user = user, .parts = parts};
    mw__thread *started[SHARE_THREADS_MAX] = {NULL};
    const size_t count = count_threads(threads, parts);
    for (size_t i = 1; i < count; i++)
        started[i] = mw__thread_start("mw share", take_parts, &s);
    take_parts(&s);
    for (size_t i = 1; i < count; i++)
        if (started[i] != NULL)
            mw__thread_join(started[i]);
}
