/* A communicator from within: its transport, what became of it, and the notices by which ranks end each other. */
#ifndef MW__RUNTIME_PARALLEL_COMMUNICATOR_H
#define MW__RUNTIME_PARALLEL_COMMUNICATOR_H

#include "base/memory/alloc.h"
#include "base/memory/guard.h"
#include "base/visible.h"

#include <millwright/communicator.h>

/* A message that was begun. */
typedef struct mw__message {
    void *request; /* of the transport; NULL = done */
    int peer;
    bool receives;
    size_t size;
} mw__message;

/* Messages that are waited for together. */
typedef struct mw__exchange {
    mw__message *messages; /* [capacity] */
    size_t count, capacity;
    size_t open;  /* of them not done */
    double since; /* when one of them was last begun or done */
    double left;  /* when it was first seen that a rank which has left is waited for; 0 = not yet */
} mw__exchange;

/* Why a rank goes, to all others. */
enum { MW__NOTICE_TEXT = 400 };
typedef struct mw__notice {
    int32_t origin; /* whose failure it is: a rank that ends because of another hands that on */
    int32_t left;   /* it is no failure: the rank has done all its calls */
    char text[MW__NOTICE_TEXT];
} mw__notice;

/* Two of each call, in turns; one is for notices. */
enum { MW__TAGS = 32766, MW__TAG_NOTICE = 32767 };

struct mw_communicator {
    const mw_allocator *allocator;
    mw_transport transport;
    mw__guard guard;
    double timeout;
    int tag; /* of the next call */
    bool dead;
    mw_error reason;
    const mw__notice *heard;         /* that of another, if it was the reason */
    mw__exchange exchange;           /* of the call that is under way */
    mw__exchange awaited;            /* notices, one of each other rank */
    mw__notice *notices, own_notice; /* [size] */
    mw_communicator_info counters;   /* but rank and size, which the transport has */
};

/* For NULL the only one: rank 0 of 1. */
int mw__communicator_rank(const mw_communicator *c);
int mw__communicator_size(const mw_communicator *c);

/* The tag of the next call of all ranks, and the one behind it. */
int mw__communicator_take_tags(mw_communicator *c);
/* MW_ERROR_STATE if it is dead. */
MW__SIBLING mw_status mw__communicator_check(const mw_communicator *c, const char *call, mw_error *err);
/* After a failure of a call: all others are told, and it is dead. Returns `status`. */
MW__SIBLING mw_status mw__communicator_end(mw_communicator *c, mw_status status, mw_error *err);

/* ---- for src/ranks, which users call ---- */

/* Over a transport that was checked. If it fails, the transport is still the caller's to finish. */
MW__SIBLING mw_communicator *mw__communicator_create(const mw_transport *transport, const mw_allocator *allocator,
                                                     mw_error *err);
/* Tells the others that this rank has left, if nobody has failed yet. */
MW__SIBLING void mw__communicator_depart(mw_communicator *c);
/* Frees what is not freed yet, and finishes the transport. `clean`: all ranks are here. */
MW__SIBLING void mw__communicator_free(mw_communicator *c, bool clean, const char *call);
/* Begins a public call: checks the communicator, and that nobody is inside. mw__guard_leave ends it. */
MW__SIBLING mw_status mw__communicator_enter(mw__entry *entry, mw_communicator *c, const char *call, mw_error *err);

/* ---- exchange.c ---- */

mw_status mw__exchange_init(mw__exchange *x, const mw_communicator *c, size_t capacity, mw_error *err);
/* Gives up what is under way, and frees. A zeroed one is fine. */
void mw__exchange_deinit(mw__exchange *x, mw_communicator *c);
void mw__exchange_cancel(mw__exchange *x, mw_communicator *c);
/* Forgets what is done; nothing is under way. */
void mw__exchange_reset(mw__exchange *x);
mw_status mw__exchange_send(mw__exchange *x, mw_communicator *c, int to, int tag, const void *data, size_t size,
                            mw_error *err);
mw_status mw__exchange_receive(mw__exchange *x, mw_communicator *c, int from, int tag, void *data, size_t size,
                               mw_error *err);
/* Looks once at what is under way.
 *  errors  MW_ERROR_COMMUNICATION if a rank sent something else, has ended, or lets us wait for too long */
mw_status mw__exchange_advance(mw__exchange *x, mw_communicator *c, bool *out_done, mw_error *err);
/* Until all is done. */
mw_status mw__exchange_wait(mw__exchange *x, mw_communicator *c, mw_error *err);

/* Between two looks at messages, of which the caller counts; short at first. */
void mw__communicator_pause(unsigned look);

/* ---- sum.c ---- */

/* out = ((parts[0] + parts[1]) + ..), each addition rounded to the type. out may be one of the parts. */
void mw__sum_in_order(mw_dtype dtype, void *out, const void *const *parts, size_t part_count, size_t count);
/* The same in fp32, of parts in a type of 16 bits. */
void mw__sum_narrow(mw_dtype narrow, float *out, const void *const *parts, size_t part_count, size_t count);
/* narrow[i] = round(x[i] + carried[i]), and carried[i] what was lost by it. */
void mw__sum_narrow_and_carry(mw_dtype narrow, uint16_t *out, const float *x, float *carried, size_t count);
void mw__widen(mw_dtype narrow, float *out, const uint16_t *x, size_t count);

/* ---- reduction.c ---- */

/* Values that are summed over the ranks: each rank sums one share of them, which it then sends to all. */
typedef struct mw__rank_sum {
    mw_communicator *communicator;
    mw_dtype dtype;
    mw_dtype sent; /* the same, or fp16 or bf16 for fp32 */
    size_t capacity;
    unsigned char *data;     /* [capacity]: own values, then the sums */
    unsigned char *wire;     /* [capacity] what is sent and received of it; `data` if the types are the same */
    unsigned char *received; /* [ranks - 1][share] */
    unsigned char *sums;     /* [share] of this rank */
    const void **parts;      /* [ranks] */
    mw__exchange exchange;
    size_t count;
    float *carried, *carried_sums; /* of the bucket: [count], [share]; what rounding lost so far */
    bool keeps_share;              /* the sums are not sent on: each rank has those of its share alone */
    int tag;
    enum { MW__REDUCTION_IDLE, MW__REDUCTION_SCATTER, MW__REDUCTION_GATHER } phase;
} mw__rank_sum;

mw_status mw__reduction_init(mw__rank_sum *r, mw_communicator *c, mw_dtype dtype, mw_dtype sent, size_t capacity,
                             mw_error *err);
void mw__reduction_deinit(mw__rank_sum *r);
/* The most elements that a rank sums of `count`. */
size_t mw__reduction_share(const mw_communicator *c, size_t count);
/* Where the share of a rank begins of `count`; that of rank `ranks` is the end. */
size_t mw__reduction_first(size_t count, int ranks, int rank);
/* Begins with the first `count` of r->data, which then are the sums when an advance says that it is done. What is sent
 * in a narrower type needs r->carried and r->carried_sums. */
mw_status mw__reduction_begin(mw__rank_sum *r, size_t count, mw_error *err);
/* Begins to send this rank's share of the first `count` of r->data to all; when it is done, r->data has those of all.
 * Not for one that sends in a narrower type. */
mw_status mw__reduction_begin_gather(mw__rank_sum *r, size_t count, mw_error *err);
mw_status mw__reduction_advance(mw__rank_sum *r, bool *out_done, mw_error *err);

/* ---- collective.c: calls that wait. They end the communicator when they fail. ---- */

MW__SIBLING mw_status mw__ranks_gather(mw_communicator *c, const void *record, size_t size, void *out, mw_error *err);
MW__SIBLING mw_status mw__ranks_broadcast(mw_communicator *c, int root, void *data, size_t size, mw_error *err);
MW__SIBLING mw_status mw__ranks_allreduce(mw_communicator *c, void *data, size_t count, mw_dtype dtype, mw_error *err);

#endif
