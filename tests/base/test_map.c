/* The string map, also under an allocator that fails. */
#include "base/memory/map.h"
#include "base/number/hash.h"
#include "support/check.h"
#include "support/failing.h"

enum { MANY = 5000 };

static int values[MANY];

static const char *name_of(int i, char out[32])
{
    snprintf(out, 32, "layer_%d_weight", i);
    return out;
}

static void test_map_finds_what_was_set(void)
{
    mw__map map;
    mw__map_init(&map, NULL);
    char name[32];
    CHECK(mw__map_get(&map, "x") == NULL);
    CHECK_INT(mw__map_count(&map), 0);
    for (int i = 0; i < MANY; i++)
        REQUIRE(mw__map_set(&map, name_of(i, name), &values[i], NULL) == MW_OK);
    CHECK_INT(mw__map_count(&map), MANY);
    for (int i = 0; i < MANY; i++)
        CHECK(mw__map_get(&map, name_of(i, name)) == &values[i]);
    CHECK(mw__map_get(&map, "layer_5000_weight") == NULL);
    CHECK(mw__map_get(&map, "") == NULL);
    mw__map_deinit(&map);
    CHECK(mw__map_get(&map, "layer_1_weight") == NULL);
    mw__map_deinit(&map);
}

static void test_map_replaces(void)
{
    mw__map map;
    mw__map_init(&map, NULL);
    CHECK(mw__map_set(&map, "a", &values[0], NULL) == MW_OK);
    CHECK(mw__map_set(&map, "a", &values[1], NULL) == MW_OK);
    CHECK_INT(mw__map_count(&map), 1);
    CHECK(mw__map_get(&map, "a") == &values[1]);
    mw__map_deinit(&map);
}

static void test_map_keys_are_copied_and_counted(void)
{
    mw__map map;
    mw__map_init(&map, NULL);
    char key[] = "abcdef";
    CHECK(mw__map_set_n(&map, key, 3, &values[0], NULL) == MW_OK);
    CHECK(mw__map_set_n(&map, "a\0c", 3, &values[1], NULL) == MW_OK);
    CHECK(mw__map_set_n(&map, "", 0, &values[2], NULL) == MW_OK);
    memset(key, 'z', 6);
    CHECK(mw__map_get(&map, "abc") == &values[0]);
    CHECK(mw__map_get_n(&map, "a\0c", 3) == &values[1]);
    CHECK(mw__map_get_n(&map, "a\0d", 3) == NULL);
    CHECK(mw__map_get(&map, "") == &values[2]);
    CHECK(mw__map_get(&map, "a") == NULL);
    mw__map_deinit(&map);
}

/* Fills up to `count` names; those that were set before a failure must still be found, the refused one must not. */
static bool fill(const mw_allocator *allocator, int count, mw_error *err)
{
    mw__map map;
    mw__map_init(&map, allocator);
    char name[32];
    int done = 0;
    while (done < count && mw__map_set(&map, name_of(done, name), &values[done], err) == MW_OK)
        done++;
    CHECK_INT(mw__map_count(&map), done);
    for (int i = 0; i < done; i++)
        CHECK(mw__map_get(&map, name_of(i, name)) == &values[i]);
    CHECK(mw__map_get(&map, name_of(done, name)) == NULL);
    if (done < count) { /* the next one succeeds: the map is as usable as before */
        CHECK(mw__map_set(&map, name_of(done, name), &values[done], NULL) == MW_OK);
        CHECK(mw__map_get(&map, name_of(done, name)) == &values[done]);
    }
    mw__map_deinit(&map);
    return done == count;
}

static void test_map_survives_every_failed_allocation(void)
{
    for (long n = 0;; n++) {
        failing_allocator failing = {.fail_at = n};
        const mw_allocator allocator = failing_allocator_of(&failing);
        mw_error err = {0};
        const bool good = fill(&allocator, 700, &err); /* enough for the table to grow */
        CHECK_INT(failing.live, 0);
        CHECK_INT(err.status, good ? MW_OK : MW_ERROR_MEMORY);
        REQUIRE(good == !failing.failed);
        if (good)
            break;
    }
}

/* Value from the XXH3 reference implementation's own sanity checks: the empty input with seed 0. */
static void test_hash_is_xxh3(void)
{
    CHECK(mw__hash64("", 0, 0) == 0x2d06800538d394c2u);
    CHECK(mw__hash64("a", 1, 0) != mw__hash64("a", 1, 1));
}

int main(void)
{
    RUN(test_map_finds_what_was_set);
    RUN(test_map_replaces);
    RUN(test_map_keys_are_copied_and_counted);
    RUN(test_map_survives_every_failed_allocation);
    RUN(test_hash_is_xxh3);
    return check_finish();
}
