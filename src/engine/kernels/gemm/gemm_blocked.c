/* The loops around the tiles: blocks of columns, of k and of rows. A panel of B stays in the first cache while the rows
 * of a block of A, in the second, pass by; it is packed when the first of them do. */
#include "engine/kernels/gemm/gemm_blocked.h"
#include "base/number/integer.h"

#define BLOCK_N 1024 /* columns: 1 MB of B, of which a part is needed again */
/* Of products of few rows B is all that is read: what of its rows was fetched ahead is still there for the next k. */
#define BLOCK_N_FEW 256
#define FEW         32 /* rows */
#define SLACK       16 /* floats that are written after panels */

/* What is being multiplied. */
typedef struct product {
    const mw__gemm_set *set;
    const mw__gemm_shape *s;
    const float *a, *b;
    float *c;
    bool pack_a, pack_b, add;   /* add: to what is in c */
    bool once;                  /* all rows are one block: a panel of B is needed no more behind them */
    float *panels_a, *panels_b; /* scratch */
} product;

/* Rows [i, i + rows), columns [j, j + columns), depth [p, p + k). */
typedef struct block {
    int64_t i, rows, j, columns, p, k;
} block;

/* Rows in panels of nearly equal height. */
typedef struct cut {
    int64_t panels, height, higher; /* so many have one row more */
} cut;

static cut cut_rows(int64_t rows, int64_t most)
{
    const int64_t panels = (rows + most - 1) / most;
    return (cut){panels, rows / panels, rows % panels};
}

static int64_t first_row(const cut *c, int64_t panel) { return panel * c->height + mw__i64_min(panel, c->higher); }

static const float *at_a(const product *t, int64_t i, int64_t p)
{
    return t->s->transpose_a ? t->a + p * t->s->lda + i : t->a + i * t->s->lda + p;
}

static const float *at_b(const product *t, int64_t p, int64_t j)
{
    return t->s->transpose_b ? t->b + j * t->s->ldb + p : t->b + p * t->s->ldb + j;
}

/* Tiles ask for the next panel of B while the first rows of A pass by, if there are enough of them: later rows find it
 * packed. */
#define ASKING 4 /* tiles */

static bool tiles_ask(const product *t, const block *at, const cut *rows)
{
    return t->set->asks && t->pack_b && at->i == 0 && rows->panels >= ASKING;
}

/* The part of tile q. Behind the last panel of a block comes the first of the next k. */
static mw__gemm_ask ask_columns(const product *t, const block *at, int64_t next, const cut *rows, int64_t q)
{
    enum { LINE = 16 };
    const int64_t width = t->set->columns;
    const bool last = next >= at->columns;
    if (!tiles_ask(t, at, rows) || (last && at->p + at->k >= t->s->k))
        return (mw__gemm_ask){0};
    const float *const from = last ? at_b(t, at->p + at->k, at->j) : at_b(t, at->p, at->j + next);
    const int64_t count = t->s->transpose_b ? width : at->k, floats = t->s->transpose_b ? at->k : width;
    const int64_t first = count * q / rows->panels, end = count * (q + 1) / rows->panels;
    const int64_t lines = (floats + LINE - 1) / LINE;
    return (mw__gemm_ask){from + first * t->s->ldb, t->s->ldb, lines, lines * (end - first)};
}

static void pack_rows(const product *t, const block *at, const cut *rows)
{
    const int64_t width = t->set->rows;
    for (int64_t q = 0; q < rows->panels; q++) {
        const int64_t first = first_row(rows, q);
        const mw__gemm_lanes lanes = {.from = at_a(t, at->i + first, at->p),
                                      .count = first_row(rows, q + 1) - first,
                                      .k = at->k,
                                      .step = t->s->lda,
                                      .side_by_side = t->s->transpose_a,
                                      .asks = true};
        t->set->pack(t->panels_a + q * width * at->k, width, &lanes);
    }
}

static void pack_columns(const product *t, const block *at, int64_t j, int64_t columns, bool asks, float *panel)
{
    const mw__gemm_lanes lanes = {.from = at_b(t, at->p, at->j + j),
                                  .count = columns,
                                  .k = at->k,
                                  .step = t->s->ldb,
                                  .side_by_side = !t->s->transpose_b,
                                  .asks = asks};
    t->set->pack(panel, t->set->columns, &lanes);
}

/* Some columns of a block times all its rows. */
static void run_panel(const product *t, const block *at, int64_t j, const cut *rows, mw__gemm_tile tile)
{
    float *const c = t->c + at->i * t->s->ldc + at->j + j;
    const mw__gemm_shape *s = t->s;
    tile.k = at->k;
    tile.c_row = s->ldc;
    tile.add = t->add || at->p > 0;
    tile.a_row = t->pack_a || s->transpose_a ? 1 : s->lda;
    tile.a_step = t->pack_a ? t->set->rows : s->transpose_a ? s->lda : 1;
    for (int64_t q = 0; q < rows->panels; q++) {
        const int64_t first = first_row(rows, q);
        tile.rows = first_row(rows, q + 1) - first;
        tile.a = t->pack_a ? t->panels_a + q * t->set->rows * at->k : at_a(t, at->i + first, at->p);
        tile.c = c + first * s->ldc;
        tile.ask = ask_columns(t, at, j + t->set->columns, rows, q);
        t->set->tile(&tile);
    }
}

static void run_block(const product *t, const block *at)
{
    const bool by_side = t->pack_a || t->s->transpose_a;
    const cut rows = cut_rows(at->rows, by_side ? t->set->rows : t->set->apart);
    if (t->pack_a)
        pack_rows(t, at, &rows);
    for (int64_t j = 0; j < at->columns; j += t->set->columns) {
        mw__gemm_tile tile = {.columns = mw__i64_min(t->set->columns, at->columns - j), .b_step = t->s->ldb};
        tile.b = at_b(t, at->p, at->j + j);
        if (t->pack_b || tile.columns % t->set->whole != 0) {
            float *const panel = t->panels_b + (t->pack_b && !t->once ? j * at->k : 0);
            if (at->i == 0 || !t->pack_b)
                pack_columns(t, at, j, tile.columns, !tiles_ask(t, at, &rows), panel);
            tile.b = panel;
            tile.b_step = t->set->columns;
        }
        run_panel(t, at, j, &rows, tile);
    }
}

/* ---- public ---- */

size_t mw__gemm_blocked_scratch(const mw__gemm_set *set, int64_t m, int64_t n, int64_t k)
{
    const int64_t depth = mw__i64_min(k, MW__GEMM_DEPTH);
    const int64_t rows = mw__i64_min(mw__i64_round_up(m, set->rows), set->block),
                  columns = mw__i64_min(mw__i64_round_up(n, set->columns), BLOCK_N);
    const size_t blocks =
        (size_t)(mw__i64_round_up(depth * columns, 16) + mw__i64_round_up(depth * rows, 16) + 2 * SLACK) *
        sizeof(float);
    const size_t across = set->across_scratch != NULL ? set->across_scratch(m, k) : 0;
    return across > blocks ? across : blocks;
}

/* Measured with AVX-512: below these copying costs more than it gives; from the strides on, what is read in one tile
 * lies on many pages, and at a power of two in few places of the caches. */
#define MUCH 256 /* columns that a row of A is used for */
#define FAR  512 /* floats */

static void multiply_blocked(const mw__gemm_set *set, const mw__gemm_shape *s, const float *a, const float *b, float *c,
                             bool add, float *scratch)
{
    const int64_t depth = mw__i64_min(s->k, MW__GEMM_DEPTH), blocks = (s->m + set->block - 1) / set->block;
    const bool once = blocks == 1;
    const int64_t width = s->m <= FEW ? BLOCK_N_FEW : once ? mw__i64_round_up(s->n, set->columns) : BLOCK_N;
    const int64_t kept = once ? set->columns : mw__i64_min(mw__i64_round_up(s->n, set->columns), BLOCK_N);
    const product t = {.set = set,
                       .s = s,
                       .a = a,
                       .b = b,
                       .c = c,
                       .add = add,
                       .once = once,
                       .pack_a = set->apart == 0 || (s->n > MUCH && s->lda >= FAR),
                       .pack_b = s->transpose_b || (s->m > set->rows && s->ldb > FAR),
                       .panels_b = scratch,
                       .panels_a = scratch + mw__i64_round_up(depth * kept, 16) + SLACK};
    for (int64_t j = 0; j < s->n; j += width)
        for (int64_t p = 0; p < s->k; p += MW__GEMM_DEPTH)
            for (int64_t q = 0; q < blocks; q++) {
                const int64_t i = s->m * q / blocks;
                run_block(&t, &(block){.i = i,
                                       .rows = s->m * (q + 1) / blocks - i,
                                       .j = j,
                                       .columns = mw__i64_min(width, s->n - j),
                                       .p = p,
                                       .k = mw__i64_min(MW__GEMM_DEPTH, s->k - p)});
            }
}

void mw__gemm_blocked(const mw__gemm_set *set, const mw__gemm_shape *s, const float *a, const float *b, float *c,
                      float *scratch)
{
    if (set->across == NULL || !set->across(s, a, b, c, scratch))
        multiply_blocked(set, s, a, b, c, false, scratch);
}

void mw__gemm_blocked_add(const mw__gemm_set *set, const mw__gemm_shape *s, const float *a, const float *b, float *c,
                          float *scratch)
{
    multiply_blocked(set, s, a, b, c, true, scratch);
}
