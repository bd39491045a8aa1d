/* A sum over all ranks: the values are cut into a share for each rank, every rank gets its share of all others, adds
 * them in their order and sends the sums to all. That is 2 (n - 1) / n of the values for each rank, which is the least,
 * and the order of the additions is that of the ranks whatever arrives first. */
#include "base/types.h"
#include "runtime/parallel/communicator.h"

#include <string.h>

static size_t element_size(const mw__reduction *r) { return (size_t)mw_dtype_bits(r->dtype) / 8; }

/* Where the share of a rank begins; that of rank `size` is the end. */
static size_t share_first(const mw__reduction *r, int rank)
{
    const size_t size = (size_t)r->communicator->transport.size;
    return r->count / size * (size_t)rank + r->count % size * (size_t)rank / size;
}

static size_t share_count(const mw__reduction *r, int rank) { return share_first(r, rank + 1) - share_first(r, rank); }

mw_status mw__reduction_init(mw__reduction *r, mw_communicator *c, mw_dtype dtype, size_t capacity, mw_error *err)
{
    const size_t ranks = (size_t)c->transport.size, share = capacity / ranks + 1;
    *r = (mw__reduction){.communicator = c, .dtype = dtype, .capacity = capacity};
    r->data = mw__alloc_aligned(c->allocator, capacity * element_size(r), 64, err);
    r->received = mw__alloc(c->allocator, (ranks - 1) * share, element_size(r), err);
    r->sums = mw__alloc(c->allocator, share, element_size(r), err);
    r->parts = mw__alloc(c->allocator, ranks, sizeof *r->parts, err);
    if (r->data == NULL || r->received == NULL || r->sums == NULL || r->parts == NULL)
        return MW_ERROR_MEMORY;
    return mw__exchange_init(&r->exchange, c, 2 * ranks, err);
}

void mw__reduction_deinit(mw__reduction *r)
{
    if (r->communicator == NULL)
        return;
    const mw_allocator *allocator = r->communicator->allocator;
    mw__exchange_deinit(&r->exchange, r->communicator);
    mw__free_aligned(allocator, r->data);
    mw__free(allocator, r->received);
    mw__free(allocator, r->sums);
    mw__free(allocator, r->parts);
    *r = (mw__reduction){0};
}

/* The others, beginning with the next: so that not all send to rank 0 at first. */
static int nth_peer(const mw_communicator *c, int n) { return (c->transport.rank + n) % c->transport.size; }

mw_status mw__reduction_begin(mw__reduction *r, size_t count, mw_error *err)
{
    mw_communicator *c = r->communicator;
    const size_t bytes = element_size(r);
    r->count = count;
    r->phase = MW__REDUCTION_SCATTER;
    r->tag = mw__communicator_take_tags(c);
    mw__exchange_reset(&r->exchange);
    const size_t own = share_count(r, c->transport.rank) * bytes;
    for (int n = 1; n < c->transport.size && own > 0; n++) {
        const int from = nth_peer(c, c->transport.size - n);
        unsigned char *to = r->received + (size_t)(n - 1) * own;
        r->parts[from] = to;
        MW_TRY(mw__exchange_receive(&r->exchange, c, from, r->tag, to, own, err));
    }
    for (int n = 1; n < c->transport.size; n++) {
        const int to = nth_peer(c, n);
        if (share_count(r, to) > 0)
            MW_TRY(mw__exchange_send(&r->exchange, c, to, r->tag, r->data + share_first(r, to) * bytes,
                                     share_count(r, to) * bytes, err));
    }
    return MW_OK;
}

static mw_status begin_gather(mw__reduction *r, mw_error *err)
{
    mw_communicator *c = r->communicator;
    const int rank = c->transport.rank;
    const size_t bytes = element_size(r), own = share_count(r, rank) * bytes;
    unsigned char *mine = r->data + share_first(r, rank) * bytes;
    r->parts[rank] = mine;
    mw__sum_in_order(r->dtype, r->sums, r->parts, (size_t)c->transport.size, own / bytes);
    memcpy(mine, r->sums, own);
    r->phase = MW__REDUCTION_GATHER;
    mw__exchange_reset(&r->exchange);
    for (int n = 1; n < c->transport.size; n++) {
        const int from = nth_peer(c, c->transport.size - n);
        if (share_count(r, from) > 0)
            MW_TRY(mw__exchange_receive(&r->exchange, c, from, r->tag + 1, r->data + share_first(r, from) * bytes,
                                        share_count(r, from) * bytes, err));
    }
    for (int n = 1; n < c->transport.size && own > 0; n++)
        MW_TRY(mw__exchange_send(&r->exchange, c, nth_peer(c, n), r->tag + 1, r->sums, own, err));
    return MW_OK;
}

mw_status mw__reduction_advance(mw__reduction *r, bool *out_done, mw_error *err)
{
    bool done = false;
    *out_done = r->phase == MW__REDUCTION_IDLE;
    if (*out_done)
        return MW_OK;
    MW_TRY(mw__exchange_advance(&r->exchange, r->communicator, &done, err));
    if (!done)
        return MW_OK;
    if (r->phase == MW__REDUCTION_SCATTER)
        return begin_gather(r, err);
    r->phase = MW__REDUCTION_IDLE;
    *out_done = true;
    return MW_OK;
}
