/* Layers in an order in which each reads earlier ones. Groups that would have to be before and after each other are
 * taken apart again. */
#include "view/layers.h"

#include "base/text/error.h"

#include <string.h>

typedef struct sorter {
    mw__view *view;
    uint32_t *first, *next; /* by root and by operation: members of a group in the order of the text */
    uint32_t *state;        /* by root: 0 new, 1 on the stack, 2 done */
    uint32_t *stack, *member, *read;
    uint32_t depth;
    bool circular;
} sorter;

enum { NEW = 0, OPEN = 1, DONE = 2 };

static void list_members(sorter *s)
{
    const mw__view *view = s->view;
    for (uint32_t i = 0; i < view->op_count; i++)
        s->first[i] = s->next[i] = MW__VIEW_NONE;
    for (uint32_t i = view->op_count; i-- > 0;) {
        if (view->ops[i].fixed)
            continue;
        const uint32_t root = mw__view_root(view, i);
        s->next[i] = s->first[root];
        s->first[root] = i;
    }
}

static void push(sorter *s, uint32_t root)
{
    s->state[root] = OPEN;
    s->stack[s->depth] = root;
    s->member[s->depth] = s->first[root];
    s->read[s->depth] = 0;
    s->depth++;
}

/* The next group that the one on top reads and that is not done; NONE if there is none. */
static uint32_t next_needed(sorter *s)
{
    const mw__view *view = s->view;
    uint32_t *member = &s->member[s->depth - 1], *read = &s->read[s->depth - 1];
    for (; *member != MW__VIEW_NONE; *member = s->next[*member], *read = 0) {
        const mw__view_op *o = &view->ops[*member];
        while (*read < o->read_count) {
            const uint32_t maker = mw__view_maker(view, view->reads[o->first_read + (*read)++]);
            if (maker == MW__VIEW_NONE)
                continue;
            const uint32_t root = mw__view_root(view, maker);
            if (s->state[root] == NEW)
                return root;
            if (s->state[root] == OPEN && root != s->stack[s->depth - 1])
                s->circular = true;
        }
    }
    return MW__VIEW_NONE;
}

static void visit(sorter *s, uint32_t root)
{
    push(s, root);
    while (s->depth > 0) {
        const uint32_t needed = next_needed(s);
        if (needed != MW__VIEW_NONE) {
            push(s, needed);
            continue;
        }
        const uint32_t done = s->stack[--s->depth];
        s->state[done] = DONE;
        s->view->ops[done].layer = s->view->layer_count;
        s->view->order[s->view->layer_count++] = done;
    }
}

static void sort(sorter *s)
{
    mw__view *view = s->view;
    list_members(s);
    memset(s->state, 0, view->op_count * sizeof *s->state);
    view->layer_count = 0;
    s->circular = false;
    for (uint32_t i = 0; i < view->op_count; i++)
        if (!view->ops[i].fixed && s->state[mw__view_root(view, i)] == NEW)
            visit(s, mw__view_root(view, i));
}

/* A group that reads a later one, in the order that was tried, is in a circle with it: both fall apart. */
static void take_circles_apart(sorter *s)
{
    mw__view *view = s->view;
    uint32_t *apart = s->state; /* by root */
    memset(apart, 0, view->op_count * sizeof *apart);
    for (uint32_t i = 0; i < view->op_count; i++) {
        const mw__view_op *o = &view->ops[i];
        for (uint32_t k = 0; k < o->read_count && !o->fixed; k++) {
            const uint32_t maker = mw__view_maker(view, view->reads[o->first_read + k]);
            const uint32_t a = mw__view_root(view, i), b = maker != MW__VIEW_NONE ? mw__view_root(view, maker) : a;
            if (view->ops[b].layer > view->ops[a].layer)
                apart[a] = apart[b] = 1;
        }
    }
    for (uint32_t root = 0; root < view->op_count; root++) {
        for (uint32_t i = apart[root] != 0 ? s->first[root] : MW__VIEW_NONE; i != MW__VIEW_NONE; i = s->next[i]) {
            view->ops[i].group = i;
            view->ops[i].size = 1;
            view->ops[i].first = i;
            view->ops[i].label = NULL;
        }
    }
}

/* Fixed operations belong to the first layer that needs them. */
static void assign_fixed(mw__view *view)
{
    for (uint32_t i = view->op_count; i-- > 0;) {
        const mw__view_op *o = &view->ops[i];
        const uint32_t user = o->fixed ? o->user : i;
        for (uint32_t k = 0; user != MW__VIEW_NONE && k < o->read_count; k++) {
            const uint32_t maker = view->producer[view->reads[o->first_read + k]->id];
            if (maker == MW__VIEW_NONE || !view->ops[maker].fixed)
                continue;
            uint32_t *first = &view->ops[maker].user;
            *first = *first == MW__VIEW_NONE || user < *first ? user : *first;
        }
    }
}

mw_status mw__view_order(mw__view *view, mw_error *err)
{
    sorter s = {.view = view};
    uint32_t **arrays[] = {&s.first, &s.next, &s.state, &s.stack, &s.member, &s.read};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        *arrays[i] = mw__arena_alloc(view->arena, (size_t)view->op_count + 1, sizeof **arrays[i], err);
        if (*arrays[i] == NULL)
            return MW_ERROR_MEMORY;
    }
    sort(&s);
    for (int tries = 0; s.circular && tries < 64; tries++) {
        take_circles_apart(&s);
        sort(&s);
    }
    if (s.circular) { /* all of them: operations alone are in the order of the text */
        for (uint32_t i = 0; i < view->op_count; i++) {
            view->ops[i].group = i;
            view->ops[i].label = NULL;
        }
        sort(&s);
    }
    assign_fixed(view);
    return MW_OK;
}
