/* Tiles of products of codes: plain loops, AVX2, and which of all the processor has. Products of 8 bits that AVX2 adds
 * in pairs saturate at 16 bits, so that numbers are widened first; the instructions of VNNI add four without that. */
#include "engine/kernels/int8/int8_tiles.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

/* ---- plain ---- */

enum { PLAIN_ROWS = 4, PLAIN_LANES = 16 };

static void add_quads(const uint8_t *u, int32_t panel, uint32_t *sums)
{
    const int32_t a = (int8_t)panel, b = (int8_t)(panel >> 8), c = (int8_t)(panel >> 16), d = panel >> 24;
    MW__VECTORIZE
    for (int i = 0; i < PLAIN_LANES; i++)
        sums[i] += (uint32_t)(u[4 * i] * a + u[4 * i + 1] * b + u[4 * i + 2] * c + u[4 * i + 3] * d);
}

MW__INLINE void plain_rows(const int rows, const uint8_t *x, const int32_t *offset, int64_t depth, const int32_t *panel,
                           const int32_t *start, int32_t *sums)
{
    for (int i = 0; i < rows * PLAIN_LANES; i++)
        sums[i] = start[i / PLAIN_LANES];
    for (int64_t k = 0; k < depth; k++)
        for (int r = 0; r < rows; r++)
            add_quads(x + offset[k], panel[k * rows + r], (uint32_t *)sums + r * PLAIN_LANES);
}

static void tile_plain(const uint8_t *x, const int32_t *offset, int64_t depth, const int32_t *panel,
                       const int32_t *start, int32_t *sums)
{
    plain_rows(PLAIN_ROWS, x, offset, depth, panel, start, sums);
}

static void one_plain(const uint8_t *x, const int32_t *offset, int64_t depth, const int32_t *panel,
                      const int32_t *start, int32_t *sums)
{
    plain_rows(1, x, offset, depth, panel, start, sums);
}

static const mw__int8_code plain = {"plain", PLAIN_ROWS, PLAIN_LANES, 1, false, {tile_plain}, one_plain};

/* ---- AVX2 ---- */

#if defined(__x86_64__)
#define UNROLL _Pragma("GCC unroll 16")

enum { NARROW_ROWS = 4, NARROW_LANES = 16 };

#define VECTOR            __m256i
#define VECTORS           2
#define ROWS              NARROW_ROWS
#define SUFFIX            avx2
#define TARGET            MW__TARGET_AVX2
#define LOAD(p)           _mm256_loadu_si256((const __m256i *)(const void *)(p))
#define STORE(p, x)       _mm256_storeu_si256((__m256i *)(void *)(p), x)
#define SPREAD(number)    _mm256_set1_epi32(number)
#define WIDE              1
#define EVEN(u)           _mm256_and_si256(u, _mm256_set1_epi16(255))
#define ODD(u)            _mm256_srli_epi16(u, 8)
#define MADD(sum, x16, y) _mm256_add_epi32(sum, _mm256_madd_epi16(x16, y))
#include "engine/kernels/int8/int8_tile.def"

#define VECTOR         __m256i
#define VECTORS        2
#define ROWS           NARROW_ROWS
#define SUFFIX         dots
#define TARGET         __attribute__((target("avx2,avxvnni")))
#define LOAD(p)        _mm256_loadu_si256((const __m256i *)(const void *)(p))
#define STORE(p, x)    _mm256_storeu_si256((__m256i *)(void *)(p), x)
#define SPREAD(number) _mm256_set1_epi32(number)
#define WIDE           0
#define DOT(sum, u, s) _mm256_dpbusd_avx_epi32(sum, u, s)
#include "engine/kernels/int8/int8_tile.def"

static const mw__int8_code of_avx2 = {"avx2", NARROW_ROWS, NARROW_LANES, 2, true, {tile_1_avx2, tile_2_avx2}, one_avx2};
static const mw__int8_code of_avx2_dots = {"avx2.vnni", NARROW_ROWS, NARROW_LANES, 2, false, {tile_1_dots, tile_2_dots},
                                           one_dots};
#endif

/* ---- the choice ---- */

#if defined(__x86_64__)
static bool has_avx2(void) { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }

/* Not every compiler knows this one's name. */
static bool has_avx2_dots(void)
{
    unsigned a = 0, b, c, d;
    return has_avx2() && __get_cpuid_count(7, 1, &a, &b, &c, &d) != 0 && (a >> 4 & 1) != 0;
}
#endif

#if MW_HAVE_AVX512
static bool has_avx512(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

static bool has_avx512_dots(void) { return has_avx512() && __builtin_cpu_supports("avx512vnni"); }
#endif

static bool has_plain(void) { return true; }

typedef struct code_row {
    const mw__int8_code *code;
    mw__level level;
    bool (*has)(void);
} code_row;

static const code_row rows[] = {
#if MW_HAVE_AVX512
    {&mw__int8_avx512_dots, MW__LEVEL_AVX512, has_avx512_dots},
    {&mw__int8_avx512, MW__LEVEL_AVX512, has_avx512},
#endif
#if defined(__x86_64__)
    {&of_avx2_dots, MW__LEVEL_AVX2, has_avx2_dots},
    {&of_avx2, MW__LEVEL_AVX2, has_avx2},
#endif
    {&plain, MW__LEVEL_REF, has_plain},
};

const mw__int8_code *mw__int8_tiles_at(size_t index)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].has() && index-- == 0)
            return rows[i].code;
    return NULL;
}

const mw__int8_code *mw__int8_code_of(mw__level level)
{
    size_t i = 0;
    while (rows[i].level > level || !rows[i].has())
        i++;
    return rows[i].code;
}

/* ---- panels ---- */

int64_t mw__int8_panel_count(const mw__int8_code *code, int64_t depth, int rows_of)
{
    return depth * rows_of * (code->wide ? 2 : 1);
}

static int32_t pair_of(int low, int high) { return (int32_t)((uint32_t)(low & 0xffff) | (uint32_t)high << 16); }

void mw__int8_panel_put(const mw__int8_code *code, int rows_of, int64_t quad, int row, const int8_t s[4],
                        int32_t *panel)
{
    int32_t *at = panel + (quad * rows_of + row) * (code->wide ? 2 : 1);
    if (code->wide)
        at[0] = pair_of(s[0], s[2]), at[1] = pair_of(s[1], s[3]);
    else
        memcpy(at, s, 4);
}
