/* What decides whether steps share a loop, at the numbers where it changes its mind. */
#include "engine/compile/fuse/cost.h"
#include "support/check.h"

#include <math.h>

#define CACHE 262144.0

typedef struct decision {
    const char *what;
    mw__fuse_weights weights;
    mw__fuse_terms terms;
    bool pays;
} decision;

static const decision decisions[] = {
    {"nothing is gained", {CACHE, 16}, {.saved = CACHE - 4}, false},
    {"a tensor beyond the cache is read once less", {CACHE, 16}, {.saved = CACHE}, true},
    {"a small step stands in a group that it shares nothing with", {CACHE, 0}, {.spent = CACHE - 4, .fewer = 1}, true},
    {"a large one does", {CACHE, 0}, {.spent = CACHE, .fewer = 1}, false},
    {"a large one shares a tensor", {CACHE, 0}, {.saved = CACHE, .spent = CACHE, .fewer = 1}, true},
    {"a product waits, of factors of half its size",
     {1048576, 2},
     {.saved = 1048576, .held = 524288, .fewer = 1},
     true},
    {"a product waits, of larger factors", {1048576, 2}, {.saved = 1048576, .held = 524292, .fewer = 1}, false},
    {"a small product waits", {1048576, 2}, {.saved = 1048572, .held = 4, .fewer = 1}, false},
    {"sums a sixteenth as large", {CACHE, 16}, {.saved = CACHE, .held = CACHE / 16, .fewer = 1}, true},
    {"larger sums", {CACHE, 16}, {.saved = CACHE, .held = CACHE / 16 + 4, .fewer = 1}, false},
    {"a function as slow as storing and loading", {0, 0}, {.spared = 4, .again = 4, .fewer = 1}, true},
    {"a slower one", {0, 0}, {.spared = 4, .again = 6, .fewer = 1}, false},
    {"a kernel to whose results anything may be done", {0, 0}, {.spared = INFINITY, .again = 160, .fewer = 1}, true},
    {"few elements lie between steps", {CACHE, 16}, {.spared = 1020, .again = MW__FUSE_BEGINS}, false},
    {"more do", {CACHE, 16}, {.spared = 1028, .again = MW__FUSE_BEGINS}, true},
    {"a thread would be idle", {CACHE, 0}, {.saved = 1e9, .fewer = 9, .idle = true}, false},
};

static void test_each_decision_is_that_of_its_row(void)
{
    for (size_t i = 0; i < sizeof decisions / sizeof *decisions; i++) {
        const decision *d = &decisions[i];
        check_note(mw__fuse_pays(&d->weights, &d->terms) == d->pays, __FILE__, __LINE__, "%s: %s", d->what,
                   d->pays ? "it should pay" : "it should not pay");
    }
}

/* More saved, or less spent, never turns a join down that paid before. */
static void test_what_pays_still_pays_when_more_is_saved(void)
{
    for (size_t i = 0; i < sizeof decisions / sizeof *decisions; i++) {
        mw__fuse_terms better = decisions[i].terms;
        better.saved = 2 * better.saved + CACHE;
        better.spent /= 2, better.held /= 2, better.again /= 2;
        if (decisions[i].pays)
            CHECK(mw__fuse_pays(&decisions[i].weights, &better));
    }
}

int main(void)
{
    RUN(test_each_decision_is_that_of_its_row);
    RUN(test_what_pays_still_pays_when_more_is_saved);
    return check_finish();
}
