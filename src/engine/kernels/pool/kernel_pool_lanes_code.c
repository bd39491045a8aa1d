/* The loops of kernel_pool_lanes.def for each instruction set, and what they share: where rows of elements and of
 * windows stand among the vectors of a band. */
#include "engine/kernels/pool/kernel_pool_lanes.h"

#include <math.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

/* Rows of a range, in the order in which they are taken. */
typedef struct lanes_rows {
    int64_t at;                            /* floats before the first, at index 0 of the last axis */
    int64_t planes, rows;                  /* of each plane */
    int64_t plane, row;                    /* floats from one to the next */
    int64_t place, plane_place, row_place; /* of elements in their windows, counted through the kernel */
    double counted;                        /* of the windows, by the first two axes */
} lanes_rows;

static int64_t lanes_row_count(const mw__pool_range *r)
{
    return (r->end[0] - r->begin[0]) * (r->end[1] - r->begin[1]);
}

/* Of a range, whose first row taken is that at (d, h). */
static lanes_rows lanes_from(const mw__pool_range *r, int64_t d, int64_t h)
{
    const int64_t row = (r->end[2] - r->begin[2]) * MW__POOL_LANES, plane = (r->end[1] - r->begin[1]) * row;
    return (lanes_rows){.at = (d - r->begin[0]) * plane + (h - r->begin[1]) * row - r->begin[2] * MW__POOL_LANES,
                        .plane = plane,
                        .row = row};
}

/* The rows of elements that the windows of a row hold; it is number `row` of yr. */
static lanes_rows lanes_under(const mw__pool_lanes *s, const mw__pool_range *xr, const mw__pool_range *yr, int64_t row)
{
    const mw__pool_axis *a = &s->table[0], *b = &s->table[1];
    const int64_t height = yr->end[1] - yr->begin[1], o = yr->begin[0] + row / height, p = yr->begin[1] + row % height;
    lanes_rows r = lanes_from(xr, a->begin[o], b->begin[p]);
    r.planes = a->end[o] - a->begin[o], r.rows = b->end[p] - b->begin[p];
    r.place = ((a->begin[o] - o * s->axis[0].stride + s->axis[0].before) * s->axis[1].kernel + b->begin[p] -
               p * s->axis[1].stride + s->axis[1].before) *
              s->axis[2].kernel;
    r.counted = a->counted[o] * b->counted[p];
    return r;
}

/* The rows of windows that hold a row of elements, from the last to the first; it is number `line` of xr. */
static lanes_rows lanes_over(const mw__pool_lanes *s, const mw__pool_range *xr, const mw__pool_range *yr, int64_t line)
{
    const mw__pool_axis *a = &s->table[0], *b = &s->table[1];
    const int64_t height = xr->end[1] - xr->begin[1], i = xr->begin[0] + line / height,
                  j = xr->begin[1] + line % height;
    lanes_rows r = lanes_from(yr, a->last[i], b->last[j]);
    r.planes = a->held[i], r.rows = b->held[j];
    r.plane = -r.plane, r.row = -r.row;
    r.row_place = s->axis[1].stride * s->axis[2].kernel;
    r.plane_place = s->axis[0].stride * s->axis[1].kernel * s->axis[2].kernel;
    r.place = ((i - a->last[i] * s->axis[0].stride + s->axis[0].before) * s->axis[1].kernel + j -
               b->last[j] * s->axis[1].stride + s->axis[1].before) *
              s->axis[2].kernel;
    return r;
}

/* The same rows from the first to the last. */
static lanes_rows lanes_turned(lanes_rows r)
{
    r.at += (r.planes - 1) * r.plane + (r.rows - 1) * r.row;
    r.plane = -r.plane, r.row = -r.row;
    return r;
}

/* Whether the windows that hold an element are those of the one before it; whether a window holds the same elements. */
static bool lanes_held_alike(const mw__pool_axis *a, int64_t i)
{
    return a->last[i] == a->last[i - 1] && a->held[i] == a->held[i - 1];
}

static bool lanes_hold_alike(const mw__pool_axis *a, int64_t o)
{
    return a->begin[o] == a->begin[o - 1] && a->end[o] == a->end[o - 1] && a->counted[o] >= a->counted[o - 1] &&
           a->counted[o] <= a->counted[o - 1];
}

static bool lanes_is_binary(double count) { return ((int64_t)count & ((int64_t)count - 1)) == 0; }

#define ISA base
#define TARGET
#define WIDTH 4
#if defined(__x86_64__)
#define LARGER(a, b) ((floats)_mm_max_ps((__m128)(a), (__m128)(b)))
#else
#define LARGER(a, b) ((floats)(((ints)(a) & ((a) > (b))) | ((ints)(b) & ~((a) > (b)))))
#endif
#include "engine/kernels/pool/kernel_pool_lanes.def"

#if defined(__x86_64__)
#define ISA          avx2
#define TARGET       MW__TARGET_AVX2
#define WIDTH        8
#define LARGER(a, b) ((floats)_mm256_max_ps((__m256)(a), (__m256)(b)))
#include "engine/kernels/pool/kernel_pool_lanes.def"

#define ISA          avx512
#define TARGET       MW__TARGET_AVX512
#define WIDTH        16
#define LARGER(a, b) ((floats)_mm512_max_ps((__m512)(a), (__m512)(b)))
#include "engine/kernels/pool/kernel_pool_lanes.def"
#endif

const mw__pool_lanes_code *mw__pool_lanes_choose(mw__level level)
{
#if defined(__x86_64__)
    if (level >= MW__LEVEL_AVX2)
        return level == MW__LEVEL_AVX512 ? &lanes_code_avx512 : &lanes_code_avx2;
#endif
    (void)level;
    return &lanes_code_base;
}
