/* Communicators of users: transports are checked, communicators made, ended and asked, and arguments of calls are
 * checked before the core (runtime/parallel) sends anything: a call that fails there ends the communicator. */
#include "runtime/parallel/communicator.h"

#include "base/memory/live.h"

#define TIMEOUT_MAX 86400.0

mw_transport mw_transport_defaults(const char *name, int rank, int size)
{
    return (mw_transport){.struct_size = sizeof(mw_transport), .name = name, .rank = rank, .size = size};
}

/* ---- making ---- */

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

static mw_communicator *make_communicator(const mw_transport *transport, const mw_allocator *allocator, mw_error *err)
{
    if (check_transport(transport, err) != MW_OK)
        return NULL;
    return mw__communicator_create(transport, mw__allocator_or_default(allocator), err);
}

mw_communicator *mw_communicator_create(const mw_transport *transport, const mw_allocator *allocator, mw_error *err)
{
    if (transport == NULL || transport->struct_size != sizeof *transport) {
        if (!mw__skips(err))
            mw__fail(err, MW_ERROR_ARGUMENT, "communicator: the transport must come from mw_transport_defaults");
        return NULL;
    }
    mw_communicator *c = mw__skips(err) ? NULL : make_communicator(transport, allocator, err);
    if (c == NULL && transport->finish != NULL)
        transport->finish(transport->user, false);
    return c;
}

/* ---- ending ---- */

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
    mw__communicator_free(communicator, status == MW_OK, __func__);
    return status;
}

static bool communicator_lives(const mw_communicator *c) { return mw__live_has(c, MW__LIVE_COMMUNICATOR); }

void mw_communicator_destroy(mw_communicator *communicator)
{
    if (!communicator_lives(communicator))
        return;
    mw__communicator_depart(communicator);
    mw__communicator_free(communicator, false, __func__);
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
    if (communicator_lives(communicator) && communicator->transport.abort != NULL)
        communicator->transport.abort(communicator->transport.user, code);
}

/* ---- settings and queries ---- */

mw_status mw_communicator_set_timeout(mw_communicator *communicator, double seconds, mw_error *err)
{
    mw__entry entry;
    MW_TRY(mw__communicator_enter(&entry, communicator, __func__, err));
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

mw_communicator_info mw_communicator_get_info(const mw_communicator *communicator)
{
    if (!communicator_lives(communicator))
        return (mw_communicator_info){.size = 1};
    mw_communicator_info info = communicator->counters;
    info.rank = communicator->transport.rank;
    info.size = communicator->transport.size;
    return info;
}

/* ---- what ranks do together ---- */

mw_status mw_communicator_barrier(mw_communicator *communicator, mw_error *err)
{
    mw__entry entry;
    MW_TRY(mw__communicator_enter(&entry, communicator, __func__, err));
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
    MW_TRY(mw__communicator_enter(&entry, communicator, __func__, err));
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
    MW_TRY(mw__communicator_enter(&entry, communicator, __func__, err));
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
    MW_TRY(mw__communicator_enter(&entry, communicator, __func__, err));
    mw_status status = check_data(data, count, __func__, err);
    if (status == MW_OK && dtype != MW_F32 && dtype != MW_F16 && dtype != MW_F64)
        status = mw__fail(err, MW_ERROR_DTYPE, "mw_communicator_allreduce: sums are of fp32, fp16 and fp64, not %s",
                          mw_dtype_name(dtype));
    if (status == MW_OK)
        status = mw__ranks_allreduce(communicator, data, count, dtype, err);
    mw__guard_leave(&entry);
    return status;
}
