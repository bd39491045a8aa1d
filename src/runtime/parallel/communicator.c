/* Communicators: made from a transport, ended by one rank for all, the public calls. */
#include "runtime/parallel/communicator.h"

#include "base/clock.h"
#include "base/memory/live.h"
#include "base/text/log.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define TIMEOUT     30.0
#define TIMEOUT_MAX 86400.0
#define NOTICE_TIME 1.0 /* seconds that a rank which ends takes to tell the others */

mw_transport mw_transport_defaults(const char *name, int rank, int size)
{
    return (mw_transport){.struct_size = sizeof(mw_transport), .name = name, .rank = rank, .size = size};
}

/* ---- making and freeing ---- */

static mw_status check_transport(const mw_transport *t, mw_error *err)
{
    const char *missing = t->name == NULL      ? "name"
                          : t->send == NULL    ? "send"
                          : t->receive == NULL ? "receive"
                          : t->test == NULL    ? "test"
                          : t->cancel == NULL  ? "cancel"
                                               : NULL;
    if (missing != NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "communicator: the transport has no %s", missing);
    if (t->size < 1 || t->size > MW_RANKS_MAX || t->rank < 0 || t->rank >= t->size)
        return mw__fail(err, MW_ERROR_ARGUMENT, "communicator: rank %d of %d; ranks are 0 to size - 1, at most %d",
                        t->rank, t->size, MW_RANKS_MAX);
    return MW_OK;
}

/* A receive for the notice of each other rank stands all the time. */
static mw_status await_notices(mw_communicator *c, mw_error *err)
{
    const size_t ranks = (size_t)c->transport.size;
    MW_TRY(mw__exchange_init(&c->exchange, c, 2 * ranks, err));
    MW_TRY(mw__exchange_init(&c->awaited, c, ranks, err));
    c->notices = mw__alloc(c->allocator, ranks, sizeof *c->notices, err);
    if (c->notices == NULL)
        return MW_ERROR_MEMORY;
    for (int from = 0; from < c->transport.size; from++)
        if (from != c->transport.rank)
            MW_TRY(
                mw__exchange_receive(&c->awaited, c, from, MW__TAG_NOTICE, &c->notices[from], sizeof *c->notices, err));
    return MW_OK;
}

static void free_communicator(mw_communicator *c, bool clean)
{
    mw__exchange_deinit(&c->exchange, c);
    mw__exchange_deinit(&c->awaited, c);
    if (c->transport.finish != NULL)
        c->transport.finish(c->transport.user, clean);
    mw__free(c->allocator, c->notices);
    mw__free(c->allocator, c);
}

static mw_communicator *make_communicator(const mw_transport *transport, const mw_allocator *allocator, mw_error *err)
{
    if (check_transport(transport, err) != MW_OK)
        return NULL;
    mw_communicator *c = mw__alloc(allocator, 1, sizeof *c, err);
    if (c == NULL)
        return NULL;
    c->allocator = allocator;
    c->transport = *transport;
    c->timeout = TIMEOUT;
    if (await_notices(c, err) == MW_OK && mw__live_add(c, MW__LIVE_COMMUNICATOR, err) == MW_OK)
        return c;
    c->transport.finish = NULL;
    free_communicator(c, false);
    return NULL;
}

mw_communicator *mw_communicator_create(const mw_transport *transport, const mw_allocator *allocator, mw_error *err)
{
    if (transport == NULL || transport->struct_size != sizeof *transport) {
        if (!mw__skips(err))
            mw__fail(err, MW_ERROR_ARGUMENT, "communicator: the transport must come from mw_transport_defaults");
        return NULL;
    }
    mw_communicator *c = mw__skips(err) ? NULL : make_communicator(transport, mw__allocator_or_default(allocator), err);
    if (c == NULL && transport->finish != NULL)
        transport->finish(transport->user, false);
    return c;
}

/* ---- ends ---- */

static void send_notices(mw_communicator *c)
{
    for (int to = 0; to < c->transport.size; to++)
        if (to != c->transport.rank &&
            mw__exchange_send(&c->exchange, c, to, MW__TAG_NOTICE, &c->own_notice, sizeof c->own_notice, NULL) != MW_OK)
            break;
}

/* Looks at what was sent; true if all of it is gone. */
static bool are_sent(mw_communicator *c)
{
    bool all = true;
    for (size_t i = 0; i < c->exchange.count; i++) {
        mw__message *message = &c->exchange.messages[i];
        size_t size;
        bool sent = message->request == NULL;
        if (!sent && c->transport.test(c->transport.user, message->request, &sent, &size, NULL) == MW_OK && sent)
            message->request = NULL;
        all = all && sent;
    }
    return all;
}

/* As far as it goes within a second: who does not take it finds out by the time. */
static void tell_all(mw_communicator *c)
{
    const double begun_at = mw__clock_seconds();
    mw__exchange_cancel(&c->exchange, c);
    send_notices(c);
    for (unsigned looks = 0; !are_sent(c) && mw__clock_seconds() - begun_at < NOTICE_TIME; looks++)
        mw__communicator_pause(looks);
    mw__exchange_cancel(&c->exchange, c);
}

/* Whoever ends because of another hands on why that one did. */
static void write_notice(mw_communicator *c, const mw_error *reason)
{
    if (c->heard != NULL)
        c->own_notice = *c->heard;
    else {
        c->own_notice.origin = c->transport.rank;
        snprintf(c->own_notice.text, sizeof c->own_notice.text, "%.*s", MW__NOTICE_TEXT - 1, reason->message);
    }
    c->own_notice.left = false;
}

mw_status mw__communicator_end(mw_communicator *c, mw_status status, mw_error *err)
{
    if (status == MW_OK || c->dead)
        return status;
    c->dead = true;
    if (err != NULL)
        c->reason = *err;
    else
        mw__fail(&c->reason, status, "%s", mw_status_name(status));
    write_notice(c, &c->reason);
    tell_all(c);
    return status;
}

mw_status mw__communicator_check(const mw_communicator *c, const char *call, mw_error *err)
{
    if (c == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "%s: the communicator is NULL", call);
    MW_TRY(mw__live_check(c, MW__LIVE_COMMUNICATOR, call, err));
    if (!c->dead)
        return MW_OK;
    return mw__fail(err, MW_ERROR_STATE, "%s: the communicator is dead since: %.400s", call, c->reason.message);
}

int mw__communicator_take_tags(mw_communicator *c)
{
    const int tag = c->tag;
    c->tag = (c->tag + 2) % MW__TAGS;
    return tag;
}

static mw_status wait_for_all(mw_communicator *c, mw_error *err)
{
    unsigned char own = 0, *all = mw__alloc(c->allocator, (size_t)c->transport.size, 1, err);
    const mw_status status =
        all != NULL ? mw__ranks_gather(c, &own, 1, all, err) : mw__communicator_end(c, MW_ERROR_MEMORY, err);
    mw__free(c->allocator, all);
    return status;
}

mw_status mw_communicator_finish(mw_communicator *communicator, mw_error *err)
{
    if (mw__skips(err)) {
        mw_communicator_destroy(communicator);
        return err->status;
    }
    mw_status status = mw__communicator_check(communicator, __func__, err);
    if (status == MW_OK)
        status = wait_for_all(communicator, err);
    if (communicator != NULL && mw__live_remove(communicator, MW__LIVE_COMMUNICATOR, __func__))
        free_communicator(communicator, status == MW_OK);
    return status;
}

void mw_communicator_destroy(mw_communicator *communicator)
{
    if (communicator == NULL || !mw__live_has(communicator, MW__LIVE_COMMUNICATOR))
        return;
    if (!communicator->dead) {
        communicator->own_notice =
            (mw__notice){.origin = communicator->transport.rank, .left = true, .text = "it left"};
        tell_all(communicator);
    }
    if (mw__live_remove(communicator, MW__LIVE_COMMUNICATOR, __func__))
        free_communicator(communicator, false);
}

void mw_communicator_fail(mw_communicator *communicator, const char *reason)
{
    mw_error err = {0};
    if (mw__communicator_check(communicator, __func__, &err) != MW_OK)
        return;
    mw__fail(&err, MW_ERROR_COMMUNICATION, "%.380s", reason != NULL ? reason : "it failed");
    mw__communicator_end(communicator, MW_ERROR_COMMUNICATION, &err);
}

void mw_communicator_abort(mw_communicator *communicator, int code)
{
    if (communicator != NULL && mw__live_has(communicator, MW__LIVE_COMMUNICATOR) &&
        communicator->transport.abort != NULL)
        communicator->transport.abort(communicator->transport.user, code);
}

/* ---- queries ---- */

static bool lives(const mw_communicator *c) { return c != NULL && mw__live_has(c, MW__LIVE_COMMUNICATOR); }

int mw__communicator_rank(const mw_communicator *c) { return lives(c) ? c->transport.rank : 0; }
int mw__communicator_size(const mw_communicator *c) { return lives(c) ? c->transport.size : 1; }

mw_communicator_info mw_communicator_get_info(const mw_communicator *communicator)
{
    mw_communicator_info info = lives(communicator) ? communicator->counters : (mw_communicator_info){0};
    info.rank = mw__communicator_rank(communicator);
    info.size = mw__communicator_size(communicator);
    return info;
}

/* ---- the calls ---- */

static mw_status enter_call(mw__entry *entry, mw_communicator *c, const char *call, mw_error *err)
{
    *entry = (mw__entry){0};
    if (mw__failed(err)) {
        mw__skipped(err, call);
        return err->status;
    }
    MW_TRY(mw__communicator_check(c, call, err));
    return mw__guard_enter(entry, &c->guard, "communicator", call, MW__LENT_NEVER, err);
}

mw_status mw_communicator_set_timeout(mw_communicator *communicator, double seconds, mw_error *err)
{
    mw__entry entry;
    MW_TRY(enter_call(&entry, communicator, __func__, err));
    mw_status status = MW_OK;
    if (seconds > 0.0 && seconds <= TIMEOUT_MAX)
        communicator->timeout = seconds;
    else
        status =
            mw__fail(err, MW_ERROR_ARGUMENT, "mw_communicator_set_timeout: %g seconds; it must be over 0, at most %g",
                     seconds, TIMEOUT_MAX);
    mw__guard_leave(&entry);
    return status;
}

mw_status mw_communicator_barrier(mw_communicator *communicator, mw_error *err)
{
    mw__entry entry;
    MW_TRY(enter_call(&entry, communicator, __func__, err));
    const mw_status status = wait_for_all(communicator, err);
    mw__guard_leave(&entry);
    return status;
}

static mw_status check_data(const void *data, size_t size, const char *call, mw_error *err)
{
    if (data != NULL || size == 0)
        return MW_OK;
    return mw__fail(err, MW_ERROR_ARGUMENT, "%s: the data is NULL", call);
}

mw_status mw_communicator_broadcast(mw_communicator *communicator, int root, void *data, size_t size, mw_error *err)
{
    mw__entry entry;
    MW_TRY(enter_call(&entry, communicator, __func__, err));
    mw_status status = check_data(data, size, __func__, err);
    if (status == MW_OK && (root < 0 || root >= communicator->transport.size))
        status = mw__fail(err, MW_ERROR_ARGUMENT, "mw_communicator_broadcast: root %d of %d ranks", root,
                          communicator->transport.size);
    if (status == MW_OK)
        status = mw__ranks_broadcast(communicator, root, data, size, err);
    mw__guard_leave(&entry);
    return status;
}

mw_status mw_communicator_gather(mw_communicator *communicator, const void *record, size_t size, void *out,
                                 mw_error *err)
{
    mw__entry entry;
    MW_TRY(enter_call(&entry, communicator, __func__, err));
    mw_status status = record == NULL || out == NULL ? check_data(NULL, 1, __func__, err) : MW_OK;
    if (status == MW_OK && (size == 0 || size > MW_MESSAGE_MAX))
        status = mw__fail(err, MW_ERROR_ARGUMENT, "mw_communicator_gather: a record of %zu bytes; 1 to %zu", size,
                          MW_MESSAGE_MAX);
    if (status == MW_OK)
        status = mw__ranks_gather(communicator, record, size, out, err);
    mw__guard_leave(&entry);
    return status;
}

mw_status mw_communicator_allreduce(mw_communicator *communicator, void *data, size_t count, mw_dtype dtype,
                                    mw_error *err)
{
    mw__entry entry;
    MW_TRY(enter_call(&entry, communicator, __func__, err));
    mw_status status = check_data(data, count, __func__, err);
    if (status == MW_OK && dtype != MW_F32 && dtype != MW_F16 && dtype != MW_F64)
        status = mw__fail(err, MW_ERROR_DTYPE, "mw_communicator_allreduce: sums are of fp32, fp16 and fp64, not %s",
                          mw_dtype_name(dtype));
    if (status == MW_OK)
        status = mw__ranks_allreduce(communicator, data, count, dtype, err);
    mw__guard_leave(&entry);
    return status;
}
