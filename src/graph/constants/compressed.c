/* Reading compressed constants: codes, tables, scales and offsets in parts. The whole of one, also of those that cannot
 * be read in parts, is made in compressed_expand.c. */
#include "graph/constants/compressed.h"

#include "base/number/fp16.h"
#include "graph/ir/rule.h"

#include <string.h>

enum { RUN = 512 }; /* elements at a time */

bool mw__op_is_constexpr(const mw__op *op) { return op != NULL && mw__op_has(op, MW__TRAIT_CONSTEXPR); }

bool mw__row_has_attributes(const mw__row *row)
{
    return mw__row_has(row, MW__TRAIT_CONSTEXPR) && row->since < MW_IOS18;
}

/* ---- codes ---- */

/* The next `count` numbers of `bits` bits, 1 to 7, that lie LSB first, from element `begin` on. */
static void load_packed(const unsigned char *data, int bits, int64_t begin, int64_t count, int32_t *out)
{
    const uint32_t mask = (1u << bits) - 1u;
    for (int64_t i = 0; i < count; i++) {
        const uint64_t at = (uint64_t)(begin + i) * (uint64_t)bits;
        const unsigned shift = (unsigned)(at % 8);
        uint32_t pair = data[at / 8];
        if (shift + (unsigned)bits > 8)
            pair |= (uint32_t)data[at / 8 + 1] << 8;
        out[i] = (int32_t)(pair >> shift & mask);
    }
}

/* Whole bytes of two at a time. */
static void load_nibbles(const unsigned char *data, int64_t begin, int64_t count, int32_t *out)
{
    int64_t i = 0;
    if (begin % 2 != 0 && count > 0)
        out[i++] = data[begin / 2] >> 4;
    for (const unsigned char *pair = data + (begin + i) / 2; i + 2 <= count; i += 2, pair++) {
        out[i] = *pair & 15;
        out[i + 1] = *pair >> 4;
    }
    if (i < count)
        out[i] = data[(begin + i) / 2] & 15;
}

static void load_integers(const mw__payload *codes, int64_t begin, int64_t count, int32_t *out)
{
    const mw_dtype dtype = codes->type->dtype;
    const unsigned char *data = codes->data;
    const int bits = mw_dtype_bits(dtype);
    if (bits == 4)
        load_nibbles(data, begin, count, out);
    else if (bits < 8)
        load_packed(data, bits, begin, count, out);
    else
        for (int64_t i = 0; i < count; i++)
            out[i] = dtype == MW_I8 ? (int8_t)data[begin + i] : data[begin + i];
    for (int64_t i = 0; dtype == MW_I4 && i < count; i++)
        out[i] -= (out[i] & 8) * 2;
}

static bool is_code(mw_dtype dtype)
{
    return dtype == MW_I8 || dtype == MW_U8 || (mw_dtype_bits(dtype) > 0 && mw_dtype_bits(dtype) < 8);
}

static void load_codes(const mw__payload *codes, int64_t begin, int64_t count, int32_t *out)
{
    if (!codes->splat) {
        load_integers(codes, begin, count, out);
        return;
    }
    load_integers(codes, 0, 1, out);
    for (int64_t i = 1; i < count; i++)
        out[i] = out[0];
}

static void load_numbers(const mw__payload *codes, int64_t begin, int64_t count, float *out)
{
    int32_t whole[RUN];
    const mw_dtype dtype = codes->type->dtype;
    if (!codes->splat && dtype == MW_F16) {
        mw__fp16_to_float_n(out, (const uint16_t *)codes->data + begin, (size_t)count);
    } else if (!codes->splat && dtype == MW_F32) {
        memcpy(out, (const float *)codes->data + begin, (size_t)count * sizeof *out);
    } else if (!codes->splat && dtype == MW_I8) {
        const int8_t *data = (const int8_t *)codes->data + begin;
        for (int64_t i = 0; i < count; i++)
            out[i] = (float)data[i];
    } else if (is_code(dtype)) {
        load_codes(codes, begin, count, whole);
        for (int64_t i = 0; i < count; i++)
            out[i] = (float)whole[i];
    } else {
        for (int64_t i = 0; i < count; i++)
            out[i] = (float)mw__payload_float(codes, (size_t)(begin + i));
    }
}

/* ---- a run of elements along the last axis ---- */

typedef struct place {
    int64_t at[MW_RANK_MAX];
} place;

int64_t mw__grid_at(const mw__grid *grid, const int64_t *at)
{
    int64_t index = 0;
    for (int axis = 0; axis < grid->rank; axis++)
        index += at[axis] / grid->block[axis] * grid->stride[axis];
    return index;
}

int64_t mw__grid_at_index(const mw__grid *grid, mw_shape dense, int64_t index)
{
    place from;
    for (int axis = dense.rank; axis-- > 0; index /= dense.dim[axis])
        from.at[axis] = index % dense.dim[axis];
    return mw__grid_at(grid, from.at);
}

int64_t mw__grid_run(const mw__grid *grid, const int64_t *at, int64_t count)
{
    const int last = grid->rank - 1;
    if (last < 0 || grid->stride[last] == 0)
        return count;
    const int64_t left = grid->block[last] - at[last] % grid->block[last];
    return left < count ? left : count;
}

/* The code of the element at `at`; *out_part is which number of its vector it is. */
static int64_t code_at(const mw__compressed *c, const int64_t *at, int64_t *out_part)
{
    int64_t index = 0;
    *out_part = 0;
    for (int axis = 0; axis < c->shape.rank; axis++) {
        const bool split = axis == c->vector_axis && c->vector > 1;
        const int64_t extent = split ? c->shape.dim[axis] / c->vector : c->shape.dim[axis];
        index = index * extent + (split ? at[axis] / c->vector : at[axis]);
        *out_part = split ? at[axis] % c->vector : *out_part;
    }
    return index;
}

/* Elements whose codes stand side by side, all of one part of their vectors. */
static void look_up(const mw__compressed *c, place *from, int64_t count, float *out)
{
    int32_t codes[RUN];
    const int last = c->shape.rank - 1;
    int64_t part, at = from->at[last];
    const int64_t first = code_at(c, from->at, &part);
    load_codes(c->codes, first, count, codes);
    for (int64_t i = 0; i < count;) {
        from->at[last] = at + i;
        const int64_t run = mw__grid_run(&c->tables, from->at, count - i);
        const float *table = c->lut + mw__grid_at(&c->tables, from->at) * c->entries * c->vector + part;
        if (c->vector == 1)
            for (int64_t k = i; k < i + run; k++)
                out[k] = table[codes[k]];
        else
            for (int64_t k = i; k < i + run; k++)
                out[k] = table[codes[k] * c->vector];
        i += run;
    }
    from->at[last] = at;
}

static void look_up_run(const mw__compressed *c, place *from, int64_t count, float *out)
{
    const int last = c->shape.rank - 1;
    if (c->vector == 1 || c->vector_axis != last) {
        look_up(c, from, count, out);
        return;
    }
    const int64_t at = from->at[last];
    for (int64_t i = 0; i < count; i++) {
        from->at[last] = at + i;
        look_up(c, from, 1, out + i);
    }
    from->at[last] = at;
}

static void apply(const mw__grid *grid, const float *numbers, bool scales, place *from, int64_t count, float *out)
{
    const int last = grid->rank - 1;
    const int64_t at = last >= 0 ? from->at[last] : 0;
    for (int64_t i = 0; numbers != NULL && i < count;) {
        if (last >= 0)
            from->at[last] = at + i;
        const int64_t run = mw__grid_run(grid, from->at, count - i);
        const float number = numbers[mw__grid_at(grid, from->at)];
        if (scales)
            for (int64_t k = i; k < i + run; k++)
                out[k] *= number;
        else
            for (int64_t k = i; k < i + run; k++)
                out[k] -= number;
        i += run;
    }
    if (last >= 0)
        from->at[last] = at;
}

static void load_run(const mw__compressed *c, int64_t begin, place *from, int64_t count, float *out)
{
    uint16_t halves[RUN];
    if (c->lut != NULL)
        look_up_run(c, from, count, out);
    else
        load_numbers(c->codes, begin, count, out);
    apply(&c->offsets, c->offset, false, from, count, out);
    apply(&c->scales, c->scale, true, from, count, out);
    if (c->dtype == MW_F16 && c->scale != NULL) {
        mw__fp16_from_float_n(halves, out, (size_t)count);
        mw__fp16_to_float_n(out, halves, (size_t)count);
    }
}

void mw__compressed_load(const mw__compressed *c, int64_t begin, int64_t count, float *out)
{
    const int64_t row = c->shape.rank > 0 ? c->shape.dim[c->shape.rank - 1] : 1;
    for (int64_t done = 0; done < count;) {
        place from;
        int64_t rest = begin + done;
        for (int axis = c->shape.rank; axis-- > 0; rest /= c->shape.dim[axis])
            from.at[axis] = rest % c->shape.dim[axis];
        int64_t run = row - (begin + done) % row;
        run = run < RUN ? run : RUN;
        run = run < count - done ? run : count - done;
        load_run(c, begin + done, &from, run, out + done);
        done += run;
    }
}

/* ---- reading an operation ---- */

/* Numbers of one tensor of parameters as floats. */
static const float *read_floats(mw__arena *arena, const mw__payload *payload, mw_error *err)
{
    const size_t count = mw__payload_count(payload);
    float *floats = mw__arena_alloc(arena, count, sizeof *floats, err);
    for (size_t at = 0; floats != NULL && at < count; at += RUN)
        load_numbers(payload, (int64_t)at, (int64_t)(count - at < RUN ? count - at : RUN), floats + at);
    return floats;
}

mw__grid mw__grid_of(mw_shape dense, mw_shape parts)
{
    mw__grid grid = {.rank = dense.rank};
    int64_t stride = 1;
    for (int axis = dense.rank; axis-- > 0; stride *= parts.dim[axis]) {
        grid.block[axis] = parts.dim[axis] > 0 ? dense.dim[axis] / parts.dim[axis] : 1;
        grid.block[axis] = grid.block[axis] > 0 ? grid.block[axis] : 1;
        grid.stride[axis] = parts.dim[axis] > 1 ? stride : 0;
    }
    return grid;
}

/* A scalar, or a vector along an axis. */
static mw__grid along(mw_shape dense, const mw__payload *numbers, int axis)
{
    mw_shape parts = {.rank = dense.rank};
    for (int i = 0; i < dense.rank; i++)
        parts.dim[i] = i == axis && numbers->type->shape.rank == 1 ? dense.dim[i] : 1;
    return mw__grid_of(dense, parts);
}

/* An operand with its data: a literal, or a constexpr that has been expanded. */
static const mw__payload *stored(const mw__op *op, const char *arg)
{
    const mw_tensor *value = mw__arg(op, arg);
    const mw__payload *payload = value == NULL ? NULL : value->payload != NULL ? value->payload : value->expanded;
    return payload != NULL && payload->type->kind == MW__TENSOR && payload->data != NULL ? payload : NULL;
}

typedef struct reader {
    mw__arena *arena;
    const mw__op *op;
    mw__compressed *out;
    mw_error *err;
} reader;

/* Numbers of an optional argument; false if they cannot be read. */
static bool read_numbers(const reader *r, const char *arg, const float **out, const mw__payload **out_payload)
{
    *out = NULL;
    *out_payload = NULL;
    if (!mw__arg_present(r->op, arg))
        return true;
    *out_payload = stored(r->op, arg);
    *out = *out_payload != NULL ? read_floats(r->arena, *out_payload, r->err) : NULL;
    return *out != NULL;
}

static bool read_affine(const reader *r)
{
    const mw__payload *scale, *offset;
    int64_t axis = 0;
    r->out->codes = stored(r->op, "quantized_data");
    if (r->out->codes == NULL || !read_numbers(r, "scale", &r->out->scale, &scale) ||
        !read_numbers(r, "zero_point", &r->out->offset, &offset) || !mw__arg_int(r->op, "axis", &axis))
        return false;
    axis += axis < 0 ? r->out->shape.rank : 0;
    r->out->scales = along(r->out->shape, scale, (int)axis);
    r->out->offsets = along(r->out->shape, offset, (int)axis);
    return true;
}

static bool read_shift_scale(const reader *r)
{
    const mw__payload *scale, *offset;
    r->out->codes = stored(r->op, "data");
    if (r->out->codes == NULL || !read_numbers(r, "scale", &r->out->scale, &scale) ||
        !read_numbers(r, "offset", &r->out->offset, &offset))
        return false;
    r->out->scales = mw__grid_of(r->out->shape, scale->type->shape);
    if (offset != NULL)
        r->out->offsets = mw__grid_of(r->out->shape, offset->type->shape);
    return true;
}

/* The tables; of codes under a mask the caller makes dense ones. */
static bool read_tables(const reader *r)
{
    const mw__payload *lut;
    int64_t axis = 0;
    mw__compressed *c = r->out;
    if (!read_numbers(r, "lut", &c->lut, &lut))
        return false;
    const mw_shape shape = lut->type->shape;
    if (mw__arg_present(r->op, "vector_axis") && !mw__arg_int(r->op, "vector_axis", &axis))
        return false;
    c->vector_axis = (int)(axis < 0 ? axis + c->shape.rank : axis);
    c->vector = shape.dim[shape.rank - 1];
    c->entries = shape.dim[shape.rank - 2];
    c->tables = mw__grid_of(c->shape, shape);
    return true;
}

static bool read_lut(const reader *r)
{
    r->out->codes = stored(r->op, "indices");
    return r->out->codes != NULL && read_tables(r);
}

/* The indices of ios16 are bytes in which numbers of fewer bits lie: the same bytes under another name. */
static bool read_packed_lut(const reader *r)
{
    static const mw_dtype widths[] = {MW_U1, MW_U2, MW_U4, MW_U6, MW_U8};
    const mw__payload *lut, *indices = stored(r->op, "indices");
    mw__compressed *c = r->out;
    if (indices == NULL || indices->splat || !read_numbers(r, "lut", &c->lut, &lut))
        return false;
    mw__payload *codes = mw__arena_alloc(r->arena, 1, sizeof *codes, r->err);
    mw__type *type = mw__arena_alloc(r->arena, 1, sizeof *type, r->err);
    if (codes == NULL || type == NULL)
        return false;
    *type = (mw__type){.kind = MW__TENSOR, .shape = c->shape};
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++)
        if (mw_shape_count(lut->type->shape) == (int64_t)1 << mw_dtype_bits(widths[i]))
            type->dtype = widths[i];
    *codes = *indices;
    codes->type = type;
    c->codes = codes;
    c->entries = mw_shape_count(lut->type->shape);
    c->vector = 1;
    c->tables = (mw__grid){0};
    return true;
}

static bool read_cast(const reader *r)
{
    r->out->codes = stored(r->op, "source_val");
    return r->out->codes != NULL;
}

static bool read_constant(const mw_tensor *value, mw__compressed *out)
{
    out->codes = value->payload;
    return value->payload->data != NULL;
}

static bool read_constexpr(const reader *r)
{
    switch (r->op->row->id) {
    case MW__OP_constexpr_affine_dequantize:
        return read_affine(r);
    case MW__OP_constexpr_blockwise_shift_scale:
        return read_shift_scale(r);
    case MW__OP_constexpr_lut_to_dense:
        return read_packed_lut(r);
    case MW__OP_constexpr_lut_to_dense_ios18:
        return read_lut(r);
    case MW__OP_constexpr_lut_to_sparse:
        return read_tables(r);
    case MW__OP_constexpr_cast:
    case MW__OP_constexpr_cast_ios18:
        return read_cast(r);
    default:
        return false;
    }
}

/* True if no number depends on where along the last axis an element stands. */
static bool is_even(const mw__grid *grid) { return grid->rank == 0 || grid->stride[grid->rank - 1] == 0; }

static void merge_last(mw__grid *grid, int64_t extent)
{
    if (grid->rank == 0)
        return;
    grid->rank--;
    grid->block[grid->rank - 1] *= extent;
}

/* Long lines are read faster: the last axis is merged into the one before where that changes nothing. */
static void merge_axes(mw__compressed *c)
{
    while (c->shape.rank > 1 && is_even(&c->tables) && is_even(&c->scales) && is_even(&c->offsets) &&
           (c->vector == 1 || c->vector_axis < c->shape.rank - 2)) {
        const int64_t extent = c->shape.dim[--c->shape.rank];
        c->shape.dim[c->shape.rank - 1] *= extent;
        merge_last(&c->tables, extent);
        merge_last(&c->scales, extent);
        merge_last(&c->offsets, extent);
    }
}

bool mw__compressed_read(mw__arena *arena, const mw_tensor *value, mw__compressed *out, mw_error *err)
{
    *out = (mw__compressed){.vector = 1, .dtype = mw_tensor_dtype(value), .shape = mw_tensor_shape(value)};
    if (mw_shape_count(out->shape) <= 0)
        return false;
    if (value->payload != NULL)
        return read_constant(value, out);
    const reader r = {.arena = arena, .op = value->op, .out = out, .err = err};
    if (!mw__op_is_constexpr(value->op) || !read_constexpr(&r))
        return false;
    merge_axes(out);
    return true;
}
