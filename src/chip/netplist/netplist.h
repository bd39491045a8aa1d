/* Netplists inside: axes, the table of units, and what its readers and writers use.
 *
 * A row says how one unit type (and Params.Type) and one operation of MIL stand for each other: both directions read
 * the same rows (units.c). Keys and conventions are those of ANEForge's author of netplists (aneforge/_bridges). */
#ifndef MW__CHIP_NETPLIST_NETPLIST_H
#define MW__CHIP_NETPLIST_NETPLIST_H

#include "base/text/text.h"
#include "graph/ir/ir.h"

#include <millwright/netplist.h>
#include <plist/plist.h>

/* The axes of everything in a netplist. */
enum { MW__NET_BATCH, MW__NET_CHANNEL, MW__NET_DEPTH, MW__NET_HEIGHT, MW__NET_WIDTH, MW__NET_AXES };
typedef struct mw__net_dims {
    int64_t of[MW__NET_AXES];
} mw__net_dims;

extern const char *const mw__net_axis_names[MW__NET_AXES];  /* "Width" */
extern const char *const mw__net_extent_keys[MW__NET_AXES]; /* "Width" as in InputWidth, "BatchSize" of the batch */

/* Axis `axis` of a tensor of `rank` in a network whose tensors have rank 4 or 5. */
int mw__net_axis(int axis, int rank, int of_rank);
bool mw__net_dims_equal(mw__net_dims a, mw__net_dims b);

/* ---- the table ---- */

typedef struct mw__net_writer mw__net_writer;
typedef struct mw__net_reader mw__net_reader;
typedef struct mw__net_unit mw__net_unit;
typedef struct mw__net_row mw__net_row;

typedef void mw__net_write(mw__net_writer *w, const mw__op *op, const mw__net_row *row);
typedef mw_tensor *mw__net_read(mw__net_reader *r, const mw__net_unit *unit, const mw__net_row *row);

struct mw__net_row {
    const char *type;      /* of the unit; NULL: the operation is written as several */
    const char *kind;      /* its Params.Type; NULL: it has none, or any */
    const char *operation; /* of MIL; NULL: read only */
    mw__net_write *write;  /* NULL: read only */
    mw__net_read *read;    /* NULL: refused by name, for `why` */
    struct {
        const char *key, *argument; /* an fp16 bit pattern, and MIL's argument; NULL argument: the key is 0 */
    } half[2];
    const char *why;
};

extern const mw__net_row mw__net_rows[];
extern const size_t mw__net_row_count;

/* ---- writing (write.c, write_graph.c, write_unit.c) ---- */

/* A value as the network has it: its symbol, and its extents there. */
typedef struct mw__net_value {
    const char *symbol; /* of a unit, an input or a constant; NULL: there is none yet */
    mw__net_dims dims;
} mw__net_value;

typedef struct mw__net_entry {
    const char *key;
    plist_t node;
} mw__net_entry;

struct mw__net_writer {
    const mw_netplist_options *options;
    const mw_graph *source, *graph; /* the caller's, and the one that is written, whose function is `function` */
    const mw__function *function;
    mw__arena arena;
    mw_error *err;
    int rank;              /* 4 or 5 */
    mw__net_value *values; /* by id */
    mw__map taken;         /* symbols of this network */
    mw__map inputs;        /* symbol -> mw__net_value, of those that are fed */
    size_t made;
    mw__net_entry *entries; /* of the network's dictionary */
    size_t entry_count, entry_capacity;
    plist_t units, constants, input_list, output_list;
    mw__text weights; /* of all networks */
    const char *weight_names[2];
    size_t problems;
    char first[3][240];
};

/* Failures stick to the error; a problem is counted, and its value has no symbol. */
void mw__net_cannot(mw__net_writer *w, const mw__op *op, const char *reason);
void mw__net_write_op(mw__net_writer *w, const mw__op *op);
mw__net_dims mw__net_dims_of(const mw__net_writer *w, mw_shape shape);
/* An operand; a constant is written when it is first asked for. False after a failure or behind a problem. */
bool mw__net_operand(mw__net_writer *w, const mw__op *op, const char *argument, mw__net_value *out);
bool mw__net_value_of(mw__net_writer *w, const mw__op *op, mw_tensor *value, mw__net_value *out);
/* The result is that value; a reshape is written where its axes stand elsewhere. */
void mw__net_result(mw__net_writer *w, const mw__op *op, size_t index, mw__net_value value);

/* New units; `params` is taken over and may be NULL. */
mw__net_value mw__net_put(mw__net_writer *w, const char *type, plist_t params, const mw__net_value *bottoms,
                          size_t count, mw__net_dims dims);
/* The unit that was put last: for keys beside Params. */
plist_t mw__net_last(const mw__net_writer *w);
mw__net_value mw__net_neuron(mw__net_writer *w, const char *kind, mw__net_value x);
mw__net_value mw__net_goc(mw__net_writer *w, mw__net_value x, double scale, double bias);
mw__net_value mw__net_binary(mw__net_writer *w, const char *kind, mw__net_value x, mw__net_value y);
mw__net_value mw__net_broadcast(mw__net_writer *w, mw__net_value x, mw__net_dims dims);
mw__net_value mw__net_swap(mw__net_writer *w, mw__net_value x, int a, int b);
mw__net_value mw__net_transpose(mw__net_writer *w, mw__net_value x, const int from[MW__NET_AXES]);
mw__net_value mw__net_reshape(mw__net_writer *w, mw__net_value x, mw__net_dims dims);
mw__net_value mw__net_view(mw__net_writer *w, mw__net_value x, int axis, int64_t offset, int64_t size);
/* A constant of fp16 or uint16 elements. */
mw__net_value mw__net_constant(mw__net_writer *w, const char *type, const void *data, mw__net_dims dims);
/* Appends to the weight file; returns where. */
size_t mw__net_weights(mw__net_writer *w, const void *data, size_t size);

/* ---- reading (read.c, read_network.c, read_unit.c) ---- */

struct mw__net_unit {
    const char *name, *type;
    plist_t node, params; /* params NULL: none */
    mw_tensor *bottom[4];
    size_t bottom_count;
    mw_tensor **more; /* all of them, for units that take many */
};

struct mw__net_reader {
    const char *path;
    const mw_netplist_options *options;
    const mw_allocator *allocator;
    mw__arena arena;
    mw_error *err;
    mw_graph *graph;
    int rank;
    plist_t root, network;
    const char *folder;      /* of the file: where weights are */
    mw__map symbols;         /* of the network -> mw_tensor */
    mw__map weight_files;    /* that are counted */
    uint64_t constant_bytes; /* read so far */
    uint64_t constant_limit;
    size_t problems;
    char first[3][240];
};

/* Checks nesting, tags, entities and size of an XML property list (scan.c). */
mw_status mw__net_scan(const char *data, size_t size, mw_error *err);

/* Adds the procedure to the graph's current function (read_network.c); NULL: the reader's network, which has its own
 * lists of ports. */
mw_status mw__net_read_network(mw__net_reader *r, plist_t procedure);
mw_tensor *mw__net_read_unit(mw__net_reader *r, const mw__net_unit *unit);
void mw__net_cannot_read(mw__net_reader *r, const mw__net_unit *unit, const char *reason);
/* Bytes of the network's weight file `index`. */
mw_status mw__net_read_weights(mw__net_reader *r, uint64_t index, uint64_t offset, void *out, size_t size);
/* `count` numbers of type Float16 or Float32 from it, as fp16, freed with mw__free; NULL with the error set. */
void *mw__net_read_halves(mw__net_reader *r, const char *type, int64_t index, int64_t offset, size_t count);
/* Notes bytes that constants take; an error if they are more than the weight files allow. */
mw_status mw__net_claim(mw__net_reader *r, uint64_t bytes);
/* Axis of the graph's tensors by the name in a key: -1 with the error set. */
int mw__net_axis_called(mw__net_reader *r, const mw__net_unit *unit, const char *name);
mw_shape mw__net_shape(const mw__net_reader *r, mw__net_dims dims);
mw__net_dims mw__net_read_dims(const mw__net_reader *r, const mw_tensor *x);
mw_tensor *mw__net_bad(mw__net_reader *r, const mw__net_unit *unit, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Values of dictionaries (value.c): NULL or `fallback` if the key is absent or of another type. */
const char *mw__net_string(plist_t dict, const char *key);
plist_t mw__net_list(plist_t dict, const char *key, size_t *count);
plist_t mw__net_dict(plist_t dict, const char *key);
const char *mw__net_string_at(plist_t list, size_t index);
/* Whole numbers of 0 to 2^31 - 1. */
int64_t mw__net_int(plist_t dict, const char *key, int64_t fallback);
int64_t mw__net_int_at(plist_t list, size_t index, int64_t fallback);
bool mw__net_bool(plist_t dict, const char *key, bool fallback);
double mw__net_half(plist_t dict, const char *key, double fallback);   /* an integer: a bit pattern */
double mw__net_number(plist_t dict, const char *key, double fallback); /* a real, or an integer */

/* Making dictionaries. */
void mw__net_set_int(plist_t dict, const char *key, int64_t value);
void mw__net_set_bool(plist_t dict, const char *key, bool value);
void mw__net_set_half(plist_t dict, const char *key, double value);
void mw__net_set_string(plist_t dict, const char *key, const char *value);

#endif
