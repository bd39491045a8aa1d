/* Initializers of parameters: the records, and drawing from them. */
#include "graph/random/init.h"

#include "base/number/float_mode.h"
#include "base/number/fp16.h"
#include "base/number/hash.h"
#include "base/number/random.h"
#include "base/text/error.h"
#include "base/thread/share.h"

#include <math.h>
#include <string.h>

enum {
    INIT_NONE = 0, /* a zeroed record is refused */
    INIT_CONSTANT,
    INIT_UNIFORM,
    INIT_NORMAL,
    INIT_KAIMING_UNIFORM,
    INIT_KAIMING_NORMAL,
    INIT_XAVIER_UNIFORM,
    INIT_XAVIER_NORMAL,
    INIT_DATA,
    INIT_INTEGERS,
    INIT_COUNT
};

_Static_assert(sizeof(mw__init) <= sizeof(mw_init), "it holds one");

mw__init mw__init_of(const mw_init *init)
{
    mw__init own;
    memcpy(&own, init, sizeof own);
    return own;
}

static mw_init hide(int kind, float a, float b, const void *data)
{
    const mw__init own = {.kind = kind, .a = a, .b = b, .data = data};
    mw_init hidden = {{0}};
    memcpy(&hidden, &own, sizeof own);
    return hidden;
}

mw_init mw_init_zeros(void) { return mw_init_constant(0.0f); }
mw_init mw_init_constant(float value) { return hide(INIT_CONSTANT, value, 0.0f, NULL); }
mw_init mw_init_uniform(float low, float high) { return hide(INIT_UNIFORM, low, high, NULL); }
mw_init mw_init_normal(float mean, float stddev) { return hide(INIT_NORMAL, mean, stddev, NULL); }
mw_init mw_init_kaiming_uniform(void) { return hide(INIT_KAIMING_UNIFORM, 0.0f, 0.0f, NULL); }
mw_init mw_init_kaiming_normal(void) { return hide(INIT_KAIMING_NORMAL, 0.0f, 0.0f, NULL); }
mw_init mw_init_xavier_uniform(void) { return hide(INIT_XAVIER_UNIFORM, 0.0f, 0.0f, NULL); }
mw_init mw_init_xavier_normal(void) { return hide(INIT_XAVIER_NORMAL, 0.0f, 0.0f, NULL); }
mw_init mw_init_data(const void *data) { return hide(INIT_DATA, 0.0f, 0.0f, data); }

mw_init mw__init_integers(int bound) { return hide(INIT_INTEGERS, (float)bound, 0.0f, NULL); }

bool mw__init_draws_integers(const mw__init *init) { return init != NULL && init->kind == INIT_INTEGERS; }

bool mw__init_is_zeros(const mw__init *init)
{
    return init->kind == INIT_CONSTANT && init->a == 0.0f && !signbit(init->a);
}

mw_status mw__init_check(const mw__init *init, mw_error *err)
{
    MW__FLOAT_SCOPE;
    if (init->kind <= INIT_NONE || init->kind >= INIT_COUNT)
        return mw__fail(err, MW_ERROR_ARGUMENT, "the initializer was not made by an mw_init function");
    if (!isfinite(init->a) || !isfinite(init->b))
        return mw__fail(err, MW_ERROR_ARGUMENT, "the initializer has a number that is not finite");
    if (init->kind == INIT_UNIFORM && init->a > init->b)
        return mw__fail(err, MW_ERROR_ARGUMENT, "uniform from %g to %g is empty", (double)init->a, (double)init->b);
    if (init->kind == INIT_NORMAL && init->b < 0)
        return mw__fail(err, MW_ERROR_ARGUMENT, "the standard deviation %g is negative", (double)init->b);
    if (init->kind == INIT_DATA && init->data == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "the data of the initializer is NULL");
    return MW_OK;
}

/* PyTorch's fans of a weight [out, in, k..]; never 0. */
static void find_fans(mw_shape shape, double *fan_in, double *fan_out)
{
    const double count = (double)mw_shape_count(shape);
    *fan_in = *fan_out = count > 1 ? count : 1;
    if (shape.rank < 2 || count == 0)
        return;
    *fan_in = count / (double)shape.dim[0];
    *fan_out = count / (double)shape.dim[1];
}

/* Every kind as one of constant, uniform [a, b) and normal(a, b). */
static mw__init resolve_init(const mw__init *init, mw_shape shape)
{
    double fan_in, fan_out;
    find_fans(shape, &fan_in, &fan_out);
    double bound;
    switch (init->kind) {
    case INIT_KAIMING_UNIFORM:
        bound = 1.0 / sqrt(fan_in);
        return (mw__init){INIT_UNIFORM, (float)-bound, (float)bound, NULL};
    case INIT_KAIMING_NORMAL:
        return (mw__init){INIT_NORMAL, 0.0f, (float)sqrt(2.0 / fan_in), NULL};
    case INIT_XAVIER_UNIFORM:
        bound = sqrt(6.0 / (fan_in + fan_out));
        return (mw__init){INIT_UNIFORM, (float)-bound, (float)bound, NULL};
    case INIT_XAVIER_NORMAL:
        return (mw__init){INIT_NORMAL, 0.0f, (float)sqrt(2.0 / (fan_in + fan_out)), NULL};
    default:
        return *init;
    }
}

/* Integers are drawn by rejection, each after the last. */
static void fill_integers(const mw__init *init, mw_dtype dtype, mw__random random, size_t count, void *out)
{
    for (size_t i = 0; i < count; i++) {
        const float value = (float)mw__random_below(&random, 2 * (uint64_t)init->a + 1) - init->a;
        if (dtype == MW_F32)
            ((float *)out)[i] = value;
        else
            ((uint16_t *)out)[i] = mw__fp16_from_float(value);
    }
}

static void fill_constant(float value, mw_dtype dtype, size_t count, void *out)
{
    enum { CHUNK = 4096 };
    char chunk[CHUNK];
    const size_t size = dtype == MW_F32 ? sizeof(float) : sizeof(uint16_t), all = count * size;
    const uint16_t half = mw__fp16_from_float(value);
    for (size_t at = 0; at < CHUNK; at += size)
        memcpy(chunk + at, dtype == MW_F32 ? (const void *)&value : (const void *)&half, size);
    for (size_t at = 0; at < all; at += CHUNK)
        memcpy((char *)out + at, chunk, all - at < CHUNK ? all - at : CHUNK);
}

/* ---- numbers that are drawn, each from its own place of the stream ---- */

enum { PART = 1 << 16, PIECE = 1024 };

typedef struct drawing {
    mw__init init; /* uniform or normal */
    mw_dtype dtype;
    mw__random random; /* at its beginning */
    mw__random_width width;
    size_t count;
    void *out;
} drawing;

static void draw_numbers(const drawing *d, size_t first, float *out, size_t count)
{
    const bool normal = d->init.kind == INIT_NORMAL;
    const float low = d->init.a, factor = normal ? d->init.b : d->init.b - d->init.a;
    mw__random random = d->random;
    random.position += first * (normal ? 2 : 1); /* words of a number */
    (normal ? mw__random_normals : mw__random_uniforms)(&random, d->width, out, count);
    for (size_t i = 0; i < count; i++)
        out[i] = low + factor * out[i];
}

/* In pieces that stay in the first cache. */
static void draw_part(void *user, size_t part)
{
    const drawing *d = user;
    const size_t begin = part * PART, end = d->count - begin < PART ? d->count : begin + PART;
    float numbers[PIECE];
    for (size_t at = begin; at < end; at += PIECE) {
        const size_t count = end - at < PIECE ? end - at : PIECE;
        float *out = d->dtype == MW_F32 ? (float *)d->out + at : numbers;
        draw_numbers(d, at, out, count);
        if (d->dtype == MW_F16)
            mw__fp16_from_float_n((uint16_t *)d->out + at, numbers, count);
    }
}

mw_status mw__init_fill(const mw__init *init, mw_shape shape, mw_dtype dtype, const mw__init_source *source, void *out,
                        mw_error *err)
{
    const char *name = source->name;
    MW__FLOAT_SCOPE;
    const int64_t count = mw_shape_count(shape);
    MW_TRY(mw__init_check(init, err));
    if (dtype != MW_F32 && dtype != MW_F16)
        return mw__fail(err, MW_ERROR_DTYPE, "parameter \"%s\": %s cannot be drawn", name, mw_dtype_name(dtype));
    if (count < 0)
        return mw__fail(err, MW_ERROR_SHAPE, "parameter \"%s\": every extent must be known", name);
    drawing d = {.init = resolve_init(init, shape),
                 .dtype = dtype,
                 .random = {.seed = source->seed, .stream = mw__hash64(name, strlen(name), 0)},
                 .width = mw__random_widest(),
                 .count = (size_t)count,
                 .out = out};
    if (init->kind == INIT_DATA)
        memcpy(out, init->data, d.count * (size_t)(mw_dtype_bits(dtype) / 8));
    else if (init->kind == INIT_CONSTANT)
        fill_constant(init->a, dtype, d.count, out);
    else if (init->kind == INIT_INTEGERS)
        fill_integers(init, dtype, d.random, d.count, out);
    else
        mw__share(source->threads, (d.count + PART - 1) / PART, draw_part, &d);
    return MW_OK;
}
