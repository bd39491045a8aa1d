/* What is shown of a container, once as lines for people and once as JSON: the same calls make both. */
#ifndef MW__HWX_OUT_H
#define MW__HWX_OUT_H

#include "base/text/text.h"
#include "chip/hwx/layout.h"

typedef struct mw__hwx_out {
    mw__text text;
    bool json;
    bool comma; /* something stands before in the same object or list */
    int depth;
} mw__hwx_out;

typedef struct mw__hwx_bits {
    const char *name;
    uint32_t value;
} mw__hwx_bits;

/* An object or a list begins; a name is needed but in a list. */
void mw__hwx_out_open(mw__hwx_out *out, const char *name, bool list);
void mw__hwx_out_close(mw__hwx_out *out, bool list);

void mw__hwx_out_string(mw__hwx_out *out, const char *name, const char *value);
void mw__hwx_out_flag(mw__hwx_out *out, const char *name, bool value);
/* Hexadecimal numbers are strings in JSON. */
void mw__hwx_out_number(mw__hwx_out *out, const char *name, uint64_t value, mw__hwx_show show);
void mw__hwx_out_float(mw__hwx_out *out, const char *name, float value);
void mw__hwx_out_words(mw__hwx_out *out, const char *name, const uint32_t *words, size_t count);
void mw__hwx_out_wide(mw__hwx_out *out, const char *name, const uint64_t *values, size_t count, mw__hwx_show show);
void mw__hwx_out_floats(mw__hwx_out *out, const char *name, const float *values, size_t count);
/* A word and what its bits say: "name 0x5000a041  kernel_w 1, kernel_h 1"; in JSON an object. */
void mw__hwx_out_bits(mw__hwx_out *out, const char *name, uint32_t word, const mw__hwx_bits *bits, size_t count);
/* Bytes as hexadecimal digits; for people at most 32 of them. */
void mw__hwx_out_bytes(mw__hwx_out *out, const char *name, const uint8_t *bytes, size_t size);
/* All fields of a record. */
void mw__hwx_out_layout(mw__hwx_out *out, const mw__hwx_layout *layout, const void *from);

#endif
