/* Squeezes images of 784 pixels through 32 numbers: two strided convolutions down, two transposed ones up. Prints the
 * mean squared error beside that of the mean image, and a few images with what became of them. */
#include "options.h"

enum { CODE = 32, SHOWN = 3 };

static mw_tensor *network(mw_tensor *x)
{
    const int64_t batch = mw_tensor_shape(x).dim[0];
    mw_conv_options down = mw_conv_defaults(), up = mw_conv_defaults();
    down.pad_type = MW_PAD_SAME;
    down.stride[0] = down.stride[1] = up.stride[0] = up.stride[1] = 2;
    mw_tensor *h = mw_relu(mw_conv_layer(x, 16, MW_SHAPE(3, 3), "down1", &down)); /* [N, 16, 14, 14] */
    h = mw_relu(mw_conv_layer(h, 32, MW_SHAPE(3, 3), "down2", &down));            /* [N, 32, 7, 7] */
    mw_tensor *code = mw_dense(mw_reshape(h, MW_SHAPE(batch, 32 * 7 * 7)), CODE, "code");
    h = mw_reshape(mw_relu(mw_dense(code, 32 * 7 * 7, "decode")), MW_SHAPE(batch, 32, 7, 7));
    h = mw_relu(mw_conv_transpose_layer(h, 16, MW_SHAPE(2, 2), "up1", &up));
    return mw_sigmoid(mw_conv_transpose_layer(h, 1, MW_SHAPE(2, 2), "up2", &up));
}

/* The error of a constant answer: the mean image of the training set. */
static double error_of_mean(const mw_dataset *train, const mw_dataset *test)
{
    const unsigned char *seen = mw_dataset_column_at(train, 0)->data, *asked = mw_dataset_column_at(test, 0)->data;
    const int64_t count = mw_dataset_examples(train), tests = mw_dataset_examples(test);
    double error = 0;
    for (int pixel = 0; pixel < 784; pixel++) {
        double mean = 0;
        for (int64_t i = 0; i < count; i++)
            mean += seen[i * 784 + pixel] / 255.0 / (double)count;
        for (int64_t i = 0; i < tests; i++) {
            const double miss = asked[i * 784 + pixel] / 255.0 - mean;
            error += miss * miss / (double)(784 * tests);
        }
    }
    return error;
}

static void draw_row(const float *pixels)
{
    for (int column = 0; column < 28; column++) {
        const float ink = pixels[column] < 0 ? 0 : pixels[column] > 0.999f ? 0.999f : pixels[column];
        putchar(" .:-=+*%#@"[(int)(ink * 10.0f)]);
    }
}

/* Images on the left, their reconstructions on the right; every other row, as letters are tall. */
static void show(mw_trainer *trainer, const mw_dataset *test, int64_t batch_size, mw_error *err)
{
    mw_loader_options options = mw_loader_defaults(test, batch_size);
    options.shuffle = false;
    mw_loader *loader = mw_loader_create(&options, err);
    const mw_batch *batch = mw_loader_next(loader, err);
    float *made = malloc((size_t)batch_size * 784 * sizeof *made);
    if (batch != NULL && made != NULL &&
        mw_trainer_predict(trainer, batch, MW_F32, made, (size_t)batch_size * 784, err) == MW_OK) {
        const unsigned char *given = batch->feeds[0].data;
        for (int row = 0; row < SHOWN * 28; row += 2) {
            float pixels[28];
            for (int column = 0; column < 28; column++)
                pixels[column] = (float)given[row * 28 + column] / 255.0f;
            draw_row(pixels);
            printf("  |  ");
            draw_row(&made[row * 28]);
            putchar('\n');
        }
    }
    free(made);
    mw_loader_destroy(loader);
}

int main(int argc, char **argv)
{
    example_options o = {.data = "data/mnist", .epochs = 3, .batch = 128, .seed = 1, .learning_rate = 2e-3f};
    o.schedule = mw_schedule_cosine(0.0);
    options_parse(&o, argc, argv);

    mw_error err = {0};
    mw_dataset *train = mw_dataset_open_idx(o.data, "train", &err);
    mw_dataset *test = mw_dataset_open_idx(o.data, "t10k", &err);
    mw_graph *graph = mw_graph_create(NULL, &err);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(o.batch, 1, 28, 28));
    mw_tensor *y = network(x);

    mw_trainer_options options = mw_trainer_defaults(mw_mse(y, x), mw_adam(o.learning_rate));
    options.prediction = y;
    options.compile.device = o.device;
    options.compile.seed = o.seed;
    mw_trainer *trainer = mw_trainer_create(&options, &err);
    options_fit(&o, trainer, train, test, &err);
    options_report(trainer, test, NULL, &err);
    if (err.status == MW_OK)
        printf("error of the mean image %.4f\n", error_of_mean(train, test));
    show(trainer, test, o.batch, &err);
    if (o.model != NULL)
        mw_trainer_export(trainer, NULL, o.model, NULL, &err);

    mw_trainer_destroy(trainer);
    mw_graph_destroy(graph);
    mw_dataset_destroy(test);
    mw_dataset_destroy(train);
    return options_exit_code(&err);
}
