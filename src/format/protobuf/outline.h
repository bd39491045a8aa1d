/* A message without its large bytes: those stay in the file, and are named by where they lie. */
#ifndef MW__FORMAT_PROTOBUF_OUTLINE_H
#define MW__FORMAT_PROTOBUF_OUTLINE_H

#include "base/file/file.h"
#include "base/text/text.h"

#include <protobuf-c/protobuf-c.h>

/* Bytes that are left out: some fields of messages of that type, from `least` bytes on. */
typedef struct mw__outline_rule {
    const ProtobufCMessageDescriptor *type;
    const char *numbers; /* of the fields, each a character */
    uint64_t least;
    uint32_t place; /* the field that tells where the bytes are: of a message that lost some, its own is left out */
    /* Appends the fields that stand for field `number`: `size` bytes at `offset` of the file. */
    void (*replace)(mw__text *out, uint32_t number, uint64_t offset, uint64_t size);
} mw__outline_rule;

/* Appends a field to a message: a number, bytes, or what stands before `size` bytes that follow. */
void mw__outline_put_head(mw__text *out, uint32_t field, uint64_t size);
void mw__outline_put_number(mw__text *out, uint32_t field, uint64_t value);
void mw__outline_put_bytes(mw__text *out, uint32_t field, const void *data, size_t size);

/* Reads a message of that type from a file into *out, which the caller frees. False without an error where it is no
 * such message: whoever reads the whole says why. */
bool mw__outline_read(const mw__file *file, const char *path, const ProtobufCMessageDescriptor *type,
                      const mw__outline_rule *rule, mw__text *out, mw_error *err);

#endif
