/* A sum over all ranks: the values are cut into a share for each rank, every rank gets its share of all others, adds
 * them in their order and sends the sums to all. That is 2 (n - 1) / n of the values for each rank, which is the least,
 * and the order of the additions is that of the ranks whatever arrives first. Each half of it can be had alone. */
#include "base/number/types.h"
#include "runtime/parallel/communicator.h"

#include <string.h>

size_t mw__reduction_share(const mw_communicator *c, size_t count) { return count / (size_t)c->transport.size + 1; }

size_t mw__reduction_first(size_t count, int ranks, int rank)
{
    const size_t size = (size_t)ranks;
    return count / size * (size_t)rank + count % size * (size_t)rank / size;
}

static size_t share_first(const mw__rank_sum *r, int rank)
{
    return mw__reduction_first(r->count, r->communicator->transport.size, rank);
}

static size_t share_count(const mw__rank_sum *r, int rank) { return share_first(r, rank + 1) - share_first(r, rank); }

mw_status mw__reduction_init(mw__rank_sum *r, mw_communicator *c, mw_dtype dtype, mw_dtype sent, size_t capacity,
                             mw_error *err)
{
    const size_t ranks = (size_t)c->transport.size, share = mw__reduction_share(c, capacity);
    *r = (mw__rank_sum){.communicator = c, .dtype = dtype, .sent = sent, .capacity = capacity};
    r->data = mw__alloc_aligned(c->allocator, capacity * mw__number_dtype_size(dtype), 64, err);
    r->wire =
        sent == dtype ? r->data : mw__alloc_aligned(c->allocator, capacity * mw__number_dtype_size(sent), 64, err);
    r->received = mw__alloc(c->allocator, (ranks - 1) * share, mw__number_dtype_size(sent), err);
    r->sums = mw__alloc(c->allocator, share, mw__number_dtype_size(dtype), err);
    r->parts = mw__alloc(c->allocator, ranks, sizeof *r->parts, err);
    if (r->data == NULL || r->wire == NULL || r->received == NULL || r->sums == NULL || r->parts == NULL)
        return MW_ERROR_MEMORY;
    return mw__exchange_init(&r->exchange, c, 2 * ranks, err);
}

void mw__reduction_deinit(mw__rank_sum *r)
{
    if (r->communicator == NULL)
        return;
    const mw_allocator *allocator = r->communicator->allocator;
    mw__exchange_deinit(&r->exchange, r->communicator);
    if (r->wire != r->data)
        mw__free_aligned(allocator, r->wire);
    mw__free_aligned(allocator, r->data);
    mw__free(allocator, r->received);
    mw__free(allocator, r->sums);
    mw__free(allocator, r->parts);
    *r = (mw__rank_sum){0};
}

/* The others, beginning with the next: so that not all send to rank 0 at first. */
static int nth_peer(const mw_communicator *c, int n) { return (c->transport.rank + n) % c->transport.size; }

static mw_status receive_shares(mw__rank_sum *r, mw_error *err)
{
    mw_communicator *c = r->communicator;
    const size_t own = share_count(r, c->transport.rank) * mw__number_dtype_size(r->sent);
    for (int n = 1; n < c->transport.size && own > 0; n++) {
        const int from = nth_peer(c, c->transport.size - n);
        unsigned char *to = r->received + (size_t)(n - 1) * own;
        r->parts[from] = to;
        MW_TRY(mw__exchange_receive(&r->exchange, c, from, r->tag, to, own, err));
    }
    return MW_OK;
}

mw_status mw__reduction_begin(mw__rank_sum *r, size_t count, mw_error *err)
{
    mw_communicator *c = r->communicator;
    const size_t bytes = mw__number_dtype_size(r->sent);
    r->count = count;
    r->phase = MW__REDUCTION_SCATTER;
    r->tag = mw__communicator_take_tags(c);
    if (r->wire != r->data)
        mw__sum_narrow_and_carry(r->sent, (uint16_t *)r->wire, (const float *)r->data, r->carried, count);
    mw__exchange_reset(&r->exchange);
    MW_TRY(receive_shares(r, err));
    for (int n = 1; n < c->transport.size; n++) {
        const int to = nth_peer(c, n);
        if (share_count(r, to) > 0)
            MW_TRY(mw__exchange_send(&r->exchange, c, to, r->tag, r->wire + share_first(r, to) * bytes,
                                     share_count(r, to) * bytes, err));
    }
    return MW_OK;
}

/* Of this rank's share, to where it is sent from. */
static void sum_share(mw__rank_sum *r)
{
    const size_t ranks = (size_t)r->communicator->transport.size, rank = (size_t)r->communicator->transport.rank;
    const size_t own = share_count(r, (int)rank);
    unsigned char *mine = r->wire + share_first(r, (int)rank) * mw__number_dtype_size(r->sent);
    r->parts[rank] = mine;
    if (r->wire == r->data) {
        mw__sum_in_order(r->dtype, r->sums, r->parts, ranks, own);
        memcpy(mine, r->sums, own * mw__number_dtype_size(r->dtype));
    } else {
        mw__sum_narrow(r->sent, (float *)r->sums, r->parts, ranks, own);
        mw__sum_narrow_and_carry(r->sent, (uint16_t *)mine, (const float *)r->sums, r->carried_sums, own);
    }
}

static mw_status send_share(mw__rank_sum *r, mw_error *err)
{
    mw_communicator *c = r->communicator;
    const int rank = c->transport.rank;
    const size_t bytes = mw__number_dtype_size(r->sent), own = share_count(r, rank) * bytes;
    r->phase = MW__REDUCTION_GATHER;
    mw__exchange_reset(&r->exchange);
    for (int n = 1; n < c->transport.size; n++) {
        const int from = nth_peer(c, c->transport.size - n);
        if (share_count(r, from) > 0)
            MW_TRY(mw__exchange_receive(&r->exchange, c, from, r->tag + 1, r->wire + share_first(r, from) * bytes,
                                        share_count(r, from) * bytes, err));
    }
    const unsigned char *mine = r->wire + share_first(r, rank) * bytes;
    for (int n = 1; n < c->transport.size && own > 0; n++)
        MW_TRY(mw__exchange_send(&r->exchange, c, nth_peer(c, n), r->tag + 1, mine, own, err));
    return MW_OK;
}

mw_status mw__reduction_begin_gather(mw__rank_sum *r, size_t count, mw_error *err)
{
    r->count = count;
    r->tag = mw__communicator_take_tags(r->communicator);
    return send_share(r, err);
}

/* What was sent in another type, from there. */
static void widen_received(mw__rank_sum *r, size_t first, size_t count)
{
    if (r->wire != r->data)
        mw__widen(r->sent, (float *)r->data + first, (const uint16_t *)r->wire + first, count);
}

mw_status mw__reduction_advance(mw__rank_sum *r, bool *out_done, mw_error *err)
{
    bool done = false;
    *out_done = r->phase == MW__REDUCTION_IDLE;
    if (*out_done)
        return MW_OK;
    MW_TRY(mw__exchange_advance(&r->exchange, r->communicator, &done, err));
    if (!done)
        return MW_OK;
    if (r->phase == MW__REDUCTION_SCATTER) {
        sum_share(r);
        if (!r->keeps_share)
            return send_share(r, err);
        widen_received(r, share_first(r, r->communicator->transport.rank),
                       share_count(r, r->communicator->transport.rank));
    } else {
        widen_received(r, 0, r->count);
    }
    r->phase = MW__REDUCTION_IDLE;
    *out_done = true;
    return MW_OK;
}
