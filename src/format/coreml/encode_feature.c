/* Descriptions as messages: what is given, held against the ports of the program, and for the rest the ports. */
#include "format/coreml/encode.h"
#include "graph/ir/build_info.h"
#include "graph/ir/classify.h"
#include <string.h>

static mw_status misfit(const mw__encoder *e, const char *name, const char *what)
{
    mw__fail(e->err, MW_ERROR_ARGUMENT, "the description of \"%.96s\" does not fit the program: %s", name, what);
    mw__error_subject(e->err, NULL, name);
    return MW_ERROR_ARGUMENT;
}

/* ---- kinds of features ---- */

static pb_size_range *encode_range(mw__encoder *e, int64_t low, int64_t high)
{
    pb_size_range *out = MW__MAKE(e, pb_size_range);
    if (out == NULL)
        return NULL;
    mw__coreml__size_range__init(out);
    out->lower = (uint64_t)low;
    out->upper = high == MW_DIM_UNKNOWN ? -1 : high;
    return out;
}

static bool fill_shape(mw__encoder *e, mw_shape shape, int64_t **out, size_t *out_count)
{
    *out = mw__coreml_encode_alloc(e, (size_t)shape.rank, sizeof **out);
    for (int i = 0; *out != NULL && i < shape.rank; i++)
        (*out)[i] = shape.dim[i];
    *out_count = (size_t)shape.rank;
    return *out != NULL;
}

static bool fill_array_range(mw__encoder *e, const mw_feature *feature, pb_array *out)
{
    Mw__Coreml__ArrayRange *range = MW__MAKE(e, Mw__Coreml__ArrayRange);
    if (range == NULL)
        return false;
    mw__coreml__array_range__init(range);
    range->ranges = mw__coreml_encode_alloc(e, (size_t)feature->low.rank, sizeof *range->ranges);
    for (int i = 0; range->ranges != NULL && i < feature->low.rank; i++) {
        range->ranges[i] = encode_range(e, feature->low.dim[i], feature->high.dim[i]);
        if (range->ranges[i] == NULL)
            return false;
        range->n_ranges++;
    }
    out->flexibility_case = MW__COREML__ARRAY_TYPE__FLEXIBILITY_RANGE;
    out->range = range;
    return range->ranges != NULL;
}

static bool fill_array_list(mw__encoder *e, const mw_feature *feature, pb_array *out)
{
    Mw__Coreml__ArrayShapes *list = MW__MAKE(e, Mw__Coreml__ArrayShapes);
    if (list == NULL)
        return false;
    mw__coreml__array_shapes__init(list);
    list->shapes = mw__coreml_encode_alloc(e, feature->shape_count, sizeof *list->shapes);
    for (size_t i = 0; list->shapes != NULL && i < feature->shape_count; i++) {
        Mw__Coreml__ArrayShape *shape = MW__MAKE(e, Mw__Coreml__ArrayShape);
        if (shape == NULL)
            return false;
        mw__coreml__array_shape__init(shape);
        if (!fill_shape(e, feature->shapes[i], &shape->shape, &shape->n_shape))
            return false;
        list->shapes[list->n_shapes++] = shape;
    }
    out->flexibility_case = MW__COREML__ARRAY_TYPE__FLEXIBILITY_SHAPES;
    out->shapes = list;
    return list->shapes != NULL;
}

static void fill_default(const mw_feature *feature, pb_array *out)
{
    if (!feature->has_value)
        return;
    if (feature->dtype == MW_I32 || feature->dtype == MW_I8) {
        out->default_value_case = MW__COREML__ARRAY_TYPE__DEFAULT_VALUE_INT_DEFAULT;
        out->int_default = (int32_t)feature->value;
    } else if (feature->dtype == MW_F64) {
        out->default_value_case = MW__COREML__ARRAY_TYPE__DEFAULT_VALUE_DOUBLE_DEFAULT;
        out->double_default = feature->value;
    } else {
        out->default_value_case = MW__COREML__ARRAY_TYPE__DEFAULT_VALUE_FLOAT_DEFAULT;
        out->float_default = (float)feature->value;
    }
}

static pb_array *encode_array(mw__encoder *e, const mw_feature *feature)
{
    pb_array *out = MW__MAKE(e, pb_array);
    if (out == NULL)
        return NULL;
    mw__coreml__array_type__init(out);
    out->data_type = mw__coreml_array_code(feature->dtype);
    fill_default(feature, out);
    if (feature->has_shape && !fill_shape(e, feature->shape, &out->shape, &out->n_shape))
        return NULL;
    if (feature->admits == MW_ADMITS_RANGES && !fill_array_range(e, feature, out))
        return NULL;
    if (feature->admits == MW_ADMITS_LISTED && !fill_array_list(e, feature, out))
        return NULL;
    return out;
}

static bool fill_image_list(mw__encoder *e, const mw_feature *feature, pb_image *out)
{
    Mw__Coreml__ImageSizes *list = MW__MAKE(e, Mw__Coreml__ImageSizes);
    if (list == NULL)
        return false;
    mw__coreml__image_sizes__init(list);
    list->sizes = mw__coreml_encode_alloc(e, feature->shape_count, sizeof *list->sizes);
    for (size_t i = 0; list->sizes != NULL && i < feature->shape_count; i++) {
        Mw__Coreml__ImageSize *size = MW__MAKE(e, Mw__Coreml__ImageSize);
        if (size == NULL)
            return false;
        mw__coreml__image_size__init(size);
        size->height = (uint64_t)feature->shapes[i].dim[0];
        size->width = (uint64_t)feature->shapes[i].dim[1];
        list->sizes[list->n_sizes++] = size;
    }
    out->flexibility_case = MW__COREML__IMAGE_TYPE__FLEXIBILITY_SIZES;
    out->sizes = list;
    return list->sizes != NULL;
}

static bool fill_image_range(mw__encoder *e, const mw_feature *feature, pb_image *out)
{
    Mw__Coreml__ImageSizeRange *range = MW__MAKE(e, Mw__Coreml__ImageSizeRange);
    if (range == NULL)
        return false;
    mw__coreml__image_size_range__init(range);
    range->height = encode_range(e, feature->low.dim[0], feature->high.dim[0]);
    range->width = encode_range(e, feature->low.dim[1], feature->high.dim[1]);
    out->flexibility_case = MW__COREML__IMAGE_TYPE__FLEXIBILITY_RANGE;
    out->range = range;
    return range->height != NULL && range->width != NULL;
}

static pb_image *encode_image(mw__encoder *e, const mw_feature *feature)
{
    pb_image *out = MW__MAKE(e, pb_image);
    if (out == NULL)
        return NULL;
    mw__coreml__image_type__init(out);
    out->color_space = mw__coreml_layout_code(feature->layout);
    out->height = feature->has_shape ? feature->shape.dim[0] : 0;
    out->width = feature->has_shape ? feature->shape.dim[1] : 0;
    if (feature->admits == MW_ADMITS_LISTED && !fill_image_list(e, feature, out))
        return NULL;
    if (feature->admits == MW_ADMITS_RANGES && !fill_image_range(e, feature, out))
        return NULL;
    return out;
}

static Mw__Coreml__DictionaryType *encode_dictionary(mw__encoder *e, const mw_feature *feature,
                                                     Mw__Coreml__Nothing *nothing)
{
    Mw__Coreml__DictionaryType *out = MW__MAKE(e, Mw__Coreml__DictionaryType);
    if (out == NULL)
        return NULL;
    mw__coreml__dictionary_type__init(out);
    out->key_case = feature->dtype == MW_I64 ? MW__COREML__DICTIONARY_TYPE__KEY_INT64_KEY
                                             : MW__COREML__DICTIONARY_TYPE__KEY_STRING_KEY;
    out->int64_key = nothing; /* a union with the other */
    return out;
}

static Mw__Coreml__StateType *encode_state(mw__encoder *e, const mw_feature *feature)
{
    Mw__Coreml__StateType *out = MW__MAKE(e, Mw__Coreml__StateType);
    if (out == NULL)
        return NULL;
    mw__coreml__state_type__init(out);
    out->array = encode_array(e, feature);
    return out->array != NULL ? out : NULL;
}

static bool fill_type(mw__encoder *e, const mw_feature *feature, bool state, pb_feature_type *out)
{
    Mw__Coreml__Nothing *nothing = MW__MAKE(e, Mw__Coreml__Nothing);
    if (nothing == NULL)
        return false;
    mw__coreml__nothing__init(nothing);
    out->optional = feature->optional;
    if (state) {
        out->type_case = MW__COREML__FEATURE_TYPE__TYPE_STATE;
        return (out->state = encode_state(e, feature)) != NULL;
    }
    switch (feature->kind) {
    case MW_FEATURE_TENSOR:
        out->type_case = MW__COREML__FEATURE_TYPE__TYPE_ARRAY;
        return (out->array = encode_array(e, feature)) != NULL;
    case MW_FEATURE_IMAGE:
        out->type_case = MW__COREML__FEATURE_TYPE__TYPE_IMAGE;
        return (out->image = encode_image(e, feature)) != NULL;
    case MW_FEATURE_INTEGER:
        out->type_case = MW__COREML__FEATURE_TYPE__TYPE_INT64_TYPE;
        return (out->int64_type = nothing) != NULL;
    case MW_FEATURE_NUMBER:
        out->type_case = MW__COREML__FEATURE_TYPE__TYPE_DOUBLE_TYPE;
        return (out->double_type = nothing) != NULL;
    case MW_FEATURE_STRING:
        out->type_case = MW__COREML__FEATURE_TYPE__TYPE_STRING_TYPE;
        return (out->string_type = nothing) != NULL;
    case MW_FEATURE_DICTIONARY:
        out->type_case = MW__COREML__FEATURE_TYPE__TYPE_DICTIONARY;
        return (out->dictionary = encode_dictionary(e, feature, nothing)) != NULL;
    default:
        misfit(e, feature->name, "a program has no such kind of port");
        return false;
    }
}

pb_feature *mw__coreml_encode_feature(mw__encoder *e, const mw_feature *feature, bool state)
{
    pb_feature *out = MW__MAKE(e, pb_feature);
    pb_feature_type *type = MW__MAKE(e, pb_feature_type);
    if (out == NULL || type == NULL)
        return NULL;
    mw__coreml__feature__init(out);
    mw__coreml__feature_type__init(type);
    out->name = mw__coreml_encode_string(e, feature->name);
    out->description = mw__coreml_encode_string(
        e, feature->text == NULL || mw__build_info_is_text(feature->name, feature->text) ? feature->text : "");
    out->type = type;
    return out->name != NULL && out->description != NULL && fill_type(e, feature, state, type) ? out : NULL;
}

/* ---- against the program ---- */

static bool fits_bounds(const mw_feature *feature, mw_shape declared)
{
    if (feature->low.rank != declared.rank || feature->high.rank != declared.rank)
        return false;
    for (int i = 0; i < declared.rank; i++) {
        const int64_t high = feature->high.dim[i];
        if (feature->low.dim[i] < 0 || (high != MW_DIM_UNKNOWN && high < feature->low.dim[i]))
            return false;
        if (declared.dim[i] != MW_DIM_UNKNOWN && (feature->low.dim[i] != declared.dim[i] || high != declared.dim[i]))
            return false;
    }
    return true;
}

static bool fits_shape(mw_shape shape, mw_shape declared)
{
    if (shape.rank != declared.rank)
        return false;
    for (int i = 0; i < shape.rank; i++)
        if (shape.dim[i] < 0 || (declared.dim[i] != MW_DIM_UNKNOWN && declared.dim[i] != shape.dim[i]))
            return false;
    return true;
}

/* The feature's shapes, those of an image as [H, W], against the declared ones. */
static mw_status check_shapes(const mw__encoder *e, const mw_feature *feature, mw_shape declared)
{
    if (feature->has_shape && !fits_shape(feature->shape, declared))
        return misfit(e, feature->name, "its shape is another one than the port's");
    if (feature->admits == MW_ADMITS_RANGES && !fits_bounds(feature, declared))
        return misfit(e, feature->name, "its ranges allow what the port does not have, or nothing");
    for (size_t i = 0; feature->admits == MW_ADMITS_LISTED && i < feature->shape_count; i++)
        if (!fits_shape(feature->shapes[i], declared))
            return misfit(e, feature->name, "a listed shape is none that the port can have");
    if (feature->admits == MW_ADMITS_LISTED && feature->shape_count == 0)
        return misfit(e, feature->name, "the list of its shapes is empty");
    return MW_OK;
}

static mw_status check_image(const mw__encoder *e, const mw_feature *feature, const mw_tensor *port)
{
    const mw_shape shape = port->type->shape;
    const int64_t channels = feature->layout == MW_IMAGE_RGB || feature->layout == MW_IMAGE_BGR ? 3 : 1;
    if (mw__coreml_layout_code(feature->layout) == 0)
        return misfit(e, feature->name, "an image needs a layout");
    if (shape.rank != 4 || shape.dim[0] != 1 || shape.dim[1] != channels)
        return misfit(e, feature->name, "the port of an image is [1, C, H, W] with the channels of its layout");
    if (!feature->has_shape && feature->admits != MW_ADMITS_RANGES && feature->admits != MW_ADMITS_LISTED)
        return misfit(e, feature->name, "an image needs a size");
    return check_shapes(e, feature, MW_SHAPE(shape.dim[2], shape.dim[3]));
}

static mw_status check_array(const mw__encoder *e, const mw_feature *feature, const mw__type *type)
{
    if (mw__coreml_array_code(feature->dtype) == 0)
        return misfit(e, feature->name, "an array cannot have that element type");
    if (feature->dtype != type->dtype && !(feature->dtype == MW_F64 && type->dtype == MW_F32))
        return misfit(e, feature->name, "its element type is another one than the port's");
    return check_shapes(e, feature, type->shape);
}

mw_status mw__coreml_fit_feature(const mw__encoder *e, const mw_feature *feature, const mw_tensor *port)
{
    const mw__type *type = port->type->kind == MW__STATE ? port->type->element[0] : port->type;
    switch (feature->kind) {
    case MW_FEATURE_TENSOR:
        if (type->kind == MW__TENSOR)
            return check_array(e, feature, type);
        break;
    case MW_FEATURE_IMAGE:
        if (port->type->kind == MW__TENSOR)
            return check_image(e, feature, port);
        break;
    case MW_FEATURE_STRING:
        if (mw__type_is_scalar(type, MW_STRING))
            return MW_OK;
        break;
    case MW_FEATURE_INTEGER:
        if (mw__type_is_scalar(type, MW_I64))
            return MW_OK;
        break;
    case MW_FEATURE_DICTIONARY:
        if (type->kind == MW__DICT && mw__type_is_scalar(type->element[0], feature->dtype))
            return MW_OK;
        break;
    default:
        break;
    }
    return misfit(e, feature->name, "it is of another kind than the port");
}

/* ---- from the program ---- */

/* Shapes that are to be chosen, as the attribute of the function says. */
static mw_status take_admitted(mw__encoder *e, const mw_graph *alone, const mw_tensor *port, mw_feature *out)
{
    mw_admitted_shapes admitted;
    MW_TRY(mw_graph_admitted_shapes(alone, port->name, &admitted, e->err));
    out->admits = admitted.kind;
    out->has_shape = admitted.has_standard;
    out->shape = admitted.standard;
    out->low = admitted.low;
    out->high = admitted.high;
    out->shape_count = admitted.kind == MW_ADMITS_LISTED ? admitted.count : 0;
    if (admitted.kind == MW_ADMITS_ANY)
        return misfit(e, port->name,
                      "the input has ?, and nothing says which extents it may have; describe its ranges");
    mw_shape *shapes = mw__coreml_encode_alloc(e, out->shape_count, sizeof *shapes);
    for (size_t i = 0; shapes != NULL && i < out->shape_count; i++)
        MW_TRY(mw_graph_listed_shape(alone, port->name, i, &shapes[i], e->err));
    out->shapes = shapes;
    return shapes != NULL ? MW_OK : MW_ERROR_MEMORY;
}

mw_status mw__coreml_feature_of(mw__encoder *e, const mw_graph *alone, const mw_tensor *port, bool is_input,
                                mw_feature *out)
{
    const mw__type *type = port->type->kind == MW__STATE ? port->type->element[0] : port->type;
    *out = (mw_feature){.name = port->name, .text = "", .kind = MW_FEATURE_TENSOR, .dtype = type->dtype};
    if (type->kind == MW__DICT) {
        out->kind = MW_FEATURE_DICTIONARY;
        out->dtype = type->element[0]->dtype;
    } else if (mw__type_is_scalar(type, MW_STRING)) {
        out->kind = MW_FEATURE_STRING;
    } else if (mw__type_is_scalar(type, MW_I64)) {
        out->kind = MW_FEATURE_INTEGER;
    } else if (mw_shape_count(type->shape) < 0) {
        return is_input ? take_admitted(e, alone, port, out) : MW_OK;
    } else {
        out->has_shape = true;
        out->shape = type->shape;
    }
    return MW_OK;
}
