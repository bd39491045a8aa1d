/* Inference as an app needs it: a model of any file, whatever batch it was trained with; the test set by two threads on
 * one set of weights, then one picture at a time. `mnist_cnn --model DIR` writes a model for it. */
#include "options.h"

#include <pthread.h>
#include <time.h>

enum { THREADS = 2, CLASSES = 10, SINGLES = 1000 };

typedef struct job {
    mw_model *model;
    const char *input, *result;
    const mw_column *x, *y;
    int64_t first, count; /* of the examples */
    int64_t right;
    mw_error err;
} job;

static const char *name_of(const mw_model *model, bool output, int64_t elements)
{
    static mw_port port;
    for (size_t i = 0; mw_model_port_at(model, i, &port); i++)
        if (port.is_output == output && mw_shape_count(port.shape) == elements * mw_model_get_info(model).batch)
            return port.name;
    return NULL;
}

static void predict(mw_predictor *predictor, job *j, int64_t first, int64_t count, float *scores)
{
    const size_t pixels = (size_t)mw_shape_count(j->x->shape);
    const mw_feed feed = {.name = j->input,
                          .dtype = j->x->dtype,
                          .data = (const unsigned char *)j->x->data + (size_t)first * pixels,
                          .count = (size_t)count * pixels,
                          .scale = j->x->scale};
    const mw_batch batch = {.feeds = &feed, .feed_count = 1, .examples = count};
    const mw_result result = {j->result, MW_F32, scores, (size_t)count * CLASSES};
    mw_predictor_predict(predictor, &batch, &result, 1, &j->err);
}

static int best(const float *scores)
{
    int at = 0;
    for (int i = 1; i < CLASSES; i++)
        at = scores[i] > scores[at] ? i : at;
    return at;
}

/* A thread: a predictor of its own on the model that all share. */
static void *work(void *user)
{
    job *j = user;
    mw_predictor *predictor = mw_predictor_create(j->model, &j->err);
    float *scores = malloc((size_t)j->count * CLASSES * sizeof *scores);
    if (scores != NULL)
        predict(predictor, j, j->first, j->count, scores);
    for (int64_t i = 0; scores != NULL && j->err.status == MW_OK && i < j->count; i++)
        j->right += best(scores + i * CLASSES) == ((const unsigned char *)j->y->data)[j->first + i];
    free(scores);
    mw_predictor_destroy(predictor);
    return NULL;
}

static void time_one(job *j)
{
    float scores[CLASSES];
    struct timespec start, end;
    mw_predictor *predictor = mw_predictor_create(j->model, &j->err);
    predict(predictor, j, 0, 1, scores); /* makes the plan for one */
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (int i = 0; i < SINGLES; i++)
        predict(predictor, j, i, 1, scores);
    clock_gettime(CLOCK_MONOTONIC, &end);
    const double took = (double)(end.tv_sec - start.tv_sec) * 1e6 + (double)(end.tv_nsec - start.tv_nsec) * 1e-3;
    printf("one picture takes %.1f us\n", took / SINGLES);
    mw_predictor_destroy(predictor);
}

int main(int argc, char **argv)
{
    example_options o = {.data = "data/mnist", .epochs = 1, .batch = 64, .learning_rate = 1.0f, .model = "model"};
    options_parse(&o, argc, argv);

    mw_error err = {0};
    mw_dataset *test = mw_dataset_open_idx(o.data, "t10k", &err);
    mw_compile_options compile = mw_compile_defaults();
    mw_model_options options = mw_model_defaults();
    compile.device = o.device;
    compile.threads = 1; /* each caller has one of its own */
    options.compile = &compile;
    options.batch = o.batch;
    mw_model *model = mw_model_open(o.model, &options, &err);
    if (model == NULL || test == NULL)
        return options_exit_code(&err);

    const mw_column *x = mw_dataset_column_at(test, 0), *y = mw_dataset_column_at(test, 1);
    job jobs[THREADS] = {{0}};
    pthread_t threads[THREADS];
    const int64_t each = mw_dataset_examples(test) / THREADS;
    for (int i = 0; i < THREADS; i++) {
        jobs[i] = (job){.model = model, .x = x, .y = y, .first = i * each, .count = each};
        jobs[i].input = name_of(model, false, mw_shape_count(x->shape));
        jobs[i].result = name_of(model, true, CLASSES);
        pthread_create(&threads[i], NULL, work, &jobs[i]);
    }
    int64_t right = 0;
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        right += jobs[i].right;
        err = jobs[i].err.status != MW_OK ? jobs[i].err : err;
    }
    if (err.status == MW_OK)
        time_one(&jobs[0]);
    if (err.status == MW_OK)
        printf("test accuracy %.2f %%\n", 100.0 * (double)right / (double)(each * THREADS));
    mw_model_destroy(model);
    mw_dataset_destroy(test);
    return options_exit_code(&err);
}
