/* Fixed-point sums against integers: every instruction set, transposition, cut and kind of operands, with and without
 * the rule that drops small products, and sums that pass their ceiling on the way. */
#include "base/memory/alloc.h"
#include "base/number/fp16.h"
#include "engine/kernels/gemm/gemm.h"
#include "engine/run.h"
#include "support/check.h"

#include <string.h>

/* ---- the rules, in integers ---- */

/* mantissa * 2^power; the largest exponent is one of numbers, but a NaN is made quiet. */
typedef struct number {
    int64_t mantissa;
    int power, exponent; /* exponent: of the leading bit; subnormal numbers have -14 */
} number;

static number number_of(uint16_t bits)
{
    const int field = bits >> 10 & 31, plain = bits & 1023, fraction = field == 31 && plain != 0 ? plain | 512 : plain;
    const int64_t size = field == 0 ? fraction : 1024 + fraction, sign = (bits & 0x8000) != 0 ? -1 : 1;
    const int exponent = field == 0 ? -14 : field - 15;
    return (number){.mantissa = sign * size, .power = exponent - 10, .exponent = exponent};
}

/* mantissa * 2^power in multiples of 2^-16, halves away from zero. */
static int64_t units_of(int64_t mantissa, int power)
{
    const int shift = -16 - power;
    if (shift <= 0)
        return mantissa * ((int64_t)1 << -shift);
    const int64_t size = mantissa < 0 ? -mantissa : mantissa;
    const int64_t rounded = shift > 40 ? 0 : (size + ((int64_t)1 << (shift - 1))) >> shift;
    return mantissa < 0 ? -rounded : rounded;
}

#define CEILING ((int64_t)1 << 31)

typedef struct sum {
    int64_t units;
    int infinite; /* its sign, once it has been so */
} sum;

static void add(sum *s, int64_t units)
{
    s->units += s->infinite == 0 ? units : 0;
    if (s->infinite == 0 && (s->units >= CEILING || s->units <= -CEILING))
        s->infinite = s->units < 0 ? -1 : 1;
}

static void add_product(sum *s, uint16_t x, uint16_t y, bool drops)
{
    const number a = number_of(x), b = number_of(y);
    if (!drops || a.exponent + b.exponent > -17)
        add(s, units_of(a.mantissa * b.mantissa, a.power + b.power));
}

/* To fp16, halves away from zero: 11 bits, or what is above 2^-24. */
static double rounded(double x)
{
    int exponent;
    if (x == 0.0 || isinf(x))
        return x == 0.0 ? 0.0 : x;
    frexp(x, &exponent);
    const int last = exponent - 11 < -24 ? -24 : exponent - 11;
    return ldexp(round(ldexp(x, -last)), last);
}

/* ---- operands ---- */

typedef enum kind { PLAIN, TIES, LARGE, HUGE_ONES, SMALL, STRANGE, KINDS } kind;
static const char *const kind_names[KINDS] = {"plain", "ties", "large", "huge", "small", "strange"};

static uint32_t next(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* Exponents and mantissas that make a kind: of TIES few bits, whose products end half a unit above the grid. */
static uint16_t operand(kind k, uint32_t *state)
{
    static const int first[KINDS] = {5, 3, 16, 22, 0, 0}, count[KINDS] = {10, 8, 6, 7, 8, 32};
    const uint32_t field = (uint32_t)first[k] + next(state) % (uint32_t)count[k], sign = next(state) & 1;
    uint32_t fraction = next(state) & 1023;
    if (k == TIES)
        fraction &= 0x300;
    if (k == HUGE_ONES && next(state) % 4 != 0)
        return (uint16_t)(sign << 15 | 3u << 10 | fraction);
    if (next(state) % 16 == 0)
        return (uint16_t)(sign << 15);
    return (uint16_t)(sign << 15 | field << 10 | fraction);
}

typedef struct product {
    mw__gemm_shape shape;
    uint16_t *a, *b; /* [m, k], [k, n] as the shape says */
    float *fp32_a, *fp32_b, *start, *c;
    void *scratch;
} product;

static void fill(uint16_t *half, float *fp32, int64_t count, kind k, uint32_t *state)
{
    for (int64_t i = 0; i < count; i++)
        half[i] = operand(k, state);
    mw__fp16_to_float_n(fp32, half, (size_t)count);
}

static product product_make(int64_t m, int64_t n, int64_t k, int transposes, kind of)
{
    const bool ta = (transposes & 1) != 0, tb = (transposes & 2) != 0;
    product p = {.shape = {.m = m,
                           .n = n,
                           .k = k,
                           .lda = ta ? m : k,
                           .ldb = tb ? k : n,
                           .ldc = n,
                           .transpose_a = ta,
                           .transpose_b = tb}};
    uint32_t state = 7u + (uint32_t)of;
    p.a = mw__alloc(NULL, (size_t)(m * k), sizeof *p.a, NULL),
    p.b = mw__alloc(NULL, (size_t)(n * k), sizeof *p.b, NULL);
    p.fp32_a = mw__alloc(NULL, (size_t)(m * k), sizeof(float), NULL);
    p.fp32_b = mw__alloc(NULL, (size_t)(n * k), sizeof(float), NULL);
    p.start = mw__alloc(NULL, (size_t)(m > n ? m : n), sizeof(float), NULL);
    p.c = mw__alloc(NULL, (size_t)(m * n), sizeof *p.c, NULL);
    p.scratch = mw__alloc_aligned(NULL, mw__gemm_scratch(m, n, k), 64, NULL);
    fill(p.a, p.fp32_a, m * k, of, &state);
    fill(p.b, p.fp32_b, n * k, of, &state);
    for (int64_t i = 0; i < (m > n ? m : n); i++)
        p.start[i] = mw__fp16_to_float(operand(of == HUGE_ONES ? LARGE : PLAIN, &state));
    return p;
}

static void product_free(product *p)
{
    void *const all[] = {p->a, p->b, p->fp32_a, p->fp32_b, p->start, p->c};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        mw__free(NULL, all[i]);
    mw__free_aligned(NULL, p->scratch);
}

/* ---- comparing ---- */

static double expected(const product *p, int64_t i, int64_t j, bool drops)
{
    const mw__gemm_shape *s = &p->shape;
    sum total = {0};
    if (s->start != NULL) {
        const number start = number_of(mw__fp16_from_float(s->start[s->start_of_rows ? i : j]));
        add(&total, units_of(start.mantissa, start.power));
    }
    for (int64_t q = 0; q < s->k; q++)
        add_product(&total, p->a[s->transpose_a ? q * s->lda + i : i * s->lda + q],
                    p->b[s->transpose_b ? j * s->ldb + q : q * s->ldb + j], drops);
    return total.infinite != 0 ? total.infinite * (double)INFINITY : rounded((double)total.units * 0x1p-16);
}

static void check_product(const product *p, const mw__gemm_code *code, const char *what)
{
    const mw__gemm_shape *s = &p->shape;
    int64_t wrong = 0, at = 0;
    memset(p->c, 0xff, (size_t)(s->m * s->n) * sizeof *p->c);
    mw__gemm(code, s, p->fp32_a, p->fp32_b, p->c, p->scratch);
    for (int64_t i = 0; i < s->m * s->n; i++)
        if (rounded((double)p->c[i]) != expected(p, i / s->n, i % s->n, code->drops) && wrong++ == 0)
            at = i;
    check_note(
        wrong == 0, __FILE__, __LINE__,
        "%s, %s, drops %d: %lld x %lld x %lld, transposes %d%d, start %d: %lld are wrong; [%lld] is %.9g, not %.9g",
        mw__level_name(code->level), what, code->drops, (long long)s->m, (long long)s->n, (long long)s->k,
        s->transpose_a, s->transpose_b, s->start != NULL, (long long)wrong, (long long)at, (double)p->c[at],
        expected(p, at / s->n, at % s->n, code->drops));
}

static const int64_t extents[][3] = {{1, 1, 1},   {1, 33, 70},   {7, 17, 257}, {8, 32, 64},   {13, 47, 1},
                                     {5, 70, 90}, {16, 64, 300}, {9, 31, 520}, {31, 515, 24}, {340, 33, 5}};

static void check_level(mw__level level, int64_t most)
{
    for (int k = 0; k < KINDS; k++)
        for (size_t e = 0; e < sizeof extents / sizeof *extents; e++)
            for (int how = 0; how < 4; how++) {
                const int64_t *x = extents[e];
                if (x[0] * x[1] * x[2] > most)
                    continue;
                product p = product_make(x[0], x[1], x[2], how, (kind)k);
                p.shape.start = how % 3 == 0 ? p.start : NULL;
                p.shape.start_of_rows = how == 3;
                for (int drops = 0; drops < 2; drops++) {
                    const mw__gemm_code code = {.level = level, .sums = MW__SUMS_FIXED, .drops = drops != 0};
                    check_product(&p, &code, kind_names[k]);
                }
                product_free(&p);
            }
}

static void test_sums_one_after_the_other(void) { check_level(MW__LEVEL_REF, 40000); }

static void test_tiles(void)
{
    for (mw__level level = MW__LEVEL_BASE; level <= level_here(); level = (mw__level)(level + 1))
        check_level(level, INT64_MAX);
}

/* Each product of two fp16 numbers whose bits matter here: what is far above the grid is exact, and what is far below
 * it is 0. 64 exponents of products in all mantissas of 6 bits, and their neighbors. */
static void test_every_kind_of_product_alone(void)
{
    enum { SIDE = 130 };
    for (mw__level level = MW__LEVEL_REF; level <= level_here(); level = (mw__level)(level + 1))
        for (uint32_t x = 0; x < 31; x++)
            for (uint32_t y = 0; y < 31; y++) {
                product p = product_make(SIDE, SIDE, 1, 0, PLAIN);
                for (uint32_t i = 0; i < SIDE; i++) {
                    const uint32_t fraction = i < 64    ? i << 4
                                              : i < 128 ? (i - 64) << 4 | (i % 2 == 0 ? 1u : 15u)
                                                        : 1023u;
                    p.a[i] = (uint16_t)(x << 10 | fraction), p.b[i] = (uint16_t)(i % 3 << 15 | y << 10 | fraction);
                }
                mw__fp16_to_float_n(p.fp32_a, p.a, SIDE);
                mw__fp16_to_float_n(p.fp32_b, p.b, SIDE);
                check_product(&p, &(mw__gemm_code){.level = level, .sums = MW__SUMS_FIXED, .drops = (x + y) % 2 == 0},
                              "alone");
                product_free(&p);
            }
}

static void test_no_depth_gives_what_sums_begin_with(void)
{
    const float start[] = {1.5f, -0x1p-18f, 0x1p-17f, 32768.0f}, wanted[] = {1.5f, 0.0f, 0x1p-16f, INFINITY};
    float c[4];
    for (mw__level level = MW__LEVEL_REF; level <= level_here(); level = (mw__level)(level + 1)) {
        const mw__gemm_code code = {.level = level, .sums = MW__SUMS_FIXED};
        const mw__gemm_shape s = {.m = 1, .n = 4, .lda = 1, .ldb = 4, .ldc = 4, .start = start};
        mw__gemm(&code, &s, start, start, c, NULL);
        for (int i = 0; i < 4; i++)
            CHECK(c[i] == wanted[i]);
    }
}

/* Numbers that are not fp16 are rounded to it first, by every instruction set. */
static void test_operands_beyond_fp16_are_rounded_first(void)
{
    const float a[] = {1.00001f, 0.33333f, 3.00003f}, b[] = {1.0f, 3.00001f, 0.1f};
    for (mw__level level = MW__LEVEL_REF; level <= level_here(); level = (mw__level)(level + 1)) {
        float c = 0.0f, scratch[65536];
        const mw__gemm_code code = {.level = level, .sums = MW__SUMS_FIXED};
        mw__gemm(&code, &(mw__gemm_shape){.m = 1, .n = 1, .k = 3, .lda = 3, .ldb = 1, .ldc = 1}, a, b, &c, scratch);
        sum total = {0};
        for (int i = 0; i < 3; i++)
            add_product(&total, mw__fp16_from_float(a[i]), mw__fp16_from_float(b[i]), false);
        CHECK(c == (float)((double)total.units * 0x1p-16));
    }
}

int main(void)
{
    RUN(test_sums_one_after_the_other);
    RUN(test_tiles);
    RUN(test_every_kind_of_product_alone);
    RUN(test_no_depth_gives_what_sums_begin_with);
    RUN(test_operands_beyond_fp16_are_rounded_first);
    return check_finish();
}
