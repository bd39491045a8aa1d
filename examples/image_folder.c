/* A folder of pictures of any size, one folder per class, learned by a small convolutional network: pictures are cut
 * out and mirrored at random, and unpacked by two threads while the network trains. At the end one epoch is timed. */
#include "options.h"

#include <time.h>

enum { SIZE = 64, AHEAD = 4, THREADS = 2 };

static mw_tensor *network(mw_tensor *x, int64_t classes)
{
    mw_conv_options same = mw_conv_defaults();
    same.pad_type = MW_PAD_SAME;
    mw_pool_options half = mw_pool_defaults(MW_SHAPE(2, 2));
    mw_tensor *h = mw_max_pool(mw_relu(mw_conv_layer(x, 16, MW_SHAPE(3, 3), "conv1", &same)), &half);
    h = mw_max_pool(mw_relu(mw_conv_layer(h, 32, MW_SHAPE(3, 3), "conv2", &same)), &half);
    const mw_shape shape = mw_tensor_shape(h);
    h = mw_reshape(h, MW_SHAPE(shape.dim[0], shape.dim[1] * shape.dim[2] * shape.dim[3]));
    return mw_dense(mw_relu(mw_dense(h, 32, "fc1")), classes, "fc2");
}

/* [3, SIZE, SIZE], cut from the middle. */
static mw_image_options reading(void)
{
    mw_image_options options = mw_image_defaults();
    options.channels_first = true;
    options.height = options.width = SIZE;
    options.fit = MW_IMAGE_FIT_CROP;
    return options;
}

/* Another part in each epoch, now and then mirrored. */
static mw_dataset *prepare(const char *folder, mw_error *err)
{
    mw_image_options options = reading();
    options.fit = MW_IMAGE_FIT_RANDOM_CROP;
    options.random.scale_least = 0.6f;
    mw_augment_options change = mw_augment_defaults("x");
    change.channels_first = true;
    change.flip = 0.5f;
    mw_dataset *cut = mw_dataset_open_images(folder, &options, err);
    mw_dataset *changed = mw_dataset_augment(cut, &change, err);
    mw_dataset *ahead = mw_dataset_prefetch_threads(changed, AHEAD, THREADS, err);
    mw_dataset_destroy(cut);
    mw_dataset_destroy(changed);
    return ahead;
}

static double seconds(void)
{
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* One epoch of one's own, and how much of it the step waited for pictures. */
static void time_epoch(mw_trainer *trainer, const mw_dataset *training, int64_t batch, mw_error *err)
{
    mw_loader_options options = mw_loader_defaults(training, batch);
    mw_loader *loader = mw_loader_create(&options, err);
    const double begin = seconds();
    double waited = 0.0;
    for (int64_t i = 0; i < mw_loader_batches(loader); i++) {
        float loss;
        const double asked = seconds();
        const mw_batch *next = mw_loader_next(loader, err);
        waited += seconds() - asked;
        mw_trainer_step(trainer, next, &loss, err);
    }
    const double all = seconds() - begin;
    const double pictures = (double)(mw_loader_batches(loader) * batch);
    mw_loader_destroy(loader);
    if (err->status == MW_OK)
        printf("%.0f pictures a second; the step waits for them %.1f %% of the time\n", pictures / all,
               100.0 * waited / all);
}

int main(int argc, char **argv)
{
    example_options o = {.data = "tests/data/images", .epochs = 100, .batch = 5, .seed = 1};
    o.learning_rate = 3e-3f;
    options_parse(&o, argc, argv);

    mw_error err = {0};
    const mw_image_options plain = reading();
    mw_dataset *pictures = mw_dataset_open_images(o.data, &plain, &err);
    if (pictures == NULL)
        return options_exit_code(&err);
    const mw_classes classes = mw_dataset_classes(pictures, "y");
    for (size_t i = 0; i < classes.count; i++)
        printf("class %zu is %s\n", i, classes.names[i]);
    mw_dataset *training = prepare(o.data, &err);

    mw_graph *graph = mw_graph_create(NULL, &err);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(o.batch, 3, SIZE, SIZE));
    mw_tensor *y = mw_input(graph, "y", MW_I32, MW_SHAPE(o.batch));
    mw_tensor *logits = network(x, (int64_t)classes.count);
    mw_trainer_options options = mw_trainer_defaults(mw_cross_entropy(logits, y), mw_adam(o.learning_rate));
    options.metric = mw_accuracy(logits, y);
    options.compile.device = o.device;
    options.compile.seed = o.seed;
    mw_trainer *trainer = mw_trainer_create(&options, &err);
    options_fit(&o, trainer, training, pictures, &err);
    options_report(trainer, pictures, "accuracy on the folder", &err);
    time_epoch(trainer, training, o.batch, &err);

    mw_trainer_destroy(trainer);
    mw_graph_destroy(graph);
    mw_dataset_destroy(training);
    mw_dataset_destroy(pictures);
    return options_exit_code(&err);
}
