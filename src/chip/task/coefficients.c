/* The places of coefficients, and reading them. */
#include "chip/task/coefficients.h"
#include "base/number/bytes.h"
#include "base/number/integer.h"

/* ---- chunks ---- */

/* Numbers of a plane of so many lanes. */
static int64_t plane_of(const mw__coefficient_layout *l, int64_t lanes)
{
    const int64_t count = (l->rows + l->bias) * lanes;
    return l->groups > 1 ? mw__i64_round_up(count, MW__TILE_ALIGNMENT / 2) : count;
}

/* A chunk of output channels: which, and where its plane begins in each tile that it reaches. */
typedef struct chunk {
    int64_t first, lanes, offset;
} chunk;

/* The chunk of channel `output`; for output = outputs what would come behind the last. */
static chunk find_chunk(const mw__coefficient_layout *l, int64_t output)
{
    const int64_t whole = (int64_t)l->engines * l->lanes;
    const int64_t full =
        mw__i64_min(output, l->outputs - l->outputs % whole) / whole; /* chunks of all lanes before it */
    chunk c = {.first = full * whole, .lanes = l->lanes, .offset = full * plane_of(l, l->lanes)};
    while (c.first < l->outputs) {
        while (c.lanes > 1 && c.first + l->engines * c.lanes > l->outputs)
            c.lanes /= 2;
        if (output < c.first + l->engines * c.lanes)
            break;
        c.first += l->engines * c.lanes;
        c.offset += plane_of(l, c.lanes);
    }
    return c;
}

static int64_t numbers_of_group(const mw__coefficient_layout *l)
{
    return find_chunk(l, l->outputs - 1).offset + plane_of(l, find_chunk(l, l->outputs - 1).lanes);
}

mw__coefficient_place mw__coefficient_find(const mw__coefficient_layout *l, int64_t group, int64_t output)
{
    if (l->unicast)
        return (mw__coefficient_place){
            .tile = (unsigned)(output % l->engines), .first = output / l->engines * (l->rows + l->bias), .step = 1};
    const chunk c = find_chunk(l, output);
    return (mw__coefficient_place){.tile = (unsigned)((output - c.first) / c.lanes),
                                   .first = group * numbers_of_group(l) + c.offset + (output - c.first) % c.lanes,
                                   .step = c.lanes};
}

static int64_t unicast_numbers(const mw__coefficient_layout *l, unsigned tile)
{
    return tile < l->outputs ? (l->outputs - 1 - tile) / l->engines * (l->rows + l->bias) + l->rows + l->bias : 0;
}

int64_t mw__coefficient_tile_bytes(const mw__coefficient_layout *l, unsigned tile)
{
    int64_t numbers = 0;
    if (tile >= l->engines)
        return 0;
    if (l->unicast) {
        numbers = unicast_numbers(l, tile);
    } else {
        const chunk last = find_chunk(l, l->outputs - 1);
        const bool reached = last.first + (int64_t)tile * last.lanes < l->outputs;
        const int64_t of_group = numbers_of_group(l), of_last = reached ? of_group : last.offset;
        numbers = of_last > 0 ? (l->groups - 1) * of_group + of_last : 0;
    }
    return mw__i64_round_up(2 * numbers, MW__TILE_ALIGNMENT);
}

/* ---- what a compiler takes ---- */

unsigned mw__coefficient_engines(int64_t outputs)
{
    unsigned engines = 1;
    while (engines < MW__TILES && engines < outputs)
        engines *= 2;
    return engines;
}

unsigned mw__coefficient_lanes(int64_t outputs, int64_t rows, int64_t side)
{
    enum { NARROW = 8, ROWS = 128, ROOM = 32768 };
    const int64_t most = side <= NARROW ? MW__LANES_MAX : MW__LANES_MAX / 2;
    unsigned lanes = 1;
    while (2 * lanes <= outputs / MW__TILES && 2 * lanes <= most)
        lanes *= 2;
    while (rows > ROWS && lanes > 1 && lanes > ROOM / rows)
        lanes /= 2;
    return lanes;
}

/* ---- reading ---- */

static mw_status ends_early(unsigned tile, size_t size, mw_error *err)
{
    return mw__fail(err, MW_ERROR_FORMAT, "coefficients of engine %u: its %zu bytes end before the last channel does",
                    tile, size);
}

static mw_status read_dense(const mw__coefficient_layout *l, const mw__coefficient_tile *tiles,
                            mw__coefficient_place place, uint16_t *out, mw_error *err)
{
    const mw__coefficient_tile *tile = &tiles[place.tile];
    const int64_t count = l->rows + l->bias;
    if (place.first + (count - 1) * place.step >= (int64_t)(tile->size / 2))
        return ends_early(place.tile, tile->size, err);
    for (int64_t i = 0; i < count; i++)
        out[i] = mw__bytes_u16(tile->data + 2 * (place.first + i * place.step));
    return MW_OK;
}

/* One row of a zero-skipping plane at *at: the number of `lane`, 0 for a zero. */
static bool read_sparse_row(const mw__coefficient_tile *tile, size_t *at, unsigned lane, uint16_t *out)
{
    if (tile->size - *at < 2)
        return false;
    const unsigned mask = tile->data[*at + 1];
    const size_t values = *at + 2, count = (size_t)__builtin_popcount(mask);
    if (tile->size - values < 2 * count)
        return false;
    const unsigned before = mask & ((1u << lane) - 1);
    *out = (mask >> lane & 1) == 0 ? 0 : mw__bytes_u16(tile->data + values + 2 * (size_t)__builtin_popcount(before));
    *at = values + 2 * count;
    return true;
}

/* One plane a tile: more would lie elsewhere than in a row. */
static mw_status read_sparse(const mw__coefficient_layout *l, const mw__coefficient_tile *tiles, int64_t output,
                             uint16_t *out, mw_error *err)
{
    const unsigned index = (unsigned)(output / l->lanes), lane = (unsigned)(output % l->lanes);
    const mw__coefficient_tile *tile = &tiles[index];
    size_t at = 2 * (size_t)(l->bias ? l->lanes : 0);
    if (tile->size < at + 2)
        return ends_early(index, tile->size, err);
    if (l->bias)
        *out++ = mw__bytes_u16(tile->data + (size_t)2 * lane);
    at += 2; /* the count */
    for (int64_t i = 0; i < l->rows; i++)
        if (!read_sparse_row(tile, &at, lane, &out[i]))
            return ends_early(index, tile->size, err);
    return MW_OK;
}

mw_status mw__coefficient_read(const mw__coefficient_layout *l, const mw__coefficient_tile *tiles, int64_t group,
                               int64_t output, uint16_t *out, mw_error *err)
{
    if (l->sparse)
        return read_sparse(l, tiles, output, out, err);
    return read_dense(l, tiles, mw__coefficient_find(l, group, output), out, err);
}
