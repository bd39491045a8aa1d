/* The state set: the named tensors that stay on the device. Step, evaluation and prediction programs are bound to the
 * same buffers. */
#ifndef MW__RUNTIME_STATE_STATE_H
#define MW__RUNTIME_STATE_STATE_H

#include "base/memory/alloc.h"
#include "base/memory/map.h"
#include <millwright/types.h>

typedef struct mw__state_entry {
    const char *name; /* "fc1.weight", or "fc1.weight#m" for optimizer state of that parameter */
    mw_dtype dtype;   /* in the buffer */
    mw_shape shape;
    bool is_weight;     /* a parameter, or a state that evaluation reads: part of weight files */
    double least, most; /* what its elements may be; any finite number at first */
    void *buffer;       /* e5rt buffer object */
    void *data;         /* its memory */
    size_t size;        /* bytes of the tensor */
    bool borrowed;      /* the buffer belongs to another set, which outlives this one */
    bool is_part;       /* of several ranks that share it out: `shape` is [what this one has], of a tensor of .. */
    mw_shape whole;     /* .. this shape */
} mw__state_entry;

typedef struct mw__state_set {
    const mw_allocator *allocator;
    mw__state_entry *entries;
    size_t count;
    size_t capacity;
    mw__arena names;
    mw__map by_name;                   /* index + 1, as a pointer */
    const struct mw__symbols *symbols; /* of the buffers; outlives the set */
} mw__state_set;

void mw__state_init(mw__state_set *set, const mw_allocator *allocator, const struct mw__symbols *symbols);
void mw__state_deinit(mw__state_set *set);
/* Adds a zeroed entry under a copy of the name. */
mw_status mw__state_add(mw__state_set *set, const char *name, mw_dtype dtype, mw_shape shape, bool is_weight,
                        mw_error *err);

/* Adds an entry that is the buffer of another set's. */
mw_status mw__state_borrow(mw__state_set *set, const mw__state_entry *from, bool is_weight, mw_error *err);

/* MW_ERROR_NUMERIC if an element of `data`, in the type of the entry, is not finite or not in the entry's range. The
 * message begins with `subject`. Integers and truths are not looked at. */
mw_status mw__state_check(const mw__state_entry *entry, const void *data, const char *subject, mw_error *err);
/* The same for the values of all entries, before they leave. */
mw_status mw__state_check_all(const mw__state_set *set, const char *subject, mw_error *err);

/* Every element of a floating-point entry becomes `value`. */
void mw__state_fill(mw__state_entry *entry, double value);

/* NULL if there is none. */
mw__state_entry *mw__state_find(const mw__state_set *set, const char *name);
/* The same with the first `length` bytes of the name. */
mw__state_entry *mw__state_find_n(const mw__state_set *set, const char *name, size_t length);

#endif
