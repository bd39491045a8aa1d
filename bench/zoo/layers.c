/* The layers of zoo.h: the public constructors with PyTorch's borders, under names that are written as by printf. */
#include "zoo.h"

#include <stdarg.h>
#include <stdio.h>

typedef struct full_name {
    char text[128];
} full_name;

#define WRITE_NAME(full, name)                                                                                         \
    do {                                                                                                               \
        va_list arguments;                                                                                             \
        va_start(arguments, name);                                                                                     \
        vsnprintf((full).text, sizeof(full).text, name, arguments);                                                    \
        va_end(arguments);                                                                                             \
    } while (0)

int64_t zoo_extent(mw_tensor *x, int axis)
{
    const mw_shape shape = mw_tensor_shape(x);
    return shape.rank == 0 ? 1 : shape.dim[axis < 0 ? axis + shape.rank : axis];
}

/* ---- inputs ---- */

static void note_input(zoo_form *form, const char *name, int32_t below)
{
    if (form->input_count >= ZOO_INPUTS_MAX)
        return;
    form->input[form->input_count].name = name;
    form->input[form->input_count++].below = below;
}

mw_tensor *zoo_floats(zoo_form *form, const char *name, mw_shape shape)
{
    note_input(form, name, 0);
    return mw_input(form->graph, name, MW_F32, shape);
}

mw_tensor *zoo_integers(zoo_form *form, const char *name, mw_shape shape, int32_t below)
{
    note_input(form, name, below);
    return mw_input(form->graph, name, MW_I32, shape);
}

/* ---- layers ---- */

static int or_one(int value) { return value == 0 ? 1 : value; }

/* A border of 0 keeps the extent at stride 1; of a transposed convolution it crops nothing. */
static mw_conv_options options_of(zoo_window w, int axes, bool up)
{
    mw_conv_options options = mw_conv_defaults();
    const int kept = up ? 0 : or_one(w.dilation) * (or_one(w.kernel) - 1) / 2;
    options.groups = or_one(w.groups);
    options.bias = !w.unbiased;
    options.pad_type = MW_PAD_CUSTOM;
    for (int axis = 0; axis < axes; axis++) {
        options.stride[axis] = or_one(w.stride);
        options.dilation[axis] = or_one(w.dilation);
        options.pad[2 * axis] = options.pad[2 * axis + 1] = w.border > 0 ? w.border : w.border < 0 ? 0 : kept;
    }
    return options;
}

static mw_shape kernel_of(zoo_window w, int axes)
{
    mw_shape kernel = {.rank = axes};
    for (int axis = 0; axis < axes; axis++)
        kernel.dim[axis] = or_one(w.kernel);
    return kernel;
}

static int spatial_axes(mw_tensor *x) { return mw_tensor_shape(x).rank < 3 ? 1 : mw_tensor_shape(x).rank - 2; }

/* ---- what is counted too often ---- */

double zoo_spread;

static double count_of(mw_tensor *x) { return (double)mw_shape_count(mw_tensor_shape(x)); }

void zoo_note_dilated(mw_tensor *y, double inputs, int kernel, int dilation)
{
    double covered = 1.0, there = 1.0;
    for (int axis = 0; axis < spatial_axes(y); axis++) {
        covered *= (kernel - 1) * dilation + 1;
        there *= kernel;
    }
    zoo_spread += 2.0 * count_of(y) * inputs * (covered - there);
}

/* Each element of x meets each weight of its group once; counted is a convolution at every element of y. */
static void note_transposed(mw_tensor *x, mw_tensor *y, zoo_window w)
{
    double kernel = 1.0;
    for (int axis = 0; axis < spatial_axes(y); axis++)
        kernel *= or_one(w.kernel);
    const double groups = or_one(w.groups), into = (double)zoo_extent(x, 1), out = (double)zoo_extent(y, 1);
    zoo_spread += 2.0 * kernel / groups * (count_of(y) * into - count_of(x) * out);
}

/* ---- convolutions ---- */

mw_tensor *zoo_conv(mw_tensor *x, int64_t channels, zoo_window window, const char *name, ...)
{
    full_name full;
    WRITE_NAME(full, name);
    const int axes = spatial_axes(x);
    const mw_conv_options options = options_of(window, axes, false);
    mw_tensor *y = mw_conv_layer(x, channels, kernel_of(window, axes), full.text, &options);
    zoo_note_dilated(y, (double)zoo_extent(x, 1) / or_one(window.groups), or_one(window.kernel),
                     or_one(window.dilation));
    return y;
}

mw_tensor *zoo_conv_up(mw_tensor *x, int64_t channels, zoo_window window, const char *name, ...)
{
    full_name full;
    WRITE_NAME(full, name);
    const int axes = spatial_axes(x);
    const mw_conv_options options = options_of(window, axes, true);
    mw_tensor *y = mw_conv_transpose_layer(x, channels, kernel_of(window, axes), full.text, &options);
    note_transposed(x, y, window);
    return y;
}

mw_tensor *zoo_batch_norm(mw_tensor *x, const char *name, ...)
{
    full_name full;
    WRITE_NAME(full, name);
    return mw_batch_norm_layer(x, 0.1f, 1e-5f, full.text);
}

mw_tensor *zoo_layer_norm(mw_tensor *x, const char *name, ...)
{
    full_name full;
    WRITE_NAME(full, name);
    return mw_layer_norm_layer(x, 1, 1e-5f, full.text);
}

mw_tensor *zoo_group_norm(mw_tensor *x, int64_t groups, const char *name, ...)
{
    full_name full;
    WRITE_NAME(full, name);
    return mw_group_norm_layer(x, groups, 1e-5f, full.text);
}

mw_tensor *zoo_dense(mw_tensor *x, int64_t units, const char *name, ...)
{
    full_name full;
    WRITE_NAME(full, name);
    return mw_dense(x, units, full.text);
}

static mw_pool_options pool_of(mw_tensor *x, int kernel, int stride, int border)
{
    const int axes = spatial_axes(x);
    mw_pool_options options = mw_pool_defaults(kernel_of((zoo_window){.kernel = kernel}, axes));
    options.pad_type = MW_PAD_CUSTOM;
    for (int axis = 0; axis < axes; axis++) {
        options.stride[axis] = stride;
        options.pad[2 * axis] = options.pad[2 * axis + 1] = border;
    }
    return options;
}

mw_tensor *zoo_max_pool(mw_tensor *x, int kernel, int stride, int border)
{
    const mw_pool_options options = pool_of(x, kernel, stride, border);
    return mw_max_pool(x, &options);
}

mw_tensor *zoo_avg_pool(mw_tensor *x, int kernel, int stride, int border)
{
    const mw_pool_options options = pool_of(x, kernel, stride, border);
    return mw_avg_pool(x, &options);
}

/* ---- ends ---- */

mw_tensor *zoo_by_classes(zoo_form *form, mw_tensor *logits)
{
    if (!form->training)
        return logits;
    mw_tensor *y = zoo_integers(form, "y", MW_SHAPE(zoo_extent(logits, 0)), (int32_t)zoo_extent(logits, 1));
    return mw_cross_entropy(logits, y);
}

mw_tensor *zoo_classifier(zoo_form *form, mw_tensor *x, int64_t classes, const char *name)
{
    mw_axes positions = {.count = spatial_axes(x)};
    for (int axis = 0; axis < positions.count; axis++)
        positions.axis[axis] = 2 + axis;
    return zoo_by_classes(form, mw_dense(mw_reduce_mean(x, positions, false), classes, name));
}

mw_tensor *zoo_by_pixels(zoo_form *form, mw_tensor *logits)
{
    if (!form->training)
        return logits;
    const mw_shape s = mw_tensor_shape(logits);
    mw_tensor *y = zoo_integers(form, "y", MW_SHAPE(s.dim[0], s.dim[2], s.dim[3]), (int32_t)s.dim[1]);
    return mw_cross_entropy(mw_transpose(logits, MW_AXES(0, 2, 3, 1)), y);
}

mw_tensor *zoo_by_squares(zoo_form *form, mw_tensor *x)
{
    return form->training ? mw_mse(x, zoo_floats(form, "y", mw_tensor_shape(x))) : x;
}
