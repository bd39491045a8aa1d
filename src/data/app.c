/* Programs for apps: pixels to the input, scores to labels. */
#include "base/number/float_mode.h"
#include "graph/ir/ir.h"
#include "graph/transform/clone/clone.h"

#include <math.h>
#include <millwright/app.h>
#include <millwright/function.h>
#include <millwright/ops/control.h>
#include <millwright/ops/elementwise.h>
#include <millwright/ops/normalize.h>
#include <millwright/ops/shape.h>
#include <string.h>

enum { EXTENT_MAX = 16384 };

mw_app_options mw_app_defaults(void)
{
    return (mw_app_options){
        .struct_size = sizeof(mw_app_options), .label = "classLabel", .probabilities = "classLabel_probs"};
}

static int64_t channels_of(const mw_app_image *image) { return image->layout == MW_IMAGE_GRAY ? 1 : 3; }

static const char *name_of(const mw_app_image *image) { return image->name != NULL ? image->name : image->input; }

mw_feature mw_app_image_feature(const mw_app_options *options)
{
    if (options == NULL || options->struct_size != sizeof *options || options->image.input == NULL)
        return (mw_feature){.name = "", .text = ""};
    const mw_app_image *image = &options->image;
    return (mw_feature){.name = name_of(image),
                        .text = "",
                        .kind = MW_FEATURE_IMAGE,
                        .layout = image->layout,
                        .has_shape = true,
                        .admits = MW_ADMITS_ONE,
                        .shape = MW_SHAPE(image->height, image->width)};
}

/* ---- what is refused ---- */

static mw_status check_image(const mw_app_image *image, mw_error *err)
{
    if (image->layout != MW_IMAGE_GRAY && image->layout != MW_IMAGE_RGB && image->layout != MW_IMAGE_BGR)
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "mw_graph_for_app: layout %d is none of MW_IMAGE_GRAY, MW_IMAGE_RGB and MW_IMAGE_BGR",
                        (int)image->layout);
    if (image->height < 1 || image->height > EXTENT_MAX || image->width < 1 || image->width > EXTENT_MAX)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_graph_for_app: an image of %lld x %lld; each is 1 to %d",
                        (long long)image->height, (long long)image->width, EXTENT_MAX);
    for (int64_t c = 0; c < channels_of(image); c++)
        if (!isfinite(image->scale[c]) || !isfinite(image->bias[c]) || image->scale[c] == 0.0f)
            return mw__fail(err, MW_ERROR_ARGUMENT,
                            "mw_graph_for_app: scale %g and bias %g of channel %d; both are finite, and the scale is "
                            "not 0",
                            (double)image->scale[c], (double)image->bias[c], (int)c);
    return MW_OK;
}

static mw_status check_options(const mw_app_options *o, mw_error *err)
{
    if (o == NULL || o->struct_size != sizeof *o)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_graph_for_app: options must come from mw_app_defaults");
    if (o->scores != NULL && (o->label == NULL || o->probabilities == NULL))
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_graph_for_app: label and probabilities have no names");
    if (o->scores != NULL && o->classes.count == 0)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_graph_for_app: \"%.96s\" are scores of no classes", o->scores);
    if (o->scores == NULL && (o->classes.count > 0 || o->is_probabilities))
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_graph_for_app: classes have no effect without scores");
    return o->image.input != NULL ? check_image(&o->image, err) : MW_OK;
}

static const mw_tensor *find_port(mw_tensor *const *ports, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (ports[i]->name != NULL && strcmp(ports[i]->name, name) == 0)
            return ports[i];
    return NULL;
}

static mw_status check_ports(const mw__block *body, const mw_app_options *o, mw_error *err)
{
    const mw_app_image *image = &o->image;
    const mw_tensor *input = image->input != NULL ? find_port(body->inputs, body->input_count, image->input) : NULL;
    const mw_tensor *scores = o->scores != NULL ? find_port(body->outputs, body->output_count, o->scores) : NULL;
    if (image->input != NULL && (input == NULL || input->role != MW__INPUT))
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_graph_for_app: the graph has no input \"%.96s\"", image->input);
    if (o->scores != NULL && scores == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_graph_for_app: the graph has no result \"%.96s\"", o->scores);
    const int64_t pixels = channels_of(image) * image->height * image->width;
    if (input != NULL && mw_shape_count(mw_tensor_shape(input)) != pixels)
        return mw__fail(err, MW_ERROR_SHAPE,
                        "mw_graph_for_app: an image of %lld x %lld with %lld channels is not the %lld elements of "
                        "\"%.96s\"",
                        (long long)image->height, (long long)image->width, (long long)channels_of(image),
                        (long long)mw_shape_count(mw_tensor_shape(input)), image->input);
    if (scores != NULL && mw_shape_count(mw_tensor_shape(scores)) != (int64_t)o->classes.count)
        return mw__fail(err, MW_ERROR_SHAPE, "mw_graph_for_app: %zu classes for the %lld numbers of \"%.96s\"",
                        o->classes.count, (long long)mw_shape_count(mw_tensor_shape(scores)), o->scores);
    return MW_OK;
}

/* ---- the image ---- */

static bool differ(const float *numbers, int64_t count)
{
    return count == 3 && (numbers[1] != numbers[0] || numbers[2] != numbers[0]);
}

/* [1, C, 1, 1], or a scalar for all channels. */
static mw_tensor *channel_constant(mw_graph *to, const float *numbers, int64_t count)
{
    return differ(numbers, count) ? mw_constant(to, MW_F32, MW_SHAPE(1, count, 1, 1), numbers)
                                  : mw_scalar(to, MW_F32, (double)numbers[0]);
}

/* pixel * scale + bias in the order and shape of the input. */
static mw_tensor *make_input(mw_graph *to, const mw_app_image *image, const mw_tensor *input)
{
    const int64_t c = channels_of(image);
    mw_tensor *x = mw_input(to, name_of(image), MW_F32, MW_SHAPE(1, c, image->height, image->width));
    x = mw_mul(x, channel_constant(to, image->scale, c));
    if (image->bias[0] != 0.0f || differ(image->bias, c))
        x = mw_add(x, channel_constant(to, image->bias, c));
    if (image->channels_last && c > 1)
        x = mw_transpose(x, MW_AXES(0, 2, 3, 1));
    const mw_shape wanted = mw_tensor_shape(input);
    if (x != NULL && !mw_shape_equal(mw_tensor_shape(x), wanted))
        x = mw_reshape(x, wanted);
    return mw_tensor_dtype(input) != MW_F32 ? mw_cast(x, mw_tensor_dtype(input)) : x;
}

static bool put_image(void *user, mw__clone *clone, const mw_tensor *value)
{
    const mw_app_image *image = user;
    if (image->input == NULL || value->role != MW__INPUT || strcmp(value->name, image->input) != 0)
        return false;
    mw_tensor *x = make_input(clone->to, image, value);
    if (x != NULL)
        mw__clone_set(clone, value, x);
    return true;
}

/* ---- results ---- */

static void put_classes(mw_tensor *scores, const mw_app_options *o)
{
    mw_tensor *label = NULL, *probabilities = NULL;
    if (mw_tensor_dtype(scores) != MW_F32)
        scores = mw_cast(scores, MW_F32);
    if (!o->is_probabilities)
        scores = mw_softmax(scores, -1);
    mw_classify(scores, &o->classes, &label, &probabilities);
    mw_output(label, o->label);
    mw_output(probabilities, o->probabilities);
}

static void put_results(const mw__block *body, mw_tensor *const *copies, const mw_app_options *o)
{
    for (size_t i = 0; i < body->output_count; i++) {
        if (o->scores != NULL && strcmp(body->outputs[i]->name, o->scores) == 0)
            put_classes(copies[i], o);
        else
            mw_output(copies[i], body->outputs[i]->name);
    }
}

static mw_graph *change(const mw_graph *one, const mw_app_options *o, mw_error *err)
{
    const mw__block *body = mw__graph_main(one)->body;
    mw_app_image image = o->image;
    if (check_ports(body, o, err) != MW_OK)
        return NULL;
    const mw__clone_options options = {
        .input = put_image, .user = &image, .roots = body->outputs, .root_count = body->output_count};
    mw_tensor **copies = mw__alloc(one->allocator, body->output_count, sizeof(mw_tensor *), err);
    mw_graph *made = copies != NULL ? mw__clone_graph(one->allocator, one, &options, copies, err) : NULL;
    if (made != NULL)
        put_results(body, copies, o);
    mw__free(one->allocator, copies);
    if (made == NULL || mw_graph_check(made, err) == MW_OK)
        return mw__graph_publish(made, err);
    mw__graph_free(made);
    return NULL;
}

mw_graph *mw_graph_for_app(const mw_graph *graph, const mw_app_options *options, mw_error *err)
{
    MW__FLOAT_SCOPE;
    mw_error own = {0};
    err = err != NULL ? err : &own;
    if (mw__skips(err) || check_options(options, err) != MW_OK)
        return NULL;
    mw_graph *one = mw_graph_rebatch(graph, 1, err);
    mw_graph *made = one != NULL ? change(one, options, err) : NULL;
    mw_graph_destroy(one);
    return made;
}
