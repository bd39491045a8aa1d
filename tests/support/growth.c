#include "growth.h"
#include "check.h"

#include <time.h>
#if defined(__GLIBC__)
#include <limits.h>
#include <malloc.h>
#endif

enum { RUNS = 3, TRIES = 4 };
/* Half way from four to sixteen: where the small size fits a cache, the large one takes up to seven times as long. */
static const double most = 8.0, clock_step = 0.001; /* s; below it a ratio says nothing */

double growth_seconds(void) { return (double)clock() / CLOCKS_PER_SEC; }

void growth_note(growth_times *t, const char *name, double begin)
{
    t->part[t->count] = growth_seconds() - begin;
    t->name[t->count++] = name;
}

static growth_times best_of(growth_measure *run, int n)
{
    growth_times best = run(n);
    for (int r = 1; r < RUNS; r++) {
        const growth_times again = run(n);
        for (int i = 0; i < best.count; i++)
            best.part[i] = again.part[i] < best.part[i] ? again.part[i] : best.part[i];
    }
    return best;
}

static double ratio(const growth_times *few, const growth_times *many, int i)
{
    return many->part[i] / (few->part[i] > clock_step ? few->part[i] : clock_step);
}

/* What was freed stays with the process: the best run is one whose memory is there already. Where pages are dear, as in
 * virtual machines, the large size would else pay for each of them in every run, and the small one for none. */
static void keep_memory(void)
{
#if defined(__GLIBC__)
    mallopt(M_MMAP_MAX, 0);
    mallopt(M_TRIM_THRESHOLD, INT_MAX);
    mallopt(M_TOP_PAD, 64 << 20);
#endif
}

void growth_check(growth_measure *run, int n)
{
    keep_memory();
    growth_times few = best_of(run, n), many = best_of(run, 4 * n);
    for (int again = 1; again < TRIES; again++) {
        bool good = true;
        for (int i = 0; i < few.count; i++)
            good = good && ratio(&few, &many, i) < most;
        if (good)
            break;
        few = best_of(run, n);
        many = best_of(run, 4 * n);
    }
    CHECK(few.count > 0 && few.count == many.count);
    for (int i = 0; i < few.count; i++)
        check_note(ratio(&few, &many, i) < most, __FILE__, __LINE__, "%s: %g s for %d, %g s for %d", few.name[i],
                   few.part[i], n, many.part[i], 4 * n);
}
