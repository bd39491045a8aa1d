/* The element types of GGUF: plain ones, and blocks of quantised weights, expanded to floats.
 * source  the GGUF specification of the ggml project, and the block layouts of ggml's type traits */
#ifndef MW__FORMAT_GGUF_BLOCKS_H
#define MW__FORMAT_GGUF_BLOCKS_H

#include <millwright/types.h>

typedef struct mw__gguf_type {
    const char *name;
    uint32_t number;                                        /* in files */
    mw_dtype dtype;                                         /* of the elements that are read */
    size_t block;                                           /* elements of a block; 1 = plain */
    size_t block_size;                                      /* bytes */
    void (*expand)(const unsigned char *block, float *out); /* NULL = plain */
} mw__gguf_type;

/* NULL if it is not read. */
const mw__gguf_type *mw__gguf_type_find(uint32_t number);
/* "Q2_K" for a type that is known but not read; "?" for one that is not known. */
const char *mw__gguf_type_name(uint32_t number);

#endif
