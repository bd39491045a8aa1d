/* Products of int8 numbers in the text (rules/arithmetic.def, int8_sums): conv and linear of a dequantized input with a
 * dequantized weight, whose scales are known. */
#include "engine/compile/storage/int8_products.h"

#include <string.h>

static bool is_named(const mw__op *op, const char *name)
{
    return op != NULL && op->row != NULL && strcmp(op->row->name, name) == 0;
}

static bool is_byte(const mw_tensor *value)
{
    return value != NULL && (value->type->dtype == MW_I8 || value->type->dtype == MW_U8);
}

static bool is_known(const mw_tensor *value)
{
    return value != NULL && value->payload != NULL && value->payload->data != NULL;
}

static int64_t count_of(const mw_tensor *value) { return mw_shape_count(value->type->shape); }

/* What a weight is made of: codes, and a scale for all or for each of its first axis. */
typedef struct weight_codes {
    const mw_tensor *data, *scale;
} weight_codes;

static bool is_first_axis(const mw__op *op)
{
    int64_t axis = 0;
    return !mw__arg_present(op, "axis") || (mw__arg_int(op, "axis", &axis) && axis == 0);
}

static weight_codes codes_of(const mw__op *op)
{
    if (is_named(op, "constexpr_affine_dequantize") && is_first_axis(op))
        return (weight_codes){mw__arg(op, "quantized_data"), mw__arg(op, "scale")};
    if (is_named(op, "constexpr_blockwise_shift_scale"))
        return (weight_codes){mw__arg(op, "data"), mw__arg(op, "scale")};
    if (is_named(op, "dequantize") && is_first_axis(op))
        return (weight_codes){mw__arg(op, "input"), mw__arg(op, "scale")};
    return (weight_codes){0};
}

/* One scale, or one for each output channel. */
static bool scales_suit(const mw_tensor *scale, int64_t outputs)
{
    const mw_shape shape = scale->type->shape;
    return is_known(scale) &&
           (count_of(scale) == 1 || (count_of(scale) == outputs && shape.rank > 0 && shape.dim[0] == outputs));
}

static mw_status read_codes(const mw__op *op, mw__arena *arena, mw__codes **out, mw_error *err)
{
    const mw_tensor *x = mw__arg(op, "x"), *weight = mw__arg(op, "weight");
    const bool from_bytes =
        x != NULL && weight != NULL && is_named(x->op, "dequantize") && is_byte(mw__arg(x->op, "input"));
    const mw_tensor *x_scale = from_bytes ? mw__arg(x->op, "scale") : NULL;
    const weight_codes codes = from_bytes ? codes_of(weight->op) : (weight_codes){0};
    if (!is_known(x_scale) || count_of(x_scale) != 1 || !is_byte(codes.data))
        return MW_OK;
    const int64_t outputs = weight->type->shape.dim[0];
    if (!scales_suit(codes.scale, outputs))
        return MW_OK;
    mw__codes *made = mw__arena_alloc(arena, 1, sizeof *made, err);
    float *scales = mw__arena_alloc(arena, (size_t)outputs, sizeof *scales, err);
    if (made == NULL || scales == NULL)
        return MW_ERROR_MEMORY;
    for (int64_t i = 0; i < outputs; i++)
        scales[i] = (float)mw__payload_float(codes.scale->payload, count_of(codes.scale) == 1 ? 0 : (size_t)i);
    *made = (mw__codes){.x_scale = (float)mw__payload_float(x_scale->payload, 0), .weight_scales = scales};
    *out = made;
    return MW_OK;
}

mw_status mw__storage_find_codes(const mw__function *function, mw__arena *arena, mw__codes **inout, mw_error *err)
{
    for (size_t i = 0; i < function->body->op_count; i++) {
        const mw__op *op = function->body->ops[i];
        if (is_named(op, "conv") || is_named(op, "linear"))
            MW_TRY(read_codes(op, arena, &inout[op->results[0]->id], err));
    }
    return MW_OK;
}
