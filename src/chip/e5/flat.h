/* FlatBuffers of hostile files, and our own. What follows the public format (github.com/google/flatbuffers,
 * "internals"): little endian; an offset is unsigned and leads forward; a table begins with the signed way back to its
 * vtable, which lists its size, the table's and where each field stands.
 *
 * Written here, and not taken from a library: the schema is not public, so that there is nothing to generate code from,
 * and a reader without a schema has to bound everything itself. */
#ifndef MW__CHIP_E5_FLAT_H
#define MW__CHIP_E5_FLAT_H

#include "base/text/text.h"

#include <stdint.h>

/* ---- reading ---- */

/* Tables and vectors of one buffer may not overlap: `taken` has a bit for each 4 bytes. So what is read is never more
 * than the buffer, whatever its offsets say. Vtables and strings may be shared: strings to four times the buffer. */
typedef struct mw__flatbuffer {
    const uint8_t *data;
    size_t size;
    size_t strings; /* bytes of those that were read */
    uint8_t *taken;
    const mw_allocator *allocator;
} mw__flatbuffer;

typedef struct mw__flatbuffer_table {
    size_t at;     /* of the table */
    size_t vtable; /* of its vtable */
    uint16_t size; /* of the table */
    uint16_t slots;
} mw__flatbuffer_table;

typedef struct mw__flatbuffer_vector {
    size_t at; /* of its first element */
    size_t count;
} mw__flatbuffer_vector;

mw_status mw__flatbuffer_begin(mw__flatbuffer *flat, const mw_allocator *allocator, const void *data, size_t size,
                               mw_error *err);
void mw__flatbuffer_end(mw__flatbuffer *flat);

mw_status mw__flatbuffer_root(mw__flatbuffer *flat, mw__flatbuffer_table *out, mw_error *err);

/* Fields by their slot, from 0. One that is absent is 0, NULL, or a vector or table with `at` 0. */
mw_status mw__flatbuffer_u8(const mw__flatbuffer *flat, const mw__flatbuffer_table *table, unsigned slot, uint8_t *out,
                            mw_error *err);
mw_status mw__flatbuffer_u32(const mw__flatbuffer *flat, const mw__flatbuffer_table *table, unsigned slot,
                             uint32_t *out, mw_error *err);
/* `size` bytes that stand in the table itself. */
mw_status mw__flatbuffer_struct(const mw__flatbuffer *flat, const mw__flatbuffer_table *table, unsigned slot,
                                size_t size, const uint8_t **out, mw_error *err);
mw_status mw__flatbuffer_string(mw__flatbuffer *flat, const mw__flatbuffer_table *table, unsigned slot,
                                const char **out, mw_error *err);
mw_status mw__flatbuffer_child(mw__flatbuffer *flat, const mw__flatbuffer_table *table, unsigned slot,
                               mw__flatbuffer_table *out, mw_error *err);
/* A vector of elements of `size` bytes, 1 or 4. */
mw_status mw__flatbuffer_vector_in(mw__flatbuffer *flat, const mw__flatbuffer_table *table, unsigned slot, size_t size,
                                   mw__flatbuffer_vector *out, mw_error *err);
/* Element `index` of a vector of strings, or of tables. */
mw_status mw__flatbuffer_string_at(mw__flatbuffer *flat, const mw__flatbuffer_vector *list, size_t index,
                                   const char **out, mw_error *err);
mw_status mw__flatbuffer_table_at(mw__flatbuffer *flat, const mw__flatbuffer_vector *list, size_t index,
                                  mw__flatbuffer_table *out, mw_error *err);

/* ---- writing ----
 * From front to back: a table is written with zeros for its offsets, and each child, when it is written, fills in the
 * one that leads to it. Failures stick to the text. */

typedef enum mw__flatbuffer_kind { MW__FLAT_U8, MW__FLAT_U32, MW__FLAT_LINK, MW__FLAT_STRUCT } mw__flatbuffer_kind;

typedef struct mw__flatbuffer_field {
    mw__flatbuffer_kind kind;
    uint32_t value;
    const void *bytes; /* STRUCT: 8-aligned */
    size_t size;
    size_t at; /* where it was written: of a LINK, what its child is given */
} mw__flatbuffer_field;

enum { MW__FLAT_FIELDS = 8 };

/* Begins a buffer; the link of its root is 0. */
void mw__flatbuffer_put_head(mw__text *out);
/* At most MW__FLAT_FIELDS; each gets its `at`. */
void mw__flatbuffer_put_table(mw__text *out, size_t link, mw__flatbuffer_field *fields, size_t count);
void mw__flatbuffer_put_string(mw__text *out, size_t link, const char *string);
/* A vector of `count` links, which are at the position returned and 4 bytes apart. */
size_t mw__flatbuffer_put_links(mw__text *out, size_t link, size_t count);
/* A vector of bytes: a buffer within. */
void mw__flatbuffer_put_bytes(mw__text *out, size_t link, const void *data, size_t size);

#endif
