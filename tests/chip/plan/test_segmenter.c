/* Ways through costs against all ways: every placement of a few operations is tried, by sums of its own. */
#include "chip/cost/segmenter.h"
#include "support/check.h"
#include "support/failing.h"

#include <millwright/chip_all.h>

#include <float.h>
#include <stdint.h>

enum { MOST = 7, PROBLEMS = 4000 };

typedef struct problem {
    double us[MOST][MW_CHIP_BACKENDS];
    mw__segmenting s;
} problem;

static uint64_t state;

static unsigned below(unsigned count)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state >> 33) % count;
}

/* Small whole numbers, so that sums are exact and ties are frequent. */
static void make_problem(problem *p)
{
    p->s = (mw__segmenting){.us = (const double(*)[MW_CHIP_BACKENDS])p->us, .count = 1 + below(MOST)};
    for (size_t i = 0; i < p->s.count; i++) {
        const unsigned sure = below(MW_CHIP_BACKENDS);
        for (unsigned b = 0; b < MW_CHIP_BACKENDS; b++)
            p->us[i][b] = b != sure && below(3) == 0 ? -1.0 : below(12);
    }
    for (unsigned b = 0; b < MW_CHIP_BACKENDS; b++)
        p->s.launch_us[b] = below(5), p->s.transfer_us[b] = below(8), p->s.output_us[b] = below(5);
}

/* Negative: an operation is where it does not run. */
static double sum_of(const problem *p, const unsigned *placed)
{
    double sum = p->s.launch_us[placed[0]] + p->s.output_us[placed[p->s.count - 1]];
    for (size_t i = 0; i < p->s.count; i++) {
        if (p->us[i][placed[i]] < 0.0)
            return -1.0;
        sum += p->us[i][placed[i]];
        if (i > 0 && placed[i] != placed[i - 1])
            sum += p->s.launch_us[placed[i]] + p->s.transfer_us[placed[i]];
    }
    return sum;
}

static double least_of_all(const problem *p)
{
    size_t ways = 1;
    double least = DBL_MAX;
    for (size_t i = 0; i < p->s.count; i++)
        ways *= MW_CHIP_BACKENDS;
    for (size_t way = 0; way < ways; way++) {
        unsigned placed[MOST];
        for (size_t i = 0, rest = way; i < p->s.count; i++, rest /= MW_CHIP_BACKENDS)
            placed[i] = (unsigned)(rest % MW_CHIP_BACKENDS);
        const double sum = sum_of(p, placed);
        least = sum >= 0.0 && sum < least ? sum : least;
    }
    return least;
}

static double segment(const problem *p, mw_chip_segmenter segmenter, unsigned *placed)
{
    mw_error err = {0};
    CHECK_INT(mw__chip_segment_cheapest(&p->s, segmenter, placed, mw__allocator_default(), &err), MW_OK);
    const double sum = sum_of(p, placed);
    CHECK(sum >= 0.0);
    CHECK_NEAR(mw__chip_segment_total_us(&p->s, placed), sum, 1e-12 * sum);
    return sum;
}

static void test_the_shortest_path_is_the_least_of_all(void)
{
    size_t worse[MW_CHIP_SHORTEST_PATH] = {0};
    state = 1;
    for (int n = 0; n < PROBLEMS; n++) {
        problem p;
        unsigned placed[MOST];
        make_problem(&p);
        const double least = least_of_all(&p);
        CHECK_NEAR(segment(&p, MW_CHIP_SHORTEST_PATH, placed), least, 0.0);
        for (unsigned other = 0; other < MW_CHIP_SHORTEST_PATH; other++) {
            const double sum = segment(&p, (mw_chip_segmenter)other, placed);
            CHECK(sum >= least);
            worse[other] += sum > least;
        }
    }
    CHECK(worse[MW_CHIP_COARSE] > 0 && worse[MW_CHIP_GRAPH] > 0); /* or they would be no others */
}

static void check_placed(const problem *p, mw_chip_segmenter segmenter, const char *wanted)
{
    static const char letters[] = "cga";
    unsigned placed[MOST];
    char found[MOST + 1] = "";
    segment(p, segmenter, placed);
    for (size_t i = 0; i < p->s.count; i++)
        found[i] = letters[placed[i]];
    CHECK_STR(found, wanted);
}

/* A short stay elsewhere is worth its transfers only if all are counted. */
static void test_each_goes_its_own_way(void)
{
    problem p = {.us = {{9, 9, 2}, {4, 9, 7}, {9, 9, 2}},
                 .s = {.count = 3, .launch_us = {1, 1, 1}, .transfer_us = {1, 1, 5}}};
    p.s.us = (const double(*)[MW_CHIP_BACKENDS])p.us;
    check_placed(&p, MW_CHIP_COARSE, "aca");        /* 3 + 6 + 8: the way to the CPU is the cheaper of two */
    check_placed(&p, MW_CHIP_GRAPH, "aaa");         /* they run on the same three */
    check_placed(&p, MW_CHIP_SHORTEST_PATH, "aaa"); /* 1 + 11 */
    p.us[1][MW_CHIP_ANE] = -1.0;
    check_placed(&p, MW_CHIP_GRAPH, "aca");
    p.us[1][MW_CHIP_ANE] = 20.0;
    check_placed(&p, MW_CHIP_SHORTEST_PATH, "aca");
}

static void test_ties_stay_and_else_go_to_the_ane(void)
{
    problem p = {.s = {.count = 4}};
    p.s.us = (const double(*)[MW_CHIP_BACKENDS])p.us;
    for (unsigned segmenter = 0; segmenter <= MW_CHIP_SHORTEST_PATH; segmenter++)
        check_placed(&p, (mw_chip_segmenter)segmenter, "aaaa");
    p.us[0][MW_CHIP_ANE] = -1.0;
    for (unsigned segmenter = 0; segmenter <= MW_CHIP_SHORTEST_PATH; segmenter++)
        check_placed(&p, (mw_chip_segmenter)segmenter, segmenter == MW_CHIP_SHORTEST_PATH ? "gaaa" : "gggg");
}

/* ---- the planner's penalties: launch of the ANE, any change, output of the ANE, 125 us each ---- */

enum { ON_CPU = 1000 };

/* Operation `at` of `count` may go to the ANE, where it costs `saving` less; the others run on the CPU alone. */
static void check_saving(size_t count, size_t at, double saving, const char *wanted)
{
    problem p = {.s = {.count = count,
                       .launch_us = {[MW_CHIP_ANE] = 125},
                       .transfer_us = {125, 125, 125},
                       .output_us = {[MW_CHIP_ANE] = 125}}};
    p.s.us = (const double(*)[MW_CHIP_BACKENDS])p.us;
    for (size_t i = 0; i < count; i++) {
        p.us[i][MW_CHIP_CPU] = ON_CPU;
        p.us[i][MW_CHIP_GPU] = -1.0;
        p.us[i][MW_CHIP_ANE] = i == at ? ON_CPU - saving : -1.0;
    }
    check_placed(&p, MW_CHIP_SHORTEST_PATH, wanted);
}

/* A segment of the ANE pays launch and one change at the beginning, launch and two changes in the middle, a change,
 * launch and output at the end, launch and output where it is all. */
static void test_a_segment_of_the_ane_must_save_what_it_costs(void)
{
    check_saving(3, 0, 249, "ccc");
    check_saving(3, 0, 251, "acc");
    check_saving(3, 1, 374, "ccc");
    check_saving(3, 1, 376, "cac");
    check_saving(3, 2, 374, "ccc");
    check_saving(3, 2, 376, "cca");
    check_saving(1, 0, 249, "c");
    check_saving(1, 0, 251, "a");
}

/* Published examples: one convolution of 4.67 us on the ANE and 100.06 on the CPU stays there, four go to the ANE. A
 * relu behind them costs the same on both, and the change as much as the output: a tie, which we leave on the ANE. */
static void test_published_chains_of_convolutions(void)
{
    problem p = {
        .s = {.launch_us = {[MW_CHIP_ANE] = 125}, .transfer_us = {125, 125, 125}, .output_us = {[MW_CHIP_ANE] = 125}}};
    p.s.us = (const double(*)[MW_CHIP_BACKENDS])p.us;
    for (size_t i = 0; i < MOST; i++)
        p.us[i][MW_CHIP_CPU] = 100.06, p.us[i][MW_CHIP_GPU] = -1.0, p.us[i][MW_CHIP_ANE] = 4.67;
    p.s.count = 1;
    check_placed(&p, MW_CHIP_SHORTEST_PATH, "c");
    p.s.count = 2;
    check_placed(&p, MW_CHIP_SHORTEST_PATH, "cc");
    p.s.count = 4;
    check_placed(&p, MW_CHIP_SHORTEST_PATH, "aaaa");
    p.us[4][MW_CHIP_CPU] = p.us[4][MW_CHIP_ANE] = 2.62144;
    p.s.count = 5;
    check_placed(&p, MW_CHIP_SHORTEST_PATH, "aaaaa");
}

static void test_costs_without_bound_are_limited(void)
{
    problem p = {.s = {.count = MOST, .launch_us = {DBL_MAX, DBL_MAX, DBL_MAX}, .transfer_us = {DBL_MAX, DBL_MAX, 0}}};
    p.s.us = (const double(*)[MW_CHIP_BACKENDS])p.us;
    for (size_t i = 0; i < MOST; i++)
        for (unsigned b = 0; b < MW_CHIP_BACKENDS; b++)
            p.us[i][b] = i == 3 && b == MW_CHIP_ANE ? -1.0 : DBL_MAX;
    for (unsigned segmenter = 0; segmenter <= MW_CHIP_SHORTEST_PATH; segmenter++) {
        mw_error err = {0};
        unsigned placed[MOST];
        CHECK_INT(mw__chip_segment_cheapest(&p.s, (mw_chip_segmenter)segmenter, placed, mw__allocator_default(), &err),
                  MW_OK);
        for (size_t i = 0; i < MOST; i++)
            CHECK(placed[i] < MW_CHIP_BACKENDS && p.us[i][placed[i]] >= 0.0);
        CHECK(mw__chip_segment_total_us(&p.s, placed) == DBL_MAX);
    }
}

static void test_nothing_is_placed_nowhere(void)
{
    const mw__segmenting none = {0};
    for (unsigned segmenter = 0; segmenter <= MW_CHIP_SHORTEST_PATH; segmenter++) {
        mw_error err = {0};
        CHECK_INT(mw__chip_segment_cheapest(&none, (mw_chip_segmenter)segmenter, NULL, mw__allocator_default(), &err),
                  MW_OK);
    }
    CHECK(mw__chip_segment_total_us(&none, NULL) == 0.0);
}

static void test_a_failed_allocation_is_an_error(void)
{
    problem p = {.s = {.count = 2}};
    unsigned placed[2];
    mw_error err = {0};
    failing_allocator failing = {.fail_at = 0};
    const mw_allocator allocator = failing_allocator_of(&failing);
    p.s.us = (const double(*)[MW_CHIP_BACKENDS])p.us;
    CHECK_INT(mw__chip_segment_cheapest(&p.s, MW_CHIP_SHORTEST_PATH, placed, &allocator, &err), MW_ERROR_MEMORY);
    CHECK_INT(failing.live, 0);
}

int main(void)
{
    RUN(test_the_shortest_path_is_the_least_of_all);
    RUN(test_each_goes_its_own_way);
    RUN(test_ties_stay_and_else_go_to_the_ane);
    RUN(test_a_segment_of_the_ane_must_save_what_it_costs);
    RUN(test_published_chains_of_convolutions);
    RUN(test_costs_without_bound_are_limited);
    RUN(test_nothing_is_placed_nowhere);
    RUN(test_a_failed_allocation_is_an_error);
    return check_finish();
}
