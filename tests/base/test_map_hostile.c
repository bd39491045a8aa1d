/* Names that were made to fall into one bucket of a map. */
#include "base/memory/map.h"
#include "base/number/hash.h"
#include "support/check.h"

#include <stdint.h>

enum { NAMES = 6000, BITS = 9, SIZE = 16 };

static char collide[NAMES][SIZE], ordinary[NAMES][SIZE];

/* Names whose hashes without a seed agree in the low bits, which choose the bucket. */
static void find_colliding_names(void)
{
    const uint64_t mask = ((uint64_t)1 << BITS) - 1;
    unsigned tried = 0;
    for (int found = 0; found < NAMES; tried++) {
        const int length = snprintf(collide[found], SIZE, "%08x", tried);
        found += (mw__hash64(collide[found], (size_t)length, 0) & mask) == 0;
    }
    for (int i = 0; i < NAMES; i++)
        snprintf(ordinary[i], SIZE, "%08x", (unsigned)i);
}

static size_t longest_chain(char names[NAMES][SIZE])
{
    static char value;
    mw__map map;
    mw_error err = {0};
    mw__map_init(&map, NULL);
    for (int i = 0; i < NAMES; i++)
        mw__map_set(&map, names[i], &value, &err);
    for (int i = 0; i < NAMES; i++)
        CHECK(mw__map_get(&map, names[i]) == &value);
    CHECK_INT(mw__map_count(&map), NAMES);
    const size_t longest = mw__map_longest_chain(&map);
    mw__map_deinit(&map);
    CHECK_OK(err);
    return longest;
}

/* In one bucket each name would be compared with all before it: a chain of some 6000 / (buckets / 2^9). Names at random
 * have chains of some 10. */
static void test_names_made_to_collide_have_short_chains(void)
{
    find_colliding_names();
    const size_t apart = longest_chain(ordinary), together = longest_chain(collide);
    check_note(apart < 64 && together < 64, __FILE__, __LINE__, "chains of %zu, and of %zu for other names", together,
               apart);
}

int main(void)
{
    RUN(test_names_made_to_collide_have_short_chains);
    return check_finish();
}
