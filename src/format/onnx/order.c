/* The order of the nodes of a graph: that of the file, which is to suit what they take. Where it does not, the rest is
 * put into one that does. */
#include "format/onnx/import.h"

#include <string.h>

typedef struct ordering {
    mw__onnx_import *import;
    Mw__Onnx__Node *const *nodes;
    size_t count;
    mw__map places; /* name of a result -> 1 + its node */
    bool placed;
} ordering;

/* ---- names that a node takes ---- */

/* False to stop. */
typedef bool see_name(void *user, const char *name);

static bool see_graph(const Mw__Onnx__Graph *graph, see_name *see, void *user);

static bool see_node(const Mw__Onnx__Node *node, see_name *see, void *user)
{
    for (size_t i = 0; i < node->n_input; i++)
        if (!see(user, node->input[i]))
            return false;
    for (size_t i = 0; i < node->n_attribute; i++) {
        const Mw__Onnx__Attribute *attribute = node->attribute[i];
        if (attribute->g != NULL && !see_graph(attribute->g, see, user))
            return false;
        for (size_t k = 0; k < attribute->n_graphs; k++)
            if (!see_graph(attribute->graphs[k], see, user))
                return false;
    }
    return true;
}

/* What a body takes from around it, and names of its own, which are no results of the nodes around it. */
static bool see_graph(const Mw__Onnx__Graph *graph, see_name *see, void *user)
{
    for (size_t i = 0; i < graph->n_node; i++)
        if (!see_node(graph->node[i], see, user))
            return false;
    for (size_t i = 0; i < graph->n_output; i++)
        if (!see(user, graph->output[i]->name))
            return false;
    return true;
}

/* ---- what comes later ---- */

static mw_status find_places(ordering *o)
{
    o->placed = true;
    for (size_t i = 0; i < o->count; i++)
        for (size_t k = 0; k < o->nodes[i]->n_output; k++)
            if (o->nodes[i]->output[k][0] != '\0')
                MW_TRY(mw__map_set(&o->places, o->nodes[i]->output[k], (void *)(i + 1), o->import->err));
    return MW_OK;
}

/* 1 + the node that gives the name, 0 = none. */
static size_t place_of(const ordering *o, const char *name) { return (size_t)mw__map_get(&o->places, name); }

static bool is_there(void *user, const char *name)
{
    const ordering *o = user;
    return name[0] == '\0' || mw__onnx_find(o->import, name) != NULL || (o->placed && place_of(o, name) == 0);
}

static bool has_body(const Mw__Onnx__Node *node)
{
    for (size_t i = 0; i < node->n_attribute; i++)
        if (node->attribute[i]->g != NULL || node->attribute[i]->n_graphs > 0)
            return true;
    return false;
}

/* True if the node takes what only a later one gives. */
static mw_status comes_too_early(ordering *o, const Mw__Onnx__Node *node, bool *out)
{
    const bool body = has_body(node);
    *out = (!body || o->placed) && !see_node(node, is_there, o);
    if ((*out || body) && !o->placed) {
        MW_TRY(find_places(o));
        *out = !see_node(node, is_there, o);
    }
    return MW_OK;
}

/* ---- another order ---- */

/* Who waits for whom: node k of the rest waits for waits[k] names; those of `after` from first[p] on wait for p. */
typedef struct waiting {
    ordering *o;
    size_t begin, at; /* of the rest; the node that is looked at */
    size_t *waits, *first, *after, *order;
    bool filling;
} waiting;

static bool note_wait(void *user, const char *name)
{
    waiting *w = user;
    const size_t place = place_of(w->o, name);
    if (name[0] == '\0' || place <= w->begin || mw__onnx_find(w->o->import, name) != NULL)
        return true;
    size_t *next = &w->first[place - 1 - w->begin];
    if (w->filling)
        w->after[--*next] = w->at;
    else
        ++*next, ++w->waits[w->at];
    return true;
}

static void note_waits(waiting *w, bool filling)
{
    w->filling = filling;
    for (w->at = 0; w->at < w->o->count - w->begin; w->at++)
        see_node(w->o->nodes[w->begin + w->at], note_wait, w);
}

/* Fills in the order: whoever waits for nobody, then whoever waits for those alone. What is in a cycle comes last. */
static void sort_rest(waiting *w, size_t count)
{
    size_t made = 0;
    for (size_t i = 0; i < count; i++)
        if (w->waits[i] == 0)
            w->order[made++] = i;
    for (size_t taken = 0; taken < made; taken++)
        for (size_t k = w->first[w->order[taken]]; k < w->first[w->order[taken] + 1]; k++)
            if (--w->waits[w->after[k]] == 0)
                w->order[made++] = w->after[k];
    for (size_t i = 0; i < count; i++)
        if (w->waits[i] > 0)
            w->order[made++] = i;
}

static mw_status find_order(waiting *w, size_t count)
{
    const mw__onnx_import *import = w->o->import;
    size_t total = 0;
    note_waits(w, false);
    for (size_t i = 0; i < count; i++) {
        total += w->first[i];
        w->first[i] = total;
    }
    w->first[count] = total;
    w->after = mw__alloc(import->arena.allocator, total + 1, sizeof *w->after, import->err);
    if (w->after == NULL)
        return MW_ERROR_MEMORY;
    note_waits(w, true);
    sort_rest(w, count);
    return MW_OK;
}

static mw_status import_rest(ordering *o, size_t begin)
{
    const mw_allocator *allocator = o->import->arena.allocator;
    const size_t count = o->count - begin;
    size_t *numbers = mw__alloc(allocator, 3 * count + 1, sizeof *numbers, o->import->err);
    if (numbers == NULL)
        return MW_ERROR_MEMORY;
    waiting w = {.o = o, .begin = begin, .waits = numbers, .order = numbers + count, .first = numbers + 2 * count};
    mw_status status = find_order(&w, count);
    for (size_t i = 0; status == MW_OK && i < count; i++)
        status = mw__onnx_import_node(o->import, o->nodes[begin + w.order[i]]);
    mw__free(allocator, w.after);
    mw__free(allocator, numbers);
    return status;
}

/* ---- all nodes ---- */

static mw_status import_all(ordering *o)
{
    for (size_t i = 0; i < o->count; i++) {
        bool early;
        MW_TRY(comes_too_early(o, o->nodes[i], &early));
        if (early)
            return import_rest(o, i);
        MW_TRY(mw__onnx_import_node(o->import, o->nodes[i]));
    }
    return MW_OK;
}

mw_status mw__onnx_import_nodes(mw__onnx_import *import, Mw__Onnx__Node *const *nodes, size_t count)
{
    ordering o = {.import = import, .nodes = nodes, .count = count};
    mw__map_init(&o.places, import->arena.allocator);
    const mw_status status = import_all(&o);
    mw__map_deinit(&o.places);
    return status;
}
