/* The element types of GGUF: plain ones, and blocks of quantized weights.
 * source  the GGUF specification of the ggml project, and the block layouts of ggml's type traits */
#ifndef MW__FORMAT_GGUF_BLOCKS_H
#define MW__FORMAT_GGUF_BLOCKS_H

#include "format/tensors/tensors.h"

/* A block: x = scale q + minimum, of each part of it; without minimum if the form is not shifted. */
typedef struct mw__gguf_parts {
    int8_t q[256];
    float scale[16], minimum[16];
} mw__gguf_parts;

typedef struct mw__gguf_type {
    const char *name;
    uint32_t number;   /* in files */
    mw_dtype dtype;    /* of the elements that are read */
    size_t block;      /* elements of a block; 1 = plain */
    size_t block_size; /* bytes */
    mw__tensors_form form;
    void (*split)(const unsigned char *block, mw__gguf_parts *out); /* NULL = plain */
} mw__gguf_type;

/* Types of values in the header, as files number them. */
enum {
    MW__GGUF_U8,
    MW__GGUF_I8,
    MW__GGUF_U16,
    MW__GGUF_I16,
    MW__GGUF_U32,
    MW__GGUF_I32,
    MW__GGUF_F32,
    MW__GGUF_BOOL,
    MW__GGUF_STRING,
    MW__GGUF_ARRAY,
    MW__GGUF_U64,
    MW__GGUF_I64,
    MW__GGUF_F64,
    MW__GGUF_TYPES
};
typedef struct mw__gguf_value_type {
    const char *name;
    size_t size; /* bytes; 0 = not fixed */
} mw__gguf_value_type;
extern const mw__gguf_value_type mw__gguf_values[MW__GGUF_TYPES];

/* NULL if it is not read. */
const mw__gguf_type *mw__gguf_type_find(uint32_t number);
/* "Q2_K" for a type that is known but not read; "?" for one that is not known. */
const char *mw__gguf_type_name(uint32_t number);
/* By its name; NULL for one that is not read. */
const mw__gguf_type *mw__gguf_type_named(const char *name);
/* type->block floats, of a type that is not plain. */
void mw__gguf_expand(const mw__gguf_type *type, const unsigned char *block, float *out);

/* gguf_quantize.c: type->block floats to a block, as ggml's reference does. NULL = the type is not written. */
typedef void mw__gguf_packer(const float *in, unsigned char *block);
mw__gguf_packer *mw__gguf_packer_of(const mw__gguf_type *type);

#endif
