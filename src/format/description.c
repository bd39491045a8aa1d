/* Descriptions, whichever format they are from. */
#include "base/number/number.h"
#include "base/text/error.h"
#include "base/text/printable.h"
#include "base/text/text.h"
#include <inttypes.h>
#include <millwright/description.h>
#include <string.h>

mw_description mw_description_defaults(void)
{
    return (mw_description){
        .struct_size = sizeof(mw_description), .text = "", .version = "", .author = "", .license = ""};
}

static const mw_feature *find_among(const mw_feature *features, size_t count, const char *name)
{
    for (size_t i = 0; features != NULL && i < count; i++)
        if (features[i].name != NULL && strcmp(features[i].name, name) == 0)
            return &features[i];
    return NULL;
}

const mw_feature *mw_description_find(const mw_function_description *function, const char *name)
{
    if (function == NULL || name == NULL)
        return NULL;
    const mw_feature *found = find_among(function->inputs, function->input_count, name);
    found = found != NULL ? found : find_among(function->outputs, function->output_count, name);
    return found != NULL ? found : find_among(function->states, function->state_count, name);
}

/* ---- printing ---- */

enum { LONGEST = 400 };

static void print_dim(mw__text *text, int64_t low, int64_t high)
{
    if (high == MW_DIM_UNKNOWN)
        mw__text_printf(text, "%" PRId64 "..", low);
    else if (low != high)
        mw__text_printf(text, "%" PRId64 "..%" PRId64, low, high);
    else
        mw__text_printf(text, "%" PRId64, low);
}

static void print_shape(mw__text *text, const mw_shape *low, const mw_shape *high)
{
    mw__text_puts(text, " [");
    for (int i = 0; i < low->rank; i++) {
        mw__text_puts(text, i > 0 ? ", " : "");
        print_dim(text, low->dim[i], high->dim[i]);
    }
    mw__text_puts(text, "]");
}

static void print_shapes(mw__text *text, const mw_feature *feature)
{
    if (feature->admits == MW_ADMITS_RANGES)
        print_shape(text, &feature->low, &feature->high);
    else if (feature->has_shape)
        print_shape(text, &feature->shape, &feature->shape);
    for (size_t i = 0; i < feature->shape_count; i++) {
        mw__text_puts(text, i > 0 ? " or" : ", one of");
        print_shape(text, &feature->shapes[i], &feature->shapes[i]);
    }
}

static const char *kind_name(const mw_feature *feature)
{
    static const char *const layouts[] = {"image", "gray image", "RGB image", "BGR image", "gray fp16 image"};
    switch (feature->kind) {
    case MW_FEATURE_TENSOR:
        return mw_dtype_name(feature->dtype);
    case MW_FEATURE_IMAGE:
        return layouts[feature->layout <= MW_IMAGE_GRAY_F16 ? feature->layout : 0];
    case MW_FEATURE_INTEGER:
        return "integer";
    case MW_FEATURE_NUMBER:
        return "number";
    case MW_FEATURE_STRING:
        return "string";
    case MW_FEATURE_DICTIONARY:
        return feature->dtype == MW_STRING ? "dictionary by string" : "dictionary by integer";
    case MW_FEATURE_SEQUENCE:
        return feature->dtype == MW_STRING ? "sequence of strings" : "sequence of integers";
    default:
        return "?";
    }
}

static void print_feature(mw__text *text, const char *what, const mw_feature *feature)
{
    char number[MW__NUMBER_MAX];
    mw__text_printf(text, "    %s ", what);
    mw__text_show(text, feature->name != NULL ? feature->name : "", MW__PRINTABLE_NAME);
    mw__text_printf(text, ": %s", kind_name(feature));
    print_shapes(text, feature);
    mw__text_puts(text, feature->optional ? ", optional" : "");
    if (feature->has_value) {
        mw__number_print_float(number, (float)feature->value);
        mw__text_printf(text, ", else %s", number);
    }
    if (feature->text != NULL && feature->text[0] != '\0') {
        mw__text_puts(text, "  ");
        mw__text_show(text, feature->text, LONGEST);
    }
    mw__text_puts(text, "\n");
}

static void print_features(mw__text *text, const char *what, const mw_feature *features, size_t count)
{
    for (size_t i = 0; features != NULL && i < count; i++)
        print_feature(text, what, &features[i]);
}

static void print_line(mw__text *text, const char *what, const char *value)
{
    if (what == NULL || value == NULL || value[0] == '\0')
        return;
    mw__text_show(text, what, MW__PRINTABLE_NAME);
    mw__text_puts(text, ": ");
    mw__text_show(text, value, LONGEST);
    mw__text_puts(text, "\n");
}

static void print_function(mw__text *text, const mw_function_description *function, bool standard)
{
    mw__text_puts(text, "function ");
    mw__text_show(text, function->name != NULL ? function->name : "", MW__PRINTABLE_NAME);
    mw__text_puts(text, standard ? " (the default)\n" : "\n");
    print_features(text, "input", function->inputs, function->input_count);
    print_features(text, "state", function->states, function->state_count);
    print_features(text, "output", function->outputs, function->output_count);
    print_line(text, "    predicted label", function->label);
    print_line(text, "    probabilities", function->probabilities);
}

char *mw_description_print(const mw_description *description, mw_error *err)
{
    mw__text text;
    if (mw__skips(err))
        return NULL;
    if (description == NULL || description->struct_size != sizeof *description) {
        mw__fail(err, MW_ERROR_ARGUMENT, "the description is NULL or was not made by mw_description_defaults");
        return NULL;
    }
    mw__text_init(&text, mw__allocator_default()); /* mw_string_free knows no other */
    print_line(&text, "description", description->text);
    print_line(&text, "version", description->version);
    print_line(&text, "author", description->author);
    print_line(&text, "license", description->license);
    for (size_t i = 0; description->pairs != NULL && i < description->pair_count; i++)
        print_line(&text, description->pairs[i].key, description->pairs[i].value);
    for (size_t i = 0; description->functions != NULL && i < description->function_count; i++)
        print_function(&text, &description->functions[i],
                       i == description->standard && description->function_count > 1);
    if (text.data == NULL)
        mw__text_puts(&text, "");
    if (mw__text_check(&text, err) == MW_OK && text.data != NULL)
        return text.data;
    mw__text_deinit(&text);
    return NULL;
}
