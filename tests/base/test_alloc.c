/* The heap door, the arena and the growing text, also under an allocator that fails. */
#include "base/memory/alloc.h"
#include "base/text/text.h"
#include "support/check.h"
#include "support/failing.h"

#include <stdio.h>
#include <stdlib.h>
#if defined(__linux__)
#include <sys/mman.h>
#endif

/* Hands out memory full of junk, so that a test of zero filling can fail. */
static void *junk_resize(void *user, void *pointer, size_t size)
{
    (void)user;
    if (size == 0) {
        free(pointer);
        return NULL;
    }
    void *grown = realloc(pointer, size);
    if (pointer == NULL && grown != NULL)
        memset(grown, 0xa5, size);
    return grown;
}

static const mw_allocator junk = {.resize = junk_resize};

static bool all_zero(const void *data, size_t size)
{
    const char *bytes = data;
    for (size_t i = 0; i < size; i++) {
        if (bytes[i] != 0)
            return false;
    }
    return true;
}

static void test_alloc_fills_with_zero(void)
{
    const mw_allocator *allocators[] = {NULL, &junk};
    for (int i = 0; i < 2; i++) {
        mw_error err = {0};
        char *block = mw__alloc(allocators[i], 100, 7, &err);
        CHECK(block != NULL && all_zero(block, 700));
        mw__free(allocators[i], block);
        char *aligned = mw__alloc_aligned(allocators[i], 1000, 256, &err);
        CHECK(aligned != NULL && all_zero(aligned, 1000));
        CHECK_INT((uintptr_t)aligned % 256, 0);
        mw__free_aligned(allocators[i], aligned);
        CHECK_OK(err);
    }
    mw__free(NULL, NULL);
    mw__free_aligned(NULL, NULL);
}

#if defined(MADV_HUGEPAGE)
enum { LARGE = 64 << 20 };

/* Whether the mapping of an address is marked for large pages. */
static bool is_marked(const void *address)
{
    FILE *maps = fopen("/proc/self/smaps", "r");
    char line[512];
    bool inside = false, marked = false;
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
        unsigned long begin, end;
        if (sscanf(line, "%lx-%lx ", &begin, &end) == 2)
            inside = (uintptr_t)address >= begin && (uintptr_t)address < end;
        else if (inside && strncmp(line, "VmFlags:", 8) == 0)
            marked = strstr(line, " hg") != NULL;
    }
    if (maps != NULL)
        fclose(maps);
    return marked;
}

static bool marks_show(void)
{
    void *memory = mmap(NULL, LARGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const bool shown = memory != MAP_FAILED && madvise(memory, LARGE, MADV_HUGEPAGE) == 0 && is_marked(memory);
    if (memory != MAP_FAILED)
        munmap(memory, LARGE);
    return shown;
}

static void *mapped_resize(void *user, void *pointer, size_t size)
{
    if (size == 0) {
        munmap(pointer, *(size_t *)user);
        return NULL;
    }
    *(size_t *)user = size;
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory != MAP_FAILED ? memory : NULL;
}

static void test_large_blocks_ask_for_large_pages(void)
{
    size_t size;
    mw_error err = {0};
    const mw_allocator own = {.resize = mapped_resize, .user = &size};
    if (!marks_show())
        SKIP("the kernel shows no large pages");
    char *block = mw__alloc_large(NULL, LARGE, &err), *other = mw__alloc_large(&own, LARGE, &err);
    CHECK(block != NULL && is_marked(block + LARGE / 2));
    CHECK(other != NULL && !is_marked(other + LARGE / 2));
    mw__free_aligned(NULL, block);
    mw__free_aligned(&own, other);
}
#else
static void test_large_blocks_ask_for_large_pages(void) { SKIP("a system without them"); }
#endif

static void test_alloc_of_nothing_is_not_a_failure(void)
{
    mw_error err = {0};
    void *block = mw__alloc(NULL, 0, 8, &err);
    CHECK(block != NULL);
    block = mw__resize(NULL, block, 8, 0, &err);
    CHECK(block != NULL);
    mw__free(NULL, block);
    CHECK_OK(err);
}

static void test_alloc_refuses_a_product_that_overflows(void)
{
    mw_error err = {0};
    CHECK(mw__alloc(NULL, SIZE_MAX / 2, 3, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_MEMORY, "out of memory");
    char *block = mw__alloc(NULL, 1, 1, NULL);
    err = (mw_error){0};
    CHECK(mw__resize(NULL, block, SIZE_MAX, 2, &err) == NULL);
    CHECK_INT(err.status, MW_ERROR_MEMORY);
    CHECK(mw__alloc_aligned(NULL, SIZE_MAX - 8, 64, NULL) == NULL);
    mw__free(NULL, block);
}

static void test_aligned_goes_through_the_allocator(void)
{
    failing_allocator failing = {.fail_at = -1};
    const mw_allocator allocator = failing_allocator_of(&failing);
    for (size_t alignment = 1; alignment <= 16384; alignment *= 2) {
        char *block = mw__alloc_aligned(&allocator, 33, alignment, NULL);
        REQUIRE(block != NULL);
        CHECK_INT((uintptr_t)block % alignment, 0);
        memset(block, 1, 33);
        mw__free_aligned(&allocator, block);
    }
    CHECK_INT(failing.live, 0);
    CHECK(failing.requests > 0);
}

static void test_grow_keeps_what_is_there(void)
{
    int *items = NULL;
    size_t capacity = 0;
    for (size_t i = 0; i < 1000; i++) {
        REQUIRE(mw__grow(NULL, &items, &capacity, i + 1, sizeof *items, NULL) == MW_OK);
        REQUIRE(capacity > i);
        items[i] = (int)i;
    }
    CHECK_INT(items[0], 0);
    CHECK_INT(items[999], 999);
    CHECK(capacity < 3000);
    mw__free(NULL, items);
}

static void test_grow_that_fails_leaves_the_array(void)
{
    failing_allocator failing = {.fail_at = 1};
    const mw_allocator allocator = failing_allocator_of(&failing);
    int *items = NULL;
    size_t capacity = 0;
    mw_error err = {0};
    CHECK(mw__grow(&allocator, &items, &capacity, 1, sizeof *items, &err) == MW_OK);
    int *before = items;
    const size_t capacity_before = capacity;
    CHECK(mw__grow(&allocator, &items, &capacity, 100, sizeof *items, &err) == MW_ERROR_MEMORY);
    CHECK(items == before && capacity == capacity_before);
    CHECK(mw__grow(&allocator, &items, &capacity, SIZE_MAX / 2, sizeof *items, NULL) == MW_ERROR_MEMORY);
    mw__free(&allocator, items);
    CHECK_INT(failing.live, 0);
}

static void test_arena_blocks_are_zero_aligned_and_apart(void)
{
    enum { COUNT = 600 };
    static unsigned char *blocks[COUNT];
    mw__arena arena;
    mw__arena_init(&arena, &junk);
    for (int i = 0; i < COUNT; i++) {
        const size_t size = (size_t)(i * 37 % 900) + (i % 50 == 0 ? 20000 : 0);
        blocks[i] = mw__arena_alloc(&arena, size, 1, NULL);
        REQUIRE(blocks[i] != NULL);
        CHECK(all_zero(blocks[i], size));
        CHECK_INT((uintptr_t)blocks[i] % (size >= 512 ? 64 : 16), 0);
        memset(blocks[i], i & 0xff, size);
    }
    for (int i = 0; i < COUNT; i++) {
        const size_t size = (size_t)(i * 37 % 900) + (i % 50 == 0 ? 20000 : 0);
        for (size_t k = 0; k < size; k++)
            REQUIRE(blocks[i][k] == (i & 0xff));
    }
    mw__arena_deinit(&arena);
    CHECK(arena.block == NULL);
}

static void test_arena_refuses_overflow(void)
{
    mw__arena arena;
    mw__arena_init(&arena, NULL);
    mw_error err = {0};
    CHECK(mw__arena_alloc(&arena, SIZE_MAX, 2, &err) == NULL);
    CHECK_INT(err.status, MW_ERROR_MEMORY);
    CHECK(mw__arena_alloc(&arena, SIZE_MAX - 16, 1, NULL) == NULL);
    CHECK(mw__arena_string(&arena, "x", SIZE_MAX, NULL) == NULL);
    mw__arena_deinit(&arena);
}

static bool fill_arena(const mw_allocator *allocator, mw_error *err)
{
    mw__arena arena;
    mw__arena_init(&arena, allocator);
    bool good = true;
    for (int i = 0; good && i < 40; i++)
        good = mw__arena_alloc(&arena, i % 7 == 0 ? 30000 : 2000, 1, err) != NULL;
    const char *copy = good ? mw__arena_string(&arena, "name!", 4, err) : NULL;
    good = copy != NULL && strcmp(copy, "name") == 0;
    mw__arena_deinit(&arena);
    return good;
}

static void test_arena_survives_every_failed_allocation(void)
{
    for (long n = 0;; n++) {
        failing_allocator failing = {.fail_at = n};
        const mw_allocator allocator = failing_allocator_of(&failing);
        mw_error err = {0};
        const bool good = fill_arena(&allocator, &err);
        CHECK_INT(failing.live, 0);
        CHECK_INT(err.status, failing.failed ? MW_ERROR_MEMORY : MW_OK);
        REQUIRE(good == !failing.failed);
        if (good)
            break;
    }
}

static void test_text_grows(void)
{
    mw__text text;
    mw__text_init(&text, NULL);
    for (int i = 0; i < 100; i++)
        mw__text_printf(&text, "%d,", i);
    mw__text_append(&text, "abc", 2);
    mw__text_puts(&text, "");
    CHECK_INT(mw__text_check(&text, NULL), MW_OK);
    CHECK_INT(text.size, 10 * 2 + 90 * 3 + 2);
    CHECK_INT(strlen(text.data), text.size);
    CHECK_STR(text.data + text.size - 5, "99,ab");
    mw__text_deinit(&text);
    CHECK(text.data == NULL);
}

static void test_text_failure_sticks(void)
{
    for (long n = 0; n < 8; n++) {
        failing_allocator failing = {.fail_at = n};
        const mw_allocator allocator = failing_allocator_of(&failing);
        mw__text text;
        mw__text_init(&text, &allocator);
        for (int i = 0; i < 100; i++)
            mw__text_printf(&text, "line %d\n", i);
        mw_error err = {0};
        CHECK_INT(mw__text_check(&text, &err), failing.failed ? MW_ERROR_MEMORY : MW_OK);
        CHECK_INT(err.status, failing.failed ? MW_ERROR_MEMORY : MW_OK);
        mw__text_deinit(&text);
        CHECK_INT(failing.live, 0);
    }
}

int main(void)
{
    RUN(test_alloc_fills_with_zero);
    RUN(test_large_blocks_ask_for_large_pages);
    RUN(test_alloc_of_nothing_is_not_a_failure);
    RUN(test_alloc_refuses_a_product_that_overflows);
    RUN(test_aligned_goes_through_the_allocator);
    RUN(test_grow_keeps_what_is_there);
    RUN(test_grow_that_fails_leaves_the_array);
    RUN(test_arena_blocks_are_zero_aligned_and_apart);
    RUN(test_arena_refuses_overflow);
    RUN(test_arena_survives_every_failed_allocation);
    RUN(test_text_grows);
    RUN(test_text_failure_sticks);
    return check_finish();
}
