/* Elements between host and port types. Batches take one of a few fast paths; everything else goes element by element
 * through double, which holds every source that may enter exactly. What may enter is decided in values.c. */
#include "graph/values/convert.h"

#include "base/number/fp16.h"
#include "graph/values/values.h"

#include <math.h>
#include <string.h>

/* ---- one element ---- */

double mw__load_element(const void *data, mw_dtype dtype, size_t index)
{
    switch (dtype) {
    case MW_F64:
        return ((const double *)data)[index];
    case MW_F32:
        return (double)((const float *)data)[index];
    case MW_F16:
        return (double)mw__fp16_to_float(((const uint16_t *)data)[index]);
    case MW_I64:
        return (double)((const int64_t *)data)[index];
    case MW_U64:
        return (double)((const uint64_t *)data)[index];
    case MW_I32:
        return ((const int32_t *)data)[index];
    case MW_U32:
        return ((const uint32_t *)data)[index];
    case MW_I16:
        return ((const int16_t *)data)[index];
    case MW_U16:
        return ((const uint16_t *)data)[index];
    case MW_I8:
        return ((const int8_t *)data)[index];
    case MW_U8:
        return ((const uint8_t *)data)[index];
    default:
        return ((const uint8_t *)data)[index] != 0; /* BOOL */
    }
}

static void store_element(void *data, mw_dtype dtype, size_t i, double value)
{
    switch (dtype) {
    case MW_F64:
        ((double *)data)[i] = value;
        break;
    case MW_F32:
        ((float *)data)[i] = (float)value;
        break;
    case MW_F16:
        ((uint16_t *)data)[i] = mw__fp16_from_double(value);
        break;
    case MW_I64:
        ((int64_t *)data)[i] = (int64_t)value;
        break;
    case MW_I32:
        ((int32_t *)data)[i] = (int32_t)value;
        break;
    case MW_I16:
        ((int16_t *)data)[i] = (int16_t)value;
        break;
    case MW_U16:
        ((uint16_t *)data)[i] = (uint16_t)value;
        break;
    case MW_I8:
        ((int8_t *)data)[i] = (int8_t)value;
        break;
    default:
        ((uint8_t *)data)[i] = (uint8_t)value; /* U8 and BOOL */
        break;
    }
}

/* ---- paths ---- */

/* A byte has 256 values: each is computed once, in double. */
static void convert_bytes(void *out, mw_dtype to, const uint8_t *in, size_t count, float scale, float offset)
{
    float single[256];
    uint16_t half[256];
    for (int i = 0; i < 256; i++) {
        const double value = (double)i * (double)scale + (double)offset;
        single[i] = (float)value;
        half[i] = mw__fp16_from_double(value);
    }
    if (to == MW_F32) {
        float *floats = out;
        for (size_t i = 0; i < count; i++)
            floats[i] = single[in[i]];
    } else {
        uint16_t *halves = out;
        for (size_t i = 0; i < count; i++)
            halves[i] = half[in[i]];
    }
}

/* byte * scale is exact before its one rounding to float, and vectorizes. */
static void convert_bytes_scaled(float *out, const uint8_t *in, size_t count, float scale)
{
    for (size_t i = 0; i < count; i++)
        out[i] = (float)in[i] * scale;
}

/* False, with nothing written, if rounding to float first would change a half: of 256 it can for very few scales. */
static bool convert_bytes_halved(uint16_t *out, const uint8_t *in, size_t count, float scale)
{
    float tile[512];
    for (int i = 0; i < 256; i++)
        if (mw__fp16_from_float((float)i * scale) != mw__fp16_from_double((double)i * (double)scale))
            return false;
    for (size_t at = 0; at < count; at += 512) {
        const size_t run = count - at < 512 ? count - at : 512;
        convert_bytes_scaled(tile, in + at, run, scale);
        mw__fp16_from_float_n(out + at, tile, run);
    }
    return true;
}

static void convert_floats(float *out, const float *in, size_t count, float scale, float offset)
{
    for (size_t i = 0; i < count; i++)
        out[i] = (float)((double)in[i] * (double)scale + (double)offset);
}

/* True if one of the fast paths did it. */
static bool convert_fast(void *out, mw_dtype to, const mw__values *values, float scale)
{
    const void *in = values->data;
    const mw_dtype from = values->dtype;
    const size_t count = values->count;
    const float offset = values->offset;
    const bool plain = scale == 1.0f && offset == 0.0f;
    if (to == from && plain && to != MW_BOOL) {
        if (count > 0)
            memcpy(out, in, count * (size_t)(mw_dtype_bits(to) / 8));
    } else if (from == MW_U8 && to == MW_F32 && offset == 0.0f) {
        convert_bytes_scaled(out, in, count, scale);
    } else if (from == MW_U8 && to == MW_F16 && offset == 0.0f && convert_bytes_halved(out, in, count, scale)) {
        return true;
    } else if (from == MW_U8 && (to == MW_F32 || to == MW_F16)) {
        convert_bytes(out, to, in, count, scale, offset);
    } else if (from == MW_F32 && to == MW_F16 && plain) {
        mw__fp16_from_float_n(out, in, count);
    } else if (from == MW_F16 && to == MW_F32 && plain) {
        mw__fp16_to_float_n(out, in, count);
    } else if (from == MW_F32 && to == MW_F32) {
        convert_floats(out, in, count, scale, offset);
    } else {
        return false;
    }
    return true;
}

void mw__convert_checked(void *out, mw_dtype to, const mw__values *in)
{
    const float scale = in->scale == 0.0f ? 1.0f : in->scale; /* as in mw_column */
    if (convert_fast(out, to, in, scale))
        return;
    for (size_t i = 0; i < in->count; i++)
        store_element(out, to, i, mw__load_element(in->data, in->dtype, i) * (double)scale + (double)in->offset);
}

mw_status mw__convert_refused(const mw__refusal *refusal, size_t count, const char *what, mw_error *err)
{
    const char *mark = what != NULL ? ": " : "";
    what = what != NULL ? what : "";
    if (refusal->element == count)
        return mw__fail(err, refusal->status, "%s%s%s", what, mark, refusal->text);
    return mw__fail(err, refusal->status, "%s%selement %zu %s", what, mark, refusal->element, refusal->text);
}

mw_status mw__convert_of(const char *what, void *out, mw_dtype to, const mw__values *in, mw_error *err)
{
    const mw__port_rule rule = {.dtype = to, .declared = to};
    mw__refusal refusal;
    const bool entered = mw__values_enter(out, in, &rule, &refusal) == MW_OK;
    return entered ? MW_OK : mw__convert_refused(&refusal, in->count, what, err);
}

mw_status mw__convert(void *out, mw_dtype to, const mw__values *in, mw_error *err)
{
    return mw__convert_of(NULL, out, to, in, err);
}

/* ---- finding what is not finite ---- */

#define BLOCK 1024

/* Blocks first, so that the common case is a loop without a branch; then the element in the first bad block. */
static size_t find_single(const float *data, size_t count)
{
    for (size_t begin = 0; begin < count; begin += BLOCK) {
        const size_t end = count - begin < BLOCK ? count : begin + BLOCK;
        uint32_t bad = 0;
        for (size_t i = begin; i < end; i++) {
            uint32_t bits;
            memcpy(&bits, &data[i], sizeof bits);
            bad |= (uint32_t)((bits & 0x7f800000u) == 0x7f800000u);
        }
        for (size_t i = begin; bad != 0 && i < end; i++) {
            if (!isfinite(data[i]))
                return i;
        }
    }
    return count;
}

static size_t find_half(const uint16_t *data, size_t count)
{
    for (size_t begin = 0; begin < count; begin += BLOCK) {
        const size_t end = count - begin < BLOCK ? count : begin + BLOCK;
        uint16_t bad = 0;
        for (size_t i = begin; i < end; i++)
            bad = (uint16_t)(bad | ((data[i] & 0x7c00u) == 0x7c00u));
        for (size_t i = begin; bad != 0 && i < end; i++) {
            if ((data[i] & 0x7c00u) == 0x7c00u)
                return i;
        }
    }
    return count;
}

size_t mw__find_not_finite(const void *data, mw_dtype dtype, size_t count)
{
    if (dtype == MW_F32)
        return find_single(data, count);
    if (dtype == MW_F16)
        return find_half(data, count);
    for (size_t i = 0; dtype == MW_F64 && i < count; i++) {
        if (!isfinite(((const double *)data)[i]))
            return i;
    }
    return count;
}
