/* Runs a command list: on the team if it is worth it and free, else all partitions one after the other on the caller.
 * Either way the same calls are made, so that the bits are the same. Sets the floating-point environment of each thread
 * that takes part to round to nearest, subnormals kept unless the program flushes them, and restores it. */
#include "base/number/float_mode.h"
#include "engine/core/kernel.h"
#include "engine/core/partition.h"
#include "engine/run/command_list.h"
#include "engine/run/profile.h"
#include "engine/run/team.h"

static void run_chain(const mw__command_chain *chain)
{
    for (size_t i = 0; i < chain->count; i++)
        chain->tasks[i].run(&chain->tasks[i].call);
}

/* The same with the time of each task; one reading of the clock between two. */
static void time_chain(const mw__command_chain *chain, const mw__kernel_task *first, mw__profile_span *spans)
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

static void run_block(const mw__command_list *commands, int member, int members);

/* Every member sees the same flag: between its being written and its being read, and between that and its being written
 * again, all have met. */
static void run_nested(const mw__nested_commands *nested, int member, int members)
{
    if (!nested->loop) {
        run_block(&nested->programs[*nested->flag != 0 ? 0 : 1], member, members);
        return;
    }
    for (;;) {
        run_block(&nested->programs[0], member, members);
        if (members > 1)
            mw__team_barrier(members);
        if (*nested->flag == 0)
            return;
        run_block(&nested->programs[1], member, members);
        if (members > 1)
            mw__team_barrier(members);
    }
}

static void run_block(const mw__command_list *commands, int member, int members)
{
    for (size_t phase = 0; phase < commands->phase_count; phase++) {
        if (phase > 0 && members > 1)
            mw__team_barrier(members);
        if (commands->nested != NULL && commands->nested[phase] != NULL) {
            run_nested(commands->nested[phase], member, members);
            continue;
        }
        const mw__command_chain *chains = commands->chains + phase * (size_t)commands->partitions;
        for (int partition = member; partition < commands->partitions; partition += members)
            run_chain(&chains[partition]);
    }
}

/* The one task of a phase with blocks stands for all of it. */
static void time_nested(const mw__command_list *commands, size_t phase, int member, int members,
                        mw__profile_span *spans)
{
    const mw__kernel_task *task = commands->chains[phase * (size_t)commands->partitions].tasks;
    const uint64_t begin = spans != NULL && member == 0 ? mw__profile_now() : 0;
    run_nested(commands->nested[phase], member, members);
    if (spans != NULL && member == 0)
        spans[task - commands->tasks] = (mw__profile_span){.begin = begin, .end = mw__profile_now()};
}

/* Partitions member, member + members, ... of every phase. `spans` NULL: not timed; a constant where it is called. */
MW__INLINE void run_partitions(const mw__command_list *commands, int member, int members, mw__profile_span *spans)
{
    const mw__vector_mode saved = mw__vector_mode_enter(commands->flush);
    for (size_t phase = 0; phase < commands->phase_count; phase++) {
        if (phase > 0 && members > 1)
            mw__team_barrier(members);
        if (commands->nested != NULL && commands->nested[phase] != NULL) {
            time_nested(commands, phase, member, members, spans);
            continue;
        }
        const mw__command_chain *chains = commands->chains + phase * (size_t)commands->partitions;
        for (int partition = member; partition < commands->partitions; partition += members)
            if (spans == NULL)
                run_chain(&chains[partition]);
            else
                time_chain(&chains[partition], commands->tasks, spans);
    }
    mw__vector_mode_leave(saved, commands->flush);
}

static void run_member(void *user, int member, int members)
{
    const mw__command_list *commands = user;
    run_partitions(commands, member, members, NULL);
}

static void time_member(void *user, int member, int members)
{
    const mw__command_list *commands = user;
    if (member == 0)
        mw__profile_set_members(commands->profile, members);
    run_partitions(commands, member, members, mw__profile_spans(commands->profile));
}

MW__INLINE void execute(const mw__command_list *commands, mw__team_job *job)
{
    void *user = (void *)(uintptr_t)commands;
    if (commands->alone || mw__team_late() || (commands->brief && !mw__team_awake()) ||
        !mw__team_run(job, user, commands->partitions))
        job(user, 0, 1);
}

void mw__execute(const mw__command_list *commands)
{
    if (commands->profile == NULL) {
        execute(commands, run_member);
        return;
    }
    mw__profile_begin(commands->profile);
    execute(commands, time_member);
    mw__profile_end(commands->profile);
}
