/* Moves the check of a buffer behind the step that makes it, so that it is read while it is in a cache. */
#include "engine/compile/fuse/ways.h"
#include "engine/core/planner.h"

#include <string.h>

/* Steps as a list: place p stands for step p - 1, 0 for the list's head. */
typedef struct list {
    uint32_t *next;  /* by place */
    uint32_t *maker; /* by buffer: place of the last step that writes it, 0 = none */
} list;

static void link_steps(const list *l, mw__step *const *steps, uint32_t count)
{
    uint32_t tail = 0;
    for (uint32_t place = 1; place <= count; place++) {
        const mw__step *step = steps[place - 1];
        const uint32_t maker =
            step->fusion.kind == MW__STEP_CHECK ? l->maker[step->reads[0].buffer] : 0; /* 0: it reads a port */
        const uint32_t before = maker != 0 ? maker : tail;
        l->next[place] = l->next[before];
        l->next[before] = place;
        tail = before == tail ? place : tail;
        for (size_t i = 0; i < step->write_count; i++)
            l->maker[step->writes[i].buffer] = place;
    }
}

mw_status mw__fuse_watches(const mw__pass *pass, mw_error *err)
{
    mw__step **const steps = pass->planner->steps;
    const size_t count = pass->planner->step_count;
    const mw_allocator *heap = pass->arena->allocator;
    const list l = {.next = mw__alloc(heap, count + 1, sizeof *l.next, err),
                    .maker = mw__alloc(heap, pass->buffer_count, sizeof *l.maker, err)};
    mw__step **moved = mw__alloc(heap, count, sizeof *moved, err);
    const bool good = l.next != NULL && l.maker != NULL && moved != NULL;
    if (good) {
        link_steps(&l, steps, (uint32_t)count);
        size_t to = 0;
        for (uint32_t place = l.next[0]; place != 0; place = l.next[place])
            moved[to++] = steps[place - 1];
        memcpy(steps, moved, count * sizeof *steps);
    }
    mw__free(heap, l.next);
    mw__free(heap, l.maker);
    mw__free(heap, moved);
    return good ? MW_OK : MW_ERROR_MEMORY;
}
