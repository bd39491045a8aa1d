/* Shared memory of the operations of one stream. It grows when one comes that needs more; those that are in it get the
 * new addresses. */
#include "engine/run/command_list.h"

void mw__intermediates_init(mw__intermediates *room, const mw_allocator *allocator)
{
    *room = (mw__intermediates){.allocator = allocator};
}

void mw__intermediates_deinit(mw__intermediates *room)
{
    while (room->first != NULL)
        mw__intermediates_remove(room->first);
    mw__free_aligned(room->allocator, room->memory);
    *room = (mw__intermediates){0};
}

/* ---- moving ---- */

typedef struct move {
    uintptr_t from, size;
    char *to;
} move;

/* Ports and constants lie elsewhere and stay. */
static void *moved(const move *m, const void *address)
{
    const uintptr_t offset = (uintptr_t)address - m->from;
    return address != NULL && offset < m->size ? m->to + offset : (void *)(uintptr_t)address;
}

static void move_list(const move *m, const mw__command_list *commands)
{
    for (size_t i = 0; i < commands->address_count; i++)
        commands->addresses[i] = moved(m, commands->addresses[i]);
    for (size_t i = 0; i < commands->task_count; i++)
        commands->tasks[i].call.scratch = moved(m, commands->tasks[i].call.scratch);
    for (size_t phase = 0; commands->nested != NULL && phase < commands->phase_count; phase++) {
        mw__nested_commands *nested = commands->nested[phase];
        if (nested == NULL)
            continue;
        nested->flag = moved(m, nested->flag);
        for (size_t i = 0; i < 2; i++)
            move_list(m, &nested->programs[i]);
    }
}

mw_status mw__intermediates_reserve(mw__intermediates *room, size_t size, mw_error *err)
{
    if (room->memory != NULL && size <= room->size)
        return MW_OK;
    void *memory = mw__alloc_large(room->allocator, size, err);
    if (memory == NULL)
        return MW_ERROR_MEMORY;
    const move m = {.from = (uintptr_t)room->memory, .size = room->size, .to = memory};
    for (mw__command_list *commands = room->first; commands != NULL; commands = commands->next_in_room) {
        move_list(&m, commands);
        commands->memory = memory;
    }
    mw__free_aligned(room->allocator, room->memory);
    room->memory = memory;
    room->size = size;
    return MW_OK;
}

/* ---- who is in it ---- */

void mw__intermediates_add(mw__intermediates *room, mw__command_list *commands)
{
    commands->room = room;
    commands->next_in_room = room->first;
    room->first = commands;
}

void mw__intermediates_remove(mw__command_list *commands)
{
    mw__command_list **at = &commands->room->first;
    while (*at != commands)
        at = &(*at)->next_in_room;
    *at = commands->next_in_room;
    commands->room = NULL;
    commands->next_in_room = NULL;
    commands->memory = NULL;
}
