/* What the phases ask of values and operations. */
#include "chip/plan/plan.h"

#include "graph/ir/count.h"

#include <string.h>

const mw_tensor *mw__chip_plan_resolve(const mw__chip_planner *p, const mw_tensor *value)
{
    while (p->alias[value->id] != NULL)
        value = p->alias[value->id];
    return value;
}

void mw__chip_plan_set_alias(mw__chip_planner *p, const mw_tensor *value, const mw_tensor *instead)
{
    p->alias[value->id] = mw__chip_plan_resolve(p, instead);
    p->uses[p->alias[value->id]->id] += p->uses[value->id];
}

bool mw__chip_plan_is_constant(const mw__chip_planner *p, const mw_tensor *value)
{
    return mw__is_constant(value) || p->is_constant[value->id];
}

const mw_tensor *mw__chip_plan_operand(const mw__chip_planner *p, const mw__op *op, const char *name)
{
    const mw_tensor *value = mw__legality_argument(op, name);
    if (value == NULL || mw__chip_plan_is_constant(p, value))
        return NULL;
    return mw__chip_plan_resolve(p, value);
}

const mw__op *mw__chip_plan_maker(const mw__chip_planner *p, const mw_tensor *value)
{
    const size_t at = p->made_by[value->id];
    return at != MW_CHIP_NONE ? p->body->ops[at] : NULL;
}

/* ---- bytes ---- */

/* More than any memory; sums of these do not overflow. */
#define BYTES_MAX ((int64_t)1 << 44)

static int64_t limited(int64_t bytes) { return bytes < BYTES_MAX ? bytes : BYTES_MAX; }

static int64_t round_up(int64_t value, int64_t to)
{
    return value > INT64_MAX - to ? value : (value + to - 1) / to * to;
}

static int64_t times_saturated(int64_t a, int64_t b)
{
    int64_t product;
    return __builtin_mul_overflow(a, b, &product) ? INT64_MAX / 4 : product;
}

int64_t mw__chip_plan_value_bytes(const mw__chip_planner *p, const mw_tensor *value)
{
    const mw_shape shape = mw_tensor_shape(value);
    int64_t rows = 1;
    if (value->type->kind != MW__TENSOR)
        return 0;
    for (int i = 0; i + 1 < shape.rank; i++)
        rows = times_saturated(rows, shape.dim[i] > 0 ? shape.dim[i] : 0);
    const int64_t last = shape.rank > 0 ? shape.dim[shape.rank - 1] : 1;
    const int64_t row = (times_saturated(last > 0 ? last : 0, mw_dtype_bits(value->type->dtype)) + 7) / 8;
    return limited(times_saturated(rows, round_up(row, p->options->row_alignment)));
}

int64_t mw__chip_plan_constant_bytes(const mw_tensor *value)
{
    const uint64_t bytes = mw__value_bytes(value);
    return bytes < (uint64_t)BYTES_MAX ? (int64_t)bytes : BYTES_MAX;
}

/* ---- operands ---- */

static void visit_value(const mw__chip_planner *p, const mw_tensor *value, mw__chip_plan_visit *visit, void *user)
{
    if (value == NULL || mw__chip_plan_is_constant(p, value))
        return;
    value = mw__chip_plan_resolve(p, value);
    const size_t at = p->made_by[value->id];
    if (at == MW_CHIP_NONE || !p->folded_concat[at]) {
        if (!mw__chip_plan_is_constant(p, value))
            visit(user, value);
        return;
    }
    const mw__slot *values = &p->body->ops[at]->slots[0];
    for (size_t s = 0; s < p->body->ops[at]->slot_count; s++)
        values = strcmp(p->body->ops[at]->slots[s].name, "values") == 0 ? &p->body->ops[at]->slots[s] : values;
    for (size_t k = 0; k < values->count; k++)
        visit_value(p, values->operands[k].value, visit, user); /* a part is no fused concat itself */
}

static void visit_operation(const mw__chip_planner *p, const mw__op *op, mw__chip_plan_visit *visit, void *user);

static void visit_operand(const mw__chip_planner *p, const mw__operand *operand, mw__chip_plan_visit *visit, void *user)
{
    if (operand->value != NULL)
        visit_value(p, operand->value, visit, user);
    for (size_t i = 0; i < operand->member_count; i++)
        if (operand->members[i].value != NULL)
            visit_value(p, operand->members[i].value, visit, user);
}

/* Values of nested blocks have no readers outside; they are skipped by what `visit` knows of them. */
static void visit_block(const mw__chip_planner *p, const mw__block *block, mw__chip_plan_visit *visit, void *user)
{
    for (size_t i = 0; i < block->op_count; i++)
        visit_operation(p, block->ops[i], visit, user);
    for (size_t i = 0; i < block->output_count; i++)
        visit_value(p, block->outputs[i], visit, user);
}

static void visit_operation(const mw__chip_planner *p, const mw__op *op, mw__chip_plan_visit *visit, void *user)
{
    for (size_t s = 0; s < op->slot_count; s++)
        for (size_t k = 0; k < op->slots[s].count; k++)
            visit_operand(p, &op->slots[s].operands[k], visit, user);
    for (size_t i = 0; i < op->block_count; i++)
        visit_block(p, op->blocks[i], visit, user);
}

void mw__chip_plan_each_input(const mw__chip_planner *p, size_t op, mw__chip_plan_visit *visit, void *user)
{
    visit_operation(p, p->body->ops[op], visit, user);
}

typedef struct distinct {
    const mw_tensor **values;
    size_t count;
} distinct;

static void count_value(void *user, const mw_tensor *value)
{
    (void)value;
    ((distinct *)user)->count++;
}

static void keep_value(void *user, const mw_tensor *value)
{
    distinct *d = user;
    for (size_t i = 0; i < d->count; i++)
        if (d->values[i] == value)
            return;
    d->values[d->count++] = value;
}

const mw_tensor **mw__chip_plan_layer_inputs(mw__chip_planner *p, const mw__chip_plan_layer *layer, size_t *out_count)
{
    distinct d = {0};
    mw__chip_plan_each_input(p, layer->head_index, count_value, &d);
    d.values = mw__arena_alloc(&p->scratch, d.count, sizeof *d.values, p->err);
    d.count = 0;
    if (d.values != NULL)
        mw__chip_plan_each_input(p, layer->head_index, keep_value, &d);
    *out_count = d.count;
    return d.values;
}
