/* A trainer of several ranks. Its step program ends with gradients and the next values of the model's states, which the
 * host sums over the ranks in a fixed order; a second program makes of them the update, or of the batches before the
 * last of an update only their sum. Every decision is made by all ranks from the same numbers. */
#ifndef MW__RUNTIME_TRAINER_RANKS_TRAINER_RANKS_H
#define MW__RUNTIME_TRAINER_RANKS_TRAINER_RANKS_H

#include "runtime/parallel/communicator.h"
#include "runtime/trainer/build/trainer_build.h"

/* Add to a name: what a step exchanges, and what a rank has of the sums of a gradient. */
#define MW__GRADIENT  "#gradient"
#define MW__CANDIDATE "#candidate"
#define MW__SHARE     "#share"

/* A program behind the exchange: the update, or the keeping of sums. */
typedef struct mw__trainer_apply {
    mw__trainer_pass pass; /* without a feeder and loss */
    mw_dtype dtype;        /* of the next three */
    void *loss, *agreed;   /* inputs; NULL = it has none */
    void *norm;            /* of all gradients: an input, or of the finite check an output; or NULL */
} mw__trainer_apply;

/* What is summed together: entries of the set that is exchanged, one behind the other. */
typedef struct mw__bucket {
    size_t first, count; /* entries */
    size_t elements;
    mw_dtype dtype;
    size_t call;                   /* of the step: the last that writes any of it */
    float *carried, *carried_sums; /* what rounding on the way lost; NULL = nothing is rounded */
    bool states; /* means of the model's states, which every batch has; else gradients, which every update has */
} mw__bucket;

/* Ranks that share out the optimizer's states: each has the same share of every bucket of gradients, hence a part of
 * some parameters, and updates that. */
typedef struct mw__shard {
    size_t bucket, offset;      /* of a gradient: in the bucket, in elements */
    size_t parameter, averaged; /* entries of the state */
    size_t own, share, average; /* entries of `parts` from 1; 0 = this rank has none of it, or no separate one */
} mw__shard;

typedef struct mw__trainer_shards {
    mw__shard *of;                           /* [exchanged.count]; of gradients */
    mw__state_set parts;                     /* of this rank: what the update reads and writes besides its states */
    mw__trainer_apply finite_check, average; /* before the update and behind the exchange of the parameters */
    float *flags;                            /* [ranks] */
    void **wholes;                           /* [state.count]: states of all ranks, for a file or from one; or NULL */
    unsigned char *marks;                    /* [state.count]: what all ranks are to know of them, MW__MARK_* */
} mw__trainer_shards;

enum { MW__MARK_LOADED = 1, MW__MARK_DROPPED = 2 };

/* What each rank tells the others of its batch. */
enum { MW__RECORD_TEXT = 320 };
typedef struct mw__step_record {
    int32_t status; /* of feeding and running it */
    float learning_rate;
    float ok, loss;             /* as the program says */
    uint32_t unequal;           /* its parameters were read from a file or written, so that they may be others */
    uint32_t vote;              /* of mw_trainer_fit: to stop, to save */
    char text[MW__RECORD_TEXT]; /* why the status is what it is */
} mw__step_record;

enum { MW__VOTE_STOP = 1, MW__VOTE_SAVE = 2 };

/* With local steps: a tensor that becomes the mean when the ranks synchronize. */
typedef struct mw__synchronized {
    size_t entry, count; /* of the state, and its elements */
    float *anchor;       /* at the last one, with the momentum of the outer optimizer; NULL = it is the mean */
    float *momentum;
} mw__synchronized;

/* How a bucket travels: as it is, or in a narrower type. Buckets take turns on the lanes of their kind, so that one is
 * on its way while the sums of the other are made. */
enum { MW__LANES = 2 };
typedef enum mw__lane_kind { MW__LANE_F32, MW__LANE_F16, MW__LANE_NARROW, MW__LANE_KINDS } mw__lane_kind;

typedef struct mw__trainer_ranks {
    mw_communicator *communicator;
    int verify_steps; /* updates after which parameters are compared; 0 = never */
    int local_steps;  /* over 1: each rank trains by itself for so many updates, and nothing of the exchange is there */
    double outer_rate, outer_momentum;
    int64_t local_batches; /* since the ranks synchronized */
    mw__synchronized *synchronized;
    size_t synchronized_count;
    float *scratch;
    size_t scratch_count;
    mw__state_set exchanged; /* gradients and candidates of this rank, then of all */
    mw__trainer_apply update, keep;
    mw__trainer_shards *shards; /* NULL = every rank has all states of the optimizer */
    uint64_t bucket_bytes;
    mw__bucket *buckets;
    size_t bucket_count;
    mw_dtype sent; /* of fp32 gradients on the way */
    mw__rank_sum lanes[MW__LANE_KINDS][MW__LANES];
    mw__step_record *records; /* [ranks] of the last batch */
    uint32_t vote;            /* of this rank, for the next record */
    uint32_t votes;           /* of all, in the last record */
    bool watched;             /* the exchange goes on while the device runs */
    bool agreed;              /* the last failure was one of all ranks, which go on */
    size_t *generators;       /* entries of the state that draw: each rank is so many steps ahead as its number */
    size_t generator_count;
} mw__trainer_ranks;

/* NULL without others, and for NULL. */
const mw__trainer_ranks *mw__trainer_ranks_of(const mw_trainer *trainer);
/* 1 without others. */
int mw__trainer_rank_count(const mw_trainer *trainer);

/* A loader that serves this rank's share of the batches, unless the data is a part already. */
void mw__trainer_share_batches(const mw_trainer *trainer, mw_loader_options *options);

/* ---- trainer_ranks_graph.c ---- */

/* The outputs that are exchanged. */
mw_status mw__trainer_add_exchange_outputs(mw__trainer_build *b, mw_error *err);
/* A graph of its own behind the step `from`: update or, if b->accumulates, the sum so far; with parts the finite check
 * of them, or follows from that. */
mw_status mw__trainer_build_apply(mw__trainer_build *b, const mw__trainer_build *from, mw_error *err);

/* ---- trainer_ranks_make.c ---- */

/* Before anything is built; a communicator of one rank is as none. */
mw_status mw__trainer_join_ranks(mw_trainer *trainer, const mw_trainer_options *options, mw_error *err);
/* Those states of the model that draw. */
mw_status mw__trainer_list_generators(mw__trainer_build *b, mw_error *err);
bool mw__trainer_draws(const mw_trainer *trainer, const char *state);
/* The buffers that are exchanged, and the buckets in which it goes; the step is built, but not its state. */
mw_status mw__trainer_build_exchanged(mw__trainer_build *b, mw_error *err);
/* Whether the step is worth cutting, so that its gradients are exchanged while it runs. */
bool mw__trainer_wants_overlap(const mw_trainer *trainer);
/* The programs behind the exchange, and what the exchange needs. */
mw_status mw__trainer_make_applies(mw__trainer_build *from, mw_error *err);
void mw__trainer_leave_ranks(mw_trainer *trainer);

/* ---- trainer_ranks_exchange.c ---- */

mw__lane_kind mw__bucket_lane_kind(const mw__bucket *bucket);
/* Which calls of the step each bucket waits for. */
void mw__trainer_time_buckets(mw_trainer *trainer);
/* Sums what a batch has, and with `updates` what an update has, over the ranks. `runs`: the step was submitted, or has
 * run; without it this rank sends what is there, as the others wait for it. */
mw_status mw__trainer_exchange(mw_trainer *trainer, bool updates, bool runs, mw_error *err);

/* What this rank has of the new parameters goes to all. */
mw_status mw__trainer_exchange_parts(mw_trainer *trainer, mw_error *err);
void mw__trainer_drop_carried(mw__trainer_ranks *ranks);

/* ---- trainer_ranks_shards.c ---- */

/* What this rank has; the buckets are made. */
mw_status mw__trainer_plan_shards(mw__trainer_build *b, mw_error *err);
/* The rest, when the state set is there. */
mw_status mw__trainer_resolve_shards(mw_trainer *trainer, mw_error *err);
void mw__trainer_drop_shards(mw_trainer *trainer);
/* Elements of what entry `exchanged` is the gradient of. */
mw__owned mw__trainer_part(const mw_trainer *trainer, size_t exchanged, int rank);
/* Of this rank; false: it has the whole. */
bool mw__trainer_own_part(const mw_trainer *trainer, const char *parameter, mw__owned *out);
/* The entry of the gradient of a parameter, or that of which the entry is a state; exchanged.count if there is none. */
size_t mw__trainer_gradient_of(const mw_trainer *trainer, const char *name, size_t length);
/* Where this rank's part of the sums is: the beginning of the gradient's buffer, unless that is needed as a whole. */
mw__device_buffer mw__trainer_share(const mw_trainer *trainer, size_t exchanged);
/* As mw__trainer_bind, parts first. */
bool mw__trainer_bind_parts(void *trainer, const mw_port *port, mw__device_buffer *out);
/* The update of all ranks, or none of it. */
mw_status mw__trainer_update_parts(mw_trainer *trainer, float loss, bool agreed, float *out_ok, mw_error *err);

/* ---- trainer_ranks_whole.c: states of which each rank has a part, for files ---- */

/* Rank 0 gets them, until they are dropped. A call of all ranks; without parts MW_OK. */
mw_status mw__trainer_gather_wholes(mw_trainer *trainer, mw_error *err);
void mw__trainer_drop_wholes(mw_trainer *trainer);
/* What rank 0 has loaded, or dropped with a parameter that was replaced, reaches the ranks that have it. */
mw_status mw__trainer_spread_wholes(mw_trainer *trainer, mw_error *err);
/* An entry as files have it. Of a part `data` is NULL unless it was gathered or loaded. */
mw__state_entry mw__trainer_whole(const mw_trainer *trainer, size_t entry);
/* The values of a part from a file, which rank 0 takes over: *data is NULL then. */
void mw__trainer_take_whole(mw_trainer *trainer, size_t entry, void **data);

/* ---- trainer_ranks_equal.c ---- */

/* All ranks have the same model, options and library, else it is said who has not.  errors  MW_ERROR_ARGUMENT */
mw_status mw__trainer_compare_ranks(mw_trainer *trainer, mw_error *err);
/* Parameters and states become those of rank 0, where they are not equal. */
mw_status mw__trainer_equalize(mw_trainer *trainer, mw_error *err);
/* What rank 0 did for all: every rank returns its status. */
mw_status mw__trainer_share_status(mw_trainer *trainer, mw_status status, mw_error *err);
/* That they still are.  errors  MW_ERROR_COMMUNICATION naming the first rank that is not */
mw_status mw__trainer_verify(mw_trainer *trainer, mw_error *err);
/* Generators go on as if the other ranks had drawn, too. */
void mw__trainer_skip_generators(mw_trainer *trainer, uint64_t steps);

/* Generators become those of rank 0, each rank as far ahead as its number. */
mw_status mw__trainer_send_generators(mw_trainer *trainer, mw_error *err);

/* ---- trainer_ranks_local.c: local steps ---- */

void mw__trainer_set_anchors(mw_trainer *trainer);

/* ---- trainer_ranks_step.c ---- */

/* What all ranks say of their batches, `own` of this one's. */
mw_status mw__trainer_gather_records(mw_trainer *trainer, const mw_error *own, mw_error *err);
bool mw__trainer_any_unequal(const mw__trainer_ranks *ranks);

/* Runs a program behind the exchange, whose scalars are written. */
mw_status mw__trainer_run_apply(mw_trainer *trainer, mw__trainer_apply *apply, float loss, bool agreed, float *out_ok,
                                mw_error *err);

#endif
