/* Names that were made to fall into one bucket of a map. */
#include "base/hash.h"
#include "base/map.h"
#include "support/check.h"

#include <stdint.h>
#include <time.h>

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

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* The least of a few times to put all names into a map and to find them. */
static double time_map(char names[NAMES][SIZE])
{
    static char value;
    double least = 1e9;
    for (int again = 0; again < 5; again++) {
        mw__map map;
        mw_error err = {0};
        const double begin = seconds();
        mw__map_init(&map, NULL);
        for (int i = 0; i < NAMES; i++)
            mw__map_set(&map, names[i], &value, &err);
        for (int i = 0; i < NAMES; i++)
            CHECK(mw__map_get(&map, names[i]) == &value);
        CHECK_INT(mw__map_count(&map), NAMES);
        mw__map_deinit(&map);
        CHECK_OK(err);
        const double took = seconds() - begin;
        least = took < least ? took : least;
    }
    return least;
}

/* In one bucket each name is compared with all before it: 6000 of them take some 80 times as long. */
static void test_names_made_to_collide_take_no_longer(void)
{
    find_colliding_names();
    const double apart = time_map(ordinary), together = time_map(collide);
    check_note(together < 8 * apart, __FILE__, __LINE__, "%g s, where other names take %g s", together, apart);
}

int main(void)
{
    RUN(test_names_made_to_collide_take_no_longer);
    return check_finish();
}
