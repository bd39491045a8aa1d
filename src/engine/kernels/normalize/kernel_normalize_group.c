/* layer_norm, instance_norm and l2_norm: a unit is one group of elements that share their statistics. It is brought
 * into scratch as fp32, or into the result if that is fp32 in one piece, its mean is taken out before the squares are
 * summed, and each result is rounded once. Groups need not be contiguous. */
#include "base/number/fp16.h"
#include "engine/core/kernel.h"
#include "engine/kernels/reduce/simd_reduce.h"

#include <math.h>
#include <string.h>

typedef struct group_block {
    mw__nd_iter groups;   /* one operand: the first element of each group */
    mw__nd_iter elements; /* one operand: those of a group, from its first */
    int64_t n;            /* elements of a group */
    int64_t channels;     /* gamma and beta: one each for group index % channels; 0 = one for each element of a group */
    bool contiguous;      /* group after group, without gaps */
    bool center;          /* takes out the mean and divides the squares by n; l2_norm does neither */
    bool has_gamma, has_beta;
    mw_dtype dtype;
    float epsilon;
    void (*subtract_mean)(float *row, const float *x, int64_t n);
    float (*sum_squares)(const float *row, int64_t n);
    void (*scale_all)(float *row, int64_t n, float factor);
    void (*scale_each)(float *row, int64_t n, float factor, const float *gamma, const float *beta);
} group_block;

/* row = x - mean(x); row may be x */
MW__INLINE void subtract_mean_body(float *row, const float *x, int64_t n)
{
    const float mean = mw__lanes_sum(x, n) / (float)n;
    MW__VECTORIZE for (int64_t i = 0; i < n; i++) row[i] = x[i] - mean;
}
MW__BASE_AVX2_AVX512(subtract_mean, (float *row, const float *x, int64_t n), (row, x, n))

MW__INLINE float sum_squares_body(const float *row, int64_t n)
{
    float part[MW__PARTIALS] = {0};
    int64_t i = 0;
    for (; i + MW__PARTIALS <= n; i += MW__PARTIALS)
        for (int lane = 0; lane < MW__PARTIALS; lane++)
            part[lane] += row[i + lane] * row[i + lane];
    for (int lane = 0; i < n; i++, lane++)
        part[lane] += row[i] * row[i];
    return mw__lanes_sum(part, MW__PARTIALS);
}
static float sum_squares_base(const float *row, int64_t n) { return sum_squares_body(row, n); }
#if defined(__x86_64__)
MW__TARGET_AVX2 static float sum_squares_avx2(const float *row, int64_t n) { return sum_squares_body(row, n); }
MW__TARGET_AVX512 static float sum_squares_avx512(const float *row, int64_t n) { return sum_squares_body(row, n); }
#endif

MW__INLINE void scale_all_body(float *row, int64_t n, float factor)
{
    MW__VECTORIZE for (int64_t i = 0; i < n; i++) row[i] *= factor;
}
MW__BASE_AVX2_AVX512(scale_all, (float *row, int64_t n, float factor), (row, n, factor))

/* row = row factor gamma + beta, both as long as the row */
MW__INLINE void scale_each_body(float *row, int64_t n, float factor, const float *gamma, const float *beta)
{
    MW__VECTORIZE for (int64_t i = 0; i < n; i++) row[i] = row[i] * factor * gamma[i] + beta[i];
}
MW__BASE_AVX2_AVX512(scale_each, (float *row, int64_t n, float factor, const float *gamma, const float *beta),
                     (row, n, factor, gamma, beta))

/* ---- a group between memory and scratch ---- */

/* The group as fp32: where it lies, or in `row`. */
static const float *read_group(const group_block *s, const void *data, int64_t base, float *row)
{
    if (s->contiguous)
        return mw__tile_load(data, s->dtype, base, s->n, row);
    mw__nd_position position;
    mw__nd_position_seek(&s->elements, &position, 0);
    const int64_t step = s->elements.stride[0][s->elements.rank - 1];
    for (int64_t done = 0; done < s->n;) {
        const int64_t run = mw__nd_position_run(&s->elements, &position, s->n - done), at = base + position.offset[0];
        for (int64_t i = 0; i < run; i++)
            row[done + i] = s->dtype == MW_F32 ? ((const float *)data)[at + i * step]
                                               : mw__fp16_to_float(((const uint16_t *)data)[at + i * step]);
        done += run;
        mw__nd_position_step(&s->elements, &position, run);
    }
    return row;
}

static void write_group(const group_block *s, void *data, int64_t base, const float *row)
{
    if (s->contiguous) {
        mw__tile_store(data, s->dtype, base, s->n, row);
        return;
    }
    mw__nd_position position;
    mw__nd_position_seek(&s->elements, &position, 0);
    const int64_t step = s->elements.stride[0][s->elements.rank - 1];
    for (int64_t done = 0; done < s->n;) {
        const int64_t run = mw__nd_position_run(&s->elements, &position, s->n - done), at = base + position.offset[0];
        for (int64_t i = 0; i < run; i++) {
            if (s->dtype == MW_F32)
                ((float *)data)[at + i * step] = row[done + i];
            else
                ((uint16_t *)data)[at + i * step] = mw__fp16_from_float(row[done + i]);
        }
        done += run;
        mw__nd_position_step(&s->elements, &position, run);
    }
}

/* ---- execution ---- */

static void scale_group(const group_block *s, int64_t group, float factor, const float *gamma, const float *beta,
                        float *row)
{
    const int64_t channel = s->channels > 0 ? group % s->channels : 0;
    const bool each = s->channels == 0;
    if (gamma == NULL && beta == NULL) {
        s->scale_all(row, s->n, factor);
        return;
    }
    if (each && gamma != NULL && beta != NULL) {
        s->scale_each(row, s->n, factor, gamma, beta);
        return;
    }
    for (int64_t i = 0; i < s->n; i++) {
        float value = row[i] * factor;
        if (gamma != NULL)
            value *= gamma[each ? i : channel];
        row[i] = beta != NULL ? value + beta[each ? i : channel] : value;
    }
}

static void group_run(const mw__kernel_call *call)
{
    const group_block *s = call->block;
    const float *gamma = s->has_gamma ? call->in[1] : NULL;
    const float *beta = s->has_beta ? call->in[s->has_gamma ? 2 : 1] : NULL;
    const bool direct = s->contiguous && s->dtype == MW_F32;
    for (int64_t group = call->begin; group < call->end; group++) {
        mw__nd_position position;
        mw__nd_position_seek(&s->groups, &position, group);
        const float *x = read_group(s, call->in[0], position.offset[0], call->scratch);
        float *row = direct ? (float *)call->out[0] + position.offset[0] : call->scratch;
        if (s->center)
            s->subtract_mean(row, x, s->n);
        else if (row != x)
            memcpy(row, x, (size_t)s->n * sizeof *row);
        const float squares = s->sum_squares(row, s->n);
        const float factor = 1.0f / sqrtf((s->center ? squares / (float)s->n : squares) + s->epsilon);
        scale_group(s, group, factor, gamma, beta, row);
        if (!direct)
            write_group(s, call->out[0], position.offset[0], row);
    }
}

/* ---- planning ---- */

static void fill_iters(group_block *s, mw_shape shape, const bool *in_group)
{
    int64_t stride[MW_RANK_MAX];
    mw__nd_row_major(shape, stride);
    s->groups.operands = s->elements.operands = 1;
    for (int axis = 0; axis < shape.rank; axis++)
        mw__nd_iter_add(in_group[axis] ? &s->elements : &s->groups, shape.dim[axis], &stride[axis]);
    mw__nd_iter_finish(&s->groups);
    mw__nd_iter_finish(&s->elements);
    s->n = mw__nd_iter_count(&s->elements);
    const bool dense = s->elements.rank == 1 && (s->n == 1 || s->elements.stride[0][0] == 1);
    s->contiguous = dense && s->groups.rank == 1 && (s->groups.extent[0] == 1 || s->groups.stride[0][0] == s->n);
}

static void plan_groups(mw__planner *planner, const mw__op *op, const mw_tensor *gamma, const mw_tensor *beta,
                        group_block *s)
{
    const mw_tensor *x = mw__arg(op, "x");
    const size_t size = mw__dtype_size(s->dtype), unit = s->contiguous ? (size_t)s->n * size : 0;
    const mw__access access = s->contiguous ? MW__ROWS : MW__WHOLE;
    const uint32_t gammas = gamma != NULL ? mw__plan_floats(planner, gamma) : 0;
    const uint32_t betas = beta != NULL ? mw__plan_floats(planner, beta) : 0;
    const double count = (double)mw__count_of(x);
    mw__step *step = mw__plan_step(planner, group_run, op->row->name, mw__nd_iter_count(&s->groups),
                                   mw__cost(count * (double)size * 2, count * 6));
    step->block = s;
    step->span = s->contiguous;
    step->scratch = (size_t)s->n * sizeof(float);
    mw__step_read(planner, step, mw__plan_buffer(planner, x), access, unit, s->contiguous);
    if (gamma != NULL)
        mw__step_read(planner, step, gammas, MW__WHOLE, 0, false);
    if (beta != NULL)
        mw__step_read(planner, step, betas, MW__WHOLE, 0, false);
    mw__step_write(planner, step, mw__plan_buffer(planner, op->results[0]), access, unit);
}

/* A block for groups over the marked axes; NULL when there is nothing to compute. */
static group_block *make_block(mw__planner *planner, const mw__op *op, const bool *in_group, bool center)
{
    const mw_tensor *x = mw__arg(op, "x");
    group_block *s = mw__plan_block(planner, sizeof *s);
    if (s == NULL || mw__count_of(x) == 0)
        return NULL;
    double epsilon = 0.0;
    mw__arg_float(op, "epsilon", &epsilon);
    *s = (group_block){.dtype = mw__dtype_of(x), .epsilon = (float)epsilon, .center = center};
    s->subtract_mean = MW__DISPATCH_BEST(subtract_mean, mw__plan_level(planner));
    s->sum_squares = MW__DISPATCH_BEST(sum_squares, mw__plan_level(planner));
    s->scale_all = MW__DISPATCH_BEST(scale_all, mw__plan_level(planner));
    s->scale_each = MW__DISPATCH_BEST(scale_each, mw__plan_level(planner));
    fill_iters(s, mw__shape_of(x), in_group);
    return s;
}

static mw_status plan_affine(mw__planner *planner, const mw__op *op, const bool *in_group, int64_t channels,
                             mw_error *err)
{
    const mw_tensor *gamma = mw__arg(op, "gamma"), *beta = mw__arg(op, "beta");
    group_block *s = make_block(planner, op, in_group, true);
    if (s == NULL)
        return mw__plan_check(planner, err);
    s->channels = channels;
    s->has_gamma = gamma != NULL;
    s->has_beta = beta != NULL;
    plan_groups(planner, op, gamma, beta, s);
    return mw__plan_check(planner, err);
}

mw_status mw__kernel_layer_norm(mw__planner *planner, const mw__op *op, mw_error *err)
{
    const int rank = mw__shape_of(mw__arg(op, "x")).rank;
    int64_t axes[MW_RANK_MAX];
    size_t count = 0;
    bool in_group[MW_RANK_MAX] = {false};
    const bool all = !mw__arg_ints(op, "axes", axes, MW_RANK_MAX, &count);
    for (int axis = 0; all && axis < rank; axis++)
        in_group[axis] = true;
    for (size_t i = 0; i < count; i++)
        in_group[axes[i] < 0 ? axes[i] + rank : axes[i]] = true;
    return plan_affine(planner, op, in_group, 0, err);
}

mw_status mw__kernel_instance_norm(mw__planner *planner, const mw__op *op, mw_error *err)
{
    static const bool spatial[MW_RANK_MAX] = {false, false, true, true, true, true, true, true};
    return plan_affine(planner, op, spatial, mw__shape_of(mw__arg(op, "x")).dim[1], err);
}

mw_status mw__kernel_l2_norm(mw__planner *planner, const mw__op *op, mw_error *err)
{
    const int rank = mw__shape_of(mw__arg(op, "x")).rank;
    bool in_group[MW_RANK_MAX] = {false};
    for (int axis = rank - 3; axis < rank; axis++)
        in_group[axis] = true;
    group_block *s = make_block(planner, op, in_group, false);
    if (s != NULL)
        plan_groups(planner, op, NULL, NULL, s);
    return mw__plan_check(planner, err);
}
