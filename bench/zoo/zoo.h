/* The zoo: networks of the sizes of real work, written from their papers with the public interface as a user would,
 * each beside its PyTorch form in forms/. To add one: a row in zoo.def, the builder zoo_<name> here, and the class with
 * @net("<name>") in a file of forms/, with parameters of the same names and in the same order of shapes.
 *
 *     mw_tensor *zoo_lenet(zoo_form *form)
 *     {
 *         mw_tensor *h = zoo_floats(form, "x", MW_SHAPE(form->batch, 1, 28, 28));
 *         h = mw_relu(zoo_conv(h, 16, (zoo_window){.kernel = 5}, "conv%d", 1));   // conv1.weight, conv1.bias
 *         h = zoo_classifier(form, h, form->tiny ? 10 : 1000, "fc");               // pooled; loss, or logits
 *         return h;
 *     } */
#ifndef BENCH_ZOO_ZOO_H
#define BENCH_ZOO_ZOO_H

#include <millwright/millwright.h>

enum { ZOO_INPUTS_MAX = 40 };

/** What a builder is asked for, and what it says of its inputs. */
typedef struct zoo_form {
    mw_graph *graph;
    bool training; /* return the loss, by the input "y" if there is one; else the result */
    bool tiny;     /* a few layers of small widths: a step takes milliseconds */
    int batch;     /* of the row; 4 if tiny */
    struct {
        const char *name; /* a literal */
        int32_t below;    /* of integers; 0 for floats */
    } input[ZOO_INPUTS_MAX];
    int input_count;
} zoo_form;

/** An input of floats; they are drawn from [0, 1). */
mw_tensor *zoo_floats(zoo_form *form, const char *name, mw_shape shape);
/** An input of integers, drawn from [0, below). */
mw_tensor *zoo_integers(zoo_form *form, const char *name, mw_shape shape, int32_t below);

/* ---- layers; names are written as by printf ---- */

/** Of a convolution, all axes alike; 0 stands for 1, and for a border that keeps the extent at stride 1. */
typedef struct zoo_window {
    int kernel, stride, dilation, groups;
    int border;    /* on both sides; -1 = none */
    bool unbiased; /* no bias */
} zoo_window;

/** x [N, C, *S] with one to three spatial axes. */
mw_tensor *zoo_conv(mw_tensor *x, int64_t channels, zoo_window window, const char *name, ...)
    __attribute__((format(printf, 4, 5)));
/** The transpose; a border crops the result as PyTorch's padding does. */
mw_tensor *zoo_conv_up(mw_tensor *x, int64_t channels, zoo_window window, const char *name, ...)
    __attribute__((format(printf, 4, 5)));
/** Batch norm as in PyTorch, momentum 0.1 and epsilon 1e-5. */
mw_tensor *zoo_batch_norm(mw_tensor *x, const char *name, ...) __attribute__((format(printf, 2, 3)));
/** Layer norm over the last axis, epsilon 1e-5. */
mw_tensor *zoo_layer_norm(mw_tensor *x, const char *name, ...) __attribute__((format(printf, 2, 3)));
/** Group norm, epsilon 1e-5. */
mw_tensor *zoo_group_norm(mw_tensor *x, int64_t groups, const char *name, ...) __attribute__((format(printf, 3, 4)));
/** A dense layer over the last axis. */
mw_tensor *zoo_dense(mw_tensor *x, int64_t units, const char *name, ...) __attribute__((format(printf, 3, 4)));

/** Operations of the network built last that a summary counts too many, on zeros: a weight that is a parameter is
 *  spread where a convolution dilates it, x is where it is transposed. */
extern double zoo_spread;
/** Adds to that what belongs to y, the result of a convolution of so many input channels a group. */
void zoo_note_dilated(mw_tensor *y, double inputs, int kernel, int dilation);

/** Max pooling, borders as in zoo_window but 0 = none. */
mw_tensor *zoo_max_pool(mw_tensor *x, int kernel, int stride, int border);
mw_tensor *zoo_avg_pool(mw_tensor *x, int kernel, int stride, int border);

/* ---- ends ---- */

/** In training the cross-entropy of logits [R, classes] by the new input "y" [R] of integers; else the logits. */
mw_tensor *zoo_by_classes(zoo_form *form, mw_tensor *logits);
/** The mean over the positions of x [N, C, *S], a dense layer of that name, and zoo_by_classes. */
mw_tensor *zoo_classifier(zoo_form *form, mw_tensor *x, int64_t classes, const char *name);
/** In training the cross-entropy of each position of logits [N, classes, H, W] by the new input "y" [N, H, W] of
 *  integers; else the logits. */
mw_tensor *zoo_by_pixels(zoo_form *form, mw_tensor *logits);
/** In training the mean squared difference from the new input "y" of x's shape; else x. */
mw_tensor *zoo_by_squares(zoo_form *form, mw_tensor *x);

/** Extent `axis` of x; negative counts from the end. */
int64_t zoo_extent(mw_tensor *x, int axis);

/* ---- the rows ---- */

typedef struct zoo_net {
    const char *name, *paper, *what;
    mw_tensor *(*build)(zoo_form *form);
    int batch;
    const char *optimizer; /* "momentum" or "adamw" */
} zoo_net;

extern const zoo_net zoo_nets[];
extern const size_t zoo_net_count;

#define ZOO(name, paper, batch, optimizer, what) mw_tensor *zoo_##name(zoo_form *form);
#include "zoo.def"
#undef ZOO

#endif
