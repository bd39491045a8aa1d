/* Trains a 784-256-10 network on MNIST and prints its accuracy on the test set. */
#include "options.h"

int main(int argc, char **argv)
{
    example_options o = {.data = "data/mnist", .epochs = 5, .batch = 128, .learning_rate = 3e-3f, .takes_mpi = true};
    o.schedule = mw_schedule_cosine(0.0);
    options_parse(&o, argc, argv);

    mw_error err = {0}; /* a call that is given an error does nothing, so one look at the end is enough */
    mw_communicator *ranks = options_ranks(&o, &argc, &argv, &err); /* --mpi: several processes train one model */
    mw_dataset *train = mw_dataset_open_idx(o.data, "train", &err);
    mw_dataset *test = mw_dataset_open_idx(o.data, "t10k", &err);

    mw_graph *graph = mw_graph_create(NULL, &err);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(o.batch, 784));
    mw_tensor *y = mw_input(graph, "y", MW_I32, MW_SHAPE(o.batch));
    mw_tensor *hidden = mw_gelu(mw_dense(x, 256, "fc1"), MW_GELU_TANH);
    mw_tensor *logits = mw_dense(hidden, 10, "fc2");

    mw_trainer_options options = mw_trainer_defaults(mw_cross_entropy(logits, y), mw_adam(o.learning_rate));
    options.metric = mw_accuracy(logits, y);
    options.compile.device = o.device;
    options.compile.seed = o.seed;
    options.compile.threads = (int)o.threads;
    options.ranks.communicator = ranks;
    mw_trainer *trainer = mw_trainer_create(&options, &err);

    mw_fit_options fit = mw_fit_defaults(train, o.epochs);
    fit.data.validation = test;
    fit.schedule.rate = o.schedule;
    fit.data.seed = o.seed;
    options_save(&o, &fit);
    mw_trainer_fit(trainer, &fit, &err);

    mw_evaluation found;
    if (mw_trainer_evaluate(trainer, test, NULL, &found, &err) == MW_OK) {
        printf("trained on %s\n", mw_program_get_info(mw_trainer_program(trainer)).where);
        printf("test loss %.4f\ntest accuracy %.2f %%\n", found.loss, 100.0 * found.metrics[0].value);
    }
    mw_trainer_destroy(trainer);
    mw_graph_destroy(graph);
    mw_dataset_destroy(test);
    mw_dataset_destroy(train);
    return options_end(ranks, &err);
}
