/* The state set: the named tensors that stay on the device. Step, evaluation and prediction programs are bound to the
 * same buffers. */
#ifndef MW__RUNTIME_STATE_H
#define MW__RUNTIME_STATE_H

#include "base/guard.h"
#include "base/map.h"
#include <millwright/trainer.h>

typedef struct mw__state_entry {
    const char *name; /* "fc1.weight", or "fc1.weight#m" for optimizer state of that parameter */
    mw_dtype dtype;   /* in the buffer */
    mw_shape shape;
    bool is_weight;     /* a parameter, or a state that evaluation reads: part of weight files */
    double least, most; /* what its elements may be; any finite number at first */
    void *buffer;       /* e5rt buffer object */
    void *data;         /* its memory */
    size_t size;        /* bytes of the tensor */
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

/* Around a public call; a NULL trainer passes.
 *  errors  MW_ERROR_STATE if the trainer is destroyed, or in use (base/guard.h) */
mw_status mw__trainer_enter(mw__entry *out, mw_trainer *trainer, const char *call, mw__lent lent, mw_error *err);
/* `status`; MW_ERROR_STATE if the trainer was destroyed meanwhile, which frees it. */
mw_status mw__trainer_leave(const mw__entry *entry, mw_status status, mw_error *err);

/* ---- what files and fit need of a trainer ---- */
/* The first check of a public call that takes a trainer and a path; `call` is its name. */
mw_status mw__trainer_check_path(const mw_trainer *trainer, const char *path, const char *call, mw_error *err);
mw__state_set *mw__trainer_state(mw_trainer *trainer);
/* The entry whose values stand for a weight to the outside: its moving average if the trainer uses these. */
const mw__state_entry *mw__trainer_shown(const mw_trainer *trainer, const mw__state_entry *entry);
/* What stands for a weight beside it, after its values were replaced: the average becomes them, a second term 0. */
void mw__trainer_follow(mw_trainer *trainer, const mw__state_entry *weight);
const mw_allocator *mw__trainer_allocator(const mw_trainer *trainer);
/* The lock that a running mw_fit holds on its checkpoint, or NULL. */
const struct mw__lock *mw__trainer_lock(const mw_trainer *trainer);
void mw__trainer_set_steps(mw_trainer *trainer, int64_t steps, int gathered);
/* Batches for an update, and how many of them have been added up since the last. */
int mw__trainer_accumulate(const mw_trainer *trainer);
int mw__trainer_gathered(const mw_trainer *trainer);
uint64_t mw__trainer_seed(const mw_trainer *trainer);
/* Writes and reads tensors of a safetensors file: names[i] is that of entry i of the state set, NULL = not in the file.
 * Reading wants every one, converts between F16 and F32, and changes nothing on failure. `note` is put into the file's
 * metadata (NULL = none). `of_folder`: the file is one that its folder has by convention, and links of the folder do
 * not lead out of it. */
struct mw__safetensors_note;
mw_status mw__weights_write(mw_trainer *trainer, const char *path, const char *const *names,
                            const struct mw__safetensors_note *note, mw_error *err);
mw_status mw__weights_read(mw_trainer *trainer, const char *path, bool of_folder, const char *const *names,
                           mw_error *err);
/* Adds to the counters of state bytes that crossed the host boundary. */
void mw__trainer_count_state(mw_trainer *trainer, size_t bytes_in, size_t bytes_out);
/* The batch size: first extent of the inputs. */
int64_t mw__trainer_batch(const mw_trainer *trainer);
/* Optimizer and its numbers (but the learning rate) as one line, so that a checkpoint of another optimizer is refused
 * by name. */
const char *mw__trainer_description(const mw_trainer *trainer);

#endif
