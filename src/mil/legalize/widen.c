/* The clone in which narrow integers are int32. MIL says that those which a cast makes of numbers beyond its type are
 * undefined, so that none of them needs to be cut. */
#include "mil/legalize/widen.h"

#include "graph/constants/compressed.h"
#include "graph/transform/clone/clone.h"
#include "mil/legalize/split.h"

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
    return op->row == NULL || op->block_count > 0 || mw__op_is(op, "quantize") || mw__op_is(op, "dequantize");
}

static bool can_widen(const mw__block *body)
{
    for (size_t i = 0; i < body->op_count; i++)
        if (wants_narrow(body->ops[i]))
            return false;
    return has_narrow_input(body);
}

/* ---- operations ---- */

static mw_tensor *wide_constant(mw_graph *to, const mw__payload *payload, mw_shape shape)
{
    const int64_t elements = mw_shape_count(shape);
    if (payload->splat) {
        const int32_t number = (int32_t)mw__payload_int(payload, 0);
        return mw__payload_emit_splat(to, MW_I32, shape, &number, "const");
    }
    const size_t count = elements > 0 ? (size_t)elements : 0;
    int32_t *data = mw__arena_alloc(&to->arena, count, sizeof *data, &to->error);
    for (size_t i = 0; data != NULL && i < count; i++)
        data[i] = (int32_t)mw__payload_int(payload, i);
    return data != NULL ? mw_constant(to, MW_I32, shape, data) : NULL;
}

/* int32 in the place of a narrow constant, "int32" in that of the name of a narrow type. */
static mw_tensor *wide_form(void *user, mw__clone *clone, const mw__op *op, size_t slot, const mw__operand *operand)
{
    const mw__payload *payload = operand->value->payload;
    (void)user, (void)op, (void)slot;
    if (payload != NULL && payload->strings != NULL && mw__payload_count(payload) == 1) {
        const char *text = payload->strings[0];
        const bool narrow = strcmp(text, "int8") == 0 || strcmp(text, "int16") == 0 || strcmp(text, "uint16") == 0;
        return narrow ? mw_text(clone->to, "int32") : NULL;
    }
    if (payload == NULL || payload->data == NULL || !is_narrow(operand->value))
        return NULL;
    return wide_constant(clone->to, payload, mw_tensor_shape(operand->value));
}

/* Constants stay as they are for those that want them so (constexpr). */
static bool widen_op(void *user, mw__clone *clone, const mw__op *op)
{
    if (mw__op_is_constexpr(op) || op->slot_count == 0)
        return false;
    mw__clone_op_with(clone, op, wide_form, user);
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
    const mw__function *main = mw__graph_main(from);
    *out_any = false;
    if (mw__failed(err))
        return err->status;
    *out_any = main != NULL && device->half_ports && can_widen(main->body);
    return *out_any ? mw__clone_ports(main, to, &how, NULL, err) : MW_OK;
}
