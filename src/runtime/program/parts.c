/* Ports in parts: cutting, joining and binding. */
#include "runtime/program/parts.h"

#include "base/memory/checked.h"
#include "base/number/fp16.h"
#include "graph/patterns/digits.h"

#include <inttypes.h>
#include <string.h>

mw_port mw__place_port(const mw__port_place *place, const mw_port *first)
{
    mw_port port = *first;
    const mw__part *part = place->parts[0].part;
    if (part == NULL)
        return port;
    port.name = part->whole;
    port.shape = part->shape;
    port.dtype = part->digit >= 0 ? MW_I32 : first->dtype;
    return port;
}

/* True if the parts are pieces of the whole, in order, and need no copies. */
static bool is_pieces(const mw__port_place *place)
{
    const mw__part *part = place->parts[0].part;
    return part != NULL && part->digit < 0 && mw__shape_span(part->shape, 0, part->axis) == 1;
}

/* ---- elements ---- */

static size_t bytes_of(mw_dtype dtype) { return (size_t)(mw_dtype_bits(dtype) / 8); }

/* A part is `runs` runs of `length` elements, `stride` apart in the whole from `begin` on. */
typedef struct runs {
    size_t runs, length, stride, begin;
} runs;

static runs runs_of(const mw__port_part *part)
{
    const mw__part *of = part->part;
    const int64_t inner = mw__shape_span(of->shape, of->axis + 1, of->shape.rank);
    const int64_t extent = of->shape.rank > 0 ? of->shape.dim[of->axis] : 1;
    const int64_t rows = part->shape.rank > 0 ? part->shape.dim[of->axis] : 1;
    return (runs){.runs = (size_t)mw__shape_span(of->shape, 0, of->axis),
                  .length = (size_t)(rows * inner),
                  .stride = (size_t)(extent * inner),
                  .begin = (size_t)(of->begin * inner)};
}

static mw_status push_digit(const mw__port_part *part, const char *name, const int32_t *whole, void *data,
                            mw_error *err)
{
    const runs r = runs_of(part);
    for (size_t i = 0; i < r.runs; i++)
        for (size_t k = 0; k < r.length; k++) {
            const size_t at = i * r.stride + r.begin + k, to = i * r.length + k;
            const int32_t number = whole[at];
            if (number < -MW__DIGITS_MAX || number > MW__DIGITS_MAX)
                return mw__fail(err, MW_ERROR_ARGUMENT,
                                "port \"%s\" element %zu is %" PRId32 "; its two fp16 digits hold integers up to %d",
                                name, at, number, MW__DIGITS_MAX);
            const float digit = (float)mw__digit_of(number, part->part->digit);
            if (part->dtype == MW_F16)
                ((uint16_t *)data)[to] = mw__fp16_from_float(digit);
            else
                ((float *)data)[to] = digit;
        }
    return MW_OK;
}

/* The high digit, which comes first, sets what the low one is added to. */
static void pull_digit(const mw__port_part *part, int32_t *whole, const void *data)
{
    const runs r = runs_of(part);
    for (size_t i = 0; i < r.runs; i++)
        for (size_t k = 0; k < r.length; k++) {
            const size_t at = i * r.stride + r.begin + k, from = i * r.length + k;
            const int32_t digit = (int32_t)(part->dtype == MW_F16 ? mw__fp16_to_float(((const uint16_t *)data)[from])
                                                                  : ((const float *)data)[from]);
            whole[at] = part->part->digit == 0 ? digit * MW__DIGIT_BASE : whole[at] + digit;
        }
}

/* Between the whole and a block that is no piece of it. */
static void copy_block(const mw__port_part *part, void *whole, void *data, bool pushes)
{
    const runs r = runs_of(part);
    const size_t size = bytes_of(part->dtype);
    for (size_t i = 0; i < r.runs; i++) {
        char *outside = (char *)whole + (i * r.stride + r.begin) * size, *inside = (char *)data + i * r.length * size;
        memcpy(pushes ? inside : outside, pushes ? outside : inside, r.length * size);
    }
}

mw_status mw__place_push(const mw__port_place *place, const mw_port *port, const void *whole, mw__port_part_data *data,
                         const void *user, mw_error *err)
{
    for (size_t i = 0; place->staged && i < place->count; i++) {
        void *memory = data(user, place->first + i);
        if (place->parts[i].part->digit >= 0)
            MW_TRY(push_digit(&place->parts[i], port->name, whole, memory, err));
        else
            copy_block(&place->parts[i], (void *)whole, memory, true);
    }
    return MW_OK;
}

void mw__place_pull(const mw__port_place *place, mw__port_part_data *data, const void *user)
{
    for (size_t i = 0; place->staged && i < place->count; i++) {
        const void *memory = data(user, place->first + i);
        if (place->parts[i].part->digit >= 0)
            pull_digit(&place->parts[i], place->whole.data, memory);
        else
            copy_block(&place->parts[i], place->whole.data, (void *)memory, false);
    }
}

/* ---- binding ---- */

static mw_status size_of(mw_shape shape, mw_dtype dtype, const char *name, size_t *out, mw_error *err)
{
    const int64_t count = mw_shape_count(shape);
    if (count >= 0 && mw__mul_size((size_t)count, bytes_of(dtype), out))
        return MW_OK;
    return mw__fail(err, MW_ERROR_UNSUPPORTED, "port \"%s\" has no fixed size: give its `?` extents a number", name);
}

/* Part `index` becomes its piece of the whole. */
static mw_status make_piece(mw__port_place *place, size_t index, mw__dispatch *dispatch, mw__device_buffer *out,
                            mw_error *err)
{
    mw__port_part *part = &place->parts[index];
    const mw__symbols *s = mw__dispatch_symbols(dispatch);
    *out = (mw__device_buffer){.data = (char *)place->whole.data + runs_of(part).begin * bytes_of(part->dtype)};
    MW_TRY(size_of(part->shape, part->dtype, part->mil_name, &out->size, err));
    if (s->buffer_object_create_from_data_pointer == NULL)
        return mw__fail(err, MW_ERROR_UNSUPPORTED,
                        "port \"%s\" is longer than the chip's limit, and the e5rt library cannot bind a piece of a "
                        "buffer (e5rt_buffer_object_create_from_data_pointer)",
                        part->part->whole);
    MW_TRY(MW__E5RT(s, buffer_object_create_from_data_pointer, &part->object, out->data, out->size));
    out->object = part->object;
    return MW_OK;
}

static mw_status bind_part(mw__port_place *place, size_t index, bool is_output, mw__dispatch *dispatch, mw_error *err)
{
    const mw__port_part *part = &place->parts[index];
    mw__device_buffer piece;
    size_t size;
    if (place->staged) {
        MW_TRY(size_of(part->shape, part->dtype, part->mil_name, &size, err));
        return mw__dispatch_add_port(dispatch, part->mil_name, is_output, size, NULL, err);
    }
    MW_TRY(make_piece(place, index, dispatch, &piece, err));
    return mw__dispatch_add_port(dispatch, part->mil_name, is_output, piece.size, &piece, err);
}

static mw_status make_whole(mw__port_place *place, const mw_port *port, const mw__dispatch *dispatch,
                            const mw__device_buffer *shared, mw__arena *arena, mw_error *err)
{
    size_t size = 0;
    MW_TRY(size_of(port->shape, port->dtype, port->name, &size, err));
    place->staged = !is_pieces(place);
    if (shared != NULL && (shared->size != size || place->staged))
        return mw__fail(err, MW_ERROR_STATE, "port \"%s\" has %zu bytes in %zu parts, its state buffer %zu", port->name,
                        size, place->count, shared->size);
    if (shared != NULL) {
        place->whole = *shared;
    } else if (place->staged) {
        place->whole = (mw__device_buffer){.size = size};
        place->whole.data = mw__arena_alloc(arena, size, 1, err);
        return place->whole.data != NULL ? MW_OK : MW_ERROR_MEMORY;
    } else {
        MW_TRY(mw__dispatch_buffer_alloc(mw__dispatch_symbols(dispatch), size, &place->whole, err));
        place->owned = true;
    }
    return MW_OK;
}

mw_status mw__place_bind(mw__port_place *place, const mw_port *port, mw__dispatch *dispatch,
                         const mw__device_buffer *shared, mw__arena *arena, mw_error *err)
{
    MW_TRY(make_whole(place, port, dispatch, shared, arena, err));
    for (size_t i = 0; i < place->count; i++)
        MW_TRY(bind_part(place, i, port->is_output, dispatch, err));
    return MW_OK;
}

mw_status mw__place_rebind(mw__port_place *place, const mw__port_place *other, mw__dispatch *dispatch, mw_error *err)
{
    if (place->count != other->count || place->staged || other->staged)
        return mw__fail(err, MW_ERROR_UNSUPPORTED,
                        "ports that the device holds in parts are shared only if the parts are pieces of one memory: "
                        "let the long axis be the first");
    for (size_t i = 0; i < place->count; i++)
        MW_TRY(mw__dispatch_rebind(dispatch, place->first + i, mw__dispatch_buffer(dispatch, other->first + i), err));
    const mw__symbols *symbols = mw__dispatch_symbols(dispatch);
    mw__place_release(place, symbols);
    place->whole = other->whole;
    return MW_OK;
}

void mw__place_release(mw__port_place *place, const mw__symbols *symbols)
{
    for (size_t i = 0; place->parts != NULL && i < place->count; i++)
        mw__dispatch_buffer_release(symbols, &(mw__device_buffer){.object = place->parts[i].object});
    for (size_t i = 0; place->parts != NULL && i < place->count; i++)
        place->parts[i].object = NULL;
    if (place->owned)
        mw__dispatch_buffer_release(symbols, &place->whole);
    place->owned = false;
}
