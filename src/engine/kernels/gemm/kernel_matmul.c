/* Matrix products: matmul with broadcast batches, and linear. Each partition multiplies its rows of the result; a
 * result of few rows is split by columns instead. F16 operands are widened to fp32 by steps of their own, the product
 * goes to a panel in scratch and is rounded once. I32 wraps around. */
#include "engine/kernels/gemm/kernel_matmul.h"
#include "base/number/fp16.h"
#include "engine/core/buffer.h"
#include "engine/core/kernel.h"
#include "engine/core/unpack.h"
#include "engine/kernels/gemm/gemm_blocked.h"
#include "engine/kernels/math/math_chip.h"
#include "engine/kernels/reduce/within.h"

#include <string.h>

#define PANEL      131072 /* floats of an F16 result that wait in scratch: half of the second cache at least */
#define PANEL_ROWS 32     /* but so many rows at least, as all of B is packed for each panel */
#define LINE       32     /* fp16 numbers of a cache line */
#define AHEAD      8192   /* bytes of y that are asked for before they are widened, about */
#define COLUMNS    64     /* a unit when columns are split, as in mw__units_of */

typedef struct matmul_block {
    int64_t m, n, k;
    int64_t ldx, ldy;
    bool transpose_x, transpose_y, by_columns, has_bias, single; /* one matrix */
    mw_dtype dtype;
    mw__gemm_code code;
    mw__gemm_shape shape;         /* of small_run */
    size_t panel;                 /* bytes of scratch before those of the product */
    mw__nd_iter batch;            /* operands: x, y, in matrices times their elements */
    const mw__codes *codes;       /* of int8 numbers; or NULL */
    const mw__compressed *packed; /* y, if it stays as it is stored; then there is no buffer of it */
    bool half_y;                  /* y is read as fp16 and widened in parts */
    bool turned;                  /* y is read as its transpose, which is kept */
    mw__loop1 *fed;               /* of what is widened; NULL: as it is */
    int64_t strip;                /* columns of y that are expanded at a time */
    size_t strip_at;              /* where in scratch */
} matmul_block;

typedef struct matmul_piece {
    const void *x, *y; /* of this matrix */
    void *out;         /* likewise */
    int64_t row, rows, column, columns;
} matmul_piece;

static void multiply_i32(const matmul_block *s, const matmul_piece *piece, const int32_t *bias)
{
    const uint32_t *x = piece->x, *y = piece->y;
    const int64_t step_x = s->transpose_x ? s->ldx : 1, step_y = s->transpose_y ? 1 : s->ldy;
    for (int64_t i = piece->row; i < piece->row + piece->rows; i++)
        for (int64_t j = piece->column; j < piece->column + piece->columns; j++) {
            const uint32_t *a = x + (s->transpose_x ? i : i * s->ldx), *b = y + (s->transpose_y ? j * s->ldy : j);
            uint32_t sum = bias != NULL ? (uint32_t)bias[j] : 0;
            for (int64_t p = 0; p < s->k; p++)
                sum += a[p * step_x] * b[p * step_y];
            ((uint32_t *)piece->out)[i * s->n + j] = sum;
        }
}

static void add_bias(float *c, int64_t ldc, int64_t rows, int64_t columns, const float *bias)
{
    for (int64_t i = 0; i < rows; i++, c += ldc)
        for (int64_t j = 0; j < columns; j++)
            c[j] += bias[j];
}

/* From a column on, which is an output channel. */
static mw__gemm_codes codes_of(const matmul_block *s, int64_t column)
{
    if (s->codes == NULL)
        return (mw__gemm_codes){0};
    return (mw__gemm_codes){
        .row_scales = &s->codes->x_scale, .column_scales = s->codes->weight_scales + column, .each_column = true};
}

/* Rows and columns of one matrix into c. */
static void multiply_f32(const matmul_block *s, const matmul_piece *piece, const float *bias, float *c, int64_t ldc,
                         void *scratch)
{
    const bool starts = s->code.sums == MW__SUMS_FIXED;
    const mw__gemm_codes codes = codes_of(s, piece->column);
    const mw__gemm_shape shape = {.m = piece->rows,
                                  .n = piece->columns,
                                  .k = s->k,
                                  .lda = s->ldx,
                                  .ldb = s->ldy,
                                  .ldc = ldc,
                                  .transpose_a = s->transpose_x,
                                  .transpose_b = s->transpose_y,
                                  .start = starts && bias != NULL ? bias + piece->column : NULL,
                                  .codes = s->codes != NULL ? &codes : NULL};
    const float *x = (const float *)piece->x + (s->transpose_x ? piece->row : piece->row * s->ldx);
    const float *y = (const float *)piece->y + (s->transpose_y ? piece->column * s->ldy : piece->column);
    mw__gemm(&s->code, &shape, x, y, c, scratch);
    if (bias != NULL && !starts)
        add_bias(c, ldc, piece->rows, piece->columns, bias + piece->column);
}

static int64_t panel_rows(int64_t m, int64_t n)
{
    const int64_t rows = PANEL / n > PANEL_ROWS ? PANEL / n : PANEL_ROWS;
    return rows < m ? rows : m;
}

/* Through a panel of fp32 rows, each value rounded once. */
static void multiply_f16(const matmul_block *s, const matmul_piece *whole, const float *bias, void *scratch)
{
    float *panel = scratch;
    const int64_t most = panel_rows(s->m, s->n);
    for (int64_t row = 0; row < whole->rows; row += most) {
        matmul_piece part = *whole;
        part.row += row;
        part.rows = whole->rows - row < most ? whole->rows - row : most;
        multiply_f32(s, &part, bias, panel, part.columns, (char *)scratch + s->panel);
        for (int64_t i = 0; i < part.rows; i++)
            mw__tile_store(part.out, MW_F16, (part.row + i) * s->n + part.column, part.columns,
                           panel + i * part.columns);
    }
}

static void multiply_piece(const matmul_block *s, const matmul_piece *piece, const void *bias, void *scratch)
{
    if (s->dtype == MW_I32)
        multiply_i32(s, piece, bias);
    else if (s->dtype == MW_F16)
        multiply_f16(s, piece, bias, scratch);
    else
        multiply_f32(s, piece, bias, (float *)piece->out + piece->row * s->n + piece->column, s->n, scratch);
}

/* Elements [from, from + count) of y. `ahead`: how far what is widened later lies behind them, in bytes: each strip is
 * multiplied before the next is read, which some processors do not fetch by themselves. */
static void expand_elements(const matmul_block *s, const void *y, int64_t from, int64_t count, int64_t ahead,
                            float *out)
{
    if (s->packed != NULL) {
        mw__unpack(s->code.level, s->packed, from, count, out);
        return;
    }
    for (int64_t i = 0, here; i < count; i += here) { /* in the first cache until it is fed */
        here = count - i < MW__TILE ? count - i : MW__TILE;
        for (int64_t at = 0; at < here; at += LINE)
            mw__kernel_prefetch((const uint16_t *)y + from + i + at, ahead);
        mw__fp16_to_float_n(out + i, (const uint16_t *)y + from + i, (size_t)here);
        if (s->fed != NULL)
            s->fed(out + i, out + i, here, 0, 0);
    }
}

/* So many rows of y, of which `count` columns are widened, are about AHEAD; whole rows follow each other. */
static int64_t rows_ahead(const matmul_block *s, int64_t count)
{
    return count == s->n ? AHEAD : (AHEAD / (2 * count) + 1) * s->n * 2;
}

/* Columns [from, from + count) of y, which lie as y does. */
static void expand_strip(const matmul_block *s, const void *y, int64_t from, int64_t count, float *strip)
{
    if (s->transpose_y) {
        expand_elements(s, y, from * s->k, count * s->k, AHEAD, strip);
        return;
    }
    for (int64_t p = 0; p < s->k; p++)
        expand_elements(s, y, p * s->n + from, count, rows_ahead(s, count), strip + p * count);
}

/* A strip of columns after the other: their sums do not depend on each other. The last takes what would be less than a
 * strip with it, so that it is computed by the code for as many. */
static void multiply_strips(const matmul_block *s, const matmul_piece *piece, const void *bias, void *scratch)
{
    float *strip = (float *)(void *)((char *)scratch + s->strip_at);
    const int64_t end = piece->column + piece->columns;
    for (int64_t at = piece->column, count; at < end; at += count) {
        count = end - at < 2 * s->strip ? end - at : s->strip;
        expand_strip(s, piece->y, at, count, strip);
        matmul_block one = *s;
        const mw__codes codes =
            s->codes != NULL ? (mw__codes){s->codes->x_scale, s->codes->weight_scales + at} : (mw__codes){0};
        one.codes = s->codes != NULL ? &codes : NULL;
        one.ldy = s->transpose_y ? s->k : count;
        matmul_piece part = *piece;
        part.y = strip;
        part.out = (float *)piece->out + at;
        part.column = 0;
        part.columns = count;
        multiply_piece(&one, &part, bias != NULL ? (const float *)bias + at : NULL, scratch);
    }
}

/* What mw__gemm would sum as a vector. */
static bool is_row(const matmul_block *s, int64_t rows) { return s->m == 1 || (rows == 1 && s->code.kernel == NULL); }

/* One row: strips of y's rows, which lie behind each other. */
static void multiply_row(const matmul_block *s, const matmul_piece *piece, const float *bias, float *strip)
{
    const float *x = (const float *)piece->x + piece->row * s->ldx;
    float *const out = (float *)piece->out + piece->row * s->n + piece->column;
    memset(out, 0, (size_t)piece->columns * sizeof *out);
    for (int64_t p = 0, rows; p < s->k; p += rows) {
        rows = s->k - p < s->strip ? s->k - p : s->strip;
        if (piece->columns == s->n)
            expand_elements(s, piece->y, p * s->n, rows * s->n, AHEAD, strip);
        for (int64_t r = 0; piece->columns < s->n && r < rows; r++)
            expand_elements(s, piece->y, (p + r) * s->n + piece->column, piece->columns, rows_ahead(s, piece->columns),
                            strip + r * piece->columns);
        mw__gemm_row_add(s->code.level, piece->columns, rows, x + p, strip, out);
    }
    if (bias != NULL)
        add_bias(out, s->n, 1, piece->columns, bias + piece->column);
}

#define WIDTH 1024 /* columns of a block of y */

/* Blocks of y as mw__gemm sums them: MW__GEMM_DEPTH rows, whose sums are added. Rows of fp16 are read as they lie. */
static void multiply_deep(const matmul_block *s, const matmul_piece *piece, const float *bias, void *scratch)
{
    float *const block = (float *)(void *)((char *)scratch + s->strip_at), *const sums = block + MW__GEMM_DEPTH * WIDTH;
    const float *x = (const float *)piece->x + piece->row * s->ldx;
    float *const out = (float *)piece->out + piece->row * s->n;
    const int64_t end = piece->column + piece->columns;
    for (int64_t at = piece->column, n; at < end; at += n) {
        n = end - at < WIDTH ? end - at : WIDTH;
        for (int64_t p = 0, k; p < s->k; p += k) {
            k = s->k - p < MW__GEMM_DEPTH ? s->k - p : MW__GEMM_DEPTH;
            for (int64_t r = 0; r < k; r++)
                expand_elements(s, piece->y, (p + r) * s->n + at, n, rows_ahead(s, n), block + r * n);
            const mw__gemm_shape shape = {
                .m = piece->rows, .n = n, .k = k, .lda = s->ldx, .ldb = n, .ldc = p > 0 ? n : s->n};
            mw__gemm(&s->code, &shape, x + p, block, p > 0 ? sums : out + at, scratch);
            for (int64_t i = 0; p > 0 && i < piece->rows; i++)
                MW__VECTORIZE for (int64_t j = 0; j < n; j++) out[i * s->n + at + j] += sums[i * n + j];
        }
        if (bias != NULL)
            add_bias(out + at, s->n, piece->rows, n, bias + at);
    }
}

/* One row times a transposed y of fp16, which the product's code widens in registers. */
static void multiply_half(const matmul_block *s, const matmul_piece *piece, const float *bias)
{
    const float *x = (const float *)piece->x + piece->row * s->ldx;
    float *out = (float *)piece->out + piece->row * s->n + piece->column;
    s->code.half_dots(piece->columns, s->k, x, (const uint16_t *)piece->y + piece->column * s->k, s->k, out);
    if (bias != NULL)
        add_bias(out, s->n, 1, piece->columns, bias + piece->column);
}

/* y in parts. */
static void multiply_parts(const matmul_block *s, const matmul_piece *piece, const void *bias, void *scratch)
{
    if (s->half_y && s->transpose_y && s->m == 1 && s->fed == NULL && s->code.half_dots != NULL)
        multiply_half(s, piece, bias);
    else if (!s->half_y || s->transpose_y)
        multiply_strips(s, piece, bias, scratch);
    else if (is_row(s, piece->rows))
        multiply_row(s, piece, bias, (float *)(void *)((char *)scratch + s->strip_at));
    else
        multiply_deep(s, piece, bias, scratch);
}

/* Rows of one F32 product: nothing but the product's code is called. */
static void small_run(const mw__kernel_call *call)
{
    const matmul_block *s = call->block;
    mw__gemm_shape shape = s->shape;
    shape.m = call->end - call->begin;
    const float *x = (const float *)call->in[0] + call->begin * (s->transpose_x ? 1 : s->ldx);
    mw__gemm(&s->code, &shape, x, call->in[1], (float *)call->out[0] + call->begin * s->n, call->scratch);
}

static void matmul_run(const mw__kernel_call *call)
{
    const matmul_block *s = call->block;
    const bool packed = s->packed != NULL, strips = packed || s->half_y;
    const void *bias = s->has_bias ? call->in[packed ? 1 : 2] : NULL;
    const size_t wide = sizeof(float), size = mw__dtype_size(s->dtype); /* operands are 4 bytes: fp32 or int32 */
    if (s->by_columns) {
        const int64_t begin = call->begin * COLUMNS, end = call->end * COLUMNS < s->n ? call->end * COLUMNS : s->n;
        const matmul_piece all = {.x = call->in[0],
                                  .y = packed ? NULL : call->in[1],
                                  .out = call->out[0],
                                  .rows = s->m,
                                  .column = begin,
                                  .columns = end - begin};
        (strips ? multiply_parts : multiply_piece)(s, &all, bias, call->scratch);
        return;
    }
    for (int64_t at = call->begin; at < call->end;) {
        const int64_t matrix = at / s->m, row = at % s->m;
        const int64_t rows = call->end - at < s->m - row ? call->end - at : s->m - row;
        mw__nd_position position;
        mw__nd_position_seek(&s->batch, &position, matrix);
        const matmul_piece part = {.x = (const char *)call->in[0] + (size_t)position.offset[0] * wide,
                                   .y = packed ? NULL : (const char *)call->in[1] + (size_t)position.offset[1] * wide,
                                   .out = (char *)call->out[0] + (size_t)(matrix * s->m * s->n) * size,
                                   .row = row,
                                   .rows = rows,
                                   .columns = s->n};
        (strips ? multiply_parts : multiply_piece)(s, &part, bias, call->scratch);
        at += rows;
    }
}

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
static bool rows_match(const operands *o, const matmul_block *s)
{
    return !s->transpose_x && mw_shape_count(batch_of(o->sx)) == mw_shape_count(batch_of(o->sr));
}

/* Partitions that split rows read, pack and fetch from each other all of y, partitions that split columns all of x. The
 * latter moves the result through a barrier: worth it for a y that is wide and much larger than the result. The rows of
 * a transposed x are those of a weight, whose update goes on with them. */
#define COLUMNS_GAIN 131072.0 /* bytes */

static bool prefers_columns(const matmul_block *s, int64_t partitions)
{
    const int64_t units = s->n / COLUMNS;
    const double m = (double)s->m, n = (double)s->n, saved = (double)s->k * (n - m);
    return partitions > 1 && !s->transpose_x && s->n % COLUMNS == 0 &&
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

static bool is_kept(const mw__planner *planner, const operands *o, const matmul_block *s)
{
    return mw__plan_reads(planner, o->y) > WIDENED_READS && s->n * s->k <= WIDENED_KEPT;
}

static bool widens_in_parts(const matmul_block *s)
{
    return s->single && s->packed == NULL && s->dtype == MW_F32 && s->m <= WIDENED_ROWS && s->k > 0 &&
           (s->m == 1 || !s->transpose_x) && s->n * s->k >= WIDENED_LEAST && s->n > 1 && s->code.sgemm == NULL &&
           s->code.sums == MW__SUMS_FREE && s->code.level != MW__LEVEL_REF;
}

#define TURNED_READS 8 /* operands that y is, at least: as of the steps of a recurrent net */

static bool is_turned(const mw__planner *planner, const operands *o, const matmul_block *s)
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

static void fill_block(mw__planner *planner, const operands *o, matmul_block *s)
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
    s->by_columns = s->single && s->n >= COLUMNS &&
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
    const matmul_block *s = subject;
    return s->dtype == MW_I32 ? NULL : "no integers";
}

/* What no BLAS is worth: nothing but the product's code is called. */
static const char *rows_decline(const void *subject)
{
    const matmul_block *s = subject;
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

static mw__kernel *choose_run(mw__planner *planner, const matmul_block *s)
{
    static const mw__implementation rows[] = {
        {.name = "integers", .declines = integers_decline, .run = matmul_run},
        {.name = "rows", .declines = rows_decline, .run = small_run},
        {.name = "any", .run = matmul_run},
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

static void choose_strip(const mw__planner *planner, matmul_block *s)
{
    /* each partition expands its own columns; the sums of this code are the same however they are split */
    s->by_columns = s->by_columns || (s->code.kernel != NULL && s->n >= COLUMNS && mw__plan_partitions(planner) > 1);
    if (s->half_y && (s->m == 1 || !s->transpose_y)) { /* of the former columns, of the latter rows */
        const int64_t width = s->transpose_y ? s->k : s->n, turns = STRIP_ROW / width / TURN;
        s->strip = TURN * (turns > 1 ? turns : 1);
        return;
    }
    const int64_t columns = (s->half_y ? STRIP_HALF : STRIP) / s->k / COLUMNS * COLUMNS;
    s->strip = columns > COLUMNS ? columns : COLUMNS;
    s->strip = s->strip < s->n ? s->strip : s->n;
}

static size_t product_scratch(matmul_block *s)
{
    if (s->dtype == MW_I32)
        return 0;
    const size_t bytes = s->panel + mw__gemm_scratch(s->m, s->n, s->k);
    s->strip_at = (bytes + 63) / 64 * 64;
    const int64_t most = 2 * s->strip < s->n ? 2 * s->strip : s->n;
    if (s->half_y && !s->transpose_y) {
        const int64_t row = s->strip * s->n, deep = s->m > 1 ? (MW__GEMM_DEPTH + s->m) * WIDTH : 0;
        return s->strip_at + (size_t)(row > deep ? row : deep) * sizeof(float);
    }
    return s->packed != NULL || s->half_y ? s->strip_at + (size_t)(most * s->k) * sizeof(float) : bytes;
}

/* A matrix times a column, whose sums do not depend on their neighbors. */
static bool is_column(const matmul_block *s)
{
    return s->n == 1 && !s->by_columns && s->code.kernel == NULL && s->code.sgemm == NULL && s->dtype == MW_F32;
}

static const struct mw__factors *factors_of(mw__planner *planner, const operands *o, const matmul_block *s)
{
    struct mw__factors *factors = mw__plan_block(planner, sizeof *factors);
    if (factors != NULL)
        *factors = (struct mw__factors){.count = {mw__count_of(o->x), mw__count_of(o->y)}, .terms = s->k};
    return factors;
}

static void plan_product(mw__planner *planner, const mw__op *op, const operands *o, matmul_block *s)
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
    const int64_t units = s->by_columns ? (s->n + COLUMNS - 1) / COLUMNS : rows;
    mw__step *step =
        mw__plan_step(planner, choose_run(planner, s), op->row->name, units, mw__product_cost(bytes, flops));
    step->block = s;
    if (step->run == small_run && s->code.sums == MW__SUMS_FREE)
        step->fusion.kind = MW__STEP_PRODUCT, step->fusion.as.factors = factors_of(planner, o, s);
    step->report.flops = s->dtype == MW_I32 ? 0.0 : flops;
    if (s->code.sgemm != NULL && mw__blas_splits())
        step->grain = s->by_columns ? units : s->m;
    s->panel = half ? ((size_t)(panel_rows(s->m, s->n) * s->n) * sizeof(float) + 63) / 64 * 64 : 0;
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
        mw__step_write(planner, step, out, MW__ROWS, (size_t)(s->by_columns ? COLUMNS : s->n) * size);
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
    matmul_block *block = mw__plan_block(planner, sizeof *block);
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
