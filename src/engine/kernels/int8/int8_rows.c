/* Products of rows of codes with a constant matrix: weights are in the lanes, four of a column at a time, and panels
 * are made of a few rows of x. */
#include "engine/kernels/int8/int8.h"

#include "base/number/integer.h"

#include <string.h>

enum { PANELS = 8 }; /* of rows, which each block of columns is taken for while it is in a cache */

typedef struct rows_block {
    const mw__int8_code *code;
    mw__int8_finish_lanes *finish_lanes;
    mw__int8_finish finish;
    int64_t rows, depth, quads, columns; /* depth: of a row of x; quads: of that, rounded up */
    int panel_rows;
    int64_t blocks, chunk; /* of columns, as many as a tile has lanes; of a unit */
    int64_t chunks;        /* units side by side */
    size_t out_size;
    int32_t zero; /* of x among int8 */
    uint8_t flip;
    const int32_t *offset;  // [quads]
    const uint8_t *weight;  // [blocks, quads, lanes, 4]
    const int32_t *add, *u; // [columns]
    const float *scale, *shift;
} rows_block;

static int64_t panel_size(const rows_block *b) { return mw__int8_panel_count(b->code, b->quads, b->panel_rows); }

/* Quad q of a row, with zeros behind its end. */
static uint32_t quad_of(const rows_block *b, const uint8_t *x, int64_t q)
{
    uint8_t bytes[4] = {b->flip, b->flip, b->flip, b->flip};
    uint32_t quad;
    memcpy(bytes, x + 4 * q, (size_t)mw__i64_min(b->depth - 4 * q, 4));
    memcpy(&quad, bytes, 4);
    return quad ^ b->flip * UINT32_C(0x01010101);
}

static void put_quad(const rows_block *b, uint32_t quad, int64_t q, int row, int32_t *panel)
{
    int8_t s[4];
    memcpy(s, &quad, 4);
    mw__int8_panel_put(b->code, b->panel_rows, q, row, s, panel);
}

/* Row `row` of a panel; its sum is returned. */
static int32_t put_row(const rows_block *b, const uint8_t *x, int row, int32_t *panel)
{
    const uint32_t flip = b->flip * UINT32_C(0x01010101);
    const int64_t whole = b->code->wide ? 0 : b->depth / 4, stride = b->panel_rows;
    int32_t sum = 0;
    for (int64_t q = 0; q < whole; q++) {
        uint32_t quad;
        memcpy(&quad, x + 4 * q, 4);
        panel[q * stride + row] = (int32_t)(quad ^ flip);
    }
    for (int64_t q = whole; q < b->quads; q++)
        put_quad(b, quad_of(b, x, q), q, row, panel);
    for (int64_t i = 0; i < b->depth; i++)
        sum += (int8_t)(x[i] ^ b->flip);
    return sum;
}

/* `count` rows in panels; the last one is filled with zeros. */
static void put_rows(const rows_block *b, const uint8_t *x, int64_t count, int32_t *panels, int32_t *sums)
{
    const int rows = b->panel_rows;
    if (count % rows != 0)
        memset(panels + count / rows * panel_size(b), 0, (size_t)panel_size(b) * sizeof *panels);
    for (int64_t r = 0; r < count; r++)
        sums[r] = put_row(b, x + r * b->depth, (int)(r % rows), panels + r / rows * panel_size(b));
}

/* The columns of block `at`, of `count` rows from the first of the panels on; out: the first of these rows. */
static void multiply_block(const rows_block *b, int64_t at, int64_t count, const int32_t *panels, const int32_t *by,
                           char *out)
{
    static const int32_t nothing[MW__INT8_ROWS_MOST];
    int32_t sums[MW__INT8_ROWS_MOST * MW__INT8_LANES_MOST];
    const int64_t lanes = b->code->lanes, first = at * lanes, width = mw__i64_min(b->columns - first, lanes);
    const mw__int8_lanes numbers = {b->add + first, b->u + first, b->scale + first, b->shift + first};
    const uint8_t *weight = b->weight + at * b->quads * lanes * 4;
    for (int64_t r = 0; r < count; r += b->panel_rows) {
        (b->panel_rows == 1 ? b->code->one : b->code->tile[b->code->vectors - 1])(
            weight, b->offset, b->quads, panels + r / b->panel_rows * panel_size(b), nothing, sums);
        for (int64_t i = r; i < mw__i64_min(r + b->panel_rows, count); i++)
            b->finish_lanes(&b->finish, sums + (i - r) * lanes, width, &numbers, by[i],
                            out + (size_t)(i * b->columns + first) * b->out_size);
    }
}

static void run_rows(const mw__kernel_call *call)
{
    const rows_block *b = call->block;
    const int64_t most = (int64_t)PANELS * b->panel_rows;
    int32_t by[PANELS * MW__INT8_ROWS_MOST], *panels = call->scratch;
    for (int64_t unit = call->begin; unit < call->end; unit++) {
        const int64_t first = unit / b->chunks * most, count = mw__i64_min(b->rows - first, most);
        const int64_t from = unit % b->chunks * b->chunk, to = mw__i64_min(from + b->chunk, b->blocks);
        if (unit == call->begin || unit % b->chunks == 0)
            put_rows(b, (const uint8_t *)call->in[0] + first * b->depth, count, panels, by);
        for (int64_t at = from; at < to; at++)
            multiply_block(b, at, count, panels, by, (char *)call->out[0] + (size_t)(first * b->columns) * b->out_size);
    }
}

/* ---- planning ---- */

/* The code of input k and output n. */
static int weight_at(const mw__int8_product_match *m, int64_t k, int64_t n)
{
    return mw__int8_code_at(m->weight_dtype, m->weight, m->weight_turned ? n * m->depth + k : k * m->outputs + n);
}

static const uint8_t *lay_weight(mw__planner *planner, const mw__int8_product_match *m, const rows_block *b)
{
    const int64_t lanes = b->code->lanes;
    uint8_t *made = mw__plan_block(planner, (size_t)(b->blocks * b->quads * lanes * 4));
    for (int64_t n = 0; made != NULL && n < m->outputs; n++)
        for (int64_t k = 0; k < m->depth; k++)
            made[((n / lanes * b->quads + k / 4) * lanes + n % lanes) * 4 + k % 4] =
                (uint8_t)mw__int8_unsigned(m->weight_dtype, weight_at(m, k, n));
    return made;
}

static const int32_t *lay_offsets(mw__planner *planner, const rows_block *b)
{
    int32_t *made = mw__plan_block(planner, (size_t)b->quads * sizeof *made);
    for (int64_t q = 0; made != NULL && q < b->quads; q++)
        made[q] = (int32_t)(q * b->code->lanes * 4);
    return made;
}

/* What is added to each column: the bias, and what the zero point of x takes. */
static void fill_columns(const mw__int8_product_match *m, const rows_block *b, int32_t *add, int32_t *u)
{
    for (int64_t n = 0; n < m->outputs; n++) {
        int32_t sum = 0;
        u[n] = mw__int8_unsigned(m->weight_dtype, m->zeros[n]);
        for (int64_t k = 0; k < m->depth; k++)
            sum += weight_at(m, k, n) - m->zeros[n];
        add[n] = (int32_t)((uint32_t)add[n] - (uint32_t)b->zero * (uint32_t)sum);
    }
}

static void split_columns(const mw__planner *planner, rows_block *b, int64_t supers)
{
    const int64_t wanted = supers >= 2 * mw__plan_partitions(planner) ? 1 : 2 * mw__plan_partitions(planner);
    b->chunk = mw__i64_max((b->blocks + wanted - 1) / wanted, 1);
    b->chunks = (b->blocks + b->chunk - 1) / b->chunk;
}

mw_status mw__int8_plan_rows(mw__planner *planner, const mw__int8_product_match *m, const mw__int8_numbers *numbers,
                             mw_error *err)
{
    const mw__int8_code *code = mw__int8_code_of(mw__plan_level(planner));
    rows_block *b = mw__plan_block(planner, sizeof *b);
    int32_t *u = mw__plan_block(planner, (size_t)m->outputs * sizeof *u);
    if (b == NULL || u == NULL)
        return mw__plan_check(planner, err);
    *b = (rows_block){.code = code,
                      .finish_lanes = mw__int8_lanes_of(mw__plan_level(planner)),
                      .finish = numbers->finish,
                      .rows = mw__count_of(m->x) / m->depth,
                      .depth = m->depth,
                      .quads = (m->depth + 3) / 4,
                      .columns = m->outputs,
                      .blocks = (m->outputs + code->lanes - 1) / code->lanes,
                      .out_size = mw__dtype_size(numbers->finish.dtype),
                      .zero = mw__int8_signed(mw__dtype_of(m->x), m->x_zero),
                      .flip = mw__dtype_of(m->x) == MW_U8 ? 0x80 : 0,
                      .add = numbers->add,
                      .u = u,
                      .scale = numbers->scale,
                      .shift = numbers->shift};
    b->panel_rows = b->rows == 1 ? 1 : code->rows;
    b->weight = lay_weight(planner, m, b);
    b->offset = lay_offsets(planner, b);
    fill_columns(m, b, numbers->add, u);
    const int64_t most = (int64_t)PANELS * b->panel_rows, supers = (b->rows + most - 1) / most;
    split_columns(planner, b, supers);
    const double products = (double)b->rows * (double)m->depth * (double)m->outputs;
    mw__step *step = mw__plan_step(planner, run_rows, m->op->kind, supers * b->chunks, mw__cost(0, products / 4));
    step->block = b;
    step->scratch = (size_t)(PANELS * panel_size(b)) * sizeof(int32_t);
    step->report.flops = 2 * products;
    mw__step_read(planner, step, mw__plan_buffer(planner, m->x), MW__WHOLE, 0, false);
    mw__step_write(planner, step, mw__plan_buffer(planner, m->result), MW__WHOLE, 0);
    return mw__plan_check(planner, err);
}
