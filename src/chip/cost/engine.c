/* The engine declares a function that places operations, and knows none: here is one, by the planner's anchors and the
 * default penalties. */
#include "chip/cost/engine.h"
#include "chip/cost/place.h"

static const uint64_t bits[MW_CHIP_BACKENDS] = {
    [MW_CHIP_CPU] = MW_DEVICE_CPU, [MW_CHIP_GPU] = MW_DEVICE_GPU, [MW_CHIP_ANE] = MW_DEVICE_ANE};

static mw_chip_place_options options_of(const mw__segmenter_request *request)
{
    mw_chip_place_options options = mw_chip_place_defaults();
    options.segmenter = request->segmenter == MW__SEGMENTER_COARSE  ? MW_CHIP_COARSE
                        : request->segmenter == MW__SEGMENTER_GRAPH ? MW_CHIP_GRAPH
                                                                    : MW_CHIP_SHORTEST_PATH;
    for (unsigned b = 0; b < MW_CHIP_BACKENDS; b++)
        options.without[b] = (request->mask & bits[b]) == 0;
    return options;
}

/* Places are those of the body but constants, in its order. */
static void fill_segmented(const mw__block *body, const mw__chip_place *places, mw__segmented *out)
{
    for (size_t i = 0, at = 0; i < body->op_count; i++) {
        out[i] = (mw__segmented){0};
        if (mw__chip_place_is_constant(body->ops[i]))
            continue;
        const mw__chip_place *place = &places[at++];
        const uint64_t others = MW_DEVICE_CPU | MW_DEVICE_GPU;
        out[i] = (mw__segmented){.backend = bits[place->backend],
                                 .takers = others | (place->refused == NULL ? (uint64_t)MW_DEVICE_ANE : 0),
                                 .seconds = place->us[place->backend] * 1e-6};
    }
}

mw_status mw__chip_segment(const mw__segmenter_request *request, mw__segmented *out, const mw_allocator *allocator,
                           mw_error *err)
{
    const mw__legality legality = {.device = mw__device_find(MW_DEVICE_ANE), .chip = request->chip};
    const mw_chip_place_options options = options_of(request);
    mw__chip_place_how how;
    mw__arena arena;
    mw__chip_place *places = NULL;
    size_t count = 0;
    MW_TRY(mw__chip_place_how_make(&how, &legality, &options, err));
    mw__arena_init(&arena, allocator);
    const mw_status status = mw__chip_place_function(request->function, &how, &arena, &places, &count, err);
    if (status == MW_OK)
        fill_segmented(request->function->body, places, out);
    mw__arena_deinit(&arena);
    return status;
}
