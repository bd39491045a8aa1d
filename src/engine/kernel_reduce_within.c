/* Whether all elements of a tensor are within a limit: reduce_min(select(abs(x) <= limit, 1, 0)) over all axes, the
 * test of gradients before an update. No number is rounded in it, so that it gives the same bits in one pass as in
 * three. */
#include "engine/idiom.h"
#include "engine/kernel.h"

#include <math.h>
#include <string.h>

#define PIECE 4096 /* elements of a unit */

typedef bool within_loop(const float *x, int64_t count, float limit);

typedef struct within_block {
    int64_t count;
    float limit;
    within_loop *loop;
} within_block;

MW__INLINE bool within_body(const float *x, int64_t count, float limit)
{
    int32_t beyond = 0;
    MW__VECTORIZE for (int64_t i = 0; i < count; i++) { beyond |= !(fabsf(x[i]) <= limit); /* NaN too */ }
    return beyond == 0;
}

static bool within_base(const float *x, int64_t count, float limit) { return within_body(x, count, limit); }
#if defined(__x86_64__)
MW__WIDE_TARGET static bool within_wide(const float *x, int64_t count, float limit)
{
    return within_body(x, count, limit);
}
MW__WIDER_TARGET static bool within_wider(const float *x, int64_t count, float limit)
{
    return within_body(x, count, limit);
}
#endif

/* For each piece 1 if something in it is beyond the limit, else 0. */
static void within_run(const mw__kernel_call *call)
{
    const within_block *s = call->block;
    for (int64_t u = call->begin; u < call->end; u++) {
        const int64_t at = u * PIECE, left = s->count - at;
        ((float *)call->out[0])[u] =
            s->loop((const float *)call->in[0] + at, left < PIECE ? left : PIECE, s->limit) ? 0.0f : 1.0f;
    }
}

static void join_run(const mw__kernel_call *call)
{
    const within_block *s = call->block;
    *(float *)call->out[0] = s->loop(call->in[0], s->count, s->limit) ? 1.0f : 0.0f;
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

const mw_tensor *mw__all_within_read(const mw__op *minimum, float *out_limit)
{
    const mw__op *select = made_by(mw__arg(minimum, "x"), "select");
    if (select == NULL || mw__count_of(select->results[0]) < 1 || mw__count_of(minimum->results[0]) != 1 ||
        mw__dtype_of(minimum->results[0]) != MW_F32 || !is_number(mw__arg(select, "a"), 1.0f) ||
        !is_number(mw__arg(select, "b"), 0.0f))
        return NULL;
    const mw__op *compare = made_by(mw__arg(select, "cond"), "less_equal");
    const mw__op *magnitude = compare != NULL ? made_by(mw__arg(compare, "x"), "abs") : NULL;
    const mw_tensor *limit = compare != NULL ? mw__arg(compare, "y") : NULL;
    if (magnitude == NULL || limit->payload == NULL || limit->payload->data == NULL || mw__count_of(limit) != 1)
        return NULL;
    const mw_tensor *x = mw__arg(magnitude, "x");
    *out_limit = (float)mw__payload_float(limit->payload, 0);
    return mw__dtype_of(x) == MW_F32 && mw__count_of(x) == mw__count_of(mw__arg(minimum, "x")) ? x : NULL;
}

/* ---- planning ---- */

static within_loop *choose_loop(void)
{
#if defined(__x86_64__)
    const mw__level level = mw__loop_level();
    return level == MW__LEVEL_WIDER ? within_wider : level == MW__LEVEL_WIDE ? within_wide : within_base;
#else
    return within_base;
#endif
}

mw_status mw__plan_all_within(mw__planner *planner, const mw__idiom *idiom, mw_error *err)
{
    within_block *pieces = mw__plan_block(planner, sizeof *pieces), *joined = mw__plan_block(planner, sizeof *joined);
    if (pieces == NULL || joined == NULL)
        return mw__plan_check(planner, err);
    const int64_t count = mw__count_of(idiom->x), units = (count + PIECE - 1) / PIECE;
    *pieces = (within_block){.count = count, .loop = choose_loop()};
    mw__all_within_read(idiom->result->op, &pieces->limit);
    *joined = (within_block){.count = units, .limit = 0.5f, .loop = choose_loop()}; /* which 1 is beyond */
    const uint32_t parts = mw__plan_temporary(planner, (size_t)units * sizeof(float));
    mw__step *step =
        mw__plan_step(planner, within_run, "all_within", units, mw__cost(4.0 * (double)count, 0.25 * (double)count));
    step->block = pieces;
    mw__step_read(planner, step, mw__plan_buffer(planner, idiom->x), MW__ROWS, PIECE * sizeof(float), false);
    mw__step_write(planner, step, parts, MW__ROWS, sizeof(float));
    step = mw__plan_step(planner, join_run, "all_within.join", 1, mw__cost(4.0 * (double)units, (double)units));
    step->block = joined;
    mw__step_read(planner, step, parts, MW__WHOLE, 0, false);
    mw__step_write(planner, step, mw__plan_buffer(planner, idiom->result), MW__ROWS, sizeof(float));
    return mw__plan_check(planner, err);
}
