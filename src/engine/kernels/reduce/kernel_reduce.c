/* Reductions over any set of axes. Sums of floats are taken in fp32 over at most 512 elements in 16 interleaved partial
 * sums (64 rows, for columns), and those are added in double, always in index order; squares and magnitudes are formed
 * in fp32, products in double; the result is rounded once. Sums and products of I32 wrap around; what has
 * a fraction (mean, root, logarithm) is truncated, as by cast. An empty reduction gives 0 (sums and norms), 1
 * (product), NaN or integer 0 (mean), -inf or INT_MIN (max and log_sum_exp), inf or INT_MAX (min). */
#include "engine/kernels/reduce/kernel_reduce.h"
#include "engine/kernels/fused/fused.h"
#include "engine/kernels/implementation.h"

#include <string.h>

/* ---- planning ---- */

static mw__reduction kind_of(mw__op_id id)
{
    switch (id) {
    case MW__OP_reduce_mean:
        return MW__REDUCE_MEAN;
    case MW__OP_reduce_max:
        return MW__REDUCE_MAX;
    case MW__OP_reduce_min:
        return MW__REDUCE_MIN;
    case MW__OP_reduce_log_sum_exp:
        return MW__REDUCE_LOG_SUM_EXP;
    case MW__OP_reduce_prod:
        return MW__REDUCE_PROD;
    case MW__OP_reduce_sum_square:
        return MW__REDUCE_SUM_SQUARE;
    case MW__OP_reduce_l1_norm:
        return MW__REDUCE_L1_NORM;
    case MW__OP_reduce_l2_norm:
        return MW__REDUCE_L2_NORM;
    case MW__OP_reduce_log_sum:
        return MW__REDUCE_LOG_SUM;
    default:
        return MW__REDUCE_SUM;
    }
}

static mw_status reduced_axes(const mw__op *op, int rank, bool *out, mw_error *err)
{
    int64_t axes[MW_RANK_MAX];
    size_t count = 0;
    char subject[128];
    const bool given = mw__arg_present(op, "axes");
    if (given && !mw__arg_ints(op, "axes", axes, MW_RANK_MAX, &count))
        return mw__fail(err, MW_ERROR_UNSUPPORTED, "%s: axes must be constants",
                        mw__op_subject(op, subject, sizeof subject));
    for (int axis = 0; axis < rank; axis++)
        out[axis] = !given;
    for (size_t i = 0; i < count; i++) {
        if (axes[i] < -rank || axes[i] >= rank)
            return mw__fail(err, MW_ERROR_ARGUMENT, "%s: axis %lld is outside rank %d",
                            mw__op_subject(op, subject, sizeof subject), (long long)axes[i], rank);
        out[axes[i] < 0 ? axes[i] + rank : axes[i]] = true;
    }
    return MW_OK;
}

/* Parts the loops of x into kept and reduced ones. True if the innermost loop of x that turns is a kept one. */
static bool part_loops(mw__reduce_block *s, mw_shape shape, const bool *reduced)
{
    int64_t strides[MW_RANK_MAX], below = 1;
    bool inner_kept = false;
    for (int axis = shape.rank - 1; axis >= 0; axis--) {
        if (below == 1 && shape.dim[axis] != 1)
            inner_kept = !reduced[axis];
        strides[axis] = below;
        below *= shape.dim[axis];
    }
    s->outer.operands = s->inner.operands = 1;
    for (int axis = 0; axis < shape.rank; axis++)
        mw__nd_iter_add(reduced[axis] ? &s->inner : &s->outer, shape.dim[axis], &strides[axis]);
    mw__nd_iter_finish(&s->outer);
    mw__nd_iter_finish(&s->inner);
    return inner_kept;
}

/* True if the reduced axes are the last ones, so that result i needs elements [i * reduced, (i + 1) * reduced). */
static bool trailing(mw_shape shape, const bool *reduced)
{
    bool seen = false;
    for (int axis = 0; axis < shape.rank; axis++) {
        if (seen && !reduced[axis] && shape.dim[axis] != 1)
            return false;
        seen = seen || (reduced[axis] && shape.dim[axis] != 1);
    }
    return true;
}

/* ---- the ways to reduce ---- */

typedef struct reduce_request {
    mw__reduce_block *block;
    mw__level level;
    bool columns;
    bool narrow; /* in fp16, as a chip may (rules/arithmetic.def) */
} reduce_request;

static const char *narrow_declines(const void *subject)
{
    const reduce_request *r = subject;
    return r->narrow ? NULL : "sums are wide";
}

static const char *chunks_decline(const void *subject)
{
    const reduce_request *r = subject;
    return r->block->count == 1 && r->block->reduced > 2 * MW__REDUCE_CHUNK ? NULL : "several results, or few elements";
}

/* Fills the block of the small kernels, which only they read. */
static mw__kernel *find_small(const reduce_request *r, mw__reduce_small_find *find)
{
    mw__reduce_block *s = r->block;
    s->small = (mw__reduce_small){.elements = s->elements, .count = s->count, .mean = s->kind == MW__REDUCE_MEAN};
    const bool sums = s->dtype == MW_F32 && (s->kind == MW__REDUCE_SUM || s->kind == MW__REDUCE_MEAN);
    return sums ? find(r->level, &s->outer, &s->inner, &s->small) : NULL;
}

static bool are_columns(const reduce_request *r)
{
    const mw__reduce_block *s = r->block;
    return r->columns || (s->reduced == 1 && s->outer.stride[0][0] == 1);
}

static const char *short_declines(const void *subject)
{
    const reduce_request *r = subject;
    return !r->columns && mw__reduce_is_short(r->block) ? NULL : "no short rows of fp32, one behind the other";
}

static const char *small_columns_decline(const void *subject)
{
    const reduce_request *r = subject;
    return are_columns(r) && find_small(r, mw__reduce_small_columns) != NULL ? NULL
                                                                             : "no fp32 sums of few rows side by side";
}

static const char *small_rows_decline(const void *subject)
{
    const reduce_request *r = subject;
    return !are_columns(r) && find_small(r, mw__reduce_small_rows) != NULL ? NULL : "no fp32 sums of short rows";
}

static const char *columns_decline(const void *subject)
{
    const reduce_request *r = subject;
    return r->columns ? NULL : "neighboring results do not read neighboring elements";
}

static mw__implementations reductions(void)
{
    static const mw__implementation rows[] = {
        {.name = "narrow", .declines = narrow_declines, .run = mw__reduce_narrow},
        {.name = "chunks", .declines = chunks_decline, .run = mw__reduce_chunks},
        {.name = "short", .level = MW__LEVEL_BASE, .declines = short_declines, .run = mw__reduce_short},
        {.name = "small columns", .level = MW__LEVEL_BASE, .declines = small_columns_decline},
        {.name = "small rows", .level = MW__LEVEL_BASE, .declines = small_rows_decline},
        {.name = "columns", .declines = columns_decline, .run = mw__reduce_columns},
        {.name = "rows", .run = mw__reduce_rows},
    };
    return MW__IMPLEMENTATIONS(rows);
}

/* Operations that make `to` numbers of `from`; 0 where functions are in it. */
static double folding_flops(const mw__reduce_block *s, double from, double to)
{
    const bool plain = s->kind == MW__REDUCE_SUM || s->kind == MW__REDUCE_MEAN || s->kind == MW__REDUCE_MAX ||
                       s->kind == MW__REDUCE_MIN || s->kind == MW__REDUCE_PROD;
    return plain && s->dtype != MW_I32 ? from - to : 0.0;
}

/* x is contiguous here, as every axis is reduced. */
static mw_status plan_chunks(mw__planner *planner, const mw__op *op, const mw__reduce_block *s, double cost,
                             mw_error *err)
{
    const int64_t count = (s->reduced - 1) / MW__REDUCE_CHUNK + 1;
    const size_t unit = sizeof(mw__reduce_totals);
    const uint32_t totals = mw__plan_temporary(planner, (size_t)count * unit);
    mw__step *step = mw__plan_step(planner, mw__reduce_chunks, op->row->name, count, cost);
    step->block = s;
    step->report.flops = folding_flops(s, (double)s->reduced, (double)count);
    mw__step_read(planner, step, mw__plan_buffer(planner, mw__arg(op, "x")), MW__ROWS,
                  MW__REDUCE_CHUNK * mw__dtype_size(s->dtype), false);
    mw__step_write(planner, step, totals, MW__ROWS, unit);
    step = mw__plan_step(planner, mw__reduce_chunks_finish, op->row->name, 1, (double)count * 10.0);
    step->block = s;
    step->report.flops = folding_flops(s, (double)count + (s->kind == MW__REDUCE_MEAN), 1.0);
    mw__step_read(planner, step, totals, MW__WHOLE, 0, false);
    mw__step_write(planner, step, mw__plan_buffer(planner, op->results[0]), MW__ROWS, mw__dtype_size(s->dtype));
    return mw__plan_check(planner, err);
}

static bool is_narrow(const mw__planner *planner, const mw__op *op)
{
    return op->row->id == MW__OP_reduce_sum && mw__dtype_of(op->results[0]) == MW_F32 &&
           mw__plan_is_half(planner, op->results[0]) &&
           (mw__plan_config(planner)->arithmetic & MW__ARITHMETIC(narrow_sums)) != 0;
}

/* What a plain sum or mean sums, as [planes, results, run]; false for another form. */
static bool read_planes(const mw__reduce_block *s, mw__sum *out)
{
    const mw__nd_iter *outer = &s->outer, *inner = &s->inner;
    const int64_t innermost = inner->stride[0][inner->rank - 1], step = outer->stride[0][0];
    *out = (mw__sum){.planes = 1, .results = s->count, .run = 1, .mean = s->kind == MW__REDUCE_MEAN};
    if (outer->rank != 1 || s->count < 2 || s->reduced < 2)
        return false;
    if (inner->rank == 1 && innermost != 1) {
        out->planes = inner->extent[0];
        return step == 1 && innermost == s->count;
    }
    out->run = inner->extent[inner->rank - 1];
    out->planes = inner->rank == 2 ? inner->extent[0] : 1;
    return innermost == 1 && step == out->run && inner->rank <= 2 &&
           (inner->rank == 1 || inner->stride[0][0] == s->count * out->run);
}

/* Says so of a sum that a group may add. */
static void say_sum(mw__planner *planner, const reduce_request *r, const mw_tensor *result, mw__step *step)
{
    const mw__reduce_block *s = r->block;
    mw__sum sum, *kept;
    if (r->narrow || s->dtype != MW_F32 || (s->kind != MW__REDUCE_SUM && s->kind != MW__REDUCE_MEAN) ||
        !read_planes(s, &sum) || (kept = mw__plan_block(planner, sizeof *kept)) == NULL)
        return;
    *kept = sum;
    kept->round = mw__plan_rounds(planner, result);
    step->fusion.kind = MW__STEP_REDUCTION, step->fusion.as.sum = kept;
}

mw_status mw__kernel_reduce(mw__planner *planner, const mw__op *op, mw_error *err)
{
    const mw_tensor *x = mw__arg(op, "x"), *result = op->results[0];
    const mw_dtype dtype = mw__dtype_of(result);
    const mw_shape shape = mw__shape_of(x);
    bool reduced[MW_RANK_MAX];
    if (dtype != MW_F32 && dtype != MW_F16 && dtype != MW_I32)
        return mw__kernel_unsupported(op, dtype, err);
    MW_TRY(reduced_axes(op, shape.rank, reduced, err));
    mw__reduce_block *s = mw__plan_block(planner, sizeof *s);
    if (s == NULL || mw__count_of(result) == 0)
        return mw__plan_check(planner, err);
    const bool columns = part_loops(s, shape, reduced) && dtype != MW_I32;
    s->kind = kind_of(op->row->id), s->dtype = dtype;
    s->count = mw__count_of(result), s->reduced = mw__nd_iter_count(&s->inner);
    s->plain = (s->kind == MW__REDUCE_SUM || s->kind == MW__REDUCE_MEAN) && dtype == MW_F32 && s->inner.rank == 1;
    mw__reduce_choose_loops(s, mw__plan_level(planner));
    const size_t size = mw__dtype_size(dtype);
    const double count = (double)mw__count_of(x), flops = s->kind == MW__REDUCE_LOG_SUM_EXP ? 24 : 1;
    const double cost = mw__cost(count * (double)size, count * flops);
    const reduce_request r = {
        .block = s, .level = mw__plan_level(planner), .columns = columns, .narrow = is_narrow(planner, op)};
    const mw__implementation *taken = mw__plan_implementation(planner, reductions(), &r);
    if (taken->run == mw__reduce_chunks)
        return plan_chunks(planner, op, s, cost, err);
    const bool rows = trailing(shape, reduced) && !columns && s->reduced > 0;
    s->trailing = rows;
    const mw__units split =
        rows ? (mw__units){.units = s->count, .elements = 1} : mw__units_of(planner, mw__shape_of(result));
    s->elements = split.elements;
    mw__kernel *const run = taken->run != NULL
                                ? taken->run
                                : find_small(&r, are_columns(&r) ? mw__reduce_small_columns : mw__reduce_small_rows);
    mw__step *step = mw__plan_step(planner, run, op->row->name, split.units, cost);
    step->block = taken->run != NULL ? (const void *)s : &s->small;
    step->report.flops = folding_flops(s, count, s->kind == MW__REDUCE_MEAN ? 0.0 : (double)s->count);
    step->span = rows;
    if (rows)
        mw__step_read(planner, step, mw__plan_buffer(planner, x), MW__ROWS, (size_t)s->reduced * size, false);
    else
        mw__step_read(planner, step, mw__plan_buffer(planner, x), MW__WHOLE, 0, false);
    mw__step_write(planner, step, mw__plan_buffer(planner, result), MW__ROWS, (size_t)split.elements * size);
    say_sum(planner, &r, result, step);
    return mw__plan_check(planner, err);
}
