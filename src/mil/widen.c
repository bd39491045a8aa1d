/* The clone in which narrow integers are int32. MIL says that those which a cast makes of numbers beyond its type are
 * undefined, so that none of them needs to be cut. */
#include "mil/widen.h"

#include "graph/constants/compressed.h"
#include "graph/transform/clone.h"
#include "mil/split.h"

#include <string.h>

static bool is_narrow(const mw_tensor *value)
{
    const mw_dtype dtype = value != NULL ? mw_tensor_dtype(value) : MW_DTYPE_NONE;
    return dtype == MW_I8 || dtype == MW_I16 || dtype == MW_U16;
}

/* ---- whether ---- */

static bool has_narrow_input(const mw__block *body)
{
    bool any = false;
    for (size_t i = 0; i < body->input_count; i++)
        any = any || (body->inputs[i]->role == MW__INPUT && is_narrow(body->inputs[i]));
    return any;
}

static bool wants_narrow(const mw__op *op)
{
    return op->row == NULL || op->block_count > 0 || mw__split_is(op, "quantize") || mw__split_is(op, "dequantize");
}

static bool can_widen(const mw__block *body)
{
    for (size_t i = 0; i < body->op_count; i++)
        if (wants_narrow(body->ops[i]))
            return false;
    return has_narrow_input(body);
}

/* ---- operations ---- */

typedef struct swapped {
    const mw_tensor *source;
    mw_tensor *copy;
} swapped;

/* One number for all stays one: a short text must not make a huge constant. */
static mw_tensor *wide_splat(mw_graph *to, const mw__payload *payload, mw_shape shape)
{
    const mw__type *type = mw__type_tensor(to, MW_I32, shape, &to->error);
    mw__payload *wide = mw__arena_alloc(&to->arena, 1, sizeof *wide, &to->error);
    int32_t *data = mw__arena_alloc(&to->arena, 1, sizeof *data, &to->error);
    if (type == NULL || wide == NULL || data == NULL)
        return NULL;
    *data = (int32_t)mw__payload_int(payload, 0);
    *wide = (mw__payload){.type = type, .data = data, .size = sizeof *data, .splat = true};
    return mw__payload_emit(to, wide, "const", &to->error);
}

static mw_tensor *wide_constant(mw_graph *to, const mw__payload *payload, mw_shape shape)
{
    const int64_t elements = mw_shape_count(shape);
    if (payload->splat)
        return wide_splat(to, payload, shape);
    const size_t count = elements > 0 ? (size_t)elements : 0;
    int32_t *data = mw__arena_alloc(&to->arena, count, sizeof *data, &to->error);
    for (size_t i = 0; data != NULL && i < count; i++)
        data[i] = (int32_t)mw__payload_int(payload, i);
    return data != NULL ? mw_constant(to, MW_I32, shape, data) : NULL;
}

/* What stands for an operand: int32 in the place of a constant, "int32" in that of the name of a type. NULL = the
 * operand itself. */
static mw_tensor *wide_form(mw__clone *clone, const mw_tensor *value)
{
    const mw__payload *payload = value != NULL ? value->payload : NULL;
    if (payload != NULL && payload->strings != NULL && mw__payload_count(payload) == 1) {
        const char *text = payload->strings[0];
        const bool narrow = strcmp(text, "int8") == 0 || strcmp(text, "int16") == 0 || strcmp(text, "uint16") == 0;
        return narrow ? mw_text(clone->to, "int32") : NULL;
    }
    if (payload == NULL || payload->data == NULL || !is_narrow(value))
        return NULL;
    return wide_constant(clone->to, payload, mw_tensor_shape(value));
}

static size_t swap_operands(mw__clone *clone, const mw__op *op, swapped *swaps)
{
    size_t count = 0;
    for (size_t i = 0; i < op->slot_count; i++)
        for (size_t k = 0; k < op->slots[i].count; k++) {
            const mw_tensor *value = op->slots[i].operands[k].value;
            mw_tensor *wide = wide_form(clone, value);
            if (wide == NULL)
                continue;
            swaps[count++] = (swapped){value, mw__clone_get(clone, value)};
            mw__clone_set(clone, value, wide);
        }
    return count;
}

/* Constants stay as they are for those that want them so (constexpr). */
static bool widen_op(void *user, mw__clone *clone, const mw__op *op)
{
    size_t most = 0;
    mw_graph *to = clone->to;
    (void)user;
    for (size_t i = 0; i < op->slot_count; i++)
        most += op->slots[i].count;
    if (mw__op_is_constexpr(op) || most == 0)
        return false;
    swapped *swaps = mw__alloc(to->allocator, most, sizeof *swaps, &to->error);
    if (swaps == NULL)
        return true;
    const size_t count = swap_operands(clone, op, swaps);
    if (to->error.status == MW_OK)
        mw__clone_op(clone, op, &to->error);
    for (size_t i = count; i-- > 0;)
        mw__clone_set(clone, swaps[i].source, swaps[i].copy);
    mw__free(to->allocator, swaps);
    return true;
}

static bool widen_input(void *user, mw__clone *clone, const mw_tensor *value)
{
    (void)user;
    if (value->role != MW__INPUT || !is_narrow(value))
        return false;
    mw_tensor *port = mw_input(clone->to, value->name, MW_I32, mw_tensor_shape(value));
    if (port == NULL)
        return true;
    port->index_limit = value->index_limit;
    port->index_ignored = value->index_ignored;
    port->index_use = value->index_use;
    port->stop_gradient = value->stop_gradient;
    mw__clone_set(clone, value, port);
    return true;
}

/* ---- the whole ---- */

mw_status mw__mil_widen(const mw_graph *from, mw_graph *to, const mw__device_traits *device, bool *out_any,
                        mw_error *err)
{
    const mw__clone_options how = {.rule = widen_op, .input = widen_input, .keep_outputs = true};
    const mw__function *main = mw__function_find(from, "main");
    *out_any = false;
    if (mw__failed(err))
        return err->status;
    *out_any = main != NULL && device->half_ports && can_widen(main->body);
    return *out_any ? mw__clone_ports(main, to, &how, NULL, err) : MW_OK;
}
