/* Writes FlexibleShapeInformation, as Apple's compiler spells it: default shapes, and bounds of each axis. */
#include "graph/ir/admitted.h"

#include "graph/ir/ir_make.h"
#include "graph/ir/rule.h"

#include <string.h>

/* What a dictionary says of an input. */
typedef mw__payload *entry_of(mw_graph *graph, const mw_tensor *input, mw_shape standard);

static const mw__type *tuple_type(mw_graph *graph, const mw__payload *const *members, size_t count)
{
    mw__type *type = mw__arena_alloc(&graph->arena, 1, sizeof *type, &graph->error);
    const mw__type **elements = mw__arena_alloc(&graph->arena, count, sizeof *elements, &graph->error);
    if (type == NULL || elements == NULL)
        return NULL;
    for (size_t i = 0; i < count; i++)
        elements[i] = members[i]->type;
    *type = (mw__type){.kind = MW__TUPLE, .count = count, .element = elements};
    return type;
}

/* A payload of members, whose type is a tuple of theirs if none is given; NULL if one of them is. */
static mw__payload *gather_members(mw_graph *graph, const mw__type *type, const mw__payload *const *members,
                                   size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (members[i] == NULL)
            return NULL;
    const mw__payload **copy = mw__arena_alloc(&graph->arena, count, sizeof *copy, &graph->error);
    mw__payload *made = mw__arena_alloc(&graph->arena, 1, sizeof *made, &graph->error);
    type = type != NULL ? type : tuple_type(graph, members, count);
    if (copy == NULL || made == NULL || type == NULL)
        return NULL;
    memcpy(copy, members, count * sizeof *copy);
    *made = (mw__payload){.type = type, .members = copy, .member_count = count};
    return made;
}

static mw__payload *numbers(mw_graph *graph, const int32_t *values, int64_t count)
{
    return mw__payload_create(graph, MW_I32, MW_SHAPE(count), values, &graph->error);
}

static mw__payload *standard_of(mw_graph *graph, const mw_tensor *input, mw_shape standard)
{
    int32_t extents[MW_RANK_MAX];
    (void)input;
    for (int i = 0; i < standard.rank; i++)
        extents[i] = (int32_t)standard.dim[i];
    return numbers(graph, extents, standard.rank);
}

static const mw__type *list_type(mw_graph *graph)
{
    const mw__type *element = mw__type_tensor(graph, MW_I32, MW_SHAPE(2), &graph->error);
    return mw__type_list(graph, element, MW_DIM_UNKNOWN, &graph->error);
}

static mw__payload *bounds_of(mw_graph *graph, const mw_tensor *input, mw_shape standard)
{
    const mw__payload *bounds[MW_RANK_MAX];
    const mw_shape shape = mw_tensor_shape(input);
    for (int i = 0; i < standard.rank; i++) {
        const int32_t extent = (int32_t)shape.dim[i];
        bounds[i] = numbers(graph, extent == MW_DIM_UNKNOWN ? (int32_t[]){1, -1} : (int32_t[]){extent, extent}, 2);
    }
    const mw__type *list = list_type(graph);
    return list != NULL ? gather_members(graph, list, bounds, (size_t)standard.rank) : NULL;
}

/* (word, {input: entry ..}) of the inputs that have `?`. */
static mw__payload *pair(mw_graph *graph, const char *word, const mw__type *value, entry_of *entry,
                         const mw_shape *standards)
{
    const mw__block *body = graph->functions[0]->body;
    const mw__payload **members =
        mw__arena_alloc(&graph->arena, 2 * body->input_count + 1, sizeof *members, &graph->error);
    size_t count = 0;
    for (size_t i = 0; members != NULL && i < body->input_count; i++) {
        const mw_tensor *input = body->inputs[i];
        if (!mw__is_fed(input) || mw_shape_count(mw_tensor_shape(input)) >= 0)
            continue;
        members[count] = mw__payload_create_string(graph, input->name, &graph->error);
        members[count + 1] = entry(graph, input, standards[i]);
        if (members[count] == NULL || members[count + 1] == NULL)
            return NULL;
        count += 2;
    }
    if (members == NULL || count == 0)
        return NULL;
    const mw__type *type = mw__type_dict(graph, members[0]->type, value, &graph->error);
    mw__payload *dictionary = type != NULL ? gather_members(graph, type, members, count) : NULL;
    return gather_members(
        graph, NULL, (const mw__payload *const[]){mw__payload_create_string(graph, word, &graph->error), dictionary},
        2);
}

mw_status mw__admit(mw_graph *graph, const mw_shape *standards)
{
    mw__function *main = graph->functions[0];
    const mw__type *shape = mw__type_tensor(graph, MW_I32, MW_SHAPE(MW_DIM_UNKNOWN), &graph->error);
    const mw__type *list = list_type(graph);
    if (shape == NULL || list == NULL)
        return graph->error.status;
    const mw__payload *standard = pair(graph, "DefaultShapes", shape, standard_of, standards);
    const mw__payload *ranges = standard != NULL ? pair(graph, "RangeDims", list, bounds_of, standards) : NULL;
    const mw__payload *both = gather_members(graph, NULL, (const mw__payload *const[]){standard, ranges}, 2);
    mw__attribute *attribute = mw__arena_alloc(&graph->arena, 1, sizeof *attribute, &graph->error);
    if (both == NULL || attribute == NULL)
        return graph->error.status;
    *attribute = (mw__attribute){mw__flexible_attribute, both};
    main->attributes = attribute;
    main->attribute_count = 1;
    return MW_OK;
}

/* ---- other names for the inputs ---- */

typedef struct renaming {
    const mw__function *function;
    const mw__names *names;
    mw__arena *arena;
    mw_error *err;
} renaming;

static bool keeps_names(const mw__function *function, const mw__names *names)
{
    const mw__block *body = function->body;
    for (size_t i = 0; i < body->input_count; i++) {
        const char *now = mw__names_get(names, body->inputs[i]);
        if (body->inputs[i]->name != NULL && now != NULL && strcmp(now, body->inputs[i]->name) != 0)
            return false;
    }
    return true;
}

/* A key of a dictionary, by its new name. */
static const mw__payload *rename_key(const renaming *r, const mw__payload *key)
{
    const mw__block *body = r->function->body;
    const char *own = key->strings != NULL && mw__payload_count(key) == 1 ? key->strings[0] : NULL, *now = NULL;
    for (size_t i = 0; own != NULL && i < body->input_count; i++)
        if (body->inputs[i]->name != NULL && strcmp(body->inputs[i]->name, own) == 0)
            now = mw__names_get(r->names, body->inputs[i]);
    if (now == NULL)
        return key;
    mw__payload *copy = mw__arena_alloc(r->arena, 1, sizeof *copy, r->err);
    const char **strings = mw__arena_alloc(r->arena, 1, sizeof *strings, r->err);
    if (copy == NULL || strings == NULL)
        return NULL;
    *strings = now;
    *copy = *key;
    copy->strings = strings;
    return copy;
}

/* A copy whose members are changed: in a dictionary of `levels` 1 the keys, else the dictionaries inside. */
static const mw__payload *rename_in(const renaming *r, const mw__payload *given, int levels)
{
    const bool dictionary = given->type->kind == MW__DICT;
    if (given->member_count == 0 || (!dictionary && given->type->kind != MW__TUPLE))
        return given;
    mw__payload *copy = mw__arena_alloc(r->arena, 1, sizeof *copy, r->err);
    const mw__payload **members = mw__arena_alloc(r->arena, given->member_count, sizeof *members, r->err);
    if (copy == NULL || members == NULL)
        return NULL;
    for (size_t i = 0; i < given->member_count; i++) {
        const bool key = dictionary && i % 2 == 0;
        members[i] = given->members[i];
        if (key && levels == 1)
            members[i] = rename_key(r, members[i]);
        else if (!key && (levels > 1 || !dictionary))
            members[i] = rename_in(r, members[i], dictionary ? levels - 1 : levels);
        if (members[i] == NULL)
            return NULL;
    }
    *copy = *given;
    copy->members = members;
    return copy;
}

const mw__payload *mw__admitted_renamed(const mw__function *function, const mw__names *names, const mw__payload *given,
                                        mw__arena *arena, mw_error *err)
{
    const renaming r = {function, names, arena, err};
    if (given->type->kind != MW__TUPLE || keeps_names(function, names))
        return given;
    mw__payload *copy = mw__arena_alloc(arena, 1, sizeof *copy, err);
    const mw__payload **pairs = mw__arena_alloc(arena, given->member_count + 1, sizeof *pairs, err);
    if (copy == NULL || pairs == NULL)
        return NULL;
    for (size_t i = 0; i < given->member_count; i++) {
        const mw__payload *pair = given->members[i];
        const char *const *word = pair->member_count == 2 ? pair->members[0]->strings : NULL;
        const bool listed = word != NULL && strcmp(word[0], "EnumeratedShapes") == 0;
        pairs[i] = rename_in(&r, pair, listed ? 2 : 1);
        if (pairs[i] == NULL)
            return NULL;
    }
    *copy = *given;
    copy->members = pairs;
    return copy;
}
