/* A text beside the one that it was made of: each byte knows which bytes of the original it stands for. */
#ifndef MW__TEXT_NORMAL_ALIGNED_H
#define MW__TEXT_NORMAL_ALIGNED_H

#include "base/memory/alloc.h"

typedef struct mw__aligned {
    const mw_allocator *allocator;
    const char *bytes; /* `own`, or the original */
    size_t size;
    char *own;           /* NULL: it is the original itself, and stands for itself */
    uint32_t *from, *to; /* by byte: what it stands for; NULL with `own` */
    size_t first;        /* of the original: where this text lies in it */
    size_t capacity;
    mw_error *err; /* the first failure sticks, and nothing is put behind it */
} mw__aligned;

/* A text that stands for itself, at `first` of a larger one. */
mw__aligned mw__aligned_of(const char *text, size_t size, size_t first, const mw_allocator *allocator, mw_error *err);
/* An empty one that is written. */
mw__aligned mw__aligned_begin(const mw_allocator *allocator, size_t expected, mw_error *err);
void mw__aligned_deinit(mw__aligned *a);

/* Which bytes of the original a byte stands for. */
size_t mw__aligned_from(const mw__aligned *a, size_t at);
size_t mw__aligned_to(const mw__aligned *a, size_t at);

/* Appends bytes, all of which stand for [from, to). */
void mw__aligned_put(mw__aligned *a, const char *bytes, size_t size, size_t from, size_t to);
/* Appends the character of a code in the place of the byte `at` of another text. */
void mw__aligned_put_code(mw__aligned *a, uint32_t code, const mw__aligned *other, size_t at);
/* Appends a part of another text as it is. */
void mw__aligned_copy(mw__aligned *a, const mw__aligned *other, size_t at, size_t size);

/* UTF-8 of a code, or the stray byte of mw__unicode_read; at most 4 bytes. Returns the length. */
size_t mw__aligned_encode(uint32_t code, char out[4]);

#endif
