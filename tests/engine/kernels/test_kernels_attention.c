/* Attention over a cache: what a boolean mask hides from all rows of a query takes no part, whatever stands there. */
#include "engine/kernel_case.h"
#include "support/check.h"

#include <stdlib.h>

enum { BATCH = 3, KEYS = 700, E = 20, V = 33, ROWS_MAX = 5 };

typedef struct operands {
    float q[BATCH * ROWS_MAX * E], k[BATCH * KEYS * E], v[BATCH * KEYS * V];
    uint8_t mask[BATCH * KEYS];
    float y[BATCH * ROWS_MAX * V];
} operands;

/* Softmax over the keys that are shown, in double. */
static double expected(const operands *o, int rows, int batch, int row, int column)
{
    double most = -INFINITY, sum = 0.0, total = 0.0;
    double scores[KEYS];
    for (int s = 0; s < KEYS; s++) {
        scores[s] = 0.0;
        if (o->mask[batch * KEYS + s] == 0)
            continue;
        for (int i = 0; i < E; i++)
            scores[s] += (double)o->q[(batch * rows + row) * E + i] * (double)o->k[(batch * KEYS + s) * E + i];
        scores[s] /= sqrt((double)E);
        most = scores[s] > most ? scores[s] : most;
    }
    for (int s = 0; s < KEYS; s++)
        if (o->mask[batch * KEYS + s] != 0) {
            const double weight = exp(scores[s] - most);
            sum += weight;
            total += weight * (double)o->v[(batch * KEYS + s) * V + column];
        }
    return total / sum;
}

/* Shows the keys [begin, end) but every fifth between them. */
static void show(operands *o, int batch, int begin, int end)
{
    for (int s = 0; s < KEYS; s++)
        o->mask[batch * KEYS + s] = s >= begin && s < end && (s == begin || s == end - 1 || s % 5 != 0);
}

/* NaN in keys and values outside of [begin, end) */
static void spoil(operands *o, int batch, int begin, int end)
{
    for (int s = 0; s < KEYS; s++)
        for (int i = 0; (s < begin || s >= end) && i < V; i++) {
            o->v[(batch * KEYS + s) * V + i] = NAN;
            o->k[(batch * KEYS + s) * E + i % E] = NAN;
        }
}

static bool attend(operands *o, int rows, uint64_t threads)
{
    char text[1024], parameters[256], body[256];
    snprintf(parameters, sizeof parameters,
             "tensor<fp32, [%d, %d, %d]> q, tensor<fp32, [%d, %d, %d]> k, tensor<fp32, [%d, %d, %d]> v, tensor<bool, "
             "[%d, 1, %d]> m",
             BATCH, rows, E, BATCH, KEYS, E, BATCH, KEYS, V, BATCH, KEYS);
    snprintf(body, sizeof body,
             "tensor<fp32, [%d, %d, %d]> y = scaled_dot_product_attention(attn_mask = m, key = k, query = q, value = "
             "v);",
             BATCH, rows, V);
    const kernel_port in[] = {{"q", o->q, (size_t)(BATCH * rows * E) * sizeof(float)},
                              {"k", o->k, sizeof o->k},
                              {"v", o->v, sizeof o->v},
                              {"m", o->mask, sizeof o->mask}};
    return kernel_run(kernel_text(text, sizeof text, parameters, body, "y"), threads, in, 4,
                      &(kernel_port){"y", o->y, (size_t)(BATCH * rows * V) * sizeof(float)}, 1);
}

static operands *operands_make(void)
{
    uint32_t seed = 11;
    operands *o = calloc(1, sizeof *o);
    for (size_t i = 0; o != NULL && i < sizeof o->q / sizeof *o->q; i++)
        o->q[i] = 2.0f * kernel_random(&seed);
    for (size_t i = 0; o != NULL && i < sizeof o->k / sizeof *o->k; i++)
        o->k[i] = 2.0f * kernel_random(&seed);
    for (size_t i = 0; o != NULL && i < sizeof o->v / sizeof *o->v; i++)
        o->v[i] = kernel_random(&seed);
    return o;
}

static void test_hidden_keys_take_no_part(void)
{
    static const int shown[][2] = {{0, 1}, {0, 17}, {699, 700}, {3, 697}, {100, 612}, {0, 700}};
    static const int rows[] = {1, ROWS_MAX};
    operands *o = operands_make();
    for (size_t i = 0; o != NULL && i < 4 * sizeof shown / sizeof *shown; i++) {
        const int *window = shown[i / 4], count = rows[i % 2];
        for (int b = 0; b < BATCH; b++)
            show(o, b, window[0], window[1] - (b > 0 && window[1] - window[0] > 4 ? b : 0));
        if (!attend(o, count, i % 4 < 2 ? 1 : 3))
            continue;
        double worst = 0.0;
        for (int at = 0; at < BATCH * count * V; at++)
            worst = fmax(worst, fabs((double)o->y[at] - expected(o, count, at / V / count, at / V % count, at % V)));
        check_note(worst < 2e-6, __FILE__, __LINE__, "keys %d to %d of %d rows: off by %g", window[0], window[1], count,
                   worst);
    }
    free(o);
}

static void test_what_stands_in_hidden_places_does_not_matter(void)
{
    operands *o = operands_make();
    REQUIRE(o != NULL);
    for (int b = 0; b < BATCH; b++) {
        show(o, b, b, 40);
        spoil(o, b, b, 40);
    }
    if (attend(o, 1, 1))
        for (int at = 0; at < BATCH * V; at++)
            CHECK_NEAR(o->y[at], expected(o, 1, at / V, 0, at % V), 2e-6);
    free(o);
}

static void test_a_row_that_sees_no_key_is_nan(void)
{
    operands *o = operands_make();
    REQUIRE(o != NULL);
    for (int b = 0; b < BATCH; b++)
        show(o, b, 0, b == 1 ? 0 : 9);
    o->mask[KEYS] = o->mask[2 * KEYS - 1] = 0;
    if (attend(o, 1, 1)) {
        CHECK(o->y[V - 1] == o->y[V - 1] && o->y[2 * V] == o->y[2 * V]);
        CHECK(o->y[V] != o->y[V] && o->y[2 * V - 1] != o->y[2 * V - 1]);
    }
    free(o);
}

int main(void)
{
    RUN(test_hidden_keys_take_no_part);
    RUN(test_what_stands_in_hidden_places_does_not_matter);
    RUN(test_a_row_that_sees_no_key_is_nan);
    return check_finish();
}
