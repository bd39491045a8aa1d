/* What operations can say of an encoder: scaled numbers, words as one-hot or as learned numbers. */
#include "base/memory/live.h"
#include "base/number/float_mode.h"
#include "data/encoder/encoder.h"
#include "graph/ir/ir.h"
#include <millwright/millwright.h>

#include <float.h>
#include <math.h>
#include <stdio.h>

/* [1, count] numbers of the type of x. */
static mw_tensor *constant_row(mw_tensor *x, int64_t count, const float *numbers)
{
    mw_tensor *row = mw_constant(mw_tensor_graph(x), MW_F32, MW_SHAPE(1, count), numbers);
    return mw_tensor_dtype(x) == MW_F32 ? row : mw_cast(row, mw_tensor_dtype(x));
}

/* ---- numbers ---- */

/* A column that is not scaled has the mean 0 and the factor 1. */
static void scale_column(const mw__encoder_scale *scale, double offset, float *mean, float *factor)
{
    *mean = (float)(scale->mean - offset);
    *factor = scale->deviation > 1.0 / (double)FLT_MAX ? (float)(1 / scale->deviation) : 1.0f;
}

static void scale_field(const mw__encoder_field *f, float *mean, float *factor)
{
    for (int64_t i = 0; i < f->columns; i++)
        factor[f->first + i] = 1.0f;
    if (f->kind == MW_FIELD_NUMBER || f->kind == MW_FIELD_BOOLEAN || f->kind == MW_FIELD_DATE)
        scale_column(&f->value, f->offset, mean + f->first, factor + f->first);
    if (f->kind == MW_FIELD_DATE)
        scale_column(&f->age, 0, mean + f->first + MW__DATE_AGE, factor + f->first + MW__DATE_AGE);
}

static mw_tensor *part_of(mw_tensor *x, int64_t first, int64_t count)
{
    return mw_slice_by_size(x, (const int64_t[]){0, first}, (const int64_t[]){-1, count});
}

static mw_tensor *scale_numbers(const mw_table_encoder *e, mw_tensor *x, mw_error *err)
{
    const size_t count = (size_t)e->numbers;
    float *numbers = mw__alloc(e->allocator, 2 * count, sizeof *numbers, err);
    if (numbers == NULL)
        return NULL;
    for (size_t i = 0; i < e->field_count; i++)
        if (!mw__encoder_has_words(&e->fields[i]) && e->fields[i].kind != MW_FIELD_SEQUENCE)
            scale_field(&e->fields[i], numbers, numbers + count);
    mw_tensor *part = e->numbers < e->columns ? part_of(x, 0, e->numbers) : x;
    mw_tensor *scaled =
        mw_mul(mw_sub(part, constant_row(x, e->numbers, numbers)), constant_row(x, e->numbers, numbers + count));
    mw__free(e->allocator, numbers);
    return scaled;
}

/* ---- words ---- */

/* Words begin nearly alike, and learning tells them apart: with large ones a net learns rows by heart. */
#define WORD_DEVIATION 0.1f

/* Zeros for a number that is no word's. Numbers up to 2^24 are exact in fp32, and up to 2048 in fp16. */
static mw_tensor *one_hot(const mw_table_encoder *e, const mw__encoder_field *f, mw_tensor *x, mw_error *err)
{
    const size_t count = f->words.count;
    float *range = mw__alloc(e->allocator, count, sizeof *range, err);
    if (range == NULL)
        return NULL;
    for (size_t i = 0; i < count; i++)
        range[i] = (float)i;
    mw_tensor *is_word = mw_equal(part_of(x, f->first, 1), constant_row(x, (int64_t)count, range));
    mw__free(e->allocator, range);
    return mw_cast(is_word, mw_tensor_dtype(x));
}

static mw_tensor *spread_words(const mw_table_encoder *e, size_t index, mw_tensor *x, const char *name, mw_error *err)
{
    const mw__encoder_field *f = &e->fields[index];
    char whole[160];
    mw_tensor *hot = one_hot(e, f, x, err);
    if (hot == NULL || f->width == 0)
        return hot;
    snprintf(whole, sizeof whole, "%.120s.%zu.weight", name, index);
    mw_graph *graph = mw_tensor_graph(x);
    mw_tensor *weight = mw_parameter(graph, whole, mw_tensor_dtype(x), MW_SHAPE(f->width, (int64_t)f->words.count),
                                     mw_init_normal(0, WORD_DEVIATION));
    snprintf(whole, sizeof whole, "%.120s.%zu.bias", name, index);
    mw_tensor *bias = mw_parameter(graph, whole, mw_tensor_dtype(x), MW_SHAPE(f->width), mw_init_zeros());
    return mw_linear(hot, weight, bias);
}

/* ---- sequences ---- */

/* 0, 1, .. [1, count]. */
static mw_tensor *count_up(const mw_table_encoder *e, mw_tensor *x, int64_t count, mw_error *err)
{
    float *range = mw__alloc(e->allocator, (size_t)count, sizeof *range, err);
    for (int64_t i = 0; range != NULL && i < count; i++)
        range[i] = (float)i;
    mw_tensor *row = range != NULL ? constant_row(x, count, range) : NULL;
    mw__free(e->allocator, range);
    return row;
}

/* [N, length, width] of the words, or [N, length, 1] of the values; zeros where `mask` [N, length, 1] is. */
static mw_tensor *read_elements(const mw__encoder_field *f, mw_tensor *part, mw_tensor *mask, const char *name)
{
    const int64_t rows = mw_tensor_shape(part).dim[0];
    if (f->has_values) {
        const double factor = f->value.deviation > 0 ? 1 / f->value.deviation : 1;
        mw_tensor *scaled = mw_mul_scalar(mw_add_scalar(part, -f->value.mean), factor);
        return mw_mul(mw_reshape(scaled, MW_SHAPE(rows, f->length, 1)), mask);
    }
    const int64_t words = (int64_t)f->words.count;
    mw_tensor *known = mw_cast(mw_less(part, mw_scalar(mw_tensor_graph(part), mw_tensor_dtype(part), (double)words)),
                               mw_tensor_dtype(part));
    mw_tensor *read = mw_embedding(mw_cast(part, MW_I32), words + 1, f->width, name);
    if (mw_tensor_dtype(read) != mw_tensor_dtype(part))
        read = mw_cast(read, mw_tensor_dtype(part));
    return mw_mul(read, mw_mul(mask, mw_reshape(known, MW_SHAPE(rows, f->length, 1))));
}

/* What a GRU has at the last element, and its mean over all of them: [N, 2 width]. What stands behind the last element
 * changes neither. */
static mw_tensor *read_sequence(const mw_table_encoder *e, size_t index, mw_tensor *x, const char *name, mw_error *err)
{
    const mw__encoder_field *f = &e->fields[index];
    const int64_t rows = mw_tensor_shape(x).dim[0];
    const mw_dtype dtype = mw_tensor_dtype(x);
    const mw_axes steps = {.count = 1, .axis = {1}};
    const mw_shape spread = MW_SHAPE(rows, f->length, 1);
    char whole[160];
    mw_tensor *range = count_up(e, x, f->length, err), *length = part_of(x, f->first, 1);
    if (range == NULL)
        return NULL;
    mw_tensor *mask = mw_reshape(mw_cast(mw_less(range, length), dtype), spread);
    mw_tensor *last = mw_reshape(mw_cast(mw_equal(range, mw_add_scalar(length, -1)), dtype), spread);
    snprintf(whole, sizeof whole, "%.120s.%zu.words", name, index);
    mw_tensor *read = read_elements(f, part_of(x, f->first + 1, f->length), mask, whole);
    mw_recurrent_layer_options options = mw_recurrent_layer_defaults();
    options.batch_first = true;
    snprintf(whole, sizeof whole, "%.120s.%zu.gru", name, index);
    mw_tensor *y = mw_gru_layer(read, f->width, whole, &options).y;
    mw_tensor *count = mw_maximum(length, mw_scalar(mw_tensor_graph(x), dtype, 1));
    mw_tensor *parts[] = {mw_reduce_sum(mw_mul(y, last), steps, false),
                          mw_real_div(mw_reduce_sum(mw_mul(y, mask), steps, false), count)};
    return mw_concat(parts, 2, 1);
}

/* ---- all ---- */

static mw_tensor *join_parts(const mw_table_encoder *e, mw_tensor *x, const char *name, mw_tensor **parts,
                             mw_error *err)
{
    size_t count = 0;
    if (e->numbers > 0)
        parts[count++] = scale_numbers(e, x, err);
    for (size_t i = 0; i < e->field_count; i++)
        if (mw__encoder_has_words(&e->fields[i]) && e->fields[i].words.count > 0)
            parts[count++] = spread_words(e, i, x, name, err);
    for (size_t i = 0; i < e->field_count; i++)
        if (e->fields[i].kind == MW_FIELD_SEQUENCE)
            parts[count++] = read_sequence(e, i, x, name, err);
    return count == 1 ? parts[0] : mw_concat(parts, count, 1);
}

static bool check_layer(const mw_table_encoder *e, const mw_tensor *x, const char *name)
{
    mw_error err = {0};
    mw_graph *graph = mw_tensor_graph(x);
    const mw_shape shape = mw_tensor_shape(x);
    const mw_dtype dtype = mw_tensor_dtype(x);
    if (mw__live_check(e, MW__LIVE_TABLE_ENCODER, "mw_table_encoder_layer", &err) != MW_OK)
        mw__graph_fail(graph, err.status, "%s", err.message);
    else if (name == NULL)
        mw__graph_fail(graph, MW_ERROR_ARGUMENT, "mw_table_encoder_layer: no name");
    else if (dtype != MW_F32 && dtype != MW_F16)
        mw__graph_fail(graph, MW_ERROR_DTYPE, "mw_table_encoder_layer: x is %s; it must be fp16 or fp32",
                       mw_dtype_name(dtype));
    else if (e->window.length > 0 &&
             (shape.rank != 3 || shape.dim[1] != e->window.length || shape.dim[2] != e->columns))
        mw__graph_fail(graph, MW_ERROR_SHAPE, "mw_table_encoder_layer: x has rank %d; it must be [N, %lld, %lld]",
                       shape.rank, (long long)e->window.length, (long long)e->columns);
    else if (e->window.length == 0 && (shape.rank != 2 || shape.dim[1] != e->columns))
        mw__graph_fail(graph, MW_ERROR_SHAPE,
                       "mw_table_encoder_layer: x has rank %d and %lld columns; it must be [N, %lld]", shape.rank,
                       (long long)(shape.rank == 2 ? shape.dim[1] : 0), (long long)e->columns);
    else
        return true;
    return false;
}

/* Rows of windows are rows like any others: [N, length, columns] to [N length, columns], and back. */
static mw_tensor *join_rows(const mw_table_encoder *e, mw_tensor *x, const char *name, mw_tensor **parts, mw_error *err)
{
    const mw_shape shape = mw_tensor_shape(x);
    if (e->window.length == 0)
        return join_parts(e, x, name, parts, err);
    mw_tensor *rows = mw_reshape(x, MW_SHAPE(shape.dim[0] * shape.dim[1], shape.dim[2]));
    mw_tensor *out = join_parts(e, rows, name, parts, err);
    if (out == NULL)
        return NULL;
    return mw_reshape(out, MW_SHAPE(shape.dim[0], shape.dim[1], mw_tensor_shape(out).dim[1]));
}

mw_tensor *mw_table_encoder_layer(const mw_table_encoder *encoder, mw_tensor *x, const char *name)
{
    MW__FLOAT_SCOPE;
    mw_error err = {0};
    if (x == NULL || !check_layer(encoder, x, name))
        return x;
    mw_tensor **parts = mw__alloc(encoder->allocator, encoder->field_count + 1, sizeof *parts, &err);
    mw_tensor *out = parts != NULL ? join_rows(encoder, x, name, parts, &err) : NULL;
    mw__free(encoder->allocator, parts);
    if (err.status != MW_OK)
        mw__graph_fail(mw_tensor_graph(x), err.status, "%s", err.message);
    return out != NULL ? out : x;
}

/* mean + deviation y of several targets along the last axis, again and again. */
static mw_tensor *unscale_several(const mw_table_encoder *e, mw_tensor *y, mw_error *err)
{
    const mw_shape shape = mw_tensor_shape(y);
    const size_t count = shape.rank > 0 ? (size_t)shape.dim[shape.rank - 1] : 0;
    if (count == 0 || count % e->target_count != 0) {
        mw__fail(err, MW_ERROR_SHAPE,
                 "mw_table_encoder_unscale: y has %zu numbers along its last axis, and there are %zu "
                 "targets",
                 count, e->target_count);
        return NULL;
    }
    float *numbers = mw__alloc(e->allocator, 2 * count, sizeof *numbers, err);
    if (numbers == NULL)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        const mw__encoder_scale *scale = &e->targets[i % e->target_count].value;
        numbers[i] = (float)scale->mean;
        numbers[count + i] = scale->deviation > 0 ? (float)scale->deviation : 1.0f;
    }
    mw_tensor *value =
        mw_add(mw_mul(y, constant_row(y, (int64_t)count, numbers + count)), constant_row(y, (int64_t)count, numbers));
    mw__free(e->allocator, numbers);
    return e->targets[0].scale == MW_TARGET_LOGARITHM ? mw_exp(value) : value;
}

mw_tensor *mw_table_encoder_unscale(const mw_table_encoder *encoder, mw_tensor *y)
{
    MW__FLOAT_SCOPE;
    mw_error err = {0};
    if (y == NULL)
        return NULL;
    if (mw__live_check(encoder, MW__LIVE_TABLE_ENCODER, __func__, &err) != MW_OK) {
        mw__graph_fail(mw_tensor_graph(y), err.status, "%s", err.message);
        return y;
    }
    const mw_encoded_target t = mw_table_encoder_target(encoder);
    if (t.kind != MW_TARGET_VALUE)
        return y;
    if (encoder->target_count > 1) {
        mw_tensor *several = unscale_several(encoder, y, &err);
        if (several == NULL)
            mw__graph_fail(mw_tensor_graph(y), err.status, "%s", err.message);
        return several != NULL ? several : y;
    }
    mw_tensor *value = mw_add_scalar(mw_mul_scalar(y, t.deviation), t.mean);
    return t.logarithm ? mw_exp(value) : value;
}
