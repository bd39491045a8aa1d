/* The order of the nodes of a graph: that of the file, which is to suit what they take. Where it does not, the rest is
 * put into one that does. */
#include "format/onnx/read/import.h"

#include <string.h>

/* The order that was found: up to `begin` that of the file, then the nodes begin + rest[..]. */
typedef struct known_order {
    size_t begin;
    const size_t *rest;
} known_order;

typedef struct ordering {
    mw__onnx_import *import;
    Mw__Onnx__Node *const *nodes;
    size_t count;
    mw__map places; /* name of a result -> 1 + its node */
    bool placed;
    known_order found;
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
    size_t *numbers = mw__alloc(allocator, 2 * count + 1, sizeof *numbers, o->import->err);
    size_t *order = mw__arena_alloc(&o->import->arena, count, sizeof *order, o->import->err);
    mw_status status = MW_ERROR_MEMORY;
    waiting w = {.o = o, .begin = begin, .waits = numbers, .order = order};
    if (numbers != NULL && order != NULL) {
        w.first = numbers + count;
        status = find_order(&w, count);
    }
    for (size_t i = 0; status == MW_OK && i < count; i++)
        status = mw__onnx_import_node(o->import, o->nodes[begin + order[i]]);
    mw__free(allocator, w.after);
    mw__free(allocator, numbers);
    o->found = (known_order){begin, order};
    return status;
}

/* ---- all nodes ---- */

static mw_status import_all(ordering *o)
{
    o->found.begin = o->count;
    for (size_t i = 0; i < o->count; i++) {
        bool early;
        MW_TRY(comes_too_early(o, o->nodes[i], &early));
        if (early)
            return import_rest(o, i);
        MW_TRY(mw__onnx_import_node(o->import, o->nodes[i]));
    }
    return MW_OK;
}

/* ---- nodes that are read again ---- */

/* A loop and a function are read trip by trip and call by call, each time among the same names: what the bodies of
 * their nodes take is looked through once, however large those are that no call ever enters. */
typedef struct order_key {
    uintptr_t nodes, depth, names; /* which, and what they see */
} order_key;

static order_key key_of_order(const mw__onnx_import *import, Mw__Onnx__Node *const *nodes)
{
    order_key key = {.nodes = (uintptr_t)nodes};
    for (const mw__onnx_scope *scope = import->scope; scope != NULL; scope = scope->outer) {
        key.depth++;
        key.names += mw__map_count(&scope->values);
    }
    return key;
}

static mw_status import_known(mw__onnx_import *import, Mw__Onnx__Node *const *nodes, size_t count,
                              const known_order *order)
{
    for (size_t i = 0; i < order->begin; i++)
        MW_TRY(mw__onnx_import_node(import, nodes[i]));
    for (size_t i = order->begin; i < count; i++)
        MW_TRY(mw__onnx_import_node(import, nodes[order->begin + order->rest[i - order->begin]]));
    return MW_OK;
}

static mw_status note_order(const ordering *o, const order_key *key)
{
    known_order *kept = mw__arena_alloc(&o->import->arena, 1, sizeof *kept, o->import->err);
    if (kept == NULL)
        return MW_ERROR_MEMORY;
    *kept = o->found;
    return mw__map_set_n(&o->import->orders, (const char *)key, sizeof *key, kept, o->import->err);
}

mw_status mw__onnx_import_nodes(mw__onnx_import *import, Mw__Onnx__Node *const *nodes, size_t count)
{
    ordering o = {.import = import, .nodes = nodes, .count = count};
    const order_key key = key_of_order(import, nodes);
    const known_order *known = mw__map_get_n(&import->orders, (const char *)&key, sizeof key);
    if (known != NULL)
        return import_known(import, nodes, count, known);
    mw__map_init(&o.places, import->arena.allocator);
    mw_status status = import_all(&o);
    mw__map_deinit(&o.places);
    return status == MW_OK && count > 0 ? note_order(&o, &key) : status;
}
