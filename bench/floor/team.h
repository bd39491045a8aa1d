/* A team of threads that run one function together and meet at barriers. They
 * spin while they wait: a step of W1 has three barriers and lasts half a
 * millisecond. */
#ifndef FLOOR_TEAM_H
#define FLOOR_TEAM_H

#include <stdatomic.h>

enum { TEAM_MAX = 16 };

typedef struct team {
    int size;
    atomic_int waiting, generation;
} team;

/* One of the team. */
typedef struct member {
    team *of;
    int id;
    void *user;
} member;

/* Runs `work` on `size` threads, the caller being number 0; returns when all
 * have ended. */
void team_run(int size, void (*work)(const member *self), void *user);

void team_barrier(team *t);

/* Where the part of member `id` of `count` things starts, in multiples of
 * `unit`; the last part ends at `count`. */
int team_start(const team *t, int id, int count, int unit);

#endif
