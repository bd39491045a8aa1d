/* Drawing a token: repetition, temperature, then who may be drawn at all. */
#include "text/generate/sampler.h"

#include "base/number/random.h"

#include <math.h>

mw_status mw__sampler_init(mw__sampler *s, const mw_allocator *allocator, size_t words, uint64_t seed, mw_error *err)
{
    *s = (mw__sampler){.allocator = allocator, .words = words, .seed = seed};
    s->values = mw__alloc(allocator, words, sizeof *s->values, err);
    s->order = mw__alloc(allocator, words, sizeof *s->order, err);
    s->seen = mw__alloc(allocator, words, sizeof *s->seen, err);
    return s->values != NULL && s->order != NULL && s->seen != NULL ? MW_OK : MW_ERROR_MEMORY;
}

void mw__sampler_deinit(mw__sampler *s)
{
    mw__free(s->allocator, s->values);
    mw__free(s->allocator, s->order);
    mw__free(s->allocator, s->seen);
}

void mw__sampler_note(mw__sampler *s, int32_t token)
{
    if (token >= 0 && (size_t)token < s->words)
        s->seen[token] = true;
}

static void punish_repetition(mw__sampler *s, float by)
{
    for (size_t i = 0; by != 1.0F && i < s->words; i++)
        if (s->seen[i])
            s->values[i] = s->values[i] > 0.0F ? s->values[i] / by : s->values[i] * by;
}

static size_t likeliest(const mw__sampler *s)
{
    size_t best = 0;
    for (size_t i = 1; i < s->words; i++)
        best = s->values[i] > s->values[best] ? i : best;
    return best;
}

/* Of equal ones the first. */
static bool comes_before(const mw__sampler *s, uint32_t a, uint32_t b)
{
    return s->values[a] > s->values[b] || (s->values[a] == s->values[b] && a < b);
}

/* The root is the likeliest of `count`, or the least likely. */
static void sift(const mw__sampler *s, size_t count, size_t at, bool least)
{
    const uint32_t moved = s->order[at];
    for (;;) {
        size_t child = 2 * at + 1;
        if (child + 1 < count && comes_before(s, s->order[child + 1], s->order[child]) != least)
            child++;
        if (child >= count || comes_before(s, s->order[child], moved) == least)
            break;
        s->order[at] = s->order[child];
        at = child;
    }
    s->order[at] = moved;
}

/* The `most` likeliest words into s->order; returns how many they are. */
static size_t keep_likeliest(mw__sampler *s, size_t most)
{
    const size_t count = most > 0 && most < s->words ? most : s->words;
    for (size_t i = 0; i < count; i++)
        s->order[i] = (uint32_t)i;
    if (count == s->words)
        return count;
    for (size_t i = count / 2; i-- > 0;)
        sift(s, count, i, true);
    for (size_t i = count; i < s->words; i++)
        if (s->values[i] > s->values[s->order[0]]) {
            s->order[0] = (uint32_t)i;
            sift(s, count, 0, true);
        }
    return count;
}

/* Takes the likeliest from the heap, one after the other, until enough are together; they end up behind `left`, the
 * last one first. Returns how many they are. */
typedef struct chosen {
    size_t first, count; /* in s->order, from its end */
    double sum;
} chosen;

static chosen choose(const mw__sampler *s, size_t count, const mw_generate_options *o, double all)
{
    const float least = o->min_p * s->values[s->order[0]];
    chosen c = {.first = count};
    while (c.count < count && c.sum < (double)o->top_p * all) {
        const uint32_t best = s->order[0];
        if (c.count > 0 && s->values[best] < least)
            break;
        s->order[0] = s->order[--c.first];
        s->order[c.first] = best;
        sift(s, c.first, 0, false);
        c.sum += (double)s->values[best];
        c.count++;
    }
    return c;
}

/* Of those in s->order: probabilities, not divided by their sum, which is returned. */
static double exponentiate(mw__sampler *s, size_t count, float temperature)
{
    float largest = s->values[s->order[0]];
    double all = 0.0;
    for (size_t i = 1; i < count; i++)
        largest = s->values[s->order[i]] > largest ? s->values[s->order[i]] : largest;
    for (size_t i = 0; i < count; i++) {
        float *value = &s->values[s->order[i]];
        *value = expf((*value - largest) / temperature);
        all += (double)*value;
    }
    return all;
}

static double draw(mw__sampler *s)
{
    mw__random random = {.seed = s->seed, .stream = 81, .position = s->drawn};
    const uint64_t high = mw__random_below(&random, (uint64_t)1 << 52);
    s->drawn += 8;
    return (double)high / 4503599627370496.0;
}

int32_t mw__sampler_next(mw__sampler *s, const mw_generate_options *o)
{
    punish_repetition(s, o->repetition);
    if (o->temperature <= 0.0F)
        return (int32_t)likeliest(s);
    const size_t count = keep_likeliest(s, (size_t)o->top_k);
    const double all = exponentiate(s, count, o->temperature);
    for (size_t i = count / 2; i-- > 0;)
        sift(s, count, i, false);
    const chosen c = choose(s, count, o, all);
    double left = draw(s) * c.sum;
    for (size_t i = count; i-- > c.first;) {
        left -= (double)s->values[s->order[i]];
        if (left < 0.0)
            return (int32_t)s->order[i];
    }
    return (int32_t)s->order[c.first];
}
