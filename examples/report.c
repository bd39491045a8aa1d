/* A small network learns digits, and what came of it is written as one page: report.html in the folder of --model, or
 * here, with the metrics that mw_trainer_fit writes. */
#include "options.h"

#include <millwright/inspect.h>
#include <millwright/view.h>

#include <sys/stat.h>

static mw_tensor *convolve(mw_tensor *x, int64_t channels, const char *name, const char *norm)
{
    mw_conv_options same = mw_conv_defaults();
    same.pad_type = MW_PAD_SAME;
    mw_pool_options halve = mw_pool_defaults(MW_SHAPE(2, 2));
    halve.stride[0] = halve.stride[1] = 2;
    x = mw_batch_norm_layer(mw_conv_layer(x, channels, MW_SHAPE(3, 3), name, &same), 0.1f, 1e-5f, norm);
    return mw_max_pool(mw_relu(x), &halve);
}

/* "DIR/report.html", or without a folder of its own "report.html". */
static const char *path_in(const example_options *o, const char *name, char path[1024])
{
    snprintf(path, 1024, "%s%s%s", o->model != NULL ? o->model : "", o->model != NULL ? "/" : "", name);
    return path;
}

static void fit(const example_options *o, mw_trainer *trainer, const mw_dataset *train, const mw_dataset *test,
                const char *metrics, mw_error *err)
{
    mw_fit_options options = mw_fit_defaults(train, o->epochs);
    options.data.validation = test;
    options.schedule.rate = o->schedule;
    options.data.seed = o->seed;
    options.metrics.path = metrics;
    mw_trainer_fit(trainer, &options, err);
}

int main(int argc, char **argv)
{
    example_options o = {.data = "data/mnist", .epochs = 2, .batch = 128, .seed = 1, .learning_rate = 2e-3f};
    o.schedule = mw_schedule_cosine(0.0f);
    options_parse(&o, argc, argv);

    mw_error err = {0};
    mw_dataset *train = mw_dataset_open_idx(o.data, "train", &err);
    mw_dataset *test = mw_dataset_open_idx(o.data, "t10k", &err);
    mw_graph *graph = mw_graph_create(NULL, &err);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(o.batch, 1, 28, 28));
    mw_tensor *y = mw_input(graph, "y", MW_I32, MW_SHAPE(o.batch));
    mw_tensor *h = convolve(convolve(x, 16, "conv1", "bn1"), 32, "conv2", "bn2");
    mw_tensor *logits = mw_dense(mw_dropout(mw_reshape(h, MW_SHAPE(o.batch, 32 * 7 * 7)), 0.2f, "drop"), 10, "head");

    mw_trainer_options options = mw_trainer_defaults(mw_cross_entropy(logits, y), mw_adam(o.learning_rate));
    options.metric = mw_accuracy(logits, y);
    options.prediction = logits;
    options.compile.device = o.device;
    options.compile.seed = o.seed;
    options.compile.threads = (int)o.threads;
    mw_trainer *trainer = mw_trainer_create(&options, &err);

    char metrics[1024], page[1024];
    if (o.model != NULL)
        mkdir(o.model, 0777);
    mw_trainer_profile(trainer, MW_TRAINER_STEP, 20, &err); /* so that the plan has times: of the last steps */
    fit(&o, trainer, train, test, path_in(&o, "metrics.jsonl", metrics), &err);
    options_report(trainer, test, "test accuracy", &err);

    mw_report_options report = mw_report_defaults();
    report.title = "Handwritten digits, a small network";
    report.metrics = metrics;
    report.graph = graph;
    report.trainer = trainer;
    report.prediction = logits;
    report.dataset = test;
    report.command = "build/release/examples/report --data data/mnist";
    if (mw_report_write(&report, path_in(&o, "report.html", page), &err) == MW_OK)
        printf("the page is %s\n", page);

    mw_trainer_destroy(trainer);
    mw_graph_destroy(graph);
    mw_dataset_destroy(test);
    mw_dataset_destroy(train);
    return options_exit_code(&err);
}
