/* The team of team.h on POSIX threads. */
#include "team.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct start {
    member self;
    void (*work)(const member *self);
} start;

static void *enter(void *argument)
{
    const start *s = argument;
    s->work(&s->self);
    return NULL;
}

void team_run(int size, void (*work)(const member *self), void *user)
{
    team t = {.size = size < TEAM_MAX ? size : TEAM_MAX};
    start starts[TEAM_MAX];
    pthread_t threads[TEAM_MAX];
    for (int i = 0; i < t.size; i++)
        starts[i] = (start){.self = {.of = &t, .id = i, .user = user}, .work = work};
    for (int i = 1; i < t.size; i++) {
        if (pthread_create(&threads[i], NULL, enter, &starts[i]) != 0) {
            fprintf(stderr, "no thread\n");
            exit(1);
        }
    }
    enter(&starts[0]);
    for (int i = 1; i < t.size; i++)
        pthread_join(threads[i], NULL);
}

static void relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* The last to come opens the barrier by counting its generation up. After
 * 20,000 looks a waiter lets others run: the thread that it waits for may have
 * lost its processor. */
void team_barrier(team *t)
{
    if (t->size == 1)
        return;
    const int generation = atomic_load(&t->generation);
    if (atomic_fetch_add(&t->waiting, 1) == t->size - 1) {
        atomic_store(&t->waiting, 0);
        atomic_store(&t->generation, generation + 1);
        return;
    }
    for (int looks = 1; atomic_load_explicit(&t->generation, memory_order_acquire) == generation; looks++) {
        relax();
        if (looks % 20000 == 0)
            sched_yield();
    }
}

int team_start(const team *t, int id, int count, int unit)
{
    return id == t->size ? count : (int)((long)(count / unit) * id / t->size) * unit;
}
