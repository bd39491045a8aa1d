/* A hash table of addresses with open addressing. Writers take the mutex; readers none, and try again if the table was
 * rebuilt under them. Process-wide and mutable, because addresses are; larger tables come from the C library's heap and
 * stay. */
#include "base/memory/live.h"

#include "base/memory/alloc.h"
#include "base/text/log.h"
#include "base/thread/fork.h"

#include <pthread.h>
#include <stdatomic.h>

enum { FIRST = 1024, KIND_BITS = 8, OF_PARENT = 1 << (KIND_BITS - 1) };
#define GONE ((uint64_t)(1 << KIND_BITS) - 1) /* where an entry was: a search goes on behind it */

typedef struct table {
    _Atomic(uint64_t) *slots; /* address and kind; 0 = free */
    size_t capacity;          /* a power of two */
    struct table *smaller;    /* a reader may still be in it */
} table;

static _Atomic(uint64_t) first_slots[FIRST];
static table first = {first_slots, FIRST, NULL};
static _Atomic(table *) current = &first;
static atomic_uint rebuilds; /* odd while one is under way */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static size_t live, used; /* used: with those that are gone */

/* The address goes up by the bits of the kind: its own highest ones are the same for all memory of a process. */
static uint64_t entry_of(const void *object, mw__live_kind kind)
{
    return (uint64_t)(uintptr_t)object << KIND_BITS | (uint64_t)kind;
}

static size_t place_of(const table *t, uint64_t entry)
{
    const uint64_t mixed = (uint64_t)(entry >> KIND_BITS) * UINT64_C(0x9e3779b97f4a7c15);
    return (size_t)(mixed >> 32) & (t->capacity - 1);
}

/* The slot of the entry, or NULL. A table always has a free slot. */
static _Atomic(uint64_t) *find(const table *t, uint64_t entry)
{
    for (size_t i = place_of(t, entry);; i = (i + 1) & (t->capacity - 1)) {
        const uint64_t found = atomic_load_explicit(&t->slots[i], memory_order_acquire);
        if (found == entry)
            return &t->slots[i];
        if (found == 0)
            return NULL;
    }
}

static void insert(const table *t, uint64_t entry)
{
    size_t i = place_of(t, entry);
    while (atomic_load_explicit(&t->slots[i], memory_order_relaxed) != 0)
        i = (i + 1) & (t->capacity - 1);
    atomic_store_explicit(&t->slots[i], entry, memory_order_release);
}

static bool is_entry(uint64_t value) { return value != 0 && value != GONE; }

/* ---- making room, under the mutex ---- */

static mw_status grow(const table *old, mw_error *err)
{
    table *larger = mw__alloc(NULL, 1, sizeof *larger, err);
    if (larger == NULL)
        return MW_ERROR_MEMORY;
    *larger = (table){.capacity = 2 * old->capacity, .smaller = atomic_load(&current)};
    larger->slots = mw__alloc(NULL, larger->capacity, sizeof *larger->slots, err);
    if (larger->slots == NULL) {
        mw__free(NULL, larger);
        return MW_ERROR_MEMORY;
    }
    for (size_t i = 0; i < old->capacity; i++)
        if (is_entry(old->slots[i]))
            insert(larger, old->slots[i]);
    atomic_store_explicit(&current, larger, memory_order_release);
    return MW_OK;
}

/* Without what is gone. */
static mw_status rebuild(const table *t, mw_error *err)
{
    uint64_t *entries = mw__alloc(NULL, live, sizeof *entries, err);
    size_t count = 0;
    if (entries == NULL)
        return MW_ERROR_MEMORY;
    atomic_fetch_add(&rebuilds, 1);
    for (size_t i = 0; i < t->capacity; i++) {
        const uint64_t value = atomic_exchange(&t->slots[i], 0);
        if (is_entry(value))
            entries[count++] = value;
    }
    for (size_t i = 0; i < count; i++)
        insert(t, entries[i]);
    atomic_fetch_add(&rebuilds, 1);
    mw__free(NULL, entries);
    return MW_OK;
}

static mw_status make_room(mw_error *err)
{
    const table *t = atomic_load(&current);
    if (used + 1 < t->capacity / 4 * 3)
        return MW_OK;
    MW_TRY(live + 1 > t->capacity / 2 ? grow(t, err) : rebuild(t, err));
    used = live;
    return MW_OK;
}

/* ---- forks ---- */

/* What needs threads, a device or other ranks, which a child does not have. */
static bool ends_at_fork(unsigned kind)
{
    return kind == MW__LIVE_PROGRAM || kind == MW__LIVE_TRAINER || kind == MW__LIVE_MODEL ||
           kind == MW__LIVE_PREDICTOR || kind == MW__LIVE_COMMUNICATOR;
}

static void lock_table(void) { pthread_mutex_lock(&mutex); }

static void unlock_table(void) { pthread_mutex_unlock(&mutex); }

/* In the child, where this thread is the only one. */
static void mark_entries(void)
{
    const table *t = atomic_load(&current);
    for (size_t i = 0; i < t->capacity; i++) {
        const uint64_t entry = atomic_load(&t->slots[i]);
        if (is_entry(entry) && ends_at_fork(entry & (OF_PARENT - 1)))
            atomic_store(&t->slots[i], entry | OF_PARENT);
    }
    unlock_table();
}

static void watch_forks(void) { mw__fork_watch(lock_table, unlock_table, mark_entries); }

/* The slot of an entry of this process or of its parent, or NULL. */
static _Atomic(uint64_t) *find_any(const table *t, uint64_t entry)
{
    _Atomic(uint64_t) *slot = find(t, entry);
    return slot != NULL ? slot : find(t, entry | OF_PARENT);
}

/* ---- entering, asking, removing ---- */

mw_status mw__live_add(const void *object, mw__live_kind kind, mw_error *err)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (ends_at_fork(kind)) /* a library that has only made graphs can be unloaded */
        pthread_once(&once, watch_forks);
    pthread_mutex_lock(&mutex);
    const mw_status status = make_room(err);
    if (status == MW_OK) {
        insert(atomic_load(&current), entry_of(object, kind));
        live++;
        used++;
    }
    pthread_mutex_unlock(&mutex);
    return status;
}

void *mw__live_make(const mw_allocator *allocator, size_t size, mw__live_kind kind, mw_error *err)
{
    void *object = mw__alloc(allocator, 1, size, err);
    if (object == NULL || mw__live_add(object, kind, err) == MW_OK)
        return object;
    mw__free(allocator, object);
    return NULL;
}

bool mw__live_has(const void *object, mw__live_kind kind)
{
    while (object != NULL) {
        const unsigned before = atomic_load_explicit(&rebuilds, memory_order_acquire);
        if (find(atomic_load_explicit(&current, memory_order_acquire), entry_of(object, kind)) != NULL)
            return true;
        if (before % 2 == 0 && atomic_load_explicit(&rebuilds, memory_order_acquire) == before)
            return false;
    }
    return false;
}

static const char *const words[] = {[MW__LIVE_GRAPH] = "graph",
                                    [MW__LIVE_PROGRAM] = "program",
                                    [MW__LIVE_TRAINER] = "trainer",
                                    [MW__LIVE_PLAN] = "plan",
                                    [MW__LIVE_LOADER] = "loader",
                                    [MW__LIVE_DATASET] = "data set",
                                    [MW__LIVE_CHIP_REPORT] = "report",
                                    [MW__LIVE_CHIP_PLAN] = "plan",
                                    [MW__LIVE_COMPARISON] = "comparison",
                                    [MW__LIVE_RANGES] = "report of ranges",
                                    [MW__LIVE_TENSORS] = "tensor file",
                                    [MW__LIVE_MODEL] = "model",
                                    [MW__LIVE_PREDICTOR] = "predictor",
                                    [MW__LIVE_HWX] = "hwx",
                                    [MW__LIVE_E5] = "descriptor",
                                    [MW__LIVE_COMMUNICATOR] = "communicator",
                                    [MW__LIVE_METRICS] = "stream of metrics",
                                    [MW__LIVE_SUMMARY] = "summary",
                                    [MW__LIVE_COREML] = "Core ML model",
                                    [MW__LIVE_TOKENIZER] = "tokenizer",
                                    [MW__LIVE_TOKEN_STREAM] = "stream of tokens",
                                    [MW__LIVE_TEXT_MODEL] = "text model",
                                    [MW__LIVE_SCORES] = "scores",
                                    [MW__LIVE_TEXT_DATA] = "text data",
                                    [MW__LIVE_TABLE_ENCODER] = "table encoder"};
_Static_assert(sizeof words / sizeof words[0] == MW__LIVE_KINDS, "each kind has its word");
_Static_assert((int)MW__LIVE_KINDS < (int)OF_PARENT, "a kind is no mark of what is gone");

mw_status mw__live_check(const void *object, mw__live_kind kind, const char *call, mw_error *err)
{
    if (mw__live_has(object, kind))
        return MW_OK;
    if (find_any(atomic_load(&current), entry_of(object, kind)) != NULL)
        return mw__fail(err, MW_ERROR_STATE,
                        "%s: the %s was made before this process was forked, and a child can only destroy it: fork "
                        "first, then make it",
                        call, words[kind]);
    return mw__fail(err, MW_ERROR_STATE, "%s: the %s was destroyed before, or never was one", call, words[kind]);
}

bool mw__live_remove(const void *object, mw__live_kind kind, const char *call)
{
    pthread_mutex_lock(&mutex);
    _Atomic(uint64_t) *slot = find_any(atomic_load(&current), entry_of(object, kind));
    if (slot != NULL) {
        atomic_store_explicit(slot, GONE, memory_order_release);
        live--;
    }
    pthread_mutex_unlock(&mutex);
    if (slot == NULL)
        mw__log(MW_LOG_ERROR, "%s: the %s was destroyed before, or never was one: nothing is done", call, words[kind]);
    return slot != NULL;
}
