/* Whether all elements of a product are within a limit, told from its factors: so that the product itself can wait. */
#include "engine/core/kernel.h"
#include "engine/kernels/reduce/within.h"

#include "base/number/bits.h"

#include <string.h>

/* Sums of so many terms are off by less than SLACK in fp32, in whatever order they are added. */
#define TERMS_MAX   65536
#define SLACK       1.01
#define PANEL_BYTES 262144

typedef uint32_t largest_loop(const float *x, int64_t count);

typedef struct factors_block {
    const mw__step *product;
    struct mw__finite_check watch; /* what is said of the result */
    int64_t numbers;               /* that it would write */
    largest_loop *largest;
    int64_t rows;      /* of the result that are computed at a time */
    size_t row, panel; /* bytes of one; where in scratch they are */
} factors_block;

/* ---- the loop ---- */

/* The bits of the largest magnitude: as whole numbers they have its order, with a NaN beyond all numbers. */
MW__INLINE uint32_t largest_body(const float *x, int64_t count)
{
    uint32_t largest = 0;
    MW__VECTORIZE for (int64_t i = 0; i < count; i++)
    {
        const uint32_t size = mw__bits_of(x[i]) & 0x7fffffffu;
        largest = size > largest ? size : largest;
    }
    return largest;
}

static uint32_t largest_base(const float *x, int64_t count) { return largest_body(x, count); }
#if defined(__x86_64__)
MW__TARGET_AVX2 static uint32_t largest_avx2(const float *x, int64_t count) { return largest_body(x, count); }
MW__TARGET_AVX512 static uint32_t largest_avx512(const float *x, int64_t count) { return largest_body(x, count); }
#endif

static largest_loop *choose_loop(mw__level level)
{
#if defined(__x86_64__)
    return level == MW__LEVEL_AVX512 ? largest_avx512 : level >= MW__LEVEL_AVX2 ? largest_avx2 : largest_base;
#else
    (void)level;
    return largest_base;
#endif
}

/* ---- the step ---- */

static bool is_proved(const factors_block *s, const mw__kernel_call *call)
{
    const struct mw__factors *factors = mw__step_as_factors(s->product);
    double bound = SLACK * (double)factors->terms;
    for (int i = 0; i < 2; i++)
        bound *= (double)mw__float_of(s->largest(call->in[i], factors->count[i]));
    return factors->terms <= TERMS_MAX && bound <= (double)s->watch.limit; /* false for NaN */
}

/* The product's code, with its result where only these rows lie in scratch. */
static bool rows_are_within(const factors_block *s, const mw__kernel_call *call, int64_t begin, int64_t end)
{
    char *panel = (char *)call->scratch + s->panel;
    void *out = (void *)((uintptr_t)panel - (uintptr_t)begin * s->row);
    const mw__kernel_call inner = {
        .block = s->product->block, .in = call->in, .out = &out, .scratch = call->scratch, .begin = begin, .end = end};
    s->product->run(&inner);
    return s->watch.loop((const float *)(const void *)panel, (end - begin) * (int64_t)(s->row / sizeof(float)),
                         s->watch.limit);
}

static void factors_run(const mw__kernel_call *call)
{
    const factors_block *s = call->block;
    const int64_t units = s->product->units;
    bool within = true;
    for (int64_t begin = is_proved(s, call) ? units : 0; begin < units && within; begin += s->rows)
        within = rows_are_within(s, call, begin, units - begin < s->rows ? units : begin + s->rows);
    mw__finite_check_write(call->out[0], 0, s->numbers, !within);
}

static void fill_factors(factors_block *s, const mw__step *product, const mw__step *watch, mw__level level)
{
    *s = (factors_block){.product = product,
                         .watch = *mw__step_as_check(watch),
                         .numbers = watch->units,
                         .largest = choose_loop(level),
                         .row = product->writes[0].unit,
                         .panel = (product->scratch + 63) / 64 * 64};
    s->rows = s->row < PANEL_BYTES ? (int64_t)(PANEL_BYTES / s->row) : 1;
}

mw__step *mw__finite_check_factors(mw__arena *arena, const mw__step *product, const mw__step *watch, mw__level level,
                                   mw_error *err)
{
    factors_block *s = mw__arena_alloc(arena, 1, sizeof *s, err);
    mw__step *step = mw__step_copy(arena, product, err);
    if (s == NULL || step == NULL)
        return NULL;
    fill_factors(s, product, watch, level);
    mw__step_operand *const reads = step->reads, *const writes = step->writes;
    const double count = (double)(mw__step_as_factors(product)->count[0] + mw__step_as_factors(product)->count[1]);
    *step = (mw__step){.op = watch->op,
                       .group.ops = watch->group.ops,
                       .group.count = watch->group.count,
                       .report.label = "all_within.factors",
                       .run = factors_run,
                       .block = s,
                       .units = 1,
                       .grain = 1,
                       .scratch = s->panel + (size_t)s->rows * s->row,
                       .cost = mw__cost(4.0 * count, 0.25 * count),
                       .report.flops = watch->report.flops,
                       .report.helper = watch->report.helper,
                       .read_count = 2,
                       .write_count = 1,
                       .capacity.reads = 2,
                       .capacity.writes = 1,
                       .reads = reads,
                       .writes = writes};
    for (int i = 0; i < 2; i++)
        reads[i] = (mw__step_operand){.buffer = product->reads[i].buffer, .access = MW__WHOLE};
    writes[0] = (mw__step_operand){
        .buffer = watch->writes[0].buffer, .access = MW__ROWS, .unit = (size_t)watch->units * watch->writes[0].unit};
    return step;
}
