/* Parts of values: where blocks begin, what stands for an operand of one block and digit, and the parts of sources. */
#include "mil/legalize/split.h"

#include <millwright/millwright.h>
#include <string.h>

/* ---- geometry ---- */

static int64_t count_blocks(const mw__split *split, int64_t extent)
{
    return (extent + split->axis_max - 1) / split->axis_max;
}

/* Blocks of about one size, each a whole number of high digits but for the last (where an axis has room for one). */
void mw__split_block(const mw__split *split, int64_t extent, int64_t index, int64_t *out_begin, int64_t *out_count)
{
    const int64_t blocks = count_blocks(split, extent), share = (extent + blocks - 1) / blocks;
    const int64_t unit = split->axis_max < MW__DIGIT_BASE ? 1 : MW__DIGIT_BASE;
    const int64_t size = (share + unit - 1) / unit * unit;
    *out_begin = index * size;
    *out_count = extent - *out_begin < size ? extent - *out_begin : size;
}

int64_t mw__split_blocks_of(const mw__split *split, const mw_tensor *value)
{
    if (!mw__split_is_long(split, value))
        return 1;
    return count_blocks(split, mw_tensor_shape(value).dim[mw__split_axis(split, value)]);
}

mw_shape mw__split_extents(const mw__split *split, const mw_tensor *value, int64_t block)
{
    mw_shape shape = mw_tensor_shape(value);
    int64_t begin;
    if (block != MW__SPLIT_WHOLE && mw__split_is_long(split, value)) {
        int64_t *extent = &shape.dim[mw__split_axis(split, value)];
        mw__split_block(split, *extent, block, &begin, extent);
    }
    return shape;
}

/* ---- forms ---- */

static bool make_form(mw__split *split, mw__split_form *form, int64_t blocks, int digits)
{
    if (form->digits != 0)
        return true;
    form->parts =
        mw__arena_alloc(&split->to->arena, (size_t)blocks * (size_t)digits, sizeof(mw_tensor *), &split->to->error);
    if (form->parts == NULL)
        return false;
    form->blocks = blocks;
    form->digits = digits;
    return true;
}

void mw__split_set(mw__split *split, mw__clone *clone, const mw_tensor *value, int64_t block, int digits, int digit,
                   mw_tensor *part)
{
    const int64_t blocks = mw__split_blocks_of(split, value);
    if (blocks == 1 && digits == 1) {
        mw__clone_set(clone, value, part);
        return;
    }
    mw__split_form *form = &split->forms[value->id];
    if (make_form(split, form, blocks, digits))
        form->parts[(blocks > 1 ? block : 0) * digits + digit] = part;
}

/* ---- sources ---- */

/* Of a constant that one number stands for the part is one, too. */
static mw_tensor *part_of_splat(mw_graph *to, const mw_tensor *value, mw_shape part, int digit)
{
    const mw__payload *from = value->payload;
    if (digit < 0)
        return mw__payload_emit_splat(to, mw_tensor_dtype(value), part, from->data, value->hint);
    const float number = (float)mw__digit_of(mw__payload_int(from, 0), digit);
    return mw__payload_emit_splat(to, MW_F32, part, &number, value->hint);
}

/* What a part is cut from, and where it begins along the axis. */
typedef struct cut {
    int64_t begin, rows, extent, inner, count;
} cut;

static size_t place_of(const cut *c, int64_t i)
{
    return (size_t)((i / (c->inner * c->rows) * c->extent + i / c->inner % c->rows + c->begin) * c->inner +
                    i % c->inner);
}

/* Whole bytes: no operation but those that expand constants takes what is shorter. */
static mw_tensor *cut_elements(mw_graph *to, const mw_tensor *value, mw_shape part, const cut *c, int digit)
{
    const mw__payload *from = value->payload;
    const mw_dtype dtype = digit >= 0 ? MW_F32 : mw_tensor_dtype(value);
    const size_t bytes = (size_t)mw_dtype_bits(dtype) / 8;
    if (bytes == 0)
        return mw__graph_fail(to, MW_ERROR_DTYPE, "constant \"%s\": elements of %s are not cut into blocks",
                              mw_tensor_name(value), mw_dtype_name(dtype));
    unsigned char *data = mw__arena_alloc(&to->arena, (size_t)c->count, bytes, &to->error);
    for (int64_t i = 0; data != NULL && i < c->count; i++) {
        const size_t at = place_of(c, i);
        const float number = digit >= 0 ? (float)mw__digit_of(mw__payload_int(from, at), digit) : 0.0F;
        const unsigned char *element = (const unsigned char *)from->data + at * bytes;
        memcpy(data + (size_t)i * bytes, digit >= 0 ? (const void *)&number : element, bytes);
    }
    return data != NULL ? mw_constant(to, dtype, part, data) : NULL;
}

/* Elements [begin, begin + count) of an axis of a constant, as themselves or as a digit. */
static mw_tensor *part_of_constant(mw__split *split, const mw_tensor *value, mw_shape part, int axis, int64_t begin,
                                   int digit)
{
    const mw_shape shape = mw_tensor_shape(value);
    const cut c = {.begin = begin,
                   .rows = part.rank > 0 ? part.dim[axis] : 1,
                   .extent = shape.rank > 0 ? shape.dim[axis] : 1,
                   .inner = mw__shape_span(shape, axis + 1, shape.rank),
                   .count = mw_shape_count(part)};
    if (value->payload->data == NULL)
        return mw__graph_fail(split->to, MW_ERROR_STATE,
                              "constant \"%s\" has no values; read the program with its weight files",
                              mw_tensor_name(value));
    if (value->payload->splat)
        return part_of_splat(split->to, value, part, digit);
    return cut_elements(split->to, value, part, &c, digit);
}

static mw_tensor *part_of_range(mw__split *split, const mw_tensor *value, int64_t begin, int64_t count, int digit)
{
    double start = 0.0, step = 1.0;
    mw__arg_float(value->op, "start", &start);
    mw__arg_float(value->op, "step", &step);
    if (digit < 0) {
        const double first = start + (double)begin * step;
        return mw_range_1d(split->to, mw_tensor_dtype(value), first, first + (double)count * step, step);
    }
    if (start == 0.0 && step == 1.0)
        return mw__digits_range(split->to, begin, count, digit);
    float *data = mw__arena_alloc(&split->to->arena, (size_t)count, sizeof *data, &split->to->error);
    for (int64_t i = 0; data != NULL && i < count; i++)
        data[i] = (float)mw__digit_of((int64_t)(start + (double)(begin + i) * step), digit);
    return data != NULL ? mw_constant(split->to, MW_F32, MW_SHAPE(count), data) : NULL;
}

static mw_tensor *make_source(mw__split *split, const mw_tensor *value, mw_shape part, int64_t block, int digit)
{
    const int axis = mw__split_axis(split, value);
    int64_t begin = 0, count = 0;
    double number = 0.0;
    if (axis >= 0 && block != MW__SPLIT_WHOLE)
        mw__split_block(split, mw_tensor_shape(value).dim[axis], block, &begin, &count);
    if (value->payload != NULL)
        return part_of_constant(split, value, part, axis >= 0 ? axis : 0, begin, digit);
    if (mw__op_is(value->op, "range_1d"))
        return part_of_range(split, value, begin, part.dim[0], digit);
    if (mw__op_is(value->op, "fill")) {
        mw__arg_float(value->op, "value", &number);
        return mw_fill(split->to, digit >= 0 ? MW_F32 : mw_tensor_dtype(value), part,
                       digit >= 0 ? (double)mw__digit_of((int64_t)number, digit) : number);
    }
    const mw_tensor *x = mw__arg(value->op, "x");
    return mw_reshape(make_source(split, x, mw__split_extents(split, x, block), block, digit), part);
}

static mw_tensor *source_part(mw__split *split, const mw_tensor *value, int64_t block, int digits, int digit)
{
    const int64_t blocks = block == MW__SPLIT_WHOLE ? 1 : mw__split_blocks_of(split, value);
    const size_t kind = block == MW__SPLIT_WHOLE ? 2 : (size_t)digits - 1;
    mw__split_form *form = &split->sources[kind * split->count + value->id];
    if (!make_form(split, form, blocks, digits))
        return NULL;
    mw_tensor **part = &form->parts[(blocks > 1 ? block : 0) * digits + digit];
    if (*part == NULL)
        *part = make_source(split, value, mw__split_extents(split, value, block), block, digits == 2 ? digit : -1);
    return *part;
}

/* ---- operands ---- */

mw_tensor *mw__split_part(mw__split *split, mw__clone *clone, const mw_tensor *value, int64_t block, int digits,
                          int digit)
{
    const mw__split_form *form = &split->forms[value->id];
    if (form->digits != 0)
        return form->parts[(form->blocks > 1 ? block : 0) * form->digits + (form->digits == 2 ? digit : 0)];
    const bool in_blocks = block != MW__SPLIT_WHOLE && mw__split_is_long(split, value);
    if (mw__split_is_source(split, value) && (digits == 2 || in_blocks))
        return source_part(split, value, in_blocks ? block : MW__SPLIT_WHOLE, digits, digit);
    mw_tensor *whole = mw__clone_get(clone, value);
    if (whole == NULL && value->payload != NULL) /* a literal in the argument */
        return make_source(split, value, mw_tensor_shape(value), MW__SPLIT_WHOLE, -1);
    return whole;
}

mw__digits mw__split_digits(mw__split *split, mw__clone *clone, const mw_tensor *value, int64_t block, int digits)
{
    mw__digits result = {.count = digits};
    for (int i = 0; i < digits; i++)
        result.digit[i] = mw__split_part(split, clone, value, block, digits, i);
    return result;
}

/* ---- copying an operation ---- */

typedef struct copying {
    mw__split *split;
    int64_t block;
    int digits, digit;
} copying;

/* Another operand for this block and digit, if it must be one. */
static mw_tensor *part_of_operand(void *user, mw__clone *clone, const mw__op *op, size_t slot,
                                  const mw__operand *operand)
{
    const copying *c = user;
    const mw_tensor *value = operand->value;
    const mw__arg_row *row = &op->row->args[slot];
    if (row->kind == MW__CONST)
        return NULL;
    const bool index = c->digits == 2 && mw__split_is_int(value) && mw__split_carries(row);
    const bool in_block = c->block != MW__SPLIT_WHOLE && mw__split_is_long(c->split, value);
    if (!index && !in_block && c->split->forms[value->id].digits == 0)
        return NULL;
    return mw__split_part(c->split, clone, value, c->block, index ? 2 : 1, c->digit);
}

void mw__split_copy_op(mw__split *split, mw__clone *clone, const mw__op *op, int64_t block, int digits, int digit)
{
    mw_graph *to = split->to;
    copying c = {.split = split, .block = block, .digits = digits, .digit = digit};
    const size_t before = to->block->op_count;
    mw__clone_op_with(clone, op, part_of_operand, &c);
    for (size_t i = before; i < to->block->op_count; i++)
        to->block->ops[i]->name = NULL; /* a name stands for one operation only */
    for (size_t i = 0; i < op->result_count; i++) {
        const mw_tensor *result = op->results[i];
        mw_tensor *part = mw__clone_get(clone, result);
        mw__clone_set(clone, result, NULL);
        mw__split_set(split, clone, result, block, mw__split_is_int(result) ? digits : 1, digit, part);
    }
}
