/* A convolutional network with batch norm and dropout on Fashion-MNIST (Debian: dataset-fashion-mnist), with AdamW, a
 * cosine schedule behind a warm-up, and an average of the weights for the evaluation. */
#include "options.h"

/* 3x3 convolution without bias, batch norm, ReLU: [N, C, H, W] -> [N, channels, H, W] */
static mw_tensor *convolve(mw_tensor *x, int64_t channels, const char *name)
{
    char norm[32];
    snprintf(norm, sizeof norm, "%s.norm", name);
    mw_conv_options same = mw_conv_defaults();
    same.pad_type = MW_PAD_SAME;
    return mw_relu(mw_batch_norm_layer(mw_conv_layer(x, channels, MW_SHAPE(3, 3), name, &same), 0.1f, 1e-5f, norm));
}

static mw_tensor *halve(mw_tensor *x)
{
    mw_pool_options options = mw_pool_defaults(MW_SHAPE(2, 2));
    options.stride[0] = options.stride[1] = 2;
    return mw_max_pool(x, &options);
}

static mw_tensor *network(mw_tensor *x)
{
    const int64_t batch = mw_tensor_shape(x).dim[0];
    mw_tensor *h = halve(convolve(x, 16, "conv1"));
    h = halve(convolve(h, 32, "conv2"));
    mw_tensor *flat = mw_dropout(mw_reshape(h, MW_SHAPE(batch, 32 * 7 * 7)), 0.3f, "drop1");
    mw_tensor *hidden = mw_relu(mw_dense(flat, 128, "fc1"));
    return mw_dense(mw_dropout(hidden, 0.3f, "drop2"), 10, "fc2");
}

int main(int argc, char **argv)
{
    example_options o = {.data = "/usr/share/datasets/fashion-mnist", .epochs = 10, .batch = 128, .seed = 1};
    o.learning_rate = 3e-3f;
    o.schedule = mw_schedule_cosine(0.0f);
    o.schedule.warmup_steps = 200;
    options_parse(&o, argc, argv);

    mw_error err = {0};
    mw_dataset *train = mw_dataset_open_idx(o.data, "train", &err);
    mw_dataset *test = mw_dataset_open_idx(o.data, "t10k", &err);

    mw_graph *graph = mw_graph_create(NULL, &err);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(o.batch, 1, 28, 28));
    mw_tensor *y = mw_input(graph, "y", MW_I32, MW_SHAPE(o.batch));
    mw_tensor *logits = network(x);

    mw_parameter_group no_decay[] = {mw_parameter_group_defaults("*.bias"), mw_parameter_group_defaults("*.norm.*")};
    mw_parameter_group_set(&no_decay[0], MW_GROUP_WEIGHT_DECAY, 0);
    mw_parameter_group_set(&no_decay[1], MW_GROUP_WEIGHT_DECAY, 0);
    mw_trainer_options options = mw_trainer_defaults(mw_cross_entropy(logits, y), mw_adamw(o.learning_rate, 0.02f));
    options.groups = no_decay;
    options.group_count = 2;
    options.metric = mw_accuracy(logits, y);
    options.prediction = logits;
    options.compile.device = o.device;
    options.compile.seed = o.seed;
    mw_trainer *trainer = mw_trainer_create(&options, &err);
    options_fit(&o, trainer, train, test, &err);
    options_report(trainer, test, "test accuracy", &err);
    if (o.model != NULL)
        mw_trainer_export(trainer, NULL, o.model, NULL, &err);

    mw_trainer_destroy(trainer);
    mw_graph_destroy(graph);
    mw_dataset_destroy(test);
    mw_dataset_destroy(train);
    return options_exit_code(&err);
}
