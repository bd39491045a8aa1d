/* The choice of what multiplies, and the tiles of 6 x 16 sums for processors without a kernel of their own, with fused
 * multiply-add where the processor has it. The loops around them are in gemm_blocked.c, small products in gemm_small.c,
 * loading a BLAS in blas.c. */
#include "engine/kernels/gemm/gemm.h"
#include "engine/kernels/gemm/gemm_blocked.h"
#include "engine/kernels/gemm/gemm_chip.h"
#include "engine/kernels/gemm/gemm_fixed.h"

#if MW_HAVE_AVX512
#include "engine/kernels/gemm/gemm_avx512.h"
#endif

#include <string.h>

#if defined(__aarch64__)
#include <arm_neon.h>
#elif defined(__x86_64__)
#include <immintrin.h>
#endif

#define TILE_M 6
#define TILE_N 16
/* Rows of a block of A: small, since its pages, those of a panel of B and those of a tile's rows of C share the table
 * of the processor that knows fewest. */
#define BLOCK 84

/* ---- packing: rows and columns that lack are zeros ---- */

void mw__gemm_pack_lanes(float *out, int64_t width, const mw__gemm_lanes *l)
{
    if (l->count < width)
        memset(out, 0, (size_t)(width * l->k) * sizeof *out);
    if (l->side_by_side)
        for (int64_t p = 0; p < l->k; p++)
            memcpy(out + p * width, l->from + p * l->step, (size_t)l->count * sizeof *out);
    else
        for (int64_t i = 0; i < l->count; i++)
            for (int64_t p = 0; p < l->k; p++)
                out[p * width + i] = l->from[i * l->step + p];
}

/* ---- the tile: out [TILE_M, TILE_N] = panel of A times columns of B ---- */

typedef void tile_function(int64_t k, const float *a, const float *b, int64_t b_step, float *out, int64_t out_row);
/* the same of an A that is not packed, with an element [r, p] at a[r * a_row + p * a_step] */
typedef void free_function(int64_t k, const float *a, int64_t a_row, int64_t a_step, const float *b, int64_t b_step,
                           float *out, int64_t out_row);

/* `vector` holds `width` floats; load(p), splat(p) and fma(sum, x, y) are the instructions. Element [r, p] of A is at
 * a[r * a_row + p * a_step]. */
#define UNROLL _Pragma("GCC unroll 16")
#define SUMS(rows, columns, a_row, a_step, vector, width, zero, load, splat, fma, store)                               \
    {                                                                                                                  \
        vector sum[rows][(columns) / (width)];                                                                         \
        UNROLL for (int r = 0; r < (rows); r++) UNROLL for (int c = 0; c < (columns) / (width); c++) sum[r][c] = zero; \
        for (int64_t p = 0; p < k; p++, a += (a_step), b += b_step) {                                                  \
            vector y[(columns) / (width)];                                                                             \
            UNROLL for (int c = 0; c < (columns) / (width); c++) y[c] = load(b + c * (width));                         \
            UNROLL for (int r = 0; r < (rows); r++)                                                                    \
            {                                                                                                          \
                const vector x = splat(a + r * (a_row));                                                               \
                UNROLL for (int c = 0; c < (columns) / (width); c++) sum[r][c] = fma(sum[r][c], x, y[c]);              \
            }                                                                                                          \
        }                                                                                                              \
        UNROLL for (int r = 0; r < (rows); r++) UNROLL for (int c = 0; c < (columns) / (width); c++)                   \
            store(out + r * out_row + c * (width), sum[r][c]);                                                         \
    }

/* The tile, and the strips of gemm_across.c, of one instruction set. */
#define TILE_PARAMETERS (int64_t k, const float *a, const float *b, int64_t b_step, float *out, int64_t out_row)
#define FREE_PARAMETERS                                                                                                \
    (int64_t k, const float *a, int64_t a_row, int64_t a_step, const float *b, int64_t b_step, float *out,             \
     int64_t out_row)
#define STRIP_PARAMETERS (int64_t k, const float *a, int64_t a_row, const float *b, float *out)
#define SIXTEEN          enum { b_step = 16, out_row = 16 };
#define EIGHT            enum { b_step = 8, out_row = 8 };
#define FUNCTIONS(level, target, ...)                                                                                  \
    target static void tile_##level TILE_PARAMETERS SUMS(TILE_M, TILE_N, 1, TILE_M, __VA_ARGS__)                       \
    target static void free_##level FREE_PARAMETERS SUMS(TILE_M, TILE_N, a_row, a_step, __VA_ARGS__)                   \
    target static void sixteen_##level STRIP_PARAMETERS{                                                               \
        SIXTEEN SUMS(6, 16, a_row, 1, __VA_ARGS__)} target static void eight_##level STRIP_PARAMETERS                  \
    {                                                                                                                  \
        EIGHT SUMS(12, 8, a_row, 1, __VA_ARGS__)                                                                       \
    }

#if defined(__x86_64__)
#define AVX2_FMA(sum, x, y) _mm256_fmadd_ps(x, y, sum)
#define BASE_FMA(sum, x, y) _mm_add_ps(sum, _mm_mul_ps(x, y))
FUNCTIONS(avx2, __attribute__((target("avx2,fma"))), __m256, 8, _mm256_setzero_ps(), _mm256_loadu_ps,
          _mm256_broadcast_ss, AVX2_FMA, _mm256_storeu_ps)
FUNCTIONS(base, , __m128, 4, _mm_setzero_ps(), _mm_loadu_ps, _mm_load1_ps, BASE_FMA, _mm_storeu_ps)
#elif defined(__aarch64__)
FUNCTIONS(base, , float32x4_t, 4, vdupq_n_f32(0.0f), vld1q_f32, vld1q_dup_f32, vfmaq_f32, vst1q_f32)
#else
#define PLAIN_LOAD(p)         (*(p))
#define PLAIN_FMA(sum, x, y)  ((sum) + (x) * (y))
#define PLAIN_STORE(p, value) (*(p) = (value))
FUNCTIONS(base, , float, 1, 0.0f, PLAIN_LOAD, PLAIN_LOAD, PLAIN_FMA, PLAIN_STORE)
#endif

/* A tile that is whole and new goes to C at once. */
static void run_tile(tile_function *tile, free_function *lies_free, const mw__gemm_tile *t)
{
    float sum[TILE_M * TILE_N];
    const bool at_once = t->rows == TILE_M && t->columns == TILE_N && !t->add;
    float *const out = at_once ? t->c : sum;
    const int64_t out_row = at_once ? t->c_row : TILE_N;
    if (t->a_row == 1 && t->a_step == TILE_M)
        tile(t->k, t->a, t->b, t->b_step, out, out_row);
    else
        lies_free(t->k, t->a, t->a_row, t->a_step, t->b, t->b_step, out, out_row);
    for (int64_t r = 0; !at_once && r < t->rows; r++)
        for (int64_t j = 0; j < t->columns; j++)
            t->c[r * t->c_row + j] = t->add ? t->c[r * t->c_row + j] + sum[r * TILE_N + j] : sum[r * TILE_N + j];
}

#define SET(level)                                                                                                     \
    static void run_tile_##level(const mw__gemm_tile *t) { run_tile(tile_##level, free_##level, t); }                  \
    static bool across_##level(const mw__gemm_shape *s, const float *a, const float *b, float *c, float *scratch)      \
    {                                                                                                                  \
        return mw__gemm_across(&(mw__gemm_strips){.sixteen = sixteen_##level, .eight = eight_##level}, s, a, b, c,     \
                               scratch);                                                                               \
    }                                                                                                                  \
    static const mw__gemm_set set_##level = {.rows = TILE_M,                                                           \
                                             .columns = TILE_N,                                                        \
                                             .block = BLOCK,                                                           \
                                             .whole = TILE_N,                                                          \
                                             .tile = run_tile_##level,                                                 \
                                             .pack = mw__gemm_pack_lanes,                                              \
                                             .across = across_##level,                                                 \
                                             .across_scratch = mw__gemm_across_scratch};
SET(base)
#if defined(__x86_64__)
SET(avx2)
#define SET_OF(level) ((level) >= MW__LEVEL_AVX2 ? &set_avx2 : &set_base)
#else
#define SET_OF(level) ((void)(level), &set_base)
#endif

/* ---- the instruction sets ---- */

#if MW_HAVE_AVX512
static bool has_avx512(const mw__config *config) { return config->level >= MW__LEVEL_AVX2 && config->avx512f; }
#endif

static const mw__gemm_kernel kernel_rows[] = {
#if MW_HAVE_AVX512
    {"AVX-512", has_avx512, &mw__gemm_avx512_set, mw__gemm_avx512_dots, mw__gemm_avx512_long_dots,
     mw__gemm_avx512_half_dots, mw__gemm_avx512_row},
#endif
    {.name = NULL},
};

const mw__gemm_kernel *mw__gemm_kernel_here(const mw__config *config)
{
    for (const mw__gemm_kernel *row = kernel_rows; row->name != NULL; row++)
        if (row->here(config))
            return row;
    return NULL;
}

/* ---- public ---- */

size_t mw__gemm_scratch(int64_t m, int64_t n, int64_t k)
{
    size_t most = mw__gemm_blocked_scratch(&set_base, m, n, k);
    for (const mw__gemm_kernel *row = kernel_rows; row->name != NULL; row++) {
        const size_t bytes = mw__gemm_blocked_scratch(row->set, m, n, k);
        most = bytes > most ? bytes : most;
    }
    return most;
}

/* Measured with OpenBLAS: its vector products run at a sixth of ours, and its copies and calls cost more than ours up
 * to about this size. */
#define SMALL_FLOPS 65536.0

static bool is_small(int64_t m, int64_t n, int64_t k)
{
    return k <= MW__GEMM_DEPTH && 2.0 * (double)m * (double)n * (double)k <= SMALL_FLOPS;
}

static const char *chip_declines(const void *subject)
{
    const mw__gemm_request *r = subject;
    return mw__config_sums(r->config) == MW__SUMS_FREE ? "sums are not those of a chip" : NULL;
}

static const char *vector_declines(const void *subject)
{
    const mw__gemm_request *r = subject;
    return r->m <= 1 || r->n <= 1 ? NULL : "no vector";
}

static const char *small_declines(const void *subject)
{
    const mw__gemm_request *r = subject;
    return is_small(r->m, r->n, r->k) ? NULL : "large enough for panels or a call of a BLAS";
}

static const char *avx512_declines(const void *subject)
{
    const mw__gemm_request *r = subject;
    if (mw__gemm_kernel_here(r->config) == NULL)
        return "the processor has no AVX-512, or may not use it";
    return mw__blas_is_named() ? "MW_BLAS names a library" : NULL;
}

/* Measured with OpenBLAS 0.3.21 for Haswell: a token of GPT-2 124M for 4, 16 and 64 texts takes 0.7, 0.7 and 0.9 of the
 * time. With more rows the BLAS gains. */
#define ACROSS_ROWS 64

static const char *across_declines(const void *subject)
{
    const mw__gemm_request *r = subject;
    if (r->config->level < MW__LEVEL_AVX2)
        return "the processor has no AVX2, or may not use it";
    if (mw__blas_is_named())
        return "MW_BLAS names a library";
    return r->transpose_b && r->m <= ACROSS_ROWS && mw__gemm_takes_across(r->m, r->n, r->k)
               ? NULL
               : "not a few rows times a B that is transposed";
}

/* Gradients by a weight of few examples. By themselves the BLAS gains a twentieth, but sums of them, as recurrent nets
 * have, are added tile by tile (kernel_matmul_sum.c), which it cannot do: a step of an LSTM takes 0.9 of the time. */
#define SHALLOW_LEAST 16
#define SHALLOW_MOST  32
#define SHALLOW_SIDE  64

static const char *shallow_declines(const void *subject)
{
    const mw__gemm_request *r = subject;
    if (r->config->level < MW__LEVEL_AVX2)
        return "the processor has no AVX2, or may not use it";
    if (mw__blas_is_named())
        return "MW_BLAS names a library";
    return r->k >= SHALLOW_LEAST && r->k <= SHALLOW_MOST && r->m >= SHALLOW_SIDE && r->n >= SHALLOW_SIDE
               ? NULL
               : "not large beside its inner extent";
}

/* Looks for a BLAS only here, where it would be used. */
static const char *blas_declines(const void *subject)
{
    const mw__gemm_request *r = subject;
    if (r->in_strips)
        return "the weight stays as it is stored and comes in parts";
    if (r->m > INT32_MAX || r->n > INT32_MAX || r->k > INT32_MAX)
        return "extents beyond 2^31";
    if (mw__blas_find() == NULL)
        return "none is there";
    return r->config->level >= MW__LEVEL_AVX2 && mw__blas_is_lost() && !mw__blas_is_named()
               ? "it does not know the processor"
               : NULL;
}

static const mw__implementation implementations[] = {
    {.name = "chip", .level = MW__LEVEL_REF, .declines = chip_declines},
    {.name = "vector", .level = MW__LEVEL_BASE, .declines = vector_declines},
    {.name = "small", .level = MW__LEVEL_BASE, .declines = small_declines},
    {.name = "avx512", .level = MW__LEVEL_BASE, .declines = avx512_declines},
    {.name = "across", .level = MW__LEVEL_BASE, .declines = across_declines},
    {.name = "shallow", .level = MW__LEVEL_BASE, .declines = shallow_declines},
    {.name = "BLAS", .level = MW__LEVEL_BASE, .declines = blas_declines},
    {.name = "tiles", .level = MW__LEVEL_BASE},
    {.name = "ref", .level = MW__LEVEL_REF},
};

mw__implementations mw__gemm_implementations(void) { return MW__IMPLEMENTATIONS(implementations); }

/* A matrix that may lie beyond the second level of the cache, whose rows are read one after the other. */
#define LONG_ELEMENTS 131072
#define LONG_ROW      256

static bool has_long_rows(const mw__gemm_request *r)
{
    return r->m == 1 && r->k >= LONG_ROW && r->n >= LONG_ELEMENTS / r->k;
}

static mw__gemm_code code_of(const mw__implementation *row, const mw__gemm_request *request)
{
    const mw__config *const config = request->config;
    const mw__gemm_kernel *const kernel = config->level != MW__LEVEL_REF ? mw__gemm_kernel_here(config) : NULL;
    const bool is_chip = row->declines == chip_declines, is_long = has_long_rows(request);
    return (mw__gemm_code){.level = config->level,
                           .sums = mw__config_sums(config),
                           .drops = (config->arithmetic & MW__ARITHMETIC(product_drops)) != 0,
                           .name = row->name,
                           .dots = kernel == NULL || is_chip ? NULL
                                   : is_long                 ? kernel->long_dots
                                                             : kernel->dots,
                           .dots_are_long = is_long,
                           .half_dots = kernel != NULL && !is_chip ? kernel->half_dots : NULL,
                           .row = kernel != NULL && !is_chip ? kernel->row : NULL,
                           .kernel = row->declines == avx512_declines ? kernel : NULL,
                           .sgemm = row->declines == blas_declines ? mw__blas_find() : NULL};
}

mw__gemm_code mw__gemm_choose(const mw__config *config, int64_t m, int64_t n, int64_t k)
{
    const mw__gemm_request request = {.config = config, .m = m, .n = n, .k = k};
    return code_of(mw__implementation_choose(mw__gemm_implementations(), config, &request), &request);
}

mw__gemm_code mw__plan_gemm_request(mw__planner *planner, mw__gemm_request request)
{
    request.config = mw__plan_config(planner);
    return code_of(mw__plan_implementation(planner, mw__gemm_implementations(), &request), &request);
}

mw__gemm_code mw__plan_gemm(mw__planner *planner, int64_t m, int64_t n, int64_t k)
{
    return mw__plan_gemm_request(planner, (mw__gemm_request){.m = m, .n = n, .k = k});
}

const mw__gemm_set *mw__gemm_set_of(const mw__config *config)
{
    const mw__gemm_kernel *const kernel = mw__gemm_kernel_here(config);
    return kernel != NULL ? kernel->set : SET_OF(config->level);
}

const mw__gemm_set *mw__gemm_blocks(const mw__gemm_code *code)
{
    if (code->sums != MW__SUMS_FREE || code->level == MW__LEVEL_REF || code->sgemm != NULL)
        return NULL;
    return code->kernel != NULL ? code->kernel->set : SET_OF(code->level);
}

/* The lanes of a product across are rows of A, most of them empty if these are few. Measured with AVX-512: 4 rows times
 * 256 x 768 take 10 us turned, not 36; 14 rows 24, not 37; with 20, which are two tiles, there is nothing to gain. */
#define TURNED_ROWS   14
#define TURNED_LEAST  64      /* columns */
#define TURNED_FLOATS 1048576 /* of B, which stays in a cache */

bool mw__gemm_gains_turned(const mw__gemm_code *code, int64_t m, int64_t n, int64_t k)
{
    return code->kernel != NULL && code->sums == MW__SUMS_FREE && m > 1 && m <= TURNED_ROWS && k > 1 &&
           n >= TURNED_LEAST && n * k <= TURNED_FLOATS;
}

const char *mw__gemm_name(const mw__config *config)
{
    const mw__gemm_kernel *kernel = mw__gemm_choose(config, 512, 512, 512).kernel;
    return kernel != NULL ? kernel->name : mw__blas_name();
}

static void run_blas(mw__blas_sgemm *sgemm, const mw__gemm_shape *s, const float *a, const float *b, float *c)
{
    sgemm(MW__BLAS_ROW_MAJOR, s->transpose_a ? MW__BLAS_TRANSPOSE : MW__BLAS_NO_TRANSPOSE,
          s->transpose_b ? MW__BLAS_TRANSPOSE : MW__BLAS_NO_TRANSPOSE, (int)s->m, (int)s->n, (int)s->k, 1.0f, a,
          (int)s->lda, b, (int)s->ldb, 0.0f, c, (int)s->ldc);
}

void mw__gemm(const mw__gemm_code *code, const mw__gemm_shape *s, const float *a, const float *b, float *c,
              void *scratch)
{
    if (s->codes != NULL)
        mw__gemm_of_codes(code, s, a, b, c);
    else if (code->sums == MW__SUMS_FIXED)
        mw__gemm_fixed(code, s, a, b, c, scratch);
    else if (code->sums == MW__SUMS_FOURS)
        mw__gemm_chip(s, a, b, c);
    else if (code->level == MW__LEVEL_REF)
        mw__gemm_ref(s, a, b, c);
    else if (s->k == 0)
        for (int64_t i = 0; i < s->m; i++)
            memset(c + i * s->ldc, 0, (size_t)s->n * sizeof *c);
    else if (code->sgemm != NULL)
        run_blas(code->sgemm, s, a, b, c);
    else if (mw__gemm_outer(code->level, s, a, b, c))
        return;
    else if (code->kernel != NULL)
        mw__gemm_blocked(code->kernel->set, s, a, b, c, scratch);
    else if (mw__gemm_vector(code, s, a, b, c))
        return;
    else if (is_small(s->m, s->n, s->k))
        mw__gemm_small(code->level, s, a, b, c, scratch);
    else
        mw__gemm_blocked(SET_OF(code->level), s, a, b, c, scratch);
}

void mw__gemm_ref(const mw__gemm_shape *s, const float *a, const float *b, float *c)
{
    for (int64_t i = 0; i < s->m; i++)
        for (int64_t j = 0; j < s->n; j++) {
            double sum = 0.0;
            for (int64_t p = 0; p < s->k; p++)
                sum += (double)a[s->transpose_a ? p * s->lda + i : i * s->lda + p] *
                       b[s->transpose_b ? j * s->ldb + p : p * s->ldb + j];
            c[i * s->ldc + j] = (float)sum;
        }
}
