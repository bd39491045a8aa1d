/* Products through the engine: shapes that broadcast, rank 1, transpositions, integers, one rounding of fp16, on one
 * thread and on three, with and without a BLAS at hand. */
#include "base/number/fp16.h"
#include "engine/kernel_case.h"
#include "support/check.h"

#include <stdlib.h>

typedef struct product {
    const char *x, *y, *r;    /* shapes as MIL writes them */
    int batch[2];             /* of the result, outer and inner; 0 = 1 */
    int step_x[2], step_y[2]; /* matrices to move by for each, 0 = repeated */
    int m, n, k;
    bool tx, ty;
} product;

static const product products[] = {
    {.x = "[5, 7]", .y = "[7, 9]", .r = "[5, 9]", .m = 5, .n = 9, .k = 7},
    {.x = "[33, 70]", .y = "[81, 70]", .r = "[33, 81]", .m = 33, .n = 81, .k = 70, .ty = true},
    {.x = "[70, 33]", .y = "[70, 81]", .r = "[33, 81]", .m = 33, .n = 81, .k = 70, .tx = true},
    {.x = "[70, 33]", .y = "[81, 70]", .r = "[33, 81]", .m = 33, .n = 81, .k = 70, .tx = true, .ty = true},
    {.x = "[1, 50]", .y = "[50, 200]", .r = "[1, 200]", .m = 1, .n = 200, .k = 50},
    {.x = "[2, 50]", .y = "[200, 50]", .r = "[2, 200]", .m = 2, .n = 200, .k = 50, .ty = true},
    {.x = "[50]", .y = "[50, 9]", .r = "[9]", .m = 1, .n = 9, .k = 50},
    {.x = "[9, 50]", .y = "[50]", .r = "[9]", .m = 9, .n = 1, .k = 50},
    {.x = "[50]", .y = "[50]", .r = "", .m = 1, .n = 1, .k = 50},
    {.x = "[3, 4, 5]", .y = "[5, 6]", .r = "[3, 4, 6]", .batch = {3, 1}, .step_x = {1, 0}, .m = 4, .n = 6, .k = 5},
    {.x = "[4, 5]", .y = "[3, 5, 6]", .r = "[3, 4, 6]", .batch = {3, 1}, .step_y = {1, 0}, .m = 4, .n = 6, .k = 5},
    {.x = "[2, 1, 4, 5]",
     .y = "[3, 6, 5]",
     .r = "[2, 3, 4, 6]",
     .batch = {2, 3},
     .step_x = {1, 0},
     .step_y = {0, 1},
     .m = 4,
     .n = 6,
     .k = 5,
     .ty = true},
    {.x = "[2, 3, 5, 4]",
     .y = "[2, 3, 5, 6]",
     .r = "[2, 3, 4, 6]",
     .batch = {2, 3},
     .step_x = {3, 1},
     .step_y = {3, 1},
     .m = 4,
     .n = 6,
     .k = 5,
     .tx = true},
    /* split by columns */
    {.x = "[24, 250]", .y = "[192, 250]", .r = "[24, 192]", .m = 24, .n = 192, .k = 250, .ty = true},
    {.x = "[24, 250]", .y = "[250, 192]", .r = "[24, 192]", .m = 24, .n = 192, .k = 250},
    {.x = "[3, 4, 5]", .y = "[5]", .r = "[3, 4]", .batch = {3, 1}, .step_x = {1, 0}, .m = 4, .n = 1, .k = 5},
};

enum { LIMIT = 6000 };
typedef struct operands {
    float x[LIMIT], y[LIMIT * 8], r[LIMIT];
    uint16_t half_x[LIMIT], half_y[LIMIT * 8], half_r[LIMIT];
    int32_t int_x[LIMIT], int_y[LIMIT * 8], int_r[LIMIT];
} operands;

static int count_of(const char *shape)
{
    int count = 1;
    for (const char *at = shape; *at != '\0'; at++)
        if (*at >= '0' && *at <= '9' && (at == shape || at[-1] < '0' || at[-1] > '9'))
            count *= atoi(at);
    return count;
}

static const char *type_of(char *buffer, size_t size, const char *dtype, const char *shape)
{
    if (*shape == '\0')
        snprintf(buffer, size, "%s", dtype);
    else
        snprintf(buffer, size, "tensor<%s, %s>", dtype, shape);
    return buffer;
}

/* Indices of the operands' elements that make term q of result (b, c, i, j). */
static double exact_element(const product *p, const operands *d, int b, int c, int i, int j, bool integers)
{
    const int bx = (b * p->step_x[0] + c * p->step_x[1]) * p->m * p->k;
    const int by = (b * p->step_y[0] + c * p->step_y[1]) * p->k * p->n;
    double sum = 0;
    for (int q = 0; q < p->k; q++) {
        const int x = bx + (p->tx ? q * p->m + i : i * p->k + q), y = by + (p->ty ? j * p->k + q : q * p->n + j);
        sum += integers ? (double)d->int_x[x] * d->int_y[y] : (double)d->x[x] * (double)d->y[y];
    }
    return sum;
}

typedef enum form { FP32, FP16, INT32 } form;
static const char *const form_names[] = {"fp32", "fp16", "int32"};

static double got_element(const operands *d, form f, int at)
{
    return f == INT32 ? d->int_r[at] : f == FP16 ? (double)mw__fp16_to_float(d->half_r[at]) : (double)d->r[at];
}

static void compare(const product *p, const operands *d, form f, uint64_t threads)
{
    /* sums up to about 10, each of whose k additions may lose half an ulp; they seldom all lose in one direction */
    const double single = fmax(5e-6, 7e-8 * p->k);
    int at = 0;
    for (int b = 0; b < p->batch[0] || b == 0; b++)
        for (int c = 0; c < p->batch[1] || c == 0; c++)
            for (int i = 0; i < p->m; i++)
                for (int j = 0; j < p->n; j++, at++) {
                    const double exact = exact_element(p, d, b, c, i, j, f == INT32), got = got_element(d, f, at);
                    const double allowed = f == INT32 ? 0 : f == FP32 ? single : 4.9e-4 * fabs(exact) + single;
                    if (!check_note(fabs(got - exact) <= allowed, __FILE__, __LINE__,
                                    "%s x %s in %s on %d threads: element %d is %.9g, not %.9g", p->x, p->y,
                                    form_names[f], (int)threads, at, got, exact))
                        return;
                }
}

static void check_product(const product *p, operands *d, form f, uint64_t threads)
{
    char text[1024], parameters[256], body[256], tx[64], ty[64], tr[64];
    const size_t size = f == FP16 ? 2 : 4;
    const size_t nx = (size_t)count_of(p->x), ny = (size_t)count_of(p->y), nr = (size_t)count_of(p->r);
    snprintf(parameters, sizeof parameters, "%s x, %s y", type_of(tx, sizeof tx, form_names[f], p->x),
             type_of(ty, sizeof ty, form_names[f], p->y));
    snprintf(body, sizeof body, "%s r = matmul(transpose_x = bool(%s), transpose_y = bool(%s), x = x, y = y);",
             type_of(tr, sizeof tr, form_names[f], p->r), p->tx ? "true" : "false", p->ty ? "true" : "false");
    void *const x[] = {d->x, d->half_x, d->int_x}, *const y[] = {d->y, d->half_y, d->int_y};
    void *const r[] = {d->r, d->half_r, d->int_r};
    const kernel_port in[] = {{"x", x[f], nx * size}, {"y", y[f], ny * size}};
    REQUIRE(kernel_run(kernel_text(text, sizeof text, parameters, body, "r"), threads, in, 2,
                       &(kernel_port){"r", r[f], nr * size}, 1));
    compare(p, d, f, threads);
}

static void test_products_of_every_form(void)
{
    operands *d = calloc(1, sizeof *d);
    uint32_t seed = 21;
    REQUIRE(d != NULL);
    for (int i = 0; i < 3 * LIMIT; i++) {
        d->half_y[i] = mw__fp16_from_float(kernel_random(&seed));
        d->y[i] = mw__fp16_to_float(d->half_y[i]);
        d->int_y[i] = (int32_t)(100 * d->y[i]);
        if (i < LIMIT) {
            d->half_x[i] = mw__fp16_from_float(kernel_random(&seed));
            d->x[i] = mw__fp16_to_float(d->half_x[i]);
            d->int_x[i] = (int32_t)(100 * d->x[i]);
        }
    }
    for (size_t i = 0; i < sizeof products / sizeof *products; i++)
        for (int f = FP32; f <= INT32; f++)
            for (uint64_t threads = 1; threads <= 3; threads += 2)
                check_product(&products[i], d, (form)f, threads);
    free(d);
}

static void test_integer_products_wrap(void)
{
    static const int32_t x[] = {65536, 1}, y[] = {65536, 5};
    int32_t r = 0;
    REQUIRE(kernel_run(
        RUN_TEXT("tensor<int32, [2]> x, tensor<int32, [2]> y",
                 "int32 r = matmul(transpose_x = bool(false), transpose_y = bool(false), x = x, y = y);\n", "r"),
        1, (const kernel_port[]){{"x", (void *)(uintptr_t)x, 8}, {"y", (void *)(uintptr_t)y, 8}}, 2,
        &(kernel_port){"r", &r, 4}, 1));
    CHECK_INT(r, 5);
}

/* 2048 + 1 + 1 is lost when every addition rounds to fp16. */
static void test_half_sums_round_once(void)
{
    const uint16_t x[] = {0x6800, 0x3c00, 0x3c00}, ones[] = {0x3c00, 0x3c00, 0x3c00};
    uint16_t r = 0;
    REQUIRE(kernel_run(
        RUN_TEXT("tensor<fp16, [3]> x, tensor<fp16, [3]> y",
                 "fp16 r = matmul(transpose_x = bool(false), transpose_y = bool(false), x = x, y = y);\n", "r"),
        1, (const kernel_port[]){{"x", (void *)(uintptr_t)x, 6}, {"y", (void *)(uintptr_t)ones, 6}}, 2,
        &(kernel_port){"r", &r, 2}, 1));
    CHECK_INT(r, 0x6801); /* 2050 */
}

int main(void)
{
    RUN(test_products_of_every_form);
    RUN(test_integer_products_wrap);
    RUN(test_half_sums_round_once);
    return check_finish();
}
