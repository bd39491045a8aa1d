/* Reading the arguments of an operation by MIL's names, with the defaults of the table. No checks of types. */
#include "base/number/number.h"
#include "base/text/printable.h"
#include "graph/constants/compressed.h"
#include "graph/ir/rule.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* Nearly all names differ in their first letter. */
const mw__slot *mw__op_slot(const mw__op *op, const char *name)
{
    for (size_t i = 0; i < op->slot_count; i++)
        if (op->slots[i].name[0] == name[0] && strcmp(op->slots[i].name, name) == 0)
            return &op->slots[i];
    return NULL;
}

mw_tensor *mw__op_operand(const mw__op *op, const char *name)
{
    const mw__slot *slot = mw__op_slot(op, name);
    return slot != NULL && slot->operands != NULL && slot->count == 1 ? slot->operands[0].value : NULL;
}

static const mw__slot *find_slot(const mw__op *op, const char *name)
{
    const mw__slot *slot = mw__op_slot(op, name);
    assert((slot != NULL || op->row == NULL) && "the row has no such argument");
    return slot;
}

/* The literal that stands for an absent argument, NULL if there is none. */
static const char *find_fallback(const mw__op *op, const char *name)
{
    const mw__arg_row *arg = op->row != NULL ? mw__row_arg(op->row, name) : NULL;
    return arg != NULL && arg->fallback != NULL && arg->fallback[0] != '\0' ? arg->fallback : NULL;
}

bool mw__is_constant(const mw_tensor *value)
{
    return value->payload != NULL || (value->op != NULL && strncmp(value->op->kind, "constexpr_", 10) == 0);
}

mw_tensor *mw__arg(const mw__op *op, const char *name)
{
    const mw__slot *slot = find_slot(op, name);
    return slot != NULL && slot->operands != NULL && slot->count == 1 ? slot->operands[0].value : NULL;
}

size_t mw__arg_values(const mw__op *op, const char *name, const mw__operand **out)
{
    const mw__slot *slot = find_slot(op, name);
    const bool present = slot != NULL && slot->operands != NULL;
    *out = present ? slot->operands : NULL;
    return present ? slot->count : 0;
}

bool mw__arg_present(const mw__op *op, const char *name)
{
    const mw__slot *slot = find_slot(op, name);
    return slot != NULL && slot->operands != NULL;
}

const mw__payload *mw__arg_payload(const mw__op *op, const char *name)
{
    const mw_tensor *value = mw__arg(op, name);
    const mw__payload *payload = value != NULL ? value->payload : NULL;
    if (payload == NULL && value != NULL && !mw__op_is_constexpr(op)) /* whose operands are expanded with it */
        payload = mw__constant_payload(value, NULL);
    if (payload == NULL || payload->type->kind != MW__TENSOR)
        return NULL;
    return payload->data != NULL || payload->strings != NULL ? payload : NULL;
}

/* ---- constants ---- */

static bool read_int(const char *literal, int64_t *out)
{
    if (strcmp(literal, "true") == 0 || strcmp(literal, "false") == 0) {
        *out = literal[0] == 't';
        return true;
    }
    return mw__number_read_i64(literal, strlen(literal), out);
}

bool mw__arg_ints(const mw__op *op, const char *name, int64_t *out, size_t capacity, size_t *out_count)
{
    *out_count = 0;
    if (!mw__arg_present(op, name)) {
        const char *fallback = find_fallback(op, name);
        *out_count = fallback != NULL && capacity > 0 && read_int(fallback, out);
        return *out_count == 1;
    }
    const mw__payload *payload = mw__arg_payload(op, name);
    if (payload == NULL || payload->data == NULL)
        return false;
    const size_t count = mw__payload_count(payload);
    if (count > capacity)
        return false;
    for (size_t i = 0; i < count; i++)
        out[i] = mw__payload_int(payload, i);
    *out_count = count;
    return true;
}

bool mw__arg_int(const mw__op *op, const char *name, int64_t *out)
{
    size_t count;
    return mw__arg_ints(op, name, out, 1, &count) && count == 1;
}

bool mw__arg_float(const mw__op *op, const char *name, double *out)
{
    if (!mw__arg_present(op, name)) {
        const char *fallback = find_fallback(op, name);
        return fallback != NULL && mw__number_read(fallback, strlen(fallback), MW__NUMBER_F32, out);
    }
    const mw__payload *payload = mw__arg_payload(op, name);
    if (payload == NULL || payload->data == NULL || mw__payload_count(payload) != 1)
        return false;
    *out = mw__payload_float(payload, 0);
    return true;
}

bool mw__arg_bools(const mw__op *op, const char *name, bool *out, size_t capacity, size_t *out_count)
{
    *out_count = 0;
    int64_t value;
    if (!mw__arg_present(op, name)) {
        if (capacity == 0 || !mw__arg_int(op, name, &value))
            return false;
        out[0] = value != 0;
        *out_count = 1;
        return true;
    }
    const mw__payload *payload = mw__arg_payload(op, name);
    if (payload == NULL || payload->data == NULL || mw__payload_count(payload) > capacity)
        return false;
    *out_count = mw__payload_count(payload);
    for (size_t i = 0; i < *out_count; i++)
        out[i] = mw__payload_int(payload, i) != 0;
    return true;
}

bool mw__arg_bool(const mw__op *op, const char *name, bool *out)
{
    size_t count;
    return mw__arg_bools(op, name, out, 1, &count) && count == 1;
}

double mw__arg_number(const mw__op *op, const char *name)
{
    double value = 0;
    mw__arg_float(op, name, &value);
    return value;
}

int64_t mw__arg_whole(const mw__op *op, const char *name)
{
    int64_t value = 0;
    mw__arg_int(op, name, &value);
    return value;
}

bool mw__arg_is_set(const mw__op *op, const char *name)
{
    bool value = false;
    return mw__arg_bool(op, name, &value) && value;
}

void mw__arg_mask(const mw__op *op, const char *name, bool out[MW_RANK_MAX])
{
    size_t count;
    memset(out, 0, MW_RANK_MAX * sizeof *out);
    if (mw__arg_present(op, name))
        mw__arg_bools(op, name, out, MW_RANK_MAX, &count);
}

mw_shape mw__arg_shape(const mw__op *op, const char *name) { return mw__arg(op, name)->type->shape; }

bool mw__arg_exists(const mw__op *op, const char *name) { return mw__row_arg(op->row, name) != NULL; }

const char *mw__arg_string(const mw__op *op, const char *name)
{
    if (!mw__arg_present(op, name))
        return find_fallback(op, name);
    const mw__payload *payload = mw__arg_payload(op, name);
    return payload != NULL && payload->strings != NULL && mw__payload_count(payload) == 1 ? payload->strings[0] : NULL;
}

/* ---- the element type of an operation ---- */

mw_dtype mw__op_dtype(const mw__op *op)
{
    for (size_t i = 0; op->row != NULL && i < op->row->arg_count; i++) {
        const mw__slot *slot = &op->slots[i];
        if (!mw__arg_type_is_t(op->row->args[i].type) || slot->operands == NULL)
            continue;
        for (size_t k = 0; k < slot->count; k++) {
            if (slot->operands[k].value != NULL)
                return mw_tensor_dtype(slot->operands[k].value);
        }
    }
    return MW_DTYPE_NONE;
}

mw_dtype mw__fallback_dtype(const mw__arg_row *arg, mw_dtype t)
{
    switch (arg->type) {
    case MW__I32:
    case MW__INT:
    case MW__INDEX:
        return MW_I32;
    case MW__BOOL:
        return MW_BOOL;
    case MW__STRING:
        return MW_STRING;
    case MW__F32:
        return MW_F32;
    default:
        if (t != MW_DTYPE_NONE && (arg->type != MW__FLOAT || t == MW_F16 || t == MW_F32))
            return t;
        return strpbrk(arg->fallback, ".e") != NULL ? MW_F32 : MW_I32;
    }
}

const char *mw__arg_print(const mw__op *op, const char *name, char *buffer, size_t size)
{
    const mw_tensor *value = mw__arg(op, name);
    char shape[200];
    mw__shape_print(mw_tensor_shape(value), shape, sizeof shape);
    if (value != NULL && value->name != NULL && strcmp(value->name, name) != 0)
        mw__printable_printf(buffer, size, "%s \"%s\" %s", name, value->name, shape);
    else
        mw__printable_printf(buffer, size, "%s %s", name, shape);
    return buffer;
}
