/* Branches and loops. What is known when the file is read is carried out then; a branch that is not becomes MIL's cond.
 */
#include "format/onnx/read/import.h"

#include <millwright/ops/compare.h>
#include <millwright/ops/control.h>
#include <millwright/ops/elementwise.h>
#include <millwright/ops/shape.h>

#include <string.h>

static const Mw__Onnx__Graph *find_graph(const mw__onnx_node *node, const char *name)
{
    const Mw__Onnx__Attribute *found = mw__onnx_attribute(node, name);
    return found != NULL ? found->g : NULL;
}

/* Result `index` of the node is a value of a body, which is not seen any more once the body is left. */
static mw_status give_result(mw__onnx_node *node, size_t index, const mw__onnx_value *value)
{
    if (value->type == 0)
        return mw__onnx_refuse(node, "its body has nodes that are not supported");
    if (index >= node->out_count)
        return MW_OK;
    node->out[index] = *value;
    return mw__onnx_resolve_weight(node->import, &node->out[index]);
}

/* ---- if ---- */

enum { RESULTS_MAX = 64 };

typedef struct branches {
    mw__onnx_node *node;
    const Mw__Onnx__Graph *graphs[2];
    int types[RESULTS_MAX];
    bool failed;
} branches;

static void build_branch(branches *b, const Mw__Onnx__Graph *graph, mw_tensor **out, size_t count)
{
    mw__onnx_import *import = b->node->import;
    const mw__onnx_value *values[RESULTS_MAX];
    import->blocks++;
    if (mw__onnx_import_body(import, graph, NULL, 0, values) != MW_OK)
        b->failed = true;
    for (size_t i = 0; i < count; i++) {
        mw__onnx_value value = b->failed ? (mw__onnx_value){0} : *values[i];
        out[i] = value.type != 0 ? mw__onnx_emit(import, &value) : NULL;
        b->types[i] = value.type;
    }
    import->blocks--;
}

static void build_yes(void *user, mw_tensor **out, size_t count)
{
    branches *b = user;
    build_branch(b, b->graphs[0], out, count);
}

static void build_no(void *user, mw_tensor **out, size_t count)
{
    branches *b = user;
    build_branch(b, b->graphs[1], out, count);
}

static mw_status computed_if(mw__onnx_node *node, branches *b)
{
    mw_tensor *results[RESULTS_MAX] = {NULL}, *predicate = mw__onnx_in(node, 0);
    const size_t count = b->graphs[0]->n_output, problems = node->import->problems;
    if (count == 0 || count > RESULTS_MAX || b->graphs[1]->n_output != count)
        return mw__onnx_refuse(node, "its branches do not give the same");
    predicate = mw_reshape(predicate, mw_shape_scalar());
    const bool made = predicate != NULL && mw_cond(predicate, build_yes, build_no, b, results, count) == MW_OK;
    if (node->import->problems != problems) /* the graph is of no use any more, so that these are all */
        return mw__onnx_check_problems(node->import);
    if (!made)
        return mw__onnx_set(node, 0, 0, NULL);
    for (size_t i = 0; i < count; i++)
        MW_TRY(mw__onnx_set(node, i, b->types[i], results[i]));
    return MW_OK;
}

mw_status mw__onnx_if(mw__onnx_node *node)
{
    branches b = {.node = node, .graphs = {find_graph(node, "then_branch"), find_graph(node, "else_branch")}};
    if (b.graphs[0] == NULL || b.graphs[1] == NULL)
        return mw__onnx_refuse(node, "a branch is missing");
    const mw__onnx_literal *known = mw__onnx_computed(node->import, node->in[0]);
    if (known == NULL)
        return computed_if(node, &b);
    const Mw__Onnx__Graph *taken = b.graphs[known->count > 0 && mw__onnx_literal_int(known, 0) != 0 ? 0 : 1];
    const mw__onnx_value *values[RESULTS_MAX];
    if (taken->n_output > RESULTS_MAX || taken->n_output < node->out_count)
        return mw__onnx_refuse(node, "it has %zu results", taken->n_output);
    MW_TRY(mw__onnx_import_body(node->import, taken, NULL, 0, values));
    for (size_t i = 0; i < taken->n_output; i++)
        MW_TRY(give_result(node, i, values[i]));
    return MW_OK;
}

/* ---- loop ---- */

enum { TRIPS_MAX = 1024 };

typedef struct loop {
    mw__onnx_node *node;
    const Mw__Onnx__Graph *body;
    size_t carried, scans;
    mw__onnx_value vars[RESULTS_MAX];
    mw_tensor **rows; /* [trips, scans] */
    int types[RESULTS_MAX];
    /* Of one trip. All of this lies on the heap: loops lie in one another. */
    mw__onnx_value elements[RESULTS_MAX];
    const mw__onnx_value *inputs[RESULTS_MAX + 2], *outputs[2 * RESULTS_MAX];
} loop;

/* Carries out a loop of the node; its memory is the call's. */
static mw_status with_loop(mw__onnx_node *node, mw_status carry_out(loop *l))
{
    const mw_allocator *allocator = node->import->arena.allocator;
    loop *l = mw__alloc(allocator, 1, sizeof *l, node->import->err);
    if (l == NULL)
        return MW_ERROR_MEMORY;
    l->node = node;
    l->body = find_graph(node, "body");
    const mw_status status = carry_out(l);
    mw__free(allocator, l);
    return status;
}

/* True, false or not known. */
static mw_status read_condition(mw__onnx_node *node, mw__onnx_value *value, bool *out)
{
    const mw__onnx_literal *known = value->type != 0 ? mw__onnx_computed(node->import, value) : NULL;
    if (known == NULL || known->count != 1)
        return mw__onnx_refuse(node, "how long it goes on is not known when the file is read");
    *out = mw__onnx_literal_int(known, 0) != 0;
    return MW_OK;
}

/* One trip: body(trip, true, vars ..) gives the condition, vars and scans. */
static mw_status make_trip(loop *l, int64_t trip, bool *goes_on)
{
    mw__onnx_node *node = l->node;
    const bool yes = true;
    const mw__onnx_literal number = {MW__ONNX_INT64, {0}, 1, &trip, NULL, 0},
                           truth = {MW__ONNX_BOOL, {0}, 1, &yes, NULL, 0};
    mw__onnx_literal *kept = mw__arena_alloc(&node->import->arena, 2, sizeof *kept, node->import->err);
    int64_t *bytes = mw__arena_alloc(&node->import->arena, 2, sizeof *bytes, node->import->err);
    if (kept == NULL || bytes == NULL)
        return MW_ERROR_MEMORY;
    bytes[0] = trip;
    bytes[1] = 1;
    kept[0] = number;
    kept[1] = truth;
    kept[0].data = &bytes[0];
    kept[1].data = &bytes[1];
    mw__onnx_value heads[2] = {{.type = MW__ONNX_INT64, .literal = &kept[0]},
                               {.type = MW__ONNX_BOOL, .literal = &kept[1]}};
    const mw__onnx_value **inputs = l->inputs, **outputs = l->outputs;
    inputs[0] = &heads[0];
    inputs[1] = &heads[1];
    for (size_t i = 0; i < l->carried; i++)
        inputs[2 + i] = &l->vars[i];
    MW_TRY(mw__onnx_import_body(node->import, l->body, inputs, l->carried + 2, outputs));
    for (size_t i = 0; i < l->carried + l->scans; i++)
        if (outputs[1 + i]->type == 0)
            return mw__onnx_refuse(node, "its body has nodes that are not supported");
    mw__onnx_value condition = *outputs[0];
    for (size_t i = 0; i < l->scans; i++) {
        mw__onnx_value value = *outputs[1 + l->carried + i];
        l->types[i] = value.type;
        l->rows[(size_t)trip * l->scans + i] = mw__onnx_emit(node->import, &value);
    }
    for (size_t i = 0; i < l->carried; i++)
        l->vars[i] = *outputs[1 + i];
    return read_condition(node, &condition, goes_on);
}

/* No rows, of the shape that one would have. */
static mw_status give_nothing(loop *l, size_t index)
{
    mw__onnx_node *node = l->node;
    const mw_tensor *row = l->rows[index];
    if (row == NULL)
        return mw__onnx_refuse(node, "it makes no trip, and nobody knows the shape of what it would give");
    const mw_shape one = mw_tensor_shape(row);
    mw_shape shape = {.rank = one.rank + 1};
    if (one.rank == MW_RANK_MAX)
        return mw__onnx_refuse(node, "its result has more than %d axes", MW_RANK_MAX);
    memcpy(shape.dim + 1, one.dim, (size_t)one.rank * sizeof *one.dim);
    return mw__onnx_set(node, l->carried + index, l->types[index],
                        mw_fill(node->graph, mw_tensor_dtype(row), shape, 0));
}

/* Scan `index` of all trips, one below the other. */
static mw_status give_scan(loop *l, size_t index, int64_t trips)
{
    mw__onnx_node *node = l->node;
    if (trips == 0)
        return give_nothing(l, index);
    mw_tensor **column = mw__arena_alloc(&node->import->arena, (size_t)trips, sizeof *column, node->import->err);
    if (column == NULL)
        return MW_ERROR_MEMORY;
    for (int64_t i = 0; i < trips; i++)
        if ((column[i] = l->rows[(size_t)i * l->scans + index]) == NULL)
            return mw__onnx_set(node, 0, 0, NULL);
    return mw__onnx_set(node, l->carried + index, l->types[index], mw_stack(column, (size_t)trips, 0));
}

static mw_status read_bounds(mw__onnx_node *node, int64_t *trips, bool *goes_on)
{
    size_t count;
    *trips = INT64_MAX;
    *goes_on = true;
    if (mw__onnx_has(node, 0))
        MW_TRY(mw__onnx_known_ints(node, 0, trips, 1, &count));
    return mw__onnx_has(node, 1) ? read_condition(node, node->in[1], goes_on) : MW_OK;
}

/* ---- loops that go on by what is computed ---- */

typedef struct computed_loop {
    loop *l;
    mw_tensor *bound; /* of the trips, or NULL */
    bool failed;
} computed_loop;

static bool is_unknown_outside(mw__onnx_import *import, const char *name)
{
    mw__onnx_value *value = mw__onnx_find(import, name);
    return value != NULL && mw__onnx_known(import, value) == NULL;
}

/* Notes the results of a node in `unknown` if one of its inputs is unknown; the extents of any value are known. */
static mw_status note_unknown(mw__onnx_import *import, const Mw__Onnx__Node *node, mw__map *unknown)
{
    bool any = false;
    for (size_t i = 0; i < node->n_input && !any; i++)
        any = mw__map_get(unknown, node->input[i]) != NULL || is_unknown_outside(import, node->input[i]);
    if (!any || strcmp(node->op_type, "Shape") == 0 || strcmp(node->op_type, "Size") == 0)
        return MW_OK;
    for (size_t i = 0; i < node->n_output; i++)
        MW_TRY(mw__map_set(unknown, node->output[i], (void *)(uintptr_t)node, import->err));
    return MW_OK;
}

static mw_status find_unknown(loop *l, mw__map *unknown, bool *out)
{
    mw__onnx_import *import = l->node->import;
    const Mw__Onnx__Graph *body = l->body;
    for (size_t i = 1; i < body->n_input && i < l->carried + 2; i++) {
        mw__onnx_value *start = i == 1 ? l->node->in[1] : &l->vars[i - 2];
        if (start != NULL && mw__onnx_known(import, start) == NULL)
            MW_TRY(mw__map_set(unknown, body->input[i]->name, (void *)(uintptr_t)body, import->err));
    }
    for (size_t i = 0; i < body->n_node; i++)
        MW_TRY(note_unknown(import, body->node[i], unknown));
    const char *goes_on = body->output[0]->name;
    *out = mw__map_get(unknown, goes_on) != NULL || is_unknown_outside(import, goes_on);
    return MW_OK;
}

/* True if the number of trips is computed, or the condition from something that is. */
static mw_status is_computed(loop *l, bool *out)
{
    mw__onnx_node *node = l->node;
    mw__map unknown;
    *out = (mw__onnx_has(node, 0) && mw__onnx_computed(node->import, node->in[0]) == NULL) ||
           (mw__onnx_has(node, 1) && mw__onnx_computed(node->import, node->in[1]) == NULL);
    if (*out)
        return MW_OK;
    mw__map_init(&unknown, node->import->arena.allocator);
    const mw_status status = find_unknown(l, &unknown, out);
    mw__map_deinit(&unknown);
    return status;
}

/* Variables: the number of the trip, the condition of the body, and those that are carried. */
static mw_tensor *goes_on(void *user, mw_tensor *const *vars, size_t count)
{
    const computed_loop *c = user;
    (void)count;
    return c->bound == NULL ? vars[1] : mw_logical_and(vars[1], mw_less(vars[0], c->bound));
}

static void compute_trip(void *user, mw_tensor *const *vars, size_t count, mw_tensor **out)
{
    computed_loop *c = user;
    mw__onnx_import *import = c->l->node->import;
    mw__onnx_value *values = c->l->elements;
    const mw__onnx_value **inputs = c->l->inputs, **outputs = c->l->outputs;
    for (size_t i = 0; i < count; i++) {
        const int type = i == 0 ? MW__ONNX_INT64 : i == 1 ? MW__ONNX_BOOL : c->l->vars[i - 2].type;
        values[i] = (mw__onnx_value){.type = type, .shape = mw_tensor_shape(vars[i]), .tensor = vars[i]};
        inputs[i] = &values[i];
    }
    import->blocks++;
    c->failed = mw__onnx_import_body(import, c->l->body, inputs, count, outputs) != MW_OK;
    out[0] = mw_add(vars[0], mw_scalar(import->graph, MW_I32, 1));
    for (size_t i = 1; i < count; i++) {
        mw__onnx_value value = c->failed ? (mw__onnx_value){0} : *outputs[i - 1];
        out[i] = value.type != 0 ? mw__onnx_emit(import, &value) : NULL;
    }
    out[1] = out[1] != NULL ? mw_reshape(out[1], mw_shape_scalar()) : NULL;
    import->blocks--;
}

static mw_status write_loop(loop *l)
{
    mw__onnx_node *node = l->node;
    mw__onnx_import *import = node->import;
    mw_tensor *vars[RESULTS_MAX] = {mw_scalar(import->graph, MW_I32, 0)}, *results[RESULTS_MAX] = {NULL};
    computed_loop c = {.l = l};
    const size_t count = l->carried + 2, problems = import->problems;
    if (l->scans > 0 || count > RESULTS_MAX)
        return mw__onnx_refuse(
            node,
            "its trip count and its condition must be known when the file is read, as it has scans or "
            "more than %d variables",
            RESULTS_MAX - 2);
    vars[1] = mw__onnx_has(node, 1) ? mw_reshape(mw__onnx_in(node, 1), mw_shape_scalar())
                                    : mw_scalar(import->graph, MW_BOOL, 1);
    for (size_t i = 0; i < l->carried; i++)
        vars[2 + i] = mw__onnx_emit(import, &l->vars[i]);
    if (mw__onnx_has(node, 0))
        c.bound = mw_reshape(mw__onnx_in(node, 0), mw_shape_scalar());
    const bool made = mw_while_loop(vars, count, goes_on, compute_trip, &c, results) == MW_OK;
    if (import->problems != problems)
        return mw__onnx_check_problems(import);
    if (!made)
        return mw__onnx_set(node, 0, 0, NULL);
    for (size_t i = 0; i < l->carried; i++)
        MW_TRY(mw__onnx_set(node, i, l->vars[i].type, results[2 + i]));
    return MW_OK;
}

/* ---- loops that are unrolled ---- */

static mw_status unroll(loop *l)
{
    mw__onnx_node *node = l->node;
    int64_t bound, made = 0;
    bool more;
    MW_TRY(read_bounds(node, &bound, &more));
    MW_TRY(mw__onnx_charge(node->import, TRIPS_MAX * (l->scans + 1), 2 * sizeof *l->rows));
    l->rows = mw__arena_alloc(&node->import->arena, TRIPS_MAX * (l->scans + 1), sizeof *l->rows, node->import->err);
    if (l->rows == NULL)
        return MW_ERROR_MEMORY;
    for (; more && made < bound; made++) {
        if (made == TRIPS_MAX)
            return mw__onnx_refuse(node, "it makes more than %d trips", TRIPS_MAX);
        MW_TRY(make_trip(l, made, &more));
    }
    for (size_t i = 0; i < l->carried; i++)
        MW_TRY(give_result(node, i, &l->vars[i]));
    if (made == 0 && l->scans > 0) /* for the shapes of the rows; nothing uses what it makes */
        MW_TRY(make_trip(l, 0, &more));
    for (size_t i = 0; i < l->scans; i++)
        MW_TRY(give_scan(l, i, made));
    return MW_OK;
}

static mw_status carry_out_loop(loop *l)
{
    mw__onnx_node *node = l->node;
    bool computed;
    l->carried = node->in_count > 2 ? node->in_count - 2 : 0;
    if (l->body == NULL || l->body->n_output < l->carried + 1 || l->body->n_output > RESULTS_MAX)
        return mw__onnx_refuse(node, "its body is missing, or does not give what it takes");
    l->scans = l->body->n_output - 1 - l->carried;
    for (size_t i = 0; i < l->carried; i++) {
        if (node->in[2 + i] == NULL)
            return mw__onnx_refuse(node, "a variable has no value to start with");
        l->vars[i] = *node->in[2 + i];
    }
    MW_TRY(is_computed(l, &computed));
    return computed ? write_loop(l) : unroll(l);
}

mw_status mw__onnx_loop(mw__onnx_node *node) { return with_loop(node, carry_out_loop); }

/* ---- scan ---- */

/* Element `trip` of the first axis of input `index`. */
static mw_status take_element(mw__onnx_node *node, size_t index, int64_t trip, mw__onnx_value *out)
{
    mw_slice slices[MW_RANK_MAX] = {{.begin = trip, .squeeze = true}};
    mw_tensor *whole = mw__onnx_in(node, index);
    for (int i = 1; whole != NULL && i < mw_tensor_shape(whole).rank; i++)
        slices[i] = (mw_slice){.from_start = true, .to_end = true};
    mw_tensor *element = whole != NULL ? mw_slice_by_index(whole, slices) : NULL;
    if (element == NULL)
        return mw__onnx_set(node, 0, 0, NULL);
    *out = (mw__onnx_value){.type = mw__onnx_type(node, index), .shape = mw_tensor_shape(element), .tensor = element};
    return MW_OK;
}

/* body(states .., elements ..) gives states and scans. */
static mw_status scan_trip(loop *l, int64_t trip)
{
    mw__onnx_node *node = l->node;
    const mw__onnx_value **inputs = l->inputs, **outputs = l->outputs;
    for (size_t i = 0; i < node->in_count; i++) {
        inputs[i] = i < l->carried ? &l->vars[i] : &l->elements[i];
        if (i >= l->carried)
            MW_TRY(take_element(node, i, trip, &l->elements[i]));
    }
    MW_TRY(mw__onnx_import_body(node->import, l->body, inputs, node->in_count, outputs));
    for (size_t i = 0; i < l->carried + l->scans; i++) {
        mw__onnx_value value = *outputs[i];
        if (value.type == 0)
            return mw__onnx_refuse(node, "its body has nodes that are not supported");
        if (i < l->carried) {
            l->vars[i] = value;
            continue;
        }
        l->types[i - l->carried] = value.type;
        l->rows[(size_t)trip * l->scans + i - l->carried] = mw__onnx_emit(node->import, &value);
    }
    return MW_OK;
}

static mw_status read_scan(mw__onnx_node *node, loop *l, int64_t *trips)
{
    static const char *const plain[] = {"scan_input_axes", "scan_input_directions", "scan_output_axes",
                                        "scan_output_directions"};
    const int64_t elements = mw__onnx_int(node, "num_scan_inputs", 0);
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        const Mw__Onnx__Attribute *list = mw__onnx_attribute(node, plain[i]);
        for (size_t k = 0; list != NULL && k < list->n_ints; k++)
            if (list->ints[k] != 0)
                return mw__onnx_refuse(node, "scans along the first axis, forward, are supported");
    }
    if (l->body == NULL || elements < 1 || (uint64_t)elements > node->in_count || node->in_count > RESULTS_MAX)
        return mw__onnx_refuse(node, "its body or its inputs do not fit num_scan_inputs");
    l->carried = node->in_count - (size_t)elements;
    if (l->body->n_output < l->carried || l->body->n_output > RESULTS_MAX)
        return mw__onnx_refuse(node, "its body gives %zu results", l->body->n_output);
    l->scans = l->body->n_output - l->carried;
    for (size_t i = 0; i < node->in_count; i++) {
        if (node->in[i] == NULL || (i >= l->carried && node->in[i]->shape.rank == 0))
            return mw__onnx_refuse(node, "input %zu cannot be scanned", i);
        if (i > l->carried && node->in[i]->shape.dim[0] != *trips)
            return mw__onnx_refuse(node, "its inputs have different lengths");
        if (i >= l->carried)
            *trips = node->in[i]->shape.dim[0];
        else
            l->vars[i] = *node->in[i];
    }
    return *trips <= TRIPS_MAX ? MW_OK : mw__onnx_refuse(node, "it makes more than %d trips", TRIPS_MAX);
}

static mw_status carry_out_scan(loop *l)
{
    mw__onnx_node *node = l->node;
    int64_t trips = 0;
    MW_TRY(read_scan(node, l, &trips));
    MW_TRY(mw__onnx_charge(node->import, TRIPS_MAX * (l->scans + 1), 2 * sizeof *l->rows));
    l->rows = mw__arena_alloc(&node->import->arena, TRIPS_MAX * (l->scans + 1), sizeof *l->rows, node->import->err);
    if (l->rows == NULL)
        return MW_ERROR_MEMORY;
    for (int64_t i = 0; i < trips; i++)
        MW_TRY(scan_trip(l, i));
    for (size_t i = 0; i < l->carried; i++)
        MW_TRY(give_result(node, i, &l->vars[i]));
    for (size_t i = 0; i < l->scans; i++)
        MW_TRY(give_scan(l, i, trips));
    return MW_OK;
}

mw_status mw__onnx_scan(mw__onnx_node *node) { return with_loop(node, carry_out_scan); }
