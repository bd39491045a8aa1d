/* Messages under way: begun, looked at, waited for. Here it is found out that a rank ended or does not answer. */
#include "base/clock.h"
#include "runtime/parallel/communicator.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define LEAVING_SECONDS 2.0
/* Who misses several ranks waits longer, for the word of one of them that misses only the one that is gone. */
#define PATIENCE 1.2

/* Ranks may be more than processors: whoever waits looks a few times, then sleeps. Giving way (sched_yield) would be
 * worse: where all processors compute, Linux makes who did it wait for a slice of milliseconds each time. */
void mw__communicator_pause(unsigned look)
{
    enum { LOOKS = 20, SHORT = 400 };
    struct timespec nap = {.tv_nsec = look < SHORT ? 20000 : 200000};
    if (look >= LOOKS)
        nanosleep(&nap, NULL);
}

mw_status mw__exchange_init(mw__exchange *x, const mw_communicator *c, size_t capacity, mw_error *err)
{
    *x = (mw__exchange){.messages = mw__alloc(c->allocator, capacity, sizeof *x->messages, err), .capacity = capacity};
    return x->messages != NULL ? MW_OK : MW_ERROR_MEMORY;
}

void mw__exchange_cancel(mw__exchange *x, mw_communicator *c)
{
    for (size_t i = 0; i < x->count; i++)
        if (x->messages[i].request != NULL)
            c->transport.cancel(c->transport.user, x->messages[i].request);
    mw__exchange_reset(x);
}

void mw__exchange_deinit(mw__exchange *x, mw_communicator *c)
{
    mw__exchange_cancel(x, c);
    mw__free(c->allocator, x->messages);
    *x = (mw__exchange){0};
}

void mw__exchange_reset(mw__exchange *x)
{
    x->count = x->open = 0;
    x->left = 0.0;
}

static mw__message *add_message(mw__exchange *x, int peer, bool receives, size_t size)
{
    mw__message *message = &x->messages[x->count++];
    *message = (mw__message){.peer = peer, .receives = receives, .size = size};
    x->open++;
    x->since = mw__clock_seconds();
    return message;
}

/* What could not be begun is not there. */
static mw_status begun(mw__exchange *x, mw_status status)
{
    if (status == MW_OK)
        return MW_OK;
    x->count--;
    x->open--;
    return status;
}

mw_status mw__exchange_send(mw__exchange *x, mw_communicator *c, int to, int tag, const void *data, size_t size,
                            mw_error *err)
{
    mw__message *message = add_message(x, to, false, size);
    c->counters.messages_sent++;
    c->counters.bytes_sent += size;
    return begun(x, c->transport.send(c->transport.user, to, tag, data, size, &message->request, err));
}

mw_status mw__exchange_receive(mw__exchange *x, mw_communicator *c, int from, int tag, void *data, size_t size,
                               mw_error *err)
{
    mw__message *message = add_message(x, from, true, size);
    return begun(x, c->transport.receive(c->transport.user, from, tag, data, size, &message->request, err));
}

static mw_status look(mw__exchange *x, mw_communicator *c, mw__message *message, mw_error *err)
{
    bool done = false;
    size_t size = message->size;
    MW_TRY(c->transport.test(c->transport.user, message->request, &done, &size, err));
    if (!done)
        return MW_OK;
    message->request = NULL;
    x->open--;
    x->since = mw__clock_seconds();
    if (message->receives)
        c->counters.bytes_received += size;
    if (!message->receives || size == message->size || x == &c->awaited)
        return MW_OK;
    return mw__fail(
        err, MW_ERROR_COMMUNICATION,
        "rank %d sent %zu bytes where rank %d expects %zu: the ranks do not make the same calls in the same "
        "order",
        message->peer, size, c->transport.rank, message->size);
}

static mw_status look_at_all(mw__exchange *x, mw_communicator *c, mw_error *err)
{
    for (size_t i = 0; i < x->count; i++)
        if (x->messages[i].request != NULL)
            MW_TRY(look(x, c, &x->messages[i], err));
    return MW_OK;
}

static bool waits_for(const mw__exchange *x, int peer)
{
    for (size_t i = 0; i < x->count; i++)
        if (x->messages[i].request != NULL && x->messages[i].peer == peer)
            return true;
    return false;
}

/* What a rank sent before it left may still be on its way. */
static bool has_time_left(mw__exchange *x, int peer)
{
    const double now = mw__clock_seconds();
    if (!waits_for(x, peer))
        return true;
    if (x->left == 0.0)
        x->left = now;
    return now - x->left < LEAVING_SECONDS;
}

/* Whether a rank has told that it goes. */
static mw_status look_at_notices(mw__exchange *x, mw_communicator *c, mw_error *err)
{
    MW_TRY(look_at_all(&c->awaited, c, err));
    for (size_t i = 0; i < c->awaited.count; i++) {
        const mw__message *message = &c->awaited.messages[i];
        mw__notice *notice = &c->notices[message->peer];
        if (message->request != NULL || (notice->left && has_time_left(x, message->peer)))
            continue;
        notice->text[MW__NOTICE_TEXT - 1] = '\0';
        c->heard = notice;
        return mw__fail(err, MW_ERROR_COMMUNICATION, "rank %d: %s", (int)notice->origin, notice->text);
    }
    return MW_OK;
}

/* "1, 3"; returns how many. */
static size_t name_missing(const mw__exchange *x, char *out, size_t size)
{
    size_t used = 0, named = 0;
    for (size_t i = 0; i < x->count && used + 16 < size; i++) {
        const mw__message *message = &x->messages[i];
        bool again = message->request == NULL;
        for (size_t k = 0; k < i && !again; k++)
            again = x->messages[k].request != NULL && x->messages[k].peer == message->peer;
        if (!again)
            used += (size_t)snprintf(out + used, size - used, "%s%d", named++ > 0 ? ", " : "", message->peer);
    }
    return named;
}

static mw_status check_time(const mw__exchange *x, const mw_communicator *c, mw_error *err)
{
    char ranks[120] = "";
    const double waited = mw__clock_seconds() - x->since;
    if (waited <= c->timeout)
        return MW_OK;
    const size_t missing = name_missing(x, ranks, sizeof ranks);
    if (missing > 1 && waited <= c->timeout * PATIENCE)
        return MW_OK;
    return mw__fail(
        err, MW_ERROR_COMMUNICATION,
        "rank %d waits for rank%s %s, which %s not answered for %g seconds: it died, hangs, or needs longer "
        "(mw_communicator_set_timeout)",
        c->transport.rank, missing > 1 ? "s" : "", ranks, missing > 1 ? "have" : "has", c->timeout);
}

mw_status mw__exchange_advance(mw__exchange *x, mw_communicator *c, bool *out_done, mw_error *err)
{
    *out_done = false;
    MW_TRY(look_at_all(x, c, err));
    *out_done = x->open == 0;
    if (*out_done)
        return MW_OK;
    MW_TRY(look_at_notices(x, c, err));
    return check_time(x, c, err);
}

mw_status mw__exchange_wait(mw__exchange *x, mw_communicator *c, mw_error *err)
{
    const double begun_at = mw__clock_seconds();
    mw_status status = MW_OK;
    bool done = false;
    for (unsigned looks = 0; status == MW_OK && !done; looks++) {
        status = mw__exchange_advance(x, c, &done, err);
        if (!done)
            mw__communicator_pause(looks);
    }
    c->counters.seconds_waited += mw__clock_seconds() - begun_at;
    return status;
}
