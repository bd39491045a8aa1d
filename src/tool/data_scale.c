/* One pass over the inputs gives all that is said of them here. */
#include "tool/data_scale.h"

#include "base/number/fp16.h"
#include "base/number/number.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 64, COLUMNS_MAX = 16 };

/* The second pair of sums is about the first example: a large mean takes nothing from it. */
typedef struct data_moment {
    double sum, square;
    double first, sum_from_first, square_from_first;
    double rounded; /* squares of what fp32 takes */
    double peak;
} data_moment;

static bool fail_memory(mw_error *err)
{
    if (err->status == MW_OK) {
        err->status = MW_ERROR_MEMORY;
        snprintf(err->message, sizeof err->message, "there is no memory for the means of the inputs");
    }
    return false;
}

/* ---- numbers of any type ---- */

#define LOAD(type) ((double)((const type *)data)[i])
static double load_number(const void *data, mw_dtype dtype, size_t i)
{
    switch (dtype) {
    case MW_F64:
        return LOAD(double);
    case MW_F32:
        return LOAD(float);
    case MW_F16:
        return (double)mw__fp16_to_float(((const uint16_t *)data)[i]);
    case MW_I64:
        return LOAD(int64_t);
    case MW_I32:
        return LOAD(int32_t);
    case MW_I16:
        return LOAD(int16_t);
    case MW_U16:
        return LOAD(uint16_t);
    case MW_I8:
        return LOAD(int8_t);
    case MW_U32:
        return LOAD(uint32_t);
    case MW_U64:
        return LOAD(uint64_t);
    default: /* U8, BOOL */
        return LOAD(uint8_t);
    }
}

/* As a batch is converted: value * scale + offset. */
static double scaled_number(double value, float scale, float offset)
{
    return value * (scale != 0.0f ? (double)scale : 1.0) + (double)offset;
}

/* ---- moments ---- */

static void add_number(data_moment *m, double value, bool is_first)
{
    const double rest = value - (double)(float)value;
    if (is_first)
        m->first = value;
    const double distance = value - m->first;
    m->sum += value;
    m->square += value * value;
    m->sum_from_first += distance;
    m->square_from_first += distance * distance;
    m->rounded += rest * rest;
    m->peak = fabs(value) > m->peak ? fabs(value) : m->peak;
}

static void add_batch(data_moments *moments, const char *column, const mw_batch *batch)
{
    for (size_t i = 0; i < batch->feed_count; i++) {
        const mw_feed *feed = &batch->feeds[i];
        if (strcmp(feed->name, column) != 0)
            continue;
        for (size_t k = 0; k < moments->count * (size_t)batch->examples; k++)
            add_number(&moments->fields[k % moments->count],
                       scaled_number(load_number(feed->data, feed->dtype, k), feed->scale, feed->offset),
                       moments->examples == 0 && k < moments->count);
    }
    moments->examples += batch->examples;
}

static const mw_column *find_column(const mw_dataset *dataset, const char *name)
{
    const mw_column *column;
    for (size_t i = 0; (column = mw_dataset_column_at(dataset, i)) != NULL; i++) {
        if (strcmp(column->name, name) == 0)
            return column;
    }
    return NULL;
}

bool data_moments_take(data_moments *out, const mw_dataset *dataset, const char *column, mw_error *err)
{
    const mw_column *x = find_column(dataset, column);
    mw_loader_options options = mw_loader_defaults(dataset, BATCH);
    options.shuffle = false;
    options.drop_last = false;
    *out = (data_moments){.count = x != NULL ? (size_t)mw_shape_count(x->shape) : 0};
    out->fields = calloc(out->count + 1, sizeof *out->fields);
    if (out->fields == NULL)
        return fail_memory(err);
    mw_loader *loader = mw_loader_create(&options, err);
    for (const mw_batch *batch; (batch = mw_loader_next(loader, err)) != NULL;)
        add_batch(out, column, batch);
    mw_loader_destroy(loader);
    return err->status == MW_OK;
}

void data_moments_free(data_moments *moments)
{
    free(moments->fields);
    *moments = (data_moments){0};
}

double data_moments_mean(const data_moments *moments, size_t field)
{
    return moments->fields[field].sum / (double)moments->examples;
}

static double variance_from_first(const data_moments *moments, size_t field)
{
    const data_moment *m = &moments->fields[field];
    const double mean = m->sum_from_first / (double)moments->examples;
    return fmax(m->square_from_first / (double)moments->examples - mean * mean, 0);
}

/* The plain formula where it is exact enough. Where all examples are alike a deviation is what rounding made. */
static double variance_of(const data_moments *moments, size_t field)
{
    const double mean = data_moments_mean(moments, field);
    const double plain = moments->fields[field].square / (double)moments->examples - mean * mean;
    if (plain > 1e-12 && mean * mean < 0x1p24 * plain)
        return plain;
    const double exact = variance_from_first(moments, field);
    return exact > 0x1p-96 * mean * mean ? exact : 0;
}

double data_moments_deviation(const data_moments *moments, size_t field) { return sqrt(variance_of(moments, field)); }

float data_moments_factor(const data_moments *moments, size_t field)
{
    const double deviation = data_moments_deviation(moments, field);
    return deviation > 1.0 / (double)FLT_MAX ? (float)(1 / deviation) : 1.0f;
}

bool data_moments_suspect(const data_moments *moments, size_t field)
{
    return moments->fields[field].peak * 0x1p-12 > data_moments_deviation(moments, field);
}

bool data_moments_lossy(const data_moments *moments, size_t field)
{
    const double rounded = sqrt(moments->fields[field].rounded / (double)moments->examples);
    return rounded > 0x1p-12 * data_moments_deviation(moments, field) && data_moments_deviation(moments, field) > 0;
}

double data_moments_step(const data_moments *moments, size_t field)
{
    const float peak = (float)moments->fields[field].peak;
    return (double)nextafterf(peak, INFINITY) - (double)peak;
}

/* ---- offsets ---- */

/* The mean to as many digits as tell it from the deviation. */
static double round_mean(const data_moments *moments, size_t field)
{
    const double unit = pow(10, floor(log10(data_moments_deviation(moments, field))));
    return round(data_moments_mean(moments, field) / unit) * unit;
}

bool data_offsets_choose(data_offsets *out, const data_moments *moments, mw_error *err)
{
    bool some = false;
    *out = (data_offsets){.count = moments->count};
    for (size_t i = 0; i < moments->count; i++)
        some = some || data_moments_lossy(moments, i);
    if (!some)
        return true;
    out->values = calloc(moments->count, sizeof *out->values);
    for (size_t i = 0; out->values != NULL && i < moments->count; i++)
        out->values[i] = data_moments_lossy(moments, i) ? round_mean(moments, i) : 0;
    return out->values != NULL || fail_memory(err);
}

char *data_offsets_text(const data_offsets *offsets)
{
    enum { DIGITS = MW__NUMBER_MAX + 1 };
    char *text = offsets->values != NULL ? malloc(offsets->count * DIGITS + 1) : NULL;
    size_t used = 0;
    for (size_t i = 0; text != NULL && i < offsets->count; i++) {
        if (i > 0)
            text[used++] = ' ';
        used += mw__number_print_double(text + used, offsets->values[i]);
    }
    return text;
}

double *data_offsets_parse(const char *text, size_t *out_count)
{
    double *values = calloc(strlen(text) / 2 + 1, sizeof *values);
    *out_count = 0;
    for (const char *at = text; values != NULL && *at != '\0';) {
        const size_t length = strcspn(at, " ");
        if (!mw__number_read(at, length, MW__NUMBER_F64, &values[*out_count]) || !isfinite(values[*out_count])) {
            free(values);
            return NULL;
        }
        ++*out_count;
        at += length + (at[length] == ' ');
    }
    return values;
}

/* How the examples of one data set are changed. */
typedef struct offset_map {
    const data_offsets *offsets;
    mw_column columns[COLUMNS_MAX]; /* of the source */
    size_t count;
    struct offset_map *next;
} offset_map;

void data_offsets_free(data_offsets *offsets)
{
    for (offset_map *map = offsets->maps, *next; map != NULL; map = next) {
        next = map->next;
        free(map);
    }
    free(offsets->values);
    *offsets = (data_offsets){0};
}

static void subtract_offsets(const data_offsets *offsets, const mw_column *column, const void *in, float *out)
{
    const size_t count = (size_t)mw_shape_count(column->shape);
    for (size_t i = 0; i < count; i++) {
        const double value = scaled_number(load_number(in, column->dtype, i), column->scale, column->offset);
        out[i] = (float)(value - (offsets->values != NULL && i < offsets->count ? offsets->values[i] : 0));
    }
}

static mw_status map_example(void *user, const mw_map_example *example, mw_error *err)
{
    const offset_map *map = user;
    (void)err;
    for (size_t i = 0; i < map->count; i++) {
        const mw_column *column = &map->columns[i];
        if (strcmp(column->name, "x") == 0)
            subtract_offsets(map->offsets, column, example->in[i], example->out[i]);
        else
            memcpy(example->out[i], example->in[i],
                   (size_t)mw_shape_count(column->shape) * ((size_t)mw_dtype_bits(column->dtype) / 8));
    }
    return MW_OK;
}

static mw_column column_as_fp32(const mw_column *column)
{
    mw_column out = *column;
    out.data = NULL;
    if (strcmp(column->name, "x") == 0) {
        out.dtype = MW_F32;
        out.scale = 1;
        out.offset = 0;
    }
    return out;
}

mw_dataset *data_offsets_apply(data_offsets *offsets, const mw_dataset *source, mw_error *err)
{
    mw_column columns[COLUMNS_MAX];
    offset_map *map = calloc(1, sizeof *map);
    if (map == NULL) {
        fail_memory(err);
        return NULL;
    }
    *map = (offset_map){.offsets = offsets, .next = offsets->maps};
    offsets->maps = map;
    for (const mw_column *c; map->count < COLUMNS_MAX && (c = mw_dataset_column_at(source, map->count)) != NULL;) {
        columns[map->count] = column_as_fp32(c);
        map->columns[map->count++] = *c;
    }
    return mw_dataset_map(source, columns, map->count, map_example, map, 0, err);
}
