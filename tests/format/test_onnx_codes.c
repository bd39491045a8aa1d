/* QLinearConv and QLinearMatMul between quantized values, against sums in int64 by the formula of the specification:
 * y = clamp(round(sum (x_scale w_scale / y_scale)) + y_zero). */
#include "onnx_run.h"
#include "support/check.h"
#include "support/folder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 2, C = 3, SIDE = 6, O = 5, OUT = 3, AREA = SIDE * SIDE, PLACES = OUT * OUT, COLUMNS = 4 };

static const float x_scale = 0.031f, y_scale = 0.4f, z_scale = 1.7f;
static const float w_scales[O] = {0.011f, 0.02f, 0.007f, 0.013f, 0.03f},
                   m_scales[COLUMNS] = {0.05f, 0.02f, 0.04f, 0.01f};
static int8_t weight[O * C * 9], matrix[OUT * COLUMNS];
static int32_t bias[O];
static float x[N * C * AREA];

static void draw_numbers(void)
{
    srand(7);
    for (int i = 0; i < O * C * 9; i++)
        weight[i] = (int8_t)(rand() % 255 - 127);
    for (int i = 0; i < OUT * COLUMNS; i++)
        matrix[i] = (int8_t)(rand() % 255 - 127);
    for (int i = 0; i < O; i++)
        bias[i] = rand() % 4001 - 2000;
    for (int i = 0; i < N * C * AREA; i++)
        x[i] = (float)(rand() % 1000) / 125.0f - 4.0f;
}

static int coded(float real, int zero, int low, int high)
{
    const float code = rintf(real) + (float)zero;
    return (int)fminf(fmaxf(code, (float)low), (float)high);
}

/* ---- the model ---- */

static void add_tensor(onnx_bytes *graph, const char *name, int type, const int64_t *extents, int rank,
                       const void *data, size_t size)
{
    const onnx_bytes tensor = onnx_tensor_of(name, type, extents, rank, data, size);
    onnx_message(graph, 5, &tensor);
}

enum { FLOAT = 1, UINT8 = 2, INT8 = 3, INT32 = 6 };

static onnx_bytes make_model(bool with_bias, bool with_matrix, int x_type)
{
    const uint8_t x_zero = 120, y_zero = 101, z_zero = 128;
    const int8_t x_signed = -8, zeros[O] = {0};
    const int64_t n[] = {N, C, SIDE, SIDE}, w[] = {O, C, 3, 3}, o[] = {O}, m[] = {OUT, COLUMNS}, c[] = {COLUMNS};
    onnx_bytes graph = onnx_begin(n, 4);
    add_tensor(&graph, "xs", FLOAT, NULL, 0, &x_scale, 4);
    add_tensor(&graph, "xz", x_type, NULL, 0, x_type == INT8 ? (const void *)&x_signed : &x_zero, 1);
    add_tensor(&graph, "ys", FLOAT, NULL, 0, &y_scale, 4);
    add_tensor(&graph, "yz", UINT8, NULL, 0, &y_zero, 1);
    add_tensor(&graph, "zs", FLOAT, NULL, 0, &z_scale, 4);
    add_tensor(&graph, "zz", UINT8, NULL, 0, &z_zero, 1);
    add_tensor(&graph, "w", INT8, w, 4, weight, sizeof weight);
    add_tensor(&graph, "ws", FLOAT, o, 1, w_scales, sizeof w_scales);
    add_tensor(&graph, "wz", INT8, o, 1, zeros, sizeof zeros);
    add_tensor(&graph, "b", INT32, o, 1, bias, sizeof bias);
    add_tensor(&graph, "m", INT8, m, 2, matrix, sizeof matrix);
    add_tensor(&graph, "ms", FLOAT, c, 1, m_scales, sizeof m_scales);
    add_tensor(&graph, "mz", INT8, c, 1, zeros, COLUMNS);
    onnx_add_node(&graph, "QuantizeLinear", "x xs xz", "q");
    const int64_t strides[] = {2, 2}, pads[] = {1, 1, 1, 1};
    onnx_bytes conv = onnx_node("QLinearConv", with_bias ? "q xs xz w ws wz ys yz b" : "q xs xz w ws wz ys yz", "r");
    onnx_ints_attribute(&conv, "strides", strides, 2);
    onnx_ints_attribute(&conv, "pads", pads, 4);
    onnx_message(&graph, 1, &conv);
    if (with_matrix)
        onnx_add_node(&graph, "QLinearMatMul", "r ys yz m ms mz zs zz", "p");
    onnx_add_node(&graph, "DequantizeLinear", with_matrix ? "p zs zz" : "r ys yz", "y");
    return onnx_model_of(&graph, 13);
}

/* ---- what it gives ---- */

static int x_code(int at, int x_type)
{
    const int zero = x_type == INT8 ? -8 : 120;
    return coded(x[at] / x_scale, zero, x_type == INT8 ? -128 : 0, x_type == INT8 ? 127 : 255) - zero;
}

static int64_t sum_at(int n, int o, int i, int j, int x_type)
{
    int64_t sum = 0;
    for (int c = 0; c < C; c++)
        for (int k = 0; k < 9; k++) {
            const int row = 2 * i + k / 3 - 1, column = 2 * j + k % 3 - 1;
            if (row >= 0 && row < SIDE && column >= 0 && column < SIDE)
                sum +=
                    (int64_t)x_code(((n * C + c) * SIDE + row) * SIDE + column, x_type) * weight[(o * C + c) * 9 + k];
        }
    return sum;
}

static void convolve_codes(bool with_bias, int x_type, int *out)
{
    for (int n = 0; n < N; n++)
        for (int o = 0; o < O; o++)
            for (int p = 0; p < PLACES; p++) {
                const int64_t sum = sum_at(n, o, p / OUT, p % OUT, x_type) + (with_bias ? bias[o] : 0);
                out[(n * O + o) * PLACES + p] =
                    coded((float)sum * (x_scale * w_scales[o] / y_scale), 101, 0, 255) - 101;
            }
}

static void multiply_codes(const int *r, double *out)
{
    for (int row = 0; row < N * O * OUT; row++)
        for (int column = 0; column < COLUMNS; column++) {
            int64_t sum = 0;
            for (int k = 0; k < OUT; k++)
                sum += (int64_t)r[row * OUT + k] * matrix[k * COLUMNS + column];
            const int code = coded((float)sum * (y_scale * m_scales[column] / z_scale), 128, 0, 255);
            out[row * COLUMNS + column] = (double)((float)(code - 128) * z_scale);
        }
}

static void test_products_of_quantized_values_have_the_codes_of_integers(void)
{
    draw_numbers();
    for (int form = 0; form < 8; form++) {
        const bool with_bias = form & 1, with_matrix = form & 2;
        const int x_type = form & 4 ? INT8 : UINT8;
        int r[N * O * PLACES];
        double y[N * O * OUT * COLUMNS];
        const onnx_bytes model = make_model(with_bias, with_matrix, x_type);
        convolve_codes(with_bias, x_type, r);
        for (int i = 0; i < N * O * PLACES && !with_matrix; i++)
            y[i] = (double)((float)r[i] * y_scale);
        if (with_matrix)
            multiply_codes(r, y);
        onnx_check_run("QLinearConv", &model, x, sizeof x / sizeof *x, y,
                       with_matrix ? N * O * OUT * COLUMNS : N * O * PLACES);
    }
}

static int times(const char *text, const char *part)
{
    int count = 0;
    for (const char *at = strstr(text, part); at != NULL; at = strstr(at + 1, part))
        count++;
    return count;
}

/* An engine sees codes where the graph has them: dequantize, the product, quantize. */
static void test_the_graph_has_mils_own_operations(void)
{
    mw_error err = {0};
    const onnx_bytes model = make_model(true, false, UINT8);
    mw_graph *graph = onnx_read_bytes(&model, NULL, &err);
    char *text = graph != NULL ? mw_graph_print_mil(graph, NULL, &err) : NULL;
    if (CHECK_OK(err)) {
        CHECK_INT(times(text, " quantize("), 2);
        CHECK_INT(times(text, " conv("), 1);
        CHECK_INT(times(text, " round("), 0);
    }
    mw_string_free(text);
    mw_graph_destroy(graph);
}

int main(void)
{
    char folder[512];
    if (!folder_enter(folder))
        return 1;
    RUN(test_products_of_quantized_values_have_the_codes_of_integers);
    RUN(test_the_graph_has_mils_own_operations);
    folder_leave(folder);
    return check_finish();
}
