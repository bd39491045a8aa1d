/* Batches from a data set: the order of the examples, and their gathering in the stored type. All memory is there from
 * the beginning. One thread at a time has a maker; a batch lies in a slot, of which there may be several. */
#ifndef MW__RUNTIME_DATA_BATCH_H
#define MW__RUNTIME_DATA_BATCH_H

#include "runtime/data/data.h"

/* A place for one batch. */
typedef struct mw__minibatch_slot {
    void **buffers; /* [columns], of a batch each */
    mw_feed *feeds; /* [columns] */
    int64_t *ids;   /* [batch] */
    mw_batch batch;
    int64_t rows; /* that its columns are cut to; 0 = they are whole */
} mw__minibatch_slot;

typedef struct mw__minibatch_maker {
    const mw_allocator *allocator;
    mw_dataset *dataset; /* lives on until the maker is gone */
    int64_t batch_size;
    int64_t rank, ranks; /* batch i is batch rank + i * ranks of all */
    bool shuffle;
    uint64_t seed;
    uint32_t *order;       /* [examples] when shuffling, or by lengths, else NULL */
    uint32_t *room;        /* [examples] by lengths */
    int64_t ordered_epoch; /* the epoch that `order` is for; -1 = none */
    void **row;            /* [columns] where one example goes */
    char *scratch;         /* of the data set, to make one */
} mw__minibatch_maker;

/* The options were checked. What fails leaves a maker for deinit. */
mw_status mw__minibatch_maker_init(mw__minibatch_maker *maker, const mw_loader_options *options, mw_error *err);
void mw__minibatch_maker_deinit(mw__minibatch_maker *maker);

mw_status mw__minibatch_slot_init(mw__minibatch_slot *slot, const mw__minibatch_maker *maker, mw_error *err);
void mw__minibatch_slot_deinit(mw__minibatch_slot *slot, const mw__minibatch_maker *maker);

/* The batch at this position into the slot; behind the last example it is repeated. */
mw_status mw__minibatch_make(mw__minibatch_maker *maker, mw_loader_position position, mw__minibatch_slot *slot,
                             mw_error *err);

#endif
