/* The fields of a protobuf message, one after the other: enough for a vocabulary, whose three kinds of messages hold
 * numbers, floats and texts. A library would make a structure of each of its pieces first. */
#ifndef MW__TEXT_READ_FIELDS_H
#define MW__TEXT_READ_FIELDS_H

#include "base/number/bytes.h"

#include <stdbool.h>
#include <string.h>

typedef struct mw__field {
    uint32_t number;
    uint64_t value;   /* of a number */
    float real;       /* of 32 bits */
    const char *data; /* of bytes: a text or a message; NULL else */
    size_t size;
} mw__field;

typedef struct mw__fields {
    const unsigned char *at, *end;
    bool broken; /* what is there is no field */
} mw__fields;

static inline mw__fields mw__fields_of(const char *data, size_t size)
{
    const unsigned char *at = (const unsigned char *)data;
    return (mw__fields){at, at + size, false};
}

static inline uint64_t mw__fields_number(mw__fields *f)
{
    uint64_t value = 0;
    for (int shift = 0; shift < 64 && f->at < f->end; shift += 7) {
        const unsigned char byte = *f->at++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return value;
    }
    f->broken = true;
    return 0;
}

static inline void mw__fields_fixed(mw__fields *f, size_t size, mw__field *out)
{
    if ((size_t)(f->end - f->at) < size) {
        f->broken = true;
        return;
    }
    if (size == 4)
        memcpy(&out->real, f->at, 4);
    f->at += size;
}

static inline void mw__fields_bytes(mw__fields *f, mw__field *out)
{
    const uint64_t size = mw__fields_number(f);
    if (f->broken || size > (uint64_t)(f->end - f->at)) {
        f->broken = true;
        return;
    }
    out->data = (const char *)f->at;
    out->size = (size_t)size;
    f->at += size;
}

/* False at the end, and where it is broken. */
static inline bool mw__fields_next(mw__fields *f, mw__field *out)
{
    if (f->at == f->end || f->broken)
        return false;
    const uint64_t key = mw__fields_number(f);
    *out = (mw__field){.number = (uint32_t)(key >> 3)};
    switch (key & 7) {
    case 0:
        out->value = mw__fields_number(f);
        break;
    case 1:
        mw__fields_fixed(f, 8, out);
        break;
    case 2:
        mw__fields_bytes(f, out);
        break;
    case 5:
        mw__fields_fixed(f, 4, out);
        break;
    default:
        f->broken = true;
        break;
    }
    return !f->broken;
}

#endif
