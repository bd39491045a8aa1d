/* The training loop written out, for those who want to do something in it: here the learning rate is halved after each
 * epoch, the first predictions are shown, and the weights are saved. */
#include "options.h"

/* One epoch; the mean loss. The end of the epoch and an error both end the loop: err tells them apart. */
static double run_epoch(mw_trainer *trainer, mw_loader *loader, mw_error *err)
{
    double sum = 0.0;
    float loss;
    for (const mw_batch *batch; (batch = mw_loader_next(loader, err)) != NULL;) {
        if (mw_trainer_step(trainer, batch, &loss, err) != MW_OK)
            break;
        sum += (double)loss;
    }
    return sum / (double)mw_loader_batches(loader);
}

/* Which class the network sees in the first examples of the test set. */
static void show_predictions(mw_trainer *trainer, const mw_dataset *test, mw_error *err)
{
    mw_loader_options options = mw_loader_defaults(test, 64);
    options.shuffle = false;
    mw_loader *loader = mw_loader_create(&options, err);
    const mw_batch *batch = mw_loader_next(loader, err);
    static float logits[64][10];
    if (batch == NULL || mw_trainer_predict(trainer, batch, MW_F32, &logits[0][0], 640, err) != MW_OK) {
        mw_loader_destroy(loader);
        return;
    }
    const unsigned char *labels = batch->feeds[1].data;
    for (int i = 0; i < 8; i++) {
        int best = 0;
        for (int c = 1; c < 10; c++)
            best = logits[i][c] > logits[i][best] ? c : best;
        printf("example %lld: predicted %d, is %d\n", (long long)batch->ids[i], best, labels[i]);
    }
    mw_loader_destroy(loader);
}

int main(int argc, char **argv)
{
    example_options o = {.data = "data/mnist", .epochs = 3, .batch = 64, .seed = 1, .learning_rate = 0.1f};
    options_parse(&o, argc, argv);
    mw_error err = {0};
    mw_dataset *train = mw_dataset_open_idx(o.data, "train", &err);
    mw_dataset *test = mw_dataset_open_idx(o.data, "t10k", &err);

    mw_graph *graph = mw_graph_create(NULL, &err);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(o.batch, 784));
    mw_tensor *y = mw_input(graph, "y", MW_I32, MW_SHAPE(o.batch));
    mw_tensor *logits = mw_dense(mw_relu(mw_dense(x, 128, "fc1")), 10, "fc2");

    mw_trainer_options options =
        mw_trainer_defaults(mw_cross_entropy(logits, y), mw_sgd_momentum(o.learning_rate, 0.9f, true));
    options.metric = mw_accuracy(logits, y);
    options.prediction = logits;
    options.compile.device = o.device;
    options.compile.seed = o.seed;
    mw_trainer *trainer = mw_trainer_create(&options, &err);

    mw_loader_options loading = mw_loader_defaults(train, 64);
    loading.seed = o.seed;
    mw_loader *loader = err.status == MW_OK ? mw_loader_create(&loading, &err) : NULL;
    for (int64_t epoch = 1; err.status == MW_OK && epoch <= o.epochs; epoch++) {
        const double train_loss = run_epoch(trainer, loader, &err);
        mw_evaluation found;
        if (mw_trainer_evaluate(trainer, test, NULL, &found, &err) == MW_OK)
            printf("epoch %lld: loss %.4f, test loss %.4f, test accuracy %.2f %%\n", (long long)epoch, train_loss,
                   found.loss, 100.0 * found.metrics[0].value);
        mw_trainer_set_learning_rate(trainer, 0.5f * mw_trainer_get_info(trainer).learning_rate, &err);
    }
    if (err.status == MW_OK)
        show_predictions(trainer, test, &err);
    if (o.checkpoint != NULL)
        mw_trainer_save_weights(trainer, o.checkpoint, &err);

    mw_loader_destroy(loader);
    mw_trainer_destroy(trainer);
    mw_graph_destroy(graph);
    mw_dataset_destroy(test);
    mw_dataset_destroy(train);
    return options_exit_code(&err);
}
