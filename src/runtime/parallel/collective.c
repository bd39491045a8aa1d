/* What all ranks do together, waiting. After a failure the others are told and the communicator is dead, as nobody
 * knows which messages arrived. */
#include "base/clock.h"
#include "base/number/types.h"
#include "runtime/parallel/communicator.h"

#include <string.h>

/* Of one call: what the exchange has begun is waited for, or given up. */
static mw_status finish_collective(mw_communicator *c, mw_status status, mw_error *err)
{
    if (status == MW_OK)
        status = mw__exchange_wait(&c->exchange, c, err);
    if (status != MW_OK)
        mw__exchange_cancel(&c->exchange, c);
    mw__exchange_reset(&c->exchange);
    return status;
}

/* ---- gather ---- */

static mw_status begin_gather(mw_communicator *c, const void *record, size_t size, void *out, mw_error *err)
{
    const int tag = mw__communicator_take_tags(c);
    for (int from = 0; from < c->transport.size; from++)
        if (from != c->transport.rank)
            MW_TRY(mw__exchange_receive(&c->exchange, c, from, tag, (char *)out + (size_t)from * size, size, err));
    for (int to = 0; to < c->transport.size; to++)
        if (to != c->transport.rank)
            MW_TRY(mw__exchange_send(&c->exchange, c, to, tag, record, size, err));
    return MW_OK;
}

mw_status mw__ranks_gather(mw_communicator *c, const void *record, size_t size, void *out, mw_error *err)
{
    memmove((char *)out + (size_t)c->transport.rank * size, record, size);
    if (c->transport.size == 1)
        return MW_OK;
    const void *own = (const char *)out + (size_t)c->transport.rank * size;
    return mw__communicator_end(c, finish_collective(c, begin_gather(c, own, size, out, err), err), err);
}

/* ---- broadcast ---- */

/* A binomial tree, with ranks counted from the root: a rank gets the data from the one without its highest bit. */
static mw_status broadcast_piece(mw_communicator *c, int root, void *data, size_t size, mw_error *err)
{
    const int ranks = c->transport.size, place = (c->transport.rank - root + ranks) % ranks;
    const int tag = mw__communicator_take_tags(c);
    int above = 1;
    while (above <= place)
        above *= 2;
    if (place > 0)
        MW_TRY(finish_collective(
            c, mw__exchange_receive(&c->exchange, c, (place - above / 2 + root) % ranks, tag, data, size, err), err));
    mw_status status = MW_OK;
    for (int step = above; status == MW_OK && place + step < ranks; step *= 2)
        status = mw__exchange_send(&c->exchange, c, (place + step + root) % ranks, tag, data, size, err);
    return finish_collective(c, status, err);
}

mw_status mw__ranks_broadcast(mw_communicator *c, int root, void *data, size_t size, mw_error *err)
{
    mw_status status = MW_OK;
    for (size_t first = 0; status == MW_OK && first < size && c->transport.size > 1; first += MW_MESSAGE_MAX) {
        const size_t piece = size - first < MW_MESSAGE_MAX ? size - first : MW_MESSAGE_MAX;
        status = broadcast_piece(c, root, (char *)data + first, piece, err);
    }
    return mw__communicator_end(c, status, err);
}

/* ---- sum ---- */

static mw_status reduce_piece(mw__rank_sum *r, void *data, size_t size, size_t count, mw_error *err)
{
    bool done = false;
    memcpy(r->data, data, size);
    MW_TRY(mw__reduction_begin(r, count, err));
    const double begun_at = mw__clock_seconds();
    for (unsigned looks = 0; !done; looks++) {
        MW_TRY(mw__reduction_advance(r, &done, err));
        if (!done)
            mw__communicator_pause(looks);
    }
    r->communicator->counters.seconds_waited += mw__clock_seconds() - begun_at;
    memcpy(data, r->data, size);
    return MW_OK;
}

mw_status mw__ranks_allreduce(mw_communicator *c, void *data, size_t count, mw_dtype dtype, mw_error *err)
{
    enum { PIECE = 1 << 22 }; /* elements */
    const size_t bytes = (size_t)mw_dtype_bits(dtype) / 8, piece = count < PIECE ? count : PIECE;
    if (c->transport.size == 1 || count == 0)
        return MW_OK;
    mw__rank_sum r;
    mw_status status = mw__reduction_init(&r, c, dtype, dtype, piece, err);
    for (size_t first = 0; status == MW_OK && first < count; first += piece) {
        const size_t length = count - first < piece ? count - first : piece;
        status = reduce_piece(&r, (char *)data + first * bytes, length * bytes, length, err);
    }
    status = mw__communicator_end(c, status, err); /* what is half done may go on while the others are told */
    mw__reduction_deinit(&r);
    return status;
}
