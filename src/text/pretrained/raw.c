/* Weights by their place: sizes, offsets, and elements of three kinds. */
#include "text/pretrained/raw.h"

#include "base/memory/checked.h"
#include "base/number/bytes.h"

#include <string.h>

bool mw__raw_size(mw__raw_code code, int64_t group, int64_t count, uint64_t *out)
{
    static const int64_t bytes[] = {[MW__RAW_F32] = 4, [MW__RAW_BF16] = 2, [MW__RAW_Q8] = 1};
    int64_t codes, scales = 0, sum;
    if (!mw__mul_i64(count, bytes[code], &codes))
        return false;
    if (code == MW__RAW_Q8 && !mw__mul_i64(count / group, 4, &scales))
        return false;
    if (!mw__add_i64(codes, scales, &sum))
        return false;
    *out = (uint64_t)sum;
    return true;
}

static mw_status place_one(mw__pretrained *p, size_t i, mw__raw_place place, uint64_t *at, mw_error *err)
{
    const int64_t count = mw_shape_count(p->weights[i].shape);
    uint64_t size;
    if (place.code == MW__RAW_Q8 && count % place.group != 0)
        return mw__fail(err, MW_ERROR_FORMAT, "\"%.200s\": %lld elements of %.100s are no whole groups of %lld",
                        p->path, (long long)count, p->weights[i].name, (long long)place.group);
    if (!mw__raw_size(place.code, place.group, count, &size) || size > p->file.size || *at > p->file.size - size)
        return mw__fail(err, MW_ERROR_FORMAT,
                        "\"%.200s\" has %llu bytes, and its header says that %.100s with %lld elements begins at %llu",
                        p->path, (unsigned long long)p->file.size, p->weights[i].name, (long long)count,
                        (unsigned long long)*at);
    *at += size;
    return MW_OK;
}

mw_status mw__raw_place_all(mw__pretrained *p, const mw__raw_item *order, mw__raw_code code, int64_t group,
                            mw__raw_place *places, uint64_t *at, mw_error *err)
{
    for (; order->part != MW__PARTS; order++)
        for (size_t i = 0; i < p->count; i++) {
            if (p->weights[i].part != order->part || p->weights[i].bias != order->bias)
                continue;
            places[i] = (mw__raw_place){.offset = *at, .code = code, .group = group};
            MW_TRY(place_one(p, i, places[i], at, err));
        }
    p->places = places;
    return MW_OK;
}

/* ---- reading ---- */

static float float_at(const unsigned char *at)
{
    const uint32_t bits = mw__bytes_u32(at);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static float wide_bf16(const unsigned char *at)
{
    const uint32_t bits = (uint32_t)mw__bytes_u16(at) << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void expand(const mw__raw_place *place, const unsigned char *bytes, int64_t count, float *out)
{
    for (int64_t i = 0; i < count; i++) {
        if (place->code == MW__RAW_F32)
            out[i] = float_at(bytes + 4 * i);
        else if (place->code == MW__RAW_BF16)
            out[i] = wide_bf16(bytes + 2 * i);
        else
            out[i] = (float)(int8_t)bytes[i] * float_at(bytes + count + 4 * (i / place->group));
    }
}

mw_status mw__raw_read(mw__pretrained *p, size_t weight, float *out, mw_error *err)
{
    const mw__raw_place *place = &p->places[weight];
    const int64_t count = mw_shape_count(p->weights[weight].shape);
    uint64_t size = 0;
    mw__raw_size(place->code, place->group, count, &size);
    unsigned char *bytes = mw__alloc(p->arena.allocator, (size_t)size, 1, err);
    if (bytes == NULL)
        return MW_ERROR_MEMORY;
    const mw_status status = mw__file_read_at(&p->file, place->offset, bytes, (size_t)size, p->path, err);
    if (status == MW_OK)
        expand(place, bytes, count, out);
    mw__free(p->arena.allocator, bytes);
    return status;
}

/* ---- headers ---- */

int32_t mw__raw_int(const unsigned char *header, int index) { return (int32_t)mw__bytes_u32(header + 4 * index); }

mw_status mw__raw_check(const mw_text_config *c, const char *path, mw_error *err)
{
    const int64_t sizes[] = {c->width, c->hidden, c->layers, c->heads, c->kv_heads, c->words, c->positions};
    bool sound = true;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        sound = sound && sizes[i] >= 1 && sizes[i] <= 1 << 30;
    if (sound && c->width % c->heads == 0 && c->heads % c->kv_heads == 0 && c->width / c->heads % 2 == 0)
        return MW_OK;
    return mw__fail(err, MW_ERROR_FORMAT,
                    "\"%.200s\": width %lld, hidden %lld, %lld layers, %lld heads in %lld groups, %lld words and %lld "
                    "positions make no network: it is no file of this form",
                    path, (long long)c->width, (long long)c->hidden, (long long)c->layers, (long long)c->heads,
                    (long long)c->kv_heads, (long long)c->words, (long long)c->positions);
}
