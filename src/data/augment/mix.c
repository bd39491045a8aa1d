/* Pictures mixed with others of their set: what mw_dataset_mix serves. An example and the other one lie in the scratch,
 * one behind the other. */
#include "base/memory/checked.h"
#include "base/number/float_mode.h"
#include "base/number/random.h"
#include "data/augment/augment.h"
#include "data/data.h"
#include "runtime/data/data.h"

#include <math.h>
#include <string.h>

enum { CLASSES_MAX = 65536 };

/* What a number of an example is drawn for, and which streams of its seed have many. */
enum { DRAW_MIXED, DRAW_MIXUP, DRAW_ROW, DRAW_COLUMN };
enum { STREAM_OTHER = 1, STREAM_SHARE = 2 };

typedef struct mixing {
    mw_mix_options options;
    uint64_t key; /* of the seeds of the examples */
    size_t column, label;
    mw__augment_image image; /* pixels NULL */
    mw_dtype label_type;
} mixing;

/* One example on its way. */
typedef struct mixed {
    const mixing *m;
    uint64_t seed;
    mw__augment_image own, other; /* the result lies in `own` */
    double share;                 /* of the example itself, 1 = all */
} mixed;

/* ---- drawing ---- */

static double draw_uniform(const mixed *x, uint64_t number)
{
    mw__random random = {.seed = x->seed, .position = number};
    return (double)mw__random_uniform(&random);
}

/* In (0, 1]. */
static double draw_positive(mw__random *random) { return 1.0 - (double)mw__random_uniform(random); }

/* Marsaglia and Tsang, "A simple method for generating gamma variables", 2000. */
static double draw_gamma(mw__random *random, double alpha)
{
    if (alpha < 1.0) {
        const double large = draw_gamma(random, alpha + 1.0);
        return large * pow(draw_positive(random), 1.0 / alpha);
    }
    const double d = alpha - 1.0 / 3.0, c = 1.0 / sqrt(9.0 * d);
    for (;;) {
        const double x = (double)mw__random_normal(random), root = 1.0 + c * x, v = root * root * root;
        if (root > 0.0 && log(draw_positive(random)) < 0.5 * x * x + d - d * v + d * log(v))
            return d * v;
    }
}

static double draw_beta(const mixed *x, double alpha)
{
    mw__random random = {.seed = x->seed, .stream = STREAM_SHARE};
    const double a = draw_gamma(&random, alpha), b = draw_gamma(&random, alpha);
    return a + b > 0.0 ? a / (a + b) : 0.5;
}

/* ---- pixels ---- */

static void mix_all(mixed *x, double share)
{
    const int64_t count = x->own.height * x->own.width * x->own.channels;
    for (int64_t i = 0; i < count; i++)
        mw__augment_put(&x->own, i,
                        share * mw__augment_get(&x->own, i) + (1.0 - share) * mw__augment_get(&x->other, i));
    x->share = share;
}

typedef struct span {
    int64_t begin, end;
} span;

static span span_about(const mixed *x, uint64_t number, int64_t extent, double part)
{
    const int64_t middle = (int64_t)(draw_uniform(x, number) * (double)extent), half = (int64_t)(part * (double)extent);
    return (span){middle > half ? middle - half : 0, middle + half < extent ? middle + half : extent};
}

static void mix_rectangle(mixed *x, double share)
{
    const double part = 0.5 * sqrt(1.0 - share);
    const span rows = span_about(x, DRAW_ROW, x->own.height, part);
    const span columns = span_about(x, DRAW_COLUMN, x->own.width, part);
    for (int64_t i = rows.begin; i < rows.end; i++)
        for (int64_t j = columns.begin; j < columns.end; j++)
            for (int64_t c = 0; c < x->own.channels; c++) {
                const int64_t place = mw__augment_place(&x->own, i, j, c);
                mw__augment_put(&x->own, place, mw__augment_get(&x->other, place));
            }
    x->share = 1.0 - (double)((rows.end - rows.begin) * (columns.end - columns.begin)) /
                         (double)(x->own.height * x->own.width);
}

static void mix_pixels(mixed *x)
{
    const mw_mix_options *o = &x->m->options;
    const bool by_mixup = o->mixup > 0.0f && (o->cutmix == 0.0f || draw_uniform(x, DRAW_MIXUP) < 0.5);
    if (by_mixup)
        mix_all(x, draw_beta(x, (double)o->mixup));
    else
        mix_rectangle(x, draw_beta(x, (double)o->cutmix));
}

/* ---- labels ---- */

static int64_t label_at(const void *label, mw_dtype dtype)
{
    switch (dtype) {
    case MW_U8:
        return *(const uint8_t *)label;
    case MW_I32:
        return *(const int32_t *)label;
    default:
        return *(const int64_t *)label;
    }
}

/* out [classes] += share * label; rounded when it is stored, which is exact for the shares of two. */
static mw_status add_label(const mixing *m, const void *label, double share, float *out, mw_error *err)
{
    if (m->label_type == MW_F32) {
        for (int64_t k = 0; k < m->options.classes; k++)
            out[k] = (float)((double)out[k] + share * (double)((const float *)label)[k]);
        return MW_OK;
    }
    const int64_t class = label_at(label, m->label_type);
    if (class < 0 || class >= m->options.classes)
        return mw__fail(err, MW_ERROR_FORMAT, "mw_dataset_mix: a label is %lld; there are %lld classes",
                        (long long)class, (long long)m->options.classes);
    out[class] = (float)((double)out[class] + share);
    return MW_OK;
}

/* ---- serving ---- */

static int64_t choose_other(const mixed *x, const mw_dataset *source)
{
    mw__random random = {.seed = x->seed, .stream = STREAM_OTHER};
    return (int64_t)mw__random_below(&random, (uint64_t)source->examples);
}

static bool is_mixed(const mixed *x)
{
    const mw_mix_options *o = &x->m->options;
    return (o->mixup > 0.0f || o->cutmix > 0.0f) && draw_uniform(x, DRAW_MIXED) < (double)o->probability;
}

static mw_status put_labels(const mixed *x, void *const *own, void *const *other, float *out, mw_error *err)
{
    const mixing *m = x->m;
    memset(out, 0, (size_t)m->options.classes * sizeof *out);
    MW_TRY(add_label(m, own[m->label], x->share, out, err));
    return x->share < 1.0 ? add_label(m, other[m->label], 1.0 - x->share, out, err) : MW_OK;
}

static mw_status make_mixed(const mw_dataset *dataset, mw__example_place at, void *const *out, char *scratch,
                            mw_error *err)
{
    const mw_dataset *source = dataset->sources[0];
    const mixing *m = dataset->state;
    mixed x = {.m = m, .seed = mw__data_seed(m->key, (uint64_t)at.example, (uint64_t)at.epoch), .share = 1.0};
    void **own = (void **)(void *)scratch, **other;
    char *behind = mw__data_put_places(source, scratch), *end = mw__data_put_places(source, behind);
    other = (void **)(void *)behind;
    MW_TRY(mw__dataset_make(source, at, own, end, err));
    if (is_mixed(&x)) {
        const mw__example_place place = {.epoch = at.epoch, .example = choose_other(&x, source)};
        MW_TRY(mw__dataset_make(source, place, other, end, err));
        x.own = x.other = m->image;
        x.own.pixels = own[m->column];
        x.other.pixels = other[m->column];
        mix_pixels(&x);
    }
    for (size_t i = 0; i < source->column_count; i++)
        if (i != m->label)
            memcpy(out[i], own[i], source->example_bytes[i]);
    return put_labels(&x, own, other, out[m->label], err);
}

/* ---- making ---- */

mw_mix_options mw_mix_defaults(const char *column, const char *label, int64_t classes)
{
    return (mw_mix_options){.struct_size = sizeof(mw_mix_options),
                            .column = column,
                            .label = label,
                            .classes = classes,
                            .probability = 1.0f};
}

static bool is_alpha(float alpha) { return alpha == 0.0f || (alpha >= 0.05f && alpha <= 100.0f); }

static mw_status check_mix(const mw_dataset *source, const mw_mix_options *o, mw_error *err)
{
    if (o == NULL || o->struct_size != sizeof *o || o->column == NULL || o->label == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "mw_dataset_mix: no options of mw_mix_defaults that name pictures and labels");
    if (o->classes < 1 || o->classes > CLASSES_MAX)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_dataset_mix: %lld classes, not 1 to %d", (long long)o->classes,
                        CLASSES_MAX);
    if (!is_alpha(o->mixup) || !is_alpha(o->cutmix))
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_dataset_mix: mixup %g and cutmix %g; each is 0, or 0.05 to 100",
                        (double)o->mixup, (double)o->cutmix);
    if (!(o->probability >= 0.0f && o->probability <= 1.0f))
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_dataset_mix: probability %g; it is 0 to 1", (double)o->probability);
    return mw__dataset_check(source, "mw_dataset_mix", err);
}

/* An integer, or numbers of all classes. */
static mw_status check_label(const mixing *m, const mw_column *label, mw_error *err)
{
    const bool is_integer = label->dtype == MW_U8 || label->dtype == MW_I32 || label->dtype == MW_I64;
    if (!is_integer && label->dtype != MW_F32)
        return mw__fail(err, MW_ERROR_DTYPE, "mw_dataset_mix: column \"%.100s\" is %s; labels are U8, I32, I64 or F32",
                        label->name, mw_dtype_name(label->dtype));
    if (mw_shape_count(label->shape) != (is_integer ? 1 : m->options.classes))
        return mw__fail(
            err, MW_ERROR_SHAPE,
            "mw_dataset_mix: column \"%.100s\" has %lld numbers an example; labels are one integer, or as many "
            "F32 as classes, %lld",
            label->name, (long long)mw_shape_count(label->shape), (long long)m->options.classes);
    return MW_OK;
}

static mw_status fill_mixing(mixing *m, const mw_dataset *source, mw_error *err)
{
    const char *call = "mw_dataset_mix";
    MW_TRY(mw__picture_find_column(source, call, m->options.column, &m->column, err));
    MW_TRY(mw__picture_find_column(source, call, m->options.label, &m->label, err));
    MW_TRY(mw__picture_measure(&source->columns[m->column], call, m->options.channels_first, &m->image, err));
    if (m->column == m->label)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_dataset_mix: \"%.100s\" is both the pictures and the labels",
                        m->options.column);
    m->label_type = source->columns[m->label].dtype;
    MW_TRY(check_label(m, &source->columns[m->label], err));
    m->key = mw__data_seed(m->options.seed, (uint64_t)source->map_count, UINT64_MAX);
    m->options.column = m->options.label = NULL; /* the user's */
    return MW_OK;
}

static mw_dataset *derive_mixed(const mixing *m, const mw_dataset *source, mw_error *err)
{
    mw_column *columns = mw__alloc(source->allocator, source->column_count, sizeof *columns, err);
    if (columns == NULL)
        return NULL;
    memcpy(columns, source->columns, source->column_count * sizeof *columns);
    columns[m->label].dtype = MW_F32;
    columns[m->label].shape = MW_SHAPE(m->options.classes);
    columns[m->label].scale = 1.0f;
    columns[m->label].offset = 0.0f;
    mw_dataset *dataset = mw__dataset_derive(&source, 1, columns, source->column_count, source->examples, 0, err);
    mw__free(source->allocator, columns);
    return dataset;
}

static mw_dataset *make_set(mixing *m, const mw_dataset *source, mw_error *err)
{
    size_t places, bytes;
    if (fill_mixing(m, source, err) != MW_OK)
        return NULL;
    if (!mw__data_places_size(source, &places) || !mw__mul_size(places, 2, &bytes) ||
        !mw__add_size(bytes, source->scratch_bytes, &bytes)) {
        mw__fail(err, MW_ERROR_SHAPE,
                 "mw_dataset_mix: two examples of the source have more bytes than fit into memory");
        return NULL;
    }
    mw_dataset *dataset = derive_mixed(m, source, err);
    if (dataset == NULL)
        return NULL;
    dataset->scratch_bytes = bytes;
    dataset->make = make_mixed;
    dataset->state = m;
    dataset->map_count++;
    return dataset;
}

mw_dataset *mw_dataset_mix(const mw_dataset *source, const mw_mix_options *options, mw_error *err)
{
    MW__FLOAT_SCOPE;
    if (mw__skips(err) || check_mix(source, options, err) != MW_OK)
        return NULL;
    mixing *m = mw__alloc(source->allocator, 1, sizeof *m, err);
    if (m == NULL)
        return NULL;
    m->options = *options;
    mw_dataset *dataset = make_set(m, source, err);
    if (dataset == NULL)
        mw__free(source->allocator, m);
    return dataset;
}
