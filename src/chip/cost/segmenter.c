/* Three ways through the same costs, named after the three of Core ML's compiler (ane-guide, ch. 5). How each of those
 * goes about it is published in a word: greedy, graph-grouped, shortest path. */
#include "chip/cost/segmenter.h"

#include "chip/cost/cost.h"

enum { START = MW_CHIP_BACKENDS };

double mw__chip_segment_entry_us(const mw__segmenting *s, unsigned before, unsigned b)
{
    if (before == b)
        return 0.0;
    return s->launch_us[b] + (before == START ? 0.0 : s->transfer_us[b]);
}

double mw__chip_segment_total_us(const mw__segmenting *s, const unsigned *placed)
{
    double sum = 0.0;
    for (size_t i = 0; i < s->count; i++)
        sum += s->us[i][placed[i]] + mw__chip_segment_entry_us(s, i > 0 ? placed[i - 1] : START, placed[i]);
    return mw__chip_cost_limit(s->count > 0 ? sum + s->output_us[placed[s->count - 1]] : sum);
}

/* Sums of the same costs in another order differ in their last bits, and must not decide. */
static bool is_less(double a, double b) { return a < b - 1e-12 * b; }

/* ---- one after the other ---- */

/* Where operations [from, to), of which each runs on the same backends, cost the least together. */
static unsigned cheapest(const mw__segmenting *s, size_t from, size_t to, unsigned before)
{
    unsigned best = START;
    double least = 0.0;
    for (unsigned b = MW_CHIP_BACKENDS; b-- > 0;) { /* the ANE first */
        double us = mw__chip_segment_entry_us(s, before, b);
        for (size_t i = from; i < to; i++)
            us += s->us[i][b];
        us = mw__chip_cost_limit(to == s->count ? us + s->output_us[b] : us);
        if (s->us[from][b] >= 0.0 && (best == START || is_less(us, least) || (!is_less(least, us) && b == before)))
            best = b, least = us;
    }
    return best;
}

static bool same_backends(const mw__segmenting *s, size_t i, size_t k)
{
    for (unsigned b = 0; b < MW_CHIP_BACKENDS; b++)
        if ((s->us[i][b] < 0.0) != (s->us[k][b] < 0.0))
            return false;
    return true;
}

/* Greedy by operations, or by groups of neighbors that run on the same backends. */
static void place_groups(const mw__segmenting *s, bool grouped, unsigned *out)
{
    unsigned before = START;
    for (size_t from = 0, to; from < s->count; from = to) {
        for (to = from + 1; grouped && to < s->count && same_backends(s, from, to);)
            to++;
        const unsigned b = cheapest(s, from, to, before);
        for (size_t i = from; i < to; i++)
            out[i] = b;
        before = b;
    }
}

/* ---- the shortest path ---- */

/* The shortest ways to the operation before: what each costs, by the backend where it ends; negative: there is none. */
typedef double ends[MW_CHIP_BACKENDS];

/* The best of them to go on from to backend b. */
static unsigned best_before(const mw__segmenting *s, const ends before, unsigned b, double *out_us)
{
    unsigned best = START;
    for (unsigned i = 0; i <= MW_CHIP_BACKENDS; i++) { /* the same backend first, then the ANE, the GPU, the CPU */
        const unsigned from = i == 0 ? b : MW_CHIP_BACKENDS - i;
        if (before[from] < 0.0)
            continue;
        const double us = mw__chip_cost_limit(before[from] + mw__chip_segment_entry_us(s, from, b));
        if (best == START || is_less(us, *out_us))
            best = from, *out_us = us;
    }
    return best;
}

static void step(const mw__segmenting *s, size_t at, ends us, unsigned char from[MW_CHIP_BACKENDS])
{
    ends after;
    for (unsigned b = 0; b < MW_CHIP_BACKENDS; b++) {
        double way = mw__chip_segment_entry_us(s, START, b);
        from[b] = (unsigned char)(at > 0 ? best_before(s, us, b, &way) : START);
        after[b] = s->us[at][b] < 0.0 ? -1.0 : mw__chip_cost_limit(way + s->us[at][b]);
    }
    for (unsigned b = 0; b < MW_CHIP_BACKENDS; b++)
        us[b] = after[b];
}

static unsigned shortest_end(const mw__segmenting *s, const ends us)
{
    unsigned best = START;
    double least = 0.0;
    for (unsigned b = MW_CHIP_BACKENDS; b-- > 0;) {
        const double sum = mw__chip_cost_limit(us[b] + s->output_us[b]);
        if (us[b] >= 0.0 && (best == START || is_less(sum, least)))
            best = b, least = sum;
    }
    return best;
}

/* One node for each operation and backend, edges only to the next operation's: Dijkstra's order of nodes is then that
 * of the operations, and nothing has to be queued. */
static mw_status place_path(const mw__segmenting *s, unsigned *out, const mw_allocator *allocator, mw_error *err)
{
    unsigned char(*from)[MW_CHIP_BACKENDS] = mw__alloc(allocator, s->count, sizeof *from, err);
    ends us = {-1.0, -1.0, -1.0};
    if (from == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < s->count; i++)
        step(s, i, us, from[i]);
    unsigned b = shortest_end(s, us);
    for (size_t i = s->count; i-- > 0; b = from[i][b])
        out[i] = b;
    mw__free(allocator, from);
    return MW_OK;
}

mw_status mw__chip_segment_cheapest(const mw__segmenting *s, mw_chip_segmenter segmenter, unsigned *out,
                                    const mw_allocator *allocator, mw_error *err)
{
    if (s->count > 0 && segmenter == MW_CHIP_SHORTEST_PATH)
        return place_path(s, out, allocator, err);
    place_groups(s, segmenter == MW_CHIP_GRAPH, out);
    return MW_OK;
}
