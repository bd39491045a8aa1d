/* A folder of pictures, one folder per class, learned by a small convolutional network: pictures are moved and mirrored
 * at random, and batches are made by a thread while the network trains. */
#include "options.h"

static mw_tensor *network(mw_tensor *x, int64_t classes)
{
    mw_conv_options same = mw_conv_defaults();
    same.pad_type = MW_PAD_SAME;
    mw_tensor *h = mw_relu(mw_conv_layer(x, 16, MW_SHAPE(3, 3), "conv1", &same));
    h = mw_relu(mw_conv_layer(h, 16, MW_SHAPE(3, 3), "conv2", &same));
    const mw_shape shape = mw_tensor_shape(h);
    h = mw_reshape(h, MW_SHAPE(shape.dim[0], shape.dim[1] * shape.dim[2] * shape.dim[3]));
    return mw_dense(mw_relu(mw_dense(h, 32, "fc1")), classes, "fc2");
}

/* [3, H, W], now and then mirrored and a pixel to the side; two batches ahead. */
static mw_dataset *prepare(const mw_dataset *pictures, mw_error *err)
{
    mw_augment_options change = mw_augment_defaults("x");
    change.channels_first = true;
    change.flip = 0.5f;
    change.shift = 1;
    mw_dataset *changed = mw_dataset_augment(pictures, &change, err);
    mw_dataset *ahead = mw_dataset_prefetch(changed, 2, err);
    mw_dataset_destroy(changed);
    return ahead;
}

int main(int argc, char **argv)
{
    example_options o = {.data = "tests/data/images", .epochs = 300, .batch = 5, .seed = 1};
    o.learning_rate = 3e-3f;
    options_parse(&o, argc, argv);

    mw_error err = {0};
    mw_image_options reading = mw_image_defaults();
    reading.channels_first = true;
    mw_dataset *pictures = mw_dataset_open_images(o.data, &reading, &err);
    if (pictures == NULL)
        return options_exit_code(&err);
    const mw_shape shape = mw_dataset_column_at(pictures, 0)->shape;
    const mw_classes classes = mw_dataset_classes(pictures, "y");
    for (size_t i = 0; i < classes.count; i++)
        printf("class %zu is %s\n", i, classes.names[i]);
    mw_dataset *training = prepare(pictures, &err);

    mw_graph *graph = mw_graph_create(NULL, &err);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(o.batch, shape.dim[0], shape.dim[1], shape.dim[2]));
    mw_tensor *y = mw_input(graph, "y", MW_I32, MW_SHAPE(o.batch));
    mw_tensor *logits = network(x, (int64_t)classes.count);
    mw_trainer_options options = mw_trainer_defaults(mw_cross_entropy(logits, y), mw_adam(o.learning_rate));
    options.metric = mw_accuracy(logits, y);
    options.compile.device = o.device;
    options.compile.seed = o.seed;
    mw_trainer *trainer = mw_trainer_create(&options, &err);
    options_fit(&o, trainer, training, pictures, &err);
    options_report(trainer, pictures, "accuracy on the folder", &err);

    mw_trainer_destroy(trainer);
    mw_graph_destroy(graph);
    mw_dataset_destroy(training);
    mw_dataset_destroy(pictures);
    return options_exit_code(&err);
}
