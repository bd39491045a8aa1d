/* Lists while a program is flattened: a value for each element, so that what is written at a known index costs nothing,
 * and every element has its gradient. An index that is computed becomes a gather of all, or a select at each. */
#include "graph/transform/flatten/flatten_parts.h"

#include <millwright/ops/compare.h>
#include <millwright/ops/gather.h>
#include <millwright/ops/shape.h>
#include <string.h>

enum { LIST_MAX = 1 << 20, COMPUTED_MAX = 256 };

/* ---- lists ---- */

mw__flat_list *mw__flatten_list(const mw__flatten *state, const mw_tensor *list)
{
    return state->lists != NULL && list != NULL ? state->lists[list->id] : NULL;
}

void mw__flatten_set_list(mw__flatten *state, mw__clone *clone, const mw_tensor *list, mw__flat_list *value)
{
    mw_graph *to = clone->to;
    if (state->lists == NULL)
        state->lists =
            mw__arena_alloc(&to->arena, clone->from->graph->value_count, sizeof(mw__flat_list *), &to->error);
    if (state->lists != NULL)
        state->lists[list->id] = value;
}

/* A list of `count` elements that begins like `like`, which may be NULL. */
static mw__flat_list *make_flat_list(mw__flatten *state, mw__clone *clone, const mw__op *op, int64_t count,
                                     const mw__flat_list *like)
{
    mw_graph *to = clone->to;
    if (count > LIST_MAX || (size_t)count > MW__FLATTEN_ELEMENTS - state->elements) {
        mw__clone_refuse(clone, op, MW_ERROR_UNSUPPORTED, "its list is too long to be flattened");
        return NULL;
    }
    state->elements += (size_t)count;
    mw__flat_list *list =
        mw__arena_alloc(&to->arena, 1, sizeof *list + (size_t)count * sizeof(mw_tensor *), &to->error);
    if (list == NULL)
        return NULL;
    if (like != NULL) {
        *list = *like;
        memcpy(list->of, like->of, (size_t)(like->count < count ? like->count : count) * sizeof(mw_tensor *));
    }
    list->count = count;
    return list;
}

/* An element as a tensor: zeros where nothing was written. */
static mw_tensor *element_of(mw__clone *clone, const mw__op *op, mw__flat_list *list, int64_t at)
{
    if (at >= 0 && at < list->count && list->of[at] != NULL)
        return list->of[at];
    if (mw_shape_count(list->element) < 0) {
        mw__clone_refuse(clone, op, MW_ERROR_UNSUPPORTED, "the shape of its elements is not known when compiled");
        return NULL;
    }
    return mw_fill(clone->to, list->dtype, list->element, 0.0);
}

static mw_tensor *all_of(mw__clone *clone, const mw__op *op, mw__flat_list *list)
{
    mw_graph *to = clone->to;
    if (list->count > COMPUTED_MAX || list->count == 0) {
        mw__clone_refuse(clone, op, MW_ERROR_UNSUPPORTED,
                         "reads or writes a list of none or more than 256 elements at an index that is computed");
        return NULL;
    }
    mw_tensor **values = mw__arena_alloc(&to->arena, (size_t)list->count, sizeof(mw_tensor *), &to->error);
    for (int64_t i = 0; values != NULL && i < list->count; i++)
        values[i] = element_of(clone, op, list, i);
    return values != NULL ? mw_stack(values, (size_t)list->count, 0) : NULL;
}

/* ---- choosing ---- */

mw__flat_list *mw__flatten_guard_list(mw__flatten *state, mw__clone *clone, const mw__op *op, mw_tensor *pred,
                                      const mw__flat_list *list)
{
    mw__flat_list *guarded = make_flat_list(state, clone, op, list->count, list);
    for (int64_t i = 0; guarded != NULL && i < list->count; i++)
        if (list->of[i] != NULL)
            guarded->of[i] = mw__flatten_guard(pred, list->of[i]);
    return guarded;
}

mw__flat_list *mw__flatten_choose_list(mw__flatten *state, mw__clone *clone, const mw__op *op, mw_tensor *pred,
                                       mw__flat_list *a, mw__flat_list *b)
{
    if (a == NULL || b == NULL || a->count != b->count || a->dtype != b->dtype) {
        mw__clone_refuse(clone, op, MW_ERROR_UNSUPPORTED,
                         "gives lists whose lengths differ, by a condition that is computed");
        return NULL;
    }
    mw__flat_list *chosen = make_flat_list(state, clone, op, a->count, a);
    for (int64_t i = 0; chosen != NULL && i < a->count; i++)
        if (a->of[i] != b->of[i])
            chosen->of[i] = mw_select(pred, element_of(clone, op, a, i), element_of(clone, op, b, i));
    return chosen;
}

/* ---- indices ---- */

typedef struct indices {
    int64_t *at; /* NULL: computed */
    size_t count;
} indices;

static mw_status take_payload(mw_graph *to, const mw__payload *payload, indices *out)
{
    out->count = mw__payload_count(payload);
    out->at = mw__arena_alloc(&to->arena, out->count, sizeof *out->at, &to->error);
    for (size_t i = 0; out->at != NULL && i < out->count; i++)
        out->at[i] = mw__payload_int(payload, i);
    return to->error.status;
}

static bool find_indices(mw__clone *clone, const mw__op *op, const char *arg, indices *out)
{
    const mw_tensor *value = mw__arg(op, arg), *copy = mw__clone_get(clone, value);
    const mw__payload *payload = copy != NULL && copy->payload != NULL ? copy->payload : value->payload;
    mw__known known;
    *out = (indices){0};
    if (payload != NULL && payload->type->kind == MW__TENSOR && payload->data != NULL)
        return take_payload(clone->to, payload, out) == MW_OK;
    if (!mw__flatten_elements(clone, value, &known))
        return true;
    out->count = known.count;
    out->at = mw__arena_alloc(&clone->to->arena, known.count, sizeof *out->at, &clone->to->error);
    for (size_t i = 0; out->at != NULL && i < known.count; i++)
        out->at[i] = (int64_t)known.at[i];
    return out->at != NULL;
}

/* ---- the operations ---- */

static bool element_type(const mw_tensor *list, const mw__type **out)
{
    const mw__type *type = list->type;
    *out = type->kind == MW__LIST && type->count == 1 ? type->element[0] : NULL;
    return *out != NULL && (*out)->kind == MW__TENSOR;
}

static void make_list(mw__flatten *state, mw__clone *clone, const mw__op *op)
{
    const mw__type *element;
    int64_t length = 1;
    bool dynamic = true;
    mw__arg_bool(op, "dynamic_length", &dynamic);
    if (mw__arg_present(op, "init_length") && !mw__flatten_known(clone, mw__arg(op, "init_length"), &length)) {
        mw__clone_refuse(clone, op, MW_ERROR_UNSUPPORTED, "its init_length is not known when compiled");
        return;
    }
    if (!element_type(op->results[0], &element) || length < 0) {
        mw__clone_refuse(clone, op, MW_ERROR_FORMAT, "makes no list of tensors of a length from 0 on");
        return;
    }
    mw__flat_list *list = make_flat_list(state, clone, op, length, NULL);
    if (list == NULL)
        return;
    list->dtype = element->dtype;
    list->element = element->shape;
    list->dynamic = dynamic;
    mw__flatten_set_list(state, clone, op->results[0], list);
}

static mw_tensor *read_computed(mw__clone *clone, const mw__op *op, mw__flat_list *list, const char *arg)
{
    mw_tensor *at = mw__flatten_value(clone, mw__arg(op, arg)), *all = all_of(clone, op, list);
    if (at == NULL || all == NULL)
        return NULL;
    if (!mw__op_is(op, "list_read"))
        return mw_gather(all, at, 0);
    return mw_squeeze(mw_gather(all, mw_reshape(at, MW_SHAPE(1)), 0), MW_AXES(0));
}

static mw_tensor *read_known(mw__clone *clone, const mw__op *op, mw__flat_list *list, const indices *from)
{
    mw_graph *to = clone->to;
    if (mw__op_is(op, "list_read"))
        return mw_identity(element_of(clone, op, list, from->at[0])); /* with a name of its own */
    mw_tensor **values = mw__arena_alloc(&to->arena, from->count, sizeof(mw_tensor *), &to->error);
    for (size_t i = 0; values != NULL && i < from->count; i++)
        values[i] = element_of(clone, op, list, from->at[i]);
    return values != NULL ? mw_stack(values, from->count, 0) : NULL;
}

static void read_list(mw__flatten *state, mw__clone *clone, const mw__op *op)
{
    mw__flat_list *list = mw__flatten_list(state, mw__arg(op, "ls"));
    const char *arg = mw__op_is(op, "list_read") ? "index" : "indices";
    indices from;
    if (list == NULL || !find_indices(clone, op, arg, &from))
        return;
    mw__clone_set(clone, op->results[0],
                  from.at != NULL ? read_known(clone, op, list, &from) : read_computed(clone, op, list, arg));
}

/* Every element is the old one, or the new one if the index is its own. */
static mw__flat_list *write_computed(mw__flatten *state, mw__clone *clone, const mw__op *op, mw__flat_list *list,
                                     mw_tensor *value)
{
    mw_tensor *at = mw__flatten_value(clone, mw__arg(op, "index"));
    if (at == NULL)
        return NULL;
    if (list->dynamic || list->count > COMPUTED_MAX) {
        mw__clone_refuse(clone, op, MW_ERROR_UNSUPPORTED,
                         "writes at an index that is computed; the list must be of fixed length, 256 at most");
        return NULL;
    }
    mw__flat_list *written = make_flat_list(state, clone, op, list->count, list);
    at = mw_reshape(at, mw_shape_scalar());
    for (int64_t i = 0; written != NULL && i < list->count; i++)
        written->of[i] = mw_select(mw_equal(at, mw__scalar(clone->to, MW_I32, (double)i, "place")), value,
                                   element_of(clone, op, list, i));
    return written;
}

static mw__flat_list *write_known(mw__flatten *state, mw__clone *clone, const mw__op *op, mw__flat_list *list,
                                  const indices *to, mw_tensor *const *values)
{
    int64_t count = list->count;
    for (size_t i = 0; i < to->count && list->dynamic; i++)
        count = to->at[i] >= count ? to->at[i] + 1 : count;
    mw__flat_list *written = make_flat_list(state, clone, op, count, list);
    for (size_t i = 0; written != NULL && i < to->count; i++)
        if (to->at[i] >= 0 && to->at[i] < count)
            written->of[to->at[i]] = values[i];
    return written;
}

/* The rows of what is scattered. */
static mw_tensor **split_rows(mw__clone *clone, mw_tensor *value, size_t count)
{
    mw_graph *to = clone->to;
    mw_tensor **rows = mw__arena_alloc(&to->arena, count, sizeof(mw_tensor *), &to->error);
    const mw_shape shape = mw_tensor_shape(value);
    if (rows == NULL || value == NULL || shape.rank == 0)
        return NULL;
    for (size_t i = 0; i < count && to->error.status == MW_OK; i++) {
        mw_slice slices[MW_RANK_MAX] = {{.begin = (int64_t)i, .squeeze = true}};
        for (int d = 1; d < shape.rank; d++)
            slices[d] = (mw_slice){.from_start = true, .to_end = true};
        rows[i] = mw_slice_by_index(value, slices);
    }
    return to->error.status == MW_OK ? rows : NULL;
}

static void write_list(mw__flatten *state, mw__clone *clone, const mw__op *op)
{
    const bool one = mw__op_is(op, "list_write");
    mw__flat_list *list = mw__flatten_list(state, mw__arg(op, "ls")), *written = NULL;
    mw_tensor *value = mw__flatten_value(clone, mw__arg(op, "value"));
    indices to;
    if (list == NULL || value == NULL || !find_indices(clone, op, one ? "index" : "indices", &to))
        return;
    if (to.at == NULL && !one)
        mw__clone_refuse(clone, op, MW_ERROR_UNSUPPORTED, "its indices are not known when compiled");
    else if (to.at == NULL)
        written = write_computed(state, clone, op, list, value);
    else if (one)
        written = write_known(state, clone, op, list, &to, &value);
    else {
        mw_tensor **rows = split_rows(clone, value, to.count);
        written = rows != NULL ? write_known(state, clone, op, list, &to, rows) : NULL;
    }
    if (written != NULL)
        mw__flatten_set_list(state, clone, op->results[0], written);
}

static void length_of(mw__flatten *state, mw__clone *clone, const mw__op *op)
{
    const mw__flat_list *list = mw__flatten_list(state, mw__arg(op, "ls"));
    if (list != NULL)
        mw__clone_set(clone, op->results[0], mw_scalar(clone->to, MW_I32, (double)list->count));
}

typedef void flatten_op(mw__flatten *state, mw__clone *clone, const mw__op *op);

bool mw__flatten_list_op(mw__flatten *state, mw__clone *clone, const mw__op *op)
{
    static const struct {
        const char *kind;
        flatten_op *run;
    } rows[] = {{"make_list", make_list},   {"list_read", read_list},     {"list_gather", read_list},
                {"list_write", write_list}, {"list_scatter", write_list}, {"list_length", length_of}};
    for (size_t i = 0; op->row != NULL && i < sizeof rows / sizeof *rows; i++) {
        if (!mw__op_is(op, rows[i].kind))
            continue;
        if (mw__op_verify(op, &clone->to->error) != MW_OK)
            return true;
        rows[i].run(state, clone, op);
        const bool made = op->results[0]->type->kind == MW__LIST ? mw__flatten_list(state, op->results[0]) != NULL
                                                                 : mw__clone_get(clone, op->results[0]) != NULL;
        if (!made && clone->to->error.status == MW_OK)
            mw__clone_refuse(clone, op, MW_ERROR_UNSUPPORTED, "its list is none that can be flattened");
        return true;
    }
    return false;
}
