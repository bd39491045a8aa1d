/* Pieces with their values numbered in the order of their use, so that two can be compared. */
#include "base/number/hash.h"
#include "base/text/string.h"
#include "graph/transform/segment/segment_parts.h"

#include <string.h>

/* ---- literals ---- */

enum { HASHED_BYTES = 4096 };

static uint64_t hash_text(const char *text, uint64_t seed) { return mw__hash64(text, strlen(text) + 1, seed); }

static uint64_t hash_type(const mw__type *type, uint64_t seed)
{
    const int64_t head[4] = {type->kind, type->dtype, type->kind == MW__TENSOR ? type->shape.rank : 0, type->length};
    seed = mw__hash64(head, sizeof head, seed);
    if (type->kind == MW__TENSOR && type->shape.rank > 0)
        seed = mw__hash64(type->shape.dim, (size_t)type->shape.rank * sizeof *type->shape.dim, seed);
    for (size_t i = 0; i < type->count; i++)
        seed = hash_type(type->element[i], seed);
    return seed;
}

static uint64_t hash_payload(const mw__payload *payload, uint64_t seed)
{
    seed = hash_type(payload->type, seed);
    if (payload->data != NULL)
        seed = mw__hash64(payload->data, payload->size < HASHED_BYTES ? payload->size : HASHED_BYTES, seed);
    const size_t strings = payload->strings != NULL ? mw__payload_count(payload) : 0;
    for (size_t i = 0; i < strings; i++)
        seed = hash_text(payload->strings[i], seed);
    for (size_t i = 0; i < payload->member_count; i++)
        seed = hash_payload(payload->members[i], seed);
    return seed;
}

bool mw__segment_same_payload(const mw__payload *a, const mw__payload *b)
{
    if (a == b || a == NULL || b == NULL)
        return a == b;
    if (!mw__type_equal(a->type, b->type) || a->splat != b->splat || a->size != b->size ||
        a->member_count != b->member_count || (a->data == NULL) != (b->data == NULL) ||
        (a->strings == NULL) != (b->strings == NULL) || !mw__string_equal(a->blob_path, b->blob_path) ||
        a->blob_offset != b->blob_offset)
        return false;
    if (a->data != NULL && a->data != b->data && memcmp(a->data, b->data, a->size) != 0)
        return false;
    const size_t strings = a->strings != NULL ? mw__payload_count(a) : 0;
    for (size_t i = 0; i < strings; i++)
        if (strcmp(a->strings[i], b->strings[i]) != 0)
            return false;
    for (size_t i = 0; i < a->member_count; i++)
        if (!mw__segment_same_payload(a->members[i], b->members[i]))
            return false;
    return true;
}

/* ---- operations ---- */

static uint64_t hash_operands(const mw__operand *operands, size_t count, const bool *liftable, uint64_t seed)
{
    seed = mw__hash64(&count, sizeof count, seed);
    for (size_t i = 0; operands != NULL && i < count; i++) {
        const mw_tensor *value = operands[i].value;
        if (value == NULL)
            seed = hash_operands(operands[i].members, operands[i].member_count, liftable, seed);
        else
            seed = value->payload != NULL && !liftable[value->id] ? hash_payload(value->payload, seed)
                                                                  : hash_type(value->type, seed);
    }
    return seed;
}

uint64_t mw__segment_hash(const mw__op *op, const bool *liftable)
{
    uint64_t seed = hash_text(op->kind, op->stage);
    for (size_t i = 0; i < op->slot_count; i++) {
        if (op->slots[i].operands == NULL)
            continue;
        seed = hash_text(op->slots[i].name, seed);
        seed = hash_operands(op->slots[i].operands, op->slots[i].count, liftable, seed);
    }
    for (size_t i = 0; i < op->result_count; i++)
        seed = hash_type(op->results[i]->type, seed);
    return seed;
}

/* Constants that may be inputs need not be equal. */
static bool same_constant(const bool *liftable, const mw_tensor *a, const mw_tensor *b)
{
    return (a->payload != NULL && b->payload != NULL && liftable[a->id] && liftable[b->id]) ||
           mw__segment_same_payload(a->payload, b->payload);
}

static bool same_operands(const bool *liftable, const mw__operand *a, const mw__operand *b, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if ((a[i].value == NULL) != (b[i].value == NULL) || a[i].inlined != b[i].inlined ||
            a[i].member_count != b[i].member_count)
            return false;
        if (a[i].value == NULL ? !same_operands(liftable, a[i].members, b[i].members, a[i].member_count)
                               : !same_constant(liftable, a[i].value, b[i].value))
            return false;
    }
    return true;
}

static bool same_slot(const bool *liftable, const mw__slot *a, const mw__slot *b)
{
    if ((a->operands == NULL) != (b->operands == NULL))
        return false;
    return a->operands == NULL ||
           (a->count == b->count && a->tuple == b->tuple && a->attribute == b->attribute &&
            mw__string_equal(a->name, b->name) && same_operands(liftable, a->operands, b->operands, a->count));
}

/* The values that they use are compared by their numbers. */
static bool same_op(const bool *liftable, const mw__op *a, const mw__op *b)
{
    if (a->row != b->row || strcmp(a->kind, b->kind) != 0 || a->slot_count != b->slot_count ||
        a->attribute_count != b->attribute_count || a->result_count != b->result_count)
        return false;
    for (size_t i = 0; i < a->slot_count; i++)
        if (!same_slot(liftable, &a->slots[i], &b->slots[i]))
            return false;
    for (size_t i = 0; i < a->attribute_count; i++)
        if (strcmp(a->attributes[i].name, b->attributes[i].name) != 0 ||
            !mw__segment_same_payload(a->attributes[i].value, b->attributes[i].value))
            return false;
    for (size_t i = 0; i < a->result_count; i++)
        if (!mw__type_equal(a->results[i]->type, b->results[i]->type) ||
            !same_constant(liftable, a->results[i], b->results[i]))
            return false;
    return true;
}

bool mw__segment_forms_equal(const mw__segment_form *a, const mw__segment_form *b)
{
    if (a->hash != b->hash || a->op_count != b->op_count || a->ref_count != b->ref_count ||
        a->port_count != b->port_count ||
        (a->ref_count > 0 && memcmp(a->refs, b->refs, a->ref_count * sizeof *a->refs) != 0))
        return false;
    for (size_t i = 0; i < a->port_count; i++)
        if (!mw__type_equal(a->ports[i]->type, b->ports[i]->type))
            return false;
    for (size_t i = 0; i < a->op_count; i++)
        if (!same_op(a->liftable, a->ops[i], b->ops[i]))
            return false;
    return true;
}

/* ---- making forms ---- */

typedef struct former {
    const mw__sequence *s;
    mw__segment_form *form;
    uint32_t *stamp;  /* by value: the piece (from 1) that has numbered it */
    uint32_t *number; /* by value */
    uint32_t piece;
    size_t op_room, ref_room, port_room, result_room; /* of the form */
} former;

#define RESULT 0x80000000u /* a number of a result, else of a port */

static bool is_numbered(const former *f, const mw_tensor *value) { return f->stamp[value->id] == f->piece; }

static void give_number(former *f, const mw_tensor *value, uint32_t number)
{
    f->stamp[value->id] = f->piece;
    f->number[value->id] = number;
}

static mw_status grow(const former *f, void *array, size_t *room, size_t count, size_t size, mw_error *err)
{
    if (count < *room)
        return MW_OK;
    void *old, *larger = mw__arena_alloc(f->s->arena, 2 * *room + 64, size, err);
    if (larger == NULL)
        return MW_ERROR_MEMORY;
    memcpy(&old, array, sizeof old);
    if (count > 0)
        memcpy(larger, old, count * size);
    memcpy(array, &larger, sizeof larger);
    *room = 2 * *room + 64;
    return MW_OK;
}

static mw_status add_port(former *f, mw_tensor *value, mw_error *err)
{
    mw__segment_form *form = f->form;
    MW_TRY(grow(f, &form->ports, &f->port_room, form->port_count, sizeof *form->ports, err));
    give_number(f, value, (uint32_t)form->port_count);
    form->ports[form->port_count++] = value;
    return MW_OK;
}

static mw_status emit_node(former *f, const mw__node *node, mw_error *err);

/* What is copied stands before its first use. */
static mw_status reach_value(former *f, mw_tensor *value, mw_error *err)
{
    const uint32_t index = f->s->producer[value->id];
    const mw__node *from = index != MW__NO_NODE ? &f->s->nodes[index] : NULL;
    if (is_numbered(f, value))
        return MW_OK;
    return from != NULL && from->copied ? emit_node(f, from, err) : add_port(f, value, err);
}

static mw_status emit_node(former *f, const mw__node *node, mw_error *err)
{
    mw__segment_form *form = f->form;
    for (size_t i = 0; i < node->operand_count; i++)
        MW_TRY(reach_value(f, node->operands[i], err));
    for (size_t i = 0; i < node->operand_count; i++) {
        MW_TRY(grow(f, &form->refs, &f->ref_room, form->ref_count, sizeof *form->refs, err));
        form->refs[form->ref_count++] = f->number[node->operands[i]->id];
    }
    MW_TRY(grow(f, &form->ops, &f->op_room, form->op_count, sizeof *form->ops, err));
    form->ops[form->op_count++] = node->op;
    form->hash = mw__hash64(&node->hash, sizeof node->hash, form->hash);
    for (size_t i = 0; i < node->op->result_count; i++) {
        MW_TRY(grow(f, &form->results, &f->result_room, form->result_count, sizeof *form->results, err));
        give_number(f, node->op->results[i], RESULT | (uint32_t)form->result_count);
        form->results[form->result_count++] = node->op->results[i];
    }
    return MW_OK;
}

mw_status mw__segment_forms(const mw__sequence *s, mw__segment_form *out, mw_error *err)
{
    const size_t values = s->function->graph->value_count;
    former f = {.s = s,
                .stamp = mw__arena_alloc(s->arena, values, sizeof *f.stamp, err),
                .number = mw__arena_alloc(s->arena, values, sizeof *f.number, err)};
    if (f.stamp == NULL || f.number == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i + 1 < s->cut_count; i++) {
        f.form = &out[i];
        f.form->liftable = s->liftable;
        f.piece = (uint32_t)i + 1;
        f.op_room = f.ref_room = f.port_room = f.result_room = 0;
        for (uint32_t at = s->cuts[i]; at < s->cuts[i + 1]; at++)
            MW_TRY(emit_node(&f, &s->nodes[s->order[at]], err));
        const mw__segment_form *form = f.form;
        if (form->ref_count > 0)
            f.form->hash = mw__hash64(form->refs, form->ref_count * sizeof *form->refs, form->hash);
    }
    return MW_OK;
}
