/* What networks of nets.h are fed. */
#include "workloads.h"

/* Of 24 bits from SplitMix64 each: floats in [0, 1), integers below `below`. */
static mw_feed draw(const mw_tensor *input, int32_t below)
{
    const size_t count = (size_t)mw_shape_count(mw_tensor_shape(input));
    const bool whole = mw_tensor_dtype(input) == MW_I32;
    float *floats = bench_uniforms(count);
    int32_t *integers = (int32_t *)floats;
    for (size_t i = 0; whole && i < count; i++)
        integers[i] = (int32_t)(floats[i] * (float)below);
    return bench_feed(mw_tensor_name(input), whole ? MW_I32 : MW_F32, floats, count);
}

bench_feeds bench_draw(const mw_graph *graph, int32_t below)
{
    bench_feeds drawn = {.count = 0};
    for (const mw_tensor *input; drawn.count < BENCH_FEEDS_MAX; drawn.count++) {
        if ((input = mw_graph_input_at(graph, drawn.count)) == NULL)
            break;
        drawn.feed[drawn.count] = draw(input, below);
    }
    return drawn;
}

void bench_free(bench_feeds *drawn)
{
    for (size_t i = 0; i < drawn->count; i++)
        free((void *)(uintptr_t)drawn->feed[i].data);
}
