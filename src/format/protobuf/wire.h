/* Protobuf bytes to the structures of protobuf-c, with the bounds that protobuf-c does not have. */
#ifndef MW__FORMAT_PROTOBUF_WIRE_H
#define MW__FORMAT_PROTOBUF_WIRE_H

#include "base/memory/alloc.h"

#include <protobuf-c/protobuf-c.h>

/* Deepest nesting of messages. */
#define MW__WIRE_DEPTH 128
/* Decoding takes at most so many bytes for each byte of the file, and this much besides. */
#define MW__WIRE_FACTOR 128
#define MW__WIRE_SPARE  ((size_t)64 << 10)

/* Memory of the messages of one file, with its bound. It must stay where it is until they are freed. */
typedef struct mw__wire {
    const mw_allocator *allocator;
    ProtobufCAllocator own;
    size_t left;  /* what may still be allocated */
    bool refused; /* the allocator returned NULL, rather than the bound being reached */
} mw__wire;

/* Decodes a message of that type. Refused are, besides what is no protobuf: nesting beyond MW__WIRE_DEPTH, a string
 * with a NUL in it, a message that is given twice where one belongs, a field whose wire type is not that of the schema,
 * and fields that the schema lacks, but for those of messages of the outermost type (their unknown_fields). `name` is
 * that of the file, for messages. Freed with mw__wire_free; NULL with MW_ERROR_FORMAT or MW_ERROR_MEMORY. */
ProtobufCMessage *mw__wire_read(mw__wire *wire, const mw_allocator *allocator, const ProtobufCMessageDescriptor *type,
                                const void *data, size_t size, const char *name, mw_error *err);
void mw__wire_free(mw__wire *wire, ProtobufCMessage *message);

/* The message as bytes, freed with mw__free. */
mw_status mw__wire_write(const mw_allocator *allocator, const ProtobufCMessage *message, uint8_t **out,
                         size_t *out_size, mw_error *err);

#endif
