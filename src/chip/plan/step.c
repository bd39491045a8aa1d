/* What a step takes on a chip that was measured: each part a range, from the best rate that was seen to the worst.
 *
 * Tasks run one after the other, and only in one task do memory, products and the planar engine overlap (M6 study,
 * notes/scheduling.md, D3): the low end is the largest of these, as if all were one task, and the high end their sum.
 */
#include "chip/cost/place.h"
#include "chip/cost/timing.h"
#include "chip/plan/plan.h"
#include "graph/ir/count.h"

enum { MOST = 12 };

typedef mw__chip_plan_range range;

typedef struct work {
    range weights, products, activations, planar; /* microseconds */
} work;

/* ---- the parts of a task ---- */

/* The least amount at the best rate, to the most at the worst; scale: amounts in a microsecond. */
static range time_range(range amount, const mw__timing_range *rate, double scale)
{
    return (range){amount.low / (rate->high * scale), amount.high / (rate->low * scale)};
}

/* Each constant once, as if all that are read again stayed on chip, to once for each layer. */
static range weight_bytes(const mw__chip_planner *p)
{
    range bytes = {0};
    for (size_t i = 0; i < p->body->op_count; i++) {
        const mw__op *op = p->body->ops[i];
        if (mw__chip_place_is_constant(op) && op->result_count > 0)
            bytes.low += (double)mw__value_bytes(op->results[0]);
    }
    for (size_t i = 0; i < p->layer_count; i++)
        bytes.high += (double)p->layers[i].public.weight_bytes;
    return (range){bytes.low < bytes.high ? bytes.low : bytes.high, bytes.high};
}

/* What the program takes and gives, as chains go through in tiles, to all that the plan has in DRAM. */
static range activation_bytes(const mw__chip_planner *p)
{
    range bytes = {.high = (double)p->plan->totals.streamed_bytes};
    for (size_t v = 0; v < p->value_count; v++)
        if (p->values[v].public.memory == MW_CHIP_MEMORY_PORT)
            bytes.low += (double)p->values[v].public.bytes;
    return (range){bytes.low < bytes.high ? bytes.low : bytes.high, bytes.high};
}

static double elements_of(const mw__chip_planner *p, const mw_chip_layer *layer)
{
    double product = layer->output_count > 0 ? 1.0 : 0.0;
    const mw_shape shape = layer->output_count > 0 ? p->values[layer->outputs[0]].public.shape : (mw_shape){0};
    for (int i = 0; i < shape.rank; i++)
        product *= shape.dim[i] > 0 ? (double)shape.dim[i] : 0.0;
    return product;
}

/* Fused with others it takes no time of its own but for its elements; alone, of two inputs, and before its clock is up
 * it takes the high end. */
static range planar_us(const mw_chip_layer *layer, double elements)
{
    const mw__timing_shared *m6 = &mw__timing_m6;
    const double one = m6->planar_us + elements / m6->planar_elements_us;
    const double two = elements <= m6->planar_two_max ? m6->planar_two_us : elements / m6->planar_two_elements_us;
    const double slow = layer->input_count > 1 && two > one ? two : one;
    return (range){elements / m6->planar_elements_us, slow * m6->planar_late};
}

/* Few output channels leave the engines' multipliers idle: on M6 1x1 convolutions of 64 and 48 channels had two thirds
 * and half of what wide ones had. */
static double filled_share(const mw__chip_planner *p, const mw_chip_layer *layer)
{
    const mw_shape shape = layer->output_count > 0 ? p->values[layer->outputs[0]].public.shape : (mw_shape){0};
    if (shape.rank < 2)
        return 1.0;
    const int64_t channels = shape.dim[shape.rank >= 4 ? 1 : shape.rank - 1];
    const double full = mw__timing_m6.full_channels;
    return channels > 0 && (double)channels < full ? (double)channels / full : 1.0;
}

typedef struct amounts {
    range flops;   /* of the busier engine */
    range planar;  /* microseconds */
    size_t shared; /* layers */
} amounts;

static void add_layer(const mw__chip_planner *p, size_t index, amounts *sum)
{
    const mw_chip_layer *layer = &p->layers[index].public;
    const range share = mw__chip_plan_engine_share(p, index);
    if (layer->engine == MW_CHIP_ENGINE_BRIDGE || layer->refused != NULL)
        return;
    sum->shared += share.high < 1.0;
    if (layer->engine == MW_CHIP_ENGINE_NEURAL) {
        sum->flops.low += layer->flops * share.low;
        sum->flops.high += layer->flops * share.high / filled_share(p, layer);
        return;
    }
    const double elements = elements_of(p, layer);
    sum->planar.low += planar_us(layer, elements * share.low).low;
    sum->planar.high += planar_us(layer, elements * share.high).high;
}

static work work_of(const mw__chip_planner *p, const mw__timing *t)
{
    amounts sum = {0};
    for (size_t i = 0; i < p->layer_count; i++)
        add_layer(p, i, &sum);
    range bytes = activation_bytes(p);
    if (sum.shared > 0) /* each engine moves its part */
        bytes.low /= (double)t->engines;
    if (sum.shared == p->layer_count && sum.shared > 0)
        bytes.high /= (double)t->engines;
    return (work){.weights = time_range(weight_bytes(p), &t->weights, 1e3),
                  .products = time_range(sum.flops, &t->tflops, 1e6),
                  .activations = time_range(bytes, &t->activations, 1e3),
                  .planar = sum.planar};
}

static double larger(double a, double b) { return a > b ? a : b; }

/* With the clock of the engine `slow` times slower; memory has its own. */
static range task_us(const work *w, double slow_low, double slow_high)
{
    const double low = larger(w->products.low, w->planar.low) * slow_low;
    return (range){larger(low, larger(w->weights.low, w->activations.low)),
                   (w->products.high + w->planar.high) * slow_high + w->weights.high + w->activations.high};
}

/* ---- a call ---- */

/* By how much the host's part of a call is longer than that of a short task. */
static double growth_us(double task)
{
    const mw__timing_shared *m6 = &mw__timing_m6;
    if (task <= m6->short_task_us)
        return 0.0;
    const double part = (task - m6->short_task_us) / (m6->long_task_us - m6->short_task_us);
    return m6->long_host_us * (part < 1.0 ? part : 1.0);
}

/* Each dispatch has its call, and grows with its part of the task. On chips where the growth was not seen it is in the
 * high end alone. */
static range calls_us(const mw__chip_planner *p, const mw__timing *t, range task)
{
    const double count = (double)(p->plan->segment_count > 0 ? p->plan->segment_count : 1);
    const double low = t->chip == MW_CHIP_H18G ? growth_us(task.low / count) : 0.0;
    return (range){count * (t->call_us.low + low), count * (t->call_us.high + growth_us(task.high / count))};
}

/* ---- rows ---- */

static void put_time(mw_chip_plan *plan, const char *name, double low, double high, mw_chip_time_basis basis,
                     const char *source)
{
    plan->times[plan->time_count++] =
        (mw_chip_time){.name = name, .low_us = low, .high_us = high, .basis = basis, .source = source};
}

static void put_rate(mw_chip_plan *plan, const char *name, range us, const mw__timing_range *of)
{
    put_time(plan, name, us.low, us.high, of->basis, of->source);
}

static void put_work(mw_chip_plan *plan, const mw__timing *t, const work *w, mw_chip_time_basis m6)
{
    put_rate(plan, "weights from memory", w->weights, &t->weights);
    put_rate(plan, "products", w->products, &t->tflops);
    put_rate(plan, "activations to and from memory", w->activations, &t->activations);
    put_time(plan, "planar and other engines", w->planar.low, w->planar.high, m6,
             "M6 study, report 7: 61 G elements/s; alone and late 0.35 to 5.2 us, 2.63 times slower");
}

static range sum_of(range a, range b) { return (range){a.low + b.low, a.high + b.high}; }

static void put_steps(mw_chip_plan *plan, range quick, range slow)
{
    put_time(plan, "a step, back to back", quick.low, quick.high, MW_CHIP_TIME_MODEL,
             "the task at the highest clock, and the calls");
    put_time(plan, "a step, 0.4 ms and more apart", slow.low, slow.high, MW_CHIP_TIME_MODEL,
             "down to the lowest clock, where CLPC has short tasks with pauses (M6 study, report 12)");
}

static void put_idle(mw_chip_plan *plan, range slow, mw_chip_time_basis m6)
{
    const mw__timing_shared *s = &mw__timing_m6;
    put_time(plan, "first step after 0.1 to 5.5 s of idling", slow.low + s->idle_low_us, slow.high + s->idle_high_us,
             m6, "M6 study, report 12: 4 to 5 ms more");
    put_time(plan, "first step after 5.68 s, power off", slow.low + s->off_us, slow.high + s->off_us, m6,
             "M6 study, report 12: 50 ms more; after 10.2 s programs are unloaded too");
    put_time(plan, "until the clock is up", s->ramp_low_us, s->ramp_high_us, m6,
             "M6 study, report 12: of steps back to back");
    put_time(plan, "until the clock is up, after idling", s->idle_ramp_low_us, s->idle_ramp_high_us, m6,
             "M6 study, report 12");
}

mw_status mw__chip_plan_step(mw__chip_planner *p)
{
    const mw__timing *t = mw__timing_of(p->chip->chip);
    mw_chip_plan *plan = p->plan;
    if (t == NULL)
        return MW_OK;
    plan->times = mw__arena_alloc(&plan->arena, MOST, sizeof *plan->times, p->err);
    if (plan->times == NULL)
        return MW_ERROR_MEMORY;
    const work w = work_of(p, t);
    const mw_chip_time_basis m6 = t->chip == MW_CHIP_H18G ? MW_CHIP_TIME_MEASURED : MW_CHIP_TIME_BORROWED;
    const range quick = task_us(&w, 1.0, 1.0), slow = task_us(&w, 1.0, t->clock_mhz.high / t->clock_mhz.low);
    const range calls = calls_us(p, t, quick), apart = sum_of(slow, calls_us(p, t, slow));
    put_work(plan, t, &w, m6);
    put_time(plan, "a task at the highest clock", quick.low, quick.high, MW_CHIP_TIME_MODEL,
             "the largest of these, to their sum");
    put_rate(plan, "calls, beside their tasks", calls, &t->call_us);
    put_steps(plan, sum_of(quick, calls), apart);
    put_idle(plan, apart, m6);
    return MW_OK;
}
