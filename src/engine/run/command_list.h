/* An encoded operation: every partition's calls, phase by phase, with all addresses resolved. */
#ifndef MW__ENGINE_RUN_COMMAND_LIST_H
#define MW__ENGINE_RUN_COMMAND_LIST_H

#include "engine/run/layout.h"

/* What is bound to a port. */
typedef struct mw__binding {
    void *data; /* NULL = nothing */
    size_t size;
} mw__binding;

typedef struct mw__kernel_task {
    mw__kernel *run;
    mw__kernel_call call;
} mw__kernel_task;

typedef struct mw__command_chain {
    const mw__kernel_task *tasks;
    size_t count;
} mw__command_chain;

/* Which step a task is a share of, and whose share; for plans and profiles. */
typedef struct mw__task_place {
    uint32_t step; /* of the layout */
    uint32_t partition;
} mw__task_place;

typedef struct mw__profile mw__profile;
typedef struct mw__nested_commands mw__nested_commands;

/* intermediates.c: memory for the intermediates of all operations of one stream, of which one runs at a time: as much
 * as the largest needs. Nothing stays in it from one run to the next. */
typedef struct mw__intermediates {
    const mw_allocator *allocator;
    void *memory;
    size_t size;
    struct mw__command_list *first; /* of those that work in it */
} mw__intermediates;

typedef struct mw__command_list {
    mw__arena arena;
    void *memory;            /* of the local buffers and the partitions' scratch */
    mw__intermediates *room; /* whose memory that is; NULL = its own */
    struct mw__command_list *next_in_room;
    void **addresses; /* of all operands, for the room to move */
    size_t address_count;
    size_t size; /* of the local buffers: the peak */
    size_t phase_count;
    int partitions;
    bool alone;                      /* too small to wake the team for; the same partitions, one after the other */
    bool brief;                      /* too small to wait for workers that sleep */
    bool flush;                      /* as the program's */
    const mw__command_chain *chains; /* [phase][partition] */
    mw__kernel_task *tasks;          /* of all chains, in their order */
    const mw__task_place *places;
    size_t task_count;
    size_t scratch;                     /* bytes of all partitions, and of nested lists all their bytes */
    mw__nested_commands *const *nested; /* by phase: a step that runs blocks, alone there, or NULL; NULL = none does */
    const mw__layout *layout;           /* without arenas and aliases */
    mw__profile *profile;               /* NULL = off */
} mw__command_list;

/* The blocks of a branch or loop, encoded on what the step reads and writes. */
struct mw__nested_commands {
    bool loop;
    mw__command_list programs[2];
    const unsigned char *flag; /* the predicate, or what the condition gives */
};

/* Checks the bindings (each bound, large enough, aligned; an output overlaps no other port but an input of exactly its
 * bytes: same first byte, same size) and makes the command list. On failure it is empty.
 * room  NULL = memory of its own. None of the room's command lists may be running, and this one stays where it is until
 *       it is deinitialized */
mw_status mw__encode(const mw__program *program, const mw__binding *inputs, const mw__binding *outputs,
                     const mw_allocator *allocator, mw__intermediates *room, mw__command_list *commands, mw_error *err);
void mw__command_list_deinit(mw__command_list *commands);

void mw__intermediates_init(mw__intermediates *room, const mw_allocator *allocator);
/* Command lists that work in it must not run afterwards. */
void mw__intermediates_deinit(mw__intermediates *room);
/* Makes it `size` bytes at least, and tells those that work in it where they are now. */
mw_status mw__intermediates_reserve(mw__intermediates *room, size_t size, mw_error *err);
void mw__intermediates_add(mw__intermediates *room, mw__command_list *commands);
void mw__intermediates_remove(mw__command_list *commands);

/* Runs it. Allocates nothing; takes no lock but to wake sleeping workers. */
void mw__execute(const mw__command_list *commands);

#endif
