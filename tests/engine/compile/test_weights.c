/* Weights that stay as they are stored: the bits are those of weights that were expanded when the program was compiled,
 * whatever the form, the consumer, the number of threads and the device, but where a BLAS multiplies by those; and what
 * is claimed of memory. */
#include "engine/run.h"
#include "support/check.h"
#include "support/on_engine.h"
#include "support/setting.h"

#include "engine/core/buffer.h"
#include "engine/kernels/gemm/gemm.h"
#include <millwright/millwright.h>
#include <stdlib.h>
#include <string.h>

#define OFF "1000000000000"

typedef enum form {
    HALVES,
    AFFINE,
    BLOCKS_4,
    BLOCKS_8,
    TABLE_1,
    TABLE_3,
    TABLE_4,
    TABLE_8,
    VECTORS,
    SPARSE,
    FORMS
} form;

static const char *const form_names[FORMS] = {"fp16",        "int8 rows",   "int4 blocks", "int8 blocks", "1-bit table",
                                              "3-bit table", "4-bit table", "8-bit table", "vectors",     "sparse"};

/* ---- weights ---- */

static uint32_t next(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* Random codes; of fp16, numbers from 2^-7 to 2^-5. */
static mw_tensor *stored(mw_graph *graph, mw_dtype dtype, mw_shape shape)
{
    uint32_t state = (uint32_t)mw_shape_count(shape);
    const size_t size = ((size_t)mw_shape_count(shape) * (size_t)mw_dtype_bits(dtype) + 7) / 8;
    unsigned char *data = malloc(size + 2);
    for (size_t i = 0; i < size; i++)
        data[i] = (unsigned char)next(&state);
    for (size_t i = 1; dtype == MW_F16 && i < size; i += 2)
        data[i] = (unsigned char)((data[i] & 0x80) | 0x20 | (data[i] & 7));
    if (dtype == MW_U1) /* as many are set as there are values */
        memset(data, 0x0f, size);
    const size_t unused = size * 8 - (size_t)mw_shape_count(shape) * (size_t)mw_dtype_bits(dtype);
    data[size - 1] = (unsigned char)(data[size - 1] & (0xff >> unused));
    mw_tensor *tensor = mw_constant(graph, dtype, shape, data);
    free(data);
    return tensor;
}

static mw_tensor *blocks(mw_graph *graph, mw_dtype dtype, mw_shape shape, int64_t first, int64_t second)
{
    mw_shape parts = shape;
    for (int i = 0; i < shape.rank; i++)
        parts.dim[i] = i == 0 ? shape.dim[0] / first : i == 1 ? shape.dim[1] / second : 1;
    mw_tensor *data = stored(graph, dtype, shape), *scale = stored(graph, MW_F16, parts);
    return mw_constexpr_blockwise_shift_scale(data, scale, stored(graph, dtype, parts));
}

static mw_tensor *table(mw_graph *graph, mw_dtype dtype, mw_shape shape, int64_t vector)
{
    mw_shape lut = {.rank = shape.rank + 2};
    for (int i = 0; i < shape.rank; i++)
        lut.dim[i] = i == 0 ? 2 : 1;
    lut.dim[shape.rank] = 1 << mw_dtype_bits(dtype);
    lut.dim[shape.rank + 1] = vector;
    shape.dim[0] /= vector;
    return mw_constexpr_lut_to_dense(stored(graph, dtype, shape), stored(graph, MW_F16, lut), 0);
}

/* The extents are even. */
static mw_tensor *weight(mw_graph *graph, form f, mw_shape shape)
{
    switch (f) {
    case HALVES:
        return stored(graph, MW_F16, shape);
    case AFFINE:
        return blocks(graph, MW_I8, shape, 1, shape.dim[1]);
    case BLOCKS_4:
        return blocks(graph, MW_I4, shape, 2, shape.dim[1] / 2);
    case BLOCKS_8:
        return blocks(graph, MW_I8, shape, shape.dim[0], 2);
    case TABLE_1:
        return table(graph, MW_U1, shape, 1);
    case TABLE_3:
        return table(graph, MW_U3, shape, 1);
    case TABLE_4:
        return table(graph, MW_U4, shape, 1);
    case TABLE_8:
        return table(graph, MW_U8, shape, 1);
    case VECTORS:
        return table(graph, MW_U4, shape, shape.dim[0] % 4 == 0 ? 2 : 1);
    default: /* half of them, the tail of an odd number of bytes included */
        return mw_constexpr_sparse_to_dense(stored(graph, MW_F16, MW_SHAPE(mw_shape_count(shape) / 2)),
                                            stored(graph, MW_U1, shape));
    }
}

/* ---- consumers ---- */

typedef struct consumer {
    const char *name;
    mw_tensor *(*build)(mw_graph *graph, form f, mw_dtype dtype);
} consumer;

static mw_tensor *input(mw_graph *graph, mw_dtype dtype, mw_shape shape) { return mw_input(graph, "x", dtype, shape); }

static mw_tensor *linear_of(mw_graph *graph, form f, mw_dtype dtype, int64_t m, int64_t n, int64_t k)
{
    mw_tensor *x = mw_cast(input(graph, dtype, MW_SHAPE(m, k)), MW_F16);
    return mw_linear(x, weight(graph, f, MW_SHAPE(n, k)), stored(graph, MW_F16, MW_SHAPE(n)));
}

static mw_tensor *linear_one(mw_graph *g, form f, mw_dtype d) { return linear_of(g, f, d, 1, 328, 1024); }
static mw_tensor *linear_few(mw_graph *g, form f, mw_dtype d) { return linear_of(g, f, d, 6, 200, 640); }
static mw_tensor *linear_many(mw_graph *g, form f, mw_dtype d) { return linear_of(g, f, d, 48, 520, 320); }
static mw_tensor *linear_long(mw_graph *g, form f, mw_dtype d) { return linear_of(g, f, d, 5, 72, 4100); }

static mw_tensor *matmul(mw_graph *graph, form f, mw_dtype dtype)
{
    return mw_matmul(mw_cast(input(graph, dtype, MW_SHAPE(2, 7, 320)), MW_F16), weight(graph, f, MW_SHAPE(320, 424)),
                     MW_TRANSPOSE_NONE);
}

static mw_tensor *matmul_transposed(mw_graph *graph, form f, mw_dtype dtype)
{
    return mw_matmul(mw_cast(input(graph, dtype, MW_SHAPE(320, 9)), MW_F16), weight(graph, f, MW_SHAPE(424, 320)),
                     MW_TRANSPOSE_X | MW_TRANSPOSE_Y);
}

static mw_tensor *conv(mw_graph *graph, form f, mw_dtype dtype)
{
    mw_tensor *x = mw_cast(input(graph, dtype, MW_SHAPE(2, 16, 9, 7)), MW_F16);
    return mw_relu(mw_conv(x, weight(graph, f, MW_SHAPE(32, 16, 3, 3)), stored(graph, MW_F16, MW_SHAPE(32)), NULL));
}

/* More rows and more depth than are expanded at a time. */
static mw_tensor *conv_deep(mw_graph *graph, form f, mw_dtype dtype)
{
    mw_tensor *x = mw_cast(input(graph, dtype, MW_SHAPE(1, 240, 5, 4)), MW_F16);
    return mw_conv(x, weight(graph, f, MW_SHAPE(272, 240, 3, 3)), stored(graph, MW_F16, MW_SHAPE(272)), NULL);
}

/* Of several groups and tiles. */
static mw_tensor *conv_volume(mw_graph *graph, form f, mw_dtype dtype)
{
    mw_conv_options options = mw_conv_defaults();
    options.groups = 2;
    mw_tensor *x = mw_cast(input(graph, dtype, MW_SHAPE(2, 32, 9, 8, 9)), MW_F16);
    return mw_conv(x, weight(graph, f, MW_SHAPE(32, 16, 2, 3, 3)), NULL, &options);
}

static mw_tensor *gather(mw_graph *graph, form f, mw_dtype dtype)
{
    static const int32_t rows[] = {0, 7, 63, 7, 31};
    mw_tensor *x = mw_cast(input(graph, dtype, MW_SHAPE(5, 600)), MW_F16);
    mw_tensor *indices = mw_add(mw_constant(graph, MW_I32, MW_SHAPE(5), rows),
                                mw_cast(mw_reduce_max(mw_mul_scalar(x, 0.0), MW_AXES(1), false), MW_I32));
    return mw_add(x, mw_gather(weight(graph, f, MW_SHAPE(64, 600)), indices, 0));
}

/* One weight that is looked up and multiplied by. */
static mw_tensor *tied(mw_graph *graph, form f, mw_dtype dtype)
{
    static const int32_t rows[] = {3, 0, 99};
    mw_tensor *table_ = weight(graph, f, MW_SHAPE(100, 320)),
              *x = mw_cast(input(graph, dtype, MW_SHAPE(3, 320)), MW_F16);
    mw_tensor *h = mw_add(x, mw_gather(table_, mw_constant(graph, MW_I32, MW_SHAPE(3), rows), 0));
    return mw_linear(h, table_, NULL);
}

static const consumer consumers[] = {
    {"a row", linear_one},
    {"few rows", linear_few},
    {"many rows", linear_many},
    {"long rows", linear_long},
    {"matmul", matmul},
    {"transposed matmul", matmul_transposed},
    {"conv", conv},
    {"deep conv", conv_deep},
    {"conv of volumes in groups", conv_volume},
    {"gather", gather},
    {"a tied embedding", tied},
};

/* ---- running ---- */

enum { MOST = 40000 };

static size_t run(const consumer *c, form f, mw_device device, int threads, const char *pack, float *out)
{
    mw_error err = {0};
    setting_begin("MW_ENGINE_PACK", pack);
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *y = mw_output(mw_cast(c->build(graph, f, MW_F32), MW_F32), "y"), *x = mw_graph_find(graph, "x");
    mw_graph_check(graph, &err);
    const size_t count = (size_t)mw_shape_count(mw_tensor_shape(y)), fed = (size_t)mw_shape_count(mw_tensor_shape(x));
    mw_program *program = engine_compile(graph, device, threads, &err);
    mw_graph_destroy(graph);
    float *data = malloc((fed + 1) * sizeof *data);
    uint32_t state = 3;
    for (size_t i = 0; i < fed; i++)
        data[i] = (float)next(&state) * 0x1p-23f - 1.0f;
    mw_program_write(program, "x", MW_F32, data, fed, &err);
    for (int i = 0; i < 2; i++)
        mw_program_run(program, &err);
    mw_program_read(program, "y", MW_F32, out, count < MOST ? count : 0, &err);
    check_note(err.status == MW_OK && count < MOST, __FILE__, __LINE__, "%s, %s: %s", c->name, form_names[f],
               err.message);
    mw_program_destroy(program);
    free(data);
    setting_end("MW_ENGINE_PACK");
    return err.status == MW_OK ? count : 0;
}

/* A BLAS multiplies by a weight that is whole, and sums in an order of its own: then the last bit of an F16 result may
 * be another. */
static bool equals(const float *expanded, const float *packed, size_t count, double most)
{
    const mw__config config = config_here();
    if (mw__gemm_choose(&config, 512, 512, 512).sgemm == NULL)
        return memcmp(expanded, packed, count * sizeof *packed) == 0;
    bool near = true;
    for (size_t i = 0; i < count; i++)
        near = near && fabs((double)expanded[i] - (double)packed[i]) <= most * 0x1p-10;
    return near;
}

static void check(const consumer *c, form f, mw_device device, int threads)
{
    static float expanded[MOST], packed[MOST];
    const size_t count = run(c, f, device, threads, OFF, expanded), again = run(c, f, device, threads, "0", packed);
    double most = 0.0;
    for (size_t i = 0; i < count; i++)
        most = fmax(most, fabs((double)expanded[i]));
    check_note(count > 0 && count == again && equals(expanded, packed, count, most), __FILE__, __LINE__,
               "%s, %s, %d threads, device %d: other bits", c->name, form_names[f], threads, (int)device);
    check_note(most > 0.0, __FILE__, __LINE__, "%s, %s: all zero", c->name, form_names[f]);
}

static void test_weights_as_stored_give_the_bits_of_expanded_ones(void)
{
    for (size_t i = 0; i < sizeof consumers / sizeof *consumers; i++)
        for (int f = 0; f < FORMS; f++)
            for (int threads = 1; threads <= 3; threads += 2) {
                check(&consumers[i], (form)f, MW_DEVICE_CPU, threads);
                check(&consumers[i], (form)f, MW_DEVICE_ANE, threads);
            }
}

/* Bytes of constants that the plan of an operation holds, and of what is local to a run. */
static size_t plan_bytes(const consumer *c, form f, const char *pack)
{
    mw_error err = {0};
    size_t bytes = 0;
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_output(c->build(graph, f, MW_F16), "y");
    run_set("MW_ENGINE_PACK", pack);
    mw__library *library = run_library_of(graph, 1, &err);
    run_set("MW_ENGINE_PACK", NULL);
    CHECK_OK(err);
    const mw__plan *plan = library != NULL ? &library->programs[0].plan : NULL;
    for (size_t b = 0; plan != NULL && b < plan->buffer_count; b++)
        bytes += plan->buffers[b].kind == MW__BUFFER_CONSTANT || plan->buffers[b].kind == MW__BUFFER_LOCAL
                     ? plan->buffers[b].size
                     : 0;
    mw__object_release(library);
    mw_graph_destroy(graph);
    return bytes;
}

static void test_a_plan_holds_no_expanded_weight(void)
{
    static const struct {
        consumer consumer;
        size_t elements;
    } rows[] = {{{"many rows", linear_many}, 520 * 320}, {{"deep conv", conv_deep}, 272 * 240 * 9}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int f = 0; f < SPARSE; f++) {
            const size_t expanded = plan_bytes(&rows[i].consumer, (form)f, OFF),
                         packed = plan_bytes(&rows[i].consumer, (form)f, "0");
            check_note(expanded >= rows[i].elements * sizeof(float) && packed < rows[i].elements, __FILE__, __LINE__,
                       "%s, %s: %zu bytes, as stored %zu", rows[i].consumer.name, form_names[f], expanded, packed);
        }
}

int main(void)
{
    RUN(test_a_plan_holds_no_expanded_weight);
    RUN(test_weights_as_stored_give_the_bits_of_expanded_ones);
    return check_finish();
}
