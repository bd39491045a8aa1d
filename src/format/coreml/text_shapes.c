/* FlexibleShapeInformation: the one thing in Apple's texts that comes from the description of a model and not from its
 * program. */
#include "base/memory/checked.h"
#include "format/coreml/text.h"
#include <inttypes.h>
#include <string.h>

/* An input of the function that has `?`, with what the description says of it; images are [1, C, H, W]. */
typedef struct flexible {
    const char *name;
    const pb_array *array;
    const pb_image *image;
} flexible;

static bool has_unknown(const pb_type *type)
{
    if (type == NULL || type->type_case != MW__COREML__VALUE_TYPE__TYPE_TENSOR)
        return false;
    for (size_t i = 0; i < type->tensor->n_dimensions; i++)
        if (type->tensor->dimensions[i]->dimension_case == MW__COREML__DIMENSION__DIMENSION_UNKNOWN)
            return true;
    return false;
}

static const pb_feature *find_feature(pb_feature *const *features, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(features[i]->name, name) == 0)
            return features[i];
    return NULL;
}

/* False if nothing is to be said of the input. */
static bool look_at(const pb_named_type *input, pb_feature *const *features, size_t count, flexible *out)
{
    const pb_feature *feature = has_unknown(input->type) ? find_feature(features, count, input->name) : NULL;
    const pb_feature_type *type = feature != NULL ? feature->type : NULL;
    *out = (flexible){.name = input->name};
    if (type != NULL && type->type_case == MW__COREML__FEATURE_TYPE__TYPE_ARRAY)
        out->array = type->array;
    else if (type != NULL && type->type_case == MW__COREML__FEATURE_TYPE__TYPE_IMAGE)
        out->image = type->image;
    const bool array =
        out->array != NULL && out->array->flexibility_case != MW__COREML__ARRAY_TYPE__FLEXIBILITY__NOT_SET;
    const bool image =
        out->image != NULL && out->image->flexibility_case != MW__COREML__IMAGE_TYPE__FLEXIBILITY__NOT_SET;
    return array || image;
}

/* ---- one input ---- */

static int channels(const pb_image *image)
{
    const mw_image_layout layout = mw__coreml_layout(image->color_space);
    return layout == MW_IMAGE_RGB || layout == MW_IMAGE_BGR ? 3 : 1;
}

static void print_shape(mw__text *out, const int64_t *shape, size_t count)
{
    mw__text_puts(out, "[");
    for (size_t i = 0; i < count; i++)
        mw__text_printf(out, "%s%" PRId64, i > 0 ? ", " : "", shape[i]);
    mw__text_puts(out, "]");
}

static void print_size(mw__text *out, const pb_image *image, int64_t height, int64_t width)
{
    print_shape(out, (const int64_t[]){1, channels(image), height, width}, 4);
}

/* The shape that is said, or the first that is admitted. */
static void print_standard(mw__text *out, const flexible *input)
{
    const pb_array *array = input->array;
    const pb_image *image = input->image;
    if (image != NULL) {
        print_size(out, image, image->height, image->width);
    } else if (array->n_shape == 0 && array->flexibility_case == MW__COREML__ARRAY_TYPE__FLEXIBILITY_SHAPES &&
               array->shapes->n_shapes > 0) {
        print_shape(out, array->shapes->shapes[0]->shape, array->shapes->shapes[0]->n_shape);
    } else {
        print_shape(out, array->shape, array->n_shape);
    }
}

static void print_range(mw__text *out, const pb_size_range *range)
{
    mw__text_printf(out, "[%" PRIu64 ", %" PRId64 "]", range != NULL ? range->lower : 0,
                    range != NULL ? range->upper : -1);
}

static bool has_range(const flexible *input)
{
    return input->array != NULL ? input->array->flexibility_case == MW__COREML__ARRAY_TYPE__FLEXIBILITY_RANGE
                                : input->image->flexibility_case == MW__COREML__IMAGE_TYPE__FLEXIBILITY_RANGE;
}

static void print_ranges(mw__text *out, const flexible *input)
{
    mw__text_puts(out, "[");
    if (input->image != NULL) {
        mw__text_printf(out, "[1, 1], [%d, %d], ", channels(input->image), channels(input->image));
        print_range(out, input->image->range->height);
        mw__text_puts(out, ", ");
        print_range(out, input->image->range->width);
    }
    for (size_t i = 0; input->array != NULL && i < input->array->range->n_ranges; i++) {
        mw__text_puts(out, i > 0 ? ", " : "");
        print_range(out, input->array->range->ranges[i]);
    }
    mw__text_puts(out, "]");
}

static size_t listed_count(const flexible *input)
{
    if (has_range(input))
        return 0;
    return input->array != NULL ? input->array->shapes->n_shapes : input->image->sizes->n_sizes;
}

static void print_listed(mw__text *out, const flexible *input, size_t index)
{
    if (input->array != NULL)
        print_shape(out, input->array->shapes->shapes[index]->shape, input->array->shapes->shapes[index]->n_shape);
    else
        print_size(out, input->image, (int64_t)input->image->sizes->sizes[index]->height,
                   (int64_t)input->image->sizes->sizes[index]->width);
}

/* ---- the attribute ---- */

typedef struct flexibility {
    const flexible *inputs;
    size_t count;
    size_t ranges, listed; /* inputs with ranges; the longest list */
    const char *string;    /* the type, in the style of the program */
} flexibility;

static void print_types(mw__text *out, const flexibility *all)
{
    const char *string = all->string;
    mw__text_printf(out, "tuple<tuple<%s, dict<%s, tensor<int32, [?]>>>", string, string);
    if (all->ranges > 0)
        mw__text_printf(out, ", tuple<%s, dict<%s, list<tensor<int32, [2]>, ?>>>", string, string);
    if (all->listed > 0)
        mw__text_printf(out, ", tuple<%s, dict<%s, dict<%s, tensor<int32, [?]>>>>", string, string, string);
    mw__text_puts(out, ">");
}

static void print_input(mw__text *out, const flexible *input, const char *before)
{
    mw__text_puts(out, before);
    mw__text_puts(out, "{");
    mw__coreml_print_quoted(out, input->name);
    mw__text_puts(out, ", ");
}

static void print_standards(mw__text *out, const flexibility *all)
{
    mw__text_puts(out, "(\"DefaultShapes\", {");
    for (size_t i = 0; i < all->count; i++) {
        print_input(out, &all->inputs[i], i > 0 ? ", " : "");
        print_standard(out, &all->inputs[i]);
        mw__text_puts(out, "}");
    }
    mw__text_puts(out, "})");
}

static void print_all_ranges(mw__text *out, const flexibility *all)
{
    const char *before = "";
    mw__text_puts(out, ", (\"RangeDims\", {");
    for (size_t i = 0; i < all->count; i++) {
        if (!has_range(&all->inputs[i]))
            continue;
        print_input(out, &all->inputs[i], before);
        print_ranges(out, &all->inputs[i]);
        mw__text_puts(out, "}");
        before = ", ";
    }
    mw__text_puts(out, "})");
}

/* Shapes of one index belong together. Their keys are words without a meaning; here the index. */
static void print_all_listed(mw__text *out, const flexibility *all)
{
    mw__text_puts(out, ", (\"EnumeratedShapes\", {");
    for (size_t k = 0; k < all->listed; k++) {
        const char *before = "";
        mw__text_printf(out, "%s{\"%08zx\", {", k > 0 ? ", " : "", k);
        for (size_t i = 0; i < all->count; i++) {
            if (k >= listed_count(&all->inputs[i]))
                continue;
            print_input(out, &all->inputs[i], before);
            print_listed(out, &all->inputs[i], k);
            mw__text_puts(out, "}");
            before = ", ";
        }
        mw__text_puts(out, "}}");
    }
    mw__text_puts(out, "})");
}

static void print_information(mw__text *out, const flexibility *all)
{
    mw__text_puts(out, " [FlexibleShapeInformation = ");
    print_types(out, all);
    mw__text_puts(out, "((");
    print_standards(out, all);
    if (all->ranges > 0)
        print_all_ranges(out, all);
    if (all->listed > 0)
        print_all_listed(out, all);
    mw__text_puts(out, "))]");
}

mw_status mw__coreml_print_shapes(mw__coreml_printer *printer, const pb_function *function, pb_feature *const *inputs,
                                  size_t input_count)
{
    flexible *found = mw__alloc(printer->allocator, function->n_inputs, sizeof *found, printer->err);
    flexibility all = {.inputs = found, .string = printer->old ? "tensor<string, []>" : "string"};
    if (found == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < function->n_inputs; i++) {
        flexible *input = &found[all.count];
        if (!look_at(function->inputs[i], inputs, input_count, input))
            continue;
        all.count++;
        all.ranges += has_range(input);
        const size_t listed = listed_count(input);
        all.listed = listed > all.listed ? listed : all.listed;
    }
    if (all.count > 0)
        print_information(printer->out, &all);
    mw__free(printer->allocator, found);
    return MW_OK;
}
