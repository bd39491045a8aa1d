/* Matrix products against double sums: odd extents around the tile sizes, every transposition, wide leading extents. */
#include "base/memory/alloc.h"
#include "engine/kernels/gemm/gemm.h"
#include "engine/run.h"
#include "support/check.h"

#include <string.h>

typedef struct product {
    float *a, *b, *c;
    void *scratch;
    mw__gemm_shape shape;
    bool one_chain; /* each result may be one sum over all k, as OpenBLAS makes it for some processors */
} product;

static float *filled(int64_t count, unsigned seed)
{
    float *data = mw__alloc(NULL, (size_t)count, sizeof *data, NULL);
    unsigned state = seed;
    for (int64_t i = 0; data != NULL && i < count; i++) {
        state = state * 1664525u + 1013904223u;
        data[i] = (float)(state >> 8) / 8388608.0f - 1.0f;
    }
    return data;
}

static product product_make(int64_t m, int64_t n, int64_t k, int transposes, int64_t slack)
{
    const bool ta = (transposes & 1) != 0, tb = (transposes & 2) != 0;
    product p = {.shape = {.m = m,
                           .n = n,
                           .k = k,
                           .lda = (ta ? m : k) + slack,
                           .ldb = (tb ? k : n) + slack,
                           .ldc = n + slack,
                           .transpose_a = ta,
                           .transpose_b = tb}};
    p.a = filled((ta ? k : m) * p.shape.lda + 1, 1);
    p.b = filled((tb ? n : k) * p.shape.ldb + 1, 2);
    p.c = filled(m * p.shape.ldc, 3);
    p.scratch = mw__alloc_aligned(NULL, mw__gemm_scratch(m, n, k), 64, NULL);
    return p;
}

static void product_free(product *p)
{
    mw__free(NULL, p->a);
    mw__free(NULL, p->b);
    mw__free(NULL, p->c);
    mw__free_aligned(NULL, p->scratch);
}

static double exact(const product *p, int64_t i, int64_t j)
{
    const mw__gemm_shape *s = &p->shape;
    double sum = 0.0;
    for (int64_t q = 0; q < s->k; q++)
        sum += (double)(s->transpose_a ? p->a[q * s->lda + i] : p->a[i * s->lda + q]) *
               (double)(s->transpose_b ? p->b[j * s->ldb + q] : p->b[q * s->ldb + j]);
    return sum;
}

/* Sums in blocks err by the root of k; a chain's partial sums grow as it does, and so does what each rounding loses. At
 * k = 4100 the worst element of these operands is off by 1.30e-4 in a chain of fmaf, and in OpenBLAS's for Cooper Lake.
 */
static double allowed_error(const product *p)
{
    const double k = (double)p->shape.k;
    return 2e-6 * (p->one_chain ? fmax(sqrt(k + 1.0), k / 32.0) : sqrt(k + 1.0));
}

static void check_result(const product *p, const char *what)
{
    const mw__gemm_shape *s = &p->shape;
    const double allowed = allowed_error(p);
    bool good = true;
    for (int64_t i = 0; i < s->m; i++)
        for (int64_t j = 0; j < s->n; j++)
            good = good && fabs((double)p->c[i * s->ldc + j] - exact(p, i, j)) <= allowed;
    check_note(good, __FILE__, __LINE__, "%s: %lld x %lld x %lld, transposes %d%d, leading %lld is wrong", what,
               (long long)s->m, (long long)s->n, (long long)s->k, s->transpose_a, s->transpose_b, (long long)s->ldc);
}

static void check_product(const mw__gemm_code *code, int64_t m, int64_t n, int64_t k, int transposes, int64_t slack,
                          const char *what)
{
    product p = product_make(m, n, k, transposes, slack);
    const float guard = slack > 0 ? p.c[n] : 0.0f;
    p.one_chain = code->sgemm != NULL;
    mw__gemm(code, &p.shape, p.a, p.b, p.c, p.scratch);
    CHECK(slack == 0 || p.c[n] == guard);
    check_result(&p, what);
    product_free(&p);
}

static const int64_t extents[][3] = {{1, 1, 1},    {1, 33, 70},    {70, 1, 33},   {5, 15, 3},     {6, 16, 256},
                                     {7, 17, 257}, {13, 47, 1},    {97, 31, 300}, {100, 530, 20}, {3, 513, 513},
                                     {9, 48, 40},  {66, 290, 530}, {14, 32, 16},  {15, 33, 17},   {29, 65, 31},
                                     {85, 97, 2},  {1, 16, 7},     {2, 17, 260},  {16, 47, 9},    {17, 35, 300},
                                     {33, 70, 65}, {48, 97, 512},  {49, 100, 77}, {64, 129, 70},  {3, 40, 4100}};

static void check_code(const mw__gemm_code *code, const char *what)
{
    for (size_t i = 0; i < sizeof extents / sizeof *extents; i++)
        for (int transposes = 0; transposes < 4; transposes++)
            for (int64_t slack = 0; slack < 6; slack += 5)
                check_product(code, extents[i][0], extents[i][1], extents[i][2], transposes, slack, what);
}

/* Leading extents of whole pages, where the same places of the caches meet; wide enough for A to be packed, deep and
 * wide enough for several blocks of each. */
static const int64_t blocks[][3] = {{13, 300, 600}, {85, 289, 257},   {30, 1057, 270},  {171, 260, 30},
                                    {2, 1025, 3},   {266, 1057, 270}, {267, 1030, 300}, {540, 290, 30}};

static void check_blocks(const mw__gemm_code *code, const char *what)
{
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        for (int transposes = 0; transposes < 4; transposes++) {
            const int64_t m = blocks[i][0], n = blocks[i][1], k = blocks[i][2];
            product p = product_make(m, n, k, transposes, 2048);
            p.shape.lda = p.shape.ldb = 2048;
            mw__gemm(code, &p.shape, p.a, p.b, p.c, p.scratch);
            check_result(&p, what);
            product_free(&p);
        }
}

/* Rows [i, i + rows) and columns [j, j + columns) of p alone. */
static void multiply_part(const mw__gemm_code *code, const product *p, int64_t i, int64_t rows, int64_t j,
                          int64_t columns)
{
    mw__gemm_shape s = p->shape;
    s.m = rows, s.n = columns;
    mw__gemm(code, &s, p->a + (s.transpose_a ? i : i * s.lda), p->b + (s.transpose_b ? j * s.ldb : j),
             p->c + i * s.ldc + j, p->scratch);
}

/* The bits of a sum depend on the instructions, not on what else is computed with it: partitions may cut as they like.
 */
static void check_parts(const mw__gemm_code *code, const char *what)
{
    for (int transposes = 0; transposes < 4; transposes++) {
        product whole = product_make(101, 530, 700, transposes, 0), parts = product_make(101, 530, 700, transposes, 0);
        mw__gemm(code, &whole.shape, whole.a, whole.b, whole.c, whole.scratch);
        static const int64_t rows[] = {0, 2, 19, 52, 101}, columns[] = {0, 33, 64, 530};
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 3; j++)
                multiply_part(code, &parts, rows[i], rows[i + 1] - rows[i], columns[j], columns[j + 1] - columns[j]);
        check_note(memcmp(whole.c, parts.c, 101 * 530 * sizeof *whole.c) == 0, __FILE__, __LINE__,
                   "%s: transposes %d: parts have other bits", what, transposes);
        product_free(&whole);
        product_free(&parts);
    }
}

/* A column times a row is a product whose other terms are 0, with -0 among the numbers. */
static void check_outer(const mw__gemm_code *code, const char *what)
{
    enum { M = 29, N = 77 };
    for (int transpose = 0; transpose < 2; transpose++) {
        product outer = product_make(M, N, 1, transpose, 0), deep = product_make(M, N, 2, 0, 0);
        memset(deep.b + N, 0, N * sizeof *deep.b);
        outer.a[3] = 0.0f, outer.b[5] = -0.0f;
        memcpy(deep.b, outer.b, N * sizeof *deep.b);
        for (int i = 0; i < M; i++)
            deep.a[2 * i] = outer.a[i], deep.a[2 * i + 1] = 0.0f;
        mw__gemm(code, &outer.shape, outer.a, outer.b, outer.c, outer.scratch);
        mw__gemm(code, &deep.shape, deep.a, deep.b, deep.c, deep.scratch);
        check_note(memcmp(outer.c, deep.c, M * N * sizeof *outer.c) == 0, __FILE__, __LINE__,
                   "%s: a column times a row has other bits", what);
        product_free(&outer);
        product_free(&deep);
    }
}

static void test_a_column_times_a_row_has_the_bits_of_a_product(void)
{
    mw__config config = config_here();
    static const mw__level levels[] = {MW__LEVEL_BASE, MW__LEVEL_AVX2, MW__LEVEL_AVX512};
    for (int i = 0; i < 3; i++)
        if (levels[i] <= level_here())
            check_outer(&(mw__gemm_code){.level = levels[i]}, mw__level_name(levels[i]));
    if (mw__gemm_kernel_here(&config) != NULL)
        check_outer(&(mw__gemm_code){.level = config.level, .kernel = mw__gemm_kernel_here(&config)}, "kernel");
}

static void test_reference_products(void) { check_code(&(mw__gemm_code){.level = MW__LEVEL_REF}, "ref"); }

static void test_baseline_products(void)
{
    const mw__gemm_code code = {.level = MW__LEVEL_BASE};
    check_code(&code, "baseline");
    check_blocks(&code, "baseline");
    check_parts(&code, "baseline");
}

static void test_wide_products(void)
{
    if (level_here() < MW__LEVEL_AVX2)
        SKIP("this processor has no wide code");
    const mw__gemm_code code = {.level = MW__LEVEL_AVX2};
    check_code(&code, "wide");
    check_blocks(&code, "wide");
    check_parts(&code, "wide");
}

/* At sizes where mw__gemm would take other code, too. */
static void check_small(mw__level level, const char *what)
{
    for (size_t i = 0; i < sizeof extents / sizeof *extents; i++)
        for (int transposes = 0; transposes < 4; transposes++) {
            product p = product_make(extents[i][0], extents[i][1], extents[i][2], transposes, 2);
            float *panel = mw__alloc(NULL, 16 * (size_t)p.shape.k, sizeof *panel, NULL);
            REQUIRE(panel != NULL);
            mw__gemm_small(level, &p.shape, p.a, p.b, p.c, panel);
            check_result(&p, what);
            mw__free(NULL, panel);
            product_free(&p);
        }
}

static void test_small_products(void)
{
    check_small(MW__LEVEL_BASE, "small, baseline");
    if (level_here() >= MW__LEVEL_AVX2)
        check_small(MW__LEVEL_AVX2, "small, wide");
}

static void test_wider_products(void)
{
    const mw__config config = config_here();
    const mw__gemm_kernel *kernel = mw__gemm_kernel_here(&config);
    if (kernel == NULL)
        SKIP("this processor has no wider vectors, or may not use them");
    const mw__gemm_code code = {.level = MW__LEVEL_AVX2, .kernel = kernel};
    check_code(&code, "wider");
    check_blocks(&code, "wider");
    check_parts(&code, "wider");
    check_code(&(mw__gemm_code){.level = MW__LEVEL_AVX2, .dots = kernel->dots, .row = kernel->row}, "wider, vectors");
}

/* A row times a matrix, with and without wider vectors: each sum is one chain, whatever the columns are. */
static void test_a_row_has_the_bits_of_narrower_vectors(void)
{
    static const int64_t columns[] = {1, 15, 16, 17, 47, 48, 100, 127, 128, 129, 250, 256, 257};
    const mw__config config = config_here();
    const mw__gemm_kernel *kernel = mw__gemm_kernel_here(&config);
    if (kernel == NULL)
        SKIP("this processor has no wider vectors, or may not use them");
    const mw__gemm_code wide = {.level = MW__LEVEL_AVX2, .row = kernel->row}, narrow = {.level = MW__LEVEL_AVX2};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        for (int transposes = 0; transposes < 2; transposes++) {
            product p = product_make(1, columns[i], 37, transposes, 3),
                    q = product_make(1, columns[i], 37, transposes, 3);
            const bool taken =
                mw__gemm_vector(&wide, &p.shape, p.a, p.b, p.c) && mw__gemm_vector(&narrow, &q.shape, q.a, q.b, q.c);
            check_note(taken && memcmp(p.c, q.c, (size_t)p.shape.ldc * sizeof(float)) == 0, __FILE__, __LINE__,
                       "%lld columns have other bits", (long long)columns[i]);
            product_free(&p);
            product_free(&q);
        }
}

static void test_blas_products(void)
{
    if (mw__blas_find() == NULL)
        SKIP("no BLAS is installed");
    check_code(&(mw__gemm_code){.sgemm = mw__blas_find(), .level = MW__LEVEL_BASE}, mw__blas_name());
}

static mw__gemm_code choose(int64_t m, int64_t n, int64_t k)
{
    const mw__config config = config_here();
    return mw__gemm_choose(&config, m, n, k);
}

static void test_no_depth_gives_zeros(void)
{
    const mw__gemm_code code = choose(3, 4, 0);
    product p = product_make(3, 4, 0, 0, 0);
    p.shape.lda = 1;
    mw__gemm(&code, &p.shape, p.a, p.b, p.c, p.scratch);
    for (int i = 0; i < 12; i++)
        CHECK(p.c[i] == 0.0f);
    product_free(&p);
}

static void test_vectors_and_tiny_products_stay_built_in(void)
{
    CHECK(choose(1, 512, 512).sgemm == NULL);
    CHECK(choose(512, 1, 512).sgemm == NULL);
    CHECK(choose(2, 8, 2).sgemm == NULL);
    const mw__gemm_code code = choose(128, 128, 128);
    const bool knows = level_here() < MW__LEVEL_AVX2 || !mw__blas_is_lost() || mw__blas_is_named();
    const bool expected = mw__blas_find() != NULL && knows && level_here() != MW__LEVEL_REF && code.kernel == NULL;
    CHECK((code.sgemm != NULL) == expected);
    CHECK(choose(1, 512, 512).kernel == NULL && choose(512, 1, 512).kernel == NULL);
}

static void test_huge_extents_do_not_reach_the_blas(void) { CHECK(choose((int64_t)1 << 31, 64, 64).sgemm == NULL); }

int main(void)
{
    RUN(test_reference_products);
    RUN(test_a_column_times_a_row_has_the_bits_of_a_product);
    RUN(test_a_row_has_the_bits_of_narrower_vectors);
    RUN(test_baseline_products);
    RUN(test_wide_products);
    RUN(test_small_products);
    RUN(test_wider_products);
    RUN(test_blas_products);
    RUN(test_no_depth_gives_zeros);
    RUN(test_vectors_and_tiny_products_stay_built_in);
    RUN(test_huge_extents_do_not_reach_the_blas);
    return check_finish();
}
