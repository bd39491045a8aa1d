/* Small nets on pictures, and how far their losses in fp16 stay from those in fp32. */
#ifndef TESTS_AUTOGRAD_UNET_H
#define TESTS_AUTOGRAD_UNET_H

#include <millwright/millwright.h>

/* U-Net (Ronneberger et al. 2015) of 16 x 16 pictures: two convolutions a block, two times down and up again, each
 * block of the way up with that of the way down beside it. */
typedef struct unet_form {
    bool strides;  /* down by convolutions of stride 2, up by nearest neighbors, not max_pool and conv_transpose */
    bool segments; /* which pixels belong to the disc, by cross-entropy; else the picture without its noise, by mse */
    int norm;      /* 0 none, 'b' batch, 'g' group, 'i' instance */
    bool classify; /* no way up: the mean over all pixels, and which of three figures is in the picture */
    bool dense;    /* the same without convolutions */
} unet_form;

enum { UNET_WINDOW = 50 };

/* How a net is trained. */
typedef struct unet_run {
    unet_form form;
    mw_device device;
    mw_optimizer optimizer;
    uint64_t seed;
    float shift; /* each weight w starts as (1 + shift u) w, u in [-1, 1): what no rounding may be blamed for */
} unet_run;

/* Trains; out receives the mean loss of each window of UNET_WINDOW steps. */
void unet_train(unet_run run, int windows, double *out);

/* The largest part by which the windows of `a` are off from those of `b`. */
double unet_distance(const double *a, const double *b, int windows);

#endif
