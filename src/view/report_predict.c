/* Predictions over a data set: counts of classes, and the examples that are shown. */
#include "graph/values/feeds.h"
#include "view/report.h"

#include "base/memory/checked.h"
#include "base/number/types.h"
#include "base/text/error.h"
#include "base/text/log.h"
#include "base/text/text.h"

#include <math.h>
#include <millwright/dataset.h>
#include <stdio.h>
#include <string.h>

enum { CLASSES_MAX = 4096, PICTURE_MAX = 96, VALUES_MAX = 4096 };

/* Who predicts: [batch] examples into [batch, classes]. */
typedef struct oracle {
    mw__report *r;
    mw_predictor *predictor; /* of a model, else the trainer predicts */
    const char *result, *input;
    int64_t batch;
    size_t classes, row; /* row: elements of an example, of which the first `classes` count */
    float *out;
    mw_loader *loader;
    const mw_feed *picture, *label; /* of the batch at hand */
    int64_t done;
    float *sure_predicted, *sure_truth; /* [sure_room] of two classes */
    size_t sure_room;
} oracle;

/* ---- which class is which ---- */

/* Names of what predicts, by the index of the score; count 0 if it does not say. */
typedef struct known_names {
    const char **names;
    size_t count;
} known_names;

static mw_status add_known(oracle *o, known_names *known, const char *name, size_t length)
{
    const char *copy = known->count < o->classes ? mw__arena_string(o->r->arena, name, length, o->r->err) : NULL;
    if (copy != NULL)
        known->names[known->count++] = copy;
    return mw__failed(o->r->err) ? o->r->err->status : MW_OK;
}

static mw_status know_trainer(oracle *o, known_names *known)
{
    const mw_classes learned = mw_trainer_classes(o->r->options.trainer, o->r->options.label);
    for (size_t i = 0; i < learned.count; i++)
        MW_TRY(add_known(o, known, learned.names[i], strlen(learned.names[i])));
    return MW_OK;
}

static size_t count_lines(const char *text)
{
    size_t count = 1;
    for (; *text != '\0'; text++)
        count += *text == '\n';
    return count;
}

/* "classes" of its description, a name in each line: files of others have that key for other things. Or the labels of a
 * classifier. */
static mw_status know_model(oracle *o, known_names *known)
{
    mw_error none = {0};
    mw_classes labels;
    const mw_description *d = mw_model_get_info(o->r->options.model).description;
    for (size_t i = 0; d != NULL && i < d->pair_count; i++) {
        if (strcmp(d->pairs[i].key, "classes") != 0)
            continue;
        if (count_lines(d->pairs[i].value) != o->classes) {
            mw__log(MW_LOG_WARNING, "report: \"classes\" of the model are not %zu lines, and no names of its scores",
                    o->classes);
            break;
        }
        for (const char *at = d->pairs[i].value; at != NULL;
             at = strchr(at, '\n') != NULL ? strchr(at, '\n') + 1 : NULL)
            MW_TRY(add_known(o, known, at, strcspn(at, "\n")));
        return MW_OK;
    }
    if (mw_model_classes(o->r->options.model, o->result, &labels, &none) != MW_OK)
        return MW_OK;
    for (size_t i = 0; labels.names != NULL && i < labels.count; i++)
        MW_TRY(add_known(o, known, labels.names[i], strlen(labels.names[i])));
    return MW_OK;
}

static void put_names(mw__text *out, const char *const *names, size_t count)
{
    const size_t before = out->size;
    for (size_t i = 0; i < count && out->size - before < 120; i++)
        mw__text_printf(out, "%s%.60s", i > 0 ? ", " : "", names[i]);
}

static mw_status fail_names(const oracle *o, const known_names *known)
{
    mw__text text;
    const mw_report_options *options = &o->r->options;
    mw__text_init(&text, o->r->arena->allocator);
    mw__text_printf(&text, "report: the classes of column \"%.60s\" are ", options->label);
    const mw_classes own = mw_dataset_classes(options->dataset, options->label);
    put_names(&text, own.names, own.count);
    mw__text_printf(&text, ", and the %s knows ", options->model != NULL ? "model" : "trainer");
    put_names(&text, known->names, known->count);
    mw__text_puts(&text, ": the same number would be another class. Open the data with these as class_names");
    mw__fail(o->r->err, MW_ERROR_ARGUMENT, "%s", text.failed ? "report: the data has other classes" : text.data);
    mw__text_deinit(&text);
    return o->r->err->status;
}

/* Numbers of the data are numbers of scores, unless the caller says what is what. */
static mw_status check_names(oracle *o)
{
    const mw_report_options *options = &o->r->options;
    const mw_classes own = mw_dataset_classes(options->dataset, options->label);
    known_names known = {mw__arena_alloc(o->r->arena, o->classes + 1, sizeof *known.names, o->r->err), 0};
    if (known.names == NULL)
        return MW_ERROR_MEMORY;
    if (options->class_names != NULL || own.count == 0)
        return MW_OK;
    MW_TRY((options->model != NULL ? know_model : know_trainer)(o, &known));
    if (known.count > 0 && own.count > known.count)
        return fail_names(o, &known);
    for (size_t i = 0; known.count > 0 && i < own.count; i++)
        if (strcmp(known.names[i], own.names[i]) != 0)
            return fail_names(o, &known);
    return MW_OK;
}

/* ---- opening ---- */

static mw_status take_shape(oracle *o, mw_shape shape, const char *what)
{
    const int64_t count = mw_shape_count(shape);
    if (shape.rank < 2 || count < 1 || shape.dim[shape.rank - 1] < 2 || shape.dim[shape.rank - 1] > CLASSES_MAX)
        return mw__fail(o->r->err, MW_ERROR_ARGUMENT,
                        "report: %s has rank %d and is not [batch, classes] with 2 to %d classes", what, shape.rank,
                        CLASSES_MAX);
    o->batch = shape.dim[0];
    o->classes = (size_t)shape.dim[shape.rank - 1];
    o->row = (size_t)(count / o->batch);
    return MW_OK;
}

static mw_status open_model(oracle *o)
{
    const mw_model *model = o->r->options.model;
    mw_port port, found = {0};
    for (size_t i = 0; i < mw_model_get_info(model).port_count; i++) {
        if (!mw_model_port_at(model, i, &port))
            continue;
        if (!port.is_output)
            o->input = o->input == NULL ? port.name : "";
        else if (mw__number_dtype_is_float(port.dtype) && found.name == NULL && port.shape.rank >= 2)
            found = port;
    }
    if (found.name == NULL)
        return mw__fail(o->r->err, MW_ERROR_ARGUMENT, "report: the model has no result [batch, classes]");
    o->result = found.name;
    MW_TRY(take_shape(o, found.shape, "the result of the model"));
    o->predictor = mw_predictor_create(o->r->options.model, o->r->err);
    return o->predictor != NULL ? MW_OK : o->r->err->status;
}

static mw_status open_oracle(oracle *o)
{
    const mw_report_options *options = &o->r->options;
    if (options->model != NULL)
        MW_TRY(open_model(o));
    else if (options->prediction == NULL)
        return mw__fail(o->r->err, MW_ERROR_ARGUMENT, "report: the trainer has no `prediction` beside it");
    else
        MW_TRY(take_shape(o, mw_tensor_shape(options->prediction), "the prediction"));
    MW_TRY(check_names(o));
    mw_loader_options loader = mw_loader_defaults(options->dataset, o->batch);
    loader.shuffle = false;
    loader.drop_last = false;
    loader.allocator = options->allocator;
    o->loader = mw_loader_create(&loader, o->r->err);
    o->out = mw__arena_alloc(o->r->arena, (size_t)o->batch * o->row, sizeof *o->out, o->r->err);
    return o->loader != NULL && o->out != NULL ? MW_OK : o->r->err->status;
}

/* ---- a batch ---- */

/* A model with one input of another name gets the column that is shown. */
static mw_status predict_by_model(oracle *o, const mw_batch *batch)
{
    mw_feed feed = {0};
    mw_batch whole = *batch;
    whole.examples = o->batch;
    if (o->input != NULL && o->input[0] != '\0' && mw__feeds_find(batch, o->input) == NULL && o->picture != NULL) {
        feed = *o->picture;
        feed.name = o->input;
        whole.feeds = &feed;
        whole.feed_count = 1;
    }
    const mw_result result = {.name = o->result, .dtype = MW_F32, .data = o->out, .count = (size_t)o->batch * o->row};
    return mw_predictor_predict(o->predictor, &whole, &result, 1, o->r->err);
}

static mw_status predict(oracle *o, const mw_batch *batch)
{
    const mw_report_options *options = &o->r->options;
    o->picture = mw__feeds_find(batch, options->picture);
    o->label = mw__feeds_find(batch, options->label);
    if (o->label == NULL)
        return mw__fail(o->r->err, MW_ERROR_ARGUMENT, "report: the data set has no column \"%.80s\" of labels",
                        options->label);
    if (options->model != NULL)
        return predict_by_model(o, batch);
    return mw_trainer_predict(options->trainer, batch, MW_F32, o->out, (size_t)o->batch * o->row, o->r->err);
}

/* ---- values ---- */

static double element(const mw_feed *feed, size_t index)
{
    const unsigned char *bytes = feed->data;
    int16_t i16;
    uint16_t u16;
    int32_t i32;
    int64_t i64;
    float f32;
    double f64;
    switch (feed->dtype) {
    case MW_U8:
    case MW_BOOL:
        return bytes[index];
    case MW_I8:
        return (int8_t)bytes[index];
    case MW_I16:
        memcpy(&i16, bytes + 2 * index, sizeof i16);
        return i16;
    case MW_U16:
        memcpy(&u16, bytes + 2 * index, sizeof u16);
        return u16;
    case MW_I32:
        memcpy(&i32, bytes + 4 * index, sizeof i32);
        return i32;
    case MW_I64:
        memcpy(&i64, bytes + 8 * index, sizeof i64);
        return (double)i64;
    case MW_F32:
        memcpy(&f32, bytes + 4 * index, sizeof f32);
        return f32;
    case MW_F64:
        memcpy(&f64, bytes + 8 * index, sizeof f64);
        return f64;
    default:
        return NAN;
    }
}

static mw_shape shape_of_column(const mw_dataset *dataset, const char *name)
{
    const mw_column *column;
    for (size_t i = 0; (column = mw_dataset_column_at(dataset, i)) != NULL; i++)
        if (strcmp(column->name, name) == 0)
            return column->shape;
    return (mw_shape){.rank = -1};
}

/* ---- samples ---- */

typedef struct layout {
    int64_t height, width, channels;
    size_t row, column, channel; /* distances in elements */
} layout;

/* [H, W], [1 or 3, H, W], [H, W, 1 or 3]; false: no picture. */
static bool read_layout(mw_shape shape, layout *out)
{
    if (shape.rank == 2)
        *out = (layout){shape.dim[0], shape.dim[1], 1, (size_t)shape.dim[1], 1, 0};
    else if (shape.rank == 3 && (shape.dim[0] == 1 || shape.dim[0] == 3))
        *out = (layout){
            shape.dim[1], shape.dim[2], shape.dim[0], (size_t)shape.dim[2], 1, (size_t)(shape.dim[1] * shape.dim[2])};
    else if (shape.rank == 3 && (shape.dim[2] == 1 || shape.dim[2] == 3))
        *out = (layout){
            shape.dim[0], shape.dim[1], shape.dim[2], (size_t)(shape.dim[1] * shape.dim[2]), (size_t)shape.dim[2], 1};
    else
        return false;
    return out->height > 0 && out->width > 0;
}

static void find_range(const mw_feed *feed, size_t begin, size_t count, double *low, double *high)
{
    *low = feed->dtype == MW_U8 ? 0.0 : INFINITY;
    *high = feed->dtype == MW_U8 ? 255.0 : -INFINITY;
    for (size_t i = 0; i < count && feed->dtype != MW_U8; i++) {
        const double value = element(feed, begin + i);
        *low = value < *low ? value : *low;
        *high = value > *high ? value : *high;
    }
}

/* Larger ones are shown by every n-th pixel. */
static mw_status take_picture(mw__report *r, mw__report_sample *s, const mw_feed *feed, size_t begin, size_t count,
                              const layout *l)
{
    double low, high;
    const int64_t longest = l->height > l->width ? l->height : l->width,
                  every = (longest + PICTURE_MAX - 1) / PICTURE_MAX;
    s->height = (int)((l->height + every - 1) / every);
    s->width = (int)((l->width + every - 1) / every);
    s->channels = (int)l->channels;
    s->pixels = mw__arena_alloc(r->arena, (size_t)s->height * (size_t)s->width * (size_t)s->channels, 1, r->err);
    if (s->pixels == NULL)
        return MW_ERROR_MEMORY;
    find_range(feed, begin, count, &low, &high);
    unsigned char *pixel = s->pixels;
    for (int64_t y = 0; y < l->height; y += every) {
        for (int64_t x = 0; x < l->width; x += every) {
            for (size_t c = 0; c < (size_t)l->channels; c++) {
                const double value = element(feed, begin + (size_t)y * l->row + (size_t)x * l->column + c * l->channel);
                const double part = high > low ? (value - low) / (high - low) : 0.0;
                *pixel++ = (unsigned char)(part > 0.0 ? (part < 1.0 ? part : 1.0) * 255.0 + 0.5 : 0.0);
            }
        }
    }
    return MW_OK;
}

static mw_status take_values(mw__report *r, mw__report_sample *s, const mw_feed *feed, size_t begin, size_t count)
{
    s->value_count = count < VALUES_MAX ? count : VALUES_MAX;
    s->values = mw__arena_alloc(r->arena, s->value_count + 1, sizeof *s->values, r->err);
    for (size_t i = 0; s->values != NULL && i < s->value_count; i++)
        s->values[i] = (float)element(feed, begin + i);
    return s->values != NULL ? MW_OK : MW_ERROR_MEMORY;
}

static mw_status take_sample(oracle *o, size_t index, const mw__report_sample *seen)
{
    mw__report *r = o->r;
    mw__report_samples *all = &r->samples;
    const bool right = seen->label == seen->seen;
    size_t *count = right ? &all->right_count : &all->wrong_count;
    layout l;
    if (*count == all->room)
        return MW_OK;
    mw__report_sample *s = &(right ? all->right : all->wrong)[(*count)++];
    *s = *seen;
    if (o->picture == NULL)
        return MW_OK;
    const size_t each = o->picture->count / (size_t)o->batch;
    const mw_shape shape = shape_of_column(r->options.dataset, r->options.picture);
    if (read_layout(shape, &l))
        return take_picture(r, s, o->picture, index * each, each, &l);
    return take_values(r, s, o->picture, index * each, each);
}

/* ---- counting ---- */

/* Probability of the largest, as softmax gives it; numbers that are probabilities already stay. */
static double sureness(const float *row, size_t classes, size_t best)
{
    double sum = 0.0, plain = 0.0;
    bool probabilities = true;
    for (size_t i = 0; i < classes; i++) {
        sum += exp((double)row[i] - (double)row[best]);
        plain += (double)row[i];
        probabilities = probabilities && row[i] >= 0.0F && row[i] <= 1.0F;
    }
    return probabilities && fabs(plain - 1.0) < 1e-2 ? (double)row[best] : 1.0 / sum;
}

/* Of two classes: the probability of the second, beside the label. */
static void keep_sureness(oracle *o, const mw__report_sample *seen)
{
    mw_report_numbers *sure = &o->r->sure;
    if (o->sure_room == sure->count)
        return;
    const double p = seen->seen == 1 ? seen->sure : 1.0 - seen->sure;
    o->sure_predicted[sure->count] = (float)(p < 0.0 ? 0.0 : p > 1.0 ? 1.0 : p);
    o->sure_truth[sure->count++] = (float)seen->label;
}

static mw_status count_example(oracle *o, size_t index)
{
    mw__report *r = o->r;
    const float *row = o->out + index * o->row;
    const size_t labels = o->label->count / (size_t)o->batch;
    const double label = element(o->label, index * labels);
    size_t best = 0;
    for (size_t i = 1; i < o->classes; i++)
        best = row[i] > row[best] ? i : best;
    if (!(label >= 0.0) || label >= (double)o->classes)
        return mw__fail(r->err, MW_ERROR_ARGUMENT, "report: example %lld has label %g; 0 to %zu are classes",
                        (long long)(o->done + (int64_t)index), label, o->classes - 1);
    r->classes.cells[(size_t)label * o->classes + best]++;
    const mw__report_sample seen = {.example = o->done + (int64_t)index,
                                    .label = (int64_t)label,
                                    .seen = (int64_t)best,
                                    .sure = sureness(row, o->classes, best)};
    keep_sureness(o, &seen);
    return take_sample(o, index, &seen);
}

static mw_status go_through(oracle *o)
{
    const mw_batch *batch;
    while ((batch = mw_loader_next(o->loader, o->r->err)) != NULL) {
        MW_TRY(predict(o, batch));
        for (int64_t i = 0; i < batch->examples; i++)
            MW_TRY(count_example(o, (size_t)i));
        o->done += batch->examples;
    }
    return mw__failed(o->r->err) ? o->r->err->status : MW_OK;
}

/* ---- all ---- */

static const char *class_name(mw__report *r, size_t index)
{
    char number[32];
    const mw_report_options *o = &r->options;
    const char *name = o->class_names != NULL && index < o->class_count ? o->class_names[index] : NULL;
    const mw_classes own = mw_dataset_classes(o->dataset, o->label);
    if (name == NULL && index < own.count)
        name = own.names[index];
    if (name != NULL)
        return mw__arena_string(r->arena, name, strlen(name), r->err);
    const int length = snprintf(number, sizeof number, "%zu", index);
    return mw__arena_string(r->arena, number, (size_t)length, r->err);
}

static mw_status make_classes(mw__report *r, size_t count)
{
    r->classes.count = count;
    r->classes.cells = mw__arena_alloc(r->arena, count * count, sizeof *r->classes.cells, r->err);
    r->classes.names = mw__arena_alloc(r->arena, count, sizeof *r->classes.names, r->err);
    for (size_t i = 0; i < count && r->classes.names != NULL; i++)
        if ((r->classes.names[i] = class_name(r, i)) == NULL)
            return MW_ERROR_MEMORY;
    return r->classes.cells != NULL && r->classes.names != NULL ? MW_OK : MW_ERROR_MEMORY;
}

static mw_status take_counts(mw__report *r)
{
    const mw_report_options *o = &r->options;
    MW_TRY(make_classes(r, o->class_count));
    for (size_t i = 0; i < o->class_count * o->class_count; i++) {
        if (o->confusion[i] < 0)
            return mw__fail(r->err, MW_ERROR_ARGUMENT, "report: count %zu of the confusion is %lld", i,
                            (long long)o->confusion[i]);
        r->classes.cells[i] = o->confusion[i];
    }
    return MW_OK;
}

/* Without room for all, as without two classes, there are no curves of them. */
static mw_status make_sureness(oracle *o)
{
    enum { ROOM_MAX = 1 << 24 };
    mw__report *r = o->r;
    const int64_t examples = mw_dataset_examples(r->options.dataset);
    if (o->classes != 2 || examples < 1 || examples > ROOM_MAX)
        return MW_OK;
    o->sure_room = (size_t)examples;
    o->sure_predicted = mw__arena_alloc(r->arena, o->sure_room, sizeof(float), r->err);
    o->sure_truth = mw__arena_alloc(r->arena, o->sure_room, sizeof(float), r->err);
    r->sure = (mw_report_numbers){
        .name = r->classes.names[1], .is_probability = true, .predicted = o->sure_predicted, .truth = o->sure_truth};
    return o->sure_predicted != NULL && o->sure_truth != NULL ? MW_OK : MW_ERROR_MEMORY;
}

static mw_status predict_all(mw__report *r, oracle *o)
{
    const size_t room = (size_t)r->options.samples;
    MW_TRY(open_oracle(o));
    MW_TRY(make_classes(r, o->classes));
    MW_TRY(make_sureness(o));
    r->samples.room = room;
    r->samples.right = mw__arena_alloc(r->arena, room + 1, sizeof *r->samples.right, r->err);
    r->samples.wrong = mw__arena_alloc(r->arena, room + 1, sizeof *r->samples.wrong, r->err);
    if (r->samples.right == NULL || r->samples.wrong == NULL)
        return MW_ERROR_MEMORY;
    return go_through(o);
}

mw_status mw__page_predict(mw__report *r)
{
    const mw_report_options *options = &r->options;
    const bool predicts = options->dataset != NULL && (options->model != NULL || options->trainer != NULL);
    oracle o = {.r = r};
    mw_status status = MW_OK;
    if (predicts)
        status = predict_all(r, &o);
    mw_loader_destroy(o.loader);
    mw_predictor_destroy(o.predictor);
    return status == MW_OK && options->confusion != NULL ? take_counts(r) : status;
}
