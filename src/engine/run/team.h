/* The worker team of the process: threads that run the partitions of a plan together with the caller. */
#ifndef MW__ENGINE_RUN_TEAM_H
#define MW__ENGINE_RUN_TEAM_H

#include <stdbool.h>

/* Called once per member, 0 (the caller) .. members - 1, at the same time. */
typedef void mw__team_job(void *user, int member, int members);

/* Starts threads so that up to `members` can run a job; fewer if the system gives no more. */
void mw__team_reserve(int members);

/* Joins the threads, once no run has them; the next run starts as many anew. Not inside a job. */
void mw__team_end(void);

/* Runs the job on up to `members` threads with the caller as one of them and returns when all are done. False, without
 * having called anything, if there is no other thread or another run has the team: then the caller works alone. */
bool mw__team_run(mw__team_job *job, void *user, int members);

/* True if no worker sleeps. Else, for a caller that asks again within the time that workers spin, they are woken for
 * that time, at most once a millisecond; no run waits for them. */
bool mw__team_awake(void);

/* True for a while after a run in which the caller mostly waited for others: they share their processors with what else
 * the machine does, and a caller alone is faster. */
bool mw__team_late(void);

/* Inside a job: returns when every member has come here. */
void mw__team_barrier(int members);

#endif
