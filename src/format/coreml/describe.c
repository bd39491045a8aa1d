/* Reads descriptions: features, functions, metadata. Knows nothing of the program. */
#include "format/coreml/describe.h"
#include <string.h>

/* Where things are copied to, and what is described, for messages. */
typedef struct describer {
    mw__arena *arena;
    const char *feature;
    mw_error *err;
} describer;

static mw_status malformed_description(const describer *d, const char *what)
{
    mw__fail(d->err, MW_ERROR_FORMAT, "feature \"%.96s\" of the model: %s", d->feature, what);
    mw__error_subject(d->err, NULL, d->feature);
    return MW_ERROR_FORMAT;
}

static mw_status copy_string(const describer *d, const char *from, const char **out)
{
    *out = from[0] == '\0' ? "" : mw__arena_string(d->arena, from, strlen(from), d->err);
    return *out != NULL ? MW_OK : MW_ERROR_MEMORY;
}

/* ---- shapes ---- */

static mw_status take_shape(const describer *d, const int64_t *dims, size_t count, mw_shape *out)
{
    if (count > MW_RANK_MAX)
        return malformed_description(d, "its shape has more axes than a tensor may have");
    out->rank = (int)count;
    for (size_t i = 0; i < count; i++) {
        if (dims[i] < 0)
            return malformed_description(d, "its shape has a negative extent");
        out->dim[i] = dims[i];
    }
    return MW_OK;
}

/* One axis of a range; a missing message is 0 to no bound, as its numbers are 0 where they are not said. */
static mw_status take_range(const describer *d, const pb_size_range *range, int axis, mw_feature *out)
{
    const uint64_t low = range != NULL ? range->lower : 0;
    const int64_t high = range != NULL ? range->upper : 0;
    if (low > INT64_MAX || (high >= 0 && (uint64_t)high < low))
        return malformed_description(d, "a range of its shape is empty");
    out->low.dim[axis] = (int64_t)low;
    out->high.dim[axis] = high < 0 ? MW_DIM_UNKNOWN : high;
    return MW_OK;
}

/* Where no shape is said, the first one of those that are admitted stands for it. */
static void take_standard(mw_feature *out, mw_shape first)
{
    out->shape = out->has_shape ? out->shape : first;
    out->has_shape = true;
}

static mw_status take_ranges(const describer *d, pb_size_range *const *ranges, size_t count, mw_feature *out)
{
    if (count > MW_RANK_MAX)
        return malformed_description(d, "its ranges have more axes than a tensor may have");
    if (out->has_shape && (size_t)out->shape.rank != count)
        return malformed_description(d, "its ranges and its shape have another number of axes");
    out->admits = MW_ADMITS_RANGES;
    out->low.rank = out->high.rank = (int)count;
    for (size_t i = 0; i < count; i++)
        MW_TRY(take_range(d, ranges[i], (int)i, out));
    take_standard(out, out->low);
    return MW_OK;
}

static mw_status take_listed(const describer *d, const mw_shape *shapes, size_t count, mw_feature *out)
{
    if (count == 0)
        return malformed_description(d, "the list of its shapes is empty");
    out->admits = MW_ADMITS_LISTED;
    out->shapes = shapes;
    out->shape_count = count;
    take_standard(out, shapes[0]);
    return MW_OK;
}

/* ---- kinds of features ---- */

static mw_status take_array_shapes(const describer *d, const Mw__Coreml__ArrayShapes *from, mw_feature *out)
{
    mw_shape *shapes = mw__arena_alloc(d->arena, from->n_shapes, sizeof *shapes, d->err);
    if (shapes == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < from->n_shapes; i++)
        MW_TRY(take_shape(d, from->shapes[i]->shape, from->shapes[i]->n_shape, &shapes[i]));
    return take_listed(d, shapes, from->n_shapes, out);
}

static void take_default(const pb_array *from, mw_feature *out)
{
    out->has_value = from->default_value_case != MW__COREML__ARRAY_TYPE__DEFAULT_VALUE__NOT_SET;
    if (from->default_value_case == MW__COREML__ARRAY_TYPE__DEFAULT_VALUE_INT_DEFAULT)
        out->value = from->int_default;
    else if (from->default_value_case == MW__COREML__ARRAY_TYPE__DEFAULT_VALUE_FLOAT_DEFAULT)
        out->value = (double)from->float_default;
    else if (out->has_value)
        out->value = from->double_default;
}

static mw_status take_array(const describer *d, const pb_array *from, mw_feature *out)
{
    out->kind = MW_FEATURE_TENSOR;
    out->dtype = mw__coreml_array_dtype(from->data_type);
    if (out->dtype == MW_DTYPE_NONE)
        return malformed_description(d, "its element type is unknown");
    out->has_shape = from->n_shape > 0;
    MW_TRY(take_shape(d, from->shape, from->n_shape, &out->shape));
    take_default(from, out);
    if (from->flexibility_case == MW__COREML__ARRAY_TYPE__FLEXIBILITY_SHAPES)
        return take_array_shapes(d, from->shapes, out);
    if (from->flexibility_case == MW__COREML__ARRAY_TYPE__FLEXIBILITY_RANGE)
        return take_ranges(d, from->range->ranges, from->range->n_ranges, out);
    return MW_OK;
}

static mw_status take_size(const describer *d, uint64_t width, uint64_t height, mw_shape *out)
{
    if (width > INT64_MAX || height > INT64_MAX)
        return malformed_description(d, "its image has a negative extent");
    *out = (mw_shape){.rank = 2, .dim = {(int64_t)height, (int64_t)width}};
    return MW_OK;
}

static mw_status take_image_sizes(const describer *d, const Mw__Coreml__ImageSizes *from, mw_feature *out)
{
    mw_shape *shapes = mw__arena_alloc(d->arena, from->n_sizes, sizeof *shapes, d->err);
    if (shapes == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < from->n_sizes; i++)
        MW_TRY(take_size(d, from->sizes[i]->width, from->sizes[i]->height, &shapes[i]));
    return take_listed(d, shapes, from->n_sizes, out);
}

static mw_status take_image(const describer *d, const pb_image *from, mw_feature *out)
{
    out->kind = MW_FEATURE_IMAGE;
    out->layout = mw__coreml_layout(from->color_space);
    if (out->layout == MW_IMAGE_NONE)
        return malformed_description(d, "its color space is unknown");
    out->has_shape = from->width != 0 || from->height != 0;
    MW_TRY(take_size(d, (uint64_t)from->width, (uint64_t)from->height, &out->shape));
    if (from->flexibility_case == MW__COREML__IMAGE_TYPE__FLEXIBILITY_SIZES)
        return take_image_sizes(d, from->sizes, out);
    if (from->flexibility_case == MW__COREML__IMAGE_TYPE__FLEXIBILITY_RANGE)
        return take_ranges(d, (pb_size_range *const[]){from->range->height, from->range->width}, 2, out);
    return MW_OK;
}

static mw_status take_sequence(const describer *d, const Mw__Coreml__SequenceType *from, mw_feature *out)
{
    out->kind = MW_FEATURE_SEQUENCE;
    out->dtype = from->type_case == MW__COREML__SEQUENCE_TYPE__TYPE_STRING_TYPE ? MW_STRING : MW_I64;
    return from->range != NULL ? take_ranges(d, &from->range, 1, out) : MW_OK;
}

static mw_status take_type(const describer *d, const pb_feature_type *type, mw_feature *out)
{
    switch (type->type_case) {
    case MW__COREML__FEATURE_TYPE__TYPE_INT64_TYPE:
        out->kind = MW_FEATURE_INTEGER;
        return MW_OK;
    case MW__COREML__FEATURE_TYPE__TYPE_DOUBLE_TYPE:
        out->kind = MW_FEATURE_NUMBER;
        return MW_OK;
    case MW__COREML__FEATURE_TYPE__TYPE_STRING_TYPE:
        out->kind = MW_FEATURE_STRING;
        return MW_OK;
    case MW__COREML__FEATURE_TYPE__TYPE_IMAGE:
        return take_image(d, type->image, out);
    case MW__COREML__FEATURE_TYPE__TYPE_ARRAY:
        return take_array(d, type->array, out);
    case MW__COREML__FEATURE_TYPE__TYPE_DICTIONARY:
        out->kind = MW_FEATURE_DICTIONARY;
        out->dtype = type->dictionary->key_case == MW__COREML__DICTIONARY_TYPE__KEY_INT64_KEY ? MW_I64 : MW_STRING;
        return MW_OK;
    case MW__COREML__FEATURE_TYPE__TYPE_SEQUENCE:
        return take_sequence(d, type->sequence, out);
    case MW__COREML__FEATURE_TYPE__TYPE_STATE:
        if (type->state->array != NULL)
            return take_array(d, type->state->array, out);
        return malformed_description(d, "is a state of no type");
    default:
        return malformed_description(d, "has no type");
    }
}

static mw_status take_features(describer *d, pb_feature *const *from, size_t count, const mw_feature **out,
                               size_t *out_count)
{
    mw_feature *features = mw__arena_alloc(d->arena, count, sizeof *features, d->err);
    if (features == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < count; i++) {
        d->feature = from[i]->name;
        MW_TRY(copy_string(d, from[i]->name, &features[i].name));
        MW_TRY(copy_string(d, from[i]->description, &features[i].text));
        if (from[i]->type == NULL)
            return malformed_description(d, "has no type");
        features[i].optional = from[i]->type->optional != 0;
        MW_TRY(take_type(d, from[i]->type, &features[i]));
    }
    *out = features;
    *out_count = count;
    return MW_OK;
}

/* ---- functions and metadata ---- */

/* A model of one function says of itself what others say of each function. */
static mw_status take_only_function(describer *d, const pb_description *from, mw_function_description *out)
{
    out->name = "main";
    MW_TRY(take_features(d, from->input, from->n_input, &out->inputs, &out->input_count));
    MW_TRY(take_features(d, from->output, from->n_output, &out->outputs, &out->output_count));
    MW_TRY(take_features(d, from->state, from->n_state, &out->states, &out->state_count));
    MW_TRY(copy_string(d, from->predicted, &out->label));
    return copy_string(d, from->probabilities, &out->probabilities);
}

static mw_status take_function(describer *d, const pb_function_description *from, mw_function_description *out)
{
    MW_TRY(copy_string(d, from->name, &out->name));
    MW_TRY(take_features(d, from->input, from->n_input, &out->inputs, &out->input_count));
    MW_TRY(take_features(d, from->output, from->n_output, &out->outputs, &out->output_count));
    MW_TRY(take_features(d, from->state, from->n_state, &out->states, &out->state_count));
    MW_TRY(copy_string(d, from->predicted, &out->label));
    return copy_string(d, from->probabilities, &out->probabilities);
}

static mw_status find_standard(const describer *d, const pb_description *from, mw_description *out)
{
    for (size_t i = 0; i < out->function_count; i++)
        if (strcmp(out->functions[i].name, from->default_function) == 0) {
            out->standard = i;
            return MW_OK;
        }
    return from->default_function[0] == '\0'
               ? MW_OK
               : mw__fail(d->err, MW_ERROR_FORMAT,
                          "the model describes no function \"%.96s\", which is to be its default",
                          from->default_function);
}

static mw_status take_functions(describer *d, const pb_description *from, mw_description *out)
{
    const size_t count = from->n_functions > 0 ? from->n_functions : 1;
    mw_function_description *functions = mw__arena_alloc(d->arena, count, sizeof *functions, d->err);
    if (functions == NULL)
        return MW_ERROR_MEMORY;
    out->functions = functions;
    out->function_count = count;
    if (from->n_functions == 0)
        return take_only_function(d, from, functions);
    for (size_t i = 0; i < count; i++)
        MW_TRY(take_function(d, from->functions[i], &functions[i]));
    return find_standard(d, from, out);
}

static mw_status take_metadata(const describer *d, const pb_metadata *from, mw_description *out)
{
    mw_text_pair *pairs = mw__arena_alloc(d->arena, from->n_user, sizeof *pairs, d->err);
    if (pairs == NULL)
        return MW_ERROR_MEMORY;
    MW_TRY(copy_string(d, from->description, &out->text));
    MW_TRY(copy_string(d, from->version, &out->version));
    MW_TRY(copy_string(d, from->author, &out->author));
    MW_TRY(copy_string(d, from->license, &out->license));
    for (size_t i = 0; i < from->n_user; i++) {
        MW_TRY(copy_string(d, from->user[i]->key, &pairs[i].key));
        MW_TRY(copy_string(d, from->user[i]->value, &pairs[i].value));
    }
    out->pairs = pairs;
    out->pair_count = from->n_user;
    return MW_OK;
}

mw_status mw__coreml_describe(mw__arena *arena, const pb_description *from, mw_description *out, mw_error *err)
{
    describer d = {.arena = arena, .feature = "", .err = err};
    *out = mw_description_defaults();
    if (from == NULL)
        return MW_OK;
    MW_TRY(take_functions(&d, from, out));
    return from->metadata != NULL ? take_metadata(&d, from->metadata, out) : MW_OK;
}
