/* Weights by name as safetensors files: those of a trainer's state set, and those of a program. */
#ifndef MW__RUNTIME_WEIGHTS_WEIGHTS_H
#define MW__RUNTIME_WEIGHTS_WEIGHTS_H

#include "base/text/error.h"
#include "format/tensors/safetensors.h"
#include "format/tensors/tensors.h"

#include <millwright/weights.h>

/* A tensor that a file may have. */
typedef struct mw__weight_slot {
    const char *name;    /* in the model */
    const char *in_file; /* its name there; NULL = not part of the file */
    bool optional;       /* a file may lack it: then it keeps its values */
    mw_dtype dtype;
    mw_shape shape;
    void *data;
    size_t size;
    bool taken; /* the last read has given it values */
} mw__weight_slot;

typedef struct mw__weight_slots {
    const mw_allocator *allocator;
    const char *owner; /* "the trainer", for messages */
    mw__weight_slot *slot;
    size_t count;
} mw__weight_slots;

/* Writes what has a name in the file. `note` is put into the file's metadata (NULL = none). */
mw_status mw__weights_write(const mw__weight_slots *slots, const char *path, const mw__safetensors_note *note,
                            mw_error *err);
/* Reads what has a name in the file, converts between F16 and F32, and changes nothing on failure. `of_folder`: the
 * file is one that its folder has by convention, and links of the folder do not lead out of it. */
mw_status mw__weights_read(const mw__weight_slots *slots, const char *path, bool of_folder, mw_error *err);
/* The same as <millwright/weights.h> says; slots without a name in the file are no part of it. */
mw_status mw__weights_load(const mw__weight_slots *slots, const char *path, const mw_weights_options *options,
                           mw_error *err);
/* Refuses options that no call takes; `call` has weights that can stay compressed, or not. */
mw_status mw__weights_check_load_options(const mw_weights_options *options, bool compressed, mw_error *err);
/* Which tensor is for which slot, as the options say; nothing is read.
 *  out_from  [slots->count], NULLs before; NULL = the slot keeps its values */
mw_status mw__weights_match(const mw__weight_slots *slots, mw_tensors *file, const mw_weights_options *options,
                            const mw__tensors_item **out_from, mw_error *err);

#endif
