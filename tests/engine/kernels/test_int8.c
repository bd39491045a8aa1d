/* Products of 8-bit codes against sums in int64: the tiles of every instruction set, then convolutions and products of
 * rows of many shapes as whole programs, to the byte; sums and poolings of codes against the operations one by one. */
#include "base/number/random.h"
#include "engine/kernels/int8/int8.h"
#include "engine/program_case.h"
#include "engine/run.h"
#include "support/check.h"
#include "support/on_engine.h"
#include "support/setting.h"

#include <math.h>
#include <millwright/inspect.h>
#include <stdlib.h>
#include <string.h>

/* ---- tiles ---- */

enum { DEPTH = 37, SPAN = MW__INT8_LANES_MOST * 4 + 64 };

static void fill_bytes(mw__random *random, uint8_t *bytes, size_t count, int extreme)
{
    for (size_t i = 0; i < count; i++)
        bytes[i] = (uint8_t)(extreme >= 0 ? extreme : (int)mw__random_below(random, 256));
}

static int64_t wanted_at(const uint8_t *x, const int32_t *offset, const int8_t *s, int64_t depth, int rows, int row,
                         int lane)
{
    int64_t sum = 0;
    for (int64_t k = 0; k < depth; k++)
        for (int j = 0; j < 4; j++)
            sum += (int64_t)x[offset[k] + 4 * lane + j] * s[(k * rows + row) * 4 + j];
    return sum;
}

/* Of the first `vectors` of a tile. */
static void check_tile(const mw__int8_code *code, int rows, int vectors, int64_t depth, int u, int v)
{
    static uint8_t x[DEPTH * SPAN];
    static int8_t s[DEPTH * MW__INT8_ROWS_MOST * 4];
    static int32_t offset[DEPTH], panel[DEPTH * MW__INT8_ROWS_MOST * 2];
    static const int32_t start[MW__INT8_ROWS_MOST] = {-70000, 5, 1 << 20, 0, -3, 99, 1 << 27, -(1 << 28)};
    int32_t sums[MW__INT8_ROWS_MOST * MW__INT8_LANES_MOST];
    mw__random random = {.seed = (uint64_t)depth};
    fill_bytes(&random, x, sizeof x, u), fill_bytes(&random, (uint8_t *)s, sizeof s, v);
    for (int64_t k = 0; k < depth; k++) {
        offset[k] = (int32_t)(k * SPAN + (int64_t)mw__random_below(&random, 16)); /* not aligned */
        for (int r = 0; r < rows; r++)
            mw__int8_panel_put(code, rows, k, r, s + (k * rows + r) * 4, panel);
    }
    (rows == 1 ? code->one : code->tile[vectors - 1])(x, offset, depth, panel, start, sums);
    for (int r = 0; r < rows; r++)
        for (int lane = 0; lane < code->lanes / code->vectors * vectors; lane++) {
            const int64_t wanted = start[r] + wanted_at(x, offset, s, depth, rows, r, lane);
            check_note(sums[r * code->lanes + lane] == wanted, __FILE__, __LINE__, "%s: %d, not %lld", code->name,
                       sums[r * code->lanes + lane], (long long)wanted);
        }
}

static void test_sums_of_tiles_are_exact_by_every_instruction_set(void)
{
    for (size_t i = 0; mw__int8_tiles_at(i) != NULL; i++) {
        const mw__int8_code *code = mw__int8_tiles_at(i);
        CHECK(code->rows <= MW__INT8_ROWS_MOST && code->lanes <= MW__INT8_LANES_MOST);
        for (int64_t depth = 0; depth <= DEPTH; depth++) {
            for (int vectors = 1; vectors <= code->vectors; vectors++)
                check_tile(code, code->rows, vectors, depth, -1, -1);
            check_tile(code, 1, code->vectors, depth, -1, -1);
        }
        check_tile(code, code->rows, code->vectors, DEPTH, 255, 0x80); /* pairs of these leave 16 bits */
        check_tile(code, code->rows, code->vectors, DEPTH, 255, 0x7f);
    }
}

static void test_each_level_has_tiles(void)
{
    for (int level = 0; level < MW__LEVELS; level++)
        CHECK(mw__int8_code_of((mw__level)level) != NULL);
    CHECK(strcmp(mw__int8_code_of(MW__LEVEL_BASE)->name, "plain") == 0);
}

/* ---- products as programs ---- */

typedef struct product_case {
    const char *what;
    int axes; /* spatial; 0: rows [n, c] */
    int64_t n, c, o, groups;
    int64_t in[3], kernel[3], stride[3], dilation[3], before[3], after[3];
    mw_dtype x_type, weight_type, y_type; /* y: F32 too */
    int x_zero, weight_zero, y_zero;      /* of the weight: and one more for every other output */
    bool bias, relu, turned;              /* turned: of rows, the weight is [c, o] */
} product_case;

#define PLAIN .stride = {1, 1, 1}, .dilation = {1, 1, 1}
#define BYTES .x_type = MW_U8, .weight_type = MW_I8, .y_type = MW_U8, .x_zero = 117, .y_zero = 121
#define SIGNS .x_type = MW_I8, .weight_type = MW_I8, .y_type = MW_I8, .x_zero = -3, .y_zero = 5

/* clang-format off */
static const product_case cases[] = {
    {"1x1", 2, 2, 16, 24, 1, {9, 11}, {1, 1}, PLAIN, BYTES, .bias = true},
    {"1x1 by 2", 2, 1, 33, 17, 1, {9, 12}, {1, 1}, .stride = {2, 2}, .dilation = {1, 1}, SIGNS, .relu = true},
    {"3x3", 2, 2, 8, 9, 1, {7, 13}, {3, 3}, PLAIN, .before = {1, 1}, .after = {1, 1}, BYTES, .bias = true, .relu = true},
    {"3x3 by 2", 2, 1, 5, 10, 1, {14, 15}, {3, 3}, .stride = {2, 2}, .dilation = {1, 1}, .before = {1, 0}, .after = {0, 1}, SIGNS, .bias = true},
    {"7x7 of 3", 2, 1, 3, 12, 1, {23, 29}, {7, 7}, .stride = {2, 2}, .dilation = {1, 1}, .before = {3, 3}, .after = {3, 3}, BYTES},
    {"dilated", 2, 1, 4, 8, 1, {15, 17}, {3, 3}, .stride = {1, 1}, .dilation = {3, 2}, .before = {3, 2}, .after = {3, 2}, BYTES},
    {"steps and dilation", 2, 1, 6, 5, 1, {19, 21}, {4, 5}, .stride = {3, 2}, .dilation = {2, 3}, .before = {2, 5}, .after = {1, 4}, SIGNS},
    {"stride beyond the kernel", 2, 1, 9, 7, 1, {20, 22}, {2, 2}, .stride = {3, 5}, .dilation = {1, 1}, BYTES},
    {"depthwise", 2, 2, 13, 13, 13, {10, 37}, {3, 3}, PLAIN, .before = {1, 1}, .after = {1, 1}, BYTES, .bias = true},
    {"depthwise 5x5 by 2", 2, 1, 6, 6, 6, {17, 19}, {5, 5}, .stride = {2, 2}, .dilation = {1, 1}, .before = {2, 2}, .after = {2, 2}, SIGNS},
    {"depthwise, two outputs", 2, 1, 4, 8, 4, {8, 9}, {2, 3}, PLAIN, SIGNS},
    {"depthwise dilated", 2, 1, 3, 3, 3, {21, 23}, {3, 3}, .stride = {2, 1}, .dilation = {2, 4}, .before = {2, 4}, .after = {2, 4}, BYTES},
    {"groups", 2, 2, 12, 18, 3, {8, 9}, {3, 2}, PLAIN, .before = {1, 1}, .after = {1, 0}, BYTES, .bias = true},
    {"zeros of weights", 2, 1, 7, 9, 1, {6, 8}, {3, 3}, PLAIN, .before = {1, 1}, .after = {1, 1}, BYTES, .weight_zero = -7},
    {"weights of uint8", 2, 1, 7, 9, 1, {6, 8}, {3, 3}, PLAIN, .before = {2, 2}, .after = {2, 2}, .x_type = MW_U8, .weight_type = MW_U8, .y_type = MW_U8, .x_zero = 3, .weight_zero = 131, .y_zero = 90, .bias = true},
    {"depthwise zeros", 2, 1, 5, 5, 5, {9, 9}, {3, 3}, PLAIN, .before = {1, 1}, .after = {1, 1}, .x_type = MW_I8, .weight_type = MW_U8, .y_type = MW_U8, .x_zero = 9, .weight_zero = 120, .y_zero = 90},
    {"line", 1, 3, 10, 12, 1, {41}, {5}, .stride = {2}, .dilation = {1}, .before = {2}, .after = {2}, BYTES},
    {"line depthwise", 1, 2, 6, 6, 6, {50}, {9}, .stride = {1}, .dilation = {2}, .before = {8}, .after = {8}, SIGNS},
    {"space", 3, 1, 6, 7, 1, {5, 6, 9}, {3, 3, 3}, .stride = {1, 2, 1}, .dilation = {1, 1, 2}, .before = {1, 1, 2}, .after = {1, 1, 2}, BYTES},
    {"real results", 2, 1, 8, 11, 1, {7, 9}, {3, 3}, PLAIN, .x_type = MW_U8, .weight_type = MW_I8, .y_type = MW_F32, .x_zero = 100, .bias = true},
    {"one pixel", 2, 2, 40, 70, 1, {1, 1}, {1, 1}, PLAIN, BYTES, .bias = true},
    {"many outputs", 2, 1, 64, 130, 1, {7, 7}, {3, 3}, PLAIN, .before = {1, 1}, .after = {1, 1}, BYTES, .bias = true},
    {"small images", 2, 5, 24, 70, 1, {4, 4}, {3, 3}, PLAIN, .before = {1, 1}, .after = {1, 1}, BYTES, .bias = true},
    {"small images by 2", 2, 7, 20, 40, 1, {5, 7}, {3, 3}, .stride = {2, 2}, .dilation = {1, 1}, .before = {1, 1}, .after = {1, 1}, SIGNS, .relu = true},
    {"small images, zeros", 2, 9, 8, 33, 1, {3, 3}, {3, 3}, PLAIN, .before = {1, 1}, .after = {1, 1}, BYTES, .weight_zero = 4},
    {"small images, 1x1", 2, 6, 12, 19, 1, {3, 5}, {1, 1}, PLAIN, BYTES, .bias = true},
    {"small images, real", 2, 4, 8, 50, 1, {2, 6}, {3, 3}, PLAIN, .before = {1, 1}, .after = {1, 1}, .x_type = MW_I8, .weight_type = MW_I8, .y_type = MW_F32, .x_zero = 7},
    {"small images in groups", 2, 3, 16, 64, 2, {4, 4}, {3, 3}, PLAIN, .before = {1, 1}, .after = {1, 1}, BYTES},
    {"one output of several images", 2, 11, 5, 1, 1, {3, 4}, {2, 2}, PLAIN, BYTES, .bias = true},
    {"small spaces", 3, 4, 8, 30, 1, {3, 2, 4}, {3, 3, 3}, PLAIN, .before = {1, 1, 1}, .after = {1, 1, 1}, SIGNS, .bias = true},
    {"lines of several examples", 1, 8, 12, 20, 1, {7}, {5}, PLAIN, .before = {2}, .after = {2}, BYTES},
    {"one row", 0, 1, 129, 65, 1, BYTES, .bias = true},
    {"few rows", 0, 3, 64, 48, 1, SIGNS, .bias = true, .relu = true},
    {"rows", 0, 75, 50, 101, 1, BYTES, .bias = true},
    {"rows of one", 0, 66, 1, 3, 1, SIGNS},
    {"zeros of columns", 0, 17, 31, 20, 1, .x_type = MW_U8, .weight_type = MW_U8, .y_type = MW_I8, .x_zero = 200, .weight_zero = 99, .y_zero = -20},
    {"columns", 0, 21, 34, 55, 1, SIGNS, .turned = true},
    {"columns, zeros", 0, 9, 35, 50, 1, BYTES, .weight_zero = 5, .turned = true},
    {"real rows", 0, 70, 33, 49, 1, .x_type = MW_I8, .weight_type = MW_I8, .y_type = MW_F32, .x_zero = 11, .turned = true},
};
/* clang-format on */

static const float x_scale = 0.043f, y_scale = 0.37f;

static float scale_of(int64_t o) { return 0.011f + 0.0007f * (float)(o % 13); }
static int zero_of(const product_case *c, int64_t o) { return c->weight_zero + (c->weight_zero != 0 && o % 2 != 0); }

static mw_shape x_shape(const product_case *c)
{
    mw_shape shape = {.rank = 2 + c->axes, .dim = {c->n, c->c}};
    for (int i = 0; i < c->axes; i++)
        shape.dim[2 + i] = c->in[i];
    return shape;
}

static mw_shape weight_shape(const product_case *c)
{
    mw_shape shape = {.rank = 2 + c->axes, .dim = {c->o, c->c / c->groups}};
    if (c->turned)
        return (mw_shape){.rank = 2, .dim = {c->c, c->o}};
    for (int i = 0; i < c->axes; i++)
        shape.dim[2 + i] = c->kernel[i];
    return shape;
}

typedef struct codes {
    uint8_t *x, *weight;
    int32_t bias[256];
} codes;

static codes draw_codes(const product_case *c)
{
    mw__random random = {.seed = (uint64_t)(c - cases) + 1};
    const size_t x = (size_t)mw_shape_count(x_shape(c)), weight = (size_t)mw_shape_count(weight_shape(c));
    codes made = {.x = malloc(x), .weight = malloc(weight)};
    fill_bytes(&random, made.x, x, -1), fill_bytes(&random, made.weight, weight, -1);
    for (int i = 0; i < 256; i++)
        made.bias[i] = (int32_t)mw__random_below(&random, 4001) - 2000;
    return made;
}

/* The weight as constants of one operation or of another. */
static mw_tensor *build_weight(mw_graph *graph, const product_case *c, const codes *a, bool stored)
{
    float scales[256];
    uint8_t zeros[256];
    const mw_shape shape = weight_shape(c);
    const int axis = c->turned ? 1 : 0;
    mw_shape along = MW_SHAPE(c->o);
    for (int64_t o = 0; o < c->o; o++)
        scales[o] = scale_of(o), zeros[o] = (uint8_t)zero_of(c, o);
    along.rank = stored ? shape.rank : 1;
    for (int i = 0; stored && i < shape.rank; i++)
        along.dim[i] = i == axis ? c->o : 1;
    mw_tensor *data = mw_constant(graph, c->weight_type, shape, a->weight);
    mw_tensor *scale = mw_constant(graph, MW_F32, along, scales);
    mw_tensor *zero = c->weight_zero != 0 ? mw_constant(graph, c->weight_type, along, zeros) : NULL;
    return stored ? mw_constexpr_blockwise_shift_scale(data, scale, zero) : mw_dequantize(data, scale, zero, axis);
}

static mw_tensor *build_product(const product_case *c, mw_tensor *x, mw_tensor *weight, mw_tensor *bias)
{
    mw_conv_options options = program_conv(1, 1, c->groups);
    if (c->axes == 0 && c->turned)
        return mw_matmul(x, weight, MW_TRANSPOSE_NONE);
    if (c->axes == 0)
        return mw_linear(x, weight, bias);
    for (int i = 0; i < c->axes; i++) {
        options.stride[i] = c->stride[i], options.dilation[i] = c->dilation[i];
        options.pad[2 * i] = c->before[i], options.pad[2 * i + 1] = c->after[i];
    }
    return mw_conv(x, weight, bias, &options);
}

static mw_tensor *number(mw_graph *graph, mw_dtype dtype, int value)
{
    const int8_t byte = (int8_t)value;
    return mw_constant(graph, dtype, mw_shape_scalar(), &byte);
}

static mw_graph *build_case(const product_case *c, const codes *a, bool stored)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    float bias[256];
    for (int64_t o = 0; o < c->o; o++)
        bias[o] = (float)a->bias[o] * (x_scale * scale_of(o));
    mw_tensor *x = mw_input(graph, "x", c->x_type, x_shape(c));
    x = mw_dequantize(x, mw_constant(graph, MW_F32, mw_shape_scalar(), &x_scale), number(graph, c->x_type, c->x_zero),
                      0);
    mw_tensor *y = build_product(c, x, build_weight(graph, c, a, stored),
                                 c->bias ? mw_constant(graph, MW_F32, MW_SHAPE(c->o), bias) : NULL);
    if (c->relu)
        y = mw_relu(y);
    if (c->y_type != MW_F32)
        y = mw_quantize(y, mw_constant(graph, MW_F32, mw_shape_scalar(), &y_scale), number(graph, c->y_type, c->y_zero),
                        0, c->y_type);
    mw_output(y, "y");
    return graph;
}

static int code_of(mw_dtype dtype, uint8_t byte) { return dtype == MW_I8 ? (int8_t)byte : byte; }

/* The sum of one result; at: [n, o, *out]. */
static int64_t sum_of(const product_case *c, const codes *a, const int64_t *at)
{
    const int64_t channels = c->c / c->groups, group = at[1] / (c->o / c->groups);
    int64_t taps = 1, sum = 0, inside = 1;
    for (int i = 0; i < c->axes; i++)
        taps *= c->kernel[i], inside *= c->in[i];
    for (int64_t i = 0; i < channels * taps; i++) {
        int64_t rest = i % taps, place = 0, scale = 1;
        bool border = false;
        for (int axis = c->axes - 1; axis >= 0; axis--) {
            const int64_t k = rest % c->kernel[axis];
            const int64_t p = at[2 + axis] * c->stride[axis] + k * c->dilation[axis] - c->before[axis];
            border = border || p < 0 || p >= c->in[axis];
            place += p * scale, scale *= c->in[axis], rest /= c->kernel[axis];
        }
        const int64_t channel = group * channels + i / taps;
        const uint8_t weight = a->weight[c->turned ? i * c->o + at[1] : at[1] * channels * taps + i];
        if (!border)
            sum += (int64_t)(code_of(c->x_type, a->x[(at[0] * c->c + channel) * inside + place]) - c->x_zero) *
                   (code_of(c->weight_type, weight) - zero_of(c, at[1]));
    }
    return sum;
}

/* What ONNX Runtime makes of it: the sum with its bias in int32, times one number of fp32, rounded with ties to even.
 */
static int wanted_code(const product_case *c, const codes *a, int64_t sum, int64_t o)
{
    const float step = x_scale * scale_of(o), real = (float)(sum + (c->bias ? a->bias[o] : 0)) * (step / y_scale);
    const int least = c->y_type == MW_I8 ? -128 : 0, low = c->relu && c->y_zero > least ? c->y_zero : least;
    const double code = rint((double)real) + c->y_zero;
    return code < low ? low : code > least + 255 ? least + 255 : (int)code;
}

static void check_results(const product_case *c, const codes *a, mw_shape shape, const void *got, const char *width)
{
    const int64_t count = mw_shape_count(shape);
    int wrong = 0;
    for (int64_t i = 0; i < count; i++) {
        int64_t at[5] = {0}, rest = i;
        for (int axis = shape.rank - 1; axis >= 0; rest /= shape.dim[axis], axis--)
            at[axis] = rest % shape.dim[axis];
        const int64_t sum = sum_of(c, a, at);
        if (c->y_type == MW_F32) {
            const float step = x_scale * scale_of(at[1]);
            wrong += ((const float *)got)[i] != (float)(sum + (c->bias ? a->bias[at[1]] : 0)) * step;
        } else
            wrong += code_of(c->y_type, ((const uint8_t *)got)[i]) != wanted_code(c, a, sum, at[1]);
    }
    check_note(wrong == 0, __FILE__, __LINE__, "%s, %s: %d of %lld are wrong", c->what, width, wrong, (long long)count);
}

/* Whether a step computes it by codes. */
static bool takes_codes(mw_program *program, mw_error *err)
{
    bool found = false;
    mw_plan_step step;
    mw_plan *plan = program != NULL ? mw_plan_create(program, err) : NULL;
    for (size_t i = 0; plan != NULL && mw_plan_step_at(plan, i, &step); i++)
        for (size_t k = 0; mw__int8_tiles_at(k) != NULL; k++)
            found = found || strcmp(step.implementation, mw__int8_tiles_at(k)->name) == 0;
    mw_plan_destroy(plan);
    return found;
}

/* mw_conv spreads the elements of a weight that is no constant with zeros, which makes it no constant codes. */
static bool is_dilated(const product_case *c) { return c->dilation[0] > 1 || c->dilation[1] > 1 || c->dilation[2] > 1; }

static void check_run(const product_case *c, const codes *a, const char *width, int threads, bool stored)
{
    static const char *const names[] = {"y"};
    mw_error err = {0};
    mw_graph *graph = build_case(c, a, stored || is_dilated(c));
    setting_begin("MW_ENGINE_WIDE", width);
    mw_program *program = engine_compile(graph, MW_DEVICE_CPU, threads, &err);
    setting_end("MW_ENGINE_WIDE");
    if (program != NULL)
        mw_program_write(program, "x", c->x_type, a->x, (size_t)mw_shape_count(x_shape(c)), &err);
    mw_program_run(program, &err);
    check_note(takes_codes(program, &err), __FILE__, __LINE__, "%s, %s: no step takes codes", c->what, width);
    program_outputs y = program_outputs_read(program, names, 1, &err);
    CHECK_OK(err);
    if (y.of[0].data != NULL)
        check_results(c, a, mw_tensor_shape(mw_graph_find(graph, "y")), y.of[0].data, width);
    program_outputs_deinit(&y);
    mw_program_destroy(program);
    mw_graph_destroy(graph);
}

static void test_products_of_codes_are_those_of_int64_to_the_byte(void)
{
    static const char *const widths[] = {"512", "256", "0"};
    if (level_here() == MW__LEVEL_REF)
        SKIP("the reference dequantizes");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        codes a = draw_codes(&cases[i]);
        for (int w = 0; w < 3; w++) {
            check_run(&cases[i], &a, widths[w], 1, w != 1);
            check_run(&cases[i], &a, widths[w], 3, w == 1);
        }
        free(a.x), free(a.weight);
    }
}

/* ---- sums and poolings ---- */

static mw_tensor *coded(mw_tensor *x, float scale, int zero, mw_dtype dtype)
{
    mw_graph *graph = mw_tensor_graph(x);
    mw_tensor *by = mw_constant(graph, MW_F32, mw_shape_scalar(), &scale), *from = number(graph, dtype, zero);
    return mw_dequantize(mw_quantize(x, by, from, 0, dtype), by, from, 0);
}

static mw_graph *build_between(mw_dtype dtype)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    const int zero = dtype == MW_I8 ? -9 : 115;
    mw_tensor *x = coded(mw_input(graph, "x", MW_F32, MW_SHAPE(2, 5, 13, 19)), 0.0081f, zero, dtype);
    mw_tensor *other = coded(mw_input(graph, "z", MW_F32, MW_SHAPE(2, 5, 13, 19)), 0.0075f, 0, MW_I8);
    mw_pool_options three = mw_pool_defaults(MW_SHAPE(3, 3)), pair = mw_pool_defaults(MW_SHAPE(2, 4));
    three.stride[0] = three.stride[1] = 2;
    three.pad_type = MW_PAD_CUSTOM;
    three.pad[0] = three.pad[1] = three.pad[2] = three.pad[3] = 1;
    pair.stride[0] = 3, pair.stride[1] = 1;
    mw_output(coded(mw_relu(mw_add(x, other)), 0.0123f, 4, MW_U8), "sum");
    mw_output(coded(mw_add(other, x), 0.003f, -1, MW_I8), "clamped");
    mw_output(coded(mw_max_pool(x, &three), 0.0081f, zero, dtype), "same");
    mw_output(coded(mw_max_pool(x, &pair), 0.0099f, 60, MW_U8), "other");
    return graph;
}

static program_outputs run_between(const mw_graph *graph, const char *fuse, const char *width, int threads)
{
    static const char *const names[] = {"sum", "clamped", "same", "other"};
    mw_error err = {0};
    const program_numbers numbers = {.seed = 3};
    setting_begin("MW_ENGINE_FUSE", fuse), setting_begin("MW_ENGINE_WIDE", width);
    mw_program *program = engine_compile(graph, MW_DEVICE_CPU, threads, &err);
    setting_end("MW_ENGINE_WIDE"), setting_end("MW_ENGINE_FUSE");
    program_feed(program, "x", &numbers, 1, &err), program_feed(program, "z", &numbers, 2, &err);
    mw_program_run(program, &err);
    program_outputs out = program_outputs_read(program, names, 4, &err);
    CHECK_OK(err);
    mw_program_destroy(program);
    return out;
}

static void test_sums_and_poolings_of_codes_have_the_bits_of_their_operations(void)
{
    static const char *const widths[] = {"512", "256", "0"};
    for (int i = 0; i < 6; i++) {
        mw_graph *graph = build_between(i % 2 == 0 ? MW_U8 : MW_I8);
        program_outputs plain = run_between(graph, "0", "0", 1),
                        joined = run_between(graph, "1", widths[i / 2], 1 + i % 2);
        program_outputs_compare(&plain, &joined, 4, widths[i / 2]);
        program_outputs_deinit(&joined);
        program_outputs_deinit(&plain);
        mw_graph_destroy(graph);
    }
}

int main(void)
{
    RUN(test_sums_of_tiles_are_exact_by_every_instruction_set);
    RUN(test_each_level_has_tiles);
    RUN(test_products_of_codes_are_those_of_int64_to_the_byte);
    RUN(test_sums_and_poolings_of_codes_have_the_bits_of_their_operations);
    return check_finish();
}
