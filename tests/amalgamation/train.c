/* What tools/check_amalgamation.sh compiles against millwright.h and millwright.c, and against the library: it trains a
 * small network of convolutions, pooling, normalization and dense layers, in fp32 and on the model of the ANE, and
 * prints every loss to the last bit. Also a program as text, which has been through the writer and the parser. */
#include "millwright.h"
#include <stdio.h>

enum { EXAMPLES = 256, BATCH = 32, SIDE = 12, CLASSES = 4, STEPS = 24 };

static float images[EXAMPLES][1][SIDE][SIDE];
static int32_t labels[EXAMPLES];

/* A bright bar, whose place says the class, in noise. */
static void make_examples(void)
{
    uint32_t state = 1;
    for (int e = 0; e < EXAMPLES; e++) {
        labels[e] = e % CLASSES;
        for (int i = 0; i < SIDE * SIDE; i++) {
            state = state * 1664525u + 1013904223u;
            const float bright = (i / SIDE) / (SIDE / CLASSES) == labels[e] ? 0.5f : 0.0f;
            images[e][0][i / SIDE][i % SIDE] = bright + (float)(state >> 8) / 16777216.0f;
        }
    }
}

static mw_dataset *open_examples(mw_error *err)
{
    const mw_column columns[] = {
        {.name = "x", .dtype = MW_F32, .shape = MW_SHAPE(1, SIDE, SIDE), .data = images},
        {.name = "y", .dtype = MW_I32, .data = labels},
    };
    return mw_dataset_create(columns, 2, EXAMPLES, false, err);
}

static mw_tensor *network(mw_tensor *x)
{
    mw_conv_options same = mw_conv_defaults();
    same.pad_type = MW_PAD_SAME;
    mw_pool_options halve = mw_pool_defaults(MW_SHAPE(2, 2));
    halve.stride[0] = halve.stride[1] = 2;
    mw_tensor *h = mw_max_pool(mw_relu(mw_conv_layer(x, 16, MW_SHAPE(3, 3), "conv1", &same)), &halve);
    h = mw_gelu(mw_conv_layer(h, 24, MW_SHAPE(3, 3), "conv2", &same), MW_GELU_TANH);
    h = mw_dense(mw_reshape(h, MW_SHAPE(BATCH, 24 * SIDE * SIDE / 4)), 64, "fc1");
    return mw_dense(mw_layer_norm_layer(h, 1, 1e-5f, "norm"), CLASSES, "fc2");
}

/* Prints the losses of some steps, then what a pass over all examples says. */
static void run(mw_trainer *trainer, const char *device, mw_error *err)
{
    mw_dataset *data = open_examples(err);
    const mw_loader_options options = mw_loader_defaults(data, BATCH);
    mw_loader *loader = mw_loader_create(&options, err);
    for (int step = 0; step < STEPS;) {
        float loss;
        const mw_batch *batch = mw_loader_next(loader, err);
        if (batch != NULL && mw_trainer_step(trainer, batch, &loss, err) == MW_OK)
            printf("%s step %d loss %a\n", device, ++step, (double)loss);
        if (err->status != MW_OK)
            break;
    }
    mw_evaluation found;
    if (mw_trainer_evaluate(trainer, data, NULL, &found, err) == MW_OK)
        printf("%s all loss %a accuracy %.4f\n", device, found.loss, found.metrics[0].value);
    mw_loader_destroy(loader);
    mw_dataset_destroy(data);
}

static void train_on(mw_device device, const char *name, mw_error *err)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(BATCH, 1, SIDE, SIDE));
    mw_tensor *y = mw_input(graph, "y", MW_I32, MW_SHAPE(BATCH));
    mw_tensor *logits = network(x);
    char *text = mw_graph_print(graph, err);
    printf("%s", text != NULL ? text : "no text\n");
    mw_string_free(text);

    mw_trainer_options options = mw_trainer_defaults(mw_cross_entropy(logits, y), mw_adam(2e-3f));
    options.metric = mw_accuracy(logits, y);
    options.compile.device = device;
    mw_trainer *trainer = mw_trainer_create(&options, err);
    if (trainer != NULL)
        run(trainer, name, err);
    mw_trainer_destroy(trainer);
    mw_graph_destroy(graph);
}

int main(void)
{
    mw_error err = {0};
    make_examples();
    train_on(MW_DEVICE_CPU, "fp32", &err);
    train_on(MW_DEVICE_ANE, "ane", &err);
    if (err.status != MW_OK)
        fprintf(stderr, "%s\n", err.message);
    return err.status != MW_OK;
}
