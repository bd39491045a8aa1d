#include "engine/kernels/gemm/matmul_block.h"

#include <string.h>

#define PANEL      131072 /* floats of an F16 result that wait in scratch: half of the second cache at least */
#define PANEL_ROWS 32     /* but so many rows at least, as all of B is packed for each panel */
#define LINE       32     /* fp16 numbers of a cache line */
#define AHEAD      8192   /* bytes of y that are asked for before they are widened, about */

static void multiply_i32(const mw__matmul_block *s, const mw__matmul_piece *piece, const int32_t *bias)
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
static mw__gemm_codes codes_of(const mw__matmul_block *s, int64_t column)
{
    if (s->codes == NULL)
        return (mw__gemm_codes){0};
    return (mw__gemm_codes){
        .row_scales = &s->codes->x_scale, .column_scales = s->codes->weight_scales + column, .each_column = true};
}

/* Rows and columns of one matrix into c. */
static void multiply_f32(const mw__matmul_block *s, const mw__matmul_piece *piece, const float *bias, float *c,
                         int64_t ldc, void *scratch)
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

int64_t mw__matmul_panel_rows(int64_t m, int64_t n)
{
    const int64_t rows = PANEL / n > PANEL_ROWS ? PANEL / n : PANEL_ROWS;
    return rows < m ? rows : m;
}

/* Through a panel of fp32 rows, each value rounded once. */
static void multiply_f16(const mw__matmul_block *s, const mw__matmul_piece *whole, const float *bias, void *scratch)
{
    float *panel = scratch;
    const int64_t most = mw__matmul_panel_rows(s->m, s->n);
    for (int64_t row = 0; row < whole->rows; row += most) {
        mw__matmul_piece part = *whole;
        part.row += row;
        part.rows = whole->rows - row < most ? whole->rows - row : most;
        multiply_f32(s, &part, bias, panel, part.columns, (char *)scratch + s->panel);
        for (int64_t i = 0; i < part.rows; i++)
            mw__tile_store(part.out, MW_F16, (part.row + i) * s->n + part.column, part.columns,
                           panel + i * part.columns);
    }
}

static void multiply_piece(const mw__matmul_block *s, const mw__matmul_piece *piece, const void *bias, void *scratch)
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
static void expand_elements(const mw__matmul_block *s, const void *y, int64_t from, int64_t count, int64_t ahead,
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
static int64_t rows_ahead(const mw__matmul_block *s, int64_t count)
{
    return count == s->n ? AHEAD : (AHEAD / (2 * count) + 1) * s->n * 2;
}

/* Columns [from, from + count) of y, which lie as y does. */
static void expand_strip(const mw__matmul_block *s, const void *y, int64_t from, int64_t count, float *strip)
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
static void multiply_strips(const mw__matmul_block *s, const mw__matmul_piece *piece, const void *bias, void *scratch)
{
    float *strip = (float *)(void *)((char *)scratch + s->strip_at);
    const int64_t end = piece->column + piece->columns;
    for (int64_t at = piece->column, count; at < end; at += count) {
        count = end - at < 2 * s->strip ? end - at : s->strip;
        expand_strip(s, piece->y, at, count, strip);
        mw__matmul_block one = *s;
        const mw__codes codes =
            s->codes != NULL ? (mw__codes){s->codes->x_scale, s->codes->weight_scales + at} : (mw__codes){0};
        one.codes = s->codes != NULL ? &codes : NULL;
        one.ldy = s->transpose_y ? s->k : count;
        mw__matmul_piece part = *piece;
        part.y = strip;
        part.out = (float *)piece->out + at;
        part.column = 0;
        part.columns = count;
        multiply_piece(&one, &part, bias != NULL ? (const float *)bias + at : NULL, scratch);
    }
}

/* What mw__gemm would sum as a vector. */
static bool is_row(const mw__matmul_block *s, int64_t rows)
{
    return s->m == 1 || (rows == 1 && s->code.kernel == NULL);
}

/* One row: strips of y's rows, which lie behind each other. */
static void multiply_row(const mw__matmul_block *s, const mw__matmul_piece *piece, const float *bias, float *strip)
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

/* Blocks of y as mw__gemm sums them: MW__GEMM_DEPTH rows, whose sums are added. Rows of fp16 are read as they lie. */
static void multiply_deep(const mw__matmul_block *s, const mw__matmul_piece *piece, const float *bias, void *scratch)
{
    float *const block = (float *)(void *)((char *)scratch + s->strip_at), *const sums = block + MW__GEMM_DEPTH *
                                                                                                     MW__MATMUL_WIDTH;
    const float *x = (const float *)piece->x + piece->row * s->ldx;
    float *const out = (float *)piece->out + piece->row * s->n;
    const int64_t end = piece->column + piece->columns;
    for (int64_t at = piece->column, n; at < end; at += n) {
        n = end - at < MW__MATMUL_WIDTH ? end - at : MW__MATMUL_WIDTH;
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
static void multiply_half(const mw__matmul_block *s, const mw__matmul_piece *piece, const float *bias)
{
    const float *x = (const float *)piece->x + piece->row * s->ldx;
    float *out = (float *)piece->out + piece->row * s->n + piece->column;
    s->code.half_dots(piece->columns, s->k, x, (const uint16_t *)piece->y + piece->column * s->k, s->k, out);
    if (bias != NULL)
        add_bias(out, s->n, 1, piece->columns, bias + piece->column);
}

/* y in parts. */
static void multiply_parts(const mw__matmul_block *s, const mw__matmul_piece *piece, const void *bias, void *scratch)
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
void mw__matmul_small_run(const mw__kernel_call *call)
{
    const mw__matmul_block *s = call->block;
    mw__gemm_shape shape = s->shape;
    shape.m = call->end - call->begin;
    const float *x = (const float *)call->in[0] + call->begin * (s->transpose_x ? 1 : s->ldx);
    mw__gemm(&s->code, &shape, x, call->in[1], (float *)call->out[0] + call->begin * s->n, call->scratch);
}

void mw__matmul_run(const mw__kernel_call *call)
{
    const mw__matmul_block *s = call->block;
    const bool packed = s->packed != NULL, strips = packed || s->half_y;
    const void *bias = s->has_bias ? call->in[packed ? 1 : 2] : NULL;
    const size_t wide = sizeof(float), size = mw__dtype_size(s->dtype); /* operands are 4 bytes: fp32 or int32 */
    if (s->by_columns) {
        const int64_t begin = call->begin * MW__MATMUL_COLUMNS,
                      end = call->end * MW__MATMUL_COLUMNS < s->n ? call->end * MW__MATMUL_COLUMNS : s->n;
        const mw__matmul_piece all = {.x = call->in[0],
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
        const mw__matmul_piece part = {.x = (const char *)call->in[0] + (size_t)position.offset[0] * wide,
                                       .y = packed ? NULL
                                                   : (const char *)call->in[1] + (size_t)position.offset[1] * wide,
                                       .out = (char *)call->out[0] + (size_t)(matrix * s->m * s->n) * size,
                                       .row = row,
                                       .rows = rows,
                                       .columns = s->n};
        (strips ? multiply_parts : multiply_piece)(s, &part, bias, call->scratch);
        at += rows;
    }
}
