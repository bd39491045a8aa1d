/* Process-wide and mutable, under one mutex: a list of libraries by bundle, those that are held, and digests of the
 * bundles that were compiled here. A library takes itself from the list before it goes. */
#include "engine/cache/shared.h"

#include <pthread.h>
#include <string.h>

enum { LISTED = 256, HELD = 4, NOTED = 1024, HELD_WEIGHTS = 64 << 20 };

static struct {
    pthread_mutex_t mutex;
    mw__library *listed[LISTED]; /* not retained */
    mw__library *held[HELD];     /* retained, newest first */
    char noted[NOTED][MW__DIGEST_HEX];
    size_t note_count; /* ever; the newest take the places of the oldest */
} shared = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static void forget(const mw__library *library)
{
    pthread_mutex_lock(&shared.mutex);
    for (size_t i = 0; i < LISTED; i++)
        if (shared.listed[i] == library)
            shared.listed[i] = NULL;
    pthread_mutex_unlock(&shared.mutex);
}

/* Moves the library to the front of what is held; returns what must be released, outside the mutex. */
static mw__library *hold(mw__library *library)
{
    size_t at = 0;
    while (at < HELD - 1 && shared.held[at] != library && shared.held[at] != NULL)
        at++;
    mw__library *out = shared.held[at];
    memmove(shared.held + 1, shared.held, at * sizeof *shared.held);
    shared.held[0] = library;
    if (out != library)
        mw__object_retain(library);
    return out != library ? out : NULL;
}

static bool is_held(const mw__library *library)
{
    for (size_t i = 0; i < HELD; i++)
        if (shared.held[i] == library)
            return true;
    return false;
}

mw__library *mw__cache_shared_find(const char *bundle)
{
    mw__library *found = NULL;
    pthread_mutex_lock(&shared.mutex);
    for (size_t i = 0; i < LISTED && found == NULL; i++)
        if (shared.listed[i] != NULL && strcmp(shared.listed[i]->bundle, bundle) == 0)
            found = mw__object_try_retain(shared.listed[i]);
    if (found != NULL && is_held(found))
        hold(found);
    pthread_mutex_unlock(&shared.mutex);
    return found;
}

/* A free place, or one whose library is found no more: it is alive and goes on. */
static void list(mw__library *library)
{
    static size_t next;
    size_t at = 0;
    while (at < LISTED && shared.listed[at] != NULL)
        at++;
    shared.listed[at < LISTED ? at : next++ % LISTED] = library;
}

void mw__cache_shared_add(mw__library *library, uint64_t weights)
{
    mw__library *out = NULL;
    const bool ours = library->object.allocator.resize == mw__allocator_default()->resize;
    library->forget = forget;
    pthread_mutex_lock(&shared.mutex);
    list(library);
    if (ours && weights <= HELD_WEIGHTS)
        out = hold(library);
    pthread_mutex_unlock(&shared.mutex);
    mw__object_release(out);
}

static bool is_below(const mw__library *library, const char *location)
{
    const size_t length = strlen(location);
    return strncmp(library->bundle, location, length) == 0 && library->bundle[length] == '/';
}

void mw__cache_shared_drop_inside(const char *location)
{
    mw__library *out[HELD] = {NULL};
    pthread_mutex_lock(&shared.mutex);
    for (size_t i = 0; i < LISTED; i++)
        if (shared.listed[i] != NULL && is_below(shared.listed[i], location))
            shared.listed[i] = NULL;
    for (size_t i = 0; i < HELD; i++)
        if (shared.held[i] != NULL && is_below(shared.held[i], location)) {
            out[i] = shared.held[i];
            shared.held[i] = NULL;
        }
    pthread_mutex_unlock(&shared.mutex);
    for (size_t i = 0; i < HELD; i++)
        mw__object_release(out[i]);
}

void mw__cache_shared_drop(void)
{
    mw__library *out[HELD];
    pthread_mutex_lock(&shared.mutex);
    memcpy(out, shared.held, sizeof out);
    memset(shared.held, 0, sizeof shared.held);
    pthread_mutex_unlock(&shared.mutex);
    for (size_t i = 0; i < HELD; i++)
        mw__object_release(out[i]);
}

/* ---- what was compiled here ---- */

static void digest_of(const char *bundle, char out[MW__DIGEST_HEX])
{
    mw__digest digest;
    mw__digest_begin(&digest);
    mw__digest_add(&digest, bundle, strlen(bundle));
    mw__digest_end(&digest, out);
}

static bool find_note(const char *name)
{
    const size_t count = shared.note_count < NOTED ? shared.note_count : NOTED;
    for (size_t i = 0; i < count; i++)
        if (strcmp(shared.noted[i], name) == 0)
            return true;
    return false;
}

void mw__cache_shared_note(const char *bundle)
{
    char name[MW__DIGEST_HEX];
    digest_of(bundle, name);
    pthread_mutex_lock(&shared.mutex);
    if (!find_note(name))
        memcpy(shared.noted[shared.note_count++ % NOTED], name, sizeof name);
    pthread_mutex_unlock(&shared.mutex);
}

bool mw__cache_shared_is_noted(const char *bundle)
{
    char name[MW__DIGEST_HEX];
    digest_of(bundle, name);
    pthread_mutex_lock(&shared.mutex);
    const bool found = find_note(name);
    pthread_mutex_unlock(&shared.mutex);
    return found;
}
