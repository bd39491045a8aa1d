/* The loss and what is shown beside it, by the labels: of examples, of their places, or values. */
#include "tool/fields.h"
#include "tool/train/network.h"
#include "tool/train/training.h"

#include <millwright/learn.h>

#include <stdlib.h>

/* ---- labels by place ---- */

bool training_is_by_place(const training *t)
{
    return t->loss_kind == RECIPE_CROSS_ENTROPY && t->data.encoder == NULL && !t->data.is_image &&
           mw_shape_count(t->data.y->shape) > 1;
}

/* Whether the axes of a shape from `first` on are those of the labels. */
static bool has_places(mw_shape shape, int first, mw_shape labels)
{
    for (int i = 0; i < labels.rank; i++)
        if (shape.dim[first + i] != labels.dim[i])
            return false;
    return true;
}

/* [batch, C, ..] as [batch, .., C]. */
static mw_tensor *classes_last(mw_tensor *x)
{
    mw_axes axes = {.count = 0};
    const int rank = mw_tensor_shape(x).rank;
    axes.axis[axes.count++] = 0;
    for (int i = 2; i < rank; i++)
        axes.axis[axes.count++] = i;
    axes.axis[axes.count++] = 1;
    return mw_transpose(x, axes);
}

bool training_place_scores(training *t)
{
    char given[128], labels[128];
    t->places = 1;
    t->ignore = MW_IGNORE_NOTHING;
    if (!training_is_by_place(t))
        return true;
    const mw_shape out = mw_tensor_shape(t->out), y = t->data.y->shape;
    const bool fits = out.rank == y.rank + 2, last = fits && has_places(out, 1, y),
               second = fits && has_places(out, 2, y);
    if (!last && !second)
        return training_fail(t, MW_ERROR_SHAPE,
                             "an example has labels of shape %s, and the model gives %s in a batch: they want [batch, "
                             "labels.., classes] or [batch, classes, labels..]",
                             tool_shape(labels, sizeof labels, y), tool_shape(given, sizeof given, out));
    t->out = last ? t->out : classes_last(t->out);
    t->places = mw_shape_count(y);
    t->ignore = -100;
    return t->out != NULL;
}

/* A label that does not count, as the command or the settings say: of places -100, PyTorch's. */
static void take_ignored(training *t)
{
    const int64_t none = MW_IGNORE_NOTHING;
    const int64_t said = field_integer(&t->c, t->c.root, "ignore", t->places > 1 ? -100 : none);
    t->ignore = (int32_t)(t->over->has_ignore ? t->over->ignore : said);
}

/* ---- classes ---- */

static bool check_scores(training *t, mw_shape shape)
{
    const int64_t scores = shape.rank >= 2 ? shape.dim[shape.rank - 1] : 1;
    if (scores < t->data.classes)
        return training_fail(t, MW_ERROR_SHAPE,
                             "the network gives %lld numbers %s, and there are %lld classes: end it with {\"dense\": "
                             "\"classes\"} (mw finetune: --head)",
                             (long long)scores, t->places > 1 ? "for each label" : "an example",
                             (long long)t->data.classes);
    return !data_mixes(&t->data) || !t->probabilities ||
           training_fail(t, MW_ERROR_UNSUPPORTED,
                         "mixup and cutmix want scores, and %.200s ends in softmax: --head, or leave them out",
                         t->model_path);
}

static mw_shape label_shape(const training *t, int64_t scores)
{
    mw_shape shape = MW_SHAPE(t->batch);
    if (data_mixes(&t->data))
        shape.dim[shape.rank++] = scores;
    for (int i = 0; t->places > 1 && i < t->data.y->shape.rank; i++)
        shape.dim[shape.rank++] = t->data.y->shape.dim[i];
    return shape;
}

/* Of the logarithms of probabilities, whose softmax they are, where labels may be left out or weigh differently. */
static mw_tensor *class_loss(training *t, mw_tensor *scores, int64_t classes)
{
    float *weights = t->loss_kind == RECIPE_CROSS_ENTROPY ? training_class_weights(t, classes) : NULL;
    mw_cross_entropy_options options = mw_cross_entropy_defaults();
    options.class_weights = weights;
    options.class_count = weights != NULL ? (size_t)classes : 0;
    options.ignore_index = t->ignore;
    if (t->probabilities)
        scores = mw_log(mw_maximum(scores, mw_scalar(t->graph, MW_F32, 1e-7)), 0.0f);
    if (t->loss_kind == RECIPE_FOCAL)
        return mw_focal(scores, t->y, (float)field_number(&t->c, t->c.root, "gamma", 2));
    mw_tensor *loss = t->probabilities && weights == NULL && t->ignore == MW_IGNORE_NOTHING
                          ? mw_nll(scores, t->y)
                          : mw_cross_entropy_with(scores, t->y, &options);
    free(weights);
    return loss;
}

static bool make_class_loss(training *t)
{
    mw_tensor *scores = t->places > 1 ? t->out : network_flat(t->out);
    const mw_shape shape = mw_tensor_shape(scores);
    if (!check_scores(t, shape))
        return false;
    if (data_mixes(&t->data) && t->loss_kind == RECIPE_FOCAL)
        return training_fail(t, MW_ERROR_UNSUPPORTED, "mixup and cutmix are for the loss cross_entropy");
    if (!data_mixes(&t->data) && t->loss_kind == RECIPE_CROSS_ENTROPY)
        take_ignored(t);
    const int64_t classes = shape.dim[shape.rank - 1];
    t->y = mw_input(t->graph, t->label, data_mixes(&t->data) ? MW_F32 : MW_I32, label_shape(t, classes));
    if (mw_tensor_dtype(scores) == MW_F16)
        scores = mw_cast(scores, MW_F32);
    t->loss = class_loss(t, scores, classes);
    t->metric =
        t->ignore == MW_IGNORE_NOTHING ? mw_accuracy(scores, t->y) : mw_accuracy_ignoring(scores, t->y, t->ignore);
    return t->err->status == MW_OK;
}

/* ---- values ---- */

/* Directions: a table scales each of its targets by itself, which turns them. */
static bool check_vectors(training *t, mw_shape shape)
{
    if (t->loss_kind != RECIPE_COSINE)
        return true;
    if (t->data.encoder != NULL)
        return training_fail(
            t, MW_ERROR_ARGUMENT,
            "the loss cosine is of vectors in files of tensors (.npz, .safetensors), not of fields of a "
            "table: mse takes them");
    return (shape.rank == 2 && shape.dim[1] > 1) ||
           training_fail(t, MW_ERROR_SHAPE,
                         "the loss cosine compares vectors, and the network gives one number of an "
                         "example: a last layer with as many units as the target has numbers");
}

static mw_tensor *value_loss(training *t, mw_tensor *values, mw_tensor *y)
{
    switch (t->loss_kind) {
    case RECIPE_L1:
        return mw_l1(values, y);
    case RECIPE_HUBER:
        return mw_huber(values, y, 1.0f);
    case RECIPE_QUANTILE:
        return mw_pinball(values, y, (float)field_number(&t->c, t->c.root, "quantile", 0.5));
    case RECIPE_POISSON:
        return mw_poisson_nll(values, t->y);
    case RECIPE_BINARY_CROSS_ENTROPY:
        return mw_binary_cross_entropy(values, t->y, NULL);
    case RECIPE_DICE:
        return mw_dice(mw_sigmoid(values), t->y, MW_AXES(1), 1.0f);
    case RECIPE_COSINE:
        return mw_cosine_embedding(values, y, mw_fill(t->graph, MW_F32, MW_SHAPE(t->batch), 1.0), 0.0f);
    default:
        return mw_mse(values, y);
    }
}

static bool make_value_loss(training *t)
{
    char name[40];
    mw_tensor *values = network_flat(t->scaled != NULL ? t->scaled : t->out);
    if (mw_tensor_dtype(values) == MW_F16)
        values = mw_cast(values, MW_F32);
    if (!check_vectors(t, mw_tensor_shape(values)))
        return false;
    t->y = mw_input(t->graph, t->label, MW_F32, mw_tensor_shape(values));
    mw_tensor *y = training_scaled_target(t);
    t->loss = value_loss(t, values, y);
    mw_tensor *in_unit = t->loss_kind == RECIPE_POISSON ? mw_exp(values) : training_in_unit(t, values);
    if (t->loss_kind != RECIPE_L1 && t->loss_kind != RECIPE_COSINE && !recipe_has_labels(t->loss_kind))
        t->metric = mw_name(mw_l1(in_unit, training_target_in_unit(t)),
                            training_free_name(t->graph, "mean_absolute_error", false, name, sizeof name));
    return true;
}

bool training_make_loss(training *t)
{
    return recipe_has_classes(t->loss_kind) ? make_class_loss(t) : make_value_loss(t);
}
