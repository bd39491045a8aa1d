/* Runs a schedule: on the team if it is worth it and free, else all lanes one after the other on the caller. Either way
 * the same calls are made, so that the bits are the same. Sets the floating-point environment of each thread that takes
 * part to round to nearest, subnormals kept, and restores it. */
#include "base/float_mode.h"
#include "engine/core/kernel.h"
#include "engine/core/partition.h"
#include "engine/run/command_list.h"
#include "engine/run/profile.h"
#include "engine/run/team.h"

static void run_chain(const mw__chain *chain)
{
    for (size_t i = 0; i < chain->count; i++)
        chain->tasks[i].run(&chain->tasks[i].call);
}

/* The same with the time of each task; one reading of the clock between two. */
static void time_chain(const mw__chain *chain, const mw__task *first, mw__profile_span *spans)
{
    spans += chain->tasks - first;
    uint64_t now = mw__profile_now();
    for (size_t i = 0; i < chain->count; i++) {
        spans[i].begin = now;
        chain->tasks[i].run(&chain->tasks[i].call);
        now = mw__profile_now();
        spans[i].end = now;
    }
}

/* Lanes member, member + members, ... of every phase. `spans` NULL: not timed; a constant where it is called. */
MW__INLINE void run_lanes(const mw__schedule *schedule, int member, int members, mw__profile_span *spans)
{
    const mw__vector_mode saved = mw__vector_mode_enter();
    for (size_t phase = 0; phase < schedule->phase_count; phase++) {
        if (phase > 0 && members > 1)
            mw__team_barrier(members);
        const mw__chain *chains = schedule->chains + phase * (size_t)schedule->lanes;
        for (int lane = member; lane < schedule->lanes; lane += members)
            if (spans == NULL)
                run_chain(&chains[lane]);
            else
                time_chain(&chains[lane], schedule->tasks, spans);
    }
    mw__vector_mode_leave(saved);
}

static void run_member(void *user, int member, int members)
{
    const mw__schedule *schedule = user;
    run_lanes(schedule, member, members, NULL);
}

static void time_member(void *user, int member, int members)
{
    const mw__schedule *schedule = user;
    if (member == 0)
        mw__profile_set_members(schedule->profile, members);
    run_lanes(schedule, member, members, mw__profile_spans(schedule->profile));
}

MW__INLINE void execute(const mw__schedule *schedule, mw__team_job *job)
{
    void *user = (void *)(uintptr_t)schedule;
    if (schedule->alone || (schedule->brief && !mw__team_awake()) || !mw__team_run(job, user, schedule->lanes))
        job(user, 0, 1);
}

void mw__execute(const mw__schedule *schedule)
{
    if (schedule->profile == NULL) {
        execute(schedule, run_member);
        return;
    }
    mw__profile_begin(schedule->profile);
    execute(schedule, time_member);
    mw__profile_end(schedule->profile);
}
