/* Which programs a compiler of a die with two ANEs would share between them, and in how many parts. A program is split
 * if that takes less by the compiler's own estimate: sum(one) > 0.5 (sum(parts) + copies).
 *
 * Source: M6 study, report 7.8 and table 7-13 (read from the compiler of H18g); its B8 for which part goes where. What
 * a pixel is of a value of rank 2 or 3, and that a layer of fewer than two parts runs on one ANE, is the model's. */
#include "chip/cost/timing.h"
#include "chip/plan/plan.h"

enum { PART_PIXELS = 128 }; /* cuts are at multiples of 128 columns, 256 bytes */

static const double flops_us = 2.0 * 16 * 256 * 2508.0; /* 16 NEs, 256 multiply-adds in a cycle, 2.508 GHz */
static const double weight_bytes_us = 167.4e3, in_bytes_us = 116.0e3, out_bytes_us = 83.7e3;
static const double copy_us = 0.35; /* of a KiB */

static double larger(double a, double b) { return a > b ? a : b; }

/* Columns, or rows times columns; tokens of what has no map. */
static int64_t pixels_of(const mw__chip_planner *p, const mw_chip_layer *layer)
{
    if (layer->output_count == 0)
        return 1;
    const mw_shape shape = p->values[layer->outputs[0]].public.shape;
    const bool is_map = shape.rank >= 4;
    if (shape.rank < 2 || shape.dim[shape.rank - 1] <= 0 || shape.dim[shape.rank - 2] <= 0)
        return 1;
    return is_map ? shape.dim[shape.rank - 2] * shape.dim[shape.rank - 1] : shape.dim[shape.rank - 2];
}

static bool is_cut(int64_t pixels) { return pixels >= 2 * PART_PIXELS; }

/* Each of `parts` reads all of the weights, and its part of the rest. */
static double part_us(const mw_chip_layer *layer, double parts)
{
    const double moves = larger((double)layer->bytes_in / in_bytes_us, (double)layer->bytes_out / out_bytes_us) / parts;
    const double neural = layer->engine == MW_CHIP_ENGINE_NEURAL ? layer->flops / flops_us / parts : 0.0;
    return larger(larger(neural, moves), (double)layer->weight_bytes / weight_bytes_us);
}

static bool is_in(const mw_chip_segment *s, size_t layer)
{
    return layer != MW_CHIP_NONE && layer >= s->first_layer && layer - s->first_layer < s->layer_count;
}

static double boundary_bytes(const mw__chip_planner *p, const mw_chip_segment *s)
{
    double sum = 0.0;
    for (size_t v = 0; v < p->value_count; v++) {
        const mw__chip_plan_value *value = &p->values[v];
        bool crosses = is_in(s, value->producer) && value->public.is_output;
        for (size_t i = 0; i < value->reader_count && !crosses; i++)
            crosses = is_in(s, value->readers[i]) != is_in(s, value->producer);
        sum += crosses ? (double)value->public.bytes : 0.0;
    }
    return sum;
}

typedef struct weighing {
    double one, parts;
    int64_t pixels; /* the most of a layer that is cut; 0 = none is */
    int64_t bytes;  /* of the largest result of one */
} weighing;

static weighing weigh_segment(const mw__chip_planner *p, const mw_chip_segment *s)
{
    weighing w = {0};
    for (size_t i = 0; i < s->layer_count; i++) {
        const mw_chip_layer *layer = &p->layers[s->first_layer + i].public;
        const int64_t pixels = pixels_of(p, layer);
        w.one += part_us(layer, 1.0);
        w.parts += 2.0 * part_us(layer, is_cut(pixels) ? 2.0 : 1.0);
        if (!is_cut(pixels))
            continue;
        w.pixels = pixels > w.pixels ? pixels : w.pixels;
        w.bytes = layer->bytes_out > w.bytes ? layer->bytes_out : w.bytes;
    }
    return w;
}

/* Tiles of a chain, as many as its largest map needs on chip, and two at least. */
static size_t count_parts(const mw_chip_segment *s, const weighing *w)
{
    const int64_t tile = s->layer_count <= 2 ? 2 << 20 : 1 << 20;
    const int64_t tiles = w->bytes / tile + 1, most = w->pixels / PART_PIXELS;
    const int64_t parts = tiles < 2 ? 2 : tiles;
    return (size_t)(parts < most ? parts : most);
}

static void share_segment(const mw__chip_planner *p, mw_chip_segment *s)
{
    const weighing w = weigh_segment(p, s);
    const bool small = w.pixels <= 2 * PART_PIXELS; /* copies where every part has at most 128 pixels */
    const double copies = small ? copy_us * boundary_bytes(p, s) / 1024.0 : 0.0;
    if (s->is_bridge || w.pixels == 0 || !(w.one > 0.5 * (w.parts + copies)))
        return;
    s->engines = 2;
    s->parts = count_parts(s, &w);
    s->first_engine_parts = s->parts / 2;
}

mw_status mw__chip_plan_share(mw__chip_planner *p)
{
    const mw__timing *timing = mw__timing_of(p->chip->chip);
    for (size_t i = 0; i < p->plan->segment_count; i++) {
        mw_chip_segment *s = &p->plan->segments[i];
        s->engines = s->parts = s->first_engine_parts = 1;
        if (timing != NULL && timing->engines > 1)
            share_segment(p, s);
    }
    return MW_OK;
}

mw__chip_plan_range mw__chip_plan_engine_share(const mw__chip_planner *p, size_t layer)
{
    const mw_chip_layer *l = &p->layers[layer].public;
    const mw_chip_segment *s = &p->plan->segments[l->segment];
    if (s->engines < 2 || !is_cut(pixels_of(p, l)))
        return (mw__chip_plan_range){1.0, 1.0};
    return (mw__chip_plan_range){0.5, (double)(s->parts - s->first_engine_parts) / (double)s->parts};
}
