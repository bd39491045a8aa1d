/* The loops around the tiles of fixed-point sums: blocks of columns, of rows and of k; and which tile has a proof. */
#include "engine/kernels/gemm/gemm_fixed.h"
#include "base/number/integer.h"

#include <math.h>
#include <string.h>

#define DEPTH       MW__GEMM_DEPTH
#define BLOCK_N     512 /* columns */
#define BLOCK_ROWS  336 /* at most */
#define SLACK       16  /* floats that may be written after panels */
#define ROWS_MOST   8   /* of a tile */
#define GROUPS_MOST (BLOCK_ROWS / 4 + 8)

/* What one tile has of the rows of A or the columns of B. */
typedef struct group {
    int64_t first, count;
    mw__fixed_extent extent;
    float start; /* the largest that their sums begin with */
} group;

typedef struct groups {
    group of[GROUPS_MOST];
    int64_t count;
} groups;

typedef struct product {
    const mw__gemm_code *code;
    const mw__fixed_set *set;
    const mw__gemm_shape *s;
    const float *a, *b;
    float *c;
    float *panels_a, *limits, *panels_b; /* scratch */
} product;

typedef enum tile_kind { TILE_NARROW, TILE_WIDE, TILE_IN_ORDER } tile_kind;

/* ---- groups ---- */

static const float *at_a(const product *t, int64_t i, int64_t p)
{
    return t->s->transpose_a ? t->a + p * t->s->lda + i : t->a + i * t->s->lda + p;
}

static const float *at_b(const product *t, int64_t p, int64_t j)
{
    return t->s->transpose_b ? t->b + j * t->s->ldb + p : t->b + p * t->s->ldb + j;
}

static float largest_start(const product *t, bool rows, int64_t first, int64_t count)
{
    float most = 0.0f;
    if (t->s->start == NULL || t->s->start_of_rows != rows)
        return 0.0f;
    for (int64_t i = first; i < first + count; i++) /* NaN is none of the smaller ones */
        most = fabsf(t->s->start[i]) <= most ? most : fabsf(t->s->start[i]);
    return most;
}

static void add_group(const product *t, groups *out, bool rows, int64_t first, int64_t count)
{
    const mw__gemm_shape *s = t->s;
    const float *from = rows ? at_a(t, first, 0) : at_b(t, 0, first);
    const bool side_by_side = rows ? s->transpose_a : !s->transpose_b;
    out->of[out->count++] =
        (group){.first = first,
                .count = count,
                .extent = mw__fixed_extent_of(t->code->level, from, count, s->k, rows ? s->lda : s->ldb, side_by_side),
                .start = largest_start(t, rows, first, count)};
}

/* Rows in powers of 2. */
static void group_rows(const product *t, int64_t first, int64_t count, groups *out)
{
    out->count = 0;
    for (int64_t height = t->set->rows; count > 0; height /= 2)
        for (; count >= height; first += height, count -= height)
            add_group(t, out, true, first, height);
}

static void group_columns(const product *t, int64_t first, int64_t count, groups *out)
{
    out->count = 0;
    for (int64_t at = 0; at < count; at += t->set->columns)
        add_group(t, out, false, first + at, mw__i64_min(t->set->columns, count - at));
}

/* The bound on every partial sum: the norms, half a unit of each product, and what it begins with. */
static tile_kind kind_of(const product *t, const group *rows, const group *columns)
{
    if (!rows->extent.plain || !columns->extent.plain)
        return TILE_IN_ORDER;
    const float norms = sqrtf(rows->extent.square) * sqrtf(columns->extent.square);
    const float rounded = (float)(t->s->k + 2) * MW__FIXED_UNIT;
    if (!(norms * (1.0f + 0x1p-10f) + rounded + rows->start + columns->start < MW__FIXED_CEILING))
        return TILE_IN_ORDER;
    return rows->extent.most * columns->extent.most < MW__FIXED_NARROW_MOST ? TILE_NARROW : TILE_WIDE;
}

/* ---- panels ---- */

/* Of a group, so many lanes wide. */
static void pack(const product *t, const group *of, bool rows, int64_t p, int64_t k, int64_t width, float *out)
{
    const mw__gemm_shape *s = t->s;
    const mw__gemm_lanes lanes = {.from = rows ? at_a(t, of->first, p) : at_b(t, p, of->first),
                                  .count = of->count,
                                  .k = k,
                                  .step = rows ? s->lda : s->ldb,
                                  .side_by_side = rows ? s->transpose_a : !s->transpose_b};
    t->set->pack(out, width, &lanes);
}

static void pack_rows(const product *t, const groups *rows, int64_t p, int64_t k)
{
    int64_t at = 0;
    for (int64_t g = 0; g < rows->count; at += rows->of[g++].count * k)
        pack(t, &rows->of[g], true, p, k, rows->of[g].count, t->panels_a + at);
    mw__fixed_mark(t->code->level, t->panels_a, t->limits, at);
}

/* ---- blocks ---- */

static void run_tile(const product *t, tile_kind kind, const mw__fixed_tile *tile, const group *rows,
                     const group *columns, int64_t p)
{
    const mw__gemm_shape *s = t->s;
    (kind == TILE_NARROW ? t->set->narrow : t->set->wide)(tile);
    const mw__fixed_rows stored = {.rows = rows->count,
                                   .columns = columns->count,
                                   .ldc = s->ldc,
                                   .sums = tile->sums,
                                   .sums_row = t->set->columns,
                                   .start = s->start == NULL   ? NULL
                                            : s->start_of_rows ? s->start + rows->first
                                                               : s->start + columns->first,
                                   .start_of_rows = s->start_of_rows,
                                   .first = p == 0,
                                   .last = p + tile->k == s->k,
                                   .c = t->c + rows->first * s->ldc + columns->first};
    mw__fixed_store(t->code->level, &stored);
}

static void run_in_order(const product *t, const group *rows, const group *columns)
{
    mw__fixed_in_order(t->code->level, &(mw__fixed_part){.shape = t->s,
                                                         .a = t->a,
                                                         .b = t->b,
                                                         .c = t->c,
                                                         .i = rows->first,
                                                         .rows = rows->count,
                                                         .j = columns->first,
                                                         .columns = columns->count,
                                                         .drops = t->code->drops});
}

/* Some of k of a block: a panel of B stays in the first cache while the rows of A pass by. */
static void run_depth(const product *t, const groups *rows, const groups *columns, int64_t p, int64_t k)
{
    const int64_t top = rows->of[0].first;
    int32_t sums[ROWS_MOST * MW__FIXED_COLUMNS];
    pack_rows(t, rows, p, k);
    for (int64_t h = 0; h < columns->count; h++) {
        pack(t, &columns->of[h], false, p, k, t->set->columns, t->panels_b);
        for (int64_t g = 0; g < rows->count; g++) {
            const int64_t at = (rows->of[g].first - top) * k;
            const mw__fixed_tile tile = {.rows = rows->of[g].count,
                                         .k = k,
                                         .a = t->panels_a + at,
                                         .limits = t->limits != NULL ? t->limits + at : NULL,
                                         .b = t->panels_b,
                                         .sums = sums};
            const tile_kind kind = kind_of(t, &rows->of[g], &columns->of[h]);
            if (kind != TILE_IN_ORDER)
                run_tile(t, kind, &tile, &rows->of[g], &columns->of[h], p);
            else if (p == 0)
                run_in_order(t, &rows->of[g], &columns->of[h]);
        }
    }
}

/* So many rows of A, and their limits, fit what a panel of B leaves of the scratch. */
static int64_t rows_that_fit(const product *t, size_t bytes)
{
    const int64_t depth = mw__i64_min(t->s->k, DEPTH), floats = (int64_t)(bytes / sizeof(float));
    const int64_t rows = (floats - t->set->columns * depth - 2 * SLACK) / depth / (t->code->drops ? 2 : 1);
    return mw__i64_clamp(rows, 1, BLOCK_ROWS);
}

static void run_blocks(product *t, size_t scratch_bytes)
{
    const mw__gemm_shape *s = t->s;
    const int64_t depth = mw__i64_min(s->k, DEPTH), height = mw__i64_min(rows_that_fit(t, scratch_bytes), s->m);
    groups rows, columns;
    t->panels_a = t->panels_b + t->set->columns * depth + SLACK;
    t->limits = t->code->drops ? t->panels_a + height * depth + SLACK : NULL;
    for (int64_t j = 0; j < s->n; j += BLOCK_N) {
        group_columns(t, j, mw__i64_min(BLOCK_N, s->n - j), &columns);
        for (int64_t i = 0; i < s->m; i += height) {
            group_rows(t, i, mw__i64_min(height, s->m - i), &rows);
            for (int64_t p = 0; p < s->k; p += depth)
                run_depth(t, &rows, &columns, p, mw__i64_min(depth, s->k - p));
        }
    }
}

/* ---- public ---- */

static const mw__fixed_set *set_of(mw__level level)
{
#if MW_HAVE_AVX512
    if (level == MW__LEVEL_AVX512)
        return &mw__fixed_set_avx512;
#endif
#if defined(__x86_64__)
    if (level >= MW__LEVEL_AVX2)
        return &mw__fixed_set_avx2;
#endif
    return level != MW__LEVEL_REF ? &mw__fixed_set_base : NULL;
}

void mw__gemm_fixed(const mw__gemm_code *code, const mw__gemm_shape *s, const float *a, const float *b, float *c,
                    float *scratch)
{
    product t = {.code = code, .set = set_of(code->level), .s = s, .a = a, .b = b, .c = c, .panels_b = scratch};
    if (s->m == 0 || s->n == 0)
        return;
    if (t.set != NULL && s->k > 0)
        run_blocks(&t, mw__gemm_scratch(s->m, s->n, s->k));
    else
        mw__fixed_in_order(
            code->level,
            &(mw__fixed_part){.shape = s, .a = a, .b = b, .c = c, .rows = s->m, .columns = s->n, .drops = code->drops});
}
