/* The order of a contraction: of up to 8 pieces the cheapest of all, of more the cheaper of two greedy ones.
 *
 * The cost of contracting two pieces is the product of the extents of all labels that they have: the multiplications of
 * their product. An unknown extent counts as 128. */
#include "graph/patterns/contract.h"

#include <math.h>
#include <string.h>

enum { ALL_ORDERS = 8, UNKNOWN_EXTENT = 128 };

static double size_of(const mw__contraction *c, mw__label_set set)
{
    double size = 1.0;
    for (int label = 0; set != 0; label++, set >>= 1)
        if ((set & 1u) != 0)
            size *= c->extent[label] < 0 ? UNKNOWN_EXTENT : (double)c->extent[label];
    return size;
}

static int axes_of(mw__label_set set)
{
    int axes = 0;
    for (; set != 0; set &= set - 1)
        axes++;
    return axes;
}

/* What remains of the pieces of `chosen` once they are contracted. */
static mw__label_set labels_kept(const mw__contraction *c, const mw__label_set *sets, size_t count, unsigned chosen)
{
    mw__label_set inside = 0, outside = mw__contraction_labels(&c->result);
    for (size_t i = 0; i < count; i++)
        *((chosen >> i & 1u) != 0 ? &inside : &outside) |= sets[i];
    return inside & outside;
}

/* ---- every order ---- */

typedef struct subset {
    mw__label_set set;
    double cost;
    unsigned split; /* one part of the cheapest pair that makes it */
} subset;

static void find_split(const mw__contraction *c, subset *table, unsigned chosen)
{
    subset *of = &table[chosen];
    of->cost = INFINITY;
    for (unsigned part = (chosen - 1) & chosen; part != 0; part = (part - 1) & chosen) {
        const subset *a = &table[part], *b = &table[chosen & ~part];
        if (part < (chosen & ~part)) /* each pair once */
            continue;
        const double cost = a->cost + b->cost + size_of(c, a->set | b->set);
        if (axes_of(of->set) <= MW_RANK_MAX && cost < of->cost) {
            of->cost = cost;
            of->split = part;
        }
    }
}

/* Dynamic programming over the subsets; the first pair to contract is the leaf pair of the cheapest tree. */
static bool choose_of_all(const mw__contraction *c, const mw__label_set *sets, size_t count, size_t *out_first,
                          size_t *out_second)
{
    subset table[1 << ALL_ORDERS] = {{0}};
    const unsigned whole = (1u << count) - 1u;
    for (unsigned chosen = 1; chosen <= whole; chosen++) {
        table[chosen].set = labels_kept(c, sets, count, chosen);
        if ((chosen & (chosen - 1)) != 0)
            find_split(c, table, chosen);
    }
    unsigned pair = whole;
    if (!isfinite(table[whole].cost))
        return false;
    while (axes_of(pair) > 2) {
        const unsigned part = table[pair].split, rest = pair & ~part;
        pair = axes_of(part) >= axes_of(rest) ? part : rest;
    }
    size_t found = 0;
    for (size_t i = 0; i < count; i++)
        if ((pair >> i & 1u) != 0)
            *(found++ == 0 ? out_first : out_second) = i;
    return true;
}

/* ---- greedy orders ---- */

typedef enum greedy_rule { LEAST_GROWTH, LEAST_COST, GREEDY_RULES } greedy_rule;

typedef struct greedy_pair {
    size_t first, second;
    mw__label_set kept;
    double rank[2]; /* less is better; the second one decides where the first is equal */
    double cost;
} greedy_pair;

static bool is_better(const greedy_pair *a, const greedy_pair *b)
{
    return a->rank[0] < b->rank[0] || (a->rank[0] == b->rank[0] && a->rank[1] < b->rank[1]);
}

static greedy_pair rate_pair(const mw__contraction *c, const mw__label_set *sets, size_t count, size_t i, size_t j,
                             greedy_rule rule)
{
    greedy_pair pair = {.first = i, .second = j, .kept = labels_kept(c, sets, count, 1u << i | 1u << j)};
    pair.cost = size_of(c, sets[i] | sets[j]);
    const double growth = size_of(c, pair.kept) - size_of(c, sets[i]) - size_of(c, sets[j]);
    pair.rank[rule == LEAST_COST] = growth;
    pair.rank[rule == LEAST_GROWTH] = pair.cost;
    return pair;
}

/* cost INFINITY: there is none. */
static greedy_pair best_pair(const mw__contraction *c, const mw__label_set *sets, size_t count, greedy_rule rule)
{
    greedy_pair best = {.rank = {INFINITY, INFINITY}, .cost = INFINITY};
    for (size_t i = 0; i < count; i++)
        for (size_t j = i + 1; j < count; j++) {
            const greedy_pair pair = rate_pair(c, sets, count, i, j, rule);
            if (axes_of(pair.kept) <= MW_RANK_MAX && is_better(&pair, &best))
                best = pair;
        }
    return best;
}

/* The cost of a greedy order to its end, and its first pair. */
static double cost_of_rule(const mw__contraction *c, const mw__label_set *sets, size_t count, greedy_rule rule,
                           greedy_pair *out_first)
{
    mw__label_set left[MW__CONTRACTION_OPERANDS];
    double cost = 0.0;
    memcpy(left, sets, count * sizeof *left);
    for (size_t n = count; n > 1 && isfinite(cost); n--) {
        const greedy_pair pair = best_pair(c, left, n, rule);
        if (n == count)
            *out_first = pair;
        cost += pair.cost;
        left[pair.first] = pair.kept;
        left[pair.second] = left[n - 1];
    }
    return cost;
}

static bool choose_greedily(const mw__contraction *c, const mw__label_set *sets, size_t count, size_t *out_first,
                            size_t *out_second)
{
    double least = INFINITY;
    for (int rule = 0; rule < GREEDY_RULES; rule++) {
        greedy_pair first = {0};
        const double cost = cost_of_rule(c, sets, count, (greedy_rule)rule, &first);
        if (cost < least) {
            least = cost;
            *out_first = first.first;
            *out_second = first.second;
        }
    }
    return isfinite(least);
}

bool mw__contraction_choose(const mw__contraction *contraction, const mw__label_set *sets, size_t count,
                            size_t *out_first, size_t *out_second)
{
    return count <= ALL_ORDERS ? choose_of_all(contraction, sets, count, out_first, out_second)
                               : choose_greedily(contraction, sets, count, out_first, out_second);
}
