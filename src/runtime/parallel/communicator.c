/* Communicators: made from a transport, entered by one call at a time, ended by one rank for all. The public calls are
 * in src/ranks. */
#include "runtime/parallel/communicator.h"

#include "base/clock.h"
#include "base/memory/live.h"

#include <stdio.h>
#include <string.h>

#define TIMEOUT     30.0
#define NOTICE_TIME 1.0 /* seconds that a rank which ends takes to tell the others */

/* ---- making and freeing ---- */

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

mw_communicator *mw__communicator_create(const mw_transport *transport, const mw_allocator *allocator, mw_error *err)
{
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

void mw__communicator_free(mw_communicator *c, bool clean, const char *call)
{
    if (c != NULL && mw__live_remove(c, MW__LIVE_COMMUNICATOR, call))
        free_communicator(c, clean);
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

void mw__communicator_depart(mw_communicator *c)
{
    if (c->dead)
        return;
    c->own_notice = (mw__notice){.origin = c->transport.rank, .left = true, .text = "it left"};
    tell_all(c);
}

/* ---- calls ---- */

mw_status mw__communicator_check(const mw_communicator *c, const char *call, mw_error *err)
{
    if (c == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "%s: the communicator is NULL", call);
    MW_TRY(mw__live_check(c, MW__LIVE_COMMUNICATOR, call, err));
    if (!c->dead)
        return MW_OK;
    return mw__fail(err, MW_ERROR_STATE, "%s: the communicator is dead since: %.400s", call, c->reason.message);
}

mw_status mw__communicator_enter(mw__entry *entry, mw_communicator *c, const char *call, mw_error *err)
{
    *entry = (mw__entry){0};
    if (mw__failed(err)) {
        mw__skipped(err, call);
        return err->status;
    }
    MW_TRY(mw__communicator_check(c, call, err));
    return mw__guard_enter(entry, &c->guard, "communicator", call, MW__LENT_NEVER, err);
}

int mw__communicator_take_tags(mw_communicator *c)
{
    const int tag = c->tag;
    c->tag = (c->tag + 2) % MW__TAGS;
    return tag;
}

static bool lives(const mw_communicator *c) { return c != NULL && mw__live_has(c, MW__LIVE_COMMUNICATOR); }

int mw__communicator_rank(const mw_communicator *c) { return lives(c) ? c->transport.rank : 0; }
int mw__communicator_size(const mw_communicator *c) { return lives(c) ? c->transport.size : 1; }
