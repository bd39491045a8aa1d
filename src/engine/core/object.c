/* Handles, counted objects, the process-wide allocator and the mark of a forked child. Process-wide and mutable here,
 * because handles are: the table of cells, its free list, the allocator. Cells beyond the first chunk come from the C
 * library's heap and stay; a mutex guards making and releasing, looking up takes none. */
#include "engine/core/object.h"

#include "base/thread/fork.h"

#include <pthread.h>

/* ---- objects ---- */

static mw_allocator current_allocator;
static atomic_bool forked;
static pthread_once_t fork_once = PTHREAD_ONCE_INIT;

void mw__engine_set_allocator(mw_allocator allocator) { current_allocator = allocator; }

const mw_allocator *mw__engine_allocator(void)
{
    return current_allocator.resize != NULL ? &current_allocator : mw__allocator_default();
}

static void in_child(void) { atomic_store(&forked, true); }

static void watch_forks(void) { mw__fork_watch(NULL, NULL, in_child); }

bool mw__engine_forked(void)
{
    pthread_once(&fork_once, watch_forks);
    return atomic_load_explicit(&forked, memory_order_relaxed);
}

void *mw__object_create(size_t size, void (*destroy)(mw__object *object), mw_error *err)
{
    const mw_allocator allocator = *mw__engine_allocator();
    mw__object *object = mw__alloc(&allocator, 1, size, err);
    if (object == NULL)
        return NULL;
    object->allocator = allocator;
    object->destroy = destroy;
    atomic_init(&object->references, 1);
    return object;
}

void *mw__object_retain(void *object)
{
    atomic_fetch_add_explicit(&((mw__object *)object)->references, 1, memory_order_relaxed);
    return object;
}

void *mw__object_try_retain(void *pointer)
{
    mw__object *object = pointer;
    int count = atomic_load_explicit(&object->references, memory_order_relaxed);
    while (count > 0)
        if (atomic_compare_exchange_weak_explicit(&object->references, &count, count + 1, memory_order_acquire,
                                                  memory_order_relaxed))
            return object;
    return NULL;
}

void mw__object_release(void *pointer)
{
    mw__object *object = pointer;
    if (object == NULL || atomic_fetch_sub_explicit(&object->references, 1, memory_order_acq_rel) > 1)
        return;
    if (object->destroy != NULL)
        object->destroy(object);
    const mw_allocator allocator = object->allocator;
    mw__free(&allocator, object);
}

/* ---- handles: bits 0..19 index, from 20 on generation; the highest is set, which no address of a process has ---- */

enum { INDEX_BITS = 20, FIRST_CHUNK = 256, CHUNKS = 12 };
static const uintptr_t index_mask = ((uintptr_t)1 << INDEX_BITS) - 1;
static const uintptr_t generation_mask = UINTPTR_MAX >> 1 >> INDEX_BITS;
static const uintptr_t mark = ~(UINTPTR_MAX >> 1);

/* 0, which no handle has, for what is none. */
static uint64_t generation_of(const void *handle)
{
    const uintptr_t value = (uintptr_t)handle;
    return (value & mark) != 0 ? (value & ~mark) >> INDEX_BITS : 0;
}

typedef struct cell {
    _Atomic(uint64_t) tag; /* generation << 8 | kind; kind 0 = free */
    mw__object *object;
    struct cell *next; /* free list */
    uint32_t index;
} cell;

/* Chunk c holds 256 << c cells: indices (256 << c) - 256 and up. */
static struct {
    pthread_mutex_t mutex;
    cell first[FIRST_CHUNK];
    _Atomic(cell *) chunks[CHUNKS];
    int chunk_count;
    cell *free;
} table = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static cell *find_cell(uintptr_t index)
{
    int chunk = 0;
    while (chunk < CHUNKS && index >= ((uintptr_t)FIRST_CHUNK << (chunk + 1)) - FIRST_CHUNK)
        chunk++;
    if (chunk == CHUNKS)
        return NULL;
    cell *cells = atomic_load_explicit(&table.chunks[chunk], memory_order_acquire);
    return cells != NULL ? cells + (index - (((uintptr_t)FIRST_CHUNK << chunk) - FIRST_CHUNK)) : NULL;
}

/* Under the mutex. */
static mw_status add_chunk(mw_error *err)
{
    if (table.chunk_count == CHUNKS)
        return mw__fail(err, MW_ERROR_MEMORY, "more than a million live e5rt handles: release what is not needed");
    const size_t count = (size_t)FIRST_CHUNK << table.chunk_count;
    cell *cells = table.chunk_count == 0 ? table.first : mw__alloc(NULL, count, sizeof *cells, err);
    if (cells == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = count; i-- > 0;) {
        cells[i].index = (uint32_t)(count - FIRST_CHUNK + i);
        cells[i].next = table.free;
        table.free = &cells[i];
    }
    atomic_store_explicit(&table.chunks[table.chunk_count++], cells, memory_order_release);
    return MW_OK;
}

mw_status mw__handle_create(mw__kind kind, void *object, void **out, mw_error *err)
{
    *out = NULL;
    pthread_mutex_lock(&table.mutex);
    mw_status status = table.free != NULL ? MW_OK : add_chunk(err);
    if (status == MW_OK) {
        cell *fresh = table.free;
        table.free = fresh->next;
        uint64_t generation = (atomic_load(&fresh->tag) >> 8) + 1;
        generation &= generation_mask;
        generation += generation == 0;
        fresh->object = object;
        atomic_store_explicit(&fresh->tag, generation << 8 | kind, memory_order_release);
        *out = (void *)(mark | (uintptr_t)generation << INDEX_BITS | fresh->index);
    }
    pthread_mutex_unlock(&table.mutex);
    if (status != MW_OK)
        mw__object_release(object);
    return status;
}

static cell *live_cell(const void *handle, mw__kind kind)
{
    cell *found = find_cell((uintptr_t)handle & index_mask);
    const uint64_t wanted = generation_of(handle) << 8 | kind;
    if (found == NULL || atomic_load_explicit(&found->tag, memory_order_acquire) != wanted)
        return NULL;
    return found;
}

bool mw__handle_is(const void *value)
{
    const cell *found = find_cell((uintptr_t)value & index_mask);
    const uint64_t tag = found != NULL ? atomic_load_explicit(&found->tag, memory_order_acquire) : 0;
    return (tag & 0xff) != MW__KIND_NONE && tag >> 8 == generation_of(value);
}

void *mw__handle_get(const void *handle, mw__kind kind, const char *name, mw_error *err)
{
    const cell *found = live_cell(handle, kind);
    if (found != NULL)
        return found->object;
    mw__fail(err, MW_ERROR_ARGUMENT, "Invalid Function Argument: %s is %s", name,
             handle == NULL ? "NULL" : "not a live handle of its kind");
    return NULL;
}

mw_status mw__handle_release(void **handle, mw__kind kind, mw_error *err)
{
    if (handle == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "Invalid Function Argument: the address of the handle is NULL");
    if (mw__handle_is(handle))
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "Invalid Function Argument: this is a handle; release takes its address, and clears it");
    cell *found = live_cell(*handle, kind);
    uint64_t wanted = generation_of(*handle) << 8 | kind;
    if (found == NULL || !atomic_compare_exchange_strong(&found->tag, &wanted, wanted & ~(uint64_t)0xff))
        return mw__fail(err, MW_ERROR_ARGUMENT, "Invalid Function Argument: the handle is %s",
                        *handle == NULL ? "NULL" : "not a live handle of its kind");
    *handle = NULL;
    mw__object *object = found->object;
    pthread_mutex_lock(&table.mutex);
    found->object = NULL;
    found->next = table.free;
    table.free = found;
    pthread_mutex_unlock(&table.mutex);
    mw__object_release(object);
    return MW_OK;
}
