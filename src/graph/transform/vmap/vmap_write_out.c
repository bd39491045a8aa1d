/* An operation that has no form for all examples at once: once for each, on slices, and its results side by side. */
#include "base/text/log.h"
#include "graph/ir/rule.h"
#include "graph/transform/vmap/vmap.h"

#include <millwright/ops/shape.h>

#include <inttypes.h>

enum { OPERANDS_MAX = 64, RESULTS_MAX = 8 };

/* The mapped values that an operation reads, each once, with their copies for all examples. */
typedef struct read_values {
    const mw_tensor *value[OPERANDS_MAX];
    mw_tensor *all[OPERANDS_MAX];
    size_t count;
    bool too_many;
} read_values;

static void add_value(const mw__vmap *v, const mw__clone *clone, read_values *r, const mw_tensor *value)
{
    if (!mw__vmap_is_mapped(v, value))
        return;
    for (size_t i = 0; i < r->count; i++)
        if (r->value[i] == value)
            return;
    if (r->count == OPERANDS_MAX) {
        r->too_many = true;
        return;
    }
    r->value[r->count] = value;
    r->all[r->count++] = mw__clone_get(clone, value);
}

static void add_operands(const mw__vmap *v, const mw__clone *clone, read_values *r, const mw__operand *operands,
                         size_t count)
{
    for (size_t i = 0; i < count; i++) {
        add_value(v, clone, r, operands[i].value);
        if (operands[i].members != NULL)
            add_operands(v, clone, r, operands[i].members, operands[i].member_count);
    }
}

/* x[b]. */
static mw_tensor *example_of(mw_tensor *x, int64_t b)
{
    mw_slice slices[MW_RANK_MAX] = {{.begin = b, .squeeze = true}};
    for (int i = 1; i < mw_tensor_shape(x).rank; i++)
        slices[i] = (mw_slice){.from_start = true, .to_end = true};
    return mw_slice_by_index(x, slices);
}

/* parts [result][example]. */
static void copy_each(const mw__vmap *v, mw__clone *clone, const mw__op *op, const read_values *r, mw_tensor **parts)
{
    for (int64_t b = 0; b < v->examples && clone->to->error.status == MW_OK; b++) {
        for (size_t i = 0; i < r->count; i++)
            mw__clone_set(clone, r->value[i], example_of(r->all[i], b));
        mw__clone_op(clone, op, &clone->to->error);
        for (size_t i = 0; i < op->result_count; i++)
            parts[i * (size_t)v->examples + (size_t)b] = mw__clone_get(clone, op->results[i]);
    }
    for (size_t i = 0; i < r->count; i++)
        mw__clone_set(clone, r->value[i], r->all[i]);
}

void mw__vmap_write_out(const mw__vmap *v, mw__clone *clone, const mw__op *op)
{
    read_values r = {.count = 0};
    const size_t examples = (size_t)v->examples;
    for (size_t i = 0; i < op->slot_count; i++)
        if (op->slots[i].operands != NULL)
            add_operands(v, clone, &r, op->slots[i].operands, op->slots[i].count);
    if (r.too_many || op->result_count > RESULTS_MAX) {
        mw__clone_refuse(clone, op, MW_ERROR_UNSUPPORTED, "vmap: it has too many operands or results");
        return;
    }
    mw__log(MW_LOG_INFO, "vmap: %s is written %" PRId64 " times, once for each example", op->kind, v->examples);
    mw_tensor **parts =
        mw__alloc(clone->to->allocator, examples * op->result_count, sizeof(mw_tensor *), &clone->to->error);
    if (parts == NULL)
        return;
    copy_each(v, clone, op, &r, parts);
    for (size_t i = 0; i < op->result_count && clone->to->error.status == MW_OK; i++)
        mw__clone_set(clone, op->results[i], mw_stack(parts + i * examples, examples, 0));
    mw__free(clone->to->allocator, parts);
}
