/* Whether all elements of tensors are within limits: products of reduce_min(select(abs(x) <= limit, 1, 0)) over all
 * axes, the test of loss, gradients and new values before an update. No number is rounded in it, so that it gives the
 * same bits however it is computed: one step looks at each large tensor, unit by unit, and one at all small ones and at
 * what those have said. */
#include "engine/core/kernel.h"
#include "engine/kernels/pattern_plans.h"
#include "engine/kernels/reduce/within.h"

#include <math.h>
#include <string.h>

#define SMALL 4096 /* elements of a tensor that the last step looks at itself */

/* ---- the loop ---- */

MW__INLINE bool within_body(const float *x, int64_t count, float limit)
{
    int32_t beyond = 0;
    MW__VECTORIZE for (int64_t i = 0; i < count; i++) { beyond |= !(fabsf(x[i]) <= limit); /* NaN too */ }
    return beyond == 0;
}

static bool within_base(const float *x, int64_t count, float limit) { return within_body(x, count, limit); }
#if defined(__x86_64__)
MW__TARGET_AVX2 static bool within_avx2(const float *x, int64_t count, float limit)
{
    return within_body(x, count, limit);
}
MW__TARGET_AVX512 static bool within_avx512(const float *x, int64_t count, float limit)
{
    return within_body(x, count, limit);
}
#endif

static mw__within_loop *choose_loop(mw__level level)
{
#if defined(__x86_64__)
    return level == MW__LEVEL_AVX512 ? within_avx512 : level >= MW__LEVEL_AVX2 ? within_avx2 : within_base;
#else
    (void)level;
    return within_base;
#endif
}

/* ---- a large tensor ---- */

void mw__finite_check_write(float *out, int64_t begin, int64_t end, bool beyond)
{
    memset(out + begin, 0, (size_t)(end - begin) * sizeof *out);
    out[begin] = beyond ? 1.0f : 0.0f;
}

static void watch_run(const mw__kernel_call *call)
{
    const struct mw__finite_check *s = call->block;
    int64_t begin, end;
    mw__units_range(call, s->elements, s->count, &begin, &end);
    const bool within = s->loop((const float *)call->in[0] + begin, end - begin, s->limit);
    mw__finite_check_write(call->out[0], call->begin, call->end, !within);
}

/* ---- all together ---- */

typedef struct joined {
    int64_t count;
    float limit;
} joined;

typedef struct join_block {
    mw__within_loop *loop;
    size_t read_count;
    bool last;    /* writes the product: 1 if all are within */
    bool flagged; /* and the same as a truth */
    joined reads[MW__STEP_READS];
} join_block;

static bool is_within(const join_block *s, const float *x, size_t index)
{
    const joined *read = &s->reads[index];
    return read->count == 1 ? fabsf(x[0]) <= read->limit : s->loop(x, read->count, read->limit);
}

static void join_run(const mw__kernel_call *call)
{
    const join_block *s = call->block;
    bool within = true;
    for (size_t i = 0; i < s->read_count; i++)
        within = is_within(s, call->in[i], i) && within;
    *(float *)call->out[0] = within == s->last ? 1.0f : 0.0f;
    if (s->flagged)
        *(uint8_t *)call->out[1] = within;
}

/* ---- reading ---- */

static bool is_number(const mw_tensor *value, float number)
{
    return value->payload != NULL && value->payload->data != NULL && value->type->dtype == MW_F32 &&
           mw__count_of(value) == 1 && (float)mw__payload_float(value->payload, 0) == number;
}

static const mw__op *made_by(const mw_tensor *value, const char *kind)
{
    return value->op != NULL && strcmp(value->op->kind, kind) == 0 ? value->op : NULL;
}

static const mw_tensor *read_select(const mw__op *select, float *out_limit)
{
    if (mw__count_of(select->results[0]) < 1 || !is_number(mw__arg(select, "a"), 1.0f) ||
        !is_number(mw__arg(select, "b"), 0.0f))
        return NULL;
    const mw__op *compare = made_by(mw__arg(select, "cond"), "less_equal");
    const mw__op *magnitude = compare != NULL ? made_by(mw__arg(compare, "x"), "abs") : NULL;
    const mw_tensor *limit = compare != NULL ? mw__arg(compare, "y") : NULL;
    if (magnitude == NULL || limit->payload == NULL || limit->payload->data == NULL || mw__count_of(limit) != 1)
        return NULL;
    const mw_tensor *x = mw__arg(magnitude, "x");
    *out_limit = (float)mw__payload_float(limit->payload, 0);
    return mw__dtype_of(x) == MW_F32 && mw__count_of(x) == mw__count_of(select->results[0]) ? x : NULL;
}

const mw_tensor *mw__all_within_read(const mw_tensor *good, float *out_limit)
{
    if (mw__count_of(good) != 1 || mw__dtype_of(good) != MW_F32)
        return NULL;
    const mw__op *minimum = made_by(good, "reduce_min");
    const mw__op *select = made_by(minimum != NULL ? mw__arg(minimum, "x") : good, "select");
    return select != NULL ? read_select(select, out_limit) : NULL;
}

/* ---- planning ---- */

static void plan_watch(mw__planner *planner, const mw_tensor *x, float limit, uint32_t flags)
{
    struct mw__finite_check *block = mw__plan_block(planner, sizeof *block);
    if (block == NULL)
        return;
    const mw__units split = mw__units_of(planner, mw__shape_of(x));
    const double count = (double)mw__count_of(x);
    *block = (struct mw__finite_check){.limit = limit,
                                       .elements = split.elements,
                                       .count = mw__count_of(x),
                                       .loop = choose_loop(mw__plan_level(planner))};
    mw__step *step = mw__plan_step(planner, watch_run, "all_within", split.units, mw__cost(4.0 * count, 0.25 * count));
    step->block = step->fusion.as.check = block;
    step->fusion.kind = MW__STEP_CHECK;
    mw__step_read(planner, step, mw__plan_buffer(planner, x), MW__ROWS, (size_t)split.elements * sizeof(float), false);
    mw__step_write(planner, step, flags, MW__ROWS, sizeof(float));
}

typedef struct join_builder {
    mw__planner *planner;
    join_block *block;
    mw__step *step;
} join_builder;

static void begin_join(join_builder *b)
{
    b->block = mw__plan_block(b->planner, sizeof *b->block);
    b->step = mw__plan_step(b->planner, join_run, "all_within.join", 1, mw__cost(0.0, 0.0));
    b->step->block = b->block;
    if (b->block != NULL)
        b->block->loop = choose_loop(mw__plan_level(b->planner));
}

static void join_buffer(join_builder *b, uint32_t buffer, int64_t count, float limit)
{
    if (b->block == NULL)
        return;
    b->block->reads[b->block->read_count++] = (joined){count, limit};
    b->step->cost += mw__cost(4.0 * (double)count, 0.25 * (double)count);
    mw__step_read(b->planner, b->step, buffer, MW__WHOLE, 0, false);
}

static void end_join(join_builder *b, uint32_t out, bool last)
{
    if (b->block != NULL)
        b->block->last = last;
    mw__step_write(b->planner, b->step, out, MW__ROWS, sizeof(float));
}

/* A join that is full hands on what it has found. */
static void make_room(join_builder *b)
{
    if (b->block == NULL || b->block->read_count < MW__STEP_READS)
        return;
    const uint32_t so_far = mw__plan_temporary(b->planner, sizeof(float));
    end_join(b, so_far, false);
    begin_join(b);
    join_buffer(b, so_far, 1, 0.5f);
}

/* Small tensors are left to the last step, unless an element-wise step makes them, which looks for nothing. */
static bool is_watched(const mw__planner *planner, const mw_tensor *x, uint32_t buffer)
{
    return mw__count_of(x) > SMALL || mw__plan_is_element(planner, buffer);
}

mw_status mw__plan_all_within(mw__planner *planner, const mw__all_within_match *match, mw_error *err)
{
    uint32_t *flags = mw__plan_block(planner, (match->count + 1) * sizeof *flags);
    if (flags == NULL)
        return mw__plan_check(planner, err);
    for (size_t i = 0; i < match->count; i++) {
        const mw__good *good = &match->goods[i];
        if (!is_watched(planner, good->x, mw__plan_buffer(planner, good->x)))
            continue;
        const size_t units = (size_t)mw__units_of(planner, mw__shape_of(good->x)).units;
        flags[i] = mw__plan_temporary(planner, units * sizeof(float));
        plan_watch(planner, good->x, good->limit, flags[i]);
    }
    join_builder b = {.planner = planner};
    begin_join(&b);
    for (size_t i = 0; i < match->count; i++) {
        const mw__good *good = &match->goods[i];
        make_room(&b);
        if (flags[i] == 0)
            join_buffer(&b, mw__plan_buffer(planner, good->x), mw__count_of(good->x), good->limit);
        else
            join_buffer(&b, flags[i], mw__units_of(planner, mw__shape_of(good->x)).units, 0.5f);
    }
    end_join(&b, mw__plan_buffer(planner, match->result), true);
    if (match->flag != NULL && b.block != NULL) {
        b.block->flagged = true;
        mw__step_write(planner, b.step, mw__plan_buffer(planner, match->flag), MW__ROWS, 1);
    }
    return mw__plan_check(planner, err);
}
