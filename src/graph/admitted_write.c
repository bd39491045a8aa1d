/* Writes FlexibleShapeInformation, as Apple's compiler spells it: default shapes, and bounds of each axis. */
#include "graph/admitted.h"

#include "graph/ir_make.h"
#include "graph/rule.h"

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
static mw__payload *gather(mw_graph *graph, const mw__type *type, const mw__payload *const *members, size_t count)
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
    return list != NULL ? gather(graph, list, bounds, (size_t)standard.rank) : NULL;
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
    mw__payload *dictionary = type != NULL ? gather(graph, type, members, count) : NULL;
    return gather(graph, NULL,
                  (const mw__payload *const[]){mw__payload_create_string(graph, word, &graph->error), dictionary}, 2);
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
    const mw__payload *both = gather(graph, NULL, (const mw__payload *const[]){standard, ranges}, 2);
    mw__attribute *attribute = mw__arena_alloc(&graph->arena, 1, sizeof *attribute, &graph->error);
    if (both == NULL || attribute == NULL)
        return graph->error.status;
    *attribute = (mw__attribute){mw__flexible_attribute, both};
    main->attributes = attribute;
    main->attribute_count = 1;
    return MW_OK;
}
