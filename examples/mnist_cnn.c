/* Trains conv 16 - pool - conv 32 - pool - dense 128 - dense 10 on MNIST, prints its accuracy on the test set and, with
 * --model DIR, writes the trained network as model.mil. */
#include "options.h"

/* 3x3 convolution, ReLU, 2x2 max pooling: x [N, C, H, W] -> [N, channels, H / 2, W / 2] */
static mw_tensor *convolve(mw_tensor *x, int64_t channels, const char *name)
{
    mw_conv_options same = mw_conv_defaults();
    same.pad_type = MW_PAD_SAME;
    mw_pool_options halve = mw_pool_defaults(MW_SHAPE(2, 2));
    halve.stride[0] = halve.stride[1] = 2;
    return mw_max_pool(mw_relu(mw_conv_layer(x, channels, MW_SHAPE(3, 3), name, &same)), &halve);
}

static mw_tensor *network(mw_tensor *x)
{
    const int64_t batch = mw_tensor_shape(x).dim[0];
    mw_tensor *pooled = convolve(convolve(x, 16, "conv1"), 32, "conv2");
    mw_tensor *flat = mw_reshape(pooled, MW_SHAPE(batch, 32 * 7 * 7));
    return mw_dense(mw_relu(mw_dense(flat, 128, "fc1")), 10, "fc2");
}

int main(int argc, char **argv)
{
    example_options o = {.data = "data/mnist", .epochs = 3, .batch = 128, .seed = 1, .learning_rate = 2e-3f};
    o.schedule = mw_schedule_cosine(0.0f);
    o.takes_mpi = true;
    options_parse(&o, argc, argv);

    mw_error err = {0};
    mw_communicator *ranks = options_ranks(&o, &argc, &argv, &err);
    mw_dataset *train = mw_dataset_open_idx(o.data, "train", &err);
    mw_dataset *test = mw_dataset_open_idx(o.data, "t10k", &err);

    mw_graph *graph = mw_graph_create(NULL, &err);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(o.batch, 1, 28, 28));
    mw_tensor *y = mw_input(graph, "y", MW_I32, MW_SHAPE(o.batch));
    mw_tensor *logits = network(x);

    mw_trainer_options options = mw_trainer_defaults(mw_cross_entropy(logits, y), mw_adam(o.learning_rate));
    options.metric = mw_accuracy(logits, y);
    options.prediction = logits;
    options.compile.device = o.device;
    options.compile.seed = o.seed;
    options.compile.threads = (int)o.threads;
    options.ranks.communicator = ranks;
    mw_trainer *trainer = mw_trainer_create(&options, &err);
    options_fit(&o, trainer, train, test, &err);
    options_report(trainer, test, "test accuracy", &err);
    if (o.model != NULL && options_rank(ranks) == 0)
        mw_trainer_export(trainer, NULL, o.model, NULL, &err);

    mw_trainer_destroy(trainer);
    mw_graph_destroy(graph);
    mw_dataset_destroy(test);
    mw_dataset_destroy(train);
    return options_end(ranks, &err);
}
