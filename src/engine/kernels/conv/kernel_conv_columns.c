/* Products with the columns of a convolution, which the patterns write for chips (graph/patterns/conv_decomposed.c): a
 * strided slice of x for each element of the kernel, stacked, times the kernel or transposed times the cotangent. Here
 * the columns of one example are made in scratch and multiplied there; its border is part of it. The products are those
 * of matmul, so that the bits are too. With AVX-512 the image alone is made, for kernel_conv_columns_avx512.c; most
 * products with the kernel are convolutions of kernel_conv_packed.c, which adds in the same order. */
#include "base/number/integer.h"
#include "engine/core/kernel.h"
#include "engine/kernels/conv/kernel_conv_columns_avx512.h"
#include "engine/kernels/conv/kernel_conv_packed.h"
#include "engine/kernels/gemm/gemm_blocked.h"
#include "engine/kernels/math/math_scalar.h"
#include "engine/kernels/math/round.h"
#include "engine/kernels/pattern_plans.h"
#if MW_HAVE_AVX512
#include "engine/kernels/conv/kernel_conv_avx512.h"
#endif

#include <string.h>

#define AXES  MW__CONV_AXES /* spatial: planes, rows and columns */
#define LANES 16            /* of the widest vector */

/* ---- running ---- */

typedef struct columns_block {
    int64_t examples, groups, channels; /* of a group */
    int64_t kernel[AXES], dilation[AXES], stride[AXES], out[AXES];
    int64_t in[AXES], before[AXES], border[AXES]; /* of x, without and with its border */
    int64_t left;                                 /* floats of the left matrix between examples; 0: one for all */
    mw__gemm_code code;
    mw__gemm_shape shape;
    size_t columns, product;       /* floats of scratch before the columns, and before what the product needs */
    mw__loop1 *round;              /* NULL: none */
    mw__loop1 *add;                /* of the bias, which is p; NULL: none */
    mw__loop1 *after;              /* what is done to the sum with it; NULL: nothing */
    const mw__columns_kernel *way; /* no columns are made; NULL: they are */
    mw__columns_avx512 avx512;     /* its numbers */
    mw__packed_lines *lines;
    mw__packed_request request; /* weight: NULL if it is no convolution */
    mw__packed_finish finish;
} columns_block;

MW__LOOP1_BODY(add, v + p)
MW__BASE_AVX2_AVX512(add, (float *out, const float *x, int64_t count, float p, float q), (out, x, count, p, q))

static int64_t volume_of(const int64_t extent[AXES]) { return extent[0] * extent[1] * extent[2]; }

/* The channels of a group into their places in the border, which is zero already. */
static void put_image(const columns_block *s, const float *x, float *image)
{
    for (int64_t c = 0; c < s->channels; c++, image += volume_of(s->border))
        for (int64_t z = 0; z < s->in[0]; z++) {
            float *to = image + ((s->before[0] + z) * s->border[1] + s->before[1]) * s->border[2] + s->before[2];
            for (int64_t row = 0; row < s->in[1]; row++, x += s->in[2], to += s->border[2])
                memcpy(to, x, (size_t)s->in[2] * sizeof *to);
        }
}

/* What the element [kz, ky, kx] of the kernel is multiplied with, from the plane `image` on. */
static void put_column(const columns_block *s, const float *image, int64_t kz, int64_t ky, int64_t kx, float *column)
{
    for (int64_t z = 0; z < s->out[0]; z++, column += s->out[1] * s->out[2]) {
        const int64_t plane = z * s->stride[0] + kz * s->dilation[0];
        s->lines(image + (plane * s->border[1] + ky * s->dilation[1]) * s->border[2] + kx * s->dilation[2],
                 s->stride[1] * s->border[2], s->out[1], s->stride[2], 0, s->out[2], s->out[2], column);
    }
}

/* A row for each channel and element of the kernel: what that is multiplied with. */
static void put_columns(const columns_block *s, const float *image, float *columns)
{
    for (int64_t c = 0; c < s->channels; c++, image += volume_of(s->border))
        for (int64_t kz = 0; kz < s->kernel[0]; kz++)
            for (int64_t ky = 0; ky < s->kernel[1]; ky++)
                for (int64_t kx = 0; kx < s->kernel[2]; kx++, columns += volume_of(s->out))
                    put_column(s, image, kz, ky, kx, columns);
}

static void multiply_columns(const columns_block *s, const float *left, float *image, float *y)
{
    float *const columns = image + s->columns;
    if (s->way != NULL) {
        (s->shape.transpose_b ? s->way->dweight : s->way->product)(&s->avx512, left, image, y, columns);
    } else {
        put_columns(s, image, columns);
        mw__gemm(&s->code, &s->shape, left, columns, y, image + s->product);
    }
}

/* What follows the product y of group g, while it is precompiled. */
static void finish_product(const columns_block *s, const mw__kernel_call *call, int64_t g, float *y)
{
    const int64_t m = s->shape.m, n = s->shape.n;
    if (s->round != NULL)
        s->round(y, y, m * n, 0, 0);
    for (int64_t o = 0; s->add != NULL && o < m; o++)
        s->add(y + o * n, y + o * n, n, ((const float *)call->in[2])[g * m + o], 0);
    if (s->after != NULL)
        s->after(y, y, m * n, 0, 0);
}

static void columns_run(const mw__kernel_call *call)
{
    const columns_block *s = call->block;
    float *const image = call->scratch;
    const int64_t in = s->channels * volume_of(s->in), out = s->shape.m * s->shape.n;
    const int64_t left = s->shape.m * s->shape.k;
    memset(image, 0, s->columns * sizeof *image);
    for (int64_t n = call->begin; n < call->end; n++)
        for (int64_t g = 0; g < s->groups; g++) {
            float *y = (float *)call->out[0] + (n * s->groups + g) * out;
            put_image(s, (const float *)call->in[0] + (n * s->groups + g) * in, image);
            multiply_columns(s, (const float *)call->in[1] + n * s->left + g * left, image, y);
            finish_product(s, call, g, y);
        }
}

/* ---- planning ---- */

/* One spatial axis is a row of columns. */
static void fill_axes(const mw__conv *conv, const mw_tensor *x, columns_block *s)
{
    for (int i = 0; i < AXES; i++)
        s->kernel[i] = s->dilation[i] = s->stride[i] = s->out[i] = s->in[i] = s->border[i] = 1;
    for (int i = 0; i < conv->axes; i++) {
        const int at = AXES - conv->axes + i;
        s->kernel[at] = conv->kernel[i], s->dilation[at] = conv->dilation[i], s->stride[at] = conv->stride[i];
        s->out[at] = conv->out[i], s->border[at] = conv->in[i], s->in[at] = mw__shape_of(x).dim[2 + i];
    }
}

/* The product as matmul would choose it; returns how many of its rows one partition has. */
static int64_t fill_product(const mw__op *matmul, int partitions, columns_block *s)
{
    const mw_shape left = mw__shape_of(mw__arg(matmul, "x")), result = mw__shape_of(matmul->results[0]);
    bool transpose = false;
    mw__arg_bool(matmul, "transpose_y", &transpose);
    const int64_t m = result.dim[2], n = result.dim[3], k = left.dim[3];
    const int64_t share = (m * s->examples * s->groups + partitions - 1) / partitions;
    s->left = left.dim[0] > 1 ? s->groups * m * k : 0;
    s->shape = (mw__gemm_shape){
        .m = m, .n = n, .k = k, .lda = k, .ldb = transpose ? k : n, .ldc = n, .transpose_b = transpose};
    return share > m ? m : share;
}

#define OUTPUTS_LEAST 4 /* lanes of 16 that pay */

/* Where mw__gemm does not sum in the order of kernel_conv_columns_avx512.h and kernel_conv_packed.h. */
static const char *order_declines(const columns_block *s)
{
    if (s->code.sgemm != NULL)
        return "a BLAS multiplies, in another order";
    if (s->code.sums != MW__SUMS_FREE || s->code.level == MW__LEVEL_REF)
        return "sums of the reference";
    if (s->shape.n < 2 || (s->shape.m < 2 && (s->shape.transpose_b || s->shape.k > MW__GEMM_DEPTH)))
        return "a vector, which is summed in another order";
    return NULL;
}

/* And where not too many lanes are idle. */
static const char *avx512_declines(const void *subject)
{
    const columns_block *s = subject;
    const char *order = order_declines(s);
    if (order != NULL)
        return order;
    if (s->border[0] > 1 || s->kernel[0] > 1)
        return "three spatial axes";
    if (s->channels * s->border[1] * s->border[2] > INT32_MAX)
        return "an image of more than 2^31 elements";
    if (s->shape.transpose_b)
        return s->shape.m >= OUTPUTS_LEAST ? NULL : "few outputs: idle lanes";
    if (s->stride[1] != 1 || s->stride[2] != 1)
        return "a stride";
    return s->border[2] <= 2 * s->out[2] ? NULL : "short rows in a wide border: idle lanes";
}

_Static_assert(MW__PACKED_DEPTH == MW__GEMM_DEPTH && MW__COLUMNS_BLOCK == MW__GEMM_DEPTH,
               "sums are cut where those of a product are");

#define FEW 32 /* output channels, for which gathering costs much */

/* The way that makes no columns leaves few lanes idle, and is faster then: nothing is gathered. But the zeros between
 * elements, which a transpose by a stride has, would be multiplied. */
static bool lies_wide(const columns_block *s)
{
#if MW_HAVE_AVX512
    const int64_t *stride = s->request.window.stride;
    if (s->request.transposed && stride[0] * stride[1] * stride[2] > 1)
        return false;
    const int64_t idle = s->border[2] - s->out[2], most = s->out[2] / (s->shape.m <= FEW ? 4 : 8);
    return s->code.level == MW__LEVEL_AVX512 && avx512_declines(s) == NULL && idle <= most;
#else
    (void)s;
    return false;
#endif
}

static const char *packed_declines(const void *subject)
{
    const columns_block *s = subject;
    const char *order = order_declines(s);
    if (order != NULL)
        return order;
    if (s->request.weight == NULL)
        return "no product with the kernel of a conv";
    return lies_wide(s) ? "long rows, which lie well as they are" : mw__conv_packed_declines(&s->request);
}

/* Its sums do not begin anew. */
static const char *depthwise_declines(const void *subject)
{
    const columns_block *s = subject;
    const char *order = order_declines(s);
    if (order != NULL)
        return order;
    if (s->request.weight == NULL || s->shape.k > MW__GEMM_DEPTH)
        return "no product with the kernel of a conv, or one of more than a block";
    return mw__conv_depthwise_declines(&s->request);
}

/* A vector times columns of planes, of one example and group. */
static const char *dots_decline(const void *subject)
{
    const columns_block *s = subject;
    if (s->code.sgemm != NULL || s->code.sums != MW__SUMS_FREE || s->code.level == MW__LEVEL_REF ||
        s->code.dots == NULL || s->code.dots_are_long)
        return "a product that adds in another order";
    if (s->request.dy == NULL || s->shape.m != 1 || s->channels != 1 || s->shape.k < 2)
        return "no gradient by a kernel of one plane, or of one position";
    return mw__conv_depthwise_dots_decline(&s->request, s->code.level);
}

typedef mw_status columns_plan(mw__planner *planner, const mw__packed_request *request, mw_error *err);

#if MW_HAVE_AVX512
static const char *lanes_decline(const void *subject)
{
    const columns_block *s = subject;
    const char *order = order_declines(s);
    mw__conv_avx512 ignored;
    if (order != NULL)
        return order;
    return s->request.weight != NULL && mw__conv_avx512_takes(&s->request, &ignored)
               ? NULL
               : "a transpose by a stride, few channels or positions, or a frame beyond the cache";
}
#endif

/* Convolutions, a way that makes no columns, and columns; the plan of the first. */
static columns_plan *choose_kernel(mw__planner *planner, columns_block *s)
{
    static const mw__implementation rows[] = {
        {.name = "depthwise", .level = MW__LEVEL_BASE, .declines = depthwise_declines},
        {.name = "depthwise.dots", .level = MW__LEVEL_AVX512, .declines = dots_decline},
#if MW_HAVE_AVX512
        {.name = "conv.avx512", .level = MW__LEVEL_AVX512, .declines = lanes_decline},
#endif
        {.name = "packed", .level = MW__LEVEL_BASE, .declines = packed_declines},
#if MW_HAVE_AVX512
        {.name = "avx512", .level = MW__LEVEL_AVX512, .declines = avx512_declines},
#endif
        {.name = "columns"},
    };
    const mw__implementation *taken = mw__plan_implementation(planner, MW__IMPLEMENTATIONS(rows), s);
#if MW_HAVE_AVX512
    s->way = taken->declines == avx512_declines ? &mw__columns_kernel_avx512 : NULL;
    if (taken->declines == lanes_decline)
        return mw__plan_conv_avx512_columns;
#else
    (void)avx512_declines;
#endif
    if (taken->declines == depthwise_declines)
        return mw__plan_conv_depthwise;
    if (taken->declines == dots_decline)
        return mw__plan_conv_depthwise_dots;
    return taken->declines == packed_declines ? mw__plan_conv_packed : NULL;
}

#define CHANNELS_LEAST 8      /* lanes of 16 that pay where zeros are left out */
#define FRAME_MOST     131072 /* floats that stay in a cache */

/* Where zeros of dy can be left out, the places of its positions in the frame of kernel_conv_columns_sparse.c. */
static const int32_t *fill_where(mw__planner *planner, const columns_block *s)
{
    const int64_t lanes = (s->channels + LANES - 1) / LANES * LANES, positions = s->out[1] * s->out[2];
    if (!s->shape.transpose_b || s->round == NULL || s->channels < CHANNELS_LEAST ||
        s->border[1] * s->border[2] > FRAME_MOST / lanes)
        return NULL;
    int32_t *const where = mw__plan_block(planner, (size_t)positions * sizeof *where);
    for (int64_t p = 0; where != NULL && p < positions; p++)
        where[p] = (int32_t)((p / s->out[2] * s->stride[1] * s->border[2] + p % s->out[2] * s->stride[2]) * lanes);
    return where;
}

static void fill_kernel(mw__planner *planner, columns_block *s)
{
    const int64_t depth = s->channels * s->kernel[1] * s->kernel[2];
    int32_t *const taps = mw__plan_block(planner, (size_t)depth * sizeof *taps), *tap = taps;
    s->avx512 = (mw__columns_avx512){.outputs = s->shape.m,
                                     .depth = depth,
                                     .rows = s->out[1],
                                     .width = s->out[2],
                                     .row_step = s->stride[1] * s->border[2],
                                     .x_step = s->stride[2],
                                     .tap = taps,
                                     .channels = s->channels,
                                     .area = s->border[1] * s->border[2],
                                     .where = fill_where(planner, s)};
    for (int64_t c = 0; taps != NULL && c < s->channels; c++)
        for (int64_t y = 0; y < s->kernel[1]; y++)
            for (int64_t x = 0; x < s->kernel[2]; x++)
                *tap++ = (int32_t)((c * s->border[1] + y * s->dilation[1]) * s->border[2] + x * s->dilation[2]);
}

/* Floats of scratch: the image, the columns, and slack after both. */
static void fill_scratch(columns_block *s, mw__step *step)
{
    const int64_t elements = s->channels * volume_of(s->kernel);
    s->columns = mw__size_round_up((size_t)(s->channels * volume_of(s->border)) + MW__COLUMNS_SLACK, 16);
    if (s->way != NULL) {
        step->scratch = s->columns * sizeof(float) + s->way->scratch(&s->avx512);
        return;
    }
    s->product = s->columns + mw__size_round_up((size_t)(elements * volume_of(s->out)), 16);
    step->scratch = s->product * sizeof(float) + mw__gemm_scratch(s->shape.m, s->shape.n, s->shape.k);
}

bool mw__conv_columns_bias_suits(const mw__conv_columns_match *columns, const mw_tensor *y)
{
    const mw_shape product = mw__shape_of(columns->product->results[0]), shape = mw__shape_of(y);
    bool transpose = false;
    mw__arg_bool(columns->product, "transpose_y", &transpose);
    return !transpose && shape.dim[0] == product.dim[0] && shape.dim[1] == product.dim[1] * product.dim[2];
}

/* What is done to the product, and to its sum with a bias. */
static void choose_loops(const mw__planner *planner, const mw__conv_columns_match *match, columns_block *s)
{
    const mw__level level = mw__plan_level(planner);
    s->finish.sum = mw__plan_rounds(planner, match->product->results[0]);
    s->round = mw__round_loop(level, s->finish.sum);
    if (match->bias == NULL)
        return;
    s->add = MW__DISPATCH_BEST(add, level);
    s->finish.biased = mw__plan_rounds(planner, match->result);
    s->after = mw__round_loop(level, s->finish.biased);
}

/* What the operation `name` that made the value takes; NULL if another did. */
static const mw_tensor *below(const mw_tensor *value, const char *name)
{
    return value->op != NULL && strcmp(value->op->kind, name) == 0 ? mw__arg(value->op, "x") : NULL;
}

/* The weight of a convolution that the left matrix is, in another shape; NULL if it is none. */
static const mw_tensor *weight_of(const mw__conv_columns_match *match, const columns_block *s)
{
    const mw_tensor *left = mw__arg(match->product, "x"), *half = below(left, "cast");
    const mw_tensor *weight = below(half != NULL ? half : left, "reshape");
    const mw_shape shape = weight != NULL ? mw__shape_of(weight) : (mw_shape){0};
    if (s->shape.transpose_b || s->left > 0 || shape.rank != match->conv.axes + 2 || mw__is_packed(weight) ||
        shape.dim[0] != s->groups * s->shape.m || shape.dim[1] != s->channels)
        return NULL;
    for (int i = 0; i < match->conv.axes; i++)
        if (shape.dim[i + 2] != match->conv.kernel[i])
            return NULL;
    return weight;
}

/* What the columns of each example are multiplied with; NULL if it is one for all. */
static const mw_tensor *dy_of(const mw__conv_columns_match *match, const columns_block *s)
{
    return s->left > 0 || s->examples == 1 ? mw__arg(match->product, "x") : NULL;
}

/* The product as a convolution of x, or as the transpose of one. */
static void fill_request(const mw__conv_columns_match *match, const mw_tensor *x, columns_block *s)
{
    const mw__conv_dx_match *dx = match->transpose;
    mw__conv conv = match->conv;
    for (int i = 0; i < conv.axes; i++)
        conv.before[i] = s->before[AXES - conv.axes + i], conv.in[i] = mw__shape_of(x).dim[2 + i];
    s->finish = (mw__packed_finish){.label = s->add != NULL ? "conv.columns.bias" : "conv.columns",
                                    .round = s->round,
                                    .add = s->add,
                                    .after = s->after,
                                    .sum = s->finish.sum,
                                    .biased = s->finish.biased};
    s->request = (mw__packed_request){.x = dx != NULL ? dx->dy : x,
                                      .weight = dx != NULL ? dx->weight : weight_of(match, s),
                                      .bias = match->bias,
                                      .result = match->result,
                                      .window = mw__conv_window_of(dx != NULL ? &dx->conv : &conv),
                                      .groups = s->groups,
                                      .transposed = dx != NULL,
                                      .columns = &s->finish,
                                      .dy = s->shape.transpose_b ? dy_of(match, s) : NULL};
}

/* All but what the product is multiplied by; returns the rows that one partition has. `round`, `add` and `after` are
 * chosen. */
static int64_t fill_block(const mw__conv_columns_match *match, int partitions, columns_block *s)
{
    const int axes = match->conv.axes;
    const mw_tensor *x = mw__conv_columns_inside(match->x, axes, s->before + AXES - axes);
    fill_axes(&match->conv, x, s);
    s->examples = mw__shape_of(x).dim[0], s->groups = match->conv.groups;
    s->channels = mw__shape_of(x).dim[1] / s->groups;
    const int64_t rows = fill_product(match->product, partitions, s);
    fill_request(match, x, s);
    return rows;
}

mw__packed_request mw__conv_columns_request(mw__planner *planner, const mw__conv_columns_match *match)
{
    columns_block *s = mw__plan_block(planner, sizeof *s);
    if (s == NULL)
        return (mw__packed_request){0};
    choose_loops(planner, match, s);
    fill_block(match, mw__plan_partitions(planner), s);
    return s->request;
}

/* Its `columns` is not kept. */
bool mw__conv_columns_in_order(const mw__conv_columns_match *match, const mw__config *config, int partitions,
                               mw__packed_request *out)
{
    columns_block s = {0};
    const int64_t rows = fill_block(match, partitions, &s);
    s.code = mw__gemm_choose(config, rows, s.shape.n, s.shape.k);
    *out = s.request;
    out->columns = NULL;
    return order_declines(&s) == NULL && s.request.weight != NULL;
}

bool mw__conv_columns_in_lanes(const mw__conv_columns_match *match, const mw__config *config, int partitions)
{
    columns_block s = {0};
    const int64_t rows = fill_block(match, partitions, &s);
    s.code = mw__gemm_choose(config, rows, s.shape.n, s.shape.k);
#if MW_HAVE_AVX512
    return lanes_decline(&s) == NULL;
#else
    return false;
#endif
}

#define IMAGE_NEAR 8192 /* floats that are cleared for each example where examples run apart from each other */

mw_status mw__plan_conv_columns(mw__planner *planner, const mw__conv_columns_match *match, mw_error *err)
{
    columns_block *s = mw__plan_block(planner, sizeof *s);
    const mw__op *matmul = match->product;
    if (s == NULL)
        return mw__plan_check(planner, err);
    choose_loops(planner, match, s);
    const int64_t rows = fill_block(match, mw__plan_partitions(planner), s);
    const int axes = match->conv.axes;
    const mw_tensor *x = mw__conv_columns_inside(match->x, axes, s->before + AXES - axes), *left = mw__arg(matmul, "x");
    s->code = mw__plan_gemm(planner, rows, s->shape.n, s->shape.k);
    s->lines = mw__packed_code_of(s->code.level)->lines;
    columns_plan *const conv = choose_kernel(planner, s);
    if (conv != NULL)
        return conv(planner, &s->request, err);
    const uint32_t bias = match->bias != NULL ? mw__plan_floats(planner, match->bias) : 0;
    if (s->way != NULL)
        fill_kernel(planner, s);
    const double count = (double)(s->examples * s->groups),
                 flops = 2.0 * (double)s->shape.m * (double)s->shape.n * (double)s->shape.k;
    mw__step *step = mw__plan_step(planner, columns_run, s->add != NULL ? "conv.columns.bias" : "conv.columns",
                                   s->examples, count * flops * 0.0125);
    step->block = s;
    step->rounds = true;
    fill_scratch(s, step);
    step->span = s->columns <= IMAGE_NEAR ? 1 : 0;
    const size_t unit = (size_t)(s->groups * s->channels * volume_of(s->in)) * sizeof(float);
    mw__step_read(planner, step, mw__plan_buffer(planner, x), MW__ROWS, unit, false);
    if (s->left > 0)
        mw__step_read(planner, step, mw__plan_buffer(planner, left), MW__ROWS, (size_t)s->left * sizeof(float), false);
    else
        mw__step_read(planner, step, mw__plan_buffer(planner, left), MW__WHOLE, 0, false);
    if (match->bias != NULL)
        mw__step_read(planner, step, bias, MW__WHOLE, 0, false);
    mw__step_write(planner, step, mw__plan_buffer(planner, match->result), MW__ROWS,
                   (size_t)(s->groups * s->shape.m * s->shape.n) * sizeof(float));
    return mw__plan_check(planner, err);
}
