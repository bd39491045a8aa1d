/* The nets of unet.h on discs and squares with noise. */
#include "unet.h"
#include "hashed.h"
#include "support/check.h"
#include "support/on_engine.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* N pictures of SIDE x SIDE a batch, C channels of the first block; BATCHES that come again and again. */
enum { N = 8, SIDE = 16, C = 4, BATCHES = 16, PIXELS = SIDE * SIDE, CLASSES = 3 };

/* ---- data ---- */

typedef struct batch {
    float noisy[N * PIXELS], clean[N * PIXELS], mask[N * PIXELS];
    int32_t label[N];
} batch;

static bool is_inside(int label, float radius, float dy, float dx, int row, int column)
{
    if (label == 0)
        return dy * dy + dx * dx < radius * radius;
    if (label == 1)
        return fabsf(dy) < radius && fabsf(dx) < radius;
    return row + column < SIDE;
}

/* A figure, a wave behind it, and noise. */
static void draw(batch *b, int n, uint64_t stream)
{
    const float y = 8.0f + 10.0f * hashed_uniform(0, stream), x = 8.0f + 10.0f * hashed_uniform(1, stream);
    const float radius = 4.0f + 4.0f * hashed_uniform(2, stream), bright = 1.0f + hashed_uniform(3, stream);
    const float ky = 1.5f * hashed_uniform(4, stream), kx = 1.5f * hashed_uniform(5, stream);
    b->label[n] = n % CLASSES;
    for (int p = 0; p < PIXELS; p++) {
        const int row = p / SIDE, column = p % SIDE, at = n * PIXELS + p;
        const bool inside = is_inside(b->label[n], radius, (float)row - y, (float)column - x, row, column);
        b->mask[at] = inside ? 1.0f : 0.0f;
        b->clean[at] = (inside ? bright : 0.0f) + 0.3f * sinf(ky * (float)row + kx * (float)column);
        b->noisy[at] = b->clean[at] + 1.2f * hashed_uniform((uint64_t)p, stream + 777);
    }
}

/* ---- nets ---- */

static mw_tensor *normed(mw_tensor *x, int norm, const char *name)
{
    switch (norm) {
    case 'b':
        return mw_batch_norm_layer(x, 0.1f, 1e-5f, name);
    case 'g':
        return mw_group_norm_layer(x, 2, 1e-5f, name);
    case 'i':
        return mw_instance_norm_layer(x, 1e-5f, name);
    default:
        return x;
    }
}

static mw_tensor *block(mw_tensor *x, unet_form form, int channels, const char *name)
{
    mw_conv_options same = mw_conv_defaults();
    same.pad_type = MW_PAD_SAME;
    for (int k = 1; k <= 2; k++) {
        char conv[32], norm[32];
        snprintf(conv, sizeof conv, "%s.conv%d", name, k);
        snprintf(norm, sizeof norm, "%s.norm%d", name, k);
        x = mw_silu(normed(mw_conv_layer(x, channels, MW_SHAPE(3, 3), conv, &same), form.norm, norm));
    }
    return x;
}

static mw_tensor *down(mw_tensor *x, unet_form form, int channels, const char *name)
{
    mw_pool_options two = mw_pool_defaults(MW_SHAPE(2, 2));
    mw_conv_options half = mw_conv_defaults();
    two.stride[0] = two.stride[1] = half.stride[0] = half.stride[1] = 2;
    half.pad_type = MW_PAD_SAME;
    return form.strides ? mw_silu(mw_conv_layer(x, channels, MW_SHAPE(3, 3), name, &half)) : mw_max_pool(x, &two);
}

/* Twice as large, with `beside` joined to it. */
static mw_tensor *up(mw_tensor *x, unet_form form, int channels, mw_tensor *beside, const char *name)
{
    mw_conv_options options = mw_conv_defaults();
    if (form.strides) {
        options.pad_type = MW_PAD_SAME;
        x = mw_conv_layer(mw_upsample_nearest_neighbor(x, 2, 2), channels, MW_SHAPE(3, 3), name, &options);
    } else {
        options.stride[0] = options.stride[1] = 2;
        x = mw_conv_transpose_layer(x, channels, MW_SHAPE(2, 2), name, &options);
    }
    return mw_concat((mw_tensor *[]){x, beside}, 2, 1);
}

static mw_tensor *unet(mw_tensor *x, unet_form form)
{
    mw_tensor *first = block(x, form, C, "first");
    mw_tensor *second = block(down(first, form, C, "down1"), form, 2 * C, "second");
    mw_tensor *middle = block(down(second, form, 2 * C, "down2"), form, 4 * C, "middle");
    if (form.classify)
        return mw_reduce_mean(middle, MW_AXES(2, 3), false);
    mw_tensor *third = block(up(middle, form, 2 * C, second, "up2"), form, 2 * C, "third");
    mw_tensor *fourth = block(up(third, form, C, first, "up1"), form, C, "fourth");
    return mw_conv_layer(fourth, 1, MW_SHAPE(1, 1), "last", NULL);
}

static mw_tensor *loss_of(mw_graph *graph, unet_form form)
{
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(N, 1, SIDE, SIDE));
    if (form.classify) {
        mw_tensor *flat = form.dense ? mw_silu(mw_dense(mw_reshape(x, MW_SHAPE(N, -1)), 32, "hidden")) : unet(x, form);
        return mw_cross_entropy(mw_dense(flat, CLASSES, "last"), mw_input(graph, "label", MW_I32, MW_SHAPE(N)));
    }
    mw_tensor *y = mw_input(graph, "y", MW_F32, MW_SHAPE(N, 1, SIDE, SIDE)), *picture = unet(x, form);
    return form.segments ? mw_binary_cross_entropy(picture, y, NULL) : mw_mse(picture, y);
}

/* ---- training ---- */

static void shift_weights(mw_trainer *trainer, float shift, mw_error *err)
{
    const mw_program *program = mw_trainer_program(trainer);
    mw_port port;
    for (size_t i = 0; mw_program_port_at(program, i, &port); i++) {
        const size_t length = strlen(port.name);
        if (port.is_output || length < 7 || strcmp(port.name + length - 7, ".weight") != 0)
            continue;
        size_t count = 1;
        for (int axis = 0; axis < port.shape.rank; axis++)
            count *= (size_t)port.shape.dim[axis];
        float *weight = malloc(count * sizeof *weight);
        mw_trainer_read(trainer, port.name, MW_F32, weight, count, err);
        for (size_t k = 0; k < count; k++)
            weight[k] *= 1.0f + 2.0f * shift * hashed_uniform(k, 5000 + i);
        mw_trainer_write(trainer, port.name, MW_F32, weight, count, err);
        free(weight);
    }
}

static mw_trainer *make_trainer(const unet_run *run, mw_error *err)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_trainer_options options = mw_trainer_defaults(loss_of(graph, run->form), run->optimizer);
    options.compile = engine_options(run->device, 0);
    options.compile.seed = run->seed;
    options.compile.threads = 1;
    mw_trainer *trainer = mw_trainer_create(&options, err);
    mw_graph_destroy(graph);
    if (trainer != NULL && run->shift != 0.0f)
        shift_weights(trainer, run->shift, err);
    return trainer;
}

void unet_train(unet_run run, int windows, double *out)
{
    mw_error err = {0};
    static batch b;
    mw_trainer *trainer = make_trainer(&run, &err);
    for (int w = 0; w < windows; w++)
        out[w] = 0.0;
    for (int t = 0; t < windows * UNET_WINDOW && err.status == MW_OK; t++) {
        float loss = 0.0f;
        for (int n = 0; n < N; n++)
            draw(&b, n, 1000u + (uint64_t)(t % BATCHES * N + n));
        const mw_feed feeds[] = {
            {.name = "x", .dtype = MW_F32, .data = b.noisy, .count = N * PIXELS},
            {.name = "y", .dtype = MW_F32, .data = run.form.segments ? b.mask : b.clean, .count = N * PIXELS},
            {.name = "label", .dtype = MW_I32, .data = b.label, .count = N}};
        mw_trainer_step(trainer, &(mw_batch){.feeds = feeds, .feed_count = 3, .examples = N}, &loss, &err);
        out[t / UNET_WINDOW] += (double)loss / UNET_WINDOW;
    }
    CHECK_OK(err);
    mw_trainer_destroy(trainer);
}

double unet_distance(const double *a, const double *b, int windows)
{
    double off = 0.0;
    for (int w = 0; w < windows; w++)
        off = fmax(off, fabs(a[w] / b[w] - 1.0));
    return off;
}
