/* Matrix products: matmul with broadcast batches, and linear. Each partition multiplies its rows of the result; a
 * result of few rows is split by columns instead. F16 operands are widened to fp32 by steps of their own, the product
 * goes to a panel in scratch and is rounded once. I32 wraps around. */
#include "engine/kernels/gemm/matmul_block.h"
#include "engine/kernels/reduce/within.h"

#include <string.h>

/* ---- planning ---- */

static mw_shape batch_of(mw_shape shape)
{
    shape.rank -= 2;
    return shape;
}

/* The batch iter in elements of the operands, from the shapes [.., rows, columns] of x, y and the result. */
static mw__nd_iter batch_iter(mw_shape x, mw_shape y, mw_shape result)
{
    const int64_t matrix_x = x.dim[x.rank - 1] * x.dim[x.rank - 2], matrix_y = y.dim[y.rank - 1] * y.dim[y.rank - 2];
    mw__nd_iter iter = mw__nd_iter_broadcast(batch_of(result), (mw_shape[]){batch_of(x), batch_of(y)}, 2);
    for (int loop = 0; loop < iter.rank; loop++) {
        iter.stride[0][loop] *= matrix_x;
        iter.stride[1][loop] *= matrix_y;
    }
    return iter;
}

typedef struct operands {
    const mw_tensor *x, *y, *bias, *result;
    const mw_tensor *half; /* the fp16 that y is widened from, if it is; or NULL */
    mw_shape sx, sy, sr;   /* with the axes that rank 1 lacks */
    bool packs;            /* y may stay as it is stored */
} operands;

/* numpy.matmul: rank-1 x is [1, K], rank-1 y is [K, 1]. */
static void promote(operands *o)
{
    o->sx = mw__shape_of(o->x), o->sy = mw__shape_of(o->y), o->sr = mw__shape_of(o->result);
    if (mw__shape_of(o->y).rank == 1) {
        o->sy = MW_SHAPE(o->sy.dim[0], 1);
        o->sr.dim[o->sr.rank++] = 1;
    }
    if (mw__shape_of(o->x).rank == 1) {
        o->sx = MW_SHAPE(1, o->sx.dim[0]);
        o->sr.dim[o->sr.rank] = o->sr.dim[o->sr.rank - 1];
        o->sr.dim[o->sr.rank - 1] = 1;
        o->sr.rank++;
    }
}

/* Rows of x are rows of the result: x has the result's batches, or there are none. */
static bool rows_match(const operands *o, const mw__matmul_block *s)
{
    return !s->transpose_x && mw_shape_count(batch_of(o->sx)) == mw_shape_count(batch_of(o->sr));
}

/* Partitions that split rows read, pack and fetch from each other all of y, partitions that split columns all of x. The
 * latter moves the result through a barrier: worth it for a y that is wide and much larger than the result. The rows of
 * a transposed x are those of a weight, whose update goes on with them. */
#define COLUMNS_GAIN 131072.0 /* bytes */

static bool prefers_columns(const mw__matmul_block *s, int64_t partitions)
{
    const int64_t units = s->n / MW__MATMUL_COLUMNS;
    const double m = (double)s->m, n = (double)s->n, saved = (double)s->k * (n - m);
    return partitions > 1 && !s->transpose_x && s->n % MW__MATMUL_COLUMNS == 0 &&
           (units % partitions == 0 || units >= 8 * partitions) && saved > 2.0 * m * n &&
           saved * sizeof(float) >= COLUMNS_GAIN;
}

/* A large weight is read once for few rows: widened before, it would be written and read in twice the size. A BLAS may
 * add otherwise what it is given in parts. */
#define WIDENED_ROWS  64 /* at most */
#define WIDENED_LEAST 65536

/* One that stays in a cache is widened once for many products, as for the steps of a recurrent net. */
#define WIDENED_READS 2       /* products that read it, at most */
#define WIDENED_KEPT  1048576 /* elements that stay */

static bool is_kept(const mw__planner *planner, const operands *o, const mw__matmul_block *s)
{
    return mw__plan_reads(planner, o->y) > WIDENED_READS && s->n * s->k <= WIDENED_KEPT;
}

static bool widens_in_parts(const mw__matmul_block *s)
{
    return s->single && s->packed == NULL && s->dtype == MW_F32 && s->m <= WIDENED_ROWS && s->k > 0 &&
           (s->m == 1 || !s->transpose_x) && s->n * s->k >= WIDENED_LEAST && s->n > 1 && s->code.sgemm == NULL &&
           s->code.sums == MW__SUMS_FREE && s->code.level != MW__LEVEL_REF;
}

#define TURNED_READS 8 /* operands that y is, at least: as of the steps of a recurrent net */

static bool is_turned(const mw__planner *planner, const operands *o, const mw__matmul_block *s)
{
    return s->transpose_y && s->single && s->dtype == MW_F32 && s->packed == NULL && s->codes == NULL && !s->half_y &&
           o->sy.rank == 2 && mw__plan_reads(planner, o->y) >= TURNED_READS &&
           mw__gemm_gains_turned(&s->code, s->m, s->n, s->k);
}

uint32_t mw__plan_turned_matrix(mw__planner *planner, const mw_tensor *y, int64_t n, int64_t k)
{
    uint32_t *const kept = mw__plan_turned(planner, y);
    if (*kept != MW__NO_BUFFER)
        return *kept;
    *kept = mw__plan_temporary(planner, (size_t)(n * k) * sizeof(float));
    mw__copy copy = {.label = "transpose",
                     .from = mw__plan_buffer(planner, y),
                     .to = *kept,
                     .shape = MW_SHAPE(k, n),
                     .size = sizeof(float),
                     .iter = {.operands = 1}};
    mw__nd_iter_add(&copy.iter, k, &(int64_t){1});
    mw__nd_iter_add(&copy.iter, n, &k);
    mw__plan_copy(planner, &copy);
    return *kept;
}

static void fill_block(mw__planner *planner, const operands *o, mw__matmul_block *s)
{
    const mw_shape sx = o->sx, sy = o->sy, sr = o->sr;
    s->dtype = mw__dtype_of(o->result);
    s->has_bias = o->bias != NULL;
    s->m = sr.dim[sr.rank - 2], s->n = sr.dim[sr.rank - 1];
    s->ldx = sx.dim[sx.rank - 1], s->ldy = sy.dim[sy.rank - 1];
    s->k = s->transpose_x ? sx.dim[sx.rank - 2] : s->ldx;
    s->ldx = s->ldx > 0 ? s->ldx : 1; /* a BLAS refuses 0 */
    s->ldy = s->ldy > 0 ? s->ldy : 1;
    s->batch = batch_iter(sx, sy, sr);
    if (rows_match(o, s) && mw_shape_count(batch_of(sy)) == 1) { /* one tall product */
        s->m *= mw_shape_count(batch_of(sr));
        s->batch = batch_iter(MW_SHAPE(s->m, s->k), MW_SHAPE(1, 1), MW_SHAPE(s->m, s->n));
    }
    const int64_t partitions = mw__plan_partitions(planner), batches = mw__nd_iter_count(&s->batch);
    s->single = batches == 1;
    s->by_columns = s->single && s->n >= MW__MATMUL_COLUMNS &&
                    (mw__units_of(planner, MW_SHAPE(s->m, s->n)).elements != s->n || prefers_columns(s, partitions));
    const int64_t share = (s->m * batches + partitions - 1) / partitions;
    const int64_t rows = s->by_columns || share > s->m ? s->m : share;
    s->packed = o->packs && s->single && s->k > 0 ? o->y->packed : NULL;
    if (s->dtype != MW_I32)
        s->code = mw__plan_gemm_request(
            planner,
            (mw__gemm_request){
                .m = rows, .n = s->n, .k = s->k, .transpose_b = s->transpose_y, .in_strips = s->packed != NULL});
    s->codes = mw__plan_codes(planner, o->result);
    s->half_y = o->half != NULL && widens_in_parts(s) && !is_kept(planner, o, s);
    s->fed = s->half_y ? mw__plan_fed(planner, MW_F16) : NULL;
    s->turned = is_turned(planner, o, s);
    s->transpose_y = s->transpose_y && !s->turned;
    s->ldy = s->turned ? s->n : s->ldy;
    s->shape = (mw__gemm_shape){.n = s->n,
                                .k = s->k,
                                .lda = s->ldx,
                                .ldb = s->ldy,
                                .ldc = s->n,
                                .transpose_a = s->transpose_x,
                                .transpose_b = s->transpose_y};
}

/* What is measured where the operands are in a cache: 80 operations and as many bytes a ns. */
double mw__product_cost(double bytes, double flops) { return 20.0 + (bytes > flops ? bytes : flops) * 0.0125; }

static const char *integers_decline(const void *subject)
{
    const mw__matmul_block *s = subject;
    return s->dtype == MW_I32 ? NULL : "no integers";
}

/* What no BLAS is worth: nothing but the product's code is called. */
static const char *rows_decline(const void *subject)
{
    const mw__matmul_block *s = subject;
    if (s->packed != NULL)
        return "the weight stays as it is stored";
    if (s->codes != NULL)
        return "int8 numbers";
    if (s->half_y)
        return "y is widened in parts";
    if (s->code.sgemm != NULL)
        return "a BLAS multiplies";
    return s->dtype == MW_F32 && s->single && !s->by_columns && !s->has_bias
               ? NULL
               : "not one fp32 product by rows, without a bias";
}

static mw__kernel *choose_run(mw__planner *planner, const mw__matmul_block *s)
{
    static const mw__implementation rows[] = {
        {.name = "integers", .declines = integers_decline, .run = mw__matmul_run},
        {.name = "rows", .declines = rows_decline, .run = mw__matmul_small_run},
        {.name = "any", .run = mw__matmul_run},
    };
    return mw__plan_implementation(planner, MW__IMPLEMENTATIONS(rows), s)->run;
}

bool mw__product_takes_packed(const mw__op *op)
{
    const bool linear = strcmp(op->kind, "linear") == 0;
    const mw_tensor *y = mw__arg(op, linear ? "weight" : "y");
    return mw__is_packed(y) && mw__shape_of(y).rank == 2 && mw__dtype_of(op->results[0]) == MW_F32;
}

/* A strip that fits the second cache; of fp16, which is converted faster than it is read, with longer rows. */
#define STRIP      65536 /* floats */
#define STRIP_HALF 262144
#define STRIP_ROW  8192 /* of one row of x: the first */
#define TURN       8    /* columns, or rows, that its code takes at once, or twice as many */

static void choose_strip(const mw__planner *planner, mw__matmul_block *s)
{
    /* each partition expands its own columns; the sums of this code are the same however they are split */
    s->by_columns =
        s->by_columns || (s->code.kernel != NULL && s->n >= MW__MATMUL_COLUMNS && mw__plan_partitions(planner) > 1);
    if (s->half_y && (s->m == 1 || !s->transpose_y)) { /* of the former columns, of the latter rows */
        const int64_t width = s->transpose_y ? s->k : s->n, turns = STRIP_ROW / width / TURN;
        s->strip = TURN * (turns > 1 ? turns : 1);
        return;
    }
    const int64_t columns = (s->half_y ? STRIP_HALF : STRIP) / s->k / MW__MATMUL_COLUMNS * MW__MATMUL_COLUMNS;
    s->strip = columns > MW__MATMUL_COLUMNS ? columns : MW__MATMUL_COLUMNS;
    s->strip = s->strip < s->n ? s->strip : s->n;
}

static size_t product_scratch(mw__matmul_block *s)
{
    if (s->dtype == MW_I32)
        return 0;
    const size_t bytes = s->panel + mw__gemm_scratch(s->m, s->n, s->k);
    s->strip_at = (bytes + 63) / 64 * 64;
    const int64_t most = 2 * s->strip < s->n ? 2 * s->strip : s->n;
    if (s->half_y && !s->transpose_y) {
        const int64_t row = s->strip * s->n, deep = s->m > 1 ? (MW__GEMM_DEPTH + s->m) * MW__MATMUL_WIDTH : 0;
        return s->strip_at + (size_t)(row > deep ? row : deep) * sizeof(float);
    }
    return s->packed != NULL || s->half_y ? s->strip_at + (size_t)(most * s->k) * sizeof(float) : bytes;
}

/* A matrix times a column, whose sums do not depend on their neighbors. */
static bool is_column(const mw__matmul_block *s)
{
    return s->n == 1 && !s->by_columns && s->code.kernel == NULL && s->code.sgemm == NULL && s->dtype == MW_F32;
}

static const struct mw__factors *factors_of(mw__planner *planner, const operands *o, const mw__matmul_block *s)
{
    struct mw__factors *factors = mw__plan_block(planner, sizeof *factors);
    if (factors != NULL)
        *factors = (struct mw__factors){.count = {mw__count_of(o->x), mw__count_of(o->y)}, .terms = s->k};
    return factors;
}

static void plan_product(mw__planner *planner, const mw__op *op, const operands *o, mw__matmul_block *s)
{
    const bool half = s->dtype == MW_F16;
    const int64_t batches = mw__nd_iter_count(&s->batch), rows = batches * s->m;
    const size_t size = mw__dtype_size(s->dtype);
    const uint32_t x = half ? mw__plan_as_fp32(planner, o->x) : mw__plan_buffer(planner, o->x);
    const mw_tensor *const from = s->half_y ? o->half : o->y;
    const uint32_t y = s->packed != NULL ? 0
                       : s->turned       ? mw__plan_turned_matrix(planner, o->y, s->n, s->k)
                       : half            ? mw__plan_as_fp32(planner, from)
                                         : mw__plan_buffer(planner, from);
    const uint32_t bias = o->bias == NULL ? 0
                          : half          ? mw__plan_as_fp32(planner, o->bias)
                                          : mw__plan_buffer(planner, o->bias);
    const double flops = 2.0 * (double)rows * (double)s->n * (double)s->k;
    const double bytes = 4.0 * ((double)mw__count_of(o->x) + (double)mw__count_of(o->y)) +
                         (double)size * (double)mw__count_of(o->result);
    const int64_t units = s->by_columns ? (s->n + MW__MATMUL_COLUMNS - 1) / MW__MATMUL_COLUMNS : rows;
    mw__step *step =
        mw__plan_step(planner, choose_run(planner, s), op->row->name, units, mw__product_cost(bytes, flops));
    step->block = s;
    if (step->run == mw__matmul_small_run && s->code.sums == MW__SUMS_FREE)
        step->fusion.kind = MW__STEP_PRODUCT, step->fusion.as.factors = factors_of(planner, o, s);
    step->report.flops = s->dtype == MW_I32 ? 0.0 : flops;
    if (s->code.sgemm != NULL && mw__blas_splits())
        step->grain = s->by_columns ? units : s->m;
    s->panel = half ? ((size_t)(mw__matmul_panel_rows(s->m, s->n) * s->n) * sizeof(float) + 63) / 64 * 64 : 0;
    step->scratch = product_scratch(s);
    step->span = batches > 1 ? s->m : is_column(s) ? 1 : 0;
    if (!s->by_columns && rows_match(o, s))
        mw__step_read(planner, step, x, MW__ROWS, (size_t)s->k * 4, false);
    else
        mw__step_read_parts(planner, step, x, mw_shape_count(batch_of(o->sx)) == batches ? batches : 0);
    if (s->packed == NULL)
        mw__step_read_parts(planner, step, y, mw_shape_count(batch_of(o->sy)) == batches ? batches : 0);
    if (o->bias != NULL)
        mw__step_read(planner, step, bias, MW__WHOLE, 0, false);
    const uint32_t out = mw__plan_buffer(planner, o->result);
    if (s->by_columns && s->m > 1)
        mw__step_write(planner, step, out, MW__WHOLE, 0);
    else
        mw__step_write(planner, step, out, MW__ROWS, (size_t)(s->by_columns ? MW__MATMUL_COLUMNS : s->n) * size);
}

static mw_status plan_matmul(mw__planner *planner, const mw__op *op, operands *o, bool transpose_x, bool transpose_y,
                             mw_error *err)
{
    const mw_dtype dtype = mw__dtype_of(o->result);
    MW_TRY(mw__kernel_check_number(op, dtype, err));
    promote(o);
    if (o->sr.rank > MW_RANK_MAX) {
        char subject[128];
        return mw__fail(err, MW_ERROR_UNSUPPORTED, "%s: a rank-1 operand with rank %d needs rank %d inside",
                        mw__op_subject(op, subject, sizeof subject), MW_RANK_MAX, o->sr.rank);
    }
    mw__matmul_block *block = mw__plan_block(planner, sizeof *block);
    if (block == NULL || mw__count_of(o->result) == 0)
        return mw__plan_check(planner, err);
    block->transpose_x = transpose_x, block->transpose_y = transpose_y;
    o->packs = mw__product_takes_packed(op);
    o->half = mw__shape_of(o->y).rank >= 2 ? mw__before_widening(o->y) : NULL;
    fill_block(planner, o, block);
    if (block->packed != NULL || block->half_y)
        choose_strip(planner, block);
    plan_product(planner, op, o, block);
    return mw__plan_check(planner, err);
}

mw_status mw__kernel_matmul(mw__planner *planner, const mw__op *op, mw_error *err)
{
    operands o = {.x = mw__arg(op, "x"), .y = mw__arg(op, "y"), .result = op->results[0]};
    bool transpose_x = false, transpose_y = false;
    mw__arg_bool(op, "transpose_x", &transpose_x);
    mw__arg_bool(op, "transpose_y", &transpose_y);
    return plan_matmul(planner, op, &o, transpose_x, transpose_y, err);
}

mw_status mw__kernel_linear(mw__planner *planner, const mw__op *op, mw_error *err)
{
    operands o = {
        .x = mw__arg(op, "x"), .y = mw__arg(op, "weight"), .bias = mw__arg(op, "bias"), .result = op->results[0]};
    return plan_matmul(planner, op, &o, false, true, err);
}
