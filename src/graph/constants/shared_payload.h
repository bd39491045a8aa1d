/* The bytes of large constants, which several graphs share: a clone copies none of them. They do not change once a
 * graph has them. */
#ifndef MW__GRAPH_CONSTANTS_SHARED_PAYLOAD_H
#define MW__GRAPH_CONSTANTS_SHARED_PAYLOAD_H

#include "base/file/file_parts.h"
#include "graph/ir/ir_types.h"

/* Payloads of fewer bytes lie in the arena of their graph. */
enum { MW__SHARED_PAYLOAD_LEAST = 16384 };

struct mw__shared_payload {
    atomic_int references;
    mw_allocator allocator; /* the same function and user: the same allocator */
    void *data;
    uint64_t size;
    bool mapped; /* a file */
    bool shared; /* who maps the same file gets this */
    mw__file_identity file;
    mw__shared_payload *next; /* of those that are shared */
    bool entries;             /* parts that were made as entries of a weight file, without a file that has them */
    mw__file_parts parts;     /* of what is a private copy of parts of a file; its data are these */
};

/* Zeros, 64-aligned, with one reference; NULL on failure. */
mw__shared_payload *mw__shared_payload_create(const mw_allocator *allocator, size_t size, mw_error *err);
/* The whole of a file that is ours alone, and that nobody changes. Who maps a file that is mapped already gets the same
 * memory: pages that two programs use count once. Thread-safe. */
mw__shared_payload *mw__shared_payload_map(const mw_allocator *allocator, const mw__file *file, const char *path,
                                           mw_error *err);
/* Room for parts of a file of `size` bytes, each at its place in the file; NULL where there is no room for a private
 * copy of them, which is no error. */
mw__shared_payload *mw__shared_payload_of_parts(const mw_allocator *allocator, uint64_t size);
/* Whether graphs of that allocator may hold it. */
bool mw__shared_payload_is_of(const mw__shared_payload *shared, const mw_allocator *allocator);
/* NULL is fine. */
void mw__shared_payload_release(mw__shared_payload *shared);
/* The graph holds a reference of its own until it is freed. */
mw_status mw__graph_keep(mw_graph *graph, mw__shared_payload *shared, mw_error *err);
/* Room for the bytes of a payload of the graph: a shared payload of its own, in *out_shared, or memory of the arena. */
void *mw__payload_alloc(mw_graph *graph, size_t size, mw__shared_payload **out_shared, mw_error *err);
/* A payload of zeros that is filled before anyone reads it; *out_data is where. NULL on failure. */
mw__payload *mw__payload_blank(mw_graph *graph, mw_dtype dtype, mw_shape shape, void **out_data, mw_error *err);

/* A constant whose elements lie in the shared payload, described by the entry there; the graph holds it then. */
mw_tensor *mw__constant_of_shared_payload(mw_graph *graph, mw_dtype dtype, mw_shape shape, mw__shared_payload *shared,
                                          const void *data, uint64_t entry);

#endif
